// SPDX-License-Identifier: Apache-2.0
//
// p4_mutator: see p4_mutator.h. The text is cut into spans (words, numbers, strings, marks); a
// change replaces the bytes of some spans by other bytes.
#include "harness/compiler/p4_mutator.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MAX_SPANS 16384u

struct span {
    uint32_t from, to;
};

struct text {
    const uint8_t *bytes;
    size_t size;
    struct span spans[MAX_SPANS];
    size_t n;
};

static const char *const words[] = {
    "abstract",
    "action",
    "actions",
    "apply",
    "bit<8>",
    "bool",
    "break",
    "const",
    "control",
    "continue",
    "default",
    "else",
    "entries",
    "enum",
    "error",
    "exit",
    "extern",
    "false",
    "for",
    "header",
    "if",
    "header_union",
    "in",
    "inout",
    "int",
    "int<8>",
    "key",
    "list",
    "match_kind",
    "out",
    "package",
    "parser",
    "return",
    "priority",
    "select",
    "size",
    "state",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "tuple",
    "type",
    "typedef",
    "value_set",
    "varbit<32>",
    "void",
    "_",
    "...",
    "{#}",
    "accept",
    "reject",
    "default_action",
    "exact",
    "ternary",
    "lpm",
    "range",
    "isValid()",
    "setValid()",
    "push_front(1)",
    "next",
    "last",
    "lastIndex",
    "+:",
    "&&&",
    "..",
    "++",
    "|+|",
    "|-|",
    "<<",
    ">>",
    "+=",
    "|+|=",
    "@optional",
    "@name(\"x\")",
    "maxSizeInBits()",
    "(bit<4>)",
    "(int<33>)",
    "(bool)",
    "[3:0]",
    "[0]",
};
static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "127",
    "128",
    "129",
    "255",
    "512",
    "1024",
    "4095",
    "4096",
    "4097",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "1w1",
    "8w255",
    "32w0xffffffff",
    "4s7",
    "64w1",
    "128w1",
    "2048w1",
    "18446744073709551616",
    "0x8000000000000000",
};

// xorshift: the same seed makes the same change
static uint32_t draw(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}
static size_t below(uint32_t *state, size_t n) {
    return n ? draw(state) % n : 0;
}

static bool is_word(int c) {
    return isalnum(c) || c == '_';
}

static size_t span_end(const uint8_t *b, size_t i, size_t n) {
    size_t k = i + 1;
    if (is_word(b[i])) {
        while (k < n && is_word(b[k]))
            k++;
    } else if (b[i] == '"') {
        while (k < n && b[k] != '"' && b[k] != '\n')
            k++;
        k += k < n;
    } else if (ispunct(b[i]) && !strchr("(){}[];,.@", b[i])) {
        while (k < n && k < i + 3 && ispunct(b[k]) && !strchr("(){}[];,.@\"", b[k]))
            k++;
    }
    return k;
}

static void cut(struct text *t, const uint8_t *bytes, size_t size) {
    size_t i = 0;
    t->bytes = bytes;
    t->size = size;
    t->n = 0;
    if (size && bytes[0] == '#')
        while (i < size && bytes[i] != '\n')
            i++;
    while (i < size && t->n < MAX_SPANS) {
        if (isspace(bytes[i])) {
            i++;
            continue;
        }
        size_t end = span_end(bytes, i, size);
        t->spans[t->n++] = (struct span){(uint32_t)i, (uint32_t)end};
        i = end;
    }
}

static int closing(int c) {
    return c == '(' ? ')' : c == '{' ? '}' : c == '[' ? ']' : c == '<' ? '>' : 0;
}

// The spans [first, *last] of a group that begins at or near 'first': a bracketed one, or up to the
// next ';' or '}' at the same level.
static size_t group_end(const struct text *t, size_t first) {
    int close = closing(t->bytes[t->spans[first].from]);
    int depth = 0;
    for (size_t i = first; i < t->n; i++) {
        int c = t->bytes[t->spans[i].from];
        if (c == '(' || c == '{' || c == '[')
            depth++;
        if (c == ')' || c == '}' || c == ']')
            depth--;
        bool done = close ? (close == '>' ? c == '>' && depth == 0 : depth == 0)
                          : depth <= 0 && (c == ';' || c == '}' || c == ',');
        if (done || depth < 0)
            return depth < 0 && i > first ? i - 1 : i;
    }
    return t->n - 1;
}

static struct span group_at(const struct text *t, size_t i) {
    return (struct span){t->spans[i].from, t->spans[group_end(t, i)].to};
}

// Replaces [at.from, at.to) by n bytes; the old size when there is no room.
static size_t put(uint8_t *data, size_t size, size_t max, struct span at, const void *bytes,
                  size_t n) {
    size_t old = at.to - at.from;
    if (size - old + n + 2 > max)
        return size;
    bool before = n && at.from && is_word(data[at.from - 1]);
    bool after = n && at.to < size && is_word(data[at.to]);
    size_t total = n + before + after;
    memmove(data + at.from + total, data + at.to, size - at.to);
    uint8_t *to = data + at.from;
    if (before)
        *to++ = ' ';
    memcpy(to, bytes, n);
    if (after)
        to[n] = ' ';
    return size - old + total;
}

static size_t change_once(uint8_t *data, size_t size, size_t max, uint32_t *rng) {
    static struct text t;
    static uint8_t piece[65536];
    cut(&t, data, size);
    if (t.n == 0)
        return put(data, size, max, (struct span){0, 0}, "control", 7);
    size_t i = below(rng, t.n), k = below(rng, t.n);
    struct span at = t.spans[i], from = t.spans[k];
    struct span nothing = {at.from, at.from};
    const char *word;
    switch (below(rng, 10)) {
    case 0: // a word less
        return put(data, size, max, at, "", 0);
    case 1: // a group less
        return put(data, size, max, group_at(&t, i), "", 0);
    case 2: // a word of the language instead, or more
        word = words[below(rng, sizeof words / sizeof *words)];
        return put(data, size, max, below(rng, 2) ? at : nothing, word, strlen(word));
    case 3: // a number instead of a number
        word = numbers[below(rng, sizeof numbers / sizeof *numbers)];
        for (size_t n = 0; n < t.n && !isdigit(data[t.spans[i].from]); n++)
            i = (i + 1) % t.n;
        return put(data, size, max, t.spans[i], word, strlen(word));
    case 4: // a group of the program more, or instead of another
        from = group_at(&t, k);
        at = below(rng, 2) ? group_at(&t, i) : nothing;
        break;
    case 5: // a statement again, behind itself
        from = group_at(&t, i);
        at = (struct span){from.to, from.to};
        break;
    default: // a word of the program instead of another: same kind of word, mostly
        for (size_t n = 0; n < 64 && isalpha(data[at.from]) != isalpha(data[from.from]); n++)
            from = t.spans[below(rng, t.n)];
        break;
    }
    size_t n = from.to - from.from;
    if (n > sizeof piece)
        return size;
    memcpy(piece, data + from.from, n);
    return put(data, size, max, at, piece, n);
}

size_t p4_mutate(uint8_t *data, size_t size, size_t max, unsigned seed) {
    uint32_t rng = seed * 2654435761u + 1;
    draw(&rng);
    for (size_t n = 1 + below(&rng, 3); n-- > 0;)
        size = change_once(data, size, max, &rng);
    return size;
}

size_t p4_cross(const uint8_t *x, size_t nx, const uint8_t *y, size_t ny, uint8_t *out, size_t max,
                unsigned seed) {
    static struct text tx, ty;
    uint32_t rng = seed * 2654435761u + 1;
    draw(&rng);
    if (nx > max)
        nx = max;
    memcpy(out, x, nx);
    cut(&tx, out, nx);
    cut(&ty, y, ny);
    if (tx.n == 0 || ty.n == 0)
        return nx;
    struct span from = group_at(&ty, below(&rng, ty.n));
    size_t i = below(&rng, tx.n);
    struct span at =
        below(&rng, 2) ? group_at(&tx, i) : (struct span){tx.spans[i].from, tx.spans[i].from};
    return put(out, nx, max, at, y + from.from, from.to - from.from);
}
