/* SPDX-License-Identifier: Apache-2.0
 *
 * flat.p4: tables with nothing but a number for each key, of the widths that are stored in different ways: what they have
 * for a key of the frame is put into it (test_flat.py).
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header values_h {
    bit<16> key;
    bit<8>  five;
    bit<8>  hit;
    bit<16> narrow;
    bit<32> wide;
}

struct headers_t {
    ethernet_h ethernet;
    values_h   values;
}

struct metadata_t {
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.values);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action set_five(bit<5> value) {
        hdr.values.five = (bit<8>)value;
    }

    table fives {
        key = {
            hdr.values.key[9:2] : exact @name("key");
        }
        actions = {
            set_five;
        }
        default_action = set_five(1);
        size = 256;
    }

    action set_narrow(bit<16> value) {
        hdr.values.narrow = hdr.values.narrow + value;
    }

    table narrows {
        key = {
            hdr.values.key : exact @name("key");
        }
        actions = {
            set_narrow;
        }
        default_action = set_narrow(2);
        size = 65536;
    }

    action set_wide(bit<32> value) {
        hdr.values.wide = value;
    }

    table wides {
        key = {
            hdr.values.key : exact @name("key");
        }
        actions = {
            set_wide;
            @defaultonly NoAction;
        }
        default_action = NoAction;
        size = 65536;
    }

    // Only one action is not the default alone, but there are two.
    table others {
        key = {
            hdr.values.key[8:0] : exact @name("key");
        }
        actions = {
            set_wide;
            set_narrow;
        }
        default_action = set_narrow(0);
        size = 512;
    }

    apply {
        fives.apply();
        narrows.apply();
        if (wides.apply().hit) {
            hdr.values.hit = hdr.values.hit + 1;
        }
        switch (others.apply().action_run) {
            set_wide: {
                hdr.values.hit = hdr.values.hit + 2;
            }
        }
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        ig_tm_md.bypass_egress = 1;
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
