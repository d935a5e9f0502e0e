// SPDX-License-Identifier: Apache-2.0
//
// frame.h: the bytes of a SwitchML packet: what a worker sends and what it accepts.
//
//      ethernet_h 14 | ipv4_h 20 | udp_h 8 | switchml_h 8 | exponents_h 2 | k elements of 4 bytes
//
// or of 2 bytes, if the switch has p4/switchml/halves.p4 ("halves", hosts/core/halves.h). Such a
// switch has no collective operations, and no messages about restarts, which are ignored.
//
// The header layouts come from the P4 program, through the generated switchml_wire.h. What the
// fields mean to a worker:
//
//      udp_h.dst_port          the switch's SwitchML port, 0xbee0..0xbeef
//      switchml_h.msg_type     1 when sent, not looked at when received, but for the messages below
//      switchml_h.size         log2(k / 32): 0..3 for k = 32, 64, 128, 256
//      switchml_h.job_number   the job's number; the switch echoes it
//      switchml_h.tsi          number of the chunk in its slot. Upper 8 bits: the job's session
//                              (session/message.h), which the switch compares with the one that it
//                              has; lower 24 bits: how often the slot was used before in the
//                              session, modulo 2^24. All workers agree on it, and the switch echoes
//                              it, so an answer of an earlier session, or of an earlier use of the
//                              slot, is told from the present one even when the one bit of version
//                              agrees.
//      switchml_h.pool_index   top bit: version (SwitchML 4.5), the rest: slot
//      exponents_h.e0          look-ahead exponent (4.6; see worker.h). It covers all k elements of
//                              a packet, whatever k is, as the published client has it: that
//                              client writes and reads e0 only.
//      exponents_h.e1          sent with the same number as e0, or in a collective operation with
//                              its audience; not looked at when received. The published pipeline
//                              does not return e1 for 32-element packets.
//      elements                network byte order; zeros after the end of the tensor
//
// Packets and answers of collective operations may end after the exponents (wire/switchml.h,
// COLLECTIVES); they are filled up to Ethernet's least length.
//
// The messages of a switch that was restarted and its workers have the same form: wire/switchml.h,
// RESTARTS.
//
// On the headers in front and their checksums see hosts/core/udp.h.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_SWITCHML_FRAME_H
#define SILKEN_HOSTS_SWITCHML_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/core/endpoint.h"
#include "wire/switchml.h"

// Bytes before the first element; the longest frame is SWML_HEADER_BYTES + 4 * 256.
#define SWML_HEADER_BYTES (SWML_ADDRESS_BYTES + SWML_OWN_BYTES)
// Of them, Ethernet, IPv4 and UDP: the same in all packets of a flow in one direction.
#define SWML_ADDRESS_BYTES 42
#define SWML_MAX_FRAME     (SWML_HEADER_BYTES + 4 * SWML_MAX_K)

// A question about a restart ends after the exponents, and so does what has no elements.
#define SWML_QUESTION_BYTES SWML_HEADER_BYTES
// Length of a frame without elements, with what fills it up.
#define SWML_EMPTY_FRAME 60

// What stays the same in all packets between a worker and its switch.
struct swml_flow {
    struct sk_endpoint worker;
    struct sk_endpoint fabric; // the switch
    uint8_t job;
    uint16_t k;  // elements in a packet: 32, 64, 128 or 256
    bool halves; // of 16 bits each
};

// What differs from packet to packet.
struct swml_chunk {
    uint16_t slot; // pool index without the version bit
    bool version;  // which of the slot's two copies
    int8_t e0;     // look-ahead exponent
    uint32_t tsi;  // chunk number
    enum swml_message message;
    uint8_t audience; // of a collective operation's packet
    bool brief;       // received: the answer has no elements
};

// Why a received frame was ignored: enum, name in statistics, and what it tells the user.
#define SWML_REASONS(X)                                                                            \
    X(FOREIGN, "foreign", "not IPv4 and UDP without options and fragments")                        \
    X(NOT_FOR_US, "not_for_us", "another station's MAC or IP address or UDP port")                 \
    X(NOT_FROM_SWITCH, "not_from_switch", "not sent from the switch's IP address and UDP port")    \
    X(BAD_LENGTH, "bad_length", "lengths in the headers disagree with the frame or with k")        \
    X(BAD_CHECKSUM, "bad_checksum", "a checksum is wrong: damaged on the way")                     \
    X(WRONG_JOB, "wrong_job", "another job's number")                                              \
    X(WRONG_SIZE, "wrong_size", "another packet size k")                                           \
    X(WRONG_SLOT, "wrong_slot", "a slot outside this job's part of the pool")                      \
    X(NOT_EXPECTED, "not_expected", "the slot expects nothing: a duplicate of its last answer")    \
    X(STALE, "stale",                                                                              \
      "an answer to an earlier use of the slot: a duplicate, or a switch with "                    \
      "state of an earlier run")                                                                   \
    X(BAD_EXPONENT, "bad_exponent",                                                                \
      "an exponent below our own: the switch did not use the "                                     \
      "signed maximum")                                                                            \
    X(BAD_MESSAGE, "bad_message",                                                                  \
      "from the switch's port for restarts, but not one of its messages")                          \
    X(NOT_KEPT, "not_kept",                                                                        \
      "a restarted switch asks for a sum of which only another worker got the elements")           \
    X(BUSY, "busy", "a restarted switch asks while many others wait: it asks again")

enum swml_reason {
    SWML_ACCEPTED,
#define SWML_REASON_ENUM(name, key, text) SWML_##name,
    SWML_REASONS(SWML_REASON_ENUM)
#undef SWML_REASON_ENUM
        SWML_REASON_COUNT
};

// Short name ("stale") and explanation of a reason; "accepted" for SWML_ACCEPTED.
const char *swml_reason_name(enum swml_reason reason);
const char *swml_reason_text(enum swml_reason reason);

// The size code for k, or -1 when a packet cannot have k elements.
int swml_size_code(unsigned k);

// Bytes of an element in the flow's frames.
static inline size_t swml_element_bytes(const struct swml_flow *flow) {
    return flow->halves ? 2 : 4;
}

// Length in bytes of the flow's frames with elements, in both directions.
static inline size_t swml_frame_bytes(const struct swml_flow *flow) {
    return SWML_HEADER_BYTES + swml_element_bytes(flow) * flow->k;
}

// Writes the headers of a frame to the 'SWML_HEADER_BYTES' bytes at 'frame', with all that the flow
// determines; swml_frame_set_chunk() fills in the rest for each packet.
void swml_frame_init(uint8_t *frame, const struct swml_flow *flow);

// The same of frames without elements.
void swml_frame_init_empty(uint8_t *frame, const struct swml_flow *flow);

// Writes what is particular to a packet into headers made by swml_frame_init().
void swml_frame_set_chunk(uint8_t *frame, const struct swml_chunk *chunk);

// The same of what a worker says to a switch that was restarted.
void swml_reply_init(uint8_t *frame, const struct swml_flow *flow);

// Checks the 'len' bytes at 'frame' as an answer of the flow's switch, or one of its messages about
// a restart. Returns SWML_ACCEPTED and fills '*chunk' when they are one: then the elements are at
// 'frame' + SWML_HEADER_BYTES, all k of them, but for WHERE and AGAIN, which have none, and what is
// 'brief'. Otherwise
// returns the reason and leaves '*chunk' alone. Reads nothing behind 'len'. Slot, version, chunk
// number and exponent are the caller's to judge.
enum swml_reason swml_frame_check(const struct swml_flow *flow, const uint8_t *frame, size_t len,
                                  struct swml_chunk *chunk);

// The first bytes of an answer, up to and with the job's number: its verdict, given the length and
// that there is no UDP checksum, follows from them alone.
#define SWML_KNOWN_BYTES 44

struct swml_known {
    uint8_t bytes[SWML_KNOWN_BYTES];
};

// Makes '*known' the headers that the flow's switch is likely to send.
void swml_known_init(struct swml_known *known, const struct swml_flow *flow);

// swml_frame_check() with a memory: a frame that begins as the last one that was accepted is not
// taken apart again. The same result. 'known' belongs to this flow and one thread.
enum swml_reason swml_frame_check_known(const struct swml_flow *flow, struct swml_known *known,
                                        const uint8_t *frame, size_t len, struct swml_chunk *chunk);

#endif
