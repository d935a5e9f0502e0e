// SPDX-License-Identifier: Apache-2.0
//
// server.h: a parameter server of an ATP job, in real time.
//
// For programs that are a server; `silken server` is one. The server has a lane for each of the
// workers' (silken/allreduce.h): a device, addresses, and a thread that answers that lane's flow
// (hosts/atp/server.h). Threads share nothing.
//
//      struct silken_server_config config;
//      struct silken_server *server;
//      char why[256];
//
//      silken_server_config_init(&config);
//      config.job = 7, config.workers = 4;
//      config.lanes = 1, config.lane = &lane;
//      if (silken_server_open(&server, &config, why, sizeof why) != 0)
//          say why;
//      sleep until the job is over;
//      silken_server_close(server);
//
// A server has no idea when a job is over: it answers until it is closed. It goes from one of the
// job's sessions to the next (silken/allreduce.h, SESSIONS), and begins each with fragment 0 of its
// flows. The job's first server coordinates them. A server without sessions has only one, and
// workers that begin again need a new server.
//
// All functions may be called from any thread, except that silken_server_close() needs all others
// to be done with the server. Results are 0 or an error code (hosts/include/silken/error.h).
#ifndef SILKEN_SERVER_H
#define SILKEN_SERVER_H

#include "silken/allreduce.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) // what libsilken exports

struct silken_server;

// A lane: what workers send to, and the group to which they listen on that lane. 'device', 'cpu'
// and
// 'transport' mean what they mean in struct silken_lane.
struct silken_server_lane {
    struct silken_address address, group;
    const char *device;
    int cpu;
    struct sk_transport *transport;
};

struct silken_server_config {
    uint8_t job; // 1..127
    uint32_t workers;
    const uint32_t *rack;     // by worker; NULL: all in rack 0
    uint32_t server_rack;     // this server's
    uint32_t servers, number; // of the job, and which one this is, from 0 on
    enum silken_type type;    // of all tensors of the job

    uint32_t first_index, indices; // aggregators, as the workers have it
    bool fixed_indices;            // no new index after a collision (section 3.6)
    bool dynamic_scale;            // of floats (appendix B.3)
    uint32_t window_max;           // the greatest of the workers'
    uint32_t restart_every_ms;     // until workers have heard of another shape

    uint32_t lanes; // as many as the workers have
    const struct silken_server_lane *lane;

    // Sessions, as in struct silken_config. The switch is that of this server's rack.
    bool no_session, no_switch;
    const char *switch_mac, *switch_ip;
    struct silken_address first; // lane 0 of the job's first server; not looked at if this is it

    // Gets messages as silken_config.log does.
    void (*log)(void *log_context, const char *text);
    void *log_context;
};

// One server of the job, floats, 65536 aggregators, 1024 packets, 10 ms.
void silken_server_config_init(struct silken_server_config *config);

// Opens a server, which answers from then on. Results, 'why' and what is kept of the configuration
// as with silken_open().
int silken_server_open(struct silken_server **server, const struct silken_server_config *config,
                       char *why, size_t why_cap);

// Ends it. NULL is accepted.
void silken_server_close(struct silken_server *server);

// The workers are in other racks from now on: rack[workers]. What is not complete is summed again.
// Errors as those of silken_reshape().
int silken_server_reshape(struct silken_server *server, const uint32_t *rack, char *why,
                          size_t why_cap);

// How far a lane's flow has got, as of the last piece of work: where a new worker begins. It does
// not change while a worker is missing. False while another shape has not been taken yet.
bool silken_server_first(struct silken_server *server, uint32_t lane, struct silken_first *first);

struct silken_server_stats {
    uint64_t gradients; // packets that were added to a sum
    uint64_t from_one, from_some,
        from_all;                           // of them: one worker's, a part of the sum, all of it
    uint64_t completed;                     // fragments
    uint64_t parameters_sent;               // packets, with repetitions
    uint64_t repeated;                      // the repetitions
    uint64_t overflows;                     // fragments asked for as floats
    uint64_t rehashed;                      // aggregators exchanged for others after collisions
    uint64_t marks;                         // gradients that tell of long queues (ECN)
    uint64_t ignored[SILKEN_IGNORED_KINDS]; // silken_ignored_name(SILKEN_ATP, kind)
    uint64_t tx_bytes, rx_bytes;            // of frames
    uint64_t tx_full, rx_dropped;           // frames the transport had no room for
};

// The counters of all lanes, as of the last piece of work.
void silken_server_stats(struct silken_server *server, struct silken_server_stats *stats);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
