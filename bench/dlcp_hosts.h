// SPDX-License-Identifier: Apache-2.0
//
// dlcp_hosts: DLCP's sender and receiver as state machines in memory, for bench/dlcp_hosts.c and
// the profiler. Results are looked at once, before anything is timed; a failure ends the process.
#ifndef SILKEN_BENCH_DLCP_HOSTS_H
#define SILKEN_BENCH_DLCP_HOSTS_H

#include <stdint.h>

// A sender, from the marks of a tensor on to the last frame.
struct dlcp_bench_worker;
struct dlcp_bench_worker *dlcp_bench_worker_new(void);
void dlcp_bench_worker_free(struct dlcp_bench_worker *b);
uint64_t dlcp_bench_worker_work(void *aux, uint64_t times); // 'aux' is one; returns data packets

// A receiver that adds what comes to a server's sums.
struct dlcp_bench_server;
struct dlcp_bench_server *dlcp_bench_server_new(void);
void dlcp_bench_server_free(struct dlcp_bench_server *b);
uint64_t dlcp_bench_server_work(void *aux, uint64_t times); // likewise

#endif
