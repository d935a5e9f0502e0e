// SPDX-License-Identifier: Apache-2.0
//
// fuzz_roce: roce_script() of script.h.
#include "harness/hosts/roce/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct roce_script_reach reach = {0};
    roce_script(data, size, &reach);
    return 0;
}
