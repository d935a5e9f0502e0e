// SPDX-License-Identifier: Apache-2.0
//
// A pool hands out each of its buffers once, the one put back last first, else in the order of
// their memory, whether they were in use before or not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pipeline/switch/pool.h"

#define PACKETS 131u // neither few nor a round number
#define BYTES   512u

static void take_all(struct sk_pool *pool, struct sk_packet *packets[PACKETS]) {
    for (uint32_t i = 0; i < PACKETS; i++) {
        assert_int_equal(sk_pool_available(pool), PACKETS - i);
        packets[i] = sk_pool_get(pool);
        assert_non_null(packets[i]);
        assert_true(packets[i]->cap >= SK_POOL_START + BYTES + SK_POOL_SLACK);
        assert_true(i == 0 || packets[i]->buf == packets[i - 1]->buf + packets[i - 1]->cap);
    }
    assert_int_equal(sk_pool_available(pool), 0);
    assert_null(sk_pool_get(pool));
}

static void test_all_once(void **state) {
    struct sk_packet *packets[PACKETS];
    struct sk_pool *pool = sk_pool_new(PACKETS, BYTES);
    (void)state;
    take_all(pool, packets);
    for (uint32_t i = PACKETS; i-- > 0;)
        sk_pool_put(packets[i]);
    take_all(pool, packets);
    for (uint32_t i = PACKETS; i-- > 0;)
        sk_pool_put(packets[i]);
    sk_pool_free(pool);
}

static void test_last_first(void **state) {
    struct sk_pool *pool = sk_pool_new(PACKETS, BYTES);
    struct sk_packet *first = sk_pool_get(pool), *second = sk_pool_get(pool);
    const uint8_t *memory = first->buf;
    (void)state;
    sk_pool_put(first);
    assert_ptr_equal(sk_pool_get(pool), first);
    assert_ptr_equal(first->buf, memory);
    struct sk_packet *third = sk_pool_get(pool);
    assert_ptr_equal(third->buf, second->buf + second->cap);
    sk_pool_put(first);
    sk_pool_put(second);
    sk_pool_put(third);
    assert_int_equal(sk_pool_available(pool), PACKETS);
    sk_pool_free(pool);
}

// Of one that is in place; the packet that was its host is there for others once nothing else is.
static void test_guest(void **state) {
    struct sk_pool *pool = sk_pool_new(1, BYTES);
    uint8_t frame[SK_POOL_START + 64 + SK_POOL_SLACK] = {0};
    struct sk_packet *guest = sk_pool_get_guest(pool, frame + SK_POOL_START, 64);
    (void)state;
    assert_non_null(guest);
    assert_null(sk_pool_get(pool));
    sk_pool_put(guest);
    struct sk_packet *p = sk_pool_get(pool);
    assert_ptr_equal(p, guest);
    assert_true(p->cap >= SK_POOL_START + BYTES + SK_POOL_SLACK);
    sk_pool_put(p);
    sk_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_once),
        cmocka_unit_test(test_last_first),
        cmocka_unit_test(test_guest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
