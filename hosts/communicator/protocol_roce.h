// SPDX-License-Identifier: Apache-2.0
//
// protocol_roce.h: SwitchML by RoCEv2 as a protocol of communicators: of lanes whose devices are
// roce: (hosts/transport/transport.h). Internal to hosts/.
//
// Concurrency: constant; any thread may call anything.
#ifndef SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_ROCE_H
#define SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_ROCE_H

#include "hosts/communicator/protocol.h"

extern const struct sk_protocol sk_protocol_roce;

#endif
