// SPDX-License-Identifier: Apache-2.0
//
// bell: an eventfd belongs to the peer as much as to us. It can fill it, and take back that writing
// to it does not block (O_NONBLOCK is of what both share): a write(2) of ours would wait as long as
// the peer likes. When a request of aio(7) is done the kernel signals the eventfd that came with
// it, and never waits for that: so we ask to read from an empty file.
#include <linux/aio_abi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memif/memif_impl.h"

#define REQUESTS 8

void memif_bell_open(struct memif_bell_ringer *b) {
    aio_context_t context = 0;
    *b = (struct memif_bell_ringer){.file = memfd_create("memif-bell", MFD_CLOEXEC)};
    if (b->file >= 0 && syscall(SYS_io_setup, REQUESTS, &context) == 0)
        b->context = context;
}

void memif_bell_close(struct memif_bell_ringer *b) {
    if (b->context)
        syscall(SYS_io_destroy, b->context);
    if (b->file >= 0)
        close(b->file);
    *b = (struct memif_bell_ringer){.file = -1};
}

void memif_bell_ring(const struct memif_bell_ringer *b, int eventfd) {
    uint8_t nothing;
    struct io_event done[REQUESTS];
    struct iocb request = {.aio_lio_opcode = IOCB_CMD_PREAD,
                           .aio_fildes = (uint32_t)b->file,
                           .aio_buf = (uintptr_t)&nothing,
                           .aio_nbytes = 1,
                           .aio_flags = IOCB_FLAG_RESFD,
                           .aio_resfd = (uint32_t)eventfd};
    struct iocb *list[] = {&request};
    if (!b->context || eventfd < 0)
        return;
    // it is done when the call returns: there is nothing to wait for
    if (syscall(SYS_io_submit, b->context, 1, list) == 1)
        syscall(SYS_io_getevents, b->context, 0, REQUESTS, done, NULL);
}

// The names of files begin with '/'; only the kernel gives this one.
bool memif_bell_is_eventfd(int fd) {
    static const char name[] = "anon_inode:[eventfd]";
    char path[40], is[sizeof name];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return readlink(path, is, sizeof is) == (ssize_t)strlen(name) &&
           memcmp(is, name, strlen(name)) == 0;
}
