// SPDX-License-Identifier: Apache-2.0
//
// entry: keysets, and the entries a table is declared with (sections 8.14, 14.2.1.4).
#include "compiler/lower/lower_impl.h"

#include <string.h>

big all_ones(struct lower *lw, unsigned width) {
    return big_wrap_u(lw->a, big_i64(lw->a, -1), width);
}

// ---- keysets ------------------------------------------------------------------------------------

static big keyset_value(struct lower *lw, struct expr *e, unsigned width) {
    big v = eval_const(lw, e, "keyset");
    return v ? big_wrap_u(lw->a, v, width) : NULL;
}

static bool range_keyset(struct lower *lw, struct expr *e, unsigned width, struct keyset *out) {
    big low = eval_const(lw, e->a, "keyset"), high = eval_const(lw, e->b, "keyset");
    if (!low || !high)
        return false;
    // Sets are matched as unsigned numbers: there -5 .. -1 is a range, but -5 .. 5 is two.
    if (big_sign(low) < 0 && big_sign(high) >= 0) {
        out->below = big_wrap_u(lw->a, low, width);
        low = big_u64(lw->a, 0);
        if (big_cmp(out->below, big_add(lw->a, high, big_u64(lw->a, 1))) <= 0) { // all numbers
            out->below = NULL;
            high = all_ones(lw, width);
        }
    }
    out->empty = big_cmp(low, high) > 0;
    out->value = big_wrap_u(lw->a, low, width);
    out->high = big_wrap_u(lw->a, high, width);
    return true;
}

bool eval_keyset(struct lower *lw, struct expr *e, unsigned width, struct keyset *out) {
    *out = (struct keyset){0};
    e = (struct expr *)strip(e);
    if (e->kind == EX_DEFAULT || e->kind == EX_DONTCARE) {
        out->any = true;
        out->value = out->mask = big_u64(lw->a, 0);
        return true;
    }
    if (e->kind == EX_RANGE)
        return range_keyset(lw, e, width, out);
    if (e->kind == EX_MASK) {
        out->value = keyset_value(lw, e->a, width);
        out->mask = keyset_value(lw, e->b, width);
        if (!out->value || !out->mask)
            return false;
        out->value = big_and(lw->a, out->value, out->mask);
        return true;
    }
    if (e->kind == EX_NAME && e->decl && e->decl->kind == D_VALUE_SET) {
        out->set = object_of(lw, e);
        return out->set != NULL;
    }
    out->value = keyset_value(lw, e, width);
    out->mask = all_ones(lw, width);
    return out->value != NULL;
}

// ---- one key of an entry ------------------------------------------------------------------------

static bool is_prefix_mask(struct lower *lw, big mask, unsigned width) {
    big holes = big_xor(lw->a, mask, all_ones(lw, width));
    return big_sign(big_and(lw->a, holes, big_add(lw->a, holes, big_u64(lw->a, 1)))) == 0;
}

static bool entry_key(struct lower *lw, const struct ir_key *key, struct expr *e,
                      struct ir_key_value *out, big *below) {
    unsigned w = key->expr->width;
    struct keyset k;
    if (!eval_keyset(lw, e, w, &k) || k.set)
        return false;
    if (k.empty) { // the checker saw those whose ends it knew
        lower_error(lw, e->at, "this range is empty: it begins after its end");
        return false;
    }
    *out = (struct ir_key_value){.value = k.value, .mask = k.mask, .high = k.high};
    *below = k.below;
    if (key->match == IR_MATCH_RANGE) {
        if (k.any)
            out->high = all_ones(lw, w);
        else if (!k.high && big_cmp(k.mask, all_ones(lw, w)) == 0)
            out->high = k.value;
        out->mask = NULL;
        if (out->high)
            return true;
        lower_error(lw, e->at, "a range key takes a value or a range 'low .. high', not a mask");
        return false;
    }
    if (k.high) {
        lower_error(lw, e->at, "key '%s' is not matched as a range", key->name);
        return false;
    }
    if (key->match == IR_MATCH_EXACT && big_cmp(k.mask, all_ones(lw, w)) != 0) {
        lower_error(lw, e->at, "key '%s' is matched exactly and needs one value", key->name);
        return false;
    }
    if (key->match == IR_MATCH_LPM && !is_prefix_mask(lw, k.mask, w)) {
        lower_error(lw, e->at, "key '%s' is matched by prefix, and this mask is not a prefix",
                    key->name);
        return false;
    }
    return true;
}

// ---- the action ---------------------------------------------------------------------------------

static bool push_value(struct lower *lw, struct value *v, struct loc at, const char *name,
                       big_vec *args) {
    if (v->kind == VAL_TUPLE) {
        bool ok = true;
        for (size_t i = 0; i < v->n && ok; i++)
            ok = push_value(lw, v->items[i], at, name, args);
        return ok;
    }
    if (v->kind == VAL_BITS && v->e->width == 0)
        return true;
    if (v->kind != VAL_BITS || !ir_is_const(v->e)) {
        lower_error(lw, at, "argument '%s' must be known at compile time", name);
        return false;
    }
    VEC_PUSH(lw->a, args, v->e->value);
    return true;
}

static bool push_arg(struct lower *lw, struct expr *e, const struct decl *param, big_vec *args) {
    struct value *v = eval_as(lw, e, env_type(lw, param->type));
    return push_value(lw, v, e->at, param->name, args);
}

struct ir_action *chosen_action(struct lower *lw, struct ir_table *t, struct expr *call,
                                const struct decl *d, big_vec *args) {
    int i = d ? table_action_index(lw, t, d) : -1;
    if (i < 0) {
        lower_error(lw, call->at, "this is not an action of table '%s'", t->name);
        return NULL;
    }
    struct ir_action *action = t->actions.v[i].action;
    const struct expr *bound = call->kind == EX_CALL ? call : NULL;
    for (size_t k = 0; k < d->params.n; k++) {
        const struct decl *p = d->params.v[k];
        if (p->dir != DIR_NONE)
            continue;
        struct expr *e = bound_arg(bound, k);
        if (!e)
            e = p->init;
        if (!e) {
            lower_error(lw, call->at, "action '%s' needs a value for '%s'", d->name, p->name);
            return NULL;
        }
        if (!push_arg(lw, e, p, args))
            return NULL;
    }
    if (args->n != action->params.n) // refused when the action was made
        return NULL;
    return action;
}

// ---- entries ------------------------------------------------------------------------------------

// 'source' is the table as the program declares it. Its 'selector' keys and its keys without bits
// are not in 't', but an entry lists them. 'below' gets, for each key, where its range's other part
// begins (struct keyset).
static bool entry_keys(struct lower *lw, struct ir_table *t, const struct table *source,
                       struct expr *keyset, struct ir_entry *out, big_vec *below) {
    struct expr *e = (struct expr *)strip(keyset);
    size_t n = source->keys.n, k = 0;
    bool listed = e->kind == EX_LIST && !(n == 1 && e->args.n != 1);
    bool any = e->kind == EX_DEFAULT || e->kind == EX_DONTCARE;
    if (!any && listed && e->args.n != n) {
        lower_error(lw, e->at, "this entry has %zu keys; table '%s' has %zu", e->args.n, t->name,
                    n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct ir_key_value v;
        big other;
        struct expr *key = listed ? e->args.v[i]->value : e;
        if (strcmp(source->keys.v[i]->match_kind, "selector") == 0 ||
            !key_has_bits(lw, source->keys.v[i]))
            continue;
        if (!listed && !any && i > 0)
            return false;
        if (!entry_key(lw, &t->keys.v[k++], key, &v, &other))
            return false;
        VEC_PUSH(lw->a, &out->keys, v);
        VEC_PUSH(lw->a, below, other);
    }
    return true;
}

static const struct table_property *property(const struct table *t, const char *name) {
    for (size_t i = 0; i < t->properties.n; i++)
        if (t->properties.v[i]->name && strcmp(t->properties.v[i]->name, name) == 0)
            return t->properties.v[i];
    return NULL;
}

// Section 14.2.1.4: entries with priorities. Those without continue from the one before by
// priority_delta; the larger number wins unless largest_priority_wins says otherwise. The IR's
// priorities are the other way around.
struct priorities {
    bool used, largest_wins;
    int64_t delta, next;
};

static struct priorities priorities_of(struct lower *lw, const struct table *t) {
    struct priorities p = {.largest_wins = true, .delta = 1};
    const struct table_property *wins = property(t, "largest_priority_wins");
    const struct table_property *delta = property(t, "priority_delta");
    big v;
    for (size_t i = 0; i < t->entries.n; i++)
        p.used |= t->entries.v[i]->priority != NULL;
    if (wins && wins->value && (v = eval_const(lw, wins->value, "largest_priority_wins")))
        p.largest_wins = big_sign(v) != 0;
    if (delta && delta->value && (v = eval_const(lw, delta->value, "priority_delta")) &&
        big_fits_i64(v) && big_bits(v) < 31)
        p.delta = big_to_i64(v);
    p.next = p.largest_wins ? (int64_t)(t->entries.n - (t->entries.n > 0)) * p.delta + 1 : 1;
    return p;
}

static int64_t entry_priority(struct lower *lw, struct priorities *p, struct expr *e,
                              size_t position) {
    if (!p->used)
        return (int64_t)position;
    int64_t n = p->next;
    if (e) {
        big v = eval_const(lw, e, "priority");
        if (v && (!big_fits_i64(v) || big_bits(v) > 31))
            lower_error(lw, e->at, "priority %s is out of range", big_str(lw->a, v, 10));
        else if (v)
            n = big_to_i64(v);
    }
    p->next = p->largest_wins ? n - p->delta : n + p->delta;
    // of the two senses the IR and the control plane have the chip's: the smaller number wins
    return p->largest_wins ? (int64_t)INT32_MAX - n : n;
}

// The entry, and for each range of two parts the same again with the other part, from key k on.
static void push_entries(struct lower *lw, struct ir_table *t, struct ir_entry *e,
                         const big_vec *below, size_t k) {
    while (k < below->n && !below->v[k])
        k++;
    if (k == below->n) {
        VEC_PUSH(lw->a, &t->entries, e);
        return;
    }
    struct ir_entry *other = ARENA_NEW(lw->a, struct ir_entry);
    *other = *e;
    other->keys.v = ARENA_ARRAY(lw->a, struct ir_key_value, e->keys.n);
    for (size_t i = 0; i < e->keys.n; i++)
        other->keys.v[i] = e->keys.v[i];
    other->keys.v[k].value = below->v[k];
    other->keys.v[k].high = all_ones(lw, t->keys.v[k].expr->width);
    push_entries(lw, t, e, below, k + 1);
    push_entries(lw, t, other, below, k + 1);
}

void make_entries(struct lower *lw, struct ir_table *out, struct decl *d) {
    struct table *t = d->table;
    struct priorities p = priorities_of(lw, t);
    out->const_entries = t->has_entries && t->const_entries;
    if (out->keys.n == 0 && t->entries.n > 0) {
        lower_error(lw, t->entries.v[0]->at,
                    "the key of table '%s' has no bits, so an entry cannot distinguish packets; "
                    "give the table a default action",
                    out->name);
        return;
    }
    for (size_t i = 0; i < t->entries.n; i++) {
        const struct table_entry *e = t->entries.v[i];
        struct ir_entry *entry = ARENA_NEW(lw->a, struct ir_entry);
        big_vec args = {0}, below = {0};
        entry->at = e->at;
        entry->is_const = t->const_entries || e->is_const;
        entry->priority = entry_priority(lw, &p, e->priority, i);
        if (!entry_keys(lw, out, t, e->keyset, entry, &below))
            continue;
        entry->action = chosen_action(lw, out, e->call, action_decl(e->call, e->action), &args);
        if (!entry->action)
            continue;
        for (size_t k = 0; k < args.n; k++)
            VEC_PUSH(lw->a, &entry->args, args.v[k]);
        size_t parts = 0;
        for (size_t k = 0; k < below.n; k++)
            parts += below.v[k] != NULL;
        if (parts > MAX_PARTS)
            lower_error(lw, e->at, TOO_MANY_PARTS, MAX_PARTS);
        else
            push_entries(lw, out, entry, &below, 0);
    }
}
