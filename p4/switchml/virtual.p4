/* SPDX-License-Identifier: Apache-2.0
 *
 * virtual.p4: with_levels.p4 where each pipe is a switch of its own, with its own workers, slots and port to the switch above
 * (section 7 of the paper). Packets stay in the pipe that they came to, so they have 32 or 64 elements.
 */
#define WITH_LEVELS
#define VIRTUAL
#include "switchml.p4"
