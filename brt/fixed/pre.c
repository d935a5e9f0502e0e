// SPDX-License-Identifier: Apache-2.0
//
// $pre.*: multicast groups and what they are made of, in the replication engine
// (pipeline/tm/pre.h).
#include <errno.h>

#include "brt/fixed/fixed.h"
#include "pipeline/tm/pre.h"

enum { MGID_NODES, MGID_NODE_VALID, MGID_NODE_XID, MGID_ECMPS, MGID_ECMP_VALID, MGID_ECMP_XID };
enum { NODE_RID, NODE_LAGS, NODE_PORTS };
enum { LAG_PORTS, LAG_LEFT, LAG_RIGHT };
enum { PORT_BACKUP, PORT_FORWARD, PORT_CLEAR, PORT_CPU };

#define PRE_PORT_CLASS "dev_port"
#define PRE_MGID       0xff020001u // ids of tables
#define PRE_ECMP       0xff020003u

static const struct fixed_field pre_mgid_key[] = {
    {FIXED_FIELD(1, "$MGID", UINT, 16), .mandatory = true}};
static const struct fixed_field pre_mgid[] = {
    [MGID_NODES] = {FIXED_FIELD(1, "$MULTICAST_NODE_ID", UINT, 32), .repeated = true, .group = 1},
    [MGID_NODE_VALID] = {FIXED_FIELD(2, "$MULTICAST_NODE_L1_XID_VALID", BOOL, 0), .repeated = true,
                         .group = 1},
    [MGID_NODE_XID] = {FIXED_FIELD(3, "$MULTICAST_NODE_L1_XID", UINT, 16), .repeated = true,
                       .group = 1},
    [MGID_ECMPS] = {FIXED_FIELD(4, "$MULTICAST_ECMP_ID", UINT, 32), .repeated = true, .group = 2},
    [MGID_ECMP_VALID] = {FIXED_FIELD(5, "$MULTICAST_ECMP_L1_XID_VALID", BOOL, 0), .repeated = true,
                         .group = 2},
    [MGID_ECMP_XID] = {FIXED_FIELD(6, "$MULTICAST_ECMP_L1_XID", UINT, 16), .repeated = true,
                       .group = 2},
};
static const struct fixed_field pre_node_key[] = {
    {FIXED_FIELD(1, "$MULTICAST_NODE_ID", UINT, 32), .mandatory = true}};
static const struct fixed_field pre_node[] = {
    [NODE_RID] = {FIXED_FIELD(1, "$MULTICAST_RID", UINT, 16), .mandatory = true},
    [NODE_LAGS] = {FIXED_FIELD(2, "$MULTICAST_LAG_ID", UINT, 8), .repeated = true,
                   .mandatory = true},
    [NODE_PORTS] = {FIXED_FIELD(3, "$DEV_PORT", UINT, 32), .repeated = true, .mandatory = true,
                    .port_class = PRE_PORT_CLASS},
};
static const struct fixed_field pre_ecmp_key[] = {
    {FIXED_FIELD(1, "$MULTICAST_ECMP_ID", UINT, 32), .mandatory = true}};
static const struct fixed_field pre_ecmp[] = {{FIXED_FIELD(1, "$MULTICAST_NODE_ID", UINT, 32),
                                               .repeated = true, .mandatory = true, .group = 1}};
static const struct fixed_field pre_lag_key[] = {
    {FIXED_FIELD(1, "$MULTICAST_LAG_ID", UINT, 8), .mandatory = true}};
static const struct fixed_field pre_lag_data[] = {
    [LAG_PORTS] = {FIXED_FIELD(1, "$DEV_PORT", UINT, 32), .repeated = true,
                   .port_class = PRE_PORT_CLASS},
    [LAG_LEFT] = {FIXED_FIELD(2, "$MULTICAST_LAG_REMOTE_MSB_COUNT", UINT, 32)},
    [LAG_RIGHT] = {FIXED_FIELD(3, "$MULTICAST_LAG_REMOTE_LSB_COUNT", UINT, 32)},
};
static const struct fixed_field pre_prune_key[] = {
    {FIXED_FIELD(1, "$MULTICAST_L2_XID", UINT, 16), .mandatory = true}};
static const struct fixed_field pre_prune_data[] = {{FIXED_FIELD(1, "$DEV_PORT", UINT, 32),
                                                     .repeated = true, .mandatory = true,
                                                     .port_class = PRE_PORT_CLASS}};
static const struct fixed_field pre_port_key[] = {
    {FIXED_FIELD(1, "$DEV_PORT", UINT, 32), .mandatory = true, .port_class = PRE_PORT_CLASS}};
static const struct fixed_field pre_port[] = {
    [PORT_BACKUP] = {FIXED_FIELD(1, "$MULTICAST_BACKUP_PORT", UINT, 32),
                     .port_class = PRE_PORT_CLASS},
    [PORT_FORWARD] = {FIXED_FIELD(2, "$MULTICAST_FORWARD_STATE", BOOL, 0)},
    [PORT_CLEAR] = {FIXED_FIELD(3, "$MULTICAST_CLEAR_FAST_FAILOVER", BOOL, 0)},
    [PORT_CPU] = {FIXED_FIELD(4, "$COPY_TO_CPU_PORT_ENABLE", BOOL, 0)},
};

// ---- results ----

static enum brt_code pre_result(int rc, const char *invalid, struct sk_error *err) {
    switch (-rc) {
    case 0:
        return BRT_OK;
    case EINVAL:
        return brt_fail(err, BRT_INVALID_ARG, "%s", invalid);
    case ENOENT:
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "a node or ECMP group that it names is missing");
    case EEXIST:
        return brt_fail(err, BRT_ALREADY_EXISTS, "a node or ECMP group is named twice");
    case EBUSY:
        return brt_fail(err, BRT_IN_USE, "a multicast or ECMP group still names it");
    default:
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the switch is short of memory");
    }
}

static enum brt_code pre_no_memory(struct sk_error *err) {
    return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
}

// Ports of a message, in memory of the scratch; null after an error.
static const uint16_t *pre_ports(struct brt *b, const struct fixed_value *v, enum brt_code *code,
                                 struct sk_error *err) {
    uint16_t *ports = brt_take(&b->scratch, (v->n + 1) * sizeof *ports);
    *code = ports ? BRT_OK : pre_no_memory(err);
    for (size_t i = 0; *code == BRT_OK && i < v->n; i++) {
        ports[i] = (uint16_t)v->list[i];
        if (!sk_port_exists(v->list[i]))
            *code = brt_fail(err, BRT_INVALID_ARG, "port %u does not exist", v->list[i]);
    }
    return *code ? NULL : ports;
}

static void pre_give(struct brt_memory *m, struct fixed_value *v, const uint16_t *from, size_t n) {
    if (!fixed_list(m, v, n))
        return; // the memory says that it was refused
    for (size_t i = 0; i < n; i++)
        v->list[i] = from[i];
}

// ---- keys of what is listed ----

struct pre_keys {
    struct fixed_entry *entries; // null: only counted
    size_t n;
};

static bool pre_key(struct pre_keys *k, uint64_t key) {
    if (k->entries)
        k->entries[k->n].key[0] = key;
    k->n++;
    return true;
}

static bool pre_node_key_of(void *aux, const struct sk_pre_node_view *n) {
    return pre_key(aux, n->id);
}

static bool pre_ecmp_key_of(void *aux, uint32_t id, const uint32_t *nodes, size_t n) {
    (void)nodes;
    (void)n;
    return pre_key(aux, id);
}

static bool pre_group_key_of(void *aux, uint16_t mgid, const struct sk_pre_member *members,
                             size_t n) {
    (void)members;
    (void)n;
    return pre_key(aux, mgid);
}

static void pre_all_nodes(const struct sk_pre *pre, struct pre_keys *k) {
    pre_nodes_each(pre, pre_node_key_of, k);
}

static void pre_all_ecmps(const struct sk_pre *pre, struct pre_keys *k) {
    pre_ecmps_each(pre, pre_ecmp_key_of, k);
}

static void pre_all_groups(const struct sk_pre *pre, struct pre_keys *k) {
    pre_groups_each(pre, pre_group_key_of, k);
}

static void pre_all_lags(const struct sk_pre *pre, struct pre_keys *k) {
    (void)pre;
    for (uint8_t lag = 0; lag < SK_PRE_LAGS; lag++)
        pre_key(k, lag);
}

static void pre_all_prunes(const struct sk_pre *pre, struct pre_keys *k) {
    (void)pre;
    for (uint16_t xid = 0; xid < SK_PRE_PRUNE_SETS; xid++)
        pre_key(k, xid);
}

static void pre_all_ports(const struct sk_pre *pre, struct pre_keys *k) {
    (void)pre;
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (sk_port_exists(port))
            pre_key(k, port);
}

// Counted first, then filled.
static struct fixed_entry *pre_keys(struct brt *b, struct brt_memory *m, size_t *n,
                                    void (*each)(const struct sk_pre *pre, struct pre_keys *k)) {
    struct pre_keys k = {.n = 0};
    each(sk_switch_pre(b->now.sw), &k);
    *n = k.n;
    k = (struct pre_keys){.entries = brt_take(m, (*n + 1) * sizeof *k.entries)};
    if (k.entries)
        each(sk_switch_pre(b->now.sw), &k);
    return k.entries;
}

// ---- $pre.mgid ----

static void pre_give_members(struct brt_memory *m, struct fixed_entry *e,
                             const struct sk_pre_member *members, size_t n, bool ecmp,
                             size_t first) {
    struct fixed_value *v = &e->data[first];
    if (!fixed_list(m, &v[0], n) || !fixed_list(m, &v[1], n) || !fixed_list(m, &v[2], n))
        return; // the memory says that it was refused
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (members[i].ecmp != ecmp)
            continue;
        v[0].list[at] = members[i].node;
        v[1].list[at] = members[i].l1_xid_valid;
        v[2].list[at++] = members[i].l1_xid;
    }
    v[0].n = v[1].n = v[2].n = at;
}

static bool pre_get_group(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const struct sk_pre *pre = sk_switch_pre(b->now.sw);
    const uint16_t mgid = (uint16_t)e->key[0];
    size_t n;
    if (!pre_group_view(pre, mgid, NULL, &n))
        return false;
    struct sk_pre_member *members = brt_take(m, (n + 1) * sizeof *members);
    if (!members)
        return false;
    pre_group_view(pre, mgid, members, &n);
    pre_give_members(m, e, members, n, false, MGID_NODES);
    pre_give_members(m, e, members, n, true, MGID_ECMPS);
    return true;
}

static enum brt_code pre_set_group(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    const struct fixed_value *nodes = &e->data[MGID_NODES], *ecmps = &e->data[MGID_ECMPS];
    struct sk_pre_member *members =
        brt_take(&b->scratch, (nodes->n + ecmps->n + 1) * sizeof *members);
    size_t n = 0;
    if (!members)
        return pre_no_memory(err);
    for (size_t first = MGID_NODES; first <= MGID_ECMPS; first += MGID_ECMPS - MGID_NODES) {
        const struct fixed_value *v = &e->data[first];
        for (size_t i = 0; i < v->n; i++)
            members[n++] = (struct sk_pre_member){.node = v[0].list[i],
                                                  .ecmp = first == MGID_ECMPS,
                                                  .l1_xid_valid = v[1].list[i] != 0,
                                                  .l1_xid = (uint16_t)v[2].list[i]};
    }
    return pre_result(sk_pre_group_set(b->now.sw, (uint16_t)e->key[0], members, n),
                      "the multicast group cannot be set", err);
}

static enum brt_code pre_remove_group(struct brt *b, const struct fixed_entry *e,
                                      struct sk_error *err) {
    return pre_result(sk_pre_group_delete(b->now.sw, (uint16_t)e->key[0]), "no such group", err);
}

static struct fixed_entry *pre_group_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return pre_keys(b, m, n, pre_all_groups);
}

// ---- $pre.node ----

static bool pre_get_node(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct sk_pre_node_view n;
    if (!pre_node_view(sk_switch_pre(b->now.sw), (uint32_t)e->key[0], &n))
        return false;
    e->data[NODE_RID] = (struct fixed_value){.given = true, .number = n.rid};
    pre_give(m, &e->data[NODE_PORTS], n.ports, n.n_ports);
    uint32_t *lags = fixed_list(m, &e->data[NODE_LAGS], n.n_lags);
    for (size_t i = 0; lags && i < n.n_lags; i++)
        lags[i] = n.lags[i];
    return true;
}

static enum brt_code pre_set_node(struct brt *b, const struct fixed_entry *e,
                                  struct sk_error *err) {
    const struct fixed_value *lags = &e->data[NODE_LAGS];
    enum brt_code code;
    const uint16_t *ports = pre_ports(b, &e->data[NODE_PORTS], &code, err);
    uint8_t *list = brt_take(&b->scratch, lags->n + 1);
    if (!ports || !list)
        return ports ? pre_no_memory(err) : code;
    for (size_t i = 0; i < lags->n; i++)
        list[i] = (uint8_t)lags->list[i];
    const int rc =
        sk_pre_node_set_lags(b->now.sw, (uint32_t)e->key[0], (uint16_t)e->data[NODE_RID].number,
                             ports, e->data[NODE_PORTS].n, list, lags->n);
    return pre_result(rc, "a port or LAG is named twice, or there is no such LAG", err);
}

static bool pre_node_is_used(const struct brt *b, const struct fixed_entry *e) {
    return pre_node_users(sk_switch_pre(b->now.sw), (uint32_t)e->key[0]);
}

static enum brt_code pre_remove_node(struct brt *b, const struct fixed_entry *e,
                                     struct sk_error *err) {
    return pre_result(sk_pre_node_delete(b->now.sw, (uint32_t)e->key[0]), "no such node", err);
}

static struct fixed_entry *pre_node_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return pre_keys(b, m, n, pre_all_nodes);
}

// ---- $pre.ecmp ----

static bool pre_get_ecmp(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    uint32_t nodes[SK_PRE_ECMP_SLOTS];
    size_t n, used = 0;
    if (!pre_ecmp_view(sk_switch_pre(b->now.sw), (uint32_t)e->key[0], nodes, &n))
        return false;
    uint32_t *list = fixed_list(m, &e->data[0], n);
    for (size_t i = 0; list && i < n; i++)
        if (nodes[i] != SK_PRE_NO_NODE)
            list[used++] = nodes[i];
    e->data[0].n = used;
    return true;
}

static bool pre_is_in(const uint32_t *list, size_t n, uint32_t number) {
    for (size_t i = 0; i < n; i++)
        if (list[i] == number)
            return true;
    return false;
}

// A node keeps its slot, so that hashes choose it as before; a new one gets the first that is
// empty. Returns how many of the slots are used.
static size_t pre_ecmp_slots(const struct fixed_value *nodes, uint32_t *slots, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!pre_is_in(nodes->list, nodes->n, slots[i]))
            slots[i] = SK_PRE_NO_NODE;
    for (size_t i = 0; i < nodes->n; i++) {
        size_t at = 0;
        if (pre_is_in(slots, n, nodes->list[i]) && !pre_is_in(nodes->list, i, nodes->list[i]))
            continue; // a node that is named twice is the engine's to refuse
        while (at < n && slots[at] != SK_PRE_NO_NODE)
            at++;
        slots[at] = nodes->list[i];
        n = at < n ? n : at + 1;
    }
    return n;
}

static enum brt_code pre_set_ecmp(struct brt *b, const struct fixed_entry *e,
                                  struct sk_error *err) {
    uint32_t slots[SK_PRE_ECMP_SLOTS];
    size_t n = 0;
    if (e->data[0].n > SK_PRE_ECMP_SLOTS)
        return brt_fail(err, BRT_NO_SPACE, "an ECMP group has at most %u nodes", SK_PRE_ECMP_SLOTS);
    pre_ecmp_view(sk_switch_pre(b->now.sw), (uint32_t)e->key[0], slots, &n);
    n = pre_ecmp_slots(&e->data[0], slots, n);
    return pre_result(sk_pre_ecmp_set(b->now.sw, (uint32_t)e->key[0], slots, n),
                      "the ECMP group cannot be set", err);
}

static bool pre_ecmp_is_used(const struct brt *b, const struct fixed_entry *e) {
    return pre_ecmp_users(sk_switch_pre(b->now.sw), (uint32_t)e->key[0]);
}

static enum brt_code pre_remove_ecmp(struct brt *b, const struct fixed_entry *e,
                                     struct sk_error *err) {
    return pre_result(sk_pre_ecmp_delete(b->now.sw, (uint32_t)e->key[0]), "no such ECMP group",
                      err);
}

static struct fixed_entry *pre_ecmp_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return pre_keys(b, m, n, pre_all_ecmps);
}

// ---- $pre.lag ----

static bool pre_get_lag(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    static const struct sk_pre_lag empty = {.n_ports = 0};
    if (e->key[0] >= SK_PRE_LAGS)
        return false;
    const struct sk_pre_lag *lag = pre_lag(sk_switch_pre(b->now.sw), (uint8_t)e->key[0]);
    lag = lag ? lag : &empty;
    pre_give(m, &e->data[LAG_PORTS], lag->ports, lag->n_ports);
    e->data[LAG_LEFT] = (struct fixed_value){.given = true, .number = lag->left};
    e->data[LAG_RIGHT] = (struct fixed_value){.given = true, .number = lag->right};
    return true;
}

static enum brt_code pre_set_lag(struct brt *b, const struct fixed_entry *e, struct sk_error *err) {
    enum brt_code code;
    const uint64_t left = e->data[LAG_LEFT].number, right = e->data[LAG_RIGHT].number;
    struct sk_pre_lag lag = {.n_ports = e->data[LAG_PORTS].n};
    if (e->key[0] >= SK_PRE_LAGS || left > UINT16_MAX || right > UINT16_MAX)
        return brt_fail(err, BRT_INVALID_ARG, "LAGs are 0 to %u, with at most %u remote members",
                        SK_PRE_LAGS - 1, UINT16_MAX);
    lag.left = (uint16_t)left;
    lag.right = (uint16_t)right;
    lag.ports = pre_ports(b, &e->data[LAG_PORTS], &code, err);
    return lag.ports ? pre_result(sk_pre_lag_set(b->now.sw, (uint8_t)e->key[0], &lag),
                                  "a port is named twice", err)
                     : code;
}

static enum brt_code pre_remove_lag(struct brt *b, const struct fixed_entry *e,
                                    struct sk_error *err) {
    return pre_result(
        sk_pre_lag_set(b->now.sw, (uint8_t)e->key[0], &(struct sk_pre_lag){.n_ports = 0}),
        "no such LAG", err);
}

static struct fixed_entry *pre_lag_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return pre_keys(b, m, n, pre_all_lags);
}

// ---- $pre.prune ----

static bool pre_get_prune(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    uint16_t ports[SK_PORTS];
    if (e->key[0] >= SK_PRE_PRUNE_SETS)
        return false;
    pre_give(m, &e->data[0], ports,
             pre_prune(sk_switch_pre(b->now.sw), (uint16_t)e->key[0], ports));
    return true;
}

static enum brt_code pre_set_prune(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    enum brt_code code;
    const uint16_t *ports = pre_ports(b, &e->data[0], &code, err);
    if (!ports)
        return code;
    if (e->key[0] >= SK_PRE_PRUNE_SETS)
        return brt_fail(err, BRT_INVALID_ARG, "level-2 exclusion ids are 0 to %u",
                        SK_PRE_PRUNE_SETS - 1);
    return pre_result(sk_pre_prune_set(b->now.sw, (uint16_t)e->key[0], ports, e->data[0].n),
                      "a port is named twice", err);
}

static enum brt_code pre_remove_prune(struct brt *b, const struct fixed_entry *e,
                                      struct sk_error *err) {
    return pre_result(sk_pre_prune_set(b->now.sw, (uint16_t)e->key[0], NULL, 0), "no such set",
                      err);
}

static struct fixed_entry *pre_prune_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return pre_keys(b, m, n, pre_all_prunes);
}

// ---- $pre.port ----

static bool pre_is_port(uint64_t key) {
    return key < SK_PORTS && sk_port_exists((unsigned)key);
}

static bool pre_get_port(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const struct sk_pre *pre = sk_switch_pre(b->now.sw);
    const uint16_t port = (uint16_t)e->key[0];
    (void)m;
    if (!pre_is_port(e->key[0]))
        return false;
    e->data[PORT_BACKUP] = (struct fixed_value){.given = true, .number = pre_backup(pre, port)};
    e->data[PORT_FORWARD] =
        (struct fixed_value){.given = true, .number = sk_pre_port_forwards(b->now.sw, port)};
    e->data[PORT_CLEAR] = (struct fixed_value){.given = true};
    e->data[PORT_CPU] =
        (struct fixed_value){.given = true, .number = sk_switch_cpu_port_of(b->now.sw) == port};
    return true;
}

// Sets the CPU's port; if 'port' is it and shall not be, the CPU's port is the chip's default.
static void pre_set_cpu_port(struct brt *b, uint16_t port, bool is) {
    if (is)
        sk_switch_cpu_port(b->now.sw, port);
    else if (sk_switch_cpu_port_of(b->now.sw) == port)
        sk_switch_cpu_port(b->now.sw,
                           sk_switch_is_tofino_2(b->now.sw) ? SK_CPU_PORT_2 : SK_CPU_PORT);
}

static enum brt_code pre_set_port(struct brt *b, const struct fixed_entry *e,
                                  struct sk_error *err) {
    const uint16_t port = (uint16_t)e->key[0];
    if (!pre_is_port(e->key[0]))
        return brt_fail(err, BRT_INVALID_ARG, "the port does not exist");
    if (e->data[PORT_BACKUP].number >= SK_PORTS)
        return brt_fail(err, BRT_INVALID_ARG, "the backup port does not exist");
    const int rc = sk_pre_backup_set(b->now.sw, port, (uint16_t)e->data[PORT_BACKUP].number);
    if (rc == 0) {
        sk_pre_port_forward(b->now.sw, port, e->data[PORT_FORWARD].number != 0);
        pre_set_cpu_port(b, port, e->data[PORT_CPU].number != 0);
    }
    return pre_result(rc, "the port or its backup port does not exist", err);
}

static enum brt_code pre_remove_port(struct brt *b, const struct fixed_entry *e,
                                     struct sk_error *err) {
    const uint16_t port = (uint16_t)e->key[0];
    sk_pre_port_forward(b->now.sw, port, true);
    pre_set_cpu_port(b, port, false);
    return pre_result(sk_pre_backup_set(b->now.sw, port, port), "no such port", err);
}

static struct fixed_entry *pre_port_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return pre_keys(b, m, n, pre_all_ports);
}

// ---- the attribute pre_device_config ----
//
// What is not a message's part stays. The limits of nodes belong to the chip's arbitration between
// packets: they are kept and shown, and change no packet.

#define PRE_NODES_BEFORE_YIELD 16u // the driver's defaults
#define PRE_NODE_THRESHOLD     4096u
#define PRE_PORT_LAG_THRESHOLD 133u

static struct brt_pre_limits pre_limits(const struct brt *b) {
    return b->now.pre_limits.given
               ? b->now.pre_limits
               : (struct brt_pre_limits){true, PRE_NODES_BEFORE_YIELD, PRE_NODE_THRESHOLD,
                                         PRE_PORT_LAG_THRESHOLD};
}

static enum brt_code pre_set_device(struct brt *b, const BfrtProto__TableAttribute *a,
                                    struct sk_error *err) {
    const BfrtProto__PreDeviceConfig *c = a->pre_device_config;
    struct sk_pre_device device = pre_device(sk_switch_pre(b->now.sw));
    struct brt_pre_limits limits = pre_limits(b);
    if (c->pre_global_rid && c->pre_global_rid->global_rid > UINT16_MAX)
        return brt_fail(err, BRT_INVALID_ARG, "the global replication id has 16 bits");
    if (c->pre_global_rid)
        device.global_rid = (uint16_t)c->pre_global_rid->global_rid;
    if (c->pre_port_protection)
        device.no_protection = !c->pre_port_protection->enable;
    if (c->pre_fast_failover)
        device.no_failover = !c->pre_fast_failover->enable;
    if (c->pre_max_nodes_before_yield)
        limits.before_yield = c->pre_max_nodes_before_yield->count;
    if (c->pre_max_node_threshold) {
        limits.nodes = c->pre_max_node_threshold->node_count;
        limits.port_lags = c->pre_max_node_threshold->port_lag_count;
    }
    sk_pre_device_set(b->now.sw, &device);
    b->now.pre_limits = limits;
    return BRT_OK;
}

struct pre_device_message {
    BfrtProto__PreDeviceConfig config;
    BfrtProto__PreGlobalRid rid;
    BfrtProto__PrePortProtection protection;
    BfrtProto__PreFastFailover failover;
    BfrtProto__PreMaxNodesBeforeYield yield;
    BfrtProto__PreMaxNodeThreshold threshold;
};

static bool pre_get_device(struct brt *b, struct brt_memory *m, BfrtProto__TableAttribute *out) {
    struct pre_device_message *all = brt_take(m, sizeof *all);
    const struct sk_pre_device device = pre_device(sk_switch_pre(b->now.sw));
    const struct brt_pre_limits limits = pre_limits(b);
    if (!all)
        return false;
    bfrt_proto__pre_device_config__init(&all->config);
    bfrt_proto__pre_global_rid__init(&all->rid);
    bfrt_proto__pre_port_protection__init(&all->protection);
    bfrt_proto__pre_fast_failover__init(&all->failover);
    bfrt_proto__pre_max_nodes_before_yield__init(&all->yield);
    bfrt_proto__pre_max_node_threshold__init(&all->threshold);
    all->rid.global_rid = device.global_rid;
    all->protection.enable = !device.no_protection;
    all->failover.enable = !device.no_failover;
    all->yield.count = limits.before_yield;
    all->threshold.node_count = limits.nodes;
    all->threshold.port_lag_count = limits.port_lags;
    all->config.pre_global_rid = &all->rid;
    all->config.pre_port_protection = &all->protection;
    all->config.pre_fast_failover = &all->failover;
    all->config.pre_max_nodes_before_yield = &all->yield;
    all->config.pre_max_node_threshold = &all->threshold;
    out->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_PRE_DEVICE_CONFIG;
    out->pre_device_config = &all->config;
    return true;
}

// A table of these keys, data and functions.
#define PRE_TABLE(number, called, kind, entries, its_key, its_data, about, ...)                    \
    {                                                                                              \
        .id = number, .name = called, .type = kind, .size = entries, .keys = its_key,              \
        .data = its_data, .n_keys = sizeof(its_key) / sizeof *(its_key),                           \
        .n_data = sizeof(its_data) / sizeof *(its_data),                                           \
        .functions = {pre_get_##about, pre_set_##about, pre_remove_##about, pre_##about##_keys},   \
        __VA_ARGS__                                                                                \
    }

const struct fixed_table *fixed_pre(size_t *n) {
    static const struct fixed_table tables[] = {
        PRE_TABLE(PRE_MGID, "$pre.mgid", "PreMgid", 65536, pre_mgid_key, pre_mgid, group,
                  .attribute = "pre_device_config",
                  .attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_PRE_DEVICE_CONFIG,
                  .set_attribute = pre_set_device, .get_attribute = pre_get_device,
                  .increments = true),
        PRE_TABLE(0xff020002, "$pre.node", "PreNode", 16777216, pre_node_key, pre_node, node,
                  .is_used = pre_node_is_used, .users = {PRE_ECMP, PRE_MGID}),
        PRE_TABLE(PRE_ECMP, "$pre.ecmp", "PreEcmp", 16777216, pre_ecmp_key, pre_ecmp, ecmp,
                  .increments = true, .is_used = pre_ecmp_is_used, .users = {PRE_MGID}),
        PRE_TABLE(0xff020004, "$pre.lag", "PreLag", SK_PRE_LAGS, pre_lag_key, pre_lag_data, lag,
                  .always = true),
        PRE_TABLE(0xff020005, "$pre.prune", "PrePrune", SK_PRE_PRUNE_SETS, pre_prune_key,
                  pre_prune_data, prune, .always = true),
        PRE_TABLE(0xff020006, "$pre.port", "PrePort", SK_PIPES * SK_PIPE_PORTS, pre_port_key,
                  pre_port, port, .always = true),
    };
    *n = sizeof tables / sizeof *tables;
    return tables;
}
