// SPDX-License-Identifier: Apache-2.0
//
// fetch.h: prefetches memory that is read soon.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_CORE_FETCH_H
#define SILKEN_HOSTS_CORE_FETCH_H

#include <stddef.h>

// Prefetches the cache lines of 'bytes' bytes from 'from' on, in pairs; unmapped memory is skipped.
// To GCC a function that only prefetches has no effect: GCC removes calls of it unless the function
// contains an asm statement, which GCC cannot analyse.
static inline void sk_fetch(const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 128) {
        __builtin_prefetch((const char *)from + i);
        __builtin_prefetch((const char *)from + i + 64);
    }
    __asm__ volatile("");
}

#endif
