/* SPDX-License-Identifier: Apache-2.0
 *
 * copies: what becomes of a frame is in its EtherType, 0x90XY: X is for ingress, Y for egress. Every copy
 * leaves with a header that says what its egress was told.
 *
 * X: 0 to port 1; 1 to groups 1 and 2; 2 to port 1 and a copy for the CPU; 3 to port 1 and a mirror in
 * session 5; 4 resubmitted once, then to port 2
 * Y: 1 a mirror in session 6; 2 dropped
 */
#include "frame.p4i"

const bit<8> BRIDGED = 1;
const bit<8> MIRRORED = 2;
const bit<8> MIRRORED_IN_EGRESS = 3;

header kind_h {
    bit<8> kind;
}

header mirror_h {
    bit<8>  kind;
    bit<16> tag;
}

header told_h {
    bit<8>  kind;
    bit<16> tag;
    bit<16> port;
    bit<16> rid;
    bit<16> length;
}

struct headers_t {
    told_h     told;
    kind_h     bridge;
    mirror_h   mirror;
    ethernet_h ethernet;
}

struct metadata_t {
    bit<10> session;
    bit<8>  kind;
    bit<16> tag;
}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

INGRESS {
    apply {
        hdr.bridge.setValid();
        hdr.bridge.kind = BRIDGED;
        md.session = 5;
        md.kind = MIRRORED;
        md.tag = 7w0 ++ ig_intr_md.ingress_port;
        if (hdr.ethernet.ether_type[7:4] == 1) {
            ig_tm_md.mcast_grp_a = 1;
            ig_tm_md.mcast_grp_b = 2;
            ig_tm_md.level1_exclusion_id = 7w0 ++ ig_intr_md.ingress_port;
            ig_tm_md.level2_exclusion_id = 3;
            ig_tm_md.rid = 20;
        } else {
            ig_tm_md.ucast_egress_port = 1;
        }
        if (hdr.ethernet.ether_type[7:4] == 2) {
            ig_tm_md.copy_to_cpu = 1;
        }
        if (hdr.ethernet.ether_type[7:4] == 3) {
            ig_dprsr_md.mirror_type = 1;
        }
        if (hdr.ethernet.ether_type[7:4] == 4) {
            if (ig_intr_md.resubmit_flag == 0) {
                ig_dprsr_md.resubmit_type = 1;
            } else {
                ig_tm_md.ucast_egress_port = 2;
            }
        }
        hdr.ethernet.src_addr = 0x0200eeeeeeee; // a mirror of what came does not show it
    }
}

INGRESS_DEPARSER {
    Mirror() mirror;
    Resubmit() again;

    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, {md.kind, md.tag});
        }
        if (ig_dprsr_md.resubmit_type == 1) {
            again.emit();
        }
        pkt.emit(hdr);
    }
}

EGRESS_PARSER {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            BRIDGED: bridged;
            MIRRORED: mirrored;
            MIRRORED_IN_EGRESS: mirrored;
            default: reject;
        }
    }
    state bridged {
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
    state mirrored {
        pkt.extract(hdr.mirror);
        transition accept;
    }
}

EGRESS {
    apply {
        hdr.told.setValid();
        hdr.told.port = 7w0 ++ eg_intr_md.egress_port;
        hdr.told.rid = eg_intr_md.egress_rid;
        hdr.told.length = eg_intr_md.pkt_length;
        md.session = 6;
        md.kind = MIRRORED_IN_EGRESS;
        md.tag = eg_intr_md.egress_rid;
        if (hdr.mirror.isValid()) {
            hdr.told.kind = hdr.mirror.kind;
            hdr.told.tag = hdr.mirror.tag;
            hdr.mirror.setInvalid();
        } else {
            hdr.told.kind = hdr.bridge.kind;
            hdr.told.tag = 0;
            hdr.bridge.setInvalid();
            if (hdr.ethernet.ether_type[3:0] == 1) {
                eg_dprsr_md.mirror_type = 1;
            } else if (hdr.ethernet.ether_type[3:0] == 2) {
                eg_dprsr_md.drop_ctl = 1;
            }
        }
    }
}

EGRESS_DEPARSER {
    Mirror() mirror;

    apply {
        if (eg_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, {md.kind, md.tag});
        }
        pkt.emit(hdr);
    }
}

MAIN
