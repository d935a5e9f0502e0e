// SPDX-License-Identifier: Apache-2.0
//
// objects: what of a program is data: descriptions for the control plane, a pipe's state, and
// the functions that reach it.
//
// Objects are listed ingress first, then egress, each in the order of their ids. Direct registers
// are not in the lists, because they live in their table's entries; direct counters and meters are,
// so that a control plane finds the table by their name.
#include "compiler/print/checked/checked.h"
#include "compiler/print/emit_impl.h"

#include <string.h>

// --------------------------------------------------------------------------------------------
// CRC tables, one per polynomial in the whole program.

static uint64_t reflect(uint64_t v, unsigned width) {
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i++)
        r |= (v >> i & 1) << (width - 1 - i);
    return r;
}

// As sk_crc_table (stages/hash.c); the compiler does not link the stages.
static uint64_t crc_table_entry(uint64_t byte, unsigned width, uint64_t coeff, bool reversed) {
    if (width < 8 && !reversed) {
        coeff <<= 8 - width;
        width = 8;
    }
    uint64_t top = UINT64_C(1) << (width - 1), all = top | (top - 1);
    uint64_t crc = reversed ? byte : byte << (width - 8), poly = reflect(coeff, width);
    for (int i = 0; i < 8; i++)
        if (reversed)
            crc = crc & 1 ? crc >> 1 ^ poly : crc >> 1;
        else
            crc = crc & top ? crc << 1 ^ coeff : crc << 1;
    return crc & all;
}

#define CRC_SLICES 8u // SK_CRC_SLICES: the compiler does not link the stages

const char *emit_crc_table_name(const struct emit *e, const struct ir_hash *h) {
    return emit_text(e, "crc%u%s_%llx", h->crc_width, h->reversed ? "r" : "",
                     (unsigned long long)h->coeff);
}

static unsigned entry_bytes(const struct ir_hash *h) {
    const unsigned w = h->crc_width;
    return w <= 8 ? 1 : w <= 16 ? 2 : w <= 32 ? 4 : 8;
}

typedef VEC(const char *) name_vec;

static void crc_entries(const struct emit *e, const uint64_t t[256]) {
    for (unsigned i = 0; i < 256; i += 4)
        emit_line(e, "0x%llx, 0x%llx, 0x%llx, 0x%llx,", (unsigned long long)t[i],
                  (unsigned long long)t[i + 1], (unsigned long long)t[i + 2],
                  (unsigned long long)t[i + 3]);
}

// As stages/hash.h describes them.
static void crc_slices(const struct emit *e, const struct ir_hash *h, const uint64_t first[256]) {
    const unsigned w = h->crc_width;
    uint64_t t[256];
    memcpy(t, first, sizeof t);
    for (unsigned k = 0; k < CRC_SLICES; k++) {
        crc_entries(e, t);
        for (unsigned i = 0; i < 256; i++)
            t[i] = h->reversed ? first[t[i] & 0xff] ^ t[i] >> 8
                               : (first[t[i] >> (w - 8)] ^ t[i] << 8) & UINT64_MAX >> (64 - w);
    }
}

// A table, and a function that controls do not get inlined, where it would be in the way of all
// else.
static void crc_table(const struct emit *e, name_vec *done, const struct ir_hash *h) {
    const char *name = emit_crc_table_name(e, h);
    const bool sliced = h->crc_width >= 8 || h->reversed;
    const unsigned bytes = sliced ? entry_bytes(h) : 8;
    uint64_t first[256];
    for (size_t i = 0; i < done->n; i++)
        if (strcmp(done->v[i], name) == 0)
            return;
    VEC_PUSH(e->a, done, name);
    for (unsigned i = 0; i < 256; i++)
        first[i] = crc_table_entry(i, h->crc_width, h->coeff, h->reversed);
    emit_line(e, " ");
    emit_open(e, "static const uint%u_t %s[%u * 256] = {", 8 * bytes, name,
              sliced ? CRC_SLICES : 1);
    if (sliced)
        crc_slices(e, h, first);
    else
        crc_entries(e, first);
    emit_close(e, "};");
    emit_open(e,
              "static __attribute__((noinline)) uint64_t %s_of(uint64_t start, uint64_t xor_out, "
              "const uint8_t *p, size_t n) {",
              name);
    if (sliced)
        emit_line(e, "return sk_crc_sliced(%s, %u, %u, %s, start, xor_out, p, n);", name, bytes,
                  h->crc_width, h->reversed ? "true" : "false");
    else
        emit_line(e, "return sk_crc(%s, %u, false, start, xor_out, p, n);", name, h->crc_width);
    emit_close(e, "}");
}

void emit_crc_tables(const struct emit *e) {
    name_vec done = {0};
    for (size_t i = 0; i < e->program->pipelines.n; i++)
        for (unsigned k = 0; k < 2; k++) {
            const struct ir_gress *g = &e->program->pipelines.v[i]->gress[k];
            for (size_t h = 0; h < g->hashes.n; h++)
                if (g->hashes.v[h]->algorithm == IR_HASH_CRC)
                    crc_table(e, &done, g->hashes.v[h]);
        }
}

// --------------------------------------------------------------------------------------------
// Lists of all objects of the pipeline.

static size_t count_registers(const struct ir_gress *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->registers.n; i++)
        n += !g->registers.v[i]->direct;
    return n + g->reg_params.n;
}

static void register_desc(const struct emit *e, const struct ir_register *r) {
    emit_open(e, "{");
    emit_line(e, ".name = %s, .width = %u, .words = %u, .is_signed = %s,", emit_string(e, r->name),
              r->width, r->words, emit_bool_text(r->is_signed));
    emit_line(e, ".wide = %s,", emit_bool_text(r->wide));
    emit_line(e, ".word_names = {%s, %s},",
              r->word_names[0] ? emit_string(e, r->word_names[0]) : "NULL",
              r->words == 2 && r->word_names[1] ? emit_string(e, r->word_names[1]) : "NULL");
    emit_line(e, ".size = %llu,", (unsigned long long)r->size);
    emit_line(e, ".initial = {UINT64_C(0x%llx), UINT64_C(0x%llx)},",
              (unsigned long long)(r->initial[0] ? big_to_u64(r->initial[0]) : 0),
              (unsigned long long)(r->initial[1] ? big_to_u64(r->initial[1]) : 0));
    emit_close(e, "},");
}

// A RegisterParam is to the control plane a register of one cell.
static void param_desc(const struct emit *e, const struct ir_reg_param *r) {
    emit_open(e, "{");
    emit_line(e, ".name = %s, .width = %u, .words = 1, .is_signed = %s, .is_param = true,",
              emit_string(e, r->name), r->width, emit_bool_text(r->is_signed));
    emit_line(e, ".word_names = {\"value\", NULL}, .size = 1,");
    emit_line(e, ".initial = {UINT64_C(0x%llx), 0},",
              (unsigned long long)(r->initial ? big_to_u64(r->initial) : 0));
    emit_close(e, "},");
}

static void digest_list(const struct emit *e) {
    unsigned p = e->pipeline_index;
    const struct ir_gress *g = &e->pipeline->gress[IR_INGRESS];
    for (size_t i = 0; i < g->digests.n; i++) {
        const struct ir_digest *d = g->digests.v[i];
        emit_open(e, "static const struct sk_field_desc p%u_digest%zu[] = {", p, i);
        for (size_t k = 0; k < d->fields.n; k++)
            emit_line(e, "{.name = %s, .width = %u, .is_signed = %s},",
                      emit_string(e, d->fields.v[k].name), d->fields.v[k].width,
                      emit_bool_text(d->fields.v[k].is_signed));
        emit_close(e, "};");
    }
    emit_open(e, "static const struct sk_field_desc p%u_port_fields[] = {", p);
    for (size_t i = 0; i < g->port_fields.n; i++)
        emit_line(e, "{.name = %s, .width = %u, .is_signed = %s},",
                  emit_string(e, g->port_fields.v[i].name), g->port_fields.v[i].width,
                  emit_bool_text(g->port_fields.v[i].is_signed));
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
    emit_open(e, "static const struct sk_digest_desc p%u_digests[] = {", p);
    for (size_t i = 0; i < g->digests.n; i++)
        emit_line(e, "{.name = %s, .fields = p%u_digest%zu, .n_fields = %zu},",
                  emit_string(e, g->digests.v[i]->name), p, i, g->digests.v[i]->fields.n);
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
}

static void object_lists(const struct emit *e) {
    unsigned p = e->pipeline_index;
    emit_line(e, " ");
    emit_open(e, "static const struct sk_table_desc *const p%u_tables[] = {", p);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].tables.n; i++)
            emit_line(e, "&p%u%c_t%zu,", p, k ? 'e' : 'i', i);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].profiles.n; i++)
            emit_line(e, "&p%u%c_ap%zu,", p, k ? 'e' : 'i', i);
    emit_line(e, "NULL,");
    emit_close(e, "};");
    emit_open(e, "static const struct sk_register_desc p%u_registers[] = {", p);
    for (unsigned k = 0; k < 2; k++) {
        for (size_t i = 0; i < e->pipeline->gress[k].registers.n; i++)
            if (!e->pipeline->gress[k].registers.v[i]->direct)
                register_desc(e, e->pipeline->gress[k].registers.v[i]);
        for (size_t i = 0; i < e->pipeline->gress[k].reg_params.n; i++)
            param_desc(e, e->pipeline->gress[k].reg_params.v[i]);
    }
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
    emit_counter_descs(e);
    emit_meter_descs(e);
    emit_open(e, "static const struct sk_value_set_desc p%u_value_sets[] = {", p);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].value_sets.n; i++) {
            const struct ir_value_set *vs = e->pipeline->gress[k].value_sets.v[i];
            unsigned n = 0;
            for (size_t w = 0; w < vs->widths.n; w++)
                n += (vs->widths.v[w] + 63) / 64;
            emit_line(e,
                      "{.name = %s, .keys = p%u%c_vs%zu_keys, .n_keys = %zu, .key_words = %u, "
                      ".size = %llu, .egress = %s},",
                      emit_string(e, vs->name), p, k ? 'e' : 'i', i, vs->widths.n, n,
                      (unsigned long long)vs->size, emit_bool_text(k));
        }
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
    digest_list(e);
}

static void math_unit(const struct emit *e, const struct ir_math_unit *m) {
    const char *table = "";
    for (unsigned i = 0; i < 16; i++)
        table = emit_text(e, "%s%s%u", table, i ? ", " : "", m->table[i]);
    emit_line(e, "// %s", emit_comment(e, m->name));
    emit_line(e, "static const struct sk_math_unit %s_math%u = {%s, %d, %d, {%s}};", e->p, m->id,
              emit_bool_text(m->invert), m->shift, m->scale, table);
}

// What the packet path uses, too.
static void key_functions_of_gress(const struct emit *e) {
    for (size_t i = 0; i < e->g->math_units.n; i++)
        math_unit(e, e->g->math_units.v[i]);
    for (size_t i = 0; i < e->g->tables.n; i++)
        emit_proxy(e, e->g->tables.v[i]);
}

static void descriptions_of_gress(const struct emit *e) {
    emit_profiles(e);
    for (size_t i = 0; i < e->g->tables.n; i++)
        emit_table_desc(e, e->g->tables.v[i]);
    for (size_t i = 0; i < e->g->value_sets.n; i++)
        emit_value_set_desc(e, e->g->value_sets.v[i]);
}

// Runs 'fn' for each gress of the pipeline.
static void objects_each_gress(const struct emit *e, void (*fn)(const struct emit *of)) {
    for (unsigned k = 0; k < 2; k++) {
        const struct emit of = emit_of_gress(e, k);
        fn(&of);
    }
}

void emit_key_functions(const struct emit *e) {
    objects_each_gress(e, key_functions_of_gress);
}

void emit_descriptions(const struct emit *e) {
    objects_each_gress(e, descriptions_of_gress);
    object_lists(e);
}

// --------------------------------------------------------------------------------------------
// State.

const char *emit_cell(const struct emit *e, const struct ir_register *r, const char *index,
                      const char *word) {
    const struct plan_register *at = &e->plan->registers[r->id];
    char c = emit_gress_letter(e);
    if (at->banked)
        return emit_text(e, "s->%c_bank%u[%s].w[%s][%u]", c, at->bank, index, word, at->lane);
    if (at->in_row)
        return emit_row_cell(e, r, index, word);
    if (r->words == 2)
        return emit_text(e, "s->%c_register%u[%s].w[%s]", c, r->id, index, word);
    return emit_text(e, "s->%c_register%u[%s]", c, r->id, index);
}

unsigned emit_bank_row(const struct plan_bank *b) {
    const unsigned width = b->shape->width;
    const unsigned in_line = 64 / (width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 4 : 8);
    const unsigned cells = (b->lanes + in_line - 1) / in_line * in_line;
    return (cells - b->lanes) * 8 <= b->lanes ? cells : b->lanes;
}

static void emit_objects_banks(const struct emit *e) {
    const struct plan *p = e->plan;
    for (size_t i = 0; i < p->banks.n; i++) {
        const struct ir_register *r = p->banks.v[i].shape;
        emit_line(e, "_Alignas(64) struct { %s w[%u][%u]; } %c_bank%zu[%llu]; // %s and others",
                  emit_storage(r->width), r->words, emit_bank_row(&p->banks.v[i]),
                  emit_gress_letter(e), i, (unsigned long long)(r->size + !r->size),
                  emit_comment(e, r->name));
    }
}

static void state_of_gress(const struct emit *e) {
    char c = emit_gress_letter(e);
    const struct ir_gress *g = e->g;
    for (size_t i = 0; i < g->tables.n; i++)
        emit_line(e, "struct sk_table *%c_table%zu;", c, i);
    for (size_t i = 0; i < g->tables.n; i++)
        if (e->plan->tables[i].filled_group)
            emit_line(e, "const void *%c_filled%zu;", c, i);
    for (unsigned i = 1; i <= e->plan->n_filled_groups; i++)
        emit_line(e, "unsigned %c_unfilled%u; // tables of the group", c, i);
    emit_lane_members(e);
    for (size_t i = 0; i < g->value_sets.n; i++)
        emit_line(e, "struct sk_table *%c_value_set%zu;", c, i);
    if (g->tables.n)
        emit_line(e, "uint32_t %c_last[%zu]; // where each found its key last, or its member", c,
                  g->tables.n);
    emit_profile_state(e);
    emit_hash_state(e);
    emit_home_state(e);
    for (size_t i = 0; i < g->randoms.n; i++)
        emit_line(e, "uint64_t %c_random%zu; // %s", c, i, emit_comment(e, g->randoms.v[i]->name));
    for (size_t i = 0; i < g->counters.n; i++)
        if (!g->counters.v[i]->direct)
            emit_line(e, "struct sk_counter_cell %c_counter%zu[%llu]; // %s", c, i,
                      (unsigned long long)(g->counters.v[i]->size + !g->counters.v[i]->size),
                      emit_comment(e, g->counters.v[i]->name));
    emit_meter_state(e);
    for (size_t i = 0; i < g->registers.n; i++) {
        const struct ir_register *r = g->registers.v[i];
        const struct plan_register *at = &e->plan->registers[i];
        if (r->direct || at->banked || at->in_row)
            continue;
        const char *type = emit_storage(r->width);
        emit_line(e, "_Alignas(64) %s %c_register%zu[%llu]; // %s",
                  r->words == 2 ? emit_text(e, "struct { %s w[2]; }", type) : type, c, i,
                  (unsigned long long)(r->size + !r->size), emit_comment(e, r->name));
    }
    emit_objects_banks(e);
    emit_rows(e);
    for (size_t i = 0; i < g->registers.n; i++) {
        const struct ir_register *r = g->registers.v[i];
        if (r->counting)
            emit_line(e, "uint64_t %c_log%zu; // %s", c, i, emit_comment(e, r->name));
        if (r->counting == IR_FIFO)
            emit_line(e, "uint64_t %c_read%zu; // %s", c, i, emit_comment(e, r->name));
    }
    for (size_t i = 0; i < g->reg_params.n; i++)
        emit_line(e, "uint64_t %c_param%zu; // %s", c, i,
                  emit_comment(e, g->reg_params.v[i]->name));
    for (size_t i = 0; i < g->tables.n; i++)
        if (emit_counts_hits(e, g->tables.v[i]) && e->plan->tables[i].leader == i &&
            !e->plan->tables[i].lane_table)
            emit_line(e, "struct sk_hits %c_hits%zu[%zu]; // by entry, then misses: %s", c, i,
                      g->tables.v[i]->entries.n + 1, emit_comment(e, g->tables.v[i]->name));
}

void emit_state_struct(const struct emit *e) {
    emit_line(e, " ");
    emit_open(e, "struct p%u_state {", e->pipeline_index);
    if (emit_takes_notes(e))
        emit_line(e, "struct sk_notes *notes;");
    objects_each_gress(e, state_of_gress);
    emit_line(e, "uint64_t seed;");
    emit_close(e, "};");
}

static void initial_registers(const struct emit *e) {
    for (size_t i = 0; i < e->g->reg_params.n; i++) {
        const struct ir_reg_param *p = e->g->reg_params.v[i];
        if (p->initial)
            emit_line(e, "s->%c_param%zu = %s;", emit_gress_letter(e), i,
                      emit_const(e, big_wrap_u(e->a, p->initial, p->width), p->width));
    }
    for (size_t i = 0; i < e->g->registers.n; i++) {
        const struct ir_register *r = e->g->registers.v[i];
        if (r->direct)
            continue;
        for (unsigned w = 0; w < r->words; w++) {
            if (!r->initial[w] || big_sign(r->initial[w]) == 0)
                continue;
            emit_line(e, "for (uint64_t i = 0; i < UINT64_C(%llu); i++)",
                      (unsigned long long)r->size);
            emit_line(e, "    %s = %s;", emit_cell(e, r, "i", emit_text(e, "%u", w)),
                      emit_const(e, big_wrap_u(e->a, r->initial[w], r->width), r->width));
        }
    }
}

// Runs 'fn' for each table pointer in the state: its name, and that of its description.
static void each_table(const struct emit *e,
                       void (*fn)(const struct emit *e, const char *ref, const char *desc)) {
    for (unsigned k = 0; k < 2; k++) {
        const struct emit of = emit_of_gress(e, k);
        for (size_t i = 0; i < of.g->tables.n; i++)
            fn(&of, emit_text(&of, "s->%c_table%zu", emit_gress_letter(&of), i),
               emit_text(&of, "%s_t%zu", of.p, i));
        for (size_t i = 0; i < of.g->value_sets.n; i++)
            fn(&of, emit_text(&of, "s->%c_value_set%zu", emit_gress_letter(&of), i),
               emit_text(&of, "%s_vs%zu", of.p, i));
        for (size_t i = 0; i < of.g->profiles.n; i++)
            fn(&of, emit_text(&of, "s->%c_profile%zu", emit_gress_letter(&of), i),
               emit_text(&of, "%s_ap%zu", of.p, i));
    }
}

static void free_table(const struct emit *e, const char *ref, const char *desc) {
    (void)desc;
    emit_line(e, "sk_table_free(%s);", ref);
}

static void new_table(const struct emit *e, const char *ref, const char *desc) {
    emit_line(e, "%s = sk_table_new(&%s);", ref, desc);
    emit_line(e, "complete = complete && %s;", ref);
}

static void share_hits(const struct emit *e) {
    const char c = emit_gress_letter(e);
    for (size_t i = 0; i < e->g->tables.n; i++) {
        const struct plan_table *t = &e->plan->tables[i];
        if (!emit_counts_hits(e, e->g->tables.v[i]))
            continue;
        if (t->lane_table)
            emit_line(e, "sk_table_share_hits(s->%c_table%zu, s->%c_lane_hits%u + %u, %u);", c, i,
                      c, t->lane_table, t->lane, e->plan->lane_tables.v[t->lane_table - 1].n);
        else
            emit_line(e, "sk_table_share_hits(s->%c_table%zu, s->%c_hits%u, 1);", c, i, c,
                      t->leader);
    }
}

static void tell_filled(const struct emit *e) {
    const char c = emit_gress_letter(e);
    for (size_t i = 0; i < e->g->tables.n; i++)
        if (e->plan->tables[i].filled_group)
            emit_line(e,
                      "sk_table_tell_filled(s->%c_table%zu, &s->%c_filled%zu, &s->%c_unfilled%u);",
                      c, i, c, i, c, e->plan->tables[i].filled_group);
    emit_lane_tells(e);
}

static void free_state(const struct emit *e) {
    emit_profiles_free(e);
    emit_hashes_free(e);
}

static void initial_state(const struct emit *e) {
    share_hits(e);
    tell_filled(e);
    initial_registers(e);
    for (size_t i = 0; i < e->g->randoms.n; i++)
        emit_line(e, "s->%c_random%zu = sk_prng_seed(seed, %zu);", emit_gress_letter(e), i,
                  2 * i + (e->g->kind == IR_EGRESS));
    emit_meter_start(e);
}

static void life_cycle(const struct emit *e) {
    unsigned p = e->pipeline_index;
    emit_line(e, " ");
    emit_open(e, "static void p%u_free(struct sk_pipe *pipe) {", p);
    emit_line(e, "struct p%u_state *s = (struct p%u_state *)pipe;", p, p);
    emit_line(e, "if (!s)");
    emit_line(e, "    return;");
    objects_each_gress(e, free_state);
    each_table(e, free_table);
    emit_line(e, "sk_state_free(s);");
    emit_close(e, "}");
    emit_line(e, " ");
    emit_open(e, "static struct sk_pipe *p%u_new(uint64_t seed) {", p);
    emit_line(e, "struct p%u_state *s = sk_state_alloc(sizeof *s);", p);
    emit_line(e, "bool complete = true;");
    emit_line(e, "if (!s)");
    emit_line(e, "    return NULL;");
    emit_line(e, "s->seed = seed;");
    each_table(e, new_table);
    objects_each_gress(e, emit_profiles_new);
    emit_open(e, "if (!complete) {");
    emit_line(e, "p%u_free((struct sk_pipe *)s);", p);
    emit_line(e, "return NULL;");
    emit_close(e, "}");
    objects_each_gress(e, initial_state);
    emit_line(e, "return (struct sk_pipe *)s;");
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// Accessors: a switch over the object's number.

static void open_accessor(const struct emit *e, const char *signature) {
    unsigned p = e->pipeline_index;
    emit_line(e, " ");
    emit_open(e, "static %s {", signature);
    emit_line(e, "struct p%u_state *s = (struct p%u_state *)pipe;", p, p);
    emit_open(e, "switch (i) {");
}

static void close_accessor(const struct emit *e, const char *otherwise) {
    emit_line(e, "default:");
    emit_line(e, "    %s", otherwise);
    emit_close(e, "}");
    emit_close(e, "}");
}

static void register_access(const struct emit *e, bool write) {
    unsigned n = 0;
    open_accessor(e, emit_text(e,
                               "%s p%u_register_%s(struct sk_pipe *pipe, uint32_t i, uint64_t "
                               "index, uint32_t word%s)",
                               write ? "void" : "uint64_t", e->pipeline_index,
                               write ? "write" : "read", write ? ", uint64_t value" : ""));
    for (unsigned k = 0; k < 2; k++) {
        const struct emit of = emit_of_gress(e, k);
        for (size_t i = 0; i < of.g->registers.n; i++) {
            const struct ir_register *r = of.g->registers.v[i];
            if (r->direct)
                continue;
            const char *cell = emit_cell(&of, r, "index", "word");
            emit_line(e, "case %u:", n++);
            emit_line(e, "    if (index < UINT64_C(%llu) && word < %u)",
                      (unsigned long long)r->size, r->words);
            if (write)
                emit_line(e, "        %s = (%s)(value & sk_mask(%u));", cell,
                          emit_storage(r->width), r->width);
            else
                emit_line(e, "        return %s;", cell);
            emit_line(e, "    %s", write ? "break;" : "return 0;");
        }
        for (size_t i = 0; i < of.g->reg_params.n; i++) {
            const char *param = emit_text(e, "s->%c_param%zu", emit_gress_letter(&of), i);
            emit_line(e, "case %u:", n++);
            if (write)
                emit_line(e, "    if (index == 0 && word == 0)\n        %s = value & sk_mask(%u);",
                          param, of.g->reg_params.v[i]->width);
            emit_line(e, "    %s", write ? "break;" : emit_text(e, "return %s;", param));
        }
    }
    close_accessor(e, write ? "break;" : "return 0;");
}

// 'what' names the list: its members are s->i_<what>0...
struct listed {
    size_t n;
    bool direct; // the i-th is in table entries, not here
};

static struct listed listed_at(const struct ir_gress *g, const char *what, size_t i) {
    if (strcmp(what, "counter") == 0)
        return (struct listed){g->counters.n, i < g->counters.n && g->counters.v[i]->direct};
    if (strcmp(what, "meter") == 0)
        return (struct listed){g->meters.n, i < g->meters.n && g->meters.v[i]->direct};
    return (struct listed){strcmp(what, "table") == 0 ? g->tables.n : g->value_sets.n, false};
}

static void pointer_access(const struct emit *e, const char *type, const char *what) {
    unsigned n = 0;
    open_accessor(e, emit_text(e, "%s *p%u_%s(struct sk_pipe *pipe, uint32_t i)", type,
                               e->pipeline_index, what));
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *g = &e->pipeline->gress[k];
        for (size_t i = 0; i < listed_at(g, what, i).n; i++) {
            emit_line(e, "case %u:", n++);
            if (listed_at(g, what, i).direct)
                emit_line(e, "    return NULL;");
            else
                emit_line(e, "    return s->%c_%s%zu;", k ? 'e' : 'i', what, i);
        }
    }
    for (unsigned k = 0; k < 2 && strcmp(what, "table") == 0; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].profiles.n; i++) {
            emit_line(e, "case %u:", n++);
            emit_line(e, "    return s->%c_profile%zu;", k ? 'e' : 'i', i);
        }
    close_accessor(e, "return NULL;");
}

static void meter_more_access(const struct emit *e) {
    unsigned n = 0;
    if (!emit_has_meters_of_bytes(e))
        return;
    open_accessor(e, emit_text(e, "int32_t *p%u_meter_more(struct sk_pipe *pipe, uint32_t i)",
                               e->pipeline_index));
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].meters.n; i++, n++) {
            if (!ir_meter_of_bytes(e->pipeline->gress[k].meters.v[i]))
                continue;
            emit_line(e, "case %u:", n);
            emit_line(e, "    return &s->%c_meter%zu_more;", k ? 'e' : 'i', i);
        }
    close_accessor(e, "return NULL;");
}

void emit_accessors(const struct emit *e) {
    life_cycle(e);
    register_access(e, false);
    register_access(e, true);
    pointer_access(e, "struct sk_table", "table");
    pointer_access(e, "struct sk_counter_cell", "counter");
    pointer_access(e, "struct sk_meter_cell", "meter");
    meter_more_access(e);
    pointer_access(e, "struct sk_table", "value_set");
    emit_selector_list(e);
    emit_hash_list(e);
}

// The fields of one header. Returns how many there are.
static size_t emit_header_fields(const struct emit *e, const struct ir_header *h) {
    size_t n = 0;
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if (f->padding)
            continue;
        const char *name =
            emit_text(e, "%s.%s", emit_shown_name(e, h->name), emit_field_name(h, f));
        emit_line(e, "{.name = %s, .width = %u, .is_signed = %s},", emit_string(e, name), f->width,
                  emit_bool_text(f->is_signed));
        n++;
    }
    return n;
}

// Of headers that parsers extract, ingress first. Returns how many there are.
static size_t emit_packet_fields(const struct emit *e) {
    size_t n = 0;
    emit_open(e, "static const struct sk_field_desc p%u_packet_fields[] = {", e->pipeline_index);
    for (unsigned k = 0; k < 2; k++) {
        const struct emit of = emit_of_gress(e, k);
        for (size_t i = 0; i < of.g->headers.n; i++)
            if (of.plan->headers[i].extracted)
                n += emit_header_fields(&of, of.g->headers.v[i]);
    }
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
    return n;
}

void emit_pipeline_desc(const struct emit *e) {
    unsigned p = e->pipeline_index;
    const struct ir_gress *g = e->pipeline->gress;
    emit_line(e, " ");
    const size_t n_packet_fields = emit_packet_fields(e);
    emit_open(e, "static const struct sk_pipeline_desc p%u_pipeline = {", p);
    emit_line(e, ".name = %s,", emit_string(e, e->pipeline->name));
    emit_line(e, ".ingress = p%u_ingress, .egress = p%u_egress,", p, p);
    if (e->plans[IR_INGRESS].prefetch.table)
        emit_line(e, ".ahead = p%u_ahead,", p);
    const struct plan *in = &e->plans[IR_INGRESS], *out = &e->plans[IR_EGRESS];
    // what goes apart is taken piece by piece, pass by pass
    emit_line(e, ".ingress_reach = UINT32_C(%u),", plan_seam_of(in) ? UINT32_MAX : plan_reach(in));
    emit_line(e, ".egress_idle = %s, .egress_reach = UINT32_C(%u),",
              plan_egress_idle(out) ? "true" : "false", plan_reach(out));
    if (emit_takes_notes(e))
        emit_line(e, ".takes_notes = true,");
    emit_line(e, ".pipe_new = p%u_new, .pipe_free = p%u_free,", p, p);
    emit_line(e, ".tables = p%u_tables, .n_tables = %zu, .table = p%u_table,", p,
              g[0].tables.n + g[1].tables.n + g[0].profiles.n + g[1].profiles.n, p);
    emit_line(e, ".selectors = p%u_selectors, .n_selectors = %zu, .selector = p%u_selector,", p,
              g[0].selectors.n + g[1].selectors.n, p);
    emit_line(e, ".registers = p%u_registers, .n_registers = %zu,", p,
              count_registers(&g[0]) + count_registers(&g[1]));
    emit_line(e, ".register_read = p%u_register_read, .register_write = p%u_register_write,", p, p);
    emit_line(e, ".counters = p%u_counters, .n_counters = %zu, .counter = p%u_counter,", p,
              g[0].counters.n + g[1].counters.n, p);
    emit_line(e, ".meters = p%u_meters, .n_meters = %zu, .meter = p%u_meter,", p,
              g[0].meters.n + g[1].meters.n, p);
    if (emit_has_meters_of_bytes(e))
        emit_line(e, ".meter_more = p%u_meter_more,", p);
    emit_line(e, ".value_sets = p%u_value_sets, .n_value_sets = %zu, .value_set = p%u_value_set,",
              p, g[0].value_sets.n + g[1].value_sets.n, p);
    emit_line(e, ".hashes = p%u_hashes, .n_hashes = %u, .hash = p%u_hash,", p, emit_hash_count(e),
              p);
    emit_line(e, ".digests = p%u_digests, .n_digests = %zu,", p, g[0].digests.n);
    emit_line(e, ".port_fields = p%u_port_fields, .n_port_fields = %zu,", p, g[0].port_fields.n);
    emit_line(e, ".packet_fields = p%u_packet_fields, .n_packet_fields = %zu,", p, n_packet_fields);
    emit_close(e, "};");
}
