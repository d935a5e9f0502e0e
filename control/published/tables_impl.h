// SPDX-License-Identifier: Apache-2.0
//
// tables_impl: what the files share that write jobs into the tables of p4/switchml.
#ifndef SILKEN_CONTROL_PUBLISHED_TABLES_IMPL_H
#define SILKEN_CONTROL_PUBLISHED_TABLES_IMPL_H

#include "control/published/tables.h"

#define TABLES_NAME_BYTES 300u

struct placed_worker {
    uint32_t ip;
    uint16_t port, rid, node;
    uint8_t mac[6];
    unsigned entries; // that are written of its job numbers, or, by RoCEv2, of all that it has
    bool receiver, has_node;
    struct admission_roce roce;
};

struct placed_job {
    struct placed_job *next;
    char name[ADMISSION_NAME];
    uint32_t first, slots, workers;
    uint16_t udp_port, mgid; // mgid 0: not written
    uint32_t pairs;          // by RoCEv2: queue pairs of a worker; else 0
    uint32_t session, psn;   // then: the upper 10 bits of their numbers; of the first results
    struct placed_worker list[ADMISSION_WORKERS];
};

// What a job by RoCEv2 is to get, from when the first of its workers is located: workers are told
// before the switch has the job. One that does not come to that is forgotten after RESERVED_NS.
#define RESERVED_NS UINT64_C(600000000000)
struct roce_reserved {
    struct roce_reserved *next;
    char name[ADMISSION_NAME];
    uint64_t since;
    uint32_t workers, session, psn;
    uint16_t rids[ADMISSION_WORKERS];
};

struct published_tables {
    struct sessions_switch on;
    uint8_t mac[6];
    uint32_t ip;
    uint64_t (*now)(void);
    uint64_t
        removed; // when entries were taken away last, until nothing of before is under way; or 0
    char workers[TABLES_NAME_BYTES], receivers[TABLES_NAME_BYTES],
        macs[TABLES_NAME_BYTES]; // names of the tables
    uint32_t sessions;           // of jobs by RoCEv2, so far
    struct placed_job *jobs;
    struct roce_reserved *reserved;
};

// ---- tables.c ----
void tables_pause(const struct published_tables *t, bool on);

// ---- tables_roce.c ----
// The switch's first queue pair for the worker.
uint32_t tables_roce_pair(const struct placed_job *job, uint32_t rank);
// What is reserved for the job; reserves it, if nothing is. Null with a sentence.
struct roce_reserved *tables_roce_reserve(struct published_tables *t, const char *name,
                                          uint32_t workers, struct sk_error *err);
// The job takes what is reserved for it, which is forgotten.
int tables_roce_take(struct published_tables *t, struct placed_job *job, struct sk_error *err);
void tables_roce_forget(struct published_tables *t); // all that is reserved
// Entries of a worker, and what is to come next of its queue pairs. 'entries' counts what was
// written. 0, or negative with a sentence.
int tables_roce_write(struct published_tables *t, const struct placed_job *job,
                      struct placed_worker *w, uint32_t rank, struct sk_error *err);
void tables_roce_unwrite(struct published_tables *t, const struct placed_job *job,
                         const struct placed_worker *w, uint32_t rank);
// Packets of the job's workers. While nobody runs the switch.
uint64_t tables_roce_packets(struct published_tables *t, const struct placed_job *job);

#endif
