// SPDX-License-Identifier: Apache-2.0
#include "control/watch/http.h"

#include <arpa/inet.h>
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
    bool stream;    // 'out' is what waits of it; 'close': it has ended
    uint64_t since; // when it last finished something; a stream: since when something waits
    uint64_t id;
};

struct http_server {
    int fd;
    struct connection *list[HTTP_CLIENTS];
    size_t n;
    uint64_t next_id;
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
    if (length == n || target[length] != '?')
        return;
    size_t end = ++length;
    while (end < n && target[end] != '#')
        end++;
    if (end - length < sizeof r->query)
        memcpy(r->query, target + length, end - length);
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
    if (http_same(line, name, "host") && s->hosts++ == 0 && length < sizeof r->host)
        memcpy(r->host, value, length);
    if (http_same(line, name, "origin")) { // two of them are not one that can be compared
        const bool fits = length < sizeof r->origin && !r->origin[0];
        memset(r->origin, 0, sizeof r->origin);
        memcpy(r->origin, fits ? value : "?", fits ? length : 1);
    }
    r->by_page |= http_same(line, name, "x-silken");
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

// ---- who asks ----

// The length of a host without its port; 0: what follows it is not a port, or it is half in
// brackets.
static size_t http_host_length(const char *host) {
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    if (host[0] == '[' && !bracket)
        return 0;
    const size_t n = bracket ? (size_t)(bracket - host) + 1 : strcspn(host, ":");
    const char *port = host + n + (host[n] == ':');
    return host[n] && (host[n] != ':' || strspn(port, "0123456789") != strlen(port)) ? 0 : n;
}

bool http_host_is_own(const char *host, const char *const *names) {
    char address[INET6_ADDRSTRLEN + 2];
    struct in6_addr ignored;
    const size_t n = http_host_length(host);
    if (n == 0)
        return false;
    if (http_same(host, n, "localhost"))
        return true;
    for (size_t i = 0; names && names[i]; i++)
        if (http_same(host, n, names[i]))
            return true;
    if (n >= sizeof address)
        return false;
    const bool six = host[0] == '[';
    memcpy(address, host + six, n - 2 * six);
    address[n - 2 * six] = 0;
    return inet_pton(six ? AF_INET6 : AF_INET, address, &ignored) == 1;
}

bool http_is_same_origin(const struct http_request *r) {
    static const char scheme[] = "http://";
    const size_t n = sizeof scheme - 1;
    return !r->origin[0] || (r->host[0] && strncasecmp(r->origin, scheme, n) == 0 &&
                             strcasecmp(r->origin + n, r->host) == 0);
}

static int http_hex(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 'a' - 'A' : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

// Returns its length, or SIZE_MAX: it has no room, or is not text.
static size_t http_decode(const char *text, size_t n, char *out, size_t size) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            const int high = i + 2 < n ? http_hex(text[i + 1]) : -1;
            const int low = i + 2 < n ? http_hex(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return SIZE_MAX;
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == 0 || length + 1 >= size)
            return SIZE_MAX;
        out[length++] = c;
    }
    return length;
}

bool http_query_value(const char *query, const char *name, char *out, size_t size) {
    const size_t wanted = strlen(name);
    for (const char *at = query; *at;) {
        const size_t n = strcspn(at, "&"), key = strcspn(at, "=&");
        if (key == wanted && memcmp(at, name, key) == 0) {
            const size_t skip = key < n ? key + 1 : n;
            const size_t length = http_decode(at + skip, n - skip, out, size);
            if (length == SIZE_MAX)
                return false;
            out[length] = 0;
            return true;
        }
        at += n + (at[n] == '&');
    }
    return false;
}

// ---- replies ----

static const char *http_words_of(unsigned status) {
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 421:
        return "Misdirected Request";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    default:
        return "HTTP Version Not Supported";
    }
}

static void reply(struct connection *c, const struct http_request *r, unsigned status,
                  const struct http_page *page) {
    char text[80], length_line[48] = "", *head = NULL;
    snprintf(text, sizeof text, "%u %s\n", status, http_words_of(status));
    const char *body = status == 200 ? page->body : text;
    const size_t length = status == 200 ? page->length : strlen(text);
    const bool stream = status == 200 && page->stream && !r->head;
    if (!stream) // a stream ends with its connection
        snprintf(length_line, sizeof length_line, "Content-Length: %zu\r\n", length);
    const int n = asprintf(
        &head,
        "HTTP/1.1 %u %s\r\nContent-Type: %s\r\n%sCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n%s%sConnection: %s\r\n\r\n",
        status, http_words_of(status), status == 200 ? page->type : "text/plain; charset=utf-8",
        length_line, status == 405 ? "Allow: GET, HEAD\r\n" : "",
        page->headers ? page->headers : "", r->close || stream ? "close" : "keep-alive");
    if (n < 0)
        abort();
    c->length = (size_t)n + (r->head ? 0 : length);
    c->written = 0;
    c->close = r->close && !stream;
    c->stream = stream;
    c->out = realloc(head, c->length + 1);
    if (!c->out)
        abort();
    if (!r->head)
        memcpy(c->out + n, body, length);
}

// ---- the server ----

struct http_server *http_open(const struct sockaddr_storage *address, const char *what,
                              struct sk_error *err) {
    const int fd = sk_listen(address, BACKLOG);
    if (fd < 0) {
        sk_fail(err, "cannot listen for %s: %s", what, strerror(errno));
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
    for (size_t i = 1; i < s->n; i++) // there are more connections than streams
        if (s->list[oldest]->stream ||
            (!s->list[i]->stream && s->list[i]->since < s->list[oldest]->since))
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
    c->id = ++s->next_id;
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

static size_t http_count_streams(const struct http_server *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->list[i]->stream;
    return n;
}

// A whole request, when one is there and the reply before it is written.
static void http_answer(struct http_server *s, struct connection *c, http_page_fn page, void *aux) {
    struct http_request r;
    const size_t n = http_parse(c->in, c->n, &r);
    struct http_page p = {0};
    if (n == 0)
        return;
    if (r.status == 200)
        p = page(aux, &r, c->id);
    const bool crowded = p.body && p.stream && http_count_streams(s) == HTTP_STREAMS;
    const unsigned own = p.status ? p.status : crowded ? 503 : p.body ? 200 : 404;
    const unsigned status = r.status == 200 ? own : r.status;
    s->counts.answered += status == 200;
    s->counts.refused += status != 200;
    reply(c, &r, status, &p);
    memmove(c->in, c->in + n, c->n - n);
    c->n -= n;
}

// What the client of a stream says is not read any more; that it is gone is seen.
static bool http_serve_stream(struct connection *c, short events, uint64_t now_ns) {
    if (events & POLLIN) {
        c->n = 0;
        if (!http_receive(c))
            return false;
    }
    if (c->out && !send_some(c, now_ns))
        return false;
    return c->out ? now_ns - c->since < HTTP_TIMEOUT_NS : !c->close;
}

// One request of a connection at a time: the others have their turn before the next.
static bool http_serve(struct http_server *s, struct connection *c, short events, uint64_t now_ns,
                       http_page_fn page, void *aux) {
    if (events & (POLLERR | POLLNVAL) || (events & POLLHUP && !(events & POLLIN)))
        return false;
    if (c->stream)
        return http_serve_stream(c, events, now_ns);
    if (events & POLLIN && !http_receive(c))
        return false;
    if (!c->out && c->n > 0)
        http_answer(s, c, page, aux);
    if (c->out && !send_some(c, now_ns))
        return false;
    return now_ns - c->since < HTTP_TIMEOUT_NS;
}

void http_poll(struct http_server *s, uint64_t now_ns, http_page_fn page, void *aux) {
    struct pollfd fds[HTTP_CLIENTS + 1];
    const size_t n = s->n;
    for (size_t i = 0; i < n; i++) { // who does not read its reply is not read from
        const struct connection *c = s->list[i];
        const short reads = !c->out || c->stream ? POLLIN : 0, writes = c->out ? POLLOUT : 0;
        fds[i] = (struct pollfd){.fd = c->fd, .events = (short)(reads | writes)};
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
    s->counts.streams = http_count_streams(s);
}

static struct connection *http_find(const struct http_server *s, uint64_t id) {
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i]->id == id && s->list[i]->stream)
            return s->list[i];
    return NULL;
}

bool http_stream_is_open(const struct http_server *s, uint64_t id) {
    return http_find(s, id) != NULL;
}

void http_stream_send(struct http_server *s, uint64_t id, const char *text, size_t n,
                      uint64_t now_ns) {
    struct connection *c = http_find(s, id);
    const size_t waits = c && c->out ? c->length - c->written : 0;
    if (!c || c->close)
        return;
    if (waits + n > HTTP_PENDING) { // it is read too slowly
        for (size_t i = 0; i < s->n; i++)
            if (s->list[i] == c) {
                http_drop(s, i);
                break;
            }
        s->counts.refused++;
        return;
    }
    char *out = malloc(waits + n + 1);
    if (!out)
        abort();
    if (waits)
        memcpy(out, c->out + c->written, waits);
    else
        c->since = now_ns;
    memcpy(out + waits, text, n);
    free(c->out);
    c->out = out;
    c->length = waits + n;
    c->written = 0;
}

void http_stream_end(struct http_server *s, uint64_t id) {
    struct connection *c = http_find(s, id);
    if (c)
        c->close = true;
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
