// SPDX-License-Identifier: Apache-2.0
//
// interp_stmt: statements, one after the other.
#include "harness/interp/interp_impl.h"

#include <string.h>

static big with_bits(struct run *r, big old, unsigned lo, unsigned width, big bits) {
    big one = big_u64(r->a, 1);
    big field = big_sub(r->a, big_shl(r->a, one, width), one);
    big hole = big_not(r->a, big_shl(r->a, field, lo));
    return big_or(r->a, big_and(r->a, old, hole), big_shl(r->a, bits, lo));
}

static void assign(struct run *r, const struct ir_stmt *s) {
    big v = interp_eval(r, s->e);
    if (r->parser_done)
        return;
    if (s->slice)
        v = with_bits(r, interp_get(r, s->var), s->lo, s->width, v);
    interp_set(r, s->var, v);
}

static flow branch(struct run *r, const struct ir_stmt *s) {
    bool taken = interp_true(r, s->e);
    return r->parser_done ? FLOW_STOP : interp_block(r, taken ? s->then_b : s->else_b);
}

static flow cases(struct run *r, const struct ir_stmt *s) {
    big v = interp_eval(r, s->e);
    if (r->parser_done)
        return FLOW_STOP;
    const struct ir_case *otherwise = NULL;
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct ir_case *c = &s->cases.v[i];
        for (size_t k = 0; k < c->values.n; k++)
            if (big_cmp(c->values.v[k], v) == 0)
                return interp_block(r, c->body);
        if (c->values.n == 0 && !otherwise)
            otherwise = c;
    }
    return otherwise ? interp_block(r, otherwise->body) : FLOW_ON;
}

static flow labelled(struct run *r, const struct ir_stmt *s) {
    flow f = interp_block(r, s->then_b);
    return s->label && f == s->label ? FLOW_ON : f;
}

// Only a valid resubmit_type asks for a resubmit (tna-facts 5.3).
static void resubmit(struct run *r, const struct ir_stmt *s) {
    const struct ir_var *type = r->g->intrinsic[IRI_RESUBMIT_TYPE];
    if (!type || !type->valid || !interp_u64(r, type->valid))
        return;
    unsigned width;
    big data = interp_concat(r, (const struct ir_expr *const *)s->args.v, s->args.n, &width);
    data = big_shl(r->a, data, 8 * SK_RESUBMIT_BYTES - width);
    r->out->resubmit = true;
    for (unsigned i = 0; i < SK_RESUBMIT_BYTES; i++)
        r->out->resubmit_data[i] =
            (uint8_t)big_to_u64(big_shr(r->a, data, 8 * (SK_RESUBMIT_BYTES - 1 - i)));
}

// Left aligned.
static void put_bytes(struct run *r, const struct ir_stmt *s, uint8_t *bytes, unsigned size) {
    unsigned width;
    big data = interp_concat(r, (const struct ir_expr *const *)s->args.v, s->args.n, &width);
    memset(bytes, 0, size);
    for (unsigned i = 0; i < width; i++)
        if (interp_bit(data, width - 1 - i))
            bytes[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

static void mirror(struct run *r, const struct ir_stmt *s) {
    unsigned bits = 0;
    for (size_t i = 0; i < s->args.n; i++)
        bits += s->args.v[i]->width;
    r->mirror->wanted = true;
    r->mirror->session = (uint16_t)big_to_u64(interp_eval(r, s->e));
    r->mirror->header_bytes = (uint8_t)(bits / 8);
    put_bytes(r, s, r->mirror->header, sizeof r->mirror->header);
}

static void digest(struct run *r, const struct ir_stmt *s) {
    r->out->digest.packed = true;
    r->out->digest.index = (uint8_t)s->digest->id;
    put_bytes(r, s, r->out->digest.data, sizeof r->out->digest.data);
}

// A second execution of a guarded register does not happen; the packet's control ends.
static bool executes(struct run *r, const struct ir_register *reg) {
    r->twice |= reg->guarded && r->taken[reg->id];
    r->taken[reg->id] = true;
    return !r->twice;
}

static flow run_stmt(struct run *r, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN:
        assign(r, s);
        break;
    case IR_IF:
        return branch(r, s);
    case IR_SWITCH:
        return cases(r, s);
    case IR_BLOCK:
        return labelled(r, s);
    case IR_LEAVE:
        return s->label;
    case IR_EXIT:
        return FLOW_EXIT;
    case IR_SET_VALID:
        interp_set_u64(r, s->header->valid, 1);
        break;
    case IR_SET_INVALID:
        interp_set_u64(r, s->header->valid, 0);
        break;
    case IR_APPLY:
        return interp_apply(r, s);
    case IR_REG_EXEC:
        if (!executes(r, s->regaction->reg))
            return FLOW_EXIT;
        interp_reg_exec(r, s);
        break;
    case IR_REG_READ:
        interp_reg_read(r, s);
        break;
    case IR_REG_WRITE:
        interp_reg_write(r, s);
        break;
    case IR_COUNT:
        interp_count(r, s);
        break;
    case IR_METER_EXEC:
        interp_meter(r, s);
        break;
    case IR_HASH:
        interp_hash(r, s);
        break;
    case IR_RANDOM:
        interp_random(r, s);
        break;
    case IR_EXTRACT:
    case IR_ADVANCE:
    case IR_RAISE:
        return interp_parser_stmt(r, s);
    case IR_CSUM_ADD:
    case IR_CSUM_SUBTRACT:
    case IR_CSUM_VERIFY:
    case IR_CSUM_GET:
    case IR_CSUM_UPDATE:
        interp_csum_stmt(r, s);
        break;
    case IR_EMIT:          // headers are written when all statements have run: interp.c
    case IR_COUNT_LEAVING: // and so are these counters
        break;
    case IR_RESUBMIT:
        resubmit(r, s);
        break;
    case IR_MIRROR:
        mirror(r, s);
        break;
    case IR_DIGEST:
        digest(r, s);
        break;
    case IR_NOTE:
        interp_note(r, s);
        break;
    case IR_REPORT:
        interp_report(r, s);
        break;
    case IR_TRACE:
        interp_trace(r, s);
        break;
    case IR_NEXT_CELL:
        interp_next_cell(r, s);
        break;
    default:
        interp_fail("statement", (int)s->kind, s->at);
    }
    return r->parser_done ? FLOW_STOP : FLOW_ON;
}

flow interp_stmt(struct run *r, const struct ir_stmt *s) {
    const struct loc at = r->at;
    if (s->at.line)
        r->at = s->at;
    interp_uses_before(r, s);
    const flow f = run_stmt(r, s);
    if (!r->parser_done && f == FLOW_ON) // else nothing reads its results
        interp_uses_after(r, s);
    r->at = at;
    return f;
}

flow interp_block(struct run *r, const struct ir_block *b) {
    flow f = FLOW_ON;
    for (size_t i = 0; b && i < b->stmts.n && f == FLOW_ON; i++)
        f = interp_stmt(r, b->stmts.v[i]);
    return f;
}
