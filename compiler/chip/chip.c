// SPDX-License-Identifier: Apache-2.0
//
// chip: the phases one after another. See chip.h.
#include "compiler/chip/chip.h"

#include "compiler/chip/graph/graph.h"
#include "compiler/chip/memory/memory.h"
#include "compiler/chip/parde/parde.h"
#include "compiler/chip/phv/phv.h"
#include "compiler/chip/place/place.h"
#include "compiler/chip/report_add.h"
#include "compiler/chip/salu/salu.h"

// A chip has no place for what only says why a packet is dropped.
static void forget_consumed(struct ir_block *b, const struct ir_var *consumed) {
    size_t n = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct ir_stmt *s = b->stmts.v[i];
        if (s->kind == IR_ASSIGN && s->var == consumed)
            continue;
        forget_consumed(s->then_b, consumed);
        forget_consumed(s->else_b, consumed);
        for (size_t k = 0; k < s->cases.n; k++)
            forget_consumed(s->cases.v[k].body, consumed);
        b->stmts.v[n++] = s;
    }
    if (b)
        b->stmts.n = n;
}

static void forget_consumption(struct ir_gress *g) {
    const struct ir_var *consumed = g->intrinsic[IRI_CONSUMED];
    if (!consumed)
        return;
    forget_consumed(g->control, consumed);
    for (size_t i = 0; i < g->actions.n; i++)
        forget_consumed(g->actions.v[i]->body, consumed);
    g->intrinsic[IRI_CONSUMED] = NULL;
}

// One placement, of its own units.
static struct chip_pipe *chip_place_with(struct chip_report *r, struct ir_pipeline *p,
                                         enum chip_gateways gateways) {
    struct chip_pipe *pipe = ARENA_NEW(r->arena, struct chip_pipe);
    pipe->ir = p;
    pipe->gateways = gateways;
    for (unsigned g = 0; g < 2; g++) {
        pipe->gress[g].kind = (enum ir_gress_kind)g;
        pipe->gress[g].ir = &p->gress[g];
    }
    chip_graph(r, pipe);
    chip_salu(r, pipe);
    chip_memory(r, pipe);
    chip_place(r, pipe);
    return pipe;
}

// A placement, and what it has added to the report.
struct attempt {
    struct chip_pipe *pipe;
    VEC(struct chip_violation) violations;
    VEC(const char *) notes;
    unsigned stages;
};

static bool chip_is_better(const struct attempt *x, const struct attempt *y) {
    if (x->violations.n != y->violations.n)
        return x->violations.n < y->violations.n;
    return x->stages < y->stages;
}

static struct attempt chip_attempt(struct chip_report *r, struct ir_pipeline *p,
                                   enum chip_gateways gateways) {
    const size_t violations = r->violations.n, notes = r->notes.n;
    struct attempt one = {.pipe = chip_place_with(r, p, gateways)};
    for (size_t i = violations; i < r->violations.n; i++)
        VEC_PUSH(r->arena, &one.violations, r->violations.v[i]);
    for (size_t i = notes; i < r->notes.n; i++)
        VEC_PUSH(r->arena, &one.notes, r->notes.v[i]);
    for (unsigned g = 0; g < 2; g++)
        if (one.pipe->gress[g].stages > one.stages)
            one.stages = one.pipe->gress[g].stages;
    r->violations.n = violations;
    r->notes.n = notes;
    return one;
}

// The chip's compiler, too, tries several placements and takes one that fits.
static struct chip_pipe *chip_place_best(struct chip_report *r, struct ir_pipeline *p) {
    const bool fits = r->fits;
    struct attempt best = chip_attempt(r, p, CHIP_GATEWAYS_JOINED);
    for (int k = CHIP_GATEWAYS_JOINED + 1; k < CHIP_GATEWAY_WAYS && best.violations.n > 0; k++) {
        struct attempt one = chip_attempt(r, p, (enum chip_gateways)k);
        if (chip_is_better(&one, &best))
            best = one;
    }
    for (size_t i = 0; i < best.violations.n; i++)
        VEC_PUSH(r->arena, &r->violations, best.violations.v[i]);
    for (size_t i = 0; i < best.notes.n; i++)
        VEC_PUSH(r->arena, &r->notes, best.notes.v[i]);
    r->fits = fits && best.violations.n == 0;
    return best.pipe;
}

static struct chip_pipe *check_pipe(struct chip_report *r, struct ir_pipeline *p) {
    for (unsigned g = 0; g < 2; g++)
        forget_consumption(&p->gress[g]);
    struct chip_pipe *pipe = chip_place_best(r, p);
    chip_parde(r, pipe);
    chip_phv(r, pipe);
    chip_parde_states(r, pipe);
    return pipe;
}

// What holds for every program.
static void note_what_is_left_out(struct chip_report *r) {
    chip_note(r,
              "Stages: the chip's compiler tries many orders of the tables and takes one that its "
              "allocation of containers and RAMs allows. It may need one stage more than this "
              "placement, or fewer stages. It cannot need fewer stages than the critical path.");
    chip_note(
        r,
        "RAMs, crossbars and buses are counted per stage. Where RAM rows, hash groups or bus bytes "
        "must be is not modelled: something may not fit even though the totals say it does.");
    chip_note(r, "PHV: this is one of many ways to pack fields into containers. Pragmas (@pa_*, "
                 "@stage, @pack and others) are not followed.");
    chip_note(r, "Power and latency, the traffic manager's buffers and the speed of drivers are "
                 "not modelled.");
}

enum chip_verdict chip_verdict(const struct chip_report *r) {
    enum chip_verdict verdict = r->fits ? CHIP_FITS : CHIP_MAY_NOT_FIT;
    for (size_t i = 0; i < r->violations.n; i++)
        if (!r->violations.v[i].doubtful)
            verdict = CHIP_DOES_NOT_FIT;
    return verdict;
}

struct chip_report *chip_check(struct arena *a, struct diag *d, const struct ir_program *p,
                               enum chip_target target) {
    struct chip_report *r = ARENA_NEW(a, struct chip_report);
    r->program = p;
    r->target = target;
    r->limits = chip_limits_of(target);
    r->arena = a;
    r->diag = d;
    r->fits = r->judged = true;
    r->path = p->path;
    for (size_t i = 0; i < p->pipelines.n; i++) {
        struct chip_pipe *pipe = check_pipe(r, p->pipelines.v[i]);
        VEC_PUSH(a, &r->pipes, pipe);
        for (unsigned g = 0; g < 2; g++)
            if (pipe->gress[g].stages > r->stages)
                r->stages = pipe->gress[g].stages;
    }
    chip_trust_known_error(r);
    note_what_is_left_out(r);
    return r;
}
