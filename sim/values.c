// SPDX-License-Identifier: Apache-2.0
//
// What tensors are made of, and what their sums must be.
//
// An integer is 32 random bits for SwitchML, whose sums wrap; for ATP, whose sums saturate, it is
// small enough that the sum of all workers is not. A float is between minus and plus the scenario's
// magnitude. Sums of floats are compared with the real ones within what fixed point numbers can be
// off: half a unit of the scaling factor for each worker, and the rounding of the result; a value
// too many or too few is thousands of times as far off.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/job.h"

static uint64_t seed_of(const struct sim_job *job, uint64_t tensor, uint32_t worker) {
    return sim_mix(sim_mix(job->value_seed + tensor * UINT64_C(0xd1342543de82ef95)) + worker);
}

static uint32_t sim_values_bits_of(uint64_t seed, size_t element) {
    return (uint32_t)(sim_mix(seed + element * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

// As much as all workers may have together without saturating, for each.
static uint32_t sim_values_mask_of(const struct sim_job *job) {
    if (job->as->protocol == SIM_SWITCHML)
        return UINT32_MAX;
    uint32_t bound = UINT32_C(1) << 30;
    while ((uint64_t)bound * job->n_workers > UINT32_C(1) << 30)
        bound >>= 1;
    return bound - 1;
}

static float real_of(const struct sim_job *job, uint32_t bits) {
    return (float)((double)((int32_t)bits >> 8) * 0x1p-23 * job->as->work.magnitude);
}

void values_fill(const struct sim_job *job, uint64_t tensor, uint32_t worker, size_t count,
                 uint32_t *out) {
    const uint64_t seed = seed_of(job, tensor, worker);
    const uint32_t mask = sim_values_mask_of(job);
    const uint32_t half = mask == UINT32_MAX ? 0 : (mask + 1) / 2; // both signs
    for (size_t i = 0; i < count; i++)
        out[i] = sim_values_bits_of(seed, i);
    for (size_t i = 0; i < count && job->as->work.floats; i++) {
        const float real = real_of(job, out[i]);
        memcpy(&out[i], &real, sizeof real);
    }
    for (size_t i = 0; i < count && !job->as->work.floats; i++)
        out[i] = (out[i] & mask) - half;
}

// Of all tensors of a job with collective operations; the same at all workers.
static void sim_values_choose_reach(const struct sim_job *job, struct sim_tensor *t) {
    static const enum sk_reach integers[] = {SK_ALL,      SK_TO_ONE,   SK_TO_ONE,
                                             SK_FROM_ONE, SK_FROM_ONE, SK_NONE};
    const uint64_t draw = sim_mix(job->value_seed + t->number * UINT64_C(0x9e6c63d0876a9a35));
    if (!job->as->work.collectives)
        return;
    t->who = (uint32_t)(draw >> 32) % job->n_workers;
    t->reach = integers[draw % (job->as->work.floats ? 3 : 6)];
}

static bool sim_values_adds(const struct sim_tensor *t, uint32_t rank) {
    return t->reach <= SK_TO_ONE || (t->reach == SK_FROM_ONE && t->who == rank);
}

static bool sim_values_gets(const struct sim_tensor *t, uint32_t rank) {
    return t->reach == SK_ALL || (t->reach == SK_TO_ONE && t->who == rank) ||
           (t->reach == SK_FROM_ONE && t->who != rank);
}

void values_sum(struct sim_job *job, struct sim_tensor *t, const uint32_t *who) {
    uint32_t *one = malloc((t->count + 1) * sizeof *one);
    if (job->as->work.floats)
        t->reals = calloc(t->count + 1, sizeof *t->reals);
    else
        t->sums = calloc(t->count + 1, sizeof *t->sums);
    if (!one || (!t->reals && !t->sums))
        abort();
    for (uint32_t w = 0; w < job->n_workers; w++) {
        if (!sim_values_adds(t, w))
            continue;
        values_fill(job, t->number, who[w], t->count, one);
        for (size_t i = 0; i < t->count && t->reals; i++) {
            float real;
            memcpy(&real, &one[i], sizeof real);
            t->reals[i] += real;
        }
        for (size_t i = 0; i < t->count && t->sums; i++)
            t->sums[i] += one[i];
    }
    free(one);
}

struct sim_tensor *values_tensor(struct sim_job *job, uint64_t number, size_t count) {
    struct sim_tensor **at = &job->tensors;
    uint32_t who[SCN_MAX_LEVELLED];
    while (*at && ((*at)->number != number || job->sessions))
        at = &(*at)->next;
    if (*at)
        return *at;
    struct sim_tensor *t = *at = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->number = number;
    t->count = count;
    t->left = 1;
    sim_values_choose_reach(job, t);
    if (job->sessions)
        return t;
    t->left = 0;
    for (uint32_t w = 0; w < job->n_workers; w++)
        t->left += !job->workers[w].finished;
    for (uint32_t w = 0; w < job->n_workers; w++)
        who[w] = values_who(w, 0);
    values_sum(job, t, who);
    return t;
}

static double sim_values_tolerance(const struct sim_job *job) {
    const double n = job->n_workers, m = job->as->work.magnitude;
    const double rounding = n * m * 0x1p-22;
    if (job->as->f16) // each value is rounded, and so is the sum: hosts/core/halves.h
        return 2.01 * n * m * 0x1p-11 + (n + 1) * m * 0x1p-24;
    if (job->as->protocol == SIM_SWITCHML || job->as->dynamic_scale)
        return rounding + n * n * m * 0x1p-28;
    return rounding + n / ATP_SCALE;
}

static size_t sim_values_changed(const struct sim_job *job, const struct sim_tensor *t,
                                 uint32_t worker, const uint32_t *data, size_t from, size_t count) {
    uint32_t *had = malloc((t->count + 1) * sizeof *had);
    size_t i = 0;
    if (!had)
        abort();
    values_fill(job, t->number, worker, t->count, had);
    while (i < count && data[from + i] == had[from + i])
        i++;
    free(had);
    return i;
}

size_t values_wrong(const struct sim_job *job, const struct sim_tensor *t, uint32_t worker,
                    const uint32_t *data, size_t from, size_t count) {
    if (!sim_values_gets(t, worker & (values_who(0, 1) - 1)))
        return sim_values_changed(job, t, worker, data, from, count);
    const double off = sim_values_tolerance(job);
    for (size_t i = from; i < from + count; i++) {
        float real;
        if (t->sums && data[i] == t->sums[i])
            continue;
        memcpy(&real, &data[i], sizeof real);
        if (t->reals && fabs((double)real - t->reals[i]) <= off)
            continue;
        return i - from;
    }
    return count;
}

void values_release(struct sim_job *job, struct sim_tensor *t) {
    if (--t->left)
        return;
    struct sim_tensor **at = &job->tensors;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    free(t->sums);
    free(t->reals);
    free(t);
}
