#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/switchml/halves.p4, packet by packet: Algorithm 3 with 16-bit floats, in all sizes and pipes, and what is refused.
Sums are worked out here by exact fractions of Python's, packets byte by byte; nothing of the host stack is used."""
import logging
import os
import struct
import sys
import unittest
from fractions import Fraction

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

import tally  # noqa: E402
import test_switchml as switchml  # noqa: E402
from elements import vector  # noqa: E402
from switch import Switch  # noqa: E402
from test_switchml import BAD_LENGTH, BAD_POOL_INDEX, DUPLICATE, PARSER_ERROR, SIZES, UNKNOWN_WORKER  # noqa: E402

NAN = 0x7E00
LEAST = Fraction(1, 1 << 24)


def number(bits):
    """A half's value, or None for what the switch takes for out of range."""
    (value,) = struct.unpack("<e", struct.pack("<H", bits))
    return Fraction(value) if abs(value) < 2 else None


def nearest(value):
    """The half nearest to a sum; of two equally near ones the larger."""
    unit = LEAST
    while abs(value) >= 2048 * unit:
        unit *= 2
    rounded = (value / unit + Fraction(1, 2)).__floor__() * unit
    return struct.unpack("<H", struct.pack("<e", float(rounded)))[0]


def total(*vectors):
    out = []
    for column in zip(*vectors):
        values = [number(bits) for bits in column]
        out.append(NAN if None in values else nearest(sum(values)))
    return out


def halves(seed, count):
    """Halves below 2, of all sizes and both signs."""
    return [(w & 0x8000) | (w >> 16 & 0x3FFF) for w in vector(seed, count)]


class Job(switchml.Job):
    msg_type = 1

    def packet(self, worker, slot, version, values, exponents=(0, 0), tsi=0, size=None):
        size = SIZES[len(values)] if size is None else size
        payload = struct.pack(">BBIHbb", self.msg_type << 4 | size, self.number, tsi, version << 15 | slot, *exponents)
        payload += struct.pack(f">{len(values)}H", *values)
        return bytes(Ether(dst=switchml.SWITCH_MAC, src=switchml.worker_mac(self.host(worker)))
                     / IP(src=switchml.worker_ip(self.host(worker)), dst=switchml.SWITCH_IP)
                     / UDP(sport=switchml.SOURCE_PORT + worker % 16, dport=switchml.UDP_PORT, chksum=0) / payload)


def configuration(jobs):
    return {**switchml.configuration(jobs), "program": os.path.abspath("p4/switchml/halves.p4"),
            "filled": [{"tables": "halves"}]}


class Halves(unittest.TestCase):
    jobs = [Job(7, [0, 1, 2], 1, 100, 0, 16)]
    size = 64

    def setUp(self):
        self.switch = Switch(configuration(self.jobs))
        self.addCleanup(self.switch.close)
        self.job = self.jobs[0]

    def send(self, worker, slot, version, values, **more):
        return self.switch.send(self.job.ports[worker], self.job.packet(worker, slot, version, values, **more))

    def drops(self, reason):
        return self.switch.counter("Ingress.drops", reason)[0]

    def assert_results(self, out, values, workers, slot, version, e0=0, tsi=0):
        self.assertEqual([p for p, _ in out], sorted(self.job.ports[w] for w in workers))
        for w in workers:
            frame = next(f for p, f in out if p == self.job.ports[w])
            head = switchml.Result(frame)
            self.assertEqual(len(frame), 52 + 2 * len(values))
            self.assertEqual((head.dst.hex(":"), head.src.hex(":")),
                             (switchml.worker_mac(self.job.host(w)), switchml.SWITCH_MAC))
            self.assertEqual(switchml.ones_sum(head.ip), 0xFFFF, "IPv4 header checksum")
            self.assertEqual(struct.unpack(">H", head.ip[2:4])[0], len(frame) - 14)
            self.assertEqual((head.udp_length, head.udp_sum), (len(frame) - 34, 0))
            self.assertEqual((head.job, head.tsi, head.size), (self.job.number, tsi, SIZES[len(values)]))
            self.assertEqual((head.version, head.slot, head.exponents[0]), (version, slot, e0))
            self.assertEqual(list(struct.unpack(f">{len(values)}H", frame[52:])), values)

    def test_the_last_packet_sends_the_sum_to_all(self):
        v = [halves(s, self.size) for s in range(3)]
        self.assertEqual(self.send(1, 3, 0, v[1], exponents=(-5, 0)), [])
        self.assertEqual(self.send(0, 3, 0, v[0], exponents=(-9, 0)), [])
        out = self.send(2, 3, 0, v[2], exponents=(-7, 0), tsi=0xDEADBEEF)
        self.assert_results(out, total(*v), [0, 1, 2], 3, 0, e0=-5, tsi=0xDEADBEEF)

    def test_a_duplicate_is_not_added_and_is_answered_after_completion(self):
        v = [halves(s + 10, self.size) for s in range(3)]
        self.send(0, 3, 0, v[0])
        before = self.drops(DUPLICATE)
        self.assertEqual(self.send(0, 3, 0, v[0]), [])
        self.assertEqual(self.drops(DUPLICATE), before + 1)
        self.send(1, 3, 0, v[1])
        self.assert_results(self.send(2, 3, 0, v[2]), total(*v), [0, 1, 2], 3, 0)
        for w in (1, 0, 2, 1):
            self.assert_results(self.send(w, 3, 0, v[w]), total(*v), [w], 3, 0)

    def test_both_versions(self):
        old, new = [[halves(s + at, self.size) for s in range(3)] for at in (20, 30)]
        for w in range(3):
            self.send(w, 5, 0, old[w])
        self.send(1, 5, 1, new[1])
        self.send(2, 5, 1, new[2])
        self.assert_results(self.send(0, 5, 0, old[0]), total(*old), [0], 5, 0)
        self.assert_results(self.send(0, 5, 1, new[0]), total(*new), [0, 1, 2], 5, 1)
        for w in range(2):
            self.assertEqual(self.send(w, 5, 0, new[w]), [])
        self.assert_results(self.send(2, 5, 0, new[2]), total(*new), [0, 1, 2], 5, 0)

    def test_what_is_out_of_range_is_nan_there_alone(self):
        v = [halves(s + 40, self.size) for s in range(3)]
        for at, bits in enumerate((0x4000, 0xC000, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0xFFFF)):
            v[at % 3][at * 4 + 1] = bits
        for w in range(2):
            self.send(w, 1, 0, v[w])
        want = total(*v)
        self.assertEqual(want.count(NAN), 7)
        self.assert_results(self.send(2, 1, 0, v[2]), want, [0, 1, 2], 1, 0)

    def test_denormals_zeros_and_cancellation(self):
        rows = [(0x0001, 0x0001, 0x0001), (0x8000, 0x8000, 0x8000), (0x03FF, 0x0001, 0), (0x3C00, 0xBC00, 0x8001),
                (0x3FFF, 0x3FFF, 0x3FFF), (0xBFFF, 0xBFFF, 0xBFFF), (0x3FFF, 0x0001, 0), (0xBFFF, 0x8001, 0x8001)]
        v = [(list(column) * self.size)[:self.size] for column in zip(*rows)]
        for w in range(2):
            self.send(w, 2, 0, v[w])
        self.assert_results(self.send(2, 2, 0, v[2]), total(*v), [0, 1, 2], 2, 0)


class With32(Halves):
    size = 32


class With128(Halves):
    size = 128


class With256(Halves):
    size = 256


class OnOtherPipes(Halves):
    jobs = [Job(7, [130, 257, 385], 1, 100, 4080, 16)]
    size = 256


class Refused(Halves):
    """What is no packet of a job of this switch."""

    def expect_drop(self, reason, frame, port=0):
        before = self.drops(reason)
        self.assertEqual(self.switch.send(port, frame), [])
        self.assertEqual(self.drops(reason), before + 1)

    def test_lengths_and_types(self):
        v = halves(1, 64)
        self.expect_drop(BAD_LENGTH, self.job.packet(0, 0, 0, v, size=0))
        self.expect_drop(BAD_LENGTH, self.job.packet(0, 0, 0, v, size=5))
        self.expect_drop(BAD_LENGTH, switchml.Job.packet(self.job, 0, 0, 0, vector(1, 64)))
        for kind in (0, 2, 12, 14, 15):
            self.job.msg_type = kind
            self.expect_drop(BAD_LENGTH, self.job.packet(0, 0, 0, v))
        del self.job.msg_type
        self.expect_drop(BAD_POOL_INDEX, self.job.packet(0, 16, 0, v))
        self.expect_drop(UNKNOWN_WORKER, self.job.packet(0, 0, 0, v), port=1)
        self.expect_drop(PARSER_ERROR, self.job.packet(0, 0, 0, v)[:70])


if __name__ == "__main__":
    tally.main()
