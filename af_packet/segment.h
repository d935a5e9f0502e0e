// SPDX-License-Identifier: Apache-2.0
//
// segment: a frame that stands for several. Hosts leave it to their card to cut a long piece of a
// TCP connection, or many datagrams of one length, into packets (TSO, USO; struct virtio_net_hdr
// says so). Here such a frame is cut into the packets that would be on the wire, with their
// lengths, numbers and checksums, and packets of a TCP connection that follow one another are
// joined to one frame again, only where cutting gives the same packets, to the byte.
//
// Datagrams are joined, too, of one length and to one address and port, if a frame that stood for
// several has come from there a moment ago: who sends such frames is a socket of the kernel's, and
// the kernel gives it those that come joined, or cut again if it has not asked for that. A program
// that reads frames from an interface never gets several datagrams in one by this. Checksums of UDP
// are all right, or all 0, as in what a switch has changed; cut again such packets have right ones
// instead of 0, and this is the only difference to their bytes.
//
//     if (af_packet_segment_open(&s, frame, length, &vnet))
//         for (unsigned i = 0; i < s.pieces; i++)
//             bytes = af_packet_segment_piece(&s, i, to);
//
//     n = af_packet_join(&joined, frames, n_frames, NULL); so many of them are one frame
//
// One that would be joined again as it is need not be cut, if whoever would see its packets knows
// already what becomes of them:
//
//     if (af_packet_segment_whole(&s, &joined))
//         af_packet_segment_show(&s, &whole);              what to know about them
//
// Sources: RFC 9293 and 768, 791, 8200, 1071; virtio 1.2, 5.1.6 (the header). What a packet has
// that another of the same segment has not: IPv4's identification counts up; FIN and PSH are of the
// last one, CWR of the first.
//
// Frames are not trusted: what is not a segment as its header says is not cut. IP has no options of
// version 6 here, and no fragments. No state; any thread may call anything.
#ifndef SILKEN_AF_PACKET_SEGMENT_H
#define SILKEN_AF_PACKET_SEGMENT_H

#include <linux/virtio_net.h>

#include "af_packet/af_packet.h"

// The kernel may be newer than its headers.
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define AF_PACKET_SEGMENT_HEADERS                                                                  \
    192u // bytes of headers, at most: 2 tags, IPv4 and TCP with options
#define AF_PACKET_SEGMENT_BYTES 65549u // the longest frame: Ethernet, and 65,535 bytes of IP
// Packets of a segment. A host may say one byte a packet.
#define AF_PACKET_SEGMENT_PIECES 256u

struct af_packet_segment {
    const uint8_t *frame; // the caller's; must stay as long as pieces are asked for
    uint32_t length;
    uint32_t network, transport, payload; // where these begin
    uint32_t size;                        // payload of a packet, but of the last
    uint32_t same;                        // sum of what is the same in all checksums
    unsigned pieces;
    bool v6, tcp; // else IPv4, UDP
};

// False: it is one packet, or is not what 'v' says. Offsets of 'v' are those of 'frame'.
bool af_packet_segment_open(struct af_packet_segment *s, const uint8_t *frame, uint32_t length,
                            const struct virtio_net_hdr *v);
// Bytes of packet 'i'.
uint32_t af_packet_segment_length(const struct af_packet_segment *s, unsigned i);
// Writes the first 'room' bytes of packet 'i' to 'to', which is all of it when the room is as long.
void af_packet_segment_piece(const struct af_packet_segment *s, unsigned i, uint8_t *to,
                             uint32_t room);

// Several frames as one: 'v', then 'headers' bytes, then of each frame what is behind as many.
// af_packet_join(), which looks at each byte anyway, copies that to 'payload' unless it is null.
struct af_packet_joined {
    struct virtio_net_hdr v;
    uint32_t headers;
    uint8_t header[AF_PACKET_SEGMENT_HEADERS];
    uint8_t *payload; // the caller's: null, or AF_PACKET_SEGMENT_BYTES
    uint32_t bytes;   // of payload
};
// Who has sent frames that stand for several datagrams: the last of those with the same place in
// the list. Zeroed: nobody.
#define AF_PACKET_TAKERS   64u
#define AF_PACKET_TAKES_NS UINT64_C(1000000000) // so long after it has sent the last one
struct af_packet_takers {
    bool any;     // somebody has
    uint64_t now; // whoever asks sets it, ns
    struct {
        uint8_t address[16]; // of IPv4 in the first four, then zeros
        uint16_t port;
        bool v6;
        uint64_t until; // 0: nobody
    } list[AF_PACKET_TAKERS];
};
// The sender of a segment of datagrams takes such from now on.
void af_packet_taker(struct af_packet_takers *t, const struct af_packet_segment *s);

// How many frames, from the first on, are one, of which '*j' is filled in, but for 'payload'. 1:
// the first is alone. 'takers' null: no datagrams are joined.
unsigned af_packet_join(struct af_packet_joined *j, const struct af_packet_frame *frames,
                        unsigned n, const struct af_packet_takers *takers);

// Whether af_packet_join() makes one frame of all packets of the segment, and which.
bool af_packet_segment_whole(const struct af_packet_segment *s, struct af_packet_joined *j);
void af_packet_segment_show(const struct af_packet_segment *s, struct af_packet_whole *w);

#endif
