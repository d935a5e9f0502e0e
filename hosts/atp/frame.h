// SPDX-License-Identifier: Apache-2.0
//
// frame.h: the bytes of an ATP packet, and which of a job's workers it stands for.
//
//      ethernet_h 14 | ipv4_h 20 | udp_h 8 | atp_h 16 | 62 values of 4 bytes          306 bytes
//
// One format for both directions (ATP, NSDI 2021, figure 5; p4/atp/headers.p4, from which the
// generated atp_wire.h comes). Values are in network order: fixed point numbers, or floats (IEEE
// 754) in a gradient with `overflow` and in the parameters of a job of floats.
//
// NUMBERS. A job is 1..127. A flow is what one of a worker's sending threads says to one of the
// job's parameter servers; its fragments are numbered from 0 on, for ever. A job of 2^b flows (b is
// `flow_bits`) has the flow's number in the upper b bits of the 24 bits of sequence number, and the
// lower ones of the fragment's number below: so no two fragments in flight have the same name, and
// all workers give a fragment the same one.
//
// SESSIONS. The UDP source port of all packets of a flow is the job's session (session/message.h).
// Switches compare it with the session that they have begun, and hosts with the one that they are
// in. Without sessions it is ATP_UDP_PORT, and not looked at.
//
// PLACES. Where a worker's gradients are added up is said by its packets (section 3.4). A worker in
// a rack without the server is below a first-level switch: `edge` 0, one bit of bitmap0 for itself,
// one of bitmap1 for its rack's switch. A worker in the server's rack of a job that has other racks
// too is beside those switches: `edge` 1, a bit of bitmap1 for itself. If the whole job is in one
// rack, that rack's switch is a first-level one, and there is no second: fan_in1 is one.
// atp_places() gives a job's workers their places.
//
// MEMBERS. What a server receives stands for: all workers of all bits of bitmap1, if those are
// several; else, of the one bit's rack, the workers of bitmap0; or the one worker that has the bit
// for itself. atp_members() says which these are. For the second switch adds up nothing but whole
// racks, and workers beside it: whatever else the first one lets pass has `resend` or `overflow`
// set. It sends on nothing but the sum over all of them, in which bitmap0 is still that of the
// packet which came last, or a packet as it came, which has one bit of bitmap1.
//
// PARAMETERS. A packet with is_ack goes from the server to all workers. Its fields mean:
//
//      index      where the switches have the fragment: it is released. If workers have sent a
//                 fragment with several indices, there is a packet for each
//      fragment   acknowledged, with its values, the sums over all workers
//      ecn        somebody's gradient was marked on its way
//      bitmap0    ATP_NEW | the new index for fragments with this one's hash (section 3.6); of two
//                 such packets the one of the later fragment counts; 0: no change
//      bitmap1    a new scaling factor (appendix B.3); see atp_scale below; 0: none
//      overflow   no parameters: the sum did not fit. All workers are to send this fragment again,
//                 as floats (section 3.8)
//      resend     no parameters: aggregation starts again at this fragment with the job's new
//                 places (appendix A.3). It has another number from now on, ATP_NEW | the number in
//                 bitmap0, and those after it follow: so what is still under way with the old
//                 number is told from the new, though the same bits may stand for other workers.
//                 Hash and scaling factor are those of the beginning
//
// The parameters of a fragment are the same each time they are sent.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_ATP_FRAME_H
#define SILKEN_HOSTS_ATP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/core/endpoint.h"
#include "hosts/core/udp.h"

#define ATP_VALUES       62
#define ATP_HEADER_BYTES 58
#define ATP_FRAME_BYTES  306
#define ATP_UDP_PORT     0xa790 // the destination's; the switch knows the protocol by it

#define ATP_MAX_JOB     127
#define ATP_MAX_FAN_IN  32
#define ATP_MAX_WORKERS 1024
#define ATP_MAX_RACKS   32
#define ATP_INDICES     65536

// A fragment's number on the wire: job << 24 | sequence. Sequence numbers wrap.
#define ATP_SEQUENCE_BITS 24
#define ATP_MAX_FLOW_BITS 6

// Where a worker is in the hierarchy. Fan-ins are counts here, 1..32.
struct atp_place {
    bool edge;
    uint32_t bitmap0, bitmap1;
    uint8_t fan_in0, fan_in1;
};

// The job as a server sees it.
struct atp_shape {
    uint32_t workers;
    uint32_t entities; // below the second switch: racks and workers beside them; 1: one rack
    uint8_t entity[ATP_MAX_WORKERS]; // by worker: its bit of bitmap1
    uint8_t bit[ATP_MAX_WORKERS];    // its bit of bitmap0; 0 if it is beside the second switch
    bool beside[ATP_MAX_WORKERS];    // its bit of bitmap1 is for itself
    uint16_t worker_at[ATP_MAX_RACKS][ATP_MAX_FAN_IN]; // UINT16_MAX: nobody
};

// Gives 'workers' workers their places: worker i is in rack rack_of[i] (any numbers), the server in
// 'server_rack'. Fills 'shape' and, unless NULL, places[workers]. Returns 0, or SILKEN_ERR_INVALID
// with a sentence in '*why': no worker, more than 1024, more than 32 in a rack or below the second
// switch.
int atp_places(const uint32_t *rack_of, uint32_t workers, uint32_t server_rack,
               struct atp_shape *shape, struct atp_place *places, const char **why);

// A set of workers.
struct atp_members {
    uint64_t word[ATP_MAX_WORKERS / 64];
};

// A packet in host order; 'values' points into the frame.
struct atp_packet {
    uint32_t bitmap0, bitmap1;
    bool edge, resend, collision, ecn, overflow, is_ack;
    uint8_t fan_in0, fan_in1; // counts
    uint16_t index;
    uint8_t job;
    uint16_t session;  // read only: a flow's packets are of its session
    uint32_t sequence; // 24 bits
    const uint8_t *values;
};

// Of whom a gradient that has reached its server is. False when its bits are nobody's: then
// '*members' is empty.
bool atp_members(const struct atp_shape *shape, const struct atp_packet *packet,
                 struct atp_members *members);

#define ATP_NEW UINT32_C(0x80000000)

// The dynamic scaling factor (appendix B.3): 2^'exponent' from the 'after'th fragment after this
// packet's on, packed into bitmap1 of a parameter packet. 'after' is not less than any worker's
// greatest window: who sends that fragment has this packet.
struct atp_scale {
    int8_t exponent; // -64..63
    uint32_t after;  // 24 bits
};
uint32_t atp_scale_pack(const struct atp_scale *scale); // never 0
bool atp_scale_unpack(uint32_t word, struct atp_scale *scale);

// What stays the same in all packets of a flow. Gradients go from a worker to the server's
// addresses, parameters from the server to the job's group: a group MAC address, which the
// switches' tables know, and any IP address. The UDP ports of server and group are ATP_UDP_PORT.
struct atp_flow {
    struct sk_endpoint worker; // not used by a server
    struct sk_endpoint server;
    struct sk_endpoint group;
    uint8_t job;
    uint8_t flow, flow_bits; // flow number, below 2^flow_bits
    uint16_t session;        // the job's; 0: it has none
};

// What is wrong with a flow, as a sentence; NULL: nothing.
const char *atp_flow_fault(const struct atp_flow *flow);

// A fragment's number in the flow, as the sequence number on the wire, and back: the one of its
// possible numbers that is closest to 'near'.
uint32_t atp_sequence(const struct atp_flow *flow, uint64_t number);
uint64_t atp_unwrap(const struct atp_flow *flow, uint32_t sequence, uint64_t near);

// Why a received frame was ignored. The first ones are of atp_frame_check(), the others of a worker
// or a server.
#define ATP_REASONS(X)                                                                             \
    X(FOREIGN, "foreign", "not IPv4 and UDP without options and fragments")                        \
    X(NOT_FOR_US, "not_for_us", "another station's MAC or IP address or UDP port")                 \
    X(BAD_LENGTH, "bad_length", "not the length of 62 values")                                     \
    X(BAD_CHECKSUM, "bad_checksum", "a checksum is wrong: damaged on the way")                     \
    X(WRONG_JOB, "wrong_job", "another job's or flow's number, or another session")                \
    X(WRONG_WAY, "wrong_way", "a gradient where parameters are expected, or the reverse")          \
    X(WRONG_MEMBERS, "wrong_members", "bits that do not belong to a worker of the job")            \
    X(DUPLICATE, "duplicate", "from workers whose values have been added already")                 \
    X(OLD, "old", "a fragment that has been acknowledged already")                                 \
    X(AHEAD, "ahead", "a fragment that no worker can have sent yet")                               \
    X(OTHER_INDEX, "other_index", "parameters for an index other than the fragment was sent with") \
    X(NOT_FLOAT, "not_float", "fixed point numbers where floats were requested, or the reverse")

enum atp_reason {
    ATP_ACCEPTED,
#define ATP_REASON_ENUM(name, key, text) ATP_##name,
    ATP_REASONS(ATP_REASON_ENUM)
#undef ATP_REASON_ENUM
        ATP_REASON_COUNT
};
const char *atp_reason_name(enum atp_reason reason);
const char *atp_reason_text(enum atp_reason reason);

// Writes the headers of a gradient ('to_server') or of parameters to the ATP_HEADER_BYTES at
// 'frame', with all that the flow determines; atp_frame_set() fills in the rest for each packet.
// The UDP checksum is 0 (none), as switches replace the values.
void atp_frame_init(uint8_t *frame, const struct atp_flow *flow, bool to_server);

// Writes what is particular to a packet, but for the values, job and flow included.
void atp_frame_set(uint8_t *frame, const struct atp_packet *packet);

// What differs between the gradients of a worker; all else is in headers that it keeps.
struct atp_mark {
    uint32_t sequence;
    uint16_t index;
    bool resend, overflow;
};
void atp_frame_mark(uint8_t *frame, const struct atp_flow *flow, const struct atp_mark *mark);

// Checks the 'len' bytes at 'frame' as a packet that is sent to 'to', a server or a group: MAC, IP,
// UDP port, lengths, checksums (UDP's unless 0). Returns ATP_ACCEPTED and fills '*packet', or the
// reason. Reads nothing behind 'len'. The job is the caller's to judge.
enum atp_reason atp_frame_check(const struct sk_endpoint *to, const uint8_t *frame, size_t len,
                                struct atp_packet *packet);

// The headers before packets that were accepted, of several senders; zeros at first.
#define ATP_KNOWN_SENDERS 8

struct atp_known {
    uint8_t headers[ATP_KNOWN_SENDERS]
                   [SK_UDP_BYTES]; // by IP address, as far as that tells them apart
    bool has[ATP_KNOWN_SENDERS];
};

// atp_frame_check() with a memory: headers that are those of a packet which was accepted before,
// without a UDP checksum, are not taken apart again. The same result. 'known' belongs to the
// packets to 'to' and one thread.
enum atp_reason atp_frame_check_known(const struct sk_endpoint *to, struct atp_known *known,
                                      const uint8_t *frame, size_t len, struct atp_packet *packet);

// Whether a packet belongs to a flow.
bool atp_is_of(const struct atp_flow *flow, const struct atp_packet *packet);

// Which aggregator a fragment has at first: position 0..count-1 (section 3.5). All workers of a job
// find the same. 'linear': sequence modulo count (section 5.4.2, for comparison).
uint32_t atp_hash(uint8_t job, uint32_t sequence, uint32_t count, bool linear);

// The position that replaces 'position' after a collision of 'fragment' (job << 24 | sequence). The
// paper has a hash of the position alone (section 3.6). But one function from positions to
// positions, applied again and again, leads all of them into its few cycles, the same ones for all
// jobs: with 360 aggregators and three jobs, four of five fragments collided, for ever.
uint32_t atp_rehash(uint32_t position, uint32_t count, uint32_t fragment);

#endif
