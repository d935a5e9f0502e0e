// SPDX-License-Identifier: Apache-2.0
//
// interp_checksum: one's-complement sums, word by word (tna-facts 4.8, RFC 1071).
//
// The list of a statement is one string of bits: its 16-bit words start at its first bit, the last
// one is filled up with zeros. What an invalid header does not contribute is zero in its place.
#include "harness/interp/interp_impl.h"

static void add_word(unsigned *sum, unsigned word) {
    *sum += word;
    if (*sum > 0xffff)
        *sum = (*sum & 0xffff) + 1;
}

static big list(struct run *r, const struct ir_stmt *s, unsigned *width) {
    big v = interp_concat(r, (const struct ir_expr *const *)s->args.v, s->args.n, width);
    for (size_t i = 0; i < s->csum_args.n; i++) {
        const struct ir_csum_arg *a = &s->csum_args.v[i];
        bool counts = !a->only_if || interp_u64(r, a->only_if->valid);
        v = big_shl(r->a, v, a->e->width);
        if (counts)
            v = big_or(r->a, v, interp_eval(r, a->e));
        *width += a->e->width;
    }
    return v;
}

// Adds the statement's list, or the complement of each of its words.
static void add_list(struct run *r, unsigned *sum, const struct ir_stmt *s, bool complement) {
    unsigned width;
    big data = list(r, s, &width);
    unsigned words = (width + 15) / 16;
    data = big_shl(r->a, data, 16 * words - width);
    for (unsigned i = words; i-- > 0;) {
        unsigned word = (unsigned)big_to_u64(big_shr(r->a, data, 16 * i)) & 0xffff;
        add_word(sum, complement ? word ^ 0xffff : word);
    }
}

// The header whose field stands last in an expression, as it is chosen at run time, or 'h'.
static const struct ir_header *last_header(struct run *r, const struct ir_expr *x,
                                           const struct ir_header *h) {
    if (!x)
        return h;
    if (x->op == IR_VAR)
        return x->var->header ? x->var->header : h;
    if (x->op == IR_COND)
        return last_header(r, interp_true(r, x->a) ? x->b : x->c, h);
    return last_header(r, x->c, last_header(r, x->b, last_header(r, x->a, h)));
}

static void subtract(struct run *r, struct running_sum *sum, const struct ir_stmt *s) {
    add_list(r, &sum->sum, s, true);
    const struct ir_header *h = NULL;
    for (size_t i = 0; i < s->args.n; i++)
        h = last_header(r, s->args.v[i], h);
    if (h)
        sum->end_of_last = r->header_at[h->id];
}

static void update(struct run *r, const struct ir_stmt *s) {
    unsigned sum = 0;
    add_list(r, &sum, s, false);
    sum ^= 0xffff;
    interp_set_u64(r, s->var, sum == 0 && s->flag ? 0xffff : sum);
}

void interp_csum_stmt(struct run *r, const struct ir_stmt *s) {
    struct running_sum *sum = &r->sums[s->checksum->id];
    switch (s->kind) {
    case IR_CSUM_ADD:
        add_list(r, &sum->sum, s, false);
        break;
    case IR_CSUM_SUBTRACT:
        subtract(r, sum, s);
        break;
    case IR_CSUM_VERIFY: // true: the checksum is wrong
        interp_set_u64(r, s->var, interp_u64(r, s->var) | (sum->sum != 0xffff));
        break;
    case IR_CSUM_GET: {
        struct residual res = {s->checksum, s->var, s->flag ? r->cursor : sum->end_of_last};
        VEC_PUSH(r->a, &r->residuals, res);
        break;
    }
    case IR_CSUM_UPDATE:
        update(r, s);
        break;
    default:
        interp_fail("checksum statement", (int)s->kind, s->at);
    }
}

void interp_residuals(struct run *r, uint64_t consumed) {
    for (size_t i = 0; i < r->residuals.n; i++) {
        const struct residual *res = &r->residuals.v[i];
        unsigned sum = r->sums[res->checksum->id].sum;
        for (uint64_t at = res->from; at < consumed; at += 2) {
            unsigned low = at + 1 < consumed ? r->bytes[at + 1] : 0;
            add_word(&sum, ((unsigned)r->bytes[at] << 8 | low) ^ 0xffff);
        }
        interp_set_u64(r, res->var, sum);
    }
}
