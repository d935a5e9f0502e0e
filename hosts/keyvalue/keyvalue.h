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
// A worker has a link to the switch and one to each server, each a struct libra_worker with a UDP
// port of its own. On the switch servers are workers of the job, too, with the numbers after the
// workers'.
#ifndef SILKEN_HOSTS_KEYVALUE_KEYVALUE_H
#define SILKEN_HOSTS_KEYVALUE_KEYVALUE_H

#include "hosts/libra/libra.h"
#include "hosts/transport/transport.h"
#include "silken/keyvalue.h"

#define KEYVALUE_SERVERS 16u
#define KEYVALUE_PORT    41000u // UDP, of the link to the switch; to server s: s + 1 more

// What a configuration comes to.
struct keyvalue_setup {
    struct silken_kv_config config;
    struct sk_endpoint self, switch_end, server[KEYVALUE_SERVERS];
    struct libra_layout layout;
    bool has_layout;
    uint64_t parameters;
    uint32_t first_sequence; // of the link to the switch
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

// With 'switch_cpu': sets first_sequence for the member of this number. 0, or a negative code with
// a sentence.
int keyvalue_join(struct keyvalue_setup *s, uint16_t number, char *why, size_t cap);

// Sends what 'write' has: as much as the transport takes now.
typedef size_t keyvalue_write(void *machine, uint8_t *buf, size_t cap, uint64_t now);
void keyvalue_send(struct sk_transport *t, keyvalue_write *write, void *machine, uint64_t now);

#endif
