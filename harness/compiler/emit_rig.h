// SPDX-License-Identifier: Apache-2.0
//
// emit_rig: for tests of emission: builds pipeline IR node by node, compiles it with the system's
// compiler (with sanitizers, warnings as errors), loads it and runs packets through it.
#ifndef SILKEN_HARNESS_EMIT_RIG_H
#define SILKEN_HARNESS_EMIT_RIG_H

#include "compiler/ir/ir.h"
#include "pipeline/program.h"

extern struct arena *rig_arena; // of the program being built
extern struct diag *rig_diag;
extern bool rig_checked; // rig_load makes the checked build

#define RIG_HEADER(g, name, ...)                                                                   \
    rig_new_header(g, name, (const unsigned[]){__VA_ARGS__},                                       \
                   sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

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

struct rig {
    struct sk_program *prog;
    const struct sk_pipeline_desc *pl;
    struct sk_pipe *pipe;
    struct sk_ingress_out out;
    struct sk_entry *ahead;       // what its pass is given as found ahead
    struct sk_observer *observer; // of the packets that are sent
    void (*on_mirror)(void *aux, const struct sk_packet *p,
                      const struct sk_mirror_out *m); // or null
    void *aux;
    struct sk_packet packet;
    uint8_t buffer[4096];
};

struct ir_var *rig_new_var(struct ir_gress *g, const char *name, unsigned width);
struct ir_header *rig_new_header(struct ir_gress *g, const char *name, const unsigned *widths,
                                 size_t n);
struct ir_expr *rig_node(enum ir_op op, unsigned width, struct ir_expr *a, struct ir_expr *b);
struct ir_expr *rig_const(unsigned width, uint64_t v);
struct ir_expr *rig_ref(struct ir_var *v);
struct ir_expr *rig_slice(struct ir_expr *a, unsigned lo, unsigned width);
struct ir_block *rig_new_block(void);
struct ir_stmt *rig_push(struct ir_block *b, enum ir_stmt_kind kind);
void rig_assign(struct ir_block *b, struct ir_var *v, struct ir_expr *e);
void rig_extract(struct ir_block *b, struct ir_header *h);
void rig_emit(struct ir_gress *g, struct ir_header *h);
struct ir_state *rig_new_state(struct ir_gress *g, const char *name);
struct ir_action *rig_new_action(struct ir_gress *g, const char *name);
struct ir_var *rig_new_param(struct ir_gress *g, struct ir_action *a, const char *name,
                             unsigned width);
struct ir_table *rig_new_table(struct ir_gress *g, const char *name,
                               struct ir_action *default_action);
void rig_add_key(struct ir_table *t, const char *name, enum ir_match m, struct ir_expr *e);
void rig_add_action(struct ir_table *t, struct ir_action *a);
void rig_begin_gress(struct ir_gress *g, enum ir_gress_kind kind);
void rig_advance_bits(struct ir_block *b, unsigned bits);
struct build rig_program(void);
void rig_to_port(struct build *b, struct ir_block *body, struct ir_expr *port);
char *rig_emitted(const struct build *b, size_t *length);
char *rig_object_of(const struct build *b);
void rig_load(struct rig *p, const struct build *b);
void rig_unload(struct rig *p);
void rig_send(struct rig *p, uint16_t port, const uint8_t *bytes, size_t n);
uint32_t rig_table_index(const struct rig *p, const char *name);
struct sk_table *rig_table_named(struct rig *p, const char *name);

#endif
