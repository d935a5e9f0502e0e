// SPDX-License-Identifier: Apache-2.0
//
// ATP's workers and parameter servers on hosts of the network.
//
// Flow f of a job goes to server f modulo their number. A worker is in the rack of the switch that
// it hangs on; the server's switch is the second level for all other racks (hosts/atp/frame.h,
// PLACES).
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/job.h"

uint32_t atp_server_station(const struct sim_job *job, uint32_t flow) {
    return job->as->servers[flow % job->as->n_servers];
}

void atp_group_mac(const struct sim_job *job, uint32_t server, uint8_t mac[6]) {
    const uint8_t group[6] = {0x01, 0x00, 0x5e, 0x01, job->number, (uint8_t)server};
    memcpy(mac, group, 6);
}

static void describe_flow(const struct sim_job *job, uint32_t flow, const struct sim_station *w,
                          struct atp_flow *out) {
    const struct sim_station *server = &job->sim->stations[atp_server_station(job, flow)];
    const uint32_t number = flow % (uint32_t)job->as->n_servers;
    *out = (struct atp_flow){
        .worker = {.port = (uint16_t)(0xc000 + flow), .ip = w ? w->ip : 0},
        .server = {.port = ATP_UDP_PORT, .ip = server->ip},
        .group = {.port = ATP_UDP_PORT,
                  .ip = UINT32_C(0xe0010000) | (uint32_t)job->number << 8 | number},
        .job = job->number,
        .flow = (uint8_t)flow,
        .flow_bits = (uint8_t)job->flow_bits,
    };
    if (w)
        memcpy(out->worker.mac, w->mac, 6);
    memcpy(out->server.mac, server->mac, 6);
    atp_group_mac(job, number, out->group.mac);
}

static bool sim_atp_is_of(const struct sim_job *job, uint32_t flow, const uint8_t *frame,
                          uint32_t length) {
    const struct sim_key key = sim_key_of(frame, length);
    return key.protocol == SIM_ATP && key.job == job->number &&
           key.number >> (24 - job->flow_bits) == (job->flow_bits ? flow : 0);
}

static bool is_ack(const uint8_t *frame) {
    return frame[51] & 0x20;
}

// ---- workers ----

bool atp_lane_wants(const struct sim_lane *lane, const uint8_t *frame, uint32_t length) {
    return sim_atp_is_of(lane->worker->job, lane->flow, frame, length) && is_ack(frame);
}

struct sim_lane *atp_lane(struct sim_worker *w, uint32_t flow, uint64_t first,
                          struct sk_error *err) {
    struct sim_job *job = w->job;
    struct sim_lane *lane = lane_new(w, flow);
    struct atp_worker_config c;
    const char *why = "out of memory";
    atp_worker_config_init(&c);
    describe_flow(job, flow, &job->sim->stations[w->station], &c.flow);
    c.place = job->places[flow][w->rank];
    c.rank = w->rank;
    c.first_index = job->first_index;
    c.indices = job->indices;
    c.linear = job->as->linear;
    c.window = job->window;
    c.window_max = job->window_max;
    c.fixed_window = job->as->fixed_window;
    c.rto_initial = job->rto_initial;
    c.rto_min = job->rto_min;
    c.rto_max = job->rto_max;
    c.stall_warning = ATP_NEVER;
    c.hard_limit = job->hard_limit;
    c.first_fragment = first;
    if (atp_worker_new(&lane->atp, &c, &why) == 0)
        return lane;
    free(lane);
    sk_fail(err, "job %s, worker %u: %s", job->as->name, w->rank, why);
    return NULL;
}

// ---- servers ----

static bool server_wants(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    const struct sim_server *s = (const struct sim_server *)a;
    return sim_atp_is_of(s->job, s->flow, frame, length) && !is_ack(frame);
}

static void server_deliver(struct sim_app *a, const uint8_t *frame, uint32_t length, uint64_t now) {
    atp_server_read(((struct sim_server *)a)->atp, frame, length, now);
}

static size_t server_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    return atp_server_write(((struct sim_server *)a)->atp, buf, cap, now);
}

static uint64_t server_deadline(struct sim_app *a) {
    return atp_server_deadline(((struct sim_server *)a)->atp);
}

static void server_expire(struct sim_app *a, uint64_t now) {
    atp_server_expire(((struct sim_server *)a)->atp, now);
}

static void server_free(struct sim_app *a) {
    struct sim_server *s = (struct sim_server *)a;
    atp_server_free(s->atp);
    free(s);
}

static const struct sim_app_ops server_ops = {server_wants,    server_deliver, server_next,
                                              server_deadline, server_expire,  server_free};

struct sim_server *atp_server_app(struct sim_job *job, uint32_t flow, struct sk_error *err) {
    struct sim_server *s = calloc(1, sizeof *s);
    struct atp_server_config c;
    const char *why = "out of memory";
    if (!s)
        abort();
    atp_server_config_init(&c);
    describe_flow(job, flow, NULL, &c.flow);
    c.shape = *job->shapes[flow];
    c.type = job->as->work.floats ? ATP_F32 : ATP_I32;
    c.first_index = job->first_index;
    c.indices = job->indices;
    c.rehash = job->as->rehash;
    c.dynamic_scale = job->as->dynamic_scale;
    c.window_max = job->window_max;
    c.repeat_every = (uint64_t)(job->as->repeat_us * 1000);
    s->app.ops = &server_ops;
    s->job = job;
    s->flow = flow;
    if (atp_server_new(&s->atp, &c, &why) == 0)
        return s;
    free(s);
    sk_fail(err, "job %s, server of flow %u: %s", job->as->name, flow, why);
    return NULL;
}

// ---- the job's shape ----

int atp_prepare(struct sim_job *job, struct sk_error *err) {
    uint32_t racks[SCN_MAX_WORKERS];
    while (1u << job->flow_bits < job->as->flows)
        job->flow_bits++;
    for (uint32_t i = 0; i < job->n_workers; i++)
        racks[i] = switch_of(job->sim, job->workers[i].station);
    for (uint32_t f = 0; f < job->as->flows; f++) {
        const char *why = "";
        job->shapes[f] = calloc(1, sizeof *job->shapes[f]);
        job->places[f] = calloc(job->n_workers, sizeof *job->places[f]);
        if (!job->shapes[f] || !job->places[f])
            abort();
        if (atp_places(racks, job->n_workers, switch_of(job->sim, atp_server_station(job, f)),
                       job->shapes[f], job->places[f], &why) < 0)
            return sk_fail(err, "job %s: %s", job->as->name, why);
    }
    return 0;
}
