/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds: a table found by a hash of its key, one in partitions, an alpm one; keys that are a validity
 * bit, a slice, an element of a stack; a value set that fills up.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header tag_h {
    bit<8>  kind;
    bit<8>  run;
    bit<16> low;
    bit<32> addr;
}

header label_h {
    bit<15> id;
    bit<1>  last;
}

struct headers_t {
    ethernet_h ethernet;
    tag_h      tag;
    label_h[2] labels;
}

struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    value_set<bit<16>>(3) known;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.tag);
        transition select(hdr.tag.low) {
            known   : labelled;
            default : accept;
        }
    }
    state labelled {
        pkt.extract(hdr.labels.next);
        transition select(hdr.labels.last.last) {
            0 : labelled;
            1 : accept;
        }
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    table proxied {
        key = {
            hdr.ethernet.dst_addr : exact;
            hdr.tag.addr          : exact;
        }
        actions = { send; NoAction; }
        const default_action = NoAction();
        proxy_hash = Hash<bit<4>>(HashAlgorithm_t.IDENTITY);
        size = 64;
    }

    table partitioned {
        key = {
            hdr.tag.low[3:0]   : atcam_partition_index @name("partition");
            hdr.tag.low[15:12] : ternary @name("top");
        }
        actions = { send; NoAction; }
        default_action = NoAction();
        atcam = Atcam(16);
        size = 64;
    }

    table prefixes {
        key = {
            hdr.tag.run  : exact;
            hdr.tag.addr : lpm;
        }
        actions = { send; NoAction; }
        default_action = NoAction();
        implementation = Alpm(number_partitions = 1024, subtrees_per_partition = 2);
        size = 512;
    }

    table labelled {
        key = {
            hdr.labels[1].isValid() : exact;
            hdr.labels[0].id        : ternary;
        }
        actions = { send; NoAction; }
        default_action = NoAction();
        size = 8;
    }

    apply {
        if (hdr.tag.kind == 1)
            proxied.apply();
        else if (hdr.tag.kind == 2)
            partitioned.apply();
        else if (hdr.tag.kind == 3)
            prefixes.apply();
        else
            labelled.apply();
        ig_tm_md.bypass_egress = 1;
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

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
