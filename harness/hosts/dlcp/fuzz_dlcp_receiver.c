// SPDX-License-Identifier: Apache-2.0
//
// fuzz_dlcp_receiver: script_receiver() of scripts.h.
#include "harness/hosts/dlcp/scripts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct script_reach reach = {0};
    script_receiver(data, size, &reach);
    return 0;
}
