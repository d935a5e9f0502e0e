// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/utf8.h"

#include <stdint.h>

size_t p4_utf8_length(const char *text) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80)
        return p[0] != 0;
    const size_t n = (p[0] & 0xe0) == 0xc0   ? 2
                     : (p[0] & 0xf0) == 0xe0 ? 3
                     : (p[0] & 0xf8) == 0xf0 ? 4
                                             : 0;
    uint32_t code = n ? p[0] & (0x7fu >> n) : 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (!n || code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return n;
}
