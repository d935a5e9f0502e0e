// SPDX-License-Identifier: Apache-2.0
#include "cli/top/top.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"

static void top_page_append(struct top_page *p, const char *bytes, size_t n) {
    if (p->height && p->n_lines >= p->height)
        return;
    p->bytes = sk_grow_bytes(p->bytes, p->n, n + 1, &p->room);
    memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
    p->bytes[p->n] = 0;
}

void top_page_free(struct top_page *p) {
    free(p->bytes);
    p->bytes = NULL;
    p->n = p->room = 0;
}

// ---- characters ----

// The character at the start of 'text' and how many bytes it has; what is no UTF-8 is one byte,
// U+FFFD.
static uint32_t decode(const char *text, size_t *bytes) {
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const size_t more = s[0] < 0x80   ? 0
                        : s[0] < 0xc2 ? 4
                        : s[0] < 0xe0 ? 1
                        : s[0] < 0xf0 ? 2
                        : s[0] < 0xf5 ? 3
                                      : 4;
    *bytes = 1;
    if (more == 4)
        return 0xfffd;
    uint32_t c = more == 0 ? s[0] : s[0] & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0xfffd;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0xfffd;
    *bytes = more + 1;
    return c;
}

// Columns, from the system's table of characters; -1: it must not be printed.
static int top_page_columns_of(uint32_t c) {
    static locale_t unicode;
    if (c < 0x80)
        return c < 0x20 || c == 0x7f ? -1 : 1;
    if (!unicode)
        unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    if (!unicode)
        return -1;
    locale_t before = uselocale(unicode);
    int n = wcwidth((wchar_t)c);
    uselocale(before);
    return n;
}

// As it goes to the terminal: its bytes (or a '?') and columns.
struct glyph {
    const char *bytes;
    size_t n;
    unsigned columns;
};
static struct glyph glyph_at(const struct top_page *p, const char *text, size_t *taken) {
    uint32_t c = decode(text, taken);
    int columns = top_page_columns_of(c);
    if (columns < 0 || c == 0xfffd || (c >= 0x80 && !p->utf8))
        return (struct glyph){"?", 1, 1};
    return (struct glyph){text, *taken, (unsigned)columns};
}

unsigned top_width(const struct top_page *p, const char *text) {
    unsigned n = 0;
    for (size_t taken; *text; text += taken)
        n += glyph_at(p, text, &taken).columns;
    return n;
}

// ---- text ----

static const char *const colours[] = {"", "\033[1m", "\033[32m", "\033[33m", "\033[31m", "\033[2m"};

static void put_within(struct top_page *p, const char *text, unsigned room) {
    const bool cut = top_width(p, text) > room;
    const unsigned last = cut && room > 0 ? room - 1 : room;
    unsigned used = 0;
    for (size_t taken; *text; text += taken) {
        struct glyph g = glyph_at(p, text, &taken);
        if (used + g.columns > last)
            break;
        top_page_append(p, g.bytes, g.n);
        used += g.columns;
    }
    if (cut && room > 0) {
        top_page_append(p, p->utf8 ? "\u2026" : "~", p->utf8 ? strlen("\u2026") : 1);
        used++;
    }
    p->column += used;
}

static unsigned top_page_rest(const struct top_page *p) {
    return p->column < p->width ? p->width - p->column : 0;
}

static void begin_colour(struct top_page *p, enum top_colour c) {
    if (p->colour && c != TOP_PLAIN)
        top_page_append(p, colours[c], strlen(colours[c]));
}
static void end_colour(struct top_page *p, enum top_colour c) {
    if (p->colour && c != TOP_PLAIN)
        top_page_append(p, "\033[0m", 4);
}

void top_put(struct top_page *p, enum top_colour c, const char *text) {
    begin_colour(p, c);
    put_within(p, text, top_page_rest(p));
    end_colour(p, c);
}

static void pad(struct top_page *p, unsigned n) {
    for (n = n < top_page_rest(p) ? n : top_page_rest(p); n > 0; n--, p->column++)
        top_page_append(p, " ", 1);
}

void top_flow(struct top_page *p, enum top_colour c, unsigned indent, const char *text) {
    while (*text) {
        const size_t blanks = strspn(text, " "), n = blanks + strcspn(text + blanks, " ");
        char *word = strndup(text, n);
        if (!word)
            abort();
        text += n;
        const bool next_line = top_width(p, word) > top_page_rest(p) && p->column > indent;
        if (next_line) {
            top_line(p);
            pad(p, indent);
        }
        top_put(p, c, next_line ? word + blanks : word);
        free(word);
    }
}

void top_group(struct top_page *p, enum top_colour c, const char *text) {
    if (p->column > 0 && top_width(p, text) > top_page_rest(p)) {
        top_line(p);
        text += strspn(text, " ");
    }
    top_put(p, c, text);
}

void top_cell(struct top_page *p, enum top_colour c, int width, const char *text) {
    unsigned want = (unsigned)abs(width), room = want < top_page_rest(p) ? want : top_page_rest(p);
    unsigned has = top_width(p, text);
    has = has < room ? has : room;
    if (width > 0)
        pad(p, room - has);
    const unsigned from = p->column;
    begin_colour(p, c);
    put_within(p, text, has);
    end_colour(p, c);
    pad(p, from + has - p->column); // a wide character that did not fit
    if (width < 0)
        pad(p, room - has);
}

void top_line(struct top_page *p) {
    top_page_append(p, "\n", 1);
    p->n_lines++;
    p->column = 0;
}

const char *top_number(double v, char out[TOP_NUMBER]) {
    static const char units[] = " kMGTPE";
    size_t unit = 0;
    while (v >= 999.5 && units[unit + 1]) {
        v /= 1000;
        unit++;
    }
    const int digits = unit == 0 ? (v > 0 && v < 9.95 ? 1 : 0) : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
    snprintf(out, TOP_NUMBER, "%.*f%.1s", digits, v, unit ? &units[unit] : "");
    return out;
}
