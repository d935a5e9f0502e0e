// Tables of every match kind, counters, registers, a value set: what a controller finds.
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}
header ipv4_h {
    bit<64> rest;
    bit<32> src_addr;
    bit<32> dst_addr;
}
struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
}
struct meta_t {
    bit<16> class;
}
struct pair_t {
    bit<32> first;
    bit<32> second;
}
struct pattern_t {
    bit<16> kind;
    bit<8> code;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out meta_t meta,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    value_set<bit<16>>(4) types;
    value_set<pattern_t>(8) patterns;
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type, hdr.ethernet.ether_type[7:0]) {
            patterns: ipv4;
            default: by_type;
        }
    }
    state by_type {
        transition select(hdr.ethernet.ether_type) {
            types: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }
}

control Policy(inout headers_t hdr, inout meta_t meta) {
    action set_class(bit<16> class) {
        meta.class = class;
    }
    @alpm_partitions(1024)
    @pack(2)
    table classes {
        key = {
            hdr.ipv4.isValid(): exact @name("has_ipv4");
            hdr.ipv4.src_addr: ternary;
            hdr.ethernet.ether_type[15:8]: exact;
            meta.class: range;
        }
        actions = { set_class; @defaultonly NoAction; }
        size = 256;
    }
    apply {
        classes.apply();
    }
}

control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) per_port;
    DirectCounter<bit<32>>(CounterType_t.BYTES) per_route;
    Register<pair_t, bit<10>>(1024) pairs;
    Register<bit<8>, bit<4>>(16) small;
    DirectRegister<bit<16>>() seen;
    RegisterParam<bit<8>>(3) step;
    RegisterAction<pair_t, bit<10>, bit<32>>(pairs) bump = {
        void apply(inout pair_t value, out bit<32> rv) {
            value.first = value.first + 1;
            rv = value.second;
        }
    };
    RegisterAction<bit<8>, bit<4>, bit<8>>(small) tick = {
        void apply(inout bit<8> value) {
            value = value + step.read();
        }
    };
    DirectRegisterAction<bit<16>, bit<16>>(seen) mark = {
        void apply(inout bit<16> value) {
            value = value + 1;
        }
    };
    Policy() policy;

    action forward(PortId_t port, bit<48> dst_addr) {
        per_route.count();
        hdr.ethernet.dst_addr = dst_addr;
        ig_tm_md.ucast_egress_port = port;
    }
    action discard() {
        per_route.count();
        ig_dprsr_md.drop_ctl = 1;
    }
    table routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { forward; discard; }
        const default_action = discard;
        counters = per_route;
        size = 4096;
    }
    action known() {
        mark.execute();
    }
    @dynamic_table_key_masks(1)
    table stations {
        key = { hdr.ethernet.src_addr: exact @name("station"); }
        actions = { known; @defaultonly NoAction; }
        registers = seen;
    }
    action discard_class() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table fixed {
        key = { meta.class: exact; }
        actions = { @tableonly discard_class; NoAction; }
        const entries = {
            7: discard_class();
        }
    }
    @hidden table internal {
        actions = { NoAction; }
        const default_action = NoAction;
    }
    apply {
        policy.apply(hdr, meta);
        routes.apply();
        stations.apply();
        fixed.apply();
        internal.apply();
        per_port.count(ig_intr_md.ingress_port);
        bump.execute(meta.class[9:0]);
        tick.execute(meta.class[3:0]);
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in meta_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
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
    Counter<bit<32>, PortId_t>(256, CounterType_t.PACKETS) sent;
    apply {
        sent.count(eg_intr_md.egress_port);
    }
}
control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {}
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
