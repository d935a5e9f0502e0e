// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/netsim.h"

#include <stdlib.h>
#include <string.h>

#include "harness/hosts/random.h"
#include "switchml_wire.h"

#define POOL_INDEX_AT (ETHERNET_H_BYTES + IPV4_H_BYTES + UDP_H_BYTES)
#define MOST_BYTES    (SWML_MAX_FRAME + SWML_EMPTY_FRAME - SWML_HEADER_BYTES) // with padding

enum event_kind { EVENT_SUBMIT, EVENT_AT_SWITCH, EVENT_AT_WORKER, EVENT_TIMER };

struct event {
    struct net_event when;
    enum event_kind kind;
    unsigned worker;
    struct event *next_free;
    struct swml_tensor tensor; // EVENT_SUBMIT
    size_t len;                // EVENT_AT_*
    uint8_t frame[MOST_BYTES];
};

struct host {
    struct swml_worker *worker;
    uint64_t timer_at;   // time of the earliest EVENT_TIMER that is still to come
    uint64_t *slot_free; // by slot: last arrival of a frame for it at the switch
    uint64_t undone;     // tensors promised and not complete
};

struct netsim {
    struct netsim_options options;
    const struct switch_under_test *sut;
    struct sk_random random;
    struct host hosts[SUT_MAX_WORKERS];
    uint64_t now;
    uint64_t undone; // sum over the hosts
    bool failed;
    struct net_events events;
    struct event *free_events;
    struct netsim_traffic traffic;
};

// ---- events ----------------------------------------------------------------------------------

static struct event *new_event(struct netsim *sim, enum event_kind kind, unsigned worker) {
    struct event *e = sim->free_events;

    if (e)
        sim->free_events = e->next_free;
    else
        e = net_must(malloc(sizeof *e));
    e->kind = kind;
    e->worker = worker;
    return e;
}

static struct event *pop(struct netsim *sim) {
    return (struct event *)net_events_pop(&sim->events);
}

static void release_event(struct netsim *sim, struct event *e) {
    e->next_free = sim->free_events;
    sim->free_events = e;
}

// ---- links -------------------------------------------------------------------------------------

// Keeps the order of a worker's frames for one slot, for frames that are addressed to the pool.
static uint64_t after_the_last_for_its_slot(struct netsim *sim, struct host *host,
                                            const uint8_t *frame, uint64_t at) {
    uint32_t slot = switchml_h_get_pool_index(frame + POOL_INDEX_AT) & 0x7fff;
    uint64_t *last = &host->slot_free[slot - sim->options.job.pool_base];

    *last = at > *last ? at : *last + 1;
    return *last;
}

static void send_copy(struct netsim *sim, enum event_kind kind, unsigned worker,
                      const uint8_t *frame, size_t len) {
    bool up = kind == EVENT_AT_SWITCH;
    const struct net_link *link = up ? &sim->options.up : &sim->options.down;
    uint64_t at = net_link_arrival(link, &sim->random, sim->now);
    struct event *e;

    if (up)
        at = after_the_last_for_its_slot(sim, &sim->hosts[worker], frame, at);
    e = new_event(sim, kind, worker);
    e->len = len;
    memcpy(e->frame, frame, len);
    net_events_push(&sim->events, &e->when, at);
}

static void send_up(struct netsim *sim, unsigned worker, const uint8_t *frame, size_t len) {
    sim->traffic.up_sent++;
    sim->traffic.up_bytes += len;
    if (sk_random_chance(&sim->random, sim->options.up.loss)) {
        sim->traffic.up_lost++;
        return;
    }
    send_copy(sim, EVENT_AT_SWITCH, worker, frame, len);
    if (sk_random_chance(&sim->random, sim->options.up.duplicate)) {
        sim->traffic.up_duplicated++;
        send_copy(sim, EVENT_AT_SWITCH, worker, frame, len);
    }
}

static void send_down(void *context, unsigned port, const uint8_t *frame, size_t len) {
    struct netsim *sim = context;

    sim->traffic.down_sent++;
    sim->traffic.down_bytes += len;
    if (len > MOST_BYTES || port >= sim->options.job.workers ||
        sk_random_chance(&sim->random, sim->options.down.loss)) {
        sim->traffic.down_lost++;
        return;
    }
    send_copy(sim, EVENT_AT_WORKER, port, frame, len);
    if (sk_random_chance(&sim->random, sim->options.down.duplicate)) {
        sim->traffic.down_duplicated++;
        send_copy(sim, EVENT_AT_WORKER, port, frame, len);
    }
}

// ---- hosts -------------------------------------------------------------------------------------

// After anything has happened to a worker: sends, collects what is complete, sets the timer.
static void serve(struct netsim *sim, unsigned index) {
    struct host *host = &sim->hosts[index];
    uint8_t frame[MOST_BYTES];
    uint64_t deadline;
    size_t len;
    void *cookie;

    while ((len = swml_worker_write(host->worker, frame, sizeof frame, sim->now)) > 0)
        send_up(sim, index, frame, len);
    while (swml_worker_done(host->worker, &cookie)) {
        host->undone--;
        sim->undone--;
    }
    deadline = swml_worker_deadline(host->worker);
    if (deadline < host->timer_at) {
        host->timer_at = deadline;
        net_events_push(&sim->events, &new_event(sim, EVENT_TIMER, index)->when, deadline);
    }
}

static void at_timer(struct netsim *sim, const struct event *e) {
    struct host *host = &sim->hosts[e->worker];

    if (e->when.time == host->timer_at)
        host->timer_at = SWML_NEVER;
    if (swml_worker_expire(host->worker, sim->now) & SWML_FAILED)
        sim->failed = true;
}

static void at_submit(struct netsim *sim, const struct event *e) {
    if (swml_worker_submit(sim->hosts[e->worker].worker, &e->tensor, sim->now) != 0)
        abort();
}

static void happen(struct netsim *sim, const struct event *e) {
    switch (e->kind) {
    case EVENT_SUBMIT:
        at_submit(sim, e);
        break;
    case EVENT_AT_SWITCH:
        sim->sut->deliver(sim->sut->state, e->worker, e->frame, e->len, sim->now, send_down, sim);
        return;
    case EVENT_AT_WORKER:
        swml_worker_read(sim->hosts[e->worker].worker, e->frame, e->len, sim->now);
        break;
    case EVENT_TIMER:
        at_timer(sim, e);
        break;
    }
    serve(sim, e->worker);
}

// ---- the interface ---------------------------------------------------------------------------

struct sut_job netsim_default_job(unsigned workers, unsigned k, uint32_t pool_base,
                                  uint32_t pool_size) {
    struct sut_job job = {.workers = workers, .pool_base = pool_base, .pool_size = pool_size};

    for (unsigned i = 0; i < workers; i++) {
        job.flow[i] = (struct swml_flow){
            .worker = {{2, 0, 0, 0, 1, (uint8_t)i}, (uint16_t)(0xbee0 + i % 16), 0x0a000001 + i},
            .fabric = {{2, 0, 0, 0, 0, 254}, 0xbee0, 0x0a0000fe},
            .job = 5,
            .k = (uint16_t)k,
        };
    }
    return job;
}

struct swml_config netsim_default_worker(void) {
    return (struct swml_config){
        .rto_initial = 200000,
        .rto_min = 50000,
        .rto_max = 5000000,
        .stall_warning = SWML_NEVER,
        .hard_limit = UINT64_C(100000000000),
    };
}

static void new_host(struct netsim *sim, unsigned index) {
    struct swml_config config = sim->options.worker;
    struct host *host = &sim->hosts[index];

    config.flow = sim->options.job.flow[index];
    config.rank = index;
    config.workers = sim->options.job.workers;
    config.pool_base = sim->options.job.pool_base;
    config.pool_size = sim->options.job.pool_size;
    if (swml_worker_new(&host->worker, &config, NULL) != 0)
        abort();
    host->timer_at = SWML_NEVER;
    host->slot_free = net_must(calloc(config.pool_size, sizeof *host->slot_free));
}

struct netsim *netsim_new(const struct netsim_options *options,
                          const struct switch_under_test *sut) {
    struct netsim *sim;

    if (sut->reset(sut->state, &options->job) != 0)
        return NULL;
    sim = net_must(calloc(1, sizeof *sim));
    sim->options = *options;
    sim->sut = sut;
    sim->random = sk_random_seeded(options->seed);
    for (unsigned i = 0; i < options->job.workers; i++)
        new_host(sim, i);
    return sim;
}

void netsim_free(struct netsim *sim) {
    if (!sim)
        return;
    while (sim->events.length > 0)
        release_event(sim, pop(sim));
    while (sim->free_events) {
        struct event *e = sim->free_events;
        sim->free_events = e->next_free;
        free(e);
    }
    for (unsigned i = 0; i < sim->options.job.workers; i++) {
        swml_worker_free(sim->hosts[i].worker);
        free(sim->hosts[i].slot_free);
    }
    net_events_free(&sim->events);
    free(sim);
}

void netsim_submit(struct netsim *sim, unsigned worker, const struct swml_tensor *tensor,
                   uint64_t at) {
    struct event *e = new_event(sim, EVENT_SUBMIT, worker);

    e->tensor = *tensor;
    net_events_push(&sim->events, &e->when, at > sim->now ? at : sim->now);
    sim->hosts[worker].undone++;
    sim->undone++;
}

enum netsim_end netsim_run(struct netsim *sim) {
    while (sim->undone > 0 && !sim->failed) {
        struct event *e;
        if (sim->events.length == 0)
            abort(); // work in flight and no timer: a worker that forgot its own deadline
        e = pop(sim);
        sim->now = e->when.time;
        sim->traffic.events++;
        happen(sim, e);
        release_event(sim, e);
    }
    return sim->failed ? NETSIM_FAILED : NETSIM_DONE;
}

uint64_t netsim_now(const struct netsim *sim) {
    return sim->now;
}

struct netsim_traffic netsim_traffic(const struct netsim *sim) {
    return sim->traffic;
}

struct swml_worker *netsim_worker(struct netsim *sim, unsigned worker) {
    return sim->hosts[worker].worker;
}
