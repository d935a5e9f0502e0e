// SPDX-License-Identifier: Apache-2.0
//
// deferred_stores: fields on the wire whose new values are held back until the headers are written.
//
// A store into a header that the deparser is about to move costs more than it looks: the move loads
// sixteen bytes of which one has just been stored, and such a load waits until the store is in the
// cache. So does a checksum over whole words. A field that only the control and the deparser write,
// one by one, is therefore kept in a variable from its first assignment on ("held"), with a flag
// beside it that says so, and stored when its header has its place. On a way through the parser
// (parse_paths.c) the C compiler knows the flags nearly everywhere. A packet that is dropped is not
// written to at all, and what asks for the packet as it was received finds it so.
//
// Where there are no such ways, a flag is a test for each field. Then only those stay held whose
// header could not stay in the packet otherwise (in_place.c), which is copied twice.
//
// Stores and ways ask for each other: a header whose stores wait stays in the packet, and a way
// knows where such headers are. So there are two passes, with that of the ways between them: the
// first one defers all stores that may wait, ways are then found for that, and the second one,
// where none were found, takes back those not worth a test.
#include "compiler/ir/effects.h"
#include "compiler/plan/lanes.h"
#include "compiler/plan/plan.h"

static void plan_stores_forget(bool *held, const struct ir_var *v) {
    if (v)
        held[v->id] = false;
}

// Fields in a loop over lanes are arrays.
static void forget_lanes(bool *held, const struct plan_lanes *l) {
    for (size_t i = 0; l && i < l->vars.n; i++)
        for (unsigned k = 0; k < (l->vars.v[i].varies ? l->count : 1); k++)
            plan_stores_forget(held, l->vars.v[i].of[k]);
}

static void forget_all_lanes(const struct plan *plan, bool *held) {
    for (size_t i = 0; i < plan->runs.n; i++)
        forget_lanes(held, plan->runs.v[i].lanes);
    for (size_t i = 0; i < plan->g->tables.n; i++)
        for (size_t k = 0; plan->tables[i].loops && k <= plan->g->tables.v[i]->entries.n; k++)
            forget_lanes(held, plan->tables[i].loops[k]);
}

void plan_deferred_stores(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    struct ir_effects parser = ir_effects_none(plan->a, g), rest = ir_effects_none(plan->a, g);
    bool *held = ARENA_ARRAY(plan->a, bool, g->vars.n + 1);
    ir_effects_add_parser(&parser);
    ir_effects_add_rest(&rest);
    for (size_t i = 0; i < g->vars.n; i++) {
        const struct ir_var *v = g->vars.v[i];
        held[i] = rest.assigned[i] && !parser.assigned[i] && v->header && plan->vars[i].on_wire &&
                  v->width <= 64;
    }
    forget_all_lanes(plan, held);
    for (size_t i = 0; i < g->vars.n; i++)
        plan->vars[i].deferred = held[i];
    plan_in_place(plan);
}

// A header that is extracted, and whose stores into the packet's own bytes are not allowed.
static bool stores_need_deferral(const struct plan *plan, const struct ir_header *h) {
    return plan->headers[h->id].extracted && !plan_home_of(plan, h)->in_place;
}

void plan_settle_stores(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    bool *held = ARENA_ARRAY(plan->a, bool, g->vars.n + 1);
    if (plan->paths)
        return;
    for (size_t i = 0; i < g->vars.n; i++) {
        held[i] = plan->vars[i].deferred;
        plan->vars[i].deferred = false;
    }
    plan_in_place(plan); // as it is where no store waits
    for (size_t i = 0; i < g->vars.n; i++)
        plan->vars[i].deferred = held[i] && stores_need_deferral(plan, g->vars.v[i]->header);
    plan_in_place(plan);
}
