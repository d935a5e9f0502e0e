/* SPDX-License-Identifier: Apache-2.0
 *
 * apart: repetitions over registers that are no loops over lanes, for a reason each. 'form': 0 a lane
 * reads the field that the next one writes, 1 the fields have no fixed distance, 2 they are of two
 * headers in turn, 3 three lanes are too few, 4 (a loop) and 5 the same registers in another order;
 * 6 what a lane leaves is read where its register action is executed again: two loops, and an array.
 */
#include <core.p4>
#include <tna.p4>

#define LANES(X) X(0, 1) X(1, 2) X(2, 3) X(3, 4) X(4, 5) X(5, 6) X(6, 7) X(7, 8)

header request_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
    bit<8>  form;
    bit<8>  index;
}

header uneven_h {
    bit<32> v0;
    bit<32> v1;
    bit<32> v2;
    bit<8>  gap;
    bit<32> v3;
    bit<32> v4;
    bit<32> v5;
    bit<8>  gap2;
    bit<32> v6;
    bit<32> v7;
}

header row_h {
    bit<32> v0;
    bit<32> v1;
    bit<32> v2;
    bit<32> v3;
    bit<32> v4;
    bit<32> v5;
    bit<32> v6;
    bit<32> v7;
    bit<32> v8;
}

struct headers_t {
    request_h request;
    row_h     row;
    row_h     other;
    uneven_h  uneven;
}

#define KEPT(n, next) bit<32> kept##n;
struct metadata_t {
    LANES(KEPT)
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.request);
        pkt.extract(hdr.row);
        pkt.extract(hdr.other);
        pkt.extract(hdr.uneven);
        transition accept;
    }
}

#define SUM(name, field)                                                                           \
    Register<bit<32>, bit<8>>(64) name##_cells;                                                    \
    RegisterAction<bit<32>, bit<8>, bit<32>>(name##_cells) name = {                                \
        void apply(inout bit<32> value, out bit<32> rv) {                                          \
            value = value + field;                                                                 \
            rv = value;                                                                            \
        }                                                                                          \
    };
#define DECLARE_NEXT(n, next)     SUM(next_##n, hdr.row.v##next)
#define DECLARE_UNEVEN(n, next)   SUM(uneven_##n, hdr.uneven.v##n)
#define DECLARE_ORDERED(n, next)  SUM(ordered_##n, hdr.row.v##n)
#define DECLARE_AGAIN(n, next)    SUM(again_##n, md.kept##n)
#define APPLY_AGAIN_1(n, next)                                                                     \
    md.kept##n = hdr.row.v##n;                                                                     \
    if (hdr.request.index == 1) {                                                                  \
        hdr.other.v##n = again_##n.execute(2);                                                     \
    }
#define APPLY_AGAIN_2(n, next)    hdr.other.v##n = again_##n.execute(3);
#define APPLY_NEXT(n, next)       hdr.row.v##n = next_##n.execute(hdr.request.index);
#define APPLY_UNEVEN(n, next)     hdr.uneven.v##n = uneven_##n.execute(hdr.request.index);
#define APPLY_ORDERED(n, next)    hdr.row.v##n = ordered_##n.execute(hdr.request.index);

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    LANES(DECLARE_NEXT)
    LANES(DECLARE_UNEVEN)
    LANES(DECLARE_ORDERED)
    LANES(DECLARE_AGAIN)
    SUM(turn_0, hdr.row.v0)
    SUM(turn_1, hdr.other.v0)
    SUM(turn_2, hdr.row.v1)
    SUM(turn_3, hdr.other.v1)
    SUM(turn_4, hdr.row.v2)
    SUM(turn_5, hdr.other.v2)
    SUM(few_0, hdr.row.v0)
    SUM(few_1, hdr.row.v1)
    SUM(few_2, hdr.row.v2)
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.request.form == 0) {
            LANES(APPLY_NEXT)
        } else if (hdr.request.form == 1) {
            LANES(APPLY_UNEVEN)
        } else if (hdr.request.form == 2) {
            hdr.row.v0 = turn_0.execute(hdr.request.index);
            hdr.other.v0 = turn_1.execute(hdr.request.index);
            hdr.row.v1 = turn_2.execute(hdr.request.index);
            hdr.other.v1 = turn_3.execute(hdr.request.index);
            hdr.row.v2 = turn_4.execute(hdr.request.index);
            hdr.other.v2 = turn_5.execute(hdr.request.index);
        } else if (hdr.request.form == 3) {
            hdr.row.v0 = few_0.execute(hdr.request.index);
            hdr.row.v1 = few_1.execute(hdr.request.index);
            hdr.row.v2 = few_2.execute(hdr.request.index);
        } else if (hdr.request.form == 4) {
            LANES(APPLY_ORDERED)
        } else if (hdr.request.form == 5) {
            APPLY_ORDERED(1, 2)
            APPLY_ORDERED(0, 1)
            APPLY_ORDERED(3, 4)
            APPLY_ORDERED(2, 3)
            APPLY_ORDERED(5, 6)
            APPLY_ORDERED(4, 5)
            APPLY_ORDERED(7, 8)
            APPLY_ORDERED(6, 7)
        } else if (hdr.request.form == 6) {
            LANES(APPLY_AGAIN_1)
            if (hdr.request.index == 2) {
                LANES(APPLY_AGAIN_2)
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
