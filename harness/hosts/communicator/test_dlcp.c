// SPDX-License-Identifier: Apache-2.0
//
// test_dlcp: silken/dlcp.h and SILKEN_DLCP of silken/allreduce.h in real time: threads whose frames
// go through a hub, which loses some.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/hosts/random.h"
#include "hosts/transport/transport.h"
#include "silken/dlcp.h"

#define MOST 4u

struct hub {
    unsigned n;
    double loss;
    struct sk_transport *near[MOST], *far[MOST]; // ends of the stations, and ours
    char mac[MOST][18], ip[MOST][16];
    struct silken_address address[MOST];
    volatile bool over;
    pthread_t thread;
    struct sk_random random;
};

static void hub_forward(struct hub *h, const struct sk_frame *frames, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const unsigned to = frames[i].data[5];
        if (to < h->n && !sk_random_chance(&h->random, h->loss))
            sk_transport_send(h->far[to], &frames[i], 1);
    }
}

static void *hub_run(void *argument) {
    struct hub *h = argument;
    struct sk_frame frames[SK_BURST];
    while (!h->over) {
        size_t moved = 0;
        for (unsigned i = 0; i < h->n; i++) {
            const size_t n = sk_transport_recv(h->far[i], frames, SK_BURST);
            hub_forward(h, frames, n);
            moved += n;
        }
        if (moved == 0)
            sched_yield();
    }
    return NULL;
}

static void hub_begin(struct hub *h, unsigned n, double loss) {
    *h = (struct hub){.n = n, .loss = loss, .random = sk_random_seeded(5)};
    for (unsigned i = 0; i < n; i++) {
        struct sk_transport *ends[2];
        assert_int_equal(sk_transport_ring_open(ends, 1024), 0);
        h->near[i] = ends[0];
        h->far[i] = ends[1];
        snprintf(h->mac[i], sizeof h->mac[i], "02:00:00:00:00:%02x", i & 0xffu);
        snprintf(h->ip[i], sizeof h->ip[i], "10.0.0.%u", (i + 1) & 0xffu);
        h->address[i] = (struct silken_address){h->mac[i], h->ip[i]};
    }
    assert_int_equal(pthread_create(&h->thread, NULL, hub_run, h), 0);
}

static void hub_end(struct hub *h) {
    h->over = true;
    pthread_join(h->thread, NULL);
    for (unsigned i = 0; i < h->n; i++)
        sk_transport_close(h->far[i]);
}

// ---- single tensors ----

static struct silken_dlcp *open_station(struct hub *h, unsigned i) {
    struct silken_dlcp_config c;
    struct silken_dlcp *d;
    char why[256] = "";
    silken_dlcp_config_init(&c);
    c.self = h->address[i];
    c.transport = h->near[i];
    c.link_mbps = 2000;
    assert_int_equal(silken_dlcp_open(&d, &c, why, sizeof why), 0);
    return d;
}

static float *numbers(size_t n, unsigned seed) {
    struct sk_random r = sk_random_seeded(seed);
    float *v = malloc(n * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++)
        v[i] = (float)((int)sk_random_below(&r, 2001) - 1000);
    return v;
}

struct sending {
    struct hub *hub;
    unsigned station;
    size_t count;
    int result;
};

static void *send_one(void *argument) {
    struct sending *s = argument;
    struct silken_dlcp *d = open_station(s->hub, s->station);
    struct silken_dlcp_flow *f;
    float *v = numbers(s->count, s->station);
    const struct silken_dlcp_tensor t = {
        .values = v, .count = s->count, .tensor = 4, .iteration = 9, .layers = 8, .bound = 0.1};
    s->result = silken_dlcp_send(d, &s->hub->address[0], &t, NULL, NULL, &f);
    s->result = s->result ? s->result : silken_dlcp_wait(f);
    silken_dlcp_end(f);
    silken_dlcp_run(d, 200); // until the other end knows
    silken_dlcp_close(d);
    free(v);
    return NULL;
}

// What is missing is said, and what is there was sent.
static void check_received(struct silken_dlcp_flow *f, const float *got, const float *sent,
                           size_t n) {
    size_t first, count, at = 0, there = 0;
    while (silken_dlcp_missing(f, &first, &count)) {
        assert_true(count > 0 && first >= at && first + count <= n);
        assert_memory_equal(got + at, sent + at, (first - at) * sizeof *got);
        for (size_t i = first; i < first + count; i++)
            assert_true(got[i] == 0.5f);
        there += first - at;
        at = first + count;
    }
    assert_memory_equal(got + at, sent + at, (n - at) * sizeof *got);
    there += n - at;
    assert_int_equal(silken_dlcp_elements(f), there);
    assert_true(there >= n - n / 10);
}

static void one_tensor(size_t n, double loss) {
    struct hub h;
    struct silken_dlcp_flow *f;
    pthread_t thread;
    hub_begin(&h, 2, loss);
    struct silken_dlcp *d = open_station(&h, 0);
    struct sending s = {&h, 1, n, -1};
    assert_int_equal(pthread_create(&thread, NULL, send_one, &s), 0);
    float *got = malloc(n * sizeof *got), *sent = numbers(n, 1);
    for (size_t i = 0; i < n; i++)
        got[i] = 0.5f;
    const struct silken_dlcp_tensor t = {.values = got, .count = n, .tensor = 4, .iteration = 9};
    assert_int_equal(silken_dlcp_recv(d, &h.address[1], &t, 0.1, &f), 0);
    assert_int_equal(silken_dlcp_result(f), SILKEN_ERR_AGAIN);
    assert_int_equal(silken_dlcp_wait(f), 0);
    check_received(f, got, sent, n);
    silken_dlcp_run(d, 50);
    silken_dlcp_end(f);
    pthread_join(thread, NULL);
    assert_int_equal(s.result, 0);
    silken_dlcp_close(d);
    hub_end(&h);
    free(got);
    free(sent);
}

static void test_tensor(void **state) {
    (void)state;
    one_tensor(1, 0);
    one_tensor(100000, 0);
    one_tensor(100000, 0.2);
}

// Of three senders, into one sum.
static void test_sums(void **state) {
    enum { N = 20000 };
    struct hub h;
    struct silken_dlcp_flow *f[3];
    pthread_t thread[3];
    struct sending s[3];
    static uint16_t workers[N / SILKEN_DLCP_SEGMENT + 1];
    static float sum[N];
    (void)state;
    hub_begin(&h, 4, 0.05);
    struct silken_dlcp *d = open_station(&h, 0);
    const struct silken_dlcp_tensor t = {
        .values = sum, .count = N, .tensor = 4, .iteration = 9, .sums = workers};
    for (unsigned i = 0; i < 3; i++) {
        s[i] = (struct sending){&h, i + 1, N, -1};
        assert_int_equal(silken_dlcp_recv(d, &h.address[i + 1], &t, 0.0, &f[i]), 0);
        assert_int_equal(pthread_create(&thread[i], NULL, send_one, &s[i]), 0);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_non_null(silken_dlcp_next(d, 10000));
    float *v[3] = {numbers(N, 1), numbers(N, 2), numbers(N, 3)};
    for (size_t i = 0; i < N; i++)
        assert_true(sum[i] == v[0][i] + v[1][i] + v[2][i]);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
        assert_int_equal(workers[i], 3);
    silken_dlcp_run(d, 50);
    for (unsigned i = 0; i < 3; i++) {
        silken_dlcp_end(f[i]);
        pthread_join(thread[i], NULL);
        assert_int_equal(s[i].result, 0);
        free(v[i]);
    }
    struct silken_dlcp_stats stats;
    silken_dlcp_stats(d, &stats);
    assert_true(stats.packets_came >= 3 * 56);
    silken_dlcp_close(d);
    hub_end(&h);
}

static void test_refused(void **state) {
    struct hub h;
    struct silken_dlcp_config c;
    struct silken_dlcp *d;
    struct silken_dlcp_flow *f, *again;
    float v[10] = {0};
    char why[256];
    (void)state;
    hub_begin(&h, 2, 0);
    silken_dlcp_config_init(&c);
    c.self = h.address[0];
    assert_int_equal(silken_dlcp_open(&d, &c, why, sizeof why), SILKEN_ERR_INVALID); // no device
    c.device = "udp:10.0.0.1";
    assert_int_equal(silken_dlcp_open(&d, &c, why, sizeof why), SILKEN_ERR_UNSUPPORTED);
    c.ports = 17;
    assert_int_equal(silken_dlcp_open(&d, &c, why, sizeof why), SILKEN_ERR_INVALID);
    d = open_station(&h, 0);
    struct silken_dlcp_tensor t = {.values = v, .count = 10};
    assert_int_equal(silken_dlcp_recv(d, &h.address[1], &t, 1.0, &f), SILKEN_ERR_INVALID);
    assert_int_equal(silken_dlcp_recv(d, &h.address[1], &t, -0.1, &f), SILKEN_ERR_INVALID);
    assert_int_equal(silken_dlcp_recv(d, &h.address[1], &t, (double)NAN, &f), SILKEN_ERR_INVALID);
    t.bound = 1;
    assert_int_equal(silken_dlcp_send(d, &h.address[1], &t, NULL, NULL, &f), SILKEN_ERR_INVALID);
    t.bound = 0, t.count = 0;
    assert_int_equal(silken_dlcp_send(d, &h.address[1], &t, NULL, NULL, &f), SILKEN_ERR_INVALID);
    t.count = 10;
    assert_int_equal(silken_dlcp_recv(d, &h.address[1], &t, 0, &f), 0);
    assert_int_equal(silken_dlcp_recv(d, &h.address[1], &t, 0, &again), SILKEN_ERR_INVALID);
    silken_dlcp_end(f);
    assert_int_equal(silken_dlcp_recv(d, &h.address[1], &t, 0, &again), 0);
    silken_dlcp_close(d); // with a flow
    sk_transport_close(h.near[1]);
    hub_end(&h);
}

// ---- all-reduce ----

struct member {
    struct hub *hub;
    unsigned rank, servers;
    double bound;
    bool ring;
    int result;
    struct silken_dlcp_job_stats stats;
    float *out;
};
#define COUNT 40000u
#define CALLS 5u

static void member_config(const struct member *m, struct silken_config *c) {
    silken_config_init(c);
    c->protocol = SILKEN_DLCP;
    c->rank = m->rank;
    c->workers = m->hub->n;
    c->job = 2;
    c->transport = m->hub->near[m->rank];
    c->dlcp.worker = m->hub->address;
    c->dlcp.servers = m->servers;
    c->dlcp.ring = m->ring;
    c->dlcp.bound = m->bound;
    c->dlcp.pull_bound = m->bound / 10;
    c->dlcp.cut_bytes = 50000;
    c->dlcp.tensors = 2;
    c->dlcp.link_mbps = 2000;
    c->rto_min_us = 1000;
    c->rto_initial_us = 5000;
}

static void *member_run(void *argument) {
    struct member *m = argument;
    struct silken_config c;
    struct silken_comm *comm;
    char why[256] = "";
    member_config(m, &c);
    m->result = silken_open(&comm, &c, why, sizeof why);
    for (unsigned call = 0; call < CALLS && m->result == 0; call++) {
        float *v = numbers(COUNT, m->rank + 1);
        m->result = silken_allreduce(comm, v, m->out, COUNT, SILKEN_F32,
                                     call % 2 ? SILKEN_AVERAGE : SILKEN_SUM);
        free(v);
    }
    if (m->result == 0)
        m->result = silken_dlcp_job_stats(comm, &m->stats);
    silken_close(comm);
    return NULL;
}

static void one_job(unsigned servers, bool ring, double bound, double loss) {
    struct hub h;
    struct member m[MOST];
    pthread_t thread[MOST];
    hub_begin(&h, MOST, loss);
    for (unsigned i = 0; i < MOST; i++) {
        m[i] =
            (struct member){.hub = &h, .rank = i, .servers = servers, .bound = bound, .ring = ring};
        m[i].out = malloc(COUNT * sizeof *m[i].out);
        assert_int_equal(pthread_create(&thread[i], NULL, member_run, &m[i]), 0);
    }
    for (unsigned i = 0; i < MOST; i++)
        pthread_join(thread[i], NULL);
    float *v[MOST];
    for (unsigned i = 0; i < MOST; i++)
        v[i] = numbers(COUNT, i + 1);
    for (unsigned i = 0; i < MOST; i++) {
        size_t other = 0;
        assert_int_equal(m[i].result, 0);
        assert_true(m[i].stats.station.packets_came > 0);
        for (size_t k = 0; k < COUNT; k++)
            other += m[i].out[k] != v[0][k] + v[1][k] + v[2][k] + v[3][k];
        if (bound == 0)
            assert_int_equal(other, 0);
        assert_true(other < COUNT * (4 * bound + 4 * bound / 10) + 1);
        free(m[i].out);
    }
    for (unsigned i = 0; i < MOST; i++)
        free(v[i]);
    hub_end(&h);
}

static void test_allreduce(void **state) {
    (void)state;
    one_job(0, false, 0, 0.02);
    one_job(1, false, 0.1, 0.05);
    one_job(0, true, 0, 0.02);
    one_job(0, true, 0.1, 0.05);
}

static void refuse(const struct silken_config *c, int rc) {
    struct silken_comm *comm;
    char why[256] = "";
    assert_int_equal(silken_open(&comm, c, why, sizeof why), rc);
    assert_true(why[0]);
}

static void test_allreduce_refuses(void **state) {
    struct hub h;
    struct silken_config c;
    struct silken_comm *comm;
    int32_t integers[4] = {0};
    char why[256];
    (void)state;
    hub_begin(&h, 1, 0);
    const struct member m = {.hub = &h, .servers = 1};
    member_config(&m, &c);
    struct silken_config bad = c;
    bad.dlcp.worker = NULL;
    refuse(&bad, SILKEN_ERR_INVALID);
    bad = c, bad.dlcp.bound = 1;
    refuse(&bad, SILKEN_ERR_INVALID);
    bad = c, bad.dlcp.servers = 2;
    refuse(&bad, SILKEN_ERR_INVALID);
    bad = c, bad.dlcp.ports = 0;
    refuse(&bad, SILKEN_ERR_INVALID);
    bad = c, bad.transport = NULL, bad.device = "udp:";
    refuse(&bad, SILKEN_ERR_UNSUPPORTED);
    bad = c, bad.protocol = (enum silken_protocol)3;
    refuse(&bad, SILKEN_ERR_INVALID);
    assert_int_equal(silken_open(&comm, &c, why, sizeof why), 0);
    assert_int_equal(silken_dlcp_layer(comm, 3, 3), SILKEN_ERR_INVALID);
    assert_int_equal(silken_dlcp_layer(comm, 2, 3), 0);
    assert_int_equal(silken_allreduce_i32(comm, integers, integers, 4), SILKEN_ERR_INVALID);
    silken_close(comm);
    assert_string_equal(silken_ignored_name(SILKEN_DLCP, 1), "foreign");
    assert_string_equal(silken_ignored_name(SILKEN_DLCP, SILKEN_IGNORED_KINDS - 1), "other");
    assert_null(silken_ignored_name(SILKEN_DLCP, SILKEN_IGNORED_KINDS));
    hub_end(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_allreduce),
        cmocka_unit_test(test_allreduce_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
