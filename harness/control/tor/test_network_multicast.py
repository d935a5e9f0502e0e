#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Groups and LACP in a running switch with its control plane: hosts are kernel stacks that join and leave, the
partner of the LAG is one in this file; against the kernel's bonding where there is that."""
import json
import os
import struct
import subprocess
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import HERE, Host, Lab, run  # noqa: E402

GROUP4, OTHER4, GROUP6, SOURCE4 = "239.1.1.1", "239.129.1.1", "ff15::abcd:1", "232.1.1.1"
SWITCH = "02:00:00:00:ff:01"
COUNT = 30
MORE = {}


class Member(Host):
    """A host that can join groups."""

    def make(self, name):
        super().make(name)
        self.member = subprocess.Popen(["ip", "netns", "exec", self.namespace, "python3", os.path.join(HERE, "member.py")],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, do, **arguments):
        process, self.process = self.process, self.member
        try:
            return self.ask(do, **arguments)
        finally:
            self.process = process

    def remove(self):
        if getattr(self, "member", None):
            self.member.stdin.close()
            self.member.wait(10)
            self.member.stdout.close()
        super().remove()


def member(port, number):
    return Member(port, [f"10.0.10.{number}/24", f"2001:db8:10::{number}/64"])


def group_mac(group):
    if group == GROUP6:
        return "3333abcd0001"
    a = [int(x) for x in group.split(".")]
    return f"01005e{a[1] & 127:02x}{a[2]:02x}{a[3]:02x}"


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        hosts = {"a": member(0, 2), "b": member(1, 3), "c": member(2, 4), "sender": member(3, 9)}
        section = {"mac": SWITCH,
                   "vlans": [{"vid": 10, "addresses": ["10.0.10.1/24"],
                              "snooping": {"querier": True, "interval": 4, "idle": 15, "unknown": "routers"}}],
                   "links": [{"name": name, "port": h.port, "access": 10} for name, h in hosts.items()]}
        cls.lab = Lab(hosts, {"program": os.path.abspath("p4/tor/tor.p4"), "tor": section, **MORE})
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        for h in hosts.values():
            h.ask("watch", interface="eth0")

    def setUp(self):
        self.joined = []

    def tearDown(self):
        for name, group in self.joined:
            self.lab[name].tell("leave", group=group)
        for name in ("a", "b", "c"):
            self.lab[name].tell("version", interface="eth0", igmp=0, mld=0)
        self.wait_for({}, GROUP4, GROUP6, OTHER4, SOURCE4)

    def join(self, name, group, **more):
        self.lab[name].tell("join", group=group, interface="eth0", **more)
        self.joined.append((name, group))

    def leave(self, name, group):
        self.lab[name].tell("leave", group=group)
        self.joined.remove((name, group))

    def reaches(self, group):
        """Hosts by how many frames of COUNT come to their links, those to which any come."""
        for name in "abc":
            self.lab[name].ask("seen")
        self.lab["sender"].tell("cast", group=group, interface="eth0", count=COUNT)
        time.sleep(0.3)
        seen = {name: sum(f.startswith(group_mac(group)) and "1389" in f for f in self.lab[name].ask("seen")) for name in "abc"}
        return {name: n for name, n in seen.items() if n}

    def wait_for(self, hosts, *groups, seconds=10.0):
        """Until a stream to the groups reaches just these."""
        end = time.monotonic() + seconds
        for group in groups:
            while (got := self.reaches(group)) != hosts:
                self.assertLess(time.monotonic(), end, f"{group} reaches {got}, not {hosts}")

    def test_only_members_receive(self):
        for group in (GROUP4, GROUP6):
            self.wait_for({}, group)
            self.join("a", group)
            self.wait_for({"a": COUNT}, group, seconds=2)
            self.join("c", group)
            self.wait_for({"a": COUNT, "c": COUNT}, group, seconds=2)
            self.lab["a"].tell("got", group=group)
            self.reaches(group)
            self.assertEqual(self.lab["a"].tell("got", group=group), COUNT)
            # two queries, two seconds; then it is left
            self.leave("a", group)
            self.wait_for({"c": COUNT}, group, seconds=5)

    def test_older_versions(self):
        for igmp, mld in ((2, 1), (3, 2)):
            for name in "ab":
                self.lab[name].tell("version", interface="eth0", igmp=igmp, mld=mld)
            for group in (GROUP4, GROUP6):
                self.join("a", group)
                self.join("b", group)
                self.wait_for({"a": COUNT, "b": COUNT}, group, seconds=3)
                self.leave("b", group)
                self.wait_for({"a": COUNT}, group, seconds=5)
                self.leave("a", group)
                self.wait_for({}, group, seconds=5)

    def test_members_stay_as_long_as_they_answer(self):
        self.join("a", GROUP4)
        self.join("b", GROUP6)
        time.sleep(20)  # longer than members are remembered that do not
        self.assertEqual(self.reaches(GROUP4), {"a": COUNT})
        self.assertEqual(self.reaches(GROUP6), {"b": COUNT})

    def test_two_groups_with_one_address(self):
        self.join("a", GROUP4)
        self.join("b", OTHER4)
        self.wait_for({"a": COUNT, "b": COUNT}, GROUP4, OTHER4, seconds=3)
        self.leave("b", OTHER4)
        self.wait_for({"a": COUNT}, GROUP4, OTHER4, seconds=6)

    def test_one_source(self):
        self.join("b", SOURCE4, source="10.0.10.9")
        self.wait_for({"b": COUNT}, SOURCE4, seconds=3)
        self.leave("b", SOURCE4)
        self.wait_for({}, SOURCE4, seconds=5)

    def test_a_link_that_flaps(self):
        self.join("a", GROUP4)
        self.join("b", GROUP4)
        self.wait_for({"a": COUNT, "b": COUNT}, GROUP4, seconds=3)
        self.lab["a"].ip("link", "set", "eth0", "down")
        time.sleep(1)
        self.lab["a"].ip("link", "set", "eth0", "up")
        self.wait_for({"a": COUNT, "b": COUNT}, GROUP4, seconds=10)

    def test_zz_it_ends_well(self):
        self.assertEqual(self.lab.stop(), 0)


# ---- LACP ----

SLOW_PROTOCOLS = "0180c2000002"
IN_SYNC = 0x3D | 2  # active, in a hurry, aggregation, synchronized, collecting, distributing


class Partner:
    """The other end of one member: says what 802.1AX 6.4.2.3 has, once a second, and hears."""

    def __init__(self, host, number, key=5):
        self.host, self.number, self.key = host, number, key
        self.actor = bytes(15)  # what the switch says of itself

    def hear(self):
        """Frames that are not LACP's."""
        others = []
        for frame in self.host.ask("seen"):
            if frame.startswith(SLOW_PROTOCOLS) and frame[24:30] == "880901":
                self.actor = bytes.fromhex(frame)[18:33]
            else:
                others.append(frame)
        return others

    def turn(self, state=IN_SYNC):
        self.hear()
        own = struct.pack(">H6sHHHB", 0x9000, bytes.fromhex("02000000ee10"), self.key, 0x8000, self.number, state)
        pdu = b"\1\1\1\x14" + own + bytes(3) + b"\2\x14" + self.actor + bytes(3) + b"\3\x10" + bytes(66)
        self.host.ask("send", interface="eth0",
                      frame=SLOW_PROTOCOLS + self.host.mac.replace(":", "") + "8809" + pdu.hex())

    def switch_state(self):
        return self.actor[14]


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Lacp(unittest.TestCase):
    """Two namespaces are the two members' other ends."""

    def setUp(self):
        hosts = {"x": Host(0), "y": Host(1), "a": Host(2, ["10.0.10.2/24"])}
        section = {"mac": SWITCH, "vlans": [{"vid": 10}],
                   "links": [{"name": "up", "ports": [0, 1], "lacp": {"active": True, "fast": True}, "access": 10},
                             {"name": "a", "port": 2, "access": 10}]}
        self.lab = Lab(hosts, {"program": os.path.abspath("p4/tor/tor.p4"), "tor": section})
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__)
        for name in ("x", "y"):
            self.lab[name].ask("watch", interface="eth0")
        self.partners = [Partner(self.lab["x"], 1), Partner(self.lab["y"], 2)]

    def turns(self, seconds, who=(0, 1)):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for i in who:
                self.partners[i].turn()
            time.sleep(0.3)

    def spread(self):
        """Broadcasts of 40 flows of the host: how many went by each member."""
        for p in self.partners:
            p.hear()
        for flow in range(40):
            self.lab["a"].ask("send", interface="eth0", frame="ffffffffffff" + f"0200000001{flow:02x}" + "88b5" + "00" * 46)
        time.sleep(0.5)
        return [sum(f[24:28] == "88b5" for f in p.hear()) for p in self.partners]

    def wait_for(self, what, who=(0, 1), seconds=10.0):
        end = time.monotonic() + seconds
        while True:
            self.turns(0.5, who)
            got = self.spread()
            if [bool(n) for n in got] == what:
                return got
            self.assertLess(time.monotonic(), end, f"{got} by the members, not {what}")

    def test_members_come_and_go(self):
        self.assertEqual(self.spread(), [0, 0])  # nobody has agreed yet
        both = self.wait_for([True, True])
        self.assertEqual(sum(both), 40)
        for p in self.partners:
            self.assertEqual(p.actor[2:8].hex(), SWITCH.replace(":", ""))
            self.assertEqual(p.switch_state() & 0x3D, 0x3D)
        self.assertEqual(self.partners[0].actor[8:10], self.partners[1].actor[8:10])  # one key
        # one falls silent: three seconds
        self.wait_for([False, True], who=(1,))
        self.wait_for([True, True])
        # its link goes down: at once
        self.lab["x"].ip("link", "set", "eth0", "down")
        self.wait_for([False, True], who=(1,), seconds=3)
        self.lab["x"].ip("link", "set", "eth0", "up")
        self.wait_for([True, True])
        # another key there: no longer of this LAG
        self.partners[1].key = 6
        got = self.wait_for([True, False], seconds=5)
        self.assertEqual(sum(got), 40)


def has_bonding():
    name = "sktorbond"
    made = subprocess.run(["ip", "link", "add", name, "type", "bond"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    if made:
        run("ip", "link", "del", name)
    return made


@unittest.skipUnless(os.geteuid() == 0 and has_bonding(), "this kernel has no bonding: the partner of the LAG is class Lacp's")
class Bonding(unittest.TestCase):
    """One namespace with two links to the switch, which its kernel makes one."""

    def setUp(self):
        hosts = {"a": Host(0, ["10.0.10.2/24"]), "x": Host(1), "y": Host(2)}
        section = {"mac": SWITCH, "vlans": [{"vid": 10}],
                   "links": [{"name": "up", "ports": [1, 2], "lacp": {"active": True, "fast": True}, "access": 10},
                             {"name": "a", "port": 0, "access": 10}]}
        self.lab = Lab(hosts, {"program": os.path.abspath("p4/tor/tor.p4"), "tor": section})
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__)
        x, y = self.lab["x"], self.lab["y"]
        y.ip("link", "set", "eth0", "name", "eth1", "down")
        y.ip("link", "set", "eth1", "netns", x.namespace)
        x.ip("link", "set", "eth0", "down")
        x.ip("link", "add", "bond0", "type", "bond", "mode", "802.3ad", "lacp_rate", "fast", "miimon", "100")
        for link in ("eth0", "eth1"):
            x.ip("link", "set", link, "master", "bond0")
        x.ip("link", "set", "bond0", "up")
        x.ip("address", "add", "10.0.10.3/24", "dev", "bond0")

    def pings(self, seconds):
        return subprocess.run(["ip", "netns", "exec", self.lab["a"].namespace, "ping", "-q", "-c", "1", "-w", str(seconds), "10.0.10.3"],
                              stdout=subprocess.DEVNULL, check=False).returncode == 0

    def test_a_member_fails(self):
        self.assertTrue(self.pings(15))
        for link in ("eth0", "eth1"):
            self.lab["x"].ip("link", "set", link, "down")
            self.assertTrue(self.pings(5))
            self.lab["x"].ip("link", "set", link, "up")
            time.sleep(5)
        self.assertTrue(self.pings(5))


if __name__ == "__main__":
    tally.main()
