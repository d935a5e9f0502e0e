// SPDX-License-Identifier: Apache-2.0
//
// How long a lookup in a run-time match table takes, and filling the table.
//
//   build/bench/table_lookup [WORD]   only rows whose kind contains the word
//
// One line per table: its kind, entries, distinct masks (of ternary tables; prefixes have their
// lengths), microseconds to add an entry (in random order of priority; quiesced after each 64) and
// nanoseconds per lookup: the median of seven rounds, each of at least 20 ms over 64 Ki keys. Nine
// of ten keys lie in a randomly chosen entry. Nothing else runs in the loop, so what a packet needs
// of the caches besides is not in the figure.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/hosts/random.h"
#include "stages/table.h"

#define N_KEYS 65536

struct shape {
    const char *kind;
    struct sk_field_desc keys[2];
    uint32_t n_keys, words;
};
static const struct shape ternary = {"ternary",
                                     {{.name = "src", .width = 32, .match = SK_TERNARY},
                                      {.name = "dst", .width = 32, .match = SK_TERNARY}},
                                     2,
                                     2};
static const struct shape range = {"range",
                                   {{.name = "dst", .width = 32, .match = SK_TERNARY},
                                    {.name = "port", .width = 16, .match = SK_RANGE}},
                                   2,
                                   2};
static const struct shape lpm32 = {"lpm32", {{.name = "dst", .width = 32, .match = SK_LPM}}, 1, 1};
static const struct shape lpm128 = {
    "lpm128", {{.name = "dst", .width = 128, .match = SK_LPM}}, 1, 2};
static const struct shape vrf_lpm = {"vrf+lpm32",
                                     {{.name = "vrf", .width = 12, .match = SK_EXACT},
                                      {.name = "dst", .width = 32, .match = SK_LPM}},
                                     2,
                                     2};

static const struct shape exact48 = {
    "exact48", {{.name = "mac", .width = 48, .match = SK_EXACT}}, 1, 1};
static const struct shape exact104 = {"exact104",
                                      {{.name = "addresses", .width = 64, .match = SK_EXACT},
                                       {.name = "ports", .width = 40, .match = SK_EXACT}},
                                      2,
                                      2};
static bool is_exact(const struct shape *s) {
    return s == &exact48 || s == &exact104;
}

static uint64_t ones32(unsigned length) {
    return length ? UINT64_C(0xffffffff) << (32 - length) & 0xffffffff : 0;
}

// Lengths as in a table of the Internet's routes: mostly 24.
static unsigned route_length(struct sk_random *r) {
    uint64_t of10 = sk_random_below(r, 10);
    return of10 < 6 ? 24 : of10 < 7 ? 23 : of10 < 8 ? 22 : 8 + (unsigned)sk_random_below(r, 25);
}

static void mask_of(const struct shape *s, struct sk_random *r, uint64_t masks, uint64_t *mask) {
    if (is_exact(s)) {
        for (unsigned i = 0; i < 2; i++)
            mask[i] = UINT64_MAX >> (64 - (i < s->n_keys ? s->keys[i].width : 1));
    } else if (s->keys[0].match == SK_TERNARY) {
        // the m-th mask is the same whenever it is chosen
        static uint64_t next;
        struct sk_random of = sk_random_seeded(masks > 256 ? next++ : sk_random_below(r, masks));
        for (unsigned i = 0; i < 2; i++)
            mask[i] = masks > 256 ? sk_random_next(&of) >> 32 | 0xff000000
                                  : ones32(8 + (unsigned)sk_random_below(&of, 25));
    } else if (s->keys[0].width == 128) {
        unsigned length = 2 * route_length(r);
        mask[0] = 0;
        mask[1] = ~UINT64_C(0) << (64 - length);
    } else {
        mask[0] = s->n_keys == 2 ? 0xfff : ones32(route_length(r));
        mask[1] = ones32(route_length(r));
    }
}

static void entry_of(const struct shape *s, struct sk_random *r, uint64_t masks, uint64_t *value,
                     uint64_t *mask) {
    mask_of(s, r, masks, mask);
    for (unsigned i = 0; i < 2; i++)
        value[i] =
            (s->keys[0].width == 128 || is_exact(s) ? sk_random_next(r) : sk_random_next(r) >> 32) &
            mask[i];
    if (s->keys[1].match == SK_RANGE) {
        value[1] = sk_random_below(r, 60000);
        mask[1] = value[1] + sk_random_below(r, 1000);
    }
    if (s == &vrf_lpm)
        value[0] %= 64;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double lookup_ns(const struct sk_table *t, const uint64_t (*keys)[2]) {
    static volatile uint64_t sink;
    double round[7];
    for (unsigned i = 0; i < 7; i++) {
        uint64_t n = 0, hits = 0;
        double start = seconds(), end = start;
        for (; end - start < 0.02; end = seconds())
            for (unsigned k = 0; k < 64; k++, n++)
                hits += sk_table_lookup(t, keys[n % N_KEYS]) != NULL;
        sink += hits;
        round[i] = (end - start) / (double)n * 1e9;
    }
    qsort(round, 7, sizeof *round, by_value);
    return round[3];
}

static void row(const struct shape *s, uint64_t entries, uint64_t masks, const char *only) {
    static const struct sk_action_desc act = {.name = "a"};
    static const struct sk_action_desc *const actions[] = {&act};
    if (only && !strstr(s->kind, only))
        return;
    struct sk_table_desc d = {.name = "t",
                              .keys = s->keys,
                              .n_keys = s->n_keys,
                              .key_words = s->words,
                              .actions = actions,
                              .n_actions = 1,
                              .size = entries};
    struct sk_table *t = sk_table_new(&d);
    static uint64_t keys[N_KEYS][2];
    struct sk_random r = sk_random_seeded(entries + masks), pick = sk_random_seeded(1);
    if (!t)
        exit(1);
    double start = seconds();
    for (uint64_t i = 0, tries = 0; i < entries && tries < 4 * entries; tries++) {
        uint64_t value[2], mask[2];
        entry_of(s, &r, masks, value, mask);
        int64_t priority = (int64_t)sk_random_below(&r, 1u << 30);
        if (sk_table_add(t, value, mask, priority, 0, NULL) != SK_OK)
            continue;
        uint64_t at = i < N_KEYS ? i : sk_random_below(&pick, 4 * i);
        for (unsigned w = 0; w < s->words && at < N_KEYS; w++) {
            uint64_t wild =
                s->keys[0].width == 128 ? sk_random_next(&pick) : sk_random_next(&pick) >> 32;
            bool exact = s->keys[w].match == SK_EXACT; // no bits beyond its width
            keys[at][w] = value[w] | (exact ? 0 : wild & ~mask[w]);
        }
        if (at < N_KEYS && s->keys[1].match == SK_RANGE)
            keys[at][1] = value[1] + sk_random_below(&pick, mask[1] - value[1] + 1);
        if (++i % 64 == 0)
            sk_table_quiesce(t);
    }
    sk_table_quiesce(t);
    uint64_t n = sk_table_count(t);
    double fill = (seconds() - start) / (double)n * 1e6;
    for (uint64_t i = n; i < N_KEYS; i++)
        memcpy(keys[i], keys[sk_random_below(&pick, n)], sizeof keys[i]);
    for (uint64_t i = N_KEYS; i-- > 1;) { // in no order
        uint64_t j = sk_random_below(&pick, i + 1), swap[2];
        memcpy(swap, keys[i], sizeof swap);
        memcpy(keys[i], keys[j], sizeof swap);
        memcpy(keys[j], swap, sizeof swap);
    }
    for (uint64_t i = 0; i < N_KEYS; i += 10)
        keys[i][0] ^= s == &vrf_lpm ? 64 : UINT64_C(1) << 31;
    printf("%-10s %8" PRIu64 " %6" PRIu64 " %9.2f us/add %10.1f ns/lookup\n", s->kind, n, masks,
           fill, lookup_ns(t, (const uint64_t(*)[2])keys));
    fflush(stdout);
    sk_table_free(t);
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : NULL;
    static const uint64_t sizes[] = {1024, 8192, 65536}, masks[] = {1, 16, 256};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned m = 0; m < 3; m++)
            row(&ternary, sizes[i], masks[m], only);
        row(&ternary, sizes[i], sizes[i], only); // almost a mask for each
        row(&range, sizes[i], 16, only);
    }
    for (unsigned i = 0; i < 3; i++) {
        row(&exact48, sizes[i], 0, only);
        row(&exact104, sizes[i], 0, only);
    }
    static const uint64_t routes[] = {1000, 100000, 1000000};
    for (unsigned i = 0; i < 3; i++) {
        row(&lpm32, routes[i], 0, only);
        row(&vrf_lpm, routes[i], 0, only);
        row(&lpm128, routes[i], 0, only);
    }
    return 0;
}
