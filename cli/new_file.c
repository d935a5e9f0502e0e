// SPDX-License-Identifier: Apache-2.0
#include "cli/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void new_file_forget(struct new_file *f) {
    free(f->path);
    free(f->beside);
    *f = (struct new_file){0};
}

// A file beside 'path' that nobody has, with the mode of the one that it will replace.
static int open_beside(struct new_file *f, const struct stat *old) {
    for (unsigned i = 0;; i++) {
        if (asprintf(&f->beside, i ? "%s.new%u" : "%s.new", f->path, i) < 0)
            abort();
        int fd = open(f->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && old)
            (void)!fchmod(fd, old->st_mode & 0777);
        if (fd >= 0 || errno != EEXIST)
            return fd;
        free(f->beside);
        f->beside = NULL;
    }
}

const char *new_file_open(struct new_file *f, const char *path) {
    struct stat st;
    const bool there = stat(path, &st) == 0;
    *f = (struct new_file){0};
    int fd;
    if (there && !S_ISREG(st.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else if (there && access(path, W_OK) != 0) {
        fd = -1;
    } else {
        f->path = realpath(path, NULL);
        if (!f->path)
            f->path = strdup(path);
        if (!f->path)
            abort();
        fd = open_beside(f, there ? &st : NULL);
    }
    f->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f->out)
        return NULL;
    const char *why = strerror(errno);
    new_file_forget(f);
    return why;
}

const char *new_file_close(struct new_file *f) {
    errno = 0;
    const bool written = !ferror(f->out) && fflush(f->out) == 0;
    int error = written ? 0 : errno ? errno : EIO;
    if (fclose(f->out) != 0 && !error)
        error = errno;
    if (!error && f->beside && rename(f->beside, f->path) != 0)
        error = errno;
    if (error && f->beside)
        unlink(f->beside);
    new_file_forget(f);
    return error ? strerror(error) : NULL;
}

const char *new_file_put(const char *path, const void *bytes, size_t n) {
    struct new_file f;
    const char *why = new_file_open(&f, path);
    if (why)
        return why;
    fwrite(bytes, 1, n, f.out);
    return new_file_close(&f);
}

int new_file_in_memory(char path[NEW_FILE_MEMORY]) {
    const int fd = memfd_create("silken", MFD_CLOEXEC);
    snprintf(path, NEW_FILE_MEMORY, "/proc/self/fd/%d", fd);
    return fd;
}
