#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/tor in a running switch, with the kernel's stacks as hosts: two VLANs, access and tagged ports, routing
between them in both address families, jumbo frames, and that nobody sees what is not for its VLAN."""
import os
import re
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import Host, Lab  # noqa: E402

ROUTER = "02:00:00:00:ff:01"
V4, V6 = "10.0.{}.{}", "2001:db8:{}::{}"
MTU = 9000


def host(port, vlan, number, tag=None):
    other = 30 - vlan
    return Host(port, [V4.format(vlan, number) + "/24", V6.format(vlan, number) + "/64"], tag, mtu=MTU,
                routes=[(V4.format(other, 0) + "/24", V4.format(vlan, 1)), (V6.format(other, "") + "/64", V6.format(vlan, 1))],
                neighbours=[(V4.format(vlan, 1), ROUTER), (V6.format(vlan, 1), ROUTER)])


def entry(table, key, action, **args):
    return {"table": table, "key": key, "action": action, "args": args}


def configuration(hosts):
    """As a control plane would have written it that knows who is where; addresses inside a VLAN are asked for by
    the hosts themselves, and flooded."""
    entries, members, groups, nodes, flood = [], [], [], [], {10: [], 20: []}
    for name, (h, vlan, number) in hosts.items():
        interface, tag = h.port + 1, h.tag or 0
        entries += [
            entry("ports", {"ingress_port": h.port}, "port", interface=interface, acl_group=0, learns=0, storm_port=0,
                  session=0),
            entry("vlans_in", {"ingress_port": h.port, "tag": tag}, "join", vid=vlan),
            entry("vlans_out", {"egress_port": h.port, "vid": vlan}, "tagged" if tag else "untagged"),
            entry("destinations", {"vid": vlan, "dst_addr": h.mac}, "bridge", interface=interface),
            {"table": "interfaces", "key": {"out_interface": interface}, "member": interface},
            {"table": "sets", "key": {"hops": interface}, "member": interface},
            entry("nexthops", {"nexthop": interface}, "rewrite", dst_addr=h.mac, src_addr=ROUTER, vid=vlan,
                  interface=interface, mtu=MTU),
            entry("ipv4_hosts", {"dst_addr": V4.format(vlan, number)}, "via", hops=interface),
            entry("ipv6_hosts", {"dst_addr": V6.format(vlan, number)}, "via", hops=interface),
        ]
        members += [{"profile": "Ingress.members", "id": interface, "action": "leave_by", "args": {"port": h.port}},
                    {"profile": "Ingress.routing.members", "id": interface, "action": "hop",
                     "args": {"nexthop": interface}}]
        nodes.append({"id": interface, "rid": 0, "ports": [h.port]})
        flood[vlan].append({"node": interface, "xid": interface})
    for vlan in flood:
        entries += [entry("destinations", {"vid": vlan, "dst_addr": ROUTER}, "route"),
                    entry("floods", {"vid": vlan}, "flood_to", group=vlan)]
    return {"program": os.path.abspath("p4/tor/tor.p4"), "entries": entries, "members": members, "groups": groups,
            "multicast": {"nodes": nodes, "groups": [{"id": v, "nodes": n} for v, n in flood.items()]}}


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
@unittest.skipUnless(os.path.exists("/dev/net/tun"), "the host with a tagged link needs a tap device")
class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        hosts = {"a": (host(0, 10, 2), 10, 2), "b": (host(1, 10, 3), 10, 3), "c": (host(2, 20, 2), 20, 2),
                 "d": (host(3, 20, 3, tag=20), 20, 3)}
        cls.lab = Lab({name: h for name, (h, _, _) in hosts.items()}, configuration(hosts))
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        for h in cls.lab.hosts.values():
            h.ask("serve", port=7)
            h.ask("watch", interface=h.inside)

    def all_come_back(self, who, to, **more):
        self.assertEqual(self.lab[who].ask("udp", to=to, port=7, **{"bytes": 200, "tries": 5, **more}), more.get("tries", 5))

    def test_inside_a_vlan(self):
        for pattern in (V4, V6):
            self.all_come_back("a", pattern.format(10, 3))
            self.all_come_back("c", pattern.format(20, 3))  # tagged on one side
            self.assertTrue(self.lab["d"].ask("tcp", to=pattern.format(20, 2), port=7, bytes=300000))

    def test_between_vlans(self):
        for pattern in (V4, V6):
            self.all_come_back("a", pattern.format(20, 2))
            self.all_come_back("d", pattern.format(10, 3))
            self.assertTrue(self.lab["b"].ask("tcp", to=pattern.format(20, 3), port=7, bytes=300000))

    def test_jumbo_frames(self):
        for to in (V4.format(10, 3), V4.format(20, 3)):
            self.all_come_back("a", to, bytes=MTU - 28)
        self.all_come_back("a", V6.format(20, 2), bytes=MTU - 48)

    def test_nobody_sees_the_other_vlan(self):
        for h in self.lab.hosts.values():
            h.ask("seen")
        # a broadcast, somebody unknown, a multicast address; of a type that nobody else uses
        for n, dst in enumerate(("ffffffffffff", "020000999999", "01005e123456")):
            self.lab["a"].ask("send", interface="eth0",
                              frame=dst + self.lab["a"].mac.replace(":", "") + "88b5" + f"{n:02x}" * 60)
        time.sleep(0.5)
        got = {name: sum(f[24:28] == "88b5" for f in h.ask("seen")) for name, h in self.lab.hosts.items()}
        self.assertEqual(got, {"a": 0, "b": 3, "c": 0, "d": 0})

    def test_zz_all_packets_are_accounted_for(self):
        self.assertEqual(self.lab.stop(), 0)
        received, copies, sent, dropped = map(int, re.search(
            r"received (\d+) \+ copies (\d+) = sent (\d+) \+ dropped (\d+)", self.lab.said).groups())
        self.assertGreater(received, 100)
        self.assertEqual(received + copies, sent + dropped)
        # for the control plane, whose port has nobody behind it here
        self.assertEqual(re.findall(r"^  (.*?) +(\d+)$", self.lab.said, re.M),
                         [("port not configured or down", str(dropped))])


if __name__ == "__main__":
    tally.main()
