#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of other link types than Ethernet: each packet of links.py becomes the frame that is there, libpcap reads the same
bytes, and Wireshark finds the same IP packets in the capture and in the frames; packets that carry neither are counted and
left out by `silken replay`, have no turn in `silken explain`, and are refused in golden captures."""
import os
import re
import struct
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in (".", "..", "../..")]
import tally  # noqa: E402
from captures import explain, frames, ng_block, ng_option, pcap, section  # noqa: E402
from case import L2, T0, Case, frame  # noqa: E402
from links import LINKS, NOBODYS, TCPDUMPS, bare, ip  # noqa: E402

JUDGE = os.path.abspath(os.environ.get("BUILD", "build") + "/tools/judge")
FIELDS = ("ip.id", "ip.src", "ip.len", "ipv6.src", "ipv6.flow")


class Links(Case):
    def read(self, name, data):
        """The frames that pcap/capture reads, by libpcap's writer; b"" of what carries neither."""
        out = self.path("frames.pcap")
        done = subprocess.run([JUDGE, "-w", out, self.file(name, data)], capture_output=True, text=True)
        return done, frames(out)

    def test_each(self):
        for number, (link, packet, want) in enumerate(LINKS):
            for form, data in (("pcap", pcap([(T0, packet)] * 3, link=link)),
                               ("pcapng", section(["x"], [(T0, packet, 0)] * 3, link=link))):
                with self.subTest(link=link, number=number, form=form):
                    done, got = self.read(f"{number}.{form}", data)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertIn(": alike, 3 packets", done.stdout)
                    self.assertEqual(got, [want if isinstance(want, bytes) else b""] * 3)
                    if isinstance(want, str):
                        self.refused("none of its packets carries Ethernet or IP; ", "--in", f"1={self.path(f'{number}.{form}')}",
                                     "--out", self.path(f"out-{number}"))
                        self.assertIn(want, self.play("--in", f"1={self.path(f'{number}.{form}')}", "--out",
                                                      self.path(f"again-{number}")).stderr)

    def cut(self, packet):
        """Every length that a capture may have cut it to: no packet is read beyond it."""
        return [(T0, packet[:n], len(packet)) for n in range(len(packet))]

    def test_cut(self):
        for number, (link, packet, _) in enumerate(LINKS):
            with self.subTest(link=link, number=number):
                done, _ = self.read("cut.pcap", pcap(self.cut(packet), link=link))
                self.assertIn(f": alike, {len(packet)} packets", done.stdout)
                self.assertEqual(done.returncode, 0, done.stdout)

    def tshark(self, path):
        words = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=f", "-E", "separator=,"]
        done = subprocess.run(words + [w for f in FIELDS for w in ("-e", f)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_wireshark_agrees(self):
        """An interface for each packet, in one file."""
        known = [(link, packet) for link, packet, want in LINKS if isinstance(want, bytes)
                 and link not in TCPDUMPS | NOBODYS]
        capture = section([], [])
        for link, _ in known:
            capture += ng_block(1, struct.pack("<HHI", link, 0, 0) + ng_option(9, b"\x09"))
        for i, (_, packet) in enumerate(known):
            body = struct.pack("<IIIII", i, T0 >> 32, T0 & 0xffffffff, len(packet), len(packet)) + packet
            capture += ng_block(6, body + bytes(-len(body) % 4))
        _, got = self.read("all.pcapng", capture)
        self.assertEqual(len(got), len(known))
        theirs, ours = self.tshark(self.path("all.pcapng")), self.tshark(self.path("frames.pcap"))
        for (link, _), a, b in zip(known, theirs, ours):
            self.assertEqual((link, a), (link, b))
            self.assertNotEqual(a.strip(","), "", link)
        self.assertEqual(len(theirs), len(ours))
        self.assertGreater(len(ours), 40)

    def test_tcpdump_agrees(self):
        for link, packet, want in LINKS:
            if isinstance(want, bytes) and link in TCPDUMPS:
                said = [re.findall(r"IP \(.*id (\d+),.*length (\d+)\)\s*(\S+) > (\S+): UDP, length 20", self.tcpdump(data))
                        for data in (pcap([(T0, packet)], link=link), pcap([(T0, want)]))]
                self.assertEqual(said[0], said[1], link)
                self.assertEqual(len(said[0]), 1, link)

    def tcpdump(self, data):
        return subprocess.run(["tcpdump", "-n", "-v", "-t", "-r", self.file("one.pcap", data)], capture_output=True,
                              text=True, check=True).stdout

    def test_what_the_sentence_says_works(self):
        """Of a link type that we do not take apart; editcap is a part of tshark's packages."""
        for kind, inside in (("ether", frame("02", 3)), ("rawip", ip(4))):
            path = self.file("in.pcap", pcap([(T0, b"ten bytes." + inside)], link=195))
            self.refused("its link type is IEEE802_15_4 (195), in which Silken finds neither Ethernet nor IP; if these are there "
                         "after N bytes, 'editcap -C N -T ether' (or -T rawip) of Wireshark takes them off", "--in", f"1={path}",
                         "--out", self.path("out"))
            subprocess.run(["editcap", "-F", "nsecpcap", "-C", "10", "-T", kind, path, self.path("made.pcap")], check=True,
                           capture_output=True)
            done, got = self.read("made.pcap", open(self.path("made.pcap"), "rb").read())
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(got, [inside if kind == "ether" else bare(inside)])

    # ---- what carries neither ----

    PPP = [b"\xff\3\xc0\x21\1\1\0\4", b"\xff\3\0\x21" + ip(1), b"\xff\3\x80\x21\1\1\0\4", b"\xff\3\0\x21" + ip(2)]

    def test_replay_leaves_them_out(self):
        capture = self.file("ppp.pcap", pcap([(T0 + i, p) for i, p in enumerate(self.PPP)], link=9))
        done = self.good("--in", f"1={capture}", "--out", f"2={self.path('out.pcap')}", "--limit", "9")
        self.assertIn("2 packets carry neither Ethernet nor IP, the first is number 1 (it is of PPP's protocol 0xc021); "
                      "not replayed", done.stderr)

    def test_explain_counts_them(self):
        capture = self.file("ppp.pcap", pcap([(T0 + i, p) for i, p in enumerate(self.PPP)], link=9))
        done = explain(L2, "--port", "1", capture + ":4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("packet 4, received on port 1 at 1700000000.123456792 s", done.stdout)
        for number in (1, 3):
            done = explain(L2, "--port", "1", f"{capture}:{number}")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"packet {number} carries neither Ethernet nor IP; it is of PPP's protocol", done.stderr)
        done = explain(L2, "--port", "1", capture + ":5")
        self.assertIn("there is no packet 5; the last one is 4", done.stderr)

    def test_golden_ones_have_none(self):
        capture = self.file("in.pcap", pcap([(T0, frame("02"))]))
        golden = self.path("golden")
        self.good("--in", f"1={capture}", "--expect", golden, "--update")
        name = [n for n in os.listdir(golden) if n.endswith("pcap")][0]
        self.file(f"golden/{name}", pcap([(T0, self.PPP[0])], link=9))
        self.refused("packet 1 carries neither Ethernet nor IP; it is of PPP's protocol 0xc021", "--in", f"1={capture}",
                     "--expect", golden)


if __name__ == "__main__":
    tally.main()
