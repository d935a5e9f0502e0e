// SPDX-License-Identifier: Apache-2.0
//
// Sessions of a job over three switches in a world of chance: a top one with a worker of its own
// and two below it with two workers each. Workers are killed, stopped and started in any order, and
// so are the switches; messages and packets are lost, come twice and late. Whatever happens, the
// packets that meet in a switch are of one session and one incarnation of each worker, in sums of
// sums, too, and so are the answers that a worker takes; and when everybody is left alone, a
// session starts at all switches, and all are in it.
//
// A switch is a gate with a number, and a cell that remembers who is in it, as in test_sessions.c.
// When all below are in the cell, what is in it goes up as one packet, or from the top one down.
//
//     test_levels [--seeds N] [--from SEED]          2,000 seeds from 1 on
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
#define SWITCHES  3u // 0 is the top one
#define WORKERS   5u
#define PROCESSES (2 * WORKERS) // of a rank there can be two at a time
#define CHILDREN  3u            // of a switch, at most
#define UNDER_WAY 8192u
#define STEPS     4000u
#define STEP      MS
#define LIMIT     (5000 * MS) // without an answer for so long a worker gives up

static uint64_t seeds = 2000, from = 1;

static const uint16_t ranks[SWITCHES][2] = {{4}, {0, 1}, {2, 3}};
static const unsigned hosts[SWITCHES] = {1, 2, 2}, children[SWITCHES] = {3, 2, 2};

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

enum kind {
    TO_COORDINATOR, // from a process to its switch
    TO_MEMBER,
    TO_TOP,   // between a lower switch and the top one
    FROM_TOP, // the same, down
    DATA,     // to a switch, from a child of it
    ADDED,    // in the switch, between gate and cell
    SUMS,     // from the top switch to a lower one
    RESULT    // to a process
};

// What a packet stands for, which only the test knows: a session, and workers' nonces; 0: not in
// it.
struct content {
    uint64_t session, who[WORKERS];
};

struct thing {
    enum kind kind;
    uint64_t at;
    unsigned to, child; // a switch or a process; which of the switch's children sends
    struct session_message message;
    uint16_t number; // of the session, in the packet
    struct content content;
};

struct world;
struct sw {
    struct world *world;
    unsigned is;
    bool running;
    struct sessions_job job;
    uint16_t gate, last;
    struct content cell; // session 0: nothing
    bool in[CHILDREN];
};

struct world {
    uint64_t now, seed;
    unsigned loss, duplicates, delay; // of 1,000; ms
    struct process p[PROCESSES];
    struct sw sw[SWITCHES];
    struct thing things[UNDER_WAY];
    unsigned n;
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

static unsigned switch_of(unsigned rank) {
    return rank == 4 ? 0 : 1 + rank / 2;
}

static unsigned place_of(unsigned rank) {
    return rank == 4 ? 0 : rank % 2;
}

// ---- a switch ----

static bool open_gate(void *owner, struct sessions_job *j, unsigned session) {
    (void)j;
    ((struct sw *)owner)->gate = (uint16_t)session;
    return true;
}

static bool under_way(void *owner, uint64_t time) {
    const struct sw *s = owner;
    (void)time;
    for (unsigned i = 0; i < s->world->n; i++)
        if (s->world->things[i].kind == ADDED && s->world->things[i].to == s->is)
            return true;
    return false;
}

static void empty(struct sw *s) {
    memset(&s->cell, 0, sizeof s->cell);
    memset(s->in, 0, sizeof s->in);
}

static void clear(void *owner, struct sessions_job *j) {
    (void)j;
    empty(owner);
}

// Both processes of a rank have its address; after the workers' are the lower switches'.
static void answer(void *owner, struct sessions_job *j, const struct session_end *to,
                   const struct session_message *m) {
    struct world *w = ((struct sw *)owner)->world;
    (void)j;
    if (to->ip >= WORKERS) {
        put(w, (struct thing){.kind = FROM_TOP, .to = to->ip - WORKERS, .message = *m});
        return;
    }
    for (unsigned p = to->ip; p < PROCESSES; p += WORKERS)
        put(w, (struct thing){.kind = TO_MEMBER, .to = p, .message = *m});
}

static void ask_above(void *owner, struct sessions_job *j, const struct session_message *m) {
    const struct sw *s = owner;
    (void)j;
    put(s->world, (struct thing){.kind = TO_TOP, .child = s->is, .message = *m});
}

static uint16_t number(void *owner) {
    struct sw *s = owner;
    s->last = (uint16_t)(s->last % 255 + 1);
    return s->last;
}

static uint64_t random_number(void *owner) {
    (void)owner;
    return draw() | 1;
}

static void started(void *owner, struct sessions_job *j) {
    const struct sw *s = owner;
    (void)j;
    s->world->sessions += s->is == 0;
}

static const struct sessions_job_ops ops = {.open = open_gate,
                                            .under_way = under_way,
                                            .clear = clear,
                                            .answer = answer,
                                            .number = number,
                                            .random = random_number,
                                            .started = started,
                                            .ask_above = ask_above};

// It remembers nothing.
static void start_switch(struct world *w, unsigned is) {
    struct sw *s = &w->sw[is];
    const struct gather_config as = {.protocol = SESSION_SWITCHML,
                                     .workers = hosts[is],
                                     .switches = children[is] - hosts[is],
                                     .ranks = ranks[is],
                                     .total = WORKERS,
                                     .slots = 64,
                                     .not_before = w->now + SESSION_QUIET_NS};
    s->world = w;
    s->is = is;
    sessions_job_init(&s->job, &ops, s, 1, &as);
    if (is > 0)
        sessions_job_below(&s->job, WORKERS);
    s->running = true;
    s->gate = 0;
    // Often the next session gets the number of the last one.
    s->last = chance(300) ? (uint16_t)((s->last + 254) % 255) : (uint16_t)(draw() % 255);
    empty(s);
}

static void end_switch(struct world *w, unsigned is) {
    if (!w->sw[is].running)
        return;
    sessions_job_free(&w->sw[is].job);
    w->sw[is].running = false;
    for (unsigned i = 0; i < w->n;) // what was in it is gone
        if (w->things[i].kind == ADDED && w->things[i].to == is)
            w->things[i] = w->things[--w->n];
        else
            i++;
}

// What all have goes to those below; in a lower switch, to its workers.
static void send_down(struct world *w, unsigned is, uint16_t number_of,
                      const struct content *content) {
    for (unsigned p = 0; p < PROCESSES; p++)
        if (switch_of(rank_of(p)) == is)
            put(w,
                (struct thing){.kind = RESULT, .to = p, .number = number_of, .content = *content});
    for (unsigned lower = 1; is == 0 && lower < SWITCHES; lower++)
        put(w, (struct thing){.kind = SUMS, .to = lower, .number = number_of, .content = *content});
}

// A packet is in the cell. When all below are, the cell is read.
static void add(struct world *w, const struct thing *t) {
    struct sw *s = &w->sw[t->to];
    if (s->cell.session && s->cell.session != t->content.session)
        wrong(w, "packets of two sessions meet");
    s->cell.session = t->content.session;
    for (unsigned i = 0; i < WORKERS; i++) {
        if (s->cell.who[i] && t->content.who[i] && s->cell.who[i] != t->content.who[i])
            wrong(w, "packets of two incarnations of a worker meet");
        s->cell.who[i] = t->content.who[i] ? t->content.who[i] : s->cell.who[i];
    }
    s->in[t->child] = true;
    for (unsigned i = 0; i < children[s->is]; i++)
        if (!s->in[i])
            return;
    if (s->is == 0)
        send_down(w, 0, t->number, &s->cell);
    else
        put(w,
            (struct thing){.kind = DATA, .child = s->is, .number = t->number, .content = s->cell});
    memset(s->in, 0, sizeof s->in);
    memset(s->cell.who, 0, sizeof s->cell.who);
}

// ---- workers ----

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
        put(w, (struct thing){.kind = TO_COORDINATOR, .child = p, .message = m});
    if (session_is_on(&x->member, w->now) && chance(300)) {
        struct thing t = {.kind = DATA,
                          .to = switch_of(rank_of(p)),
                          .child = place_of(rank_of(p)),
                          .number = x->member.session,
                          .content = {.session = x->member.id}};
        t.content.who[rank_of(p)] = x->member.self.nonce;
        put(w, t);
    }
    if (x->member.state != SESSION_IN)
        x->progress = w->now;
    if (x->member.state == SESSION_LOST || w->now - x->progress >= LIMIT)
        x->alive = false;
}

static void take_result(struct world *w, struct process *x, const struct thing *t) {
    if (!x->alive || x->stopped || !session_is_on(&x->member, w->now) ||
        x->member.session != t->number)
        return;
    if (x->member.id != t->content.session)
        wrong(w, "a worker takes the answer of another session");
    session_member_heard(&x->member, w->now);
    x->progress = w->now;
    w->results++;
}

// ---- what arrives ----

static void hear(struct world *w, unsigned is, uint32_t ip, const struct session_message *m) {
    const struct session_end end = {.ip = ip};
    if (w->sw[is].running)
        sessions_job_hear(&w->sw[is].job, &end, m, w->now);
}

static bool passes(const struct sw *s, const struct thing *t) {
    return s->running && s->gate && s->gate == t->number;
}

static void arrive(struct world *w, struct thing t) {
    const unsigned process = t.kind == TO_COORDINATOR ? t.child : t.to;
    switch (t.kind) {
    case TO_COORDINATOR:
        hear(w, switch_of(rank_of(process)), rank_of(process), &t.message);
        break;
    case TO_MEMBER:
        if (w->p[process].alive && !w->p[process].stopped)
            session_member_hear(&w->p[process].member, &t.message, w->now);
        break;
    case TO_TOP: // who sends it is known by its address
        t.message.rank = (uint16_t)(t.child - 1);
        hear(w, 0, WORKERS + t.child, &t.message);
        break;
    case FROM_TOP:
        if (w->sw[t.to].running)
            sessions_job_hear_above(&w->sw[t.to].job, &t.message, w->now);
        break;
    case DATA:
        if (passes(&w->sw[t.to], &t) && w->n < UNDER_WAY) {
            t.kind = ADDED;
            t.at = w->now + draw() % (20 * MS);
            w->things[w->n++] = t;
        }
        break;
    case ADDED:
        add(w, &t);
        break;
    case SUMS:
        if (passes(&w->sw[t.to], &t))
            send_down(w, t.to, t.number, &t.content);
        break;
    case RESULT:
        take_result(w, &w->p[process], &t);
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
    for (unsigned s = 0; s < SWITCHES; s++)
        if (w->sw[s].running)
            sessions_job_run(&w->sw[s].job, w->now);
}

// ---- what happens ----

static void disturb(struct world *w) {
    const unsigned p = (unsigned)(draw() % PROCESSES), s = (unsigned)(draw() % SWITCHES);
    if (chance(12) && !w->p[p].alive)
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
        end_switch(w, s);
    if (!w->sw[s].running && chance(10))
        start_switch(w, s);
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
    for (unsigned s = 0; s < SWITCHES; s++)
        if (!w->sw[s].running)
            start_switch(w, s);
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
    w->loss = chance(500) ? 0 : (unsigned)(draw() % 300);
    w->duplicates = chance(500) ? 0 : (unsigned)(draw() % 300);
    w->delay = chance(500) ? 1 : (unsigned)(draw() % 300);
    for (unsigned s = 0; s < SWITCHES; s++)
        start_switch(w, s);
    for (unsigned p = 0; p < WORKERS; p++)
        start_process(w, p);
    for (unsigned i = 0; i < STEPS; i++) {
        disturb(w);
        step(w);
    }
    calm(w);
    for (unsigned s = 0; s < SWITCHES; s++)
        end_switch(w, s);
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

static struct session_message says(struct gather *g, struct session_message m) {
    struct session_message answers[GATHER_MAX_ANSWERS] = {{0}};
    m.kind = SESSION_JOIN;
    assert_true(gather_hear(g, &m, 0, answers) > 0);
    return answers[0];
}

static void joins(struct gather *g, struct session_message m) {
    const struct session_message cookie = says(g, m);
    assert_int_equal(SESSION_COOKIE, cookie.kind);
    m.cookie = cookie.cookie;
    assert_int_equal(SESSION_WAIT, says(g, m).kind);
}

static void expect_refusal(struct gather *g, struct session_message m, const char *sentence) {
    const struct session_message a = says(g, m);
    assert_int_equal(SESSION_REFUSED, a.kind);
    assert_string_equal(sentence, a.text);
}

// Two of a job's five workers and a switch: members by number, in words, and numbers
// that are no member's.
static void test_workers_and_switches(void **unused) {
    const struct gather_config c = {.protocol = SESSION_SWITCHML,
                                    .job = 9,
                                    .workers = 2,
                                    .switches = 1,
                                    .ranks = ranks[2],
                                    .total = WORKERS,
                                    .slots = 64,
                                    .secret = {1, 2}};
    const struct session_message worker = {.protocol = SESSION_SWITCHML,
                                           .role = SESSION_WORKER,
                                           .rank = 3,
                                           .workers = WORKERS,
                                           .lanes = 2,
                                           .slots = 64,
                                           .elements = 32,
                                           .nonce = 5};
    struct gather *g = gather_new(&c);
    struct session_message m = worker, sw = worker, to;
    char text[SESSION_TEXT];
    (void)unused;
    sw.role = SESSION_SWITCH, sw.rank = 0, sw.lanes = 1, sw.nonce = 7;
    joins(g, sw); // before it is known how many lanes the workers have
    gather_text(g, 0, text, sizeof text);
    assert_string_equal("waiting for all workers", text);
    assert_false(gather_is_full(g, 0));
    joins(g, worker);
    assert_int_equal(5, gather_members(g));
    assert_int_equal(2, gather_number(g, &worker));
    assert_int_equal(4, gather_number(g, &sw));
    gather_text(g, 0, text, sizeof text);
    assert_string_equal("waiting for worker 2 lane 0, worker 2 lane 1, worker 3 lane 1", text);
    m.rank = 1;
    expect_refusal(g, m, "worker 1 is below another switch of the job");
    m.rank = 5;
    expect_refusal(g, m, "the job has no worker 5");
    m.rank = 3, m.workers = 2;
    expect_refusal(g, m, "the job has 5 workers, not 2");
    m = sw, m.rank = 1;
    expect_refusal(g, m, "the job has no switch 1");
    m.rank = 0, m.lanes = 2;
    expect_refusal(g, m, "a switch has one lane, not 2");
    m = worker;
    for (unsigned i = 0; i < 4; i++) {
        m.rank = 2 + i / 2, m.lane = i % 2, m.nonce = m.rank == 3 ? 5 : 6;
        if (i != 2)
            joins(g, m);
    }
    says(g, sw);
    for (unsigned i = 0; i < 4; i++) {
        m.rank = 2 + i / 2, m.lane = i % 2, m.nonce = m.rank == 3 ? 5 : 6;
        says(g, m);
    }
    assert_true(gather_is_full(g, 0));
    assert_int_equal(64, gather_slots(g));
    assert_int_equal(32, gather_elements(g));
    gather_start(g, 3, 33);
    assert_true(gather_push(g, 2, &to));
    assert_true(to.role == SESSION_WORKER && to.rank == 3 && to.workers == WORKERS);
    assert_true(gather_push(g, 4, &to));
    assert_true(to.role == SESSION_SWITCH && to.nonce == 7 && to.lanes == 1);
    gather_free(g);
}

// ---- one switch, and what the one above says ----

struct low {
    struct sessions_job job;
    struct session_message asked, answered;
    unsigned gate, asks;
    uint64_t random;
};

static bool low_open(void *owner, struct sessions_job *j, unsigned session) {
    (void)j;
    ((struct low *)owner)->gate = session;
    return true;
}

static bool low_under_way(void *owner, uint64_t time) {
    (void)owner, (void)time;
    return false;
}

static void low_clear(void *owner, struct sessions_job *j) {
    (void)owner, (void)j;
}

static void low_answer(void *owner, struct sessions_job *j, const struct session_end *to,
                       const struct session_message *m) {
    (void)j, (void)to;
    ((struct low *)owner)->answered = *m;
}

static uint64_t low_random(void *owner) {
    return ++((struct low *)owner)->random;
}

static void low_started(void *owner, struct sessions_job *j) {
    (void)owner, (void)j;
}

static void low_ask(void *owner, struct sessions_job *j, const struct session_message *m) {
    struct low *l = owner;
    (void)j;
    l->asked = *m;
    l->asks++;
}

static const struct sessions_job_ops low_ops = {.open = low_open,
                                                .under_way = low_under_way,
                                                .clear = low_clear,
                                                .answer = low_answer,
                                                .random = low_random,
                                                .started = low_started,
                                                .ask_above = low_ask};

// Some time later its only worker asks.
static void low_step(struct low *l, struct session_message *worker, uint64_t *now) {
    const struct session_end end = {.ip = 1};
    *now += 50 * MS;
    worker->kind = SESSION_JOIN;
    sessions_job_hear(&l->job, &end, worker, *now);
    worker->cookie = l->answered.kind == SESSION_COOKIE ? l->answered.cookie : worker->cookie;
    sessions_job_run(&l->job, *now);
}

static void from_above(struct low *l, enum session_kind kind, uint16_t session, uint64_t id,
                       const char *text, uint64_t now) {
    struct session_message m = l->asked;
    m.kind = kind, m.session = session, m.id = id;
    snprintf(m.text, sizeof m.text, "%s", text);
    sessions_job_hear_above(&l->job, &m, now);
}

static void test_what_the_switch_above_says(void **unused) {
    static const uint16_t rank[] = {1};
    const struct gather_config as = {
        .protocol = SESSION_SWITCHML, .workers = 1, .ranks = rank, .total = 2, .slots = 64};
    struct session_message worker = {.protocol = SESSION_SWITCHML,
                                     .role = SESSION_WORKER,
                                     .rank = 1,
                                     .workers = 2,
                                     .lanes = 1,
                                     .slots = 64,
                                     .elements = 64,
                                     .nonce = 1000};
    struct low l = {.random = 1};
    uint64_t now = 1000 * MS;
    char text[SESSION_TEXT];
    (void)unused;
    sessions_job_init(&l.job, &low_ops, &l, 1, &as);
    sessions_job_below(&l.job, 2);
    for (unsigned i = 0; i < 5; i++)
        low_step(&l, &worker, &now);
    assert_true(l.asks > 0 && l.gate == 0);
    assert_true(l.asked.role == SESSION_SWITCH && l.asked.workers == 2 && l.asked.slots == 64 &&
                l.asked.elements == 64 && l.asked.id == 0);
    // it cannot join: that is said, and it tries again a second later, under another nonce
    const uint64_t nonce = l.asked.nonce;
    from_above(&l, SESSION_REFUSED, 0, 0, "the job has 3 workers, not 2", now);
    sessions_job_text(&l.job, now, text, sizeof text);
    assert_string_equal("waiting for the switch above: the job has 3 workers, not 2", text);
    low_step(&l, &worker, &now);
    const unsigned asks = l.asks;
    for (unsigned i = 0; i < 15; i++)
        low_step(&l, &worker, &now);
    assert_int_equal(l.asks, asks);
    for (unsigned i = 0; i < 10; i++)
        low_step(&l, &worker, &now);
    assert_true(l.asks > asks && l.asked.nonce != nonce);
    // somebody who does not know its nonce, and numbers that no packet can have
    const struct session_message right = l.asked;
    l.asked.nonce = nonce;
    from_above(&l, SESSION_START, 9, 99, "", now);
    l.asked = right;
    low_step(&l, &worker, &now);
    assert_int_equal(l.gate, 0);
    from_above(&l, SESSION_START, 256, 99, "", now);
    low_step(&l, &worker, &now);
    assert_int_equal(l.gate, 0);
    from_above(&l, SESSION_START, 0, 99, "", now);
    low_step(&l, &worker, &now);
    assert_int_equal(l.gate, 0);
    from_above(&l, SESSION_START, 9, 99, "", now);
    low_step(&l, &worker, &now);
    assert_int_equal(l.gate, 9);
    assert_true(sessions_job_runs(&l.job));
    low_step(&l, &worker, &now);
    assert_true(l.answered.kind == SESSION_START && l.answered.session == 9 && l.answered.id == 99);
    // it is over there, so here
    from_above(&l, SESSION_OVER, 0, 0, "switch 1 has restarted", now);
    low_step(&l, &worker, &now);
    worker.id = 99;
    low_step(&l, &worker, &now);
    assert_int_equal(l.answered.kind, SESSION_OVER);
    assert_string_equal(l.answered.text, "switch 1 has restarted");
    sessions_job_free(&l.job);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_workers_and_switches),
        cmocka_unit_test(test_what_the_switch_above_says),
    };
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t *what = strcmp(argv[i], "--seeds") == 0 ? &seeds : &from;
        *what = strtoull(argv[i + 1], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
