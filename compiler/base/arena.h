// SPDX-License-Identifier: Apache-2.0
//
// arena: memory that lives exactly as long as one compilation.
//
// Every node of the AST, every type, every piece of IR is allocated from the one arena of its
// compilation and freed with it, all at once. Nothing in the compiler frees single objects, so
// sharing a node is always safe. Memory is zeroed. Running out of memory aborts: a compiler that
// cannot allocate has nothing sensible left to do.
//
// Not thread-safe: one compilation, one arena, one thread.
#ifndef SILKEN_COMPILER_BASE_ARENA_H
#define SILKEN_COMPILER_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); // null is allowed

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
