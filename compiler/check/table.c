// SPDX-License-Identifier: Apache-2.0
//
// table: keys, actions, default action, entries and other properties of a table
// (section 14.2).
#include "compiler/check/check_impl.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Keys

static bool is_kind(const struct table_key *k, const char *kind) {
    return k->match_kind && strcmp(k->match_kind, kind) == 0;
}

static bool matches_bits(const struct table_key *k) {
    return is_kind(k, "lpm") || is_kind(k, "range") || is_kind(k, "ternary");
}

static bool may_be_key(const struct type *t) {
    switch (t->kind) {
    case TY_ERROR_TYPE:
    case TY_BITS:
    case TY_VARBIT:
    case TY_BOOL:
    case TY_ENUM:
    case TY_ERROR:
    case TY_NEWTYPE:
        return true;
    default:
        return false;
    }
}

static void check_match_kind(struct checker *c, struct table_key *k) {
    k->kind = names_find(c->match_kinds, k->match_kind);
    if (k->kind || !k->match_kind)
        return;
    struct guess g = guess_start(c, k->match_kind);
    guess_in(c->match_kinds, &g);
    diag_error(c->d, k->kind_at, "match kind '%s' is not declared%s", k->match_kind,
               guess_text(c, &g));
}

// Whether the control plane's name of a key can be made from how it is written.
static bool names_itself(const struct expr *e) {
    switch (e->kind) {
    case EX_NAME:
    case EX_INT:
        return true;
    case EX_MEMBER:
        return names_itself(e->a);
    case EX_INDEX:
        return names_itself(e->a) && names_itself(e->b);
    case EX_SLICE:
    case EX_PLUS_SLICE:
        return names_itself(e->a);
    case EX_CALL:
        return e->call == CALL_BUILTIN && e->builtin == BI_IS_VALID;
    case EX_BINARY:
        return e->op == OP_BAND && names_itself(e->a) && names_itself(e->b);
    case EX_CAST:
        return e->tref == NULL && names_itself(e->a);
    default:
        return false;
    }
}

static void check_table_key(struct checker *c, struct table_key *k) {
    struct type *t = infer(c, k->expr);
    check_match_kind(c, k);
    if (t->kind != TY_ERROR_TYPE && t->kind != TY_INT && !names_itself(k->expr) &&
        !annot_find(&k->annots, "name"))
        diag_error(c->d, k->expr->at, "this key needs a name: write @name(\"...\") after it");
    const struct type *bits = type_underlying(t);
    if (t->kind == TY_INT)
        diag_error(c->d, k->expr->at, "the width of this key is not known; write it as 8w...");
    else if (!may_be_key(t))
        diag_error(c->d, k->expr->at, "a value of type '%s' cannot be a table key", tn(c, t));
    else if (matches_bits(k) && bits->kind != TY_BITS && bits->kind != TY_ERROR_TYPE &&
             !((bits->kind == TY_BOOL || bits->kind == TY_ERROR) && is_kind(k, "ternary")))
        diag_error(c->d, k->expr->at, "a '%s' key must have a type of bits, not '%s'",
                   k->match_kind, tn(c, t));
    else
        return;
    poison(c, k->expr);
}

// ------------------------------------------------------------------------------------------------
// References to actions

static struct expr *callee(struct expr *e) {
    return e->kind == EX_CALL ? e->a : e;
}

static struct decl *find_action(struct checker *c, struct expr *ref) {
    struct expr *name = callee(ref);
    if (name->kind != EX_NAME) {
        diag_error(c->d, name->at, "the name of an action is expected here");
        return NULL;
    }
    struct decl *d = lookup_name(c, name->name, name->absolute);
    if (!d) {
        struct guess g = guess_start(c, name->name);
        guess_visible(c, &g, false);
        diag_error(c->d, name->at, "action '%s' is not declared%s", name->name, guess_text(c, &g));
        return NULL;
    }
    if (d->kind != D_ACTION) {
        diag_error(c->d, name->at, "'%s' is not an action", name->name);
        note_declared(c, d);
        return NULL;
    }
    return d;
}

static size_t directed_params(const struct decl *action) {
    size_t n = 0;
    while (n < action->params.n && action->params.v[n]->dir != DIR_NONE)
        n++;
    return n;
}

static void bad_reference(struct checker *c, struct expr *ref) {
    poison(c, ref);
    poison(c, callee(ref));
}

// Types a reference whose first 'n' parameters must be bound.
static void bind_action(struct checker *c, struct expr *ref, struct decl *d, size_t n) {
    struct type *t = new_type(c, TY_ACTION);
    t->decl = d;
    ref->decl = callee(ref)->decl = d;
    ref->type = callee(ref)->type = t;
    decl_vec params = {.v = d->params.v, .n = n};
    struct signature sig = {.decl = d, .params = &params, .result = t, .name = d->name};
    if (ref->kind == EX_CALL) {
        ref->call = CALL_ACTION;
        infer_arguments(c, ref);
        check_arguments(c, ref, &sig);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!d->params.v[i]->init) {
            diag_error(c->d, ref->at, "action '%s' needs a value for parameter '%s': write %s(...)",
                       d->name, d->params.v[i]->name, d->name);
            note_declared(c, d);
            return;
        }
}

static void check_listed_action(struct checker *c, struct table *t, size_t i) {
    struct table_action *ta = t->actions.v[i];
    struct decl *d = find_action(c, ta->call);
    if (!d) {
        bad_reference(c, ta->call);
        return;
    }
    for (size_t k = 0; k < i; k++) {
        struct decl *other = t->actions.v[k]->action;
        if (other && has_name(other, d->name)) {
            diag_error(c->d, ta->at, "action '%s' is listed twice", d->name);
            break;
        }
    }
    ta->action = d;
    bind_action(c, ta->call, d, directed_params(d));
}

static struct table_action *check_table_listed(const struct table *t, const struct decl *action) {
    for (size_t i = 0; i < t->actions.n; i++)
        if (t->actions.v[i]->action == action)
            return t->actions.v[i];
    return NULL;
}

static struct decl *not_listed(struct checker *c, const struct table *t, struct expr *ref,
                               const struct decl *table, const struct decl *d) {
    struct guess g = guess_start(c, d->name);
    for (size_t i = 0; i < t->actions.n; i++)
        if (t->actions.v[i]->action)
            guess_try(&g, t->actions.v[i]->action->name);
    diag_error(c->d, callee(ref)->at, "action '%s' is not in the action list of table '%s'%s",
               d->name, table->name, guess_text(c, &g));
    if (t->actions_at.line)
        diag_note(c->d, t->actions_at, "the action list is here");
    bad_reference(c, ref);
    return NULL;
}

// Section 14.2.1.3: arguments with a direction are written as in the action list.
static void check_same_arguments(struct checker *c, const struct expr *ref,
                                 const struct expr *in_list, size_t directed) {
    for (size_t i = 0; i < directed; i++) {
        const struct expr *x = i < ref->bound.n ? ref->bound.v[i] : NULL;
        const struct expr *y = i < in_list->bound.n ? in_list->bound.v[i] : NULL;
        if ((!x && !y) || (x && y && strcmp(expr_text(c->a, x), expr_text(c->a, y)) == 0))
            continue;
        if (x && y)
            diag_error(c->d, x->at, "this argument differs from the one in the action list, '%s'",
                       expr_text(c->a, y));
        else
            diag_error(c->d, x ? x->at : ref->at, "'%s' is given %s, so it must be given %s",
                       ref->decl->params.v[i]->name, x ? "here" : "in the action list",
                       x ? "in the action list" : "here");
        diag_note(c->d, in_list->at, "the action is listed here");
    }
}

static void require_constants(struct checker *c, const struct expr *ref, size_t from) {
    for (size_t i = from; i < ref->bound.n; i++)
        if (ref->bound.v[i] && !is_compile_time(ref->bound.v[i]))
            diag_error(c->d, ref->bound.v[i]->at, "action data must be known at compile time");
}

// An action with all its arguments: default action or entry.
static struct decl *check_full_action(struct checker *c, const struct decl *table,
                                      struct expr *ref) {
    struct decl *d = find_action(c, ref);
    if (!d) {
        bad_reference(c, ref);
        return NULL;
    }
    struct table_action *ta = check_table_listed(table->table, d);
    if (!ta)
        return not_listed(c, table->table, ref, table, d);
    bind_action(c, ref, d, d->params.n);
    check_same_arguments(c, ref, ta->call, directed_params(d));
    require_constants(c, ref, directed_params(d));
    return d;
}

// Section 14.2.1.3: without one it is NoAction.
static void check_implied_default(struct checker *c, const struct decl *table) {
    const struct decl *d = names_find(c->top, "NoAction");
    if (!d) {
        diag_error(c->d, table->name_at,
                   "table '%s' has no 'default_action', so it needs the action NoAction; include "
                   "core.p4",
                   table->name);
    } else if (d->kind != D_ACTION || d->params.n) {
        diag_error(c->d, d->name_at, "NoAction must be an action without parameters");
        diag_note(c->d, table->name_at, "it is the default action of table '%s'", table->name);
    }
}

static void check_default(struct checker *c, struct decl *d) {
    struct table *t = d->table;
    if (!t->default_action) {
        check_implied_default(c, d);
        return;
    }
    t->default_decl = check_full_action(c, d, t->default_action);
    struct table_action *ta = t->default_decl ? check_table_listed(t, t->default_decl) : NULL;
    if (ta && annot_find(&ta->annots, "tableonly"))
        diag_error(c->d, t->default_action->at, "'%s' is @tableonly, so it cannot be the default",
                   t->default_decl->name);
}

// ------------------------------------------------------------------------------------------------
// Entries

static bool takes_all(const struct expr *e) {
    return e->kind == EX_DEFAULT || e->kind == EX_DONTCARE;
}

// Which sets a match kind can hold; kinds of other architectures take any.
static const char *bad_set(const struct table_key *k, const struct expr *e) {
    if (is_kind(k, "exact") && (takes_all(e) || e->kind == EX_MASK || e->kind == EX_RANGE))
        return "one value";
    if (is_kind(k, "optional") && (e->kind == EX_MASK || e->kind == EX_RANGE))
        return "one value or '_'";
    if ((is_kind(k, "lpm") || is_kind(k, "ternary")) && e->kind == EX_RANGE)
        return "a value, 'value &&& mask' or '_'";
    if (is_kind(k, "range") && e->kind == EX_MASK)
        return "a value, 'low .. high' or '_'";
    return NULL;
}

// The ones of an lpm mask come first.
static bool is_prefix(struct checker *c, big mask, unsigned width) {
    big holes = big_sub(c->a, big_shl(c->a, big_u64(c->a, 1), width), mask);
    big less = big_sub(c->a, holes, big_u64(c->a, 1));
    return big_sign(big_and(c->a, holes, less)) == 0;
}

static void check_prefix(struct checker *c, const struct table_key *k, const struct expr *e) {
    const struct type *t = type_underlying(k->expr->type);
    if (e->kind != EX_MASK || !is_kind(k, "lpm") || !e->b->cval || t->kind != TY_BITS)
        return;
    if (!is_prefix(c, big_wrap_u(c->a, e->b->cval, t->width), t->width))
        diag_error(c->d, e->b->at, "%s is not the mask of a prefix", big_str(c->a, e->b->cval, 16));
}

static struct expr *check_entry_key(struct checker *c, const struct table_key *k, struct expr *e) {
    const char *wanted = bad_set(k, e);
    if (wanted)
        diag_error(c->d, e->at, "the key '%s' is matched '%s', so an entry has %s here",
                   expr_text(c->a, k->expr), k->match_kind, wanted);
    e = check_keyset(c, e, k->expr->type ? k->expr->type : c->t_bad, NULL);
    check_prefix(c, k, e);
    return e;
}

static struct type *check_table_keys_type(struct checker *c, const struct table *t) {
    struct type *keys = new_type(c, TY_TUPLE);
    for (size_t i = 0; i < t->keys.n; i++)
        VEC_PUSH(c->a, &keys->args, t->keys.v[i]->expr->type);
    return set_of(c, keys);
}

static void check_entry_keys(struct checker *c, const struct table *t, struct table_entry *en) {
    struct expr *e = en->keyset;
    size_t given = e->kind == EX_LIST ? e->args.n : 1;
    if (takes_all(e) && t->keys.n > 1) {
        e->type = check_table_keys_type(c, t);
        return;
    }
    if (given != t->keys.n) {
        diag_error(c->d, e->at, "%zu value%s in this entry, but the table has %zu key%s", given,
                   given == 1 ? "" : "s", t->keys.n, t->keys.n == 1 ? "" : "s");
        poison(c, e);
        return;
    }
    if (e->kind != EX_LIST) {
        en->keyset = check_entry_key(c, t->keys.v[0], e);
        return;
    }
    for (size_t i = 0; i < e->args.n; i++)
        e->args.v[i]->value = check_entry_key(c, t->keys.v[i], e->args.v[i]->value);
    e->type = check_table_keys_type(c, t);
}

static void check_priority(struct checker *c, const struct table *t, struct table_entry *en) {
    const struct annotation *old = annot_find(&en->annots, "priority");
    if (old)
        diag_warning(c->d, old->at,
                     "@priority has no effect; entries of a 'const entries' match in program "
                     "order, entries of an 'entries' by the 'priority = N :' before them");
    if (!en->priority)
        return;
    big v = constant_int(c, &en->priority, "a priority");
    if (v && big_sign(v) < 0)
        diag_error(c->d, en->priority->at, "a priority cannot be negative");
    if (t->const_entries)
        diag_error(c->d, en->priority->at,
                   "entries of 'const entries' match in program order and "
                   "have no priority");
    for (size_t i = 0; i < t->keys.n; i++)
        if (is_kind(t->keys.v[i], "ternary") || is_kind(t->keys.v[i], "range") ||
            is_kind(t->keys.v[i], "optional"))
            return;
    bool lpm = false, known = true;
    for (size_t i = 0; i < t->keys.n; i++) {
        lpm |= is_kind(t->keys.v[i], "lpm");
        known &= is_kind(t->keys.v[i], "lpm") || is_kind(t->keys.v[i], "exact");
    }
    if (lpm)
        diag_error(c->d, en->priority->at, "the prefix length is the priority of an lpm entry");
    else if (known)
        diag_error(c->d, en->priority->at,
                   "entries of a table whose keys are all 'exact' have no priority");
}

static void check_entry(struct checker *c, struct decl *d, struct table_entry *en) {
    check_entry_keys(c, d->table, en);
    check_priority(c, d->table, en);
    en->action = check_full_action(c, d, en->call);
    struct table_action *ta = en->action ? check_table_listed(d->table, en->action) : NULL;
    if (ta && annot_find(&ta->annots, "defaultonly"))
        diag_error(c->d, en->call->at, "'%s' is @defaultonly, so no entry can have it",
                   en->action->name);
}

// Two entries with equal keys in an all-exact table: the second is never found.
static bool same_exact_key(const struct table *t, const struct table_entry *x,
                           const struct table_entry *y) {
    for (size_t i = 0; i < t->keys.n; i++) {
        bool list = x->keyset->kind == EX_LIST && y->keyset->kind == EX_LIST;
        const struct expr *a = list ? x->keyset->args.v[i]->value : x->keyset;
        const struct expr *b = list ? y->keyset->args.v[i]->value : y->keyset;
        if (!is_kind(t->keys.v[i], "exact") || !a->cval || !b->cval ||
            big_cmp(a->cval, b->cval) != 0)
            return false;
    }
    return t->keys.n > 0;
}

#define DUPLICATE_SEARCH_MAX 1000 // entries; beyond it the quadratic search is not worth its time

static void check_duplicates(struct checker *c, const struct table *t) {
    for (size_t i = 1; i < t->entries.n && i < DUPLICATE_SEARCH_MAX; i++)
        for (size_t k = 0; k < i; k++) {
            const struct table_entry *x = t->entries.v[k], *y = t->entries.v[i];
            bool same_form =
                x->keyset->kind == y->keyset->kind && x->keyset->args.n == y->keyset->args.n;
            if (!same_form || !same_exact_key(t, x, y))
                continue;
            diag_error(c->d, y->at, "an earlier entry has the same key");
            diag_note(c->d, x->at, "it is here");
            break;
        }
}

static const struct table_property *property_named(const struct table *t, const char *name) {
    for (size_t i = 0; i < t->properties.n; i++)
        if (strcmp(t->properties.v[i]->name, name) == 0)
            return t->properties.v[i];
    return NULL;
}

// Section 14.2.1.4: entries without a priority count on from the one before.
static void check_priorities(struct checker *c, const struct table *t) {
    const struct table_property *largest = property_named(t, "largest_priority_wins");
    const struct table_property *delta = property_named(t, "priority_delta");
    const struct table_entry *given = NULL;
    for (size_t i = 0; i < t->entries.n && !given; i++)
        given = t->entries.v[i]->priority ? t->entries.v[i] : NULL;
    if (!given || t->const_entries)
        return;
    if (!t->entries.v[0]->priority) {
        diag_error(c->d, t->entries.v[0]->at,
                   "the first entry needs a priority, because a later one has one");
        diag_note(c->d, given->at, "it is here");
        return;
    }
    bool down = !largest || !largest->value->cval || big_sign(largest->value->cval) != 0;
    big step = delta && delta->value->cval ? delta->value->cval : big_u64(c->a, 1);
    big p = NULL;
    for (size_t i = 0; i < t->entries.n; i++) {
        const struct table_entry *en = t->entries.v[i];
        if (en->priority)
            p = en->priority->cval;
        else if (p)
            p = down ? big_sub(c->a, p, step) : big_add(c->a, p, step);
        if (!p)
            return;
        if (en->priority || big_sign(p) >= 0)
            continue;
        diag_error(c->d, en->at, "the priority, counted from the entry above, would be %s",
                   big_str(c->a, p, 10));
        return;
    }
}

static void check_entries(struct checker *c, struct decl *d) {
    struct table *t = d->table;
    if (t->entries.n && t->keys.n == 0) {
        diag_error(c->d, d->name_at, "table '%s' has entries, but no key", d->name);
        return;
    }
    for (size_t i = 0; i < t->entries.n; i++)
        check_entry(c, d, t->entries.v[i]);
    check_duplicates(c, t);
    check_priorities(c, t);
}

// ------------------------------------------------------------------------------------------------
// Other properties

static const char *const known_properties[] = {
    "size",
    "implementation",
    "counters",
    "meters",
    "filters",
    "registers",
    "idle_timeout",
    "requires_versioning",
    "atcam",
    "alpm",
    "proxy_hash",
    "largest_priority_wins",
    "priority_delta",
    "support_timeout",
    "psa_implementation",
    "psa_direct_counter",
    "psa_direct_meter",
    "psa_idle_timeout",
    "psa_empty_group_action",
    "pna_implementation",
    "pna_direct_counter",
    "pna_direct_meter",
    "pna_idle_timeout",
    "pna_empty_group_action",
    "add_on_miss",
    "idle_timeout_with_auto_delete",
    "default_idle_timeout_for_data_plane_added_entries",
};

static void warn_unknown(struct checker *c, const struct table_property *p) {
    struct guess g = guess_start(c, p->name);
    for (size_t i = 0; i < sizeof known_properties / sizeof *known_properties; i++) {
        if (strcmp(known_properties[i], p->name) == 0)
            return;
        guess_try(&g, known_properties[i]);
    }
    guess_try(&g, "key");
    guess_try(&g, "actions");
    guess_try(&g, "entries");
    guess_try(&g, "default_action");
    diag_warning(c->d, p->at, "table property '%s' is not known and has no effect%s", p->name,
                 guess_text(c, &g));
}

static bool is_property(const struct table_property *p, const char *name) {
    return strcmp(p->name, name) == 0;
}

static void check_property(struct checker *c, const struct table *t, size_t i) {
    struct table_property *p = t->properties.v[i];
    for (size_t k = 0; k < i; k++)
        if (is_property(t->properties.v[k], p->name))
            diag_error(c->d, p->at, "property '%s' is given twice", p->name);
    if (is_property(p, "size") || is_property(p, "priority_delta")) {
        big v = constant_int(c, &p->value, arena_printf(c->a, "'%s'", p->name));
        if (v && big_sign(v) < (is_property(p, "size") ? 0 : 1))
            diag_error(c->d, p->value->at, "'%s' cannot be %s", p->name, big_str(c->a, v, 10));
        return;
    }
    if (is_property(p, "largest_priority_wins")) {
        p->value = check_as(c, p->value, c->t_bool, ROLE("the property", p->name));
        return;
    }
    warn_unknown(c, p);
    infer(c, p->value);
}

static bool precedes(struct loc x, struct loc y) {
    return x.line && y.line && x.file == y.file &&
           (x.line < y.line || (x.line == y.line && x.col < y.col));
}

static void check_table_order(struct checker *c, const struct table *t) {
    if (t->default_action && precedes(t->default_at, t->actions_at))
        diag_error(c->d, t->default_at, "'default_action' must come after 'actions'");
    if (t->has_entries && precedes(t->entries_at, t->keys_at))
        diag_error(c->d, t->entries_at, "'entries' must come after 'key'");
}

void check_table(struct checker *c, struct decl *d) {
    struct table *t = d->table;
    enum place place = c->place;
    d->type = new_type(c, TY_TABLE);
    d->type->decl = d;
    c->place = AT_APPLY; // keys are computed when the table is applied
    for (size_t i = 0; i < t->keys.n; i++)
        check_table_key(c, t->keys.v[i]);
    c->place = AT_TABLE;
    if (!t->actions_at.line && t->actions.n == 0)
        diag_error(c->d, d->name_at, "table '%s' has no property 'actions'", d->name);
    for (size_t i = 0; i < t->actions.n; i++)
        check_listed_action(c, t, i);
    check_table_order(c, t);
    check_default(c, d);
    for (size_t i = 0; i < t->properties.n; i++)
        check_property(c, t, i);
    check_entries(c, d);
    c->place = place;
    declare_name(c, d);
}
