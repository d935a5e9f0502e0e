// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/tm/pre_impl.h"

struct sk_pre *sk_pre_new(void) {
    struct sk_pre *pre = calloc(1, sizeof *pre);
    if (!pre)
        return NULL;
    pre->groups = calloc(PRE_GROUPS, sizeof(struct group *));
    for (uint16_t i = 0; i < SK_PORTS; i++)
        pre->backup[i] = i;
    if (!pre->groups) {
        free(pre);
        return NULL;
    }
    return pre;
}

static void pre_node_free(struct node *n) {
    if (n) {
        free(n->ports);
        free(n->lags);
        free(n);
    }
}

static void group_free(struct group *g) {
    if (g)
        free(g->flat);
    free(g);
}

void sk_pre_free(struct sk_pre *pre) {
    if (!pre)
        return;
    for (size_t i = 0; i < pre->n_nodes; i++)
        pre_node_free(pre->nodes[i]);
    for (size_t i = 0; i < pre->n_ecmps; i++)
        free(pre->ecmps[i]);
    for (size_t i = 0; i < pre->end_of_groups; i++)
        group_free(pre->groups[i]);
    for (size_t i = 0; i < SK_PRE_LAGS; i++)
        free(pre->lags[i].ports);
    free(pre->nodes);
    free(pre->ecmps);
    free(pre->groups);
    free(pre);
}

struct sk_pre_marks *sk_pre_marks_new(void) {
    return calloc(1, sizeof(struct sk_pre_marks));
}

void sk_pre_marks_free(struct sk_pre_marks *marks) {
    free(marks);
}

// ---- lists of things that start with their id, ascending ----

static uint32_t id_of(void *const *list, size_t i) {
    uint32_t id;
    memcpy(&id, list[i], sizeof id);
    return id;
}

// Index of the thing, or of the place where it would be inserted.
static size_t pre_place_of(void *const *list, size_t n, uint32_t id) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (id_of(list, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void *pre_find(void *const *list, size_t n, uint32_t id) {
    size_t i = pre_place_of(list, n, id);
    return i < n && id_of(list, i) == id ? list[i] : NULL;
}

static int pre_insert(void ***list, size_t *n, void *thing, uint32_t id) {
    size_t place = pre_place_of(*list, *n, id);
    void **grown = realloc(*list, (*n + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    memmove(grown + place + 1, grown + place, (*n - place) * sizeof *grown);
    grown[place] = thing;
    *list = grown;
    (*n)++;
    return 0;
}

static void pre_take_out(void **list, size_t *n, uint32_t id) {
    size_t place = pre_place_of(list, *n, id);
    (*n)--;
    memmove(list + place, list + place + 1, (*n - place) * sizeof *list);
}

static struct node *node_find(const struct sk_pre *pre, uint32_t id) {
    return pre_find(pre->nodes, pre->n_nodes, id);
}

static struct ecmp *ecmp_find(const struct sk_pre *pre, uint32_t id) {
    return pre_find(pre->ecmps, pre->n_ecmps, id);
}

// ---- groups whose copies are known ----

static bool is_flat(const struct group *g, size_t *copies) {
    *copies = 0;
    for (size_t i = 0; i < g->n_members; i++) {
        const struct node *n = g->members[i].node;
        if (!n || n->n_lags > 0)
            return false;
        *copies += n->n_ports;
    }
    return true;
}

// After a change of the group or of a node. Without memory the group stays as its members say.
static void flatten(struct group *g) {
    size_t copies, at = 0;
    free(g->flat);
    g->flat = NULL;
    g->n_flat = 0;
    if (!is_flat(g, &copies) || copies == 0)
        return;
    g->flat = calloc(copies, sizeof *g->flat);
    for (size_t i = 0; g->flat && i < g->n_members; i++) {
        const struct node *n = g->members[i].node;
        const struct sk_pre_member *m = &g->members[i].as_given;
        for (size_t k = 0; k < n->n_ports; k++)
            g->flat[at++] =
                (struct flat_copy){n->ports[k], n->rid, m->l1_xid, m->l1_xid_valid, false};
    }
    for (size_t i = 0; i < at; i++)
        for (size_t k = 0; k < i; k++)
            if (g->flat[i].rid == g->flat[k].rid)
                g->flat[i].shared = g->flat[k].shared = true;
    g->n_flat = at;
}

static void flatten_all(struct sk_pre *pre) {
    for (size_t i = 0; i < pre->end_of_groups; i++)
        if (pre->groups[i])
            flatten(pre->groups[i]);
}

// ---- nodes ----

static bool ports_valid(const uint16_t *ports, size_t n_ports) {
    uint64_t seen[SK_PORTS / 64] = {0};
    for (size_t i = 0; i < n_ports; i++) {
        uint16_t port = ports[i];
        if (!sk_port_exists(port) || pre_has(seen, port))
            return false;
        seen[port / 64] |= (uint64_t)1 << (port % 64);
    }
    return true;
}

static bool lags_valid(const uint8_t *lags, size_t n_lags) {
    bool seen[UINT8_MAX + 1] = {false};
    for (size_t i = 0; i < n_lags; i++) {
        if (lags[i] >= SK_PRE_LAGS || seen[lags[i]])
            return false;
        seen[lags[i]] = true;
    }
    return true;
}

static void *pre_copy_of(const void *from, size_t bytes) {
    void *copy = malloc(bytes + 1);
    if (copy && bytes > 0)
        memcpy(copy, from, bytes);
    return copy;
}

static struct node *node_new(uint32_t id, uint16_t rid, const uint16_t *ports, size_t n_ports,
                             const uint8_t *lags, size_t n_lags) {
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    *n = (struct node){.id = id,
                       .rid = rid,
                       .ports = pre_copy_of(ports, n_ports * sizeof *ports),
                       .n_ports = n_ports,
                       .lags = pre_copy_of(lags, n_lags),
                       .n_lags = n_lags};
    if (n->ports && n->lags)
        return n;
    pre_node_free(n);
    return NULL;
}

int pre_node_set(struct sk_pre *pre, uint32_t id, uint16_t rid, const uint16_t *ports,
                 size_t n_ports, const uint8_t *lags, size_t n_lags) {
    if (!ports_valid(ports, n_ports) || !lags_valid(lags, n_lags))
        return -EINVAL;
    struct node *fresh = node_new(id, rid, ports, n_ports, lags, n_lags);
    if (!fresh)
        return -ENOMEM;
    struct node *n = node_find(pre, id);
    if (!n) {
        int rc = pre_insert(&pre->nodes, &pre->n_nodes, fresh, id);
        if (rc)
            pre_node_free(fresh);
        return rc;
    }
    // those that name it keep doing so
    struct node old = *n;
    *n = *fresh;
    n->users = old.users;
    *fresh = old;
    pre_node_free(fresh);
    if (n->users > 0)
        flatten_all(pre);
    return 0;
}

int pre_node_delete(struct sk_pre *pre, uint32_t id) {
    struct node *n = node_find(pre, id);
    if (!n)
        return -ENOENT;
    if (n->users > 0)
        return -EBUSY;
    pre_take_out(pre->nodes, &pre->n_nodes, id);
    pre_node_free(n);
    return 0;
}

// ---- ECMP groups ----

static int ecmp_fill(const struct sk_pre *pre, struct ecmp *e, const uint32_t *nodes, size_t n) {
    if (n > SK_PRE_ECMP_SLOTS)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (nodes[i] == SK_PRE_NO_NODE)
            continue;
        e->slots[i] = node_find(pre, nodes[i]);
        if (!e->slots[i])
            return -ENOENT;
        for (size_t k = 0; k < i; k++)
            if (e->slots[k] == e->slots[i])
                return -EEXIST;
    }
    e->n_slots = n;
    return 0;
}

static void ecmp_use(struct ecmp *e, bool more) {
    for (size_t i = 0; i < e->n_slots; i++)
        if (e->slots[i])
            e->slots[i]->users += more ? 1 : UINT32_MAX; // or one less
}

int pre_ecmp_set(struct sk_pre *pre, uint32_t id, const uint32_t *nodes, size_t n_nodes) {
    struct ecmp filled = {.id = id};
    int rc = ecmp_fill(pre, &filled, nodes, n_nodes);
    if (rc)
        return rc;
    struct ecmp *e = ecmp_find(pre, id);
    if (!e) {
        e = calloc(1, sizeof *e);
        rc = e ? pre_insert(&pre->ecmps, &pre->n_ecmps, e, id) : -ENOMEM;
        if (rc) {
            free(e);
            return rc;
        }
    }
    ecmp_use(e, false);
    filled.users = e->users;
    *e = filled;
    ecmp_use(e, true);
    return 0;
}

int pre_ecmp_delete(struct sk_pre *pre, uint32_t id) {
    struct ecmp *e = ecmp_find(pre, id);
    if (!e)
        return -ENOENT;
    if (e->users > 0)
        return -EBUSY;
    ecmp_use(e, false);
    pre_take_out(pre->ecmps, &pre->n_ecmps, id);
    free(e);
    return 0;
}

// ---- LAGs, ports ----

static int pre_compare_ports(const void *a, const void *b) {
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

int pre_lag_set(struct sk_pre *pre, uint8_t lag, const struct sk_pre_lag *as) {
    if (lag >= SK_PRE_LAGS || !ports_valid(as->ports, as->n_ports))
        return -EINVAL;
    uint16_t *ports = pre_copy_of(as->ports, as->n_ports * sizeof *ports);
    if (!ports)
        return -ENOMEM;
    qsort(ports, as->n_ports, sizeof *ports, pre_compare_ports);
    struct lag *l = &pre->lags[lag];
    free(l->ports);
    l->as_given = *as;
    l->as_given.ports = l->ports = ports;
    return 0;
}

const struct sk_pre_lag *pre_lag(const struct sk_pre *pre, uint8_t lag) {
    return lag < SK_PRE_LAGS && pre->lags[lag].as_given.n_ports ? &pre->lags[lag].as_given : NULL;
}

int pre_backup_set(struct sk_pre *pre, uint16_t port, uint16_t backup) {
    if (!sk_port_exists(port) || !sk_port_exists(backup))
        return -EINVAL;
    pre->backup[port] = backup;
    return 0;
}

void pre_port_live(struct sk_pre *pre, uint16_t port, bool live) {
    uint64_t bit = (uint64_t)1 << (port % 64);
    if (live)
        pre->down[port / 64] &= ~bit;
    else
        pre->down[port / 64] |= bit;
}

void pre_global_rid(struct sk_pre *pre, uint16_t rid) {
    pre->device.global_rid = rid;
}

void pre_device_set(struct sk_pre *pre, const struct sk_pre_device *as) {
    pre->device = *as;
}

struct sk_pre_device pre_device(const struct sk_pre *pre) {
    return pre->device;
}

// ---- groups ----

static int group_fill(const struct sk_pre *pre, struct group *g,
                      const struct sk_pre_member *members) {
    for (size_t i = 0; i < g->n_members; i++) {
        struct member *m = &g->members[i];
        *m = (struct member){.as_given = members[i]};
        if (members[i].ecmp)
            m->ecmp = ecmp_find(pre, members[i].node);
        else
            m->node = node_find(pre, members[i].node);
        if (!m->ecmp && !m->node)
            return -ENOENT;
        for (size_t j = 0; j < i; j++)
            if (g->members[j].node == m->node && g->members[j].ecmp == m->ecmp)
                return -EEXIST;
    }
    return 0;
}

static void group_use(struct group *g, bool more) {
    for (size_t i = 0; g && i < g->n_members; i++) {
        struct member *m = &g->members[i];
        *(m->ecmp ? &m->ecmp->users : &m->node->users) += more ? 1 : UINT32_MAX; // or one less
    }
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
    group_use(g, true);
    group_use(pre->groups[mgid], false);
    group_free(pre->groups[mgid]);
    flatten(g);
    pre->groups[mgid] = g;
    if (mgid >= pre->end_of_groups)
        pre->end_of_groups = mgid + 1u;
    return 0;
}

int pre_group_delete(struct sk_pre *pre, uint16_t mgid) {
    if (!pre->groups[mgid])
        return -ENOENT;
    group_use(pre->groups[mgid], false);
    group_free(pre->groups[mgid]);
    pre->groups[mgid] = NULL;
    return 0;
}

int pre_prune_set(struct sk_pre *pre, uint16_t l2_xid, const uint16_t *ports, size_t n_ports) {
    if (l2_xid >= SK_PRE_PRUNE_SETS || !ports_valid(ports, n_ports))
        return -EINVAL;
    memset(pre->prune[l2_xid], 0, sizeof pre->prune[l2_xid]);
    pre->prunes[l2_xid] = n_ports > 0;
    for (size_t i = 0; i < n_ports; i++)
        pre->prune[l2_xid][ports[i] / 64] |= (uint64_t)1 << (ports[i] % 64);
    return 0;
}

// ---- listings ----

size_t pre_prune(const struct sk_pre *pre, uint16_t l2_xid, uint16_t *ports) {
    size_t n = 0;
    for (uint16_t port = 0; l2_xid < SK_PRE_PRUNE_SETS && port < SK_PORTS; port++)
        if (pre_has(pre->prune[l2_xid], port))
            ports[n++] = port;
    return n;
}

uint16_t pre_backup(const struct sk_pre *pre, uint16_t port) {
    return pre->backup[port];
}

static struct sk_pre_node_view pre_view_of(const struct node *n) {
    return (struct sk_pre_node_view){n->id, n->rid, n->ports, n->n_ports, n->lags, n->n_lags};
}

bool pre_node_view(const struct sk_pre *pre, uint32_t id, struct sk_pre_node_view *out) {
    const struct node *n = node_find(pre, id);
    if (n)
        *out = pre_view_of(n);
    return n;
}

static void pre_ecmp_nodes(const struct ecmp *e, uint32_t nodes[SK_PRE_ECMP_SLOTS]) {
    for (size_t k = 0; k < e->n_slots; k++)
        nodes[k] = e->slots[k] ? e->slots[k]->id : SK_PRE_NO_NODE;
}

bool pre_ecmp_view(const struct sk_pre *pre, uint32_t id, uint32_t nodes[SK_PRE_ECMP_SLOTS],
                   size_t *n_nodes) {
    const struct ecmp *e = ecmp_find(pre, id);
    if (e) {
        pre_ecmp_nodes(e, nodes);
        *n_nodes = e->n_slots;
    }
    return e;
}

bool pre_group_view(const struct sk_pre *pre, uint16_t mgid, struct sk_pre_member *members,
                    size_t *n_members) {
    const struct group *g = pre->groups[mgid];
    for (size_t i = 0; g && members && i < g->n_members; i++)
        members[i] = g->members[i].as_given;
    *n_members = g ? g->n_members : 0;
    return g;
}

uint32_t pre_node_users(const struct sk_pre *pre, uint32_t node) {
    const struct node *n = node_find(pre, node);
    return n ? n->users : 0;
}

uint32_t pre_ecmp_users(const struct sk_pre *pre, uint32_t ecmp) {
    const struct ecmp *e = ecmp_find(pre, ecmp);
    return e ? e->users : 0;
}

void pre_nodes_each(const struct sk_pre *pre,
                    bool (*fn)(void *aux, const struct sk_pre_node_view *n), void *aux) {
    for (size_t i = 0; i < pre->n_nodes; i++) {
        const struct sk_pre_node_view view = pre_view_of(pre->nodes[i]);
        if (!fn(aux, &view))
            return;
    }
}

void pre_ecmps_each(const struct sk_pre *pre,
                    bool (*fn)(void *aux, uint32_t id, const uint32_t *nodes, size_t n),
                    void *aux) {
    for (size_t i = 0; i < pre->n_ecmps; i++) {
        const struct ecmp *e = pre->ecmps[i];
        uint32_t nodes[SK_PRE_ECMP_SLOTS];
        pre_ecmp_nodes(e, nodes);
        if (!fn(aux, e->id, nodes, e->n_slots))
            return;
    }
}

void pre_groups_each(const struct sk_pre *pre,
                     bool (*fn)(void *aux, uint16_t mgid, const struct sk_pre_member *members,
                                size_t n_members),
                     void *aux) {
    for (uint32_t id = 0; id < pre->end_of_groups; id++) {
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
