// SPDX-License-Identifier: Apache-2.0
//
// Lowering, to the letter. harness/compiler/lower/golden has programs NAME.p4 with their pipeline
// IR NAME.ir; harness/compiler/lower/refused has programs that the language allows and Silken
// refuses, with its messages NAME.expect: the hardware's rules (a register once per pass) and what
// is not supported yet. Run from the top folder. With UPDATE_GOLDEN=1 in the environment the
// expectations are written anew; read the difference before it is committed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/preprocess.h"
#include "compiler/rules/regonce.h"
#include "compiler/syntax/syntax.h"
#include "harness/compiler/golden.h"

#define GOLDEN  "harness/compiler/lower/golden"
#define REFUSED "harness/compiler/lower/refused"

struct compilation {
    struct arena *a;
    struct diag *d;
    struct ir_program *ir; // null when refused
};

static struct compilation compile(const char *path) {
    struct compilation c = {.a = arena_new()};
    static const char *const include_dirs[] = {"p4/include"};
    struct preprocess_options opt = {.include_dirs = include_dirs, .n_include_dirs = 1};
    size_t length = 0;
    c.d = diag_new(c.a);
    char *text = preprocess_p4(c.a, c.d, path, &opt, &length);
    struct program *p = text ? parse_p4(c.a, c.d, path, text, length) : NULL;
    if (!p || diag_errors(c.d) > 0 || !check_program(c.a, c.d, p))
        return c;
    c.ir = lower_program(c.a, c.d, path, p);
    if (c.ir && !regonce_check(c.a, c.d, c.ir))
        c.ir = NULL;
    return c;
}

// What the compiler says, followed by the IR when there is one. The caller frees it.
static char *outcome_of(const char *path, bool *lowered) {
    struct compilation c = compile(path);
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);
    assert_non_null(f);
    diag_print(c.d, f, false);
    if (c.ir)
        ir_dump(f, c.a, c.ir);
    fclose(f);
    *lowered = c.ir != NULL;
    arena_free(c.a);
    return out;
}

static bool check_case(const char *folder, const char *name, const char *suffix, bool lowers) {
    char path[512], expect[512];
    bool lowered;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(expect, sizeof expect, "%s/%.*s%s", folder, (int)(strlen(name) - 3), name, suffix);
    char *got = outcome_of(path, &lowered);
    if (lowered != lowers)
        print_error("%s: %s\n", path, got);
    bool same = golden_same(path, got, expect) && lowered == lowers;
    free(got);
    return same;
}

static int is_p4(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 3 && strcmp(e->d_name + n - 3, ".p4") == 0;
}

static void check_folder(const char *folder, const char *suffix, bool lowers) {
    struct dirent **names;
    int n = scandir(folder, &names, is_p4, alphasort);
    assert_true(n > 0);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += !check_case(folder, names[i]->d_name, suffix, lowers);
        free(names[i]);
    }
    free(names);
    assert_int_equal(wrong, 0);
}

static void test_programs_become_the_ir_they_should(void **state) {
    (void)state;
    check_folder(GOLDEN, ".ir", true);
}

static void test_refused_programs_get_their_messages(void **state) {
    (void)state;
    check_folder(REFUSED, ".expect", false);
}

// The programs we ship, and their registers' discipline.
static void test_our_programs_lower(void **state) {
    (void)state;
    static const char *const programs[] = {"p4/l2/l2.p4", "p4/switchml/switchml.p4"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        bool lowered;
        char *out = outcome_of(programs[i], &lowered);
        if (!lowered)
            print_error("%s: %s", programs[i], out);
        assert_true(lowered);
        free(out);
    }
}

// Ids are dense, names unique, every header's fields cover it without gaps.
static void check_gress(const struct ir_gress *g) {
    for (size_t i = 0; i < g->vars.n; i++) {
        assert_int_equal(g->vars.v[i]->id, i);
        assert_true(g->vars.v[i]->width >= 1);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(g->vars.v[i]->name, g->vars.v[k]->name);
    }
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct ir_header *h = g->headers.v[i];
        unsigned at = 0;
        assert_int_equal(h->id, i);
        for (size_t k = 0; k < h->fields.n; k++) {
            assert_ptr_equal(h->fields.v[k]->header, h);
            assert_int_equal(h->fields.v[k]->bit_offset, at);
            at += h->fields.v[k]->width;
        }
        assert_int_equal(at, h->bits);
        assert_int_equal(at % 8, 0);
    }
    for (size_t i = 0; i < g->tables.n; i++) {
        assert_int_equal(g->tables.v[i]->id, i);
        assert_non_null(g->tables.v[i]->default_action);
    }
    for (size_t i = 0; i < g->states.n; i++)
        assert_int_equal(g->states.v[i]->id, i);
}

static void test_ir_is_well_formed(void **state) {
    (void)state;
    glob_t g;
    assert_int_equal(glob(GOLDEN "/*.p4", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct compilation c = compile(g.gl_pathv[i]);
        assert_non_null(c.ir);
        for (size_t k = 0; k < c.ir->pipelines.n; k++) {
            check_gress(&c.ir->pipelines.v[k]->gress[IR_INGRESS]);
            check_gress(&c.ir->pipelines.v[k]->gress[IR_EGRESS]);
        }
        arena_free(c.a);
    }
    globfree(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_become_the_ir_they_should),
        cmocka_unit_test(test_refused_programs_get_their_messages),
        cmocka_unit_test(test_our_programs_lower),
        cmocka_unit_test(test_ir_is_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
