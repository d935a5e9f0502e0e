/* SPDX-License-Identifier: Apache-2.0
 *
 * members: a member of a group is chosen by a hash that the program computed before: the lower half of
 * a 64-bit CRC, which goes to the selector as it is (IDENTITY) and leaves in the packet.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header text_h {
    bit<72> text;
    bit<32> hash;
}

struct headers_t {
    ethernet_h ethernet;
    text_h     text;
}

struct metadata_t {
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.text);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    Hash<bit<64>>(HashAlgorithm_t.CRC64) long_hash;
    Hash<bit<64>>(HashAlgorithm_t.IDENTITY) as_it_is;
    ActionProfile(64) members;
    ActionSelector(members, as_it_is, SelectorMode_t.FAIR, 16, 4) groups;
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action hash() {
        hdr.text.hash = long_hash.get({hdr.text.text})[31:0];
    }
    table to {
        key = {
            ig_intr_md.ingress_port : exact;
            hdr.text.hash : selector;
        }
        actions = { send; NoAction; }
        size = 16;
        implementation = groups;
    }
    apply {
        hash();
        to.apply();
        ig_tm_md.bypass_egress = 1;
    }
}

DEPARSER_IN(IngressDeparser) {
    apply {
        pkt.emit(hdr);
    }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {}
}

DEPARSER_OUT(EgressDeparser) {
    apply {}
}

MAIN
