// SPDX-License-Identifier: Apache-2.0
//
// af_packet: frames on a network interface of the kernel's, through packet sockets with rings.
//
// A socket per receive queue has a ring that the kernel fills; the first socket also has one that
// it empties. Both are mapped memory of the kernel's, so a burst is received without a system call
// and sent with one. Source: packet(7) and Documentation/networking/packet_mmap.rst of Linux, which
// must be 4.6 or later (PACKET_VNET_HDR with rings).
//
//   - TPACKET_V2: a frame is visible as soon as the kernel has written it. The blocks of V3 are
//     shorter in memory, but a reader gets one when it is full or a timer of at least a millisecond
//     ends, and for a switch that is the delay of every packet.
//   - What comes is what was on the wire: a VLAN tag that the kernel took out is put back with its
//     own type, a checksum that a host left to its card is completed (PACKET_VNET_HDR says where),
//     and frames that this machine sends on the interface do not come in.
//   - A frame of up to 64 KB that a host leaves to its card to cut (TSO, USO) is received as the
//     packets that it stands for, and packets of a TCP connection that follow one another are sent
//     as such a frame where cutting it gives the same packets (segment.h); so are datagrams to who
//     has just sent such a frame of them. The switch in between sees packets only.
//   - The kernel counts frames for which a ring has no room (af_packet_dropped).
//   - What af_packet_send() reports as sent the kernel has taken. Frames that it did not take are
//     taken back out of the ring, so that nothing stale is sent when a link comes back.
//
// The rings' headers are the kernel's and are trusted. Frames are copied; those that are cut or may
// be joined are parsed, and their bytes are not trusted.
//
//     struct af_packet_options o = {.interface = "eth1", .rings = {2048, 65536, 2048}};
//     struct af_packet *a = af_packet_open(&o, error, sizeof error);
//     n = af_packet_ready(a, 0, 32);   af_packet_receive(a, 0, frames, n, room);
//     af_packet_send(a, frames, n);
//     af_packet_close(a);
//
// Threads: one at a time receives and sends; one opens and closes, while none does. The rest may be
// called by any thread between open and close.
//
// Files:
//
//     socket.c    opening, options, the kernel's counts and the interface's state
//     rings.c     bursts
//     large.c     frames that stand for several packets, from and to the kernel
//     segment.c   cutting and joining these; nothing of it is the kernel's
//     checksum.c  a checksum that was left to a card
//     sum.c       the sum that checksums are of, with vectors where the processor has them
#ifndef SILKEN_AF_PACKET_AF_PACKET_H
#define SILKEN_AF_PACKET_AF_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AF_PACKET_QUEUES 64u // to receive on, of an interface
// Of a ring's frame: bytes before the packet when it is received, and what must be left for all
// when the longest packet without a tag is to fit.
#define AF_PACKET_BEFORE 76u
#define AF_PACKET_MARGIN 90u
// Frames of the ring to send from, rounded up to whole blocks, or as many as one to receive into
// has. A burst is given to the kernel at once, so only those that a card still reads stay in it.
#define AF_PACKET_SENDING 256u

// Of a ring: bytes of a frame, a multiple of 16; bytes of a block, a multiple of a frame and of a
// page; frames, a multiple of those in a block.
struct af_packet_rings {
    uint32_t frame, block, frames;
};
struct af_packet_options {
    const char *interface;
    unsigned queues; // the kernel chooses one by a hash of the flow; 0: 1
    struct af_packet_rings rings;
    bool qdisc; // frames that are sent go through the interface's queueing discipline
    bool all;   // frames to other addresses are received, too
};

struct af_packet;
// Null with a sentence's end: what is wrong. An interface that is down is opened: frames come when
// it is up.
struct af_packet *af_packet_open(const struct af_packet_options *o, char *error, size_t error_size);
void af_packet_close(struct af_packet *a); // null allowed

struct af_packet_frame {
    uint8_t *data;
    uint32_t length; // bytes at 'data'
    uint32_t whole;  // of one received, before its ring or the room cut it; >= length
};
// How many frames wait on the queue, at most 'most'.
unsigned af_packet_ready(struct af_packet *a, unsigned queue, unsigned most);
// Whether the next frame is a packet of a large frame of which others have been taken.
bool af_packet_is_partway(const struct af_packet *a, unsigned queue);
// Takes 'n' frames of those that are ready out of the ring and copies them to where frames[].data
// points, 'room' bytes each, in their order. Returns how many there are: fewer when some were sent
// by this machine, or are not for it (options.all).
unsigned af_packet_receive(struct af_packet *a, unsigned queue, struct af_packet_frame *frames,
                           unsigned n, uint32_t room);
// Copies the first of the frames into the ring and gives them to the kernel. Returns how many are
// done with: sent, or refused by the kernel for 10 ms on an interface that is up, which is counted.
unsigned af_packet_send(struct af_packet *a, const struct af_packet_frame *frames, unsigned n);
// Whether each is sent by itself from now on; at first they are joined where they can be.
void af_packet_set_single(struct af_packet *a, bool single);

// A large frame that comes next on a queue and would be sent again as it is, if its packets went
// one by one to one interface. Who knows that they would, from what is shown here, passes it on
// whole, and nothing is copied more often than to the kernel and from it.
#define AF_PACKET_SHOWN 128u // of a packet's first bytes; zeros are behind its end
struct af_packet_whole {
    unsigned packets; // two at least
    uint32_t length;  // of each but the last
    uint32_t last_length;
    uint8_t first[AF_PACKET_SHOWN], last[AF_PACKET_SHOWN];
    // Ones where a packet between may have other bytes than the first, and where TCP's checksum is,
    // which is not shown.
    uint8_t differs[AF_PACKET_SHOWN];
};
// False: there is no such frame, or some of its packets have been received.
bool af_packet_shows(struct af_packet *a, unsigned queue, struct af_packet_whole *w);
// The frame that was shown just now is sent by 'to', which may be the same, and all its packets are
// received. False: the kernel did not take it, and it is as before.
bool af_packet_pass(struct af_packet *a, unsigned queue, struct af_packet *to);

unsigned af_packet_index(const struct af_packet *a); // of the interface
// Whether the interface is there, up and has a carrier.
bool af_packet_link(const struct af_packet *a);
uint32_t af_packet_speed(const struct af_packet *a);             // Mbit/s; 0: not known
int af_packet_socket(const struct af_packet *a, unsigned queue); // stays the device's
// Frames dropped since the last call because the queue's ring was full.
uint64_t af_packet_dropped(int socket);
uint64_t af_packet_refused(const struct af_packet *a); // frames that the kernel did not send

#endif
