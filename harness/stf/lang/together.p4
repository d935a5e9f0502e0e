/* SPDX-License-Identifier: Apache-2.0
 *
 * together.p4: more headers than three that the control removes or adds, most of them together: the deparser is printed for
 * each case of that. A packet that leaves between two of them has some and lacks others.
 */
#include <core.p4>
#include <tna.p4>

header head_h {
    bit<8> what;
    bit<8> twice;
}

header byte_h {
    bit<8> value;
}

struct headers_t {
    head_h head;
    byte_h a;
    byte_h b;
    byte_h c;
    byte_h d;
    byte_h made0;
    byte_h made1;
    byte_h tail;
}

struct metadata_t {
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.head);
        pkt.extract(hdr.a);
        pkt.extract(hdr.b);
        pkt.extract(hdr.c);
        pkt.extract(hdr.d);
        pkt.extract(hdr.tail);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 2;
        ig_tm_md.bypass_egress = 1;
        if (hdr.head.what[0:0] == 1) {
            hdr.made0.setValid();
            hdr.made0.value = 0xe0;
            hdr.made1.setValid();
            hdr.made1.value = 0xe1;
        }
        if (hdr.head.what[1:1] == 1) {
            hdr.a.setInvalid();
            hdr.b.setInvalid();
            if (hdr.head.what[2:2] == 1) {
                hdr.head.twice = hdr.c.value;
                exit;
            }
            hdr.c.setInvalid();
            hdr.d.setInvalid();
        }
        if (hdr.head.what[3:3] == 1) {
            hdr.tail.setInvalid();
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
