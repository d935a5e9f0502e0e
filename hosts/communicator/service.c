// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/service.h"
#include "hosts/transport/transport.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "hosts/communicator/reply.h"

#define MS          UINT64_C(1000000)
#define CONNECT_MS  10000u // to reach the service
#define SILENCE_S   12     // until a service that does not answer counts as gone
#define TOKEN_BYTES 256u
#define NAME_BYTES  63u
#define FOR_EVER    UINT64_MAX

struct silken_lease {
    int fd;
    char in[SK_REPLY_LINE];
    size_t n;
    struct sk_reply reply; // the last one
    pthread_mutex_t lock;  // of what is above, once the lease is shared
    _Atomic uint64_t looked;
    _Atomic bool over;
    char why[sizeof((struct sk_reply){0}.error) + 32];
};

static int service_fail(char *why, size_t cap, int code, const char *what, const char *detail) {
    snprintf(why, cap, "%s%s", what, detail);
    return code;
}

// ---- what is asked ---------------------------------------------------------------------------

bool silken_service_from_env(struct silken_service *s) {
    static const char *const names[] = {"SILKEN_CONTROLLER", "SILKEN_TOKEN", "SILKEN_TOKEN_FILE",
                                        "SILKEN_JOB_NAME"};
    const char **const members[] = {&s->controller, &s->token, &s->token_file, &s->job};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            *members[i] = value;
    }
    const char *controller = getenv(names[0]);
    return controller && *controller;
}

// As text of JSON, of at most 'most' printable characters without blanks.
static bool put_quoted(char *out, size_t cap, const char *text, size_t most) {
    size_t n = 0;

    out[n++] = '"';
    if (!text || !*text || strlen(text) > most)
        return false;
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c <= ' ' || *c == 0x7f || n + 4 > cap)
            return false;
        if (*c == '"' || *c == '\\')
            out[n++] = '\\';
        out[n++] = *c;
    }
    out[n++] = '"';
    out[n] = '\0';
    return true;
}

// ", \"key\": \"text\"", or nothing without a text.
static bool put_optional(char *out, size_t cap, const char *key, const char *text) {
    char quoted[96];

    out[0] = '\0';
    if (text) {
        if (!put_quoted(quoted, sizeof quoted, text, 40))
            return false;
        snprintf(out, cap, ", \"%s\": %s", key, quoted);
    }
    return true;
}

// Whether the worker's device is roce:; then the job is one by RoCEv2.
static bool service_is_roce(const struct silken_config *config) {
    const char *device = config->lane && config->lanes ? config->lane[0].device : config->device;

    return device && sk_transport_roce_device(device);
}

// What such a worker says of its queue pairs.
static void service_say_roce(char *out, size_t cap, const struct silken_rdma *r) {
    snprintf(out, cap, ", \"pairs\": %u, \"queue_pair\": %u, \"psn\": %u, \"rkey\": %u", r->pairs,
             r->own, r->psn, r->rkey);
}

// The request as a line. Returns its length, or 0 after a sentence.
static size_t write_request(char *out, size_t cap, const struct silken_service *s,
                            const struct silken_config *config, const char *token, char *why,
                            size_t why_cap) {
    char name[2 * NAME_BYTES + 4], quoted[2 * TOKEN_BYTES + 4], ip[128], mac[128], port[32] = "",
                                                                                   slots[32] = "";
    char roce[128] = "";
    int n;

    if (!put_quoted(name, sizeof name, s->job, NAME_BYTES)) {
        service_fail(why, why_cap, 0, "the job needs a name of 1 to 63 characters without blanks",
                     "");
        return 0;
    }
    if (!put_quoted(quoted, sizeof quoted, token, TOKEN_BYTES)) {
        service_fail(why, why_cap, 0, "the token is not 1 to 256 printable characters", "");
        return 0;
    }
    if (!put_optional(ip, sizeof ip, "ip", s->ip) ||
        !put_optional(mac, sizeof mac, "mac", s->mac)) {
        service_fail(why, why_cap, 0, "addresses must be like 02:00:00:00:01:00 and 10.0.0.1", "");
        return 0;
    }
    if (s->port)
        snprintf(port, sizeof port, ", \"port\": %u", s->port);
    if (s->slots)
        snprintf(slots, sizeof slots, ", \"slots\": %u", s->slots);
    if (service_is_roce(config))
        service_say_roce(roce, sizeof roce, &config->rdma);
    n = snprintf(out, cap,
                 "{\"token\": %s, \"job\": %s, \"rank\": %u, \"workers\": %u, \"kind\": "
                 "\"%s\"%s%s%s%s%s}\n",
                 quoted, name, s->rank, s->workers, roce[0] ? "switchml-roce" : "switchml", ip, mac,
                 port, slots, roce);
    return (size_t)n;
}

// ---- the connection --------------------------------------------------------------------------

static uint64_t deadline_in(uint32_t ms) {
    return ms ? sk_clock_now() + ms * MS : FOR_EVER;
}

// Waits for 'events', at most until then or 'ms'.
static bool service_wait_for(int fd, short events, uint64_t deadline, uint32_t ms) {
    struct pollfd p = {.fd = fd, .events = events};
    const uint64_t now = sk_clock_now(), left = deadline == FOR_EVER ? ms
                                                : deadline > now     ? (deadline - now) / MS + 1
                                                                     : 0;

    return poll(&p, 1, (int)(left < ms ? left : ms)) > 0;
}

// A service that is gone without a word, since the way to it is cut, is found out by TCP.
static void watch_peer(int fd) {
    static const struct {
        int level, option, value;
    } settings[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, SILENCE_S / 2},
        {IPPROTO_TCP, TCP_KEEPINTVL, SILENCE_S / 4},
        {IPPROTO_TCP, TCP_KEEPCNT, 2},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, SILENCE_S * 1000},
        {IPPROTO_TCP, TCP_NODELAY, 1},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setsockopt(fd, settings[i].level, settings[i].option, &settings[i].value, sizeof(int));
}

static int connect_to(const struct addrinfo *a, uint64_t deadline) {
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    int error = 0;
    socklen_t size = sizeof error;

    if (fd < 0)
        return -1;
    watch_peer(fd);
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    error = errno;
    if (error == EINPROGRESS) {
        error = ETIMEDOUT;
        if (service_wait_for(fd, POLLOUT, deadline, CONNECT_MS))
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

// "host:port", "[v6]:port".
static bool split_address(const char *text, char host[256], char port[8]) {
    const char *colon = text ? strrchr(text, ':') : NULL;
    size_t n = colon ? (size_t)(colon - text) : 0;

    if (n == 0 || n >= 256 || strlen(colon + 1) >= 8 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) || atoi(colon + 1) < 1 ||
        atoi(colon + 1) > UINT16_MAX) // getaddrinfo takes it modulo 65,536
        return false;
    if (text[0] == '[' && n > 2 && text[n - 1] == ']') {
        text++;
        n -= 2;
    }
    memcpy(host, text, n);
    host[n] = '\0';
    strcpy(port, colon + 1);
    return true;
}

static int connect_service(struct silken_lease *l, const char *controller, char *why, size_t cap) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[256], port[8];
    int rc;

    if (!split_address(controller, host, port)) {
        return service_fail(why, cap, SILKEN_ERR_INVALID,
                            "the job service's address must be like 10.0.0.254:9466, not ",
                            controller ? controller : "");
    }
    rc = getaddrinfo(host, port, &hints, &found);
    if (rc != 0) {
        snprintf(why, cap, "cannot find the job service %s: %s", controller, gai_strerror(rc));
        return SILKEN_ERR_TRANSPORT;
    }
    errno = 0;
    for (const struct addrinfo *a = found; a && l->fd < 0; a = a->ai_next)
        l->fd = connect_to(a, deadline_in(CONNECT_MS));
    rc = errno;
    freeaddrinfo(found);
    if (l->fd < 0) {
        snprintf(why, cap, "cannot reach the job service %s: %s", controller, strerror(rc));
        return SILKEN_ERR_TRANSPORT;
    }
    return 0;
}

// ---- lines -----------------------------------------------------------------------------------

// Reads what is there. Returns 1 with a new reply, 0 if there is none yet, negative with why it
// cannot come.
static int next_reply(struct silken_lease *l, const char **why) {
    char *end = memchr(l->in, '\n', l->n);

    if (!end && l->n < sizeof l->in) {
        const ssize_t n = recv(l->fd, l->in + l->n, sizeof l->in - l->n, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0) {
            *why = n < 0 ? "the job service does not answer any more"
                         : "the job service has closed the connection";
            return -1;
        }
        l->n += (size_t)n;
        end = memchr(l->in, '\n', l->n);
    }
    if (!end && l->n < sizeof l->in)
        return 0;
    if (!end || !sk_reply_read(&l->reply, l->in, (size_t)(end - l->in))) {
        *why = "the server that answered is not a job service";
        return -1;
    }
    l->n -= (size_t)(end + 1 - l->in);
    memmove(l->in, end + 1, l->n);
    return 1;
}

static void say_waits(const struct silken_config *config, const struct silken_service *s,
                      const struct silken_lease *l) {
    char text[512];

    snprintf(
        text, sizeof text,
        l->reply.missing[0]
            ? "worker %u of %u, job '%s': the job service waits for the workers with rank %s\n"
            : "worker %u of %u, job '%s': all workers have come; the job waits for its place in "
              "the switch%s\n",
        s->rank, s->workers, s->job, l->reply.missing);
    if (config->log)
        config->log(config->log_context, text);
    else
        fputs(text, stderr);
}

// Waits until all have come.
static int await_admission(struct silken_lease *l, const struct silken_config *config,
                           const struct silken_service *s, char *why, size_t cap) {
    const uint64_t deadline = deadline_in(s->wait_ms);
    uint64_t warning = deadline_in(config->stall_warning_ms);
    const char *fault = "";
    int rc;

    for (;;) {
        while ((rc = next_reply(l, &fault)) > 0) {
            if (l->reply.error[0]) {
                return service_fail(why, cap, SILKEN_ERR_REFUSED,
                                    "the job service refuses: ", l->reply.error);
            }
            if (strcmp(l->reply.state, "admitted") == 0)
                return 0;
        }
        if (rc < 0)
            return service_fail(why, cap, SILKEN_ERR_TRANSPORT, fault, "");
        if (sk_clock_now() >= deadline) {
            return service_fail(why, cap, SILKEN_ERR_STALLED,
                                "the other workers have not come to the job service in time: rank ",
                                l->reply.missing[0] ? l->reply.missing : "unknown");
        }
        if (sk_clock_now() >= warning) {
            warning = deadline_in(config->stall_warning_ms * 5);
            say_waits(config, s, l);
        }
        service_wait_for(l->fd, POLLIN, deadline, 100);
    }
}

// The request is short and the connection new: it fits.
static int service_ask(struct silken_lease *l, const char *line, size_t n, char *why, size_t cap) {
    if (send(l->fd, line, n, MSG_NOSIGNAL) == (ssize_t)n)
        return 0;
    return service_fail(why, cap, SILKEN_ERR_TRANSPORT, "the job service does not take a request",
                        "");
}

// ---- from beginning to end -------------------------------------------------------------------

static int fill_config(struct silken_config *config, const struct silken_service *s,
                       struct silken_lease *l, char *why, size_t cap) {
    const struct sk_reply *r = &l->reply;

    if (r->number > UINT8_MAX || r->slots == 0 || r->elements == 0 || r->elements > UINT16_MAX ||
        r->worker_port > UINT16_MAX || r->session_port > UINT16_MAX ||
        r->switch_port > UINT16_MAX || !r->worker_ip[0] || !r->worker_mac[0] || !r->switch_ip[0] ||
        !r->switch_mac[0]) {
        return service_fail(why, cap, SILKEN_ERR_REFUSED,
                            "the job service's answer is not complete", "");
    }
    config->protocol = SILKEN_SWITCHML;
    config->rank = s->rank;
    config->workers = s->workers;
    config->job = (uint8_t)r->number;
    config->pool_size = r->slots;
    config->k = (uint16_t)r->elements;
    config->worker_ip = r->worker_ip;
    config->worker_mac = r->worker_mac;
    config->worker_port = (uint16_t)r->worker_port;
    config->switch_ip = r->switch_ip;
    config->switch_mac = r->switch_mac;
    config->switch_port = (uint16_t)r->switch_port;
    if (service_is_roce(config)) {
        config->rdma.queue_pair = r->queue_pair;
        config->rdma.switch_psn = r->psn;
        config->no_session = true;
    }
    config->lease = l;
    return 0;
}

static struct silken_lease *new_lease(void) {
    struct silken_lease *l = calloc(1, sizeof *l);

    if (l) {
        l->fd = -1;
        pthread_mutex_init(&l->lock, NULL);
    }
    return l;
}

static int service_take_place(struct silken_lease *l, struct silken_config *config,
                              const struct silken_service *s, const char *token, char *why,
                              size_t cap) {
    char line[1024];
    const size_t n = write_request(line, sizeof line, s, config, token, why, cap);
    int rc = n ? connect_service(l, s->controller, why, cap) : SILKEN_ERR_INVALID;

    rc = rc ? rc : service_ask(l, line, n, why, cap);
    rc = rc ? rc : await_admission(l, config, s, why, cap);
    rc = rc ? rc : fill_config(config, s, l, why, cap);
    memset(line, 0, sizeof line);
    return rc;
}

int silken_config_from_service(struct silken_config *config, const struct silken_service *s,
                               char *why, size_t why_cap) {
    struct silken_lease *l = new_lease();
    struct sk_error err = {.text = ""};
    char *read = NULL;
    size_t length;
    int rc;

    if (!l)
        return service_fail(why, why_cap, SILKEN_ERR_NOMEM, "out of memory", "");
    if (config->size < offsetof(struct silken_config, rdma) + sizeof config->rdma &&
        service_is_roce(config)) {
        sk_lease_free(l, false);
        return service_fail(why, why_cap, SILKEN_ERR_UNSUPPORTED,
                            "a device roce: needs a program that was built for this libsilken", "");
    }
    if (!s->token && !s->token_file) {
        sk_lease_free(l, false);
        return service_fail(why, why_cap, SILKEN_ERR_INVALID,
                            "the job service wants a token: SILKEN_TOKEN or SILKEN_TOKEN_FILE", "");
    }
    if (!s->token && s->token_file) {
        read = sk_read_regular_file(s->token_file, &length, &err);
        if (!read) {
            sk_lease_free(l, false);
            return service_fail(why, why_cap, SILKEN_ERR_INVALID, err.text, "");
        }
        read[strcspn(read, "\r\n")] = '\0';
    }
    rc = service_take_place(l, config, s, s->token ? s->token : read, why, why_cap);
    free(read);
    if (rc != 0)
        sk_lease_free(l, false);
    return rc;
}

// What comes after the admission is why the place is lost. With the lock.
static void service_look_at(struct silken_lease *l) {
    struct sk_reply reply = l->reply; // has the strings of the configuration
    const char *why = "";
    const int rc = next_reply(l, &why);

    if (rc != 0) {
        snprintf(l->why, sizeof l->why, "%s",
                 rc > 0 && l->reply.error[0] ? l->reply.error
                 : rc < 0                    ? why
                                             : "");
    }
    l->reply = reply;
    if (l->why[0])
        atomic_store(&l->over, true);
}

const char *sk_lease_over(struct silken_lease *l, uint64_t now) {
    if (atomic_load(&l->over))
        return l->why;
    if (now - atomic_load(&l->looked) < MS || pthread_mutex_trylock(&l->lock) != 0)
        return NULL;
    atomic_store(&l->looked, now);
    if (!atomic_load(&l->over))
        service_look_at(l);
    pthread_mutex_unlock(&l->lock);
    return atomic_load(&l->over) ? l->why : NULL;
}

uint16_t sk_lease_session_port(const struct silken_lease *l) {
    return (uint16_t)l->reply.session_port;
}

void sk_lease_free(struct silken_lease *l, bool done) {
    static const char leave[] = "{\"leave\": true}\n";

    if (!l)
        return;
    if (done && l->fd >= 0) {
        const ssize_t ignored = send(l->fd, leave, sizeof leave - 1, MSG_NOSIGNAL);
        (void)ignored;
    }
    if (l->fd >= 0)
        close(l->fd);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void silken_lease_close(struct silken_lease *lease) {
    sk_lease_free(lease, true);
}
