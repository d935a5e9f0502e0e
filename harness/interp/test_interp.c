// SPDX-License-Identifier: Apache-2.0
//
// The interpreter against the programs of the tree: each is compiled as silken compiles it, random
// packets and entries go through both, and nothing may differ. Run from the top folder.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/interp/scenario.h"

static char folder[] = "/tmp/silken-test-interp-XXXXXX";

static void check_file(const char *path, unsigned scenarios, unsigned packets) {
    static const struct build_kind *const kinds[] = {&build_quick, &build_checked};
    const char *variant = getenv("VARIANT"); // what the builds do, the normal one of this test says
    struct subject s;
    enum subject_result result =
        subject_make_file(&s, path, kinds, variant && *variant ? 1 : 2, folder, stderr);
    if (result != SUBJECT_OK)
        fail_msg("%s does not compile", path);
    for (unsigned i = 0; i < scenarios; i++) {
        struct arena *a = arena_new();
        struct random rnd = {i + 1};
        struct scenario sc;
        scenario_make(&sc, a, s.ir, &rnd, packets);
        if (!scenario_run(&sc, &s, stderr)) {
            scenario_write(stderr, &sc);
            fail_msg("%s: scenario %u differs", path, i);
        }
        arena_free(a);
    }
    subject_free(&s);
}

static void check_files(const char *pattern) {
    glob_t g;
    assert_int_equal(glob(pattern, 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++)
        check_file(g.gl_pathv[i], 2, 40);
    globfree(&g);
}

static void stf_programs(void **state) {
    (void)state;
    check_files("harness/stf/*.p4");
    check_files("harness/stf/*/*.p4");
}

static void language_programs(void **state) {
    (void)state;
    check_files("harness/stf/lang/*.p4");
}

static void golden_programs(void **state) {
    (void)state;
    check_files("harness/compiler/lower/golden/*.p4");
}

static void switchml(void **state) {
    (void)state;
    check_file("p4/switchml/switchml.p4", 2, 40);
    check_file("p4/switchml/with_roce.p4", 2, 40);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}
static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stf_programs),
        cmocka_unit_test(language_programs),
        cmocka_unit_test(golden_programs),
        cmocka_unit_test(switchml),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
