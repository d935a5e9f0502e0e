// SPDX-License-Identifier: Apache-2.0
//
// socket: the control socket of a running switch, both ends.
//
// A Unix stream socket that only its owner may use (mode 0600). A client writes a request
// (requests.h) as JSON on one line and gets the reply on one line; it may send the next without
// waiting.
//
// The server never blocks and never waits for a client: sk_server_poll() reads what is there,
// answers at most one request of each client, writes what fits. A request line is at most
// SK_SOCKET_LINE bytes; a client that breaks the rules or does not read its events is disconnected.
// Clients are at most SK_SOCKET_CLIENTS: when another comes, the one that has asked nothing for
// longest makes room, and if all wait for a reply, want events or record, the other is refused.
//
// Files:
//
//     socket.c             both ends of the socket
//     requests.c           the table of operations; what there is
//     requests_batch.c     many changes in one request
//     requests_table.c     tables and their entries
//     requests_group.c     groups of action selectors
//     requests_register.c  registers and counters, by index
//     requests_meter.c     meters, counts, ageing, events
//     requests_hash.c      hashes that can be changed
//     requests_mask.c      key masks of tables
//     requests_state.c     the whole state
//     requests_record.c    recording
//     requests_switch.c    ports, statistics, replication
//     requests_watch.c     a snapshot of all that changes by itself
//     recording.c          whether the switch records, and for whom
#ifndef SILKEN_CONTROL_SOCKET_SOCKET_H
#define SILKEN_CONTROL_SOCKET_SOCKET_H

#include <poll.h>

#include "control/socket/requests.h"

#define SK_SOCKET_LINE    ((size_t)256 << 10)
#define SK_SOCKET_CLIENTS 32u

struct sk_server;

// Null with a sentence; a socket file that a dead switch left is replaced, one in use is not.
struct sk_server *sk_server_open(const char *path, struct sk_error *err);
// False: there was nothing to do.
bool sk_server_poll(struct sk_server *server, const struct sk_service *service);
// What to wait for with poll() before the next sk_server_poll(); returns how many.
#define SK_SERVER_FDS (SK_SOCKET_CLIENTS + 1)
size_t sk_server_fds(const struct sk_server *server, struct pollfd fds[SK_SERVER_FDS]);
// Sends an event (a reference is taken over) to every client that asked for "events"; one that does
// not read them is disconnected.
void sk_server_publish(struct sk_server *server, json_t *event);
bool sk_server_has_listeners(const struct sk_server *server);
struct sk_server_counts {
    uint64_t requests, refused; // those that failed are among the first
    size_t clients;
};
struct sk_server_counts sk_server_counts(const struct sk_server *server);
const char *sk_server_path(const struct sk_server *server);
void sk_server_close(struct sk_server *server); // removes the file; null allowed

struct sk_client;

#define SK_CLIENT_SECONDS 30u

struct sk_client *sk_client_open(const char *path, struct sk_error *err);
// One that gives a switch so many seconds for each answer, and to take it as a client; the above
// gives SK_CLIENT_SECONDS. A call that ran out of time is the client's last.
struct sk_client *sk_client_open_within(const char *path, unsigned seconds, struct sk_error *err);
// Replies and events are made printable: control characters in texts are '?'.
// Sends the request (a reference is taken over) and waits for the reply: its result, a new
// reference, or null with the switch's sentence.
json_t *sk_client_call(struct sk_client *client, json_t *request, struct sk_error *err);
// After a call of "events": waits for the next one, however long, a new reference, or null with a
// sentence.
json_t *sk_client_event(struct sk_client *client, struct sk_error *err);
// The descriptor that came with the last reply, now the caller's; -1: none.
int sk_client_passed(struct sk_client *client);
// The switch went away. Between two calls.
bool sk_client_is_alone(const struct sk_client *client);
void sk_client_close(struct sk_client *client); // null allowed

#endif
