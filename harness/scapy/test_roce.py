#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/switchml/with_roce.p4, packet by packet: messages by RoCEv2, beside jobs by UDP. Packets are built here byte by byte, and
Scapy's RoCE layer has a second opinion about headers and the invariant CRC; nothing of the host stack is used."""
import logging
import os
import struct
import sys
import unittest
import zlib

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

import tally  # noqa: E402
from elements import vector  # noqa: E402
from switch import Switch  # noqa: E402
from test_switchml import Job, Result, SWITCH_IP, SWITCH_MAC, configuration, total, worker_ip, worker_mac  # noqa: E402

FIRST, MIDDLE, LAST, LAST_IMMEDIATE, ONLY, ONLY_IMMEDIATE = 0x26, 0x27, 0x28, 0x29, 0x2A, 0x2B
BEGINS, ENDS = (FIRST, ONLY, ONLY_IMMEDIATE), (LAST_IMMEDIATE, ONLY_IMMEDIATE)
# drop_reason_t of the program
BAD_LENGTH, BAD_POOL_INDEX, DUPLICATE, OUT_OF_ORDER = 3, 5, 6, 10
SESSION = 5
PSN_MASK = 0xFFFFFF


REFUSED = "invariant CRC of RoCEv2 wrong or not there"


def invariant_crc(frame):
    """Of a frame that ends with its IPv4 packet, as its last four bytes have to be."""
    covered = bytearray(b"\xff" * 8 + frame[14:-4])
    for at in (8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + 26, 8 + 27, 8 + 28 + 4):
        covered[at] = 0xFF
    return struct.pack("<I", zlib.crc32(covered))


def sealed(frame):
    return bytes(frame[:-4]) + invariant_crc(frame)


class Write:
    """A packet of a message, taken apart byte by byte."""

    def __init__(self, frame):
        self.frame = frame
        self.dst, self.src = frame[:6], frame[6:12]
        self.ip_length, = struct.unpack(">H", frame[16:18])
        self.src_ip, self.dst_ip = frame[26:30], frame[30:34]
        self.sport, self.dport, self.udp_length, self.udp_sum = struct.unpack(">HHHH", frame[34:42])
        self.opcode, self.flags, self.partition = struct.unpack(">BBH", frame[42:46])
        self.qpn = int.from_bytes(frame[47:50], "big")
        self.psn = int.from_bytes(frame[51:54], "big")
        at = 54
        self.address = self.rkey = self.length = self.immediate = None
        if self.opcode in BEGINS:
            self.address, self.rkey, self.length = struct.unpack(">QII", frame[at:at + 16])
            at += 16
        if self.opcode in ENDS:
            self.immediate = struct.unpack(">Hbb", frame[at:at + 4])
            at += 4
        n = (len(frame) - at - 4) // 4
        self.values = list(struct.unpack(f">{n}i", frame[at:at + 4 * n]))


class RoceJob(Job):
    """The same job, of workers that write. Worker w's queue pair q is 0x100 * (w + 1) + q at the worker; its memory has rkey
    0xabc00000 + w. Slots are for queue pairs of `slots` slots each, in turn."""

    def __init__(self, *args, pairs=4, slots=4, **words):
        super().__init__(0, *args, **words)
        self.pairs, self.slots = pairs, slots
        self.psn = {}

    def qpn(self, worker, pair):
        return SESSION << 14 | self.rid(worker) << 6 | pair

    def entries(self):
        for w, port in enumerate(self.ports):
            common = {"worker_bit": 1 << w, "num_workers": len(self.ports), "group": self.group, "rid": self.rid(w),
                      "port": port}
            base = 0x8000 + 2 * self.pool_base
            last = 2 * (self.pool_size - 1)
            for begins, action, args in ((1, "begin", {"first": base, "last": last + 1}), (0, "go_on", {"end": base + last})):
                yield {"table": "writers",
                       "key": {"hdr.ipv4.src_addr": worker_ip(self.host(w)), "hdr.ipv4.dst_addr": SWITCH_IP,
                               "ig_intr_md.ingress_port": port, "queue_pairs": self.qpn(w, 0) >> 6, "begins": begins},
                       "action": action, "args": {**common, **args}}
            yield {"table": "receivers", "key": {"md.rid": self.rid(w)}, "action": "address",
                   "args": {"mac": worker_mac(self.host(w)), "ip": worker_ip(self.host(w)), "udp_port": 4791}}
            for q in range(self.pairs):
                yield {"table": "queue_pairs", "key": {"md.rid": self.rid(w), "queue_pair": q}, "action": "queue_pair",
                       "args": {"qpn": 0x100 * (w + 1) + q, "rkey_high": 0xABC0, "rkey": w}}

    def frame(self, worker, pair, opcode, psn, values, rkey=0, length=0, address=0, immediate=(0, 0, 0), qpn=None,
              dst=SWITCH_IP):
        qpn = self.qpn(worker, pair) if qpn is None else qpn
        data = struct.pack(">BBHII", opcode, 0x40, 0xFFFF, qpn, psn)
        if opcode in BEGINS:
            data += struct.pack(">QII", address, rkey, length)
        if opcode in ENDS:
            data += struct.pack(">Hbb", *immediate)
        data += struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values)) + bytes(4)
        return sealed(bytes(Ether(dst=SWITCH_MAC, src=worker_mac(self.host(worker))) / IP(src=worker_ip(self.host(worker)), dst=dst)
                     / UDP(sport=0xC000 + pair, dport=4791, chksum=0) / data))

    def message(self, worker, pair, version, blocks, immediate=(0, 0, 0), address=0x1000):
        """The frames of a message, with the queue pair's next numbers."""
        out = []
        for i, values in enumerate(blocks):
            if len(blocks) == 1:
                opcode = ONLY_IMMEDIATE
            else:
                opcode = FIRST if i == 0 else LAST_IMMEDIATE if i == len(blocks) - 1 else MIDDLE
            psn = self.psn.get((worker, pair), 0)
            self.psn[worker, pair] = psn + 1 & PSN_MASK
            out.append(self.frame(worker, pair, opcode, psn, values, 2 * self.slots * pair | version,
                                  4 * len(values) * len(blocks), address, immediate))
        return out


class RoceTest(unittest.TestCase):
    def setUp(self):
        self.two = RoceJob([0, 1], 1, 100, 0, 16)
        # behind the first one's slots, in pipes 1 to 3, at hosts 3 to 5
        self.three = RoceJob([130, 260, 390], 3, 101, 16, 16)
        self.udp = Job(9, [2, 3], 6, 102, 32, 16)
        self.jobs = [self.two, self.three, self.udp]
        config = configuration(self.jobs)
        config["program"] = os.path.abspath("p4/switchml/with_roce.p4")
        self.switch = Switch(config)
        self.addCleanup(self.switch.close)
        self.answered = {}

    def drop_count(self, reason):
        return self.switch.counter("drops", reason)[0]

    def send(self, job, worker, frame):
        return self.switch.send(job.ports[worker], frame)

    def assert_answer(self, job, worker, pair, frame, opcode, values, version, immediate=None, address=0x1000, blocks=1):
        w = Write(frame)
        psn = self.answered.get((job.rid(worker), pair), 0)
        self.answered[job.rid(worker), pair] = psn + 1 & PSN_MASK
        self.assertEqual((w.opcode, w.psn, w.qpn), (opcode, psn, 0x100 * (worker + 1) + pair))
        self.assertEqual(w.values, values)
        self.assertEqual((w.dst, w.src), (bytes.fromhex(worker_mac(job.host(worker)).replace(":", "")),
                                          bytes.fromhex(SWITCH_MAC.replace(":", ""))))
        self.assertEqual((w.dport, w.udp_sum, w.udp_length, w.ip_length), (4791, 0, len(frame) - 34, len(frame) - 14))
        if opcode in BEGINS:
            self.assertEqual((w.address, w.rkey, w.length),
                             (address, 0xABC00000 | worker, 4 * len(values) * blocks))
        if opcode in ENDS:
            self.assertEqual(w.immediate, immediate)
        layer = Ether(frame)[BTH]  # a second opinion
        self.assertEqual((layer.opcode, layer.dqpn, layer.psn), (w.opcode, w.qpn, w.psn))
        self.assertEqual(frame[-4:], invariant_crc(frame))
        self.assertEqual(frame[-4:], layer.compute_icrc(None))
        ip = Ether(frame)[IP]
        got = ip.chksum
        del ip.chksum
        self.assertEqual(got, IP(bytes(ip)).chksum)

    def complete(self, job, pair, version, size, count, seed=0, immediates=None):
        """All workers' messages, the packets of all in turn; every worker gets one message of sums."""
        n = len(job.ports)
        values = [[vector(seed + 100 * w + i, size) for i in range(count)] for w in range(n)]
        immediates = immediates or [(7, 0, 0)] * n
        frames = [job.message(w, pair, version, values[w], immediates[w]) for w in range(n)]
        largest = (immediates[-1][0], max(i[1] for i in immediates), max(i[2] for i in immediates))
        for i in range(count):
            for w in range(n - 1):
                self.assertEqual(self.send(job, w, frames[w][i]), [])
            out = self.send(job, n - 1, frames[n - 1][i])
            self.assertEqual([p for p, _ in out], job.ports)
            for w, (_, frame) in enumerate(out):
                self.assert_answer(job, w, pair, frame, Write(frames[0][i]).opcode, total(*(v[i] for v in values)), version,
                                   largest, blocks=count)


class Messages(RoceTest):
    def test_messages_of_every_size(self):
        for use, size in enumerate((64, 128, 256)):
            for pair, count in ((1, 1), (2, 2), (3, 4)):
                with self.subTest(size=size, count=count):
                    self.complete(self.two, pair, use % 2, size, count, seed=size + count)

    def test_workers_in_other_pipes(self):
        for version in (0, 1, 0):
            self.complete(self.three, 2, version, 256, 3, seed=version)

    def test_exponents_are_the_largest(self):
        self.complete(self.two, 0, 0, 64, 2, immediates=[(3, -5, 9), (3, 4, -128)])

    def test_beside_udp(self):
        """A job by UDP in the same switch, one by RoCE between its packets."""
        u = self.udp
        a, b = vector(1, 64), vector(2, 64)
        self.assertEqual(self.switch.send(2, u.packet(0, 3, 0, a)), [])
        self.complete(self.two, 0, 0, 64, 4)
        out = self.switch.send(3, u.packet(1, 3, 0, b))
        self.assertEqual([p for p, _ in out], [2, 3])
        for _, frame in out:
            r = Result(frame)
            self.assertEqual((r.values, r.slot, r.version, r.job), (total(a, b), 3, 0, 9))
        self.assertEqual([p for p, _ in self.switch.send(2, u.packet(0, 3, 0, a))], [2])

    def test_numbers_wrap(self):
        for w in (0, 1):
            self.two.psn[w, 3] = 0x7FFFFF
        self.complete(self.two, 3, 0, 64, 1)
        for w in (0, 1):
            self.two.psn[w, 3] = 0xFFFFFE
        self.complete(self.two, 3, 1, 64, 4)
        self.assertEqual(self.two.psn[0, 3], 2)
        self.complete(self.two, 3, 0, 64, 2)

    def test_without_immediate_data(self):
        v = [[vector(10 * w + i, 64) for i in range(2)] for w in range(2)]
        for i, opcode in enumerate((FIRST, LAST)):
            for w in range(2):
                out = self.send(self.two, w, self.two.frame(w, 0, opcode, i, v[w][i], 0, 512, 0x1000))
                self.assertEqual(len(out), 2 * w)
            for w, (_, frame) in enumerate(out):
                self.assert_answer(self.two, w, 0, frame, opcode, total(v[0][i], v[1][i]), 0, blocks=2)


class Loss(RoceTest):
    def test_a_lost_packet_ends_its_message_and_repetition_completes_it(self):
        job = self.two
        v = [[vector(50 * w + i, 64) for i in range(4)] for w in range(2)]
        first = job.message(0, 0, 0, v[0], (1, 0, 0))
        other = job.message(1, 0, 0, v[1], (1, 0, 0))
        for frame in other:
            self.assertEqual(self.send(job, 1, frame), [])
        for i in (0, 1):
            for w, (_, frame) in enumerate(self.send(job, 0, first[i])):
                self.assert_answer(job, w, 0, frame, (FIRST, MIDDLE)[i], total(v[0][i], v[1][i]), 0, blocks=4)
        before = self.drop_count(OUT_OF_ORDER)
        self.assertEqual(self.send(job, 0, first[3]), [])  # without first[2]
        self.assertEqual(self.drop_count(OUT_OF_ORDER), before + 1)
        # worker 0 sends all again: what was complete is for itself, the rest for both, whose messages go on
        for i, frame in enumerate(job.message(0, 0, 0, v[0], (1, 0, 0))):
            out = self.send(job, 0, frame)
            self.assertEqual([p for p, _ in out], [0] if i < 2 else [0, 1])
            for w, (_, frame) in enumerate(out):
                self.assert_answer(job, w, 0, frame, (FIRST, MIDDLE, MIDDLE, LAST_IMMEDIATE)[i], total(v[0][i], v[1][i]), 0,
                                   (1, 0, 0), blocks=4)

    def test_a_result_that_is_not_the_next_is_not_sent(self):
        """Worker 0 asks again for slots 0 and 1 while worker 1 completes slot 2: a card would take that for slot 1."""
        job = self.two
        v = [[vector(50 * w + i, 64) for i in range(3)] for w in range(2)]
        for frame in job.message(0, 0, 0, v[0], (1, 0, 0)):
            self.assertEqual(self.send(job, 0, frame), [])
        other = job.message(1, 0, 0, v[1], (1, 0, 0))
        again = job.message(0, 0, 0, v[0], (1, 0, 0))
        for i in (0, 1):
            for w, (_, frame) in enumerate(self.send(job, 1, other[i])):
                self.assert_answer(job, w, 0, frame, (FIRST, MIDDLE)[i], total(v[0][i], v[1][i]), 0, blocks=3)
        (port, frame), = self.send(job, 0, again[0])
        self.assert_answer(job, 0, 0, frame, FIRST, total(v[0][0], v[1][0]), 0, blocks=3)
        (port, frame), = self.send(job, 1, other[2])  # for worker 1 alone
        self.assertEqual(port, 1)
        self.assert_answer(job, 1, 0, frame, LAST_IMMEDIATE, total(v[0][2], v[1][2]), 0, (1, 0, 0))
        self.assertEqual(self.switch.counter("strays", 1)[0], 1)
        for i in (1, 2):
            (port, frame), = self.send(job, 0, again[i])
            self.assertEqual(port, 0)
            self.assert_answer(job, 0, 0, frame, (FIRST, MIDDLE, LAST_IMMEDIATE)[i], total(v[0][i], v[1][i]), 0, (1, 0, 0))

    def test_late_copies_do_not_count(self):
        job = self.two
        old = job.message(0, 0, 0, [vector(1, 64), vector(2, 64)])
        for frame in old:
            self.assertEqual(self.send(job, 0, frame), [])
        for frame in job.message(1, 0, 0, [vector(3, 64), vector(4, 64)]):
            self.assertEqual(len(self.send(job, 1, frame)), 2)
        self.answered = {(1, 0): 2, (2, 0): 2}
        self.complete(job, 0, 1, 64, 2)
        before = self.drop_count(OUT_OF_ORDER)
        for frame in old:  # version 0 again, of which worker 0's bits are clear: they would be added
            self.assertEqual(self.send(job, 0, frame), [])
        self.assertEqual(self.drop_count(OUT_OF_ORDER), before + 2)
        self.complete(job, 0, 0, 64, 2, seed=9)

    def test_reordered_packets(self):
        job = self.two
        frames = job.message(0, 0, 0, [vector(i, 64) for i in range(3)])
        before = self.drop_count(OUT_OF_ORDER)
        for i in (0, 2, 1):
            self.assertEqual(self.send(job, 0, frames[i]), [])
        self.assertEqual(self.drop_count(OUT_OF_ORDER), before + 1)
        self.assertEqual(self.send(job, 0, frames[2]), [])  # and now it is the next
        self.assertEqual(self.drop_count(OUT_OF_ORDER), before + 1)


class NotTrusted(RoceTest):
    def refused(self, worker, frame, reason):
        before = self.drop_count(reason)
        self.assertEqual(self.send(self.two, worker, frame), [])
        self.assertEqual(self.drop_count(reason), before + 1)

    def test_slots_outside_the_pool(self):
        for rkey in (32, 33, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0xFFFFFFFF):
            self.refused(0, self.two.frame(0, 0, ONLY_IMMEDIATE, self.two.psn.setdefault((0, 0), 0), vector(1, 64), rkey, 256),
                         BAD_POOL_INDEX)
        self.complete(self.two, 0, 0, 64, 1)
        self.complete(self.three, 0, 0, 64, 1)

    def test_a_message_does_not_leave_the_pool(self):
        for version in (0, 1):
            psn = 3 * version
            self.assertEqual(self.send(self.two, 0, self.two.frame(0, 3, FIRST, psn, vector(1, 64), 28 | version, 1024)), [])
            self.assertEqual(self.send(self.two, 0, self.two.frame(0, 3, MIDDLE, psn + 1, vector(1, 64))), [])
            self.refused(0, self.two.frame(0, 3, MIDDLE, psn + 2, vector(1, 64)), OUT_OF_ORDER)
        self.complete(self.three, 0, 0, 64, 2)  # which has the slots behind it

    def test_a_message_has_a_beginning(self):
        for opcode in (MIDDLE, LAST, LAST_IMMEDIATE):
            self.refused(0, self.two.frame(0, 2, opcode, 0, vector(1, 64)), OUT_OF_ORDER)

    def test_lengths(self):
        frame = bytearray(self.two.frame(0, 0, MIDDLE, 0, vector(1, 64))) + bytes(1)
        frame[16:18] = struct.pack(">H", 301)
        self.refused(0, sealed(frame), BAD_LENGTH)
        frame = bytearray(self.two.frame(0, 0, ONLY, 0, vector(1, 64)))
        frame[43] |= 0x10  # a byte of padding
        self.refused(0, sealed(frame), BAD_LENGTH)
        frame = bytearray(self.two.frame(0, 0, ONLY_IMMEDIATE, 0, vector(1, 64))[:200])
        frame[16:18] = struct.pack(">H", 186)
        self.refused(0, sealed(frame), 1)  # PARSER_ERROR

    def test_the_invariant_crc(self):
        """Every bit that it covers, and frames that end too early for it; not what routers change, nor other packets."""
        frame = self.two.frame(0, 1, ONLY_IMMEDIATE, 3, vector(1, 64), 8, 256)
        free = {15, 22, 24, 25, 40, 41, 46}  # and bytes that make another packet of it: type to fragments, protocol, port
        other = {12, 13, 14, 20, 21, 23, 36, 37}
        bad = []
        for at in range(14, len(frame)):
            if at not in free | other:
                bad.append(frame[:at] + bytes([frame[at] ^ 1 << at % 8]) + frame[at + 1:])
        bad += [frame[:-1], frame[:-4], frame[:60], frame[:42], frame[:-4] + bytes(reversed(frame[-4:]))]
        for n, wrong in enumerate(bad, 1):
            self.assertEqual(self.send(self.two, 0, wrong), [])
            self.assertEqual(self.switch.drops().get(REFUSED), n)
        self.assertEqual(self.drop_count(OUT_OF_ORDER) + self.drop_count(BAD_POOL_INDEX) + self.drop_count(BAD_LENGTH), 0)
        routed = bytearray(frame)
        for at in free:
            routed[at] ^= 0x55
        self.assertEqual(self.send(self.two, 0, routed + bytes(7)), [])  # with padding of Ethernet's after it
        out = self.send(self.two, 1, self.two.frame(1, 1, ONLY_IMMEDIATE, 0, vector(2, 64), 8, 256))
        self.assertEqual([p for p, _ in out], [0, 1])
        self.assertEqual(self.switch.drops().get(REFUSED), len(bad))
        plain = bytearray(frame)
        plain[:6] = bytes.fromhex(worker_mac(2).replace(":", ""))
        plain[36:38] = struct.pack(">H", 4790)
        self.assertEqual(self.send(self.two, 0, plain), [(1, bytes(plain))])

    def test_writes_between_workers_are_forwarded(self):
        job = self.two
        for frame in (job.frame(0, 0, ONLY, 0, vector(1, 64), dst=worker_ip(2)), job.frame(0, 0, ONLY, 0, vector(1, 3), dst=worker_ip(2)),
                      job.frame(0, 0, 0x04, 0, vector(1, 256), qpn=17, dst=worker_ip(2)),
                      job.frame(0, 0, 0x24, 0, vector(1, 1), qpn=17, dst=worker_ip(2))):
            frame = bytes.fromhex(worker_mac(2).replace(":", "")) + frame[6:]
            self.assertEqual(self.send(job, 0, frame), [(1, frame)])

    def test_another_sessions_queue_pair_is_not_ours(self):
        out = self.send(self.two, 0, self.two.frame(0, 0, ONLY, 0, vector(1, 64), qpn=SESSION + 1 << 14 | 1 << 6))
        self.assertNotIn(0, [p for p, _ in out])
        self.assertEqual(self.switch.register("tally0.cells", 0, "missing")[0], 0)


if __name__ == "__main__":
    tally.main()
