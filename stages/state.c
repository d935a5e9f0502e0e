// SPDX-License-Identifier: Apache-2.0
//
// state: memory for a pipe's state. See state.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // madvise
#endif
#include "stages/state.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
// Large blocks begin so many bytes apart from one another, modulo the size of a page: the same
// member of the states of several pipes, which a packet that goes around them visits in turn, would
// lie in the same set of the cache else.
#define COLOUR  ((size_t)1088)
#define COLOURS 8
#define LARGE   ((size_t)256 << 20)

// What the system could give without taking memory from somebody: asked for before large blocks,
// because it promises more than it has. SIZE_MAX when it does not say.
static size_t available(void) {
    unsigned long long kib = 0;
    char line[128];
    bool found = false;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
    if (f)
        fclose(f);
    return found ? (size_t)kib * 1024 : SIZE_MAX;
}

static bool is_there(size_t bytes) {
    return bytes < LARGE || bytes <= available();
}

// ---- memory that is not touched ----

#define HEAD ((size_t)64) // before each block; keeps its alignment

struct head {
    char *memory;
    size_t bytes;
};

static enum sk_state_pages lazily; // or 0; set before anything is made

void sk_state_lazily(enum sk_state_pages pages) {
    lazily = pages;
}

// In huge pages it begins with one: what is before that costs a small page.
static void *alloc_lazily(size_t bytes) {
    const bool huge = lazily == SK_STATE_HUGE_PAGES && bytes >= HUGE_PAGE;
    const size_t align = huge ? HUGE_PAGE : HEAD;
    if (bytes > SIZE_MAX - HEAD - 2 * align || (huge && !is_there(bytes)))
        return NULL;
    const size_t rounded = (bytes + align - 1) / align * align, all = HEAD + align + rounded;
    char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    char *state = (char *)(((uintptr_t)p + HEAD + align - 1) / align * align);
    if (huge)
        madvise(state, rounded, MADV_HUGEPAGE); // a hint: without huge pages it works as well
    *(struct head *)(void *)(state - HEAD) = (struct head){p, all};
    return state;
}

static void free_lazily(void *state) {
    if (!state)
        return;
    const struct head h = *(struct head *)(void *)((char *)state - HEAD);
    munmap(h.memory, h.bytes);
}

// ---- memory that is there ----

void *sk_state_alloc(size_t bytes) {
    if (lazily)
        return alloc_lazily(bytes);
    if (!is_there(bytes))
        return NULL;
    static unsigned colour;
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    size_t shift = HEAD + (bytes >= HUGE_PAGE ? colour++ % COLOURS * COLOUR : 0);
    if (bytes > SIZE_MAX - align - shift)
        return NULL;
    size_t rounded = (bytes + shift + align - 1) / align * align;
    char *p = aligned_alloc(align, rounded);
    if (!p)
        return NULL;
    if (align == HUGE_PAGE)
        madvise(p, rounded, MADV_HUGEPAGE); // a hint: without huge pages it works as well
    memset(p, 0, rounded);
    *(struct head *)(void *)(p + shift - HEAD) = (struct head){p, 0};
    return p + shift;
}

void sk_state_free(void *state) {
    if (lazily)
        free_lazily(state);
    else if (state)
        free((*(struct head *)(void *)((char *)state - HEAD)).memory);
}
