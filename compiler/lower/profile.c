// SPDX-License-Identifier: Apache-2.0
//
// profile: action profiles and selectors, and the tables that have one (tna-facts 4.9).
#include "compiler/lower/lower_impl.h"

#include <string.h>

// What the compiler for the chip takes when a selector of the old form does not say: one line of
// selector memory a group, and four groups.
#define OLD_FORM_GROUP_SIZE 120u
#define OLD_FORM_GROUPS     4u
#define MAX_GROUP_SIZE      119040u // 992 lines of 120 members
#define MAX_MEMBERS         (UINT64_C(1) << 24)
#define LINE_MEMBERS        120u
#define LINE_BITS           128u
#define RAM_LINES           1024u
#define MAX_LINES           (64u * RAM_LINES) // that the address of a stateful ALU reaches

static void profile_size(struct lower *lw, struct object *o, struct expr *e) {
    struct ir_action_profile *p = o->profile;
    if (e && eval_const_u64(lw, e, "size of an action profile", &p->size) &&
        (p->size == 0 || p->size > MAX_MEMBERS))
        lower_error(lw, e->at, "action profile '%s' has %llu members; it takes 1 to %llu", o->name,
                    (unsigned long long)p->size, (unsigned long long)MAX_MEMBERS);
}

void profile_new(struct lower *lw, struct object *o, struct expr *ctor) {
    o->profile = ARENA_NEW(lw->a, struct ir_action_profile);
    o->profile->name = o->name;
    o->profile->at = o->at;
    profile_size(lw, o, bound_arg(ctor, 0));
}

// How an Alpm or Atcam keeps its table's entries: numbers for the hardware model.
void partitions_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct ir_partitions *p = o->partitions = ARENA_NEW(lw->a, struct ir_partitions);
    const struct decl *d = !ctor ? NULL : ctor->ctor ? ctor->ctor : ctor->decl;
    p->alpm = o->kind == OBJ_ALPM;
    for (size_t i = 0; d && i < d->params.n; i++) {
        const char *name = d->params.v[i]->name;
        struct expr *arg = bound_arg(ctor, i);
        uint64_t *to = !name                                         ? NULL
                       : strcmp(name, "number_partitions") == 0      ? &p->count
                       : strcmp(name, "subtrees_per_partition") == 0 ? &p->subtrees
                       : strcmp(name, "atcam_subset_width") == 0     ? &p->subset_width
                                                                     : NULL;
        if (arg && to)
            eval_const_u64(lw, arg, arena_printf(lw->a, "'%s' of an %s", name, o->type_name), to);
    }
}

// ---- selectors ----------------------------------------------------------------------------------

static struct object *object_arg(struct lower *lw, struct expr *e) {
    struct value *v = e ? eval(lw, e) : NULL;
    return v && v->kind == VAL_OBJECT ? v->object : NULL;
}

static void selector_limits(struct lower *lw, struct object *o, struct expr *size,
                            struct expr *groups) {
    struct ir_selector *s = o->selector;
    if (eval_const_u64(lw, size, "size of a group", &s->max_group_size) &&
        (s->max_group_size == 0 || s->max_group_size > MAX_GROUP_SIZE))
        lower_error(lw, size->at, "groups of %llu members; a group takes 1 to %u",
                    (unsigned long long)s->max_group_size, MAX_GROUP_SIZE);
    if (eval_const_u64(lw, groups, "number of groups", &s->n_groups) &&
        (s->n_groups == 0 || s->n_groups > MAX_MEMBERS))
        lower_error(lw, groups->at, "%llu groups; a selector takes 1 to %llu",
                    (unsigned long long)s->n_groups, (unsigned long long)MAX_MEMBERS);
}

static bool use_all(struct lower *lw, struct object *o, struct loc at) {
    return object_use(lw, o, at) && (!o->of_profile || object_use(lw, o->of_profile, at)) &&
           (!o->of_hash || object_use(lw, o->of_hash, at)) &&
           (!o->of_register || object_use(lw, o->of_register, at));
}

// ---- the selector's memory (tna-facts 4.9) ------------------------------------------------------

// A register given to a selector is a view of its memory.
static void give_register(struct lower *lw, struct object *o, struct expr *e) {
    struct object *reg = object_arg(lw, e);
    if (!reg || reg->kind != OBJ_REGISTER || !reg->reg)
        return;
    struct ir_register *r = reg->reg;
    if (r->of_selector)
        lower_error(lw, e->at, "register '%s' is given to selector '%s' already", r->name,
                    r->of_selector->name);
    else if (r->size < LINE_BITS)
        lower_error(
            lw, e->at,
            "register '%s' has %llu bits; a group of selector '%s' takes at least a line of "
            "%u",
            r->name, (unsigned long long)r->size, o->name, LINE_BITS);
    else
        r->of_selector = o->selector;
    o->of_register = reg;
    o->selector->memory = r;
}

// Lines for all groups at their largest, in whole RAMs, as the chip's compiler counts them; 0 after
// a message.
static uint64_t memory_lines(struct lower *lw, const struct ir_selector *s, struct loc at) {
    uint64_t each = (s->max_group_size + LINE_MEMBERS - 1) / LINE_MEMBERS;
    uint64_t lines = (each * s->n_groups + RAM_LINES - 1) / RAM_LINES * RAM_LINES;
    if (lines <= MAX_LINES)
        return lines;
    lower_error(
        lw, at,
        "the memory of selector '%s' has %llu lines, %llu for each of %llu groups; an action "
        "on it reaches %u",
        s->name, (unsigned long long)lines, (unsigned long long)each,
        (unsigned long long)s->n_groups, MAX_LINES);
    return 0;
}

struct ir_register *selector_memory(struct lower *lw, struct object *o, struct loc at) {
    struct ir_selector *s = o->selector;
    if (!s || !use_all(lw, o, at))
        return NULL;
    uint64_t lines = memory_lines(lw, s, at);
    if (lines == 0)
        return NULL;
    if (!s->memory) {
        struct ir_register *r = s->memory = ARENA_NEW(lw->a, struct ir_register);
        r->name = s->name;
        r->at = s->at;
        r->width = r->words = 1;
        r->word_names[0] = "f1";
        r->of_selector = s;
        r->implied = true;
        r->id = (unsigned)lw->gress->registers.n;
        VEC_PUSH(lw->a, &lw->gress->registers, r);
    }
    // Also a register that was given is as large as the chip's compiler makes the memory then.
    s->memory->size = lines * LINE_BITS;
    return s->memory;
}

// ActionSelector(profile, hash, mode [, reg], group size, groups), or the old form, which makes its
// own profile: ActionSelector(size, hash, mode [, reg]). Null arguments at the end are left out.
void selector_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct ir_selector *s = ARENA_NEW(lw->a, struct ir_selector);
    size_t n = 0;
    while (bound_arg(ctor, n))
        n++;
    s->at = o->at;
    s->name = o->name;
    if (n < 3)
        return;
    struct object *hash = object_arg(lw, bound_arg(ctor, 1));
    big mode = eval_const(lw, bound_arg(ctor, 2), "mode of a selector");
    o->selector = s;
    if (n >= 5) {
        o->of_profile = object_arg(lw, bound_arg(ctor, 0));
        s->profile = o->of_profile ? o->of_profile->profile : NULL;
        selector_limits(lw, o, bound_arg(ctor, n - 2), bound_arg(ctor, n - 1));
    } else {
        profile_new(lw, o, ctor);
        s->profile = o->profile;
        s->name = arena_printf(lw->a, "%s_sel", o->name);
        s->max_group_size = OLD_FORM_GROUP_SIZE;
        s->n_groups = OLD_FORM_GROUPS;
    }
    if (n == 4 || n == 6)
        give_register(lw, o, bound_arg(ctor, 3));
    o->of_hash = hash;
    s->hash = hash ? hash->hash : NULL;
    s->mode = mode && big_sign(mode) != 0 ? IR_SELECT_RESILIENT : IR_SELECT_FAIR;
    if (!s->profile || !s->hash) {
        lower_error(lw, o->at, "an ActionSelector needs an ActionProfile and a Hash");
        o->selector = NULL;
    }
}

// ---- a table's implementation -------------------------------------------------------------------

static bool is_selector_key(const struct table_key *k) {
    return k->match_kind && strcmp(k->match_kind, "selector") == 0;
}

// The block that computes the hash of the keys marked 'selector', in their order.
static void select_block(struct lower *lw, struct ir_table *t, const struct decl *d) {
    struct ir_block *outer = lw->block;
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_HASH, t->at);
    t->select = lw->block = ir_block_new(lw->a);
    for (size_t i = 0; i < d->table->keys.n; i++) {
        const struct table_key *k = d->table->keys.v[i];
        if (!is_selector_key(k))
            continue;
        struct ir_expr *before = computed_key(lw, d, i);
        VEC_PUSH(lw->a, &s->args, before ? before : eval_bits(lw, k->expr));
        VEC_PUSH(lw->a, &t->selector_keys, table_key_name(lw, k));
    }
    s->hash = t->selector->hash;
    s->hash->selects = true;
    s->var = t->select_hash = temp_new(lw, "select", s->hash->width, t->at);
    put(lw, s);
    lw->block = outer;
}

void table_implementation(struct lower *lw, struct ir_table *t, const struct decl *d,
                          struct expr *e) {
    struct object *o = object_of(lw, e);
    if (o && (o->kind == OBJ_ALPM || o->kind == OBJ_ATCAM)) {
        t->partitions = o->partitions; // another spelling of the properties 'alpm', 'atcam'
        return;
    }
    if (!o || (o->kind != OBJ_ACTION_PROFILE && o->kind != OBJ_SELECTOR)) {
        lower_error(lw, e->at,
                    "'implementation' of a table takes an ActionProfile or an ActionSelector");
        return;
    }
    if (!use_all(lw, o, e->at))
        return;
    t->selector = o->selector;
    t->profile = o->selector ? o->selector->profile : o->profile;
    if (!t->selector)
        return;
    select_block(lw, t, d);
    if (t->selector_keys.n == 0)
        lower_error(lw, e->at, "table '%s' has an ActionSelector, but no key matched 'selector'",
                    t->name);
}

void check_selector_keys(struct lower *lw, const struct ir_table *t, const struct decl *d) {
    for (size_t i = 0; i < d->table->keys.n && !t->selector; i++)
        if (is_selector_key(d->table->keys.v[i]))
            lower_error(lw, d->table->keys.v[i]->kind_at,
                        "a 'selector' key needs an ActionSelector as the table's implementation");
}

// ---- actions ------------------------------------------------------------------------------------

static bool lower_profile_has_action(const struct ir_action_profile *p, const struct ir_action *a) {
    for (size_t i = 0; i < p->actions.n; i++)
        if (p->actions.v[i].action == a)
            return true;
    return false;
}

void profile_actions(struct lower *lw, struct ir_table *t) {
    struct ir_action_profile *p = t->profile;
    size_t n = 0;
    bool first = p && p->actions.n == 0, same = true;
    for (size_t i = 0; p && i < t->actions.n; i++) {
        if (t->actions.v[i].default_only)
            continue;
        n++;
        if (first)
            VEC_PUSH(lw->a, &p->actions, t->actions.v[i]);
        else
            same = same && lower_profile_has_action(p, t->actions.v[i].action);
    }
    if (p && (!same || n != p->actions.n))
        lower_error(lw, t->at,
                    "table '%s' shares action profile '%s' with another table and has other "
                    "actions; tables that share one must have the same",
                    t->name, p->name);
    if (p && n == 0)
        lower_error(lw, t->at, "table '%s' has an action profile, but no action for its members",
                    t->name);
}
