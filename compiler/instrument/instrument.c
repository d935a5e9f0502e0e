// SPDX-License-Identifier: Apache-2.0
#include "compiler/instrument/instrument_impl.h"

#include <string.h>

#include "compiler/ir/verify.h"

enum builds { CHECKED = 1, OTHERS = 2, ALL = CHECKED | OTHERS };

// In the order in which they run. A pass gives a pipeline with its statements, or null if there is
// nothing for it to insert. One that is optional may be left out.
static const struct pass {
    const char *name;
    enum builds builds;
    bool optional;
    struct ir_pipeline *(*run)(struct arena *a, const struct ir_program *program,
                               const struct ir_pipeline *pl, const struct instrument_options *opt);
} passes[] = {
    {"flow_record", OTHERS, true, instrument_notes},
    {"checked", CHECKED, false, instrument_checked},
    {"trace", CHECKED, false, instrument_trace},
    // last: the checks and the trace are about the program's own statements
    {"guard", ALL, false, instrument_guard},
};
#define N_PASSES (sizeof passes / sizeof *passes)

bool instrument_is_optional(const char *pass) {
    for (size_t i = 0; i < N_PASSES; i++)
        if (strcmp(passes[i].name, pass) == 0)
            return passes[i].optional;
    return false;
}

static struct ir_pipeline *instrument_run(struct arena *a, const struct ir_program *p,
                                          struct ir_pipeline *pl,
                                          const struct instrument_options *opt) {
    for (size_t i = 0; i < N_PASSES; i++) {
        const bool without = opt->without && strcmp(opt->without, passes[i].name) == 0;
        if (!(passes[i].builds & (opt->checked ? CHECKED : OTHERS)) || without)
            continue;
        struct ir_pipeline *const with = passes[i].run(a, p, pl, opt);
        for (unsigned k = 0; with && k < 2; k++)
            ir_verify_after(a, &with->gress[k], passes[i].name);
        pl = with ? with : pl;
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
        copy->pipelines.v[i] = instrument_run(a, p, p->pipelines.v[i], opt);
        changed |= copy->pipelines.v[i] != p->pipelines.v[i];
    }
    return changed ? copy : p;
}
