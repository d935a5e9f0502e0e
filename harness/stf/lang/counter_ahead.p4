// SPDX-License-Identifier: Apache-2.0
//
// counter_byte.p4 with AHEAD.
#define AHEAD
#include "counter_byte.p4"
