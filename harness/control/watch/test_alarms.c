// SPDX-License-Identifier: Apache-2.0
//
// Alarms, of moments made by hand: each is raised once, at its time and not before, says what it is
// about, and is cleared when its cause is gone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "control/watch/aggregators.h"
#include "control/watch/alarms.h"
#include "harness/pipeline/toy_program.h"

#define SECOND UINT64_C(1000000000)

struct bench {
    struct sk_alarms *a;
    struct sk_watch w;
    struct sk_watch_port port;
    struct sk_watch_table table;
    json_t *held, *told; // the last event
    unsigned on, off;
};

static void tell(void *aux, json_t *event) {
    struct bench *b = aux;
    json_decref(b->told);
    b->told = event;
    assert_string_equal(json_string_value(json_object_get(event, "event")), "alarm");
    if (json_is_true(json_object_get(event, "on")))
        b->on++;
    else
        b->off++;
}

static const struct sk_config_alarms usual = {
    .job_stuck = 10, .aggregator = 10, .queue_drops = 1000, .table_full = 100, .flaps = 4};

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    b->a = sk_alarms_new(&usual, tell, b);
    b->w = (struct sk_watch){.clock = 1000 * SECOND, .ports = &b->port, .tables = &b->table};
    b->port.port = 3;
    strcpy(b->port.name, "web");
    b->table = (struct sk_watch_table){.name = "pipe.Ingress.hosts", .entries = 0, .size = 8};
    *state = b;
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    sk_alarms_free(b->a);
    json_decref(b->told);
    json_decref(b->w.jobs);
    json_decref(b->held);
    free(b);
    return 0;
}

static void look(struct bench *b, double seconds) {
    b->w.clock += (uint64_t)(seconds * 1e9);
    sk_alarms_look(b->a, &b->w, b->held);
}

static void expect(const struct bench *b, unsigned on, unsigned off, const char *alarm,
                   const char *what, const char *words) {
    const char *kind = json_string_value(json_object_get(b->told, "alarm"));
    const char *of = json_string_value(json_object_get(b->told, "what"));
    const char *text = json_string_value(json_object_get(b->told, "text"));
    if (b->on != on || b->off != off || (alarm && strcmp(kind, alarm) != 0) ||
        (what && strcmp(of, what) != 0) || (words && !strstr(text, words)) ||
        (alarm && strstr(text, kind))) // which is shown beside it
        fail_msg("%u raised, %u cleared, the last: %s of %s: %s", b->on, b->off, kind, of, text);
    json_t *list = sk_alarms_json(b->a);
    assert_int_equal(json_array_size(list), on - off);
    json_decref(list);
}

static void jobs(struct bench *b, const char *text) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_decref(b->w.jobs);
    b->w.jobs = json_loads(copy, 0, NULL);
    assert_non_null(b->w.jobs);
    free(copy);
}

#define JOB(fingerprint, waits, idle)                                                              \
    "[{'name': '7', 'waits': " #waits ", 'fingerprint': " #fingerprint ", 'workers': ["            \
    "{'worker': 0, 'ip': '10.0.0.1', 'missing': 0, 'idle_ms': 3},"                                 \
    "{'worker': 1, 'ip': '10.0.0.2', 'missing': 2, 'idle_ms': " #idle "},"                         \
    "{'worker': 2, 'ip': '10.0.0.3', 'missing': 1}]}]"

static void test_stuck_job(void **state) {
    struct bench *b = *state;
    jobs(b, JOB(5, 2, 10500));
    look(b, 1);
    look(b, 9.9);
    expect(b, 0, 0, NULL, NULL, NULL);
    look(b, 0.1);
    expect(
        b, 1, 0, "stuck-job", "7",
        "job 7: nothing changed for 10 s while 2 slots wait for worker 1 (10.0.0.2), last packet "
        "10.5 s ago; worker 2 (10.0.0.3), which never sent");
    assert_int_equal(json_integer_value(json_object_get(b->told, "since")), 1001 * SECOND);
    look(b, 5); // once
    expect(b, 1, 0, NULL, NULL, NULL);
    jobs(b, JOB(6, 2, 1));
    look(b, 1);
    expect(b, 1, 1, "stuck-job", "7", NULL);
    // as many wait, but others: no alarm, for as long as that goes on
    for (unsigned i = 0; i < 40; i++) {
        jobs(b, i % 2 ? JOB(8, 2, 1) : JOB(9, 2, 1));
        look(b, 1);
    }
    // nothing waits
    jobs(b, JOB(9, 0, 99999));
    look(b, 1);
    look(b, 60);
    expect(b, 1, 1, NULL, NULL, NULL);
    jobs(b, JOB(9, 1, 99999));
    look(b, 1);
    look(b, 10);
    look(b, 10);
    expect(b, 2, 1, NULL, NULL, NULL);
    jobs(b, "[]"); // the job is gone
    look(b, 1);
    expect(b, 2, 2, NULL, NULL, NULL);
    json_t *raised = sk_alarms_raised(b->a);
    assert_int_equal(json_integer_value(json_object_get(raised, "stuck-job")), 2);
    assert_int_equal(json_integer_value(json_object_get(raised, "full-table")), 0);
    json_decref(raised);
}

static void test_leaking_aggregator(void **state) {
    struct bench *b = *state;
    b->held = json_pack("[{s:s, s:i, s:i, s:i, s:i}]", "name", "3", "held", 7, "oldest_ms", 9999,
                        "pipe", 1, "index", 77);
    look(b, 1);
    expect(b, 0, 0, NULL, NULL, NULL);
    json_object_set_new(json_array_get(b->held, 0), "oldest_ms", json_integer(10000));
    look(b, 1);
    expect(b, 1, 0, "leaking-aggregator", "3",
           "job 3 of ATP holds 7 aggregators; aggregator 77 of pipe 1 has received nothing for "
           "10.0 s");
    json_array_clear(b->held);
    look(b, 1);
    expect(b, 1, 1, NULL, NULL, NULL);
}

static void test_queue_drops(void **state) {
    struct bench *b = *state;
    b->w.n_ports = 1;
    b->port.stats.drops[SK_DROP_QUEUE_FULL] = 1000000; // from before: no rate
    look(b, 1);
    b->port.stats.drops[SK_DROP_QUEUE_FULL] += 2000;
    look(b, 2);                                          // 1000 a second: not above
    b->port.stats.drops[SK_DROP_INGRESS_DROP] += 100000; // others do not count
    look(b, 1);
    expect(b, 0, 0, NULL, NULL, NULL);
    b->port.stats.drops[SK_DROP_QUEUE_FULL] += 800;
    b->port.stats.drops[SK_DROP_TX_FULL] += 300;
    look(b, 1);
    expect(b, 1, 0, "queue-drops", "port 3 web", "port 3 web drops 1100 packets a second");
    look(b, 9); // it may come again
    expect(b, 1, 0, NULL, NULL, NULL);
    b->port.stats.drops[SK_DROP_TX_FULL] += 30000;
    look(b, 1);
    look(b, 9);
    expect(b, 1, 0, NULL, NULL, NULL);
    look(b, 1);
    expect(b, 1, 1, NULL, NULL, NULL);
}

static void test_full_table(void **state) {
    struct bench *b = *state;
    b->w.n_tables = 1;
    b->table.entries = 7;
    look(b, 1);
    expect(b, 0, 0, NULL, NULL, NULL);
    b->table.entries = 8;
    look(b, 1);
    look(b, 1);
    expect(b, 1, 0, "full-table", "pipe.Ingress.hosts", "has 8 entries of 8");
    b->table.entries = 7;
    look(b, 1);
    expect(b, 1, 1, NULL, NULL, NULL);
    b->table.entries = 8;
    b->table.fixed = true;
    look(b, 1);
    expect(b, 1, 1, NULL, NULL, NULL);
    b->table.fixed = false;
    sk_alarms_set(b->a, &(struct sk_config_alarms){.table_full = 0});
    look(b, 1);
    expect(b, 1, 1, NULL, NULL, NULL);
}

static void test_flapping_link(void **state) {
    struct bench *b = *state;
    uint64_t now = b->w.clock;
    for (unsigned i = 0; i < 8; i++, now += 21 * SECOND) // four in 63 seconds
        sk_alarms_link(b->a, 3, "web", i & 1, now);
    expect(b, 0, 0, NULL, NULL, NULL);
    now += 100 * SECOND;
    for (unsigned i = 0; i < 4; i++)
        sk_alarms_link(b->a, 3, "web", i & 1, now += 10 * SECOND);
    expect(b, 1, 0, "flapping-link", "port 3 web", "changed 4 times within 30.0 s, and is now up");
    sk_alarms_link(b->a, 4, "", false, now); // another port
    b->w.clock = now;
    look(b, 59);
    expect(b, 1, 0, NULL, NULL, NULL);
    look(b, 1);
    expect(b, 1, 1, NULL, NULL, NULL);
}

static bool take(struct bench *b, json_t *event) {
    const bool taken = sk_alarms_take(b->a, event, b->w.clock);
    json_decref(event);
    return taken;
}

static void test_alarms_of_others(void **state) {
    struct bench *b = *state;
    assert_false(take(b, json_pack("{s:s, s:s}", "event", "link", "link", "web")));
    assert_true(take(b, json_pack("{s:s, s:s, s:s, s:b}", "event", "alarm", "alarm",
                                  "flapping link", "link", "web", "on", 1)));
    expect(b, 1, 0, "flapping-link", "web", "web");
    look(b, 1000); // not ours to clear
    expect(b, 1, 0, NULL, NULL, NULL);
    take(b, json_pack("{s:s, s:s, s:s, s:b}", "event", "alarm", "alarm", "flapping link", "link",
                      "web", "on", 0));
    expect(b, 1, 1, NULL, NULL, NULL);
    take(b, json_pack("{s:s, s:s, s:s, s:s}", "event", "alarm", "alarm", "refused", "object",
                      "entry x", "why", "no room"));
    expect(b, 2, 1, "refused", "entry x", "entry x: no room");
    look(b, 59);
    expect(b, 2, 1, NULL, NULL, NULL);
    look(b, 1);
    expect(b, 2, 2, NULL, NULL, NULL);
    take(b, json_pack("{s:s, s:s, s:s}", "event", "alarm", "alarm", "state", "why", "disk full"));
    expect(b, 3, 2, "state", "", "disk full");
    look(b, 60);
    expect(b, 3, 3, NULL, NULL, NULL);
    // there is an end to what others may raise
    for (unsigned i = 0; i < 3000; i++)
        take(b, json_pack("{s:s, s:s, s:o, s:b}", "event", "alarm", "alarm", "x", "what",
                          json_sprintf("%u", i), "on", 1));
    assert_int_equal(b->on, 1003);
}

// A program without aggregators has none; nothing is looked at.
static void test_no_aggregators(void **state) {
    (void)state;
    char error[256];
    struct sk_program *prog = toy_load();
    struct sk_switch *sw =
        sk_switch_new(prog, &(struct sk_switch_options){.tx = sk_tx_nowhere, .n_packets = 8}, error,
                      sizeof error);
    struct sk_aggregators *a = sk_aggregators_new();
    assert_false(sk_aggregators_scan(a, sw, SECOND, 100));
    json_t *list = sk_aggregators_json(a);
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
    sk_aggregators_free(a);
    sk_switch_free(sw);
    sk_program_free(prog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stuck_job, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leaking_aggregator, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queue_drops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_table, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flapping_link, setup, teardown),
        cmocka_unit_test_setup_teardown(test_alarms_of_others, setup, teardown),
        cmocka_unit_test(test_no_aggregators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
