// SPDX-License-Identifier: Apache-2.0
//
// Which stages units go to (tna-facts 7.6), on units made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/compiler/chip/units.h"

static struct units t;

static int begin(void **state) {
    (void)state;
    units_begin(&t, CHIP_TOFINO1);
    return 0;
}

static int end(void **state) {
    (void)state;
    units_end(&t);
    return 0;
}

static void tables(unsigned gress, unsigned n, unsigned width, uint64_t size) {
    for (unsigned i = 0; i < n; i++)
        units_action(
            &t, units_table(&t, gress, arena_printf(t.a, "t%u", i), IR_MATCH_EXACT, width, size), 0,
            0);
}

static unsigned stage_of(unsigned gress, unsigned unit) {
    return t.pipe.gress[gress].units.v[unit].parts.v[0].stage;
}

static void test_empty(void **state) {
    (void)state;
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 0);
    assert_int_equal(t.pipe.stages.n, 0);
    assert_true(t.r.fits);
}

static void test_chain(void **state) {
    (void)state;
    tables(0, 12, 0, 0);
    for (unsigned i = 1; i < 12; i++)
        units_dep(&t, 0, CHIP_DEP_MATCH, i - 1, i);
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 12);
    assert_int_equal(t.pipe.gress[0].units.v[11].earliest, 11);
    assert_true(t.r.fits);
}

static void test_chain_too_long(void **state) {
    (void)state;
    tables(0, 13, 0, 0);
    for (unsigned i = 1; i < 13; i++)
        units_dep(&t, 0, CHIP_DEP_ACTION, i - 1, i);
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 13);
    const struct chip_violation *v = units_violation(&t, "stages");
    assert_non_null(v);
    assert_int_equal(v->used, 13);
    assert_int_equal(v->limit, 12);
    assert_non_null(strstr(v->message, "t0 -> t1 ->"));
    assert_non_null(strstr(v->message, "t12 reads field, which t11 writes"));
}

// Who reads what is written after it may stand in the same stage, before the writer.
static void test_same_stage(void **state) {
    (void)state;
    tables(0, 3, 0, 0);
    units_dep(&t, 0, CHIP_DEP_ANTI, 0, 1);
    units_dep(&t, 0, CHIP_DEP_CONTROL, 1, 2);
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 1);
}

static void test_ignored(void **state) {
    (void)state;
    tables(0, 2, 0, 0);
    units_dep(&t, 0, CHIP_DEP_MATCH, 0, 1);
    t.pipe.gress[0].deps.v[0].ignored = true;
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 1);
}

// 16 logical tables for both gresses.
static void test_logical_tables(void **state) {
    (void)state;
    tables(0, 10, 0, 0);
    tables(1, 7, 0, 0);
    units_run(&t);
    assert_int_equal(t.pipe.stages.n, 2);
    assert_int_equal(t.pipe.stages.v[0][CHIP_LOGICAL_TABLES], 16);
    assert_int_equal(t.pipe.stages.v[1][CHIP_LOGICAL_TABLES], 1);
}

// Four ways take a hash group, of which there are eight.
static void test_hash_groups(void **state) {
    (void)state;
    tables(0, 9, 64, 1024);
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 2);
}

static void test_registers(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        units_register(&t, units_table(&t, 0, arena_printf(t.a, "t%u", i), IR_MATCH_EXACT, 0, 0),
                       units_new_register(&t, "r", 32, 1024));
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 2);
    assert_int_equal(t.pipe.stages.v[0][CHIP_STATEFUL_ALUS], 4);
}

// Two users of one register, the second of which has to wait: both are in its stage, the RAMs once.
static void test_shared_register(void **state) {
    (void)state;
    struct ir_register *reg = units_new_register(&t, "shared", 32, 1024);
    units_register(&t, units_table(&t, 0, "a", IR_MATCH_EXACT, 0, 0), reg);
    tables(0, 2, 0, 0);
    units_register(&t, units_table(&t, 0, "b", IR_MATCH_EXACT, 0, 0), reg);
    units_dep(&t, 0, CHIP_DEP_MATCH, 1, 2);
    units_dep(&t, 0, CHIP_DEP_MATCH, 2, 3);
    units_run(&t);
    assert_int_equal(stage_of(0, 0), 2);
    assert_int_equal(stage_of(0, 3), 2);
    assert_int_equal(t.pipe.stages.v[2][CHIP_SRAM], 2);
    assert_int_equal(t.pipe.stages.v[2][CHIP_STATEFUL_ALUS], 1);
    assert_true(t.r.fits);
}

static void test_users_apart(void **state) {
    (void)state;
    struct ir_register *reg = units_new_register(&t, "shared", 32, 1024);
    units_register(&t, units_table(&t, 0, "a", IR_MATCH_EXACT, 0, 0), reg);
    units_register(&t, units_table(&t, 0, "b", IR_MATCH_EXACT, 0, 0), reg);
    units_dep(&t, 0, CHIP_DEP_MATCH, 0, 1);
    units_run(&t);
    assert_non_null(units_violation(&t, "register-stage"));
}

// Nine entries in four words fill 80 RAMs with 184320; two in a word take the other 15680 in eight
// (as the chip's compiler has it). Seven in three words are denser, but eight rows have only two
// times three.
static void test_split(void **state) {
    (void)state;
    struct chip_unit *u = units_table(&t, 0, "large", IR_MATCH_EXACT, 48, 200000);
    units_action(&t, u, 9, 9);
    units_action(&t, u, 0, 0);
    units_run(&t);
    u = units_last(&t, 0);
    assert_int_equal(u->parts.n, 2);
    assert_int_equal(u->parts.v[0].entries, 184320);
    assert_int_equal(u->parts.v[0].used[CHIP_SRAM], 80);
    assert_int_equal(u->parts.v[1].entries, 15680);
    assert_int_equal(u->parts.v[1].used[CHIP_SRAM], 8);
}

// The partition is found in one stage, 2048 lines of TCAM; 11 entries in each of 1024 partitions,
// one of them spare, are in the next: 64 bits of prefix and mask and 13 beside them, three in two
// words, four deep.
static void test_alpm(void **state) {
    (void)state;
    static const struct ir_partitions alpm = {.alpm = true, .count = 1024, .subtrees = 2};
    struct chip_unit *u = units_table(&t, 0, "routes", IR_MATCH_LPM, 32, 10240);
    ((struct ir_table *)u->table)->partitions = &alpm;
    units_action(&t, u, 9, 9);
    units_run(&t);
    u = units_last(&t, 0);
    assert_int_equal(u->parts.n, 2);
    assert_int_equal(u->parts.v[0].used[CHIP_TCAM], 4);
    assert_int_equal(u->parts.v[0].used[CHIP_SRAM], 1);
    assert_int_equal(u->parts.v[1].stage, 1);
    assert_int_equal(u->parts.v[1].entries, 11264);
    assert_int_equal(u->parts.v[1].used[CHIP_SRAM], 8);
    assert_int_equal(u->parts.v[1].used[CHIP_LOGICAL_TABLES], 1);
}

// A stage's SRAM: twenty tables of 4; 24 blocks of TCAM: 12 tables of two.
static void test_tcam_runs_out(void **state) {
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        units_table(&t, 0, arena_printf(t.a, "t%u", i), IR_MATCH_TERNARY, 64, 6144);
    units_run(&t);
    const struct chip_violation *v = units_violation(&t, "stages");
    assert_non_null(v);
    assert_int_equal(v->used, 40);
    assert_non_null(strstr(v->message, "TCAM"));
}

// Keys that are the same field are on the crossbar once.
static void test_shared_key(void **state) {
    (void)state;
    tables(0, 2, 512, 1024);
    t.pipe.gress[0].units.v[1].key.v[0] = t.pipe.gress[0].units.v[0].key.v[0];
    units_run(&t);
    assert_int_equal(t.pipe.stages.n, 1);
    assert_int_equal(t.pipe.stages.v[0][CHIP_EXACT_XBAR], 64);
}

// Below t1 hangs t2, which waits for t0's field: t1 is not placed before t0, though nothing else
// stops it.
static void test_below(void **state) {
    (void)state;
    tables(0, 3, 0, 0);
    units_dep(&t, 0, CHIP_DEP_MATCH, 0, 2);
    units_dep(&t, 0, CHIP_DEP_CONTROL, 1, 2);
    units_run(&t);
    assert_int_equal(stage_of(0, 2), 1);
    assert_int_equal(t.pipe.gress[0].stages, 2);
}

// Two writers of one container have stages of their own, whichever comes first; when that takes
// more stages than there are, the containers are laid out in another way.
static void test_conflict(void **state) {
    (void)state;
    tables(0, 3, 0, 0);
    units_dep(&t, 0, CHIP_DEP_CONFLICT, 0, 1);
    units_dep(&t, 0, CHIP_DEP_MATCH, 1, 2);
    units_run(&t);
    assert_int_equal(stage_of(0, 1), 0);
    assert_int_equal(stage_of(0, 0), 1);
    assert_int_equal(t.pipe.gress[0].stages, 2);
}

static void test_conflicts_go(void **state) {
    (void)state;
    tables(0, 13, 0, 0);
    for (unsigned i = 0; i < 13; i++)
        for (unsigned k = 0; k < i; k++)
            units_dep(&t, 0, CHIP_DEP_CONFLICT, k, i);
    units_run(&t);
    assert_int_equal(t.pipe.gress[0].stages, 1);
    assert_true(t.r.fits);
}

static void test_endless(void **state) {
    (void)state;
    tables(0, 10000, 0, 0);
    for (unsigned i = 1; i < 10000; i++)
        units_dep(&t, 0, CHIP_DEP_MATCH, i - 1, i);
    units_run(&t);
    assert_int_equal(t.r.violations.n, 1);
    assert_int_equal(t.r.violations.v[0].used, 10000);
    for (unsigned i = 0; i < 10000; i++)
        assert_true(t.pipe.gress[0].units.v[i].parts.n > 0);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(test_empty),         CASE(test_chain),     CASE(test_chain_too_long),
        CASE(test_same_stage),    CASE(test_ignored),   CASE(test_logical_tables),
        CASE(test_hash_groups),   CASE(test_registers), CASE(test_shared_register),
        CASE(test_users_apart),   CASE(test_split),     CASE(test_alpm),
        CASE(test_tcam_runs_out), CASE(test_conflict),  CASE(test_conflicts_go),
        CASE(test_shared_key),    CASE(test_below),     CASE(test_endless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
