// SPDX-License-Identifier: Apache-2.0
//
// storage: values made after a type: storage of variables and headers, and zeros.
#include "compiler/lower/lower_impl.h"

// Visits the members of a struct, header or tuple type and makes an item for each.
typedef struct value *make_fn(struct lower *lw, struct type *t, const char *name, void *ctx,
                              struct loc at);

static void make_members(struct lower *lw, struct value *v, const char *name, make_fn *make,
                         void *ctx, struct loc at) {
    const struct type *u = plain(v->type);
    bool named = u->kind != TY_TUPLE;
    v->n = named ? u->decl->members.n : u->args.n;
    v->items = ARENA_ARRAY(lw->a, struct value *, v->n + 1);
    for (size_t i = 0; i < v->n; i++) {
        const char *field = named ? u->decl->members.v[i]->name : arena_printf(lw->a, "%zu", i);
        struct type *t = named ? type_field(lw->a, u, field, NULL) : u->args.v[i];
        v->items[i] = make(lw, env_type(lw, t),
                           name ? arena_printf(lw->a, "%s.%s", name, field) : NULL, ctx, at);
    }
}

static void make_elements(struct lower *lw, struct value *v, const char *name, make_fn *make,
                          void *ctx, struct loc at) {
    const struct type *u = plain(v->type);
    v->n = u->width;
    if (v->n > 4096) {
        lower_unsupported(lw, at, "header stacks of more than 4096 elements");
        v->n = 1;
    }
    v->items = ARENA_ARRAY(lw->a, struct value *, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
        v->items[i] =
            make(lw, u->elem, name ? arena_printf(lw->a, "%s[%zu]", name, i) : NULL, ctx, at);
}

static struct value *refuse_type(struct lower *lw, struct type *t, const char *what,
                                 struct loc at) {
    lower_unsupported(lw, at, "%s", what);
    return value_bits(lw, t, ir_const_u64(lw->a, 1, 0));
}

// Storage and zero values have the same shape; 'scalar' makes the leaves, 'header' completes one.
struct maker {
    struct value *(*scalar)(struct lower *lw, struct type *t, const char *name, struct loc at);
    void (*header)(struct lower *lw, struct value *v, const char *name, struct loc at);
    void (*stack)(struct lower *lw, struct value *v, const char *name, struct loc at);
    bool place;
    unsigned depth;
};

// A header of one field.
static struct value *make_piece(struct lower *lw, struct type *t, const char *name, void *ctx,
                                struct loc at) {
    struct maker *m = ctx;
    struct value *v = value_new(lw, VAL_HEADER, t);
    m->header(lw, v, name, at);
    v->n = 1;
    v->items = ARENA_ARRAY(lw->a, struct value *, 1);
    v->items[0] = m->scalar(lw, t, name ? arena_printf(lw->a, "%s.bytes", name) : NULL, at);
    v->items[0]->place = v->place = m->place;
    return v;
}

static struct value *make_value(struct lower *lw, struct type *t, const char *name, void *ctx,
                                struct loc at) {
    struct maker *m = ctx;
    const struct type *u = plain(t);
    struct value *v;
    if (m->depth > 64 || !spend(lw, at))
        return refuse_type(lw, t, "types nested that deep", at);
    m->depth++;
    switch (u->kind) {
    case TY_STRUCT:
    case TY_TUPLE:
        v = value_new(lw, VAL_TUPLE, t);
        make_members(lw, v, name, make_value, m, at);
        if (m->place)
            note_validities(lw, v);
        break;
    case TY_HEADER:
        v = value_new(lw, VAL_HEADER, t);
        m->header(lw, v, name, at);
        make_members(lw, v, name, make_value, m, at);
        break;
    case TY_STACK:
        v = value_new(lw, VAL_STACK, t);
        make_elements(lw, v, name, make_value, m, at);
        if (m->stack)
            m->stack(lw, v, name, at);
        break;
    case TY_UNION:
        v = value_new(lw, VAL_UNION, t);
        make_members(lw, v, name, make_value, m, at);
        for (size_t i = 0; m->place && i < v->n; i++)
            v->items[i]->in_union = v;
        break;
    case TY_VARBIT:
        v = value_new(lw, VAL_VARBIT, t);
        varbit_pieces(lw, v, name, make_piece, m, at);
        break;
    case TY_INT:
        v = value_int(lw, t, big_u64(lw->a, 0));
        break;
    case TY_STRING:
    case TY_VOID:
        v = value_new(lw, u->kind == TY_VOID ? VAL_NONE : VAL_STRING, t);
        v->text = "";
        break;
    default:
        v = is_scalar_type(t) ? m->scalar(lw, t, name, at)
                              : refuse_type(lw, t, "values of this type", at);
    }
    m->depth--;
    v->place = m->place;
    return v;
}

static struct value *zero_scalar(struct lower *lw, struct type *t, const char *name,
                                 struct loc at) {
    (void)name;
    return value_bits(lw, t, ir_const_u64(lw->a, scalar_width(lw, t, at), 0));
}

static void zero_header(struct lower *lw, struct value *v, const char *name, struct loc at) {
    (void)name, (void)at;
    v->valid = ir_const_u64(lw->a, 1, 0);
}

struct value *value_zero(struct lower *lw, struct type *t, struct loc at) {
    struct maker m = {.scalar = zero_scalar, .header = zero_header};
    return make_value(lw, t, NULL, &m, at);
}

// ---- storage ------------------------------------------------------------------------------------

struct ir_var *var_new(struct lower *lw, const char *name, unsigned width, bool is_signed,
                       struct loc at) {
    struct ir_var *v = ARENA_NEW(lw->a, struct ir_var);
    v->name = name;
    v->width = width;
    v->is_signed = is_signed;
    v->at = at;
    v->id = (unsigned)lw->gress->vars.n;
    if (lw->gress->vars.n >= LOWER_MAX_VARS) {
        lower_limit(lw, at, "the program needs more than %u variables", LOWER_MAX_VARS);
        return v;
    }
    VEC_PUSH(lw->a, &lw->gress->vars, v);
    return v;
}

struct ir_var *temp_new(struct lower *lw, const char *what, unsigned width, struct loc at) {
    return var_new(lw, arena_printf(lw->a, "$%s%u", what, lw->temps++), width, false, at);
}

static struct value *storage_scalar(struct lower *lw, struct type *t, const char *name,
                                    struct loc at) {
    unsigned width = scalar_width(lw, t, at);
    if (width == 0)
        return value_bits(lw, t, ir_const_u64(lw->a, 0, 0));
    struct ir_var *var = var_new(lw, name, width, is_signed_type(t), at);
    return value_bits(lw, t, ir_ref(lw->a, var));
}

static struct ir_header *new_header(struct lower *lw, const char *name, const char *type_name,
                                    struct loc at) {
    struct ir_header *h = ARENA_NEW(lw->a, struct ir_header);
    h->id = (unsigned)lw->gress->headers.n;
    h->name = name;
    h->type_name = type_name;
    h->at = at;
    h->valid = var_new(lw, arena_printf(lw->a, "%s.$valid", name), 1, false, at);
    if (!lw->gave_up)
        VEC_PUSH(lw->a, &lw->gress->headers, h);
    return h;
}

static void storage_header(struct lower *lw, struct value *v, const char *name, struct loc at) {
    const struct decl *d = plain(v->type)->decl;
    v->header = new_header(lw, name, d ? d->name : "varbit", at);
    v->valid = ir_ref(lw->a, v->header->valid);
}

static void storage_stack(struct lower *lw, struct value *v, const char *name, struct loc at) {
    v->next = var_new(lw, arena_printf(lw->a, "%s.$next", name), 32, false, at);
}

struct wiring {
    struct lower *lw;
    struct ir_header *header;
    struct loc at; // of the field
};

static void wire_leaf(void *ctx, struct value *leaf) {
    struct wiring *w = ctx;
    if (leaf->kind != VAL_BITS || leaf->e->op != IR_VAR)
        return;
    struct ir_var *var = leaf->e->var;
    var->header = w->header;
    var->bit_offset = w->header->bits;
    w->header->bits += var->width;
    VEC_PUSH(w->lw->a, &w->header->fields, var);
}

// The layout of a @flexible header, or of one with @flexible parts, is the compiler's: it exists
// only inside of the switch.
static bool flexible_parts(const struct type *t, unsigned depth) {
    const struct decl *d = plain(t)->decl;
    if (!d || depth > 16)
        return false;
    if (annot_find(&d->annots, "flexible"))
        return true;
    for (size_t i = 0; i < d->members.n; i++) {
        const struct decl *m = d->members.v[i];
        const struct type *u = plain(m->type);
        if (annot_find(&m->annots, "flexible") ||
            (u->kind == TY_STRUCT && flexible_parts(u, depth + 1)))
            return true;
    }
    return false;
}

bool is_flexible(const struct type *t) {
    return flexible_parts(t, 0);
}

static struct ir_var *pad_header(struct wiring *w, unsigned bits, struct loc at) {
    struct ir_header *h = w->header;
    struct ir_var *pad =
        var_new(w->lw, arena_printf(w->lw->a, "%s.$pad", h->name), bits, false, at);
    wire_leaf(w, value_bits(w->lw, NULL, ir_ref(w->lw->a, pad)));
    return pad;
}

static void fill_last_byte(struct wiring *w, struct value *v, struct loc at) {
    const struct ir_header *h = w->header;
    if (is_flexible(v->type))
        pad_header(w, 8 - h->bits % 8, at);
    else
        lower_error(w->lw, at,
                    "header '%s' is %u bits long; a header takes whole bytes, so add padding",
                    h->type_name, h->bits);
}

static void mark_padding(void *ctx, struct value *leaf) {
    (void)ctx;
    if (leaf->kind == VAL_BITS && leaf->e->op == IR_VAR)
        leaf->e->var->padding = true;
}

static void wire_headers(struct lower *lw, struct value *v, struct loc at);

// The field's pieces are headers; what stands after them is wired as one more.
static void wire_varbit(struct wiring *w, struct value *v, size_t i, struct loc at) {
    const struct decl *field = plain(v->type)->decl->members.v[i];
    if (plain(v->items[i]->type)->width % 8 != 0 || w->header->bits % 8 != 0)
        lower_error(w->lw, field->at, "varbit field '%s' does not begin and end with whole bytes",
                    field->name);
    wire_headers(w->lw, v->items[i], at);
    if (varbit_field(v) != v->items[i])
        lower_unsupported(w->lw, field->at, "a second varbit field in a header");
    if (i + 1 == v->n || v->rest)
        return;
    v->rest = new_header(w->lw, arena_printf(w->lw->a, "%s.$rest", v->header->name),
                         v->header->type_name, at);
    w->header = v->rest;
}

static void lower_storage_wire_header(struct lower *lw, struct value *v, struct loc at) {
    struct wiring w = {.lw = lw, .header = v->header};
    const struct decl *d = plain(v->type)->decl;
    for (size_t i = 0; i < v->n; i++) {
        if (v->items[i]->kind == VAL_VARBIT) {
            wire_varbit(&w, v, i, at);
            continue;
        }
        w.at = d && i < d->members.n ? d->members.v[i]->at : at;
        value_leaves(v->items[i], wire_leaf, &w);
        if (d && i < d->members.n && annot_find(&d->members.v[i]->annots, "padding"))
            value_leaves(v->items[i], mark_padding, NULL);
    }
    if (d && d->fixed_bits > w.header->bits)
        pad_header(&w, d->fixed_bits - w.header->bits, at)->padding = true;
    if (w.header->bits % 8 != 0 && (v->rest || !varbit_field(v)))
        fill_last_byte(&w, v, at);
}

static void wire_headers(struct lower *lw, struct value *v, struct loc at) {
    if (v->kind == VAL_HEADER) {
        lower_storage_wire_header(lw, v, at);
        return;
    }
    for (size_t i = 0; i < v->n; i++)
        wire_headers(lw, v->items[i], at);
}

struct value *storage_new(struct lower *lw, struct type *t, const char *name, struct loc at) {
    struct maker m = {
        .scalar = storage_scalar, .header = storage_header, .stack = storage_stack, .place = true};
    struct value *v = make_value(lw, t, name, &m, at);
    if (!lw->gave_up)
        wire_headers(lw, v, at);
    return v;
}
