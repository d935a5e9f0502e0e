// SPDX-License-Identifier: Apache-2.0
//
// Sessions in a world of chance: members of a job are killed, stopped and started in any order, so
// is the switch that coordinates them; messages and packets are lost, come twice and late. Whatever
// happens, the packets that meet in the switch are of one session and one incarnation of each
// member, and so are the answers that a member takes; and when everybody is left alone, a session
// starts, and all are in it.
//
// The switch is a gate with a number, and a cell that remembers who is in it. It takes its time to
// close: packets that have passed the gate get into the cell later.
//
//     test_sessions [--seeds N] [--from SEED]        2,000 seeds from 1 on
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "control/sessions/job.h"
#include "session/member.h"

#define MS        UINT64_C(1000000)
#define WORKERS   3u
#define PROCESSES (2 * WORKERS) // of a rank there can be two at a time
#define UNDER_WAY 8192u
#define STEPS     4000u
#define STEP      MS
#define LIMIT     (5000 * MS) // without an answer for so long a member gives up

static uint64_t seeds = 2000, from = 1;

// ---- chance ----

static uint64_t state;

static uint64_t draw(void) {
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool chance(unsigned of_1000) {
    return draw() % 1000 < of_1000;
}

// ---- the world ----

struct process {
    bool alive, stopped;
    struct session_member member;
    uint64_t progress; // when the last answer came
};

enum kind { TO_COORDINATOR, TO_MEMBER, DATA, ADDED, RESULT };

// On its way, or in the switch between gate and cell (ADDED).
struct thing {
    enum kind kind;
    uint64_t at;
    unsigned process;
    struct session_message message;
    // of data and results: the number that is in the packet, and what only the test knows
    uint16_t number;
    uint64_t session, nonce;
};

struct world {
    uint64_t now, seed;
    unsigned loss, duplicates, delay; // of 1,000; ms
    struct process p[PROCESSES];
    struct thing things[UNDER_WAY];
    unsigned n;
    // the switch
    bool running;
    struct sessions_job job;
    uint16_t gate, last;
    uint64_t cell, who[WORKERS]; // the session that is in it, and each worker's nonce; 0: nothing
    uint64_t results, sessions;
};

static void wrong(const struct world *w, const char *what) {
    fail_msg("seed %" PRIu64 ", at %.3f s: %s", w->seed, (double)w->now / 1e9, what);
}

static void put(struct world *w, struct thing t) {
    for (unsigned copy = 0; copy < 2 && (copy == 0 || chance(w->duplicates)); copy++) {
        if (w->n == UNDER_WAY || chance(w->loss))
            continue;
        t.at = w->now + draw() % (w->delay * MS + 1); // within what the lease allows for
        w->things[w->n++] = t;
    }
}

static unsigned rank_of(unsigned process) {
    return process % WORKERS;
}

// ---- the switch ----

static bool open_gate(void *owner, struct sessions_job *j, unsigned session) {
    struct world *w = owner;
    (void)j;
    w->gate = (uint16_t)session;
    return true;
}

static bool under_way(void *owner, uint64_t time) {
    const struct world *w = owner;
    (void)time;
    for (unsigned i = 0; i < w->n; i++)
        if (w->things[i].kind == ADDED)
            return true;
    return false;
}

static void clear(void *owner, struct sessions_job *j) {
    struct world *w = owner;
    (void)j;
    w->cell = 0;
    memset(w->who, 0, sizeof w->who);
}

// Both processes of a rank have its address.
static void answer(void *owner, struct sessions_job *j, const struct session_end *to,
                   const struct session_message *m) {
    struct world *w = owner;
    (void)j;
    for (unsigned p = to->ip; p < PROCESSES; p += WORKERS)
        put(w, (struct thing){.kind = TO_MEMBER, .process = p, .message = *m});
}

static uint16_t number(void *owner) {
    struct world *w = owner;
    w->last = (uint16_t)(w->last % 255 + 1);
    return w->last;
}

static uint64_t random_number(void *owner) {
    (void)owner;
    return draw() | 1;
}

static void started(void *owner, struct sessions_job *j) {
    (void)j;
    ((struct world *)owner)->sessions++;
}

static const struct sessions_job_ops ops = {.open = open_gate,
                                            .under_way = under_way,
                                            .clear = clear,
                                            .answer = answer,
                                            .number = number,
                                            .random = random_number,
                                            .started = started};

// It remembers nothing.
static void start_switch(struct world *w) {
    const struct gather_config as = {.protocol = SESSION_SWITCHML,
                                     .workers = WORKERS,
                                     .slots = 64,
                                     .not_before = w->now + SESSION_QUIET_NS};
    sessions_job_init(&w->job, &ops, w, 1, &as);
    w->running = true;
    w->gate = 0;
    // Often the next session gets the number of the last one.
    w->last = chance(300) ? (uint16_t)((w->last + 254) % 255) : (uint16_t)(draw() % 255);
    clear(w, &w->job);
}

static void end_switch(struct world *w) {
    if (!w->running)
        return;
    sessions_job_free(&w->job);
    w->running = false;
    for (unsigned i = 0; i < w->n;) // what was in it is gone
        if (w->things[i].kind == ADDED)
            w->things[i] = w->things[--w->n];
        else
            i++;
}

// A packet is in the cell. When all workers' are, all get the answer.
static void add(struct world *w, const struct thing *t) {
    if (w->cell && w->cell != t->session)
        wrong(w, "packets of two sessions meet");
    if (w->who[rank_of(t->process)] && w->who[rank_of(t->process)] != t->nonce)
        wrong(w, "packets of two incarnations of a worker meet");
    w->cell = t->session;
    w->who[rank_of(t->process)] = t->nonce;
    for (unsigned i = 0; i < WORKERS; i++)
        if (!w->who[i])
            return;
    for (unsigned p = 0; p < PROCESSES; p++)
        put(w, (struct thing){
                   .kind = RESULT, .process = p, .number = t->number, .session = t->session});
    memset(w->who, 0, sizeof w->who);
}

// ---- members ----

static void start_process(struct world *w, unsigned p) {
    const struct session_message self = {.protocol = SESSION_SWITCHML,
                                         .role = SESSION_WORKER,
                                         .rank = (uint16_t)rank_of(p),
                                         .workers = WORKERS,
                                         .lanes = 1,
                                         .slots = 64,
                                         .elements = 64,
                                         .job = 1};
    w->p[p] = (struct process){.alive = true};
    session_member_init(&w->p[p].member, &self, false, draw() | 1);
}

static void take_turn(struct world *w, unsigned p) {
    struct process *x = &w->p[p];
    struct session_message m;
    bool to_switch;
    if (!x->alive || x->stopped)
        return;
    session_member_expire(&x->member, w->now);
    while (session_member_write(&x->member, &m, &to_switch, w->now))
        put(w, (struct thing){.kind = TO_COORDINATOR, .process = p, .message = m});
    if (session_is_on(&x->member, w->now) && chance(300)) {
        put(w, (struct thing){.kind = DATA,
                              .process = p,
                              .number = x->member.session,
                              .session = x->member.id,
                              .nonce = x->member.self.nonce});
    }
    if (x->member.state != SESSION_IN)
        x->progress = w->now;
    if (x->member.state == SESSION_LOST || w->now - x->progress >= LIMIT)
        x->alive = false;
}

// ---- what arrives ----

static void arrive(struct world *w, struct thing t) {
    struct process *x = &w->p[t.process];
    const struct session_end end = {.ip = rank_of(t.process)};
    switch (t.kind) {
    case TO_COORDINATOR:
        if (w->running)
            sessions_job_hear(&w->job, &end, &t.message, w->now);
        break;
    case TO_MEMBER:
        if (x->alive && !x->stopped)
            session_member_hear(&x->member, &t.message, w->now);
        break;
    case DATA:
        if (w->running && w->gate && w->gate == t.number && w->n < UNDER_WAY) {
            t.kind = ADDED;
            t.at = w->now + draw() % (20 * MS);
            w->things[w->n++] = t;
        }
        break;
    case ADDED:
        add(w, &t);
        break;
    case RESULT:
        if (!x->alive || x->stopped || !session_is_on(&x->member, w->now) ||
            x->member.session != t.number)
            break;
        if (x->member.id != t.session)
            wrong(w, "a worker takes the answer of another session");
        session_member_heard(&x->member, w->now);
        x->progress = w->now;
        w->results++;
        break;
    }
}

static void step(struct world *w) {
    w->now += STEP;
    for (unsigned i = 0; i < w->n;)
        if (w->things[i].at <= w->now) {
            const struct thing t = w->things[i];
            w->things[i] = w->things[--w->n];
            arrive(w, t);
        } else {
            i++;
        }
    for (unsigned p = 0; p < PROCESSES; p++)
        take_turn(w, p);
    if (w->running)
        sessions_job_run(&w->job, w->now);
}

// ---- what happens ----

static void disturb(struct world *w) {
    const unsigned p = (unsigned)(draw() % PROCESSES);
    if (chance(6) && !w->p[p].alive)
        start_process(w, p);
    if (chance(4))
        w->p[p].alive = false;
    if (chance(2)) {
        session_member_leave(&w->p[p].member);
        take_turn(w, p);
        w->p[p].alive = false;
    }
    if (chance(3))
        w->p[p].stopped = !w->p[p].stopped;
    if (chance(1))
        end_switch(w);
    if (!w->running && chance(5))
        start_switch(w);
}

static bool all_are_in(const struct world *w) {
    const struct session_member *first = &w->p[0].member;
    for (unsigned p = 0; p < WORKERS; p++)
        if (!w->p[p].alive || w->p[p].member.state != SESSION_IN || w->p[p].member.id != first->id)
            return false;
    return true;
}

// Somebody starts all workers, and does so again if it says that it has to be.
static void calm(struct world *w) {
    w->loss = w->loss < 200 ? w->loss : 200;
    w->delay = w->delay < 20 ? w->delay : 20;
    if (!w->running)
        start_switch(w);
    for (unsigned p = 0; p < PROCESSES; p++)
        w->p[p].alive = w->p[p].stopped = false;
    const uint64_t end = w->now + 60000 * MS, results = w->results;
    while (w->now < end && !(all_are_in(w) && w->results > results + 10)) {
        for (unsigned p = 0; p < WORKERS; p++)
            if (!w->p[p].alive)
                start_process(w, p);
        step(w);
    }
    if (w->now >= end)
        wrong(w, "nobody disturbs the job, and it does not go on");
}

static void run_seed(struct world *w, uint64_t seed) {
    memset(w, 0, sizeof *w);
    state = seed * UINT64_C(0x2545f4914f6cdd1d);
    w->seed = seed;
    w->now = 1000 * MS;
    w->loss = chance(500) ? 0 : (unsigned)(draw() % 400);
    w->duplicates = chance(500) ? 0 : (unsigned)(draw() % 300);
    w->delay = chance(500) ? 1 : (unsigned)(draw() % 300);
    start_switch(w);
    for (unsigned p = 0; p < WORKERS; p++)
        start_process(w, p);
    for (unsigned i = 0; i < STEPS; i++) {
        disturb(w);
        step(w);
    }
    calm(w);
    end_switch(w);
}

static void test_any_order(void **unused) {
    struct world *w = malloc(sizeof *w);
    uint64_t sessions = 0, results = 0;
    (void)unused;
    assert_non_null(w);
    for (uint64_t seed = from; seed < from + seeds; seed++) {
        run_seed(w, seed);
        sessions += w->sessions;
        results += w->results;
    }
    printf("%" PRIu64 " seeds: %" PRIu64 " sessions, %" PRIu64 " answers\n", seeds, sessions,
           results);
    assert_true(sessions > seeds);
    free(w);
}

// ---- what is said ----

static struct session_message hear(struct gather *g, struct session_message m, uint64_t now) {
    struct session_message answers[GATHER_MAX_ANSWERS] = {{0}};
    assert_true(gather_hear(g, &m, now, answers) > 0);
    return answers[0];
}

static struct session_message member_of(unsigned rank, uint64_t nonce) {
    return (struct session_message){.kind = SESSION_JOIN,
                                    .protocol = SESSION_SWITCHML,
                                    .role = SESSION_WORKER,
                                    .rank = (uint16_t)rank,
                                    .workers = 2,
                                    .lanes = 1,
                                    .slots = 64,
                                    .elements = 256,
                                    .nonce = nonce};
}

static void joins(struct gather *g, unsigned rank, uint64_t nonce, uint64_t now) {
    struct session_message m = member_of(rank, nonce), a = hear(g, m, now);
    assert_int_equal(SESSION_COOKIE, a.kind);
    m.cookie = a.cookie;
    assert_int_equal(SESSION_WAIT, hear(g, m, now).kind);
}

static struct gather *two_workers(void) {
    const struct gather_config c = {
        .protocol = SESSION_SWITCHML, .job = 9, .workers = 2, .slots = 128, .secret = {1, 2}};
    return gather_new(&c);
}

static void expect_refusal(struct session_message m, const char *sentence) {
    struct gather *g = two_workers();
    joins(g, 0, 7, 0);
    const struct session_message a = hear(g, m, 0);
    assert_int_equal(SESSION_REFUSED, a.kind);
    assert_string_equal(sentence, a.text);
    gather_free(g);
}

static void test_refusals(void **unused) {
    struct session_message m = member_of(1, 5);
    (void)unused;
    m.workers = 3;
    expect_refusal(m, "the job has 2 workers, not 3");
    m = member_of(2, 5);
    expect_refusal(m, "the job has no worker 2");
    m = member_of(1, 5);
    m.protocol = SESSION_ATP;
    expect_refusal(m, "the job runs the protocol SwitchML");
    m = member_of(1, 5);
    m.slots = 129;
    expect_refusal(m, "the job has 128 slots, but the worker uses 129");
    m = member_of(1, 5);
    m.lanes = 2;
    expect_refusal(m, "the job's workers have 1 lanes, not 2");
    m.lanes = 0;
    expect_refusal(m, "lane 0 does not exist; there are 0");
    m = member_of(1, 5);
    m.role = SESSION_SERVER;
    expect_refusal(m, "the job has no server 1");
    m = member_of(1, 0);
    expect_refusal(m, "a nonce must not be 0");
    m = member_of(1, 5);
    m.servers = 1;
    expect_refusal(m, "the job has 0 servers, not 1");
}

static void test_words(void **unused) {
    struct gather *g = two_workers();
    char text[SESSION_TEXT];
    (void)unused;
    gather_text(g, 0, text, sizeof text);
    assert_string_equal("waiting for all workers", text);
    joins(g, 1, 5, 0);
    gather_text(g, 0, text, sizeof text);
    assert_string_equal("waiting for worker 0", text);
    struct session_message m = member_of(0, 9);
    m.elements = 64;
    m.cookie = hear(g, m, 0).cookie;
    hear(g, m, 0);
    assert_false(gather_is_full(g, 0));
    gather_text(g, 0, text, sizeof text);
    assert_string_equal("worker 1 has 64 slots and 256 elements in a packet, but worker 0 has 64 "
                        "and 64: they must be equal",
                        text);
    gather_free(g);
}

// One that is there keeps its place; one that is not makes room for another after a second.
static void test_two_of_a_rank(void **unused) {
    struct gather *g = two_workers();
    struct session_message m = member_of(0, 9), answers[GATHER_MAX_ANSWERS];
    (void)unused;
    joins(g, 0, 5, 0);
    m.cookie = hear(g, m, 0).cookie;
    assert_int_equal(2, gather_hear(g, &m, 0, answers));
    assert_int_equal(SESSION_WAIT, answers[0].kind);
    assert_int_equal(SESSION_PROBE, answers[1].kind);
    assert_int_equal(5, answers[1].nonce);
    assert_int_equal(SESSION_WAIT, hear(g, member_of(0, 5), 100 * MS).kind);
    assert_int_equal(SESSION_REFUSED, hear(g, m, 200 * MS).kind);
    m = member_of(0, 11);
    m.cookie = hear(g, m, 300 * MS).cookie;
    assert_int_equal(2, gather_hear(g, &m, 300 * MS, answers));
    assert_int_equal(1, gather_hear(g, &m, 1300 * MS, answers)); // nobody has answered
    joins(g, 1, 6, 1300 * MS);
    assert_false(gather_is_full(g, 1300 * MS)); // not before all have been heard once more
    assert_true(gather_asks_all(g) && !gather_asks_all(g));
    assert_true(gather_probe(g, 0, &answers[0]) && answers[0].nonce == 11);
    hear(g, member_of(0, 11), 1301 * MS);
    assert_false(gather_is_full(g, 1301 * MS));
    hear(g, member_of(1, 6), 1302 * MS);
    assert_true(gather_is_full(g, 1302 * MS));
    gather_start(g, 3, 33);
    assert_true(gather_push(g, 1, &answers[0]));
    assert_int_equal(SESSION_START, answers[0].kind);
    assert_int_equal(9, answers[0].job);
    assert_int_equal(33, answers[0].id);
    assert_int_equal(11, gather_nonce(g, 0));
    gather_free(g);
}

// Members are told of the job's audiences with the start, and do not lose them while the session
// runs.
static void test_audiences(void **unused) {
    struct gather *g = two_workers();
    const struct session_message self = member_of(0, 5);
    struct session_message start;
    struct session_member member;
    (void)unused;
    session_member_init(&member, &self, false, 5);
    joins(g, 0, 5, 0);
    joins(g, 1, 6, 0);
    gather_audiences(g, true);
    gather_start(g, 3, 33);
    start = hear(g, member_of(0, 5), MS);
    assert_int_equal(SESSION_START, start.kind);
    assert_int_equal(SESSION_AUDIENCES, start.flags);
    session_member_hear(&member, &start, MS);
    assert_true(session_is_on(&member, MS) && member.audiences);
    gather_audiences(g, false);
    start = hear(g, member_of(0, 5), 2 * MS);
    assert_int_equal(0, start.flags);
    session_member_hear(&member, &start, 2 * MS);
    assert_true(member.audiences);
    gather_free(g);
}

// Whoever begins again ends the session of the others, unless all have left.
static void test_a_successor(void **unused) {
    struct gather *g = two_workers();
    struct session_message m, answers[GATHER_MAX_ANSWERS];
    (void)unused;
    joins(g, 0, 5, 0);
    joins(g, 1, 6, 0);
    gather_start(g, 3, 33);
    assert_int_equal(SESSION_START, hear(g, member_of(0, 5), MS).kind);
    m = member_of(1, 7);
    m.cookie = hear(g, m, MS).cookie;
    hear(g, m, MS);
    assert_int_equal(SESSION_START, hear(g, member_of(0, 5), 2 * MS).kind);
    hear(g, m, 1001 * MS);
    const struct session_message over = hear(g, member_of(0, 5), 1002 * MS);
    assert_int_equal(SESSION_OVER, over.kind);
    assert_string_equal(
        "worker 1 has restarted, and so has the job: restart the other workers, too", over.text);
    // of a session that is not known
    m = member_of(0, 5000);
    m.id = 32;
    assert_int_equal(SESSION_OVER, hear(g, m, 1002 * MS).kind);
    // who has left makes room at once
    m = member_of(0, 5);
    m.kind = SESSION_LEAVE;
    assert_int_equal(0, gather_hear(g, &m, 1003 * MS, answers));
    joins(g, 0, 8, 1003 * MS);
    hear(g, member_of(1, 7), 1003 * MS);
    hear(g, member_of(0, 8), 1004 * MS);
    assert_true(gather_is_full(g, 1004 * MS));
    gather_free(g);
}

static void test_a_cookie_is_good_once(void **unused) {
    struct gather *g = two_workers();
    struct session_message m = member_of(0, 5);
    (void)unused;
    const uint64_t cookie = hear(g, m, 0).cookie;
    m.cookie = cookie + 1;
    assert_int_equal(SESSION_COOKIE, hear(g, m, 0).kind);
    m.cookie = cookie;
    assert_int_equal(SESSION_WAIT, hear(g, m, 0).kind);
    joins(g, 1, 6, 0);
    gather_start(g, 3, 33);
    // of one that was late by a session
    m.nonce = 50;
    m.cookie = cookie;
    assert_int_equal(SESSION_COOKIE, hear(g, m, 0).kind);
    gather_free(g);
}

// A process that was stopped, and goes on when the number of its session may be another one's.
static void test_a_lease(void **unused) {
    const struct session_message self = member_of(0, 5);
    struct session_message m = self;
    struct session_member member;
    bool to_switch;
    (void)unused;
    session_member_init(&member, &self, false, 5);
    assert_false(session_is_on(&member, 0));
    m.kind = SESSION_START;
    m.session = 3;
    m.id = 33;
    session_member_hear(&member, &m, 1000 * MS);
    session_member_heard(&member, 1100 * MS);
    assert_true(session_is_on(&member, 1100 * MS + SESSION_LEASE_NS - 1));
    assert_false(session_is_on(&member, 1100 * MS + SESSION_LEASE_NS));
    assert_true(session_member_write(&member, &m, &to_switch, 1600 * MS)); // it asks
    assert_int_equal(33, m.id);
    m.id = 34;
    m.kind = SESSION_START;
    session_member_hear(&member, &m, 1610 * MS);
    assert_false(session_is_on(&member, 1610 * MS));
    m.id = 33;
    session_member_hear(&member, &m, 1620 * MS);
    assert_true(session_is_on(&member, 1620 * MS));
}

// ---- bytes ----

static void test_bytes(void **unused) {
    struct session_message m = member_of(1, UINT64_C(0x1122334455667788)), back = {0};
    uint8_t bytes[SESSION_MAX_BYTES];
    (void)unused;
    m.session = 0xc123;
    m.id = UINT64_MAX - 1;
    m.cookie = 77;
    m.servers = 3;
    m.job = 200;
    m.flags = SESSION_REPLACES;
    memset(m.text, 'x', sizeof m.text - 1);
    const size_t length = session_write(bytes, &m);
    assert_int_equal(SESSION_MAX_BYTES - 1, length);
    assert_true(session_read(&back, bytes, length));
    assert_memory_equal(&m, &back, sizeof m);
    for (size_t cut = 0; cut < length; cut++)
        assert_false(session_read(&back, bytes, cut));
    bytes[SESSION_HEADER_BYTES] = 0x1b; // an escape sequence is nobody's to print
    assert_true(session_read(&back, bytes, length));
    assert_int_equal('?', back.text[0]);
    bytes[0] = 0x62;
    assert_false(session_read(&back, bytes, length));
}

static void test_frames(void **unused) {
    const struct session_end a = {{2, 0, 0, 0, 0, 1}, 0x0a000001, 0},
                             b = {{2, 0, 0, 0, 0, 2}, 0x0a000002, 0};
    const struct session_message m = member_of(1, 5);
    struct session_message back;
    struct session_end sender;
    uint8_t frame[SESSION_FRAME_BYTES];
    (void)unused;
    const size_t length = session_frame_write(frame, &a, &b, &m);
    assert_true(session_frame_read(frame, length, &b, &sender, &back));
    assert_memory_equal(&a.mac, &sender.mac, 6);
    assert_int_equal(a.ip, sender.ip);
    assert_int_equal(5, back.nonce);
    assert_false(session_frame_read(frame, length, &a, &sender, &back));
    for (size_t i = 0; i < length; i++) { // any damage shows, but in the sender's MAC address
        frame[i] ^= 4;
        if (i < 6 || i > 11)
            assert_false(session_frame_read(frame, length, &b, &sender, &back));
        frame[i] ^= 4;
    }
    for (size_t cut = 0; cut < length; cut++)
        assert_false(session_frame_read(frame, cut, &b, &sender, &back));
    // a member may have another port, and is answered there
    struct session_end elsewhere = a, whom;
    elsewhere.port = 28673;
    assert_true(session_frame_read(frame, session_frame_write(frame, &elsewhere, &b, &m), &b,
                                   &sender, &back));
    assert_int_equal(sender.port, 28673);
    const size_t answer = session_frame_write(frame, &b, &sender, &m);
    assert_false(session_frame_read(frame, answer, &a, &whom, &back));
    assert_true(session_frame_read(frame, answer, &elsewhere, &whom, &back));
    assert_int_equal(whom.port, SESSION_PORT);
    assert_true(session_frame_to(frame, answer, &whom));
    assert_int_equal(whom.port, 28673);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_frames),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_words),
        cmocka_unit_test(test_two_of_a_rank), cmocka_unit_test(test_audiences),
        cmocka_unit_test(test_a_successor),   cmocka_unit_test(test_a_cookie_is_good_once),
        cmocka_unit_test(test_a_lease),       cmocka_unit_test(test_any_order),
    };
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--from") == 0 ? &from : &seeds) = strtoull(argv[i + 1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
