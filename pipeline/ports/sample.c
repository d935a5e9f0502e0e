// SPDX-License-Identifier: Apache-2.0
//
// sample: one in so many of the packets that ports receive, at random, for the control thread
// (sFlow). The distance to the next sample is drawn when one is taken, geometrically distributed,
// so that each packet is taken with the same probability whatever the others are; between two
// samples a port counts down by bursts.
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/ports/ports_impl.h"

#define RING 256u // samples of a core that wait

// Written by the core's thread, read by the control thread.
struct ports_sampler {
    double log_rest; // of the probability that a packet is not taken; 0: all are
    uint64_t random;
    _Atomic(uint32_t) head, tail; // taken out, put in
    struct sk_ports_sample ring[RING];
};

// A number from 1 on, one_in in the mean.
static uint32_t ports_sample_draw(struct ports_sampler *s) {
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    if (s->log_rest == 0)
        return 1;
    const double u = ((double)(s->random >> 11) + 1) / 9007199254740993.0; // above 0, below 1
    const double n = 1 + floor(log(u) / s->log_rest);
    return n < 4e9 ? (uint32_t)n : UINT32_C(4000000000);
}

static void ports_sample_take(struct dpdk_port *p, const struct rte_mbuf *m) {
    struct ports_sampler *s = p->sampler;
    const uint32_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&s->head, memory_order_acquire) == RING) {
        p->samples_lost++;
        return;
    }
    struct sk_ports_sample *o = &s->ring[tail % RING];
    o->port = p->dev_port;
    o->pool = p->sample_pool;
    o->lost = p->samples_lost;
    o->length = m->pkt_len;
    o->n = m->data_len < SK_PORTS_SAMPLE ? m->data_len : SK_PORTS_SAMPLE;
    memcpy(o->bytes, rte_pktmbuf_mtod(m, const uint8_t *), o->n);
    atomic_store_explicit(&s->tail, tail + 1, memory_order_release);
}

void ports_sample(struct dpdk_port *p, struct rte_mbuf *const *burst, uint32_t n) {
    uint32_t at = 0;
    while (p->sample_in <= n - at) {
        at += p->sample_in;
        p->sample_pool += p->sample_in;
        ports_sample_take(p, burst[at - 1]);
        p->sample_in = ports_sample_draw(p->sampler);
    }
    p->sample_in -= n - at;
    p->sample_pool += n - at;
}

// A port that is there, or was added: it counts down from now on.
void ports_sample_begin(struct sk_ports *ports, struct dpdk_port *p) {
    const unsigned core = p->core ? sk_switch_core_of(ports->sw, sk_port_pipe(p->dev_port)) : 0;
    p->sampler = p->inside ? NULL : ports->samplers[core];
    p->sample_in = p->sampler ? ports_sample_draw(p->sampler) : 0;
}

bool sk_ports_sample(struct sk_ports *ports, uint32_t one_in, uint64_t seed) {
    for (unsigned c = 0; c < SK_PIPES; c++) {
        struct ports_sampler *s = one_in ? calloc(1, sizeof *s) : NULL;
        if (one_in && !s)
            return false;
        if (s) {
            s->log_rest = one_in > 1 ? log1p(-1.0 / one_in) : 0;
            s->random = (seed + c + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
        }
        free(ports->samplers[c]);
        ports->samplers[c] = s;
    }
    for (size_t i = 0; i < ports->n; i++)
        ports_sample_begin(ports, ports->list[i]);
    return true;
}

unsigned sk_ports_samples(struct sk_ports *ports, struct sk_ports_sample *out, unsigned n) {
    unsigned got = 0;
    for (unsigned c = 0; c < SK_PIPES && ports->samplers[c]; c++) {
        struct ports_sampler *s = ports->samplers[c];
        uint32_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
        while (got < n && head != atomic_load_explicit(&s->tail, memory_order_acquire)) {
            out[got++] = s->ring[head++ % RING];
            atomic_store_explicit(&s->head, head, memory_order_release);
        }
    }
    return got;
}
