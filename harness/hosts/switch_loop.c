/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/hosts/switch_loop.h"

#include "hosts/clock.h"

#define IDLE_WAIT 200000 /* ns */

static void send_one(void *context, unsigned port, const uint8_t *frame, size_t len) {
    struct switch_loop *loop = context;
    struct sk_frame out = {(uint8_t *)(uintptr_t)frame, (uint32_t)len};

    if (port < loop->ports) {
        sk_transport_send(loop->port[port], &out, 1);
    }
}

static size_t serve_port(struct switch_loop *loop, unsigned port) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(loop->port[port], frames, SK_BURST);

    for (size_t i = 0; i < n; i++) {
        loop->sut->deliver(loop->sut->state, port, frames[i].data, frames[i].len, sk_clock_now(),
                           send_one, loop);
    }
    return n;
}

void switch_loop_run(struct switch_loop *loop) {
    while (!atomic_load(&loop->stop)) {
        size_t n = 0;
        for (unsigned i = 0; i < loop->ports; i++) {
            n += serve_port(loop, i);
        }
        if (n == 0) {
            sk_transport_wait(loop->port[0], IDLE_WAIT / loop->ports);
        }
    }
}

void switch_loop_stop(struct switch_loop *loop) {
    atomic_store(&loop->stop, 1);
}
