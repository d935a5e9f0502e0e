// SPDX-License-Identifier: Apache-2.0
//
// Jobs whose tensors go from host to host (sim/exchange/exchange.h), and the ways through the
// network that they take, with p4/dlcp in all switches.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/sim/network.h"
#include "sim/scenario.h"

#define LAYERS                                                                                     \
    "\"layers\": [{\"bytes\": 400000, \"compute_us\": 20}, {\"bytes\": 4, \"compute_us\": 1},"     \
    "{\"bytes\": 60000, \"compute_us\": 20}, {\"bytes\": 30000, \"compute_us\": 20}]"

static char text[8192];

// 'paths' and 'job': members besides those that are always there; 'more': of the scenario.
static const char *network(const char *paths, const char *job, const char *work, const char *more) {
    const int n = snprintf(
        text, sizeof text,
        "{\"limit_ms\": 2000, \"quiet_ms\": 100, \"topology\": {\"kind\": \"leaf-spine\", "
        "\"program\": \"dlcp\", \"spine_program\": \"dlcp\", \"leaves\": 2, \"hosts\": 4, "
        "\"spines\": 4, \"link\": {\"gbps\": 10, \"delay_us\": 2, \"queue_bytes\": 100000}, %s}, "
        "\"jobs\": [{%s, \"work\": {\"kind\": \"training\", " LAYERS ", \"iterations\": 2%s}}]%s}",
        paths, job, work, more);
    assert_true(n > 0 && (size_t)n < sizeof text);
    return text;
}

static json_t *good(const char *scenario, uint64_t seed) {
    char *told;
    json_t *r = network_run(scenario, seed, &told);
    if (told)
        fail_msg("%s", told);
    assert_string_equal(network_text(r, "outcome"), "sums");
    return r;
}

static double sent(const json_t *r, const char *link) {
    size_t i;
    json_t *l;
    json_array_foreach(json_object_get(r, "links"), i, l) {
        if (strcmp(network_text(l, "name"), link) == 0)
            return network_number(l, "packets");
    }
    fail_msg("there is no link %s", link);
    return 0;
}

// ---- transports ----

static void test_every_transport_carries_every_flow(void **state) {
    static const char *const protocols[] = {"newreno", "cubic", "dctcp", "pias", "pfabric", "dlcp"};
    (void)state;
    for (int i = 0; i < 6; i++)
        for (int pairs = 0; pairs < 2; pairs++) {
            char job[256];
            if (pairs && i > 2)
                continue; // has no connections of pairs
            snprintf(job, sizeof job,
                     "\"protocol\": \"%s\", \"servers\": 2, \"cut_bytes\": 100000%s", protocols[i],
                     pairs ? ", \"connections\": \"pair\"" : "");
            json_t *r = good(network("\"paths\": \"flow\"", job, "", ""), 1);
            // 8 workers, 2 of them with a server; 5 parts of 4 tensors, twice: a part of the large
            // tensor for each server, and each server's host has its own part for itself
            assert_int_equal((int)network_number(r, "jobs.0.flows.push.count"), 2 * 5 * 7);
            assert_int_equal((int)network_number(r, "jobs.0.flows.pull.count"), 2 * 5 * 7);
            assert_true(network_number(r, "jobs.0.flows.p99_us") >=
                        network_number(r, "jobs.0.flows.mean_us"));
            assert_true(network_number(r, "jobs.0.flows.greatest_us") >=
                        network_number(r, "jobs.0.flows.p99_us"));
            json_decref(r);
        }
}

static void test_rings_pass_every_chunk_on(void **state) {
    static const char *const jobs[] = {
        "\"protocol\": \"cubic\", \"form\": \"ring\"", "\"protocol\": \"dlcp\", \"form\": \"ring\"",
        "\"protocol\": \"dlcp\", \"form\": \"ring\", \"workers\": 2"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        json_t *r = good(network("\"paths\": \"packet\"", jobs[i], "", ""), 1);
        const int n = i < 2 ? 8 : 2;
        assert_int_equal((int)network_number(r, "jobs.0.flows.ring.count"),
                         2 * 4 * n * 2 * (n - 1));
        json_decref(r);
    }
}

// Eight workers, two racks: sends of a tensor's all-reduce, or of a chunk's.
static void test_all_reduces_by_plan(void **state) {
    static const struct {
        const char *form;
        int flows; // of four tensors
    } plans[] = {
        {"\"halving\"", 4 * 8 * 6},
        {"\"halving\", \"workers\": 7", 4 * (4 * 4 + 3 * 2)},
        {"\"tree\", \"chunk_bytes\": 100000", (4 + 1 + 1 + 1) * 14},
        {"\"two trees\", \"chunk_bytes\": 100000", (4 + 2 + 2 + 2) * 14},
        {"\"hierarchical\", \"group\": 4", 4 * 8 * (3 + 2 + 3)},
        {"\"hierarchical\", \"group\": 1", 4 * 8 * 14},
        {"\"hierarchical\", \"group\": 2, \"workers\": 2", 4 * 2 * 2},
    };
    static const char *const protocols[] = {"cubic", "dctcp", "pfabric"};
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (size_t k = 0; k < 3; k++) {
            char job[256];
            snprintf(job, sizeof job, "\"protocol\": \"%s\", \"form\": %s", protocols[k],
                     plans[i].form);
            json_t *r = good(network("\"paths\": \"flow\"", job, ", \"jitter\": 0.3",
                                     k ? ""
                                       : ", \"faults\": [{\"kind\": \"loss\", "
                                         "\"rate\": 0.001}]"),
                             i + 1);
            assert_int_equal((int)network_number(r, "jobs.0.flows.collective.count"),
                             2 * plans[i].flows);
            json_decref(r);
        }
}

// One tensor of 10 MB, 8 workers at 10 Gbps: 2 (n - 1) / n of it out of and into each takes 14 ms,
// and 1538 + 84 bytes of the wire for 1448 of it (data, acknowledgement) 1.12 times that. A tree's
// workers in the middle send it three times.
static void test_all_reduces_take_their_time(void **state) {
    static const struct {
        const char *form;
        double least, most; // ms
    } plans[] = {{"\"ring\"", 15.6, 16.5},
                 {"\"halving\"", 15.6, 16.5},
                 {"\"hierarchical\", \"group\": 4", 15.6, 16.5},
                 {"\"two trees\"", 15.6, 24},
                 {"\"tree\"", 26.8, 54}};
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        snprintf(text, sizeof text,
                 "{\"topology\": {\"kind\": \"rack\", \"program\": \"dlcp\", \"hosts\": 8, %s"
                 "\"link\": {\"gbps\": 10, \"delay_us\": 1, \"queue_bytes\": 0}}, \"jobs\": "
                 "[{\"protocol\": \"dctcp\", \"form\": %s, \"work\": {\"kind\": \"training\", "
                 "\"layers\": [{\"bytes\": 10000000, \"compute_us\": 1}], \"iterations\": 1}}]}",
                 "\"paths\": \"flow\", ", plans[i].form);
        json_t *r = good(text, 1);
        const double ms = network_number(r, "jobs.0.done_us") / 1000;
        if (ms < plans[i].least || ms > plans[i].most)
            fail_msg("%s: %g ms", plans[i].form, ms);
        json_decref(r);
    }
}

static void test_all_flows_are_listed_if_wanted(void **state) {
    (void)state;
    json_t *r =
        good(network("\"paths\": \"flow\"",
                     "\"protocol\": \"cubic\", \"servers\": 1, \"list_flows\": true", "", ""),
             1);
    const json_t *all = network_get(r, "jobs.0.flows.all_us");
    assert_int_equal(json_array_size(all), (size_t)network_number(r, "jobs.0.flows.count"));
    assert_true(json_real_value(json_array_get(all, json_array_size(all) - 1)) ==
                network_number(r, "jobs.0.flows.greatest_us"));
    json_decref(r);
}

static void test_a_run_is_the_same_again(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        const char *s = network("\"paths\": \"packet\"", "\"protocol\": \"dlcp\", \"servers\": 2",
                                ", \"jitter\": 0.2", "");
        json_t *a = good(s, seed), *b = good(s, seed);
        assert_true(json_equal(a, b));
        json_decref(a);
        json_decref(b);
    }
}

static void test_a_hundredth_loss_costs_tcp_timeouts_and_dlcp_none(void **state) {
    static const char *const loss = ", \"faults\": [{\"kind\": \"loss\", \"rate\": 0.01}]";
    (void)state;
    json_t *tcp = good(
               network("\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"servers\": 2", "", loss),
               1),
           *dlcp = good(
               network("\"paths\": \"flow\"", "\"protocol\": \"dlcp\", \"servers\": 2", "", loss),
               1);
    assert_true(network_number(tcp, "jobs.0.streams.timeouts") > 0);
    assert_true(network_number(tcp, "jobs.0.flows.greatest_us") > 10000);
    assert_true(network_number(dlcp, "jobs.0.flows.greatest_us") < 10000);
    assert_true(network_number(dlcp, "jobs.0.dlcp.elements_lost") > 0);
    json_decref(tcp);
    json_decref(dlcp);
}

// ---- DLCP's values ----

static void test_what_comes_is_what_was_sent(void **state) {
    (void)state;
    json_t *r = good(network("\"paths\": \"packet\"",
                             "\"protocol\": \"dlcp\", \"servers\": 2, \"bound\": 0",
                             ", \"values\": \"floats\"",
                             ", \"faults\": [{\"kind\": \"loss\", \"rate\": 0.1}, "
                             "{\"kind\": \"duplicate\", \"rate\": 0.1}, "
                             "{\"kind\": \"reorder\", \"rate\": 0.2, \"by_us\": 100}, "
                             "{\"kind\": \"corrupt\", \"links\": [\"h0-s0\"], \"rate\": 0.05, "
                             "\"undetected\": true}]"),
                     1); // a packet crosses one link that flips a bit: two may escape a checksum
    // with a bound of 0 all elements of all flows
    assert_int_equal((long)network_number(r, "jobs.0.verified"),
                     (long)network_number(r, "jobs.0.dlcp.elements"));
    assert_int_equal((int)network_number(r, "jobs.0.dlcp.elements_lost"), 0);
    assert_true(network_number(r, "jobs.0.dlcp.repeated") > 0);
    assert_true(network_number(r, "jobs.0.dlcp.ignored.bad_checksum") > 0);
    json_decref(r);
}

static void test_no_more_is_lost_than_the_bounds(void **state) {
    static const char *const job =
        "\"protocol\": \"dlcp\", \"servers\": 2, \"bound\": 0.2, \"pull_bound\": 0.2";
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        json_t *r = good(network("\"paths\": \"packet\"", job, "",
                                 ", \"faults\": [{\"kind\": \"loss\", \"rate\": 0.15}]"),
                         seed);
        const double lost = network_number(r, "jobs.0.dlcp.elements_lost") /
                            network_number(r, "jobs.0.dlcp.elements");
        assert_true(lost > 0.01 && lost <= 0.2);
        json_decref(r);
    }
}

// ---- ways ----

static const char *const one_pair =
    "\"protocol\": \"%s\", \"workers\": [\"h0\", \"h1\", \"h2\"], \"servers\": [\"h7\"]";

static json_t *three_to_one(const char *paths, const char *protocol) {
    char job[256];
    snprintf(job, sizeof job, one_pair, protocol);
    return good(network(paths, job, "", ""), 1);
}

static void count_spines(const json_t *r, double least_share, int *used) {
    double n[4], all = 0;
    *used = 0;
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "s0>p%d", i);
        all += n[i] = sent(r, name);
    }
    for (int i = 0; i < 4; i++)
        *used += n[i] >= least_share * all && n[i] > 0;
}

static void test_one_path_flows_and_packets(void **state) {
    int used;
    (void)state;
    json_t *r = three_to_one("\"paths\": \"packet\"", "dlcp");
    count_spines(r, 0.2, &used); // a quarter each
    assert_int_equal(used, 4);
    json_decref(r);
    r = three_to_one("\"paths\": \"flow\"", "cubic");
    count_spines(r, 0, &used); // a connection for each of 24 flows
    assert_true(used >= 3);
    json_decref(r);
    r = three_to_one("\"paths\": \"flow\", \"sprayed\": [3, 7, 11, 15, 19, 23, 27, 31]", "dlcp");
    count_spines(r, 0.2, &used);
    assert_int_equal(used, 4);
    json_decref(r);
}

static void test_a_spine_that_is_down_is_avoided(void **state) {
    static const char *const down =
        ", \"faults\": [{\"kind\": \"%s\", %s, \"at_us\": 300, \"for_us\": 0}]";
    static const char *const what[2][2] = {{"switch_restart", "\"switches\": [\"p1\"]"},
                                           {"link_down", "\"links\": [\"s1-p1\"]"}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char faults[256];
        snprintf(faults, sizeof faults, down, what[i][0], what[i][1]);
        json_t *r = good(network("\"paths\": \"packet\", \"reroute_ms\": 0.2",
                                 "\"protocol\": \"dlcp\", \"servers\": 2", "", faults),
                         1);
        const double before = sent(r, "s0>p1"), other = sent(r, "s0>p2");
        assert_true(before > 10);
        assert_true(before < other / 2); // nothing from 500 us on, of more than 2 ms
        assert_true(network_number(r, "done_us") > 1500);
        json_decref(r);
    }
}

static void test_a_spine_comes_back(void **state) {
    static const char *const restart =
        ", \"faults\": [{\"kind\": \"switch_restart\", \"switches\": "
        "[\"p1\"], \"at_us\": 100, \"for_us\": %d}]";
    double n[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        char faults[256];
        snprintf(faults, sizeof faults, restart, i ? 300 : 0);
        json_t *r = good(network("\"paths\": \"packet\", \"reroute_ms\": 0.1",
                                 "\"protocol\": \"dlcp\", \"servers\": 2", "", faults),
                         1);
        n[i] = sent(r, "s0>p1");
        json_decref(r);
    }
    assert_true(n[1] > 2 * n[0]);
}

// ---- computing and order ----

static double mean_iteration(const char *forward, const char *order) {
    char work[128], job[256];
    snprintf(work, sizeof work, ", \"forward\": \"%s\", \"compute_ms\": 3", forward);
    snprintf(job, sizeof job,
             "\"protocol\": \"cubic\", \"servers\": 2, \"rto_min_us\": 1000, \"connections\": "
             "\"pair\", \"order\": \"%s\", \"partition_bytes\": 50000, \"credit_bytes\": 100000",
             order);
    json_t *r = good(network("\"paths\": \"flow\"", job, work, ""), 1);
    const double us = network_number(r, "done_us");
    json_decref(r);
    return us;
}

static void test_layers_need_not_wait_for_each_other(void **state) {
    (void)state;
    assert_true(mean_iteration("by layer", "fifo") < mean_iteration("whole", "fifo") - 100);
}

static void test_front_layers_first_is_no_slower(void **state) {
    (void)state;
    assert_true(mean_iteration("by layer", "layers") <= mean_iteration("by layer", "fifo"));
}

// ---- crashes ----

static void test_a_crash_ends_the_job_with_an_error(void **state) {
    static const char *const protocols[] = {"cubic", "dlcp"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char job[256];
        snprintf(job, sizeof job, "\"protocol\": \"%s\", \"servers\": 2, \"hard_limit_ms\": 50",
                 protocols[i]);
        char *told;
        json_t *r = network_run(
            network("\"paths\": \"flow\"", job, "",
                    ", \"expect\": \"sums or failure\", \"faults\": [{\"kind\": \"host_crash\", "
                    "\"hosts\": [\"h3\"], \"at_us\": 200}]"),
            1, &told);
        assert_null(told);
        assert_string_equal(network_text(r, "outcome"), "failed");
        assert_string_equal(network_text(r, "jobs.0.workers.3.state"), "crashed");
        assert_string_equal(network_text(r, "jobs.0.workers.0.state"), "failed");
        json_decref(r);
        r = network_run(network("\"paths\": \"flow\"", job, "",
                                ", \"faults\": [{\"kind\": \"host_crash\", "
                                "\"hosts\": [\"h3\"], \"at_us\": 200}]"),
                        1, &told);
        assert_non_null(told); // nobody said that it may
        free(told);
        json_decref(r);
    }
}

// ---- queues and pools ----

// A stream beside jobs that fill everything, in a queue of its own with guaranteed room.
static void test_a_guaranteed_queue_loses_nothing(void **state) {
    static const char *const background =
        ", \"background\": [{\"name\": \"beside\", \"from\": \"h0\", \"to\": \"h4\", \"gbps\": "
        "0.2, "
        "\"dscp\": 40, \"stop_ms\": 3}, {\"name\": \"flood\", \"from\": \"h1\", \"to\": \"h4\", "
        "\"stop_ms\": 3}, {\"name\": \"flood 2\", \"from\": \"h2\", \"to\": \"h4\", \"stop_ms\": "
        "3}]";
    static const char *const config =
        "\"paths\": \"packet\", \"switch\": {\"config\": {\"entries\": [{\"table\": \"queues_of\", "
        "\"key\": {\"dscp\": 40, \"ecn\": 0}, \"action\": \"queue\", \"args\": {\"qid\": 3, "
        "\"colour\": 0}}], \"pools\": [{\"id\": 0, \"cells\": 1500}], \"queues\": [{\"pool\": 0, "
        "\"share\": 1, \"schedule\": [{\"qid\": 0, \"priority\": 5}, {\"qid\": 3, %s}]}]}}";
    (void)state;
    for (int guaranteed = 0; guaranteed < 2; guaranteed++) {
        char paths[1024];
        snprintf(paths, sizeof paths, config,
                 guaranteed ? "\"priority\": 5, \"pooled\": false, \"guaranteed\": 200"
                            : "\"priority\": 0, \"share\": 0.015625");
        char *told;
        json_t *r = network_run(
            network(paths, "\"protocol\": \"dlcp\", \"servers\": 2", "", background), 1, &told);
        assert_null(told);
        const double lost =
            network_number(r, "background.0.sent") - network_number(r, "background.0.received");
        assert_true(network_number(r, "background.1.sent") >
                    network_number(r, "background.1.received"));
        if (guaranteed)
            assert_true(lost == 0);
        else
            assert_true(lost > 0); // it waits behind all others, and has little room to wait in
        json_decref(r);
    }
}

// ---- bad scenarios ----

static void refused(const char *scenario, const char *why) {
    struct sk_error err = {""};
    struct scenario *s = sim_scenario_parse("test.json", scenario, strlen(scenario), &err);
    if (s || !strstr(err.text, why))
        fail_msg("expected '%s', but: %s", why, s ? "it was taken" : err.text);
}

static void test_mistakes_are_refused(void **state) {
    static const struct {
        const char *paths, *job, *work, *why;
    } cases[] = {
        {"\"paths\": \"flow\"", "\"protocol\": \"tcp\"", "",
         "newreno, cubic, dctcp, pias, pfabric, dlcp"},
        {"\"paths\": \"flow\"", "\"protocol\": \"dlcp\", \"mss\": 500", "",
         "of other transports only"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"bound\": 0.1", "", "of \"dlcp\" only"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"slots\": 1", "", "is not known"},
        {"\"paths\": \"flow\"", "\"protocol\": \"dlcp\", \"bound\": 1", "", "it must be from 0 to"},
        {"\"paths\": \"flow\"", "\"protocol\": \"pias\", \"connections\": \"pair\"", "",
         "its size"},
        {"\"paths\": \"flow\"", "\"protocol\": \"pfabric\", \"dscp\": 40", "", "the last is 63"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"levels\": 4", "", "pias and pfabric"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"form\": \"ring\", \"servers\": 1", "",
         "form \"servers\" only"},
        {"\"paths\": \"flow\"", "\"protocol\": \"dlcp\", \"form\": \"halving\"", "",
         "must be servers or ring"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"form\": \"star\"", "",
         "must be one of servers, ring, halving, tree, two trees, hierarchical"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"form\": \"tree\", \"workers\": 1", "",
         "there can be 2 to 256"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"form\": \"hierarchical\"", "",
         "needs \"group\""},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"form\": \"hierarchical\", \"group\": 3",
         "", "must divide the 8 workers"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"group\": 2", "",
         "form \"hierarchical\" only"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\", \"form\": \"ring\", \"chunk_bytes\": 8",
         "", "is of trees only"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\"", ", \"values\": \"floats\"", "only DLCP"},
        {"\"paths\": \"flow\"", "\"protocol\": \"cubic\"", ", \"every\": 9", "leaves none"},
        {"\"paths\": \"many\"", "\"protocol\": \"cubic\"", "", "must be one of one, flow, packet"},
        {"\"paths\": \"packet\", \"sprayed\": [3]", "\"protocol\": \"dlcp\"", "", "is only for"},
        {"\"paths\": \"flow\", \"sprayed\": [64]", "\"protocol\": \"dlcp\"", "", "63"},
        {"\"paths\": \"flow\", \"switch\": {\"config\": {\"queues\": [{\"speed\": 1}]}}",
         "\"protocol\": \"dlcp\"", "", "which the topology says"},
        {"\"paths\": \"flow\"", "\"protocol\": \"switchml\"", ", \"forward\": \"by layer\"",
         "only jobs of a transport"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(network(cases[i].paths, cases[i].job, cases[i].work, ""), cases[i].why);
}

// ---- models ----

static double parameters(const char *model, size_t *layers) {
    struct sk_error err;
    char s[512];
    double n = 0;
    snprintf(s, sizeof s,
             "{\"topology\": {\"kind\": \"rack\", \"program\": \"dlcp\", \"hosts\": 2}, \"jobs\": "
             "[{\"protocol\": \"cubic\", \"work\": {\"kind\": \"training\", \"model\": \"%s\"}}]}",
             model);
    struct scenario *sc = sim_scenario_parse("test.json", s, strlen(s), &err);
    if (!sc)
        fail_msg("%s", err.text);
    *layers = sc->jobs[0].work.n_layers;
    for (size_t i = 0; i < *layers; i++)
        n += sc->jobs[0].work.layers[i].bytes / 4;
    sim_scenario_free(sc);
    return n;
}

static void test_models_have_their_published_parameters(void **state) {
    size_t layers;
    (void)state;
    assert_int_equal((long)parameters("googlenet", &layers), 6998552);
    assert_int_equal(layers, 58);
    assert_int_equal((long)parameters("inception-v3", &layers), 23834568);
    assert_int_equal(layers, 95);
    assert_int_equal((long)parameters("transformer", &layers), 18944000 + 6 * (3152384 + 4204032));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_transport_carries_every_flow),
        cmocka_unit_test(test_rings_pass_every_chunk_on),
        cmocka_unit_test(test_all_reduces_by_plan),
        cmocka_unit_test(test_all_reduces_take_their_time),
        cmocka_unit_test(test_all_flows_are_listed_if_wanted),
        cmocka_unit_test(test_a_run_is_the_same_again),
        cmocka_unit_test(test_a_hundredth_loss_costs_tcp_timeouts_and_dlcp_none),
        cmocka_unit_test(test_what_comes_is_what_was_sent),
        cmocka_unit_test(test_no_more_is_lost_than_the_bounds),
        cmocka_unit_test(test_one_path_flows_and_packets),
        cmocka_unit_test(test_a_spine_that_is_down_is_avoided),
        cmocka_unit_test(test_a_spine_comes_back),
        cmocka_unit_test(test_layers_need_not_wait_for_each_other),
        cmocka_unit_test(test_front_layers_first_is_no_slower),
        cmocka_unit_test(test_a_crash_ends_the_job_with_an_error),
        cmocka_unit_test(test_a_guaranteed_queue_loses_nothing),
        cmocka_unit_test(test_mistakes_are_refused),
        cmocka_unit_test(test_models_have_their_published_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
