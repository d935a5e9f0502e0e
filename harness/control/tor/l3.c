// SPDX-License-Identifier: Apache-2.0
#include "harness/control/tor/l3.h"

#include <stdlib.h>

#include "control/tor/tor_impl.h"

const char *l3_section(const char *more) {
    static char text[65536];
    snprintf(text, sizeof text,
             "{\"mac\": \"02:00:00:00:00:01\", \"control_rate\": 100000,"
             " \"vlans\": [{\"vid\": 10, \"addresses\": [\"10.0.10.1/24\", \"2001:db8:10::1/64\"]},"
             "             {\"vid\": 20, \"addresses\": [\"10.0.20.1/24\", \"2001:db8:20::1/64\"],"
             "              \"mtu\": 1400}],"
             " \"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10},"
             "             {\"name\": \"b\", \"port\": \"p1\", \"access\": 20},"
             "             {\"name\": \"c\", \"port\": \"p2\", \"access\": 10},"
             "             {\"name\": \"d\", \"port\": \"p3\", \"access\": 20}]%s}",
             more);
    return text;
}

struct rig *l3_rig(const char *more) {
    struct rig *r = rig_new(L3_PORTS, l3_section(more));
    rig_wait(r, 10000);
    rig_forget(r);
    return r;
}

void l3_know_a(struct rig *r) {
    rig_send_hex(r, 0, ARP_A_ASKS_OWN);
    rig_forget(r);
}

void l3_know_b(struct rig *r) {
    rig_send_hex(r, 1, ARP_B_ASKS_OWN);
    rig_forget(r);
}

void l3_know_a6(struct rig *r) {
    rig_send_hex(r, 0, NS_A_ASKS_OWN);
    rig_forget(r);
}

// By an answer that nobody asked for, and the question that it answers.
void l3_know_b6(struct rig *r) {
    rig_send_hex(r, 0, UDP6_A_TO_B);
    rig_send_hex(r, 1, NA_B_ANSWERS);
    rig_forget(r);
}

static void text_of(const uint8_t *bytes, size_t n, char *out) {
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
    out[2 * n] = '\0';
}

void l3_expect_at(struct rig *r, uint16_t port, const char *hex, const char *file, int line) {
    static uint8_t bytes[RIG_FRAME];
    static char text[2 * RIG_FRAME + 1];
    const size_t n = rig_take(r, port, bytes);
    text_of(bytes, n, text);
    if (n == 0) {
        print_error("nothing left by port %u; expected %s\n", port, hex);
        _fail(file, line);
    }
    if (strcmp(text, hex) != 0) {
        print_error("by port %u:\n%s\nexpected:\n%s\n", port, text, hex);
        _fail(file, line);
    }
}

void l3_quiet_at(struct rig *r, const char *file, int line) {
    static uint8_t bytes[RIG_FRAME];
    static char text[2 * RIG_FRAME + 1];
    for (uint16_t p = 0; p < L3_PORTS; p++) {
        const size_t n = rig_take(r, p, bytes);
        if (n == 0)
            continue;
        text_of(bytes, n, text);
        print_error("by port %u, where nothing should leave:\n%s\n", p, text);
        _fail(file, line);
    }
}

const char *l3_state(struct rig *r, const char *address) {
    static char state[32];
    struct sk_error err;
    json_t *n;
    size_t i;
    state[0] = '\0';
    for (json_int_t from = 0; from >= 0;) {
        char members[64];
        snprintf(members, sizeof members, "{\"from\": %" JSON_INTEGER_FORMAT "}", from);
        json_t *answer = rig_request(r, "tor.neighbours", members, &err);
        assert_non_null(answer);
        json_array_foreach(json_object_get(answer, "neighbours"), i, n) {
            if (strcmp(json_string_value(json_object_get(n, "address")), address) == 0)
                snprintf(state, sizeof state, "%s", json_string_value(json_object_get(n, "state")));
        }
        const json_t *next = json_object_get(answer, "next");
        from = next ? json_integer_value(next) : -1;
        json_decref(answer);
    }
    return state;
}

const char *l3_wanted(struct rig *r, const char *object) {
    const char *as = tor_wanted_as(rig_tor(r)->wanted, object);
    return as ? as : "";
}
