// SPDX-License-Identifier: Apache-2.0
//
// The public interface in real time, over rings and a model switch: results, requests, threads,
// faults, and how jobs end that cannot finish.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/communicator/cluster.h"
#include "base/clock.h"

#define COUNT   10007
#define TENSORS 5

static struct cluster cluster;
static char said[8192]; // what the log got

static void keep_log(void *context, const char *text) {
    (void)context;
    snprintf(said, sizeof said, "%s", text);
}

static struct silken_config small_config(unsigned workers) {
    struct silken_config config;

    silken_config_init(&config);
    config.no_session = true; // harness/session has the others
    config.workers = workers;
    config.k = 64;
    config.pool_size = 32;
    config.log = keep_log;
    said[0] = 0;
    return config;
}

static void stop_cluster(void) {
    cluster_stop(&cluster);
    memset(&cluster, 0, sizeof cluster);
}

// ---- results ---------------------------------------------------------------------------------

static float float_of(unsigned rank, size_t i) {
    return (float)((double)(rank + 1) * sin((double)i) * 1e-3);
}

static void fail_work(const char *what, int rc) {
    fprintf(stderr, "%s: %s\n", what, silken_strerror(rc));
    abort(); // not in the test's thread: cmocka cannot be told
}

static void check_floats(const float *got, size_t count, unsigned workers) {
    for (size_t i = 0; i < count; i++) {
        double exact = 0;
        for (unsigned w = 0; w < workers; w++)
            exact += (double)float_of(w, i);
        if (fabs(got[i] - exact) > 1e-7 * workers) {
            fprintf(stderr, "element %zu is %g, not %g\n", i, (double)got[i], exact);
            abort();
        }
    }
}

static void reduce_both_types(void *context, unsigned rank) {
    struct silken_comm *comm = cluster.comm[rank];
    float *f = malloc(COUNT * sizeof *f);
    int32_t *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
    int rc;

    (void)context;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            f[i] = float_of(rank, i);
            in[i] = (int32_t)(i * (rank + 1)) - 1000000;
        }
        if ((rc = silken_allreduce_f32(comm, f, f, COUNT)) != 0 ||
            (rc = silken_allreduce_i32(comm, in, out, COUNT - (unsigned)round)) != 0 ||
            (rc = silken_allreduce_f32(comm, NULL, NULL, 0)) != 0)
            fail_work("allreduce", rc);
        check_floats(f, COUNT, cluster.workers);
        for (size_t i = 0; i < COUNT - (unsigned)round; i++) {
            unsigned n = cluster.workers;
            if (out[i] != (int32_t)(i * n * (n + 1) / 2) - (int32_t)n * 1000000)
                fail_work("wrong sum of integers", 0);
        }
    }
    free(f);
    free(in);
    free(out);
}

static void check_reductions(struct silken_config config, const struct sk_faults *faults) {
    struct silken_stats stats;

    cluster_start(&cluster, &config, faults);
    cluster_run(&cluster, reduce_both_types, NULL);
    for (unsigned i = 0; i < config.workers; i++) {
        silken_stats(cluster.comm[i], &stats);
        assert_int_equal(9, stats.tensors);
        assert_int_equal(3 * COUNT + 3 * COUNT - 3, stats.elements);
        assert_true(stats.busy_ns > 0);
        assert_true(stats.packets_sent >= stats.answers);
        assert_true(!faults || stats.retransmissions > 0);
    }
    stop_cluster();
}

static void test_sums_by_calling_threads(void **state) {
    (void)state;
    check_reductions(small_config(3), NULL);
}

static void test_sums_by_progress_threads(void **state) {
    struct silken_config config = small_config(2);

    (void)state;
    config.progress_thread = true;
    config.k = 256;
    check_reductions(config, NULL);
}

static void test_one_worker_alone(void **state) {
    (void)state;
    check_reductions(small_config(1), NULL);
}

static void test_sums_over_a_bad_network(void **state) {
    struct sk_faults faults = {.seed = 5, .drop = 0.02, .duplicate = 0.02, .reorder = 0.05};
    struct silken_config config = small_config(3);

    (void)state;
    config.rto_initial_us = 3000;
    config.rto_min_us = 1000;
    check_reductions(config, &faults);
}

static void test_sums_by_lanes(void **state) {
    struct silken_config config = small_config(3);

    (void)state;
    for (unsigned lanes = 1; lanes <= SWITCH_LOOP_LANES; lanes++) {
        config.lanes = lanes;
        config.progress_thread = lanes % 2;
        check_reductions(config, NULL);
    }
}

static void test_sums_by_lanes_over_a_bad_network(void **state) {
    struct sk_faults faults = {.seed = 6, .drop = 0.02, .duplicate = 0.02, .reorder = 0.05};
    struct silken_config config = small_config(3);

    (void)state;
    config.rto_initial_us = 3000;
    config.rto_min_us = 1000;
    config.pool_size = 31; // shared unevenly
    for (unsigned lanes = 2; lanes <= SWITCH_LOOP_LANES; lanes += 2) {
        config.lanes = lanes;
        check_reductions(config, &faults);
    }
}

// Tensors with fewer blocks than lanes, and with a last block that is not full: every element is
// summed exactly once, none past the end is touched.
static void reduce_short_tensors(void *context, unsigned rank) {
    int32_t values[70 * 5];

    (void)context;
    for (int count = 0; count < 70 * 5; count += 23) {
        for (int i = 0; i < 70 * 5; i++)
            values[i] = i < count ? i + (int)rank : -1;
        if (silken_allreduce_i32(cluster.comm[rank], values, values, (size_t)count))
            fail_work("short", -1);
        for (int i = 0; i < 70 * 5; i++)
            if (values[i] != (i < count ? 2 * i + 1 : -1))
                fail_work("wrong sum in a short tensor", i);
    }
}

static void test_lanes_share_short_tensors(void **state) {
    struct silken_config config = small_config(2);

    (void)state;
    config.lanes = SWITCH_LOOP_LANES;
    cluster_start(&cluster, &config, NULL);
    cluster_run(&cluster, reduce_short_tensors, NULL);
    stop_cluster();
}

// ---- requests --------------------------------------------------------------------------------

static void reduce_by_requests(void *context, unsigned rank) {
    struct silken_comm *comm = cluster.comm[rank];
    struct silken_request *requests[TENSORS];
    float *f[TENSORS];
    int rc;

    (void)context;
    for (int t = 0; t < TENSORS; t++) {
        f[t] = malloc(COUNT * sizeof(float));
        for (size_t i = 0; i < COUNT; i++)
            f[t][i] = float_of(rank, i);
        if ((rc = silken_submit_f32(comm, f[t], f[t], COUNT, &requests[t])) != 0)
            fail_work("submit", rc);
    }
    for (int t = TENSORS - 1; t >= 0; t--) { // waited for in another order than submitted
        while (t % 2 && (rc = silken_test(requests[t])) == SILKEN_ERR_AGAIN) {
        }
        if ((t % 2 ? rc : silken_wait(requests[t])) != 0)
            fail_work("request", rc);
        check_floats(f[t], COUNT, cluster.workers);
        free(f[t]);
    }
}

static void test_requests(void **state) {
    struct silken_config config = small_config(2);

    (void)state;
    for (int threads = 0; threads < 4; threads++) {
        config.progress_thread = threads % 2;
        config.lanes = threads < 2 ? 1 : 3;
        cluster_start(&cluster, &config, NULL);
        cluster_run(&cluster, reduce_by_requests, NULL);
        stop_cluster();
    }
}

// Several threads wait on one communicator. Worker 1's requests are submitted in order by one
// thread; each is then waited for by a thread of its own.
struct waiter {
    struct silken_request *request;
    pthread_t thread;
    int result;
};

static void *wait_for_one(void *argument) {
    struct waiter *w = argument;

    w->result = silken_wait(w->request);
    return NULL;
}

static void reduce_by_many_threads(void *context, unsigned rank) {
    struct waiter waiters[TENSORS];
    int32_t values[TENSORS][100];

    (void)context;
    for (int t = 0; t < TENSORS; t++) {
        for (int i = 0; i < 100; i++)
            values[t][i] = t * i;
        if (silken_submit_i32(cluster.comm[rank], values[t], values[t], 100, &waiters[t].request))
            fail_work("submit", -1);
        pthread_create(&waiters[t].thread, NULL, wait_for_one, &waiters[t]);
    }
    for (int t = 0; t < TENSORS; t++) {
        pthread_join(waiters[t].thread, NULL);
        if (waiters[t].result != 0 || values[t][99] != 2 * t * 99)
            fail_work("one of many threads", waiters[t].result);
    }
}

static void test_many_threads_on_one_communicator(void **state) {
    struct silken_config config = small_config(2);

    (void)state;
    for (int round = 0; round < 20; round++) {
        config.progress_thread = round % 2;
        config.lanes = round < 10 ? 1 : 2;
        cluster_start(&cluster, &config, NULL);
        cluster_run(&cluster, reduce_by_many_threads, NULL);
        stop_cluster();
    }
}

// A communicator may be closed with work in flight: nothing leaks, nothing hangs.
static void test_close_with_work_in_flight(void **state) {
    struct silken_config config = small_config(2);
    struct silken_request *request;
    static float values[1000];

    (void)state;
    for (int threads = 0; threads < 4; threads++) {
        config.progress_thread = threads % 2;
        config.lanes = threads < 2 ? 1 : 3;
        cluster_start(&cluster, &config, NULL);
        assert_int_equal(0, silken_submit_f32(cluster.comm[0], values, values, 1000, &request));
        assert_int_equal(SILKEN_ERR_AGAIN, silken_test(request));
        stop_cluster();
    }
}

// ---- jobs that cannot finish ------------------------------------------------------------------

static void test_a_missing_worker_is_reported_and_ends_the_job(void **state) {
    struct silken_config config = small_config(2);
    struct silken_request *request;
    float values[10] = {0};
    uint64_t start;

    (void)state;
    config.stall_warning_ms = 50;
    config.hard_limit_ms = 300;
    cluster_start(&cluster, &config, NULL);
    start = sk_clock_now();
    assert_int_equal(0, silken_submit_f32(cluster.comm[0], values, values, 10, &request));
    while (silken_test(request) == SILKEN_ERR_AGAIN && said[0] == 0) {
    }
    assert_non_null(strstr(said, "worker 0 of 2, job 5"));
    assert_non_null(strstr(said, "No packet has been received"));
    assert_non_null(strstr(said, "Have all 2 workers started"));
    assert_int_equal(SILKEN_ERR_STALLED, silken_wait(request));
    assert_in_range(sk_clock_now() - start, 300 * 1000000ull, 5000 * 1000000ull);
    assert_non_null(strstr(said, "gave up"));
    assert_int_equal(SILKEN_ERR_CLOSED, silken_allreduce_f32(cluster.comm[0], values, values, 10));
    stop_cluster();
}

static void test_a_stall_ends_all_requests(void **state) {
    struct silken_config config = small_config(2);
    struct silken_request *requests[3];
    static int32_t values[3][1000];

    (void)state;
    config.stall_warning_ms = 0;
    config.hard_limit_ms = 50;
    config.progress_thread = true;
    for (config.lanes = 1; config.lanes < 4; config.lanes++) {
        cluster_start(&cluster, &config, NULL);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(
                0, silken_submit_i32(cluster.comm[1], values[i], values[i], 1000, &requests[i]));
        }
        for (int i = 0; i < 3; i++)
            assert_int_equal(SILKEN_ERR_STALLED, silken_wait(requests[i]));
        assert_int_equal(SILKEN_ERR_CLOSED,
                         silken_allreduce_i32(cluster.comm[1], values[0], values[0], 1000));
        stop_cluster();
    }
}

// Without anybody at the other end of the ring.
static void test_a_transport_that_takes_nothing_is_named(void **state) {
    struct silken_config config = small_config(2);
    struct sk_transport *ends[2];
    struct silken_comm *comm;
    static int32_t values[10000];

    (void)state;
    assert_int_equal(0, sk_transport_ring_open(ends, 4));
    config.worker_mac = "02:00:00:00:01:00", config.worker_ip = "10.0.0.1";
    config.switch_mac = "02:00:00:00:00:fe", config.switch_ip = "10.0.0.254";
    config.transport = ends[0];
    config.hard_limit_ms = 30;
    assert_int_equal(0, silken_open(&comm, &config, NULL, 0));
    assert_int_equal(SILKEN_ERR_STALLED, silken_allreduce_i32(comm, values, values, 10000));
    assert_non_null(strstr(said, "The transport (ring) does not accept frames, 28 wait"));
    silken_close(comm);
    sk_transport_close(ends[1]);
}

// ---- configuration -----------------------------------------------------------------------------

static void check_refused(struct silken_config config, int code, const char *says) {
    struct silken_comm *comm;
    char why[256] = "";

    assert_int_equal(code, silken_open(&comm, &config, why, sizeof why));
    if (!strstr(why, says))
        fail_msg("\"%s\" does not say \"%s\"", why, says);
}

static void test_bad_configurations(void **state) {
    struct silken_config good = small_config(2), bad;

    (void)state;
    good.worker_mac = "02:00:00:00:01:00";
    good.worker_ip = "10.0.0.1";
    good.switch_mac = "02:00:00:00:00:fe";
    good.switch_ip = "10.0.0.254";
    check_refused(good, SILKEN_ERR_INVALID, "neither a device nor a transport");
    bad = good, bad.worker_mac = "02:00:00:00:01";
    check_refused(bad, SILKEN_ERR_INVALID, "addresses");
    bad = good, bad.switch_ip = "10.0.0.256";
    check_refused(bad, SILKEN_ERR_INVALID, "addresses");
    bad = good, bad.switch_ip = "10.0.0.1 ";
    check_refused(bad, SILKEN_ERR_INVALID, "addresses");
    bad = good, bad.rank = 2;
    check_refused(bad, SILKEN_ERR_INVALID, "rank");
    bad = good, bad.k = 100;
    check_refused(bad, SILKEN_ERR_INVALID, "packet size");
    bad = good, bad.device = "nonsense";
    check_refused(bad, SILKEN_ERR_INVALID, "a device starts with");
    bad = good, bad.lanes = 2;
    check_refused(bad, SILKEN_ERR_INVALID, "if there are several, each must be described");
    bad.lanes = SILKEN_MAX_LANES + 1;
    check_refused(bad, SILKEN_ERR_INVALID, "1 to 64 lanes");
    bad.lanes = 33, bad.lane = (struct silken_lane[33]){{0}};
    check_refused(bad, SILKEN_ERR_INVALID, "32 slots is not enough for 33 lanes");
    assert_int_equal(SILKEN_ERR_INVALID,
                     silken_open(&(struct silken_comm *){NULL}, &good, NULL, 0));
}

static void test_bad_arguments(void **state) {
    struct silken_config config = small_config(1);
    float value = 0;

    (void)state;
    cluster_start(&cluster, &config, NULL);
    assert_int_equal(SILKEN_ERR_INVALID, silken_allreduce_f32(cluster.comm[0], NULL, &value, 1));
    assert_int_equal(SILKEN_ERR_INVALID, silken_allreduce_f32(cluster.comm[0], &value, NULL, 1));
    assert_int_equal(SILKEN_ERR_INVALID,
                     silken_allreduce_f32(cluster.comm[0], &value, &value, SIZE_MAX));
    assert_int_equal(0, silken_allreduce_f32(cluster.comm[0], &value, &value, 1));
    stop_cluster();
}

static void test_names(void **state) {
    (void)state;
    assert_null(silken_ignored_name(SILKEN_SWITCHML, 0));
    assert_string_equal("foreign", silken_ignored_name(SILKEN_SWITCHML, 1));
    assert_string_equal("foreign", silken_ignored_name(SILKEN_ATP, 1));
    assert_null(silken_ignored_name(SILKEN_SWITCHML, SILKEN_IGNORED_KINDS));
    assert_null(silken_ignored_name(SILKEN_ATP, SILKEN_IGNORED_KINDS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_by_calling_threads),
        cmocka_unit_test(test_sums_by_progress_threads),
        cmocka_unit_test(test_one_worker_alone),
        cmocka_unit_test(test_sums_over_a_bad_network),
        cmocka_unit_test(test_sums_by_lanes),
        cmocka_unit_test(test_sums_by_lanes_over_a_bad_network),
        cmocka_unit_test(test_lanes_share_short_tensors),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_many_threads_on_one_communicator),
        cmocka_unit_test(test_close_with_work_in_flight),
        cmocka_unit_test(test_a_missing_worker_is_reported_and_ends_the_job),
        cmocka_unit_test(test_a_stall_ends_all_requests),
        cmocka_unit_test(test_a_transport_that_takes_nothing_is_named),
        cmocka_unit_test(test_bad_configurations),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
