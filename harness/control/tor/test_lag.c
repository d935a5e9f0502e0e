// SPDX-License-Identifier: Apache-2.0
//
// LACP on the rig, with a partner of its own system (partner.h), and frames by hand, as IEEE
// 802.1AX 6.4.2.3 and 6.5.3.3 have them.
//
// Ports 0 and 1 are the LAG, port 2 is a host.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/control/tor/partner.h"
#include "harness/control/tor/rig.h"

#define SECTION(lacp)                                                                              \
    "{\"mac\": \"02:00:00:00:ff:01\", \"vlans\": [{\"vid\": 10}], \"links\": ["                    \
    "{\"name\": \"up\", \"ports\": [\"p0\", \"p1\"]" lacp ", \"access\": 10},"                     \
    "{\"name\": \"host\", \"port\": \"p2\", \"access\": 10}]}"
#define STATIC  SECTION("")
#define SLOW    SECTION(", \"lacp\": {\"active\": true}")
#define FAST    SECTION(", \"lacp\": {\"active\": true, \"fast\": true}")
#define PASSIVE SECTION(", \"lacp\": {\"active\": false}")

static const uint8_t other_system[6] = {0x02, 0, 0, 0, 0xee, 0x10};
static const uint8_t third_system[6] = {0x02, 0, 0, 0, 0xdd, 0x10};
static const struct partner_options active = {.active = true};

struct fixture {
    struct rig *r;
    struct partner *p, *q;
};
static int set_up(void **state) {
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}
static int tear_down(void **state) {
    struct fixture *f = *state;
    partner_free(f->p);
    partner_free(f->q);
    rig_free(f->r);
    free(f);
    return 0;
}

static struct fixture *start(void **state, const char *section) {
    struct fixture *f = *state;
    f->r = rig_new(3, section);
    return f;
}
static struct fixture *start_with(void **state, const char *section,
                                  struct partner_options options) {
    struct fixture *f = start(state, section);
    f->p = partner_new(f->r, other_system, options);
    partner_plug(f->p, 0, 7, 3);
    partner_plug(f->p, 1, 8, 3);
    return f;
}

// Which members carry traffic: of 32 flows from the host each goes by one of those. Bit 0: port 0.
static unsigned carriers(struct rig *r) {
    uint8_t frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 0, 0, 1, 0, 0x88, 0xb5};
    unsigned used = 0;
    for (uint8_t flow = 0; flow < 32; flow++) {
        frame[11] = flow;
        rig_forget(r);
        rig_send(r, 2, frame, sizeof frame);
        assert_true(rig_count(r, 0) + rig_count(r, 1) <= 1);
        used |= (rig_count(r, 0) > 0) | (rig_count(r, 1) > 0) << 1;
    }
    rig_forget(r);
    return used;
}

static json_t *show(struct rig *r) {
    struct sk_error err;
    json_t *result = rig_request(r, "tor.lacp", NULL, &err);
    assert_non_null(result);
    return result;
}
// A member's value by a name.
static json_int_t value(struct rig *r, size_t member, const char *name) {
    json_t *all = show(r);
    json_t *lag = json_array_get(json_object_get(all, "lags"), 0);
    json_t *v = json_object_get(json_array_get(json_object_get(lag, "members"), member), name);
    assert_non_null(v);
    const json_int_t n = json_is_boolean(v) ? json_is_true(v) : json_integer_value(v);
    json_decref(all);
    return n;
}

// ---- agreement ----

static void test_both_sides_agree(void **state) {
    struct fixture *f = start_with(state, SLOW, active);
    assert_int_equal(carriers(f->r), 0);
    partner_wait(f->p, 3000);
    assert_int_equal(carriers(f->r), 3);
    assert_true(partner_carries(f->p, 0) && partner_carries(f->p, 1));
    assert_int_equal(value(f->r, 0, "active"), 1);
    assert_int_equal(rig_events(f->r, "lacp"), 1);
    json_t *all = show(f->r), *lag = json_array_get(json_object_get(all, "lags"), 0);
    assert_true(json_is_true(json_object_get(lag, "negotiated")));
    json_t *member = json_array_get(json_object_get(lag, "members"), 1);
    assert_string_equal(json_string_value(json_object_get(member, "partner")), "02:00:00:00:ee:10");
    json_decref(all);
}

static void test_what_it_says(void **state) {
    struct fixture *f = start(state, FAST);
    uint8_t got[2][RIG_FRAME];
    rig_wait(f->r, 200);
    for (uint16_t port = 0; port < 2; port++) {
        uint8_t *b = got[port];
        assert_int_equal(rig_take(f->r, port, b), 124);
        uint8_t want[124] = {
            0x01, 0x80, 0xc2, 0, 0, 2, 0x02, 0, 0, 0, 0xff, 0x01, 0x88, 0x09, 1, 1,
            // the actor: its system's priority and address, key, port's priority and number, state
            1, 20, 0x80, 0, 0x02, 0, 0, 0, 0xff, 0x01, b[26], b[27], 0x80, 0, 0,
            (uint8_t)(port + 1), b[32], 0, 0, 0,
            // the partner: nobody knows; in a hurry until somebody does
            2, 20, [52] = 2, [56] = 3, 16};
        assert_memory_equal(b, want, sizeof want);
        assert_true(b[32] & 0x01); // active
        assert_true(b[32] & 0x02); // fast
        assert_true(b[32] & 0x04); // can be a LAG
        assert_true(b[26] || b[27]);
    }
    assert_memory_equal(got[0] + 26, got[1] + 26, 2); // one key
}

static void test_nobody_answers(void **state) {
    struct fixture *f = start(state, FAST);
    rig_wait(f->r, 120000);
    assert_int_equal(carriers(f->r), 0);
}

static void test_the_passive_wait(void **state) {
    struct fixture *f = start_with(state, PASSIVE, (struct partner_options){.active = false});
    partner_wait(f->p, 60000);
    assert_int_equal(partner_heard(f->p, 0), 0);
    assert_int_equal(carriers(f->r), 0);
    partner_free(f->p);
    f->p = partner_new(f->r, other_system, active);
    partner_plug(f->p, 0, 7, 3);
    partner_plug(f->p, 1, 8, 3);
    partner_wait(f->p, 3000);
    assert_int_equal(carriers(f->r), 3);
}

// ---- what goes wrong ----

static void test_a_member_fails(void **state) {
    struct fixture *f = start_with(state, SLOW, active);
    partner_wait(f->p, 3000);
    rig_link(f->r, 0, false);
    partner_carrier(f->p, 0, false);
    assert_int_equal(carriers(f->r), 2);
    partner_wait(f->p, 10000);
    assert_int_equal(carriers(f->r), 2);
    rig_link(f->r, 0, true);
    partner_carrier(f->p, 0, true);
    assert_int_equal(carriers(f->r), 2); // not before it is agreed again
    partner_wait(f->p, 3000);
    assert_int_equal(carriers(f->r), 3);
}

// The link is up, but nobody speaks: 3 seconds, or 90.
static void test_a_member_falls_silent(void **state) {
    static const struct {
        const char *section;
        uint64_t still, gone;
    } of[] = {{FAST, 1900, 2000}, {SLOW, 58000, 33000}};
    for (size_t i = 0; i < 2; i++) {
        struct fixture *f = start_with(state, of[i].section, active);
        partner_wait(f->p, 3000);
        partner_silence(f->p, 1, true);
        partner_wait(f->p, of[i].still);
        assert_int_equal(carriers(f->r), 3);
        partner_wait(f->p, of[i].gone);
        assert_int_equal(carriers(f->r), 1);
        partner_silence(f->p, 1, false);
        partner_wait(f->p, 32000);
        assert_int_equal(carriers(f->r), 3);
        partner_free(f->p);
        f->p = NULL;
        rig_free(f->r);
        f->r = NULL;
    }
}

static void test_the_partner_changes_a_key(void **state) {
    struct fixture *f = start_with(state, FAST, (struct partner_options){true, true});
    partner_wait(f->p, 3000);
    assert_int_equal(carriers(f->r), 3);
    // Both move to another key; the library has one key for a LAG, that of its first member.
    partner_plug(f->p, 0, 7, 9);
    partner_plug(f->p, 1, 8, 9);
    partner_wait(f->p, 3000);
    assert_int_equal(carriers(f->r), 3);
}

static void say(struct rig *r, uint16_t port, const uint8_t system[6], uint8_t key, uint8_t id,
                uint8_t state) {
    uint8_t frame[124] = {0x01, 0x80, 0xc2,  0,    0, 2, 0x02, 0,   0,        0,
                          0xee, 0x77, 0x88,  0x09, 1, 1, 1,    20,  0x90,     0,
                          0,    0,    0,     0,    0, 0, 0,    key, 0x80,     0,
                          0,    id,   state, 0,    0, 0, 2,    20,  [56] = 3, 16};
    memcpy(frame + 20, system, 6);
    rig_send(r, port, frame, sizeof frame);
}

// Active, aggregation, synchronized, collecting, distributing.
#define IN_SYNC 0x3d

static void test_members_of_different_keys(void **state) {
    struct fixture *f = start(state, SLOW);
    say(f->r, 0, other_system, 3, 7, IN_SYNC);
    say(f->r, 1, other_system, 3, 8, IN_SYNC);
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 3);
    say(f->r, 1, other_system, 4, 8, IN_SYNC);
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 1);
    say(f->r, 1, other_system, 3, 8, IN_SYNC);
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 3);
}

static void test_members_that_lead_to_different_switches(void **state) {
    struct fixture *f = start(state, SLOW);
    say(f->r, 0, other_system, 3, 7, IN_SYNC);
    rig_wait(f->r, 100);
    say(f->r, 1, third_system, 3, 8, IN_SYNC);
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 1);
}

static void test_a_partner_that_is_not_ready(void **state) {
    struct fixture *f = start(state, SLOW);
    say(f->r, 0, other_system, 3, 7, IN_SYNC & ~0x08);
    say(f->r, 1, other_system, 3, 8, IN_SYNC);
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 2);
}

static void test_a_cable_to_itself(void **state) {
    static const uint8_t own[6] = {0x02, 0, 0, 0, 0xff, 0x01};
    struct fixture *f = start(state, SLOW);
    say(f->r, 0, own, 1, 2, IN_SYNC);
    say(f->r, 1, own, 1, 1, IN_SYNC);
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 0);
}

// ---- how often ----

static void test_it_speaks_as_often_as_the_partner_wants(void **state) {
    static const struct {
        bool fast;
        size_t least, most;
    } of[] = {{true, 55, 65}, {false, 2, 3}};
    for (size_t i = 0; i < 2; i++) {
        struct fixture *f =
            start_with(state, SLOW, (struct partner_options){.active = true, .fast = of[i].fast});
        partner_wait(f->p, 5000);
        const size_t before = partner_heard(f->p, 0);
        partner_wait(f->p, 60000);
        assert_in_range(partner_heard(f->p, 0) - before, of[i].least, of[i].most);
        partner_free(f->p);
        f->p = NULL;
        rig_free(f->r);
        f->r = NULL;
    }
}

// ---- frames that are none ----

static void test_frames_that_are_none(void **state) {
    struct fixture *f = start(state, SLOW);
    uint8_t frame[124] = {0x01, 0x80, 0xc2,    0,    0, 2, 0x02, 0,  0,        0,
                          0xee, 0x77, 0x88,    0x09, 1, 1, 1,    20, 0x90,     0,
                          0,    0,    0,       0,    0, 1, 0,    3,  0x80,     0,
                          0,    7,    IN_SYNC, 0,    0, 0, 2,    20, [56] = 3, 16};
    for (size_t n = 14; n < sizeof frame; n++)
        rig_send(f->r, 0, frame, n);
    // another address of the link, another type, another protocol, other pieces
    static const struct {
        size_t at;
        uint8_t is;
    } changes[] = {{5, 3},  {12, 0x89}, {13, 0x0a}, {14, 3}, {14, 0},
                   {16, 2}, {17, 19},   {36, 1},    {37, 21}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const uint8_t was = frame[changes[i].at];
        frame[changes[i].at] = changes[i].is;
        rig_send(f->r, 0, frame, sizeof frame);
        frame[changes[i].at] = was;
    }
    rig_send(f->r, 2, frame, sizeof frame); // the host's port is in no LAG
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 0);
    rig_send(f->r, 0, frame, sizeof frame);
    rig_wait(f->r, 100);
    assert_int_equal(carriers(f->r), 1);
}

// ---- markers ----

static void marker(struct rig *r, bool answered) {
    // A marker of system 02:00:00:00:ee:10, its port 7, transaction 0x12345678.
    uint8_t frame[124] = {0x01, 0x80, 0xc2, 0,    0,    2,    0x02, 0, 0,    0, 0xee, 0x77,
                          0x88, 0x09, 2,    1,    1,    16,   0,    7, 0x02, 0, 0,    0,
                          0xee, 0x10, 0x12, 0x34, 0x56, 0x78, 0,    0, 0,    0};
    uint8_t got[RIG_FRAME];
    rig_forget(r);
    rig_send(r, 1, frame, sizeof frame);
    assert_int_equal(rig_count(r, 0), 0);
    assert_int_equal(rig_count(r, 1), answered);
    if (!answered)
        return;
    assert_int_equal(rig_take(r, 1, got), sizeof frame);
    frame[10] = 0xff; // from the switch's address
    frame[11] = 0x01;
    frame[16] = 2; // a response
    assert_memory_equal(got, frame, sizeof frame);
    rig_send(r, 1, frame, sizeof frame); // which is not answered
    assert_int_equal(rig_count(r, 1), 0);
}

static void test_markers_are_answered(void **state) {
    struct fixture *f = start(state, STATIC);
    marker(f->r, true);
    assert_int_equal(value(f->r, 1, "markers"), 1);
}

static void test_markers_are_answered_with_lacp(void **state) {
    struct fixture *f = start(state, SLOW);
    rig_wait(f->r, 100);
    marker(f->r, true);
}

// ---- configurations ----

static void test_reloads(void **state) {
    struct fixture *f = start_with(state, SLOW, active);
    struct sk_error err;
    partner_wait(f->p, 3000);
    assert_int_equal(rig_reload(f->r, FAST, &err), 0);
    assert_int_equal(carriers(f->r), 3); // nothing was lost
    partner_wait(f->p, 3000);
    assert_int_equal(carriers(f->r), 3);
    assert_int_equal(rig_reload(f->r, STATIC, &err), 0);
    assert_int_equal(carriers(f->r), 3);
    rig_forget(f->r);
    rig_wait(f->r, 40000);
    assert_int_equal(rig_count(f->r, 0), 0);
    assert_int_equal(rig_reload(f->r, SLOW, &err), 0);
    assert_int_equal(carriers(f->r), 0);
    partner_wait(f->p, 32000);
    assert_int_equal(carriers(f->r), 3);
    // one member less
    assert_int_equal(
        rig_reload(
            f->r,
            "{\"mac\": \"02:00:00:00:ff:01\", \"vlans\": [{\"vid\": 10}], \"links\": ["
            "{\"name\": \"up\", \"ports\": [\"p1\"], \"lacp\": {\"active\": true}, \"access\": 10},"
            "{\"name\": \"host\", \"port\": \"p2\", \"access\": 10}]}",
            &err),
        0);
    partner_wait(f->p, 3000);
    assert_int_equal(carriers(f->r), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_both_sides_agree),
        TEST(test_what_it_says),
        TEST(test_nobody_answers),
        TEST(test_the_passive_wait),
        TEST(test_a_member_fails),
        TEST(test_a_member_falls_silent),
        TEST(test_the_partner_changes_a_key),
        TEST(test_members_of_different_keys),
        TEST(test_members_that_lead_to_different_switches),
        TEST(test_a_partner_that_is_not_ready),
        TEST(test_a_cable_to_itself),
        TEST(test_it_speaks_as_often_as_the_partner_wants),
        TEST(test_frames_that_are_none),
        TEST(test_markers_are_answered),
        TEST(test_markers_are_answered_with_lacp),
        TEST(test_reloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
