// SPDX-License-Identifier: Apache-2.0
//
// The traffic manager: from the ingress deparser's wishes to packets waiting for egress.
//
// A port has no speed of its own yet: it takes packets as fast as they come, so queue depths and
// waiting times seen by egress programs are zero, whatever the machine's load. That keeps the
// output a function of the input alone.
#include "pipeline/switch_impl.h"

#include <string.h>

struct destination {
    uint16_t port, rid;
    bool rid_first;
    uint8_t cos;
};

// Destinations become known one by one and the original packet is used for the last of them, so one
// is held back until it is clear whether another follows.
struct fan_out {
    struct sk_switch *sw;
    struct sk_packet *packet;
    const struct sk_ingress_out *out;
    uint64_t now_ns;
    bool held;
    struct destination destination;
};

static void enqueue(struct fan_out *f, struct sk_packet *p) {
    const struct destination *d = &f->destination;
    struct sk_switch *sw = f->sw;
    if (!sk_port_exists(d->port) || !(sw->ports[d->port].up || port_recirculates(sw, d->port))) {
        switch_drop(sw, p, d->port, SK_DROP_PORT_DOWN);
        return;
    }
    p->egress_port = d->port;
    p->rid = d->rid;
    p->rid_first = d->rid_first;
    p->cos = d->cos;
    p->qid = f->out->qid;
    p->color = f->out->color;
    p->enq_tstamp = f->now_ns;
    p->enq_qdepth = p->deq_qdepth = 0;
    p->bypass_egress = f->out->bypass_egress;
    switch_tell(sw, p, SK_EV_COPY, d->port, d->rid, p->bypass_egress ? "bypass_egress" : NULL);
    fifo_push(&sw->pipes[sk_port_pipe(d->port)].egress, p);
}

static struct sk_packet *clone(struct sk_switch *sw, const struct sk_packet *p) {
    struct sk_packet *c = sk_pool_get(sw->pool);
    if (!c)
        return NULL;
    struct sk_packet fresh = *c;
    *c = *p;
    c->buf = fresh.buf;
    memcpy(c->buf + c->head, p->buf + p->head, p->len);
    return c;
}

static void send_copy(struct fan_out *f) {
    struct sk_switch *sw = f->sw;
    struct sk_packet *copy = clone(sw, f->packet);
    sw->stats.copies++;
    if (copy) {
        enqueue(f, copy);
        return;
    }
    switch_tell(sw, f->packet, SK_EV_DROPPED, f->destination.port, 0,
                sk_drop_text(SK_DROP_NO_BUFFER));
    sw->stats.drops[SK_DROP_NO_BUFFER]++;
    if (f->destination.port < SK_PORTS)
        sw->ports[f->destination.port].stats.drops[SK_DROP_NO_BUFFER]++;
}

static void add(struct fan_out *f, struct destination d) {
    if (f->held)
        send_copy(f);
    f->held = true;
    f->destination = d;
}

static void add_multicast(void *aux, const struct sk_pre_copy *c) {
    struct fan_out *f = aux;
    add(f, (struct destination){c->port, c->rid, c->rid_first, f->out->ingress_cos});
}

static void add_group(struct fan_out *f, uint16_t mgid) {
    const struct sk_ingress_out *out = f->out;
    pre_replicate(f->sw->pre,
                  &(struct sk_pre_request){.mgid = mgid,
                                           .level1_exclusion_id = out->level1_exclusion_id,
                                           .level2_exclusion_id = out->level2_exclusion_id,
                                           .rid = out->rid},
                  add_multicast, f);
}

static void resubmit(struct sk_switch *sw, struct sk_packet *p, const struct sk_ingress_out *out) {
    if (p->resubmitted) {
        switch_drop(sw, p, p->ingress_port, SK_DROP_RESUBMIT_TWICE);
        return;
    }
    switch_tell(sw, p, SK_EV_RESUBMITTED, p->ingress_port, 0, NULL);
    p->resubmitted = true;
    p->resubmits++;
    memcpy(p->resubmit_data, out->resubmit_data, sizeof p->resubmit_data);
    sw->stats.resubmitted++;
    fifo_push(&sw->pipes[sk_port_pipe(p->ingress_port)].ingress, p);
}

static enum sk_drop_reason why_nowhere(const struct sk_ingress_out *out) {
    if (out->drop_ctl & 3)
        return SK_DROP_INGRESS_DROP;
    return out->mcast_a_valid || out->mcast_b_valid ? SK_DROP_MCAST_EMPTY : SK_DROP_NO_DESTINATION;
}

void tm_admit(struct sk_switch *sw, struct sk_packet *p, const struct sk_ingress_out *out,
              uint64_t now_ns) {
    if (out->parser_drop) {
        switch_drop(sw, p, p->ingress_port, SK_DROP_PARSER_ERROR);
        return;
    }
    if (out->resubmit) {
        resubmit(sw, p, out);
        return;
    }
    struct fan_out f = {.sw = sw, .packet = p, .out = out, .now_ns = now_ns};
    bool forward = !(out->drop_ctl & 1);
    if (forward && out->ucast_valid)
        add(&f, (struct destination){out->ucast_port, 0, false, out->ingress_cos});
    if (forward && out->mcast_a_valid)
        add_group(&f, out->mcast_grp_a);
    if (forward && out->mcast_b_valid)
        add_group(&f, out->mcast_grp_b);
    if (out->copy_to_cpu && !(out->drop_ctl & 2))
        add(&f, (struct destination){sw->opt.cpu_port, 0, true, out->icos_for_copy_to_cpu});
    if (f.held)
        enqueue(&f, p);
    else
        switch_drop(sw, p, p->ingress_port, why_nowhere(out));
}
