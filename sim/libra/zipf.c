// SPDX-License-Identifier: Apache-2.0
#include "sim/libra/zipf.h"

#include <math.h>
#include <stdlib.h>

static double zipf_area(double x, double s) { // of x^-s from 1 on
    return s == 1 ? log(x) : (pow(x, 1 - s) - 1) / (1 - s);
}

static double zipf_area_to(double area, double s) { // the x to which it is
    return s == 1 ? exp(area) : pow(area * (1 - s) + 1, 1 / (1 - s));
}

// From the area under the curve, half a rank to both sides; then what is too much goes.
static uint64_t zipf_draw_of(const struct zipf *z, double low, double high, zipf_uniform *uniform,
                             void *aux) {
    for (;;) {
        const double u = low + uniform(aux) * (high - low), x = zipf_area_to(u, z->s);
        const double k = floor(x + 0.5);
        if (k < 1 || k > z->n)
            continue;
        // convex: the bar is at least the rank's own
        const double bar = zipf_area(k + 0.5, z->s) - zipf_area(k - 0.5, z->s);
        if (uniform(aux) * bar <= pow(k, -z->s))
            return (uint64_t)k - 1;
    }
}

uint64_t zipf_draw(const struct zipf *z, zipf_uniform *uniform, void *aux) {
    return zipf_draw_of(z, zipf_area(0.5, z->s), zipf_area(z->n + 0.5, z->s), uniform, aux);
}

static int zipf_by_rank(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t zipf_batch(const struct zipf *z, size_t draws, zipf_uniform *uniform, void *aux,
                  uint64_t *keys) {
    const double low = zipf_area(0.5, z->s), high = zipf_area(z->n + 0.5, z->s);
    size_t n = 0;
    for (size_t i = 0; i < draws; i++)
        keys[i] = zipf_draw_of(z, low, high, uniform, aux);
    qsort(keys, draws, sizeof *keys, zipf_by_rank);
    for (size_t i = 0; i < draws; i++)
        if (i == 0 || keys[i] != keys[i - 1])
            keys[n++] = keys[i];
    return n;
}

// Single ranks up to 10^5, then steps of a thousandth.
double zipf_share(const struct zipf *z, size_t draws, double top) {
    double h = 0, part = 0, all = 0;
    for (int pass = 0; pass < 2; pass++)
        for (double k = 1; k <= z->n;) {
            double end = k < 1e5 ? k + 1 : fmin(floor(k * 1.001), z->n + 1);
            if (k <= top && end > top + 1)
                end = top + 1;
            const double p = pow((k + end - 1) / 2, -z->s), width = end - k;
            if (pass == 0)
                h += width * p;
            else
                all += width * -expm1((double)draws * log1p(-p / h));
            if (pass == 1 && end <= top + 1)
                part = all;
            k = end;
        }
    return part / all;
}

void zipf_fit(struct zipf *z, size_t draws, double top, double share) {
    double low = 0.5, high = 1.5;
    for (int i = 0; i < 30; i++) {
        z->s = (low + high) / 2;
        if (zipf_share(z, draws, top) < share)
            low = z->s;
        else
            high = z->s;
    }
}
