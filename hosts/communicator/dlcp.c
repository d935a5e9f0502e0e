// SPDX-License-Identifier: Apache-2.0
//
// silken/dlcp.h: a station of DLCP (hosts/dlcp/station.h) in real time.
#include "silken/dlcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hosts/communicator/drive.h"
#include "hosts/communicator/join.h"
#include "hosts/communicator/protocol.h"
#include "hosts/communicator/protocol_dlcp.h"

_Static_assert(SILKEN_DLCP_SEGMENT == DLCP_ELEMENTS, "one meaning");

struct silken_dlcp_flow {
    struct silken_dlcp_flow *next; // in the list of those that have ended
    struct silken_dlcp *station;
    struct dlcp_flow *flow;
    struct silken_dlcp_tensor tensor;
    struct dlcp_sums sums;
    bool sent, ended;
    uint32_t looked; // for what is missing: segments
};

struct silken_dlcp {
    struct sk_engine engine; // the first member
    struct dlcp_station *station;
    struct sk_drive drive;
    struct silken_dlcp_flow *ended, **last;
};

// ---- the engine ------------------------------------------------------------------------------

static struct dlcp_station *dlcp_station_of(const struct sk_engine *e) {
    return ((const struct silken_dlcp *)e)->station;
}

static size_t dlcp_engine_write(struct sk_engine *e, uint8_t *buf, size_t cap, uint64_t now) {
    return dlcp_station_write(dlcp_station_of(e), buf, cap, now);
}

static uint32_t dlcp_engine_queued(const struct sk_engine *e) {
    return dlcp_station_busy(dlcp_station_of(e));
}

static void dlcp_engine_read(struct sk_engine *e, const uint8_t *frame, size_t len, uint64_t now) {
    dlcp_station_read(dlcp_station_of(e), frame, len, now);
}

static uint64_t dlcp_engine_deadline(struct sk_engine *e) {
    return dlcp_station_deadline(dlcp_station_of(e));
}

static unsigned dlcp_engine_expire(struct sk_engine *e, uint64_t now) {
    (void)e, (void)now; // a flow fails alone
    return 0;
}

static const struct sk_engine_ops dlcp_engine_ops = {
    .write = dlcp_engine_write,
    .queued = dlcp_engine_queued,
    .read = dlcp_engine_read,
    .deadline = dlcp_engine_deadline,
    .expire = dlcp_engine_expire,
};

// ---- stations --------------------------------------------------------------------------------

void silken_dlcp_config_init_sized(struct silken_dlcp_config *config, size_t size) {
    const struct silken_dlcp_config all = {
        .size = (uint16_t)size,
        .cpu = -1,
        .link_mbps = 10000,
        .first_port = 50000,
        .ports = 1,
        .period_us = 200,
        .burst_us = 200,
        .rto_min_us = 2000,
        .rto_max_us = 200000,
        .rto_initial_us = 20000,
        .hard_limit_ms = 30000,
    };
    memset(config, 0, size);
    memcpy(config, &all, size < sizeof all ? size : sizeof all);
}

static int dlcp_refuse(char *why, size_t why_cap, int rc, const char *text) {
    snprintf(why, why_cap, "%s", text);
    return rc;
}

static int dlcp_new_station(struct dlcp_station **st, const struct silken_dlcp_config *f, char *why,
                            size_t why_cap) {
    struct dlcp_station_config c = {
        .first_port = f->first_port,
        .ports = f->ports,
        .link = (uint64_t)f->link_mbps * 1000000,
        .period = f->period_us * SK_US,
        .burst = f->burst_us * SK_US,
        .rto_initial = f->rto_initial_us * SK_US,
        .rto_min = f->rto_min_us * SK_US,
        .rto_max = f->rto_max_us * SK_US,
        .hard_limit = sk_limit(f->hard_limit_ms),
        .nonce = (uint32_t)sk_randomness_next(&sk_random_of_kernel),
    };
    const char *fault = "out of memory";
    if (!sk_endpoint_parse(&c.self, f->self.mac, f->self.ip, DLCP_PORT))
        return dlcp_refuse(why, why_cap, SILKEN_ERR_INVALID,
                           "self must be addresses like 02:00:00:00:01:00 and 10.0.0.1");
    int rc = dlcp_station_new(st, &c, &fault);
    return rc ? dlcp_refuse(why, why_cap, rc, fault) : 0;
}

static int dlcp_open_transport(struct sk_transport **t, const struct silken_dlcp_config *f,
                               char *why, size_t why_cap) {
    if (f->transport) {
        *t = f->transport;
        return 0;
    }
    if (!f->device)
        return dlcp_refuse(why, why_cap, SILKEN_ERR_INVALID,
                           "neither a device nor a transport is given");
    if (sk_transport_udp_address(f->device))
        return dlcp_refuse(why, why_cap, SILKEN_ERR_UNSUPPORTED,
                           "udp: devices lose what DLCP's packets say to switches");
    return sk_transport_open(t, f->device, f->cpu, why, why_cap);
}

int silken_dlcp_open(struct silken_dlcp **station, const struct silken_dlcp_config *config,
                     char *why, size_t why_cap) {
    if (config->size != sizeof *config)
        return dlcp_refuse(why, why_cap, SILKEN_ERR_INVALID,
                           "the configuration was not made by this version's "
                           "silken_dlcp_config_init()");
    struct silken_dlcp *new = calloc(1, sizeof *new);
    if (!new)
        return dlcp_refuse(why, why_cap, SILKEN_ERR_NOMEM, "out of memory");
    new->engine.ops = &dlcp_engine_ops;
    new->last = &new->ended;
    new->drive.engine = &new->engine;
    int rc = dlcp_new_station(&new->station, config, why, why_cap);
    rc = rc ? rc : dlcp_open_transport(&new->drive.transport, config, why, why_cap);
    if (rc) {
        dlcp_station_free(new->station);
        free(new);
        return rc;
    }
    *station = new;
    return 0;
}

static void dlcp_free_ended(struct silken_dlcp *d) {
    while (d->ended) {
        struct silken_dlcp_flow *f = d->ended;
        d->ended = f->next;
        free(f);
    }
}

// Flows that have not ended are the station's cookies.
void silken_dlcp_close(struct silken_dlcp *d) {
    if (!d)
        return;
    void *cookie;
    while ((cookie = dlcp_station_take_any(d->station)))
        free(cookie);
    dlcp_free_ended(d);
    sk_transport_close(d->drive.transport);
    dlcp_station_free(d->station);
    free(d);
}

// ---- flows -----------------------------------------------------------------------------------

static bool dlcp_bound_of(double share, uint32_t *bound) {
    *bound = share >= 0 && share < 1 ? (uint32_t)(share * DLCP_ALL + 0.5) : DLCP_ALL;
    return *bound < DLCP_ALL;
}

static struct dlcp_name dlcp_name_of(const struct silken_dlcp_tensor *t) {
    return (struct dlcp_name){
        .iteration = t->iteration, .tensor = t->tensor, .job = t->job, .pull = t->pull};
}

static bool dlcp_is_tensor(const struct silken_dlcp_tensor *t, const struct silken_address *a,
                           struct sk_endpoint *end) {
    return t->values && t->count > 0 && t->count <= UINT32_C(1) << 31 &&
           (t->layers == 0 || t->layer < t->layers) &&
           sk_endpoint_parse(end, a->mac, a->ip, DLCP_PORT);
}

static struct silken_dlcp_flow *dlcp_new_flow(struct silken_dlcp *d,
                                              const struct silken_dlcp_tensor *t, bool sent) {
    struct silken_dlcp_flow *f = calloc(1, sizeof *f);
    if (f) {
        f->station = d;
        f->tensor = *t;
        f->sent = sent;
        f->sums = (struct dlcp_sums){t->values, t->sums, DLCP_ELEMENTS};
    }
    return f;
}

bool silken_dlcp_prio_paper(void *context, const float *values, uint32_t count, uint32_t segment) {
    (void)context, (void)values, (void)count, (void)segment;
    return true; // silken_dlcp_send() knows it by its address
}

int silken_dlcp_send(struct silken_dlcp *d, const struct silken_address *to,
                     const struct silken_dlcp_tensor *t, silken_dlcp_prio *prio_func, void *context,
                     struct silken_dlcp_flow **flow) {
    const bool paper = prio_func == silken_dlcp_prio_paper;
    struct sk_endpoint end;
    struct dlcp_sender_config c = {
        .name = dlcp_name_of(t),
        .values = t->values,
        .elements = (uint32_t)t->count,
        .segment = DLCP_ELEMENTS,
        .contributions = t->contributions ? t->contributions : 1,
        .segment_contributions = t->segment_contributions,
        .prio = paper ? NULL : prio_func,
        .prio_aux = context,
        .threshold = paper ? DLCP_MEDIAN_OF_VALUES : DLCP_MEDIAN_OF_MEANS,
    };
    if (!dlcp_is_tensor(t, to, &end) || !dlcp_bound_of(t->bound, &c.bound))
        return SILKEN_ERR_INVALID;
    c.class = t->layers ? dlcp_class(t->layer, t->layers) : 0;
    struct silken_dlcp_flow *f = dlcp_new_flow(d, t, true);
    int rc = f ? dlcp_station_send(d->station, &end, &c, f, sk_clock_now(), &f->flow, NULL)
               : SILKEN_ERR_NOMEM;
    if (rc) {
        free(f);
        return rc;
    }
    *flow = f;
    return 0;
}

int silken_dlcp_recv(struct silken_dlcp *d, const struct silken_address *from,
                     const struct silken_dlcp_tensor *t, double bound,
                     struct silken_dlcp_flow **flow) {
    struct sk_endpoint end;
    struct dlcp_receiver_config c = {.name = dlcp_name_of(t),
                                     .elements = (uint32_t)t->count,
                                     .segment = DLCP_ELEMENTS,
                                     .out = t->values};
    if (!dlcp_is_tensor(t, from, &end) || !dlcp_bound_of(bound, &c.bound))
        return SILKEN_ERR_INVALID;
    struct silken_dlcp_flow *f = dlcp_new_flow(d, t, false);
    if (f && t->sums) {
        c.place = dlcp_sums_place;
        c.place_aux = &f->sums;
    }
    int rc = f ? dlcp_station_recv(d->station, &end, &c, f, sk_clock_now(), &f->flow, NULL)
               : SILKEN_ERR_NOMEM;
    if (rc) {
        free(f);
        return rc;
    }
    *flow = f;
    return 0;
}

// ---- time ------------------------------------------------------------------------------------

static void dlcp_collect(struct silken_dlcp *d) {
    struct dlcp_flow *flow;
    while ((flow = dlcp_station_done(d->station))) {
        struct silken_dlcp_flow *f = dlcp_flow_cookie(flow);
        f->ended = true;
        f->next = NULL;
        *d->last = f;
        d->last = &f->next;
    }
}

static void dlcp_step(struct silken_dlcp *d) {
    unsigned events;
    if (!sk_drive_step(&d->drive, sk_clock_now(), &events))
        sk_drive_rest(&d->drive);
    dlcp_collect(d);
}

static void dlcp_take_out(struct silken_dlcp *d, const struct silken_dlcp_flow *f) {
    struct silken_dlcp_flow **at = &d->ended;
    while (*at && *at != f)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = f->next;
    if (d->last == &f->next)
        d->last = at;
}

int silken_dlcp_result(const struct silken_dlcp_flow *f) {
    return !f->ended ? SILKEN_ERR_AGAIN : dlcp_flow_failed(f->flow) ? SILKEN_ERR_STALLED : 0;
}

int silken_dlcp_wait(struct silken_dlcp_flow *f) {
    while (!f->ended)
        dlcp_step(f->station);
    dlcp_take_out(f->station, f);
    return silken_dlcp_result(f);
}

struct silken_dlcp_flow *silken_dlcp_next(struct silken_dlcp *d, uint32_t ms) {
    const uint64_t until = sk_clock_now() + ms * SK_MS;
    do {
        dlcp_step(d);
    } while (!d->ended && sk_clock_now() < until);
    struct silken_dlcp_flow *f = d->ended;
    if (f)
        dlcp_take_out(d, f);
    return f;
}

void silken_dlcp_run(struct silken_dlcp *d, uint32_t ms) {
    const uint64_t until = sk_clock_now() + ms * SK_MS;
    do {
        dlcp_step(d);
    } while (sk_clock_now() < until);
}

// ---- results ---------------------------------------------------------------------------------

const struct silken_dlcp_tensor *silken_dlcp_tensor_of(const struct silken_dlcp_flow *f) {
    return &f->tensor;
}

bool silken_dlcp_is_sent(const struct silken_dlcp_flow *f) {
    return f->sent;
}

size_t silken_dlcp_elements(const struct silken_dlcp_flow *f) {
    return f->sent ? f->tensor.count : dlcp_receiver_elements(dlcp_flow_receiver(f->flow));
}

bool silken_dlcp_missing(struct silken_dlcp_flow *f, size_t *first, size_t *count) {
    const uint32_t elements = (uint32_t)f->tensor.count;
    const uint32_t segments = dlcp_segments(elements, DLCP_ELEMENTS);
    const struct dlcp_receiver *r = dlcp_flow_receiver(f->flow);
    uint32_t i = f->looked;
    while (r && i < segments && dlcp_receiver_has(r, i))
        i++;
    f->looked = segments;
    if (!r || i == segments)
        return false;
    *first = (size_t)i * DLCP_ELEMENTS;
    while (i < segments && !dlcp_receiver_has(r, i))
        i++;
    *count = (i < segments ? (size_t)i * DLCP_ELEMENTS : elements) - *first;
    f->looked = i;
    return true;
}

uint32_t silken_dlcp_marked(const struct silken_dlcp_flow *f) {
    return f->sent ? dlcp_sender_marked(dlcp_flow_sender(f->flow)) : 0;
}

void silken_dlcp_end(struct silken_dlcp_flow *f) {
    if (!f)
        return;
    dlcp_take_out(f->station, f);
    dlcp_station_give_back(f->station->station, f->flow);
    free(f);
}

void silken_dlcp_stats(const struct silken_dlcp *d, struct silken_dlcp_stats *stats) {
    const struct dlcp_station_stats s = dlcp_station_stats(d->station);
    sk_dlcp_stats(stats, &s);
}

const char *silken_dlcp_refused(const struct silken_dlcp *d, unsigned kind, uint64_t *n) {
    if (kind == DLCP_ACCEPTED || kind >= DLCP_REASON_COUNT)
        return NULL;
    *n = dlcp_station_stats(d->station).refused[kind];
    return dlcp_reason_name((enum dlcp_reason)kind);
}

void sk_dlcp_stats(struct silken_dlcp_stats *stats, const struct dlcp_station_stats *s) {
    *stats = (struct silken_dlcp_stats){
        .packets_sent = s->sent.data,
        .repeated = s->sent.repeated,
        .important = s->sent.important,
        .signals = s->sent.signals + s->received.signals,
        .rate_halved = s->sent.halved,
        .rate_least = s->sent.least,
        .packets_came = s->came,
        .packets_lost = s->expected > s->came ? s->expected - s->came : 0,
        .needless = s->received.needless,
        .rounds = s->received.missing,
        .paths_left = s->left,
        .marked = s->marked,
        .segments = s->segments,
    };
    for (unsigned i = 1; i < DLCP_REASON_COUNT; i++)
        stats->refused += s->refused[i];
}
