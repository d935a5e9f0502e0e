// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "control/service/service.h"

char *service_token_read(const char *path, struct sk_error *err) {
    struct stat st;
    size_t length;
    char *text = sk_read_regular_file(path, &length, err);
    if (!text)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    length = strlen(text);
    bool printable = true;
    for (const char *c = text; *c; c++)
        printable &= *c > ' ' && *c < 0x7f;
    int rc = 0;
    if (stat(path, &st) || st.st_mode & 07)
        rc = sk_fail(err, "%.200s can be read by everybody: chmod o= it", path);
    else if (!printable || length < SERVICE_TOKEN_LEAST || length > SERVICE_TOKEN_MOST)
        rc = sk_fail(err,
                     "%.200s has no token: its first line must be %u to %u printable characters "
                     "of ASCII without blanks",
                     path, SERVICE_TOKEN_LEAST, SERVICE_TOKEN_MOST);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}

bool service_token_same(const char *a, const char *b) {
    const size_t n = strlen(a), m = strlen(b);
    volatile unsigned differ = n != m;
    for (size_t i = 0; i < n; i++)
        differ |= (unsigned)(a[i] ^ b[m ? i % m : 0]);
    return differ == 0;
}
