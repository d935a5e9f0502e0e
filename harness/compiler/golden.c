// SPDX-License-Identifier: Apache-2.0
#include "harness/compiler/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Null when there is no such file.
static char *read_file(const char *path) {
    char *text = NULL;
    size_t size = 0, n;
    char part[4096];
    FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);
    assert_non_null(out);
    while (in && (n = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, n, out);
    fclose(out);
    if (in) {
        fclose(in);
    } else {
        free(text);
        text = NULL;
    }
    return text;
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void print_first_difference(const char *got, const char *wanted) {
    size_t i = 0, line = 0;
    unsigned number = 1;
    for (; got[i] && got[i] == wanted[i]; i++)
        if (got[i] == '\n') {
            line = i + 1;
            number++;
        }
    print_error("line %u\n  expected %.*s\n  got      %.*s\n", number,
                (int)strcspn(wanted + line, "\n"), wanted + line, (int)strcspn(got + line, "\n"),
                got + line);
}

bool golden_same(const char *what, const char *got, const char *path) {
    if (getenv("UPDATE_GOLDEN"))
        write_file(path, got);
    char *wanted = read_file(path);
    bool same = wanted && strcmp(got, wanted) == 0;
    if (!wanted) {
        print_error("%s has no %s\n", what, path);
    } else if (!same) {
        print_error("%s differs from %s\n", what, path);
        print_first_difference(got, wanted);
    }
    free(wanted);
    return same;
}
