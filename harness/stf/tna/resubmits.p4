/* SPDX-License-Identifier: Apache-2.0
 *
 * resubmits: three kinds of resubmit data, of which the table chooses one by the port's metadata; the
 * second pass shows what it was given, and that it sees the packet as it came. A byte of the packet
 * asks for another resubmit from the second pass.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header shown_h {
    bit<8>  kind;
    bit<64> data;
}

header a_h {
    bit<8>  kind;
    bit<8>  x;
    bit<16> y;
    bit<32> z;
}

header b_h { // shorter than the space for it
    bit<8>  kind;
    bit<24> x;
}

header more_h {
    bit<8> again;
}

struct headers_t {
    shown_h    shown;
    ethernet_h ethernet;
    more_h     more;
}

struct metadata_t {
    bit<32> here;
    bit<64> given;
    a_h     a;
    b_h     b;
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        md.given = pkt.lookahead<bit<64>>();
        md.here = pkt.lookahead<bit<32>>();
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.more);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS_AND_BYTES) passes;
    action none() {}
    action as_a(bit<8> x, bit<16> y, bit<32> z) {
        md.a.setValid();
        md.a.kind = 0xa;
        md.a.x = x;
        md.a.y = y;
        md.a.z = z;
        ig_dprsr_md.resubmit_type = 0;
    }
    action as_b(bit<24> x) {
        md.b.setValid();
        md.b.kind = 0xb;
        md.b.x = x;
        ig_dprsr_md.resubmit_type = 7;
    }
    action bare() {
        ig_dprsr_md.resubmit_type = 3;
    }
    action and_drop() {
        ig_dprsr_md.resubmit_type = 3;
        ig_dprsr_md.drop_ctl = 7;
    }
    action unknown() { // no emit of the deparser has this type
        ig_dprsr_md.resubmit_type = 5;
    }
    table first {
        key = { md.here : exact; }
        actions = { none; as_a; as_b; bare; and_drop; unknown; }
        const default_action = none();
        size = 16;
    }
    apply {
        ig_tm_md.ucast_egress_port = 2;
        passes.count(ig_intr_md.resubmit_flag);
        if (ig_intr_md.resubmit_flag == 0) {
            hdr.ethernet.dst_addr = 1;
            first.apply();
        } else {
            hdr.shown.setValid();
            hdr.shown.kind = 0xff;
            hdr.shown.data = md.given;
            if (hdr.more.again == 1) {
                ig_dprsr_md.resubmit_type = 3;
            }
        }
    }
}

DEPARSER_IN(IngressDeparser) {
    Resubmit() again;
    apply {
        if (ig_dprsr_md.resubmit_type == 0) {
            again.emit(md.a);
        } else if (ig_dprsr_md.resubmit_type == 7) {
            again.emit(md.b);
        } else if (ig_dprsr_md.resubmit_type == 3) {
            again.emit();
        }
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
