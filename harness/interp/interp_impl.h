// SPDX-License-Identifier: Apache-2.0
//
// interp_impl: what the files of the interpreter share. The interface is interp.h.
#ifndef SILKEN_HARNESS_INTERP_IMPL_H
#define SILKEN_HARNESS_INTERP_IMPL_H

#include "harness/interp/interp.h"

struct run;

struct interp_place {
    uint64_t member;
    bool up;
    uint64_t bit; // of the selector's memory, when it has one
};
struct interp_group {
    uint64_t id;
    struct interp_place *places;
    size_t n;
    uint64_t first_line; // of the memory
    uint64_t *line;      // members by their place there, n
};
struct interp_selector {
    struct interp_group *groups;
    size_t n;
};
struct interp_gress {
    const struct ir_gress *g;
    struct interp_table *tables, *value_sets, *profiles;
    struct interp_selector *selectors;
    uint64_t **registers; // words, cell by cell; null for direct ones
    uint64_t *logs;       // of the registers: cells written to a log, queue or stack
    uint64_t *reads;      // and those read from a queue
    uint64_t *params;     // RegisterParams
    struct sk_counter_cell **counters;
    uint64_t *randoms;
};
struct interp {
    const struct ir_program *program;
    const struct ir_pipeline *pl;
    struct interp_gress gress[2];
    // For those who make scenarios: called with the keys of each table that is applied, and before
    // a state's select looks at the packet, which they may then change. Null: nobody looks.
    void (*on_apply)(void *aux, const struct ir_table *t, const big *keys);
    void (*on_select)(void *aux, struct run *r, const struct ir_state *st);
    void *aux;
    struct interp_record *record; // null: nothing is noted
    void (*on_report)(void *aux, const struct interp_violation *violation);
    void *report_aux;
    void (*on_event)(void *aux, const char *text, struct loc at);
    void *event_aux;
    void (*on_use)(void *aux, struct loc at);
    void (*on_mask)(void *aux, const struct ir_var *v);
    void *use_aux;
};

// A Checksum instance while a packet is parsed.
struct running_sum {
    unsigned sum;         // 16 bits, one's complement
    uint64_t end_of_last; // byte behind the header of the field that was subtracted last
};
// A residual that was asked for: it is complete when the parser is done (tna-facts 4.8).
struct residual {
    const struct ir_checksum *checksum;
    struct ir_var *var;
    uint64_t from; // header bytes from here on are subtracted as well
};

// Bytes that are counted when the packet has left the deparser (true_egress_accounting).
struct late_count {
    const struct ir_counter *counter;
    uint64_t *bytes;
};

// One packet in one gress.
struct run {
    struct interp *ip;
    struct interp_gress *st;
    const struct ir_gress *g;
    struct arena *a; // values; lives as long as the packet
    big *vars;       // by id
    // of the packet
    const struct sk_packet *packet;
    uint8_t *bytes; // the architecture's bytes, the packet, its frame check sequence
    uint64_t n_bytes, n_fcs;
    uint64_t buffer_at;  // where in the packet's buffer the first of 'bytes' is
    uint64_t cursor;     // bytes parsed
    uint64_t *header_at; // by header id: byte behind its extracted bytes
    unsigned parser_err;
    bool parser_done;
    bool in_fcs;    // the parser took bytes that are not the packet's
    struct loc at;  // of the statement, or what it is in
    big *undefined; // by variable, its bits that are; null: nobody asks
    bool in_deparser;
    struct running_sum *sums;
    VEC(struct residual) residuals;
    // of the action that runs: its entry, and the entry's table
    struct interp_entry *entry;
    const struct ir_table *entry_table;
    struct sk_ingress_out *out; // null in egress
    VEC(struct late_count) late;
    struct sk_mirror_out *mirror;
    bool *taken; // by register, if it is guarded: executed in this pass
    bool twice;  // a guarded one was executed again, in a program without guards of its own
};

// What a statement did to the flow of control: FLOW_ON goes on behind it; FLOW_EXIT ends the
// control; FLOW_STOP ends the parser; any other value is the label of the block to leave.
typedef unsigned flow;
#define FLOW_ON   0u
#define FLOW_EXIT 0xffffffffu
#define FLOW_STOP 0xfffffffeu

_Noreturn void interp_fail(const char *what, int kind, struct loc at);

// ---- a packet (interp.c) ----
void interp_begin(struct run *r, struct interp *ip, unsigned gress, const struct sk_packet *p);
uint64_t interp_parse_packet(struct run *r); // bytes consumed

// ---- values (interp_expr.c) ----
big interp_get(struct run *r, const struct ir_var *v);
void interp_set(struct run *r, const struct ir_var *v, big value); // cut to the variable's width
void interp_set_u64(struct run *r, const struct ir_var *v, uint64_t value); // v may be null
uint64_t interp_u64(struct run *r, const struct ir_var *v); // low bits; 0 when v is null
big interp_eval(struct run *r, const struct ir_expr *x);
bool interp_true(struct run *r, const struct ir_expr *x);
// An index: values beyond 64 bits are UINT64_MAX.
uint64_t interp_index(struct run *r, const struct ir_expr *x);
big interp_from_words(struct arena *a, const uint64_t *words, unsigned width);
unsigned interp_words(unsigned width);
// Expressions one after the other, the first most significant. '*width': bits of all.
big interp_concat(struct run *r, const struct ir_expr *const *args, size_t n, unsigned *width);
static inline bool interp_bit(big v, unsigned i) {
    return big_word(v, i / 64) >> (i % 64) & 1;
}

// ---- statements (interp_stmt.c) ----
flow interp_block(struct run *r, const struct ir_block *b);
flow interp_stmt(struct run *r, const struct ir_stmt *s);

// ---- reports (interp_report.c) ----
void interp_report(struct run *r, const struct ir_stmt *s);
// Are the bytes before number 'end' there for the parser, who wants them for this ("extracting
// hdr.eth": 'name' may be null)? Says so if not.
bool interp_is_there(struct run *r, uint64_t end, const char *doing, const char *name);
void interp_too_many_states(struct run *r, const struct ir_state *st);
// Before a table is looked up: do undefined bits of its keys matter?
void interp_doubts(struct run *r, const struct ir_table *t, const big *values);
// The number, from 1 on, of the key whose undefined bits decide which entry is found; 0: none.
unsigned interp_find_doubt(struct run *r, const struct ir_table *t, const big *values,
                           const big *undefined);

// ---- events (interp_trace.c): nothing where nobody hears ----
void interp_trace(struct run *r, const struct ir_stmt *s);
// 'why': the case that was chosen; null: no case matches, and the parser ends.
void interp_trace_transition(struct run *r, int next, const char *why);
void interp_trace_parsed(struct run *r, uint64_t consumed);
// 'action': the number of 'a'; 'data': words of its parameters.
void interp_trace_table(struct run *r, const struct ir_table *t, const big *keys, bool hit,
                        const struct ir_action *a, unsigned action, const uint64_t *data);
void interp_trace_emitted(struct run *r, const struct ir_header *h, const uint8_t *bytes);

// ---- uses of undefined bits (interp_undefined.c): nothing where nobody asks ----
void interp_undefined_begin(struct run *r); // a packet
void interp_defined(struct run *r, const struct ir_var *v);
void interp_extracted(struct run *r, const struct ir_header *h);
void interp_uses_before(struct run *r, const struct ir_stmt *s);
void interp_uses_after(struct run *r, const struct ir_stmt *s);
void interp_uses_select(struct run *r, const struct ir_state *st);
void interp_uses_key(struct run *r, const struct ir_table *t, const big *values);
void interp_uses_leaving(struct run *r);
void interp_compare_masks(struct run *r); // when the packet is done

// ---- tables (interp_table.c) ----
void interp_make_table(struct interp_table *t, const struct ir_table *ir);
void interp_free_table(struct interp_table *t);
flow interp_apply(struct run *r, const struct ir_stmt *s);
// The first of two entries that both match wins over the second, which was added later.
bool interp_better(struct run *r, const struct ir_table *t, const struct interp_entry *e,
                   const struct interp_entry *than);
bool interp_in_value_set(struct run *r, const struct ir_value_set *set, const big *keys, size_t n);
const struct ir_action *interp_action(const struct ir_table *t, unsigned i);
uint64_t interp_low_mask(unsigned bits); // of the word that holds them

// ---- action profiles (interp_profile.c) ----
void interp_free_selector(struct interp_selector *s);
// The member that an entry refers to, by its group if it names one; null: none of the group is up.
const struct interp_entry *interp_member(struct run *r, const struct ir_table *t,
                                         const struct interp_entry *e);

// ---- objects (interp_object.c) ----
// A hash of the first 'width' bits of 'data'.
big interp_hash_value(struct run *r, const struct ir_hash *h, big data, unsigned width);
void interp_make_objects(struct interp_gress *st, uint64_t seed);
void interp_free_objects(struct interp_gress *st);
void interp_reg_exec(struct run *r, const struct ir_stmt *s);
void interp_reg_read(struct run *r, const struct ir_stmt *s);
void interp_reg_write(struct run *r, const struct ir_stmt *s);
void interp_next_cell(struct run *r, const struct ir_stmt *s);
void interp_meter(struct run *r, const struct ir_stmt *s);
void interp_count(struct run *r, const struct ir_stmt *s);
// IR_COUNT_LEAVING, of a packet that leaves with that many bytes.
void interp_count_leaving(struct run *r, const struct ir_counter *c, uint32_t length);
big interp_math_unit(struct run *r, const struct ir_math_unit *m, big x);
void interp_hash(struct run *r, const struct ir_stmt *s);
void interp_random(struct run *r, const struct ir_stmt *s);

// ---- notes (interp_note.c) ----
void interp_note(struct run *r, const struct ir_stmt *s);
void interp_note_count(struct run *r, uint64_t *count);
// 'counted' bytes at '*bytes'.
void interp_note_bytes(struct run *r, uint64_t *bytes, uint64_t counted);

// ---- parser (interp_parser.c), checksums (interp_checksum.c) ----
void interp_parse(struct run *r);
flow interp_parser_stmt(struct run *r, const struct ir_stmt *s);
// 'width' bits that start 'bit' bits from the packet's first one (the architecture's bytes count).
big interp_packet_bits(struct run *r, uint64_t bit, unsigned width);
bool interp_beyond(const struct run *r, uint64_t end); // does byte end - 1 not exist?
// Lowering's parts of a header are shown as that header.
const char *interp_shown(struct run *r, const char *name);
void interp_csum_stmt(struct run *r, const struct ir_stmt *s);
void interp_residuals(struct run *r, uint64_t consumed);

#endif
