// SPDX-License-Identifier: Apache-2.0
//
// counter_byte.p4 with UPPER.
#define UPPER
#include "counter_byte.p4"
