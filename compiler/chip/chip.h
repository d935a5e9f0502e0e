// SPDX-License-Identifier: Apache-2.0
//
// chip: does a program fit a Tofino, how full is the chip, and what must change.
//
//     struct chip_report *r = chip_check(a, d, program, CHIP_TOFINO1);
//     chip_print_text(stdout, d, r, colour, columns);    // or _json, _html: report.h
//
// A model of the chip's resources and of how a compiler places a program, from tna-facts 6 and 7.
// It reads the pipeline IR and works in phases, each of which reads the results of earlier phases
// in the report:
//
//   graph      the gress's control as units, the contents of a stage: tables, gateways, and the
//              statements between tables as tables without a key; which exclude each other; what
//              each reads and writes; the dependencies between them (graph.h)
//   salu       whether each register action fits a stateful ALU, each register its users (salu.h)
//   memory     the resources of a unit in a stage: RAMs, crossbars, hash bits, action data...
//              (memory.h)
//   place      which stages each unit goes to, both gresses sharing them (place.h)
//   parde      parser and deparser: states, rows, depth, extractors, POV bits, checksums (parde.h)
//   phv        containers: which field sits where, and from which stage to which it lives (phv.h)
//
// The first four are tried with the conditions in different places (chip_gateways) until the
// stages are enough; the shortest one counts.
//
// A phase that finds a limit exceeded adds a violation and continues, so that one run reports all;
// placement continues past the last stage. Numbers are estimates where the chip's compiler has
// choices, and the report lists them (chip_report.notes).
//
// Everything lives in the arena of the compilation. Nothing here is thread-safe for one report.
//
// Files, beside a folder for each phase:
//
//     chip.c        runs the phases; the numbers of the chips are in compiler/ir/target.c
//     report_add.c  how a phase adds a violation or a note
//     report/       the report as text, JSON and HTML
#ifndef SILKEN_COMPILER_CHIP_CHIP_H
#define SILKEN_COMPILER_CHIP_CHIP_H

#include "compiler/ir/ir.h"
#include "compiler/ir/target.h"

// ---- what a program is made of ------------------------------------------------------------------

// Bits [lo, lo + width) of a variable.
struct chip_bits {
    const struct ir_var *var;
    unsigned lo, width;
};
typedef VEC(struct chip_bits) chip_bits_vec;

// One instruction of an action: a container's ALU writes 'to' from its operands.
enum chip_op_kind {
    CHIP_OP_SET,     // move: from PHV, action data, a constant, a hash, an ALU's result
    CHIP_OP_COMPUTE, // an ALU's operation: add, and, shift, min...
};
struct chip_op {
    enum chip_op_kind kind;
    enum ir_op op; // of CHIP_OP_COMPUTE
    const struct ir_stmt *stmt;
    struct chip_bits to;
    chip_bits_vec from; // PHV
    unsigned data_bits; // of action data (parameters) among the operands
    bool constant;      // a constant among them
    big value;          // that constant
    bool hash;          // from a hash, a random number or a stateful ALU's, meter's... output
    bool dead;          // nobody ever reads what it writes
};
// What the object of an access is, at which place of an action.
enum chip_access_kind {
    CHIP_REGISTER,
    CHIP_COUNTER,
    CHIP_METER,
    CHIP_SELECTOR,
};
struct chip_access {
    enum chip_access_kind kind;
    const struct ir_stmt
        *stmt; // null: of a direct counter, meter, or a selector, of the table itself
    const struct ir_register *reg;
    const struct ir_regaction *regaction; // null: plain read or write
    const struct ir_counter *counter;
    const struct ir_meter *meter;
    const struct ir_selector *selector;
    // The index: which PHV bits it reads, whether through a hash or straight, as action data,
    // constant.
    chip_bits_vec index;
    bool index_is_hash, index_is_data, index_is_constant;
    chip_bits_vec operands; // PHV that the register action reads
};
struct chip_action {
    const struct ir_action *action; // null: of statements that stand outside actions
    const char *name;
    struct loc at;
    VEC(struct chip_op) ops;
    VEC(struct chip_access) accesses;
    chip_bits_vec reads, writes; // of ops and accesses together, without dead ones
    chip_bits_vec hashed;        // PHV that hashes of this action read (hash crossbar)
    unsigned hash_bits;          // results of those hashes
    unsigned data_bits;          // of action data that it uses
    bool is_default_only;
};

enum chip_unit_kind {
    CHIP_TABLE,   // an ir_table
    CHIP_KEYLESS, // statements between tables: a table without a key, of one action
    CHIP_GATEWAY, // a condition that no table takes along
};
// A unit's share of one stage.
struct chip_part {
    unsigned stage;
    uint64_t entries;
    unsigned used[CHIP_RESOURCES];
};
struct memory_format;
struct chip_unit {
    unsigned id; // index in chip_gress.units: program order
    enum chip_unit_kind kind;
    enum ir_gress_kind gress;
    const char *name; // control plane's name of a table; of others one that says where it is
    struct loc at;
    const struct ir_table *table;
    const struct ir_stmt *stmt; // IR_APPLY, the first statement, or IR_IF / IR_SWITCH
    // The condition that is asked on the way here and that this unit's gateway answers; null: none.
    // A gateway that stands alone has it, too.
    const struct ir_stmt *condition;
    // The unit whose outcome leads here, of several the first, and which of its outcomes; -1: none.
    int parent;
    unsigned branch;
    chip_bits_vec key;     // what a table matches on
    chip_bits_vec gateway; // what the condition reads
    VEC(struct chip_action) actions;
    // Filled by memory.h, for a whole table in one stage:
    unsigned need[CHIP_RESOURCES];
    unsigned ways, entry_bits, pack_entries, pack_width, overhead_bits, immediate_bits;
    uint64_t entries;
    bool may_split;                     // over several stages
    const struct memory_format *format; // memory.h's own
    // Filled by place.h:
    VEC(struct chip_part) parts; // by stage; never empty afterwards
    unsigned earliest;           // the stage that dependencies alone allow
};

enum chip_dep_kind {
    CHIP_DEP_MATCH,
    CHIP_DEP_ACTION,
    CHIP_DEP_OUTPUT,
    CHIP_DEP_ANTI,
    CHIP_DEP_CONTROL,
    // Both write into what will be one container, different bits of it: not in one stage, in either
    // order.
    CHIP_DEP_CONFLICT
};
extern const char *const chip_dep_names[]; // "match", ...
struct chip_dep {
    enum chip_dep_kind kind;
    unsigned from, to;         // units of one gress
    struct chip_bits bits;     // that it is about; var null: control, or after an exit
    struct loc writer, reader; // statements, where known (line 0: not)
    bool ignored;              // @ignore_table_dependency
};
static inline unsigned chip_dep_distance(const struct chip_dep *d) {
    return !d->ignored && d->kind <= CHIP_DEP_OUTPUT;
}

struct chip_gress {
    enum ir_gress_kind kind;
    const struct ir_gress *ir;
    VEC(struct chip_unit) units;
    VEC(struct chip_dep) deps;
    // units a and b never both run for a packet: excludes[a * n + b]
    const bool *excludes;
    // Fields that nobody needs, by variable id: they get no container.
    const bool *dead;
    // Units on the longest chain of dependencies, first to last.
    VEC(unsigned) critical_path;
    unsigned stages; // last stage in use + 1
};

// ---- PHV, parser, deparser: what the report shows of them ---------------------------------------
struct chip_slice { // of a field in a container
    struct chip_bits bits;
    unsigned container_lo;
    int first_stage, last_stage; // -1: the parser; limits->stages: the deparser
};
struct chip_container {
    unsigned size;   // 8, 16, 32
    unsigned number; // among those of its size and kind
    bool tagalong;
    int gress; // ir_gress_kind, -1: unused
    VEC(struct chip_slice) slices;
};
struct chip_phv {
    VEC(struct chip_container) containers;    // those in use
    unsigned used[2][3], tagalong_used[2][3]; // [gress][size 8, 16, 32]
    unsigned bits_used[2];
    bool fits;
};
struct chip_parser {
    unsigned states, rows, max_depth, min_depth; // bytes
    unsigned checksums;
};
struct chip_deparser {
    unsigned pov_bits, entries, header_bytes, checksums, mirrors, resubmit_bytes, digests,
        bridged_bytes;
};

// ---- report -------------------------------------------------------------------------------------
// One step of a packet's way: "the condition 'hdr.x == 1' holds".
struct chip_step {
    struct loc at;
    const char *text;
};
// A limit that the program passes.
struct chip_violation {
    const char *rule;       // "register-actions": stable, for tools; docs/hardware.md lists them
    const char *message;    // one sentence
    const char *suggestion; // one sentence: what to change; or null
    struct loc at;          // the statement that causes it
    struct loc also;        // a second place (line 0: none), and
    const char *also_text;  // what is there
    uint64_t limit, used;   // both 0: not a matter of numbers
    bool doubtful;          // the chip's compiler may find a way that the model does not
    bool within_error;      // so little that it mostly does: a warning
    // "register-once": the way on which a packet comes to 'also' and then to 'at'; empty: none.
    VEC(struct chip_step) path;
};
// Which conditions stand before a table that is under them, in one unit (graph/gateway.c).
enum chip_gateways {
    CHIP_GATEWAYS_JOINED,
    CHIP_GATEWAYS_UNSHARED, // not before what has a register that others use, too
    CHIP_GATEWAYS_APART,    // none
    CHIP_GATEWAY_WAYS
};
struct chip_pipe {
    const struct ir_pipeline *ir;
    enum chip_gateways gateways;
    struct chip_gress gress[2];
    // Stages in use, beyond the chip's when it does not fit: what is taken of each,
    // [stage][resource].
    VEC(unsigned *) stages;
    struct chip_phv phv;
    struct chip_parser parser[2];
    struct chip_deparser deparser[2];
};
struct chip_report {
    const struct ir_program *program;
    const struct chip_limits *limits;
    enum chip_target target;
    struct arena *arena;
    struct diag *diag;
    VEC(struct chip_pipe *) pipes; // one for each pipeline of the program
    VEC(struct chip_violation) violations;
    // What the chip's compiler takes although it is over a limit, or the model may err: no part of
    // the verdict. docs/hardware-agreement.md says how often.
    VEC(struct chip_violation) warnings;
    VEC(const char *) notes; // what the estimates leave out, for this program
    // Set by compile_check(): the file; why this target; whether the model has seen the program,
    // else the violations are the compiler's messages and there are no pipes.
    const char *path;
    bool target_of_program; // not asked for: the program says it
    bool judged;
    bool refused; // there is no verdict: the program has errors, or exceeds Silken's own limits
    bool fits;
    unsigned stages; // of the fullest pipe, both gresses
};

enum chip_verdict {
    CHIP_FITS,
    CHIP_MAY_NOT_FIT, // all that is exceeded is doubtful
    CHIP_DOES_NOT_FIT,
};
enum chip_verdict chip_verdict(const struct chip_report *r);

// Never null. Messages go into the report, not into 'd', which is there for names of files and
// source lines.
struct chip_report *chip_check(struct arena *a, struct diag *d, const struct ir_program *p,
                               enum chip_target target);

#endif
