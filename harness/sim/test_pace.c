// SPDX-License-Identifier: Apache-2.0
//
// The computing of a worker (sim/pace.h): when gradients come out, and what waits for parameters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/events.h"
#include "sim/pace.h"

// 1 is the front layer. An iteration computes for 12 us: 1 and 3 forward, 6 and 2 backward.
static struct scn_layer layers[2] = {{.bytes = 4, .share = 0.75}, {.bytes = 4, .share = 0.25}};

static struct scn_work work_of(bool by_layer) {
    return (struct scn_work){.kind = SCN_TRAINING,
                             .layers = layers,
                             .n_layers = 2,
                             .compute_ns = 12000,
                             .forward = 1,
                             .backward = 2,
                             .whole = 3,
                             .by_layer = by_layer};
}

// What happens next, and when; 'now' goes on until it does.
static enum pace_event next(struct sim_pace *p, uint64_t *now, size_t *layer) {
    for (;;) {
        const enum pace_event e = pace_step(p, *now, layer);
        if (e != PACE_NONE || pace_deadline(p) == SIM_NEVER)
            return e;
        *now = pace_deadline(p);
    }
}

static void expect(struct sim_pace *p, uint64_t *now, enum pace_event what, size_t layer,
                   uint64_t when) {
    size_t which = 9;
    assert_int_equal(next(p, now, &which), what);
    assert_int_equal(*now, when);
    if (what == PACE_GRADIENT)
        assert_int_equal(which, layer);
}

static void test_gradients_come_out_last_layer_first(void **state) {
    const struct scn_work work = work_of(false);
    struct sim_pace p;
    uint64_t now = 100;
    (void)state;
    pace_init(&p, &work, 1);
    expect(&p, &now, PACE_BEGINS, 0, 100);
    expect(&p, &now, PACE_GRADIENT, 0, 100 + 4000 + 6000);
    expect(&p, &now, PACE_GRADIENT, 1, 100 + 12000);
    expect(&p, &now, PACE_NONE, 0, 100 + 12000);
    assert_false(pace_done(&p));
    pace_parameters(&p, 1);
    pace_parameters(&p, 0);
    assert_true(pace_done(&p));
    pace_free(&p);
}

static void test_a_forward_pass_of_its_own_length(void **state) {
    struct scn_work work = work_of(false);
    struct sim_pace p;
    uint64_t now = 0;
    (void)state;
    work.forward = 0;
    work.backward = work.whole = 12000;
    pace_init(&p, &work, 1);
    expect(&p, &now, PACE_BEGINS, 0, 0);
    expect(&p, &now, PACE_GRADIENT, 0, 9000);
    expect(&p, &now, PACE_GRADIENT, 1, 12000);
    pace_free(&p);
}

static void test_all_wait_for_all(void **state) {
    const struct scn_work work = work_of(false);
    struct sim_pace p;
    uint64_t now = 0;
    (void)state;
    pace_init(&p, &work, 2);
    expect(&p, &now, PACE_BEGINS, 0, 0);
    expect(&p, &now, PACE_GRADIENT, 0, 10000);
    expect(&p, &now, PACE_GRADIENT, 1, 12000);
    pace_parameters(&p, 1);
    expect(&p, &now, PACE_NONE, 0, 12000);
    now = 20000;
    pace_parameters(&p, 0);
    expect(&p, &now, PACE_BEGINS, 0, 20000);
    expect(&p, &now, PACE_GRADIENT, 0, 30000);
    pace_free(&p);
}

static void test_a_layer_waits_for_its_own(void **state) {
    const struct scn_work work = work_of(true);
    struct sim_pace p;
    uint64_t now = 0;
    (void)state;
    pace_init(&p, &work, 2);
    expect(&p, &now, PACE_BEGINS, 0, 0);
    expect(&p, &now, PACE_GRADIENT, 0, 10000);
    expect(&p, &now, PACE_GRADIENT, 1, 12000);
    pace_parameters(&p, 1);
    expect(&p, &now, PACE_BEGINS, 0, 12000); // the front layer has what it needs
    expect(&p, &now, PACE_NONE, 0, 13000);   // the other one has not
    now = 20000;
    pace_parameters(&p, 0);
    expect(&p, &now, PACE_GRADIENT, 0, 20000 + 3000 + 6000);
    pace_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_come_out_last_layer_first),
        cmocka_unit_test(test_a_forward_pass_of_its_own_length),
        cmocka_unit_test(test_all_wait_for_all),
        cmocka_unit_test(test_a_layer_waits_for_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
