// SPDX-License-Identifier: Apache-2.0
//
// memory: the resources of a unit in a stage (tna-facts 7.3): match entries, action data, attached
// memories, crossbars, hash bits, buses.
//
// Files:
//
//     memory.c    a unit's format from its key, actions and annotations, and its resources
//     key.c       keys as bytes on a crossbar
//     match.c     entries in RAMs
//     attached.c  registers, counters, meters, selectors and action profiles of a unit
//     limits.c    units that do not fit even an empty stage
#ifndef SILKEN_COMPILER_CHIP_MEMORY_MEMORY_H
#define SILKEN_COMPILER_CHIP_MEMORY_MEMORY_H

#include "compiler/chip/chip.h"

// Fills need[] and the format of every unit of the pipe. Adds violations for a unit that no empty
// stage could hold, if it may not be split.
void chip_memory(struct chip_report *r, struct chip_pipe *pipe);
// What 'entries' of a unit's entries take, in used[]. What does not depend on the number of entries
// (crossbars, ALUs, the memories of what is attached indirectly) is counted whole.
void chip_memory_of(const struct chip_report *r, const struct chip_unit *u, uint64_t entries,
                    unsigned used[CHIP_RESOURCES]);

#endif
