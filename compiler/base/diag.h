// SPDX-License-Identifier: Apache-2.0
//
// diag: what the compiler tells its user.
//
// Every message has a severity, a position and one clear sentence that says what is wrong and,
// where it helps, what to do. The printed form is
//
//     file.p4:12:9: error: field 'dst' does not exist in header 'ethernet_h'
//        12 |     hdr.ethernet.dst = 0;
//           |                  ^~~
//     file.p4:3:1: note: 'ethernet_h' is declared here
//
// Messages are collected while the phases run and the run goes on after an error wherever it can;
// after DIAG_MAX_ERRORS errors it stops collecting and says so, and of warnings it keeps the first
// DIAG_MAX_WARNINGS. A user's mistake is a diagnostic;
// a mistake of ours is diag_bug(), which says "compiler bug" with its place and aborts: no P4 text
// may ever reach it.
#ifndef SILKEN_COMPILER_BASE_DIAG_H
#define SILKEN_COMPILER_BASE_DIAG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler/base/arena.h"

// A place in the source as the user knows it (after #line directives of the preprocessor).
// 'file' indexes the diag's file table; line and columns count from 1; line 0 means "no place".
struct loc {
    uint32_t file, line, col, end_col;
};
// They begin at the same place.
static inline bool loc_same(struct loc x, struct loc y) {
    return x.file == y.file && x.line == y.line && x.col == y.col;
}

#define DIAG_MAX_ERRORS   50
#define DIAG_MAX_WARNINGS 200

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag; // one per compilation

struct diag *diag_new(struct arena *a);
uint32_t diag_file(struct diag *d, const char *path); // index for 'loc.file', one per path
const char *diag_path(const struct diag *d, uint32_t file);
uint32_t diag_files(const struct diag *d); // how many there are
// Source text of 'path' for the caret lines, when it is not readable from disk (tests, fuzzing).
void diag_set_source(struct diag *d, uint32_t file, const char *text, size_t length);

// The line of source that 'at' is on, not zero-terminated; null when it is not known.
const char *diag_source_line(const struct diag *d, struct loc at, size_t *length);

void diag_error(struct diag *d, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void diag_warning(struct diag *d, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// A note belongs to the error or warning before it.
// Of the notes to one message the first DIAG_MAX_NOTES are kept.
#define DIAG_MAX_NOTES 50
void diag_note(struct diag *d, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// "not supported yet: ..." as an error: the construct is legal P4 that lowering does not cover.
void diag_unsupported(struct diag *d, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// An error of a limit that Silken's compiler sets itself, whatever a chip could hold.
void diag_limit(struct diag *d, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

// What was collected so far, in order; 'text' lives in the arena.
struct diag_message {
    enum diag_severity severity;
    struct loc at;
    const char *text;
    bool is_ours; // by diag_unsupported or diag_limit: it says nothing of a chip
};
size_t diag_messages(const struct diag *d);
const struct diag_message *diag_message_at(const struct diag *d, size_t i);

unsigned diag_errors(const struct diag *d);
void diag_print(const struct diag *d, FILE *out, bool colour);
// Warnings and their notes only.
void diag_print_warnings(const struct diag *d, FILE *out, bool colour);
// The two lines under a message: the source line of 'at' and its caret; nothing when it is not
// known.
void diag_print_source(const struct diag *d, FILE *out, struct loc at, bool colour);

_Noreturn void diag_bug(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define DIAG_BUG(...) diag_bug(__FILE__, __LINE__, __VA_ARGS__)

#endif
