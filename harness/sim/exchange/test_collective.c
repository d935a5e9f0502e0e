// SPDX-License-Identifier: Apache-2.0
//
// Plans of all-reduces (sim/exchange/collective.h), carried out with messages in random order: each
// worker ends with every contribution to every part once, and sends as many bytes as it should.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/exchange/collective.h"
#include "sim/random.h"

#define MOST     40u
#define MESSAGES 4096u

// How often each worker's values are in a sum.
typedef uint8_t sum_t[MOST];

struct message {
    struct collective_send as;
    sum_t *values; // of its parts
};

struct world {
    struct collective c;
    uint32_t parts;
    sum_t *held[MOST]; // by worker: of each part
    uint32_t stage[MOST], arrived[MOST][256], sent[MOST];
    struct message messages[MESSAGES];
    size_t n;
};

static void enter(struct world *w, uint32_t rank) {
    struct collective_send out[COLLECTIVE_MOST];
    const uint32_t n = collective_sends(&w->c, rank, w->stage[rank], out);
    assert_true(n <= COLLECTIVE_MOST);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t parts = out[i].end - out[i].from;
        assert_true(out[i].to < w->c.n && out[i].to != rank && out[i].from < out[i].end);
        assert_true(out[i].end <= w->parts && w->n < MESSAGES);
        assert_true(out[i].stage < collective_stages(&w->c));
        struct message *m = &w->messages[w->n++];
        m->as = out[i];
        m->values = malloc(parts * sizeof *m->values);
        memcpy(m->values, w->held[rank] + out[i].from, parts * sizeof *m->values);
        w->sent[rank] += parts;
    }
}

static void go_on(struct world *w, uint32_t rank) {
    while (w->stage[rank] < collective_stages(&w->c)) {
        const uint32_t expected = collective_expects(&w->c, rank, w->stage[rank]);
        assert_true(w->arrived[rank][w->stage[rank]] <= expected);
        if (w->arrived[rank][w->stage[rank]] < expected)
            return;
        w->stage[rank]++;
        enter(w, rank);
    }
}

// What arrives early is kept aside: it is added when its stage is there, as one who carries the
// plan out has to.
static bool arrives(struct world *w, size_t i) {
    const struct message m = w->messages[i];
    const uint32_t rank = m.as.to;
    if (m.as.stage > w->stage[rank])
        return false;
    assert_int_equal(m.as.stage, w->stage[rank]);
    for (uint32_t p = m.as.from; p < m.as.end; p++)
        for (uint32_t k = 0; k < w->c.n; k++) {
            uint8_t *at = &w->held[rank][p][k];
            const uint8_t v = m.values[p - m.as.from][k];
            *at = collective_is_whole(&w->c, m.as.stage) ? v : (uint8_t)(*at + v);
        }
    free(m.values);
    w->messages[i] = w->messages[--w->n];
    w->arrived[rank][m.as.stage]++;
    go_on(w, rank);
    return true;
}

// Returns the parts that the busiest worker has sent.
static uint32_t all_reduce(struct collective c, uint64_t seed) {
    struct world *w = calloc(1, sizeof *w);
    struct sim_random r = sim_random_of(seed, "plan");
    uint32_t most = 0;
    w->c = c;
    w->parts = collective_parts(&c);
    assert_true(collective_stages(&c) < 256);
    for (uint32_t i = 0; i < c.n; i++) {
        w->held[i] = calloc(w->parts, sizeof *w->held[i]);
        for (uint32_t p = 0; p < w->parts; p++)
            w->held[i][p][i] = 1;
    }
    for (uint32_t i = 0; i < c.n; i++) {
        enter(w, i);
        go_on(w, i);
    }
    while (w->n > 0) {
        const size_t from = sim_random_next(&r) % w->n;
        size_t i = 0;
        while (i < w->n && !arrives(w, (from + i) % w->n))
            i++;
        assert_true(i < w->n || w->n == 0); // else all of them wait for each other
    }
    for (uint32_t i = 0; i < c.n; i++) {
        assert_int_equal(w->stage[i], collective_stages(&c));
        for (uint32_t p = 0; p < w->parts; p++)
            for (uint32_t k = 0; k < c.n; k++)
                assert_int_equal(w->held[i][p][k], 1);
        most = w->sent[i] > most ? w->sent[i] : most;
        free(w->held[i]);
    }
    free(w);
    return most;
}

static void test_halving(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= MOST; n++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            const struct collective c = {.kind = COLLECTIVE_HALVING, .n = n};
            const uint32_t p = collective_parts(&c), most = all_reduce(c, seed);
            // 2 (p - 1) / p of the tensor, and the whole of it to a worker without a place
            assert_int_equal(most, 2 * (p - 1) + (n > p ? p : 0));
        }
}

static void test_trees(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= MOST; n++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            const struct collective c = {
                .kind = COLLECTIVE_TREE, .n = n, .upside_down = seed % 2 == 1};
            assert_int_equal(all_reduce(c, seed), n > 4 ? 3 : n > 2 ? 2 : 1);
        }
}

static void test_groups(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= MOST; n++)
        for (uint32_t g = 1; g <= n; g++) {
            const struct collective c = {.kind = COLLECTIVE_HIERARCHICAL, .n = n, .group = g};
            if (n % g)
                continue;
            // as a ring over all: 2 (n - 1) / n of the tensor
            assert_int_equal(all_reduce(c, n + g), 2 * (n - 1));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halving),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
