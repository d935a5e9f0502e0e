// SPDX-License-Identifier: Apache-2.0
//
// Workers of Libra around p4/libra, over links that lose, repeat and reorder, in virtual time:
// every acknowledged push is in the sums once and none twice, whatever happens on the way: exactly
// where integers are added, within the adder's bound where floats are. SEEDS networks (environment;
// 60) of each kind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/net/events.h"
#include "hosts/core/float_bits.h"
#include "harness/hosts/libra/rig.h"

#define WORKERS 3u
#define RANKS   800u
#define MS      UINT64_C(1000000)

struct frame_event {
    struct net_event event;
    unsigned worker;
    bool to_switch;
    uint16_t length;
    uint8_t bytes[LIBRA_FRAME_BYTES + 16];
};

struct net {
    struct sk_switch *sw;
    struct net_events events;
    struct sk_random random;
    struct net_link up, down;
    double damage;
    uint64_t now;
    struct libra_worker *worker[WORKERS];
    bool floats;
    uint32_t sum[RANKS]; // of what was pushed
    double exact[RANKS]; // of floats, and how many they are, each up to 1
    unsigned terms[RANKS];
    unsigned frames;
};

// ---- the network ----

static const struct sk_program *programs[2]; // integers, floats

static void net_carry(struct net *n, unsigned worker, bool to_switch, const uint8_t *bytes,
                      size_t length) {
    const struct net_link *link = to_switch ? &n->up : &n->down;

    n->frames++;
    if (sk_random_chance(&n->random, link->loss))
        return;
    for (int copies = sk_random_chance(&n->random, link->duplicate) ? 2 : 1; copies > 0; copies--) {
        struct frame_event *e = net_must(calloc(1, sizeof *e));
        *e = (struct frame_event){
            .worker = worker, .to_switch = to_switch, .length = (uint16_t)length};
        assert_true(length <= sizeof e->bytes);
        memcpy(e->bytes, bytes, length);
        if (sk_random_chance(&n->random, n->damage)) // of the IPv4 header: its checksum tells
            e->bytes[14 + sk_random_below(&n->random, 20)] ^=
                (uint8_t)(1 << sk_random_below(&n->random, 8));
        net_events_push(&n->events, &e->event, net_link_arrival(link, &n->random, n->now));
    }
}

static bool net_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    net_carry(aux, port, false, frame, length);
    return true;
}

static struct libra_worker_config net_config(unsigned w) {
    return (struct libra_worker_config){.flow = rig_flow(w),
                                        .first_sequence = 1,
                                        .window = 16,
                                        .window_max = LIBRA_WINDOW_MOST,
                                        .rto_initial = 2 * MS,
                                        .rto_min = MS / 10,
                                        .rto_max = 20 * MS,
                                        .hard_limit = 10000 * MS};
}

static void net_begin(struct net *n, uint64_t seed, bool floats) {
    *n = (struct net){.random = sk_random_seeded(seed), .floats = floats};
    n->sw = net_switch(programs[floats], net_tx, n);
    if (floats)
        rig_fill(n->sw);
    for (unsigned w = 0; w < WORKERS; w++) {
        struct libra_worker_config config = net_config(w);
        config.floats = floats;
        rig_admit(n->sw, w, 100, RANKS / LIBRA_PLACES);
        assert_int_equal(0, libra_worker_new(&n->worker[w], &config, NULL));
    }
}

static void net_end(struct net *n) {
    while (n->events.length > 0)
        free(net_events_pop(&n->events));
    net_events_free(&n->events);
    for (unsigned w = 0; w < WORKERS; w++)
        libra_worker_free(n->worker[w]);
    sk_switch_free(n->sw);
}

static void net_deliver(struct net *n, const struct frame_event *e) {
    if (e->to_switch) {
        sk_switch_rx(n->sw, (uint16_t)e->worker, e->bytes, e->length, n->now);
        sk_switch_run(n->sw, n->now);
    } else {
        libra_worker_read(n->worker[e->worker], e->bytes, e->length, n->now);
    }
}

// Until no worker has work; whether none has failed.
static bool net_run(struct net *n) {
    bool failed = false, busy = true;

    while (busy && !failed) {
        uint64_t next = n->events.length > 0 ? n->events.heap[0]->time : UINT64_MAX;
        uint8_t frame[LIBRA_FRAME_BYTES];
        busy = false;
        for (unsigned w = 0; w < WORKERS; w++) {
            while (libra_worker_write(n->worker[w], frame, sizeof frame, n->now) > 0)
                net_carry(n, w, true, frame, sizeof frame);
            busy |= libra_worker_busy(n->worker[w]);
            uint64_t deadline = libra_worker_deadline(n->worker[w]);
            next = deadline < next ? deadline : next;
        }
        if (n->events.length > 0 && n->events.heap[0]->time < next)
            next = n->events.heap[0]->time;
        if (!busy)
            break;
        assert_true(next != UINT64_MAX);
        n->now = next > n->now ? next : n->now;
        while (n->events.length > 0 && n->events.heap[0]->time <= n->now) {
            struct frame_event *e = (struct frame_event *)net_events_pop(&n->events);
            net_deliver(n, e);
            free(e);
        }
        for (unsigned w = 0; w < WORKERS; w++)
            failed |= libra_worker_expire(n->worker[w], n->now);
    }
    return !failed;
}

// ---- what is asked ----

static void push_random(struct net *n, unsigned w, size_t pairs) {
    struct libra_pair batch[400];

    for (size_t i = 0; i < pairs; i++) {
        batch[i].rank =
            (uint32_t)sk_random_below(&n->random, 1 + sk_random_below(&n->random, RANKS));
        batch[i].value = (uint32_t)sk_random_next(&n->random);
        if (n->floats) {
            float term = (float)sk_random_below(&n->random, 2001) / 1000 - 1;
            batch[i].value = sk_bits_of_float(term);
            n->exact[batch[i].rank] += (double)term;
            n->terms[batch[i].rank]++;
        }
        n->sum[batch[i].rank] += batch[i].value;
    }
    assert_int_equal(0, libra_worker_push(n->worker[w], batch, pairs, n, n->now));
}

static unsigned take_done(struct net *n, unsigned w) {
    unsigned done = 0;
    for (void *cookie; libra_worker_done(n->worker[w], &cookie); done++)
        assert_ptr_equal(n, cookie);
    return done;
}

// All sums, as worker w pulls them.
static void check_sums(struct net *n, unsigned w) {
    static uint32_t ranks[RANKS], out[RANKS];

    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i] = i;
        out[i] = 0xdeadbeef;
    }
    assert_int_equal(0, libra_worker_pull(n->worker[w], ranks, RANKS, out, n, n->now));
    assert_true(net_run(n));
    assert_int_equal(1, take_done(n, w));
    if (!n->floats)
        assert_memory_equal(n->sum, out, sizeof out);
    // each addition is wrong by 4e-4 of the larger operand at most, which is below the number of
    // terms; a term that is missing or there twice is seen where there are few
    for (uint32_t i = 0; n->floats && i < RANKS; i++) {
        double off = (double)sk_float_of_bits(out[i]) - n->exact[i], terms = n->terms[i];
        if (!(off * off <= 4e-4 * terms * terms * 4e-4 * terms * terms + 1e-12))
            fail_msg("rank %u: %g of %g after %u terms", i, (double)sk_float_of_bits(out[i]),
                     n->exact[i], n->terms[i]);
    }
}

static void sums_over_good_links(bool floats) {
    struct net n;

    net_begin(&n, 1, floats);
    n.up = n.down = (struct net_link){.delay = 5000};
    for (unsigned w = 0; w < WORKERS; w++)
        push_random(&n, w, 300);
    assert_true(net_run(&n));
    for (unsigned w = 0; w < WORKERS; w++) {
        struct libra_worker_stats s = libra_worker_stats(n.worker[w]);
        assert_int_equal(1, take_done(&n, w));
        assert_int_equal(0, s.repeated);
        assert_int_equal(300, s.pairs_pushed);
        assert_int_equal(s.sent, s.acks);
    }
    check_sums(&n, 1);
    net_end(&n);
}

static void test_sums_over_good_links(void **state) {
    (void)state;
    sums_over_good_links(false);
    sums_over_good_links(true);
}

static void one_faulty_network(uint64_t seed, bool floats) {
    struct net n;

    net_begin(&n, seed, floats);
    n.up = (struct net_link){.loss = sk_random_below(&n.random, 20) / 100.0,
                             .duplicate = sk_random_below(&n.random, 20) / 100.0,
                             .reorder = sk_random_below(&n.random, 60) / 100.0,
                             .delay = 5000,
                             .jitter = 20 * MS};
    n.down = n.up;
    n.damage = sk_random_below(&n.random, 5) / 100.0;
    for (int round = 0; round < 4; round++) {
        unsigned asked[WORKERS];
        for (unsigned w = 0; w < WORKERS; w++) {
            asked[w] = (unsigned)sk_random_below(&n.random, 5);
            for (unsigned i = 0; i < asked[w]; i++)
                push_random(&n, w, (size_t)sk_random_below(&n.random, 400));
        }
        assert_true(net_run(&n));
        for (unsigned w = 0; w < WORKERS; w++)
            assert_int_equal(asked[w], take_done(&n, w));
        check_sums(&n, (unsigned)sk_random_below(&n.random, WORKERS));
    }
    net_end(&n);
}

static void test_adds_once_over_bad_links(void **state) {
    const char *seeds = getenv("SEEDS");
    uint64_t n = seeds ? strtoull(seeds, NULL, 10) : 60;

    (void)state;
    for (uint64_t seed = 1; seed <= n; seed++) {
        one_faulty_network(seed, false);
        one_faulty_network(seed, true);
    }
}

// ---- the worker alone ----

static void test_refuses(void **state) {
    struct libra_worker_config c = net_config(0);
    struct libra_worker *w;
    const char *why;

    (void)state;
#define REFUSED(member, bad, sentence)                                                             \
    do {                                                                                           \
        struct libra_worker_config d = c;                                                          \
        d.member = bad;                                                                            \
        assert_int_equal(SILKEN_ERR_INVALID, libra_worker_new(&w, &d, &why));                      \
        assert_non_null(strstr(why, sentence));                                                    \
    } while (0)
    REFUSED(first_sequence, 0, "first_sequence");
    REFUSED(first_sequence, 1u << 30, "first_sequence");
    REFUSED(window, 0, "window");
    REFUSED(window_max, 513, "window");
    REFUSED(window_max, 15, "window");
    REFUSED(rto_min, 0, "rto_min");
    REFUSED(rto_max, 1, "rto_max");
    REFUSED(hard_limit, 0, "hard_limit");
}

static void test_numbers_end(void **state) {
    struct libra_worker_config c = net_config(0);
    const struct libra_pair pairs[] = {{0, 1}, {16, 1}, {32, 1}};
    uint8_t frame[LIBRA_FRAME_BYTES];
    struct libra_worker *w;

    (void)state;
    c.first_sequence = LIBRA_SEQUENCE_LAST - 1;
    assert_int_equal(0, libra_worker_new(&w, &c, NULL));
    assert_int_equal(SILKEN_ERR_STALLED, libra_worker_push(w, pairs, 3, NULL, 0));
    assert_int_equal(0, libra_worker_push(w, pairs, 2, NULL, 0));
    assert_int_equal(SILKEN_ERR_STALLED, libra_worker_push(w, pairs, 1, NULL, 0));
    assert_int_equal(LIBRA_FRAME_BYTES, libra_worker_write(w, frame, sizeof frame, 0));
    assert_int_equal(LIBRA_FRAME_BYTES, libra_worker_write(w, frame, sizeof frame, 0));
    assert_int_equal(0, libra_worker_write(w, frame, sizeof frame, 0));
    libra_worker_free(w);
}

static void test_gives_up(void **state) {
    struct libra_worker_config c = net_config(0);
    const struct libra_pair pair = {5, 1};
    uint8_t frame[LIBRA_FRAME_BYTES];
    struct libra_worker *w;
    uint64_t now = 0;
    unsigned sent = 0;

    (void)state;
    c.hard_limit = 100 * MS;
    assert_int_equal(0, libra_worker_new(&w, &c, NULL));
    assert_int_equal(LIBRA_NEVER, libra_worker_deadline(w));
    assert_int_equal(0, libra_worker_push(w, &pair, 1, NULL, now));
    for (bool over = false; !over; sent++) {
        while (libra_worker_write(w, frame, sizeof frame, now) > 0)
            assert_int_equal(sent > 0, frame[42] >> 3 & 1); // again
        now = libra_worker_deadline(w);
        over = libra_worker_expire(w, now);
    }
    assert_int_equal(100 * MS, now);
    assert_in_range(sent, 5, 12);
    assert_int_equal(SILKEN_ERR_STALLED, libra_worker_push(w, &pair, 1, NULL, now));
    assert_int_equal(LIBRA_NEVER, libra_worker_deadline(w));
    libra_worker_free(w);
}

// What is not the answer is ignored, and counted by reason.
static void test_ignores(void **state) {
    struct net n;
    struct frame_event *e;
    uint8_t frame[LIBRA_FRAME_BYTES];
    const uint32_t ranks[] = {0, 17};
    uint32_t out[2];

    (void)state;
    net_begin(&n, 1, false);
    n.up = n.down = (struct net_link){.delay = 5000};
    libra_worker_pull(n.worker[0], ranks, 2, out, &n, 0);
    assert_int_equal(sizeof frame, libra_worker_write(n.worker[0], frame, sizeof frame, 0));
    sk_switch_rx(n.sw, 0, frame, sizeof frame, 0);
    sk_switch_run(n.sw, 0);
    assert_int_equal(1, n.events.length);
    e = (struct frame_event *)net_events_pop(&n.events);
#define IGNORED(reason, at, with)                                                                  \
    do {                                                                                           \
        uint8_t bad[LIBRA_FRAME_BYTES];                                                            \
        memcpy(bad, e->bytes, sizeof bad);                                                         \
        bad[at] ^= (with);                                                                         \
        assert_int_equal(reason, libra_worker_read(n.worker[0], bad, sizeof bad, 0));              \
    } while (0)
    IGNORED(LIBRA_FOREIGN, 12, 1);
    IGNORED(LIBRA_NOT_FOR_US, 5, 1);
    IGNORED(LIBRA_NOT_FOR_US, 33, 1);
    IGNORED(LIBRA_NOT_FROM_SWITCH, 34, 1);
    IGNORED(LIBRA_BAD_LENGTH, 39, 8);
    IGNORED(LIBRA_BAD_CHECKSUM, 24, 1);
    IGNORED(LIBRA_WRONG_JOB, 43, 1);
    IGNORED(LIBRA_WRONG_JOB, 45, 1);
    IGNORED(LIBRA_WRONG_JOB, 53, 1);
    IGNORED(LIBRA_WRONG_KIND, 42, 0x10);
    IGNORED(LIBRA_NOT_EXPECTED, 49, 2);
    IGNORED(LIBRA_OTHER_PAIRS, 50, 0x80);
    IGNORED(LIBRA_OTHER_PAIRS, 60, 0x10);
    for (size_t length = 0; length < sizeof frame; length++)
        assert_int_not_equal(LIBRA_ACCEPTED, libra_worker_read(n.worker[0], e->bytes, length, 0));
    assert_true(libra_worker_busy(n.worker[0]));
    assert_int_equal(LIBRA_ACCEPTED, libra_worker_read(n.worker[0], e->bytes, e->length, 0));
    assert_int_equal(LIBRA_NOT_EXPECTED, libra_worker_read(n.worker[0], e->bytes, e->length, 0));
    assert_false(libra_worker_busy(n.worker[0]));
    free(e);
    net_end(&n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_over_good_links),
        cmocka_unit_test(test_adds_once_over_bad_links),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_numbers_end),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_ignores),
    };
    programs[0] = rig_program("p4/libra/integer.p4", RIG_FAST);
    programs[1] = rig_program("p4/libra/libra.p4", RIG_FAST);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
