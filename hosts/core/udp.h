// SPDX-License-Identifier: Apache-2.0
//
// udp.h: Ethernet, IPv4 and UDP before the hosts' protocols.
//
//      ethernet_h 14 | ipv4_h 20, no options | udp_h 8 | ...
//
// The UDP checksum is sent as 0 (none, RFC 768), since switches replace what follows, but where
// sk_udp_seal() writes it; on receipt it is verified unless it is 0. The IPv4 header checksum is
// always sent and verified.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_CORE_UDP_H
#define SILKEN_HOSTS_CORE_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/core/endpoint.h"
#include "hosts/core/text.h"

#define SK_UDP_BYTES 42 // all three headers

// The Internet checksum (RFC 1071) of 'len' bytes, as a number in host order. Over a header with a
// correct checksum in it the result is 0.
uint16_t sk_checksum(const uint8_t *bytes, size_t len);

// Writes all three headers: from one end to the other, with 'payload' bytes after them.
void sk_udp_init(uint8_t *frame, const struct sk_endpoint *from, const struct sk_endpoint *to,
                 size_t payload);

// Writes the UDP checksum of a frame that is complete, where no switch changes what follows.
void sk_udp_seal(uint8_t *frame);

enum sk_udp_kind {
    SK_UDP_IS,      // all headers are there, and 'payload' bytes more
    SK_UDP_FOREIGN, // not IPv4 and UDP without options and fragments
    SK_UDP_SHORT    // too short for its headers, or for the payload
};
enum sk_udp_kind sk_udp_kind(const uint8_t *frame, size_t len, size_t payload);

// The following are for frames which sk_udp_kind() says it is.

// MAC and IP address and port of the receiver; IP address and port of the sender.
bool sk_udp_is_to(const uint8_t *frame, const struct sk_endpoint *to);
bool sk_udp_is_from(const uint8_t *frame, const struct sk_endpoint *from);

// Both lengths in the headers are those of 'payload' bytes.
bool sk_udp_has_lengths(const uint8_t *frame, size_t payload);

// Both checksums are right; the UDP length must be within the frame.
bool sk_udp_has_sums(const uint8_t *frame);

// Adds "who MAC, IP, UDP port" to a text, without a MAC address that is not known (0).
void sk_say_endpoint(struct sk_text *t, const char *who, const struct sk_endpoint *e);

#endif
