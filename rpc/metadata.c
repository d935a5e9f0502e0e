// SPDX-License-Identifier: Apache-2.0
//
// metadata: texts as gRPC sends them: timeouts, percent-encoding, base64.
#include <stdlib.h>
#include <string.h>

#include "rpc/rpc_impl.h"

#define TIMEOUT_DIGITS 8u

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint64_t metadata_unit(uint8_t letter) {
    switch (letter) {
    case 'H':
        return UINT64_C(3600000000000);
    case 'M':
        return UINT64_C(60000000000);
    case 'S':
        return UINT64_C(1000000000);
    case 'm':
        return UINT64_C(1000000);
    case 'u':
        return UINT64_C(1000);
    case 'n':
        return 1;
    default:
        return 0;
    }
}

bool rpc_timeout(const uint8_t *text, size_t length, uint64_t *ns) {
    uint64_t value = 0;
    if (length < 2 || length > TIMEOUT_DIGITS + 1)
        return false;
    for (size_t i = 0; i < length - 1; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    // 99999999 hours do not fit 64 bits of nanoseconds: no deadline
    if (__builtin_mul_overflow(value, metadata_unit(text[length - 1]), ns))
        *ns = UINT64_MAX;
    return metadata_unit(text[length - 1]) != 0;
}

// Printable ASCII other than '%' is kept; every other byte becomes %XX.
char *rpc_percent_encode(const char *text) {
    static const char digits[] = "0123456789ABCDEF";
    char *encoded = malloc(3 * strlen(text) + 1), *to = encoded;
    if (!encoded)
        abort();
    for (; *text; text++) {
        const uint8_t c = (uint8_t)*text;
        if (c >= ' ' && c <= '~' && c != '%') {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 15];
        }
    }
    *to = 0;
    return encoded;
}

size_t rpc_base64_room(size_t length) {
    return length / 3 * 4 + 5;
}

char *rpc_base64_encode(const uint8_t *bytes, size_t length) {
    char *encoded = malloc(rpc_base64_room(length)), *to = encoded;
    if (!encoded)
        abort();
    for (size_t i = 0; i < length; i += 3) {
        const size_t n = length - i < 3 ? length - i : 3;
        const uint32_t group = (uint32_t)bytes[i] << 16 |
                               (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (n > 2 ? bytes[i + 2] : 0);
        for (size_t k = 0; k <= n; k++)
            *to++ = alphabet[group >> (18 - 6 * k) & 63];
    }
    *to = 0;
    return encoded;
}

static int metadata_digit(uint8_t c) {
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

ssize_t rpc_base64_decode(const uint8_t *text, size_t length, uint8_t *out) {
    uint32_t bits = 0;
    size_t n = 0;
    const size_t least = length > 0 && length % 4 == 0 ? length - 2 : length;
    while (length > least && text[length - 1] == '=')
        length--;
    if (length % 4 == 1)
        return -1;
    for (size_t i = 0; i < length; i++) {
        const int digit = metadata_digit(text[i]);
        if (digit < 0)
            return -1;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 != 0)
            out[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return (ssize_t)n;
}
