// SPDX-License-Identifier: Apache-2.0
//
// gather: the coordinator of a job's sessions, as a state machine without input, output or clock.
//
// It knows who belongs to a job and answers what they say (message.h). When all have joined since
// the last session has begun, whoever owns it makes switches ready and starts the next one:
//
//     n = gather_hear(g, &message, now, answers);          for each message that came
//     send answers[0..n) to where the message came from
//     if (gather_asks_all(g))
//         gather_probe(g, i, &message): ask member i
//     if (gather_is_full(g, now)) {
//         close the job in the switch, wait until nothing of it is under way, clear its registers,
//         open it for the next number
//         gather_start(g, number, id);
//         gather_push(g, i, &message): tell member i, who would ask by itself a little later
//     }
//
// WHO TAKES WHOSE PLACE. A member is known by its nonce. Another one of the same rank and lane is
// either its successor, since it was killed, or a second process that was started by mistake. So
// the first one is asked (PROBE), unless it has left: if it answers, the second one is refused; if
// it does not within GATHER_PATIENCE_NS, the second one takes its place. A successor of a member of
// the running session ends that session: the others are told that it is over when they ask, since
// sums without the first one's part cannot come any more. If the session was still being prepared,
// they just wait for the next one. ATP's workers that take a failed one's place (SESSION_REPLACES)
// join the running one.
//
// WHO IS THERE. Members that wait ask several times a second. Who has not for GATHER_PATIENCE_NS
// does not count, and when all are there, each has to be heard again: a session does not start with
// somebody who was killed while he waited.
//
// Concurrency: belongs to one thread at a time. Memory exhaustion ends the process.
#ifndef SILKEN_SESSION_GATHER_H
#define SILKEN_SESSION_GATHER_H

#include "session/message.h"

#define GATHER_PATIENCE_NS UINT64_C(1000000000)
#define GATHER_MAX_WORKERS 1024u
#define GATHER_MAX_LANES   64u
#define GATHER_MAX_SERVERS 64u
#define GATHER_MAX_ANSWERS 2u

struct gather_config {
    uint8_t protocol; // enum session_protocol
    uint8_t job;      // its number in packets
    uint32_t workers; // 1 to GATHER_MAX_WORKERS
    uint32_t
        lanes; // of each worker, 1 to GATHER_MAX_LANES; 0: as many as the first one who joins has
    uint32_t servers; // ATP
    // SwitchML over several racks: switches below this one, and of its own workers, 'workers' of
    // them, the ranks in the job of 'total' workers; null: from 0 on, and there are no others.
    // Borrowed as long as the gathering is there.
    uint32_t switches;
    const uint16_t *ranks;
    uint32_t total;
    uint32_t slots;      // SwitchML: that the job has; 0: not limited
    bool prepares;       // members have their switches begin the session before it starts
    uint64_t not_before; // no session starts before this time
    uint64_t secret[2];  // for cookies; random
};

struct gather;

struct gather *gather_new(const struct gather_config *config);
void gather_free(struct gather *g); // null allowed

// What a member says, one that is known to be at the address of this rank. Fills 'answers', to be
// sent to that address; returns how many there are.
unsigned gather_hear(struct gather *g, const struct session_message *m, uint64_t now,
                     struct session_message answers[GATHER_MAX_ANSWERS]);

// Once each time that all have joined: they are to be asked whether they are still there (PROBE).
// They say so without being asked, too, a little later.
bool gather_asks_all(struct gather *g);
bool gather_probe(const struct gather *g, unsigned i,
                  struct session_message *m); // false: nobody is to be asked

// Whether the next session may start.
bool gather_is_full(const struct gather *g, uint64_t now);
// What members of the next session are told: whether the switch has the job's audiences.
void gather_audiences(struct gather *g, bool audiences);
// Starts it: 'session' is its number in packets, 'id' unlike that of any other session.
void gather_start(struct gather *g, uint16_t session, uint64_t id);
// The session is over; 'why' is a sentence that members are told.
void gather_stop(struct gather *g, const char *why);

// Members by number: lanes of workers first, worker by worker, then switches, then servers.
unsigned gather_members(const struct gather *g);
// The number of who says this; of one that was answered otherwise than by REFUSED.
unsigned gather_number(const struct gather *g, const struct session_message *m);
// What all members have said of themselves, once they have all joined.
uint16_t gather_slots(const struct gather *g);
uint16_t gather_elements(const struct gather *g);
// What a member would be told now that the session has started. False: nothing.
bool gather_push(const struct gather *g, unsigned i, struct session_message *m);

// Whether a session has started, and nobody has ended it: neither a successor nor the last one who
// left.
bool gather_runs(const struct gather *g);
// Whether a member of the session is still there, as far as is known.
bool gather_has_members(const struct gather *g);
uint16_t gather_session(const struct gather *g);
uint64_t gather_id(const struct gather *g);
// A member of the session by number: its nonce; 0: there is none. For a coordinator that writes
// down what it knows.
uint64_t gather_nonce(const struct gather *g, unsigned i);
// The session that another process had started, with nonces by member.
void gather_resume(struct gather *g, uint16_t session, uint64_t id, uint32_t lanes,
                   const uint64_t *nonces);

// What the next session waits for, as "waiting for worker 1, worker 3"; "": nothing.
void gather_text(const struct gather *g, uint64_t now, char *out, size_t size);

#endif
