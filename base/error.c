// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sk_fail(struct sk_error *err, const char *format, ...) {
    if (err) {
        va_list ap;
        va_start(ap, format);
        vsnprintf(err->text, sizeof err->text, format, ap);
        va_end(ap);
        // names and values are somebody's own, and may have anything in them; a sentence is a line
        for (char *c = err->text; *c; c++)
            if ((unsigned char)*c < ' ' || *c == 0x7f)
                *c = '?';
    }
    return -EINVAL;
}

void sk_error_prefix(struct sk_error *err, const char *format, ...) {
    if (!err)
        return;
    char prefix[sizeof err->text / 2], rest[sizeof err->text];
    va_list ap;
    va_start(ap, format);
    vsnprintf(prefix, sizeof prefix, format, ap);
    va_end(ap);
    memcpy(rest, err->text, sizeof rest);
    sk_fail(err, "%s: %s", prefix, rest);
}
