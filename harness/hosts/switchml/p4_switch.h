// SPDX-License-Identifier: Apache-2.0
//
// p4_switch.h: the compiled p4/switchml/switchml.p4, or halves.p4, as a switch under test.
//
// The same engine, control names and table entries as in a running switch; only the ports are the
// test's. Worker i of the job sits at device port i, or, with `spread`, at port i of pipe i mod 4,
// so that packets also reach the first pipe from others.
//
// Concurrency: a switch belongs to one thread at a time. Failures to compile, load or configure end
// the process: nothing can be tested then.
#ifndef SILKEN_HARNESS_HOSTS_SWITCHML_P4_SWITCH_H
#define SILKEN_HARNESS_HOSTS_SWITCHML_P4_SWITCH_H

#include "harness/hosts/switch_under_test.h"
#include "harness/net/program.h"

struct switch_under_test p4_switch_new(bool spread);

// The same of p4/switchml/halves.p4, which adds 16-bit floats.
struct switch_under_test p4_switch_of_halves(bool spread, enum net_build build);

#endif
