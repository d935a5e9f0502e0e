// SPDX-License-Identifier: Apache-2.0
//
// effects: what code reads and writes, with all that it runs: the tables that it applies with their
// keys and actions, the register actions that it executes with what runs where a log, queue or
// stack is full or empty.
//
//     struct ir_effects f = ir_effects_none(a, g);
//     ir_effects_add_block(&f, g->control);
//     if (f.writes[v->id]) ...
//
// A summary starts empty and grows; it never says less than what may happen. Arrays are by id of
// their gress and live in the arena. Code that a summary has already is not looked at again, so a
// whole gress costs one walk.
#ifndef SILKEN_COMPILER_IR_EFFECTS_H
#define SILKEN_COMPILER_IR_EFFECTS_H

#include "compiler/ir/ir.h"

struct ir_effects {
    const struct ir_gress *g;
    // By variable. 'assigned': a statement's results and an action's parameters, but not the cell
    // that a register action loads. 'writes': those, and validity where a header is extracted or
    // set valid or invalid.
    bool *reads, *assigned, *writes;
    bool *registers; // by register: some cell is loaded or stored
    bool *cells;     // by register: some cell may be changed
    // By header. Extraction gives all fields values, which is said here alone; so is emission,
    // which reads them.
    bool *extracted, *set_valid, *set_invalid, *emitted;
    uint64_t kinds; // of statements: bit 'enum ir_stmt_kind'
    // What is in the summary: by table, action, register action. Set one first to leave it out.
    bool *has_table, *has_action, *has_regaction;
};

struct ir_effects ir_effects_none(struct arena *a, const struct ir_gress *g);
void ir_effects_clear(struct ir_effects *f); // empty again: one summary serves many questions
void ir_effects_add_expr(struct ir_effects *f, const struct ir_expr *x);   // null is allowed
void ir_effects_add_stmt(struct ir_effects *f, const struct ir_stmt *s);   // and all in it
void ir_effects_add_block(struct ir_effects *f, const struct ir_block *b); // null is allowed
void ir_effects_add_action(struct ir_effects *f, const struct ir_action *x);
void ir_effects_add_table(struct ir_effects *f, const struct ir_table *t);
void ir_effects_add_regaction(struct ir_effects *f, const struct ir_regaction *ra);
void ir_effects_add_state(struct ir_effects *f, const struct ir_state *st); // with its keys
// The parser; and all else of the gress: control, deparser, each table, action and register action.
void ir_effects_add_parser(struct ir_effects *f);
void ir_effects_add_rest(struct ir_effects *f);

bool ir_effects_has(const struct ir_effects *f, enum ir_stmt_kind kind);
// Some variable of the expression (null is allowed) is written.
bool ir_effects_write_expr(const struct ir_effects *f, const struct ir_expr *x);
// The header may become invalid, or its validity may become anything.
bool ir_effects_may_remove(const struct ir_effects *f, const struct ir_header *h);
bool ir_effects_may_add(const struct ir_effects *f, const struct ir_header *h);

// The variables that a statement itself writes, each at most once; returns how many.
#define IR_MAX_RESULTS 4
size_t ir_results(const struct ir_stmt *s, const struct ir_var *results[IR_MAX_RESULTS]);
// Calls 'fn' for each variable that has another value after the statement itself: its results, and
// of a header that it extracts or sets valid or invalid the validity and all fields.
void ir_each_written(const struct ir_stmt *s, void (*fn)(void *aux, const struct ir_var *v),
                     void *aux);

#endif
