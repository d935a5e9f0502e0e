// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pre.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 65536u

struct node {
    uint32_t id;
    uint16_t rid;
    uint32_t users; // groups that name it
    uint16_t *ports;
    size_t n_ports;
};

// 'leader' is the first member with the same rid; a leader remembers the last packet that was
// copied for its rid, which tells the first copy from the others without a search.
struct member {
    struct sk_pre_member as_given;
    struct node *node;
    uint32_t leader;
    uint64_t copied_for;
};

struct group {
    size_t n_members;
    struct member members[];
};

struct sk_pre {
    struct node **nodes; // ascending ids
    size_t n_nodes;
    struct group **groups; // by mgid
    uint64_t prune[SK_PRE_PRUNE_SETS][SK_PORTS / 64];
    uint64_t requests;
};

struct sk_pre *sk_pre_new(void) {
    struct sk_pre *pre = calloc(1, sizeof *pre);
    if (!pre)
        return NULL;
    pre->groups = calloc(GROUPS, sizeof(struct group *));
    if (!pre->groups) {
        free(pre);
        return NULL;
    }
    return pre;
}

static void node_free(struct node *n) {
    if (n) {
        free(n->ports);
        free(n);
    }
}

void sk_pre_free(struct sk_pre *pre) {
    if (!pre)
        return;
    for (size_t i = 0; i < pre->n_nodes; i++)
        node_free(pre->nodes[i]);
    for (size_t i = 0; i < GROUPS; i++)
        free(pre->groups[i]);
    free(pre->nodes);
    free(pre->groups);
    free(pre);
}

// Index of the node, or of the place where it would be inserted.
static size_t node_place(const struct sk_pre *pre, uint32_t id) {
    size_t low = 0, high = pre->n_nodes;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pre->nodes[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct node *node_find(const struct sk_pre *pre, uint32_t id) {
    size_t i = node_place(pre, id);
    return i < pre->n_nodes && pre->nodes[i]->id == id ? pre->nodes[i] : NULL;
}

static bool ports_valid(const uint16_t *ports, size_t n_ports) {
    uint64_t seen[SK_PORTS / 64] = {0};
    for (size_t i = 0; i < n_ports; i++) {
        uint16_t port = ports[i];
        if (!sk_port_exists(port) || seen[port / 64] >> (port % 64) & 1)
            return false;
        seen[port / 64] |= (uint64_t)1 << (port % 64);
    }
    return true;
}

static void find_leaders(struct group *g) {
    for (size_t i = 0; i < g->n_members; i++) {
        size_t leader = 0;
        while (g->members[leader].node->rid != g->members[i].node->rid)
            leader++;
        g->members[i].leader = (uint32_t)leader;
    }
}

static int node_insert(struct sk_pre *pre, struct node *n) {
    size_t place = node_place(pre, n->id);
    struct node **nodes = realloc(pre->nodes, (pre->n_nodes + 1) * sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    memmove(nodes + place + 1, nodes + place, (pre->n_nodes - place) * sizeof *nodes);
    nodes[place] = n;
    pre->nodes = nodes;
    pre->n_nodes++;
    return 0;
}

static void node_change(struct sk_pre *pre, struct node *n, uint16_t rid, uint16_t *ports,
                        size_t n_ports) {
    free(n->ports);
    n->ports = ports;
    n->n_ports = n_ports;
    if (n->rid == rid)
        return;
    n->rid = rid;
    for (size_t i = 0; n->users > 0 && i < GROUPS; i++)
        if (pre->groups[i])
            find_leaders(pre->groups[i]);
}

int pre_node_set(struct sk_pre *pre, uint32_t id, uint16_t rid, const uint16_t *ports,
                 size_t n_ports) {
    if (!ports_valid(ports, n_ports))
        return -EINVAL;
    uint16_t *copy = malloc(n_ports * sizeof *copy + 1);
    if (!copy)
        return -ENOMEM;
    if (n_ports > 0)
        memcpy(copy, ports, n_ports * sizeof *copy);
    struct node *n = node_find(pre, id);
    if (n) {
        node_change(pre, n, rid, copy, n_ports);
        return 0;
    }
    n = calloc(1, sizeof *n);
    if (!n) {
        free(copy);
        return -ENOMEM;
    }
    n->id = id;
    n->rid = rid;
    n->ports = copy;
    n->n_ports = n_ports;
    int rc = node_insert(pre, n);
    if (rc)
        node_free(n);
    return rc;
}

int pre_node_delete(struct sk_pre *pre, uint32_t id) {
    struct node *n = node_find(pre, id);
    if (!n)
        return -ENOENT;
    if (n->users > 0)
        return -EBUSY;
    size_t place = node_place(pre, id);
    pre->n_nodes--;
    memmove(pre->nodes + place, pre->nodes + place + 1,
            (pre->n_nodes - place) * sizeof *pre->nodes);
    node_free(n);
    return 0;
}

static int group_fill(const struct sk_pre *pre, struct group *g,
                      const struct sk_pre_member *members) {
    for (size_t i = 0; i < g->n_members; i++) {
        struct node *n = node_find(pre, members[i].node);
        if (!n)
            return -ENOENT;
        for (size_t j = 0; j < i; j++)
            if (g->members[j].node == n)
                return -EEXIST;
        g->members[i] = (struct member){.as_given = members[i], .node = n};
    }
    find_leaders(g);
    return 0;
}

static void group_drop(struct group *g) {
    for (size_t i = 0; g && i < g->n_members; i++)
        g->members[i].node->users--;
    free(g);
}

int pre_group_set(struct sk_pre *pre, uint16_t mgid, const struct sk_pre_member *members,
                  size_t n_members) {
    struct group *g = calloc(1, sizeof *g + n_members * sizeof g->members[0]);
    if (!g)
        return -ENOMEM;
    g->n_members = n_members;
    int rc = group_fill(pre, g, members);
    if (rc) {
        free(g);
        return rc;
    }
    for (size_t i = 0; i < n_members; i++)
        g->members[i].node->users++;
    group_drop(pre->groups[mgid]);
    pre->groups[mgid] = g;
    return 0;
}

int pre_group_delete(struct sk_pre *pre, uint16_t mgid) {
    if (!pre->groups[mgid])
        return -ENOENT;
    group_drop(pre->groups[mgid]);
    pre->groups[mgid] = NULL;
    return 0;
}

int pre_prune_set(struct sk_pre *pre, uint16_t l2_xid, const uint16_t *ports, size_t n_ports) {
    if (l2_xid >= SK_PRE_PRUNE_SETS || !ports_valid(ports, n_ports))
        return -EINVAL;
    memset(pre->prune[l2_xid], 0, sizeof pre->prune[l2_xid]);
    for (size_t i = 0; i < n_ports; i++)
        pre->prune[l2_xid][ports[i] / 64] |= (uint64_t)1 << (ports[i] % 64);
    return 0;
}

static bool pruned(const struct sk_pre *pre, const struct sk_pre_request *req, const struct node *n,
                   uint16_t port) {
    if (req->rid != n->rid || req->level2_exclusion_id >= SK_PRE_PRUNE_SETS)
        return false;
    return pre->prune[req->level2_exclusion_id][port / 64] >> (port % 64) & 1;
}

static size_t replicate_node(struct sk_pre *pre, const struct sk_pre_request *req, struct group *g,
                             const struct member *m,
                             void (*copy)(void *aux, const struct sk_pre_copy *c), void *aux) {
    struct member *leader = &g->members[m->leader];
    size_t copies = 0;
    for (size_t i = 0; i < m->node->n_ports; i++) {
        uint16_t port = m->node->ports[i];
        if (pruned(pre, req, m->node, port))
            continue;
        copy(aux, &(struct sk_pre_copy){.port = port,
                                        .rid = m->node->rid,
                                        .rid_first = leader->copied_for != pre->requests});
        leader->copied_for = pre->requests;
        copies++;
    }
    return copies;
}

size_t pre_replicate(struct sk_pre *pre, const struct sk_pre_request *req,
                     void (*copy)(void *aux, const struct sk_pre_copy *c), void *aux) {
    struct group *g = pre->groups[req->mgid];
    if (!g)
        return 0;
    pre->requests++;
    size_t copies = 0;
    for (size_t i = 0; i < g->n_members; i++) {
        const struct member *m = &g->members[i];
        if (m->as_given.l1_xid_valid && m->as_given.l1_xid == req->level1_exclusion_id)
            continue;
        copies += replicate_node(pre, req, g, m, copy, aux);
    }
    return copies;
}

void pre_nodes_each(const struct sk_pre *pre,
                    bool (*fn)(void *aux, const struct sk_pre_node_view *n), void *aux) {
    for (size_t i = 0; i < pre->n_nodes; i++) {
        const struct node *n = pre->nodes[i];
        if (!fn(aux, &(struct sk_pre_node_view){n->id, n->rid, n->ports, n->n_ports}))
            return;
    }
}

void pre_groups_each(const struct sk_pre *pre,
                     bool (*fn)(void *aux, uint16_t mgid, const struct sk_pre_member *members,
                                size_t n_members),
                     void *aux) {
    for (uint32_t id = 0; id < GROUPS; id++) {
        const struct group *g = pre->groups[id];
        if (!g)
            continue;
        struct sk_pre_member *list = malloc(g->n_members * sizeof *list + 1);
        if (!list)
            abort(); // a listing, off the packet path: no memory at all is the end
        for (size_t i = 0; i < g->n_members; i++)
            list[i] = g->members[i].as_given;
        bool more = fn(aux, (uint16_t)id, list, g->n_members);
        free(list);
        if (!more)
            return;
    }
}
