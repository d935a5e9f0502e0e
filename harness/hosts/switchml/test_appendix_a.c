// SPDX-License-Identifier: Apache-2.0
//
// The example execution of SwitchML's appendix A (figure 8), event by event: three workers, one
// slot x, two chunks; the update of worker 3 is lost on the way up, an answer to worker 1 on the
// way down. Then the limit of the algorithm: what an update does that is overtaken by its worker's
// next one for the same slot.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/switchml/answer.h"
#include "harness/hosts/model_switch.h"
#include "harness/hosts/netsim.h"

#define K       64
#define LEN     (SWML_HEADER_BYTES + 4 * K)
#define W       3
#define TIMEOUT 100

// A frame somewhere on its way; its length is 0 if no frame is there.
struct packet {
    size_t len;
    uint8_t bytes[SWML_MAX_FRAME];
};

static struct switch_under_test sut;
static struct swml_worker *workers[W];
static int32_t in[W][4 * K], out[W][4 * K];
static struct packet answers[W]; // the last that the switch has emitted for each worker
static unsigned emitted;         // frames of the last delivery

static void catch (void *context, unsigned port, const uint8_t *frame, size_t len) {
    (void)context;
    assert_true(port < W && len == LEN);
    answers[port].len = len;
    memcpy(answers[port].bytes, frame, len);
    emitted++;
}

// Worker w sends; exactly one packet is there to be sent.
static struct packet sends(unsigned w, uint64_t now) {
    struct packet p, none;

    p.len = swml_worker_write(workers[w], p.bytes, sizeof p.bytes, now);
    assert_int_equal(LEN, p.len);
    assert_int_equal(0, swml_worker_write(workers[w], none.bytes, sizeof none.bytes, now));
    return p;
}

static void times_out(unsigned w, uint64_t now) {
    assert_true(swml_worker_deadline(workers[w]) <= now);
    assert_int_equal(0, swml_worker_expire(workers[w], now));
}

// The packet of worker w reaches the switch, which answers 'copies' times.
static void reaches_switch(unsigned w, const struct packet *p, unsigned copies) {
    emitted = 0;
    memset(answers, 0, sizeof answers);
    sut.deliver(sut.state, w, p->bytes, p->len, 0, catch, NULL);
    assert_int_equal(copies, emitted);
}

static void reaches_worker(unsigned w, const struct packet *p, uint64_t now) {
    assert_int_equal(LEN, p->len);
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(workers[w], p->bytes, p->len, now));
}

static void check_result(unsigned w, unsigned chunk) {
    for (unsigned i = chunk * K; i < (chunk + 1) * K; i++)
        assert_int_equal(in[0][i] + in[1][i] + in[2][i], out[w][i]);
}

static unsigned version_of(const struct packet *p) {
    return answer_get16(p->bytes, AT_POOL_INDEX) >> 15;
}

static void make_worker(unsigned w, const struct sut_job *job) {
    struct swml_config config = netsim_default_worker();
    struct swml_tensor tensor = {.type = SWML_I32, .in = in[w], .out = out[w], .count = 4 * K};

    config.flow = job->flow[w];
    config.rank = w;
    config.workers = W;
    config.pool_size = 1; // the slot is x
    config.rto_initial = config.rto_min = config.rto_max = TIMEOUT;
    assert_int_equal(0, swml_worker_new(&workers[w], &config, NULL));
    for (int i = 0; i < 4 * K; i++) {
        in[w][i] = (int32_t)(w + 1) * 1000 + i;
        out[w][i] = -1;
    }
    assert_int_equal(0, swml_worker_submit(workers[w], &tensor, 0));
}

static int set_up(void **state) {
    struct sut_job job = netsim_default_job(W, K, 0, 1);

    (void)state;
    sut = model_switch_new();
    assert_int_equal(0, sut.reset(sut.state, &job));
    for (unsigned w = 0; w < W; w++)
        make_worker(w, &job);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (unsigned w = 0; w < W; w++)
        swml_worker_free(workers[w]);
    sut.free(sut.state);
    return 0;
}

static void test_appendix_a(void **state) {
    struct packet p1, p2, p3, again, lost, unicast, blue[W];

    (void)state;
    p1 = sends(0, 0); // t0: w1 sends its update for slot x
    reaches_switch(0, &p1, 0);
    p2 = sends(1, 1); // t1: w2
    reaches_switch(1, &p2, 0);
    lost = sends(2, 2); // t2: w3; lost at t3
    assert_int_equal(0, version_of(&lost));

    times_out(0, 100); // t4: w1 sends it again; the switch ignores it
    again = sends(0, 100);
    assert_memory_equal(p1.bytes, again.bytes, LEN);
    reaches_switch(0, &again, 0);
    times_out(1, 101); // t5: so does w2
    again = sends(1, 101);
    reaches_switch(1, &again, 0);
    times_out(2, 102); // t6: w3 too; its update completes the slot: three answers
    p3 = sends(2, 102);
    assert_memory_equal(lost.bytes, p3.bytes, LEN);
    reaches_switch(2, &p3, 3);
    memcpy(blue, answers, sizeof blue);
    // t7: the answer to w1 is lost
    reaches_worker(1, &blue[1], 110); // t9: w2 gets the result, t10: w3
    reaches_worker(2, &blue[2], 111);
    check_result(1, 0);
    check_result(2, 0);

    p2 = sends(1, 112); // t12: w2 goes on in the other version, t13: w3
    p3 = sends(2, 113);
    assert_int_equal(1, version_of(&p2));
    times_out(0, 300); // t8: w1 sends for the third time, and is answered alone
    again = sends(0, 300);
    assert_memory_equal(p1.bytes, again.bytes, LEN);
    reaches_switch(0, &again, 1);
    unicast = answers[0];
    reaches_switch(1, &p2, 0);
    reaches_switch(2, &p3, 0);

    reaches_worker(0, &unicast, 310); // t11: the answer arrives
    check_result(0, 0);
    p1 = sends(0, 311); // t14: w1 goes on too
    assert_int_equal(1, version_of(&p1));
    reaches_switch(0, &p1, 3); // t15: which completes the next chunk
    memcpy(blue, answers, sizeof blue);
    for (unsigned w = 0; w < W; w++) {
        reaches_worker(w, &blue[w], 320);
        check_result(w, 1);
        p1 = sends(w, 321); // and the versions change places again
        assert_int_equal(0, version_of(&p1));
    }
}

// The same with t8 after t12 and t13 have reached the switch: the shadow copy still has w1's
// result.
static void test_shadow_copy_survives_the_next_chunk(void **state) {
    struct packet first[W], next[2];

    (void)state;
    for (unsigned w = 0; w < W; w++) {
        first[w] = sends(w, 0);
        reaches_switch(w, &first[w], w == W - 1 ? 3 : 0);
    }
    for (unsigned w = 1; w < W; w++) {
        struct packet result = answers[w];
        reaches_worker(w, &result, 10);
        next[w - 1] = sends(w, 10);
    }
    reaches_switch(1, &next[0], 0);
    reaches_switch(2, &next[1], 0);
    reaches_switch(0, &first[0], 1);
    reaches_worker(0, &answers[0], 20);
    check_result(0, 0);
}

// Appendix C's condition is needed: an old copy of an update that arrives after its worker's next
// update for the slot is taken for a new one. netsim keeps the condition; networks have to.
static void test_an_overtaken_update_is_the_algorithms_limit(void **state) {
    struct packet first[W];

    (void)state;
    for (unsigned w = 0; w < W; w++) {
        first[w] = sends(w, 0);
        reaches_switch(w, &first[w], w == W - 1 ? 3 : 0);
    }
    for (unsigned w = 0; w < W; w++)
        reaches_worker(w, &answers[w], 10);
    for (unsigned w = 0; w < W; w++) {
        struct packet next = sends(w, 10);
        reaches_switch(w, &next, w == W - 1 ? 3 : 0);
    }
    reaches_switch(0, &first[0], 0); // not answered, as a repeated update would be: it counts
    for (unsigned w = 1; w < W; w++)
        reaches_switch(w, &first[w], w == W - 1 ? 3 : 0); // and so it goes on
}

int main(void) {
#define SLOT_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        SLOT_TEST(test_appendix_a),
        SLOT_TEST(test_shadow_copy_survives_the_next_chunk),
        SLOT_TEST(test_an_overtaken_update_is_the_algorithms_limit),
    };
#undef SLOT_TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
