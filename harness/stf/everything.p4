/* SPDX-License-Identifier: Apache-2.0
 *
 * everything: one of each object that a control plane can name, and everything a packet can cause:
 * for everything.stf, and for the fuzz targets that write entries, settings and packets at random
 * (harness/pcap/stf/fuzz_stf.c, fuzz_config.c, harness/pipeline/switch/fuzz_packets.c). A packet says in its
 * order what is to happen to it.
 */
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header order_h {
    bit<1>  digest;
    bit<1>  group;
    bit<1>  resubmit;
    bit<1>  drop;
    bit<2>  mirror;         // 1: with a header, 2: bare
    bit<1>  forward;
    bit<1>  bypass;
    bit<1>  wide;
    bit<1>  egress_mirror;
    bit<1>  egress_drop;
    bit<5>  shape;          // what follows
    bit<16> port;           // or group
    bit<16> session;
    bit<2>  color;
    bit<1>  deflect;
    bit<5>  qid;
    bit<8>  op;
    bit<8>  i;
    bit<32> a;
    bit<32> r;
}

header tag_h {
    bit<1> last;
    bit<7> id;
    bit<8> data;
}

header options_h {
    bit<8>      size;
    varbit<120> data;
}

header a_h { bit<8> x; }
header b_h { bit<24> y; }
header_union union_u {
    a_h a;
    b_h b;
}

header kind_h { bit<8> kind; }
header mirror_h {
    bit<8>  kind;
    bit<24> tag;
}
header again_h { bit<64> data; }
header wide_h { bit<512> value; }
header ports_h { bit<64> value; }

struct headers_t {
    kind_h                kind;
    pktgen_timer_header_t timer;
    ethernet_h            ethernet;
    order_h               order;
    tag_h[4]              tags;
    options_h             options;
    options_h             copy;
    union_u               un;
    union_u[2]            row;
    wide_h                wide;
}

struct metadata_t {
    ports_h port_metadata;
    again_h again;
    bit<10> session;
    bit<8>  tags;
    bit<16> checksum;
}

struct eg_headers_t {
    mirror_h   mirror;
    kind_h     kind;
    ethernet_h ethernet;
    order_h    order;
}

struct eg_metadata_t {
    bit<10> session;
    bit<24> tag;
}

struct seen_t {
    bit<48> addr;
    bit<9>  port;
    int<7>  level;
}

struct pair_t {
    bit<32> first;
    bit<32> second;
}

const bit<8> BRIDGED = 1;
const bit<8> MIRRORED = 2;

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    value_set<bit<16>>(8) types;
    Checksum() sum;

    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag, ig_intr_md.ingress_port[6:0]) {
            (1, _)  : resubmitted;
            (0, 70) : generated;
            (0, 71) : generated;
            default : fresh;
        }
    }
    state resubmitted {
        pkt.extract(md.again);
        transition ethernet;
    }
    state generated {
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.timer);
        transition ethernet;
    }
    state fresh {
        pkt.extract(md.port_metadata);
        transition ethernet;
    }
    state ethernet {
        pkt.extract(hdr.ethernet);
        sum.add(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            types  : order;
            0x9000 : order;
            default : accept;
        }
    }
    state order {
        pkt.extract(hdr.order);
        sum.subtract({hdr.order.port});
        md.checksum = sum.get();
        transition select(hdr.order.shape) {
            1 : tags;
            2 : options;
            3 : union_a;
            4 : union_b;
            5 : row;
            6 : wide;
            7 .. 9 : advance;
            10 : reject;
            default : accept;
        }
    }
    state tags {
        pkt.extract(hdr.tags.next);
        md.tags = md.tags + 1;
        transition select(hdr.tags.last.last) {
            0 : tags;
            1 : accept;
        }
    }
    state options {
        pkt.extract(hdr.options, (bit<32>)pkt.lookahead<bit<8>>() << 3);
        transition accept;
    }
    state union_a {
        pkt.extract(hdr.un.a);
        transition accept;
    }
    state union_b {
        pkt.extract(hdr.un.b);
        transition accept;
    }
    state row {
        transition select(pkt.lookahead<bit<8>>()) {
            1 : row_a;
            2 : row_b;
            default : accept;
        }
    }
    state row_a {
        pkt.extract(hdr.row.next.a);
        transition row;
    }
    state row_b {
        pkt.extract(hdr.row.next.b);
        transition row;
    }
    state wide {
        pkt.extract(hdr.wide);
        transition accept;
    }
    state advance {
        pkt.advance(96);
        transition tags;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Counter<bit<32>, bit<8>>(16, CounterType_t.PACKETS_AND_BYTES) counts;
    Meter<bit<8>>(16, MeterType_t.BYTES) of_bytes;
    Meter<bit<8>>(16, MeterType_t.PACKETS) of_packets;
    Lpf<bit<32>, bit<8>>(16) average;
    Wred<bit<32>, bit<8>>(16, 7, 9) early;
    Random<bit<8>>() dice;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc;

    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) forwarded;
    DirectMeter(MeterType_t.PACKETS) metered;
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
        hdr.order.r[7:0] = metered.execute();
        forwarded.count();
    }
    action none() {}
    table forward {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { send; @defaultonly none; }
        const default_action = none();
        counters = forwarded;
        meters = metered;
        size = 64;
        idle_timeout = true;
    }

    DirectRegister<pair_t>({100, 200}) by_entry;
    DirectRegisterAction<pair_t, bit<32>>(by_entry) note = {
        void apply(inout pair_t value, out bit<32> rv) {
            value.first = value.first + 1;
            value.second = hdr.order.a;
            rv = value.first;
        }
    };
    action noted(bit<16> group) {
        hdr.order.r = note.execute();
        ig_tm_md.mcast_grp_b = group;
    }
    table filter {
        key = {
            hdr.order.a : ternary;
            hdr.order.i : range;
            hdr.order.isValid() : exact;
        }
        actions = { noted; none; }
        registers = by_entry;
        size = 16;
    }

    DirectLpf<bit<16>>() smooth;
    action level() { hdr.order.r[15:0] = smooth.execute(hdr.order.a[15:0]); }
    table prefixes {
        key = { hdr.order.a : lpm; }
        actions = { level; @defaultonly none; }
        default_action = none();
        filters = smooth;
        size = 64;
    }

    action put(bit<32> value) { hdr.order.r = value; }
    action put_wide(bit<128> value, int<8> shift) {
        hdr.wide.value[127:0] = value;
        hdr.order.i = (bit<8>)shift;
    }
    ActionProfile(16) profile;
    table profiled {
        key = { hdr.order.i : exact; }
        actions = { put; put_wide; none; }
        implementation = profile;
        size = 16;
    }
    Hash<bit<32>>(HashAlgorithm_t.CRC32) spread;
    ActionProfile(16) members;
    ActionSelector(members, spread, SelectorMode_t.RESILIENT, 8, 4) selector;
    table selected {
        key = {
            hdr.order.i : ternary;
            hdr.order.a : selector;
        }
        actions = { put; none; }
        implementation = selector;
        size = 16;
    }
    SelectorAction(selector) take_down = {
        void apply(inout bit<1> value) { value = 0; }
    };

    RegisterParam<bit<32>>(1) step;
    Register<pair_t, bit<8>>(16, {5, 7}) pairs;
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) advance = {
        void apply(inout pair_t value, out bit<32> rv) {
            rv = value.second;
            value.first = value.first + step.read();
            value.second = value.second |+| hdr.order.a;
        }
    };
    Register<bit<1>, bit<8>>(100) flags;
    RegisterAction<bit<1>, bit<8>, bit<1>>(flags) flip = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = ~value;
            value = 1;
        }
    };
    MathUnit<bit<32>>(MathOp_t.SQRT, 1, 1) root;
    Register<bit<32>, bit<8>>(16) roots;
    RegisterAction<bit<32>, bit<8>, bit<32>>(roots) extract_root = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = root.execute(hdr.order.a);
            rv = value;
        }
    };

    apply {
        if (hdr.order.isValid()) {
            md.session = hdr.order.session[9:0];
            ig_tm_md.packet_color = hdr.order.color;
            ig_tm_md.qid = hdr.order.qid;
            ig_tm_md.deflect_on_drop = hdr.order.deflect;
            ig_tm_md.bypass_egress = hdr.order.bypass;
            ig_dprsr_md.drop_ctl[0:0] = hdr.order.drop;
            if (hdr.order.forward == 1) {
                ig_tm_md.ucast_egress_port = hdr.order.port[8:0];
            }
            if (hdr.order.group == 1) {
                ig_tm_md.mcast_grp_a = hdr.order.port;
                ig_tm_md.rid = hdr.order.session;
                ig_tm_md.level1_exclusion_id = hdr.order.a[15:0];
                ig_tm_md.level2_exclusion_id = hdr.order.a[24:16];
                ig_tm_md.level1_mcast_hash = hdr.order.a[12:0];
                ig_tm_md.level2_mcast_hash = hdr.order.a[28:16];
            }
            if (hdr.order.mirror == 1) {
                ig_dprsr_md.mirror_type = 1;
            } else if (hdr.order.mirror == 2) {
                ig_dprsr_md.mirror_type = 2;
            }
            if (hdr.order.resubmit == 1) {
                ig_dprsr_md.resubmit_type = 2;
            }
            if (hdr.order.digest == 1) {
                ig_dprsr_md.digest_type = 1;
            }
            switch (hdr.order.op) {
                0: { hdr.order.r[7:0] = of_bytes.execute(hdr.order.i); }
                1: { hdr.order.r[7:0] = of_packets.execute(hdr.order.i,
                                                           (MeterColor_t)hdr.order.a[7:0]); }
                2: { hdr.order.r = average.execute(hdr.order.a, hdr.order.i); }
                3: { hdr.order.r[7:0] = early.execute(hdr.order.a, hdr.order.i); }
                4: { counts.count(hdr.order.i, 4); }
                5: { hdr.order.r = advance.execute(hdr.order.i); }
                6: { hdr.order.r[0:0] = flip.execute(hdr.order.i); }
                7: { hdr.order.r = extract_root.execute(hdr.order.i); }
                8: { hdr.order.r[7:0] = dice.get(); }
                9: { hdr.order.r[15:0] = crc.get({hdr.order.a, hdr.ethernet.dst_addr}); }
                10: { hdr.tags.push_front(1); hdr.tags[0].setValid(); hdr.tags[0] = {0, 5, 6}; }
                11: { hdr.tags.pop_front(2); }
                12: { hdr.tags[hdr.order.i[1:0]].data = 0x77; }
                13: { hdr.copy = hdr.options; }
                14: { hdr.un.b.setValid(); hdr.un.b.y = (bit<24>)hdr.order.a; }
                15: { hdr.row.push_front(1); hdr.row[0] = hdr.un; }
                16: { hdr.wide.value = hdr.wide.value << 77; }
                17: { hdr.wide.value = hdr.wide.value - (hdr.wide.value >> 130); }
                18: { hdr.wide.value[255:0] = hdr.wide.value[511:256] ^ 256w5; }
                19: { hdr.order.a = hdr.order.a |-| (bit<32>)hdr.order.i; }
                20: { hdr.order.a = (bit<32>)((int<32>)hdr.order.a >> 9); }
                21: { hdr.order.a = md.port_metadata.value[31:0] ++ (bit<0>)0; }
                22: { hdr.options.setInvalid(); hdr.copy.setValid(); }
            }
            filter.apply();
            prefixes.apply();
            profiled.apply();
            if (hdr.order.a[31:8] == 0xd00000) {
                take_down.execute(25w1023 ++ hdr.order.a[6:0]);
            } else {
                selected.apply();
            }
        }
        forward.apply();
        if (hdr.timer.isValid()) {
            ig_tm_md.ucast_egress_port = 1;
        }
        if (ig_tm_md.bypass_egress == 0) {
            hdr.kind.setValid();
            hdr.kind.kind = BRIDGED;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Mirror() mirror;
    Mirror(2) bare;
    Resubmit() again;
    Digest<seen_t>() seen;
    Checksum() sum;

    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, {MIRRORED, hdr.order.a[23:0]});
        }
        bare.emit(md.session);
        if (ig_dprsr_md.resubmit_type == 2) {
            again.emit(md.again);
        }
        if (ig_dprsr_md.digest_type == 1) {
            seen.pack({hdr.ethernet.dst_addr, hdr.order.port[8:0], (int<7>)hdr.order.i[6:0]});
        }
        hdr.order.session = sum.update({md.checksum, hdr.options.data, hdr.order.a});
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            BRIDGED  : bridged;
            MIRRORED : mirrored;
            default  : accept;
        }
    }
    state bridged {
        pkt.extract(hdr.kind);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x9000 : order;
            default : accept;
        }
    }
    state order {
        pkt.extract(hdr.order);
        transition accept;
    }
    state mirrored {
        pkt.extract(hdr.mirror);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr, inout eg_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    @true_egress_accounting Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) left;
    apply {
        hdr.kind.setInvalid();
        left.count(eg_intr_md.egress_port);
        md.tag = 5w0 ++ eg_intr_md.deq_qdepth;
        if (hdr.order.isValid()) {
            md.session = hdr.order.port[9:0];
            eg_dprsr_md.drop_ctl[0:0] = hdr.order.egress_drop;
            if (hdr.order.egress_mirror == 1) {
                eg_dprsr_md.mirror_type = 3;
            }
        }
        if (hdr.mirror.isValid()) {
            hdr.mirror.tag = (bit<24>)eg_intr_md.pkt_length;
        }
    }
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
    apply {
        if (eg_dprsr_md.mirror_type == 3) {
            mirror.emit<mirror_h>(md.session, {MIRRORED, md.tag});
        }
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
