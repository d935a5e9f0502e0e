// SPDX-License-Identifier: Apache-2.0
//
// lines: text in columns on a terminal of a given width, with colours.
//
// What is printed is marked text: the bytes INK_* in it change the colour of what follows and take
// no room. Whatever comes from the source goes through lines_clean() first, so that it cannot mark
// anything, nor talk to the terminal.
#ifndef SILKEN_COMPILER_CHIP_REPORT_LINES_H
#define SILKEN_COMPILER_CHIP_REPORT_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "compiler/base/arena.h"

#define INK_PLAIN  "\001"
#define INK_STRONG "\002"
#define INK_DIM    "\003"
#define INK_GOOD   "\004"
#define INK_BAD    "\005"
#define INK_WARN   "\006"
#define INK_NOTE   "\016"

struct lines {
    FILE *out;
    struct arena *a;
    bool colour;
    unsigned width;
};

// 'text' with '?' for control characters. In the arena.
const char *lines_clean(struct arena *a, const char *text);
// The same, its blanks no place to break a line.
const char *lines_tied(struct arena *a, const char *text);
// Marked text as it is, without wrapping.
void lines_put(struct lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Columns that marked text takes.
unsigned lines_columns(const char *text);

// Texts beside each other, each wrapped within its own width, two columns between them, after
// 'indent' columns. The last one may be 0 wide: what is left of the line.
struct lines_cell {
    const char *text;
    unsigned width;
};
void lines_row(struct lines *l, unsigned indent, struct lines_cell *cells, size_t n);
// One text; what does not fit in the first line goes on 'deeper' columns further in.
void lines_paragraph(struct lines *l, unsigned indent, unsigned deeper, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
