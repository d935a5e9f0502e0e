/* SPDX-License-Identifier: Apache-2.0
 *
 * choice: packets say which groups they go to and with which hashes and exclusions; copies leave with
 * their port, replication id and mark in front.
 */
#include <core.p4>
#ifndef ARCHITECTURE
#include <tna.p4>
#endif
#include "frame.p4i"

header copy_h {
    bit<16> port;
    bit<16> rid;
    bit<8>  first;
}

header order_h {
    bit<16> group_a; // 0: none
    bit<16> group_b;
    bit<16> port;
    bit<16> hash1;
    bit<16> hash2;
    bit<16> xid1;
    bit<16> xid2;
    bit<16> rid;
    bit<8>  flags; // 1 copy to CPU, 2 drop_ctl bit 0, 4 drop_ctl bit 1, 8 a unicast copy too
}

struct headers_t {
    copy_h  copy;
    order_h order;
}

struct metadata_t {
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.order);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    apply {
        if (hdr.order.group_a != 0) {
            ig_tm_md.mcast_grp_a = hdr.order.group_a;
        }
        if (hdr.order.group_b != 0) {
            ig_tm_md.mcast_grp_b = hdr.order.group_b;
        }
        if (hdr.order.flags[3:3] == 1) {
            ig_tm_md.ucast_egress_port = hdr.order.port[8:0];
        }
        ig_tm_md.level1_mcast_hash = hdr.order.hash1[12:0];
        ig_tm_md.level2_mcast_hash = hdr.order.hash2[12:0];
        ig_tm_md.level1_exclusion_id = hdr.order.xid1;
        ig_tm_md.level2_exclusion_id = hdr.order.xid2[8:0];
        ig_tm_md.rid = hdr.order.rid;
        ig_tm_md.copy_to_cpu = hdr.order.flags[0:0];
        ig_dprsr_md.drop_ctl = 1w0 ++ hdr.order.flags[2:1];
    }
}

DEPARSER_IN(IngressDeparser) {
    apply {
        pkt.emit(hdr.order);
    }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {
        hdr.copy.setValid();
        hdr.copy.port = 7w0 ++ eg_intr_md.egress_port;
        hdr.copy.rid = eg_intr_md.egress_rid;
        hdr.copy.first = 7w0 ++ eg_intr_md.egress_rid_first;
    }
}

DEPARSER_OUT(EgressDeparser) {
    apply {
        pkt.emit(hdr);
    }
}

MAIN
