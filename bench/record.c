// SPDX-License-Identifier: Apache-2.0
//
// record: what recording costs the pipes: switchml256 and forward64 with a recorder and without
// one, by turns on the same switch. A thread on another processor takes the records and copies
// their bytes, as one that writes files does; what it did not take in time is counted, because
// losing a record is cheaper than keeping it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/loop.h"
#include "bench/rack.h"
#include "pipeline/observe/recorder.h"

#define RING (UINT64_C(256) << 20)

struct taker {
    struct sk_record_reader *reader;
    int cpu;
    atomic_bool stop;
    uint64_t taken;
};

struct setting {
    struct sk_switch *sw;
    struct sk_recorder *recorder; // or null: nobody records
    uint64_t (*work)(void *aux, uint64_t times);
    void *aux;
};

static void *take(void *aux) {
    struct taker *t = aux;
    struct sk_record r;
    cpu_set_t set;
    static uint8_t buffer[16384];
    CPU_ZERO(&set);
    CPU_SET((unsigned)t->cpu, &set);
    if (t->cpu >= 0)
        pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    while (!atomic_load(&t->stop)) {
        while (sk_record_next(t->reader, &r)) {
            memcpy(buffer, r.bytes, r.length < sizeof buffer ? r.length : sizeof buffer);
            t->taken++;
        }
        usleep(100);
    }
    return NULL;
}

static uint64_t work(void *aux, uint64_t times) {
    struct setting *s = aux;
    sk_switch_record(s->sw, s->recorder);
    uint64_t units = s->work(s->aux, times);
    sk_switch_record(s->sw, NULL);
    return units;
}

static void put(json_t *result, const char *name, const char *field, struct bench_stat s) {
    char key[64];
    snprintf(key, sizeof key, "%s_%s", name, field);
    bench_put(result, key, s);
}

static void measure(const struct bench_options *opt, json_t *result, const char *name,
                    struct sk_switch *sw, uint64_t (*repeat)(void *aux, uint64_t times), void *aux,
                    uint32_t snaplen) {
    char error[256];
    const struct sk_recorder_options options = {
        .n_cores = 1, .ring_bytes = RING, .snaplen = snaplen};
    struct taker taker = {.cpu = bench_other_cpu(sched_getcpu())};
    struct sk_recorder *recorder = sk_recorder_new(&options, error, sizeof error);
    pthread_t thread;
    if (!recorder) {
        bench_error(result, name, "%s", error);
        return;
    }
    taker.reader = sk_record_reader_of(recorder);
    atomic_init(&taker.stop, false);
    if (pthread_create(&thread, NULL, take, &taker))
        abort();
    struct setting with = {sw, recorder, repeat, aux}, without = {sw, NULL, repeat, aux};
    struct bench_side sides[] = {
        {.name = "recorded", .work = work, .aux = &with},
        {.name = "not recorded", .work = work, .aux = &without},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds / 4, BENCH_TRIAL_NS);
    atomic_store(&taker.stop, true);
    pthread_join(thread, NULL);
    put(result, name, "ns_per_packet", bench_stat(sides[1].ns, n));
    put(result, name, "recorded_ns_per_packet", bench_stat(sides[0].ns, n));
    put(result, name, "ratio", bench_ratio(sides[0].ns, sides[1].ns, n));
    const double lost = (double)sk_record_lost(taker.reader, SK_PORTS);
    put(result, name, "lost",
        (struct bench_stat){.median = lost / (lost + (double)taker.taken + 1)});
    bench_sides_free(sides, 2);
    sk_record_reader_close(taker.reader);
    sk_recorder_free(recorder);
}

void measure_record(const struct bench_options *opt, json_t *result) {
    struct rack *rack = rack_new(256, false);
    measure(opt, result, "switchml256", rack->sw, rack_work_copied, rack, 0);
    measure(opt, result, "switchml256_snaplen64", rack->sw, rack_work_copied, rack, 64);
    rack_free(rack);
    struct loop *loop = loop_new(bench_pin());
    measure(opt, result, "forward64", loop_switch(loop), loop_work, loop, 0);
    loop_free(loop);
    bench_note(
        result,
        "switchml256 as in its own key: what is received and the results of all workers are "
        "recorded; forward64: each frame when it comes and when it goes. ratio: recorded over "
        "not recorded. lost: the share of records for which there was no room");
}
