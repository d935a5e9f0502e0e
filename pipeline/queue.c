// SPDX-License-Identifier: Apache-2.0
//
// queue: packets between the traffic manager's decision and the egress pipeline.
//
// A port without a speed takes packets as they come: they wait for nothing but the run loop, and
// queue depths and waiting times are zero, whatever the machine's load. A port with a speed is a
// server in the switch's clock: a packet leaves the queue when it is there and the one before it has
// been sent, which takes its bytes on the wire (with FCS, preamble and gap) at that speed. So the
// output stays a function of the input and its times.
//
// A port sends its packets in the order of their arrival. Its queues are told apart in depths
// and limits only: there is no scheduling between them.
#include <errno.h>

#include "pipeline/switch_impl.h"

#define CELL_BYTES    80u  // of a Tofino 1
#define CELL_BYTES_2  176u // of a Tofino 2 (tna-facts 2.5)
#define WIRE_OVERHEAD 24u  // FCS, preamble, gap between packets
#define FCS_BYTES     4u

static uint32_t cells_of(const struct sk_switch *sw, uint32_t bytes) {
    bool tofino2 = switch_is_tofino_2(sw);
    uint32_t cell = tofino2 ? CELL_BYTES_2 : CELL_BYTES;
    return (bytes + FCS_BYTES + cell - 1) / cell;
}

int sk_switch_port_queue(struct sk_switch *sw, uint16_t dev_port, const struct sk_port_queue *q) {
    uint32_t last = 0;
    const uint32_t limits[] = {q->limit_red, q->limit_yellow, q->limit_green};
    for (size_t i = 0; i < 3; i++) {
        if (limits[i] && limits[i] < last)
            return -EINVAL;
        last = limits[i] ? limits[i] : last;
    }
    if (!sk_port_exists(dev_port))
        return -EINVAL;
    struct sk_switch *owner = port_owner(sw, dev_port);
    struct port_queue *pq = &owner->ports[dev_port].queue;
    pq->as = *q;
    if (q->speed_mbps && !pq->listed) {
        pq->listed = true;
        owner->shaped[owner->n_shaped++] = dev_port;
    }
    switch_port_changed(owner, dev_port);
    return 0;
}

void sk_switch_port_queue_get(const struct sk_switch *sw, uint16_t dev_port,
                              struct sk_port_queue *out) {
    *out = port_owner(sw, dev_port)->ports[dev_port].queue.as;
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

bool queue_push(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    struct port_queue *q = &sw->ports[p->egress_port].queue;
    queue_passed(p, now_ns);
    if (!q->as.speed_mbps && !q->waiting.first) {
        fifo_push(&sw->pipes[sk_port_pipe(p->egress_port)].egress, p);
        return true;
    }
    uint32_t depth = q->cells[p->qid];
    if (!admits(&q->as, depth, p->color))
        return false;
    p->cells = cells_of(sw, p->len);
    p->enq_qdepth = depth;
    p->enq_congest = congestion(&q->as, depth);
    q->cells[p->qid] = depth + p->cells;
    fifo_push(&q->waiting, p);
    return true;
}

// When the port's first packet leaves.
static uint64_t due(const struct port_queue *q) {
    if (!q->waiting.first)
        return UINT64_MAX;
    uint64_t there = q->waiting.first->enq_tstamp;
    return q->free_at > there ? q->free_at : there;
}

uint64_t queue_next(const struct sk_switch *sw, uint16_t *port) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < sw->n_shaped; i++) {
        uint64_t t = due(&sw->ports[sw->shaped[i]].queue);
        if (t < first) {
            first = t;
            *port = sw->shaped[i];
        }
    }
    return first;
}

struct sk_packet *queue_pop(struct sk_switch *sw, uint16_t port) {
    struct port_queue *q = &sw->ports[port].queue;
    struct sk_packet *p = fifo_pop(&q->waiting);
    q->cells[p->qid] -= p->cells;
    p->deq_qdepth = q->cells[p->qid];
    p->deq_congest = congestion(&q->as, p->deq_qdepth);
    return p;
}

void queue_sent(struct sk_switch *sw, uint16_t port, uint32_t bytes, uint64_t now_ns) {
    struct port_queue *q = &sw->ports[port].queue;
    if (!q->as.speed_mbps)
        return;
    // rounded up: a port is never faster than its speed
    uint64_t bits = (uint64_t)(bytes + WIRE_OVERHEAD) * 8;
    q->free_at = now_ns + (bits * 1000 + q->as.speed_mbps - 1) / q->as.speed_mbps;
}
