// SPDX-License-Identifier: Apache-2.0
//
// pre_walk: a packet's copies, one after the other (tna-facts 5.6). It is inlined with what is done for each
// copy. Part of the inside of the replication engine and of the traffic manager.
#ifndef SILKEN_PIPELINE_PRE_WALK_H
#define SILKEN_PIPELINE_PRE_WALK_H

#include "pipeline/pre_impl.h"

#define PRE_INLINE static inline __attribute__((always_inline))

typedef void (*pre_copy_fn)(void *aux, const struct sk_pre_copy *c);
struct pre_walk {
    const struct sk_pre *pre;
    struct sk_pre_marks *marks;
    const struct sk_pre_request *req;
    pre_copy_fn copy;
    void *aux;
    size_t copies;
    // what the packet's rid and level-2 exclusion id say: where it is not sent, to nodes of which rids
    const uint64_t *pruned; // null: everywhere
    bool all_rids;
};

static inline bool pre_pruned(const struct pre_walk *w, const struct node *n, uint16_t port) {
    return w->pruned && (w->all_rids || w->req->rid == n->rid) && pre_has(w->pruned, port);
}

PRE_INLINE void pre_send(struct pre_walk *w, const struct node *n, uint16_t port) {
    uint64_t *last = &w->marks->copied_in[n->rid];
    const bool first = *last != w->marks->requests;
    *last = w->marks->requests;
    w->copies++;
    if (__builtin_expect(pre_has(w->pre->down, port), 0))
        port = w->pre->backup[port];
    w->copy(w->aux, &(struct sk_pre_copy){.port = port, .rid = n->rid, .rid_first = first});
}

// Not what most groups have (pre_replicate.c). False: no copy here; else its port.
bool pre_lag_port(const struct pre_walk *w, const struct node *n, const struct lag *lag,
                  uint16_t *port);
// Null when the ECMP group is empty.
const struct node *pre_chosen_node(const struct ecmp *e, uint16_t hash);

PRE_INLINE void pre_send_to_node(struct pre_walk *w, const struct node *n) {
    for (size_t i = 0; i < n->n_ports; i++)
        if (!pre_pruned(w, n, n->ports[i]))
            pre_send(w, n, n->ports[i]);
    for (size_t i = 0; i < n->n_lags; i++) {
        uint16_t port;
        if (pre_lag_port(w, n, &w->pre->lags[n->lags[i]], &port) && !pre_pruned(w, n, port))
            pre_send(w, n, port);
    }
}

// As pre_replicate (pre.h).
PRE_INLINE size_t pre_walk(const struct sk_pre *pre, struct sk_pre_marks *marks,
                           const struct sk_pre_request *req, pre_copy_fn copy, void *aux) {
    struct pre_walk w = {pre, marks, req, copy, aux, 0, NULL, req->rid == pre->global_rid};
    const struct group *g = pre->groups[req->mgid];
    if (!g)
        return 0;
    if (req->level2_exclusion_id < SK_PRE_PRUNE_SETS && pre->prunes[req->level2_exclusion_id])
        w.pruned = pre->prune[req->level2_exclusion_id];
    marks->requests++;
    for (size_t i = 0; i < g->n_members; i++) {
        const struct member *m = &g->members[i];
        if (m->as_given.l1_xid_valid && m->as_given.l1_xid == req->level1_exclusion_id)
            continue;
        const struct node *n = m->ecmp ? pre_chosen_node(m->ecmp, req->level1_hash) : m->node;
        if (n)
            pre_send_to_node(&w, n);
    }
    return w.copies;
}

#endif
