/* SPDX-License-Identifier: Apache-2.0
 *
 * tor.p4: the switch of a rack, for a Tofino 1: VLANs, learning, IPv4 and IPv6 with equal-cost paths, link
 * aggregation, access lists, storm control, mirroring, ECN. Everything for the switch itself goes to the
 * control plane, which learns, answers and writes the tables. README.md lists them.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "parsers.p4"
#include "bridging.p4"
#include "routing.p4"
#include "policy.p4"
#include "../common/classes.p4"
#include ADDED_CONTROLS

control Ingress(inout headers_t hdr, inout ingress_metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Ports() ports;
    Bridging() bridging;
    Flooding() flooding;
    Routing() routing;
    Policy() policy;
    Spraying() spraying;
    Classes() classes;
    Arrivals() arrivals;
    Departures() departures;

    Hash<bit<16>>(HashAlgorithm_t.CRC16) ipv4_flow;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) ipv6_flow;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) ethernet_flow;

    CRCPolynomial<bit<16>>(16w0x8bb7, false, false, false, 16w0x0000, 16w0x0000) polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) choose;
    ActionProfile(1024) members;
    ActionSelector(members, choose, SelectorMode_t.FAIR, 16, 128) lag;

    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) drops;
    Meter<bit<8>>(256, MeterType_t.PACKETS) to_cpu;
    bit<8> colour = 0;

    action hash_ipv4() {
        md.dscp = hdr.ipv4.dscp;
        md.ecn = hdr.ipv4.ecn;
        md.flow = ipv4_flow.get({hdr.ipv4.src_addr, hdr.ipv4.dst_addr, md.protocol, md.src_port,
                                 md.dst_port});
    }

    action hash_ipv6() {
        md.dscp = hdr.ipv6.dscp;
        md.ecn = hdr.ipv6.ecn;
        md.flow = ipv6_flow.get({hdr.ipv6.src_addr, hdr.ipv6.dst_addr, md.protocol, md.src_port,
                                 md.dst_port});
    }

    action hash_ethernet() {
        md.flow = ethernet_flow.get({hdr.ethernet.src_addr, hdr.ethernet.dst_addr});
    }

    // The control plane's own packets.
    action to_port() {
        ig_tm_md.ucast_egress_port = hdr.cpu.port;
        md.vid = hdr.cpu.vid;
        md.direct = 1;
    }

    action to_vlan() {
        md.interface = hdr.cpu.interface;
        md.vid = hdr.cpu.vid;
    }

    action no_order() {
        md.drop = drop_t.BAD_HEADER;
    }

    table orders {
        key = {
            hdr.cpu.reason : exact;
        }
        actions = {
            to_port;
            to_vlan;
            no_order;
        }
        const entries = {
            (bit<8>)cpu_order_t.PORT : to_port();
            (bit<8>)cpu_order_t.VLAN : to_vlan();
        }
        const default_action = no_order;
        size = 2;
    }

    // What no switch passes on. The parser adds up headers without options only.
    action bad(drop_t why) {
        md.drop = why;
    }

    table sanity {
        key = {
            hdr.ethernet.src_addr : ternary;
            hdr.ipv4.isValid()    : ternary;
            hdr.ipv4.version      : ternary;
            hdr.ipv4.ihl          : ternary;
            md.ip_error           : ternary;
            md.unchecked          : ternary;
            hdr.ipv6.isValid()    : ternary;
            hdr.ipv6.version      : ternary;
        }
        actions = {
            bad;
            NoAction;
        }
        const entries = {
            (0x010000000000 &&& 0x010000000000, _, _, _, _, _, _, _) : bad(drop_t.BAD_SOURCE);
            (0, _, _, _, _, _, _, _)                                 : bad(drop_t.BAD_SOURCE);
            (_, true, 4, 5, 1, 0, _, _)                              : bad(drop_t.BAD_CHECKSUM);
            (_, true, 4, 0 &&& 0xc, _, _, _, _)                      : bad(drop_t.BAD_HEADER);
            (_, true, 4, 4, _, _, _, _)                              : bad(drop_t.BAD_HEADER);
            (_, true, 4, _, _, _, _, _)                              : NoAction();
            (_, true, _, _, _, _, _, _)                              : bad(drop_t.BAD_HEADER);
            (_, _, _, _, _, _, true, 6)                              : NoAction();
            (_, _, _, _, _, _, true, _)                              : bad(drop_t.BAD_HEADER);
        }
        const default_action = NoAction;
        size = 16;
    }

    // What the control plane sees besides what is addressed to it.
    action copy(reason_t reason) {
        md.reason = reason;
    }

    action trap(reason_t reason) {
        md.reason = reason;
        md.trap = 1;
    }

    table inspected {
        key = {
            hdr.ethernet.dst_addr : ternary;
            md.ether_type         : ternary;
            md.protocol           : ternary;
            md.src_port           : ternary;    // of ICMP: type and code
        }
        actions = {
            copy;
            trap;
        }
        const entries = {
            (0x0180c2000000 &&& 0xfffffffffff0, _, _, _)                            : trap(reason_t.LINK);
            (_, ether_type_t.ARP, _, _)                                             : copy(reason_t.ARP);
            (_, ether_type_t.IPV4, ip_protocol_t.IGMP, _)                           : trap(reason_t.SNOOP);
            (_, ether_type_t.IPV6, ip_protocol_t.ICMPV6, 0x8200 &&& 0xff00)         : trap(reason_t.SNOOP);
            (_, ether_type_t.IPV6, ip_protocol_t.ICMPV6, 0x8300 &&& 0xff00)         : trap(reason_t.SNOOP);
            (_, ether_type_t.IPV6, ip_protocol_t.ICMPV6, 0x8400 &&& 0xff00)         : trap(reason_t.SNOOP);
            (_, ether_type_t.IPV6, ip_protocol_t.ICMPV6, 0x8f00 &&& 0xff00)         : trap(reason_t.SNOOP);
            (_, ether_type_t.IPV6, ip_protocol_t.ICMPV6, 0x8400 &&& 0xfc00)         : copy(reason_t.NEIGHBOUR);
            (_, ether_type_t.IPV6, ip_protocol_t.ICMPV6, 0x8800 &&& 0xfe00)         : copy(reason_t.NEIGHBOUR);
        }
        size = 16;
    }

    action leave_by(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    action no_port() {
        md.drop = drop_t.NO_PORT;
    }

    table interfaces {
        key = {
            md.out_interface : exact;
            md.flow          : selector;
        }
        actions = {
            leave_by;
            @defaultonly no_port;
        }
        const default_action = no_port;
        implementation = lag;
        size = 1024;
    }

    // What became of it.
    action discard() {
        ig_dprsr_md.drop_ctl = 1;
        drops.count((bit<8>)md.drop);
    }

    action for_cpu_only() {
        ig_dprsr_md.drop_ctl = 1;
        ig_tm_md.copy_to_cpu = 1;
    }

    action for_cpu_too() {
        ig_tm_md.copy_to_cpu = 1;
    }

    action too_much_for_cpu() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table verdict {
        key = {
            md.drop   : ternary;
            md.trap   : ternary;
            md.reason : ternary;
            colour    : ternary;
        }
        actions = {
            discard;
            for_cpu_only;
            for_cpu_too;
            too_much_for_cpu;
            NoAction;
        }
        // Frames for the link itself (LACP) come by ports that are in no VLAN, too, and in a storm.
        const entries = {
            (_, 1, reason_t.LINK, 3)           : too_much_for_cpu();
            (_, 1, reason_t.LINK, _)           : for_cpu_only();
            (drop_t.NONE, 0, reason_t.NONE, _) : NoAction();
            (drop_t.NONE, 0, _, 3)             : NoAction();
            (drop_t.NONE, 0, _, _)             : for_cpu_too();
            (drop_t.NONE, 1, _, 3)             : too_much_for_cpu();
            (drop_t.NONE, 1, _, _)             : for_cpu_only();
            (_, _, _, _)                       : discard();
        }
        size = 8;
    }

    action measure() {
        colour = to_cpu.execute((bit<8>)md.reason);
    }

    apply {
        md.ether_type = hdr.ethernet.ether_type;
        if (hdr.vlan.isValid())
            md.ether_type = hdr.vlan.ether_type;
        if (hdr.cpu.isValid()) {
            orders.apply();
        } else {
            ports.apply(md, ig_intr_md);
            arrivals.apply(hdr, md, ig_intr_md, ig_tm_md);
        }
        sanity.apply();
        if (hdr.ipv4.isValid())
            hash_ipv4();
        else if (hdr.ipv6.isValid())
            hash_ipv6();
        else
            hash_ethernet();
        if (hdr.ipv4.isValid() || hdr.ipv6.isValid())
            spraying.apply(md.dscp, md.flow);
        if (md.direct == 0)
            inspected.apply();
        if (md.direct == 0 && md.drop == drop_t.NONE) {
            bridging.apply(hdr, md, ig_tm_md);
            if (md.learns == 1 && (md.new == 1 || md.moved != 0))
                ig_dprsr_md.digest_type = 1;
            if (md.flooded == 1)
                flooding.apply(hdr, md, ig_tm_md);
            else if (md.routed == 1)
                routing.apply(hdr, md);
            policy.apply(hdr, md);
            classes.apply(md.dscp, md.ecn, ig_intr_md.ingress_port, ig_tm_md);
            if (md.out_interface != 0)
                interfaces.apply();
        }
        if (md.reason != reason_t.NONE)
            measure();
        ig_tm_md.level1_exclusion_id = 6w0 ++ md.interface;
        ig_tm_md.level2_exclusion_id = 8w0 ++ md.interface[9:9];
        ig_tm_md.level2_mcast_hash = md.flow[12:0];
        if (md.session != 0)
            ig_dprsr_md.mirror_type = 1;
        md.mirror = kind_t.MIRROR;
        hdr.bridge.setValid();
        hdr.bridge.kind = kind_t.BRIDGED;
        hdr.bridge.reason = (bit<8>)md.reason;
        hdr.bridge._pad0 = 0;
        hdr.bridge.interface = md.interface;
        hdr.bridge._pad1 = 0;
        hdr.bridge.port = ig_intr_md.ingress_port;
        hdr.bridge._pad2 = 0;
        hdr.bridge.vid = md.vid;
        departures.apply(hdr, md, ig_intr_md);
        verdict.apply();
    }
}

control Egress(inout headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Leaving() leaving;

    DirectCounter<bit<64>>(CounterType_t.PACKETS) marked;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) sent;

    // How the VLAN leaves by this port.
    action tagged() {
        sent.count();
        md.wants_tag = 1;
    }

    action untagged() {
        sent.count();
    }

    action refuse() {
        sent.count();
        eg_dprsr_md.drop_ctl = 1;
    }

    table vlans_out {
        key = {
            eg_intr_md.egress_port : exact;
            hdr.bridge.vid         : exact;
        }
        actions = {
            tagged;
            untagged;
            @defaultonly refuse;
        }
        const default_action = refuse;
        counters = sent;
        size = 16384;
    }

    action push() {
        hdr.vlan.setValid();
        hdr.vlan.pcp = 0;
        hdr.vlan.dei = 0;
        hdr.vlan.vid = hdr.bridge.vid;
        hdr.vlan.ether_type = hdr.ethernet.ether_type;
        hdr.ethernet.ether_type = ether_type_t.VLAN;
    }

    action change() {
        hdr.vlan.vid = hdr.bridge.vid;
    }

    action pop() {
        hdr.ethernet.ether_type = hdr.vlan.ether_type;
        hdr.vlan.setInvalid();
    }

    table tags {
        key = {
            md.wants_tag       : exact;
            hdr.vlan.isValid() : exact;
        }
        actions = {
            push;
            change;
            pop;
            NoAction;
        }
        const entries = {
            (1, false) : push();
            (1, true)  : change();
            (0, true)  : pop();
        }
        const default_action = NoAction;
        size = 4;
    }

    // A mirror session that gets a copy of what leaves by this port.
    action copy(MirrorId_t session) {
        md.session = session;
        md.mirror = kind_t.MIRROR;
        eg_dprsr_md.mirror_type = 1;
    }

    table mirrored {
        key = {
            eg_intr_md.egress_port : exact;
        }
        actions = {
            copy;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 512;
    }

    action mark_ipv4() {
        marked.count();
        hdr.ipv4.ecn = 3;
        md.marked = 1;
    }

    action mark_ipv6() {
        marked.count();
        hdr.ipv6.ecn = 3;
    }

    action keep() {
        marked.count();
    }

    // Depth of the queue that it stood in, in cells of 80 bytes, and whether its ends know ECN.
    table queues {
        key = {
            eg_intr_md.enq_qdepth : range;
            hdr.ipv4.isValid()    : ternary;
            hdr.ipv4.ecn          : ternary;
            hdr.ipv6.isValid()    : ternary;
            hdr.ipv6.ecn          : ternary;
        }
        actions = {
            mark_ipv4;
            mark_ipv6;
            keep;
        }
        default_action = keep;
        counters = marked;
        size = 16;
    }

    action to_cpu() {
        hdr.cpu.setValid();
        hdr.cpu.reason = hdr.bridge.reason;
        hdr.cpu._pad0 = 0;
        hdr.cpu._pad1 = 0;
        hdr.cpu.interface = hdr.bridge.interface;
        hdr.cpu._pad2 = 0;
        hdr.cpu.port = hdr.bridge.port;
        hdr.cpu._pad3 = 0;
        hdr.cpu.vid = hdr.bridge.vid;
    }

    apply {
        if (md.is_mirror == 0) {
            leaving.apply(hdr, md, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
            if (eg_intr_md.egress_port == CPU_PORT) {
                to_cpu();
            } else {
                if (md.is_added == 0) {
                    vlans_out.apply();
                    tags.apply();
                    queues.apply();
                }
                mirrored.apply();
            }
        }
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
