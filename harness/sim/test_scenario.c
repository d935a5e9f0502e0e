// SPDX-License-Identifier: Apache-2.0
//
// Reading scenarios: what is unfolded, what is drawn, and what a mistake is told as.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario.h"

static struct scenario *parse(const char *text, struct sk_error *err) {
    return sim_scenario_parse("t.json", text, strlen(text), err);
}

static struct scenario *good(const char *text) {
    struct sk_error err;
    struct scenario *s = parse(text, &err);
    if (!s)
        fail_msg("%s", err.text);
    return s;
}

static bool has_cable(const struct scenario *s, const char *a, const char *b) {
    for (size_t i = 0; i < s->n_cables; i++)
        if (strcmp(s->stations[s->cables[i].a].name, a) == 0 &&
            strcmp(s->stations[s->cables[i].b].name, b) == 0)
            return true;
    return false;
}

static void test_topologies_unfold(void **state) {
    (void)state;
    struct scenario *s =
        good("{\"topology\": {\"kind\": \"rack\", \"program\": \"l2\", \"hosts\": 3}}");
    assert_int_equal(s->n_stations, 4);
    assert_int_equal(s->n_cables, 3);
    assert_true(has_cable(s, "h2", "s0"));
    sim_scenario_free(s);

    s = good("{\"topology\": {\"kind\": \"dumbbell\", \"program\": \"l2\", \"left\": 1,"
             " \"right\": 2, \"link\": {\"gbps\": 10}, \"trunk\": {\"gbps\": 40}}}");
    assert_true(has_cable(s, "h0", "s0") && has_cable(s, "h1", "s1") && has_cable(s, "h2", "s1"));
    assert_true(has_cable(s, "s0", "s1"));
    for (size_t i = 0; i < s->n_cables; i++)
        assert_true(s->cables[i].line.gbps.low ==
                    (s->stations[s->cables[i].a].is_switch ? 40 : 10));
    sim_scenario_free(s);

    s = good("{\"topology\": {\"kind\": \"tree\", \"program\": \"l2\", \"leaves\": [1, 2],"
             " \"root_hosts\": 1}}");
    assert_true(has_cable(s, "h0", "s1") && has_cable(s, "h2", "s2") && has_cable(s, "h3", "s0"));
    assert_true(has_cable(s, "s1", "s0") && has_cable(s, "s2", "s0"));
    assert_int_equal(s->n_cables, 6);
    sim_scenario_free(s);

    s = good("{\"topology\": {\"kind\": \"leaf-spine\", \"program\": \"atp\", \"leaves\": 2,"
             " \"hosts\": 2, \"spines\": 3}}");
    assert_int_equal(s->n_cables, 4 + 6);
    assert_int_equal(s->n_programs, 2);
    assert_true(has_cable(s, "h3", "s1") && has_cable(s, "s1", "p2"));
    sim_scenario_free(s);
}

static void test_ranges_are_drawn_between_their_ends(void **state) {
    struct sim_random r = sim_random_of(1, "t");
    const struct sim_range even = {10, 20, false}, log = {1e-4, 1e-1, true}, one = {5, 5, false};
    int small = 0;
    double sum = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        const double a = sim_draw(&r, &even), b = sim_draw(&r, &log);
        assert_true(a >= 10 && a < 20 && b >= 1e-4 && b < 1e-1);
        assert_true(sim_draw(&r, &one) == 5);
        sum += a;
        small += b < 1e-3;
    }
    assert_true(sum / 3000 > 14.8 && sum / 3000 < 15.2);
    assert_in_range(small, 900, 1100); // a third: one order of magnitude of three
}

#define RACK "\"topology\": {\"kind\": \"rack\", \"program\": \"atp\", \"hosts\": 3}"

static void test_mistakes_are_told_with_their_place(void **state) {
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"{", "t.json:1:1: "},
        {"[]", "t.json:1: the whole: must be an object"},
        {"{\n\"limit\": 3}", "t.json:2: limit: unknown key"},
        {"{}", "topology: it is missing"},
        {"{" RACK ",\n\"seed\": \"x\"}", "t.json:2: seed: it must be a whole number"},
        {"{" RACK ", \"limit_ms\": 0}", "limit_ms: is 0; it must be from 0.001"},
        {"{" RACK ", \"expect\": \"luck\"}",
         "expect: is 'luck'; it must be one of sums, sums or failure, anything"},
        {"{\"topology\": {\"kind\": \"ring\"}}",
         "topology.kind: is 'ring'; it must be one of rack"},
        {"{\"topology\": {\"kind\": \"rack\"}}", "topology.program: it is missing"},
        {"{\"topology\": {\"kind\": \"rack\", \"program\": \"none\"}}",
         "topology.program: there is no program 'none'"},
        {"{\"topology\": {\"kind\": \"rack\", \"program\": \"l2\", \"left\": 2}}",
         "topology.left: unknown key"},
        {"{\"topology\": {\"kind\": \"rack\", \"program\": \"l2\", \"link\": {\"gbps\": -1}}}",
         "topology.link.gbps: is -1; it must be from 0 to 1000"},
        {"{\"topology\": {\"kind\": \"rack\", \"program\": \"l2\", \"link\": {\"gbps\": [2, 1]}}}",
         "topology.link.gbps: starts with 2, which is more than 1"},
        {"{\"topology\": {\"kind\": \"rack\", \"program\": \"l2\","
         " \"link\": {\"gbps\": {\"log\": [0, 1]}}}}",
         "topology.link.gbps.log: must be above 0"},
        {"{\"topology\": {\"kind\": \"rack\", \"program\": \"l2\","
         " \"overrides\": [{\"link\": \"h0-h1\"}]}}",
         "topology.overrides[0].link: there is no link 'h0-h1'"},
        {"{\"topology\": {\"kind\": \"custom\", \"program\": \"l2\", \"switches\":"
         " [{\"name\": \"s\"}], \"hosts\": [\"h\"], \"links\": []}}",
         "topology: host h has 0 links; a host has one"},
        {"{\"topology\": {\"kind\": \"custom\", \"program\": \"l2\", \"switches\":"
         " [{\"name\": \"s\"}, {\"name\": \"s\"}]}}",
         "topology.switches[1]: there are two stations 's'"},
        {"{\"topology\": {\"kind\": \"custom\", \"program\": \"l2\", \"switches\":"
         " [{\"name\": \"s\", \"config\": {\"ports\": []}}]}}",
         "topology.switches[0].config.ports: unknown key"},
        {"{\"topology\": {\"kind\": \"custom\", \"program\": \"l2\", \"switches\":"
         " [{\"name\": \"s\", \"config\": []}]}}",
         "topology.switches[0].config: must be an object"},
        {"{" RACK ", \"jobs\": [{}]}",
         "jobs[0]: it has no protocol (switchml, atp, libra, own or a transport)"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"atp\"}]}",
         "jobs[0].servers: must be 1 to 16 hosts that are parameter servers"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"s0\"]}]}",
         "jobs[0].servers[0]: 's0' is a switch"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h2\"], \"slots\": 3}]}",
         "jobs[0].slots: a job of ATP has no such member"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h2\"],"
         " \"sessions\": true, \"linear\": true, \"work\": {\"count\": 1}}]}",
         "jobs[0].linear: a job with sessions has no such member"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"sessions\": true,"
         " \"work\": {\"count\": 0}}]}",
         "jobs[0].work: of a job with sessions needs \"count\" of at least 1"},
        {"{" RACK ", \"faults\": [{\"kind\": \"worker_restart\", \"hosts\": [\"s0\"]}]}",
         "faults[0].hosts[0]: 's0' is a switch"},
        {"{" RACK ", \"faults\": [{\"kind\": \"host_crash\", \"late_us\": 1}]}",
         "faults[0].late_us: unknown key"},
        {"{" RACK ", \"faults\": [{\"kind\": \"server_restart\", \"times\": 1001}]}",
         "faults[0].times: is 1001; it must be from 0 to 1000"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"window\": 3}]}",
         "jobs[0].window: a job of SwitchML has no such member"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"elements\": 33}]}",
         "jobs[0].elements: is 33; a packet has 32, 64, 128 or 256 elements"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h2\"], \"workers\":"
         " [\"h2\"]}]}",
         "jobs[0].workers: 'h2' is a server of the job, too"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h2\"], \"workers\": 4,"
         " \"work\": {}}]}",
         "jobs[0].workers: is 4; it must be from 1 to 2"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h2\"]}]}",
         "jobs[0].work: it is missing"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"work\": {\"kind\": \"training\"}}]}",
         "jobs[0].work: training needs either \"model\" or \"layers\""},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"work\": {\"kind\": \"training\","
         " \"model\": \"vgg16\", \"forward_us\": 5}}]}",
         "jobs[0].work.forward_us: is of \"layers\" only"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"work\": {\"kind\": \"training\","
         " \"model\": \"gpt\"}}]}",
         "jobs[0].work.model: there is no model 'gpt'; the models are: alexnet, "},
        {"{" RACK ", \"background\": [{\"from\": \"h0\", \"to\": \"h1\", \"gbps\": 1e-30}]}",
         "background[0].gbps: is 1e-30; it is 0 (as fast as the link) or at least 0.001"},
        {"{\"limit_ms\": 10, " RACK
         ", \"background\": [{\"from\": \"h0\", \"to\": \"h1\", \"start_ms\": 10}]}",
         "background[0].start_ms: can be 10, but the run ends at limit_ms, which is 10"},
        {"{" RACK ", \"background\": [{\"from\": \"h0\", \"to\": \"h1\", \"start_ms\": 5,"
         " \"stop_ms\": 1}]}",
         "background[0].stop_ms: is at most 1, but it starts at 5 at the earliest"},
        {"{" RACK ", \"faults\": [{\"kind\": \"loss\", \"rate\": 0.1, \"packets\": [1]}]}",
         "faults[0]: it has both a rate and packets"},
        {"{" RACK ", \"faults\": [{\"kind\": \"loss\", \"rate\": 0.1, \"links\": []}]}",
         "faults[0].links: is not a list of links"},
        {"{\"topology\": {\"kind\": \"leaf-spine\", \"program\": \"l2\", \"leaves\": 2,"
         " \"hosts\": 3, \"spines\": 2}}",
         "topology: the link s1-p1 closes a loop of switches that flood (l2)"},
        {"{\"topology\": {\"program\": \"l2\", \"hosts\": 2, \"link\": {\"queue_bytes\": 100}}}",
         "topology.link.queue_bytes: is 100; a queue has room for a frame"},
        {"{\"topology\": {\"program\": \"switchml\", \"hosts\": 40}, \"jobs\": [{\"protocol\":"
         " \"switchml\", \"work\": {}}]}",
         "jobs[0]: there are 40 hosts, but a job can have 32 workers"},
        {"{\"topology\": {\"kind\": \"levels\", \"program\": \"with_levels\", \"fan_out\": [2, "
         "0]}}",
         "topology.fan_out[1]: must be from 1 to 64"},
        {"{\"topology\": {\"kind\": \"levels\", \"program\": \"with_levels\"}}",
         "topology: needs \"fan_out\", a list of 1 to 4 numbers"},
        {"{\"topology\": {\"kind\": \"levels\", \"program\": \"with_levels\", \"fan_out\": [64, "
         "64, 64]}}",
         "topology: more than 8192 hosts and switches"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"levels\": true, \"work\": {}}]}",
         "jobs[0]: has \"levels\", so it needs \"switch\", the one at the top"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"levels\": true, \"switch\": \"s0\","
         " \"work\": {\"collectives\": true}}]}",
         "jobs[0].work: has \"collectives\", which jobs with \"levels\" cannot have"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"levels\": true, \"switch\": \"s0\","
         " \"f16\": true, \"work\": {}}]}",
         "jobs[0]: has \"levels\", which jobs of 16-bit floats (\"f16\") cannot have"},
        {"{" RACK ", \"background\": [{\"from\": \"h0\", \"to\": \"h0\"}]}",
         "background[0].to: is the source of the traffic"},
#define LIBRA "{" RACK ", \"jobs\": [{\"protocol\": \"libra\", \"servers\": [\"h2\"]"
        {LIBRA "}]}", "jobs[0].work: it is missing"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"libra\"}]}",
         "jobs[0]: \"servers\" must be 1 to 16 hosts that are parameter servers"},
        {LIBRA ", \"slots\": 3, \"work\": {}}]}", "jobs[0].slots: unknown key"},
        {LIBRA ", \"workers\": [\"h2\"], \"work\": {}}]}",
         "jobs[0].workers: 'h2' is a server of the job, too"},
        {LIBRA ", \"hot\": 11, \"work\": {\"parameters\": 10}}]}",
         "jobs[0].hot: is 11, and the job has 10 parameters"},
        {LIBRA ", \"work\": {\"collect\": true}}]}",
         "jobs[0].work.collect: needs \"values\": \"floats\" and \"pull\": true"},
        {LIBRA ", \"work\": {\"sync\": true, \"outstanding\": 2}}]}",
         "jobs[0].work.outstanding: of a job with \"sync\" is 1"},
        {LIBRA ", \"window\": 200, \"work\": {}}]}",
         "jobs[0].window: can be 200, which is above window_max"},
        {LIBRA ", \"work\": {}}, {\"protocol\": \"switchml\", \"name\": \"job0\", \"work\": {}}]}",
         "jobs[1]: there are two jobs 'job0'"},
        {"{" RACK ", \"controller\": {\"switch\": \"s0\", \"standby\": \"s0\"}}",
         "controller.standby: is the switch itself"},
        {"{\"topology\": {\"kind\": \"dumbbell\", \"program\": \"switchml\", \"switch\": "
         "{\"config\":"
         " {\"tor\": {}}}}, \"controller\": {\"switch\": \"s0\", \"standby\": \"s1\"}}",
         "controller.switch: has a \"tor\", and so no Libra_s that could move jobs"},
        {"{\"topology\": {\"kind\": \"rack\", \"program\": \"switchml\", \"hosts\": 3, \"switch\":"
         " {\"config\": {\"queues\": [{\"port\": 68, \"speed\": 100}, {\"port\": 72, \"speed\":"
         " 100}]}}}}",
         "topology.switch.config.queues[1].speed: is that of the port's link"},
        {"{" RACK ", \"faults\": [{\"kind\": \"migrate\"}]}",
         "faults[0]: the scenario has no \"controller\" that could move jobs"},
        {"{" RACK ", \"faults\": [{\"kind\": \"slow_cpu\", \"service_us\": 0}]}",
         "faults[0].service_us: is 0; it must be from 0.001"},
        {"{\"topology\": {\"program\": \"l2\", \"switch\": {\"cpu\": {\"frames\": 0}}}}",
         "topology.switch.cpu.frames: is 0; it must be from 1"},
        {"{" RACK ", \"faults\": [{}]}", "faults[0]: it has no kind"},
        {"{" RACK ", \"faults\": [{\"kind\": \"loss\"}]}",
         "faults[0]: it has neither a rate nor packets"},
        {"{" RACK ", \"faults\": [{\"kind\": \"loss\", \"packets\": [2, 2]}]}",
         "faults[0].packets[1]: packets are counted from 1 and must be listed in ascending order"},
        {"{" RACK ", \"faults\": [{\"kind\": \"host_crash\", \"hosts\": [\"s0\"]}]}",
         "faults[0].hosts[0]: 's0' is a switch"},
        {"{" RACK ", \"jobs\": [{\"protocol\": \"switchml\", \"work\": {}}],"
         " \"faults\": [{\"kind\": \"reorder\", \"rate\": 0.1}]}",
         "faults[0]: SwitchML needs the order of packets to its switch"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_error err = {""};
        struct scenario *s = parse(cases[i].text, &err);
        if (s)
            fail_msg("taken: %s", cases[i].text);
        if (!strstr(err.text, cases[i].told))
            fail_msg("%s\nis told as:  %s\nand not as: %s", cases[i].text, err.text, cases[i].told);
    }
}

static void test_the_scenarios_of_the_tree_are_good(void **state) {
    glob_t g;
    (void)state;
    assert_int_equal(glob("sim/scenarios/*.json", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct sk_error err;
        struct scenario *s = sim_scenario_read(g.gl_pathv[i], &err);
        if (!s)
            fail_msg("%s", err.text);
        sim_scenario_free(s);
    }
    globfree(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topologies_unfold),
        cmocka_unit_test(test_ranges_are_drawn_between_their_ends),
        cmocka_unit_test(test_mistakes_are_told_with_their_place),
        cmocka_unit_test(test_the_scenarios_of_the_tree_are_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
