// SPDX-License-Identifier: Apache-2.0
//
// rack_ports: the same packets as rack.h's, through DPDK ports: each worker's is a net_ring device.
// A burst is put into a worker's device, the ports are polled, which takes it in, runs the switch
// and sends the results, and these are taken out again. Only the polling is timed, by the TSC.
#ifndef SILKEN_BENCH_RACK_PORTS_H
#define SILKEN_BENCH_RACK_PORTS_H

#include "bench/rack.h"

struct rack_ports;
// The rack stays the caller's and sends through the ports from then on. Ends the process with a
// sentence on failure, also when a first round does not give the sums.
struct rack_ports *rack_ports_new(struct rack *r, int cpu);
// Rounds for about 'ns'; returns ns per packet received, or 0 when the system took the processor
// away meanwhile.
double rack_ports_trial(struct rack_ports *p, double ns);
void rack_ports_free(struct rack_ports *p);

#endif
