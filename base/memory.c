// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void *sk_grow_room(void *items, size_t *room, size_t size) {
    *room = *room ? 2 * *room : 64;
    items = realloc(items, *room * size);
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
