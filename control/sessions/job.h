// SPDX-License-Identifier: Apache-2.0
//
// job: the sessions of one aggregation job in a switch: turns messages of the job's members
// (session/message.h) into changes of the switch, whoever writes its tables.
//
// For a job of SwitchML this is the coordinator (session/gather.h). For a job of ATP it begins the
// session that the job's first server has chosen. In both cases it stops the job's packets, waits
// for those that are under way, clears the job's registers and admits packets of the next session.
//
// A job of SwitchML over several racks has a coordinator at each of its switches. That of a switch
// with another one above it gathers those below it, closes and clears the job, and joins the
// session of the switch above as a member (session/member.h, SESSION_SWITCH), with a new nonce each
// time. The session that the switch above starts is the one that it starts below: so all switches
// have closed and cleared the job before the top one opens it, and each has opened it before a
// worker below it is told. When the session above is over, so is the one below.
//
//     sessions_job_hear(j, &from, &message, now)     a message from one of its members
//     sessions_job_run(j, now)                       every millisecond or so
//
// Concurrency: on the control thread.
#ifndef SILKEN_CONTROL_SESSIONS_JOB_H
#define SILKEN_CONTROL_SESSIONS_JOB_H

#include "session/frame.h"
#include "session/gather.h"
#include "session/member.h"

struct sessions_job;

struct sessions_job_ops {
    // Packets of this session of the job pass from now on, and of no other; 0: of none. False: it
    // could not be written.
    bool (*open)(void *owner, struct sessions_job *j, unsigned session);
    // Whether packets that came before 'time' (ns) are under way in the switch.
    bool (*under_way)(void *owner, uint64_t time);
    // Clears what the job has in the switch's registers.
    void (*clear)(void *owner, struct sessions_job *j);
    void (*answer)(void *owner, struct sessions_job *j, const struct session_end *to,
                   const struct session_message *m);
    // SwitchML: the number of the next session, 1 to 255; as late as can be the one that was used
    // last.
    uint16_t (*number)(void *owner);
    // Of members, that nobody can guess, not 0.
    uint64_t (*random)(void *owner);
    // A session has started. Before its members are told.
    void (*started)(void *owner, struct sessions_job *j);
    // Of SwitchML: whether the switch has the job's audiences, as members are told. NULL: it has
    // not.
    bool (*audiences)(void *owner, struct sessions_job *j);
    // To the switch above. Null: the owner's jobs have none.
    void (*ask_above)(void *owner, struct sessions_job *j, const struct session_message *m);
};

enum sessions_job_state {
    SESSIONS_OPEN,    // packets of its session pass; before the first one none do
    SESSIONS_CLOSING, // none do, but some that did are under way
    SESSIONS_CLEARED  // nothing of it is in the switch
};

#define SESSIONS_OLD   64u
#define SESSIONS_ASKED 64u

struct sessions_job {
    const struct sessions_job_ops *ops;
    void *owner;
    unsigned number; // the job's, in packets
    bool atp;
    enum sessions_job_state state;
    uint64_t closed_at;
    uint16_t session; // the last that was opened
    uint64_t id;      // of the one that is open; 0: none
    // SwitchML
    struct gather *gather;
    struct session_end *ends; // of its members, as they said last
    unsigned n_ends;
    // SwitchML with a switch above
    bool has_above;
    uint32_t total;              // workers of the whole job
    struct session_member above; // what this switch is for that one
    bool joins_above;            // 'above' is for the session that runs, or for the next one
    uint64_t again_at;           // it was refused: when it asks again
    // ATP: which session is to be begun, and who has asked for that
    uint16_t next;
    uint64_t next_id;
    uint64_t old[SESSIONS_OLD]; // ring of ids that are over
    unsigned n_old;
    struct {
        struct session_end end;
        struct session_message message;
    } asked[SESSIONS_ASKED];
    unsigned n_asked;
};

// 'as': what a job of SwitchML is like; null: it is one of ATP. The secret of 'as' is filled in.
void sessions_job_init(struct sessions_job *j, const struct sessions_job_ops *ops, void *owner,
                       unsigned number, const struct gather_config *as);
void sessions_job_free(struct sessions_job *j); // a zeroed one is allowed
// There is a switch above, and the whole job has 'total' workers. Before anybody is heard.
void sessions_job_below(struct sessions_job *j, uint32_t total);

// 'from' is where answers go.
void sessions_job_hear(struct sessions_job *j, const struct session_end *from,
                       const struct session_message *m, uint64_t now);
// A message from the switch above.
void sessions_job_hear_above(struct sessions_job *j, const struct session_message *m, uint64_t now);
void sessions_job_run(struct sessions_job *j, uint64_t now);

// What the job had in the switch's registers is lost: a session of SwitchML is over, one of ATP
// goes on.
void sessions_job_lost(struct sessions_job *j, const char *why, uint64_t now);

bool sessions_job_runs(const struct sessions_job *j);
// What it waits for, when it does not run: as "waiting for worker 1".
void sessions_job_text(const struct sessions_job *j, uint64_t now, char *out, size_t size);

#endif
