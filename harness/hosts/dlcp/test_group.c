// SPDX-License-Identifier: Apache-2.0
//
// test_group: all-reduce by DLCP over servers and over rings, on networks that lose, repeat and
// reorder. Values are small integers, whose sums are exact: each result must be the sum that some
// workers' gradients give, times the number of workers over theirs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/net/events.h"
#include "hosts/dlcp/dlcp.h"

#define MOST 5u
#define MS   UINT64_C(1000000)
#define S    UINT64_C(1000000000)

struct group_frame {
    struct net_event event;
    unsigned to;
    size_t length;
    uint8_t bytes[DLCP_FRAME_BYTES];
};

struct network {
    struct sk_random random;
    struct net_link link;
    struct net_events events;
    uint64_t now, frames;
    unsigned n;
    struct sk_endpoint end[MOST];
    struct dlcp_group *group[MOST];
    unsigned done[MOST];
    int cut_off; // nothing comes from or to it
};

static void network_begin(struct network *net, uint64_t seed, unsigned n, unsigned servers,
                          double bound, double loss) {
    *net = (struct network){.random = sk_random_seeded(seed), .n = n, .cut_off = -1};
    net->link = (struct net_link){.loss = loss,
                                  .delay = 5000,
                                  .jitter = 20000,
                                  .reorder = 0.2,
                                  .duplicate = loss > 0 ? 0.05 : 0};
    for (unsigned i = 0; i < n; i++)
        net->end[i] = (struct sk_endpoint){{2, 0, 0, 0, 0, (uint8_t)i}, DLCP_PORT, 0x0a000001u + i};
    for (unsigned i = 0; i < n; i++) {
        const struct dlcp_group_config c = {
            .station = {.self = net->end[i],
                        .first_port = 50000,
                        .ports = 4,
                        .link = UINT64_C(10000000000),
                        .period = 200000,
                        .rto_initial = MS,
                        .rto_min = MS / 10,
                        .rto_max = 20 * MS,
                        .hard_limit = 5 * S,
                        .nonce = (uint32_t)sk_random_next(&net->random)},
            .rank = i,
            .workers = n,
            .servers = servers,
            .end = net->end,
            .job = 3,
            .bound = (uint32_t)(bound * DLCP_ALL),
            .pull_bound = (uint32_t)(bound * DLCP_ALL / 10),
            .tensors = 3,
            .cut = 20000};
        const char *why = "";
        assert_int_equal(dlcp_group_new(&net->group[i], &c, &why), 0);
    }
}

static void network_end(struct network *net) {
    while (net->events.length)
        free(net_events_pop(&net->events));
    net_events_free(&net->events);
    for (unsigned i = 0; i < net->n; i++)
        dlcp_group_free(net->group[i]);
}

static void network_carry(struct network *net, const struct group_frame *f) {
    struct group_frame *copy = net_must(malloc(sizeof *copy));
    *copy = *f;
    net_events_push(&net->events, &copy->event,
                    net_link_arrival(&net->link, &net->random, net->now));
}

static void network_write(struct network *net, unsigned from) {
    static struct group_frame f;
    while ((f.length = dlcp_group_write(net->group[from], f.bytes, sizeof f.bytes, net->now))) {
        f.to = f.bytes[5]; // of the address
        net->frames++;
        if ((int)from == net->cut_off || (int)f.to == net->cut_off ||
            sk_random_chance(&net->random, net->link.loss))
            continue;
        network_carry(net, &f);
        if (sk_random_chance(&net->random, net->link.duplicate))
            network_carry(net, &f);
    }
}

// Until each has ended 'calls' calls, or one has failed.
static void network_run(struct network *net, unsigned calls, uint64_t until) {
    for (unsigned step = 0; step < 3000000; step++) {
        uint64_t at = SK_TIME_NEVER;
        unsigned ended = 0;
        void *cookie;
        for (unsigned i = 0; i < net->n; i++) {
            network_write(net, i);
            while (dlcp_group_done(net->group[i], &cookie))
                net->done[i]++;
            ended += net->done[i] >= calls || dlcp_group_failed(net->group[i]);
            at = sk_time_earlier(at, dlcp_group_deadline(net->group[i]));
        }
        if (net->events.length)
            at = sk_time_earlier(at, net->events.heap[0]->time);
        if (ended == net->n || at >= until)
            return;
        net->now = at > net->now ? at : net->now;
        while (net->events.length && net->events.heap[0]->time <= net->now) {
            struct group_frame *f = (struct group_frame *)net_events_pop(&net->events);
            dlcp_group_read(net->group[f->to], f->bytes, f->length, net->now);
            free(f);
        }
    }
    fail_msg("no end");
}

struct tensors {
    size_t count;
    float *in[MOST], *out[MOST];
};

static void tensors_make(struct tensors *t, struct network *net, size_t count, bool in_place) {
    t->count = count;
    for (unsigned i = 0; i < net->n; i++) {
        t->in[i] = net_must(malloc((count + 1) * sizeof(float)));
        t->out[i] = net_must(calloc(count + 1, sizeof(float)));
        for (size_t k = 0; k < count; k++)
            t->in[i][k] = (float)((int)sk_random_below(&net->random, 2001) - 1000);
        if (in_place)
            memcpy(t->out[i], t->in[i], count * sizeof(float));
    }
}

static void tensors_free(struct tensors *t, const struct network *net) {
    for (unsigned i = 0; i < net->n; i++) {
        free(t->in[i]);
        free(t->out[i]);
    }
}

static void tensors_submit(struct tensors *t, struct network *net, bool in_place) {
    for (unsigned i = 0; i < net->n; i++)
        assert_int_equal(dlcp_group_submit(net->group[i], in_place ? t->out[i] : t->in[i],
                                           t->out[i], t->count, t, net->now),
                         0);
}

// Whether the value is what the gradients of some workers give.
static bool is_of_some(const struct tensors *t, unsigned n, size_t k, float value) {
    for (unsigned set = 1; set < 1u << n; set++) {
        double sum = 0;
        for (unsigned i = 0; i < n; i++)
            sum += set >> i & 1 ? (double)t->in[i][k] : 0;
        sum *= (double)n / __builtin_popcount(set);
        if (fabs(sum - (double)value) <= 1e-5 * fabs(sum))
            return true;
    }
    return false;
}

static size_t tensors_check(const struct tensors *t, unsigned n) {
    size_t partial = 0;
    for (size_t k = 0; k < t->count; k++) {
        float sum = 0;
        for (unsigned i = 0; i < n; i++)
            sum += t->in[i][k];
        for (unsigned i = 0; i < n; i++) {
            if (t->out[i][k] == sum)
                continue;
            partial++;
            assert_true(is_of_some(t, n, k, t->out[i][k]));
        }
    }
    return partial;
}

static void one_job(uint64_t seed, unsigned n, unsigned servers, size_t count, double bound,
                    double loss, bool in_place) {
    struct network net;
    struct tensors t[4];
    size_t partial = 0;
    network_begin(&net, seed, n, servers, bound, loss);
    for (unsigned call = 0; call < 4; call++) {
        tensors_make(&t[call], &net, count + call * 100, in_place);
        tensors_submit(&t[call], &net, in_place);
    }
    network_run(&net, 4, 60 * S);
    for (unsigned i = 0; i < n; i++) {
        assert_false(dlcp_group_failed(net.group[i]));
        assert_int_equal(net.done[i], 4);
    }
    for (unsigned call = 0; call < 4; call++) {
        partial += tensors_check(&t[call], n);
        tensors_free(&t[call], &net);
    }
    // a server's missing parts are missing on all, and on a ring one behind another
    assert_true((double)partial <= 4.0 * n * n * (double)(count + 300) * (bound + bound / 10));
    if (bound == 0)
        assert_int_equal(partial, 0);
    network_end(&net);
}

static void test_exact(void **state) {
    (void)state;
    for (unsigned servers = 0; servers <= 4; servers++) {
        one_job(1, 4, servers, 10000, 0, 0, false);
        one_job(2, 4, servers, 10000, 0, 0.1, true);
        one_job(3, 4, servers, 1, 0, 0.1, false);
        one_job(4, 4, servers, 0, 0, 0.1, false);
    }
    one_job(5, 1, 1, 1000, 0, 0, false);
    one_job(6, 2, 0, 3000, 0, 0.1, true);
    one_job(6, 2, 2, 9000, 0, 0.1, true);
}

static void test_with_loss(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (unsigned servers = 0; servers <= 3; servers++)
            one_job(seed, 2 + seed % 4, servers % (2 + (unsigned)(seed % 4)), 363 * 60,
                    seed % 2 ? 0.1 : 0.3, 0.02 * (double)seed, seed % 3 == 0);
}

// A worker that is late: the others' START waits for it.
static void test_late_worker(void **state) {
    (void)state;
    for (unsigned servers = 0; servers <= 2; servers++) {
        struct network net;
        struct tensors t;
        network_begin(&net, 9, 3, servers, 0.1, 0);
        tensors_make(&t, &net, 20000, false);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(
                dlcp_group_submit(net.group[i], t.in[i], t.out[i], t.count, &t, net.now), 0);
            network_run(&net, 1, net.now + 30 * MS);
            net.now += 30 * MS;
        }
        network_run(&net, 1, net.now + S);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(net.done[i], 1);
        tensors_check(&t, 3);
        tensors_free(&t, &net);
        network_end(&net);
    }
}

// A worker that is cut off: the others' calls end with an error.
static void test_gone(void **state) {
    (void)state;
    for (unsigned servers = 0; servers <= 2; servers += 2) {
        struct network net;
        struct tensors t;
        network_begin(&net, 9, 3, servers, 0.1, 0);
        net.cut_off = 1;
        tensors_make(&t, &net, 20000, false);
        tensors_submit(&t, &net, false);
        network_run(&net, 1, 60 * S);
        for (unsigned i = 0; i < 3; i++)
            assert_true(dlcp_group_failed(net.group[i]));
        tensors_free(&t, &net);
        network_end(&net);
    }
}

static void test_configurations(void **state) {
    struct dlcp_group *g;
    struct sk_endpoint end[2] = {{{0}, 0, 1}, {{0}, 0, 2}};
    const char *why = NULL;
    struct dlcp_group_config c = {.workers = 2, .servers = 3, .end = end, .tensors = 1};
    (void)state;
    assert_int_not_equal(dlcp_group_new(&g, &c, &why), 0);
    assert_non_null(why);
    c.servers = 0, c.tensors = 40000; // the numbers of a ring's steps do not fit
    assert_int_not_equal(dlcp_group_new(&g, &c, &why), 0);
    c.tensors = 1, c.rank = 2;
    assert_int_not_equal(dlcp_group_new(&g, &c, &why), 0);
    c.rank = 0, c.bound = DLCP_ALL;
    assert_int_not_equal(dlcp_group_new(&g, &c, &why), 0);
    c.bound = 0; // the station has no link
    assert_int_not_equal(dlcp_group_new(&g, &c, &why), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),          cmocka_unit_test(test_with_loss),
        cmocka_unit_test(test_late_worker),    cmocka_unit_test(test_gone),
        cmocka_unit_test(test_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
