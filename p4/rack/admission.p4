/* SPDX-License-Identifier: Apache-2.0
 *
 * admission.p4: who may have his packets added up, and what comes back.
 */

// ---------------------------------------------------------------------------------------------------
// From a front port: what is addressed to those who aggregate comes from a registered sender and says
// nothing but what that one may say, or it goes nowhere.
control Arrivals(inout headers_t hdr, inout ingress_metadata_t md,
                 in ingress_intrinsic_metadata_t ig_intr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) received;
    DirectMeter(MeterType_t.BYTES) rate;   // one that is not set has no limit

    action guard() {
        md.added.guarded = 1;
    }

    // Address and UDP port of what aggregates: of parameter servers and groups, of the address that SwitchML's
    // workers send to, and of the workers, too, whom nobody but the switch and the server may answer. Port 0
    // stands for packets whose port is not known, as they have IPv4 options.
    table guarded {
        key = {
            hdr.ipv4.dst_addr : exact;
            md.dst_port       : exact;
        }
        actions = {
            guard;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 4096;
    }

    action switchml() {
        received.count();
        md.added.colour = rate.execute();
        md.added.role = role_t.SWITCHML;
    }

    // bitmap0, bitmap1  the worker's bits
    // marks             edge, is_ack and fan-ins, as they stand in the packet's two bytes; the other bits are 0
    // minus_first       65,536 - the first of the aggregators of the job, modulo 65,536; last  the last of them
    action worker(bit<32> bitmap0, bit<32> bitmap1, bit<16> marks, bit<16> minus_first,
                  bit<16> last) {
        received.count();
        md.added.colour = rate.execute();
        md.added.role = role_t.WORKER;
        md.added.other0 = md.added.bitmap0 ^ bitmap0;
        md.added.other1 = md.added.bitmap1 ^ bitmap1;
        md.added.differs = md.added.marks ^ marks;
        md.added.below = md.added.index + minus_first;
        md.added.above = last - md.added.index;
    }

    // others0  bits of workers that are not in that rack
    action switch_of(bit<32> others0, bit<32> bitmap1, bit<16> marks, bit<16> minus_first,
                  bit<16> last) {
        received.count();
        md.added.colour = rate.execute();
        md.added.role = role_t.SWITCH;
        md.added.other0 = md.added.bitmap0 & others0;
        md.added.other1 = md.added.bitmap1 ^ bitmap1;
        md.added.differs = md.added.marks ^ marks;
        md.added.below = md.added.index + minus_first;
        md.added.above = last - md.added.index;
    }

    action server(bit<16> minus_first, bit<16> last) {
        received.count();
        md.added.colour = rate.execute();
        md.added.role = role_t.SERVER;
        md.added.below = md.added.index + minus_first;
        md.added.above = last - md.added.index;
    }

#ifdef WITH_LIBRA
    // Its pipe looks at the rest: which worker it is, and the job's cells.
    action libra() {
        received.count();
        md.added.colour = rate.execute();
        md.added.role = role_t.LIBRA;
    }
#endif

    action nobody() {
        received.count();
    }

    table registered {
        key = {
            ig_intr_md.ingress_port : exact;
            md.tag                  : exact;
            hdr.ipv4.src_addr       : exact;
            md.added.protocol       : exact;
            md.added.job            : exact;
            md.added.marks[5:5]     : exact @name("is_ack");
        }
        actions = {
            switchml;
            worker;
            switch_of;
            server;
#ifdef WITH_LIBRA
            libra;
#endif
            @defaultonly nobody;
        }
        const default_action = nobody;
        counters = received;
        meters = rate;
        size = 4096;
    }

    action to_switchml() {
        md.direct = 1;
        md.added.way = protocol_t.SWITCHML;
        ig_tm_md.ucast_egress_port = TO_SWITCHML;
        ig_tm_md.bypass_egress = 1;
    }

    action to_atp() {
        md.direct = 1;
        md.added.way = protocol_t.ATP;
        ig_tm_md.ucast_egress_port = TO_ATP;
        ig_tm_md.bypass_egress = 1;
    }

#ifdef WITH_LIBRA
    action to_libra() {
        md.direct = 1;
        md.added.way = protocol_t.LIBRA;
        ig_tm_md.ucast_egress_port = TO_LIBRA;
        ig_tm_md.bypass_egress = 1;
    }
#endif

    action refuse(drop_t why) {
        md.direct = 1;
        md.added.refused = why;
    }

    // 0x9f3f: edge, fan_in0, is_ack, fan_in1. What a fragment says its switch would not look at again. A wrong IPv4
    // checksum of a SwitchML packet that is added up is counted in its pipe; any other packet is refused for it.
    table admission {
        key = {
            md.added.guarded      : exact;
            hdr.ipv4.flags        : ternary;
            md.added.role         : ternary;
            md.added.other0       : ternary;
            md.added.other1       : ternary;
            md.added.differs      : ternary;
            md.added.below[15:15] : ternary @name("below");
            md.added.above[15:15] : ternary @name("above");
            md.added.colour       : ternary;
            md.unchecked          : ternary;
            md.ip_error           : ternary;
        }
        actions = {
            to_switchml;
            to_atp;
#ifdef WITH_LIBRA
            to_libra;
#endif
            refuse;
            NoAction;
        }
        const entries = {
            (1, _, _, _, _, _, _, _, 3, _, _)                                  : refuse(drop_t.OVER_RATE);
            (1, 0 &&& 0b101, role_t.SWITCHML, _, _, _, _, _, _, _, _)          : to_switchml();
            (1, 0 &&& 0b101, role_t.WORKER, 0, 0, 0 &&& 0x9f3f, 0, 0, _, _, _) : to_atp();
            (1, 0 &&& 0b101, role_t.SWITCH, 0, 0, 0 &&& 0x9f3f, 0, 0, _, _, _) : to_atp();
            (1, 0 &&& 0b101, role_t.SERVER, _, _, _, 0, 0, _, _, _)            : to_atp();
#ifdef WITH_LIBRA
            (1, 0 &&& 0b101, role_t.LIBRA, _, _, _, _, _, _, _, _)             : to_libra();
#endif
            (1, _, role_t.NOBODY, _, _, _, _, _, _, _, _)                      : refuse(drop_t.NOT_A_WORKER);
            (1, _, _, _, _, _, _, _, _, _, _)                                  : refuse(drop_t.NOT_ITS_OWN);
            (0, _, _, _, _, _, _, _, _, 1, 1)                                  : refuse(drop_t.BAD_CHECKSUM);
        }
        const default_action = NoAction;
        size = 8;
    }

    apply {
        if (md.added.udp == 1) {
            guarded.apply();
            registered.apply();
            admission.apply();
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// A packet that is to be added up leaves as it came, without a tag. In front of ATP's is the bridge header as
// it is: for its pipe this is a packet to be aggregated, from another pipe, with nothing done to it.
control Departures(inout headers_t hdr, inout ingress_metadata_t md,
                   in ingress_intrinsic_metadata_t ig_intr_md) {
    action untag() {
        hdr.ethernet.ether_type = (bit<16>)ether_type_t.IPV4;
        hdr.vlan.setInvalid();
    }

    apply {
        if (md.added.refused != drop_t.NONE)
            md.drop = md.added.refused;
        if (md.added.way != protocol_t.NONE && hdr.vlan.isValid())
            untag();
        if (md.added.way == protocol_t.SWITCHML)
            hdr.bridge.setInvalid();
#ifdef WITH_LIBRA
        else if (md.added.way == protocol_t.LIBRA)
            hdr.bridge.setInvalid();
#endif
        else if (md.added.way == protocol_t.ATP)
            hdr.bridge.kind = (kind_t)(bit<8>)atp_op_t.RELAY;
        else if (ig_intr_md.ingress_port == RECIRCULATE)
            hdr.bridge.kind = kind_t.AGGREGATED;
    }
}

// ---------------------------------------------------------------------------------------------------
// Results get their receivers' addresses and VLANs, ATP's packets ATP's marks.
control Leaving(inout headers_t hdr, inout egress_metadata_t md,
                in egress_intrinsic_metadata_t eg_intr_md,
                in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    switchml_Egress() switchml;
    atp_Egress() atp;

    action tag(vlan_id_t vid) {
        hdr.added.tag.setValid();
        hdr.added.tag.pcp = 0;
        hdr.added.tag.dei = 0;
        hdr.added.tag.vid = vid;
        hdr.added.tag.ether_type = (bit<16>)ether_type_t.IPV4;
        hdr.added.switchml.ethernet.ether_type = (bit<16>)ether_type_t.VLAN;
    }

    // Workers whose link wants a tag.
    table tagged {
        key = {
            md.added.switchml.rid : exact;
        }
        actions = {
            tag;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 1024;
    }

    apply {
        if (md.is_added == 1) {
            switchml.apply(hdr.added.switchml, md.added.switchml, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
            tagged.apply();
        } else if (hdr.added.atp.atp.isValid()) {
            atp.apply(hdr.added.atp, md.added.atp, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
        }
    }
}
