// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "memif/memif_impl.h"

// ---- regions ----

// In this order: only of a file that can be sealed nobody but the kernel answers the other calls. A
// hole that the peer makes in it, or a part that it never wrote, is filled with zeros when it is
// touched. Of huge pages the kernel may have none then, which ends the process that touches them:
// memfds of those are sealed, too, and refused by their file system.
const char *memif_region_take(int fd, uint64_t size, struct memif_region *out) {
    struct statfs fs;
    struct stat st;
    const int seals = fcntl(fd, F_GET_SEALS);
    *out = (struct memif_region){NULL, 0};
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return "that is not sealed against shrinking (F_SEAL_SHRINK; without zero-copy peers seal "
               "theirs)";
    if (fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC)
        return "of huge pages";
    if (fstat(fd, &st) || st.st_size < 0 || (uint64_t)st.st_size < size)
        return "whose memory is shorter than it says";
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return "that cannot be mapped to be read and written";
    *out = (struct memif_region){at, size};
    return NULL;
}

int memif_region_make(uint64_t size, struct memif_region *out) {
    const int fd = memfd_create("memif", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    void *at = MAP_FAILED;
    *out = (struct memif_region){NULL, 0};
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0)
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) {
        *out = (struct memif_region){at, size};
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

void memif_region_drop(struct memif_region *r) {
    if (r->at)
        munmap(r->at, r->size);
    *r = (struct memif_region){NULL, 0};
}

// ---- descriptors ----

static _Atomic unsigned closing;

static void *close_it(void *fd) {
    close((int)(intptr_t)fd);
    atomic_fetch_sub(&closing, 1);
    return NULL;
}

void memif_let_go(int fd) {
    pthread_t thread;
    pthread_attr_t attributes;
    if (fd < 0)
        return;
    atomic_fetch_add(&closing, 1);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, close_it, (void *)(intptr_t)fd))
        close_it((void *)(intptr_t)fd);
    pthread_attr_destroy(&attributes);
}

unsigned memif_closing(void) {
    return atomic_load(&closing);
}
