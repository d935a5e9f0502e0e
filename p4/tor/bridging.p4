/* SPDX-License-Identifier: Apache-2.0
 *
 * bridging.p4: ports and VLANs, learning, and where a frame goes inside its VLAN.
 */

// Which interface a port is, and which VLAN a frame is in. Both tables are asked at once.
control Ports(inout ingress_metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md) {
    // interface    the port's, or that of the LAG it is in
    // acl_group    of packets from here, for the ACLs; 0: none
    // learns       whether sources are learned here
    // storm_port   0: no limit; else whose meters
    // session      mirror session that gets a copy of all that comes in here; 0: none
    action port(interface_t interface, bit<8> acl_group, bit<1> learns, bit<10> storm_port,
                MirrorId_t session) {
        md.interface = interface;
        md.acl_group = acl_group;
        md.learns = learns;
        md.storm_port = storm_port;
        md.session = session;
    }

    table ports {
        key = {
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            port;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 512;
    }

    action join(vlan_id_t vid) {
        md.vid = vid;
    }

    action refuse() {
        md.drop = drop_t.NO_VLAN;
    }

    // Tag 0 is a frame without a VLAN: an untagged one, or one that has only a priority.
    table vlans_in {
        key = {
            ig_intr_md.ingress_port : exact;
            md.tag                  : exact;
        }
        actions = {
            join;
            @defaultonly refuse;
        }
        const default_action = refuse;
        size = 16384;
    }

    apply {
        ports.apply();
        vlans_in.apply();
    }
}

// Who is where. What is new is told to the control plane, which writes both tables.
control Bridging(inout headers_t hdr, inout ingress_metadata_t md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // `moved` is the difference between where it is and where it was.
    action known(interface_t interface) {
        md.moved = md.interface ^ interface;
    }

    action stranger() {
        md.new = 1;
    }

    // Entries without hits age: the control plane removes them from both tables.
    table sources {
        key = {
            md.vid                : exact;
            hdr.ethernet.src_addr : exact;
        }
        actions = {
            known;
            @defaultonly stranger;
        }
        const default_action = stranger;
        size = 16384;
        idle_timeout = true;
    }

    action bridge(interface_t interface) {
        md.bridged = 1;
        md.out_interface = interface;
        md.turned = md.interface ^ interface;
    }

    // An address of the switch itself.
    action route() {
        md.routed = 1;
    }

    // A multicast address that somebody has joined.
    action group(MulticastGroupId_t group) {
        ig_tm_md.mcast_grp_a = group;
    }

    // `joinable`: a group that hosts have to join.
    action flood(bit<2> storm_class, bit<1> joinable) {
        md.flooded = 1;
        md.storm_class = storm_class;
        md.joinable = joinable;
    }

    table destinations {
        key = {
            md.vid                : exact;
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            bridge;
            route;
            group;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 16384;
    }

    // Destinations that are nobody's in particular. Of groups of IPv4 and IPv6 those are flooded without being
    // joined that share their MAC address with groups of a link: 224.0.0.0/24, and ff02::/120, ff02::1:0/120
    // (names, DHCP), solicited nodes.
    table others {
        key = {
            hdr.ethernet.dst_addr : ternary;
        }
        actions = {
            flood;
        }
        const entries = {
            0xffffffffffff                    : flood(1, 0);
            0x01005e000000 &&& 0xffffffffff00 : flood(2, 0);
            0x01005e000000 &&& 0xffffff800000 : flood(2, 1);
            0x333300000000 &&& 0xffffffffff00 : flood(2, 0);
            0x333300010000 &&& 0xffffffffff00 : flood(2, 0);
            0x3333ff000000 &&& 0xffffff000000 : flood(2, 0);
            0x333300000000 &&& 0xffff00000000 : flood(2, 1);
            0x010000000000 &&& 0x010000000000 : flood(2, 0);
        }
        const default_action = flood(3, 0);
        size = 8;
    }

    apply {
        sources.apply();
        if (!destinations.apply().hit)
            others.apply();
        else if (md.bridged == 1 && md.turned == 0)
            md.drop = drop_t.FROM_THERE;
        else if (md.bridged == 1 && md.interface[9:9] == 1 && md.out_interface[9:9] == 1)
            md.drop = drop_t.ISOLATED;
    }
}

// Where a flooded frame goes, and how much may be.
control Flooding(inout headers_t hdr, inout ingress_metadata_t md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Meter<bit<12>>(4096, MeterType_t.PACKETS) storm;
    bit<8> colour = 0;

    action measure() {
        colour = storm.execute(md.storm_port ++ md.storm_class);
    }

    table limits {
        actions = {
            measure;
        }
        const default_action = measure;
        size = 1;
    }

    action flood_to(MulticastGroupId_t group) {
        ig_tm_md.mcast_grp_a = group;
    }

    action nowhere() {
        md.drop = drop_t.NO_GROUP;
    }

    // Groups that nobody has joined, in VLANs where those go to multicast routers only.
    action to_routers(MulticastGroupId_t group) {
        ig_tm_md.mcast_grp_a = group;
    }

    table unjoined {
        key = {
            md.vid      : exact;
            md.joinable : exact;
        }
        actions = {
            to_routers;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 4096;
    }

    table floods {
        key = {
            md.vid : exact;
        }
        actions = {
            flood_to;
            @defaultonly nowhere;
        }
        const default_action = nowhere;
        size = 4096;
    }

    apply {
        if (!unjoined.apply().hit)
            floods.apply();
        if (md.storm_port != 0) {
            limits.apply();
            if (colour == 3)
                md.drop = drop_t.STORM;
        }
    }
}
