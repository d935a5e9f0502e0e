// SPDX-License-Identifier: Apache-2.0
//
// A request is taken apart: the hot parameters are pairs for the switch, the others pairs for their
// servers. It is complete when each part is, and a pull then puts the values where the caller wants
// them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hosts/keyvalue/keyvalue.h"

#define IDLE_NS UINT64_C(1000000) // at most, until it looks again
#define SERVER0 KEYVALUE_SWITCHES // links before it are to switches; SERVER0 + s: to server s
#define LINKS   (SERVER0 + KEYVALUE_SERVERS)

// What goes over one link.
struct part {
    size_t n;
    uint64_t *parameter;
    size_t *at;      // which value of the request each is
    uint32_t *value; // bits
};

struct kv_request {
    struct kv_request *next;
    uint64_t number;
    unsigned open; // parts that are on their way
    struct part part[LINKS];
    float *out; // of a pull, or the pull after a push; else null
    bool pushes;
};

struct silken_kv {
    struct keyvalue_setup setup;
    struct libra_worker *link[LINKS]; // null: there is no such switch
    unsigned links;
    struct kv_request *requests; // that are not complete
    uint64_t next;               // number
    uint32_t barriers;
    bool failed;
};

// ---- opened and closed ----

static int worker_open_links(struct silken_kv *kv, const char **why) {
    const struct keyvalue_setup *s = &kv->setup;
    const uint16_t number = (uint16_t)s->config.worker;
    int rc = 0;
    kv->links = SERVER0 + s->config.servers;
    for (unsigned i = 0; rc == 0 && i < s->switches; i++) {
        const struct libra_worker_config c = keyvalue_switch_link(s, i, number);
        rc = libra_worker_new(&kv->link[i], &c, why);
    }
    for (uint32_t i = 0; rc == 0 && i < s->config.servers; i++) {
        struct libra_worker_config c =
            keyvalue_link(s, &s->server[i], (uint16_t)(KEYVALUE_PORT + 1 + i), number);
        c.cold = true;
        rc = libra_worker_new(&kv->link[SERVER0 + i], &c, why);
    }
    return rc;
}

int silken_kv_open(struct silken_kv **kv, const struct silken_kv_config *config, char *why,
                   size_t why_cap) {
    struct silken_kv *new = calloc(1, sizeof *new);
    const char *refused = NULL;
    if (!new) {
        snprintf(why, why_cap, "%s", silken_strerror(SILKEN_ERR_NOMEM));
        return SILKEN_ERR_NOMEM;
    }
    new->next = 1;
    int rc = keyvalue_setup(&new->setup, config, false, why, why_cap);
    if (rc == 0)
        rc = keyvalue_join(&new->setup, (uint16_t)config->worker, why, why_cap);
    if (rc == 0 && (rc = worker_open_links(new, &refused)) != 0)
        snprintf(why, why_cap, "%s", refused ? refused : silken_strerror(rc));
    if (rc) {
        silken_kv_close(new);
        return rc;
    }
    *kv = new;
    return 0;
}

static void worker_free_request(struct kv_request *r) {
    for (unsigned i = 0; r && i < LINKS; i++) {
        free(r->part[i].parameter);
        free(r->part[i].at);
        free(r->part[i].value);
    }
    free(r);
}

void silken_kv_close(struct silken_kv *kv) {
    if (!kv)
        return;
    for (unsigned i = 0; i < kv->links; i++)
        libra_worker_free(kv->link[i]);
    for (struct kv_request *r; (r = kv->requests);) {
        kv->requests = r->next;
        worker_free_request(r);
    }
    keyvalue_clear(&kv->setup);
    free(kv);
}

void silken_kv_stats(const struct silken_kv *kv, struct silken_kv_stats *stats) {
    *stats = (struct silken_kv_stats){0};
    for (unsigned i = 0; i < kv->links; i++) {
        if (!kv->link[i])
            continue;
        struct libra_worker_stats s = libra_worker_stats(kv->link[i]);
        stats->sent += s.sent;
        stats->repeated += s.repeated;
        *(i >= SERVER0 ? &stats->cold : &stats->hot) += s.pairs_pushed + s.pairs_pulled;
        stats->left += s.pairs_left;
        for (int r = 0; r < LIBRA_REASON_COUNT; r++)
            stats->ignored += r == LIBRA_NOT_FOR_US ? 0 : s.ignored[r];
    }
}

// ---- taking a request apart ----

static bool worker_good_keys(const struct silken_kv *kv, const uint64_t *keys, const uint32_t *lens,
                             size_t n) {
    for (size_t i = 0; i < n; i++)
        if (keys[i] >= kv->setup.config.keys || (i > 0 && keys[i] <= keys[i - 1]) ||
            (lens && lens[i] > kv->setup.config.width))
            return false;
    return true;
}

static unsigned worker_link_of(const struct silken_kv *kv, uint64_t parameter) {
    uint32_t rank;
    const int at = keyvalue_switch_of(&kv->setup, parameter, &rank);
    return at >= 0 ? (unsigned)at : SERVER0 + keyvalue_server_of(&kv->setup, parameter);
}

// Calls 'fn' with each parameter and which value of the request it is.
typedef void each_fn(struct silken_kv *kv, struct kv_request *r, uint64_t parameter, size_t at);
static size_t worker_each(struct silken_kv *kv, struct kv_request *r, const uint64_t *keys,
                          const uint32_t *lens, size_t n, each_fn *fn) {
    const uint32_t width = kv->setup.config.width;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < (lens ? lens[i] : width); k++)
            fn(kv, r, keys[i] * width + k, at++);
    return at;
}

static void worker_count(struct silken_kv *kv, struct kv_request *r, uint64_t parameter,
                         size_t at) {
    (void)at;
    r->part[worker_link_of(kv, parameter)].n++;
    if (kv->setup.config.optimised) // a pull of it goes to its server (worker_move_hot)
        r->part[SERVER0 + keyvalue_server_of(&kv->setup, parameter)].n++;
}

static void worker_put(struct silken_kv *kv, struct kv_request *r, uint64_t parameter, size_t at) {
    struct part *p = &r->part[worker_link_of(kv, parameter)];
    p->parameter[p->n] = parameter;
    p->at[p->n++] = at;
}

// Servers with an optimiser have the weights of hot parameters, too.
static void worker_move_hot(struct silken_kv *kv, struct kv_request *r) {
    for (struct part *hot = r->part; hot < r->part + kv->setup.switches; hot++) {
        for (size_t i = 0; i < hot->n; i++) {
            struct part *p = &r->part[SERVER0 + keyvalue_server_of(&kv->setup, hot->parameter[i])];
            p->parameter[p->n] = hot->parameter[i];
            p->at[p->n++] = hot->at[i];
        }
        hot->n = 0;
    }
}

// Null: no memory.
static struct kv_request *worker_take_apart(struct silken_kv *kv, const uint64_t *keys,
                                            const uint32_t *lens, size_t n, const float *values) {
    struct kv_request *r = calloc(1, sizeof *r);
    bool good = r != NULL;
    if (good)
        worker_each(kv, r, keys, lens, n, worker_count);
    for (unsigned i = 0; good && i < kv->links; i++) {
        struct part *p = &r->part[i];
        p->parameter = malloc((p->n + 1) * sizeof *p->parameter);
        p->at = malloc((p->n + 1) * sizeof *p->at);
        p->value = calloc(p->n + 1, sizeof *p->value);
        good = p->parameter && p->at && p->value;
        p->n = 0;
    }
    if (!good) {
        worker_free_request(r);
        return NULL;
    }
    worker_each(kv, r, keys, lens, n, worker_put);
    for (unsigned i = 0; values && i < kv->links; i++)
        for (size_t k = 0; k < r->part[i].n; k++)
            memcpy(&r->part[i].value[k], &values[r->part[i].at[k]], sizeof(float));
    return r;
}

// ---- sending it ----

static uint32_t worker_rank(const struct silken_kv *kv, uint64_t parameter) {
    uint32_t rank = 0;
    keyvalue_switch_of(&kv->setup, parameter, &rank);
    return rank;
}

static int worker_push_hot(struct silken_kv *kv, struct kv_request *r, unsigned at, uint64_t now) {
    struct part *p = &r->part[at];
    struct libra_pair *pairs = malloc((p->n + 1) * sizeof *pairs);
    for (size_t i = 0; pairs && i < p->n; i++)
        pairs[i] = (struct libra_pair){worker_rank(kv, p->parameter[i]), p->value[i]};
    int rc = pairs ? libra_worker_push(kv->link[at], pairs, p->n, r, now) : SILKEN_ERR_NOMEM;
    free(pairs);
    return rc;
}

static int worker_pull_hot(struct silken_kv *kv, struct kv_request *r, unsigned at, uint64_t now) {
    struct part *p = &r->part[at];
    uint32_t *ranks = malloc((p->n + 1) * sizeof *ranks);
    for (size_t i = 0; ranks && i < p->n; i++)
        ranks[i] = worker_rank(kv, p->parameter[i]);
    int rc =
        ranks ? libra_worker_pull(kv->link[at], ranks, p->n, p->value, r, now) : SILKEN_ERR_NOMEM;
    free(ranks);
    return rc;
}

static int worker_push_cold(struct libra_worker *link, struct kv_request *r, const struct part *p,
                            uint64_t now) {
    struct libra_cold_pair *pairs = malloc((p->n + 1) * sizeof *pairs);
    for (size_t i = 0; pairs && i < p->n; i++)
        pairs[i] = (struct libra_cold_pair){p->parameter[i], p->value[i]};
    int rc = pairs ? libra_worker_push_keys(link, pairs, p->n, r, now) : SILKEN_ERR_NOMEM;
    free(pairs);
    return rc;
}

static int kv_begin_part(struct silken_kv *kv, struct kv_request *r, unsigned i, uint64_t now) {
    const struct part *p = &r->part[i];
    if (i < SERVER0)
        return r->pushes ? worker_push_hot(kv, r, i, now) : worker_pull_hot(kv, r, i, now);
    return r->pushes ? worker_push_cold(kv->link[i], r, p, now)
                     : libra_worker_pull_keys(kv->link[i], p->parameter, p->n, p->value, r, now);
}

// All parts. A failure is the end of the worker, as some may be on their way.
static int kv_begin(struct silken_kv *kv, struct kv_request *r) {
    const uint64_t now = sk_clock_now();
    int rc = 0;
    if (kv->setup.config.optimised && !r->pushes)
        worker_move_hot(kv, r);
    for (unsigned i = 0; rc == 0 && i < kv->links; i++) {
        if (r->part[i].n == 0)
            continue;
        rc = kv_begin_part(kv, r, i, now);
        r->open += rc == 0;
    }
    kv->failed |= rc != 0;
    return rc;
}

static void worker_finish(struct silken_kv *kv, struct kv_request *r) {
    if (r->pushes && r->out) { // the pull after it
        r->pushes = false;
        if (kv_begin(kv, r) || r->open > 0)
            return;
    }
    for (unsigned i = 0; r->out && i < kv->links; i++)
        for (size_t k = 0; k < r->part[i].n; k++)
            memcpy(&r->out[r->part[i].at[k]], &r->part[i].value[k], sizeof(float));
    struct kv_request **at = &kv->requests;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    worker_free_request(r);
}

static int kv_submit(struct silken_kv *kv, struct kv_request *r, uint64_t *request) {
    *request = r->number = kv->next++;
    r->next = kv->requests;
    kv->requests = r;
    int rc = kv_begin(kv, r);
    if (rc == 0 && r->open == 0)
        worker_finish(kv, r);
    return rc ? rc : silken_kv_poll(kv);
}

static int kv_ask(struct silken_kv *kv, const uint64_t *keys, const float *values, float *out,
                  const uint32_t *lens, size_t n, uint64_t *request) {
    if (kv->failed)
        return SILKEN_ERR_CLOSED;
    if (!worker_good_keys(kv, keys, lens, n))
        return SILKEN_ERR_INVALID;
    struct kv_request *r = worker_take_apart(kv, keys, lens, n, values);
    if (!r)
        return SILKEN_ERR_NOMEM;
    r->pushes = values != NULL;
    r->out = out;
    return kv_submit(kv, r, request);
}

int silken_kv_push_f32(struct silken_kv *kv, const uint64_t *keys, const float *values,
                       const uint32_t *lens, size_t n, uint64_t *request) {
    return kv_ask(kv, keys, values, NULL, lens, n, request);
}

int silken_kv_pull_f32(struct silken_kv *kv, const uint64_t *keys, float *values,
                       const uint32_t *lens, size_t n, uint64_t *request) {
    return kv_ask(kv, keys, NULL, values, lens, n, request);
}

int silken_kv_push_pull_f32(struct silken_kv *kv, const uint64_t *keys, const float *values,
                            float *sums, const uint32_t *lens, size_t n, uint64_t *request) {
    return kv_ask(kv, keys, values, sums, lens, n, request);
}

// ---- time ----

static void worker_take_done(struct silken_kv *kv) {
    void *cookie;
    for (unsigned i = 0; i < kv->links; i++)
        while (kv->link[i] && libra_worker_done(kv->link[i], &cookie)) {
            struct kv_request *r = cookie; // null: a barrier
            if (r && --r->open == 0)
                worker_finish(kv, r);
        }
}

static void worker_receive(struct silken_kv *kv, const struct sk_frame *f, uint64_t now) {
    for (unsigned i = 0; i < kv->links; i++)
        if (kv->link[i] && libra_worker_read(kv->link[i], f->data, f->len, now) != LIBRA_NOT_FOR_US)
            return;
}

static size_t worker_write(void *machine, uint8_t *buf, size_t cap, uint64_t now) {
    return libra_worker_write(machine, buf, cap, now);
}

// Whether something has come.
static bool worker_turn(struct silken_kv *kv) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(kv->setup.transport, frames, SK_BURST);
    uint64_t now = sk_clock_now();
    for (size_t i = 0; i < n; i++)
        worker_receive(kv, &frames[i], now);
    for (unsigned i = 0; i < kv->links; i++)
        if (kv->link[i])
            kv->failed |= libra_worker_expire(kv->link[i], now);
    worker_take_done(kv);
    for (unsigned i = 0; i < kv->links; i++)
        if (kv->link[i])
            keyvalue_send(kv->setup.transport, worker_write, kv->link[i], now);
    return n > 0;
}

int silken_kv_poll(struct silken_kv *kv) {
    while (!kv->failed && worker_turn(kv))
        continue;
    return kv->failed ? SILKEN_ERR_STALLED : 0;
}

static bool worker_is_open(const struct silken_kv *kv, uint64_t request) {
    for (const struct kv_request *r = kv->requests; r; r = r->next)
        if (r->number == request)
            return true;
    return false;
}

int silken_kv_wait(struct silken_kv *kv, uint64_t request) {
    if (request == 0 || request >= kv->next)
        return SILKEN_ERR_INVALID;
    while (!kv->failed && worker_is_open(kv, request))
        if (!worker_turn(kv))
            sk_transport_wait(kv->setup.transport, IDLE_NS);
    return worker_is_open(kv, request) ? SILKEN_ERR_STALLED : 0;
}

// The first server's.
int silken_kv_barrier(struct silken_kv *kv) {
    int rc = kv->failed
                 ? SILKEN_ERR_CLOSED
                 : libra_worker_barrier(kv->link[SERVER0], ++kv->barriers, NULL, sk_clock_now());
    if (rc)
        return rc;
    while (!kv->failed && libra_worker_busy(kv->link[SERVER0]))
        if (!worker_turn(kv))
            sk_transport_wait(kv->setup.transport, IDLE_NS);
    return kv->failed ? SILKEN_ERR_STALLED : 0;
}

static bool worker_is_busy(const struct silken_kv *kv) {
    bool busy = false;
    for (unsigned i = 0; i < kv->links; i++)
        busy |= kv->link[i] && libra_worker_busy(kv->link[i]);
    return busy;
}

int silken_kv_finish(struct silken_kv *kv) {
    int rc = kv->failed ? SILKEN_ERR_CLOSED : 0;
    for (unsigned i = SERVER0; rc == 0 && i < kv->links; i++)
        rc = libra_worker_barrier(kv->link[i], LIBRA_BARRIER_LAST, NULL, sk_clock_now());
    while (rc == 0 && !kv->failed && worker_is_busy(kv))
        if (!worker_turn(kv))
            sk_transport_wait(kv->setup.transport, IDLE_NS);
    return rc == 0 && kv->failed ? SILKEN_ERR_STALLED : rc;
}
