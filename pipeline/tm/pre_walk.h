// SPDX-License-Identifier: Apache-2.0
//
// pre_walk: a packet's copies, one after the other (tna-facts 5.6). It is inlined with what is done
// for each copy. Part of the inside of the replication engine and of the traffic manager.
//
//     struct pre_walk w;
//     struct sk_pre_copy c;
//     pre_begin(&w, pre, marks, &request);
//     while (pre_next(&w, &c))
//         ...
#ifndef SILKEN_PIPELINE_TM_PRE_WALK_H
#define SILKEN_PIPELINE_TM_PRE_WALK_H

#include "pipeline/tm/pre_impl.h"

#define PRE_INLINE static inline __attribute__((always_inline))

struct pre_walk {
    const struct sk_pre *pre;
    struct sk_pre_marks *marks;
    const struct sk_pre_request *req;   // the caller's
    const struct flat_copy *next, *end; // of a group that has them; then of members
    const struct group *group;          // null: no copies
    const struct node *node;            // whose copies are being made, or null
    size_t member, port, lag;           // which comes next
    // what the packet's rid and level-2 exclusion id say: where it is not sent, to nodes of which
    // rids
    const uint64_t *pruned; // null: everywhere
    bool all_rids;
};

// Not what most groups have (pre_replicate.c). False: no copy to this LAG of the node's; else its
// port.
bool pre_lag_port(const struct sk_pre *pre, const struct sk_pre_request *req, const struct node *n,
                  size_t lag, uint16_t *port);
// Null when the ECMP group is empty.
const struct node *pre_chosen_node(const struct ecmp *e, uint16_t hash);

PRE_INLINE void pre_begin(struct pre_walk *w, const struct sk_pre *pre, struct sk_pre_marks *marks,
                          const struct sk_pre_request *req) {
    // one by one: of a literal C compilers make a string instruction, which takes as long as a copy
    w->pre = pre;
    w->marks = marks;
    w->req = req;
    w->next = w->end = NULL;
    w->group = pre->groups[req->mgid];
    w->node = NULL;
    w->member = w->port = w->lag = 0;
    w->pruned = NULL;
    w->all_rids = req->rid == pre->device.global_rid;
    if (req->level2_exclusion_id < SK_PRE_PRUNE_SETS && pre->prunes[req->level2_exclusion_id])
        w->pruned = pre->prune[req->level2_exclusion_id];
    if (w->group && w->group->flat && !w->pruned) {
        w->next = w->group->flat;
        w->end = w->next + w->group->n_flat;
        w->group = NULL;
    }
    marks->requests++;
}

// The next member's node; false: there is none.
PRE_INLINE bool pre_next_node(struct pre_walk *w) {
    const struct group *g = w->group;
    w->port = w->lag = 0;
    while (g && w->member < g->n_members) {
        const struct member *m = &g->members[w->member++];
        if (m->as_given.l1_xid_valid && m->as_given.l1_xid == w->req->level1_exclusion_id)
            continue;
        w->node = m->node;
        if (__builtin_expect(m->ecmp != NULL, 0))
            w->node = pre_chosen_node(m->ecmp, w->req->level1_hash);
        if (w->node)
            return true;
    }
    return false;
}

// The node's next port, of those that it names and then of its LAGs; false: there is none.
PRE_INLINE bool pre_next_port(struct pre_walk *w, uint16_t *port) {
    const struct node *n = w->node;
    if (__builtin_expect(w->port < n->n_ports, 1)) {
        *port = n->ports[w->port++];
        return true;
    }
    while (__builtin_expect(w->lag < n->n_lags, 0)) {
        uint16_t p;
        if (pre_lag_port(w->pre, w->req, n, w->lag++, &p)) {
            *port = p;
            return true;
        }
    }
    return false;
}

PRE_INLINE bool pre_is_first(struct pre_walk *w, uint16_t rid) {
    uint64_t *last = &w->marks->copied_in[rid];
    const bool first = *last != w->marks->requests;
    *last = w->marks->requests;
    return first;
}

PRE_INLINE uint16_t pre_replaced(const struct sk_pre *pre, uint16_t port) {
    return __builtin_expect(pre_has(pre->down, port), 0) && !pre->device.no_protection
               ? pre->backup[port]
               : port;
}

// False: there are no more.
PRE_INLINE bool pre_next(struct pre_walk *w, struct sk_pre_copy *c) {
    uint16_t port;
    while (w->next != w->end) {
        const struct flat_copy *f = w->next++;
        if (f->has_xid && f->xid == w->req->level1_exclusion_id)
            continue;
        c->rid = f->rid;
        c->rid_first = !f->shared || pre_is_first(w, f->rid);
        c->port = pre_replaced(w->pre, f->port);
        return true;
    }
    for (;;) {
        while (!w->node || !pre_next_port(w, &port))
            if (!pre_next_node(w))
                return false;
        if (!(w->pruned && (w->all_rids || w->req->rid == w->node->rid) &&
              pre_has(w->pruned, port)))
            break;
    }
    c->rid = w->node->rid;
    c->rid_first = pre_is_first(w, c->rid);
    c->port = pre_replaced(w->pre, port);
    return true;
}

#endif
