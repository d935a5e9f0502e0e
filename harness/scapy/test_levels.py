#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/switchml/with_levels.p4 and virtual.p4, packet by packet: sums over two and three levels of switches, what is lost
between them, and what comes late or twice. Frames are built here byte by byte; nothing of the host stack is used."""
import json
import logging
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

import tally  # noqa: E402
from elements import vector  # noqa: E402
from switch import BUILD, Switch  # noqa: E402
from test_switchml import Result, ones_sum, total  # noqa: E402

JOB, GROUP, ABOVE_GROUP, FLOOD = 7, 100, 101, 999
POOL_BASE, POOL_SIZE = 32, 16
SIZES = {32: 0, 64: 1, 128: 2, 256: 3}
TO_JOB, TO_ABOVE = 0, 2
BAD_LENGTH, UNKNOWN_WORKER, BAD_POOL_INDEX, DUPLICATE, BAD_STATE, OTHER_SESSION, STALE_RESULT, KNOWN_RESULT = \
    3, 4, 5, 6, 7, 8, 11, 12


class Station:
    """A worker or a switch, and the port of the switch above that it is at."""

    def __init__(self, number, port):
        self.mac = f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"
        self.ip = f"10.0.{number >> 8}.{number & 255}"
        self.port = port
        self.above = None


class Node(Station):
    """A switch with 'below' stations; 'up' is its own port towards the switch above. Of a chip whose pipes are switches of
    their own, 'chip' is the first of them, whose process all share."""

    def __init__(self, number, port, up, below, chip=None):
        super().__init__(number, port)
        self.up, self.below, self.chip = up, below, chip or self
        for station in below:
            station.above = self

    def entries(self, rids, group):
        """Table entries, multicast nodes and groups of this switch's part of the job."""
        entries, nodes, members = [], [], []
        pool = {"pool_base": POOL_BASE, "pool_last": POOL_SIZE - 1}
        key = lambda ip, port: {"hdr.switchml.job_number": JOB, "hdr.ipv4.src_addr": ip,
                                "ig_intr_md.ingress_port": port}
        for i, s in enumerate(self.below):
            entries.append({"table": "workers", "key": key(s.ip, s.port), "action": "admit",
                            "args": {"worker_bit": 1 << i, "num_workers": len(self.below), "group": group,
                                     "rid": rids + i, "port": s.port, **pool,
                                     "way": TO_ABOVE if self.above else TO_JOB, "above": group + 1 if self.above else 0}})
            entries.append({"table": "receivers", "key": {"md.rid": rids + i}, "action": "address",
                            "args": {"mac": s.mac, "ip": s.ip, "udp_port": 0xBEE0}})
            nodes.append({"id": rids + i, "rid": rids + i, "ports": [s.port]})
            members.append(rids + i)
        groups = [{"id": group, "nodes": members}]
        if self.above:
            rid = rids + len(self.below)
            entries.append({"table": "workers", "key": key(self.above.ip, self.up), "action": "result",
                            "args": {"group": group, **pool}})
            entries.append({"table": "receivers", "key": {"md.rid": rid}, "action": "above",
                            "args": {"mac": self.above.mac, "ip": self.above.ip, "own_mac": self.mac, "own_ip": self.ip}})
            nodes.append({"id": rid, "rid": rid, "ports": [self.up]})
            groups.append({"id": group + 1, "nodes": [rid]})
        return entries, nodes, groups


class Net:
    """Switches, and the links between them. A frame that leaves is in 'links' until it is let go on; 'lose' says of
    each whether the link loses it."""

    def __init__(self, nodes, program, sessions=()):
        self.nodes, self.program = nodes, program
        self.lose = lambda link, frame: False
        self.sent = []      # (from, to) of what went between switches
        self.drops = {}
        chips = {}
        for node in nodes:
            chips.setdefault(node.chip, []).append(node)
        for chip, members in chips.items():
            entries, mnodes, groups = [], [], []
            for i, node in enumerate(members):
                for into, part in zip((entries, mnodes, groups), node.entries(1 + 40 * i, GROUP + 2 * i)):
                    into.extend(part)
            entries.extend(sessions)
            ports = sorted({p for n in mnodes for p in n["ports"]})
            chip.switch = Switch({
                "program": os.path.abspath(program),
                "ports": [{"port": p, "device": f"net_null{p}"} for p in ports],
                "multicast": {"nodes": mnodes, "groups": groups}, "entries": entries})

    def close(self):
        for chip in {node.chip for node in self.nodes}:
            chip.switch.close()

    def station_at(self, chip, port):
        for node in self.nodes:
            if node.chip is chip:
                for s in node.below:
                    if s.port == port:
                        return node, s
                if node.up == port and node.above:
                    return node, node.above
        raise AssertionError(f"a frame left by port {port}, where nobody is")

    def into(self, chip, port, frame):
        """One frame into a switch, and all that follows; returns [(worker, frame)] of what came to workers."""
        out, waiting = [], [(chip, port, frame)]
        while waiting:
            chip, port, frame = waiting.pop(0)
            for p, f in chip.switch.send(port, frame):
                node, to = self.station_at(chip, p)
                if not isinstance(to, Node):
                    out.append((to, f))
                    continue
                self.sent.append((node, to, f))
                if not self.lose((node, to), f):
                    waiting.append((to.chip, node.port if to is node.above else to.up, f))
        return out

    def send(self, worker, slot, version, values, tsi=0, exponents=(0, 0), port=0xBEE0, kind=1):
        frame = packet(worker, slot, version, values, tsi, exponents, port, kind)
        return self.into(worker.above.chip, worker.port, frame)

    def drop_count(self, node, reason):
        return node.chip.switch.counter("Ingress.drops", reason)[0]


def packet(worker, slot, version, values, tsi=0, exponents=(0, 0), port=0xBEE0, kind=1):
    payload = struct.pack(">BBIHbb", (kind << 4) | SIZES[len(values)], JOB, tsi, version << 15 | slot, *exponents)
    payload += struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))
    return bytes(Ether(dst=worker.above.mac, src=worker.mac) / IP(src=worker.ip, dst=worker.above.ip)
                 / UDP(sport=0xBEE0, dport=port, chksum=0) / payload)


def two_racks(ports=(0, 1, 130)):
    """Two racks of two workers, and a worker at the top switch itself."""
    racks = [Node(0x101 + r, ports[r], ports[2], [Station(10 * r + w + 1, ports[w]) for w in range(2)]) for r in range(2)]
    top = Node(0x200, None, None, [*racks, Station(30, ports[2])])
    return [*racks, top], racks[0].below + racks[1].below + [top.below[2]]


class LevelsTest(unittest.TestCase):
    program, size, ports = "p4/switchml/with_levels.p4", 64, (0, 1, 130)

    def build(self):
        return two_racks(self.ports)

    def setUp(self):
        nodes, self.workers = self.build()
        self.net = Net(nodes, self.program, self.sessions())
        self.addCleanup(self.net.close)
        self.low, self.top = nodes[0], nodes[-1]

    def sessions(self):
        return ()

    def values(self, use=0):
        return [vector(100 * use + w, self.size) for w in range(len(self.workers))]

    def assert_results(self, out, values, workers, slot, version, exponents=(0, 0), tsi=0, port=0xBEE0):
        self.assertEqual(sorted(w.ip for w, _ in out), sorted(w.ip for w in workers))
        for w, frame in out:
            r = Result(frame)
            self.assertEqual((r.dst.hex(":"), r.src.hex(":")), (w.mac, w.above.mac))
            self.assertEqual(ones_sum(r.ip), 0xFFFF, "IPv4 header checksum")
            self.assertEqual(".".join(map(str, r.ip[16:20])), w.ip)
            self.assertEqual(".".join(map(str, r.ip[12:16])), w.above.ip)
            self.assertEqual((r.sport, r.dport), (port, 0xBEE0))
            self.assertEqual((r.job, r.tsi, r.size), (JOB, tsi, SIZES[len(values)]))
            self.assertEqual((r.version, r.slot, r.exponents), (version, slot, exponents))
            self.assertEqual(r.values, values)
            self.assertEqual(struct.unpack(">H", r.ip[2:4])[0], len(frame) - 14)

    def fill(self, use, slot=3, but=(), **more):
        """All workers but these send; returns what the last one's packet made come."""
        out = []
        for i, (w, v) in enumerate(zip(self.workers, self.values(use))):
            if i not in but:
                out = self.net.send(w, slot, use % 2, v, tsi=use, **more)
        return out


class TwoRacks(LevelsTest):
    def test_the_last_worker_sends_the_sum_to_all(self):
        for use in range(5):
            v = self.values(use)
            for i in range(len(v) - 1):
                self.assertEqual(self.net.send(self.workers[i], 3, use % 2, v[i], tsi=use), [])
            out = self.net.send(self.workers[-1], 3, use % 2, v[-1], tsi=use)
            self.assert_results(out, total(*v), self.workers, 3, use % 2, tsi=use)

    def test_one_packet_up_and_one_down_for_each_rack(self):
        self.fill(0)
        racks = [n for n in self.net.nodes if n.above]
        self.assertEqual(len(self.net.sent), 2 * len(racks))
        for rack in racks:
            up, = [f for a, b, f in self.net.sent if a is rack and b is rack.above]
            r = Result(up)
            v = self.values(0)
            self.assertEqual(r.values, total(*(v[self.workers.index(w)] for w in leaves(rack))))
            self.assertEqual((r.src.hex(":"), r.dst.hex(":")), (rack.mac, rack.above.mac))
            self.assertEqual(".".join(map(str, r.ip[12:16])), rack.ip)
            self.assertEqual(ones_sum(r.ip), 0xFFFF)

    def test_whatever_the_order(self):
        v = self.values(0)
        order = list(range(len(v)))
        for use in range(6):
            order = order[2:] + order[:2][::-1]
            for i in order[:-1]:
                self.assertEqual(self.net.send(self.workers[i], 5, use % 2, v[i], tsi=use), [])
            out = self.net.send(self.workers[order[-1]], 5, use % 2, v[order[-1]], tsi=use)
            self.assert_results(out, total(*v), self.workers, 5, use % 2, tsi=use)

    def test_the_largest_exponents_of_all_racks(self):
        v = self.values(0)
        out = []
        for i, w in enumerate(self.workers):
            out = self.net.send(w, 2, 0, v[i], exponents=(-5 + 10 * (i == 1), 20 - i))
        self.assert_results(out, total(*v), self.workers, 2, 0, exponents=(5, 20))
        # the same to who asks again
        out = self.net.send(self.workers[0], 2, 0, v[0], exponents=(99, 99))
        self.assert_results(out, total(*v), [self.workers[0]], 2, 0, exponents=(5, 20))

    def test_the_port_that_was_asked_is_the_one_that_answers(self):
        v = self.values(0)
        self.assert_results(self.fill(0, port=0xBEE5), total(*v), self.workers, 3, 0, port=0xBEE5)
        out = self.net.send(self.workers[0], 3, 0, v[0], port=0xBEE5)
        self.assert_results(out, total(*v), [self.workers[0]], 3, 0, port=0xBEE5)

    def test_a_repetition_in_an_incomplete_rack_is_dropped(self):
        v = self.values(0)
        self.net.send(self.workers[0], 3, 0, v[0])
        before = self.net.drop_count(self.low, DUPLICATE)
        self.assertEqual(self.net.send(self.workers[0], 3, 0, v[0]), [])
        self.assertEqual(self.net.drop_count(self.low, DUPLICATE), before + 1)
        self.assertEqual(self.net.sent, [])

    def test_a_repetition_is_answered_by_its_own_switch(self):
        v = self.values(0)
        self.fill(0)
        before = len(self.net.sent)
        for w in self.workers:
            out = self.net.send(w, 3, 0, v[self.workers.index(w)])
            self.assert_results(out, total(*v), [w], 3, 0)
        self.assertEqual(len(self.net.sent), before)

    def test_a_partial_sum_that_is_lost_goes_up_again(self):
        v = self.values(0)
        self.net.lose = lambda link, frame: link[0] is self.low
        self.assertEqual(self.fill(0), [])
        self.net.lose = lambda link, frame: False
        # any of the rack's workers makes it go up
        out = self.net.send(self.workers[1], 3, 0, v[1])
        self.assert_results(out, total(*v), self.workers, 3, 0)

    def test_a_partial_sum_that_comes_twice_counts_once(self):
        v = self.values(0)
        last = len(v) - 1
        self.fill(0, but=[last])
        for i in range(last):
            self.assertEqual(self.net.send(self.workers[i], 3, 0, v[i]), [])    # goes up, and is a repetition there
        self.assert_results(self.net.send(self.workers[last], 3, 0, v[last]), total(*v), self.workers, 3, 0)

    def test_sums_that_are_lost_on_the_way_down(self):
        v = self.values(0)
        self.net.lose = lambda link, frame: link[1] is self.low
        others = [w for w in self.workers if w not in leaves(self.low)]
        self.assert_results(self.fill(0), total(*v), others, 3, 0)
        # everybody else goes on; the rack's workers ask, the switch above answers once, and all of the rack get it
        w = others[0]
        self.assertEqual(self.net.send(w, 3, 1, self.values(1)[self.workers.index(w)], tsi=1), [])
        self.net.lose = lambda link, frame: False
        out = self.net.send(self.workers[0], 3, 0, v[0])
        self.assert_results(out, total(*v), leaves(self.low), 3, 0)
        out = self.net.send(self.workers[1], 3, 0, v[1])
        self.assert_results(out, total(*v), [self.workers[1]], 3, 0)
        v = self.values(1)
        out = self.fill(1, but=[self.workers.index(w)])
        self.assert_results(out, total(*v), self.workers, 3, 1, tsi=1)

    def down_frame(self, use):
        """The sums of a use as they came to the first rack."""
        return [f for a, b, f in self.net.sent if b is self.low and Result(f).tsi == use][-1]

    def test_sums_that_come_twice_change_nothing(self):
        self.fill(0)
        before = self.net.drop_count(self.low, KNOWN_RESULT)
        self.assertEqual(self.net.into(self.low.chip, self.low.up, self.down_frame(0)), [])
        self.assertEqual(self.net.drop_count(self.low, KNOWN_RESULT), before + 1)
        v = self.values(0)
        self.assert_results(self.net.send(self.workers[0], 3, 0, v[0]), total(*v), [self.workers[0]], 3, 0)

    def test_sums_of_an_earlier_use_are_told_from_those_awaited(self):
        for use in range(2):
            self.fill(use)
        late = self.down_frame(0)
        # the next use of the same copy: while its workers are missing, when they are complete, and when it has its sums
        v = self.values(2)
        last = len(v) - 1
        for i in range(last):
            self.assertEqual(self.net.send(self.workers[i], 3, 0, v[i], tsi=2), [])
            before = self.net.drop_count(self.low, STALE_RESULT)
            self.assertEqual(self.net.into(self.low.chip, self.low.up, late), [])
            self.assertEqual(self.net.drop_count(self.low, STALE_RESULT), before + 1)
        out = self.net.send(self.workers[last], 3, 0, v[last], tsi=2)
        self.assert_results(out, total(*v), self.workers, 3, 0, tsi=2)
        self.assertEqual(self.net.into(self.low.chip, self.low.up, late), [])
        self.assert_results(self.net.send(self.workers[0], 3, 0, v[0], tsi=2), total(*v), [self.workers[0]], 3, 0, tsi=2)

    def test_sums_before_the_rack_is_complete_change_nothing(self):
        v = self.values(0)
        self.fill(0)
        early = bytearray(self.down_frame(0))
        early[44:48] = struct.pack(">I", 1)
        early[48:50] = struct.pack(">H", 1 << 15 | 3)
        v = self.values(1)
        self.assertEqual(self.net.send(self.workers[0], 3, 1, v[0], tsi=1), [])
        before = self.net.drop_count(self.low, BAD_STATE)
        self.assertEqual(self.net.into(self.low.chip, self.low.up, bytes(early)), [])
        self.assertEqual(self.net.drop_count(self.low, BAD_STATE), before + 1)
        self.assertEqual(self.net.send(self.workers[0], 3, 1, v[0], tsi=1), [])
        out = self.fill(1, but=[0])
        self.assert_results(out, total(*v), self.workers, 3, 1, tsi=1)

    def test_what_is_refused(self):
        v = self.values(0)
        self.fill(0)
        sums = self.down_frame(0)
        for at, value, reason in ((29, 99, UNKNOWN_WORKER), (49, 16, BAD_POOL_INDEX), (42, 0x17, BAD_LENGTH),
                                  (42, 0xC0 | SIZES[self.size], BAD_LENGTH)):
            frame = bytearray(sums)
            frame[at] = value
            before = self.net.drop_count(self.low, reason)
            self.assertEqual(self.net.into(self.low.chip, self.low.up, bytes(frame)), [])
            self.assertEqual(self.net.drop_count(self.low, reason), before + 1, (at, value))
        # sums that come from a worker are no sums
        before = self.net.drop_count(self.low, UNKNOWN_WORKER)
        self.assertEqual(self.net.into(self.low.chip, self.workers[0].port, sums), [])
        self.assertEqual(self.net.drop_count(self.low, UNKNOWN_WORKER), before + 1)
        self.assert_results(self.net.send(self.workers[0], 3, 0, v[0]), total(*v), [self.workers[0]], 3, 0)

    def test_every_packet_between_switches_lost_once(self):
        """For each n: the nth packet between two switches is lost; workers without an answer ask again, in turn."""
        lost = 0
        for n in range(1, 40):
            use = n
            v = self.values(use)
            count = [0]

            def nth(link, frame):
                count[0] += 1
                return count[0] == n
            self.net.lose = nth
            have = {w.ip for w, _ in self.fill(use)}
            rounds = 0
            while len(have) < len(self.workers):
                for i, w in enumerate(self.workers):
                    if w.ip not in have:
                        out = self.net.send(w, 3, use % 2, v[i], tsi=use)
                        for to, f in out:
                            self.assertEqual(Result(f).values, total(*v))
                            have.add(to.ip)
                rounds += 1
                self.assertLess(rounds, 5)
            lost += count[0] >= n
            self.net.lose = lambda link, frame: False
            self.assertEqual({w.ip for w in self.workers}, have)
        self.assertGreaterEqual(lost, 4)


class OtherSizes(LevelsTest):
    """What differs between packets of 64 elements and others: the passes."""

    def test_sums_and_repetitions(self):
        for slot, self.size in enumerate((32, 128, 256)):
            for use in range(3):
                v = self.values(use)
                self.net.lose = lambda link, frame: link[1] is self.low
                others = self.workers[2:]
                self.assert_results(self.fill(use, slot), total(*v), others, slot, use % 2, tsi=use)
                self.net.lose = lambda link, frame: False
                for workers in (leaves(self.low), self.workers[:1]):
                    out = self.net.send(self.workers[0], slot, use % 2, v[0], tsi=use)
                    self.assert_results(out, total(*v), workers, slot, use % 2, tsi=use)


class TwoRacks256OnOtherPipes(TwoRacks):
    size, ports = 256, (131, 260, 385)


def leaves(node):
    return [w for s in node.below for w in (leaves(s) if isinstance(s, Node) else [s])]


class ThreeLevels(LevelsTest):
    """Four racks below two switches below one."""
    test_sum = TwoRacks.test_the_last_worker_sends_the_sum_to_all
    test_packets = TwoRacks.test_one_packet_up_and_one_down_for_each_rack
    test_exponents = TwoRacks.test_the_largest_exponents_of_all_racks
    test_lost = TwoRacks.test_every_packet_between_switches_lost_once

    def build(self):
        nodes = [Node(0x101 + r, r % 2, 9, [Station(10 * r + w + 1, w) for w in range(2)]) for r in range(4)]
        middle = [Node(0x201 + m, m, 9, nodes[2 * m:2 * m + 2]) for m in range(2)]
        top = Node(0x300, None, None, middle)
        return [*nodes, *middle, top], [w for n in nodes for w in n.below]


class Virtual(LevelsTest):
    """The four pipes of one chip below a top switch, which is a pipe of another."""
    test_sum = TwoRacks.test_the_last_worker_sends_the_sum_to_all
    test_packets = TwoRacks.test_one_packet_up_and_one_down_for_each_rack
    test_order = TwoRacks.test_whatever_the_order
    test_exponents = TwoRacks.test_the_largest_exponents_of_all_racks
    test_answers = TwoRacks.test_a_repetition_is_answered_by_its_own_switch
    test_lost_up = TwoRacks.test_a_partial_sum_that_is_lost_goes_up_again
    test_lost = TwoRacks.test_every_packet_between_switches_lost_once
    program = "p4/switchml/virtual.p4"

    def build(self):
        nodes = []
        for p in range(4):
            nodes.append(Node(0x101 + p, 128 + p, 128 * p + 15, [Station(10 * p + w + 1, 128 * p + w) for w in range(2)],
                              nodes[0] if nodes else None))
        return [*nodes, Node(0x200, None, None, nodes)], [w for n in nodes for w in n.below]

    def test_packets_of_more_elements_are_refused(self):
        for size in (128, 256):
            before = self.net.drop_count(self.low, BAD_LENGTH)
            self.assertEqual(self.net.send(self.workers[0], 3, 0, vector(1, size)), [])
            self.assertEqual(self.net.drop_count(self.low, BAD_LENGTH), before + 1)


class Sessions(LevelsTest):
    """A job that begins again: what is on its way of an earlier session is refused at each level."""

    def sessions(self):
        return [{"table": "sessions", "key": {"hdr.switchml.job_number": JOB}, "action": "session", "args": {"number": 5}}]

    def test_the_number_goes_up_and_down(self):
        v = self.values(0)
        out = []
        for i, w in enumerate(self.workers):
            out = self.net.send(w, 3, 0, v[i], tsi=5 << 24)
        self.assert_results(out, total(*v), self.workers, 3, 0, tsi=5 << 24)
        for node, port, frame in ((self.low, self.low.up, self.net.sent[-1][2]),
                                  (self.top, self.low.port, self.net.sent[0][2])):
            late = bytearray(frame)
            late[44] = 4
            before = self.net.drop_count(node, OTHER_SESSION)
            self.assertEqual(self.net.into(node.chip, port, bytes(late)), [])
            self.assertEqual(self.net.drop_count(node, OTHER_SESSION), before + 1)

    def test_a_switch_alone_begins_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"program": os.path.abspath(self.program), "control_socket": os.path.join(folder, "run.sock"),
                           "sessions": {"mac": "02:00:00:00:00:fe", "ip": "10.0.1.254"},
                           "ports": [{"port": 1, "name": "a", "device": "net_null1"}]}, f)
            done = subprocess.run([os.path.join(BUILD, "silken"), "run", "-c", path], text=True, capture_output=True,
                                  timeout=120, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("over several levels of switches, and this switch would begin a session alone", done.stderr)


if __name__ == "__main__":
    tally.main()
