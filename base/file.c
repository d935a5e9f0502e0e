// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)64 << 20)

static char *file_read_all(FILE *f, size_t *length) {
    size_t room = 65536, n = 0;
    char *text = malloc(room);
    while (text && (n += fread(text + n, 1, room - n, f)) == room && room <= MAX_BYTES) {
        char *grown = realloc(text, room *= 2);
        if (!grown)
            free(text);
        text = grown;
    }
    *length = n;
    return text;
}

static const char *too_much(const struct stat *st) {
    return S_ISREG(st->st_mode) ? "it has more than 64 MiB"
                                : "it is not a file, and more than 64 MiB could be read from it";
}

// Says why the file is not read; null when it is.
static const char *no_file(int fd, bool regular, struct stat *st) {
    if (fd < 0 || fstat(fd, st))
        return strerror(errno);
    if (S_ISDIR(st->st_mode))
        return "it is a directory";
    return regular && !S_ISREG(st->st_mode) ? "it is not a regular file" : NULL;
}

static char *file_read(const char *path, bool regular, size_t *length, struct sk_error *err) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | (regular ? O_NONBLOCK | O_NOCTTY : 0));
    const char *why = no_file(fd, regular, &st);
    FILE *f = why ? NULL : fdopen(fd, "rb");
    if (!f) {
        sk_fail(err, "cannot read %s: %s", path, why ? why : strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    errno = 0;
    char *text = file_read_all(f, length);
    bool bad = !text || ferror(f) || *length > MAX_BYTES;
    if (bad)
        sk_fail(err, "cannot read %s: %s", path,
                text && *length > MAX_BYTES ? too_much(&st) : strerror(errno ? errno : ENOMEM));
    fclose(f);
    if (bad) {
        free(text);
        return NULL;
    }
    text[*length] = 0; // the last fread ended before the room did
    return text;
}

char *sk_read_file(const char *path, size_t *length, struct sk_error *err) {
    return file_read(path, false, length, err);
}

char *sk_read_regular_file(const char *path, size_t *length, struct sk_error *err) {
    return file_read(path, true, length, err);
}
