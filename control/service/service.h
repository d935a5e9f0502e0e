// SPDX-License-Identifier: Apache-2.0
//
// service: the job service: workers that know nothing but its address are admitted to jobs over the
// network.
//
// A worker connects by TCP and sends one line of JSON:
//
//     {"token": "...", "job": "resnet", "rank": 0, "workers": 2,
//      "kind": "switchml",             or "switchml-roce"; without: this
//      "ip": "10.0.10.2",              the worker's in the switch's network; without: where it
//                                      connects from
//      "port": 48864,                  its UDP port, the same of all workers; without: 48864, or
//                                      another if a job at one of the addresses has that
//      "mac": "02:00:00:00:10:00",     if known: the switch must find the same; without: as the
//                                      switch finds it
//      "slots": 64,                    of the pool, the same of all workers; without: as the
//                                      configuration says
//      "pairs": 8, "queue_pair": 256,  of switchml-roce: how many queue pairs, the first one's
//      "psn": 0, "rkey": 1400458059}   number, that of the first packet (without: 0), and the key
//                                      of the memory that sums are written to. UDP port 4791
//
// It gets lines, each with a "state" or an "error", after which the connection is closed:
//
//     {"state": "waiting", "missing": [1]}       for these ranks; again when it changes
//     {"state": "admitted", "job": "resnet", "rank": 0, "workers": 2, "number": 0, "slots": 64,
//      "elements": 64,
//      "worker_ip": ..., "worker_mac": ..., "worker_port": 48864, "session_port": 48863,
//      "switch_ip": ..., "switch_mac": ..., "switch_port": 48864}
//                                      of switchml-roce also "queue_pair", the switch's first one,
//                                      and "psn", of the first packet that comes from it
//     {"error": "worker 1 of job 'resnet' (10.0.10.3) is gone: its connection was closed"}
//
// The connection is the worker's lease on its place. A worker that is done says {"leave": true} and
// closes; one whose connection ends otherwise ends its job: the others get an error, and the job's
// slots are free after a grace time.
//
// The server never blocks and never waits for a client. What it holds for clients is bounded:
// SERVICE_CONNECTIONS of them, a line and some replies each. One that has not sent its request
// SERVICE_REQUEST_NS after it connected is disconnected; so is one that does not read its replies.
// A client is not trusted before it has sent the token, and after that it is trusted with jobs
// only: no reply contains text from a client that did not have the token.
//
// Files:
//
//     admission.c   jobs and their workers, apart from the network
//     request.c     a worker's line
//     server.c      connections
//     token.c       the token
#ifndef SILKEN_CONTROL_SERVICE_SERVICE_H
#define SILKEN_CONTROL_SERVICE_SERVICE_H

#include <sys/socket.h>

#include "control/service/admission.h"

#define SERVICE_LINE        2048u // bytes of a request
#define SERVICE_CONNECTIONS 512u
#define SERVICE_STRANGERS   128u // of them without a request so far; the oldest makes room
#define SERVICE_REQUEST_NS  UINT64_C(5000000000)
#define SERVICE_TOKEN_LEAST 16u
#define SERVICE_TOKEN_MOST  256u

struct service_options {
    struct sockaddr_storage listen;
    const char *token;
    uint32_t slots;            // of a job whose workers do not say
    uint64_t wait_ns;          // how long a job waits for all its workers
    uint64_t grace_ns;         // how long a job that has failed keeps its slots
    unsigned silence;          // seconds until a host that does not answer TCP counts as gone
    struct admission_ops jobs; // 'waits', 'admitted' and 'over' are filled in
    void *aux;                 // of 'jobs'
};
struct service_counts {
    uint64_t admitted, failed; // jobs
    uint64_t refused; // connections that were told an error before their job began, or dropped
    size_t connections, jobs;
};
struct service;

// Null with a sentence.
struct service *service_open(const struct service_options *options, struct sk_error *err);
int service_fd(const struct service *s); // readable, for poll(): there is something to do
void service_poll(struct service *s, uint64_t now_ns);
uint16_t service_port(const struct service *s); // where it listens, if the address said 0
struct admission *service_admission(struct service *s);
struct service_counts service_counts(const struct service *s);
void service_close(struct service *s); // null allowed; jobs are removed

// ---- request.c ----
// Reads a line with the right token. 'from': the address that it came from, host order, 0 if it is
// not IPv4. 0, or a negative code with a sentence; '*known': the token was right.
int service_request(const char *line, size_t length, const char *token, uint32_t from,
                    struct admission_request *out, bool *known, struct sk_error *err);
// Is it {"leave": true}.
bool service_is_leave(const char *line, size_t length);

// ---- token.c ----
// The file's first line, malloc'ed. It must be a regular file that only its owner and group can
// read. Null with a sentence.
char *service_token_read(const char *path, struct sk_error *err);
// In a time that does not tell where they differ.
bool service_token_same(const char *a, const char *b);

#endif
