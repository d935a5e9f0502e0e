// SPDX-License-Identifier: Apache-2.0
#include "sim/transport/levels.h"

uint32_t tr_level(const struct tr_levels *l, uint64_t bytes) {
    double bound = l->first;
    uint32_t level = 0;
    while (level + 1 < l->n && (double)bytes >= bound) {
        bound *= l->factor;
        level++;
    }
    return level;
}
