// SPDX-License-Identifier: Apache-2.0
//
// Lines of the job service, as its workers read them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "hosts/communicator/reply.h"

static bool reads(struct sk_reply *r, const char *line) {
    return sk_reply_read(r, line, strlen(line));
}

static void test_what_it_says(void **state) {
    struct sk_reply r;
    (void)state;
    assert_true(reads(&r, "{\"state\":\"waiting\",\"missing\":[1, 30]}"));
    assert_string_equal(r.state, "waiting");
    assert_string_equal(r.missing, "1, 30");
    assert_true(reads(
        &r, "{\"state\":\"admitted\",\"job\":\"a\",\"number\":7,\"slots\":4294967295,"
            "\"elements\":64,\"worker_ip\":\"10.0.10.2\",\"worker_mac\":"
            "\"02:00:00:00:10:00\",\"worker_port\":48864,\"session_port\":28673,\"switch_ip\":"
            "\"255.255.255.255\",\"switch_mac\":\"02:00:00:00:ff:01\"}"));
    assert_int_equal(r.number, 7);
    assert_int_equal(r.slots, 4294967295u);
    assert_int_equal(r.elements, 64);
    assert_int_equal(r.worker_port, 48864);
    assert_int_equal(r.session_port, 28673);
    assert_int_equal(r.switch_port, 0);
    assert_string_equal(r.worker_mac, "02:00:00:00:10:00");
    assert_string_equal(r.switch_ip, "255.255.255.255");
}

static void test_escapes_and_what_is_not_known(void **state) {
    struct sk_reply r;
    (void)state;
    assert_true(reads(&r, " { \"new\" : [ ] , \"other\":true,\"x\":null, \"y\":\"\\\\\",\"error\":"
                          "\"job \\\"a\\\" \\u00e4\\n\", \"missing\": 3 }\r"));
    assert_string_equal(r.error, "job \"a\" ??");
    assert_string_equal(r.missing, ""); // a number is no list
    assert_true(reads(&r, "{}"));
    assert_string_equal(r.state, "");
}

static void test_long_texts_are_cut(void **state) {
    struct sk_reply r;
    char line[SK_REPLY_LINE] = "{\"error\":\"";
    (void)state;
    memset(line + 10, 'x', 2000);
    strcpy(line + 2010, "\"}");
    assert_true(reads(&r, line));
    assert_int_equal(strlen(r.error), sizeof r.error - 1);
}

static void test_what_is_none(void **state) {
    static const char *const lines[] = {"",
                                        "{",
                                        "[]",
                                        "{\"a\"}",
                                        "{\"a\":1",
                                        "{\"a\":1}}",
                                        "{\"a\":-1}",
                                        "{\"a\":1.5}",
                                        "{\"a\":\"b}",
                                        "{\"a\":4294967296}",
                                        "{\"a\":{}}",
                                        "{\"a\":[\"b\"]}",
                                        "{\"a\":[1,]}",
                                        "{\"a\":tru}",
                                        "{\"a\":\"\\x\"}",
                                        "HTTP/1.1 400 Bad Request"};
    struct sk_reply r;
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (reads(&r, lines[i]))
            fail_msg("'%s' is a reply", lines[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_escapes_and_what_is_not_known),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
