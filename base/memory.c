// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void *sk_grow_room(void *items, size_t *room, size_t size) {
    *room = *room ? 2 * *room : 64;
    return sk_resize(items, *room, size);
}

void *sk_grow_bytes(void *bytes, size_t n, size_t more, size_t *room) {
    if (n + more <= *room)
        return bytes;
    *room = 2 * *room + more + 256;
    return sk_resize(bytes, *room, 1);
}

void *sk_resize(void *items, size_t n, size_t size) {
    items = reallocarray(items, n, size);
    if (!items)
        abort();
    return items;
}

char *sk_copy_text(const char *text) {
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        abort();
    return copy;
}
