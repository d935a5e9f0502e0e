// SPDX-License-Identifier: Apache-2.0
//
// cold.h: the bytes of packets between workers and parameter servers, which have the cold
// parameters. Switches forward them as ordinary traffic: their UDP port is another one.
//
//     ethernet_h 14 | ipv4_h 20 | udp_h 8 | libra_h 16 | n times: key 8, value 4
//
// libra_h is that of p4/libra with `cold` set; `places` is n, at most 121, so that a packet has
// 1,500 bytes at most. Requests are pushes, pulls and barriers; an ack has no pairs, an answer
// those that were asked for. UDP checksums are sent, since no switch changes these packets.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_LIBRA_COLD_H
#define SILKEN_HOSTS_LIBRA_COLD_H

#include "hosts/libra/frame.h"

#define LIBRA_COLD_PORT  0xbec1u // UDP, of servers
#define LIBRA_COLD_PAIRS 121u    // in a packet
#define LIBRA_PAIR_BYTES 12u
#define LIBRA_COLD_BYTES (LIBRA_HEADERS + LIBRA_COLD_PAIRS * LIBRA_PAIR_BYTES)

struct libra_cold_pair {
    uint64_t key;
    uint32_t value; // bits of a float
};

// Writes a worker's request to the server at flow->fabric; its length.
size_t libra_cold_write(uint8_t *frame, const struct libra_flow *flow,
                        const struct libra_header *header, const struct libra_cold_pair *pairs,
                        unsigned n);
// Is it an ack or an answer for this worker: then '*header', and the answer's pairs in 'pairs'
// (room for LIBRA_COLD_PAIRS).
enum libra_reason libra_cold_read(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                  struct libra_header *header, struct libra_cold_pair *pairs,
                                  unsigned *n);

// What a server is asked.
struct libra_cold_request {
    struct libra_header header;
    struct sk_endpoint from;
    uint8_t job;
    uint16_t worker, epoch;
    unsigned n;
    struct libra_cold_pair pairs[LIBRA_COLD_PAIRS];
};
// Is it a request to this server.
enum libra_reason libra_cold_read_request(const uint8_t *frame, size_t len,
                                          const struct sk_endpoint *self,
                                          struct libra_cold_request *request);
// Writes the server's reply: an ack, or an answer with the request's pairs; its length.
size_t libra_cold_reply(uint8_t *frame, const struct sk_endpoint *self, enum libra_kind kind,
                        const struct libra_cold_request *request);

#endif
