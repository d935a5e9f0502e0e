// SPDX-License-Identifier: Apache-2.0
//
// A parser per group of four ports: which one ran is seen in the packet. In ingress ports 0..3 have
// parser A, 4..7 B, 8..11 and 16..19 (by the port map) C, all others A. In egress ports 0..3 and
// all but 4..7 have P, 4..7 have Q.
#include <core.p4>
#include <tna.p4>

header t_h {
    bit<8> to;
    bit<8> ig;
    bit<8> eg;
}
struct headers_t { t_h t; }
struct metadata_t { bit<8> n; }

#define INGRESS_PARSER(name, id)                                                                   \
    parser name(packet_in pkt, out headers_t hdr, out metadata_t md,                               \
                out ingress_intrinsic_metadata_t ig_intr_md) {                                     \
        bit<8> mine = id;                                                                          \
        state start {                                                                              \
            pkt.extract(ig_intr_md);                                                               \
            pkt.advance(PORT_METADATA_SIZE);                                                       \
            pkt.extract(hdr.t);                                                                    \
            md.n = mine;                                                                           \
            transition accept;                                                                     \
        }                                                                                          \
    }
INGRESS_PARSER(A, 0xa)
INGRESS_PARSER(B, 0xb)
INGRESS_PARSER(C, 0xc)

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = (PortId_t)hdr.t.to;
        hdr.t.ig = md.n;
    }
}

control Deparser(packet_out pkt, inout headers_t hdr, in metadata_t md) {
    apply { pkt.emit(hdr); }
}

#define EGRESS_PARSER(name, id)                                                                    \
    parser name(packet_in pkt, out headers_t hdr, out metadata_t md,                               \
                out egress_intrinsic_metadata_t eg_intr_md) {                                      \
        state start {                                                                              \
            pkt.extract(eg_intr_md);                                                               \
            pkt.extract(hdr.t);                                                                    \
            md.n = id;                                                                             \
            transition accept;                                                                     \
        }                                                                                          \
    }
EGRESS_PARSER(P, 1)
EGRESS_PARSER(Q, 2)

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply { hdr.t.eg = md.n; }
}

@default_portmap(0, 1, {2, 4})
IngressParsers(A(), B(), C()) ig_prsrs;
EgressParsers(P(), Q()) eg_prsrs;
MultiParserPipeline(ig_prsrs, Ingress(), Deparser(), eg_prsrs, Egress(), Deparser()) pipe;
MultiParserSwitch(pipe) main;
