// SPDX-License-Identifier: Apache-2.0
//
// preprocess: runs the C preprocessor over a P4 file, as P4_16 section 6.4 prescribes.
//
// The system's C compiler does it ("cc -E -x assembler-with-cpp -undef -nostdinc", the way the
// reference compiler does it); include folders are the given ones, then Silken's own p4/include:
// that of the build, or of the environment variable SILKEN_INCLUDE. __TARGET_TOFINO__ is 1 or 2.
// The preprocessor's messages become diagnostics, and its text comes back in the columns it was
// written in.
#ifndef SILKEN_COMPILER_SYNTAX_PREPROCESS_H
#define SILKEN_COMPILER_SYNTAX_PREPROCESS_H

#include "compiler/base/diag.h"

struct preprocess_options {
    const char *const *include_dirs; // -I, in order
    size_t n_include_dirs;
    const char *const *defines; // -D NAME[=V]
    size_t n_defines;
    unsigned tofino; // __TARGET_TOFINO__; 0: 1
    bool in_group;   // the command stays in the caller's process group
};

// Text of 'path' after preprocessing, in the arena, zero-terminated, '*length' its length; null
// after an error was reported.
char *preprocess_p4(struct arena *a, struct diag *d, const char *path,
                    const struct preprocess_options *opt, size_t *length);

// After parsing: whether the text of all files came. The preprocessor takes a file without a size
// (/proc has such) for empty; of one that is not, an error is reported.
bool check_included(struct diag *d);

// The same as preprocess_p4 from a regular file that has such text: nothing in it is a directive,
// and no file that its line markers name is opened.
char *read_preprocessed_p4(struct arena *a, struct diag *d, const char *path, size_t *length);

#endif
