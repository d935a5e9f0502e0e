// SPDX-License-Identifier: Apache-2.0
//
// fuzz_front: any bytes through the parser and, when they are a program, through the checker; one
// arena per input, nothing read from disk. The tree is dumped and the messages are printed, too:
// both walk everything the parser made.
#include <stdint.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/syntax/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    const char *text = (const char *)data;
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    diag_set_source(d, diag_file(d, "fuzz.p4"), text, size);
    struct program *p = parse_p4(a, d, "fuzz.p4", text, size);
    ast_dump(nowhere, p);
    if (diag_errors(d) == 0)
        check_program(a, d, p);
    // A line marker could name a file to show; no test should open what fuzzing made up.
    if (!memchr(data, '#', size))
        diag_print(d, nowhere, true);
    arena_free(a);
    return 0;
}
