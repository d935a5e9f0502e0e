// SPDX-License-Identifier: Apache-2.0
#include "control/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)64 << 20)

static char *read_all(FILE *f, size_t *length) {
    size_t room = 65536, n = 0;
    char *text = malloc(room);
    while (text && (n += fread(text + n, 1, room - n, f)) == room && room <= MAX_BYTES) {
        char *grown = realloc(text, room *= 2);
        if (!grown)
            free(text);
        text = grown;
    }
    *length = n;
    return text;
}

static const char *too_much(const struct stat *st) {
    return S_ISREG(st->st_mode)
               ? "it has more than 64 MiB"
               : "it is no file, and more than 64 MiB came out of it without an end";
}

char *sk_read_file(const char *path, size_t *length, struct sk_error *err) {
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) || S_ISDIR(st.st_mode)) {
        sk_fail(err, "cannot read %s: %s", path, f ? "it is a directory" : strerror(errno));
        if (f)
            fclose(f);
        return NULL;
    }
    errno = 0;
    char *text = read_all(f, length);
    bool bad = !text || ferror(f) || *length > MAX_BYTES;
    if (bad)
        sk_fail(err, "cannot read %s: %s", path,
                text && *length > MAX_BYTES ? too_much(&st) : strerror(errno ? errno : ENOMEM));
    fclose(f);
    if (bad) {
        free(text);
        return NULL;
    }
    text[*length] = 0; // the last fread ended before the room did
    return text;
}
