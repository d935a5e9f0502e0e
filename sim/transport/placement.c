// SPDX-License-Identifier: Apache-2.0
#include "sim/transport/placement.h"

struct placement placement_of(uint64_t bytes, uint64_t cut, uint32_t servers, uint64_t draw) {
    if (bytes > cut && servers > 1)
        return (struct placement){0, servers};
    return (struct placement){(uint32_t)(draw % servers), 1};
}
