// SPDX-License-Identifier: Apache-2.0
//
// A worker or server of Libra on its host. A worker has one state machine for the switch and one
// for each server; a member that the switch's CPU knows first asks which sequence number it may use
// (hosts/keyvalue/join.c does so in real time).
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hosts/core/float_bits.h"
#include "sim/libra/job.h"

#define PORTS         0xc200u // UDP: 32 of each job
#define JOIN_NS       UINT64_C(1000000)
#define GENERATION    (1u << 20) // sequence numbers that a worker's incarnation may use by itself
#define MEMBER_STANDS "no progress within the hard limit, or what it had pushed is lost"
#define UDP_AT        34u
#define LIBRA_AT      42u

struct lsim_app {
    struct sim_app app; // first: what the host knows of it
    struct lsim_job *job;
    struct lsim_worker *worker; // one of the two
    struct lsim_server *server;
    struct libra_worker *link[LSIM_LINKS];
    struct libra_server *state; // the server's
    bool joins, asks;           // it has not joined yet; it asks next
    bool failed;
    uint64_t join_at, join_until;
    struct libra_flow flow; // to the switch; its epoch is that of the job there
    unsigned turn;          // the link that may send next
    struct lsim_batch *batches;
};

static struct sim *lsim_member_sim(const struct lsim_app *a) {
    return a->job->sim;
}

static uint64_t lsim_member_now(const struct lsim_app *a) {
    return a->job->sim->events.now;
}

// ---- ends ----

static uint16_t lsim_member_port(const struct lsim_job *j, unsigned link) {
    return (uint16_t)(PORTS + 32u * (j->number - 1u) + link);
}

uint16_t lsim_worker_port(const struct lsim_job *j) {
    return lsim_member_port(j, 0);
}

static struct sk_endpoint lsim_member_end(const struct sim *s, uint32_t station, uint16_t port) {
    struct sk_endpoint end = {.port = port, .ip = s->stations[station].ip};
    memcpy(end.mac, s->stations[station].mac, sizeof end.mac);
    return end;
}

static struct libra_worker_config lsim_member_config(const struct lsim_job *j, uint32_t station,
                                                     uint16_t number, unsigned link,
                                                     uint32_t first) {
    return (struct libra_worker_config){
        .flow = {.worker = lsim_member_end(j->sim, station, lsim_member_port(j, link)),
                 .fabric =
                     link ? lsim_member_end(j->sim, j->servers[link - 1].station, LIBRA_COLD_PORT)
                          : lsim_member_end(j->sim, j->at, LIBRA_PORT),
                 .job = j->number,
                 .number = number,
                 .epoch = 1},
        .cold = link > 0,
        .cpu = link == 0 && !lsim_is_admitted(j),
        .floats = j->as->floats,
        .first_sequence = first,
        .window = j->window,
        .window_max = j->window_max,
        .rto_initial = j->rto_initial,
        .rto_min = j->rto_min,
        .rto_max = j->rto_max,
        .hard_limit = j->hard_limit,
    };
}

static void lsim_member_open_link(struct lsim_app *a, unsigned link, uint32_t first) {
    struct lsim_worker *w = a->worker;
    struct libra_worker_config c =
        lsim_member_config(a->job, w->station, (uint16_t)w->rank, link, first);
    const char *why = "no memory";
    if (link == 0)
        c.flow.epoch = a->flow.epoch;
    if (libra_worker_new(&a->link[link], &c, &why))
        sim_violate(lsim_member_sim(a), NULL, "job %s, worker %u: %s", a->job->as->name, w->rank,
                    why);
}

static int lsim_member_open_server(struct lsim_app *a, uint32_t first, struct sk_error *err);

// ---- joining ----

static void lsim_member_joined(struct lsim_app *a, uint32_t first) {
    struct sk_error err;
    a->joins = false;
    if (a->worker)
        lsim_member_open_link(a, 0, first);
    else if (lsim_member_open_server(a, first, &err) < 0)
        sim_violate(lsim_member_sim(a), NULL, "%s", err.text);
}

static void lsim_member_fails(struct lsim_app *a, const char *why) {
    a->failed = true;
    if (a->worker)
        lsim_failed(a->worker, why);
    else
        sim_trace_add(&lsim_member_sim(a)->trace, lsim_member_now(a), "a server", "has failed",
                      NULL, 0);
}

// Whether it is the reply to what it has asked.
static bool lsim_member_hear(struct lsim_app *a, const uint8_t *frame, uint32_t length) {
    uint32_t number = 0;
    const unsigned kind = libra_frame_read_joined(frame, length, &a->flow, &number, &a->flow.epoch);
    if (kind == LIBRA_JOINED && number >= 1 && number <= LIBRA_SEQUENCE_LAST)
        lsim_member_joined(a, number);
    else if (kind)
        lsim_member_fails(a, "it is not admitted");
    return kind;
}

// ---- batches ----

static struct lsim_log *lsim_member_log(struct lsim_app *a, uint32_t batch) {
    const unsigned links = a->job->n_servers + 1;
    struct lsim_log *log = malloc(sizeof *log + links * sizeof *log->acked);
    if (!log)
        abort();
    log->began = lsim_member_now(a);
    for (unsigned i = 0; i < links; i++)
        log->acked[i] = LSIM_NEVER;
    return a->worker->log[batch] = log;
}

static void lsim_member_free_batch(struct lsim_batch *b) {
    for (unsigned i = 0; i < LSIM_LINKS; i++) {
        free(b->part[i].out);
        free(b->part[i].asked);
    }
    free(b);
}

static void lsim_member_refused(struct lsim_app *a, int rc) {
    if (rc && !a->failed)
        lsim_member_fails(a, "a request is refused");
}

// Pairs of each link, and their numbers.
struct member_pairs {
    struct libra_pair *hot;
    struct libra_cold_pair *cold[LSIM_SERVERS];
    size_t n[LSIM_LINKS];
};

// 'pull': hot keys may be servers' business.
static void lsim_member_sort(struct lsim_app *a, uint32_t batch, bool pull,
                             struct member_pairs *p) {
    const struct lsim_job *j = a->job;
    uint64_t *ranks = malloc(j->as->draws * sizeof *ranks);
    size_t n = ranks ? lsim_ranks(j, a->worker->rank, batch, ranks) : 0;
    const bool collects = pull && j->as->collects;
    memset(p, 0, sizeof *p);
    p->hot = malloc((n + 1) * sizeof *p->hot);
    for (uint32_t s = 0; s < j->n_servers; s++)
        p->cold[s] = malloc((n + 1) * sizeof *p->cold[s]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = lsim_key(j, ranks[i]);
        const float real = lsim_float(j, a->worker->rank, batch, ranks[i]);
        if (ranks[i] < j->as->hot && !collects) {
            p->hot[p->n[0]++] = (struct libra_pair){
                (uint32_t)ranks[i], j->as->floats
                                        ? sk_bits_of_float(real)
                                        : lsim_integer(j, a->worker->rank, batch, ranks[i])};
        } else {
            const uint32_t s = lsim_server_of(j, key);
            p->cold[s][p->n[s + 1]++] = (struct libra_cold_pair){key, sk_bits_of_float(real)};
        }
    }
    free(ranks);
}

static void lsim_member_clear_pairs(struct member_pairs *p) {
    free(p->hot);
    for (uint32_t s = 0; s < LSIM_SERVERS; s++)
        free(p->cold[s]);
}

static void lsim_member_push(struct lsim_app *a, struct lsim_batch *b) {
    struct member_pairs p;
    lsim_member_sort(a, b->number, false, &p);
    b->phase = LSIM_PUSH;
    for (unsigned i = 0; i <= a->job->n_servers; i++)
        b->open += p.n[i] > 0;
    for (unsigned i = 0; i <= a->job->n_servers && !a->failed; i++) {
        b->part[i] = (struct lsim_part){.batch = b, .link = i, .n = p.n[i]};
        if (p.n[i] == 0)
            continue;
        lsim_member_refused(
            a, i ? libra_worker_push_keys(a->link[i], p.cold[i - 1], p.n[i], &b->part[i],
                                          lsim_member_now(a))
                 : libra_worker_push(a->link[0], p.hot, p.n[0], &b->part[0], lsim_member_now(a)));
    }
    lsim_member_clear_pairs(&p);
}

static void lsim_member_barrier(struct lsim_app *a, struct lsim_batch *b) {
    b->phase = LSIM_BARRIER;
    b->open = 1;
    b->part[1].batch = b;
    b->part[1].link = 1;
    lsim_member_refused(
        a, libra_worker_barrier(a->link[1], b->number + 1, &b->part[1], lsim_member_now(a)));
}

static void lsim_member_pull_part(struct lsim_app *a, struct lsim_part *part,
                                  const struct member_pairs *p) {
    const unsigned i = part->link;
    const size_t n = p->n[i];
    part->out = calloc(n, sizeof *part->out);
    part->asked = malloc(n * sizeof *part->asked);
    uint32_t *ranks = malloc(n * sizeof *ranks);
    if (!part->out || !part->asked || !ranks)
        abort();
    for (size_t k = 0; k < n; k++)
        if (i)
            part->asked[k] = p->cold[i - 1][k].key;
        else
            part->asked[k] = ranks[k] = p->hot[k].rank;
    part->n = n;
    lsim_member_refused(
        a,
        i ? libra_worker_pull_keys(a->link[i], part->asked, n, part->out, part, lsim_member_now(a))
          : libra_worker_pull(a->link[0], ranks, n, part->out, part, lsim_member_now(a)));
    free(ranks);
}

static void lsim_member_pull(struct lsim_app *a, struct lsim_batch *b) {
    struct member_pairs p;
    lsim_member_sort(a, b->number, true, &p);
    b->phase = LSIM_PULL;
    for (unsigned i = 0; i <= a->job->n_servers; i++)
        b->open += p.n[i] > 0;
    for (unsigned i = 0; i <= a->job->n_servers && !a->failed; i++) {
        b->part[i].batch = b;
        b->part[i].link = i;
        if (p.n[i] > 0)
            lsim_member_pull_part(a, &b->part[i], &p);
    }
    lsim_member_clear_pairs(&p);
}

// ---- what comes of it ----

// What was pulled has what was pushed and acknowledged before, unless something was lost with a
// server or a switch.
static void lsim_member_look(struct lsim_app *a, const struct lsim_part *part) {
    const struct lsim_job *j = a->job;
    const uint32_t worker = a->worker->rank;
    if (!j->tagged || j->lost_to != LSIM_NEVER || lsim_member_sim(a)->scenario->any_sums ||
        (part->link && j->servers[part->link - 1].crashed_at))
        return;
    for (size_t i = 0; i < part->n; i++) {
        const uint32_t sum = part->link ? (uint32_t)sk_float_of_bits(part->out[i]) : part->out[i];
        // a float of a large sum has lost the tags of the first workers
        const bool tells = !part->link || worker + 1 == j->n_workers;
        if (tells && !(sum >> LSIM_TAG_BITS * worker & ((1u << LSIM_TAG_BITS) - 1))) {
            sim_violate(lsim_member_sim(a), NULL,
                        "job %s, worker %u: it has pulled %08x of %s %llu, in which its own push "
                        "is not, although that was acknowledged",
                        j->as->name, worker, sum, part->link ? "key" : "rank",
                        (unsigned long long)part->asked[i]);
            return;
        }
    }
}

static double lsim_member_stretch(struct lsim_worker *w) {
    return 1 + w->job->as->jitter * (2 * sim_random_real(&w->pace) - 1);
}

static void lsim_member_batch_done(struct lsim_app *a, struct lsim_batch *b) {
    struct lsim_worker *w = a->worker;
    struct lsim_batch **at = &a->batches;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    json_array_append_new(w->times, json_real((double)(lsim_member_now(a) - b->began) / 1000));
    lsim_member_free_batch(b);
    w->in_flight--;
    w->done++;
    w->ready_at = lsim_member_now(a) + (uint64_t)(w->job->as->compute_ns * lsim_member_stretch(w));
}

static void lsim_member_part_done(struct lsim_app *a, struct lsim_part *part) {
    struct lsim_batch *b = part->batch;
    if (b->phase == LSIM_PUSH) {
        a->worker->log[b->number]->acked[part->link] = lsim_member_now(a);
        a->worker->pairs += part->n;
    } else if (b->phase == LSIM_PULL) {
        lsim_member_look(a, part);
    }
    if (--b->open > 0)
        return;
    if (b->phase == LSIM_PUSH && a->job->as->barrier)
        lsim_member_barrier(a, b);
    else if (b->phase != LSIM_PULL && a->job->as->pulls)
        lsim_member_pull(a, b);
    else
        lsim_member_batch_done(a, b);
}

static void lsim_member_begin(struct lsim_app *a) {
    struct lsim_batch *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    b->number = a->worker->next++;
    b->began = lsim_member_now(a);
    b->next = a->batches;
    a->batches = b;
    a->worker->in_flight++;
    lsim_member_log(a, b->number);
    lsim_member_push(a, b);
}

static bool lsim_member_may_begin(const struct lsim_app *a) {
    const struct lsim_worker *w = a->worker;
    return w && !a->joins && !a->failed && w->next < a->job->n_batches &&
           w->in_flight < a->job->as->outstanding;
}

// All that can be done now.
static void lsim_member_go(struct lsim_app *a) {
    void *part;
    for (unsigned i = 0; a->worker && i <= a->job->n_servers; i++)
        while (a->link[i] && libra_worker_done(a->link[i], &part))
            lsim_member_part_done(a, part);
    while (lsim_member_may_begin(a) && a->worker->ready_at <= lsim_member_now(a))
        lsim_member_begin(a);
    if (a->worker && a->worker->next == a->job->n_batches && a->worker->in_flight == 0)
        lsim_finished(a->worker);
}

void lsim_give_up(struct lsim_app *a) {
    for (unsigned i = 0; i < LSIM_LINKS; i++) {
        const struct libra_worker_stats x = lsim_link_stats(a, i);
        a->worker->sent_before += x.sent;
        a->worker->repeated_before += x.repeated;
    }
}

// ---- the app ----

static bool lsim_member_wants(const struct sim_app *app, const uint8_t *frame, uint32_t length) {
    const struct lsim_app *a = (const struct lsim_app *)app;
    const uint32_t station = a->worker ? a->worker->station : a->server->station;
    if (length < LIBRA_HEADERS || frame[12] != 8 || frame[13] || frame[23] != 17)
        return false;
    const uint8_t *ip = frame + 30;
    const uint32_t to =
        (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
    const uint32_t port = (uint32_t)frame[UDP_AT + 2] << 8 | frame[UDP_AT + 3];
    const uint32_t first = lsim_member_port(a->job, 0);
    return to == a->job->sim->stations[station].ip &&
           ((port >= first && port < first + 32) ||
            (a->server && port == LIBRA_COLD_PORT && frame[LIBRA_AT + 1] == a->job->number));
}

static void lsim_member_deliver(struct sim_app *app, const uint8_t *frame, uint32_t length,
                                uint64_t now) {
    struct lsim_app *a = (struct lsim_app *)app;
    if (a->failed)
        return;
    if (a->joins && lsim_member_hear(a, frame, length))
        return;
    if (a->state)
        libra_server_read(a->state, frame, length, now);
    bool failed = a->state && libra_server_expire(a->state, now);
    for (unsigned i = 0; a->worker && i <= a->job->n_servers; i++)
        if (a->link[i] && libra_worker_read(a->link[i], frame, length, now) != LIBRA_NOT_FOR_US) {
            failed = libra_worker_expire(a->link[i], now); // it may have been told that it is over
            break;
        }
    if (failed && !a->failed)
        lsim_member_fails(a, MEMBER_STANDS);
    lsim_member_go(a);
}

static size_t lsim_member_next(struct sim_app *app, uint8_t *buf, size_t cap, uint64_t now) {
    struct lsim_app *a = (struct lsim_app *)app;
    const unsigned links = a->job->n_servers + 1;
    size_t length = 0;
    if (a->failed)
        return 0;
    lsim_member_go(a);
    if (a->joins && a->asks) {
        a->asks = false;
        libra_frame_write_join(buf, &a->flow, 1);
        return LIBRA_HEADERS;
    }
    if (a->state)
        return libra_server_write(a->state, buf, cap, now);
    for (unsigned i = 0; a->worker && i < links && length == 0; i++) {
        const unsigned link = (a->turn + i) % links;
        length = a->link[link] ? libra_worker_write(a->link[link], buf, cap, now) : 0;
        if (length)
            a->turn = (link + 1) % links;
    }
    return length;
}

static uint64_t lsim_member_earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t lsim_member_deadline(struct sim_app *app) {
    struct lsim_app *a = (struct lsim_app *)app;
    uint64_t first = a->joins ? a->join_at : SIM_NEVER;
    if (a->failed)
        return SIM_NEVER;
    if (a->state)
        first = lsim_member_earlier(first, libra_server_deadline(a->state));
    for (unsigned i = 0; i < LSIM_LINKS; i++)
        if (a->link[i])
            first = lsim_member_earlier(first, libra_worker_deadline(a->link[i]));
    if (lsim_member_may_begin(a))
        first = lsim_member_earlier(first, a->worker->ready_at);
    return first;
}

static void lsim_member_expire(struct sim_app *app, uint64_t now) {
    struct lsim_app *a = (struct lsim_app *)app;
    bool failed = a->state && libra_server_expire(a->state, now);
    if (a->joins && a->join_until == 0)
        a->join_until = a->job->hard_limit == LIBRA_NEVER ? SIM_NEVER : now + a->job->hard_limit;
    if (a->joins && now >= a->join_until && !a->failed)
        lsim_member_fails(a, "the switch's CPU has not answered within the hard limit");
    if (a->joins && a->join_at <= now) {
        a->asks = true;
        a->join_at = now + JOIN_NS;
    }
    for (unsigned i = 0; i < LSIM_LINKS; i++)
        if (a->link[i] && libra_worker_expire(a->link[i], now))
            failed = true;
    if (failed && !a->failed)
        lsim_member_fails(a, MEMBER_STANDS);
    lsim_member_go(a);
}

static void lsim_member_free(struct sim_app *app) {
    struct lsim_app *a = (struct lsim_app *)app;
    for (unsigned i = 0; i < LSIM_LINKS; i++)
        libra_worker_free(a->link[i]);
    libra_server_free(a->state);
    while (a->batches) {
        struct lsim_batch *b = a->batches;
        a->batches = b->next;
        lsim_member_free_batch(b);
    }
    free(a);
}

static struct lsim_app *lsim_member_new(struct lsim_job *j) {
    static const struct sim_app_ops ops = {lsim_member_wants,  lsim_member_deliver,
                                           lsim_member_next,   lsim_member_deadline,
                                           lsim_member_expire, lsim_member_free};
    struct lsim_app *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    a->app.ops = &ops;
    a->job = j;
    return a;
}

struct lsim_app *lsim_worker_app(struct lsim_worker *w) {
    struct lsim_app *a = lsim_member_new(w->job);
    a->worker = w;
    a->flow = lsim_member_config(w->job, w->station, (uint16_t)w->rank, 0, 1).flow;
    const uint32_t first = 1 + w->incarnation * GENERATION;
    a->joins = w->job->as->hot > 0 && !lsim_is_admitted(w->job);
    a->join_at = w->ready_at;
    if (lsim_is_admitted(w->job))
        lsim_member_open_link(a, 0, first);
    for (unsigned s = 0; s < w->job->n_servers; s++)
        lsim_member_open_link(a, s + 1, first);
    return a;
}

// ---- servers ----

static double lsim_member_add(void *unused, uint64_t key, double weight, double value) {
    (void)unused;
    (void)key;
    return weight + value;
}

static int lsim_member_open_server(struct lsim_app *a, uint32_t first, struct sk_error *err) {
    const struct lsim_job *j = a->job;
    const struct lsim_server *sv = a->server;
    const uint64_t all = (uint64_t)j->as->parameters, each = all / j->n_servers,
                   more = all % j->n_servers, s = sv->number;
    // where no Libra_s passes on what is left of a push, no hot pair comes to a server
    const bool hot = j->as->hot > 0 && j->as->floats && !lsim_is_admitted(j);
    const char *why = "no memory";
    struct libra_server_config c = {
        .self = lsim_member_end(j->sim, sv->station, LIBRA_COLD_PORT),
        .job = j->number,
        .epoch = 1,
        .workers = j->n_workers,
        .first_key = s * each + (s < more ? s : more),
        .last_key = (s + 1) * each + (s + 1 < more ? s + 1 : more) - 1,
        .layout = hot ? &j->layout : NULL,
        .hot = lsim_member_config(j, sv->station, (uint16_t)(j->n_workers + s), 0, first),
        .optimiser = j->as->collects ? lsim_member_add : NULL};
    c.hot.flow.epoch = a->flow.epoch;
    if (libra_server_new(&a->state, &c, &why) == 0)
        return 0;
    return sk_fail(err, "job %s, server %u: %s", j->as->name, sv->number, why);
}

// What is left of pushes of integers is nothing, so only servers of floats push to the switch. They
// join at the beginning of the run, so workers that start later find them.
struct lsim_app *lsim_server_app(struct lsim_server *sv, struct sk_error *err) {
    struct lsim_app *a = lsim_member_new(sv->job);
    const struct lsim_job *j = sv->job;
    a->server = sv;
    a->flow = lsim_member_config(j, sv->station, (uint16_t)(j->n_workers + sv->number), 0, 1).flow;
    a->joins = j->as->hot > 0 && j->as->floats && !lsim_is_admitted(j);
    if (a->joins || lsim_member_open_server(a, 1, err) == 0)
        return a;
    lsim_member_free(&a->app);
    return NULL;
}

struct libra_server *lsim_server_state(const struct lsim_server *sv) {
    return sv->app ? sv->app->state : NULL;
}

struct libra_worker_stats lsim_link_stats(const struct lsim_app *a, unsigned link) {
    return a->link[link] ? libra_worker_stats(a->link[link]) : (struct libra_worker_stats){0};
}
