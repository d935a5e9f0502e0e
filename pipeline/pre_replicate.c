// SPDX-License-Identifier: Apache-2.0
//
// pre_replicate: a packet's copies (tna-facts 5.6).
#include "pipeline/pre_impl.h"

#define LAG_HASH_MASK 0x1fffu

struct replication {
    const struct sk_pre *pre;
    struct sk_pre_marks *marks;
    const struct sk_pre_request *req;
    void (*copy)(void *aux, const struct sk_pre_copy *c);
    void *aux;
    size_t copies;
};

static bool pruned(const struct replication *r, const struct node *n, uint16_t port) {
    uint16_t set = r->req->level2_exclusion_id;
    if ((r->req->rid != n->rid && r->req->rid != r->pre->global_rid) || set >= SK_PRE_PRUNE_SETS)
        return false;
    return pre_has(r->pre->prune[set], port);
}

static void send(struct replication *r, const struct node *n, uint16_t port) {
    const struct sk_pre *pre = r->pre;
    struct sk_pre_marks *marks = r->marks;
    if (pre_has(pre->down, port))
        port = pre->backup[port];
    r->copy(r->aux,
            &(struct sk_pre_copy){.port = port,
                                  .rid = n->rid,
                                  .rid_first = marks->copied_in[n->rid] != marks->requests});
    marks->copied_in[n->rid] = marks->requests;
    r->copies++;
}

// The n-th member that is up, of those that are; the member itself when none is.
static uint16_t live_member(const struct replication *r, const struct lag *lag, uint16_t hash,
                            size_t chosen) {
    const struct sk_pre_lag *l = &lag->as_given;
    size_t live = 0;
    for (size_t i = 0; i < l->n_ports; i++)
        live += !pre_has(r->pre->down, lag->ports[i]);
    if (live == 0 || !pre_has(r->pre->down, lag->ports[chosen]))
        return lag->ports[chosen];
    size_t wanted = hash % live;
    for (size_t i = 0;; i++)
        if (!pre_has(r->pre->down, lag->ports[i]) && wanted-- == 0)
            return lag->ports[i];
}

static void send_to_lag(struct replication *r, const struct node *n, const struct lag *lag) {
    const struct sk_pre_lag *l = &lag->as_given;
    if (l->n_ports == 0)
        return;
    uint16_t hash = r->req->level2_hash ^ (r->req->rid_in_hash ? n->rid & LAG_HASH_MASK : 0);
    size_t all = (l->left + l->n_ports + l->right) & LAG_HASH_MASK;
    size_t chosen = all ? hash % all : 0;
    if (chosen < l->right || chosen >= l->right + l->n_ports)
        return; // a member on another switch
    uint16_t port = live_member(r, lag, hash, chosen - l->right);
    if (!pruned(r, n, port))
        send(r, n, port);
}

static void send_to_node(struct replication *r, const struct node *n) {
    for (size_t i = 0; i < n->n_ports; i++)
        if (!pruned(r, n, n->ports[i]))
            send(r, n, n->ports[i]);
    for (size_t i = 0; i < n->n_lags; i++)
        send_to_lag(r, n, &r->pre->lags[n->lags[i]]);
}

// Null when the ECMP group is empty.
static const struct node *chosen_node(const struct ecmp *e, uint16_t hash) {
    const struct node *n = e->slots[hash % SK_PRE_ECMP_SLOTS];
    size_t live = 0;
    for (size_t i = 0; i < e->n_slots; i++)
        live += e->slots[i] != NULL;
    if (n || live == 0)
        return n;
    size_t wanted = hash % live;
    for (size_t i = 0;; i++)
        if (e->slots[i] && wanted-- == 0)
            return e->slots[i];
}

size_t pre_replicate(const struct sk_pre *pre, struct sk_pre_marks *marks,
                     const struct sk_pre_request *req,
                     void (*copy)(void *aux, const struct sk_pre_copy *c), void *aux) {
    struct replication r = {pre, marks, req, copy, aux, 0};
    const struct group *g = pre->groups[req->mgid];
    if (!g)
        return 0;
    marks->requests++;
    for (size_t i = 0; i < g->n_members; i++) {
        const struct member *m = &g->members[i];
        if (m->as_given.l1_xid_valid && m->as_given.l1_xid == req->level1_exclusion_id)
            continue;
        const struct node *n = m->ecmp ? chosen_node(m->ecmp, req->level1_hash) : m->node;
        if (n)
            send_to_node(&r, n);
    }
    return r.copies;
}
