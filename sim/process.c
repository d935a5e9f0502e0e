// SPDX-License-Identifier: Apache-2.0
#include "sim/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/error.h"
#include "hosts/communicator/protocol.h"
#include "hosts/communicator/server_engine.h"
#include "session/frame.h"

#define MS            UINT64_C(1000000)
#define STAGGER       (200 * MS)  // within which processes begin that begin together
#define AGAIN         (300 * MS)  // within which one begins again that was refused
#define PATIENCE      (2000 * MS) // of one that is done
#define POLL          MS          // of an engine that has something due and cannot say it
#define LAST_FRAMES   64u
#define ADDRESS_TEXT  24u
#define SENTENCES     4096u
#define SWITCHML_PORT 0xbee0

// Who is in a session: of each worker an incarnation, 0 as long as none is.
struct session {
    uint64_t id;
    struct session *next;
    uint32_t incarnation[];
};

// A frame that its process has not sent any more.
struct late {
    struct late *next;
    struct sim_host *host;
    uint32_t length;
    uint8_t bytes[];
};

struct sim_sessions {
    struct late *late;
    struct sim_random random;
    struct sim_seat servers[SCN_MAX_FLOWS];
    struct session *list;
    uint64_t n;
};

struct sim_process { // first member: what the host knows of it
    struct sim_app app;
    struct sim_seat *seat;
    struct sk_engine *engine;           // null: it has ended
    struct sk_coordinator *coordinator; // of a server
    struct session *in;                 // a worker's, once it is in one
    uint64_t stepped_at;
};

static struct sim_process *process_of(struct sim_app *a) {
    return (struct sim_process *)a;
}

static struct sim_station *station_of(const struct sim_seat *seat) {
    const struct sim_job *job = seat->job;
    return &job->sim
                ->stations[seat->worker ? seat->worker->station : job->as->servers[seat->number]];
}

static uint64_t now_of(const struct sim_seat *seat) {
    return seat->job->sim->events.now;
}

static uint64_t within(const struct sim_job *job, uint64_t bound) {
    return sim_random_below(&job->sessions->random, bound);
}

static void trace(const struct sim_seat *seat, const char *what) {
    sim_trace_add(&seat->job->sim->trace, now_of(seat), station_of(seat)->as->name, what, NULL, 0);
}

static uint64_t sim_process_random_number(void *aux) {
    struct sim_job *job = aux;
    const uint64_t number = sim_random_next(&job->sessions->random);
    return number + !number;
}

// ---- engines ----

struct text {
    char mac[ADDRESS_TEXT], ip[ADDRESS_TEXT];
};

static struct silken_address put_address(struct text *t, const uint8_t mac[6], uint32_t ip) {
    sk_mac_text(mac, t->mac);
    snprintf(t->ip, sizeof t->ip, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff,
             ip & 0xff);
    return (struct silken_address){t->mac, t->ip};
}

// What both protocols' configurations point to.
struct addresses {
    struct text self_text, switch_text, group_text, server_text[SCN_MAX_FLOWS];
    struct silken_address self, at, group, server[SCN_MAX_FLOWS];
    uint32_t rack[SCN_MAX_WORKERS], server_rack[SCN_MAX_FLOWS];
};

static void find_addresses(const struct sim_seat *seat, struct addresses *a) {
    const struct sim_job *job = seat->job;
    const struct sim *s = job->sim;
    const struct sim_station *self = station_of(seat);
    const uint32_t at = job->as->protocol == SIM_SWITCHML ? job->at : switch_of(s, self->id);
    uint8_t group[6];
    a->self = put_address(&a->self_text, self->mac, self->ip);
    a->at = put_address(&a->switch_text, s->stations[at].mac, s->stations[at].ip);
    for (uint32_t i = 0; i < job->as->n_servers; i++) {
        const struct sim_station *server = &s->stations[job->as->servers[i]];
        a->server[i] = put_address(&a->server_text[i], server->mac, server->ip);
        a->server_rack[i] = switch_of(s, server->id);
    }
    atp_group_mac(job, 0, group);
    a->group =
        put_address(&a->group_text, group, UINT32_C(0xe0010000) | (uint32_t)job->number << 8);
    for (uint32_t i = 0; i < job->n_workers; i++)
        a->rack[i] = switch_of(s, job->workers[i].station);
}

static uint32_t us_of(uint64_t ns) {
    return ns < 1000 ? 1 : (uint32_t)(ns / 1000);
}

static int make_worker(struct sk_engine **made, const struct sim_seat *seat,
                       const struct addresses *a, char *why, size_t why_cap) {
    const struct sim_job *job = seat->job;
    const bool atp = job->as->protocol == SIM_ATP;
    const struct sk_protocol *protocol = atp ? &sk_protocol_atp : &sk_protocol_switchml;
    const uint64_t limit = job->hard_limit / MS;
    const struct silken_lane lane = {
        .worker_mac = a->self.mac, .worker_ip = a->self.ip, .worker_port = SWITCHML_PORT};
    const struct silken_config f = {
        .protocol = atp ? SILKEN_ATP : SILKEN_SWITCHML,
        .rank = seat->number,
        .workers = job->n_workers,
        .job = job->number,
        .f16 = job->as->f16,
        .atp = {.type = job->as->work.floats ? SILKEN_F32 : SILKEN_I32,
                .servers = (uint32_t)job->as->n_servers,
                .server = a->server,
                .group = &a->group,
                .server_rack = a->server_rack,
                .rack = a->rack,
                .first_index = job->first_index,
                .indices = job->indices,
                .window = job->window,
                .window_max = job->window_max},
        .pool_size = job->slots,
        .k = (uint16_t)job->as->k,
        .switch_mac = a->at.mac,
        .switch_ip = a->at.ip,
        .switch_port = SWITCHML_PORT,
        .rto_min_us = us_of(job->rto_min),
        .rto_max_us = us_of(job->rto_max),
        .rto_initial_us = us_of(job->rto_initial),
        .hard_limit_ms = job->hard_limit == SIM_NEVER ? 0 : (uint32_t)(limit + !limit),
    };
    const int rc = protocol->check(&f, 1, why, why_cap);
    return rc ? rc
              : protocol->make(made, &f, 1, 0, &lane, sim_process_random_number(seat->job), why,
                               why_cap);
}

static int make_server(struct sk_engine **made, struct sk_coordinator **coordinator,
                       const struct sim_seat *seat, const struct addresses *a, char *why,
                       size_t why_cap) {
    const struct sim_job *job = seat->job;
    const struct sk_randomness random = {sim_process_random_number, seat->job};
    const struct silken_server_lane lane = {.address = a->self, .group = a->group};
    struct silken_server_config f;
    struct sk_server_engine *e;
    silken_server_config_init(&f);
    f.job = job->number;
    f.workers = job->n_workers;
    f.servers = (uint32_t)job->as->n_servers;
    f.number = seat->number;
    f.type = job->as->work.floats ? SILKEN_F32 : SILKEN_I32;
    f.first_index = job->first_index;
    f.indices = job->indices;
    f.fixed_indices = !job->as->rehash;
    f.dynamic_scale = job->as->dynamic_scale;
    f.window_max = job->window_max;
    f.lanes = 1;
    f.lane = &lane;
    f.switch_mac = a->at.mac;
    f.switch_ip = a->at.ip;
    f.first = a->server[0];
    *coordinator = sk_server_sessions(&f, now_of(seat), &random);
    if (!*coordinator)
        abort();
    const int rc = sk_server_engine_new(&e, &f, job->shapes[seat->number], 0, *coordinator, &random,
                                        why, why_cap);
    *made = rc == 0 ? &e->base : NULL;
    return rc;
}

static int sim_process_make_engine(struct sim_process *p, const struct sim_seat *seat,
                                   struct sk_error *err) {
    struct addresses a;
    char why[256] = "";
    find_addresses(seat, &a);
    const int rc = seat->worker
                       ? make_worker(&p->engine, seat, &a, why, sizeof why)
                       : make_server(&p->engine, &p->coordinator, seat, &a, why, sizeof why);
    return rc == 0 ? 0
                   : sk_fail(err, "job %s, %s %u: %s", seat->job->as->name,
                             seat->worker ? "worker" : "server", seat->number, why);
}

// ---- the end of a process ----

static void free_engine(struct sim_process *p) {
    if (p->engine)
        p->engine->ops->free(p->engine);
    sk_coordinator_free(p->coordinator);
    p->engine = NULL;
    p->coordinator = NULL;
}

// As sk_drive_leave().
static void say_farewell(struct sim_process *p) {
    struct sim_host *host = p->app.host;
    uint8_t frame[SIM_MAX_FRAME];
    size_t length = 1;
    p->engine->ops->leave(p->engine);
    for (unsigned i = 0; i < LAST_FRAMES && length && !host->down; i++) {
        length = p->engine->ops->write(p->engine, frame, sizeof frame, now_of(p->seat));
        if (length)
            sim_link_send(host->out, frame, (uint32_t)length);
    }
}

static void send_late(void *who, void *what) {
    const struct late *frame = who;
    (void)what;
    if (!frame->host->down)
        sim_link_send(frame->host->out, frame->bytes, frame->length);
}

// As one that is stopped between two packets, or whose packets wait somewhere: what it would have
// sent by its next time-out, had nothing been answered.
static void hold_back(struct sim_process *p, uint64_t ns) {
    struct sim_sessions *all = p->seat->job->sessions;
    const uint64_t then = now_of(p->seat) + p->seat->job->rto_max;
    uint8_t frame[SIM_MAX_FRAME];
    size_t length = 1;
    p->engine->ops->expire(p->engine, then);
    for (unsigned i = 0; i < LAST_FRAMES && length; i++) {
        length = p->engine->ops->write(p->engine, frame, sizeof frame, then);
        struct late *held = length ? malloc(sizeof *held + length) : NULL;
        if (!length)
            return;
        if (!held)
            abort();
        *held = (struct late){all->late, p->app.host, (uint32_t)length};
        memcpy(held->bytes, frame, length);
        all->late = held;
        sim_at(&p->seat->job->sim->events, now_of(p->seat) + ns, send_late, held, NULL);
    }
}

// What is left of it stays with the host, and does nothing.
static void sim_process_end(struct sim_seat *seat, bool leaves) {
    struct sim_process *p = seat->process;
    if (!p)
        return;
    if (leaves)
        say_farewell(p);
    free_engine(p);
    seat->process = NULL;
    if (seat->worker)
        job_worker_stops(seat->worker);
}

static void end_somehow(struct sim_seat *seat) {
    trace(seat, "its process ends");
    sim_process_end(seat, within(seat->job, 2));
}

static void sim_process_begin(void *who, void *what);

static void begin_within(struct sim_seat *seat, uint64_t from, uint64_t span) {
    sim_at(&seat->job->sim->events, now_of(seat) + from + within(seat->job, span),
           sim_process_begin, seat, NULL);
}

static void begin_again(void *who, void *what) {
    struct sim_seat *seat = who;
    if (seat->job->over || seat->incarnation != (uintptr_t)what)
        return; // somebody else did
    end_somehow(seat);
    begin_within(seat, 0, 1 + within(seat->job, 2) * AGAIN);
}

static void begin_again_within(struct sim_seat *seat, uint64_t from, uint64_t span) {
    sim_at(&seat->job->sim->events, now_of(seat) + from + within(seat->job, span), begin_again,
           seat, (void *)(uintptr_t)seat->incarnation);
}

// ---- sessions, and what comes of them ----

static struct session *session_of(struct sim_job *job, uint64_t id) {
    struct session *x = job->sessions->list;
    while (x && x->id != id)
        x = x->next;
    if (x)
        return x;
    x = calloc(1, sizeof *x + job->n_workers * sizeof x->incarnation[0]);
    if (!x)
        abort();
    x->id = id;
    x->next = job->sessions->list;
    job->sessions->list = x;
    job->sessions->n++;
    return x;
}

static void note_session(struct sim_process *p) {
    struct sim_seat *seat = p->seat;
    const uint64_t id = p->in ? 0 : p->engine->ops->session(p->engine);
    if (!id)
        return;
    p->in = session_of(seat->job, id);
    trace(seat, "is in a session");
    if (p->in->incarnation[seat->number])
        sim_violate(seat->job->sim, NULL, "job %s, worker %u: two processes are in one session",
                    seat->job->as->name, seat->number);
    p->in->incarnation[seat->number] = seat->incarnation;
}

static void sim_process_verify(const struct sim_process *p, struct sim_copy *copy) {
    const struct sim_seat *seat = p->seat;
    struct sim_job *job = seat->job;
    struct sim_tensor *t = copy->tensor;
    uint32_t who[SCN_MAX_WORKERS];
    for (uint32_t i = 0; i < job->n_workers; i++) {
        who[i] = values_who(i, p->in ? p->in->incarnation[i] : 0);
        if (who[i] == i)
            sim_violate(job->sim, NULL,
                        "job %s, worker %u has a sum, and worker %u is not in its session",
                        job->as->name, seat->number, i);
    }
    values_sum(job, t, who);
    const size_t wrong =
        values_wrong(job, t, values_who(seat->number, seat->incarnation), copy->data, 0, t->count);
    job->verified += t->count;
    if (wrong < t->count && !job->sim->scenario->any_sums)
        sim_violate(job->sim, NULL,
                    "job %s, worker %u, incarnation %u: element %zu of tensor %" PRIu64
                    " is %08" PRIx32 ", and not the sum over the incarnations in its session",
                    job->as->name, seat->number, seat->incarnation, wrong, t->number,
                    copy->data[wrong]);
}

static void take_sums(struct sim_process *p) {
    void *cookie;
    while (p->engine && p->engine->ops->done(p->engine, &cookie)) {
        struct sim_copy *copy = cookie;
        sim_process_verify(p, copy);
        copy->worker->bytes_before += 4 * copy->tensor->count;
        job_copy_done(copy);
    }
}

// It has ended with an error, as an application that gets one from an all-reduce does.
static void sim_process_refuse(struct sim_process *p) {
    struct sim_seat *seat = p->seat;
    char text[SENTENCES] = "";
    p->engine->ops->explain(p->engine, now_of(seat), text, sizeof text);
    if (!text[0])
        sim_violate(seat->job->sim, NULL, "job %s, worker %u is refused without a message",
                    seat->job->as->name, seat->number);
    if (seat->job->sim->trace.live)
        fputs(text, seat->job->sim->trace.live);
    seat->refusals++;
    trace(seat, "is refused");
    end_somehow(seat);
    begin_within(seat, 0, AGAIN);
}

// As sk_drive_step() and a lane's step.
static void sim_process_step(struct sim_process *p) {
    const uint64_t now = now_of(p->seat);
    const unsigned events = p->engine->ops->expire(p->engine, now);
    p->stepped_at = now;
    if (!p->seat->worker)
        return;
    note_session(p);
    take_sums(p);
    if (p->engine && events & SK_ENGINE_FAILED)
        sim_process_refuse(p);
}

static void round_is_over(struct sim_job *job) {
    const bool again = job->stop_ns != SIM_NEVER && job->sim->events.now < job->stop_ns;
    for (uint32_t i = 0; i < job->n_workers; i++) {
        struct sim_seat *seat = &job->workers[i].seat;
        if (again)
            begin_again_within(seat, 0, AGAIN);
        else
            sim_process_end(seat, true);
        job->workers[i].finished = true;
    }
    if (!again)
        job_is_over(job);
}

void process_finished(struct sim_worker *w) {
    struct sim_job *job = w->job;
    struct sim_seat *seat = &w->seat;
    bool all = true;
    w->finished_at = job->sim->events.now;
    if (within(job, 2)) {
        trace(seat, "leaves");
        sim_process_end(seat, true);
        w->finished = true;
    }
    for (uint32_t i = 0; i < job->n_workers; i++)
        all &= job->workers[i].finished;
    if (all)
        round_is_over(job);
    else
        begin_again_within(seat, PATIENCE, PATIENCE);
}

void process_submit(struct sim_copy *copy) {
    const struct sim_worker *w = copy->worker;
    struct sk_engine *e = w->seat.process->engine;
    const struct sk_tensor t = {.type = w->job->as->work.floats ? SILKEN_F32 : SILKEN_I32,
                                .in = copy->data,
                                .out = copy->data,
                                .count = copy->tensor->count,
                                .cookie = copy,
                                .reach = copy->tensor->reach,
                                .who = copy->tensor->who};
    if (e->ops->submit(e, &t, w->job->sim->events.now) != 0)
        sim_violate(w->job->sim, NULL, "job %s, worker %u: tensor %" PRIu64 " is refused",
                    w->job->as->name, w->rank, copy->tensor->number);
}

// ---- what the host asks ----

static bool sim_process_wants(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    const struct sim_process *p = (const struct sim_process *)a;
    const struct sim_key key = sim_key_of(frame, length);
    struct session_message m;
    struct session_end self = {.port = 0}, from;
    if (!p->engine)
        return false;
    const struct sim_job *job = p->seat->job;
    const struct sim_station *st = station_of(p->seat);
    if (key.protocol != SIM_OTHER)
        return key.protocol == job->as->protocol && key.job == job->number;
    self.ip = st->ip;
    memcpy(self.mac, st->mac, sizeof self.mac);
    return session_frame_read(frame, length, &self, &from, &m) && m.job == job->number &&
           (m.protocol == SESSION_ATP) == (job->as->protocol == SIM_ATP);
}

static void sim_process_deliver(struct sim_app *a, const uint8_t *frame, uint32_t length,
                                uint64_t now) {
    struct sim_process *p = process_of(a);
    if (!p->engine)
        return;
    p->engine->ops->read(p->engine, frame, length, now);
    sim_process_step(p);
}

static size_t sim_process_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    struct sim_process *p = process_of(a);
    return p->engine ? p->engine->ops->write(p->engine, buf, cap, now) : 0;
}

static uint64_t sim_process_deadline(struct sim_app *a) {
    const struct sim_process *p = process_of(a);
    if (!p->engine)
        return SIM_NEVER;
    const uint64_t now = now_of(p->seat), at = p->engine->ops->deadline(p->engine);
    if (at > now)
        return at;
    return p->stepped_at == now ? now + POLL : now;
}

static void sim_process_expire(struct sim_app *a, uint64_t now) {
    struct sim_process *p = process_of(a);
    (void)now;
    if (p->engine)
        sim_process_step(p);
}

static void free_process(struct sim_app *a) {
    struct sim_process *p = process_of(a);
    if (p->seat->process == p)
        p->seat->process = NULL;
    free_engine(p);
    free(p);
}

// ---- beginning ----

static void sim_process_begin(void *who, void *what) {
    static const struct sim_app_ops ops = {sim_process_wants,  sim_process_deliver,
                                           sim_process_next,   sim_process_deadline,
                                           sim_process_expire, free_process};
    struct sim_seat *seat = who;
    struct sim_host *host = station_of(seat)->host;
    struct sk_error err;
    (void)what;
    if (seat->job->over || seat->process || host->down)
        return;
    struct sim_process *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->app.ops = &ops;
    p->seat = seat;
    if (sim_process_make_engine(p, seat, &err) < 0) {
        sim_violate(seat->job->sim, NULL, "%s", err.text);
        free_engine(p);
        free(p);
        return;
    }
    p->stepped_at = SIM_NEVER;
    seat->process = p;
    seat->incarnation++;
    trace(seat, "begins");
    host_add(host, &p->app);
    if (seat->worker)
        job_worker_begins(seat->worker);
    host_serve(host);
}

static bool makes(struct sim_seat *seat, struct sk_error *err) {
    struct sim_process p = {.seat = seat};
    const int status = sim_process_make_engine(&p, seat, err);
    free_engine(&p);
    return status == 0;
}

static int check_servers(const struct sim_job *job, struct sk_error *err) {
    for (uint32_t i = 1; i < job->as->n_servers; i++)
        if (switch_of(job->sim, job->as->servers[i]) != switch_of(job->sim, job->as->servers[0]))
            return sk_fail(err,
                           "job %s has sessions: its servers must be at one switch, since "
                           "its workers are in one multicast group",
                           job->as->name);
    return 0;
}

static int make_seat(struct sim_seat *seat, const struct sim_seat *as, struct sk_error *err) {
    *seat = *as;
    if (!makes(seat, err))
        return -1;
    // not at time 0, which engines take for no time
    sim_at(&seat->job->sim->events, seat->job->start_ns + 1 + within(seat->job, STAGGER),
           sim_process_begin, seat, NULL);
    return 0;
}

int processes_make(struct sim_job *job, struct sk_error *err) {
    char name[128];
    job->sessions = calloc(1, sizeof *job->sessions);
    if (!job->sessions)
        abort();
    snprintf(name, sizeof name, "sessions of %.100s", job->as->name);
    job->sessions->random = sim_random_of(job->sim->seed, name);
    if (check_servers(job, err) < 0)
        return -1;
    for (uint32_t i = 0; i < job->n_workers; i++) {
        struct sim_worker *w = &job->workers[i];
        const struct sim_seat seat = {.job = job, .worker = w, .number = i};
        w->crashed = true;
        if (make_seat(&w->seat, &seat, err) < 0)
            return -1;
    }
    for (uint32_t i = 0; i < job->as->n_servers; i++) {
        const struct sim_seat seat = {.job = job, .number = i};
        if (make_seat(&job->sessions->servers[i], &seat, err) < 0)
            return -1;
    }
    return 0;
}

void processes_free(struct sim_job *job) {
    struct session *x = job->sessions ? job->sessions->list : NULL;
    struct late *frame = job->sessions ? job->sessions->late : NULL;
    while (frame) {
        struct late *next_one = frame->next;
        free(frame);
        frame = next_one;
    }
    while (x) {
        struct session *next_one = x->next;
        free(x);
        x = next_one;
    }
    free(job->sessions);
    job->sessions = NULL;
}

uint64_t processes_sessions(const struct sim_job *job) {
    return job->sessions->n;
}

// ---- faults ----

// 'late' is of those that are killed.
typedef void seat_action(struct sim_seat *seat, uint64_t late);

static void at_station(struct sim_job *job, uint32_t station, bool workers, bool servers,
                       seat_action *action, uint64_t late) {
    for (uint32_t i = 0; workers && i < job->n_workers; i++)
        if (job->workers[i].station == station)
            action(&job->workers[i].seat, late);
    for (uint32_t i = 0; servers && i < job->as->n_servers; i++)
        if (job->as->servers[i] == station)
            action(&job->sessions->servers[i], late);
}

static void kill_now(struct sim_seat *seat, uint64_t late) {
    if (!seat->process || seat->job->over)
        return;
    if (late)
        hold_back(seat->process, late);
    end_somehow(seat);
}

static void begin_now(struct sim_seat *seat, uint64_t late) {
    (void)late;
    sim_process_begin(seat, NULL);
}

// An event's pointer: whether it is about servers, and how late their last frames are.
static void *sim_process_pack(bool servers, uint64_t late) {
    return (void *)(uintptr_t)(late << 1 | servers);
}

static void in_all_jobs(struct sim_station *st, const void *packed, seat_action *action) {
    struct sim *s = st->host->sim;
    const bool servers = (uintptr_t)packed & 1;
    const uint64_t late = (uintptr_t)packed >> 1;
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++)
        if (s->jobs[i]->sessions)
            at_station(s->jobs[i], st->id, !servers, servers, action, late);
}

static void kill_all(void *who, void *packed) {
    in_all_jobs(who, packed, kill_now);
}

static void begin_all(void *who, void *packed) {
    in_all_jobs(who, packed, begin_now);
}

void processes_restart_at(struct sim *s, uint32_t station, bool servers, uint64_t at,
                          uint64_t until, uint64_t late) {
    struct sim_station *st = &s->stations[station];
    sim_at(&s->events, at, kill_all, st, sim_process_pack(servers, late));
    sim_at(&s->events, until, begin_all, st, sim_process_pack(servers, 0));
}

static void die(struct sim_seat *seat, uint64_t late) {
    (void)late;
    sim_process_end(seat, false);
}

void processes_host_down(struct sim_job *job, uint32_t station, bool for_ever) {
    at_station(job, station, true, true, die, 0);
    if (!for_ever || job->over)
        return;
    if (!job->sim->scenario->may_fail)
        sim_violate(job->sim, NULL, "job %s: a host that crashed does not come back to it",
                    job->as->name);
    job->failed = true;
    job_is_over(job);
}

void processes_host_up(struct sim_job *job, uint32_t station) {
    at_station(job, station, true, true, begin_now, 0);
}
