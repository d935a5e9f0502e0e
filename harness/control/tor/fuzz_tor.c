// SPDX-License-Identifier: Apache-2.0
//
// fuzz_tor: a journey of the whole control plane on the rig: frames of hosts, frames as the switch
// would never send them, requests, links that go up and down, reloads, time. Each byte says what
// comes next. Nothing may be refused by the switch: what is wanted of its tables is always
// possible.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/control/tor/fuzz_input.h"
#include "harness/control/tor/rig.h"

#define PORTS   6u
#define STEPS   400u
#define LONGEST 400u
#define WAIT_MS 700u // at most, each

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VLANS                                                                                      \
    "\"mac\": \"02:00:00:00:00:fe\", \"vlans\": [{\"vid\": 10, \"addresses\": [\"10.0.10.1/24\", " \
    "\"2001:db8:10::1/64\"], \"snooping\": {\"querier\": true, \"interval\": 5, \"idle\": 20}, "   \
    "\"aging\": 10, \"static_groups\": [{\"group\": \"239.1.1.1\", \"links\": [\"a\"]}]}, "        \
    "{\"vid\": 20, \"addresses\": [\"10.0.20.1/24\", \"2001:db8:20::1/64\"], \"mtu\": 1280}"
#define ROUTES                                                                                     \
    "\"neighbours\": [{\"address\": \"10.0.10.9\", \"mac\": \"02:00:00:00:00:09\", \"vid\": "      \
    "10}], "                                                                                       \
    "\"routes\": [{\"to\": \"0.0.0.0/0\", \"via\": [\"10.0.10.2\", \"10.0.20.2\"]}, "              \
    "{\"to\": \"::/0\", \"via\": [\"2001:db8:20::2\"]}, {\"to\": \"192.0.2.0/24\", \"discard\": "  \
    "true}]"
static const char *const sections[] = {
    "{" VLANS "], \"links\": [{\"name\": \"a\", \"port\": 0, \"access\": 10, \"acl\": \"g\"}, "
    "{\"name\": \"b\", \"port\": 1, \"trunk\": \"all\"}, {\"name\": \"lag\", \"ports\": [2, 3], "
    "\"lacp\": {}, "
    "\"trunk\": [20], \"native\": 10}, {\"name\": \"c\", \"port\": 4, \"access\": 20}, {\"name\": "
    "\"probe\", \"port\": 5}], "
    "\"acls\": [{\"name\": \"g\", \"rules\": [{\"action\": \"copy\", \"family\": \"ipv4\", "
    "\"protocol\": \"tcp\"}, "
    "{\"action\": \"mirror\", "
    "\"mirror\": \"m\", \"family\": \"ipv6\"}]}], \"mirrors\": [{\"name\": \"m\", \"to\": "
    "\"probe\", \"links\": [{\"link\": \"b\"}]}], "
    "\"macs\": [{\"vid\": 10, \"mac\": \"02:00:00:00:00:01\", \"link\": \"a\"}], " ROUTES "}",
    "{" VLANS ", {\"vid\": 30}], \"links\": [{\"name\": \"a\", \"port\": 1, \"access\": 10, "
    "\"isolated\": true}, "
    "{\"name\": \"lag\", \"ports\": [0, 2, 3], \"trunk\": [20], \"native\": 30}, "
    "{\"name\": \"c\", \"port\": 4, \"access\": 20, \"isolated\": true, \"storm\": {\"broadcast\": "
    "5}}, "
    "{\"name\": \"d\", \"port\": 5, \"trunk\": \"all\", \"querier_port\": true}], " ROUTES "}"};
static const char *const ops[] = {
    "tor.links",  "tor.vlans", "tor.macs", "tor.mac.flush", "tor.neighbours", "tor.neighbour.flush",
    "tor.routes", "tor.icmp",  "tor.lacp", "tor.groups",    "tor.acl",        "tor.acl.test",
    "tor.status", "tor.wanted"};

static size_t bytes(struct input *in, uint8_t *out, size_t n) {
    if (n > in->left)
        n = in->left;
    memcpy(out, in->at, n);
    in->at += n;
    in->left -= n;
    return n;
}

// ---- frames ----

// Ethernet with addresses and types that mean something, so that what follows them is looked at.
static void send_frame(struct input *in, struct rig *r) {
    static const uint8_t destinations[][6] = {
        {255, 255, 255, 255, 255, 255}, {2, 0, 0, 0, 0, 0xfe}, {2, 0, 0, 0, 0, 2},
        {1, 0x80, 0xc2, 0, 0, 2},       {1, 0, 0x5e, 1, 1, 1}, {0x33, 0x33, 0, 0, 0, 1},
        {0x33, 0x33, 0xff, 0, 0, 1},    {1, 0, 0x5e, 0, 0, 1}};
    static const uint16_t types[] = {0x0806, 0x0800, 0x86dd, 0x8809, 0x8100, 0x88b5};
    uint8_t frame[14 + LONGEST] = {0};
    const uint16_t port = (uint16_t)(byte(in) % PORTS);
    const unsigned kind = byte(in), length = byte(in) + 46u;
    memcpy(frame, destinations[kind % 8], 6);
    frame[6] = 2;
    frame[11] = (uint8_t)(byte(in) % 8);
    const uint16_t type = types[(kind / 8) % 6];
    frame[12] = (uint8_t)(type >> 8);
    frame[13] = (uint8_t)type;
    bytes(in, frame + 14, length);
    rig_send(r, port, frame, 14 + length);
}

static void send_raw(struct input *in, struct rig *r) {
    uint8_t frame[LONGEST] = {0};
    const uint16_t port = (uint16_t)(byte(in) % PORTS);
    const size_t n = byte(in);
    bytes(in, frame, n);
    rig_send(r, port, frame, n < 14 ? 14 : n);
}

static void send_to_control(struct input *in, struct rig *r) {
    uint8_t frame[LONGEST] = {0};
    const size_t n = byte(in);
    bytes(in, frame, n);
    tor_frame(rig_tor(r), frame, (uint32_t)n, rig_now(r));
}

// ---- the rest ----

static void ask(struct input *in, struct rig *r) {
    const char *op = ops[byte(in) % (sizeof ops / sizeof *ops)];
    uint8_t text[256];
    const size_t n = bytes(in, text, byte(in));
    json_t *request = json_loadb((const char *)text, n, 0, NULL);
    struct sk_error err = {""};
    if (!json_is_object(request)) {
        json_decref(request);
        request = json_object();
    }
    json_t *result = tor_request(rig_tor(r), op, request, rig_now(r), &err);
    if (!result && !err.text[0])
        abort(); // refused without a sentence
    json_decref(result);
    json_decref(request);
}

static void look_for_refusals(const struct rig *r) {
    const char *alarm = json_string_value(json_object_get(rig_event(r, "alarm"), "alarm"));
    if (alarm && strcmp(alarm, "refused") == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    struct rig *r = rig_new(PORTS, sections[0]);
    struct sk_error err;
    for (unsigned i = 0; i < STEPS && in.left > 0; i++) {
        const unsigned what = byte(&in);
        if (what < 150)
            send_frame(&in, r);
        else if (what < 170)
            send_raw(&in, r);
        else if (what < 190)
            send_to_control(&in, r);
        else if (what < 215)
            ask(&in, r);
        else if (what < 230)
            rig_link(r, (uint16_t)(byte(&in) % PORTS), what % 2);
        else if (what < 250)
            rig_wait(r, byte(&in) * WAIT_MS / 255);
        else if (rig_reload(r, sections[what % 2], &err))
            abort();
        rig_forget(r);
        look_for_refusals(r);
    }
    rig_free(r);
    return 0;
}
