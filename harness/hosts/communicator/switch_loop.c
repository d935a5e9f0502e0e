// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/communicator/switch_loop.h"

#include "base/clock.h"

#define IDLE_WAIT 200000 // ns

struct way_out {
    struct switch_loop *loop;
    unsigned first; // port of the lane
};

static void send_one(void *context, unsigned port, const uint8_t *frame, size_t len) {
    struct way_out *way = context;
    struct sk_frame out = {(uint8_t *)(uintptr_t)frame, (uint32_t)len};

    if (port < way->loop->ports)
        sk_transport_send(way->loop->port[way->first + port], &out, 1);
}

static size_t serve_port(struct switch_loop *loop, unsigned at) {
    const struct switch_under_test *sut = &loop->sut[at / loop->ports];
    struct way_out way = {loop, at - at % loop->ports};
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(loop->port[at], frames, SK_BURST);

    for (size_t i = 0; i < n; i++) {
        sut->deliver(sut->state, at % loop->ports, frames[i].data, frames[i].len, sk_clock_now(),
                     send_one, &way);
    }
    return n;
}

void switch_loop_run(struct switch_loop *loop) {
    unsigned ports = loop->ports * (loop->lanes ? loop->lanes : 1);

    while (!atomic_load(&loop->stop)) {
        size_t n = 0;
        for (unsigned i = 0; i < ports; i++)
            n += serve_port(loop, i);
        if (n == 0)
            sk_transport_wait(loop->port[0], IDLE_WAIT / ports);
    }
}

void switch_loop_stop(struct switch_loop *loop) {
    atomic_store(&loop->stop, 1);
}
