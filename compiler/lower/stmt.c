// SPDX-License-Identifier: Apache-2.0
//
// stmt: statements (section 12).
#include "compiler/lower/lower_impl.h"

// ---- emitting -----------------------------------------------------------------------------------

void put(struct lower *lw, struct ir_stmt *s) {
    if (++lw->stmts > LOWER_MAX_STMTS) {
        lower_limit(lw, s->at, "the program is too large once its calls are inlined");
        return;
    }
    if (!s->within)
        s->within = lw->within;
    s->action_call = lw->action_call;
    s->in_hash = lw->in_hash;
    s->annotated = lw->annotated;
    s->stage = lw->stage;
    ir_push(lw->a, lw->block, s);
}

static void put_all(struct lower *lw, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        ir_push(lw->a, lw->block, b->stmts.v[i]);
}

void put_source_if(struct lower *lw, struct ir_expr *c, struct ir_block *then_b,
                   struct ir_block *else_b, struct loc at, const char *text) {
    if (else_b && else_b->stmts.n == 0)
        else_b = NULL;
    if (ir_is_const(c)) {
        put_all(lw, ir_is_true(c) ? then_b : else_b);
        return;
    }
    if (then_b->stmts.n == 0 && !else_b)
        return;
    if (then_b->stmts.n == 0) {
        then_b = else_b;
        else_b = NULL;
        c = ir_not_bool(lw->a, c);
        text = text ? arena_printf(lw->a, "!(%s)", text) : NULL;
    }
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_IF, at);
    s->text = text;
    s->e = c;
    s->then_b = then_b;
    s->else_b = else_b;
    put(lw, s);
}

void put_if(struct lower *lw, struct ir_expr *c, struct ir_block *then_b, struct ir_block *else_b,
            struct loc at) {
    put_source_if(lw, c, then_b, else_b, at, NULL);
}

// A LEAVE as the last thing its block does is no jump at all: takes those away.
static void drop_final_leave(struct ir_block *b, unsigned label) {
    while (b && b->stmts.n > 0) {
        struct ir_stmt *s = b->stmts.v[b->stmts.n - 1];
        if (s->kind == IR_LEAVE && s->label == label) {
            b->stmts.n--;
            continue;
        }
        if (s->kind == IR_IF) {
            drop_final_leave(s->then_b, label);
            drop_final_leave(s->else_b, label);
        }
        for (size_t i = 0; i < s->cases.n; i++)
            drop_final_leave(s->cases.v[i].body, label);
        return;
    }
}

struct search {
    unsigned label;
    bool found;
};

static void find_leave(void *ctx, struct ir_stmt *s) {
    struct search *f = ctx;
    if (s->kind == IR_LEAVE && s->label == f->label)
        f->found = true;
}

void put_labelled(struct lower *lw, struct ir_block *body, unsigned label, struct loc at) {
    struct search f = {.label = label};
    if (label != 0) {
        drop_final_leave(body, label);
        ir_visit_block(&(struct ir_visitor){.ctx = &f, .stmt = find_leave, .shallow = true}, body);
    }
    if (!f.found) {
        put_all(lw, body);
        return;
    }
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_BLOCK, at);
    s->then_b = body;
    s->label = label;
    put(lw, s);
}

struct ir_block *lower_into(struct lower *lw, struct stmt *s) {
    struct ir_block *outer = lw->block, *b = ir_block_new(lw->a);
    lw->block = b;
    if (s)
        lower_stmt(lw, s);
    lw->block = outer;
    return b;
}

// ---- assignment ---------------------------------------------------------------------------------

// The variable that 'l' is all of, when an extern's result may be put right into it.
static struct ir_var *direct_target(const struct lvalue *l) {
    struct value *v = lvalue_whole(l);
    return v && v->kind == VAL_BITS ? v->e->var : NULL;
}

static void lower_assign(struct lower *lw, struct stmt *s) {
    struct lvalue l = eval_lvalue(lw, s->a);
    struct value *v;
    if (s->assign_op >= 0) {
        struct value *old = lvalue_read(lw, &l, s->at);
        if (scan_effects(s->b))
            old = value_snapshot(lw, old, s->at);
        v = apply_binary(lw, (enum op)s->assign_op, old, eval(lw, s->b), env_type(lw, s->a->type),
                         s->at);
    } else {
        lw->wanted =
            strip(s->b)->kind == EX_CALL && s->b->kind == EX_CALL ? direct_target(&l) : NULL;
        struct ir_var *target = lw->wanted;
        v = eval(lw, s->b);
        lw->wanted = NULL;
        if (target && v->kind == VAL_BITS && v->e->op == IR_VAR && v->e->var == target)
            mark_assigned(lw, target, s->at); // the call's result is there already
    }
    if (!l.sliced)
        v = convert(lw, v, l.alts[0]->type, s->at);
    else if (v->kind == VAL_INT)
        v = value_bits(lw, l.alts[0]->type, ir_const(lw->a, l.width, v->num));
    lvalue_assign(lw, &l, v, s->at);
}

// ---- if, switch ---------------------------------------------------------------------------------

static void lower_if(struct lower *lw, struct stmt *s) {
    struct ir_expr *c = eval_bool(lw, s->a);
    if (ir_is_const(c)) { // a constructor parameter decides: only one side exists
        struct stmt *taken = ir_is_true(c) ? s->then_s : s->else_s;
        if (taken)
            lower_stmt(lw, taken);
        return;
    }
    struct ir_block *then_b = lower_into(lw, s->then_s);
    struct ir_block *else_b = s->else_s ? lower_into(lw, s->else_s) : NULL;
    put_source_if(lw, c, then_b, else_b, s->at, expr_text(lw->a, s->a));
}

static const struct expr *applied_table(const struct expr *e) {
    if (e->kind == EX_MEMBER && e->a && e->a->kind == EX_CALL && e->a->call == CALL_APPLY_TABLE &&
        e->type && e->type->kind == TY_ACTION_RUN)
        return e->a;
    return NULL;
}

// A case's value: an action's index, or a constant of the switched type.
static bool case_value(struct lower *lw, const struct switch_case *c, const struct value *subject,
                       struct ir_table *t, big *out) {
    if (t) {
        int i = c->action ? table_action_index(lw, t, c->action) : -1;
        if (i < 0)
            return false; // an action the table cannot run
        *out = big_u64(lw->a, (uint64_t)i);
        return true;
    }
    big v = eval_const(lw, c->label, "case label");
    if (v && subject->kind == VAL_BITS)
        *out = big_wrap_u(lw->a, v, subject->e->width);
    return v != NULL;
}

// Labels without a body fall through to the next one that has one.
static void lower_cases(struct lower *lw, struct stmt *s, struct ir_stmt *out,
                        const struct value *subject, struct ir_table *t) {
    struct ir_case current = {0};
    bool is_default = false;
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct switch_case *c = s->cases.v[i];
        big v = NULL;
        if (c->label->kind == EX_DEFAULT)
            is_default = true;
        else if (case_value(lw, c, subject, t, &v))
            VEC_PUSH(lw->a, &current.values, v);
        if (!c->body)
            continue;
        current.body = lower_into(lw, c->body);
        // Labels that share a body with 'default' need no case of their own, if it comes last.
        if (is_default) {
            struct ir_case by_default = {.body = current.body};
            if (current.values.n > 0)
                VEC_PUSH(lw->a, &out->cases, current);
            VEC_PUSH(lw->a, &out->cases, by_default);
        } else if (current.values.n > 0) {
            VEC_PUSH(lw->a, &out->cases, current);
        }
        current = (struct ir_case){0};
        is_default = false;
    }
}

static void lower_switch(struct lower *lw, struct stmt *s) {
    const struct expr *apply = applied_table(s->a);
    struct value *subject = eval(lw, s->a);
    struct ir_table *t = NULL;
    if (apply)
        t = made_table(lw, applied_decl(apply));
    if (subject->kind == VAL_BITS && subject->e->width == 0)
        subject = value_int(lw, subject->type, big_u64(lw->a, 0));
    if (subject->kind == VAL_INT)
        subject = value_bits(lw, subject->type, ir_const_u64(lw->a, 64, big_to_u64(subject->num)));
    if (subject->kind != VAL_BITS) {
        lower_unsupported(lw, s->a->at, "switching on this");
        return;
    }
    struct ir_stmt *out = ir_stmt_new(lw->a, IR_SWITCH, s->at);
    out->e = subject->e;
    out->text = apply ? "action_run" : expr_text(lw->a, s->a);
    lower_cases(lw, s, out, subject, t);
    if (out->cases.n > 0)
        put(lw, out);
}

// ---- return, exit -------------------------------------------------------------------------------

static void lower_return(struct lower *lw, struct stmt *s) {
    struct frame *f = lw->frame;
    if (!f)
        return;
    if (lw->place == IN_REGISTER_BODY && !f->up && lw->salu->regaction &&
        lw->salu->regaction->returns.line == 0)
        lw->salu->regaction->returns = s->at;
    if (s->a && f->result)
        assign(lw, f->result, eval_as(lw, s->a, f->result->type), s->at);
    if (f->label == 0)
        f->label = ++lw->labels;
    struct ir_stmt *out = ir_stmt_new(lw->a, IR_LEAVE, s->at);
    out->label = f->label;
    put(lw, out);
}

// Exit ends every body being run, and each still copies its results out (section 12.5): the
// innermost first.
void put_exit(struct lower *lw, struct loc at) {
    struct frame *outermost = NULL;
    for (struct frame *f = lw->frame; f; f = f->up) {
        for (size_t i = 0; i < f->copy_out.n; i++)
            put(lw, f->copy_out.v[i]);
        outermost = f;
    }
    if (lw->place == IN_DEPARSER_BODY && outermost) {
        if (outermost->label == 0)
            outermost->label = ++lw->labels;
        struct ir_stmt *out = ir_stmt_new(lw->a, IR_LEAVE, at);
        out->label = outermost->label;
        put(lw, out);
        return;
    }
    put(lw, ir_stmt_new(lw->a, IR_EXIT, at));
}

// Whether a table's action runs inside of controls whose results go to different places, depending
// on the application.
static bool results_differ(const struct lower *lw) {
    if (!lw->action || lw->repeated == 0)
        return false;
    for (const struct frame *f = lw->action->up; f; f = f->up)
        if (f->copy_out.n > 0)
            return true;
    return false;
}

// The action is shared by all applications of its control: it ends, and each application of its
// table looks whether it is to exit, too.
static void exit_later(struct lower *lw, struct loc at) {
    for (struct frame *f = lw->frame; f != lw->action; f = f->up)
        for (size_t i = 0; i < f->copy_out.n; i++)
            put(lw, f->copy_out.v[i]);
    if (!lw->exiting)
        lw->exiting = temp_new(lw, "exit", 1, at);
    assign_var(lw, lw->exiting, ir_const_u64(lw->a, 1, 1), at);
    if (lw->action->label == 0)
        lw->action->label = ++lw->labels;
    struct ir_stmt *out = ir_stmt_new(lw->a, IR_LEAVE, at);
    out->label = lw->action->label;
    put(lw, out);
    lw->action->exits_later = true;
}

static void lower_exit(struct lower *lw, struct stmt *s) {
    if (results_differ(lw))
        exit_later(lw, s->at);
    else
        put_exit(lw, s->at);
}

// ---- all of them --------------------------------------------------------------------------------

static void lower_stmts(struct lower *lw, struct stmt *s) {
    struct env *outer = lw->env;
    lw->env = env_new(lw, outer, outer->path);
    for (size_t i = 0; i < s->stmts.n; i++)
        lower_stmt(lw, s->stmts.v[i]);
    lw->env = outer;
}

// The stage that @stage(n) asks for, n + 1; no stage that a chip has: 'otherwise'.
static unsigned stage_asked(const struct stmt *s, unsigned otherwise) {
    enum { MOST = 1000 };
    const struct annotation *a = annot_find(&s->annots, "stage");
    if (!a || a->args.n == 0 || a->args.v[0]->kind != EX_INT ||
        !big_fits_u64(a->args.v[0]->value) || big_to_u64(a->args.v[0]->value) > MOST)
        return otherwise;
    return (unsigned)big_to_u64(a->args.v[0]->value) + 1;
}

static void lower_block(struct lower *lw, struct stmt *s) {
    const bool outer = lw->in_hash;
    const unsigned annotated = lw->annotated, stage = lw->stage;
    lw->stage = stage_asked(s, stage);
    lw->in_hash |= annot_find(&s->annots, "in_hash") != NULL;
    if (s->annots.n)
        lw->annotated = ++lw->last_annotated;
    lower_stmts(lw, s);
    lw->in_hash = outer;
    lw->annotated = annotated;
    lw->stage = stage;
}

static void lower_stmt_inner(struct lower *lw, struct stmt *s) {
    switch (s->kind) {
    case ST_EMPTY:
        return;
    case ST_BLOCK:
        lower_block(lw, s);
        return;
    case ST_DECL:
        declare_local(lw, s->decl);
        return;
    case ST_ASSIGN:
        lower_assign(lw, s);
        return;
    case ST_CALL:
        lw->wanted = NULL;
        lw->discard = true;
        eval(lw, s->a);
        lw->discard = false;
        return;
    case ST_IF:
        lower_if(lw, s);
        return;
    case ST_RETURN:
        lower_return(lw, s);
        return;
    case ST_EXIT:
        lower_exit(lw, s);
        return;
    case ST_SWITCH:
        lower_switch(lw, s);
        return;
    case ST_FOR:
        lower_for(lw, s);
        return;
    case ST_FORIN:
        lower_for_in(lw, s);
        return;
    case ST_BREAK:
    case ST_CONTINUE:
        lower_loop_exit(lw, s);
        return;
    case ST_TRANSITION: // parser.c handles a state's last statement
        return;
    }
}

void lower_stmt(struct lower *lw, struct stmt *s) {
    if (!go_down(lw, s->at))
        return;
    lower_stmt_inner(lw, s);
    go_up(lw);
}
