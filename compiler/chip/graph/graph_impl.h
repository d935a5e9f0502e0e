// SPDX-License-Identifier: Apache-2.0
//
// graph_impl: what the files of graph share.
//
//   graph_simplify   a control as the chip's compiler sees it after its own simplifications: a
//                    second IR, which shares variables, tables and externs with the first
//   graph_parallel   an action's statements as the chip runs them, all at once
//   graph_live       statements of it whose results somebody reads
//   graph_alias      copies that the chip's compiler does not make
//   graph_sums       tables after the control, for the deparser's checksums
//   graph_units      units, in program order, and which of them exclude each other
//   graph_action     instructions and accesses of an action
//   graph_gateway    conditions
//   graph_deps       dependencies and the longest chain
//   graph_limits     what no action and no condition can do
//
// All are called by chip_graph(), in this order, once for each gress. Everything lives in the
// report's arena.
#ifndef SILKEN_COMPILER_CHIP_GRAPH_GRAPH_IMPL_H
#define SILKEN_COMPILER_CHIP_GRAPH_GRAPH_IMPL_H

#include "compiler/chip/graph/graph.h"
#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"

// More units than this never fit a chip; the rest of the program is then not looked at.
#define GRAPH_MAX_UNITS 2048u

// ---- bit sets -----------------------------------------------------------------------------------
typedef uint64_t graph_word;
static inline size_t graph_words(size_t bits) {
    return (bits + 63) / 64;
}
static inline void graph_set(graph_word *s, size_t i) {
    s[i / 64] |= (graph_word)1 << (i % 64);
}
static inline void graph_clear(graph_word *s, size_t i) {
    s[i / 64] &= ~((graph_word)1 << (i % 64));
}
static inline bool graph_has(const graph_word *s, size_t i) {
    return s[i / 64] >> (i % 64) & 1;
}
static inline void graph_unite(graph_word *into, const graph_word *from, size_t words) {
    for (size_t i = 0; i < words; i++)
        into[i] |= from[i];
}

// ---- a gress on its way through the phases ------------------------------------------------------
// What leads to a unit: with which others it is under the same gateway or table, and how they are
// called.
struct graph_parent {
    unsigned unit;   // the table or gateway whose outcome leads here
    unsigned branch; // which of its outcomes: numbers the sides of an if, cases of a switch...
};
// After which actions of a table a branch of it is taken: bit i for chip_unit.actions[i]; those
// from 63 on share a bit.
struct graph_branch {
    unsigned number;
    uint64_t after;
};
struct graph_node { // beside chip_unit, by unit id
    VEC(struct graph_parent) parents;
    VEC(struct graph_branch) branches; // of a table
    uint64_t ending;                   // actions of a table that exit
    VEC(unsigned) children;            // directly under this one
    bool ends;                         // an exit is among its actions
    bool is_sum;                       // chooses what is emitted of a checksum
    struct ir_block *body;             // CHIP_KEYLESS: the statements
    unsigned applied;                  // a table: how many places apply it
};
// A statement of an action that reads what an earlier one of it has computed.
struct graph_late {
    const struct ir_stmt *stmt, *first;
    const struct ir_var *var;
    bool moves; // or hashes it, and does not compute with it
};
// A checksum that the deparser puts into 'dest'.
struct graph_sum {
    const struct ir_var *dest;
    const struct ir_stmt *stmt; // the first update
    bool always;                // under no condition
    chip_bits_vec asks;         // what the conditions read, and whether the header is valid
    chip_bits_vec twice;        // added more than once
};
typedef VEC(struct graph_sum) graph_sum_vec;
// A row of a gateway: where all of its tests come out as they say, the condition is 'yes'.
struct graph_test {
    const struct ir_expr *e;
    bool truth;
};
struct graph_row {
    VEC(struct graph_test) tests;
    bool yes;
};
typedef VEC(struct graph_row) graph_row_vec;
struct graph {
    struct chip_report *r;
    struct arena *a;
    struct chip_gress *gress;
    const struct ir_gress *ir;
    enum chip_gateways gateways;
    // graph_simplify
    struct ir_block *control;
    struct ir_block **action_bodies; // by action id; null: not applied by any table
    unsigned n_vars;
    // graph_parallel
    VEC(struct graph_late) late;
    // graph_live, by variable id
    bool *output; // read by the deparser or the architecture
    // graph_units
    VEC(struct graph_node) nodes;
    graph_word *together; // [unit][word]: units that may both run
    size_t words;
    bool too_many;
};

void graph_simplify(struct graph *g);
void graph_parallel(struct graph *g); // in place
void graph_live(struct graph *g);     // takes dead statements out of control and action_bodies
void graph_alias(struct graph *g);    // marks copies that are not made (ir_stmt.idle)
graph_sum_vec graph_sums(struct graph *g);
void graph_units(struct graph *g);
void graph_gateways(struct graph *g); // conditions join the units after them
void graph_deps(struct graph *g);
void graph_action(struct graph *g, struct chip_action *act, struct ir_block *body);
void graph_check_action(struct graph *g, const struct chip_action *act,
                        const struct ir_block *body);
void graph_check_condition(struct graph *g, const struct ir_stmt *s);
// The rows of a condition, without the one that holds where no other does. Where there are too many
// of them, the tests of the condition, each by itself.
graph_row_vec graph_rows(struct arena *a, const struct ir_expr *e);

// An assignment that is computed in the hash matrix, as @in_hash asks.
bool graph_is_hashed(const struct ir_stmt *t);
// Of an assignment that @in_hash asks for and that is not computed there as a whole: the operand of
// its instruction that is, or null. "f = f + (g ^ h)" adds what the hash matrix sends.
const struct ir_expr *graph_hashed_operand(const struct ir_stmt *t);
// "p ? v : f" with a bool 'p' and a 'v' of action data (or a constant) and a field 'f': one
// instruction. The other way round the chip's compiler takes it for too complicated.
bool graph_is_conditional_set(const struct ir_action *act, const struct ir_expr *e);
// A statement without further blocks, after which the next one runs.
bool graph_is_plain(const struct ir_stmt *t);
// Of plain statements only, but for an exit at the end.
bool graph_is_straight(const struct ir_block *b);
// 'e' with other operands.
struct ir_expr *graph_rebuilt(struct arena *a, struct ir_expr *e, struct ir_expr *x,
                              struct ir_expr *y, struct ir_expr *z);
void graph_add_bits(struct arena *a, chip_bits_vec *v, struct chip_bits b);
void graph_expr_bits(struct arena *a, const struct ir_expr *e, chip_bits_vec *out);
// "name.p4:12", of the source's place.
const char *graph_place(struct graph *g, struct loc at);

#endif
