/* SPDX-License-Identifier: Apache-2.0 */
/* flows.p4, which looks at the time that a packet came at without naming it. */
#define LOOKED_AHEAD
#include "flows.p4"
