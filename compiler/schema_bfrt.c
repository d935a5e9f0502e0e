// SPDX-License-Identifier: Apache-2.0
//
// schema_bfrt: the BF Runtime schema (tna-facts 8.2, 8.3).
#include <string.h>

#include "compiler/json_out.h"
#include "compiler/schema_impl.h"

// Identifiers of the fields that BF Runtime itself gives, the same in every program.
enum {
    ID_MATCH_PRIORITY = 65537,
    ID_MEMBER = 65539,
    ID_GROUP = 65540,
    ID_ENTRY_TTL = 65543,
    ID_HIT_STATE = 65544,
    ID_METER_KBPS = 65545, // four: committed and peak rate, their bursts
    ID_METER_PPS = 65549,
    ID_COUNTER_BYTES = 65553,
    ID_COUNTER_PKTS = 65554,
    ID_METER_INDEX = 65555,
    ID_COUNTER_INDEX = 65556,
    ID_REGISTER_INDEX = 65557,
    ID_LPF_INDEX = 65560,
    ID_WRED_INDEX = 65561,
    ID_GET_MEMBER = 65562,
    ID_GET_GROUP = 65563,
    ID_MEMBER_STATUS = 65564,
    ID_MAX_GROUP_SIZE = 65565,
    ID_ADT_OFFSET = 65566,
    ID_LPF = 65567,  // four
    ID_WRED = 65571, // four
    ID_INGRESS_PORT = 65575,
    ID_DEFAULT_FIELD = 65576,
    ID_HASH_VALUE = 65583,
};
#define PORTS      288u        // entries of the port metadata table
#define ADT_OFFSET 0xdeadbeefu // what the chip's schema says before an offset is known

struct bfrt {
    struct json_out *j;
    struct arena *a;
    const struct ir_pipeline *p;
    struct schema_ids ids;
};

// ---- pieces -------------------------------------------------------------------------------------

static void type_bytes(struct bfrt *b, unsigned width) {
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "bytes");
    jout_u64(b->j, "width", width);
    jout_close(b->j, '}');
}

static void type_named(struct bfrt *b, const char *type, const uint64_t *dflt) {
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", type);
    if (dflt)
        jout_u64(b->j, "default_value", *dflt);
    jout_close(b->j, '}');
}

static void annotation(struct bfrt *b, const char *name, const char *value) {
    jout_open(b->j, "annotations", '[');
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name", name);
    if (value)
        jout_string(b->j, "value", value);
    jout_close(b->j, '}');
    jout_close(b->j, ']');
}

static void id_name(struct bfrt *b, uint32_t id, const char *name) {
    jout_u64(b->j, "id", id);
    jout_string(b->j, "name", name);
}

static void begin_plain(struct bfrt *b, enum schema_kind kind, const char *name, const char *type,
                        uint64_t size) {
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name", name);
    jout_u64(b->j, "id", schema_bfrt_id(&b->ids, kind, name));
    jout_string(b->j, "table_type", type);
    jout_u64(b->j, "size", size);
}

// What every field begins with, up to its type or what else it has.
static void field_head(struct bfrt *b, uint32_t id, const char *name, bool repeated) {
    id_name(b, id, name);
    jout_bool(b->j, "repeated", repeated);
    jout_empty(b->j, "annotations");
}

static void begin_table(struct bfrt *b, enum schema_kind kind, const char *name, const char *type,
                        uint64_t size) {
    begin_plain(b, kind, name, type, size);
    jout_empty(b->j, "annotations");
}

static void end_table(struct bfrt *b, const char *operation, const char *attribute) {
    jout_open(b->j, "supported_operations", '[');
    if (operation)
        jout_string(b->j, NULL, operation);
    jout_close(b->j, ']');
    jout_open(b->j, "attributes", '[');
    if (attribute)
        jout_string(b->j, NULL, attribute);
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}

static void one_key(struct bfrt *b, uint32_t id, const char *name, const char *type) {
    jout_open(b->j, NULL, '{');
    field_head(b, id, name, false);
    jout_bool(b->j, "mandatory", true);
    jout_string(b->j, "match_type", "Exact");
    type_named(b, type, NULL);
    jout_close(b->j, '}');
}

// A table that depends on none, with a key of one 32-bit index.
static void index_key(struct bfrt *b, uint32_t id, const char *name) {
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    one_key(b, id, name, "uint32");
    jout_close(b->j, ']');
}

static void begin_single(struct bfrt *b, bool mandatory) {
    jout_open(b->j, NULL, '{');
    jout_bool(b->j, "mandatory", mandatory);
    jout_bool(b->j, "read_only", false);
    jout_open(b->j, "singleton", '{');
}

static void end_single(struct bfrt *b) {
    jout_close(b->j, '}');
    jout_close(b->j, '}');
}

// A data field of a type that needs no width.
static void plain_field(struct bfrt *b, bool mandatory, uint32_t id, const char *name,
                        const char *type, const uint64_t *dflt) {
    begin_single(b, mandatory);
    field_head(b, id, name, false);
    type_named(b, type, dflt);
    end_single(b);
}

// ---- what entries and cells hold ----------------------------------------------------------------

static void counter_fields(struct bfrt *b, const struct ir_counter *c) {
    static const uint64_t zero = 0;
    if (c->type != IR_COUNT_PACKETS)
        plain_field(b, false, ID_COUNTER_BYTES, "$COUNTER_SPEC_BYTES", "uint64", &zero);
    if (c->type != IR_COUNT_BYTES)
        plain_field(b, false, ID_COUNTER_PKTS, "$COUNTER_SPEC_PKTS", "uint64", &zero);
}

static void register_fields(struct bfrt *b, const struct ir_register *r, uint32_t first_id) {
    const char *local = schema_local(b->p, r->name);
    for (unsigned w = 0; w < (r->wide ? 1 : r->words); w++) {
        begin_single(b, true);
        id_name(b, first_id + w, arena_printf(b->a, "%s.%s", local, r->word_names[w]));
        jout_bool(b->j, "repeated", false);
        annotation(b, "$bfrt_field_class", "register_data");
        type_bytes(b, r->wide ? 2 * r->width : r->width);
        end_single(b);
    }
}

// Four fields with neighbouring identifiers.
static void four_fields(struct bfrt *b, bool mandatory, uint32_t id, const char *const names[4],
                        const char *const types[4], const uint64_t *dflt) {
    for (uint32_t i = 0; i < 4; i++)
        plain_field(b, mandatory, id + i, names[i], types[i], dflt);
}

static void choice_field(struct bfrt *b, bool mandatory, uint32_t id, const char *name,
                         const char *one, const char *other) {
    begin_single(b, mandatory);
    field_head(b, id, name, false);
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "string");
    jout_open(b->j, "choices", '[');
    jout_string(b->j, NULL, one);
    jout_string(b->j, NULL, other);
    jout_close(b->j, ']');
    jout_close(b->j, '}');
    end_single(b);
}

static void meter_fields(struct bfrt *b, const struct ir_meter *m) {
    static const uint64_t most = UINT64_MAX;
    static const char *const u64[] = {"uint64", "uint64", "uint64", "uint64"};
    static const char *const kbps[] = {"$METER_SPEC_CIR_KBPS", "$METER_SPEC_PIR_KBPS",
                                       "$METER_SPEC_CBS_KBITS", "$METER_SPEC_PBS_KBITS"};
    static const char *const pps[] = {"$METER_SPEC_CIR_PPS", "$METER_SPEC_PIR_PPS",
                                      "$METER_SPEC_CBS_PKTS", "$METER_SPEC_PBS_PKTS"};
    static const char *const wred[] = {"$WRED_SPEC_TIME_CONSTANT_NS", "$WRED_SPEC_MIN_THRESH_CELLS",
                                       "$WRED_SPEC_MAX_THRESH_CELLS", "$WRED_SPEC_MAX_PROBABILITY"};
    static const char *const wred_types[] = {"float", "uint32", "uint32", "float"};
    switch (m->kind) {
    case IR_METER:
        four_fields(b, false, m->bytes ? ID_METER_KBPS : ID_METER_PPS, m->bytes ? kbps : pps, u64,
                    &most);
        return;
    case IR_WRED:
        four_fields(b, true, ID_WRED, wred, wred_types, NULL);
        return;
    case IR_LPF:
        break;
    }
    choice_field(b, true, ID_LPF, "$LPF_SPEC_TYPE", "RATE", "SAMPLE");
    plain_field(b, true, ID_LPF + 1, "$LPF_SPEC_GAIN_TIME_CONSTANT_NS", "float", NULL);
    plain_field(b, true, ID_LPF + 2, "$LPF_SPEC_DECAY_TIME_CONSTANT_NS", "float", NULL);
    plain_field(b, true, ID_LPF + 3, "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR", "uint32", NULL);
}

static void ageing_fields(struct bfrt *b) {
    static const uint64_t zero = 0;
    choice_field(b, false, ID_HIT_STATE, "$ENTRY_HIT_STATE", "ENTRY_IDLE", "ENTRY_ACTIVE");
    plain_field(b, false, ID_ENTRY_TTL, "$ENTRY_TTL", "uint32", &zero);
}

// ---- match tables -------------------------------------------------------------------------------

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

static void key_field(struct bfrt *b, uint32_t id, const struct ir_key *k) {
    size_t n = strlen(k->name);
    jout_open(b->j, NULL, '{');
    id_name(b, id, k->name);
    jout_bool(b->j, "repeated", false);
    if (n && k->name[n - 1] == ']' && strchr(k->name, ':'))
        annotation(b, "isFieldSlice", "true");
    else
        jout_empty(b->j, "annotations");
    jout_bool(b->j, "mandatory", false);
    jout_string(b->j, "match_type", match_name(k->match));
    type_bytes(b, k->expr->width);
    jout_close(b->j, '}');
}

static void table_key(struct bfrt *b, const struct ir_table *t) {
    bool priority = false;
    jout_open(b->j, "key", '[');
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_key *k = &t->keys.v[i];
        key_field(b, (uint32_t)i + 1, k);
        priority = priority || k->match == IR_MATCH_TERNARY || k->match == IR_MATCH_RANGE;
    }
    if (priority) {
        jout_open(b->j, NULL, '{');
        field_head(b, ID_MATCH_PRIORITY, "$MATCH_PRIORITY", false);
        jout_bool(b->j, "mandatory", false);
        jout_string(b->j, "match_type", "Exact");
        type_named(b, "uint32", NULL);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
}

static void action_spec(struct bfrt *b, const struct ir_table_action *ta) {
    const struct ir_action *act = ta->action;
    const char *name = schema_local(b->p, act->name);
    jout_open(b->j, NULL, '{');
    id_name(b, schema_bfrt_id(&b->ids, SCHEMA_ACTION, name), name);
    jout_string(b->j, "action_scope",
                ta->default_only ? "DefaultOnly"
                : ta->table_only ? "TableOnly"
                                 : "TableAndDefault");
    if (ta->default_only || ta->table_only)
        annotation(b, ta->default_only ? "@defaultonly" : "@tableonly", NULL);
    else
        jout_empty(b->j, "annotations");
    jout_open(b->j, "data", '[');
    for (size_t i = 0; i < act->params.n; i++) {
        jout_open(b->j, NULL, '{');
        id_name(b, (uint32_t)i + 1, act->params.v[i].name);
        jout_bool(b->j, "repeated", false);
        jout_bool(b->j, "mandatory", true);
        jout_bool(b->j, "read_only", false);
        jout_empty(b->j, "annotations");
        type_bytes(b, act->params.v[i].var->width);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}

static void action_specs(struct bfrt *b, const struct ir_table_action *actions, size_t n) {
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
        plain_field(b, true, ID_MEMBER, "$ACTION_MEMBER_ID", "uint32", NULL);
        return;
    }
    jout_open(b->j, NULL, '{');
    jout_bool(b->j, "mandatory", true);
    jout_bool(b->j, "read_only", false);
    jout_open(b->j, "oneof", '[');
    for (size_t i = 0; i < 2; i++) {
        jout_open(b->j, NULL, '{');
        field_head(b, names[i].id, names[i].name, false);
        type_named(b, "uint32", NULL);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}

static void profile_of(struct bfrt *b, const struct ir_table *t) {
    jout_open(b->j, "depends_on", '[');
    if (t->selector)
        jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_SELECTOR, t->selector->name));
    if (t->profile)
        jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_PROFILE, t->profile->name));
    jout_close(b->j, ']');
}

static void match_table(struct bfrt *b, const struct ir_table *t) {
    const char *type = t->selector  ? "MatchAction_Indirect_Selector"
                       : t->profile ? "MatchAction_Indirect"
                                    : "MatchAction_Direct";
    begin_plain(b, SCHEMA_TABLE, t->name, type, schema_table_size(t));
    jout_open(b->j, "annotations", '[');
    for (size_t i = 0; i < t->annotations.n; i++) {
        jout_open(b->j, NULL, '{');
        jout_string(b->j, "name", t->annotations.v[i]);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    profile_of(b, t);
    jout_bool(b->j, "has_const_default_action", t->const_default);
    table_key(b, t);
    if (!t->profile)
        action_specs(b, t->actions.v, t->actions.n);
    jout_open(b->j, "data", '[');
    if (t->profile)
        member_or_group(b, t);
    for (size_t i = 0; i < t->direct_counters.n; i++)
        counter_fields(b, t->direct_counters.v[i]);
    for (size_t i = 0; i < t->direct_registers.n; i++)
        register_fields(b, t->direct_registers.v[i], 1);
    if (t->direct_meter)
        meter_fields(b, t->direct_meter);
    if (t->idle_timeout)
        ageing_fields(b);
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

// ---- indexed objects ----------------------------------------------------------------------------

static void counter_table(struct bfrt *b, const struct ir_counter *c) {
    begin_table(b, SCHEMA_COUNTER, c->name, "Counter", c->size);
    index_key(b, ID_COUNTER_INDEX, "$COUNTER_INDEX");
    jout_open(b->j, "data", '[');
    counter_fields(b, c);
    jout_close(b->j, ']');
    end_table(b, "Sync", NULL);
}

static void register_table(struct bfrt *b, const struct ir_register *r) {
    begin_table(b, SCHEMA_REGISTER, r->name, "Register", r->size);
    index_key(b, ID_REGISTER_INDEX, "$REGISTER_INDEX");
    jout_open(b->j, "data", '[');
    register_fields(b, r, 1);
    jout_close(b->j, ']');
    end_table(b, "Sync", NULL);
}

static void meter_table(struct bfrt *b, const struct ir_meter *m) {
    static const struct {
        enum schema_kind kind;
        const char *type, *index;
        uint32_t id;
    } kinds[] = {
        [IR_METER] = {SCHEMA_METER, "Meter", "$METER_INDEX", ID_METER_INDEX},
        [IR_LPF] = {SCHEMA_LPF, "Lpf", "$LPF_INDEX", ID_LPF_INDEX},
        [IR_WRED] = {SCHEMA_WRED, "Wred", "$WRED_INDEX", ID_WRED_INDEX},
    };
    begin_table(b, kinds[m->kind].kind, m->name, kinds[m->kind].type, m->size);
    index_key(b, kinds[m->kind].id, kinds[m->kind].index);
    jout_open(b->j, "data", '[');
    meter_fields(b, m);
    jout_close(b->j, ']');
    end_table(b, NULL, m->kind == IR_METER && m->bytes ? "MeterByteCountAdjust" : NULL);
}

// ---- action profiles ----------------------------------------------------------------------------

static void profile_table(struct bfrt *b, const struct ir_action_profile *p) {
    begin_table(b, SCHEMA_PROFILE, p->name, "Action", p->size);
    index_key(b, ID_MEMBER, "$ACTION_MEMBER_ID");
    action_specs(b, p->actions.v, p->actions.n);
    jout_empty(b->j, "data");
    end_table(b, NULL, NULL);
}

static void list_field(struct bfrt *b, uint32_t id, const char *name, const char *type) {
    begin_single(b, false);
    field_head(b, id, name, true);
    type_named(b, type, NULL);
    end_single(b);
}

static void get_member_table(struct bfrt *b, const struct ir_selector *s) {
    uint32_t base = schema_base(&b->ids, SCHEMA_SELECTOR, s->name);
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name", arena_printf(b->a, "%s_get_member", s->name));
    jout_u64(b->j, "id", schema_bfrt_id(&b->ids, SCHEMA_GET_MEMBER, NULL) | base);
    jout_string(b->j, "table_type", "SelectorGetMember");
    jout_u64(b->j, "size", 1);
    jout_empty(b->j, "annotations");
    jout_open(b->j, "depends_on", '[');
    jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_SELECTOR, s->name));
    jout_close(b->j, ']');
    jout_open(b->j, "key", '[');
    one_key(b, ID_GET_GROUP, "$SELECTOR_GROUP_ID", "uint64");
    one_key(b, ID_HASH_VALUE, "hash_value", "uint64");
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    plain_field(b, false, ID_GET_MEMBER, "$ACTION_MEMBER_ID", "uint64", NULL);
    jout_close(b->j, ']');
    end_table(b, NULL, NULL);
}

static void selector_table(struct bfrt *b, const struct ir_selector *s) {
    static const uint64_t offset = ADT_OFFSET;
    begin_table(b, SCHEMA_SELECTOR, s->name, "Selector", s->n_groups);
    jout_open(b->j, "depends_on", '[');
    jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_PROFILE, s->profile->name));
    jout_close(b->j, ']');
    jout_open(b->j, "key", '[');
    one_key(b, ID_GROUP, "$SELECTOR_GROUP_ID", "uint32");
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    list_field(b, ID_MEMBER, "$ACTION_MEMBER_ID", "uint32");
    list_field(b, ID_MEMBER_STATUS, "$ACTION_MEMBER_STATUS", "bool");
    plain_field(b, false, ID_MAX_GROUP_SIZE, "$MAX_GROUP_SIZE", "uint32", &s->max_group_size);
    plain_field(b, false, ID_ADT_OFFSET, "$ADT_OFFSET", "uint32", &offset);
    jout_close(b->j, ']');
    end_table(b, NULL, NULL);
    get_member_table(b, s);
}

// ---- registers' parameters ----------------------------------------------------------------------

// A parameter is a table without key; it goes with the register whose actions read it.
static void register_param(struct bfrt *b, const struct ir_reg_param *r) {
    begin_table(b, SCHEMA_REGISTER_PARAM, r->name, "RegisterParam", 1);
    jout_open(b->j, "depends_on", '[');
    if (r->reg)
        jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_REGISTER, r->reg->name));
    jout_close(b->j, ']');
    jout_empty(b->j, "key");
    jout_open(b->j, "data", '[');
    begin_single(b, true);
    field_head(b, 1, "value", false);
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "bytes");
    jout_u64(b->j, "width", r->width);
    jout_u64(b->j, "default_value", r->initial ? big_to_u64(r->initial) : 0);
    jout_close(b->j, '}');
    end_single(b);
    jout_close(b->j, ']');
    end_table(b, NULL, NULL);
}

// ---- parsers ------------------------------------------------------------------------------------

static void value_set(struct bfrt *b, const struct ir_value_set *v) {
    begin_table(b, SCHEMA_VALUE_SET, v->name, "ParserValueSet", v->size);
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    for (size_t i = 0; i < v->widths.n; i++) {
        jout_open(b->j, NULL, '{');
        field_head(b, (uint32_t)i + 1, v->names.v[i], false);
        jout_bool(b->j, "mandatory", false);
        jout_string(b->j, "match_type", "Ternary");
        type_bytes(b, v->widths.v[i]);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_empty(b->j, "data");
    end_table(b, NULL, "EntryScope");
}

// ---- digests ------------------------------------------------------------------------------------

static const struct ir_header *intrinsic_header(const struct ir_gress *g) {
    for (size_t i = 0; i < g->headers.n; i++)
        if (g->headers.v[i]->intrinsic)
            return g->headers.v[i];
    return NULL;
}

// Named after the parser, the key after what the program calls the intrinsic metadata.
static void port_metadata(struct bfrt *b, const struct ir_gress *g, unsigned bits) {
    const struct ir_header *md = intrinsic_header(g);
    const char *state = g->states.n ? g->states.v[0]->name : "";
    const char *dot = strchr(state, '.');
    if (!md || !dot)
        return;
    const char *name =
        arena_printf(b->a, "%s.%.*s.$PORT_METADATA", b->p->name, (int)(dot - state), state);
    begin_table(b, SCHEMA_PORT_METADATA, name, "PortMetadata", PORTS);
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    jout_open(b->j, NULL, '{');
    field_head(b, ID_INGRESS_PORT, arena_printf(b->a, "%s.ingress_port", md->name), false);
    jout_bool(b->j, "mandatory", true);
    jout_string(b->j, "match_type", "Exact");
    type_bytes(b, 9);
    jout_close(b->j, '}');
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    for (size_t i = 0; i < g->port_fields.n; i++) {
        begin_single(b, true);
        field_head(b, (uint32_t)i + 1, g->port_fields.v[i].name, false);
        type_bytes(b, g->port_fields.v[i].width);
        end_single(b);
    }
    if (g->port_fields.n == 0) {
        begin_single(b, false);
        field_head(b, ID_DEFAULT_FIELD, "$DEFAULT_FIELD", false);
        type_bytes(b, bits);
        end_single(b);
    }
    jout_close(b->j, ']');
    end_table(b, NULL, NULL);
}

static void learn_filter(struct bfrt *b, const struct ir_digest *d) {
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name", d->name);
    jout_u64(b->j, "id", schema_bfrt_id(&b->ids, SCHEMA_DIGEST, d->name));
    jout_empty(b->j, "annotations");
    jout_open(b->j, "fields", '[');
    for (size_t i = 0; i < d->fields.n; i++) {
        jout_open(b->j, NULL, '{');
        field_head(b, (uint32_t)i + 1, d->fields.v[i].name, false);
        type_bytes(b, d->fields.v[i].width);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}

// ---- all of them --------------------------------------------------------------------------------

static void gress_tables(struct bfrt *b, const struct ir_gress *g) {
    for (size_t i = 0; i < g->tables.n; i++)
        if (!g->tables.v[i]->hidden)
            match_table(b, g->tables.v[i]);
    for (size_t i = 0; i < g->profiles.n; i++)
        profile_table(b, g->profiles.v[i]);
    for (size_t i = 0; i < g->selectors.n; i++)
        selector_table(b, g->selectors.v[i]);
    for (size_t i = 0; i < g->meters.n; i++)
        if (!g->meters.v[i]->direct)
            meter_table(b, g->meters.v[i]);
    for (size_t i = 0; i < g->counters.n; i++)
        if (!g->counters.v[i]->direct)
            counter_table(b, g->counters.v[i]);
    for (size_t i = 0; i < g->registers.n; i++)
        if (!g->registers.v[i]->direct && !g->registers.v[i]->implied)
            register_table(b, g->registers.v[i]);
    for (size_t i = 0; i < g->reg_params.n; i++)
        register_param(b, g->reg_params.v[i]);
    for (size_t i = 0; i < g->value_sets.n; i++)
        value_set(b, g->value_sets.v[i]);
    for (size_t i = 0; i < g->hashes.n; i++)
        schema_bfrt_hash(b->j, b->a, &b->ids, g->hashes.v[i]);
}

void schema_bfrt(FILE *f, struct arena *a, const struct ir_program *p) {
    struct json_out j = {.out = f};
    struct bfrt b = {.j = &j, .a = a, .ids = {.a = a}};
    jout_open(&j, NULL, '{');
    jout_string(&j, "schema_version", "1.0.0");
    jout_open(&j, "tables", '[');
    for (size_t i = 0; i < p->pipelines.n; i++) {
        b.p = p->pipelines.v[i];
        gress_tables(&b, &b.p->gress[IR_INGRESS]);
        gress_tables(&b, &b.p->gress[IR_EGRESS]);
        port_metadata(&b, &b.p->gress[IR_INGRESS], 8 * (p->ingress_prefix - 8));
    }
    jout_close(&j, ']');
    jout_open(&j, "learn_filters", '[');
    for (size_t i = 0; i < p->pipelines.n; i++)
        for (size_t k = 0; k < p->pipelines.v[i]->gress[IR_INGRESS].digests.n; k++)
            learn_filter(&b, p->pipelines.v[i]->gress[IR_INGRESS].digests.v[k]);
    jout_close(&j, ']');
    jout_close(&j, '}');
}
