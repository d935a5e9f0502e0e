// SPDX-License-Identifier: Apache-2.0
//
// deferred_stores: fields on the wire whose new values are held back until the headers are written.
//
// A store into a header that the deparser is about to move costs more than it looks: the move loads
// sixteen bytes of which one has just been stored, and such a load waits until the store is in the
// cache. So does a checksum over whole words. A field that only the control and the deparser write, one
// by one, is therefore kept in a variable from its first assignment on ("held"), with a flag beside it
// that says so, and stored when its header has its place. On a way through the parser (parse_paths.c)
// the C compiler knows the flags nearly everywhere. A packet that is dropped is not written to at all,
// and what asks for the packet as it was received finds it so.
//
// Where there are no such ways, a flag is a test for each field. Then only those are held whose header could not stay
// in the packet else (in_place.c), which is copied twice.
#include "compiler/ir/effects.h"
#include "compiler/plan/lanes.h"
#include "compiler/print/emit_impl.h"

static void forget(bool *held, const struct ir_var *v) {
    if (v)
        held[v->id] = false;
}

// Fields in a loop over lanes are arrays.
static void forget_lanes(bool *held, const struct emit_lanes *l) {
    for (size_t i = 0; l && i < l->vars.n; i++)
        for (unsigned k = 0; k < (l->vars.v[i].varies ? l->count : 1); k++)
            forget(held, l->vars.v[i].of[k]);
}

static void forget_all_lanes(struct emit *e, bool *held) {
    const struct emit_plan *plan = emit_plan_of(e);
    for (size_t i = 0; i < plan->runs.n; i++)
        forget_lanes(held, plan->runs.v[i].lanes);
    for (size_t i = 0; i < e->g->tables.n; i++)
        for (size_t k = 0; plan->tables[i].loops && k <= e->g->tables.v[i]->entries.n; k++)
            forget_lanes(held, plan->tables[i].loops[k]);
}

static bool is_worth_it(struct emit *e, const struct ir_var *v) {
    return e->paths ||
           (e->headers[v->header->id].extracted && !emit_home_of(e, v->header)->in_place);
}

void emit_plan_held(struct emit *e) {
    const struct ir_gress *g = e->g;
    struct ir_effects parser = ir_effects_none(e->a, g), rest = ir_effects_none(e->a, g);
    bool *held = ARENA_ARRAY(e->a, bool, g->vars.n + 1);
    ir_effects_add_parser(&parser);
    ir_effects_add_rest(&rest);
    for (size_t i = 0; i < g->vars.n; i++) {
        const struct ir_var *v = g->vars.v[i];
        held[i] = rest.assigned[i] && !parser.assigned[i] && v->header && e->vars[i].wire &&
                  v->width <= 64 && is_worth_it(e, v);
    }
    forget_all_lanes(e, held);
    for (size_t i = 0; i < g->vars.n; i++) {
        if (!held[i])
            continue;
        struct emit_var *v = &e->vars[i];
        v->held = true;
        v->received = v->ref;
        v->ref = emit_text(e, "(v->holds_%s ? v->%s : %s)", v->name, v->name, v->ref);
    }
    emit_plan_homes(e);
}

void emit_drop_held(struct emit *e) {
    for (size_t i = 0; i < e->g->vars.n; i++) {
        if (!e->vars[i].held)
            continue;
        e->vars[i].held = false;
        emit_wire_refs(e, e->g->vars.v[i], e->vars[i].wire);
    }
    emit_plan_homes(e);
}

void emit_held_members(struct emit *e) {
    for (size_t i = 0; i < e->g->vars.n; i++) {
        const struct ir_var *v = e->g->vars.v[i];
        if (!e->vars[i].held)
            continue;
        emit_line(e, "%s %s;", emit_storage(v->width), e->vars[i].name);
        emit_line(e, "bool holds_%s;", e->vars[i].name);
    }
}

static void store(struct emit *e, const struct ir_var *v) {
    const struct emit_var *i = &e->vars[v->id];
    const unsigned at = v->bit_offset / 8;
    emit_line(e, "if (v->holds_%s)", i->name);
    if (i->bit == 0 && v->width % 8 == 0)
        emit_line(e, "    sk_store_bytes(to_h + %u, %u, v->%s);", at, v->width / 8, i->name);
    else if (i->word.bytes)
        emit_line(e, "    sk_word_put(to_h + %u, %u, %u, %u, v->%s);", i->word.byte, i->word.bytes,
                  i->word.bit, v->width, i->name);
    else
        emit_line(e, "    sk_bits_put(to_h + %u, %u, %u, v->%s);", at, i->bit, v->width, i->name);
}

bool emit_holds(const struct emit *e, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++)
        if (e->vars[h->fields.v[i]->id].held)
            return true;
    return false;
}

const char *emit_holds_all(struct emit *e, const struct ir_header *h) {
    const char *text = "";
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct emit_var *v = &e->vars[h->fields.v[i]->id];
        if (!v->held)
            return "";
        text = emit_text(e, "%s%sv->holds_%s", text, *text ? " && " : "", v->name);
    }
    return text;
}

void emit_held_stores(struct emit *e, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++)
        if (e->vars[h->fields.v[i]->id].held)
            store(e, h->fields.v[i]);
}

const char *emit_held_word(struct emit *e, const struct ir_var *const *fields, size_t n,
                           const char *from, unsigned bytes) {
    const char *text = emit_text(e, "sk_load_bytes(%s, %u)", from, bytes);
    unsigned left = 8 * bytes;
    for (size_t i = 0; i < n; i++) {
        const struct emit_var *v = &e->vars[fields[i]->id];
        const unsigned width = fields[i]->width;
        left -= width;
        if (v->held && !e->in_parser)
            text = emit_text(e, "sk_bits_held(%s, v->holds_%s, v->%s, %u, %u)", text, v->name,
                             v->name, left, width);
    }
    return text;
}
