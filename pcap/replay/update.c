// SPDX-License-Identifier: Apache-2.0
//
// update: files that take the place of others when all went well, and are gone when not. They are
// written beside what they replace.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "pcap/replay/replay_impl.h"

struct new_file {
    char *path;   // behind links
    char *beside; // what is to take its place, or null:
    char *gone;   // this is to go, unless something takes its place
};

static struct new_file *replay_update_push(struct replay_update *u, char *path) {
    u->files = sk_resize(u->files, u->n + 1, sizeof *u->files);
    u->files[u->n] = (struct new_file){.path = path};
    return &u->files[u->n++];
}

// A name that nothing has.
static char *name_beside(const char *path) {
    struct stat st;
    char *name;
    for (unsigned i = 1;; i++) {
        if (asprintf(&name, i == 1 ? "%s" REPLAY_BESIDE : "%s" REPLAY_BESIDE "%u", path, i) < 0)
            abort();
        if (lstat(name, &st))
            return name;
        free(name);
    }
}

// Pipes on threads of their own open the captures of their ports.
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

const char *replay_update_add(struct replay_update *u, const char *path) {
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return path;                   // a device or FIFO has no place that could be taken
    char *real = realpath(path, NULL); // behind links, which stay
    real = real ? real : sk_copy_text(path);
    char *beside = name_beside(real);
    pthread_mutex_lock(&adding);
    replay_update_push(u, real)->beside = beside;
    pthread_mutex_unlock(&adding);
    return beside;
}

void replay_update_remove(struct replay_update *u, const char *path) {
    char *real = realpath(path, NULL);
    if (real)
        replay_update_push(u, real)->gone = sk_copy_text(path);
}

int replay_update_mkdir(struct replay_update *u, const char *path, struct sk_error *err) {
    if (mkdir(path, 0777) == 0) {
        free(u->made);
        u->made = sk_copy_text(path);
    } else if (errno != EEXIST) {
        return sk_fail(err, "cannot make the folder %s: %s", path, strerror(errno));
    }
    return 0;
}

static void replay_update_end(struct replay_update *u) {
    for (size_t i = 0; i < u->n; i++) {
        free(u->files[i].path);
        free(u->files[i].beside);
        free(u->files[i].gone);
    }
    free(u->files);
    free(u->made);
    *u = (struct replay_update){0};
}

int replay_update_commit(struct replay_update *u, struct sk_error *err) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < u->n; i++) {
        const struct new_file *f = &u->files[i];
        if (f->beside && rename(f->beside, f->path))
            rc = sk_fail(err, "cannot replace %s: %s", f->path, strerror(errno));
    }
    for (size_t i = 0; rc == 0 && i < u->n; i++) {
        const struct new_file *f = &u->files[i];
        bool written = false;
        for (size_t k = 0; f->gone && k < u->n; k++)
            written |= u->files[k].beside && strcmp(u->files[k].path, f->path) == 0;
        if (f->gone && !written && unlink(f->gone) && errno != ENOENT)
            rc = sk_fail(err, "cannot remove %s: %s", f->gone, strerror(errno));
    }
    if (rc)
        replay_update_abandon(u);
    replay_update_end(u);
    return rc;
}

void replay_update_abandon(struct replay_update *u) {
    for (size_t i = 0; i < u->n; i++)
        if (u->files[i].beside)
            unlink(u->files[i].beside);
    if (u->made)
        rmdir(u->made); // when there is nothing in it
    replay_update_end(u);
}
