#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken replay` of captures of several ports: which port each packet is given, and which packets are
left out."""
import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from case import T0, Case, frame  # noqa: E402
from captures import pcap, read, section  # noqa: E402
from scapy.layers.inet import IP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.layers.l2 import ARP, Dot1Q, Ether  # noqa: E402

# Packets that go nowhere tell in the list of drops where they came in.
LOST = "ff"
MACS = {"dst": "02:00:00:00:00:ff", "src": "02:00:00:00:00:04"}


class Ports(Case):
    def ports(self, data, *arguments):
        """The ports by which the packets of a capture came in, and what was said."""
        done = self.good("--in", self.file("in", data), "--drops", self.path("drops"), *arguments)
        with open(self.path("drops"), encoding="utf-8") as f:
            return [json.loads(line)["received"] for line in f], done.stderr

    def by(self, key, frames, *arguments):
        return self.ports(pcap([(T0, bytes(f)) for f in frames]), "--map", key, *arguments)[0]

    # ---- interfaces

    def test_a_recorded_run(self):
        packets = [(T0, frame(LOST), 0, 1), (T0 + 1, frame(LOST), 1, 1),
                   (T0 + 2, frame(LOST), 1, 2),  # sent
                   (T0 + 3, frame(LOST), 1, 1, "silken drop: it came in, and this is why"),
                   (T0 + 4, frame(LOST), 1, 0, "silken drop: a note about the one before"),
                   (T0 + 5, frame(LOST), 0, 0, "another comment"), (T0 + 6, frame(LOST), 0)]
        for order in "<>":
            ports, said = self.ports(section(["port-7", "port-130"], packets, order))
            self.assertEqual(ports, [7, 130, 130, 7, 7])
            self.assertIn(": 1 packet was sent by the interface; not replayed\n", said)
            self.assertIn(": 1 note is about dropped packets; not replayed\n", said)
            self.assertIn("5 packets in, 0 out, 5 dropped\n", said)

    def test_what_replay_writes_it_reads(self):
        a = self.file("a.pcap", pcap([(T0, frame("01"))]))
        self.good("--in", f"4={a}", "--out", f"1={self.path('1.pcapng')}")
        done = self.good("--in", self.path("1.pcapng"))
        self.assertIn("1 packet was sent by the interface; not replayed\n0 packets in", done.stderr)
        self.good("--in", f"5={self.path('1.pcapng')}", "--out", f"1={self.path('again.pcap')}")
        self.assertEqual(read(self.path("again.pcap")), [(T0, frame("01"))])

    def test_interfaces_that_are_no_ports(self):
        names = ["port-7", "port-07", "port-100", "port-", "port-7a", "eth0", None]
        data = section(names, [(T0 + i, frame(LOST), i) for i in range(len(names))])
        ports, said = self.ports(data)
        self.assertEqual(ports, [7, 7])
        self.assertIn(": 5 packets have no port, the first is number 3; not replayed\n", said)
        self.refused("packet 3: no part of --map matches it", "--in", self.path("in"),
                     "--strict-map")

    def test_no_interface_is_a_port(self):
        a = self.file("a", section(["eth0"], [(T0, frame("01"), 0)]))
        self.refused(f"{a}: none of its packets has a port: no interface is called port-N", "--in", a)
        self.refused(f"{a}: none of its packets has a port: no part of --map", "--in", a, "--map",
                     "interface:eth1=3")
        b = self.file("b", pcap([(T0, frame("01"))]))
        self.refused(f"{b}: a pcap does not tell which interface received a packet", "--in", b)
        self.refused("a pcap does not tell", "--in", b, "--map", "interface")
        self.assertEqual(self.ports(pcap([]), "--map", "interface:0=3")[0], [])
        self.assertEqual(self.ports(section([], []))[0], [])

    def test_interfaces_by_name_and_number(self):
        data = section(["eth0", "eth1", None, "port-9"],
                       [(T0 + i, frame(LOST), i) for i in range(4)])
        # the numbers begin again in each section
        data += section([None, "eth0"], [(T0 + 9, frame(LOST), i) for i in range(2)])
        for key, ports in {"interface:eth0=1,1=2,2=3,*=4": [1, 2, 3, 4, 4, 1],
                           "interface:0=1,1=2": [1, 2, 1, 2],
                           "interface:port-9=5": [5], "interface": [9]}.items():
            self.assertEqual(self.ports(data, "--map", key)[0], ports, key)
        # names that are numbers, or begin as numbers do
        data = section(["1", "0", None, "#2", "#9"], [(T0 + i, frame(LOST), i) for i in range(5)])
        for key, ports in {"interface:1=1,0=2": [1, 2], "interface:0=2,1=1": [1, 2],
                           "interface:1=1": [1, 1], "interface:#1=1,#0=2,#2=3": [2, 1, 3, 3],
                           "interface:#1=1,1=2": [2, 1], "interface:3=4,#2=5,#9=6": [5, 5, 6],
                           "interface:#3=7": [7]}.items():
            self.assertEqual(self.ports(data, "--map", key)[0], ports, key)

    def test_merged_with_others(self):
        a = self.file("a", section(["port-7", "port-8"], [(T0, frame(LOST), 0),
                                                          (T0 + 2, frame(LOST), 1)]))
        b = self.file("b", pcap([(T0 + 1, frame(LOST)), (T0 + 3, frame(LOST))]))
        self.good("--in", a, f"20={b}", "--drops", self.path("drops"))
        with open(self.path("drops"), encoding="utf-8") as f:
            self.assertEqual([json.loads(line)["received"] for line in f], [7, 20, 8, 20])

    # ---- what packets say

    def test_vlan(self):
        frames = [Ether(**MACS) / Dot1Q(vlan=10) / b"12345", Ether(**MACS) / b"123",
                  Ether(**MACS, type=0x88A8) / Dot1Q(vlan=20, prio=7) / Dot1Q(vlan=10) / b"12",
                  Ether(**MACS) / Dot1Q(vlan=4095) / b"1", Ether(**MACS, type=0x8100)]
        self.assertEqual(self.by("vlan:10=1,20=2", frames), [1, 2])
        self.assertEqual(self.by("vlan:10=1,none=3,*=4", frames), [1, 3, 4, 4, 3])
        self.assertEqual(self.by("vlan:4095=7,0=8", frames), [7])
        # the tag stays
        frames = [Ether(dst="02:00:00:00:00:01", src=MACS["src"]) / Dot1Q(vlan=10) / b"12345"]
        self.by("vlan:10=4", frames, "--out", f"1={self.path('1.pcap')}")
        self.assertEqual(read(self.path("1.pcap")), [(T0, bytes(frames[0]))])

    def test_source_mac(self):
        frames = [Ether(dst=MACS["dst"], src=src) / bytes(50) for src in
                  ("02:aa:bb:cc:dd:ee", "02:aa:bb:00:00:01", "02:aa:00:00:00:01",
                   "04:00:00:00:00:01", "02:aa:bb:cc:dd:ee")]
        self.assertEqual(self.by("src-mac:02:aa:BB:cc:dd:ee=1,02:aa:bb:00:00:00/24=2,"
                                 "02:aa:00:00:00:00/16=3", frames), [1, 2, 3, 1])
        self.assertEqual(self.by("src-mac:02:00:00:00:00:00/7=1,*=2", frames), [1, 1, 1, 2, 1])

    def test_source_ip(self):
        frames = [Ether(**MACS) / IP(src="10.0.0.1"), Ether(**MACS) / IP(src="10.0.1.1"),
                  Ether(**MACS) / Dot1Q(vlan=3) / IP(src="10.0.0.2"),
                  Ether(**MACS) / IPv6(src="2001:db8::1"), Ether(**MACS) / IPv6(src="2001:db9::1"),
                  Ether(**MACS) / ARP(psrc="10.0.0.9", pdst="10.0.0.1"),
                  Ether(**MACS, type=0x1234) / bytes(60),
                  bytes(Ether(**MACS) / IP(src="10.0.0.1"))[:29]]  # ends in its address
        self.assertEqual(self.by("src-ip:10.0.0.0/8=3,10.0.0.0/24=1,10.0.0.2=2,2001:db8::/32=4",
                                 frames), [1, 3, 2, 4, 1])
        self.assertEqual(self.by("src-ip:0.0.0.0/0=5,*=6", frames), [5, 5, 5, 6, 6, 5, 6, 6])
        self.assertEqual(self.by("src-ip:::/0=7", frames), [7, 7, 7, 7, 7, 7])

    def test_left_out_packets_count(self):
        data = pcap([(T0 + i, bytes(Ether(**MACS) / Dot1Q(vlan=i % 2) / b"1")) for i in range(9)])
        ports, said = self.ports(data, "--map", "vlan:1=3", "--limit", "2")
        self.assertEqual(ports, [3, 3])
        self.assertIn("packets have no port, the first is number 1; not replayed\n", said)
        self.assertIn("2 packets in, 0 out, 2 dropped\n", said)
        self.refused("packet 1: no part of --map matches it", "--in", self.path("in"), "--map",
                     "vlan:1=3", "--strict-map")

    # ---- the words

    def test_maps_that_are_none(self):
        a = self.file("a", section(["port-1"], []))
        for key, sentence in {
                "vlan": "'vlan' needs keys and ports",
                "color:1=2": "'color' is not one of interface, vlan, src-mac and src-ip",
                "vlan:10": "'10' is not KEY=PORT", "vlan:": "'' is not KEY=PORT",
                "vlan:10=1,": "'' is not KEY=PORT", "vlan:4096=1": "'4096' is not a VLAN",
                "vlan:10=100": "'100' is not a device port", "vlan:10=x": "'x' is not a device port",
                "vlan:10=1,10=2": "'10' is listed twice", "vlan:*=1,*=2": "'*' is listed twice",
                "src-mac:02:00:00:00:00=1": "'02:00:00:00:00' is not a MAC address",
                "src-mac:02:00:00:00:00:0g=1": "is not a MAC address",
                "src-mac:02:00:00:00:00:01/24=1": "has bits set after its prefix",
                "src-mac:02:00:00:00:00:00/49=1": "'49' is not a prefix length",
                "src-ip:10.0.0=1": "'10.0.0' is not an IP address",
                "src-ip:10.0.0.0/33=1": "'33' is not a prefix length",
                "src-ip:10.0.0.1/24=1": "has bits set after its prefix",
                "src-ip:10.0.0.0/24=1,10.0.0.0/24=2": "is listed twice",
                "interface:=1": "'' is not an interface", "interface:a=1,a=2": "'a' is listed twice",
        }.items():
            with self.subTest(key):
                self.refused(f"silken replay: --map: {sentence}" if sentence[0] == "'" else sentence,
                             "--in", a, "--map", key)


if __name__ == "__main__":
    tally.main()
