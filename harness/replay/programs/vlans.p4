/* SPDX-License-Identifier: Apache-2.0
 *
 * vlans: tags pushed and popped. A stack of up to three; access ports send without the outer tag.
 */
#include "frame.p4i"

struct headers_t {
    ethernet_h ethernet;
    vlan_h[4]  tags;
}

struct metadata_t {
    bit<16> ether_type; // of what is in the outermost tag, or of an untagged frame
}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x8100: tag;
            0x88a8: tag;
            default: accept;
        }
    }
    state tag {
        pkt.extract(hdr.tags.next);
        transition select(hdr.tags.last.ether_type) {
            0x8100: tag;
            default: accept;
        }
    }
}

INGRESS {
    action push(bit<12> vid, PortId_t port) {
        hdr.tags.push_front(1);
        hdr.tags[0].setValid();
        hdr.tags[0].pcp = 5;
        hdr.tags[0].dei = 0;
        hdr.tags[0].vid = vid;
        hdr.tags[0].ether_type = hdr.ethernet.ether_type;
        hdr.ethernet.ether_type = 0x8100;
        ig_tm_md.ucast_egress_port = port;
    }
    action pop(PortId_t port) {
        hdr.ethernet.ether_type = hdr.tags[0].ether_type;
        hdr.tags.pop_front(1);
        ig_tm_md.ucast_egress_port = port;
    }
    action retag(bit<12> vid, PortId_t port) {
        hdr.tags[0].vid = vid;
        ig_tm_md.ucast_egress_port = port;
    }
    action discard() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table bridging {
        key = {
            ig_intr_md.ingress_port: exact;
            hdr.tags[0].isValid()  : exact @name("tagged");
            hdr.tags[0].vid        : ternary @name("vid");
        }
        actions = {
            push;
            pop;
            retag;
            discard;
        }
        const default_action = discard();
        size = 64;
    }

    apply {
        bridging.apply();
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER
EMIT_ALL
NO_EGRESS
MAIN
