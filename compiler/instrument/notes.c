// SPDX-License-Identifier: Apache-2.0
//
// notes: programs that take notes of what they do to a packet, so that it can be done again to
// packets that are like it (stages/notes.h, pipeline/switch/flows.h).
//
//     extract hdr.ipv4            note header hdr.ipv4
//     invalid hdr.bridge          note order hdr.ipv4 2
//     c = meter police[i]()  ->   extract hdr.ipv4
//                                 note removed hdr.bridge if hdr.bridge.$valid
//                                 invalid hdr.bridge
//                                 note unfit
//                                 c = meter police[i]()
//
// For each header, the compiler knows which bits decide what the program does: those of the fields
// that a statement reads or might write. A checksum that the program verifies is the exception: the
// engine verifies it again when it compares a packet. A program takes no notes if its passes depend
// on more than packets, tables and ports, that is on registers, times or lengths. A program with
// fewer than INSTRUMENT_NOTES_TABLES tables takes no notes either.
#include "compiler/instrument/instrument_impl.h"
#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/emitted.h"
#include "compiler/ir/walk.h"
#include "pipeline/abi.h"

// ---- who takes notes ----

// The argument list of a checksum is one header, whole; else null.
static const struct ir_header *notes_summed(const struct ir_stmt *s) {
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
        return notes_summed(s) ? FLOW_REPEATS : FLOW_NEVER;
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
    case IR_NOTE:   // of a program that takes notes already
    case IR_REPORT: // of checked builds, which take none
    case IR_TRACE:
    case IR_NEXT_CELL:
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
static void each_state(const struct ir_gress *g, ir_on_stmt on_stmt, ir_on_expr on_expr,
                       void *aux) {
    for (size_t i = 0; i < g->states.n; i++) {
        ir_walk(g->states.v[i]->body, on_stmt, on_expr, aux);
        for (size_t k = 0; k < g->states.v[i]->keys.n; k++)
            ir_walk_expr(g->states.v[i]->keys.v[k], on_expr, aux);
    }
}

static bool takes_notes(const struct ir_program *program, const struct ir_pipeline *pl,
                        const struct instrument_options *opt) {
    struct judged j = {0};
    size_t tables = 0;
    if (program->ingress_prefix != SK_INGRESS_PREFIX)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *g = &pl->gress[k];
        j.g = g;
        j.bad |= g->registers.n || g->reg_params.n;
        tables += g->tables.n;
        ir_walk_gress(g, judge_stmt, judge_expr, &j);
    }
    return !j.bad && (tables >= INSTRUMENT_NOTES_TABLES || opt->notes_always);
}

// ---- what the pass knows of a gress ----

struct notes {
    struct arena *a;
    const struct ir_gress *g;
    bool *extracted;   // by header: some state does
    unsigned *place;   // by header: which of those that leave it is, from 1 on; 0: none
    bool *is_validity; // by variable: of a header
    bool *writes;      // by action: it writes to a header that came and leaves
};

static struct notes notes_of(struct arena *a, const struct ir_gress *g) {
    struct ir_effects parser = ir_effects_none(a, g);
    const ir_header_vec emits = ir_emits(a, g, NULL);
    struct notes n = {.a = a,
                      .g = g,
                      .place = ARENA_ARRAY(a, unsigned, g->headers.n + 1),
                      .is_validity = ARENA_ARRAY(a, bool, g->vars.n + 1),
                      .writes = ARENA_ARRAY(a, bool, g->actions.n + 1)};
    ir_effects_add_parser(&parser);
    n.extracted = parser.extracted;
    for (size_t i = emits.n; i-- > 0;)
        n.place[emits.v[i]->id] = (unsigned)i + 1;
    for (size_t i = 0; i < g->headers.n; i++)
        n.is_validity[g->headers.v[i]->valid->id] = true;
    return n;
}

// ---- which bits decide ----

static void decides_expr(void *aux, const struct ir_expr *x) {
    bool *decides = aux;
    if (x->op == IR_VAR)
        decides[x->var->id] = true;
}

static bool notes_end(const struct ir_stmt *s) {
    return flow_fate(s) == FLOW_ENDS;
}

// A table's action that writes to a header of the packet makes of it what is not remembered, and so
// does not decide either.
static void what_writes_packet(struct notes *n) {
    const struct ir_gress *g = n->g;
    struct ir_effects f = ir_effects_none(n->a, g);
    for (size_t i = 0; i < g->actions.n; i++) {
        ir_effects_clear(&f);
        ir_effects_add_block(&f, g->actions.v[i]->body);
        for (size_t k = 0; k < g->vars.n && !n->writes[i]; k++) {
            const struct ir_header *h = f.assigned[k] ? g->vars.v[k]->header : NULL;
            n->writes[i] = h && n->extracted[h->id] && n->place[h->id];
        }
    }
}

// What nothing reads, and no wish and no header is, decides nothing, nor what is put there.
static bool *what_matters(const struct notes *n) {
    const struct ir_gress *g = n->g;
    bool *matters = ARENA_ARRAY(n->a, bool, g->vars.n + 1);
    ir_walk(g->control, NULL, decides_expr, matters);
    ir_walk(g->deparser, NULL, decides_expr, matters);
    for (size_t i = 0; i < g->actions.n; i++)
        if (!n->writes[i])
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
        if (notes_end(s) || s->kind == IR_CSUM_ADD ||
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

static const bool *what_decides(const struct notes *n) {
    const struct ir_gress *g = n->g;
    const struct deciding d = {what_matters(n), ARENA_ARRAY(n->a, bool, g->vars.n + 1)};
    decides_block(&d, g->control);
    decides_block(&d, g->deparser);
    for (size_t i = 0; i < g->actions.n; i++)
        if (!n->writes[i])
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

// ---- the statements ----

// Puts a note of that kind, to be filled in, before statement 's'.
static struct ir_stmt *notes_add(const struct notes *n, struct ir_block *to,
                                 const struct ir_stmt *s, enum ir_noted noted) {
    struct ir_stmt *const note = ir_stmt_new(n->a, IR_NOTE, s->at);
    note->within = s->within;
    note->noted = noted;
    ir_push(n->a, to, note);
    return note;
}

struct lookaheads {
    struct arena *a;
    ir_expr_vec found;
};

// Of what is looked at for some of its bits only, these; and the last one, since a packet must be
// so long.
static void find_slice(struct lookaheads *l, const struct ir_expr *slice) {
    const struct ir_expr *const x = slice->a;
    const unsigned end = x->lo + x->width;
    VEC_PUSH(l->a, &l->found, ir_lookahead(l->a, slice->width, end - slice->lo - slice->width));
    if (slice->lo)
        VEC_PUSH(l->a, &l->found, ir_lookahead(l->a, 1, end - 1));
}

static void find_lookaheads(struct lookaheads *l, const struct ir_expr *x) {
    if (!x)
        return;
    if (x->op == IR_SLICE && x->a->op == IR_LOOKAHEAD) {
        find_slice(l, x);
        return;
    }
    if (x->op == IR_LOOKAHEAD)
        VEC_PUSH(l->a, &l->found, (struct ir_expr *)x);
    find_lookaheads(l, x->a);
    find_lookaheads(l, x->b);
    find_lookaheads(l, x->c);
}

static void note_lookaheads(const struct notes *n, struct ir_block *to, const struct ir_stmt *s) {
    struct lookaheads l = {.a = n->a};
    find_lookaheads(&l, s->e);
    find_lookaheads(&l, s->e2);
    find_lookaheads(&l, s->e3);
    for (size_t i = 0; i < s->args.n; i++)
        find_lookaheads(&l, s->args.v[i]);
    if (l.found.n)
        notes_add(n, to, s, IR_NOTED_LOOKAHEAD)->args = l.found;
}

static void note_extract(const struct notes *n, struct ir_block *to, const struct ir_stmt *s) {
    struct ir_header *const h = s->header;
    const unsigned place = n->place[h->id];
    if (h->bits)
        notes_add(n, to, s, IR_NOTED_HEADER)->header = h;
    struct ir_stmt *const note = notes_add(n, to, s, place ? IR_NOTED_ORDER : IR_NOTED_TAKEN);
    note->header = h;
    note->lo = place;
}

// A header that is added changes nothing about the others when it is the first one.
static void note_added(const struct notes *n, struct ir_block *to, const struct ir_stmt *s) {
    if (n->place[s->header->id] > 1)
        notes_add(n, to, s, IR_NOTED_UNFIT)->e = ir_not_bool(n->a, ir_ref(n->a, s->header->valid));
}

static void note_removed(const struct notes *n, struct ir_block *to, const struct ir_stmt *s) {
    if (!n->extracted[s->header->id] || !n->place[s->header->id])
        return;
    struct ir_stmt *const note = notes_add(n, to, s, IR_NOTED_REMOVED);
    note->header = s->header;
    note->e = ir_ref(n->a, s->header->valid);
}

// By assignment: what a statement does to a header's validity is known otherwise.
static bool sets_validity(const struct notes *n, const struct ir_stmt *s) {
    const struct ir_var *results[IR_MAX_RESULTS];
    bool sets = false;
    for (size_t i = 0, count = ir_results(s, results); i < count; i++)
        sets |= n->is_validity[results[i]->id];
    return sets;
}

static void notes_before(void *aux, struct ir_block *to, struct ir_stmt *s) {
    const struct notes *const n = aux;
    note_lookaheads(n, to, s);
    if (notes_end(s) || sets_validity(n, s))
        notes_add(n, to, s, IR_NOTED_UNFIT);
    switch (s->kind) {
    case IR_EXTRACT:
        note_extract(n, to, s);
        break;
    case IR_ADVANCE:
        notes_add(n, to, s, IR_NOTED_TAKEN)->e2 = s->e;
        break;
    case IR_SET_VALID:
        note_added(n, to, s);
        break;
    case IR_SET_INVALID:
        note_removed(n, to, s);
        break;
    case IR_CSUM_ADD:
        notes_add(n, to, s, IR_NOTED_SUMMED)->header = (struct ir_header *)notes_summed(s);
        break;
    case IR_CSUM_VERIFY:
        notes_add(n, to, s, IR_NOTED_VERIFIED)->checksum = s->checksum;
        break;
    case IR_COUNT:
        s->flag = true;
        break;
    default: // nothing of its own: flow_fate() is the list of all kinds
        break;
    }
}

static void notes_before_keys(void *aux, struct ir_block *to, const struct ir_state *st) {
    const struct ir_stmt keys = {.at = st->at, .args = st->keys};
    note_lookaheads(aux, to, &keys);
}

static void notes_of_action(void *aux, struct ir_block *to, const struct ir_action *a) {
    const struct notes *const n = aux;
    const struct ir_stmt whole = {.at = a->at};
    if (n->writes[a->id])
        notes_add(n, to, &whole, IR_NOTED_UNFIT);
}

static void notes_of_table(void *aux, struct ir_table *t) {
    (void)aux;
    t->noted = true;
}

static struct ir_gress noted_gress(struct arena *a, const struct ir_gress *g) {
    struct notes n = notes_of(a, g);
    const struct instrument_inserter in = {.aux = &n,
                                           .before = notes_before,
                                           .action = notes_of_action,
                                           .select = notes_before_keys,
                                           .table = notes_of_table};
    what_writes_packet(&n);
    struct ir_gress to = instrument_copy(a, g, &in);
    to.decides = what_decides(&n);
    return to;
}

struct ir_pipeline *instrument_notes(struct arena *a, const struct ir_program *program,
                                     const struct ir_pipeline *pl,
                                     const struct instrument_options *opt) {
    if (!takes_notes(program, pl, opt))
        return NULL;
    struct ir_pipeline *const to = ARENA_NEW(a, struct ir_pipeline);
    to->name = pl->name;
    for (unsigned k = 0; k < 2; k++)
        to->gress[k] = noted_gress(a, &pl->gress[k]);
    return to;
}
