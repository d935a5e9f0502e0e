// SPDX-License-Identifier: Apache-2.0
//
// memif: packets between two processes through shared memory, where neither trusts the other.
//
// memif is a public protocol (VPP's libmemif, DPDK's net_memif). The server listens on a Unix
// socket; a client connects, makes memory and passes it with rings of descriptors in it. Both then
// read and write the rings. Whatever the peer says or writes is checked before use:
//
//   - Memory is taken only from a client that sealed it against shrinking (memfd_create(2),
//     F_SEAL_SHRINK), in ordinary pages: an access can then never fail. DPDK's driver and libmemif
//     seal theirs.
//   - A descriptor is read once, into the process's own memory. Its region, offset and length must
//     lie inside what the peer passed. A client never reads places from the rings: it knows where
//     its buffers are.
//   - A peer's position in a ring may be ahead by the ring's size, and no more. A frame has a
//     bounded number of descriptors, and a burst looks at a bounded number.
//   - Frames are copied out once and looked at afterwards.
//   - A peer's event descriptor is signalled by the kernel's own means, so that a full one cannot
//     block.
//
// A peer that breaks a rule is disconnected with one sentence ('say' of the options) and counted;
// the device waits for the next one. A client whose server goes away tries again every 100 ms.
//
//     struct memif_options o;
//     if (!memif_options_parse("role=server,socket=/run/x.sock,socket-abstract=no", &o, error,
//                              sizeof error))
//         ...                                           // 'error' is the sentence
//     struct memif *m = memif_open(&o, error, sizeof error);
//     ...
//     n = memif_receive(m, 0, frames, n, room);         // queue 0; 'room' bytes at each 'data'
//     sent = memif_send(m, frames, n);
//     memif_close(m);
//
// Threads: one thread at a time opens, closes; one at a time receives and sends on a device. The
// room has one thread of its own for all devices' sockets; it takes a device's memory away only
// between two bursts. The other functions may be called by any thread between open and close.
//
// Files:
//
//     protocol.h  messages and rings as they are laid out; numbers from VPP's and DPDK's memif.h
//     options.c   the arguments of a device
//     session.c   a conversation with a peer, apart from the socket: messages in, messages out
//     memory.c    a client's shared memory, our own or the peer's, and its checks
//     rings.c     bursts
//     bell.c      signals that wake a sleeping peer
//     device.c    devices, and the life of a peer's connection
//     sockets.c   the thread: listening, connecting, messages
#ifndef SILKEN_MEMIF_MEMIF_H
#define SILKEN_MEMIF_MEMIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMIF_QUEUES      16u // to receive on, of a device
#define MEMIF_SECRET      24u
#define MEMIF_SOCKET_NAME 107u // bytes, without the 0 at its end
#define MEMIF_LINE        256u // of 'say', with the 0 at its end

struct memif_options {
    bool server;
    uint32_t id; // of the device among those of its socket
    char socket[MEMIF_SOCKET_NAME + 1];
    bool abstract;                 // the socket is not in the file system
    unsigned log2_ring;            // a client's rings have 2 to this power descriptors
    uint32_t buffer;               // bytes of each of a client's buffers
    char secret[MEMIF_SECRET + 1]; // "": none
    unsigned queues;               // to receive on; 0: 1
    char name[32];                 // that the peer is told
    bool must_connect;             // memif_open of a client fails when nobody listens
    // On the room's thread; 'line' ends without a line end and has no control characters. May be
    // null.
    void (*say)(void *aux, const char *line);
    void *aux;
};

// 'arguments': KEY=VALUE, separated by commas: role (server, client; also master, slave), id,
// socket, socket-abstract, rsize, bsize, secret, mac (checked and not used: frames are a switch's),
// zero-copy (only "no": see the manual). Without role and socket-abstract: client, yes, as DPDK's
// driver has it. Sets all members but queues, name, must_connect, say and aux, which become 0.
// False with a sentence.
bool memif_options_parse(const char *arguments, struct memif_options *out, char *error,
                         size_t error_size);

struct memif;
// Null with a sentence. A server's socket is there when this returns; a client's peer may come
// later.
struct memif *memif_open(const struct memif_options *o, char *error, size_t error_size);
void memif_close(struct memif *m); // null allowed

// Whether a peer is connected.
bool memif_link(const struct memif *m);

struct memif_frame {
    uint8_t *data;
    uint32_t length;
};
// Copies at most 'n' received frames to where frames[].data points, 'room' bytes each, and sets the
// lengths. Returns how many.
unsigned memif_receive(struct memif *m, unsigned queue, struct memif_frame *frames, unsigned n,
                       uint32_t room);
// Copies the first of the frames into the peer's buffers, as many as there are. Returns how many
// are done with: a frame that no chain of the peer's buffers could hold is, too, and counted.
unsigned memif_send(struct memif *m, const struct memif_frame *frames, unsigned n);

struct memif_counts {
    uint64_t closed;    // peers disconnected since they broke a rule
    uint64_t rx_errors; // frames that were empty or longer than the room
    uint64_t tx_errors; // frames that could not be sent to this peer
};
void memif_counts(const struct memif *m, struct memif_counts *out);

#endif
