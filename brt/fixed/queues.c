// SPDX-License-Identifier: Apache-2.0
//
// tf1.tm.queue.*, tf2.tm.queue.*: limits, guarantees, pools and the schedule of a queue
// (pipeline/tm/queue.c; docs/hardware.md has both names for each). What a queue had of its port
// becomes its own when it is written. Yellow and red limits are eighths of the queue's limit, and
// stay so when that changes.
//
// A field for which the switch has only one value is read as that, and takes no other. One of which
// it has nothing is left out when the entry is read, and fails when it is written.
#include <string.h>

#include "brt/fixed/tm.h"

#define TM_EIGHTHS 8u

static const char *const queues_eighths[] = {"12.5%", "25%",   "37.5%", "50%", "62.5%",
                                             "75%",   "87.5%", "100%",  NULL};
// In the order of struct sk_queue_buffer's shares, which begin with 1; the last one stands for no
// share.
static const char *const queues_factors[] = {"1.5%", "3%",  "6%",  "11%",     "20%", "33%",
                                             "50%",  "66%", "80%", "DISABLE", NULL};
// LOW is 0 and HIGH is 7.
static const char *const queues_priorities[] = {"LOW", "0", "1", "2",    "3", "4",
                                                "5",   "6", "7", "HIGH", NULL};
static const char *const queues_modes[] = {"CREDIT", "XOFF", NULL};
static const char *const queues_speeds_2[] = {"BF_SPEED_NONE", "BF_SPEED_50G",  "BF_SPEED_100G",
                                              "BF_SPEED_200G", "BF_SPEED_400G", NULL};

enum { MAP_PORT, MAP_QUEUE, MAP_MOST, MAP_COUNT, MAP_LIST };
const struct fixed_field fixed_tm_map[5] = {
    {FIXED_FIELD(1, "dev_port", UINT, 32), .read_only = true},
    {FIXED_FIELD(2, "queue_nr", UINT, 8), .read_only = true},
    {FIXED_FIELD(3, "ingress_qid_max", UINT, 8), .read_only = true},
    {FIXED_FIELD(4, "ingress_qid_count", UINT, 8), .read_only = true},
    {FIXED_FIELD(5, "ingress_qid_list", UINT, 8), .repeated = true, .read_only = true},
};

enum { COLOR_ENABLE, COLOR_YELLOW, COLOR_RED, COLOR_HYSTERESIS_YELLOW, COLOR_HYSTERESIS_RED };
const struct fixed_field fixed_tm_color[5] = {
    {FIXED_FIELD(1, "drop_enable", BOOL, 0)},
    {FIXED_FIELD(2, "drop_limit_yellow", STRING, 0), .choices = queues_eighths},
    {FIXED_FIELD(3, "drop_limit_red", STRING, 0), .choices = queues_eighths},
    {FIXED_FIELD(4, "hysteresis_yellow_cells", UINT, 32)},
    {FIXED_FIELD(5, "hysteresis_red_cells", UINT, 32)},
};

enum { BUFFER_OF_POOL = 1, BUFFER_ONLY = 2 }; // actions
enum { BUFFER_CELLS, BUFFER_HYSTERESIS, BUFFER_DROPS, BUFFER_POOL, BUFFER_MOST, BUFFER_FACTOR };
#define OF_POOL .actions = 1u << BUFFER_OF_POOL, .stays = true
const struct fixed_field fixed_tm_buffer[6] = {
    {FIXED_FIELD(1, "guaranteed_cells", UINT, 32), .stays = true},
    {FIXED_FIELD(2, "hysteresis_cells", UINT, 32), .stays = true},
    {FIXED_FIELD(3, "tail_drop_enable", BOOL, 0), .stays = true},
    {FIXED_FIELD(4, "pool_id", STRING, 0), .choices = fixed_tm_egress_pools, OF_POOL},
    {FIXED_FIELD(5, "pool_max_cells", UINT, 32), OF_POOL},
    {FIXED_FIELD(6, "dynamic_baf", STRING, 0), .choices = queues_factors, OF_POOL},
};

enum {
    SCHED_MIN_ENABLE,
    SCHED_MIN_PRIORITY,
    SCHED_MAX_ENABLE,
    SCHED_MAX_PRIORITY,
    SCHED_WEIGHT,
    SCHED_ENABLE,
    SCHED_FLOW_CONTROL,
    SCHED_SPEED,
    SCHED_NODE,
};
// The fields of both chips; 'enable' is the id of the last of them.
#define SCHED_FIELDS(enable)                                                                       \
    [SCHED_MIN_ENABLE] = {FIXED_FIELD(2, "min_rate_enable", BOOL, 0)},                             \
    [SCHED_MIN_PRIORITY] = {FIXED_FIELD(1, "min_priority", STRING, 0),                             \
                            .choices = queues_priorities},                                         \
    [SCHED_MAX_ENABLE] = {FIXED_FIELD(5, "max_rate_enable", BOOL, 0)},                             \
    [SCHED_MAX_PRIORITY] = {FIXED_FIELD(4, "max_priority", STRING, 0),                             \
                            .choices = queues_priorities},                                         \
    [SCHED_WEIGHT] = {FIXED_FIELD(3, "dwrr_weight", UINT, 16)},                                    \
    [SCHED_ENABLE] = {FIXED_FIELD(enable, "scheduling_enable", BOOL, 0)}
const struct fixed_field fixed_tm_schedule[6] = {SCHED_FIELDS(6)};
const struct fixed_field fixed_tm_schedule_2[9] = {
    SCHED_FIELDS(7),
    [SCHED_FLOW_CONTROL] = {FIXED_FIELD(6, "advanced_flow_control", STRING, 0),
                            .choices = queues_modes},
    [SCHED_SPEED] = {FIXED_FIELD(8, "scheduling_speed", STRING, 0), .choices = queues_speeds_2,
                     .read_only = true},
    [SCHED_NODE] = {FIXED_FIELD(9, "pg_l1_node", UINT, 8)},
};
#define QUEUES_SIZE(a) (sizeof(a) / sizeof *(a))

// ---- a queue ----

// What holds for a queue: its own settings, and the port's where it has none.
struct queues_of {
    uint16_t port;
    unsigned qid;
    struct sk_port_queue all;
};

static bool queues_find(const struct brt *b, const struct fixed_entry *e, struct queues_of *out) {
    if (!fixed_tm_queue_of(b, e, &out->port, &out->qid))
        return false;
    sk_switch_port_queue_get(brt_live(b), out->port, &out->all);
    return true;
}

static struct sk_queue_schedule *queues_own(struct queues_of *q) {
    return &q->all.schedule[q->qid];
}

static struct sk_queue_limits queues_limits(struct queues_of *q) {
    return queues_own(q)->own_limits
               ? queues_own(q)->limits
               : (struct sk_queue_limits){q->all.limit_red, q->all.limit_yellow,
                                          q->all.limit_green};
}

static struct sk_queue_buffer queues_buffer(struct queues_of *q) {
    return queues_own(q)->own_buffer ? queues_own(q)->buffer : q->all.buffer;
}

// The queue as get found it, for set to put back what the values do not say.
static bool queues_keep(struct brt_memory *m, struct queues_of *q, struct fixed_entry *e) {
    struct sk_queue_schedule *copy = brt_take(m, sizeof *copy);
    if (!copy)
        return false;
    *copy = *queues_own(q);
    e->kept = copy;
    return true;
}

static enum brt_code queues_put(struct brt *b, struct queues_of *q, struct sk_error *err) {
    return fixed_tm_set_queues(b, q->port, &q->all, err);
}

// A set's beginning: '*done' when it puts back, and that is all.
static enum brt_code queues_begin(struct brt *b, const struct fixed_entry *e, struct queues_of *q,
                                  bool *done, struct sk_error *err) {
    if (!queues_find(b, e, q))
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no such queue");
    *done = e->kept != NULL;
    if (!*done)
        return BRT_OK;
    *queues_own(q) = *(const struct sk_queue_schedule *)e->kept;
    return queues_put(b, q, err);
}

bool fixed_tm_map_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    uint16_t port;
    unsigned qid;
    if (!fixed_tm_queue_of(b, e, &port, &qid))
        return false;
    fixed_tm_say(e, MAP_PORT, port);
    fixed_tm_say(e, MAP_QUEUE, qid);
    fixed_tm_say(e, MAP_MOST, fixed_tm_shape(b).queues - 1);
    fixed_tm_say(e, MAP_COUNT, 1);
    if (!fixed_list(m, &e->data[MAP_LIST], 1))
        return false;
    e->data[MAP_LIST].list[0] = qid;
    return true;
}

// ---- colours ----

static uint32_t queues_part(uint32_t whole, uint64_t eighth) {
    return (uint32_t)((uint64_t)whole * (eighth + 1) / TM_EIGHTHS);
}

// Which eighth of the whole it is; TM_EIGHTHS: none of them.
static uint64_t queues_eighth(uint32_t whole, uint32_t part) {
    uint64_t i = 0;
    while (i < TM_EIGHTHS && (!whole || queues_part(whole, i) != part))
        i++;
    return i;
}

static void queues_say_eighth(struct fixed_entry *e, size_t field, uint32_t whole, uint32_t part) {
    const uint64_t eighth = queues_eighth(whole, part);
    if (part && eighth < TM_EIGHTHS)
        fixed_tm_say(e, field, eighth);
}

bool fixed_tm_color_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct queues_of q;
    if (!queues_find(b, e, &q) || !queues_keep(m, &q, e))
        return false;
    const struct sk_queue_limits l = queues_limits(&q);
    fixed_tm_say(e, COLOR_ENABLE, l.yellow || l.red);
    queues_say_eighth(e, COLOR_YELLOW, l.green, l.yellow);
    queues_say_eighth(e, COLOR_RED, l.green, l.red);
    fixed_tm_say(e, COLOR_HYSTERESIS_YELLOW, 0);
    fixed_tm_say(e, COLOR_HYSTERESIS_RED, 0);
    return true;
}

static enum brt_code queues_check_color(const struct fixed_entry *e, struct queues_of *q,
                                        struct sk_error *err) {
    static const struct tm_constant zero[] = {{COLOR_HYSTERESIS_YELLOW, 0},
                                              {COLOR_HYSTERESIS_RED, 0}};
    const struct sk_queue_limits l = queues_limits(q);
    const enum brt_code code = fixed_tm_constants(e, fixed_tm_color, zero, QUEUES_SIZE(zero), err);
    for (size_t i = COLOR_YELLOW; code == BRT_OK && i <= COLOR_RED; i++) {
        const uint32_t now = i == COLOR_YELLOW ? l.yellow : l.red;
        if (!e->data[COLOR_ENABLE].number && e->data[i].given &&
            e->data[i].number != queues_eighth(l.green, now))
            return brt_fail(err, BRT_INVALID_ARG, "field '%s' needs drop_enable",
                            fixed_tm_color[i].name);
    }
    return code == BRT_OK && e->data[COLOR_ENABLE].number && !l.green
               ? brt_fail(err, BRT_INVALID_ARG,
                          "field 'drop_enable' needs a limit of the queue: pool_max_cells of "
                          "queue.buffer without a dynamic_baf")
               : code;
}

enum brt_code fixed_tm_color_set(struct brt *b, const struct fixed_entry *e, struct sk_error *err) {
    struct queues_of q;
    bool done;
    enum brt_code code = queues_begin(b, e, &q, &done, err);
    if (code || done)
        return code;
    code = queues_check_color(e, &q, err);
    if (code)
        return code;
    const struct fixed_value *d = e->data;
    struct sk_queue_limits l = queues_limits(&q);
    if (!d[COLOR_ENABLE].number)
        l.yellow = l.red = 0;
    else { // what was never said is the queue's limit
        l.yellow = d[COLOR_YELLOW].given ? queues_part(l.green, d[COLOR_YELLOW].number)
                   : l.yellow            ? l.yellow
                                         : l.green;
        l.red = d[COLOR_RED].given ? queues_part(l.green, d[COLOR_RED].number)
                : l.red            ? l.red
                                   : l.yellow;
    }
    if (d[COLOR_ENABLE].number && (!l.red || l.red > l.yellow))
        return brt_fail(err, BRT_INVALID_ARG,
                        "field 'drop_limit_red' is at least a cell and at most drop_limit_yellow");
    queues_own(&q)->own_limits = true;
    queues_own(&q)->limits = l;
    return queues_put(b, &q, err);
}

enum brt_code fixed_tm_color_reset(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    struct queues_of q;
    if (!queues_find(b, e, &q))
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no such queue");
    struct sk_queue_schedule *own = queues_own(&q);
    own->limits.yellow = own->limits.red = 0;
    own->own_limits = own->own_limits && own->limits.green;
    return queues_put(b, &q, err);
}

// ---- buffer ----

bool fixed_tm_buffer_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct queues_of q;
    if (!queues_find(b, e, &q) || !queues_keep(m, &q, e))
        return false;
    const struct sk_queue_limits l = queues_limits(&q);
    const struct sk_queue_buffer buffer = queues_buffer(&q);
    fixed_tm_say(e, BUFFER_CELLS, buffer.guaranteed);
    fixed_tm_say(e, BUFFER_HYSTERESIS, 0);
    fixed_tm_say(e, BUFFER_DROPS, true);
    e->action = buffer.pooled ? BUFFER_OF_POOL : BUFFER_ONLY;
    if (!buffer.pooled)
        return true;
    fixed_tm_say(e, BUFFER_POOL, buffer.pool);
    fixed_tm_say(e, BUFFER_FACTOR, buffer.share ? buffer.share - 1u : SK_SHARE_HIGHEST);
    if (buffer.share)
        fixed_tm_say(e, BUFFER_MOST, buffer.base);
    else if (l.green > buffer.guaranteed) // else the queue has no limit of its own
        fixed_tm_say(e, BUFFER_MOST, l.green - buffer.guaranteed);
    return true;
}

static enum brt_code queues_check_buffer(struct brt *b, const struct fixed_entry *e,
                                         struct sk_error *err) {
    static const struct tm_constant only[] = {{BUFFER_HYSTERESIS, 0}, {BUFFER_DROPS, true}};
    const enum brt_code code = fixed_tm_constants(e, fixed_tm_buffer, only, QUEUES_SIZE(only), err);
    if (code || e->action != BUFFER_OF_POOL)
        return code;
    const unsigned pool = (unsigned)e->data[BUFFER_POOL].number;
    struct sk_app_pool is;
    sk_switch_app_pool_get(brt_live(b), pool, &is);
    if (!is.cells)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "field 'pool_id': %s has no cells",
                        fixed_tm_egress_pools[pool]);
    const bool is_static =
        !e->data[BUFFER_FACTOR].given || e->data[BUFFER_FACTOR].number == SK_SHARE_HIGHEST;
    if (is_static && e->data[BUFFER_MOST].given && !e->data[BUFFER_MOST].number)
        return brt_fail(err, BRT_INVALID_ARG,
                        "field 'pool_max_cells' of 0 needs a dynamic_baf, or the action "
                        "buffer_only");
    return BRT_OK;
}

// The queue's limit: what it may have of the pool, behind what is guaranteed to it. 0: none.
static enum brt_code queues_limit(const struct fixed_entry *e, uint32_t *out,
                                  struct sk_error *err) {
    const struct fixed_value *d = e->data;
    uint64_t limit = d[BUFFER_CELLS].number;
    if (e->action == BUFFER_OF_POOL)
        limit = d[BUFFER_FACTOR].number == SK_SHARE_HIGHEST && d[BUFFER_MOST].given
                    ? limit + d[BUFFER_MOST].number
                    : 0;
    *out = (uint32_t)limit;
    return limit <= UINT32_MAX
               ? BRT_OK
               : brt_fail(err, BRT_INVALID_ARG,
                          "guaranteed_cells and pool_max_cells are at most %u together",
                          UINT32_MAX);
}

static uint32_t queues_scale(uint32_t limit, uint32_t from, uint32_t to) {
    const uint64_t eighth = queues_eighth(from, limit);
    if (!limit || eighth == TM_EIGHTHS)
        return limit;
    return queues_part(to, eighth) ? queues_part(to, eighth) : 1;
}

// Limits for colours are the same eighths of the new limit; others stay as they are.
static enum brt_code queues_scaled(struct sk_queue_limits *l, uint32_t green,
                                   struct sk_error *err) {
    if (!green && l->green && (l->yellow || l->red))
        return brt_fail(err, BRT_NOT_SUPPORTED,
                        "the limits of queue.color are parts of the queue's limit: clear "
                        "drop_enable before '%s'",
                        fixed_tm_buffer[BUFFER_FACTOR].name);
    l->yellow = queues_scale(l->yellow, l->green, green);
    l->red = queues_scale(l->red, l->green, green);
    l->green = green;
    return BRT_OK;
}

enum brt_code fixed_tm_buffer_set(struct brt *b, const struct fixed_entry *e,
                                  struct sk_error *err) {
    struct queues_of q;
    bool done;
    uint32_t green = 0;
    enum brt_code code = queues_begin(b, e, &q, &done, err);
    if (code || done)
        return code;
    struct fixed_value data[QUEUES_SIZE(fixed_tm_buffer)];
    memcpy(data, e->data, sizeof data);
    struct fixed_entry whole = *e;
    whole.data = data;
    if (!data[BUFFER_FACTOR].given)
        data[BUFFER_FACTOR].number = SK_SHARE_HIGHEST;
    code = queues_check_buffer(b, &whole, err);
    code = code ? code : queues_limit(&whole, &green, err);
    struct sk_queue_limits limits = queues_limits(&q);
    code = code ? code : queues_scaled(&limits, green, err);
    if (code)
        return code;
    struct sk_queue_schedule *own = queues_own(&q);
    const bool of_pool = e->action == BUFFER_OF_POOL,
               shares = of_pool && data[BUFFER_FACTOR].number < SK_SHARE_HIGHEST;
    own->limits = limits;
    own->own_limits = own->own_buffer = true;
    own->buffer =
        (struct sk_queue_buffer){.guaranteed = (uint32_t)data[BUFFER_CELLS].number,
                                 .pooled = of_pool,
                                 .pool = of_pool ? (uint8_t)data[BUFFER_POOL].number : 0,
                                 .share = shares ? (uint8_t)(data[BUFFER_FACTOR].number + 1) : 0,
                                 .base = shares ? (uint32_t)data[BUFFER_MOST].number : 0};
    return queues_put(b, &q, err);
}

// The port's again, with its limits, which the queue's colours were parts of.
enum brt_code fixed_tm_buffer_reset(struct brt *b, const struct fixed_entry *e,
                                    struct sk_error *err) {
    struct queues_of q;
    if (!queues_find(b, e, &q))
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no such queue");
    struct sk_queue_schedule *own = queues_own(&q);
    own->own_limits = own->own_buffer = false;
    own->limits = (struct sk_queue_limits){0};
    own->buffer = (struct sk_queue_buffer){0};
    return queues_put(b, &q, err);
}

// ---- schedule ----

bool fixed_tm_schedule_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct queues_of q;
    if (!queues_find(b, e, &q) || !queues_keep(m, &q, e))
        return false;
    const struct sk_queue_schedule *own = queues_own(&q);
    fixed_tm_say(e, SCHED_MIN_ENABLE, false);
    fixed_tm_say(e, SCHED_MIN_PRIORITY, own->priority + 1u);
    fixed_tm_say(e, SCHED_MAX_ENABLE, false);
    fixed_tm_say(e, SCHED_MAX_PRIORITY, own->priority + 1u);
    fixed_tm_say(e, SCHED_WEIGHT, own->weight ? own->weight : SK_WEIGHT_HIGHEST);
    fixed_tm_say(e, SCHED_ENABLE, true);
    if (sk_switch_is_tofino_2(brt_live(b)))
        fixed_tm_say(e, SCHED_FLOW_CONTROL, own->xoff);
    return true;
}

static uint8_t queues_priority(const struct fixed_value *v) {
    return v->number == 0 ? 0 : v->number > SK_PRIORITIES ? SK_PRIORITIES - 1 : v->number - 1;
}

// There is one priority: max_priority's. The other, which is for a rate that is guaranteed, may be
// the same, or what it was.
static enum brt_code queues_check_schedule(const struct fixed_entry *e,
                                           const struct sk_queue_schedule *now, bool tofino_2,
                                           struct sk_error *err) {
    static const struct tm_constant only[] = {
        {SCHED_MIN_ENABLE, false}, {SCHED_MAX_ENABLE, false}, {SCHED_ENABLE, true}};
    static const size_t absent[] = {SCHED_NODE};
    const uint8_t least = queues_priority(&e->data[SCHED_MIN_PRIORITY]);
    enum brt_code code = fixed_tm_constants(e, fixed_tm_schedule, only, QUEUES_SIZE(only), err);
    if (code == BRT_OK && tofino_2)
        code = fixed_tm_absent(e, fixed_tm_schedule_2, absent, 1, err);
    if (code)
        return code;
    if (least != now->priority && least != queues_priority(&e->data[SCHED_MAX_PRIORITY]))
        return brt_fail(err, BRT_NOT_SUPPORTED,
                        "field 'min_priority' cannot be another than max_priority");
    const uint64_t weight = e->data[SCHED_WEIGHT].number;
    return weight >= 1 && weight <= SK_WEIGHT_HIGHEST
               ? BRT_OK
               : brt_fail(err, BRT_INVALID_ARG, "field 'dwrr_weight' is 1 to %u",
                          SK_WEIGHT_HIGHEST);
}

enum brt_code fixed_tm_schedule_set(struct brt *b, const struct fixed_entry *e,
                                    struct sk_error *err) {
    struct queues_of q;
    bool done;
    const bool tofino_2 = sk_switch_is_tofino_2(brt_live(b));
    enum brt_code code = queues_begin(b, e, &q, &done, err);
    if (code || done)
        return code;
    struct sk_queue_schedule *own = queues_own(&q);
    code = queues_check_schedule(e, own, tofino_2, err);
    if (code)
        return code;
    own->priority = queues_priority(&e->data[SCHED_MAX_PRIORITY]);
    own->weight = (uint16_t)e->data[SCHED_WEIGHT].number;
    if (tofino_2 && own->xoff != (e->data[SCHED_FLOW_CONTROL].number != 0)) {
        own->xoff = !own->xoff;
        own->pg_queue = own->xoff ? SK_PG_QUEUE(q.port, q.qid) : 0;
    }
    return queues_put(b, &q, err);
}

enum brt_code fixed_tm_schedule_reset(struct brt *b, const struct fixed_entry *e,
                                      struct sk_error *err) {
    struct queues_of q;
    if (!queues_find(b, e, &q))
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no such queue");
    struct sk_queue_schedule *own = queues_own(&q);
    own->priority = 0;
    own->weight = 0;
    own->xoff = false;
    own->pg_queue = 0;
    return queues_put(b, &q, err);
}
