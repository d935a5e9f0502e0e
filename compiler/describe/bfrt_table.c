// SPDX-License-Identifier: Apache-2.0
//
// bfrt_table: match tables in the BF Runtime schema: keys, actions, what hangs on entries.
#include "compiler/describe/bfrt_impl.h"

#include <string.h>

static const char *match_name(enum ir_match m) {
    switch (m) {
    case IR_MATCH_EXACT:
        return "Exact";
    case IR_MATCH_TERNARY:
        return "Ternary";
    case IR_MATCH_LPM:
        return "LPM";
    case IR_MATCH_RANGE:
        break;
    }
    return "Range";
}

static void bfrt_table_key_field(struct bfrt *b, uint32_t id, const struct ir_key *k) {
    size_t n = strlen(k->name);
    jout_open(b->j, NULL, '{');
    bfrt_id_name(b, id, k->name);
    jout_bool(b->j, "repeated", false);
    if (n && k->name[n - 1] == ']' && strchr(k->name, ':'))
        bfrt_annotation(b, "isFieldSlice", "true");
    else
        jout_empty(b->j, "annotations");
    jout_bool(b->j, "mandatory", false);
    jout_string(b->j, "match_type", match_name(k->match));
    bfrt_type_bytes(b, k->expr->width);
    jout_close(b->j, '}');
}

static void bfrt_table_key(struct bfrt *b, const struct ir_table *t) {
    bool priority = false;
    jout_open(b->j, "key", '[');
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_key *k = &t->keys.v[i];
        bfrt_table_key_field(b, (uint32_t)i + 1, k);
        priority = priority || k->match == IR_MATCH_TERNARY || k->match == IR_MATCH_RANGE;
    }
    if (priority) {
        jout_open(b->j, NULL, '{');
        bfrt_field_head(b, ID_MATCH_PRIORITY, "$MATCH_PRIORITY", false);
        jout_bool(b->j, "mandatory", false);
        jout_string(b->j, "match_type", "Exact");
        bfrt_type_named(b, "uint32", NULL);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
}

static void action_spec(struct bfrt *b, const struct ir_table_action *ta) {
    const struct ir_action *act = ta->action;
    const char *name = schema_local(b->p, act->name);
    jout_open(b->j, NULL, '{');
    bfrt_id_name(b, schema_bfrt_id(&b->ids, SCHEMA_ACTION, name), name);
    jout_string(b->j, "action_scope",
                ta->default_only ? "DefaultOnly"
                : ta->table_only ? "TableOnly"
                                 : "TableAndDefault");
    if (ta->default_only || ta->table_only)
        bfrt_annotation(b, ta->default_only ? "@defaultonly" : "@tableonly", NULL);
    else
        jout_empty(b->j, "annotations");
    jout_open(b->j, "data", '[');
    for (size_t i = 0; i < act->params.n; i++) {
        jout_open(b->j, NULL, '{');
        bfrt_id_name(b, (uint32_t)i + 1, act->params.v[i].name);
        jout_bool(b->j, "repeated", false);
        jout_bool(b->j, "mandatory", true);
        jout_bool(b->j, "read_only", false);
        jout_empty(b->j, "annotations");
        bfrt_type_bytes(b, act->params.v[i].var->width);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}

void bfrt_action_specs(struct bfrt *b, const struct ir_table_action *actions, size_t n) {
    jout_open(b->j, "action_specs", '[');
    for (size_t i = 0; i < n; i++)
        action_spec(b, &actions[i]);
    jout_close(b->j, ']');
}

// An entry of a table with an action profile names a member, or a group of members.
static void member_or_group(struct bfrt *b, const struct ir_table *t) {
    static const struct {
        uint32_t id;
        const char *name;
    } names[] = {{ID_MEMBER, "$ACTION_MEMBER_ID"}, {ID_GROUP, "$SELECTOR_GROUP_ID"}};
    if (!t->selector) {
        bfrt_plain_field(b, true, ID_MEMBER, "$ACTION_MEMBER_ID", "uint32", NULL);
        return;
    }
    jout_open(b->j, NULL, '{');
    jout_bool(b->j, "mandatory", true);
    jout_bool(b->j, "read_only", false);
    jout_open(b->j, "oneof", '[');
    for (size_t i = 0; i < 2; i++) {
        jout_open(b->j, NULL, '{');
        bfrt_field_head(b, names[i].id, names[i].name, false);
        bfrt_type_named(b, "uint32", NULL);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}

static void bfrt_table_profile_of(struct bfrt *b, const struct ir_table *t) {
    jout_open(b->j, "depends_on", '[');
    if (t->selector)
        jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_SELECTOR, t->selector->name));
    if (t->profile)
        jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_PROFILE, t->profile->name));
    jout_close(b->j, ']');
}

// Their ids follow those of the parameters, so that no two fields of an entry have the same.
static void bfrt_direct_register_fields(struct bfrt *b, const struct ir_table *t) {
    size_t params = 0;
    for (size_t i = 0; !t->profile && i < t->actions.n; i++)
        if (t->actions.v[i].action->params.n > params)
            params = t->actions.v[i].action->params.n;
    for (size_t i = 0; i < t->direct_registers.n; i++)
        bfrt_register_fields(b, t->direct_registers.v[i], (uint32_t)params + 1);
}

void bfrt_match_table(struct bfrt *b, const struct ir_table *t) {
    const char *type = t->selector  ? "MatchAction_Indirect_Selector"
                       : t->profile ? "MatchAction_Indirect"
                                    : "MatchAction_Direct";
    bfrt_begin_plain(b, SCHEMA_TABLE, t->name, type, schema_table_size(t));
    jout_open(b->j, "annotations", '[');
    for (size_t i = 0; i < t->annotations.n; i++) {
        jout_open(b->j, NULL, '{');
        jout_string(b->j, "name", t->annotations.v[i]);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    bfrt_table_profile_of(b, t);
    jout_bool(b->j, "has_const_default_action", t->const_default);
    bfrt_table_key(b, t);
    if (!t->profile)
        bfrt_action_specs(b, t->actions.v, t->actions.n);
    jout_open(b->j, "data", '[');
    if (t->profile)
        member_or_group(b, t);
    for (size_t i = 0; i < t->direct_counters.n; i++)
        bfrt_counter_fields(b, t->direct_counters.v[i]);
    bfrt_direct_register_fields(b, t);
    if (t->direct_meter)
        bfrt_meter_fields(b, t->direct_meter);
    if (t->idle_timeout)
        bfrt_ageing_fields(b);
    jout_close(b->j, ']');
    jout_open(b->j, "supported_operations", '[');
    if (t->direct_counters.n)
        jout_string(b->j, NULL, "SyncCounters");
    if (t->direct_registers.n)
        jout_string(b->j, NULL, "SyncRegisters");
    if (t->idle_timeout)
        jout_string(b->j, NULL, "UpdateHitState");
    jout_close(b->j, ']');
    jout_open(b->j, "attributes", '[');
    if (t->direct_meter && t->direct_meter->kind == IR_METER && t->direct_meter->bytes)
        jout_string(b->j, NULL, "MeterByteCountAdjust");
    jout_string(b->j, NULL, "EntryScope");
    if (t->key_masks)
        jout_string(b->j, NULL, "DynamicKeyMask");
    if (t->idle_timeout)
        jout_string(b->j, NULL, "IdleTimeout");
    if (t->const_entries)
        jout_string(b->j, NULL, "ConstTable");
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}
