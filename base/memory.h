// SPDX-License-Identifier: Apache-2.0
//
// memory: arrays and buffers that grow, and copies of texts. Running out of memory aborts. One
// thread at a time for each array.
#ifndef SILKEN_BASE_MEMORY_H
#define SILKEN_BASE_MEMORY_H

#include <stddef.h>

void *sk_grow_room(void *items, size_t *room, size_t size); // for sk_grow()

// Makes room for one more item in an array of 'n' items of 'size' bytes, which has '*room' places.
// Returns the array, which may have moved.
static inline void *sk_grow(void *items, size_t n, size_t *room, size_t size) {
    return n < *room ? items : sk_grow_room(items, room, size);
}

// Makes room for 'more' more bytes in a buffer of 'n' bytes, which has '*room'. Returns the buffer,
// which may have moved.
void *sk_grow_bytes(void *bytes, size_t n, size_t more, size_t *room);

// An array of exactly 'n' items of 'size' bytes, for lists that rarely grow. Returns the array,
// which may have moved.
void *sk_resize(void *items, size_t n, size_t size);

// A copy that the caller frees; null of null.
char *sk_copy_text(const char *text);

#endif
