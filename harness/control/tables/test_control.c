// SPDX-License-Identifier: Apache-2.0
//
// The control API: names, entries, registers, counters, value sets; and that a call that fails
// changes nothing, in any pipe.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/names.h"
#include "harness/pipeline/toy_program.h"

#define KEYS(...)                                                                                  \
    .keys = (const struct sk_named_value[]){__VA_ARGS__},                                          \
    .n_keys = sizeof((const struct sk_named_value[]){__VA_ARGS__}) / sizeof(struct sk_named_value)
#define ARGS(...)                                                                                  \
    .args = (const struct sk_named_value[]){__VA_ARGS__},                                          \
    .n_args = sizeof((const struct sk_named_value[]){__VA_ARGS__}) / sizeof(struct sk_named_value)

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    uint16_t port;
    unsigned sent;
};

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct bench *b = aux;
    (void)frame;
    (void)length;
    b->port = port;
    b->sent++;
    return true;
}

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    char error[256];
    b->prog = toy_load();
    b->sw = sk_switch_new(b->prog, &(struct sk_switch_options){.tx = tx, .aux = b, .n_packets = 8},
                          error, sizeof error);
    assert_non_null(b->sw);
    sk_switch_port_up(b->sw, 9, true);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    sk_switch_free(b->sw);
    sk_program_free(b->prog);
    free(b);
    return 0;
}

static struct sk_table *table(struct bench *b, unsigned pipe, uint32_t i) {
    return sk_switch_pipeline(b->sw, pipe)->table(sk_switch_pipe(b->sw, pipe), i);
}

static size_t entries(struct bench *b, uint32_t i) {
    size_t n = 0;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        n += sk_table_count(table(b, pipe, i));
    return n;
}

#define assert_says(call, what)                                                                    \
    do {                                                                                           \
        err.text[0] = 0;                                                                           \
        if ((call) >= 0 || !strstr(err.text, what))                                                \
            fail_msg("expected '%s', got '%s'", what, err.text);                                   \
    } while (0)

static struct sk_entry_spec forward_entry(const char *mac, const char *port) {
    static struct sk_named_value key, arg;
    key = (struct sk_named_value){"dst_addr", mac};
    arg = (struct sk_named_value){"port", port};
    return (struct sk_entry_spec){.table = "Ingress.forward",
                                  .keys = &key,
                                  .n_keys = 1,
                                  .action = "send",
                                  .args = &arg,
                                  .n_args = 1,
                                  .pipe = -1};
}

static void send_to(struct bench *b, uint8_t last, uint16_t port) {
    uint8_t frame[60] = {2, 0, 0, 0, 0, last};
    sk_switch_rx(b->sw, port, frame, sizeof frame, 0);
    sk_switch_run(b->sw, 0);
}

static void test_entry_life(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    struct sk_entry_spec e = forward_entry("02:00:00:00:00:01", "9");
    assert_int_equal(sk_control_entry_add(b->sw, &e, &err), 0);
    assert_int_equal(entries(b, 0), 4);
    for (uint16_t pipe = 0; pipe < 4; pipe++)
        send_to(b, 1, pipe << 7);
    assert_int_equal(b->sent, 4);
    assert_int_equal(b->port, 9);
    assert_says(sk_control_entry_add(b->sw, &e, &err), "exists");
    e = forward_entry("0x020000000001", "0x50");
    assert_int_equal(sk_control_entry_modify(b->sw, &e, &err), 0);
    send_to(b, 1, 0); // port 80 is down
    assert_int_equal(b->sent, 4);
    e.n_args = 0;
    e.action = NULL;
    assert_int_equal(sk_control_entry_delete(b->sw, &e, &err), 0);
    assert_int_equal(entries(b, 0), 0);
    assert_says(sk_control_entry_delete(b->sw, &e, &err), "no entry");
}

static void test_one_pipe(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    struct sk_entry_spec e = forward_entry("02:00:00:00:00:01", "9");
    e.pipe = 2;
    assert_int_equal(sk_control_entry_add(b->sw, &e, &err), 0);
    send_to(b, 1, 0);
    assert_int_equal(b->sent, 0);
    send_to(b, 1, 2 << 7);
    assert_int_equal(b->sent, 1);
    // to all: pipe 2 has it already, so pipes 0 and 1 must not keep it
    e.pipe = -1;
    assert_says(sk_control_entry_add(b->sw, &e, &err), "exists");
    assert_int_equal(entries(b, 0), 1);
    // nor may the one that has it lose or change it when the others cannot
    assert_says(sk_control_entry_modify(b->sw, &e, &err), "no entry");
    assert_says(sk_control_entry_delete(b->sw, &e, &err), "no entry");
    assert_int_equal(entries(b, 0), 1);
    assert_says((e.pipe = 4, sk_control_entry_add(b->sw, &e, &err)), "no pipe 4");
    e.pipe = 2;
    assert_int_equal(sk_control_entry_delete(b->sw, &e, &err), 0);
}

static void test_names(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    struct sk_object o;
    assert_int_equal(sk_find_object(b->sw, SK_TABLE, "pipe.Ingress.acl", &o, &err), 0);
    assert_int_equal(o.index, 1);
    assert_int_equal(sk_find_object(b->sw, SK_TABLE, "Egress.acl", &o, &err), 0);
    assert_int_equal(o.index, 4);
    assert_says(sk_find_object(b->sw, SK_TABLE, "acl", &o, &err),
                "ambiguous: pipe.Ingress.acl, pipe.Egress.acl");
    assert_says(sk_find_object(b->sw, SK_TABLE, "cl", &o, &err), "no table 'cl'");
    assert_says(sk_find_object(b->sw, SK_TABLE, "", &o, &err), "no table ''");
    assert_says(sk_find_object(b->sw, SK_REGISTER, "nothing", &o, &err),
                "no register 'nothing'; the program has: pipe.Ingress.count");
    assert_says(sk_find_object(b->sw, SK_REGISTER, "acl", &o, &err),
                "no register 'acl'; 'pipe.Ingress.acl' is a table");
    assert_says(sk_find_object(b->sw, SK_TABLE, "Ingress.count", &o, &err),
                "no table 'Ingress.count'; 'pipe.Ingress.count' is a register");
}

// The same without a sentence.
static void test_names_asked_often(void **state) {
    const struct bench *b = *state;
    struct sk_object o;
    assert_true(sk_has_object(b->sw, SK_TABLE, "pipe.Ingress.acl", &o));
    assert_int_equal(o.index, 1);
    assert_true(sk_has_object(b->sw, SK_TABLE, "Egress.acl", &o));
    assert_int_equal(o.index, 4);
    assert_false(sk_has_object(b->sw, SK_TABLE, "acl", &o)); // two
    assert_false(sk_has_object(b->sw, SK_TABLE, "cl", &o));
    assert_false(sk_has_object(b->sw, SK_TABLE, "", &o));
    assert_false(sk_has_object(b->sw, SK_REGISTER, "acl", &o)); // a table
    assert_true(sk_has_object(b->sw, SK_REGISTER, "count", &o));
    assert_int_equal(o.kind, SK_REGISTER);
}

static void test_spellings(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    const struct sk_entry_spec acl = {
        .table = "Ingress.acl",
        KEYS({"hdr.ipv4.isValid()", "true"}, {"vlan[1].id", "0x***"}, {"src_addr", "10.0.0.0/8"}),
        .has_priority = true,
        .priority = 3,
        .action = "drop",
        .pipe = -1};
    assert_int_equal(sk_control_entry_add(b->sw, &acl, &err), 0);
    const struct sk_entry_spec ports = {
        .table = "ports", KEYS({"dst_port", "80..90"}, {"ttl", "5"}), .action = "drop", .pipe = -1};
    assert_int_equal(sk_control_entry_add(b->sw, &ports, &err), 0);
    const struct sk_entry_spec route = {.table = "route",
                                        KEYS({"vrf", "1"}, {"dst_addr", "2001:db8::/32"}),
                                        .action = "wide",
                                        ARGS({"delta", "-5"}, {"address", "::1"}),
                                        .pipe = -1};
    assert_int_equal(sk_control_entry_add(b->sw, &route, &err), 0);
}

static void test_entries_refused(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    const struct {
        struct sk_entry_spec e;
        const char *why;
    } cases[] = {
        {{.table = NULL}, "table name is missing"},
        {{.table = "nothing"}, "no table 'nothing'"},
        {{.table = "forward", .action = "drop"}, "'hdr.ethernet.dst_addr' is missing"},
        {{.table = "forward", KEYS({"dst", "1"}), .action = "drop"}, "no key field 'dst'"},
        {{.table = "forward", KEYS({"dst_addr", "1"}, {"hdr.ethernet.dst_addr", "2"})},
         "given twice"},
        {{.table = "forward", KEYS({"dst_addr", "1"})}, "an action is missing"},
        {{.table = "forward", KEYS({"dst_addr", "1"}), .action = "fly"}, "no action 'fly'"},
        {{.table = "forward", KEYS({"dst_addr", "1"}), .action = "send"},
         "argument 'port' is missing"},
        {{.table = "forward",
          KEYS({"dst_addr", "1"}),
          .action = "send",
          ARGS({"port", "1"}, {"port", "2"})},
         "given twice"},
        {{.table = "forward", KEYS({"dst_addr", "1"}), .action = "send", ARGS({"port", "512"})},
         "action 'pipe.Ingress.send', argument 'port': 512 does not fit 9 bits"},
        {{.table = "forward", KEYS({"dst_addr", "1"}), .action = "drop", ARGS({"x", "2"})},
         "no argument 'x'"},
        {{.table = "forward", KEYS({"dst_addr", "1"}), .action = "drop", .has_priority = true},
         "takes no priority"},
        {{.table = "forward", KEYS({"dst_addr", "1"}), .action = "miss"}, "not allowed"},
        {{.table = "forward", KEYS({"dst_addr", "0x1000000000000"}), .action = "drop"},
         "table 'pipe.Ingress.forward': key field 'hdr.ethernet.dst_addr': 0x1000000000000 does"},
        {{.table = "ports", KEYS({"dst_port", "9..1"}), .action = "drop"}, "ends before"},
        {{.table = "route", KEYS({"dst_addr", "::1&&&::1"}, {"vrf", "1"}), .action = "drop"},
         "must be a prefix"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_entry_spec e = cases[i].e;
        e.pipe = -1;
        assert_says(sk_control_entry_add(b->sw, &e, &err), cases[i].why);
    }
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(entries(b, i), 0);
}

static void test_full(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    for (int i = 0; i < 64; i++) {
        char mac[16];
        snprintf(mac, sizeof mac, "%d", i);
        struct sk_entry_spec e = forward_entry(mac, "9");
        assert_int_equal(sk_control_entry_add(b->sw, &e, &err), 0);
    }
    struct sk_entry_spec e = forward_entry("64", "9");
    assert_says(sk_control_entry_add(b->sw, &e, &err), "full: it holds 64");
    e = forward_entry("63", "8"); // changing and deleting works in a full table
    assert_int_equal(sk_control_entry_modify(b->sw, &e, &err), 0);
    assert_int_equal(sk_control_entry_delete(b->sw, &e, &err), 0);
    assert_int_equal(entries(b, 0), 4 * 63);
    assert_int_equal(sk_control_table_clear(b->sw, NULL, "forward", -1, &err), 0);
    assert_int_equal(entries(b, 0), 0);
}

static void test_default_action(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    const struct sk_entry_spec e = {
        .table = "forward", .action = "send", ARGS({"port", "9"}), .pipe = -1};
    assert_int_equal(sk_control_default_set(b->sw, &e, &err), 0);
    send_to(b, 77, 300);
    assert_int_equal(b->sent, 1);
    assert_int_equal(sk_control_table_clear(b->sw, NULL, "forward", -1, &err), 0);
    send_to(b, 77, 300);
    assert_int_equal(b->sent, 1);
}

static void test_registers(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    uint64_t v[SK_PIPES];
    assert_int_equal(sk_control_register_read(b->sw, "pair", 3, NULL, v, &err), 0);
    assert_int_equal(v[0], 0xffff);
    assert_int_equal(sk_control_register_write(b->sw, "pair", 3, "high", "-2", -1, &err), 0);
    assert_int_equal(sk_control_register_write(b->sw, "pair", 3, "high", "5", 1, &err), 0);
    assert_int_equal(sk_control_register_read(b->sw, "pair", 3, "high", v, &err), 0);
    assert_int_equal(v[0], 0xfffe);
    assert_int_equal(v[1], 5);
    assert_int_equal(v[3], 0xfffe);
    assert_says(sk_control_register_read(b->sw, "pair", 4, NULL, v, &err), "no index 4");
    assert_says(sk_control_register_read(b->sw, "pair", 0, "middle", v, &err),
                "no field 'middle'; the program has: low, high");
    assert_says(sk_control_register_write(b->sw, "pair", 0, "low", "32768", -1, &err),
                "does not fit signed 16 bits");
    assert_says(sk_control_register_write(b->sw, "count", 0, NULL, "-1", -1, &err), "negative");
    assert_says(sk_control_register_write(b->sw, "none", 0, NULL, "1", -1, &err), "no register");
}

static void test_counters(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    struct sk_counter_cell sum;
    send_to(b, 1, 5);
    assert_int_equal(sk_control_counter_read(b->sw, "seen", 5, &sum, &err), 0);
    assert_int_equal(sum.packets, 1);
    assert_int_equal(sum.bytes, 60);
    const struct sk_counter_cell set = {10, 2000};
    assert_int_equal(sk_control_counter_write(b->sw, "seen", 5, &set, &err), 0);
    send_to(b, 1, 5);
    assert_int_equal(sk_control_counter_read(b->sw, "seen", 5, &sum, &err), 0);
    assert_int_equal(sum.packets, 11);
    assert_int_equal(sum.bytes, 2060);
    assert_says(sk_control_counter_read(b->sw, "seen", 512, &sum, &err), "no index 512");
}

static void test_value_sets(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    const struct sk_named_value key = {"ether_type", "0x08**"}, bad = {"ether_type", "0x10000"};
    assert_int_equal(sk_control_value_set_add(b->sw, "types", &key, 1, &err), 0);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        struct sk_table *set =
            sk_switch_pipeline(b->sw, pipe)->value_set(sk_switch_pipe(b->sw, pipe), 0);
        const uint64_t ipv4 = 0x0800, other = 0x9000;
        assert_non_null(sk_table_lookup(set, &ipv4));
        assert_null(sk_table_lookup(set, &other));
    }
    assert_says(sk_control_value_set_add(b->sw, "types", &key, 1, &err), "exists");
    assert_says(sk_control_value_set_add(b->sw, "types", &bad, 1, &err), "does not fit");
    assert_says(sk_control_value_set_add(b->sw, "kinds", &key, 1, &err), "no value set 'kinds'");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_entry_life), T(test_one_pipe),        T(test_names),      T(test_names_asked_often),
        T(test_spellings),  T(test_entries_refused), T(test_full),       T(test_default_action),
        T(test_registers),  T(test_counters),        T(test_value_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
