#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/libra/libra.p4, packet by packet: sums of pairs, what is added once, what is not added, and what is not
trusted. Packets are built here byte by byte; nothing of the host stack is used."""
import logging
import os
import random
import struct
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP, ICMP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

import tally  # noqa: E402
from switch import Switch  # noqa: E402

SWITCH_MAC = "02:00:00:00:ff:01"
SWITCH_IP = "10.0.0.254"
UDP_PORT = 0xBEC0
M = 16
WINDOW = 512

PUSH, PUSH_ANY, ACK, PULL, ANSWER, COLLECT = range(1, 7)
(PARSER_ERROR, BAD_CHECKSUM, BAD_LENGTH, UNKNOWN_WORKER, OTHER_EPOCH, BAD_KIND, BAD_SEQUENCE, BAD_PLACE,
 BAD_INDEX, OLD) = range(1, 11)


class Job:
    """A job whose workers are hosts first_host and up, at the ports of their numbers."""

    def __init__(self, number, workers, cell_base, cells, epoch, first_host):
        self.number, self.workers, self.epoch, self.first_host = number, workers, epoch, first_host
        self.cell_base, self.cells = cell_base, cells

    def host(self, worker):
        return self.first_host + worker

    def entries(self):
        for w in range(self.workers):
            yield {"table": "workers",
                   "key": {"hdr.libra.job": self.number, "hdr.libra.worker": w,
                           "hdr.ipv4.src_addr": f"10.0.0.{self.host(w)}",
                           "ig_intr_md.ingress_port": self.host(w)},
                   "action": "admit",
                   "args": {"cell_base": self.cell_base, "cell_last": self.cells - 1,
                            "record_base": self.host(w) * WINDOW, "epoch": self.epoch}}

    def packet(self, worker, kind, sequence, pairs, *, again=0, epoch=None, clock=0, places=None, indices=None):
        """'pairs': {index: value}, each at the place of its register; 'indices' {place: index} overrules."""
        index, value, used = list(range(M)), [0] * M, 0
        for i, v in pairs.items():
            index[i % M], value[i % M] = i, v & 0xFFFFFFFF
            used |= 1 << (15 - i % M)
        for place, i in (indices or {}).items():
            index[place] = i
        payload = struct.pack(">BBHIHHI", kind << 4 | again << 3, self.number, worker, sequence,
                              used if places is None else places, self.epoch if epoch is None else epoch, clock)
        payload += b"".join(struct.pack(">II", i, v) for i, v in zip(index, value))
        host = self.host(worker)
        return bytes(Ether(dst=SWITCH_MAC, src=f"02:00:00:00:00:{host:02x}")
                     / IP(src=f"10.0.0.{host}", dst=SWITCH_IP) / UDP(sport=40000 + worker, dport=UDP_PORT) / payload)


ONE = Job(3, 3, 0, 4096, 7, 1)
OTHER = Job(4, 2, 4096, 100, 65535, 10)


def configuration():
    ports = [1, 2, 3, 10, 11, 20]
    return {
        "program": os.path.abspath("p4/libra/integer.p4"),
        "ports": [{"port": p, "device": f"net_null{p}"} for p in ports],
        "entries": [*ONE.entries(), *OTHER.entries(),
                    {"table": "macs", "key": {"hdr.ethernet.dst_addr": "02:00:00:00:00:14"}, "action": "to_port",
                     "args": {"port": 20}}],
    }


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Reply:
    """A packet of the switch, taken apart without Scapy's help, so that every byte is looked at."""

    def __init__(self, frame):
        self.macs, self.ip, udp = (frame[:6], frame[6:12]), frame[14:34], struct.unpack(">HHHH", frame[34:42])
        self.ports, self.udp_length, self.udp_sum = udp[:2], udp[2], udp[3]
        (first, self.job, self.worker, self.sequence, self.places, self.epoch, self.clock) = struct.unpack(
            ">BBHIHHI", frame[42:58])
        self.kind, self.flags, self.length = first >> 4, first & 15, len(frame)
        self.pairs = [struct.unpack(">II", frame[i:i + 8]) for i in range(58, len(frame), 8)]


class Libra(unittest.TestCase):
    def setUp(self):
        self.switch = Switch(configuration())

    def tearDown(self):
        self.switch.close()

    def drops(self):
        return {r: n for r in range(16) for n in [self.switch.counter("drops", r)[0]] if n}

    def one(self, job, worker, frame):
        """The one reply, at the worker's port; addresses, lengths and checksums are as they must be."""
        out = self.switch.send(job.host(worker), frame)
        self.assertEqual([port for port, _ in out], [job.host(worker)])
        got = Reply(out[0][1])
        self.assertEqual(got.macs, (frame[6:12], frame[:6]))
        self.assertEqual((got.ip[12:16], got.ip[16:20]), (frame[30:34], frame[26:30]))
        self.assertEqual(got.ports, (UDP_PORT, 40000 + worker))
        self.assertEqual(struct.unpack(">H", got.ip[2:4])[0], got.length - 14)
        self.assertEqual(got.udp_length, got.length - 34)
        self.assertEqual((ones_sum(got.ip), got.udp_sum, got.ip[8]), (0xFFFF, 0, 64))
        self.assertEqual((got.job, got.worker), (job.number, worker))
        return got

    def push(self, job, worker, sequence, pairs, **more):
        got = self.one(job, worker, job.packet(worker, PUSH, sequence, pairs, **more))
        self.assertEqual((got.kind, got.sequence, got.length), (ACK, sequence, 58))
        return got

    def pull(self, job, worker, indices, **more):
        frame = job.packet(worker, PULL, 99, dict.fromkeys(indices, 0), **more)
        got = self.one(job, worker, frame)
        self.assertEqual((got.kind, got.sequence, got.length), (ANSWER, 99, 186))
        answered = dict(got.pairs)
        self.assertEqual([i for i, _ in got.pairs], [i for i, _ in Reply(frame).pairs])
        return {i: answered[i] for i in indices}

    def refused(self, job, worker, frame, reason, port=None):
        before = self.drops()
        self.assertEqual(self.switch.send(job.host(worker) if port is None else port, frame), [])
        self.assertEqual(self.drops(), {**before, reason: before.get(reason, 0) + 1})

    def test_adds_and_answers(self):
        self.push(ONE, 0, 1, {0: 5, 1: 6, 15: 0xFFFFFFFF, 4095 * 16 + 7: 9}, clock=0x01020304)
        self.push(ONE, 1, 1, {0: 7, 17: 3, 15: 2})
        self.assertEqual(self.pull(ONE, 2, [0, 1, 15, 4095 * 16 + 7]), {0: 12, 1: 6, 15: 1, 4095 * 16 + 7: 9})
        self.assertEqual(self.pull(ONE, 2, [17, 16]), {17: 3, 16: 0})
        self.assertEqual(self.drops(), {})
        self.assertEqual(self.switch.counter("repetitions", 1)[0], 0)

    def test_returns_what_is_the_senders(self):
        got = self.push(ONE, 0, 0x3FFFFFFF, {2: 1}, again=1, clock=0xA1B2C3D4)
        self.assertEqual((got.flags, got.clock, got.epoch, got.places), (8, 0xA1B2C3D4, 7, 0))

    def test_adds_once(self):
        """Repeated, marked or not, and late originals behind later packets of the window."""
        self.push(ONE, 0, 1, {0: 5})
        self.push(ONE, 0, 1, {0: 5}, again=1)
        self.push(ONE, 0, 1, {0: 5})
        for sequence in range(2, WINDOW + 1):
            self.push(ONE, 0, sequence, {0: 1})
        self.push(ONE, 0, 1, {0: 5}, again=1)
        self.assertEqual(self.switch.counter("repetitions", 1)[0], 3)
        self.assertEqual(self.pull(ONE, 0, [0]), {0: 5 + WINDOW - 1})
        # the record of 1 is 513's now: a repetition of 1 is not known to be one any more
        self.push(ONE, 0, WINDOW + 1, {0: 100})
        self.refused(ONE, 0, ONE.packet(0, PUSH, 1, {0: 5}, again=1), OLD)
        self.assertEqual(self.pull(ONE, 0, [0]), {0: 105 + WINDOW - 1})

    def test_windows_are_the_workers_own(self):
        for worker in range(3):
            self.push(ONE, worker, 1, {3: 1 + worker})
        for worker in range(2):
            self.push(OTHER, worker, 1, {3: 100})
        self.assertEqual(self.pull(ONE, 0, [3]), {3: 6})
        self.assertEqual(self.pull(OTHER, 0, [3]), {3: 200})

    def test_places_without_a_pair(self):
        """Their values are not looked at, and their answers are not read."""
        self.push(ONE, 0, 1, {i: 10 + i for i in range(16)})
        got = self.one(ONE, 0, ONE.packet(0, PUSH, 2, {i: 1000 for i in range(16)}, places=1 << 15 | 1))
        self.assertEqual(got.kind, ACK)
        expected = {i: 10 + i + (1000 if i in (0, 15) else 0) for i in range(16)}
        self.assertEqual(self.pull(ONE, 1, list(range(16))), expected)
        frame = ONE.packet(1, PULL, 5, {i: 77 for i in range(16)}, places=0x8000)
        self.assertEqual(self.one(ONE, 1, frame).pairs, [(0, 1010)] + [(i, 77) for i in range(1, 16)])

    def test_against_a_model(self):
        rng, cells, sequence = random.Random(1), {}, {}
        for step in range(3000):
            job = rng.choice((ONE, OTHER))
            worker = rng.randrange(job.workers)
            pairs = {}
            for place in rng.sample(range(M), rng.randrange(1, M + 1)):
                pairs[rng.randrange(min(job.cells, 20)) * M + place] = rng.getrandbits(32)
            if rng.random() < 0.3:
                want = {i: cells.get((job, i), 0) for i in pairs}
                self.assertEqual(self.pull(job, worker, list(pairs)), want, step)
                continue
            sequence[job, worker] = sequence.get((job, worker), 0) + 1
            for _ in range(1 + (rng.random() < 0.2)):
                self.push(job, worker, sequence[job, worker], pairs)
            for i, v in pairs.items():
                cells[job, i] = (cells.get((job, i), 0) + v) & 0xFFFFFFFF
        self.assertEqual(self.drops(), {})

    def test_refuses(self):
        good = {0: 1, 5: 1}
        self.refused(ONE, 0, ONE.packet(0, PUSH, 1, good), UNKNOWN_WORKER, port=2)
        self.refused(ONE, 0, ONE.packet(0, PUSH, 1, good), UNKNOWN_WORKER, port=20)
        self.refused(ONE, 0, ONE.packet(5, PUSH, 1, good), UNKNOWN_WORKER)
        self.refused(OTHER, 0, Job(9, 1, 0, 1, 7, 10).packet(0, PUSH, 1, good), UNKNOWN_WORKER)
        for epoch in (0, 6, 8, 65535):
            self.refused(ONE, 0, ONE.packet(0, PUSH, 1, good, epoch=epoch), OTHER_EPOCH)
            self.refused(ONE, 0, ONE.packet(0, PULL, 1, good, epoch=epoch), OTHER_EPOCH)
        for kind in (0, PUSH_ANY, ACK, ANSWER, COLLECT, 7, 15):
            self.refused(ONE, 0, ONE.packet(0, kind, 1, good), BAD_KIND)
        for sequence in (0, 1 << 30, 1 << 31, 0xFFFFFFFF):
            self.refused(ONE, 0, ONE.packet(0, PUSH, sequence, good), BAD_SEQUENCE)
        for place in range(M):
            self.refused(ONE, 0, ONE.packet(0, PUSH, 1, good, indices={place: (place + 1) % M}), BAD_PLACE)
            for beyond in (4096 * M, 0x7FFF * M, 0x4000 * M):
                self.refused(ONE, 0, ONE.packet(0, PUSH, 1, good, indices={place: beyond + place}), BAD_INDEX)
                self.refused(ONE, 0, ONE.packet(0, PULL, 1, good, indices={place: beyond + place}), BAD_INDEX)
            self.refused(ONE, 0, ONE.packet(0, PUSH, 1, good, indices={place: 1 << 19 | place}), BAD_PLACE)
            self.refused(ONE, 0, ONE.packet(0, PUSH, 1, good, indices={place: 0xFFFFFFF0 | place}), BAD_PLACE)
        self.refused(OTHER, 1, OTHER.packet(1, PUSH, 1, {100 * M: 1}), BAD_INDEX)
        # nothing of all that was added, and no record was taken
        self.push(ONE, 0, 1, {0: 2})
        self.assertEqual(self.pull(ONE, 0, [0, 5]), {0: 2, 5: 0})

    def test_refuses_what_is_not_whole(self):
        frame = ONE.packet(0, PUSH, 1, {0: 1})
        # up to the last four bytes: the chip's parser has the four of the FCS behind the frame (docs/tna-facts.md)
        for length in range(42, 182):
            self.refused(ONE, 0, frame[:length], PARSER_ERROR)
        wrong = bytearray(frame)
        wrong[24] ^= 1
        self.refused(ONE, 0, wrong, BAD_CHECKSUM)
        for total, udp in ((172, 151), (171, 152), (173, 153), (44, 24)):
            packet = Ether(frame)
            packet[IP].len, packet[UDP].len = total, udp
            del packet[IP].chksum
            self.refused(ONE, 0, bytes(packet), BAD_LENGTH)
        # padding behind the pairs is nobody's business
        self.assertEqual(len(self.switch.send(1, frame + b"xyz")), 1)

    def test_another_switches_packets_pass(self):
        """Those to an address of `others`; the job's own are added as before."""
        self.switch.close()
        self.switch = Switch({**configuration(), "value_sets": [{"name": "others", "key": {"f1": "10.0.0.253"}}]})
        frame = bytearray(ONE.packet(0, PUSH, 1, {0: 5}))
        frame[:6] = bytes.fromhex("020000000014")   # by port 20
        frame[33] = 253
        self.assertEqual(self.switch.send(1, bytes(frame)), [(20, bytes(frame))])
        self.push(ONE, 0, 1, {0: 7})
        self.assertEqual(self.pull(ONE, 1, [0]), {0: 7})
        self.assertEqual(self.drops(), {})

    def test_all_else_is_forwarded(self):
        other = Ether(dst="02:00:00:00:00:14", src="02:00:00:00:00:01")
        libra = UDP(sport=40000, dport=UDP_PORT) / (b"x" * 144)
        for packet in (other / IP(dst="10.0.0.20") / ICMP(),
                       other / IP(dst="10.0.0.20") / UDP(dport=UDP_PORT + 1) / (b"x" * 144),
                       other / IP(dst="10.0.0.20", flags="MF") / libra,
                       other / IP(dst="10.0.0.20", frag=3) / libra,
                       other / IP(dst="10.0.0.20", options=b"\x01\x01\x01\x00") / libra,
                       other / b"\x12\x34hello"):
            frame = bytes(packet)
            self.assertEqual(self.switch.send(1, frame), [(20, frame)])
        self.assertEqual(self.drops(), {})


if __name__ == "__main__":
    tally.main()
