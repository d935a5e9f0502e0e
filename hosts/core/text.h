// SPDX-License-Identifier: Apache-2.0
//
// text.h: sentences put together in a buffer of fixed size.
//
// A text starts as SK_TEXT(buf, cap) and grows with sk_say(); what does not fit is cut, and the
// buffer always ends in a 0 (unless its capacity is 0). Concurrency: a text belongs to one thread.
#ifndef SILKEN_HOSTS_CORE_TEXT_H
#define SILKEN_HOSTS_CORE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct sk_text {
    char *buf;
    size_t cap;    // bytes at buf, with the final 0
    size_t length; // bytes written, without it; at most cap - 1
};

#define SK_TEXT(buffer, capacity)                                                                  \
    { .buf = (buffer), .cap = (capacity), .length = 0 }

__attribute__((format(printf, 2, 3))) static inline void sk_say(struct sk_text *t,
                                                                const char *format, ...) {
    size_t room = t->cap - t->length;
    va_list args;
    int n;

    if (t->cap == 0)
        return;
    va_start(args, format);
    n = vsnprintf(t->buf + t->length, room, format, args);
    va_end(args);
    if (n > 0)
        t->length += (size_t)n < room ? (size_t)n : room - 1;
}

#endif
