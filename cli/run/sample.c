// SPDX-License-Identifier: Apache-2.0
//
// sample: sFlow of a running switch: samples that ports took (pipeline/ports/sample.c), and counts
// of ports now and then, as datagrams (control/watch/sflow.h) to a collector.
#include "cli/run/run.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/watch/sflow.h"
#include "control/watch/watch.h"

#define AT_ONCE   64u
#define LATEST_NS UINT64_C(500000000) // a sample waits for others
#define SECOND    UINT64_C(1000000000)

struct run_sample {
    int fd;
    struct sflow sflow;
    uint64_t send_due, counts_due, counts_ns;
    uint64_t unsent; // datagrams that the socket did not take
    struct sk_watch moment;
};

static void send_datagram(struct run_sample *s, uint64_t now) {
    if (s->sflow.n_samples == 0)
        return;
    sflow_end(&s->sflow);
    // a collector that is not there is told by ICMP: no reason to say anything
    if (send(s->fd, s->sflow.bytes, s->sflow.length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        s->unsent++;
    sflow_begin(&s->sflow, now);
    s->send_due = now + LATEST_NS;
}

static void add_packet(struct run_sample *s, const struct sk_ports_sample *p, uint64_t now) {
    const struct sflow_packet out = {.port = p->port,
                                     .pool = p->pool,
                                     .lost = p->lost,
                                     .length = p->length,
                                     .header = p->bytes,
                                     .n = p->n};
    if (sflow_add_packet(&s->sflow, &out))
        return;
    send_datagram(s, now);
    sflow_add_packet(&s->sflow, &out);
}

static uint64_t drops_in(const struct sk_port_stats *n) {
    return n->drops[SK_DROP_TOO_LONG] + n->drops[SK_DROP_TOO_SHORT] + n->drops[SK_DROP_NO_BUFFER];
}

static void run_sample_add_port(struct run_sample *s, const struct sk_watch_port *p, uint64_t now) {
    const struct sflow_port out = {.port = p->port,
                                   .enabled = p->up,
                                   .link = p->has_device ? p->device.link : p->up,
                                   .promiscuous = p->device.promiscuous,
                                   .speed_bps = (uint64_t)p->device.speed_mbps * 1000000,
                                   .in_bytes = p->stats.rx_bytes,
                                   .in_packets = p->stats.rx_packets,
                                   .in_discards = drops_in(&p->stats) + p->device.missed,
                                   .in_errors = p->device.rx_errors,
                                   .out_bytes = p->stats.tx_bytes,
                                   .out_packets = p->stats.tx_packets,
                                   .out_discards = sk_queue_drops(p->stats.drops) +
                                                   p->stats.drops[SK_DROP_TX_FULL],
                                   .out_errors = p->device.tx_errors};
    if (sflow_add_port(&s->sflow, &out))
        return;
    send_datagram(s, now);
    sflow_add_port(&s->sflow, &out);
}

static void run_sample_add_counts(struct run *r, uint64_t now) {
    struct run_sample *s = r->sample;
    const struct sk_service service = run_service(r, now);
    s->counts_due = now + s->counts_ns;
    sk_watch_take(&s->moment, &service);
    for (size_t i = 0; i < s->moment.n_ports; i++)
        run_sample_add_port(s, &s->moment.ports[i], now);
}

void run_sample_turn(struct run *r, uint64_t now) {
    struct run_sample *s = r->sample;
    struct sk_ports_sample taken[AT_ONCE];
    if (!s)
        return;
    const unsigned n = sk_ports_samples(r->ports, taken, AT_ONCE);
    for (unsigned i = 0; i < n; i++)
        add_packet(s, &taken[i], now);
    if (s->counts_ns && now >= s->counts_due)
        run_sample_add_counts(r, now);
    if (now >= s->send_due)
        send_datagram(s, now);
}

bool run_sample_start(struct run *r) {
    const struct sk_config_sampling *c = &r->config->sampling;
    const socklen_t size =
        c->address.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    char text[256];
    if (!c->one_in)
        return true;
    struct run_sample *s = r->sample = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->fd = socket(c->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t own = sizeof s->sflow.agent;
    // the address that the way to the collector gives us is the agent's
    if (s->fd < 0 || connect(s->fd, (const struct sockaddr *)&c->address, size) ||
        getsockname(s->fd, (struct sockaddr *)&s->sflow.agent, &own)) {
        snprintf(text, sizeof text, "samples cannot be sent to %s: %s", c->to, strerror(errno));
        return run_say(text);
    }
    s->sflow.one_in = c->one_in;
    s->sflow.started_ns = run_now();
    s->counts_ns = c->counts * SECOND;
    sflow_begin(&s->sflow, run_now());
    return sk_ports_sample(r->ports, c->one_in, run_now()) || run_say("not enough memory");
}

void run_sample_end(struct run *r) {
    struct run_sample *s = r->sample;
    if (!s)
        return;
    if (s->fd >= 0) {
        send_datagram(s, run_now());
        close(s->fd);
    }
    sk_watch_free(&s->moment);
    free(s);
    r->sample = NULL;
}
