/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h: memory that is read soon is asked for early.
 *
 * Concurrency: no state; any thread may call anything.
 */
#ifndef SILKEN_HOSTS_CORE_FETCH_H
#define SILKEN_HOSTS_CORE_FETCH_H

#include <stddef.h>

/* Asks for the cache lines of |bytes| bytes from |from| on, in pairs; what is not mapped is passed
 * over. To GCC a function that only prefetches has no effect: it leaves out the calls of a caller
 * that does nothing else, unless there is an instruction which it must not judge. */
static inline void sk_fetch(const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 128) {
        __builtin_prefetch((const char *)from + i);
        __builtin_prefetch((const char *)from + i + 64);
    }
    __asm__ volatile("");
}

#endif
