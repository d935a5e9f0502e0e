/* SPDX-License-Identifier: Apache-2.0
 *
 * with_levels.p4: switchml.p4 for jobs over several racks (section 7 of the paper): a switch sums for what is below it,
 * workers or switches, sends the partial sum to the switch above as a worker of that one, and what comes down to all below.
 * The same program is the top switch: its entries say so.
 */
#define WITH_LEVELS
#include "switchml.p4"
