#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/atp/atp.p4, packet by packet: every box of figures 7 and 17 of the ATP paper, at both levels, what
is not aggregated, and what is not trusted. Last, random packets against a model of the paper's text."""
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

SERVER_MAC, SERVER_PORT = "02:00:00:00:ee:01", 16
PARAMETERS_MAC, GROUP = "01:00:5e:00:00:07", 100
WORKER_PORTS = [0, 1, 2, 130]  # the last one is another pipe's
VALUES = 62
UDP_PORT = 0xA790
MAX, MIN = (1 << 31) - 1, -(1 << 31)
ABANDONED = 15259 * 65536  # ns

# drop_reason_t of the program
PARSER_ERROR, BAD_CHECKSUM, BAD_LENGTH, BAD_FRAGMENT, DUPLICATE = range(1, 6)


def worker_mac(worker):
    return f"02:00:00:00:00:{worker + 1:02x}"


def fragment(job, sequence):
    return job << 24 | sequence


class Packet:
    """An ATP packet: what a test wants it to be, or what came out."""

    FLAGS = ("edge", "resend", "collision", "ecn", "overflow", "is_ack")

    def __init__(self, values, index=5, job=7, sequence=1, bits=(1, 0), fan_in=(2, 1), **flags):
        self.values, self.index = list(values), index
        self.fragment = fragment(job, sequence)
        self.bits, self.fan_in = tuple(bits), tuple(fan_in)
        self.flags = {f: int(flags.get(f, 0)) for f in self.FLAGS}

    def payload(self):
        f = self.flags
        out = struct.pack(
            ">IIBBHI", *self.bits,
            f["edge"] << 7 | f["resend"] << 6 | f["collision"] << 5 | self.fan_in[0] - 1,
            f["ecn"] << 7 | f["overflow"] << 6 | f["is_ack"] << 5 | self.fan_in[1] - 1,
            self.index, self.fragment)
        return out + struct.pack(f">{len(self.values)}i", *self.values)

    def frame(self, worker=0, dst=SERVER_MAC, ip_length=None, udp_length=None):
        """The lengths are right if they are not given."""
        return bytes(Ether(dst=dst, src=worker_mac(worker))
                     / IP(src=f"10.0.0.{worker + 1}", dst="10.0.0.254", len=ip_length)
                     / UDP(sport=UDP_PORT, dport=UDP_PORT, chksum=0, len=udp_length)
                     / self.payload())

    @classmethod
    def of(cls, frame):
        p = cls([])
        bits0, bits1, a, b, p.index, p.fragment = struct.unpack(">IIBBHI", frame[42:58])
        p.bits, p.fan_in = (bits0, bits1), ((a & 31) + 1, (b & 31) + 1)
        p.flags = dict(zip(cls.FLAGS, (a >> 7, a >> 6 & 1, a >> 5 & 1, b >> 7, b >> 6 & 1, b >> 5 & 1)))
        p.values = list(struct.unpack(f">{VALUES}i", frame[58:]))
        return p

    def key(self):
        return (self.bits, self.fan_in, self.index, self.fragment, sorted(self.flags.items()),
                self.values)

    def but(self, **changes):
        p = Packet(changes.pop("values", self.values))
        p.index, p.fragment, p.fan_in = self.index, self.fragment, self.fan_in
        p.bits = changes.pop("bits", self.bits)
        p.flags = {**self.flags, **changes}
        return p


def configuration():
    nodes = [{"id": w + 1, "rid": 0, "ports": [p]} for w, p in enumerate(WORKER_PORTS)]
    stations = {worker_mac(w): p for w, p in enumerate(WORKER_PORTS)}
    stations[SERVER_MAC] = SERVER_PORT
    return {
        "program": os.path.abspath("p4/atp/atp.p4"),
        "ports": [{"port": p, "device": f"net_null{p}"} for p in [*WORKER_PORTS, SERVER_PORT]],
        "multicast": {"nodes": nodes, "groups": [{"id": GROUP, "nodes": [n["id"] for n in nodes]}]},
        "entries": [{"table": "macs", "key": {"hdr.ethernet.dst_addr": mac}, "action": "to_port",
                     "args": {"port": port}} for mac, port in stations.items()]
        + [{"table": "macs", "key": {"hdr.ethernet.dst_addr": PARAMETERS_MAC}, "action": "to_group",
            "args": {"group": GROUP}}],
    }


def vector(seed):
    r = random.Random(seed)
    return [r.randrange(-(1 << 28), 1 << 28) for _ in range(VALUES)]


def saturated(v):
    return max(MIN, min(MAX, v))


def added(a, b):
    """What was at the end of its range may have been more, and stays there."""
    return a if a in (MIN, MAX) else saturated(a + b)


def total(*vectors):
    """Added one after the other, in this order."""
    out = [0] * VALUES
    for v in vectors:
        out = [added(a, b) for a, b in zip(out, v)]
    return out


class SwitchTest(unittest.TestCase):
    def setUp(self):
        self.switch = Switch(configuration())
        self.addCleanup(self.switch.close)

    def send(self, packet, worker=0):
        return self.switch.send(WORKER_PORTS[worker], packet.frame(worker))

    def ack(self, packet):
        return self.switch.send(SERVER_PORT, packet.but(is_ack=1).frame(dst=PARAMETERS_MAC))

    def assert_to_server(self, out, expected, worker):
        """One packet, to the server, from 'worker' as far as addresses go."""
        self.assertEqual([p for p, _ in out], [SERVER_PORT])
        frame = out[0][1]
        self.assertEqual(frame[:42], expected.frame(worker)[:42])
        self.assertEqual(Packet.of(frame).key(), expected.key())

    def assert_absorbed(self, out):
        self.assertEqual(out, [])

    def owner(self, index=5):
        return self.switch.register("owners", index & 0x3FFF, "fragment")[index >> 14]

    def dropped(self, reason):
        return self.switch.counter("Ingress.drops", reason)[0]


class FirstLevel(SwitchTest):
    """Figure 7, edgeSwitchIdentifier 0."""

    def test_sum_goes_to_the_server(self):
        a, b, c = (vector(i) for i in range(3))
        self.assert_absorbed(self.send(Packet(a, bits=(1, 0), fan_in=(3, 1)), 0))
        self.assertEqual(self.owner(), fragment(7, 1))
        self.assert_absorbed(self.send(Packet(b, bits=(2, 0), fan_in=(3, 1)), 1))
        out = self.send(Packet(c, bits=(4, 0), fan_in=(3, 1)), 2)
        self.assert_to_server(
            out, Packet(total(a, b, c), bits=(7, 0), fan_in=(3, 1), edge=1), 2)
        # it stays until the server's parameters come (3.5)
        self.assertEqual(self.owner(), fragment(7, 1))

    def test_one_worker_is_complete_at_once(self):
        a = vector(1)
        out = self.send(Packet(a, bits=(1, 2), fan_in=(1, 4)))
        self.assert_to_server(out, Packet(a, bits=(1, 2), fan_in=(1, 4), edge=1), 0)
        # and its values are in the aggregator: asked again, they come from there
        out = self.send(Packet([0] * VALUES, bits=(1, 2), fan_in=(1, 4), resend=1))
        self.assert_to_server(out, Packet(a, bits=(1, 2), fan_in=(1, 4), resend=1, edge=1), 0)

    def test_32_workers(self):
        vectors = [vector(w) for w in range(32)]
        for w in range(31):
            self.assert_absorbed(self.send(Packet(vectors[w], bits=(1 << w, 0), fan_in=(32, 1))))
        out = self.send(Packet(vectors[31], bits=(1 << 31, 0), fan_in=(32, 1)))
        self.assert_to_server(out, Packet(total(*vectors), bits=((1 << 32) - 1, 0), fan_in=(32, 1),
                                          edge=1), 0)

    def test_parameters_free_the_aggregator(self):
        a = Packet(vector(1))
        self.send(a)
        parameters = Packet(vector(9))
        out = self.ack(parameters)
        self.assertEqual([p for p, _ in out], sorted(WORKER_PORTS))
        for _, frame in out:
            self.assertEqual(Packet.of(frame).key(), parameters.but(is_ack=1).key())
        self.assertEqual(self.owner(), 0)
        # a new owner begins anew
        b = vector(2)
        self.assert_absorbed(self.send(Packet(b, job=9, bits=(1, 0))))
        out = self.send(Packet(a.values, job=9, bits=(2, 0)), 1)
        self.assert_to_server(out, Packet(total(b, a.values), job=9, bits=(3, 0), edge=1), 1)

    def test_parameters_of_others_free_nothing(self):
        self.send(Packet(vector(1)))
        for other in (Packet(vector(2), job=8), Packet(vector(2), sequence=2)):
            self.assertEqual(len(self.ack(other)), len(WORKER_PORTS))
            self.assertEqual(self.owner(), fragment(7, 1))

    def test_collision_goes_on_with_its_flags(self):
        a, b = vector(1), vector(2)
        self.send(Packet(a))
        out = self.send(Packet(b, job=8))
        self.assert_to_server(out, Packet(b, job=8, resend=1, collision=1, edge=1), 0)
        # neither sum has anything of the other
        out = self.send(Packet(b, bits=(2, 0)), 1)
        self.assert_to_server(out, Packet(total(a, b), bits=(3, 0), edge=1), 1)

    def test_duplicate_is_dropped_and_counted_once(self):
        a, b = vector(1), vector(2)
        self.send(Packet(a))
        self.assert_absorbed(self.send(Packet(a)))
        self.assertEqual(self.dropped(DUPLICATE), 1)
        out = self.send(Packet(b, bits=(2, 0)), 1)
        self.assert_to_server(out, Packet(total(a, b), bits=(3, 0), edge=1), 1)
        self.assert_absorbed(self.send(Packet(b, bits=(2, 0)), 1))

    def test_marks_are_merged(self):
        a, b = vector(1), vector(2)
        for first, again, last in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)):
            with self.subTest(first=first, again=again, last=last):
                self.send(Packet(a, ecn=first))
                self.assert_absorbed(self.send(Packet(a, ecn=again)))
                out = self.send(Packet(b, bits=(2, 0), ecn=last), 1)
                self.assert_to_server(out, Packet(total(a, b), bits=(3, 0), edge=1,
                                                  ecn=first | again | last), 1)
                self.ack(Packet(a))

    def test_sums_saturate(self):
        a = [MAX, MIN, MAX - 5, MIN + 5] * 15 + [1, -1]
        b = [1, -1, 5, -5] * 15 + [MAX, MIN]
        self.send(Packet(a, fan_in=(3, 1)))
        self.send(Packet(b, bits=(2, 0), fan_in=(3, 1)), 1)
        c = [-1, 1, 1, -1] * 15 + [0, 0]
        out = self.send(Packet(c, bits=(4, 0), fan_in=(3, 1)), 2)
        self.assert_to_server(out, Packet(total(a, b, c), bits=(7, 0), fan_in=(3, 1), edge=1), 2)

    def test_saturated_sums_stay_so(self):
        # section 3.8: else the server would not see that a sum did not fit. In both halves of the values,
        # and the first packet's values may be at the limit too
        a = [1500000000, -1500000000, MAX, MIN, MAX - 1, MIN + 1, 7, 0] * 7 + [MAX] * 6
        b = [1500000000, -1500000000, -1, 1, 0, 0, 0, 0] * 7 + [-5] * 6
        c = [-1000000000, 1000000000, -9, 9, -1, 1, -7, 0] * 7 + [0] * 6
        for w, values in enumerate((a, b)):
            self.assert_absorbed(self.send(Packet(values, bits=(1 << w, 0), fan_in=(3, 1)), w))
        out = self.send(Packet(c, bits=(4, 0), fan_in=(3, 1)), 2)
        expected = [MAX, MIN, MAX, MIN, MAX - 2, MIN + 2, 0, 0] * 7 + [MAX] * 6
        self.assert_to_server(out, Packet(expected, bits=(7, 0), fan_in=(3, 1), edge=1), 2)

    def test_workers_of_another_pipe(self):
        # the aggregator is of pipe 0; one worker is attached to pipe 1
        a, b = vector(1), vector(2)
        self.assert_absorbed(self.send(Packet(a, bits=(8, 0)), 3))
        out = self.send(Packet(b, bits=(1, 0)), 0)
        self.assert_to_server(out, Packet(total(a, b), bits=(9, 0), edge=1), 0)
        # and aggregators of each other pipe
        for pipe in range(1, 4):
            index = pipe << 14 | 77
            self.assert_absorbed(self.send(Packet(a, index=index, bits=(1, 0)), 0))
            out = self.send(Packet(b, index=index, bits=(8, 0)), 3)
            self.assert_to_server(out, Packet(total(a, b), index=index, bits=(9, 0), edge=1), 3)
            self.assertEqual(self.owner(index), fragment(7, 1))
            self.assertEqual(len(self.ack(Packet(a, index=index))), len(WORKER_PORTS))
            self.assertEqual(self.owner(index), 0)


class FirstLevelAgain(SwitchTest):
    """Figure 17, edgeSwitchIdentifier 0."""

    def test_without_an_aggregator(self):
        a = vector(1)
        out = self.send(Packet(a, resend=1))
        self.assert_to_server(out, Packet(a, resend=1, edge=1), 0)
        self.assertEqual(self.owner(), 0, "it takes none")

    def test_with_the_aggregator_of_another(self):
        a = vector(1)
        self.send(Packet(a, job=8))
        out = self.send(Packet(a, resend=1))
        self.assert_to_server(out, Packet(a, resend=1, edge=1), 0)
        self.assertEqual(self.owner(), fragment(8, 1))

    def test_not_in_the_sum_yet(self):
        a, b, c = (vector(i) for i in range(3))
        self.send(Packet(a, bits=(1, 0), fan_in=(3, 1), ecn=1))
        out = self.send(Packet(b, bits=(2, 0), fan_in=(3, 1), resend=1), 1)
        self.assert_to_server(out, Packet(total(a, b), bits=(3, 0), fan_in=(3, 1), resend=1,
                                          ecn=1, edge=1), 1)
        self.assertEqual(self.owner(), 0)
        # the others' go on as they are
        for w, v in ((0, a), (2, c)):
            out = self.send(Packet(v, bits=(1 << w, 0), fan_in=(3, 1), resend=1), w)
            self.assert_to_server(out, Packet(v, bits=(1 << w, 0), fan_in=(3, 1), resend=1,
                                              edge=1), w)

    def test_in_the_sum_already(self):
        a, b = vector(1), vector(2)
        self.send(Packet(a, bits=(1, 0), fan_in=(3, 1)))
        self.send(Packet(b, bits=(2, 0), fan_in=(3, 1)), 1)
        out = self.send(Packet(a, bits=(1, 0), fan_in=(3, 1), resend=1))
        self.assert_to_server(out, Packet(total(a, b), bits=(3, 0), fan_in=(3, 1), resend=1,
                                          edge=1), 0)
        self.assertEqual(self.owner(), 0)

    def test_after_completion(self):
        # the sum was lost on its way to the server
        a, b = vector(1), vector(2)
        self.send(Packet(a))
        self.send(Packet(b, bits=(2, 0)), 1)
        out = self.send(Packet(a, resend=1))
        self.assert_to_server(out, Packet(total(a, b), bits=(3, 0), resend=1, edge=1), 0)
        self.assertEqual(self.owner(), 0)


class SecondLevel(SwitchTest):
    """edgeSwitchIdentifier 1: bitmap1 and fanInDegree1."""

    def test_sum_of_sums(self):
        a, b = vector(1), vector(2)
        self.assert_absorbed(self.send(Packet(a, bits=(3, 1), fan_in=(2, 2), edge=1)))
        out = self.send(Packet(b, bits=(5, 2), fan_in=(2, 2), edge=1), 1)
        self.assert_to_server(out, Packet(total(a, b), bits=(5, 3), fan_in=(2, 2), edge=1), 1)

    def test_one_switch(self):
        a = vector(1)
        out = self.send(Packet(a, bits=(3, 1), fan_in=(2, 1), edge=1))
        self.assert_to_server(out, Packet(a, bits=(3, 1), fan_in=(2, 1), edge=1), 0)

    def test_duplicate(self):
        a = Packet(vector(1), bits=(3, 1), fan_in=(2, 2), edge=1)
        self.send(a)
        self.assert_absorbed(self.send(a))
        self.assertEqual(self.dropped(DUPLICATE), 1)

    def test_again_frees_and_goes_on_as_it_is(self):
        a, b = vector(1), vector(2)
        self.send(Packet(a, bits=(3, 1), fan_in=(2, 2), edge=1))
        partial = Packet(b, bits=(1, 2), fan_in=(2, 2), edge=1, resend=1)
        self.assert_to_server(self.send(partial, 1), partial, 1)
        self.assertEqual(self.owner(), 0)

    def test_again_leaves_others_alone(self):
        a = vector(1)
        self.send(Packet(a, job=8, bits=(3, 1), fan_in=(2, 2), edge=1))
        other = Packet(a, bits=(1, 2), fan_in=(2, 2), edge=1, resend=1)
        self.assert_to_server(self.send(other), other, 0)
        self.assertEqual(self.owner(), fragment(8, 1))

    def test_collided_below_is_not_aggregated(self):
        collided = Packet(vector(1), bits=(1, 1), fan_in=(2, 2), edge=1, resend=1, collision=1)
        self.assert_to_server(self.send(collided), collided, 0)
        self.assertEqual(self.owner(), 0)

    def test_collision(self):
        self.send(Packet(vector(1), bits=(3, 1), fan_in=(2, 2), edge=1))
        b = Packet(vector(2), job=8, bits=(3, 1), fan_in=(2, 2), edge=1)
        self.assert_to_server(self.send(b), b.but(resend=1, collision=1), 0)


class Others(SwitchTest):
    def test_floats_are_not_added(self):
        for level in (0, 1):
            for resend in (0, 1):
                self.send(Packet(vector(1), bits=(1, 1), fan_in=(2, 2), edge=level))
                floats = Packet(vector(2), bits=(2, 2), fan_in=(2, 2), edge=level, overflow=1,
                                resend=resend)
                self.assert_to_server(self.send(floats), floats.but(edge=1), 0)
                self.assertEqual(self.owner(), 0)

    def test_long_queues_mark(self):
        c = configuration()
        c["entries"].append({"table": "queues", "key": {"eg_intr_md.enq_qdepth": "0..0"},
                             "action": "mark", "args": {}})
        switch = Switch(c)
        self.addCleanup(switch.close)
        a = Packet(vector(1), fan_in=(1, 1))
        self.assert_to_server(switch.send(0, a.frame()), a.but(edge=1, ecn=1), 0)

    def test_abandoned_aggregator(self):
        self.send(Packet(vector(1)))
        other = Packet(vector(2), job=8)
        self.switch.wait(ABANDONED // 2)
        self.assert_absorbed(self.send(Packet(vector(1), bits=(1, 0))))  # a sign of life
        self.switch.wait(ABANDONED // 2 + 200000)
        self.ack(other)
        self.assertEqual(self.owner(), fragment(7, 1))
        # what collides is none
        self.switch.wait(ABANDONED // 2)
        self.assertEqual(len(self.send(other)), 1)
        self.switch.wait(200000)
        self.ack(other)
        self.assertEqual(self.owner(), 0)

    def test_not_trusted(self):
        good, longer = Packet(vector(1)).frame(), Packet([*vector(1), 5])
        bad = {
            PARSER_ERROR: [good[:200], good[:58]],
            BAD_LENGTH: [longer.frame(), Packet(vector(1)).frame(ip_length=len(good) - 13),
                         Packet(vector(1)).frame(udp_length=len(good) - 35)],
            BAD_CHECKSUM: [good[:24] + b"\x12\x34" + good[26:]],
            BAD_FRAGMENT: [Packet(vector(1), job=0).frame(), Packet(vector(1), job=128).frame()],
        }
        for reason, frames in bad.items():
            for n, frame in enumerate(frames, 1):
                self.assertEqual(self.switch.send(0, frame), [])
                self.assertEqual(self.dropped(reason), n, (reason, n))
        self.assertEqual(self.owner(), 0)
        self.assertEqual(self.switch.drops(), {"drop_ctl in ingress": sum(map(len, bad.values()))})

    def test_ordinary_traffic(self):
        for frame in (Ether(dst=worker_mac(1), src=worker_mac(0)) / IP(dst="10.0.0.2") / ICMP(),
                      Ether(dst=worker_mac(1), src=worker_mac(0)) / IP(dst="10.0.0.2", flags="MF")
                      / UDP(dport=UDP_PORT) / bytes(264),
                      Ether(dst=worker_mac(1), src=worker_mac(0), type=0x86DD) / bytes(50)):
            self.assertEqual(self.switch.send(0, frame), [(1, bytes(frame))])


class Model:
    """A switch after sections 3.5, 3.7 and A.1: one packet after the other, each at once."""

    def __init__(self):
        self.aggregators = {}  # index: [fragment, bits, values, ecn, count]
        self.ended = None

    def send(self, p):
        """What goes on, or None: for the reason 'ended'."""
        level, f = p.flags["edge"], p.flags
        mine = self.aggregators.get(p.index)
        if mine and mine[0] != p.fragment:
            mine = None
        if f["overflow"] or (f["resend"] and level == 1):
            if mine:
                del self.aggregators[p.index]
            return p.but(edge=1)
        if not mine:
            if f["resend"]:
                return p.but(edge=1)
            if p.index in self.aggregators:
                return p.but(edge=1, resend=1, collision=1)
            mine = self.aggregators[p.index] = [p.fragment, 0, [0] * VALUES, 0, 0]
        seen = mine[1] & p.bits[level]
        mine[3] |= f["ecn"]
        if not seen:
            mine[1] |= p.bits[level]
            mine[2] = total(mine[2], p.values)
            mine[4] += 1
        if f["resend"]:
            del self.aggregators[p.index]
        elif seen or mine[4] < p.fan_in[level]:
            self.ended = "drop_ctl in ingress" if seen else "consumed in ingress"
            return None
        bits = (mine[1], p.bits[1]) if level == 0 else (p.bits[0], mine[1])
        return p.but(edge=1, ecn=mine[3], bits=bits, values=mine[2])

    def ack(self, p):
        if p.index in self.aggregators and self.aggregators[p.index][0] == p.fragment:
            del self.aggregators[p.index]


class Random(SwitchTest):
    def test_against_the_model(self):
        r = random.Random(20)
        model, sent_on = Model(), 0
        for n in range(4000):
            job = r.randrange(1, 4)
            # the level and the fan-in belong to the job
            level, workers = job % 2, 1 + job
            w = r.randrange(workers)
            bits = (1 << w, 0) if level == 0 else (5, 1 << w)
            fan_in = (workers, 9) if level == 0 else (3, workers)
            p = Packet([r.choice((r.randrange(MIN, MAX + 1), r.randrange(-9, 9)))
                        for _ in range(VALUES)], job=job, sequence=r.randrange(2),
                       index=r.choice((3, 3 << 14 | 3, 16383)), bits=bits, fan_in=fan_in, edge=level,
                       resend=r.random() < 0.15, ecn=r.random() < 0.2, overflow=r.random() < 0.02)
            if r.random() < 0.15:
                model.ack(p)
                self.assertEqual(len(self.ack(p.but(resend=0, overflow=0))), len(WORKER_PORTS))
                continue
            worker = w % len(WORKER_PORTS)
            expected = model.send(p)
            out = self.send(p, worker)
            if expected is None:
                self.assert_absorbed(out)
            else:
                self.assert_to_server(out, expected, worker)
                sent_on += 1
        self.assertGreater(sent_on, 500)


if __name__ == "__main__":
    tally.main()
