// SPDX-License-Identifier: Apache-2.0
//
// The demo's training without a switch: workers as threads, their all-reduce a barrier and a sum.
// Good sums pass and give the reference's weights within quantisation; a sum that is wrong in one
// element, or that arrives too early, is found and named.
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/demo/rng.h"
#include "cli/demo/worker_proc.h"

#define WORKERS 4
#define IMAGES  100
#define BLOCK   256
#define STEPS   12

enum fault { NONE, ONE_ELEMENT, TOO_EARLY, REFUSED };

struct meeting {
    pthread_barrier_t barrier;
    enum fault fault;
    const float *tensor[WORKERS];
};

struct member {
    struct meeting *meeting;
    struct worker_job job;
    unsigned calls;
    int failed;
    char error[512];
};

static struct dataset make_set(void) {
    struct dataset set = {
        .count = IMAGES, .pixels = calloc(IMAGES, DATASET_PIXELS), .labels = calloc(IMAGES, 1)};
    struct rng r = {1};

    assert_non_null(set.pixels);
    assert_non_null(set.labels);
    for (size_t i = 0; i < IMAGES; i++) {
        set.labels[i] = (uint8_t)rng_below(&r, DATASET_CLASSES);
        for (size_t p = 0; p < DATASET_PIXELS; p++) {
            bool bright = p / DATASET_SIDE / 2 == set.labels[i];
            set.pixels[i * DATASET_PIXELS + p] = (uint8_t)(rng_below(&r, 60) + bright * 180);
        }
    }
    return set;
}

static double block_factor(const struct meeting *m, size_t from, size_t to) {
    double largest = 0x1p-100;
    int exponent;

    for (unsigned w = 0; w < WORKERS; w++) {
        for (size_t i = from; i < to; i++) {
            largest = fmax(largest, fabs((double)m->tensor[w][i]));
        }
    }
    frexp(largest, &exponent);
    return (0x1p31 - 1) / (WORKERS * ldexp(1, exponent));
}

// Quantised block by block, as SwitchML does it.
static void add_up(const struct meeting *m, float *sum, size_t n) {
    double f = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t total = 0;
        if (i % BLOCK == 0) {
            f = block_factor(m, i, i + BLOCK < n ? i + BLOCK : n);
        }
        for (unsigned w = 0; w < WORKERS; w++) {
            total += llrint((double)m->tensor[w][i] * f);
        }
        sum[i] = (float)((double)total / f);
    }
}

static int fake_sum(void *self, float *tensor, size_t n, char *error, size_t error_size) {
    struct member *x = self;
    struct meeting *m = x->meeting;
    float *sum;

    x->calls++;
    if (m->fault == TOO_EARLY && x->calls == 2) {
        return 0; // for every worker: whoever comes first must see it
    }
    if (m->fault == REFUSED) {
        snprintf(error, error_size, "no route to the switch");
        return -1;
    }
    m->tensor[x->job.rank] = tensor;
    pthread_barrier_wait(&m->barrier);
    sum = malloc(n * sizeof *sum);
    assert_non_null(sum);
    add_up(m, sum, n);
    pthread_barrier_wait(&m->barrier);
    memcpy(tensor, sum, n * sizeof *sum);
    free(sum);
    if (m->fault == ONE_ELEMENT && x->calls == 3) {
        tensor[777] += 1e-3f;
    }
    return 0;
}

static void fake_counts(void *self, struct reduce_counts *out) {
    struct member *x = self;
    *out = (struct reduce_counts){.sent = x->calls, .answers = x->calls};
}

static void *run_member(void *argument) {
    struct member *x = argument;
    struct reducer r = {.self = x, .block = BLOCK, .sum = fake_sum, .counts = fake_counts};

    x->failed = worker_train(&x->job, &r, x->error, sizeof x->error);
    return NULL;
}

static void train(struct member members[WORKERS], struct board *board, const struct dataset *set,
                  enum fault fault) {
    struct train_plan plan = {.shards = WORKERS, .batch = 30, .steps = STEPS, .seed = 5};
    struct meeting m = {.fault = fault};
    pthread_t thread[WORKERS];

    pthread_barrier_init(&m.barrier, NULL, WORKERS);
    for (unsigned w = 0; w < WORKERS; w++) {
        members[w] = (struct member){.meeting = &m, .job = {plan, set, board, w}};
        assert_int_equal(0, pthread_create(&thread[w], NULL, run_member, &members[w]));
    }
    for (unsigned w = 0; w < WORKERS; w++) {
        pthread_join(thread[w], NULL);
    }
    pthread_barrier_destroy(&m.barrier);
}

static double largest_difference(const float *a, const float *b) {
    double largest = 0;

    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
    }
    return largest;
}

static void test_good_sums(void **state) {
    struct dataset set = make_set();
    struct board *board = board_new(WORKERS);
    struct member members[WORKERS];
    char error[512];

    (void)state;
    train(members, board, &set, NONE);
    for (unsigned w = 0; w < WORKERS; w++) {
        if (members[w].failed) {
            fail_msg("%s", members[w].error);
        }
        assert_int_equal(STEPS, board->status[w].finished);
        assert_int_equal(STEPS * MODEL_PARAMS, board->status[w].tally.sums);
        assert_int_equal(0, board->status[w].tally.failed);
        assert_memory_equal(board_weights(board, 0), board_weights(board, w),
                            MODEL_PARAMS * sizeof(float));
    }
    assert_int_equal(0, reference_train(&members[0].job, error, sizeof error));
    assert_true(largest_difference(board_weights(board, 0), board_weights(board, WORKERS)) < 1e-4);
    board_free(board);
    dataset_free(&set);
}

static void expect_all_fail(enum fault fault, const char *sentence) {
    struct dataset set = make_set();
    struct board *board = board_new(WORKERS);
    struct member members[WORKERS];

    train(members, board, &set, fault);
    for (unsigned w = 0; w < WORKERS; w++) {
        assert_int_equal(-1, members[w].failed);
        if (!strstr(members[w].error, sentence)) {
            fail_msg("expected '%s' in: %s", sentence, members[w].error);
        }
    }
    board_free(board);
    dataset_free(&set);
}

static void test_one_wrong_element(void **state) {
    (void)state;
    expect_all_fail(ONE_ELEMENT, "step 2: element 777 (packet 3) of the sum is");
}

static void test_refused(void **state) {
    (void)state;
    expect_all_fail(REFUSED, "no route to the switch");
}

// One worker gets its own tensor back before the others have sent theirs.
static void test_sum_before_its_parts(void **state) {
    struct dataset set = make_set();
    struct board *board = board_new(WORKERS);
    struct meeting m = {.fault = TOO_EARLY};
    struct member x = {.meeting = &m,
                       .calls = 1,
                       .job = {.plan = {.shards = WORKERS, .batch = 30, .steps = 1},
                               .set = &set,
                               .board = board,
                               .rank = 2}};

    (void)state;
    run_member(&x);
    assert_int_equal(-1, x.failed);
    assert_non_null(strstr(x.error, "before worker 0 had sent its part"));
    board_free(board);
    dataset_free(&set);
}

// Shards of a batch are disjoint and cover it, whatever the number of workers: the sum of their
// gradients is that of the batch as one shard.
static void test_shards_make_up_the_batch(void **state) {
    struct dataset set = make_set();
    struct train_plan one = {.shards = 1, .batch = 31, .steps = 4, .seed = 9}, seven = one;
    struct trainer *a, *b;
    float *whole = malloc(MODEL_PARAMS * sizeof *whole),
          *part = malloc(MODEL_PARAMS * sizeof *part);
    double *sum = calloc(MODEL_PARAMS, sizeof *sum);
    struct model_score score;
    size_t images = 0;

    (void)state;
    seven.shards = 7;
    a = trainer_new(&one, &set);
    b = trainer_new(&seven, &set);
    train_gradient(a, 3, 0, whole, &score); // of the second epoch
    for (unsigned shard = 0; shard < 7; shard++) {
        train_gradient(b, 3, shard, part, &score);
        images += score.images;
        for (size_t i = 0; i < MODEL_PARAMS; i++) {
            sum[i] += (double)part[i];
        }
    }
    assert_int_equal(31, images);
    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        assert_true(fabs(sum[i] - (double)whole[i]) < 1e-6);
    }
    trainer_free(a);
    trainer_free(b);
    free(sum);
    free(part);
    free(whole);
    dataset_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_sums),
        cmocka_unit_test(test_one_wrong_element),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sum_before_its_parts),
        cmocka_unit_test(test_shards_make_up_the_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
