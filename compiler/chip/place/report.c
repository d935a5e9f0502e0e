// SPDX-License-Identifier: Apache-2.0
//
// report: why a program needs more stages than there are: a chain of dependencies that is too long,
// or a resource that ran out.
#include "compiler/chip/place/place_impl.h"
#include "compiler/chip/report_add.h"

// Stages that a placement by this model may have more than one by the chip's compiler, which tries
// more orders (docs/hardware-agreement.md has how often it does).
#define KNOWN_ERROR 2u

// The unit's dependency that keeps it from an earlier stage; null: none.
static const struct place_dep *tight(const struct place *p, const struct place_unit *x) {
    const struct place_dep *found = NULL;
    for (size_t i = 0; i < x->before.n; i++) {
        const struct place_dep *d = &x->before.v[i];
        const struct place_unit *b = &p->units.v[d->from];
        if (b->earliest + b->least + d->distance == x->earliest &&
            (!found || d->distance > found->distance))
            found = d;
    }
    return found;
}

static const char *place_report_field_of(struct arena *a, struct chip_bits b) {
    if (!b.var)
        return "a condition";
    const char *name = b.var->shown ? b.var->shown : b.var->name;
    if (b.width == b.var->width)
        return name;
    return arena_printf(a, "%s[%u:%u]", name, b.lo + b.width - 1, b.lo);
}

static const char *verb_of(enum chip_dep_kind k) {
    return k == CHIP_DEP_MATCH ? "matches on" : k == CHIP_DEP_ACTION ? "reads" : "writes, too,";
}

// A table that the whole chip is too small for.
static void explain_large(struct place *p, const struct place_unit *x) {
    unsigned stages = x->least + 1;
    struct chip_violation *v =
        chip_violate(p->r, "stages", x->u->at,
                     arena_printf(p->r->arena, "table %s takes %u stages of its own, a %s has %u",
                                  x->u->name, stages, p->r->limits->title, p->r->limits->stages),
                     "make the table smaller, or its key narrower");
    v->limit = p->r->limits->stages;
    v->used = stages;
}

static void explain_chain(struct place *p, const struct place_unit *last) {
    struct arena *a = p->r->arena;
    const char *chain = last->u->name;
    const struct place_dep *decisive = NULL;
    const struct place_unit *reader = NULL, *x = last;
    unsigned tables = 1, left_out = 0;
    for (const struct place_dep *d = tight(p, x); d; d = tight(p, x)) {
        if (d->distance && d->dep && !decisive)
            decisive = d, reader = x;
        x = &p->units.v[d->from];
        if (tables++ < 24)
            chain = arena_printf(a, "%s -> %s", x->u->name, chain);
        else
            left_out++;
    }
    if (!decisive) { // alone it is too large
        explain_large(p, last);
        return;
    }
    if (left_out)
        chain = arena_printf(a, "(%u more) -> %s", left_out, chain);
    unsigned stages = last->earliest + last->least + 1;
    const char *field = place_report_field_of(a, decisive->dep->bits);
    const char *writer = p->units.v[decisive->from].u->name;
    struct chip_violation *v = chip_violate(
        p->r, "stages", decisive->dep->reader.line ? decisive->dep->reader : reader->u->at,
        arena_printf(a,
                     "tables that depend on one another take %u stages, a %s has %u: %s; its last "
                     "link: %s %s %s, which %s writes",
                     stages, p->r->limits->title, p->r->limits->stages, chain, reader->u->name,
                     verb_of(decisive->dep->kind), field, writer),
        arena_printf(a,
                     "make %s independent of %s in %s: let an earlier table write it, match on "
                     "both fields in one table, or recirculate the packet",
                     reader->u->name, writer, field));
    v->also = decisive->dep->writer.line ? decisive->dep->writer : p->units.v[decisive->from].u->at;
    v->also_text = "written here";
    v->limit = p->r->limits->stages;
    v->used = stages;
}

// Even if each stage were full, the chip would have too little of something.
static bool place_report_exceeds_chip(const struct place *p) {
    for (unsigned k = 0; k < CHIP_RESOURCES; k++) {
        uint64_t used = 0;
        for (size_t s = 0; s < p->stages.n; s++)
            used += p->stages.v[s]->used[k];
        if (used > (uint64_t)p->r->limits->stages * p->r->limits->per_stage[k])
            return true;
    }
    return false;
}

// No way of placing it found the memory: the chip's compiler, which also has to find rows for it,
// finds no more.
static bool lacks_memory(const struct place *p, const struct place_unit *x) {
    return x->lacked_since < p->r->limits->stages &&
           (x->lack == CHIP_SRAM || x->lack == CHIP_TCAM || x->lack == CHIP_MAP_RAM);
}

// The first unit after the chip's last stage tells what ran out.
static void explain_resource(struct place *p, unsigned used) {
    struct arena *a = p->r->arena;
    unsigned limit = p->r->limits->stages;
    const struct place_unit *x = NULL;
    for (size_t i = 0; i < p->units.n; i++) {
        const struct place_unit *y = &p->units.v[i];
        if (y->last < limit)
            continue;
        bool lacks = y->lacked_since != PLACE_NOBODY && y->lacked_since < limit;
        bool x_lacks = x && x->lacked_since != PLACE_NOBODY && x->lacked_since < limit;
        if (!x || lacks > x_lacks || (lacks == x_lacks && y->last < x->last))
            x = y;
    }
    if (!x)
        return;
    bool large = x->u->parts.n > 1 && x->lacked_since == PLACE_NOBODY;
    const char *what = "";
    if (large)
        what = arena_printf(a, "table %s takes %zu stages of its own, from stage %u", x->u->name,
                            x->u->parts.n, x->u->parts.v[0].stage);
    else if (x->lacked_since != PLACE_NOBODY && x->lacked_since < limit)
        what = arena_printf(a,
                            "%s finds too few %s (a stage has %u) from stage %u, the first that it "
                            "could use, to stage %u",
                            x->u->name, chip_resource_titles[x->lack],
                            p->r->limits->per_stage[x->lack], x->lacked_since, limit - 1);
    else
        what = arena_printf(a, "%s comes after tables that fill all earlier stages", x->u->name);
    struct chip_violation *v =
        chip_violate(p->r, "stages", x->u->at,
                     arena_printf(a, "the tables take %u stages, a %s has %u: %s", used,
                                  p->r->limits->title, limit, what),
                     large ? "make the table smaller"
                           : "make tables smaller, or merge tables that exclude each other");
    v->limit = limit;
    v->used = used;
    v->doubtful = !large && !lacks_memory(p, x) && !place_report_exceeds_chip(p);
    v->within_error = v->doubtful && used <= limit + KNOWN_ERROR;
}

// A chain of values leads from one unit to the other: they are never in one stage.
static bool place_report_leads_to(const struct place *p, unsigned from, unsigned to) {
    bool *reached = ARENA_ARRAY(p->r->arena, bool, p->units.n + 1);
    reached[from] = true;
    // Units are in the order of the program, which all dependencies keep.
    for (unsigned i = from; i < to; i++)
        for (size_t k = 0; reached[i] && k < p->units.v[i].behind.n; k++) {
            const struct place_dep *d = &p->units.v[i].behind.v[k];
            if (d->dep && d->distance > 0)
                reached[d->from] = true;
        }
    return reached[to];
}

static bool place_report_are_apart(const struct place *p, const struct place_shared *m) {
    for (size_t i = 0; i < m->users.n; i++)
        for (size_t k = i + 1; k < m->users.n; k++)
            if (place_report_leads_to(p, m->users.v[i], m->users.v[k]))
                return true;
    return false;
}

void place_explain(struct place *p) {
    unsigned used = 0;
    const struct place_unit *last = NULL;
    for (size_t i = 0; i < p->units.n; i++) {
        const struct place_unit *x = &p->units.v[i];
        if (!last || x->earliest + x->least > last->earliest + last->least)
            last = x;
        used = x->last + 1 > used ? x->last + 1 : used;
    }
    for (size_t i = 0; i < p->shared.n; i++)
        if (p->shared.v[i].impossible) {
            const struct place_shared *m = &p->shared.v[i];
            const struct place_unit *user = &p->units.v[m->users.v[m->users.n - 1]];
            struct chip_violation *v = chip_violate(
                p->r, "register-stage", user->u->at,
                arena_printf(p->r->arena,
                             "%s is used by %s and by %s, which cannot be in one stage: one "
                             "depends on a value that the other writes",
                             m->object->name, p->units.v[m->users.v[0]].u->name, user->u->name),
                "use it in one table, or make its users independent of each other");
            v->also = m->object->at;
            v->also_text = "declared here";
            v->doubtful = !place_report_are_apart(p, m);
        }
    if (!last || used <= p->r->limits->stages)
        return;
    if (last->earliest + last->least + 1 > p->r->limits->stages)
        explain_chain(p, last);
    else
        explain_resource(p, used);
}
