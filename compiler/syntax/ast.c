// SPDX-License-Identifier: Apache-2.0
//
// ast: looking at a tree.
#include "compiler/syntax/ast.h"

#include <string.h>

const char *op_text(enum op op) {
    switch (op) {
    case OP_NEG:
    case OP_SUB:
        return "-";
    case OP_PLUS:
    case OP_ADD:
        return "+";
    case OP_NOT:
        return "!";
    case OP_CPL:
        return "~";
    case OP_MUL:
        return "*";
    case OP_DIV:
        return "/";
    case OP_MOD:
        return "%";
    case OP_ADD_SAT:
        return "|+|";
    case OP_SUB_SAT:
        return "|-|";
    case OP_SHL:
        return "<<";
    case OP_SHR:
        return ">>";
    case OP_LT:
        return "<";
    case OP_LE:
        return "<=";
    case OP_GT:
        return ">";
    case OP_GE:
        return ">=";
    case OP_EQ:
        return "==";
    case OP_NE:
        return "!=";
    case OP_BAND:
        return "&";
    case OP_BXOR:
        return "^";
    case OP_BOR:
        return "|";
    case OP_CONCAT:
        return "++";
    case OP_AND:
        return "&&";
    case OP_OR:
        return "||";
    }
    DIAG_BUG("operator %d", (int)op);
}

const struct annotation *annot_find(const annot_vec *annots, const char *name) {
    for (size_t i = 0; i < annots->n; i++)
        if (strcmp(annots->v[i]->name, name) == 0)
            return annots->v[i];
    return NULL;
}

const char *annot_string(const annot_vec *annots, const char *name) {
    const struct annotation *n = annot_find(annots, name);
    if (!n || n->args.n != 1 || n->keys.v[0] || n->args.v[0]->kind != EX_STRING)
        return NULL;
    return n->args.v[0]->name;
}

// --------------------------------------------------------------------------------------------
// Text of expressions

struct text {
    struct arena *a;
    VEC(char) chars;
};

static void ast_put(struct text *t, const char *s) {
    for (; *s; s++)
        VEC_PUSH(t->a, &t->chars, *s);
}

static void put_expr(struct text *t, const struct expr *e, int outer);

// How tightly an expression binds; a looser one inside a tighter one needs parentheses.
enum { BIND_ANY, BIND_COND = 1, BIND_UNARY = 12, BIND_POSTFIX = 13 };

static int op_binding(enum op op) {
    switch (op) {
    case OP_OR:
        return 2;
    case OP_AND:
        return 3;
    case OP_EQ:
    case OP_NE:
        return 4;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return 5;
    case OP_BOR:
        return 6;
    case OP_BXOR:
        return 7;
    case OP_BAND:
        return 8;
    case OP_SHL:
    case OP_SHR:
        return 9;
    case OP_ADD:
    case OP_SUB:
    case OP_ADD_SAT:
    case OP_SUB_SAT:
    case OP_CONCAT:
        return 10;
    case OP_MUL:
    case OP_DIV:
    case OP_MOD:
        return 11;
    default:
        return BIND_UNARY;
    }
}

static int binding(const struct expr *e) {
    switch (e->kind) {
    case EX_COND:
    case EX_MASK:
    case EX_RANGE:
        return BIND_COND;
    case EX_BINARY:
        return op_binding(e->op);
    case EX_UNARY:
    case EX_CAST:
        return BIND_UNARY;
    default:
        return BIND_POSTFIX;
    }
}

static void put_tref(struct text *t, const struct tref *r);

static void put_trefs(struct text *t, const struct tref *const *v, size_t n) {
    ast_put(t, "<");
    for (size_t i = 0; i < n; i++) {
        ast_put(t, i ? ", " : "");
        put_tref(t, v[i]);
    }
    ast_put(t, ">");
}

static void put_width(struct text *t, const char *name, const struct expr *width) {
    ast_put(t, name);
    if (!width)
        return;
    ast_put(t, width->kind == EX_INT ? "<" : "<(");
    put_expr(t, width, BIND_ANY);
    ast_put(t, width->kind == EX_INT ? ">" : ")>");
}

static void put_tref(struct text *t, const struct tref *r) {
    static const char *const base[] = {"void", "bool", "int", "string", "error", "match_kind"};
    switch (r->kind) {
    case TR_NAME:
        ast_put(t, r->absolute ? "." : "");
        ast_put(t, r->name);
        if (r->args.n)
            put_trefs(t, (const struct tref *const *)r->args.v, r->args.n);
        break;
    case TR_BASE:
        ast_put(t, base[r->base]);
        break;
    case TR_BIT:
        put_width(t, "bit", r->width);
        break;
    case TR_INT:
        put_width(t, "int", r->width);
        break;
    case TR_VARBIT:
        put_width(t, "varbit", r->width);
        break;
    case TR_STACK:
        put_tref(t, r->elem);
        ast_put(t, "[");
        put_expr(t, r->size, BIND_ANY);
        ast_put(t, "]");
        break;
    case TR_TUPLE:
    case TR_LIST:
        ast_put(t, r->kind == TR_TUPLE ? "tuple" : "list");
        put_trefs(t, (const struct tref *const *)r->args.v, r->args.n);
        break;
    case TR_DONTCARE:
        ast_put(t, "_");
        break;
    }
}

static void put_int(struct text *t, const struct expr *e) {
    if (e->width)
        ast_put(t, arena_printf(t->a, "%u%c", e->width, e->is_signed ? 's' : 'w'));
    ast_put(t, big_str(t->a, e->value, 10));
}

static void put_string(struct text *t, const char *s) {
    ast_put(t, "\"");
    for (; *s; s++) {
        char c[3] = {*s, 0, 0};
        if (*s == '"' || *s == '\\' || *s == '\n' || *s == '\t') {
            c[1] = *s == '\n' ? 'n' : *s == '\t' ? 't' : *s;
            c[0] = '\\';
        }
        ast_put(t, c);
    }
    ast_put(t, "\"");
}

static void put_args(struct text *t, const struct expr *e, const char *open, const char *close) {
    ast_put(t, open);
    for (size_t i = 0; i < e->args.n; i++) {
        const struct arg *arg = e->args.v[i];
        ast_put(t, i ? ", " : "");
        if (arg->name) {
            ast_put(t, arg->name);
            ast_put(t, " = ");
        }
        put_expr(t, arg->value, BIND_ANY);
    }
    ast_put(t, close);
}

static void put_infix(struct text *t, const struct expr *e, const char *op, int own) {
    put_expr(t, e->a, own);
    ast_put(t, op);
    put_expr(t, e->b, own + 1);
}

static void put_slice(struct text *t, const struct expr *e, const char *between) {
    put_expr(t, e->a, BIND_POSTFIX);
    ast_put(t, "[");
    put_expr(t, e->b, BIND_ANY);
    if (e->c) {
        ast_put(t, between);
        put_expr(t, e->c, BIND_ANY);
    }
    ast_put(t, "]");
}

static void put_compound(struct text *t, const struct expr *e) {
    switch (e->kind) {
    case EX_MEMBER:
        put_expr(t, e->a, BIND_POSTFIX);
        ast_put(t, ".");
        ast_put(t, e->name);
        break;
    case EX_INDEX:
    case EX_SLICE:
        put_slice(t, e, ":");
        break;
    case EX_PLUS_SLICE:
        put_slice(t, e, " +: ");
        break;
    case EX_CALL:
        put_expr(t, e->a, BIND_POSTFIX);
        if (e->targs.n)
            put_trefs(t, (const struct tref *const *)e->targs.v, e->targs.n);
        put_args(t, e, "(", ")");
        break;
    case EX_UNARY:
        ast_put(t, op_text(e->op));
        put_expr(t, e->a, BIND_UNARY);
        break;
    case EX_BINARY:
        put_infix(t, e, arena_printf(t->a, " %s ", op_text(e->op)), op_binding(e->op));
        break;
    case EX_MASK:
        put_infix(t, e, " &&& ", BIND_COND);
        break;
    case EX_RANGE:
        put_infix(t, e, " .. ", BIND_COND);
        break;
    case EX_COND:
        put_expr(t, e->a, BIND_COND + 1);
        ast_put(t, " ? ");
        put_expr(t, e->b, BIND_COND);
        ast_put(t, " : ");
        put_expr(t, e->c, BIND_COND);
        break;
    default: // EX_CAST; the checker's implicit casts have no text
        if (e->tref) {
            ast_put(t, "(");
            put_tref(t, e->tref);
            ast_put(t, ")");
        }
        put_expr(t, e->a, e->tref ? BIND_UNARY : BIND_ANY);
    }
}

static void put_unbound(struct text *t, const struct expr *e) {
    switch (e->kind) {
    case EX_INT:
        put_int(t, e);
        break;
    case EX_BOOL:
        ast_put(t, big_sign(e->value) ? "true" : "false");
        break;
    case EX_STRING:
        put_string(t, e->name);
        break;
    case EX_NAME:
        ast_put(t, e->absolute ? "." : "");
        ast_put(t, e->name);
        break;
    case EX_TYPENAME:
        put_tref(t, e->tref);
        break;
    case EX_LIST:
    case EX_STRUCT:
        put_args(t, e, "{", "}");
        break;
    case EX_INVALID:
        ast_put(t, "{#}");
        break;
    case EX_DOTS:
        ast_put(t, "...");
        break;
    case EX_DEFAULT:
        ast_put(t, "default");
        break;
    case EX_DONTCARE:
        ast_put(t, "_");
        break;
    case EX_THIS:
        ast_put(t, "this");
        break;
    default:
        put_compound(t, e);
    }
}

static void put_expr(struct text *t, const struct expr *e, int outer) {
    bool parentheses = binding(e) < outer;
    ast_put(t, parentheses ? "(" : "");
    put_unbound(t, e);
    ast_put(t, parentheses ? ")" : "");
}

const char *expr_text(struct arena *a, const struct expr *e) {
    struct text t = {.a = a};
    put_expr(&t, e, BIND_ANY);
    VEC_PUSH(a, &t.chars, '\0');
    return t.chars.v;
}
