/* SPDX-License-Identifier: Apache-2.0
 *
 * mirror_arrived: the annotation by which a Tofino 2's egress mirrors packets as they came.
 */
#define AS_RECEIVED
#include "mirror_2.p4"
