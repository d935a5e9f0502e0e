#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/tor/tor.p4, packet by packet: VLANs, learning, flooding, routing, equal paths, LAGs, access lists, storm
control, mirrors, ECN, and what the control plane gets. Expectations are built with Scapy."""
import logging
import os
import struct
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_Router_Alert  # noqa: E402
from scapy.layers.inet6 import (ICMPv6MLReport, ICMPv6MLReport2, ICMPv6ND_NS, IPv6,  # noqa: E402
                                IPv6ExtHdrHopByHop, RouterAlert)
from scapy.layers.l2 import ARP, Dot1Q, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402

import tally  # noqa: E402
from switch import Switch  # noqa: E402

CPU = 64
# Front ports: access to VLAN 10, access to VLAN 20, a trunk of both, the two of a LAG in VLAN 10, a mirror's
ACCESS10, ACCESS10_B, ACCESS20, TRUNK, LAG_A, LAG_B, MONITOR, BARE = 0, 1, 2, 3, 4, 5, 6, 7
LAG = 100  # its interface; those of the others are 1 more than the port
ROUTER = "02:00:00:00:ff:01"
BROADCAST = "ff:ff:ff:ff:ff:ff"

# reason_t and drop_t
ARP_SEEN, SNOOP, NEIGHBOUR, LINK, LOCAL, GLEAN, TTL, NO_ROUTE, OPTIONS, _, TOO_LONG = range(1, 12)
ACL = 16  # a bit beside the others
(NO_VLAN, BAD_SOURCE, BAD_CHECKSUM, BAD_HEADER, FROM_THERE, NO_PORT, DENIED, STORM, NO_GROUP, TO_CPU,
 BLACK_HOLE, ISOLATED) = range(1, 13)


def interface(port, isolated=()):
    number = LAG if port in (LAG_A, LAG_B) else port + 1
    return number + 512 if port in isolated else number


def mac(n):
    return f"02:00:00:00:00:{n:02x}"


HOST10, HOST10_B, HOST20, HOST_LAG, HOP_A, HOP_B = (mac(n) for n in (0x10, 0x11, 0x20, 0x30, 0x40, 0x41))


def entry(table, key, action, priority=None, **args):
    e = {"table": table, "key": key, "action": action, "args": args}
    if priority is not None:
        e["priority"] = priority
    return e


def configuration(**changes):
    """All ports up; hosts known but for those that a test leaves out."""
    ports = [ACCESS10, ACCESS10_B, ACCESS20, TRUNK, LAG_A, LAG_B, MONITOR, BARE, CPU]
    entries, members, groups = [], [], []
    isolated = changes.get("isolated", ())
    vlans = {ACCESS10: {0: 10}, ACCESS10_B: {0: 10}, ACCESS20: {0: 20}, TRUNK: {10: 10, 20: 20},
             LAG_A: {0: 10}, LAG_B: {0: 10}}
    for port in ports[:-1]:
        entries.append(entry("ports", {"ingress_port": port}, "port", interface=interface(port, isolated),
                             acl_group=changes.get("acl_group", {}).get(port, 0),
                             learns=1, storm_port=changes.get("storm_port", {}).get(port, 0),
                             session=changes.get("session", {}).get(port, 0)))
        for tag, vid in vlans.get(port, {}).items():
            entries.append(entry("vlans_in", {"ingress_port": port, "tag": tag}, "join", vid=vid))
            entries.append(entry("vlans_out", {"egress_port": port, "vid": vid},
                                 "tagged" if tag else "untagged"))
        entries.append(entry("vlans_out", {"egress_port": port, "vid": 0}, "untagged"))
    for i, (number, its) in enumerate([(interface(p, isolated), [p]) for p in (ACCESS10, ACCESS10_B, ACCESS20, TRUNK)]
                                      + [(LAG, [LAG_A, LAG_B])]):
        ids = [100 * i + p for p in its]
        members += [{"profile": "Ingress.members", "id": n, "action": "leave_by", "args": {"port": p}}
                    for n, p in zip(ids, its)]
        groups.append({"selector": "Ingress.lag", "id": number, "max_size": 16, "members": ids})
        entries.append({"table": "interfaces", "key": {"out_interface": number}, "group": number})
    for vid, where in ((10, {HOST10: ACCESS10, HOST10_B: ACCESS10_B, HOST_LAG: LAG_A}), (20, {HOST20: ACCESS20})):
        entries.append(entry("destinations", {"vid": vid, "dst_addr": ROUTER}, "route"))
        entries.append(entry("floods", {"vid": vid}, "flood_to", group=vid))
        for address, port in where.items():
            entries.append(entry("destinations", {"vid": vid, "dst_addr": address}, "bridge",
                                 interface=interface(port, isolated)))
            entries.append(entry("sources", {"vid": vid, "src_addr": address}, "known",
                                 interface=interface(port, isolated)))
    # Neighbours of VLAN 20 are routed to; a prefix by two equal ways.
    hops = {1: (20, HOST20, ACCESS20), 2: (10, HOP_A, ACCESS10), 3: (10, HOP_B, ACCESS10_B)}
    for n, (vid, address, port) in hops.items():
        entries.append(entry("nexthops", {"nexthop": n}, "rewrite", dst_addr=address, src_addr=ROUTER,
                             vid=vid, interface=interface(port, isolated), mtu=1500))
        members.append({"profile": "Ingress.routing.members", "id": n, "action": "hop",
                        "args": {"nexthop": n}})
    members.append({"profile": "Ingress.routing.members", "id": 9, "action": "hop", "args": {"nexthop": 9}})
    for n, its in {1: [1], 2: [2, 3], 9: [9]}.items():
        groups.append({"selector": "Ingress.routing.ecmp", "id": n, "max_size": 64, "members": its})
        entries.append({"table": "sets", "key": {"hops": n}, "group": n})
    for prefix, hops_of in {"10.0.20.0/24": 9, "192.168.0.0/16": 2}.items():
        entries.append(entry("ipv4_prefixes", {"dst_addr": prefix}, "via", hops=hops_of))
    entries += [
        entry("ipv4_hosts", {"dst_addr": "10.0.20.2"}, "via", hops=1),
        entry("ipv4_hosts", {"dst_addr": "10.0.10.1"}, "trap", reason=LOCAL),
        entry("ipv4_prefixes", {"dst_addr": "10.99.0.0/16"}, "discard"),
        entry("ipv6_prefixes", {"dst_addr": "2001:db8:20::/64"}, "via", hops=1),
        entry("ipv6_hosts", {"dst_addr": "2001:db8:10::1"}, "trap", reason=LOCAL),
    ]
    nodes, flood = [], {}
    for vid, members_of in ((10, [ACCESS10, ACCESS10_B, TRUNK, LAG_A]), (20, [ACCESS20, TRUNK])):
        flood[vid] = []
        for port in members_of:
            number = vid * 100 + port
            node = {"id": number, "rid": 0}
            node.update({"lags": [1]} if port == LAG_A else {"ports": [port]})
            nodes.append(node)
            flood[vid].append({"node": number, "xid": interface(port, isolated)})
    config = {"program": "p4/tor/tor.p4", "ports": [{"port": p, "device": f"net_null{p}"} for p in ports], "cpu_port": CPU,
              "entries": entries + changes.get("entries", []), "members": members, "groups": groups,
              "meters": changes.get("meters", []),
              "multicast": {"nodes": nodes, "lags": [{"id": 1, "ports": [LAG_A, LAG_B]}],
                            "groups": [{"id": v, "nodes": n} for v, n in flood.items()],
                            "prune": [{"id": 1, "ports": list(isolated)}]}}
    config.update({key: changes[key] for key in ("mirror", "queues") if key in changes})
    return config


def frame(dst, src, *layers, tag=None):
    kind = {"type": 0x88b5} if isinstance(layers[0], Raw) else {}  # of experiments
    out = Ether(dst=dst, src=src, **kind) if tag is None else Ether(dst=dst, src=src) / Dot1Q(vlan=tag, **kind)
    for layer in layers:
        out /= layer
    return bytes(out)


def udp(src="10.0.10.2", dst="10.0.20.2", ttl=64, sport=1000, dport=2000, **ip):
    return IP(src=src, dst=dst, ttl=ttl, **ip) / UDP(sport=sport, dport=dport) / Raw(b"x" * 20)


def cpu(reason, port, vid, rest, via=None):
    return struct.pack(">BBHHH", reason, 0, interface(port) if via is None else via, port, vid) + rest


class TorTest(unittest.TestCase):
    def start(self, **changes):
        self.switch = Switch(configuration(**changes))
        self.addCleanup(self.switch.close)

    def setUp(self):
        self.start()

    def dropped(self, reason):
        return self.switch.counter("Ingress.drops", reason)[0]

    def assert_dropped(self, port, sent, reason):
        before = self.dropped(reason)
        self.assertEqual(self.switch.send(port, sent), [])
        self.assertEqual(self.dropped(reason), before + 1)

    def learned(self):
        return [(d["vid"], d["interface"], f"{d['src_addr']:012x}") for _, d in self.switch.digests()]


class Bridging(TorTest):
    def test_known_address_in_the_vlan(self):
        f = frame(HOST10_B, HOST10, udp())
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, f)])

    def test_tags_come_and_go(self):
        to_trunk = entry("destinations", {"vid": 10, "dst_addr": mac(0x50)}, "bridge", interface=interface(TRUNK))
        self.start(entries=[to_trunk])
        for payload in (udp(), Raw(b"y" * 50)):
            plain, tagged = (frame(mac(0x50), HOST10, payload, tag=t) for t in (None, 10))
            self.assertEqual(self.switch.send(ACCESS10, plain), [(TRUNK, tagged)])
            plain, tagged = (frame(HOST10, mac(0x50), payload, tag=t) for t in (None, 10))
            self.assertEqual(self.switch.send(TRUNK, tagged), [(ACCESS10, plain)])

    def test_vlans_are_apart(self):
        # the address is known in VLAN 10 alone
        f = frame(HOST10, HOST20, udp())
        self.assertEqual(self.switch.send(ACCESS20, f), [(TRUNK, frame(HOST10, HOST20, udp(), tag=20))])

    def test_a_vlan_that_is_not_the_ports(self):
        self.assert_dropped(TRUNK, frame(HOST10, mac(0x51), udp(), tag=30), NO_VLAN)
        self.assert_dropped(TRUNK, frame(HOST10, mac(0x51), udp()), NO_VLAN)  # a trunk without a native VLAN
        self.assert_dropped(ACCESS10, frame(HOST10_B, HOST10, udp(), tag=20), NO_VLAN)
        self.assert_dropped(BARE, frame(HOST10, mac(0x51), udp()), NO_VLAN)

    def test_a_priority_tag_is_no_vlan(self):
        f = frame(HOST10_B, HOST10, udp(), tag=0)
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, frame(HOST10_B, HOST10, udp()))])

    def test_not_back_to_where_it_came_from(self):
        self.assert_dropped(ACCESS10, frame(HOST10, mac(0x60), udp()), FROM_THERE)

    def test_broadcast_goes_to_all_others_of_the_vlan(self):
        f, tagged = (frame(BROADCAST, HOST10, udp(), tag=t) for t in (None, 10))
        out = self.switch.send(ACCESS10, f)
        lag = [p for p, _ in out if p in (LAG_A, LAG_B)]
        self.assertEqual(len(lag), 1)  # one of the two links
        self.assertEqual(out, sorted([(ACCESS10_B, f), (TRUNK, tagged), (lag[0], f)]))

    def test_a_lag_gets_nothing_of_its_own_back(self):
        f = frame(BROADCAST, HOST_LAG, udp())
        for port in (LAG_A, LAG_B):
            out = self.switch.send(port, f)
            self.assertEqual([p for p, _ in out], [ACCESS10, ACCESS10_B, TRUNK])

    def test_isolated_interfaces_reach_only_the_others(self):
        self.start(isolated=(ACCESS10, ACCESS10_B, LAG_A, LAG_B))
        for src, dst, there, to in ((HOST10, HOST10_B, ACCESS10, ACCESS10_B), (HOST_LAG, HOST10, LAG_B, ACCESS10)):
            self.assert_dropped(there, frame(dst, src, udp()), ISOLATED)
            out = self.switch.send(there, frame(BROADCAST, src, udp()))
            self.assertEqual([p for p, _ in out], [TRUNK])
            # what is routed has been looked at by the switch
            out = self.switch.send(there, frame(ROUTER, src, udp()))
            self.assertEqual([p for p, _ in out], [ACCESS20])
        tagged, plain = (frame(HOST10, mac(0x50), udp(), tag=t) for t in (10, None))
        self.assertEqual(self.switch.send(TRUNK, tagged), [(ACCESS10, plain)])
        out = self.switch.send(TRUNK, frame(BROADCAST, mac(0x50), udp(), tag=10))
        self.assertEqual([p for p, _ in out if p not in (LAG_A, LAG_B)], [ACCESS10, ACCESS10_B])
        self.assertEqual(len(out), 3)

    def test_a_group_that_somebody_joined(self):
        self.start(entries=[entry("destinations", {"vid": 10, "dst_addr": "01:00:5e:01:01:01"}, "group", group=20)])
        f = frame("01:00:5e:01:01:01", HOST10, udp(dst="239.1.1.1"))
        self.assertEqual([p for p, _ in self.switch.send(ACCESS10, f)], [TRUNK])  # nobody of 20 but the trunk is in 10

    def test_groups_that_nobody_joined_go_to_routers(self):
        group20 = entry("unjoined", {"vid": 10, "joinable": 1}, "to_routers", group=20)
        flooded = ["01:00:5e:00:00:fb", "33:33:00:00:00:01", "33:33:00:01:00:03", "33:33:ff:12:34:56",
                   "01:00:5e:80:00:01", "01:00:0c:cc:cc:cc", BROADCAST]
        joinable = ["01:00:5e:00:01:00", "01:00:5e:7f:ff:ff", "33:33:00:00:01:00", "33:33:00:02:00:01",
                    "33:33:fe:00:00:01"]
        for entries, among in (([], range(2, 5)), ([group20], [1])):
            self.start(entries=entries)
            for dst in joinable:
                self.assertIn(len(self.switch.send(ACCESS10, frame(dst, HOST10, udp()))), among, dst)
            for dst in flooded:
                self.assertEqual(len(self.switch.send(ACCESS10, frame(dst, HOST10, udp()))), 3, dst)

    def test_bad_sources(self):
        self.assert_dropped(ACCESS10, frame(HOST10_B, "01:00:5e:00:00:01", udp()), BAD_SOURCE)
        self.assert_dropped(ACCESS10, frame(HOST10_B, "00:00:00:00:00:00", udp()), BAD_SOURCE)

    def test_a_flow_stays_on_its_link_and_flows_are_spread(self):
        used = {}
        for sport in range(64):
            f = frame(HOST_LAG, HOST10, udp(sport=sport))
            (port, got), = self.switch.send(ACCESS10, f)
            self.assertEqual(got, f)
            self.assertEqual(self.switch.send(ACCESS10, f), [(port, f)])
            used[port] = used.get(port, 0) + 1
        self.assertEqual(set(used), {LAG_A, LAG_B})
        self.assertGreater(min(used.values()), 15)


class Learning(TorTest):
    def test_strangers_are_told(self):
        self.switch.send(ACCESS10, frame(HOST10_B, mac(0x70), udp()))
        self.switch.send(TRUNK, frame(BROADCAST, mac(0x70), udp(), tag=20))
        self.assertEqual(self.learned(), [(10, interface(ACCESS10), "020000000070"),
                                          (20, interface(TRUNK), "020000000070")])

    def test_the_known_are_not(self):
        self.switch.send(ACCESS10, frame(HOST10_B, HOST10, udp()))
        self.switch.send(LAG_A, frame(HOST10, HOST_LAG, udp()))
        self.switch.send(LAG_B, frame(HOST10, HOST_LAG, udp()))
        self.assertEqual(self.learned(), [])

    def test_who_moved_is(self):
        self.switch.send(ACCESS10_B, frame(HOST_LAG, HOST10, udp()))
        self.assertEqual(self.learned(), [(10, interface(ACCESS10_B), "020000000010")])

    def test_what_is_refused_teaches_nothing(self):
        self.switch.send(TRUNK, frame(HOST10, mac(0x71), udp(), tag=30))
        self.switch.send(ACCESS10, frame(HOST10, "01:00:5e:00:00:01", udp()))
        self.assertEqual(self.learned(), [])


class Routing(TorTest):
    def test_host_route(self):
        f = frame(ROUTER, HOST10, udp(ttl=64))
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS20, frame(HOST20, ROUTER, udp(ttl=63)))])

    def test_ipv6(self):
        def packet(hops):
            return IPv6(src="2001:db8:10::2", dst="2001:db8:20::7", hlim=hops) / UDP(sport=1, dport=2) / Raw(b"z" * 9)
        self.assertEqual(self.switch.send(ACCESS10, frame(ROUTER, HOST10, packet(9))),
                         [(ACCESS20, frame(HOST20, ROUTER, packet(8)))])
        out = self.switch.send(ACCESS10, frame(ROUTER, HOST10, packet(1)))
        self.assertEqual(out, [(CPU, cpu(TTL, ACCESS10, 10, frame(ROUTER, HOST10, packet(1))))])

    def test_equal_paths(self):
        seen = {}
        for sport in range(64):
            out = self.switch.send(ACCESS20, frame(ROUTER, HOST20, udp(dst="192.168.7.7", sport=sport)))
            (port, got), = out
            hop = {ACCESS10: HOP_A, ACCESS10_B: HOP_B}[port]
            self.assertEqual(got, frame(hop, ROUTER, udp(dst="192.168.7.7", sport=sport, ttl=63)))
            seen[port] = seen.get(port, 0) + 1
        self.assertGreater(min(seen.get(p, 0) for p in (ACCESS10, ACCESS10_B)), 15)

    def test_last_hop(self):
        for ttl in (1, 0):
            f = frame(ROUTER, HOST10, udp(ttl=ttl))
            self.assertEqual(self.switch.send(ACCESS10, f), [(CPU, cpu(TTL, ACCESS10, 10, f))])

    def test_the_switchs_own_address(self):
        for packet in (IP(src="10.0.10.2", dst="10.0.10.1", ttl=1) / ICMP(),
                       IPv6(src="2001:db8:10::2", dst="2001:db8:10::1", hlim=1) / UDP()):
            f = frame(ROUTER, HOST10, packet)
            self.assertEqual(self.switch.send(ACCESS10, f), [(CPU, cpu(LOCAL, ACCESS10, 10, f))])

    def test_ways_to_the_control_plane(self):
        for packet, reason in ((udp(dst="8.8.8.8"), NO_ROUTE), (udp(dst="10.0.20.3"), GLEAN)):
            f = frame(ROUTER, HOST10, packet)
            (port, got), = self.switch.send(ACCESS10, f)
            self.assertEqual((port, got[0]), (CPU, reason))

    def test_black_hole(self):
        self.assert_dropped(ACCESS10, frame(ROUTER, HOST10, udp(dst="10.99.1.1")), BLACK_HOLE)

    def test_too_long(self):
        def packet(n):
            return IP(src="10.0.10.2", dst="10.0.20.2") / UDP() / Raw(b"l" * (n - 28))
        (port, _), = self.switch.send(ACCESS10, frame(ROUTER, HOST10, packet(1500)))
        self.assertEqual(port, ACCESS20)
        (port, got), = self.switch.send(ACCESS10, frame(ROUTER, HOST10, packet(1501)))
        self.assertEqual((port, got[0]), (CPU, TOO_LONG))

    def test_headers_that_are_none(self):
        wrong = bytearray(frame(ROUTER, HOST10, udp()))
        wrong[24] ^= 1
        self.assert_dropped(ACCESS10, bytes(wrong), BAD_CHECKSUM)
        self.assert_dropped(ACCESS10, frame(ROUTER, HOST10, udp(version=5)), BAD_HEADER)
        self.assert_dropped(ACCESS10, frame(ROUTER, HOST10, udp(ihl=4)), BAD_HEADER)

    def test_options_are_routed_by_the_control_plane_and_bridged_as_they_are(self):
        packet = IP(src="10.0.10.2", dst="10.0.20.2", options=b"\x01\x01\x01\x01") / UDP()
        f = frame(ROUTER, HOST10, packet)
        self.assertEqual(self.switch.send(ACCESS10, f), [(CPU, cpu(OPTIONS, ACCESS10, 10, f))])
        f = frame(HOST10_B, HOST10, packet)
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, f)])


class ControlPlane(TorTest):
    def test_arp_is_copied_and_flooded(self):
        f = frame(BROADCAST, HOST10, ARP(pdst="10.0.10.1"))
        out = self.switch.send(ACCESS10, f)
        self.assertIn((CPU, cpu(ARP_SEEN, ACCESS10, 10, f)), out)
        self.assertEqual(len(out), 4)

    def test_neighbour_solicitations_are_copied(self):
        f = frame("33:33:ff:00:00:01", HOST10, IPv6(src="fe80::1", dst="ff02::1:ff00:1") / ICMPv6ND_NS())
        out = self.switch.send(ACCESS10, f)
        self.assertIn((CPU, cpu(NEIGHBOUR, ACCESS10, 10, f)), out)
        self.assertEqual(len(out), 4)

    def test_reports_of_groups_go_nowhere_else(self):
        igmp = IP(src="10.0.10.2", dst="239.1.1.1", proto=2, ttl=1) / Raw(bytes(8))
        mld = IPv6(src="fe80::1", dst="ff02::16") / ICMPv6MLReport2()
        for dst, packet in (("01:00:5e:01:01:01", igmp), ("33:33:00:00:00:16", mld)):
            f = frame(dst, HOST10, packet)
            self.assertEqual(self.switch.send(ACCESS10, f), [(CPU, cpu(SNOOP, ACCESS10, 10, f))])

    def test_reports_behind_a_router_alert(self):
        for message in (ICMPv6MLReport2(), ICMPv6MLReport(mladdr="ff05::1:3")):
            for tag, port in ((None, ACCESS10), (10, TRUNK)):
                packet = IPv6(src="fe80::1", dst="ff02::16") / IPv6ExtHdrHopByHop(options=[RouterAlert()]) / message
                f = frame("33:33:00:00:00:16", HOST10, packet, tag=tag)
                self.assertEqual(self.switch.send(port, f), [(CPU, cpu(SNOOP, port, 10, f))])
        # anything else behind it is traffic
        f = frame("33:33:00:00:00:16", HOST10, IPv6(src="fe80::1", dst="ff02::16")
                  / IPv6ExtHdrHopByHop(options=[RouterAlert()]) / UDP(sport=1, dport=0x8f00))
        self.assertNotIn(CPU, [p for p, _ in self.switch.send(ACCESS10, f)])

    def test_frames_of_the_link_in_a_storm(self):
        spec = {"cir_pps": 1, "pir_pps": 1, "cbs_pkts": 4, "pbs_pkts": 4}
        self.start(storm_port={LAG_A: 5}, meters=[{"name": "storm", "index": 5 * 4 + 2, "spec": spec}])
        f = frame("01:80:c2:00:00:02", mac(0x80), Raw(b"lacp" * 20))
        for _ in range(20):
            self.assertEqual(self.switch.send(LAG_A, f), [(CPU, cpu(LINK, LAG_A, 10, f))])

    def test_frames_of_the_link_come_without_a_vlan_too(self):
        f = frame("01:80:c2:00:00:02", mac(0x80), Raw(b"lacp" * 20))
        self.assertEqual(self.switch.send(BARE, f), [(CPU, cpu(LINK, BARE, 0, f))])
        self.assertEqual(self.switch.send(LAG_B, f), [(CPU, cpu(LINK, LAG_B, 10, f))])

    def test_it_sends_by_a_port(self):
        f = frame("01:80:c2:00:00:02", ROUTER, Raw(b"lacp" * 20))
        self.assertEqual(self.switch.send(CPU, cpu(1, LAG_B, 0, f)), [(LAG_B, f)])
        f = frame(mac(1), ROUTER, udp())
        self.assertEqual(self.switch.send(CPU, cpu(1, TRUNK, 20, f)), [(TRUNK, frame(mac(1), ROUTER, udp(), tag=20))])
        self.assertEqual(self.learned(), [])

    def test_it_sends_into_a_vlan(self):
        f = frame(HOST10, ROUTER, udp())
        self.assertEqual(self.switch.send(CPU, cpu(2, 0, 10, f, via=0)), [(ACCESS10, f)])
        f = frame(BROADCAST, ROUTER, Raw(b"x" * 60))
        out = [p for p, _ in self.switch.send(CPU, cpu(2, 0, 10, f, via=0))]
        self.assertEqual(len(out), 4)
        out = [p for p, _ in self.switch.send(CPU, cpu(2, 0, 10, f, via=interface(ACCESS10)))]
        self.assertEqual(len(out), 3)  # in the name of a port: not back to it
        self.assertNotIn(ACCESS10, out)
        self.assertEqual(self.learned(), [])

    def test_orders_that_are_none(self):
        self.assert_dropped(CPU, cpu(3, 0, 10, frame(HOST10, ROUTER, udp())), BAD_HEADER)

    def test_it_is_kept_from_drowning(self):
        self.start(meters=[{"name": "Ingress.to_cpu", "index": ARP_SEEN,
                            "spec": {"cir_pps": 1, "pir_pps": 1, "cbs_pkts": 5, "pbs_pkts": 5}}])
        f = frame(BROADCAST, HOST10, ARP(pdst="10.0.10.1"))
        outs = [self.switch.send(ACCESS10, f) for _ in range(20)]
        copies = sum(p == CPU for out in outs for p, _ in out)
        self.assertIn(copies, (5, 6))
        self.assertEqual({len(out) - any(p == CPU for p, _ in out) for out in outs}, {3})  # flooded all the same


class Policies(TorTest):
    def test_access_lists(self):
        deny = [
            entry("ipv4_acl", {"acl_group": 7, "dst_port": 22, "protocol": 6}, "ipv4_deny", 1),
            entry("ipv6_acl", {"acl_group": 7, "src_addr": "2001:db8:bad::&&&ffff:ffff:ffff::"}, "ipv6_deny", 1),
            entry("ethernet_acl", {"acl_group": 7, "ether_type": 0x88b5}, "ethernet_deny", 1),
            entry("ipv4_acl", {"acl_group": 7, "dscp": 46}, "ipv4_copy", 2),
        ]
        self.start(acl_group={ACCESS10: 7}, entries=deny)
        ssh = IP(src="10.0.10.2", dst="10.0.10.3") / TCP(dport=22)
        bad6 = IPv6(src="2001:db8:bad::1", dst="2001:db8::1") / UDP()
        other = Ether(dst=HOST10_B, src=HOST10, type=0x88b5) / Raw(b"q" * 50)
        self.assert_dropped(ACCESS10, frame(HOST10_B, HOST10, ssh), DENIED)
        self.assert_dropped(ACCESS10, frame(HOST10_B, HOST10, bad6), DENIED)
        self.assert_dropped(ACCESS10, bytes(other), DENIED)
        f = frame(HOST10, HOST10_B, ssh)  # from a port without the list
        self.assertEqual(self.switch.send(ACCESS10_B, f), [(ACCESS10, f)])
        f = frame(HOST10_B, HOST10, IP(src="10.0.10.2", dst="10.0.10.3") / TCP(dport=23))
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, f)])
        f = frame(HOST10_B, HOST10, IP(src="10.0.10.2", dst="10.0.10.3", tos=46 << 2) / UDP())
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, f), (CPU, cpu(ACL, ACCESS10, 10, f))])

    def test_denied_packets_are_not_routed_either(self):
        self.start(acl_group={ACCESS10: 7},
                   entries=[entry("ipv4_acl", {"acl_group": 7, "dst_addr": "10.0.20.2"}, "ipv4_deny", 1)])
        self.assert_dropped(ACCESS10, frame(ROUTER, HOST10, udp()), DENIED)

    def test_storms(self):
        spec = {"cir_pps": 1, "pir_pps": 1, "cbs_pkts": 4, "pbs_pkts": 4}
        self.start(storm_port={ACCESS10: 5},
                   meters=[{"name": "storm", "index": 5 * 4 + 1, "spec": spec}])
        f = frame(BROADCAST, HOST10, udp())
        went = [bool(self.switch.send(ACCESS10, f)) for _ in range(20)]
        self.assertIn(sum(went), (4, 5))
        self.assertEqual(self.dropped(STORM), 20 - sum(went))
        self.assertTrue(self.switch.send(ACCESS10_B, frame(BROADCAST, HOST10_B, udp())))  # others are free
        f = frame(mac(0x99), HOST10, udp())  # another class of the same port has its own
        self.assertTrue(all(self.switch.send(ACCESS10, f) for _ in range(20)))

    def test_a_port_is_mirrored_as_packets_come(self):
        self.start(session={ACCESS10: 3}, mirror=[{"id": 3, "direction": "ingress", "port": MONITOR}])
        for f, out in ((frame(HOST10_B, HOST10, udp()), [(ACCESS10_B, frame(HOST10_B, HOST10, udp()))]),
                       (frame(HOST10_B, HOST10, udp(), tag=30), [])):  # also what is refused
            self.assertEqual(self.switch.send(ACCESS10, f), sorted([*out, (MONITOR, f)]))

    def test_a_port_is_mirrored_as_packets_leave(self):
        self.start(entries=[entry("mirrored", {"egress_port": ACCESS20}, "copy", session=4)],
                   mirror=[{"id": 4, "direction": "egress", "port": MONITOR}])
        left = frame(HOST20, ROUTER, udp(ttl=63))
        self.assertEqual(self.switch.send(ACCESS10, frame(ROUTER, HOST10, udp())), [(ACCESS20, left), (MONITOR, left)])

    def test_an_access_list_mirrors(self):
        self.start(acl_group={ACCESS10: 7}, mirror=[{"id": 5, "direction": "ingress", "port": MONITOR}],
                   entries=[entry("ipv4_acl", {"acl_group": 7, "dst_port": 2000}, "ipv4_mirror", 1, session=5)])
        f = frame(HOST10_B, HOST10, udp())
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, f), (MONITOR, f)])
        f = frame(HOST10_B, HOST10, udp(dport=2001))
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, f)])

    def test_marks_of_long_queues(self):
        deep = {"enq_qdepth": "2..524287"}
        self.start(queues=[{"port": ACCESS10_B, "speed": 1}],
                   entries=[entry("Egress.queues", {**deep, "hdr.ipv4.$valid": 1, "hdr.ipv4.ecn": "1&&&1"}, "mark_ipv4", 1),
                            entry("Egress.queues", {**deep, "hdr.ipv4.$valid": 1, "hdr.ipv4.ecn": "2&&&2"}, "mark_ipv4", 2),
                            entry("Egress.queues", {**deep, "hdr.ipv6.$valid": 1, "hdr.ipv6.ecn": "2&&&2"}, "mark_ipv6", 3)])

        def packet(ecn):
            return IP(src="10.0.10.2", dst="10.0.10.3", tos=ecn) / UDP() / Raw(b"e" * 60)

        def packet6(ecn):
            return IPv6(src="2001:db8::1", dst="2001:db8::2", tc=ecn) / UDP() / Raw(b"e" * 60)
        out = []
        with_options = IP(src="10.0.10.2", dst="10.0.10.3", tos=2, options=[IPOption_Router_Alert()]) / UDP() / Raw(b"e" * 60)
        for p in [packet(2)] * 3 + [packet(0), packet(1), packet(2), packet6(2), packet6(0), with_options]:
            out += self.switch.send(ACCESS10, frame(HOST10_B, HOST10, p))
        out += [(int(w[1]), bytes.fromhex(w[2])) for w in map(str.split, self.switch.ask("wait 100000000"))]
        self.assertEqual({p for p, _ in out}, {ACCESS10_B})
        frames = [f for _, f in out]
        self.assertEqual(len(frames), 9)
        self.assertEqual(frames[0], frame(HOST10_B, HOST10, packet(2)))  # the queue was empty
        for got, sent in zip(frames[3:], (packet(0), packet(3), packet(3), packet6(3), packet6(0), with_options)):
            self.assertEqual(got, frame(HOST10_B, HOST10, sent))

    def test_queues_of_classes(self):
        # Each queue has its own depth, and with it its own marks.
        self.start(queues=[{"port": ACCESS10_B, "speed": 1}],
                   entries=[entry("queues_of", {"dscp": 46, "ecn": 2}, "queue", qid=5, colour=0),
                            entry("Egress.queues", {"enq_qdepth": "2..524287", "hdr.ipv4.$valid": 1, "hdr.ipv4.ecn": "2&&&2"},
                                  "mark_ipv4", 1)])

        def packet(dscp, ecn):
            return frame(HOST10_B, HOST10, IP(src="10.0.10.2", dst="10.0.10.3", tos=dscp << 2 | ecn) / UDP()
                         / Raw(b"q" * 200))
        out = []
        for dscp in [0] * 4 + [46]:
            out += self.switch.send(ACCESS10, packet(dscp, 2))
        out += [(int(w[1]), bytes.fromhex(w[2])) for w in map(str.split, self.switch.ask("wait 100000000"))]
        frames = [f for _, f in out]
        self.assertEqual(len(frames), 5)
        self.assertIn(packet(0, 3), frames)
        self.assertIn(packet(46, 2), frames)
        self.assertNotIn(packet(46, 3), frames)

    def test_runts_do_no_harm(self):
        whole = frame(ROUTER, HOST10, IPv6(src="2001:db8:10::2", dst="2001:db8:20::7") / TCP())
        for n in range(len(whole)):
            self.switch.send(ACCESS10, whole[:n])
        f = frame(HOST10_B, HOST10, udp())
        self.assertEqual(self.switch.send(ACCESS10, f), [(ACCESS10_B, f)])


class Dlcp(TorTest):
    """What p4/dlcp does, in the same controls: sprays, classes, and what a port's hosts are believed."""
    SIGNAL, LIMIT, RATE = 31, 8, {"CIR_KBPS": 1, "PIR_KBPS": 1, "CBS_KBITS": 8, "PBS_KBITS": 8}

    def begin(self, *more):
        schedule = [{"qid": 6, "priority": 6, "yellow": self.LIMIT}, {"qid": 7, "priority": 7}, {"qid": 0, "priority": 0}]
        entries = [entry("sprayed", {"dscp": 3}, "spray"),
                   entry("queues_of", {"dscp": 3, "ecn": 0}, "queue", qid=6, colour=1),
                   entry("queues_of", {"dscp": 3, "ecn": 2}, "claims", qid=6, colour=0, what=1),
                   entry("queues_of", {"dscp": self.SIGNAL, "ecn": 0}, "claims", qid=7, colour=0, what=2)]
        self.start(queues=[{"port": ACCESS10_B, "speed": 1, "schedule": schedule}], entries=entries + list(more))

    def limit(self, claim, action, **args):
        return entry("Ingress.classes.limits", {"port": ACCESS10, "claim": claim}, action,
                     **args, **{f"$METER_SPEC_{k}": v for k, v in self.RATE.items()})

    def packet(self, dscp, ecn=0, number=0, dst="10.0.10.3", address=HOST10_B):
        return frame(address, HOST10, IP(src="10.0.10.2", dst=dst, tos=dscp << 2 | ecn) / UDP(sport=50000, dport=0xbec2)
                     / Raw(struct.pack(">I", number) + b"d" * 20))

    def waiting(self):
        lines = self.switch.ask("wait 1000000000")
        return [(f[15] >> 2, struct.unpack_from(">I", f, 42)[0]) for f in (bytes.fromhex(x.split()[2]) for x in lines)]

    def test_sprays_over_equal_ways_and_the_links_of_a_lag(self):
        self.begin()
        for address, dst, where in ((ROUTER, "192.168.1.1", (ACCESS10, ACCESS10_B)), (HOST_LAG, "10.0.10.9", (LAG_A, LAG_B))):
            come = ACCESS20 if address == ROUTER else ACCESS10
            for dscp, ways in ((3, set(where)), (self.SIGNAL, None), (0, None)):
                ports = []
                for n in range(100):
                    sent = self.switch.send(come, self.packet(dscp, 2 if dscp == 3 else 0, n, dst, address))
                    sent += [(int(w[1]), b"") for w in map(str.split, self.switch.ask("wait 1000000000"))]
                    self.assertEqual(len(sent), 1, (address, dscp, n))
                    ports.append(sent[0][0])
                if ways:
                    self.assertEqual(set(ports), ways)
                    self.assertTrue(all(25 <= ports.count(p) <= 75 for p in ways), ports)
                else:
                    self.assertEqual(len(set(ports)), 1)
                    self.assertIn(ports[0], where)

    def test_who_says_that_all_is_important(self):
        self.begin(self.limit(1, "recolour", colour=1))
        self.switch.send(ACCESS10, self.packet(0))
        for number in range(100):
            self.assertEqual(self.switch.send(ACCESS10, self.packet(3, 2, number)), [])
        for number in range(100, 150):  # from a port that has no limit
            self.assertEqual(self.switch.send(LAG_A, self.packet(3, 2, number)), [])
        got = [n for d, n in self.waiting() if d == 3]
        believed = [n for n in got if n < 100]
        self.assertEqual([n for n in got if n >= 100], list(range(100, 150)))
        self.assertTrue(self.LIMIT < len(believed) < 25, believed)
        self.assertEqual(believed, list(range(len(believed))))
        self.assertEqual(self.switch.drops(), {"egress queue full": 100 - len(believed)})

    def test_who_claims_the_class_of_signals(self):
        self.begin(self.limit(2, "demote", qid=0, colour=1))
        self.switch.send(ACCESS10, self.packet(0))
        for number in range(40):
            self.switch.send(ACCESS10, self.packet(self.SIGNAL, number=number))
        for number in range(3):
            self.switch.send(LAG_A, self.packet(3, 2, number))
        got = self.waiting()
        believed = [d for d, _ in got].index(3)
        self.assertTrue(8 < believed < 25, believed)
        self.assertEqual(got[:believed], [(self.SIGNAL, n) for n in range(believed)])
        self.assertEqual(got[believed:believed + 3], [(3, n) for n in range(3)])
        self.assertEqual(got[believed + 3:], [(self.SIGNAL, n) for n in range(believed, 40)])


if __name__ == "__main__":
    tally.main()
