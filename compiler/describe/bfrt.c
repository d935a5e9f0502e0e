// SPDX-License-Identifier: Apache-2.0
//
// bfrt: the BF Runtime schema (tna-facts 8.2, 8.3).
#include <string.h>

#include "compiler/describe/bfrt_impl.h"

// ---- pieces -------------------------------------------------------------------------------------

void bfrt_type_bytes(struct bfrt *b, unsigned width) {
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "bytes");
    jout_u64(b->j, "width", width);
    jout_close(b->j, '}');
}

void bfrt_type_named(struct bfrt *b, const char *type, const uint64_t *dflt) {
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", type);
    if (dflt)
        jout_u64(b->j, "default_value", *dflt);
    jout_close(b->j, '}');
}

void bfrt_annotation(struct bfrt *b, const char *name, const char *value) {
    jout_open(b->j, "annotations", '[');
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name", name);
    if (value)
        jout_string(b->j, "value", value);
    jout_close(b->j, '}');
    jout_close(b->j, ']');
}

void bfrt_id_name(struct bfrt *b, uint32_t id, const char *name) {
    jout_u64(b->j, "id", id);
    jout_string(b->j, "name", name);
}

void bfrt_begin_plain(struct bfrt *b, enum schema_kind kind, const char *name, const char *type,
                      uint64_t size) {
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name", name);
    jout_u64(b->j, "id", schema_bfrt_id(&b->ids, kind, name));
    jout_string(b->j, "table_type", type);
    jout_u64(b->j, "size", size);
}

// What every field begins with, up to its type or what else it has.
void bfrt_field_head(struct bfrt *b, uint32_t id, const char *name, bool repeated) {
    bfrt_id_name(b, id, name);
    jout_bool(b->j, "repeated", repeated);
    jout_empty(b->j, "annotations");
}

void bfrt_begin_table(struct bfrt *b, enum schema_kind kind, const char *name, const char *type,
                      uint64_t size) {
    bfrt_begin_plain(b, kind, name, type, size);
    jout_empty(b->j, "annotations");
}

void bfrt_end_table(struct bfrt *b, const char *operation, const char *attribute) {
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

void bfrt_one_key(struct bfrt *b, uint32_t id, const char *name, const char *type) {
    jout_open(b->j, NULL, '{');
    bfrt_field_head(b, id, name, false);
    jout_bool(b->j, "mandatory", true);
    jout_string(b->j, "match_type", "Exact");
    bfrt_type_named(b, type, NULL);
    jout_close(b->j, '}');
}

// A table that depends on none, with a key of one 32-bit index.
static void bfrt_index_key(struct bfrt *b, uint32_t id, const char *name) {
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    bfrt_one_key(b, id, name, "uint32");
    jout_close(b->j, ']');
}

void bfrt_begin_single(struct bfrt *b, bool mandatory, bool read_only) {
    jout_open(b->j, NULL, '{');
    jout_bool(b->j, "mandatory", mandatory);
    jout_bool(b->j, "read_only", read_only);
    jout_open(b->j, "singleton", '{');
}

void bfrt_end_single(struct bfrt *b) {
    jout_close(b->j, '}');
    jout_close(b->j, '}');
}

// A data field of a type that needs no width.
void bfrt_plain_field(struct bfrt *b, bool mandatory, uint32_t id, const char *name,
                      const char *type, const uint64_t *dflt) {
    bfrt_begin_single(b, mandatory, false);
    bfrt_field_head(b, id, name, false);
    bfrt_type_named(b, type, dflt);
    bfrt_end_single(b);
}

// ---- what entries and cells hold ----------------------------------------------------------------

void bfrt_counter_fields(struct bfrt *b, const struct ir_counter *c) {
    static const uint64_t zero = 0;
    if (c->type != IR_COUNT_PACKETS)
        bfrt_plain_field(b, false, ID_COUNTER_BYTES, "$COUNTER_SPEC_BYTES", "uint64", &zero);
    if (c->type != IR_COUNT_BYTES)
        bfrt_plain_field(b, false, ID_COUNTER_PKTS, "$COUNTER_SPEC_PKTS", "uint64", &zero);
}

void bfrt_register_fields(struct bfrt *b, const struct ir_register *r, uint32_t first_id) {
    const char *local = schema_local(b->p, r->name);
    for (unsigned w = 0; w < (r->wide ? 1 : r->words); w++) {
        bfrt_begin_single(b, true, false);
        bfrt_id_name(b, first_id + w, arena_printf(b->a, "%s.%s", local, r->word_names[w]));
        jout_bool(b->j, "repeated", false);
        bfrt_annotation(b, "$bfrt_field_class", "register_data");
        bfrt_type_bytes(b, r->wide ? 2 * r->width : r->width);
        bfrt_end_single(b);
    }
}

// Four fields with neighbouring identifiers.
static void four_fields(struct bfrt *b, bool mandatory, uint32_t id, const char *const names[4],
                        const char *const types[4], const uint64_t *dflt) {
    for (uint32_t i = 0; i < 4; i++)
        bfrt_plain_field(b, mandatory, id + i, names[i], types[i], dflt);
}

static void choice_field(struct bfrt *b, bool mandatory, uint32_t id, const char *name,
                         const char *one, const char *other) {
    bfrt_begin_single(b, mandatory, false);
    bfrt_field_head(b, id, name, false);
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "string");
    jout_open(b->j, "choices", '[');
    jout_string(b->j, NULL, one);
    jout_string(b->j, NULL, other);
    jout_close(b->j, ']');
    jout_close(b->j, '}');
    bfrt_end_single(b);
}

void bfrt_meter_fields(struct bfrt *b, const struct ir_meter *m) {
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
    bfrt_plain_field(b, true, ID_LPF + 1, "$LPF_SPEC_GAIN_TIME_CONSTANT_NS", "float", NULL);
    bfrt_plain_field(b, true, ID_LPF + 2, "$LPF_SPEC_DECAY_TIME_CONSTANT_NS", "float", NULL);
    bfrt_plain_field(b, true, ID_LPF + 3, "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR", "uint32", NULL);
}

void bfrt_ageing_fields(struct bfrt *b) {
    static const uint64_t zero = 0;
    choice_field(b, false, ID_HIT_STATE, "$ENTRY_HIT_STATE", "ENTRY_IDLE", "ENTRY_ACTIVE");
    bfrt_plain_field(b, false, ID_ENTRY_TTL, "$ENTRY_TTL", "uint32", &zero);
}

// ---- indexed objects ----------------------------------------------------------------------------

static void counter_table(struct bfrt *b, const struct ir_counter *c) {
    bfrt_begin_table(b, SCHEMA_COUNTER, c->name, "Counter", c->size);
    bfrt_index_key(b, ID_COUNTER_INDEX, "$COUNTER_INDEX");
    jout_open(b->j, "data", '[');
    bfrt_counter_fields(b, c);
    jout_close(b->j, ']');
    bfrt_end_table(b, "Sync", NULL);
}

static void register_table(struct bfrt *b, const struct ir_register *r) {
    bfrt_begin_table(b, SCHEMA_REGISTER, r->name, "Register", r->size);
    bfrt_index_key(b, ID_REGISTER_INDEX, "$REGISTER_INDEX");
    jout_open(b->j, "data", '[');
    bfrt_register_fields(b, r, 1);
    jout_close(b->j, ']');
    bfrt_end_table(b, "Sync", NULL);
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
    bfrt_begin_table(b, kinds[m->kind].kind, m->name, kinds[m->kind].type, m->size);
    bfrt_index_key(b, kinds[m->kind].id, kinds[m->kind].index);
    jout_open(b->j, "data", '[');
    bfrt_meter_fields(b, m);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, m->kind == IR_METER && m->bytes ? "MeterByteCountAdjust" : NULL);
}

// ---- action profiles ----------------------------------------------------------------------------

static void profile_table(struct bfrt *b, const struct ir_action_profile *p) {
    bfrt_begin_table(b, SCHEMA_PROFILE, p->name, "Action", p->size);
    bfrt_index_key(b, ID_MEMBER, "$ACTION_MEMBER_ID");
    bfrt_action_specs(b, p->actions.v, p->actions.n);
    jout_empty(b->j, "data");
    bfrt_end_table(b, NULL, NULL);
}

static void list_field(struct bfrt *b, uint32_t id, const char *name, const char *type) {
    bfrt_begin_single(b, false, false);
    bfrt_field_head(b, id, name, true);
    bfrt_type_named(b, type, NULL);
    bfrt_end_single(b);
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
    bfrt_one_key(b, ID_GET_GROUP, "$SELECTOR_GROUP_ID", "uint64");
    bfrt_one_key(b, ID_HASH_VALUE, "hash_value", "uint64");
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    bfrt_plain_field(b, false, ID_GET_MEMBER, "$ACTION_MEMBER_ID", "uint64", NULL);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
}

static void selector_table(struct bfrt *b, const struct ir_selector *s) {
    static const uint64_t offset = ADT_OFFSET;
    bfrt_begin_table(b, SCHEMA_SELECTOR, s->name, "Selector", s->n_groups);
    jout_open(b->j, "depends_on", '[');
    jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_PROFILE, s->profile->name));
    jout_close(b->j, ']');
    jout_open(b->j, "key", '[');
    bfrt_one_key(b, ID_GROUP, "$SELECTOR_GROUP_ID", "uint32");
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    list_field(b, ID_MEMBER, "$ACTION_MEMBER_ID", "uint32");
    list_field(b, ID_MEMBER_STATUS, "$ACTION_MEMBER_STATUS", "bool");
    bfrt_plain_field(b, false, ID_MAX_GROUP_SIZE, "$MAX_GROUP_SIZE", "uint32", &s->max_group_size);
    bfrt_plain_field(b, false, ID_ADT_OFFSET, "$ADT_OFFSET", "uint32", &offset);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
    get_member_table(b, s);
}

// ---- registers' parameters ----------------------------------------------------------------------

// A parameter is a table without key; it goes with the register whose actions read it.
static void register_param(struct bfrt *b, const struct ir_reg_param *r) {
    bfrt_begin_table(b, SCHEMA_REGISTER_PARAM, r->name, "RegisterParam", 1);
    jout_open(b->j, "depends_on", '[');
    if (r->reg)
        jout_u64(b->j, NULL, schema_bfrt_id(&b->ids, SCHEMA_REGISTER, r->reg->name));
    jout_close(b->j, ']');
    jout_empty(b->j, "key");
    jout_open(b->j, "data", '[');
    bfrt_begin_single(b, true, false);
    bfrt_field_head(b, 1, "value", false);
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "bytes");
    jout_u64(b->j, "width", r->width);
    jout_u64(b->j, "default_value", r->initial ? big_to_u64(r->initial) : 0);
    jout_close(b->j, '}');
    bfrt_end_single(b);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
}

// ---- parsers ------------------------------------------------------------------------------------

static void bfrt_value_set(struct bfrt *b, const struct ir_value_set *v) {
    bfrt_begin_table(b, SCHEMA_VALUE_SET, v->name, "ParserValueSet", v->size);
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    for (size_t i = 0; i < v->widths.n; i++) {
        jout_open(b->j, NULL, '{');
        bfrt_field_head(b, (uint32_t)i + 1, v->names.v[i], false);
        jout_bool(b->j, "mandatory", false);
        jout_string(b->j, "match_type", "Ternary");
        bfrt_type_bytes(b, v->widths.v[i]);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_empty(b->j, "data");
    bfrt_end_table(b, NULL, "EntryScope");
}

// ---- digests ------------------------------------------------------------------------------------

static const struct ir_header *intrinsic_header(const struct ir_gress *g) {
    for (size_t i = 0; i < g->headers.n; i++)
        if (g->headers.v[i]->intrinsic)
            return g->headers.v[i];
    return NULL;
}

// Named after the parser, the key after what the program calls the intrinsic metadata.
static void bfrt_port_metadata(struct bfrt *b, const struct ir_gress *g, unsigned bits) {
    const struct ir_header *md = intrinsic_header(g);
    const char *state = g->states.n ? g->states.v[0]->name : "";
    const char *dot = strchr(state, '.');
    if (!md || !dot)
        return;
    const char *name =
        arena_printf(b->a, "%s.%.*s.$PORT_METADATA", b->p->name, (int)(dot - state), state);
    bfrt_begin_table(b, SCHEMA_PORT_METADATA, name, "PortMetadata", PORTS);
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    jout_open(b->j, NULL, '{');
    bfrt_field_head(b, ID_INGRESS_PORT, arena_printf(b->a, "%s.ingress_port", md->name), false);
    jout_bool(b->j, "mandatory", true);
    jout_string(b->j, "match_type", "Exact");
    bfrt_type_bytes(b, 9);
    jout_close(b->j, '}');
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    for (size_t i = 0; i < g->port_fields.n; i++) {
        bfrt_begin_single(b, true, false);
        bfrt_field_head(b, (uint32_t)i + 1, g->port_fields.v[i].name, false);
        bfrt_type_bytes(b, g->port_fields.v[i].width);
        bfrt_end_single(b);
    }
    if (g->port_fields.n == 0) {
        bfrt_begin_single(b, false, false);
        bfrt_field_head(b, ID_DEFAULT_FIELD, "$DEFAULT_FIELD", false);
        bfrt_type_bytes(b, bits);
        bfrt_end_single(b);
    }
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
}

static void learn_filter(struct bfrt *b, const struct ir_digest *d) {
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name", d->name);
    jout_u64(b->j, "id", schema_bfrt_id(&b->ids, SCHEMA_DIGEST, d->name));
    jout_empty(b->j, "annotations");
    jout_open(b->j, "fields", '[');
    for (size_t i = 0; i < d->fields.n; i++) {
        jout_open(b->j, NULL, '{');
        bfrt_field_head(b, (uint32_t)i + 1, d->fields.v[i].name, false);
        bfrt_type_bytes(b, d->fields.v[i].width);
        jout_close(b->j, '}');
    }
    jout_close(b->j, ']');
    jout_close(b->j, '}');
}

// ---- all of them --------------------------------------------------------------------------------

static void gress_tables(struct bfrt *b, const struct ir_gress *g) {
    for (size_t i = 0; i < g->tables.n; i++)
        if (!g->tables.v[i]->hidden)
            bfrt_match_table(b, g->tables.v[i]);
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
        bfrt_value_set(b, g->value_sets.v[i]);
    for (size_t i = 0; i < g->hashes.n; i++)
        schema_bfrt_hash(b->j, b->a, &b->ids, g->hashes.v[i]);
}

void schema_bfrt(FILE *f, struct arena *a, const struct ir_program *p,
                 const struct schema_stages *stages) {
    struct json_out j = {.out = f};
    struct bfrt b = {
        .j = &j, .a = a, .ids = {.a = a}, .first = p->pipelines.n ? p->pipelines.v[0] : NULL};
    jout_open(&j, NULL, '{');
    jout_string(&j, "schema_version", "1.0.0");
    jout_open(&j, "tables", '[');
    for (size_t i = 0; i < p->pipelines.n; i++) {
        b.p = p->pipelines.v[i];
        gress_tables(&b, &b.p->gress[IR_INGRESS]);
        gress_tables(&b, &b.p->gress[IR_EGRESS]);
        if (stages)
            bfrt_snapshots(&b, &stages[2 * i]);
        bfrt_port_metadata(&b, &b.p->gress[IR_INGRESS], 8 * (p->ingress_prefix - 8));
    }
    jout_close(&j, ']');
    jout_open(&j, "learn_filters", '[');
    for (size_t i = 0; i < p->pipelines.n; i++)
        for (size_t k = 0; k < p->pipelines.v[i]->gress[IR_INGRESS].digests.n; k++)
            learn_filter(&b, p->pipelines.v[i]->gress[IR_INGRESS].digests.v[k]);
    jout_close(&j, ']');
    jout_open(&j, "silken_stages", '{');
    for (size_t i = 0; stages && i < p->pipelines.n; i++) {
        b.p = p->pipelines.v[i];
        bfrt_snapshot_stages(&b, &stages[2 * i]);
    }
    jout_close(&j, '}');
    jout_close(&j, '}');
}
