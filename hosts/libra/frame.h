// SPDX-License-Identifier: Apache-2.0
//
// frame.h: the bytes of Libra's packets: what a worker sends and what it accepts. The layouts come
// from p4/libra, through the generated libra_wire.h.
//
//     ethernet_h 14 | ipv4_h 20 | udp_h 8 | libra_h 16 | 16 times: index 4, value 4
//
// An ack has no pairs. On the headers in front and their checksums see hosts/core/udp.h.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_LIBRA_FRAME_H
#define SILKEN_HOSTS_LIBRA_FRAME_H

#include "hosts/core/endpoint.h"
#include "hosts/libra/pack.h"

#define LIBRA_PORT        0xbec0u // UDP, of switches
#define LIBRA_HEADERS     58u     // bytes before the pairs; an ack has no more
#define LIBRA_FRAME_BYTES (LIBRA_HEADERS + LIBRA_PLACES * 8)

enum libra_kind {
    LIBRA_PUSH = 1,
    LIBRA_PUSH_ANY = 2, // pairs at any place
    LIBRA_ACK = 3,
    LIBRA_PULL = 4,
    LIBRA_ANSWER = 5,
    LIBRA_COLLECT = 6, // server to switch: as a pull, and the cells are 0 after it
    LIBRA_BARRIER = 7, // worker to server: tell me when all workers are here
    LIBRA_LOST = 8,    // the switch's CPU to a server: what a collect has cleared is lost
    LIBRA_JOIN = 9, // a member that begins, to the switch's CPU: 'clock' is its job's incarnation
    LIBRA_JOINED = 10,  // from there: 'clock' is the first sequence number to use
    LIBRA_REFUSED = 11, // or: the job has begun as another incarnation
    LIBRA_MOVED =
        12, // to a member: the switch has the job under another epoch, which is 'clock'; and
            // the member's word that it has heard
    LIBRA_ENDED = 13, // to a member: what was pushed is lost with a switch; the job is over
};

// What stays the same in all packets between a worker and its switch.
struct libra_flow {
    struct sk_endpoint worker;
    struct sk_endpoint fabric; // the switch
    uint8_t job;
    uint16_t number; // the worker's in its job
    uint16_t epoch;  // of the job's layout
};

// What differs from packet to packet.
struct libra_header {
    enum libra_kind kind;
    bool again;        // sent before
    bool congested;    // a switch on the way marked it (ECN); of received ones
    uint32_t sequence; // 1 to 2^31 - 1
    uint32_t clock;
};

// Why a received frame was ignored: enum, name in statistics, and what it tells the user.
#define LIBRA_REASONS(X)                                                                           \
    X(FOREIGN, "foreign", "not IPv4 and UDP without options and fragments")                        \
    X(NOT_FOR_US, "not_for_us", "another station's MAC or IP address or UDP port")                 \
    X(NOT_FROM_SWITCH, "not_from_switch", "not sent from the switch's IP address and UDP port")    \
    X(BAD_LENGTH, "bad_length", "lengths in the headers disagree with the frame or its kind")      \
    X(BAD_CHECKSUM, "bad_checksum", "a checksum is wrong: damaged on the way")                     \
    X(WRONG_JOB, "wrong_job", "another job's number, worker or epoch")                             \
    X(WRONG_KIND, "wrong_kind", "not a reply to what was sent")                                    \
    X(NOT_EXPECTED, "not_expected", "of no packet on the way: a duplicate")                        \
    X(OTHER_PAIRS, "other_pairs", "of parameters that were not asked for or pushed")               \
    X(NO_MEMORY, "no_memory", "a server had no memory for it, or no switch")

enum libra_reason {
    LIBRA_ACCEPTED,
#define LIBRA_REASON_ENUM(name, key, text) LIBRA_##name,
    LIBRA_REASONS(LIBRA_REASON_ENUM)
#undef LIBRA_REASON_ENUM
        LIBRA_REASON_COUNT
};
// Short name ("foreign") and explanation; "accepted" for LIBRA_ACCEPTED.
const char *libra_reason_name(enum libra_reason reason);
const char *libra_reason_text(enum libra_reason reason);

// Writes a frame of LIBRA_FRAME_BYTES to 'frame'.
void libra_frame_write(uint8_t *frame, const struct libra_flow *flow,
                       const struct libra_header *header, const struct libra_packet *packet);

// The worker's ack of an answer: writes LIBRA_HEADERS bytes.
void libra_frame_write_ack(uint8_t *frame, const struct libra_flow *flow, uint32_t sequence);

// A member that begins asks the switch's CPU which sequence number is the first that it may use:
// writes LIBRA_HEADERS bytes. The reply is LIBRA_JOINED with that number, or LIBRA_REFUSED with the
// incarnation as which the job has begun; another frame is 0. '*epoch': of the job on the switch,
// which is another than the layout's after a move.
void libra_frame_write_join(uint8_t *frame, const struct libra_flow *flow, uint32_t incarnation);
unsigned libra_frame_read_joined(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                 uint32_t *number, uint16_t *epoch);

// The switch's CPU tells a member that begins to use another epoch, or that the job is over:
// LIBRA_MOVED or LIBRA_ENDED, 0: another frame. The epoch of such a frame is the one before, or the
// new one (when it comes again).
unsigned libra_frame_read_moved(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                uint16_t *epoch);
void libra_frame_write_moved(uint8_t *frame, const struct libra_flow *flow); // has heard

// Is it an ack, an answer or the word that one is lost, for this worker: then '*header' is filled
// in and, of an answer, '*packet' ('used' and the pairs); of an ack 'used' has the places whose
// pairs were not added, of a collect's answer those that were read and cleared. Reads nothing
// behind 'len'.
enum libra_reason libra_frame_read(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                   struct libra_header *header, struct libra_packet *packet);

#endif
