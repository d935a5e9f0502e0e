// SPDX-License-Identifier: Apache-2.0
//
// v1model.p4: what a program of the v1model architecture finds declared, on top of TNA. wrap.py puts the program's
// blocks into a pipeline of a Tofino and writes the externs that are not here (registers, counters, hashes,
// checksums) as TNA has them; harness/compat/v1model/v1model.py compiles the result with this folder as -I.
#ifndef SILKEN_V1MODEL_ON_TNA
#define SILKEN_V1MODEL_ON_TNA

#include <core.p4>
#include <tna.p4>

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif
const bit<32> __v1model_version = V1MODEL_VERSION;

// The port that stands for "drop this packet".
const bit<9> V1_DROP = 511;
// The instance type of a copy that a multicast group made.
const bit<32> V1_REPLICATION = 5;

// Before each packet; the program does not see it.
header v1_frame_t {
    bit<112> bytes;
}

struct standard_metadata_t {
    bit<9> ingress_port;
    bit<9> egress_spec;
    bit<9> egress_port;
    bit<32> instance_type;
    bit<32> packet_length;
    bit<32> enq_timestamp;
    bit<19> enq_qdepth;
    bit<32> deq_timedelta;
    bit<19> deq_qdepth;
    bit<48> ingress_global_timestamp;
    bit<48> egress_global_timestamp;
    bit<16> mcast_grp;
    bit<16> egress_rid;
    bit<1> checksum_error;
    error parser_error;
    bit<3> priority;
}

void mark_to_drop(inout standard_metadata_t standard_metadata) {
    standard_metadata.egress_spec = V1_DROP;
    standard_metadata.mcast_grp = 0;
}

// The error that a v1model parser reports, of those that a Tofino's parser can.
void v1_parser_error(in bit<16> bits, inout standard_metadata_t sm) {
    if (bits & PARSER_ERROR_PARTIAL_HDR != 0)
        sm.parser_error = error.PacketTooShort;
    else if (bits & PARSER_ERROR_NO_MATCH != 0)
        sm.parser_error = error.NoMatch;
}

// Where a packet goes after ingress: a group, nowhere, or a port.
void v1_leave(in standard_metadata_t sm, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
              inout ingress_intrinsic_metadata_for_tm_t tm) {
    if (sm.mcast_grp != 0)
        tm.mcast_grp_a = sm.mcast_grp;
    else if (sm.egress_spec == V1_DROP)
        dprsr.drop_ctl = 1;
    else
        tm.ucast_egress_port = sm.egress_spec;
}

#endif
