// SPDX-License-Identifier: Apache-2.0
#include "compiler/instrument/instrument_impl.h"

#include "compiler/ir/verify.h"

// In the order in which they run. A pass gives a pipeline with its statements.
static const struct pass {
    const char *name;
    bool checked; // of the checked build; else of the others
    struct ir_pipeline *(*run)(struct arena *a, const struct ir_pipeline *pl);
} passes[] = {
    {"checked", true, instrument_checked},
};
#define N_PASSES (sizeof passes / sizeof *passes)

static struct ir_pipeline *instrument_run_passes(struct arena *a, struct ir_pipeline *pl,
                                                 const struct instrument_options *opt) {
    for (size_t i = 0; i < N_PASSES; i++) {
        if (passes[i].checked != opt->checked)
            continue;
        pl = passes[i].run(a, pl);
        for (unsigned k = 0; k < 2; k++)
            ir_verify_after(a, &pl->gress[k], passes[i].name);
    }
    return pl;
}

const struct ir_program *instrument_program(struct arena *a, const struct ir_program *p,
                                            const struct instrument_options *opt) {
    const size_t n = p->pipelines.n;
    bool changed = false;
    struct ir_program *const copy = ARENA_NEW(a, struct ir_program);
    *copy = *p;
    copy->pipelines.v = ARENA_ARRAY(a, struct ir_pipeline *, n + 1);
    for (size_t i = 0; i < n; i++) {
        copy->pipelines.v[i] = instrument_run_passes(a, p->pipelines.v[i], opt);
        changed |= copy->pipelines.v[i] != p->pipelines.v[i];
    }
    return changed ? copy : p;
}
