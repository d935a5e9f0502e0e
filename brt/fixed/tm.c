// SPDX-License-Identifier: Apache-2.0
//
// tf1.tm.*, tf2.tm.*: the traffic manager. Served is what Silken's has: egress pools, queues
// (queues.c), limits and speeds of ports, drops and cells in use. Of the chip's other tables
// clients find names, ids and keys; calls about these end with UNIMPLEMENTED and the table's name.
//
// Queues and pools stay when another program takes the running one's place: what is written between
// begin and end of a warm start holds at once.
#include <errno.h>
#include <stdlib.h>

#include "brt/fixed/tm.h"

#define TM_SIZE(a)     (sizeof(a) / sizeof *(a))
#define TM_POOL_EGRESS 4u // the first of those in tm_pools

static const char *const tm_colors[] = {"GREEN", "YELLOW", "RED", NULL};
static const char *const tm_pools[] = {"IG_APP_POOL_0", "IG_APP_POOL_1", "IG_APP_POOL_2",
                                       "IG_APP_POOL_3", "EG_APP_POOL_0", "EG_APP_POOL_1",
                                       "EG_APP_POOL_2", "EG_APP_POOL_3", NULL};
static const char *const tm_ingress_pools[] = {"IG_APP_POOL_0", "IG_APP_POOL_1", "IG_APP_POOL_2",
                                               "IG_APP_POOL_3", NULL};
static const char *const tm_all_pools[] = {"IG_APP_POOL_0",
                                           "IG_APP_POOL_1",
                                           "IG_APP_POOL_2",
                                           "IG_APP_POOL_3",
                                           "EG_APP_POOL_0",
                                           "EG_APP_POOL_1",
                                           "EG_APP_POOL_2",
                                           "EG_APP_POOL_3",
                                           "IG_SKID_POOL",
                                           "IG_EG_NEGATIVE_MIRROR_POOL",
                                           "EG_PRE_FIFO",
                                           "IG_EG_GUARANTEED_MIN",
                                           "EG_UNICAST_CUT_THROUGH",
                                           "EG_MULTICAST_CUT_THROUGH",
                                           NULL};

static const struct fixed_field tm_port[] = {
    {FIXED_FIELD(1, "dev_port", UINT, 32), .mandatory = true}};
static const struct fixed_field tm_group[] = {
    {FIXED_FIELD(1, "pg_id", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_queue[] = {
    {FIXED_FIELD(1, "pg_id", UINT, 8), .mandatory = true},
    {FIXED_FIELD(2, "pg_queue", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_node[] = {
    {FIXED_FIELD(1, "pg_id", UINT, 8), .mandatory = true},
    {FIXED_FIELD(2, "pg_l1_node", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_ppg[] = {{FIXED_FIELD(1, "ppg_id", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_ppg_counter[] = {
    {FIXED_FIELD(1, "ppg_counter_id", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_color[] = {
    {FIXED_FIELD(1, "color", STRING, 0), .mandatory = true, .choices = tm_colors}};
static const struct fixed_field tm_app_pool[] = {
    {FIXED_FIELD(1, "pool", STRING, 0), .mandatory = true, .choices = tm_pools}};
static const struct fixed_field tm_any_pool[] = {
    {FIXED_FIELD(1, "pool", STRING, 0), .mandatory = true, .choices = tm_all_pools}};
static const struct fixed_field tm_pool_cos[] = {
    {FIXED_FIELD(1, "pool", STRING, 0), .mandatory = true, .choices = tm_ingress_pools},
    {FIXED_FIELD(2, "cos", BYTES, 3), .mandatory = true}};

const char *const fixed_tm_egress_pools[5] = {"EG_APP_POOL_0", "EG_APP_POOL_1", "EG_APP_POOL_2",
                                              "EG_APP_POOL_3", NULL};

// ---- values ----

void fixed_tm_say(struct fixed_entry *e, size_t field, uint64_t number) {
    e->data[field] = (struct fixed_value){.given = true, .number = number};
}

enum brt_code fixed_tm_constants(const struct fixed_entry *e, const struct fixed_field *fields,
                                 const struct tm_constant *list, size_t n, struct sk_error *err) {
    for (size_t i = 0; i < n; i++)
        if (e->data[list[i].field].given && e->data[list[i].field].number != list[i].number)
            return brt_fail(err, BRT_NOT_SUPPORTED, "field '%s' can only be %llu here",
                            fields[list[i].field].name, (unsigned long long)list[i].number);
    return BRT_OK;
}

enum brt_code fixed_tm_absent(const struct fixed_entry *e, const struct fixed_field *fields,
                              const size_t *list, size_t n, struct sk_error *err) {
    for (size_t i = 0; i < n; i++)
        if (e->data[list[i]].given)
            return brt_fail(err, BRT_NOT_SUPPORTED, "field '%s' is not supported",
                            fields[list[i]].name);
    return BRT_OK;
}

enum brt_code fixed_tm_set_queues(struct brt *b, uint16_t port, const struct sk_port_queue *q,
                                  struct sk_error *err) {
    switch (sk_switch_port_queue(brt_live(b), port, q)) {
    case 0:
        return BRT_OK;
    case -ENOTSUP:
        return brt_fail(err, BRT_NOT_SUPPORTED,
                        "field 'pool_id': pipes are isolated, and ports of two would share a pool");
    case -EEXIST:
        return brt_fail(err, BRT_ALREADY_EXISTS,
                        "another queue of the port group has this number for flow control");
    case -ENOMEM:
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the queues need too much memory");
    default:
        return brt_fail(err, BRT_INVALID_ARG,
                        "limits of a queue must ascend: red, yellow, the queue's own");
    }
}

// ---- which queue, port, pool ----

struct tm_shape fixed_tm_shape(const struct brt *b) {
    return sk_switch_is_tofino_2(brt_live(b)) ? (struct tm_shape){9, 8, SK_PG_QUEUES_OF_PORT}
                                              : (struct tm_shape){18, 4, 8};
}

bool fixed_tm_queue_of(const struct brt *b, const struct fixed_entry *e, uint16_t *port,
                       unsigned *qid) {
    const struct tm_shape s = fixed_tm_shape(b);
    if (e->pipe < 0 || e->key[0] >= s.groups || e->key[1] >= s.ports * s.queues)
        return false;
    *port = (uint16_t)((unsigned)e->pipe << 7 | (unsigned)(e->key[0] * s.ports) |
                       (unsigned)(e->key[1] / s.queues));
    *qid = (unsigned)(e->key[1] % s.queues);
    return sk_port_exists(*port);
}

enum brt_code fixed_tm_queue_check(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    const struct tm_shape s = fixed_tm_shape(b);
    if (e->key[0] >= s.groups)
        return brt_fail(err, BRT_INVALID_ARG, "key field 'pg_id' is at most %u", s.groups - 1);
    return e->key[1] < s.ports * s.queues
               ? BRT_OK
               : brt_fail(err, BRT_INVALID_ARG, "key field 'pg_queue' is at most %u",
                          s.ports * s.queues - 1);
}

struct fixed_entry *fixed_tm_queue_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    const struct tm_shape s = fixed_tm_shape(b);
    const size_t of_group = (size_t)s.ports * s.queues;
    struct fixed_entry *keys = brt_take(m, s.groups * of_group * sizeof *keys);
    *n = s.groups * of_group;
    for (size_t i = 0; keys && i < *n; i++) {
        keys[i].key[0] = i / of_group;
        keys[i].key[1] = i % of_group;
    }
    return keys;
}

static enum brt_code tm_port_check(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    (void)b;
    return e->key[0] < SK_PORTS && sk_port_exists((unsigned)e->key[0])
               ? BRT_OK
               : brt_fail(err, BRT_INVALID_ARG, "key field 'dev_port': there is no port %llu",
                          (unsigned long long)e->key[0]);
}

static struct fixed_entry *tm_port_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, SK_PORTS * sizeof *keys);
    (void)b;
    *n = 0;
    for (unsigned port = 0; keys && port < SK_PORTS; port++)
        if (sk_port_exists(port))
            keys[(*n)++].key[0] = port;
    return keys;
}

static enum brt_code tm_pool_check(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    (void)b;
    return e->key[0] - TM_POOL_EGRESS < SK_APP_POOLS
               ? BRT_OK
               : brt_fail(err, BRT_NOT_SUPPORTED,
                          "key field 'pool': '%s' is not supported, only EG_APP_POOL_0 to "
                          "EG_APP_POOL_3 are",
                          tm_all_pools[e->key[0]]);
}

static struct fixed_entry *tm_pool_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, SK_APP_POOLS * sizeof *keys);
    (void)b;
    *n = SK_APP_POOLS;
    for (size_t i = 0; keys && i < SK_APP_POOLS; i++)
        keys[i].key[0] = TM_POOL_EGRESS + i;
    return keys;
}

static unsigned tm_pool_of(const struct fixed_entry *e) {
    return (unsigned)e->key[0] - TM_POOL_EGRESS;
}

// ---- pools ----

static const struct fixed_field tm_pool_size[] = {{FIXED_FIELD(1, "size_cells", UINT, 32)}};

static bool tm_pool_size_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct sk_app_pool p;
    (void)m;
    sk_switch_app_pool_get(brt_live(b), tm_pool_of(e), &p);
    fixed_tm_say(e, 0, p.cells);
    return true;
}

static enum brt_code tm_pool_size_set(struct brt *b, const struct fixed_entry *e,
                                      struct sk_error *err) {
    const unsigned pool = tm_pool_of(e);
    struct sk_app_pool p;
    sk_switch_app_pool_get(brt_live(b), pool, &p);
    p.cells = (uint32_t)e->data[0].number;
    if (!p.cells && sk_switch_app_pool_has_queues(brt_live(b), pool))
        return brt_fail(err, BRT_IN_USE, "field 'size_cells': queues use the pool");
    return sk_switch_app_pool(brt_live(b), pool, &p)
               ? brt_fail(err, BRT_INVALID_ARG,
                          "field 'size_cells' is less than the pool's limits (pool.app)")
               : BRT_OK;
}

static enum brt_code tm_pool_size_reset(struct brt *b, const struct fixed_entry *e,
                                        struct sk_error *err) {
    const unsigned pool = tm_pool_of(e);
    static const struct sk_app_pool none;
    if (sk_switch_app_pool_has_queues(brt_live(b), pool))
        return brt_fail(err, BRT_IN_USE, "queues use the pool");
    sk_switch_app_pool(brt_live(b), pool, &none);
    return BRT_OK;
}

enum { POOL_UNLIMITED = 1, POOL_LIMITED = 2 }; // actions
enum { POOL_GREEN, POOL_YELLOW, POOL_RED };
#define OF_LIMITED .actions = 1u << POOL_LIMITED, .stays = true
static const struct fixed_field tm_pool_limits[] = {
    {FIXED_FIELD(1, "green_limit_cells", UINT, 32), OF_LIMITED},
    {FIXED_FIELD(2, "yellow_limit_cells", UINT, 32), OF_LIMITED},
    {FIXED_FIELD(3, "red_limit_cells", UINT, 32), OF_LIMITED},
};

static bool tm_pool_limits_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct sk_app_pool p;
    (void)m;
    sk_switch_app_pool_get(brt_live(b), tm_pool_of(e), &p);
    const bool limited = p.limit_green || p.limit_yellow || p.limit_red;
    e->action = limited ? POOL_LIMITED : POOL_UNLIMITED;
    if (!limited)
        return true;
    fixed_tm_say(e, POOL_GREEN, p.limit_green);
    fixed_tm_say(e, POOL_YELLOW, p.limit_yellow);
    fixed_tm_say(e, POOL_RED, p.limit_red);
    return true;
}

static enum brt_code tm_pool_limits_set(struct brt *b, const struct fixed_entry *e,
                                        struct sk_error *err) {
    const bool limited = e->action == POOL_LIMITED;
    struct sk_app_pool p;
    sk_switch_app_pool_get(brt_live(b), tm_pool_of(e), &p);
    p.limit_green = limited ? (uint32_t)e->data[POOL_GREEN].number : 0;
    p.limit_yellow = limited ? (uint32_t)e->data[POOL_YELLOW].number : 0;
    p.limit_red = limited ? (uint32_t)e->data[POOL_RED].number : 0;
    return sk_switch_app_pool(brt_live(b), tm_pool_of(e), &p)
               ? brt_fail(err, BRT_INVALID_ARG,
                          "limits of a pool ascend, red_limit_cells, yellow_limit_cells, "
                          "green_limit_cells, and are at most its size_cells (pool.cfg)")
               : BRT_OK;
}

static enum brt_code tm_pool_limits_reset(struct brt *b, const struct fixed_entry *e,
                                          struct sk_error *err) {
    const struct fixed_entry none = {.key = {e->key[0]}, .action = POOL_UNLIMITED};
    return tm_pool_limits_set(b, &none, err);
}

// ---- ports ----

enum {
    PORT_GROUP,
    PORT_NUMBER,
    PORT_COUNT,
    PORT_QIDS,
    PORT_QUEUES,
    PORT_CPU,
    PORT_MIRROR,
    PORT_MIRROR_QUEUE,
    PORT_CREDITS,
};
static const struct fixed_field tm_port_data[] = {
    [PORT_GROUP] = {FIXED_FIELD(1, "pg_id", UINT, 8), .read_only = true},
    [PORT_NUMBER] = {FIXED_FIELD(2, "pg_port_nr", UINT, 8), .read_only = true},
    [PORT_COUNT] = {FIXED_FIELD(3, "port_queues_count", UINT, 8), .read_only = true},
    [PORT_QIDS] = {FIXED_FIELD(4, "ingress_qid_map", UINT, 8), .repeated = true, .read_only = true},
    [PORT_QUEUES] = {FIXED_FIELD(5, "egress_qid_queues", UINT, 8), .repeated = true,
                     .read_only = true},
    [PORT_CPU] = {FIXED_FIELD(6, "copy_to_cpu", BOOL, 0), .read_only = true},
    [PORT_MIRROR] = {FIXED_FIELD(7, "mirror_drop_destination", BOOL, 0), .read_only = true},
    [PORT_MIRROR_QUEUE] = {FIXED_FIELD(8, "mirror_drop_pg_queue", UINT, 8), .read_only = true},
    [PORT_CREDITS] = {FIXED_FIELD(9, "pkt_extraction_credits", UINT, 32), .read_only = true},
};

static bool tm_port_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const struct tm_shape s = fixed_tm_shape(b);
    const unsigned local = sk_port_local((unsigned)e->key[0]), number = local % s.ports;
    fixed_tm_say(e, PORT_GROUP, local / s.ports);
    fixed_tm_say(e, PORT_NUMBER, number);
    fixed_tm_say(e, PORT_COUNT, s.queues);
    fixed_tm_say(e, PORT_CPU, sk_switch_cpu_port_of(brt_live(b)) == e->key[0]);
    uint32_t *qids = fixed_list(m, &e->data[PORT_QIDS], s.queues),
             *queues = fixed_list(m, &e->data[PORT_QUEUES], s.queues);
    for (unsigned i = 0; qids && queues && i < s.queues; i++) {
        qids[i] = i;
        queues[i] = number * s.queues + i;
    }
    return qids && queues;
}

enum {
    LIMIT_CUT,
    LIMIT_CUT_CELLS,
    LIMIT_INGRESS,
    LIMIT_EGRESS,
    LIMIT_HYSTERESIS,
    LIMIT_SKID,
    LIMIT_INGRESS_HYSTERESIS
};
static const struct fixed_field tm_port_limits[] = {
    [LIMIT_CUT] = {FIXED_FIELD(1, "ct_enable", BOOL, 0), .read_only = true},
    [LIMIT_CUT_CELLS] = {FIXED_FIELD(2, "uc_ct_limit_cells", UINT, 8)},
    [LIMIT_INGRESS] = {FIXED_FIELD(3, "ig_limit_cells", UINT, 32)},
    [LIMIT_EGRESS] = {FIXED_FIELD(5, "eg_limit_cells", UINT, 32)},
    [LIMIT_HYSTERESIS] = {FIXED_FIELD(6, "eg_hysteresis_cells", UINT, 32)},
    [LIMIT_SKID] = {FIXED_FIELD(7, "skid_limit_cells", UINT, 32)},
    [LIMIT_INGRESS_HYSTERESIS] = {FIXED_FIELD(4, "ig_hysteresis_cells", UINT, 32)},
};
// A Tofino 2 has no hysteresis of ingress.
static const struct fixed_field tm_port_limits_2[] = {
    [LIMIT_CUT] = {FIXED_FIELD(1, "ct_enable", BOOL, 0), .read_only = true},
    [LIMIT_CUT_CELLS] = {FIXED_FIELD(2, "uc_ct_limit_cells", UINT, 8)},
    [LIMIT_INGRESS] = {FIXED_FIELD(3, "ig_limit_cells", UINT, 32)},
    [LIMIT_EGRESS] = {FIXED_FIELD(4, "eg_limit_cells", UINT, 32)},
    [LIMIT_HYSTERESIS] = {FIXED_FIELD(5, "eg_hysteresis_cells", UINT, 32)},
    [LIMIT_SKID] = {FIXED_FIELD(6, "skid_limit_cells", UINT, 32)},
};

static bool tm_port_limits_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct sk_port_queue q;
    (void)m;
    sk_switch_port_queue_get(brt_live(b), (uint16_t)e->key[0], &q);
    fixed_tm_say(e, LIMIT_CUT, false);
    fixed_tm_say(e, LIMIT_EGRESS, q.limit);
    fixed_tm_say(e, LIMIT_HYSTERESIS, 0);
    return true;
}

static enum brt_code tm_port_limits_set(struct brt *b, const struct fixed_entry *e,
                                        struct sk_error *err) {
    static const struct tm_constant zero[] = {{LIMIT_HYSTERESIS, 0}};
    static const size_t absent[] = {LIMIT_CUT_CELLS, LIMIT_INGRESS, LIMIT_SKID,
                                    LIMIT_INGRESS_HYSTERESIS};
    const bool tofino_2 = sk_switch_is_tofino_2(brt_live(b));
    const struct fixed_field *fields = tofino_2 ? tm_port_limits_2 : tm_port_limits;
    struct sk_port_queue q;
    enum brt_code code = fixed_tm_constants(e, fields, zero, 1, err);
    if (code == BRT_OK)
        code = fixed_tm_absent(e, fields, absent, TM_SIZE(absent) - tofino_2, err);
    if (code)
        return code;
    sk_switch_port_queue_get(brt_live(b), (uint16_t)e->key[0], &q);
    q.limit = (uint32_t)e->data[LIMIT_EGRESS].number;
    return fixed_tm_set_queues(b, (uint16_t)e->key[0], &q, err);
}

static enum brt_code tm_port_limits_reset(struct brt *b, const struct fixed_entry *e,
                                          struct sk_error *err) {
    struct sk_port_queue q;
    sk_switch_port_queue_get(brt_live(b), (uint16_t)e->key[0], &q);
    q.limit = 0;
    return fixed_tm_set_queues(b, (uint16_t)e->key[0], &q, err);
}

// Names with more than one speed's number stand for how lanes are used; the first is read.
static const char *const tm_speeds[] = {"BF_SPEED_NONE",
                                        "BF_SPEED_1G",
                                        "BF_SPEED_10G",
                                        "BF_SPEED_25G",
                                        "BF_SPEED_40G",
                                        "BF_SPEED_40G_NB",
                                        "BF_SPEED_40G_NON_BREAKABLE",
                                        "BF_SPEED_50G",
                                        "BF_SPEED_100G",
                                        NULL};
static const uint32_t tm_mbps[] = {0, 1000, 10000, 25000, 40000, 40000, 40000, 50000, 100000};
static const char *const tm_speeds_2[] = {"BF_SPEED_NONE",   "BF_SPEED_1G",
                                          "BF_SPEED_10G",    "BF_SPEED_25G",
                                          "BF_SPEED_40G",    "BF_SPEED_40G_R2",
                                          "BF_SPEED_40G_NB", "BF_SPEED_40G_NON_BREAKABLE",
                                          "BF_SPEED_50G",    "BF_SPEED_50G_CONS",
                                          "BF_SPEED_100G",   "BF_SPEED_200G",
                                          "BF_SPEED_400G",   NULL};
static const uint32_t tm_mbps_2[] = {0,     1000,  10000, 25000,  40000,  40000, 40000,
                                     40000, 50000, 50000, 100000, 200000, 400000};
_Static_assert(TM_SIZE(tm_speeds) == TM_SIZE(tm_mbps) + 1, "a speed for each name");
_Static_assert(TM_SIZE(tm_speeds_2) == TM_SIZE(tm_mbps_2) + 1, "a speed for each name");

enum { SPEED_MAX_ENABLE, SPEED_MBPS, SPEED_NODES_COUNT, SPEED_NODES };
static const struct fixed_field tm_port_speed[] = {
    [SPEED_MAX_ENABLE] = {FIXED_FIELD(1, "max_rate_enable", BOOL, 0)},
    [SPEED_MBPS] = {FIXED_FIELD(2, "scheduling_speed", STRING, 0), .choices = tm_speeds},
};
static const struct fixed_field tm_port_speed_2[] = {
    [SPEED_MAX_ENABLE] = {FIXED_FIELD(1, "max_rate_enable", BOOL, 0)},
    [SPEED_MBPS] = {FIXED_FIELD(4, "scheduling_speed", STRING, 0), .choices = tm_speeds_2},
    [SPEED_NODES_COUNT] = {FIXED_FIELD(2, "l1_nodes_count", UINT, 8), .read_only = true},
    [SPEED_NODES] = {FIXED_FIELD(3, "l1_nodes", UINT, 8), .repeated = true, .read_only = true},
};

static bool tm_port_speed_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const bool tofino_2 = sk_switch_is_tofino_2(brt_live(b));
    const uint32_t *mbps = tofino_2 ? tm_mbps_2 : tm_mbps;
    const size_t n = tofino_2 ? TM_SIZE(tm_mbps_2) : TM_SIZE(tm_mbps);
    struct sk_port_queue q;
    sk_switch_port_queue_get(brt_live(b), (uint16_t)e->key[0], &q);
    uint32_t *speed = brt_take(m, sizeof *speed);
    if (!speed)
        return false;
    *speed = q.speed_mbps;
    e->kept = speed;
    fixed_tm_say(e, SPEED_MAX_ENABLE, false);
    size_t i = 0;
    while (i < n && mbps[i] != q.speed_mbps)
        i++;
    if (i < n) // else it has no name
        fixed_tm_say(e, SPEED_MBPS, i);
    return true;
}

static enum brt_code tm_port_speed_set(struct brt *b, const struct fixed_entry *e,
                                       struct sk_error *err) {
    static const struct tm_constant only[] = {{SPEED_MAX_ENABLE, false}};
    const uint32_t *mbps = sk_switch_is_tofino_2(brt_live(b)) ? tm_mbps_2 : tm_mbps;
    const enum brt_code code = fixed_tm_constants(e, tm_port_speed, only, 1, err);
    struct sk_port_queue q;
    if (code)
        return code;
    sk_switch_port_queue_get(brt_live(b), (uint16_t)e->key[0], &q);
    if (e->kept)
        q.speed_mbps = *(const uint32_t *)e->kept;
    else if (e->data[SPEED_MBPS].given)
        q.speed_mbps = mbps[e->data[SPEED_MBPS].number];
    return fixed_tm_set_queues(b, (uint16_t)e->key[0], &q, err);
}

static enum brt_code tm_port_speed_reset(struct brt *b, const struct fixed_entry *e,
                                         struct sk_error *err) {
    struct sk_port_queue q;
    sk_switch_port_queue_get(brt_live(b), (uint16_t)e->key[0], &q);
    q.speed_mbps = 0;
    return fixed_tm_set_queues(b, (uint16_t)e->key[0], &q, err);
}

// ---- counters ----

// A client that writes a number of drops has them counted from there; what the switch itself
// counts, and tells others, goes on.
enum { COUNTER_DROPS, COUNTER_CELLS, COUNTER_WATERMARK };
static const struct fixed_field tm_counters[] = {
    {FIXED_FIELD(1, "drop_count_packets", UINT, 64)},
    {FIXED_FIELD(2, "usage_cells", UINT, 64), .read_only = true},
    {FIXED_FIELD(3, "watermark_cells", UINT, 64)},
};
static const size_t tm_counters_absent[] = {COUNTER_WATERMARK};

#define TM_BASES (SK_PORT_QUEUES + 1) // of a port: its queues, and all of them

static uint64_t *tm_base(const struct brt *b, uint16_t port, unsigned i) {
    return b->tm_bases ? &b->tm_bases[port * TM_BASES + i] : NULL;
}

static uint64_t tm_drops(const struct brt *b, uint16_t port, unsigned qid) {
    struct sk_queue_counts c;
    uint64_t all = 0;
    sk_switch_queue_counts(brt_live(b), port, qid, &c);
    for (size_t color = 0; color < SK_COLORS; color++)
        for (size_t why = 0; why < SK_QUEUE_DROPS; why++)
            all += c.refused[color][why];
    return all;
}

static uint64_t tm_port_drops(const struct brt *b, uint16_t port) {
    uint64_t all = 0;
    for (unsigned qid = 0; qid < SK_PORT_QUEUES; qid++)
        all += tm_drops(b, port, qid);
    return all;
}

static void tm_counter_say(const struct brt *b, struct fixed_entry *e, uint16_t port, unsigned i,
                           uint64_t drops, uint64_t cells) {
    const uint64_t *base = tm_base(b, port, i);
    fixed_tm_say(e, COUNTER_DROPS, drops - (base ? *base : 0));
    fixed_tm_say(e, COUNTER_CELLS, cells);
}

static enum brt_code tm_counter_write(struct brt *b, const struct fixed_entry *e, uint16_t port,
                                      unsigned i, uint64_t drops, struct sk_error *err) {
    const enum brt_code code = fixed_tm_absent(e, tm_counters, tm_counters_absent, 1, err);
    if (code)
        return code;
    if (!b->tm_bases)
        b->tm_bases = calloc((size_t)SK_PORTS * TM_BASES, sizeof *b->tm_bases);
    if (!b->tm_bases)
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the counters need too much memory");
    *tm_base(b, port, i) = drops - e->data[COUNTER_DROPS].number;
    return BRT_OK;
}

static bool tm_port_counter_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const uint16_t port = (uint16_t)e->key[0];
    uint64_t cells = 0;
    (void)m;
    for (unsigned qid = 0; qid < SK_PORT_QUEUES; qid++)
        cells += sk_switch_port_depth(brt_live(b), port, qid);
    tm_counter_say(b, e, port, SK_PORT_QUEUES, tm_port_drops(b, port), cells);
    return true;
}

static enum brt_code tm_port_counter_set(struct brt *b, const struct fixed_entry *e,
                                         struct sk_error *err) {
    const uint16_t port = (uint16_t)e->key[0];
    return tm_counter_write(b, e, port, SK_PORT_QUEUES, tm_port_drops(b, port), err);
}

static enum brt_code tm_port_counter_reset(struct brt *b, const struct fixed_entry *e,
                                           struct sk_error *err) {
    struct fixed_value zero[TM_SIZE(tm_counters)] = {{.given = true}};
    const struct fixed_entry cleared = {.key = {e->key[0]}, .data = zero};
    return tm_port_counter_set(b, &cleared, err);
}

static bool tm_queue_counter_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    uint16_t port;
    unsigned qid;
    (void)m;
    if (!fixed_tm_queue_of(b, e, &port, &qid))
        return false;
    tm_counter_say(b, e, port, qid, tm_drops(b, port, qid),
                   sk_switch_port_depth(brt_live(b), port, qid));
    return true;
}

static enum brt_code tm_queue_counter_set(struct brt *b, const struct fixed_entry *e,
                                          struct sk_error *err) {
    uint16_t port;
    unsigned qid;
    return fixed_tm_queue_of(b, e, &port, &qid)
               ? tm_counter_write(b, e, port, qid, tm_drops(b, port, qid), err)
               : brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no such queue");
}

static enum brt_code tm_queue_counter_reset(struct brt *b, const struct fixed_entry *e,
                                            struct sk_error *err) {
    struct fixed_value zero[TM_SIZE(tm_counters)] = {{.given = true}};
    const struct fixed_entry cleared = {
        .pipe = e->pipe, .key = {e->key[0], e->key[1]}, .data = zero};
    return tm_queue_counter_set(b, &cleared, err);
}

static const struct fixed_field tm_pool_counters[] = {
    {FIXED_FIELD(1, "usage_cells", UINT, 64), .read_only = true},
    {FIXED_FIELD(2, "watermark_cells", UINT, 64)},
};

static bool tm_pool_counter_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    (void)m;
    fixed_tm_say(e, 0, sk_switch_app_pool_used(brt_live(b), tm_pool_of(e)));
    return true;
}

static enum brt_code tm_pool_counter_set(struct brt *b, const struct fixed_entry *e,
                                         struct sk_error *err) {
    static const size_t absent[] = {1};
    (void)b;
    return fixed_tm_absent(e, tm_pool_counters, absent, 1, err);
}

// ---- the device ----

enum { DEVICE_SHIFT, DEVICE_CELL, DEVICE_CELLS, DEVICE_LIMIT, DEVICE_LIMIT_ENABLE };
static const struct fixed_field tm_device[] = {
    {FIXED_FIELD(1, "timestamp_shift_bits", UINT, 8)},
    {FIXED_FIELD(2, "cell_size_bytes", UINT, 32), .read_only = true},
    {FIXED_FIELD(3, "total_cells", UINT, 32), .read_only = true},
    {FIXED_FIELD(4, "ig_buffer_limit_cells", UINT, 32)},
    {FIXED_FIELD(5, "ig_buffer_limit_enable", BOOL, 0)},
};
#define TM_DEVICE_1 3u // those that a Tofino has

static bool tm_device_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    (void)m;
    fixed_tm_say(e, DEVICE_SHIFT, 0);
    fixed_tm_say(e, DEVICE_CELL, sk_switch_cell_bytes(brt_live(b)));
    if (sk_switch_is_tofino_2(brt_live(b)))
        fixed_tm_say(e, DEVICE_LIMIT_ENABLE, false);
    return true;
}

static enum brt_code tm_device_set(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    static const struct tm_constant only[] = {{DEVICE_SHIFT, 0}, {DEVICE_LIMIT_ENABLE, false}};
    static const size_t absent[] = {DEVICE_LIMIT};
    const bool tofino_2 = sk_switch_is_tofino_2(brt_live(b));
    const enum brt_code code = fixed_tm_constants(e, tm_device, only, 1 + tofino_2, err);
    return code || !tofino_2 ? code : fixed_tm_absent(e, tm_device, absent, 1, err);
}

// Of a Tofino 2: queues with advanced_flow_control of XOFF obey messages in any case.
static const struct fixed_field tm_pipe_schedule[] = {
    {FIXED_FIELD(1, "packet_ifg_compensation", UINT, 8)},
    {FIXED_FIELD(2, "advanced_flow_control_enable", BOOL, 0)},
};

static bool tm_pipe_schedule_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    (void)b;
    (void)m;
    fixed_tm_say(e, 1, true);
    return true;
}

static enum brt_code tm_pipe_schedule_set(struct brt *b, const struct fixed_entry *e,
                                          struct sk_error *err) {
    static const struct tm_constant only[] = {{1, true}};
    static const size_t absent[] = {0};
    (void)b;
    const enum brt_code code = fixed_tm_constants(e, tm_pipe_schedule, only, 1, err);
    return code ? code : fixed_tm_absent(e, tm_pipe_schedule, absent, 1, err);
}

// ---- the tables ----

#define TM_TABLE(number, called, kind, entries)                                                    \
    { .id = 0xff050000 + (number), .name = called, .type = "Tm" kind, .size = entries }
#define TM_KEYED(number, called, kind, entries, fields)                                            \
    {                                                                                              \
        .id = 0xff050000 + (number), .name = called, .type = "Tm" kind, .size = entries,           \
        .keys = fields, .n_keys = TM_SIZE(fields)                                                  \
    }
// Those that are served; what else one has follows.
#define TM_SERVED(number, called, kind, entries, its_keys, its_data, ...)                          \
    {                                                                                              \
        .id = 0xff050000 + (number), .name = called, .type = "Tm" kind, .size = entries,           \
        .keys = its_keys, .n_keys = TM_SIZE(its_keys), .data = its_data,                           \
        .n_data = TM_SIZE(its_data), .always = true, __VA_ARGS__                                   \
    }
#define TM_OF_QUEUE .by_pipe = true, .one_pipe = true
#define TM_QUEUE_FUNCTIONS(get, set, remove)                                                       \
    .functions = {get, set, remove, fixed_tm_queue_keys}, .check = fixed_tm_queue_check
#define TM_PORT_FUNCTIONS(get, set, remove)                                                        \
    .functions = {get, set, remove, tm_port_keys}, .check = tm_port_check
#define TM_POOL_FUNCTIONS(get, set, remove)                                                        \
    .functions = {get, set, remove, tm_pool_keys}, .check = tm_pool_check

const struct fixed_table *fixed_tm(bool tofino_2, size_t *n) {
    static const struct fixed_action buffer_actions[] = {{1, "shared_pool", true, NULL, 0},
                                                         {2, "buffer_only", true, NULL, 0}};
    static const struct fixed_action pool_actions[] = {{1, "color_drop_disable", true, NULL, 0},
                                                       {2, "color_drop_enable", true, NULL, 0}};
#define TM_TABLES(chip, groups, queues, counters, schedule, limits, speed)                         \
    TM_SERVED(0x02, chip ".tm.pool.cfg", "PoolCfg", 14, tm_any_pool, tm_pool_size,                 \
              TM_POOL_FUNCTIONS(tm_pool_size_get, tm_pool_size_set, tm_pool_size_reset)),          \
        TM_TABLE(0x03, chip ".tm.pool.skid", "PoolSkid", 1),                                       \
        TM_SERVED(                                                                                 \
            0x04, chip ".tm.pool.app", "PoolApp", 8, tm_app_pool, tm_pool_limits,                  \
            .actions = pool_actions, .n_actions = 2, .chooses = true, .nested = true,              \
            TM_POOL_FUNCTIONS(tm_pool_limits_get, tm_pool_limits_set, tm_pool_limits_reset)),      \
        TM_KEYED(0x05, chip ".tm.pool.color", "PoolColor", 3, tm_color),                           \
        TM_KEYED(0x06, chip ".tm.pool.app_pfc", "PoolAppPfc", 32, tm_pool_cos),                    \
        TM_SERVED(0x10, chip ".tm.port.cfg", "PortCfg", 288, tm_port, tm_port_data,                \
                  TM_PORT_FUNCTIONS(tm_port_get, NULL, NULL)),                                     \
        TM_TABLE(0x11, chip ".tm.port.group_cfg", "PortGroupCfg", 1),                              \
        TM_KEYED(0x12, chip ".tm.port.group", "PortGroup", groups, tm_group),                      \
        TM_SERVED(                                                                                 \
            0x13, chip ".tm.port.buffer", "PortBuffer", 288, tm_port, limits,                      \
            TM_PORT_FUNCTIONS(tm_port_limits_get, tm_port_limits_set, tm_port_limits_reset)),      \
        TM_KEYED(0x14, chip ".tm.port.flowcontrol", "PortFlowcontrol", 288, tm_port),              \
        TM_KEYED(0x15, chip ".tm.port.dpg", "PortDpg", 288, tm_port),                              \
        TM_SERVED(0x16, chip ".tm.port.sched_cfg", "PortSchedCfg", 288, tm_port, speed,            \
                  TM_PORT_FUNCTIONS(tm_port_speed_get, tm_port_speed_set, tm_port_speed_reset)),   \
        TM_KEYED(0x17, chip ".tm.port.sched_shaping", "PortSchedShaping", 288, tm_port),           \
        TM_KEYED(0x21, chip ".tm.queue.cfg", "QueueCfg", queues, tm_queue),                        \
        TM_SERVED(0x22, chip ".tm.queue.map", "QueueMap", queues, tm_queue, fixed_tm_map,          \
                  TM_OF_QUEUE, TM_QUEUE_FUNCTIONS(fixed_tm_map_get, NULL, NULL)),                  \
        TM_SERVED(                                                                                 \
            0x23, chip ".tm.queue.color", "QueueColor", queues, tm_queue, fixed_tm_color,          \
            TM_OF_QUEUE,                                                                           \
            TM_QUEUE_FUNCTIONS(fixed_tm_color_get, fixed_tm_color_set, fixed_tm_color_reset)),     \
        TM_SERVED(                                                                                 \
            0x24, chip ".tm.queue.buffer", "QueueBuffer", queues, tm_queue, fixed_tm_buffer,       \
            TM_OF_QUEUE, .actions = buffer_actions, .n_actions = 2, .chooses = true,               \
            .nested = true,                                                                        \
            TM_QUEUE_FUNCTIONS(fixed_tm_buffer_get, fixed_tm_buffer_set, fixed_tm_buffer_reset)),  \
        TM_SERVED(0x25, chip ".tm.queue.sched_cfg", "QueueSchedCfg", queues, tm_queue, schedule,   \
                  TM_OF_QUEUE,                                                                     \
                  TM_QUEUE_FUNCTIONS(fixed_tm_schedule_get, fixed_tm_schedule_set,                 \
                                     fixed_tm_schedule_reset)),                                    \
        TM_KEYED(0x26, chip ".tm.queue.sched_shaping", "QueueSchedShaping", queues, tm_queue),     \
        TM_KEYED(0x30, chip ".tm.ppg.cfg", "PpgCfg", 512, tm_ppg),                                 \
        TM_KEYED(0x41, chip ".tm.counter.ig_port", "CounterIgPort", 288, tm_port),                 \
        TM_SERVED(                                                                                 \
            0x42, chip ".tm.counter.eg_port", "CounterEgPort", 288, tm_port, tm_counters,          \
            TM_PORT_FUNCTIONS(tm_port_counter_get, tm_port_counter_set, tm_port_counter_reset)),   \
        TM_SERVED(0x43, chip ".tm.counter.queue", "CounterQueue", counters, tm_queue, tm_counters, \
                  TM_OF_QUEUE,                                                                     \
                  TM_QUEUE_FUNCTIONS(tm_queue_counter_get, tm_queue_counter_set,                   \
                                     tm_queue_counter_reset)),                                     \
        TM_SERVED(0x44, chip ".tm.counter.pool", "CounterPool", 8, tm_app_pool, tm_pool_counters,  \
                  TM_POOL_FUNCTIONS(tm_pool_counter_get, tm_pool_counter_set, NULL)),              \
        TM_TABLE(0x45, chip ".tm.counter.pipe", "CounterPipe", 1),                                 \
        TM_KEYED(0x46, chip ".tm.counter.dpg", "CounterPortDpg", 288, tm_port),                    \
        TM_TABLE(0x47, chip ".tm.counter.mirror_dpg", "CounterMirrorPortDpg", 1),                  \
        TM_KEYED(0x48, chip ".tm.counter.ppg", "CounterPpg", 128, tm_ppg_counter),                 \
        TM_TABLE(0x50, chip ".tm.pipe.cfg", "PipeCfg", 4),                                         \
        TM_TABLE(0x51, chip ".tm.pipe.multicast_fifo", "PipeMulticastFifo", 1),                    \
        TM_TABLE(0x71, chip ".tm.mirror.dpg", "MirrorDpg", 4)
    static const struct fixed_table tables[] = {
        TM_TABLES("tf1", 72, 2304, 576, fixed_tm_schedule, tm_port_limits, tm_port_speed),
        TM_TABLE(0x52, "tf1.tm.pipe.sched_cfg", "PipeSchedCfg", 4),
        {.id = 0xff050081,
         .name = "tf1.tm.cfg",
         .type = "TmCfg",
         .size = 1,
         .data = tm_device,
         .n_data = TM_DEVICE_1,
         .always = true,
         .functions = {.get = tm_device_get, .set = tm_device_set}},
    };
    static const struct fixed_table tables_2[] = {
        TM_TABLES("tf2", 36, 4608, 1152, fixed_tm_schedule_2, tm_port_limits_2, tm_port_speed_2),
        {.id = 0xff050052,
         .name = "tf2.tm.pipe.sched_cfg",
         .type = "TmPipeSchedCfg",
         .size = 4,
         .data = tm_pipe_schedule,
         .n_data = TM_SIZE(tm_pipe_schedule),
         .always = true,
         .by_pipe = true,
         .one_pipe = true,
         .functions = {.get = tm_pipe_schedule_get, .set = tm_pipe_schedule_set}},
        TM_KEYED(0x61, "tf2.tm.l1_node.sched_cfg", "L1NodeSchedCfg", 1152, tm_node),
        TM_KEYED(0x62, "tf2.tm.l1_node.sched_shaping", "L1NodeSchedShaping", 1152, tm_node),
        {.id = 0xff050081,
         .name = "tf2.tm.cfg",
         .type = "TmCfg",
         .size = 1,
         .data = tm_device,
         .n_data = TM_SIZE(tm_device),
         .always = true,
         .functions = {.get = tm_device_get, .set = tm_device_set}},
    };
#undef TM_TABLES
    *n = tofino_2 ? TM_SIZE(tables_2) : TM_SIZE(tables);
    return tofino_2 ? tables_2 : tables;
}
