// SPDX-License-Identifier: Apache-2.0
//
// flow_record: programs that take notes of what they do to a packet, so that it can be done again
// to packets that are like it (stages/notes.h, pipeline/switch/flows.h).
//
// Which bits of a packet decide is known by header: those of fields that anything reads or might
// write, but for a checksum that is verified, which is asked for itself when a packet is compared.
// A program whose passes depend on more than packets, tables and ports takes none: registers, times
// and lengths. Nor does one that asks few tables: it is as fast as the comparison, or faster.
#include <string.h>

#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"
#include "pipeline/abi.h"

#define MIN_TABLES 8u

// ---- who takes notes ----

// The argument list of a checksum is one header, whole; else null.
const struct ir_header *plan_summed_header(const struct ir_stmt *s) {
    const struct ir_expr *const first = s->args.n ? s->args.v[0] : NULL;
    const struct ir_header *const h = first && first->op == IR_VAR ? first->var->header : NULL;
    if (!h || s->args.n != h->fields.n)
        return NULL;
    for (size_t i = 0; i < s->args.n; i++)
        if (s->args.v[i]->op != IR_VAR || s->args.v[i]->var != h->fields.v[i])
            return NULL;
    return h;
}

// What a statement means for doing a pass again to another packet.
enum flow_fate {
    FLOW_REPEATS, // it does the same to a packet that is like this one
    FLOW_ENDS,    // a pass that does this is not done again, so what it reads does not matter
    FLOW_NEVER,   // a program that has this takes no notes
};

// An allow-list: whoever adds a kind of statement says here what it means, or this does not
// compile.
static enum flow_fate flow_fate(const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN:
    case IR_IF:
    case IR_SWITCH:
    case IR_BLOCK:
    case IR_LEAVE:
    case IR_EXIT:
    case IR_SET_VALID:
    case IR_SET_INVALID:
    case IR_APPLY:
    case IR_COUNT:
    case IR_ADVANCE:
    case IR_RAISE:
    case IR_CSUM_VERIFY: // verified again
    case IR_EMIT:
        return FLOW_REPEATS;
    case IR_HASH:
        return s->hash->algorithm == IR_HASH_RANDOM ? FLOW_ENDS : FLOW_REPEATS;
    case IR_EXTRACT:
        return s->headers.n ? FLOW_NEVER : FLOW_REPEATS;
    case IR_CSUM_ADD:
        return plan_summed_header(s) ? FLOW_REPEATS : FLOW_NEVER;
    case IR_METER_EXEC:
    case IR_RANDOM:
    case IR_RESUBMIT:
    case IR_MIRROR:
    case IR_DIGEST:
    case IR_CSUM_UPDATE:
    case IR_REG_EXEC:
    case IR_REG_READ:
    case IR_REG_WRITE:
        return FLOW_ENDS;
    case IR_CSUM_SUBTRACT:
    case IR_CSUM_GET:
    case IR_COUNT_LEAVING:
    case IR_REPORT: // of checked builds, which take no notes
        return FLOW_NEVER;
    }
    return FLOW_NEVER;
}

struct judged {
    const struct ir_gress *g;
    bool bad;
};

static void judge_stmt(void *aux, const struct ir_stmt *s) {
    struct judged *j = aux;
    j->bad |= flow_fate(s) == FLOW_NEVER;
}

// Of what the architecture puts before a packet, a field that is the same for packets that go
// straight through from one port to another, the only ones that are done again
// (pipeline/switch/flows.h): depths of queues are 0. Again an allow-list.
static bool flow_repeats_prefix(enum ir_prefix_field field) {
    switch (field) {
    case IRP_RESUBMIT_FLAG:
    case IRP_PACKET_VERSION:
    case IRP_INGRESS_PORT:
    case IRP_EGRESS_PORT:
    case IRP_ENQ_QDEPTH:
    case IRP_ENQ_CONGEST_STAT:
    case IRP_DEQ_QDEPTH:
    case IRP_DEQ_CONGEST_STAT:
    case IRP_EGRESS_RID:
    case IRP_EGRESS_RID_FIRST:
    case IRP_EGRESS_QID:
    case IRP_EGRESS_COS:
    case IRP_DEFLECTION_FLAG:
        return true;
    case IRP_OTHER:
    case IRP_INGRESS_MAC_TSTAMP:
    case IRP_ENQ_TSTAMP:
    case IRP_APP_POOL_CONGEST_STAT:
    case IRP_DEQ_TIMEDELTA:
    case IRP_PKT_LENGTH:
    case IRP_COUNT:
        return false;
    }
    return false;
}

// Another value for each packet.
static bool flow_is_of_the_moment(const struct ir_gress *g, const struct ir_var *v) {
    return v == g->intrinsic[IRI_GLOBAL_TSTAMP] ||
           (v->header && v->header->intrinsic && !v->padding &&
            !flow_repeats_prefix(v->prefix_field));
}

static void judge_expr(void *aux, const struct ir_expr *x) {
    struct judged *j = aux;
    j->bad |= (x->op == IR_VAR && flow_is_of_the_moment(j->g, x->var)) || x->op == IR_REG_PARAM;
}

static void each_key(const struct ir_gress *g, ir_on_stmt on_stmt, ir_on_expr on_expr, void *aux) {
    for (size_t i = 0; i < g->tables.n; i++) {
        ir_walk(g->tables.v[i]->select, on_stmt, on_expr, aux);
        for (size_t k = 0; k < g->tables.v[i]->keys.n; k++)
            ir_walk_expr(g->tables.v[i]->keys.v[k].expr, on_expr, aux);
    }
}
static void each_block(const struct ir_gress *g, ir_on_stmt on_stmt, ir_on_expr on_expr,
                       void *aux) {
    ir_walk(g->control, on_stmt, on_expr, aux);
    ir_walk(g->deparser, on_stmt, on_expr, aux);
    for (size_t i = 0; i < g->actions.n; i++)
        ir_walk(g->actions.v[i]->body, on_stmt, on_expr, aux);
    each_key(g, on_stmt, on_expr, aux);
}
static void each_state(const struct ir_gress *g, ir_on_stmt on_stmt, ir_on_expr on_expr,
                       void *aux) {
    for (size_t i = 0; i < g->states.n; i++) {
        ir_walk(g->states.v[i]->body, on_stmt, on_expr, aux);
        for (size_t k = 0; k < g->states.v[i]->keys.n; k++)
            ir_walk_expr(g->states.v[i]->keys.v[k], on_expr, aux);
    }
}

static bool takes_notes(const struct plan *plan) {
    struct judged j = {0};
    size_t tables = 0;
    if (plan->checked || plan->program->ingress_prefix != SK_INGRESS_PREFIX)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *g = &plan->pipeline->gress[k];
        j.g = g;
        j.bad |= g->registers.n || g->reg_params.n;
        tables += g->tables.n;
        each_block(g, judge_stmt, judge_expr, &j);
        each_state(g, judge_stmt, judge_expr, &j);
    }
    return !j.bad && tables >= MIN_TABLES;
}

// Which of the headers that leave it is, counted from 1; 0: none.
unsigned plan_emitted_as(const struct plan *plan, const struct ir_header *h) {
    const ir_header_vec emits = plan_emits(plan);
    for (size_t i = 0; i < emits.n; i++)
        if (emits.v[i] == h)
            return (unsigned)i + 1;
    return 0;
}

// ---- which bits decide ----

static void decides_expr(void *aux, const struct ir_expr *x) {
    bool *decides = aux;
    if (x->op == IR_VAR)
        decides[x->var->id] = true;
}

bool plan_ends_record(const struct ir_stmt *s) {
    return flow_fate(s) == FLOW_ENDS;
}

// A table's action that writes to a header of the packet makes of it what is not remembered, and so
// does not decide either.
static bool *what_writes_packet(const struct plan *plan) {
    const struct ir_gress *g = plan->g;
    struct ir_effects f = ir_effects_none(plan->a, g);
    bool *writes = ARENA_ARRAY(plan->a, bool, g->actions.n + 1);
    for (size_t i = 0; i < g->actions.n; i++) {
        ir_effects_clear(&f);
        ir_effects_add_block(&f, g->actions.v[i]->body);
        for (size_t k = 0; k < g->vars.n && !writes[i]; k++) {
            const struct ir_header *h = f.assigned[k] ? g->vars.v[k]->header : NULL;
            writes[i] = h && plan->headers[h->id].extracted && plan_emitted_as(plan, h);
        }
    }
    return writes;
}

bool plan_writes_packet(const struct plan *plan, const struct ir_action *a) {
    return plan->writes_packet[a->id];
}

// What nothing reads, and no wish and no header is, decides nothing, nor what is put there.
static bool *what_matters(const struct plan *plan) {
    const struct ir_gress *g = plan->g;
    bool *matters = ARENA_ARRAY(plan->a, bool, g->vars.n + 1);
    ir_walk(g->control, NULL, decides_expr, matters);
    ir_walk(g->deparser, NULL, decides_expr, matters);
    for (size_t i = 0; i < g->actions.n; i++)
        if (!plan_writes_packet(plan, g->actions.v[i]))
            ir_walk(g->actions.v[i]->body, NULL, decides_expr, matters);
    each_key(g, NULL, decides_expr, matters);
    each_state(g, NULL, decides_expr, matters);
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (g->intrinsic[i])
            matters[g->intrinsic[i]->id] = true;
    for (size_t i = 0; i < g->headers.n; i++)
        matters[g->headers.v[i]->valid->id] = true;
    for (size_t i = 0; i < g->vars.n; i++) {
        if (g->vars.v[i]->header)
            matters[i] = true;
        if (g->vars.v[i]->valid)
            matters[g->vars.v[i]->valid->id] = true;
    }
    return matters;
}

struct deciding {
    const bool *matters;
    bool *decides;
};

static void decides_block(const struct deciding *d, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        if (plan_ends_record(s) || s->kind == IR_CSUM_ADD ||
            (s->kind == IR_ASSIGN && !d->matters[s->var->id]))
            continue;
        const struct ir_var *results[IR_MAX_RESULTS];
        for (size_t k = ir_results(s, results); k-- > 0;)
            d->decides[results[k]->id] = true;
        ir_walk_expr(s->e, decides_expr, d->decides);
        ir_walk_expr(s->e2, decides_expr, d->decides);
        ir_walk_expr(s->e3, decides_expr, d->decides);
        for (size_t k = 0; k < s->args.n; k++)
            ir_walk_expr(s->args.v[k], decides_expr, d->decides);
        decides_block(d, s->then_b);
        decides_block(d, s->else_b);
        for (size_t k = 0; k < s->cases.n; k++)
            decides_block(d, s->cases.v[k].body);
    }
}

static const bool *what_decides(const struct plan *plan) {
    const struct ir_gress *g = plan->g;
    const struct deciding d = {what_matters(plan), ARENA_ARRAY(plan->a, bool, g->vars.n + 1)};
    decides_block(&d, g->control);
    decides_block(&d, g->deparser);
    for (size_t i = 0; i < g->actions.n; i++)
        if (!plan_writes_packet(plan, g->actions.v[i]))
            decides_block(&d, g->actions.v[i]->body);
    for (size_t i = 0; i < g->tables.n; i++) {
        decides_block(&d, g->tables.v[i]->select);
        for (size_t k = 0; k < g->tables.v[i]->keys.n; k++)
            ir_walk_expr(g->tables.v[i]->keys.v[k].expr, decides_expr, d.decides);
    }
    for (size_t i = 0; i < g->states.n; i++) {
        decides_block(&d, g->states.v[i]->body);
        for (size_t k = 0; k < g->states.v[i]->keys.n; k++)
            ir_walk_expr(g->states.v[i]->keys.v[k], decides_expr, d.decides);
    }
    return d.decides;
}

void plan_flow_record(struct plan *plan) {
    if (!takes_notes(plan))
        return;
    plan->writes_packet = what_writes_packet(plan);
    plan->decides = what_decides(plan);
}

bool plan_records(const struct plan *plan) {
    return plan->decides != NULL;
}
