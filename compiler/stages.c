// SPDX-License-Identifier: Apache-2.0
#include "compiler/stages.h"

#include <string.h>

static void stages_add_table(struct arena *a, struct schema_stages *s, const struct chip_unit *u) {
    struct schema_stage_table t = {.name = arena_printf(a, "%s", u->name),
                                   .first = u->parts.v[0].stage};
    for (size_t i = 0; i < u->parts.n; i++) {
        const unsigned stage = u->parts.v[i].stage;
        t.first = stage < t.first ? stage : t.first;
        t.last = stage > t.last ? stage : t.last;
    }
    VEC_PUSH(a, &s->tables, t);
}

static struct schema_stage_field *stages_field(struct arena *a, struct schema_stages *s,
                                               const char *name) {
    for (size_t i = 0; i < s->fields.n; i++)
        if (strcmp(s->fields.v[i].name, name) == 0)
            return &s->fields.v[i];
    VEC_PUSH(a, &s->fields,
             ((struct schema_stage_field){
                 .name = arena_printf(a, "%s", name), .live = false, .written = UINT_MAX}));
    return &s->fields.v[s->fields.n - 1];
}

// Before the first stage a field is in the parser, after the last one in the deparser.
static void stages_add_slice(struct arena *a, struct schema_stages *s, const struct chip_slice *k,
                             unsigned stages) {
    struct schema_stage_field *f = stages_field(a, s, k->bits.var->name);
    const unsigned first = k->first_stage < 0 ? 0 : (unsigned)k->first_stage,
                   end = k->last_stage < 0 ? 0 : (unsigned)k->last_stage,
                   last = end < stages ? end : stages - 1;
    if (k->last_stage < 0 || first > last)
        return;
    f->first = f->live && f->first < first ? f->first : first;
    f->last = f->live && f->last > last ? f->last : last;
    f->live = true;
}

static void stages_add_writes(struct arena *a, struct schema_stages *s, const struct chip_unit *u) {
    for (size_t i = 0; i < u->actions.n; i++)
        for (size_t k = 0; k < u->actions.v[i].writes.n; k++) {
            struct schema_stage_field *f =
                stages_field(a, s, u->actions.v[i].writes.v[k].var->name);
            if (u->parts.v[0].stage < f->written)
                f->written = u->parts.v[0].stage;
        }
}

static void stages_of_gress(struct arena *a, struct schema_stages *s, const struct chip_pipe *p,
                            unsigned gress, unsigned stages) {
    const struct chip_gress *g = &p->gress[gress];
    s->stages = stages;
    for (size_t i = 0; i < p->phv.containers.n; i++) {
        const struct chip_container *c = &p->phv.containers.v[i];
        for (size_t k = 0; k < c->slices.n && c->gress == (int)gress && !c->tagalong; k++)
            stages_add_slice(a, s, &c->slices.v[k], stages);
    }
    for (size_t i = 0; i < g->units.n; i++) {
        stages_add_writes(a, s, &g->units.v[i]);
        if (g->units.v[i].kind == CHIP_TABLE)
            stages_add_table(a, s, &g->units.v[i]);
    }
}

const struct schema_stages *stages_of_report(struct arena *a, const struct chip_report *r) {
    if (!r->judged || r->refused || r->pipes.n == 0)
        return NULL;
    struct schema_stages *s = ARENA_ARRAY(a, struct schema_stages, 2 * r->pipes.n);
    for (size_t i = 0; i < r->pipes.n; i++)
        for (unsigned g = 0; g < 2; g++)
            stages_of_gress(a, &s[2 * i + g], r->pipes.v[i], g, r->limits->stages);
    return s;
}
