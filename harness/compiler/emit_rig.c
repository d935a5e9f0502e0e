// SPDX-License-Identifier: Apache-2.0
//
// emit_rig: builds pipeline IR by hand, compiles it, and runs packets through it. See emit_rig.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cache.h"
#include "compiler/print/emit.h"
#include "harness/compiler/emit_rig.h"
#include "stages/bits.h"

// --------------------------------------------------------------------------------------------
// Building IR.

struct arena *rig_arena;
struct diag *rig_diag;
bool rig_checked;

struct ir_var *rig_new_var(struct ir_gress *g, const char *name, unsigned width) {
    struct ir_var *v = ARENA_NEW(rig_arena, struct ir_var);
    *v = (struct ir_var){.id = (unsigned)g->vars.n, .name = name, .width = width};
    VEC_PUSH(rig_arena, &g->vars, v);
    return v;
}

struct ir_header *rig_new_header(struct ir_gress *g, const char *name, const unsigned *widths,
                                 size_t n) {
    struct ir_header *h = ARENA_NEW(rig_arena, struct ir_header);
    h->id = (unsigned)g->headers.n;
    h->name = name;
    h->type_name = arena_printf(rig_arena, "%s_h", name);
    for (size_t i = 0; i < n; i++) {
        struct ir_var *f =
            rig_new_var(g, arena_printf(rig_arena, "hdr.%s.f%zu", name, i), widths[i]);
        f->header = h;
        f->bit_offset = h->bits;
        h->bits += widths[i];
        VEC_PUSH(rig_arena, &h->fields, f);
    }
    h->valid = rig_new_var(g, arena_printf(rig_arena, "hdr.%s.$valid", name), 1);
    VEC_PUSH(rig_arena, &g->headers, h);
    return h;
}

struct ir_expr *rig_node(enum ir_op op, unsigned width, struct ir_expr *a, struct ir_expr *b) {
    struct ir_expr *x = ARENA_NEW(rig_arena, struct ir_expr);
    *x = (struct ir_expr){.op = op, .width = width, .a = a, .b = b};
    return x;
}
struct ir_expr *rig_const(unsigned width, uint64_t v) {
    struct ir_expr *x = rig_node(IR_CONST, width, NULL, NULL);
    x->value = big_u64(rig_arena, v);
    return x;
}
struct ir_expr *rig_ref(struct ir_var *v) {
    struct ir_expr *x = rig_node(IR_VAR, v->width, NULL, NULL);
    x->var = v;
    return x;
}
struct ir_expr *rig_slice(struct ir_expr *a, unsigned lo, unsigned width) {
    struct ir_expr *x = rig_node(IR_SLICE, width, a, NULL);
    x->lo = lo;
    return x;
}
struct ir_block *rig_new_block(void) {
    return ARENA_NEW(rig_arena, struct ir_block);
}
struct ir_stmt *rig_push(struct ir_block *b, enum ir_stmt_kind kind) {
    struct ir_stmt *s = ARENA_NEW(rig_arena, struct ir_stmt);
    s->kind = kind;
    VEC_PUSH(rig_arena, &b->stmts, s);
    return s;
}
void rig_assign(struct ir_block *b, struct ir_var *v, struct ir_expr *e) {
    struct ir_stmt *s = rig_push(b, IR_ASSIGN);
    s->var = v;
    s->e = e;
}
void rig_extract(struct ir_block *b, struct ir_header *h) {
    rig_push(b, IR_EXTRACT)->header = h;
}
void rig_emit(struct ir_gress *g, struct ir_header *h) {
    rig_push(g->deparser, IR_EMIT)->header = h;
}
struct ir_state *rig_new_state(struct ir_gress *g, const char *name) {
    struct ir_state *st = ARENA_NEW(rig_arena, struct ir_state);
    *st = (struct ir_state){
        .id = (unsigned)g->states.n, .name = name, .body = rig_new_block(), .next = IR_ACCEPT};
    VEC_PUSH(rig_arena, &g->states, st);
    return st;
}
struct ir_action *rig_new_action(struct ir_gress *g, const char *name) {
    struct ir_action *a = ARENA_NEW(rig_arena, struct ir_action);
    *a = (struct ir_action){.id = (unsigned)g->actions.n, .name = name, .body = rig_new_block()};
    VEC_PUSH(rig_arena, &g->actions, a);
    return a;
}
struct ir_var *rig_new_param(struct ir_gress *g, struct ir_action *a, const char *name,
                             unsigned width) {
    struct ir_param p = {.name = name, .var = rig_new_var(g, name, width)};
    VEC_PUSH(rig_arena, &a->params, p);
    return p.var;
}
struct ir_table *rig_new_table(struct ir_gress *g, const char *name,
                               struct ir_action *default_action) {
    struct ir_table *t = ARENA_NEW(rig_arena, struct ir_table);
    *t = (struct ir_table){
        .id = (unsigned)g->tables.n, .name = name, .size = 100, .default_action = default_action};
    VEC_PUSH(rig_arena, &g->tables, t);
    return t;
}
void rig_add_key(struct ir_table *t, const char *name, enum ir_match m, struct ir_expr *e) {
    struct ir_key key = {.name = name, .match = m, .expr = e};
    VEC_PUSH(rig_arena, &t->keys, key);
}
void rig_add_action(struct ir_table *t, struct ir_action *a) {
    struct ir_table_action ta = {.action = a};
    VEC_PUSH(rig_arena, &t->actions, ta);
}

void rig_begin_gress(struct ir_gress *g, enum ir_gress_kind kind) {
    g->kind = kind;
    g->control = rig_new_block();
    g->deparser = rig_new_block();
}

void rig_advance_bits(struct ir_block *b, unsigned bits) {
    rig_push(b, IR_ADVANCE)->e = rig_const(32, bits);
}

struct build rig_program(void) {
    struct build b;
    rig_arena = arena_new();
    rig_diag = diag_new(rig_arena);
    b.p = ARENA_NEW(rig_arena, struct ir_program);
    b.p->ingress_prefix = SK_INGRESS_PREFIX;
    b.p->egress_prefix = SK_EGRESS_PREFIX;
    b.p->path = "test.p4";
    b.pl = ARENA_NEW(rig_arena, struct ir_pipeline);
    b.pl->name = "pipe";
    VEC_PUSH(rig_arena, &b.p->pipelines, b.pl);
    b.g = &b.pl->gress[0];
    rig_begin_gress(b.g, IR_INGRESS);
    b.intrinsic = RIG_HEADER(b.g, "ig_intr_md", 1, 1, 2, 3, 9, 48);
    b.start = rig_new_state(b.g, "start");
    rig_extract(b.start->body, b.intrinsic);
    rig_advance_bits(b.start->body, 64);
    b.port = rig_new_var(b.g, "ig_tm_md.ucast_egress_port", 9);
    b.port->valid = b.port_valid = rig_new_var(b.g, "ig_tm_md.ucast_egress_port.$valid", 1);
    b.drop = rig_new_var(b.g, "ig_dprsr_md.drop_ctl", 3);
    b.g->intrinsic[IRI_UCAST_EGRESS_PORT] = b.port;
    b.g->intrinsic[IRI_DROP_CTL] = b.drop;
    struct ir_gress *eg = &b.pl->gress[1];
    rig_begin_gress(eg, IR_EGRESS);
    rig_advance_bits(rig_new_state(eg, "start")->body, 8 * SK_EGRESS_PREFIX);
    return b;
}

void rig_to_port(struct build *b, struct ir_block *body, struct ir_expr *port) {
    rig_assign(body, b->port, port);
    rig_assign(body, b->port_valid, rig_const(1, 1));
}

// --------------------------------------------------------------------------------------------
// Running it.

char *rig_emitted(const struct build *b, size_t *length) {
    char *text = NULL;
    FILE *f = open_memstream(&text, length);
    bool ok =
        emit_c(f, rig_arena, rig_diag, b->p,
               &(struct emit_options){.plan = {.checked = rig_checked, .vectorise = !rig_checked}});
    fclose(f);
    diag_print(rig_diag, stderr, false);
    assert_true(ok);
    return text;
}

char *rig_object_of(const struct build *b) {
    size_t length;
    char *text = rig_emitted(b, &length);
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

void rig_load(struct rig *p, const struct build *b) {
    char error[256];
    char *path = rig_object_of(b);
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

void rig_unload(struct rig *p) {
    p->pl->pipe_free(p->pipe);
    sk_program_free(p->prog);
    arena_free(rig_arena);
}

// Sends 'n' bytes from 'port' through ingress.
void rig_send(struct rig *p, uint16_t port, const uint8_t *bytes, size_t n) {
    p->packet = (struct sk_packet){.buf = p->buffer,
                                   .cap = sizeof p->buffer,
                                   .head = SK_HEADROOM,
                                   .len = (uint32_t)n,
                                   .ingress_port = port,
                                   .observer = p->observer};
    memset(p->buffer, 0xee, sizeof p->buffer);
    uint8_t *prefix = p->buffer + SK_HEADROOM - SK_INGRESS_PREFIX;
    memset(prefix, 0, SK_INGRESS_PREFIX);
    sk_bits_put(prefix, 7, 9, port);
    memcpy(p->buffer + SK_HEADROOM, bytes, n);
    p->out = (struct sk_ingress_out){.ahead = p->ahead, .on_mirror = p->on_mirror, .aux = p->aux};
    sk_ingress_wishes(p->pl->ingress(p->pipe, &p->packet, &p->out), &p->out);
}

uint32_t rig_table_index(const struct rig *p, const char *name) {
    uint32_t i = 0;
    while (strcmp(p->pl->tables[i]->name, name) != 0)
        i++;
    return i;
}

struct sk_table *rig_table_named(struct rig *p, const char *name) {
    return p->pl->table(p->pipe, rig_table_index(p, name));
}
