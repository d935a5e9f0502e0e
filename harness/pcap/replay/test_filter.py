#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`--filter` of replay, explain and record: the packets that tcpdump takes of the same captures, no other ones, and
tcpdump reads what Silken writes as it was written."""
import os
import random
import struct
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from case import T0, Case  # noqa: E402
from captures import NS, explain, pcap, pcapng, read, replay, section  # noqa: E402
from scapy.layers.dns import DNS, DNSQR  # noqa: E402
from scapy.layers.inet import ICMP, IP, TCP, UDP  # noqa: E402
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrHopByHop  # noqa: E402
from scapy.layers.l2 import ARP, Dot1Q, Ether  # noqa: E402

# All that port 1 receives leaves at port 2.
THROUGH = """
#include <core.p4>
#include <tna.p4>
struct headers_t {}
struct md_t {}
parser IP(packet_in p, out headers_t h, out md_t m, out ingress_intrinsic_metadata_t i) {
    state start { p.extract(i); p.advance(PORT_METADATA_SIZE); transition accept; }
}
control I(inout headers_t h, inout md_t m, in ingress_intrinsic_metadata_t i,
          in ingress_intrinsic_metadata_from_parser_t pr, inout ingress_intrinsic_metadata_for_deparser_t d,
          inout ingress_intrinsic_metadata_for_tm_t t) { apply { t.ucast_egress_port = 2; } }
control ID(packet_out p, inout headers_t h, in md_t m, in ingress_intrinsic_metadata_for_deparser_t d) { apply {} }
parser EP(packet_in p, out headers_t h, out md_t m, out egress_intrinsic_metadata_t e) {
    state start { p.extract(e); transition accept; }
}
control E(inout headers_t h, inout md_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t pr, inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t o) { apply {} }
control ED(packet_out p, inout headers_t h, in md_t m, in egress_intrinsic_metadata_for_deparser_t d) { apply {} }
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"""
EXPRESSIONS = [
    "ip", "ip6", "arp", "icmp", "icmp6", "tcp", "udp", "vlan", "vlan 7 and udp", "port 53", "udp dst port 48864",
    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "src host 10.0.0.3", "net 10.1.0.0/16", "ether src 02:00:00:00:00:05",
    "less 80", "greater 400", "len % 2 = 1", "ip[6:2] & 0x3fff != 0", "ip6 proto 0", "llc", "broadcast or multicast",
    "not (ip or ip6)", "ip[8] = 1 or ip6[7] = 1", "portrange 1000-40000 and not net 10.1.0.0/16",
    "host 10.0.0.3 or host fd00::3", "ether proto 0x88b5"]


def some_frame(r):
    ether = Ether(src=f"02:00:00:00:00:{r.randrange(8):02x}", dst=r.choice(["ff:ff:ff:ff:ff:ff", "02:00:00:00:00:09",
                                                                         "01:00:5e:00:00:01", "33:33:00:00:00:01"]))
    if r.random() < 0.2:
        ether /= Dot1Q(vlan=r.choice([7, 8]))
    ttl = r.choice([1, 64])
    ip = IP(src=f"10.{r.randrange(2)}.0.{r.randrange(5)}", dst=f"10.{r.randrange(2)}.0.{r.randrange(5)}", ttl=ttl,
            flags=r.choice([0, 0, 0, "DF", "MF"]), frag=r.choice([0, 0, 0, 5]))
    ip6 = IPv6(src=f"fd00::{r.randrange(5)}", dst="ff02::1", hlim=ttl)
    if r.random() < 0.2:
        ip6 /= IPv6ExtHdrHopByHop()
    over = [UDP(sport=r.randrange(1, 65536), dport=r.choice([53, 48864, 9])) / bytes(r.randrange(600)),
            TCP(sport=r.randrange(1, 65536), dport=r.choice([53, 80]), flags=r.choice(["S", "A", "FA", "PA"])),
            UDP(sport=4000) / DNS(qd=DNSQR(qname="silken.example"))]
    return bytes(ether / r.choice([ip / o for o in over] + [ip6 / o for o in over] + [
        ip / ICMP(), ip6 / ICMPv6EchoRequest(), ARP(psrc=ip.src, pdst=ip.dst)])) \
        if r.random() < 0.9 else bytes(ether)[:12] + r.choice([b"\x88\xb5", b"\x00\x30\xaa\xaa\x03"]) + \
        r.randbytes(50 + r.randrange(100))


class Filters(Case):
    def setUp(self):
        super().setUp()
        r = random.Random(1)
        self.program = self.file("through.p4", THROUGH)
        self.packets = [(T0 + i * 1000, some_frame(r)) for i in range(400)]
        self.capture = self.file("in.pcap", pcap(self.packets))

    def tcpdump(self, path, expression=""):
        """(time, bytes, length on the wire) of what it takes."""
        out = self.path("tcpdump.pcap")
        done = subprocess.run(["tcpdump", "-r", path, "-w", out, "--time-stamp-precision=nano", expression],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, "rb") as f:
            data = f.read()
        at, packets = 24, []
        while at < len(data):
            seconds, ns, length, wire = struct.unpack_from("<IIII", data, at)
            packets.append((seconds * NS + ns, data[at + 16:at + 16 + length], wire))
            at += 16 + length
        return packets

    def filtered(self, capture, expression, *more):
        done = replay(self.program, "--in", f"1={capture}", "--out", f"2={self.path('out.pcap')}", "--filter",
                      expression, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return read(self.path("out.pcap")), done

    def test_what_tcpdump_takes(self):
        for form, capture in (("pcap", self.capture), ("pcapng", self.file("in.pcapng", pcapng(self.packets)))):
            for expression in EXPRESSIONS:
                want = [p[1] for p in self.tcpdump(capture, expression)]
                self.assertTrue(0 < len(want) < len(self.packets), expression)
                got, done = self.filtered(capture, expression)
                self.assertEqual([p[1] for p in got], want, (form, expression))
                self.assertIn(f"{len(self.packets) - len(want)} packet", done.stderr)
                self.assertIn("not match the filter", done.stderr)

    def test_cut_packets(self):
        """Lengths are those on the wire, and what is beyond the cut is not there."""
        records = [struct.pack("<IIII", t // NS, t % NS, min(60, len(f)), len(f)) + f[:60] for t, f in self.packets]
        capture = self.file("cut.pcap", pcap([]) + b"".join(records))
        for expression in ("greater 400", "len % 2 = 1", "udp port 53", "tcp", "ether[70] != 0"):
            want = [p[1] for p in self.tcpdump(capture, expression)]
            self.assertEqual([p[1] for p in self.filtered(capture, expression)[0]], want, expression)

    def test_limit_counts_what_matches(self):
        want = [p[1] for p in self.tcpdump(self.capture, "arp")][:3]
        got, _ = self.filtered(self.capture, "arp", "--limit", "3")
        self.assertEqual([p[1] for p in got], want)

    def test_several_captures(self):
        halves = [self.file(f"half{i}.pcap", pcap(self.packets[i::2])) for i in (0, 1)]
        done = replay(self.program, "--in", f"1={halves[0]}", f"1={halves[1]}", "--out",
                      f"2={self.path('out.pcap')}", "--filter", "udp or arp")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([p[1] for p in read(self.path("out.pcap"))],
                         [p[1] for p in self.tcpdump(self.capture, "udp or arp")])

    def test_explain(self):
        """The first packet that matches, or a later one, by its number among all."""
        frames = [f for _, f in self.packets]
        matching = [frames.index(p[1]) + 1 for p in self.tcpdump(self.capture, "ip6 and tcp")]
        for nth, number in ((None, matching[0]), (2, matching[1])):
            done = explain(self.program, "--in", f"1={self.capture}", "--filter", "ip6 and tcp",
                           *(["--packet", str(nth)] if nth else []))
            self.assertEqual(done.returncode, 0, done.stderr)
            alone = explain(self.program, "--in", f"1={self.capture}", "--packet", str(number))
            self.assertEqual(done.stdout, alone.stdout)
        for words, says in (
                (["--in", f"1={self.capture}", "--filter", "ip6 and tcp", "--packet", "1000"], "fewer than 1000 packets"),
                (["--in", f"1={self.capture}", "--filter", "tcp prt 1"], "syntax error"),
                (["--in", "1=-", "--filter", "tcp"], "reads the captures twice"),
                (["--filter", "tcp"], "--filter needs captures"),
                (["--hex", "00" * 60, "--filter", "tcp"], "another one is given")):
            done = explain(self.program, *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(says, done.stderr)

    def test_refusals(self):
        recorded = self.file("recorded.pcapng", section(["port-1"], [(1, bytes(60), 0, 1)]))
        for words, says in ((["--filter", "tcp and"], "syntax error"), (["--filter", " "], "a filter of no words"),
                            (["--filter", "host no.such.name.invalid"], "no.such.name.invalid"),
                            (["--filter", "wlan type mgt"], "the filter 'wlan type mgt'"),
                            (["--filter", "tcp", "--expect-recorded"], "a recorded run had all packets")):
            capture = recorded if "--expect-recorded" in words else f"1={self.capture}"
            done = replay(self.program, "--in", capture, *words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_tcpdump_reads_what_is_written(self):
        for form in ("pcap", "pcapng"):
            out = self.path(f"all.{form}")
            done = replay(self.program, "--in", f"1={self.capture}", "--out", f"2={out}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([p[1] for p in self.tcpdump(out)], [f for _, f in self.packets])
            self.assertEqual([p[0] for p in self.tcpdump(out)], [t for t, _ in self.packets])


if __name__ == "__main__":
    tally.main()
