// SPDX-License-Identifier: Apache-2.0
//
// job: a job of Libra, as the files of sim/libra see it. Names begin with lsim_, since libra_ are
// those of hosts/libra, and of libra.h.
#ifndef SILKEN_SIM_LIBRA_JOB_H
#define SILKEN_SIM_LIBRA_JOB_H

#include "control/libra/libra.h"
#include "hosts/libra/layout.h"
#include "hosts/libra/server.h"
#include "hosts/libra/worker.h"
#include "sim/libra/libra.h"
#include "sim/libra/scenario.h"
#include "sim/libra/zipf.h"

#define LSIM_SERVERS  16u
#define LSIM_LINKS    (LSIM_SERVERS + 1) // 0: the switch; s + 1: server s
#define LSIM_TAGS     6u                 // workers whose pushes a sum can tell apart
#define LSIM_TAG_BITS 5u
#define LSIM_NEVER    UINT64_MAX

struct lsim_job;
struct lsim_worker;
struct lsim_app;

// A batch on its way. Its parts are the cookies of requests.
enum lsim_phase { LSIM_PUSH, LSIM_BARRIER, LSIM_PULL };
struct lsim_batch;
struct lsim_part {
    struct lsim_batch *batch;
    unsigned link;
    size_t n;        // pairs of the push
    uint32_t *out;   // of the pull; owned
    uint64_t *asked; // its keys; owned
};
struct lsim_batch {
    uint32_t number;
    enum lsim_phase phase;
    unsigned open; // parts
    uint64_t began;
    struct lsim_part part[LSIM_LINKS];
    struct lsim_batch *next; // of the app
};

// What became of a batch.
struct lsim_log {
    uint64_t began, acked[]; // by link: when its push was acknowledged; LSIM_NEVER
};

struct lsim_worker {
    struct lsim_job *job;
    uint32_t rank, station;
    struct lsim_app *app; // null: crashed
    uint32_t incarnation;
    uint32_t next, done, in_flight; // batches: to begin, done or given up
    uint64_t ready_at;              // for the next one
    bool failed, finished, gone;
    struct sim_random pace;
    struct lsim_log **log; // by batch; null: not begun
    // for results
    uint64_t finished_at, pairs, sent_before, repeated_before;
    json_t *times; // us from a batch's beginning to its end
};
struct lsim_server {
    struct lsim_job *job;
    uint32_t number, station;
    struct lsim_app *app; // null: crashed
    uint32_t incarnation;
    bool gone;           // for ever
    uint64_t crashed_at; // the last time; 0: never
    uint64_t since;      // pushes that were acknowledged after it are certain
};

struct lsim_job {
    struct sim *sim;
    const struct scn_libra *as;
    uint8_t number; // on the wire; 1 is the scenario's first
    struct zipf zipf;
    struct libra_layout layout; // of hot parameters
    struct lsim_worker *workers;
    uint32_t n_workers;
    struct lsim_server servers[LSIM_SERVERS];
    uint32_t n_servers, n_batches;
    uint32_t at;        // the switch that has the address
    uint32_t cell_base; // of one that a ToR admits
    bool failed, over, tagged;
    bool added;    // to Libra_s, or to a ToR, once
    uint32_t here; // the switch that has it; SCN_NONE: none
    uint64_t value_seed, start_ns;
    uint64_t *ranks; // of all batches, which are asked for again and again; null: too many to keep
    uint32_t *n_ranks; // of each; 0: not drawn yet
    uint32_t window, window_max;
    uint64_t rto_initial, rto_min, rto_max, hard_limit;
    // Pushes to the switch that were acknowledged in this time may be lost: (from, to].
    uint64_t lost_from, lost_to;
    bool ended; // lossless: it ended instead
    uint32_t moves;
    // of the check
    uint64_t verified, unchecked, hot_pairs, all_pairs;
};

struct lsim_control;
struct sim_libra {
    struct lsim_job *jobs;
    size_t n;
    struct lsim_control *control; // null: no controller
};

// job.c
struct lsim_job *lsim_job_numbered(const struct sim *s, uint32_t i);
uint64_t lsim_key(const struct lsim_job *j, uint64_t rank); // the parameter of this heat
uint32_t lsim_server_of(const struct lsim_job *j, uint64_t key);
uint32_t lsim_cells(const struct lsim_job *j); // in each of the switch's registers
// The ranks of a batch, rising; 'ranks' has room for as->draws.
size_t lsim_ranks(const struct lsim_job *j, uint32_t worker, uint32_t batch, uint64_t *ranks);
uint32_t lsim_integer(const struct lsim_job *j, uint32_t worker, uint32_t batch, uint64_t rank);
float lsim_float(const struct lsim_job *j, uint32_t worker, uint32_t batch, uint64_t rank);
void lsim_finished(struct lsim_worker *w);
void lsim_failed(struct lsim_worker *w, const char *why);

// member.c
uint16_t lsim_worker_port(const struct lsim_job *j); // UDP: from which workers send to the switch
struct lsim_app *lsim_worker_app(struct lsim_worker *w);
struct lsim_app *lsim_server_app(struct lsim_server *sv, struct sk_error *err);
struct libra_server *lsim_server_state(const struct lsim_server *sv); // null: not there
// 'link' of LSIM_LINKS; zeros: it has none.
struct libra_worker_stats lsim_link_stats(const struct lsim_app *a, unsigned link);
void lsim_give_up(struct lsim_app *a); // its worker has crashed; the host frees it

// switch.c
struct libra_s *lsim_switch(const struct sim *s, uint32_t station); // null: none runs there
// A request; takes it over. Null with a sentence.
json_t *lsim_ask(struct libra_s *l, json_t *request, struct sk_error *err);
// The request job.add of the job at this switch.
json_t *lsim_job_request(const struct lsim_job *j, const struct sim_node *n);

// admit.c
// Whether the control plane of a ToR admits it: its switch has a "tor", and no Libra_s.
bool lsim_is_admitted(const struct lsim_job *j);
// Of a job that is at its switch: what "registers" of libra.save is; a new reference.
json_t *lsim_admitted_cells(const struct lsim_job *j);

// controller.c
void lsim_control_make(struct sim *s);
void lsim_control_free(struct lsim_control *c);
bool lsim_control_moved(const struct lsim_control *c); // the address is at the standby

// sums.c
void lsim_sums_check(struct lsim_job *j);

#endif
