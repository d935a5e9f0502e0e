// SPDX-License-Identifier: Apache-2.0
//
// levels: which priority a packet has, 0 being the highest.
//
// PIAS (Bai et al., NSDI 2015): by the bytes that its flow has sent before it; a flow falls from
// level to level and never rises. The thresholds there come from the sizes of all flows by an
// optimisation; here they grow by a factor, so that each level has as many orders of magnitude.
//
// pFabric: by the bytes that its flow has left. Its switch has a level for each packet; 32 queues
// are the most that a port of the chip has, in 8 priorities, of which four each share by weights,
// 1000 : 100 : 10 : 1: as near to strict as the chip's scheduler comes.
#ifndef SILKEN_SIM_TRANSPORT_LEVELS_H
#define SILKEN_SIM_TRANSPORT_LEVELS_H

#include <stdint.h>

// Levels by size: below 'first' bytes 0, below first * factor 1, ...; 'n' levels in all.
struct tr_levels {
    uint32_t n;
    double first, factor;
};
uint32_t tr_level(const struct tr_levels *l, uint64_t bytes);

#endif
