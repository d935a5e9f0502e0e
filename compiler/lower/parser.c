// SPDX-License-Identifier: Apache-2.0
//
// parser: parsers as one flat list of states (section 13).
//
// A sub-parser is inlined where it is applied: the state is cut in two, the sub-parser's states get
// the second half as their 'accept'. States are lowered as they are reached, so what no transition
// leads to is not there.
#include "compiler/check/check.h"
#include "compiler/lower/lower_impl.h"

#include <string.h>

struct reached {
    struct decl *decl;
    struct ir_state *state;
};

// One parser's states, or one inlined copy's.
struct states {
    VEC(struct reached) all;
    size_t done;
    int accept;
    const char *suffix;       // tells copies of a sub-parser apart
    struct ir_state *current; // being lowered
    struct ir_block *body;    // its statements, not those of a block in it
};

// ---- states -------------------------------------------------------------------------------------

static struct ir_state *state_new(struct lower *lw, const char *name, struct loc at) {
    struct ir_state *s = ARENA_NEW(lw->a, struct ir_state);
    s->name = name;
    s->at = at;
    s->id = (unsigned)lw->gress->states.n;
    s->body = ir_block_new(lw->a);
    s->next = IR_REJECT;
    if (lw->gress->states.n >= CHECK_MAX_STATES) {
        lower_limit(lw, at, "the parser has more than %u states once sub-parsers are inlined",
                    CHECK_MAX_STATES);
        return s;
    }
    VEC_PUSH(lw->a, &lw->gress->states, s);
    return s;
}

static const char *state_name(struct lower *lw, const char *name, const char *suffix) {
    const char *path = lw->env->path ? lw->env->path : "";
    size_t root = lw->pipeline ? strlen(lw->pipeline->name) + 1 : 0;
    return arena_printf(lw->a, "%s.%s%s", strlen(path) > root ? path + root : path, name, suffix);
}

static struct ir_state *state_of(struct lower *lw, struct decl *d) {
    struct states *st = lw->states;
    for (size_t i = 0; i < st->all.n; i++)
        if (st->all.v[i].decl == d)
            return st->all.v[i].state;
    struct reached r = {.decl = d,
                        .state = state_new(lw, state_name(lw, d->name, st->suffix), d->at)};
    VEC_PUSH(lw->a, &st->all, r);
    return r.state;
}

static int target(struct lower *lw, struct decl *d, const char *name) {
    if (d)
        return (int)state_of(lw, d)->id;
    return name && strcmp(name, "accept") == 0 ? lw->states->accept : IR_REJECT;
}

// ---- select (section 13.6) ----------------------------------------------------------------------

// Of a range that has two parts (struct keyset): where in the case's sets it is, and the other
// part.
struct other_part {
    size_t at;
    struct ir_select_key_set set;
};
typedef VEC(struct other_part) other_part_vec;

static void push_set(struct lower *lw, struct ir_select_case *c, const struct keyset *k) {
    struct ir_select_key_set s = {.value = k->value, .mask = k->mask, .high = k->high};
    if (k->set)
        s.set = k->set->value_set;
    VEC_PUSH(lw->a, &c->sets, s);
}

static size_t leaves_of(const struct value *v) {
    size_t n = v->kind == VAL_BITS && v->e->width > 0;
    for (size_t i = 0; i < v->n; i++)
        n += leaves_of(v->items[i]);
    return n;
}

static bool is_value_set(const struct expr *e) {
    return e->kind == EX_NAME && e->decl && e->decl->kind == D_VALUE_SET;
}

// The keyset 'e' for the key 'v': structured like it, or one thing for all of it.
static bool push_keyset(struct lower *lw, struct ir_select_case *c, struct value *v, struct expr *e,
                        other_part_vec *others) {
    struct keyset k;
    e = (struct expr *)strip(e);
    if (v->kind != VAL_BITS && (e->kind == EX_LIST || e->kind == EX_STRUCT)) {
        if (e->args.n != v->n) {
            lower_error(lw, e->at, "this keyset has %zu parts; the key has %zu", e->args.n, v->n);
            return false;
        }
        for (size_t i = 0; i < v->n; i++)
            if (!push_keyset(lw, c, v->items[i], e->args.v[i]->value, others))
                return false;
        return true;
    }
    if (v->kind == VAL_BITS && e->kind == EX_LIST && e->args.n == 1)
        return push_keyset(lw, c, v, e->args.v[0]->value, others);
    bool whole = e->kind == EX_DEFAULT || e->kind == EX_DONTCARE || is_value_set(e);
    if (v->kind != VAL_BITS && !whole) {
        lower_unsupported(lw, e->at, "this keyset");
        return false;
    }
    if (v->kind == VAL_BITS && v->e->width == 0)
        return true;
    if (!eval_keyset(lw, e, v->kind == VAL_BITS ? v->e->width : 1, &k))
        return false;
    size_t n = leaves_of(v);
    if (k.set && (!k.set->value_set || k.set->value_set->widths.n != n)) {
        lower_error(lw, e->at, "the value set has another number of keys than the select");
        return false;
    }
    if (k.below) {
        struct other_part o = {c->sets.n, {.value = k.below, .high = all_ones(lw, v->e->width)}};
        VEC_PUSH(lw->a, others, o);
    }
    for (size_t i = 0; i < n; i++)
        push_set(lw, c, &k);
    return true;
}

// The case, and for each range of two parts the same again with the other part, from number k on.
static void push_cases(struct lower *lw, struct ir_state *s, const struct ir_select_case *c,
                       const other_part_vec *others, size_t k) {
    if (k == others->n) {
        VEC_PUSH(lw->a, &s->cases, *c);
        return;
    }
    struct ir_select_case other = {.next = c->next};
    for (size_t i = 0; i < c->sets.n; i++)
        VEC_PUSH(lw->a, &other.sets, i == others->v[k].at ? others->v[k].set : c->sets.v[i]);
    push_cases(lw, s, c, others, k + 1);
    push_cases(lw, s, &other, others, k + 1);
}

static void lower_parser_select_case(struct lower *lw, struct ir_state *s, struct value *keys,
                                     const struct select_case *sc) {
    struct ir_select_case c = {.next = target(lw, sc->state, sc->next)};
    const struct expr *e = strip(sc->keyset);
    other_part_vec others = {0};
    if (e->kind != EX_DEFAULT && e->kind != EX_DONTCARE) {
        struct value *v = keys->n == 1 ? keys->items[0] : keys;
        if (!push_keyset(lw, &c, v, sc->keyset, &others))
            return;
    }
    if (others.n > MAX_PARTS)
        lower_error(lw, e->at, TOO_MANY_PARTS, MAX_PARTS);
    else
        push_cases(lw, s, &c, &others, 0);
}

static void lower_select(struct lower *lw, const struct select *sel) {
    struct value *keys = value_new(lw, VAL_TUPLE, NULL);
    keys->items = ARENA_ARRAY(lw->a, struct value *, sel->keys.n + 1);
    for (size_t i = 0; i < sel->keys.n; i++) {
        struct value *v = eval(lw, sel->keys.v[i]);
        bool later = false;
        for (size_t k = i + 1; k < sel->keys.n; k++)
            later |= scan_effects(sel->keys.v[k]);
        keys->items[keys->n++] = later ? value_snapshot(lw, v, sel->at) : v;
    }
    struct ir_state *s = lw->states->current;
    for (size_t i = 0; i < keys->n && keys->items[i]->kind == VAL_BITS; i++)
        if (keys->items[i]->e->width > 0)
            VEC_PUSH(lw->a, &s->key_texts, expr_text(lw->a, sel->keys.v[i]));
    s->keys = value_flat(lw, keys, sel->at);
    if (s->keys.n == 0) { // of bit<0> only, which any set has in it
        if (sel->cases.n > 0)
            s->next = target(lw, sel->cases.v[0]->state, sel->cases.v[0]->next);
        return;
    }
    for (size_t i = 0; i < sel->cases.n; i++)
        lower_parser_select_case(lw, s, keys, sel->cases.v[i]);
}

static void lower_transition(struct lower *lw, const struct stmt *s) {
    if (s->select)
        lower_select(lw, s->select);
    else
        lw->states->current->next = target(lw, s->state, s->name);
}

bool in_state_itself(const struct lower *lw) {
    return lw->states && lw->block == lw->states->body;
}

static void lower_state_body(struct lower *lw, const struct reached *r) {
    struct states *st = lw->states;
    struct env *saved = lw->env;
    lw->env = env_new(lw, saved, saved->path);
    st->current = r->state;
    st->body = lw->block = r->state->body;
    const struct stmt *body = r->decl->body;
    for (size_t i = 0; body && i < body->stmts.n; i++) {
        struct stmt *s = body->stmts.v[i];
        if (s->kind == ST_TRANSITION)
            lower_transition(lw, s);
        else
            lower_stmt(lw, s);
    }
    lw->env = saved;
}

static void lower_reached(struct lower *lw) {
    struct states *st = lw->states;
    while (st->done < st->all.n && !lw->gave_up) {
        struct reached r = st->all.v[st->done++];
        lower_state_body(lw, &r);
    }
}

static struct decl *start_state(const struct decl *parser) {
    for (size_t i = 0; i < parser->members.n; i++)
        if (parser->members.v[i]->kind == D_STATE && parser->members.v[i]->name &&
            strcmp(parser->members.v[i]->name, "start") == 0)
            return parser->members.v[i];
    return NULL;
}

// ---- a gress's parser ---------------------------------------------------------------------------

static bool takes_prefix(const struct ir_gress *g, size_t from) {
    for (size_t i = from; i < g->states.n; i++) {
        const struct ir_block *b = g->states.v[i]->body;
        for (size_t k = 0; b && k < b->stmts.n; k++)
            if (b->stmts.v[k]->kind == IR_EXTRACT && b->stmts.v[k]->header &&
                strcmp(b->stmts.v[k]->header->type_name, "egress_intrinsic_metadata_t") == 0)
                return true;
    }
    return false;
}

static bool is_led_to(const struct ir_gress *g, size_t from, int id) {
    for (size_t i = from; i < g->states.n; i++) {
        const struct ir_state *s = g->states.v[i];
        if (s->next == id)
            return true;
        for (size_t k = 0; k < s->cases.n; k++)
            if (s->cases.v[k].next == id)
                return true;
    }
    return false;
}

static void lead_on(struct ir_state *s, int id, int to) {
    if (s->next == id)
        s->next = to;
    for (size_t i = 0; i < s->cases.n; i++)
        if (s->cases.v[i].next == id)
            s->cases.v[i].next = to;
}

// A first state to which a transition leads back does what it does in another one, to which that
// transition leads then: what is put before it is done once.
static void lower_parser_split(struct lower *lw, struct ir_state *s, size_t from) {
    const char *name = arena_printf(lw->a, "%s.$again", s->name);
    struct ir_state *again = state_new(lw, name, s->at);
    const unsigned id = again->id;
    *again = *s;
    again->id = id;
    again->name = name;
    for (size_t i = from; i < lw->gress->states.n; i++)
        lead_on(lw->gress->states.v[i], (int)s->id, (int)id);
    *s = (struct ir_state){.id = s->id, .name = s->name, .at = s->at};
    s->body = ir_block_new(lw->a);
    s->next = (int)id;
}

// The chip's compiler has the intrinsic metadata put before packets where the egress parser
// extracts it, and else nothing (tna-facts 2.5). Here it is always there: a parser that does not
// extract it passes it by.
static void pass_prefix(struct lower *lw, int first, size_t from) {
    if (lw->gress->kind != IR_EGRESS || first < 0 || takes_prefix(lw->gress, from))
        return;
    struct ir_state *s = lw->gress->states.v[first];
    if (is_led_to(lw->gress, from, first))
        lower_parser_split(lw, s, from);
    struct ir_block *all = ir_block_new(lw->a);
    struct ir_stmt *skip = ir_stmt_new(lw->a, IR_ADVANCE, s->at);
    skip->e = ir_const_u64(lw->a, 32, 8 * (uint64_t)lw->out->egress_prefix);
    ir_push(lw->a, all, skip);
    for (size_t i = 0; i < s->body->stmts.n; i++)
        ir_push(lw->a, all, s->body->stmts.v[i]);
    s->body = all;
}

// Initial values come before the start state, which a transition may lead back to. Gives the first
// state's number.
static int lower_parser(struct lower *lw, struct object *o, const char *suffix) {
    struct decl *start = start_state(o->decl);
    struct states st = {.accept = IR_ACCEPT, .suffix = suffix};
    struct ir_block *initial = ir_block_new(lw->a);
    struct env *saved = lw->env;
    const size_t from = lw->gress->states.n;
    int id;
    if (!start)
        return IR_REJECT;
    lw->states = &st;
    lw->env = o->env;
    lw->block = initial;
    init_block_locals(lw, o);
    if (initial->stmts.n > 0) {
        struct ir_state *first = state_new(lw, state_name(lw, "$init", suffix), o->decl->at);
        first->body = initial;
        first->next = (int)state_of(lw, start)->id;
        id = (int)first->id;
    } else {
        id = (int)state_of(lw, start)->id;
    }
    lower_reached(lw);
    sums_place(lw, from);
    pass_prefix(lw, id, from);
    lw->env = saved;
    lw->states = NULL;
    return id;
}

// Bits of what lies before the packet, in both gresses: the port within its pipe, without the
// two bits that tell the ports of one parser instance apart.
#define INSTANCE_AT   9u
#define INSTANCE_BITS 5u

void lower_parsers(struct lower *lw, struct object **parsers, const struct blocks *b) {
    if (b->n_parsers == 1) {
        lower_parser(lw, parsers[0], "");
        return;
    }
    int first[MAX_PARSERS] = {0};
    struct ir_state *choice = state_new(lw, "$instance", parsers[0]->at);
    struct ir_expr *key = ir_lookahead(lw->a, INSTANCE_BITS, INSTANCE_AT);
    for (unsigned i = 0; i < b->n_parsers; i++) {
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= parsers[k]->decl == parsers[i]->decl;
        first[i] = lower_parser(lw, parsers[i], again ? arena_printf(lw->a, "#%u", i + 1) : "");
    }
    VEC_PUSH(lw->a, &choice->keys, key);
    for (unsigned i = 0; i < MAX_PARSERS; i++) {
        struct ir_select_key_set one = {.value = big_u64(lw->a, i),
                                        .mask = all_ones(lw, INSTANCE_BITS)};
        struct ir_select_case c = {.next = first[b->parser_of[i]]};
        VEC_PUSH(lw->a, &c.sets, one);
        VEC_PUSH(lw->a, &choice->cases, c);
    }
}

// ---- sub-parsers --------------------------------------------------------------------------------

static const char *copy_suffix(struct lower *lw, struct object *o) {
    o->copies++;
    return o->copies == 1 ? "" : arena_printf(lw->a, "#%u", o->copies);
}

// Lowers the sub-parser's states with 'after' as accept; gives its start.
static int inline_states(struct lower *lw, struct object *o, struct decl *start, int after) {
    struct states *outer = lw->states;
    struct states st = {.accept = after, .suffix = copy_suffix(lw, o)};
    struct env *saved = lw->env;
    struct ir_block *block = lw->block;
    lw->states = &st;
    lw->env = o->env;
    int id = (int)state_of(lw, start)->id;
    lower_reached(lw);
    lw->states = outer;
    lw->env = saved;
    lw->block = block;
    return id;
}

void apply_parser(struct lower *lw, struct expr *call, struct object *o) {
    struct states *st = lw->states;
    struct decl *start = start_state(o->decl);
    struct call_args args;
    struct frame f = {0};
    struct env *saved = lw->env;
    if (!st || lw->place != IN_PARSER_STATE || !start || lw->block != st->body) {
        lower_unsupported(lw, call->at, "applying a parser here");
        return;
    }
    if (o->copies == 0)
        block_locals(lw, o);
    bind_args(lw, &args, &o->decl->params, call, o->env, BIND_ONCE, NULL, false);
    begin_body(lw, &args, &f, call->at);
    lw->env = o->env;
    init_block_locals(lw, o);
    lw->env = saved;
    struct ir_block *initial = args.body;
    lw->frame = f.up;
    lw->block = st->body;
    for (size_t i = 0; i < args.before->stmts.n; i++)
        put(lw, args.before->stmts.v[i]);
    for (size_t i = 0; i < initial->stmts.n; i++)
        put(lw, initial->stmts.v[i]);

    struct ir_state *first = st->current;
    struct ir_state *after = state_new(lw, arena_printf(lw->a, "%s.after", first->name), call->at);
    first->next = inline_states(lw, o, start, (int)after->id);
    st->current = after;
    st->body = lw->block = after->body;
    for (size_t i = 0; i < f.copy_out.n; i++)
        put(lw, f.copy_out.v[i]);
}

bool reject_unless(struct lower *lw, struct ir_expr *c, struct loc at) {
    struct states *st = lw->states;
    if (ir_is_const(c) && ir_is_true(c))
        return true;
    if (!st || lw->place != IN_PARSER_STATE || lw->block != st->body) {
        lower_unsupported(lw, at, "a header of variable size inside another statement");
        return false;
    }
    struct ir_state *here = st->current;
    struct ir_state *after = state_new(lw, arena_printf(lw->a, "%s.after", here->name), at);
    struct ir_select_case yes = {.next = (int)after->id}, no = {.next = IR_REJECT};
    struct ir_select_key_set one = {.value = big_u64(lw->a, 1), .mask = big_u64(lw->a, 1)};
    VEC_PUSH(lw->a, &yes.sets, one);
    VEC_PUSH(lw->a, &here->keys, c);
    VEC_PUSH(lw->a, &here->cases, yes);
    VEC_PUSH(lw->a, &here->cases, no);
    st->current = after;
    st->body = lw->block = after->body;
    return true;
}

// ---- value sets ---------------------------------------------------------------------------------

void value_set_new(struct lower *lw, struct decl *d) {
    struct object *o = ARENA_NEW(lw->a, struct object);
    struct ir_value_set *set = ARENA_NEW(lw->a, struct ir_value_set);
    o->kind = OBJ_VALUE_SET;
    o->type_name = "value_set";
    o->name = env_name(lw, lw->env, &d->annots, d->name);
    o->instance = d;
    o->at = d->at;
    o->gress = lw->gress;
    o->value_set = set;
    set->name = o->name;
    if (d->init)
        eval_const_u64(lw, d->init, "size of a value set", &set->size);
    struct type *t = env_type(lw, d->tref ? d->tref->resolved : NULL);
    struct value *shape = value_zero(lw, t, d->at);
    ir_expr_vec keys = value_flat(lw, shape, d->at);
    if (keys.n == 0)
        lower_error(lw, d->at, "value set '%s' is of a type without bits", d->name);
    const struct type *u = plain(t);
    bool named = shape->n == keys.n && (u->kind == TY_STRUCT || u->kind == TY_HEADER);
    for (size_t i = 0; i < keys.n; i++) {
        VEC_PUSH(lw->a, &set->widths, keys.v[i]->width);
        VEC_PUSH(lw->a, &set->names,
                 named ? u->decl->members.v[i]->name : arena_printf(lw->a, "f%zu", i + 1));
    }
    set->id = (unsigned)lw->gress->value_sets.n;
    VEC_PUSH(lw->a, &lw->gress->value_sets, set);
    env_bind(lw, lw->env, d, value_object(lw, o));
}
