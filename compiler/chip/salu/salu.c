// SPDX-License-Identifier: Apache-2.0
//
// salu: register actions, register by register. See salu.h.
//
// What fits was tried with the chip's own compiler, a program just inside and one just outside for
// each rule (harness/compiler/chip/salu). Where its back end writes an instruction that its
// assembler refuses, this refuses it, too: such a program never reaches a chip. Those are: two
// words of the memory or two PHV fields in one operation or comparison, two constants in one, a
// third update of a word, masks in a Tofino 1's comparisons, computing with a local variable that
// was computed.
#include "compiler/chip/salu/salu.h"
#include "compiler/chip/report_add.h"

#include "compiler/chip/salu/salu_impl.h"

// The entry's 128 bits as one number, and what searches their lanes.
static bool is_wide(const struct ir_regaction *ra) {
    return ra->reg->wide || (ra->width == 64 && ra->words == 2);
}

static void salu_check_action(struct chip_report *r, const struct ir_gress *g,
                              const struct ir_regaction *ra, salu_action_vec *fitted) {
    struct salu_action *x = ARENA_NEW(r->arena, struct salu_action);
    if (ra->returns.line > 0) { // one at its end leaves nothing, and the chip's compiler takes none
        chip_violate(r, "salu-statement", ra->returns,
                     arena_printf(r->arena, "register action '%s' has a return", ra->name),
                     "put the rest of the body into the other branch of an if");
        return;
    }
    if (ra->width == 1 || !ra->body) // compiler/lower/onebit.c has seen to it
        return;
    if (is_wide(ra)) {
        chip_note(r, "register actions on entries of 128 bits are not checked");
        return;
    }
    x->r = r;
    x->ra = ra;
    x->at = ra->at;
    x->pair = ra->words == 2 || (ra->width == 64 && r->target == CHIP_TOFINO1);
    x->vars = ARENA_NEW(r->arena, struct salu_vars);
    struct ir_block *body = salu_body(r, g, ra, x->vars);
    if (!body)
        return;
    salu_fit(x, body);
    VEC_PUSH(r->arena, fitted, x);
}

static void salu_count_actions(struct chip_report *r, const struct ir_register *reg, unsigned n,
                               struct loc at) {
    if (n <= r->limits->register_actions)
        return;
    struct chip_violation *v =
        chip_violate(r, "register-actions", at,
                     arena_printf(r->arena, "register '%s' is accessed in %u ways", reg->name, n),
                     "a stateful ALU has four instructions, which are register actions, and "
                     "actions that read or write: merge several register actions into one, with a "
                     "PHV field that selects the operation");
    if (reg->declared >= n)
        v->suggestion = "a stateful ALU has four instructions, and the chip's compiler counts "
                        "register actions that are never executed, too: leave those out, or merge "
                        "several into one, with a PHV field that selects the operation";
    v->limit = r->limits->register_actions;
    v->used = n;
}

static void salu_check_register(struct chip_report *r, const struct ir_gress *g,
                                const struct ir_register *reg) {
    salu_action_vec fitted = {0};
    salu_regaction_vec writes = {0};
    unsigned n = 0;
    struct loc last = reg->at;
    for (size_t i = 0; i < g->regactions.n; i++)
        if (g->regactions.v[i]->reg == reg) {
            salu_check_action(r, g, g->regactions.v[i], &fitted);
            last = g->regactions.v[i]->at;
            n++;
        }
    if (reg->declared > n) { // some that nobody executes
        n = reg->declared;
        last = reg->last_declared;
    }
    n += salu_plain_uses(r, g, reg, &writes, &last);
    for (size_t i = 0; i < writes.n; i++)
        salu_check_action(r, g, writes.v[i], &fitted);
    salu_share(r, reg, &fitted);
    salu_count_actions(r, reg, n, last);
}

void chip_salu(struct chip_report *r, struct chip_pipe *pipe) {
    for (unsigned i = 0; i < 2; i++) {
        const struct ir_gress *g = pipe->gress[i].ir;
        for (size_t k = 0; k < g->registers.n; k++)
            salu_check_register(r, g, g->registers.v[k]);
        salu_once(r, g);
    }
    salu_users(r, pipe);
}
