// SPDX-License-Identifier: Apache-2.0
//
// rpc_impl: what the files of rpc/ share. Tests that hand a server a connection use rpc_adopt().
#ifndef SILKEN_RPC_RPC_IMPL_H
#define SILKEN_RPC_RPC_IMPL_H

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include "base/socket.h"
#include "rpc/rpc.h"

#define RPC_PREFIX       5u                    // bytes before a message: flag, length
#define RPC_FRAME_HEAD   9u                    // bytes of HTTP/2 before a frame's payload
#define RPC_INPUT        16384u                // bytes read from a connection at a time
#define RPC_OUTPUT       65536u                // bytes written to one at a time
#define RPC_METADATA     16384u                // bytes of a call's metadata, as HPACK counts them
#define RPC_HEADERS      (16u << 20)           // of a header block that is sent
#define RPC_HANDSHAKE_NS UINT64_C(5000000000)  // until a connection has sent its settings
#define RPC_BLOCKED_NS   UINT64_C(20000000000) // a connection accepts no bytes
#define RPC_STALLED_NS   UINT64_C(60000000000) // a call makes no progress
#define RPC_IDLE_NS      UINT64_C(1000000000)  // after it, a call's memory may go to others
#define RPC_PARTING_NS   UINT64_C(1000000000)  // from our end to closing a connection
#define RPC_PEER         320u

struct rpc_connection;

// A message of the service, with its prefix.
struct rpc_queued {
    struct rpc_queued *next;
    size_t length, sent;
    uint8_t *given;  // by rpc_give(): what comes after the prefix; or null
    uint8_t bytes[]; // the prefix, and what comes after it if that was copied
};

struct rpc_header {
    struct rpc_header *next;
    size_t length; // of the value
    char *value;   // with a zero after it
    char name[];
};

struct rpc_call {
    struct rpc_connection *connection;
    struct rpc_call *next, *previous; // of the connection
    int32_t stream;
    const struct rpc_method *method; // null until all headers are here, and if refused
    void *data;
    uint64_t deadline; // UINT64_MAX: none
    uint64_t moved;    // when its client last sent or took anything

    // The head of the request.
    struct rpc_header *metadata;
    size_t metadata_bytes;
    char *path;
    bool post, grpc, bad_timeout, bad_base64, compresses;
    uint64_t timeout;

    // The message that is arriving.
    uint8_t prefix[RPC_PREFIX];
    unsigned n_prefix;
    uint8_t *in;
    size_t in_length, in_n, in_room;
    bool in_held;       // complete, but delivered only after the client closes
    bool client_closed; // it sends no more

    // The queue of messages to send.
    struct rpc_queued *first, *last;
    size_t queued; // bytes
    bool full;     // rpc_send() returned false
    bool answered; // the response's headers are submitted
    bool deferred; // nghttp2 waits for more

    // The end.
    bool ended, by_service, told; // told: 'over' was called, or is not to be
    enum rpc_status status;
    char *message, *details; // as they are sent; null: none, or nghttp2 has them
    size_t details_bytes;    // of memory; until the call is freed, since nghttp2 copies them
};

struct rpc_connection {
    struct rpc_server *server;
    size_t index;
    uint64_t number;
    bool called; // there were calls
    int fd;
    SSL *tls;     // null: none
    bool secured; // the TLS handshake is done, or not needed
    bool greeted; // the client's settings are here
    bool readable;
    bool blocked;    // the socket accepts no more
    bool parting;    // our end is sent
    bool dirty;      // there may be something to send
    uint64_t since;  // when it came, or its parting began
    uint64_t moved;  // when its socket last accepted bytes
    uint64_t active; // when it last had a call
    uint64_t credit_at;
    int64_t credit;               // frames without content that it may still send
    uint8_t head[RPC_FRAME_HEAD]; // of the arriving frame
    size_t n_head, skip;          // bytes of 'head' that are here; of the payload that are not
    unsigned budget;              // messages left in this turn
    nghttp2_session *session;
    struct rpc_call *calls;
    bool with_room; // some of its calls have room again
    size_t in_n, in_at, out_n, out_at;
    uint32_t events; // that epoll watches
    uint8_t in[RPC_INPUT], out[RPC_OUTPUT + 16384 + 64];
    char peer[RPC_PEER];
};

struct rpc_server {
    struct rpc_options options; // with the defaults
    int fd, epoll;
    struct sk_socket_file file; // of a Unix socket, else its path is empty
    bool deaf;                  // the listening socket is not watched, for want of descriptors
    SSL_CTX *tls;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *http;
    struct rpc_connection **list;
    size_t n;
    size_t memory;      // bytes of messages and of details
    uint64_t now, look; // on the clock without 'away'
    uint64_t away;      // ns in which services kept the server from its clients
    bool dirty, more, closing;
    struct rpc_counts counts;
};

// ---- server.c ----
// Takes the descriptor. 'peer' is what rpc_peer() says.
void rpc_adopt(struct rpc_server *s, int fd, const char *peer);
// Takes 'bytes' of memory_bytes. If too little is left, ends other calls that have made no progress
// for RPC_IDLE_NS, those that hold most first. False, and takes nothing, if that is not enough.
bool rpc_take_memory(struct rpc_call *call, size_t bytes);
void rpc_give_memory(struct rpc_server *s, size_t bytes);

// ---- listen.c ----
// Returns a listening descriptor, or -1 with a sentence. '*path': of a Unix socket, for the caller
// to unlink and free; or null.
int rpc_listen(const char *address, struct sk_socket_file *file, struct sk_error *err);
// The next connection of a listening socket, or -1 with errno.
int rpc_accept(int fd, char peer[RPC_PEER]);

// ---- connection.c ----
int rpc_connection_setup(struct rpc_server *s, struct sk_error *err); // callbacks and options
// False if memory is short.
bool rpc_connection_start(struct rpc_connection *c);
// Reads and serves within a turn's budget. False when the connection is over.
bool rpc_connection_receive(struct rpc_connection *c);
// Writes up to a turn's limit. False when the connection is over.
bool rpc_connection_flush(struct rpc_connection *c);
bool rpc_connection_has_input(const struct rpc_connection *c); // that epoll will not report
// Sends GOAWAY with this code. No calls begin after it.
void rpc_connection_terminate(struct rpc_connection *c, uint32_t code);
// Ends its calls and frees it; the caller closes the descriptor and forgets it.
void rpc_connection_free(struct rpc_connection *c);

// ---- call.c ----
struct rpc_call *rpc_call_new(struct rpc_connection *c, int32_t stream);
void rpc_call_header(struct rpc_call *call, const char *name, size_t name_length,
                     const uint8_t *value, size_t length);
void rpc_call_begin(struct rpc_call *call); // all headers are here
void rpc_call_data(struct rpc_call *call, const uint8_t *bytes, size_t length);
void rpc_call_close(struct rpc_call *call); // the client sends no more
void rpc_call_tell_room(struct rpc_call *call);
// Ends it by the server, now: drops its queue and tells the service.
void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *message);
// Ends a stalled call for its memory. The service is told when the stream is closed.
void rpc_call_evict(struct rpc_call *call);
size_t rpc_call_holds(const struct rpc_call *call); // bytes that rpc_call_evict() gives back
// Ends it if its deadline has passed or it has stalled. Returns when to look again.
uint64_t rpc_call_look(struct rpc_call *call, uint64_t now);
void rpc_call_free(struct rpc_call *call); // the stream is closed: tells the service

// ---- metadata.c ----
// Reads a value of grpc-timeout, such as "100m". False if it is not one.
bool rpc_timeout(const uint8_t *text, size_t length, uint64_t *ns);
char *rpc_percent_encode(const char *text); // the caller frees
size_t rpc_base64_room(size_t length);      // bytes that rpc_base64_encode() allocates
char *rpc_base64_encode(const uint8_t *bytes, size_t length); // without padding; the caller frees
// Writes at most 3 * length / 4 bytes. Returns how many, or -1 if it is not base64 (with or without
// padding).
ssize_t rpc_base64_decode(const uint8_t *text, size_t length, uint8_t *out);

// ---- tls.c ----
SSL_CTX *rpc_tls_open(const struct rpc_options *options, struct sk_error *err);
SSL *rpc_tls_start(SSL_CTX *context, int fd); // null if memory is short
// 1: done, 0: call again when the socket is ready, -1: failed.
int rpc_tls_handshake(struct rpc_connection *c);
// As recv() and send(): -1 with EAGAIN or another error.
ssize_t rpc_tls_read(SSL *tls, void *bytes, size_t room);
ssize_t rpc_tls_write(SSL *tls, const void *bytes, size_t length);
// A client's connection on the blocking socket 'fd', with the handshake done and HTTP/2 agreed
// upon; 'server' is for sentences. Null with a sentence. Its fd is the caller's to close.
struct rpc_client_tls;
SSL *rpc_tls_connect(int fd, const char *server, const struct rpc_client_tls *options,
                     struct sk_error *err);
// Why the last call on a connection of this thread failed, as OpenSSL or the system says it.
const char *rpc_tls_why(void);

#endif
