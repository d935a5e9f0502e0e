// SPDX-License-Identifier: Apache-2.0
//
// `silken demo` as its user meets it: exit status, words, and nothing left behind. The switch is a
// stand-in that can misbehave (stand_in.h); the training is short, on the real data set.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/demo/demo.h"
#include "harness/cli/demo/stand_in.h"

#define MAX_ARGS 24

// A small program: its compilation is not what is tested here.
#define SHORT "--program " SILKEN_PROGRAM_DIR "/l2/l2.p4 --images 1000 --batch 100 --steps 8 "

struct run {
    int status; // as from waitpid
    char out[16384], err[16384];
};

static char folder[] = "/tmp/silken-test-demo-XXXXXX";

static void read_all(const char *path, char *buf, size_t size) {
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(buf, 1, size - 1, f) : 0;

    buf[n] = 0;
    if (f) {
        fclose(f);
    }
}

_Noreturn static void in_child(const char *mood, const char *out, const char *err, int argc,
                               char **argv) {
    setenv("STAND_IN", mood, 1);
    setenv("TMPDIR", folder, 1);
    if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr)) {
        _exit(99);
    }
    int status = cmd_demo(argc, argv);
    fflush(NULL);
    _exit(status);
}

static struct run *demo(const char *mood, const char *line) {
    static struct run r;
    char words[512], out[64], err[64], *argv[MAX_ARGS] = {"demo"};
    int argc = 1;
    pid_t pid;

    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) {
        argv[argc++] = w;
    }
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        in_child(mood, out, err, argc, argv);
    }
    assert_int_equal(pid, waitpid(pid, &r.status, 0));
    read_all(out, r.out, sizeof r.out);
    read_all(err, r.err, sizeof r.err);
    unlink(out);
    unlink(err);
    return &r;
}

static void expect(const struct run *r, int status, const char *words) {
    if (!WIFEXITED(r->status) || WEXITSTATUS(r->status) != status) {
        fail_msg("status 0x%x, not %d:\n%s%s", r->status, status, r->out, r->err);
    }
    if (!strstr(r->out, words) && !strstr(r->err, words)) {
        fail_msg("expected '%s' in:\n%s%s", words, r->out, r->err);
    }
    if (status != 0 && strstr(r->out, "\nverified")) {
        fail_msg("verified what is not:\n%s%s", r->out, r->err);
    }
    // All temporary folders are in this one, and gone.
    assert_int_equal(0, rmdir(folder));
    assert_int_equal(0, mkdir(folder, 0700));
}

static void test_verified(void **state) {
    struct run *r = demo("good", SHORT);

    (void)state;
    expect(r, 0, "\nverified\n");
    assert_string_equal("", r->err);
    assert_non_null(strstr(r->out, "accuracy through the switch"));
    assert_non_null(strstr(r->out, "accuracy of one process"));
    assert_non_null(strstr(r->out, "largest weight difference"));
    // 8 steps of 4 workers, and nothing unchecked: 8 * 4 * 50,890
    assert_non_null(strstr(r->out, "1,628,480, largest error"));
}

static void test_other_numbers_of_workers(void **state) {
    (void)state;
    expect(demo("good", SHORT "--workers 1 --quiet"), 0, "\nverified\n");
    expect(demo("good", SHORT "--workers 3 --elements 64 --quiet"), 0, "\nverified\n");
    expect(demo("good", SHORT "--workers 8 --quiet"), 0, "\nverified\n");
}

static void test_wrong_sum(void **state) {
    struct run *r = demo("lie", SHORT);

    (void)state;
    expect(r, 1, "of the sum is");
    assert_non_null(strstr(r->err, "they differ by"));
}

static void test_sum_without_the_last_worker(void **state) {
    (void)state;
    expect(demo("early", SHORT), 1, "worker-");
}

static void test_switch_does_not_start(void **state) {
    struct run *r = demo("fail", SHORT);

    (void)state;
    expect(r, 1, "switch ended with status 3");
    assert_non_null(strstr(r->err, STAND_IN_COMPLAINT));
}

static void test_switch_dies(void **state) {
    (void)state;
    expect(demo("die", SHORT), 1, "switch was killed by signal 11");
}

static void test_worker_dies(void **state) {
    (void)state;
    expect(demo("murder", SHORT), 1, "worker-3 was killed by signal 9");
}

static void test_time_is_up(void **state) {
    (void)state;
    expect(demo("deaf", SHORT "--limit 6"), 1, "not finished after 6 seconds");
}

static void test_interrupted(void **state) {
    struct run *r = demo("stop", SHORT);

    (void)state;
    expect(r, 130, "");
    assert_string_equal("", r->err);
}

static void test_unusable_options(void **state) {
    (void)state;
    expect(demo("good", "--workers 0"), 2, "silken demo: --workers takes a number");
    expect(demo("good", "--help"), 0, "usage: silken demo");
}

static void test_no_data_set(void **state) {
    (void)state;
    expect(demo("good", "--data /no/such/folder"), 1, "package dataset-fashion-mnist");
    expect(demo("good", SHORT "--batch 1001"), 1, "more than the 1000 training images");
}

static void test_program_that_does_not_compile(void **state) {
    (void)state;
    expect(demo("good", SHORT "--program /no/such.p4"), 1, "/no/such.p4");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_other_numbers_of_workers),
        cmocka_unit_test(test_wrong_sum),
        cmocka_unit_test(test_sum_without_the_last_worker),
        cmocka_unit_test(test_switch_does_not_start),
        cmocka_unit_test(test_switch_dies),
        cmocka_unit_test(test_worker_dies),
        cmocka_unit_test(test_time_is_up),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_unusable_options),
        cmocka_unit_test(test_no_data_set),
        cmocka_unit_test(test_program_that_does_not_compile),
    };

    if (argc >= 4 && strcmp(argv[1], "run") == 0) {
        stand_in_run(argv[3]); // the demo has started this program as its switch
    }
    if (!mkdtemp(folder)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
