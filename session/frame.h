// SPDX-License-Identifier: Apache-2.0
//
// frame: a message about sessions as an Ethernet frame, for those who send it by a port and not by
// a socket: Ethernet without a tag, IPv4 without options, UDP.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_SESSION_FRAME_H
#define SILKEN_SESSION_FRAME_H

#include "session/message.h"

#define SESSION_ADDRESS_BYTES 42u
#define SESSION_FRAME_BYTES   (SESSION_ADDRESS_BYTES + SESSION_MAX_BYTES)

struct session_end {
    uint8_t mac[6];
    uint32_t ip;   // host order
    uint16_t port; // UDP; 0: SESSION_PORT
};

// Writes a frame of at least 60 bytes; returns its length. 'out' has room for SESSION_FRAME_BYTES.
size_t session_frame_write(uint8_t *out, const struct session_end *from,
                           const struct session_end *to, const struct session_message *m);
// Reads a frame that is addressed to 'to', and fills in 'from', its port included. False: the frame
// is another, or damaged.
bool session_frame_read(const uint8_t *frame, size_t length, const struct session_end *to,
                        struct session_end *from, struct session_message *m);
// Whom a frame is for, if it is IPv4. False: it is too short to say.
bool session_frame_to(const uint8_t *frame, size_t length, struct session_end *to);

#endif
