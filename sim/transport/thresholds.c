// SPDX-License-Identifier: Apache-2.0
#include "sim/transport/thresholds.h"

#include <math.h>
#include <stdbool.h>

double thresholds_loss(double rho, uint32_t m) {
    if (fabs(rho - 1) < 1e-9)
        return 1 / ((double)m + 1);
    const double full = pow(rho, m);
    return full * (1 - rho) / (1 - full * rho);
}

static void thresholds_rho(const struct thresholds_config *c,
                           struct thresholds_class out[THRESHOLDS_CLASSES]) {
    double all = 0, left = 1; // of the port's time
    for (size_t i = 0; i < THRESHOLDS_CLASSES; i++)
        all += c->size[i];
    for (size_t i = 0; i < THRESHOLDS_CLASSES; i++) {
        out[i] = (struct thresholds_class){.rho = c->load * c->size[i] / all / left};
        left *= 1 - out[i].rho;
    }
}

// What a further place would save; nothing if S_i were above L_i then.
static double thresholds_gain(const struct thresholds_config *c, const struct thresholds_class *q,
                              size_t i, bool small) {
    const uint32_t m = small ? q->small_places : q->large_places;
    const double tolerance = small ? c->small_tolerance[i] : c->large_tolerance[i];
    if (small && (q->small_places + 1) / c->small > q->small_places + 1.0 + q->large_places)
        return 0;
    return (thresholds_loss(q->rho, m) - thresholds_loss(q->rho, m + 1)) / tolerance;
}

static bool thresholds_give(const struct thresholds_config *c,
                            struct thresholds_class q[THRESHOLDS_CLASSES]) {
    double best = 0;
    uint32_t *where = NULL;
    for (size_t i = 0; i < THRESHOLDS_CLASSES; i++)
        for (int small = 0; small < 2 && q[i].rho > 0; small++) {
            const double gain = thresholds_gain(c, &q[i], i, small);
            if (gain <= best)
                continue;
            best = gain;
            where = small ? &q[i].small_places : &q[i].large_places;
        }
    if (where)
        ++*where;
    return where != NULL;
}

double thresholds_find(const struct thresholds_config *c,
                       struct thresholds_class out[THRESHOLDS_CLASSES]) {
    uint32_t left = c->places;
    double cost = 0;
    thresholds_rho(c, out);
    for (size_t i = 0; i < THRESHOLDS_CLASSES; i++)
        if (out[i].rho > 0) {
            out[i].small_places = out[i].large_places = 1;
            left -= 2;
        }
    while (left && thresholds_give(c, out))
        left--;
    for (size_t i = 0; i < THRESHOLDS_CLASSES; i++) {
        struct thresholds_class *q = &out[i];
        if (q->rho <= 0)
            continue;
        q->small_limit = q->small_places / c->small;
        q->large_limit = (double)q->small_places + q->large_places;
        q->small_limit = q->small_limit > q->large_limit ? q->large_limit : q->small_limit;
        q->small_loss = thresholds_loss(q->rho, q->small_places);
        q->large_loss = thresholds_loss(q->rho, q->large_places);
        cost += q->small_loss / c->small_tolerance[i] + q->large_loss / c->large_tolerance[i];
    }
    return cost;
}
