// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/server.h"

#include <stdlib.h>
#include <string.h>

#include "hosts/core/float_bits.h"

#define WINDOW  LIBRA_WINDOW_MOST
#define REPLIES 256u // that wait to be sent; the workers repeat what finds no place

struct server_member {       // a worker
    uint32_t record[WINDOW]; // twice the sequence number, and 1 more when it was added
    uint32_t pulls[WINDOW];  // sequence number of the pull that waits for a collect; 0: none
    uint32_t barrier;        // the last that it came to
    bool waits;              // for the others
    struct libra_cold_request request;
};

// What the switch is asked for a worker.
struct server_hot {
    struct libra_cold_request request; // a push's has no pairs
    unsigned n;                        // hot pairs of a pull
    uint32_t ranks[LIBRA_COLD_PAIRS];
    uint32_t collected[LIBRA_COLD_PAIRS]; // bits of floats
};

struct server_reply {
    uint16_t length;
    uint8_t frame[LIBRA_COLD_BYTES];
};

struct libra_server {
    struct libra_server_config config;
    struct libra_key_map keys; // key -> index in 'sums'
    double *sums;              // owned
    size_t room;
    struct libra_worker *hot; // null: no layout
    struct server_member *members;
    struct server_reply *replies; // a ring
    unsigned first, n;
    struct libra_server_stats stats;
};

// ---- made and freed ----

static const char *server_refuse(const struct libra_server_config *c) {
    if (c->workers < 1 || c->workers > LIBRA_SERVER_WORKERS)
        return "workers is not from 1 to 64";
    if (c->first_key > c->last_key)
        return "the range of keys is empty";
    if (c->optimiser && c->layout && !c->hot.cpu)
        return "the server collects, and so needs the switch's CPU";
    if (c->layout && (c->layout->job != c->job || c->layout->epoch != c->epoch))
        return "the layout is of another job or epoch";
    return NULL;
}

int libra_server_new(struct libra_server **s, const struct libra_server_config *config,
                     const char **why) {
    const char *refused = server_refuse(config);
    if (why)
        *why = refused;
    if (refused)
        return SILKEN_ERR_INVALID;
    struct libra_server *new = calloc(1, sizeof *new);
    if (!new)
        return SILKEN_ERR_NOMEM;
    new->config = *config;
    new->members = calloc(config->workers + 1, sizeof *new->members); // and the switch's CPU
    new->replies = calloc(REPLIES, sizeof *new->replies);
    int rc = new->members &&new->replies ? 0 : SILKEN_ERR_NOMEM;
    if (rc == 0 && config->layout)
        rc = libra_worker_new(&new->hot, &config->hot, why);
    if (rc) {
        libra_server_free(new);
        return rc;
    }
    *s = new;
    return 0;
}

void libra_server_free(struct libra_server *s) {
    if (!s)
        return;
    void *hot;
    while (s->hot && libra_worker_end(s->hot, &hot))
        free(hot);
    libra_worker_free(s->hot);
    libra_key_map_clear(&s->keys);
    free(s->sums);
    free(s->members);
    free(s->replies);
    free(s);
}

struct libra_server_stats libra_server_stats(const struct libra_server *s) {
    struct libra_server_stats stats = s->stats;
    stats.lost = s->hot && libra_worker_stats(s->hot).lost;
    return stats;
}

size_t libra_server_keys(const struct libra_server *s) {
    return s->keys.n;
}

bool libra_server_finished(const struct libra_server *s) {
    for (unsigned w = 0; w < s->config.workers; w++)
        if (s->members[w].barrier != LIBRA_BARRIER_LAST)
            return false;
    return true;
}

double libra_server_sum(const struct libra_server *s, uint64_t key) {
    const uint64_t *index = libra_key_map_find(&s->keys, key);
    return index ? s->sums[*index] : 0;
}

// ---- sums ----

static bool server_reserve(struct libra_server *s, size_t more) {
    if (s->keys.n + more <= s->room)
        return true;
    size_t room = 2 * (s->keys.n + more);
    double *sums = realloc(s->sums, room * sizeof *sums);
    if (!sums)
        return false;
    s->sums = sums;
    s->room = room;
    return true;
}

// Room is reserved. False: no memory.
static bool server_know(struct libra_server *s, uint64_t key) {
    int added;
    uint64_t *index = libra_key_map_add(&s->keys, key, s->keys.n, &added);
    if (index && added)
        s->sums[*index] = 0;
    return index != NULL;
}

static bool server_is_hot(const struct libra_server *s, uint64_t key) {
    return s->config.layout && libra_layout_rank(s->config.layout, key) >= 0;
}

// It is known.
static void server_add_value(struct libra_server *s, uint64_t key, uint32_t bits) {
    const struct libra_server_config *c = &s->config;
    double *sum = &s->sums[*libra_key_map_find(&s->keys, key)];
    const double value = (double)sk_float_of_bits(bits);
    *sum = c->optimiser ? c->optimiser(c->aux, key, *sum, value) : *sum + value;
}

// ---- replies ----

static bool server_has_room(const struct libra_server *s) {
    return s->n < REPLIES;
}

static void server_reply(struct libra_server *s, enum libra_kind kind,
                         const struct libra_cold_request *r) {
    if (!server_has_room(s))
        return;
    struct server_reply *reply = &s->replies[(s->first + s->n++) % REPLIES];
    reply->length = (uint16_t)libra_cold_reply(reply->frame, &s->config.self, kind, r);
}

size_t libra_server_write(struct libra_server *s, uint8_t *buf, size_t cap, uint64_t now) {
    if (cap < LIBRA_COLD_BYTES)
        return 0;
    if (s->n == 0)
        return s->hot ? libra_worker_write(s->hot, buf, cap, now) : 0;
    const struct server_reply *reply = &s->replies[s->first];
    s->first = (s->first + 1) % REPLIES;
    s->n--;
    memcpy(buf, reply->frame, reply->length);
    return reply->length;
}

// ---- requests ----

static uint32_t *server_record(struct libra_server *s, const struct libra_cold_request *r) {
    return &s->members[r->worker].record[r->header.sequence % WINDOW];
}

// The hot pairs of a push go to the switch; its ack waits for them, for which the request is kept
// without its pairs. False: no memory, or the switch does not answer.
static bool server_push_hot(struct libra_server *s, const struct libra_cold_request *r,
                            uint64_t now) {
    struct libra_pair pairs[LIBRA_COLD_PAIRS];
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++)
        if (server_is_hot(s, r->pairs[i].key))
            pairs[n++] = (struct libra_pair){
                (uint32_t)libra_layout_rank(s->config.layout, r->pairs[i].key), r->pairs[i].value};
    struct server_hot *push = malloc(sizeof *push);
    if (!push)
        return false;
    push->request = *r;
    push->request.n = 0;
    if (libra_worker_push(s->hot, pairs, n, push, now)) {
        free(push);
        return false;
    }
    s->stats.hot_pairs += n;
    return true;
}

static unsigned server_count_hot(const struct libra_server *s, const struct libra_cold_request *r) {
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++)
        n += server_is_hot(s, r->pairs[i].key);
    return n;
}

// Adds all of it, or nothing.
static enum libra_reason server_take_push(struct libra_server *s,
                                          const struct libra_cold_request *r, uint64_t now) {
    unsigned hot = server_count_hot(s, r);
    bool good = server_reserve(s, r->n);
    for (unsigned i = 0; good && i < r->n; i++)
        good = server_is_hot(s, r->pairs[i].key) || server_know(s, r->pairs[i].key);
    if (!good || (hot > 0 && !server_push_hot(s, r, now)))
        return LIBRA_NO_MEMORY;
    for (unsigned i = 0; i < r->n; i++)
        if (!server_is_hot(s, r->pairs[i].key))
            server_add_value(s, r->pairs[i].key, r->pairs[i].value);
    s->stats.pairs += r->n - hot;
    *server_record(s, r) = r->header.sequence * 2 + (hot == 0);
    s->stats.pushes++;
    if (hot == 0)
        server_reply(s, LIBRA_ACK, r);
    return LIBRA_ACCEPTED;
}

static enum libra_reason server_push(struct libra_server *s, const struct libra_cold_request *r,
                                     uint64_t now) {
    uint32_t ticket = r->header.sequence * 2, record = *server_record(s, r);
    if (record == ticket + 1) {
        s->stats.again++;
        server_reply(s, LIBRA_ACK, r);
        return LIBRA_ACCEPTED;
    }
    if (record >= ticket)
        return LIBRA_NOT_EXPECTED;
    return server_take_push(s, r, now);
}

static void server_answer_pull(struct libra_server *s, struct libra_cold_request *r) {
    for (unsigned i = 0; i < r->n; i++)
        r->pairs[i].value = sk_bits_of_float((float)libra_server_sum(s, r->pairs[i].key));
    s->stats.pulls++;
    server_reply(s, LIBRA_ANSWER, r);
}

// Asks the switch for what was added to hot keys of a pull since they were collected last; the
// answer waits for it.
static enum libra_reason server_collect(struct libra_server *s, const struct libra_cold_request *r,
                                        uint64_t now) {
    uint32_t *waits = &s->members[r->worker].pulls[r->header.sequence % WINDOW];
    if (*waits == r->header.sequence)
        return LIBRA_NOT_EXPECTED; // its answer will come
    struct server_hot *pull = malloc(sizeof *pull);
    bool good = pull && server_reserve(s, r->n);
    if (good) {
        pull->request = *r;
        pull->n = 0;
    }
    for (unsigned i = 0; good && i < r->n; i++)
        if (server_is_hot(s, r->pairs[i].key)) {
            pull->ranks[pull->n++] = (uint32_t)libra_layout_rank(s->config.layout, r->pairs[i].key);
            good = server_know(s, r->pairs[i].key);
        }
    if (!good ||
        libra_worker_collect(s->hot, pull->ranks, pull->n, pull->collected, pull, now) != 0) {
        free(pull);
        return LIBRA_NO_MEMORY;
    }
    *waits = r->header.sequence;
    return LIBRA_ACCEPTED;
}

static enum libra_reason server_pull(struct libra_server *s, struct libra_cold_request *r,
                                     uint64_t now) {
    if (server_count_hot(s, r) == 0)
        server_answer_pull(s, r);
    else if (s->config.optimiser)
        return server_collect(s, r, now);
    else
        return LIBRA_OTHER_PAIRS; // the switch has them
    return LIBRA_ACCEPTED;
}

// All are there: those that wait have their acks.
static enum libra_reason server_barrier(struct libra_server *s,
                                        const struct libra_cold_request *r) {
    struct server_member *m = &s->members[r->worker];
    uint32_t all = UINT32_MAX;

    if (r->header.clock < m->barrier)
        return LIBRA_NOT_EXPECTED;
    s->stats.barriers += r->header.clock > m->barrier;
    m->barrier = r->header.clock;
    m->waits = true;
    m->request = *r;
    for (unsigned w = 0; w < s->config.workers; w++)
        all = s->members[w].barrier < all ? s->members[w].barrier : all;
    for (unsigned w = 0; w < s->config.workers; w++)
        if (s->members[w].waits && s->members[w].barrier <= all && server_has_room(s)) {
            s->members[w].waits = false;
            server_reply(s, LIBRA_ACK, &s->members[w].request);
        }
    return LIBRA_ACCEPTED;
}

static enum libra_reason server_refuses(const struct libra_server *s,
                                        const struct libra_cold_request *r) {
    const struct libra_server_config *c = &s->config;
    const bool cpu = c->hot.cpu && r->worker == c->workers && r->header.kind == LIBRA_PUSH;
    if (r->job != c->job || r->epoch != c->epoch || (r->worker >= c->workers && !cpu))
        return LIBRA_WRONG_JOB;
    if (r->header.sequence == 0 || r->header.sequence > LIBRA_SEQUENCE_LAST)
        return LIBRA_NOT_EXPECTED;
    for (unsigned i = 0; i < r->n; i++)
        if (r->pairs[i].key < c->first_key || r->pairs[i].key > c->last_key)
            return LIBRA_OTHER_PAIRS;
    return LIBRA_ACCEPTED;
}

static enum libra_reason server_take(struct libra_server *s, struct libra_cold_request *r,
                                     uint64_t now) {
    enum libra_reason reason = server_refuses(s, r);
    if (reason != LIBRA_ACCEPTED)
        return reason;
    switch (r->header.kind) {
    case LIBRA_PUSH:
        return server_push(s, r, now);
    case LIBRA_PULL:
        return server_pull(s, r, now);
    default:
        return server_barrier(s, r);
    }
}

static void server_finish_push(struct libra_server *s, const struct libra_cold_request *push) {
    uint32_t *record = server_record(s, push);
    if (*record == push->header.sequence * 2)
        ++*record;
    server_reply(s, LIBRA_ACK, push);
}

static void server_finish_pull(struct libra_server *s, struct server_hot *pull) {
    struct libra_cold_request *r = &pull->request;
    uint32_t *waits = &s->members[r->worker].pulls[r->header.sequence % WINDOW];
    for (unsigned i = 0; i < pull->n; i++)
        if (pull->collected[i] << 1) // neither 0 nor -0: nothing was added
            server_add_value(s, s->config.layout->keys[pull->ranks[i]], pull->collected[i]);
    s->stats.collected += pull->n;
    if (*waits == r->header.sequence)
        *waits = 0;
    server_answer_pull(s, r);
}

// What the switch has added is acknowledged; what it had is taken.
static void server_finish_hot(struct libra_server *s) {
    void *cookie;
    while (s->hot && libra_worker_done(s->hot, &cookie)) {
        struct server_hot *hot = cookie;
        if (hot->request.header.kind == LIBRA_PULL)
            server_finish_pull(s, hot);
        else
            server_finish_push(s, &hot->request);
        free(hot);
    }
}

enum libra_reason libra_server_read(struct libra_server *s, const uint8_t *frame, size_t len,
                                    uint64_t now) {
    struct libra_cold_request r;
    enum libra_reason reason = libra_cold_read_request(frame, len, &s->config.self, &r);

    if (reason == LIBRA_ACCEPTED)
        reason = server_take(s, &r, now);
    else if (reason == LIBRA_NOT_FOR_US && s->hot)
        reason = libra_worker_read(s->hot, frame, len, now); // from the switch
    server_finish_hot(s);
    if (reason != LIBRA_ACCEPTED)
        s->stats.refused[reason]++;
    return reason;
}

uint64_t libra_server_deadline(struct libra_server *s) {
    return s->hot ? libra_worker_deadline(s->hot) : LIBRA_NEVER;
}

bool libra_server_expire(struct libra_server *s, uint64_t now) {
    return s->hot && libra_worker_expire(s->hot, now);
}
