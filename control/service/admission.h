// SPDX-License-Identifier: Apache-2.0
//
// admission: jobs whose workers connect one by one, whatever their protocol: which workers have
// connected, what the job gets when all have, and what happens to it when a worker leaves.
//
//     waiting   until all ranks have connected, and the switch knows where they are
//     running   the switch has the job; each worker has been told its place
//     ending    a worker has failed and the others have been told; the job keeps its slots for the
//               grace time, since workers that have not received the message yet still send packets
//
// A name has at most one job that is running or ending, and one that waits to be the next.
//
// Concurrency: none of its own; no call waits.
#ifndef SILKEN_CONTROL_SERVICE_ADMISSION_H
#define SILKEN_CONTROL_SERVICE_ADMISSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define ADMISSION_WORKERS 32u
#define ADMISSION_JOBS    256u
#define ADMISSION_NAME    64u

// UDP ports of a job's workers, for results and for messages about sessions: those that all workers
// have who are told nothing, or, where an address has them already, the first free pair from
// ADMISSION_PORTS on, one for each job. They are below those that a system gives to sockets that do
// not care.
#define ADMISSION_PORT         0xbee0u // SwitchML's
#define ADMISSION_SESSION_PORT 0xbedfu // session/message.h's
#define ADMISSION_PORTS        0x7000u

// Queue pairs of a worker by RoCEv2, and the memory that they write.
#define ADMISSION_PAIRS 64u
struct admission_roce {
    uint32_t pairs; // 0: the worker does not use RoCEv2
    uint32_t rkey;
    uint32_t qpn[ADMISSION_PAIRS], psn[ADMISSION_PAIRS]; // psn: of the first packet that it sends
};

// What a worker asks for.
struct admission_request {
    char job[ADMISSION_NAME];
    uint32_t rank, workers;
    uint32_t ip;   // host order
    uint16_t port; // 0: as the service gives it
    bool has_mac;
    uint8_t mac[6];
    uint32_t slots; // 0: as the service has it
    struct admission_roce roce;
};

// Where a worker is, as the switch knows it.
struct admission_place {
    char link[ADMISSION_NAME];
    uint8_t mac[6];
    uint32_t switch_ip; // that it sends to
    uint8_t switch_mac[6];
    // By RoCEv2: the switch's first queue pair for this worker, and the number of the first packet
    // that comes from each.
    uint32_t queue_pair, psn;
};

struct admission_member {
    void *owner; // who is told; null: nobody is there
    struct admission_request request;
    struct admission_place place;
    bool placed;
    uint64_t since;
    char waits[160]; // for what, when it is not placed
};

enum admission_state { ADMISSION_WAITING, ADMISSION_RUNNING, ADMISSION_ENDING };

struct admission_job {
    char name[ADMISSION_NAME];
    enum admission_state state;
    uint32_t workers, slots;
    uint16_t port;         // 0: not given yet
    uint16_t session_port; // of the workers; 0: likewise
    uint64_t since, looked,
        ends;                  // of the state; when places were looked for; when 'ending' is over
    uint32_t number, elements; // given
    char why[256];             // it ends
    struct admission_member members[ADMISSION_WORKERS];
};

struct admission_ops {
    // Where the worker's address is. 1; 0 with what it waits for; or negative with a sentence: it
    // cannot be anywhere.
    int (*locate)(void *aux, const struct admission_request *r, struct admission_place *place,
                  struct sk_error *err);
    // The switch admits the job, whose members are all placed, and fills 'number' and 'elements'.
    // 0, or negative with a sentence.
    int (*add)(void *aux, struct admission_job *job, struct sk_error *err);
    void (*remove)(void *aux, const char *name);
    // Tells a worker: whom its job waits for; its place; that it is over, and why: after that it is
    // not a member.
    void (*waits)(void *owner, const struct admission_job *job);
    void (*admitted)(void *owner, const struct admission_job *job, uint32_t rank);
    void (*over)(void *owner, const char *why);
};

struct admission_counts {
    uint64_t admitted, failed;
    size_t jobs;
};

struct admission;

struct admission *admission_new(const struct admission_ops *ops, void *aux, uint32_t slots,
                                uint64_t wait_ns, uint64_t grace_ns);
// All workers are told, and jobs removed. Null allowed.
void admission_free(struct admission *a);

// 'owner', which is nobody's yet, is a member from now on. 0, or negative with a sentence.
int admission_join(struct admission *a, const struct admission_request *r, void *owner,
                   uint64_t now_ns, struct sk_error *err);
// A member goes: because it is done ('why' null), or not.
void admission_leave(struct admission *a, void *owner, const char *why, uint64_t now_ns);
// The members of the owner's job are done, but packets of theirs may be under way: the job is
// ending from now on.
void admission_end(struct admission *a, void *owner, uint64_t now_ns);
// Somebody has removed the job from the switch.
void admission_removed(struct admission *a, const char *name);
void admission_run(struct admission *a, uint64_t now_ns);
// An array: name, state, workers, missing, seconds, members, what it waits for, and of a job that
// the switch has its workers' UDP port. A new reference.
json_t *admission_json(const struct admission *a, uint64_t now_ns);
struct admission_counts admission_counts(const struct admission *a);

#endif
