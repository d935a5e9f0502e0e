// SPDX-License-Identifier: Apache-2.0
//
// What units take of a stage, computed by hand from tna-facts 6.3 and 7.3, and where noted compared
// with what the chip's own compiler reports for such a table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

#define NEED(k) (units_last(&t, 0)->need[k])

// 38 stored bits (48 less 10 of the address), 9 of data, 4 of version: two in a RAM word; four ways
// of one RAM each hold the 1024 entries, as the chip's compiler has it.
static void test_exact_small(void **state) {
    (void)state;
    units_action(&t, units_table(&t, 0, "forward", IR_MATCH_EXACT, 48, 1024), 9, 9);
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 4);
    assert_int_equal(units_last(&t, 0)->pack_entries, 2);
    assert_int_equal(units_last(&t, 0)->ways, 4);
    assert_int_equal(units_last(&t, 0)->immediate_bits, 9);
    assert_int_equal(NEED(CHIP_EXACT_XBAR), 6);
    assert_int_equal(NEED(CHIP_HASH_BITS), 52);
    assert_int_equal(NEED(CHIP_VLIW), 1);
    assert_int_equal(NEED(CHIP_MAP_RAM), 0);
}

// 52 bits: seven in three words need 28 rows of RAMs, 84; nine in four 88, two in one 98.
static void test_exact_large(void **state) {
    (void)state;
    struct chip_unit *u = units_table(&t, 0, "timeout", IR_MATCH_EXACT, 48, 200000);
    units_action(&t, u, 9, 9);
    units_action(&t, u, 0, 0);
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 84);
    assert_int_equal(units_last(&t, 0)->pack_entries, 7);
    assert_int_equal(units_last(&t, 0)->pack_width, 3);
    assert_int_equal(units_last(&t, 0)->entry_bits, 52);
}

// A port of 9 bits is its own address: one RAM, one way.
static void test_identity(void **state) {
    (void)state;
    units_action(&t, units_table(&t, 0, "port", IR_MATCH_EXACT, 9, 512), 9, 9);
    units_action(&t, units_last(&t, 0), 0, 0);
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 1);
    assert_int_equal(units_last(&t, 0)->ways, 1);
}

// Every key has its entry and there is one thing to do: nothing is stored but the data, 512 x 2
// bytes.
static void test_hash_action(void **state) {
    (void)state;
    struct chip_unit *u = units_table(&t, 0, "port", IR_MATCH_EXACT, 9, 512);
    ((struct ir_table *)u->table)->actions.n = 0;
    u->actions.n = 0;
    units_action(&t, u, 9, 9);
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 1);
    assert_int_equal(NEED(CHIP_HASH_DIST), 1);
    assert_int_equal(units_last(&t, 0)->ways, 0);
}

// 16 bytes: eleven in two blocks, five in one; 1024 entries are two deep. 1 + 9 bits beside an
// entry are kept in 16, eight in a word.
static void test_ternary(void **state) {
    (void)state;
    struct chip_unit *u = units_table(&t, 0, "dmac", IR_MATCH_TERNARY, 128, 1024);
    units_action(&t, u, 9, 9);
    units_action(&t, u, 0, 0);
    ((struct ir_table *)u->table)->idle_timeout = true;
    units_run(&t);
    assert_int_equal(NEED(CHIP_TCAM), 6);
    assert_int_equal(NEED(CHIP_SRAM), 1);
    assert_int_equal(NEED(CHIP_MAP_RAM), 1); // two idle times of 3 bits in a cell
    assert_int_equal(NEED(CHIP_TERNARY_XBAR), 16);
    assert_int_equal(NEED(CHIP_EXACT_XBAR), 0);
    assert_int_equal(NEED(CHIP_TERNARY_TABLES), 1);
}

// Five bytes stand in one block, six do not: half of the byte that two blocks share is the
// version's. So eleven whole bytes take a third block. As the chip's compiler has it.
static void test_ternary_width(void **state) {
    (void)state;
    static const unsigned bits[] = {40, 48, 80, 88}, blocks[] = {1, 2, 2, 3};
    for (unsigned i = 0; i < 4; i++)
        units_table(&t, 0, "wild", IR_MATCH_TERNARY, bits[i], 512);
    units_run(&t);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(t.pipe.gress[0].units.v[i].need[CHIP_TCAM], blocks[i]);
}

// A range of 16 bits: 7 lines for a quarter of the entries; its two bytes are matched twice.
static void test_range(void **state) {
    (void)state;
    units_action(&t, units_table(&t, 0, "ports", IR_MATCH_RANGE, 16, 1024), 0, 0);
    units_run(&t);
    assert_int_equal(units_last(&t, 0)->entries, 768 + 256 * 7);
    assert_int_equal(NEED(CHIP_TCAM), 5);
    assert_null(units_violation(&t, "range-key"));
}

static void test_range_too_wide(void **state) {
    (void)state;
    units_table(&t, 0, "ports", IR_MATCH_RANGE, 21, 1024);
    units_run(&t);
    const struct chip_violation *v = units_violation(&t, "range-key");
    assert_non_null(v);
    assert_int_equal(v->limit, 20);
    assert_int_equal(v->used, 21);
}

// 1024 cells of 32 bits: one RAM and a spare one, with a map RAM each.
static void test_register(void **state) {
    (void)state;
    struct ir_register *reg = units_new_register(&t, "reg", 32, 1024);
    units_register(&t, units_table(&t, 0, "count", IR_MATCH_EXACT, 0, 0), reg);
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 2);
    assert_int_equal(NEED(CHIP_MAP_RAM), 2);
    assert_int_equal(NEED(CHIP_STATEFUL_ALUS), 1);
    assert_false(units_last(&t, 0)->may_split);
}

// 35 RAMs of 4096 cells and the spare are what an ALU reaches.
static void test_register_size(void **state) {
    (void)state;
    units_register(&t, units_table(&t, 0, "count", IR_MATCH_EXACT, 0, 0),
                   units_new_register(&t, "most", 32, 143360));
    units_run(&t);
    assert_true(t.r.fits);
    units_register(&t, units_table(&t, 0, "more", IR_MATCH_EXACT, 0, 0),
                   units_new_register(&t, "much", 32, 143361));
    units_run(&t);
    const struct chip_violation *v = units_violation(&t, "register-size");
    assert_non_null(v);
    assert_int_equal(v->used, 37);
    assert_int_equal(v->limit, 36);
}

// One bit to a cell: 131072 in a RAM.
static void test_register_bits(void **state) {
    (void)state;
    units_register(&t, units_table(&t, 0, "mark", IR_MATCH_EXACT, 0, 0),
                   units_new_register(&t, "bits", 1, 262144));
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 3);
}

// A counter for each entry: 4096 places of one in a word (its address takes 10 bits of the entry),
// two counters in a word, two RAMs and the spare. The same, metered: four RAMs, the spare, one of
// colours.
static void test_direct(void **state) {
    (void)state;
    static struct ir_counter c = {.name = "c", .type = IR_COUNT_BOTH, .width = 36, .direct = true};
    static struct ir_meter m = {.name = "m", .kind = IR_METER, .direct = true};
    struct chip_unit *u = units_table(&t, 0, "route", IR_MATCH_EXACT, 60, 1024);
    struct ir_table *table = (struct ir_table *)u->table;
    VEC_PUSH(t.a, &table->direct_counters, &c);
    table->direct_meter = &m;
    units_action(&t, u, 48, 48);
    units_run(&t);
    // 50 + 4 + 20 bits beside 32 of the data: one entry in a word; 4096 x 2 bytes of the rest: half
    // a RAM.
    assert_int_equal(NEED(CHIP_SRAM), 4 + 3 + 5 + 1);
    assert_int_equal(NEED(CHIP_MAP_RAM), 3 + 5 + 1);
    assert_int_equal(NEED(CHIP_STATS_ALUS), 1);
    assert_int_equal(NEED(CHIP_METER_ALUS), 1);
}

// 20000 members of 2 bytes: eight in a word, three RAMs.
static void test_profile(void **state) {
    (void)state;
    static struct ir_action_profile ap = {.name = "ap", .size = 20000};
    struct chip_unit *u = units_table(&t, 0, "forward", IR_MATCH_EXACT, 9, 512);
    ((struct ir_table *)u->table)->profile = &ap;
    units_action(&t, u, 9, 9);
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 1 + 3);
    assert_int_equal(units_last(&t, 0)->overhead_bits, 16);
}

// 32 entries to a partition, three in two words: eleven deep, 22 RAMs, in logical tables of at most
// five, as the chip's compiler has it. A bit that may be a wildcard takes two.
static void test_partitions(void **state) {
    (void)state;
    static const struct ir_partitions atcam = {.count = 1024};
    struct chip_unit *u = units_table(&t, 0, "atcam", IR_MATCH_TERNARY, 32, 32768);
    struct ir_table *table = (struct ir_table *)u->table;
    struct ir_expr *e = ARENA_NEW(t.a, struct ir_expr);
    *e = (struct ir_expr){.op = IR_VAR, .var = units_var(&t, "index", 10), .width = 10};
    struct ir_key k = {.name = "index", .expr = e, .partition = true};
    struct chip_bits bits = {e->var, 0, 10};
    VEC_PUSH(t.a, &table->keys, k);
    VEC_PUSH(t.a, &u->key, bits);
    table->partitions = &atcam;
    units_action(&t, u, 9, 9);
    units_action(&t, u, 0, 0);
    units_run(&t);
    assert_int_equal(NEED(CHIP_SRAM), 22);
    assert_int_equal(NEED(CHIP_LOGICAL_TABLES), 3);
    assert_int_equal(NEED(CHIP_TCAM), 0);
    assert_int_equal(units_last(&t, 0)->pack_entries, 3);
    assert_int_equal(units_last(&t, 0)->pack_width, 2);
}

static void test_too_wide(void **state) {
    (void)state;
    units_table(&t, 0, "wide", IR_MATCH_EXACT, 1025, 1024);
    units_table(&t, 0, "wild", IR_MATCH_TERNARY, 529, 512);
    units_run(&t);
    assert_int_equal(units_violation(&t, "exact-key")->used, 129);
    assert_int_equal(units_violation(&t, "ternary-key")->used, 67);
}

static void test_action_data(void **state) {
    (void)state;
    units_action(&t, units_table(&t, 0, "little", IR_MATCH_EXACT, 32, 1024), 1024, 1024);
    units_run(&t);
    assert_null(units_violation(&t, "action-data"));
    units_action(&t, units_table(&t, 0, "much", IR_MATCH_EXACT, 32, 1024), 1032, 1032);
    units_run(&t);
    assert_int_equal(units_violation(&t, "action-data")->used, 256);
}

static void test_two_addresses(void **state) {
    (void)state;
    struct chip_unit *u = units_table(&t, 0, "both", IR_MATCH_EXACT, 16, 1024);
    static struct ir_meter m = {.name = "m", .kind = IR_METER, .size = 1024};
    units_register(&t, u, units_new_register(&t, "reg", 32, 1024));
    struct chip_access x = {.kind = CHIP_METER, .meter = &m, .index_is_constant = true};
    struct chip_action *a = units_action(&t, u, 0, 0);
    VEC_PUSH(t.a, &a->accesses, x);
    units_run(&t);
    assert_non_null(units_violation(&t, "table-addresses"));
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(test_exact_small),   CASE(test_exact_large),    CASE(test_identity),
        CASE(test_hash_action),   CASE(test_ternary),        CASE(test_ternary_width),
        CASE(test_range),         CASE(test_range_too_wide), CASE(test_register),
        CASE(test_register_size), CASE(test_register_bits),  CASE(test_direct),
        CASE(test_profile),       CASE(test_partitions),     CASE(test_too_wide),
        CASE(test_action_data),   CASE(test_two_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
