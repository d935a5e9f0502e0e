// SPDX-License-Identifier: Apache-2.0
//
// The ToR's control plane with any frames: from the wire (through p4/tor) and with any header that
// the switch puts in front, while time passes, links go and come, and the configuration changes.
// What it sends has to be frames, with right checksums where they are IP. All modules, one switch
// for the whole process; each input begins with an empty configuration, so that nothing is left of
// the one before.
//
// An input is a list of steps: a byte says what, then what that needs (step()).
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "control/config/config.h"
#include "control/tor/ip.h"
#include "control/tor/tor.h"
#include "pipeline/program.h"

#define CPU_PORT   64u
#define N_PORTS    6u
#define FRAME_MOST 9300u
#define STEPS_MOST 400u
#define QUEUE_MOST 64u

static const char *const sections[] = {
    "{\"mac\": \"02:00:00:00:00:01\"}",
    "{\"mac\": \"02:00:00:00:00:01\","
    " \"vlans\": [{\"vid\": 10, \"addresses\": [\"10.0.10.1/24\", \"2001:db8:10::1/64\"],"
    "              \"snooping\": {\"querier\": true}},"
    "             {\"vid\": 20, \"addresses\": [\"10.0.20.1/24\", \"2001:db8:20::1/64\"], \"mtu\": "
    "1400},"
    "             {\"vid\": 30, \"snooping\": true}],"
    " \"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10},"
    "             {\"name\": \"b\", \"port\": \"p1\", \"access\": 20},"
    "             {\"name\": \"c\", \"port\": \"p2\", \"trunk\": \"all\", \"native\": 30},"
    "             {\"name\": \"d\", \"ports\": [\"p3\", \"p4\"], \"access\": 10, \"lacp\": "
    "{\"active\": true}}],"
    " \"routes\": [{\"to\": \"0.0.0.0/0\", \"via\": [\"10.0.20.11\", \"10.0.20.12\", "
    "\"10.0.10.10\"]},"
    "              {\"to\": \"192.0.2.0/25\", \"discard\": true},"
    "              {\"to\": \"2001:db8:30::/48\", \"via\": [\"2001:db8:20::b\"]}]}",
    "{\"mac\": \"02:00:00:00:00:01\","
    " \"vlans\": [{\"vid\": 10, \"addresses\": [\"10.0.10.1/16\"]},"
    "             {\"vid\": 20, \"addresses\": [\"10.1.0.1/31\", \"2001:db8:20::1/127\"]}],"
    " \"links\": [{\"name\": \"b\", \"port\": \"p0\", \"access\": 10},"
    "             {\"name\": \"a\", \"port\": \"p1\", \"trunk\": [10, 20]}],"
    " \"neighbours\": [{\"address\": \"10.0.20.11\", \"mac\": \"02:00:00:00:00:0b\", \"vid\": "
    "10}]}",
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static struct {
    struct sk_program *program;
    struct sk_switch *sw;
    struct sk_config *configs[SECTIONS];
    struct tor *tor;
    struct tor_host host;
    struct sk_digest_reader digests;
    bool down[N_PORTS];
    uint64_t now;
    struct {
        uint32_t length;
        uint8_t bytes[FRAME_MOST];
    } queue[QUEUE_MOST]; // from the switch to the control plane
    unsigned n_queue;
    bool as_it_was; // what is sent may be anybody's
} f;

// Open vSwitch's library goes by this clock; libFuzzer by the real one, between inputs.
static bool virtual_time;
int clock_gettime(clockid_t clock, struct timespec *out) {
    if (!virtual_time)
        return (int)syscall(SYS_clock_gettime, clock, out);
    *out = (struct timespec){.tv_sec = (time_t)(f.now / 1000000000u),
                             .tv_nsec = (long)(f.now % 1000000000u)};
    return 0;
}

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    (void)aux;
    if (port == CPU_PORT && f.n_queue < QUEUE_MOST && length <= FRAME_MOST) {
        f.queue[f.n_queue].length = length;
        memcpy(f.queue[f.n_queue++].bytes, frame, length);
    }
    return true;
}

static void check(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "sent: %s\n", what);
    abort();
}

// What the control plane sends. An upper layer's checksum is checked where it must be its own:
// echo, errors and resets are whole packets; one that is passed on has what its sender put there.
static bool from_control(void *aux, const uint8_t *frame, uint32_t length) {
    struct ip_packet p;
    (void)aux;
    check(length >= 8 + ETH_BYTES, "a frame that is shorter than its header");
    check(frame[0] == 1 || frame[0] == 2, "no order");
    const uint8_t *eth = frame + 8;
    const uint16_t type = get16(eth + 12);
    if (type == ETHER_IPV4 || type == ETHER_IPV6) {
        check(ip_read(&p, eth + ETH_BYTES, length - 8 - ETH_BYTES), "no IP packet");
        check(p.v6 == (type == ETHER_IPV6), "IP of another version");
        check(p.ttl > 0, "no hops are left");
        if (p.v6 && p.protocol == PROTOCOL_ICMPV6 && p.ttl == 255 && !f.as_it_was &&
            (p.bytes[p.upper] == 135 || p.bytes[p.upper] == 136))
            check(ip_upper_checksum(&p.src, &p.dst, p.protocol, p.bytes + p.upper,
                                    p.length - p.upper) == 0 ||
                      memcmp(eth + 6, "\2\0\0\0\0\1", 6) != 0,
                  "a wrong checksum of ICMPv6");
    }
    sk_switch_rx(f.sw, CPU_PORT, frame, length, f.now);
    return true;
}

static bool link_is_up(void *aux, uint16_t port) {
    (void)aux;
    return port < N_PORTS && !f.down[port];
}

static void no_event(void *aux, json_t *event) {
    (void)aux;
    json_decref(event);
}

static void settle(void) {
    struct sk_digest d;
    for (unsigned round = 0; round < 20; round++) {
        sk_switch_run(f.sw, f.now);
        while (sk_digest_read(f.sw, &f.digests, &d))
            tor_digest(f.tor, &d, f.now);
        unsigned n = f.n_queue;
        for (unsigned i = 0; i < n; i++)
            tor_frame(f.tor, f.queue[i].bytes, f.queue[i].length, f.now);
        // what came meanwhile is behind those
        memmove(f.queue, f.queue + n, (f.n_queue - n) * sizeof *f.queue);
        f.n_queue -= n;
        tor_run(f.tor, f.now);
        if (!f.n_queue)
            break;
    }
    f.n_queue = 0;
}

static void reload(unsigned which) {
    struct sk_error err = {""};
    if (tor_reload(f.tor, &f.host, f.configs[which]->tor, &err)) {
        fprintf(stderr, "section %u: %s\n", which, err.text);
        abort();
    }
    settle();
}

static void begin(void) {
    char error[256] = "it does not compile", ports[1024] = "";
    struct sk_error err = {""};
    setenv("CC", "clang -fsanitize=fuzzer-no-link", 0);
    const struct compile_options options = {
        .path = "p4/tor/tor.p4", .cache_dir = "build/fuzz/cache", .sanitize = true};
    char *path = compile_p4(&options, stderr);
    f.program = path ? sk_program_load(path, error, sizeof error) : NULL;
    free(path);
    if (f.program)
        f.sw = sk_switch_new(f.program, &(struct sk_switch_options){.tx = tx}, error, sizeof error);
    for (unsigned i = 0; i < N_PORTS; i++)
        snprintf(ports + strlen(ports), sizeof ports - strlen(ports),
                 "%s{\"port\": %u, \"device\": \"none%u\", \"name\": \"p%u\"}", i ? ", " : "", i, i,
                 i);
    for (unsigned i = 0; f.sw && i < SECTIONS; i++) {
        char *text;
        const int n =
            asprintf(&text, "{\"program\": \"p4/tor/tor.p4\", \"ports\": [%s], \"tor\": %s}", ports,
                     sections[i]);
        f.configs[i] = n > 0 ? sk_config_parse("fuzz", text, (size_t)n, &err) : NULL;
        free(text);
        snprintf(error, sizeof error, "%.200s", err.text);
        if (!f.configs[i])
            break;
    }
    if (f.sw && f.configs[SECTIONS - 1]) {
        for (uint16_t p = 0; p < N_PORTS; p++)
            sk_switch_port_up(f.sw, p, true);
        sk_switch_port_up(f.sw, CPU_PORT, true);
        sk_digest_reader_init(f.sw, &f.digests);
        f.host = (struct tor_host){.sw = f.sw,
                                   .ports = f.configs[0]->ports,
                                   .n_ports = f.configs[0]->n_ports,
                                   .send = from_control,
                                   .link = link_is_up,
                                   .event = no_event};
        f.tor = tor_new(&f.host, f.configs[0]->tor, &err);
        snprintf(error, sizeof error, "%.200s", err.text);
    }
    if (!f.tor) {
        fprintf(stderr, "fuzz_frame: %s\n", error);
        abort();
    }
}

// ---- steps ----
struct input {
    const uint8_t *at, *end;
};

static unsigned byte(struct input *in) {
    return in->at < in->end ? *in->at++ : 0;
}

// Bytes of the input as a frame; 'fix' puts right what a fuzzer hardly finds: our address, lengths,
// checksums.
static uint32_t take_frame(struct input *in, uint8_t *out) {
    const unsigned fix = byte(in), size = byte(in) << 2 | fix >> 6;
    uint32_t n = size < (size_t)(in->end - in->at) ? size : (uint32_t)(in->end - in->at);
    memcpy(out, in->at, n);
    in->at += n;
    for (; n < ETH_BYTES; n++)
        out[n] = 0;
    if (fix & 1)
        memcpy(out, (const uint8_t[]){2, 0, 0, 0, 0, 1}, 6);
    if (fix & 2)
        put16(out + 12,
              (const uint16_t[]){ETHER_ARP, ETHER_IPV4, ETHER_IPV6, ETHER_IPV6}[fix >> 2 & 3]);
    uint8_t *ip = out + ETH_BYTES;
    struct ip_packet p;
    if (fix & 16 && get16(out + 12) == ETHER_IPV4 && n >= ETH_BYTES + IPV4_BYTES) {
        uint32_t header = (ip[0] & 15) * 4u;
        if (header < IPV4_BYTES || header > n - ETH_BYTES)
            header = IPV4_BYTES;
        ip[0] = (uint8_t)(0x40 | header / 4);
        put16(ip + 2, (uint16_t)(n - ETH_BYTES));
        ip_set_checksum(ip);
    }
    if (fix & 16 && get16(out + 12) == ETHER_IPV6 && n >= ETH_BYTES + IPV6_BYTES) {
        ip[0] = (uint8_t)(0x60 | (ip[0] & 15));
        put16(ip + 4, (uint16_t)(n - ETH_BYTES - IPV6_BYTES));
    }
    if (fix & 32 && ip_read(&p, ip, n - ETH_BYTES)) {
        const uint32_t left = p.length - p.upper;
        const uint32_t at = p.protocol == PROTOCOL_TCP                                     ? 16
                            : p.protocol == PROTOCOL_UDP                                   ? 6
                            : p.protocol == PROTOCOL_ICMP || p.protocol == PROTOCOL_ICMPV6 ? 2
                                                                                           : left;
        if (at + 2 <= left) {
            put16(ip + p.upper + at, 0);
            put16(ip + p.upper + at,
                  ip_upper_checksum(&p.src, &p.dst, p.protocol, ip + p.upper, left));
        }
    }
    return n;
}

static void request(unsigned which) {
    static const char *const ops[] = {
        "tor.neighbours", "tor.routes", "tor.icmp", "tor.neighbour.flush", "tor.status",
        "tor.links",      "tor.vlans",  "tor.macs", "tor.groups",          "tor.lags"};
    struct sk_error err;
    json_t *r = json_object();
    if (which & 16)
        json_object_set_new(r, "vid", json_integer(10));
    json_decref(tor_request(f.tor, ops[which % (sizeof ops / sizeof *ops)], r, f.now, &err));
    json_decref(r);
}

static void step(struct input *in) {
    uint8_t frame[8 + FRAME_MOST];
    const unsigned what = byte(in), more = byte(in);
    f.as_it_was = false;
    switch (what % 8) {
    case 0:
    case 1:
    case 2: // from the wire
        sk_switch_rx(f.sw, (uint16_t)(more % N_PORTS), frame, take_frame(in, frame), f.now);
        break;
    case 3:
    case 4: { // from the switch: reason, interface, port and VLAN are what the input says
        const unsigned vid = byte(in);
        memset(frame, 0, 8);
        frame[0] = (uint8_t)(more >> 4);
        f.as_it_was = frame[0] == 11; // too long: the tables have made it ready
        frame[3] = (uint8_t)(more & 7);
        frame[5] = (uint8_t)(more & 7);
        frame[7] = (uint8_t)(vid & 3 ? (vid & 3) * 10 : vid);
        tor_frame(f.tor, frame, 8 + take_frame(in, frame + 8), f.now);
        break;
    }
    case 5: // up to two minutes
        f.now += 1000000ull << (more % 18);
        break;
    case 6:
        if (more & 8) {
            request(more >> 4);
        } else if (more & 16) {
            reload((more >> 5) % SECTIONS);
        } else {
            f.down[more % N_PORTS] ^= 1;
            sk_switch_port_up(f.sw, (uint16_t)(more % N_PORTS), !f.down[more % N_PORTS]);
            tor_link(f.tor, (uint16_t)(more % N_PORTS), !f.down[more % N_PORTS], f.now);
        }
        break;
    default: // a second, in some steps
        for (unsigned i = 0; i < 10; i++) {
            f.now += 100000000;
            settle();
        }
    }
    settle();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, data + size};
    if (!f.tor) {
        f.now = UINT64_C(1000000) * 1000000000;
        virtual_time = true;
        begin();
    }
    virtual_time = true;
    for (uint16_t p = 0; p < N_PORTS; p++)
        if (f.down[p]) {
            f.down[p] = false;
            sk_switch_port_up(f.sw, p, true);
            tor_link(f.tor, p, true, f.now);
        }
    reload(1);
    for (unsigned i = 0; in.at < in.end && i < STEPS_MOST; i++)
        step(&in);
    reload(0);
    f.now += UINT64_C(3600) * 1000000000;
    settle();
    virtual_time = false;
    return 0;
}
