// SPDX-License-Identifier: Apache-2.0
//
// deparser: what a deparser sends elsewhere: resubmits, mirrored copies, digests (tna-facts
// 4.11).
//
// Each of the three is asked for by a field of the intrinsic metadata, the type, which says which
// of several instances sends. A program writes either 'if (md.mirror_type == 1) m.emit(...)' or
// makes the instance for a type, 'Mirror(1) m'; in both cases the field must also be valid, and for
// an ingress mirror, whose field is always valid on Tofino 1, not 0. Another field in place of the
// type, and conditions that the hardware does not know, are choices.c's.
#include "compiler/lower/lower_impl.h"

#include <string.h>

static struct value *lower_deparser_none(struct lower *lw, struct expr *e) {
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// When the instance sends, as far as its kind and its constructor say.
static struct ir_expr *sends(struct lower *lw, struct object *o, enum ir_intrinsic which) {
    struct ir_var *type = lw->gress->intrinsic[which];
    if (!type)
        return ir_const_u64(lw->a, 1, 0);
    struct ir_expr *now = ir_ref(lw->a, type);
    struct ir_expr *c = type->valid
                            ? ir_ref(lw->a, type->valid)
                            : ir_binary(lw->a, IR_NE, now, ir_const_u64(lw->a, type->width, 0));
    if (o->arg && o->arg->kind == VAL_BITS && o->arg->e->width == type->width)
        c = ir_binary(lw->a, IR_LAND, c, ir_binary(lw->a, IR_EQ, now, o->arg->e));
    return c;
}

static void put_when(struct lower *lw, struct ir_expr *c, struct ir_stmt *s) {
    struct ir_block *outer = lw->block, *b = ir_block_new(lw->a);
    lw->block = b;
    put(lw, s);
    lw->block = outer;
    put_if(lw, c, b, NULL, s->at);
}

static bool may_send(struct lower *lw, struct expr *e, bool ingress_only) {
    if (lw->place == IN_DEPARSER_BODY && (!ingress_only || lw->gress->kind == IR_INGRESS))
        return true;
    lower_error(lw, e->at, "'%s' may only be called in %s deparser", e->a->name,
                ingress_only ? "an ingress" : "a");
    return false;
}

// Argument 'i', as a value of the type that the call names, flat.
static ir_expr_vec sent_fields(struct lower *lw, struct expr *e, size_t i, struct type *t,
                               unsigned *bits) {
    ir_expr_vec flat =
        value_flat(lw, t ? eval_as(lw, bound_arg(e, i), t) : eval(lw, bound_arg(e, i)), e->at);
    *bits = 0;
    for (size_t k = 0; k < flat.n; k++)
        *bits += flat.v[k]->width;
    return flat;
}

static struct type *named_type(struct lower *lw, const struct expr *e) {
    return e->inst.n > 0 && e->inst.v[0] ? env_type(lw, e->inst.v[0]) : NULL;
}

// ---- resubmit -----------------------------------------------------------------------------------

struct value *resubmit_method(struct lower *lw, struct object *o, struct expr *e) {
    if (!may_send(lw, e, true))
        return lower_deparser_none(lw, e);
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_RESUBMIT, e->at);
    unsigned bits = 0;
    if (bound_arg(e, 0)) {
        struct type *t = named_type(lw, e), *of = bound_arg(e, 0)->type;
        s->args = sent_fields(lw, e, 0, t, &bits);
        t = t ? t : of ? env_type(lw, of) : NULL;
        s->flag = t && plain(t)->kind == TY_HEADER && bits % 8 != 0 && !is_flexible(t);
    }
    unsigned most = resubmit_bits(lw);
    if (bits > most) {
        lower_error(lw, e->at, "%u bits of resubmit data; a packet carries at most %u", bits, most);
        return lower_deparser_none(lw, e);
    }
    put_when(lw, sends(lw, o, IRI_RESUBMIT_TYPE), s);
    return lower_deparser_none(lw, e);
}

// ---- mirror -------------------------------------------------------------------------------------

// The header before the copy: whole bytes, the last one filled up when its layout is ours.
static bool mirror_header(struct lower *lw, struct ir_stmt *s, struct expr *e) {
    struct type *t = named_type(lw, e);
    unsigned bits;
    if (t && plain(t)->kind != TY_HEADER) {
        lower_error(lw, e->at,
                    "a mirrored packet starts with a header, but this is not a header type");
        return false;
    }
    s->args = sent_fields(lw, e, 1, t, &bits);
    unsigned fixed = t && plain(t)->decl ? plain(t)->decl->fixed_bits : 0;
    unsigned missing = fixed > bits ? fixed - bits : (8 - bits % 8) % 8;
    if (missing && !fixed && !(t && is_flexible(t))) {
        lower_error(lw, e->at, "a mirror header has whole bytes; this one has %u bits", bits);
        return false;
    }
    if (missing)
        VEC_PUSH(lw->a, &s->args, ir_const_u64(lw->a, missing, 0));
    if (bits + missing > 8 * ir_limits(lw->out)->mirror_bytes) {
        lower_error(lw, e->at, "a mirror header has at most %u bytes; this one has %u",
                    ir_limits(lw->out)->mirror_bytes, (bits + missing) / 8);
        return false;
    }
    return true;
}

struct value *mirror_method(struct lower *lw, struct object *o, struct expr *e) {
    if (!may_send(lw, e, false) || !bound_arg(e, 0))
        return lower_deparser_none(lw, e);
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_MIRROR, e->at);
    s->e = ir_resize(lw->a, eval_bits(lw, bound_arg(e, 0)), ir_limits(lw->out)->mirror_session_bits,
                     false);
    if (!bound_arg(e, 1) || mirror_header(lw, s, e))
        put_when(lw, sends(lw, o, IRI_MIRROR_TYPE), s);
    return lower_deparser_none(lw, e);
}

// What BF Runtime calls the only field of a message that is no struct (p4c: bfruntime.cpp).
#define DIGEST_FIELD "f1"

// ---- digest -------------------------------------------------------------------------------------

void named_fields(struct lower *lw, ir_field_vec *out, const struct value *v, const char *name) {
    if (v->kind == VAL_BITS && v->e->width == 0)
        return;
    if (v->kind == VAL_BITS) {
        struct ir_digest_field f = {name, v->e->width, is_signed_type(v->type)};
        VEC_PUSH(lw->a, out, f);
        return;
    }
    const struct type *t = plain(v->type);
    for (size_t i = 0; i < v->n; i++) {
        const char *part = t->decl && i < t->decl->members.n ? t->decl->members.v[i]->name
                                                             : arena_printf(lw->a, "f%zu", i + 1);
        named_fields(lw, out, v->items[i], *name ? arena_printf(lw->a, "%s.%s", name, part) : part);
    }
}

void digest_new(struct lower *lw, struct object *o) {
    struct ir_digest *d = ARENA_NEW(lw->a, struct ir_digest);
    struct type *t = o->type && o->type->args.n > 0 ? env_type(lw, o->type->args.v[0]) : NULL;
    o->digest = d;
    d->name = o->name;
    d->at = o->at;
    const enum type_kind kind = t ? plain(t)->kind : TY_VOID;
    const bool has_fields = kind == TY_STRUCT || kind == TY_HEADER;
    if (!has_fields && kind != TY_BITS && kind != TY_BOOL) {
        lower_error(lw, o->at, "digest '%s' must send a struct, a header or bits", o->name);
        return;
    }
    d->type_name = has_fields ? plain(t)->decl->name : NULL;
    named_fields(lw, &d->fields, value_zero(lw, t, o->at), has_fields ? "" : DIGEST_FIELD);
    for (size_t i = 0; i < d->fields.n; i++)
        d->bits += d->fields.v[i].width;
    if (d->bits == 0)
        lower_error(lw, o->at, "digest '%s' has no fields", o->name);
    if (d->bits > ir_limits(lw->out)->digest_bits)
        lower_error(lw, o->at, "digest '%s' has %u bits; at most %u", o->name, d->bits,
                    ir_limits(lw->out)->digest_bits);
}

struct value *digest_method(struct lower *lw, struct object *o, struct expr *e) {
    if (!may_send(lw, e, true) || !bound_arg(e, 0))
        return lower_deparser_none(lw, e);
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_DIGEST, e->at);
    unsigned bits;
    s->digest = o->digest;
    s->args = sent_fields(lw, e, 0, env_type(lw, o->type->args.v[0]), &bits);
    if (s->args.n == o->digest->fields.n && bits == o->digest->bits)
        put_when(lw, sends(lw, o, IRI_DIGEST_TYPE), s);
    else
        lower_unsupported(lw, e->at, "packing this into digest '%s'", o->name);
    return lower_deparser_none(lw, e);
}
