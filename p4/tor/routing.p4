/* SPDX-License-Identifier: Apache-2.0
 *
 * routing.p4: IPv4 and IPv6. A host route or the longest prefix names a set of next hops, the packet's
 * flow chooses one of the set, and that one says what the frame becomes.
 */
control Routing(inout headers_t hdr, inout ingress_metadata_t md) {
    CRCPolynomial<bit<16>>(16w0x1021, false, false, false, 16w0xffff, 16w0x0000) polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) choose;
    ActionProfile(2048) members;
    ActionSelector(members, choose, SelectorMode_t.FAIR, 64, 256) ecmp;

    action via(hops_t hops) {
        md.hops = hops;
    }

    // An address of the switch, or a neighbour who has still to be asked for: the control plane's.
    action trap(reason_t reason) {
        md.reason = reason;
        md.trap = 1;
    }

    action discard() {
        md.drop = drop_t.BLACK_HOLE;
    }

    // Nothing is forwarded from or to loopback, links, groups and the like (RFC 1812 5.3.7, RFC 3927 7, RFC
    // 4291 2.5.2 to 2.5.6), nor from what is the switch's own. What is for the switch itself gets there. The
    // control plane has the same list (control/tor/ip.c).
    action martian() {
        md.martian = 1;
    }

    action forged() {
        md.forged = 1;
    }

    table ipv4_martians {
        key = {
            hdr.ipv4.src_addr : ternary;
            hdr.ipv4.dst_addr : ternary;
        }
        actions = {
            martian;
            @defaultonly NoAction;
        }
        const entries = {
            (0x00000000 &&& 0xff000000, _) : martian();
            (0x7f000000 &&& 0xff000000, _) : martian();
            (0xa9fe0000 &&& 0xffff0000, _) : martian();
            (0xe0000000 &&& 0xf0000000, _) : martian();
            (0xf0000000 &&& 0xf0000000, _) : martian();
            (_, 0x00000000 &&& 0xff000000) : martian();
            (_, 0x7f000000 &&& 0xff000000) : martian();
            (_, 0xa9fe0000 &&& 0xffff0000) : martian();
            (_, 0xe0000000 &&& 0xf0000000) : martian();
            (_, 0xf0000000 &&& 0xf0000000) : martian();
        }
        const default_action = NoAction;
        size = 10;
    }

    table ipv6_martians {
        key = {
            hdr.ipv6.src_addr : ternary;
            hdr.ipv6.dst_addr : ternary;
        }
        actions = {
            martian;
            @defaultonly NoAction;
        }
        const entries = {
            (0, _) : martian();
            (1, _) : martian();
            (0xfe800000000000000000000000000000 &&& 0xffc00000000000000000000000000000, _) : martian();
            (0xff000000000000000000000000000000 &&& 0xff000000000000000000000000000000, _) : martian();
            (_, 0) : martian();
            (_, 1) : martian();
            (_, 0xfe800000000000000000000000000000 &&& 0xffc00000000000000000000000000000) : martian();
            (_, 0xff000000000000000000000000000000 &&& 0xff000000000000000000000000000000) : martian();
        }
        const default_action = NoAction;
        size = 8;
    }

    // The switch's addresses, and the first and last ones of its subnets.
    table ipv4_own {
        key = {
            hdr.ipv4.src_addr : exact;
        }
        actions = {
            forged;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 12288;
    }

    table ipv6_own {
        key = {
            hdr.ipv6.src_addr : exact;
        }
        actions = {
            forged;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 1024;
    }

    table ipv4_hosts {
        key = {
            hdr.ipv4.dst_addr : exact;
        }
        actions = {
            via;
            trap;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 8192;
    }

    table ipv4_prefixes {
        key = {
            hdr.ipv4.dst_addr : lpm;
        }
        actions = {
            via;
            trap;
            discard;
        }
        default_action = trap(reason_t.NO_ROUTE);
        size = 4096;
    }

    table ipv6_hosts {
        key = {
            hdr.ipv6.dst_addr : exact;
        }
        actions = {
            via;
            trap;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 4096;
    }

    table ipv6_prefixes {
        key = {
            hdr.ipv6.dst_addr : lpm;
        }
        actions = {
            via;
            trap;
            discard;
        }
        default_action = trap(reason_t.NO_ROUTE);
        size = 1024;
    }

    action hop(nexthop_t nexthop) {
        md.nexthop = nexthop;
    }

    table sets {
        key = {
            md.hops : exact;
            md.flow : selector;
        }
        actions = {
            hop;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        implementation = ecmp;
        size = 4096;
    }

    // mtu  of the interface, in bytes of IP. The top bit of what is left of it is set if it is exceeded.
    action rewrite(mac_addr_t dst_addr, mac_addr_t src_addr, vlan_id_t vid, interface_t interface,
                   bit<16> mtu) {
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ethernet.src_addr = src_addr;
        md.vid = vid;
        md.out_interface = interface;
        md.mtu_left = mtu - md.ip_length;
    }

    action ipv4_hop() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        md.rewritten = 1;
    }

    action ipv6_hop() {
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    action not_forwarded() {
        md.drop = drop_t.MARTIAN;
    }

    action nowhere() {
        md.reason = reason_t.GLEAN;
        md.trap = 1;
    }

    table nexthops {
        key = {
            md.nexthop : exact;
        }
        actions = {
            rewrite;
            @defaultonly nowhere;
        }
        const default_action = nowhere;
        size = 8192;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.ihl != 5)
                trap(reason_t.OPTIONS);
            else if (!ipv4_hosts.apply().hit)
                ipv4_prefixes.apply();
            ipv4_martians.apply();
            ipv4_own.apply();
        } else if (hdr.ipv6.isValid()) {
            ipv6_martians.apply();
            ipv6_own.apply();
            if (!ipv6_hosts.apply().hit)
                ipv6_prefixes.apply();
        } else {
            trap(reason_t.LOCAL);
        }
        if (md.hops != 0) {
            if (md.martian == 1 || md.forged == 1) {
                not_forwarded();
            } else if (hdr.ipv4.isValid() && hdr.ipv4.ttl < 2 ||
                hdr.ipv6.isValid() && hdr.ipv6.hop_limit < 2) {
                trap(reason_t.TTL);
            } else {
                sets.apply();
                nexthops.apply();
                if (md.mtu_left[15:15] == 1)
                    trap(reason_t.TOO_LONG);
                if (hdr.ipv4.isValid())
                    ipv4_hop();
                else
                    ipv6_hop();
            }
        }
    }
}
