// SPDX-License-Identifier: Apache-2.0
//
// Headers that leave in another order than they came, of odd lengths, with one that is new between
// them or one that is gone, pass after pass; the packet recirculates through egress, which counts,
// and drops some.
#include <core.p4>
#include <tna.p4>

header control_h {
    bit<8> order;   // in which the parser finds the others
    bit<8> passes;  // how many are to go
    bit<8> counted; // by egress
    bit<8> change;  // 1: 'n' is added, 2: 'b' is removed, 3: both; 4: egress drops the last but one
}

header a_h {
    bit<8>  x;
    bit<16> y;
}

header b_h {
    bit<32>  x;
    bit<128> y;
}

header d_h {
    bit<64> x;
    bit<72> y;
}

header e_h {
    bit<8> x;
}

header n_h {
    bit<40> x;
}

struct headers_t {
    control_h c;
    a_h       a;
    b_h       b;
    n_h       n;
    d_h       d;
    e_h       e;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.c);
        transition select(hdr.c.order) {
            0: abde;
            1: dabe;
            2: eabd;
            3: edba;
            default: accept;
        }
    }
    state abde {
        pkt.extract(hdr.a);
        pkt.extract(hdr.b);
        pkt.extract(hdr.d);
        pkt.extract(hdr.e);
        transition accept;
    }
    state dabe {
        pkt.extract(hdr.d);
        pkt.extract(hdr.a);
        pkt.extract(hdr.b);
        pkt.extract(hdr.e);
        transition accept;
    }
    state eabd {
        pkt.extract(hdr.e);
        pkt.extract(hdr.a);
        pkt.extract(hdr.b);
        pkt.extract(hdr.d);
        transition accept;
    }
    state edba {
        pkt.extract(hdr.e);
        pkt.extract(hdr.d);
        pkt.extract(hdr.b);
        pkt.extract(hdr.a);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        hdr.a.y = hdr.a.y + 1;
        hdr.d.x = hdr.d.x + 0x100;
        if (hdr.c.passes == 0) {
            ig_tm_md.ucast_egress_port = 1;
            ig_tm_md.bypass_egress = 1;
            if (hdr.c.change[0:0] == 1) {
                hdr.n.setValid();
                hdr.n.x = 0x0102030405;
            }
            if (hdr.c.change[1:1] == 1) {
                hdr.b.setInvalid();
            }
        } else {
            ig_tm_md.ucast_egress_port = 68;
            hdr.c.passes = hdr.c.passes - 1;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr.c);
        pkt.emit(hdr.a);
        pkt.emit(hdr.b);
        pkt.emit(hdr.n);
        pkt.emit(hdr.d);
        pkt.emit(hdr.e);
    }
}

struct eg_headers_t {
    control_h c;
}

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.c);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        hdr.c.counted = hdr.c.counted + 1;
        if (hdr.c.change[2:2] == 1 && hdr.c.passes == 1) {
            eg_dprsr_md.drop_ctl = 1;
        }
    }
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr.c);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
