// SPDX-License-Identifier: Apache-2.0
//
// generate_impl: what the files of the generator share. The interface is generate.h.
#ifndef SILKEN_HARNESS_GENERATE_IMPL_H
#define SILKEN_HARNESS_GENERATE_IMPL_H

#include <stdio.h>

#include "compiler/base/arena.h"
#include "harness/interp/generate.h"
#include "harness/interp/random.h"

#define GEN_MAX_WIDTH 256u // of what is computed with

enum gen_type { GEN_BITS, GEN_INT, GEN_BOOL };
struct gen_var {
    const char *name;
    enum gen_type type;
    unsigned width; // 1 for bool
    bool writable;
    bool wide; // more than GEN_MAX_WIDTH bits: copied, compared and cut only
};
typedef VEC(struct gen_var) gen_var_vec;
struct gen_field {
    const char *name;
    enum gen_type type;
    unsigned width;
};
struct gen_header_type {
    const char *name;
    struct gen_field fields[8];
    unsigned n, bits;
    unsigned varbit, varbit_at; // bytes of a varbit field at most (0: none); the field it precedes
};
struct gen_header {   // an instance
    const char *name; // "hdr.a", "hdr.st[1]", "hdr.u.m0" in a union
    const struct gen_header_type *type;
    unsigned stack; // elements; 0: not a stack; then name is the stack's
};
struct gen_function {
    const char *name;
    enum gen_type type; // of its result
    unsigned width, n;
    struct gen_var params[4]; // writable: inout
};
struct gen_table {
    const char *name;
    const char *actions[6];
    unsigned n_actions;
    bool has_key;
    const char *instead; // statement for packets that do not come to the table, or null
};
struct gen {
    FILE *out;
    struct arena *a;
    struct random r;
    int indent;
    unsigned next;                  // for names
    gen_var_vec vars;               // in scope
    VEC(struct gen_header) headers; // of the gress
    VEC(struct gen_header_type *) types;
    VEC(struct gen_function) functions;
    const char *record_fields; // of struct record_t, for the frame
    bool ingress;
    // of the control that is printed
    VEC(struct gen_table) tables; // not applied yet
    VEC(const char *) uses;       // statements that may be used once: registers, counters...
    VEC(const char *) calls;      // statements that may be used often: calls of actions
    const char *checksum_field;   // 16 bits wide, set by the deparser
    const struct gen_header *checksummed;
    const char *residual;
    bool may_exit, in_parser, in_action, in_function;
    bool calm;      // generate_calm_program()
    unsigned loops; // around the statement that is printed
    bool counted;   // the parser's counter is taken
    unsigned depth; // of statements
};

#define CHANCE(g, percent) random_percent(&(g)->r, (percent))
#define BELOW(g, n)        random_below(&(g)->r, (unsigned)(n))
// What calm programs do so seldom, and others where 'percent' says so.
#define STIRS(g, percent) CHANCE(g, (g)->calm ? 4 : (percent))

void gen_line(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gen_open(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3))); // then in
void gen_close(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *gen_text(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *gen_name(struct gen *g, const char *stem); // "stem12", new each time
const char *gen_type_text(struct gen *g, enum gen_type type, unsigned width);
unsigned gen_width(struct gen *g);        // of the widths that find errors
unsigned gen_narrow_width(struct gen *g); // at most 128: of action parameters, hashes
void gen_declare(struct gen *g, const char *name, enum gen_type type, unsigned width,
                 bool writable);
// The fields of a header become variables.
void gen_declare_fields(struct gen *g, const char *header, const struct gen_header_type *t,
                        bool writable);

// ---- expressions (generate_expr.c) ----
const char *gen_const(struct gen *g, enum gen_type type, unsigned width);
const char *gen_expr(struct gen *g, enum gen_type type, unsigned width, unsigned depth);
const char *gen_bool(struct gen *g, unsigned depth);
// A place of the type, or null when there is none; '*width' as found when 'any'.
const struct gen_var *gen_place(struct gen *g, enum gen_type type, unsigned width);
const struct gen_var *gen_any_place(struct gen *g);
const struct gen_var *gen_any_var(struct gen *g); // readable, not wide; never null

// ---- statements (generate_stmt.c) ----
void gen_stmts(struct gen *g, unsigned n);
void gen_use_rest(struct gen *g); // tables and uses that are not printed yet
void gen_locals(struct gen *g, unsigned n);
void gen_functions(struct gen *g);

// ---- objects (generate_object.c) ----
void gen_control_objects(struct gen *g); // registers, counters, hashes, actions, tables
void gen_const_key_set(struct gen *g, char *to, size_t size);

// ---- parsers (generate_parser.c) ----
void gen_parser(struct gen *g);
void gen_deparser(struct gen *g);

#endif
