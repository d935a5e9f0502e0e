// SPDX-License-Identifier: Apache-2.0
//
// error: the one sentence that a failed call leaves, and filling it.
#ifndef SILKEN_BASE_ERROR_H
#define SILKEN_BASE_ERROR_H

struct sk_error {
    char text[512];
};

// Writes the sentence (cut to the space there is, control characters as '?') and returns the
// negative code that callers pass on. 'err' may be null.
int sk_fail(struct sk_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Puts "<prefix>: " before the sentence that is there.
void sk_error_prefix(struct sk_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
