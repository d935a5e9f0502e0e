// SPDX-License-Identifier: Apache-2.0
//
// sums: a host of a job of Libra or DLCP, which verifies every sum, for tests of a switch that has
// jobs of all protocols (`silken worker` has the two others):
//
//     sums libra-server DEVICE LAYOUT SERVER SWITCH WORKER...
//     sums libra RANK FIRST GENERATIONS DEVICE LAYOUT SERVER SWITCH WORKER...
//     sums dlcp RANK ROUNDS JOB DEVICE WORKER...
//
// SERVER, SWITCH and WORKER are addresses like 02:00:00:00:00:01/10.0.0.1; the workers are all of
// the job, by rank. Each prints "ready", then "round N" after each round. What is wrong, it says,
// and exits with status 1.
//
// LIBRA. A generation has KEYS hot and KEYS cold keys that no other one has, and ROUNDS rounds: all
// workers push a value to each key, wait for each other, pull and compare. Values are positive, so
// a sum of the switch is within 1.1e-4 of the right one for each addition (silken/keyvalue.h); one
// push that is lost or counted twice is at least a part in 8 * ROUNDS * workers, which is more.
// Sums of servers are exact. FIRST is the first generation: a process that comes after another one
// goes on where that ended, and its sequence numbers do.
//
// DLCP. Two workers, a ring. A part of each tensor may be missing: an element is the sum of both,
// or twice that of one; not more of those than the bounds allow.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/include/silken/dlcp.h"
#include "hosts/include/silken/error.h"
#include "hosts/include/silken/keyvalue.h"

#define MOST_WORKERS 8u
#define HOT          240000u // keys of the layout, from 0 on; the cold ones follow
#define KEYS         60u
#define ROUNDS       12u
#define LIBRA_JOB    3u
#define SEQUENCES    100000u // of a generation, at most
#define ELEMENTS     50000u
#define TENSORS      4u
#define BOUND        0.05

struct sums_hosts {
    char text[MOST_WORKERS + 2][64];
    struct silken_address at[MOST_WORKERS + 2];
    unsigned n;
};

static int sums_fail(const char *what, const char *why) {
    fprintf(stderr, "sums: %s: %s\n", what, why);
    return 1;
}

// "MAC/IP" for each.
static int sums_read_hosts(struct sums_hosts *h, char **words) {
    for (; *words; words++) {
        char *slash;
        if (h->n == MOST_WORKERS + 2 || strlen(*words) >= sizeof h->text[0])
            return sums_fail(*words, "too many addresses, or too long");
        char *text = strcpy(h->text[h->n], *words);
        if (!(slash = strchr(text, '/')))
            return sums_fail(*words, "should be like 02:00:00:00:00:01/10.0.0.1");
        *slash = '\0';
        h->at[h->n++] = (struct silken_address){text, slash + 1};
    }
    return 0;
}

static void sums_say(const char *text) {
    printf("%s\n", text);
    fflush(stdout);
}

static void sums_say_round(unsigned n) {
    printf("round %u\n", n);
    fflush(stdout);
}

// ---- Libra ----

static void libra_configure(struct silken_kv_config *c, struct sums_hosts *h, const char *device,
                            const char *layout) {
    silken_kv_config_init(c);
    c->job = LIBRA_JOB;
    c->workers = h->n - 2;
    c->keys = 2 * HOT;
    c->layout = layout;
    c->device = device;
    c->servers = 1;
    c->server = &h->at[0];
    c->switch_address = h->at[1];
    c->hard_limit_ms = 60000;
}

static int libra_serve(char **words) {
    struct silken_kv_config c;
    struct silken_kv_server *server;
    struct sums_hosts h = {.n = 0};
    char why[256];
    int rc = sums_read_hosts(&h, words + 2);
    if (rc)
        return rc;
    libra_configure(&c, &h, words[0], words[1]);
    c.self = h.at[0];
    if (silken_kv_server_open(&server, &c, why, sizeof why))
        return sums_fail("server", why);
    sums_say("ready");
    while (rc == 0 && !silken_kv_server_finished(server))
        rc = silken_kv_server_run(server, 50);
    if (rc == 0)
        rc = silken_kv_server_run(server, 500); // acks may have been lost
    silken_kv_server_close(server);
    return rc ? sums_fail("server", silken_strerror(rc)) : 0;
}

// What a worker pushes to a key in each round: 1 to 8, in steps of 1/16.
static float libra_value(unsigned worker, uint64_t key) {
    const uint32_t mixed = (uint32_t)(key * 2654435761u + worker * 40503u) >> 8;
    return 1 + (float)(mixed % 112) / 16;
}

static int libra_compare(const struct silken_kv_config *c, const uint64_t *keys, const float *sums,
                         unsigned rounds) {
    for (unsigned i = 0; i < 2 * KEYS; i++) {
        double right = 0;
        for (unsigned w = 0; w < c->workers; w++)
            right += (double)libra_value(w, keys[i]) * rounds;
        const double bound = keys[i] < HOT ? 1.2e-4 * rounds * c->workers * right : 0;
        if (fabs((double)sums[i] - right) > bound) {
            fprintf(stderr, "sums: round %u, key %llu: %.9g is not %.9g\n", rounds,
                    (unsigned long long)keys[i], (double)sums[i], right);
            return 1;
        }
    }
    return 0;
}

static int libra_round(struct silken_kv *kv, const struct silken_kv_config *c, const uint64_t *keys,
                       unsigned round) {
    float values[2 * KEYS], sums[2 * KEYS] = {0};
    uint64_t request;
    for (unsigned i = 0; i < 2 * KEYS; i++)
        values[i] = libra_value(c->worker, keys[i]);
    int rc = silken_kv_push_f32(kv, keys, values, NULL, 2 * KEYS, &request);
    rc = rc ? rc : silken_kv_wait(kv, request);
    rc = rc ? rc : silken_kv_barrier(kv);
    rc = rc ? rc : silken_kv_pull_f32(kv, keys, sums, NULL, 2 * KEYS, &request);
    rc = rc ? rc : silken_kv_wait(kv, request);
    rc = rc ? rc : silken_kv_barrier(kv); // nobody pushes while somebody still pulls
    if (rc)
        return sums_fail("worker", silken_strerror(rc));
    return libra_compare(c, keys, sums, round);
}

static int libra_work(char **words) {
    const unsigned rank = (unsigned)atoi(words[0]), first = (unsigned)atoi(words[1]),
                   generations = (unsigned)atoi(words[2]);
    struct silken_kv_config c;
    struct sums_hosts h = {.n = 0};
    struct silken_kv_stats stats;
    struct silken_kv *kv;
    char why[256];
    int rc = sums_read_hosts(&h, words + 5);
    if (rc)
        return rc;
    if (h.n < 3 || rank >= h.n - 2 || (first + generations) * KEYS > HOT)
        return sums_fail("worker", "no such rank, or no such generation");
    libra_configure(&c, &h, words[3], words[4]);
    c.worker = rank;
    c.self = h.at[2 + rank];
    c.first_sequence = 1 + first * SEQUENCES;
    if (silken_kv_open(&kv, &c, why, sizeof why))
        return sums_fail("worker", why);
    sums_say("ready");
    for (unsigned g = first; rc == 0 && g < first + generations; g++) {
        uint64_t keys[2 * KEYS];
        for (unsigned i = 0; i < KEYS; i++) {
            keys[i] = (uint64_t)g * KEYS + i;
            keys[KEYS + i] = HOT + keys[i];
        }
        for (unsigned round = 1; rc == 0 && round <= ROUNDS; round++) {
            rc = libra_round(kv, &c, keys, round);
            if (rc == 0)
                sums_say_round((g - first) * ROUNDS + round);
        }
    }
    if (rc == 0 && (rc = silken_kv_finish(kv)) != 0)
        sums_fail("worker", silken_strerror(rc));
    silken_kv_stats(kv, &stats);
    silken_kv_close(kv);
    // pushed and pulled: a key that servers had as well would not have been at the switch
    const uint64_t hot = (uint64_t)2 * KEYS * ROUNDS * generations;
    if (rc == 0 && (stats.hot != hot || stats.cold != hot))
        rc = sums_fail("worker", "pairs were not where the layout says");
    return rc != 0;
}

// ---- DLCP ----

static float dlcp_value(unsigned worker, unsigned round, unsigned tensor, unsigned i) {
    const uint32_t mixed = (i * 2654435761u + worker * 97u + round * 31u + tensor * 7u) >> 12;
    return (float)(mixed % 1000) + 1;
}

static int dlcp_compare(unsigned round, unsigned tensor, const float *came) {
    unsigned apart = 0;
    for (unsigned i = 0; i < ELEMENTS; i++) {
        const float a = dlcp_value(0, round, tensor, i), b = dlcp_value(1, round, tensor, i);
        const bool whole = fabsf(came[i] - (a + b)) < 0.5f;
        if (!whole && fabsf(came[i] - 2 * a) >= 0.5f && fabsf(came[i] - 2 * b) >= 0.5f) {
            fprintf(stderr, "sums: round %u, tensor %u, element %u: %g of %g and %g\n", round,
                    tensor, i, (double)came[i], (double)a, (double)b);
            return 1;
        }
        apart += !whole;
    }
    if (apart > 1.1 * 2 * BOUND * ELEMENTS) {
        fprintf(stderr, "sums: round %u, tensor %u: %u of %u elements are not whole\n", round,
                tensor, apart, ELEMENTS);
        return 1;
    }
    return 0;
}

static int dlcp_round(struct silken_comm *comm, unsigned rank, unsigned round) {
    static float values[TENSORS][ELEMENTS], came[TENSORS][ELEMENTS];
    struct silken_request *request[TENSORS] = {NULL};
    int rc = 0, wrong = 0;
    for (unsigned t = 0; t < TENSORS && rc == 0; t++) {
        for (unsigned i = 0; i < ELEMENTS; i++)
            values[t][i] = dlcp_value(rank, round, t, i);
        rc = silken_submit_f32(comm, values[t], came[t], ELEMENTS, &request[t]);
    }
    for (unsigned t = 0; t < TENSORS; t++) {
        const int ended = request[t] ? silken_wait(request[t]) : rc;
        rc = rc ? rc : ended;
        if (rc == 0)
            wrong |= dlcp_compare(round, t, came[t]);
    }
    return rc ? sums_fail("worker", silken_strerror(rc)) : wrong;
}

static int dlcp_work(char **words) {
    const unsigned rank = (unsigned)atoi(words[0]), rounds = (unsigned)atoi(words[1]);
    struct sums_hosts h = {.n = 0};
    struct silken_comm *comm;
    struct silken_config c;
    char why[512];
    int rc = sums_read_hosts(&h, words + 4);
    if (rc)
        return rc;
    if (h.n != 2 || rank > 1)
        return sums_fail("worker", "there are two");
    silken_config_init(&c);
    c.protocol = SILKEN_DLCP;
    c.rank = rank;
    c.workers = 2;
    c.job = (uint8_t)atoi(words[2]);
    c.device = words[3];
    c.rto_min_us = 5000;
    c.hard_limit_ms = 60000;
    c.dlcp.worker = h.at;
    c.dlcp.ring = true;
    c.dlcp.bound = c.dlcp.pull_bound = BOUND;
    c.dlcp.tensors = TENSORS;
    c.dlcp.link_mbps = 1000;
    if (silken_open(&comm, &c, why, sizeof why))
        return sums_fail("worker", why);
    sums_say("ready");
    for (unsigned round = 1; rc == 0 && round <= rounds; round++) {
        rc = dlcp_round(comm, rank, round);
        if (rc == 0)
            sums_say_round(round);
    }
    silken_close(comm);
    return rc;
}

int main(int argc, char **argv) {
    if (argc > 7 && strcmp(argv[1], "libra") == 0)
        return libra_work(argv + 2);
    if (argc > 5 && strcmp(argv[1], "libra-server") == 0)
        return libra_serve(argv + 2);
    if (argc > 6 && strcmp(argv[1], "dlcp") == 0)
        return dlcp_work(argv + 2);
    fprintf(stderr, "usage: sums libra-server|libra|dlcp ...; see its first comment\n");
    return 2;
}
