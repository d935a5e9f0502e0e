// SPDX-License-Identifier: Apache-2.0
//
// The public interface with ATP in real time: communicators and servers over rings and the compiled
// p4/atp/atp.p4, in one rack and in several. The calls are those of test_allreduce.c.
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/communicator/atp_net.h"

#define COUNT   10007
#define TENSORS 6

static struct atp_net net;

static struct silken_config small_config(uint32_t workers) {
    struct silken_config config;

    silken_config_init(&config);
    config.no_session = true; // harness/session has the others
    config.workers = workers;
    config.rto_initial_us = 20000;
    config.rto_min_us = 5000;
    config.rto_max_us = 50000;
    config.atp.indices = 16384;
    return config;
}

static void fail_work(const char *what, int rc) {
    fprintf(stderr, "%s: %s\n", what, silken_strerror(rc));
    abort(); // not in the test's thread: cmocka cannot be told
}

// ---- floats ----------------------------------------------------------------------------------

// Some sums do not fit below 2^31 / 10^8: those are added up as floats.
static float float_of(unsigned rank, size_t i, unsigned round) {
    double size = i / 620 % 4 == 3 ? 30 : 1e-3;

    return (float)((rank + 1) * sin((double)(i + round)) * size);
}

static void check_floats(const float *got, size_t count, unsigned round) {
    for (size_t i = 0; i < count; i++) {
        double exact = 0, bound;
        for (unsigned w = 0; w < net.workers; w++)
            exact += (double)float_of(w, i, round);
        bound = net.workers * 0.5e-8 * 1.000001 + fabs(exact) * 0x1p-24;
        if (!(fabs(got[i] - exact) <= bound)) {
            fprintf(stderr, "element %zu is %.9g, not %.9g\n", i, (double)got[i], exact);
            abort();
        }
    }
}

static void reduce_floats(void *context, unsigned rank) {
    const unsigned *rounds = context;
    float *f = malloc(COUNT * sizeof *f);

    for (unsigned round = 0; round < *rounds; round++) {
        for (size_t i = 0; i < COUNT; i++)
            f[i] = float_of(rank, i, round);
        int rc = silken_allreduce_f32(net.comm[rank], f, f, COUNT);
        if (rc != 0 || (rc = silken_allreduce_f32(net.comm[rank], NULL, NULL, 0)) != 0)
            fail_work("allreduce", rc);
        check_floats(f, COUNT, round);
    }
    free(f);
}

static void check_reductions(struct silken_config config, uint32_t racks,
                             const struct sk_faults *faults) {
    unsigned rounds = 3;
    struct silken_stats stats;
    struct silken_server_stats served;

    atp_net_start(&net, &config, racks, faults);
    atp_net_run(&net, reduce_floats, &rounds);
    for (unsigned i = 0; i < config.workers; i++) {
        silken_stats(net.comm[i], &stats);
        assert_int_equal(2 * rounds, stats.tensors);
        assert_int_equal(rounds * COUNT, stats.elements);
        assert_true(stats.busy_ns > 0);
        assert_true(stats.overflows > 0);
        assert_true(!faults || stats.retransmissions > 0);
    }
    silken_server_stats(net.server[0], &served);
    assert_true(served.from_all > 0 || config.workers == 1);
    assert_true(served.overflows > 0);
    atp_net_stop(&net);
}

static void test_sums_in_a_rack(void **state) {
    (void)state;
    check_reductions(small_config(4), 1, NULL);
}

static void test_sums_by_progress_threads(void **state) {
    struct silken_config config = small_config(2);

    (void)state;
    config.progress_thread = true;
    check_reductions(config, 1, NULL);
}

static void test_one_worker_alone(void **state) {
    (void)state;
    check_reductions(small_config(1), 1, NULL);
}

static void test_sums_in_racks(void **state) {
    static const uint32_t two[] = {0, 0, 1, 1}, three[] = {0, 1, 1, 0, 2};
    struct silken_config config = small_config(4);

    (void)state;
    config.atp.rack = two;
    check_reductions(config, 2, NULL);
    config = small_config(5);
    config.atp.rack = three;
    check_reductions(config, 3, NULL);
}

static void test_sums_by_lanes_and_servers(void **state) {
    static const uint32_t rack[] = {0, 1, 1};
    struct silken_config config = small_config(3);

    (void)state;
    config.atp.rack = rack;
    for (unsigned lanes = 1; lanes <= ATP_NET_LANES; lanes++) {
        config.lanes = lanes;
        config.atp.servers = 1 + lanes % ATP_NET_SERVERS;
        config.progress_thread = lanes % 2;
        check_reductions(config, 2, NULL);
    }
}

static void test_sums_over_a_bad_network(void **state) {
    static const struct sk_faults faults = {
        .seed = 5, .drop = 0.01, .duplicate = 0.01, .reorder = 0.02};
    static const uint32_t rack[] = {0, 0, 1};
    struct silken_config config = small_config(3);

    (void)state;
    check_reductions(config, 1, &faults);
    config.atp.rack = rack;
    config.atp.servers = 2;
    config.lanes = 2;
    check_reductions(config, 2, &faults);
}

// ---- requests --------------------------------------------------------------------------------

static void reduce_integers(void *context, unsigned rank) {
    struct silken_comm *comm = net.comm[rank];
    struct silken_request *request[TENSORS];
    int32_t *in[TENSORS], *out = malloc(COUNT * sizeof *out);
    float f = 0;
    int rc;

    (void)context;
    for (int t = 0; t < TENSORS; t++) {
        in[t] = malloc(COUNT * sizeof **in);
        for (int i = 0; i < COUNT; i++)
            in[t][i] = i == 7 ? INT32_MAX : i * ((int)rank + t);
        if ((rc = silken_push_i32(comm, in[t], COUNT - (unsigned)t, &request[t])) != 0)
            fail_work("push", rc);
    }
    for (int t = TENSORS - 1; t >= 0; t--) { // in another order than pushed
        if (silken_pull_f32(request[t], &f) != SILKEN_ERR_INVALID ||
            (rc = silken_pull_i32(request[t], out)) != 0)
            fail_work("pull", rc);
        for (int i = 0; i < COUNT - t; i++) {
            int due = i == 7 ? INT32_MAX : i * (2 * t + 1);
            if (out[i] != due || in[t][i] != (i == 7 ? due : i * ((int)rank + t)))
                fail_work("wrong sum of integers", i);
        }
        free(in[t]);
    }
    free(out);
    if (silken_allreduce_f32(comm, &f, &f, 1) != SILKEN_ERR_INVALID)
        fail_work("a float in a job of integers", 0);
}

static void test_push_and_pull(void **state) {
    struct silken_config config = small_config(2);

    (void)state;
    config.atp.type = SILKEN_I32;
    for (unsigned lanes = 1; lanes <= 2; lanes++) {
        config.lanes = lanes;
        atp_net_start(&net, &config, 1, NULL);
        atp_net_run(&net, reduce_integers, NULL);
        atp_net_stop(&net);
    }
}

// The tensors 5, 1, 2, 1, 1, 1 with two lanes: 0, 1, 1, 1, 1, then lane 0 and 1 have five each, so
// lane 0 again. What each lane has sent shows in the servers' flows.
static void reduce_for_balance(void *context, unsigned rank) {
    static const size_t packets[] = {5, 1, 2, 1, 1, 1};
    float values[5 * 62] = {0};

    (void)context;
    for (size_t t = 0; t < sizeof packets / sizeof *packets; t++) {
        int rc = silken_allreduce_f32(net.comm[rank], values, values, packets[t] * 62);
        if (rc != 0)
            fail_work("balance", rc);
    }
}

static void test_tensors_go_to_the_lane_with_the_least(void **state) {
    struct silken_config config = small_config(2);
    struct silken_first first;

    (void)state;
    config.lanes = 2;
    atp_net_start(&net, &config, 1, NULL);
    atp_net_run(&net, reduce_for_balance, NULL);
    for (uint32_t lane = 0; lane < 2; lane++) {
        assert_true(silken_server_first(net.server[0], lane, &first));
        assert_int_equal(lane == 0 ? 6 : 5, first.complete);
        assert_int_equal(first.complete, first.number);
    }
    atp_net_stop(&net);
}

// ---- a worker's place is taken by another (appendix A.3) -------------------------------------

#define ROUNDS 6
#define UNSET  (-12345.0f)

struct survivor {
    unsigned rank;
    pthread_t thread;
};

// All rounds; what was complete before is not written. Returns how many elements that were.
static size_t reduce_rounds(unsigned rank) {
    float *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
    size_t before = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            in[i] = float_of(rank, i, round);
            out[i] = UNSET;
        }
        int rc = silken_allreduce_f32(net.comm[rank], in, out, COUNT);
        if (rc != 0)
            fail_work("a round", rc);
        for (size_t i = 0; i < COUNT; i++) {
            double exact = 0;
            for (unsigned w = 0; w < net.workers; w++)
                exact += (double)float_of(w, i, round);
            before += out[i] == UNSET;
            if (out[i] != UNSET && !(fabs(out[i] - exact) <= 2e-8 + fabs(exact) * 0x1p-24))
                fail_work("wrong sum", (int)round);
        }
    }
    free(in);
    free(out);
    return before;
}

static void *survive(void *argument) {
    const struct survivor *s = argument;

    if (reduce_rounds(s->rank) != 0)
        fail_work("an element was never summed", (int)s->rank);
    return NULL;
}

// Takes part in two rounds, and dies early in the third.
static void reduce_and_die(unsigned rank) {
    float *f = malloc(COUNT * sizeof *f);
    struct silken_request *request;

    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT; i++)
            f[i] = float_of(rank, i, round);
        assert_int_equal(0, silken_submit_f32(net.comm[rank], f, f, COUNT, &request));
        if (round < 2)
            assert_int_equal(0, silken_wait(request));
        else
            assert_int_equal(SILKEN_ERR_AGAIN, silken_test(request));
    }
    atp_net_kill(&net, rank);
    free(f);
}

static void tell_everybody(const uint32_t *rack, unsigned dead, struct silken_first *first) {
    char why[256] = "";

    for (unsigned w = 0; w < net.workers; w++)
        if (w != dead)
            assert_int_equal(0, silken_reshape(net.comm[w], rack, why, sizeof why));
    for (uint32_t s = 0; s < net.servers; s++) {
        assert_int_equal(0, silken_server_reshape(net.server[s], rack, why, sizeof why));
        for (uint32_t lane = 0; lane < net.lanes; lane++)
            while (!silken_server_first(net.server[s], lane, &first[lane * net.servers + s]))
                sched_yield();
    }
}

static void check_respawn(struct silken_config config, uint32_t racks, const uint32_t *then,
                          const struct sk_faults *faults) {
    struct silken_first first[ATP_NET_LANES * ATP_NET_SERVERS];
    struct survivor survivor[ATP_NET_WORKERS];
    unsigned dead = 1;
    size_t before;

    atp_net_start(&net, &config, racks, faults);
    for (unsigned w = 0; w < net.workers; w++) {
        survivor[w].rank = w;
        if (w != dead)
            pthread_create(&survivor[w].thread, NULL, survive, &survivor[w]);
    }
    reduce_and_die(dead);
    tell_everybody(then, dead, first);
    memcpy(net.rack, then, net.workers * sizeof *then);
    atp_net_open(&net, dead, first);
    before = reduce_rounds(dead);
    for (unsigned w = 0; w < net.workers; w++)
        if (w != dead)
            pthread_join(survivor[w].thread, NULL);
    // two rounds, and not more than another one was begun
    assert_true(before >= 2 * COUNT && before <= 3 * COUNT);
    atp_net_stop(&net);
}

static void test_a_worker_is_replaced(void **state) {
    static const uint32_t rack[] = {0, 0, 1}, then[] = {0, 1, 1}, same[] = {0, 0, 1};
    static const struct sk_faults faults = {
        .seed = 9, .drop = 0.005, .duplicate = 0.005, .reorder = 0.01};
    struct silken_config config = small_config(3);

    (void)state;
    config.atp.rack = rack;
    check_respawn(config, 2, then, NULL);
    check_respawn(config, 2, same, NULL);
    config.lanes = 2;
    config.atp.servers = 2;
    check_respawn(config, 2, then, &faults);
}

static void test_bad_shapes(void **state) {
    static const uint32_t rack[] = {0, 1, 2};
    struct silken_config config = small_config(3);
    uint32_t many[33] = {0};
    char why[256] = "";

    (void)state;
    config.atp.rack = rack;
    atp_net_start(&net, &config, 3, NULL);
    assert_int_equal(0, silken_reshape(net.comm[0], rack, why, sizeof why));
    assert_int_equal(0, silken_server_reshape(net.server[0], rack, why, sizeof why));
    atp_net_stop(&net);

    config = small_config(33); // one more than a rack has bits for
    config.atp.rack = many;
    config.atp.server = &(struct silken_address){"02:00:00:00:00:01", "10.0.0.1"};
    config.atp.group = config.atp.server;
    config.protocol = SILKEN_ATP;
    config.worker_mac = "02:00:00:00:00:02";
    config.worker_ip = "10.0.0.2";
    config.job = 1;
    assert_int_equal(SILKEN_ERR_INVALID,
                     silken_open(&(struct silken_comm *){NULL}, &config, why, sizeof why));
    assert_non_null(strstr(why, "32"));
}

static void check_refused(struct silken_config config, const char *sentence) {
    struct silken_comm *comm = NULL;
    char why[256] = "";

    assert_int_equal(SILKEN_ERR_INVALID, silken_open(&comm, &config, why, sizeof why));
    if (!strstr(why, sentence))
        fail_msg("expected '%s' in: %s", sentence, why);
}

static void test_bad_configurations(void **state) {
    static const struct silken_address address = {"02:00:00:00:00:01", "10.0.0.1"},
                                       no_address = {"02:00:00:00:00", "10.0.0.1"};
    struct silken_config good = small_config(2), bad;

    (void)state;
    good.protocol = SILKEN_ATP;
    good.job = 1;
    good.worker_mac = "02:00:00:00:00:02";
    good.worker_ip = "10.0.0.2";
    good.atp.server = good.atp.group = &address;
    check_refused(good, "neither a device nor a transport");
    bad = good, bad.atp.servers = 0;
    check_refused(bad, "at least one server");
    bad = good, bad.atp.servers = 65;
    check_refused(bad, "must be at most 64");
    bad = good, bad.atp.server = NULL;
    check_refused(bad, "addresses of servers and groups are needed");
    bad = good, bad.rank = 2;
    check_refused(bad, "worker 2 does not exist");
    bad = good, bad.atp.server = &no_address;
    check_refused(bad, "must be like 02:00:00:00:01:00");
    bad = good, bad.atp.group = &no_address;
    check_refused(bad, "must be like 02:00:00:00:01:00");
    bad = good, bad.worker_ip = "10.0.0.256";
    check_refused(bad, "must be like 02:00:00:00:01:00");
    bad = good, bad.job = 0;
    check_refused(bad, "job");
    bad = good, bad.atp.window = 0;
    check_refused(bad, "window");
}

static void test_bad_servers(void **state) {
    struct silken_server_lane lane = {.address = {"02:00:00:00:00:01", "10.0.0.1"},
                                      .group = {"01:00:5e:00:00:01", "239.0.0.1"},
                                      .cpu = -1};
    struct silken_server_config good, bad;
    struct silken_server *server = NULL;
    char why[256] = "";

    (void)state;
    silken_server_config_init(&good);
    good.no_session = true;
    good.job = 1;
    good.workers = 2;
    bad = good;
    assert_int_equal(SILKEN_ERR_INVALID, silken_server_open(&server, &bad, why, sizeof why));
    assert_non_null(strstr(why, "lanes"));
    good.lanes = 1;
    good.lane = &lane;
    bad = good;
    assert_int_equal(SILKEN_ERR_INVALID, silken_server_open(&server, &bad, why, sizeof why));
    assert_non_null(strstr(why, "neither a device nor a transport"));
    bad.number = 1;
    assert_int_equal(SILKEN_ERR_INVALID, silken_server_open(&server, &bad, why, sizeof why));
    assert_non_null(strstr(why, "including this one"));
    bad = good, bad.workers = 0;
    assert_int_equal(SILKEN_ERR_INVALID, silken_server_open(&server, &bad, why, sizeof why));
    assert_true(why[0] != 0);
    silken_server_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_in_a_rack),
        cmocka_unit_test(test_sums_by_progress_threads),
        cmocka_unit_test(test_one_worker_alone),
        cmocka_unit_test(test_sums_in_racks),
        cmocka_unit_test(test_sums_by_lanes_and_servers),
        cmocka_unit_test(test_sums_over_a_bad_network),
        cmocka_unit_test(test_push_and_pull),
        cmocka_unit_test(test_tensors_go_to_the_lane_with_the_least),
        cmocka_unit_test(test_a_worker_is_replaced),
        cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_bad_configurations),
        cmocka_unit_test(test_bad_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
