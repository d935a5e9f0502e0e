// SPDX-License-Identifier: Apache-2.0
//
// emit_impl: what the rooms of emission share. The interface to the outside is emit.h.
//
// Emission prints C. An expression becomes a piece of text of one of three C types, by its width
// (1..32 bits: uint32_t, 33..64: uint64_t, 65..128: sk_u128), always reduced to its width, so no
// operation can overflow in C's sense. Wider variables ("wide") are byte arrays in network order;
// what is computed from them are arrays of words (emit_wide.c).
//
// Where a variable lives is decided before printing (analyse): in the per-packet struct "phv"; in a
// local variable of the one C function that uses it; or, fields of most headers, on the wire: phv has
// a pointer to the header's bytes, which are read and written where a field is touched
// (emit_home.c). The checked build has no such headers: there, fields that the program never looks
// at are kept as a raw copy between extraction and emission.
#ifndef SILKEN_COMPILER_EMIT_IMPL_H
#define SILKEN_COMPILER_EMIT_IMPL_H

#include "compiler/emit.h"

#define EMIT_MAX_WIDTH    128  // of what is a C number
#define EMIT_MAX_EMITTED  480u // bytes of headers that a Tofino's deparser can put out
#define EMIT_MAX_BRANCHES 64   // const entries that become branches
#define EMIT_MAX_INDEX    16   // bits of an exact key that is the index of an array
#define EMIT_TABLE_SIZE   512  // of a table without 'size' (tna-facts 4.12)
#define EMIT_MAX_STATE    (UINT64_C(4) << 30) // bytes of registers and counters in a pipe

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
    bool held;        // new values of a field on the wire wait in phv: emit_held.c
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
// Where a packet that comes around may have been cut in two: emit_apart.c.
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

// Layout decisions (emit_plan.c, emit_home.c).
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
    bool last; // of a fused group's leader: its loops run when the control is done (emit_last.c)
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
    struct emit_paths *paths; // of e->g, or null: emit_paths.c
    // What the pipeline's function p0_ahead looks up, of ingress; null: there is none.
    const struct ir_table *ahead;
    bool notes;      // the pipeline takes notes: emit_note.c
    bool goes_apart; // ingress takes a packet apart: emit_apart.c
    bool splits;     // the control has rests: emit_split.c
    unsigned n_rests;
    const struct emit_fact *facts; // what is known where a rest is being printed; null: nothing
    bool enough;                   // bytes for the extracts that are being printed
    bool checked;                  // the checked build: emit_checked.h
    bool vectorise;                // repetitions over registers become loops
    int indent;
    unsigned n_temps;
};

// ---- text (emit.c) ----
// One line at the current indentation; no '\n' in the format.
void emit_line(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Like emit_line, then one step in; and one step out, then a line ("}").
void emit_open(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void emit_close(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *emit_text(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *emit_ident(struct emit *e, const char *name); // letters, digits, '_'
const char *emit_string(struct emit *e, const char *s);   // a C string literal
const char *emit_comment(struct emit *e, const char *s);  // safe inside /* */ and //

// ---- walking (emit_analyse.c) ----
typedef void (*emit_on_stmt)(void *aux, const struct ir_stmt *s);
typedef void (*emit_on_expr)(void *aux, const struct ir_expr *x);
// Every statement and every expression (parents first) in a block and the blocks in it; either
// function may be null.
void emit_walk(const struct ir_block *b, emit_on_stmt on_stmt, emit_on_expr on_expr, void *aux);
void emit_walk_expr(const struct ir_expr *x, emit_on_expr on_expr, void *aux);
bool emit_block_has(const struct ir_block *b, enum ir_stmt_kind kind);
bool emit_is_validity(const struct emit *e, const struct ir_var *v); // of a header; v may be null
// Decides where the variables of e->g live. Fills e->vars and e->headers.
void emit_analyse(struct emit *e);
// Declares the locals that 'user' owns.
void emit_locals(struct emit *e, const void *user);

// ---- layout (emit_plan.c) ----
void emit_make_plan(struct emit *e); // of e->g
struct emit_plan *emit_plan_of(struct emit *e);
// What a statement applies that is 'T.apply();' or 'if (guard) { T.apply(); }', or null; '*guard' is
// null without one.
const struct ir_stmt *emit_application(const struct ir_stmt *s, const struct ir_expr **guard);

// ---- headers on the wire (emit_home.c) ----
void emit_plan_homes(struct emit *e); // of e->g, into its plan
const struct emit_home *emit_home_of(struct emit *e, const struct ir_header *h);
// Sets the texts of a field that is 'wire' bytes behind the C text 'from'.
// Bytes from that one on, where a field begins, that are stored at once when the field is.
unsigned emit_stored_bytes(const struct ir_header *h, unsigned byte);
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

// ---- loops that run when it is known what becomes of the packet (emit_last.c) ----
void emit_plan_last(struct emit *e);    // of e->g, behind its loops
void emit_share_last(struct emit *e);   // in emit_analyse
void emit_last_members(struct emit *e); // of phv
// Prints what a position of a fused group does. False: the group's loops do not wait.
bool emit_note_last(struct emit *e, const struct ir_table *leader, size_t position);
void emit_last(struct emit *e); // the function p0i_last, if there is use for it
void emit_call_last(struct emit *e, bool leaves);

// ---- the rest of a control for each value of a variable (emit_split.c) ----
bool emit_splits(struct emit *e);        // of e->g: there is such a variable
void emit_split_control(struct emit *e); // the function p0i_control and those that it calls
// What the facts of where it is printed say of a condition, and of a key's match in an entry: 1 true, 0
// false, -1 nothing.
int emit_known(const struct emit *e, const struct ir_expr *x);
int emit_known_match(struct emit *e, const struct ir_key *k, const struct ir_key_value *v);
bool emit_knows_keys(const struct emit *e, const struct ir_table *t); // some of them

// ---- what a burst looks up, fetched ahead (emit_ahead.c) ----
void emit_plan_ahead(struct emit *e); // of e->g, an ingress: e->ahead
void emit_ahead(struct emit *e);      // the function p0_ahead, if there is use for it

// ---- fields whose new values are held back (emit_held.c) ----
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

// ---- notes of what a pass does (emit_note.c): nothing where the pipeline takes none ----
void emit_plan_notes(struct emit *e);                             // of e->pipeline: e->notes
void emit_note_masks(struct emit *e);                             // of e->g
void emit_note_stmt(struct emit *e, const struct ir_stmt *s);     // in front of it
void emit_note_keys(struct emit *e, const struct ir_state *st);   // of its select
void emit_note_action(struct emit *e, const struct ir_action *a); // in front of a table's
void emit_note_verified(struct emit *e, const char *wrong);
// C texts of what was counted; 'last', 'packets' and 'bytes' may be null.
void emit_note_hit(struct emit *e, const char *hits, const char *last);
void emit_note_count(struct emit *e, const char *packets, const char *bytes, const char *counted);

// ---- types and expressions (emit_expr.c) ----
const char *emit_ctype(unsigned width);   // of an expression: uint32_t, uint64_t, sk_u128
const char *emit_storage(unsigned width); // of a variable: uint8_t...
static inline bool emit_is_wide(unsigned width) {
    return width > EMIT_MAX_WIDTH;
}
static inline unsigned emit_words(unsigned width) {
    return (width + 63) / 64;
}
static inline unsigned emit_bytes(unsigned width) {
    return (width + 7) / 8;
}
const char *emit_const(struct emit *e, big value, unsigned width);
const char *emit_ones(struct emit *e, unsigned width); // all bits set; at most 128
const char *emit_expr(struct emit *e, const struct ir_expr *x);
const char *emit_cond(struct emit *e, const struct ir_expr *x); // as a C condition
// An expression as a uint64_t; values beyond 64 bits become UINT64_MAX (indices, shift amounts).
const char *emit_u64(struct emit *e, const struct ir_expr *x);
void emit_assign(struct emit *e, const struct ir_var *v, const struct ir_expr *x);
// A statement, without ';', that gives a variable of at most 128 bits the value of a C text, which
// is reduced to its width.
const char *emit_set(struct emit *e, const struct ir_var *v, const char *value);
// ---- emit_wide.c: an expression of any width as a pointer to its words; comparisons ----
const char *emit_wide(struct emit *e, const struct ir_expr *x);
const char *emit_wide_const(struct emit *e, big value, unsigned width);
const char *emit_wide_compare(struct emit *e, const struct ir_expr *x);
void emit_assign_slice(struct emit *e, const struct ir_var *v, unsigned lo, unsigned width,
                       const struct ir_expr *x);
// Writes the bits of 'x' into byte array 'bytes' at bit 'offset'.
void emit_put_bits(struct emit *e, const char *bytes, unsigned offset, const struct ir_expr *x);
// Word 'i' (least significant first) of an expression: a uint64_t.
const char *emit_word(struct emit *e, const struct ir_expr *x, unsigned i);
const char *emit_ref(struct emit *e, const struct ir_var *v);

// ---- registers (emit_register.c) ----
void emit_regactions(struct emit *e);
// C text of the index of the cell that comes next, with the register's counters as they are.
const char *emit_counted_cell(struct emit *e, const struct ir_regaction *ra, enum ir_reg_use use);
void emit_reg_exec(struct emit *e, const struct ir_stmt *s);
// No value of the index is beyond the last of 'size' cells.
bool emit_always_inside(const struct ir_expr *index, uint64_t size);
void emit_reg_read(struct emit *e, const struct ir_stmt *s);
void emit_reg_write(struct emit *e, const struct ir_stmt *s);

// ---- statements, actions (emit_stmt.c) ----
void emit_block(struct emit *e, const struct ir_block *b);
void emit_stmt(struct emit *e, const struct ir_stmt *s);
// How many statements from this one on become a loop over lanes; 0: none.
size_t emit_lane_run_length(struct emit *e, const struct ir_stmt *first);
void emit_actions(struct emit *e);
void emit_control(struct emit *e);
// The hash of 'bytes' bytes in array 'b': an sk_u128.
const char *emit_hash_value(struct emit *e, const struct ir_hash *h, const char *b, unsigned bits);
void emit_checksum_args(struct emit *e, const char *sum, const struct ir_stmt *s);
uint64_t emit_checksum_most(struct emit *e, const struct ir_stmt *s);

// ---- counters, meters, filters (emit_meter.c) ----
void emit_count(struct emit *e, const struct ir_stmt *s);
void emit_meter_exec(struct emit *e, const struct ir_stmt *s);
bool emit_counts_late(const struct emit *e); // some counter does, of e->g
void emit_late_members(struct emit *e);      // of phv: what is counted when the packet leaves
void emit_late_counts(struct emit *e); // after the deparser, which leaves the packet in 'packet'
void emit_meter_state(struct emit *e);
void emit_meter_seeds(struct emit *e);
void emit_counter_descs(struct emit *e);
void emit_meter_descs(struct emit *e);
void emit_table_attachments(struct emit *e, const struct ir_table *t); // members of sk_table_desc

// ---- tables (emit_table.c) ----
void emit_tables(struct emit *e);
void emit_fused(struct emit *e, const struct ir_table *leader); // applies its whole group
// Applies a table whose entries are branches right here; 'r', a C variable, gets what happened.
void emit_table_here(struct emit *e, const struct ir_table *t);
const char *emit_table_ref(struct emit *e, const struct ir_table *t); // "s->i_forward_3"
unsigned emit_action_index(const struct ir_table *t, const struct ir_action *a);
unsigned emit_n_actions(const struct ir_table *t);
// First word of a direct register in an entry's cells.
unsigned emit_direct_word(const struct ir_gress *g, const struct ir_register *r);

// ---- parser, deparser ----
void emit_parser(struct emit *e);
void emit_parser_stmt(struct emit *e, const struct ir_stmt *s);
void emit_parser_need(struct emit *e, const struct ir_stmt *s); // checks its lookaheads
void emit_segments(struct emit *e);                             // plans e->headers
void emit_deparser(struct emit *e);
typedef VEC(const struct ir_header *) emit_header_vec;
// What the deparser emits, in order; 'report': what it must not do is told.
emit_header_vec emit_emits(struct emit *e, bool report);
void emit_headers(struct emit *e); // in the entry function: puts the valid ones in front of q
// Bytes that the 'n' emits put out at most (emit_limit.c).
unsigned emit_most_bytes(struct emit *e, const struct ir_header *const *emits, size_t n);
unsigned emit_tail_bytes(const struct emit *e); // room for a last header with the frame check
bool emit_parser_loops(const struct emit *e);   // a state can be reached again from itself
// An ir_expr visitor: raises *(unsigned *)aux to the bytes that the expression looks ahead.
void emit_lookahead_bytes(void *aux, const struct ir_expr *x);

// ---- entry functions (emit_entry.c) ----
void emit_gress_entry(struct emit *e);
void emit_ends(struct emit *e); // the function p0i_ends, with which the control's functions end
// The head of a function of the control, without "{", and its end from the label on which IR_EXIT goes to.
void emit_control_head(struct emit *e, const char *name);
void emit_control_end(struct emit *e);
// Of e->g, an egress (emit_egress.c): sk_pipeline_desc's members of these names.
bool emit_egress_idle(const struct emit *e);
uint32_t emit_reach(const struct emit *e); // egress_reach, and what one pass of ingress takes
unsigned emit_prefix_bytes(const struct emit *e); // that the parser sees in front of the packet
// What phv knows of every packet; the values are C texts. It ends at C text "end".
void emit_entry_inputs(struct emit *e, const char *length, const char *now, const char *ahead);

// ---- ways through the parser (emit_paths.c, printed by emit_path_text.c) ----
void emit_plan_paths(struct emit *e); // of e->g, when it is worth it
// Null: there is none.
const struct emit_seam *emit_seam_of(const struct emit *e);
const char *emit_inline(const struct emit *e); // how functions of phv are declared
void emit_path_entry(struct emit *e);          // the body of the entry function
void emit_path_apart(struct emit *e); // the function p0_ingress_apart, if there is use for it
void emit_path_taken(struct emit *e, unsigned bytes); // by an extract or an advance, behind 'p'
// A packet that recirculates past egress may go on in the entry function itself (pipeline/hop.h), behind a label 'again'.
bool emit_paths_go_on(const struct emit *e);
// The shortest way on which all these headers are in the packet, behind the prefix, and as they came; -1:
// there is none.
int emit_path_with(const struct emit *e, const bool *headers);
// Sets the pointers of these headers on that way, and says how many bytes from C text "start" on they are
// in.
unsigned emit_path_places(struct emit *e, int path, const bool *headers);
bool emit_on_path(const struct emit *e); // a state is being printed for a way through it
const char *emit_path_jump(struct emit *e, const struct ir_select_case *c);
void emit_state_on_path(struct emit *e,
                        const struct ir_state *st); // emit_parser.c: body, transition

// ---- packets whose headers lie apart from what is behind them (emit_apart.c) ----
void emit_plan_given(struct emit *e); // of e->g, behind its paths
bool emit_is_given(const struct emit *e, const struct ir_header *h);
// Behind its extraction: sets its fields, of a packet that came around.
void emit_given(struct emit *e);
void emit_apart_members(struct emit *e); // of phv
void emit_apart(struct emit *e);         // the function p0i_emit_apart, if there is use for it

// ---- action profiles, selectors, proxy hashes (emit_profile.c) ----
void emit_profiles(struct emit *e);      // descriptions, of e->g; tables refer to them
void emit_profile_state(struct emit *e); // members of the state struct, of e->g
// "s->i_profile0 = ...;" for e->g, behind the tables.
void emit_profiles_new(struct emit *e);
void emit_profiles_free(struct emit *e);                   // before the tables
void emit_proxy(struct emit *e, const struct ir_table *t); // the function p0i_t3_proxy
// Several exact keys of 64 bits in all are looked for as one word: p0i_t3_proxy puts it together.
bool emit_key_is_packed(struct emit *e, const struct ir_table *t);
void emit_selector_list(struct emit *e); // of the pipeline: descriptions and accessor
// ---- emit_hash.c: hashes that the control plane may change
void emit_hash_state(struct emit *e);
void emit_hashes_free(struct emit *e);
void emit_hash_list(struct emit *e); // of the pipeline: descriptions and accessor
unsigned emit_hash_count(const struct emit *e);

// ---- descriptions of tables and value sets (emit_describe.c) ----
// The description p0i_t3_a0 of action 0 of 't', "p0i_t3".
void emit_action_desc(struct emit *e, const char *t, unsigned i, const struct ir_action *a,
                      bool table_only, bool default_only);
char emit_gress_letter(const struct emit *e); // in names of descriptions
const char *emit_bool_text(bool b);
void emit_table_desc(struct emit *e, const struct ir_table *t);
void emit_value_set_desc(struct emit *e, const struct ir_value_set *vs);

// ---- objects (emit_objects.c) ----
void emit_crc_tables(struct emit *e);
const char *emit_crc_table_name(struct emit *e, const struct ir_hash *h);
void emit_state_struct(struct emit *e);
void emit_descriptions(struct emit *e);
void emit_accessors(struct emit *e);
void emit_pipeline_desc(struct emit *e);
// The word of a register's cell: "s->i_register3[index].w[1]". Not for direct registers.
// How many cells a row of a bank has: as many as lanes, or some more that nobody sees, so that no row
// begins in the middle of a cache line and ends in another; for an eighth more memory at most.
unsigned emit_bank_row(const struct emit_bank *b);
const char *emit_cell(struct emit *e, const struct ir_register *r, const char *index,
                      const char *word);
// ---- entries as branches (emit_branch.c) ----
// What is printed for the entry at a position that matches, and where none does.
struct emit_chain {
    void (*hit)(struct emit *e, const struct ir_table *t, size_t position);
    void (*miss)(struct emit *e, const struct ir_table *t);
};
void emit_branches(struct emit *e, const struct ir_table *t, const struct emit_chain *chain);
bool emit_has_match(const struct ir_table *t, enum ir_match m);
// ---- keys that are compared as one word (emit_word.c) ----
struct emit_word {
    const struct ir_header *header;
    unsigned byte, bytes; // of the header
};
struct emit_words {
    const struct ir_expr *const *keys;
    size_t n;
    int *of; // by key: its word, or -1
    VEC(struct emit_word) words;
};
struct emit_key_test {
    bool wanted;
    uint64_t mask, value; // of the key's bits
};
// Of a key of a word; 'mask' null: all of it, 'high' not null: not this way.
struct emit_key_test emit_key_test_of(unsigned width, big value, big mask, big high);
struct emit_words emit_words_of(struct emit *e, const struct ir_expr *const *keys, size_t n);
void emit_word_locals(struct emit *e, const struct emit_words *all);
// The condition for the tests, by key, that are wanted: only of keys of words. May be empty.
const char *emit_word_tests(struct emit *e, const struct emit_words *all,
                            const struct emit_key_test *tests);
// ---- registers side by side (emit_rows.c) ----
void emit_plan_rows(struct emit *e); // behind the banks
void emit_rows(struct emit *e);      // the state's members
unsigned emit_row_bytes(const struct emit_row *row);
const char *emit_row_cell(struct emit *e, const struct ir_register *r, const char *index,
                          const char *word);
bool emit_counts_hits(struct emit *e, const struct ir_table *t); // in the pipe's state
// Reports what emission cannot do; true when all is fine.
bool emit_check(struct emit *e);

// Points e at gress 'kind' of e->pipeline (only names; emit_analyse does the rest).
void emit_select_gress(struct emit *e, unsigned kind);

#endif
