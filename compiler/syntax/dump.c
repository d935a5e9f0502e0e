// SPDX-License-Identifier: Apache-2.0
//
// dump: the tree as indented text, one node a line.
//
// Only what was written is shown, never what the checker found, nor places: a golden file changes
// when the program's meaning to the parser changes. Expressions and types are shown as text that
// parses to the same tree.
#include "compiler/syntax/ast.h"

struct dump {
    struct arena *a; // for the texts
    FILE *out;
    int level;
};

static void dump_decl(struct dump *w, const struct decl *d);
static void ast_dump_stmt(struct dump *w, const struct stmt *s);

static void ast_dump_indent(const struct dump *w) {
    fprintf(w->out, "%*s", 2 * w->level, "");
}

static const char *type_text(struct dump *w, const struct tref *t) {
    struct expr e = {.kind = EX_TYPENAME, .tref = (struct tref *)t};
    return expr_text(w->a, &e);
}

static void dump_annots(struct dump *w, const annot_vec *annots) {
    for (size_t i = 0; i < annots->n; i++) {
        const struct annotation *n = annots->v[i];
        fprintf(w->out, " @%s", n->name);
        if (n->args.n == 0) {
            if (*n->text)
                fprintf(w->out, "(%s)", n->text);
            continue;
        }
        for (size_t k = 0; k < n->args.n; k++)
            fprintf(w->out, "%s%s%s%s", k ? ", " : "[", n->keys.v[k] ? n->keys.v[k] : "",
                    n->keys.v[k] ? " = " : "", expr_text(w->a, n->args.v[k]));
        fputs("]", w->out);
    }
}

static void ast_dump_line(struct dump *w, const char *head, const char *text,
                          const annot_vec *annots) {
    ast_dump_indent(w);
    fprintf(w->out, "%s%s%s", head, *text ? " " : "", text);
    if (annots)
        dump_annots(w, annots);
    fputc('\n', w->out);
}

static void dump_expr(struct dump *w, const char *head, const struct expr *e) {
    if (e)
        ast_dump_line(w, head, expr_text(w->a, e), NULL);
}

// --------------------------------------------------------------------------------------------
// Statements

static void dump_child(struct dump *w, const char *head, const struct stmt *s) {
    if (!s)
        return;
    ast_dump_line(w, head, "", NULL);
    w->level++;
    ast_dump_stmt(w, s);
    w->level--;
}

static void dump_stmts(struct dump *w, const char *head, const stmt_vec *stmts) {
    for (size_t i = 0; i < stmts->n; i++)
        dump_child(w, head, stmts->v[i]);
}

static void dump_cases(struct dump *w, const struct stmt *s) {
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct switch_case *c = s->cases.v[i];
        dump_expr(w, c->body ? "case" : "case (falls through)", c->label);
        w->level++;
        if (c->body)
            ast_dump_stmt(w, c->body);
        w->level--;
    }
}

static void dump_transition(struct dump *w, const struct stmt *s) {
    if (!s->select) {
        ast_dump_line(w, "transition", s->name, NULL);
        return;
    }
    ast_dump_line(w, "transition select", "", NULL);
    w->level++;
    for (size_t i = 0; i < s->select->keys.n; i++)
        dump_expr(w, "key", s->select->keys.v[i]);
    for (size_t i = 0; i < s->select->cases.n; i++) {
        const struct select_case *c = s->select->cases.v[i];
        ast_dump_line(w, "case",
                      arena_printf(w->a, "%s -> %s", expr_text(w->a, c->keyset), c->next), NULL);
    }
    w->level--;
}

static void dump_assign(struct dump *w, const struct stmt *s) {
    const char *op = s->assign_op < 0 ? "" : op_text((enum op)s->assign_op);
    ast_dump_line(w, "assign",
                  arena_printf(w->a, "%s %s= %s", expr_text(w->a, s->a), op, expr_text(w->a, s->b)),
                  NULL);
}

static void dump_loop(struct dump *w, const struct stmt *s) {
    ast_dump_line(w, s->kind == ST_FOR ? "for" : "for in", "", &s->annots);
    w->level++;
    dump_stmts(w, "init", &s->init);
    if (s->decl)
        dump_decl(w, s->decl);
    dump_expr(w, s->kind == ST_FOR ? "while" : "in", s->a);
    dump_stmts(w, "update", &s->update);
    dump_child(w, "body", s->body);
    w->level--;
}

static void dump_if(struct dump *w, const struct stmt *s) {
    dump_expr(w, "if", s->a);
    w->level++;
    dump_child(w, "then", s->then_s);
    dump_child(w, "else", s->else_s);
    w->level--;
}

static void ast_dump_block(struct dump *w, const struct stmt *s) {
    ast_dump_line(w, "block", "", &s->annots);
    w->level++;
    for (size_t i = 0; i < s->stmts.n; i++)
        ast_dump_stmt(w, s->stmts.v[i]);
    w->level--;
}

static void ast_dump_stmt(struct dump *w, const struct stmt *s) {
    switch (s->kind) {
    case ST_EMPTY:
        ast_dump_line(w, "empty", "", NULL);
        break;
    case ST_BLOCK:
        ast_dump_block(w, s);
        break;
    case ST_DECL:
        dump_decl(w, s->decl);
        break;
    case ST_ASSIGN:
        dump_assign(w, s);
        break;
    case ST_CALL:
        dump_expr(w, "call", s->a);
        break;
    case ST_IF:
        dump_if(w, s);
        break;
    case ST_RETURN:
        ast_dump_line(w, "return", s->a ? expr_text(w->a, s->a) : "", NULL);
        break;
    case ST_EXIT:
        ast_dump_line(w, "exit", "", NULL);
        break;
    case ST_SWITCH:
        dump_expr(w, "switch", s->a);
        w->level++;
        dump_cases(w, s);
        w->level--;
        break;
    case ST_FOR:
    case ST_FORIN:
        dump_loop(w, s);
        break;
    case ST_BREAK:
        ast_dump_line(w, "break", "", NULL);
        break;
    case ST_CONTINUE:
        ast_dump_line(w, "continue", "", NULL);
        break;
    case ST_TRANSITION:
        dump_transition(w, s);
        break;
    }
}

// --------------------------------------------------------------------------------------------
// Tables

static void ast_dump_entry(struct dump *w, const struct table_entry *e) {
    const char *priority =
        e->priority ? arena_printf(w->a, "priority %s: ", expr_text(w->a, e->priority)) : "";
    ast_dump_line(w, e->is_const ? "const entry" : "entry",
                  arena_printf(w->a, "%s%s -> %s", priority, expr_text(w->a, e->keyset),
                               expr_text(w->a, e->call)),
                  &e->annots);
}

static void ast_dump_table(struct dump *w, const struct table *t) {
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct table_key *k = t->keys.v[i];
        ast_dump_line(w, "key",
                      arena_printf(w->a, "%s: %s", expr_text(w->a, k->expr), k->match_kind),
                      &k->annots);
    }
    for (size_t i = 0; i < t->actions.n; i++)
        ast_dump_line(w, "action", expr_text(w->a, t->actions.v[i]->call),
                      &t->actions.v[i]->annots);
    dump_expr(w, t->const_default ? "const default_action" : "default_action", t->default_action);
    if (t->has_entries)
        ast_dump_line(w, t->const_entries ? "const entries" : "entries", "", NULL);
    w->level++;
    for (size_t i = 0; i < t->entries.n; i++)
        ast_dump_entry(w, t->entries.v[i]);
    w->level--;
    for (size_t i = 0; i < t->properties.n; i++) {
        const struct table_property *p = t->properties.v[i];
        ast_dump_line(w, p->is_const ? "const property" : "property",
                      arena_printf(w->a, "%s = %s", p->name, expr_text(w->a, p->value)),
                      &p->annots);
    }
}

// --------------------------------------------------------------------------------------------
// Declarations

static const char *const kind_text[] = {
    [D_CONST] = "const",
    [D_VAR] = "var",
    [D_PARAM] = "param",
    [D_TYPEVAR] = "type parameter",
    [D_TYPEDEF] = "typedef",
    [D_NEWTYPE] = "type",
    [D_STRUCT] = "struct",
    [D_HEADER] = "header",
    [D_UNION] = "header_union",
    [D_FIELD] = "field",
    [D_ENUM] = "enum",
    [D_ENUMERATOR] = "member",
    [D_ERROR] = "error",
    [D_MATCH_KIND] = "match_kind",
    [D_EXTERN] = "extern",
    [D_METHOD] = "method",
    [D_FUNCTION] = "function",
    [D_PARSER_TYPE] = "parser type",
    [D_CONTROL_TYPE] = "control type",
    [D_PACKAGE] = "package",
    [D_PARSER] = "parser",
    [D_CONTROL] = "control",
    [D_STATE] = "state",
    [D_ACTION] = "action",
    [D_TABLE] = "table",
    [D_INSTANCE] = "instance",
    [D_VALUE_SET] = "value_set",
};

static void dump_head(struct dump *w, const struct decl *d) {
    static const char *const dir_text[] = {"", " in", " out", " inout"};
    ast_dump_indent(w);
    fprintf(w->out, "%s%s%s%s %s", d->is_abstract ? "abstract " : "",
            d->is_ctor ? "constructor" : kind_text[d->kind], dir_text[d->dir],
            d->is_optional ? " optional" : "", d->name);
    if (d->tref)
        fprintf(w->out, ": %s", type_text(w, d->tref));
    if (d->init)
        fprintf(w->out, " = %s", expr_text(w->a, d->init));
    for (size_t i = 0; i < d->args.n; i++) {
        const struct arg *arg = d->args.v[i];
        fprintf(w->out, "%s%s%s%s", i ? ", " : " (", arg->name ? arg->name : "",
                arg->name ? " = " : "", expr_text(w->a, arg->value));
    }
    fputs(d->args.n ? ")" : "", w->out);
    dump_annots(w, &d->annots);
    fputc('\n', w->out);
}

static void dump_decls(struct dump *w, const char *head, const decl_vec *decls) {
    if (decls->n == 0)
        return;
    if (*head)
        ast_dump_line(w, head, "", NULL);
    w->level += *head ? 1 : 0;
    for (size_t i = 0; i < decls->n; i++)
        dump_decl(w, decls->v[i]);
    w->level -= *head ? 1 : 0;
}

static void dump_decl(struct dump *w, const struct decl *d) {
    dump_head(w, d);
    w->level++;
    dump_decls(w, "", &d->tparams);
    dump_decls(w, "", &d->params);
    dump_decls(w, "constructor", &d->ctor_params);
    dump_decls(w, "", &d->locals);
    dump_decls(w, "", &d->members);
    dump_decls(w, "initialiser", &d->init_body);
    if (d->table)
        ast_dump_table(w, d->table);
    if (d->body)
        ast_dump_stmt(w, d->body);
    w->level--;
}

void ast_dump(FILE *out, const struct program *p) {
    for (size_t i = 0; i < p->decls.n; i++) {
        struct dump w = {.a = arena_new(), .out = out};
        dump_decl(&w, p->decls.v[i]);
        arena_free(w.a);
    }
}
