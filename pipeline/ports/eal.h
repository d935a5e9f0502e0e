// SPDX-License-Identifier: Apache-2.0
//
// eal: DPDK for this process, started once; and devices attached to it by their strings.
#ifndef SILKEN_PIPELINE_PORTS_EAL_H
#define SILKEN_PIPELINE_PORTS_EAL_H

#include "pipeline/ports/ports.h"

// False with a sentence. A second call does nothing.
bool ports_eal_start(const struct sk_port_spec *specs, size_t n, const struct sk_ports_options *opt,
                     char *error, size_t error_size);

// Attaches the device; its DPDK port number goes to 'id', the sockets of an af_packet device to
// 'sockets'. 'own_processors': as sk_ports_options has it.
struct ports_sockets;
bool ports_eal_attach(const struct sk_port_spec *spec, bool own_processors, uint16_t *id,
                      struct ports_sockets *sockets, char *error, size_t error_size);

#endif
