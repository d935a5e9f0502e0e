// SPDX-License-Identifier: Apache-2.0
//
// A transport that misbehaves on purpose. Each direction has a place for one frame that is held
// back, and leaves right after the next frame. On the way out it leaves at the end of the call to
// send at the latest: a later call might bring the sender's next packet for the same slot, which
// must not overtake.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/transport/transport.h"

// One frame held back.
struct held {
    bool full;
    uint32_t len;
    uint8_t bytes[SK_MAX_FRAME];
};

struct faulty {
    struct sk_transport base;
    struct sk_transport *inner;
    struct sk_faults faults;
    uint64_t random;
    struct held out, in;
    uint32_t ready, next; // received frames in store, and the first that has not been handed up
    struct held store[3 * SK_BURST];
    uint8_t lent[SK_BURST][SK_MAX_FRAME];
};

static struct faulty *faulty_of(struct sk_transport *t) {
    return (struct faulty *)t;
}

// A step of splitmix64.
static uint64_t next_random(struct faulty *f) {
    uint64_t z = f->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool chance(struct faulty *f, double p) {
    return (double)(next_random(f) >> 11) * 0x1p-53 < p;
}

static void transport_faulty_hold(struct held *h, const struct sk_frame *frame) {
    h->full = true;
    h->len = frame->len;
    memcpy(h->bytes, frame->data, frame->len);
}

// Hands on the frame that is held back, if there is one.
static void transport_faulty_let_go(struct faulty *f, struct held *held,
                                    void (*pass)(struct faulty *, const struct sk_frame *)) {
    struct sk_frame late = {held->bytes, held->len};

    if (held->full) {
        held->full = false;
        pass(f, &late);
    }
}

// Hands a frame on, as often and in the order the dice say. 'pass' takes one frame.
static void misbehave(struct faulty *f, struct held *held, const struct sk_frame *frame,
                      void (*pass)(struct faulty *, const struct sk_frame *)) {
    if (chance(f, f->faults.drop))
        return;
    if (!held->full && chance(f, f->faults.reorder)) {
        transport_faulty_hold(held, frame);
        return;
    }
    pass(f, frame);
    if (chance(f, f->faults.duplicate))
        pass(f, frame);
    transport_faulty_let_go(f, held, pass);
}

// A frame the inner transport has no room for is lost, as on a real link.
static void pass_out(struct faulty *f, const struct sk_frame *frame) {
    sk_transport_send(f->inner, frame, 1);
}

static size_t faulty_lend(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct faulty *f = faulty_of(t);

    for (size_t i = 0; i < n; i++)
        frames[i] = (struct sk_frame){f->lent[i], 0};
    return n;
}

static size_t faulty_post(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    struct faulty *f = faulty_of(t);

    for (size_t i = 0; i < n; i++)
        misbehave(f, &f->out, &frames[i], pass_out);
    transport_faulty_let_go(f, &f->out, pass_out);
    return n;
}

static void pass_in(struct faulty *f, const struct sk_frame *frame) {
    transport_faulty_hold(&f->store[f->ready++], frame);
}

static void transport_faulty_receive_burst(struct faulty *f) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(f->inner, frames, SK_BURST);

    f->ready = f->next = 0;
    for (size_t i = 0; i < n; i++)
        if (frames[i].len <= SK_MAX_FRAME)
            misbehave(f, &f->in, &frames[i], pass_in);
    if (n == 0)
        transport_faulty_let_go(f, &f->in, pass_in);
}

static size_t faulty_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct faulty *f = faulty_of(t);
    size_t got = 0;

    if (f->next == f->ready)
        transport_faulty_receive_burst(f);
    while (got < n && f->next < f->ready) {
        struct held *h = &f->store[f->next++];
        frames[got++] = (struct sk_frame){h->bytes, h->len};
    }
    return got;
}

static void faulty_wait(struct sk_transport *t, uint64_t timeout) {
    struct faulty *f = faulty_of(t);

    if (f->next == f->ready)
        sk_transport_wait(f->inner, timeout);
}

static void faulty_close(struct sk_transport *t) {
    sk_transport_close(faulty_of(t)->inner);
    free(t);
}

static const struct sk_transport_ops faulty_ops = {
    .name = "faulty",
    .lend = faulty_lend,
    .post = faulty_post,
    .recv = faulty_recv,
    .wait = faulty_wait,
    .close = faulty_close,
};

int sk_transport_faulty_open(struct sk_transport **t, struct sk_transport *inner,
                             const struct sk_faults *faults) {
    struct faulty *f = calloc(1, sizeof *f);

    if (!f) {
        sk_transport_close(inner);
        return SILKEN_ERR_NOMEM;
    }
    f->base.ops = &faulty_ops;
    f->inner = inner;
    f->faults = *faults;
    f->random = faults->seed;
    *t = &f->base;
    return 0;
}
