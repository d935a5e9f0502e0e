// SPDX-License-Identifier: Apache-2.0
//
// regonce_impl: what the files of regonce.c share.
//
//   regonce.c         the walk through a gress's control, and the accesses that meet on it
//   regonce_facts.c   what is known on a path: facts and versions of variables
//   regonce_parser.c  headers that are never there together
//   regonce_seen.c    the accesses on a path
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

// What is known, which ways were taken and what was reached are lists that share what they have in
// common: a list grows at its new end, and others keep what it was. So an access keeps all of that
// in a few words.
struct fact_list {
    struct fact fact;
    const struct fact_list *older; // or null
    const struct fact_list
        *of_same_var;   // the next older one that is about the same variable, or null
    size_t n;           // facts from here on
    size_t contradicts; // the least n of an older fact that this one contradicts; 0: none
    bool impossible;    // some fact from here on contradicts an older one
};

// One choice on the way to a place.
enum way_kind { WAY_TRUE, WAY_FALSE, WAY_CASE, WAY_ACTION };
struct way {
    enum way_kind kind;
    const struct ir_stmt *stmt; // IR_IF, IR_SWITCH, IR_APPLY
    size_t index;               // of the case (all of them: none) or the action
};
struct way_list {
    struct way way;
    const struct way_list *older;
    size_t n;
};

// What a packet reaches once; a slot is a number for each.
enum access_kind { ACCESS_REGISTER, ACCESS_COUNTER, ACCESS_METER, ACCESS_PROFILE, ACCESS_KINDS };
struct access {
    const void *thing; // what is reached once: a register, a counter, a meter; or null:
    const struct ir_action_profile *profile;
    const char *kind, *name; // in words
    const struct ir_stmt *stmt;
    const struct ir_table *table; // on the way there, or null
    const struct ir_action *action;
    unsigned slot;                 // number of the thing or the profile
    unsigned mark;                 // of the last union of paths that looked at it
    const struct fact_list *facts; // known on the way there
    const struct way_list *ways;
};

// Accesses of one thing.
struct access_list {
    struct access *access;
    const struct access_list *older;
    size_t n;
};

// Lists of accesses by slot: a tree whose paths share subtrees, so that one more path costs nothing
// and two are united in the time that their differences take. A leaf is a list.
#define SEEN_BITS 4u
struct seen {
    const void
        *below[1u << SEEN_BITS]; // struct seen, at the last level struct access_list; or null
};

// What is known on one path. 'dead': nothing runs here.
struct path {
    const struct seen *seen;
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
    const struct ir_gress *g;
    const struct ir_header **header_of; // by id of its validity's variable, or null
    uint64_t *together;                 // by header, bits by header; null: not asked for yet
    size_t together_words;
    const struct ir_table *table; // that is being applied
    const struct ir_action *action;
    unsigned *versions; // by variable id
    unsigned last_version;
    VEC(struct change) log;
    const struct fact_list *facts;     // of the path being walked
    const struct fact_list **facts_of; // the newest of each variable, by its id
    const struct way_list *ways;       // to where the walk is
    unsigned levels;                   // of struct seen
    unsigned last_mark;
    VEC(struct access *) met;            // reach's own
    VEC(const struct ir_stmt *) applies; // that keep which action ran
    VEC(struct label) labels;
    // Who hears of accesses that meet.
    void (*meet)(struct check *c, const struct access *first, const struct access *second);
    struct diag *d; // of regonce_check
    bool *reported; // by slot
    bool ok;
    struct regonce_pairs *pairs; // of regonce_find
    VEC(const struct access *) firsts, seconds;
    size_t n_steps; // of all pairs
};

// ---- facts
// What 'e' being 'truth' says, added to the path's facts.
void learn(struct check *c, const struct ir_expr *e, bool truth);
void learn_value(struct check *c, const struct ir_var *v, uint64_t value);
// 'truth' of the subject being one of the case's values.
void learn_case(struct check *c, const struct ir_stmt *s, const struct ir_case *k, bool truth);
// The facts of the two contradict each other.
bool exclusive(struct check *c, const struct access *x, const struct access *y);
// Headers that the parser gives no packet together are valid for the one and for the other.
bool parsed_apart(struct check *c, const struct fact_list *x, const struct fact_list *y);
void regonce_parser_begin(struct check *c, const struct ir_gress *g);
// Forgets what was learned since 'older' was all that was known.
void forget(struct check *c, const struct fact_list *older);
void begin_version(struct check *c, const struct ir_var *v);
void note_writes(struct check *c, const struct ir_stmt *s); // of the statement itself

// ---- accesses on a path
void seen_init(struct check *c, const struct ir_gress *g);
// Accesses of a slot, the newest first, or null.
const struct access_list *seen_of(const struct check *c, const struct path *p, unsigned slot);
void see(struct check *c, struct path *p, struct access *x);
// What 'from' reached and 'into' did not is added to 'into', after what that has.
void merge(struct check *c, struct path *into, const struct path *from);

// ---- paths
// Where an access happens, in words: ", in action 'a' of table 't'"; or nothing.
const char *access_place(struct arena *a, const struct access *x);
void meet_pair(struct check *c, const struct access *first, const struct access *second);
// The pair, without the steps to it.
struct regonce_pair regonce_pair_of(struct arena *a, const struct access *first,
                                    const struct access *second);

#endif
