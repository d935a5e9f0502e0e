// SPDX-License-Identifier: Apache-2.0
//
// SwitchML's jobs over the end of the switch's process: workers of hosts/switchml sum tensors
// through a rig, which is thrown away in the middle, with packets in it, and is another one then.
// Frames get lost, too. All sums are right in the end, and nobody but a job's workers has a say.
#include "harness/control/tor/jobs.h"

#include <unistd.h>

#include "control/tor/jobs_impl.h"
#include "hosts/switchml/worker.h"

#define K        32u
#define SLOTS    16u
#define WORKERS  3u
#define BLOCKS   50u
#define ELEMENTS (BLOCKS * K - 5)
#define TENSORS  6u
#define US       UINT64_C(1000)
#define MS       UINT64_C(1000000)

static char folder[] = "/tmp/silken-resume-XXXXXX", section[8192];

// ---- workers ----

static const uint16_t port_of_worker[WORKERS] = {A, B, C};

struct training {
    struct rig *r;
    struct swml_worker *workers[WORKERS];
    size_t submitted[WORKERS], done[WORKERS];
    void *memory[WORKERS][TENSORS]; // int32_t or, of every other tensor, float
    bool asleep[WORKERS];           // computes, and reads nothing
    uint64_t now;
    unsigned lose; // of 100 frames
    uint32_t random;
    uint64_t lost, frames, again; // 'again': a worker is asked for what another one misses
    bool collectives, to_one;     // some tensors are not for all, or all are for one worker
    bool deaf[WORKERS];           // what is sent to it is lost
};

static enum swml_reach reach_of(const struct training *t, unsigned tensor) {
    static const enum swml_reach reaches[] = {SWML_FROM_ONE, SWML_ALL, SWML_NONE, SWML_ALL};
    if (!t->collectives)
        return SWML_ALL;
    return t->to_one ? SWML_TO_ONE : reaches[tensor % 4];
}

// What worker 'v' adds to tensors of integers: a root alone, or all.
static bool adds(enum swml_reach reach, unsigned tensor, unsigned v) {
    return reach == SWML_ALL || reach == SWML_TO_ONE ||
           (reach == SWML_FROM_ONE && v == tensor % WORKERS);
}

static bool gets(enum swml_reach reach, unsigned tensor, unsigned w) {
    return reach == SWML_ALL || (reach == SWML_TO_ONE && w == tensor % WORKERS) ||
           (reach == SWML_FROM_ONE && w != tensor % WORKERS);
}

static uint32_t next_random(struct training *t) {
    t->random = t->random * 1664525 + 1013904223;
    return t->random >> 8;
}

static void make_worker(struct training *t, unsigned w) {
    struct swml_config config = {
        .flow = {.worker = {.ip = HOST_IP(2 + w), .port = 0xbee0},
                 .fabric = {.ip = SWITCH_IP, .port = 0xbee0},
                 .job = 7,
                 .k = K},
        .rank = w,
        .workers = WORKERS,
        .pool_size = SLOTS,
        .rto_initial = 20 * MS,
        .rto_min = 20 * MS,
        .rto_max = 80 * MS,
        .stall_warning = SWML_NEVER,
        .hard_limit = SWML_NEVER,
    };
    eth_address(config.flow.worker.mac, 2 + w);
    eth_address(config.flow.fabric.mac, ETH_OWN);
    assert_int_equal(swml_worker_new(&t->workers[w], &config, NULL), 0);
}

static int32_t value(unsigned w, unsigned tensor, unsigned i) {
    return (int32_t)(i * 3 + tensor * 1000 + w * 100000);
}

// In place, as training does: what was there is gone.
static void submit(struct training *t, unsigned w) {
    const unsigned n = (unsigned)t->submitted[w]++;
    int32_t *integers = malloc(ELEMENTS * sizeof *integers);
    float *floats = (float *)integers;
    assert_non_null(integers);
    for (unsigned i = 0; i < ELEMENTS; i++)
        if (n % 2)
            floats[i] = (float)value(w, n, i) / 8;
        else
            integers[i] = value(w, n, i);
    t->memory[w][n] = integers;
    const struct swml_tensor tensor = {.type = n % 2 ? SWML_F32 : SWML_I32,
                                       .in = integers,
                                       .out = integers,
                                       .count = ELEMENTS,
                                       .reach = reach_of(t, n),
                                       .who = n % WORKERS};
    assert_int_equal(swml_worker_submit(t->workers[w], &tensor, t->now), 0);
}

// Floats are numbers of 20 bits, which SwitchML has exactly.
static void check(const struct training *t, unsigned w, unsigned tensor) {
    const enum swml_reach reach = reach_of(t, tensor);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        int32_t sum = gets(reach, tensor, w) ? 0 : value(w, tensor, i); // else what it had
        for (unsigned v = 0; v < WORKERS && gets(reach, tensor, w); v++)
            sum += adds(reach, tensor, v) ? value(v, tensor, i) : 0;
        const double is = tensor % 2 ? (double)((float *)t->memory[w][tensor])[i] * 8
                                     : (double)((int32_t *)t->memory[w][tensor])[i];
        if (is != sum)
            fail_msg("worker %u, tensor %u, element %u: %f, not %d", w, tensor, i, is, sum);
    }
}

static bool is_lost(struct training *t) {
    const bool lost = next_random(t) % 100 < t->lose;
    t->frames++;
    t->lost += lost;
    return lost;
}

static void read_all(struct training *t, unsigned w) {
    uint8_t f[RIG_FRAME];
    void *cookie;
    for (size_t n; (n = rig_take(t->r, port_of_worker[w], f)) > 0;)
        if (!is_lost(t)) {
            t->again += get(f + 36, 2) == 0xbee0 && get(f + 34, 2) == 0xbedf && f[HEAD] >> 4 == 4;
            swml_worker_read(t->workers[w], f, n, t->now);
        }
    while (swml_worker_done(t->workers[w], &cookie)) {
        check(t, w, (unsigned)t->done[w]++);
    }
}

static void lose_all(struct training *t, unsigned w) {
    uint8_t f[RIG_FRAME];
    while (rig_take(t->r, port_of_worker[w], f) > 0) {
    }
}

// Some packets of a worker; what comes back waits at its port.
static void write_some(struct training *t, unsigned w, unsigned most) {
    uint8_t f[SWML_MAX_FRAME];
    size_t n;
    swml_worker_expire(t->workers[w], t->now);
    while (most-- > 0 && (n = swml_worker_write(t->workers[w], f, sizeof f, t->now)) > 0)
        if (!is_lost(t))
            rig_send(t->r, port_of_worker[w], f, n);
}

static void step(struct training *t) {
    for (unsigned w = 0; w < WORKERS; w++) {
        if (t->asleep[w])
            continue;
        if (t->deaf[w])
            lose_all(t, w);
        else if (next_random(t) % 4)
            read_all(t, w);
        write_some(t, w, next_random(t) % 12);
    }
    t->now += MS;
    rig_wait(t->r, 1);
}

// Steps until that many milliseconds are over, or all tensors are there, each worker with two in
// flight.
static bool run(struct training *t, unsigned ms) {
    for (unsigned i = 0; i < ms; i++) {
        bool all = true;
        for (unsigned w = 0; w < WORKERS; w++) {
            while (!t->asleep[w] && t->submitted[w] < TENSORS &&
                   t->submitted[w] < t->done[w] + 1 + w % 2)
                submit(t, w);
            all &= t->done[w] == TENSORS;
        }
        if (all)
            return true;
        step(t);
    }
    return false;
}

static void free_training(struct training *t) {
    for (unsigned w = 0; w < WORKERS; w++) {
        for (size_t i = 0; i < t->submitted[w]; i++)
            free(t->memory[w][i]);
        swml_worker_free(t->workers[w]);
    }
    rig_free(t->r);
    free(t);
}

// ---- the switch ----

#define THREE TWO ", \"c:10.0.10.4\""
#define ONE   SML("one", THREE, ", \"slots\": 16, \"number\": 7")

static struct rig *begin(void) {
    struct rig *r = rig_new_with("p4/rack/rack.p4", PORTS, section);
    rig_forget(r);
    return r;
}

static void killed(struct training *t) {
    const unsigned lose = t->lose;
    t->lose = 50; // what is in sockets is read yet, or was lost with it
    for (unsigned w = 0; w < WORKERS; w++) {
        if (t->deaf[w])
            lose_all(t, w);
        read_all(t, w);
    }
    t->lose = lose;
    rig_free(t->r);
    t->r = begin();
}

static void set_section(const char *with) {
    snprintf(section, sizeof section, "%.*s, \"state\": \"%s/jobs.json\"}", (int)strlen(with) - 1,
             with, folder);
}

static struct training *train(unsigned seed, unsigned lose, const char *job) {
    struct training *t = calloc(1, sizeof *t);
    assert_non_null(t);
    char path[80];
    snprintf(path, sizeof path, "%s/jobs.json", folder);
    unlink(path);
    set_section(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    t->random = seed;
    t->lose = lose;
    t->r = begin();
    if (job)
        add(t->r, job);
    for (unsigned w = 0; w < WORKERS; w++)
        make_worker(t, w);
    return t;
}

static bool is_resuming(struct rig *r) {
    json_t *j = job(r, "one");
    const bool is = json_object_get(j, "resuming") != NULL;
    json_decref(j);
    return is;
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

// ---- tests ----

static uint64_t questions(const struct training *t) {
    uint64_t n = 0;
    for (unsigned w = 0; w < WORKERS; w++)
        n += swml_worker_stats(t->workers[w]).asked;
    return n;
}

// Again and again, at any moment, also before the last time is over.
static void test_killed_in_the_middle(void **state) {
    (void)state;
    uint64_t again = 0;
    for (unsigned seed = 1; seed <= 3; seed++) {
        struct training *t = train(seed, seed % 2 ? 0 : 10, ONE);
        unsigned kills = 0, resumed = 0;
        while (!run(t, 5 + next_random(t) % 40) && kills < 3) {
            killed(t);
            kills++;
            assert_true(is_resuming(t->r));
        }
        assert_int_equal(kills, 3);
        if (!run(t, 20000))
            fail_msg("seed %u: it stands still", seed);
        resumed = (unsigned)rig_events(t->r, "job");
        assert_int_equal(resumed, 1);
        assert_false(is_resuming(t->r));
        assert_int_equal(rig_events(t->r, "alarm"), 0);
        again += t->again;
        print_message("seed %u: %llu frames, %llu of them lost, %llu questions, %llu for sums\n",
                      seed, (unsigned long long)t->frames, (unsigned long long)t->lost,
                      (unsigned long long)questions(t), (unsigned long long)t->again);
        free_training(t);
    }
    assert_true(again > 0);
}

// Broadcasts and barriers between the sums: a root tells what it has sent.
static void test_killed_in_collective_operations(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 3; seed++) {
        struct training *t = train(seed, seed % 2 ? 0 : 10, ONE);
        t->collectives = true;
        for (unsigned kills = 0; kills < 3; kills++) {
            if (run(t, 5 + next_random(t) % 40))
                break;
            killed(t);
        }
        if (!run(t, 20000))
            fail_msg("seed %u: it stands still", seed);
        assert_false(is_resuming(t->r));
        free_training(t);
    }
}

// A sum for one worker that misses it while others know that it is complete is in nobody's memory:
// then nobody goes on, and there are no other sums. Who has its sum tells those who do not know
// that it is complete. Tensor 0 is for worker 0.
static void test_killed_in_sums_to_one(void **state) {
    (void)state;
    for (unsigned deaf = 0; deaf < 2; deaf++) {
        struct training *t = train(5, 0, ONE);
        t->collectives = t->to_one = true;
        for (unsigned w = 0; w < WORKERS; w++)
            t->deaf[w] = (w > 0) == deaf;
        assert_false(run(t, 100));
        killed(t);
        memset(t->deaf, 0, sizeof t->deaf);
        if (deaf) {
            assert_true(run(t, 20000));
            assert_false(is_resuming(t->r));
            assert_int_equal(swml_worker_stats(t->workers[0]).ignored[SWML_NOT_KEPT], 0);
        } else {
            assert_false(run(t, 3000));
            assert_true(is_resuming(t->r));
            assert_int_equal(t->done[0], 0);
            assert_true(swml_worker_stats(t->workers[1]).ignored[SWML_NOT_KEPT] > 0);
            assert_true(swml_worker_stats(t->workers[2]).ignored[SWML_NOT_KEPT] > 0);
        }
        free_training(t);
    }
}

// The same without the mechanism: slots begin empty at once, and those who are a use behind wait
// for ever.
static void test_not_without_it(void **state) {
    (void)state;
    bool stuck = false;
    for (unsigned seed = 1; seed <= 6 && !stuck; seed++) {
        struct training *t =
            train(seed, 10, SML("one", THREE, ", \"slots\": 16, \"number\": 7, \"resume\": false"));
        run(t, 10 + next_random(t) % 40);
        killed(t);
        assert_false(is_resuming(t->r));
        for (unsigned i = 0; i < 5000 && !stuck;
             i += 100) { // wrong sums come, too, and are not looked at
            size_t before = t->done[0] + t->done[1] + t->done[2];
            for (unsigned w = 0; w < WORKERS; w++)
                for (unsigned n = 0; n < 100; n++)
                    swml_worker_expire(t->workers[w], t->now);
            stuck = before < 3 * TENSORS && i >= 4900;
            for (unsigned w = 0; w < WORKERS; w++) {
                uint8_t f[RIG_FRAME];
                size_t length;
                void *cookie;
                while ((length = rig_take(t->r, port_of_worker[w], f)) > 0)
                    swml_worker_read(t->workers[w], f, length, t->now);
                while (swml_worker_done(t->workers[w], &cookie))
                    t->done[w]++;
                while (t->submitted[w] < TENSORS && t->submitted[w] <= t->done[w])
                    submit(t, w);
                write_some(t, w, 100);
            }
            t->now += 100 * MS;
            rig_wait(t->r, 100);
        }
        free_training(t);
    }
    assert_true(stuck);
}

// A worker that computes does not answer, and nobody goes on without it.
static void test_a_worker_that_computes(void **state) {
    struct training *t = train(9, 0, ONE);
    json_t *j;
    (void)state;
    assert_false(run(t, 20));
    t->asleep[1] = true;
    killed(t);
    assert_false(run(t, 3000));
    j = job(t->r, "one");
    assert_string_equal(
        json_string_value(json_object_get(j, "resuming")),
        "the switch was restarted, and waits for workers to report their progress: 1");
    json_decref(j);
    assert_int_equal(rig_events(t->r, "alarm"), 0);
    assert_false(run(t, 28000));
    assert_int_equal(rig_events(t->r, "alarm"), 1);
    assert_non_null(strstr(rig_last_alarm(t->r), "waits for workers to report their progress: 1"));
    t->asleep[1] = false;
    assert_true(run(t, 20000));
    assert_int_equal(rig_events(t->r, "alarm"), 2);
    assert_true(json_is_false(json_object_get(rig_event(t->r, "alarm"), "on")));
    free_training(t);
}

// Workers of another run: nothing is added up until all are of the same.
static void test_a_worker_that_began_anew(void **state) {
    struct training *t = train(10, 0, ONE);
    (void)state;
    while (t->done[0] < 1 || t->done[1] < 1 || t->done[2] < 1)
        assert_false(run(t, 5));
    swml_worker_free(t->workers[2]);
    make_worker(t, 2);
    killed(t);
    run(t, 3000);
    assert_true(is_resuming(t->r));
    assert_int_equal(rig_events(t->r, "alarm"), 1);
    assert_non_null(strstr(rig_last_alarm(t->r), "they do not belong to one run"));
    // the others, too
    for (unsigned w = 0; w < WORKERS; w++) {
        swml_worker_free(t->workers[w]);
        make_worker(t, w);
        while (t->submitted[w] > 0)
            free(t->memory[w][--t->submitted[w]]);
        t->done[w] = 0;
    }
    assert_true(run(t, 20000));
    assert_int_equal(rig_events(t->r, "job"), 1);
    assert_true(json_is_false(json_object_get(rig_event(t->r, "alarm"), "on")));
    free_training(t);
}

// Whoever is not the worker at its port is not heard: not with its address, not with another's, not
// about another job.
static void forged(struct training *t, uint16_t port, uint32_t host, uint32_t dst,
                   unsigned from_port, unsigned to_port, unsigned number, unsigned type) {
    uint8_t f[HEAD + 10 + 4 * K] = {0};
    head(f, ETH_OWN, host, dst, 0, 10 + 4 * K);
    eth_address(f + 6, port == A ? 2 : 5); // or everybody would see that it moves
    put(f + 34, 2, from_port);
    put(f + 36, 2, to_port);
    put(f + HEAD, 2, type << 12 | number);
    put(f + HEAD + 2, 4, SLOTS);
    for (unsigned i = 0; i < K; i++)
        put(f + HEAD + 10 + 4 * i, 4, 1000 + i);
    rig_send(t->r, port, f, sizeof f);
}

static void test_forged(void **state) {
    struct training *t = train(11, 0, ONE);
    uint8_t got[RIG_FRAME];
    (void)state;
    assert_false(run(t, 20));
    killed(t);
    for (unsigned i = 0; i < 60; i++) {
        forged(t, X, 2, SWITCH_IP, 0xbee0, 0xbedf, 7, 3); // at another port
        forged(t, X, 5, SWITCH_IP, 0xbee0, 0xbedf, 7, 3); // with its own address
        forged(t, A, 3, SWITCH_IP, 0xbee0, 0xbedf, 7, 3); // a worker with another's
        forged(t, A, 2, SWITCH_IP, 0xbee0, 0xbedf, 8, 3); // another job
        forged(t, A, 2, SWITCH_IP, 0xbee1, 0xbedf, 7, 3); // not its own UDP port
        forged(t, A, 2, SWITCH_IP, 0xbee0, 0xbedf, 7, 2);
        forged(t, A, 2, SWITCH_IP, 0xbee0, 0xbedf, 7, 15);
        forged(t, X, 2, SWITCH_IP, 0xbee0, 0xbedf, 7, 5); // an answer
        rig_wait(t->r, 5);
        t->now += 5 * MS;
    }
    assert_true(is_resuming(t->r));
    assert_int_equal(rig_events(t->r, "alarm"), 0);
    while (rig_take(t->r, X, got) > 0) // nobody is told that nobody listens there
        assert_int_not_equal(get(got + 12, 2), 0x0800);
    assert_true(run(t, 20000));
    free_training(t);
}

// Nobody has sent a packet yet, and workers come later than the switch.
static void test_before_the_first_packet(void **state) {
    struct training *t = train(12, 0, ONE);
    (void)state;
    t->asleep[0] = t->asleep[1] = t->asleep[2] = true;
    killed(t);
    assert_false(run(t, 1000));
    assert_true(is_resuming(t->r));
    t->asleep[0] = t->asleep[1] = t->asleep[2] = false;
    assert_true(run(t, 20000));
    free_training(t);
}

// Without asking: an address that is not the switch's; a job that is removed; one of a running
// switch.
static void test_who_is_not_asked(void **state) {
    struct training *t =
        train(13, 0, SML("one", THREE, ", \"slots\": 16, \"address\": \"10.0.10.99\""));
    struct sk_error err;
    (void)state;
    assert_false(is_resuming(t->r));
    killed(t);
    assert_false(is_resuming(t->r));
    assert_int_equal(rig_events(t->r, "alarm"), 1);
    assert_non_null(strstr(rig_last_alarm(t->r), "an address that is not the switch's"));
    removed(t->r, "one");
    add(t->r, ONE);
    assert_false(is_resuming(t->r));
    killed(t);
    assert_true(is_resuming(t->r));
    assert_int_equal(rig_reload(t->r, section, &err), 0); // changes nothing
    assert_true(is_resuming(t->r));
    sml_send(t->r, A, 0, 2, 7, 3, 100);
    assert_int_equal(dropped(t->r, 13), 1); // nobody is admitted
    removed(t->r, "one");
    add(t->r, ONE);
    assert_false(is_resuming(t->r));
    rig_forget(t->r);
    assert_true(run(t, 20000));
    free_training(t);
}

// A worker whose link wants a tag, and one behind a LAG, of which a port is down.
static void test_tags_and_lags(void **state) {
    struct training *t = train(
        14, 0, SML("one", "\"t:10.0.10.2\", \"l:10.0.10.3\"", ", \"slots\": 16, \"number\": 7"));
    uint8_t f[HEAD + 10 + 4 * K], got[RIG_FRAME], mac[6];
    (void)state;
    killed(t);
    rig_link(t->r, L1, false);
    rig_wait(t->r, 3000);
    assert_int_equal(rig_take(t->r, T, got), 64);
    eth_address(mac, 2);
    assert_memory_equal(got, mac, 6);
    eth_address(mac, ETH_OWN);
    assert_memory_equal(got + 6, mac, 6);
    assert_int_equal(get(got + 12, 4), 0x8100000a);
    assert_int_equal(get(got + 16, 2), 0x0800);
    assert_int_equal(get(got + 30, 4), SWITCH_IP);
    assert_int_equal(get(got + 34, 4), HOST_IP(2));
    assert_int_equal(get(got + 38, 4), 0xbedfbee0);
    assert_int_equal(get(got + 46, 2), 0x2007); // where are you
    assert_true(rig_count(t->r, L2) > 0);
    for (unsigned host = 2; host <= 3; host++) {
        head(f, ETH_OWN, host, SWITCH_IP, 0, 10 + 4 * K);
        put(f + 34, 4, 0xbee0bedf);
        memset(f + HEAD, 0, sizeof f - HEAD);
        put(f + HEAD, 2, 0x3007);
        put(f + HEAD + 2, 4, SLOTS);
        if (host == 3) // the one is in another VLAN at first
            send_tagged(t->r, T, 20, f, sizeof f);
        assert_true(is_resuming(t->r));
        send_tagged(t->r, host == 2 ? T : L2, host == 2 ? 10 : 0, f, sizeof f);
    }
    assert_false(is_resuming(t->r));
    free_training(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_killed_in_the_middle),
        TEST(test_killed_in_collective_operations),
        TEST(test_killed_in_sums_to_one),
        TEST(test_not_without_it),
        TEST(test_a_worker_that_computes),
        TEST(test_a_worker_that_began_anew),
        TEST(test_forged),
        TEST(test_tags_and_lags),
        TEST(test_before_the_first_packet),
        TEST(test_who_is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
