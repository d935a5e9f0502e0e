// SPDX-License-Identifier: Apache-2.0
//
// selector_bits: what it promises is in selector_bits.h.
#include "stages/selector_bits.h"

#include <string.h>

#define LINE_BITS       128u
#define LINE_MEMBERS    120u
#define FEWEST_PER_LINE 65u // of a group of several lines
#define RAM_LINES_LOG2  10u // a block of lines is at most this large
#define MOST_SHARES     5u  // bits of the number of lines that the chip can divide by

static unsigned log2_up(uint32_t n) {
    unsigned l = 0;
    while ((UINT32_C(1) << l) < n)
        l++;
    return l;
}

// ---- lines --------------------------------------------------------------------------------------

struct shape {
    uint32_t lines, per_line;
};

static struct shape shape_of(uint32_t max_size) {
    struct shape s = {.lines = max_size ? (max_size - 1) / LINE_MEMBERS + 1 : 1};
    unsigned log2 = log2_up(s.lines);
    if (log2 > MOST_SHARES)
        s.lines = (((s.lines - 1) >> (log2 - MOST_SHARES)) + 1) << (log2 - MOST_SHARES);
    s.per_line = max_size ? (max_size - 1) / s.lines + 1 : 1;
    if (s.lines > 1 && s.per_line < FEWEST_PER_LINE)
        s.per_line = FEWEST_PER_LINE;
    return s;
}

// The block of free lines that starts at 'at', in front of 'end'.
static unsigned block_log2(uint32_t at, uint32_t end) {
    unsigned aligned = at ? (unsigned)__builtin_ctz(at) : RAM_LINES_LOG2;
    unsigned rest = log2_up(end - at);
    unsigned log2 = aligned < rest ? aligned : rest;
    return log2 < RAM_LINES_LOG2 ? log2 : RAM_LINES_LOG2;
}

struct block {
    unsigned log2;
    uint32_t at, n;
};

// The better of 'best' and the blocks between 'at' and 'end', which is all free.
static void best_block(struct block *best, uint32_t at, uint32_t end, uint32_t lines) {
    unsigned least = log2_up(lines);
    while (at < end) {
        struct block b = {.log2 = block_log2(at, end), .at = at};
        b.n = end - at < (UINT32_C(1) << b.log2) ? end - at : UINT32_C(1) << b.log2;
        if (b.n >= lines && b.log2 >= least && (best->n == 0 || b.log2 < best->log2))
            *best = b;
        at += b.n;
    }
}

static bool take_lines(struct sk_selector_bits *m, uint32_t lines, uint32_t *first) {
    struct block b = {0};
    for (uint32_t at = 0; at < m->n_lines;) {
        const uint8_t *next = memchr(m->used + at, 0, m->n_lines - at);
        if (!next)
            break;
        uint32_t from = (uint32_t)(next - m->used);
        const uint8_t *taken = memchr(next, 1, m->n_lines - from);
        at = taken ? (uint32_t)(taken - m->used) : m->n_lines;
        best_block(&b, from, at, lines);
    }
    if (b.n == 0)
        return false;
    uint32_t step = UINT32_C(1) << log2_up(lines);
    *first = (b.at + b.n - 1) & ~(step - 1);
    if (*first + lines > b.at + b.n)
        *first -= step;
    memset(m->used + *first, 1, lines);
    return true;
}

// ---- places -------------------------------------------------------------------------------------

static uint32_t selector_bits_index_of(const struct sk_group *g, uint32_t place) {
    struct shape s = shape_of(g->max_size);
    return (g->line + place / s.per_line) * LINE_BITS + place % s.per_line;
}

static uint32_t count_of(const struct sk_group *g, uint32_t member) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n; i++)
        n += g->members[i].member == member;
    return n;
}

static bool selector_bits_stays(const struct sk_group *g, const struct sk_group *old) {
    if (!old)
        return false;
    struct shape a = shape_of(g->max_size), b = shape_of(old->max_size);
    return a.lines == b.lines && (a.lines == 1 || a.per_line == b.per_line);
}

// Who is at which place of a line while a group changes.
struct places {
    uint32_t member[2 * LINE_MEMBERS]; // n
    uint32_t n;
};

static uint32_t count_at(const struct places *p, uint32_t member) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        n += p->member[i] == member;
    return n;
}

// Those who leave, the smallest id first: the member at the last place takes the place.
static void remove_members(struct places *p, const struct sk_group *g) {
    for (;;) {
        uint32_t who = 0, at = p->n;
        for (uint32_t i = 0; i < p->n; i++)
            if ((at == p->n || p->member[i] < who) &&
                count_at(p, p->member[i]) > count_of(g, p->member[i])) {
                who = p->member[i];
                at = i;
            }
        if (at == p->n)
            return;
        p->member[at] = p->member[--p->n];
    }
}

static void selector_bits_add_members(struct places *p, const struct sk_group *g) {
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t who = g->members[i].member;
        for (uint32_t k = count_at(p, who); k < count_of(g, who); k++)
            p->member[p->n++] = who;
    }
}

// A member that is listed several times has its places in the order of the list.
static void set_places(struct sk_group *g, const struct places *p) {
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t before = 0, at = 0;
        for (uint32_t k = 0; k < i; k++)
            before += g->members[k].member == g->members[i].member;
        while (p->member[at] != g->members[i].member || before-- > 0)
            at++;
        g->place[i] = at;
        g->index[i] = selector_bits_index_of(g, at);
    }
}

// In one line; what is left of the old order is kept.
static void place_in_line(struct sk_group *g, const struct sk_group *old) {
    struct places p = {.n = old ? old->n : 0};
    for (uint32_t i = 0; i < p.n; i++)
        p.member[old->place[i]] = old->members[i].member;
    remove_members(&p, g);
    selector_bits_add_members(&p, g);
    set_places(g, &p);
}

bool sk_bits_place(struct sk_selector_bits *b, struct sk_group *g, const struct sk_group *old) {
    bool keep = selector_bits_stays(g, old);
    if (!keep && !take_lines(b, shape_of(g->max_size).lines, &g->line))
        return false;
    if (keep)
        g->line = old->line;
    if (shape_of(g->max_size).lines == 1) {
        place_in_line(g, keep ? old : NULL);
        return true;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        g->place[i] = i;
        g->index[i] = selector_bits_index_of(g, i);
    }
    return true;
}

static void free_lines(struct sk_selector_bits *b, const struct sk_group *g) {
    memset(b->used + g->line, 0, shape_of(g->max_size).lines);
}

void sk_bits_unplace(struct sk_selector_bits *b, const struct sk_group *g,
                     const struct sk_group *old) {
    if (!selector_bits_stays(g, old))
        free_lines(b, g);
}

// ---- the memory ---------------------------------------------------------------------------------

static void set_bit(const struct sk_selector_bits *b, uint32_t index, bool up) {
    b->cells[index * b->stride] = up;
}

// The number in g's list of the member whose bit that is; g->n when it is nobody's.
static uint32_t at_index(const struct sk_group *g, uint32_t index) {
    struct shape s = shape_of(g->max_size);
    uint32_t line = index / LINE_BITS - g->line, i = 0;
    if (index / LINE_BITS < g->line || line >= s.lines)
        return g->n;
    if (s.lines > 1) {
        i = index % LINE_BITS < s.per_line ? line * s.per_line + index % LINE_BITS : g->n;
        return i < g->n ? i : g->n;
    }
    while (i < g->n && g->index[i] != index)
        i++;
    return i;
}

// Has 'old' the same member there, with the same status?
static bool is_as_before(const struct sk_group *g, uint32_t i, const struct sk_group *old) {
    uint32_t k = old ? at_index(old, g->index[i]) : 0;
    return old && k < old->n && old->members[k].member == g->members[i].member &&
           old->members[k].up == g->members[i].up;
}

void sk_bits_write(struct sk_selector_bits *b, const struct sk_group *g,
                   const struct sk_group *old) {
    for (uint32_t i = 0; g && i < g->n; i++)
        if (!is_as_before(g, i, old))
            set_bit(b, g->index[i], g->members[i].up);
    for (uint32_t i = 0; old && i < old->n; i++)
        if (!g || at_index(g, old->index[i]) == g->n)
            set_bit(b, old->index[i], false);
    if (old && (!g || !selector_bits_stays(g, old)))
        free_lines(b, old);
}
