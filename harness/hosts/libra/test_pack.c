// SPDX-License-Identifier: Apache-2.0
//
// Pairs to packets: each pair is in one packet, a push has each at its register, and what is left
// over is placed so that no other placing needs fewer turns (checked by trying all for small
// ones).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hosts/libra/pack.h"
#include "harness/hosts/random.h"

#define M     LIBRA_PLACES
#define RANKS 4096u

// Ranks of 'n' pairs, each once, skewed towards low ones; with 'one' all of register 5.
static void make_pairs(struct sk_random *r, struct libra_pair *pairs, size_t n, int one) {
    static uint8_t taken[RANKS];

    memset(taken, 0, sizeof taken);
    for (size_t i = 0; i < n; i++) {
        uint32_t rank;
        do {
            rank = (uint32_t)sk_random_below(r, 1 + sk_random_below(r, RANKS));
            rank = one ? rank / M * M + 5 : rank;
        } while (taken[rank]);
        taken[rank] = 1;
        pairs[i] = (struct libra_pair){rank, rank + 7};
    }
}

static void check_packets(const struct libra_pair *pairs, size_t n, bool any,
                          const struct libra_packet *packets, size_t count) {
    static uint8_t seen[RANKS];
    size_t found = 0;

    memset(seen, 0, sizeof seen);
    assert_true(count <= libra_pack_most(pairs, n, any));
    for (size_t i = 0; i < count; i++) {
        assert_int_not_equal(0, packets[i].used);
        assert_true(any || !packets[i].any);
        assert_int_equal(packets[i].turns, libra_packet_turns(&packets[i]));
        for (unsigned p = 0; p < M; p++) {
            const struct libra_pair *pair = &packets[i].places[p];
            if (!(packets[i].used >> p & 1)) {
                assert_true(pair->rank == 0 && pair->value == 0);
                continue;
            }
            assert_true(packets[i].any || pair->rank % M == p);
            assert_true(pair->value == pair->rank + 7);
            assert_false(seen[pair->rank]++);
            found++;
        }
    }
    assert_int_equal(n, found);
    for (size_t i = 0; i < n; i++)
        assert_true(seen[pairs[i].rank]);
}

static void test_each_pair_is_in_one_packet(void **state) {
    static struct libra_pair pairs[600];
    static struct libra_packet packets[2 * 600];
    struct sk_random r = sk_random_seeded(3);

    (void)state;
    assert_int_equal(0, libra_pack(pairs, 0, true, packets));
    for (int round = 0; round < 2000; round++) {
        int one = round % 10 == 0;
        size_t n = 1 + (size_t)sk_random_below(&r, one ? 200 : 600);
        make_pairs(&r, pairs, n, one);
        for (int any = 0; any < 2; any++)
            check_packets(pairs, n, any, packets, libra_pack(pairs, n, any, packets));
    }
}

// n pairs of n registers are one push; of one register they are a push for each packet's worth, and
// the rest at any place.
static void test_the_two_ends(void **state) {
    struct libra_pair pairs[2 * M];
    struct libra_packet packets[4];

    (void)state;
    for (uint32_t i = 0; i < M; i++)
        pairs[i] = (struct libra_pair){i * M + (M - 1 - i), 1};
    assert_int_equal(1, libra_pack(pairs, M, true, packets));
    assert_int_equal(0xffff, packets[0].used);
    assert_false(packets[0].any);
    for (uint32_t i = 0; i < M; i++)
        pairs[i] = (struct libra_pair){i * M + 3, 1};
    assert_int_equal(2, libra_pack(pairs, M, true, packets));
    assert_int_equal(1 << 3, packets[0].used);
    assert_true(packets[1].any);
    assert_int_equal(15, packets[1].turns); // 15 pairs of one register
    assert_int_equal(1 + 15 + 15, libra_packet_passes(&packets[1]));
    assert_int_equal(1 + 2 + 1, libra_packet_passes(&packets[0])); // turn 0 handles none
    static struct libra_packet pushes[M];
    assert_int_equal(M, libra_pack(pairs, M, false, pushes));
}

// The fewest turns of all ways to place 'n' pairs: by trying all.
static unsigned fewest(const struct libra_pair *pairs, unsigned n, uint32_t places) {
    unsigned best = M + 1;

    if (n == 0)
        return 1;
    for (unsigned p = 0; p < M; p++) {
        // turn t has place (2 (t mod 8) + lane + t div 8) mod 16 in the lane
        unsigned pass = 1;
        while ((2 * ((pass - 1) % 8) + pairs[0].rank % 2 + (pass - 1) / 8) % M != p)
            pass++;
        if (places >> p & 1 || pass >= best)
            continue;
        unsigned rest = fewest(pairs + 1, n - 1, places | 1u << p);
        best = pass > rest ? (pass < best ? pass : best) : (rest < best ? rest : best);
    }
    return best;
}

static void test_no_placing_needs_fewer_turns(void **state) {
    struct libra_packet packets[16];
    struct libra_pair pairs[32];
    struct sk_random r = sk_random_seeded(4);
    unsigned tried = 0;

    (void)state;
    while (tried < 200) {
        // two registers, so that half and more is left over
        unsigned a = (unsigned)sk_random_below(&r, M), b = (unsigned)sk_random_below(&r, M);
        unsigned n = 2 + (unsigned)sk_random_below(&r, 5);
        for (unsigned i = 0; i < n; i++)
            pairs[i] = (struct libra_pair){i * M + (sk_random_below(&r, 2) ? a : b), 1};
        size_t count = libra_pack(pairs, n, true, packets);
        for (size_t i = 0; i < count; i++) {
            struct libra_pair inside[M];
            unsigned k = 0;
            for (unsigned p = 0; p < M; p++)
                if (packets[i].used >> p & 1)
                    inside[k++] = packets[i].places[p];
            if (!packets[i].any)
                continue;
            assert_int_equal(fewest(inside, k, 0), packets[i].turns);
            tried++;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pair_is_in_one_packet),
        cmocka_unit_test(test_the_two_ends),
        cmocka_unit_test(test_no_placing_needs_fewer_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
