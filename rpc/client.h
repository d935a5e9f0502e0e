// SPDX-License-Identifier: Apache-2.0
//
// client: a gRPC client of one connection that makes one call at a time and waits for it: for
// commands that read a service once. TLS by OpenSSL (tls.c): the server's certificate is verified.
//
// The server is not trusted: its replies are bounded, and a server that says nothing for
// RPC_CLIENT_SILENCE_S ends the call. Not thread-safe.
#ifndef SILKEN_RPC_CLIENT_H
#define SILKEN_RPC_CLIENT_H

#include "rpc/rpc.h"

#define RPC_CLIENT_SILENCE_S 60
#define RPC_CLIENT_MESSAGE   ((size_t)1 << 30) // bytes of a message of a reply, at most
#define RPC_CLIENT_DETAILS   ((size_t)1 << 20) // bytes of grpc-status-details-bin, at most

struct rpc_client;

// How a client uses TLS: names of PEM files, read when it is opened.
struct rpc_client_tls {
    const char *authority;   // who signed the server's certificate; null: the system's list
    const char *certificate; // the client's own, or null
    const char *key;         // its key; null: in the same file
    const char *name;        // the server's in its certificate; null: the host in the address
};

// 'address' as in struct rpc_options, or with a host's name. 'tls' null: without it. Null with a
// sentence.
struct rpc_client *rpc_client_open(const char *address, const struct rpc_client_tls *tls,
                                   struct sk_error *err);
// The same on a connected socket, which becomes the client's; 'name' is for sentences. With 'tls',
// 'tls->name' is not null.
struct rpc_client *rpc_client_of(int fd, const char *name, const struct rpc_client_tls *tls,
                                 struct sk_error *err);
void rpc_client_close(struct rpc_client *c); // null allowed

// How a call ended. 'details' are the client's, valid until its next call.
struct rpc_client_end {
    enum rpc_status status;
    char message[256]; // of the server; cut, control characters as '?'
    const uint8_t *details;
    size_t n_details;
};
// 'path' is "/package.Service/Method", 'bytes' the message of the request. 'message' is told each
// one of the reply, valid during the call. 0: the call ended, with whatever status. Negative with a
// sentence: the connection is of no more use.
int rpc_client_call(struct rpc_client *c, const char *path, const void *bytes, size_t length,
                    void (*message)(void *aux, const uint8_t *bytes, size_t length), void *aux,
                    struct rpc_client_end *end, struct sk_error *err);

#endif
