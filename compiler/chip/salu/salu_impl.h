// SPDX-License-Identifier: Apache-2.0
//
// salu_impl: what the files of salu.c share.
//
//   salu.c         all register actions of a pipe, register by register
//   body.c         an action's body as guarded assignments, copies and dead ones resolved
//   expr.c         operands, operators and comparisons that one ALU can do
//   fit.c          the slots of the ALU that an action's assignments take
//   shared.c       what the actions of one register share
//   plain.c        reads and writes, which are register actions, too
//   users.c        who executes what: actions, tables, gresses
//   once.c         accesses that meet in one pass (regonce.h)
#ifndef SILKEN_COMPILER_CHIP_SALU_SALU_IMPL_H
#define SILKEN_COMPILER_CHIP_SALU_SALU_IMPL_H

#include "compiler/chip/salu/salu.h"
#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"

#include <limits.h>

#define SALU_MAX_COMPARES 6u   // kept of one action; beyond the chip's, so that all are counted
#define SALU_MAX_NODES    400u // of an expression, and of a body: more does not fit in any way
#define SALU_MAX_RESULTS  4u

// ---- body.c
// What a variable of an action's body is.
enum salu_var_kind { SALU_VALUE, SALU_RESULT, SALU_LOCAL };
struct salu_var {
    const struct ir_var *var;
    enum salu_var_kind kind;
    unsigned index;            // of the word, of the result
    const struct ir_expr *val; // while the body is walked: what it holds; or null
    bool live;
};
struct salu_vars {
    VEC(struct salu_var) list;
};
struct salu_var *salu_var_of(struct salu_vars *vars, const struct ir_var *var);
// The body with its copies resolved and without assignments that no one sees, as the chip's
// compiler sees it: only IR_ASSIGN and IR_IF are left. Null after a violation: something else is in
// it.
struct ir_block *salu_body(struct chip_report *r, const struct ir_gress *g,
                           const struct ir_regaction *ra, struct salu_vars *vars);

// ---- expr.c
enum salu_source {
    SALU_MEMORY, // word
    SALU_PHV,    // e: a variable or a slice of one
    SALU_HASHED, // e: made of PHV by the hash matrix
    SALU_CONST,
    SALU_PARAM,
    SALU_MATH,    // e: its input
    SALU_NEW,     // what ALU 'word' computes: outputs only
    SALU_COMPARE, // the predicate itself: outputs only
    SALU_HIGH,    // what a local variable got in the free ALU
};
struct salu_operand {
    enum salu_source source;
    bool neg;
    unsigned word;
    const struct ir_expr *e;
    int64_t value;
    big mask; // comparisons: constant; null: none
    struct ir_reg_param *param;
};
#define SALU_MAX_OPERANDS 4u
enum salu_unit { SALU_CMP, SALU_ALU, SALU_OUT };
// Operators: IR's, and what is complemented. SALU_MOVE has one operand.
#define SALU_MOVE  IR_VAR
#define SALU_NOT_A 0x100
#define SALU_NOT_B 0x200
#define SALU_NOT   0x400
struct salu_instr {
    enum salu_unit unit;
    int op;
    unsigned word;      // ALU: 0 low, 1 high; OUT: which result
    uint64_t predicate; // the outcomes of all comparisons under which it acts, a bit for each
    struct salu_operand operands[SALU_MAX_OPERANDS];
    unsigned n;
    struct loc at;
};

struct salu_assigned { // a result
    unsigned index;
    uint64_t predicate;
    struct loc at;
};

// One action while it is fitted.
struct salu_action {
    struct chip_report *r;
    const struct ir_regaction *ra;
    struct salu_vars *vars;
    bool pair;          // both ALUs belong to words of the register
    bool failed;        // a violation was told for the statement at hand
    struct loc at;      // of that statement
    uint64_t predicate; // under which it runs
    bool written[2];    // words assigned so far
    const struct ir_expr *compared[SALU_MAX_COMPARES];
    unsigned n_compared, more_compares;
    struct loc excess; // the first that the chip has no unit for
    VEC(struct salu_instr) instrs;
    struct {
        bool used, plain; // plain: told by the word or PHV itself, without an ALU
        struct salu_operand from;
        uint64_t predicate;
        struct loc at;
    } outputs[SALU_MAX_RESULTS];
    VEC(struct salu_assigned) results;
    unsigned n_locals;                 // that are left, or that the chip's compiler makes
    const struct ir_var *high;         // the local variable that the free ALU computes
    VEC(const struct ir_var *) copies; // locals that stand for a word or a parameter
    VEC(struct salu_operand) copied;
};
// A violation at the statement at hand; further ones of the same statement are left out.
void salu_refuse(struct salu_action *x, const char *rule, const char *message,
                 const char *suggestion);
const char *salu_name(const struct salu_action *x); // of the action
// Reads 'e' as one operand; false: it is none.
bool salu_operand(struct salu_action *x, const struct ir_expr *e, struct salu_operand *o);
// Reads 'e' as an ALU's operator with its operands; false after a violation.
bool salu_compute(struct salu_action *x, const struct ir_expr *e, struct salu_instr *in);
// The outcomes in which comparison 'i' holds: every other run of 2^i.
uint64_t salu_outcomes(unsigned i);
// The outcomes under which a condition holds. False after a violation.
bool salu_condition(struct salu_action *x, const struct ir_expr *e, uint64_t *holds);
bool salu_same_operand(const struct salu_operand *a, const struct salu_operand *b);
const char *salu_operand_text(struct arena *a, const struct salu_operand *o);

// ---- fit.c
// Fits one action's body; instructions are in 'x' afterwards.
void salu_fit(struct salu_action *x, struct ir_block *body);

// ---- shared.c
// What the actions of one register have in common: constants, PHV inputs, the math unit.
typedef VEC(struct salu_action *) salu_action_vec;
void salu_share(struct chip_report *r, const struct ir_register *reg,
                const salu_action_vec *actions);

// ---- plain.c
// A register action for each read and write of 'reg' outside register actions; those that write.
typedef VEC(struct ir_regaction *) salu_regaction_vec;
unsigned salu_plain_uses(struct chip_report *r, const struct ir_gress *g,
                         const struct ir_register *reg, salu_regaction_vec *writes,
                         struct loc *last);

// ---- users.c
void salu_users(struct chip_report *r, const struct chip_pipe *pipe);

// ---- once.c
void salu_once(struct chip_report *r, const struct ir_gress *g);

#endif
