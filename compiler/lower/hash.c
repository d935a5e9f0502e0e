// SPDX-License-Identifier: Apache-2.0
//
// hash: Hash.get and symmetric hashes (tna-facts 4.6).
//
// Two fields named by @symmetric may change places without changing the hash: the chip's compiler
// feeds both into the place of the later one, and a CRC is linear, so that is the CRC with their
// exclusive or there, and zeros in the place of the earlier one.
#include "compiler/lower/lower_impl.h"

#include <string.h>

static struct value *lower_hash_none(struct lower *lw, struct expr *e) {
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// Index of the field of that name in the list; the list's length when it is not there.
static size_t lower_hash_find_field(const ir_expr_vec *fields, const char *name) {
    for (size_t i = fields->n; i-- > 0;)
        if (fields->v[i]->op == IR_VAR && strcmp(fields->v[i]->var->name, name) == 0)
            return i;
    return fields->n;
}

static const char *string_arg(const struct annotation *annot, size_t i) {
    const struct expr *e = i < annot->args.n && !annot->keys.v[i] ? annot->args.v[i] : NULL;
    return annot->args.n == 2 && e && e->kind == EX_STRING && e->name ? e->name : NULL;
}

static void make_pair(struct lower *lw, const struct object *o, const struct annotation *annot,
                      ir_expr_vec *fields, bool *paired) {
    size_t at[2];
    for (size_t i = 0; i < 2; i++) {
        const char *name = string_arg(annot, i);
        if (!name) {
            lower_error(lw, annot->at, "'@symmetric' takes two names of fields, as strings");
            return;
        }
        at[i] = lower_hash_find_field(fields, name);
        if (at[i] == fields->n) {
            lower_error(lw, annot->at, "'%s' is not among the fields that '%s' hashes", name,
                        o->name);
            return;
        }
        if (paired[at[i]] || (i == 1 && at[1] == at[0])) {
            lower_error(lw, annot->at, "'%s' is symmetric to another field already", name);
            return;
        }
    }
    struct ir_expr *x = fields->v[at[0]], *y = fields->v[at[1]];
    if (x->width != y->width) {
        lower_error(lw, annot->at, "fields of %u and %u bits cannot be swapped", x->width,
                    y->width);
        return;
    }
    paired[at[0]] = paired[at[1]] = true;
    if (o->hash->fields.n == fields->n) {
        o->hash->fields.v[at[0]].twin = (int)at[1];
        o->hash->fields.v[at[1]].twin = (int)at[0];
    }
    const size_t later = at[0] > at[1] ? at[0] : at[1];
    fields->v[at[0]] = fields->v[at[1]] = ir_const_u64(lw->a, x->width, 0);
    fields->v[later] = ir_binary(lw->a, IR_XOR, x, y);
}

static void make_symmetric(struct lower *lw, const struct object *o, ir_expr_vec *fields) {
    bool *paired = ARENA_ARRAY(lw->a, bool, fields->n + 1);
    for (size_t i = 0; o->instance && i < o->instance->annots.n; i++) {
        const struct annotation *annot = o->instance->annots.v[i];
        if (strcmp(annot->name, "symmetric") != 0)
            continue;
        if (o->hash->algorithm != IR_HASH_CRC) {
            lower_error(lw, annot->at, "only CRCs can be symmetric");
            return;
        }
        make_pair(lw, o, annot, fields, paired);
    }
}

// The fields of a list, each part of a concatenation one of its own, as the BF Runtime names them;
// a list of other things than numbers has its leaves for fields.
static void name_field(struct lower *lw, struct ir_hash *h, struct expr *e,
                       const struct ir_expr *v) {
    if (e->kind == EX_BINARY && e->op == OP_CONCAT && v->op == IR_CONCAT) {
        name_field(lw, h, e->a, v->a);
        name_field(lw, h, e->b, v->b);
        return;
    }
    const char *name = expr_text(lw->a, e);
    struct ir_hash_field f = {name, v->width, ir_is_const(v) ? v : NULL, -1};
    if (f.constant) {
        size_t before = 0;
        for (size_t i = 0; i < h->fields.n; i++)
            before += h->fields.v[i].constant != NULL;
        f.name = arena_printf(lw->a, "constant%zu_%u_%s", before, v->width, name);
    }
    VEC_PUSH(lw->a, &h->fields, f);
}

static void name_fields(struct lower *lw, struct ir_hash *h, struct expr *list,
                        const ir_expr_vec *values) {
    while (list->kind == EX_CAST)
        list = list->a;
    bool each = list->args.n == values->n;
    h->bits = 0;
    h->fields.n = 0;
    for (size_t i = 0; i < values->n; i++)
        h->bits += values->v[i]->width;
    if (list->kind != EX_LIST && list->kind != EX_STRUCT)
        return;
    for (size_t i = 0; i < values->n; i++) {
        const struct ir_expr *v = values->v[i];
        if (each) {
            name_field(lw, h, list->args.v[i]->value, v);
        } else {
            const char *name = v->op == IR_VAR ? v->var->name : arena_printf(lw->a, "field%zu", i);
            struct ir_hash_field f = {name, v->width, ir_is_const(v) ? v : NULL, -1};
            VEC_PUSH(lw->a, &h->fields, f);
        }
    }
}

struct value *hash_method(struct lower *lw, struct object *o, struct expr *e,
                          struct ir_var *wanted) {
    if (strcmp(e->a->name, "get") != 0 || !bound_arg(e, 0))
        return lower_hash_none(lw, e);
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_HASH, e->at);
    s->hash = o->hash;
    s->args = value_flat(lw, eval(lw, bound_arg(e, 0)), e->at);
    if (s->args.n == 0)
        lower_error(lw, e->at, "a hash needs at least one field");
    o->hash->n_gets++;
    name_fields(lw, o->hash, bound_arg(e, 0), &s->args);
    make_symmetric(lw, o, &s->args);
    s->var = result_var(lw, wanted, o->hash->width, e->at);
    put(lw, s);
    return value_bits(lw, env_type(lw, e->type), ir_ref(lw->a, s->var));
}
