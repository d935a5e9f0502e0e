// SPDX-License-Identifier: Apache-2.0
//
// Sessions of a rack's jobs, frame by frame: who is answered and what, that packets pass in the
// present session alone, that a session begins with nothing of the one before it, and that a
// restarted switch knows the session that runs. Members are session/member.h's, at the rig's ports;
// hosts of this file have no other intelligence.
#include "harness/control/tor/jobs.h"

#include <unistd.h>

#include "session/frame.h"
#include "session/member.h"

#define MS     UINT64_C(1000000)
#define SLOTS  16u
#define NUMBER 7u
#define WITH_SESSIONS                                                                              \
    "{\"name\": \"one\", \"protocol\": \"switchml\", \"workers\": [" TWO                           \
    "], \"slots\": 16, \"number\": 7}"
#define ATP_WITH_SESSIONS                                                                          \
    "{\"name\": \"one\", \"protocol\": \"atp\", \"workers\": [" TWO                                \
    "], \"server\": \"c:10.0.10.4\", \"number\": 9}"

static char folder[] = "/tmp/silken-sessions-XXXXXX", state_file[80];

// ---- hosts ----

struct host {
    uint16_t port;
    uint32_t at; // host number
    struct session_member m;
};

static uint64_t next_nonce = 1000;

static struct host worker(uint16_t port, uint32_t at, uint16_t rank) {
    const struct session_message self = {.protocol = SESSION_SWITCHML,
                                         .role = SESSION_WORKER,
                                         .rank = rank,
                                         .workers = 2,
                                         .lanes = 1,
                                         .slots = SLOTS,
                                         .elements = 32,
                                         .job = NUMBER};
    struct host h = {.port = port, .at = at};
    session_member_init(&h.m, &self, false, next_nonce++);
    return h;
}

static uint16_t asks_from; // UDP port of host 2; 0: the usual one

static struct session_end end_of(uint32_t host) {
    struct session_end e = {.ip = HOST_IP(host), .port = host == 2 ? asks_from : 0};
    eth_address(e.mac, host);
    return e;
}

static struct session_end switch_end(void) {
    struct session_end e = {.ip = SWITCH_IP};
    eth_address(e.mac, ETH_OWN);
    return e;
}

static void say_as(struct rig *r, uint16_t port, uint32_t host, const struct session_message *m) {
    uint8_t f[SESSION_FRAME_BYTES];
    const struct session_end from = end_of(host), to = switch_end();
    rig_send(r, port, f, session_frame_write(f, &from, &to, m));
}

// What the switch says about sessions to a host at this port; false: nothing. Other frames are left
// out.
static bool heard(struct rig *r, uint16_t port, uint32_t host, struct session_message *m) {
    uint8_t f[RIG_FRAME];
    const struct session_end to = end_of(host);
    struct session_end from;
    size_t n;
    do
        n = rig_take(r, port, f);
    while (n > 0 && (get(f + 12, 2) != 0x0800 || get(f + 34, 2) != SESSION_PORT ||
                     get(f + 36, 2) != (to.port ? to.port : SESSION_PORT)));
    if (n == 0)
        return false;
    assert_true(session_frame_read(f, n, &to, &from, m));
    assert_int_equal(from.ip, SWITCH_IP);
    return true;
}

static void take_in(struct rig *r, struct host *h) {
    struct session_message m;
    while (heard(r, h->port, h->at, &m))
        session_member_hear(&h->m, &m, rig_now(r));
}

static void speak(struct rig *r, struct host *h) {
    struct session_message m;
    bool to_switch;
    while (session_member_write(&h->m, &m, &to_switch, rig_now(r))) {
        say_as(r, h->port, h->at, &m);
        take_in(r, h);
    }
    session_member_expire(&h->m, rig_now(r));
}

// Until so many milliseconds have passed.
static void live(struct rig *r, struct host *const *hosts, unsigned n, unsigned ms) {
    for (unsigned t = 0; t < ms; t++) {
        for (unsigned i = 0; i < n; i++)
            speak(r, hosts[i]);
        rig_wait(r, 1);
        for (unsigned i = 0; i < n; i++)
            take_in(r, hosts[i]);
    }
}

static void live_two(struct rig *r, struct host *a, struct host *b, unsigned ms) {
    struct host *const both[] = {a, b};
    live(r, both, 2, ms);
}

static struct rig *with_job(const char *request) {
    struct rig *r = start();
    add(r, request);
    rig_wait(r, SESSION_QUIET_NS / MS + 10);
    rig_forget(r);
    return r;
}

// Both are in one session afterwards; its number.
static unsigned begin_two(struct rig *r, struct host *a, struct host *b) {
    live_two(r, a, b, 3000);
    assert_int_equal(a->m.state, SESSION_IN);
    assert_int_equal(b->m.state, SESSION_IN);
    assert_int_equal(a->m.session, b->m.session);
    assert_in_range(a->m.session, 1, 255);
    assert_int_equal(number(r, "one", "session"), a->m.session);
    rig_forget(r);
    return a->m.session;
}

// ---- packets ----

static void sum_send(struct rig *r, uint16_t port, uint32_t host, unsigned session, unsigned slot,
                     uint32_t value) {
    uint8_t f[HEAD + SML_BYTES];
    head(f, ETH_OWN, host, SWITCH_IP, 0xbee0, SML_BYTES);
    put(f + HEAD, 2, 0x1000 | NUMBER);
    put(f + HEAD + 2, 4, (uint64_t)session << 24);
    put(f + HEAD + 6, 4, (uint64_t)slot << 16);
    for (int i = 0; i < 32; i++)
        put(f + HEAD + 10 + 4 * i, 4, value);
    rig_send(r, port, f, sizeof f);
}

// Both send in that session to a slot, and get the sum of just that.
static void sums(struct rig *r, unsigned session, unsigned slot) {
    sum_send(r, A, 2, session, slot, 100);
    eth_quiet(r);
    sum_send(r, B, 3, session, slot, 11);
    sml_result(r, A, 0, 2, 111);
    sml_result(r, B, 0, 3, 111);
    eth_quiet(r);
}

// ---- tests ----

static void test_nothing_passes_before_a_session(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    (void)state;
    for (unsigned session = 0; session < 256; session++) {
        sum_send(r, A, 2, session, 0, 1);
        sum_send(r, B, 3, session, 0, 1);
    }
    eth_quiet(r);
    rig_free(r);
}

static void test_a_cookie_comes_first(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0);
    struct session_message m, answer;
    bool to_switch;
    (void)state;
    assert_true(session_member_write(&a.m, &m, &to_switch, rig_now(r)));
    say_as(r, A, 2, &m);
    assert_true(heard(r, A, 2, &answer));
    assert_int_equal(answer.kind, SESSION_COOKIE);
    assert_true(answer.nonce == m.nonce && answer.cookie != 0);
    m.cookie = answer.cookie ^ 1; // guessed
    say_as(r, A, 2, &m);
    assert_true(heard(r, A, 2, &answer));
    assert_int_equal(answer.kind, SESSION_COOKIE);
    m.cookie = answer.cookie;
    say_as(r, A, 2, &m);
    assert_true(heard(r, A, 2, &answer));
    assert_int_equal(answer.kind, SESSION_WAIT);
    assert_non_null(strstr(answer.text, "worker 1"));
    eth_quiet(r);
    json_t *j = job(r, "one");
    assert_non_null(strstr(json_string_value(json_object_get(j, "session_waits")), "worker 1"));
    json_decref(j);
    rig_free(r);
}

static void test_only_the_present_session_counts(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0), b = worker(B, 3, 1);
    (void)state;
    const unsigned session = begin_two(r, &a, &b);
    assert_int_equal(rig_events(r, "job"), 1);
    sums(r, session, 3);
    for (unsigned other = 0; other < 256; other++)
        if (other != session) {
            sum_send(r, A, 2, other, 4, 1);
            sum_send(r, B, 3, other, 4, 1);
        }
    eth_quiet(r);
    sums(r, session, 4);
    rig_free(r);
}

// One worker's part of the next use lies in each slot, the other version's sum beside it, when all
// begin again.
static void test_a_second_start_finds_empty_slots(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    (void)state;
    unsigned before = 0;
    for (unsigned times = 0; times < 3; times++) {
        struct host a = worker(A, 2, 0), b = worker(B, 3, 1);
        const unsigned session = begin_two(r, &a, &b);
        assert_int_not_equal(session, before);
        for (unsigned slot = 0; before && slot < SLOTS; slot++) {
            sum_send(r, A, 2, before, slot, 5); // late
            sum_send(r, B, 3, before, slot, 5);
        }
        eth_quiet(r);
        for (unsigned slot = 0; slot < SLOTS; slot++) {
            sums(r, session, slot);
            sums(r, session, 0x8000 | slot);
            sum_send(r, slot % 2 ? A : B, slot % 2 ? 2 : 3, session, slot, 77);
            eth_quiet(r);
        }
        rig_forget(r);
        before = session;
    }
    rig_free(r);
}

static void test_one_that_is_killed_ends_the_session(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0), b = worker(B, 3, 1);
    (void)state;
    const unsigned session = begin_two(r, &a, &b);
    sum_send(r, A, 2, session, 0, 100);
    struct host again = worker(A, 2, 0); // the first one is silent now
    live_two(r, &again, &b, 4000);
    assert_int_equal(b.m.state, SESSION_LOST);
    assert_non_null(strstr(b.m.text, "worker 0"));
    assert_int_equal(again.m.state, SESSION_JOINING);
    rig_forget(r);
    // the session is over for its members, and what all of them had sent is right still
    sum_send(r, B, 3, session, 0, 11);
    sml_result(r, A, 0, 2, 111);
    sml_result(r, B, 0, 3, 111);
    sum_send(r, B, 3, session, 1, 11);
    eth_quiet(r);
    struct host other = worker(B, 3, 1);
    sums(r, begin_two(r, &again, &other), 0);
    rig_free(r);
}

static void test_a_second_process_is_refused(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0), b = worker(B, 3, 1), second = worker(A, 2, 0);
    struct host *const all[] = {&a, &b, &second};
    struct session_message m;
    (void)state;
    const unsigned session = begin_two(r, &a, &b);
    // Both are at one port and address: each hears all, and heeds what is for its nonce.
    for (unsigned t = 0; t < 3000; t++) {
        for (unsigned i = 0; i < 3; i++) {
            struct session_message out;
            bool to_switch;
            while (session_member_write(&all[i]->m, &out, &to_switch, rig_now(r)))
                say_as(r, all[i]->port, all[i]->at, &out);
            session_member_expire(&all[i]->m, rig_now(r));
        }
        rig_wait(r, 1);
        while (heard(r, A, 2, &m))
            session_member_hear(m.nonce == a.m.self.nonce ? &a.m : &second.m, &m, rig_now(r));
        take_in(r, &b);
    }
    assert_int_equal(second.m.state, SESSION_LOST);
    assert_true(second.m.refused);
    assert_int_equal(a.m.state, SESSION_IN);
    assert_int_equal(b.m.state, SESSION_IN);
    rig_forget(r);
    sums(r, session, 5);
    rig_free(r);
}

// What is said from elsewhere: by another port, with another address, as another rank, of another
// job.
static void test_who_is_not_believed(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0);
    struct session_message m, answer;
    bool to_switch;
    (void)state;
    assert_true(session_member_write(&a.m, &m, &to_switch, rig_now(r)));
    say_as(r, C, 2, &m);
    say_as(r, A, 3, &m);
    m.job = NUMBER + 1;
    say_as(r, A, 2, &m);
    m.job = NUMBER;
    m.protocol = SESSION_ATP;
    say_as(r, A, 2, &m);
    m.protocol = SESSION_SWITCHML;
    m.role = SESSION_SERVER;
    say_as(r, A, 2, &m);
    m.role = SESSION_WORKER;
    rig_wait(r, 100);
    eth_quiet(r);
    m.rank = 1;
    say_as(r, A, 2, &m);
    assert_true(heard(r, A, 2, &answer));
    assert_int_equal(answer.kind, SESSION_REFUSED);
    assert_non_null(strstr(answer.text, "worker 0"));
    m.rank = 60000;
    say_as(r, A, 2, &m);
    assert_true(heard(r, A, 2, &answer));
    assert_int_equal(answer.kind, SESSION_REFUSED);
    eth_quiet(r);
    rig_free(r);
}

static void test_frames_that_are_none(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0);
    const struct session_end from = end_of(2), to = switch_end();
    struct session_message m;
    uint8_t f[SESSION_FRAME_BYTES], g[SESSION_FRAME_BYTES];
    bool to_switch;
    (void)state;
    assert_true(session_member_write(&a.m, &m, &to_switch, rig_now(r)));
    const size_t n = session_frame_write(f, &from, &to, &m);
    for (size_t at = 14; at < n;
         at++) { // one byte wrong: checksums say so, or it is a message still
        memcpy(g, f, n);
        g[at] ^= 0x5a;
        rig_send(r, A, g, n);
    }
    for (size_t shorter = 0; shorter < n; shorter++)
        rig_send(r, A, f, shorter);
    rig_wait(r, 10);
    rig_forget(r);
    struct host b = worker(B, 3, 1);
    sums(r, begin_two(r, &a, &b), 0);
    rig_free(r);
}

static void test_nothing_starts_before_it_was_quiet(void **state) {
    struct rig *r = start();
    struct host a = worker(A, 2, 0), b = worker(B, 3, 1);
    (void)state;
    add(r, WITH_SESSIONS);
    live_two(r, &a, &b, SESSION_QUIET_NS / MS - 300);
    assert_int_equal(number(r, "one", "session"), 0);
    assert_int_equal(a.m.state, SESSION_JOINING);
    sums(r, begin_two(r, &a, &b), 0);
    rig_free(r);
}

static struct rig *begin_with_state(void) {
    char section[8192];
    const char *with = SECTION(LINKS_WITHOUT_C LINK_C, "");
    snprintf(section, sizeof section, "%.*s, \"state\": \"%s\"}", (int)strlen(with) - 1, with,
             state_file);
    struct rig *r = rig_new_with("p4/rack/rack.p4", PORTS, section);
    rig_forget(r);
    return r;
}

// A restarted switch takes the session that ran for the present one: of its members, and of nobody
// else.
static void test_a_restart_keeps_the_session(void **state) {
    (void)state;
    struct rig *r = begin_with_state();
    struct host a = worker(A, 2, 0), b = worker(B, 3, 1);
    add(r, WITH_SESSIONS);
    const unsigned session = begin_two(r, &a, &b);
    rig_free(r);
    r = begin_with_state();
    assert_int_equal(number(r, "one", "session"), session);
    // the lease of both is over: they ask, and are told that it is
    live_two(r, &a, &b, 3000);
    assert_true(session_is_on(&a.m, rig_now(r)));
    assert_true(session_is_on(&b.m, rig_now(r)));
    rig_free(r);
    // who was started meanwhile ends it, and gets a session with another number
    r = begin_with_state();
    struct host c = worker(A, 2, 0), d = worker(B, 3, 1);
    assert_int_not_equal(begin_two(r, &c, &d), session);
    sums(r, c.m.session, 1);
    rig_free(r);
}

static void test_who_leaves(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0), b = worker(B, 3, 1);
    (void)state;
    begin_two(r, &a, &b);
    session_member_leave(&a.m);
    live_two(r, &a, &b, 5);
    assert_int_not_equal(number(r, "one", "session"), 0); // what is complete may still be asked for
    session_member_leave(&b.m);
    live_two(r, &a, &b, 5);
    assert_int_equal(number(r, "one", "session"), 0);
    struct host c = worker(A, 2, 0), d = worker(B, 3, 1);
    sums(r, begin_two(r, &c, &d), 2); // at once: nobody has to be missed for long
    rig_free(r);
}

// ---- ATP: the server coordinates, the switch begins what it is told ----

static struct session_message begin_message(uint64_t nonce, unsigned rank, unsigned session,
                                            uint64_t id) {
    return (struct session_message){.kind = SESSION_BEGIN,
                                    .protocol = SESSION_ATP,
                                    .role = SESSION_WORKER,
                                    .nonce = nonce,
                                    .rank = (uint16_t)rank,
                                    .workers = 2,
                                    .lanes = 1,
                                    .servers = 1,
                                    .session = (uint16_t)session,
                                    .id = id,
                                    .job = 9};
}

static bool begun(struct rig *r, uint16_t port, uint32_t host, unsigned session, uint64_t id) {
    struct session_message m;
    for (unsigned t = 0; t < 2000; t++) {
        if (heard(r, port, host, &m))
            return m.kind == SESSION_BEGUN && m.session == session && m.id == id;
        rig_wait(r, 1);
    }
    return false;
}

static void test_atp_begins_what_is_new(void **state) {
    struct rig *r = with_job(ATP_WITH_SESSIONS);
    struct session_message m = begin_message(1, 0, 0xa801, 111), answer;
    (void)state;
    say_as(r, A, 2, &m);
    assert_true(begun(r, A, 2, 0xa801, 111));
    m = begin_message(2, 1, 0xa801, 111); // the other worker's
    say_as(r, B, 3, &m);
    assert_true(begun(r, B, 3, 0xa801, 111));
    m = begin_message(1, 0, 0xa802, 112);
    say_as(r, A, 2, &m);
    assert_true(begun(r, A, 2, 0xa802, 112));
    m = begin_message(2, 1, 0xa801, 111); // late: what came before is not begun again
    say_as(r, B, 3, &m);
    rig_wait(r, 1000);
    assert_false(heard(r, B, 3, &answer) && answer.kind == SESSION_BEGUN);
    rig_forget(r);
    m = begin_message(3, 0, 0xa803, 113); // from elsewhere
    say_as(r, X, 5, &m);
    say_as(r, B, 3, &m);
    rig_wait(r, 1000);
    while (heard(r, B, 3, &answer))
        assert_int_equal(answer.kind, SESSION_REFUSED);
    assert_false(heard(r, X, 5, &answer));
    rig_free(r);
}

// A host whose address has members of several jobs asks from a port of this job's own, and is
// answered there. So is what the switch says unasked.
static void test_another_port(void **state) {
    struct rig *r = with_job(WITH_SESSIONS);
    struct host a = worker(A, 2, 0), b = worker(B, 3, 1);
    struct session_message answer;
    (void)state;
    asks_from = 28673;
    sums(r, begin_two(r, &a, &b), 0);
    struct host again = worker(B, 3, 1);
    live_two(r, &a, &again, 4000);
    assert_int_equal(a.m.state, SESSION_LOST);
    asks_from = 0;
    assert_false(heard(r, A, 2, &answer));
    rig_free(r);
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(state_file, sizeof state_file, "%s/jobs.json", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(state_file);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_passes_before_a_session),
        cmocka_unit_test(test_a_cookie_comes_first),
        cmocka_unit_test(test_only_the_present_session_counts),
        cmocka_unit_test(test_a_second_start_finds_empty_slots),
        cmocka_unit_test(test_one_that_is_killed_ends_the_session),
        cmocka_unit_test(test_a_second_process_is_refused),
        cmocka_unit_test(test_who_is_not_believed),
        cmocka_unit_test(test_frames_that_are_none),
        cmocka_unit_test(test_another_port),
        cmocka_unit_test(test_nothing_starts_before_it_was_quiet),
        cmocka_unit_test_setup_teardown(test_a_restart_keeps_the_session, set_up, tear_down),
        cmocka_unit_test(test_who_leaves),
        cmocka_unit_test(test_atp_begins_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
