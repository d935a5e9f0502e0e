// SPDX-License-Identifier: Apache-2.0
//
// gress: ingress or egress: parser, control, deparser over one set of variables.
//
// The blocks' parameters are matched to roles: packet, headers and metadata by position, intrinsic
// metadata by type, any of which may be left out (tna-facts 1.1). A role has one storage; what a
// block calls it is its own affair.
#include "compiler/ir/verify.h"
#include "compiler/lower/lower_impl.h"

#include <string.h>

// ---- roles --------------------------------------------------------------------------------------

struct role {
    const char *type_name; // of an intrinsic; null for headers and metadata
    struct value *storage;
};
enum { ROLE_HEADERS, ROLE_METADATA, ROLE_FIRST_INTRINSIC, MAX_ROLES = 12 };

struct gress_parts {
    struct object *parsers[MAX_PARSERS], *control, *deparser;
    struct role roles[MAX_ROLES];
    size_t n_roles;
};

static const char *param_type_name(const struct decl *p) {
    const struct type *t = plain(p->type);
    return t->decl && t->decl->name ? t->decl->name : "";
}

static struct role *role_of(struct gress_parts *g, const struct decl *p, size_t position) {
    if (position < ROLE_FIRST_INTRINSIC)
        return &g->roles[position];
    const char *name = param_type_name(p);
    for (size_t i = ROLE_FIRST_INTRINSIC; i < g->n_roles; i++)
        if (strcmp(g->roles[i].type_name, name) == 0)
            return &g->roles[i];
    if (g->n_roles == MAX_ROLES)
        return NULL;
    struct role *r = &g->roles[g->n_roles++];
    r->type_name = name;
    return r;
}

// ---- intrinsic metadata -------------------------------------------------------------------------

#define T1_MIRROR_TYPE_BITS 3u

// Fields with validity of their own (tna-facts 2.8). Tofino 2, which has wider mirror types, gives
// one to the ingress's mirror_type too; of its other fields those count for which 0 is a value.
static bool has_own_validity(const struct lower *lw, enum ir_intrinsic i, unsigned width) {
    if (i == IRI_MIRROR_EGRESS_PORT || i == IRI_MTU_TRUNC_LEN || i == IRI_ADV_FLOW_CTL)
        return true;
    if (i == IRI_MIRROR_TYPE)
        return lw->gress->kind == IR_EGRESS || width > T1_MIRROR_TYPE_BITS;
    if (lw->gress->kind == IR_EGRESS)
        return false;
    return i == IRI_UCAST_EGRESS_PORT || i == IRI_MCAST_GRP_A || i == IRI_MCAST_GRP_B ||
           i == IRI_DIGEST_TYPE || i == IRI_RESUBMIT_TYPE;
}

static int intrinsic_index(const char *name) {
    for (int i = 0; i < IRI_COUNT; i++)
        if (strcmp(ir_intrinsic_names[i], name) == 0)
            return i;
    return -1;
}

struct ir_var *validity_new(struct lower *lw, const struct ir_var *v) {
    return var_new(lw, arena_printf(lw->a, "%s.$valid", v->name), 1, false, v->at);
}

bool is_intrinsic_struct(const struct type *t) {
    const struct type *u = plain(t);
    return u->kind == TY_STRUCT && u->decl && annot_find(&u->decl->annots, "__intrinsic_metadata");
}

void note_validities(struct lower *lw, const struct value *v) {
    if (!is_intrinsic_struct(v->type))
        return;
    for (size_t i = 0; i < v->n; i++) {
        int k = intrinsic_index(plain(v->type)->decl->members.v[i]->name);
        struct value *field = v->items[i];
        if (k < 0 || field->kind != VAL_BITS || field->e->op != IR_VAR)
            continue;
        struct ir_var *var = field->e->var;
        if (!var->valid && has_own_validity(lw, (enum ir_intrinsic)k, var->width))
            var->valid = validity_new(lw, var);
    }
}

// Which field of the metadata before the packet each field of this header is.
static void note_prefix(struct ir_header *h, const struct decl *type) {
    h->intrinsic = true;
    for (size_t i = 0; i < h->fields.n && i < type->members.n; i++)
        for (int k = IRP_OTHER + 1; k < IRP_COUNT; k++)
            if (strcmp(ir_prefix_names[k], type->members.v[i]->name) == 0)
                h->fields.v[i]->prefix_field = (enum ir_prefix_field)k;
}

static void note_intrinsics(struct lower *lw, const struct decl *p, struct value *v) {
    const struct type *t = plain(p->type);
    if (!t->decl || !annot_find(&t->decl->annots, "__intrinsic_metadata"))
        return;
    if (v->kind == VAL_HEADER && v->header) {
        note_prefix(v->header, t->decl);
        return;
    }
    for (size_t i = 0; v->kind == VAL_TUPLE && i < v->n; i++) {
        const char *name = t->decl->members.v[i]->name;
        int k = intrinsic_index(name);
        struct value *field = v->items[i];
        if (field->kind != VAL_BITS || field->e->op != IR_VAR)
            continue;
        note_reset_field(lw->a, &lw->reset_fields, name, field->e->var);
        if (k >= 0)
            lw->gress->intrinsic[k] = field->e->var;
    }
    note_validities(lw, v);
}

void note_consumption(struct lower *lw, const struct decl *d, struct loc at) {
    if (!annot_find(&d->annots, "silken_consumes"))
        return;
    if (lw->gress->kind != IR_INGRESS) {
        lower_error(lw, d->at,
                    "@silken_consumes is for actions of ingress: a packet that egress drops has "
                    "left the traffic manager, and may be one of several copies");
        return;
    }
    struct ir_var **v = &lw->gress->intrinsic[IRI_CONSUMED];
    if (!*v)
        *v = var_new(lw, ir_intrinsic_names[IRI_CONSUMED], 1, false, d->at);
    assign_var(lw, *v, ir_const_u64(lw->a, 1, 1), at);
}

// ---- binding the blocks' parameters -------------------------------------------------------------

static void bind_packet(struct lower *lw, struct object *block, const struct decl *p,
                        enum object_kind kind) {
    struct object *o = ARENA_NEW(lw->a, struct object);
    o->kind = kind;
    o->name = p->name;
    o->type_name = kind == OBJ_PACKET_IN ? "packet_in" : "packet_out";
    o->at = p->at;
    env_bind(lw, block->env, p, value_object(lw, o));
}

static void bind_roles(struct lower *lw, struct gress_parts *g, struct object *block,
                       bool has_packet) {
    const decl_vec *params = &block->decl->params;
    struct env *saved = lw->env;
    lw->env = block->env;
    for (size_t i = 0; i < params->n; i++) {
        struct decl *p = params->v[i];
        if (has_packet && i == 0) {
            bind_packet(lw, block, p, block->kind == OBJ_PARSER ? OBJ_PACKET_IN : OBJ_PACKET_OUT);
            continue;
        }
        struct role *r = role_of(g, p, i - has_packet);
        if (!r) {
            lower_unsupported(lw, p->at, "this parameter of a top-level block");
            continue;
        }
        if (!r->storage) {
            r->storage = storage_new(lw, env_type(lw, p->type), p->name, p->name_at);
            note_intrinsics(lw, p, r->storage);
        }
        env_bind(lw, block->env, p, r->storage);
    }
    lw->env = saved;
}

static struct object *block_object(struct lower *lw, struct expr *e) {
    struct expr *ctor = (struct expr *)strip(e);
    struct decl *instance = NULL;
    if (ctor->kind == EX_NAME && ctor->decl && ctor->decl->kind == D_INSTANCE) {
        instance = ctor->decl;
        ctor = instance->ctor_call;
    }
    if (!ctor || ctor->kind != EX_CALL || ctor->call != CALL_CTOR || !ctor->decl ||
        (ctor->decl->kind != D_CONTROL && ctor->decl->kind != D_PARSER)) {
        lower_unsupported(lw, e->at, "this as a block of a pipeline");
        return NULL;
    }
    struct decl *d = ctor->decl;
    return object_new(lw, ctor, instance, env_name(lw, lw->gress_env, &d->annots, d->name), e->at);
}

// ---- bodies -------------------------------------------------------------------------------------

static struct ir_block *lower_body(struct lower *lw, struct object *o, enum place place) {
    struct ir_block *out = ir_block_new(lw->a), *body = ir_block_new(lw->a);
    struct frame f = {0};
    lw->place = place;
    lw->frame = &f;
    lw->env = o->env;
    lw->block = body;
    init_block_locals(lw, o);
    if (o->decl->body)
        lower_stmt(lw, o->decl->body);
    lw->block = out;
    put_labelled(lw, body, f.label, o->at);
    lw->frame = NULL;
    lw->env = lw->globals;
    return out;
}

// The traffic manager drops on parser errors that the control does not look at (tna-facts 5.2).
struct mention {
    const struct ir_var *var;
    bool found;
};

static void lower_gress_mention_expr(void *ctx, struct ir_expr *e) {
    struct mention *m = ctx;
    m->found |= e->op == IR_VAR && e->var == m->var;
}

static bool lower_gress_mentions(struct ir_block *b, const struct ir_var *var) {
    struct mention m = {.var = var};
    ir_visit_block(&(struct ir_visitor){.ctx = &m, .expr = lower_gress_mention_expr}, b);
    return var && m.found;
}

struct mirror_search {
    bool found;
};

static void find_mirror(void *ctx, struct ir_stmt *s) {
    ((struct mirror_search *)ctx)->found |= s->kind == IR_MIRROR;
}

// The chip's compiler has a Tofino 2's egress parser say that copies are of the packet as it
// leaves, like a Tofino's, unless an annotation of the parser forbids it (tna-facts 2.8).
static void choose_mirrored(struct lower *lw, struct ir_gress *g, const struct object *parser) {
    struct ir_var *select = g->intrinsic[IRI_MIRROR_IO_SELECT];
    struct mirror_search s = {false};
    ir_visit_block(&(struct ir_visitor){.ctx = &s, .stmt = find_mirror}, g->deparser);
    if (!select || g->kind != IR_EGRESS || !s.found || g->states.n == 0)
        return;
    bool leaving =
        !annot_find(&parser->decl->annots, "disable_egress_mirror_io_select_initialization");
    struct ir_block *start = g->states.v[0]->body, *rest = ir_block_new(lw->a);
    *rest = *start;
    *start = *ir_block_new(lw->a);
    struct ir_block *outer = lw->block;
    lw->block = start;
    assign_var(lw, select, ir_const_u64(lw->a, 1, leaving), parser->at);
    lw->block = outer;
    for (size_t i = 0; i < rest->stmts.n; i++)
        ir_push(lw->a, start, rest->stmts.v[i]);
}

static bool make_blocks(struct lower *lw, struct gress_parts *g, const struct blocks *b) {
    bool ok = true;
    lw->no_locals = true;
    for (unsigned i = 0; i < b->n_parsers; i++) {
        g->parsers[i] = block_object(lw, b->parsers[i]);
        ok = ok && g->parsers[i] && g->parsers[i]->kind == OBJ_PARSER;
    }
    g->control = block_object(lw, b->control);
    g->deparser = block_object(lw, b->deparser);
    lw->no_locals = false;
    if (!ok || !g->control || !g->deparser || g->control->kind != OBJ_CONTROL ||
        g->deparser->kind != OBJ_CONTROL)
        return false;
    // The control first: its names are the ones a control plane sees.
    bind_roles(lw, g, g->control, false);
    for (unsigned i = 0; i < b->n_parsers; i++)
        bind_roles(lw, g, g->parsers[i], true);
    bind_roles(lw, g, g->deparser, true);
    for (unsigned i = 0; i < b->n_parsers; i++)
        block_locals(lw, g->parsers[i]);
    block_locals(lw, g->control);
    block_locals(lw, g->deparser);
    return true;
}

void lower_gress(struct lower *lw, struct ir_gress *g, const struct blocks *b, struct loc at) {
    struct gress_parts parts = {.n_roles = ROLE_FIRST_INTRINSIC};
    (void)at;
    lw->gress = g;
    lw->gress_env = env_new(lw, lw->globals, lw->pipeline->name);
    lw->env = lw->globals;
    lw->block = ir_block_new(lw->a);
    lw->labels = lw->temps = 0;
    lw->exiting = NULL;
    lw->reset_fields.n = 0;
    g->control = ir_block_new(lw->a);
    g->deparser = ir_block_new(lw->a);
    lw->place = IN_PARSER_STATE;
    if (!make_blocks(lw, &parts, b))
        return;
    lower_parsers(lw, parts.parsers, b);
    g->control = lower_body(lw, parts.control, IN_CONTROL_BODY);
    g->deparser = lower_body(lw, parts.deparser, IN_DEPARSER_BODY);
    check_choices(lw, g);
    choose_mirrored(lw, g, parts.parsers[0]);
    if (!lw->gave_up)
        check_reset_fields(lw->a, lw->d, &lw->reset_fields, g);
    late_gress(lw, g);
    g->parser_err_used = lower_gress_mentions(g->control, g->intrinsic[IRI_PARSER_ERR]);
    if (!lw->gave_up)
        check_applied_once(lw->a, lw->d, g);
    if (!lw->gave_up && !diag_errors(lw->d))
        ir_verify_after(lw->a, g, "lower");
    tidy_gress(lw, g);
    join_accesses(lw->a, g);
    count_leaving(lw->a, g);
    if (!lw->gave_up && !diag_errors(lw->d))
        ir_verify_after(lw->a, g, "tidy");
    lw->gress_env = NULL;
}
