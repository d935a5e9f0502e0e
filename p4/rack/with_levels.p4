/* SPDX-License-Identifier: Apache-2.0
 *
 * with_levels.p4: rack.p4 whose SwitchML is that of p4/switchml/with_levels.p4: for jobs over several racks.
 */
#define WITH_LEVELS
#include "rack.p4"
