// SPDX-License-Identifier: Apache-2.0
//
// definedness: which variables of the checked build have masks that say which of their bits are
// undefined.
#include "compiler/plan/plan.h"

#include <string.h>

static enum ir_intrinsic plan_definedness_intrinsic_of(const struct ir_gress *g,
                                                       const struct ir_var *v) {
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (g->intrinsic[i] == v)
            return (enum ir_intrinsic)i;
    return IRI_COUNT;
}

// What the architecture gives a value before the program runs (tna-facts 2.2, 2.8); lowering's own
// counters start at 0.
static bool starts_defined(const struct plan *plan, const struct ir_var *v) {
    switch (plan_definedness_intrinsic_of(plan->g, v)) {
    case IRI_GLOBAL_TSTAMP:
    case IRI_GLOBAL_VER:
    case IRI_PARSER_ERR:
    case IRI_DROP_CTL:
    case IRI_CONSUMED:
        return true;
    case IRI_MIRROR_TYPE:
        return plan->g->kind == IR_INGRESS;
    default:
        return v->padding || v->starts_zero || strstr(v->name, ".$") != NULL;
    }
}

static void mark_validity(const struct plan *plan, bool *is_validity) {
    for (size_t i = 0; i < plan->g->headers.n; i++)
        is_validity[plan->g->headers.v[i]->valid->id] = true;
    for (size_t i = 0; i < plan->g->vars.n; i++)
        if (plan->g->vars.v[i]->valid)
            is_validity[plan->g->vars.v[i]->valid->id] = true;
}

void plan_masks(struct plan *plan) {
    if (!plan->checked)
        return;
    bool *is_validity = ARENA_ARRAY(plan->a, bool, plan->g->vars.n + 1);
    mark_validity(plan, is_validity);
    for (size_t i = 0; i < plan->g->vars.n; i++) {
        const struct ir_var *v = plan->g->vars.v[i];
        struct plan_var *ev = &plan->vars[i];
        bool on_wire = v->header && (plan->headers[v->header->id].extracted ||
                                     plan->headers[v->header->id].emitted);
        ev->shared |= ev->touched;
        ev->masked = (ev->touched || on_wire) && !is_validity[i] && !starts_defined(plan, v);
    }
}
