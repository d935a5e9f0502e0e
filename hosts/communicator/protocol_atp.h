// SPDX-License-Identifier: Apache-2.0
//
// protocol_atp.h: what ATP's workers and servers have in common; internal to hosts/.
#ifndef SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_ATP_H
#define SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_ATP_H

#include "hosts/atp/frame.h"

// The bits for the number of one of 'flows' flows.
uint8_t sk_atp_flow_bits(uint32_t flows);

// The workers' places below a server: worker i is in rack[i] (NULL: all in rack 0). Errors and the
// rest as in atp_places(); 'places', of 'workers' elements, may be NULL.
int sk_atp_places(const uint32_t *rack, uint32_t workers, uint32_t server_rack,
                  struct atp_shape *shape, struct atp_place *places, const char **why);

#endif
