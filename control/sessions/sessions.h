// SPDX-License-Identifier: Apache-2.0
//
// sessions: the switch's part in the sessions of aggregation jobs (session/message.h), for the
// programs p4/switchml, p4/atp and p4/ina, whose tables an operator or a controller writes.
// p4/rack's jobs have theirs in control/tor.
//
//     s = sessions_new(&host, &config, &err)         the member "sessions" of the configuration
//                                                    (config.h)
//     while (...) {
//         sessions_frame(s, frame, length, now)      what the switch sent to the CPU port
//         sessions_run(s, now)
//     }
//
// SwitchML: coordinates. A job is known by its entries in `admission.workers` and `receivers`:
// numbers, ports, addresses, slots. Answers go where the worker's results go. For that
// `forward.macs` needs an entry, which is written here if it is missing.
//
// ATP: begins the sessions that a job's first server coordinates. A session that has been begun is
// not begun again, nor is one that came before it. Answers go to the sender's address, for which
// the operator's entries of `forward.macs` are: hosts of ATP need them anyway, to talk to each
// other about sessions.
//
// Packets of all jobs are refused until a session of theirs has started, but for those that the
// configuration excepts: jobs whose hosts know nothing of sessions, as the published SwitchML
// client.
//
// Concurrency: all calls on the control thread. Bad frames are ignored.
//
// Files:
//
//     sessions.c  jobs of a program whose tables an operator writes
//     job.c       what one job goes through, whoever writes the tables (job.h)
//     clear.c     clears a job's registers (clear.h)
//     left.c      what a job of Libra leaves, until nothing can change it any more (left.h)
#ifndef SILKEN_CONTROL_SESSIONS_SESSIONS_H
#define SILKEN_CONTROL_SESSIONS_SESSIONS_H

#include <jansson.h>

#include "control/config/config.h"
#include "control/sessions/clear.h"

struct sessions_host {
    struct sessions_switch on;
    // Gives a frame to the CPU port, as if it had come in there. False: there is no room.
    bool (*send)(void *aux, const uint8_t *frame, uint32_t length);
    // {"event": "session", "protocol": "switchml", "job": 1, "session": 7}: one has started. A
    // reference is taken over. May be null.
    void (*event)(void *aux, json_t *event);
    uint64_t (*random)(void *aux); // a number that nobody can guess, not 0
    void *aux;
};

struct sessions;

// Writes what the switch needs into its tables. Null with a sentence: the program has no sessions.
struct sessions *sessions_new(const struct sessions_host *host,
                              const struct sk_config_sessions *config, uint16_t cpu_port,
                              uint64_t now, struct sk_error *err);
void sessions_free(struct sessions *s); // null allowed

void sessions_frame(struct sessions *s, const uint8_t *frame, uint32_t length, uint64_t now);
void sessions_run(struct sessions *s, uint64_t now);

// Of a run that is replayed: a frame that the recorded control plane gave to the CPU port, before
// it goes in. When it says that a session has started, the job is cleared and opened as it was
// then. Nothing is answered. What packets of an earlier session did between its end and this frame
// is not known: they pass.
void sessions_follow(struct sessions *s, const uint8_t *frame, uint32_t length);

// Other functions are to be called from now on.
void sessions_host_changed(struct sessions *s, const struct sessions_host *host);
// The program was replaced: its tables are written again. Sessions of SwitchML whose registers were
// kept go on.
void sessions_switch_replaced(struct sessions *s, const struct sessions_host *host, bool kept,
                              uint64_t now);

// [{"job", "protocol", "session", "state": "running", "waiting" or "closed", "text"}]
json_t *sessions_json(const struct sessions *s, uint64_t now);

#endif
