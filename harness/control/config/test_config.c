// SPDX-License-Identifier: Apache-2.0
//
// The configuration file: what it sets, and that each mistake is named with its line and place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/config/config.h"
#include "control/config/controllers.h"
#include "harness/pipeline/toy_program.h"

// Two programs with these pipes.
#define SEVERAL(a, b)                                                                              \
    "{\"programs\": [{\"program\": \"a\", \"pipes\": " a "}, {\"program\": \"b\", \"pipes\": " b   \
    "}]}"

static struct sk_program *prog;

static int load(void **state) {
    (void)state;
    prog = toy_load();
    return 0;
}

static int unload(void **state) {
    (void)state;
    sk_program_free(prog);
    return 0;
}

struct last {
    uint16_t port;
    unsigned n;
};

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    (void)frame;
    (void)length;
    struct last *last = aux;
    last->port = port;
    last->n++;
    return true;
}

static struct sk_switch *new_switch(struct last *last) {
    char error[256];
    struct sk_switch *sw =
        sk_switch_new(prog, &(struct sk_switch_options){.tx = tx, .aux = last, .n_packets = 8},
                      error, sizeof error);
    assert_non_null(sw);
    return sw;
}

static const char whole[] =
    "{\n"
    " \"program\": \"toy.p4\", \"include\": [\"a\", \"b\"], \"define\": [\"N=1\"],\n"
    " \"ports\": [{\"port\": 1, \"device\": \"net_null0\", \"name\": \"one\", \"mtu\": 1500,\n"
    "            \"metadata\": \"0x0102030405060708\"}, {\"port\": 130, \"device\": "
    "\"net_null1,a=b\"}],\n"
    " \"loopback\": [9], \"cpu_port\": 65,\n"
    " \"multicast\": {\"nodes\": [{\"id\": 1, \"rid\": 7, \"ports\": [1, 130]}, {\"id\": 2, "
    "\"ports\": []}],\n"
    "   \"groups\": [{\"id\": 3, \"nodes\": [1, {\"node\": 2, \"xid\": 5}]}],\n"
    "   \"prune\": [{\"id\": 5, \"ports\": [1]}]},\n"
    " \"entries\": [{\"table\": \"forward\", \"key\": {\"dst_addr\": \"02:00:00:00:00:01\"},\n"
    "              \"action\": \"send\", \"args\": {\"port\": 130}},\n"
    "   {\"table\": \"Ingress.acl\", \"key\": {\"$valid\": true}, \"priority\": 4294967295, "
    "\"action\": "
    "\"drop\", \"pipe\": 2}],\n"
    " \"defaults\": [{\"table\": \"forward\", \"action\": \"send\", \"args\": {\"port\": "
    "\"0x1\"}}],\n"
    " \"registers\": [{\"name\": \"count\", \"index\": 3, \"value\": 7},\n"
    "   {\"name\": \"pair\", \"index\": 0, \"value\": {\"low\": -2, \"high\": \"0x10\"}, \"pipe\": "
    "1}],\n"
    " \"value_sets\": [{\"name\": \"types\", \"key\": {\"ether_type\": \"0x88**\"}}],\n"
    " \"pipes\": 3, \"lcores\": 2, \"cpus\": [0, 1], \"idle_sleep\": 0,\n"
    " \"control_socket\": \"/tmp/x.sock\", \"faults\": {\"loss\": 0, \"seed\": 1}\n"
    "}\n";

static void test_several_programs(void **state) {
    (void)state;
    struct sk_error err = {""};
    const char text[] = SEVERAL("[0, 2]", "[1, 3], \"name\": \"inner\"");
    struct sk_config *c = sk_config_parse("c.json", text, strlen(text), &err);
    assert_string_equal(err.text, "");
    assert_non_null(c);
    assert_null(c->program);
    assert_int_equal(c->n_programs, 2);
    assert_string_equal(c->programs[0].program, "a");
    assert_null(c->programs[0].name);
    assert_int_equal(c->programs[0].pipes, 5);
    assert_string_equal(c->programs[1].name, "inner");
    assert_int_equal(c->programs[1].pipes, 10);
    sk_config_free(c);
}

static void test_everything(void **state) {
    (void)state;
    struct sk_error err = {""};
    struct sk_config *c = sk_config_parse("c.json", whole, strlen(whole), &err);
    if (!c)
        fail_msg("%s", err.text);
    assert_string_equal(c->program, "toy.p4");
    assert_int_equal(c->n_include, 2);
    assert_string_equal(c->include[1], "b");
    assert_int_equal(c->n_ports, 2);
    assert_string_equal(c->ports[0].name, "one");
    assert_string_equal(c->ports[0].metadata, "0x0102030405060708");
    assert_int_equal(c->cpu_port, 65);
    assert_int_equal(c->pipes, 3);
    assert_int_equal(c->lcores, 2);
    assert_int_equal(c->n_cpus, 2);
    assert_int_equal(c->cpus[1], 1);
    assert_int_equal(c->idle_sleep_us, 0);
    assert_int_equal(c->ports[1].queues, 0);
    assert_false(c->ports[1].not_promiscuous);
    struct last last = {0};
    struct sk_switch *sw = new_switch(&last);
    if (sk_config_apply(c, sw, &err))
        fail_msg("%s", err.text);
    sk_config_free(c);
    uint8_t frame[60] = {2, 0, 0, 0, 0, 1};
    sk_switch_rx(sw, 1, frame, 60, 0);
    sk_switch_run(sw, 0);
    assert_int_equal(last.port, 130);
    frame[0] = 4;
    sk_switch_rx(sw, 1, frame, 60, 0);
    sk_switch_run(sw, 0);
    assert_int_equal(last.port, 1);
    uint64_t v[SK_PIPES];
    assert_int_equal(sk_control_register_read(sw, "pair", 0, "low", v, &err), 0);
    assert_int_equal(v[0], 0xffff);
    assert_int_equal(v[1], 0xfffe);
    assert_true(sk_switch_port_is_loopback(sw, 9));
    assert_false(sk_switch_port_is_up(sw, 2));
    sk_switch_free(sw);
}

// What clients of P4Runtime call ports.
static void test_ports_of_p4runtime(void **state) {
    (void)state;
    static const struct {
        const char *ports, *says;
    } cases[] = {
        {"{}", "p4runtime.ports: it must be an array"},
        {"[]", "p4runtime.ports: it has 1 to 512 ports"},
        {"[5]", "p4runtime.ports[0]: it must be an object"},
        {"[{\"port\": 0}]", "p4runtime.ports[0].id: it is missing"},
        {"[{\"id\": 1}]", "p4runtime.ports[0].port: it is missing"},
        {"[{\"id\": 1, \"port\": 0, \"name\": \"a\"}]", "p4runtime.ports[0].name: unknown key"},
        {"[{\"id\": 0, \"port\": 0}]", "p4runtime.ports[0].id: it is 0"},
        {"[{\"id\": 4294901760, \"port\": 0}]", "p4runtime.ports[0].id: it is 4294901760"},
        {"[{\"id\": 1, \"port\": 512}]", "p4runtime.ports[0].port: it is 512"},
        {"[{\"id\": 1, \"port\": 0}, {\"id\": 1, \"port\": 4}]", "two ports have the id 1"},
        {"[{\"id\": 1, \"port\": 4}, {\"id\": 2, \"port\": 4}]", "port 4 has two ids"},
    };
    const char *const good =
        "{\"program\": \"x\", \"p4runtime\": {\"ports\": [{\"id\": 4294901759, "
        "\"port\": 511}, {\"id\": 1, \"port\": 0}]}}";
    struct sk_config_port_id ports[SK_PORTS];
    struct sk_error err = {""};
    struct sk_config *c = sk_config_parse("c.json", good, strlen(good), &err);
    assert_non_null(c);
    assert_int_equal(sk_config_p4runtime_ports(c, ports), 2);
    assert_int_equal(ports[0].id, 4294901759u);
    assert_int_equal(ports[0].port, 511);
    assert_int_equal(ports[1].id, 1);
    assert_int_equal(ports[1].port, 0);
    sk_config_free(c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"program\": \"x\", \"p4runtime\": {\"ports\": %s}}",
                 cases[i].ports);
        c = sk_config_parse("c.json", text, strlen(text), &err);
        if (c || !strstr(err.text, cases[i].says))
            fail_msg("%s\nexpected '%s', got '%s'", text, cases[i].says, err.text);
    }
}

static void test_mistakes_in_the_file(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "c.json:1:"},
        {"{\n \"program\": \n}", "c.json:3:1:"},
        {"[]", "the whole: the file must be a JSON object"},
        {"{}", "program: it is missing"},
        {"{\"program\": \"\"}", "program: it is empty"},
        {"{\"programs\": 5}", "programs: it must be an array"},
        {"{\"programs\": [{\"program\": \"a\", \"pipes\": [0, 1, 2, 3]}]}",
         "programs: it must be a list of 2 to 4 programs"},
        {SEVERAL("[0, 1]", "[3]"), "programs: pipe 2 is given no program"},
        {SEVERAL("[0, 1]", "[1, 2, 3]"), "programs[1].pipes[0]: pipe 1 is given twice"},
        {SEVERAL("[0, 1]", "[2, 4]"), "programs[1].pipes[1]: it is 4"},
        {SEVERAL("[0, 1, 2, 3]", "[]"), "programs[1].pipes: it must be a list of pipes"},
        {SEVERAL("[0, 1]", "[2, 3], \"name\": \"\""),
         "programs[1].name: '' is not a program's name"},
        {SEVERAL("[0, 1]", "[2, 3], \"pipe\": 1"), "programs[1].pipe: unknown key"},
        {"{\"program\": \"x\", \"programs\": [{}, {}]}",
         "program: \"program\" and \"programs\" exclude each other"},
        {"{\"tor\": {}, \"programs\": [{}, {}]}",
         "tor: \"tor\" and \"programs\" exclude each other: it is the control plane"},
        {"{\"p4runtime\": {\"listen\": \"unix:x\"}, \"programs\": [{}, {}]}",
         "p4runtime: \"p4runtime\" and \"programs\" exclude each other"},
        {"{\"record\": {\"file\": \"x\"}, \"programs\": [{}, {}]}",
         "record: \"record\" and \"programs\" exclude each other"},
        {"{\"program\": 5}", "c.json:1: program: it must be a string, not a number"},
        {"{\"program\": \"x\",\n\n \"prots\": []}",
         "c.json:3: prots: unknown key; the keys are: program, include"},
        {"{\"program\": \"x\", \"program\": \"y\"}", "duplicate"},
        {"{\"program\": \"x\", \"define\": [1]}", "define[0]: it must be a string"},
        {"{\"program\": \"x\", \"ports\": {}}", "ports: it must be an array, not an object"},
        {"{\"program\": \"x\", \"ports\": [\n{\"port\": 1, \"device\": \"a\"},\n{\"device\": "
         "\"b\"}]}",
         "c.json:3: ports[1].port: it is missing"},
        {"{\"program\": \"x\", \"ports\": [{\"port\": 1}]}", "ports[0].device: it is missing"},
        {"{\"program\": \"x\", \"ports\": [{\"port\": 72, \"device\": \"b\"}]}",
         "72 is not a device port: it would be port 72 of pipe 0"},
        {"{\"program\": \"x\", \"ports\": [{\"port\": 512, \"device\": \"b\"}]}", "0 to 511"},
        {"{\"program\": \"x\", \"ports\": [{\"port\": 1.5, \"device\": \"b\"}]}",
         "it must be a whole number"},
        {"{\"program\": \"x\", \"ports\": "
         "[{\"port\":1,\"device\":\"a\"},{\"port\":1,\"device\":\"b\"}]}",
         "port 1 is given twice"},
        {"{\"program\": \"x\", \"ports\": "
         "[{\"port\":1,\"device\":\"a,x\"},{\"port\":2,\"device\":\"a\"}]}",
         "device 'a' is port 1's already"},
        {"{\"program\": \"x\", \"ports\": "
         "[{\"port\":1,\"device\":\"a\",\"metadata\":\"0x1ffffffffffffffffffffffffffffffff\"}]}",
         "ports[0].metadata: 0x1ffffffffffffffffffffffffffffffff does not fit 128 bits"},
        {"{\"program\": \"x\", \"por\\nts\\u001b\": []}", "por?ts?"},
        {"{\"program\": \"x\", \"cpu_port\": 764, \"ports\": [{\"port\": 1, \"device\": \"a\"}], "
         "\"tor\": {}}",
         "cpu_port: "},
        {"{\"program\": \"x\", \"tor\": {\"sampling\": {\"to\": \"127.0.0.1:6343\"}}}",
         "tor.sampling.one_in: it is missing"},
        {"{\"program\": \"x\", \"tor\": {\"sampling\": {\"one_in\": 0, \"to\": "
         "\"127.0.0.1:6343\"}}}",
         "tor.sampling.one_in: it must be at least 1"},
        {"{\"program\": \"x\", \"tor\": {\"sampling\": {\"one_in\": 9, \"to\": \"127.0.0.1\"}}}",
         "tor.sampling.to: '127.0.0.1' is not ADDRESS:PORT"},
        {"{\"program\": \"x\", \"sampling\": {\"one_in\": 9, \"to\": \"::1:6343\"}}",
         "sampling.to: '::1:6343' is not ADDRESS:PORT"},
        {"{\"program\": \"x\", \"sampling\": {\"one_in\": 9, \"to\": \"[::1]:6343\"}, "
         "\"tor\": {\"sampling\": {\"one_in\": 9, \"to\": \"[::1]:6343\"}}}",
         "\"tor\" has it already"},
        {"{\"program\": \"x\", \"loopback\": [3, 3]}", "loopback[1]: port 3 is given twice"},
        {"{\"program\": \"x\", \"faults\": {\"loss\": 1.5}}",
         "faults.loss: it must be a number from 0"},
        {"{\"program\": \"x\", \"faults\": {\"loss\": \"1\"}}", "faults.loss: it must be a number"},
        {"{\"program\": \"x\", \"entries\": [{\"table\": \"t\"}]}",
         "entries[0].action: it is missing"},
        {"{\"program\": \"x\", \"entries\": [{\"table\": \"t\", \"action\": \"a\", \"key\": "
         "{\"k\": 1.5}}]}",
         "entries[0].key.k: it must be a whole number or a string"},
        {"{\"program\": \"x\", \"entries\": [{\"table\": \"t\", \"action\": \"a\", \"key\": [1]}]}",
         "entries[0].key: it must be an object"},
        {"{\"program\": \"x\", \"entries\": [{\"table\": \"t\", \"action\": \"a\", \"pipe\": 4}]}",
         "entries[0].pipe: it is 4; it must be 0 to 3"},
        {"{\"program\": \"x\", \"registers\": [{\"name\": \"r\", \"value\": 1}]}",
         "registers[0].index: it is missing"},
        {"{\"program\": \"x\", \"registers\": [{\"name\": \"r\", \"index\": 1}]}",
         "registers[0].value: it is missing"},
        {"{\"program\": \"x\", \"multicast\": {\"nodes\": [{\"id\": 1, \"ports\": [1, 1]}]}}",
         "multicast.nodes[0].ports[1]: port 1 is given twice"},
        {"{\"program\": \"x\", \"multicast\": {\"groups\": [{\"id\": 1, \"nodes\": [\"a\"]}]}}",
         "multicast.groups[0].nodes[0]: it must be a whole number, not a string"},
        {"{\"program\": \"x\", \"multicast\": {\"prune\": [{\"id\": 288}]}}", "0 to 287"},
        {"{\"program\": \"x\", \"pipes\": 2, \"ports\": [{\"port\": 256, \"device\": \"b\"}]}",
         "port 256 is in pipe 2, and \"pipes\" is 2"},
        {"{\"program\": \"x\", \"pipes\": 5}", "pipes: it is 5; it must be 1 to 4"},
        {"\xef\xbb\xbf{\"program\": \"x\"}",
         "c.json:1:1: JSON must not start with a byte order mark"},
        {"{\"program\": \"x\", \"lcores\": 0}", "lcores: it is 0; it must be 1 to 4"},
        {"{\"program\": \"x\", \"pipes\": 2, \"lcores\": 3}",
         "lcores: 3 lcores are too many: each must run at least one of 2 pipes"},
        {"{\"program\": \"x\", \"lcores\": 3, \"cpus\": [1, 2]}",
         "cpus: 2 processors for 3 lcores"},
        {"{\"program\": \"x\", \"cpus\": [2000]}", "cpus[0]: it is 2000"},
        {"{\"program\": \"x\", \"idle_sleep\": \"a\"}", "idle_sleep: it must be a whole number"},
        {"{\"program\": \"x\", \"ports\": [{\"port\": 1, \"device\": \"b\", \"queues\": 0}]}",
         "ports[0].queues: it is 0; it must be 1 to 64"},
        {"{\"program\": \"x\", \"ports\": [{\"port\": 1, \"device\": \"b\", \"name\": \"0x7\"}]}",
         "ports[0].name: '0x7' would be taken for a number where ports are named"},
        {"{\"program\": \"x\\u0000\"}", "c.json:1:21: a string has no zero byte (\\u0000)"},
        {"{\"program\": \"x\", \"ports\": [{\"port\": 1, \"device\": \"b\", \"promiscuous\": 1}]}",
         "ports[0].promiscuous: it must be true or false"},
        {"{\"program\": \"x\", \"sessions\": {\"ip\": \"10.0.0.254\"}}",
         "sessions.mac: it is missing"},
        {"{\"program\": \"x\", \"sessions\": {\"mac\": \"02:00:00:00:00:fe\"}}",
         "sessions.ip: it is missing"},
        {"{\"program\": \"x\", \"sessions\": {\"mac\": \"01:00:00:00:00:fe\", \"ip\": "
         "\"10.0.0.254\"}}",
         "sessions.mac: '01:00:00:00:00:fe' is not the MAC address of a station"},
        {"{\"program\": \"x\", \"sessions\": {\"mac\": \"02:00:00:00:00:fe\", \"ip\": "
         "\"239.0.0.1\"}}",
         "sessions.ip: '239.0.0.1' is not the IPv4 address of a station"},
        {"{\"program\": \"x\", \"sessions\": {\"mac\": \"02:00:00:00:00:fe\", \"ip\": "
         "\"10.0.0.254\", \"except\": {\"libra\": [1]}}}",
         "sessions.except.libra: unknown key"},
        {"{\"program\": \"x\", \"sessions\": {\"mac\": \"02:00:00:00:00:fe\", \"ip\": "
         "\"10.0.0.254\", \"except\": {\"atp\": [256]}}}",
         "sessions.except.atp[0]: it is 256"},
        {"{\"program\": \"x\", \"tor\": {}, \"sessions\": {\"mac\": \"02:00:00:00:00:fe\", \"ip\": "
         "\"10.0.0.254\"}}",
         "\"tor\" and \"sessions\" exclude each other"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_error err = {""};
        struct sk_config *c = sk_config_parse("c.json", cases[i].text, strlen(cases[i].text), &err);
        if (c || !strstr(err.text, cases[i].says))
            fail_msg("%s\nexpected '%s', got '%s'", cases[i].text, cases[i].says, err.text);
    }
}

static void test_mistakes_against_the_program(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"\"entries\": [{\"table\": \"nothing\", \"action\": \"drop\"}]",
         "c.json:2: entries[0]: no table 'nothing'"},
        {"\"entries\": [{\"table\": \"forward\", \"action\": \"drop\", \"key\": {\"dst_addr\": "
         "1}},\n"
         "{\"table\": \"forward\", \"action\": \"drop\", \"key\": {\"dst_addr\": \"1\"}}]",
         "c.json:3: entries[1]: table 'pipe.Ingress.forward': an entry with this key exists"},
        {"\"defaults\": [{\"table\": \"forward\", \"action\": \"send\"}]",
         "defaults[0]: table 'pipe.Ingress.forward': action 'pipe.Ingress.send': argument 'port' "
         "is "
         "missing"},
        {"\"registers\": [{\"name\": \"count\", \"index\": 512, \"value\": 1}]", "no index 512"},
        {"\"registers\": [{\"name\": \"count\", \"index\": 3, \"value\": 1},"
         "{\"name\": \"count\", \"index\": 4, \"value\": 1},\n"
         "{\"name\": \"pipe.Ingress.count\", \"index\": 3, \"value\": 1}]",
         "c.json:3: registers[2]: cell 3 of register 'pipe.Ingress.count' is listed twice"},
        {"\"ports\": [{\"port\": 3, \"device\": \"a\", \"metadata\": {\"vrf\": 4096}}]",
         "ports[0].metadata: port metadata 'vrf': 4096 does not fit 12 bits"},
        {"\"ports\": [{\"port\": 3, \"device\": \"a\", \"metadata\": \"0x1ffffffffffffffff\"}]",
         "ports[0].metadata: port metadata: 0x1ffffffffffffffff does not fit 64 bits"},
        {"\"multicast\": {\"groups\": [{\"id\": 1, \"nodes\": [4]}]}",
         "multicast.groups[0]: it contains a node that is not in"},
        {"\"multicast\": {\"nodes\": [{\"id\": 4, \"ports\": []}],"
         " \"groups\": [{\"id\": 1, \"nodes\": [4, 4]}]}",
         "it contains a node twice"},
        {"\"value_sets\": [{\"name\": \"types\", \"key\": {\"x\": 1}}]", "no key field 'x'"},
        {"\"ports\": [{\"port\": 9, \"device\": \"a\"}, {\"port\": 68, \"device\": \"b\"}]",
         "ports[1]: port 68 recirculates"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"program\": \"x\",\n%s}", cases[i].text);
        struct sk_error err = {""};
        struct sk_config *c = sk_config_parse("c.json", text, strlen(text), &err);
        if (!c)
            fail_msg("%s\n%s", text, err.text);
        struct last last = {0};
        struct sk_switch *sw = new_switch(&last);
        if (sk_config_apply(c, sw, &err) >= 0 || !strstr(err.text, cases[i].says))
            fail_msg("%s\nexpected '%s', got '%s'", text, cases[i].says, err.text);
        sk_switch_free(sw);
        sk_config_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_programs),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_ports_of_p4runtime),
        cmocka_unit_test(test_mistakes_in_the_file),
        cmocka_unit_test(test_mistakes_against_the_program),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
