// SPDX-License-Identifier: Apache-2.0
//
// branch: a table whose few entries are fixed by the program, as branches.
//
// They are compared in the order of their precedence. Where several ask for different values of one
// key it is a switch; what some of them that follow each other ask for alike is compared once, in
// front of them; and keys that lie together in a header are compared as one word (key_words.c).
#include "compiler/ir/build.h"
#include "compiler/print/emit_impl.h"

#include <stdlib.h>

static unsigned emit_branch_prefix_bits(const struct ir_table *t, const struct ir_entry *entry) {
    unsigned bits = 0;
    for (size_t i = 0; i < t->keys.n; i++)
        if (t->keys.v[i].match == IR_MATCH_LPM)
            for (unsigned b = 0; b < t->keys.v[i].expr->width; b++)
                bits += big_word(entry->keys.v[i].mask, b / 64) >> b % 64 & 1;
    return bits;
}

struct ranked {
    const struct ir_entry *entry;
    int64_t rank;
    size_t position;
};

static int by_precedence(const void *x, const void *y) {
    const struct ranked *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

// The entries, best first.
static struct ranked *ranked_entries(const struct emit *e, const struct ir_table *t) {
    struct ranked *r = ARENA_ARRAY(e->a, struct ranked, t->entries.n + 1);
    bool lpm = emit_has_match(t, IR_MATCH_LPM);
    bool scan = emit_has_match(t, IR_MATCH_TERNARY) || emit_has_match(t, IR_MATCH_RANGE);
    for (size_t i = 0; i < t->entries.n; i++) {
        r[i].entry = t->entries.v[i];
        r[i].position = i;
        r[i].rank = scan  ? t->entries.v[i]->priority
                    : lpm ? -(int64_t)emit_branch_prefix_bits(t, t->entries.v[i])
                          : 0;
    }
    qsort(r, t->entries.n, sizeof *r, by_precedence);
    return r;
}

static bool emit_branch_all_ones(big mask, unsigned width) {
    for (unsigned i = 0; i * 64 < width; i++) {
        unsigned n = width - i * 64 < 64 ? width - i * 64 : 64;
        if (big_word(mask, i) != (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1))
            return false;
    }
    return true;
}

static const char *emit_branch_conjunction(const struct emit *e, const char *a, const char *b) {
    return *a ? emit_text(e, "%s && %s", a, b) : b;
}

const char *emit_branch_key_condition(const struct emit *e, const struct ir_key *k, size_t index,
                                      const struct ir_key_value *v) {
    unsigned w = k->expr->width;
    const char *key = emit_text(e, "k%zu", index);
    if (v->high) {
        const char *low =
            big_sign(v->value) ? emit_text(e, "%s >= %s", key, emit_const(e, v->value, w)) : "";
        return emit_branch_all_ones(v->high, w)
                   ? low
                   : emit_branch_conjunction(
                         e, low, emit_text(e, "%s <= %s", key, emit_const(e, v->high, w)));
    }
    if (!v->mask || emit_branch_all_ones(v->mask, w))
        return emit_text(e, "%s == %s", key, emit_const(e, v->value, w));
    if (big_sign(v->mask) == 0)
        return "";
    return emit_text(e, "(%s & %s) == %s", key, emit_const(e, v->mask, w),
                     emit_const(e, big_and(e->a, v->value, v->mask), w));
}

static bool same_keys(const struct ir_entry *a, const struct ir_entry *b,
                      const struct ir_table *t) {
    for (size_t i = 0; i < t->keys.n; i++)
        if (!ir_same_key(&a->keys.v[i], &b->keys.v[i]))
            return false;
    return true;
}

static bool shadowed(const struct ranked *r, size_t i, const struct ir_table *t) {
    for (size_t k = 0; k < i; k++)
        if (same_keys(r[k].entry, r[i].entry, t))
            return true;
    return false;
}

// Of some of the keys.
static const char *entry_condition(const struct emit *e, const struct ir_table *t,
                                   const struct emit_key_words *words, const struct ir_entry *entry,
                                   const bool *wanted) {
    struct emit_key_test *tests = ARENA_ARRAY(e->a, struct emit_key_test, t->keys.n + 1);
    for (size_t k = 0; k < t->keys.n; k++)
        if (wanted[k] && words->of[k] >= 0)
            tests[k] = emit_key_test_of(t->keys.v[k].expr->width, entry->keys.v[k].value,
                                        entry->keys.v[k].mask, entry->keys.v[k].high);
    const char *cond = emit_key_word_tests(e, words, tests);
    for (size_t k = 0; k < t->keys.n; k++) {
        if (!wanted[k] || tests[k].wanted)
            continue;
        const char *c = emit_branch_key_condition(e, &t->keys.v[k], k, &entry->keys.v[k]);
        cond = *c ? emit_branch_conjunction(e, cond, c) : cond;
    }
    return cond;
}

static void key_locals(const struct emit *e, const struct ir_table *t) {
    for (size_t i = 0; i < t->keys.n; i++)
        emit_line(e, "const %s k%zu = %s; // %s", emit_ctype(t->keys.v[i].expr->width), i,
                  emit_expr(e, t->keys.v[i].expr), emit_comment(e, t->keys.v[i].name));
}

size_t emit_branch_first(const struct emit *e, const struct ir_table *t, const bool *known) {
    const struct ranked *r = ranked_entries(e, t);
    for (size_t i = 0; i < t->entries.n; i++)
        if (!known[r[i].position])
            return r[i].position;
    return t->entries.n;
}

#define NO_KEY SIZE_MAX

// Some entries, best first, and what is left to be compared of them.
struct branch {
    const struct ranked **r;
    size_t n;
    bool *known; // by key: it has been compared
    const struct emit_key_words *words;
};

static bool is_one_value(const struct ir_table *t, const struct ranked *r, size_t k) {
    const struct ir_key_value *v = &r->entry->keys.v[k];
    return !v->high && (!v->mask || emit_branch_all_ones(v->mask, t->keys.v[k].expr->width));
}

bool emit_branch_is_any(const struct ir_key_value *v) {
    return !v->high && v->mask && big_sign(v->mask) == 0;
}

static bool is_any_value(const struct ranked *r, size_t k) {
    return emit_branch_is_any(&r->entry->keys.v[k]);
}

// A first occurrence of its value in key 'k'?
static bool new_value(const struct ir_table *t, const struct branch *b, size_t i, size_t k) {
    if (!is_one_value(t, b->r[i], k))
        return false;
    for (size_t j = 0; j < i; j++)
        if (is_one_value(t, b->r[j], k) &&
            big_cmp(b->r[j]->entry->keys.v[k].value, b->r[i]->entry->keys.v[k].value) == 0)
            return false;
    return true;
}

// The key to switch over: entries give it one value, of which there are several, but for a few that
// do not look at it and are printed for each value.
static size_t switch_key(const struct ir_table *t, const struct branch *b) {
    size_t best = NO_KEY, most = 2;
    for (size_t k = 0; k < t->keys.n && b->n >= 4; k++) {
        size_t values = 0, any = 0;
        bool fits = !b->known[k] && t->keys.v[k].expr->width <= 64;
        for (size_t i = 0; i < b->n && fits; i++) {
            any += is_any_value(b->r[i], k);
            fits = is_one_value(t, b->r[i], k) || is_any_value(b->r[i], k);
            values += fits && new_value(t, b, i, k);
        }
        if (fits && values > most && any * values <= PLAN_MAX_REPEATED) {
            best = k;
            most = values;
        }
    }
    return best;
}

static void print_branch(const struct emit *e, const struct ir_table *t,
                         const struct emit_chain *chain, const struct branch *b, unsigned label);

// Those of the entries that have this value in key 'k', or any.
static void switch_case(const struct emit *e, const struct ir_table *t,
                        const struct emit_chain *chain, const struct branch *b, size_t k, big value,
                        unsigned label) {
    struct branch some = {.r = ARENA_ARRAY(e->a, const struct ranked *, b->n + 1),
                          .known = ARENA_ARRAY(e->a, bool, t->keys.n + 1),
                          .words = b->words};
    for (size_t i = 0; i < t->keys.n; i++)
        some.known[i] = b->known[i] || i == k;
    for (size_t i = 0; i < b->n; i++)
        if (is_any_value(b->r[i], k) ||
            (value && big_cmp(b->r[i]->entry->keys.v[k].value, value) == 0))
            some.r[some.n++] = b->r[i];
    if (value)
        emit_line(e, "case %s:", emit_const(e, value, t->keys.v[k].expr->width));
    else
        emit_line(e, "default:");
    e->to->indent++;
    print_branch(e, t, chain, &some, label);
    emit_line(e, "break;");
    e->to->indent--;
}

// How many entries from the i-th on ask for the same in some keys, and in which: these are compared
// once.
static size_t run_of(const struct ir_table *t, const struct branch *b, size_t i, bool *common) {
    size_t n = 1;
    for (size_t k = 0; k < t->keys.n; k++)
        common[k] = !b->known[k] && !is_any_value(b->r[i], k);
    for (; i + n < b->n; n++) {
        bool any = false;
        for (size_t k = 0; k < t->keys.n; k++)
            any |= common[k] &&
                   ir_same_key(&b->r[i]->entry->keys.v[k], &b->r[i + n]->entry->keys.v[k]);
        if (!any)
            break;
        for (size_t k = 0; k < t->keys.n; k++)
            common[k] &= ir_same_key(&b->r[i]->entry->keys.v[k], &b->r[i + n]->entry->keys.v[k]);
    }
    return n;
}

// The n entries from the i-th on, whose 'common' keys are the same.
static void emit_branch_run(const struct emit *e, const struct ir_table *t,
                            const struct emit_chain *chain, const struct branch *b, size_t i,
                            size_t n, const bool *common, unsigned label) {
    struct branch some = {
        .r = b->r + i, .n = n, .known = ARENA_ARRAY(e->a, bool, t->keys.n + 1), .words = b->words};
    for (size_t k = 0; k < t->keys.n; k++)
        some.known[k] = b->known[k] || common[k];
    const char *cond = entry_condition(e, t, b->words, b->r[i]->entry, common);
    emit_open(e, "if (%s) {", *cond ? cond : "true");
    print_branch(e, t, chain, &some, label);
    emit_close(e, "}");
}

// Prints what decides between the entries; after it none of them matches.
static void print_branch(const struct emit *e, const struct ir_table *t,
                         const struct emit_chain *chain, const struct branch *b, unsigned label) {
    size_t k = switch_key(t, b);
    if (k != NO_KEY) {
        emit_open(e, "switch (k%zu) {", k);
        for (size_t i = 0; i < b->n; i++)
            if (new_value(t, b, i, k))
                switch_case(e, t, chain, b, k, b->r[i]->entry->keys.v[k].value, label);
        switch_case(e, t, chain, b, k, NULL, label);
        emit_close(e, "}");
        return;
    }
    bool *common = ARENA_ARRAY(e->a, bool, t->keys.n + 1);
    bool *wanted = ARENA_ARRAY(e->a, bool, t->keys.n + 1);
    for (size_t i = 0; i < t->keys.n; i++)
        wanted[i] = !b->known[i];
    for (size_t i = 0; i < b->n; i++) {
        const size_t n = run_of(t, b, i, common);
        if (n >= PLAN_MIN_RUN) {
            emit_branch_run(e, t, chain, b, i, n, common, label);
            i += n - 1;
            continue;
        }
        const char *cond = entry_condition(e, t, b->words, b->r[i]->entry, wanted);
        if (*cond)
            emit_open(e, "if (%s) {", cond);
        chain->hit(e, t, b->r[i]->position);
        emit_line(e, "goto matched_%u;", label);
        if (!*cond)
            return; // nothing after it is reached
        emit_close(e, "}");
    }
}

void emit_branches(const struct emit *e, const struct ir_table *t,
                   const struct ir_known_match *known, const struct emit_chain *chain) {
    const struct ir_expr **keys = ARENA_ARRAY(e->a, const struct ir_expr *, t->keys.n + 1);
    for (size_t k = 0; k < t->keys.n; k++)
        keys[k] = t->keys.v[k].expr;
    const struct emit_key_words words = emit_key_words_of(e, keys, t->keys.n);
    key_locals(e, t);
    emit_key_word_locals(e, &words);
    const struct ranked *r = ranked_entries(e, t);
    struct branch all = {.r = ARENA_ARRAY(e->a, const struct ranked *, t->entries.n + 1),
                         .known = ARENA_ARRAY(e->a, bool, t->keys.n + 1),
                         .words = &words};
    for (size_t i = 0; i < t->entries.n; i++) {
        if (!shadowed(r, i, t) && (!known || known->may_match[r[i].position]))
            all.r[all.n++] = &r[i];
    }
    for (size_t k = 0; k < t->keys.n; k++)
        all.known[k] = known && known->matches[k];
    unsigned label = e->to->n_labels++;
    print_branch(e, t, chain, &all, label);
    chain->miss(e, t);
    emit_line(e, "matched_%u:;", label);
}
