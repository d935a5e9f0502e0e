// SPDX-License-Identifier: Apache-2.0
//
// silken ctl links, vlans, macs, groups, queriers, lacp, neighbours, routes, icmp: what they print
// of a rig.
#include "harness/control/tor/ethernet.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "base/json.h"
#include "control/socket/socket.h"
#include "control/tor/tor_impl.h"
#include "harness/control/tor/l3_frames.h"
#include "harness/control/tor/partner.h"
#include "harness/control/tor/snoop_frames.h"

enum { A = 0x10, B };

static const char section[] =
    "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [{\"vid\": 10, \"name\": \"blue\", \"aging\": 60,"
    "   \"addresses\": [\"10.0.0.1/24\", \"2001:db8::1/64\"]}, {\"vid\": 11}, {\"vid\": 12}, "
    "{\"vid\": 20}],"
    " \"links\": [{\"name\": \"web\", \"port\": 0, \"access\": 10, \"isolated\": true},"
    "   {\"name\": \"up\", \"ports\": [1, 2], \"trunk\": \"all\", \"native\": 20, \"learn\": "
    "false},"
    "   {\"name\": \"probe\", \"port\": 3}],"
    " \"macs\": [{\"vid\": 11, \"mac\": \"02:00:00:00:00:11\", \"link\": \"up\"}],"
    " \"mirrors\": [{\"name\": \"m\", \"to\": \"probe\", \"links\": []}]}";

static json_t *other(void *aux, const char *op, const struct sk_at *at, bool *known) {
    struct rig *r = aux;
    *known = strncmp(op, "tor.", 4) == 0 || strncmp(op, "job.", 4) == 0;
    if (!*known)
        return NULL;
    json_t *result = tor_request(rig_tor(r), op, at->value, rig_now(r), at->doc->err);
    at->doc->failed = !result;
    return result;
}

// What the command prints, in 'text', and its exit status.
static int ctl(struct rig *r, const char *const *words, char *text, size_t size) {
    char path[] = "/tmp/silken-test-ctl-XXXXXX", *argv[24] = {"ctl", "-s"};
    const struct sk_service service = {.sw = rig_switch(r), .other = other, .aux = r};
    struct sk_error err;
    int ends[2], status, argc = 3;
    assert_non_null(mkdtemp(path));
    char *name;
    assert_true(asprintf(&name, "%s/s", path) > 0);
    struct sk_server *server = sk_server_open(name, &err);
    assert_non_null(server);
    assert_int_equal(pipe(ends), 0);
    argv[2] = name;
    while (words[argc - 3]) {
        assert_true(argc < (int)(sizeof argv / sizeof *argv) - 1);
        argv[argc] = (char *)words[argc - 3];
        argc++;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        const int rc = cmd_ctl(argc, argv);
        fflush(NULL);
        _exit(rc);
    }
    close(ends[1]);
    while (waitpid(child, &status, WNOHANG) == 0) {
        sk_server_poll(server, &service);
        usleep(1000);
    }
    size_t n = 0;
    for (ssize_t got; n < size - 1 && (got = read(ends[0], text + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    sk_server_close(server);
    free(name);
    rmdir(path);
    return WEXITSTATUS(status);
}

#define PRINTS(r, status, expected, ...)                                                           \
    do {                                                                                           \
        char text_[4096];                                                                          \
        const char *const words_[] = {__VA_ARGS__, NULL};                                          \
        const int rc_ = ctl(r, words_, text_, sizeof text_);                                       \
        assert_string_equal(text_, expected);                                                      \
        assert_int_equal(rc_, status);                                                             \
    } while (0)

static void test_links_and_vlans(void **state) {
    struct rig *r = rig_new(4, section);
    (void)state;
    rig_wait(r, 2000);
    rig_link(r, 2, false);
    rig_link(r, 3, false);
    rig_wait(r, 1000);
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    PRINTS(r, 0,
           "link                    seconds number addresses\n"
           "web              up           3    512         1  VLAN 10; port 0 p0; isolated\n"
           "up               up           3      1         1  VLAN 10-12 tagged, 20; LAG of 1 p1, "
           "2 p2 (down); does not learn\n"
           "probe            down         1      2         0  VLAN none; port 3 p3 (down)\n",
           "links");
    PRINTS(r, 0,
           "VLAN  name             addresses  aging  links (t: tagged)\n"
           "10    blue                     1     60  web, up t; the switch is 10.0.0.1/24, "
           "2001:db8::1/64\n"
           "11                             1    300  up t\n"
           "12                             0    300  up t\n"
           "20                             0    300  up\n",
           "vlans");
    rig_free(r);
}

static void test_macs(void **state) {
    struct rig *r = rig_new(4, section);
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    rig_wait(r, 5000);
    PRINTS(r, 0,
           "VLAN  address            link               seconds   idle  (2)\n"
           "10    02:00:00:00:00:10  web                      5      5\n"
           "11    02:00:00:00:00:11  up                       5  static\n",
           "macs");
    PRINTS(r, 0,
           "VLAN  address            link               seconds   idle  (1)\n"
           "11    02:00:00:00:00:11  up                       5  static\n",
           "macs", "vid", "11", "link", "up", "mac", "02:00:00:00:00:11");
    PRINTS(r, 1, "silken ctl: nowhere: there is no link of that name\n", "macs", "link", "nowhere");
    PRINTS(r, 0, "1 forgotten\n", "macs", "flush");
    PRINTS(r, 0, "0 forgotten\n", "macs", "flush", "vid", "10");
    rig_free(r);
}

static void test_groups(void **state) {
    struct rig *r = rig_new(
        5, "{\"mac\": \"02:00:00:00:ff:01\", \"vlans\": [{\"vid\": 10, \"addresses\": "
           "[\"10.0.10.1/24\"], "
           "\"snooping\": {\"querier\": true, \"unknown\": \"routers\"}, "
           "\"static_groups\": [{\"group\": \"239.0.0.5\", \"links\": [\"a\"]}]}, {\"vid\": 11}],"
           " \"links\": [{\"name\": \"a\", \"port\": 0, \"access\": 10}, {\"name\": \"b\", "
           "\"port\": 1, "
           "\"access\": 10, \"querier_port\": true}, {\"name\": \"c\", \"port\": 2, \"access\": "
           "10}]}");
    (void)state;
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 1, MLD1_REPORT_3);
    rig_send_hex(r, 2, MLD_QUERY_LOW);
    rig_wait(r, 5000);
    PRINTS(r, 0,
           "VLAN  group                        address            links, seconds left  (3)\n"
           "10    239.0.0.5                    01:00:5e:00:00:05  a static; flooded\n"
           "10    239.1.1.1                    01:00:5e:01:01:01  a 295\n"
           "10    ff15::abcd:1                 33:33:ab:cd:00:01  b 295\n",
           "groups");
    PRINTS(r, 0,
           "VLAN  group                        address            links, seconds left  (1)\n"
           "10    ff15::abcd:1                 33:33:ab:cd:00:01  b 295\n",
           "groups", "vid", "10", "link", "b");
    PRINTS(r, 1, "silken ctl: there is no VLAN 11 with snooping\n", "groups", "vid", "11");
    PRINTS(r, 0,
           "VLAN  unknown  groups sends IGMP queries         sends MLD queries          routers, "
           "seconds left\n"
           "10    routers       3 10.0.10.1 (own)            fe80::1                    b static, "
           "c 250\n",
           "queriers");
    rig_free(r);
}

static void test_lacp(void **state) {
    struct rig *r = rig_new(
        3, "{\"mac\": \"02:00:00:00:ff:01\", \"vlans\": [{\"vid\": 10}], \"links\": [{\"name\": "
           "\"up\", "
           "\"ports\": [0, 1], \"lacp\": {\"fast\": true, \"priority\": 100}, \"access\": 10}, "
           "{\"name\": \"other\", \"ports\": [2], \"access\": 10}]}");
    struct partner *p = partner_new(r, (const uint8_t[6]){2, 0, 0, 0, 0xee, 0x10},
                                    (struct partner_options){true, false});
    (void)state;
    partner_plug(p, 0, 7, 3);
    partner_wait(p, 5500);
    PRINTS(r, 0,
           "up: LACP, negotiated, active, fast; system 02:00:00:00:ff:01, priority 100, key 1\n"
           "  port 0: active; 2 sent, 6 received; own: activity timeout aggregation synchronized "
           "collecting "
           "distributing; partner 02:00:00:00:ee:10; its: activity synchronized collecting "
           "distributing\n"
           "  port 1: waits; 5 sent, 0 received; own: activity timeout aggregation defaulted\n"
           "other: static\n"
           "  port 2: active\n",
           "lacp");
    partner_free(p);
    rig_free(r);
}

// Frames as in l3_frames.h: A asks for the switch's address.
static void test_neighbours_and_routes(void **state) {
    struct rig *r = rig_new(
        2, "{\"mac\": \"02:00:00:00:00:01\","
           " \"vlans\": [{\"vid\": 10, \"addresses\": [\"10.0.10.1/24\", \"2001:db8:10::1/64\"]}],"
           " \"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10},"
           "             {\"name\": \"b\", \"port\": \"p1\", \"access\": 10}],"
           " \"neighbours\": [{\"address\": \"10.0.10.7\", \"mac\": \"02:00:00:00:00:07\"}],"
           " \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [\"10.0.10.10\", \"10.0.10.7\"]},"
           "              {\"to\": \"2001:db8:1::/48\", \"via\": [\"2001:db8:10::a\"]}]}");
    (void)state;
    rig_send_hex(r, 0, ARP_A_ASKS_OWN);
    rig_wait(r, 1000);
    PRINTS(
        r, 0,
        "VLAN  address                    MAC                link             state       seconds  "
        "(3)\n"
        "10    10.0.10.7                  02:00:00:00:00:07                   permanent         1\n"
        "10    10.0.10.10                 02:00:00:00:00:0a  a                probe             1\n"
        "10    2001:db8:10::a                                                 incomplete        "
        "1\n",
        "neighbours");
    PRINTS(r, 0,
           "to                                      (15)\n"
           "0.0.0.0/8                    discard  \n"
           "10.0.10.0/24                 connected VLAN 10\n"
           "10.0.10.0/32                 discard  \n"
           "10.0.10.255/32               discard  \n"
           "127.0.0.0/8                  discard  \n"
           "169.254.0.0/16               discard  \n"
           "192.0.2.0/24                 static    via 10.0.10.7 (its place is not known), "
           "10.0.10.10 (a)\n"
           "224.0.0.0/4                  discard  \n"
           "240.0.0.0/4                  discard  \n"
           "::/128                       discard  \n"
           "::1/128                      discard  \n"
           "2001:db8:1::/48              static    via 2001:db8:10::a (does not answer)\n"
           "2001:db8:10::/64             connected VLAN 10\n"
           "fe80::/10                    discard  \n"
           "ff00::/8                     discard  \n",
           "routes");
    PRINTS(r, 0, "1 forgotten\n", "neighbours", "flush", "address", "10.0.10.10");
    PRINTS(r, 0, "0 forgotten\n", "neighbours", "flush", "vid", "11");
    PRINTS(r, 1, "silken ctl: vid: should be a VLAN's number, 1 to 4094\n", "neighbours", "flush",
           "vid", "5000");
    PRINTS(r, 0,
           "                            sent    held back\n"
           "echo                           0            0\n"
           "time_exceeded                  0            0\n"
           "no_route                       0            0\n"
           "host_unreachable               0            0\n"
           "port_unreachable               0            0\n"
           "protocol_unreachable           0            0\n"
           "too_long                       0            0\n"
           "bad_option                     0            0\n"
           "tcp_reset                      0            0\n"
           "routed by software             0\n"
           "of those, dropped              0\n"
           "neighbours not asked           0\n"
           "fragments, refused             0\n",
           "icmp");
    rig_free(r);
}

static void test_words_that_are_wrong(void **state) {
    struct rig *r = rig_new(4, section);
    char text[4096];
    (void)state;
    static const char *const bad[][5] = {{"macs", "vid"},
                                         {"macs", "vid", "x"},
                                         {"macs", "what"},
                                         {"links", "x"},
                                         {"vlans", "x"},
                                         {"groups", "vid"},
                                         {"groups", "x"},
                                         {"queriers", "x"},
                                         {"lacp", "x"},
                                         {"neighbours", "x"},
                                         {"neighbours", "flush", "address"},
                                         {"routes", "x"},
                                         {"icmp", "x"},
                                         {"job", "add"},
                                         {"job", "add", "x", "--slot"},
                                         {"job", "add", "x", "--slots"},
                                         {"job", "remove"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ctl(r, bad[i], text, sizeof text), EXIT_UNUSABLE);
    rig_free(r);
}

static const char rack[] =
    "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [{\"vid\": 10, \"addresses\": [\"10.0.10.1/24\"]}],"
    " \"links\": [{\"name\": \"web\", \"port\": 0, \"access\": 10}, {\"name\": \"db\", "
    "\"port\": 1, \"access\": 10}, {\"name\": \"ps\", \"port\": 2, \"access\": 10}],"
    " \"neighbours\": [{\"address\": \"10.0.10.2\", \"mac\": \"02:00:00:00:00:02\"}]}";

static void test_jobs(void **state) {
    struct rig *r = rig_new_with("p4/rack/rack.p4", 3, rack);
    (void)state;
    PRINTS(r, 0, "no job\n", "job", "list");
    PRINTS(r, 0,
           "sum: SwitchML job 7, slots 0 to 15, waiting for all workers\n  worker 0  "
           "10.0.10.2 at link web, port 0, VLAN 10, 02:00:00:00:00:02\n  worker 1  10.0.10.3 at "
           "link db, port 1, VLAN 10: no host has answered for its address\n",
           "job", "add", "sum", "--protocol", "switchml", "--workers", "web:10.0.10.2,p1:10.0.10.3",
           "--slots", "16", "--number", "7");
    PRINTS(r, 0,
           "net: ATP job 1, aggregators 0 to 99, parameters to 239.192.0.1, waiting for the job's "
           "hosts\n"
           "  worker 0  10.0.10.3 at link db, port 1, VLAN 10\n"
           "  server  10.0.10.2 at link web, port 0, VLAN 10, 02:00:00:00:00:02\n",
           "job", "add", "net", "--protocol", "atp", "--workers", "db:10.0.10.3", "--server",
           "web:10.0.10.2", "--aggregators", "100");
    PRINTS(r, 1, "silken ctl: name: there is a job 'net' already\n", "job", "add", "net",
           "--protocol", "switchml", "--workers", "db:10.0.10.3");
    PRINTS(r, 0, "", "job", "remove", "net");
    PRINTS(r, 0,
           "sum: SwitchML job 7, slots 0 to 15, waiting for all workers\n  worker 0  "
           "10.0.10.2 at link web, port 0, VLAN 10, 02:00:00:00:00:02\n  worker 1  10.0.10.3 at "
           "link db, port 1, VLAN 10: no host has answered for its address\n",
           "job", "list");
    // the state of its slots
    PRINTS(r, 0,
           "job 7: 2 of 2 workers registered, slots 0 to 15\n  worker  0  port   0  10.0.10.2      "
           "  packets 0  no packet yet\n  worker  1  port   1  10.0.10.3        packets 0  no "
           "packet yet\n  no slot waits for a worker\n",
           "job");
    rig_free(r);
}

// Jobs of Libra are where the others are: what the control plane knows, and what the tables have.
static void test_jobs_of_libra(void **state) {
    struct rig *r = rig_new_with("p4/rack/with_libra.p4", 3, rack);
    static const char shown[] =
        "ads: Libra job 3, epoch 7, 1000 hot parameters, cells 0 to 99 of each register\n"
        "  worker 0  10.0.10.2 at link web, port 0, VLAN 10, 02:00:00:00:00:02, 0 packets, 0 of "
        "them added before\n";
    (void)state;
    PRINTS(r, 0, "no job: no worker is registered\n", "job");
    PRINTS(r, 0, shown, "job", "add", "ads", "--protocol", "libra", "--workers", "web:10.0.10.2",
           "--number", "3", "--epoch", "7", "--hot", "1000", "--cells", "100");
    PRINTS(r, 0, shown, "job", "show", "ads");
    PRINTS(r, 1, "silken ctl: name: there is no job 'none'\n", "job", "show", "none");
    PRINTS(r, 0,
           "job 3 of Libra: epoch 7, cells 0 to 99 of each register\n"
           "  worker  0  10.0.10.2        packets 0, added before 0  no packet yet\n",
           "job");
    PRINTS(r, 0,
           "job 3 of Libra: epoch 7, cells 0 to 99 of each register\n"
           "  worker  0  10.0.10.2        packets 0, added before 0  no packet yet\n",
           "job", "3");
    PRINTS(r, 1, "silken ctl: no worker is registered for job 4\n", "job", "4");
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_jobs_of_libra),
        cmocka_unit_test(test_links_and_vlans),
        cmocka_unit_test(test_macs),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_lacp),
        cmocka_unit_test(test_neighbours_and_routes),
        cmocka_unit_test(test_words_that_are_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
