/* SPDX-License-Identifier: Apache-2.0
 *
 * bridged: what ingress knows reaches egress in headers in front of the packet, whose layout is the
 * compiler's (@flexible) or has gaps that nobody reads (@padding). ether_type: 1 bridges where the
 * packet came from, 2 two fields of odd widths, 3 both, others nothing; 4 does not run egress, and
 * everybody sees what was bridged.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header kind_h {
    bit<8> kind;
}

@flexible
header origin_h {
    bit<48> arrived;
    bit<9>  port;
    @padding bit<7> pad;
}

header odd_h {
    bit<3>  a;
    @padding bit<5> pad_a;
    bit<12> b;
    @padding bit<4> pad_b;
}

struct headers_t {
    kind_h     kind;
    origin_h   origin;
    odd_h      odd;
    ethernet_h ethernet;
}

struct metadata_t {
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    action bridge_origin() {
        hdr.origin.setValid();
        hdr.origin.port = ig_intr_md.ingress_port;
        hdr.origin.arrived = ig_intr_md.ingress_mac_tstamp;
    }
    action bridge_odd() {
        hdr.odd.setValid();
        hdr.odd.a = hdr.ethernet.src_addr[2:0];
        hdr.odd.b = hdr.ethernet.src_addr[47:36];
    }
    apply {
        ig_tm_md.ucast_egress_port = 2;
        hdr.kind.setValid();
        hdr.kind.kind = hdr.ethernet.ether_type[7:0];
        if (hdr.ethernet.ether_type == 1) {
            bridge_origin();
        } else if (hdr.ethernet.ether_type == 2) {
            bridge_odd();
        } else if (hdr.ethernet.ether_type == 3) {
            bridge_origin();
            bridge_odd();
        } else if (hdr.ethernet.ether_type == 4) {
            bridge_odd();
            ig_tm_md.bypass_egress = 1;
        }
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
        pkt.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            1 : origin;
            2 : odd;
            3 : both;
            default : rest;
        }
    }
    state origin {
        pkt.extract(hdr.origin);
        transition rest;
    }
    state odd {
        pkt.extract(hdr.odd);
        transition rest;
    }
    state both {
        pkt.extract(hdr.origin);
        pkt.extract(hdr.odd);
        transition rest;
    }
    state rest {
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {
        if (hdr.origin.isValid()) {
            hdr.ethernet.dst_addr = hdr.origin.arrived;
            hdr.ethernet.ether_type = 7w0 ++ hdr.origin.port;
        }
        if (hdr.odd.isValid()) {
            hdr.ethernet.src_addr = 33w0 ++ hdr.odd.a ++ hdr.odd.b;
        }
        hdr.kind.setInvalid();
        hdr.origin.setInvalid();
        hdr.odd.setInvalid();
    }
}

DEPARSER_OUT(EgressDeparser) {
    apply {
        pkt.emit(hdr);
    }
}

MAIN
