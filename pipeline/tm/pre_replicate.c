// SPDX-License-Identifier: Apache-2.0
//
// pre_replicate: a packet's copies, for those who are not in a hurry, and what few groups need.
#include "pipeline/tm/pre_walk.h"

#define LAG_HASH_MASK 0x1fffu

// The n-th member that is up, of those that are; the member itself when none is.
static uint16_t live_member(const struct sk_pre *pre, const struct lag *lag, uint16_t hash,
                            size_t chosen) {
    const struct sk_pre_lag *l = &lag->as_given;
    size_t live = 0;
    for (size_t i = 0; i < l->n_ports; i++)
        live += !pre_has(pre->down, lag->ports[i]);
    if (live == 0 || pre->device.no_failover || !pre_has(pre->down, lag->ports[chosen]))
        return lag->ports[chosen];
    size_t wanted = hash % live;
    for (size_t i = 0;; i++)
        if (!pre_has(pre->down, lag->ports[i]) && wanted-- == 0)
            return lag->ports[i];
}

bool pre_lag_port(const struct sk_pre *pre, const struct sk_pre_request *req, const struct node *n,
                  size_t number, uint16_t *port) {
    const struct lag *lag = &pre->lags[n->lags[number]];
    const struct sk_pre_lag *l = &lag->as_given;
    if (l->n_ports == 0)
        return false;
    uint16_t hash = req->level2_hash ^ (req->rid_in_hash ? n->rid & LAG_HASH_MASK : 0);
    size_t all = (l->left + l->n_ports + l->right) & LAG_HASH_MASK;
    size_t chosen = all ? hash % all : 0;
    if (chosen < l->right || chosen >= l->right + l->n_ports)
        return false; // a member on another switch
    *port = live_member(pre, lag, hash, chosen - l->right);
    return true;
}

const struct node *pre_chosen_node(const struct ecmp *e, uint16_t hash) {
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
    struct pre_walk w;
    struct sk_pre_copy c;
    size_t copies = 0;
    pre_begin(&w, pre, marks, req);
    for (; pre_next(&w, &c); copies++)
        copy(aux, &c);
    return copies;
}
