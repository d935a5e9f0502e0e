// SPDX-License-Identifier: Apache-2.0
//
// Register actions and what reaches a register twice, to the letter: harness/compiler/chip/salu has
// programs NAME.p4 and what the model says of their registers, NAME.expect. A program's actions are
// pairs, one just inside a limit and one just outside; what the chip's own compiler says of each
// was tried. Run from the top folder. With UPDATE_GOLDEN=1 in the environment the expectations are
// written anew; read the difference before it is committed.
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
#include "compiler/chip/salu/salu.h"
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

static void print_place(FILE *f, struct loc at) {
    fprintf(f, "%u:%u", at.line, at.col);
}

static void print_violation(FILE *f, const struct chip_violation *v) {
    print_place(f, v->at);
    fprintf(f, " %s: %s", v->rule, v->message);
    if (v->limit || v->used)
        fprintf(f, " [%llu of %llu]", (unsigned long long)v->used, (unsigned long long)v->limit);
    fprintf(f, "\n");
    if (v->also.line) {
        fprintf(f, "    ");
        print_place(f, v->also);
        fprintf(f, " %s\n", v->also_text);
    }
    for (size_t i = 0; i < v->path.n; i++) {
        fprintf(f, "    > ");
        print_place(f, v->path.v[i].at);
        fprintf(f, " %s\n", v->path.v[i].text);
    }
    if (v->suggestion)
        fprintf(f, "    %s\n", v->suggestion);
}

// What the phase says, or the compiler's messages. The caller frees it.
static char *outcome_of(const char *path, enum chip_target target) {
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    struct ir_program *p = compile(a, d, path);
    struct chip_report r = {.arena = a, .diag = d, .target = target, .program = p, .fits = true};
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);
    assert_non_null(f);
    r.limits = chip_limits_of(target);
    if (!p || diag_errors(d) > 0)
        diag_print(d, f, false);
    for (size_t i = 0; p && i < p->pipelines.n; i++) {
        struct chip_pipe pipe = {.ir = p->pipelines.v[i]};
        for (unsigned g = 0; g < 2; g++) {
            pipe.gress[g].kind = (enum ir_gress_kind)g;
            pipe.gress[g].ir = &p->pipelines.v[i]->gress[g];
        }
        chip_graph(&r, &pipe);
        r.violations.n = 0;
        chip_salu(&r, &pipe);
        for (size_t k = 0; k < r.violations.n; k++)
            print_violation(f, &r.violations.v[k]);
    }
    fclose(f);
    arena_free(a);
    return out;
}

static bool as_expected(const char *path) {
    char expect[512], *got = outcome_of(path, strstr(path, "_2.p4") ? CHIP_TOFINO2 : CHIP_TOFINO1);
    snprintf(expect, sizeof expect, "%.*s.expect", (int)strlen(path) - 3, path);
    bool same = golden_same(path, got, expect);
    free(got);
    return same;
}

static void test_programs_get_their_violations(void **state) {
    (void)state;
    glob_t g;
    unsigned failed = 0;
    assert_int_equal(glob("harness/compiler/chip/salu/*.p4", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++)
        failed += !as_expected(g.gl_pathv[i]);
    globfree(&g);
    assert_int_equal(failed, 0);
}

// The programs that come with Silken run on the chip.
static void test_our_programs_fit(void **state) {
    (void)state;
    static const char *const paths[] = {"p4/switchml/switchml.p4", "p4/atp/atp.p4", "p4/ina/ina.p4",
                                        "p4/l2/l2.p4"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *got = outcome_of(paths[i], CHIP_TOFINO1);
        assert_string_equal(got, "");
        free(got);
    }
}

// Whatever the bodies look like: every program of the other rooms, for both chips, whether it fits
// or not.
static void test_any_program_is_answered(void **state) {
    (void)state;
    static const char *const patterns[] = {"harness/stf/*.p4", "harness/stf/*/*.p4",
                                           "harness/compiler/lower/golden/*.p4",
                                           "harness/compiler/lower/refused/*.p4"};
    unsigned n = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t g;
        assert_int_equal(glob(patterns[i], 0, NULL, &g), 0);
        for (size_t k = 0; k < g.gl_pathc; k++, n++) {
            free(outcome_of(g.gl_pathv[k], CHIP_TOFINO1));
            free(outcome_of(g.gl_pathv[k], CHIP_TOFINO2));
        }
        globfree(&g);
    }
    assert_true(n > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_get_their_violations),
        cmocka_unit_test(test_our_programs_fit),
        cmocka_unit_test(test_any_program_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
