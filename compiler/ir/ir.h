// SPDX-License-Identifier: Apache-2.0
//
// ir: a pipeline as Silken compiles it; the contract between lowering and everything after it.
//
// lower.h turns a checked AST into this form. emit.h writes C from it, of the fast build, the
// checked build and the trace; the model of the chip (chip.h) reads the same form. It is small,
// explicit and typed:
//
// - Everything is instantiated and inlined. The source's structure remains where hardware and
//   control plane need it: headers, parser states, tables, actions, registers with their actions,
//   other externs. Each has the fully qualified name a control plane uses ("pipe.Ingress.forward").
// - All data are scalars: fixed-width bit vectors held in variables ("fields of the PHV"). A header
//   instance is a list of variables in wire order plus a 1-bit validity variable. Structs, stacks
//   and tuples are gone. bool is 1 bit wide; enums, errors are bit vectors.
// - All variables are zero when a packet enters a gress (a legal refinement of "undefined").
// - Signedness is in operators, not in types. Operands of an operator have equal widths, except
//   concatenation and shift amounts; a result is always reduced to its width.
// - Control flow is structured (blocks, if, switch) plus EXIT and a LABEL/LEAVE pair: 'return' in
//   an inlined body leaves the enclosing IR_BLOCK that carries the label.
// - Variables, headers, tables... are referred to by pointer; 'id' is the index in the list of
//   their gress and is dense. IR lives in the compilation's arena.
//
// Files:
//
//     ir.c       constructors that fold, comparisons (build.h)
//     walk.c     the walk through statements and expressions (walk.h)
//     effects.c  the reads and writes of code (effects.h)
//     verify.c   checks the rules above after each pass, in tests (verify.h)
//     emitted.c  which headers a deparser emits (emitted.h)
//     target.c   the numbers of the chips (target.h)
//     dump.c     the IR as text
#ifndef SILKEN_COMPILER_IR_IR_H
#define SILKEN_COMPILER_IR_IR_H

#include "compiler/base/arena.h"
#include "compiler/base/bigint.h"
#include "compiler/base/diag.h"

struct ir_expr;
struct ir_stmt;
struct ir_block;
struct ir_header;
struct ir_table;
struct ir_action;
struct ir_regaction;
struct ir_reg_param;
struct ir_math_unit;

// --------------------------------------------------------------------------------------------
// Variables.

// Fields of the metadata that the architecture puts before a packet (tna-facts 2.1, 3.1).
enum ir_prefix_field {
    IRP_OTHER, // padding, and whatever is not such a field
    // ingress
    IRP_RESUBMIT_FLAG,
    IRP_PACKET_VERSION,
    IRP_INGRESS_PORT,
    IRP_INGRESS_MAC_TSTAMP,
    // egress
    IRP_EGRESS_PORT,
    IRP_ENQ_QDEPTH,
    IRP_ENQ_CONGEST_STAT,
    IRP_ENQ_TSTAMP,
    IRP_DEQ_QDEPTH,
    IRP_DEQ_CONGEST_STAT,
    IRP_APP_POOL_CONGEST_STAT,
    IRP_DEQ_TIMEDELTA,
    IRP_EGRESS_RID,
    IRP_EGRESS_RID_FIRST,
    IRP_EGRESS_QID,
    IRP_EGRESS_COS,
    IRP_DEFLECTION_FLAG,
    IRP_PKT_LENGTH,
    IRP_COUNT
};
extern const char *const ir_prefix_names[IRP_COUNT]; // field names; null: IRP_OTHER

struct ir_var {
    unsigned id;
    const char *name;                  // source path, "hdr.ipv4.ttl"; locals "Ingress.tmp", unique
    unsigned width;                    // bits, >= 1
    bool is_signed;                    // how to print it
    struct ir_header *header;          // the header it is a field of, or null
    unsigned bit_offset;               // in that header, from its first bit
    bool padding;                      // @padding: nobody cares what is in it
    enum ir_prefix_field prefix_field; // which field of an 'intrinsic' header it is
    bool starts_zero;     // the program asks the chip's compiler to zero it (lower/zeroed.c)
    struct ir_var *valid; // own-validity (tna-facts 2.8): 1 bit, set by explicit assignments
    const char *shown;    // lowering's own: what it holds, in the source's words; or null
    struct loc at;
};

struct ir_header {
    unsigned id;
    const char *name;      // "hdr.ipv4", "hdr.vlan[1]"
    const char *type_name; // "ipv4_h"
    unsigned bits;         // multiple of 8
    VEC(struct ir_var *) fields;
    struct ir_var *valid;
    bool intrinsic; // extracted from what the architecture puts before the packet
    struct loc at;
};

// Variables through which a gress and the architecture talk. A program that does not mention one
// has null there.
enum ir_intrinsic {
    // ingress: out to the traffic manager
    IRI_UCAST_EGRESS_PORT,
    IRI_BYPASS_EGRESS,
    IRI_DEFLECT_ON_DROP,
    IRI_INGRESS_COS,
    IRI_QID,
    IRI_ICOS_FOR_COPY_TO_CPU,
    IRI_COPY_TO_CPU,
    IRI_PACKET_COLOR,
    IRI_DISABLE_UCAST_CUTTHRU,
    IRI_ENABLE_MCAST_CUTTHRU,
    IRI_MCAST_GRP_A,
    IRI_MCAST_GRP_B,
    IRI_LEVEL1_MCAST_HASH,
    IRI_LEVEL2_MCAST_HASH,
    IRI_LEVEL1_EXCLUSION_ID,
    IRI_LEVEL2_EXCLUSION_ID,
    IRI_RID,
    // both: out to the deparser
    IRI_DROP_CTL,
    IRI_CONSUMED, // ingress: an action with @silken_consumes ran; no field of TNA's, and not on a
                  // chip
    IRI_TWICE, // a packet came to a register a second time (ir_register.guarded); no field either
    IRI_DIGEST_TYPE,
    IRI_RESUBMIT_TYPE,
    IRI_MIRROR_TYPE,
    // of a Tofino 2
    IRI_MIRROR_IO_SELECT,
    IRI_MIRROR_HASH,
    IRI_MIRROR_INGRESS_COS,
    IRI_MIRROR_DEFLECT_ON_DROP,
    IRI_MIRROR_MULTICAST_CTRL,
    IRI_MIRROR_EGRESS_PORT,
    IRI_MIRROR_QID,
    IRI_MTU_TRUNC_LEN,
    IRI_ADV_FLOW_CTL,
    // both: in from the parser
    IRI_GLOBAL_TSTAMP,
    IRI_GLOBAL_VER,
    IRI_PARSER_ERR,
    // egress: out to the port
    IRI_CAPTURE_TSTAMP_ON_TX,
    IRI_UPDATE_DELAY_ON_TX,
    IRI_COUNT
};
extern const char *const ir_intrinsic_names[IRI_COUNT]; // field names: "ucast_egress_port"...

// --------------------------------------------------------------------------------------------
// Expressions.
enum ir_op {
    IR_CONST,     // value
    IR_VAR,       // var
    IR_LOOKAHEAD, // parser only: 'width' bits from 'lo' bits after the cursor; running past the
                  // packet's end is parser error PARTIAL_HDR
    IR_NOT,       // ~a
    IR_NEG,       // -a
    IR_ADD,
    IR_SUB,
    IR_MUL,
    IR_UDIV,
    IR_UMOD, // by zero: 0
    IR_UADD_SAT,
    IR_USUB_SAT,
    IR_SADD_SAT,
    IR_SSUB_SAT,
    IR_AND,
    IR_OR,
    IR_XOR,
    IR_SHL,
    IR_LSHR,
    IR_ASHR, // b is unsigned, any width; amounts >= width shift all out
    IR_EQ,
    IR_NE,
    IR_ULT,
    IR_ULE,
    IR_SLT,
    IR_SLE, // 1 bit; > and >= are written swapped
    IR_UMIN,
    IR_UMAX,
    IR_SMIN,
    IR_SMAX,
    IR_CONCAT, // a ++ b
    IR_SLICE,  // a[lo + width - 1 : lo]
    IR_ZEXT,
    IR_SEXT, // to a larger width; narrowing is IR_SLICE
    IR_COND, // a (1 bit) ? b : c; only the chosen side is evaluated
    IR_LAND,
    IR_LOR,       // short-circuit, 1 bit
    IR_REG_PARAM, // param: its current value
    IR_MATH_UNIT, // math, of a
};
bool ir_is_condition(
    enum ir_op op); // a comparison, IR_LAND or IR_LOR: what it computes is a truth value
struct ir_expr {
    enum ir_op op;
    unsigned width;
    unsigned lo; // IR_SLICE, IR_LOOKAHEAD
    struct ir_expr *a, *b, *c;
    big value; // IR_CONST: in [0, 2^width)
    struct ir_var *var;
    struct ir_reg_param *param;
    struct ir_math_unit *math;
    struct loc at;
};
typedef VEC(struct ir_expr *) ir_expr_vec;

// --------------------------------------------------------------------------------------------
// Externs and other objects of a gress.
// A register may have counters of its own that say which cell comes next (tna-facts 4.2): of cells
// written so far, or, of a queue, of those written and those read.
enum ir_counting { IR_UNCOUNTED, IR_LOG, IR_FIFO, IR_STACK };
enum ir_reg_use {
    IR_REG_INDEX,   // the cell that an index names
    IR_REG_APPEND,  // log: the next; a Tofino stays at the last cell, a Tofino 2's log is then full
    IR_REG_ENQUEUE, // queue: the one after the last written, around the end
    IR_REG_DEQUEUE, // queue: the first written that was not read
    IR_REG_PUSH,
    IR_REG_POP,
};
struct ir_regaction;
struct ir_register {
    unsigned id;
    const char *name;
    unsigned width; // of one word, 1, 8, 16, 32 or 64
    unsigned words; // 1, or 2 for a pair (struct of two fields, or split 64 bit: kept as 1 x 64)
    bool wide;      // one value of 128 bits: its low and its high half are the two words
    bool is_signed;
    const char *word_names[2]; // "f1", or the struct's member names
    uint64_t size;             // cells; 0 for a DirectRegister
    big initial[2];            // null = 0
    bool direct;               // DirectRegister: one cell per entry of the table that owns it
    // Its bits say who gets packets in the groups of this selector (stages/selector_bits.h); null:
    // a register like others. 'implied': made for the selector, whose name it has; the control
    // plane's schema does not list it.
    struct ir_selector *of_selector;
    bool implied;
    // What entries or packets say decides whether a packet executes two actions of it in one pass.
    // The chip's compiler takes that, so one that does is found when it happens, and dropped
    // (compiler/rules/regonce.h, compiler/instrument/guard.c).
    bool guarded;
    enum ir_counting counting;
    // What runs in the action's place when a log, queue or stack is full, on the cell that is next
    // to be written, and when a queue or stack is empty. Null: nothing, and results are 0.
    struct ir_regaction *overflow, *underflow;
    unsigned declared;        // RegisterActions in the source, those that nobody executes, too
    struct loc last_declared; // of these
    struct loc at;
};
// A RegisterAction: 'body' reads and writes value[] (already loaded), sets rv. Executed by
// IR_REG_EXEC as one atomic read-modify-write. rv is zero when not assigned. The body may read
// other variables of the gress, and write those that carry further results; value and rv are
// variables of the gress used nowhere else.
//
// An action may see the register as cells of another size: 'words' words of 'width' bits. Then the
// register is one string of bits, the first cell's first word at its low end, and the action's
// index counts cells of the action's size (tna-facts 4.2).
struct ir_regaction {
    unsigned id;
    const char *name;
    struct ir_register *reg;
    unsigned width, words; // of the action's cell
    struct ir_var *value[2];
    struct ir_var
        *part;         // the low bits of value[0] when they are all that the action takes, or null
    struct ir_var *rv; // null when the apply method has none
    struct ir_block *body;
    struct loc at;
    struct loc returns; // the first return of its own, also one at the end; no line: there is none
};
// A scalar that register actions read and the control plane may change (tna-facts 4.2).
struct ir_reg_param {
    unsigned id;
    const char *name;
    unsigned width;
    bool is_signed;
    big initial;
    struct ir_register *reg; // whose actions read it
    struct loc at;
};
// Approximate arithmetic by a table over the operand's four leading bits (tna-facts 4.3). The
// formula is sk_math_unit's (stages/mathunit.h).
struct ir_math_unit {
    unsigned id;
    const char *name;
    bool invert; // the exponent
    int shift;   // -1, 0, 1: exponent halved, kept, doubled
    int scale;   // -32 .. 31
    uint8_t table[16];
    struct loc at;
};
enum ir_counter_type { IR_COUNT_PACKETS = 0, IR_COUNT_BYTES = 1, IR_COUNT_BOTH = 2 };
struct ir_counter {
    unsigned id;
    const char *name;
    enum ir_counter_type type;
    unsigned width;
    uint64_t size; // 0 for a DirectCounter
    bool direct;
    int64_t adjust;   // bytes taken off each packet's length; the same at all calls
    bool true_egress; // bytes are those that the egress deparser puts out
    struct loc at;
};
enum ir_meter_kind { IR_METER, IR_LPF, IR_WRED };
// A Meter, Lpf or Wred, or their Direct forms (tna-facts 4.5).
struct ir_meter {
    unsigned id;
    const char *name;
    enum ir_meter_kind kind;
    bool bytes;       // IR_METER: it meters bytes, else packets
    uint8_t value[3]; // results. IR_METER: for green, yellow, red; IR_WRED: for no drop, drop
    unsigned width;   // IR_LPF, IR_WRED: of the input; at most 32
    uint64_t size;    // cells; 0 for a direct one
    bool direct;
    int64_t adjust; // as a counter's
    struct loc at;
};
enum ir_hash_algorithm {
    IR_HASH_IDENTITY,
    IR_HASH_RANDOM,
    IR_HASH_XOR8,
    IR_HASH_XOR16,
    IR_HASH_XOR32,
    IR_HASH_CRC,
};
// Field of a list that a hash is computed over, by the name the control plane knows it.
struct ir_hash_field {
    const char *name;
    unsigned width;
    const struct ir_expr *constant; // or null
    int twin;                       // field it may change places with (@symmetric), or -1
};
struct ir_hash {
    unsigned id;
    const char *name;
    enum ir_hash_algorithm algorithm;
    unsigned width;     // of the result
    unsigned crc_width; // 8, 16, 32, 64 (tna-facts 4.6: RevEng parameters)
    uint64_t coeff, init, xor_out;
    bool reversed, extended;
    // The control plane may change a hash that is computed at one place: ir_hash_is_dynamic.
    unsigned n_gets;
    bool selects;                     // computed by tables that choose a member of a group
    unsigned bits;                    // of the input, at that place
    VEC(struct ir_hash_field) fields; // of a list; of another argument none
    struct loc at;
};
static inline bool ir_meter_of_bytes(const struct ir_meter *m) {
    return m->kind == IR_METER && m->bytes;
}
static inline bool ir_hash_is_dynamic(const struct ir_hash *h) {
    return h->n_gets == 1 && !h->selects;
}
struct ir_random {
    unsigned id;
    const char *name;
    unsigned width;
};
struct ir_checksum { // a Checksum instance; its running 16-bit state is per packet
    unsigned id;
    const char *name;
};
// A Digest instance: what the control plane learns (tna-facts 4.11). 'bits' is the sum of the
// fields' widths, at most 384. Ingress only.
struct ir_digest_field {
    const char *name; // "src_addr"; of a struct in the struct "outer.inner"
    unsigned width;
    bool is_signed;
};
typedef VEC(struct ir_digest_field) ir_field_vec;
struct ir_digest {
    unsigned id;
    const char *name;
    const char *type_name; // of its struct or header
    ir_field_vec fields;
    unsigned bits;
    struct loc at;
};

// --------------------------------------------------------------------------------------------
// Actions and tables.
// What a controller sees in place of a value's own bits: @p4runtime_translation of its type.
struct ir_translation {
    const char *name; // of the type
    const char *uri;  // which translation
    unsigned bits;    // of the controller's value
};
struct ir_param { // control-plane parameter: a variable of the gress, loaded when the action starts
    const char *name;
    struct ir_var *var;
    const struct ir_translation *translation; // or null
};
struct ir_action {
    unsigned id;
    const char *name; // "pipe.Ingress.forward", "NoAction"
    VEC(struct ir_param) params;
    struct ir_block *body;
    struct loc at;
};
enum ir_match { IR_MATCH_EXACT, IR_MATCH_TERNARY, IR_MATCH_LPM, IR_MATCH_RANGE };
struct ir_key {
    const char *name; // "hdr.ipv4.dst_addr", "$valid" forms: tna-facts 8.1
    enum ir_match match;
    struct ir_expr *expr;
    bool partition;                           // atcam_partition_index
    const struct ir_translation *translation; // or null
    struct loc at;
};
struct ir_key_value { // of one key in one entry, a set of values
    big value;
    big mask; // exact: all ones; LPM: prefix mask; range: null
    big high; // range: inclusive upper end; null otherwise
};
struct ir_entry {
    int64_t priority; // smaller wins; position for entries without one
    bool is_const;
    VEC(struct ir_key_value) keys;
    struct ir_action *action;
    VEC(big) args;
    struct loc at;
};
struct decl;
struct ir_table_action {
    struct ir_action *action;
    bool table_only, default_only; // @tableonly, @defaultonly
    const struct decl *decl;       // in the source, for lowering's own use
};
// An ActionProfile: its members are made at run time, each one of 'actions' with data. Entries of
// its tables, other than the program's own, name a member or, with a selector, a group of members.
// Its tables exclude each other (regonce.c). Actions are those of every table of it.
struct ir_action_profile {
    unsigned id;
    const char *name;
    uint64_t size; // members at most
    VEC(struct ir_table_action) actions;
    struct loc at;
};
enum ir_selector_mode { IR_SELECT_FAIR, IR_SELECT_RESILIENT };
// An ActionSelector: its groups are lists of the profile's members. One that the data plane reaches
// (SelectorAction, or a register given to it) has a memory of one bit for each place of a group.
struct ir_selector {
    unsigned id;
    const char *name;
    struct ir_action_profile *profile;
    struct ir_hash *hash;
    enum ir_selector_mode mode;
    uint64_t max_group_size, n_groups;
    struct ir_register
        *memory; // what register actions on the selector work on; null: there are none
    struct loc at;
};
// An Alpm or Atcam: entries are kept in partitions (tna-facts 4.12). 0: not said.
struct ir_partitions {
    bool alpm;
    uint64_t count, subtrees, subset_width;
};
struct ir_table {
    unsigned id;
    const char *name;
    VEC(const char *) annotations; // for the control plane's schema: "@alpm(1)"
    VEC(struct ir_key) keys;
    VEC(struct ir_table_action) actions;
    struct ir_action *default_action; // never null (NoAction)
    VEC(big) default_args;
    bool const_default;
    uint64_t size;
    bool const_entries; // entries are fixed: the control plane may only read
    VEC(struct ir_entry *) entries;
    VEC(struct ir_counter *) direct_counters;
    VEC(struct ir_register *) direct_registers;
    struct ir_meter *direct_meter; // or null
    struct ir_hash *proxy; // entries are found by this hash of the key, not by the key; or null
    struct ir_action_profile *profile; // null: entries have actions of their own
    struct ir_selector *selector;      // null: entries name no groups
    VEC(const char *) selector_keys;   // names of the keys that are hashed
    // Run when the entry that was hit names a group: leaves the hash of the selector keys in
    // select_hash. An empty group acts like a miss.
    struct ir_block *select;
    struct ir_var *select_hash;
    bool hidden; // @hidden: not shown to the control plane
    bool idle_timeout;
    const struct ir_partitions *partitions; // or null
    bool key_masks; // @dynamic_table_key_masks(1): of the keys, all exact, the control plane's bits
                    // count
    bool noted;     // what an IR_NOTE would say: hits of an entry, or of the default one, are noted
    // Of an instrumented program (compiler/instrument); empty, null: nothing is to be said. Of each
    // key which bits are defined: as wide as the key, or one bit for all of a wide one; null: all
    // of them are. An application sets 'doubtful' to the number, from 1 on, of the key whose other
    // bits decide which entry is found, 0: none, and runs 'reports'; then the entry is looked up.
    ir_expr_vec key_defined;
    struct ir_var *doubtful;
    struct ir_block *reports;
    struct loc at;
};

// --------------------------------------------------------------------------------------------
// Statements.
enum ir_stmt_kind {
    IR_ASSIGN,      // var = e; or var[lo+width-1:lo] = e when 'slice'
    IR_IF,          // e, then_b, else_b (or null)
    IR_SWITCH,      // e, cases
    IR_BLOCK,       // then_b; 'label' != 0: LEAVE(label) inside jumps past its end
    IR_LEAVE,       // label
    IR_EXIT,        // ends the gress's control (not the deparser)
    IR_SET_VALID,   // header
    IR_SET_INVALID, // header
    IR_APPLY,       // table; hit (may be null) and action_run (may be null, 32 bits: index of the
                    // executed action in table->actions) are set
    IR_REG_EXEC,    // regaction, e = index (null for direct registers), var = result or null;
                    // 'use' is not IR_REG_INDEX: e is null, the register's counters say which
    IR_REG_READ,    // reg, e = index (null for direct registers), var = word 0, var2 = word 1 or
                    // null
    IR_REG_WRITE,   // reg, e = index, e2, e3 = words
    IR_COUNT,      // counter, e = index (null for direct). Of a 'true_egress' counter it counts the
                   // packet; the bytes are IR_COUNT_LEAVING's. 'flag': what it counts is noted
    IR_METER_EXEC, // meter, e = index (null for direct), e2 = colour of the packet (IR_METER; null:
                   // colour-blind) or value to filter, var = result
    IR_HASH,       // hash, args (most significant first), var
    IR_RANDOM,     // random, var
    // parser only
    IR_EXTRACT, // header; or, for a stack, headers[e]: e out of range = PARTIAL_HDR-like error
    IR_ADVANCE, // e bits (multiple of 8)
    IR_RAISE,   // ends the parser with the error bits 'lo' (tna-facts 5.2)
    IR_CSUM_ADD,
    IR_CSUM_SUBTRACT, // checksum, args
    IR_CSUM_VERIFY,   // checksum, var |= (sum is wrong)
    IR_CSUM_GET,      // checksum, var = residual; 'flag': subtract all bytes up to here and deposit
    // deparser only
    IR_EMIT,          // header, when valid
    IR_COUNT_LEAVING, // counter: the bytes of the packet as it leaves, all headers written, in the
                      // cell of the last IR_COUNT of it; nothing without one
    IR_CSUM_UPDATE,   // checksum, csum_args, var = checksum of them; 'flag' = zeros_as_ones
    IR_RESUBMIT, // args = data fields in order, at most 64 bits in all (empty: zeros); 'flag': of
                 // a header type that takes no whole bytes
    IR_MIRROR,   // e = session (10 bits); args = fields of the mirror header in order, whole
                 // bytes, at most 256 bits (empty: no header); the last one executed counts
    IR_DIGEST,   // digest, args = one value per field; the last one executed counts
    // put in by passes (compiler/instrument), anywhere; rules, schemas and the model of the chip
    // look at the IR without
    IR_REPORT, // when e (1 bit) holds, the packet's observer hears that the program does what it
               // should not: report->blames[i], of the first of 'args' that holds, or the last one;
               // e2 = a number (null: 0), e3 = which of report->places it has to do with, from 1 on
               // (0, or null: none)
    IR_NOTE,   // 'noted': something is noted of this pass, where 'e' is true (null: always). No
               // variable, packet or table is another one for it
    IR_TRACE,  // the packet's observer, if it hears everything, hears 'event', with the values of
               // 'args'; e2 = its number (null: 0), of an ADVANCE how many bits were taken just
               // now; e3 (1 bit) = its flag (null: 0)
    IR_NEXT_CELL, // reg, use: var = the cell that such an access would have now, of 'e' cells of
                  // the size that it sees
};
// What an IR_NOTE notes down, for the engine (stages/notes.h). It stands before the statement that
// it is about.
enum ir_noted {
    IR_NOTED_HEADER,    // header, to be extracted: the bits of those of its fields that decide are
                        // seen (ir_gress.decides)
    IR_NOTED_LOOKAHEAD, // args, each an IR_LOOKAHEAD: these bits are seen
    IR_NOTED_TAKEN,     // the bytes of 'header', to be extracted, or 'e2' bits: they do not come
                        // back
    IR_NOTED_ORDER,     // header, to be extracted: it is in place 'lo' of those that leave, from 1
    IR_NOTED_REMOVED,   // header, which was extracted: it does not leave
    IR_NOTED_SUMMED,    // header: the sum to be verified is of all of it, and of nothing else
    IR_NOTED_VERIFIED,  // checksum: it has to be right
    IR_NOTED_UNFIT,     // what follows would not be the same again
};
struct ir_case {
    VEC(big) values; // empty: default
    struct ir_block *body;
};
// What a program should not do, and an IR_REPORT can say (run time: pipeline/trace.h, where the
// texts are).
#define IR_VIOLATIONS(X)                                                                           \
    X(REGISTER_TWICE)                                                                              \
    X(TABLE_TWICE)                                                                                 \
    X(INDEX)                                                                                       \
    X(INVALID_HEADER)                                                                              \
    X(NOT_SET)                                                                                     \
    X(UNDEFINED)                                                                                   \
    X(EMITTED)                                                                                     \
    X(STACK)
enum ir_violation {
#define IR_VIOLATION_ENUM(name) IR_VIOLATION_##name,
    IR_VIOLATIONS(IR_VIOLATION_ENUM)
#undef IR_VIOLATION_ENUM
        IR_VIOLATION_COUNT
};
extern const char *const ir_violation_names[IR_VIOLATION_COUNT]; // "REGISTER_TWICE"...
struct ir_blame {
    enum ir_violation violation;
    const char *name; // of the variable, register...
};
// Places in the source that a report may point to besides its own: those where a register is
// accessed or a table is applied.
struct ir_places {
    unsigned id; // in the gress's list
    VEC(struct loc) v;
};
struct ir_report {
    VEC(struct ir_blame) blames;    // one more than the statement has 'args'
    const struct ir_places *places; // null: the statement has no e3
};
// What an IR_TRACE tells. The run time has kinds of the same names (pipeline/trace.h), where it is
// said what belongs to each.
#define IR_EVENTS(X)                                                                               \
    X(STATE)                                                                                       \
    X(EXTRACT)                                                                                     \
    X(ADVANCE)                                                                                     \
    X(SELECT)                                                                                      \
    X(TRANSITION)                                                                                  \
    X(DEPARSE)                                                                                     \
    X(CONDITION)                                                                                   \
    X(SWITCH)                                                                                      \
    X(REGISTER)                                                                                    \
    X(COUNTER)                                                                                     \
    X(METER)                                                                                       \
    X(HASH)                                                                                        \
    X(VALUE)                                                                                       \
    X(CHECKSUM)                                                                                    \
    X(RESUBMIT)                                                                                    \
    X(DROP_CTL)
enum ir_event_kind {
#define IR_EVENT_ENUM(name) IR_EVENT_##name,
    IR_EVENTS(IR_EVENT_ENUM)
#undef IR_EVENT_ENUM
        IR_EVENT_COUNT
};
extern const char *const ir_event_names[IR_EVENT_COUNT]; // "STATE"...
struct ir_event_value {
    const char *name;
    bool is_signed;
};
struct ir_event {
    enum ir_event_kind kind;
    const char *name, *text;           // null: none
    VEC(struct ir_event_value) values; // of the statement's 'args': inputs first
    size_t n_in, n_out;                // then outputs; what is left are results
    const struct ir_header *header;    // EXTRACT: which was extracted just now
};
// Only fields of valid headers contribute to a deparser checksum.
struct ir_csum_arg {
    struct ir_expr *e;
    struct ir_header *only_if; // null: always
};
// Where a control was applied, and that one in turn. Its body was inlined there.
struct ir_application {
    const struct ir_application *up;
    struct loc at;
};
// What a pass knows of an application, of a table whose entries are fixed: the others do not match
// there, and of those that may, all have these keys in common.
struct ir_known_match {
    const bool *may_match; // by entry
    const bool *matches;   // by key: it need not be compared
};
struct ir_stmt {
    enum ir_stmt_kind kind;
    struct loc at;
    const struct ir_application *within; // that it was inlined by, the innermost; null: none
    // The action, called by a control outside of tables, whose body it is of: statements with one
    // number are of one call, which the chip runs as a table of its own. 0: of none.
    unsigned action_call;
    // The innermost block with an annotation that it is in, by number; 0: in none. The chip's
    // compiler makes no table of statements of different ones.
    unsigned annotated;
    unsigned stage; // that the innermost @stage(n) around it asks for, n + 1; 0: none
    bool in_hash;   // IR_ASSIGN: @in_hash asks the chip for it to be computed in the hash matrix
    bool idle;      // IR_ASSIGN, of the chip's model: what it writes is there already
    // IR_REG_READ, IR_REG_WRITE: one access with the write or read of the same cell before it in
    // the block (lower/one_access.c).
    bool continues;
    const char
        *text; // IR_IF, IR_SWITCH: what it asks, in the source's words; null: not the source's
    struct ir_var *var, *var2;
    bool slice;
    unsigned lo, width;
    struct ir_expr *e, *e2, *e3;
    struct ir_block *then_b, *else_b;
    unsigned label;
    VEC(struct ir_case) cases;
    struct ir_header *header;
    VEC(struct ir_header *) headers;
    struct ir_table *table;
    struct ir_var *hit, *action_run;
    const struct ir_known_match *known; // IR_APPLY; null: nothing is known
    struct ir_regaction *regaction;
    struct ir_register *reg;
    struct ir_counter *counter;
    struct ir_meter *meter;
    struct ir_hash *hash;
    struct ir_random *random;
    struct ir_checksum *checksum;
    struct ir_digest *digest;
    bool flag;
    bool copy;    // IR_ASSIGN: into a parameter or back, so it is no use of the value
    bool selects; // IR_IF of a deparser: by a field that sends nothing unless assigned; no use
    enum ir_reg_use use;
    enum ir_noted noted; // IR_NOTE
    const struct ir_report *report;
    const struct ir_event *event;
    ir_expr_vec args;
    VEC(struct ir_csum_arg) csum_args;
};
struct ir_block {
    VEC(struct ir_stmt *) stmts;
};

// --------------------------------------------------------------------------------------------
// Parser.
struct ir_select_key_set {    // one key of one case
    big value, mask;          // matches when (key & mask) == value; range when high is set
    big high;                 // inclusive upper end or null
    struct ir_value_set *set; // run-time value set or null
};
// Keys of all its select positions are ternary. In a select with several keys a set of n keys
// stands at n neighbouring positions, all of which name it, its first key at the first of them.
struct ir_value_set {
    unsigned id;
    const char *name;
    uint64_t size;
    VEC(unsigned) widths;
    VEC(const char *) names; // members of the set's struct; "f1"... otherwise
};
#define IR_ACCEPT (-1)
#define IR_REJECT (-2)
struct ir_select_case {
    VEC(struct ir_select_key_set) sets; // one per key; empty = default
    int next;                           // state id, IR_ACCEPT or IR_REJECT
    const char *text;                   // of a gress that is traced: what it is called there
};
struct ir_state {
    unsigned id;
    const char *name;
    struct ir_block *body;
    ir_expr_vec keys;                 // empty: 'next' is unconditional
    VEC(const char *) key_texts;      // in the source's words; may be shorter than keys
    VEC(struct ir_select_case) cases; // first match wins; none matching = parser error NO_MATCH
    int next;
    struct loc at;
};

// --------------------------------------------------------------------------------------------
// A gress and a program.
enum ir_gress_kind { IR_INGRESS, IR_EGRESS };
struct ir_gress {
    enum ir_gress_kind kind;
    VEC(struct ir_var *) vars;
    VEC(struct ir_header *) headers;
    struct ir_var *intrinsic[IRI_COUNT];
    bool parser_err_used; // the control reads parser_err: see tna-facts 5.2
    // By variable: what becomes of a packet may depend on it. Null: the gress takes no notes
    // (IR_NOTE).
    const bool *decides;
    VEC(struct ir_state *) states; // states.v[0] is start
    struct ir_block *control;
    struct ir_block *deparser;
    // Of an instrumented program: who runs it also tells the packet's observer what no IR_TRACE
    // says (compiler/instrument/instrument.h).
    bool traced;
    // Of an instrumented program: run after the deparser when the packet leaves, before its headers
    // are written. Null: nothing.
    struct ir_block *leaving;
    VEC(struct ir_places *) places; // that its reports have
    VEC(struct ir_action *) actions;
    VEC(struct ir_table *) tables;
    VEC(struct ir_action_profile *) profiles;
    VEC(struct ir_selector *) selectors;
    VEC(struct ir_register *) registers;
    VEC(struct ir_regaction *) regactions;
    VEC(struct ir_reg_param *) reg_params;
    VEC(struct ir_math_unit *) math_units;
    VEC(struct ir_counter *) counters;
    VEC(struct ir_meter *) meters;
    VEC(struct ir_hash *) hashes;
    VEC(struct ir_random *) randoms;
    VEC(struct ir_checksum *) checksums;
    VEC(struct ir_digest *) digests;
    VEC(struct ir_value_set *) value_sets;
    // What the parser unpacks a port's metadata into (ingress); empty: it takes the bytes as they
    // are.
    ir_field_vec port_fields;
    // Bytes of these as the chip's driver has them: each member of the struct begins with a byte of
    // its own.
    unsigned port_bytes;
    struct loc port_at; // where they are unpacked
};
struct ir_pipeline {
    const char *name; // instance name: prefix of control-plane names
    struct ir_gress gress[2];
};
// Names that the source has for values.
struct ir_named_value {
    const char *name;
    big value;
};
typedef VEC(struct ir_named_value) ir_named_vec;
struct ir_constant { // a constant of the program's own, of type bit<width>
    const char *name;
    unsigned width;
    big value;
};
struct ir_field_names { // of a header's field whose type is an enum
    const char *header_type, *field;
    ir_named_vec names;
};
// A header type of the source, for the wire structs of the hosts.
struct ir_wire_field {
    const char *name;
    unsigned width, bit_offset;
    bool is_signed;
    const struct ir_translation *translation; // or null
};
struct ir_wire_type {
    const char *name;
    const char *controller; // of @controller_header: "packet_in", "packet_out"; or null
    unsigned bits;
    VEC(struct ir_wire_field) fields;
};
struct ir_program {
    const char *path;                       // the source file
    unsigned ingress_prefix, egress_prefix; // bytes that the chip puts before a packet
    VEC(struct ir_pipeline *) pipelines;    // 1 to 4 distinct ones
    unsigned pipe_of[4];                    // pipelines index that hardware pipe i runs
    bool invariant_crc;                     // @silken_invariant_crc: of RoCEv2, by the ports
    bool single_packets;                    // @silken_single_packets: ports join none
    VEC(struct ir_wire_type) wire_types;
    VEC(struct ir_constant) constants;
    VEC(struct ir_field_names) field_names;
};

// Stable indented text of the whole program, for golden tests and people.
void ir_dump(FILE *out, struct arena *a, const struct ir_program *p);
// Notes to an error about two statements that must not both be met: where the first one is, or,
// when they come from one line of a control that is applied in several places, where those are.
// 'what' says of the first "it was applied here".
void ir_note_first(struct diag *d, const struct ir_stmt *first, const struct ir_stmt *second,
                   const char *what);
// An expression as text, in the dump's form.
const char *ir_expr_text(struct arena *a, const struct ir_expr *e);
// The same for people, near to how the source says it.
const char *ir_source_text(struct arena *a, const struct ir_expr *e);

#endif
