// SPDX-License-Identifier: Apache-2.0
//
// The differential fuzzer: as a test for a bounded time, and as a program:
//
//     test_differential                          the test: fixed seeds, about half a minute
//     test_differential --seconds N [--seed S]   from seed S (default: the time) on, for N seconds
//                     [--reduce R]               seconds for making a finding smaller (120)
//     test_differential --only S                 one seed
//                     [--lanes N]                every Nth is of lanes (4; 0: none)
//     test_differential [--lanes N] --print S    its program
//     test_differential --replay FOLDER          a finding again: program.p4 and scenario.txt in it
//
// Run from the top folder. Findings go to $BUILD/differential.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/interp/differential.h"
#include "harness/interp/generate.h"

static char folder[] = "/tmp/silken-differential-XXXXXX";
static char keep[256];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct tally {
    unsigned of[VERDICT_CRASHED + 1], programs;
};

static void say(const struct tally *t, double seconds) {
    printf("%u programs in %.0f s (%.2f per second):", t->programs, seconds,
           t->programs / (seconds > 0 ? seconds : 1));
    for (unsigned v = 0; v <= VERDICT_CRASHED; v++)
        printf(" %u %s", t->of[v], verdict_names[v]);
    printf("\n");
    fflush(stdout);
}

static unsigned failures(const struct tally *t) {
    return t->of[VERDICT_DIFFERENT] + t->of[VERDICT_BROKEN] + t->of[VERDICT_CRASHED];
}

// Every 16th program is compiled in all ways; of the others every fourth as the checked build.
// 'lanes': of how many programs one is of lanes; 0: none.
static struct tally run(uint64_t seed, double seconds, unsigned most, unsigned reduce,
                        unsigned lanes) {
    struct tally t = {0};
    double start = now(), said = start;
    while (now() - start < seconds && t.programs < most) {
        bool of_lanes = lanes && seed % lanes == 0;
        struct differential_options opt = {.folder = folder,
                                           .keep = keep,
                                           .scenarios = 3,
                                           .packets = of_lanes ? 200 : 60,
                                           .full = seed % 16 == 0,
                                           .lanes = of_lanes,
                                           .checked = seed % 4 == 1,
                                           .reduce_seconds = reduce};
        t.of[differential_seed(seed++, &opt, stdout)]++;
        t.programs++;
        if (now() - said > 60) {
            said = now();
            say(&t, said - start);
        }
    }
    say(&t, now() - start);
    return t;
}

static void random_programs(void **state) {
    (void)state;
    const char *variant = getenv("VARIANT"); // the interpreter under ASan is checked in less time
    struct tally t = run(1, variant && *variant ? 10 : 30, 1000, 0, 0);
    assert_int_equal(failures(&t), 0);
    // the generator means to write programs that are accepted
    assert_true(t.of[VERDICT_SAME] * 10 >= t.programs * 9);
    assert_true(t.programs > 0);
}

static void random_lanes(void **state) {
    (void)state;
    const char *variant = getenv("VARIANT");
    struct tally t = run(1, variant && *variant ? 10 : 30, 1000, 0, 1);
    assert_int_equal(failures(&t), 0);
    assert_true(t.of[VERDICT_SAME] * 10 >= t.programs * 9);
    assert_true(t.programs > 0);
}

// What once differed: harness/interp/findings has a folder for each.
static void earlier_findings(void **state) {
    (void)state;
    struct differential_options opt = {.folder = folder, .full = true};
    glob_t g;
    assert_int_equal(glob("harness/interp/findings/*", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++)
        if (differential_replay(g.gl_pathv[i], &opt, stderr) != VERDICT_SAME)
            fail_msg("%s differs again", g.gl_pathv[i]);
    globfree(&g);
}

static int as_program(int argc, char **argv) {
    uint64_t seed = (uint64_t)time(NULL) * 1000;
    double seconds = 0;
    unsigned most = UINT32_MAX, reduce = 120, lanes = 4;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) {
            seconds = atof(argv[i + 1]);
        } else if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--reduce") == 0) {
            reduce = (unsigned)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--only") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
            seconds = 1;
            most = 1;
        } else if (strcmp(argv[i], "--lanes") == 0) {
            lanes = (unsigned)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--print") == 0) {
            size_t length = 0, n = strtoull(argv[i + 1], NULL, 10);
            char *text =
                (lanes && n % lanes == 0 ? generate_lanes_program : generate_program)(n, &length);
            fputs(text, stdout);
            free(text);
            return 0;
        } else if (strcmp(argv[i], "--replay") == 0) {
            struct differential_options opt = {.folder = folder, .full = true};
            enum verdict v = differential_replay(argv[i + 1], &opt, stdout);
            printf("%s\n", verdict_names[v]);
            return v != VERDICT_SAME;
        }
    }
    printf("from seed %llu\n", (unsigned long long)seed);
    struct tally t = run(seed, seconds, most, reduce, lanes);
    return failures(&t) != 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(earlier_findings),
                                       cmocka_unit_test(random_programs),
                                       cmocka_unit_test(random_lanes)};
    const char *build = getenv("BUILD");
    if (!mkdtemp(folder))
        return 1;
    snprintf(keep, sizeof keep, "%s/differential", build && *build ? build : "build");
    mkdir(keep, 0700);
    int status = argc > 1 ? as_program(argc, argv) : cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return status;
}
