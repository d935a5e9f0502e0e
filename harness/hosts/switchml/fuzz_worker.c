// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: clang -fsanitize=fuzzer,address,undefined with this file, worker_script.c,
// answer.c, netsim.c and the sources of hosts/switchml, quantise.c and timers.c.
#include "harness/hosts/switchml/worker_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_worker_script(data, size, NULL);
    return 0;
}
