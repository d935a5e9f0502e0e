// SPDX-License-Identifier: Apache-2.0
//
// http: as much of HTTP/1.1 (RFC 9112) as a scraper needs: GET and HEAD, without bodies, one
// request after the other on a connection.
//
// The server never blocks and never waits for a client. It has at most HTTP_CLIENTS connections;
// when another comes, the one that has been without a finished request for longest makes room. A
// request is at most HTTP_HEAD bytes and must be complete HTTP_TIMEOUT_NS after the end of the last
// reply, or after the start of the connection; the client must read a reply within the same time. A
// request that breaks a rule is answered with a status of 400 or more, and the connection is
// closed.
//
// Clients are not trusted: no reply contains any part of a request.
#ifndef SILKEN_CONTROL_WATCH_HTTP_H
#define SILKEN_CONTROL_WATCH_HTTP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HTTP_CLIENTS    16u
#define HTTP_HEAD       4096u
#define HTTP_TIMEOUT_NS UINT64_C(10000000000)

// ---- the parser ----
struct http_request {
    unsigned status; // 200, or what is to be answered instead; then the connection is closed
    bool head, close;
    char path[64]; // without the query; longer ones are 404
};
// The request at the start of the 'n' bytes. Returns its length, or 0 when it is not whole yet.
size_t http_parse(const char *bytes, size_t n, struct http_request *out);

// ---- the server ----
struct http_page {
    const char *type; // of the content
    const char *body; // valid until the next call; null: there is no such page
    size_t length;
};
struct http_counts {
    uint64_t answered,
        refused; // pages that were given; all else, and connections that were given up
    size_t clients;
};
struct http_server;

// Null with a sentence.
struct http_server *http_open(const struct sockaddr_storage *address, struct sk_error *err);
// 'now_ns' never goes back. 'page' is called for each request that is answered with a page.
void http_poll(struct http_server *s, uint64_t now_ns,
               struct http_page (*page)(void *aux, const char *path), void *aux);
uint16_t http_port(const struct http_server *s); // where it listens, if the address said 0
struct http_counts http_counts(const struct http_server *s);
void http_close(struct http_server *s); // null allowed

#endif
