// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/drive.h"

#include "base/clock.h"

// What comes from other threads is looked for at least this often, in ns.
#define LONGEST_WAIT UINT64_C(1000000)

static size_t drive_receive(struct sk_drive *d, uint64_t now) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(d->transport, frames, SK_BURST);

    for (size_t i = 0; i < n; i++)
        d->engine->ops->read(d->engine, frames[i].data, frames[i].len, now);
    return n;
}

// Builds packets in the transport's buffers. Returns how many; 0 also when it has none left.
static uint32_t write_burst(struct sk_drive *d, uint64_t now) {
    const struct sk_engine_ops *ops = d->engine->ops;
    size_t lent = sk_transport_lend(d->transport, d->frames, SK_BURST);

    d->refused = lent == 0 ? ops->queued(d->engine) : 0;
    d->unsent = d->unsent_from = 0;
    while (d->unsent < lent) {
        struct sk_frame *frame = &d->frames[d->unsent];
        frame->len = (uint32_t)ops->write(d->engine, frame->data, SK_MAX_FRAME, now);
        if (frame->len == 0)
            break;
        d->unsent++;
    }
    return d->unsent;
}

// Sends what is built. Returns how much of it the transport has taken.
static uint32_t post_burst(struct sk_drive *d) {
    uint32_t n = d->unsent - d->unsent_from;
    uint32_t sent = (uint32_t)sk_transport_post(d->transport, d->frames + d->unsent_from, n);

    d->unsent_from += sent;
    d->refused = n - sent;
    return sent;
}

// Sends until the engine has nothing more or the transport takes no more.
static size_t drive_send_all(struct sk_drive *d, uint64_t now) {
    size_t total = 0;

    do {
        bool written = d->unsent_from < d->unsent ||
                       (d->engine->ops->queued(d->engine) > 0 && write_burst(d, now) > 0);
        if (!written)
            return total;
        total += post_burst(d);
    } while (d->unsent_from == d->unsent);
    return total;
}

bool sk_drive_step(struct sk_drive *d, uint64_t now, unsigned *events) {
    size_t moved = drive_receive(d, now);

    *events = d->engine->ops->expire(d->engine, now);
    moved += drive_send_all(d, now);
    return moved > 0;
}

void sk_drive_rest(struct sk_drive *d) {
    uint64_t deadline = d->engine->ops->deadline(d->engine), now = sk_clock_now();
    uint64_t span = deadline > now ? deadline - now : 0;

    sk_transport_wait(d->transport, span < LONGEST_WAIT ? span : LONGEST_WAIT);
}

// Until a peer that looks at shared memory has seen the last frame.
#define PARTING UINT64_C(2000000)

// How long others are served that still wait for something.
#define LINGERING UINT64_C(2000000000)

static void drive_linger(struct sk_drive *d) {
    const struct sk_engine_ops *ops = d->engine->ops;
    const uint64_t until = sk_clock_now() + LINGERING;
    unsigned events;

    while (ops->lingers && ops->lingers(d->engine) && sk_clock_now() < until)
        if (!sk_drive_step(d, sk_clock_now(), &events))
            sk_drive_rest(d);
}

void sk_drive_leave(struct sk_drive *d) {
    uint64_t now = sk_clock_now();

    if (!d->engine || !d->transport)
        return;
    drive_linger(d);
    d->engine->ops->leave(d->engine);
    if (drive_send_all(d, now) > 0)
        sk_transport_wait(d->transport, PARTING);
}

void sk_drive_free(struct sk_drive *d) {
    sk_transport_close(d->transport);
    if (d->engine)
        d->engine->ops->free(d->engine);
}
