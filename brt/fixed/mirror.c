// SPDX-License-Identifier: Apache-2.0
//
// $mirror.cfg: mirror sessions (tna-facts 5.5). A session that is there but not enabled makes no
// copies; which are there is kept here, since the switch knows only what is enabled.
#include <string.h>

#include "brt/fixed/fixed.h"

// The data of both chips; a Tofino has no MIRROR_PRIORITY to MIRROR_EPIPE.
enum {
    MIRROR_ENABLE,
    MIRROR_DIRECTION,
    MIRROR_PORT,
    MIRROR_PORT_VALID,
    MIRROR_QUEUE,
    MIRROR_COS,
    MIRROR_COLOR,
    MIRROR_HASH1,
    MIRROR_HASH2,
    MIRROR_A,
    MIRROR_A_VALID,
    MIRROR_B,
    MIRROR_B_VALID,
    MIRROR_XID1,
    MIRROR_XID2,
    MIRROR_RID,
    MIRROR_CPU_COS,
    MIRROR_CPU,
    MIRROR_LENGTH,
    MIRROR_COMMON,
    MIRROR_PRIORITY = MIRROR_COMMON,
    MIRROR_HASH_CFG,
    MIRROR_HASH_CFG_P,
    MIRROR_ICOS_CFG,
    MIRROR_DOD_CFG,
    MIRROR_C2C_CFG,
    MIRROR_MC_CFG,
    MIRROR_EPIPE_CFG,
};

static const char *const mirror_directions[] = {"INGRESS", "EGRESS", "BOTH", NULL};
static const char *const mirror_colors[] = {"GREEN", "YELLOW", "RED", NULL};

static const struct fixed_field mirror_key[] = {
    {FIXED_FIELD(1, "$sid", UINT, 16), .mandatory = true}};

// 'first' is the id of $direction; the ids of the others follow it.
#define MIRROR_FIELDS(enable, first)                                                               \
    [MIRROR_ENABLE] = {FIXED_FIELD(enable, "$session_enable", BOOL, 0)},                           \
    [MIRROR_DIRECTION] = {FIXED_FIELD(first, "$direction", STRING, 0),                             \
                          .choices = mirror_directions},                                           \
    [MIRROR_PORT] = {FIXED_FIELD(first + 1, "$ucast_egress_port", UINT, 32)},                      \
    [MIRROR_PORT_VALID] = {FIXED_FIELD(first + 2, "$ucast_egress_port_valid", BOOL, 0)},           \
    [MIRROR_QUEUE] = {FIXED_FIELD(first + 3, "$egress_port_queue", UINT, 32)},                     \
    [MIRROR_COS] = {FIXED_FIELD(first + 4, "$ingress_cos", UINT, 32)},                             \
    [MIRROR_COLOR] = {FIXED_FIELD(first + 5, "$packet_color", STRING, 0),                          \
                      .choices = mirror_colors},                                                   \
    [MIRROR_HASH1] = {FIXED_FIELD(first + 6, "$level1_mcast_hash", UINT, 32)},                     \
    [MIRROR_HASH2] = {FIXED_FIELD(first + 7, "$level2_mcast_hash", UINT, 32)},                     \
    [MIRROR_A] = {FIXED_FIELD(first + 8, "$mcast_grp_a", UINT, 16)},                               \
    [MIRROR_A_VALID] = {FIXED_FIELD(first + 9, "$mcast_grp_a_valid", BOOL, 0)},                    \
    [MIRROR_B] = {FIXED_FIELD(first + 10, "$mcast_grp_b", UINT, 16)},                              \
    [MIRROR_B_VALID] = {FIXED_FIELD(first + 11, "$mcast_grp_b_valid", BOOL, 0)},                   \
    [MIRROR_XID1] = {FIXED_FIELD(first + 12, "$mcast_l1_xid", UINT, 16)},                          \
    [MIRROR_XID2] = {FIXED_FIELD(first + 13, "$mcast_l2_xid", UINT, 16)},                          \
    [MIRROR_RID] = {FIXED_FIELD(first + 14, "$mcast_rid", UINT, 16)},                              \
    [MIRROR_CPU_COS] = {FIXED_FIELD(first + 15, "$icos_for_copy_to_cpu", UINT, 32)},               \
    [MIRROR_CPU] = {FIXED_FIELD(first + 16, "$copy_to_cpu", BOOL, 0)},                             \
    [MIRROR_LENGTH] = {FIXED_FIELD(first + 17, "$max_pkt_len", UINT, 16)}

static const struct fixed_field mirror_data[] = {MIRROR_FIELDS(5, 6)};
static const struct fixed_field mirror_data_2[] = {
    MIRROR_FIELDS(6, 15),
    [MIRROR_PRIORITY] = {FIXED_FIELD(7, "$session_priority", BOOL, 0)},
    [MIRROR_HASH_CFG] = {FIXED_FIELD(8, "$hash_cfg_flag", BOOL, 0)},
    [MIRROR_HASH_CFG_P] = {FIXED_FIELD(9, "$hash_cfg_flag_p", BOOL, 0)},
    [MIRROR_ICOS_CFG] = {FIXED_FIELD(10, "$icos_cfg_flag", BOOL, 0)},
    [MIRROR_DOD_CFG] = {FIXED_FIELD(11, "$dod_cfg_flag", BOOL, 0)},
    [MIRROR_C2C_CFG] = {FIXED_FIELD(12, "$c2c_cfg_flag", BOOL, 0)},
    [MIRROR_MC_CFG] = {FIXED_FIELD(13, "$mc_cfg_flag", BOOL, 0)},
    [MIRROR_EPIPE_CFG] = {FIXED_FIELD(14, "$epipe_cfg_flag", BOOL, 0)},
};
static const struct fixed_field mirror_coalescing[] = {
    {FIXED_FIELD(1, "$internal_header", BYTES, 128)},
    {FIXED_FIELD(2, "$internal_header_length", UINT, 32)},
    {FIXED_FIELD(3, "$timeout_usec", UINT, 32)},
    {FIXED_FIELD(4, "$extract_len", UINT, 32)},
    {FIXED_FIELD(5, "$session_coal_mode", BOOL, 0)}, // of a Tofino 2
};
#define MIRROR_SIZE(a) (sizeof(a) / sizeof *(a))

// ---- the session ----

static uint64_t mirror_is_there(const struct brt *b, uint64_t session) {
    return b->now.mirrors[session / 64] >> (session % 64) & 1;
}

static void mirror_note(struct brt *b, uint64_t session, bool there) {
    const uint64_t bit = UINT64_C(1) << (session % 64);
    b->now.mirrors[session / 64] =
        there ? b->now.mirrors[session / 64] | bit : b->now.mirrors[session / 64] & ~bit;
}

static size_t mirror_last(const struct brt *b) {
    return sk_switch_is_tofino_2(b->now.sw) ? 255 : SK_MIRROR_LAST;
}

static bool mirror_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const struct sk_mirror_session *s = sk_mirror_get(b->now.sw, (uint16_t)e->key[0]);
    (void)m;
    if (!s || !(s->enabled || mirror_is_there(b, e->key[0])))
        return false;
    const uint64_t numbers[] = {
        [MIRROR_ENABLE] = s->enabled,
        [MIRROR_DIRECTION] = s->direction ? s->direction - 1u : 0,
        [MIRROR_PORT] = s->ucast_port,
        [MIRROR_PORT_VALID] = s->ucast_valid,
        [MIRROR_QUEUE] = s->qid,
        [MIRROR_COS] = s->cos,
        [MIRROR_COLOR] = s->color == 0   ? 0
                         : s->color == 3 ? 2
                                         : 1,
        [MIRROR_HASH1] = s->level1_mcast_hash,
        [MIRROR_HASH2] = s->level2_mcast_hash,
        [MIRROR_A] = s->mcast_grp_a,
        [MIRROR_A_VALID] = s->mcast_a_valid,
        [MIRROR_B] = s->mcast_grp_b,
        [MIRROR_B_VALID] = s->mcast_b_valid,
        [MIRROR_XID1] = s->level1_exclusion_id,
        [MIRROR_XID2] = s->level2_exclusion_id,
        [MIRROR_RID] = s->rid,
        [MIRROR_CPU_COS] = s->icos_for_copy_to_cpu,
        [MIRROR_CPU] = s->copy_to_cpu,
        [MIRROR_LENGTH] = s->max_pkt_len,
        [MIRROR_PRIORITY] = false,
        [MIRROR_HASH_CFG] = s->hash_cfg,
        [MIRROR_HASH_CFG_P] = s->hash_cfg_p,
        [MIRROR_ICOS_CFG] = s->icos_cfg,
        [MIRROR_DOD_CFG] = s->dod_cfg,
        [MIRROR_C2C_CFG] = false,
        [MIRROR_MC_CFG] = s->mc_cfg,
        [MIRROR_EPIPE_CFG] = s->epipe_cfg,
    };
    const size_t n = sk_switch_is_tofino_2(b->now.sw) ? MIRROR_SIZE(numbers) : MIRROR_COMMON;
    for (size_t i = 0; i < n; i++)
        e->data[i] = (struct fixed_value){.given = true, .number = numbers[i]};
    return true;
}

// What the session's fields cannot hold.
static enum brt_code mirror_check(const struct fixed_entry *e, bool tofino_2,
                                  struct sk_error *err) {
    static const struct {
        size_t field;
        uint64_t most;
    } limits[] = {{MIRROR_PORT, SK_PORTS - 1}, {MIRROR_QUEUE, 127},  {MIRROR_COS, 7},
                  {MIRROR_HASH1, 8191},        {MIRROR_HASH2, 8191}, {MIRROR_CPU_COS, 7},
                  {MIRROR_XID2, 287}};
    for (size_t i = 0; i < MIRROR_SIZE(limits); i++)
        if (e->data[limits[i].field].number > limits[i].most)
            return brt_fail(err, BRT_INVALID_ARG, "field '%s' is at most %llu",
                            mirror_data[limits[i].field].name, (unsigned long long)limits[i].most);
    if (tofino_2 && (e->data[MIRROR_PRIORITY].number || e->data[MIRROR_C2C_CFG].number))
        return brt_fail(
            err, BRT_NOT_SUPPORTED, "field '%s' cannot be set",
            mirror_data_2[e->data[MIRROR_PRIORITY].number ? MIRROR_PRIORITY : MIRROR_C2C_CFG].name);
    return BRT_OK;
}

static enum brt_code mirror_set(struct brt *b, const struct fixed_entry *e, struct sk_error *err) {
    static const uint8_t colors[] = {0, 1, 3};
    const struct fixed_value *d = e->data;
    const bool tofino_2 = sk_switch_is_tofino_2(b->now.sw);
    const enum brt_code code = mirror_check(e, tofino_2, err);
    if (code)
        return code;
    if (e->key[0] < 1 || e->key[0] > mirror_last(b))
        return brt_fail(err, BRT_INVALID_ARG, "mirror sessions are 1 to %zu", mirror_last(b));
    struct sk_mirror_session s = {
        .enabled = d[MIRROR_ENABLE].number != 0,
        .direction = (uint8_t)(d[MIRROR_DIRECTION].number + 1),
        .ucast_port = (uint16_t)d[MIRROR_PORT].number,
        .ucast_valid = d[MIRROR_PORT_VALID].number != 0,
        .qid = (uint8_t)d[MIRROR_QUEUE].number,
        .cos = (uint8_t)d[MIRROR_COS].number,
        .color = colors[d[MIRROR_COLOR].number],
        .level1_mcast_hash = (uint16_t)d[MIRROR_HASH1].number,
        .level2_mcast_hash = (uint16_t)d[MIRROR_HASH2].number,
        .mcast_grp_a = (uint16_t)d[MIRROR_A].number,
        .mcast_a_valid = d[MIRROR_A_VALID].number != 0,
        .mcast_grp_b = (uint16_t)d[MIRROR_B].number,
        .mcast_b_valid = d[MIRROR_B_VALID].number != 0,
        .level1_exclusion_id = (uint16_t)d[MIRROR_XID1].number,
        .level2_exclusion_id = (uint16_t)d[MIRROR_XID2].number,
        .rid = (uint16_t)d[MIRROR_RID].number,
        .icos_for_copy_to_cpu = (uint8_t)d[MIRROR_CPU_COS].number,
        .copy_to_cpu = d[MIRROR_CPU].number != 0,
        .max_pkt_len = (uint16_t)d[MIRROR_LENGTH].number,
    };
    if (tofino_2) {
        s.hash_cfg = d[MIRROR_HASH_CFG].number != 0;
        s.hash_cfg_p = d[MIRROR_HASH_CFG_P].number != 0;
        s.icos_cfg = d[MIRROR_ICOS_CFG].number != 0;
        s.dod_cfg = d[MIRROR_DOD_CFG].number != 0;
        s.mc_cfg = d[MIRROR_MC_CFG].number != 0;
        s.epipe_cfg = d[MIRROR_EPIPE_CFG].number != 0;
    }
    if (sk_mirror_set(b->now.sw, (uint16_t)e->key[0], &s))
        return brt_fail(err, BRT_INVALID_ARG, "the port or queue of the mirror session is missing");
    mirror_note(b, e->key[0], true);
    return BRT_OK;
}

static enum brt_code mirror_remove(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err) {
    (void)err;
    sk_mirror_set(b->now.sw, (uint16_t)e->key[0], &(struct sk_mirror_session){.enabled = false});
    mirror_note(b, e->key[0], false);
    return BRT_OK;
}

static struct fixed_entry *mirror_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, (SK_MIRROR_LAST + 1) * sizeof *keys);
    *n = 0;
    for (uint16_t i = 1; keys && i <= SK_MIRROR_LAST; i++)
        if (mirror_is_there(b, i) || sk_mirror_get(b->now.sw, i)->enabled)
            keys[(*n)++].key[0] = i;
    return keys;
}

const struct fixed_table *fixed_mirror(bool tofino_2, size_t *n) {
    static const struct fixed_action actions[][2] = {
        {{1, "$coalescing", false, mirror_coalescing, 4}, {2, "$normal", true, NULL, 0}},
        {{1, "$coalescing", false, mirror_coalescing, 5}, {2, "$normal", true, NULL, 0}},
    };
#define MIRROR_TABLE(entries, its_data, its_actions)                                               \
    {                                                                                              \
        .id = 0xff040001, .name = "$mirror.cfg", .type = "MirrorCfg", .size = entries,             \
        .keys = mirror_key, .n_keys = MIRROR_SIZE(mirror_key), .data = its_data,                   \
        .n_data = MIRROR_SIZE(its_data), .actions = its_actions, .n_actions = 2,                   \
        .functions = {mirror_get, mirror_set, mirror_remove, mirror_keys},                         \
    }
    static const struct fixed_table tables[] = {MIRROR_TABLE(1024, mirror_data, actions[0]),
                                                MIRROR_TABLE(256, mirror_data_2, actions[1])};
#undef MIRROR_TABLE
    *n = 1;
    return &tables[tofino_2];
}
