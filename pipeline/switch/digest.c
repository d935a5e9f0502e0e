// SPDX-License-Identifier: Apache-2.0
//
// digest: what programs tell the control plane.
//
// Each pipe has a ring of the last SK_DIGEST_QUEUE digests, made when its program has any. Nothing
// is ever waited for: a full ring forgets its oldest digest, and a reader that had not seen it yet
// learns how many it lost from its position.
#include <string.h>

#include "pipeline/switch/switch_impl.h"

static const struct digest_slot *slot(const struct digest_ring *r, uint64_t position) {
    return &r->slots[position % SK_DIGEST_QUEUE];
}

void digest_push(struct sk_core *core, unsigned pipe, const struct sk_digest_out *d,
                 uint64_t now_ns) {
    struct digest_ring *r = &core->pipes[pipe].digests;
    uint64_t written = atomic_load_explicit(&r->written, memory_order_relaxed);
    struct digest_slot *s = &r->slots[written % SK_DIGEST_QUEUE];
    s->order = core->stats.digests++;
    s->digest = (struct sk_digest){.desc = &core->pipes[pipe].desc->digests[d->index],
                                   .pipe = (uint8_t)pipe,
                                   .time_ns = now_ns};
    memcpy(s->digest.data, d->data, sizeof s->digest.data);
    atomic_store_explicit(&r->written, written + 1, memory_order_release);
}

static const struct digest_ring *ring_of(const struct sk_switch *sw, unsigned pipe) {
    return &switch_owner(sw, pipe)->pipes[pipe].digests;
}

static uint64_t written_to(const struct digest_ring *r) {
    return atomic_load_explicit(&((struct digest_ring *)r)->written, memory_order_acquire);
}

void sk_digest_reader_init(const struct sk_switch *sw, struct sk_digest_reader *r) {
    *r = (struct sk_digest_reader){0};
    for (unsigned i = 0; i < SK_PIPES; i++)
        r->next[i] = written_to(ring_of(sw, i));
}

bool sk_digest_waits(const struct sk_switch *sw, const struct sk_digest_reader *r) {
    for (unsigned i = 0; i < SK_PIPES; i++)
        if (r->next[i] != written_to(ring_of(sw, i)))
            return true;
    return false;
}

static void catch_up(const struct digest_ring *ring, struct sk_digest_reader *r, unsigned pipe) {
    uint64_t written = written_to(ring);
    uint64_t oldest = written < SK_DIGEST_QUEUE ? 0 : written - SK_DIGEST_QUEUE;
    if (r->next[pipe] < oldest) {
        r->lost += oldest - r->next[pipe];
        r->next[pipe] = oldest;
    }
}

// By time; on one core that is the order in which they were made, and there 'order' tells those of one
// time apart.
static bool earlier(const struct digest_slot *a, const struct digest_slot *b) {
    return a->digest.time_ns != b->digest.time_ns ? a->digest.time_ns < b->digest.time_ns
                                                  : a->order < b->order;
}

bool sk_digest_read(const struct sk_switch *sw, struct sk_digest_reader *r, struct sk_digest *out) {
    const struct digest_slot *first = NULL;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        const struct digest_ring *ring = ring_of(sw, i);
        catch_up(ring, r, i);
        if (r->next[i] == written_to(ring))
            continue;
        const struct digest_slot *s = slot(ring, r->next[i]);
        if (!first || earlier(s, first))
            first = s;
    }
    if (!first)
        return false;
    *out = first->digest;
    r->next[out->pipe]++;
    return true;
}

void sk_digest_field(const struct sk_digest *d, uint32_t i, uint64_t *words) {
    uint32_t at = 0, width = d->desc->fields[i].width;
    for (uint32_t k = 0; k < i; k++)
        at += d->desc->fields[k].width;
    memset(words, 0, sk_words(width) * sizeof *words);
    for (uint32_t bit = 0; bit < width; bit++) { // from the most significant
        uint32_t from = at + bit, to = width - 1 - bit;
        uint64_t one = d->data[from / 8] >> (7 - from % 8) & 1;
        words[to / 64] |= one << (to % 64);
    }
}
