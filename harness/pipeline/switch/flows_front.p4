/* SPDX-License-Identifier: Apache-2.0 */
/* flows.p4, which takes what is in front of a packet for a header of its own. */
#define AS_ANOTHER
#include "flows.p4"
