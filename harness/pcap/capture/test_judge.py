#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""libpcap and pcap/capture read the same packets (harness/tools/judge.c): from captures of every kind that we know of, and
from what Silken writes (what a running switch records is judged in pcap/record/test_record.sh; `silken lab pcap` writes by
libpcap). `test_judge.py [--frames] [--filters] FOLDER...` judges all captures below these folders instead, collections of others; with
--frames also, by Wireshark, the Ethernet frames that we make of other link types; with --filters the packets that twenty
expressions take."""
import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from captures import pcap  # noqa: E402
from case import Case, T0, frame  # noqa: E402
from fuzz_seeds import captures, section  # noqa: E402

JUDGE = os.path.abspath(os.environ.get("BUILD", "build") + "/tools/judge")
ENDS = (".pcap", ".pcapng", ".cap", ".pcap.gz", ".pcapng.gz")


def judge(*paths):
    return subprocess.run([JUDGE, *paths], capture_output=True, text=True)


class Judged(Case):
    def alike(self, *paths):
        done = judge(*paths)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_kind(self):
        """But for sections of two byte orders in a file, which libpcap does not read, and what is left of a frame when the
        file says that it has a check sequence, which libpcap leaves there."""
        alike = 0
        for i, capture in enumerate(captures()):
            if capture[:2] == b"\x1f\x8b":
                continue
            path = self.file(f"{i}.cap", capture)
            if capture[:4] == b"\x0a\x0d\x0d\x0a" and b"\x1a\x2b\x3c\x4d" in capture and b"\x4d\x3c\x2b\x1a" in capture:
                self.assertIn("differs, 10 packets; libpcap: pcapng block size", judge(path).stdout)
            elif b"\x0d\x00\x01\x00\x04" in capture:
                self.assertIn("differs, length of packet 1", judge(path).stdout)
            else:
                self.assertIn(": alike, ", self.alike(path))
                alike += 1
        self.assertGreaterEqual(alike, 12)

    def test_what_silken_writes(self):
        capture = self.file("in.pcap", pcap([(T0 + i * 1000, frame("02", i)) for i in range(100)]))
        for form in ("pcap", "pcapng"):
            out = self.path(f"out-{form}")
            self.good("--in", f"1={capture}", "--out", out, "--format", form)
            said = self.alike(*[os.path.join(out, name) for name in sorted(os.listdir(out)) if name.endswith(form)])
            self.assertIn("alike, 100 packets", said)

    def test_golden_captures(self):
        """As --update writes them, with a cut packet and one that is as long as packets get; the same packets as in the
        output, byte by byte, in libpcap's reading of both."""
        packets = [(T0 + i * 7, frame("02", i)) for i in range(9)] + [(T0 + 99, frame("02") + bytes(9000), 9300)]
        capture, golden = self.file("in.pcap", pcap(packets)), self.path("golden")
        self.good("--in", f"1={capture}", "--expect", golden, "--update")
        self.good("--in", f"1={capture}", "--out", self.path("out"))
        for name in sorted(n for n in os.listdir(golden) if n.endswith("pcap")):
            paths = [os.path.join(self.path(folder), name) for folder in ("golden", "out")]
            self.alike(*paths)
            dumps = [subprocess.run(["tcpdump", "-n", "-tt", "--nano", "-xx", "-r", p], capture_output=True, text=True,
                                    check=True).stdout for p in paths]
            self.assertEqual(dumps[0], dumps[1])
            self.assertEqual(dumps[0].count("0x0000: "), 10)

    def test_damaged(self):
        """Both refuse at the same packet, or neither does."""
        whole = pcap([(T0 + i * 1000, frame("02", i)) for i in range(20)])
        for cut in (len(whole) - 1, len(whole) - 30, 24 + 16 + 3, 24 + 7, 24):
            self.alike(self.file("cut.pcap", whole[:cut]))

    def test_filters(self):
        capture = self.file("in.pcap", pcap([(T0 + i, frame("02", i) + bytes(i % 7)) for i in range(100)]))
        for expression, taken in (("udp port 9", 100), ("tcp", 0), ("ip[4:2] < 10", 10), ("len % 7 = 0", 15)):
            done = judge("-f", expression, capture)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn(f"taken by both: {taken} of 100", done.stdout)

    def test_old_versions(self):
        """Before 2.3 the lengths were the other way round, in 2.3 either way."""
        packets = [(T0 + i * 1000, frame("02", i)[:40], 60) for i in range(20)]
        for minor in range(5):
            whole = bytearray(pcap(packets))
            whole[6] = minor
            if minor < 4:
                for at in range(24, len(whole), 16 + 40):
                    if minor < 3 or at % 3 == 0:
                        whole[at + 8:at + 16] = whole[at + 12:at + 16] + whole[at + 8:at + 12]
            self.assertIn("alike, 20 packets", self.alike(self.file("old.pcap", bytes(whole))))

    def test_it_can_fail(self):
        """A capture that libpcap does not read: more than one link type in a pcapng."""
        two = section(["a"], [(T0, frame("01"), 0)]) + section(["b"], [(T0, frame("01")[14:], 0)], link=101)
        done = judge(self.file("two.pcapng", two))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("differs, 1 packets; libpcap: ", done.stdout)


FIELDS = ("ip.src", "ip.dst", "ip.id", "ip.len", "ipv6.src", "ipv6.dst", "ipv6.plen", "arp.src.proto_ipv4", "arp.opcode")


def outermost(path):
    """Of each packet what tshark says of its outermost IP or ARP."""
    words = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=f", "-E", "separator=,"]
    return subprocess.run(words + [w for f in FIELDS for w in ("-e", f)], capture_output=True, text=True,
                          errors="replace").stdout.splitlines()


def is_ethernet(path):
    """By a pcap's head; a pcapng may have anything."""
    with open(path, "rb") as f:
        head = f.read(24)
    little = head[:2] in (b"\xd4\xc3", b"\x4d\x3c", b"\x34\xcd")
    return head[:4] != b"\x0a\x0d\x0d\x0a" and int.from_bytes(head[20:24], "little" if little else "big") & 0xffff == 1


def judge_frames(paths):
    """What Wireshark finds in captures that are not of Ethernet, and in the frames that we make of them."""
    files = same = 0
    for path in paths:
        with tempfile.NamedTemporaryFile(suffix=".pcap") as out:
            subprocess.run([JUDGE, "-w", out.name, path], capture_output=True)
            with open(path, "rb") as a, open(out.name, "rb") as b:
                if b.read(24)[:4] == b"" or a.read()[24:] == b.read():
                    continue
            theirs, ours = outermost(path), outermost(out.name)
        differ = [n for n, (a, b) in enumerate(zip(theirs, ours), 1) if a != b]
        files += 1
        same += sum(a == b and b.strip(",") != "" for a, b in zip(theirs, ours))
        if differ:
            print(f"{path}: Wireshark finds something else in {len(differ)} packets, the first is number {differ[0]}: "
                  f"{theirs[differ[0] - 1]} for {ours[differ[0] - 1]}")
    print(f"{files} captures of other link types: Wireshark finds the same IP or ARP in {same} packets and their frames")


EXPRESSIONS = (
    "ip", "ip6", "arp", "tcp", "udp", "icmp", "tcp port 443", "udp port 53", "vlan", "net 192.168.0.0/16",
    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "less 100", "greater 1000", "ether multicast", "ip[6:2] & 0x3fff != 0",
    "portrange 1000-40000 and not net 10.0.0.0/8", "mpls", "pppoes", "ip proto 47 or ip6 proto 58",
    "len % 3 = 1 and ether[12:2] > 1500")


def judge_filters(paths):
    """Expressions on all packets of Ethernet."""
    for expression in EXPRESSIONS:
        said = judge("-f", expression, *paths).stdout.splitlines()
        print(f"{expression}: {sum('differs, filter' in line for line in said)} captures differ; {said[-1]}")


def judge_collections(folders, how):
    """A line for each capture that the two do not read alike, and how many of each kind there are."""
    kinds, packets = collections.Counter(), 0
    paths = [os.path.join(at, name) for folder in folders for at, _, names in os.walk(folder) for name in sorted(names)
             if name.endswith(ENDS) and not name.endswith(".gz") and os.path.isfile(os.path.join(at, name))]
    for path in paths:
        said = judge(path).stdout.strip()
        alike = re.search(r": alike, (\d+) packets", said)
        packets += int(alike[1]) if alike else 0
        kind = "alike" if alike else "a link type without Ethernet or IP" if "in which Silken finds neither" in said else \
            "libpcap does not read interfaces of several kinds" if "different from the" in said else \
            "libpcap refuses a file without interfaces" if "no Interface Description" in said else \
            "both refuse" if "refused by both" in said else \
            "a time that no clock shows" if "time is" in said else "differs"
        kinds[kind] += 1
        if kind != "alike":
            print(said)
    if "--frames" in how:
        judge_frames(p for p in paths if not is_ethernet(p))
    if "--filters" in how:
        judge_filters(paths)
    print(f"{len(paths)} captures, {packets} packets alike:", ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()))


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.isdir(sys.argv[-1]):
        judge_collections([a for a in sys.argv[1:] if a[:2] != "--"], [a for a in sys.argv[1:] if a[:2] == "--"])
    else:
        tally.main()
