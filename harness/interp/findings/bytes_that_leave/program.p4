/* SPDX-License-Identifier: Apache-2.0
 *
 * bytes_that_leave: counters with true egress accounting, of packets that leave shorter than they came.
 */

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header tag_h {
    bit<16> number;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_h ethernet;
    tag_h      tag;
}

struct none_t {}

parser IngressParser(packet_in pkt, out none_t hdr, out none_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition accept;
    }
}

control Ingress(inout none_t hdr, inout none_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 1;
    }
}

control IngressDeparser(packet_out pkt, inout none_t hdr, in none_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {}
}

parser EgressParser(packet_in pkt, out headers_t hdr, out none_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x8100 : tag;
            default : accept;
        }
    }
    state tag {
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout none_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) came;
    @true_egress_accounting DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) left;
    @true_egress_accounting Counter<bit<32>, bit<8>>(4, CounterType_t.BYTES) left_by_index;

    action drop() {
        eg_dprsr_md.drop_ctl = 1;
        came.count();
    }
    action untag() {
        hdr.ethernet.ether_type = hdr.tag.ether_type;
        hdr.tag.setInvalid();
        came.count();
    }
    action keep() {
        came.count();
    }
    table change {
        key = { hdr.tag.isValid() : exact; hdr.tag.number : ternary; }
        actions = { drop; untag; keep; }
        const entries = {
            (true, 13) : drop();
            (true, _) : untag();
            (false, _) : keep();
        }
        counters = came;
    }
    action count() {
        left.count();
    }
    table counting {
        key = { hdr.ethernet.src_addr : exact; }
        actions = { count; }
        counters = left;
        size = 16;
    }
    apply {
        change.apply();
        counting.apply();
        left_by_index.count(2, 4);
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in none_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
