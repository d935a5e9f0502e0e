// SPDX-License-Identifier: Apache-2.0
//
// plan: what is decided before C is printed: where variables, headers and registers live, which statements
// become loops, which paths and cases get code of their own. The face of the room.
//
//     plan.c             fused tables, branches, banks of registers; emit_make_plan() runs the passes in order
//     analyse.c          which code uses which variable, and so where the variable lives
//     lanes.c            one operation over many registers, as one loop (lanes.h)
//     register_layout.c  registers that are used at one index, side by side
//     in_place.c         headers that stay in the packet's bytes
//     deferred_stores.c  fields whose new values wait until the headers have their place
//     parse_paths.c      what is known of a packet by its path through the parser (parse_paths.h)
//     split_packet.c     packets that come around in two pieces, the headers and what follows them
//     sunk_loops.c       loops over lanes that run when it is known what becomes of the packet
//     specialise.c       the rest of a control, once for each value of the variable that decides it
//     prefetch.c         what a burst's packets will look up
//     flow_record.c      what a pass notes of a packet, so that the engine can repeat it
//     egress.c           what the engine may leave out of an egress
//     parser_facts.c     bytes in front of the packet, lookahead, loops between states, segments of headers
//
// The order. emit_make_plan(): headers in place, branches, fused tables, lanes, sunk loops, headers in place
// again (they depend on the sunk loops), banks and rows of registers. It runs for both gresses before anything
// is printed; then emit_plan_notes(). Before the functions of a gress (gress_functions in
// compiler/print/emit.c): specialisation, emit_analyse(), parse paths, deferred stores, parse paths again,
// split packets, prefetch.
//
// 'struct emit' is the context of planning and of printing. Most passes still print what they planned: those
// files include compiler/print/emit_impl.h, and harness/rooms/arrows.py lists each of them.
#ifndef SILKEN_COMPILER_PLAN_PLAN_H
#define SILKEN_COMPILER_PLAN_PLAN_H

#include <stdio.h>

#include "compiler/ir/emitted.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/target.h"
#include "compiler/rules/rules.h"

#define EMIT_MAX_BRANCHES 64 // const entries that become branches
#define EMIT_MAX_INDEX    16 // bits of an exact key that is the index of an array

// Fields between two byte boundaries, none of which ends at one, in a word: 1, 2, 4 or 8 bytes. 0: there are
// more, or of another number.
struct emit_container {
    unsigned byte, bytes; // of the header
    unsigned bit;         // of the word, where the field starts
};
struct emit_var {
    const void *user; // what uses it when one thing does: a block, an action, a register action
    bool shared;      // in phv
    bool touched;     // mentioned other than by extraction and emission
    bool masked;      // the checked build knows which of its bits are undefined
    const char *wire; // a field on the wire: C text of a pointer to its first byte; else null
    bool held;        // new values of a field on the wire wait in phv (deferred_stores.c)
    unsigned bit;     // of that byte, where the field starts
    struct emit_container word; // of a field of parts of bytes
    const char *received;       // C text of its value in the packet, of one that is held
    const char *ref;            // C text of its value: "v->x" or "x"; of a wide one, of its bytes
    const char *name;           // C identifier
};
// A stretch of a header that is loaded and stored as one: raw bytes, or fields of at most 64 bits
// between two byte boundaries, or one field of any size.
struct emit_segment {
    unsigned first, count; // fields
    unsigned bit_offset, bits;
    bool raw;
};
struct emit_header {
    VEC(struct emit_segment) segments;
    bool extracted, emitted;
    bool needs_end; // the parser keeps a pointer to its end (residual checksums)
};
// Where a packet that comes around may have been cut in two: split_packet.c.
struct emit_seam {
    unsigned bytes;                // of headers in front of it; 0: there is none
    size_t first;                  // of the emits: from this one on they are behind it
    const struct ir_header *given; // whose fields are known without looking at the packet; or null
    bool prefix_is_read;           // what the architecture puts in front of the packet, beside that
};
struct emit_lanes;
struct emit_label {
    unsigned label, printed;
    struct emit_label *outer;
};

// Layout decisions (plan.c, in_place.c).
struct emit_home {
    bool on_wire;  // "v->at_h3" points to the header's bytes
    bool written;  // to some field
    bool in_place; // these are the packet's own; else a copy, made when it is extracted
};
struct emit_bank { // registers of one shape, interleaved
    const struct ir_register *shape;
    unsigned lanes;
};
struct emit_row { // registers that are used at one index, side by side
    VEC(const struct ir_register *) registers;
};
struct emit_register {
    bool banked, in_row;
    unsigned bank, lane;
    unsigned row;
};
struct emit_table {
    bool branches;    // its entries become branches
    bool needs_entry; // direct counters or registers
    bool fixed;       // nobody can give it another default action
    unsigned applied; // apply statements
    unsigned leader;  // table that it is fused with, or itself
    unsigned followers;
    unsigned next; // of the group, in the order of application; itself at the end
    // Assignments that follow its application, of a fused group's table: as many for each.
    const struct ir_stmt *const *tail;
    size_t n_tail;
    // Of a fused group's leader: the loops that the actions of an entry's position become, behind the
    // last entry those of the default actions; null: none.
    const struct emit_lanes **loops;
    // Of a fused group's leader: its loops run when the control is done (sunk_loops.c).
    bool last;
};
struct emit_lane_run { // statements of a block that become a loop
    const struct ir_stmt *first;
    size_t n_stmts;
    const struct emit_lanes *lanes;
};
struct emit_plan {
    VEC(struct emit_bank) banks;
    VEC(struct emit_row) rows;
    const struct ir_expr *
        *index; // by register: what the program uses it at; null: not one expression
    struct emit_register *registers;
    struct emit_table *tables;
    struct emit_home *homes; // of the gress's headers
    VEC(struct emit_lane_run) runs;
    bool *only_last; // by variable: only loops that run last write it; null: there are none
};
// What becomes of what a loop over lanes computes for fields on the wire: it is stored where it belongs;
// in one piece behind the loop; it is not needed.
enum emit_lane_stores { EMIT_STORES, EMIT_STORES_APART, EMIT_STORES_NOTHING };

struct emit {
    FILE *out;
    struct arena *a;
    struct diag *d;
    const struct ir_program *program;
    const struct ir_pipeline *pipeline;
    unsigned pipeline_index;
    const struct ir_gress *g;
    const char *p;             // prefix of the gress's functions and types: "p0i"
    struct emit_plan plans[2]; // by gress
    struct emit_var *vars;
    struct emit_header *headers;
    struct emit_label *labels; // innermost first
    unsigned n_labels;
    const void *user;                  // whose body is being printed
    struct loc at;                     // of the statement being printed
    const struct emit_lanes *lanes;    // the loop that is being printed, or null
    enum emit_lane_stores lane_stores; // of loops that are printed
    bool in_parser;
    struct emit_paths *paths; // of e->g, or null: parse_paths.c
    // What the pipeline's function p0_ahead looks up, of ingress; null: there is none.
    const struct ir_table *ahead;
    bool notes;      // the pipeline takes notes: flow_record.c
    bool goes_apart; // ingress takes a packet apart: split_packet.c
    bool splits;     // the control has rests: specialise.c
    unsigned n_rests;
    const struct emit_fact *facts; // what is known where a rest is being printed; null: nothing
    bool enough;                   // bytes for the extracts that are being printed
    bool checked;                  // the checked build: compiler/print/checked/checked.h
    bool vectorise;                // repetitions over registers become loops
    int indent;
    unsigned n_temps;
};

static inline bool emit_is_wide(unsigned width) {
    return width > EMIT_MAX_WIDTH;
}
static inline unsigned emit_words(unsigned width) {
    return (width + 63) / 64;
}
static inline unsigned emit_bytes(unsigned width) {
    return (width + 7) / 8;
}

// ---- where variables live (analyse.c) ----
bool emit_is_validity(const struct emit *e, const struct ir_var *v); // of a header; v may be null
// Decides where the variables of e->g live. Fills e->vars and e->headers.
void emit_analyse(struct emit *e);
// Declares the locals that 'user' owns.
void emit_locals(struct emit *e, const void *user);

// ---- layout (plan.c) ----
void emit_make_plan(struct emit *e); // of e->g
struct emit_plan *emit_plan_of(struct emit *e);
// What a statement applies that is 'T.apply();' or 'if (guard) { T.apply(); }', or null; '*guard' is
// null without one.
const struct ir_stmt *emit_application(const struct ir_stmt *s, const struct ir_expr **guard);
// The statements from this one on that become a loop over lanes, and how many they are; null, 0: none.
const struct emit_lane_run *emit_lane_run_at(struct emit *e, const struct ir_stmt *first);
size_t emit_lane_run_length(struct emit *e, const struct ir_stmt *first);

// ---- headers on the wire (in_place.c) ----
void emit_plan_homes(struct emit *e); // of e->g, into its plan
const struct emit_home *emit_home_of(struct emit *e, const struct ir_header *h);
// Bytes from that one on, where a field begins, that are stored at once when the field is.
unsigned emit_stored_bytes(const struct ir_header *h, unsigned byte);
// Sets the texts of a field that is 'wire' bytes after the C text 'from'.
void emit_wire_refs(struct emit *e, const struct ir_var *v, const char *from);
bool emit_home_is_placed(struct emit *e, const struct ir_header *h); // phv has its pointer
void emit_home_members(struct emit *e);                              // of phv
void emit_home_state(struct emit *e);                                // members of the state struct
unsigned emit_home_room(const struct ir_header *h);                  // bytes that a home has
void emit_home_begin(struct emit *e);                                // in the entry function
void emit_home_end(struct emit *e);
// Clears the home in the pipe's state, of which that is the name: a statement without ';'.
const char *emit_home_clear(struct emit *e, const char *state, const struct ir_header *h);
// Notes, where ways through the parser are printed one by one, that a variable is about to be written.
void emit_home_write(struct emit *e, const struct ir_var *v);
void emit_home_extracted(struct emit *e, const struct ir_header *h); // at 'p'
// Notes by variable what the control, the deparser and what they run write to.
void emit_note_written(struct emit *e, bool *written);

// ---- loops that run when it is known what becomes of the packet (sunk_loops.c) ----
void emit_plan_last(struct emit *e);    // of e->g, behind its loops
void emit_share_last(struct emit *e);   // in emit_analyse
void emit_last_members(struct emit *e); // of phv
// Prints what a position of a fused group does. False: the group's loops do not wait.
bool emit_note_last(struct emit *e, const struct ir_table *leader, size_t position);
void emit_last(struct emit *e); // the function p0i_last, if there is use for it
void emit_call_last(struct emit *e, bool leaves);

// ---- the rest of a control for each value of a variable (specialise.c) ----
bool emit_splits(struct emit *e);        // of e->g: there is such a variable
void emit_split_control(struct emit *e); // the function p0i_control and those that it calls
// What the facts of where it is printed say of a condition, and of a key's match in an entry: 1 true, 0
// false, -1 nothing.
int emit_known(const struct emit *e, const struct ir_expr *x);
int emit_known_match(struct emit *e, const struct ir_key *k, const struct ir_key_value *v);
bool emit_knows_keys(const struct emit *e, const struct ir_table *t); // some of them

// ---- what a burst looks up, fetched ahead (prefetch.c) ----
void emit_plan_ahead(struct emit *e); // of e->g, an ingress: e->ahead
void emit_ahead(struct emit *e);      // the function p0_ahead, if there is use for it

// ---- fields whose new values are held back (deferred_stores.c) ----
void emit_plan_held(struct emit *e);    // of e->g, behind emit_analyse; plans homes again
void emit_drop_held(struct emit *e);    // takes that back
void emit_held_members(struct emit *e); // of phv
bool emit_holds(const struct emit *e, const struct ir_header *h);
// C text: all of the header's fields are held; empty: some cannot be.
const char *emit_holds_all(struct emit *e, const struct ir_header *h);
// Stores what is held of a header, whose bytes are at C text "to_h".
void emit_held_stores(struct emit *e, const struct ir_header *h);
// The value of 'n' fields that are side by side on the wire from the first byte of C text 'from' on and
// fill so many bytes, at most 8.
const char *emit_held_word(struct emit *e, const struct ir_var *const *fields, size_t n,
                           const char *from, unsigned bytes);

// ---- notes of what a pass does (flow_record.c): nothing where the pipeline takes none ----
void emit_plan_notes(struct emit *e);                             // of e->pipeline: e->notes
void emit_note_masks(struct emit *e);                             // of e->g
void emit_note_stmt(struct emit *e, const struct ir_stmt *s);     // in front of it
void emit_note_keys(struct emit *e, const struct ir_state *st);   // of its select
void emit_note_action(struct emit *e, const struct ir_action *a); // in front of a table's
void emit_note_verified(struct emit *e, const char *wrong);
// C texts of what was counted; 'last', 'packets' and 'bytes' may be null.
void emit_note_hit(struct emit *e, const char *hits, const char *last);
void emit_note_count(struct emit *e, const char *packets, const char *bytes, const char *counted);

// ---- parsers (parser_facts.c) ----
void emit_segments(struct emit *e);               // plans e->headers
unsigned emit_prefix_bytes(const struct emit *e); // that the parser sees in front of the packet
unsigned emit_tail_bytes(const struct emit *e);   // room for a last header with the frame check
bool emit_parser_loops(const struct emit *e);     // a state can be reached again from itself
// An ir_expr visitor: raises *(unsigned *)aux to the bytes that the expression looks ahead.
void emit_lookahead_bytes(void *aux, const struct ir_expr *x);

// ---- deparsers (compiler/ir/emitted.h) ----
typedef ir_header_vec emit_header_vec;
static inline emit_header_vec emit_emits(struct emit *e) {
    return ir_emits(e->a, e->g, NULL);
}

// ---- what the engine may leave out (egress.c): sk_pipeline_desc's members of these names ----
bool emit_egress_idle(const struct emit *e); // of e->g, an egress
uint32_t emit_reach(const struct emit *e);   // egress_reach, and what one pass of ingress takes

// ---- ways through the parser (parse_paths.c, printed by compiler/print/path_entry.c) ----
void emit_plan_paths(struct emit *e); // of e->g, when it is worth it
// Null: there is none.
const struct emit_seam *emit_seam_of(const struct emit *e);
const char *emit_inline(const struct emit *e); // how functions of phv are declared
// A packet that recirculates past egress may go on in the entry function itself (pipeline/hop.h), behind a label 'again'.
bool emit_paths_go_on(const struct emit *e);

// ---- packets whose headers lie apart from what is behind them (split_packet.c) ----
void emit_plan_given(struct emit *e); // of e->g, behind its paths
bool emit_is_given(const struct emit *e, const struct ir_header *h);
// Behind its extraction: sets its fields, of a packet that came around.
void emit_given(struct emit *e);
void emit_apart_members(struct emit *e); // of phv
void emit_apart(struct emit *e);         // the function p0i_emit_apart, if there is use for it

// ---- registers side by side (register_layout.c) ----
void emit_plan_rows(struct emit *e); // behind the banks
void emit_rows(struct emit *e);      // the state's members
unsigned emit_row_bytes(const struct emit_row *row);
const char *emit_row_cell(struct emit *e, const struct ir_register *r, const char *index,
                          const char *word);

#endif
