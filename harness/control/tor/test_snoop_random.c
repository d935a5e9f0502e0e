// SPDX-License-Identifier: Apache-2.0
//
// Random reports, leaves, links and time, against a plain table of who is a member until when.
// Groups are such that several share an Ethernet address, and one shares it with a group of the
// link. Where a moment decides (a member is about to be forgotten, or to leave) nothing is asked.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/control/tor/rig.h"

#define LINKS   4u // ports 0 to 3; the sender is at port 4
#define SENDER  4u
#define GROUPS  6u
#define STEPS   400u
#define IDLE_MS 20000u
#define LAST_MS 2000u

#define SECTION(more)                                                                              \
    "{\"mac\": \"02:00:00:00:ff:01\", \"control_rate\": 1000000, \"vlans\": [{\"vid\": 10, "       \
    "\"snooping\": {\"querier\": true, \"interval\": 1000, \"idle\": 20, \"unknown\": "            \
    "\"routers\"" more                                                                             \
    "}, \"static_groups\": [{\"group\": \"239.3.3.3\", \"links\": [\"d\"]}]}], "                   \
    "\"links\": [{\"name\": \"a\", \"port\": 0, \"access\": 10}, {\"name\": \"b\", \"port\": 1, "  \
    "\"access\": 10}, {\"name\": \"c\", \"port\": 2, \"access\": 10}, {\"name\": \"d\", "          \
    "\"port\": 3, \"access\": 10}, {\"name\": \"s\", \"port\": 4, \"access\": 10}]}"

static const uint32_t groups[GROUPS] = {0xef010101, 0xef810101, 0xee010101,
                                        0xef020202, 0xef030303, 0xef000005};

struct member {
    uint64_t until, leave_at, version_1_until; // ms; 0: none
};
struct world {
    struct rig *r;
    uint64_t now; // ms
    bool immediate;
    unsigned looked;
    struct member members[LINKS][GROUPS];
};

// ---- frames ----

static unsigned sum_of(const uint8_t *b, size_t n) {
    unsigned sum = 0;
    for (size_t i = 0; i < n; i += 2)
        sum += (unsigned)(b[i] << 8 | b[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    return ~(sum + (sum >> 16)) & 0xffff;
}
static void put32(uint8_t *b, uint32_t v) {
    for (int i = 0; i < 4; i++)
        b[i] = (uint8_t)(v >> (24 - 8 * i));
}
static void put_mac(uint8_t *b, uint32_t group) {
    const uint8_t mac[6] = {
        1, 0, 0x5e, (uint8_t)(group >> 16 & 0x7f), (uint8_t)(group >> 8), (uint8_t)group};
    memcpy(b, mac, 6);
}

static void send_igmp(struct world *w, unsigned link, uint32_t to, const uint8_t *message,
                      size_t n) {
    uint8_t f[256] = {
        0, 0, 0, 0, 0, 0, 2, 0, 0,  0, 0,  (uint8_t)(link + 1), 8, 0, 0x45, 0, 0, (uint8_t)(20 + n),
        0, 0, 0, 0, 1, 2, 0, 0, 10, 0, 10, (uint8_t)(link + 1)};
    put_mac(f, to);
    put32(f + 30, to);
    const unsigned header = sum_of(f + 14, 20);
    f[24] = (uint8_t)(header >> 8);
    f[25] = (uint8_t)header;
    memcpy(f + 34, message, n);
    const unsigned sum = sum_of(f + 34, n);
    f[36] = (uint8_t)(sum >> 8);
    f[37] = (uint8_t)sum;
    rig_send(w->r, (uint16_t)link, f, 34 + n);
}

static void send_one(struct world *w, unsigned link, uint8_t type, unsigned g) {
    uint8_t m[8] = {type};
    put32(m + 4, groups[g]);
    send_igmp(w, link, type == 0x17 ? 0xe0000002 : groups[g], m, sizeof m);
}

// ---- what should come of it ----

static bool is_member(const struct world *w, unsigned link, unsigned g) {
    return w->members[link][g].until > 0;
}

static void joins(struct world *w, unsigned link, unsigned g, bool version_1) {
    struct member *m = &w->members[link][g];
    m->until = w->now + IDLE_MS;
    m->leave_at = 0;
    if (version_1)
        m->version_1_until = m->until;
}

static void leaves(struct world *w, unsigned link, unsigned g) {
    struct member *m = &w->members[link][g];
    if (m->until == 0 || m->leave_at || w->now < m->version_1_until)
        return;
    if (w->immediate)
        *m = (struct member){0};
    else
        m->leave_at = w->now + LAST_MS;
}

static void pass(struct world *w, uint64_t ms) {
    rig_wait(w->r, ms);
    w->now += ms;
    for (unsigned l = 0; l < LINKS; l++)
        for (unsigned g = 0; g < GROUPS; g++) {
            struct member *m = &w->members[l][g];
            if (m->until && (w->now >= m->until || (m->leave_at && w->now >= m->leave_at)))
                m->until = m->leave_at = 0;
            if (w->now >= m->version_1_until)
                m->version_1_until = 0;
        }
}

// Is something about to happen to it, or just happened? The switch looks every 50 ms, members age
// by seconds.
static bool is_near(uint64_t now, uint64_t moment, uint64_t before, uint64_t after) {
    return moment && now + before >= moment && now <= moment + after;
}

// ---- steps ----

static unsigned pick(unsigned n) {
    return (unsigned)rand() % n;
}

static void several(struct world *w, unsigned link) {
    uint8_t m[128] = {0x22};
    const unsigned n = 1 + pick(4);
    size_t at = 8;
    m[7] = (uint8_t)n;
    for (unsigned i = 0; i < n; i++) {
        const unsigned g = pick(GROUPS);
        const uint8_t kind = (uint8_t)(1 + pick(6));
        const uint8_t sources = (uint8_t)pick(3), more = (uint8_t)pick(2);
        m[at] = kind;
        m[at + 1] = more;
        m[at + 3] = sources;
        put32(m + at + 4, groups[g]);
        at += 8 + 4u * sources + 4u * more;
        if (((kind == 1 || kind == 3) && sources == 0) || kind == 6)
            leaves(w, link, g);
        else
            joins(w, link, g, false);
    }
    send_igmp(w, link, 0xe0000016, m, at);
}

static void flap(struct world *w, unsigned link) {
    rig_link(w->r, (uint16_t)link, false);
    pass(w, 1 + pick(200));
    rig_link(w->r, (uint16_t)link, true);
    memset(w->members[link], 0, sizeof w->members[link]);
}

static void check(struct world *w, unsigned g, uint64_t decided_at[LINKS][GROUPS]) {
    uint8_t f[60] = {0, 0, 0,  0, 0, 0, 2, 0, 0,  0, 0, 0x99, 8, 0,  0x45,
                     0, 0, 46, 0, 0, 0, 0, 8, 17, 0, 0, 10,   0, 10, 9};
    put_mac(f, groups[g]);
    put32(f + 30, groups[g]);
    const unsigned header = sum_of(f + 14, 20);
    f[24] = (uint8_t)(header >> 8);
    f[25] = (uint8_t)header;
    bool want[LINKS] = {false};
    for (unsigned l = 0; l < LINKS; l++)
        for (unsigned o = 0; o < GROUPS; o++) {
            const struct member *m = &w->members[l][o];
            uint8_t mine[6], other[6];
            put_mac(mine, groups[g]);
            put_mac(other, groups[o]);
            if (memcmp(mine, other, 6) != 0)
                continue;
            if (is_near(w->now, m->until, 1200, 0) || is_near(w->now, m->leave_at, 60, 0) ||
                is_near(w->now, decided_at[l][o], 0, 1200))
                return;
            want[l] |= is_member(w, l, o) || (l == 3 && groups[o] == 0xef030303);
        }
    w->looked++;
    rig_forget(w->r);
    rig_send(w->r, SENDER, f, sizeof f);
    for (unsigned l = 0; l < LINKS; l++) {
        const bool all = groups[g] == 0xef000005;
        if (rig_count(w->r, (uint16_t)l) != (want[l] || all))
            fail_msg("group %u, link %u at %llu ms: %zu frames, %d wanted", g, l,
                     (unsigned long long)w->now, rig_count(w->r, (uint16_t)l), want[l] || all);
    }
}

static void journey(unsigned seed, bool immediate) {
    struct world w = {
        .r = rig_new(5, immediate ? SECTION(", \"immediate_leave\": true") : SECTION("")),
        .immediate = immediate};
    uint64_t decided_at[LINKS][GROUPS] = {{0}};
    srand(seed);
    w.now = 1;
    for (unsigned step = 0; step < STEPS; step++) {
        struct member before[LINKS][GROUPS];
        memcpy(before, w.members, sizeof before);
        const unsigned link = pick(LINKS), g = pick(GROUPS);
        switch (pick(8)) {
        case 0:
        case 1:
            joins(&w, link, g, false);
            send_one(&w, link, 0x16, g);
            break;
        case 2:
        case 3:
            leaves(&w, link, g);
            send_one(&w, link, 0x17, g);
            break;
        case 4:
            several(&w, link);
            break;
        case 5:
            pass(&w, 1 + pick(pick(5) ? 1500 : 12000));
            break;
        case 6:
            if (pick(6) == 0)
                flap(&w, link);
            break;
        default:
            if (pick(5) == 0) {
                joins(&w, link, g, true);
                send_one(&w, link, 0x12, g);
            }
        }
        // What the clock has decided on is looked at only some time later.
        for (unsigned l = 0; l < LINKS; l++)
            for (unsigned o = 0; o < GROUPS; o++)
                if (before[l][o].until && !w.members[l][o].until)
                    decided_at[l][o] = before[l][o].leave_at == 0 && immediate ? 0 : w.now;
        for (unsigned o = 0; o < GROUPS; o++)
            check(&w, o, decided_at);
    }
    assert_true(w.looked > STEPS * GROUPS / 4);
    rig_free(w.r);
}

static void test_journeys(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++)
        journey(seed, seed % 3 == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_journeys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
