// SPDX-License-Identifier: Apache-2.0
//
// new_file: a file that takes its path when all of it is written, and not before: what was there
// stays whole until then. A device or a FIFO is written to directly.
//
//     struct new_file f;
//     const char *why = new_file_open(&f, "page.html");
//     if (!why) { write(f.out); why = new_file_close(&f); }
//     if (why) ... "cannot write page.html: <why>"
#ifndef SILKEN_CLI_NEW_FILE_H
#define SILKEN_CLI_NEW_FILE_H

#include <stdio.h>

struct new_file {
    FILE *out;
    char *path,
        *beside; // of what is replaced, behind links, and of what replaces it (null: neither)
};

// Both return null, or why it cannot be written; then nothing is left behind and nothing has
// changed.
const char *new_file_open(struct new_file *f, const char *path);
const char *new_file_close(struct new_file *f);
// Both, with these bytes.
const char *new_file_put(const char *path, const void *bytes, size_t n);

// A file in memory, with a path to write to. Returns its descriptor, which alone keeps it; -1 and
// errno.
#define NEW_FILE_MEMORY 40u
int new_file_in_memory(char path[NEW_FILE_MEMORY]);

#endif
