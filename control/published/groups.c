// SPDX-License-Identifier: Apache-2.0
//
// groups: what becomes of workers that begin together. A group is a job of the admission as soon as
// one of them has asked for its session.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/published/published_impl.h"

#define SECOND    UINT64_C(1000000000)
#define ROCE_PORT 4791u

// ---- lists ----

struct pub_worker *pub_worker_of(const struct published *p, uint64_t connection) {
    for (size_t i = 0; i < p->n_workers; i++)
        if (p->workers[i]->connection == connection)
            return p->workers[i];
    return NULL;
}

static void pub_worker_free(struct published *p, struct pub_worker *w) {
    size_t i = 0;
    while (p->workers[i] != w)
        i++;
    p->workers[i] = p->workers[--p->n_workers];
    if (w->group) {
        w->group->list[w->rank] = NULL;
        w->group->n--;
    }
    free(w);
}

static void pub_group_free(struct published *p, struct pub_group *g) {
    size_t i = 0;
    while (p->groups[i] != g)
        i++;
    memmove(&p->groups[i], &p->groups[i + 1], (--p->n_groups - i) * sizeof *p->groups);
    free(g);
}

void pub_free_all(struct published *p) {
    while (p->n_workers > 0)
        pub_worker_free(p, p->workers[p->n_workers - 1]);
    while (p->n_groups > 0)
        pub_group_free(p, p->groups[p->n_groups - 1]);
}

// ---- the end of a group ----

// Whoever waits for an answer gets the sentence.
static void pub_fail(struct published *p, struct pub_group *g, const char *why) {
    char text[PUBLISHED_TEXT];
    if (g->state == PUB_OVER)
        return;
    snprintf(text, sizeof text, "%s", *g->why ? g->why : why);
    memcpy(g->why, text, sizeof g->why);
    g->state = PUB_OVER;
    for (uint32_t i = 0; i < g->workers; i++) {
        struct pub_worker *w = g->list[i];
        if (w && w->waits != PUB_NOTHING) {
            w->waits = PUB_NOTHING;
            pub_refuse(p, w->carrier, w->call, RPC_ABORTED, g->why);
        }
        if (w && w->member) {
            w->member = false;
            admission_leave(p->admission, w, g->why, p->now);
        }
    }
}

// A group that has run is over: its workers have gone.
static void pub_end(struct published *p, struct pub_group *g, const char *why) {
    g->state = PUB_OVER;
    snprintf(g->why, sizeof g->why, "%s", why);
    for (uint32_t i = 0; i < g->workers; i++)
        if (g->list[i] && g->list[i]->member) {
            admission_end(p->admission, g->list[i], p->now);
            return; // all have been told
        }
}

// ---- what the admission says ----

static void pub_waits(void *owner, const struct admission_job *job) {
    (void)owner;
    (void)job;
}

static void pub_admitted(void *owner, const struct admission_job *job, uint32_t rank) {
    struct pub_worker *w = owner;
    (void)job;
    (void)rank;
    w->admitted = true;
    w->group->in_switch = true;
}

static void pub_over(void *owner, const char *why) {
    struct pub_worker *w = owner;
    w->member = false;
    w->group->broken = true;
    if (!*w->group->why)
        snprintf(w->group->why, sizeof w->group->why, "%s", why);
}

// A worker of another group that runs, or is ending, with one of these addresses.
static struct pub_worker *pub_namesake(const struct published *p, const struct pub_group *but,
                                       uint32_t ip, const uint8_t mac[6]) {
    for (size_t i = 0; i < p->n_groups; i++) {
        const struct pub_group *g = p->groups[i];
        for (uint32_t k = 0; g != but && g->in_switch && k < g->workers; k++)
            if (g->list[k] && (g->list[k]->ip == ip || memcmp(g->list[k]->mac, mac, 6) == 0))
                return g->list[k];
    }
    return NULL;
}

static struct pub_group *pub_named(const struct published *p, const char *name) {
    for (size_t i = 0; i < p->n_groups; i++)
        if (strcmp(p->groups[i]->name, name) == 0)
            return p->groups[i];
    return NULL;
}

static int pub_locate(void *aux, const struct admission_request *r, struct admission_place *place,
                      struct sk_error *err) {
    const struct published *p = aux;
    if (pub_namesake(p, pub_named(p, r->job), r->ip, r->mac)) {
        sk_fail(err, "packets of an earlier job of the address may be under way");
        return 0;
    }
    return p->options.jobs.locate(p->options.aux, r, place, err);
}

static int pub_add(void *aux, struct admission_job *job, struct sk_error *err) {
    struct published *p = aux;
    return p->options.jobs.add(p->options.aux, job, err);
}

static void pub_remove(void *aux, const char *name) {
    struct published *p = aux;
    struct pub_group *g = pub_named(p, name);
    p->options.jobs.remove(p->options.aux, name);
    if (g)
        g->in_switch = false;
}

int pub_admission_new(struct published *p) {
    const struct admission_ops ops = {.locate = pub_locate,
                                      .add = pub_add,
                                      .remove = pub_remove,
                                      .waits = pub_waits,
                                      .admitted = pub_admitted,
                                      .over = pub_over};
    p->admission =
        admission_new(&ops, p, p->options.slots, p->options.wait_ns, p->options.grace_ns);
    return p->admission ? 0 : -1;
}

// ---- coming ----

static struct pub_group *pub_gathering(const struct published *p) {
    for (size_t i = 0; i < p->n_groups; i++)
        if (p->groups[i]->state == PUB_GATHERING && p->groups[i]->n < p->groups[i]->workers)
            return p->groups[i];
    return NULL;
}

static struct pub_group *pub_group_new(struct published *p, uint32_t workers, uint32_t root) {
    struct pub_group *g = calloc(1, sizeof *g);
    if (!g)
        abort();
    g->workers = workers;
    g->root = root;
    g->since = p->now;
    p->groups[p->n_groups++] = g;
    return g;
}

static enum rpc_status pub_fits(const struct pub_group *g, uint32_t rank, uint32_t workers,
                                uint32_t root, struct sk_error *err) {
    if (g->workers != workers || g->root != root) {
        sk_fail(err,
                "a job of %u workers with root %u is gathering, this worker is of one of %u with "
                "root %u",
                g->workers, g->root, workers, root);
        return RPC_FAILED_PRECONDITION;
    }
    if (g->list[rank]) {
        sk_fail(err, "rank %u of the job that is gathering is taken", rank);
        return RPC_ALREADY_EXISTS;
    }
    return RPC_OK;
}

enum rpc_status pub_join(struct published *p, uint64_t connection, uint32_t rank, uint32_t workers,
                         uint32_t root, struct pub_worker **out, struct sk_error *err) {
    struct pub_group *g = pub_gathering(p);
    if (p->n_workers == PUBLISHED_WORKERS || (!g && p->n_groups == PUBLISHED_GROUPS)) {
        sk_fail(err, "the service has as many workers or jobs as it can have");
        return RPC_RESOURCE_EXHAUSTED;
    }
    const enum rpc_status status = g ? pub_fits(g, rank, workers, root, err) : RPC_OK;
    if (status != RPC_OK)
        return status;
    if (!g)
        g = pub_group_new(p, workers, root);
    struct pub_worker *before = pub_worker_of(p, connection), *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    if (before && before->group->in_switch)
        before->connection = 0;
    else if (before)
        pub_worker_free(p, before);
    *w = (struct pub_worker){.connection = connection, .group = g, .rank = rank};
    g->list[rank] = w;
    g->n++;
    p->workers[p->n_workers++] = w;
    *out = w;
    return RPC_OK;
}

void pub_tell_value(struct published *p, struct pub_group *g, uint64_t value) {
    (void)p;
    g->has_value = true;
    g->value = value;
    for (uint32_t i = 0; i < g->workers; i++)
        if (g->list[i] && g->list[i]->waits == PUB_BROADCAST)
            pub_reply_broadcast(g->list[i]);
}

// Whether its addresses are nobody else's. An address of a job whose worker has gone ends that job.
static enum rpc_status pub_address(struct published *p, const struct pub_worker *w,
                                   struct sk_error *err) {
    const struct pub_group *g = w->group;
    for (uint32_t i = 0; i < g->workers; i++) {
        const struct pub_worker *o = g->list[i];
        if (o && o != w && o->asked && (o->ip == w->ip || memcmp(o->mac, w->mac, 6) == 0)) {
            sk_fail(err, "worker %u of the same job has the same IP or MAC address", i);
            return RPC_ALREADY_EXISTS;
        }
    }
    const struct pub_worker *o = pub_namesake(p, g, w->ip, w->mac);
    if (o && o->group->state == PUB_RUNNING && o->connection) {
        sk_fail(err, "worker %u of a running job, '%s', has the same IP or MAC address", o->rank,
                o->group->name);
        return RPC_ALREADY_EXISTS;
    }
    if (o && o->group->state == PUB_RUNNING)
        pub_end(p, o->group, "one of its workers has begun another job");
    return RPC_OK;
}

enum rpc_status pub_ask(struct published *p, struct pub_worker *w, uint32_t packet_size,
                        const struct admission_roce *roce, struct admission_place *place,
                        struct sk_error *err) {
    struct pub_group *g = w->group;
    struct admission_request r = {.rank = w->rank,
                                  .workers = g->workers,
                                  .ip = w->ip,
                                  .port = p->options.udp_port,
                                  .has_mac = true};
    enum rpc_status status = pub_address(p, w, err);
    if (status != RPC_OK)
        return status;
    if (*g->name && g->packet_size != packet_size) {
        sk_fail(err, "the job's other workers have packets of %u bytes of elements, this one of %u",
                128u << g->packet_size, 128u << packet_size);
        return RPC_FAILED_PRECONDITION;
    }
    if (32u << packet_size > p->options.elements) {
        sk_fail(err, "packets of %u elements: the switch adds up %u at most", 32u << packet_size,
                p->options.elements);
        return RPC_FAILED_PRECONDITION;
    }
    if (roce) {
        r.roce = *roce;
        r.port = ROCE_PORT;
    }
    memcpy(r.mac, w->mac, sizeof r.mac);
    snprintf(r.job, sizeof r.job, "switchml-%016" PRIx64, g->value);
    struct pub_group *other = pub_named(p, r.job);
    if (other && other != g) {
        sk_fail(err, "there is a job with that session already");
        return RPC_ALREADY_EXISTS;
    }
    // Where it is must be known now: the answer has the switch's addresses as it has to know them.
    if (p->options.jobs.locate(p->options.aux, &r, place, err) <= 0)
        return RPC_FAILED_PRECONDITION;
    if (admission_join(p->admission, &r, w, p->now, err))
        return RPC_FAILED_PRECONDITION;
    memcpy(g->name, r.job, sizeof g->name);
    g->packet_size = packet_size;
    w->asked = w->member = true;
    return RPC_OK;
}

// ---- going ----

void published_gone(struct published *p, uint64_t connection, uint64_t now_ns) {
    struct pub_worker *w = pub_worker_of(p, connection);
    char why[96];
    p->now = now_ns;
    if (!w)
        return;
    w->waits = PUB_NOTHING;
    if (w->group->state == PUB_RUNNING || w->group->in_switch) {
        w->connection = 0;
        w->group->quiet_since = now_ns;
        return;
    }
    struct pub_group *g = w->group;
    snprintf(why, sizeof why, "the connection of the job's worker %u was closed", w->rank);
    if (w->member) {
        w->member = false;
        admission_leave(p->admission, w, why, now_ns);
    }
    pub_worker_free(p, w);
    pub_fail(p, g, why);
    pub_settle(p);
}

void published_call_over(struct published *p, const void *call) {
    for (size_t i = 0; i < p->n_workers; i++)
        if (p->workers[i]->waits != PUB_NOTHING && p->workers[i]->call == call)
            p->workers[i]->waits = PUB_NOTHING;
}

// ---- time ----

static bool pub_all(const struct pub_group *g, bool (*what)(const struct pub_worker *w)) {
    for (uint32_t i = 0; i < g->workers; i++)
        if (!g->list[i] || !what(g->list[i]))
            return false;
    return true;
}

static bool pub_is_at_barrier(const struct pub_worker *w) {
    return w->waits == PUB_BARRIER;
}

static bool pub_has_asked(const struct pub_worker *w) {
    return w->asked;
}

static bool pub_is_admitted(const struct pub_worker *w) {
    return w->admitted;
}

static bool pub_is_away(const struct pub_worker *w) {
    return w->connection == 0;
}

static void pub_settle_group(struct published *p, struct pub_group *g) {
    if (g->broken && g->state != PUB_OVER)
        pub_fail(p, g, "the job is over");
    if (g->state == PUB_GATHERING && pub_all(g, pub_is_admitted))
        g->state = PUB_RUNNING;
    if (g->state == PUB_OVER || !pub_all(g, pub_is_at_barrier))
        return;
    if (pub_all(g, pub_has_asked) && g->state != PUB_RUNNING)
        return; // until the switch has it
    for (uint32_t i = 0; i < g->workers; i++)
        pub_reply_barrier(g->list[i]);
}

// Nothing refers to it any more.
static bool pub_is_done(struct published *p, struct pub_group *g) {
    if (g->state != PUB_OVER || g->in_switch)
        return false;
    for (uint32_t i = 0; i < g->workers; i++)
        if (g->list[i] && !g->list[i]->connection)
            pub_worker_free(p, g->list[i]);
    return g->n == 0;
}

void pub_settle(struct published *p) {
    for (size_t i = p->n_groups; i-- > 0;) {
        pub_settle_group(p, p->groups[i]);
        if (pub_is_done(p, p->groups[i]))
            pub_group_free(p, p->groups[i]);
    }
}

static void pub_look(struct published *p, struct pub_group *g) {
    char why[96];
    if (g->state == PUB_GATHERING && p->now - g->since >= p->options.wait_ns) {
        snprintf(why, sizeof why,
                 "the job has not begun within %" PRIu64 " s, with %u of %u workers",
                 p->options.wait_ns / SECOND, g->n, g->workers);
        pub_fail(p, g, why);
    }
    if (g->state != PUB_RUNNING || !pub_all(g, pub_is_away))
        return;
    const uint64_t packets = p->options.packets(p->options.aux, g->name);
    if (packets != g->packets)
        g->quiet_since = p->now;
    g->packets = packets;
    if (p->now - g->quiet_since >= p->options.silence_ns)
        pub_end(p, g, "its workers have gone");
}

void published_run(struct published *p, uint64_t now_ns) {
    p->now = now_ns;
    admission_run(p->admission, now_ns);
    if (now_ns - p->looked >= SECOND / 4) {
        p->looked = now_ns;
        for (size_t i = 0; i < p->n_groups; i++)
            pub_look(p, p->groups[i]);
    }
    pub_settle(p);
}

void published_removed(struct published *p, const char *name) {
    struct pub_group *g = pub_named(p, name);
    admission_removed(p->admission, name);
    if (g)
        g->in_switch = false;
    pub_settle(p);
}

void published_lost(struct published *p, const char *why, uint64_t now_ns) {
    p->now = now_ns;
    for (size_t i = 0; i < p->n_groups; i++)
        pub_fail(p, p->groups[i], why);
    pub_settle(p);
}
