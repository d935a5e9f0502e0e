#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What happens to a packet that comes to a register a second time in one pass (compiler/instrument/guard.c): the second
access is not made, the packet is dropped with a reason of its own, and nothing else that it asked for happens."""
import json
import os
import struct
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("../..", "../../pcap")]
import tally  # noqa: E402
from captures import NS, frames, pcap, replay  # noqa: E402
from folder import FolderCase  # noqa: E402

PROGRAM = "harness/compiler/instrument/guarded.p4"
T0 = 1_700_000_000 * NS
ADD, CPU, DIGEST, AGAIN, COPY, TAKE, ONE, TEN = (1 << k for k in range(8))  # bits of 'what'
READER = 7  # its packets hit 'readers'
CONFIG = {"entries": [{"table": "readers", "key": {"n": READER}, "action": "read_it"}],
          "mirror": [{"id": 1, "direction": "both", "port": 3}]}
INGRESS, EGRESS = "register reached twice in ingress", "register reached twice in egress"


def words(what, n, a=0, b=0, c=0):
    return struct.pack(">BBIII", what, n, a, b, c) + bytes(50)


class Guards(FolderCase):
    def run_packets(self, *packets, build=()):
        """(frames by port, drops by reason, the state) after these packets."""
        given = self.file("1.pcap", pcap([(T0 + i * NS, p) for i, p in enumerate(packets)]))
        state, out = self.path("state.json"), self.path("out")
        done = replay(PROGRAM, "--in", "1=" + given, "--entries", self.file("e.json", json.dumps(CONFIG)), "--out", out,
                      "--dump-state", state, *build)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(state, encoding="utf-8") as f:
            left = json.load(f)
        ports = {port: list(frames(f"{out}/port-{port}.pcap")) for port in (2, 3, 64)
                 if os.path.exists(f"{out}/port-{port}.pcap")}
        return ports, {d["reason"]: d["packets"] for d in left["drops"]}, left

    def cell(self, state, name, index):
        return next((r["value"] for r in state["registers"] if r["name"].endswith("." + name) and
                     r.get("index") == index), 0)

    def both(self, *packets):
        fast = self.run_packets(*packets, build=["--fast"])
        checked = self.run_packets(*packets, build=["--checked"])
        self.assertEqual(fast[:2], checked[:2])
        self.assertEqual(fast[2]["registers"], checked[2]["registers"])
        return fast

    def test_once_is_as_without_a_guard(self):
        ports, drops, state = self.both(words(ADD, 5), words(ADD, 5), words(0, READER), words(ONE, 9), words(TEN, 9))
        self.assertEqual(drops, {})
        self.assertEqual(ports[2], [words(ADD, 5, a=1), words(ADD, 5, a=2), words(0, READER), words(ONE, 9, c=1),
                                    words(TEN, 9, c=11)])
        self.assertEqual([self.cell(state, "cells", 5), self.cell(state, "sent", 9)], [2, 11])

    def test_twice_in_ingress(self):
        ports, drops, state = self.both(words(ADD, READER), words(0, READER), words(ADD, 5))
        self.assertEqual(drops, {INGRESS: 1})
        self.assertEqual(ports[2], [words(0, READER, b=1), words(ADD, 5, a=1)])  # the first access was made
        # its control ended there
        self.assertEqual([self.cell(state, "cells", READER), self.cell(state, "others", READER)], [1, 1])

    def test_twice_in_egress(self):
        ports, drops, state = self.both(words(ONE | TEN, 5), words(ONE, 5))
        self.assertEqual(drops, {EGRESS: 1})
        self.assertEqual(ports[2], [words(ONE, 5, c=2)])
        self.assertEqual([self.cell(state, "sent", 5), self.cell(state, "others", 5)], [2, 2])

    def test_nothing_else_that_it_asked_for(self):
        asks = CPU, DIGEST, AGAIN, COPY, TAKE
        for i, ask in enumerate((*asks, sum(asks))):
            with self.subTest(ask):
                ports, drops, state = self.both(words(ADD | ask, READER))
                self.assertEqual((ports, drops), ({}, {INGRESS: 1}))
                switch = state["switch"][0]
                self.assertEqual({switch[k] for k in ("copies", "resubmitted", "mirrored", "digests", "sent")}, {0})
                if i == 0:  # while one that comes there once has it
                    ports, drops, state = self.both(*(words(ask, 5) for ask in (CPU, DIGEST, COPY, TAKE)))
                    self.assertEqual(drops, {"consumed in ingress": 1})
                    self.assertEqual([len(ports[p]) for p in (2, 3, 64)], [3, 1, 1])
                    self.assertEqual(state["switch"][0]["digests"], 1)

    def test_the_checked_build_says_where(self):
        given = self.file("1.pcap", pcap([(T0, words(ADD, READER))]))
        entries = self.file("e.json", json.dumps(CONFIG))
        done = replay(PROGRAM, "--in", "1=" + given, "--entries", entries, "--checked", "--drops", self.path("d"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout + done.stderr,
                         r"guarded\.p4:63:\d+: checked: pipe\.Ingress\.cells is accessed a second time in one pass; "
                         r"the first time was at .*guarded\.p4:94")
        with open(self.path("d"), encoding="utf-8") as f:
            drop = json.loads(f.read())
        self.assertEqual((drop["reason"], drop["table"]), (INGRESS, "pipe.Ingress.readers"))


if __name__ == "__main__":
    tally.main()
