// SPDX-License-Identifier: Apache-2.0
//
// page: lines of a given width. A line that is too long goes on in the next one, deeper than it
// began.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/explain/explain_impl.h"

#define DEEPER 4u

static void spaces(struct page *p, unsigned n) {
    fprintf(p->out, "%*s", (int)n, "");
    p->column += n;
}

static void ink(struct page *p, enum ink ink, const char *text, size_t n) {
    static const char *const codes[] = {"",         "\033[1m",  "\033[2m", "\033[36m",
                                        "\033[32m", "\033[31m", "\033[33m"};
    bool coloured = p->colour && ink != INK_PLAIN;
    fprintf(p->out, "%s%.*s%s", coloured ? codes[ink] : "", (int)n, text,
            coloured ? "\033[0m" : "");
    p->column += (unsigned)n;
}

static void wrap(struct page *p) {
    fputc('\n', p->out);
    p->column = 0;
    spaces(p, p->indent + DEEPER);
}

// A piece, cut where the line ends if it is longer than any line.
static void put_piece(struct page *p, const struct page_piece *piece) {
    const unsigned left = p->indent + DEEPER;
    const unsigned room = p->width > left + 8 ? p->width - left : 8; // of a line that goes on
    const char *text = piece->text;
    size_t n = strlen(text);
    if (piece->tied && p->column + 1 + n > p->width && n <= room)
        wrap(p);
    else if (piece->tied)
        spaces(p, 1);
    while (n > room && p->column + n > p->width) {
        size_t now = p->width > p->column ? p->width - p->column : 0;
        ink(p, piece->ink, text, now);
        text += now;
        n -= now;
        wrap(p);
    }
    ink(p, piece->ink, text, n);
}

// What was put last and must stay together.
static void page_flush(struct page *p) {
    size_t n = 0;
    if (p->n_pieces == 0)
        return;
    for (size_t i = 0; i < p->n_pieces; i++)
        n += strlen(p->pieces[i].text) + p->pieces[i].tied;
    if (p->empty)
        spaces(p, p->indent);
    else if (p->column + 1 + n > p->width && p->column > p->indent + DEEPER)
        wrap(p);
    else
        spaces(p, 1);
    p->empty = false;
    for (size_t i = 0; i < p->n_pieces; i++) {
        put_piece(p, &p->pieces[i]);
        free(p->pieces[i].text);
    }
    p->n_pieces = 0;
}

void page_end(struct page *p) {
    page_flush(p);
    if (!p->empty)
        fputc('\n', p->out);
    p->column = 0;
    p->empty = true;
}

void page_line(struct page *p, unsigned indent) {
    page_end(p);
    p->indent = indent;
}

static void add_piece(struct page *p, enum ink i, const char *text, enum bond bond) {
    if (bond == BOND_NONE || p->n_pieces == PAGE_PIECES) {
        page_flush(p);
        bond = BOND_NONE;
    }
    struct page_piece *piece = &p->pieces[p->n_pieces++];
    *piece = (struct page_piece){i, strdup(text), bond == BOND_SPACE};
    if (!piece->text)
        abort();
}

char *explain_vprintf(const char *format, va_list ap) {
    char *text;
    if (vasprintf(&text, format, ap) < 0)
        abort();
    return text;
}

void page_put(struct page *p, enum ink i, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    char *text = explain_vprintf(format, ap);
    va_end(ap);
    enum bond bond = *text == '~' ? BOND_GLUE : *text == '^' ? BOND_SPACE : BOND_NONE;
    char *at = text + (bond != BOND_NONE);
    for (char *space; *at; at = space ? space + 1 : at + strlen(at)) {
        space = strchr(at, ' ');
        if (space)
            *space = '\0';
        if (!*at)
            continue;
        add_piece(p, i, at, bond);
        bond = BOND_NONE;
    }
    free(text);
}

void page_place(struct page *p, const struct sk_place *at) {
    char text[320];
    if (!at || !at->line)
        return;
    const char *slash = strrchr(at->file, '/');
    snprintf(text, sizeof text, "[%s:%u]", slash ? slash + 1 : at->file, at->line);
    add_piece(p, INK_DIM, text, BOND_NONE);
}
