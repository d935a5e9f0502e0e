// SPDX-License-Identifier: Apache-2.0
//
// interp: a direct interpreter of the pipeline IR: the oracle that generated code is held against.
//
// It does what compiler/ir/ir.h says, one statement after the other, in the most obvious way there
// is: values are integers of any size (compiler/base/bigint.h), a table is a list that is scanned,
// a hash is computed bit by bit, a checksum word by word, a packet is a list of bits. It shares no
// code with compiler/print and none with stages/: what the two have in common are ir.h,
// pipeline/abi.h and docs/tna-facts.md. It is slow, and meant to be.
//
// Its interface is that of a compiled program (abi.h): the functions of a gress take the same
// packet and fill the same outputs; a table takes the same words as sk_table_add.
//
// Rooms: interp.c (life, packets through a gress), interp_expr.c (expressions), interp_stmt.c
// (statements), interp_note.c (notes of a pass), interp_report.c (reports of instrumented
// programs), interp_trace.c (their events), interp_undefined.c (uses of undefined bits),
// interp_table.c (tables), interp_profile.c (action profiles, selectors), interp_object.c
// (registers, counters, hashes, random numbers), interp_parser.c (parser, value sets),
// interp_checksum.c.
//
// To teach it a new construct of the IR:
// - An expression: a case in interp_expr.c, from the values of the operands to the value, in
//   [0, 2^width).
// - A statement: a case in interp_stmt.c (interp_stmt), with its function in the room it belongs
//   to. It reads variables with interp_get, writes them with interp_set, evaluates with
//   interp_eval; it returns FLOW_ON unless it ends something.
// - State that outlives a packet: a member of struct interp, made in interp_new; a function to read
//   it that differential.c compares.
// - Outputs: struct sk_ingress_out / sk_egress_out, filled in interp.c.
// Then let generate*.c write programs that use it. What is unknown aborts and names itself: a
// construct without its case cannot pass unnoticed.
//
// Not thread-safe. Errors: none but abort; what a program or a packet does wrong is defined.
#ifndef SILKEN_HARNESS_INTERP_H
#define SILKEN_HARNESS_INTERP_H

#include "compiler/ir/ir.h"
#include "pipeline/trace.h"

struct interp; // a pipeline's state in one pipe

// What an entry of a table with an action profile may have instead of an action.
enum interp_reference { INTERP_OWN, INTERP_MEMBER, INTERP_GROUP };
// An entry of a table or a value set; or a member of an action profile, whose one key is its id.
struct interp_entry {
    enum interp_reference refers; // not INTERP_OWN: data[0] is the id
    int64_t priority;
    uint64_t *value, *mask; // key words as in sk_table_add; for range keys low and high end
    unsigned action;        // index in the table's actions; behind them: the default action; of a
                            // member: in the profile's
    uint64_t *data;         // action data words
    uint64_t hits, packets, bytes;
    uint64_t *direct; // words of the table's direct registers, one after the other
    bool is_const;
};
struct interp_table {
    struct interp_entry **entries; // in the order they were added
    size_t n, cap;
    struct interp_entry *default_entry;
};

// What was noted of a packet by the IR_NOTEs, and noted hits and counts, of its way through one
// gress or both: what stages/notes.h is for compiled programs, in its own words. Places are counted
// from the first byte of the packet's buffer.
#define INTERP_SEEN  128u // a packet that is looked at beyond so many bytes is unfit
#define INTERP_NOTES 256u
struct interp_note {
    uint64_t *count; // in the interpreter's state; it lives as long as the entry or counter
    int64_t more;    // by which the packet raised it; of bytes, less the packet's length
    bool bytes;
};
struct interp_record {
    // The caller sets these: where the packet begins, and its length; 'moment': bytes before it,
    // from .. to - 1, that each packet has others of.
    uint64_t frame, length;
    struct {
        uint64_t from, to;
    } moment[2];
    // Zero at first.
    bool unfit; // the pass would not be the same again for a packet with the same bits
    uint8_t seen[INTERP_SEEN]; // bits of the packet
    unsigned place; // of the last header that was extracted and leaves; 0 in each gress at first
    uint64_t summed_at; // 'summed' bytes there have a right checksum; 0: none has to
    unsigned summed;
    struct interp_note notes[INTERP_NOTES];
    size_t n_notes;
};
// From now on packets are noted there; null: not any more. It belongs to the caller.
void interp_note_to(struct interp *ip, struct interp_record *to);

// State as a new pipe has it: registers at their initial values, tables with the program's entries.
// 'p' must outlive it. 'seed' is that of sk_pipeline_desc.pipe_new.
struct interp *interp_new(const struct ir_program *p, unsigned pipeline, uint64_t seed);
void interp_free(struct interp *ip);

// One packet through a gress: the contract of sk_ingress_fn and sk_egress_fn in abi.h.
void interp_ingress(struct interp *ip, struct sk_packet *p, struct sk_ingress_out *out);
void interp_egress(struct interp *ip, struct sk_packet *p, struct sk_egress_out *out);

// What an instrumented program reports while a packet runs (compiler/instrument/instrument.h), as
// the checked build tells a packet's observer.
struct interp_violation {
    enum sk_violation violation;
    const char *name;
    struct loc at; // no line: not in the source
    uint64_t number;
    const struct loc *also; // or null
};
// 'fn' null: nobody is told.
void interp_on_report(struct interp *ip,
                      void (*fn)(void *aux, const struct interp_violation *violation), void *aux);

// What it tells of a packet, event by event (pipeline/trace.h), as text: event.h has the text of a
// compiled program's. 'fn' null: nobody is told.
void interp_on_event(struct interp *ip, void (*fn)(void *aux, const char *text, struct loc at),
                     void *aux);

// Of a program that is not instrumented: 'fn' gets the place of each use of something undefined
// that the checked build reports (kinds "invalid-header", "not-set", "undefined", "emitted").
void interp_on_use(struct interp *ip, void (*fn)(void *aux, struct loc at), void *aux);

// Of one that is: 'fn' gets the variables whose masks ("NAME.$defined") do not say at the end of a
// packet which of their bits are undefined.
void interp_on_mask(struct interp *ip, void (*fn)(void *aux, const struct ir_var *v), void *aux);

// Tables and value sets by their number in sk_pipeline_desc: those of the ingress, then those of
// the egress.
struct interp_table *interp_table(struct interp *ip, unsigned i);
const struct ir_table *interp_table_ir(const struct interp *ip, unsigned i);
struct interp_table *interp_value_set(struct interp *ip, unsigned i);
const struct ir_value_set *interp_value_set_ir(const struct interp *ip, unsigned i);
// Action profiles, those of the ingress first.
struct interp_table *interp_profile(struct interp *ip, unsigned i);
const struct ir_action_profile *interp_profile_ir(const struct interp *ip, unsigned i);
const struct ir_gress *interp_gresses(const struct interp *ip); // both
// By name, null when there is none: the words of a register (cell by cell) or of a register
// parameter (one), the cells of a counter. Not direct ones.
uint64_t *interp_register(struct interp *ip, const char *name);
struct sk_counter_cell *interp_counter(struct interp *ip, const char *name);
// -1: there is no such number.
int interp_find_table(const struct interp *ip, const char *name);
int interp_find_profile(const struct interp *ip, const char *name);
bool interp_has_group(struct interp *ip, const char *selector, uint64_t id);

// An entry at run time, in words as sk_table_add takes them ('mask' null: all exact). The caller
// gives only what a table takes: no second entry with the same key, not more than its size. Behind
// the actions of a table with an action profile are the references to a member, then to a group.
void interp_add(struct interp *ip, unsigned table, const uint64_t *value, const uint64_t *mask,
                int64_t priority, unsigned action, const uint64_t *data);
void interp_set_default(struct interp *ip, unsigned table, unsigned action, const uint64_t *data);
// A member, a group: made, or changed when it exists. 'members' are n times an id and a status.
void interp_set_member(struct interp *ip, unsigned profile, uint64_t id, unsigned action,
                       const uint64_t *data);
void interp_set_group(struct interp *ip, const char *selector, uint64_t id, const uint64_t *members,
                      size_t n);
void interp_value_set_add(struct interp *ip, unsigned set, const uint64_t *value,
                          const uint64_t *mask);

#endif
