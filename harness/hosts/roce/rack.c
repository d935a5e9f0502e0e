// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/roce/rack.h"

#include <stdlib.h>
#include <string.h>

#include "control/tables/control.h"
#include "harness/net/program.h"

#define GROUP   1
#define SESSION 3
#define FIRST_Q 0x200 // the workers' queue pairs, and so on
#define RKEY    0x1234567u

enum rack_event_kind { RACK_AT_SWITCH, RACK_AT_WORKER };

struct rack_event {
    struct net_event when;
    enum rack_event_kind kind;
    unsigned worker;
    size_t length;
    uint8_t frame[ROCE_MAX_FRAME];
};

struct rack {
    struct rack_options options;
    struct sk_random random;
    struct sk_switch *sw;
    struct roce_worker *workers[RACK_WORKERS];
    struct net_events events;
    uint64_t now;
    struct rack_traffic traffic;
};

static uint16_t rack_port(const struct rack *r, unsigned worker) {
    return (uint16_t)(r->options.spread ? worker % SK_PIPES << 7 | worker : worker);
}

static struct sk_endpoint rack_host(unsigned worker) {
    return (struct sk_endpoint){
        {2, 0, 0, 0, 0, (uint8_t)(worker + 1)}, ROCE_UDP_PORT, 0x0a000001 + worker};
}

static const struct sk_endpoint rack_fabric = {{2, 0, 0, 0, 1, 0}, ROCE_UDP_PORT, 0x0a0000fe};

static uint32_t rack_rid(unsigned worker) {
    return worker + 1;
}

// ---- links -------------------------------------------------------------------------------------

static void rack_copy(struct rack *r, enum rack_event_kind kind, unsigned worker,
                      const uint8_t *frame, size_t length) {
    const struct net_link *link = kind == RACK_AT_SWITCH ? &r->options.up : &r->options.down;
    struct rack_event *e = net_must(malloc(sizeof *e));

    e->kind = kind;
    e->worker = worker;
    e->length = length;
    memcpy(e->frame, frame, length);
    if (sk_random_chance(&r->random, r->options.damage)) {
        // a link's own check finds what the invariant CRC does not cover
        const size_t at = ROCE_BTH_AT + 5 + sk_random_below(&r->random, length - ROCE_BTH_AT - 5);
        e->frame[at] ^= (uint8_t)(1u << sk_random_below(&r->random, 8));
        r->traffic.damaged++;
    }
    net_events_push(&r->events, &e->when, net_link_arrival(link, &r->random, r->now));
}

static void rack_send(struct rack *r, enum rack_event_kind kind, unsigned worker,
                      const uint8_t *frame, size_t length) {
    const struct net_link *link = kind == RACK_AT_SWITCH ? &r->options.up : &r->options.down;

    r->traffic.sent++;
    if (sk_random_chance(&r->random, link->loss)) {
        r->traffic.lost++;
        return;
    }
    rack_copy(r, kind, worker, frame, length);
    if (sk_random_chance(&r->random, link->duplicate)) {
        r->traffic.doubled++;
        rack_copy(r, kind, worker, frame, length);
    }
}

// ---- the switch --------------------------------------------------------------------------------

static bool rack_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct rack *r = aux;
    const unsigned worker = sk_port_local(port);

    if (worker >= r->options.workers || length > ROCE_MAX_FRAME)
        net_die("output", "a frame for nobody, or too long");
    if (!roce_is(frame, length) || !roce_crc_is_right(frame))
        net_die("output", "not RoCE with a right invariant CRC");
    rack_send(r, RACK_AT_WORKER, worker, frame, length);
    return true;
}

static void rack_writer(struct rack *r, unsigned worker, bool begins) {
    char n[12][24];
    const uint32_t slots = r->options.pairs * r->options.slots, last = 2 * (slots - 1);
    const char *keys[] = {"hdr.ipv4.src_addr",
                          NET_NUMBER(n[0], rack_host(worker).ip),
                          "hdr.ipv4.dst_addr",
                          NET_NUMBER(n[1], rack_fabric.ip),
                          "ig_intr_md.ingress_port",
                          NET_NUMBER(n[2], rack_port(r, worker)),
                          "queue_pairs",
                          NET_NUMBER(n[3], SESSION << 8 | rack_rid(worker)),
                          "begins",
                          NET_NUMBER(n[4], begins),
                          NULL};
    const char *args[] = {"worker_bit",
                          NET_NUMBER(n[5], UINT64_C(1) << worker),
                          "num_workers",
                          NET_NUMBER(n[6], r->options.workers),
                          "group",
                          "1",
                          "rid",
                          NET_NUMBER(n[7], rack_rid(worker)),
                          "port",
                          n[2],
                          begins ? "first" : "end",
                          NET_NUMBER(n[8], 0x8000 + (begins ? 0 : last)),
                          begins ? "last" : NULL,
                          NET_NUMBER(n[9], last + 1),
                          NULL};

    net_entry(r->sw, "writers", keys, begins ? "begin" : "go_on", args);
}

static void rack_pair(struct rack *r, unsigned worker, uint32_t pair) {
    char n[5][24];
    const char *keys[] = {"md.rid", NET_NUMBER(n[0], rack_rid(worker)), "queue_pair",
                          NET_NUMBER(n[1], pair), NULL};
    const char *args[] = {
        "qpn",  NET_NUMBER(n[2], FIRST_Q + pair), "rkey_high", NET_NUMBER(n[3], RKEY >> 16),
        "rkey", NET_NUMBER(n[4], RKEY & 0xffff),  NULL};

    net_entry(r->sw, "queue_pairs", keys, "queue_pair", args);
}

// The first numbers of a queue pair, in both directions.
static void rack_numbers(struct rack *r, unsigned worker, uint32_t pair) {
    const uint32_t index = rack_rid(worker) << 6 | pair;
    char n[2][24];
    struct sk_error err;

    NET_NUMBER(n[0], (uint64_t)r->options.psn << 8 | 1);
    NET_NUMBER(n[1], (uint64_t)r->options.psn << 8);
    if (sk_control_register_write(r->sw, "answers", index, "psn", n[0], -1, &err) < 0 ||
        sk_control_register_write(r->sw, "progress", index, "next", n[1], -1, &err) < 0)
        net_die("register", err.text);
}

static void rack_worker_entries(struct rack *r, unsigned worker) {
    const struct sk_endpoint host = rack_host(worker);
    char n[3][24], mac[24];
    const char *keys[] = {"md.rid", NET_NUMBER(n[0], rack_rid(worker)), NULL};
    const char *args[] = {
        "mac", mac, "ip", NET_NUMBER(n[1], host.ip), "udp_port", NET_NUMBER(n[2], ROCE_UDP_PORT),
        NULL};

    snprintf(mac, sizeof mac, "02:00:00:00:00:%02x", host.mac[5]);
    net_entry(r->sw, "receivers", keys, "address", args);
    rack_writer(r, worker, true);
    rack_writer(r, worker, false);
    for (uint32_t q = 0; q < r->options.pairs; q++) {
        rack_pair(r, worker, q);
        rack_numbers(r, worker, q);
    }
}

static void rack_switch(struct rack *r, const struct sk_program *program) {
    struct sk_pre_member member[RACK_WORKERS] = {0};

    r->sw = net_switch(program, rack_tx, r);
    for (unsigned i = 0; i < r->options.workers; i++) {
        const uint16_t port = rack_port(r, i);
        rack_worker_entries(r, i);
        if (sk_pre_node_set(r->sw, i + 1, (uint16_t)rack_rid(i), &port, 1) < 0)
            net_die("multicast", "node refused");
        member[i].node = i + 1;
        sk_switch_port_up(r->sw, port, true);
    }
    if (sk_pre_group_set(r->sw, GROUP, member, r->options.workers) < 0)
        net_die("multicast", "group refused");
}

// ---- workers -----------------------------------------------------------------------------------

struct rack *rack_new(const struct sk_program *program, const struct rack_options *options) {
    struct rack *r = net_must(calloc(1, sizeof *r));

    r->options = *options;
    r->random = sk_random_seeded(options->seed);
    rack_switch(r, program);
    for (unsigned i = 0; i < options->workers; i++) {
        const struct roce_config config = {.worker = rack_host(i),
                                           .fabric = rack_fabric,
                                           .pairs = options->pairs,
                                           .slots = options->slots,
                                           .k = options->k,
                                           .workers = options->workers,
                                           .qpn = FIRST_Q,
                                           .fabric_qpn = SESSION << 14 | rack_rid(i) << 6,
                                           .psn = options->psn,
                                           .fabric_psn = options->psn,
                                           .rkey = RKEY,
                                           .rto_first = 300000,
                                           .rto_min = 50000,
                                           .rto_max = 5000000,
                                           .limit = UINT64_C(100000000000)};
        const char *why = "no memory";
        if (roce_worker_new(&r->workers[i], &config, &why) < 0)
            net_die("worker", why);
    }
    return r;
}

void rack_free(struct rack *r) {
    while (r->events.length > 0)
        free(net_events_pop(&r->events));
    net_events_free(&r->events);
    for (unsigned i = 0; i < r->options.workers; i++)
        roce_worker_free(r->workers[i]);
    sk_switch_free(r->sw);
    free(r);
}

static void rack_serve(struct rack *r, unsigned worker) {
    uint8_t frame[ROCE_MAX_FRAME];
    size_t length;

    while ((length = roce_worker_write(r->workers[worker], frame, r->now)) > 0)
        rack_send(r, RACK_AT_SWITCH, worker, frame, length);
}

static void rack_arrive(struct rack *r, struct rack_event *e) {
    if (e->kind == RACK_AT_WORKER) {
        roce_worker_read(r->workers[e->worker], e->frame, e->length, r->now);
        rack_serve(r, e->worker);
    } else {
        sk_switch_rx(r->sw, rack_port(r, e->worker), e->frame, (uint32_t)e->length, r->now);
        sk_switch_run(r->sw, r->now);
    }
    free(e);
}

static uint64_t rack_deadline(struct rack *r) {
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < r->options.workers; i++) {
        const uint64_t at = roce_worker_deadline(r->workers[i]);
        first = at < first ? at : first;
    }
    return first;
}

static bool rack_busy(const struct rack *r) {
    for (unsigned i = 0; i < r->options.workers; i++)
        if (roce_worker_busy(r->workers[i]))
            return true;
    return false;
}

static bool rack_wake(struct rack *r, uint64_t now) {
    r->now = now;
    for (unsigned i = 0; i < r->options.workers; i++) {
        if (!roce_worker_expire(r->workers[i], now))
            return false;
        rack_serve(r, i);
    }
    return true;
}

bool rack_sum(struct rack *r, enum silken_type type, void *const values[], size_t count) {
    for (unsigned i = 0; i < r->options.workers; i++) {
        const struct roce_tensor tensor = {type, values[i], values[i], count};
        if (roce_worker_submit(r->workers[i], &tensor, r->now) < 0)
            return false;
        rack_serve(r, i);
    }
    while (rack_busy(r)) {
        const uint64_t deadline = rack_deadline(r);
        if (r->events.length > 0 && r->events.heap[0]->time <= deadline) {
            struct rack_event *e = (struct rack_event *)net_events_pop(&r->events);
            r->now = e->when.time;
            rack_arrive(r, e);
        } else if (!rack_wake(r, deadline)) {
            return false;
        }
    }
    return true;
}

struct rack_traffic rack_traffic(const struct rack *r) {
    struct rack_traffic traffic = r->traffic;

    struct sk_switch_stats stats;

    sk_switch_stats(r->sw, &stats);
    traffic.refused = stats.drops[SK_DROP_ROCE_CRC];
    return traffic;
}

struct roce_stats rack_stats(const struct rack *r, unsigned worker) {
    return roce_worker_stats(r->workers[worker]);
}
