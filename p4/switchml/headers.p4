/* SPDX-License-Identifier: Apache-2.0
 *
 * headers.p4: what SwitchML looks like on the wire and inside the switch.
 *
 * The hosts' C structs are generated from the first half of this file.
 */
#ifndef SWITCHML_HEADERS_P4
#define SWITCHML_HEADERS_P4

// Builds without collective operations.
#ifdef HALVES
#define SUMS_ALONE
#endif
#ifdef WITH_LEVELS
#define SUMS_ALONE
#endif

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<32> value_t;      // an element; addition wraps, so signed and unsigned are the same
typedef bit<16> half_t;       // an element of halves.p4: a 16-bit float of IEEE 754
typedef int<8>  exponent_t;   // a block's exponent; the switch keeps the largest, -128 is the least

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  IP_PROTOCOL_UDP = 17;

// UDP destination ports 0xbee0 to 0xbeef are the switch's. A worker's source port is free: it is the
// port that results come back to.
const bit<16> UDP_PORT_SWITCHML      = 0xbee0;
const bit<16> UDP_PORT_SWITCHML_MASK = 0xfff0;

// ---------------------------------------------------------------------------------------------------
// On the wire: ethernet_h, ipv4_h, udp_h, switchml_h, exponents_h, then the elements, 32 bits each in
// network order, as many as switchml_h.size says.

header ethernet_h {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

header ipv4_h {
    bit<4>      version;
    bit<4>      ihl;
    bit<8>      diffserv;
    bit<16>     total_len;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     frag_offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     hdr_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;   // not read; 0 (none) in results
}

// How many elements a packet carries. Each 64 take one pipe.
enum bit<3> packet_size_t {
    ELEMENTS_32  = 0,
    ELEMENTS_64  = 1,
    ELEMENTS_128 = 2,
    ELEMENTS_256 = 3
}

// msg_type    the published client sends 1 and expects 1; the switch does not change it. 12 to 15 are collective
//             operations, whose packets and results need not have elements: see MSG_TYPE_COLLECTIVE
// job_number  selects, together with the sender, an entry of the table `workers`. The published
//             client counts its all-reduce calls here, modulo 256: register all 256 numbers for it.
// tsi         the sender's business (which chunk this is), returned as it came; the published
//             client leaves it in host byte order. For a job with an entry in `sessions`, its
//             upper 8 bits are the session's number
// pool_index  slot within the job's pool; the top bit is the pool version
header switchml_h {
    bit<4>        msg_type;
    bit<1>        unused;
    packet_size_t size;
    bit<8>        job_number;
    bit<32>       tsi;
    bit<16>       pool_index;
}

const bit<4> MSG_TYPE_AGGREGATE = 1;

// Collective operations (README.md): the two upper bits are set, and `e1` says who of the job gets the elements of the
// result (table `audiences`). The third: the packet has no elements itself, which stand for zeros. The fourth: its sender wants
// a result without elements, if it has to ask again.
const bit<4> MSG_TYPE_COLLECTIVE      = 0b1100;
const bit<4> MSG_TYPE_COLLECTIVE_MASK = 0b1100;
const bit<4> MSG_TYPE_EMPTY           = 0b1110;
const bit<4> MSG_TYPE_EMPTY_MASK      = 0b1110;
const bit<4> MSG_TYPE_BRIEF           = 0b1101;
const bit<4> MSG_TYPE_BRIEF_MASK      = 0b1101;

// Without elements a packet has 20 + 8 + 8 + 2 bytes from IPv4 on.
const bit<16> EMPTY_TOTAL_LEN  = 38;
const bit<16> EMPTY_UDP_LENGTH = 18;

// Exponents of the block that the sender will send next in this slot; in a result, the largest that
// any worker announced. The published client uses e0 alone, for the packet's whole block, and leaves
// e1 undefined; e1 is free for a second block size. In collective operations e1 is the audience, the same at all workers.
header exponents_h {
    exponent_t e0;
    exponent_t e1;
}

// Half of what one pipe takes from a packet. Lane k of a pipe owns element k of both halves.
header elements_h {
    value_t v00;
    value_t v01;
    value_t v02;
    value_t v03;
    value_t v04;
    value_t v05;
    value_t v06;
    value_t v07;
    value_t v08;
    value_t v09;
    value_t v10;
    value_t v11;
    value_t v12;
    value_t v13;
    value_t v14;
    value_t v15;
    value_t v16;
    value_t v17;
    value_t v18;
    value_t v19;
    value_t v20;
    value_t v21;
    value_t v22;
    value_t v23;
    value_t v24;
    value_t v25;
    value_t v26;
    value_t v27;
    value_t v28;
    value_t v29;
    value_t v30;
    value_t v31;
}

#ifdef HALVES
// What one pass takes from a packet of 16-bit floats (halves.p4).
header halves_h {
    half_t v00;
    half_t v01;
    half_t v02;
    half_t v03;
    half_t v04;
    half_t v05;
    half_t v06;
    half_t v07;
    half_t v08;
    half_t v09;
    half_t v10;
    half_t v11;
    half_t v12;
    half_t v13;
    half_t v14;
    half_t v15;
}
#endif

#ifdef WITH_ROCE
// RoCEv2, unreliable connection: behind UDP bth_h; in the first packet of a message and in an only one reth_h; in the last
// and in an only one with immediate data immediate_h and exponents_h; 64, 128 or 256 elements; and the invariant CRC, 4
// bytes, which are payload here (README.md, RoCE).
const bit<16> UDP_PORT_ROCE = 4791;

enum bit<8> opcode_t {
    WRITE_FIRST          = 0x26,
    WRITE_MIDDLE         = 0x27,
    WRITE_LAST           = 0x28,
    WRITE_LAST_IMMEDIATE = 0x29,
    WRITE_ONLY           = 0x2a,
    WRITE_ONLY_IMMEDIATE = 0x2b
}

// dst_qp   upwards: 10 bits of the controller's own, 8 bits of the worker's replication id, 6 bits for which of its
//          queue pairs; the lower 14 are the index of the registers
// psn      counts the packets of a queue pair, modulo 2^24
header bth_h {
    opcode_t opcode;
    bit<1>   solicited;
    bit<1>   migration;
    bit<2>   pad_count;
    bit<4>   version;
    bit<16>  partition;
    bit<8>   congestion;
    bit<24>  dst_qp;
    bit<1>   ack_request;
    bit<7>   reserved;
    bit<24>  psn;
}

// address   where the result goes in the workers' memory, the same at all of them
// rkey      to the switch: 2 * slot of the message's first packet within the job's pool, + pool version. From it: the
//           worker's own
// length    of the message in bytes
header reth_h {
    bit<64> address;
    bit<16> rkey_high;
    bit<16> rkey;
    bit<32> length;
}

// The first half of the immediate data; the second is exponents_h. The sender's own: it comes back.
header immediate_h {
    bit<16> message;
}

// UDP lengths by what is in front of 256, 512 or 1024 bytes of elements: 8 + 12 + 4 bytes of UDP, bth_h and invariant CRC,
// and 16 of reth_h, 4 of immediate data.
const bit<16> MIDDLE_UDP_256  = 280;
const bit<16> MIDDLE_UDP_512  = 536;
const bit<16> MIDDLE_UDP_1024 = 1048;
const bit<16> LAST_UDP_256    = 284;
const bit<16> LAST_UDP_512    = 540;
const bit<16> LAST_UDP_1024   = 1052;
const bit<16> FIRST_UDP_256   = 296;
const bit<16> FIRST_UDP_512   = 552;
const bit<16> FIRST_UDP_1024  = 1064;
const bit<16> ONLY_UDP_256    = 300;
const bit<16> ONLY_UDP_512    = 556;
const bit<16> ONLY_UDP_1024   = 1068;

// Bytes of IPv4's header, without options.
const bit<16> IPV4_AROUND_UDP = 20;

// Messages in flight: each has a queue pair.
#define PAIRS     16384
#define PAIR_BITS 14
typedef bit<PAIR_BITS> pair_index_t;
#endif

// ---------------------------------------------------------------------------------------------------
// Inside the switch.

// What a pass through the ingress pipeline does with a packet. A pass may change it on the way: see
// the state table in README.md.
enum bit<8> op_t {
    FORWARD   = 0,  // not ours: an ordinary Ethernet frame
    ARRIVE    = 1,  // from a worker, not yet admitted
    RELAY     = 2,  // the same, in a pipe that is not the first: admit, then send to the first
    CONSUME   = 3,  // admitted: aggregate 64 elements here
    DUPLICATE = 4,  // admitted, but this worker's part is in the slot already
    READ_LOW  = 5,  // result: read the first half of this pipe's elements
    READ_HIGH = 6,  // result: read the second half
    READ_NONE = 7,  // result: the elements are in the packet, only the exponents are missing
    DROP      = 8,  // refused, `reason` says why
    READ_BRIEF = 9, // result of a collective operation without its elements: read the exponents
    RESULT    = 10, // with levels: the sums that the switch above sent, to be put where the partial sums are
    RELAY_RESULT = 11 // the same, in a pipe that is not the first
}

// Why a packet was dropped: the index into the counter `drops`. No packet is dropped for its IPv4 checksum.
enum bit<8> drop_reason_t {
    NONE           = 0,  // nothing is counted here
    PARSER_ERROR   = 1,  // too short for its headers or for its elements
    BAD_LENGTH     = 3,  // IPv4 or UDP length is not what `size` asks for, or `size` is unknown
    UNKNOWN_WORKER = 4,  // no entry in `workers` for job, sender and port
    BAD_POOL_INDEX = 5,  // slot outside the job's pool
    DUPLICATE      = 6,  // repeated before the slot was complete: nothing to answer yet
    BAD_STATE      = 7,  // no step for this packet in `steps`: a fault of the program
    OTHER_SESSION  = 8,  // of another session of the job, or between two
    NO_AUDIENCE    = 9,  // a collective operation for an audience that the job does not have
    OUT_OF_ORDER   = 10, // by RoCE: not the next packet of its queue pair's message, or older than its last
    STALE_RESULT   = 11, // with levels: a result from above for another use of its slot than the present one
    KNOWN_RESULT   = 12  // with levels: a result from above that the slot has already
}

// In front of a packet between two passes and on the way to egress; never on a wire. The ingress
// parser looks for it only on the recirculation ports, which nothing outside the switch reaches.
//
// Every field is a whole number of bytes, so each may sit in containers of its own.
header bridge_h {
    op_t         op;           // what the next pass does
    bit<8>       unicast;      // 1: the result goes to one worker, who asked for it again; see below for levels
    bit<8>       num_workers;
#ifndef WITH_LEVELS
    bit<8>       collective;   // of a collective operation its packet's msg_type and size, else 0
#endif
    bit<16>      cell;         // version and slot in the pipe's registers (aggregate.p4)
    bit<16>      group;        // multicast group of who gets the result
#ifdef WITH_LEVELS
    bit<16>      above;        // multicast group of the switch above alone
#else
    bit<16>      brief_group;  // of who gets it without elements, in collective operations
#endif
    bit<16>      rid;          // names the worker: replication id of its copies
    bit<16>      port;         // where the worker is attached
    bit<32>      worker_bit;   // one bit: the worker in the slots' bitmaps
#ifdef WITH_ROCE
    @padding
    bit<5>        unused;
    packet_size_t size;        // what comes by RoCE has no SwitchML header that says it
#endif
}

#ifdef WITH_LEVELS
// bridge_h.unicast with levels (with_levels.p4).
const bit<8> TO_JOB     = 0;  // the sums of the top switch, to all below it
const bit<8> TO_WORKER  = 1;  // to one of those below, who asked again
const bit<8> TO_ABOVE   = 2;  // a partial sum, to the switch above
const bit<8> FROM_ABOVE = 3;  // sums from the switch above, to all below
#endif

struct headers_t {
    bridge_h    bridge;
    ethernet_h  ethernet;
    ipv4_h      ipv4;
    udp_h       udp;
    switchml_h  switchml;
#ifdef WITH_ROCE
    bth_h       bth;        // in place of switchml
    reth_h      reth;
    immediate_h immediate;
#endif
    exponents_h exponents;
#ifdef HALVES
    halves_h    halves;    // as they came
    halves_h    results;
#else
    elements_h  low;
    elements_h  high;
#endif
}

#endif
