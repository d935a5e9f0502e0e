// SPDX-License-Identifier: Apache-2.0
//
// tidy: the last look at a gress. Variables and headers that nothing refers to are dropped
// (copies coalesced away, fields no one reads), the rest get unique names and dense ids.
#include "compiler/lower/lower_impl.h"

#include <string.h>

// ---- what is used -------------------------------------------------------------------------------

// Marks by id: vars and headers are still numbered as they were made.
struct used {
    bool *vars, *headers;
};

static void use_var(struct used *u, const struct ir_var *v) {
    if (!v)
        return;
    u->vars[v->id] = true;
    if (v->header)
        u->headers[v->header->id] = true;
}

static void used_expr(void *ctx, struct ir_expr *e) {
    if (e->op == IR_VAR)
        use_var(ctx, e->var);
}

static void used_slot(void *ctx, struct ir_var **v) {
    use_var(ctx, *v);
}

static void used_stmt(void *ctx, struct ir_stmt *s) {
    struct used *u = ctx;
    ir_written_vars(s, used_slot, u);
    if (s->header)
        u->headers[s->header->id] = true;
    for (size_t i = 0; i < s->headers.n; i++)
        u->headers[s->headers.v[i]->id] = true;
}

static void visit_gress(const struct ir_visitor *v, struct ir_gress *g) {
    for (size_t i = 0; i < g->states.n; i++) {
        ir_visit_block(v, g->states.v[i]->body);
        for (size_t k = 0; k < g->states.v[i]->keys.n; k++)
            ir_visit_expr(v, g->states.v[i]->keys.v[k]);
    }
    ir_visit_block(v, g->control);
    ir_visit_block(v, g->deparser);
    for (size_t i = 0; i < g->actions.n; i++)
        ir_visit_block(v, g->actions.v[i]->body);
    for (size_t i = 0; i < g->regactions.n; i++)
        ir_visit_block(v, g->regactions.v[i]->body);
    for (size_t i = 0; i < g->tables.n; i++)
        ir_visit_block(v, g->tables.v[i]->select);
}

// ---- nothing without bits -----------------------------------------------------------------------

struct without_bits {
    struct lower *lw;
    const struct ir_stmt *s;
    bool told;
};

static void width_stmt(void *ctx, struct ir_stmt *s) {
    ((struct without_bits *)ctx)->s = s;
}

static void width_expr(void *ctx, struct ir_expr *e) {
    struct without_bits *w = ctx;
    if (e->width > 0 || w->told)
        return;
    w->told = true;
    lower_unsupported(w->lw, w->s ? w->s->at : (struct loc){0}, "a value of bit<0> here");
}

static void check_widths(struct lower *lw, struct ir_gress *g) {
    struct without_bits w = {.lw = lw};
    visit_gress(&(struct ir_visitor){.ctx = &w, .stmt = width_stmt, .expr = width_expr}, g);
}

static void use_objects(struct used *u, struct ir_gress *g) {
    for (size_t i = 0; i < g->actions.n; i++)
        for (size_t k = 0; k < g->actions.v[i]->params.n; k++)
            use_var(u, g->actions.v[i]->params.v[k].var);
    for (size_t i = 0; i < g->regactions.n; i++) {
        use_var(u, g->regactions.v[i]->value[0]);
        use_var(u, g->regactions.v[i]->value[1]);
        use_var(u, g->regactions.v[i]->rv);
    }
}

// An intrinsic field and its validity are used together; so are a header's parts.
static void lower_tidy_complete(struct used *u, struct ir_gress *g) {
    for (size_t i = 0; i < g->headers.n; i++) // validity belongs to no header's field list
        if (u->vars[g->headers.v[i]->valid->id])
            u->headers[i] = true;
    for (size_t i = 0; i < g->headers.n; i++) {
        struct ir_header *h = g->headers.v[i];
        if (!u->headers[i])
            continue;
        u->vars[h->valid->id] = true;
        for (size_t k = 0; k < h->fields.n; k++)
            u->vars[h->fields.v[k]->id] = true;
    }
    for (size_t i = 0; i < g->vars.n; i++) { // a copy's validity that nobody asks for
        struct ir_var *v = g->vars.v[i];
        bool intrinsic = !v->valid;
        for (int k = 0; k < IRI_COUNT && !intrinsic; k++)
            intrinsic |= g->intrinsic[k] == v;
        if (!intrinsic && !u->vars[v->valid->id])
            v->valid = NULL;
    }
    for (int i = 0; i < IRI_COUNT; i++) {
        struct ir_var *v = g->intrinsic[i];
        if (!v)
            continue;
        if (v->valid && (u->vars[v->id] || u->vars[v->valid->id]))
            u->vars[v->id] = u->vars[v->valid->id] = true;
        if (!u->vars[v->id])
            g->intrinsic[i] = NULL;
    }
}

static void drop_unused(struct used *u, struct ir_gress *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->vars.n; i++)
        if (u->vars[i])
            g->vars.v[n++] = g->vars.v[i];
    g->vars.n = n;
    for (size_t i = 0; i < n; i++)
        g->vars.v[i]->id = (unsigned)i;
    n = 0;
    for (size_t i = 0; i < g->headers.n; i++)
        if (u->headers[i])
            g->headers.v[n++] = g->headers.v[i];
    g->headers.n = n;
    for (size_t i = 0; i < n; i++)
        g->headers.v[i]->id = (unsigned)i;
}

// ---- names --------------------------------------------------------------------------------------

static uint64_t lower_tidy_hash_name(const char *s) {
    uint64_t h = 14695981039346656037u; // FNV-1a
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h;
}

struct names {
    const char **slots;
    size_t mask;
};

static bool take_name(struct names *t, const char *name) {
    for (size_t i = lower_tidy_hash_name(name) & t->mask;; i = (i + 1) & t->mask) {
        if (!t->slots[i]) {
            t->slots[i] = name;
            return true;
        }
        if (strcmp(t->slots[i], name) == 0)
            return false;
    }
}

static const char *unique_name(struct lower *lw, struct names *t, const char *name) {
    if (take_name(t, name))
        return name;
    for (unsigned n = 2;; n++) {
        const char *other = arena_printf(lw->a, "%s#%u", name, n);
        if (take_name(t, other))
            return other;
    }
}

static struct names lower_tidy_names_new(struct lower *lw, size_t n) {
    struct names t = {.mask = 15};
    while (t.mask < 4 * n)
        t.mask = 2 * t.mask + 1;
    t.slots = ARENA_ARRAY(lw->a, const char *, t.mask + 1);
    return t;
}

static void unique_names(struct lower *lw, struct ir_gress *g) {
    struct names vars = lower_tidy_names_new(lw, g->vars.n),
                 headers = lower_tidy_names_new(lw, g->headers.n);
    struct names states = lower_tidy_names_new(lw, g->states.n);
    for (size_t i = 0; i < g->vars.n; i++)
        g->vars.v[i]->name = unique_name(lw, &vars, g->vars.v[i]->name);
    for (size_t i = 0; i < g->headers.n; i++)
        g->headers.v[i]->name = unique_name(lw, &headers, g->headers.v[i]->name);
    for (size_t i = 0; i < g->states.n; i++)
        g->states.v[i]->name = unique_name(lw, &states, g->states.v[i]->name);
}

// ---- statements that do nothing -----------------------------------------------------------------

static bool lower_tidy_does_nothing(const struct ir_stmt *s) {
    return s->kind == IR_BLOCK && s->then_b->stmts.n == 0;
}

static void sweep(struct ir_block *b) {
    size_t n = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct ir_stmt *s = b->stmts.v[i];
        sweep(s->then_b);
        sweep(s->else_b);
        for (size_t k = 0; k < s->cases.n; k++)
            sweep(s->cases.v[k].body);
        if (!lower_tidy_does_nothing(s))
            b->stmts.v[n++] = s;
    }
    if (b)
        b->stmts.n = n;
}

static void sweep_gress(struct ir_gress *g) {
    for (size_t i = 0; i < g->states.n; i++)
        sweep(g->states.v[i]->body);
    sweep(g->control);
    sweep(g->deparser);
    for (size_t i = 0; i < g->actions.n; i++)
        sweep(g->actions.v[i]->body);
    for (size_t i = 0; i < g->regactions.n; i++)
        sweep(g->regactions.v[i]->body);
}

// ---- direct objects -----------------------------------------------------------------------------

// A direct counter or register belongs to the entry that was hit: it can only be used by actions of
// the one table that names it, or of the only one whose actions use a register (tna-facts 4.4).
struct direct_use {
    struct lower *lw;
    const struct ir_table *table; // whose action is looked at, or null
};

static bool owns_counter(const struct ir_table *t, const struct ir_counter *c) {
    for (size_t i = 0; t && i < t->direct_counters.n; i++)
        if (t->direct_counters.v[i] == c)
            return true;
    return false;
}

static bool owns_register(const struct ir_table *t, const struct ir_register *r) {
    for (size_t i = 0; t && i < t->direct_registers.n; i++)
        if (t->direct_registers.v[i] == r)
            return true;
    return false;
}

static void direct_stmt(void *ctx, struct ir_stmt *s) {
    struct direct_use *u = ctx;
    const struct ir_register *r = s->regaction ? s->regaction->reg : s->reg;
    const char *what = NULL;
    if (s->counter && s->counter->direct && !owns_counter(u->table, s->counter))
        what = s->counter->name;
    if (r && r->direct && !owns_register(u->table, r))
        what = r->name;
    if (!what)
        return;
    if (u->table)
        lower_error(u->lw, s->at, "'%s' is not among the '%s' of table '%s', whose action uses it",
                    what, r ? "registers" : "counters", u->table->name);
    else
        lower_error(u->lw, s->at, "'%s' belongs to a table's entries: only its actions can use it",
                    what);
}

static void check_one_owner(struct lower *lw, const struct ir_gress *g, size_t i) {
    const struct ir_table *t = g->tables.v[i];
    for (size_t k = 0; k < i; k++) {
        for (size_t j = 0; j < t->direct_counters.n; j++)
            if (owns_counter(g->tables.v[k], t->direct_counters.v[j]))
                lower_error(lw, t->at, "counter '%s' belongs to table '%s' already",
                            t->direct_counters.v[j]->name, g->tables.v[k]->name);
        for (size_t j = 0; j < t->direct_registers.n; j++)
            if (owns_register(g->tables.v[k], t->direct_registers.v[j]))
                lower_error(lw, t->at, "register '%s' belongs to table '%s' already",
                            t->direct_registers.v[j]->name, g->tables.v[k]->name);
    }
}

// A register action may be executed right in the control, without a table's entry: the chip makes a
// table without keys for the statement, and the register has one cell.
struct ownerless {
    struct lower *lw;
    struct ir_register *reg;
    bool convert;
    unsigned uses;
};

static void ownerless_stmt(void *ctx, struct ir_stmt *s) {
    struct ownerless *o = ctx;
    if ((s->regaction ? s->regaction->reg : s->reg) != o->reg)
        return;
    o->uses++;
    if (o->convert)
        s->e = ir_const_u64(o->lw->a, 1, 0);
}

static void settle_ownerless(struct lower *lw, struct ir_gress *g, struct ir_register *r) {
    struct ownerless o = {.lw = lw, .reg = r};
    struct ir_visitor v = {.ctx = &o, .stmt = ownerless_stmt, .shallow = true};
    for (size_t i = 0; i < g->tables.n; i++)
        if (owns_register(g->tables.v[i], r))
            return;
    struct ir_table *user = NULL;
    bool several = false;
    for (size_t i = 0; i < g->tables.n; i++) {
        const unsigned before = o.uses;
        for (size_t k = 0; k < g->tables.v[i]->actions.n; k++)
            ir_visit_block(&v, g->tables.v[i]->actions.v[k].action->body);
        several |= user && o.uses > before;
        if (o.uses > before)
            user = g->tables.v[i];
    }
    if (user && !several) // the only one whose actions use it need not name it
        VEC_PUSH(lw->a, &user->direct_registers, r);
    if (user) // several: reported
        return;
    for (size_t i = 0; i < g->actions.n; i++)
        ir_visit_block(&v, g->actions.v[i]->body);
    if (o.uses > 0)
        return;
    o.convert = true;
    ir_visit_block(&v, g->control);
    if (o.uses == 0)
        return;
    r->direct = false;
    r->size = 1;
}

static void check_direct(struct lower *lw, struct ir_gress *g) {
    for (size_t i = 0; i < g->registers.n; i++)
        if (g->registers.v[i]->direct)
            settle_ownerless(lw, g, g->registers.v[i]);
    struct direct_use u = {.lw = lw};
    struct ir_visitor v = {.ctx = &u, .stmt = direct_stmt, .shallow = true};
    ir_visit_block(&v, g->control);
    for (size_t i = 0; i < g->tables.n; i++) {
        check_one_owner(lw, g, i);
        u.table = g->tables.v[i];
        for (size_t k = 0; k < u.table->actions.n; k++)
            ir_visit_block(&v, u.table->actions.v[k].action->body);
    }
}

// ---- direct objects that nothing has ------------------------------------------------------------

// A table that no packet can reach is not lowered, and what its entries would hold has no place.
struct direct_marks { // by id
    bool *registers, *counters, *meters;
};

static void mark_stmt(void *ctx, struct ir_stmt *s) {
    struct direct_marks *m = ctx;
    const struct ir_register *r = s->regaction ? s->regaction->reg : s->reg;
    if (r)
        m->registers[r->id] = true;
    if (s->counter)
        m->counters[s->counter->id] = true;
    if (s->meter)
        m->meters[s->meter->id] = true;
}

static void mark_table(struct direct_marks *m, const struct ir_table *t) {
    for (size_t i = 0; i < t->direct_registers.n; i++)
        m->registers[t->direct_registers.v[i]->id] = true;
    for (size_t i = 0; i < t->direct_counters.n; i++)
        m->counters[t->direct_counters.v[i]->id] = true;
    if (t->direct_meter)
        m->meters[t->direct_meter->id] = true;
}

// Keeps the items of a list for which 'keep' (of the item 'x') is true, and numbers them again.
#define KEEP_IF(list, keep)                                                                        \
    do {                                                                                           \
        size_t n_ = 0;                                                                             \
        for (size_t i_ = 0; i_ < (list)->n; i_++) {                                                \
            __typeof__((list)->v[0]) x = (list)->v[i_];                                            \
            if (keep)                                                                              \
                (list)->v[n_++] = x;                                                               \
        }                                                                                          \
        (list)->n = n_;                                                                            \
        for (size_t i_ = 0; i_ < n_; i_++)                                                         \
            (list)->v[i_]->id = (unsigned)i_;                                                      \
    } while (0)

static void drop_unreachable_objects(struct lower *lw, struct ir_gress *g) {
    struct direct_marks m = {ARENA_ARRAY(lw->a, bool, g->registers.n + 1),
                             ARENA_ARRAY(lw->a, bool, g->counters.n + 1),
                             ARENA_ARRAY(lw->a, bool, g->meters.n + 1)};
    struct ir_visitor v = {.ctx = &m, .stmt = mark_stmt, .shallow = true};
    ir_visit_block(&v, g->control);
    for (size_t i = 0; i < g->actions.n; i++)
        ir_visit_block(&v, g->actions.v[i]->body);
    for (size_t i = 0; i < g->tables.n; i++)
        mark_table(&m, g->tables.v[i]);
    for (size_t i = 0; i < g->registers.n; i++) // others stay: a control plane may look at them
        m.registers[i] |= !g->registers.v[i]->direct;
    KEEP_IF(&g->regactions, m.registers[x->reg->id]);
    KEEP_IF(&g->reg_params, !x->reg || m.registers[x->reg->id]);
    KEEP_IF(&g->registers, m.registers[x->id]);
    KEEP_IF(&g->counters, !x->direct || m.counters[x->id]);
    KEEP_IF(&g->meters, !x->direct || m.meters[x->id]);
}

// ---- control-plane names ------------------------------------------------------------------------

// Two tables, or two arrays of cells, of one name could not be told apart by a control plane. A
// table may share its name with a register, counter or meter: commands, sections of files and ids
// of schemas tell these apart.
struct same_kind { // objects whose names are in one list
    struct lower *lw;
    struct names names;
    VEC(struct same_name {
        const char *name;
        struct loc at;
    })
    seen;
};

static struct same_kind same_kind_new(struct lower *lw, size_t n) {
    return (struct same_kind){.lw = lw, .names = lower_tidy_names_new(lw, n)};
}

// Whether an earlier object of the name is of the same declaration: 'Block.apply()' twice makes two
// instances of one name (section 15.1), which is no harm as long as a control plane sees nothing in
// them.
static bool same_kind_is_declared_there(const struct same_kind *k, const char *name,
                                        struct loc at) {
    for (size_t i = 0; i < k->seen.n; i++)
        if (strcmp(k->seen.v[i].name, name) == 0 && loc_same(k->seen.v[i].at, at))
            return true;
    return false;
}

static void same_kind_add(struct same_kind *k, const char *name, struct loc at) {
    struct same_name n = {name, at};
    if (!take_name(&k->names, name))
        lower_error(k->lw, at, "two objects have the control-plane name '%s'; %s", name,
                    same_kind_is_declared_there(k, name, at)
                        ? "the block that declares them is applied twice under one name, so make "
                          "an instance of it for each application"
                        : "give one of them a different @name");
    VEC_PUSH(k->lw->a, &k->seen, n);
}

static void lower_tidy_check_names(struct lower *lw, struct ir_gress *g) {
    struct same_kind tables =
        same_kind_new(lw, g->tables.n + g->profiles.n + g->selectors.n + g->digests.n);
    struct same_kind cells = same_kind_new(lw, g->registers.n + g->counters.n + g->meters.n);
    for (size_t i = 0; i < g->profiles.n; i++)
        same_kind_add(&tables, g->profiles.v[i]->name, g->profiles.v[i]->at);
    for (size_t i = 0; i < g->selectors.n; i++)
        same_kind_add(&tables, g->selectors.v[i]->name, g->selectors.v[i]->at);
    for (size_t i = 0; i < g->tables.n; i++)
        if (!g->tables.v[i]->hidden)
            same_kind_add(&tables, g->tables.v[i]->name, g->tables.v[i]->at);
    for (size_t i = 0; i < g->registers.n; i++)
        if (!g->registers.v[i]->implied)
            same_kind_add(&cells, g->registers.v[i]->name, g->registers.v[i]->at);
    for (size_t i = 0; i < g->digests.n; i++)
        same_kind_add(&tables, g->digests.v[i]->name, g->digests.v[i]->at);
    for (size_t i = 0; i < g->counters.n; i++)
        same_kind_add(&cells, g->counters.v[i]->name, g->counters.v[i]->at);
    for (size_t i = 0; i < g->meters.n; i++)
        same_kind_add(&cells, g->meters.v[i]->name, g->meters.v[i]->at);
}

void tidy_gress(struct lower *lw, struct ir_gress *g) {
    struct used u = {.vars = ARENA_ARRAY(lw->a, bool, g->vars.n + 1),
                     .headers = ARENA_ARRAY(lw->a, bool, g->headers.n + 1)};
    if (lw->gave_up)
        return;
    sweep_gress(g);
    check_widths(lw, g);
    drop_unreachable_objects(lw, g);
    visit_gress(&(struct ir_visitor){.ctx = &u, .expr = used_expr, .stmt = used_stmt}, g);
    use_objects(&u, g);
    lower_tidy_complete(&u, g);
    drop_unused(&u, g);
    unique_names(lw, g);
    lower_tidy_check_names(lw, g);
    check_direct(lw, g);
    check_direct_meters(lw, g);
    check_attached(lw->a, lw->d, g);
}
