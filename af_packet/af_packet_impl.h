// SPDX-License-Identifier: Apache-2.0
//
// af_packet_impl: what the room's files share. af_packet.h lists them.
#ifndef SILKEN_AF_PACKET_AF_PACKET_IMPL_H
#define SILKEN_AF_PACKET_AF_PACKET_IMPL_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "af_packet/segment.h"

#define AF_PACKET_ADDRESSES 12u // bytes of a frame before its type, or its tag
#define AF_PACKET_TAG       4u  // bytes of a tag

// A ring's frames lie next to each other in memory, since a block is a whole number of frames.
struct af_packet_ring {
    uint8_t *at;
    uint32_t frame, frames;
    uint32_t next; // the frame that is looked at next
};
// A frame of a queue that stands for several, whose packets are being taken (large.c).
#define AF_PACKET_LARGE_ROOM (AF_PACKET_SEGMENT_BYTES + 8u) // and two tags
struct af_packet_large {
    uint8_t *room;
    struct af_packet_segment segment;
    unsigned next, pieces; // packets: the next one, and all
    uint32_t whole;        // 0: a segment; else one frame of so many bytes, which is not one
    struct af_packet_joined joined; // what all packets of a segment that was shown are together
};
struct af_packet {
    unsigned queues;
    struct af_packet_ring rx[AF_PACKET_QUEUES], tx;
    struct af_packet_large large[AF_PACKET_QUEUES];
    bool joins;  // packets that follow one another are sent as one frame
    bool single; // but not now
    bool all;
    bool qdisc;  // what is sent goes through the interface's queueing discipline
    bool copies; // the kernel is asked to copy what is sent, and not to read it out of the ring
    // Makes the kernel look at 'tx'. As sendto(2): -1 with errno.
    int (*kick)(struct af_packet *a);
    // recvmsg(2) on a queue's socket, and sendmsg(2) on the one without rings.
    ssize_t (*read)(struct af_packet *a, unsigned queue, struct msghdr *m);
    ssize_t (*write)(struct af_packet *a, const struct msghdr *m);
    // Whether what is sent on the interface may be a frame for it to cut.
    bool (*cuts)(const struct af_packet *a);
    uint64_t refused_since; // ns of the first time that the kernel refused the next frame; 0: it
                            // has not
    _Atomic uint64_t refused;
    int fd[AF_PACKET_QUEUES];
    struct af_packet_takers takers; // of datagrams
    bool no_datagrams;         // the kernel or the interface does not take several datagrams as one
    unsigned datagrams_failed; // times that it did not, one after the other
    uint8_t *joining;          // AF_PACKET_LARGE_ROOM bytes: payloads that are sent as one
    int fd_large; // without rings: frames that are longer than one of a ring are sent by it
    void *mapped[AF_PACKET_QUEUES];
    size_t mapped_bytes[AF_PACKET_QUEUES];
    unsigned index;
};

// rings.c: the monotonic clock, ns.
uint64_t af_packet_now(void);
// rings.c: gives the frames that wait on the queue back to the kernel, unread.
void af_packet_pass_over(struct af_packet *a, unsigned queue);

// large.c. Whether a frame of a ring that is ours stands for several, or is longer than the ring's.
struct tpacket2_hdr;
bool af_packet_is_large(const struct tpacket2_hdr *h, uint32_t status);
// Makes it the queue's large frame. False: it is an ordinary one, of which the ring has what fits.
bool af_packet_take_large(struct af_packet *a, unsigned queue, const struct tpacket2_hdr *h,
                          uint32_t status);
// Writes the next packet of the queue's large frame.
void af_packet_next_piece(struct af_packet_large *l, struct af_packet_frame *f, uint32_t room);
// Sends frames that were joined, with their payload. 0, or an errno: none was sent.
int af_packet_send_joined(struct af_packet *a, struct af_packet_joined *j);

// rings.c: writes the tag that the kernel took out of a frame to 'to'; 'status' says whether it
// also told the tag's type. Returns its bytes.
uint32_t af_packet_put_tag(uint8_t *to, uint32_t status, uint16_t tci, uint16_t type);

// sum.c: the sum of a frame's 16-bit words as the machine reads them, which is RFC 1071's with its
// bytes exchanged; a zero is added after an odd last byte. Not folded. 'plain' is the same
// without vectors.
uint64_t af_packet_sum(const uint8_t *at, uint32_t n);
uint64_t af_packet_sum_plain(const uint8_t *at, uint32_t n);
// Copies bytes, and returns their sum: they are read once.
uint64_t af_packet_copy(uint8_t *to, const uint8_t *from, uint32_t n);
uint64_t af_packet_copy_plain(uint8_t *to, const uint8_t *from, uint32_t n);

// checksum.c: completes the sum at 'start' + 'offset', which covers the frame from 'start' on and
// holds the sum of what is not in it (a pseudo header). Nothing happens when that is outside the
// frame, or is of SCTP, whose sum is another.
void af_packet_checksum(uint8_t *frame, uint32_t length, uint32_t start, uint32_t offset);

#endif
