// SPDX-License-Identifier: Apache-2.0
//
// header: validity, header unions and varbit fields (sections "Operations on headers", "on
// header unions", "on varbits").
//
// The IR knows headers of fixed size only. Both are made of those:
//
// - A union is its member headers; whatever makes one of them valid makes the others invalid, and
//   whatever makes one invalid makes all of them invalid.
// - A varbit field is a row of pieces, each a header of its own, of 2^k bytes, largest first: as a
//   sum of powers of two a length says which pieces are there, so two varbits of one length have
//   the same ones. A piece's validity is the length's bit. They follow their header on the wire;
//   the fields after them are a header of their own again, valid when the first part is.
//
// The chip's compiler gives a varbit a parser state for each length (tna-facts 3.3) and has no
// unions; what both programs see is the same.
#include "compiler/lower/lower_impl.h"

#define MAX_PIECES 12u // of 2^11 bytes and less: varbits of up to 4095 bytes

static void put_one(struct lower *lw, struct ir_header *h, bool valid, struct loc at) {
    struct ir_stmt *s = ir_stmt_new(lw->a, valid ? IR_SET_VALID : IR_SET_INVALID, at);
    s->header = h;
    put(lw, s);
}

// The header and, with a varbit field in it, the fields after that.
static void put_validity(struct lower *lw, const struct value *v, bool valid, struct loc at) {
    put_one(lw, v->header, valid, at);
    if (v->rest)
        put_one(lw, v->rest, valid, at);
}

static void drop_siblings(struct lower *lw, struct value *v, struct loc at) {
    for (size_t i = 0; v->in_union && i < v->in_union->n; i++)
        if (v->in_union->items[i]->header != v->header)
            storage_invalidate(lw, v->in_union->items[i], at);
}

void set_header(struct lower *lw, struct value *v, bool valid, struct loc at) {
    if (valid) {
        put_validity(lw, v, true, at);
        drop_siblings(lw, v, at);
        return;
    }
    drop_siblings(lw, v, at);
    storage_invalidate(lw, v, at);
}

void storage_invalidate(struct lower *lw, struct value *v, struct loc at) {
    if (v->kind == VAL_HEADER && v->header)
        put_validity(lw, v, false, at);
    for (size_t i = 0; i < v->n; i++)
        storage_invalidate(lw, v->items[i], at);
    if (v->kind == VAL_STACK && v->next && lw->place == IN_PARSER_STATE)
        assign_var(lw, v->next, ir_const_u64(lw->a, 32, 0), at);
}

struct ir_expr *header_validity(struct lower *lw, const struct value *v) {
    if (v->kind == VAL_HEADER)
        return v->valid;
    struct ir_expr *any = ir_const_u64(lw->a, 1, 0);
    for (size_t i = 0; i < v->n; i++)
        any = ir_binary(lw->a, IR_LOR, any, v->items[i]->valid);
    return any;
}

// ---- varbit -------------------------------------------------------------------------------------

// Fills in the pieces' values; the caller's 'piece' makes each.
void varbit_pieces(struct lower *lw, struct value *v, const char *name, piece_fn *piece, void *ctx,
                   struct loc at) {
    unsigned bytes = (plain(v->type)->width + 7) / 8, k = 0;
    while (bytes >> k)
        k++;
    if (k > MAX_PIECES) {
        lower_unsupported(lw, at, "a varbit of more than %u bytes", (1u << MAX_PIECES) - 1);
        k = 0;
    }
    v->n = k;
    v->items = ARENA_ARRAY(lw->a, struct value *, k + 1);
    for (unsigned i = 0; i < k; i++) {
        unsigned size = 1u << (k - 1 - i);
        struct type *t = ARENA_NEW(lw->a, struct type);
        *t = (struct type){.kind = TY_BITS, .width = 8 * size};
        v->items[i] =
            piece(lw, t, name ? arena_printf(lw->a, "%s.$%u", name, size) : NULL, ctx, at);
    }
}

static struct ir_header *piece_header(const struct value *alt, size_t i) {
    return varbit_field(alt)->items[i]->header;
}

static struct ir_stmt *extraction(struct lower *lw, const struct lvalue *l, struct loc at) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_EXTRACT, at);
    s->e = l->index;
    return s;
}

// Piece i, of whichever header the index says, is extracted or invalid.
static void extract_piece(struct lower *lw, const struct lvalue *l, size_t i, struct ir_expr *here,
                          struct loc at) {
    struct ir_block *outer = lw->block, *then_b = ir_block_new(lw->a), *else_b;
    struct ir_stmt *s = extraction(lw, l, at);
    if (!l->index)
        s->header = piece_header(l->alts[0], i);
    for (size_t k = 0; l->index && k < l->n; k++)
        VEC_PUSH(lw->a, &s->headers, piece_header(l->alts[k], i));
    lw->block = then_b;
    put(lw, s);
    lw->block = else_b = ir_block_new(lw->a);
    for (size_t k = 0; k < l->n; k++) {
        struct ir_block *b = lw->block = ir_block_new(lw->a);
        put_one(lw, piece_header(l->alts[k], i), false, at);
        lw->block = else_b;
        struct ir_expr *is_k = ir_const_u64(lw->a, 1, 1);
        if (l->index)
            is_k = index_is(lw, l->index, k);
        put_if(lw, is_k, b, NULL, at);
    }
    lw->block = outer;
    put_if(lw, here, then_b, else_b, at);
}

struct value *varbit_field(const struct value *header) {
    for (size_t i = 0; header->kind == VAL_HEADER && i < header->n; i++)
        if (header->items[i]->kind == VAL_VARBIT)
            return header->items[i];
    return NULL;
}

// The fields before a varbit field, or the fields after it.
static void extract_part(struct lower *lw, const struct lvalue *l, bool rest, struct loc at) {
    struct ir_stmt *s = extraction(lw, l, at);
    if (!l->index)
        s->header = rest ? l->alts[0]->rest : l->alts[0]->header;
    for (size_t i = 0; l->index && i < l->n; i++)
        VEC_PUSH(lw->a, &s->headers, rest ? l->alts[i]->rest : l->alts[i]->header);
    put(lw, s);
}

// The fixed part has been extracted. A length that is no number of bytes, or more than the field
// holds, ends the parser (ParserInvalidArgument, HeaderTooShort; both are a reject on the chip).
static void extract_varbit(struct lower *lw, const struct lvalue *l, struct ir_expr *bits,
                           struct loc at) {
    const struct value *v = varbit_field(l->alts[0]);
    unsigned most = plain(v->type)->width;
    if (ir_is_const(bits) &&
        (big_cmp(bits->value, big_u64(lw->a, most)) > 0 || big_word(bits->value, 0) % 8 != 0)) {
        lower_error(lw, at,
                    "%s bits do not fit in a varbit field of at most %u bits in whole bytes",
                    big_str(lw->a, bits->value, 10), most);
        return;
    }
    struct ir_expr *whole =
        ir_binary(lw->a, IR_EQ, ir_slice(lw->a, bits, 0, 3), ir_const_u64(lw->a, 3, 0));
    struct ir_expr *fits = ir_binary(lw->a, IR_ULE, bits, ir_const_u64(lw->a, bits->width, most));
    if (!reject_unless(lw, ir_binary(lw->a, IR_LAND, whole, fits), at))
        return;
    for (size_t i = 0; i < v->n; i++)
        extract_piece(lw, l, i, ir_slice(lw->a, bits, 3 + (unsigned)(v->n - 1 - i), 1), at);
    if (l->alts[0]->rest)
        extract_part(lw, l, true, at);
}

// ---- extract ------------------------------------------------------------------------------------

static void extracted_from_union(struct lower *lw, const struct lvalue *l, struct loc at) {
    struct ir_block *outer = lw->block;
    for (size_t k = 0; k < l->n; k++) {
        struct ir_block *b = lw->block = ir_block_new(lw->a);
        drop_siblings(lw, l->alts[k], at);
        lw->block = outer;
        struct ir_expr *is_k = ir_const_u64(lw->a, 1, 1);
        if (l->index)
            is_k = index_is(lw, l->index, k);
        put_if(lw, is_k, b, NULL, at);
    }
}

void extract_header(struct lower *lw, const struct lvalue *l, struct ir_expr *bits, struct loc at) {
    for (size_t i = 0; i < l->n; i++)
        if (!l->alts[i]->header || (varbit_field(l->alts[i]) != NULL) != (bits != NULL)) {
            lower_error(lw, at,
                        bits ? "extract with a size takes a header with one varbit field"
                             : "this cannot be extracted: it is not a header of fixed size");
            return;
        }
    extract_part(lw, l, false, at);
    extracted_from_union(lw, l, at);
    if (bits)
        extract_varbit(lw, l, bits, at);
}
