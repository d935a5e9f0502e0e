// SPDX-License-Identifier: Apache-2.0
//
// message: the messages about sessions between the members of an aggregation job and its
// coordinator.
//
// A job may restart at any time: its workers are started a second time, one of them is killed, the
// switch is restarted. State that is left in switches and servers, packets in flight, and members
// that do not know yet that the job is over must not get into the sums of its successor. So each
// run of a job, from the time when all members have started, is a *session* of its own:
//
//     session     has a number, which is in every packet of its members. Switches drop packets of
//                 other sessions in the packet path (table `sessions` of p4/switchml and p4/atp).
//     member      a lane of a worker, or a server, in one incarnation: its nonce is drawn when it
//                 is opened (member.h)
//     coordinator knows the members of the job. It starts a session when all members have joined
//     since the
//                 last one started (gather.h). SwitchML's is the switch's control plane, ATP's the
//                 job's first parameter server.
//
// Members ask, the coordinator answers; a member repeats a request whose answer is lost. All
// messages are UDP payloads over IPv4. The coordinator's port is SESSION_PORT, and so is a
// member's; but one whose address has several members of SwitchML's jobs may ask from another port,
// to which it is answered:
//
//     JOIN     member       I am here. With the cookie, once there is one; with the session's id,
//                           once it is in one: then it asks whether that is still the present one
//     COOKIE   coordinator  not known: join again with this cookie. It proves that the sender is
//                           where it says, and that its message is not an old one that was late
//     WAIT     coordinator  joined; the text lists the missing members
//     PREPARE  coordinator  of ATP: all have joined. Have your switch begin the session, then say
//                           READY
//     BEGIN    member       of ATP, to its switch: drop what is of other sessions, clear the job's
//                           aggregators. Again while the session runs and nothing comes, after the
//                           coordinator has said that it runs: the switch may have been restarted
//     BEGUN    switch       it has
//     READY    member       of ATP: my switch has begun the session
//     START    coordinator  the session has started
//     OVER     coordinator  the session that you are in is over; the text says why
//     REFUSED  coordinator  you cannot join; the text says why
//     LEAVE    member       it is done. Not answered
//     PROBE    coordinator  are you there? A member that is answers with JOIN
//
// Bytes, in network order: type 6 in the upper four bits (types 1 to 5 are
// hosts/switchml/frame.h's) and version 1 in the lower ones, kind 1; session 2; nonce 8; cookie 8;
// id 8; rank 2, workers 2, lane 1, lanes 1, role 1, flags 1; slots 2, elements 2; job 1, servers 1,
// length of the text 2; text.
//
// LEASE. A member that has heard nothing of its session for SESSION_LEASE_NS sends nothing more of
// it, and takes no answers, before the coordinator has said that it is still the present one. So a
// coordinator that knows nothing of what was before it (its process was restarted) is on the safe
// side when it waits for SESSION_QUIET_NS, and a number may be used again as long after its session
// is over. That leaves a packet (QUIET - LEASE) / 2 from the switch to a member or back.
//
// Files:
//
//     message.c   messages as bytes
//     frame.c     messages as Ethernet frames (frame.h)
//     member.c    a member, as a state machine (member.h)
//     gather.c    a coordinator, as a state machine (gather.h)
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_SESSION_MESSAGE_H
#define SILKEN_SESSION_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_PORT     0xbedfu
#define SESSION_LEASE_NS UINT64_C(500000000)
#define SESSION_QUIET_NS UINT64_C(1200000000)

#define SESSION_HEADER_BYTES 44u
#define SESSION_TEXT         200u // with the final 0
#define SESSION_MAX_BYTES    (SESSION_HEADER_BYTES + SESSION_TEXT)

enum session_kind {
    SESSION_NOTHING,
    SESSION_JOIN,
    SESSION_COOKIE,
    SESSION_WAIT,
    SESSION_PREPARE,
    SESSION_BEGIN,
    SESSION_BEGUN,
    SESSION_READY,
    SESSION_START,
    SESSION_OVER,
    SESSION_REFUSED,
    SESSION_LEAVE,
    SESSION_PROBE,
    SESSION_KINDS
};

// What a member is. A switch is one of the session of the switch above it, for all below itself:
// SwitchML over several racks. Its rank is the coordinator's business, who knows it by its address.
enum session_role { SESSION_WORKER = 1, SESSION_SERVER = 2, SESSION_SWITCH = 3 };
enum session_protocol { SESSION_SWITCHML = 1, SESSION_ATP = 2 };

// Of flags: takes the place of a worker that has failed, in the session that is running (ATP,
// appendix A.3).
#define SESSION_REPLACES 1u
// Of START: the switch has the job's audiences (wire/switchml.h, COLLECTIVES).
#define SESSION_AUDIENCES 2u

struct session_message {
    enum session_kind kind;
    uint16_t session; // its number; 0: none
    uint64_t nonce;   // the member's; in answers, too
    uint64_t cookie;
    uint64_t id;            // of the session, unlike any other's; 0: none
    uint16_t rank, workers; // of a server: its number
    uint8_t lane, lanes;
    uint8_t protocol, role, flags;
    uint16_t slots;    // SwitchML: of all lanes
    uint16_t elements; // of a packet
    uint8_t job;       // its number in packets
    uint8_t servers;   // ATP
    char text[SESSION_TEXT];
};

// Writes a message; returns its length. 'out' has room for SESSION_MAX_BYTES.
size_t session_write(uint8_t *out, const struct session_message *m);
// Reads a UDP payload. False: it is no message about sessions.
bool session_read(struct session_message *m, const uint8_t *bytes, size_t length);

#endif
