// SPDX-License-Identifier: Apache-2.0
#include "control/watch/http.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/socket.h"

#define BACKLOG 16

struct connection {
    int fd;
    char in[HTTP_HEAD];
    size_t n;
    char *out; // a reply that is being written, or null
    size_t length, written;
    bool close;     // after the reply
    uint64_t since; // when it last finished something
};

struct http_server {
    int fd;
    struct connection *list[HTTP_CLIENTS];
    size_t n;
    struct http_counts counts;
};

// ---- parser ----

// RFC 9110 5.6.2
static bool is_token(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c));
}

static bool http_same(const char *a, size_t n, const char *b) {
    return strlen(b) == n && strncasecmp(a, b, n) == 0;
}

// Does a list of words, separated by commas, have the word?
static bool http_has_word(const char *text, size_t n, const char *word) {
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && text[end] != ',')
            end++;
        size_t from = i, to = end;
        while (from < to && (text[from] == ' ' || text[from] == '\t'))
            from++;
        while (to > from && (text[to - 1] == ' ' || text[to - 1] == '\t'))
            to--;
        if (http_same(text + from, to - from, word))
            return true;
        i = end + 1;
    }
    return false;
}

struct seen {
    unsigned hosts;
    bool one_zero; // HTTP/1.0
    bool keep;     // "keep-alive", which it has to ask for
};

// The path of a target "/path?query"; one with a scheme is a proxy's, and not for us.
static void read_target(const char *target, size_t n, struct http_request *r) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        if (target[i] <= ' ' || target[i] >= 0x7f)
            r->status = 400;
    while (length < n && target[length] != '?' && target[length] != '#')
        length++;
    if (n == 0 || target[0] != '/')
        r->status = 400;
    else if (length < sizeof r->path)
        memcpy(r->path, target, length);
}

// "GET /metrics HTTP/1.1"
static void http_read_line(const char *line, size_t n, struct http_request *r, struct seen *s) {
    const char *space = memchr(line, ' ', n);
    const size_t method = space ? (size_t)(space - line) : n;
    const char *target = line + method + 1;
    const size_t left = space ? n - method - 1 : 0;
    const char *end = left ? memchr(target, ' ', left) : NULL;
    const size_t version = end ? left - (size_t)(end - target) - 1 : 0;
    bool token = method > 0;
    for (size_t i = 0; i < method; i++)
        token &= is_token(line[i]);
    if (!token || !end || version != 8 || memcmp(end + 1, "HTTP/", 5) != 0 || end[6] < '0' ||
        end[6] > '9' || end[7] != '.' || end[8] < '0' || end[8] > '9') {
        r->status = 400;
        return;
    }
    read_target(target, (size_t)(end - target), r);
    r->head = method == 4 && memcmp(line, "HEAD", 4) == 0;
    s->one_zero = end[8] == '0';
    if (end[6] != '1' && r->status == 200)
        r->status = 505;
    if (!r->head && !(method == 3 && memcmp(line, "GET", 3) == 0) && r->status == 200)
        r->status = 405;
}

// "Name: value". A body would have to be read: there is none.
static void read_field(const char *line, size_t n, struct http_request *r, struct seen *s) {
    const char *colon = memchr(line, ':', n);
    const size_t name = colon ? (size_t)(colon - line) : 0;
    bool good = name > 0;
    for (size_t i = 0; i < name; i++)
        good &= is_token(line[i]);
    for (size_t i = name; good && i < n; i++)
        good &= (unsigned char)line[i] >= ' ' ? line[i] != 0x7f : line[i] == '\t';
    if (!good) { // a line that goes on, too
        r->status = 400;
        return;
    }
    const char *value = colon + 1;
    size_t length = n - name - 1;
    while (length > 0 && (*value == ' ' || *value == '\t'))
        value++, length--;
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    s->hosts += http_same(line, name, "host");
    if (http_same(line, name, "connection")) {
        r->close |= http_has_word(value, length, "close");
        s->keep |= http_has_word(value, length, "keep-alive");
    }
    if (http_same(line, name, "transfer-encoding") ||
        (http_same(line, name, "content-length") && !http_same(value, length, "0")))
        r->status = r->status == 200 ? 413 : r->status;
}

// Lines end with CR LF; a bare LF is taken too (RFC 9112 2.2).
size_t http_parse(const char *bytes, size_t n, struct http_request *out) {
    struct seen seen = {0};
    size_t at = 0;
    bool first = true;
    *out = (struct http_request){.status = 200};
    for (;;) {
        const char *end = at < n ? memchr(bytes + at, '\n', n - at) : NULL;
        if (!end) {
            if (n < HTTP_HEAD)
                return 0;
            *out = (struct http_request){.status = first ? 414 : 431, .close = true};
            return n;
        }
        const size_t next = (size_t)(end - bytes) + 1;
        size_t length = next - 1 - at;
        length -= length > 0 && bytes[at + length - 1] == '\r';
        if (length == 0 && !first) {
            at = next;
            break;
        }
        if (first && length > 0) // empty lines before a request are left out
            http_read_line(bytes + at, length, out, &seen);
        else if (!first)
            read_field(bytes + at, length, out, &seen);
        first = first && length == 0;
        at = next;
    }
    if (out->status == 200 && (seen.hosts > 1 || (seen.hosts == 0 && !seen.one_zero)))
        out->status = 400;
    out->close |= out->status != 200 || (seen.one_zero && !seen.keep);
    return at;
}

// ---- replies ----

static const char *http_words_of(unsigned status) {
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 431:
        return "Request Header Fields Too Large";
    default:
        return "HTTP Version Not Supported";
    }
}

static void reply(struct connection *c, const struct http_request *r, unsigned status,
                  const struct http_page *page) {
    char head[512], text[80];
    snprintf(text, sizeof text, "%u %s\n", status, http_words_of(status));
    const char *body = status == 200 ? page->body : text;
    const size_t length = status == 200 ? page->length : strlen(text);
    const int n = snprintf(
        head, sizeof head,
        "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n%sConnection: %s\r\n\r\n",
        status, http_words_of(status), status == 200 ? page->type : "text/plain; charset=utf-8",
        length, status == 405 ? "Allow: GET, HEAD\r\n" : "", r->close ? "close" : "keep-alive");
    c->length = (size_t)n + (r->head ? 0 : length);
    c->written = 0;
    c->close = r->close;
    c->out = malloc(c->length);
    if (!c->out)
        abort();
    memcpy(c->out, head, (size_t)n);
    if (!r->head)
        memcpy(c->out + n, body, length);
}

// ---- the server ----

struct http_server *http_open(const struct sockaddr_storage *address, struct sk_error *err) {
    const int fd = sk_listen(address, BACKLOG);
    if (fd < 0) {
        sk_fail(err, "cannot listen for metrics: %s", strerror(errno));
        return NULL;
    }
    struct http_server *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->fd = fd;
    return s;
}

uint16_t http_port(const struct http_server *s) {
    return sk_listen_port(s->fd);
}

static void http_drop(struct http_server *s, size_t i) {
    close(s->list[i]->fd);
    free(s->list[i]->out);
    free(s->list[i]);
    s->list[i] = s->list[--s->n];
}

static void accept_one(struct http_server *s, uint64_t now_ns) {
    const int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    size_t oldest = 0;
    if (fd < 0)
        return;
    for (size_t i = 1; i < s->n; i++)
        if (s->list[i]->since < s->list[oldest]->since)
            oldest = i;
    if (s->n == HTTP_CLIENTS) {
        http_drop(s, oldest);
        s->counts.refused++;
    }
    struct connection *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->fd = fd;
    c->since = now_ns;
    s->list[s->n++] = c;
}

// False when the connection is over.
static bool http_receive(struct connection *c) {
    const ssize_t n = recv(c->fd, c->in + c->n, sizeof c->in - c->n, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    c->n += (size_t)n;
    return n > 0;
}

static bool send_some(struct connection *c, uint64_t now_ns) {
    const ssize_t n = send(c->fd, c->out + c->written, c->length - c->written, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    c->written += (size_t)n;
    if (c->written < c->length)
        return true;
    free(c->out);
    c->out = NULL;
    c->since = now_ns;
    return !c->close;
}

// A whole request, when one is there and the reply before it is written.
static void http_answer(struct http_server *s, struct connection *c,
                        struct http_page (*page)(void *aux, const char *path), void *aux) {
    struct http_request r;
    const size_t n = http_parse(c->in, c->n, &r);
    struct http_page p = {0};
    if (n == 0)
        return;
    if (r.status == 200)
        p = page(aux, r.path);
    s->counts.answered += p.body != NULL;
    s->counts.refused += p.body == NULL;
    reply(c, &r, r.status == 200 && !p.body ? 404 : r.status, &p);
    memmove(c->in, c->in + n, c->n - n);
    c->n -= n;
}

// One request of a connection at a time: the others have their turn before the next.
static bool http_serve(struct http_server *s, struct connection *c, short events, uint64_t now_ns,
                       struct http_page (*page)(void *aux, const char *path), void *aux) {
    if (events & (POLLERR | POLLNVAL) || (events & POLLHUP && !(events & POLLIN)))
        return false;
    if (events & POLLIN && !http_receive(c))
        return false;
    if (!c->out && c->n > 0)
        http_answer(s, c, page, aux);
    if (c->out && !send_some(c, now_ns))
        return false;
    return now_ns - c->since < HTTP_TIMEOUT_NS;
}

void http_poll(struct http_server *s, uint64_t now_ns,
               struct http_page (*page)(void *aux, const char *path), void *aux) {
    struct pollfd fds[HTTP_CLIENTS + 1];
    const size_t n = s->n;
    for (size_t i = 0; i < n; i++) { // who does not read its reply is not read from
        const struct connection *c = s->list[i];
        fds[i] = (struct pollfd){.fd = c->fd, .events = c->out ? POLLOUT : POLLIN};
    }
    fds[n] = (struct pollfd){.fd = s->fd, .events = POLLIN};
    if (poll(fds, n + 1, 0) < 0)
        return;
    for (size_t i = n; i-- > 0;) { // from the end: dropping one moves the last into its place
        const bool asked = s->list[i]->n > 0 || s->list[i]->out;
        if (http_serve(s, s->list[i], fds[i].revents, now_ns, page, aux))
            continue;
        // one that is closed between two requests is no failure
        s->counts.refused += asked && s->list[i]->out;
        http_drop(s, i);
    }
    if (fds[n].revents & POLLIN)
        accept_one(s, now_ns);
    s->counts.clients = s->n;
}

struct http_counts http_counts(const struct http_server *s) {
    return s->counts;
}

void http_close(struct http_server *s) {
    if (!s)
        return;
    while (s->n > 0)
        http_drop(s, 0);
    close(s->fd);
    free(s);
}
