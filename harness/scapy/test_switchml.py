#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/switchml/switchml.p4, packet by packet: every branch of Algorithm 3 of the SwitchML paper, what
is not aggregated, and what is not trusted. Packets are built here byte by byte; nothing of the host
stack is used."""
import logging
import os
import struct
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP, ICMP  # noqa: E402
from scapy.layers.l2 import ARP, Ether  # noqa: E402

import tally  # noqa: E402
from elements import vector  # noqa: E402
from switch import Switch  # noqa: E402

SWITCH_MAC = "02:00:00:00:ff:01"
SWITCH_IP = "10.0.0.254"
UDP_PORT = 0xBEE0
SOURCE_PORT = 0xBEE0
SIZES = {32: 0, 64: 1, 128: 2, 256: 3}
HEADERS = 14 + 20 + 8 + 8 + 2

# drop_reason_t of the program
PARSER_ERROR, BAD_LENGTH, UNKNOWN_WORKER, BAD_POOL_INDEX, DUPLICATE, NO_AUDIENCE = 1, 3, 4, 5, 6, 9


def worker_mac(host):
    return f"02:00:00:00:00:{host:02x}"


def worker_ip(host):
    return f"10.0.0.{host}"


class Job:
    """A job of n workers. Worker w has replication id first_rid + w, sits at ports[w] and is host
    first_host + w: workers of several jobs may share hosts, but not replication ids."""

    def __init__(self, number, ports, first_rid, group, pool_base, pool_size, first_host=None):
        self.number = number
        self.ports = ports
        self.first_rid = first_rid
        self.first_host = first_rid if first_host is None else first_host
        self.group = group
        self.pool_base = pool_base
        self.pool_size = pool_size

    def rid(self, worker):
        return self.first_rid + worker

    def host(self, worker):
        return self.first_host + worker

    def entries(self):
        for w, port in enumerate(self.ports):
            yield {"table": "workers",
                   "key": {"hdr.switchml.job_number": self.number,
                           "hdr.ipv4.src_addr": worker_ip(self.host(w)),
                           "ig_intr_md.ingress_port": port},
                   "action": "admit",
                   "args": {"worker_bit": 1 << w, "num_workers": len(self.ports),
                            "group": self.group, "rid": self.rid(w), "port": port,
                            "pool_base": self.pool_base, "pool_last": self.pool_size - 1}}
            yield {"table": "receivers", "key": {"md.rid": self.rid(w)}, "action": "address",
                   "args": {"mac": worker_mac(self.host(w)), "ip": worker_ip(self.host(w)),
                            "udp_port": SOURCE_PORT + w % 16}}

    def packet(self, worker, slot, version, values, exponents=(0, 0), tsi=0):
        payload = struct.pack(
            ">BBIHbb", (1 << 4) | SIZES[len(values)], self.number, tsi, version << 15 | slot,
            *exponents)
        payload += struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))
        frame = (Ether(dst=SWITCH_MAC, src=worker_mac(self.host(worker)))
                 / IP(src=worker_ip(self.host(worker)), dst=SWITCH_IP)
                 / UDP(sport=SOURCE_PORT + worker % 16, dport=UDP_PORT, chksum=0) / payload)
        return bytes(frame)


def configuration(jobs):
    nodes, groups, entries, ports, stations = [], [], [], set(), {}
    for job in jobs:
        members = []
        for w, port in enumerate(job.ports):
            nodes.append({"id": job.rid(w), "rid": job.rid(w), "ports": [port]})
            members.append(job.rid(w))
            ports.add(port)
            stations[worker_mac(job.host(w))] = port
        groups.append({"id": job.group, "nodes": members})
        entries.extend(job.entries())
    for mac, port in sorted(stations.items()):
        entries.append({"table": "macs", "key": {"hdr.ethernet.dst_addr": mac},
                        "action": "to_port", "args": {"port": port}})
    flood = []
    for port in sorted(ports):
        nodes.append({"id": 1000 + port, "rid": 0, "ports": [port]})
        flood.append({"node": 1000 + port, "xid": port})
    groups.append({"id": 999, "nodes": flood})
    return {
        "program": os.path.abspath("p4/switchml/switchml.p4"),
        "ports": [{"port": p, "device": f"net_null{p}"} for p in sorted(ports)],
        "multicast": {"nodes": nodes, "groups": groups},
        "entries": entries,
        "defaults": [{"table": "macs", "action": "to_group", "args": {"group": 999}}],
    }


class Result:
    """A result packet, taken apart without Scapy's help, so that every byte is looked at."""

    def __init__(self, frame):
        self.dst, self.src, self.ether_type = frame[:6], frame[6:12], frame[12:14]
        self.ip = frame[14:34]
        (self.sport, self.dport, self.udp_length, self.udp_sum) = struct.unpack(
            ">HHHH", frame[34:42])
        (first, self.job, self.tsi, index) = struct.unpack(">BBIH", frame[42:50])
        self.msg_type, self.size = first >> 4, first & 7
        self.version, self.slot = index >> 15, index & 0x7FFF
        self.exponents = struct.unpack(">bb", frame[50:52])
        count = (len(frame) - HEADERS) // 4
        self.values = list(struct.unpack(f">{count}i", frame[52:52 + 4 * count]))
        self.length = len(frame)


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def total(*vectors):
    """What the switch must return: sums wrapped to 32 bits, signed."""
    out = []
    for column in zip(*vectors):
        s = sum(column) & 0xFFFFFFFF
        out.append(s - (1 << 32) if s >> 31 else s)
    return out


class SwitchTest(unittest.TestCase):
    jobs = [Job(7, [0, 1, 2], 1, 100, 0, 16)]

    def setUp(self):
        self.switch = Switch(configuration(self.jobs))
        self.addCleanup(self.switch.close)
        self.job = self.jobs[0]

    def drop_count(self, reason):
        return self.switch.counter("Ingress.drops", reason)[0]

    def send(self, worker, slot, version, values, job=None, **more):
        job = job or self.job
        return self.switch.send(job.ports[worker], job.packet(worker, slot, version, values, **more))

    def assert_results(self, out, values, workers, slot, version, job=None, exponents=(0, 0), tsi=0):
        """'out' is one proper result packet to each of 'workers' and nothing else."""
        job = job or self.job
        self.assertEqual([p for p, _ in out], sorted(job.ports[w] for w in workers))
        for w in workers:
            frame = next(f for p, f in out if p == job.ports[w])
            r = Result(frame)
            host = job.host(w)
            self.assertEqual(r.dst.hex(":"), worker_mac(host))
            self.assertEqual(r.src.hex(":"), SWITCH_MAC)
            self.assertEqual(r.ether_type, b"\x08\x00")
            self.assertEqual(ones_sum(r.ip), 0xFFFF, "IPv4 header checksum")
            self.assertEqual(".".join(map(str, r.ip[16:20])), worker_ip(host))
            self.assertEqual(".".join(map(str, r.ip[12:16])), SWITCH_IP)
            self.assertEqual(struct.unpack(">H", r.ip[2:4])[0], len(frame) - 14)
            self.assertEqual((r.sport, r.dport), (UDP_PORT, SOURCE_PORT + w % 16))
            self.assertEqual(r.udp_length, len(frame) - 34)
            self.assertEqual(r.udp_sum, 0)
            self.assertEqual((r.job, r.tsi, r.size), (job.number, tsi, SIZES[len(values)]))
            self.assertEqual((r.version, r.slot), (version, slot))
            self.assertEqual(r.exponents, exponents)
            self.assertEqual(r.values, values)


class Algorithm3(SwitchTest):
    """Line numbers are those of Algorithm 3."""

    size = 64

    def test_first_packet_is_absorbed(self):
        # lines 5-10, 17
        self.assertEqual(self.send(0, 3, 0, vector(1, self.size)), [])

    def test_middle_packet_is_absorbed(self):
        # lines 12, 17
        self.send(0, 3, 0, vector(1, self.size))
        self.assertEqual(self.send(2, 3, 0, vector(2, self.size)), [])

    def test_last_packet_sends_the_sum_to_all(self):
        # lines 13-15
        v = [vector(s, self.size) for s in range(3)]
        self.send(1, 3, 0, v[1])
        self.send(0, 3, 0, v[0])
        out = self.send(2, 3, 0, v[2], tsi=0xDEADBEEF)
        self.assert_results(out, total(*v), [0, 1, 2], 3, 0, tsi=0xDEADBEEF)

    def test_duplicate_before_completion_is_dropped_and_not_added(self):
        # lines 22-23
        v = [vector(s, self.size) for s in range(3)]
        self.send(0, 3, 0, v[0])
        before = self.drop_count(DUPLICATE)
        self.assertEqual(self.send(0, 3, 0, v[0]), [])
        self.assertEqual(self.drop_count(DUPLICATE), before + 1)
        self.send(1, 3, 0, v[1])
        self.assertEqual(self.send(1, 3, 0, v[1]), [])
        self.assert_results(self.send(2, 3, 0, v[2]), total(*v), [0, 1, 2], 3, 0)

    def test_duplicate_after_completion_is_answered_to_the_sender_alone(self):
        # lines 19-21
        v = [vector(s, self.size) for s in range(3)]
        for w in range(3):
            self.send(w, 3, 0, v[w])
        for w in (1, 0, 2, 1):
            self.assert_results(self.send(w, 3, 0, v[w]), total(*v), [w], 3, 0)

    def test_slot_is_reused_in_the_other_version(self):
        # line 7, and line 10: the first packet overwrites what was there
        for phase in range(5):
            v = [vector(10 * phase + s, self.size) for s in range(3)]
            for w in (2, 0):
                self.assertEqual(self.send(w, 3, phase % 2, v[w]), [])
            out = self.send(1, 3, phase % 2, v[1])
            self.assert_results(out, total(*v), [0, 1, 2], 3, phase % 2)

    def test_shadow_copy_answers_while_the_other_version_fills(self):
        old = [vector(s, self.size) for s in range(3)]
        new = [vector(50 + s, self.size) for s in range(3)]
        for w in range(3):
            self.send(w, 3, 0, old[w])
        self.send(1, 3, 1, new[1])
        self.send(2, 3, 1, new[2])
        # worker 0 missed the result of version 0
        self.assert_results(self.send(0, 3, 0, old[0]), total(*old), [0], 3, 0)
        out = self.send(0, 3, 1, new[0])
        self.assert_results(out, total(*new), [0, 1, 2], 3, 1)

    def test_slots_do_not_mix(self):
        v = {(s, w): vector(100 * s + w, self.size) for s in (0, 1, 15) for w in range(3)}
        for w in (0, 1):
            for s in (0, 1, 15):
                self.assertEqual(self.send(w, s, 0, v[s, w]), [])
        for s in (15, 0, 1):
            out = self.send(2, s, 0, v[s, 2])
            self.assert_results(out, total(*(v[s, w] for w in range(3))), [0, 1, 2], s, 0)

    def test_largest_exponent_of_each_block_is_returned(self):
        v = [vector(s, self.size) for s in range(3)]
        self.send(0, 2, 0, v[0], exponents=(-5, 100))
        self.send(1, 2, 0, v[1], exponents=(-128, -7))
        out = self.send(2, 2, 0, v[2], exponents=(-100, 127))
        self.assert_results(out, total(*v), [0, 1, 2], 2, 0, exponents=(-5, 127))
        # a repeated packet gets the same, whatever it carries now
        out = self.send(1, 2, 0, v[1], exponents=(99, 99))
        self.assert_results(out, total(*v), [1], 2, 0, exponents=(-5, 127))
        # and the next use of the slot starts anew
        for w in range(2):
            self.send(w, 2, 1, v[w], exponents=(-90 - w, -80))
        out = self.send(2, 2, 1, v[2], exponents=(-95, -85))
        self.assert_results(out, total(*v), [0, 1, 2], 2, 1, exponents=(-90, -80))

    def test_sums_wrap(self):
        v = [[0x7FFFFFFF] * self.size, [1] * self.size, [0] * self.size]
        for w in (0, 1):
            self.send(w, 0, 0, v[w])
        self.assert_results(self.send(2, 0, 0, v[2]), [-0x80000000] * self.size, [0, 1, 2], 0, 0)


class Algorithm3With256(Algorithm3):
    """The same through four pipes."""
    size = 256


class Algorithm3OnOtherPipes(Algorithm3):
    """Workers on three pipes, none of them the first for all."""
    jobs = [Job(7, [130, 257, 385], 1, 100, 32, 16)]


class Algorithm3On256AndOtherPipes(Algorithm3):
    size = 256
    jobs = [Job(7, [130, 257, 3], 1, 100, 32, 16)]


# Of collective operations: the message's type and its flags, and the job's audiences.
COLLECTIVE, EMPTY, BRIEF = 12, 2, 1
ALL_BUT, NOBODY = 32, 64


def with_audiences(config, job):
    """The configuration with all audiences of the job."""
    nodes, groups = config["multicast"]["nodes"], config["multicast"]["groups"]

    def group(number, members):
        for i, node in enumerate(members):
            nodes.append({"id": number * 64 + i, **node})
        groups.append({"id": number, "nodes": [number * 64 + i for i in range(len(members))]})

    def audience(number, full, brief):
        config["entries"].append({"table": "audiences",
                                  "key": {"hdr.switchml.job_number": job.number, "audience": number},
                                  "action": "audience", "args": {"group": full, "brief_group": brief}})

    for pipe in (0, 1, 3):
        group(0xfff0 + pipe, [{"rid": 0, "ports": [128 * pipe + 68]}, {"rid": 0, "ports": [128 * pipe + 70]}])
    for w, port in enumerate(job.ports):
        group(200 + 2 * w, [{"rid": job.rid(w), "ports": [port]}])
        group(201 + 2 * w, [{"rid": job.rid(o), "ports": [q]} for o, q in enumerate(job.ports) if o != w])
        audience(w, 200 + 2 * w, 201 + 2 * w)
        audience(ALL_BUT + w, 201 + 2 * w, 200 + 2 * w)
    audience(NOBODY, 0, job.group)
    return config


class Collectives(SwitchTest):
    """What goes to one worker, what comes from one, and what has no elements."""
    size = 64

    def setUp(self):
        self.job = self.jobs[0]
        self.switch = Switch(with_audiences(configuration(self.jobs), self.job))
        self.addCleanup(self.switch.close)

    def packet(self, worker, version, values, audience, brief, exponent=0, tsi=0):
        """'values' None: without elements, filled up as Ethernet wants it."""
        kind = COLLECTIVE | (EMPTY if values is None else 0) | (BRIEF if brief else 0)
        payload = struct.pack(">BBIHbb", kind << 4 | SIZES[self.size], self.job.number, tsi, version << 15 | 3,
                              exponent, audience)
        if values is not None:
            payload += struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))
        return bytes(Ether(dst=SWITCH_MAC, src=worker_mac(self.job.host(worker)))
                     / IP(src=worker_ip(self.job.host(worker)), dst=SWITCH_IP)
                     / UDP(sport=SOURCE_PORT + worker % 16, dport=UDP_PORT, chksum=0) / payload).ljust(60, b"\0")

    def put(self, worker, version, values, audience, brief, **more):
        return self.switch.send(self.job.ports[worker], self.packet(worker, version, values, audience, brief, **more))

    def assert_copies(self, out, values, full, brief, exponents):
        """A copy with 'values' to each worker of 'full', one without to each of 'brief', and no other."""
        self.assertEqual([p for p, _ in out], sorted(self.job.ports[w] for w in full + brief))
        for w in full + brief:
            frame = next(f for p, f in out if p == self.job.ports[w])
            length = HEADERS + (4 * self.size if w in full else 0)
            r = Result(frame[:length])
            self.assertLessEqual(set(frame[length:]), {0}, "only padding is behind")
            self.assertLessEqual(len(frame), length + 8)
            self.assertEqual(r.dst.hex(":"), worker_mac(self.job.host(w)))
            self.assertEqual(ones_sum(r.ip), 0xFFFF, "IPv4 header checksum")
            self.assertEqual(struct.unpack(">H", r.ip[2:4])[0], length - 14)
            self.assertEqual((r.udp_length, r.udp_sum), (length - 34, 0))
            self.assertEqual((r.sport, r.dport), (UDP_PORT, SOURCE_PORT + w % 16))
            self.assertEqual(r.exponents, exponents)
            self.assertEqual(r.values, values if w in full else [])

    def test_sums_to_one(self):
        for phase in range(4):
            to = phase % 3
            v = [vector(10 * phase + w, self.size) for w in range(3)]
            for w in (2, 0):
                self.assertEqual(self.put(w, phase % 2, v[w], to, w != to, exponent=w), [])
            out = self.put(1, phase % 2, v[1], to, to != 1, exponent=-3)
            others = [w for w in range(3) if w != to]
            self.assert_copies(out, total(*v), [to], others, (2, to))
            for w in (0, 1, 2, 0):  # who asks again gets the same
                out = self.put(w, phase % 2, v[w], to, w != to)
                self.assert_copies(out, total(*v), [w] if w == to else [], [] if w == to else [w], (2, to))

    def test_from_one_to_all_others(self):
        for phase in range(6):  # the root is the first, in the middle, the last
            root, order = phase % 3, [[0, 1, 2], [1, 2, 0], [2, 0, 1]][phase // 2]
            v = vector(phase, self.size)
            for w in order[:2]:
                self.assertEqual(self.put(w, phase % 2, v if w == root else None, ALL_BUT + root, w == root), [])
            w = order[2]
            out = self.put(w, phase % 2, v if w == root else None, ALL_BUT + root, w == root)
            others = [w for w in range(3) if w != root]
            self.assert_copies(out, total(v), others, [root], (0, ALL_BUT + root))
            for w in range(3):
                out = self.put(w, phase % 2, v if w == root else None, ALL_BUT + root, w == root)
                self.assert_copies(out, total(v), [w] if w != root else [], [] if w != root else [w],
                                   (0, ALL_BUT + root))

    def test_nobody_gets_elements(self):
        for w in range(2):
            self.assertEqual(self.put(w, 0, None, NOBODY, True, exponent=w), [])
        self.assert_copies(self.put(2, 0, None, NOBODY, True, exponent=-9), [], [], [0, 1, 2], (1, NOBODY))

    def test_after_an_allreduce_in_the_same_slot(self):
        """Zeros, not what an earlier packet has left."""
        v = [vector(w, self.size) for w in range(3)]
        for w in range(3):
            self.send(w, 3, 0, v[w])
        for w in range(3):
            self.send(w, 3, 1, v[w])
        for w in range(2):
            self.put(w, 0, None, 2, True)
        self.assert_copies(self.put(2, 0, v[2], 2, False), total(v[2]), [2], [0, 1], (0, 2))

    def test_repeated_before_it_is_complete(self):
        before = self.drop_count(DUPLICATE)
        v = [vector(w, self.size) for w in range(3)]
        for _ in range(2):
            self.assertEqual(self.put(0, 0, v[0], 1, True), [])
        for _ in range(2):
            self.assertEqual(self.put(2, 0, None, 1, True), [])
        self.assertEqual(self.drop_count(DUPLICATE), before + 2)
        self.assert_copies(self.put(1, 0, v[1], 1, False), total(v[0], v[1]), [1], [0, 2], (0, 1))

    def test_no_such_audience(self):
        for audience in (3, ALL_BUT + 3, 63, NOBODY + 1, 127):
            before = self.drop_count(NO_AUDIENCE)
            self.assertEqual(self.put(0, 0, vector(1, self.size), audience, False), [])
            self.assertEqual(self.drop_count(NO_AUDIENCE), before + 1)

    def test_lengths(self):
        """Elements where the packet says that it has none, and none where it says nothing of it."""
        for values, kind in ((vector(1, self.size), COLLECTIVE | EMPTY), (None, COLLECTIVE), (None, 1)):
            frame = bytearray(self.packet(0, 0, values, 0, False))
            frame[42] = kind << 4 | SIZES[self.size]
            before = self.drop_count(BAD_LENGTH), self.drop_count(PARSER_ERROR)
            self.assertEqual(self.switch.send(self.job.ports[0], bytes(frame)), [])
            self.assertEqual(self.drop_count(BAD_LENGTH) + self.drop_count(PARSER_ERROR), sum(before) + 1)


class CollectivesOf32(Collectives):
    size = 32


class CollectivesOf256OnOtherPipes(Collectives):
    size = 256
    jobs = [Job(7, [130, 257, 3], 1, 100, 32, 16)]


class CollectivesOf128OnOtherPipes(Collectives):
    size = 128
    jobs = [Job(7, [385, 257, 130], 1, 100, 32, 16)]


class OneWorker(SwitchTest):
    jobs = [Job(1, [5], 1, 100, 0, 4)]

    def test_each_packet_is_a_result(self):
        for phase in range(4):
            v = vector(phase, 64)
            self.assert_results(self.send(0, 1, phase % 2, v), total(v), [0], 1, phase % 2)
        self.assert_results(self.send(0, 1, 1, v), total(v), [0], 1, 1)


class ThirtyTwoWorkers(SwitchTest):
    jobs = [Job(1, list(range(32)), 1, 100, 0, 4)]

    def test_last_of_32(self):
        v = [vector(w, 64) for w in range(32)]
        for w in range(31):
            self.assertEqual(self.send(w, 0, 0, v[w]), [])
        self.assert_results(self.send(31, 0, 0, v[31]), total(*v), range(32), 0, 0)


class TwoJobs(SwitchTest):
    jobs = [Job(7, [0, 1, 2], 1, 100, 0, 16), Job(8, [3, 4], 10, 101, 16, 16),
            # two workers of the first job's hosts run a third job
            Job(9, [0, 1], 20, 102, 32, 8, first_host=1)]

    def test_interleaved(self):
        a, b, c = self.jobs
        for phase in range(3):
            v = {(j.number, w): vector(1000 * phase + 10 * j.number + w, 64)
                 for j in self.jobs for w in range(3)}
            self.assertEqual(self.send(0, 5, phase % 2, v[7, 0], a), [])
            self.assertEqual(self.send(0, 5, phase % 2, v[8, 0], b), [])
            self.assertEqual(self.send(1, 5, phase % 2, v[9, 1], c), [])
            self.assertEqual(self.send(1, 5, phase % 2, v[7, 1], a), [])
            self.assert_results(self.send(1, 5, phase % 2, v[8, 1], b),
                                total(v[8, 0], v[8, 1]), [0, 1], 5, phase % 2, b)
            self.assert_results(self.send(2, 5, phase % 2, v[7, 2], a),
                                total(v[7, 0], v[7, 1], v[7, 2]), [0, 1, 2], 5, phase % 2, a)
            self.assert_results(self.send(0, 5, phase % 2, v[9, 0], c),
                                total(v[9, 0], v[9, 1]), [0, 1], 5, phase % 2, c)

    def test_a_pool_index_outside_the_pool_is_refused(self):
        c = self.jobs[2]
        for slot in (8, 9, 16, 0x7FFF):
            for version in (0, 1):
                before = self.drop_count(BAD_POOL_INDEX)
                self.assertEqual(self.send(0, slot, version, vector(1, 64), c), [])
                self.assertEqual(self.drop_count(BAD_POOL_INDEX), before + 1)
        # the job behind that pool is untouched
        b = self.jobs[1]
        self.send(0, 0, 0, vector(1, 64), b)
        self.assert_results(self.send(1, 0, 0, vector(2, 64), b),
                            total(vector(1, 64), vector(2, 64)), [0, 1], 0, 0, b)


class NotTrusted(SwitchTest):
    def refused(self, port, frame, reason):
        before = self.drop_count(reason)
        self.assertEqual(self.switch.send(port, frame), [])
        self.assertEqual(self.drop_count(reason), before + 1)

    def complete_slot_3(self):
        """Slot 3 still works and has only its three workers' values."""
        v = [vector(60 + s, 64) for s in range(3)]
        for w in range(2):
            self.assertEqual(self.send(w, 3, 0, v[w]), [])
        self.assert_results(self.send(2, 3, 0, v[2]), total(*v), [0, 1, 2], 3, 0)

    def test_wrong_job(self):
        frame = Job(99, [0], 1, 0, 0, 16).packet(0, 3, 0, vector(1, 64))
        self.refused(0, frame, UNKNOWN_WORKER)
        self.complete_slot_3()

    def test_right_address_at_the_wrong_port(self):
        self.refused(1, self.job.packet(0, 3, 0, vector(1, 64)), UNKNOWN_WORKER)
        self.complete_slot_3()

    def test_unknown_source_address(self):
        self.refused(0, Job(7, [0], 77, 0, 0, 16).packet(0, 3, 0, vector(1, 64)), UNKNOWN_WORKER)
        self.complete_slot_3()

    def test_truncated(self):
        # Each length from the end of the UDP header on. The parser of the chip, and so Silken's, can
        # read the frame check sequence: a frame that lacks one to four bytes but passes its check
        # (no accident makes one) has that as its last element, so these lengths are not tried, nor the
        # same just before the end of each 64 elements.
        v = [vector(w, 256) for w in range(3)]
        for size, slot, values, step in ((64, 3, vector(9, 64), 1), (256, 9, v[0], 41)):
            whole = self.job.packet(0, slot, 0, values)
            for length in range(42, len(whole) - 4, step):
                before = self.drop_count(PARSER_ERROR)
                self.assertEqual(self.switch.send(0, whole[:length]), [], length)
                if size == 64:
                    self.assertEqual(self.drop_count(PARSER_ERROR), before + 1, length)
        self.complete_slot_3()
        # A large packet is taken in pieces, and what was whole of it has been added. The whole
        # packet, sent again, adds the rest and nothing twice.
        for w in (0, 1):
            self.assertEqual(self.send(w, 9, 0, v[w]), [])
        self.assert_results(self.send(2, 9, 0, v[2]), total(*v), [0, 1, 2], 9, 0)

    def test_truncated_but_the_headers_agree(self):
        # a packet of 64 elements that says 256 and carries the lengths of 256
        frame = bytearray(self.job.packet(0, 3, 0, vector(1, 256)))
        self.assertEqual(self.switch.send(0, bytes(frame[:HEADERS + 64 * 4])), [])
        self.assertEqual(self.switch.send(0, bytes(frame[:HEADERS + 192 * 4 + 3])), [])

    def test_size_field_disagrees_with_the_length(self):
        for count, claimed in ((64, 3), (64, 2), (256, 1), (256, 2), (64, 5), (64, 7)):
            frame = bytearray(self.job.packet(0, 3, 0, vector(1, count)))
            frame[42] = (frame[42] & 0xF8) | claimed
            self.assertEqual(self.switch.send(0, bytes(frame)), [], (count, claimed))
        self.complete_slot_3()

    def test_overlong(self):
        # bytes behind the IPv4 packet are Ethernet padding: not part of it, and not sent on as data
        v = [vector(s, 64) for s in range(3)]
        for w in range(2):
            self.assertEqual(self.send(w, 3, 0, v[w]), [])
        out = self.switch.send(2, self.job.packet(2, 3, 0, v[2]) + b"\xAA" * 7)
        self.assertEqual(len(out), 3)
        for _, frame in out:
            self.assertEqual(Result(frame).values[:64], total(*v))
        # bytes inside the IPv4 packet but behind the elements
        frame = bytearray(self.job.packet(0, 3, 1, v[0]) + b"\0" * 8)
        frame[16:18] = struct.pack(">H", len(frame) - 14)
        frame[24:26] = b"\0\0"
        frame[24:26] = struct.pack(">H", ones_sum(bytes(frame[14:34])) ^ 0xFFFF)
        self.refused(0, bytes(frame), BAD_LENGTH)

    def wrong_checksums(self):
        """By worker of the job."""
        return [self.switch.counter("wrong_checksums", rid)[0] for rid in (1, 2, 3)]

    def test_wrong_ip_checksum_is_counted_and_taken(self):
        for size in (32, 64, 128, 256):
            v = [vector(s, size) for s in range(3)]
            before = self.wrong_checksums()
            out = []
            for w, checksum in ((0, b"\0\0"), (1, None), (2, b"\xba\xad")):
                frame = self.job.packet(w, size // 32, 0, v[w])
                out = self.switch.send(w, frame if checksum is None else frame[:24] + checksum + frame[26:])
                self.assertEqual(bool(out), w == 2)
            self.assert_results(out, total(*v), [0, 1, 2], size // 32, 0)
            self.assertEqual(self.wrong_checksums(), [before[0] + 1, before[1], before[2] + 1])

    def test_wrong_ip_checksum_of_what_is_not_admitted_is_not_counted(self):
        for job, port in ((Job(99, [0], 1, 0, 0, 16), 0), (self.job, 5)):
            frame = job.packet(0, 3, 0, vector(1, 64))
            self.refused(port, frame[:24] + b"\0\0" + frame[26:], UNKNOWN_WORKER)
        self.assertEqual(self.wrong_checksums(), [0, 0, 0])
        self.complete_slot_3()

    def test_every_byte_of_the_headers_flipped_does_no_harm(self):
        whole = self.job.packet(0, 4, 0, vector(1, 64))
        for i in range(12, HEADERS):
            frame = bytearray(whole)
            frame[i] ^= 0xFF
            self.switch.send(0, bytes(frame))
        self.complete_slot_3()


class OrdinaryTraffic(SwitchTest):
    def test_ipv4_to_a_known_address(self):
        frame = bytes(Ether(dst=worker_mac(2), src=worker_mac(1))
                      / IP(src=worker_ip(1), dst=worker_ip(2)) / ICMP() / b"ping of some length")
        self.assertEqual(self.switch.send(0, frame), [(1, frame)])

    def test_udp_to_other_ports(self):
        for port in (0xBEDF, 0xBEF0, 53):
            frame = bytes(Ether(dst=worker_mac(3), src=worker_mac(1))
                          / IP(src=worker_ip(1), dst=worker_ip(3))
                          / UDP(sport=SOURCE_PORT, dport=port) / (b"x" * 300))
            self.assertEqual(self.switch.send(0, frame), [(2, frame)])

    def test_arp_is_flooded_but_not_back(self):
        frame = bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=worker_mac(2))
                      / ARP(op="who-has", hwsrc=worker_mac(2), psrc=worker_ip(2),
                            pdst=worker_ip(3)))
        self.assertEqual(self.switch.send(1, frame), [(0, frame), (2, frame)])

    def test_unknown_ethertype_and_short_frames_travel(self):
        for body in (b"", b"\x01", bytes(range(46)), bytes(1500)):
            frame = bytes.fromhex("020000000003020000000001") + b"\x88\xb5" + body
            self.assertEqual(self.switch.send(0, frame), [(2, frame)])

    def test_truncated_ipv4_does_not_disturb(self):
        whole = bytes(Ether(dst=worker_mac(3), src=worker_mac(1))
                      / IP(src=worker_ip(1), dst=worker_ip(3)) / UDP(sport=1, dport=2) / b"data")
        for length in range(14, len(whole)):
            self.switch.send(0, whole[:length])
        self.assertEqual(self.switch.send(0, whole), [(2, whole)])

    def test_ip_with_options_and_fragments_travel(self):
        options = bytes(Ether(dst=worker_mac(3), src=worker_mac(1))
                        / IP(src=worker_ip(1), dst=worker_ip(3), options=b"\x01\x01\x01\x00")
                        / UDP(sport=1, dport=UDP_PORT) / b"data")
        self.assertEqual(self.switch.send(0, options), [(2, options)])
        fragment = bytes(Ether(dst=worker_mac(3), src=worker_mac(1))
                         / IP(src=worker_ip(1), dst=worker_ip(3), frag=100, proto=17) / bytes(64))
        self.assertEqual(self.switch.send(0, fragment), [(2, fragment)])


class AppendixA(SwitchTest):
    """The example of the paper's appendix A, t0 to t15: three workers, slot x = 5."""

    def test_t0_to_t15(self):
        x = 5
        now = [vector(w, 64) for w in range(3)]        # offset off
        then = [vector(90 + w, 64) for w in range(3)]  # offset off + k * s
        self.assertEqual(self.send(0, x, 0, now[0]), [])    # t0: w1
        self.assertEqual(self.send(1, x, 0, now[1]), [])    # t1: w2
        # t2, t3: w3's update is lost on its way to the switch
        self.assertEqual(self.send(0, x, 0, now[0]), [])    # t4: w1 repeats, ignored
        self.assertEqual(self.send(1, x, 0, now[1]), [])    # t5: w2 repeats, ignored
        out = self.send(2, x, 0, now[2])                    # t6: w3 repeats, completes
        self.assert_results(out, total(*now), [0, 1, 2], x, 0)
        # t7: the copy for w1 is lost; t9, t10: w2 and w3 receive theirs
        out = self.send(0, x, 0, now[0])                    # t8: w1 repeats
        self.assert_results(out, total(*now), [0], x, 0)    # ... answered to w1 alone, t11
        self.assertEqual(self.send(1, x, 1, then[1]), [])   # t12: w2, next offset, other version
        self.assertEqual(self.send(2, x, 1, then[2]), [])   # t13: w3
        out = self.send(0, x, 1, then[0])                   # t14, t15: w1 completes
        self.assert_results(out, total(*then), [0, 1, 2], x, 1)
        # the roles are swapped: version 1 is now the shadow copy
        self.assert_results(self.send(2, x, 1, then[2]), total(*then), [2], x, 1)
        self.assertEqual(self.send(0, x, 0, now[1]), [])


if __name__ == "__main__":
    tally.main()
