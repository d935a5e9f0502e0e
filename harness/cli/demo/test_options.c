// SPDX-License-Identifier: Apache-2.0
//
// What `silken demo` can be told, and one sentence for everything else.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/demo/options.h"

#define MAX_ARGS 16

// Splits 'line' at spaces, as a simple shell.
static int parse(const char *line, struct demo_options *o, char *error, size_t size) {
    static char buffer[512];
    char *argv[MAX_ARGS] = {"demo"}, *word;
    int argc = 1;

    snprintf(buffer, sizeof buffer, "%s", line);
    for (word = strtok(buffer, " "); word; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    return demo_options_parse(o, argc, argv, error, size);
}

static struct demo_options good(const char *line) {
    struct demo_options o;
    char error[256] = "";

    if (parse(line, &o, error, sizeof error)) {
        fail_msg("'%s' refused: %s", line, error);
    }
    return o;
}

static void bad(const char *line, const char *sentence) {
    struct demo_options o;
    char error[256] = "";

    assert_int_equal(-1, parse(line, &o, error, sizeof error));
    if (!strstr(error, sentence)) {
        fail_msg("'%s': expected '%s' in: %s", line, sentence, error);
    }
    assert_null(strchr(error, '\n'));
}

static void test_defaults(void **state) {
    struct demo_options o = good("");

    (void)state;
    assert_int_equal(4, o.workers);
    assert_int_equal(1, o.lanes);
    assert_int_equal(256, o.elements);
    assert_true(o.loss == 0);
    assert_non_null(strstr(o.program, "switchml.p4"));
    assert_null(o.keep);
    assert_null(o.record);
    assert_false(o.quiet || o.help);
}

static void test_good_ones(void **state) {
    struct demo_options o = good("--workers 8 --elements=64 --seed 0x10 --batch 64 --steps 7 -q");

    (void)state;
    assert_int_equal(8, o.workers);
    assert_int_equal(64, o.elements);
    assert_int_equal(16, o.seed);
    assert_int_equal(64, o.batch);
    assert_int_equal(7, o.steps);
    assert_true(o.quiet);
    assert_int_equal(8, good("--lanes 8 --workers 7").lanes);
    assert_true(good("--loss 1%").loss == 0.01);
    assert_true(good("--loss 0.01").loss == 0.01);
    assert_true(good("--loss=0.5%").loss == 0.005);
    assert_true(good("--loss 0").loss == 0);
    assert_string_equal("x.p4", good("--program x.p4").program);
    assert_string_equal("logs", good("--keep=logs").keep);
    assert_string_equal("run.pcapng", good("--record=run.pcapng").record);
    assert_true(good("--help").help);
}

static void test_protocols(void **state) {
    struct demo_options o = good("");

    (void)state;
    assert_int_equal(SILKEN_SWITCHML, o.protocol);
    assert_int_equal(0, o.servers);
    assert_int_equal(1, o.racks);
    assert_non_null(strstr(o.program, "switchml.p4"));
    o = good("--protocol switchml");
    assert_int_equal(SILKEN_SWITCHML, o.protocol);
    o = good("--protocol atp");
    assert_int_equal(SILKEN_ATP, o.protocol);
    assert_int_equal(1, o.servers);
    assert_int_equal(1, o.racks);
    assert_int_equal(62, o.elements);
    assert_non_null(strstr(o.program, "atp.p4"));
    o = good("--servers 2 --racks=4 --protocol=atp --program x.p4 --lanes 4");
    assert_int_equal(2, o.servers);
    assert_int_equal(4, o.racks);
    assert_string_equal("x.p4", o.program);

    o = good("--protocol both");
    assert_true(o.both);
    assert_int_equal(1, o.servers);
    assert_int_equal(1, o.racks);
    assert_int_equal(64, o.elements);
    assert_non_null(strstr(o.program, "ina.p4"));
    good("--protocol both --elements 64 --workers 16 --lanes 3 --servers 4");

    o = good("--protocol libra --sync --loss 1% --steps 7");
    assert_true(o.libra);
    assert_true(o.sync);
    assert_int_equal(2, o.servers);
    assert_non_null(strstr(o.program, "libra.p4"));
    assert_int_equal(4, good("--protocol libra --servers 4").servers);
    bad("--protocol libra --racks 3", "2 servers cannot be spread over 3 racks");
    bad("--text f", "--text needs --protocol libra");
    bad("--protocol libra --lanes 2", "does not take --lanes");
    bad("--protocol libra --elements 64", "does not take --elements");
    bad("--protocol libra --links veth", "does not take --links veth");
    bad("--protocol libra --epochs 2", "does not take --epochs");
    bad("--protocol libra --images 10", "does not take --images");
    bad("--protocol libra --record f", "does not take --record");
    bad("--sync", "--sync needs --protocol libra");

    o = good("--protocol dlcp --loss 10% --bound 20% --racks 2 --spines 3 --network convolutional");
    assert_true(o.dlcp && o.convolutional && !o.ring);
    assert_true(o.bound == 0.2);
    assert_int_equal(3, o.spines);
    assert_int_equal(2, o.racks);
    assert_non_null(strstr(o.program, "dlcp.p4"));
    assert_true(good("--protocol dlcp --ring").ring);
    assert_true(good("--protocol dlcp").bound == 0.1);
    bad("--protocol dlcp --racks 2", "several racks need --spines");
    bad("--protocol dlcp --spines 2", "--spines needs several racks");
    bad("--protocol dlcp --servers 2", "does not take --servers");
    bad("--protocol dlcp --lanes 2", "does not take --lanes");
    bad("--protocol dlcp --elements 64", "does not take --elements");
    bad("--protocol dlcp --record f", "does not take --record");
    bad("--protocol dlcp --network wide", "takes deep or convolutional, not 'wide'");
    bad("--protocol dlcp --bound 60%", "or 0.01, not '60%'");
    bad("--ring", "need --protocol dlcp");
    bad("--protocol libra --bound 1%", "need --protocol dlcp");

    bad("--protocol tcp", "takes switchml, atp, both, libra or dlcp, not 'tcp'");
    bad("--protocol both --elements 256", "SwitchML's packets have 64 elements");
    bad("--protocol both --racks 2", "share the switch of one rack");
    bad("--protocol both --workers 16 --lanes 4", "there are 63");
    bad("--servers 1", "needs --protocol atp");
    bad("--servers 2 --protocol switchml", "needs --protocol atp");
    o = good("--racks 2");
    assert_int_equal(2, o.racks);
    assert_int_equal(2, o.levels);
    assert_non_null(strstr(o.program, "with_levels.p4"));
    o = good("--levels 3 --workers 5");
    assert_int_equal(3, o.racks);
    assert_int_equal(3, o.levels);
    o = good("--levels 3 --racks 4");
    assert_int_equal(4, o.racks);
    bad("--levels 3 --racks 2", "2 racks do not have 3 levels");
    bad("--levels 1", "from 2 to 4");
    bad("--racks 2 --f16", "without --f16");
    bad("--racks 2 --lanes 2", "go with one lane");
    bad("--levels 2 --protocol atp", "--levels needs --protocol switchml");
    bad("--levels 2 --protocol dlcp", "--levels needs --protocol switchml");
    bad("--protocol atp --elements 256", "packets of ATP have 62");
    bad("--protocol atp --servers 5", "from 1 to 4, not '5'");
    bad("--protocol atp --racks 0", "from 1 to 4, not '0'");
    bad("--protocol atp --racks 3 --workers 2", "2 workers cannot be spread over 3 racks");
    bad("--protocol atp --workers 14 --lanes 4 --servers 2", "there are 63");
    bad("--protocol atp --workers 15 --lanes 4 --servers 1", "64 ports");
    good("--protocol atp --workers 14 --lanes 4 --servers 1 --racks 4");
}

static void test_bad_ones(void **state) {
    (void)state;
    bad("--worker 4", "there is no option '--worker'");
    bad("extra", "there is no option 'extra'");
    bad("--workers", "--workers needs a value");
    bad("--workers 0", "from 1 to 16, not '0'");
    bad("--workers 17", "from 1 to 16, not '17'");
    bad("--workers -1", "not '-1'");
    bad("--workers 4x", "not '4x'");
    bad("--workers=", "not ''");
    bad("--seed 18446744073709551616", "--seed takes a number");
    bad("--elements 128", "takes 64 or 256, not 128");
    bad("--loss 51%", "--loss takes a share");
    bad("--loss -1%", "--loss takes a share");
    bad("--loss %", "--loss takes a share");
    bad("--loss nan", "--loss takes a share");
    bad("--loss 1%%", "--loss takes a share");
    bad("--quiet=1", "--quiet takes no value");
    bad("--keep=", "takes a name");
    bad("--record=", "takes a name");
    bad("--lanes 0", "from 1 to 8, not '0'");
    bad("--lanes 8 --workers 8", "need 64 ports; there are 63");
    bad("--workers 8 --batch 7", "cannot be shared among 8 workers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_good_ones),
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_bad_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
