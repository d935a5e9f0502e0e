// SPDX-License-Identifier: Apache-2.0
//
// http: as much of HTTP/1.1 (RFC 9112) as a scraper and a page need: GET and HEAD, without bodies,
// one request after the other on a connection; and streams of events (server-sent events of the
// HTML standard), whose connection is for nothing else.
//
// The server never blocks and never waits for a client. It has at most HTTP_CLIENTS connections;
// when another comes, the one that has been without a finished request for longest makes room,
// unless it is a stream, of which there are HTTP_STREAMS at most. A request is at most HTTP_HEAD
// bytes and must be complete HTTP_TIMEOUT_NS after the end of the last reply, or after the start of
// the connection; the client must read a reply within the same time. A request that breaks a rule
// is answered with a status of 400 or more, and the connection is closed. A stream whose client has
// not read what was sent within the same time, or for which more than HTTP_PENDING bytes wait, is
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
#define HTTP_STREAMS    8u
#define HTTP_HEAD       4096u
#define HTTP_PENDING    ((size_t)4 << 20)
#define HTTP_TIMEOUT_NS UINT64_C(10000000000)

// ---- the parser ----
struct http_request {
    unsigned status; // 200, or what is to be answered instead; then the connection is closed
    bool head, close;
    char path[64];   // without the query; longer ones are 404
    char query[200]; // what follows '?', without a fragment; "" for a longer one
    char host[128];  // of the field "Host"; "" for a longer one
    // of the field "Origin"; "" without, "?" for a longer one
    char origin[128];
    bool by_page; // has a field "X-Silken", which a page of another origin cannot send unasked
};
// The request at the start of the 'n' bytes. Returns its length, or 0 when it is not whole yet.
size_t http_parse(const char *bytes, size_t n, struct http_request *out);
// Whether a host with or without a port ("127.0.0.1:9465", "[::1]") is an address, "localhost", or
// one of the names. Every other name may be one that its owner made an address of this machine
// (DNS rebinding). 'names' ends with null, or is null.
bool http_host_is_own(const char *host, const char *const *names);
// Whether the request comes from a page of this server itself, or from no page: its origin is
// "http://" and its host, or it says none.
bool http_is_same_origin(const struct http_request *r);
// The value of NAME=VALUE in a query of such pairs with '&' between them, with %XX and '+' decoded
// ("" without a '='). False if the query has no such name, the value is 'size' bytes or longer, or
// it is not text: it has a zero byte or a wrong escape.
bool http_query_value(const char *query, const char *name, char *out, size_t size);

// ---- the server ----
struct http_page {
    const char *type; // of the content
    const char *body; // valid until the next call; null: there is no such page
    size_t length;
    unsigned status;     // 0: 200. Another one is answered without a body of the caller's
    const char *headers; // further ones, lines that end with CR LF; or null
    bool stream;         // 'body' is its beginning, and more comes by http_stream_send()
};
struct http_counts {
    uint64_t answered,
        refused; // pages that were given; all else, and connections that were given up
    size_t clients, streams;
};
struct http_server;
// Called for each request whose syntax is good. 'id' is that of the connection, never 0 and never
// used again; it is the stream's if the page is one.
typedef struct http_page (*http_page_fn)(void *aux, const struct http_request *r, uint64_t id);

// 'what' it is for, in messages. Null with a sentence.
struct http_server *http_open(const struct sockaddr_storage *address, const char *what,
                              struct sk_error *err);
// 'now_ns' never goes back.
void http_poll(struct http_server *s, uint64_t now_ns, http_page_fn page, void *aux);
// Whether the stream is open; its client may be gone all the same until the next http_poll().
bool http_stream_is_open(const struct http_server *s, uint64_t id);
// Queues bytes for a stream; nothing if it is closed. Not from a http_page_fn.
void http_stream_send(struct http_server *s, uint64_t id, const char *text, size_t n,
                      uint64_t now_ns);
void http_stream_end(struct http_server *s, uint64_t id); // after what was queued is sent
uint16_t http_port(const struct http_server *s);          // where it listens, if the address said 0
struct http_counts http_counts(const struct http_server *s);
void http_close(struct http_server *s); // null allowed

#endif
