// SPDX-License-Identifier: Apache-2.0
//
// fuzz_check: P4 text to the model of the chip: front end, lowering, the model for both chips, and
// the report in its three forms. Seeds and the line "#arch NAME" are those of fuzz_compile
// (fuzz_text.h).
#include "compiler/check/check.h"
#include "compiler/chip/report/report.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/syntax.h"
#include "harness/compiler/fuzz_text.h"

static void print(const struct chip_report *r) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    chip_print_text(out, r, true, 80);
    chip_print_json(out, r);
    chip_print_html(out, r);
    fclose(out);
    free(text);
}

static void check(struct arena *a, struct diag *d, const char *text, size_t size) {
    struct program *p = parse_p4(a, d, "fuzz.p4", text, size);
    if (diag_errors(d) || !check_program(a, d, p) || diag_errors(d))
        return;
    struct ir_program *ir = lower_program(a, d, "fuzz.p4", p);
    if (!ir || diag_errors(d))
        return;
    print(chip_check(a, d, ir, CHIP_TOFINO1));
    print(chip_check(a, d, ir, CHIP_TOFINO2));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    const char *text = whole_text(a, (const char *)data, &size);
    // A line marker could name a file to show; no test should open what fuzzing made up.
    if (!memchr(text, '#', size)) {
        diag_set_source(d, diag_file(d, "fuzz.p4"), text, size);
        check(a, d, text, size);
    }
    arena_free(a);
    return 0;
}
