// SPDX-License-Identifier: Apache-2.0
//
// keyvalue: the calls of silken/keyvalue.h: the state machines of hosts/libra in real time, over a
// transport.
//
// Files:
//
//     worker.c     requests, which go to the switch and to servers
//     server.c     a server
//     join.c       what a member asks the switch's CPU when it begins
//     setup.c      what both do to begin: configuration, addresses, layout, transport
//
// A worker has a link to each switch and one to each server, each a struct libra_worker with a UDP
// port of its own. On a switch servers are workers of the job, too, with the numbers after the
// workers'.
#ifndef SILKEN_HOSTS_KEYVALUE_KEYVALUE_H
#define SILKEN_HOSTS_KEYVALUE_KEYVALUE_H

#include "hosts/libra/libra.h"
#include "hosts/transport/transport.h"
#include "silken/keyvalue.h"

#define KEYVALUE_SERVERS  16u
#define KEYVALUE_SWITCHES 16u
#define KEYVALUE_PORT     41000u // UDP, of the link to the first switch; to server s: s + 1 more
#define KEYVALUE_PORT_MORE                                                                         \
    (KEYVALUE_PORT + KEYVALUE_SERVERS) // of the link to switch i, from 1 on: i more

struct keyvalue_switch {
    struct sk_endpoint end;
    struct libra_layout layout;
    bool has_layout; // else 'layout' is empty
    uint16_t epoch;  // of the job there: the layout's, or what the switch says
    uint32_t first_sequence;
};

// What a configuration comes to.
struct keyvalue_setup {
    struct silken_kv_config config;
    struct sk_endpoint self, server[KEYVALUE_SERVERS];
    struct keyvalue_switch at[KEYVALUE_SWITCHES];
    unsigned switches; // 0: no hot parameters
    uint64_t parameters;
    struct sk_transport *transport;
};
// All or nothing; see silken_kv_open.
int keyvalue_setup(struct keyvalue_setup *s, const struct silken_kv_config *config, bool server,
                   char *why, size_t why_cap);
void keyvalue_clear(struct keyvalue_setup *s);
// The first parameter of a server's range, of number 0 to 'servers'.
uint64_t keyvalue_first(const struct keyvalue_setup *s, uint32_t server);
uint32_t keyvalue_server_of(const struct keyvalue_setup *s, uint64_t parameter);
// A link of this station to 'to', from the UDP port.
struct libra_worker_config keyvalue_link(const struct keyvalue_setup *s,
                                         const struct sk_endpoint *to, uint16_t port,
                                         uint16_t number);
// The link to a switch, of the member of this number.
struct libra_worker_config keyvalue_switch_link(const struct keyvalue_setup *s, unsigned at,
                                                uint16_t number);
// The switch that has the parameter, and its rank there; -1: it is cold.
int keyvalue_switch_of(const struct keyvalue_setup *s, uint64_t parameter, uint32_t *rank);

// With 'switch_cpu': sets first_sequence of each switch for the member of this number. 0, or a
// negative code with a sentence.
int keyvalue_join(struct keyvalue_setup *s, uint16_t number, char *why, size_t cap);

// Sends what 'write' has: as much as the transport takes now.
typedef size_t keyvalue_write(void *machine, uint8_t *buf, size_t cap, uint64_t now);
void keyvalue_send(struct sk_transport *t, keyvalue_write *write, void *machine, uint64_t now);

#endif
