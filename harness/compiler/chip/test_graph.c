// SPDX-License-Identifier: Apache-2.0
//
// Units and their dependencies, to the letter: harness/compiler/chip/graph has programs NAME.p4 and
// what the model makes of their ingress, NAME.expect. What the chip's own compiler makes of each
// was tried: its tables, their least stages, and what it refuses. Run from the top folder. With
// UPDATE_GOLDEN=1 in the environment the expectations are written anew; read the difference before
// it is committed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/chip/graph/graph.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/preprocess.h"
#include "compiler/syntax/syntax.h"
#include "harness/compiler/golden.h"

static struct ir_program *compile(struct arena *a, struct diag *d, const char *path) {
    static const char *const include_dirs[] = {"p4/include", "p4"};
    struct preprocess_options opt = {.include_dirs = include_dirs, .n_include_dirs = 2};
    size_t length = 0;
    char *text = preprocess_p4(a, d, path, &opt, &length);
    struct program *p = text ? parse_p4(a, d, path, text, length) : NULL;
    if (!p || diag_errors(d) > 0 || !check_program(a, d, p))
        return NULL;
    return lower_program(a, d, path, p);
}

static void graph_of(struct chip_report *r, struct chip_pipe *pipe, const struct ir_pipeline *ir) {
    pipe->ir = ir;
    for (unsigned g = 0; g < 2; g++) {
        pipe->gress[g].kind = (enum ir_gress_kind)g;
        pipe->gress[g].ir = &ir->gress[g];
    }
    chip_graph(r, pipe);
}

static struct chip_report report_of(struct arena *a, struct diag *d, const struct ir_program *p) {
    return (struct chip_report){.arena = a,
                                .diag = d,
                                .target = CHIP_TOFINO1,
                                .limits = chip_limits_of(CHIP_TOFINO1),
                                .program = p,
                                .fits = true};
}

// The caller frees it.
static char *outcome_of(const char *path) {
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    struct ir_program *p = compile(a, d, path);
    struct chip_report r = report_of(a, d, p);
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);
    assert_non_null(f);
    if (!p || diag_errors(d) > 0) {
        diag_print(d, f, false);
    } else {
        struct chip_pipe pipe = {0};
        graph_of(&r, &pipe, p->pipelines.v[0]);
        chip_graph_print(f, &pipe.gress[IR_INGRESS]);
    }
    for (size_t i = 0; i < r.violations.n; i++)
        fprintf(f, "%u:%u %s: %s\n    %s\n", r.violations.v[i].at.line, r.violations.v[i].at.col,
                r.violations.v[i].rule, r.violations.v[i].message,
                r.violations.v[i].suggestion ? r.violations.v[i].suggestion : "-");
    fclose(f);
    arena_free(a);
    return out;
}

static bool as_expected(const char *path) {
    char expect[512], *got = outcome_of(path);
    snprintf(expect, sizeof expect, "%.*s.expect", (int)strlen(path) - 3, path);
    bool same = golden_same(path, got, expect);
    free(got);
    return same;
}

static void test_graphs_are_as_expected(void **state) {
    (void)state;
    glob_t found;
    bool ok = true;
    assert_int_equal(glob("harness/compiler/chip/graph/*.p4", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        ok &= as_expected(found.gl_pathv[i]);
    globfree(&found);
    assert_true(ok);
}

// ---- rules that hold for every graph ------------------------------------------------------------

static void check_gress(const struct chip_gress *g) {
    size_t n = g->units.n;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(g->units.v[i].id, i);
        assert_false(g->excludes[i * n + i]);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(g->excludes[i * n + k], g->excludes[k * n + i]);
    }
    for (size_t i = 0; i < g->deps.n; i++) {
        const struct chip_dep *d = &g->deps.v[i];
        assert_true(d->from < d->to && d->to < n);
        assert_true(d->kind == CHIP_DEP_CONTROL || d->kind == CHIP_DEP_ANTI || d->bits.var);
        assert_true(d->kind == CHIP_DEP_CONTROL || !g->excludes[d->from * n + d->to]);
        assert_true(g->units.v[d->to].earliest >=
                    g->units.v[d->from].earliest + chip_dep_distance(d));
    }
    for (size_t i = 1; i < g->critical_path.n; i++)
        assert_true(g->critical_path.v[i - 1] < g->critical_path.v[i]);
}

static void test_every_graph_is_sound(void **state) {
    (void)state;
    static const char *const patterns[] = {"p4/*/*.p4", "harness/stf/*.p4", "harness/stf/t*/*.p4"};
    unsigned n = 0;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        glob_t found;
        if (glob(patterns[k], 0, NULL, &found) != 0)
            continue;
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct arena *a = arena_new();
            struct diag *d = diag_new(a);
            struct ir_program *p = compile(a, d, found.gl_pathv[i]);
            struct chip_report r = report_of(a, d, p);
            for (size_t x = 0; p && !diag_errors(d) && x < p->pipelines.n; x++) {
                struct chip_pipe pipe = {0};
                graph_of(&r, &pipe, p->pipelines.v[x]);
                check_gress(&pipe.gress[0]);
                check_gress(&pipe.gress[1]);
                n++;
            }
            arena_free(a);
        }
        globfree(&found);
    }
    assert_true(n > 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs_are_as_expected),
        cmocka_unit_test(test_every_graph_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
