#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken replay --threads`: random packets through four pipes that copy, mirror, recirculate and
generate; the same bytes in captures, drops and state whatever the number of threads."""
import filecmp
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from captures import BUILD, NS, pcap, read, replay  # noqa: E402
from folder import FolderCase  # noqa: E402

PROGRAM = "harness/pcap/replay/crossing.p4"
T0 = 1_700_000_000 * NS
PACKETS = 1500 if os.environ.get("QUICK") else 6000
RECEIVES = (1, 129, 257, 385)  # one port of each pipe
SLOW = (5, 133, 261, 389)


def order(forward=0, copies=0, mirror=0, egress_mirror=0, drop=0, egress_drop=0, bypass=0, twice=0,
          port=0, then=0, group=0, session=0, pad=0):
    bits = 0
    for bit in (forward, copies, mirror, egress_mirror, drop, egress_drop, bypass, twice):
        bits = bits << 1 | bit
    return (bytes.fromhex("020000000001 020000000002 9000")
            + struct.pack(">BHHHHII6x6xI", bits, port, then, group, session, 0, 0, 0) + bytes(pad))


def wishes(rand, pipe, crosses):
    """A packet that is received in the pipe."""
    def somewhere():
        of = rand.randrange(4) if crosses else pipe
        return of << 7 | rand.choice((2, 3, 5, 68))
    one = rand.random
    return order(forward=one() < 0.8, copies=one() < 0.2, mirror=one() < 0.2,
                 egress_mirror=one() < 0.1, drop=one() < 0.1, egress_drop=one() < 0.1,
                 bypass=one() < 0.1, twice=one() < 0.1, port=somewhere(),
                 then=rand.choice((somewhere() & ~64, 600)),
                 group=rand.choice((1 + pipe, 1 + pipe, 9 if crosses else 77)),
                 session=rand.choice((1 + pipe, 10 + pipe if crosses else 5)),
                 pad=rand.randrange(0, 200))


def config(rand, crosses, speeds, generates, loops=False):
    c = {"multicast": {
        "nodes": [{"id": p, "rid": p, "ports": [p << 7 | 2, p << 7 | 5]} for p in range(4)],
        "groups": [{"id": 1 + p, "nodes": [p]} for p in range(4)]
        + [{"id": 9, "nodes": [0, 1, 2, 3]}]},
        "mirror": [{"id": 1 + p, "direction": "both", "port": p << 7 | 3, "max": 60}
                   for p in range(4)]
        + [{"id": 10 + p, "direction": "both", "port": ((p + 1) % 4) << 7 | 3, "mcast_a": 9}
           for p in range(4)]}
    if speeds:
        c["queues"] = [{"port": p, "speed": rand.choice((1000, 10000)), "green": 200}
                       for p in SLOW]
    if generates:
        data = [order(forward=1, port=p << 7 | rand.choice((2, 5)), copies=crosses, group=9)
                for p in range(4)]
        c["pktgen_buffers"] = [{"pipe": p, "offset": 0, "bytes": data[p].hex()} for p in range(4)]
        c["pktgen"] = [{"pipe": p, "app": 1, "trigger": "periodic", "length": len(data[p]),
                        "offset": 0, "timer": 700 + 13 * p, "batches": 1, "packets": 2,
                        "source": 70} for p in range(4)]
    return c


class Threads(FolderCase):
    def inputs(self, rand, crosses, gap=20, n=PACKETS):
        """Words for --in: of each pipe a capture; some packets of different pipes have one time."""
        received, now = {port: [] for port in RECEIVES}, T0
        for _ in range(n):
            now += rand.choice((0, 0, rand.randrange(2 * gap), rand.randrange(2 * gap)))
            if rand.random() < 0.002:
                now += 100 * gap
            pipe = rand.randrange(4)
            received[RECEIVES[pipe]].append((now, wishes(rand, pipe, crosses)))
        return [f"{port}=" + self.file(f"in-{port}.pcap", pcap(packets))
                for port, packets in received.items()]

    def play(self, out, *words, status=0, golden=False):
        done = replay(PROGRAM, *words, *(["--update", "--expect"] if golden else ["--out"]),
                      self.path(out), "--dump-state", self.path(out) + ".json")
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def assert_same(self, a, b):
        a, b = self.path(a), self.path(b)
        names = sorted(os.listdir(a))
        self.assertEqual(names, sorted(os.listdir(b)))
        for name in names:
            self.assertTrue(filecmp.cmp(f"{a}/{name}", f"{b}/{name}", shallow=False),
                            f"{name} of {a} and of {b} differ")
        self.assertTrue(filecmp.cmp(a + ".json", b + ".json", shallow=False), "the state differs")

    def check(self, seed, crosses, speeds=False, generates=False, crossing=0,
              builds=((), ("--checked",)), alone=None):
        rand = random.Random(seed)
        words = ["--in", *self.inputs(rand, crosses)]
        words += ["--entries", self.file("entries.json", json.dumps(
            config(rand, crosses, speeds, generates)).encode())]
        if crossing:
            words += ["--crossing", str(crossing)]
        for build in builds:
            name = "-".join(("out", *build))
            self.play(name, *words, *build)
            sent = sum(len(read(f"{self.path(name)}/{f}")) for f in os.listdir(self.path(name))
                       if f.endswith(".pcap"))
            self.assertGreater(sent, PACKETS / 3)
            for n in (1, 2, 4, 4):
                said = self.play(f"{name}-{n}", *words, *build, "--threads", str(n))
                self.assert_same(name, f"{name}-{n}")
                if alone is not None and n > 1:
                    self.assertEqual("on one thread" not in said, alone, said)
        self.same_bytes_of_builds(builds)

    def same_bytes_of_builds(self, builds):
        if len(builds) == 2:
            for f in os.listdir(self.path("out")):
                if f.endswith(".pcap"):
                    self.assertTrue(filecmp.cmp(self.path("out/" + f),
                                                self.path("out---checked/" + f), shallow=False), f)

    def test_pipes_that_do_not_meet(self):
        self.check(1, crosses=False, alone=True)

    def test_golden_captures_of_pipes_at_the_same_time(self):
        words = ["--in", *self.inputs(random.Random(9), crosses=False), "--entries",
                 self.file("entries.json", json.dumps(config(random.Random(9), False, False, False)))]
        self.play("out", *words)
        os.remove(self.path("out/drops.jsonl"))
        for n in (1, 4, 4, 4):
            self.play(f"gold-{n}", *words, "--threads", str(n), golden=True)
            self.assert_same("out", f"gold-{n}")
            shutil.rmtree(self.path(f"gold-{n}"))

    def test_what_is_read_on_the_way_is_written_once(self):
        # the first packet stays in its pipe, the second goes to another one
        a, b = (self.file(f"{port}.pcap", pcap([(T0 + port, order(forward=1, port=2))]))
                for port in (1, 129))
        words = [PROGRAM, "--in", f"1={a}", f"129={b}", "--threads", "2"]
        replay(*words, "--out", f"2={self.path('2.pcap')}")
        self.assertEqual([t for t, _ in read(self.path("2.pcap"))], [T0 + 1, T0 + 129])
        done = subprocess.run([f"{BUILD}/silken", "replay", *words, "--out", "2=/dev/stdout"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("2.pcap"), "rb") as f:
            self.assertEqual(done.stdout, f.read())

    def test_with_slow_ports(self):
        self.check(2, crosses=False, speeds=True)

    def test_with_generators(self):
        self.check(3, crosses=False, generates=True, builds=((),))

    def test_pipes_that_meet_run_on_one_thread(self):
        self.check(4, crosses=True, speeds=True, alone=False, builds=((),))

    def test_crossing(self):
        self.check(5, crosses=True, crossing=500)

    def test_crossing_with_slow_ports_and_generators(self):
        self.check(6, crosses=True, speeds=True, generates=True, crossing=300)

    def test_crossing_with_slow_ports(self):
        self.check(7, crosses=True, speeds=True, crossing=1000, builds=((),))

    def test_times_of_crossing(self):
        """Each way to another pipe takes 500 ns, those within a pipe none."""
        def packet(**what):
            return order(forward=1, bypass=1, **what)
        a = self.file("a.pcap", pcap([
            (T0, packet(port=2)), (T0 + 1, packet(port=130)),
            (T0 + 2, packet(port=196, then=131)),       # once over, and there again
            (T0 + 3, packet(port=196, then=3)),         # there and back
            (T0 + 4, order(copies=1, group=9, bypass=1))]))
        b = self.file("b.pcap", pcap([(T0 + 501, packet(port=130)), (T0 + 500, packet(port=2))]))
        c = self.file("c.pcap", pcap([(T0 + 1, packet(port=130, pad=1))]))
        entries = self.file("entries.json", json.dumps(
            config(random.Random(1), True, False, False)).encode())
        self.play("out", "--in", f"1={a}", f"129={b}", f"257={c}", "--entries", entries,
                  "--crossing", "500", "--threads", "2")
        sent = {port: read(self.path(f"out/port-{port}.pcap")) for port in (2, 3, 5, 130, 131, 386)}
        times = {port: [t - T0 for t, _ in packets] for port, packets in sent.items()}
        # b's second packet is older than its first one, and is taken at its time
        self.assertEqual(times, {2: [0, 4, 1001], 3: [1003], 5: [4], 130: [501, 501, 501, 504],
                                 131: [502], 386: [504]})
        # arrived before received, of one time by the pipe they come from; c's has a byte more
        number = [struct.unpack_from(">I", data, 23) for _, data in sent[130]]
        self.assertEqual([len(data) for _, data in sent[130]],
                         [len(packet()), len(packet()) + 1, len(packet()), len(packet())])
        self.assertEqual(number, [(2,), (1,), (1,), (5,)])

    def test_short_crossing(self):
        self.check(8, crosses=True, speeds=True, crossing=1, builds=((),))


class Words(unittest.TestCase):
    def test_numbers(self):
        for words in (("--threads", "3"), ("--threads", "0"), ("--threads", ""),
                      ("--threads", "22"), ("--crossing", "x"), ("--crossing", "1000000001")):
            done = replay(PROGRAM, "--in", "1=/dev/null", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words[0], done.stderr)


if __name__ == "__main__":
    tally.main()
