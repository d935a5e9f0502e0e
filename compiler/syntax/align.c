// SPDX-License-Identifier: Apache-2.0
//
// align: walks the output and the original line by line, token by token.
#include "compiler/syntax/align.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct span {
    const char *p, *end;
};

// A file that a line marker named. Markers jump back and forth between few lines, so the place of
// the last line is kept.
struct origin {
    const char *path;
    struct span text;
    size_t line; // number of the line at 'at', from 1
    const char *at;
};

struct aligner {
    struct arena *a;
    VEC(char) out;
    size_t line_start; // in 'out'
    VEC(struct origin) files;
    size_t file; // index into 'files'
    size_t line; // the original line of the next output line
};

static void align_put(struct aligner *al, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        VEC_PUSH(al->a, &al->out, p[i]);
}

static struct span align_read_file(struct arena *a, const char *path) {
    struct span s = {0};
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return s;
    FILE *f = fopen(path, "rb");
    if (!f)
        return s;
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (size > 0 && size < 64L << 20 && fseek(f, 0, SEEK_SET) == 0) {
        char *text = arena_alloc(a, (size_t)size);
        s.p = text;
        s.end = text + fread(text, 1, (size_t)size, f);
    }
    fclose(f);
    return s;
}

static size_t file_index(struct aligner *al, const char *path) {
    for (size_t i = 0; i < al->files.n; i++)
        if (strcmp(al->files.v[i].path, path) == 0)
            return i;
    struct origin o = {.path = path, .text = align_read_file(al->a, path), .line = 1};
    o.at = o.text.p;
    VEC_PUSH(al->a, &al->files, o);
    return al->files.n - 1;
}

// The original of the current line; empty when there is none.
static struct span origin_line(struct aligner *al) {
    struct span none = {0};
    if (al->files.n == 0 || al->line == 0)
        return none;
    struct origin *o = &al->files.v[al->file];
    if (al->line < o->line) {
        o->line = 1;
        o->at = o->text.p;
    }
    for (; o->at && o->line < al->line; o->line++) {
        const char *newline = memchr(o->at, '\n', (size_t)(o->text.end - o->at));
        if (!newline) {
            o->line = 1;
            o->at = o->text.p;
            return none;
        }
        o->at = newline + 1;
    }
    if (!o->at)
        return none;
    const char *newline = memchr(o->at, '\n', (size_t)(o->text.end - o->at));
    struct span line = {o->at, newline ? newline : o->text.end};
    return line;
}

static bool align_is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

// Skips blanks, and comments, which the preprocessor made blanks of.
static void skip_blank(struct span *s) {
    for (;;) {
        while (s->p < s->end && is_blank(*s->p))
            s->p++;
        if (s->end - s->p < 2 || s->p[0] != '/' || (s->p[1] != '/' && s->p[1] != '*'))
            return;
        if (s->p[1] == '/') {
            s->p = s->end;
            return;
        }
        for (s->p += 2; s->p < s->end && !(s->p[-1] == '*' && s->p[0] == '/'); s->p++)
            ;
        s->p += s->p < s->end;
    }
}

// A word, a string, or one other character.
static size_t token_length(const struct span *s) {
    const char *p = s->p;
    if (align_is_word(*p)) {
        while (p < s->end && align_is_word(*p))
            p++;
    } else if (*p == '"') {
        for (p++; p < s->end && *p != '"'; p++)
            p += *p == '\\' && p + 1 < s->end;
        p += p < s->end;
    } else {
        p++;
    }
    return (size_t)(p - s->p);
}

static bool same_token(const struct span *x, const struct span *y) {
    size_t n = token_length(x);
    return n == token_length(y) && memcmp(x->p, y->p, n) == 0;
}

static void skip_token(struct span *s) {
    s->p += token_length(s);
}

// Skips a macro's call in the original: its name and, if there are, its arguments.
static void skip_call(struct span *s) {
    skip_token(s);
    skip_blank(s);
    if (s->p == s->end || *s->p != '(')
        return;
    unsigned depth = 0;
    do {
        depth += *s->p == '(';
        depth -= *s->p == ')';
        skip_token(s);
        skip_blank(s);
    } while (depth > 0 && s->p < s->end);
}

// Copies output tokens up to the one at which 'original' stands, or all.
static void copy_expansion(struct aligner *al, struct span *output, const struct span *original) {
    while (output->p < output->end) {
        const char *from = output->p;
        skip_blank(output);
        if (output->p == output->end)
            return;
        if (original->p < original->end && same_token(output, original)) {
            output->p = from; // its blanks are put by the caller
            return;
        }
        skip_token(output);
        align_put(al, from, (size_t)(output->p - from));
    }
}

static void align_line(struct aligner *al, struct span output, struct span original) {
    const char *line = original.p;
    for (;;) {
        bool blank = output.p < output.end && is_blank(*output.p);
        struct span ahead = output;
        skip_blank(&ahead);
        skip_blank(&original);
        if (ahead.p == ahead.end)
            return;
        if (original.p == original.end) {
            align_put(al, output.p, (size_t)(output.end - output.p));
            return;
        }
        if (!same_token(&ahead, &original)) {
            skip_call(&original);
            copy_expansion(al, &output, &original);
            continue;
        }
        output = ahead;
        size_t col = al->out.n - al->line_start, wanted = (size_t)(original.p - line);
        if (col >= wanted && blank)
            align_put(al, " ", 1);
        for (; blank && col < wanted; col++)
            align_put(al, " ", 1);
        size_t n = token_length(&output);
        align_put(al, output.p, n);
        output.p += n;
        original.p += n;
    }
}

// '# 12 "path" flags'
static void read_marker(struct aligner *al, struct span s) {
    char *end;
    unsigned long line = strtoul(s.p + 2, &end, 10);
    if (end >= s.end || *end != ' ' || end + 1 >= s.end || end[1] != '"')
        return;
    char *path = arena_alloc(al->a, (size_t)(s.end - end));
    size_t n = 0;
    for (const char *p = end + 2; p < s.end && *p != '"'; p++) {
        if (*p == '\\' && p + 1 < s.end)
            p++;
        path[n++] = *p;
    }
    al->file = file_index(al, path);
    al->line = line;
}

char *align_columns(struct arena *a, const char *text, size_t *length) {
    struct aligner al = {.a = a};
    const char *end = text + *length;
    for (const char *p = text; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        struct span line = {p, newline ? newline : end};
        al.line_start = al.out.n;
        if (line.end - line.p > 2 && p[0] == '#' && p[1] == ' ') {
            read_marker(&al, line);
            align_put(&al, p, (size_t)(line.end - p));
        } else {
            align_line(&al, line, origin_line(&al));
            al.line += al.line > 0;
        }
        if (newline)
            align_put(&al, "\n", 1);
        p = newline ? newline + 1 : end;
    }
    *length = al.out.n;
    align_put(&al, "", 1);
    return al.out.v;
}
