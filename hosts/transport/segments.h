// SPDX-License-Identifier: Apache-2.0
//
// segments.h: several datagrams as one, as Linux sends them (UDP_SEGMENT, since 4.18) and receives
// them (UDP_GRO, since 5.0); internal to hosts/. Of datagrams that are one, all have the same
// addresses and the same length, but for the last, which may be shorter. The kernel, a card or a
// switch cuts and joins them: on the wire they are packets.
//
//     n = sk_segments_fit(frames, count);             so many of the frames are one message
//     sk_segments_put(&header, &control, size);       ... of datagrams of 'size' bytes
//
//     if (sk_segments_received(&s, &header, length))
//         while (sk_segments_next(&s, &at, &bytes))   where each of them is in what was received
//
// Source: udp(7); include/uapi/linux/udp.h and net/ipv4/udp.c of Linux.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_TRANSPORT_SEGMENTS_H
#define SILKEN_HOSTS_TRANSPORT_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "hosts/transport/transport.h"

// The C library's headers may be older than the kernel.
#define SK_UDP_SEGMENT 103
#define SK_UDP_GRO     104

// That every kernel takes in one message; later ones take 128.
#define SK_SEGMENTS_MOST 64u
// Bytes of one, without headers, which fit IPv4's length.
#define SK_SEGMENTS_BYTES 65000u

// Of a message: room for what says the length of its datagrams, sent or received.
union sk_segments_control {
    struct cmsghdr header; // aligns it
    char room[CMSG_SPACE(sizeof(int))];
};

// Bytes of UDP payload of an engine's frame, without what fills short frames up.
size_t sk_segments_payload(const struct sk_frame *frame);

// How many of the frames, from the first on, are one message: at least 1. 'n' is not 0.
size_t sk_segments_fit(const struct sk_frame *frames, size_t n);

// Says in '*m' that its bytes are datagrams of 'size' each; '*control' is the message's until it is
// sent.
void sk_segments_put(struct msghdr *m, union sk_segments_control *control, uint16_t size);

// What a message brought.
struct sk_segments {
    uint32_t length, size, at; // of all; of a datagram; of the next one
    bool more;
};
// 'm' as recvmsg(2) left it, for 'length' bytes. False: they cannot be told apart, since something
// of it did not fit.
bool sk_segments_received(struct sk_segments *s, const struct msghdr *m, uint32_t length);
// The next datagram, which may have no bytes. False: that was all.
bool sk_segments_next(struct sk_segments *s, uint32_t *at, uint32_t *bytes);

#endif
