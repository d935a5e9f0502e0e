// SPDX-License-Identifier: Apache-2.0
//
// A whole job of Libra in virtual time: workers, parameter servers and p4/libra between them, over
// links that lose, repeat, reorder and damage, with workers and servers that crash and come back.
// Every acknowledged push is in the sums once and none twice: exactly where the switch adds
// integers and at the servers, within the adder's bound where it adds floats. SEEDS networks
// (environment; 40) of each kind, from FROM (1) on.
//
// Every value is positive, so a sum lies between that of what was acknowledged and that of what was
// sent; the two differ only by what a worker had on the way when it crashed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hosts/core/float_bits.h"
#include "harness/hosts/libra/rig.h"
#include "harness/net/events.h"

#define WORKERS    3u
#define SERVERS    2u
#define HOT        400u
#define KEYS       1200u // 0 to KEYS - 1; every third one is hot
#define MS         UINT64_C(1000000)
#define SERVER_AT  10u // ports, and numbers of the servers as workers of the switch
#define SWITCH_ALL 20u
#define SCALE      1024.0f

// What a member has of the job.
struct worker {
    struct libra_worker *hot, *cold[SERVERS];
    unsigned open; // requests
};
struct push { // a request, until it is done
    unsigned n;
    unsigned parts;     // requests to switch and servers that are not done
    bool by_server;     // also the hot pairs
    bool lost[SERVERS]; // it had begun when that server crashed
    uint32_t key[400];
    uint32_t value[400];
};

struct frame_event {
    struct net_event event;
    unsigned port;
    bool to_switch;
    uint16_t length;
    uint8_t bytes[LIBRA_COLD_BYTES + 16];
};

struct net {
    struct sk_switch *sw;
    struct net_events events;
    struct sk_random random;
    struct net_link link;
    double damage;
    uint64_t now;
    bool floats;
    struct libra_layout layout;
    struct worker worker[WORKERS];
    struct libra_server *server[SERVERS];
    struct push *pushes[64];
    unsigned n_pushes, open;
    uint32_t sequence[SWITCH_ALL];  // first one of a member that begins again
    double least[KEYS], most[KEYS]; // of the sums, in units
    unsigned terms[KEYS];
    bool lost[SERVERS]; // its sums were
};

static const struct sk_program *programs[2];

static bool is_hot(uint32_t key) {
    return key % 3 == 0;
}

static unsigned server_of(uint32_t key) {
    return key * SERVERS / KEYS;
}

static struct sk_endpoint server_end(unsigned s) {
    struct sk_endpoint end = rig_worker_end(SERVER_AT + s);
    end.port = LIBRA_COLD_PORT;
    return end;
}

// ---- the network ----

static void net_carry(struct net *n, unsigned port, bool to_switch, const uint8_t *bytes,
                      size_t length) {
    if (sk_random_chance(&n->random, n->link.loss))
        return;
    int copies = sk_random_chance(&n->random, n->link.duplicate) ? 2 : 1;
    for (; copies > 0; copies--) {
        struct frame_event *e = net_must(calloc(1, sizeof *e));
        e->port = port;
        e->to_switch = to_switch;
        e->length = (uint16_t)length;
        assert_true(length <= sizeof e->bytes);
        memcpy(e->bytes, bytes, length);
        // Of the IPv4 header, or of what a UDP checksum guards; on one of the two links, as two
        // wrong bits may leave the sum as it was.
        if (to_switch && sk_random_chance(&n->random, n->damage))
            e->bytes[14 + sk_random_below(&n->random, length > 200 ? length - 14 : 20)] ^=
                (uint8_t)(1 << sk_random_below(&n->random, 8));
        net_events_push(&n->events, &e->event, net_link_arrival(&n->link, &n->random, n->now));
    }
}

static bool net_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    net_carry(aux, port, false, frame, length);
    return true;
}

static struct libra_worker_config net_config(const struct net *n, unsigned number) {
    return (struct libra_worker_config){.flow = rig_flow(number),
                                        .floats = n->floats,
                                        .first_sequence = n->sequence[number] + 1,
                                        .window = 16,
                                        .window_max = LIBRA_WINDOW_MOST,
                                        .rto_initial = 2 * MS,
                                        .rto_min = MS / 10,
                                        .rto_max = 20 * MS,
                                        .hard_limit = 10000 * MS};
}

static void net_begin_worker(struct net *n, unsigned w) {
    struct libra_worker_config config = net_config(n, w);
    assert_int_equal(0, libra_worker_new(&n->worker[w].hot, &config, NULL));
    for (unsigned s = 0; s < SERVERS; s++) {
        config = net_config(n, w);
        config.cold = true;
        config.flow.fabric = server_end(s);
        config.flow.worker.port = (uint16_t)(41000 + s);
        assert_int_equal(0, libra_worker_new(&n->worker[w].cold[s], &config, NULL));
    }
    n->sequence[w] += 100000;
}

static void net_end_worker(struct net *n, unsigned w) {
    libra_worker_free(n->worker[w].hot);
    for (unsigned s = 0; s < SERVERS; s++)
        libra_worker_free(n->worker[w].cold[s]);
}

static void net_begin_server(struct net *n, unsigned s) {
    const struct libra_server_config config = {.self = server_end(s),
                                               .job = RIG_JOB,
                                               .epoch = RIG_EPOCH,
                                               .workers = WORKERS,
                                               .first_key = s * KEYS / SERVERS,
                                               .last_key = (s + 1) * KEYS / SERVERS - 1,
                                               .layout = &n->layout,
                                               .hot = net_config(n, SERVER_AT + s)};
    assert_int_equal(0, libra_server_new(&n->server[s], &config, NULL));
    n->sequence[SERVER_AT + s] += 100000;
}

static void net_forward(struct net *n, unsigned number) {
    const struct sk_endpoint end = rig_worker_end(number);
    char mac[24], port[24];
    const char *const keys[] = {"hdr.ethernet.dst_addr", mac, NULL};
    const char *const args[] = {"port", NET_NUMBER(port, number), NULL};
    snprintf(mac, sizeof mac, "02:00:00:00:00:%02x", end.mac[5]);
    net_entry(n->sw, "macs", keys, "to_port", args);
    rig_admit(n->sw, number, 100, HOT / LIBRA_PLACES);
}

static void net_begin(struct net *n, uint64_t seed, bool floats) {
    uint64_t keys[HOT];
    struct sk_error err;

    *n = (struct net){.random = sk_random_seeded(seed), .floats = floats};
    for (uint32_t i = 0; i < HOT; i++)
        keys[i] = (uint64_t)(i * 7 % HOT) * 3;
    assert_int_equal(
        0, libra_layout_make(&n->layout, RIG_JOB, RIG_EPOCH, LIBRA_PLACES, keys, HOT, &err));
    n->sw = net_switch(programs[floats], net_tx, n);
    if (floats)
        rig_fill(n->sw);
    for (unsigned w = 0; w < WORKERS; w++) {
        net_forward(n, w);
        net_begin_worker(n, w);
    }
    for (unsigned s = 0; s < SERVERS; s++) {
        net_forward(n, SERVER_AT + s);
        net_begin_server(n, s);
    }
}

static void net_end(struct net *n) {
    while (n->events.length > 0)
        free(net_events_pop(&n->events));
    net_events_free(&n->events);
    for (unsigned w = 0; w < WORKERS; w++)
        net_end_worker(n, w);
    for (unsigned s = 0; s < SERVERS; s++)
        libra_server_free(n->server[s]);
    for (unsigned i = 0; i < n->n_pushes; i++)
        free(n->pushes[i]);
    libra_layout_clear(&n->layout);
    sk_switch_free(n->sw);
}

static void net_deliver_to_worker(struct net *n, const struct frame_event *e) {
    struct worker *w = &n->worker[e->port];
    if (libra_worker_read(w->hot, e->bytes, e->length, n->now) == LIBRA_NOT_FOR_US)
        for (unsigned s = 0; s < SERVERS; s++)
            libra_worker_read(w->cold[s], e->bytes, e->length, n->now);
}

static void net_deliver(struct net *n, const struct frame_event *e) {
    if (e->to_switch) {
        sk_switch_rx(n->sw, (uint16_t)e->port, e->bytes, e->length, n->now);
        sk_switch_run(n->sw, n->now);
    } else if (e->port < WORKERS) {
        net_deliver_to_worker(n, e);
    } else {
        libra_server_read(n->server[e->port - SERVER_AT], e->bytes, e->length, n->now);
    }
}

// A push of which a part is done; null is a pull or a barrier.
static void net_done(struct net *n, struct libra_worker *w) {
    void *cookie;
    while (libra_worker_done(w, &cookie)) {
        struct push *p = cookie;
        n->open--;
        if (!p || --p->parts > 0)
            continue;
        for (unsigned i = 0; i < p->n; i++)
            if (is_hot(p->key[i]) || !p->lost[server_of(p->key[i])])
                n->least[p->key[i]] += p->value[i];
    }
}

static uint64_t net_earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// Sends what is to be sent; when something is to be done next.
static uint64_t net_send(struct net *n) {
    uint8_t frame[LIBRA_COLD_BYTES];
    uint64_t next = UINT64_MAX;
    size_t length;

    for (unsigned w = 0; w < WORKERS; w++)
        for (unsigned i = 0; i <= SERVERS; i++) {
            struct libra_worker *link = i ? n->worker[w].cold[i - 1] : n->worker[w].hot;
            while ((length = libra_worker_write(link, frame, sizeof frame, n->now)) > 0)
                net_carry(n, w, true, frame, length);
            net_done(n, link);
            next = net_earlier(next, libra_worker_deadline(link));
        }
    for (unsigned s = 0; s < SERVERS; s++) {
        while ((length = libra_server_write(n->server[s], frame, sizeof frame, n->now)) > 0)
            net_carry(n, SERVER_AT + s, true, frame, length);
        next = net_earlier(next, libra_server_deadline(n->server[s]));
    }
    return next;
}

static void net_expire(struct net *n) {
    for (unsigned w = 0; w < WORKERS; w++)
        for (unsigned i = 0; i <= SERVERS; i++)
            assert_false(
                libra_worker_expire(i ? n->worker[w].cold[i - 1] : n->worker[w].hot, n->now));
    for (unsigned s = 0; s < SERVERS; s++)
        assert_false(libra_server_expire(n->server[s], n->now));
}

// Until all requests are done, or 'until'.
static void net_run(struct net *n, uint64_t until) {
    for (;;) {
        uint64_t next = net_send(n);
        if (n->open == 0 || n->now >= until)
            return;
        if (n->events.length > 0)
            next = net_earlier(next, n->events.heap[0]->time);
        next = net_earlier(next, until);
        assert_true(next != UINT64_MAX);
        n->now = next > n->now ? next : n->now;
        while (n->events.length > 0 && n->events.heap[0]->time <= n->now) {
            struct frame_event *e = (struct frame_event *)net_events_pop(&n->events);
            net_deliver(n, e);
            free(e);
        }
        net_expire(n);
    }
}

// ---- what is asked ----

static uint32_t as_sent(const struct net *n, uint32_t key, uint32_t units, bool to_switch) {
    (void)key;
    return to_switch && !n->floats ? units : sk_bits_of_float((float)units / SCALE);
}

// Pairs of distinct keys; with 'all_cold' the hot ones go to the servers, which pass them on.
static void push_random(struct net *n, unsigned w, unsigned pairs, bool all_cold) {
    struct push *p = net_must(calloc(1, sizeof *p));
    struct libra_pair hot[400];
    struct libra_cold_pair cold[SERVERS][400];
    unsigned n_hot = 0, n_cold[SERVERS] = {0};

    assert_true(n->n_pushes < 64);
    n->pushes[n->n_pushes++] = p;
    for (unsigned i = 0; i < pairs; i++) {
        uint32_t key = (uint32_t)sk_random_below(&n->random, 1 + sk_random_below(&n->random, KEYS));
        uint32_t units = 1 + (uint32_t)sk_random_below(&n->random, 2000);
        unsigned s = server_of(key);
        p->key[i] = key;
        p->value[i] = units;
        n->most[key] += units;
        n->terms[key]++;
        if (is_hot(key) && !all_cold)
            hot[n_hot++] = (struct libra_pair){(uint32_t)libra_layout_rank(&n->layout, key),
                                               as_sent(n, key, units, true)};
        else
            cold[s][n_cold[s]++] =
                (struct libra_cold_pair){key, as_sent(n, key, units, is_hot(key))};
    }
    p->n = pairs;
    p->by_server = all_cold;
    p->parts = 1 + SERVERS;
    n->open += p->parts;
    assert_int_equal(0, libra_worker_push(n->worker[w].hot, hot, n_hot, p, n->now));
    for (unsigned s = 0; s < SERVERS; s++)
        assert_int_equal(
            0, libra_worker_push_keys(n->worker[w].cold[s], cold[s], n_cold[s], p, n->now));
}

// Nobody waits for the requests of a worker that crashes.
static void crash_worker(struct net *n, unsigned w) {
    struct worker *gone = &n->worker[w];
    for (unsigned i = 0; i <= SERVERS; i++) {
        void *cookie;
        while (libra_worker_end(i ? gone->cold[i - 1] : gone->hot, &cookie))
            n->open--;
    }
    net_end_worker(n, w);
    net_begin_worker(n, w);
}

// A server's sums are gone, and its records: hot pairs that it has passed on reach the switch again
// when a worker repeats them, or a late copy comes.
static void crash_server(struct net *n, unsigned s) {
    for (unsigned i = 0; i < n->n_pushes; i++) {
        n->pushes[i]->lost[s] = true;
        for (unsigned k = 0; k < n->pushes[i]->n; k++) {
            uint32_t key = n->pushes[i]->key[k];
            if (n->pushes[i]->by_server && is_hot(key) && server_of(key) == s)
                n->most[key] += n->pushes[i]->value[k];
        }
    }
    libra_server_free(n->server[s]);
    net_begin_server(n, s);
    n->lost[s] = true;
    for (uint32_t key = 0; key < KEYS; key++)
        if (server_of(key) == s)
            n->least[key] = is_hot(key) ? n->least[key] : 0;
}

static void check_sum(const struct net *n, uint32_t key, double sum) {
    // of floats each addition is wrong by up to 4e-4 of the sum
    double bound = is_hot(key) && n->floats ? 4e-4 * n->terms[key] * n->most[key] + 1e-9 : 0;
    if (sum < n->least[key] - bound || sum > n->most[key] + bound)
        fail_msg("key %u: %g, not from %g to %g", key, sum, n->least[key], n->most[key]);
}

static void check_sums(struct net *n, unsigned w) {
    static uint32_t ranks[HOT], hot[HOT], cold[SERVERS][KEYS];
    static uint64_t keys[SERVERS][KEYS];
    unsigned count[SERVERS] = {0};

    for (uint32_t i = 0; i < HOT; i++)
        ranks[i] = i;
    for (uint32_t key = 0; key < KEYS; key++)
        if (!is_hot(key))
            keys[server_of(key)][count[server_of(key)]++] = key;
    assert_int_equal(0, libra_worker_pull(n->worker[w].hot, ranks, HOT, hot, NULL, n->now));
    for (unsigned s = 0; s < SERVERS; s++)
        assert_int_equal(0, libra_worker_pull_keys(n->worker[w].cold[s], keys[s], count[s], cold[s],
                                                   NULL, n->now));
    n->open += 1 + SERVERS;
    net_run(n, UINT64_MAX);
    for (uint32_t i = 0; i < HOT; i++)
        check_sum(n, (uint32_t)n->layout.keys[i],
                  n->floats ? (double)(sk_float_of_bits(hot[i]) * SCALE) : hot[i]);
    for (unsigned s = 0; s < SERVERS; s++)
        for (unsigned i = 0; i < count[s]; i++)
            check_sum(n, (uint32_t)keys[s][i], (double)(sk_float_of_bits(cold[s][i]) * SCALE));
}

static void barrier(struct net *n, uint32_t number) {
    for (unsigned w = 0; w < WORKERS; w++)
        assert_int_equal(0, libra_worker_barrier(n->worker[w].cold[0], number, NULL, n->now));
    n->open += WORKERS;
    net_run(n, UINT64_MAX);
}

static void test_good_links(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        struct net n;
        net_begin(&n, 1, floats);
        n.link = (struct net_link){.delay = 5000};
        for (unsigned w = 0; w < WORKERS; w++)
            push_random(&n, w, 400, w == 1);
        net_run(&n, UINT64_MAX);
        for (uint32_t key = 0; key < KEYS; key++)
            assert_true(n.least[key] == n.most[key]);
        check_sums(&n, 0);
        uint64_t hot = 0;
        for (unsigned s = 0; s < SERVERS; s++) {
            struct libra_server_stats stats = libra_server_stats(n.server[s]);
            hot += stats.hot_pairs;
            assert_int_equal(0, stats.again);
            for (int r = 0; r < LIBRA_REASON_COUNT; r++)
                assert_int_equal(0, stats.refused[r]);
        }
        assert_in_range(hot, 50, 300); // a third of 400
        barrier(&n, 1);
        net_end(&n);
    }
}

static void one_faulty_network(uint64_t seed, bool floats) {
    struct net n;

    net_begin(&n, seed, floats);
    n.link = (struct net_link){.loss = sk_random_below(&n.random, 20) / 100.0,
                               .duplicate = sk_random_below(&n.random, 20) / 100.0,
                               .reorder = sk_random_below(&n.random, 60) / 100.0,
                               .delay = 5000,
                               .jitter = 20 * MS};
    n.damage = sk_random_below(&n.random, 5) / 100.0;
    const bool crashes = sk_random_below(&n.random, 2);
    for (uint32_t round = 1; round <= 4; round++) {
        for (unsigned w = 0; w < WORKERS; w++)
            for (uint64_t i = sk_random_below(&n.random, 4); i > 0; i--)
                push_random(&n, w, (unsigned)sk_random_below(&n.random, 400),
                            sk_random_below(&n.random, 4) == 0);
        if (crashes && sk_random_below(&n.random, 2)) {
            net_run(&n, n.now + sk_random_below(&n.random, 30 * MS));
            if (sk_random_below(&n.random, 4))
                crash_worker(&n, (unsigned)sk_random_below(&n.random, WORKERS));
            else
                crash_server(&n, (unsigned)sk_random_below(&n.random, SERVERS));
        }
        net_run(&n, UINT64_MAX);
        check_sums(&n, (unsigned)sk_random_below(&n.random, WORKERS));
        if (!n.lost[0])
            barrier(&n, round);
    }
    net_end(&n);
}

static void test_faults(void **state) {
    const char *seeds = getenv("SEEDS"), *from = getenv("FROM");
    uint64_t n = seeds ? strtoull(seeds, NULL, 10) : 40;
    uint64_t first = from ? strtoull(from, NULL, 10) : 1;

    (void)state;
    for (uint64_t seed = first; seed < first + n; seed++) {
        one_faulty_network(seed, false);
        one_faulty_network(seed, true);
    }
}

// ---- the server alone ----

static struct libra_server_config alone(void) {
    return (struct libra_server_config){.self = server_end(0),
                                        .job = RIG_JOB,
                                        .epoch = RIG_EPOCH,
                                        .workers = WORKERS,
                                        .first_key = 10,
                                        .last_key = 20};
}

static enum libra_reason ask(struct libra_server *s, const struct libra_flow *flow,
                             enum libra_kind kind, uint32_t sequence, uint32_t clock,
                             uint64_t key) {
    const struct libra_header header = {.kind = kind, .sequence = sequence, .clock = clock};
    const struct libra_cold_pair pair = {key, sk_bits_of_float(1)};
    uint8_t frame[LIBRA_COLD_BYTES];
    size_t n = libra_cold_write(frame, flow, &header, &pair, kind != LIBRA_BARRIER);
    return libra_server_read(s, frame, n, 0);
}

static unsigned replies(struct libra_server *s) {
    uint8_t frame[LIBRA_COLD_BYTES];
    unsigned n = 0;
    while (libra_server_write(s, frame, sizeof frame, 0) > 0)
        n++;
    return n;
}

static void test_once(void **state) {
    struct libra_server_config config = alone();
    struct libra_flow flow = rig_flow(1);
    struct libra_server *s;

    (void)state;
    flow.fabric = config.self;
    assert_int_equal(0, libra_server_new(&s, &config, NULL));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow, LIBRA_PUSH, 600, 0, 15));
        assert_int_equal(1, replies(s));
        assert_true(libra_server_sum(s, 15) == 1);
    }
    assert_int_equal(LIBRA_NOT_EXPECTED, ask(s, &flow, LIBRA_PUSH, 600 - 512, 0, 15));
    assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow, LIBRA_PUSH, 599, 0, 15));
    assert_true(libra_server_sum(s, 15) == 2);
    assert_int_equal(1, libra_server_keys(s));
    libra_server_free(s);
}

static void test_barriers(void **state) {
    struct libra_server_config config = alone();
    struct libra_flow flow[WORKERS];
    struct libra_server *s;

    (void)state;
    for (unsigned w = 0; w < WORKERS; w++) {
        flow[w] = rig_flow(w);
        flow[w].fabric = config.self;
    }
    assert_int_equal(0, libra_server_new(&s, &config, NULL));
    assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow[0], LIBRA_BARRIER, 1, 1, 0));
    assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow[2], LIBRA_BARRIER, 1, 1, 0));
    assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow[2], LIBRA_BARRIER, 1, 1, 0)); // again
    assert_int_equal(0, replies(s));
    assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow[1], LIBRA_BARRIER, 1, 1, 0));
    assert_int_equal(WORKERS, replies(s));
    assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow[1], LIBRA_BARRIER, 1, 1, 0)); // its ack was lost
    assert_int_equal(1, replies(s));
    assert_int_equal(LIBRA_ACCEPTED, ask(s, &flow[1], LIBRA_BARRIER, 2, 2, 0));
    assert_int_equal(0, replies(s));
    assert_int_equal(LIBRA_NOT_EXPECTED, ask(s, &flow[1], LIBRA_BARRIER, 1, 1, 0)); // late
    libra_server_free(s);
}

static void test_refuses(void **state) {
    struct libra_server_config config = alone();
    struct libra_flow flow = rig_flow(1), other;
    struct libra_server *s;
    const char *why;

    (void)state;
    flow.fabric = config.self;
    assert_int_equal(0, libra_server_new(&s, &config, NULL));
    assert_int_equal(LIBRA_OTHER_PAIRS, ask(s, &flow, LIBRA_PUSH, 1, 0, 9));
    assert_int_equal(LIBRA_OTHER_PAIRS, ask(s, &flow, LIBRA_PULL, 1, 0, 21));
    assert_int_equal(LIBRA_NOT_EXPECTED, ask(s, &flow, LIBRA_PUSH, 0, 0, 10));
    assert_int_equal(LIBRA_NOT_EXPECTED, ask(s, &flow, LIBRA_PUSH, 1u << 30, 0, 10));
    assert_int_equal(LIBRA_WRONG_KIND, ask(s, &flow, LIBRA_ACK, 1, 0, 10));
    assert_int_equal(LIBRA_WRONG_KIND, ask(s, &flow, LIBRA_PUSH_ANY, 1, 0, 10));
    other = flow;
    other.number = WORKERS;
    assert_int_equal(LIBRA_WRONG_JOB, ask(s, &other, LIBRA_PUSH, 1, 0, 10));
    other = flow;
    other.epoch++;
    assert_int_equal(LIBRA_WRONG_JOB, ask(s, &other, LIBRA_PUSH, 1, 0, 10));
    other = flow;
    other.fabric.ip++;
    assert_int_equal(LIBRA_NOT_FOR_US, ask(s, &other, LIBRA_PUSH, 1, 0, 10));
    assert_int_equal(0, replies(s));
    assert_int_equal(0, libra_server_keys(s));
    libra_server_free(s);
    config.workers = LIBRA_SERVER_WORKERS + 1;
    assert_int_equal(SILKEN_ERR_INVALID, libra_server_new(&s, &config, &why));
    assert_non_null(strstr(why, "workers"));
    config = alone();
    config.first_key = 30;
    assert_int_equal(SILKEN_ERR_INVALID, libra_server_new(&s, &config, &why));
    assert_non_null(strstr(why, "range"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),    cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_refuses), cmocka_unit_test(test_good_links),
        cmocka_unit_test(test_faults),
    };
    programs[0] = rig_program("p4/libra/integer.p4", RIG_FAST);
    programs[1] = rig_program("p4/libra/libra.p4", RIG_FAST);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
