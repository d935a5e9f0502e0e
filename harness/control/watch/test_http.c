// SPDX-License-Identifier: Apache-2.0
//
// The metrics' port: requests as RFC 9112 has them, and clients that misbehave, in a time of the
// test's own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "control/watch/http.h"

#define SECOND UINT64_C(1000000000)

// ---- the parser ----

static void expect(const char *text, unsigned status, bool head, bool close, const char *path) {
    struct http_request r;
    const size_t n = http_parse(text, strlen(text), &r);
    if (n != strlen(text) || r.status != status || (status == 200 && r.head != head) ||
        r.close != close || (path && strcmp(r.path, path) != 0))
        fail_msg("%s: took %zu, status %u, head %d, close %d, path '%s'", text, n, r.status, r.head,
                 r.close, r.path);
}

static void test_requests(void **state) {
    (void)state;
    expect("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 200, false, false, "/metrics");
    expect("GET /metrics HTTP/1.1\nhost:a\n\n", 200, false, false, "/metrics");
    expect("\r\nHEAD / HTTP/1.1\r\nHost: a\r\nConnection: x , Close\r\n\r\n", 200, true, true, "/");
    expect("GET /m?x=1 HTTP/1.0\r\n\r\n", 200, false, true, "/m");
    expect("GET /m HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, false, false, "/m");
    expect("GET /m HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n", 200, false, false, "/m");
    expect("GET /m HTTP/1.7\r\nHost: a\r\n\r\n", 200, false, false, "/m");
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        unsigned status;
        const char *text;
    } cases[] = {
        {400, "GET /m HTTP/1.1\r\n\r\n"},                       // no host
        {400, "GET /m HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"}, // two
        {400, "GET  /m HTTP/1.1\r\nHost: a\r\n\r\n"},           // two spaces
        {400, "GET /m\r\nHost: a\r\n\r\n"},                     // no version
        {400, "GET m HTTP/1.1\r\nHost: a\r\n\r\n"},             // no path
        {400, "GET http://a/m HTTP/1.1\r\nHost: a\r\n\r\n"},    // of a proxy
        {400, "GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n"},         // no ASCII
        {400, "GET /m HTTP/1.1\r\nHost : a\r\n\r\n"},           // a space before the colon
        {400, "GET /m HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"},      // a line that goes on
        {400, "GET /m HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"},       // no colon
        {400, "GET /m HTTP/1.1\r\nHost: a\rb\r\n\r\n"},         // a CR alone
        {400, "G@T /m HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET /m HTTX/1.1\r\nHost: a\r\n\r\n"},
        {405, "POST /m HTTP/1.1\r\nHost: a\r\n\r\n"},
        {405, "get /m HTTP/1.1\r\nHost: a\r\n\r\n"}, // methods have a case
        {413, "GET /m HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"},
        {413, "GET /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {505, "GET /m HTTP/2.0\r\nHost: a\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, cases[i].status, false, true, NULL);
    char long_one[HTTP_HEAD];
    struct http_request r;
    memset(long_one, 'a', sizeof long_one);
    assert_int_equal(http_parse(long_one, sizeof long_one - 1, &r), 0);
    assert_int_equal(http_parse(long_one, sizeof long_one, &r), HTTP_HEAD);
    assert_int_equal(r.status, 414);
    memcpy(long_one, "GET / HTTP/1.1\r\n", 16);
    assert_int_equal(http_parse(long_one, sizeof long_one, &r), HTTP_HEAD);
    assert_int_equal(r.status, 431);
}

static void test_nothing_before_the_end(void **state) {
    (void)state;
    static const char text[] = "\r\nGET /metrics HTTP/1.1\r\nHost: a\r\n\r\nGET";
    struct http_request r;
    const size_t whole = strlen(text) - 3;
    for (size_t n = 0; n < whole; n++)
        assert_int_equal(http_parse(text, n, &r), 0);
    assert_int_equal(http_parse(text, strlen(text), &r), whole);
}

static void test_addresses(void **state) {
    (void)state;
    struct sockaddr_storage a;
    assert_true(sk_socket_address("127.3.0.1:9464", &a) && sk_socket_is_local(&a));
    assert_true(sk_socket_address("[::1]:0", &a) && sk_socket_is_local(&a));
    assert_true(sk_socket_address("10.0.0.1:80", &a) && !sk_socket_is_local(&a));
    assert_true(sk_socket_address("0.0.0.0:80", &a) && !sk_socket_is_local(&a));
    assert_true(sk_socket_address("[::]:65535", &a) && !sk_socket_is_local(&a));
    static const char *const bad[] = {"",
                                      "9464",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      ":9464",
                                      "127.0.0.1:65536",
                                      "127.0.0.1:9x",
                                      "::1:9464",
                                      "[::1]",
                                      "[]:1",
                                      "localhost:1",
                                      "127.0.0.1:-1",
                                      "[::1]x:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sk_socket_address(bad[i], &a))
            fail_msg("'%s' was taken", bad[i]);
}

// ---- the server ----

struct bench {
    struct http_server *s;
    uint64_t now;
    unsigned pages;
    size_t length; // of the page
    char *body;
    uint64_t stream; // the last one
};

static struct http_page page(void *aux, const struct http_request *r, uint64_t id) {
    struct bench *b = aux;
    assert_int_not_equal(id, 0);
    if (strcmp(r->path, "/events") == 0) {
        b->stream = id;
        return (struct http_page){.type = "text/event-stream",
                                  .body = "begin\n\n",
                                  .length = 7,
                                  .stream = true,
                                  .headers = "X-Test: yes\r\n"};
    }
    if (strcmp(r->path, "/forbidden") == 0)
        return (struct http_page){.status = 403};
    if (strcmp(r->path, "/metrics") != 0)
        return (struct http_page){0};
    b->pages++;
    return (struct http_page){
        .type = "text/plain; version=0.0.4", .body = b->body, .length = b->length};
}

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    struct sockaddr_storage a;
    struct sk_error err;
    assert_true(sk_socket_address("127.0.0.1:0", &a));
    b->s = http_open(&a, "tests", &err);
    assert_non_null(b->s);
    b->now = SECOND;
    b->length = 32000000; // more than sockets hold
    b->body = malloc(b->length);
    memset(b->body, 'x', b->length);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    http_close(b->s);
    free(b->body);
    free(b);
    return 0;
}

static void turn(struct bench *b, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        http_poll(b->s, b->now, page, b);
}

static int dial(struct bench *b) {
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(http_port(b->s)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    turn(b, 1);
    return fd;
}

static void say(struct bench *b, int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    turn(b, 3);
}

// Reads until 'n' bytes are there or the server closes.
static char *hear(struct bench *b, int fd, size_t n) {
    char *out = calloc(1, n + 1);
    size_t have = 0;
    for (unsigned i = 0; i < 100000 && have < n; i++) {
        turn(b, 1);
        const ssize_t got = recv(fd, out + have, n - have, MSG_DONTWAIT);
        if (got == 0)
            break;
        have += got > 0 ? (size_t)got : 0;
    }
    return out;
}

static bool is_closed(struct bench *b, int fd) {
    char byte;
    turn(b, 3);
    const ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

#define GET "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"

static void test_pages(void **state) {
    struct bench *b = *state;
    b->length = 5;
    const int fd = dial(b);
    say(b, fd, GET);
    char *text = hear(b, fd, 190);
    if (!strstr(text, "HTTP/1.1 200 OK\r\n") || !strstr(text, "Content-Length: 5\r\n") ||
        !strstr(text, "Content-Type: text/plain; version=0.0.4\r\n") ||
        !strstr(text, "\r\n\r\nxxxxx"))
        fail_msg("%s", text);
    free(text);
    // two at once, the second for its head alone: as long, and without the body
    say(b, fd, GET "HEAD /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    text = hear(b, fd, 4096);
    const char *second = strstr(text, "xxxxxHTTP/1.1 200 OK\r\n");
    assert_non_null(second);
    assert_non_null(strstr(second, "Content-Length: 5\r\n"));
    assert_string_equal(strstr(second, "\r\n\r\n"), "\r\n\r\n");
    free(text);
    close(fd);
    const int other = dial(b);
    say(b, other, "GET /nothing HTTP/1.1\r\nHost: <b>\r\n\r\n");
    text = hear(b, other, 100);
    assert_non_null(strstr(text, "HTTP/1.1 404 Not Found\r\n"));
    free(text);
    close(other);
    const int post = dial(b);
    say(b, post, "POST /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    text = hear(b, post, 4096);
    assert_non_null(strstr(text, "405 Method Not Allowed\r\n"));
    assert_non_null(strstr(text, "Allow: GET, HEAD\r\n"));
    assert_non_null(strstr(text, "Connection: close\r\n"));
    free(text);
    assert_true(is_closed(b, post));
    close(post);
    assert_int_equal(b->pages, 3);
    assert_int_equal(http_counts(b->s).answered, 3);
    assert_int_equal(http_counts(b->s).refused, 2);
}

// A byte every few seconds is too slow in sum.
static void test_a_slow_request(void **state) {
    struct bench *b = *state;
    const int fd = dial(b);
    for (unsigned i = 0; i < 3; i++) {
        say(b, fd, "G");
        assert_false(is_closed(b, fd));
        b->now += 3 * SECOND;
    }
    b->now += 2 * SECOND;
    assert_true(is_closed(b, fd));
    close(fd);
}

static void test_one_that_does_not_read(void **state) {
    struct bench *b = *state;
    const int fd = dial(b);
    say(b, fd, GET);
    for (unsigned i = 0; i < 50; i++) // nor is it read from meanwhile
        send(fd, GET, sizeof GET - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    turn(b, 50);
    assert_int_equal(b->pages, 1);
    // others are served
    const int other = dial(b);
    say(b, other, GET);
    char *text = hear(b, other, b->length);
    assert_non_null(strstr(text, "xxxx"));
    free(text);
    close(other);
    b->now += HTTP_TIMEOUT_NS;
    turn(b, 3);
    assert_int_equal(http_counts(b->s).clients, 0);
    close(fd);
}

// When all places are taken by clients that say nothing, the oldest of them makes room.
static void test_too_many(void **state) {
    struct bench *b = *state;
    int fds[HTTP_CLIENTS];
    for (unsigned i = 0; i < HTTP_CLIENTS; i++) {
        fds[i] = dial(b);
        b->now += SECOND / 100;
    }
    b->length = 3;
    const int fd = dial(b);
    assert_int_equal(http_counts(b->s).clients, HTTP_CLIENTS);
    assert_true(is_closed(b, fds[0]));
    assert_false(is_closed(b, fds[1]));
    say(b, fd, GET);
    char *text = hear(b, fd, 190);
    assert_non_null(strstr(text, "\r\n\r\nxxx"));
    free(text);
    close(fd);
    for (unsigned i = 0; i < HTTP_CLIENTS; i++)
        close(fds[i]);
}

static void test_in_pieces(void **state) {
    struct bench *b = *state;
    b->length = 3;
    const int fd = dial(b);
    for (const char *c = GET; *c; c++) {
        const char one[2] = {*c, 0};
        assert_int_equal(b->pages, 0);
        say(b, fd, one);
    }
    assert_int_equal(b->pages, 1);
    shutdown(fd, SHUT_WR);
    char *text = hear(b, fd, 4096);
    assert_non_null(strstr(text, "\r\n\r\nxxx"));
    free(text);
    close(fd);
    turn(b, 2);
    assert_int_equal(http_counts(b->s).clients, 0);
}

// ---- streams ----

#define EVENTS "GET /events HTTP/1.1\r\nHost: a\r\n\r\n"

static void push(struct bench *b, const char *text) {
    http_stream_send(b->s, b->stream, text, strlen(text), b->now);
    turn(b, 2);
}

static void test_a_stream(void **state) {
    struct bench *b = *state;
    const int fd = dial(b);
    say(b, fd, EVENTS);
    assert_true(http_stream_is_open(b->s, b->stream));
    assert_int_equal(http_counts(b->s).streams, 1);
    push(b, "one\n\n");
    b->now += 10 * HTTP_TIMEOUT_NS; // nothing waits: it may be quiet for as long as it likes
    turn(b, 2);
    push(b, "two\n\n");
    say(b, fd, "GET /metrics HTTP/1.1\r\n"); // is not answered on this connection
    http_stream_end(b->s, b->stream);
    push(b, "after the end\n\n");
    char *text = hear(b, fd, 4096);
    if (strncmp(text, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", 50) != 0 ||
        strstr(text, "Content-Length") || !strstr(text, "\r\nX-Test: yes\r\n") ||
        !strstr(text, "Connection: close\r\n\r\nbegin\n\none\n\ntwo\n\n") ||
        strstr(text, "after the end"))
        fail_msg("%s", text);
    free(text);
    assert_true(is_closed(b, fd));
    assert_false(http_stream_is_open(b->s, b->stream));
    assert_int_equal(b->pages, 0);
    close(fd);
    // its head alone is no stream
    const int head = dial(b);
    say(b, head, "HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(http_counts(b->s).streams, 0);
    close(head);
}

static void test_a_stream_that_is_left(void **state) {
    struct bench *b = *state;
    const int fd = dial(b);
    say(b, fd, EVENTS);
    close(fd);
    turn(b, 3);
    assert_false(http_stream_is_open(b->s, b->stream));
    push(b, "nobody hears it");
    assert_int_equal(http_counts(b->s).clients, 0);
}

// Nobody waits for it: it is closed when it is late, or when too much waits.
static void test_a_stream_that_is_not_read(void **state) {
    struct bench *b = *state;
    char *event = calloc(1, HTTP_PENDING);
    memset(event, 'e', HTTP_PENDING - 1);
    for (unsigned much = 0; much < 2; much++) {
        const int fd = dial(b);
        say(b, fd, EVENTS);
        unsigned sent = 0;
        if (much) {
            for (; sent < 32 && http_stream_is_open(b->s, b->stream); sent++)
                push(b, event);
            assert_in_range(sent, 2, 31);
        } else {
            push(b, event);
            push(b, "more");
            b->now += HTTP_TIMEOUT_NS - 1;
            turn(b, 2);
            assert_true(http_stream_is_open(b->s, b->stream));
            b->now += 1;
            turn(b, 2);
        }
        assert_false(http_stream_is_open(b->s, b->stream));
        assert_int_equal(http_counts(b->s).refused, 1 + much);
        close(fd);
    }
    free(event);
}

static void test_streams_leave_room(void **state) {
    struct bench *b = *state;
    int fds[HTTP_STREAMS];
    b->length = 3;
    for (unsigned i = 0; i < HTTP_STREAMS; i++) {
        fds[i] = dial(b);
        say(b, fds[i], EVENTS);
    }
    const int more = dial(b);
    say(b, more, EVENTS);
    char *text = hear(b, more, 100);
    assert_non_null(strstr(text, "HTTP/1.1 503 Service Unavailable\r\n"));
    free(text);
    close(more);
    int others[HTTP_CLIENTS];
    for (unsigned i = 0; i < HTTP_CLIENTS; i++) { // of which the oldest make room for the next
        b->now += SECOND / 100;
        others[i] = dial(b);
    }
    assert_int_equal(http_counts(b->s).clients, HTTP_CLIENTS);
    assert_int_equal(http_counts(b->s).streams, HTTP_STREAMS);
    say(b, others[HTTP_CLIENTS - 1], GET);
    text = hear(b, others[HTTP_CLIENTS - 1], 190);
    assert_non_null(strstr(text, "\r\n\r\nxxx"));
    free(text);
    for (unsigned i = 0; i < HTTP_CLIENTS; i++)
        close(others[i]);
    for (unsigned i = 0; i < HTTP_STREAMS; i++)
        close(fds[i]);
}

static void test_a_status(void **state) {
    struct bench *b = *state;
    const int fd = dial(b);
    say(b, fd, "GET /forbidden HTTP/1.1\r\nHost: a\r\n\r\n");
    char *text = hear(b, fd, 100);
    assert_non_null(strstr(text, "HTTP/1.1 403 Forbidden\r\n"));
    free(text);
    close(fd);
    assert_int_equal(http_counts(b->s).refused, 1);
}

// ---- who asks ----

static void test_hosts(void **state) {
    (void)state;
    static const char *const names[] = {"rack7.example", NULL};
    static const char *const own[] = {"127.0.0.1", "127.0.0.1:9465",     "[::1]:9465",
                                      "[::1]",     "localhost:1",        "LocalHost",
                                      "10.1.2.3:", "rack7.example:9465", "RACK7.example"};
    static const char *const others[] = {"",
                                         ":9465",
                                         "evil.example",
                                         "evil.example:9465",
                                         "127.0.0.1.evil.example",
                                         "localhost.evil.example",
                                         "rack7.example.evil",
                                         "::1",
                                         "[::1",
                                         "[:80",
                                         "[",
                                         "[::1]x",
                                         "[127.0.0.1]",
                                         "127.0.0.1:80x",
                                         "127.0.0.1 ",
                                         "[]",
                                         "2130706433"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!http_host_is_own(own[i], names))
            fail_msg("'%s' was refused", own[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (http_host_is_own(others[i], names))
            fail_msg("'%s' was taken", others[i]);
    assert_false(http_host_is_own("rack7.example", NULL));
}

static bool same_origin(const char *fields) {
    char text[600];
    struct http_request r;
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\n%s\r\n", fields);
    assert_int_equal(http_parse(text, strlen(text), &r), strlen(text));
    assert_int_equal(r.status, 200);
    return http_is_same_origin(&r);
}

static void test_origins(void **state) {
    (void)state;
    char longer[400];
    assert_true(same_origin("Host: a:1\r\n"));
    assert_true(same_origin("Host: a:1\r\nOrigin: http://a:1\r\n"));
    assert_true(same_origin("origin: HTTP://A:1\r\nhost: a:1\r\n"));
    assert_false(same_origin("Host: a:1\r\nOrigin: http://a:2\r\n"));
    assert_false(same_origin("Host: a:1\r\nOrigin: https://a:1\r\n"));
    assert_false(same_origin("Host: a:1\r\nOrigin: null\r\n"));
    assert_false(same_origin("Host: a:1\r\nOrigin: http://a:1.evil\r\n"));
    assert_false(same_origin("Host: \r\nOrigin: http://\r\n"));
    assert_false(same_origin("Host: a\r\nOrigin: http://a\r\nOrigin: http://a\r\n"));
    snprintf(longer, sizeof longer, "Host: a\r\nOrigin: http://%0200d\r\n", 0);
    assert_false(same_origin(longer));
}

static void test_fields(void **state) {
    (void)state;
    struct http_request r;
    char text[600];
    static const char asked[] =
        "GET /t?port=1&table=a%2eb#x HTTP/1.1\r\nHost: h:1\r\nX-SILKEN: page\r\n\r\n";
    assert_int_equal(http_parse(asked, sizeof asked - 1, &r), sizeof asked - 1);
    assert_string_equal(r.path, "/t");
    assert_string_equal(r.query, "port=1&table=a%2eb");
    assert_string_equal(r.host, "h:1");
    assert_true(r.by_page);
    snprintf(text, sizeof text, "GET /t?%0200d HTTP/1.1\r\nHost: %0128d\r\n\r\n", 0, 0);
    assert_int_equal(http_parse(text, strlen(text), &r), strlen(text));
    assert_string_equal(r.query, "");
    assert_string_equal(r.host, "");
    assert_false(r.by_page);
}

static void test_queries(void **state) {
    (void)state;
    char out[8];
    assert_true(http_query_value("a=1&bc=%41+%7a&d", "bc", out, sizeof out));
    assert_string_equal(out, "A z");
    assert_true(http_query_value("a=1&bc=2&d", "d", out, sizeof out));
    assert_string_equal(out, "");
    assert_true(http_query_value("a=1=2", "a", out, sizeof out));
    assert_string_equal(out, "1=2");
    assert_true(http_query_value("&&x=1234567", "x", out, sizeof out));
    static const char *const bad[] = {"",      "b=1",    "ax=1",       "a=%",   "a=%4",
                                      "a=%4g", "a=%00",  "a=12345678", "&",     "%61=1",
                                      "=a",    "b=a&=a", "a=%g4",      "b=1&&b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (http_query_value(bad[i], "a", out, sizeof out))
            fail_msg("'%s' has '%s'", bad[i], out);
}

static void test_the_port_is_taken(void **state) {
    struct bench *b = *state;
    struct sockaddr_storage a;
    struct sk_error err;
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%u", http_port(b->s));
    assert_true(sk_socket_address(text, &a));
    assert_null(http_open(&a, "tests", &err));
    assert_string_equal(err.text, "cannot listen for tests: Address already in use");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nothing_before_the_end),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test_setup_teardown(test_pages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_slow_request, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_does_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_in_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_stream_that_is_left, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_stream_that_is_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_streams_leave_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_status, setup, teardown),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_queries),
        cmocka_unit_test_setup_teardown(test_the_port_is_taken, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
