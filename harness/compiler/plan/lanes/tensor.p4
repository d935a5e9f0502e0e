/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor: aggregation with a table for each register, as programs that came from P4_14 have it: one
 * action in it, no key, a default action that is not said to be constant. Sums saturate, and are
 * looked at for overflow together. 'command': 0 write, 1 add, 2 add and read, 3 read.
 */
#include <core.p4>
#include <tna.p4>

#define LANES(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) \
    X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
    X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) \
    X(24) X(25) X(26) X(27) X(28) X(29) X(30)

const int<32> MOST = 0x7fffffff;

header request_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
    bit<8>  command;
    bit<16> aggregator;
    bit<8>  overflow;
}

#define FIELD(n) int<32> v##n;
header entries_h {
    LANES(FIELD)
}

struct headers_t {
    request_h request;
    entries_h entries;
}

struct metadata_t {
    bit<8> overflow;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.request);
        pkt.extract(hdr.entries);
        transition accept;
    }
}

#define ALU(n, name, body)                                                                         \
    RegisterAction<int<32>, bit<16>, int<32>>(sum##n) name##n = {                                  \
        void apply(inout int<32> value, out int<32> rv) {                                          \
            body                                                                                   \
        }                                                                                          \
    };
#define ACTION(n, name, statement)                                                                 \
    action name##_entry##n() {                                                                     \
        statement                                                                                  \
    }                                                                                              \
    table name##_table##n {                                                                        \
        actions = {                                                                                \
            name##_entry##n;                                                                       \
        }                                                                                          \
        default_action = name##_entry##n();                                                        \
        size = 1;                                                                                  \
    }
#define ENTRY(n)                                                                                   \
    Register<int<32>, bit<16>>(1000) sum##n;                                                       \
    ALU(n, write, value = hdr.entries.v##n; rv = 0;)                                               \
    ALU(n, add, value = value |+| hdr.entries.v##n; rv = 0;)                                       \
    ALU(n, add_read, value = value |+| hdr.entries.v##n; rv = value;)                              \
    ALU(n, read, rv = value;)                                                                      \
    ACTION(n, write, write##n.execute(hdr.request.aggregator);)                                    \
    ACTION(n, add, add##n.execute(hdr.request.aggregator);)                                        \
    ACTION(n, add_read, hdr.entries.v##n = add_read##n.execute(hdr.request.aggregator);)           \
    ACTION(n, read, hdr.entries.v##n = read##n.execute(hdr.request.aggregator);)

#define APPLY_WRITE(n)    write_table##n.apply();
#define APPLY_ADD(n)      add_table##n.apply();
#define APPLY_ADD_READ(n) add_read_table##n.apply();
#define APPLY_READ(n)     if (hdr.request.ether_type != 0) { read_table##n.apply(); }
#define OVERFLOW(n)       if (hdr.entries.v##n == MOST) { md.overflow = 1; }

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    LANES(ENTRY)
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.request.command == 0) {
            LANES(APPLY_WRITE)
        } else if (hdr.request.command == 1) {
            LANES(APPLY_ADD)
        } else if (hdr.request.command == 2) {
            LANES(APPLY_ADD_READ)
            LANES(OVERFLOW)
            hdr.request.overflow = md.overflow;
        } else if (hdr.request.command == 3) {
            LANES(APPLY_READ)
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
