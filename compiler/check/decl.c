// SPDX-License-Identifier: Apache-2.0
//
// decl: constants, variables, functions, externs, actions, parsers and controls.
// Instantiations are in inst.c, types in type.c.
//
// The 'type' of a D_FUNCTION or D_METHOD is the type it returns.
#include "compiler/check/check_impl.h"

#include <string.h>

bool is_optional(const struct decl *param) {
    return param->is_optional || annot_find(&param->annots, "optional");
}

// What a body changes in the checker, to be put back after it.
struct context {
    enum place place;
    struct decl *block, *routine;
    struct type *returns;
};

static struct context check_decl_enter(struct checker *c, enum place place) {
    struct context saved = {c->place, c->block, c->routine, c->returns};
    c->place = place;
    names_push(c);
    return saved;
}

static void check_decl_leave(struct checker *c, struct context saved) {
    names_pop(c);
    c->place = saved.place;
    c->block = saved.block;
    c->routine = saved.routine;
    c->returns = saved.returns;
}

// ------------------------------------------------------------------------------------------------
// Constants and variables (section 11)

static bool may_be_constant(const struct type *t) {
    return is_value_type(t) || t->kind == TY_INT || t->kind == TY_STRING || t->kind == TY_LIST ||
           t->kind == TY_MATCH_KIND;
}

static bool no_dontcare(struct checker *c, struct type *t, const struct tref *at) {
    for (size_t i = 0; i < t->args.n; i++) {
        if (t->args.v[i]->kind != TY_DONTCARE)
            continue;
        diag_error(c->d, at->at, "'_' cannot be a type argument here");
        return false;
    }
    return true;
}

static void check_const(struct checker *c, struct decl *d) {
    d->parent = c->block;
    d->type = resolve_type(c, d->tref);
    if (!may_be_constant(d->type)) {
        diag_error(c->d, d->tref->at, "a constant cannot have type '%s'", tn(c, d->type));
        d->type = c->t_bad;
    }
    no_dontcare(c, d->type, d->tref);
    if (d->init) {
        d->init = check_as(c, d->init, d->type, ROLE("the value of", d->name));
        d->cval = d->init->cval;
        if (!is_compile_time(d->init))
            diag_error(c->d, d->init->at,
                       "the value of constant '%s' must be known at compile "
                       "time",
                       d->name);
    }
    declare_name(c, d);
}

static void check_var(struct checker *c, struct decl *d) {
    d->parent = c->block;
    d->type = resolve_type(c, d->tref);
    if (!is_value_type(d->type)) {
        diag_error(c->d, d->tref->at, "a variable cannot have type '%s'%s", tn(c, d->type),
                   d->type->kind == TY_INT ? "; give it a width" : "");
        d->type = c->t_bad;
    }
    no_dontcare(c, d->type, d->tref);
    if (d->init)
        d->init = check_as(c, d->init, d->type, ROLE("the initial value of", d->name));
    if (c->place == AT_TOP)
        diag_error(c->d, d->name_at, "variables cannot be declared at the top level");
    declare_name(c, d);
}

// ------------------------------------------------------------------------------------------------
// Parameters (section 6.8)

static bool check_decl_is_object(const struct type *t) {
    return t->kind == TY_PARSER || t->kind == TY_CONTROL || t->kind == TY_PACKAGE;
}

// What a control or parser may be given when it is made: block types of its own kind.
static const char *bad_constructor_parameter(const struct decl *owner, const struct type *t) {
    if (t->decl && (t->decl->kind == D_CONTROL || t->decl->kind == D_PARSER))
        return "a parameter needs a control or parser type, not a control or parser with a body";
    bool package = owner->kind == D_PACKAGE;
    if (t->kind == TY_PACKAGE && !package)
        return "only a package can have a parameter of a package type";
    if (t->kind == TY_PARSER && !package && owner->kind != D_PARSER)
        return "only packages and parsers can have a parameter of a parser type";
    if (t->kind == TY_CONTROL && !package && owner->kind != D_CONTROL)
        return "only packages and controls can have a parameter of a control type";
    return NULL;
}

// Section 6.8.2.
static bool may_be_optional(const struct decl *owner) {
    switch (owner->kind) {
    case D_PARSER:
    case D_CONTROL:
    case D_PACKAGE:
    case D_PARSER_TYPE:
    case D_CONTROL_TYPE:
    case D_METHOD:
        return true;
    case D_FUNCTION:
        return !owner->body;
    default:
        return false;
    }
}

static const char *bad_parameter(const struct decl *owner, const struct decl *p, bool is_ctor) {
    const struct type *t = p->type;
    bool written = p->dir == DIR_OUT || p->dir == DIR_INOUT;
    if (t->kind == TY_VOID)
        return "a parameter cannot have type 'void'";
    bool body = owner->kind == D_PARSER || owner->kind == D_CONTROL;
    if (is_optional(p) && body && is_ctor)
        return "constructor parameters of parsers and controls cannot be @optional";
    if (is_optional(p) && !may_be_optional(owner))
        return "only packages, parsers, controls, and externs can have @optional parameters";
    if (is_ctor && p->dir != DIR_NONE)
        return "constructor parameters have no direction";
    if (is_ctor)
        return bad_constructor_parameter(owner, t);
    if (check_decl_is_object(t))
        return "parsers, controls and packages can only be constructor parameters";
    if (t->kind == TY_EXTERN && p->dir != DIR_NONE)
        return "a parameter of an extern type has no direction";
    if (t->kind == TY_EXTERN && owner->kind == D_ACTION)
        return "an action cannot have a parameter of an extern type";
    if (t->kind == TY_EXTERN && owner->kind == D_FUNCTION && owner->body)
        return "a function cannot have a parameter of an extern type";
    if (t->kind == TY_INT && (written || owner->kind == D_ACTION))
        return "a run-time value of type 'int' needs a width";
    if (t->kind == TY_STRING && p->dir != DIR_NONE)
        return "strings exist only at compile time, so their parameters have no direction";
    return NULL;
}

// The default of a generic parameter may fix its type arguments.
static struct type *open_tparams(struct checker *c, const struct decl *owner, struct type *t) {
    struct type **vars = ARENA_ARRAY(c->a, struct type *, owner->tparams.n);
    for (size_t i = 0; i < owner->tparams.n; i++)
        vars[i] = new_var(c);
    return type_subst(c->a, t, &owner->tparams, vars);
}

static void check_default_value(struct checker *c, const struct decl *owner, struct decl *p) {
    if (is_optional(p))
        diag_error(c->d, p->init->at, "an @optional parameter cannot have a default value");
    if (p->dir == DIR_OUT || p->dir == DIR_INOUT)
        diag_error(c->d, p->init->at, "an '%s' parameter cannot have a default value",
                   p->dir == DIR_OUT ? "out" : "inout");
    struct type *want = open_tparams(c, owner, p->type);
    p->init = check_as(c, p->init, want, ROLE("the default value of", p->name));
    if (!is_compile_time(p->init))
        diag_error(c->d, p->init->at, "a default value must be known at compile time");
}

static void check_param(struct checker *c, struct decl *owner, struct decl *p, bool is_ctor) {
    check_annotations(c, &p->annots);
    p->parent = owner;
    p->type = resolve_type(c, p->tref);
    const char *bad = bad_parameter(owner, p, is_ctor);
    if (bad) {
        diag_error(c->d, p->at, "%s", bad);
        p->type = c->t_bad;
    }
    if (p->init)
        check_default_value(c, owner, p);
    declare_name(c, p);
}

void check_params(struct checker *c, struct decl *owner, decl_vec *params, bool is_ctor) {
    bool data = false;
    for (size_t i = 0; i < params->n; i++) {
        struct decl *p = params->v[i];
        p->index = (unsigned)i;
        check_param(c, owner, p, is_ctor);
        if (owner->kind == D_ACTION && data && p->dir != DIR_NONE)
            diag_error(c->d, p->at, "parameters without direction come last in an action");
        data |= p->dir == DIR_NONE;
    }
}

// ------------------------------------------------------------------------------------------------
// Functions and actions

static bool may_be_returned(const struct type *t) {
    return is_value_type(t) || t->kind == TY_VOID || t->kind == TY_INT || t->kind == TY_STRING ||
           t->kind == TY_LIST;
}

static void check_result_type(struct checker *c, struct decl *d) {
    d->type = d->tref ? resolve_type(c, d->tref) : c->t_void;
    if (d->type->kind == TY_INT && !d->body) {
        diag_error(c->d, d->tref->at, "an extern cannot return an 'int'; give it a width");
        d->type = c->t_bad;
    }
    if (!may_be_returned(d->type) && d->body) {
        diag_error(c->d, d->tref->at, "a function cannot return a value of type '%s'",
                   tn(c, d->type));
        d->type = c->t_bad;
    }
    if (d->tref)
        no_dontcare(c, d->type, d->tref);
}

static void check_all_return(struct checker *c, const struct decl *d) {
    bool value = d->type->kind != TY_VOID && d->type->kind != TY_ERROR_TYPE;
    if (value && !always_returns(d->body))
        diag_error(c->d, d->name_at, "not every path through '%s' returns a value", d->name);
}

static void check_function(struct checker *c, struct decl *d) {
    declare_name(c, d); // known inside, so that recursion is called by its name
    struct context saved = check_decl_enter(c, AT_FUNCTION);
    declare_tparams(c, d);
    check_result_type(c, d);
    check_params(c, d, &d->params, false);
    c->routine = d;
    c->returns = d->type;
    if (d->body) {
        check_body(c, d->body);
        check_all_return(c, d);
    }
    check_decl_leave(c, saved);
}

static void check_decl_action(struct checker *c, struct decl *d) {
    d->parent = c->block;
    d->type = new_type(c, TY_ACTION);
    d->type->decl = d;
    declare_name(c, d);
    check_control_name(c, d);
    struct context saved = check_decl_enter(c, AT_ACTION);
    c->routine = d;
    c->returns = c->t_void;
    check_params(c, d, &d->params, false);
    check_body(c, d->body);
    check_decl_leave(c, saved);
}

// ------------------------------------------------------------------------------------------------
// Externs (section 7.2.10)

// Methods are told apart by number and names of parameters only.
static void check_method_unique(struct checker *c, const struct decl *ext, size_t i) {
    const struct decl *m = ext->members.v[i];
    for (size_t k = 0; k < i; k++) {
        const struct decl *other = ext->members.v[k];
        if (!has_name(other, m->name) || !same_parameters(other, m))
            continue;
        diag_error(c->d, m->name_at, "method '%s' is declared twice with the same parameters",
                   m->name);
        note_declared(c, other);
        return;
    }
}

static void check_method(struct checker *c, struct decl *ext, size_t i) {
    struct decl *m = ext->members.v[i];
    check_annotations(c, &m->annots);
    m->parent = ext;
    m->index = (unsigned)i;
    names_push(c);
    declare_tparams(c, m);
    check_result_type(c, m);
    check_params(c, m, &m->params, m->is_ctor);
    names_pop(c);
    if (m->is_abstract && has_name(m, ext->name))
        diag_error(c->d, m->name_at, "a constructor cannot be abstract");
    else if (!m->is_ctor && has_name(m, ext->name))
        diag_error(c->d, m->name_at, "a constructor has no return type");
    check_method_unique(c, ext, i);
}

static void check_extern(struct checker *c, struct decl *d) {
    declare_name(c, d); // its methods may mention it
    names_push(c);
    declare_tparams(c, d);
    d->type = decl_type(c, TY_EXTERN, d);
    for (size_t i = 0; i < d->members.n; i++)
        check_method(c, d, i);
    names_pop(c);
}

// ------------------------------------------------------------------------------------------------
// Block types, parsers and controls (sections 13, 14)

static void check_block_type(struct checker *c, struct decl *d) {
    names_push(c);
    declare_tparams(c, d);
    enum type_kind kind = d->kind == D_PACKAGE       ? TY_PACKAGE
                          : d->kind == D_PARSER_TYPE ? TY_PARSER
                                                     : TY_CONTROL;
    d->type = decl_type(c, kind, d);
    check_params(c, d, &d->params, d->kind == D_PACKAGE);
    names_pop(c);
    declare_name(c, d);
}

static void check_locals(struct checker *c, struct decl *d, enum place place) {
    c->place = place;
    for (size_t i = 0; i < d->locals.n; i++)
        if (d->locals.v[i])
            check_local_decl(c, d->locals.v[i]);
}

// The scope of parameters is opened and left open for the body.
static struct context enter_block(struct checker *c, struct decl *d, enum type_kind kind) {
    declare_name(c, d);
    struct context saved = check_decl_enter(c, AT_TOP);
    declare_tparams(c, d);
    d->type = decl_type(c, kind, d);
    check_params(c, d, &d->params, false);
    check_params(c, d, &d->ctor_params, true);
    c->block = d;
    c->routine = NULL;
    c->returns = NULL;
    names_push(c);
    return saved;
}

static void check_decl_leave_block(struct checker *c, struct context saved) {
    names_pop(c);
    check_decl_leave(c, saved);
}

static void check_parser(struct checker *c, struct decl *d) {
    struct context saved = enter_block(c, d, TY_PARSER);
    check_locals(c, d, AT_PARSER);
    check_parser_decl(c, d);
    check_decl_leave_block(c, saved);
}

static void check_decl_control(struct checker *c, struct decl *d) {
    struct context saved = enter_block(c, d, TY_CONTROL);
    check_locals(c, d, AT_CONTROL);
    c->place = AT_APPLY;
    c->returns = c->t_void;
    check_body(c, d->body);
    check_decl_leave_block(c, saved);
}

// ------------------------------------------------------------------------------------------------
// All of them

static void check_decl_misplaced(struct checker *c, const struct decl *d) {
    diag_error(c->d, d->name_at.line ? d->name_at : d->at, "'%s' cannot be declared here",
               d->name ? d->name : "this");
}

static void check_any(struct checker *c, struct decl *d) {
    check_annotations(c, &d->annots);
    switch (d->kind) {
    case D_CONST:
        check_const(c, d);
        break;
    case D_VAR:
        check_var(c, d);
        break;
    case D_INSTANCE:
        check_instance(c, d);
        break;
    case D_TYPEDEF:
    case D_NEWTYPE:
        check_typedef(c, d);
        break;
    case D_STRUCT:
    case D_HEADER:
    case D_UNION:
        check_struct(c, d);
        break;
    case D_ENUM:
        check_enum(c, d);
        break;
    case D_ERROR:
    case D_MATCH_KIND:
        check_error_block(c, d);
        break;
    case D_EXTERN:
        check_extern(c, d);
        break;
    case D_FUNCTION:
        check_function(c, d);
        break;
    case D_PARSER_TYPE:
    case D_CONTROL_TYPE:
    case D_PACKAGE:
        check_block_type(c, d);
        break;
    case D_PARSER:
        check_parser(c, d);
        break;
    case D_CONTROL:
        check_decl_control(c, d);
        break;
    case D_ACTION:
        check_decl_action(c, d);
        break;
    case D_TABLE:
        d->parent = c->block;
        check_table(c, d);
        break;
    case D_VALUE_SET:
        d->parent = c->block;
        check_value_set(c, d);
        break;
    case D_PARAM:
    case D_TYPEVAR:
    case D_FIELD:
    case D_ENUMERATOR:
    case D_METHOD:
    case D_STATE:
        check_decl_misplaced(c, d);
    }
}

void check_decl(struct checker *c, struct decl *d) {
    if (d->kind == D_TABLE)
        check_decl_misplaced(c, d);
    else
        check_any(c, d);
}

static bool may_be_local(const struct checker *c, const struct decl *d) {
    switch (d->kind) {
    case D_CONST:
    case D_VAR:
        return true;
    case D_INSTANCE:
        return c->place == AT_PARSER || c->place == AT_CONTROL || c->place == AT_STATE ||
               c->place == AT_APPLY || c->place == AT_METHOD;
    case D_ACTION:
    case D_TABLE:
        return c->place == AT_CONTROL;
    case D_VALUE_SET:
        return c->place == AT_PARSER;
    default:
        return false;
    }
}

void check_local_decl(struct checker *c, struct decl *d) {
    if (may_be_local(c, d))
        check_any(c, d);
    else
        check_decl_misplaced(c, d);
}
