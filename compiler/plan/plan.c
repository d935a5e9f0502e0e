// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/plan.h"

#include <string.h>

#include "compiler/ir/verify.h"

// What passes give to each other.
enum {
    IN_PLACE = 1 << 0,  // which headers stay in the packet
    BRANCHES = 1 << 1,  // which tables' entries are branches
    FUSION = 1 << 2,    // which tables are matched once
    LANES = 1 << 3,     // which groups and statements are loops; the banks of these loops
    SUNK = 1 << 4,      // which loops run last
    BANKS = 1 << 5,     // the banks of all registers
    ROWS = 1 << 6,      // registers side by side
    SPLIT = 1 << 7,     // the continuations of the control
    VARIABLES = 1 << 8, // where variables live; which headers are extracted and emitted
    MAY_WAIT = 1 << 9,  // which stores may wait; headers in place are what they are if those do
    PATHS = 1 << 10,    // paths through the parser
    STORES = 1 << 11,   // which stores wait; headers in place are final
    SEAM = 1 << 12,     // where a packet is split; which fields are given
    PREFETCH = 1 << 13,
    CELLS = 1 << 14,  // cells of later passes that are fetched
    FILLED = 1 << 15, // which tables are looked up together if they are filled as a whole
};

// In the order in which they run. One that is optional makes code faster and nothing else, and may
// be left out: those after it find nothing of what it would have found.
static const struct pass {
    const char *name;
    unsigned needs, gives;
    bool optional;
    void (*run)(struct plan *plan);
} passes[] = {
    {"in_place", 0, IN_PLACE, false, plan_in_place},
    {"branches", 0, BRANCHES, false, plan_branches},
    {"fusion", BRANCHES, FUSION, true, plan_fusion},
    {"lanes", IN_PLACE | FUSION, LANES, true, plan_lanes},
    {"sunk_loops", FUSION | LANES, SUNK | IN_PLACE, true, plan_sunk_loops},
    {"banks", LANES, BANKS, true, plan_banks},
    {"rows", BANKS, ROWS, true, plan_rows},
    {"specialise", FUSION | LANES, SPLIT, true, plan_specialise},
    {"variables", IN_PLACE | SUNK | SPLIT, VARIABLES, false, plan_variables},
    {"deferred_stores", LANES | VARIABLES, MAY_WAIT | IN_PLACE, true, plan_deferred_stores},
    {"parse_paths", LANES | MAY_WAIT, PATHS, true, plan_parse_paths},
    {"settle_stores", MAY_WAIT | PATHS, STORES | IN_PLACE, false, plan_settle_stores},
    {"split_packet", STORES, SEAM | VARIABLES, false, plan_split_packet},
    {"prefetch", BRANCHES | STORES | SEAM, PREFETCH, true, plan_prefetch},
    {"cells_ahead", ROWS | STORES | SEAM, CELLS, true, plan_cells_ahead},
    {"filled_runs", LANES | SPLIT, FILLED, true, plan_filled_runs},
};
#define N_PASSES (sizeof passes / sizeof *passes)

bool plan_is_optional(const char *pass) {
    for (size_t i = 0; i < N_PASSES; i++)
        if (strcmp(passes[i].name, pass) == 0)
            return passes[i].optional;
    return false;
}

static void run_passes(struct plan *plan) {
    for (size_t i = 0; i < N_PASSES; i++) {
        const struct pass *p = &passes[i];
        if ((plan->done & p->needs) != p->needs)
            DIAG_BUG("pass '%s' runs before what it needs", p->name);
        if (!plan->without || strcmp(plan->without, p->name) != 0)
            p->run(plan);
        plan->done |= p->gives;
        const struct ir_gress specialised = plan_specialised(plan);
        ir_verify_after(plan->a, &specialised, p->name);
    }
}

void plan_pipeline(struct arena *a, struct diag *d, const struct ir_program *program,
                   const struct ir_pipeline *pipeline, const struct plan_options *opt,
                   struct plan plans[2]) {
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *g = &pipeline->gress[k];
        plans[k] = (struct plan){
            .a = a,
            .d = d,
            .program = program,
            .pipeline = pipeline,
            .g = g,
            .control = g->control,
            .checked = opt->checked,
            .vectorise = opt->vectorise,
            .without = opt->without,
            .index = ARENA_ARRAY(a, const struct ir_expr *, g->registers.n + 1),
            .registers = ARENA_ARRAY(a, struct plan_register, g->registers.n + 1),
            .places = ARENA_ARRAY(a, struct plan_place, g->vars.n + 1),
            .vars = ARENA_ARRAY(a, struct plan_var, g->vars.n + 1),
            .headers = ARENA_ARRAY(a, struct plan_header, g->headers.n + 1),
        };
        run_passes(&plans[k]);
    }
}
