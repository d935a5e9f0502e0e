// SPDX-License-Identifier: Apache-2.0
//
// fuzz_stf: any bytes as a packet script, parsed and, when they are one, run on a program
// that has one of each object.
#include <stdint.h>

#include "harness/control/fuzz_program.h"
#include "pcap/stf/stf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere;
    static struct sk_program *prog;
    if (!nowhere) {
        nowhere = fopen("/dev/null", "w");
        prog = fuzz_program();
    }
    struct stf_script *s = stf_parse("fuzz.stf", (const char *)data, size, nowhere);
    if (s)
        stf_run(s, prog, &(struct stf_options){.smaller_priority_wins = size % 2}, nowhere);
    stf_free(s);
    return 0;
}
