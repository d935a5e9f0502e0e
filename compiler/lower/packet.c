// SPDX-License-Identifier: Apache-2.0
//
// packet: methods of packet_in and packet_out, and Checksum, which works on what they move
// (tna-facts 3.3, 4.8).
#include "compiler/lower/lower_impl.h"

#include <string.h>

static struct value *lower_packet_none(struct lower *lw, struct expr *e) {
    return value_zero(lw, env_type(lw, e->type), e->at);
}

static void put_advance(struct lower *lw, uint64_t bits, struct loc at) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_ADVANCE, at);
    s->e = ir_const_u64(lw->a, 32, bits);
    put(lw, s);
}

// ---- extract ------------------------------------------------------------------------------------

// The stack whose 'next' the l-value names: s.next, or for a stack of unions s.next.member.
static const struct value *stack_of_next(struct lower *lw, struct expr *e) {
    if (e->kind == EX_MEMBER && plain(e->a->type)->kind == TY_UNION)
        e = e->a;
    if (e->kind != EX_MEMBER || !e->name || strcmp(e->name, "next") != 0)
        return NULL;
    const struct type *t = plain(e->a->type);
    if (t->kind != TY_STACK)
        return NULL;
    struct lvalue l = eval_lvalue(lw, e->a);
    return l.index ? NULL : l.alts[0];
}

static struct lvalue lower_packet_next_of(struct lower *lw, const struct value *stack,
                                          const struct expr *arg) {
    struct lvalue l = {.alts = stack->items, .n = stack->n, .index = ir_ref(lw->a, stack->next)};
    if (plain(arg->a->type)->kind != TY_UNION)
        return l;
    l.alts = ARENA_ARRAY(lw->a, struct value *, l.n + 1);
    for (size_t i = 0; i < l.n; i++)
        l.alts[i] = value_field(lw, stack->items[i], arg->name);
    return l;
}

// The element is chosen at run time; moving 'next' is part of the extraction (section 13.8.2).
static void extract_into(struct lower *lw, struct expr *arg, struct ir_expr *bits, struct loc at) {
    const struct value *stack = stack_of_next(lw, arg);
    if (stack && !stack->next)
        stack = NULL;
    struct lvalue l = stack ? lower_packet_next_of(lw, stack, arg) : eval_lvalue(lw, arg);
    extract_header(lw, &l, bits, at);
    if (stack)
        assign_var(lw, stack->next,
                   ir_binary(lw->a, IR_ADD, ir_ref(lw->a, stack->next), ir_const_u64(lw->a, 32, 1)),
                   at);
}

static struct value *lower_packet_extract(struct lower *lw, struct expr *e) {
    struct expr *arg = bound_arg(e, 0);
    struct ir_expr *bits = NULL;
    if (!arg)
        return lower_packet_none(lw, e);
    if (bound_arg(e, 1)) {
        struct value *v = eval(lw, bound_arg(e, 1));
        bits = v->kind == VAL_INT ? ir_const(lw->a, 32, v->num) : value_snapshot(lw, v, e->at)->e;
        if (!bits)
            return lower_packet_none(lw, e);
    }
    if (arg->kind == EX_DONTCARE) { // skipped
        struct type *t = e->inst.n > 0 ? env_type(lw, e->inst.v[0]) : NULL;
        long size = t ? type_bits(lw->a, t) : -1;
        if (size < 0 || bits || (size % 8 != 0 && !is_flexible(t)))
            lower_unsupported(lw, e->at, "skipping this");
        else
            put_advance(lw, ((uint64_t)size + 7) / 8 * 8, e->at);
        return lower_packet_none(lw, e);
    }
    extract_into(lw, arg, bits, e->at);
    return lower_packet_none(lw, e);
}

// ---- lookahead ----------------------------------------------------------------------------------

struct ahead {
    struct lower *lw;
    unsigned at;
};

static void ahead_leaf(void *ctx, struct value *leaf) {
    struct ahead *a = ctx;
    if (leaf->kind != VAL_BITS)
        return;
    unsigned width = leaf->e->width;
    leaf->e = ir_lookahead(a->lw->a, width, a->at);
    a->at += width;
}

static void make_valid(struct lower *lw, struct value *v) {
    if (v->kind == VAL_HEADER)
        v->valid = ir_const_u64(lw->a, 1, 1);
    for (size_t i = 0; i < v->n; i++)
        make_valid(lw, v->items[i]);
}

// The bits after the cursor as a value of type 't', field by field.
static struct value *bits_ahead(struct lower *lw, struct type *t, struct loc at) {
    struct value *v = value_zero(lw, t, at);
    struct ahead a = {.lw = lw};
    value_leaves(v, ahead_leaf, &a);
    make_valid(lw, v);
    return v;
}

static struct value *lower_packet_lookahead(struct lower *lw, struct expr *e) {
    struct type *t = env_type(lw, e->type);
    if (type_bits(lw->a, t) < 0) {
        lower_unsupported(lw, e->at, "looking ahead for a value of this type");
        return value_zero(lw, t, e->at);
    }
    return bits_ahead(lw, t, e->at);
}

// Members that are padding of the program's own the chip's compiler leaves out, and pads as it
// wants to.
static unsigned port_bytes(struct lower *lw, const struct value *v) {
    const struct decl *d = plain(v->type)->decl;
    long bytes = 0;
    for (size_t i = 0; i < v->n; i++)
        if (!d || i >= d->members.n || !annot_find(&d->members.v[i]->annots, "padding"))
            bytes += (type_bits(lw->a, v->items[i]->type) + 7) / 8;
    return (unsigned)bytes;
}

struct value *port_metadata_unpack(struct lower *lw, struct expr *e) {
    struct type *t = env_type(lw, e->type);
    long bits = type_bits(lw->a, t), most = 8 * ((long)lw->out->ingress_prefix - 8);
    if (bits < 0 || bits > most) {
        lower_error(lw, e->at, "port metadata is %ld bits long", most);
        return value_zero(lw, t, e->at);
    }
    if (lw->gress->port_fields.n == 0 && plain(t)->kind != TY_BITS) {
        const struct value *fields = value_zero(lw, t, e->at);
        named_fields(lw, &lw->gress->port_fields, fields, "");
        lw->gress->port_bytes = port_bytes(lw, fields);
        lw->gress->port_at = e->at;
    }
    struct value *v = value_snapshot(lw, bits_ahead(lw, t, e->at), e->at);
    put_advance(lw, (uint64_t)most, e->at); // all of it, whatever T's size
    return v;
}

// ---- packet_in ----------------------------------------------------------------------------------

static struct value *lower_packet_advance(struct lower *lw, struct expr *e) {
    uint64_t bits;
    if (!bound_arg(e, 0) || !eval_const_u64(lw, bound_arg(e, 0), "distance", &bits))
        return lower_packet_none(lw, e);
    if (bits % 8 != 0 || bits > 1u << 20)
        lower_error(lw, e->at, "advance by %llu bits; it takes whole bytes",
                    (unsigned long long)bits);
    else if (bits > 0)
        put_advance(lw, bits, e->at);
    return lower_packet_none(lw, e);
}

struct value *packet_method(struct lower *lw, struct object *o, struct expr *e) {
    const char *name = e->a->name;
    (void)o;
    if (strcmp(name, "extract") == 0)
        return lower_packet_extract(lw, e);
    if (strcmp(name, "lookahead") == 0)
        return lower_packet_lookahead(lw, e);
    if (strcmp(name, "advance") == 0)
        return lower_packet_advance(lw, e);
    lower_unsupported(lw, e->at, "packet_in.%s", name);
    return lower_packet_none(lw, e);
}

// ---- packet_out ---------------------------------------------------------------------------------

static void emit_one(struct lower *lw, struct ir_header *h, struct loc at) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_EMIT, at);
    s->header = h;
    put(lw, s);
}

static void put_emit(struct lower *lw, struct value *v, struct loc at) {
    if (v->kind == VAL_HEADER && v->header) {
        emit_one(lw, v->header, at);
        if (varbit_field(v))
            put_emit(lw, varbit_field(v), at);
        if (v->rest)
            emit_one(lw, v->rest, at);
        return;
    }
    if (v->kind != VAL_TUPLE && v->kind != VAL_STACK && v->kind != VAL_UNION &&
        v->kind != VAL_VARBIT) {
        lower_error(lw, at, "only headers, and structs and stacks of headers, can be emitted");
        return;
    }
    for (size_t i = 0; i < v->n; i++)
        put_emit(lw, v->items[i], at);
}

// A header made on the spot is emitted through one of its own.
static void emit_value(struct lower *lw, struct value *v, struct loc at) {
    if (v->kind == VAL_HEADER && !v->header) {
        struct value *h = storage_new(lw, v->type, arena_printf(lw->a, "$emit%u", lw->temps++), at);
        assign(lw, h, v, at);
        v = h;
    }
    put_emit(lw, v, at);
}

struct value *deparser_emit(struct lower *lw, struct expr *e) {
    if (strcmp(e->a->name, "emit") != 0 || !bound_arg(e, 0)) {
        lower_unsupported(lw, e->at, "packet_out.%s", e->a->name);
        return lower_packet_none(lw, e);
    }
    emit_value(lw, eval(lw, bound_arg(e, 0)), e->at);
    return lower_packet_none(lw, e);
}

// ---- checksums ----------------------------------------------------------------------------------

// Concatenations are taken apart: whether a field counts depends on its own header.
static void csum_parts(struct lower *lw, struct ir_stmt *s, struct ir_expr *e) {
    if (e->op == IR_CONCAT) {
        csum_parts(lw, s, e->a);
        csum_parts(lw, s, e->b);
        return;
    }
    struct ir_csum_arg arg = {.e = e};
    const struct ir_expr *base = e;
    while (base->op == IR_SLICE)
        base = base->a;
    if (base->op == IR_VAR)
        arg.only_if = base->var->header;
    VEC_PUSH(lw->a, &s->csum_args, arg);
}

static unsigned csum_bits(const ir_expr_vec *flat) {
    unsigned bits = 0;
    for (size_t i = 0; i < flat->n; i++)
        bits += flat->v[i]->width;
    return bits;
}

static void check_csum_bits(struct lower *lw, const ir_expr_vec *flat, struct loc at) {
    if (csum_bits(flat) % 8 != 0)
        lower_error(lw, at, "a checksum over %u bits; it takes whole bytes", csum_bits(flat));
}

static bool csum_takes(const struct ir_stmt *s) {
    return s->kind == IR_CSUM_ADD || s->kind == IR_CSUM_SUBTRACT;
}

void csum_check_state(struct lower *lw, const struct ir_block *body) {
    for (size_t i = 0; i < body->stmts.n; i++)
        if (csum_takes(body->stmts.v[i]))
            check_csum_bits(lw, &body->stmts.v[i]->args, body->stmts.v[i]->at);
}

// The parts of a varbit count when they are there. All have an even number of bytes but the last,
// which is filled up to two: what follows it stays where it is in its word.
static void csum_flat(struct lower *lw, struct value *v, ir_expr_vec *out, struct loc at) {
    if (v->kind == VAL_VARBIT) {
        for (size_t i = 0; i < v->n; i++) {
            struct ir_expr *piece = v->items[i]->items[0]->e;
            if (piece->width == 8)
                piece = ir_binary(lw->a, IR_CONCAT, piece, ir_const_u64(lw->a, 8, 0));
            VEC_PUSH(lw->a, out, piece);
        }
        return;
    }
    if (v->kind == VAL_TUPLE || v->kind == VAL_HEADER) {
        for (size_t i = 0; i < v->n; i++)
            csum_flat(lw, v->items[i], out, at);
        return;
    }
    ir_expr_vec flat = value_flat(lw, v, at);
    for (size_t i = 0; i < flat.n; i++)
        VEC_PUSH(lw->a, out, flat.v[i]);
}

static void csum_parts_of(struct lower *lw, struct ir_stmt *s, struct value *data, struct loc at) {
    ir_expr_vec flat = {0};
    csum_flat(lw, data, &flat, at);
    check_csum_bits(lw, &flat, at);
    for (size_t i = 0; i < flat.n; i++)
        csum_parts(lw, s, flat.v[i]);
}

static struct value *csum_update(struct lower *lw, struct object *o, struct expr *e,
                                 struct ir_var *wanted) {
    if (lw->place != IN_DEPARSER_BODY || !bound_arg(e, 0)) {
        lower_error(lw, e->at, "'update' of a checksum may only be called in a deparser");
        return lower_packet_none(lw, e);
    }
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_CSUM_UPDATE, e->at);
    s->checksum = o->checksum;
    csum_parts_of(lw, s, eval(lw, bound_arg(e, 0)), e->at);
    if (bound_arg(e, 1)) {
        big ones = eval_const(lw, bound_arg(e, 1), "'zeros_as_ones'");
        s->flag = ones && big_sign(ones) != 0;
    }
    s->var = result_var(lw, wanted, 16, e->at);
    put(lw, s);
    return value_bits(lw, env_type(lw, e->type), ir_ref(lw->a, s->var));
}

static bool csum_has_varbit(const struct value *v) {
    bool has = v->kind == VAL_VARBIT;
    for (size_t i = 0; i < v->n && !has && (v->kind == VAL_TUPLE || v->kind == VAL_HEADER); i++)
        has = csum_has_varbit(v->items[i]);
    return has;
}

// The call before of this checksum in the block, if it ended within a word.
static struct ir_stmt *csum_begun(const struct lower *lw, const struct ir_stmt *next) {
    for (size_t i = lw->block->stmts.n; i > 0; i--) {
        struct ir_stmt *s = lw->block->stmts.v[i - 1];
        if (s->checksum == next->checksum)
            return s->kind == next->kind && csum_bits(&s->args) % 16 != 0 ? s : NULL;
    }
    return NULL;
}

static void csum_take_out(struct ir_block *b, const struct ir_stmt *s) {
    size_t n = 0;
    for (size_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.v[i] != s)
            b->stmts.v[n++] = b->stmts.v[i];
    b->stmts.n = n;
}

// Fields that share a word, or a byte, may come one call after another: each goes on in the word
// where the one before ended (tna-facts 4.8), so they become one statement.
static void csum_put(struct lower *lw, struct ir_stmt *s) {
    struct ir_stmt *begun = csum_begun(lw, s);
    if (begun) {
        csum_take_out(lw->block, begun);
        for (size_t i = 0; i < s->args.n; i++)
            VEC_PUSH(lw->a, &begun->args, s->args.v[i]);
        s = begun;
    }
    if (!in_state_itself(lw))
        check_csum_bits(lw, &s->args, s->at);
    put(lw, s);
}

static struct value *csum_add(struct lower *lw, struct object *o, struct expr *e, bool subtract) {
    if (!bound_arg(e, 0))
        return lower_packet_none(lw, e);
    struct ir_stmt *s = ir_stmt_new(lw->a, subtract ? IR_CSUM_SUBTRACT : IR_CSUM_ADD, e->at);
    s->checksum = o->checksum;
    struct value *data = eval(lw, bound_arg(e, 0));
    if (!csum_has_varbit(data)) {
        s->args = value_flat(lw, data, e->at);
        csum_put(lw, s);
        return lower_packet_none(lw, e);
    }
    if (subtract)
        lower_error(lw, e->at, "a Tofino's parser subtracts no varbit from a checksum");
    else
        csum_parts_of(lw, s, data, e->at);
    put(lw, s);
    return lower_packet_none(lw, e);
}

// The result is ORed into the destination, as the hardware does it: several verifications may
// accumulate in one field.
static struct value *csum_verify(struct lower *lw, struct object *o, struct expr *e,
                                 struct ir_var *wanted) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_CSUM_VERIFY, e->at);
    s->checksum = o->checksum;
    s->var = wanted && wanted->width == 1 ? wanted : NULL;
    if (!s->var) {
        s->var = temp_new(lw, "r", 1, e->at);
        assign_var(lw, s->var, ir_const_u64(lw->a, 1, 0), e->at);
    }
    put(lw, s);
    return value_bits(lw, env_type(lw, e->type), ir_ref(lw->a, s->var));
}

static struct value *csum_get(struct lower *lw, struct object *o, struct expr *e,
                              struct ir_var *wanted) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_CSUM_GET, e->at);
    s->checksum = o->checksum;
    s->var = result_var(lw, wanted, 16, e->at);
    put(lw, s);
    return value_bits(lw, env_type(lw, e->type), ir_ref(lw->a, s->var));
}

static struct value *csum_deposit(struct lower *lw, struct object *o, struct expr *e) {
    if (!bound_arg(e, 0))
        return lower_packet_none(lw, e);
    struct lvalue l = eval_lvalue(lw, bound_arg(e, 0));
    struct value *dst = lvalue_whole(&l);
    if (!dst || dst->kind != VAL_BITS || dst->e->width != 16) {
        lower_error(lw, e->at, "the residual checksum goes into a field of 16 bits");
        return lower_packet_none(lw, e);
    }
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_CSUM_GET, e->at);
    s->checksum = o->checksum;
    s->flag = true;
    s->var = dst->e->var;
    put(lw, s);
    return lower_packet_none(lw, e);
}

struct value *checksum_method(struct lower *lw, struct object *o, struct expr *e,
                              struct ir_var *wanted) {
    const char *name = e->a->name;
    if (strcmp(name, "update") == 0)
        return csum_update(lw, o, e, wanted);
    if (lw->place != IN_PARSER_STATE) {
        lower_error(lw, e->at, "'%s' of a checksum may only be called in a parser", name);
        return lower_packet_none(lw, e);
    }
    if (strcmp(name, "add") == 0 || strcmp(name, "subtract") == 0)
        return csum_add(lw, o, e, name[0] == 's');
    if (strcmp(name, "verify") == 0)
        return csum_verify(lw, o, e, wanted);
    if (strcmp(name, "get") == 0)
        return csum_get(lw, o, e, wanted);
    if (strcmp(name, "subtract_all_and_deposit") == 0)
        return csum_deposit(lw, o, e);
    lower_unsupported(lw, e->at, "'%s' of a checksum", name);
    return lower_packet_none(lw, e);
}
