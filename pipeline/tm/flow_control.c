// SPDX-License-Identifier: Apache-2.0
//
// flow_control: a Tofino 2's adv_flow_ctl (tna-facts 5.7): a deparser tells a queue to wait, or to
// go on.
//
// A message names a queue by its pipe, port group and number in the group, as the driver divides
// them among the group's ports. It acts when the deparser has sent it, whatever becomes of the
// packet: before the packet itself gets into a queue. Queues for which nobody has asked for flow
// control take no notice of it.
#include <errno.h>

#include "pipeline/switch/switch_impl.h"

static struct flow_target *flow_control_group(struct sk_switch *sw, uint16_t port) {
    return sw->flow_targets[sk_port_pipe(port)][sk_port_local(port) / 8];
}

int flow_control_set(struct sk_switch *sw, uint16_t port, const struct sk_port_queue *q) {
    struct flow_target *of = flow_control_group(sw, port);
    bool taken[SK_PORT_QUEUES] = {false};
    for (size_t i = 0; i < SK_PORT_QUEUES; i++)
        taken[i] = of[i].there && of[i].port != port;
    for (size_t i = 0; i < SK_PORT_QUEUES; i++) {
        const struct sk_queue_schedule *s = &q->schedule[i];
        if (!s->xoff)
            continue;
        if (s->pg_queue >= SK_PORT_QUEUES)
            return -EINVAL;
        if (taken[s->pg_queue])
            return -EEXIST;
        taken[s->pg_queue] = true;
    }
    for (size_t i = 0; i < SK_PORT_QUEUES; i++)
        if (of[i].port == port)
            of[i].there = false;
    for (size_t i = 0; i < SK_PORT_QUEUES; i++)
        if (q->schedule[i].xoff)
            of[q->schedule[i].pg_queue] = (struct flow_target){true, (uint8_t)i, port};
    return 0;
}

// The clear bit is seen after the time: nothing leaves a queue before it went on.
static void flow_control_resume(struct port_queue *q, size_t word, uint64_t bits, uint64_t now_ns) {
    uint64_t last = atomic_load_explicit(&q->resumed_at, memory_order_relaxed);
    while (last < now_ns &&
           !atomic_compare_exchange_weak_explicit(&q->resumed_at, &last, now_ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    atomic_fetch_and_explicit(&q->held[word], ~bits, memory_order_release);
}

void flow_control_release(struct port_queue *q, uint64_t now_ns, bool all) {
    for (size_t word = 0; word < SK_PORT_QUEUES / 64; word++) {
        uint64_t free_ones = 0;
        for (size_t i = 0; i < 64; i++)
            free_ones |= (uint64_t)(all || !q->as || !q->as->schedule[64 * word + i].xoff) << i;
        if (atomic_load_explicit(&q->held[word], memory_order_relaxed) & free_ones)
            flow_control_resume(q, word, free_ones, now_ns);
    }
}

void flow_control_message(const struct sk_core *core, uint32_t message, uint64_t now_ns) {
    const struct flow_target *t =
        &core->sw->flow_targets[SK_FLOW_CTL_PIPE(message)][SK_FLOW_CTL_GROUP(message)]
                               [SK_FLOW_CTL_QUEUE(message)];
    if (!SK_FLOW_CTL_VALID(message) || !t->there)
        return;
    struct port_queue *q = &port_owner(core->sw, t->port)->ports[t->port].queue;
    const uint64_t bit = UINT64_C(1) << t->qid % 64, word = t->qid / 64;
    const bool held = atomic_load_explicit(&q->held[word], memory_order_relaxed) & bit;
    if (SK_FLOW_CTL_CREDIT(message) && !held)
        atomic_fetch_or_explicit(&q->held[word], bit, memory_order_release);
    else if (!SK_FLOW_CTL_CREDIT(message) && held)
        flow_control_resume(q, word, bit, now_ns);
}

bool sk_switch_port_held(const struct sk_switch *sw, uint16_t dev_port, unsigned qid) {
    const struct port_queue *q = &port_owner(sw, dev_port)->ports[dev_port].queue;
    return qid < SK_PORT_QUEUES &&
           (atomic_load_explicit(&q->held[qid / 64], memory_order_relaxed) >> qid % 64 & 1);
}
