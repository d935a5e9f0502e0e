// SPDX-License-Identifier: Apache-2.0
//
// service.h: the lease that a worker has of the job service, for lanes; silken/service.h is its
// public side.
#ifndef SILKEN_HOSTS_COMMUNICATOR_SERVICE_H
#define SILKEN_HOSTS_COMMUNICATOR_SERVICE_H

#include "silken/service.h"

// Whether the place is lost, and why, as a sentence that lives as long as the lease; else NULL.
// Looks at the connection at most once a millisecond. Any thread.
const char *sk_lease_over(struct silken_lease *lease, uint64_t now);

// The worker's UDP port for messages about sessions; 0: the usual one.
uint16_t sk_lease_session_port(const struct silken_lease *lease);

// Ends it: because the worker is done, or else for a failure, which ends the job. NULL is
// accepted.
void sk_lease_free(struct silken_lease *lease, bool done);

#endif
