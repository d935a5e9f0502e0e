// SPDX-License-Identifier: Apache-2.0
//
// atp_hosts: ATP's worker and parameter server as state machines in memory, for bench/atp_hosts.c
// and the profiler. Results are looked at once, before anything is timed; a failure ends the
// process.
#ifndef SILKEN_BENCH_ATP_HOSTS_H
#define SILKEN_BENCH_ATP_HOSTS_H

#include <stdint.h>

// A worker that reduces a tensor, alone: what it sends comes back as parameters.
struct atp_bench_worker;
struct atp_bench_worker *atp_bench_worker_new(void);
void atp_bench_worker_free(struct atp_bench_worker *b);
// 'aux' is one; returns fragments, each one packet sent and one received.
uint64_t atp_bench_worker_work(void *aux, uint64_t times);

// A server of eight workers in two racks. 'parts' packets bring a fragment: 1 with the sum over
// all, 2 with that of a rack each, 8 of a worker each.
#define ATP_BENCH_WORKERS 8u
struct atp_bench_server;
struct atp_bench_server *atp_bench_server_new(unsigned parts);
void atp_bench_server_free(struct atp_bench_server *b);
// 'aux' is one; returns the packets received. For each 'parts' of them one is sent.
uint64_t atp_bench_server_work(void *aux, uint64_t times);

#endif
