// SPDX-License-Identifier: Apache-2.0
//
// The checked build tells what the interpreter tells that runs the instrumented program
// (compiler/instrument/instrument.h): for random programs and packets, the same events and
// violations of each packet in the same order, with their names, places, values and bytes, and the
// same packets as the program that is not instrumented. Masks and places of reports are also held
// against what the interpreter finds by itself (compare.c). Run from the top folder. SEEDS=N: so
// many programs (default 4), from FIRST on (default 1).
//
// What each kind of report is for, and whose name it has, is harness/compiler/print/test_checked.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/instrument/instrument.h"
#include "harness/interp/generate.h"
#include "harness/interp/scenario.h"

static char folder[] = "/tmp/silken-instrumented-XXXXXX";

// Number and first one, from the environment.
static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static enum subject_result compare(uint64_t seed) {
    static const struct build_kind *const kinds[] = {&build_checked};
    size_t length;
    char *program = generate_program(seed, &length);
    struct subject s;
    struct random rnd = {seed};
    const enum subject_result result = subject_make(&s, program, length, kinds, 1, folder, stderr);
    assert_int_not_equal(result, SUBJECT_BROKEN);
    for (unsigned i = 0; result == SUBJECT_OK && i < 3; i++) {
        struct scenario sc;
        scenario_make(&sc, s.a, s.ir, &rnd, 40);
        if (!scenario_run(&sc, &s, stderr))
            fail_msg("seed %llu", (unsigned long long)seed);
    }
    subject_free(&s);
    free(program);
    return result;
}

static char *dump(struct arena *a, const struct ir_program *p) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    ir_dump(f, a, p);
    fclose(f);
    return text;
}

// Other builds are made of the program that was instrumented.
static void original_stays(void **state) {
    (void)state;
    size_t length;
    char *program = generate_program(2, &length);
    struct subject s;
    assert_int_equal(subject_make(&s, program, length, NULL, 0, folder, stderr), SUBJECT_OK);
    char *before = dump(s.a, s.ir);
    const struct instrument_options checked = {.checked = true}, fast = {.checked = false};
    char *instrumented = dump(s.a, instrument_program(s.a, s.ir, &checked));
    char *after = dump(s.a, s.ir);
    assert_string_equal(after, before);
    assert_non_null(strstr(instrumented, ".$defined = "));
    assert_non_null(strstr(instrumented, "report if "));
    assert_non_null(strstr(instrumented, "trace EXTRACT "));
    assert_null(strstr(before, "trace "));
    assert_null(strstr(before, "$defined"));
    assert_ptr_equal(instrument_program(s.a, s.ir, &fast), s.ir);
    free(before);
    free(instrumented);
    free(after);
    free(program);
    subject_free(&s);
}

// Of the kinds of events that programs have. RESUBMIT and CHECKSUM may be missing in few of them.
#define KINDS_OF_EVENTS 17u
static unsigned heard_of(void) {
    unsigned kinds = 0;
    for (unsigned i = 0; i < SK_EV_COUNT; i++) {
        if (scenario_events[i])
            printf("%u events of kind %u\n", scenario_events[i], i);
        kinds += scenario_events[i] != 0;
    }
    return kinds;
}

static void random_programs(void **state) {
    (void)state;
    const uint64_t first = setting("FIRST", 1), n = setting("SEEDS", 4);
    unsigned compared = 0, kinds = 0;
    for (uint64_t seed = first; seed < first + n; seed++)
        compared += compare(seed) == SUBJECT_OK;
    for (unsigned i = 0; i < SK_VIOLATION_COUNT; i++) {
        if (scenario_violations[i])
            printf("%u of kind %u\n", scenario_violations[i], i);
        kinds += scenario_violations[i] != 0;
    }
    assert_true(compared * 10 >= n * 9);
    assert_true(kinds >= 4);
    assert_true(heard_of() >= KINDS_OF_EVENTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(original_stays),
                                       cmocka_unit_test(random_programs)};
    if (!mkdtemp(folder) || !subject_prepare(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
