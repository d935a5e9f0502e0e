// SPDX-License-Identifier: Apache-2.0
//
// Emission from hand-made IR: programs are built node by node, compiled by the system's compiler
// (with sanitizers, warnings as errors), loaded, and fed packets.
//
// The largest test is differential: some hundred random expressions over header fields of many
// widths are compiled into one program, and each result is compared with an evaluation in exact
// integers (bigint).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/hosts/random.h"
#include "harness/compiler/emit_rig.h"
#include "stages/bits.h"

// An Ethernet switch: exact table, default drop, direct counter, `hit`.
static struct build switch_program(struct ir_table **forward) {
    struct build b = rig_program();
    struct ir_header *eth = RIG_HEADER(b.g, "ethernet", 48, 48, 16);
    rig_extract(b.start->body, eth);
    struct ir_action *send_to = rig_new_action(b.g, "pipe.Ingress.send");
    struct ir_counter *c = ARENA_NEW(rig_arena, struct ir_counter);
    *c = (struct ir_counter){.name = "pipe.Ingress.sent", .type = IR_COUNT_BOTH, .direct = true};
    VEC_PUSH(rig_arena, &b.g->counters, c);
    rig_push(send_to->body, IR_COUNT)->counter = c;
    rig_to_port(&b, send_to->body, rig_ref(rig_new_param(b.g, send_to, "port", 9)));
    struct ir_action *drop = rig_new_action(b.g, "pipe.Ingress.drop");
    rig_assign(drop->body, b.drop, rig_const(3, 1));
    rig_push(drop->body, IR_EXIT);
    struct ir_table *t = rig_new_table(b.g, "pipe.Ingress.forward", drop);
    rig_add_key(t, "hdr.ethernet.dst_addr", IR_MATCH_EXACT, rig_ref(eth->fields.v[0]));
    rig_add_action(t, send_to);
    rig_add_action(t, drop);
    VEC_PUSH(rig_arena, &t->direct_counters, c);
    struct ir_var *hit = rig_new_var(b.g, "Ingress.hit", 1);
    struct ir_stmt *s = rig_push(b.g->control, IR_APPLY);
    s->table = t;
    s->hit = hit;
    // not reached after drop's exit
    struct ir_stmt *i = rig_push(b.g->control, IR_IF);
    i->e = rig_ref(hit);
    i->then_b = rig_new_block();
    rig_assign(i->then_b, eth->fields.v[2], rig_const(16, 0x1234));
    rig_emit(b.g, eth);
    *forward = t;
    return b;
}

static const uint8_t frame[64] = {1, 2, 3, 4, 5, 6, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 8, 0, 77, 78};

static void test_switch(void **state) {
    (void)state;
    struct ir_table *forward;
    struct build b = switch_program(&forward);
    struct rig p;
    rig_load(&p, &b);
    rig_send(&p, 5, frame, sizeof frame);
    assert_true(p.out.drop_ctl == 1 && !p.out.ucast_valid && p.out.parser_err == 0);

    struct sk_table *t = rig_table_named(&p, "pipe.Ingress.forward");
    uint64_t key = 0x010203040506, port = 300;
    assert_int_equal(sk_table_add(t, &key, NULL, 0, 0, &port), SK_OK);
    rig_send(&p, 5, frame, sizeof frame);
    assert_true(p.out.drop_ctl == 0 && p.out.ucast_valid);
    assert_int_equal(p.out.ucast_port, 300);
    uint8_t want[sizeof frame];
    memcpy(want, frame, sizeof want);
    want[12] = 0x12;
    want[13] = 0x34;
    assert_true(p.packet.len == sizeof frame && p.packet.head == SK_HEADROOM);
    assert_memory_equal(sk_packet_data(&p.packet), want, sizeof want);
    struct sk_entry *e = sk_table_lookup(t, &key);
    assert_true(e->packets == 1 && e->bytes == sizeof frame + 4 && e->hits == 1);
    assert_int_equal(sk_table_default(t)->hits, 1);
    rig_unload(&p);
}

// A packet that is too short, by less and by more than the frame check sequence.
static void test_short_packets(void **state) {
    (void)state;
    struct ir_table *forward;
    struct build b = switch_program(&forward);
    struct rig p;
    rig_load(&p, &b);
    rig_send(&p, 5, frame, 9);
    assert_true(p.out.parser_drop && p.out.parser_err == SK_PARSER_PARTIAL_HDR);
    rig_send(&p, 5, frame, 0);
    assert_true(p.out.parser_drop);
    struct sk_table *t = rig_table_named(&p, "pipe.Ingress.forward");
    uint64_t key = 0x010203040506, port = 7;
    sk_table_add(t, &key, NULL, 0, 0, &port);
    rig_send(&p, 5, frame, 11);
    // three bytes of the check sequence are header: CRC-32 of the eleven bytes
    assert_false(p.out.parser_drop);
    assert_true(p.out.ucast_valid && p.packet.len == 14);
    assert_memory_equal(sk_packet_data(&p.packet), frame, 11);
    rig_unload(&p);
}

static void test_same_text(void **state) {
    (void)state;
    struct ir_table *forward;
    struct build b = switch_program(&forward);
    size_t n[2];
    char *text[2] = {rig_emitted(&b, &n[0]), rig_emitted(&b, &n[1])};
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(text[0], text[1], n[0]);
    free(text[0]);
    free(text[1]);
    arena_free(rig_arena);
}

// --------------------------------------------------------------------------------------------

// Adds four values into registers at the packet's index and returns the sums: what in-network
// aggregation does. A pair register counts; a packet of index 99 is outside of all registers.
static void test_registers(void **state) {
    (void)state;
    struct build b = rig_program();
    struct ir_header *agg = RIG_HEADER(b.g, "agg", 16, 32, 32, 32, 32, 16, 16);
    rig_extract(b.start->body, agg);
    for (unsigned i = 0; i < 4; i++) {
        struct ir_register *r = ARENA_NEW(rig_arena, struct ir_register);
        *r = (struct ir_register){.id = i,
                                  .name = arena_printf(rig_arena, "pipe.Ingress.sum%u", i),
                                  .width = 32,
                                  .words = 1,
                                  .size = 50,
                                  .is_signed = true,
                                  .word_names = {"f1"},
                                  .initial = {big_u64(rig_arena, i), NULL}};
        VEC_PUSH(rig_arena, &b.g->registers, r);
        struct ir_regaction *ra = ARENA_NEW(rig_arena, struct ir_regaction);
        *ra = (struct ir_regaction){.id = i,
                                    .width = r->width,
                                    .words = r->words,
                                    .name = arena_printf(rig_arena, "add%u", i),
                                    .reg = r,
                                    .body = rig_new_block()};
        ra->value[0] = rig_new_var(b.g, arena_printf(rig_arena, "value%u", i), 32);
        ra->rv = rig_new_var(b.g, arena_printf(rig_arena, "rv%u", i), 32);
        struct ir_var *f = agg->fields.v[1 + i];
        rig_assign(ra->body, ra->value[0],
                   rig_node(i < 2 ? IR_ADD : IR_SADD_SAT, 32, rig_ref(ra->value[0]), rig_ref(f)));
        rig_assign(ra->body, ra->rv, rig_ref(ra->value[0]));
        VEC_PUSH(rig_arena, &b.g->regactions, ra);
        struct ir_stmt *s = rig_push(b.g->control, IR_REG_EXEC);
        s->regaction = ra;
        s->e = rig_ref(agg->fields.v[0]);
        s->var = f;
    }
    struct ir_register *pair = ARENA_NEW(rig_arena, struct ir_register);
    *pair = (struct ir_register){.id = 4,
                                 .name = "pipe.Ingress.pair",
                                 .width = 16,
                                 .words = 2,
                                 .size = 50,
                                 .word_names = {"first", "second"}};
    VEC_PUSH(rig_arena, &b.g->registers, pair);
    struct ir_regaction *ra = ARENA_NEW(rig_arena, struct ir_regaction);
    *ra = (struct ir_regaction){.id = 4,
                                .name = "count",
                                .reg = pair,
                                .width = pair->width,
                                .words = pair->words,
                                .body = rig_new_block()};
    for (unsigned w = 0; w < 2; w++) {
        ra->value[w] = rig_new_var(b.g, arena_printf(rig_arena, "pair%u", w), 16);
        rig_assign(ra->body, ra->value[w],
                   rig_node(IR_ADD, 16, rig_ref(ra->value[w]), rig_ref(agg->fields.v[5 + w])));
    }
    VEC_PUSH(rig_arena, &b.g->regactions, ra);
    struct ir_stmt *s = rig_push(b.g->control, IR_REG_EXEC);
    s->regaction = ra;
    s->e = rig_ref(agg->fields.v[0]);
    rig_to_port(&b, b.g->control, rig_const(9, 1));
    rig_emit(b.g, agg);

    struct rig p;
    rig_load(&p, &b);
    uint8_t pkt[64] = {0, 3};
    sk_store32(pkt + 2, 100);
    sk_store32(pkt + 6, 0xffffffff);
    sk_store32(pkt + 10, 0x7fffffff);
    sk_store32(pkt + 14, 0x80000000);
    sk_store16(pkt + 18, 1);
    sk_store16(pkt + 20, 0xffff);
    for (int i = 0; i < 2; i++)
        rig_send(&p, 0, pkt, sizeof pkt);
    const uint8_t *d = sk_packet_data(&p.packet);
    assert_int_equal(sk_load32(d + 2), 200);
    assert_int_equal(sk_load32(d + 6), 0xffffffff);
    assert_int_equal(sk_load32(d + 10), 0x7fffffff);
    assert_int_equal(sk_load32(d + 14), 0x80000000);
    assert_int_equal(p.pl->n_registers, 5);
    assert_int_equal(p.pl->register_read(p.pipe, 0, 3, 0), 200);
    assert_int_equal(p.pl->register_read(p.pipe, 0, 4, 0), 0);
    assert_int_equal(p.pl->register_read(p.pipe, 3, 4, 0), 3);
    assert_int_equal(p.pl->register_read(p.pipe, 4, 3, 0), 2);
    assert_int_equal(p.pl->register_read(p.pipe, 4, 3, 1), 0xfffe);
    assert_int_equal(p.pl->register_read(p.pipe, 4, 50, 1), 0);
    p.pl->register_write(p.pipe, 0, 3, 0, 7);
    p.pl->register_write(p.pipe, 0, 50, 0, 7);
    rig_send(&p, 0, pkt, sizeof pkt);
    assert_int_equal(sk_load32(sk_packet_data(&p.packet) + 2), 107);
    pkt[1] = 99;
    rig_send(&p, 0, pkt, sizeof pkt);
    assert_int_equal(sk_load32(sk_packet_data(&p.packet) + 2), 0);
    rig_unload(&p);
}

// --------------------------------------------------------------------------------------------
// Random expressions.

#define N_EXPRS 220

static const unsigned narrow[] = {8, 16, 32, 64, 128, 3, 13, 24, 40, 56, 7, 65, 1, 33, 94};
static const unsigned wide[] = {8, 129, 200, 7,   256, 64,  513, 193,
                                1, 321, 140, 384, 33,  128, 24,  191};
#define N_NARROW (sizeof narrow / sizeof *narrow)
#define N_WIDE   (sizeof wide / sizeof *wide)

struct gen {
    struct sk_random r;
    const unsigned *widths; // of the fields
    unsigned n_widths, most;
    struct ir_header *in;
};

static unsigned below(struct gen *g, unsigned n) {
    return (unsigned)sk_random_below(&g->r, n);
}

static struct ir_expr *random_expr(struct gen *g, unsigned width, unsigned depth);

// A value of exactly 'width' bits: a constant (often at the edges) or a field, cut or extended.
static struct ir_expr *random_leaf(struct gen *g, unsigned width) {
    if (below(g, 3) == 0) {
        struct ir_expr *x = rig_node(IR_CONST, width, NULL, NULL);
        big one = big_u64(rig_arena, 1), v = big_u64(rig_arena, below(g, 6));
        if (below(g, 2))
            v = big_sub(rig_arena, big_shl(rig_arena, one, width - below(g, 2)), v);
        x->value = big_wrap_u(rig_arena, v, width);
        return x;
    }
    struct ir_var *f = g->in->fields.v[below(g, (unsigned)g->in->fields.n)];
    if (f->width == width)
        return rig_ref(f);
    if (f->width > width)
        return rig_slice(rig_ref(f), below(g, f->width - width + 1), width);
    return rig_node(below(g, 2) ? IR_ZEXT : IR_SEXT, width, rig_ref(f), NULL);
}

static struct ir_expr *random_condition(struct gen *g, unsigned depth) {
    static const enum ir_op ops[] = {IR_EQ, IR_NE, IR_ULT, IR_ULE, IR_SLT, IR_SLE};
    if (depth && below(g, 4) == 0)
        return rig_node(below(g, 2) ? IR_LAND : IR_LOR, 1, random_condition(g, depth - 1),
                        random_condition(g, depth - 1));
    unsigned w = g->widths[below(g, g->n_widths)];
    return rig_node(ops[below(g, 6)], 1, random_expr(g, w, depth ? depth - 1 : 0),
                    random_expr(g, w, depth ? depth - 1 : 0));
}

static struct ir_expr *random_expr(struct gen *g, unsigned width, unsigned depth) {
    static const enum ir_op same[] = {
        IR_ADD,      IR_SUB, IR_MUL, IR_UDIV, IR_UMOD, IR_UADD_SAT, IR_USUB_SAT, IR_SADD_SAT,
        IR_SSUB_SAT, IR_AND, IR_OR,  IR_XOR,  IR_UMIN, IR_UMAX,     IR_SMIN,     IR_SMAX,
    };
    if (depth == 0 || below(g, 8) == 0)
        return random_leaf(g, width);
    unsigned d = depth - 1;
    switch (below(g, 10)) {
    case 0:
        return rig_node(below(g, 2) ? IR_NOT : IR_NEG, width, random_expr(g, width, d), NULL);
    case 1: {
        enum ir_op op = (enum ir_op[]){IR_SHL, IR_LSHR, IR_ASHR}[below(g, 3)];
        struct ir_expr *amount = below(g, 2) ? rig_const(16, below(g, width + 3))
                                             : random_expr(g, below(g, 2) ? 7 : 128, d);
        return rig_node(op, width, random_expr(g, width, d), amount);
    }
    case 2:
        if (width >= 2) {
            unsigned left = 1 + below(g, width - 1);
            return rig_node(IR_CONCAT, width, random_expr(g, left, d),
                            random_expr(g, width - left, d));
        }
        return random_condition(g, d);
    case 3: {
        unsigned from = width + below(g, g->most - width + 1);
        return rig_slice(random_expr(g, from, d), below(g, from - width + 1), width);
    }
    case 4:
        if (width >= 2)
            return rig_node(below(g, 2) ? IR_ZEXT : IR_SEXT, width,
                            random_expr(g, 1 + below(g, width - 1), d), NULL);
        return random_condition(g, d);
    case 5: {
        struct ir_expr *x =
            rig_node(IR_COND, width, random_condition(g, d), random_expr(g, width, d));
        x->c = random_expr(g, width, d);
        return x;
    }
    default:
        return rig_node(same[below(g, sizeof same / sizeof *same)], width, random_expr(g, width, d),
                        random_expr(g, width, d));
    }
}

static big to_signed(big v, unsigned w) {
    return big_wrap_s(rig_arena, v, w);
}
static big clamp(big v, big low, big high) {
    return big_cmp(v, low) < 0 ? low : big_cmp(v, high) > 0 ? high : v;
}
static big power(unsigned n) {
    return big_shl(rig_arena, big_u64(rig_arena, 1), n);
}

static big eval(const struct ir_expr *x, const uint8_t *bytes);

static big eval_shift(const struct ir_expr *x, const uint8_t *bytes) {
    big a = eval(x->a, bytes), n = eval(x->b, bytes);
    uint64_t by = big_cmp(n, big_u64(rig_arena, 2000)) > 0 ? 2000 : big_to_u64(n);
    if (x->op == IR_SHL)
        return big_shl(rig_arena, a, by);
    return big_shr(rig_arena, x->op == IR_ASHR ? to_signed(a, x->width) : a, by);
}

static big eval_binary(const struct ir_expr *x, const uint8_t *bytes) {
    unsigned w = x->a->width;
    big a = eval(x->a, bytes), b = eval(x->b, bytes), one = big_u64(rig_arena, 1);
    big sa = to_signed(a, w), sb = to_signed(b, w);
    big umax = big_sub(rig_arena, power(w), one), smin = big_neg(rig_arena, power(w - 1));
    big smax = big_sub(rig_arena, power(w - 1), one), zero = big_u64(rig_arena, 0);
    switch (x->op) {
    case IR_ADD:
        return big_add(rig_arena, a, b);
    case IR_SUB:
        return big_sub(rig_arena, a, b);
    case IR_MUL:
        return big_mul(rig_arena, a, b);
    case IR_UDIV:
        return big_sign(b) ? big_div(rig_arena, a, b) : zero;
    case IR_UMOD:
        return big_sign(b) ? big_mod(rig_arena, a, b) : zero;
    case IR_UADD_SAT:
        return clamp(big_add(rig_arena, a, b), zero, umax);
    case IR_USUB_SAT:
        return clamp(big_sub(rig_arena, a, b), zero, umax);
    case IR_SADD_SAT:
        return clamp(big_add(rig_arena, sa, sb), smin, smax);
    case IR_SSUB_SAT:
        return clamp(big_sub(rig_arena, sa, sb), smin, smax);
    case IR_AND:
        return big_and(rig_arena, a, b);
    case IR_OR:
        return big_or(rig_arena, a, b);
    case IR_XOR:
        return big_xor(rig_arena, a, b);
    case IR_UMIN:
        return big_cmp(a, b) < 0 ? a : b;
    case IR_UMAX:
        return big_cmp(a, b) < 0 ? b : a;
    case IR_SMIN:
        return big_cmp(sa, sb) < 0 ? sa : sb;
    case IR_SMAX:
        return big_cmp(sa, sb) < 0 ? sb : sa;
    case IR_EQ:
        return big_u64(rig_arena, big_cmp(a, b) == 0);
    case IR_NE:
        return big_u64(rig_arena, big_cmp(a, b) != 0);
    case IR_ULT:
        return big_u64(rig_arena, big_cmp(a, b) < 0);
    case IR_ULE:
        return big_u64(rig_arena, big_cmp(a, b) <= 0);
    case IR_SLT:
        return big_u64(rig_arena, big_cmp(sa, sb) < 0);
    case IR_SLE:
        return big_u64(rig_arena, big_cmp(sa, sb) <= 0);
    case IR_LAND:
        return big_u64(rig_arena, big_sign(a) && big_sign(b));
    case IR_LOR:
        return big_u64(rig_arena, big_sign(a) || big_sign(b));
    case IR_CONCAT:
        return big_or(rig_arena, big_shl(rig_arena, a, x->b->width), b);
    default:
        fail_msg("operator %d", (int)x->op);
        return NULL;
    }
}

// Bit by bit: nothing that generated code uses.
static big field_value(const uint8_t *bytes, const struct ir_var *f) {
    big v = big_u64(rig_arena, 0);
    for (unsigned i = f->bit_offset; i < f->bit_offset + f->width; i++)
        v = big_or(rig_arena, big_shl(rig_arena, v, 1),
                   big_u64(rig_arena, bytes[i / 8] >> (7 - i % 8) & 1));
    return v;
}

static big eval(const struct ir_expr *x, const uint8_t *bytes) {
    big v;
    switch (x->op) {
    case IR_CONST:
        v = x->value;
        break;
    case IR_VAR:
        v = field_value(bytes, x->var);
        break;
    case IR_NOT:
        v = big_not(rig_arena, eval(x->a, bytes));
        break;
    case IR_NEG:
        v = big_neg(rig_arena, eval(x->a, bytes));
        break;
    case IR_SLICE:
        v = big_shr(rig_arena, eval(x->a, bytes), x->lo);
        break;
    case IR_ZEXT:
        v = eval(x->a, bytes);
        break;
    case IR_SEXT:
        v = to_signed(eval(x->a, bytes), x->a->width);
        break;
    case IR_COND:
        v = big_sign(eval(x->a, bytes)) ? eval(x->b, bytes) : eval(x->c, bytes);
        break;
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
        v = eval_shift(x, bytes);
        break;
    default:
        v = eval_binary(x, bytes);
    }
    return big_wrap_u(rig_arena, v, x->width);
}

static void fill(struct gen *g, uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        bytes[i] = below(g, 4) ? (uint8_t)below(g, 256) : below(g, 2) ? 0xff : 0;
}

// All results of one packet leave in one header, which is longer than a Tofino's: they are read
// from the ingress control's output through small headers, 400 bits at a time, chosen by a packet
// field. Simpler: each program holds as many expressions as fit.
static void one_program_of_expressions(uint64_t seed, const unsigned *widths, unsigned n_widths,
                                       unsigned most) {
    struct build b = rig_program();
    struct gen g = {
        .r = sk_random_seeded(seed), .widths = widths, .n_widths = n_widths, .most = most};
    g.in = rig_new_header(b.g, "in", widths, n_widths);
    unsigned pad = (8 - g.in->bits % 8) % 8;
    assert_int_equal(pad, 0);
    rig_extract(b.start->body, g.in);
    struct ir_expr *exprs[N_EXPRS];
    unsigned n = 0, bits = 0, out_widths[2 * N_EXPRS];
    while (n < 40 && bits < 3000) {
        unsigned w = g.widths[below(&g, g.n_widths)];
        exprs[n] = random_expr(&g, w, 4);
        out_widths[n++] = w;
        bits += w;
    }
    unsigned n_exprs = n;
    if (bits % 8)
        out_widths[n++] = 8 - bits % 8;
    struct ir_header *out = rig_new_header(b.g, "out", out_widths, n);
    for (unsigned i = 0; i < n_exprs; i++)
        rig_assign(b.g->control, out->fields.v[i], exprs[i]);
    rig_push(b.g->control, IR_SET_VALID)->header = out;
    rig_to_port(&b, b.g->control, rig_const(9, 1));
    rig_emit(b.g, out);

    struct rig p;
    rig_load(&p, &b);
    for (int round = 0; round < 60; round++) {
        uint8_t bytes[512];
        fill(&g, bytes, sizeof bytes);
        rig_send(&p, 0, bytes, sizeof bytes);
        const uint8_t *got = sk_packet_data(&p.packet);
        assert_int_equal(p.packet.len, out->bits / 8 + sizeof bytes - g.in->bits / 8);
        for (unsigned i = 0; i < n_exprs; i++) {
            const struct ir_var *f = out->fields.v[i];
            big v = field_value(got, f), want = eval(exprs[i], bytes);
            if (big_cmp(v, want) != 0)
                fail_msg("seed %llu expression %u of %u bits: %s, not %s", (unsigned long long)seed,
                         i, f->width, big_str(rig_arena, v, 16), big_str(rig_arena, want, 16));
        }
    }
    rig_unload(&p);
}

static void test_expressions(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        one_program_of_expressions(seed, narrow, N_NARROW, 128);
}

static void test_wide_expressions(void **state) {
    (void)state;
    const char *variant = getenv("VARIANT"); // it is the C compiler that takes the time
    uint64_t seeds = variant && strcmp(variant, "asan") == 0 ? 1 : 3;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        one_program_of_expressions(seed, wide, N_WIDE, 600);
}

// What the engine is told of an egress, so as to do less for it.
static void test_egress_known(void **state) {
    (void)state;
    struct build b = rig_program();
    struct rig p;
    rig_load(&p, &b);
    assert_true(p.pl->egress_idle);
    assert_int_equal(p.pl->egress_reach, 0);
    rig_unload(&p);
    rig_checked = true; // reports what egress does
    b = rig_program();
    rig_load(&p, &b);
    assert_false(p.pl->egress_idle);
    rig_unload(&p);
    rig_checked = false;
    // takes two headers behind the metadata and puts them back
    b = rig_program();
    struct ir_gress *eg = &b.pl->gress[1];
    for (unsigned i = 0; i < 2; i++) {
        struct ir_header *h = RIG_HEADER(eg, i ? "b" : "a", 16, 16);
        rig_extract(eg->states.v[0]->body, h);
        rig_emit(eg, h);
    }
    rig_load(&p, &b);
    assert_false(p.pl->egress_idle);
    assert_int_equal(p.pl->egress_reach, 8);
    rig_unload(&p);
    // drops
    b = rig_program();
    eg = &b.pl->gress[1];
    struct ir_var *drop = rig_new_var(eg, "eg_dprsr_md.drop_ctl", 3);
    eg->intrinsic[IRI_DROP_CTL] = drop;
    rig_assign(eg->control, drop, rig_const(3, 1));
    rig_load(&p, &b);
    assert_false(p.pl->egress_idle);
    rig_unload(&p);
    // as far as a field of the packet says
    b = rig_program();
    eg = &b.pl->gress[1];
    struct ir_header *length = RIG_HEADER(eg, "length", 32);
    rig_extract(eg->states.v[0]->body, length);
    rig_push(eg->states.v[0]->body, IR_ADVANCE)->e = rig_ref(length->fields.v[0]);
    rig_load(&p, &b);
    assert_int_equal(p.pl->egress_reach, UINT32_MAX);
    rig_unload(&p);
}

// The checked build computes the same.
static void test_checked(void **state) {
    rig_checked = true;
    test_switch(state);
    test_registers(state);
    one_program_of_expressions(7, narrow, N_NARROW, 128);
    one_program_of_expressions(8, wide, N_WIDE, 600);
    rig_checked = false;
}

int main(void) {
    const char *cc = getenv("CC");
    char with_errors[256];
    snprintf(with_errors, sizeof with_errors,
             "%s -Werror -Og -fsanitize=undefined "
             "-fsanitize-undefined-trap-on-error",
             cc && *cc ? cc : "cc");
    setenv("CC", with_errors, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch),           cmocka_unit_test(test_short_packets),
        cmocka_unit_test(test_same_text),        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_expressions),      cmocka_unit_test(test_checked),
        cmocka_unit_test(test_wide_expressions), cmocka_unit_test(test_egress_known),
    };
    return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
