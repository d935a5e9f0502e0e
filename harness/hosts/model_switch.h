// SPDX-License-Identifier: Apache-2.0
//
// model_switch.h: SwitchML's algorithm 3 in a page of plain C, for tests only.
//
// It has the paper's variables (pool, count, seen; two versions of each slot) and the two maxima of
// exponents, and nothing that makes a switch fast or a P4 program. It trusts the frames it gets,
// except for their length, and knows a worker by the port. Values wrap modulo 2^32.
//
// What it is for: the other side of the worker's tests, and the expected answers when the compiled
// P4 program gets the same frames.
#ifndef SILKEN_HARNESS_HOSTS_MODEL_SWITCH_H
#define SILKEN_HARNESS_HOSTS_MODEL_SWITCH_H

#include "harness/hosts/switch_under_test.h"

// Makes a model. There is always memory, or the process ends: this is test code.
struct switch_under_test model_switch_new(void);

#endif
