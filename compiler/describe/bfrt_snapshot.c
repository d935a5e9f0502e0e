// SPDX-License-Identifier: Apache-2.0
//
// bfrt_snapshot: snapshots in the BF Runtime schema (tna-facts 8.3): what a packet's headers and
// tables are at a range of stages once a packet comes that has what the trigger says. Fields have
// one number in both gresses. Those of metadata are left out: the switch cannot tell them.
#include "compiler/describe/bfrt_impl.h"

#include <string.h>

static const char *const snapshot_gresses[] = {"ingress", "egress"};

// ---- pieces ----

static void snapshot_field(struct bfrt *b, bool read_only, uint32_t id, const char *name,
                           const char *type, bool repeated) {
    bfrt_begin_single(b, false, read_only);
    bfrt_field_head(b, id, name, repeated);
    bfrt_type_named(b, type, NULL);
    bfrt_end_single(b);
}

static void snapshot_choices(struct bfrt *b, bool mandatory, bool read_only, uint32_t id,
                             const char *name, bool repeated, const char *const *choices,
                             const char *dflt) {
    bfrt_begin_single(b, mandatory, read_only);
    bfrt_field_head(b, id, name, repeated);
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "string");
    jout_open(b->j, "choices", '[');
    for (size_t i = 0; choices[i]; i++)
        jout_string(b->j, NULL, choices[i]);
    jout_close(b->j, ']');
    if (dflt)
        jout_string(b->j, "default_value", dflt);
    jout_close(b->j, '}');
    bfrt_end_single(b);
}

static void snapshot_flag(struct bfrt *b, bool read_only, uint32_t id, const char *name) {
    bfrt_begin_single(b, false, read_only);
    bfrt_field_head(b, id, name, false);
    jout_open(b->j, "type", '{');
    jout_string(b->j, "type", "bool");
    jout_bool(b->j, "default_value", false);
    jout_close(b->j, '}');
    bfrt_end_single(b);
}

static void snapshot_stage_key(struct bfrt *b, uint32_t id, const char *name, bool mandatory,
                               uint64_t dflt) {
    jout_open(b->j, NULL, '{');
    bfrt_field_head(b, id, name, false);
    jout_bool(b->j, "mandatory", mandatory);
    jout_string(b->j, "match_type", "Exact");
    bfrt_type_named(b, "uint32", &dflt);
    jout_close(b->j, '}');
}

// ---- fields of headers ----

struct snapshot_names {
    VEC(const char *) names; // a field's number is its place, from 1
};

static uint32_t snapshot_id(struct bfrt *b, struct snapshot_names *n, const char *name) {
    for (size_t i = 0; i < n->names.n; i++)
        if (strcmp(n->names.v[i], name) == 0)
            return (uint32_t)i + 1;
    VEC_PUSH(b->a, &n->names, name);
    return (uint32_t)n->names.n;
}

static void bfrt_snapshot_field(struct bfrt *b, struct snapshot_names *n, bool trigger,
                                const char *name, unsigned width) {
    const uint32_t id = snapshot_id(b, n, name);
    bfrt_begin_single(b, false, !trigger);
    bfrt_field_head(b, id, trigger ? arena_printf(b->a, "trig.%s", name) : name, false);
    bfrt_type_bytes(b, width);
    bfrt_end_single(b);
    if (!trigger)
        return;
    bfrt_begin_single(b, false, false);
    bfrt_field_head(b, id + SNAPSHOT_MASK, arena_printf(b->a, "trig.%s_mask", name), false);
    bfrt_type_bytes(b, width);
    bfrt_end_single(b);
}

static void bfrt_snapshot_fields(struct bfrt *b, struct snapshot_names *n, const struct ir_gress *g,
                                 bool trigger) {
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct ir_header *h = g->headers.v[i];
        if (!h->intrinsic)
            bfrt_snapshot_field(b, n, trigger, arena_printf(b->a, "%s.$valid", h->name), 1);
        for (size_t k = 0; k < h->fields.n; k++)
            bfrt_snapshot_field(b, n, trigger, h->fields.v[k]->name, h->fields.v[k]->width);
    }
}

// ---- the tables ----

// What a table's number is made of: the control's name. Pipelines after the first may share theirs.
static const char *snapshot_control(struct bfrt *b, unsigned gress) {
    const struct ir_gress *g = &b->p->gress[gress];
    const char *name = g->tables.n ? schema_local(b->p, g->tables.v[0]->name) : "";
    const char *dot = strchr(name, '.');
    return dot && b->p == b->first
               ? arena_printf(b->a, "%.*s", (int)(dot - name), name)
               : arena_printf(b->a, "%s.%s", b->p->name, snapshot_gresses[gress]);
}

static void snapshot_begin(struct bfrt *b, enum schema_kind kind, unsigned gress, const char *what,
                           const char *type, uint64_t size) {
    const char *control = snapshot_control(b, gress);
    jout_open(b->j, NULL, '{');
    jout_string(b->j, "name",
                kind == SCHEMA_SNAPSHOT ? arena_printf(b->a, "%s.snapshot.%s", b->p->name, what)
                                        : arena_printf(b->a, "%s.snapshot.%s_%s", b->p->name,
                                                       snapshot_gresses[gress], what));
    jout_u64(b->j, "id", schema_bfrt_id(&b->ids, kind, control));
    jout_string(b->j, "table_type", type);
    jout_u64(b->j, "size", size);
    jout_empty(b->j, "annotations");
}

static void snapshot_cfg(struct bfrt *b, uint64_t stages) {
    static const char *const modes[] = {"INGRESS", "GHOST", "INGRESS_GHOST", "ANY", NULL},
                             *const threads[] = {"INGRESS", "EGRESS", "ALL", NULL},
                             *const captures[] = {"ingress_capture", "egress_capture",
                                                  "ghost_capture"};
    snapshot_begin(b, SCHEMA_SNAPSHOT, IR_EGRESS, "cfg", "SnapshotCfg", stages);
    jout_open(b->j, "depends_on", '[');
    for (unsigned g = 0; g < 2; g++)
        jout_u64(b->j, NULL,
                 schema_bfrt_id(&b->ids, SCHEMA_SNAPSHOT_TRIGGER, snapshot_control(b, g)));
    jout_close(b->j, ']');
    jout_open(b->j, "key", '[');
    snapshot_stage_key(b, ID_SNAPSHOT_STAGE, "start_stage", false, 0);
    snapshot_stage_key(b, ID_SNAPSHOT_STAGE + 1, "end_stage", false, stages - 1);
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    snapshot_flag(b, false, ID_SNAPSHOT_TIMER_ENABLE, "timer_enable");
    snapshot_field(b, false, ID_SNAPSHOT_TIMER_USECS, "timer_value_usecs", "uint32", false);
    snapshot_choices(b, false, false, ID_SNAPSHOT_MODE, "ingress_trigger_mode", false, modes,
                     modes[0]);
    snapshot_choices(b, true, false, ID_SNAPSHOT_THREAD, "thread", false, threads, NULL);
    for (uint32_t i = 0; i < 3; i++)
        snapshot_field(b, true, ID_SNAPSHOT_CAPTURES + i, captures[i], "uint32", true);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
}

static void snapshot_trigger(struct bfrt *b, struct snapshot_names *n, unsigned gress,
                             uint64_t stages) {
    static const char *const states[] = {"PASSIVE", "ARMED", "FULL", NULL};
    snapshot_begin(b, SCHEMA_SNAPSHOT_TRIGGER, gress, "trigger", "SnapshotTrigger", stages);
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    snapshot_stage_key(b, ID_SNAPSHOT_STAGE, "stage", true, 0);
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    snapshot_flag(b, false, ID_SNAPSHOT_ENABLE, "enable");
    snapshot_choices(b, false, true, ID_SNAPSHOT_STATE, "trigger_state", true, states, NULL);
    bfrt_snapshot_fields(b, n, &b->p->gress[gress], true);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
}

static void snapshot_table_info(struct bfrt *b) {
    bfrt_begin_single(b, false, true);
    bfrt_field_head(b, ID_SNAPSHOT_TABLES, "table_info", true);
    jout_open(b->j, "container", '[');
    snapshot_field(b, true, ID_SNAPSHOT_TABLE, "table_name", "string", false);
    snapshot_field(b, true, ID_SNAPSHOT_HANDLE, "match_hit_handle", "uint32", false);
    snapshot_field(b, true, ID_SNAPSHOT_HIT, "table_hit", "bool", false);
    snapshot_field(b, true, ID_SNAPSHOT_INHIBITED, "table_inhibited", "bool", false);
    snapshot_field(b, true, ID_SNAPSHOT_EXECUTED, "table_executed", "bool", false);
    jout_close(b->j, ']');
    bfrt_end_single(b);
}

static void bfrt_snapshot_data(struct bfrt *b, struct snapshot_names *n, unsigned gress,
                               uint64_t stages) {
    snapshot_begin(b, SCHEMA_SNAPSHOT_DATA, gress, "data", "SnapshotData", stages);
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    snapshot_stage_key(b, ID_SNAPSHOT_STAGE, "stage", true, 0);
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    snapshot_flag(b, true, ID_SNAPSHOT_BEFORE, "prev_stage_trigger");
    snapshot_flag(b, true, ID_SNAPSHOT_TIMER_TRIGGER, "timer_trigger");
    snapshot_flag(b, true, ID_SNAPSHOT_HERE, "local_stage_trigger");
    snapshot_field(b, true, ID_SNAPSHOT_NEXT, "next_table_name", "string", false);
    snapshot_table_info(b);
    bfrt_snapshot_fields(b, n, &b->p->gress[gress], false);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
}

static void snapshot_liveness(struct bfrt *b, unsigned gress) {
    snapshot_begin(b, SCHEMA_SNAPSHOT_LIVENESS, gress, "liveness", "SnapshotLiveness", 0);
    jout_empty(b->j, "depends_on");
    jout_open(b->j, "key", '[');
    bfrt_one_key(b, ID_SNAPSHOT_FIELD, "field_name", "string");
    jout_close(b->j, ']');
    jout_open(b->j, "data", '[');
    snapshot_field(b, true, ID_SNAPSHOT_STAGES, "valid_stages", "uint32", true);
    jout_close(b->j, ']');
    bfrt_end_table(b, NULL, NULL);
}

void bfrt_snapshots(struct bfrt *b, const struct schema_stages *stages) {
    struct snapshot_names names = {.names = {.n = 0}};
    snapshot_cfg(b, stages->stages);
    for (unsigned g = 0; g < 2; g++) {
        snapshot_trigger(b, &names, g, stages->stages);
        bfrt_snapshot_data(b, &names, g, stages->stages);
        snapshot_liveness(b, g);
    }
}

// ---- for the switch itself ----

void bfrt_snapshot_stages(struct bfrt *b, const struct schema_stages *stages) {
    jout_open(b->j, b->p->name, '{');
    for (unsigned g = 0; g < 2; g++) {
        const struct schema_stages *s = &stages[g];
        jout_open(b->j, snapshot_gresses[g], '{');
        jout_open(b->j, "tables", '[');
        for (size_t i = 0; i < s->tables.n; i++) {
            jout_open(b->j, NULL, '{');
            jout_string(b->j, "name", s->tables.v[i].name);
            jout_u64(b->j, "first", s->tables.v[i].first);
            jout_u64(b->j, "last", s->tables.v[i].last);
            jout_close(b->j, '}');
        }
        jout_close(b->j, ']');
        jout_open(b->j, "fields", '[');
        for (size_t i = 0; i < s->fields.n; i++) {
            jout_open(b->j, NULL, '{');
            jout_string(b->j, "name", s->fields.v[i].name);
            if (s->fields.v[i].live) {
                jout_u64(b->j, "first", s->fields.v[i].first);
                jout_u64(b->j, "last", s->fields.v[i].last);
            }
            if (s->fields.v[i].written != UINT_MAX)
                jout_u64(b->j, "written", s->fields.v[i].written);
            jout_close(b->j, '}');
        }
        jout_close(b->j, ']');
        jout_close(b->j, '}');
    }
    jout_close(b->j, '}');
}
