/* SPDX-License-Identifier: Apache-2.0
 *
 * places: packets that are dropped in different places, by their first byte; 1 and 2 ask for it before
 * other tables are applied, 5 takes it back.
 */
#include <core.p4>
#include <tna.p4>

header kind_h {
    bit<8> kind;
    bit<8> other;
}

header long_h {
    bit<144> bits;
}

struct headers_t {
    kind_h kind;
    long_h long;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            6: long;
            default: accept;
        }
    }

    state long { // of the parser
        pkt.extract(hdr.long);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action refuse() {
        ig_dprsr_md.drop_ctl = 1; // of the table
    }

    action refuse_odd() {
        ig_dprsr_md.drop_ctl = 3; // of an action
    }

    action count() {
        hdr.kind.other = hdr.kind.other + 1;
    }

    table first {
        key = { hdr.kind.kind: exact; }
        actions = { refuse; NoAction; }
        const entries = {
            1: refuse();
            5: refuse();
        }
        const default_action = NoAction();
    }

    table second {
        key = { hdr.kind.kind: exact; }
        actions = { count; NoAction; }
        const default_action = count();
    }

    apply {
        ig_tm_md.ucast_egress_port = 1;
        first.apply();
        if (hdr.kind.kind == 2)
            refuse_odd();
        else if (hdr.kind.kind == 3)
            ig_dprsr_md.drop_ctl = 1; // of a statement
        else if (hdr.kind.kind == 5)
            ig_dprsr_md.drop_ctl = 0;
        second.apply();
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
