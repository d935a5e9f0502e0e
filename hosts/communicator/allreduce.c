// SPDX-License-Identifier: Apache-2.0
//
// A communicator is some lanes (lane.h), a protocol (protocol.h) and a way to cut a tensor into
// shares for the lanes. The cut follows from the tensors' lengths and the number of lanes alone, so
// that it is the same on all workers: whole blocks, each lane's in one piece; or the whole tensor
// for the lane that has got the least so far.
#include "silken/allreduce.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/communicator/comm.h"
#include "hosts/communicator/join.h"
#include "hosts/communicator/lane.h"
#include "hosts/communicator/protocol.h"
#include "hosts/communicator/protocol_dlcp.h"
#include "hosts/communicator/protocol_roce.h"
#include "hosts/communicator/service.h"
#include "hosts/communicator/station.h"
#include "hosts/core/wire_type.h"

struct silken_comm {
    struct silken_config config; // its lists are gone
    const struct sk_protocol *protocol;
    uint64_t nonce;        // of this worker in its job's sessions
    uint32_t *server_rack; // a copy, or NULL
    uint32_t lanes;
    pthread_mutex_t submitting;       // shares of requests have the same order in all lanes
    struct silken_request *requests;  // not waited for; under the same lock
    uint32_t layer, layers;           // of what is submitted next (DLCP); likewise
    uint64_t given[SILKEN_MAX_LANES]; // elements by lane, where tensors are not cut; likewise
    pthread_mutex_t saying;           // one message at a time
    struct sk_lane lane[];
};

struct silken_request {
    struct silken_comm *comm;
    struct silken_request *next, **at; // in the communicator's list, and what points here
    enum silken_type type;
    size_t count;
    struct sk_wire wire;     // of silken_submit(); else zeros
    void *pushed;            // the result of a push until it is pulled, or NULL
    struct sk_share share[]; // by lane
};

// ---- configuration ---------------------------------------------------------------------------

#undef silken_config_init

// The members of version 0, of which every application knows all.
#define CONFIG_SIZE_0                                                                              \
    (offsetof(struct silken_config, log_context) +                                                 \
     sizeof(((struct silken_config *)NULL)->log_context))

static struct silken_config config_defaults(void) {
    return (struct silken_config){
        .pool_size = 128,
        .k = 256,
        .worker_port = 0xbee0,
        .switch_port = 0xbee0,
        .cpu = -1,
        .rto_min_us = 20000,
        .rto_max_us = 500000,
        .rto_initial_us = 50000,
        .stall_warning_ms = 2000,
        .hard_limit_ms = 30000,
        .atp = {.servers = 1, .indices = 65536, .window = 200, .window_max = 1024},
        .dlcp = {.bound = 0.1,
                 .pull_bound = 0.01,
                 .cut_bytes = 4 << 20,
                 .link_mbps = 10000,
                 .first_port = 50000,
                 .ports = 1,
                 .period_us = 200,
                 .burst_us = 200},
        .rdma = {.pairs = 8, .own = 0x100, .rkey = 0x53494c4b},
    };
}

void silken_config_init_sized(struct silken_config *config, size_t size) {
    struct silken_config all = config_defaults();

    memset(config, 0, size);
    all.size = (uint16_t)size;
    memcpy(config, &all, size < sizeof all ? size : sizeof all);
}

void silken_config_init(struct silken_config *config) {
    silken_config_init_sized(config, CONFIG_SIZE_0);
}

// Of an application that knows more or fewer members: '*all' has what this library knows.
static int config_take(struct silken_config *all, const struct silken_config *given, char *why,
                       size_t why_cap) {
    const char *more = (const char *)given + sizeof *all;

    if (given->size < CONFIG_SIZE_0) {
        snprintf(why, why_cap, "the configuration was not made by silken_config_init()");
        return SILKEN_ERR_INVALID;
    }
    for (size_t i = sizeof *all; i < given->size; i++, more++) {
        if (*more) {
            snprintf(why, why_cap, "the configuration has settings of a later libsilken than this");
            return SILKEN_ERR_UNSUPPORTED;
        }
    }
    *all = config_defaults();
    memcpy(all, given, given->size < sizeof *all ? given->size : sizeof *all);
    return 0;
}

static void allreduce_say(void *context, const char *text) {
    struct silken_comm *c = context;

    pthread_mutex_lock(&c->saying);
    if (c->config.log)
        c->config.log(c->config.log_context, text);
    else
        fputs(text, stderr);
    pthread_mutex_unlock(&c->saying);
}

// What lane 'i' is told: the configuration's list, or without one its own members, of which the
// processor is the first lane's.
static struct silken_lane lane_config(const struct silken_config *f, uint32_t i) {
    if (f->lane)
        return f->lane[i];
    return (struct silken_lane){
        .worker_mac = f->worker_mac,
        .worker_ip = f->worker_ip,
        .worker_port = f->worker_port,
        .device = f->device,
        .cpu = i == 0 ? f->cpu : -1,
        .transport = f->transport,
    };
}

static int allreduce_make_engine(struct silken_comm *c, uint32_t i, char *why, size_t why_cap) {
    const struct silken_lane l = lane_config(&c->config, i);

    sk_lane_init(&c->lane[i], allreduce_say, c);
    c->lane[i].lease = c->config.lease;
    return c->protocol->make(&c->lane[i].drive.engine, &c->config, c->lanes, i, &l, c->nonce, why,
                             why_cap);
}

// A device that is udp:, which has to know the station's addresses.
static int open_sockets(struct sk_transport **transport, const struct silken_config *f, uint32_t i,
                        const struct silken_lane *l, char *why, size_t why_cap) {
    struct sk_station station;
    int rc = sk_station_resolve(&station, f, i, l, why, why_cap);
    struct sk_transport_station at = {.self = station.worker, .single = f->no_segments};

    if (f->lease)
        at.session_port = sk_lease_session_port(f->lease);
    if (sk_station_is_shared(f)) {
        at.peer = station.fabric;
        at.lane = i;
        at.lanes = f->lanes;
    }

    return rc ? rc : sk_transport_open_at(transport, l->device, l->cpu, &at, why, why_cap);
}

static int allreduce_make_transport(struct silken_comm *c, uint32_t i, char *why, size_t why_cap) {
    const struct silken_lane l = lane_config(&c->config, i);
    struct sk_transport **transport = &c->lane[i].drive.transport;

    if (l.transport) {
        *transport = l.transport;
        return 0;
    }
    if (!l.device) {
        snprintf(why, why_cap, "neither a device nor a transport is given");
        return SILKEN_ERR_INVALID;
    }
    return sk_transport_udp_address(l.device)
               ? open_sockets(transport, &c->config, i, &l, why, why_cap)
               : sk_transport_open(transport, l.device, l.cpu, why, why_cap);
}

// Of a switch, of which lanes of one device have one each.
#define SWITCHML_FIRST_PORT 0xbee0u
#define SWITCHML_LAST_PORT  0xbeefu

static int check_lanes(const struct silken_config *f, char *why, size_t why_cap) {
    const bool sockets = f->device && !f->transport && sk_transport_udp_address(f->device);

    if (f->lanes > SILKEN_MAX_LANES || (sk_station_is_shared(f) && !sockets)) {
        snprintf(why, why_cap,
                 "there can be 1 to %d lanes; if there are several, each must be described, unless "
                 "the device is udp:",
                 SILKEN_MAX_LANES);
        return SILKEN_ERR_INVALID;
    }
    if (sk_station_is_shared(f) && f->protocol == SILKEN_SWITCHML &&
        (f->switch_port < SWITCHML_FIRST_PORT ||
         f->switch_port + f->lanes - 1 > SWITCHML_LAST_PORT)) {
        snprintf(why, why_cap,
                 "lanes of one device need a port of the switch each, of %u to %u: %u lanes from "
                 "port %u on do not fit",
                 SWITCHML_FIRST_PORT, SWITCHML_LAST_PORT, f->lanes, f->switch_port);
        return SILKEN_ERR_INVALID;
    }
    return 0;
}

// ATP's results come to the addresses of a group, which a socket does not receive; DLCP's packets
// say things to switches that a socket does not send.
static int allreduce_check_devices(const struct silken_config *f, uint32_t lanes, char *why,
                                   size_t why_cap) {
    for (uint32_t i = 0; i < lanes; i++) {
        const struct silken_lane l = lane_config(f, i);
        if (f->protocol != SILKEN_SWITCHML && l.device && !l.transport &&
            sk_transport_udp_address(l.device)) {
            snprintf(why, why_cap, "%s: udp: devices are for SwitchML; %s needs another device",
                     l.device, f->protocol == SILKEN_ATP ? "ATP" : "DLCP");
            return SILKEN_ERR_UNSUPPORTED;
        }
    }
    return 0;
}

// ---- opening and closing ---------------------------------------------------------------------

static void free_request(struct silken_request *r) {
    sk_wire_free(&r->wire);
    free(r->pushed);
    free(r);
}

static int fault_of(struct silken_comm *c) {
    for (uint32_t i = 0; i < c->lanes; i++)
        if (sk_lane_fault(&c->lane[i]))
            return SILKEN_ERR_CLOSED;
    return 0;
}

static void free_comm(struct silken_comm *c) {
    const bool done = c->config.lease && fault_of(c) == 0;

    for (uint32_t i = 0; i < c->lanes; i++)
        sk_lane_free(&c->lane[i]);
    sk_lease_free(c->config.lease, done);
    while (c->requests) {
        struct silken_request *r = c->requests;
        c->requests = r->next;
        free_request(r);
    }
    free(c->server_rack);
    pthread_mutex_destroy(&c->submitting);
    pthread_mutex_destroy(&c->saying);
    free(c);
}

// Lane 0 is driven by those who wait, unless they want it otherwise, or others may wait for it
// while its own work is done.
static int start_threads(struct silken_comm *c, const cpu_set_t *anywhere, char *why,
                         size_t why_cap) {
    const bool all = c->config.progress_thread || c->config.protocol == SILKEN_DLCP;
    for (uint32_t i = all ? 0 : 1; i < c->lanes; i++) {
        int cpu = lane_config(&c->config, i).cpu;
        cpu_set_t processors = *anywhere;
        if (cpu >= 0) {
            CPU_ZERO(&processors);
            CPU_SET((size_t)cpu, &processors);
        }
        if (sk_lane_start(&c->lane[i], &processors) != 0) {
            snprintf(why, why_cap, "a thread cannot be started");
            return SILKEN_ERR_NOMEM;
        }
    }
    return 0;
}

static int open_lanes(struct silken_comm *c, char *why, size_t why_cap) {
    cpu_set_t anywhere;
    int rc = 0;

    // before DPDK binds this thread
    CPU_ZERO(&anywhere);
    pthread_getaffinity_np(pthread_self(), sizeof anywhere, &anywhere);
    for (uint32_t i = 0; i < c->lanes && rc == 0; i++)
        rc = allreduce_make_engine(c, i, why, why_cap);
    for (uint32_t i = 0; i < c->lanes && rc == 0; i++)
        rc = allreduce_make_transport(c, i, why, why_cap);
    return rc ? rc : start_threads(c, &anywhere, why, why_cap);
}

// On an error, transports that were open before stay the caller's, and so does the lease.
static void allreduce_hand_back_transports(struct silken_comm *c) {
    c->config.lease = NULL;
    for (uint32_t i = 0; i < c->lanes; i++) {
        sk_lane_stop(&c->lane[i]);
        if (lane_config(&c->config, i).transport)
            c->lane[i].drive.transport = NULL;
    }
}

static const struct sk_protocol *protocol_of(enum silken_protocol p) {
    static const struct sk_protocol *const protocols[] = {[SILKEN_SWITCHML] = &sk_protocol_switchml,
                                                          [SILKEN_ATP] = &sk_protocol_atp,
                                                          [SILKEN_DLCP] = &sk_protocol_dlcp};
    return (unsigned)p <= SILKEN_DLCP ? protocols[p] : NULL;
}

// Whether the lanes' devices are roce:. All are, or none.
static int allreduce_is_roce(const struct silken_config *f, uint32_t lanes, bool *roce, char *why,
                             size_t why_cap) {
    uint32_t n = 0;

    for (uint32_t i = 0; i < lanes; i++) {
        const struct silken_lane l = lane_config(f, i);
        n += l.device && !l.transport && sk_transport_roce_device(l.device);
    }
    *roce = n > 0;
    if (n > 0 && f->protocol != SILKEN_SWITCHML)
        snprintf(why, why_cap, "devices roce: are for SwitchML");
    else if (n > 0 && (n < lanes || sk_station_is_shared(f)))
        snprintf(why, why_cap, "if one lane has a device roce:, each has one of its own");
    else
        return 0;
    return SILKEN_ERR_INVALID;
}

// What is needed later of the lists, which are not ours to keep.
static int keep_lists(struct silken_comm *c) {
    struct silken_config *f = &c->config;
    size_t size = f->atp.servers * sizeof *c->server_rack;

    if (f->protocol == SILKEN_ATP && f->atp.server_rack) {
        c->server_rack = malloc(size);
        if (!c->server_rack)
            return SILKEN_ERR_NOMEM;
        memcpy(c->server_rack, f->atp.server_rack, size);
    }
    f->lane = NULL;
    f->atp.server = NULL;
    f->atp.rack = NULL;
    f->atp.group = NULL;
    f->atp.first = NULL;
    f->dlcp.worker = NULL;
    f->atp.server_rack = c->server_rack;
    return 0;
}

static int open_comm(struct silken_comm **comm, const struct silken_config *config, char *why,
                     size_t why_cap) {
    uint32_t lanes = config->lanes ? config->lanes : 1;
    const struct sk_protocol *protocol = protocol_of(config->protocol);
    int rc = check_lanes(config, why, why_cap);
    struct silken_comm *c;
    bool roce = false;

    if (!protocol) {
        snprintf(why, why_cap, "there is no such protocol");
        return SILKEN_ERR_INVALID;
    }
    rc = rc ? rc : allreduce_is_roce(config, lanes, &roce, why, why_cap);
    if (roce)
        protocol = &sk_protocol_roce;
    if (rc == 0 && config->f16 && config->protocol != SILKEN_SWITCHML) {
        snprintf(why, why_cap, "16-bit floats in the switch (f16) are for SwitchML");
        return SILKEN_ERR_INVALID;
    }
    rc = rc ? rc : protocol->check(config, lanes, why, why_cap);
    rc = rc ? rc : allreduce_check_devices(config, lanes, why, why_cap);
    if (rc != 0)
        return rc;
    c = calloc(1, sizeof *c + lanes * sizeof c->lane[0]);
    if (!c) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    c->config = *config;
    c->protocol = protocol;
    c->lanes = lanes;
    c->nonce = sk_randomness_next(&sk_random_of_kernel);
    pthread_mutex_init(&c->submitting, NULL);
    pthread_mutex_init(&c->saying, NULL);
    rc = open_lanes(c, why, why_cap);
    if (rc == 0)
        rc = keep_lists(c);
    if (rc != 0) {
        allreduce_hand_back_transports(c);
        free_comm(c);
        return rc;
    }
    *comm = c;
    return 0;
}

int silken_open(struct silken_comm **comm, const struct silken_config *config, char *why,
                size_t why_cap) {
    struct silken_config all;
    int rc = config_take(&all, config, why, why_cap);

    return rc ? rc : open_comm(comm, &all, why, why_cap);
}

void silken_close(struct silken_comm *comm) {
    if (comm)
        free_comm(comm);
}

// ---- requests --------------------------------------------------------------------------------

// With the lock: the lane for a tensor that is not cut.
static uint32_t least_loaded(struct silken_comm *c, size_t count) {
    uint32_t least = 0;

    for (uint32_t i = 1; i < c->lanes; i++)
        least = c->given[i] < c->given[least] ? i : least;
    c->given[least] += count;
    return least;
}

// The part of 'whole' that lane 'i' reduces.
static struct sk_tensor share_of(const struct silken_comm *c, const struct sk_tensor *whole,
                                 uint32_t i) {
    size_t k = c->config.k, blocks = whole->count / k + (whole->count % k != 0);
    size_t first = sk_cut(blocks, c->lanes, i) * k, end = sk_cut(blocks, c->lanes, i + 1) * k;
    struct sk_tensor share = *whole;

    end = end < whole->count ? end : whole->count;
    share.count = end - first;
    if (share.count > 0) {
        const size_t at = sk_type_bytes(whole->type) * first;
        share.in = whole->in ? (const char *)whole->in + at : NULL;
        share.out = whole->out ? (char *)whole->out + at : NULL;
    }
    return share;
}

// With the lock.
static void allreduce_hand_out(struct silken_comm *c, struct silken_request *r,
                               const struct sk_tensor *tensor) {
    uint32_t only = c->protocol->whole ? least_loaded(c, tensor->count) : 0;

    for (uint32_t i = 0; i < c->lanes; i++)
        sk_lane_begin(&c->lane[i]);
    for (uint32_t i = 0; i < c->lanes; i++) {
        struct sk_share *share = &r->share[i];
        if (c->protocol->whole && i != only) {
            share->ended = true; // nothing for this lane
            continue;
        }
        share->tensor = c->protocol->whole ? *tensor : share_of(c, tensor, i);
        share->tensor.cookie = share;
        share->tensor.layer = c->layer;
        share->tensor.layers = c->layers;
        sk_lane_submit(&c->lane[i], share);
    }
}

// With the lock.
static void allreduce_put_in(struct silken_comm *c, struct silken_request *r) {
    r->next = c->requests;
    r->at = &c->requests;
    if (r->next)
        r->next->at = &r->next;
    c->requests = r;
}

// With the lock.
static void allreduce_take_out(struct silken_request *r) {
    *r->at = r->next;
    if (r->next)
        r->next->at = r->at;
}

// The engine knows better who needs what of a tensor that is not for all.
static bool allreduce_has_memory(const struct sk_tensor *t) {
    return t->count == 0 || t->reach != SK_ALL || (t->in && t->out);
}

static bool is_reducible(const struct silken_comm *c, const struct sk_tensor *t) {
    return t->count <= SIZE_MAX / 8 && allreduce_has_memory(t) &&
           (c->config.protocol != SILKEN_ATP || t->type == c->config.atp.type) &&
           (c->config.protocol != SILKEN_DLCP || t->type == SILKEN_F32);
}

// With the request's memory; it becomes the caller's again on an error.
static int allreduce_begin(struct silken_comm *c, const struct sk_tensor *tensor,
                           struct silken_request *r) {
    int rc;

    r->comm = c;
    r->type = tensor->type;
    r->count = tensor->count;
    pthread_mutex_lock(&c->submitting);
    rc = fault_of(c);
    if (rc == 0) {
        allreduce_hand_out(c, r, tensor);
        allreduce_put_in(c, r);
    }
    pthread_mutex_unlock(&c->submitting);
    return rc;
}

static int allreduce_submit(struct silken_comm *c, const struct sk_tensor *tensor,
                            const struct sk_wire *wire, struct silken_request **request) {
    struct silken_request *r;
    int rc;

    if (!is_reducible(c, tensor))
        return SILKEN_ERR_INVALID;
    if (c->config.f16 && tensor->type == SILKEN_I32)
        return SILKEN_ERR_UNSUPPORTED;
    r = calloc(1, sizeof *r + c->lanes * sizeof r->share[0]);
    if (!r)
        return SILKEN_ERR_NOMEM;
    if (wire)
        r->wire = *wire;
    rc = allreduce_begin(c, tensor, r);
    if (rc != 0) {
        free(r);
        return rc;
    }
    *request = r;
    return 0;
}

int sk_comm_submit(struct silken_comm *comm, const struct sk_tensor *tensor,
                   const struct sk_wire *wire, struct silken_request **request) {
    return allreduce_submit(comm, tensor, wire, request);
}

bool sk_comm_halves(const struct silken_comm *comm) {
    return comm->config.f16;
}

int sk_comm_audiences(struct silken_comm *comm) {
    bool audiences = comm->config.protocol == SILKEN_SWITCHML && !comm->config.f16 &&
                     comm->lanes == 1 && sk_lane_audiences(&comm->lane[0]);
    int rc = fault_of(comm);

    return rc ? rc : audiences;
}

int silken_submit(struct silken_comm *comm, const void *in, void *out, size_t count,
                  enum silken_type type, enum silken_op op, struct silken_request **request) {
    struct sk_tensor tensor;
    struct sk_wire wire;
    int rc = sk_wire_begin(&wire, &tensor, in, out, count, type, op, comm->config.workers,
                           comm->config.f16);

    rc = rc ? rc : allreduce_submit(comm, &tensor, &wire, request);
    if (rc != 0)
        sk_wire_free(&wire);
    return rc;
}

int silken_submit_f32(struct silken_comm *comm, const float *in, float *out, size_t count,
                      struct silken_request **request) {
    struct sk_tensor tensor = {.type = SILKEN_F32, .in = in, .out = out, .count = count};

    return allreduce_submit(comm, &tensor, NULL, request);
}

int silken_submit_i32(struct silken_comm *comm, const int32_t *in, int32_t *out, size_t count,
                      struct silken_request **request) {
    struct sk_tensor tensor = {.type = SILKEN_I32, .in = in, .out = out, .count = count};

    return allreduce_submit(comm, &tensor, NULL, request);
}

// Waits for all shares and takes the request out of the list.
static int allreduce_end(struct silken_request *r) {
    struct silken_comm *c = r->comm;
    int result = 0;

    // Nobody's session starts without all our lanes, also those that have no share in this.
    for (uint32_t i = 0; i < c->lanes; i++)
        sk_lane_join(&c->lane[i]);
    for (uint32_t i = 0; i < c->lanes; i++) {
        int rc = sk_lane_wait(&c->lane[i], &r->share[i]);
        result = result ? result : rc;
    }
    pthread_mutex_lock(&c->submitting);
    allreduce_take_out(r);
    pthread_mutex_unlock(&c->submitting);
    return result ? result : sk_wire_end(&r->wire);
}

int silken_wait(struct silken_request *request) {
    int result = allreduce_end(request);

    free_request(request);
    return result;
}

int silken_test(struct silken_request *request) {
    struct silken_comm *c = request->comm;
    bool ended = true;

    for (uint32_t i = 0; i < c->lanes; i++)
        ended &= sk_lane_test(&c->lane[i], &request->share[i]);
    return ended ? silken_wait(request) : SILKEN_ERR_AGAIN;
}

static int allreduce_push(struct silken_comm *c, const struct sk_tensor *tensor,
                          struct silken_request **request) {
    struct sk_tensor kept = *tensor;
    int rc;

    if (kept.count > SIZE_MAX / 8)
        return SILKEN_ERR_INVALID;
    kept.out = malloc(kept.count ? 4 * kept.count : 1);
    if (!kept.out)
        return SILKEN_ERR_NOMEM;
    rc = allreduce_submit(c, &kept, NULL, request);
    if (rc != 0) {
        free(kept.out);
        return rc;
    }
    (*request)->pushed = kept.out;
    return 0;
}

int silken_push_f32(struct silken_comm *comm, const float *in, size_t count,
                    struct silken_request **request) {
    struct sk_tensor tensor = {.type = SILKEN_F32, .in = in, .count = count};

    return allreduce_push(comm, &tensor, request);
}

int silken_push_i32(struct silken_comm *comm, const int32_t *in, size_t count,
                    struct silken_request **request) {
    struct sk_tensor tensor = {.type = SILKEN_I32, .in = in, .count = count};

    return allreduce_push(comm, &tensor, request);
}

static int pull(struct silken_request *r, enum silken_type type, void *out) {
    int result;

    if (!r->pushed || r->type != type || (r->count > 0 && !out))
        return SILKEN_ERR_INVALID;
    result = allreduce_end(r);
    if (result == 0 && r->count > 0)
        memcpy(out, r->pushed, 4 * r->count);
    free_request(r);
    return result;
}

int silken_pull_f32(struct silken_request *request, float *out) {
    return pull(request, SILKEN_F32, out);
}

int silken_pull_i32(struct silken_request *request, int32_t *out) {
    return pull(request, SILKEN_I32, out);
}

int silken_allreduce(struct silken_comm *comm, const void *in, void *out, size_t count,
                     enum silken_type type, enum silken_op op) {
    struct silken_request *request;
    int rc = silken_submit(comm, in, out, count, type, op, &request);

    return rc ? rc : silken_wait(request);
}

uint32_t silken_rank(const struct silken_comm *comm) {
    return comm->config.rank;
}

uint32_t silken_workers(const struct silken_comm *comm) {
    return comm->config.workers;
}

int silken_allreduce_f32(struct silken_comm *comm, const float *in, float *out, size_t count) {
    struct silken_request *request;
    int rc = silken_submit_f32(comm, in, out, count, &request);

    return rc ? rc : silken_wait(request);
}

int silken_allreduce_i32(struct silken_comm *comm, const int32_t *in, int32_t *out, size_t count) {
    struct silken_request *request;
    int rc = silken_submit_i32(comm, in, out, count, &request);

    return rc ? rc : silken_wait(request);
}

// ---- another shape ---------------------------------------------------------------------------

int silken_reshape(struct silken_comm *comm, const uint32_t *rack, char *why, size_t why_cap) {
    struct silken_config shape = comm->config;
    int rc = 0;

    shape.atp.rack = rack;
    if (!comm->protocol->places) {
        snprintf(why, why_cap, "workers of this protocol have no position");
        return SILKEN_ERR_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < comm->lanes && rc == 0; i++) {
        void *places;
        rc = comm->protocol->places(&places, &shape, why, why_cap);
        if (rc == 0)
            sk_lane_move(&comm->lane[i], places);
    }
    return rc;
}

// ---- counters --------------------------------------------------------------------------------

static uint64_t allreduce_larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

// A tensor is reduced when all lanes have reduced their parts, or the one that has it whole.
static void allreduce_add_stats(struct silken_stats *s, const struct silken_stats *lane,
                                bool whole) {
    uint64_t least = lane->tensors < s->tensors ? lane->tensors : s->tensors;

    s->tensors = whole ? s->tensors + lane->tensors : least;
    s->elements += lane->elements;
    s->busy_ns = allreduce_larger(s->busy_ns, lane->busy_ns);
    s->packets_sent += lane->packets_sent;
    s->retransmissions += lane->retransmissions;
    s->answers += lane->answers;
    for (int i = 0; i < SILKEN_IGNORED_KINDS; i++)
        s->ignored[i] += lane->ignored[i];
    s->losses += lane->losses;
    s->timeouts += lane->timeouts;
    s->overflows += lane->overflows;
    s->marks += lane->marks;
    s->rehashed += lane->rehashed;
    s->rtt_ns = allreduce_larger(s->rtt_ns, lane->rtt_ns);
    s->rto_ns = allreduce_larger(s->rto_ns, lane->rto_ns);
    s->tx_bytes += lane->tx_bytes;
    s->rx_bytes += lane->rx_bytes;
    s->tx_full += lane->tx_full;
    s->rx_dropped += lane->rx_dropped;
}

void silken_stats(struct silken_comm *comm, struct silken_stats *stats) {
    bool whole = comm->protocol->whole;

    *stats = (struct silken_stats){.tensors = whole ? 0 : UINT64_MAX};
    for (uint32_t i = 0; i < comm->lanes; i++) {
        struct silken_stats lane = sk_lane_stats(&comm->lane[i]);
        allreduce_add_stats(stats, &lane, whole);
    }
}

void silken_segments(struct silken_comm *comm, uint64_t *sent, uint64_t *received) {
    *sent = *received = 0;
    for (uint32_t i = 0; i < comm->lanes; i++)
        sk_lane_segments(&comm->lane[i], sent, received);
}

int silken_dlcp_layer(struct silken_comm *comm, uint32_t layer, uint32_t layers) {
    if (comm->config.protocol != SILKEN_DLCP)
        return SILKEN_ERR_UNSUPPORTED;
    if (layers > 0 && layer >= layers)
        return SILKEN_ERR_INVALID;
    pthread_mutex_lock(&comm->submitting);
    comm->layer = layer;
    comm->layers = layers;
    pthread_mutex_unlock(&comm->submitting);
    return 0;
}

int silken_dlcp_job_stats(struct silken_comm *comm, struct silken_dlcp_job_stats *stats) {
    struct sk_lane *lane = &comm->lane[0];

    if (comm->config.protocol != SILKEN_DLCP)
        return SILKEN_ERR_UNSUPPORTED;
    pthread_mutex_lock(&lane->lock);
    sk_dlcp_engine_stats(lane->drive.engine, stats);
    pthread_mutex_unlock(&lane->lock);
    return 0;
}

const char *silken_ignored_name(enum silken_protocol protocol, unsigned kind) {
    return protocol_of(protocol) ? protocol_of(protocol)->ignored_name(kind) : NULL;
}
