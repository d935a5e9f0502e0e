// SPDX-License-Identifier: Apache-2.0
//
// join.h: a station's membership in its job's sessions (session/member.h), in frames; internal to
// hosts/.
//
// An engine has one, asks it before it lets its protocol send, and gives it every frame first:
//
//      read:   if (sk_join_read(&e->join, frame, len, now)) it was about sessions
//              else the protocol's; if that took it: sk_join_heard(&e->join, now)
//      write:  len = sk_join_write(&e->join, buf, cap, now); if 0 and sk_join_is_on(): the
//              protocol's
//      expire: sk_join_expire(&e->join, now): what the engine has to say; the protocol's only if
//      that is 0
//              and sk_join_is_joining() is false
//
// A station without sessions (silken_config.no_session) may always send.
//
// Concurrency: belongs to its engine's thread.
#ifndef SILKEN_HOSTS_JOIN_H
#define SILKEN_HOSTS_JOIN_H

#include "hosts/core/endpoint.h"
#include "hosts/core/engine.h"
#include "hosts/core/rto.h"
#include "hosts/core/text.h"
#include "session/frame.h"
#include "session/member.h"

struct sk_join {
    bool on; // sessions are wanted
    struct session_member member;
    // UDP ports are SESSION_PORT everywhere.
    struct sk_endpoint self, coordinator,
        fabric;            // fabric: its switch, if that has to begin sessions
    struct sk_watch watch; // until the session starts
    uint64_t now;          // of the last expire()
    int fault;             // with SK_ENGINE_FAILED
    uint64_t asked;        // messages sent
};

// 'fabric' NULL: no switch has to begin sessions. Times without a session until a warning and until
// giving up are in ns, SK_TIME_NEVER for never.
void sk_join_init(struct sk_join *j, const struct session_message *self, uint64_t nonce,
                  const struct sk_endpoint *station, const struct sk_endpoint *coordinator,
                  const struct sk_endpoint *fabric, uint64_t warning, uint64_t limit);

size_t sk_join_write(struct sk_join *j, uint8_t *buf, size_t cap, uint64_t now);
// Messages that are due as of the last sk_join_expire().
uint32_t sk_join_queued(const struct sk_join *j);
bool sk_join_read(struct sk_join *j, const uint8_t *frame, size_t len, uint64_t now);
uint64_t sk_join_deadline(const struct sk_join *j);

// Lets time pass. Returns 0, SK_ENGINE_STALLED when there is no session for long, or
// SK_ENGINE_FAILED with the error in 'fault'.
unsigned sk_join_expire(struct sk_join *j, uint64_t now);

static inline bool sk_join_is_joining(const struct sk_join *j) {
    return j->on && j->member.state < SESSION_IN;
}

// Whether packets of the session may be sent, and are to be looked at when they come.
static inline bool sk_join_is_on(const struct sk_join *j, uint64_t now) {
    return !j->on || session_is_on(&j->member, now);
}

static inline void sk_join_heard(struct sk_join *j, uint64_t now) {
    session_member_heard(&j->member, now);
}

// Adds lines about a session that has not started, or is over. False: there is nothing to say of
// it.
bool sk_join_explain(const struct sk_join *j, uint64_t now, struct sk_text *t);

// Adds a line with what the coordinator has said of the session that is running, if it has.
void sk_join_remark(const struct sk_join *j, struct sk_text *t);

// A frame with a session message, between stations of which 'from' and 'to' are the addresses.
// Returns its length; 'buf' has room for SK_JOIN_FRAME bytes.
#define SK_JOIN_FRAME SESSION_FRAME_BYTES
size_t sk_join_frame(uint8_t *buf, const struct sk_endpoint *from, const struct sk_endpoint *to,
                     const struct session_message *m);
// The message in a frame to 'self'; the sender's addresses in '*from'. False: there is none.
bool sk_join_message(const uint8_t *frame, size_t len, const struct sk_endpoint *self,
                     struct sk_endpoint *from, struct session_message *m);

// Where numbers that nobody can guess come from, not 0: nonces, cookies' secrets, ids. The
// simulator's come from its seed.
struct sk_randomness {
    uint64_t (*next)(void *aux);
    void *aux;
};

static inline uint64_t sk_randomness_next(const struct sk_randomness *r) {
    return r->next(r->aux);
}

extern const struct sk_randomness sk_random_of_kernel;

#endif
