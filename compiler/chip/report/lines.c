// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/report/lines.h"

#include <string.h>

#define GAP 2u

static bool is_ink(char c) {
    return (c >= 1 && c <= 6) || c == 14;
}

static bool is_tail(char c) { // of a UTF-8 sequence
    return ((unsigned char)c & 0xc0) == 0x80;
}

const char *lines_clean(struct arena *a, const char *text) {
    char *copy = arena_strdup(a, text);
    for (char *p = copy; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        // C1 controls are two bytes in UTF-8, the second of which is below 0xa0
        if (c < ' ' || c == 0x7f || (c == 0xc2 && (unsigned char)p[1] < 0xa0))
            *p = '?';
        else if (c >= 0x80 && c < 0xa0 && p > copy && p[-1] == '?')
            *p = '?';
    }
    return copy;
}

#define TIED '\037' // a blank at which no line is broken

const char *lines_tied(struct arena *a, const char *text) {
    char *copy = arena_strdup(a, text);
    for (char *p = copy; *p; p++)
        if (*p == ' ')
            *p = TIED;
    return copy;
}

static void set_ink(struct lines *l, char ink) {
    static const char *const codes[] = {
        [1] = "\033[0m",    [2] = "\033[1m",  [3] = "\033[2m",    [4] = "\033[1;32m",
        [5] = "\033[1;31m", [6] = "\033[33m", [14] = "\033[1;36m"};
    if (l->colour)
        fputs(codes[(unsigned char)ink], l->out);
}

static void put_marked(struct lines *l, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_ink(text[i]))
            set_ink(l, text[i]);
        else
            fputc(text[i] == TIED ? ' ' : text[i], l->out);
}

void lines_put(struct lines *l, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *text = arena_vprintf(l->a, format, ap);
    va_end(ap);
    put_marked(l, text, strlen(text));
}

static unsigned chip_lines_columns(const char *text, size_t n) {
    unsigned columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += !is_ink(text[i]) && !is_tail(text[i]);
    return columns;
}

unsigned lines_columns(const char *text) {
    return chip_lines_columns(text, strlen(text));
}

// Bytes of 'text' that make a line of 'width' columns: up to the last blank that fits; or, of a
// longer word, up to the last dot or underscore in the second half of the line, or what fits of it.
static size_t chip_lines_of(const char *text, unsigned width) {
    size_t n = 0, blank = 0, joint = 0;
    unsigned used = 0;
    for (; text[n]; n++) {
        if (is_ink(text[n]) || is_tail(text[n]))
            continue;
        if (text[n] == ' ' && used)
            blank = n;
        if (used == width)
            return text[n] == ' ' ? n : blank ? blank : joint ? joint : n;
        used++;
        if ((text[n] == '.' || text[n] == '_') && used > width / 2)
            joint = n + 1;
    }
    return n;
}

// What is left of a text, and its colour there.
struct rest {
    const char *text;
    char ink;
};

static void chip_lines_put(struct lines *l, struct rest *r, unsigned width, bool pad) {
    const size_t n = chip_lines_of(r->text, width);
    if (r->ink > 1)
        set_ink(l, r->ink);
    put_marked(l, r->text, n);
    for (size_t i = 0; i < n; i++)
        if (is_ink(r->text[i]))
            r->ink = r->text[i];
    if (r->ink > 1)
        set_ink(l, 1);
    if (pad)
        fprintf(l->out, "%*s", (int)(width - chip_lines_columns(r->text, n)), "");
    r->text += n;
    while (*r->text == ' ')
        r->text++;
}

void lines_row(struct lines *l, unsigned indent, struct lines_cell *cells, size_t n) {
    struct rest rest[8] = {{0}};
    unsigned left = indent;
    bool more = true;
    for (size_t i = 0; i < n; i++) {
        rest[i] = (struct rest){cells[i].text, 1};
        if (!cells[i].width)
            cells[i].width = l->width > left + 8 ? l->width - left : 8;
        left += cells[i].width + GAP;
    }
    for (bool first = true; first || more; first = false) {
        more = false;
        size_t last = 0;
        for (size_t i = 0; i < n; i++)
            if (*rest[i].text)
                last = i;
        if (!first && !*rest[last].text)
            break;
        fprintf(l->out, "%*s", (int)indent, "");
        for (size_t i = 0; i <= last; i++) {
            chip_lines_put(l, &rest[i], cells[i].width, i < last);
            if (i < last)
                fprintf(l->out, "%*s", (int)GAP, "");
            more |= *rest[i].text != '\0';
        }
        fputc('\n', l->out);
    }
}

void lines_paragraph(struct lines *l, unsigned indent, unsigned deeper, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    struct rest r = {arena_vprintf(l->a, format, ap), 1};
    va_end(ap);
    for (unsigned in = indent; *r.text; in = indent + deeper) {
        fprintf(l->out, "%*s", (int)in, "");
        chip_lines_put(l, &r, l->width > in + 8 ? l->width - in : 8, false);
        fputc('\n', l->out);
    }
}
