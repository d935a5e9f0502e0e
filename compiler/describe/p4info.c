// SPDX-License-Identifier: Apache-2.0
//
// p4info: P4Info as protobuf text (P4Runtime specification 1.4, section 6). Objects that
// P4Runtime has no message for are in the BF Runtime schema only.
#include <inttypes.h>
#include <string.h>

#include "compiler/describe/schema_impl.h"

struct p4info {
    FILE *out;
    struct arena *a;
    const struct ir_pipeline *p;
    struct schema_ids ids;
    unsigned depth;
    VEC(const char *) actions, types;                // written so far
    VEC(const struct ir_translation *) translations; // met so far, each name once
};

static void p4info_indent(struct p4info *w) {
    for (unsigned i = 0; i < w->depth; i++)
        fputs("  ", w->out);
}

static void open_message(struct p4info *w, const char *name) {
    p4info_indent(w);
    fprintf(w->out, "%s {\n", name);
    w->depth++;
}

static void close_message(struct p4info *w) {
    w->depth--;
    p4info_indent(w);
    fputs("}\n", w->out);
}

static void p4info_number(struct p4info *w, const char *key, uint64_t v) {
    p4info_indent(w);
    fprintf(w->out, "%s: %" PRIu64 "\n", key, v);
}

static void p4info_word(struct p4info *w, const char *key, const char *v) {
    p4info_indent(w);
    fprintf(w->out, "%s: %s\n", key, v);
}

// Bytes beyond ASCII are written in octal, as text format wants them.
static void p4info_string(struct p4info *w, const char *key, const char *v) {
    p4info_indent(w);
    fprintf(w->out, "%s: \"", key);
    for (const unsigned char *p = (const unsigned char *)v; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(w->out, "\\%c", *p);
        else if (*p < 0x20 || *p >= 0x7f)
            fprintf(w->out, "\\%03o", *p);
        else
            fputc(*p, w->out);
    }
    fputs("\"\n", w->out);
}

// Identifiers come from the full name, the name shown is without the pipeline.
static uint32_t preamble(struct p4info *w, enum schema_kind kind, const char *name) {
    const char *local = schema_local(w->p, name);
    uint32_t id = schema_p4info_id(&w->ids, kind, kind == SCHEMA_ACTION ? local : name);
    open_message(w, "preamble");
    p4info_number(w, "id", id);
    p4info_string(w, "name", local);
    p4info_string(w, "alias", schema_alias(local));
    close_message(w);
    return id;
}

static uint32_t action_id(struct p4info *w, const struct ir_action *a) {
    return schema_p4info_id(&w->ids, SCHEMA_ACTION, schema_local(w->p, a->name));
}

// The width of what a controller says. Of a value that is translated it is the controller's, and
// type_name follows in its place.
static void p4info_width(struct p4info *w, unsigned width, const struct ir_translation *tr) {
    p4info_number(w, "bitwidth", tr ? tr->bits : width);
}

static void p4info_type_name(struct p4info *w, const struct ir_translation *tr) {
    if (!tr)
        return;
    open_message(w, "type_name");
    p4info_string(w, "name", tr->name);
    close_message(w);
    for (size_t i = 0; i < w->translations.n; i++)
        if (strcmp(w->translations.v[i]->name, tr->name) == 0)
            return;
    VEC_PUSH(w->a, &w->translations, tr);
}

static void p4info_new_type(struct p4info *w, const struct ir_translation *tr) {
    open_message(w, "new_types");
    p4info_string(w, "key", tr->name);
    open_message(w, "value");
    open_message(w, "translated_type");
    p4info_string(w, "uri", tr->uri);
    p4info_number(w, "sdn_bitwidth", tr->bits);
    close_message(w);
    close_message(w);
    close_message(w);
}

// ---- tables -------------------------------------------------------------------------------------

static void p4info_match_field(struct p4info *w, uint32_t id, const struct ir_key *k) {
    static const char *const kinds[] = {
        [IR_MATCH_EXACT] = "EXACT",
        [IR_MATCH_TERNARY] = "TERNARY",
        [IR_MATCH_LPM] = "LPM",
        [IR_MATCH_RANGE] = "RANGE",
    };
    open_message(w, "match_fields");
    p4info_number(w, "id", id);
    p4info_string(w, "name", k->name);
    p4info_width(w, k->expr->width, k->translation);
    p4info_word(w, "match_type", kinds[k->match]);
    p4info_type_name(w, k->translation);
    close_message(w);
}

static void action_ref(struct p4info *w, const struct ir_table_action *ta) {
    open_message(w, "action_refs");
    p4info_number(w, "id", action_id(w, ta->action));
    if (ta->default_only || ta->table_only) {
        p4info_string(w, "annotations", ta->default_only ? "@defaultonly" : "@tableonly");
        p4info_word(w, "scope", ta->default_only ? "DEFAULT_ONLY" : "TABLE_ONLY");
    }
    close_message(w);
}

static void p4info_table(struct p4info *w, const struct ir_table *t) {
    open_message(w, "tables");
    preamble(w, SCHEMA_TABLE, t->name);
    for (size_t i = 0; i < t->keys.n; i++)
        p4info_match_field(w, (uint32_t)i + 1, &t->keys.v[i]);
    for (size_t i = 0; i < t->actions.n; i++)
        action_ref(w, &t->actions.v[i]);
    uint32_t dflt = action_id(w, t->default_action);
    if (t->const_default)
        p4info_number(w, "const_default_action_id", dflt);
    open_message(w, "initial_default_action");
    p4info_number(w, "action_id", dflt);
    close_message(w);
    for (size_t i = 0; i < t->direct_counters.n; i++)
        p4info_number(
            w, "direct_resource_ids",
            schema_p4info_id(&w->ids, SCHEMA_DIRECT_COUNTER, t->direct_counters.v[i]->name));
    if (t->direct_meter && t->direct_meter->kind == IR_METER)
        p4info_number(w, "direct_resource_ids",
                      schema_p4info_id(&w->ids, SCHEMA_DIRECT_METER, t->direct_meter->name));
    if (t->profile)
        p4info_number(w, "implementation_id",
                      schema_p4info_id(&w->ids, SCHEMA_PROFILE, t->profile->name));
    p4info_number(w, "size", schema_table_size(t));
    if (t->idle_timeout)
        p4info_word(w, "idle_timeout_behavior", "NOTIFY_CONTROL");
    if (t->const_entries)
        p4info_word(w, "is_const_table", "true");
    if (t->entries.n)
        p4info_word(w, "has_initial_entries", "true");
    close_message(w);
}

static bool p4info_is_written(const struct p4info *w, const char *action) {
    for (size_t i = 0; i < w->actions.n; i++)
        if (strcmp(w->actions.v[i], action) == 0)
            return true;
    return false;
}

static void p4info_action(struct p4info *w, const struct ir_action *a) {
    const char *local = schema_local(w->p, a->name);
    if (p4info_is_written(w, local))
        return;
    VEC_PUSH(w->a, &w->actions, local);
    open_message(w, "actions");
    preamble(w, SCHEMA_ACTION, a->name);
    for (size_t i = 0; i < a->params.n; i++) {
        open_message(w, "params");
        p4info_number(w, "id", i + 1);
        p4info_string(w, "name", a->params.v[i].name);
        p4info_width(w, a->params.v[i].var->width, a->params.v[i].translation);
        p4info_type_name(w, a->params.v[i].translation);
        close_message(w);
    }
    close_message(w);
}

// ---- counters -----------------------------------------------------------------------------------

static void unit(struct p4info *w, enum ir_counter_type type) {
    static const char *const units[] = {
        [IR_COUNT_PACKETS] = "PACKETS",
        [IR_COUNT_BYTES] = "BYTES",
        [IR_COUNT_BOTH] = "BOTH",
    };
    open_message(w, "spec");
    p4info_word(w, "unit", units[type]);
    close_message(w);
}

static void p4info_counter(struct p4info *w, const struct ir_counter *c) {
    open_message(w, "counters");
    preamble(w, SCHEMA_COUNTER, c->name);
    unit(w, c->type);
    p4info_number(w, "size", c->size);
    close_message(w);
}

static void direct_counter(struct p4info *w, const struct ir_table *t, const struct ir_counter *c) {
    open_message(w, "direct_counters");
    preamble(w, SCHEMA_DIRECT_COUNTER, c->name);
    unit(w, c->type);
    p4info_number(w, "direct_table_id", schema_p4info_id(&w->ids, SCHEMA_TABLE, t->name));
    close_message(w);
}

// ---- meters: the others (low-pass filters, early drop) have no form here ----

static void meter(struct p4info *w, const struct ir_meter *m, const struct ir_table *owner) {
    open_message(w, owner ? "direct_meters" : "meters");
    preamble(w, owner ? SCHEMA_DIRECT_METER : SCHEMA_METER, m->name);
    unit(w, m->bytes ? IR_COUNT_BYTES : IR_COUNT_PACKETS);
    if (owner)
        p4info_number(w, "direct_table_id", schema_p4info_id(&w->ids, SCHEMA_TABLE, owner->name));
    else
        p4info_number(w, "size", m->size);
    close_message(w);
}

// ---- registers, value sets ----------------------------------------------------------------------

static void bitstring(struct p4info *w, unsigned width, bool is_signed) {
    open_message(w, "bitstring");
    open_message(w, is_signed ? "int" : "bit");
    p4info_number(w, "bitwidth", width);
    close_message(w);
    close_message(w);
}

// A pair has the shape of its struct: members in the tuple's order, low half first.
static void register_type(struct p4info *w, const struct ir_register *r) {
    open_message(w, "type_spec");
    if (r->words == 1 || r->wide) {
        bitstring(w, r->wide ? 2 * r->width : r->width, r->is_signed);
    } else {
        open_message(w, "tuple");
        for (unsigned i = 0; i < r->words; i++) {
            open_message(w, "members");
            bitstring(w, r->width, r->is_signed);
            close_message(w);
        }
        close_message(w);
    }
    close_message(w);
}

static void p4info_reg(struct p4info *w, const struct ir_register *r) {
    open_message(w, "registers");
    preamble(w, SCHEMA_REGISTER, r->name);
    register_type(w, r);
    p4info_number(w, "size", r->size);
    close_message(w);
}

static void p4info_value_set(struct p4info *w, const struct ir_value_set *v) {
    open_message(w, "value_sets");
    preamble(w, SCHEMA_VALUE_SET, v->name);
    for (size_t i = 0; i < v->widths.n; i++) {
        open_message(w, "match");
        p4info_number(w, "id", i + 1);
        p4info_string(w, "name", v->names.v[i]);
        p4info_number(w, "bitwidth", v->widths.v[i]);
        p4info_word(w, "match_type", "TERNARY");
        close_message(w);
    }
    p4info_number(w, "size", v->size);
    close_message(w);
}

// ---- action profiles ----------------------------------------------------------------------------

static void profile_tables(struct p4info *w, const struct ir_gress *g,
                           const struct ir_action_profile *p) {
    for (size_t i = 0; i < g->tables.n; i++)
        if (g->tables.v[i]->profile == p && !g->tables.v[i]->hidden)
            p4info_number(w, "table_ids",
                          schema_p4info_id(&w->ids, SCHEMA_TABLE, g->tables.v[i]->name));
}

static void profile(struct p4info *w, const struct ir_gress *g, const struct ir_action_profile *p) {
    const struct ir_selector *s = NULL;
    for (size_t i = 0; i < g->selectors.n; i++)
        if (g->selectors.v[i]->profile == p)
            s = g->selectors.v[i];
    open_message(w, "action_profiles");
    preamble(w, SCHEMA_PROFILE, p->name);
    profile_tables(w, g, p);
    if (s)
        p4info_word(w, "with_selector", "true");
    p4info_number(w, "size", p->size);
    if (s)
        p4info_number(w, "max_group_size", s->max_group_size);
    close_message(w);
}

// ---- digests ------------------------------------------------------------------------------------

static void p4info_digest(struct p4info *w, const struct ir_digest *d) {
    open_message(w, "digests");
    preamble(w, SCHEMA_DIGEST, d->name);
    open_message(w, "type_spec");
    if (d->type_name) {
        open_message(w, "struct");
        p4info_string(w, "name", d->type_name);
        close_message(w);
    } else {
        bitstring(w, d->fields.v[0].width, d->fields.v[0].is_signed);
    }
    close_message(w);
    close_message(w);
}

// The struct that a digest's message refers to by name.
static void digest_type(struct p4info *w, const struct ir_digest *d) {
    if (!d->type_name)
        return;
    for (size_t i = 0; i < w->types.n; i++)
        if (strcmp(w->types.v[i], d->type_name) == 0)
            return;
    VEC_PUSH(w->a, &w->types, d->type_name);
    open_message(w, "structs");
    p4info_string(w, "key", d->type_name);
    open_message(w, "value");
    for (size_t i = 0; i < d->fields.n; i++) {
        open_message(w, "members");
        p4info_string(w, "name", d->fields.v[i].name);
        open_message(w, "type_spec");
        bitstring(w, d->fields.v[i].width, d->fields.v[i].is_signed);
        close_message(w);
        close_message(w);
    }
    close_message(w);
    close_message(w);
}

// ---- headers before packets of a controller -----------------------------------------------------

static void p4info_controller_header(struct p4info *w, const struct ir_wire_type *h) {
    open_message(w, "controller_packet_metadata");
    open_message(w, "preamble");
    p4info_number(w, "id", schema_p4info_id(&w->ids, SCHEMA_CONTROLLER_HEADER, h->controller));
    p4info_string(w, "name", h->controller);
    p4info_string(w, "alias", h->controller);
    close_message(w);
    for (size_t i = 0; i < h->fields.n; i++) {
        open_message(w, "metadata");
        p4info_number(w, "id", i + 1);
        p4info_string(w, "name", h->fields.v[i].name);
        if (h->fields.v[i].translation) // the switch has no other place that says it
            p4info_string(w, "annotations",
                          arena_printf(w->a, "@silken_width(%u)", h->fields.v[i].width));
        p4info_width(w, h->fields.v[i].width, h->fields.v[i].translation);
        p4info_type_name(w, h->fields.v[i].translation);
        close_message(w);
    }
    close_message(w);
}

static void p4info_controller_headers(struct p4info *w, const struct ir_program *p) {
    for (size_t i = 0; i < p->wire_types.n; i++)
        if (p->wire_types.v[i].controller)
            p4info_controller_header(w, &p->wire_types.v[i]);
}

// ---- all of them, a kind at a time as the message has them --------------------------------------

typedef void each_gress(struct p4info *w, const struct ir_gress *g);

static void p4info_tables(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->tables.n; i++)
        if (!g->tables.v[i]->hidden)
            p4info_table(w, g->tables.v[i]);
}

// Only what a table of the controller can choose: actions that the program calls have no entries.
static void actions(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->tables.n; i++)
        for (size_t k = 0; !g->tables.v[i]->hidden && k < g->tables.v[i]->actions.n; k++)
            p4info_action(w, g->tables.v[i]->actions.v[k].action);
}

static void p4info_counters(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->counters.n; i++)
        if (!g->counters.v[i]->direct)
            p4info_counter(w, g->counters.v[i]);
}

static void direct_counters(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->tables.n; i++)
        for (size_t k = 0; !g->tables.v[i]->hidden && k < g->tables.v[i]->direct_counters.n; k++)
            direct_counter(w, g->tables.v[i], g->tables.v[i]->direct_counters.v[k]);
}

static void p4info_meters(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->meters.n; i++)
        if (!g->meters.v[i]->direct && g->meters.v[i]->kind == IR_METER)
            meter(w, g->meters.v[i], NULL);
}

static void direct_meters(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_meter *m = g->tables.v[i]->direct_meter;
        if (!g->tables.v[i]->hidden && m && m->kind == IR_METER)
            meter(w, m, g->tables.v[i]);
    }
}

static void p4info_registers(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->registers.n; i++)
        if (!g->registers.v[i]->direct && !g->registers.v[i]->implied)
            p4info_reg(w, g->registers.v[i]);
}

static void p4info_value_sets(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->value_sets.n; i++)
        p4info_value_set(w, g->value_sets.v[i]);
}

static void p4info_profiles(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->profiles.n; i++)
        profile(w, g, g->profiles.v[i]);
}

static void digests(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->digests.n; i++)
        p4info_digest(w, g->digests.v[i]);
}

static void digest_types(struct p4info *w, const struct ir_gress *g) {
    for (size_t i = 0; i < g->digests.n; i++)
        digest_type(w, g->digests.v[i]);
}

static void for_each(struct p4info *w, const struct ir_program *p, each_gress *fn) {
    for (size_t i = 0; i < p->pipelines.n; i++) {
        w->p = p->pipelines.v[i];
        fn(w, &w->p->gress[IR_INGRESS]);
        fn(w, &w->p->gress[IR_EGRESS]);
    }
}

void schema_p4info(FILE *f, struct arena *a, const struct ir_program *p) {
    struct p4info w = {.out = f, .a = a, .ids = {.a = a}};
    fputs("# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n", f);
    open_message(&w, "pkg_info");
    p4info_string(&w, "arch", "tna");
    close_message(&w);
    for_each(&w, p, p4info_tables);
    for_each(&w, p, actions);
    for_each(&w, p, p4info_profiles);
    for_each(&w, p, p4info_counters);
    for_each(&w, p, direct_counters);
    for_each(&w, p, p4info_meters);
    for_each(&w, p, direct_meters);
    p4info_controller_headers(&w, p);
    for_each(&w, p, p4info_registers);
    for_each(&w, p, digests);
    for_each(&w, p, p4info_value_sets);
    open_message(&w, "type_info");
    for_each(&w, p, digest_types);
    for (size_t i = 0; i < w.translations.n; i++)
        p4info_new_type(&w, w.translations.v[i]);
    close_message(&w);
}
