// SPDX-License-Identifier: Apache-2.0
//
// What becomes of jobs of the published client as time goes: when they end, and when the next one
// with the same addresses begins. The calls themselves: test_published.py.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "control/published/published.h"
#include "control/published/switchml.pb-c.h"

#define MS      UINT64_C(1000000)
#define S       UINT64_C(1000000000)
#define GRACE   (2 * S)
#define SILENCE (10 * S)
#define WAIT    (60 * S)

struct call {
    bool answered;
    enum rpc_status status;
    char why[320];
};

struct rig {
    struct published *p;
    uint64_t now, packets;
    unsigned in_switch, added;
    bool full;
};

static int locate(void *aux, const struct admission_request *q, struct admission_place *place,
                  struct sk_error *err) {
    (void)aux;
    (void)err;
    *place = (struct admission_place){.switch_ip = 1, .link = "1"};
    memcpy(place->mac, q->mac, 6);
    return 1;
}

static int add(void *aux, struct admission_job *job, struct sk_error *err) {
    struct rig *r = aux;
    (void)job;
    if (r->full)
        return sk_fail(err, "there is no room");
    r->in_switch++;
    r->added++;
    return 0;
}

static void take(void *aux, const char *name) {
    struct rig *r = aux;
    (void)name;
    r->in_switch--;
}

static uint64_t packets(void *aux, const char *name) {
    (void)name;
    return ((struct rig *)aux)->packets;
}

static void reply(void *call, const uint8_t *bytes, size_t length) {
    struct call *c = call;
    (void)bytes;
    (void)length;
    assert_false(c->answered);
    c->answered = true;
}

static void refuse(void *call, enum rpc_status status, const char *why) {
    struct call *c = call;
    assert_false(c->answered);
    c->answered = true;
    c->status = status;
    snprintf(c->why, sizeof c->why, "%s", why);
}

static const struct published_carrier carrier = {reply, refuse};

static int setup(void **state) {
    struct rig *r = calloc(1, sizeof *r);
    struct sk_error err;
    r->now = S;
    r->p = published_open(
        &(struct published_options){.slots = 64,
                                    .elements = 256,
                                    .udp_port = 4000,
                                    .wait_ns = WAIT,
                                    .grace_ns = GRACE,
                                    .silence_ns = SILENCE,
                                    .jobs = {.locate = locate, .add = add, .remove = take},
                                    .packets = packets,
                                    .aux = r},
        &err);
    *state = r;
    return 0;
}

static int teardown(void **state) {
    struct rig *r = *state;
    published_close(r->p);
    assert_int_equal(r->in_switch, 0);
    free(r);
    return 0;
}

static struct call broadcast(struct rig *r, uint64_t connection, uint32_t rank, uint32_t workers,
                             uint64_t value) {
    SwitchmlProto__BroadcastRequest m = SWITCHML_PROTO__BROADCAST_REQUEST__INIT;
    uint8_t bytes[64];
    struct call c = {.answered = false};
    m.rank = rank;
    m.num_workers = workers;
    m.value = value;
    published_call(r->p, PUBLISHED_BROADCAST, &carrier, connection, &c, bytes,
                   switchml_proto__broadcast_request__pack(&m, bytes), r->now);
    return c;
}

static struct call session(struct rig *r, uint64_t connection, uint32_t rank, uint32_t workers,
                           uint64_t value, uint32_t host) {
    SwitchmlProto__UdpSessionRequest m = SWITCHML_PROTO__UDP_SESSION_REQUEST__INIT;
    uint8_t bytes[64];
    struct call c = {.answered = false};
    m.session_id = value;
    m.rank = rank;
    m.num_workers = workers;
    m.mac = 0x020000000000 + host;
    m.ipv4 = 0x0a000000 + host;
    published_call(r->p, PUBLISHED_UDP_SESSION, &carrier, connection, &c, bytes,
                   switchml_proto__udp_session_request__pack(&m, bytes), r->now);
    return c;
}

static void barrier(struct rig *r, struct call *c, uint64_t connection, uint32_t workers) {
    SwitchmlProto__BarrierRequest m = SWITCHML_PROTO__BARRIER_REQUEST__INIT;
    uint8_t bytes[64];
    *c = (struct call){.answered = false};
    m.num_workers = workers;
    published_call(r->p, PUBLISHED_BARRIER, &carrier, connection, c, bytes,
                   switchml_proto__barrier_request__pack(&m, bytes), r->now);
}

static void pass(struct rig *r, uint64_t ns) {
    for (const uint64_t end = r->now + ns; r->now < end; r->now += 50 * MS)
        published_run(r->p, r->now);
}

// A job of one worker.
static void begin(struct rig *r, struct call *c, uint64_t connection, uint64_t value,
                  uint32_t host) {
    assert_int_equal(broadcast(r, connection, 0, 1, value).status, RPC_OK);
    const struct call asked = session(r, connection, 0, 1, value, host);
    if (asked.status != RPC_OK)
        fail_msg("%s", asked.why);
    barrier(r, c, connection, 1);
}

static void good(const struct call *c) {
    if (!c->answered || c->status != RPC_OK)
        fail_msg("%s", c->answered ? c->why : "it is not answered");
}

// ---- tests ----

static void test_the_second_barrier_waits_for_the_switch(void **state) {
    struct rig *r = *state;
    struct call c;
    begin(r, &c, 1, 5, 1);
    assert_false(c.answered);
    pass(r, 100 * MS);
    good(&c);
    assert_int_equal(r->in_switch, 1);
}

static void test_no_room(void **state) {
    struct rig *r = *state;
    struct call c;
    r->full = true;
    begin(r, &c, 1, 5, 1);
    pass(r, 100 * MS);
    assert_int_equal(c.status, RPC_ABORTED);
    assert_non_null(strstr(c.why, "there is no room"));
    r->full = false;
    begin(r, &c, 1, 6, 1); // the same connection may begin anew
    pass(r, 100 * MS);
    good(&c);
}

static void test_ends_when_nothing_comes_any_more(void **state) {
    struct rig *r = *state;
    struct call c;
    begin(r, &c, 1, 5, 1);
    pass(r, 100 * MS);
    published_gone(r->p, 1, r->now);
    for (unsigned i = 0; i < 20; i++) { // packets come
        r->packets++;
        pass(r, SILENCE / 2);
    }
    assert_int_equal(r->in_switch, 1);
    pass(r, SILENCE / 2 + S);
    assert_int_equal(published_counts(r->p).jobs.jobs, 1); // it keeps its slots for the grace time
    pass(r, GRACE);
    assert_int_equal(r->in_switch, 0);
    assert_int_equal(published_counts(r->p).jobs.failed, 0);
}

static void test_one_that_begins_anew_waits_for_the_grace_time(void **state) {
    struct rig *r = *state;
    struct call c;
    begin(r, &c, 1, 5, 1);
    pass(r, 100 * MS);
    published_gone(r->p, 1, r->now);
    begin(r, &c, 2, 6, 1);
    pass(r, GRACE - 200 * MS);
    assert_false(c.answered);
    assert_int_equal(r->added, 1);
    pass(r, 500 * MS);
    good(&c);
    assert_int_equal(r->added, 2);
    assert_int_equal(r->in_switch, 1);
}

static void test_one_that_is_there_keeps_its_address(void **state) {
    struct rig *r = *state;
    struct call c;
    begin(r, &c, 1, 5, 1);
    pass(r, 100 * MS);
    broadcast(r, 2, 0, 1, 6);
    const struct call other = session(r, 2, 0, 1, 6, 1);
    assert_int_equal(other.status, RPC_ALREADY_EXISTS);
    pass(r, 10 * S);
    assert_int_equal(r->in_switch, 1);
}

static void test_gives_up(void **state) {
    struct rig *r = *state;
    struct call c;
    assert_true(broadcast(r, 1, 0, 2, 5).answered);
    session(r, 1, 0, 2, 5, 1);
    barrier(r, &c, 1, 2);
    pass(r, WAIT - S);
    assert_false(c.answered);
    pass(r, 2 * S);
    assert_int_equal(c.status, RPC_ABORTED);
    assert_non_null(strstr(c.why, "rank 1 did not come"));
    assert_int_equal(published_counts(r->p).jobs.jobs, 0);
}

static void test_a_switch_that_loses_its_state_ends_jobs(void **state) {
    struct rig *r = *state;
    struct call c;
    begin(r, &c, 1, 5, 1);
    pass(r, 100 * MS);
    published_lost(r->p, "lost", r->now);
    barrier(r, &c, 1, 1);
    assert_int_equal(c.status, RPC_ABORTED);
    pass(r, GRACE + S);
    assert_int_equal(r->in_switch, 0);
}

static void test_has_as_many_jobs_as_it_can(void **state) {
    struct rig *r = *state;
    struct call c;
    unsigned begun = 0;
    for (uint64_t i = 1; i <= PUBLISHED_GROUPS; i++) {
        begin(r, &c, i, i, (uint32_t)i);
        pass(r, 100 * MS);
        begun += c.answered && c.status == RPC_OK;
    }
    assert_int_equal(begun, PUBLISHED_GROUPS);
    assert_int_equal(broadcast(r, 1000, 0, 1, 1000).status, RPC_RESOURCE_EXHAUSTED);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_second_barrier_waits_for_the_switch),
        TEST(test_no_room),
        TEST(test_ends_when_nothing_comes_any_more),
        TEST(test_one_that_begins_anew_waits_for_the_grace_time),
        TEST(test_one_that_is_there_keeps_its_address),
        TEST(test_gives_up),
        TEST(test_a_switch_that_loses_its_state_ends_jobs),
        TEST(test_has_as_many_jobs_as_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
