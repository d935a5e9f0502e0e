// SPDX-License-Identifier: Apache-2.0
//
// jobs: the state of aggregation jobs in a running switch, for "why does my training stand still?".
//
// Works for programs that keep their state as p4/switchml does: a table of workers whose action
// gives the worker's bit, the job's size and its slots; two bitmaps, one per pool version, of the
// workers whose part is in a slot; a count of the missing ones; a counter of drops by reason and,
// if it has one, a counter of wrong checksums by replication id.
// jobs.c has the names of these objects in one place. Beside these, jobs of Libra (jobs_libra.c).
// For other programs the result is one sentence that says so.
#ifndef SILKEN_CONTROL_STATE_JOBS_H
#define SILKEN_CONTROL_STATE_JOBS_H

#include <jansson.h>

#include "control/tables/control.h"
#include "control/tables/pauses.h"

// {"jobs": [{"job", "workers": [{"worker", "port", "ip", "packets", "wrong_checksums",
// "idle_ms"}], "size",
// "first_slot", "slots",
//   "waiting": [{"slot", "version", "pipes", "present": [..], "missing": [..]}], "more"}],
//  "drops": [{"reason", "packets"}], and where the program has Libra "libra" and "libra_drops", as
//  sk_jobs_libra() has them}. 'job' -1: all. "idle_ms" is how long ago, at 'now' (ns) or
// the switch's clock if that is later, the worker's last packet came; absent when none did.
// "wrong_checksums": packets of it that were taken though their IPv4 checksum is wrong; absent when
// the program does not count them. Null after filling 'err'. With 'pauses' (pauses.h) packets go on
// meanwhile, and slots are read in slices.
json_t *sk_jobs(struct sk_switch *sw, int64_t job, uint64_t now, struct sk_pauses *pauses,
                struct sk_error *err);

// For those who ask every second: [{"name", "kind": "switchml", "size", "slots", "workers", as
// above with
// "missing": how many slots wait for it, "waits": how many wait, "wanted", "there": parts that
// those want, and
// have, "fingerprint": a number that changes when one of those does}], and those of
// sk_jobs_libra(). Empty for other programs.
json_t *sk_jobs_brief(struct sk_switch *sw, uint64_t now, struct sk_pauses *pauses);

// Jobs of Libra: [{"name", "kind": "libra", "size", "epoch", "first_cell", "cells": of each
// register, "workers": [{"worker", "ip", "packets", "repeated": that had been added before,
// "idle_ms", "port": but for a ToR's, "server": it may collect}]}], of one or (-1) all; and what
// was dropped, as above ('drops' may be null). Null: the program has no Libra.
json_t *sk_jobs_libra(struct sk_switch *sw, int64_t job, uint64_t now, struct sk_pauses *pauses,
                      json_t **drops);

// The slots that wait, as a picture needs them: [{"name", "size", "first_slot", "slots", "waiting":
// [[slot, version, present]..], "more"}], of which 'present' is a number with a bit for each worker
// whose part is there. A slot that waits for others in several pipes is listed once for each. At
// most SK_JOBS_MAP of a job are listed, and "more" counts the rest. Empty for other programs.
#define SK_JOBS_MAP 8192u
json_t *sk_jobs_map(struct sk_switch *sw, uint64_t now, struct sk_pauses *pauses);

// A worker of p4/switchml's table of workers, by its job's number and its address (host order).
struct sk_job_worker {
    unsigned rank, workers; // of so many
    uint16_t port;
    uint32_t first_slot, slots; // of the job
    bool has_mac;               // the table of receivers has its MAC address
    uint8_t mac[6];
};
// False: there is none, or the program has no such table. While nobody runs the switch.
bool sk_jobs_worker(struct sk_switch *sw, unsigned number, uint32_t address,
                    struct sk_job_worker *out);

#define SK_JOB_NUMBERS 256u
// What entries of that table have: slots, of 'n_slots' (the caller frees 'slots'), and replication
// ids. While nobody runs the switch.
#define SK_JOB_RIDS 1024u
struct sk_jobs_taken {
    bool *slots, rids[SK_JOB_RIDS];
};
void sk_jobs_taken(struct sk_switch *sw, uint32_t n_slots, struct sk_jobs_taken *out);
// Packets from workers of the job whose slots begin there, whatever numbers it goes by. The same.
uint64_t sk_jobs_packets(struct sk_switch *sw, uint32_t first_slot);
// Which numbers jobs have in that table; returns how many.
unsigned sk_jobs_numbers(struct sk_switch *sw, bool numbers[SK_JOB_NUMBERS]);

#endif
