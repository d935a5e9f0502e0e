/* SPDX-License-Identifier: Apache-2.0
 *
 * turned: a packet of four pairs goes around once for each. The parser of the next pass puts the first pair behind the
 * others, so that a pass works on pair0. Cells of later passes are fetched in the first one
 * (compiler/plan/cells_ahead.c) if something that they are found by is made there: those of `known`. Those of `alike`
 * are found by the pair alone, so no pass knows that it is the first; those of `outside` may not be there; and what
 * those of `changed` are found by may be written before.
 */
#include <core.p4>
#include <tna.p4>

header state_h {
    bit<8>  left;
    bit<16> base;
}

header pair_h {
    bit<16> index;
    bit<32> value;
}

struct headers_t {
    state_h state;
    pair_h  pair0;
    pair_h  pair1;
    pair_h  pair2;
    pair_h  pair3;
}

struct metadata_t {
    bit<16> at;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            68 &&& 0x7f: parse_turned;
            default: parse_first;
        }
    }

    state parse_first {
        pkt.extract(hdr.pair0);
        pkt.extract(hdr.pair1);
        pkt.extract(hdr.pair2);
        pkt.extract(hdr.pair3);
        transition accept;
    }

    state parse_turned {
        pkt.extract(hdr.state);
        pkt.extract(hdr.pair3);
        pkt.extract(hdr.pair0);
        pkt.extract(hdr.pair1);
        pkt.extract(hdr.pair2);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<bit<32>, bit<8>>(256) known;
    Register<bit<32>, bit<8>>(256) alike;
    Register<bit<32>, bit<8>>(256) changed;
    Register<bit<32>, bit<16>>(1000) outside;

    RegisterAction<bit<32>, bit<8>, bit<32>>(known) add_known = {
        void apply(inout bit<32> cell, out bit<32> sum) {
            cell = cell + hdr.pair0.value;
            sum = cell;
        }
    };

    RegisterAction<bit<32>, bit<8>, bit<32>>(alike) add_alike = {
        void apply(inout bit<32> cell, out bit<32> sum) {
            cell = cell + hdr.pair0.value;
            sum = cell;
        }
    };

    RegisterAction<bit<32>, bit<8>, bit<32>>(changed) add_changed = {
        void apply(inout bit<32> cell, out bit<32> sum) {
            cell = cell + hdr.pair0.value;
            sum = cell;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(outside) add_outside = {
        void apply(inout bit<32> cell, out bit<32> sum) {
            cell = cell + hdr.pair0.value;
            sum = cell;
        }
    };

    action find() {
        md.at = hdr.state.base - hdr.pair0.index;
    }

    table places {
        actions = {
            find;
        }
        const default_action = find;
        size = 1;
    }

    action begin() {
        hdr.state.setValid();
        hdr.state.left = 4;
        hdr.state.base = hdr.pair0.index ^ hdr.pair2.index;
    }

    apply {
        ig_tm_md.bypass_egress = 1;
        ig_tm_md.ucast_egress_port = 68;
        if (!hdr.state.isValid()) {
            begin();
        } else {
            places.apply();
            if (hdr.pair0.index[15:15] == 1) {
                hdr.pair0.value = add_known.execute(md.at[11:4]);
            } else if (hdr.pair0.index[14:14] == 1) {
                hdr.pair0.index = hdr.pair0.index + 3;
                hdr.pair0.value = add_alike.execute(hdr.pair0.index[11:4]);
            } else if (hdr.pair0.index[13:13] == 1) {
                if (hdr.pair0.value == 0) {
                    md.at = hdr.pair0.index;
                }
                hdr.pair0.value = add_changed.execute(md.at[11:4]);
            } else {
                hdr.pair0.value = add_outside.execute(md.at);
            }
            hdr.state.left = hdr.state.left - 1;
            if (hdr.state.left == 0) {
                ig_tm_md.ucast_egress_port = 1;
                hdr.state.setInvalid();
            }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

struct egress_headers_t {
}
struct egress_metadata_t {
}

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
