// SPDX-License-Identifier: Apache-2.0
//
// bare_egress.p4 with EMPTY.
#define EMPTY
#include "bare_egress.p4"
