// SPDX-License-Identifier: Apache-2.0
// fits: 3
// Of each sum that is updated under a condition, a table behind the control says which value goes out; it asks for what
// the control has said at last, and two of them write bits of one container.
#include "../limits/headers.p4"

header sum_h {
    bit<16> a;
    bit<16> value;
}

#define OWN_HEADERS
struct headers_t {
    ethernet_h ethernet;
    num_h      num;
    sum_h      first;
    sum_h      second;
}

#define OWN_METADATA
struct md_t {
    bool update_first;
    bool update_second;
}

#define OWN_INGRESS_PARSER
parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.num);
        pkt.extract(hdr.first);
        pkt.extract(hdr.second);
        transition accept;
    }
}

#define OWN_INGRESS_DEPARSER
control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() of_first;
    Checksum() of_second;
    apply {
        if (md.update_first) {
            hdr.first.value = of_first.update({hdr.first.a});
        }
        if (md.update_second) {
            hdr.second.value = of_second.update({hdr.second.a});
        }
        pkt.emit(hdr);
    }
}

#include "../limits/common.p4"

INGRESS {
    action first() {
        md.update_first = true;
    }
    action second() {
        md.update_second = true;
    }
    table who {
        key = { hdr.num.a : exact; }
        actions = { first; second; NoAction; }
        default_action = NoAction;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        who.apply();
    }
}

MAIN
