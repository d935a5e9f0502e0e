// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/atp/net.h"

#include <stdlib.h>
#include <string.h>

#include "control/tables/control.h"
#include "harness/net/program.h"

#define HOST_PORTS 40 // of a switch: 0..39 for hosts, from here on for the other switches
#define MAX_GROUPS 8

enum event_kind { EVENT_AT_SWITCH, EVENT_AT_HOST, EVENT_TIMER, EVENT_CALL };

struct event {
    struct net_event when;
    enum event_kind kind;
    unsigned to;   // switch or host
    unsigned port; // of the switch
    struct event *next_free;
    void (*call)(void *);
    void *context;
    uint8_t frame[ATP_FRAME_BYTES];
};

struct host {
    struct atp_worker *worker;
    struct atp_server *server;
    struct atp_flow flow;
    bool is_server;
    unsigned rack;
    uint64_t timer_at;
};

struct node {
    struct net *net;
    struct sk_switch *sw;
    unsigned index;
};

struct net {
    struct net_options options;
    struct sk_random random;
    struct node nodes[NET_MAX_RACKS];
    struct host hosts[NET_MAX_HOSTS];
    unsigned host_count;
    uint64_t now;
    bool failed;
    struct net_events events;
    struct event *free_events;
    struct net_traffic traffic;
};

// ---- events and links ------------------------------------------------------------------------

static struct event *new_event(struct net *net, enum event_kind kind, unsigned to) {
    struct event *e = net->free_events;

    if (e)
        net->free_events = e->next_free;
    else
        e = net_must(malloc(sizeof *e));
    e->kind = kind;
    e->to = to;
    return e;
}

static void release_event(struct net *net, struct event *e) {
    e->next_free = net->free_events;
    net->free_events = e;
}

static void send_copy(struct net *net, const struct net_link *link, enum event_kind kind,
                      unsigned to, unsigned port, const uint8_t *frame) {
    struct event *e = new_event(net, kind, to);

    e->port = port;
    memcpy(e->frame, frame, ATP_FRAME_BYTES);
    net_events_push(&net->events, &e->when, net_link_arrival(link, &net->random, net->now));
}

static void transmit(struct net *net, bool up, enum event_kind kind, unsigned to, unsigned port,
                     const uint8_t *frame) {
    const struct net_link *link = up ? &net->options.up : &net->options.down;

    net->traffic.sent++;
    if (sk_random_chance(&net->random, link->loss)) {
        net->traffic.lost++;
        return;
    }
    send_copy(net, link, kind, to, port, frame);
    if (sk_random_chance(&net->random, link->duplicate)) {
        net->traffic.duplicated++;
        send_copy(net, link, kind, to, port, frame);
    }
}

// ---- switches --------------------------------------------------------------------------------

// Of 40 hosts and 4 switches, 11 at each pipe, or all at the first one.
static uint16_t dev_port(const struct net *net, unsigned port) {
    return (uint16_t)(net->options.spread ? (port % SK_PIPES) << 7 | port / SK_PIPES : port);
}

static unsigned port_of(const struct net *net, uint16_t dev) {
    return net->options.spread ? (dev & 127u) * SK_PIPES + (dev >> 7) : dev;
}

static bool tx(void *aux, uint16_t dev, const uint8_t *frame, uint32_t length) {
    struct node *node = aux;
    struct net *net = node->net;
    unsigned port = port_of(net, dev);

    if (length != ATP_FRAME_BYTES)
        net_die("output", "of another length");
    if (port >= HOST_PORTS) { // up only to rack 0
        transmit(net, port == HOST_PORTS, EVENT_AT_SWITCH, port - HOST_PORTS,
                 HOST_PORTS + node->index, frame);
    } else {
        net->traffic.to_servers += net->hosts[port].is_server;
        transmit(net, net->hosts[port].is_server, EVENT_AT_HOST, port, 0, frame);
    }
    return true;
}

static void way_to(struct net *net, struct node *node, const uint8_t mac[6], const char *action,
                   const char *name, unsigned value) {
    char text[20], number[24];
    const char *key[] = {"hdr.ethernet.dst_addr", text, NULL};
    const char *args[] = {name, NET_NUMBER(number, value), NULL};

    (void)net;
    snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
             mac[4], mac[5]);
    net_entry(node->sw, "macs", key, action, args);
}

// The port of a switch that leads to a host.
static unsigned port_to(const struct node *node, const struct host *h, unsigned index) {
    if (h->rack == node->index)
        return index;
    return HOST_PORTS + (node->index == 0 ? h->rack : 0);
}

static void set_group(struct net *net, struct node *node, const struct host *server,
                      unsigned group) {
    struct sk_pre_member member = {.node = group};
    uint16_t ports[2 * HOST_PORTS];
    bool used[2 * HOST_PORTS] = {false};
    size_t n = 0;

    for (unsigned i = 0; i < net->host_count; i++) {
        const struct host *h = &net->hosts[i];
        if (!h->is_server && memcmp(h->flow.group.mac, server->flow.group.mac, 6) == 0 &&
            (node->index == 0 || h->rack == node->index))
            used[port_to(node, h, i)] = true;
    }
    for (unsigned p = 0; p < 2 * HOST_PORTS; p++)
        if (used[p])
            ports[n++] = dev_port(net, p);
    if (sk_pre_node_set(node->sw, group, 0, ports, n) < 0 ||
        sk_pre_group_set(node->sw, (uint16_t)group, &member, 1) < 0)
        net_die("multicast", "refused");
    way_to(net, node, server->flow.group.mac, "to_group", "group", group);
}

void net_start(struct net *net) {
    for (unsigned s = 0; s < net->options.racks; s++) {
        struct node *node = &net->nodes[s];
        unsigned groups = 0;

        for (unsigned p = 0; p < HOST_PORTS + NET_MAX_RACKS; p++)
            sk_switch_port_up(node->sw, dev_port(net, p), true);
        for (unsigned i = 0; i < net->host_count; i++) {
            const struct host *h = &net->hosts[i];
            const struct sk_endpoint *e = h->is_server ? &h->flow.server : &h->flow.worker;
            way_to(net, node, e->mac, "to_port", "port", dev_port(net, port_to(node, h, i)));
            if (h->is_server)
                set_group(net, node, h, ++groups);
        }
    }
}

unsigned net_owned(const struct net *net, uint32_t first, uint32_t count) {
    unsigned owned = 0;

    for (unsigned s = 0; s < net->options.racks; s++) {
        for (uint32_t i = first; i < first + count; i++) {
            uint64_t value[SK_PIPES] = {0};
            struct sk_error err;
            if (sk_control_register_read(net->nodes[s].sw, "owners", i & 0x3fff, "fragment", value,
                                         &err) < 0)
                net_die("owners", err.text);
            owned += value[i >> 14] != 0;
        }
    }
    return owned;
}

// ---- hosts -----------------------------------------------------------------------------------

static size_t host_write(struct net *net, struct host *h, uint8_t *frame) {
    if (h->is_server)
        return atp_server_write(h->server, frame, ATP_FRAME_BYTES, net->now);
    return h->worker ? atp_worker_write(h->worker, frame, ATP_FRAME_BYTES, net->now) : 0;
}

static uint64_t host_deadline(struct host *h) {
    if (h->is_server)
        return atp_server_deadline(h->server);
    return h->worker ? atp_worker_deadline(h->worker) : ATP_NEVER;
}

void net_serve(struct net *net, unsigned index) {
    struct host *h = &net->hosts[index];
    uint8_t frame[ATP_FRAME_BYTES];
    uint64_t deadline;

    while (host_write(net, h, frame) > 0)
        transmit(net, !h->is_server, EVENT_AT_SWITCH, h->rack, index, frame);
    deadline = host_deadline(h);
    if (deadline < h->timer_at) {
        h->timer_at = deadline;
        net_events_push(&net->events, &new_event(net, EVENT_TIMER, index)->when, deadline);
    }
}

static void at_host(struct net *net, const struct event *e) {
    struct host *h = &net->hosts[e->to];

    if (h->is_server)
        atp_server_read(h->server, e->frame, ATP_FRAME_BYTES, net->now);
    else if (h->worker)
        atp_worker_read(h->worker, e->frame, ATP_FRAME_BYTES, net->now);
    net_serve(net, e->to);
}

static void at_timer(struct net *net, const struct event *e) {
    struct host *h = &net->hosts[e->to];

    if (e->when.time == h->timer_at)
        h->timer_at = ATP_NEVER;
    if (h->is_server)
        atp_server_expire(h->server, net->now);
    else if (h->worker && (atp_worker_expire(h->worker, net->now) & ATP_FAILED))
        net->failed = true;
    net_serve(net, e->to);
}

// ---- the interface ---------------------------------------------------------------------------

struct net *net_new(const struct net_options *options, const struct sk_program *program) {
    struct net *net = net_must(calloc(1, sizeof *net));

    net->options = *options;
    net->random = sk_random_seeded(options->seed);
    for (unsigned s = 0; s < options->racks; s++) {
        struct node *node = &net->nodes[s];
        *node = (struct node){.net = net, .index = s};
        node->sw = net_switch(program, tx, node);
    }
    return net;
}

void net_free(struct net *net) {
    while (net->events.length > 0)
        free(net_events_pop(&net->events));
    while (net->free_events) {
        struct event *e = net->free_events;
        net->free_events = e->next_free;
        free(e);
    }
    for (unsigned s = 0; s < net->options.racks; s++)
        sk_switch_free(net->nodes[s].sw);
    net_events_free(&net->events);
    free(net);
}

static unsigned add_host(struct net *net, struct host host) {
    if (net->host_count == NET_MAX_HOSTS)
        net_die("net", "too many hosts");
    host.timer_at = ATP_NEVER;
    net->hosts[net->host_count] = host;
    return net->host_count++;
}

unsigned net_add_worker(struct net *net, unsigned rack, struct atp_worker *w,
                        const struct atp_flow *flow) {
    return add_host(net, (struct host){.worker = w, .flow = *flow, .rack = rack});
}

unsigned net_add_server(struct net *net, struct atp_server *s, const struct atp_flow *flow) {
    return add_host(net, (struct host){.server = s, .flow = *flow, .is_server = true});
}

void net_replace(struct net *net, unsigned host, struct atp_worker *w) {
    net->hosts[host].worker = w;
}

void net_call(struct net *net, uint64_t at, void (*call)(void *context), void *context) {
    struct event *e = new_event(net, EVENT_CALL, 0);

    e->call = call;
    e->context = context;
    net_events_push(&net->events, &e->when, at);
}

bool net_step(struct net *net) {
    struct event *e;

    if (net->events.length == 0)
        return false;
    e = (struct event *)net_events_pop(&net->events);
    net->now = e->when.time;
    switch (e->kind) {
    case EVENT_AT_SWITCH:
        sk_switch_rx(net->nodes[e->to].sw, dev_port(net, e->port), e->frame, ATP_FRAME_BYTES,
                     net->now);
        sk_switch_run(net->nodes[e->to].sw, net->now);
        break;
    case EVENT_AT_HOST:
        at_host(net, e);
        break;
    case EVENT_TIMER:
        at_timer(net, e);
        break;
    case EVENT_CALL:
        e->call(e->context);
        break;
    }
    release_event(net, e);
    return true;
}

void net_sweep(struct net *net, const struct atp_flow *flow, uint32_t first, uint32_t count) {
    const struct net_link clean = {.delay = 1000};
    struct net_options kept = net->options;
    uint8_t frame[ATP_FRAME_BYTES] = {0};

    net->options.up = net->options.down = clean;
    for (uint32_t i = first; i < first + count; i++) {
        struct atp_packet p = {.is_ack = true, .edge = true, .fan_in0 = 1, .fan_in1 = 1};
        p.job = ATP_MAX_JOB;
        p.index = (uint16_t)i;
        atp_frame_init(frame, flow, false);
        atp_frame_set(frame, &p);
        for (unsigned s = 0; s < net->options.racks; s++) {
            sk_switch_rx(net->nodes[s].sw, dev_port(net, HOST_PORTS), frame, ATP_FRAME_BYTES,
                         net->now);
            sk_switch_run(net->nodes[s].sw, net->now);
        }
    }
    while (net_step(net)) {
    }
    net->options = kept;
}

uint64_t net_now(const struct net *net) {
    return net->now;
}

bool net_failed(const struct net *net) {
    return net->failed;
}

struct net_traffic net_traffic(const struct net *net) {
    return net->traffic;
}
