// SPDX-License-Identifier: Apache-2.0
//
// watch: a consistent snapshot of a running switch, for its operator.
//
//     watch.c     takes the snapshot: counts, queues, tables, jobs, read while the pipes pause
//     metrics.c   the snapshot as Prometheus text (exposition format 0.0.4)
//     http.c      the HTTP server that Prometheus and the page's readers ask
//     hits.c      how often packets looked up each table
//     aggregators.c   which jobs hold the aggregators of ATP
//     alarms.c    conditions that are reported to the operator without a request
//     sflow.c     datagrams of sFlow
//     telemetry.c the snapshot through DPDK's telemetry; telemetry_json.c: as JSON
//     shadow.c    predicts a packet's path through the running switch (shadow_impl.h)
//     shadow_check.c  whether packets can have the fields that a trace request names
//
// The pipes wait only for sk_watch_take(), which copies numbers; text is made afterwards.
// Comments call a snapshot a moment.
//
// Thread-safety: all of it on one thread, the control thread.
#ifndef SILKEN_CONTROL_WATCH_WATCH_H
#define SILKEN_CONTROL_WATCH_WATCH_H

#include "control/socket/requests.h"

#define SK_WATCH_NAME 64u

struct sk_watch_port {
    uint16_t port;
    bool up, loopback, has_device;
    char name[SK_WATCH_NAME]; // of the configuration, cut at a character; "" without
    struct sk_port_stats stats;
    struct sk_port_device device;
    struct sk_port_queue queue;
    uint32_t cells; // that wait in all its queues
    uint32_t deepest_cells;
    uint16_t deepest;
};
// What a queue did not take.
struct sk_watch_refused {
    size_t port; // its place among the ports
    uint16_t qid;
    uint8_t color; // sk_color_text
    enum sk_drop_reason reason;
    uint64_t packets;
};
struct sk_watch_table {
    const char *name; // as long as the program
    uint8_t pipe;
    uint64_t entries, size;
    bool fixed; // constant entries, or filled as a whole: to be full is no alarm
};
struct sk_watch {
    uint64_t clock;    // ns, the switch's
    uint64_t pause_ns; // how long the pipes waited, with what it took to stop them
    const char *program;
    struct sk_switch_stats stats;
    uint64_t remembered; // sk_switch_remembered()
    uint32_t inside, buffers_free, cell_bytes;
    struct sk_watch_port *ports; // n_ports of them
    struct sk_watch_table *tables;
    struct sk_watch_refused *refused;
    size_t n_ports, n_tables, n_refused, room_ports, room_tables, room_refused;
    struct sk_app_pool pools[SK_APP_POOLS];
    uint32_t pools_used[SK_APP_POOLS]; // cells
    json_t *jobs;                      // as sk_jobs_brief() has them
    // Owned. As Libra_s lists its jobs ("job.list"), or those of a ToR, whose members have
    // "repetitions". Null where neither runs.
    json_t *libra;
};

// Once for all moments: zeroed, or freed with sk_watch_free().
void sk_watch_take(struct sk_watch *w, const struct sk_service *service);
void sk_watch_free(struct sk_watch *w);
// The port's name in the configuration, as a moment has it.
void sk_watch_name(const struct sk_service *service, uint16_t port, char out[SK_WATCH_NAME]);

// What the control plane counted, which is not the switch's.
struct sk_watch_control {
    uint64_t pauses, paused_ns, longest_pause_ns; // of the pipes, for anything
    // processor time of the thread that paused them while all of them waited, in pauses during
    // which it kept its processor: in others it is charged for more than it did
    uint64_t longest_pause_cpu_ns;
    uint64_t requests, refused, clients; // of the control socket
    uint64_t scrapes, http_refused;      // of the metrics' port
    bool serves_jobs;                    // there is a job service:
    uint64_t jobs, workers, jobs_admitted, jobs_failed, workers_refused;
    uint64_t digests_lost;
    uint64_t started; // ns since 1970
};

// Prometheus text of the moment. The caller frees it. 'alarms': those that are raised now, as in
// the request "watch", with "kinds" (name: how often raised); may be null.
char *sk_metrics_text(const struct sk_watch *w, const struct sk_watch_control *control,
                      const json_t *alarms, const json_t *raised, size_t *length);

#endif
