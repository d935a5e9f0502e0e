// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: an ATP server driven by arbitrary bytes (script.h).
#include "harness/hosts/atp/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    script_server(data, size, NULL);
    return 0;
}
