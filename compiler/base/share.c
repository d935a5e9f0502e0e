// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/share.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *share_join(const char *folder, const char *file) {
    char *path;
    if (asprintf(&path, *file ? "%s/%s" : "%s", folder, file) < 0)
        abort(); // no memory
    return path;
}

static bool share_cut(char *path) {
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return slash;
}

// share/silken in the folder that the program's folder is in; null: it is not there. The caller
// frees it.
static char *share_beside_program(void) {
    char program[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    if (!share_cut(program) || !share_cut(program))
        return NULL;
    char *folder = share_join(program, "share/silken"),
         *sign = share_join(folder, "p4/include/tna.p4");
    const bool there = access(sign, R_OK) == 0;
    free(sign);
    if (!there) {
        free(folder);
        folder = NULL;
    }
    return folder;
}

char *silken_share_path(const char *file) {
    const char *named = getenv("SILKEN_ROOT");
    if (named && *named)
        return share_join(named, file);
    char *beside = share_beside_program(),
         *path = share_join(beside ? beside : SILKEN_SHARE_DIR, file);
    free(beside);
    return path;
}
