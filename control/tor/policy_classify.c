// SPDX-License-Identifier: Apache-2.0
//
// policy_classify: a list by Open vSwitch's classifier, one for each family, since tables are.
#include <config.h> // Open vSwitch's own: what its atomic.h asks for
#define typeof __typeof__

#include <stdlib.h>
#include <string.h>

#include "byte-order.h"
#include "classifier.h"
#include "control/tor/policy_impl.h"
#include "ovs-rcu.h"
#include "packets.h"
#include "util.h"

struct entry { // of a rule: one of its ranges' blocks
    struct cls_rule cls;
    struct match match;
    uint32_t rule;
};
struct policy_classifier {
    struct classifier cls[TOR_FAMILIES];
    struct entry *entries; // in the list's order
    size_t n;
    const struct tor_acl *acl;
};

// ---- rules and packets as Open vSwitch has them ----

static void match_side(struct match *m, const struct tor_prefix *p, enum tor_family family,
                       bool from) {
    ovs_be32 four;
    memcpy(&four, &p->address.s6_addr[12], sizeof four);
    const struct in6_addr six = ipv6_create_mask(p->length);
    if (family == TOR_IPV6 && from)
        match_set_ipv6_src_masked(m, &p->address, &six);
    else if (family == TOR_IPV6)
        match_set_ipv6_dst_masked(m, &p->address, &six);
    else if (from)
        match_set_nw_src_masked(m, four, be32_prefix_mask(p->length - 96));
    else
        match_set_nw_dst_masked(m, four, be32_prefix_mask(p->length - 96));
}

static struct eth_addr eth(const struct tor_mac *mac) {
    struct eth_addr a;
    memcpy(&a, mac, sizeof a);
    return a;
}

static void match_rule(struct match *m, const struct tor_rule *r, const struct tor_port_mask *from,
                       const struct tor_port_mask *to) {
    match_init_catchall(m);
    if (r->vid)
        match_set_metadata_masked(m, htonll(r->vid), htonll(0xfff));
    if (r->family == TOR_ETHERNET) {
        if (r->has_from_mac)
            match_set_dl_src(m, eth(&r->from_mac));
        if (r->has_to_mac)
            match_set_dl_dst(m, eth(&r->to_mac));
        if (r->has_ether_type)
            match_set_dl_type(m, htons(r->ether_type));
        return;
    }
    match_side(m, &r->from, r->family, true);
    match_side(m, &r->to, r->family, false);
    if (r->has_protocol)
        match_set_nw_proto(m, r->protocol);
    match_set_tp_src_masked(m, htons(from->value), htons(from->mask));
    match_set_tp_dst_masked(m, htons(to->value), htons(to->mask));
    match_set_tcp_flags_masked(m, htons(r->tcp_flags), htons(r->tcp_flags_mask));
    if (r->has_dscp)
        match_set_nw_dscp(m, (uint8_t)(r->dscp << 2));
}

// ---- the classifier ----

struct policy_classifier *policy_classifier_new(const struct tor_acl *acl) {
    struct policy_classifier *c = xzalloc(sizeof *c);
    size_t most = 0;
    c->acl = acl;
    for (int f = 0; f < TOR_FAMILIES; f++)
        classifier_init(&c->cls[f], NULL);
    for (size_t i = 0; i < acl->n_rules; i++)
        most += tor_rule_entries(&acl->rules[i]);
    c->entries = xcalloc(most + 1, sizeof *c->entries);
    for (size_t i = 0; i < acl->n_rules; i++) {
        const struct tor_rule *r = &acl->rules[i];
        struct tor_port_mask from[TOR_PORT_MASKS], to[TOR_PORT_MASKS];
        const size_t n_from = tor_port_masks(r->from_port, from),
                     n_to = tor_port_masks(r->to_port, to);
        for (size_t k = 0; k < n_from * n_to; k++) {
            struct entry *e = &c->entries[c->n++];
            e->rule = (uint32_t)i;
            match_rule(&e->match, r, &from[k / n_to], &to[k % n_to]);
            cls_rule_init(&e->cls, &e->match, (int)(acl->n_rules - i));
            classifier_insert(&c->cls[r->family], &e->cls, OVS_VERSION_MIN, NULL, 0);
        }
    }
    return c;
}

void policy_classifier_free(struct policy_classifier *c) {
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        classifier_remove_assert(&c->cls[c->acl->rules[c->entries[i].rule].family],
                                 &c->entries[i].cls);
        cls_rule_destroy(&c->entries[i].cls);
    }
    for (int f = 0; f < TOR_FAMILIES; f++)
        classifier_destroy(&c->cls[f]);
    free(c->entries);
    free(c);
    ovsrcu_quiesce(); // nobody else looks: what was put off is freed
}

static const struct entry *policy_classify_lookup(const struct policy_classifier *c,
                                                  enum tor_family family, struct flow *flow) {
    const struct cls_rule *found = classifier_lookup(&c->cls[family], OVS_VERSION_MIN, flow, NULL);
    return found ? CONTAINER_OF(found, struct entry, cls) : NULL;
}

uint32_t policy_classify(const struct policy_classifier *c, const struct tor_rule *packet) {
    struct match m;
    const struct tor_port_mask from = {packet->from_port[0], 0xffff},
                               to = {packet->to_port[0], 0xffff};
    match_rule(&m, packet, &from, &to);
    const struct entry *e = policy_classify_lookup(c, packet->family, &m.flow);
    return e ? e->rule : TOR_NONE;
}

// ---- rules that no packet meets ----

// Packets that agree with 'value' in the bits of 'mask'.
struct region {
    uint64_t value[FLOW_U64S], mask[FLOW_U64S];
};
struct regions {
    struct region *list;
    size_t n, room;
};

static struct region region_of(const struct match *m) {
    struct region r;
    memcpy(r.value, &m->flow, sizeof r.value);
    memcpy(r.mask, &m->wc.masks, sizeof r.mask);
    return r;
}

static void policy_classify_push(struct regions *s, const struct region *r) {
    if (s->n == s->room)
        s->list = x2nrealloc(s->list, &s->room, sizeof *s->list);
    s->list[s->n++] = *r;
}

// What of the region another rule does not take, in regions that do not overlap: one for each bit
// that the rule looks at and the region leaves open.
static void push_rest(struct regions *s, struct region r, const struct match *taken) {
    const struct region by = region_of(taken);
    for (size_t w = 0; w < FLOW_U64S; w++)
        for (uint64_t open = by.mask[w] & ~r.mask[w]; open; open &= open - 1) {
            const uint64_t bit = open & -open;
            r.mask[w] |= bit;
            r.value[w] = (r.value[w] & ~bit) | (~by.value[w] & bit);
            policy_classify_push(s, &r);
            r.value[w] ^= bit;
        }
}

// Is there a packet of the entry that no rule before takes?
static bool is_met(const struct policy_classifier *c, const struct entry *e, uint32_t *by,
                   bool *several, unsigned *lookups) {
    struct regions s = {.list = NULL};
    struct region r = region_of(&e->match);
    bool met = false;
    policy_classify_push(&s, &r);
    while (s.n > 0 && !met) {
        struct flow flow;
        if (*lookups == 0)
            break;
        --*lookups;
        r = s.list[--s.n];
        memcpy(&flow, r.value, sizeof flow);
        const struct entry *first = policy_classify_lookup(c, c->acl->rules[e->rule].family, &flow);
        met = !first || first->rule >= e->rule;
        if (met)
            break;
        *several |= *by != TOR_NONE && *by != first->rule;
        *by = first->rule;
        push_rest(&s, r, &first->match);
    }
    met |= s.n > 0; // or nobody knows
    free(s.list);
    return met;
}

bool policy_unreachable(const struct policy_classifier *c, uint32_t rule, uint32_t *by,
                        unsigned *lookups) {
    bool several = false;
    *by = TOR_NONE;
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].rule == rule && is_met(c, &c->entries[i], by, &several, lookups))
            return false;
    if (several)
        *by = TOR_NONE;
    return true;
}
