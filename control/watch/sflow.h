// SPDX-License-Identifier: Apache-2.0
//
// sflow: datagrams of sFlow version 5 (sflow.org, "sFlow Version 5", 2004): samples of packets and
// counts of ports, for a collector. Bytes only: nothing here sends.
//
// A datagram has samples until no other fits into SFLOW_BYTES. Of packets there is the raw header
// (flow_data format 1): the first bytes of the Ethernet frame as it came in. Of ports the generic
// interface counters (counter_data format 1); a counter that the switch does not have is sent
// as unknown (all ones).
//
// The number of an interface or data source is the port's plus one: interface 0 means unknown. The
// output interface of a sampled packet is always unknown.
#ifndef SILKEN_CONTROL_WATCH_SFLOW_H
#define SILKEN_CONTROL_WATCH_SFLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define SFLOW_BYTES  1400u // of UDP payload
#define SFLOW_HEADER 128u  // of a sampled frame, at most
#define SFLOW_PORTS  512u

struct sflow {
    struct sockaddr_storage agent; // our address: AF_INET or AF_INET6
    uint32_t one_in;
    uint64_t started_ns;
    uint32_t datagrams;                                       // sequence numbers
    uint32_t of_packets[SFLOW_PORTS], of_counts[SFLOW_PORTS]; // of each source
    uint32_t n_samples;
    uint32_t length;
    uint8_t bytes[SFLOW_BYTES];
};

struct sflow_packet {
    uint16_t port;
    uint64_t pool;   // packets that could have been sampled at the port so far
    uint64_t lost;   // samples of the port that were lost so far
    uint32_t length; // of the frame, without FCS
    const uint8_t *header;
    uint32_t n; // bytes of it
};
struct sflow_port {
    uint16_t port;
    bool enabled, link, promiscuous;
    uint64_t speed_bps;
    uint64_t in_bytes, in_packets, in_discards, in_errors;
    uint64_t out_bytes, out_packets, out_discards, out_errors;
};

void sflow_begin(struct sflow *s, uint64_t now_ns); // an empty datagram; also after one was sent
// False: it does not fit any more. Send the datagram, begin the next, and say it again.
bool sflow_add_packet(struct sflow *s, const struct sflow_packet *p);
bool sflow_add_port(struct sflow *s, const struct sflow_port *p);
// The datagram: s->length bytes in s->bytes. Not when it has no samples.
void sflow_end(struct sflow *s);

#endif
