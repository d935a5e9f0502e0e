#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken explain`: what it says of packets (golden texts in harness/pcap/explain; UPDATE_GOLDEN=1 writes
them anew), that its JSON says what the golden texts and the outputs of a switch say, every form of a packet,
and what it answers to input that cannot be used."""
import gzip
import json
import logging
import os
import pty
import re
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, up) for up in ("..", "../..", "../../scapy")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402
from scapy.utils import wrpcap  # noqa: E402

import tally  # noqa: E402
import test_switchml as sml  # noqa: E402
from captures import NS, explain, pcap, pcapng, section  # noqa: E402
from folder import FolderCase  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
GOLDEN = HERE
L2 = "p4/l2/l2.p4"
TRACE = "harness/compiler/print/checked/trace.p4"
JOURNEYS = "harness/stf/journeys.p4"
WISHES = "harness/stf/tm/wishes.p4"
SWITCHML = "p4/switchml/switchml.p4"
T0 = 1_700_000_000 * NS
FORWARD = {"entries": [
    {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send",
     "args": {"port": 1}},
    {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:ff"}, "action": "drop", "args": {}}],
    "multicast": {"nodes": [{"id": 1, "rid": 7, "ports": [5]}, {"id": 2, "rid": 8, "ports": [6]},
                            {"id": 3, "rid": 9, "ports": [4]}],
                  "groups": [{"id": 1, "nodes": [{"node": 1, "xid": 5}, {"node": 2, "xid": 6},
                                                 {"node": 3, "xid": 4}]}]}}
ROUTES = {"entries": [
    {"table": "route", "priority": 10, "action": "send", "args": {"port": 3, "ttl": 63},
     "key": {"dst": "0x0a000000 &&& 0xffffff00", "ig_intr_md.resubmit_flag": 0}},
    {"table": "route", "priority": 20, "action": "again", "args": {},
     "key": {"dst": "0x0a000000 &&& 0xff000000", "ig_intr_md.resubmit_flag": 0}},
    {"table": "route", "priority": 20, "action": "send", "args": {"port": 4, "ttl": 9},
     "key": {"dst": "0x0a000000 &&& 0xff000000", "ig_intr_md.resubmit_flag": 1}}]}
MIRRORS = {"mirror": [{"id": 5, "direction": "ingress", "port": 9, "qid": 3, "cos": 2},
                      {"id": 6, "direction": "egress", "port": 10}]}
FRAME = "0200000000010200000000040800450000112233445566778899aabbccddeeff"
RESUBMITTED = ("020000000001 020000000002 0800 45000014000100004011 65ce 0a000102 0a010008 ff")


class Explain(FolderCase):
    def config(self, what):
        return "--entries", self.file("entries.json", json.dumps(what))

    def good(self, *arguments, **options):
        done = explain(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def document(self, *arguments):
        doc = json.loads(self.good("--json", *arguments))
        self.check_document(doc)
        return doc

    # the form that the manual describes
    def check_document(self, doc):
        self.assertEqual(set(doc), {"form", "program", "packet", "way", "sent", "dropped"})
        self.assertEqual(doc["form"], 1)
        self.assertLessEqual(set(doc["packet"]),
                             {"number", "source", "port", "time", "bytes", "length",
                              "wire_length"})
        for run in doc["way"]:
            expected = {"in", "pass", "port", "time", "length", "bytes", "events"}
            expected |= ({"resubmitted"} if run["in"] == "ingress" else
                         {"rid", "qid", "enq_qdepth", "enq_time"})
            self.assertEqual(set(run), expected)
            self.assertEqual(len(run["bytes"]), 2 * run["length"])
            for event in run["events"]:
                self.assertIn("event", event)
        for sent in doc["sent"]:
            self.assertEqual(set(sent), {"port", "length", "bytes", "headers", "payload_offset",
                                         "changes"})
            self.assertEqual(len(sent["bytes"]), 2 * sent["length"])
            for header in sent["headers"]:
                self.assertLessEqual(header["offset"] + header["length"], sent["payload_offset"])
                data = sent["bytes"][2 * header["offset"]:][:2 * header["length"]]
                self.assertEqual(len(data), 2 * header["length"])
            for change in sent["changes"]:
                self.assertIn(change["change"], ("field", "added", "removed", "payload"))

    def golden(self, name, *arguments):
        text = self.good(*arguments)
        path = os.path.join(GOLDEN, name + ".text")
        if os.environ.get("UPDATE_GOLDEN"):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        with open(path, encoding="utf-8") as f:
            self.assertEqual(text, f.read())
        return text

    # ---- what becomes of packets

    def slot(self, elements=32):
        job = sml.Job(7, [1, 2], 1, 5, 0, 16)
        a = self.file("a.pcap", pcap([(T0, job.packet(0, 3, 0, range(1, elements + 1), (3, -4)))]))
        b = self.file("b.pcap", pcap([(T0 + 1000, job.packet(
            1, 3, 0, [1000 * i for i in range(elements)], (2, 5)))]))
        config = self.file("job.json", json.dumps(sml.configuration([job])))
        return (SWITCHML, "--config", config, "--in", f"1={a}", f"2={b}", "--packet", 2)

    def test_a_slot_that_is_complete(self):
        command = self.slot()
        self.golden("switchml", *command)
        doc = self.document(*command)
        self.assertEqual([s["port"] for s in doc["sent"]], [1, 2])
        for sent in doc["sent"]:
            result = sml.Result(bytes.fromhex(sent["bytes"]))
            headers = {h["name"]: h["fields"] for h in sent["headers"]}
            self.assertEqual([int(v, 16) for v in headers["hdr.high"].values()],
                             [1001 * i + 1 for i in range(32)])
            self.assertEqual(int(headers["hdr.switchml"]["pool_index"], 16), result.slot)
            changed = {c["field"]: (c["before"], c["after"]) for c in sent["changes"]}
            self.assertEqual(changed["hdr.exponents.e0"], ("0x2", "0x3"))
            self.assertEqual(changed["hdr.high.v31"], ("0x7918", "0x7938"))
            self.assertEqual(changed["hdr.ipv4.src_addr"], ("0xa000002", "0xa0000fe"))
        cells = [e for run in doc["way"] for e in run["events"] if e["event"] == "register"
                 and e["name"] == "pipe.Ingress.lanes.lane07.cells"]
        self.assertEqual((cells[0]["before"], cells[0]["after"], cells[0]["index"]),
                         ([["low", "0x0"], ["high", "0x8"]], [["low", "0x0"], ["high", "0x1b60"]], 3))
        # without the first worker's packet the slot is not complete: the register was empty
        self.assertIn("1 -> 3; returns md.seen 0", self.good(*command))
        alone = self.good(*command, "--alone")
        self.assertIn("0 -> 2; returns md.seen 0", alone)
        self.assertIn("dropped: consumed in ingress", alone)
        self.assertEqual(alone, self.good(*command, "--after", 0))
        self.assertEqual(self.good(*command, "--after", 1), self.good(*command))

    def test_256_elements(self):
        doc = self.document(*self.slot(256))
        self.assertEqual(len(doc["sent"]), 2)
        for sent in doc["sent"]:
            self.assertEqual(bytes.fromhex(sent["bytes"])[-4:], (255 * 1000 + 256).to_bytes(4, "big"))

    def test_forwarded_flooded_dropped(self):
        entries = self.config(FORWARD)
        self.golden("forward", L2, *entries, "--port", 4, FRAME)
        doc = self.document(L2, *entries, "--port", 4, FRAME)
        self.assertEqual([(s["port"], s["bytes"], s["changes"]) for s in doc["sent"]],
                         [(1, FRAME, [])])
        flooded = "ffffffffffff" + FRAME[12:]
        self.golden("flood", L2, *entries, "--port", 4, flooded)
        doc = self.document(L2, *entries, "--port", 4, flooded)
        self.assertEqual([s["port"] for s in doc["sent"]], [5, 6])
        self.golden("drop", L2, *entries, "--port", 4, "0200000000ff" + FRAME[12:])
        doc = self.document(L2, *entries, "--port", 4, "0200000000ff" + FRAME[12:])
        self.assertEqual((doc["sent"], [d["reason"] for d in doc["dropped"]]),
                         ([], ["drop_ctl in ingress"]))

    def test_rejected_by_the_parser(self):
        text = self.golden("reject", TRACE, *self.config(ROUTES), "020000000001020000000002 0005 0001")
        self.assertIn("dropped: parser error", text)

    def test_refused_by_the_port(self):
        text = self.good(L2, "0200")
        self.assertIn("dropped: shorter than an Ethernet header", text)
        doc = self.document(L2, "0200")
        self.assertEqual((doc["packet"]["length"], doc["way"]), (2, []))

    def test_resubmitted(self):
        self.golden("resubmit", TRACE, *self.config(ROUTES), RESUBMITTED)
        doc = self.document(TRACE, *self.config(ROUTES), RESUBMITTED)
        self.assertEqual([run["resubmitted"] for run in doc["way"] if run["in"] == "ingress"],
                         [False, True])
        (sent,) = doc["sent"] # harness/compiler/print/checked/trace.stf has the bytes
        self.assertEqual(sent["bytes"], "020000000001020000000002080045000014000100000911"
                         "9cce0a0001020a010008b0ab000000010001ff")
        self.assertEqual(sent["changes"], [
            {"change": "field", "field": "hdr.ipv4.ttl", "before": "0x40", "after": "0x9"},
            {"change": "field", "field": "hdr.ipv4.checksum", "before": "0x65ce",
             "after": "0x9cce"},
            {"change": "added", "header": "hdr.note"}])
        table = [e for e in doc["way"][0]["events"] if e["event"] == "table"][0]
        self.assertEqual((table["matched"]["dst"], table["hit"]),
                         ("0xa000000 &&& 0xff000000", True))

    def test_recirculated(self):
        packet = "000000000001 000000000002 a000 01 01 0002 00 beef"
        self.golden("recirculate", JOURNEYS, "--port", 131, packet)
        doc = self.document(JOURNEYS, "--port", 131, packet)
        self.assertEqual([(run["in"], run["pass"], run["port"]) for run in doc["way"]],
                         [("ingress", 1, 131), ("egress", 1, 196), ("ingress", 2, 196),
                          ("egress", 2, 2)])
        packet = "000000000001 000000000002 a000 01 50 0002 00 beef"
        doc = self.document(JOURNEYS, "--port", 131, packet)
        self.assertEqual(doc["dropped"][0]["reason"],
                         "too many recirculations or mirrors of mirrors")

    def test_mirrored_with_a_digest(self):
        packet = "000000000001 000000000002 a000 13 00 0002 0005 0000 0000 cafef00d"
        text = self.golden("mirror", WISHES, *self.config(MIRRORS), packet)
        self.assertIn("IngressDeparser.seen digest", text)
        doc = self.document(WISHES, *self.config(MIRRORS), packet)
        # as harness/stf/tm/mirror.stf and digest.stf expect
        self.assertEqual({s["port"]: s["bytes"] for s in doc["sent"]}, {
            2: "000000000001eeeeeeeeeeeea0001300000200050000" "0000cafef00d",
            9: "02aaaa00090000000302" "0023" "000000000001000000000002a000130000020005000000"
               "00cafef00d"})
        self.assertEqual([c["change"] for s in doc["sent"] if s["port"] == 9 for c in s["changes"]],
                         ["added"])

    def test_a_header_that_goes(self):
        text = self.good(JOURNEYS, "000000000001 000000000002 a000 0a 00 0006 00 00112233")
        self.assertIn("+ hdr.shown:", text)

    # ---- lines and colours

    def test_lines_have_the_width_and_colours_nothing_else(self):
        command = self.slot()
        words = self.good(*command).split()
        for width in (60, 77, 100, 200):
            text = self.good(*command, "--width", width)
            self.assertLessEqual(max(map(len, text.splitlines())), width)
            self.assertEqual(text.split(), words)
        coloured = self.good(*command, "--color", "always")
        self.assertIn("\033[", coloured)
        self.assertEqual(re.sub("\033\\[[0-9]*m", "", coloured), self.good(*command))

    def test_colours_of_terminals(self):
        for environment, coloured in (({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({}, False),
                                      ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
            master, terminal = pty.openpty()
            env = {k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR")} | environment
            with subprocess.Popen([f"{BUILD}/silken", "explain", L2, "--hex", FRAME], stdout=terminal, env=env) as p:
                os.close(terminal)
                said = b""
                try:
                    while part := os.read(master, 65536):
                        said += part
                except OSError: # nobody has it open any more
                    pass
            os.close(master)
            self.assertEqual(p.returncode, 0)
            self.assertIn(b"parser", said)
            self.assertEqual(b"\033[" in said, coloured, environment)

    # ---- what a packet may be

    def test_every_form_of_a_packet(self):
        frame = bytes.fromhex(FRAME)
        expected = self.good(L2, "--hex", FRAME)
        pairs = [FRAME[i:i + 2] for i in range(0, len(FRAME), 2)]
        quads = [FRAME[i:i + 4] for i in range(0, len(FRAME), 4)]
        words = {"together": [FRAME], "apart": pairs, "colons": [":".join(pairs)],
                 "0x": ["0x" + FRAME], "bytes": ["".join("\\x" + p for p in pairs)],
                 "commas": ["0x" + ", 0x".join(pairs)], "in one": [" ".join(quads)]}
        for name, form in words.items():
            with self.subTest(name):
                self.assertEqual(self.good(L2, *form), expected)
        files = {
            "raw": frame, "digits": FRAME + "\n", "lines": "\n".join(quads),
            "hexdump -C": subprocess.run(["hexdump", "-C"], input=frame, capture_output=True,
                                         check=True).stdout if shutil.which("hexdump") else frame,
            "xxd": "".join(f"{i:08x}: {' '.join(quads[i // 2:i // 2 + 8]):39}  .... 00 ........\n"
                           for i in range(0, 32, 16)),
            "tcpdump -xx": "20:15:03.1 IP 1.2.3.4 > 5.6.7.8: UDP\n" + "".join(
                f"\t0x{i:04x}:  {' '.join(quads[i // 2:i // 2 + 8])}\n" for i in range(0, 32, 16)),
            "tcpdump -XX": "".join(f"\t0x{i:04x}:  {' '.join(quads[i // 2:i // 2 + 8]):39}  ab..E.\n"
                                   for i in range(0, 32, 16)),
            "Wireshark": "".join(f"{i:04x}   {' '.join(pairs[i:i + 16])}   ......E.\n"
                                 for i in range(0, 32, 16)),
            "gzip": gzip.compress(pcap([(0, frame)])), "pcap": pcap([(0, frame)]),
            "pcapng": pcapng([(0, frame)])}
        for name, data in files.items():
            with self.subTest(name):
                path = self.file("packet", data)
                text = self.good(L2, path).replace("packet 1,", "packet,")
                self.assertEqual(text, expected)
                if name not in ("gzip", "pcap", "pcapng"):
                    with open(path, "rb") as f:
                        self.assertEqual(self.good(L2, "-", stdin=f), expected)
        self.assertEqual(self.good(L2, "--raw", self.file("packet", frame)), expected)
        # digits that are a frame's bytes: only --raw takes them for that
        digits = self.file("packet", b"0123456789abcdef")
        self.assertIn("16 bytes:", self.good(L2, "--raw", digits))
        self.assertIn("8 bytes:", self.good(L2, digits))

    def test_scapys_captures(self):
        path = self.path("scapy.pcap")
        wrpcap(path, [Ether(dst=f"02:00:00:00:00:0{i}", src="02:00:00:00:00:04")
                      / IP(src="10.0.0.4", dst="10.0.0.1") / UDP() for i in (1, 2, 3)])
        for word in (f"{path}:2",), ("--pcap", f"{path}:2"):
            text = self.good(L2, *word)
            self.assertIn("packet 2, received on port 1", text)
            self.assertIn("dst_addr 02:00:00:00:00:02", text)
        for words in (("--pcap", "-:2"), ("-:2",)):
            with open(path, "rb") as f:
                self.assertEqual(self.good(L2, *words, stdin=f), text)

    def test_lines_that_hexdump_leaves_out(self):
        text = ("00000000  02 00 00 00 00 01 02 00  00 00 00 04 08 00 45 00  |......|\n"
                "00000010  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |......|\n"
                "*\n00000040  0a 0b                                             |..|\n00000042\n")
        doc = self.document(L2, self.file("packet", text))
        self.assertEqual(doc["packet"]["bytes"],
                         "02000000000102000000000408004500" + "00" * 48 + "0a0b")

    def test_after_captures(self):
        job = sml.Job(7, [1, 2], 1, 5, 0, 16)
        a = self.file("a.pcap", pcap([(T0, job.packet(0, 3, 0, [5] * 32))]))
        config = self.file("job.json", json.dumps(sml.configuration([job])))
        packet = job.packet(1, 3, 0, [6] * 32).hex()
        doc = self.document(SWITCHML, "--config", config, "--in", f"1={a}", "--port", 2, packet)
        self.assertEqual([s["port"] for s in doc["sent"]], [1, 2])
        self.assertTrue(doc["sent"][0]["bytes"].endswith("0000000b" * 32))
        self.assertEqual(doc["packet"]["time"], T0)

    def test_a_recorded_run(self):
        job = sml.Job(7, [1, 2], 1, 5, 0, 16)
        config = self.file("job.json", json.dumps(sml.configuration([job])))
        first, second = (job.packet(w, 3, 0, [5 + w] * 32) for w in (0, 1))
        run = self.file("run.pcapng", section(["port-1", "port-2"], [
            (T0, first, 0, 1), (T0 + 5, b"sent" * 20, 0, 2), (T0 + 9, second, 1, 1)]))
        command = (SWITCHML, "--config", config)
        doc = self.document(*command, f"{run}:3") # number 3 of the file, the second that came in
        self.assertEqual((doc["packet"]["number"], doc["packet"]["port"], doc["packet"]["time"]),
                         (3, 2, T0 + 9))
        self.assertTrue(doc["sent"][1]["bytes"].endswith("0000000b" * 32))
        self.assertEqual(self.document(*command, f"{run}:3", "--alone")["sent"], [])
        self.assertEqual(self.document(*command, "--in", run, "--packet", 2)["sent"], doc["sent"])
        self.refused("packet 2 was sent, or is a note", *command, f"{run}:2")
        self.refused("there is no packet 4; the last one is 3", *command, f"{run}:4")
        # said otherwise: all came in by one port
        self.assertEqual(self.document(*command, f"{run}:3", "--port", 9)["packet"]["port"], 9)
        macs = "src-mac:02:00:00:00:00:01=1,02:00:00:00:00:02=2"
        plain = self.file("plain.pcap", pcap([(T0, first), (T0 + 9, second)]))
        doc = self.document(*command, "--map", macs, f"{plain}:2")
        self.assertEqual([s["port"] for s in doc["sent"]], [1, 2])
        self.refused("packet 2 is not given a port by the map", *command, "--map", macs[:27], f"{plain}:2")
        self.refused("--port and --map", *command, "--map", macs, f"{plain}:2", "--port", 1)
        self.refused("--map is only for captures", *command, "--map", macs, FRAME)

    def test_a_queue(self):
        capture = self.file("in.pcap", pcap([(T0, bytes.fromhex(FRAME) + bytes(1000))] * 3))
        entries = dict(FORWARD, queues=[{"port": 1, "speed": 8}]) # a byte takes a microsecond
        text = self.good(L2, *self.config(entries), "--port", 4, f"{capture}:3")
        self.assertRegex(text, "egress, port 1, 1032 bytes, [0-9]+ cells ahead, after [0-9]+ ns in the queue")
        run = self.document(L2, *self.config(entries), "--port", 4, f"{capture}:3")["way"][1]
        self.assertGreaterEqual(run["time"] - run["enq_time"], 2 * 1032 * 1000)

    def test_a_packet_that_the_capture_cut(self):
        capture = self.file("in.pcap", pcap([(T0, bytes.fromhex(FRAME), 1000)]))
        self.assertIn("32 bytes: only the beginning of 1000", self.good(L2, "--port", 4, capture))
        self.assertEqual(self.document(L2, "--port", 4, capture)["packet"]["wire_length"], 1000)

    def test_many_packets_before_it_are_not_told_of(self):
        capture = self.file("in.pcap", pcap([(T0 + i, bytes.fromhex(FRAME)) for i in range(3000)]))
        doc = self.document(L2, *self.config(FORWARD), "--port", 4, f"{capture}:3000")
        self.assertEqual((doc["packet"]["time"], len(doc["sent"])), (T0 + 2999, 1))

    # ---- what cannot be used

    def refused(self, sentence, *arguments, **options):
        done = explain(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_captures_that_are_no_files(self):
        data = pcap([(T0 + i, bytes.fromhex(FRAME)) for i in range(3)])
        text = self.good(L2, "--port", 3, f"{self.file('a.pcap', data)}:2")
        os.mkfifo(self.path("fifo"))
        feeder = threading.Thread(target=lambda: self.file("fifo", data))
        feeder.start()
        for words, sentence in (([f"{self.path('fifo')}:2"], "--port gives the port that receives its packets"),
                                (["--pcap", self.path("fifo")], "name the packet: FILE:NUMBER")):
            self.refused(f"{self.path('fifo')} is not a file, but must be read more than once; "
                         + sentence, L2, *words)
        self.assertEqual(self.good(L2, "--port", 3, f"{self.path('fifo')}:2"), text)
        feeder.join()

    def test_bad_packets(self):
        self.refused("--hex: line 1: an odd number of digits (3) in '020'; a byte has two", L2,
                     "--hex", "020")
        self.refused("'x' is not hexadecimal", L2, "--hex", "02xx")
        self.refused("--hex: it contains no bytes", L2, "--hex", "  ")
        self.refused("empty: it contains no bytes", L2, self.file("empty", b""))
        self.refused("a packet of 9217 bytes; a switch accepts at most 9216", L2,
                     self.file("long", b"\xff" * 9217))
        self.refused("a packet of more than 9216 bytes", L2, self.file("long", "ff" * 9217))
        for word in ("nothing/there", "dead/beef", "cafe.pcap", "a.pcap", "face"[:3] + ".cap"):
            self.refused(f"'{word}' is neither a file nor hexadecimal digits", L2, word)
        self.refused("cannot open nosuch.pcap: No such file", L2, "nosuch.pcap:3")
        self.refused("cannot open cap.pcap: No such file", L2, "cap.pcap:3")
        self.refused("No such file", L2, "--raw", "nothing/there")
        dump = "0000   02 00 00 00\n0008   01 02\n"
        self.refused("line 2: its offset is 0x8, but there are 0x4 bytes before it", L2,
                     self.file("dump", dump))
        self.refused("line 2: a second packet starts", L2,
                     self.file("dump", "0000   02 00 00 00\n0000   01 02\n"))
        self.refused("line 2: not a line of a dump", L2,
                     self.file("dump", "0000   02 00 00 00\nno more\n"))
        self.refused("an odd number of digits (1)", L2, self.file("dump", "0000   02 00 0\n"))

    def test_two_packets(self):
        three = self.file("three.pcap", pcap([(T0, bytes.fromhex(FRAME))] * 3))
        digits = self.file("digits", FRAME)
        for words in ([f"{three}:1", f"{three}:2"], [f"{three}:1", "no.pcap:2"], [three, f"{three}:1"],
                      ["no.pcap:1", f"{three}:1"], ["no.pcap:1", "nor.pcap:1"], [digits, digits],
                      [FRAME, f"{three}:1"], [FRAME[:8], FRAME[8:], digits]):
            self.refused(f"only one packet can be given; '{words[-1]}' is a second one", L2, *words)
        for words in ([f"{three}:1", "02"], [digits, FRAME], [f"{three}:1", "three"]):
            self.refused(f"only one packet can be given; '{words[1]}' is an extra word", L2, *words)
        # words that are digits are one packet; blanks may be in a name
        named = self.file("three and more.pcap", pcap([(T0, bytes.fromhex(FRAME))]))
        for words in ([FRAME[:12], FRAME[12:]], named.split()):
            self.assertEqual(explain(L2, *words).returncode, 0)

    def test_bad_captures(self):
        three = self.file("three.pcap", pcap([(T0, bytes.fromhex(FRAME))] * 3))
        self.refused("there is no packet 4; the last one is 3", L2, f"{three}:4")
        self.refused("there is no packet 9", L2, f"{three}:9", "--alone")
        self.refused("'0' is not the number of a packet; the first is 1", L2, f"{three}:0")
        self.refused("name one: FILE:NUMBER", L2, three)
        self.refused("it has no packet", L2, self.file("none.pcap", pcap([])))
        self.refused("link type", L2, self.file("ip.pcap", pcap([(T0, b"\x45")], link=195)))
        self.refused("ends", L2, self.file("cut.pcap", pcap([(T0, bytes(60))])[:50]) + ":1")
        self.refused("No such file", L2, "--pcap", "nothing:1")
        self.refused("the captures: there is no packet 7; the last one is 3", L2, "--in",
                     f"4={three}", "--packet", 7)
        with open(three, "rb") as f:
            self.refused("name the packet: -:NUMBER", L2, "-", stdin=f)

    def test_whole_packets_in_front_of_a_broken_end(self):
        packets = [(T0 + i, bytes.fromhex(FRAME)) for i in range(2)]
        for data, ends in ((pcap(packets)[:-len(FRAME) // 2 - 9], "a packet's header"),
                           (pcap(packets)[:-1], "a packet"), (pcapng(packets)[:-1], "a block")):
            cut = self.file("cut", data)
            for arguments in ([f"{cut}:1"], ["--in", f"4={cut}", "--packet", 1]):
                done = explain(L2, *arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.refused("ends in the middle of " + ends, L2, f"{cut}:2")

    def test_bad_words(self):
        three = self.file("three.pcap", pcap([(T0, bytes.fromhex(FRAME))] * 3))
        self.refused("'72' is not a device port", L2, "--port", 72, FRAME)
        self.refused("'512' is not a device port", L2, "--port", 512, FRAME)
        self.refused("'-1' is not a device port", L2, "--port=-1", FRAME)
        self.refused("a P4 file is missing")
        self.refused("a packet is missing", L2)
        self.refused("'--port' is given twice", L2, "--port", 1, "--port", 2, FRAME)
        self.refused("--after and --alone exclude each other", L2, f"{three}:2", "--after", 1,
                     "--alone")
        self.refused("after the packet", L2, "--hex", FRAME, FRAME)
        self.refused("--packet needs captures", L2, "--packet", 1)
        self.refused("--after and --alone are only for packets of captures", L2, FRAME, "--alone")
        self.refused("--packet NUMBER explains one", L2, f"{three}:1", "--in", f"1={three}")
        self.refused("--in gives the port already; --port is not allowed", L2, "--in", f"1={three}", "--packet", 1,
                     "--port", 3)
        self.refused("'3=' is not PORT=CAPTURE", L2, "--in", "3=", "--packet", 1)
        self.refused("--width takes 60 to 10000", L2, FRAME, "--width", 9)
        self.refused("--color takes always, never or auto", L2, FRAME, "--color", "blue")
        self.refused("no.json", L2, FRAME, "--entries", self.path("no.json"))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([f"{BUILD}/silken", "explain", L2, FRAME], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot write: No space left on device", done.stderr)


if __name__ == "__main__":
    tally.main()
