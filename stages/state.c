// SPDX-License-Identifier: Apache-2.0
//
// state: memory for a pipe's state. See state.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // madvise
#endif
#include "stages/state.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *sk_state_alloc(size_t bytes) {
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    if (bytes > SIZE_MAX - align)
        return NULL;
    size_t rounded = (bytes + align - 1) / align * align;
    void *p = aligned_alloc(align, rounded);
    if (!p)
        return NULL;
    if (align == HUGE_PAGE)
        madvise(p, rounded, MADV_HUGEPAGE); // a hint: without huge pages it works as well
    memset(p, 0, rounded);
    return p;
}

void sk_state_free(void *state) {
    free(state);
}
