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

#include "compiler/cache.h"
#include "compiler/emit.h"
#include "harness/hosts/random.h"
#include "pipeline/program.h"
#include "stages/bits.h"

// --------------------------------------------------------------------------------------------
// Building IR.

static struct arena *A;
static struct diag *D;

static struct ir_var *new_var(struct ir_gress *g, const char *name, unsigned width) {
    struct ir_var *v = ARENA_NEW(A, struct ir_var);
    *v = (struct ir_var){.id = (unsigned)g->vars.n, .name = name, .width = width};
    VEC_PUSH(A, &g->vars, v);
    return v;
}

static struct ir_header *new_header(struct ir_gress *g, const char *name, const unsigned *widths,
                                    size_t n) {
    struct ir_header *h = ARENA_NEW(A, struct ir_header);
    h->id = (unsigned)g->headers.n;
    h->name = name;
    h->type_name = arena_printf(A, "%s_h", name);
    for (size_t i = 0; i < n; i++) {
        struct ir_var *f = new_var(g, arena_printf(A, "hdr.%s.f%zu", name, i), widths[i]);
        f->header = h;
        f->bit_offset = h->bits;
        h->bits += widths[i];
        VEC_PUSH(A, &h->fields, f);
    }
    h->valid = new_var(g, arena_printf(A, "hdr.%s.$valid", name), 1);
    VEC_PUSH(A, &g->headers, h);
    return h;
}
#define HEADER(g, name, ...)                                                                       \
    new_header(g, name, (const unsigned[]){__VA_ARGS__},                                           \
               sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static struct ir_expr *node(enum ir_op op, unsigned width, struct ir_expr *a, struct ir_expr *b) {
    struct ir_expr *x = ARENA_NEW(A, struct ir_expr);
    *x = (struct ir_expr){.op = op, .width = width, .a = a, .b = b};
    return x;
}
static struct ir_expr *k(unsigned width, uint64_t v) {
    struct ir_expr *x = node(IR_CONST, width, NULL, NULL);
    x->value = big_u64(A, v);
    return x;
}
static struct ir_expr *ref(struct ir_var *v) {
    struct ir_expr *x = node(IR_VAR, v->width, NULL, NULL);
    x->var = v;
    return x;
}
static struct ir_expr *slice(struct ir_expr *a, unsigned lo, unsigned width) {
    struct ir_expr *x = node(IR_SLICE, width, a, NULL);
    x->lo = lo;
    return x;
}
static struct ir_block *new_block(void) {
    return ARENA_NEW(A, struct ir_block);
}
static struct ir_stmt *push(struct ir_block *b, enum ir_stmt_kind kind) {
    struct ir_stmt *s = ARENA_NEW(A, struct ir_stmt);
    s->kind = kind;
    VEC_PUSH(A, &b->stmts, s);
    return s;
}
static void assign(struct ir_block *b, struct ir_var *v, struct ir_expr *e) {
    struct ir_stmt *s = push(b, IR_ASSIGN);
    s->var = v;
    s->e = e;
}
static void extract(struct ir_block *b, struct ir_header *h) {
    push(b, IR_EXTRACT)->header = h;
}
static void emit(struct ir_gress *g, struct ir_header *h) {
    push(g->deparser, IR_EMIT)->header = h;
}
static struct ir_state *new_state(struct ir_gress *g, const char *name) {
    struct ir_state *st = ARENA_NEW(A, struct ir_state);
    *st = (struct ir_state){
        .id = (unsigned)g->states.n, .name = name, .body = new_block(), .next = IR_ACCEPT};
    VEC_PUSH(A, &g->states, st);
    return st;
}
static struct ir_action *new_action(struct ir_gress *g, const char *name) {
    struct ir_action *a = ARENA_NEW(A, struct ir_action);
    *a = (struct ir_action){.id = (unsigned)g->actions.n, .name = name, .body = new_block()};
    VEC_PUSH(A, &g->actions, a);
    return a;
}
static struct ir_var *new_param(struct ir_gress *g, struct ir_action *a, const char *name,
                                unsigned width) {
    struct ir_param p = {.name = name, .var = new_var(g, name, width)};
    VEC_PUSH(A, &a->params, p);
    return p.var;
}
static struct ir_table *new_table(struct ir_gress *g, const char *name,
                                  struct ir_action *default_action) {
    struct ir_table *t = ARENA_NEW(A, struct ir_table);
    *t = (struct ir_table){
        .id = (unsigned)g->tables.n, .name = name, .size = 100, .default_action = default_action};
    VEC_PUSH(A, &g->tables, t);
    return t;
}
static void add_key(struct ir_table *t, const char *name, enum ir_match m, struct ir_expr *e) {
    struct ir_key key = {.name = name, .match = m, .expr = e};
    VEC_PUSH(A, &t->keys, key);
}
static void add_action(struct ir_table *t, struct ir_action *a) {
    struct ir_table_action ta = {.action = a};
    VEC_PUSH(A, &t->actions, ta);
}

// What every program here has: the ingress parser's start (intrinsic header, port metadata) and an
// egress that passes packets on.
struct build {
    struct ir_program *p;
    struct ir_pipeline *pl;
    struct ir_gress *g; // ingress
    struct ir_state *start;
    struct ir_header *intrinsic;
    struct ir_var *port, *port_valid, *drop;
};

static void begin_gress(struct ir_gress *g, enum ir_gress_kind kind) {
    g->kind = kind;
    g->control = new_block();
    g->deparser = new_block();
}

static void advance_bits(struct ir_block *b, unsigned bits) {
    push(b, IR_ADVANCE)->e = k(32, bits);
}

static struct build begin(void) {
    struct build b;
    A = arena_new();
    D = diag_new(A);
    b.p = ARENA_NEW(A, struct ir_program);
    b.p->path = "test.p4";
    b.pl = ARENA_NEW(A, struct ir_pipeline);
    b.pl->name = "pipe";
    VEC_PUSH(A, &b.p->pipelines, b.pl);
    b.g = &b.pl->gress[0];
    begin_gress(b.g, IR_INGRESS);
    b.intrinsic = HEADER(b.g, "ig_intr_md", 1, 1, 2, 3, 9, 48);
    b.start = new_state(b.g, "start");
    extract(b.start->body, b.intrinsic);
    advance_bits(b.start->body, 64);
    b.port = new_var(b.g, "ig_tm_md.ucast_egress_port", 9);
    b.port->valid = b.port_valid = new_var(b.g, "ig_tm_md.ucast_egress_port.$valid", 1);
    b.drop = new_var(b.g, "ig_dprsr_md.drop_ctl", 3);
    b.g->intrinsic[IRI_UCAST_EGRESS_PORT] = b.port;
    b.g->intrinsic[IRI_DROP_CTL] = b.drop;
    struct ir_gress *eg = &b.pl->gress[1];
    begin_gress(eg, IR_EGRESS);
    advance_bits(new_state(eg, "start")->body, 8 * SK_EGRESS_PREFIX);
    return b;
}

static void to_port(struct build *b, struct ir_block *body, struct ir_expr *port) {
    assign(body, b->port, port);
    assign(body, b->port_valid, k(1, 1));
}

// --------------------------------------------------------------------------------------------
// Running it.

struct program {
    struct sk_program *prog;
    const struct sk_pipeline_desc *pl;
    struct sk_pipe *pipe;
    struct sk_ingress_out out;
    struct sk_packet packet;
    uint8_t buffer[4096];
};

static char *emitted(const struct build *b, size_t *length) {
    char *text = NULL;
    FILE *f = open_memstream(&text, length);
    bool ok = emit_c(f, A, D, b->p);
    fclose(f);
    diag_print(D, stderr, false);
    assert_true(ok);
    return text;
}

static char *object_of(const struct build *b) {
    size_t length;
    char *text = emitted(b, &length);
    static char dir[] = "/tmp/silken-test-emit-XXXXXX";
    static bool made;
    if (!made)
        assert_non_null(mkdtemp(dir));
    made = true;
    struct cache_request r = {.text = text, .length = length, .name = "test", .cache_dir = dir};
    char *path = cache_object(&r, stderr);
    assert_non_null(path);
    free(text);
    return path;
}

static void load(struct program *p, const struct build *b) {
    char error[256];
    char *path = object_of(b);
    memset(p, 0, sizeof *p);
    p->prog = sk_program_load(path, error, sizeof error);
    if (!p->prog)
        fail_msg("%s", error);
    p->pl = sk_program_desc(p->prog)->pipelines[0];
    p->pipe = p->pl->pipe_new(1);
    assert_non_null(p->pipe);
    remove(path);
    free(path);
}

static void unload(struct program *p) {
    p->pl->pipe_free(p->pipe);
    sk_program_free(p->prog);
    arena_free(A);
}

// Sends 'n' bytes from 'port' through ingress.
static void send(struct program *p, uint16_t port, const uint8_t *bytes, size_t n) {
    p->packet = (struct sk_packet){.buf = p->buffer,
                                   .cap = sizeof p->buffer,
                                   .head = SK_HEADROOM,
                                   .len = (uint32_t)n,
                                   .ingress_port = port};
    memset(p->buffer, 0xee, sizeof p->buffer);
    uint8_t *prefix = p->buffer + SK_HEADROOM - SK_INGRESS_PREFIX;
    memset(prefix, 0, SK_INGRESS_PREFIX);
    sk_bits_put(prefix, 7, 9, port);
    memcpy(p->buffer + SK_HEADROOM, bytes, n);
    p->pl->ingress(p->pipe, &p->packet, &p->out);
}

static uint32_t table_index(const struct program *p, const char *name) {
    uint32_t i = 0;
    while (strcmp(p->pl->tables[i]->name, name) != 0)
        i++;
    return i;
}

static struct sk_table *table_named(struct program *p, const char *name) {
    return p->pl->table(p->pipe, table_index(p, name));
}

// --------------------------------------------------------------------------------------------

// An Ethernet switch: exact table, default drop, direct counter, `hit`.
static struct build switch_program(struct ir_table **forward) {
    struct build b = begin();
    struct ir_header *eth = HEADER(b.g, "ethernet", 48, 48, 16);
    extract(b.start->body, eth);
    struct ir_action *send_to = new_action(b.g, "pipe.Ingress.send");
    struct ir_counter *c = ARENA_NEW(A, struct ir_counter);
    *c = (struct ir_counter){.name = "pipe.Ingress.sent", .type = IR_COUNT_BOTH, .direct = true};
    VEC_PUSH(A, &b.g->counters, c);
    push(send_to->body, IR_COUNT)->counter = c;
    to_port(&b, send_to->body, ref(new_param(b.g, send_to, "port", 9)));
    struct ir_action *drop = new_action(b.g, "pipe.Ingress.drop");
    assign(drop->body, b.drop, k(3, 1));
    push(drop->body, IR_EXIT);
    struct ir_table *t = new_table(b.g, "pipe.Ingress.forward", drop);
    add_key(t, "hdr.ethernet.dst_addr", IR_MATCH_EXACT, ref(eth->fields.v[0]));
    add_action(t, send_to);
    add_action(t, drop);
    VEC_PUSH(A, &t->direct_counters, c);
    struct ir_var *hit = new_var(b.g, "Ingress.hit", 1);
    struct ir_stmt *s = push(b.g->control, IR_APPLY);
    s->table = t;
    s->hit = hit;
    // not reached after drop's exit
    struct ir_stmt *i = push(b.g->control, IR_IF);
    i->e = ref(hit);
    i->then_b = new_block();
    assign(i->then_b, eth->fields.v[2], k(16, 0x1234));
    emit(b.g, eth);
    *forward = t;
    return b;
}

static const uint8_t frame[64] = {1, 2, 3, 4, 5, 6, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 8, 0, 77, 78};

static void test_switch(void **state) {
    (void)state;
    struct ir_table *forward;
    struct build b = switch_program(&forward);
    struct program p;
    load(&p, &b);
    send(&p, 5, frame, sizeof frame);
    assert_true(p.out.drop_ctl == 1 && !p.out.ucast_valid && p.out.parser_err == 0);

    struct sk_table *t = table_named(&p, "pipe.Ingress.forward");
    uint64_t key = 0x010203040506, port = 300;
    assert_int_equal(sk_table_add(t, &key, NULL, 0, 0, &port), SK_OK);
    send(&p, 5, frame, sizeof frame);
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
    unload(&p);
}

// A packet that is too short, by less and by more than the frame check sequence.
static void test_short_packets(void **state) {
    (void)state;
    struct ir_table *forward;
    struct build b = switch_program(&forward);
    struct program p;
    load(&p, &b);
    send(&p, 5, frame, 9);
    assert_true(p.out.parser_drop && p.out.parser_err == SK_PARSER_PARTIAL_HDR);
    send(&p, 5, frame, 0);
    assert_true(p.out.parser_drop);
    struct sk_table *t = table_named(&p, "pipe.Ingress.forward");
    uint64_t key = 0x010203040506, port = 7;
    sk_table_add(t, &key, NULL, 0, 0, &port);
    send(&p, 5, frame, 11);
    // three bytes of the check sequence are header: CRC-32 of the eleven bytes
    assert_false(p.out.parser_drop);
    assert_true(p.out.ucast_valid && p.packet.len == 14);
    assert_memory_equal(sk_packet_data(&p.packet), frame, 11);
    unload(&p);
}

static void test_same_text(void **state) {
    (void)state;
    struct ir_table *forward;
    struct build b = switch_program(&forward);
    size_t n[2];
    char *text[2] = {emitted(&b, &n[0]), emitted(&b, &n[1])};
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(text[0], text[1], n[0]);
    free(text[0]);
    free(text[1]);
    arena_free(A);
}

// --------------------------------------------------------------------------------------------

// Adds four values into registers at the packet's index and returns the sums: what in-network
// aggregation does. A pair register counts; a packet of index 99 is outside of all registers.
static void test_registers(void **state) {
    (void)state;
    struct build b = begin();
    struct ir_header *agg = HEADER(b.g, "agg", 16, 32, 32, 32, 32, 16, 16);
    extract(b.start->body, agg);
    for (unsigned i = 0; i < 4; i++) {
        struct ir_register *r = ARENA_NEW(A, struct ir_register);
        *r = (struct ir_register){.id = i,
                                  .name = arena_printf(A, "pipe.Ingress.sum%u", i),
                                  .width = 32,
                                  .words = 1,
                                  .size = 50,
                                  .is_signed = true,
                                  .word_names = {"f1"},
                                  .initial = {big_u64(A, i), NULL}};
        VEC_PUSH(A, &b.g->registers, r);
        struct ir_regaction *ra = ARENA_NEW(A, struct ir_regaction);
        *ra = (struct ir_regaction){
            .id = i, .name = arena_printf(A, "add%u", i), .reg = r, .body = new_block()};
        ra->value[0] = new_var(b.g, arena_printf(A, "value%u", i), 32);
        ra->rv = new_var(b.g, arena_printf(A, "rv%u", i), 32);
        struct ir_var *f = agg->fields.v[1 + i];
        assign(ra->body, ra->value[0],
               node(i < 2 ? IR_ADD : IR_SADD_SAT, 32, ref(ra->value[0]), ref(f)));
        assign(ra->body, ra->rv, ref(ra->value[0]));
        VEC_PUSH(A, &b.g->regactions, ra);
        struct ir_stmt *s = push(b.g->control, IR_REG_EXEC);
        s->regaction = ra;
        s->e = ref(agg->fields.v[0]);
        s->var = f;
    }
    struct ir_register *pair = ARENA_NEW(A, struct ir_register);
    *pair = (struct ir_register){.id = 4,
                                 .name = "pipe.Ingress.pair",
                                 .width = 16,
                                 .words = 2,
                                 .size = 50,
                                 .word_names = {"first", "second"}};
    VEC_PUSH(A, &b.g->registers, pair);
    struct ir_regaction *ra = ARENA_NEW(A, struct ir_regaction);
    *ra = (struct ir_regaction){.id = 4, .name = "count", .reg = pair, .body = new_block()};
    for (unsigned w = 0; w < 2; w++) {
        ra->value[w] = new_var(b.g, arena_printf(A, "pair%u", w), 16);
        assign(ra->body, ra->value[w],
               node(IR_ADD, 16, ref(ra->value[w]), ref(agg->fields.v[5 + w])));
    }
    VEC_PUSH(A, &b.g->regactions, ra);
    struct ir_stmt *s = push(b.g->control, IR_REG_EXEC);
    s->regaction = ra;
    s->e = ref(agg->fields.v[0]);
    to_port(&b, b.g->control, k(9, 1));
    emit(b.g, agg);

    struct program p;
    load(&p, &b);
    uint8_t pkt[64] = {0, 3};
    sk_store32(pkt + 2, 100);
    sk_store32(pkt + 6, 0xffffffff);
    sk_store32(pkt + 10, 0x7fffffff);
    sk_store32(pkt + 14, 0x80000000);
    sk_store16(pkt + 18, 1);
    sk_store16(pkt + 20, 0xffff);
    for (int i = 0; i < 2; i++)
        send(&p, 0, pkt, sizeof pkt);
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
    send(&p, 0, pkt, sizeof pkt);
    assert_int_equal(sk_load32(sk_packet_data(&p.packet) + 2), 107);
    pkt[1] = 99;
    send(&p, 0, pkt, sizeof pkt);
    assert_int_equal(sk_load32(sk_packet_data(&p.packet) + 2), 0);
    unload(&p);
}

// --------------------------------------------------------------------------------------------
// Random expressions.

#define N_EXPRS 220

static const unsigned widths[] = {8, 16, 32, 64, 128, 3, 13, 24, 40, 56, 7, 65, 1, 33, 94};
#define N_WIDTHS (sizeof widths / sizeof *widths)

struct gen {
    struct sk_random r;
    struct ir_header *in;
};

static unsigned below(struct gen *g, unsigned n) {
    return (unsigned)sk_random_below(&g->r, n);
}

static struct ir_expr *random_expr(struct gen *g, unsigned width, unsigned depth);

// A value of exactly 'width' bits: a constant (often at the edges) or a field, cut or extended.
static struct ir_expr *random_leaf(struct gen *g, unsigned width) {
    if (below(g, 3) == 0) {
        struct ir_expr *x = node(IR_CONST, width, NULL, NULL);
        big one = big_u64(A, 1), v = big_u64(A, below(g, 6));
        if (below(g, 2))
            v = big_sub(A, big_shl(A, one, width - below(g, 2)), v);
        x->value = big_wrap_u(A, v, width);
        return x;
    }
    struct ir_var *f = g->in->fields.v[below(g, (unsigned)g->in->fields.n)];
    if (f->width == width)
        return ref(f);
    if (f->width > width)
        return slice(ref(f), below(g, f->width - width + 1), width);
    return node(below(g, 2) ? IR_ZEXT : IR_SEXT, width, ref(f), NULL);
}

static struct ir_expr *random_condition(struct gen *g, unsigned depth) {
    static const enum ir_op ops[] = {IR_EQ, IR_NE, IR_ULT, IR_ULE, IR_SLT, IR_SLE};
    if (depth && below(g, 4) == 0)
        return node(below(g, 2) ? IR_LAND : IR_LOR, 1, random_condition(g, depth - 1),
                    random_condition(g, depth - 1));
    unsigned w = widths[below(g, N_WIDTHS)];
    return node(ops[below(g, 6)], 1, random_expr(g, w, depth ? depth - 1 : 0),
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
        return node(below(g, 2) ? IR_NOT : IR_NEG, width, random_expr(g, width, d), NULL);
    case 1: {
        enum ir_op op = (enum ir_op[]){IR_SHL, IR_LSHR, IR_ASHR}[below(g, 3)];
        struct ir_expr *amount =
            below(g, 2) ? k(8, below(g, width + 3)) : random_expr(g, below(g, 2) ? 7 : 128, d);
        return node(op, width, random_expr(g, width, d), amount);
    }
    case 2:
        if (width >= 2) {
            unsigned left = 1 + below(g, width - 1);
            return node(IR_CONCAT, width, random_expr(g, left, d), random_expr(g, width - left, d));
        }
        return random_condition(g, d);
    case 3: {
        unsigned from = width + below(g, 128 - width + 1);
        return slice(random_expr(g, from, d), below(g, from - width + 1), width);
    }
    case 4:
        if (width >= 2)
            return node(below(g, 2) ? IR_ZEXT : IR_SEXT, width,
                        random_expr(g, 1 + below(g, width - 1), d), NULL);
        return random_condition(g, d);
    case 5: {
        struct ir_expr *x = node(IR_COND, width, random_condition(g, d), random_expr(g, width, d));
        x->c = random_expr(g, width, d);
        return x;
    }
    default:
        return node(same[below(g, sizeof same / sizeof *same)], width, random_expr(g, width, d),
                    random_expr(g, width, d));
    }
}

static big to_signed(big v, unsigned w) {
    return big_wrap_s(A, v, w);
}
static big clamp(big v, big low, big high) {
    return big_cmp(v, low) < 0 ? low : big_cmp(v, high) > 0 ? high : v;
}
static big power(unsigned n) {
    return big_shl(A, big_u64(A, 1), n);
}

static big eval(const struct ir_expr *x, const uint8_t *bytes);

static big eval_shift(const struct ir_expr *x, const uint8_t *bytes) {
    big a = eval(x->a, bytes), n = eval(x->b, bytes);
    uint64_t by = big_cmp(n, big_u64(A, 200)) > 0 ? 200 : big_to_u64(n);
    if (x->op == IR_SHL)
        return big_shl(A, a, by);
    return big_shr(A, x->op == IR_ASHR ? to_signed(a, x->width) : a, by);
}

static big eval_binary(const struct ir_expr *x, const uint8_t *bytes) {
    unsigned w = x->a->width;
    big a = eval(x->a, bytes), b = eval(x->b, bytes), one = big_u64(A, 1);
    big sa = to_signed(a, w), sb = to_signed(b, w);
    big umax = big_sub(A, power(w), one), smin = big_neg(A, power(w - 1));
    big smax = big_sub(A, power(w - 1), one), zero = big_u64(A, 0);
    switch (x->op) {
    case IR_ADD:
        return big_add(A, a, b);
    case IR_SUB:
        return big_sub(A, a, b);
    case IR_MUL:
        return big_mul(A, a, b);
    case IR_UDIV:
        return big_sign(b) ? big_div(A, a, b) : zero;
    case IR_UMOD:
        return big_sign(b) ? big_mod(A, a, b) : zero;
    case IR_UADD_SAT:
        return clamp(big_add(A, a, b), zero, umax);
    case IR_USUB_SAT:
        return clamp(big_sub(A, a, b), zero, umax);
    case IR_SADD_SAT:
        return clamp(big_add(A, sa, sb), smin, smax);
    case IR_SSUB_SAT:
        return clamp(big_sub(A, sa, sb), smin, smax);
    case IR_AND:
        return big_and(A, a, b);
    case IR_OR:
        return big_or(A, a, b);
    case IR_XOR:
        return big_xor(A, a, b);
    case IR_UMIN:
        return big_cmp(a, b) < 0 ? a : b;
    case IR_UMAX:
        return big_cmp(a, b) < 0 ? b : a;
    case IR_SMIN:
        return big_cmp(sa, sb) < 0 ? sa : sb;
    case IR_SMAX:
        return big_cmp(sa, sb) < 0 ? sb : sa;
    case IR_EQ:
        return big_u64(A, big_cmp(a, b) == 0);
    case IR_NE:
        return big_u64(A, big_cmp(a, b) != 0);
    case IR_ULT:
        return big_u64(A, big_cmp(a, b) < 0);
    case IR_ULE:
        return big_u64(A, big_cmp(a, b) <= 0);
    case IR_SLT:
        return big_u64(A, big_cmp(sa, sb) < 0);
    case IR_SLE:
        return big_u64(A, big_cmp(sa, sb) <= 0);
    case IR_LAND:
        return big_u64(A, big_sign(a) && big_sign(b));
    case IR_LOR:
        return big_u64(A, big_sign(a) || big_sign(b));
    case IR_CONCAT:
        return big_or(A, big_shl(A, a, x->b->width), b);
    default:
        fail_msg("operator %d", (int)x->op);
        return NULL;
    }
}

static big eval(const struct ir_expr *x, const uint8_t *bytes) {
    big v;
    switch (x->op) {
    case IR_CONST:
        v = x->value;
        break;
    case IR_VAR: {
        sk_u128 bits = sk_bits_get128(bytes, x->var->bit_offset, x->width);
        v = big_or(A, big_shl(A, big_u64(A, (uint64_t)(bits >> 64)), 64),
                   big_u64(A, (uint64_t)bits));
        break;
    }
    case IR_NOT:
        v = big_not(A, eval(x->a, bytes));
        break;
    case IR_NEG:
        v = big_neg(A, eval(x->a, bytes));
        break;
    case IR_SLICE:
        v = big_shr(A, eval(x->a, bytes), x->lo);
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
    return big_wrap_u(A, v, x->width);
}

static void fill(struct gen *g, uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        bytes[i] = below(g, 4) ? (uint8_t)below(g, 256) : below(g, 2) ? 0xff : 0;
}

// All results of one packet leave in one header, which is longer than a Tofino's: they are read
// from the ingress control's output through small headers, 400 bits at a time, chosen by a packet
// field. Simpler: each program holds as many expressions as fit.
static void one_program_of_expressions(uint64_t seed) {
    struct build b = begin();
    struct gen g = {.r = sk_random_seeded(seed)};
    g.in = HEADER(b.g, "in", 8, 16, 32, 64, 128, 3, 13, 24, 40, 56, 7, 65, 1, 33, 94);
    unsigned pad = (8 - g.in->bits % 8) % 8;
    assert_int_equal(pad, 0);
    extract(b.start->body, g.in);
    struct ir_expr *exprs[N_EXPRS];
    unsigned n = 0, bits = 0, out_widths[2 * N_EXPRS];
    while (n < 40 && bits < 3000) {
        unsigned w = widths[below(&g, N_WIDTHS)];
        exprs[n] = random_expr(&g, w, 4);
        out_widths[n++] = w;
        bits += w;
    }
    unsigned n_exprs = n;
    if (bits % 8)
        out_widths[n++] = 8 - bits % 8;
    struct ir_header *out = new_header(b.g, "out", out_widths, n);
    for (unsigned i = 0; i < n_exprs; i++)
        assign(b.g->control, out->fields.v[i], exprs[i]);
    push(b.g->control, IR_SET_VALID)->header = out;
    to_port(&b, b.g->control, k(9, 1));
    emit(b.g, out);

    struct program p;
    load(&p, &b);
    for (int round = 0; round < 60; round++) {
        uint8_t bytes[128];
        fill(&g, bytes, sizeof bytes);
        send(&p, 0, bytes, sizeof bytes);
        const uint8_t *got = sk_packet_data(&p.packet);
        assert_int_equal(p.packet.len, out->bits / 8 + sizeof bytes - g.in->bits / 8);
        for (unsigned i = 0; i < n_exprs; i++) {
            const struct ir_var *f = out->fields.v[i];
            sk_u128 v = sk_bits_get128(got, f->bit_offset, f->width);
            big want = eval(exprs[i], bytes);
            if (big_word(want, 0) != (uint64_t)v || big_word(want, 1) != (uint64_t)(v >> 64))
                fail_msg("seed %llu expression %u of %u bits: %016llx%016llx, not %s",
                         (unsigned long long)seed, i, f->width, (unsigned long long)(v >> 64),
                         (unsigned long long)v, big_str(A, want, 16));
        }
    }
    unload(&p);
}

static void test_expressions(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        one_program_of_expressions(seed);
}

int main(void) {
    const char *cc = getenv("CC");
    char with_errors[256];
    snprintf(with_errors, sizeof with_errors,
             "%s -Werror -O1 -fsanitize=undefined "
             "-fno-sanitize-recover=undefined",
             cc && *cc ? cc : "cc");
    setenv("CC", with_errors, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch),      cmocka_unit_test(test_short_packets),
        cmocka_unit_test(test_same_text),   cmocka_unit_test(test_registers),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
