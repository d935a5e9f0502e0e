// SPDX-License-Identifier: Apache-2.0
//
// rig.h: jobs with made-up addresses, and packets by hand, for the tests of ATP's hosts.
//
// Addresses: worker w has MAC 02:00:00:00:01:w and IP 10.0.0.1 + w, the server 02:00:00:00:ee:01
// and 10.0.254.1, the group 01:00:5e:00:00:07 and 239.0.0.7. Failures end the test. No state.
#ifndef SILKEN_HARNESS_HOSTS_ATP_RIG_H
#define SILKEN_HARNESS_HOSTS_ATP_RIG_H

#include "hosts/atp/server.h"
#include "hosts/atp/worker.h"

#define RIG_JOB 5

struct atp_flow rig_flow(unsigned worker);

// Configurations of a job of 'workers' workers in one rack: window 8 of at most 16, timeout 1 ms
// to 8 ms.
struct atp_worker_config rig_worker_config(unsigned worker, unsigned workers);
struct atp_server_config rig_server_config(unsigned workers);
struct atp_worker *rig_worker(const struct atp_worker_config *config);
struct atp_server *rig_server(const struct atp_server_config *config);

// The next frame of a worker or server: false if no frame is left. 'frame' has ATP_FRAME_BYTES; the
// packet points into it.
bool rig_sent(struct atp_worker *w, uint64_t now, uint8_t *frame, struct atp_packet *packet);
bool rig_answer(struct atp_server *s, uint64_t now, uint8_t *frame, struct atp_packet *packet);

// Gives a packet with 62 'values' (NULL: zeros) to a worker, as from the server (is_ack is set), or
// to the server, as from worker 'from'.
enum atp_reason rig_give(struct atp_worker *w, const struct atp_packet *packet,
                         const uint32_t *values, uint64_t now);
enum atp_reason rig_push(struct atp_server *s, unsigned from, const struct atp_packet *packet,
                         const uint32_t *values, uint64_t now);

uint32_t rig_value(const struct atp_packet *packet, unsigned i);
uint32_t rig_bits(float x);
float rig_float(uint32_t bits);

#endif
