// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: what a peer says (memif/session.c), to a server and to a client. The first byte
// says to whom, and whether what comes before is said as it should be. Then messages: a byte for
// descriptors and the length, and 128 bytes. What a session that came up passes on is used: a burst
// each way.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/memif/raw.h"
#include "memif/memif_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct memif_options options = {
    .log2_ring = 4, .buffer = 256, .queues = 2, .secret = "secret", .name = "fuzz"};

static const struct memif_options *find(void *aux, uint32_t id, const char **why) {
    (void)aux;
    *why = "no";
    return id == 1 ? &options : NULL;
}

// A sealed region, an unsealed one, an eventfd, or something else; of its own, since the session
// closes it.
static int descriptor(unsigned kind) {
    static int sealed = -1, unsealed = -1;
    if (sealed < 0) {
        sealed = memfd_create("fuzz", MFD_ALLOW_SEALING);
        unsealed = memfd_create("fuzz", MFD_ALLOW_SEALING);
        if (ftruncate(sealed, 65536) || ftruncate(unsealed, 65536))
            abort();
        fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK);
        void *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, sealed, 0);
        for (unsigned i = 0; at != MAP_FAILED && i < 65536; i += 16)
            memcpy((uint8_t *)at + i, &(uint32_t){MEMIF_COOKIE}, 4);
    }
    switch (kind & 3) {
    case 0:
        return dup(sealed);
    case 1:
        return eventfd(0, 0);
    case 2:
        return dup(unsealed);
    default:
        return open("/dev/null", O_RDWR);
    }
}

static void use(const struct memif_session *s) {
    static uint8_t room[8][2048];
    struct memif m = {0};
    struct memif_frame frames[8];
    m.o = *s->o;
    m.bell.file = -1;
    if (!memif_link_up(&m, s))
        return;
    for (unsigned i = 0; i < 8; i++)
        frames[i] = (struct memif_frame){room[i], 0};
    for (unsigned q = 0; q < 2; q++)
        memif_receive(&m, q, frames, 8, sizeof room[0]);
    for (unsigned i = 0; i < 8; i++)
        frames[i].length = 300;
    memif_send(&m, frames, 8);
    memif_link_down(&m);
}

// Descriptors that sessions do not want are closed by other threads; they must not pile up.
static void wait_for_closing(void) {
    while (memif_closing() > 8)
        sched_yield();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct memif_session s;
    struct memif_reply reply;
    if (size == 0)
        return 0;
    options.server = data[0] & 1;
    memif_session_begin(&s, options.server ? NULL : &options, &reply);
    s.find = find;
    enum memif_result result = MEMIF_GO_ON;
    for (size_t at = 1; at < size && result <= MEMIF_UP;) {
        uint8_t message[MEMIF_MESSAGE] = {0};
        const uint8_t how = data[at++];
        const size_t n = size - at < MEMIF_MESSAGE ? size - at : MEMIF_MESSAGE;
        int fds[2];
        const unsigned n_fds = how >> 2 & 3 ? (how >> 2 & 3) - 1 : how & 1;
        memcpy(message, data + at, n);
        at += n;
        for (unsigned i = 0; i < n_fds; i++)
            fds[i] = descriptor(how + i);
        result =
            memif_session_hear(&s, message, how & 0x80 ? n : MEMIF_MESSAGE, fds, n_fds, &reply);
        if (result == MEMIF_UP)
            use(&s);
    }
    memif_session_end(&s);
    wait_for_closing();
    return 0;
}
