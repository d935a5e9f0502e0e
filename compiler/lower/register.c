// SPDX-License-Identifier: Apache-2.0
//
// register: registers and what a stateful ALU does to them (tna-facts 4.2, 6).
//
// An action's apply method becomes a body over the variables value[] and rv; it is lowered when the
// action is first executed, in the environment of the declaration, so it reads the headers and
// metadata around it. Afterwards regonce.c checks that a pass reaches a register at most once.
#include "compiler/lower/lower_impl.h"

#include <string.h>

#define MAX_RESULTS      4u // out parameters of apply; one on a Tofino 1
#define MAX_INSTRUCTIONS 4u
#define WIDE_BITS        128u

// ---- registers ----------------------------------------------------------------------------------

static bool register_width_ok(unsigned w) {
    return w == 1 || w == 8 || w == 16 || w == 32 || w == 64;
}

static bool is_tofino_2(const struct lower *lw) {
    return ir_target(lw->out) == CHIP_TOFINO2;
}

// A Tofino 2's entries may fill the memory's 128 bits.
static bool pair_ok(const struct lower *lw, unsigned width, unsigned words) {
    return words == 1 || (width > 1 && width < 64) || (width == 64 && is_tofino_2(lw));
}

// One word, or a struct of one or two fields of the same type.
static bool word_types(struct lower *lw, struct type *t, struct type *words[2], unsigned *n,
                       const char *names[2]) {
    if (is_scalar_type(t)) {
        words[0] = t;
        names[0] = "f1";
        *n = 1;
        return true;
    }
    const struct type *u = plain(t);
    if (u->kind != TY_STRUCT || u->decl->members.n < 1 || u->decl->members.n > 2)
        return false;
    *n = (unsigned)u->decl->members.n;
    for (unsigned i = 0; i < *n; i++) {
        names[i] = u->decl->members.v[i]->name;
        words[i] = env_type(lw, type_field(lw->a, u, names[i], NULL));
        if (!words[i] || !is_scalar_type(words[i]))
            return false;
    }
    return *n == 1 || (type_bits(lw->a, words[0]) == type_bits(lw->a, words[1]) &&
                       is_signed_type(words[0]) == is_signed_type(words[1]));
}

bool register_unfit(struct lower *lw, const struct object *o) {
    if (o->unfit)
        lower_error(
            lw, o->at,
            "register '%s' has entries of %u bits; a stateful ALU has 1, 8, 16, 32 or 64%s, "
            "or two of up to %u",
            o->name, o->reg->width * o->reg->words, is_tofino_2(lw) ? " or 128" : "",
            is_tofino_2(lw) ? 64 : 32);
    return o->unfit;
}

static void set_words(struct lower *lw, struct object *o, struct type *t) {
    struct ir_register *r = o->reg;
    struct type *words[2] = {NULL, NULL};
    r->width = 32;
    r->words = 1;
    r->word_names[0] = "f1";
    if (!word_types(lw, t, words, &r->words, r->word_names) || plain(words[0])->kind == TY_BOOL) {
        lower_error(lw, o->at,
                    "register '%s' cannot hold this type: it takes a value of 1, 8, 16, 32 or 64 "
                    "bits, or a struct of at most two equal ones",
                    o->name);
        return;
    }
    r->width = scalar_width(lw, words[0], o->at);
    r->is_signed = is_signed_type(words[0]);
    if (r->width == WIDE_BITS && is_scalar_type(t) && is_tofino_2(lw)) {
        if (r->direct)
            lower_unsupported(lw, o->at, "a DirectRegister with entries of 128 bits");
        r->wide = true;
        r->width = WIDE_BITS / 2;
        r->words = 2;
    } else {
        o->unfit = !register_width_ok(r->width) || !pair_ok(lw, r->width, r->words);
    }
    if (r->width == 0)
        register_unfit(lw, o);
}

static void set_initial(struct lower *lw, struct object *o, struct expr *e, struct type *t) {
    struct value *v = eval_as(lw, e, t);
    ir_expr_vec flat = value_flat(lw, v, e->at);
    for (size_t i = 0; i < flat.n && i < 2; i++) {
        if (!ir_is_const(flat.v[i])) {
            lower_error(lw, e->at, "a register's initial value must be known at compile time");
            return;
        }
        o->reg->initial[i] = flat.v[i]->value;
    }
    if (o->reg->wide && o->reg->initial[0]) {
        big v128 = o->reg->initial[0];
        o->reg->initial[0] = big_wrap_u(lw->a, v128, WIDE_BITS / 2);
        o->reg->initial[1] = big_shr(lw->a, v128, WIDE_BITS / 2);
    }
}

void register_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct ir_register *r = ARENA_NEW(lw->a, struct ir_register);
    struct type *t = o->type && o->type->args.n > 0 ? env_type(lw, o->type->args.v[0]) : NULL;
    size_t i = 0;
    o->reg = r;
    r->name = o->name;
    r->at = o->at;
    r->direct = strcmp(o->type_name, "DirectRegister") == 0;
    set_words(lw, o, t);
    if (!r->direct && bound_arg(ctor, i)) {
        eval_const_u64(lw, bound_arg(ctor, i++), "size of a register", &r->size);
        if (r->size == 0 || r->size > UINT32_MAX)
            lower_error(lw, o->at, "register '%s' has %llu entries; it needs at least one", o->name,
                        (unsigned long long)r->size);
    }
    if (bound_arg(ctor, i))
        set_initial(lw, o, bound_arg(ctor, i), t);
}

// The cell's type as the register's declaration gives it.
static struct type *cell_type(struct lower *lw, const struct object *o) {
    return o->type && o->type->args.n > 0 ? env_type(lw, o->type->args.v[0]) : NULL;
}

static struct ir_expr *lower_register_cell_index(struct lower *lw, const struct ir_register *r,
                                                 struct expr *e) {
    return r->direct || !e ? NULL : eval_bits(lw, e);
}

// The two words of a wide cell, which is one number to the program.
static struct ir_expr *both_words(struct lower *lw, struct ir_var *const words[2]) {
    return ir_binary(lw->a, IR_CONCAT, ir_ref(lw->a, words[1]), ir_ref(lw->a, words[0]));
}

static struct ir_expr *half_of(struct lower *lw, struct ir_expr *e, unsigned word) {
    return ir_slice(lw->a, e, word * WIDE_BITS / 2, WIDE_BITS / 2);
}

// A value of type 't' whose scalars are these variables, in order.
struct refill {
    struct lower *lw;
    struct ir_var *const *vars;
    size_t i, n;
};

static void refill_leaf(void *ctx, struct value *leaf) {
    struct refill *r = ctx;
    if (leaf->kind == VAL_BITS && r->i < r->n)
        leaf->e = ir_ref(r->lw->a, r->vars[r->i++]);
}

static struct value *value_of_vars(struct lower *lw, struct type *t, struct ir_var *const *vars,
                                   size_t n, struct loc at) {
    struct value *v = value_zero(lw, t, at);
    struct refill r = {.lw = lw, .vars = vars, .n = n};
    value_leaves(v, refill_leaf, &r);
    return v;
}

static struct value *register_read(struct lower *lw, struct object *o, struct expr *e,
                                   struct ir_var *wanted) {
    struct ir_register *r = o->reg;
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_REG_READ, e->at);
    struct ir_var *vars[2] = {NULL, NULL};
    s->reg = r;
    s->e = lower_register_cell_index(lw, r, bound_arg(e, 0));
    vars[0] = r->words == 1 ? result_var(lw, wanted, r->width, e->at)
                            : temp_new(lw, "r", r->width, e->at);
    if (r->words == 2)
        vars[1] = temp_new(lw, "r", r->width, e->at);
    s->var = vars[0];
    s->var2 = vars[1];
    put(lw, s);
    if (r->wide)
        return value_bits(lw, cell_type(lw, o), both_words(lw, vars));
    return value_of_vars(lw, cell_type(lw, o), vars, r->words, e->at);
}

static struct value *register_write(struct lower *lw, struct object *o, struct expr *e) {
    struct ir_register *r = o->reg;
    struct value *none = value_zero(lw, env_type(lw, e->type), e->at);
    size_t i = r->direct ? 0 : 1;
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_REG_WRITE, e->at);
    s->reg = r;
    s->e = lower_register_cell_index(lw, r, bound_arg(e, 0));
    if (!bound_arg(e, i))
        return none;
    if (s->e && scan_effects(bound_arg(e, i)))
        s->e = value_snapshot(lw, value_bits(lw, NULL, s->e), e->at)->e;
    lw->written = r;
    struct value *v = eval_as(lw, bound_arg(e, i), cell_type(lw, o));
    lw->written = NULL;
    ir_expr_vec words = value_flat(lw, v, e->at);
    if (words.n < (r->wide ? 1 : r->words))
        return none;
    if (r->wide) {
        struct ir_expr *all = value_snapshot(lw, value_bits(lw, NULL, words.v[0]), e->at)->e;
        s->e2 = half_of(lw, all, 0);
        s->e3 = half_of(lw, all, 1);
        put(lw, s);
        return none;
    }
    onebit_written(lw, r, words.v[0], e->at);
    s->e2 = words.v[0];
    s->e3 = r->words == 2 ? words.v[1] : NULL;
    put(lw, s);
    return none;
}

struct value *register_method(struct lower *lw, struct object *o, struct expr *e,
                              struct ir_var *wanted) {
    if (!object_use(lw, o, e->at))
        return value_zero(lw, env_type(lw, e->type), e->at);
    if (strcmp(e->a->name, "read") == 0)
        return register_read(lw, o, e, wanted);
    if (strcmp(e->a->name, "write") == 0)
        return register_write(lw, o, e);
    lower_unsupported(lw, e->at, "method '%s' of a register", e->a->name);
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// ---- register actions ---------------------------------------------------------------------------

static struct decl *find_method(const struct object *o, const char *name) {
    const decl_vec *methods = o->instance ? &o->instance->init_body : NULL;
    for (size_t i = 0; methods && i < methods->n; i++)
        if (methods->v[i]->kind == D_FUNCTION && methods->v[i]->name &&
            strcmp(methods->v[i]->name, name) == 0)
            return methods->v[i];
    return NULL;
}

void regaction_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct expr *arg = bound_arg(ctor, 0);
    struct object *reg = arg ? object_of(lw, arg) : NULL;
    if (reg && reg->kind == OBJ_SELECTOR) {
        o->arg = value_object(lw, reg);
        return;
    }
    if (!reg || reg->kind != OBJ_REGISTER) {
        lower_error(lw, o->at, "%s '%s' needs a register", o->type_name, o->name);
        return;
    }
    o->arg = value_object(lw, reg);
    if (strcmp(o->type_name, "RegisterAction") == 0) {
        reg->reg->declared++;
        reg->reg->last_declared = o->at;
    }
    for (size_t i = 0; i < 2; i++) {
        const struct decl *end = find_method(o, queue_end_name(i));
        if (!end)
            continue;
        if (reg->ends[i] && reg->ends[i] != o)
            lower_error(lw, end->at, "register '%s' has an '%s' already, that of '%s'", reg->name,
                        queue_end_name(i), reg->ends[i]->name);
        reg->ends[i] = o;
    }
}

static struct decl *apply_method(const struct object *o) {
    return find_method(o, o->method ? o->method : "apply");
}

static const char *short_name(struct lower *lw, const struct object *o, const char *what) {
    size_t root = lw->pipeline ? strlen(lw->pipeline->name) + 1 : 0;
    const char *name = strlen(o->name) > root ? o->name + root : o->name;
    return arena_printf(lw->a, "%s.%s", name, what);
}

static unsigned index_width(struct lower *lw, const struct object *o) {
    struct type *t = o->type && o->type->args.n > 1 ? env_type(lw, o->type->args.v[1]) : NULL;
    return t && plain(t)->kind == TY_BITS ? plain(t)->width : 0;
}

// An action may see the register's memory as smaller or larger cells when its index is as many bits
// wider or narrower (tna-facts 4.2).
static bool view_fits(struct lower *lw, const struct object *o, const struct object *reg) {
    const struct ir_regaction *ra = o->regaction;
    uint64_t mine = (uint64_t)ra->width * ra->words;
    uint64_t its = (uint64_t)ra->reg->width * ra->reg->words;
    if (mine == its)
        return true;
    unsigned my_index = index_width(lw, o), its_index = index_width(lw, reg);
    if (ra->reg->direct || !my_index || !its_index || my_index > 32 || its_index > 32)
        return false;
    return my_index > its_index ? mine << (my_index - its_index) == its
                                : its << (its_index - my_index) == mine;
}

// A number of 128 bits is put together before the body and taken apart after it.
static void bind_wide_cell(struct lower *lw, struct object *o, struct env *env,
                           const struct decl *p) {
    struct ir_regaction *ra = o->regaction;
    struct value *v =
        storage_new(lw, env_type(lw, p->type), short_name(lw, o, p->name), p->name_at);
    for (unsigned i = 0; i < 2; i++)
        ra->value[i] = var_new(lw, short_name(lw, o, arena_printf(lw->a, "%s.$%u", p->name, i)),
                               WIDE_BITS / 2, false, p->name_at);
    o->cell128 = v->e->var;
    env_bind(lw, env, p, v);
}

// An action may take a number of fewer bits than the register's entries have: the ALU works on
// whole entries, the action sees the low bits of one and leaves the others as they are.
static bool lower_register_takes_part(struct lower *lw, const struct object *o, struct type *t) {
    const struct object *reg = o->arg->object;
    const struct ir_regaction *ra = o->regaction;
    unsigned my_index = index_width(lw, o), its_index = index_width(lw, reg);
    return is_scalar_type(t) && ra->width > 0 && ra->width < ra->reg->width &&
           ra->reg->words == 1 && (my_index == its_index || !my_index || !its_index);
}

static void bind_part(struct lower *lw, struct object *o, struct env *env, const struct decl *p) {
    struct ir_regaction *ra = o->regaction;
    struct value *v =
        storage_new(lw, env_type(lw, p->type), short_name(lw, o, p->name), p->name_at);
    ra->width = ra->reg->width;
    ra->value[0] = var_new(lw, short_name(lw, o, arena_printf(lw->a, "%s.$all", p->name)),
                           ra->width, false, p->name_at);
    ra->part = v->e->var;
    env_bind(lw, env, p, v);
}

// The variables that stand for the cell while the action runs.
static bool bind_cell(struct lower *lw, struct object *o, struct env *env, const struct decl *p) {
    struct ir_regaction *ra = o->regaction;
    struct type *t = env_type(lw, p->type), *words[2] = {NULL, NULL};
    const char *names[2];
    if (!word_types(lw, t, words, &ra->words, names)) {
        lower_error(lw, p->at,
                    "a register action works on a number or a struct of at most two equal ones");
        return false;
    }
    ra->width = scalar_width(lw, words[0], p->at);
    o->cell_param = p;
    bool wide = ra->width == WIDE_BITS && is_scalar_type(t) && is_tofino_2(lw);
    if (wide) {
        ra->width = WIDE_BITS / 2;
        ra->words = 2;
    }
    if (!register_width_ok(ra->reg->width)) // said at the register
        return false;
    if (lower_register_takes_part(lw, o, t)) {
        bind_part(lw, o, env, p);
        return true;
    }
    if (!register_width_ok(ra->width) || !pair_ok(lw, ra->width, ra->words) ||
        !view_fits(lw, o, o->arg->object)) {
        lower_error(lw, o->at,
                    "%s '%s' takes entries of %u bits, those of register '%s' have %u; the index "
                    "types must make up for the difference",
                    o->type_name, o->name, ra->width * ra->words, ra->reg->name,
                    ra->reg->width * ra->reg->words);
        return false;
    }
    if (wide) {
        bind_wide_cell(lw, o, env, p);
        return true;
    }
    struct value *v = storage_new(lw, t, short_name(lw, o, p->name), p->name_at);
    ir_expr_vec flat = value_flat(lw, v, p->at);
    for (size_t i = 0; i < flat.n && i < 2; i++)
        ra->value[i] = flat.v[i]->var;
    env_bind(lw, env, p, v);
    return true;
}

// The first result is rv; a Tofino 2 gives up to three more, which are variables of their own.
static bool bind_result(struct lower *lw, struct object *o, struct env *env, const struct decl *p,
                        size_t i) {
    struct type *t = env_type(lw, p->type);
    if (!is_scalar_type(t)) {
        lower_error(lw, p->at, "a stateful ALU returns numbers; '%s' is not one", p->name);
        return false;
    }
    struct value *v = storage_new(lw, t, short_name(lw, o, p->name), p->name_at);
    env_bind(lw, env, p, v);
    if (i == 0)
        o->regaction->rv = v->e->var;
    else
        o->results[i - 1] = v->e->var;
    return true;
}

struct write_search {
    const struct ir_var *var;
    bool found;
};

static void note_write(void *ctx, struct ir_var **var) {
    struct write_search *s = ctx;
    s->found |= *var == s->var;
}

static void lower_register_note_writes(void *ctx, struct ir_stmt *s) {
    ir_written_vars(s, note_write, ctx);
}

// Takes the number of 128 bits apart again, if the body changed it. The lanes that a min or max
// changes are in the words already; the ALU does nothing else in such an action.
static void end_wide_cell(struct lower *lw, struct object *o, struct ir_block *body,
                          struct loc at) {
    struct write_search s = {.var = o->cell128};
    ir_visit_block(
        &(struct ir_visitor){.ctx = &s, .stmt = lower_register_note_writes, .shallow = true}, body);
    if (s.found && o->min_max)
        lower_error(lw, at,
                    "an action that searches the entry's lanes cannot assign to the entry; it can "
                    "only change the lane found");
    for (unsigned i = 0; s.found && i < 2; i++)
        assign_var(lw, o->regaction->value[i], half_of(lw, ir_ref(lw->a, o->cell128), i), at);
}

static void end_part(struct lower *lw, struct object *o, struct ir_block *body, struct loc at) {
    struct ir_var *part = o->regaction->part, *all = o->regaction->value[0];
    struct write_search s = {.var = part};
    ir_visit_block(
        &(struct ir_visitor){.ctx = &s, .stmt = lower_register_note_writes, .shallow = true}, body);
    if (!s.found)
        return;
    struct ir_expr *high =
        ir_slice(lw->a, ir_ref(lw->a, all), part->width, all->width - part->width);
    assign_var(lw, all, ir_binary(lw->a, IR_CONCAT, high, ir_ref(lw->a, part)), at);
}

static void begin_part(struct lower *lw, struct object *o, struct loc at) {
    struct ir_var *part = o->regaction->part, *all = o->regaction->value[0];
    assign_var(lw, part, ir_slice(lw->a, ir_ref(lw->a, all), 0, part->width), at);
}

static void lower_apply_body(struct lower *lw, struct object *o, struct env *env,
                             struct decl *apply) {
    struct ir_block *outer = lw->block, *body = ir_block_new(lw->a);
    struct frame f = {0}, *frames = lw->frame;
    enum place place = lw->place;
    struct object *salu = lw->salu;
    struct ir_block *salu_body = lw->salu_body;
    lw->salu = o;
    lw->salu_body = body;
    lw->place = IN_REGISTER_BODY;
    lw->frame = &f;
    lw->env = env;
    lw->block = body;
    if (apply->body)
        lower_stmt(lw, apply->body);
    lw->block = o->regaction->body;
    if (o->cell128)
        assign_var(lw, o->cell128, both_words(lw, o->regaction->value), apply->at);
    if (o->regaction->part)
        begin_part(lw, o, apply->at);
    put_labelled(lw, body, f.label, apply->at);
    if (o->cell128)
        end_wide_cell(lw, o, body, apply->at);
    if (o->regaction->part)
        end_part(lw, o, body, apply->at);
    lw->block = outer;
    lw->frame = frames;
    lw->place = place;
    lw->salu = salu;
    lw->salu_body = salu_body;
}

// A stateful ALU has room for four instructions (tna-facts 6.2).
static bool instruction_left(struct lower *lw, const struct object *o, const struct ir_register *r,
                             struct loc at) {
    unsigned n = 0;
    for (size_t i = 0; i < lw->gress->regactions.n; i++)
        n += lw->gress->regactions.v[i]->reg == r;
    if (n < MAX_INSTRUCTIONS)
        return true;
    lower_error(lw, at, "'%s' is action %u of register '%s'; a stateful ALU has room for %u",
                o->name, n + 1, r->name, MAX_INSTRUCTIONS);
    return false;
}

static bool bind_apply(struct lower *lw, struct object *o, struct env *env,
                       const struct decl *apply) {
    // overflow and underflow need not look at the cell
    bool with_cell = apply->params.n > 0 && apply->params.v[0]->dir == DIR_INOUT;
    if (with_cell ? !bind_cell(lw, o, env, apply->params.v[0]) : !o->method)
        return false;
    if (!with_cell) {
        o->regaction->width = o->regaction->reg->width;
        o->regaction->words = o->regaction->reg->words;
    }
    for (size_t i = with_cell; i < apply->params.n; i++) {
        if (i - with_cell >= MAX_RESULTS) {
            lower_error(lw, apply->at, "a register action returns at most %u values", MAX_RESULTS);
            return false;
        }
        if (!bind_result(lw, o, env, apply->params.v[i], i - with_cell))
            return false;
    }
    return true;
}

// Makes the IR of the action on first use; false after a message.
bool regaction_ensure(struct lower *lw, struct object *o, struct loc at) {
    if (o->regaction)
        return !o->lowering && o->regaction->reg != NULL;
    struct decl *apply = apply_method(o);
    struct object *reg = o->arg ? o->arg->object : NULL;
    if (!apply || !reg || !object_use(lw, reg, at) || !object_use(lw, o, at))
        return false;
    struct ir_register *memory = reg->selector ? selector_memory(lw, reg, at) : reg->reg;
    if (!memory || !instruction_left(lw, o, memory, at))
        return false;
    struct ir_regaction *ra = ARENA_NEW(lw->a, struct ir_regaction);
    struct env *saved = lw->env, *env = env_new(lw, o->env, o->name);
    o->regaction = ra;
    o->lowering = true;
    ra->name = o->name;
    ra->at = o->at;
    ra->reg = memory;
    ra->body = ir_block_new(lw->a);
    lw->env = env;
    bool ok = bind_apply(lw, o, env, apply);
    if (ok) {
        lower_apply_body(lw, o, env, apply);
        onebit_action(lw, o);
    }
    lw->env = saved;
    o->lowering = false;
    if (!ok) {
        ra->reg = NULL;
        return false;
    }
    ra->id = (unsigned)lw->gress->regactions.n;
    VEC_PUSH(lw->a, &lw->gress->regactions, ra);
    return true;
}

// Results after the first: zero when the action does not set them, like rv.
static void clear_results(struct lower *lw, const struct object *o, struct loc at) {
    for (size_t i = 0; i + 1 < MAX_RESULTS; i++)
        if (o->results[i])
            assign_var(lw, o->results[i], ir_const_u64(lw->a, o->results[i]->width, 0), at);
}

// execute(index, out second, ...), execute_log(out second, ...): argument 'i' of those, or null.
static struct expr *result_arg(const struct expr *e, size_t first, size_t i) {
    struct expr *arg = bound_arg(e, first + i);
    return arg && arg->kind != EX_DONTCARE ? arg : NULL;
}

// Where results go is decided before the call (section 6.8).
static void result_places(struct lower *lw, const struct expr *e, size_t first,
                          struct lvalue *places) {
    for (size_t i = 0; i + 1 < MAX_RESULTS; i++)
        if (result_arg(e, first, i))
            places[i] = eval_lvalue(lw, result_arg(e, first, i));
}

static void give_results(struct lower *lw, const struct object *o, const struct object *end,
                         struct expr *e, size_t first, const struct lvalue *places) {
    for (size_t i = 0; i + 1 < MAX_RESULTS; i++) {
        struct expr *arg = result_arg(e, first, i);
        if (!arg)
            continue;
        struct type *t = env_type(lw, arg->type);
        // one of the two has run, the results of the other one are 0
        struct ir_expr *a = o->results[i] ? ir_ref(lw->a, o->results[i]) : NULL;
        struct ir_expr *b = end && end->results[i] ? ir_ref(lw->a, end->results[i]) : NULL;
        if (a && b)
            a = ir_binary(lw->a, IR_OR, a, ir_resize(lw->a, b, a->width, false));
        a = a ? a : b;
        struct value *v = a ? value_bits(lw, t, a) : value_zero(lw, t, e->at);
        lvalue_assign(lw, &places[i], convert(lw, v, t, e->at), e->at);
    }
}

struct value *regaction_method(struct lower *lw, struct object *o, struct expr *e,
                               struct ir_var *wanted) {
    struct type *t = env_type(lw, e->type);
    const struct counted_method *method = queue_method(e->a->name);
    if (!method || lw->place == IN_REGISTER_BODY) {
        lower_unsupported(lw, e->at, "method '%s' of a register action", e->a->name);
        return value_zero(lw, t, e->at);
    }
    if (!regaction_ensure(lw, o, e->at) ||
        !queue_set(lw, o->regaction->reg, method->counting, e->at))
        return value_zero(lw, t, e->at);
    struct ir_regaction *ra = o->regaction;
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_REG_EXEC, e->at);
    bool indexed = !ra->reg->direct && method->use == IR_REG_INDEX;
    s->regaction = ra;
    s->use = method->use;
    struct object *end = s->use ? queue_end(lw, o->arg->object, s->use, e->at) : NULL;
    s->e = indexed && bound_arg(e, 0) ? eval_bits(lw, bound_arg(e, 0)) : NULL;
    if (indexed && !s->e) {
        lower_error(lw, e->at, "'execute' of '%s' needs an index", o->name);
        return value_zero(lw, t, e->at);
    }
    struct ir_var *rv = ra->rv ? ra->rv : end ? end->regaction->rv : NULL;
    if (rv && end && end->regaction->rv && end->regaction->rv->width != rv->width) {
        lower_error(lw, e->at, "'%s' and '%s' return results of different widths", o->name,
                    end->name);
        return value_zero(lw, t, e->at);
    }
    struct lvalue places[MAX_RESULTS];
    result_places(lw, e, indexed ? 1 : 0, places);
    if (rv)
        s->var = result_var(lw, wanted, rv->width, e->at);
    clear_results(lw, o, e->at);
    if (end)
        clear_results(lw, end, e->at);
    put(lw, s);
    give_results(lw, o, end, e, indexed ? 1 : 0, places);
    if (!s->var)
        return value_zero(lw, t, e->at); // an action without result gives 0
    return convert(lw, value_bits(lw, t, ir_ref(lw->a, s->var)), t, e->at);
}
