// SPDX-License-Identifier: Apache-2.0
//
// program: a compiled P4 program in memory (dlopen of the compiler's output).
#ifndef SILKEN_PIPELINE_PROGRAM_H
#define SILKEN_PIPELINE_PROGRAM_H

#include "pipeline/abi.h"

struct sk_program;

// Loads 'path'; null is the running executable itself, when one is linked in (tests). On failure
// returns null and writes one sentence to 'error' (at most 'error_size' bytes with the final zero).
// The description is checked: abi version, counts, names.
struct sk_program *sk_program_load(const char *path, char *error, size_t error_size);
void sk_program_free(struct sk_program *p); // null allowed; no switch may still use it
const struct sk_program_desc *sk_program_desc(const struct sk_program *p);

#endif
