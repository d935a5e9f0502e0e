// SPDX-License-Identifier: Apache-2.0
//
// protocol_dlcp.h: DLCP for communicators; for allreduce.c and dlcp.c.
#ifndef SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_DLCP_H
#define SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_DLCP_H

#include "hosts/core/engine.h"
#include "hosts/dlcp/dlcp.h"
#include "silken/dlcp.h"

// A station's counters as users see them.
void sk_dlcp_stats(struct silken_dlcp_stats *stats, const struct dlcp_station_stats *s);

// Of a communicator's engine: as of the last call of its stats(). The caller has the lane's lock.
void sk_dlcp_engine_stats(const struct sk_engine *e, struct silken_dlcp_job_stats *stats);

#endif
