// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/apart.h"

#include <assert.h>

void apart_cross(struct sk_switch *sw, struct sk_packet *p, uint64_t now_ns) {
    struct sent *s = &sw->sent[sw->round & 1];
    p->enq_tstamp = now_ns + sw->opt.crossing_ns; // when it arrives
    fifo_push(&s->to[sw->core_of[sk_port_pipe(p->egress_port)]], p);
    if (p->enq_tstamp < s->first)
        s->first = p->enq_tstamp;
    s->n++;
}

void apart_arrive(struct sk_switch *sw, uint64_t now_ns) {
    tm_arrive(sw, fifo_pop(&sw->arrivals), now_ns);
}

// The buffer that a packet came in belongs to this core from now on; one of this core's goes back.
static void pay(struct sk_switch *sw, unsigned core) {
    struct sent *s = &sw->sent[sw->round & 1];
    struct sk_packet *p;
    while (sw->owed[core] > 0 && (p = sk_pool_take(sw->pool))) {
        fifo_push(&s->paid[core], p);
        s->n_paid++;
        sw->owed[core]--;
    }
}

static void collect(struct sk_switch *sw, struct sent *from) {
    struct sk_packet *p;
    while ((p = fifo_pop(&from->paid[sw->core]))) {
        p->pool = sw->pool;
        sk_pool_put(p);
    }
}

// Each list is in the order of time, and nothing in them is before what came in earlier rounds.
static void merge(struct sk_switch *sw, struct fifo *const lists[]) {
    for (;;) {
        unsigned first = 0;
        for (unsigned c = 1; c < sw->n_cores; c++)
            if (lists[c]->first && (!lists[first]->first ||
                                    lists[c]->first->enq_tstamp < lists[first]->first->enq_tstamp))
                first = c;
        struct sk_packet *p = fifo_pop(lists[first]);
        if (!p)
            return;
        sw->owed[first]++;
        p->pool = sw->pool;
        assert(!sw->arrivals.last || sw->arrivals.last->enq_tstamp <= p->enq_tstamp);
        fifo_push(&sw->arrivals, p);
    }
}

void sk_switch_round(struct sk_switch *sw, uint64_t round) {
    assert(switch_is_apart(sw));
    struct fifo none = {NULL, NULL}, *lists[SK_PIPES];
    sw->round = round;
    struct sent *own = &sw->sent[round & 1]; // all receivers took what was in it
    own->first = UINT64_MAX;
    own->n = own->n_paid = 0;
    for (unsigned c = 0; c < sw->n_cores; c++) {
        lists[c] = c == sw->core ? &none : &sw->cores[c]->sent[(round & 1) ^ 1].to[sw->core];
        if (c != sw->core)
            collect(sw, &sw->cores[c]->sent[(round & 1) ^ 1]);
    }
    merge(sw, lists);
    for (unsigned c = 0; c < sw->n_cores; c++)
        pay(sw, c);
}

uint64_t sk_switch_sent(const struct sk_switch *sw, uint32_t *n) {
    *n = sw->sent[sw->round & 1].n;
    return sw->sent[sw->round & 1].first;
}

uint32_t apart_paid(const struct sk_switch *sw) {
    return sw->sent[0].n_paid + sw->sent[1].n_paid;
}

bool apart_crossing(const struct sk_switch *root) {
    for (unsigned c = 0; c < root->n_cores; c++) {
        const struct sk_switch *sw = root->cores[c];
        if (sw->arrivals.first)
            return true;
        for (unsigned to = 0; to < root->n_cores; to++)
            if (sw->sent[0].to[to].first || sw->sent[1].to[to].first)
                return true;
    }
    return false;
}
