// SPDX-License-Identifier: Apache-2.0
//
// table: tables and their actions (section 14.2, tna-facts 4.12).
//
// A table is made when it is first applied, in the environment of its control; its actions' bodies
// are lowered then, so what they name is what the control's parameters are bound to. An action
// without bound arguments is made once per control instance and shared by its tables.
#include "compiler/lower/lower_impl.h"

#include <string.h>

struct decl *applied_decl(const struct expr *call) {
    const struct expr *callee = call->a;
    if (callee && callee->kind == EX_MEMBER && callee->a) {
        const struct expr *t = strip(callee->a);
        if (t->decl && t->decl->kind == D_TABLE)
            return t->decl;
    }
    return call->decl && call->decl->kind == D_TABLE ? call->decl : NULL;
}

// ---- actions ------------------------------------------------------------------------------------

// The control plane's parameters: the variables that bind_args made for them. A parameter with
// parts is one parameter per part, named by its path: "p.x".
static void data_param(struct lower *lw, struct ir_action *out, const struct bound *b,
                       const char *name, struct value *v) {
    const struct type *u = plain(v->type);
    if (v->kind == VAL_BITS && v->e->width == 0)
        return; // there is nothing to give
    if (v->kind == VAL_BITS && v->e->op == IR_VAR) {
        struct ir_param p = {
            .name = name, .var = v->e->var, .translation = lower_translation(lw, v->type)};
        VEC_PUSH(lw->a, &out->params, p);
        return;
    }
    if (v->kind != VAL_TUPLE) {
        lower_error(lw, b->param->at,
                    "action parameter '%s' is given by the control plane, which knows numbers and "
                    "structs of numbers only",
                    b->param->name);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const char *part =
            u->kind == TY_STRUCT ? u->decl->members.v[i]->name : arena_printf(lw->a, "%zu", i);
        data_param(lw, out, b, arena_printf(lw->a, "%s.%s", name, part), v->items[i]);
    }
}

static void data_params(struct lower *lw, struct ir_action *out, const struct call_args *args) {
    for (size_t i = 0; i < args->v.n; i++)
        if (args->v.v[i].data)
            data_param(lw, out, &args->v.v[i], args->v.v[i].param->name, args->v.v[i].inside);
}

static struct ir_action *make_action(struct lower *lw, struct decl *d, struct expr *call,
                                     struct env *home) {
    struct ir_action *out = ARENA_NEW(lw->a, struct ir_action);
    const char *name = annot_string(&d->annots, "name");
    out->name = d->parent ? env_name(lw, home, &d->annots, d->name) : name ? name : d->name;
    out->at = d->at;
    out->body = ir_block_new(lw->a);
    struct env *saved_env = lw->env;
    struct env *env = env_new(lw, home, arena_printf(lw->a, "%s.%s", home->path, d->name));
    struct ir_block *outer = lw->block;
    enum place place = lw->place;
    struct call_args args;
    struct frame f = {0}, *outer_action = lw->action;
    lw->block = out->body;
    bind_args(lw, &args, &d->params, call, env, BIND_CLOSURE, NULL, true);
    data_params(lw, out, &args);
    lw->place = IN_ACTION_BODY;
    begin_body(lw, &args, &f, d->at);
    lw->action = &f;
    lw->env = env;
    note_consumption(lw, d, d->at);
    if (d->body)
        lower_stmt(lw, d->body);
    lw->env = saved_env;
    lw->action = outer_action;
    end_body(lw, &args, &f, true, d->at);
    lw->place = place;
    lw->block = outer;
    if (f.exits_later)
        VEC_PUSH(lw->a, &lw->exiting_actions, out);
    out->id = (unsigned)lw->gress->actions.n;
    VEC_PUSH(lw->a, &lw->gress->actions, out);
    return out;
}

static bool binds_arguments(const struct decl *d) {
    for (size_t i = 0; i < d->params.n; i++)
        if (d->params.v[i]->dir != DIR_NONE)
            return true;
    return false;
}

static struct ir_action *table_action(struct lower *lw, struct decl *d, struct expr *call) {
    struct env *home = env_of(lw, d->parent);
    bool shared = !binds_arguments(d);
    struct ir_action *made = shared ? env_made(home, d) : NULL;
    if (made)
        return made;
    made = make_action(lw, d, call && call->kind == EX_CALL ? call : NULL, home);
    if (shared)
        env_make(lw, home, d, made);
    return made;
}

struct decl *action_decl(struct expr *call, struct decl *d) {
    if (!d && call)
        d = call->decl;
    if (!d && call && call->kind == EX_CALL && call->a)
        d = call->a->decl;
    return d && d->kind == D_ACTION ? d : NULL;
}

// ---- keys ---------------------------------------------------------------------------------------

static bool match_of(const struct table_key *k, enum ir_match *out) {
    static const struct {
        const char *name;
        enum ir_match match;
    } kinds[] = {
        {"exact", IR_MATCH_EXACT},
        {"ternary", IR_MATCH_TERNARY},
        {"lpm", IR_MATCH_LPM},
        {"range", IR_MATCH_RANGE},
        {"atcam_partition_index", IR_MATCH_EXACT}, // entries match in their partition only
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (k->match_kind && strcmp(k->match_kind, kinds[i].name) == 0) {
            *out = kinds[i].match;
            return true;
        }
    return false;
}

// As a control plane names it: the source's text, but h.isValid() is h.$valid, s[1] is s$1.
const char *table_key_name(struct lower *lw, const struct table_key *k) {
    const char *given = annot_string(&k->annots, "name");
    if (given)
        return given;
    const struct expr *e = strip(k->expr);
    if (e->kind == EX_CALL && e->call == CALL_BUILTIN && e->builtin == BI_IS_VALID && e->a)
        return arena_printf(lw->a, "%s.$valid", expr_text(lw->a, e->a->a));
    const char *text = expr_text(lw->a, e);
    if (e->kind != EX_MEMBER && e->kind != EX_INDEX)
        return text;
    char *name = arena_strdup(lw->a, text), *out = name;
    for (const char *c = text; *c; c++)
        if (*c != ']')
            *out++ = *c == '[' ? '$' : *c;
    *out = '\0';
    return name;
}

static bool same_key_name(const struct ir_table *t, const char *name) {
    for (size_t i = 0; i < t->keys.n; i++)
        if (strcmp(t->keys.v[i].name, name) == 0)
            return true;
    return false;
}

// Keys are evaluated in their order before the lookup (section 14.2.3): whether one with effects
// follows.
static bool lower_table_effects_after(const struct table *t, size_t i) {
    while (++i < t->keys.n)
        if (scan_effects(t->keys.v[i]->expr))
            return true;
    return false;
}

// The key's value; when computing it takes statements they are run at every application, and the
// table matches on the variable they leave it in. So it does when a later key may change the value.
static struct ir_expr *key_expr(struct lower *lw, struct expr *e, bool changes,
                                struct ir_var **computed) {
    size_t before = lw->block->stmts.n;
    struct ir_expr *x = eval_bits(lw, e);
    if (lw->block->stmts.n == before && !changes && !*computed)
        return x;
    if (!*computed)
        *computed = temp_new(lw, "key", x->width, e->at);
    assign_var(lw, *computed, x, e->at);
    return ir_ref(lw->a, *computed);
}

struct table_info {
    struct ir_table *table;
    struct ir_var **computed; // per key, or null
};

bool key_has_bits(struct lower *lw, const struct table_key *k) {
    const struct type *t = plain(env_type(lw, k->expr->type));
    return t->kind != TY_BITS || t->width > 0;
}

static void lower_table_key(struct lower *lw, struct table_info *t, struct decl *d, size_t i) {
    const struct table_key *k = d->table->keys.v[i];
    bool changes = lower_table_effects_after(d->table, i);
    if (!key_has_bits(lw, k)) { // it matches whatever an entry says; the control plane sees none
        if (scan_effects(k->expr))
            key_expr(lw, k->expr, true, &t->computed[i]);
        return;
    }
    if (k->match_kind && strcmp(k->match_kind, "selector") == 0) { // profile.c
        if (changes || scan_effects(k->expr))
            key_expr(lw, k->expr, true, &t->computed[i]);
        return;
    }
    struct ir_key key = {.name = table_key_name(lw, k),
                         .translation = lower_translation(lw, k->expr->type),
                         .at = k->at};
    if (!match_of(k, &key.match)) {
        lower_unsupported(lw, k->kind_at, "match kind '%s'", k->match_kind ? k->match_kind : "?");
        key.match = IR_MATCH_EXACT;
    }
    if (same_key_name(t->table, key.name))
        lower_error(lw, k->at, "table '%s' has two keys named '%s'; give one of them a @name",
                    t->table->name, key.name);
    key.partition = k->match_kind && strcmp(k->match_kind, "atcam_partition_index") == 0;
    key.expr = key_expr(lw, k->expr, changes, &t->computed[i]);
    VEC_PUSH(lw->a, &t->table->keys, key);
}

// What the compiler for the chip refuses (check_unsupported.cpp, tna-facts 4.12).
static void check_match_kinds(struct lower *lw, const struct ir_table *t) {
    const struct ir_key *lpm = NULL, *other = NULL;
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_key *k = &t->keys.v[i];
        if (k->match == IR_MATCH_LPM && lpm)
            lower_error(lw, k->at, "table '%s' has two lpm keys, '%s' and '%s'; it can have one",
                        t->name, lpm->name, k->name);
        if (k->match == IR_MATCH_LPM && !lpm)
            lpm = k;
        if (k->match == IR_MATCH_TERNARY || k->match == IR_MATCH_RANGE)
            other = k;
    }
    if (lpm && other)
        lower_error(lw, lpm->at,
                    "table '%s' matches '%s' by prefix and '%s' as %s; the two cannot be mixed",
                    t->name, lpm->name, other->name,
                    other->match == IR_MATCH_RANGE ? "a range" : "ternary");
}

// ---- properties ---------------------------------------------------------------------------------

static bool lower_table_attach_register(struct lower *lw, struct ir_table *t, struct expr *e) {
    struct object *o = object_of(lw, e);
    if (!o || o->kind != OBJ_REGISTER || !o->reg->direct || !object_use(lw, o, e->at))
        return false;
    VEC_PUSH(lw->a, &t->direct_registers, o->reg);
    return true;
}

static void attach_registers(struct lower *lw, struct ir_table *t, struct expr *e) {
    bool ok = true;
    if (e->kind == EX_LIST || e->kind == EX_STRUCT)
        for (size_t i = 0; i < e->args.n; i++)
            ok = lower_table_attach_register(lw, t, e->args.v[i]->value) && ok;
    else
        ok = lower_table_attach_register(lw, t, e);
    if (!ok)
        lower_error(lw, e->at, "'registers' of a table takes a DirectRegister");
}

static bool ignorable(const char *name) {
    static const char *const names[] = {"requires_versioning", "largest_priority_wins",
                                        "priority_delta"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

// Where entries are kept on the chip; what matches is said by the keys (tna-facts 4.12).
static void placement_property(struct lower *lw, struct ir_table *t,
                               const struct table_property *p) {
    bool alpm = strcmp(p->name, "alpm") == 0;
    struct object *o = object_of(lw, p->value);
    if (!o || o->kind != (alpm ? OBJ_ALPM : OBJ_ATCAM))
        lower_error(lw, p->value->at, "'%s' of a table takes an %s", p->name,
                    alpm ? "Alpm" : "Atcam");
    else
        t->partitions = o->partitions;
}

static void proxy_hash(struct lower *lw, struct ir_table *t, struct expr *e) {
    struct object *o = object_of(lw, e);
    if (!o || o->kind != OBJ_HASH) {
        lower_error(lw, e->at, "'proxy_hash' of a table takes a Hash");
        return;
    }
    if (o->hash->width > 52)
        lower_error(lw, e->at, "the hash that stands for the key has %u bits; at most 52 fit",
                    o->hash->width);
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].match != IR_MATCH_EXACT) {
            lower_error(lw, e->at, "'proxy_hash' is for tables whose keys are all exact");
            return;
        }
    if (t->keys.n > 0 && object_use(lw, o, e->at))
        t->proxy = o->hash;
}

// "@pragma proxy_hash_width N": a hash of the compiler's choice stands for the key (tna-facts
// 4.13).
static void proxy_pragma(struct lower *lw, struct ir_table *t, const struct decl *d) {
    const struct annotation *w = annot_find(&d->annots, "proxy_hash_width");
    const struct annotation *algorithm = annot_find(&d->annots, "proxy_hash_algorithm");
    const struct expr *e = w && w->args.n == 1 ? w->args.v[0] : NULL;
    if (!w || t->proxy || t->keys.n == 0)
        return; // the other pragma alone means nothing
    if (!e || e->kind != EX_INT || !big_fits_u64(e->value) || big_to_u64(e->value) < 1 ||
        big_to_u64(e->value) > 52) {
        lower_error(lw, w->at, "'proxy_hash_width' takes a number of bits from 1 to 52");
        return;
    }
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].match != IR_MATCH_EXACT) {
            lower_error(lw, w->at, "'proxy_hash_width' is for tables whose keys are all exact");
            return;
        }
    if (algorithm && !strstr(algorithm->text, "random")) {
        lower_unsupported(lw, algorithm->at,
                          "an algorithm other than random in 'proxy_hash_algorithm'; use the "
                          "property 'proxy_hash' with a Hash");
        return;
    }
    struct ir_hash *h = ARENA_NEW(lw->a, struct ir_hash);
    h->name = arena_printf(lw->a, "%s.$proxy_hash", t->name);
    h->at = w->at;
    h->algorithm = IR_HASH_RANDOM;
    h->width = (unsigned)big_to_u64(e->value);
    h->id = (unsigned)lw->gress->hashes.n;
    VEC_PUSH(lw->a, &lw->gress->hashes, h);
    t->proxy = h;
}

// The key that "@atcam_partition_index("hdr.vlan.vid")" names, or null after an error.
static struct ir_key *partition_key(struct lower *lw, struct ir_table *t,
                                    const struct annotation *index) {
    const struct expr *e = index->args.n == 1 ? index->args.v[0] : NULL;
    const char *name = !e ? index->text : e->kind == EX_STRING ? e->name : expr_text(lw->a, e);
    const char *keys = "";
    for (size_t i = 0; i < t->keys.n; i++) {
        struct ir_key *k = &t->keys.v[i];
        keys = arena_printf(lw->a, "%s%s'%s'", keys, i ? ", " : "", k->name);
        if (strcmp(k->name, name) != 0)
            continue;
        if (k->match == IR_MATCH_EXACT)
            return k;
        lower_error(lw, index->at,
                    "'atcam_partition_index' names key '%s' of table '%s', which is not exact",
                    name, t->name);
        return NULL;
    }
    lower_error(lw, index->at,
                "'atcam_partition_index' names '%s', which is not a key of table '%s'%s%s", name,
                t->name, *keys ? "; it has " : "", keys);
    return NULL;
}

// "@atcam_partition_index(NAME)" and "@atcam_number_partitions(N)": entries are kept in partitions,
// as with the match kind of the first name (tna-facts 4.12). What matches is said by the keys.
static void partition_annotations(struct lower *lw, struct ir_table *t, const struct decl *d) {
    const struct annotation *index = annot_find(&d->annots, "atcam_partition_index");
    const struct annotation *number = annot_find(&d->annots, "atcam_number_partitions");
    struct ir_partitions *p = ARENA_NEW(lw->a, struct ir_partitions);
    const struct ir_key *key = NULL;
    if (index) {
        struct ir_key *named = partition_key(lw, t, index);
        if (!named)
            return;
        named->partition = true;
        key = named;
    }
    for (size_t i = 0; i < t->keys.n && !key; i++)
        key = t->keys.v[i].partition ? &t->keys.v[i] : NULL;
    if (number && !key) {
        lower_error(lw, number->at,
                    "'atcam_number_partitions' is for a table with an 'atcam_partition_index', "
                    "which '%s' does not have",
                    t->name);
        return;
    }
    if (number) {
        const struct expr *e = number->args.n == 1 ? number->args.v[0] : NULL;
        const unsigned bits = key->expr->width;
        p->count = e && e->kind == EX_INT && big_fits_u64(e->value) ? big_to_u64(e->value) : 0;
        if (p->count == 0 || (bits < 64 && p->count > UINT64_C(1) << bits)) {
            lower_error(lw, number->at,
                        "'atcam_number_partitions' takes a number from 1 to 2^%u: the partition "
                        "index '%s' has %u bits",
                        bits, key->name, bits);
            return;
        }
    }
    if (index && !t->partitions)
        t->partitions = p;
}

// The chip keeps one mask for all of a table's entries, where they are found by a hash of the whole
// key.
static void lower_table_key_masks(struct lower *lw, struct ir_table *t, const struct decl *d) {
    const struct annotation *m = annot_find(&d->annots, "dynamic_table_key_masks");
    const struct expr *e = m && m->args.n == 1 ? m->args.v[0] : NULL;
    if (!m)
        return;
    if (!e || e->kind != EX_INT || !big_fits_u64(e->value)) {
        lower_error(lw, m->at, "'dynamic_table_key_masks' takes a number; 1 gives the table masks");
        return;
    }
    t->key_masks = big_to_u64(e->value) == 1;
    if (!t->key_masks)
        diag_warning(lw->d, m->at,
                     "'dynamic_table_key_masks' has no effect with a value other than 1");
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].match != IR_MATCH_EXACT || t->proxy) {
            lower_error(lw, m->at,
                        "'dynamic_table_key_masks' is for tables whose keys are all exact%s",
                        t->proxy ? " and that have no proxy hash" : "");
            return;
        }
}

static void lower_table_property(struct lower *lw, struct ir_table *t, const struct decl *d,
                                 const struct table_property *p) {
    if (!p->name || !p->value)
        return;
    if (strcmp(p->name, "size") == 0) {
        if (eval_const_u64(lw, p->value, "size of a table", &t->size) && t->size > UINT32_MAX)
            lower_limit(lw, p->value->at, "table '%s' has room for %llu entries; at most %u fit",
                        t->name, (unsigned long long)t->size, UINT32_MAX);
        return;
    }
    if (strcmp(p->name, "implementation") == 0) {
        table_implementation(lw, t, d, p->value);
        return;
    }
    if (strcmp(p->name, "atcam") == 0 || strcmp(p->name, "alpm") == 0) {
        placement_property(lw, t, p);
        return;
    }
    if (strcmp(p->name, "proxy_hash") == 0) {
        proxy_hash(lw, t, p->value);
        return;
    }
    if (strcmp(p->name, "counters") == 0) {
        attach_counters(lw, t, p);
        return;
    }
    if (strcmp(p->name, "meters") == 0 || strcmp(p->name, "filters") == 0) {
        attach_meters(lw, t, p);
        return;
    }
    if (strcmp(p->name, "registers") == 0) {
        attach_registers(lw, t, p->value);
        return;
    }
    if (strcmp(p->name, "idle_timeout") == 0) {
        big v = eval_const(lw, p->value, "idle_timeout");
        t->idle_timeout = v && big_sign(v) != 0;
        return;
    }
    if (!ignorable(p->name))
        diag_warning(lw->d, p->at, "table property '%s' is unknown and has no effect", p->name);
}

// ---- the table ----------------------------------------------------------------------------------

static void lower_table_actions(struct lower *lw, struct ir_table *t, struct decl *d) {
    for (size_t i = 0; i < d->table->actions.n; i++) {
        const struct table_action *ta = d->table->actions.v[i];
        struct decl *ad = action_decl(ta->call, ta->action);
        if (!ad)
            continue;
        struct ir_table_action a = {.action = table_action(lw, ad, ta->call),
                                    .table_only = annot_find(&ta->annots, "tableonly") != NULL,
                                    .default_only = annot_find(&ta->annots, "defaultonly") != NULL,
                                    .decl = ad};
        VEC_PUSH(lw->a, &t->actions, a);
    }
}

static struct decl *find_no_action(struct lower *lw) {
    for (size_t i = 0; i < lw->p->decls.n; i++) {
        struct decl *d = lw->p->decls.v[i];
        if (d->kind == D_ACTION && d->name && strcmp(d->name, "NoAction") == 0)
            return d;
    }
    return NULL;
}

// Without a default action a miss does nothing: NoAction is there for it.
static void no_default_action(struct lower *lw, struct ir_table *t) {
    struct decl *d = find_no_action(lw);
    for (size_t i = 0; i < t->actions.n; i++)
        if (d && t->actions.v[i].decl == d) {
            t->default_action = t->actions.v[i].action;
            return;
        }
    struct ir_table_action a = {.default_only = true, .decl = d};
    if (d) {
        a.action = table_action(lw, d, NULL);
    } else {
        a.action = ARENA_NEW(lw->a, struct ir_action);
        a.action->name = "NoAction";
        a.action->body = ir_block_new(lw->a);
        a.action->id = (unsigned)lw->gress->actions.n;
        VEC_PUSH(lw->a, &lw->gress->actions, a.action);
    }
    VEC_PUSH(lw->a, &t->actions, a);
    t->default_action = a.action;
}

static void lower_table_default_action(struct lower *lw, struct ir_table *t, struct decl *d) {
    big_vec args = {0};
    t->const_default = d->table->const_default;
    if (d->table->default_action) {
        struct decl *ad = action_decl(d->table->default_action, d->table->default_decl);
        t->default_action = chosen_action(lw, t, d->table->default_action, ad, &args);
    }
    if (!t->default_action)
        no_default_action(lw, t);
    for (size_t i = 0; i < args.n; i++)
        VEC_PUSH(lw->a, &t->default_args, args.v[i]);
}

int table_action_index(struct lower *lw, struct ir_table *t, const struct decl *d) {
    (void)lw;
    for (size_t i = 0; i < t->actions.n; i++)
        if (t->actions.v[i].decl == d)
            return (int)i;
    return -1;
}

// What the schema has a place of its own for is not among the annotations that a controller sees.
static void note_annotations(struct lower *lw, struct ir_table *t, const annot_vec *annots) {
    static const char *const elsewhere[] = {"name", "id", "brief", "description"};
    for (size_t i = 0; i < annots->n; i++) {
        const struct annotation *a = annots->v[i];
        bool shown = !a->structured;
        for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
            shown &= strcmp(a->name, elsewhere[k]) != 0;
        const char *text = "";
        for (size_t k = 0; k < a->args.n; k++)
            text =
                arena_printf(lw->a, "%s%s%s", text, k ? ", " : "", expr_text(lw->a, a->args.v[k]));
        if (a->args.n == 0 && a->text)
            text = a->text;
        if (shown)
            VEC_PUSH(lw->a, &t->annotations,
                     *text ? arena_printf(lw->a, "@%s(%s)", a->name, text)
                           : arena_printf(lw->a, "@%s", a->name));
    }
}

static struct table_info *make_table(struct lower *lw, struct decl *d, struct env *home) {
    struct table_info *info = ARENA_NEW(lw->a, struct table_info);
    struct ir_table *t = ARENA_NEW(lw->a, struct ir_table);
    struct env *saved = lw->env;
    info->table = t;
    info->computed = ARENA_ARRAY(lw->a, struct ir_var *, d->table->keys.n + 1);
    lw->env = home;
    t->name = env_name(lw, home, &d->annots, d->name);
    t->at = d->name_at;
    t->hidden = annot_find(&d->annots, "hidden") != NULL;
    note_annotations(lw, t, &d->annots);
    env_make(lw, home, d, info);
    for (size_t i = 0; i < d->table->keys.n; i++)
        lower_table_key(lw, info, d, i);
    for (size_t i = 0; i < d->table->properties.n; i++)
        lower_table_property(lw, t, d, d->table->properties.v[i]);
    proxy_pragma(lw, t, d);
    partition_annotations(lw, t, d);
    lower_table_key_masks(lw, t, d);
    check_selector_keys(lw, t, d);
    check_match_kinds(lw, t);
    lower_table_actions(lw, t, d);
    lower_table_default_action(lw, t, d);
    profile_actions(lw, t);
    make_entries(lw, t, d);
    lw->env = saved;
    t->id = (unsigned)lw->gress->tables.n;
    VEC_PUSH(lw->a, &lw->gress->tables, t);
    return info;
}

static void recompute_keys(struct lower *lw, struct table_info *t, struct decl *d,
                           struct env *home) {
    struct env *saved = lw->env;
    lw->env = home;
    for (size_t i = 0; i < d->table->keys.n; i++)
        if (t->computed[i]) // a key that takes statements
            key_expr(lw, d->table->keys.v[i]->expr, true, &t->computed[i]);
    lw->env = saved;
}

struct ir_expr *computed_key(struct lower *lw, const struct decl *d, size_t i) {
    const struct table_info *info = env_made(lw->env, d);
    return info && info->computed[i] ? ir_ref(lw->a, info->computed[i]) : NULL;
}

struct ir_table *made_table(struct lower *lw, const struct decl *d) {
    struct table_info *info = d ? env_made(lw->env, d) : NULL;
    return info ? info->table : NULL;
}

// Whether an action of the table leaves its 'exit' to the application.
static bool exits_later(const struct lower *lw, const struct ir_table *t) {
    for (size_t i = 0; i < t->actions.n; i++)
        for (size_t k = 0; k < lw->exiting_actions.n; k++)
            if (t->actions.v[i].action == lw->exiting_actions.v[k])
                return true;
    return false;
}

static void exit_now(struct lower *lw, struct loc at) {
    struct ir_block *outer = lw->block, *exit = lw->block = ir_block_new(lw->a);
    put_exit(lw, at);
    lw->block = outer;
    put_if(lw, ir_ref(lw->a, lw->exiting), exit, NULL, at);
}

#define ACTION_RUN_BITS 32u

struct value *apply_table(struct lower *lw, struct expr *call, enum apply_want want) {
    struct decl *d = applied_decl(call);
    struct ir_expr *none = ir_const_u64(lw->a, want == APPLY_ACTION_RUN ? ACTION_RUN_BITS : 1, 0);
    if (!d || !d->table || (lw->place != IN_CONTROL_BODY)) {
        lower_error(lw, call->at, "a table may only be applied in the body of a control");
        return value_bits(lw, NULL, none);
    }
    struct env *home = env_of(lw, d->parent);
    struct table_info *t = env_made(home, d);
    if (t)
        recompute_keys(lw, t, d, home);
    else
        t = make_table(lw, d, home);
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_APPLY, call->at);
    s->table = t->table;
    if (want == APPLY_HIT || want == APPLY_MISS)
        s->hit = temp_new(lw, "hit", 1, call->at);
    if (want == APPLY_ACTION_RUN)
        s->action_run = temp_new(lw, "run", ACTION_RUN_BITS, call->at);
    bool may_exit = exits_later(lw, t->table);
    if (may_exit)
        assign_var(lw, lw->exiting, ir_const_u64(lw->a, 1, 0), call->at);
    put(lw, s);
    if (may_exit)
        exit_now(lw, call->at);
    if (want == APPLY_PLAIN)
        return value_new(lw, VAL_NONE, NULL);
    if (want == APPLY_ACTION_RUN)
        return value_bits(lw, NULL, ir_ref(lw->a, s->action_run));
    struct ir_expr *hit = ir_ref(lw->a, s->hit);
    return value_bool(lw, want == APPLY_HIT ? hit : ir_not_bool(lw->a, hit));
}
