// SPDX-License-Identifier: Apache-2.0
#include "brt/package.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define PACKAGE_MAGIC   "SilkenP4"
#define PACKAGE_VERSION 1u
#define PACKAGE_HEAD    16u

static void package_digest(const uint8_t *bytes, size_t n, uint8_t digest[SHA256_DIGEST_LENGTH]) {
    SHA2_CTX sha;
    SHA256Init(&sha);
    SHA256Update(&sha, bytes, n);
    SHA256Final(digest, &sha);
}

// Line markers keep the files' names, not where they are on this machine: `# 1 "/home/x/a.p4" 2`.
static size_t package_without_folders(char *text, size_t n) {
    char *to = text;
    for (char *line = text, *const whole = text + n; line < whole;) {
        char *end = memchr(line, '\n', (size_t)(whole - line)), *quote = NULL, *last = NULL;
        end = end ? end + 1 : whole;
        if (end - line > 2 && line[0] == '#' && line[1] == ' ')
            quote = memchr(line, '"', (size_t)(end - line));
        if (quote)
            last = memrchr(line, '"', (size_t)(end - line));
        char *from = line;
        if (quote && last > quote) {
            char *name = memrchr(quote, '/', (size_t)(last - quote));
            memmove(to, line, (size_t)(quote + 1 - line));
            to += quote + 1 - line;
            from = name ? name + 1 : quote + 1;
        }
        memmove(to, from, (size_t)(end - from));
        to += end - from;
        line = end;
    }
    return (size_t)(to - text);
}

uint8_t *brt_package_write(const void *text, size_t n, size_t *length) {
    uint8_t *bytes = malloc(PACKAGE_HEAD + n + SHA256_DIGEST_LENGTH);
    if (!bytes)
        abort();
    memcpy(bytes, PACKAGE_MAGIC, 8);
    put32(bytes + 8, PACKAGE_VERSION);
    memcpy(bytes + PACKAGE_HEAD, text, n);
    n = package_without_folders((char *)bytes + PACKAGE_HEAD, n);
    put32(bytes + 12, (uint32_t)n);
    package_digest(bytes, PACKAGE_HEAD + n, bytes + PACKAGE_HEAD + n);
    *length = PACKAGE_HEAD + n + SHA256_DIGEST_LENGTH;
    return bytes;
}

int brt_package_read(const uint8_t *bytes, size_t length, const uint8_t **text, size_t *n,
                     struct sk_error *err) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    if (length < 8 || memcmp(bytes, PACKAGE_MAGIC, 8) != 0)
        return sk_fail(err, "the binary is not a program of `silken build --sde`");
    if (length < PACKAGE_HEAD + SHA256_DIGEST_LENGTH)
        return sk_fail(err, "the binary ends after %zu bytes, in its head", length);
    if (get32(bytes + 8) != PACKAGE_VERSION)
        return sk_fail(err, "the binary has version %u; this switch reads version %u",
                       get32(bytes + 8), PACKAGE_VERSION);
    *n = get32(bytes + 12);
    if (*n > BRT_PACKAGE_MOST)
        return sk_fail(err, "the binary has %zu bytes of text; the most are %zu", *n,
                       BRT_PACKAGE_MOST);
    if (length != PACKAGE_HEAD + *n + SHA256_DIGEST_LENGTH)
        return sk_fail(err, "the binary has %zu bytes where its head says %zu", length,
                       PACKAGE_HEAD + *n + SHA256_DIGEST_LENGTH);
    package_digest(bytes, PACKAGE_HEAD + *n, digest);
    if (memcmp(digest, bytes + PACKAGE_HEAD + *n, sizeof digest) != 0)
        return sk_fail(err, "the binary was changed: its digest is another");
    *text = bytes + PACKAGE_HEAD;
    if (memchr(*text, 0, *n))
        return sk_fail(err, "the binary's text has a NUL byte");
    return 0;
}
