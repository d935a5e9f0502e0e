// SPDX-License-Identifier: Apache-2.0
//
// text: a string that grows at its end. See text.h.
#include "compiler/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_append(struct arena *a, struct text_buffer *t, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(t->v ? t->v + t->n : NULL, t->cap - t->n, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
    if (t->cap - t->n <= (size_t)n) {
        const size_t cap = 2 * (t->n + (size_t)n + 1);
        char *grown = arena_alloc(a, cap);
        if (t->n)
            memcpy(grown, t->v, t->n);
        t->v = grown;
        t->cap = cap;
        vsnprintf(t->v + t->n, t->cap - t->n, fmt, again);
    }
    va_end(again);
    t->n += (size_t)n;
}

const char *text_of(const struct text_buffer *t) {
    return t->n ? t->v : "";
}
