// SPDX-License-Identifier: Apache-2.0
//
// raw: a memif peer that says what it is told to, right or wrong. It shares the protocol's numbers
// with the driver (memif/protocol.h), and no code. Calls return false when the other end has gone,
// or after five seconds.
#ifndef SILKEN_HARNESS_MEMIF_RAW_H
#define SILKEN_HARNESS_MEMIF_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "memif/protocol.h"

#define RAW_LOG2   6u
#define RAW_SLOTS  (1u << RAW_LOG2)
#define RAW_BUFFER 2048u
// A client's region: two rings, buffers, and no multiple of a page; its file has more, that nobody
// was given.
#define RAW_RING    (sizeof(struct memif_head) + RAW_SLOTS * sizeof(struct memif_desc))
#define RAW_BUFFERS (2 * RAW_RING)
#define RAW_SIZE    (RAW_BUFFERS + 2 * RAW_SLOTS * RAW_BUFFER)
#define RAW_FILE    ((RAW_SIZE + 3 * 4096) & ~4095u)
#define RAW_OUTSIDE 0xEEu // every byte of the file behind the region
#define RAW_INSIDE  0x5Au // every byte of the buffers

#define RAW_FDS 3u
struct raw_message {
    uint8_t bytes[MEMIF_MESSAGE + 64];
    uint32_t length;
    int fds[RAW_FDS]; // not owned
    unsigned n_fds;
};
struct raw {
    int fd, listener;
    int memory; // of the region
    int bells[2];
    uint64_t size; // mapped here
    uint8_t *at;
    struct memif_head *s2m, *m2s;
};

void raw_put(uint8_t *message, unsigned at, unsigned bytes, uint64_t value);
uint64_t raw_get(const uint8_t *message, unsigned at, unsigned bytes);
// The message number 'step' of a client that connects: INIT, ADD_REGION, ADD_RING twice, CONNECT.
#define RAW_STEPS 5u
void raw_step(const struct raw *r, unsigned step, uint32_t id, struct raw_message *out);

bool raw_say(const struct raw *r, const struct raw_message *m);
// The type of the next message, which is in 'message'; 0: the other end is gone. Descriptors are
// kept in r->memory and r->bells.
unsigned raw_hear(struct raw *r, uint8_t message[MEMIF_MESSAGE]);

// A client: connected, with memory, and greeted. False: not let in.
bool raw_client(struct raw *r, const char *socket);
// All of its messages.
bool raw_connect(struct raw *r, uint32_t id);
// A server at 'socket'; raw_serve() waits for a client and goes through all messages, mapping what
// that passes.
bool raw_server(struct raw *r, const char *socket);
bool raw_serve(struct raw *r);
void raw_close(struct raw *r); // not a server's listening socket
void raw_end(struct raw *r);   // that too

#endif
