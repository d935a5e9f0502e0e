// SPDX-License-Identifier: Apache-2.0
//
// dump: a plan as text, for golden tests and people. A line says which pass fired, where in the
// source, for what, and what it made of it:
//
//     lanes            aggregate.p4:61 Ingress.sum00.add, entry 2: 32 lanes, 64 registers
//
// Lines stand in the order of the passes, and then in that of the IR, so the same program gives the
// same text. A pass without lines has found nothing.
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/plan/lanes.h"
#include "compiler/plan/parse_paths.h"

struct dump {
    FILE *out;
    const struct plan *plan;
};

// "headers.p4:12", the file without its folder.
static void plan_dump_place(const struct dump *d, struct loc at) {
    if (at.line == 0)
        return;
    const char *path = diag_path(d->plan->d, at.file), *slash = strrchr(path, '/');
    fprintf(d->out, "%s:%" PRIu32 " ", slash ? slash + 1 : path, at.line);
}

static void plan_dump_line(const struct dump *d, const char *pass, struct loc at, const char *fmt,
                           ...) __attribute__((format(printf, 4, 5)));
static void plan_dump_line(const struct dump *d, const char *pass, struct loc at, const char *fmt,
                           ...) {
    va_list ap;
    va_start(ap, fmt);
    fprintf(d->out, "    %-16s ", pass);
    plan_dump_place(d, at);
    vfprintf(d->out, fmt, ap);
    fputc('\n', d->out);
    va_end(ap);
}

// ---- headers and variables ----

static bool is_used(const struct plan *plan, const struct ir_header *h) {
    return plan->headers[h->id].extracted || plan->headers[h->id].emitted;
}

static void in_place(const struct dump *d) {
    for (size_t i = 0; i < d->plan->g->headers.n; i++) {
        const struct ir_header *h = d->plan->g->headers.v[i];
        const struct plan_home *home = &d->plan->homes[i];
        if (is_used(d->plan, h) && home->on_wire)
            plan_dump_line(d, "in_place", h->at, "%s: %s", h->name,
                           home->in_place ? "the packet's own bytes" : "a copy");
    }
}

static void deferred_stores(const struct dump *d) {
    for (size_t i = 0; i < d->plan->g->vars.n; i++)
        if (d->plan->vars[i].deferred)
            plan_dump_line(d, "deferred_stores", d->plan->g->vars.v[i]->at, "%s",
                           d->plan->g->vars.v[i]->name);
}

// ---- tables and loops ----

static void plan_dump_branches(const struct dump *d) {
    for (size_t i = 0; i < d->plan->g->tables.n; i++) {
        const struct ir_table *t = d->plan->g->tables.v[i];
        if (d->plan->tables[i].branches)
            plan_dump_line(d, "branches", t->at, "%s: %zu entries", t->name, t->entries.n);
    }
}

static void fusion(const struct dump *d) {
    for (size_t i = 0; i < d->plan->g->tables.n; i++) {
        const struct ir_table *t = d->plan->g->tables.v[i];
        const struct plan_table *p = &d->plan->tables[i];
        if (p->followers)
            plan_dump_line(d, "fusion", t->at, "%s and %u more, %zu assignments after each",
                           t->name, p->followers, p->n_tail);
    }
}

static void lanes(const struct dump *d) {
    for (size_t i = 0; i < d->plan->g->tables.n; i++) {
        const struct ir_table *t = d->plan->g->tables.v[i];
        const struct plan_lanes **loops = d->plan->tables[i].loops;
        for (size_t k = 0; loops && k <= t->entries.n; k++)
            if (loops[k])
                plan_dump_line(d, "lanes", t->at, "%s, entry %zu: %u lanes, %zu registers in each",
                               t->name, k, loops[k]->count, loops[k]->registers.n);
    }
    for (size_t i = 0; i < d->plan->runs.n; i++) {
        const struct plan_lane_run *r = &d->plan->runs.v[i];
        plan_dump_line(d, "lanes", r->first->at,
                       "%s: %u lanes of %zu statements, %zu registers in each", r->lanes->name,
                       r->lanes->count, r->n_stmts, r->lanes->registers.n);
    }
}

static void sunk_loops(const struct dump *d) {
    for (size_t i = 0; i < d->plan->g->tables.n; i++)
        if (d->plan->tables[i].last)
            plan_dump_line(d, "sunk_loops", d->plan->g->tables.v[i]->at, "%s",
                           d->plan->g->tables.v[i]->name);
    for (size_t i = 0; i < d->plan->runs.n; i++)
        if (d->plan->runs.v[i].last)
            plan_dump_line(d, "sunk_loops", d->plan->runs.v[i].first->at, "%s and all after it",
                           d->plan->runs.v[i].lanes->name);
}

// ---- registers ----

static void plan_dump_banks(const struct dump *d) {
    for (size_t i = 0; i < d->plan->banks.n; i++) {
        const struct plan_bank *b = &d->plan->banks.v[i];
        plan_dump_line(d, b->of_loop ? "lanes" : "banks", b->shape->at,
                       "%s and others: a bank of %u registers of %u x %u bits", b->shape->name,
                       b->lanes, b->shape->words, b->shape->width);
    }
}

static void rows(const struct dump *d) {
    for (size_t i = 0; i < d->plan->rows.n; i++) {
        const struct plan_row *r = &d->plan->rows.v[i];
        const struct ir_register *first = r->registers.v[0];
        plan_dump_line(d, "rows", first->at, "%s and %zu more: %u bytes", first->name,
                       r->registers.n - 1, plan_row_bytes(r));
    }
}

// ---- the control ----

static void splits(const struct dump *d, const struct plan_specialisation *s, const char *in) {
    const struct ir_block *b = d->plan->g->control;
    const struct loc at = s->at < b->stmts.n ? b->stmts.v[s->at]->at : (struct loc){0};
    plan_dump_line(d, "specialise", at, "%sby %s: %zu values, asked for at %u places", in,
                   s->var->name, s->n, s->uses);
    for (size_t i = 0; i <= s->n; i++) {
        const char *value = i < s->n ? big_str(d->plan->a, s->values[i], 10) : "another value";
        if (s->of[i].split)
            splits(d, s->of[i].split,
                   arena_printf(d->plan->a, "%swhere %s is %s, ", in, s->var->name, value));
    }
}

static void specialise(const struct dump *d) {
    if (d->plan->split)
        splits(d, d->plan->split, "");
}

// ---- the parser ----

static void plan_dump_path(const struct dump *d, size_t i) {
    const struct plan_paths *p = d->plan->paths;
    const struct plan_known *k = &p->ends.v[i];
    const char *text = "";
    const char *split = "";
    if (k->split && p->seam.n > 1)
        split = arena_printf(d->plan->a, ", split after %u", p->seam.bytes[k->split - 1]);
    else if (k->split)
        split = ", split";
    if (p->body[i] != i)
        split = arena_printf(d->plan->a, "%s, as path %zu", split, p->body[i] + 1);
    for (size_t h = 0; h < d->plan->g->headers.n; h++)
        if (k->valid[h])
            text = arena_printf(d->plan->a, "%s %s", text, d->plan->g->headers.v[h]->name);
    plan_dump_line(d, "parse_paths", (struct loc){0}, "%u bytes%s:%s", k->at, split,
                   *text ? text : " no headers");
}

static void parse_paths(const struct dump *d) {
    const struct plan_paths *p = d->plan->paths;
    if (!p)
        return;
    size_t asking = 0;
    for (size_t i = 0; i < p->nodes.n; i++)
        asking += !p->nodes.v[i]->gives_up && p->nodes.v[i]->need > p->nodes.v[i]->sure;
    plan_dump_line(d, "parse_paths", (struct loc){0},
                   "%zu nodes, of which %zu ask for the packet's length, %zu paths", p->nodes.n,
                   asking, p->ends.n);
    for (size_t i = 0; i < p->ends.n; i++)
        plan_dump_path(d, i);
}

static void split_packet(const struct dump *d) {
    const struct plan_seam *seam = plan_seam_of(d->plan);
    const char *bytes = "";
    for (size_t i = 0; seam && i < seam->n; i++)
        bytes = arena_printf(d->plan->a, "%s%s%u", bytes, i ? ", " : "", seam->bytes[i]);
    if (seam)
        plan_dump_line(d, "split_packet", (struct loc){0}, "after %s bytes of headers, %s given",
                       bytes, seam->given ? seam->given->name : "nothing");
}

static void plan_dump_prefetch(const struct dump *d) {
    const struct plan_prefetch *p = &d->plan->prefetch;
    if (p->table)
        plan_dump_line(d, "prefetch", p->table->at, "%s, on the path of %u bytes", p->table->name,
                       d->plan->paths->ends.v[p->path].at);
}

static void plan_dump_cells_ahead(const struct dump *d) {
    for (size_t i = 0; i < d->plan->cells_ahead.n; i++) {
        const struct plan_cell_ahead *c = &d->plan->cells_ahead.v[i];
        const char *of = "";
        bool *headers = ARENA_ARRAY(d->plan->a, bool, d->plan->g->headers.n + 1);
        plan_headers_of(c->index, headers);
        for (size_t h = 0; h < d->plan->g->headers.n; h++)
            if (headers[h])
                of = arena_printf(d->plan->a, "%s %s", of, d->plan->g->headers.v[h]->name);
        plan_dump_line(d, "cells_ahead", c->reg->at, "%s: by%s", c->reg->name, of);
    }
}

static void plan_dump_filled_runs(const struct dump *d) {
    const struct ir_gress *g = d->plan->g;
    for (size_t i = 0; i < g->tables.n && d->plan->n_filled_groups; i++)
        if (d->plan->tables[i].filled_group)
            plan_dump_line(d, "filled_runs", g->tables.v[i]->at, "%s: in group %u",
                           g->tables.v[i]->name, d->plan->tables[i].filled_group);
}

// Of compiler/instrument/notes.c, whose statements were there before the plan.
static void flow_record(const struct dump *d) {
    const struct ir_gress *g = d->plan->g;
    for (size_t i = 0; i < g->vars.n && g->decides; i++)
        if (g->decides[i] && g->vars.v[i]->header)
            plan_dump_line(d, "flow_record", g->vars.v[i]->at, "%s decides", g->vars.v[i]->name);
}

void plan_dump(FILE *out, const struct plan *plan) {
    static void (*const parts[])(const struct dump *d) = {
        in_place,
        plan_dump_branches,
        fusion,
        lanes,
        sunk_loops,
        plan_dump_banks,
        rows,
        specialise,
        parse_paths,
        deferred_stores,
        split_packet,
        plan_dump_prefetch,
        plan_dump_cells_ahead,
        plan_dump_filled_runs,
        flow_record,
    };
    const struct dump d = {out, plan};
    fprintf(out, "pipeline %s, %s\n", plan->pipeline->name,
            plan->g->kind == IR_INGRESS ? "ingress" : "egress");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        parts[i](&d);
}
