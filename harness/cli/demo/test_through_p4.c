// SPDX-License-Identifier: Apache-2.0
//
// `silken demo` with the real switches: the compiled programs sum the gradients, with and without
// loss, SwitchML in both packet sizes, ATP in one rack and several. Shorter than what a user runs,
// otherwise the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "cli/cli.h"
#include "cli/demo/demo.h"

// The demo forks and execs; a child keeps its signals and memory from the other tests.
static int demo(int argc, char **argv) {
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(cmd_demo(argc, argv));
    }
    assert_true(pid > 0);
    assert_int_equal(pid, waitpid(pid, &status, 0));
    return status;
}

#define DEMO(...)                                                                                  \
    demo(sizeof((char *[]){"demo", __VA_ARGS__}) / sizeof(char *),                                 \
         (char *[]){"demo", __VA_ARGS__, NULL})

static void test_lossless(void **state) {
    (void)state;
    assert_int_equal(0, DEMO("--images", "4000", "--steps", "40"));
}

static void test_loss(void **state) {
    (void)state;
    assert_int_equal(0, DEMO("--images", "4000", "--steps", "25", "--loss", "1%"));
}

static void test_small_packets(void **state) {
    (void)state;
    assert_int_equal(0, DEMO("--images", "4000", "--steps", "10", "--elements", "64", "--loss=2%",
                             "--workers", "3"));
}

static void test_atp(void **state) {
    (void)state;
    assert_int_equal(0, DEMO("--protocol", "atp", "--images", "4000", "--steps", "30"));
    assert_int_equal(0,
                     DEMO("--protocol", "atp", "--images", "4000", "--steps", "8", "--loss", "1%"));
}

static void test_atp_racks(void **state) {
    (void)state;
    assert_int_equal(
        0, DEMO("--protocol", "atp", "--racks", "2", "--images", "4000", "--steps", "20"));
    assert_int_equal(0,
                     DEMO("--protocol", "atp", "--racks", "3", "--workers", "5", "--servers", "2",
                          "--lanes", "2", "--loss", "1%", "--images", "4000", "--steps", "5"));
}

static void test_levels(void **state) {
    (void)state;
    assert_int_equal(0, DEMO("--racks", "2", "--loss", "1%", "--images", "4000", "--steps", "10"));
    assert_int_equal(0, DEMO("--levels", "3", "--racks", "4", "--workers", "5", "--loss", "1%",
                             "--elements", "64", "--images", "4000", "--steps", "5"));
}

// A job of each protocol, side by side on one switch.
static void test_both(void **state) {
    (void)state;
    assert_int_equal(0, DEMO("--protocol", "both", "--images", "4000", "--steps", "20"));
    assert_int_equal(0, DEMO("--protocol", "both", "--images", "4000", "--steps", "5", "--loss",
                             "1%", "--lanes", "2", "--workers", "3", "--servers", "2"));
}

// Refused by the switch itself: the job's tables are not there.
static void test_another_program(void **state) {
    (void)state;
    assert_int_equal(1 << 8, DEMO("--program", SILKEN_PROGRAM_DIR "/l2/l2.p4", "--images", "1000",
                                  "--steps", "2"));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lossless),      cmocka_unit_test(test_loss),
        cmocka_unit_test(test_small_packets), cmocka_unit_test(test_atp),
        cmocka_unit_test(test_atp_racks),     cmocka_unit_test(test_levels),
        cmocka_unit_test(test_both),          cmocka_unit_test(test_another_program),
    };

    if (argc > 1 && strcmp(argv[1], "run") == 0) {
        return cmd_run(argc - 1, argv + 1); // the demo has started this program as its switch
    }
    if (argc > 1 && strcmp(argv[1], CLI_COMPILE) == 0) {
        return cmd_compile(argc - 1, argv + 1); // and that switch, as its compiler
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
