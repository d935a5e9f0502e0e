// SPDX-License-Identifier: Apache-2.0
//
// fuzz_stf: any bytes as a packet script, parsed and, when they are one, run on the toy program.
#include <stdint.h>

#include "harness/pipeline/toy_program.c" // a fuzz target is linked alone
#include "pcap/stf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere;
    static struct sk_program *prog;
    if (!nowhere) {
        nowhere = fopen("/dev/null", "w");
        prog = toy_load();
    }
    struct stf_script *s = stf_parse("fuzz.stf", (const char *)data, size, nowhere);
    if (s)
        stf_run(s, prog, &(struct stf_options){size % 2}, nowhere);
    stf_free(s);
    return 0;
}
