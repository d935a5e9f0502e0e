// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/report_add.h"

#include <string.h>

struct chip_violation *chip_violate(struct chip_report *r, const char *rule, struct loc at,
                                    const char *message, const char *suggestion) {
    struct chip_violation v = {
        .rule = rule, .message = message, .suggestion = suggestion, .at = at};
    r->fits = false;
    for (size_t i = 0; i < r->violations.n; i++)
        if (strcmp(r->violations.v[i].rule, rule) == 0 && loc_same(r->violations.v[i].at, at)) {
            struct chip_violation *scratch = ARENA_NEW(r->arena, struct chip_violation);
            *scratch = v;
            return scratch;
        }
    VEC_PUSH(r->arena, &r->violations, v);
    return &r->violations.v[r->violations.n - 1];
}

void chip_exceed(struct chip_violation *v, uint64_t used, uint64_t limit) {
    v->used = used;
    v->limit = limit;
}

void chip_warn(struct chip_report *r, struct chip_violation v) {
    for (size_t i = 0; i < r->warnings.n; i++)
        if (strcmp(r->warnings.v[i].rule, v.rule) == 0 && loc_same(r->warnings.v[i].at, v.at))
            return;
    VEC_PUSH(r->arena, &r->warnings, v);
}

void chip_trust_known_error(struct chip_report *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->violations.n; i++) {
        struct chip_violation v = r->violations.v[i];
        if (!v.within_error) {
            r->violations.v[n++] = v;
            continue;
        }
        v.message = arena_printf(r->arena,
                                 "%s; an estimate: the chip's compiler, which tries more orders, "
                                 "mostly places such a program",
                                 v.message);
        chip_warn(r, v);
    }
    r->fits |= n == 0;
    r->violations.n = n;
}

void chip_note(struct chip_report *r, const char *note) {
    for (size_t i = 0; i < r->notes.n; i++)
        if (strcmp(r->notes.v[i], note) == 0)
            return;
    VEC_PUSH(r->arena, &r->notes, note);
}

const char *const chip_dep_names[] = {
    [CHIP_DEP_MATCH] = "match", [CHIP_DEP_ACTION] = "action",   [CHIP_DEP_OUTPUT] = "output",
    [CHIP_DEP_ANTI] = "anti",   [CHIP_DEP_CONTROL] = "control", [CHIP_DEP_CONFLICT] = "conflict",
};
