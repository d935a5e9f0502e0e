// SPDX-License-Identifier: Apache-2.0
//
// fuzz_compile: P4 text all the way to the generated C, which is not compiled. A program of TNA in
// the input stays one in most mutations (p4_mutator.h), so lowering, the register rule and
// emission see it, not only the parser.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/describe/wire.h"
#include "compiler/print/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/rules/regonce.h"
#include "compiler/syntax/syntax.h"
#include "compiler/wireshark/wireshark.h"
#include "harness/compiler/fuzz_text.h"

static void compile(struct arena *a, struct diag *d, const char *text, size_t size) {
    struct program *p = parse_p4(a, d, "fuzz.p4", text, size);
    if (diag_errors(d) || !check_program(a, d, p) || diag_errors(d))
        return;
    struct ir_program *ir = lower_program(a, d, "fuzz.p4", p);
    if (!ir || diag_errors(d) || !regonce_check(a, d, ir))
        return;
    char *c = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&c, &length);
    emit_c(out, a, d, ir, NULL);
    ir_dump(out, a, ir);
    emit_wire_header(out, ir);
    wireshark_dissector(out, a, ir);
    fclose(out);
    free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    const char *text = whole_text(a, (const char *)data, &size);
    diag_set_source(d, diag_file(d, "fuzz.p4"), text, size);
    compile(a, d, text, size);
    // A line marker could name a file to show; no test should open what fuzzing made up.
    if (!memchr(text, '#', size))
        diag_print(d, nowhere, true);
    arena_free(a);
    return 0;
}
