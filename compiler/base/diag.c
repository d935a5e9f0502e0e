// SPDX-License-Identifier: Apache-2.0
//
// diag: collecting messages, and showing them with the source line they are about.
#include "compiler/base/diag.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct source {
    const char *path;
    const char *text; // null until set or read
    size_t length;
    bool read_tried;
};

struct diag {
    struct arena *a;
    VEC(struct source) files;
    VEC(struct diag_message) messages;
    unsigned errors, warnings;
    unsigned notes;     // to the message before
    bool too_many;      // errors: nothing more is collected
    bool more_warnings; // than are collected
    bool skip_notes;    // the message before was not collected, so its notes are not either
    uint32_t last_file; // most lookups by path repeat
};

struct diag *diag_new(struct arena *a) {
    struct diag *d = ARENA_NEW(a, struct diag);
    d->a = a;
    return d;
}

uint32_t diag_file(struct diag *d, const char *path) {
    if (d->last_file < d->files.n && strcmp(d->files.v[d->last_file].path, path) == 0)
        return d->last_file;
    uint32_t i = 0;
    while (i < d->files.n && strcmp(d->files.v[i].path, path) != 0)
        i++;
    if (i == d->files.n) {
        struct source s = {.path = arena_strdup(d->a, path)};
        VEC_PUSH(d->a, &d->files, s);
    }
    return d->last_file = i;
}

const char *diag_path(const struct diag *d, uint32_t file) {
    return file < d->files.n ? d->files.v[file].path : "<unknown>";
}

uint32_t diag_files(const struct diag *d) {
    return (uint32_t)d->files.n;
}

void diag_set_source(struct diag *d, uint32_t file, const char *text, size_t length) {
    if (file >= d->files.n)
        DIAG_BUG("no file number %u", file);
    d->files.v[file].text = text;
    d->files.v[file].length = length;
}

// --------------------------------------------------------------------------------------------
// Collecting

#define MOST_TEXT 1000u // bytes of a message

// The same sentence about the same place says nothing new: it comes from a phase that looks at
// one construct twice.
static bool said_before(const struct diag *d, enum diag_severity severity, struct loc at,
                        const char *text) {
    for (size_t i = d->messages.n; i-- > 0;) {
        const struct diag_message *m = &d->messages.v[i];
        if (m->severity == severity && loc_same(m->at, at) && strcmp(m->text, text) == 0)
            return true;
    }
    return false;
}

// A name in a sentence can be as long as the program.
static const char *diag_cut(struct diag *d, const char *text) {
    const size_t n = strlen(text);
    return n <= MOST_TEXT ? text
                          : arena_printf(d->a, "%.*s... [%zu more bytes]", (int)MOST_TEXT, text,
                                         n - MOST_TEXT);
}

static void diag_report(struct diag *d, struct diag_message m) {
    m.text = diag_cut(d, m.text);
    const bool warns = m.severity == DIAG_WARNING;
    d->skip_notes = d->too_many || said_before(d, m.severity, m.at, m.text);
    if (!d->skip_notes && warns && d->warnings == DIAG_MAX_WARNINGS)
        d->skip_notes = d->more_warnings = true;
    if (d->skip_notes)
        return;
    d->notes = 0;
    d->warnings += warns;
    VEC_PUSH(d->a, &d->messages, m);
    if (m.severity == DIAG_ERROR && ++d->errors >= DIAG_MAX_ERRORS)
        d->too_many = true;
}

void diag_error(struct diag *d, struct loc at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    diag_report(d, (struct diag_message){DIAG_ERROR, at, arena_vprintf(d->a, fmt, ap), false});
    va_end(ap);
}

void diag_warning(struct diag *d, struct loc at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    diag_report(d, (struct diag_message){DIAG_WARNING, at, arena_vprintf(d->a, fmt, ap), false});
    va_end(ap);
}

void diag_unsupported(struct diag *d, struct loc at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const char *what = arena_vprintf(d->a, fmt, ap);
    va_end(ap);
    what = arena_printf(d->a, "not supported yet: %s", what);
    diag_report(d, (struct diag_message){DIAG_ERROR, at, what, true});
}

void diag_limit(struct diag *d, struct loc at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    diag_report(d, (struct diag_message){DIAG_ERROR, at, arena_vprintf(d->a, fmt, ap), true});
    va_end(ap);
}

void diag_note(struct diag *d, struct loc at, const char *fmt, ...) {
    if (d->skip_notes || d->notes == DIAG_MAX_NOTES)
        return;
    d->notes++;
    va_list ap;
    va_start(ap, fmt);
    struct diag_message m = {DIAG_NOTE, at, diag_cut(d, arena_vprintf(d->a, fmt, ap)), false};
    VEC_PUSH(d->a, &d->messages, m);
    va_end(ap);
}

size_t diag_messages(const struct diag *d) {
    return d->messages.n;
}

const struct diag_message *diag_message_at(const struct diag *d, size_t i) {
    return &d->messages.v[i];
}

unsigned diag_errors(const struct diag *d) {
    return d->errors;
}

// --------------------------------------------------------------------------------------------
// Showing

#define SHOWN_COLUMNS 160u // of a source line; a longer one is cut around the place
#define SHOWN_BEFORE  100u // columns shown left of the place in a cut line

// Reads the whole file into the arena; leaves 'text' null when it cannot. The size is bounded so
// that a device or a runaway file does not hang an error message.
static void diag_read_source(struct arena *a, struct source *s) {
    enum { LIMIT = 64 << 20 };
    s->read_tried = true;
    struct stat st;
    if (stat(s->path, &st) != 0 || !S_ISREG(st.st_mode)) // a line marker may name anything
        return;
    FILE *f = fopen(s->path, "rb");
    if (!f)
        return;
    if (fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        if (size > 0 && size < LIMIT && fseek(f, 0, SEEK_SET) == 0) {
            char *text = arena_alloc(a, (size_t)size);
            s->length = fread(text, 1, (size_t)size, f);
            s->text = text;
        }
    }
    fclose(f);
}

const char *diag_source_line(const struct diag *d, struct loc at, size_t *length) {
    if (at.file >= d->files.n || at.line == 0)
        return NULL;
    struct source *s = &d->files.v[at.file];
    if (!s->text && !s->read_tried)
        diag_read_source(d->a, s);
    if (!s->text)
        return NULL;
    const char *p = s->text, *end = s->text + s->length;
    for (uint32_t line = 1; line < at.line; line++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return NULL;
        p++;
    }
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    *length = (size_t)((eol ? eol : end) - p);
    if (*length && p[*length - 1] == '\r')
        --*length;
    return p;
}

static bool is_utf8_tail(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

// A byte of the source line; control characters must not reach the terminal.
static void put_source_byte(FILE *out, char c) {
    unsigned char u = (unsigned char)c;
    fputc(u == '\t' || (u >= ' ' && u != 0x7f) ? c : '?', out);
}

static void put_underline(FILE *out, const char *line, size_t length, size_t from, size_t col,
                          size_t end_col, bool colour) {
    fputs("      | ", out);
    for (size_t i = from; i < col && i < length; i++)
        if (!is_utf8_tail(line[i]))
            fputc(line[i] == '\t' ? '\t' : ' ', out);
    fputs(colour ? "\033[1;32m^" : "^", out);
    for (size_t i = col + 1; i < end_col && i < length; i++)
        if (!is_utf8_tail(line[i]))
            fputc('~', out);
    fputs(colour ? "\033[0m\n" : "\n", out);
}

void diag_print_source(const struct diag *d, FILE *out, struct loc at, bool colour) {
    size_t length;
    const char *line = diag_source_line(d, at, &length);
    if (!line || at.col == 0)
        return;
    size_t col = at.col - 1 < length ? at.col - 1 : length;
    size_t from = length > SHOWN_COLUMNS && col > SHOWN_BEFORE ? col - SHOWN_BEFORE : 0;
    size_t to = length - from > SHOWN_COLUMNS ? from + SHOWN_COLUMNS : length;
    fprintf(out, "%5u | ", at.line);
    for (size_t i = from; i < to; i++)
        put_source_byte(out, line[i]);
    fputc('\n', out);
    size_t end_col = at.end_col > at.col ? at.end_col - 1 : at.col;
    put_underline(out, line, to, from, col, end_col, colour);
}

// A message or a path, which may quote a user's own; a message is a line.
static void diag_put_text(FILE *out, const char *text) {
    for (; *text; text++)
        put_source_byte(out, *text);
}

static const char *const severity_text[] = {
    [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_NOTE] = "note"};
static const char *const severity_colour[] = {
    [DIAG_ERROR] = "\033[1;31m", [DIAG_WARNING] = "\033[1;35m", [DIAG_NOTE] = "\033[1;36m"};

static void print_message(const struct diag *d, FILE *out, const struct diag_message *m,
                          bool colour) {
    if (m->at.line != 0) {
        diag_put_text(out, diag_path(d, m->at.file));
        fprintf(out, ":%u:%u: ", m->at.line, m->at.col);
    } else {
        fputs("silken: ", out);
    }
    fprintf(out, "%s%s:%s ", colour ? severity_colour[m->severity] : "", severity_text[m->severity],
            colour ? "\033[0m" : "");
    diag_put_text(out, m->text);
    fputc('\n', out);
    diag_print_source(d, out, m->at, colour);
}

static void print_more_warnings(const struct diag *d, FILE *out) {
    if (d->more_warnings)
        fprintf(out, "silken: too many warnings (%u); the rest is not shown\n", d->warnings);
}

void diag_print(const struct diag *d, FILE *out, bool colour) {
    for (size_t i = 0; i < d->messages.n; i++)
        print_message(d, out, &d->messages.v[i], colour);
    if (d->too_many)
        fprintf(out, "silken: too many errors (%u); the rest is not shown\n", d->errors);
    print_more_warnings(d, out);
}

void diag_print_warnings(const struct diag *d, FILE *out, bool colour) {
    bool of_warning = false;
    for (size_t i = 0; i < d->messages.n; i++) {
        const struct diag_message *m = &d->messages.v[i];
        if (m->severity != DIAG_NOTE)
            of_warning = m->severity == DIAG_WARNING;
        if (of_warning)
            print_message(d, out, m, colour);
    }
    print_more_warnings(d, out);
}

void diag_bug(const char *file, int line, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "silken: compiler bug at %s:%d: ", file, line);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    abort();
}
