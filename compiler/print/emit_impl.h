// SPDX-License-Identifier: Apache-2.0
//
// emit_impl: what the files of printing share. The interface to the outside is emit.h. emit.h lists
// the files.
//
// Emission prints C. An expression becomes a piece of text of one of three C types, by its width
// (1..32 bits: uint32_t, 33..64: uint64_t, 65..128: sk_u128), always reduced to its width, so no
// operation can overflow in C's sense. Wider variables ("wide") are byte arrays in network order;
// what is computed from them are arrays of words (wide.c).
//
// Where a variable lives is decided before printing (analyse): in the per-packet struct "phv"; in a
// local variable of the one C function that uses it; or, fields of most headers, on the wire: phv
// has a pointer to the header's bytes, which are read and written where a field is touched
// (compiler/plan/in_place.c). The checked build has no such headers: there, fields that the program
// never looks at are kept as a raw copy between extraction and emission.
#ifndef SILKEN_COMPILER_PRINT_EMIT_IMPL_H
#define SILKEN_COMPILER_PRINT_EMIT_IMPL_H

#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"
#include "compiler/print/emit.h"

// ---- the context of printing ----

// Fields between two byte boundaries, none of which ends at one, in a word: 1, 2, 4 or 8 bytes. 0:
// there are more, or of another number.
struct emit_container {
    unsigned byte, bytes; // of the header
    unsigned bit;         // of the word, where the field starts
};
// A variable in C, as its plan says.
struct emit_var {
    const void *user;
    bool shared, touched, deferred;
    bool whole;       // of the type that it has in an expression
    const char *wire; // a field on the wire: C text of a pointer to its first byte; else null
    unsigned bit;     // of that byte, where the field starts
    struct emit_container word; // of a field of parts of bytes
    const char *received;       // C text of its value in the packet, of one that is held
    const char *ref;            // C text of its value: "v->x" or "x"; of a wide one, of its bytes
    const char *name;           // C identifier
};
struct emit_label {
    unsigned label, printed;
    const struct emit_label *outer;
};
// What becomes of what a loop over lanes computes for fields on the wire: it is stored where it
// belongs; in one piece after the loop; it is not needed.
enum emit_lane_stores { EMIT_STORES, EMIT_STORES_BUFFERED, EMIT_STORES_NOTHING };

// A loop over lanes whose body is printed: lane 0's statements, of which the variables that differ
// by lane are somewhere else in the loop.
struct plan_lanes;
struct emit_loop {
    const struct plan_lanes *lanes;
    enum emit_lane_stores stores;
    const struct emit_var *vars; // by variable of 'lanes': lane 0's, in the loop
};
struct plan_node;
struct emit_stacks; // parser.c

// Parts of the text that a C compiler may leave out (unit.c), as bits.
#define EMIT_OBJECTS UINT32_C(1) // descriptions and accessors, of all pipelines
#define EMIT_N_PARTS (1 + 4 * EMIT_MAX_PIPELINES)

// The text that is printed, the one thing that printing changes.
struct emit_writer {
    FILE *out;
    int indent;
    unsigned n_temps, n_labels; // so far: names that are used once
    uint32_t parts;             // what is being printed belongs to these parts; 0: to all
    size_t bytes[EMIT_N_PARTS]; // of each part, so far
};

// What is printed, and where that stands. A printer never changes it: what is printed somewhere
// else (in the parser, in a loop, in another function) gets a copy that says so, for as long as it
// is printed.
struct emit {
    struct emit_writer *to;
    struct arena *a;
    struct diag *d;
    const struct ir_program *program;
    bool checked; // the checked build: compiler/print/checked/checked.h
    // of a pipeline
    const struct ir_pipeline *pipeline;
    unsigned pipeline_index;
    const struct plan *plans;          // by gress
    const struct emit_var *vars_of[2]; // by gress
    // of a gress (emit_of_gress)
    const struct plan *plan;
    const struct ir_gress *g;
    const struct emit_var *vars; // all of them: see emit_var_of
    const char *p;               // prefix of its functions and types: "p0i"
    // of the code in it
    const void *user; // whose body it is (emit_of_user): the parser's states, an action, ...
    bool in_parser;
    const struct emit_stacks *stacks; // in the parser for any packet: what functions extract
    struct loc at;                    // in the source: of the statement
    const struct emit_label *labels;  // of the blocks around it, innermost first
    const struct emit_loop *loop;     // over lanes, around it; or null
    bool enough;                      // bytes for the extracts: nobody has to ask
    const struct plan_node *node;     // of a path through the parser, its state's code; or null
    bool is_split;                    // the function of packets that are split
};

// The same for a gress of the pipeline; for the body of another user.
struct emit emit_of_gress(const struct emit *e, unsigned kind);
struct emit emit_of_user(const struct emit *e, const void *user);

// ---- text (text.c) ----
// One line at the current indentation; no '\n' in the format.
void emit_line(const struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Like emit_line, then one step in; and one step out, then a line ("}").
void emit_open(const struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void emit_close(const struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *emit_text(const struct emit *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
const char *emit_ident(const struct emit *e, const char *name); // letters, digits, '_'
const char *emit_string(const struct emit *e, const char *s);   // a C string literal
const char *emit_comment(const struct emit *e, const char *s);  // safe inside /* */ and //

// ---- parts of the text (unit.c) ----
// Which part a gress's functions belong to: those for any packet, and the ways that are printed one
// by one. Without such ways both are one part.
uint32_t emit_part_any(const struct emit *e);
uint32_t emit_part_main(const struct emit *e);
// From here on the text belongs to some parts only; and no longer.
void emit_part_begin(const struct emit *e, uint32_t parts);
void emit_part_end(const struct emit *e);
void emit_part_macro(const struct emit *e); // at the head of the text
// The units that the parts make, of a text that is complete.
struct emit_units emit_units_of(const struct emit *e, const struct plan plans[][2]);

// ---- variables (variable.c) ----
// The variables of the gress in C, by their id.
const struct emit_var *emit_name_variables(const struct emit *e);
// A variable as it is where 'e' stands: in a loop over lanes it may be somewhere else.
const struct emit_var *emit_var_of(const struct emit *e, const struct ir_var *v);
void emit_locals(const struct emit *e, const void *user); // declares the locals that 'user' owns
const char *emit_inline(const struct emit *e);            // how functions of phv are declared

// ---- headers on the wire (home.c) ----
// Bytes from that one on, where a field begins, that are stored at once when the field is.
unsigned emit_stored_bytes(const struct ir_header *h, unsigned byte);
// Sets the texts in 'i' of a field whose first byte the C text 'from' points to.
void emit_wire_refs(const struct emit *e, struct emit_var *i, const struct ir_var *v,
                    const char *from);
void emit_home_members(const struct emit *e);       // of phv
void emit_home_state(const struct emit *e);         // members of the state struct
unsigned emit_home_room(const struct ir_header *h); // bytes that a home has
void emit_home_begin(const struct emit *e);         // in the entry function
void emit_home_end(const struct emit *e);
// Clears the home in the pipe's state, of which that is the name: a statement without ';'.
const char *emit_home_clear(const struct emit *e, const char *state, const struct ir_header *h);
// Notes, where paths through the parser are printed one by one, that a variable is about to be
// written.
void emit_home_write(const struct emit *e, const struct ir_var *v);
void emit_home_extracted(const struct emit *e, const struct ir_header *h); // at 'p'

// ---- fields whose stores wait (deferred_stores.c) ----
void emit_deferred_members(const struct emit *e); // of phv
bool emit_defers(const struct emit *e, const struct ir_header *h);
// C text: all of the header's fields are held; empty: some cannot be.
const char *emit_defers_all(const struct emit *e, const struct ir_header *h);
// Stores what is held of a header, whose bytes are at C text "to_h".
void emit_deferred_stores(const struct emit *e, const struct ir_header *h);
// The value of 'n' fields that are side by side on the wire from the first byte of C text 'from' on
// and fill so many bytes, at most 8.
const char *emit_deferred_word(const struct emit *e, const struct ir_var *const *fields, size_t n,
                               const char *from, unsigned bytes);

// ---- loops that run when it is known what becomes of the packet (sunk_loops.c) ----
void emit_sunk_members(const struct emit *e); // of phv
// Prints what a position of a fused group does. False: the group's loops do not wait.
bool emit_note_sunk(const struct emit *e, const struct ir_table *leader, size_t position);
void emit_sunk_loops(const struct emit *e); // the function p0i_last, if there is use for it
void emit_call_sunk_loops(const struct emit *e, bool leaves);

// ---- the rest of a control for each value of a variable (continuation.c) ----
// The function p0i_control and those that it calls.
void emit_specialised_control(const struct emit *e);

// ---- what a burst looks up, fetched ahead (prefetch.c) ----
void emit_prefetch_prototype(const struct emit *e);
void emit_prefetch_burst(const struct emit *e); // the function p0_ahead, if there is use for it

// ---- notes of what a pass does (note.c) ----
bool emit_takes_notes(const struct emit *e); // the pipeline's state has a pointer to notes
void emit_note_masks(const struct emit *e);  // of e->g: which bits decide
void emit_note(const struct emit *e, const struct ir_stmt *s);
// C texts of what was counted; 'last', 'packets' and 'bytes' may be null.
void emit_note_hit(const struct emit *e, const struct ir_table *t, const char *hits,
                   const char *last); // if the table's hits are noted
void emit_note_count(const struct emit *e, const char *packets, const char *bytes,
                     const char *counted);

// ---- split packets: headers in one place, what follows them in another (split_packet.c) ----
bool emit_is_given(const struct emit *e, const struct ir_header *h);
// After its extraction: sets its fields, of a packet that came around.
void emit_given(const struct emit *e);
void emit_split_packet_members(const struct emit *e); // of phv
void emit_split_packet(const struct emit *e); // the function p0i_emit_split, if there is use for it

// ---- registers side by side (row.c) ----
void emit_rows(const struct emit *e); // the state's members
const char *emit_row_cell(const struct emit *e, const struct ir_register *r, const char *index,
                          const char *word);

// ---- types and expressions (expr.c) ----
const char *emit_ctype(unsigned width);   // of an expression: uint32_t, uint64_t, sk_u128
const char *emit_storage(unsigned width); // of a variable: uint8_t...
const char *emit_const(const struct emit *e, big value, unsigned width);
const char *emit_ones(const struct emit *e, unsigned width); // all bits set; at most 128
const char *emit_expr(const struct emit *e, const struct ir_expr *x);
const char *emit_cond(const struct emit *e, const struct ir_expr *x); // as a C condition
// An expression as a uint64_t; values beyond 64 bits become UINT64_MAX (indices, shift amounts).
const char *emit_u64(const struct emit *e, const struct ir_expr *x);
void emit_assign(const struct emit *e, const struct ir_var *v, const struct ir_expr *x);
// A statement, without ';', that gives a variable of at most 128 bits the value of a C text, which
// is reduced to its width.
const char *emit_set(const struct emit *e, const struct ir_var *v, const char *value);

// ---- wide.c: an expression of any width as a pointer to its words; comparisons ----
const char *emit_wide(const struct emit *e, const struct ir_expr *x);
const char *emit_wide_const(const struct emit *e, big value, unsigned width);
const char *emit_wide_compare(const struct emit *e, const struct ir_expr *x);
void emit_assign_slice(const struct emit *e, const struct ir_var *v, unsigned lo, unsigned width,
                       const struct ir_expr *x);
// Writes the bits of 'x' into byte array 'bytes' at bit 'offset'.
void emit_put_bits(const struct emit *e, const char *bytes, unsigned offset,
                   const struct ir_expr *x);
// Word 'i' (least significant first) of an expression: a uint64_t.
const char *emit_word(const struct emit *e, const struct ir_expr *x, unsigned i);
const char *emit_ref(const struct emit *e, const struct ir_var *v);

// ---- registers (register.c) ----
void emit_regactions(const struct emit *e);
void emit_reg_exec(const struct emit *e, const struct ir_stmt *s);
void emit_reg_next_cell(const struct emit *e, const struct ir_stmt *s);
// No value of the index is beyond the last of 'size' cells.
bool emit_always_inside(const struct ir_expr *index, uint64_t size);
void emit_reg_read(const struct emit *e, const struct ir_stmt *s);
void emit_reg_write(const struct emit *e, const struct ir_stmt *s);

// ---- statements, actions (stmt.c) ----
void emit_block(const struct emit *e, const struct ir_block *b);
// Prints the copy of neighbouring fields that begins with this statement of a block, if there is
// one: how many statements that was, else 0 (copied_fields.c).
size_t emit_copied_fields(const struct emit *e, const struct ir_block *b, size_t first);
void emit_stmt(const struct emit *e, const struct ir_stmt *s);
void emit_actions(const struct emit *e);
void emit_control(const struct emit *e);
// The hash of 'bytes' bytes in array 'b': an sk_u128.
const char *emit_hash_value(const struct emit *e, const struct ir_hash *h, const char *b,
                            unsigned bits);
void emit_checksum_args(const struct emit *e, const char *sum, const struct ir_stmt *s);
uint64_t emit_checksum_most(const struct emit *e, const struct ir_stmt *s);

// ---- counters, meters, filters (meter.c) ----
void emit_count(const struct emit *e, const struct ir_stmt *s);
void emit_meter_exec(const struct emit *e, const struct ir_stmt *s);
void emit_late_members(const struct emit *e); // of phv: what is counted when the packet leaves
void emit_late_counts(
    const struct emit *e); // after the deparser, which leaves the packet in 'packet'
void emit_meter_state(const struct emit *e);
void emit_meter_start(const struct emit *e); // of their state
bool emit_has_meters_of_bytes(const struct emit *e);
void emit_counter_descs(const struct emit *e);
void emit_meter_descs(const struct emit *e);
void emit_table_attachments(const struct emit *e,
                            const struct ir_table *t); // members of sk_table_desc

// ---- tables (table.c) ----
void emit_tables(const struct emit *e);
// Applies the whole group of the table that 's' applies.
void emit_fused(const struct emit *e, const struct ir_stmt *s);
// Applies one that is filled as a whole right here (compiler/plan/filled_runs.c).
void emit_table_filled(const struct emit *e, const struct ir_stmt *s);
// Applies a table whose entries are branches right here; 'r', a C variable, gets what happened.
void emit_table_here(const struct emit *e, const struct ir_stmt *s);
const char *emit_table_ref(const struct emit *e, const struct ir_table *t); // "s->i_forward_3"
unsigned emit_action_index(const struct ir_table *t, const struct ir_action *a);
unsigned emit_n_actions(const struct ir_table *t);
// First word of a direct register in an entry's cells.
unsigned emit_direct_word(const struct ir_gress *g, const struct ir_register *r);
bool emit_counts_hits(const struct emit *e, const struct ir_table *t); // in the pipe's state

// ---- parser, deparser ----
void emit_parser(const struct emit *e);
void emit_parser_stmt(const struct emit *e, const struct ir_stmt *s);
void emit_parser_need(const struct emit *e, const struct ir_stmt *s); // checks its lookaheads
void emit_deparser(const struct emit *e);
void emit_headers(const struct emit *e); // in the entry function: puts the valid ones before q

// ---- entry functions (entry.c) ----
void emit_entry_prototypes(const struct emit *e);
void emit_entry_rest(const struct emit *e);  // what all entry functions call
void emit_entry_any(const struct emit *e);   // for any packet
void emit_entry_paths(const struct emit *e); // the ways through the parser, if they are printed
void emit_ends(
    const struct emit *e); // the function p0i_ends, with which the control's functions end
// The head of a function of the control, without "{", and its end from the label on which IR_EXIT
// goes to.
void emit_control_head(const struct emit *e, const char *name);
void emit_control_end(const struct emit *e);
// What phv knows of every packet; the values are C texts. It ends at C text "end".
void emit_entry_inputs(const struct emit *e, const char *length, const char *now,
                       const char *ahead);

// ---- ways through the parser (path_entry.c) ----
void emit_path_entry(const struct emit *e); // the body of the entry function
// The function p0_ingress_split, if there is use for it.
void emit_path_split_packet(const struct emit *e);
// Sets the pointers of these headers on that way, and says how many bytes from C text "start" on
// they are in.
unsigned emit_path_places(const struct emit *e, int path, const bool *headers);
// Where the byte 'at' after the first one that the parser sees is: C text of a pointer.
struct plan_known; // compiler/plan/parse_paths.h
const char *emit_path_place(const struct emit *e, const struct plan_known *k, unsigned at);
bool emit_on_path(const struct emit *e); // a state is being printed for a way through it
const char *emit_path_jump(const struct emit *e, const struct ir_select_case *c);
void emit_transition(const struct emit *e, const struct ir_state *st); // parser.c

// ---- action profiles, selectors, proxy hashes (profile.c) ----
void emit_profiles(const struct emit *e);      // descriptions, of e->g; tables refer to them
void emit_profile_state(const struct emit *e); // members of the state struct, of e->g
// "s->i_profile0 = ...;" for e->g, after the tables.
void emit_profiles_new(const struct emit *e);
void emit_profiles_free(const struct emit *e);                   // before the tables
void emit_proxy(const struct emit *e, const struct ir_table *t); // the function p0i_t3_proxy
// Several exact keys of 64 bits in all are looked for as one word: p0i_t3_proxy puts it together.
bool emit_key_is_packed(const struct emit *e, const struct ir_table *t);
void emit_selector_list(const struct emit *e); // of the pipeline: descriptions and accessor

// ---- hash.c: hashes that the control plane may change
void emit_hash_state(const struct emit *e);
void emit_hashes_free(const struct emit *e);
void emit_hash_list(const struct emit *e); // of the pipeline: descriptions and accessor
unsigned emit_hash_count(const struct emit *e);

// ---- descriptions of tables and value sets (describe.c) ----
// The description p0i_t3_a0 of action 0 of 't', "p0i_t3".
void emit_action_desc(const struct emit *e, const char *t, unsigned i, const struct ir_action *a,
                      bool table_only, bool default_only);
char emit_gress_letter(const struct emit *e); // in names of descriptions
const char *emit_bool_text(bool b);
void emit_table_desc(const struct emit *e, const struct ir_table *t);
void emit_value_set_desc(const struct emit *e, const struct ir_value_set *vs);

// ---- objects (objects.c) ----
void emit_crc_tables(const struct emit *e);
const char *emit_crc_table_name(const struct emit *e, const struct ir_hash *h);
void emit_state_struct(const struct emit *e);
void emit_key_functions(const struct emit *e); // and constants, that the packet path uses, too
void emit_descriptions(const struct emit *e);
void emit_accessors(const struct emit *e);
void emit_pipeline_desc(const struct emit *e);
// How many cells a row of a bank has: as many as lanes, or some more that no one sees, so that no
// row begins in the middle of a cache line and ends in another; for an eighth more memory at most.
unsigned emit_bank_row(const struct plan_bank *b);
// The word of a register's cell: "s->i_register3[index].w[1]". Not for direct registers.
const char *emit_cell(const struct emit *e, const struct ir_register *r, const char *index,
                      const char *word);

// ---- entries as branches (branch.c) ----
// What is printed for the entry at a position that matches, and where none does.
struct emit_chain {
    void (*hit)(const struct emit *e, const struct ir_table *t, size_t position);
    void (*miss)(const struct emit *e, const struct ir_table *t);
};
// 'known' null: nothing.
void emit_branches(const struct emit *e, const struct ir_table *t,
                   const struct ir_known_match *known, const struct emit_chain *chain);
bool emit_has_match(const struct ir_table *t, enum ir_match m);
// The entry that is asked for first, of those that are not 'known', by position; or the end.
size_t emit_branch_first(const struct emit *e, const struct ir_table *t, const bool *known);
bool emit_branch_is_any(const struct ir_key_value *v); // every key's value matches it
// What key 'index', in C variable k0, k1..., must be; empty: anything.
const char *emit_branch_key_condition(const struct emit *e, const struct ir_key *k, size_t index,
                                      const struct ir_key_value *v);

// ---- tables that lanes look up (lane_tables.c) ----
void emit_lane_members(const struct emit *e); // of the pipe's state
void emit_lane_tells(const struct emit *e);   // what tables write there

// ---- keys that are compared as one word (key_words.c) ----
struct emit_key_word {
    const struct ir_header *header;
    unsigned byte, bytes; // of the header
};
struct emit_key_words {
    const struct ir_expr *const *keys;
    size_t n;
    int *of; // by key: its word, or -1
    VEC(struct emit_key_word) words;
};
struct emit_key_test {
    bool wanted;
    uint64_t mask, value; // of the key's bits
};
// Of a key of a word; 'mask' null: all of it, 'high' not null: not this way.
struct emit_key_test emit_key_test_of(unsigned width, big value, big mask, big high);
struct emit_key_words emit_key_words_of(const struct emit *e, const struct ir_expr *const *keys,
                                        size_t n);
void emit_key_word_locals(const struct emit *e, const struct emit_key_words *all);
// The condition for the tests, by key, that are wanted: only of keys of words. May be empty.
const char *emit_key_word_tests(const struct emit *e, const struct emit_key_words *all,
                                const struct emit_key_test *tests);

#endif
