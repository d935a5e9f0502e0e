// SPDX-License-Identifier: Apache-2.0
//
// fields: who reads and writes each variable of a gress, and from when to when it lives. See phv.h.
#include "compiler/chip/phv/phv_impl.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/ir/walk.h"

struct scan {
    struct phv *p;
    struct phv_gress *g;
    unsigned which;
};

static struct phv_field *phv_fields_of(struct phv_gress *g, const struct ir_var *v) {
    return v->id < g->g->ir->vars.n && g->g->ir->vars.v[v->id] == v ? &g->fields[v->id] : NULL;
}

// The stage of a unit's part. Of one that found no place on the chip: where what it depends on
// would let it be, so that what lives one after the other still does.
static int stage_of(const struct phv *p, const struct chip_unit *u, size_t part) {
    unsigned most = (unsigned)p->stages, stage = u->parts.v[part].stage;
    if (stage >= most)
        stage = u->earliest < most ? u->earliest : most - 1;
    return (int)stage;
}

// ---- units --------------------------------------------------------------------------------------
struct span {
    int first, last;
};

static struct span phv_fields_span_of(const struct phv *p, const struct chip_unit *u) {
    struct span s = {0, p->stages - 1};
    if (u->parts.n > 0) {
        s.first = s.last = stage_of(p, u, 0);
        for (size_t i = 1; i < u->parts.n; i++) {
            int at = stage_of(p, u, i);
            s.first = at < s.first ? at : s.first;
            s.last = at > s.last ? at : s.last;
        }
    }
    return s;
}

// What tells one way of touching a field from others, as good as surely.
static uint64_t phv_fields_mix(uint64_t unit, uint64_t role, bool writes) {
    uint64_t h = (unit * 1024 + role * 2 + writes + 1) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
}

static void phv_fields_touch(struct scan *s, const chip_bits_vec *bits, const struct chip_unit *u,
                             unsigned role, bool writes) {
    struct span at = phv_fields_span_of(s->p, u);
    for (size_t i = 0; i < bits->n; i++) {
        struct phv_field *f = phv_fields_of(s->g, bits->v[i].var);
        if (!f)
            continue;
        f->ways += phv_fields_mix(u->id, role, writes);
        if (writes) {
            if (!f->written || at.first < f->first_write)
                f->first_write = at.first;
            f->written = true;
        } else {
            f->read = true;
        }
        if (f->unit < 0) {
            f->first = at.first;
            f->last = at.last;
            f->unit = (int)u->id;
        } else {
            f->first = at.first < f->first ? at.first : f->first;
            f->last = at.last > f->last ? at.last : f->last;
            f->several = f->several || f->unit != (int)u->id;
        }
    }
}

static void computed(struct scan *s, const struct chip_op *op) {
    struct phv_field *to = op->to.var ? phv_fields_of(s->g, op->to.var) : NULL;
    if (op->dead || op->kind != CHIP_OP_COMPUTE)
        return;
    // Bit by bit they may be cut like moves; what a shift takes from the container beside it comes
    // with it.
    if (op->op == IR_AND || op->op == IR_OR || op->op == IR_XOR || op->op == IR_NOT ||
        op->op == IR_SHL || op->op == IR_LSHR)
        return;
    if (to)
        to->computed = to->result = true;
    for (size_t i = 0; i < op->from.n; i++) {
        struct phv_field *f = phv_fields_of(s->g, op->from.v[i].var);
        if (f)
            f->computed = true;
    }
}

static void scan_units(struct scan *s) {
    for (size_t i = 0; i < s->g->g->units.n; i++) {
        const struct chip_unit *u = &s->g->g->units.v[i];
        phv_fields_touch(s, &u->key, u, 0, false);
        phv_fields_touch(s, &u->gateway, u, 1, false);
        for (size_t j = 0; j < u->actions.n; j++) {
            const struct chip_action *a = &u->actions.v[j];
            unsigned role = (unsigned)(2 + j);
            phv_fields_touch(s, &a->reads, u, role, false);
            phv_fields_touch(s, &a->hashed, u, role, false);
            phv_fields_touch(s, &a->writes, u, role, true);
            for (size_t k = 0; k < a->accesses.n; k++) {
                phv_fields_touch(s, &a->accesses.v[k].index, u, role, false);
                phv_fields_touch(s, &a->accesses.v[k].operands, u, role, false);
            }
            for (size_t k = 0; k < a->ops.n; k++)
                computed(s, &a->ops.v[k]);
        }
    }
}

// ---- parser, control, deparser ------------------------------------------------------------------
static void parsed_var(void *ctx, struct ir_var **var) {
    struct scan *s = ctx;
    struct phv_field *f = phv_fields_of(s->g, *var);
    if (f)
        f->parsed = true;
}

// Metadata is zero where nobody has set it: the chip's compiler drops what says so, and sees to it
// in the stage before the field is used.
static bool phv_fields_says_zero(const struct ir_stmt *st) {
    return st->kind == IR_ASSIGN && !st->var->header && st->e->op == IR_CONST &&
           big_sign(st->e->value) == 0;
}

static void phv_fields_parser_stmt(void *ctx, struct ir_stmt *st) {
    struct scan *s = ctx;
    if (!phv_fields_says_zero(st))
        ir_written_vars(st, parsed_var, s);
    if (st->kind != IR_EXTRACT)
        return;
    if (st->header)
        s->g->extracted[st->header->id] = true;
    for (size_t i = 0; i < st->headers.n; i++)
        s->g->extracted[st->headers.v[i]->id] = true;
}

static void control_stmt(void *ctx, struct ir_stmt *st) {
    struct scan *s = ctx;
    if (st->kind == IR_SET_VALID)
        s->g->made[st->header->id] = true;
    // A whole header that is assigned: its validity is.
    if (st->kind == IR_ASSIGN && st->var)
        for (size_t i = 0; i < s->g->g->ir->headers.n; i++)
            if (s->g->g->ir->headers.v[i]->valid == st->var)
                s->g->made[i] = true;
}

static void deparser_expr(void *ctx, struct ir_expr *e) {
    struct scan *s = ctx;
    if (e->op == IR_VAR) {
        struct phv_field *f = phv_fields_of(s->g, e->var);
        if (f)
            f->deparsed = true;
    }
}

static void deparser_stmt(void *ctx, struct ir_stmt *st) {
    struct scan *s = ctx;
    if (st->kind == IR_EMIT && st->header)
        s->g->emitted[st->header->id] = true;
}

bool phv_header_lives(const struct phv *p, unsigned g, const struct ir_header *h) {
    const struct phv_gress *pg = &p->gress[g];
    return pg->extracted[h->id] || pg->made[h->id];
}

// ---- which headers are never in a packet together -----------------------------------------------
// A state reaches itself, and what follows it.
static void state_ways(const struct ir_gress *ir, bool *reach) {
    size_t n = ir->states.n;
    for (size_t from = 0; from < n; from++) {
        bool *row = reach + from * n;
        // a walk with a stack of states; each is pushed once
        size_t *stack = calloc(n, sizeof *stack);
        size_t depth = 0;
        if (!stack)
            abort();
        row[from] = true;
        stack[depth++] = from;
        while (depth > 0) {
            const struct ir_state *s = ir->states.v[stack[--depth]];
            for (size_t i = 0; i <= s->cases.n; i++) {
                int next = i < s->cases.n ? s->cases.v[i].next : s->next;
                if (i == s->cases.n && s->keys.n > 0)
                    continue;
                if (next >= 0 && (size_t)next < n && !row[next]) {
                    row[next] = true;
                    stack[depth++] = (size_t)next;
                }
            }
        }
        free(stack);
    }
}

struct extracts {
    const struct ir_gress *ir;
    bool *has; // [state * headers + header]
    size_t state;
};

static void extracts_stmt(void *ctx, struct ir_stmt *st) {
    struct extracts *x = ctx;
    if (st->kind != IR_EXTRACT)
        return;
    bool *row = x->has + x->state * x->ir->headers.n;
    if (st->header)
        row[st->header->id] = true;
    for (size_t i = 0; i < st->headers.n; i++)
        row[st->headers.v[i]->id] = true;
}

#define MAX_STATES                                                                                 \
    1000u // of a parser whose ways are looked at: beyond, all headers may be together

static void headers_together(struct phv *p, struct phv_gress *g) {
    const struct ir_gress *ir = g->g->ir;
    size_t states = ir->states.n, headers = ir->headers.n;
    if (states > MAX_STATES || headers > MAX_STATES)
        return;
    bool *reach = ARENA_ARRAY(p->a, bool, states *states + 1);
    struct extracts x = {.ir = ir, .has = ARENA_ARRAY(p->a, bool, states *headers + 1)};
    state_ways(ir, reach);
    for (size_t i = 0; i < states; i++) {
        x.state = i;
        struct ir_visitor v = {.ctx = &x, .stmt = extracts_stmt, .shallow = true};
        ir_visit_block(&v, ir->states.v[i]->body);
    }
    g->together = ARENA_ARRAY(p->a, bool, headers *headers + 1);
    for (size_t a = 0; a < headers; a++)
        for (size_t b = 0; b < headers; b++)
            if (a == b || g->made[a] || g->made[b])
                g->together[a * headers + b] = true;
    // After a header come those of the states that its states reach.
    VEC(unsigned) *lists = arena_alloc(p->a, sizeof *lists * (states + 1));
    for (size_t i = 0; i < states; i++)
        for (size_t h = 0; h < headers; h++)
            if (x.has[i * headers + h])
                VEC_PUSH(p->a, &lists[i], (unsigned)h);
    uint64_t work = 0;
    for (size_t i = 0; i < states * states; i++) {
        size_t from = i / states, to = i % states;
        if (!reach[i])
            continue;
        work += lists[from].n * lists[to].n;
        if (work > PHV_MAX_WORK) {
            g->together = NULL;
            return;
        }
        for (size_t k = 0; k < lists[from].n; k++)
            for (size_t l = 0; l < lists[to].n; l++) {
                size_t a = lists[from].v[k], b = lists[to].v[l];
                g->together[a * headers + b] = g->together[b * headers + a] = true;
            }
    }
}

bool phv_together(const struct phv *p, unsigned g, const struct ir_header *a,
                  const struct ir_header *b) {
    const struct phv_gress *pg = &p->gress[g];
    return !a || !b || !pg->together || pg->together[a->id * pg->g->ir->headers.n + b->id];
}

// ---- lives --------------------------------------------------------------------------------------
static void lives(struct phv *p, struct phv_gress *g) {
    const struct ir_gress *ir = g->g->ir;
    for (size_t i = 0; i < ir->vars.n; i++) {
        const struct ir_var *v = ir->vars.v[i];
        struct phv_field *f = &g->fields[i];
        bool in_header = v->header != NULL;
        bool emitted = in_header && g->emitted[v->header->id];
        if (in_header && g->extracted[v->header->id])
            f->parsed = true;
        if (emitted)
            f->deparsed = true;
        if (f->unit < 0) {
            f->first = p->stages;
            f->last = -1;
        }
        if (f->parsed || (f->read && !f->written))
            f->first = -1;
        if (f->deparsed)
            f->last = p->stages;
        if (f->first > f->last)
            f->first = f->last;
    }
    // What a header's first write brings to life is the whole header.
    for (size_t h = 0; h < ir->headers.n; h++) {
        const struct ir_header *hdr = ir->headers.v[h];
        if (g->extracted[h] || !g->emitted[h])
            continue;
        int first = p->stages;
        if (hdr->valid && g->fields[hdr->valid->id].unit >= 0)
            first = g->fields[hdr->valid->id].first;
        for (size_t i = 0; i < hdr->fields.n; i++)
            if (g->fields[hdr->fields.v[i]->id].first < first)
                first = g->fields[hdr->fields.v[i]->id].first;
        for (size_t i = 0; i < hdr->fields.n; i++)
            g->fields[hdr->fields.v[i]->id].first = first;
    }
}

// The port that a packet goes out of stays where the parser puts it: the chip looks there.
static void egress_port(struct phv_gress *g) {
    const struct ir_gress *ir = g->g->ir;
    static const char name[] = ".egress_port";
    for (size_t i = 0; ir->kind == IR_EGRESS && i < ir->vars.n; i++) {
        const struct ir_var *v = ir->vars.v[i];
        size_t n = strlen(v->name), end = sizeof name - 1;
        if (v->header && v->header->intrinsic && g->extracted[v->header->id] && n > end &&
            strcmp(v->name + n - end, name) == 0)
            g->fields[i].intrinsic = g->fields[i].deparsed = true;
    }
}

// Of what the architecture gives and takes through variables: from IRI_UCAST_EGRESS_PORT on it
// takes.
static void intrinsics(struct phv_gress *g) {
    const struct ir_gress *ir = g->g->ir;
    for (unsigned i = 0; i < IRI_COUNT; i++) {
        const struct ir_var *v = ir->intrinsic[i];
        struct phv_field *f = v ? phv_fields_of(g, v) : NULL;
        if (!f)
            continue;
        if (i == IRI_GLOBAL_TSTAMP || i == IRI_GLOBAL_VER || i == IRI_PARSER_ERR)
            f->parsed = true;
        else if (f->written || f->parsed)
            f->intrinsic = f->deparsed = true;
        else
            f->deparsed = false; // never assigned: the deparser's condition never holds
    }
}

void phv_fields(struct phv *p) {
    for (unsigned i = 0; i < 2; i++) {
        struct phv_gress *g = &p->gress[i];
        const struct ir_gress *ir = g->g->ir;
        struct scan s = {.p = p, .g = g, .which = i};
        g->fields = ARENA_ARRAY(p->a, struct phv_field, ir->vars.n + 1);
        for (size_t v = 0; v < ir->vars.n; v++)
            g->fields[v].unit = -1;
        g->extracted = ARENA_ARRAY(p->a, bool, ir->headers.n + 1);
        g->emitted = ARENA_ARRAY(p->a, bool, ir->headers.n + 1);
        g->made = ARENA_ARRAY(p->a, bool, ir->headers.n + 1);
        scan_units(&s);
        struct ir_visitor parser = {.ctx = &s, .stmt = phv_fields_parser_stmt, .shallow = true};
        for (size_t k = 0; k < ir->states.n; k++)
            ir_visit_block(&parser, ir->states.v[k]->body);
        struct ir_visitor control = {.ctx = &s, .stmt = control_stmt};
        ir_visit_block(&control, ir->control);
        struct ir_visitor deparser = {.ctx = &s, .stmt = deparser_stmt, .expr = deparser_expr};
        ir_visit_block(&deparser, ir->deparser);
        headers_together(p, g);
        intrinsics(g);
        if (p->r->target == CHIP_TOFINO1)
            egress_port(g);
        lives(p, g);
    }
}
