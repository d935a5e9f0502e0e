// SPDX-License-Identifier: Apache-2.0
//
// Wrong programs and what the compiler says about them, to the letter:
// harness/compiler/check/errors has NAME.p4 and NAME.expect. Run from the top folder. With
// UPDATE_GOLDEN=1 in the environment the expectations are written anew; read the difference before
// it is committed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/syntax/preprocess.h"
#include "compiler/syntax/syntax.h"
#include "harness/compiler/golden.h"

#define FOLDER "harness/compiler/check/errors"

// Everything the compiler prints about 'path'. The caller frees it.
static char *messages_of(const char *path) {
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    static const char *const include_dirs[] = {"p4/include"};
    struct preprocess_options opt = {.include_dirs = include_dirs, .n_include_dirs = 1};
    size_t length = 0;
    char *text = preprocess_p4(a, d, path, &opt, &length);
    struct program *p = text ? parse_p4(a, d, path, text, length) : NULL;
    if (p && diag_errors(d) == 0)
        check_program(a, d, p);
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);
    assert_non_null(f);
    diag_print(d, f, false);
    fclose(f);
    arena_free(a);
    return out;
}

static bool check_case(const char *name) {
    char path[512], expect[512];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    snprintf(expect, sizeof expect, FOLDER "/%.*s.expect", (int)(strlen(name) - 3), name);
    char *got = messages_of(path);
    bool same = golden_same(path, got, expect);
    free(got);
    return same;
}

static int is_p4(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 3 && strcmp(e->d_name + n - 3, ".p4") == 0;
}

static void test_messages_are_as_expected(void **state) {
    (void)state;
    struct dirent **names;
    int n = scandir(FOLDER, &names, is_p4, alphasort);
    assert_true(n > 0);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += !check_case(names[i]->d_name);
        free(names[i]);
    }
    free(names);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages_are_as_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
