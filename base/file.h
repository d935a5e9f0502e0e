// SPDX-License-Identifier: Apache-2.0
//
// file: a whole text file in memory.
#ifndef SILKEN_BASE_FILE_H
#define SILKEN_BASE_FILE_H

#include <stddef.h>

#include "base/error.h"

// The file's bytes with a zero after them (malloc'ed), or null with a sentence. Regular files and
// pipes of at most 64 MiB.
char *sk_read_file(const char *path, size_t *length, struct sk_error *err);
// The same of regular files alone, for who must not wait: opening a FIFO would, until somebody
// writes.
char *sk_read_regular_file(const char *path, size_t *length, struct sk_error *err);

#endif
