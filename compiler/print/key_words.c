// SPDX-License-Identifier: Apache-2.0
//
// key_words: fields that lie together in a header are compared together.
//
// A table or a select asks for several small fields, flags most often, which stand in a few bytes.
// One load has all of them, and what an entry says about them is one mask and one value: so they
// are one comparison, not one each. Fields whose new values are held back
// (compiler/plan/deferred_stores.c) are put into the word first, which costs nothing where the C
// compiler knows that no field is held back.
#include "compiler/print/emit_impl.h"

#define WORD_BYTES 4 // masks and values are immediate operands

// Where a key's bits are, counted from its header's first one; null: they are not on the wire.
static const struct ir_header *emit_key_words_place(const struct emit *e, const struct ir_expr *x,
                                                    unsigned *bit) {
    const struct ir_expr *of = x->op == IR_SLICE ? x->a : x;
    if (of->op != IR_VAR || !of->var->header || !emit_var_of(e, of->var)->wire || x->width > 32)
        return NULL;
    *bit = of->var->bit_offset + (x->op == IR_SLICE ? of->width - x->lo - x->width : 0);
    return of->var->header;
}

static bool emit_key_words_covers(const struct emit_key_word *w, const struct ir_header *h,
                                  unsigned bit, unsigned width) {
    return h == w->header && bit >= 8 * w->byte && bit + width <= 8 * (w->byte + w->bytes);
}

// A field that is in it in part, and may be held back: what is loaded is not its value.
static bool splits_deferred(const struct emit *e, const struct emit_key_word *w) {
    for (size_t i = 0; i < w->header->fields.n; i++) {
        const struct ir_var *f = w->header->fields.v[i];
        const unsigned from = 8 * w->byte, to = 8 * (w->byte + w->bytes);
        if (emit_var_of(e, f)->held && f->bit_offset < to && f->bit_offset + f->width > from &&
            !emit_key_words_covers(w, w->header, f->bit_offset, f->width))
            return true;
    }
    return false;
}

// The smallest word from a key's first byte on that has as many of the keys as any.
static struct emit_key_word word_from(const struct emit *e, const struct ir_expr *const *keys,
                                      size_t n, size_t first, const int *taken) {
    struct emit_key_word best = {0};
    unsigned bit, most = 1;
    const struct ir_header *h = emit_key_words_place(e, keys[first], &bit);
    for (unsigned bytes = 1; h && bytes <= WORD_BYTES; bytes *= 2) {
        struct emit_key_word w = {.header = h, .byte = bit / 8, .bytes = bytes};
        unsigned count = 0, at;
        if (8 * (w.byte + bytes) > h->bits || splits_deferred(e, &w))
            continue;
        for (size_t i = 0; i < n; i++)
            count += taken[i] < 0 && emit_key_words_place(e, keys[i], &at) &&
                     emit_key_words_covers(&w, emit_key_words_place(e, keys[i], &at), at,
                                           keys[i]->width);
        if (count > most) {
            most = count;
            best = w;
        }
    }
    return best;
}

struct emit_key_test emit_key_test_of(unsigned width, big value, big mask, big high) {
    const uint64_t ones = (UINT64_C(1) << width) - 1;
    const uint64_t bits = mask ? big_word(mask, 0) & ones : ones;
    return (struct emit_key_test){!high && bits, bits, big_word(value, 0)};
}

struct emit_key_words emit_key_words_of(const struct emit *e, const struct ir_expr *const *keys,
                                        size_t n) {
    struct emit_key_words all = {
        .keys = keys, .n = n, .of = arena_alloc(e->a, (n + 1) * sizeof(int))};
    for (size_t i = 0; i < n; i++)
        all.of[i] = -1;
    for (size_t i = 0; i < n; i++) {
        const struct emit_key_word w =
            all.of[i] < 0 ? word_from(e, keys, n, i, all.of) : (struct emit_key_word){0};
        if (!w.header)
            continue;
        for (size_t k = 0; k < n; k++) {
            unsigned bit;
            const struct ir_header *h = emit_key_words_place(e, keys[k], &bit);
            if (all.of[k] < 0 && h && emit_key_words_covers(&w, h, bit, keys[k]->width))
                all.of[k] = (int)all.words.n;
        }
        VEC_PUSH(e->a, &all.words, w);
    }
    return all;
}

void emit_key_word_locals(const struct emit *e, const struct emit_key_words *all) {
    for (size_t i = 0; i < all->words.n; i++) {
        const struct emit_key_word *w = &all->words.v[i];
        const char *text =
            emit_text(e, "sk_load_bytes(v->at_h%u + %u, %u)", w->header->id, w->byte, w->bytes);
        for (size_t k = 0; k < w->header->fields.n; k++) {
            const struct ir_var *f = w->header->fields.v[k];
            const struct emit_var *v = emit_var_of(e, f);
            if (v->held && emit_key_words_covers(w, w->header, f->bit_offset, f->width))
                text = emit_text(e, "sk_bits_held(%s, v->holds_%s, v->%s, %u, %u)", text, v->name,
                                 v->name, 8 * (w->byte + w->bytes) - f->bit_offset - f->width,
                                 f->width);
        }
        emit_line(e, "const uint32_t word%zu = (uint32_t)%s;", i, text);
    }
}

const char *emit_key_word_tests(const struct emit *e, const struct emit_key_words *all,
                                const struct emit_key_test *tests) {
    const char *cond = "";
    for (size_t i = 0; i < all->words.n; i++) {
        const struct emit_key_word *w = &all->words.v[i];
        uint32_t mask = 0, value = 0;
        for (size_t k = 0; k < all->n; k++) {
            unsigned bit = 0;
            if (all->of[k] != (int)i || !tests[k].wanted)
                continue;
            emit_key_words_place(e, all->keys[k], &bit);
            const unsigned up = 8 * (w->byte + w->bytes) - bit - all->keys[k]->width;
            mask |= (uint32_t)(tests[k].mask << up);
            value |= (uint32_t)((tests[k].value & tests[k].mask) << up);
        }
        if (mask)
            cond = emit_text(e, "%s%s(word%zu & 0x%xu) == 0x%xu", cond, *cond ? " && " : "", i,
                             mask, value);
    }
    return cond;
}
