// SPDX-License-Identifier: Apache-2.0
//
// arena: memory that lives exactly as long as one compilation.
//
// Every node of the AST, every type, every piece of IR is allocated from the one arena of its
// compilation and freed with it, all at once. Nothing in the compiler frees single objects, so
// sharing a node is always safe. Memory is zeroed. When the machine has no memory left the process
// aborts: a compiler that cannot allocate has nothing sensible left to do.
//
// A compilation is bounded by its arena: arena_limit() sets how many bytes and how much processor
// time it may take. The allocation, or the step, that goes beyond leaves the compilation by
// longjmp. So a phase needs no bound of its own, and must not own what only it can give back (a
// file, malloc'ed memory) while it calls these functions.
//
// Not thread-safe: one compilation, one arena, one thread.
#ifndef SILKEN_COMPILER_BASE_ARENA_H
#define SILKEN_COMPILER_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); // null is allowed

// ---- limits ----
enum arena_exceeded { ARENA_WITHIN, ARENA_TOO_MUCH_MEMORY, ARENA_TOO_MUCH_TIME };
// From here on: 'bytes' in all, and 'seconds' of the calling thread's processor time from now. What
// exceeds that jumps to '*leave', which must stay valid until limits are set again. Null: there are
// no limits.
void arena_limit(struct arena *a, size_t bytes, unsigned seconds, jmp_buf *leave);
enum arena_exceeded arena_exceeded(const struct arena *a); // of the limits that were set last
// Counts memory that is not the arena's but the compilation's: text in a stream.
void arena_count(struct arena *a, size_t bytes);
// Counts steps, each of some nanoseconds, of a loop that allocates little for what it does.
void arena_spend(struct arena *a, size_t steps);

// ---- memory ----
void *arena_alloc(struct arena *a, size_t bytes); // zeroed, aligned to 16
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t length);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (n)))

// A growable array whose storage comes from an arena. Declare with VEC(T) name; it starts empty
// when zeroed. Old storage is left behind on growth (the arena reclaims it at the end).
#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *v;                                                                                   \
        size_t n, cap;                                                                             \
    }
#define VEC_PUSH(a, vec, item)                                                                     \
    do {                                                                                           \
        if ((vec)->n == (vec)->cap)                                                                \
            (vec)->v = arena_grow((a), (vec)->v, (vec)->n * sizeof *(vec)->v, &(vec)->cap,         \
                                  sizeof *(vec)->v);                                               \
        (vec)->v[(vec)->n++] = (item);                                                             \
    } while (0)
void *arena_grow(struct arena *a, const void *old, size_t old_bytes, size_t *cap, size_t item_size);

#endif
