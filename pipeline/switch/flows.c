// SPDX-License-Identifier: Apache-2.0
#include "pipeline/switch/flows.h"

#include <string.h>
#include <sys/mman.h>

#include "stages/checksum.h"

#define SLOTS   16384u // a power of two
#define MANY    64u    // flows that a burst touches before they are counted
#define TRIES   4096u  // packets looked at before it is asked whether that helps
#define PAUSES  8u     // so many times as many are not, if fewer than one in PAUSES was found
#define REFUSED 255u   // packets of a place that are not noted after one that was unfit

struct effects {
    uint8_t n;
    struct sk_note notes[SK_NOTES];
};
struct flow_place {
    uint32_t seen; // tag of the packet that was not found last
    uint32_t wait;
    uint64_t generation; // when that was
};
struct sk_flows {
    unsigned tried, found, pause;
    uint64_t total;
    unsigned n_touched;
    struct sk_flow *touched[MANY];
    struct sk_flow flows[SLOTS];
    struct flow_place places[SLOTS];
    struct effects effects[SLOTS];
};

// Its pages come when they are used.
struct sk_flows *sk_flows_new(void) {
    void *f = mmap(NULL, sizeof(struct sk_flows), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f == MAP_FAILED)
        return NULL;
    madvise(f, sizeof(struct sk_flows),
            MADV_HUGEPAGE); // a hint: without huge pages it works as well
    return f;
}

void sk_flows_free(struct sk_flows *f) {
    if (f)
        munmap(f, sizeof *f);
}

static uint64_t flows_word(const uint8_t *at) {
    uint64_t w;
    memcpy(&w, at, sizeof w);
    return w;
}
static uint32_t half(const uint8_t *at) {
    uint32_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

// Whether what is after an IP header begins with ports, and not with what each packet has another
// of.
static bool has_ports(uint8_t protocol) {
    return protocol == 6 || protocol == 17 || protocol == 132;
}

// Of what follows an IP header: ports, and TCP's flags, since the last packet of a segment that a
// host sends has others than those before it, and programs look at them. Of ICMP its type and code:
// a host's requests and its answers would drive each other out.
static uint64_t flow_of_transport(uint8_t protocol, const uint8_t *at) {
    const bool icmp = protocol == 1 || protocol == 58;
    const uint64_t ports = has_ports(protocol) ? half(at) : icmp ? (uint64_t)at[0] << 8 | at[1] : 0;
    return ports ^ (uint64_t)(protocol == 6 ? at[13] : 0) << 40 ^ (uint64_t)protocol << 32;
}

uint32_t sk_flow_tag(const uint8_t *frame, uint16_t port) {
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = (flows_word(frame) ^ port) * k;
    h = (h ^ h >> 32 ^ flows_word(frame + 6)) * k; // source and type
    const uint8_t *l3 = frame + 14;
    uint16_t type;
    memcpy(&type, frame + 12, sizeof type);
    if (type == 0x0081) { // a tag, in network order
        h = (h ^ half(frame + 14)) * k;
        memcpy(&type, frame + 16, sizeof type);
        l3 += 4;
    }
    if (type == 0x0008) {
        h = (h ^ h >> 32 ^ flows_word(l3 + 12)) * k;
        h = (h ^ h >> 32 ^ flow_of_transport(l3[9], l3 + 20)) * k;
    } else if (type == 0xdd86) {
        h = (h ^ h >> 32 ^ flows_word(l3 + 8) ^ flows_word(l3 + 24)) * k;
        h = (h ^ h >> 32 ^ flows_word(l3 + 16) ^ flows_word(l3 + 32)) * k;
        h = (h ^ h >> 32 ^ flow_of_transport(l3[6], l3 + 40)) * k;
    }
    return (uint32_t)(h >> 32) | 1u; // 0 is no tag
}

bool sk_flows_tries(struct sk_flows *f, unsigned n) {
    if (f->pause) {
        f->pause -= n < f->pause ? n : f->pause;
        return false;
    }
    f->tried += n;
    if (f->tried >= TRIES) {
        f->pause = f->found < f->tried / PAUSES ? TRIES * PAUSES : 0;
        f->tried = f->found = 0;
    }
    return true;
}

static inline bool is_like(const struct sk_flow *f, const uint8_t *frame) {
    for (unsigned i = 0; i < f->words; i++)
        if ((flows_word(frame + 8 * i) ^ f->bytes[i]) & f->mask[i])
            return false;
    return true;
}

bool sk_flow_has(const struct sk_flow *flow, uint16_t port, const uint8_t *frame, uint32_t length,
                 uint64_t generation) {
    if (flow->generation != generation || flow->in != port)
        return false;
    if (flow->length < SK_NOTED ? length != flow->length : length < SK_NOTED)
        return false;
    return is_like(flow, frame) &&
           (!flow->summed ||
            !sk_csum_wrong(sk_csum_bytes(0, frame + flow->summed_at, flow->summed)));
}

struct sk_flow *sk_flows_find(struct sk_flows *f, uint32_t tag, uint16_t port, const uint8_t *frame,
                              uint32_t length, uint64_t generation) {
    struct sk_flow *const flow = &f->flows[tag / 2 % SLOTS];
    return flow->tag == tag && sk_flow_has(flow, port, frame, length, generation) ? flow : NULL;
}

void sk_flows_flush(struct sk_flows *f, uint64_t now_ns) {
    for (unsigned i = 0; i < f->n_touched; i++) {
        struct sk_flow *const flow = f->touched[i];
        const struct effects *const all = &f->effects[flow - f->flows];
        const uint64_t packets = flow->pending, bytes = flow->pending_bytes;
        f->total += packets;
        for (unsigned k = 0; k < all->n; k++) {
            const struct sk_note *const n = &all->notes[k];
            n->count[0] += (uint64_t)n->more * packets + (n->kind == SK_NOTED_BYTES ? bytes : 0);
            if (n->kind == SK_NOTED_HIT)
                __atomic_store_n(n->count + 1, now_ns, __ATOMIC_RELAXED);
        }
        flow->pending = 0;
        flow->pending_bytes = 0;
    }
    f->n_touched = 0;
}

uint64_t sk_flows_total(const struct sk_flows *f) {
    return f->total;
}

void sk_flows_count_many(struct sk_flows *f, struct sk_flow *flow, uint32_t packets,
                         uint64_t bytes) {
    if (flow->pending == 0) {
        flow->found = true;
        const struct effects *const e = &f->effects[flow - f->flows];
        __builtin_prefetch(e);
        __builtin_prefetch(&e->notes[4]);
        __builtin_prefetch(&e->notes[8]);
        __builtin_prefetch(&e->notes[12]);
        f->touched[f->n_touched++] = flow;
    }
    flow->pending += packets;
    flow->pending_bytes += bytes;
    f->found += packets;
}

void sk_flows_count(struct sk_flows *f, struct sk_flow *flow, uint32_t length) {
    sk_flows_count_many(f, flow, 1, length);
}

bool sk_flow_looks_at(const struct sk_flow *flow, const uint8_t *bits) {
    for (unsigned i = 0; i < flow->words; i++)
        if (flow->mask[i] & flows_word(bits + 8 * i))
            return true;
    return false;
}

bool sk_flows_wants(struct sk_flows *f, uint32_t tag, uint64_t generation) {
    struct flow_place *const p = &f->places[tag / 2 % SLOTS];
    if (p->wait && p->generation == generation) {
        p->wait--;
        return false;
    }
    p->wait = 0; // what made it unfit, an address to be learned, say, may be gone
    const bool again = p->seen == tag && p->generation == generation;
    p->seen = tag;
    p->generation = generation;
    return again;
}

void sk_flows_refuse(struct sk_flows *f, uint32_t tag) {
    f->places[tag / 2 % SLOTS].wait = REFUSED;
}

void sk_flows_keep(struct sk_flows *f, uint32_t tag, uint16_t in, uint16_t out,
                   const uint8_t *frame, const struct sk_notes *n, uint64_t generation) {
    struct sk_flow *const flow = &f->flows[tag / 2 % SLOTS];
    struct effects *const effects = &f->effects[tag / 2 % SLOTS];
    if (flow->pending) { // of this burst: it has to be counted first
        sk_flows_refuse(f, tag);
        return;
    }
    const uint16_t length = (uint16_t)(n->length < SK_NOTED ? n->length : SK_NOTED);
    if (flow->tag == tag && flow->generation == generation && flow->length == length &&
        !flow->found) {
        sk_flows_refuse(f, tag); // nobody was like it: it looked at what each packet has another of
        flow->generation = 0;
        return;
    }
    *flow = (struct sk_flow){.generation = generation,
                             .tag = tag,
                             .in = in,
                             .out = out,
                             .length = length,
                             .summed_at = n->summed_at,
                             .summed = n->summed};
    memcpy(flow->mask, n->mask, length); // what is after it may have been asked for in vain
    memcpy(flow->bytes, frame, length);
    for (unsigned i = 0; i < SK_NOTED / 8; i++)
        if (flow->mask[i])
            flow->words = (uint16_t)(i + 1);
    effects->n = n->n;
    memcpy(effects->notes, n->notes, n->n * sizeof *n->notes);
}
