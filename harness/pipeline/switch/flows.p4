/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may do that takes notes, and what ends them: harness/pipeline/switch/test_flows.c. Tables decide by addresses of a
 * few values. */
#include <core.p4>
#include <tna.p4>

header front_h {
    bit<16> who;
    bit<48> stamp;
}
header bridge_h {
    bit<8> class;
    bit<7> _pad;
    bit<9> port;
}
header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}
header vlan_h {
    bit<3>  pcp;
    bit<1>  dei;
    bit<12> vid;
    bit<16> ether_type;
}
header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_len;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}
header ports_h {
    bit<16> src;
    bit<16> dst;
}
header mirror_h {
    bit<8> why;
}

struct headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    vlan_h     vlan;
    ipv4_h     ipv4;
    ports_h    ports;
    ports_h    more;
    front_h    front;
}
struct metadata_t {
    bit<1>     bad;
    bit<8>     flags;
    bit<8>     class;
    bit<8>     nobody;
    bit<8>     moment;
    bit<8>     colour;
    bit<16>    length;
    bit<8>     why;
    MirrorId_t session;
}
struct learned_t {
    bit<48> src_addr;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() sum;

    state start {
#ifdef LOOKED_AHEAD
        md.moment = pkt.lookahead<bit<64>>()[17:10];
#endif
#ifdef AS_ANOTHER
        pkt.extract(hdr.front);
        md.moment = hdr.front.stamp[17:10];
#else
        pkt.extract(ig_intr_md);
#endif
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x8100: parse_vlan;
            0x0800: parse_ipv4;
            0x5555: parse_taken;
            0x6666: parse_looked;
            default: accept;
        }
    }
    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        sum.add(hdr.ipv4);
        md.bad = (bit<1>)sum.verify();
        md.length = hdr.ipv4.total_len;
        md.nobody = hdr.ipv4.identification[7:0];
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 17): parse_ports;
            (5, 6): parse_flags;
            default: accept;
        }
    }
    state parse_flags {
        md.flags = pkt.lookahead<bit<112>>()[7:0];
        transition parse_ports;
    }
    state parse_ports {
        pkt.extract(hdr.ports);
        transition accept;
    }
    state parse_taken {
        pkt.advance(16);
        pkt.extract(hdr.more);
        transition accept;
    }
    state parse_looked {
        transition select(pkt.lookahead<bit<24>>()[3:0]) {
            1: parse_ports;
            2: parse_deep;
            default: accept;
        }
    }
    state parse_deep {
        md.class = pkt.lookahead<bit<1024>>()[7:0];
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) sent;
    DirectCounter<bit<64>>(CounterType_t.BYTES) matched;
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) by_port;
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) by_class;
    Counter<bit<64>, bit<1>>(2, CounterType_t.BYTES) by_kind;
    Counter<bit<64>, bit<1>>(2, CounterType_t.PACKETS) damaged;
    Counter<bit<64>, bit<1>>(2, CounterType_t.PACKETS) late;
    Meter<bit<8>>(16, MeterType_t.PACKETS) police;
    Random<bit<8>>() dice;
    Hash<bit<8>>(HashAlgorithm_t.CRC8) spread;
    Hash<bit<8>>(HashAlgorithm_t.RANDOM) chance;

    action send(PortId_t port) {
        sent.count();
        ig_tm_md.ucast_egress_port = port;
    }
    action past_egress(PortId_t port) {
        sent.count();
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }
    action flood(MulticastGroupId_t group) {
        sent.count();
        ig_tm_md.mcast_grp_a = group;
    }
    action discard() {
        sent.count();
        ig_dprsr_md.drop_ctl = 1;
    }
    table destinations {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            send;
            past_egress;
            flood;
            discard;
        }
        default_action = discard;
        counters = sent;
        size = 64;
    }

    action stranger() { ig_dprsr_md.digest_type = 1; }
    table sources {
        key = {
            hdr.ethernet.src_addr : exact;
        }
        actions = {
            NoAction;
            stranger;
        }
        default_action = NoAction;
        size = 64;
        idle_timeout = true;
    }

    action permit(bit<8> class) {
        matched.count();
        md.class = class;
    }
    action deny() {
        matched.count();
        ig_dprsr_md.drop_ctl = 1;
    }
    action meter_it(bit<8> index) {
        matched.count();
        md.colour = police.execute(index);
    }
    action mirror_it(MirrorId_t session) {
        matched.count();
        md.session = session;
        ig_dprsr_md.mirror_type = 1;
    }
    action mark(bit<8> tos) {
        matched.count();
        hdr.ipv4.tos = tos;
        md.class = md.length[7:0];
    }
    action throw() {
        matched.count();
        md.class = dice.get();
    }
    action spread_it() {
        matched.count();
        md.class = spread.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ports.dst});
    }
    action take_chance() {
        matched.count();
        md.class = chance.get({hdr.ipv4.src_addr});
    }
    table lists {
        key = {
            hdr.ipv4.isValid() : ternary;
            hdr.ipv4.src_addr  : ternary;
            hdr.ports.src      : ternary;
            md.flags           : ternary;
            hdr.ipv4.ttl       : ternary;
        }
        actions = {
            permit;
            deny;
            meter_it;
            mirror_it;
            mark;
            throw;
            spread_it;
            take_chance;
        }
        default_action = permit(0);
        counters = matched;
        size = 64;
    }

    action push(bit<12> vid) {
        hdr.vlan.setValid();
        hdr.vlan.vid = vid;
        hdr.vlan.ether_type = hdr.ethernet.ether_type;
        hdr.ethernet.ether_type = 0x8100;
    }
    action pop() {
        hdr.ethernet.ether_type = hdr.vlan.ether_type;
        hdr.vlan.setInvalid();
    }
    action lose() {
        hdr.vlan.setInvalid();
        hdr.more.setValid();
    }
    table tags {
        key = {
            hdr.vlan.isValid() : exact;
            hdr.vlan.vid[1:0]  : exact @name("vid");
        }
        actions = {
            NoAction;
            push;
            pop;
            lose;
        }
        default_action = NoAction;
        size = 16;
    }

    action counted() { by_kind.count(1, 150); }
    table kinds {
        key = {
            hdr.ethernet.ether_type : exact;
        }
        actions = {
            counted;
            NoAction;
        }
        const entries = {
            0x0800 : counted();
            0x88b5 : NoAction();
        }
        const default_action = NoAction;
        size = 2;
    }

    action add(bit<8> more) { md.class = md.class + more; }
    table more {
        key = {
            md.class : exact;
        }
        actions = {
            add;
            NoAction;
        }
        const entries = {
            1 : add(2);
        }
        default_action = NoAction;
        size = 4;
    }
    table last {
        key = {
            hdr.ports.isValid() : exact;
        }
        actions = {
            add;
        }
        default_action = add(0);
        size = 2;
    }

    apply {
#ifdef AS_ANOTHER
        by_port.count(hdr.front.who[8:0]);
#else
        by_port.count(ig_intr_md.ingress_port);
#endif
        if (md.moment[0:0] == 1)
            late.count(1);
        kinds.apply();
        destinations.apply();
        sources.apply();
        lists.apply();
        more.apply();
        last.apply();
        tags.apply();
        if (md.colour == 3)
            ig_dprsr_md.drop_ctl = 1;
        if (md.bad == 1) {
            damaged.count(0);
            if (md.class[0:0] == 1)
                ig_dprsr_md.drop_ctl = 1;
        }
        by_class.count(md.class);
        hdr.bridge.setValid();
        hdr.bridge.class = md.class;
#ifdef AS_ANOTHER
        hdr.bridge.port = hdr.front.who[8:0];
#else
        hdr.bridge.port = ig_intr_md.ingress_port;
#endif
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Digest<learned_t>() learned;
    Mirror() mirror;
    apply {
        if (ig_dprsr_md.digest_type == 1)
            learned.pack({hdr.ethernet.src_addr});
        if (ig_dprsr_md.mirror_type == 1)
            mirror.emit<mirror_h>(md.session, {md.why});
        pkt.emit(hdr.bridge);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ports);
        pkt.emit(hdr.more);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x8100: parse_vlan;
            default: accept;
        }
    }
    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) left;

    action keep() { left.count(); }
    action stamp(bit<48> src_addr) {
        left.count();
        hdr.ethernet.src_addr = src_addr;
    }
    action strip() {
        left.count();
        hdr.ethernet.ether_type = hdr.vlan.ether_type;
        hdr.vlan.setInvalid();
    }
    action refuse() {
        left.count();
        eg_dprsr_md.drop_ctl = 1;
    }
    table leaving {
        key = {
            eg_intr_md.egress_port    : exact;
            hdr.bridge.class[0:0]     : exact @name("class");
            hdr.ethernet.dst_addr[0:0] : exact @name("dst");
        }
        actions = {
            keep;
            stamp;
            strip;
            refuse;
        }
        default_action = keep;
        counters = left;
        size = 64;
    }
    apply {
        leaving.apply();
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;

Switch(pipe) main;
