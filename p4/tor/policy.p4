/* SPDX-License-Identifier: Apache-2.0
 *
 * policy.p4: access lists.
 */
control Policy(inout headers_t hdr, inout ingress_metadata_t md) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv4_matched;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv6_matched;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ethernet_matched;

    action ipv4_permit() { ipv4_matched.count(); }
    action ipv4_deny() { ipv4_matched.count(); md.drop = drop_t.ACL; }
    action ipv4_copy() {
        ipv4_matched.count();
        md.reason = (reason_t)((bit<8>)md.reason | (bit<8>)reason_t.ACL);
    }
    action ipv4_mirror(MirrorId_t session) { ipv4_matched.count(); md.session = session; }

    table ipv4_acl {
        key = {
            md.acl_group      : ternary;
            md.vid            : ternary;
            hdr.ipv4.src_addr : ternary;
            hdr.ipv4.dst_addr : ternary;
            md.protocol       : ternary;
            md.src_port       : ternary;
            md.dst_port       : ternary;
            md.tcp_flags      : ternary;
            md.dscp           : ternary;
        }
        actions = {
            ipv4_permit;
            ipv4_deny;
            ipv4_copy;
            ipv4_mirror;
        }
        const default_action = ipv4_permit;
        counters = ipv4_matched;
        size = 512;
    }

    action ipv6_permit() { ipv6_matched.count(); }
    action ipv6_deny() { ipv6_matched.count(); md.drop = drop_t.ACL; }
    action ipv6_copy() {
        ipv6_matched.count();
        md.reason = (reason_t)((bit<8>)md.reason | (bit<8>)reason_t.ACL);
    }
    action ipv6_mirror(MirrorId_t session) { ipv6_matched.count(); md.session = session; }

    table ipv6_acl {
        key = {
            md.acl_group      : ternary;
            md.vid            : ternary;
            hdr.ipv6.src_addr : ternary;
            hdr.ipv6.dst_addr : ternary;
            md.protocol       : ternary;
            md.src_port       : ternary;
            md.dst_port       : ternary;
            md.tcp_flags      : ternary;
            md.dscp           : ternary;
        }
        actions = {
            ipv6_permit;
            ipv6_deny;
            ipv6_copy;
            ipv6_mirror;
        }
        const default_action = ipv6_permit;
        counters = ipv6_matched;
        size = 512;
    }

    action ethernet_permit() { ethernet_matched.count(); }
    action ethernet_deny() { ethernet_matched.count(); md.drop = drop_t.ACL; }
    action ethernet_copy() {
        ethernet_matched.count();
        md.reason = (reason_t)((bit<8>)md.reason | (bit<8>)reason_t.ACL);
    }
    action ethernet_mirror(MirrorId_t session) { ethernet_matched.count(); md.session = session; }

    table ethernet_acl {
        key = {
            md.acl_group            : ternary;
            md.vid                  : ternary;
            hdr.ethernet.src_addr   : ternary;
            hdr.ethernet.dst_addr   : ternary;
            md.ether_type           : ternary;    // behind a tag
        }
        actions = {
            ethernet_permit;
            ethernet_deny;
            ethernet_copy;
            ethernet_mirror;
        }
        const default_action = ethernet_permit;
        counters = ethernet_matched;
        size = 512;
    }

    apply {
        if (md.acl_group != 0) {
            if (hdr.ipv4.isValid())
                ipv4_acl.apply();
            else if (hdr.ipv6.isValid())
                ipv6_acl.apply();
            else
                ethernet_acl.apply();
        }
    }
}
