// SPDX-License-Identifier: Apache-2.0
//
// fuzz_program: the program harness/stf/everything.p4 for fuzz targets, compiled with sanitizers
// and with the coverage that guides a fuzzer. Run from the top of the tree.
#ifndef SILKEN_HARNESS_CONTROL_FUZZ_PROGRAM_H
#define SILKEN_HARNESS_CONTROL_FUZZ_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>

#include "compiler/compile.h"
#include "pipeline/program.h"

// Aborts with a message when it cannot. The caller frees it, or keeps it as long as the process.
static inline struct sk_program *fuzz_program(void) {
    const struct compile_options opt = {
        .path = "harness/stf/everything.p4", .cache_dir = "build/fuzz/cache", .sanitize = true};
    char error[256] = "it does not compile";
    setenv("CC", "clang -fsanitize=fuzzer-no-link", 0);
    char *path = compile_p4(&opt, stderr);
    struct sk_program *prog = path ? sk_program_load(path, error, sizeof error) : NULL;
    if (!prog) {
        fprintf(stderr, "%s: %s\n", opt.path, error);
        abort();
    }
    free(path);
    return prog;
}

#endif
