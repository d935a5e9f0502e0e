// SPDX-License-Identifier: Apache-2.0
//
// coordinator.h: the sessions of an ATP job, as its servers have them; internal to hosts/.
//
// A job's first server coordinates its sessions (session/gather.h). Its lanes, each with a thread
// of its own, hear the members; all lanes of a server go from session to session together. What
// they share is here.
//
// Concurrency: any thread may call anything.
#ifndef SILKEN_HOSTS_COORDINATOR_H
#define SILKEN_HOSTS_COORDINATOR_H

#include "hosts/communicator/join.h"
#include "session/gather.h"

struct sk_coordinator;

// Of a server with so many lanes. 'gather' NULL: it is not the job's first, and has only lanes that
// go together. NULL when there is no memory.
struct sk_coordinator *sk_coordinator_new(const struct gather_config *gather, uint32_t lanes,
                                          const struct sk_randomness *random);
void sk_coordinator_free(struct sk_coordinator *c); // NULL is accepted

bool sk_coordinator_is_first(const struct sk_coordinator *c);

// What a member says to the first server; as gather_hear(), and starts the next session when all
// are there.
unsigned sk_coordinator_hear(struct sk_coordinator *c, const struct session_message *m,
                             uint64_t now, struct session_message answers[GATHER_MAX_ANSWERS]);

// The server is to go on to this session; the first call for it counts.
void sk_coordinator_enter(struct sk_coordinator *c, uint16_t session, uint64_t id);
// A lane that is in session '*id': whether there is another one, which it enters with this.
bool sk_coordinator_next(struct sk_coordinator *c, uint64_t *id, uint16_t *session);
// Whether all lanes are in that session.
bool sk_coordinator_all_in(struct sk_coordinator *c, uint64_t id);

#endif
