// SPDX-License-Identifier: Apache-2.0
//
// preprocess: runs the C preprocessor over a P4 file, as P4_16 section 6.4 prescribes.
//
// The system's C compiler does it ("cc -E -x c -undef -nostdinc"); include folders are the given
// ones, then Silken's own p4/include. Its messages become diagnostics.
#ifndef SILKEN_COMPILER_PREPROCESS_H
#define SILKEN_COMPILER_PREPROCESS_H

#include "compiler/diag.h"

struct preprocess_options {
    const char *const *include_dirs; // -I, in order
    size_t n_include_dirs;
    const char *const *defines; // -D NAME[=V]
    size_t n_defines;
};

// Text of 'path' after preprocessing, in the arena, zero-terminated, '*length' its length; null
// after an error was reported.
char *preprocess_p4(struct arena *a, struct diag *d, const char *path,
                    const struct preprocess_options *opt, size_t *length);

#endif
