// SPDX-License-Identifier: Apache-2.0
//
// regonce_parser: which headers no way through the parser gives a packet together. See
// regonce_impl.h. A header is there after the parser if a state on the way makes it valid, so two
// are together if a state that does so for one is on a way to one that does so for the other.
#include "compiler/ir/effects.h"
#include "compiler/rules/regonce_impl.h"

#define WORD_BITS 64u

static bool bit_of(const uint64_t *set, size_t i) {
    return set[i / WORD_BITS] >> i % WORD_BITS & 1;
}

static void put_bit(uint64_t *set, size_t i) {
    set[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

// The states that a packet may be in after this one, and this one.
static void regonce_parser_follow(const struct ir_gress *g, size_t state, bool *reached) {
    reached[state] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < g->states.n; i++) {
            const struct ir_state *st = g->states.v[i];
            for (size_t k = 0; k <= st->cases.n && reached[i]; k++) {
                const int next = k < st->cases.n ? st->cases.v[k].next : st->next;
                if (next < 0 || (size_t)next >= g->states.n || reached[next])
                    continue;
                reached[next] = more = true;
            }
        }
    }
}

static void find_together(struct check *c) {
    const struct ir_gress *g = c->g;
    const size_t words = g->headers.n / WORD_BITS + 1;
    uint64_t *adds = ARENA_ARRAY(c->a, uint64_t, (g->states.n + 1) * words);
    struct ir_effects f = ir_effects_none(c->a, g);
    c->together = ARENA_ARRAY(c->a, uint64_t, (g->headers.n + 1) * words);
    c->together_words = words;
    for (size_t i = 0; i < g->states.n; i++) {
        ir_effects_clear(&f);
        ir_effects_add_state(&f, g->states.v[i]);
        for (size_t h = 0; h < g->headers.n; h++)
            if (f.extracted[h] || ir_effects_may_add(&f, g->headers.v[h]))
                put_bit(adds + i * words, h);
    }
    bool *reached = ARENA_ARRAY(c->a, bool, g->states.n + 1);
    for (size_t i = 0; i < g->states.n; i++) {
        for (size_t k = 0; k < g->states.n; k++)
            reached[k] = false;
        regonce_parser_follow(g, i, reached);
        for (size_t k = 0; k < g->states.n; k++)
            for (size_t h = 0; h < g->headers.n && reached[k]; h++)
                for (size_t w = 0; w < words && bit_of(adds + i * words, h); w++)
                    c->together[h * words + w] |= adds[k * words + w];
    }
}

static bool never_together(struct check *c, const struct ir_header *x, const struct ir_header *y) {
    if (x == y)
        return false;
    if (!c->together)
        find_together(c);
    return !bit_of(c->together + x->id * c->together_words, y->id) &&
           !bit_of(c->together + y->id * c->together_words, x->id);
}

// The header that this fact says is valid as the parser left it, or null.
static const struct ir_header *parsed(const struct check *c, const struct fact *f) {
    if (f->version != 0 || f->width != 1 || f->n != 1 || f->r[0].lo != 1 || f->r[0].hi != 1)
        return NULL;
    return c->header_of[f->var->id];
}

void regonce_parser_begin(struct check *c, const struct ir_gress *g) {
    c->g = g;
    c->header_of = ARENA_ARRAY(c->a, const struct ir_header *, g->vars.n + 1);
    for (size_t i = 0; i < g->headers.n && g->states.n > 0; i++)
        if (g->headers.v[i]->valid)
            c->header_of[g->headers.v[i]->valid->id] = g->headers.v[i];
}

bool parsed_apart(struct check *c, const struct fact_list *x, const struct fact_list *y) {
    for (; x; x = x->older) {
        const struct ir_header *const h = parsed(c, &x->fact);
        for (const struct fact_list *l = h ? y : NULL; l; l = l->older) {
            const struct ir_header *const other = parsed(c, &l->fact);
            if (other && never_together(c, h, other))
                return true;
        }
    }
    return false;
}
