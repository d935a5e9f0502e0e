/* SPDX-License-Identifier: Apache-2.0
 *
 * headers.p4: what ATP looks like on the wire and inside the switch (Lao et al., NSDI 2021, figure 5).
 */
#ifndef ATP_HEADERS_P4
#define ATP_HEADERS_P4

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef int<32> value_t;     // a gradient times the scaling factor; sums saturate
typedef bit<32> fragment_t;  // job (8 bits, 1 to 127) and sequence number (24 bits)
typedef bit<32> bitmap_t;    // workers below a first-level switch, or what is below a second-level one

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  IP_PROTOCOL_UDP = 17;
const bit<16> UDP_PORT_ATP = 0xa790;

// ---------------------------------------------------------------------------------------------------
// On the wire: ethernet_h, ipv4_h, udp_h, atp_h, then 62 values of 32 bits in network order: 306 bytes,
// of which 58 are headers (section 3.6 of the paper).

header ethernet_h {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

header ipv4_h {
    bit<4>      version;
    bit<4>      ihl;
    bit<6>      dscp;
    bit<2>      ecn;
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
    bit<16> checksum;   // not read; 0 (none) in what the switch has added up
}

// bitmap0, bitmap1   one bit: the worker below its first switch; that switch, or a worker beside it,
//                    below the second. In what a switch sends on: all that are in the sum.
// fan_in0, fan_in1   how many there are to wait for at the first and the second switch, minus 1
// edge               edgeSwitchIdentifier: 0 on the way to the first switch, 1 after it (and from the
//                    start for a worker that has no first switch)
// resend             sent again, or not to be aggregated any more
// collision          the aggregator belonged to another fragment
// ecn                a queue on the way was long
// overflow           the values are floats, because their sum did not fit: never added by a switch
// is_ack             a parameter packet, from the server
// index              aggregatorIndex: which pipe (2 bits) and which aggregator there
// fragment           jobIDAndSequenceNumber
header atp_h {
    bitmap_t   bitmap0;
    bitmap_t   bitmap1;
    bit<1>     edge;
    bit<1>     resend;
    bit<1>     collision;
    bit<5>     fan_in0;
    bit<1>     ecn;
    bit<1>     overflow;
    bit<1>     is_ack;
    bit<5>     fan_in1;
    bit<16>    index;
    fragment_t fragment;
}

// Half of a packet's values: what one pass adds up.
header values_h {
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
}

// ---------------------------------------------------------------------------------------------------
// Inside the switch.

// What a pass does with a packet.
enum bit<8> op_t {
    FORWARD     = 0,  // not ours: an ordinary frame
    RELAY       = 1,  // ours, to be handled by the pipe that has the aggregator
    GRADIENT    = 2,  // takes an aggregator, or is added to it
    RESEND      = 3,  // first level: takes what the aggregator has along and frees it
    RELEASE     = 4,  // second level, or floats: frees the aggregator and goes on as it is
    ACK         = 5,  // a parameter packet: frees the aggregator, also one that was abandoned
    ABSORB      = 6,  // second pass of a packet that ends here
    COMPLETE    = 7,  // second pass of the one that carries the sum
    UNLOCK      = 8,  // second pass of a RESEND
    DROP        = 9   // refused, `reason` says why
}

// What a second pass does with its values, as the first did with the others.
enum bit<8> lane_op_t {
    NONE = 0,
    SET  = 1,
    ADD  = 2,
    READ = 3
}

// Why a packet was dropped: the index into the counter `drops`.
enum bit<8> drop_reason_t {
    NONE         = 0,
    PARSER_ERROR = 1,  // too short for its headers or for its values
    BAD_CHECKSUM = 2,  // IPv4 header checksum
    BAD_LENGTH   = 3,  // IPv4 or UDP length is not that of 62 values
    BAD_FRAGMENT = 4,  // job 0, or above 127
    DUPLICATE    = 5,  // its values are in the aggregator already
    BAD_INDEX    = 6,  // no pipe has this aggregator (p4/ina)
    OTHER_SESSION    = 7   // of another session of the job, or between two
}

// Between the two passes: in front of a recirculated packet, or as resubmitted data. Never on a wire.
header bridge_h {
    op_t      op;
    lane_op_t lane;
    bit<48>   _pad;
}

struct headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    ipv4_h     ipv4;
    udp_h      udp;
    atp_h      atp;
    values_h   done;     // second pass of a packet that goes on: what the first has put there
    values_h   values;   // this pass's
    values_h   rest;     // first pass: the other half, to know that it is there
}

#endif
