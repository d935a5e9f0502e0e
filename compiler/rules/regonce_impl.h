// SPDX-License-Identifier: Apache-2.0
//
// regonce_impl: what the files of regonce.c share.
//
//   regonce.c         the walk through a gress's control, and the accesses that meet on it
//   regonce_facts.c   what is known on a path: facts and versions of variables
//   regonce_path.c    the steps that lead from one access to another, and a pair's words
#ifndef SILKEN_COMPILER_RULES_REGONCE_IMPL_H
#define SILKEN_COMPILER_RULES_REGONCE_IMPL_H

#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"
#include "compiler/rules/regonce.h"

#define MAX_RANGES 16u

// Conditions are kept as facts: a variable, or some of its bits, lies in certain ranges. They come
// from comparisons with constants, from which action a table ran and whether it hit. A fact speaks
// of one version of its variable; every write begins a new version, so facts about a value that is
// gone never meet facts about the new one. Facts that are too hard are left out, which makes the
// check stricter, never laxer.
struct range {
    uint64_t lo, hi; // inclusive
};
struct fact {
    const struct ir_var *var;
    unsigned lo, width;
    unsigned version;
    unsigned n;
    struct range r[MAX_RANGES];
};

// One choice on the way to a place.
enum way_kind { WAY_TRUE, WAY_FALSE, WAY_CASE, WAY_ACTION };
struct way {
    enum way_kind kind;
    const struct ir_stmt *stmt; // IR_IF, IR_SWITCH, IR_APPLY
    size_t index;               // of the case (all of them: none) or the action
};
typedef VEC(struct way) way_vec;

struct access {
    const void *thing; // what is reached once: a register, a counter, a meter; or null:
    const struct ir_action_profile *profile;
    const char *kind, *name; // in words
    const struct ir_stmt *stmt;
    const struct ir_table *table; // on the way there, or null
    const struct ir_action *action;
    const struct fact *facts; // n_facts
    size_t n_facts;
    const struct way *ways; // n_ways
    size_t n_ways;
};

typedef VEC(const struct access *) access_vec;

// What is known on one path. 'dead': nothing runs here.
struct path {
    access_vec seen;
    bool dead;
};

struct label {
    unsigned id;
    struct path at_end;
};

struct change { // a variable's version before it was written
    const struct ir_var *var;
    unsigned old;
};

struct check {
    struct arena *a;
    const struct ir_table *table; // that is being applied
    const struct ir_action *action;
    unsigned *versions; // by variable id
    unsigned last_version;
    VEC(struct change) log;
    VEC(struct fact) facts;              // of the path being walked
    way_vec ways;                        // to where the walk is
    VEC(const struct ir_stmt *) applies; // that keep which action ran
    VEC(struct label) labels;
    // Who hears of accesses that meet.
    void (*meet)(struct check *c, const struct access *first, const struct access *second);
    struct diag *d; // of regonce_check
    VEC(const void *) reported;
    bool ok;
    struct regonce_pairs *pairs; // of regonce_find
    VEC(const struct access *) firsts, seconds;
};

// ---- facts
// What 'e' being 'truth' says, added to the path's facts.
void learn(struct check *c, const struct ir_expr *e, bool truth);
void learn_value(struct check *c, const struct ir_var *v, uint64_t value);
// 'truth' of the subject being one of the case's values.
void learn_case(struct check *c, const struct ir_stmt *s, const struct ir_case *k, bool truth);
// The facts of the two contradict each other.
bool exclusive(const struct access *x, const struct access *y);
void begin_version(struct check *c, const struct ir_var *v);
void note_writes(struct check *c, struct ir_stmt *s); // of the statement itself

// ---- paths
// Where an access happens, in words: ", in action 'a' of table 't'"; or nothing.
const char *access_place(struct arena *a, const struct access *x);
void meet_pair(struct check *c, const struct access *first, const struct access *second);

#endif
