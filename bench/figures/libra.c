// SPDX-License-Identifier: Apache-2.0
//
// What docs/figures-libra.md computes without a network: figures 5, 15 and 16, table 2 and long
// sums of the Libra paper, from generated data. Prints one line a figure; the same each time.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/libra/adder.h"
#include "hosts/libra/heat.h"
#include "hosts/libra/pack.h"
#include "sim/libra/zipf.h"

#define HOT   30000u // parameters, where the paper has as many
#define DRAWS 4000u  // features of a batch, doubles among them

static uint64_t seed = 30;

// Uniform in (0, 1): xorshift64*.
static double uniform(void) {
    seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
    return ((double)(seed * 0x2545f4914f6cdd1d >> 11) + 0.5) / 9007199254740992.0;
}

static double uniform_of(void *unused) {
    (void)unused;
    return uniform();
}

struct model {
    const char *name;
    double share; // of the updates, that the hottest HOT have in the paper
    struct zipf zipf;
};

static size_t batch(const struct model *m, uint64_t *keys) {
    return zipf_batch(&m->zipf, DRAWS, uniform_of, NULL, keys);
}

static int by_rank(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void figure5(const struct model *z) {
    const double tops[] = {1000, 5000, 10000, 20000, 30000, 60000, 80000, 100000};
    printf("figure 5, %s, s %.4f:", z->name, z->zipf.s);
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        printf(" %.0f: %.3f", tops[i], zipf_share(&z->zipf, DRAWS, tops[i]));
    printf("\n");
}

// ---- figure 15 ----
static void figure15(const struct model *z) {
    enum { BATCHES = 5000 };
    const struct libra_choice choice = {
        .portion = 1, .memory = 0.05, .stop_at_one_hundredth = true};
    const unsigned rates[] = {4, 8, 100};
    struct libra_heat heat[3] = {0};
    uint64_t keys[DRAWS];
    for (unsigned b = 0; b < BATCHES; b++) {
        size_t n = batch(z, keys);
        for (unsigned r = 0; r < 3; r++)
            if (b % 100 < rates[r])
                for (size_t i = 0; i < n; i++)
                    libra_heat_add(&heat[r], keys[i], 1);
    }
    struct libra_ranked *all = libra_heat_rank(&heat[2]);
    const size_t k = libra_heat_hot(all, heat[2].map.n, &choice);
    qsort(all, k, sizeof *all, by_rank); // by key, which is the first member
    printf("figure 15, %s: %zu hot;", z->name, k);
    for (unsigned r = 0; r < 2; r++) {
        struct libra_ranked *some = libra_heat_rank(&heat[r]);
        const size_t m = libra_heat_hot(some, heat[r].map.n, &choice);
        size_t both = 0;
        for (size_t i = 0; i < m; i++)
            both += bsearch(&some[i], all, k, sizeof *all, by_rank) != NULL;
        printf(" %u %%: %zu hot, precision %.3f", rates[r], m, (double)both / (double)k);
        free(some);
        libra_heat_clear(&heat[r]);
    }
    printf("\n");
    free(all);
    libra_heat_clear(&heat[2]);
}

// ---- figure 16: what a packet's pairs need beyond one pass, counted in both ways ----
struct repeats {
    double packets, largest, over, passes;
};

static void count_repeats(struct repeats *c, const struct libra_packet *p, unsigned passes) {
    unsigned in[LIBRA_PLACES] = {0}, most = 1, over = 0;
    for (unsigned j = 0; j < LIBRA_PLACES; j++)
        if (p->used >> j & 1) {
            unsigned n = ++in[p->places[j].rank % LIBRA_PLACES];
            most = n > most ? n : most;
            over += n > 1;
        }
    c->packets++;
    c->largest += most - 1;
    c->over += over;
    c->passes += passes;
}

static void figure16(const struct model *z) {
    enum { BATCHES = 200 };
    uint32_t *place = malloc(HOT * sizeof *place);
    uint64_t keys[DRAWS];
    struct libra_pair pairs[DRAWS];
    struct libra_packet *packets = malloc(2 * DRAWS * sizeof *packets);
    struct repeats layout = {0}, random = {0};
    if (!place || !packets)
        abort();
    for (uint32_t i = 0; i < HOT; i++) {
        uint32_t j = (uint32_t)(uniform() * (i + 1));
        place[i] = place[j];
        place[j] = i;
    }
    for (unsigned b = 0; b < BATCHES; b++) {
        size_t n = 0;
        for (size_t i = 0, all = batch(z, keys); i < all; i++)
            if (keys[i] < HOT)
                pairs[n++] = (struct libra_pair){.rank = (uint32_t)keys[i]};
        const size_t made = libra_pack(pairs, n, true, packets);
        for (size_t i = 0; i < made; i++)
            count_repeats(&layout, &packets[i], libra_packet_passes(&packets[i]));
        for (size_t i = 0; i < n; i += LIBRA_PLACES) { // as they come, at random places
            struct libra_packet p = {0};
            for (size_t j = 0; j < LIBRA_PLACES && i + j < n; j++) {
                p.used |= (uint16_t)(1u << j);
                p.places[j].rank = place[pairs[i + j].rank];
            }
            count_repeats(&random, &p, 0);
        }
    }
    printf("figure 16, %s: layout: %.3f largest - 1, %.3f over, %.1f passes for sums; random: %.3f "
           "largest - 1, %.3f over\n",
           z->name, layout.largest / layout.packets, layout.over / layout.packets,
           layout.passes / layout.packets, random.largest / random.packets,
           random.over / random.packets);
    free(place);
    free(packets);
}

// ---- additions ----
static float from_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float add(float x, float y) {
    uint32_t a, b;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    return from_bits(libra_add(libra_adder(), a, b, NULL));
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// With eight bits of fraction in all tables, which is what the paper's keys and sizes say.
static int32_t paper_log2(float p) {
    int e;
    const double m = 2 * frexp((double)fabsf(p), &e);
    const double high = floor(m * 2048) / 2048, low = m - high;
    const double term =
        low > 0 ? exp2((rint(256 * log2(low)) - rint(256 * log2(high * M_LN2))) / 256) : 0;
    return (e - 1) * 256 + (int32_t)rint(256 * log2(high)) + (int32_t)rint(256 * term);
}

static double add_paper(float x, float y) {
    if (fabsf(x) < fabsf(y))
        return add_paper(y, x);
    if (y == 0)
        return x;
    const int32_t l = paper_log2(x), z = l - paper_log2(y);
    const bool minus = (x < 0) != (y < 0);
    if (minus && z <= 0)
        return 0;
    const double sigma = log2(minus ? 1 - exp2(-z / 256.0) : 1 + exp2(-(z < 0 ? 0 : z) / 256.0));
    const double sum = exp2((l + rint(256 * sigma)) / 256);
    return x < 0 ? -sum : sum;
}

// ---- table 2 ----
enum adding { TABLES, PAPER_TABLES, INTEGERS };
enum { PAIRS = 100000 };

static void precision(const char *name, enum adding how, const float *x, const float *y) {
    static double p[PAIRS];
    double sum = 0, worst = 0, largest = 0;
    for (unsigned i = 0; i < PAIRS; i++)
        largest = fmax(largest, fmax(fabs((double)x[i]), fabs((double)y[i])));
    // such that the sum of two fits into 31 bits
    const double factor = exp2(30 - ceil(log2(largest)));
    for (unsigned i = 0; i < PAIRS; i++) {
        const double s = (double)x[i] + (double)y[i];
        const double got =
            how == TABLES ? (double)add(x[i], y[i])
            : how == PAPER_TABLES
                ? add_paper(x[i], y[i])
                : (rint((double)x[i] * factor) + rint((double)y[i] * factor)) / factor;
        p[i] = s == 0 ? got == 0 : fmax(0, 1 - fabs(got - s) / fabs(s));
        sum += p[i];
        worst = fmax(worst, fabs(got - s) / fmax(fabs((double)x[i]), fabs((double)y[i])));
    }
    qsort(p, PAIRS, sizeof *p, by_value);
    printf("table 2, %s: median %.4f %%, mean %.4f %%, worst over max(|x|, |y|) %.2g\n", name,
           100 * p[PAIRS / 2], 100 * sum / PAIRS, worst);
}

static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

// R1: gradients of one parameter, small and of the same size: of a normal distribution whose scale
// is log-normal. R2: of (-1, 1). And pairs of (0, 1), which are of equal signs.
static void table2(void) {
    static float x[3][PAIRS], y[3][PAIRS];
    static const char *const data[] = {"R1", "R2", "equal signs"};
    static const char *const ways[] = {"tables", "tables of 8 bits of fraction",
                                       "float to integer"};
    for (unsigned i = 0; i < PAIRS; i++) {
        const double scale = exp(1.5 * normal() - 7);
        x[0][i] = (float)(scale * normal()), y[0][i] = (float)(scale * normal());
        x[1][i] = (float)(uniform() * 2 - 1), y[1][i] = (float)(uniform() * 2 - 1);
        x[2][i] = (float)uniform(), y[2][i] = (float)uniform();
    }
    for (unsigned d = 0; d < 3; d++)
        for (unsigned w = 0; w < 3; w++) {
            char name[64];
            snprintf(name, sizeof name, "%s, %s", data[d], ways[w]);
            precision(name, (enum adding)w, x[d], y[d]);
        }
    float sum = 0;
    for (unsigned i = 0; i < 10000; i++)
        sum = (float)add_paper(sum, 0.001f);
    printf("sum of 10000 of 0.001, tables of 8 bits of fraction: %.4g\n", (double)sum);
}

// ---- long sums ----
static void long_sums(void) {
    for (unsigned n = 10; n <= 100000; n *= 10) {
        double equal = 0, any = 0;
        float e = 0, a = 0;
        for (unsigned i = 0; i < n; i++) {
            const float v = (float)uniform();
            equal += 0.001f, any += v;
            e = add(e, 0.001f), a = add(a, v);
        }
        printf("sum of %u: 0.001: %.6g, off by %.4f %%; of (0, 1): %.6g, off by %.4f %%\n", n, e,
               100 * fabs(e / equal - 1), a, 100 * fabs(a / any - 1));
    }
}

int main(void) {
    struct model jobs[] = {{"OA", 0.5, {150e6, 0}}, {"SE", 0.7, {9e6, 0}}};
    for (size_t i = 0; i < 2; i++) {
        zipf_fit(&jobs[i].zipf, DRAWS, HOT, jobs[i].share);
        figure5(&jobs[i]);
        figure15(&jobs[i]);
        figure16(&jobs[i]);
    }
    table2();
    long_sums();
}
