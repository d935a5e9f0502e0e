/* SPDX-License-Identifier: Apache-2.0 */
/* roce_crcs.p4, whose egress changes nothing after UDP. */
#define LITTLE
#include "roce_crcs.p4"
