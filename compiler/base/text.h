// SPDX-License-Identifier: Apache-2.0
//
// text: a string that grows at its end, in the time that the new part takes.
#ifndef SILKEN_COMPILER_BASE_TEXT_H
#define SILKEN_COMPILER_BASE_TEXT_H

#include "compiler/base/arena.h"

// Starts empty when zeroed. 'v' is zero-terminated when 'n' is not 0; its storage is the arena's.
struct text_buffer {
    char *v;
    size_t n, cap;
};
void text_append(struct arena *a, struct text_buffer *t, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
const char *text_of(const struct text_buffer *t); // "" when it is empty

#endif
