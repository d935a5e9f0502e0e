// SPDX-License-Identifier: Apache-2.0
//
// items: what read.c, compare.c, captures.c and report.c share.
#ifndef SILKEN_TWIN_ITEMS_H
#define SILKEN_TWIN_ITEMS_H

#include "twin/twin.h"

enum twin_form { TWIN_OWN, TWIN_SHELL, TWIN_STATE };

// An entry, a cell or another thing that a key names.
struct twin_item {
    char *key;      // as text; the same key gives the same text
    json_t *fields; // name -> value
    size_t source;  // of the side: where it is from,
    size_t number;  // and as which of its items, from 1 on
    bool is_default;
    bool is_register; // an array is a value for each pipe
};
struct twin_table {
    char *name; // without "pipe."; of a state with its section before it
    enum twin_form form;
    bool has_default;
    char *unread; // why it could not be read; or null
    size_t source;
    struct twin_item *items;
    size_t n, room;
};
struct twin_capture {
    char *name, *path; // without folder and ending
};
struct twin_side {
    char *path;
    char **sources; // files' names
    size_t n_sources, room_sources;
    struct twin_table *tables; // by name
    size_t n_tables, room_tables;
    json_t *places;                // while dumps are read: in the list, by name
    struct twin_capture *captures; // by name
    size_t n_captures, room_captures;
    char **others; // files that are neither
    size_t n_others, room_others;
    bool has[TWIN_STATE + 1]; // dumps of a form
};

// ---- text.c
// A dump's text as one JSON value: values that follow each other as an array, numbers of more than
// 18 digits as strings, what a shell prints around them as spaces. Lines stay. malloc'ed.
char *twin_text_clean(const char *text, size_t length, size_t *clean);
// A value as text, the same for the same value whichever form it was read from: malloc'ed.
char *twin_text_of(const json_t *value);

// ---- read.c
// Adds what a dump's text has, of the file 'name'. -1 with a sentence.
int twin_read_text(struct twin_side *s, const char *name, const char *text, size_t length,
                   struct sk_error *err);
// Puts tables and items in order. -1 with a sentence: a key is there twice.
int twin_read_end(struct twin_side *s, struct sk_error *err);
struct twin_side *twin_side_new(const char *path);

// ---- report.c
struct twin_report;
struct twin_report *twin_report_begin(const struct twin_diff_options *opt, const char *a,
                                      const char *b);
void twin_report_difference(struct twin_report *r, const char *table, const char *key,
                            const char *field, const char *a, const char *b);
// What may differ is not compared; 'differs': whether it does, -1: nobody knows.
void twin_report_skip(struct twin_report *r, const char *what, const char *why, int differs);
void twin_report_count(struct twin_report *r, bool is_packet); // one more thing was compared
int64_t twin_report_end(struct twin_report *r);                // frees it: differences

// ---- captures.c
int twin_captures(struct twin_report *r, const struct twin_side *a, const struct twin_side *b,
                  struct sk_error *err);

#endif
