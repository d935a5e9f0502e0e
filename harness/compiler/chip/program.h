// SPDX-License-Identifier: Apache-2.0
//
// program: a small TNA program made from its parts, and what the model of the chip says of it.
#ifndef SILKEN_HARNESS_COMPILER_CHIP_PROGRAM_H
#define SILKEN_HARNESS_COMPILER_CHIP_PROGRAM_H

#include <stddef.h>

#include "compiler/chip/chip.h"
#include "compiler/compile.h"

// Text of P4, each part optional. Of both gresses: headers are 'hdr', metadata 'md', parsers go on
// in state "first" after the architecture's metadata, deparsers emit 'hdr' at their end.
struct program_parts {
    const char *types;
    struct {
        const char *headers, *metadata, *parser_locals, *states, *control_locals, *apply,
            *deparser_locals, *deparse;
    } gress[2];
};

// The caller frees what is returned (compile_checked_free). Fails the test when the program is
// refused.
struct compile_checked *program_check(const struct program_parts *p);

// The pipe of a report that has one.
struct chip_pipe *program_pipe(const struct compile_checked *c);

// A violation of the rule, or null.
const struct chip_violation *program_violation(const struct compile_checked *c, const char *rule);

// Text that grows: appends printf'ed text. Starts as {0}; the caller frees 'v'.
struct text {
    char *v;
    size_t n;
};
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
