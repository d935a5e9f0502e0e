// SPDX-License-Identifier: Apache-2.0
//
// comm.h: what collective.c asks a communicator, beside silken/allreduce.h.
//
// Concurrency: as that header says.
#ifndef SILKEN_HOSTS_COMMUNICATOR_COMM_H
#define SILKEN_HOSTS_COMMUNICATOR_COMM_H

#include "silken/allreduce.h"
#include "hosts/core/engine.h"
#include "hosts/core/wire_type.h"

// Submits a tensor which may be for some workers only, if sk_comm_audiences() says so. 'wire' is
// taken over on success. Errors as of silken_submit().
int sk_comm_submit(struct silken_comm *comm, const struct sk_tensor *tensor,
                   const struct sk_wire *wire, struct silken_request **request);

// Whether the switch adds 16-bit floats and no integers.
bool sk_comm_halves(const struct silken_comm *comm);

// 1: the switch serves such tensors; 0: it does not. Or an error: the job is over. Joins its
// session.
int sk_comm_audiences(struct silken_comm *comm);

#endif
