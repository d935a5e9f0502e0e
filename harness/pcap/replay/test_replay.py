#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken replay`: what it reads, what it writes, that it writes the same again, and what it says of
input that cannot be used."""
import gzip
import json
import os
import random
import shutil
import sys
import threading

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from case import L2, T0, Case, frame  # noqa: E402
from captures import explain, pcap, pcapng, read, read_ng, replay  # noqa: E402


class Replay(Case):
    # ---- what goes through

    def test_ports_times_and_drops(self):
        a = self.file("a.pcap", pcap([(T0, frame("01", 1)), (T0 + 30, frame("ff", 3))]))
        b = self.file("b.pcap", pcap([(T0 + 20, frame("02", 2)), (T0 + 40, frame("01", 4))]))
        out = self.path("out")
        for build in (["--fast"], [], ["--checked"]):
            done = self.good("--in", f"4={a}", f"5={b}", "--out", out, *build)
            self.assertEqual(done.stderr, "4 packets in, 3 out, 1 dropped\n")
            self.assertEqual(sorted(os.listdir(out)), ["drops.jsonl", "port-1.pcap", "port-2.pcap"])
            self.assertEqual(read(f"{out}/port-1.pcap"),
                             [(T0, frame("01", 1)), (T0 + 40, frame("01", 4))])
            self.assertEqual(read(f"{out}/port-2.pcap"), [(T0 + 20, frame("02", 2))])
            with open(f"{out}/drops.jsonl", encoding="utf-8") as f:
                drop = json.loads(f.read())
            self.assertEqual((drop["time"], drop["packet"], drop["received"], drop["reason"]),
                             (T0 + 30, 3, 4, "drop_ctl in ingress"))
            self.assertEqual("table" in drop, build != ["--fast"])
        self.assertTrue(drop["table"].endswith(".forward") and drop["action"].endswith("drop"))
        self.assertIn("l2.p4:", drop["at"])

    def test_places_of_drops(self):
        """Every one has its place: in an action of a table that is not the last one, by a statement, in the
        parser; also where nothing can be read or written twice."""
        packets = [bytes([kind]) + bytes(19) for kind in (1, 2, 3, 4, 5)] + [bytes([6] * 14)]
        a, out = self.file("a.pcap", pcap([(T0, b) for b in packets])), self.path("drops")
        words = ["harness/pcap/replay/places.p4", "--in"]
        with open("harness/pcap/replay/places.p4", encoding="utf-8") as f:
            lines = f.read().splitlines()
        wanted = []
        for packet, mark in ((1, "of the table"), (2, "of an action"), (3, "of a statement"), (6, "of the parser")):
            line = next(i for i, text in enumerate(lines, 1) if f"// {mark}" in text)
            wanted.append((packet, f"harness/pcap/replay/places.p4:{line}:"))
        for more in ([], ["--checked"], ["--threads", "4"], ["--limit", "6"]):
            done = replay(*words, f"4={a}", "--drops", out, *more)
            self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (0, "6 packets in, 2 out, 4 dropped"))
            with open(out, encoding="utf-8") as f:
                text = f.read()
            drops = [json.loads(line) for line in text.splitlines()]
            self.assertEqual([(d["packet"], d["at"][:len(at)]) for d, (_, at) in zip(drops, wanted)], wanted)
            self.assertEqual([{k: d[k] for k in ("table", "action", "state") if k in d} for d in drops],
                             [{"table": "pipe.Ingress.first", "action": "pipe.Ingress.refuse"},
                              {}, {}, {"state": "IngressParser.long"}])
        with open(a, "rb") as f:
            done = replay(*words, "4=-", "--drops", "/dev/stdout", stdin=f)
        self.assertEqual((done.returncode, done.stdout), (0, text))
        # what is in front of a place that cannot be read
        cut = self.file("cut.pcap", pcap([(T0, b) for b in packets])[:-3])
        done = replay(*words, f"4={cut}", "--drops", out)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        with open(out, encoding="utf-8") as f:
            self.assertEqual(f.read(), "".join(text.splitlines(True)[:3]))
        done = replay(*words, f"4={a}", "--drops", out, "--fast")
        with open(out, encoding="utf-8") as f:
            self.assertFalse(any("at" in json.loads(line) for line in f))

    def test_one_file_a_port(self):
        a = self.file("a.pcap", pcap([(T0, frame("01")), (T0, frame("02"))]))
        self.good("--in", f"4={a}", "--out", f"2={self.path('2.pcap')}", "--drops",
                  self.path("drops"))
        self.assertEqual(read(self.path("2.pcap")), [(T0, frame("02"))])
        self.assertEqual(os.path.getsize(self.path("drops")), 0)

    def test_every_kind_of_file_gives_the_same(self):
        packets = [(T0 // 1000 * 1000 + i * 7000, frame("01", i)) for i in range(50)]
        for name, data in {
                "nano": pcap(packets), "micro": pcap(packets, nano=False),
                "swapped": pcap(packets, order=">"), "next generation": pcapng(packets),
                "gzip": gzip.compress(pcap(packets)),
                "gzip of the next": gzip.compress(pcapng(packets))}.items():
            with self.subTest(name):
                self.good("--in", f"4={self.file('in', data)}", "--out",
                          f"1={self.path('1.pcap')}")
                self.assertEqual(read(self.path("1.pcap")), packets)

    def test_pcapng_is_written_when_asked_for(self):
        a = self.file("a.pcap", pcap([(T0, frame("01", 1)), (T0 + 30, frame("02", 2))]))
        self.good("--in", f"4={a}", "--out", f"1={self.path('1.pcapng')}", f"2={self.path('2')}")
        self.good("--in", f"4={a}", "--out", f"2={self.path('2ng')}", "--format", "pcapng")
        self.good("--in", f"4={a}", "--out", f"2={self.path('2.pcapng')}", "--format", "pcap")
        for name, port, time in (("1.pcapng", 1, T0), ("2ng", 2, T0 + 30)):
            sent = frame(f"0{port}", port)
            self.assertEqual(read_ng(self.path(name)),
                             ([(port, time, "out", sent, len(sent), "", 0, 0)], {}))
        self.assertEqual(read(self.path("2")), [(T0 + 30, frame("02", 2))])
        self.assertEqual(read(self.path("2.pcapng")), [(T0 + 30, frame("02", 2))])
        # a folder: what a run of the other form left goes, and golden captures can be of it
        out = self.path("out")
        self.good("--in", f"4={a}", "--out", out)
        self.good("--in", f"4={a}", "--out", out, "--format", "pcapng")
        self.assertEqual(sorted(os.listdir(out)), ["drops.jsonl", "port-1.pcapng", "port-2.pcapng"])
        self.good("--in", f"4={a}", "--expect", out)
        shutil.copy(self.path("2"), f"{out}/port-2.pcap")
        self.refused("there are a pcap and a pcapng", "--in", f"4={a}", "--expect", out)
        self.refused("--format takes pcap or pcapng", "--in", f"4={a}", "--format", "cap")

    def test_the_same_again(self):
        packets = [(T0 + i * 100, frame(("01", "02", "ff", "77")[i * 7 % 4], i % 250))
                   for i in range(400)]
        a = self.file("a.pcap", pcap(packets[::2]))
        b = self.file("b.pcap", pcap(packets[1::2]))
        seen = set()
        for i, build in enumerate(([], [], ["--checked"], ["--checked"])):
            out = self.path(f"out{i}")
            self.good("--in", f"4={a}", f"132={b}", "--out", out, *build)
            outputs = []
            for name in sorted(os.listdir(out)):
                if name.endswith(".pcap"):
                    with open(f"{out}/{name}", "rb") as f:
                        outputs.append((name, f.read()))
            seen.add(tuple(outputs))
        self.assertEqual(len(seen), 1)

    def test_limit_of_an_endless_fifo(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        record = pcap([(T0, frame("01"))])[24:]

        def feed():
            try:
                with open(fifo, "wb") as f:
                    f.write(pcap([]))
                    while True:
                        f.write(record)
            except BrokenPipeError:
                pass

        feeder = threading.Thread(target=feed)
        feeder.start()
        done = self.good("--in", f"4={fifo}", "--limit", 1000)
        feeder.join()
        self.assertEqual(done.stderr, "1000 packets in, 1000 out, 0 dropped\n")

    def test_what_an_earlier_run_left_goes(self):
        os.mkdir(self.path("out"))
        self.file("out/port-9.pcap", b"old")
        a = self.file("a.pcap", pcap([(T0, frame("01"))]))
        self.good("--in", f"4={a}", "--out", self.path("out"))
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["drops.jsonl", "port-1.pcap"])

    # ---- golden captures

    def goldens(self):
        a = self.file("a.pcap", pcap([(T0 + i, frame(("01", "02")[i % 2], i)) for i in range(20)]))
        gold = self.path("gold")
        self.good("--in", f"4={a}", "--expect", gold, "--update")
        return a, gold

    def differs(self, *arguments):
        done = self.play(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        return done.stderr

    def test_equal_to_golden(self):
        a, gold = self.goldens()
        for build in ([], ["--fast"]):
            self.good("--in", f"4={a}", "--expect", gold, *build)
        # times are not compared, other ports only with a folder
        self.file("1.pcap", pcap([(5, p) for _, p in read(f"{gold}/port-1.pcap")]))
        self.good("--in", f"4={a}", "--expect", f"1={self.path('1.pcap')}")

    def test_a_field_that_differs(self):
        a, gold = self.goldens()
        packets = read(f"{gold}/port-1.pcap")
        time, data = packets[3]
        packets[3] = (time, data[:6] + bytes.fromhex("020000000063") + data[12:])
        self.file("gold/port-1.pcap", pcap(packets))
        said = self.differs("--in", f"4={a}", "--expect", gold)
        self.assertIn("port 1, packet 4: differs from", said)
        rows = [line.split() for line in said.splitlines() if line.startswith("* ")]
        self.assertEqual(len(rows), 1, said)
        self.assertTrue(rows[0][1].endswith("ethernet.src_addr"), said)
        self.assertEqual(rows[0][2:], ["0x20000000004", "0x20000000063"])
        self.assertIn("1 packet differs\n", said)
        self.good("--in", f"4={a}", "--expect", gold, "--ignore", "ethernet.src_addr")
        said = self.differs("--in", f"4={a}", "--expect", gold, "--ignore", "ethernet.none")
        self.assertIn("no packet that was compared has a field 'ethernet.none'", said)
        self.assertIn("at byte 11;", self.differs("--in", f"4={a}", "--expect", gold, "--fast"))

    def test_the_way_of_a_packet_that_differs(self):
        a, gold = self.goldens()
        packets = read(f"{gold}/port-1.pcap")
        for i in (3, 6):
            packets[i] = (T0, b"\x77" + packets[i][1][1:])
        self.file("gold/port-1.pcap", pcap(packets + packets[:1]))
        said = self.differs("--in", f"4={a}", "--expect", gold)
        trace = self.play("--in", f"4={a}", "--trace").stdout
        ways = [part.split("\n\n")[0] + "\n" for part in said.split("  its way:\n")[1:]]
        self.assertEqual(len(ways), 2, said)
        for way, serial in zip(ways, (7, 13)):
            self.assertIn(way, trace)
            self.assertTrue(way.startswith(f"packet {serial} received on port 4 at"), way)
            self.assertIn("table pipe.Ingress.forward", way)
            self.assertIn(f"packet {serial} sent on port 1", way)
            self.assertEqual(way.count("received"), 1)
        self.assertLess(said.index("packet 4: differs"), said.index("packet 7 received"))
        self.assertLess(said.index("packet 7 sent"), said.index("packet 7: differs"))
        self.assertEqual(said.count("packets in,"), 1)
        said = self.differs("--in", f"4={a}", "--expect", gold, "--show", 1)
        self.assertEqual((said.count("differs from"), said.count("its way")), (1, 1), said)
        self.assertIn("3 packets differ\n", said)
        # packets that are not golden have a way too
        os.remove(f"{gold}/port-1.pcap")
        self.assertEqual(self.differs("--in", f"4={a}", "--expect", gold).count("its way"), 5)

    def test_the_way_takes_a_second_reading(self):
        a, gold = self.goldens()
        packets = read(f"{gold}/port-1.pcap")
        self.file("gold/port-1.pcap", pcap(packets[1:]))
        with open(a, "rb") as f:
            done = replay(L2, "--entries", self.entries, "--in", "4=-", "--expect", gold, stdin=f)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the captures cannot be read again\n", done.stderr)
        self.assertIn("port 1, packet 1: sent, but not golden: 62 bytes\n", done.stderr)
        self.assertIn("1 packet differs\n", done.stderr)

    def test_headers_that_egress_left_in_place(self):
        sent = bytes(range(20))
        a = self.file("a.pcap", pcap([(T0, sent)]))
        gold = self.file("1.pcap", pcap([(T0, b"\xab\xcd\x00\x02\x02\x04" + sent[4:])]))
        command = ["harness/pcap/replay/layout.p4", "--in", f"4={a}", "--expect", f"1={gold}"]
        done = replay(*command)
        self.assertEqual(done.returncode, 1, done.stderr)
        rows = [line.split() for line in done.stderr.splitlines() if line.startswith("* ")]
        self.assertEqual(rows, [["*", "hdr.a.y", "0x1", "0x2"], ["*", "hdr.b.z", "0x203", "0x204"]])
        self.assertEqual(replay(*command, "--ignore", "a.y").returncode, 1)
        self.assertEqual(replay(*command, "--ignore", "a.y,b.z").returncode, 0)

    def test_headers_of_earlier_passes(self):
        a = self.file("a.pcap", pcap([(T0, bytes([7]) + bytes(range(19)))]))
        sent = bytes.fromhex("0002 0001 08 000102") + bytes(range(3, 19))
        command = ["harness/pcap/replay/passes.p4", "--in", f"4={a}", "--expect"]
        done = replay(*command, f"1={self.file('good.pcap', pcap([(T0, sent)]))}")
        self.assertEqual(done.returncode, 0, done.stderr)
        gold = self.file("1.pcap", pcap([(T0, bytes.fromhex("0003 0005 09 000103") + sent[8:-1] + b"x")]))
        command.append(f"1={gold}")
        done = replay(*command)
        self.assertEqual(done.returncode, 1, done.stderr)
        rows = [line.split(None, 4)[1:] for line in done.stderr.splitlines() if line.startswith("* ")]
        self.assertEqual(rows, [["hdr.b.z", "0x2", "0x3", "(byte 0)"], ["hdr.b.z", "0x1", "0x5", "(byte 2)"],
                                ["hdr.a.x", "0x8", "0x9"], ["hdr.a.y", "0x102", "0x103"]])
        self.assertIn("sent   from byte 23: 12\n  golden from byte 23: 78\n", done.stderr)
        for ignored, status in (("b.z,a", 1), ("hdr.b.z,a.x", 1), ("a.x,a.y", 1), ("b.z,a.x,hdr.a.y", 1)):
            done = replay(*command, "--ignore", ignored)
            self.assertEqual(done.returncode, status, ignored)
        # all but the last byte
        self.assertNotIn("has a field", done.stderr)
        self.file("1.pcap", pcap([(T0, bytes.fromhex("0003 0005 09 000103") + sent[8:])]))
        self.assertEqual(replay(*command, "--ignore", "b.z,a.x,hdr.a.y").returncode, 0)
        self.assertEqual(replay(*command, "--ignore", "b.z,a.x").returncode, 1)
        # cut in the middle of what the first pass emitted
        self.file("1.pcap", pcap([(T0, sent[:6])]))
        done = replay(*command)
        self.assertIn("* hdr.a.y", done.stderr)
        self.assertIn("0x102                  -", done.stderr)

    def test_a_payload_that_differs(self):
        a, gold = self.goldens()
        packets = read(f"{gold}/port-1.pcap")
        packets[0] = (T0, packets[0][1][:-1] + b"\x77")
        self.file("gold/port-1.pcap", pcap(packets))
        said = self.differs("--in", f"4={a}", "--expect", gold)
        self.assertIn("sent   from byte 61: 00\n  golden from byte 61: 77\n", said)
        # also when a field in front of it does, too
        data = packets[0][1]
        packets[0] = (T0, data[:6] + bytes.fromhex("020000000063") + data[12:])
        self.file("gold/port-1.pcap", pcap(packets))
        said = self.differs("--in", f"4={a}", "--expect", gold)
        self.assertEqual(sum(line.startswith("* ") for line in said.splitlines()), 1, said)
        self.assertIn("sent   from byte 61: 00\n  golden from byte 61: 77\n", said)

    def test_long_fields_that_differ(self):
        data = bytes([0x21]) + bytes(range(16)) + bytes(128) + b"rest"
        a = self.file("long.pcap", pcap([(T0, data)]))
        for at, row in ((16, ["hdr.l.address", "0x000102030405060708090a0b0c0d0e0f",
                              "0x000102030405060708090a0b0c0d0eff"]),
                        # from the digit on that differs, and no more than fits
                        (140, ["hdr.l.very_long", "0x...0000000000", "0x...ff00000000"]),
                        (20, ["hdr.l.very_long", "0x..." + "0" * 128 + "...", "0x...ff" + "0" * 126 + "..."])):
            gold = self.file("long-gold.pcap", pcap([(T0, data[:at] + b"\xff" + data[at + 1:])]))
            done = replay("harness/pcap/replay/long.p4", "--in", f"4={a}", "--expect", f"1={gold}")
            self.assertEqual(done.returncode, 1, done.stderr)
            rows = [line.split()[1:] for line in done.stderr.splitlines() if line.startswith("* ")]
            self.assertEqual(rows, [row])

    def test_more_and_fewer_packets(self):
        a, gold = self.goldens()
        packets = read(f"{gold}/port-1.pcap")
        self.file("gold/port-1.pcap", pcap(packets + packets[:2]))
        self.assertIn("port 1: 2 golden packets were not sent, the first is number 11",
                      self.differs("--in", f"4={a}", "--expect", gold))
        self.file("gold/port-1.pcap", pcap(packets[:-1]))
        self.assertIn("port 1, packet 10: sent, but not golden: 62 bytes",
                      self.differs("--in", f"4={a}", "--expect", gold))
        os.remove(f"{gold}/port-1.pcap")
        self.assertIn("10 packets differ\n", self.differs("--in", f"4={a}", "--expect", gold))

    def rows(self, said, mark="  "):
        return [line.split() for line in said.splitlines() if line.startswith(mark + "hdr.")]

    def test_a_packet_that_is_not_sent_any_more(self):
        a, gold = self.goldens()
        packets = [list(p) for p in read(a)]
        packets[8] = (packets[8][0], frame("ff", 8)) # which is dropped; the fifth for port 1
        self.file("b.pcap", pcap(packets))
        for threads in (1, 4):
            said = self.differs("--in", f"4={self.path('b.pcap')}", "--expect", gold, "--threads", threads)
            self.assertIn(f"port 1: packet 5 of {gold}/port-1.pcap was not sent: 62 bytes\n", said)
            self.assertIn("with the fields of packet 5, which was:\n", said)
            self.assertIn(["hdr.ethernet.src_addr", "-", "0x20000000004"], self.rows(said))
            self.assertIn("  golden from byte 14: 45 00", said)
            self.assertIn("  packets dropped there (not necessarily the cause):\npacket 9 received on port 4", said)
            self.assertIn("drop_ctl in ingress", said)
            self.assertEqual((said.count("was not sent"), said.count("differs from")), (1, 0), said)
            self.assertIn("\n1 packet differs\n", said)
        said = self.differs("--in", f"4={self.path('b.pcap')}", "--expect", gold, "--fast")
        self.assertIn("port-1.pcap was not sent: 62 bytes\n  golden from byte 0: 02 00", said)
        self.assertIn("1 packet differs\n", said)
        # it went somewhere else: nothing was dropped
        packets[8] = (packets[8][0], frame("02", 8))
        self.file("b.pcap", pcap(packets))
        said = self.differs("--in", f"4={self.path('b.pcap')}", "--expect", gold)
        self.assertIn("no packet is known to be dropped there\n", said)
        self.assertIn("port 2, packet 5: sent, but not golden: 62 bytes\n", said)
        self.assertIn(["hdr.ethernet.dst_addr", "0x20000000002", "-"], self.rows(said))
        self.assertIn("packet 9 sent on port 2", said)
        self.assertIn("2 packets differ\n", said)

    def test_nothing_is_sent_any_more(self):
        a, gold = self.goldens()
        self.file("b.pcap", pcap([(t, b"\x02\0\0\0\0\xff" + b[6:]) for t, b in read(a)]))
        said = self.differs("--in", f"4={self.path('b.pcap')}", "--expect", gold)
        for port in (1, 2):
            self.assertIn(f"port {port}: packet 1 of {gold}/port-{port}.pcap was not sent", said)
            self.assertIn(f"port {port}: 10 golden packets were not sent, the first is number 1 of", said)
        self.assertEqual(said.count("packets dropped there (not necessarily the cause):\npacket 1 received on port 4"), 2, said)
        self.assertIn("20 packets differ\n", said)

    def test_packets_that_changed_places(self):
        a, gold = self.goldens()
        packets = read(f"{gold}/port-1.pcap")
        packets[3], packets[4] = packets[4], packets[3]
        self.file("gold/port-1.pcap", pcap(packets))
        said = self.differs("--in", f"4={a}", "--expect", gold)
        self.assertIn("port 1, packet 4: differs from", said)
        self.assertIn("port 1, packet 5: differs from", said)
        self.assertIn("2 packets differ\n", said)

    def test_fields_that_are_ignored_behind_a_gap(self):
        a, gold = self.goldens()
        packets = read(f"{gold}/port-1.pcap")
        del packets[2]
        packets = [(t, b[:6] + bytes([2, 0, 0, 0, 1, i]) + b[12:]) for i, (t, b) in enumerate(packets)]
        self.file("gold/port-1.pcap", pcap(packets))
        said = self.differs("--in", f"4={a}", "--expect", gold, "--ignore", "src_addr")
        self.assertIn("port 1, packet 3: sent, but not golden", said)
        self.assertIn("1 packet differs\n", said)

    def test_a_gap_that_is_too_long(self):
        a = self.file("a.pcap", pcap([(T0 + i, frame("01", i)) for i in range(200)]))
        gold = self.path("gold")
        self.good("--in", f"4={a}", "--expect", gold, "--update")
        packets = read(a)
        for missing, differ in ((64 - 2, 62), (100, 200 - 10)):
            self.file("b.pcap", pcap(packets[:10] + packets[10 + missing:]))
            said = self.differs("--in", f"4={self.path('b.pcap')}", "--expect", gold)
            self.assertIn(f"{differ} packets differ\n", said)

    def test_golden_that_cannot_be_used(self):
        a, gold = self.goldens()
        self.file("gold/port-1.pcap", b"")
        self.refused("it is empty", "--in", f"4={a}", "--expect", gold)
        self.refused("cannot read the folder", "--in", f"4={a}", "--expect", self.path("none"))
        for mode in (0o644, 0o755):
            os.chmod(a, mode)
            self.refused(f"{a} is not a folder", "--in", f"4={a}", "--expect", a)
            self.refused(f"{a} is not a folder", "--in", f"4={a}", "--expect", a, "--update")
            self.refused(f"{a} is not a folder", "--in", f"4={a}", "--out", a)
        self.refused("--update needs --expect", "--in", f"4={a}", "--update")
        self.refused("--update with --limit", "--in", f"4={a}", "--expect", gold, "--update", "--limit", "1")
        self.refused("does not report fields", "--in", f"4={a}", "--expect", gold, "--fast",
                     "--ignore", "x.y")

    # ---- what is odd is counted

    def test_cut_packets_are_reported(self):
        whole = frame("01")
        a = self.file("a.pcap", pcap([(T0, whole), (T0, whole[:40], len(whole)),
                                      (T0, whole[:30], len(whole))]))
        done = self.good("--in", f"4={a}", "--out", f"1={self.path('1.pcap')}")
        self.assertIn(f"{a}: 2 packets are cut by the capture, the first is number 2\n",
                      done.stderr)
        self.assertEqual([len(p) for _, p in read(self.path("1.pcap"))], [len(whole), 40, 30])

    def test_times_that_go_back_are_reported(self):
        a = self.file("a.pcap", pcap([(T0, frame("01")), (T0 - 5, frame("01")),
                                      (T0 + 5, frame("01"))]))
        done = self.good("--in", f"4={a}", "--out", f"1={self.path('1.pcap')}")
        self.assertIn(f"{a}: 1 packet is older than the one before, the first is number 2",
                      done.stderr)
        self.assertEqual([t for t, _ in read(self.path("1.pcap"))], [T0, T0, T0 + 5])

    def test_no_packets(self):
        a = self.file("a.pcap", pcap([]))
        done = self.good("--in", f"4={a}", "--out", f"1={self.path('1.pcap')}")
        self.assertEqual(done.stderr, "0 packets in, 0 out, 0 dropped\n")
        self.assertEqual(read(self.path("1.pcap")), [])

    def test_too_long_and_too_short(self):
        a = self.file("a.pcap", pcap([(T0, bytes(10)), (T0, bytes(20000))]))
        self.good("--in", f"4={a}", "--drops", self.path("drops"))
        with open(self.path("drops"), encoding="utf-8") as f:
            reasons = [json.loads(line)["reason"] for line in f]
        self.assertEqual(reasons, ["shorter than an Ethernet header",
                                   "longer than a packet buffer or its port allows"])

    # ---- what cannot be used

    def test_bad_captures(self):
        good = pcap([(T0, frame("01"))])
        huge = good[:24 + 8] + b"\xff\xff\xff\x7f" + good[24 + 12:]
        noise = random.Random(1)
        compressed = gzip.compress(pcap([(T0, noise.randbytes(1000)) for _ in range(50)]))
        for name, data, sentence in (
                ("empty", b"", "it is empty, not a capture"),
                ("short head", good[:20], "the file ends in the middle of its header"),
                ("no capture", b"# not a capture, but a text of some length\n", "it is not a capture"),
                ("ends in a packet", good[:-5], "after 0 packets, at byte 24: the file ends in the middle of a packet"),
                ("huge packet", huge, "after 0 packets, at byte 24: a packet of 2147483647 bytes"),
                ("USB", pcap([], link=220), "its link type is USB_LINUX_MMAPPED (220)"),
                ("Zigbee", pcap([], link=195), "in which Silken finds neither Ethernet nor IP; if these are there after N bytes, "
                 "'editcap -C N -T ether'"),
                ("time", good[:28] + b"\xff\xff\xff\xff" + good[32:], "is invalid"),
                ("two files by cat", good + good, f"after 1 packets, at byte {len(good)}: another pcap starts here"),
                ("two orders", good + pcap([(T0, frame("01"))], order=">"), "another pcap starts here"),
                ("short gzip", compressed[:-3000], "the compressed file ends too early"),
                ("corrupt gzip", compressed[:2000] + bytes(1000) + compressed[3000:],
                 "the compressed file is corrupt: "),
        ):
            with self.subTest(name):
                path = self.file("bad", data)
                done = self.refused(sentence, "--in", f"4={path}", "--out", self.path("out"))
                self.assertIn(f"silken replay: {path}: ", done.stderr)

    def test_huge_snaplen_is_no_matter(self):
        a = self.file("a.pcap", pcap([(T0, frame("01"))], snaplen=0xFFFFFFFF))
        self.good("--in", f"4={a}", "--out", f"1={self.path('1.pcap')}")
        self.assertEqual(len(read(self.path("1.pcap"))), 1)

    def test_said_twice(self):
        for name in ("limit", "threads", "show", "map", "speed", "entries", "config", "drops",
                     "dump-state", "expect-state", "crossing"):
            once = (f"--{name}", "real" if name == "speed" else 2)
            self.refused(f"'--{name}' is given twice", *once, *once)
        self.refused("only one folder can be given; 'b' is a second one", "--out", "a", "--out", "b")
        self.refused("--drops takes a file, not '-'", "--drops", "-")

    def test_missing_and_unreadable(self):
        self.refused("No such file", "--in", f"4={self.path('none')}")
        self.refused(self.dir, "--in", f"4={self.dir}")

    def test_full_disk(self):
        a = self.file("a.pcap", pcap([(T0, frame("ff" if i % 2 else "01")) for i in range(9000)]))
        done = self.refused("cannot write /dev/full: No space left on device", "--in", f"4={a}",
                            "--out", "1=/dev/full")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.refused("cannot write /dev/full: No space left on device", "--in", f"4={a}",
                     "--drops", "/dev/full")

    def test_inputs_are_not_overwritten(self):
        os.mkdir(self.path("out"))
        a = self.file("out/port-1.pcap", pcap([(T0, frame("01"))]))
        self.refused("it would be overwritten", "--in", f"1={a}", "--out", self.path("out"))
        self.refused("it would be overwritten", "--in", f"1={a}", "--out", f"2={a}")
        self.assertEqual(len(read(a)), 1)

    def test_command_line(self):
        a = self.file("a.pcap", pcap([]))
        self.refused("a capture is missing")
        self.refused("x: No such file", "--in", "x")
        self.refused("--map needs a capture without a port", "--in", f"1={a}", "--map", "vlan:1=1")
        self.refused("does not start with a device port", "--in", f"100={a}")
        self.refused("a second file", "--in", f"1={a}", "--out", "1=x", "1=y")
        self.refused("--limit takes a number", "--in", f"1={a}", "--limit", "0")
        for option in ("--out", "--expect", "--in"):
            self.refused("'1=' is not PORT=FILE", "--in", f"1={a}", option, "1=")
        self.refused("unexpected argument 'more' after the program", "--in", f"1={a}", "--", "more")
        self.refused("'2=' is not PORT=FILE", "--in", f"1={a}", "2=")
        self.refused("--ignore needs --expect", "--in", f"1={a}", "--ignore", "x")
        self.refused("standard input ('-') is read once, not 2 times", "--in", "4=-", "5=-")
        self.refused("standard input ('-') is read once", "--in", "4=-", "--expect", "1=-")
        self.refused("'1=-': a capture must be written to a file", "--in", f"1={a}", "--out", "1=-")
        self.refused("--out takes a folder or PORT=FILE, not '-'", "--in", f"1={a}", "--out", "-")
        self.refused("--update writes golden captures to files", "--in", f"1={a}", "--expect", "1=-", "--update")
        for word in (f"-1={a}", f"={a}", f"0x1={a}", "x=y"):
            self.refused(f"'{word}' is not PORT=FILE", "--in", word)
            self.refused(f"'{word}' is not PORT=FILE", "--in", f"1={a}", "--out", word)
        for option in ("--in", "--out", "--drops", "--expect", "--ignore", "--dump-state", "--map"):
            self.refused(f"{option} has an empty argument", "--in", f"1={a}", option, "")
        for names in (",", "x,,", ",x", "x,,y", "x,"):
            self.refused(f"a name in '{names}' is empty", "--in", f"1={a}", "--expect", f"1={a}", "--ignore", names)
        self.refused("it is not a file, and more than 64 MiB could be read from it", "--in", f"1={a}",
                     "--expect-state", "/dev/full")
        done = replay(a, "--in", f"1={a}")
        self.assertEqual((done.returncode, done.stderr), (2, f"silken: error: '{a}' is not a P4 program: it is not text\n"))
        self.entries = self.file("bad.json", b'{"entries": [{"table": "none"}]}')
        self.refused("bad.json:1", "--in", f"1={a}")

    def test_packets_without_ethernet(self):
        """Of a tunnel, and of all interfaces of a machine: what is sent has a header of Ethernet."""
        ip = frame("01", 7)[14:]
        entries = {"entries": [{"table": "forward", "key": {"dst_addr": "00:00:00:00:00:00"}, "action": "send",
                                "args": {"port": 1}}]}
        self.entries = self.file("zero.json", json.dumps(entries))
        address = bytes.fromhex("020000000009")
        for link, head, source in ((101, b"", bytes(6)), (113, b"\0\0\0\1\0\6" + address + b"\0\0\x08\0", address)):
            a = self.file("a.pcap", pcap([(T0, head + ip), (T0 + 5, head + ip)], link=link))
            for build in (["--fast"], ["--checked"]):
                done = self.good("--in", f"4={a}", "--out", self.path("out"), *build)
                self.assertEqual(done.stderr, "2 packets in, 2 out, 0 dropped\n")
                sent = bytes(6) + source + b"\x08\0" + ip
                self.assertEqual(read(self.path("out") + "/port-1.pcap"), [(T0, sent), (T0 + 5, sent)])


if __name__ == "__main__":
    tally.main()
