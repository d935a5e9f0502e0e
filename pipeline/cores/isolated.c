// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/isolated.h"

#include <assert.h>

void isolated_cross(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    struct sent *s = &core->sent[core->round & 1];
    p->enq_tstamp = now_ns + core->sw->opt.crossing_ns; // when it arrives
    fifo_push(&s->to[core->sw->core_of[sk_port_pipe(p->egress_port)]], p);
    if (p->enq_tstamp < s->first)
        s->first = p->enq_tstamp;
    s->n++;
}

void isolated_arrive(struct sk_core *core, uint64_t now_ns) {
    tm_arrive(core, fifo_pop(&core->arrivals), now_ns);
}

// The buffer that a packet came in belongs to this core from now on; one of this core's goes back.
static void isolated_pay(struct sk_core *core, unsigned to) {
    struct sent *s = &core->sent[core->round & 1];
    struct sk_packet *p;
    while (core->owed[to] > 0 && (p = sk_pool_take(core->pool))) {
        fifo_push(&s->paid[to], p);
        s->n_paid++;
        core->owed[to]--;
    }
}

static void isolated_collect(struct sk_core *core, struct sent *from) {
    struct sk_packet *p;
    while ((p = fifo_pop(&from->paid[core->number]))) {
        p->pool = core->pool;
        sk_pool_put(p);
    }
}

// Each list is in the order of time, and nothing in them is before what came in earlier rounds.
static void isolated_merge(struct sk_core *core, struct fifo *const lists[]) {
    for (;;) {
        unsigned first = 0;
        for (unsigned c = 1; c < core->sw->n_cores; c++)
            if (lists[c]->first && (!lists[first]->first ||
                                    lists[c]->first->enq_tstamp < lists[first]->first->enq_tstamp))
                first = c;
        struct sk_packet *p = fifo_pop(lists[first]);
        if (!p)
            return;
        core->owed[first]++;
        p->pool = core->pool;
        assert(!core->arrivals.last || core->arrivals.last->enq_tstamp <= p->enq_tstamp);
        fifo_push(&core->arrivals, p);
    }
}

void sk_core_round(struct sk_core *core, uint64_t round) {
    assert(switch_is_isolated(core->sw));
    struct fifo none = {NULL, NULL}, *lists[SK_PIPES];
    core->round = round;
    struct sent *own = &core->sent[round & 1]; // all receivers took what was in it
    own->first = UINT64_MAX;
    own->n = own->n_paid = 0;
    for (unsigned c = 0; c < core->sw->n_cores; c++) {
        lists[c] =
            c == core->number ? &none : &core->sw->cores[c]->sent[(round & 1) ^ 1].to[core->number];
        if (c != core->number)
            isolated_collect(core, &core->sw->cores[c]->sent[(round & 1) ^ 1]);
    }
    isolated_merge(core, lists);
    for (unsigned c = 0; c < core->sw->n_cores; c++)
        isolated_pay(core, c);
}

uint64_t sk_core_sent(const struct sk_core *core, uint32_t *n) {
    *n = core->sent[core->round & 1].n;
    return core->sent[core->round & 1].first;
}

uint32_t isolated_paid(const struct sk_core *core) {
    return core->sent[0].n_paid + core->sent[1].n_paid;
}

bool isolated_crossing(const struct sk_switch *sw) {
    for (unsigned c = 0; c < sw->n_cores; c++) {
        const struct sk_core *core = sw->cores[c];
        if (core->arrivals.first)
            return true;
        for (unsigned to = 0; to < sw->n_cores; to++)
            if (core->sent[0].to[to].first || core->sent[1].to[to].first)
                return true;
    }
    return false;
}
