// SPDX-License-Identifier: Apache-2.0
//
// Packet scripts: what is accepted, what is refused and with which words, what passes and what
// fails.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/pipeline/toy_program.h"
#include "pcap/stf/stf.h"

static struct sk_program *prog;
static char *messages;

static int load(void **state) {
    (void)state;
    prog = toy_load();
    return 0;
}

static int unload(void **state) {
    (void)state;
    sk_program_free(prog);
    free(messages);
    return 0;
}

#define REFUSED 99

static int run_with(const char *text, struct stf_options opt) {
    size_t size;
    free(messages);
    FILE *out = open_memstream(&messages, &size);
    struct stf_script *s = stf_parse("t.stf", text, strlen(text), out);
    int result = s ? (int)stf_run(s, prog, &opt, out) : REFUSED;
    stf_free(s);
    fclose(out);
    return result;
}

static int run(const char *text) {
    return run_with(text, (struct stf_options){false});
}

static void expect_result(int want, const char *text, const char *says) {
    int got = run(text);
    if (got != want || !strstr(messages, says) || (want == STF_PASS && messages[0]))
        fail_msg("%s\nresult %d, expected %d saying '%s':\n%s", text, got, want, says, messages);
}

#define PACKET "packet 3 020000000001 0200000000aa 0800 0102"

static void test_passes(void **state) {
    (void)state;
    static const char *const scripts[] = {
        PACKET "\nno_packet\nwait\n",
        "add forward dst_addr:0x020000000001 send(port:1)\n" PACKET
        "\nexpect 1 020000000001 0200000000aa 0800 0102 $\n",
        // an expectation before its packet; don't-care nibbles; more bytes may follow
        "expect 1 0200 0000 00*1 ****\nadd \"forward\" hdr.ethernet.dst_addr:2199023255553 \\\n"
        "   pipe.Ingress.send ( port : 0x1 )   # the end\n" PACKET,
        "ADD forward dst_addr:0x020000000001 send(port:1)\nPacket 3 020000000001 0200000000aa 0800"
        "\nEXPECT 1",
        "setdefault forward send(port:130)\n" PACKET "\n" PACKET "\nexpect 130\nexpect 130",
        "add forward dst_addr:1 drop() = first\nremove first\nadd forward dst_addr:1 drop()\n"
        "remove all\nadd forward dst_addr:1 drop",
        "add route 5 vrf:0x1 dst_addr:0x2001**** drop()", // precedence comes from the prefix
        PACKET "\n" PACKET "\ncheck_counter seen(3) == 2\ncheck_counter seen(3) packets >= 2\n"
               "check_counter seen(3) bytes = 32\ncheck_counter seen 4 != 1\n",
        "register_read pair 3 low == -1\nregister_write pair 3 high=-7\n"
        "register_read pair(3) high < 0\nregister_read pair 3 high == -7 pipe 3\n"
        "register_reset pair\nregister_read pair 3 high == 7\nregister_write count 9 0xff\n"
        "register_read count 9 == 255",
        "value_set types ether_type:0x88**",
        "port_metadata 3 0102030405060708\nloopback 9",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        expect_result(STF_PASS, scripts[i], "");
}

static void test_fails(void **state) {
    (void)state;
    static const char setup[] = "setdefault forward send(port:1)\n" PACKET "\n";
    static const struct {
        const char *rest, *says;
    } cases[] = {
        {"", "t.stf:2: port 1: an unexpected packet came out\n    got      0200 0000"},
        {"expect 1\nexpect 1", "t.stf:4: port 1: no packet came out"},
        {"expect 2\nexpect 1", "t.stf:3: port 2: no packet came out"},
        {"expect 1 020000000001 0200000000aa 0801",
         "t.stf:3: port 1, output 1 (of the packet in line 2): differs at byte 13\n"
         "    expected 0000  0200 0000 0001 0200 0000 00aa 0801     \n"
         "    got      0000  0200 0000 0001 0200 0000 00aa 0800 0102\n"
         "             0000                                   ^     "},
        {"expect 1 020000000001 0200000000aa 0800 01 $", "has 16 bytes, expected 15"},
        {"expect 1 020000000001 0200000000aa 0800 0102 *", "has 16 bytes, expected at least 16"},
        {"expect 1 020000000001 0200000000aa 0800 0102 **", "has 16 bytes, expected at least 17"},
        {"no_packet\nexpect 1", "t.stf:3: 1 packet came out, the first on port 1"},
        {"expect 1\ncheck_counter seen(3) > 1",
         "t.stf:4: counter seen(3) has 1 packets, expected > 1"},
        {"expect 1\nregister_read count 3 == 2",
         "t.stf:4: register count, index 3, pipe 0 is 0x1, expected == 2"},
        {"expect 1\nregister_read pair 1 low >= 0", "field low, pipe 0 is -1, expected >= 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", setup, cases[i].rest);
        expect_result(STF_FAIL, text, cases[i].says);
    }
}

static void test_order_per_port(void **state) {
    (void)state;
    static const char two[] = "setdefault forward send(port:1)\n"
                              "packet 3 00000000000100000000000a0800\n"
                              "packet 3 00000000000200000000000a0800\n";
    char text[512];
    snprintf(text, sizeof text, "%sexpect 1 000000000001\nexpect 1 000000000002", two);
    expect_result(STF_PASS, text, "");
    snprintf(text, sizeof text, "%sexpect 1 000000000002\nexpect 1 000000000001", two);
    expect_result(STF_FAIL, text, "output 2 (of the packet in line 3): differs at byte 5");
    // one too many, and one too few: the others are found again
    snprintf(text, sizeof text, "%sexpect 1 000000000002", two);
    expect_result(STF_FAIL, text, "t.stf:2: port 1: an unexpected packet came out");
    assert_null(strstr(messages, "differs"));
    snprintf(text, sizeof text,
             "%sexpect 1 000000000001\nexpect 1 000000000003\nexpect 1 000000000002", two);
    expect_result(STF_FAIL, text,
                  "t.stf:5: port 1: no packet came out; the packet in line 3 left at port 1\n");
    assert_null(strstr(messages, "differs"));
    snprintf(text, sizeof text, "%sexpect 1 000000000001\nexpect 1 000000000003", two);
    expect_result(STF_FAIL, text,
                  "t.stf:5: port 1, output 2 (of the packet in line 3): differs at byte 5");
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"\nfly away", "t.stf:2: error: there is no statement 'fly'"},
        {"", "there is no statement in this script"},
        {"# packet 1 00\n\n", "there is no statement in this script"},
        {"packet", "the port must be a number"},
        {"packet 512 00", "at most 511"},
        {"packet 512 00", "the port is 512"},
        {"packet 1", "the packet has no bytes"},
        {"packet 1 0g", "'g' is not a hexadecimal digit"},
        {"packet 1 0*", "only 'expect' takes don't-care digits"},
        {"packet 1 012", "only one digit"},
        {"expect 1 012 $", "only one digit"},
        {"expect 1 01 $ 02", "should end before '02'"},
        {"add", "a table's name is missing"},
        {"add t", "an action is missing"},
        {"add t 99999999999 k:1 a()", "at most 4294967295"},
        {"add t k: a()", "an action is missing"},
        {"add t k:", "a value is missing for k"},
        {"add t k:1 a(x:1", "',' or ')' is missing"},
        {"add t k:1 a(x)", "':' is missing after argument 'x'"},
        {"add t k:1 a(x:1 y:2)", "',' or ')' is missing"},
        {"add t k:1 a() b", "should end before 'b'"},
        {"add t k:1 a() =", "entry's id is missing"},
        {"add \"t k:1 a()", "a table's name is missing"},
        {"remove", "'all' or an entry's id is missing"},
        {"remove x", "no add statement above has the id 'x'"},
        {"check_counter c 1", "a comparison is missing"},
        {"check_counter c(1 == 2", "')' is missing"},
        {"check_counter c(x) == 2", "the index must be a number"},
        {"mc_node_create 1", "a port is missing"},
        {"mc_node_create 70000 1", "at most 65535"},
        {"mc_prune 288 1", "at most 287"},
        {"wait 5", "should end before '5'"},
        {"port_metadata 1 00", "port metadata is 8 bytes, or 16 on a Tofino 2"},
        {"tcam_2bit_mode TRUE", "there is no statement 'tcam_2bit_mode'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_result(REFUSED, cases[i].text, cases[i].says);
    assert_null(stf_parse("t.stf", "wait\0x", 6, stderr));
}

static void test_unusable(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"\nadd nothing k:1 drop()", "t.stf:2: error: no table 'nothing'"},
        {"add acl $valid:1 drop()", "ambiguous"},
        {"add forward dst_addr:1 send(port:512)", "512 does not fit 9 bits"},
        {"add forward dst_addr:0x*1 drop()", "not allowed for an exact key"},
        {"add forward dst_addr:1 drop()\nadd forward dst_addr:1 drop()", "exists"},
        {"setdefault forward fly()", "no action 'fly'"},
        {"add forward dst_addr:1 drop() = a\nremove a\nremove a", "no entry"},
        {"check_counter seen(512) == 0", "no index 512"},
        {"register_read pair 0 middle == 1", "no field 'middle'"},
        {"register_write count 0 -1", "negative"},
        {"packet 1 0102", "accepts 14 to 9216"},
        {"mc_node_associate 1 0", "there is no node 0"},
        {"mc_node_create 1 1\nmc_node_associate 1 0", "there is no group 1"},
        {"mc_node_create 1 1 1", "a port or a LAG is given twice"},
        {"mc_mgrp_create 1\nmc_mgrp_create 1", "group 1 exists already"},
        {"mc_mgrp_create 1\nmc_node_create 1 1\nmc_node_associate 1 0\nmc_node_associate 1 0",
         "is in group 1 already"},
        {"\nno_packet\n" PACKET, "t.stf:2: error: no packet has been sent yet"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_result(STF_UNUSABLE, cases[i].text, cases[i].says);
}

static void test_many_errors_in_one_run(void **state) {
    (void)state;
    assert_int_equal(run("fly\nwait\nrun\n"), REFUSED);
    assert_non_null(strstr(messages, "t.stf:1:"));
    assert_non_null(strstr(messages, "t.stf:3:"));
    char text[400] = "";
    for (int i = 0; i < 30; i++)
        strcat(text, "fly away\n");
    assert_int_equal(run(text), REFUSED);
    assert_non_null(strstr(messages, "t.stf: 10 errors more"));
}

// The toy's group packets: TOY_GROUP_A, group 1, in a wish after the Ethernet header.
// The hint in force at the first difference by line, whatever is compared first, and no other.
static void test_hints(void **state) {
    (void)state;
    static const char first[] = "t.stf:3: hint: there is a way, \"quoted\"\n";
    char text[512];
    snprintf(
        text, sizeof text,
        "setdefault forward send(port:2)\nhint   there is a way, \"quoted\"  # not this\n" PACKET
        "\nhint\nexpect 9\nregister_read count 3 == 2\nHINT another one\nexpect 1");
    expect_result(STF_FAIL, text, first);
    assert_null(strstr(messages, "another one"));
    assert_string_equal(messages + strlen(messages) - strlen(first), first);
    expect_result(STF_FAIL, "hint one \\\n  and two\n" PACKET "\nexpect 1",
                  "t.stf:4: hint: one and two\n");
    expect_result(STF_FAIL, "hint one\nhint\n" PACKET "\nexpect 1", "t.stf:4: port 1: no packet");
    assert_null(strstr(messages, "hint"));
    expect_result(STF_FAIL, PACKET "\nexpect 1\nhint too late\nwait", "t.stf:2: port 1: no packet");
    assert_null(strstr(messages, "hint"));
    expect_result(STF_UNUSABLE, "hint make it\nadd nosuch 1 drop()", "t.stf:2: hint: make it\n");
    expect_result(STF_PASS, "hint nothing is wrong\n" PACKET "\nno_packet", "");
}

// What became of the packet that an output is missing of.
static void test_fates(void **state) {
    (void)state;
    expect_result(STF_FAIL, PACKET "\nexpect 1",
                  "t.stf:2: port 1: no packet came out; the packet in line 1 was dropped "
                  "(no destination set in ingress)\n");
    expect_result(STF_FAIL, "setdefault forward send(port:2)\nexpect 1\n" PACKET,
                  "t.stf:2: port 1: no packet came out; the packet in line 3 left at port 2\n");
    expect_result(STF_FAIL,
                  PACKET "\nsetdefault forward send(port:2)\n" PACKET "\nexpect 1\nexpect 2",
                  "t.stf:4: port 1: no packet came out; the packet in line 3 left at port 2\n");
    expect_result(STF_FAIL, "expect 1", "t.stf:1: port 1: no packet came out\n");
    expect_result(STF_FAIL,
                  PACKET "\nsetdefault forward send(port:2)\n" PACKET "\n" PACKET
                         "\nexpect 1\nexpect 2\nexpect 2",
                  "t.stf:5: port 1: no packet came out; the packet in line 4 left at port 2\n");
}

static void test_multicast(void **state) {
    (void)state;
    expect_result(STF_PASS,
                  "mc_mgrp_create 1\nmc_node_create 7 1 2\nmc_node_create 8 3\n"
                  "mc_node_associate 1 0\nmc_node_associate 1 1 77\nmc_node_update 0 4\n"
                  "packet 9 eeeeeeeeeeee dddddddddddd 9000 0002 0000 0000 0001 0000 0000 0000 0000 "
                  "0000 ffff\nexpect 4\nexpect 3\n"
                  "packet 9 eeeeeeeeeeee dddddddddddd 9000 0002 0000 0000 0001 0000 004d 0000 0000 "
                  "0000 ffff\nexpect 4\n",
                  "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),         cmocka_unit_test(test_fails),
        cmocka_unit_test(test_order_per_port), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unusable),       cmocka_unit_test(test_many_errors_in_one_run),
        cmocka_unit_test(test_multicast),      cmocka_unit_test(test_hints),
        cmocka_unit_test(test_fates),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
