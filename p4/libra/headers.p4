/* SPDX-License-Identifier: Apache-2.0
 *
 * headers.p4: what Libra looks like on the wire and inside the switch.
 */
#ifndef LIBRA_HEADERS_P4
#define LIBRA_HEADERS_P4

#include "../common/headers.p4"

typedef bit<32> value_t;    // a float; or an integer: addition wraps, so signed and unsigned are the same

const bit<16> UDP_PORT_LIBRA = 0xbec0;

// ---------------------------------------------------------------------------------------------------
// On the wire: ethernet_h, ipv4_h, udp_h, libra_h, then 16 pairs but in an ack: 186 bytes, or 58.

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;   // not read; 0 (none) in answers
}

enum bit<4> kind_t {
    PUSH     = 1,  // worker to switch: add the pairs
    PUSH_ANY = 2,  // the same, pairs at any place; not where integers are added
    ACK      = 3,  // switch to worker: they are added, but for those at `places`
    PULL     = 4,  // worker to switch: what are the cells of these indices
    ANSWER   = 5,  // switch to worker: these; of a COLLECT: what the cells held
    COLLECT  = 6,  // server to switch: the same as PULL, and the cells are 0 after it
    JOIN     = 9,  // worker to the CPU: it begins
    MOVED    = 12  // the same: it has heard that the job has another epoch. Other kinds are the hosts' and the CPU's (hosts/libra/frame.h)
}

// again     the sender repeats this packet (3.6); the switch does not rely on it
// cold      for parameter servers
// job       selects, together with worker, sender and port, an entry of the table `workers`
// worker    number in its job
// sequence  of a push: 1 and up, below 2^30; the same when the packet is repeated. Returned in answers
// places    bit 15 - j: place j holds a pair; of an ack: the pair was not added, so many others came between; of a
//           COLLECT's answer: the cell was read and is 0
// epoch     of the layout
// clock     the sender's business, returned as it came
header libra_h {
    kind_t  kind;
    bit<1>  again;
    bit<1>  cold;
    bit<2>  spare;
    bit<8>  job;
    bit<16> worker;
    bit<32> sequence;
    bit<16> places;
    bit<16> epoch;
    bit<32> clock;
}

// Place j holds a parameter of register j: its index, the rank, is j modulo 16 (3.4); but in a PUSH_ANY. A place
// without a pair has the index j, and its value is not looked at. Cells have 15 bits at most.
header pair_h {
    bit<32> index;
    value_t value;
}

// ---------------------------------------------------------------------------------------------------
// Inside the switch.

// What the switch does with a packet.
enum bit<8> op_t {
    FORWARD = 0,  // not ours: an ordinary Ethernet frame
    ARRIVE  = 1,  // ours, not yet admitted
    PUSH    = 2,  // admitted
    PULL    = 3,
    DROP    = 4,  // refused, `reason` says why
    STEP    = 5,  // a later pass
    COLLECT = 6,
    HEAR    = 7   // a worker's ack of an answer, or that it begins: for the CPU
}

// Why a packet was dropped: the index into the counter `drops`.
enum bit<8> drop_reason_t {
    NONE           = 0,  // nothing is counted here
    PARSER_ERROR   = 1,  // too short for its headers or for its pairs
    BAD_CHECKSUM   = 2,  // IPv4 header checksum
    BAD_LENGTH     = 3,  // IPv4 or UDP length is not that of 16 pairs
    UNKNOWN_WORKER = 4,  // no entry in `workers` for job, worker, sender and port
    OTHER_EPOCH    = 5,  // of another layout than the job's
    BAD_KIND       = 6,  // nothing that a worker sends to a switch
    BAD_SEQUENCE   = 7,  // 0, or 2^30 and above
    BAD_PLACE      = 8,  // an index is not of the register of its place
    BAD_INDEX      = 9,  // an index is outside the job's cells
    OLD            = 10, // a push whose record has been taken by a later one
    BEGUN          = 11  // a push that is repeated while it is being added
}

// ---------------------------------------------------------------------------------------------------
// What a worker may do, and what the switch's CPU does for it: `rights` of `enroll`.
typedef bit<8> rights_t;
const rights_t RIGHT_COLLECT = 1;  // it is a server: it may clear cells
const rights_t RIGHT_CPU     = 2;  // the CPU has copies of its answers, gets its acks of them, and what is left of pushes

const PortId_t CPU_PORT = 64;      // frames to and from it are as on the wire

// Where answers go: to the port that the packet came from. A program that has another answer defines it (p4/rack),
// and WITHOUT_CPU if this program's frames cannot reach a CPU: nobody has rights then.
#ifndef ANSWER_PORT
#define ANSWER_PORT (bit<16>)ig_intr_md.ingress_port
#endif

// An answer that comes back by a port, of a program that sends it there: RETURN_PORTS, an entry of the parser's choice of
// ports, leads to parse_answer.
#ifndef RETURN_PORTS
#define RETURN_PORTS
#define RETURN_STATES
#else
#define RETURN_STATES                                                                                 \
    state parse_answer {                                                                              \
        pkt.extract(hdr.ethernet);                                                                    \
        pkt.extract(hdr.ipv4);                                                                        \
        pkt.extract(hdr.udp);                                                                         \
        pkt.extract(hdr.libra);                                                                       \
        md.op = op_t.FORWARD;                                                                         \
        transition accept;                                                                            \
    }
#endif

// ---------------------------------------------------------------------------------------------------
// Between the passes of a packet, in front of it.
#ifndef LIBRA_INTEGERS

// What is done in a pass. `left`, `group` and the pairs are as this pass's parser has turned them.
enum bit<8> step_t {
    TAKE   = 1,  // the first pass: has it been added before
    REPEAT = 2,  // it has: the ack again
    READ   = 3,  // two pairs: read their cells
    SWAP   = 4,  // write the sums to those cells that still are what was read; read the others again
    SKIP   = 5,  // enough tries: only turn the pairs back
    FINISH = 6,  // added: the last pass
    EMPTY  = 7   // as SWAP, of a collect: the sums are 0
}

// How the next pass's parser turns the pairs: the first ones go to the end.
enum bit<8> turn_t {
    NONE  = 0,
    TWO   = 1,
    THREE = 2
}

header state_h {
    step_t  step;
    turn_t  turn;
    bit<8>  pulls;       // 1: a pull; 2: a collect
    bit<8>  cpu;         // 2 (RIGHT_CPU): its answer, or what is left of it, goes to the CPU
    bit<8>  group;       // groups of two places that are done
    bit<8>  last;        // number of the last group: 7; 8 of a pull, 15 of a PUSH_ANY
    bit<8>  tries;       // how many more cells may be found changed
    bit<16> port;        // where the packet came from
}

// A number of its own: no container is shared with another field's.
header word_h {
    bit<32> value;
}

header half_h {
    bit<16> value;
}

#endif

struct headers_t {
#ifndef LIBRA_INTEGERS
    state_h    state;
    half_h     left;        // bit 15 - p: the pair at place p is not done
    half_h     record;
    word_h     ticket;      // twice the sequence number
    word_h     last;        // the highest index of the job: 16 times the number of its cells in a register, - 1
    word_h     top;         // the same and 16 times the job's first cell
    // of the two pairs that are worked on: what the cell was, and the sum; from ingress to egress the pair's value
    word_h     was0;
    word_h     was1;
    word_h     sum0;
    word_h     sum1;
    // For egress: the logarithms of the two cells and of the two values. They stay with the others, so that no header
    // moves from pass to pass.
    word_h     log_x0;
    word_h     log_x1;
    word_h     log_y0;
    word_h     log_y1;
#endif
    ethernet_h ethernet;
    ipv4_h     ipv4;
    udp_h      udp;
    libra_h    libra;
    pair_h     pair00;
    pair_h     pair01;
    pair_h     pair02;
    pair_h     pair03;
    pair_h     pair04;
    pair_h     pair05;
    pair_h     pair06;
    pair_h     pair07;
    pair_h     pair08;
    pair_h     pair09;
    pair_h     pair10;
    pair_h     pair11;
    pair_h     pair12;
    pair_h     pair13;
    pair_h     pair14;
    pair_h     pair15;
}

#endif
