// SPDX-License-Identifier: Apache-2.0
//
// parser: a gress's parser as one C function: a label per state, gotos between them.
//
// It returns the parser error bits (tna-facts 5.2) and how many bytes it consumed. Every read is
// after an SK_NEED. States are counted only when the state graph has a cycle. Reject ends the
// parser like accept does, without an error bit.
#include "compiler/print/checked/checked.h"
#include "compiler/print/checked/trace.h"

#define EMIT_MIN_STACK_USES 2

// --------------------------------------------------------------------------------------------
// Extraction.

static void load_field(const struct emit *e, const struct ir_var *f, const char *from,
                       unsigned shift, bool shift_only) {
    const char *text = shift ? emit_text(e, "%s >> %u", from, shift) : from;
    uint64_t mask = f->width >= 64 ? UINT64_MAX : (UINT64_C(1) << f->width) - 1;
    if (shift_only)
        emit_line(e, "%s = (%s)(%s);", emit_ref(e, f), emit_storage(f->width), text);
    else
        emit_line(e, "%s = (%s)(%s & 0x%llx);", emit_ref(e, f), emit_storage(f->width), text,
                  (unsigned long long)mask);
}

static void load_fields(const struct emit *e, const struct ir_header *h,
                        const struct plan_segment *s) {
    unsigned t = e->to->n_temps++, left = s->bits;
    emit_open(e, "{");
    emit_line(e, "const uint64_t x%u = sk_load_bytes(p + %u, %u);", t, s->bit_offset / 8,
              s->bits / 8);
    for (unsigned i = 0; i < s->count; i++) {
        const struct ir_var *f = h->fields.v[s->first + i];
        left -= f->width;
        if (emit_var_of(e, f)->shared)
            load_field(e, f, emit_text(e, "x%u", t), left, i == 0);
    }
    emit_close(e, "}");
}

static void load_segment(const struct emit *e, const struct ir_header *h, unsigned k) {
    const struct plan_segment *s = &e->plan->headers[h->id].segments.v[k];
    const struct ir_var *f = h->fields.v[s->first];
    if (s->raw) {
        if (e->plan->headers[h->id].emitted)
            emit_line(e, "memcpy(v->raw_h%u_s%u, p + %u, %u);", h->id, k, s->bit_offset / 8,
                      s->bits / 8);
    } else if (s->count > 1) {
        load_fields(e, h, s);
    } else if (!emit_var_of(e, f)->shared) {
        return;
    } else if (plan_is_wide(f->width) && s->bit_offset % 8 == 0 && f->width % 8 == 0) {
        emit_line(e, "memcpy(%s, p + %u, %u);", emit_ref(e, f), s->bit_offset / 8, s->bits / 8);
    } else if (plan_is_wide(f->width)) {
        emit_line(e, "sk_wide_copy(%s, %u, p, %u, %u);", emit_ref(e, f),
                  8 * plan_bytes(f->width) - f->width, s->bit_offset, f->width);
    } else if (f->width <= 64 && s->bit_offset % 8 == 0 && f->width % 8 == 0) {
        emit_line(e, "%s = (%s)sk_load_bytes(p + %u, %u);", emit_ref(e, f), emit_storage(f->width),
                  s->bit_offset / 8, f->width / 8);
    } else {
        emit_line(e, "%s = (%s)%s(p, %u, %u);", emit_ref(e, f), emit_storage(f->width),
                  f->width <= 64 ? "sk_bits_get" : "sk_bits_get128", s->bit_offset, f->width);
    }
}

static void emit_parser_extract_one(const struct emit *e, const struct ir_header *h) {
    emit_line(e, "// extract %s", emit_comment(e, h->name));
    emit_checked_here(e, e->at, emit_text(e, "extracting %s", h->name));
    if (!e->enough)
        emit_line(e, "SK_NEED(%u);", h->bits / 8);
    if (plan_home_of(e->plan, h)->on_wire)
        emit_home_extracted(e, h);
    const bool given = emit_is_given(e, h);
    if (given)
        emit_open(e, "if (!hopped) {");
    for (unsigned k = 0; k < e->plan->headers[h->id].segments.n; k++)
        load_segment(e, h, k);
    if (given) {
        emit_close(e, "}");
        emit_given(e);
    }
    emit_line(e, "%s = 1;", emit_ref(e, h->valid));
    emit_line(e, "p += %u;", h->bits / 8);
    if (e->plan->headers[h->id].needs_end && !emit_on_path(e))
        emit_line(e, "end_of%u = sk_parse_consumed(&walk, p);", h->id);
}

// ---- the next element of a stack ----
//
// Which one that is is known at run time, so it is a case for each. A parser that unrolls its loops
// by hand has as many states that do this: the cases are then in a function that is printed once.

struct emit_stacks {
    struct arena *a;
    VEC(const struct ir_stmt *) of; // one extraction of each list of headers
    VEC(unsigned) uses;             // how many there are
};

static void count_stack(void *aux, const struct ir_stmt *s) {
    struct emit_stacks *const all = aux;
    if (s->kind != IR_EXTRACT || s->headers.n == 0)
        return;
    for (size_t i = 0; i < all->of.n; i++)
        if (all->of.v[i]->headers.n == s->headers.n &&
            all->of.v[i]->headers.v[0] == s->headers.v[0]) {
            all->uses.v[i]++;
            return;
        }
    VEC_PUSH(all->a, &all->of, s);
    VEC_PUSH(all->a, &all->uses, 1u);
}

static struct emit_stacks stacks_of(const struct emit *e) {
    struct emit_stacks all = {.a = e->a};
    for (size_t i = 0; i < e->g->states.n; i++)
        ir_walk(e->g->states.v[i]->body, count_stack, NULL, &all);
    return all;
}

// Whether a function can extract it: nothing of it is in the variables of the parser's.
static bool stack_is_apart(const struct emit *e, const struct ir_stmt *s) {
    if (e->checked)
        return false;
    for (size_t i = 0; i < s->headers.n; i++) {
        const struct ir_header *h = s->headers.v[i];
        if (h->bits != s->headers.v[0]->bits || e->plan->headers[h->id].needs_end ||
            emit_is_given(e, h) || !emit_var_of(e, h->valid)->shared)
            return false;
    }
    return true;
}

static bool stack_has_function(const struct emit *e, const struct ir_stmt *s) {
    const struct emit_stacks *const all = e->stacks;
    for (size_t i = 0; all && i < all->of.n; i++)
        if (all->of.v[i]->headers.v[0] == s->headers.v[0] &&
            all->of.v[i]->headers.n == s->headers.n)
            return all->uses.v[i] >= EMIT_MIN_STACK_USES && stack_is_apart(e, s);
    return false;
}

static void emit_parser_stack_cases(const struct emit *e, const struct ir_stmt *s) {
    for (size_t i = 0; i < s->headers.n; i++) {
        emit_line(e, "case %zu:", i);
        e->to->indent++;
        emit_parser_extract_one(e, s->headers.v[i]);
        emit_line(e, "break;");
        e->to->indent--;
    }
}

static void emit_parser_stack_functions(const struct emit *e) {
    struct emit in = *e;
    in.enough = true;
    for (size_t i = 0; i < e->stacks->of.n; i++) {
        const struct ir_stmt *s = e->stacks->of.v[i];
        if (!stack_has_function(e, s))
            continue;
        emit_line(e, " ");
        emit_open(e,
                  "static __attribute__((noinline)) void %s_extract%u(struct p%u_state *s, "
                  "struct %s_phv *restrict v, uint8_t *p, uint64_t next) {",
                  e->p, s->headers.v[0]->id, e->pipeline_index, e->p);
        emit_open(e, "switch (next) {");
        emit_parser_stack_cases(&in, s);
        emit_close(e, "}");
        emit_close(e, "}");
    }
}

static void emit_parser_extract(const struct emit *e, const struct ir_stmt *s) {
    if (s->headers.n == 0) {
        emit_parser_extract_one(e, s->header);
        return;
    }
    if (stack_has_function(e, s)) {
        const unsigned t = e->to->n_temps++;
        emit_open(e, "{");
        emit_line(e, "const uint64_t next%u = %s;", t, emit_u64(e, s->e));
        emit_open(e, "if (next%u >= %zu) { // past the stack's end", t, s->headers.n);
        emit_line(e, "err |= SK_PARSER_PARTIAL_HDR;");
        emit_line(e, "goto done;");
        emit_close(e, "}");
        if (!e->enough)
            emit_line(e, "SK_NEED(%u);", s->headers.v[0]->bits / 8);
        emit_line(e, "%s_extract%u(s, v, p, next%u);", e->p, s->headers.v[0]->id, t);
        emit_line(e, "p += %u;", s->headers.v[0]->bits / 8);
        emit_close(e, "}");
        return;
    }
    emit_open(e, "switch (%s) {", emit_u64(e, s->e));
    emit_parser_stack_cases(e, s);
    emit_line(e, "default: // past the stack's end");
    emit_line(e, "    err |= SK_PARSER_PARTIAL_HDR;");
    emit_line(e, "    goto done;");
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// Lookahead: the bytes are checked before the statement that looks.

static void need_lookahead(const struct emit *e, const struct ir_stmt *s) {
    unsigned bytes = 0;
    ir_walk_expr(s->e, plan_lookahead_bytes, &bytes);
    ir_walk_expr(s->e2, plan_lookahead_bytes, &bytes);
    ir_walk_expr(s->e3, plan_lookahead_bytes, &bytes);
    for (size_t i = 0; i < s->args.n; i++)
        ir_walk_expr(s->args.v[i], plan_lookahead_bytes, &bytes);
    if (bytes && !e->enough) {
        emit_checked_here(e, s->at, "looking ahead");
        emit_line(e, "SK_NEED(%u);", bytes);
    }
}

// --------------------------------------------------------------------------------------------
// Checksums. "csumN" is the running sum; a residual is completed when the parser is done, because
// header bytes extracted later are subtracted as well (tna-facts 4.8).

// Where the header ends whose field stands last in the expression: C text, or null. Which element
// of a stack that is may be known at run time only.
static const char *emit_parser_end_of(const struct emit *e, const struct ir_expr *x) {
    if (!x)
        return NULL;
    if (x->op == IR_VAR)
        return x->var->header ? emit_text(e, "end_of%u", x->var->header->id) : NULL;
    const char *b = emit_parser_end_of(e, x->b), *c = emit_parser_end_of(e, x->c);
    if (x->op == IR_COND && b && c)
        return emit_text(e, "(%s ? %s : %s)", emit_cond(e, x->a), b, c);
    return c ? c : b ? b : emit_parser_end_of(e, x->a);
}

static void checksum(const struct emit *e, const struct ir_stmt *s) {
    unsigned id = s->checksum->id, t = e->to->n_temps++;
    const char *sum = emit_text(e, "sum%u", t);
    switch (s->kind) {
    case IR_CSUM_ADD:
        emit_checksum_args(e, emit_text(e, "csum%u", id), s);
        break;
    case IR_CSUM_SUBTRACT:
        emit_open(e, "{");
        emit_line(e, "uint64_t %s = 0;", sum);
        emit_checksum_args(e, sum, s);
        // the sum of the words' complements: that of all ones, less that of the words
        emit_line(e, "csum%u = sk_csum_add(csum%u, sk_csum_fold(UINT64_C(0x%llx) - %s));", id, id,
                  (unsigned long long)emit_checksum_most(e, s), sum);
        emit_close(e, "}");
        if (plan_last_part(s))
            emit_line(e, "upto%u = %s;", id, emit_parser_end_of(e, plan_last_part(s)));
        break;
    case IR_CSUM_VERIFY:
        emit_line(e, "%s;",
                  emit_set(e, s->var,
                           emit_text(e, "%s | sk_csum_wrong(csum%u)", emit_ref(e, s->var), id)));
        break;
    default: // IR_CSUM_GET
        if (s->flag)
            emit_line(e, "upto%u = sk_parse_consumed(&walk, p);", id);
        emit_line(e, "got%u = true;", id);
    }
}

static void declare_checksums(const struct emit *e) {
    for (size_t i = 0; i < e->g->headers.n; i++)
        if (e->plan->headers[i].needs_end)
            emit_line(e, "size_t end_of%zu = 0; // %s", i,
                      emit_comment(e, e->g->headers.v[i]->name));
    for (size_t i = 0; i < e->g->checksums.n; i++) {
        emit_line(e, "uint64_t csum%zu = 0; // %s", i, emit_comment(e, e->g->checksums.v[i]->name));
        emit_line(e, "size_t upto%zu = 0;", i);
        emit_line(e, "bool got%zu = false;", i);
    }
}

static void residual(void *aux, const struct ir_stmt *s) {
    const struct emit *e = aux;
    if (s->kind != IR_CSUM_GET)
        return;
    unsigned id = s->checksum->id;
    emit_open(e, "if (got%u) {", id);
    emit_line(e, "const size_t last = used < length ? used : length;");
    emit_line(e, "if (upto%u < last)", id);
    emit_line(e,
              "    csum%u = sk_csum_add(csum%u, sk_csum_fold(sk_csum_subtract_bytes(start + "
              "upto%u, last - upto%u)));",
              id, id, id, id);
    emit_line(e, "%s;", emit_set(e, s->var, emit_text(e, "sk_csum_fold(csum%u)", id)));
    emit_line(e, "got%u = false;", id);
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// Statements.

static void emit_parser_advance(const struct emit *e, const struct ir_stmt *s) {
    emit_checked_here(e, s->at, "advancing");
    if (s->e->op == IR_CONST) {
        uint64_t bytes = big_fits_u64(s->e->value) ? big_to_u64(s->e->value) / 8 : UINT64_MAX;
        if (!e->enough)
            emit_line(e, "SK_NEED(UINT64_C(%llu));", (unsigned long long)bytes);
        emit_line(e, "p += UINT64_C(%llu);", (unsigned long long)bytes);
        return;
    }
    unsigned t = e->to->n_temps++;
    emit_open(e, "{");
    emit_line(e, "const uint64_t n%u = %s / 8;", t, emit_u64(e, s->e));
    emit_line(e, "SK_NEED(n%u);", t);
    emit_line(e, "p += n%u;", t);
    emit_close(e, "}");
}

void emit_parser_stmt(const struct emit *e, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_EXTRACT:
        emit_parser_extract(e, s);
        break;
    case IR_ADVANCE:
        emit_parser_advance(e, s);
        break;
    case IR_RAISE:
        emit_line(e, "err |= 0x%x;", s->lo);
        emit_line(e, "goto done;");
        break;
    case IR_CSUM_ADD:
    case IR_CSUM_SUBTRACT:
    case IR_CSUM_VERIFY:
    case IR_CSUM_GET:
        checksum(e, s);
        break;
    default:
        DIAG_BUG("statement kind %d", (int)s->kind);
    }
}

// A note of lookaheads does not look itself: of bytes that are not there it says that they are not.
void emit_parser_need(const struct emit *e, const struct ir_stmt *s) {
    if (s->kind != IR_NOTE)
        need_lookahead(e, s);
}

// --------------------------------------------------------------------------------------------
// Transitions.

// 'c': the case that was chosen, or null where there are none.
static const char *jump(const struct emit *e, const struct ir_state *st,
                        const struct ir_select_case *c) {
    if (emit_on_path(e))
        return emit_path_jump(e, c);
    const int next = c ? c->next : st->next;
    return emit_trace_jump(e, st, c,
                           next >= 0 ? emit_text(e, "goto state_%d;", next) : "goto done;");
}

static void no_match(const struct emit *e) {
    emit_trace_no_match(e);
    if (emit_on_path(e)) {
        emit_line(e, "goto other;");
        return;
    }
    emit_line(e, "err |= SK_PARSER_NO_MATCH;");
    emit_line(e, "goto done;");
}

static bool simple_select(const struct ir_state *st) {
    if (st->keys.n != 1 || st->keys.v[0]->width > 64)
        return false;
    for (size_t i = 0; i < st->cases.n; i++) {
        const struct ir_select_case *c = &st->cases.v[i];
        if (c->sets.n == 0) // what is after the default case is never reached
            return i + 1 == st->cases.n;
        const struct ir_select_key_set *s = &c->sets.v[0];
        if (s->set || s->high || !s->mask)
            return false;
        unsigned w = st->keys.v[0]->width;
        if (big_to_u64(s->mask) != (w == 64 ? UINT64_MAX : (UINT64_C(1) << w) - 1))
            return false;
        for (size_t k = 0; k < i; k++)
            if (big_cmp(st->cases.v[k].sets.v[0].value, s->value) == 0)
                return false;
    }
    return true;
}

// Cases with values that differ in some bits, and have every value of those, and lead to the same
// place: which of the cases after 'i' that are, by 'like', and the bits. 0: there are too few.
static uint64_t emit_parser_alike(const struct ir_state *st, size_t i, bool *like) {
    const struct ir_select_case *const v = st->cases.v;
    uint64_t all = big_to_u64(v[i].sets.v[0].value), any = all;
    size_t n = 0;
    for (size_t k = 0; k < st->cases.n; k++) {
        like[k] = v[k].sets.n && v[k].next == v[i].next;
        if (!like[k])
            continue;
        all &= big_to_u64(v[k].sets.v[0].value);
        any |= big_to_u64(v[k].sets.v[0].value);
        n++;
    }
    const int bits = __builtin_popcountll(all ^ any);
    return bits > 1 && bits < 16 && n == (size_t)1 << bits ? all ^ any : 0; // values differ
}

// Recirculation ports of all pipes, for one: a comparison in place of a tree of them.
static void select_alike(const struct emit *e, const struct ir_state *st, bool *done) {
    bool *const like = ARENA_ARRAY(e->a, bool, st->cases.n + 1);
    for (size_t i = 0; i < st->cases.n; i++) {
        const struct ir_select_case *c = &st->cases.v[i];
        const uint64_t bits = c->sets.n && !done[i] ? emit_parser_alike(st, i, like) : 0;
        if (!bits || e->checked)
            continue;
        emit_line(e, "if ((%s & ~UINT64_C(0x%llx)) == UINT64_C(0x%llx))",
                  emit_u64(e, st->keys.v[0]), (unsigned long long)bits,
                  (unsigned long long)(big_to_u64(c->sets.v[0].value) & ~bits));
        emit_line(e, "    %s", jump(e, st, c));
        for (size_t k = 0; k < st->cases.n; k++)
            done[k] |= like[k];
    }
}

static void select_switch(const struct emit *e, const struct ir_state *st) {
    bool has_default = false, *const done = ARENA_ARRAY(e->a, bool, st->cases.n + 1);
    select_alike(e, st, done);
    emit_open(e, "switch (%s) {", emit_expr(e, st->keys.v[0]));
    for (size_t i = 0; i < st->cases.n; i++) {
        const struct ir_select_case *c = &st->cases.v[i];
        if (done[i])
            continue;
        has_default |= c->sets.n == 0;
        if (c->sets.n)
            emit_line(e, "case %s:", emit_const(e, c->sets.v[0].value, st->keys.v[0]->width));
        else
            emit_line(e, "default:");
        emit_line(e, "    %s", jump(e, st, c));
    }
    if (!has_default) {
        emit_line(e, "default:");
        e->to->indent++;
        no_match(e);
        e->to->indent--;
    }
    emit_close(e, "}");
}

static const char *emit_parser_conjunction(const struct emit *e, const char *a, const char *b) {
    return *a ? emit_text(e, "%s && %s", a, b) : b;
}

// Keys first .. first + n - 1 looked up in a value set.
static const char *in_value_set(const struct emit *e, const struct ir_state *st, size_t first,
                                const struct ir_value_set *vs) {
    const char *words = "";
    for (size_t i = 0; i < vs->widths.n && first + i < st->keys.n; i++) {
        unsigned width = st->keys.v[first + i]->width;
        for (unsigned w = 0; w < (width + 63) / 64; w++) {
            const char *comma = *words ? ", " : "";
            if (plan_is_wide(width))
                words = emit_text(e, "%s%sk%zu[%u]", words, comma, first + i, w);
            else
                words = emit_text(e, "%s%s(uint64_t)(k%zu%s)", words, comma, first + i,
                                  w ? " >> 64" : "");
        }
    }
    return emit_text(e, "sk_value_set_has(s->%c_value_set%u, v->parser, (const uint64_t[]){%s})",
                     e->p[2], vs->id, words);
}

static const char *wide_key_in_set(const struct emit *e, const struct ir_select_key_set *s,
                                   size_t k, unsigned width) {
    const char *value = emit_wide_const(e, s->value, width);
    if (s->high)
        return emit_text(e, "!sk_wide_ult(k%zu, %s, %u) && !sk_wide_ult(%s, k%zu, %u)", k, value,
                         width, emit_wide_const(e, s->high, width), k, width);
    if (!s->mask)
        return emit_text(e, "sk_wide_eq(k%zu, %s, %u)", k, value, width);
    return emit_text(e, "sk_wide_eq(sk_wide_and((uint64_t[%u]){0}, k%zu, %s, %u), %s, %u)",
                     (width + 63) / 64, k, emit_wide_const(e, s->mask, width), width,
                     emit_wide_const(e, big_and(e->a, s->value, s->mask), width), width);
}

static const char *key_in_set(const struct emit *e, const struct ir_select_key_set *s, size_t k,
                              unsigned width) {
    if (s->mask && !s->high && big_sign(s->mask) == 0)
        return "";
    if (plan_is_wide(width))
        return wide_key_in_set(e, s, k, width);
    if (s->high)
        return emit_text(e, "k%zu >= %s && k%zu <= %s", k, emit_const(e, s->value, width), k,
                         emit_const(e, s->high, width));
    if (!s->mask)
        return emit_text(e, "k%zu == %s", k, emit_const(e, s->value, width));
    return emit_text(e, "(k%zu & %s) == %s", k, emit_const(e, s->mask, width),
                     emit_const(e, big_and(e->a, s->value, s->mask), width));
}

// By key: what of it may be compared with others as one word.
static struct emit_key_test *key_tests(const struct emit *e, const struct ir_state *st,
                                       const struct ir_select_case *c,
                                       const struct emit_key_words *words) {
    struct emit_key_test *tests = ARENA_ARRAY(e->a, struct emit_key_test, st->keys.n + 1);
    for (size_t k = 0; k < c->sets.n; k++) {
        const struct ir_select_key_set *s = &c->sets.v[k];
        if (s->set)
            k += s->set->widths.n ? s->set->widths.n - 1 : 0;
        else if (words->of[k] >= 0)
            tests[k] = emit_key_test_of(st->keys.v[k]->width, s->value, s->mask, s->high);
    }
    return tests;
}

static void emit_parser_select_case(const struct emit *e, const struct ir_state *st,
                                    const struct ir_select_case *c,
                                    const struct emit_key_words *words) {
    const struct emit_key_test *tests = key_tests(e, st, c, words);
    const char *cond = emit_key_word_tests(e, words, tests);
    for (size_t k = 0; k < c->sets.n; k++) {
        const struct ir_select_key_set *s = &c->sets.v[k];
        const char *one;
        if (s->set) {
            one = in_value_set(e, st, k, s->set);
            k += s->set->widths.n ? s->set->widths.n - 1 : 0;
        } else if (tests[k].wanted) {
            continue;
        } else {
            one = key_in_set(e, s, k, st->keys.v[k]->width);
        }
        cond = *one ? emit_parser_conjunction(e, cond, one) : cond;
    }
    if (*cond)
        emit_line(e, "if (%s)", cond);
    emit_line(e, "%s%s", *cond ? "    " : "", jump(e, st, c));
}

void emit_transition(const struct emit *e, const struct ir_state *st) {
    if (st->keys.n == 0) {
        emit_line(e, "%s", jump(e, st, NULL));
        return;
    }
    unsigned bytes = 0;
    for (size_t i = 0; i < st->keys.n; i++)
        ir_walk_expr(st->keys.v[i], plan_lookahead_bytes, &bytes);
    if (bytes && !e->enough) {
        emit_checked_here(e, st->at, "looking ahead");
        emit_line(e, "SK_NEED(%u);", bytes);
    }
    if (simple_select(st)) {
        select_switch(e, st);
        return;
    }
    emit_open(e, "{");
    for (size_t i = 0; i < st->keys.n; i++) {
        const struct ir_expr *key = st->keys.v[i];
        if (plan_is_wide(key->width))
            emit_line(e, "const uint64_t *const k%zu = %s;", i, emit_wide(e, key));
        else
            emit_line(e, "const %s k%zu = %s;", emit_ctype(key->width), i, emit_expr(e, key));
    }
    const struct emit_key_words words =
        emit_key_words_of(e, (const struct ir_expr *const *)st->keys.v, st->keys.n);
    emit_key_word_locals(e, &words);
    for (size_t i = 0; i < st->cases.n; i++)
        emit_parser_select_case(e, st, &st->cases.v[i], &words);
    no_match(e);
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// The function.

static void extracts(const struct emit *e, const struct ir_block *b, size_t n, bool enough) {
    struct emit in = *e;
    in.enough = enough;
    for (size_t i = 0; i < n; i++)
        emit_stmt(&in, b->stmts.v[i]);
}

// A state's first statements, when they are several extracts, and notes: the packet's length is
// compared with their sum, and one by one only when it does not suffice. Returns the statements
// after them.
static struct ir_block after_extracts(const struct emit *e, const struct ir_block *b) {
    size_t n = 0, found = 0, bytes = 0;
    for (size_t i = 0; !e->checked && b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        if (s->kind == IR_NOTE)
            continue;
        if (s->kind != IR_EXTRACT || s->headers.n)
            break;
        bytes += s->header->bits / 8;
        found++;
        n = i + 1;
    }
    struct ir_block rest = b ? *b : (struct ir_block){0};
    if (found < 2)
        return rest;
    emit_open(e, "if (__builtin_expect((size_t)(end - p) >= %zu, 1)) {", bytes);
    extracts(e, b, n, true);
    emit_close(e, "} else {");
    e->to->indent++;
    extracts(e, b, n, false);
    emit_close(e, "}");
    rest.stmts.v += n;
    rest.stmts.n -= n;
    return rest;
}

static void emit_parser_state(const struct emit *e, const struct ir_state *st, bool counted) {
    emit_line(e, " ");
    emit_line(e, "state_%u:; // %s", st->id, emit_comment(e, st->name));
    if (counted) {
        emit_open(e, "if (++n_states > SK_PARSER_MAX_STATES) {");
        emit_checked_too_long(e, st);
        emit_line(e, "err |= SK_PARSER_TIMEOUT;");
        emit_line(e, "goto done;");
        emit_close(e, "}");
    }
    struct emit in = *e;
    in.at = st->at;
    const struct ir_block rest = after_extracts(&in, st->body);
    emit_block(&in, &rest);
    emit_transition(&in, st);
}

void emit_parser(const struct emit *e) {
    const struct ir_gress *g = e->g;
    struct emit in = emit_of_user(e, &g->states);
    in.in_parser = true;
    bool loops = ir_parser_loops(e->a, e->g);
    const struct emit_stacks stacks = stacks_of(e);
    in.stacks = &stacks;
    emit_parser_stack_functions(&in);
    emit_line(e, " ");
    emit_open(
        e,
        "static inline uint32_t %s_parse(struct p%u_state *s, struct %s_phv *restrict v, "
        "const uint8_t *frame, uint8_t *p, const uint8_t *end, uint8_t *tail, size_t *consumed) {",
        e->p, e->pipeline_index, e->p);
    emit_line(e, "const uint8_t *const start = p;");
    emit_line(e, "const size_t length = (size_t)(end - p);");
    emit_line(e,
              "struct sk_parse walk = {.frame = frame, .base = p, .tail = tail, .tail_bytes = %u};",
              plan_tail_bytes(e->plan));
    emit_line(e, "uint32_t err = SK_PARSER_OK;");
    emit_checked_parser(e);
    if (loops)
        emit_line(e, "uint32_t n_states = 0;");
    declare_checksums(e);
    emit_line(e, g->states.n ? "goto state_0;" : "goto done;");
    for (size_t i = 0; i < g->states.n; i++)
        emit_parser_state(&in, g->states.v[i], loops);
    emit_line(e, " ");
    emit_line(e, "done:;");
    emit_line(e, "const size_t used = sk_parse_consumed(&walk, p);");
    for (size_t i = 0; i < g->states.n; i++)
        ir_walk(g->states.v[i]->body, residual, NULL, &in);
    emit_line(e, "*consumed = used < length ? used : length;");
    emit_line(e, "return err;");
    emit_close(e, "}");
}
