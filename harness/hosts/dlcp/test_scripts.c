// SPDX-License-Identifier: Apache-2.0
//
// test_scripts: the fuzz targets' scripts without the fuzzer: random bytes, for what scripts.h
// promises, and that each reason why something is refused is reached by them, and by which target.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/hosts/dlcp/scripts.h"
#include "harness/hosts/random.h"

#define SCRIPTS 3000u
#define LONGEST 3000u

#define BIT(reason) (UINT32_C(1) << DLCP_##reason)
#define OF_FRAMES                                                                                  \
    (BIT(FOREIGN) | BIT(NOT_FOR_US) | BIT(BAD_LENGTH) | BIT(BAD_CHECKSUM) | BIT(UNKNOWN_KIND) |    \
     BIT(BAD_COUNT))
#define OF_RECEIVERS                                                                               \
    (BIT(NOT_STARTED) | BIT(OTHER_START) | BIT(OTHER_SIZE) | BIT(BAD_BOUND) | BIT(BAD_ENTRIES) |   \
     BIT(OUTSIDE) | BIT(MISALIGNED) | BIT(NO_CONTRIBUTIONS) | BIT(DUPLICATE) | BIT(TOO_LATE) |     \
     BIT(NOT_EXPECTED) | BIT(UNKNOWN_FLOW))
#define OF_SENDERS (BIT(BAD_ENTRIES) | BIT(BAD_RANGE) | BIT(NOT_EXPECTED) | BIT(UNKNOWN_FLOW))
// A station gives no flow what its own end sends.
#define OF_STATIONS (OF_FRAMES | OF_RECEIVERS | OF_SENDERS | BIT(OLD))
#define ALL         ((UINT32_C(1) << DLCP_REASON_COUNT) - 2)
_Static_assert((OF_STATIONS | BIT(WRONG_WAY)) == ALL, "a reason that no target is to reach");

static void reach_all(const char *target,
                      void (*script)(const uint8_t *, size_t, struct script_reach *),
                      uint32_t reasons, bool flows) {
    struct script_reach reach = {0};
    static uint8_t bytes[LONGEST];
    for (uint64_t seed = 0; seed < SCRIPTS; seed++) {
        struct sk_random r = sk_random_seeded(seed);
        const size_t n = sk_random_below(&r, sizeof bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)sk_random_next(&r);
        script(bytes, n, &reach);
    }
    for (int i = 0; i < DLCP_REASON_COUNT; i++)
        print_message("%s: %-16s %llu\n", target, dlcp_reason_name((enum dlcp_reason)i),
                      (unsigned long long)reach.heard[i]);
    print_message("%s: %llu flows met their bound, %llu failed\n", target,
                  (unsigned long long)reach.met, (unsigned long long)reach.failed);
    assert_true(reach.heard[DLCP_ACCEPTED] > SCRIPTS);
    for (int i = 1; i < DLCP_REASON_COUNT; i++)
        if (reasons >> i & 1)
            assert_true(reach.heard[i] > 0);
    assert_true(!flows || (reach.met > SCRIPTS / 100 && reach.failed > SCRIPTS / 100));
}

static void test_frames(void **state) {
    (void)state;
    reach_all("frame", script_frame, OF_FRAMES, false);
}

static void test_receivers(void **state) {
    (void)state;
    reach_all("receiver", script_receiver, OF_RECEIVERS | BIT(WRONG_WAY), true);
}

static void test_senders(void **state) {
    (void)state;
    reach_all("sender", script_sender, OF_SENDERS | BIT(WRONG_WAY), true);
}

static void test_stations(void **state) {
    (void)state;
    reach_all("station", script_station, OF_STATIONS, true);
}

static void test_the_empty_script(void **state) {
    struct script_reach reach = {0};
    (void)state;
    script_frame(NULL, 0, &reach);
    script_receiver(NULL, 0, &reach);
    script_sender(NULL, 0, &reach);
    script_station(NULL, 0, &reach);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),           cmocka_unit_test(test_receivers),
        cmocka_unit_test(test_senders),          cmocka_unit_test(test_stations),
        cmocka_unit_test(test_the_empty_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
