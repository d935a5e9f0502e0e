// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/switchml/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/core/float_bits.h"
#include "hosts/core/halves.h"
#include "hosts/core/wire_type.h"
#include "harness/hosts/random.h"
#include "hosts/core/quantise.h"

#define MAX_TENSORS 4
#define CANARY      0x5eed5eedu

// All tensors as 32-bit patterns, whatever their type; of halves as 16-bit ones in the same memory.
struct tensor {
    enum swml_type type;
    enum swml_reach reach;
    unsigned who;
    size_t count;
    uint32_t *in[SUT_MAX_WORKERS];   // what each worker contributes
    uint32_t *room[SUT_MAX_WORKERS]; // where the result goes: count words and a canary
};

struct scenario {
    struct sk_random random;
    struct netsim_options options;
    unsigned tensors;
    struct tensor tensor[MAX_TENSORS];
};

struct schedule_limits schedule_default_limits(void) {
    static const unsigned sizes[] = {64, 256};

    return (struct schedule_limits){
        .max_workers = SUT_MAX_WORKERS,
        .max_slots = 64,
        .sizes = sizes,
        .sizes_count = 2,
        .worst_loss = 0.3,
        .worst_duplicate = 0.2,
        .worst_reorder = 0.5,
    };
}

// ---- elements --------------------------------------------------------------------------------

static uint32_t get_element(const struct tensor *t, const uint32_t *words, size_t i) {
    uint16_t half;

    if (t->type != SWML_F16)
        return words[i];
    memcpy(&half, (const char *)words + 2 * i, sizeof half);
    return half;
}

static void set_element(const struct tensor *t, uint32_t *words, size_t i, uint32_t bits) {
    const uint16_t half = (uint16_t)bits;

    if (t->type == SWML_F16)
        memcpy((char *)words + 2 * i, &half, sizeof half);
    else
        words[i] = bits;
}

static uint32_t canary_of(const struct tensor *t) {
    return t->type == SWML_F16 ? CANARY & 0xffff : CANARY;
}

static double value_of(const struct tensor *t, uint32_t bits) {
    return (double)(t->type == SWML_F16 ? sk_f16_value((uint16_t)bits) : sk_float_of_bits(bits));
}

// ---- making a scenario -----------------------------------------------------------------------

static uint64_t below(struct scenario *s, uint64_t bound) {
    return sk_random_below(&s->random, bound);
}

static double often_zero(struct scenario *s, double worst) {
    return below(s, 3) == 0 ? 0 : worst * (double)below(s, 1000) / 1000;
}

static struct net_link any_link(struct scenario *s, const struct schedule_limits *limits) {
    return (struct net_link){
        .loss = often_zero(s, limits->worst_loss),
        .duplicate = often_zero(s, limits->worst_duplicate),
        .reorder = often_zero(s, limits->worst_reorder),
        .delay = 1000 + below(s, 5000),
        .jitter = 1 + below(s, 60000),
    };
}

static unsigned any_workers(struct scenario *s, unsigned max) {
    unsigned small = max < 4 ? max : 4;

    return 1 + (unsigned)below(s, below(s, 20) == 0 ? max : small);
}

static void choose_options(struct scenario *s, uint64_t seed,
                           const struct schedule_limits *limits) {
    unsigned workers = any_workers(s, limits->max_workers);
    unsigned k = limits->sizes[below(s, limits->sizes_count)];
    uint32_t size = 1 + (uint32_t)below(s, below(s, 4) == 0 ? limits->max_slots : 6);
    uint32_t base;

    size = size < limits->max_slots ? size : limits->max_slots;
    base = (uint32_t)below(s, limits->max_slots - size + 1);
    s->options.seed = seed;
    s->options.job = netsim_default_job(workers, k, base, size);
    s->options.up = any_link(s, limits);
    s->options.down = any_link(s, limits);
    for (unsigned w = 0; w < workers; w++)
        s->options.job.flow[w].halves = limits->halves;
    s->options.worker = netsim_default_worker();
}

static size_t any_count(struct scenario *s) {
    unsigned k = s->options.job.flow[0].k;
    size_t blocks = below(s, below(s, 5) == 0 ? 24 : 7);

    switch (below(s, 4)) {
    case 0:
        return blocks * k;
    case 1:
        return blocks * k + 1;
    case 2:
        return blocks * k + k - 1;
    default:
        return blocks * k + below(s, k);
    }
}

// A block's values have magnitudes of one size, as gradients have; some blocks are special.
static void fill_block(struct scenario *s, const struct tensor *t, uint32_t *out, size_t first,
                       size_t n) {
    int exponent = (int)below(s, 60) - 40;
    uint64_t special = below(s, 12);

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)sk_random_next(&s->random);
        if (t->type != SWML_I32 && special > 1)
            bits = sk_bits_of_float(ldexpf((float)(int32_t)bits, exponent - 31));
        else if (special == 0)
            bits = 0;
        if (t->type == SWML_F16 && special > 1)
            bits = sk_f16_nearest(sk_float_of_bits(bits));
        set_element(t, out, first + i, bits);
    }
}

static void fill(struct scenario *s, const struct tensor *t, uint32_t *out, size_t count) {
    size_t k = s->options.job.flow[0].k;

    for (size_t i = 0; i < count; i += k)
        fill_block(s, t, out, i, count - i < k ? count - i : k);
}

static uint32_t *words(size_t count) {
    uint32_t *p = malloc((count + 1) * sizeof *p);

    if (!p)
        abort();
    return p;
}

static void choose_reach(struct scenario *s, struct tensor *t) {
    static const enum swml_reach reaches[] = {SWML_ALL,      SWML_TO_ONE,   SWML_TO_ONE,
                                              SWML_FROM_ONE, SWML_FROM_ONE, SWML_NONE};

    t->reach = reaches[below(s, 6)];
    t->who = (unsigned)below(s, s->options.job.workers);
    if (t->reach == SWML_FROM_ONE || t->reach == SWML_NONE)
        t->type = SWML_I32;
}

static void choose_tensor(struct scenario *s, struct tensor *t,
                          const struct schedule_limits *limits) {
    t->type = below(s, 3) == 0 ? SWML_I32 : SWML_F32;
    if (limits->halves)
        t->type = t->type == SWML_I32 ? SWML_F32 : SWML_F16;
    t->count = any_count(s);
    if (limits->collectives)
        choose_reach(s, t);
    for (unsigned w = 0; w < s->options.job.workers; w++) {
        t->in[w] = words(t->count);
        t->room[w] = words(t->count);
        fill(s, t, t->in[w], t->count);
        memcpy(t->room[w], t->in[w], t->count * (t->type == SWML_F16 ? 2 : sizeof(uint32_t)));
        set_element(t, t->room[w], t->count, canary_of(t));
    }
}

static void free_scenario(struct scenario *s) {
    for (unsigned t = 0; t < s->tensors; t++) {
        for (unsigned w = 0; w < s->options.job.workers; w++) {
            free(s->tensor[t].in[w]);
            free(s->tensor[t].room[w]);
        }
    }
}

static void make_scenario(struct scenario *s, uint64_t seed, const struct schedule_limits *limits) {
    *s = (struct scenario){.random = sk_random_seeded(seed)};
    choose_options(s, seed, limits);
    s->tensors = 1 + (unsigned)below(s, MAX_TENSORS);
    for (unsigned t = 0; t < s->tensors; t++)
        choose_tensor(s, &s->tensor[t], limits);
}

static bool adds(const struct tensor *t, unsigned w) {
    return t->reach == SWML_ALL || t->reach == SWML_TO_ONE ||
           (t->reach == SWML_FROM_ONE && w == t->who);
}

static bool gets(const struct tensor *t, unsigned w) {
    return t->reach == SWML_ALL || (t->reach == SWML_TO_ONE && w == t->who) ||
           (t->reach == SWML_FROM_ONE && w != t->who);
}

// Every worker submits all tensors, at times of its own; half of them in place.
static void submit_all(struct scenario *s, struct netsim *sim) {
    for (unsigned w = 0; w < s->options.job.workers; w++) {
        uint64_t at = 0;
        for (unsigned i = 0; i < s->tensors; i++) {
            const struct tensor *t = &s->tensor[i];
            struct swml_tensor job = {.type = t->type,
                                      .out = t->room[w],
                                      .count = t->count,
                                      .reach = t->reach,
                                      .who = t->who};
            job.in = below(s, 2) ? t->room[w] : t->in[w];
            if (t->reach != SWML_ALL && below(s, 2)) { // what it does not need it need not have
                job.in = adds(t, w) ? job.in : NULL;
                job.out = gets(t, w) ? job.out : NULL;
            }
            at += below(s, 2) ? 0 : below(s, 300000);
            netsim_submit(sim, w, &job, at);
        }
    }
}

// ---- checking --------------------------------------------------------------------------------

static int8_t global_exponent(const struct scenario *s, const struct tensor *t, size_t at,
                              size_t n) {
    const struct sk_quantise *q = sk_quantise_named("scalar");
    int8_t max = SK_EXPONENT_ZERO;

    for (unsigned w = 0; w < s->options.job.workers; w++) {
        const char *block = (const char *)t->in[w] + at * (t->type == SWML_F16 ? 2 : 4);
        int8_t m = t->type == SWML_F16
                       ? sk_halves_exponent((const uint16_t *)(const void *)block, n)
                       : sk_block_exponent(q->max_abs_bits((const float *)(const void *)block, n));
        max = m > max ? m : max;
    }
    return max;
}

// The same on a switch of halves: every worker's half, added as the switch does.
static uint32_t expected_of_halves(const struct scenario *s, const struct tensor *t, size_t i,
                                   int8_t m) {
    const bool f16 = t->type == SWML_F16;
    const struct sk_half_scale scale = f16 ? sk_half_scale_f16(m) : sk_half_scale_f32(m);
    int32_t sum = 0;
    float result;

    for (unsigned w = 0; w < s->options.job.workers && scale.factor != 0; w++) {
        const float x = (float)value_of(t, get_element(t, t->in[w], i));
        sum = sk_half_add(sum, sk_half_number(sk_f16_nearest(x * scale.factor)));
    }
    result = sk_f16_value(sk_half_of_sum(sum)) * scale.inverse;
    return f16 ? sk_f16_nearest(result) : sk_bits_of_float(result);
}

static double largest(double a, double b) {
    return a > b ? a : b;
}

// The bounds that hosts/core/halves.h states, and the rounding of a float below the normal ones.
static bool halves_within_bound(const struct scenario *s, const struct tensor *t, size_t i,
                                int8_t m, uint32_t got) {
    const bool f16 = t->type == SWML_F16;
    const double unit = ldexp(1, (f16 ? (m <= 1 ? 0 : m - 1) : m) - 25), value = value_of(t, got);
    double exact = 0, bound = 0x1p-149;

    if (m == SK_EXPONENT_NOT_FINITE)
        return isnan(value);
    if (m == SK_EXPONENT_ZERO)
        return value == 0;
    for (unsigned w = 0; w < s->options.job.workers; w++) {
        const double x = value_of(t, get_element(t, t->in[w], i));
        exact += x;
        bound += f16 ? (m <= 1 ? 0 : unit) : largest(fabs(x) * 0x1p-11, unit);
    }
    bound += largest((fabs(exact) + bound) * 0x1p-11, unit);
    return fabs(value - exact) <= bound || fabs(exact) > (f16 ? 65504 : 0x1.fffffep127);
}

// The bits that the protocol defines for element 'i'.
static uint32_t expected(const struct scenario *s, const struct tensor *t, size_t i, int8_t m) {
    const struct sk_quantise *q = sk_quantise_named("scalar");
    unsigned n = s->options.job.workers;
    uint32_t sum = 0, one;
    uint8_t wire[4];
    float result;

    if (s->options.job.flow[0].halves)
        return expected_of_halves(s, t, i, m);
    for (unsigned w = 0; w < n; w++) {
        if (!adds(t, w))
            continue;
        if (t->type == SWML_I32) {
            sum += t->in[w][i];
        } else if (sk_block_factor(m, n) != 0) {
            float x = sk_float_of_bits(t->in[w][i]);
            q->f32_to_wire(wire, &x, 1, sk_block_factor(m, n));
            q->wire_to_i32((int32_t *)(void *)&one, wire, 1);
            sum += one;
        }
    }
    if (t->type == SWML_I32)
        return sum;
    q->i32_to_wire(wire, (const int32_t *)(const void *)&sum, 1);
    q->wire_to_f32(&result, wire, 1, sk_block_inverse(m, n));
    return sk_bits_of_float(result);
}

// Theorem 1 with rounding to nearest, half a unit per worker; and the float's own rounding.
static bool within_bound(const struct scenario *s, const struct tensor *t, size_t i, int8_t m,
                         uint32_t got) {
    unsigned n = s->options.job.workers;
    double exact = 0, unit = sk_block_inverse(m, n);

    if (s->options.job.flow[0].halves)
        return halves_within_bound(s, t, i, m, got);
    if (m == SK_EXPONENT_NOT_FINITE)
        return isnan(sk_float_of_bits(got));
    for (unsigned w = 0; w < n; w++)
        exact += (double)sk_float_of_bits(t->in[w][i]);
    return fabs(sk_float_of_bits(got) - exact) <= n * unit / 2 + fabs(exact) * 0x1p-23 + 0x1p-149 ||
           fabs(exact) > 0x1.fffffep127;
}

static bool element_is_right(const struct scenario *s, const struct tensor *t, size_t i, int8_t m,
                             char fault[160]) {
    uint32_t want = expected(s, t, i, m);

    for (unsigned w = 0; w < s->options.job.workers; w++) {
        uint32_t got = get_element(t, t->room[w], i);
        if (!gets(t, w)) { // nothing is written there
            if (got == get_element(t, t->in[w], i))
                continue;
            snprintf(fault, 160, "tensor %u, element %zu, worker %u: written, but not for it",
                     (unsigned)(t - s->tensor), i, w);
            return false;
        }
        bool close = t->type == SWML_I32 || within_bound(s, t, i, m, got);
        if (got != want || !close) {
            snprintf(fault, 160, "tensor %u, %s, element %zu of %zu, worker %u: %08x, not %08x",
                     (unsigned)(t - s->tensor), t->type == SWML_I32 ? "int" : "float", i, t->count,
                     w, got, want);
            return false;
        }
    }
    return true;
}

static bool tensor_is_right(const struct scenario *s, const struct tensor *t, char fault[160]) {
    size_t k = s->options.job.flow[0].k;
    int8_t m = 0;

    for (size_t i = 0; i < t->count; i++) {
        if (i % k == 0 && t->type != SWML_I32)
            m = global_exponent(s, t, i, t->count - i < k ? t->count - i : k);
        if (!element_is_right(s, t, i, m, fault))
            return false;
    }
    for (unsigned w = 0; w < s->options.job.workers; w++) {
        if (get_element(t, t->room[w], t->count) != canary_of(t)) {
            snprintf(fault, 160, "worker %u wrote past the end of a tensor", w);
            return false;
        }
    }
    return true;
}

static bool everything_is_right(const struct scenario *s, char fault[160]) {
    for (unsigned t = 0; t < s->tensors; t++)
        if (!tensor_is_right(s, &s->tensor[t], fault))
            return false;
    return true;
}

static void describe(const struct scenario *s, struct netsim *sim, struct schedule_result *r) {
    r->workers = s->options.job.workers;
    r->k = s->options.job.flow[0].k;
    r->pool_size = s->options.job.pool_size;
    r->tensors = s->tensors;
    r->traffic = netsim_traffic(sim);
    for (unsigned w = 0; w < r->workers; w++)
        r->retransmissions += swml_worker_stats(netsim_worker(sim, w)).retransmissions;
}

int schedule_run(const struct switch_under_test *sut, uint64_t seed,
                 const struct schedule_limits *limits, struct schedule_result *result) {
    struct scenario s;
    struct netsim *sim;

    *result = (struct schedule_result){0};
    make_scenario(&s, seed, limits);
    sim = netsim_new(&s.options, sut);
    if (!sim) {
        free_scenario(&s);
        return -1;
    }
    submit_all(&s, sim);
    if (netsim_run(sim) != NETSIM_DONE)
        snprintf(result->fault, sizeof result->fault, "a worker gave up");
    else
        everything_is_right(&s, result->fault);
    describe(&s, sim, result);
    netsim_free(sim);
    free_scenario(&s);
    return result->fault[0] != 0;
}

static void add_counts(struct schedule_result *total, const struct schedule_result *r) {
    total->retransmissions += r->retransmissions;
    total->traffic.up_sent += r->traffic.up_sent;
    total->traffic.up_lost += r->traffic.up_lost;
    total->traffic.down_lost += r->traffic.down_lost;
    total->traffic.up_duplicated += r->traffic.up_duplicated;
    total->traffic.down_duplicated += r->traffic.down_duplicated;
}

uint64_t schedule_run_range(const struct switch_under_test *sut, uint64_t first, uint64_t last,
                            const struct schedule_limits *limits, struct schedule_result *total) {
    for (uint64_t seed = first; seed <= last; seed++) {
        struct schedule_result r;

        if (schedule_run(sut, seed, limits, &r) != 0) {
            *total = r;
            return seed;
        }
        add_counts(total, &r);
    }
    return 0;
}

void schedule_print(const struct schedule_result *total, uint64_t count) {
    printf("%llu schedules: %llu packets sent, lost %llu up and %llu down, duplicated %llu up and "
           "%llu down, %llu retransmissions\n",
           (unsigned long long)count, (unsigned long long)total->traffic.up_sent,
           (unsigned long long)total->traffic.up_lost, (unsigned long long)total->traffic.down_lost,
           (unsigned long long)total->traffic.up_duplicated,
           (unsigned long long)total->traffic.down_duplicated,
           (unsigned long long)total->retransmissions);
}
