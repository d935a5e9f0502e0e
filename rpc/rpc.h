// SPDX-License-Identifier: Apache-2.0
//
// rpc: a gRPC server: HTTP/2 (RFC 9113) by nghttp2, gRPC's own framing on top of it
// (PROTOCOL-HTTP2.md of gRPC), TLS by OpenSSL.
//
// A service registers its methods by path. For each call of a client, the server calls the
// functions of struct rpc_method, and the service answers with rpc_send() and rpc_end(), at once or
// later. The server treats messages as bytes: only the service knows what they mean.
//
//     static void write_message(struct rpc_call *call, const uint8_t *bytes, size_t length) {
//         ... rpc_send(call, reply, reply_length); rpc_end(call, RPC_OK, NULL, NULL, 0);
//     }
//     static const struct rpc_method methods[] = {
//         {.path = "/bfrt_proto.BfRuntime/Write", .message = write_message},
//         {.path = NULL},
//     };
//     struct rpc_server *s = rpc_open(&(struct rpc_options){.address = "127.0.0.1:50052",
//                                                          .methods = methods}, &err);
//     poll() until rpc_fd(s) is readable or rpc_due(s) has come; then rpc_poll(s, now);
//
// The server runs in one thread, which never blocks and never waits for a client. Clients are not
// trusted: the memory for each is bounded, and a request that exceeds a limit is refused before it
// takes memory. A client is disconnected if it does not read its replies, floods the server with
// frames that carry nothing (resets, settings, pings), or does not complete a handshake. A message
// that is compressed, too long or incomplete ends its call with gRPC's status for that; so does an
// unknown method.
//
// Files:
//
//     listen.c       the listening socket, new connections
//     server.c       connections, deadlines, limits
//     connection.c   a connection: HTTP/2 frames to calls and back
//     call.c         a call: metadata, messages in both directions, its end
//     metadata.c     texts as gRPC sends them: timeouts, percent-encoding, base64
//     tls.c          TLS, certificates of clients
//     client.c       the other end: one call at a time (client.h)
#ifndef SILKEN_RPC_RPC_H
#define SILKEN_RPC_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

// gRPC's status codes (statuscodes.md).
enum rpc_status {
    RPC_OK = 0,
    RPC_CANCELLED = 1,
    RPC_UNKNOWN = 2,
    RPC_INVALID_ARGUMENT = 3,
    RPC_DEADLINE_EXCEEDED = 4,
    RPC_NOT_FOUND = 5,
    RPC_ALREADY_EXISTS = 6,
    RPC_PERMISSION_DENIED = 7,
    RPC_RESOURCE_EXHAUSTED = 8,
    RPC_FAILED_PRECONDITION = 9,
    RPC_ABORTED = 10,
    RPC_OUT_OF_RANGE = 11,
    RPC_UNIMPLEMENTED = 12,
    RPC_INTERNAL = 13,
    RPC_UNAVAILABLE = 14,
    RPC_DATA_LOSS = 15,
    RPC_UNAUTHENTICATED = 16,
};

struct rpc_call;

// Each function may be null. A method with one message in each direction needs only 'message':
// unless 'stream_in' is set, the server ends a call with more or less than one message with
// RPC_UNIMPLEMENTED, as gRPC does.
struct rpc_method {
    const char *path; // "/package.Service/Method"; null ends a list
    bool stream_in;   // the client may send any number of messages
    // The call's metadata is here. The service may end the call at once.
    void (*begin)(struct rpc_call *call);
    // A complete message. 'bytes' are valid until the function returns. Not called after rpc_end().
    void (*message)(struct rpc_call *call, const uint8_t *bytes, size_t length);
    // The client sends no more messages.
    void (*closed)(struct rpc_call *call);
    // The call is over, and its pointer is no longer valid after this. Called once for each call
    // that began, never from within rpc_send() or rpc_end(). 'cancelled': it was not rpc_end() that
    // ended the call, but the client, a deadline, a limit, the end of the connection, or
    // rpc_close(); or a deadline or a limit cut off the reply after rpc_end().
    void (*over)(struct rpc_call *call, bool cancelled);
    // There is room again: rpc_send() returned false, and since then the queue has shrunk to half
    // of its limit.
    void (*room)(struct rpc_call *call);
};

struct rpc_options {
    const char *address;              // "IPV4:PORT", "[IPV6]:PORT" or "unix:PATH" (mode 0600)
    const struct rpc_method *methods; // stays the caller's; must outlive the server
    void *aux;                        // for rpc_aux()
    // PEM files; null: no TLS. With 'client_authority', clients need a certificate signed by it.
    const char *certificate, *key, *client_authority;
    // Limits; 0: the default.
    size_t message_bytes; // of a client's message: 'memory_bytes', which is also the most
    size_t memory_bytes;  // of all clients' messages that are incomplete or not sent yet, and of
                          // the details of errors: 256 MiB
    size_t queue_bytes;   // of one call's messages that are not sent yet, before rpc_send()
                          // returns false: 4 MiB
    unsigned connections; // 64
    unsigned calls;       // of one connection at a time: 128
    // A client that has no call is not disconnected to make room for another: for services to which
    // a connection means more than its calls.
    bool keeps_idle;
    // A connection on which there were calls is over, after all of them; not within rpc_close().
    // May be null.
    void (*gone)(void *aux, uint64_t connection);
};
struct rpc_counts {
    uint64_t calls, failed; // failed: ended with a status other than RPC_OK
    uint64_t cancelled;
    uint64_t connections,
        disconnected;        // disconnected: by this server, since the client broke a rule
    size_t open, open_calls; // connections and calls now
    size_t memory;           // bytes now, of 'memory_bytes'
};
struct rpc_server;

// Null with a sentence. The caller owns the server; all functions below are for one thread.
struct rpc_server *rpc_open(const struct rpc_options *options, struct sk_error *err);
// Readable, for poll(), when there is something to do.
int rpc_fd(const struct rpc_server *s);
// When to call rpc_poll() even if nothing is readable, on the monotonic clock (base/clock.h), in
// ns; 0: at once, UINT64_MAX: never.
uint64_t rpc_due(const struct rpc_server *s);
// Serves each connection for a bounded time.
void rpc_poll(struct rpc_server *s, uint64_t now_ns);
uint16_t rpc_port(const struct rpc_server *s); // the port it listens on, if the address has port 0
struct rpc_counts rpc_counts(const struct rpc_server *s);
void rpc_close(struct rpc_server *s); // calls end as cancelled; null allowed

// ---- of a call ----
void *rpc_aux(const struct rpc_call *call);  // of the options
void *rpc_data(const struct rpc_call *call); // the service's own; null until set
void rpc_set_data(struct rpc_call *call, void *data);
// A metadata value of the client by its lower-case name ("deadline_sec"); null if it sent none. For
// names that end in -bin, the decoded bytes. Valid as long as the call.
const char *rpc_metadata(const struct rpc_call *call, const char *name, size_t *length);
// "127.0.0.1:40000", or "unix"; with a client's certificate its subject after a space.
const char *rpc_peer(const struct rpc_call *call);
// Which connection it came by: a number that no other connection of this server has, from 1 on.
uint64_t rpc_connection(const struct rpc_call *call);
// Queues a copy of a message. False if the queue is full now, with this message in it, or if the
// message was not queued: because the call has ended, or because no memory is left, which ends the
// call with RPC_RESOURCE_EXHAUSTED.
bool rpc_send(struct rpc_call *call, const void *bytes, size_t length);
// The same of a message in memory of malloc(), which is taken: it is freed when it has been sent,
// or at once. 'bytes' may be null where 'length' is 0.
bool rpc_give(struct rpc_call *call, uint8_t *bytes, size_t length);
// Ends the call after its queue is sent. 'message': a sentence, or null; 'details': an encoded
// google.rpc.Status for grpc-status-details-bin, or null. They are left out, and the message says
// so, if they are longer than some 12 MiB or than the client takes (SETTINGS_MAX_HEADER_LIST_SIZE),
// or when no memory is left. For a call that has ended it does nothing.
void rpc_end(struct rpc_call *call, enum rpc_status status, const char *message,
             const uint8_t *details, size_t details_length);

#endif
