// SPDX-License-Identifier: Apache-2.0
//
// arena: chunks in a list; an allocation is cut from the newest one.
//
// Under AddressSanitizer every allocation is a chunk of its own, so that a read past the end of a
// node is seen instead of landing in the next one.
#include "compiler/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALIGNMENT 16u

#if defined(__SANITIZE_ADDRESS__)
#define CHUNK_BYTES 0u
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHUNK_BYTES 0u
#endif
#endif
#ifndef CHUNK_BYTES
#define CHUNK_BYTES 65536u
#endif

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

#define STEPS_BETWEEN (1u << 20) // looks at the clock

struct arena {
    struct chunk *chunks; // the newest first; only it is cut from
    size_t used;          // bytes of all chunks, and of what was counted
    size_t most;          // that 'used' may be
    size_t steps;         // since the last look at the clock
    int64_t end;          // in ns, of the thread's processor time
    jmp_buf *leave;       // null: no limits
    enum arena_exceeded exceeded;
};

static _Noreturn void out_of_memory(size_t bytes) {
    fprintf(stderr, "silken: out of memory (%zu bytes wanted)\n", bytes);
    abort();
}

struct arena *arena_new(void) {
    struct arena *a = calloc(1, sizeof *a);
    if (!a)
        out_of_memory(sizeof *a);
    return a;
}

void arena_free(struct arena *a) {
    if (!a)
        return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

// ---- limits ----

static int64_t thread_time(void) {
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void arena_limit(struct arena *a, size_t bytes, unsigned seconds, jmp_buf *leave) {
    a->most = bytes;
    a->end = leave ? thread_time() + (int64_t)seconds * 1000000000 : 0;
    a->steps = 0;
    a->leave = leave;
    if (leave)
        a->exceeded = ARENA_WITHIN;
}

enum arena_exceeded arena_exceeded(const struct arena *a) {
    return a->exceeded;
}

static _Noreturn void arena_leave(struct arena *a, enum arena_exceeded why) {
    jmp_buf *const leave = a->leave;
    a->leave = NULL;
    a->exceeded = why;
    longjmp(*leave, 1);
}

void arena_spend(struct arena *a, size_t steps) {
    a->steps += steps;
    if (a->steps < STEPS_BETWEEN)
        return;
    a->steps = 0;
    if (a->leave && thread_time() > a->end)
        arena_leave(a, ARENA_TOO_MUCH_TIME);
}

void arena_count(struct arena *a, size_t bytes) {
    a->used += bytes;
    if (a->leave && a->used > a->most)
        arena_leave(a, ARENA_TOO_MUCH_MEMORY);
    arena_spend(a, bytes);
}

// ---- memory ----

static struct chunk *chunk_new(struct arena *a, size_t size) {
    arena_count(a, sizeof(struct chunk) + size);
    struct chunk *c = calloc(1, sizeof *c + size);
    if (!c)
        out_of_memory(size);
    c->size = size;
    return c;
}

// A large object gets a chunk of its own after the newest one, whose rest stays in use.
static void *alloc_large(struct arena *a, size_t bytes) {
    struct chunk *c = chunk_new(a, bytes);
    c->used = bytes;
    if (a->chunks) {
        c->next = a->chunks->next;
        a->chunks->next = c;
    } else {
        a->chunks = c;
    }
    return c->bytes;
}

void *arena_alloc(struct arena *a, size_t bytes) {
    if (bytes > SIZE_MAX / 2)
        out_of_memory(bytes);
    size_t rounded = bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    if (CHUNK_BYTES == 0)
        return alloc_large(a, bytes ? bytes : 1);
    if (rounded > CHUNK_BYTES / 4)
        return alloc_large(a, rounded);
    if (!a->chunks || a->chunks->size - a->chunks->used < rounded) {
        struct chunk *c = chunk_new(a, CHUNK_BYTES);
        c->next = a->chunks;
        a->chunks = c;
    }
    void *p = a->chunks->bytes + a->chunks->used;
    a->chunks->used += rounded;
    return p;
}

char *arena_strdup(struct arena *a, const char *s) {
    return arena_strndup(a, s, strlen(s));
}

char *arena_strndup(struct arena *a, const char *s, size_t length) {
    char *copy = arena_alloc(a, length + 1);
    if (length)
        memcpy(copy, s, length);
    return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) {
    if (!fmt)
        abort();
    va_list measure;
    va_copy(measure, ap);
    int n = vsnprintf(NULL, 0, fmt, measure);
    va_end(measure);
    if (n < 0)
        out_of_memory(0);
    char *s = arena_alloc(a, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

void *arena_grow(struct arena *a, const void *old, size_t old_bytes, size_t *cap,
                 size_t item_size) {
    size_t wanted = *cap ? *cap * 2 : 4;
    if (wanted > SIZE_MAX / 2 / item_size)
        out_of_memory(wanted);
    void *grown = arena_alloc(a, wanted * item_size);
    if (old_bytes)
        memcpy(grown, old, old_bytes);
    *cap = wanted;
    return grown;
}
