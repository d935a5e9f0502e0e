// SPDX-License-Identifier: Apache-2.0
#include "control/watch/sflow.h"

#include <netinet/in.h>
#include <string.h>

// Enterprise 0.
enum { FLOW_SAMPLE = 1, COUNTERS_SAMPLE = 2 };
enum { RAW_PACKET_HEADER = 1, GENERIC_COUNTERS = 1 };

#define FCS         4u
#define UNKNOWN     UINT32_MAX
#define IF_UNKNOWN  0u
#define ETHERNET    6u  // ifType
#define FLOW_FIXED  32u // bytes of a flow sample before its records
#define RAW_FIXED   16u
#define COUNT_FIXED 12u
#define COUNT_BYTES 88u

static void sflow_put32(struct sflow *s, uint32_t v) {
    const uint32_t n = htonl(v);
    memcpy(s->bytes + s->length, &n, 4);
    s->length += 4;
}
static void put64(struct sflow *s, uint64_t v) {
    sflow_put32(s, (uint32_t)(v >> 32));
    sflow_put32(s, (uint32_t)v);
}

static uint32_t source(uint16_t port) {
    return port + 1u; // type 0: an ifIndex
}

void sflow_begin(struct sflow *s, uint64_t now_ns) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)&s->agent;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&s->agent;
    const bool is_six = s->agent.ss_family == AF_INET6;
    s->length = 0;
    s->n_samples = 0;
    sflow_put32(s, 5); // version
    sflow_put32(s, is_six ? 2 : 1);
    memcpy(s->bytes + s->length, is_six ? (const void *)&six->sin6_addr : &four->sin_addr,
           is_six ? 16 : 4);
    s->length += is_six ? 16 : 4;
    sflow_put32(s, 0); // sub-agent
    sflow_put32(s, s->datagrams);
    sflow_put32(s, (uint32_t)((now_ns - s->started_ns) / 1000000)); // ms since the start
    sflow_put32(s, 0);                                              // samples, known at the end
}

bool sflow_add_packet(struct sflow *s, const struct sflow_packet *p) {
    const uint32_t n = p->n < SFLOW_HEADER ? p->n : SFLOW_HEADER, padded = (n + 3) & ~3u;
    const uint32_t record = RAW_FIXED + padded;
    if (s->length + 8 + FLOW_FIXED + 8 + record > SFLOW_BYTES)
        return false;
    sflow_put32(s, FLOW_SAMPLE);
    sflow_put32(s, FLOW_FIXED + 8 + record);
    sflow_put32(s, ++s->of_packets[p->port % SFLOW_PORTS]);
    sflow_put32(s, source(p->port));
    sflow_put32(s, s->one_in);
    sflow_put32(s, (uint32_t)p->pool);
    sflow_put32(s, (uint32_t)p->lost);
    sflow_put32(s, source(p->port)); // in
    sflow_put32(s, IF_UNKNOWN);      // out
    sflow_put32(s, 1);               // records
    sflow_put32(s, RAW_PACKET_HEADER);
    sflow_put32(s, record);
    sflow_put32(s, 1); // Ethernet
    sflow_put32(s, p->length + FCS);
    sflow_put32(s, FCS); // removed
    sflow_put32(s, n);
    memcpy(s->bytes + s->length, p->header, n);
    memset(s->bytes + s->length + n, 0, padded - n);
    s->length += padded;
    s->n_samples++;
    return true;
}

bool sflow_add_port(struct sflow *s, const struct sflow_port *p) {
    if (s->length + 8 + COUNT_FIXED + 8 + COUNT_BYTES > SFLOW_BYTES)
        return false;
    sflow_put32(s, COUNTERS_SAMPLE);
    sflow_put32(s, COUNT_FIXED + 8 + COUNT_BYTES);
    sflow_put32(s, ++s->of_counts[p->port % SFLOW_PORTS]);
    sflow_put32(s, source(p->port));
    sflow_put32(s, 1); // records
    sflow_put32(s, GENERIC_COUNTERS);
    sflow_put32(s, COUNT_BYTES);
    sflow_put32(s, source(p->port));
    sflow_put32(s, ETHERNET);
    put64(s, p->speed_bps);
    sflow_put32(s, 1); // full duplex
    sflow_put32(s, (p->enabled ? 1u : 0) | (p->link ? 2u : 0));
    put64(s, p->in_bytes);
    sflow_put32(s, (uint32_t)p->in_packets);
    sflow_put32(s, UNKNOWN); // multicast and broadcast among them
    sflow_put32(s, UNKNOWN);
    sflow_put32(s, (uint32_t)p->in_discards);
    sflow_put32(s, (uint32_t)p->in_errors);
    sflow_put32(s, UNKNOWN); // unknown protocols
    put64(s, p->out_bytes);
    sflow_put32(s, (uint32_t)p->out_packets);
    sflow_put32(s, UNKNOWN);
    sflow_put32(s, UNKNOWN);
    sflow_put32(s, (uint32_t)p->out_discards);
    sflow_put32(s, (uint32_t)p->out_errors);
    sflow_put32(s, p->promiscuous ? 1 : 2);
    s->n_samples++;
    return true;
}

void sflow_end(struct sflow *s) {
    const uint32_t n = htonl(s->n_samples);
    const uint32_t at = s->agent.ss_family == AF_INET6 ? 36 : 24;
    memcpy(s->bytes + at, &n, 4);
    s->datagrams++;
}
