// SPDX-License-Identifier: Apache-2.0
//
// way: a packet's way through a core, from where it comes in to where it leaves.
//
// A packet goes on as far as it can while it is in cache: it is resubmitted, crosses the traffic
// manager, passes egress and recirculates without waiting anywhere, and so do the copies of a
// multicast one after the other. Only what must not overtake others waits in a queue: packets for a
// port with a speed, from other cores, behind mirrored copies (which are made while a program runs
// and begin their own way when it is done), and recirculated ones behind such.
#include "pipeline/switch/way_impl.h"

#define BURST 32

// ---- bytes in front of the packet that waited ----

static void put_be(uint8_t *at, unsigned bytes, uint64_t value) {
    for (unsigned i = bytes; i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

// Three words of eight bytes, most significant first, and three bytes (tna-facts 2.5).
static void write_egress_prefix(struct sk_packet *p, uint64_t now_ns) {
    uint8_t *at = sk_packet_data(p) - SK_EGRESS_PREFIX;
    const uint64_t waited = (now_ns - p->enq_tstamp) & 0x3ffff, enq = p->enq_tstamp & 0x3ffff;
    const uint64_t words[3] = {
        htobe64((uint64_t)p->egress_port << 48 | (uint64_t)(p->enq_qdepth & 0x7ffff) << 24 |
                (uint64_t)p->enq_congest << 16 | enq >> 16),
        // the byte of app_pool_congest_stat is 0, so are the upper bits of the waiting time
        htobe64(enq << 48 | (uint64_t)(p->deq_qdepth & 0x7ffff) << 24 |
                (uint64_t)p->deq_congest << 16),
        htobe64(waited << 40 | (uint64_t)p->rid << 24 | (uint64_t)p->rid_first << 16 |
                (p->qid & 0x1fu) << 8 | (p->cos & 7u)),
    };
    const uint16_t length = htobe16((uint16_t)(p->len + SK_FCS_BYTES));
    memcpy(at, words, sizeof words);
    at[24] = p->deflected;
    memcpy(at + 25, &length, sizeof length);
}

// A Tofino 2 has the same fields with 32-bit times and queues of 7 bits, and a byte behind them.
static void write_egress_prefix_2(struct sk_packet *p, uint64_t now_ns) {
    write_egress_prefix(p, now_ns);
    uint8_t *at = sk_packet_data(p) - SK_EGRESS_PREFIX_2;
    memmove(at, at + 1, SK_EGRESS_PREFIX);
    put_be(at + 6, 4, p->enq_tstamp & 0xffffffff);
    put_be(at + 15, 4, (now_ns - p->enq_tstamp) & 0xffffffff);
    at[22] = p->qid & 0x7f;
    at[27] = 0;
}

// ---- mirrored copies ----

void way_mirror_received(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_switch *sw = aux;
    tm_mirror(sw, p, m, SK_MIRROR_IN, sw->pass_ns);
}

void way_mirror_arrived(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_switch *sw = aux;
    tm_mirror(sw, p, m, SK_MIRROR_OUT, sw->pass_ns);
}

// ---- from a queue to the port ----

// With all that 'p' knows of its queue.
static struct sk_packet *leave(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    const uint16_t port = p->egress_port;
    if (!p->bypass_egress) {
        if (!sk_packet_recentre(p)) {
            switch_drop(sw, p, port, SK_DROP_TOO_LONG);
            return NULL;
        }
        if (switch_is_tofino_2(sw))
            write_egress_prefix_2(p, now_ns);
        else
            write_egress_prefix(p, now_ns);
        if (!run_egress_program(sw, &sw->pipes[sk_port_pipe(port)], p, now_ns, false)) {
            switch_drop(sw, p, port, SK_DROP_EGRESS_DROP);
            return NULL;
        }
    }
    queue_sent(sw, port, p->len, now_ns);
    if (port_recirculates(sw, port))
        return recirculate(sw, p, now_ns, false);
    transmit(sw, p, false);
    return NULL;
}

// Who looks at the packets sees all that is known of them.
struct sk_packet *way_leave_in_full(struct sk_switch *sw, struct sk_packet *p,
                                    const struct destination *d, const struct sk_ingress_out *out,
                                    uint64_t now_ns) {
    address(p, d, out);
    queue_passed(p, now_ns);
    return leave(sw, p, now_ns);
}

void way_leave(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    p = leave(sw, p, now_ns);
    if (p)
        ingress_push(&sw->pipes[sk_port_pipe(p->ingress_port)], p);
}

// ---- from ingress to the port ----

struct sk_packet *way_at_once(struct sk_switch *sw, struct sk_packet *p,
                              const struct destination *d, const struct sk_ingress_out *out,
                              uint64_t now_ns) {
    if (sw->watched || switch_is_tofino_2(sw))
        return way_leave_in_full(sw, p, d, out, now_ns);
    return at_once(sw, p, d, out->bypass_egress, out->qid, now_ns, false);
}

// ---- queues ----

// Of a burst 'i' packets have run.
INLINE bool run_ingress(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns, int i,
                        const bool plain) {
    struct sk_packet *p;
    for (; i < BURST && (p = ingress_pop(pipe)); i++) {
        if (p->next)
            __builtin_prefetch(sk_packet_data(p->next));
        write_ingress_prefix(sw, p);
        run_on(sw, pipe, p, now_ns, plain);
    }
    return i > 0;
}

bool way_run_from(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns, int i) {
    bool worked = false;
    struct sk_packet *p;
    if (pipe->ingress.first)
        worked = way_is_plain(sw) ? run_ingress(sw, pipe, now_ns, i, true)
                                  : run_ingress(sw, pipe, now_ns, i, false);
    for (int n = 0; n < BURST && (p = fifo_pop(&pipe->egress)); n++) {
        way_leave(sw, p, now_ns);
        worked = true;
    }
    return worked;
}

bool way_run(struct sk_switch *sw, struct pipe *pipe, uint64_t now_ns) {
    return way_run_from(sw, pipe, now_ns, 0);
}
