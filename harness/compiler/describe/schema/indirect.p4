// Action profiles and selectors, a digest, port metadata by name.
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}
struct headers_t {
    ethernet_h ethernet;
}
struct port_t {
    bit<16> vrf;
    bit<8> role;
}
struct meta_t {
    port_t port;
}
struct learn_t {
    bit<48> src_addr;
    bit<9> port;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out meta_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        meta.port = port_metadata_unpack<port_t>(pkt);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    ActionProfile(128) single;
    ActionProfile(1024) members;
    Hash<bit<14>>(HashAlgorithm_t.CRC16) spread;
    ActionSelector(members, spread, SelectorMode_t.FAIR, 32, 64) group;

    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action set_role(bit<8> role) {
        meta.port.role = role;
    }
    table roles {
        key = { meta.port.vrf: exact; }
        actions = { set_role; @defaultonly NoAction; }
        implementation = single;
        size = 256;
    }
    table next_hops {
        key = {
            hdr.ethernet.dst_addr: exact;
            hdr.ethernet.src_addr: selector;
            meta.port.role: selector;
        }
        actions = { send; NoAction; }
        implementation = group;
        size = 512;
    }
    apply {
        roles.apply();
        next_hops.apply();
        ig_dprsr_md.digest_type = 1;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in meta_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                        in ingress_intrinsic_metadata_t ig_intr_md) {
    Digest<learn_t>() learned;
    apply {
        if (ig_dprsr_md.digest_type == 1) {
            learned.pack({hdr.ethernet.src_addr, ig_intr_md.ingress_port});
        }
        pkt.emit(hdr);
    }
}

struct none_t {}
parser EgressParser(packet_in pkt, out none_t hdr, out none_t meta,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
control Egress(inout none_t hdr, inout none_t meta, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}
control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
