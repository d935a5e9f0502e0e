// SPDX-License-Identifier: Apache-2.0
//
// digest: what programs tell the control plane.
//
// Each pipe has a ring of the last SK_DIGEST_QUEUE digests, made when its program has any. Nothing
// is ever waited for: a full ring forgets its oldest digest, and a reader that had not seen it yet
// learns how many it lost from its position. The control plane reads while cores run: a slot is
// copied word by word, and what was copied counts only if nobody began to write there meanwhile.
#include <string.h>

#include "pipeline/switch/switch_impl.h"

static void slot_write(struct digest_slot *s, uint64_t position, const struct digest_content *c) {
    uint64_t word[DIGEST_WORDS];
    memcpy(word, c, sizeof word);
    atomic_store_explicit(&s->is, 2 * position + 1, memory_order_relaxed);
    // with the reader's: who has copied one of the words that follow sees that the slot is odd, or
    // later
    atomic_thread_fence(memory_order_release);
    for (unsigned i = 0; i < DIGEST_WORDS; i++)
        atomic_store_explicit(&s->word[i], word[i], memory_order_relaxed);
    atomic_store_explicit(&s->is, 2 * position + 2, memory_order_release);
}

// False: it has a later one by now.
static bool slot_read(struct digest_slot *s, uint64_t position, struct digest_content *c) {
    uint64_t word[DIGEST_WORDS];
    if (atomic_load_explicit(&s->is, memory_order_acquire) != 2 * position + 2)
        return false;
    for (unsigned i = 0; i < DIGEST_WORDS; i++)
        word[i] = atomic_load_explicit(&s->word[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&s->is, memory_order_relaxed) != 2 * position + 2)
        return false;
    memcpy(c, word, sizeof word);
    return true;
}

void digest_push(struct sk_core *core, unsigned pipe, const struct sk_digest_out *d,
                 uint64_t now_ns) {
    struct digest_ring *r = &core->pipes[pipe].digests;
    uint64_t written = atomic_load_explicit(&r->written, memory_order_relaxed);
    struct digest_content c;
    memset(&c, 0, sizeof c);
    c.order = core->stats.digests++;
    c.digest.desc = &core->pipes[pipe].desc->digests[d->index];
    c.digest.pipe = (uint8_t)pipe;
    c.digest.time_ns = now_ns;
    memcpy(c.digest.data, d->data, sizeof c.digest.data);
    slot_write(&r->slots[written % SK_DIGEST_QUEUE], written, &c);
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

// The next one that is still there; false: there is none. A slot that is being written again counts
// as lost.
static bool digest_next_of(const struct digest_ring *ring, struct sk_digest_reader *r,
                           unsigned pipe, struct digest_content *c) {
    while (ring->slots) {
        const uint64_t written = written_to(ring);
        const uint64_t oldest = written < SK_DIGEST_QUEUE ? 0 : written - SK_DIGEST_QUEUE;
        if (r->next[pipe] < oldest) {
            r->lost += oldest - r->next[pipe];
            r->next[pipe] = oldest;
        }
        if (r->next[pipe] == written)
            return false;
        if (slot_read(&ring->slots[r->next[pipe] % SK_DIGEST_QUEUE], r->next[pipe], c))
            return true;
        r->next[pipe]++;
        r->lost++;
    }
    return false;
}

// By time; on one core that is the order in which they were made, and there 'order' tells those of
// one time apart.
static bool earlier(const struct digest_content *a, const struct digest_content *b) {
    return a->digest.time_ns != b->digest.time_ns ? a->digest.time_ns < b->digest.time_ns
                                                  : a->order < b->order;
}

bool sk_digest_read(const struct sk_switch *sw, struct sk_digest_reader *r, struct sk_digest *out) {
    struct digest_content next[SK_PIPES];
    const struct digest_content *first = NULL;
    for (unsigned i = 0; i < SK_PIPES; i++)
        if (digest_next_of(ring_of(sw, i), r, i, &next[i]) && (!first || earlier(&next[i], first)))
            first = &next[i];
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
