// One's complement has two zeros. Subtracting 0xffff adds 0x0000, subtracting 0x0000 adds 0xffff: a
// packet ffff.... ffff0000 finds 0xffff in its second field. Generated code complemented the sum of
// all words of a list, or of all bytes behind the deposit, at once, and found 0x0000.
header first_h {
    bit<16> a;
    bit<16> residual;
}
header second_h {
    bit<32> c;
}
struct ig_headers_t {
    first_h first;
    second_h second;
}
struct ig_metadata_t {
    bit<16> residual;
}
struct eg_headers_t {
}
struct eg_metadata_t {
}
parser IngressParser(packet_in pkt, out ig_headers_t hdr, out ig_metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() sum;
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.first);
        sum.subtract({hdr.first.a});
        sum.subtract_all_and_deposit(md.residual);
        transition select(hdr.first.a) {
            0xffff : second;
            default : accept;
        }
    }
    state second {
        pkt.extract(hdr.second);
        transition accept;
    }
}
control Ingress(inout ig_headers_t hdr, inout ig_metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        hdr.first.residual = md.residual;
        ig_tm_md.ucast_egress_port = 1;
    }
}
control IngressDeparser(packet_out pkt, inout ig_headers_t hdr, in ig_metadata_t md, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}
parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
control Egress(inout eg_headers_t hdr, inout eg_metadata_t md, in egress_intrinsic_metadata_t eg_intr_md, in egress_intrinsic_metadata_from_parser_t eg_prsr_md, inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md, inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}
control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
    }
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
