#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/libra/libra.p4, which adds floats, packet by packet: what is in test_libra.py for integers holds here, too; and
pairs at any place, what is no number, and a table that is not there. The adder itself is compared bit for bit in
harness/hosts/libra/test_floats.c."""
import json
import math
import os
import random
import struct
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
import tally  # noqa: E402
import test_libra  # noqa: E402
from switch import Switch  # noqa: E402
from test_libra import (ACK, ANSWER, BAD_CHECKSUM, BAD_INDEX, BAD_KIND, BAD_LENGTH, BAD_PLACE, BAD_SEQUENCE,  # noqa: E402
                        COLLECT, M, ONE, OTHER, OTHER_EPOCH, PARSER_ERROR, PULL, PUSH, PUSH_ANY, UNKNOWN_WORKER,
                        Reply)

SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")
TABLES = json.loads(subprocess.run([SILKEN, "libra", "tables"], check=True, capture_output=True, text=True).stdout)
BOUND = 4e-4  # of the larger operand of an addition


def bits(value):
    return struct.unpack(">I", struct.pack(">f", value))[0]


def number(value):
    return struct.unpack(">f", struct.pack(">I", value))[0]


def configuration():
    return {**test_libra.configuration(), "program": os.path.abspath("p4/libra/libra.p4"), **TABLES}


class Floats(unittest.TestCase):
    def setUp(self):
        self.switch = Switch(configuration())

    def tearDown(self):
        self.switch.close()

    def drops(self):
        return {r: n for r in range(16) for n in [self.switch.counter("pipe.Ingress.drops", r)[0]] if n}

    def reply(self, job, worker, frame):
        out = self.switch.send(job.host(worker), frame)
        self.assertEqual([port for port, _ in out], [job.host(worker)])
        return Reply(out[0][1])

    def push(self, job, worker, sequence, pairs, **more):
        frame = job.packet(worker, PUSH, sequence, {i: bits(v) for i, v in pairs.items()}, **more)
        got = self.reply(job, worker, frame)
        self.assertEqual((got.kind, got.sequence, got.length, got.places), (ACK, sequence, 58, 0))

    def push_any(self, job, worker, sequence, pairs):
        """'pairs': (index, value), at places 0 and up."""
        frame = job.packet(worker, PUSH_ANY, sequence, {}, places=0xFFFF & ~(0xFFFF >> len(pairs)))
        body = b"".join(struct.pack(">If", i, v) for i, v in pairs)
        got = self.reply(job, worker, frame[:58] + body + frame[58 + len(body):])
        self.assertEqual((got.kind, got.sequence, got.length, got.places), (ACK, sequence, 58, 0))

    def pull(self, job, worker, indices):
        frame = job.packet(worker, PULL, 9, {i: 77 for i in indices})
        got = self.reply(job, worker, frame)
        self.assertEqual((got.kind, got.length), (ANSWER, 186))
        return {i: number(got.pairs[i % M][1]) for i in indices if got.pairs[i % M][0] == i}

    def test_sums(self):
        rng = random.Random(1)
        exact, larger = {}, {}
        for sequence in range(1, 60):
            pairs = {rng.randrange(6) * M + place: rng.uniform(-1, 1) for place in range(M) if rng.random() < 0.8}
            self.push(ONE, sequence % 3, sequence, pairs)
            for i, v in pairs.items():
                exact[i] = exact.get(i, 0) + number(bits(v))
                larger[i] = larger.get(i, 0) + max(abs(exact[i]), abs(v))
        for i, sum_of in exact.items():
            self.assertLessEqual(abs(self.pull(ONE, 0, [i])[i] - sum_of), 2 * BOUND * larger[i])
        self.assertEqual(self.pull(OTHER, 0, range(M)), {i: 0 for i in range(M)})  # of another job
        self.assertEqual(self.drops(), {})

    def test_pairs_of_one_register_at_any_place(self):
        sequence = 1
        for n in (1, 2, 3, 15, 16):
            for register in (0, 7, 15):
                pairs = [(register + M * (3 * k + n), 1.5 + k) for k in range(n)]
                before = {i: self.pull(ONE, 1, [i])[i] for i, _ in pairs}
                self.push_any(ONE, 1, sequence, pairs)
                sequence += 1
                for i, v in pairs:
                    self.assertLessEqual(abs(self.pull(ONE, 1, [i])[i] - before[i] - v), BOUND * (before[i] + v))
        # twice the same parameter
        self.push_any(ONE, 2, 1, [(4000, 1.0), (4000, 1.0)])
        self.assertAlmostEqual(self.pull(ONE, 0, [4000])[4000], 2.0, delta=2 * BOUND)

    def test_once(self):
        for again in (0, 1, 1):
            self.push(ONE, 0, 5, {3: 1.25}, again=again)
        self.assertEqual(self.pull(ONE, 0, [3]), {3: 1.25})
        self.assertEqual(self.switch.counter("repetitions", ONE.host(0))[0], 2)
        self.push(ONE, 0, 5 + 512, {3: 1.25})
        self.assertEqual(self.switch.send(ONE.host(0), ONE.packet(0, PUSH, 5, {3: bits(1.25)})), [])
        self.assertEqual(self.switch.counter("pipe.Egress.drops", 10)[0], 1)
        self.assertAlmostEqual(self.pull(ONE, 0, [3])[3], 2.5, delta=2.5 * BOUND)

    def test_what_is_no_number_stays(self):
        self.push(ONE, 0, 1, {0: math.inf, 1: math.inf, 2: math.nan, 3: 3e38, 4: -3e38, 5: 1e-40})
        self.push(ONE, 0, 2, {0: 1.0, 1: -math.inf, 2: 1.0, 3: 3e38, 4: -3e38, 5: 0.0})
        got = self.pull(ONE, 0, range(6))
        self.assertEqual((got[0], got[3], got[4], got[5]), (math.inf, math.inf, -math.inf, 0))
        self.assertTrue(math.isnan(got[1]) and math.isnan(got[2]))

    def refused(self, frame, reason, host=1):
        before = self.drops()
        self.assertEqual(self.switch.send(host, frame), [])
        self.assertEqual(self.drops(), {**before, reason: before.get(reason, 0) + 1})

    def test_refuses(self):
        good = {0: 1, 5: 1}
        self.refused(ONE.packet(0, PUSH, 1, good), UNKNOWN_WORKER, host=20)
        self.refused(ONE.packet(0, PUSH, 1, good, epoch=8), OTHER_EPOCH)
        for kind in (0, ACK, ANSWER, COLLECT, 7, 15):
            self.refused(ONE.packet(0, kind, 1, good), BAD_KIND)
        for kind in (PUSH, PUSH_ANY):
            for sequence in (0, 1 << 30, 1 << 31):
                self.refused(ONE.packet(0, kind, sequence, good), BAD_SEQUENCE)
            self.refused(ONE.packet(0, kind, 1, good, indices={3: 4096 * M + 3}), BAD_INDEX)
            self.refused(ONE.packet(0, kind, 1, good, indices={3: 1 << 19 | 3}), BAD_PLACE)
        self.refused(ONE.packet(0, PUSH, 1, good, indices={3: 4}), BAD_PLACE)
        frame = bytearray(ONE.packet(0, PUSH, 1, good))
        self.refused(bytes(frame[:181]), PARSER_ERROR)
        frame[17] += 1  # IPv4's length
        self.refused(bytes(frame), BAD_CHECKSUM)
        struct.pack_into(">H", frame, 24, struct.unpack_from(">H", frame, 24)[0] - 1)
        self.refused(bytes(frame), BAD_LENGTH)
        self.assertEqual(self.pull(ONE, 0, [0, 5]), {0: 0, 5: 0})

    def test_refuses_tables(self):
        """That are cut off, have other digits or too many values, or are not there."""
        config = configuration()
        for broken in ({"table": "x0.term", "action": "set_term", "values": "000"},
                       {"table": "x0.term", "action": "set_term", "values": "00zz"},
                       {"table": "x0.near", "action": "set_near", "values": "0000"},
                       {"table": "sum0.near", "action": "set_near", "values": "0000" * 2049},
                       {"table": "sum0.shift", "action": "cancel", "values": "0000"}):
            with self.subTest(broken=broken["values"][:8]), self.assertRaises(RuntimeError):
                Switch({**config, "filled": [*config["filled"], broken]}).close()


if __name__ == "__main__":
    tally.main()
