// SPDX-License-Identifier: Apache-2.0
//
// published_impl: what the files of control/published share.
#ifndef SILKEN_CONTROL_PUBLISHED_PUBLISHED_IMPL_H
#define SILKEN_CONTROL_PUBLISHED_PUBLISHED_IMPL_H

#include "control/published/published.h"

#define PUBLISHED_TEXT 320u

enum pub_waits { PUB_NOTHING, PUB_BROADCAST, PUB_BARRIER };

struct pub_group;

struct pub_worker {
    uint64_t connection; // 0: it has ended, and the worker is away
    struct pub_group *group;
    uint32_t rank;
    bool told;   // the session's number
    bool asked;  // for its session
    bool member; // of the admission's job
    bool admitted;
    uint32_t ip;
    uint8_t mac[6];
    // The call that is not answered yet.
    enum pub_waits waits;
    const struct published_carrier *carrier;
    void *call;
};

enum pub_state { PUB_GATHERING, PUB_RUNNING, PUB_OVER };

struct pub_group {
    enum pub_state state;
    char name[ADMISSION_NAME]; // of the admission's job; "": there is none yet
    uint32_t workers, n, root, packet_size;
    bool has_value;
    uint64_t value, since;
    bool broken;    // the admission has ended it
    bool in_switch; // the switch has the job, or had it when it ended
    char why[PUBLISHED_TEXT];
    uint64_t packets, quiet_since; // when all are away
    struct pub_worker *list[ADMISSION_WORKERS];
};

struct published {
    struct published_options options;
    struct rpc_server *server; // null: no network
    struct admission *admission;
    uint64_t now, looked;
    struct pub_group *groups[PUBLISHED_GROUPS];
    size_t n_groups;
    struct pub_worker *workers[PUBLISHED_WORKERS];
    size_t n_workers;
    uint64_t refused;
};

// ---- groups.c ----
// The worker of a connection, or null.
struct pub_worker *pub_worker_of(const struct published *p, uint64_t connection);
// Makes the connection a worker of the gathering group. 0, or the status with a sentence.
enum rpc_status pub_join(struct published *p, uint64_t connection, uint32_t rank, uint32_t workers,
                         uint32_t root, struct pub_worker **out, struct sk_error *err);
// The root has said the session's number: whoever waits for it is told.
void pub_tell_value(struct published *p, struct pub_group *g, uint64_t value);
// The worker, whose addresses are filled in, asks for its session; 'roce' null: by UDP. 0, or the
// status.
enum rpc_status pub_ask(struct published *p, struct pub_worker *w, uint32_t packet_size,
                        const struct admission_roce *roce, struct admission_place *place,
                        struct sk_error *err);
// Answers barriers that are complete, and what failed.
void pub_settle(struct published *p);
void pub_free_all(struct published *p);
int pub_admission_new(struct published *p);

// ---- calls.c ----
void pub_reply_broadcast(struct pub_worker *w);
void pub_reply_barrier(struct pub_worker *w);
void pub_refuse(struct published *p, const struct published_carrier *carrier, void *call,
                enum rpc_status status, const char *why);

#endif
