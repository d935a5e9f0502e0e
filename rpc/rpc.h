// SPDX-License-Identifier: Apache-2.0
//
// rpc: a gRPC server: HTTP/2 (RFC 9113) by nghttp2, gRPC's own framing upon it (gRPC over HTTP/2,
// PROTOCOL-HTTP2), TLS by OpenSSL.
//
// A service registers its methods by path. For each call of a client the server tells it of what
// comes (struct rpc_method), and it answers with rpc_send() and rpc_end(), at once or later. What a
// message means is the service's: here messages are bytes.
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
// One thread, which never blocks and never waits for a client. Clients are not trusted: what is
// held for each is bounded, refused before memory is taken, and a client that does not read what it
// is sent, floods with frames that cost more than they carry (resets, settings, pings), or leaves a
// handshake half done is disconnected. A message that is compressed, too long or not whole ends its
// call with the status that gRPC has for it; so does a method that is not known.
//
// Files:
//
//     listen.c       sockets that listen, and who connects to them
//     server.c       connections, deadlines, limits
//     connection.c   a connection: HTTP/2 frames to calls and back
//     call.c         a call: metadata, messages in both directions, its end
//     metadata.c     text of the wire: timeouts, percent-encoding, base64
//     tls.c          TLS and certificates of clients
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

// Each function may be null. A method with one message in each direction needs 'message' only: the
// server sees to it that exactly one comes (else RPC_UNIMPLEMENTED, as gRPC has it) if 'stream_in'
// is false.
struct rpc_method {
    const char *path; // "/package.Service/Method"; null ends a list
    bool stream_in;   // the client may send any number of messages
    // The call's metadata has come; it may be ended here.
    void (*begin)(struct rpc_call *call);
    // A whole message. 'bytes' are valid until it returns. Not called after rpc_end().
    void (*message)(struct rpc_call *call, const uint8_t *bytes, size_t length);
    // The client sends no more messages.
    void (*closed)(struct rpc_call *call);
    // The call is over, in whatever way: after this the pointer is no longer valid. Called once for
    // each call that 'begin' was called for (or would have been), never from within rpc_send() or
    // rpc_end(). 'cancelled': not by rpc_end(), but by the client, its deadline, a limit, the end
    // of its connection, or rpc_close().
    void (*over)(struct rpc_call *call, bool cancelled);
    // There is room again: rpc_send() had said false, and since then the connection has taken what
    // was queued down to half of the limit.
    void (*room)(struct rpc_call *call);
};

struct rpc_options {
    const char *address; // "IPV4:PORT", "[IPV6]:PORT" or "unix:PATH" (mode 0600; replaced if dead)
    const struct rpc_method *methods; // stays the caller's; must outlive the server
    void *aux;                        // for rpc_aux()
    // PEM files; null: no TLS. With 'client_authority', clients need a certificate that it signed.
    const char *certificate, *key, *client_authority;
    // Limits; 0: the default.
    size_t message_bytes; // of a client's message: 'memory_bytes', which is also the most
    size_t memory_bytes;  // of all messages that are partly here or not sent yet, and of details of
                          // errors, of all clients: 256 MiB
    size_t queue_bytes;   // of one call's messages that are not sent yet, before rpc_send() says
                          // false: 4 MiB
    unsigned connections; // 64
    unsigned calls;       // of one connection at a time: 128
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
// When rpc_poll() is to be called though nothing is readable, on the monotonic clock
// (base/clock.h); 0: at once, UINT64_MAX: not needed.
uint64_t rpc_due(const struct rpc_server *s);
// Does what there is to do, in a bounded time: some messages of each connection.
void rpc_poll(struct rpc_server *s, uint64_t now_ns);
uint16_t rpc_port(const struct rpc_server *s); // where it listens, if the address said 0
struct rpc_counts rpc_counts(const struct rpc_server *s);
void rpc_close(struct rpc_server *s); // calls end as cancelled; null allowed

// ---- of a call ----
void *rpc_aux(const struct rpc_call *call);  // of the options
void *rpc_data(const struct rpc_call *call); // the service's own; null until set
void rpc_set_data(struct rpc_call *call, void *data);
// A metadata value that the client sent, by lower-case name ("deadline_sec"); null if it did not.
// Names that end in -bin: decoded. Valid as long as the call is.
const char *rpc_metadata(const struct rpc_call *call, const char *name, size_t *length);
// "127.0.0.1:40000", or "unix"; with a client's certificate its subject after a space.
const char *rpc_peer(const struct rpc_call *call);
// Queues a message (copied). False: the queue is full now, or the call is over; the message was
// queued all the same unless the call is over or all memory is taken (then the call is ended with
// RPC_RESOURCE_EXHAUSTED).
bool rpc_send(struct rpc_call *call, const void *bytes, size_t length);
// Ends the call once what was queued is sent. 'message': a sentence, or null; 'details': an encoded
// google.rpc.Status for grpc-status-details-bin, or null. A second call does nothing.
void rpc_end(struct rpc_call *call, enum rpc_status status, const char *message,
             const uint8_t *details, size_t details_length);

#endif
