// SPDX-License-Identifier: Apache-2.0
//
// plan: the decisions before C is printed: places of variables, headers and registers, statements
// that become loops, paths and cases with code of their own. The face of the room.
//
//     plan.c             the passes in one array, with the needs and results of each;
//                        plan_pipeline() runs them
//     fusion.c           entries as branches, and tables that are matched once
//     analyse.c          which code uses which variable, and so where the variable lives
//     lanes.c            one operation over many registers, as one loop (lanes.h); lane_runs.c: the
//                        places of such loops
//     register_layout.c  banks of registers of one shape, and registers that are used at one index
//                        side by side
//     in_place.c         headers that stay in the packet's bytes
//     deferred_stores.c  fields whose new values wait until the headers have their place, in two
//                        passes
//     weigh.c            how much C is printed for a block
//     parse_paths.c      what is known of a packet by its path through the parser (parse_paths.h);
//                        end_facts.c: the constants at their ends; choose_paths.c: which are
//                        printed, and what they share
//     split_packet.c     packets that come around in two pieces, the headers and what follows them
//     sunk_loops.c       loops over lanes that run when it is known what becomes of the packet
//     tuning.h           the numbers by which passes and printers decide what pays
//     specialise.c       the rest of a control, once for each value of the variable that decides it
//     prefetch.c         the lookups of a burst's packets
//     cells_ahead.c      cells of registers that a packet's later passes use
//     filled_runs.c      tables of numbers that are looked up one after the other
//     egress.c           the work that the engine may leave out of an egress
//     parser_facts.c     bytes before the packet, lookahead, loops between states, segments of
//                        headers
//     dump.c             a plan as text: which optimisation fired where
//
// A plan is complete before the first line of C is printed, and printing (compiler/print) reads it
// only. The array in plan.c lists the needs and the results of each pass; the order
// of calls follows from it.
#ifndef SILKEN_COMPILER_PLAN_PLAN_H
#define SILKEN_COMPILER_PLAN_PLAN_H

#include <stdio.h>

#include "compiler/ir/emitted.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/target.h"
#include "compiler/plan/tuning.h"
#include "compiler/rules/rules.h"

struct plan_var {
    const void *user; // what uses it when one thing does: a block, an action, a register action
    bool shared;      // in phv
    bool touched;     // mentioned other than by extraction and emission
    bool on_wire;     // it is read and written in a header's bytes
    bool deferred;    // new values of a field on the wire wait in phv (deferred_stores.c)
};
// A stretch of a header that is loaded and stored as one: raw bytes, or fields of at most 64 bits
// between two byte boundaries, or one field of any size.
struct plan_segment {
    unsigned first, count; // fields
    unsigned bit_offset, bits;
    bool raw;
};
struct plan_header {
    VEC(struct plan_segment) segments;
    bool extracted, emitted;
    bool needs_end; // the parser keeps a pointer to its end (residual checksums)
};
// Where a packet that comes around may have been cut in two: split_packet.c.
struct plan_seam {
    size_t n; // lengths of headers before it: the usual one is the first; 0: no seam
    unsigned bytes[PLAN_MAX_SEAMS];
    const struct ir_header *head;  // of several: the one with which all these packets begin
    size_t first;                  // of the emits: from this one on they are after it
    const struct ir_header *given; // whose fields are known without looking at the packet; or null
    bool prefix_is_read;           // what the architecture puts before the packet, beside that
};
struct plan_lanes;
// Layout decisions (plan.c, in_place.c).
struct plan_home {
    bool on_wire;  // "v->at_h3" points to the header's bytes
    bool in_state; // the pipe's state has room for a copy
    bool written;  // to some field
    bool in_place; // these are the packet's own; else a copy, made when it is extracted
};
struct plan_bank { // registers of one shape, interleaved
    const struct ir_register *shape;
    unsigned lanes;
    bool of_loop; // made by the pass 'lanes', for a loop
};
struct plan_row { // registers that are used at one index, side by side
    VEC(const struct ir_register *) registers;
};
struct plan_register {
    bool banked, in_row;
    unsigned bank, lane;
    unsigned row;
};
struct plan_table {
    bool branches;         // its entries become branches
    bool needs_entry;      // direct counters or registers
    bool fixed;            // nobody can give it another default action
    unsigned applied;      // apply statements
    unsigned filled_group; // those that it is looked up with (filled_runs.c), from 1; 0: with none
    // Of tables that are looked up in a loop over lanes: which they are (plan.lane_tables, from 1;
    // 0: none), and the lane.
    unsigned lane_table, lane;
    unsigned leader; // table that it is fused with, or itself
    unsigned followers;
    unsigned next; // of the group, in the order of application; itself at the end
    // Assignments that follow its application, of a fused group's table: as many for each.
    const struct ir_stmt *const *tail;
    size_t n_tail;
    // Of a fused group's leader: the loops that the actions of an entry's position become, after
    // the last entry those of the default actions; null: none.
    const struct plan_lanes **loops;
    // Of a fused group's leader: its loops run when the control is done (sunk_loops.c).
    bool last;
};
// Variables of one width, by lane, that are elements of one array in phv, or equal tables of which
// each lane looks up its own.
struct plan_lane_array {
    const struct ir_var *const *of;
    unsigned n;
};
struct plan_lane_tables {
    const struct ir_table *const *of;
    unsigned n;
    bool filled; // with numbers; else their entries are branches
};
struct plan_place { // of a variable
    unsigned array; // plan.arrays, from 1; 0: none
    unsigned lane;
};
struct plan_lane_run { // statements of a block that become a loop
    const struct ir_stmt *first;
    size_t n_stmts;
    const struct plan_lanes *lanes;
    bool last; // where its first table chooses alike for all lanes, the rest waits (sunk_loops.c)
};
// What is known of a variable in some part of a control.
struct plan_fact {
    const struct ir_var *var;
    big value; // null: it has none of the values in 'other', and no more is known
    big *other;
    size_t n_other;
    const struct plan_fact *more;
};
// The rest of a control from one of its statements on, specialised for each value of a variable.
struct plan_continuation {
    unsigned id;                   // the number of its function
    const struct plan_fact *facts; // what is known in it
    struct ir_block *body; // its statements; the last one is the choice, if there is a split
    const struct plan_specialisation *split;
};
struct plan_specialisation {
    size_t at; // the first statement of the continuations
    const struct ir_var *var;
    unsigned uses; // places that ask for it
    size_t n;      // values: there are n + 1 continuations, the last one for all other values
    const big *values;
    struct plan_continuation *of;
};
// What a burst's packets look up is fetched ahead: on one path, for a table whose key is fields of
// these headers.
struct plan_prefetch {
    const struct ir_table *table; // null: none
    int path;
    const bool *headers;
};
// A cell that a later pass of the packet uses is fetched ahead: at an index that is an expression
// of fields on the wire, as the packet leaves its first pass.
struct plan_cell_ahead {
    const struct ir_register *reg;
    const struct ir_expr *index;
    const bool *at_end; // by end of a path: its pass may be the first one
};

// The plan of one gress.
struct plan {
    struct arena *a;
    struct diag *d;
    const struct ir_program *program;
    const struct ir_pipeline *pipeline;
    const struct ir_gress *g;
    bool checked;        // the checked build: compiler/print/checked/checked.h
    bool vectorise;      // repetitions over registers become loops
    const char *without; // the name of a pass that does not run; or null
    unsigned done;       // what passes gave so far
    VEC(struct plan_bank) banks;
    VEC(struct plan_row) rows;
    const struct ir_expr *
        *index; // by register: what the program uses it at; null: not one expression
    struct plan_register *registers;
    struct plan_table *tables;
    struct plan_home *homes;
    VEC(struct plan_lane_run) runs;
    VEC(struct plan_lane_array) arrays;
    VEC(struct plan_lane_tables) lane_tables;
    struct plan_place *places; // by variable
    bool *only_sunk; // by variable: only loops that run last write it; null: there are none
    struct plan_var *vars;
    struct plan_header *headers;
    const struct ir_block *control; // the gress's, or with specialised copies of parts of it
    const struct plan_specialisation *split; // of the control; null: none
    unsigned n_continuations, max_depth;     // copies of its rest; splits within copies
    struct plan_paths *paths;                // null: parse_paths.c knows none
    struct plan_prefetch prefetch;
    VEC(struct plan_cell_ahead) cells_ahead;
    unsigned n_filled_groups;
};
struct plan_options {
    bool checked, vectorise;
    const char *without; // the name of a pass that plan_is_optional; or null
};

static inline bool plan_is_wide(unsigned width) {
    return width > RULES_MAX_WIDTH;
}
static inline unsigned plan_words(unsigned width) {
    return (width + 63) / 64;
}
static inline unsigned plan_bytes(unsigned width) {
    return (width + 7) / 8;
}

// ---- the passes (plan.c) ----
// Plans both gresses of a pipeline; plans[] is by gress. Deparsers that a Tofino cannot have are
// errors in 'd'.
void plan_pipeline(struct arena *a, struct diag *d, const struct ir_program *program,
                   const struct ir_pipeline *pipeline, const struct plan_options *opt,
                   struct plan plans[2]);
// A pass of that name may be left out (plan_options.without): what it would have made faster is
// not.
bool plan_is_optional(const char *pass);
// Which optimisation fired where: a line each, with its place in the source (dump.c).
void plan_dump(FILE *out, const struct plan *plan);

// Each of these is a pass; they run in the order that the array in plan.c has.
void plan_in_place(struct plan *plan);
void plan_branches(struct plan *plan);
void plan_fusion(struct plan *plan);
void plan_lanes(struct plan *plan);
void plan_sunk_loops(struct plan *plan);
void plan_banks(struct plan *plan);
void plan_rows(struct plan *plan);
void plan_specialise(struct plan *plan);
void plan_variables(struct plan *plan);
void plan_deferred_stores(struct plan *plan);
void plan_parse_paths(struct plan *plan);
void plan_settle_stores(struct plan *plan);
void plan_split_packet(struct plan *plan);
void plan_prefetch(struct plan *plan);
void plan_cells_ahead(struct plan *plan);
void plan_filled_runs(struct plan *plan);

// ---- where variables live (analyse.c, parser_facts.c) ----
bool plan_is_validity(const struct plan *plan,
                      const struct ir_var *v); // of a header; v may be null
void plan_share_loaded(struct plan *plan);     // what sunk loops load (sunk_loops.c)
void plan_segments(struct plan *plan);         // of headers that are not on the wire
void plan_ends(struct plan *plan);             // whose ends residual checksums ask for

// ---- entries as branches, tables matched once (fusion.c) ----
// What a statement applies that is 'T.apply();' or 'if (guard) { T.apply(); }', or null; '*guard'
// is null without one.
const struct ir_stmt *plan_application(const struct ir_stmt *s, const struct ir_expr **guard);
// The table that is matched together with 't' after it, or null.
const struct ir_table *plan_next_of_group(const struct plan *plan, const struct ir_table *t);
// The action of the entry at that position; after the last entry, the default action.
const struct ir_action *plan_action_at(const struct ir_table *t, size_t position);
// The statements from this one on that become a loop over lanes, and how many they are; null, 0:
// none.
// The one action of a table's entries, or null.
const struct ir_action *plan_only_action(const struct ir_table *t);
// A table that has nothing but one number for each key: stages/table.h, sk_table_may_be_filled.
bool plan_may_be_filled(const struct plan *plan, const struct ir_table *t);
// How many statements of the block, from 'i' on, are a run of such tables of one group; or 0.
size_t plan_filled_run(const struct plan *plan, const struct ir_block *b, size_t i);
// The statement applies one and does nothing more.
bool plan_looks_up(const struct plan *plan, const struct ir_stmt *s);
const struct plan_lane_run *plan_lane_run_at(const struct plan *plan, const struct ir_stmt *first);
// ---- how much C is printed for a block, in statements (weigh.c); after LANES ----
unsigned plan_weigh(const struct plan *plan, const struct ir_block *b);
// Only what may be left of it where these facts are known at its beginning.
unsigned plan_weigh_known(const struct plan *plan, const struct ir_block *b,
                          const struct plan_fact *facts);
// Each variable that the statements of a block may write, also in actions and register actions: at
// least once.
void plan_each_written(const struct ir_block *b, void (*fn)(void *aux, const struct ir_var *v),
                       void *aux);
// The headers that the deparser writes if they are valid, and that the rest of the pass may add or
// remove: how many; the first 'most' of them in 'changed'.
size_t plan_changed_headers(const struct plan *plan, const struct ir_header **changed, size_t most);
// How much C is printed where a control ends, in statements: what is not known of the headers.
unsigned plan_weigh_end(const struct plan *plan);
size_t plan_lane_run_length(const struct plan *plan, const struct ir_stmt *first);
// How many statements of a block belong together with this one: a fused group, a loop over lanes;
// or 1.
size_t plan_together(const struct plan *plan, const struct ir_stmt *s);

// ---- headers on the wire (in_place.c) ----
const struct plan_home *plan_home_of(const struct plan *plan, const struct ir_header *h);
bool plan_home_is_placed(const struct plan *plan, const struct ir_header *h); // phv has its pointer

// ---- the rest of a control for each value of a variable (specialise.c) ----
// The same gress with plan->control as its control: what is compiled, for those who run or verify
// it.
struct ir_gress plan_specialised(const struct plan *plan);
// Whether the condition is true (1), false (0) or not known (-1).
int plan_known(const struct plan_fact *facts, const struct ir_expr *x);
// False: the entry does not match where these facts are known.
bool plan_may_match(const struct plan *plan, const struct plan_fact *facts,
                    const struct ir_table *t, const struct ir_entry *entry);

// ---- parsers (parser_facts.c) ----
// Bytes of the chip's own metadata that the parser sees before the packet.
unsigned plan_prefix_bytes(const struct plan *plan);
unsigned plan_tail_bytes(const struct plan *plan); // room for a last header with the frame check
// An ir_expr visitor: raises *(unsigned *)aux to the bytes that the expression looks ahead.
void plan_lookahead_bytes(void *aux, const struct ir_expr *x);
// The part of a residual checksum's list that names a header's field last, or null.
const struct ir_expr *plan_last_part(const struct ir_stmt *s);

// ---- deparsers (compiler/ir/emitted.h) ----
static inline ir_header_vec plan_emits(const struct plan *plan) {
    return ir_emits(plan->a, plan->g, NULL);
}

// ---- what the engine may leave out (egress.c): sk_pipeline_desc's members of these names ----
bool plan_egress_idle(const struct plan *plan); // of an egress
uint32_t plan_reach(const struct plan *plan);   // egress_reach, and what one pass of ingress takes

// ---- paths through the parser (parse_paths.c) ----
// Null: there is none.
const struct plan_seam *plan_seam_of(const struct plan *plan);
// A packet that recirculates past egress may go on in the entry function itself (pipeline/hop.h),
// after a label 'again'.
bool plan_paths_go_on(const struct plan *plan);
// The shortest path that leaves all these headers in the packet after the prefix, unchanged; -1: no
// path does.
int plan_path_with(const struct plan *plan, const bool *headers);

// ---- split packets: headers in one place, what follows them in another (split_packet.c) ----
// What a field of the first header is of a packet that came around, without looking at its bytes.
enum plan_given_kind { PLAN_NOT_GIVEN, PLAN_GIVEN_ZERO, PLAN_GIVEN_PORT, PLAN_GIVEN_TIME };
enum plan_given_kind plan_given(const struct ir_var *f);

// ---- cells of later passes (cells_ahead.c) ----
// Sets those by header that the expression has fields of; of fields alone.
void plan_headers_of(const struct ir_expr *x, bool *headers);

// ---- registers side by side (register_layout.c) ----
unsigned plan_row_bytes(const struct plan_row *row);
unsigned plan_cell_bytes(const struct ir_register *r);

#endif
