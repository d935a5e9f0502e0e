// SPDX-License-Identifier: Apache-2.0
//
// queue: packets between the traffic manager's decision and the egress pipeline.
//
// A port without a speed takes packets as they come: they wait for nothing but the run loop, and
// queue depths and waiting times are zero, whatever the machine's load. A port with a speed is a
// server in the switch's clock: a packet leaves the queue when it is there and the one before it
// has been sent, which takes its bytes on the wire (with FCS, preamble and gap) at that speed. So
// the output stays a function of the input and its times.
//
// Which packet that is: strict priorities, and by weights among the queues of one. The chip has
// deficit round robin there (tna-facts 5.7), of which no order of single packets is known. Here it
// is self-clocked fair queueing (Golestani, INFOCOM 1994), which gives the same shares without
// rounds: the first packet of a queue would be finished its length over its weight after the one
// before it in its queue, or after the one that its priority sent last if its queue was empty; the
// earliest goes, of equal ones the one with the lowest number.
#include <errno.h>
#include <stdlib.h>

#include "pipeline/switch/switch_impl.h"

#define CELL_BYTES    80u  // of a Tofino 1
#define CELL_BYTES_2  176u // of a Tofino 2 (tna-facts 2.5)
#define WIRE_OVERHEAD 24u  // FCS, preamble, gap between packets
#define FCS_BYTES     4u

static uint32_t cells_of(const struct sk_core *core, uint32_t bytes) {
    bool tofino2 = core->tofino_2;
    uint32_t cell = tofino2 ? CELL_BYTES_2 : CELL_BYTES;
    return (bytes + FCS_BYTES + cell - 1) / cell;
}

static bool queue_can_be_held(const struct sk_port_queue *q) {
    bool any = false;
    for (size_t i = 0; i < SK_PORT_QUEUES; i++)
        any |= q->schedule[i].xoff;
    return any;
}

int sk_switch_port_queue(struct sk_switch *sw, uint16_t dev_port, const struct sk_port_queue *q) {
    uint32_t last = 0;
    const uint32_t limits[] = {q->limit_red, q->limit_yellow, q->limit_green};
    for (size_t i = 0; i < 3; i++) {
        if (limits[i] && limits[i] < last)
            return -EINVAL;
        last = limits[i] ? limits[i] : last;
    }
    for (size_t i = 0; i < SK_PORT_QUEUES; i++)
        if (q->schedule[i].priority >= SK_PRIORITIES || q->schedule[i].weight > SK_WEIGHT_HIGHEST)
            return -EINVAL;
    if (!sk_port_exists(dev_port))
        return -EINVAL;
    struct sk_core *owner = port_owner(sw, dev_port);
    struct port_queue *pq = &owner->ports[dev_port].queue;
    const bool holds = queue_can_be_held(q);
    if ((q->speed_mbps || holds) && !pq->queues &&
        !(pq->queues = calloc(SK_PORT_QUEUES, sizeof *pq->queues)))
        return -ENOMEM;
    const int rc = flow_control_set(sw, dev_port, q);
    if (rc)
        return rc;
    pq->as = *q;
    pq->holds = holds;
    flow_control_release(pq, owner->now, false);
    if ((q->speed_mbps || holds) && !pq->listed) {
        pq->listed = true;
        owner->shaped[owner->n_shaped++] = dev_port;
    }
    core_port_changed(owner, dev_port);
    return 0;
}

void sk_switch_port_queue_get(const struct sk_switch *sw, uint16_t dev_port,
                              struct sk_port_queue *out) {
    *out = port_owner(sw, dev_port)->ports[dev_port].queue.as;
}

uint32_t sk_switch_port_depth(const struct sk_switch *sw, uint16_t dev_port, unsigned qid) {
    const struct port_queue *q = &port_owner(sw, dev_port)->ports[dev_port].queue;
    return q->queues && qid < SK_PORT_QUEUES ? q->queues[qid].cells : 0;
}

// tna-facts 5.7: 0 below all limits, 1 to 3 above the one for red, yellow, green packets.
static uint8_t congestion(const struct sk_port_queue *q, uint32_t depth) {
    const uint32_t limits[] = {q->limit_red, q->limit_yellow, q->limit_green};
    uint8_t state = 0;
    for (uint8_t i = 0; i < 3; i++)
        if (limits[i] && depth >= limits[i])
            state = i + 1;
    return state;
}

// Colours are 0 green, 1 and 2 yellow, 3 red.
static bool admits(const struct sk_port_queue *q, uint32_t depth, uint8_t color) {
    uint8_t state = congestion(q, depth);
    return color == 0 ? state < 3 : color == 3 ? state < 1 : state < 2;
}

void queue_passed(struct sk_packet *p, uint64_t now_ns) {
    p->enq_tstamp = now_ns;
    p->enq_qdepth = p->deq_qdepth = 0;
    p->enq_congest = p->deq_congest = 0;
}

bool queue_waits(const struct port_queue *q) {
    uint64_t any = 0;
    for (size_t i = 0; i < SK_PORT_QUEUES / 64; i++)
        any |= q->busy[i];
    return any != 0;
}

// When the queue's first packet would be finished, 'from' being when it begins.
static uint64_t finish_of(const struct port_queue *q, unsigned qid, uint64_t from) {
    const uint32_t weight =
        q->as.schedule[qid].weight ? q->as.schedule[qid].weight : SK_WEIGHT_HIGHEST;
    const uint64_t bytes = q->queues[qid].waiting.first->len + WIRE_OVERHEAD;
    // fine enough that weights of 1,022 and 1,023 differ; wraps after centuries
    return from + (bytes << 16) / weight;
}

bool queue_push(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    struct port_queue *q = &core->ports[p->egress_port].queue;
    queue_passed(p, now_ns);
    if (!q->as.speed_mbps && !q->holds && !queue_waits(q)) {
        fifo_push(&core->pipes[sk_port_pipe(p->egress_port)].egress, p);
        return true;
    }
    const unsigned qid = p->qid;
    struct queue *own = &q->queues[qid];
    const uint32_t depth = own->cells;
    if (!admits(&q->as, depth, p->color))
        return false;
    p->cells = cells_of(core, p->len);
    p->enq_qdepth = depth;
    p->enq_congest = congestion(&q->as, depth);
    own->cells = depth + p->cells;
    const bool first = !own->waiting.first;
    fifo_push(&own->waiting, p);
    if (first) {
        const uint64_t served = q->served[q->as.schedule[qid].priority];
        q->busy[qid / 64] |= UINT64_C(1) << qid % 64;
        own->finish = finish_of(q, qid, own->finish > served ? own->finish : served);
    }
    return true;
}

// The next queue that has something and is not held, from 'qid' on; SK_PORT_QUEUES: none.
static unsigned ready_from(const struct port_queue *q, unsigned qid) {
    for (; qid < SK_PORT_QUEUES; qid = (qid / 64 + 1) * 64) {
        const uint64_t held = atomic_load_explicit(&q->held[qid / 64], memory_order_acquire);
        const uint64_t rest = (q->busy[qid / 64] & ~held) >> qid % 64;
        if (rest)
            return qid + (unsigned)__builtin_ctzll(rest);
    }
    return SK_PORT_QUEUES;
}
#define EACH_READY(q, i)                                                                           \
    for (unsigned i = ready_from(q, 0); i < SK_PORT_QUEUES; i = ready_from(q, i + 1))

// When the port's next packet leaves.
static uint64_t due(const struct port_queue *q) {
    uint64_t there = UINT64_MAX;
    EACH_READY(q, i)
    if (q->queues[i].waiting.first->enq_tstamp < there)
        there = q->queues[i].waiting.first->enq_tstamp;
    if (there == UINT64_MAX)
        return there;
    const uint64_t resumed = atomic_load_explicit(&q->resumed_at, memory_order_relaxed);
    const uint64_t free_at = q->free_at > resumed ? q->free_at : resumed;
    return there > free_at ? there : free_at;
}

uint64_t queue_next(const struct sk_core *core, uint16_t *port) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < core->n_shaped; i++) {
        uint64_t t = due(&core->ports[core->shaped[i]].queue);
        if (t < first) {
            first = t;
            *port = core->shaped[i];
        }
    }
    return first;
}

// Of those that are there when the port is free.
static unsigned queue_choose(const struct port_queue *q) {
    const uint64_t now = due(q);
    unsigned best = SK_PORT_QUEUES;
    EACH_READY(q, i) {
        if (q->queues[i].waiting.first->enq_tstamp > now)
            continue;
        const unsigned priority = q->as.schedule[i].priority;
        const unsigned highest = best < SK_PORT_QUEUES ? q->as.schedule[best].priority : 0;
        if (best == SK_PORT_QUEUES || priority > highest ||
            (priority == highest && q->queues[i].finish < q->queues[best].finish))
            best = i;
    }
    return best;
}

struct sk_packet *queue_pop(struct sk_core *core, uint16_t port) {
    struct port_queue *q = &core->ports[port].queue;
    const unsigned qid = queue_choose(q);
    struct queue *own = &q->queues[qid];
    struct sk_packet *p = fifo_pop(&own->waiting);
    q->served[q->as.schedule[qid].priority] = own->finish;
    if (own->waiting.first)
        own->finish = finish_of(q, qid, own->finish);
    else
        q->busy[qid / 64] &= ~(UINT64_C(1) << qid % 64);
    own->cells -= p->cells;
    p->deq_qdepth = own->cells;
    p->deq_congest = congestion(&q->as, p->deq_qdepth);
    return p;
}

void queue_sent(struct sk_core *core, uint16_t port, uint32_t bytes, uint64_t now_ns) {
    struct port_queue *q = &core->ports[port].queue;
    if (!q->as.speed_mbps)
        return;
    // rounded up: a port is never faster than its speed
    uint64_t bits = (uint64_t)(bytes + WIRE_OVERHEAD) * 8;
    q->free_at = now_ns + (bits * 1000 + q->as.speed_mbps - 1) / q->as.speed_mbps;
}
