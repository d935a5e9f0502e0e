#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Dissectors that `silken build --wireshark` writes, in Wireshark (tshark): field values are what was put into
the packets, packets that end too early are marked, and no packet makes Lua fail."""
import glob
import json
import logging
import os
import random
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, up) for up in ("../..", "../../pcap", "../../scapy")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, TCP, UDP  # noqa: E402
from scapy.layers.l2 import Dot1Q, Ether  # noqa: E402

import tally  # noqa: E402
import test_switchml as sml  # noqa: E402
from captures import pcap  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
SWITCHML = "p4/switchml/switchml.p4"
TAGS = os.path.join(HERE, "tags.p4")
L2 = "p4/l2/l2.p4"
MAC = bytes.fromhex("020000000001020000000002")


class Dissector(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def script(self, program):
        path = os.path.join(self.dir, os.path.basename(program) + ".lua")
        done = subprocess.run([f"{BUILD}/silken", "build", "--parse-only", "--wireshark", path, program],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.stderr.splitlines() if re.search(": (error|warning):", line)]
        # one program writes 'last' on purpose
        self.assertEqual([line for line in said if "'last' is written" not in line], [])
        self.assertTrue(said or not done.stderr, done.stderr)
        return path

    def tshark(self, script, packets, *options):
        capture = os.path.join(self.dir, "in.pcap")
        with open(capture, "wb") as f:
            f.write(pcap([(i * 1000, *(p if isinstance(p, tuple) else (p,)))
                          for i, p in enumerate(packets)]))
        env = dict(os.environ, HOME=self.dir, LC_ALL="C.UTF-8")
        done = subprocess.run(["tshark", "-X", f"lua_script:{script}", "-r", capture, *options],
                              capture_output=True, text=True, timeout=120, env=env)
        errors = [line for line in done.stderr.splitlines() if "Running as user" not in line]
        self.assertEqual((done.returncode, errors), (0, []))
        self.assertNotIn("Lua", done.stdout)
        return done.stdout

    def fields(self, script, packets, *names, options=()):
        out = self.tshark(script, packets, "-T", "fields", "-E", "separator=;",
                          *(w for n in names for w in ("-e", n)), *options)
        return [tuple(line.split(";")) for line in out.splitlines()]

    # ---- SwitchML

    def job(self):
        return sml.Job(9, [1, 2], 1, 5, 0, 32)

    def test_switchml_fields(self):
        script, job = self.script(SWITCHML), self.job()
        sizes = (32, 64, 128, 256)
        values = {n: [(0x9E3779B9 * (i + n)) & 0xFFFFFFFF for i in range(n)] for n in sizes}
        packets = [job.packet(i % 2, 7 + i, i % 2, values[n], (n // 4 - 60, -128 + i), tsi=i * 65537)
                   for i, n in enumerate(sizes)]
        rows = self.fields(script, packets, "switchml.msg_type", "switchml.size", "switchml.job_number",
                           "switchml.tsi", "switchml.pool_index", "switchml.exponents.e0",
                           "switchml.exponents.e1", "switchml.low.v", "switchml.high.v", "udp.dstport")
        for i, (n, row) in enumerate(zip(sizes, rows)):
            shown = values[n][:32] if n == 32 else values[n][:64] # more than 64 are payload to the parser
            low, high = ([], shown) if n == 32 else (shown[:32], shown[32:])
            self.assertEqual(row, (
                "0x01", str(i), "9", str(i * 65537), str((i % 2) << 15 | 7 + i), str(n // 4 - 60),
                str(-128 + i), ",".join(map(str, low)), ",".join(map(str, high)), "48864"))
        # JSON in which keys may stand more than once
        doc = json.loads(self.tshark(script, packets, "-T", "json"), object_pairs_hook=list)
        for n, packet in zip(sizes, doc):
            layer = dict(dict(dict(packet)["_source"])["layers"])["switchml"]
            headers = dict(layer)
            self.assertEqual([k for k, _ in layer], ["switchml.switchml", "switchml.exponents"]
                             + ["switchml.low"] * (n > 32) + ["switchml.high"])
            self.assertEqual(dict(headers["switchml.switchml"])["switchml.size"], str(sml.SIZES[n]))
            (_, elements), = headers["switchml.high"]
            shown = values[n][:32] if n == 32 else values[n][32:64]
            self.assertEqual(elements, [("switchml.high.v", str(v)) for v in shown]
                             if isinstance(elements[0], tuple) else
                             [["switchml.high.v", str(v)] for v in shown])
        listing = self.tshark(script, packets)
        self.assertEqual(listing.count("SWITCHML"), 4)
        self.assertIn("size: ELEMENTS_256 (3)", self.tshark(script, packets, "-V"))
        # a filter by a field
        self.assertEqual(self.fields(script, packets, "frame.number", options=(
            "-Y", f"switchml.pool_index == {1 << 15 | 8}")), [("2",)])

    def test_switchml_results_and_others(self):
        script, job = self.script(SWITCHML), self.job()
        result = bytes(Ether() / IP() / UDP(sport=0xBEE3, dport=4000)
                       / job.packet(0, 3, 0, [5] * 32)[42:])
        others = [bytes(Ether() / IP() / UDP(sport=1, dport=53) / bytes(20)),
                  bytes(Ether() / IP() / TCP(dport=0xBEE0)), MAC + b"\x08\x06" + bytes(28)]
        rows = self.fields(script, [result, *others], "switchml.job_number")
        self.assertEqual(rows, [("9",), ("",), ("",), ("",)])

    def test_switchml_cut_at_every_byte(self):
        script, job = self.script(SWITCHML), self.job()
        whole = job.packet(0, 3, 0, range(64), (1, 2))
        udp = 42
        short = [whole[:38] + struct.pack(">H", n - 34) + whole[40:n] for n in range(udp + 1, len(whole))]
        rows = self.fields(script, short, "_ws.expert.group", "switchml.pool_index", "switchml.low.v",
                           "_ws.col.Info")
        self.assertEqual(len(rows), len(short))
        for n, (groups, index, low, info) in zip(range(udp + 1, len(whole)), rows):
            self.assertIn(str(0x07000000), groups.split(","), n) # malformed
            self.assertEqual(index, "3" if n >= udp + 8 else "")
            self.assertEqual(low != "", n >= udp + 10 + 128)
            self.assertIn("[Malformed Packet]", info)
        # the capture has less than there was: no fault of the packet's
        cut = [(whole[:n], len(whole)) for n in range(udp + 1, len(whole))]
        for groups, index, _, info in self.fields(script, cut, "_ws.expert.group", "switchml.pool_index",
                                                  "switchml.low.v", "_ws.col.Info"):
            self.assertNotIn(str(0x07000000), groups.split(","))
            self.assertNotIn("[Malformed Packet]", info)
        text = self.tshark(script, cut[3:4], "-V")
        self.assertIn("the capture lacks 4 bytes", text)

    # ---- stacks, lookahead, odd widths, variable lengths

    RECORD = ("tags.record.kind", "tags.record.words", "tags.record.colour", "tags.record.level",
              "tags.record.stamp", "tags.record.odd", "tags.record.dst_addr", "tags.record.s",
              "tags.record.t", "tags.record.options.bytes")

    def record(self, kind, options, level, odd):
        bits = f"{kind:04b}{12 + len(options) // 4:04b}{5:03b}{level % 32:05b}"
        bits += f"{0x123456789ABC:048b}{odd:037b}{0:03b}"
        data = int(bits, 2).to_bytes(len(bits) // 8, "big")
        return data + bytes(range(16)) + struct.pack(">HHHHbbbb", 1, 2, 3, 65535, -1, 2, -128, 4) + options

    def expected(self, kind, options, level, odd):
        pieces, at = [], 0
        for size in (8, 4):
            if len(options) & size:
                pieces.append(options[at:at + size].hex())
                at += size
        return (str(kind), str(12 + len(options) // 4), "5", str(level), str(0x123456789ABC), str(odd),
                "1:203:405:607:809:a0b:c0d:e0f", "1,2,3,65535", "-1,2,-128,4", ",".join(pieces))

    def test_records(self):
        script = self.script(TAGS)
        cases = [(4, b"", -16, 0), (4, bytes(range(4)), 15, 1), (0, bytes(range(8)), -1, 2 ** 37 - 1),
                 (9, bytes(range(12)), 3, 2 ** 36)]
        packets = [MAC + bytes([0xA1, i]) + self.record(*c) for i, c in enumerate(cases)]
        rows = self.fields(script, packets, *self.RECORD)
        self.assertEqual(rows, [tuple(self.expected(*c)) for c in cases])
        self.assertIn("colour: BLUE (5)", self.tshark(script, packets, "-V"))

    def test_labels(self):
        script = self.script(TAGS)

        def labels(*values):
            return b"".join(struct.pack(">I", v << 12 | 3 << 9 | (i + 1 == len(values)) << 8 | 64)
                            for i, v in enumerate(values))
        record = self.record(4, b"", 0, 7)
        packets = [
            MAC + b"\x90\x01" + labels(17) + record,
            bytes(Ether() / Dot1Q(vlan=5, type=0x9001)) + labels(1, 2) + record,
            bytes(Ether() / Dot1Q(vlan=5) / Dot1Q(vlan=6, type=0x9001)) + labels(1, 2, 1048575) + record,
            MAC + b"\x90\x01" + labels(1, 2, 3, 4) + record,  # a stack of three
            MAC + b"\x90\x01" + labels(8) + b"\x70payload",   # no record
            MAC + b"\x90\x01" + labels(8) + b"\xf0payload",   # rejected
            MAC + b"\x90\x01" + labels(1, 2)[:6], MAC + b"\x90\x01" + labels(9)]
        rows = self.fields(script, packets, "tags.labels.label", "tags.labels.last", "tags.record.odd",
                           "_ws.expert.group")
        malformed, protocol = str(0x07000000), str(0x09000000)
        self.assertEqual([r[:3] for r in rows], [
            ("17", "1", "7"), ("1,2", "0,1", "7"), ("1,2,1048575", "0,0,1", "7"), ("1,2,3", "0,0,0", ""),
            ("8", "1", ""), ("8", "1", ""), ("1", "0", ""), ("9", "1", "")])
        self.assertEqual([r[3] for r in rows],
                         ["", "", "", protocol, "", protocol, malformed, malformed])
        self.assertIn("the parser rejects it", self.tshark(script, packets[5:6], "-V"))

    # ---- whole frames

    def test_whole_frames(self):
        frame = MAC + b"\x08\x00" + bytes(20)
        # nothing of this program's is behind an EtherType: whole frames are shown unless switched off
        script = self.script(L2)
        self.assertEqual(self.fields(script, [frame], "l2.ethernet.dst_addr", "l2.ethernet.ether_type"),
                         [("02:00:00:00:00:01", "0x0800")])
        self.assertEqual(self.fields(script, [frame], "l2.ethernet.dst_addr",
                                     options=("-o", "l2.frames:FALSE")), [("",)])
        # and of this one when they are switched on: with tags, and Ethernet beside Wireshark's own
        script = self.script(TAGS)
        packets = [bytes(Ether(dst="02:00:00:00:00:09") / Dot1Q(vlan=5, type=0x9001))
                   + bytes([0, 1, 1, 64]) + self.record(4, b"", 0, 7), frame[:13]]
        rows = self.fields(script, packets, "tags.ethernet.dst_addr", "tags.vlan.vid", "tags.labels.label",
                           "tags.record.odd", options=("-o", "tags.frames:TRUE"))
        self.assertEqual(rows[0][:2], ("02:00:00:00:00:09", "5"))
        self.assertEqual(rows[0][2].split(",")[0], "16")
        self.assertEqual(rows[1], ("", "", "", ""))
        script = self.script(SWITCHML)
        packet = self.job().packet(0, 3, 0, range(32))
        rows = self.fields(script, [packet], "switchml.ipv4.src_addr", "switchml.udp.dst_port",
                           options=("-o", "switchml.frames:TRUE"))
        self.assertEqual(rows, [("10.0.0.1", "48864")])

    def test_a_name_that_wireshark_has(self):
        program = os.path.join(self.dir, "ip.p4")
        with open(L2, encoding="utf-8") as f, open(program, "w", encoding="utf-8") as g:
            g.write(f.read())
        rows = self.fields(self.script(program), [MAC + b"\x08\x00" + bytes(20)],
                           "ip_p4.ethernet.ether_type")
        self.assertEqual(rows, [("0x0800",)])

    # ---- anything

    def test_any_bytes_through_all_programs(self):
        r = random.Random(20)
        packets = []
        for i in range(150):
            kind = r.choice((0x800, 0x8100, 0x9000, 0x9001, 0xA000, 0xA105, 0x86DD, r.randrange(65536)))
            data = bytes(r.randrange(256) for _ in range(r.randrange(0, 90)))
            ip = bytes([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 17]) + bytes(10) if kind == 0x800 and i % 2 else b""
            packets.append(MAC + kind.to_bytes(2, "big") + ip + data)
        programs = sorted(glob.glob("harness/stf/*.p4") + glob.glob("harness/stf/lang/[psuvw]*.p4")
                          + glob.glob("harness/stf/tna/[pv]*.p4")) + [TAGS, SWITCHML, L2]
        for program in programs:
            with self.subTest(program):
                script = self.script(program)
                with open(script, encoding="utf-8") as f:
                    text = f.read() # the preference, whatever its name is
                with open(script, "w", encoding="utf-8") as f:
                    f.write(text.replace("take them\", false)", "take them\", true)"))
                self.tshark(script, packets, "-V")

    def test_what_cannot_be_expressed_is_said(self):
        with open(self.script("harness/stf/everything.p4"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("-- cannot be expressed: the value set pipe.IngressParser.types", text)

    def test_the_same_text_again(self):
        def text():
            with open(self.script(SWITCHML), encoding="utf-8") as f:
                return f.read()
        self.assertEqual(text(), text())
        done = subprocess.run([f"{BUILD}/silken", "build", "--parse-only", "--wireshark", "-", SWITCHML],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, text())
        done = subprocess.run([f"{BUILD}/silken", "build", "--parse-only", "--wireshark", "/dev/full",
                               SWITCHML], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write /dev/full", done.stderr)

    def test_the_program_is_not_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            mine, link = os.path.join(folder, "my.p4"), os.path.join(folder, "link")
            shutil.copy(SWITCHML, mine)
            os.symlink("my.p4", link)
            with open(mine, "rb") as f:
                before = f.read()
            for option in ("--wireshark", "--emit-c", "-o", "--p4info"):
                for path in (mine, link):
                    done = subprocess.run([f"{BUILD}/silken", "build", option, path, mine],
                                          capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"{path} is the program; it would be overwritten", done.stderr)
                    with open(mine, "rb") as f:
                        self.assertEqual(f.read(), before)

    def test_an_object_takes_no_place_but_a_file_s(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            done = subprocess.run([f"{BUILD}/silken", "build", "-o", fifo, SWITCHML],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"cannot write {fifo}: it is not a regular file", done.stderr)
            self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))


if __name__ == "__main__":
    tally.main()
