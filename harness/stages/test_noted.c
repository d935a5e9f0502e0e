// SPDX-License-Identifier: Apache-2.0
//
// Where a packet ends for its notes (stages/notes.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "stages/notes.h"

static uint8_t buffer[1024];

static struct sk_notes notes_of(uint32_t length) {
    struct sk_notes n;
    memset(&n, 0, sizeof n);
    n.buffer = buffer;
    n.frame = buffer + 256;
    n.length = length;
    return n;
}

static void bits_of_the_packet_are_noted(void **state) {
    (void)state;
    static const uint8_t mask[2] = {0x0f, 0xff};
    struct sk_notes n = notes_of(60);
    sk_note_saw(&n, n.frame + 58, mask, 2);
    sk_note_saw_bits(&n, n.frame + 10, 4, 8);
    assert_false(n.unfit);
    assert_int_equal(n.mask[58], 0x0f);
    assert_int_equal(n.mask[59], 0xff);
    assert_int_equal(n.mask[10], 0x0f);
    assert_int_equal(n.mask[11], 0xf0);
}

// There is the frame check sequence, each bit of which depends on the whole packet; or nothing,
// which depends on its length.
static void what_is_behind_its_end_makes_it_unfit(void **state) {
    (void)state;
    static const uint8_t mask[2] = {0xff, 0xff};
    static const uint32_t lengths[] = {1, 60, SK_NOTED - 1, SK_NOTED, SK_NOTED + 100};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const uint32_t end = lengths[i] < SK_NOTED ? lengths[i] : SK_NOTED;
        struct sk_notes n = notes_of(lengths[i]);
        sk_note_saw(&n, n.frame + end - 1, mask, 1);
        assert_false(n.unfit);
        sk_note_saw(&n, n.frame + end - 1, mask, 2);
        assert_true(n.unfit);
        n = notes_of(lengths[i]);
        sk_note_saw_bits(&n, n.frame + end - 1, 0, 8);
        assert_false(n.unfit);
        sk_note_saw_bits(&n, n.frame + end - 1, 7, 2);
        assert_true(n.unfit);
        n = notes_of(lengths[i]);
        sk_note_summed(&n, n.frame + end - 1, 2);
        assert_true(n.unfit);
    }
}

// What the architecture put before it is the same for each packet of a port, but for times.
static void what_is_in_front_is_not_noted(void **state) {
    (void)state;
    static const uint8_t mask[2] = {0xff, 0xff};
    struct sk_notes n = notes_of(60);
    n.moment[0].from = n.frame - 10;
    n.moment[0].to = n.frame - 4;
    sk_note_saw(&n, n.frame - 16, mask, 2);
    assert_false(n.unfit);
    sk_note_saw(&n, n.frame - 5, mask, 2);
    assert_true(n.unfit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_the_packet_are_noted),
        cmocka_unit_test(what_is_behind_its_end_makes_it_unfit),
        cmocka_unit_test(what_is_in_front_is_not_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
