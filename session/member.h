// SPDX-License-Identifier: Apache-2.0
//
// member: a member of an aggregation job, towards the coordinator of its sessions (message.h), as a
// state machine without input, output or clock.
//
// It stands before a protocol's worker or server, which may send only while session_is_on() says
// so:
//
//     session_member_init(&m, &config, nonce);
//     for (;;) {
//         if (session_member_write(&m, &message, &to_switch, now)) send it
//         if (session_is_on(&m, now)) send packets of the session m.session
//         message came: session_member_hear(&m, &message, now);
//         packet of the session came: session_member_heard(&m, now);
//         sleep until session_member_deadline(&m, now)
//         if (m.state == SESSION_LOST) give up: m.text says why
//     }
//
// A worker is a member of one session. A server goes from one to the next, without another nonce.
//
// Concurrency: belongs to one thread at a time.
#ifndef SILKEN_SESSION_MEMBER_H
#define SILKEN_SESSION_MEMBER_H

#include "session/message.h"

#define SESSION_NEVER UINT64_MAX

enum session_state {
    SESSION_JOINING,   // or waiting for others
    SESSION_BEGINNING, // ATP: its switch is to begin the session
    SESSION_IS_READY,  // ATP: it has; others are waited for
    SESSION_IN,
    SESSION_ENDING, // the coordinator says that the session is over: what is complete may still
                    // come
    SESSION_LOST    // it is over for this member, or it cannot join
};

// What it says of itself in every message: protocol, role, rank, workers, lane, lanes, servers,
// slots, elements, job, flags. The other members are not looked at.
struct session_member {
    struct session_message self;
    bool has_switch; // ATP: there is a switch that has to begin the session
    enum session_state state;
    uint16_t session;
    uint64_t id;
    bool audiences;          // IN: the switch has the job's
    bool refused;            // lost since it cannot join, not since a session is over
    bool answered;           // the coordinator has ever answered
    char text[SESSION_TEXT]; // what the coordinator has said last, "" nothing

    uint64_t cookie;
    bool probed;
    bool begins; // IN: the switch is asked again
    uint64_t begun_at;
    bool to_switch;         // BEGINNING: the last message was
    uint64_t ask_at, pause; // next message, and the time to the one after it
    uint64_t heard_at;      // the session was the present one then
    uint64_t ending_at;     // ENDING: when it is LOST
    bool leaves, left;
};

void session_member_init(struct session_member *m, const struct session_message *self,
                         bool has_switch, uint64_t nonce);

// The next message; false: none is due. 'to_switch': it is for the member's switch, not the
// coordinator.
bool session_member_write(struct session_member *m, struct session_message *out, bool *to_switch,
                          uint64_t now);
bool session_member_has_message(const struct session_member *m, uint64_t now);

// A message has come from the coordinator or the switch.
void session_member_hear(struct session_member *m, const struct session_message *message,
                         uint64_t now);
// A packet has come that only a switch of the present session sends.
static inline void session_member_heard(struct session_member *m, uint64_t now) {
    m->heard_at = now;
}

// Whether packets of the session may be sent, and count that come. Not when the last sign of the
// session is older than the lease: a switch that was restarted meanwhile may have given its number
// to another one.
bool session_is_on(const struct session_member *m, uint64_t now);

// When there is something to do.
uint64_t session_member_deadline(const struct session_member *m);
void session_member_expire(struct session_member *m, uint64_t now);

// The next message says that this member is done.
void session_member_leave(struct session_member *m);

#endif
