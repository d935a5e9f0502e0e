// SPDX-License-Identifier: Apache-2.0
//
// `silken ctl top`: rates of two replies, computed by hand here, and pages of every width from 60
// to 250 columns on which nothing is wider than the page, broken in the middle of a character, or
// lets a name speak to the terminal.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"

// Two seconds lie between the two. Port 1's name has an escape sequence, a wide character and a
// broken one.
static const char before_text[] =
    "{'clock': 1000000000, 'program': '/a/tor.p4', 'alarms': [],"
    " 'stats': {'rx_packets': 100, 'tx_packets': 50, 'copies': 0, 'recirculated': 4, 'inside': 0,"
    "           'drops': {'egress queue full': 10}},"
    " 'ports': [{'port': 0, 'up': true, 'link': true, 'name': 'web', 'rx_packets': 100,"
    "            'rx_bytes': 6400, 'tx_packets': 50, 'tx_bytes': 3000, 'drops': {}},"
    "           {'port': 1, 'up': true, 'link': true, 'rx_packets': 900, 'rx_bytes': 9000,"
    "            'tx_packets': 0, 'tx_bytes': 0, 'drops': {'egress queue full': 10},"
    "            'queues': [{'queue': 5, 'cells': 0, 'drops': {'red': {'egress queue full': "
    "10}}}]}],"
    " 'jobs': [{'name': '7', 'kind': 'switchml', 'size': 3, 'slots': 16, 'waits': 0, 'wanted': 0,"
    "           'there': 0, 'workers': [{'worker': 0, 'packets': 10}, {'worker': 1, 'packets': 10},"
    "           {'worker': 2}]},"
    "          {'name': '7', 'kind': 'libra', 'size': 1, 'workers': [{'worker': 0, 'packets': "
    "1}]}]}";
static const char now_text[] =
    "{'clock': 3000000000, 'program': '/a/tor.p4',"
    " 'alarms': [{'alarm': 'stuck-job', 'what': '7', 'text': 'job 7 waits', 'since': 2000000000}],"
    " 'stats': {'rx_packets': 2100, 'tx_packets': 450, 'copies': 6, 'recirculated': 4,"
    "           'inside': 3, 'drops': {'consumed in ingress': 900, 'egress queue full': 30,"
    "                                  'parser error': 1}},"
    " 'ports': [{'port': 0, 'up': true, 'link': true, 'name': 'web', 'rx_packets': 2100,"
    "            'rx_bytes': 134400, 'tx_packets': 50, 'tx_bytes': 3000, 'drops': {}},"
    "           {'port': 1, 'up': true, 'link': false, 'name': 'NAME',"
    "            'rx_packets': 8, 'rx_bytes': 800,"
    "            'tx_packets': 400, 'tx_bytes': 40000,"
    "            'drops': {'consumed in ingress': 900, 'egress queue full': 30,"
    "                      'parser error': 1},"
    "            'queues': [{'queue': 2, 'cells': 7}, {'queue': 5, 'cells': 90, 'taken': 1, "
    "'left': 0,"
    "             'drops': {'yellow': {'egress queue full': 18}, 'red': {'egress queue full': "
    "12}}}]}],"
    " 'jobs': [{'name': '7', 'kind': 'switchml', 'size': 3, 'slots': 16, 'waits': 4, 'wanted': 12,"
    "           'there': 6, 'workers': [{'worker': 0, 'packets': 14, 'idle_ms': 20, 'missing': 0},"
    "           {'worker': 1, 'packets': 12, 'idle_ms': 2500, 'missing': 2, 'ip': '10.0.0.2'},"
    "           {'worker': 2, 'missing': 4, 'ip': '10.0.0.3'}]},"
    "          {'name': '7', 'kind': 'libra', 'size': 1, 'workers': [{'worker': 0, 'packets': "
    "9}]}]}";
#define NAME                                                                                       \
    "\\u001b]0;you\\u0007 \\u6f22\\u5b57-\\u00e9t\\u00e9-a-name-that-does-not-end-for-a-while"

static json_t *read(const char *text) {
    char *copy = malloc(strlen(text) + sizeof NAME), *out = copy;
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "NAME", 4) == 0) {
            out += strlen(strcpy(out, NAME));
            at += 3;
        } else {
            *out++ = *at == '\'' ? '"' : *at;
        }
    }
    *out = 0;
    json_error_t why;
    json_t *root = json_loads(copy, 0, &why);
    if (!root)
        fail_msg("%s", why.text);
    free(copy);
    return root;
}

struct bench {
    json_t *before, *now;
    struct top_data d;
};
static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    b->before = read(before_text);
    b->now = read(now_text);
    assert_true(top_data_read(&b->d, b->before, b->now));
    *state = b;
    return 0;
}
static int teardown(void **state) {
    struct bench *b = *state;
    top_data_free(&b->d);
    json_decref(b->before);
    json_decref(b->now);
    free(b);
    return 0;
}

static void expect(double value, double wanted) {
    if (value < wanted - 1e-9 || value > wanted + 1e-9)
        fail_msg("%f instead of %f", value, wanted);
}

static void test_rates(void **state) {
    const struct top_data *d = &((struct bench *)*state)->d;
    expect(d->seconds, 2);
    expect(d->in_packets, 1000);
    expect(d->out_packets, 200);
    expect(d->dropped, 10.5);
    expect(d->recirculated, 0);
    expect(d->ports[0].in_bits, 512000);
    expect(d->ports[0].out_packets, 0);
    expect(d->ports[1].in_packets, 4); // set anew: from zero
    expect(d->ports[1].out_bits, 160000);
    expect(d->ports[1].drops, 10.5);
    assert_string_equal(d->ports[1].reason, "egress queue full");
    assert_string_equal(d->ports[1].link, "down");
    assert_int_equal(d->ports[1].cells, 97);
    assert_int_equal(d->ports[1].deepest, 5);
    assert_string_equal(d->drops[0].reason, "egress queue full");
    expect(d->drops[0].rate, 10);
    assert_int_equal(d->drops[0].port, 1);
    // of queues by colour, what is dropped most first
    assert_int_equal(d->n_queue_drops, 2);
    assert_string_equal(d->queue_drops[0].colour, "yellow");
    assert_int_equal(d->queue_drops[0].queue, 5);
    assert_int_equal(d->queue_drops[0].port, 1);
    expect(d->queue_drops[0].rate, 9);
    expect(d->queue_drops[1].rate, 1);
    assert_int_equal(d->queue_drops[1].total, 12);
    // what was consumed is no loss, comes last, and is shown as such
    assert_int_equal(d->n_drops, 3);
    assert_string_equal(d->drops[2].reason, "consumed in ingress");
    assert_true(d->drops[2].consumed && !d->drops[0].consumed && !d->drops[1].consumed);
    expect(d->consumed, 450);
    expect(d->ports[1].consumed, 450);
    expect(d->ports[0].consumed, 0);
}

static void test_jobs(void **state) {
    const struct top_job *j = ((struct bench *)*state)->d.jobs;
    assert_string_equal(j->state, "stuck"); // there is an alarm, though packets come
    expect(j->packets, 3);
    expect(j->complete, 0.5);
    assert_true(j->has_straggler);
    assert_int_equal(j->straggler, 2); // four slots wait for it, two for worker 1
    assert_true(j->silent < 0);
    // of Libra, with the same number: the alarm is not its
    assert_string_equal(j[1].kind, "libra");
    assert_string_equal(j[1].state, "running");
    expect(j[1].packets, 4);
    assert_false(j[1].has_straggler);
}

static void test_the_clock_must_go_on(void **state) {
    struct bench *b = *state;
    struct top_data d;
    assert_false(top_data_read(&d, b->now, b->now));
    top_data_free(&d);
    assert_false(top_data_read(&d, b->now, b->before));
    top_data_free(&d);
}

// Columns of a line, counted here anew; every byte must be printable UTF-8 or one of our own
// colours.
static unsigned columns(const char *line, size_t n, bool colour) {
    unsigned used = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)line[i];
        if (c == 0x1b) {
            assert_true(colour && line[i + 1] == '[');
            for (i += 2; line[i] != 'm'; i++)
                assert_true(line[i] >= '0' && line[i] <= '9');
            continue;
        }
        assert_true(c >= 0x20 && c != 0x7f);
        if (c < 0x80) {
            used++;
            continue;
        }
        const size_t more = c >= 0xe0 ? 2 : 1; // of those characters that are in the test
        assert_true(c >= 0xc2 && c < 0xf0 && i + more < n);
        for (size_t k = 1; k <= more; k++)
            assert_int_equal((unsigned char)line[i + k] & 0xc0, 0x80);
        // U+6F22, U+5B57 take two columns, the others one
        used += memcmp(line + i, "\u6f22", 3) == 0 || memcmp(line + i, "\u5b57", 3) == 0 ? 2 : 1;
        i += more;
    }
    return used;
}

static void check_page(struct top_data *d, unsigned width, unsigned height, bool colour, bool utf8,
                       enum top_view view) {
    struct top_page p = {.width = width, .height = height, .colour = colour, .utf8 = utf8};
    const struct top_choice c = {.view = view, .sort = TOP_BY_IN};
    unsigned lines = 0;
    top_draw(&p, d, &c);
    for (const char *at = p.bytes; *at; lines++) {
        const char *end = strchr(at, '\n');
        assert_non_null(end);
        const unsigned n = columns(at, (size_t)(end - at), colour);
        if (n > width)
            fail_msg("%u columns of %u: %.*s", n, width, (int)(end - at), at);
        at = end + 1;
    }
    if (height)
        assert_true(lines <= height);
    if (!utf8)
        for (const char *at = p.bytes; *at; at++)
            assert_true(!(*at & 0x80));
    top_page_free(&p);
}

static void test_widths(void **state) {
    struct top_data *d = &((struct bench *)*state)->d;
    for (unsigned width = 60; width <= 250; width++)
        for (unsigned i = 0; i < 4; i++)
            for (enum top_view v = 0; v < TOP_VIEWS; v++)
                check_page(d, width, width % 30, i & 1, i & 2, v);
    for (unsigned width = 1; width < 60; width++) // cut, but not broken
        check_page(d, width, 3, true, true, TOP_ALL);
}

static void expect_on_page(struct top_data *d, unsigned width, const char *text) {
    struct top_page p = {.width = width, .utf8 = true};
    top_draw(&p, d, &(struct top_choice){0});
    if (!strstr(p.bytes, text))
        fail_msg("no '%s' in\n%s", text, p.bytes);
    top_page_free(&p);
}

static void test_what_is_shown(void **state) {
    struct top_data *d = &((struct bench *)*state)->d;
    expect_on_page(d, 100, "silken top  tor.p4");
    expect_on_page(d, 100, "1 of 2 ports up  1 alarm");
    d->ports[1].device = "inside"; // the control plane's is no port that can be down
    expect_on_page(d, 100, "1 of 1 ports up  1 alarm");
    d->ports[1].device = "";
    expect_on_page(d, 100, "in 1.00k pkt/s 515kbit/s");
    expect_on_page(d, 60, "   0 web ");
    expect_on_page(d, 60, "?]0;you? \u6f22\u5b57"); // harmless
    expect_on_page(d, 60, "\u2026 down");           // cut
    expect_on_page(d, 200, "for-a-while");
    expect_on_page(d, 100, "97c  egress queue full");
    expect_on_page(d, 100, "7            stuck       3/3    3.0       4    50%");
    expect_on_page(d, 100, "  4 wait for worker 2 10.0.0.3, never heard from");
    expect_on_page(d, 100, "ALARM for 1 s: stuck-job: job 7 waits");
    expect_on_page(d, 100, "     10            30  egress queue full, port 1");
    expect_on_page(d, 100, "    9.0            18    port 1 queue 5 yellow");
    // nothing is cut at 60 columns
    expect_on_page(d, 30, "\n1 of 2 ports up  1 alarm\n");
    expect_on_page(d, 60, "\ninside 3\n");
    expect_on_page(d, 60, "\ndropped ");
    expect_on_page(d, 60, "\n  4 wait for worker 2 10.0.0.3, never heard from\n");
}

static void test_order(void **state) {
    struct top_data *d = &((struct bench *)*state)->d;
    struct top_page p = {.width = 100, .utf8 = true};
    top_draw(&p, d, &(struct top_choice){.sort = TOP_BY_OUT});
    assert_int_equal(d->ports[0].port, 1);
    top_draw(&p, d, &(struct top_choice){.sort = TOP_BY_OUT, .reverse = true});
    assert_int_equal(d->ports[0].port, 0);
    top_draw(&p, d, &(struct top_choice){.sort = TOP_BY_QUEUE});
    assert_int_equal(d->ports[0].port, 1);
    top_page_free(&p);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0, "0"},        {0.5, "0.5"},    {7.25, "7.2"},    {9.96, "10"},
                 {123, "123"},    {999.4, "999"},  {999.6, "1.00k"}, {1234, "1.23k"},
                 {9995, "10.0k"}, {99960, "100k"}, {999499, "999k"}, {999600, "1.00M"},
                 {40e9, "40.0G"}, {1e18, "1.00E"}, {12e21, "12000E"}};
    char text[TOP_NUMBER];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(top_number(cases[i].v, text), cases[i].text);
}

static void test_json(void **state) {
    json_t *out = top_data_json(&((struct bench *)*state)->d);
    assert_non_null(out);
    const json_t *port = json_array_get(json_object_get(out, "ports"), 0);
    expect(json_real_value(json_object_get(port, "rx_bits_per_second")), 512000);
    assert_int_equal(json_array_size(json_object_get(out, "alarms")), 1);
    const json_t *drop = json_array_get(json_object_get(out, "queue_drops"), 1);
    assert_string_equal(json_string_value(json_object_get(drop, "colour")), "red");
    assert_int_equal(json_integer_value(json_object_get(drop, "total")), 12);
    json_decref(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jobs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_clock_must_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(test_widths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test_setup_teardown(test_json, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
