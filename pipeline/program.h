// SPDX-License-Identifier: Apache-2.0
//
// program: a compiled P4 program in memory (dlopen of the compiler's output), or several of them
// for one switch, each in pipes of its own.
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

// What a program may be called: letters, digits, '_' and '-', at most SK_PROGRAM_NAME, and no digit
// or '-' at first. It becomes the name of a file.
#define SK_PROGRAM_NAME 63u
bool sk_program_name_is_good(const char *name);

// Programs as one, as a switch runs it: hardware pipe i runs pipeline places[i].pipeline of
// parts[places[i].part]. 'names' are for sentences. Each pipeline of each part has a pipe, and no
// two have one name; 'parts' are 2 to SK_PIPES. On success they belong to what is returned; on
// failure, with one sentence, to the caller still.
struct sk_program_place {
    uint8_t part, pipeline;
};
struct sk_program *sk_program_join(struct sk_program *const *parts, const char *const *names,
                                   size_t n, const struct sk_program_place places[SK_PIPES],
                                   char *error, size_t error_size);

#endif
