// SPDX-License-Identifier: Apache-2.0
//
// text: lines of the C text, and pieces of it.
#include "compiler/print/emit_impl.h"

#include <ctype.h>
#include <string.h>

static void emit_text_put_line(const struct emit *e, const char *fmt, va_list ap) {
    fprintf(e->to->out, "%*s", e->to->indent * 4, "");
    const int n = vfprintf(e->to->out, fmt, ap);
    fputc('\n', e->to->out);
    for (unsigned i = 0; i < EMIT_N_PARTS; i++)
        if (e->to->parts >> i & 1)
            e->to->bytes[i] += (size_t)(n > 0 ? n : 0);
    arena_count(e->a,
                2 * ((size_t)(n > 0 ? n : 0) + (size_t)e->to->indent * 4 + 1)); // streams double
}

void emit_line(const struct emit *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    emit_text_put_line(e, fmt, ap);
    va_end(ap);
}

void emit_open(const struct emit *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    emit_text_put_line(e, fmt, ap);
    va_end(ap);
    e->to->indent++;
}

void emit_close(const struct emit *e, const char *fmt, ...) {
    va_list ap;
    e->to->indent--;
    va_start(ap, fmt);
    emit_text_put_line(e, fmt, ap);
    va_end(ap);
}

const char *emit_text(const struct emit *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *s = arena_vprintf(e->a, fmt, ap);
    va_end(ap);
    return s;
}

const char *emit_ident(const struct emit *e, const char *name) {
    char *s = arena_strdup(e->a, name);
    for (char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return isdigit((unsigned char)*s) ? emit_text(e, "_%s", s) : s;
}

const char *emit_string(const struct emit *e, const char *s) {
    size_t n = strlen(s), at = 0;
    char *out = arena_alloc(e->a, 4 * n + 3);
    out[at++] = '"';
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            out[at++] = '\\';
            out[at++] = *s;
        } else if (isprint(c) && c != '?') { // '?': no trigraphs
            out[at++] = *s;
        } else {
            at += (size_t)sprintf(out + at, "\\%03o", c);
        }
    }
    out[at] = '"';
    return out;
}

const char *emit_comment(const struct emit *e, const char *s) {
    char *out = arena_strdup(e->a, s);
    for (char *c = out; *c; c++)
        if (!isprint((unsigned char)*c) || *c == '*' || *c == '\\' || *c == '?')
            *c = '_';
    return out;
}
