// SPDX-License-Identifier: Apache-2.0
//
// Our ports on the kernel's interfaces beside those of DPDK's driver (net_af_packet, here by its
// other name eth_af_packet): how long a switch takes for a packet from one veth to another.
//
//   build/bench/af_packet_burst [ROUNDS]
//
// One switch with p4/l2 has two ports of either driver, with rings as they are by default. A burst
// of 32 frames is sent into the other end of one of a driver's interfaces, and the switch is polled
// until it has sent all of them: the processor time of this thread for that counts, the kernel's
// share among it. The frames are then counted at the other end. The drivers take turns in short
// rounds, so what else the machine does meets both. A line for each length: nanoseconds a packet,
// medians of the rounds, and the median of the rounds' ratios, above 1 when DPDK's takes longer.
// Needs root, or a user that may have namespaces: all interfaces are in a network namespace of its
// own.
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "bench/bench.h"
#include "bench/rig.h"

#define BURST  32u
#define BURSTS 200u // of a round
#define MOST   1001u
#define ROOM   2048u
#define PORTS  4u // 0 and 1 are ours, 2 and 3 DPDK's

static struct rig rig;
static struct sk_ports *ports;
static int hosts[PORTS];

// ---- interfaces ----

static void make_interfaces(void) {
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
        rig_give_up("no network namespace: %s", strerror(errno));
    for (unsigned i = 0; i < PORTS; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "ip link add s%1$u type veth peer name h%1$u && "
                 "sysctl -qw net.ipv6.conf.s%1$u.disable_ipv6=1 net.ipv6.conf.h%1$u.disable_ipv6=1 "
                 "&& ip link set s%1$u up && ip link set h%1$u up",
                 i);
        if (system(text))
            rig_give_up("cannot make interfaces");
    }
}

static int open_host(unsigned i) {
    char name[IF_NAMESIZE];
    snprintf(name, sizeof name, "h%u", i);
    const struct sockaddr_ll at = {.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETH_P_ALL),
                                   .sll_ifindex = (int)if_nametoindex(name)};
    const int on = 1, fd = socket(AF_PACKET, SOCK_RAW, 0);
    if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) ||
        bind(fd, (const struct sockaddr *)&at, sizeof at))
        rig_give_up("no socket on %s: %s", name, strerror(errno));
    return fd;
}

// ---- the switch ----

static void address(uint8_t to[6], unsigned i) {
    const uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)i};
    memcpy(to, mac, sizeof mac);
}

static json_t *configuration(void) {
    json_t *entries = json_array();
    for (unsigned i = 0; i < PORTS; i++) {
        char mac[18];
        snprintf(mac, sizeof mac, "02:00:00:00:00:%02x", i);
        json_array_append_new(entries, json_pack("{s:s, s:{s:s}, s:s, s:{s:i}}", "table", "forward",
                                                 "key", "hdr.ethernet.dst_addr", mac, "action",
                                                 "send", "args", "port", (int)i));
    }
    return json_pack("{s:s, s:o}", "program", "l2/l2.p4", "entries", entries);
}

static void open_switch(void) {
    static const char *const devices[PORTS] = {"net_af_packet0,iface=s0", "net_af_packet1,iface=s1",
                                               "eth_af_packet2,iface=s2",
                                               "eth_af_packet3,iface=s3"};
    struct sk_port_spec specs[PORTS] = {0};
    const struct sk_ports_options options = {.cpu = -1};
    char error[512];
    for (unsigned i = 0; i < PORTS; i++)
        specs[i] = (struct sk_port_spec){.dev_port = (uint16_t)i, .device = devices[i]};
    ports = sk_ports_open(specs, PORTS, &options, error, sizeof error);
    if (!ports)
        rig_give_up("%s", error);
    rig = rig_new("l2/l2.p4", false, configuration(),
                  &(struct sk_switch_options){.tx = sk_ports_tx, .aux = ports});
    for (unsigned i = 0; i < PORTS; i++)
        sk_switch_port_up(rig.sw, (uint16_t)i, true);
    sk_ports_attach(ports, rig.sw);
}

// ---- rounds ----

static void send_burst(unsigned from, unsigned to, uint32_t length) {
    static uint8_t frame[ROOM];
    struct mmsghdr messages[BURST] = {0};
    struct iovec whole = {frame, length};
    address(frame, to);
    address(frame + 6, from);
    frame[12] = 0x90;
    for (unsigned i = 0; i < BURST; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &whole, .msg_iovlen = 1};
    if (sendmmsg(hosts[from], messages, BURST, 0) != (int)BURST)
        rig_give_up("a burst is not sent: %s", strerror(errno));
}

static unsigned receive_burst(unsigned at) {
    static uint8_t frames[BURST][ROOM];
    struct mmsghdr messages[BURST] = {0};
    struct iovec places[BURST];
    for (unsigned i = 0; i < BURST; i++) {
        places[i] = (struct iovec){frames[i], ROOM};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &places[i], .msg_iovlen = 1};
    }
    const int n = recvmmsg(hosts[at], messages, BURST, MSG_DONTWAIT, NULL);
    return n > 0 ? (unsigned)n : 0;
}

// Nanoseconds a packet.
static double one_round(unsigned driver, uint32_t length) {
    const unsigned from = 2 * driver, to = from + 1;
    double ns = 0;
    for (unsigned b = 0; b < BURSTS; b++) {
        unsigned got = 0, arrived = 0;
        send_burst(from, to, length);
        const double begin = bench_cpu_ns();
        for (unsigned polls = 0; got < BURST && polls < 1000000; polls++)
            got += sk_ports_poll(ports, 0, sk_switch_now(rig.sw) + 1000);
        sk_ports_poll(ports, 0, sk_switch_now(rig.sw) + 1000);
        ns += bench_cpu_ns() - begin;
        for (unsigned tries = 0; arrived < BURST && tries < 1000000; tries++)
            arrived += receive_burst(to);
        if (got != BURST || arrived != BURST)
            rig_give_up("of a burst %u were received and %u arrived", got, arrived);
    }
    return ns / (BURSTS * BURST);
}

static void compare(uint32_t length, unsigned rounds) {
    static double ns[2][MOST];
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned turn = 0; turn < 2; turn++)
            ns[(i + turn) & 1][i] = one_round((i + turn) & 1, length);
    }
    printf("%5u bytes: ours %6.1f ns, DPDK's %6.1f ns, ratio %.3f\n", length,
           bench_stat(ns[0], rounds).median, bench_stat(ns[1], rounds).median,
           bench_ratio(ns[1], ns[0], rounds).median);
}

int main(int argc, char **argv) {
    static const uint32_t lengths[] = {64, 256, 1024, 1514};
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 51;
    rounds = rounds > 0 && rounds < MOST ? rounds : MOST;
    make_interfaces();
    for (unsigned i = 0; i < PORTS; i++)
        hosts[i] = open_host(i);
    open_switch();
    sleep(1); // until the interfaces carry
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        compare(lengths[i], rounds);
    sk_ports_close(ports);
    rig_free(&rig);
    return 0;
}
