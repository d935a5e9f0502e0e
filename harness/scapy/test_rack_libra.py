#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/rack/with_libra.p4: test_rack.py's jobs of SwitchML and ATP once more, with jobs of Libra beside them, and what
hostile hosts send to those. What Libra does with a packet is in test_libra_floats.py, whose packets these are."""
import os
import random
import struct
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
import tally  # noqa: E402
import test_libra as lib  # noqa: E402
import test_rack as rack  # noqa: E402
import test_tor as tor  # noqa: E402
from switch import Switch  # noqa: E402
from test_libra_floats import BOUND, TABLES, bits, number  # noqa: E402
from test_rack import FREE, NOT_A_WORKER, NOT_ITS_OWN, NOWHERE, OUTSIDER, VID, guarded, tag_of  # noqa: E402
from test_tor import entry, interface  # noqa: E402

PROGRAM = "p4/rack/with_libra.p4"
TO_LIBRA, LIBRA_PIPE, OLD = 453, 400, 10
# ports of pipe 3 are no front ports here
PORTS = [p for p in rack.PORTS if p < 384]
SML = rack.sml.Job(7, [8, 9, rack.TRUNK, 13], 1, 100, 0, 16)
ATP = rack.AtpJob(7, [12, 14, rack.TRUNK, 10], 11, rack.ATP_JOB.server_mac, "10.0.30.240", [tor.LAG_A, tor.LAG_B], (0, 99))


class Job(lib.Job):
    """A job of Libra whose workers are at 'ports', with addresses 10.0.0.HOST as test_libra.py has it."""

    def __init__(self, number, ports, cell_base, cells, epoch, first_host):
        super().__init__(number, len(ports), cell_base, cells, epoch, first_host)
        self.ports = ports

    def mac(self, worker):
        return f"02:00:00:00:00:{self.host(worker):02x}"

    def packet(self, *args, length=None, **more):
        frame = bytearray(super().packet(*args, **more))
        if length:   # of UDP; the IPv4 header says the rest
            struct.pack_into(">H", frame, 38, length)
        return bytes(frame)

    def rack_entries(self):
        for e in self.entries():
            w, src = e["key"]["hdr.libra.worker"], e["key"]["hdr.ipv4.src_addr"]
            e["key"]["ig_intr_md.ingress_port"] = TO_LIBRA
            e["args"]["record_base"] = (self.first_host + w) % 32 * lib.WINDOW
            yield {**e, "table": "membership.workers"}
            yield rack.registered(self.ports[w], src, 3, self.number, 0, "libra")
            yield from guarded(src, 40000 + w)
            port, vlan = self.ports[w], {"vid": VID, "dst_addr": self.mac(w)}
            # one at its port, the others where their addresses are
            if w == 0:
                yield entry("receives", {"job": self.number, "dst_addr": src}, "out_by", port=port, **vlan)
            else:
                yield entry("receives", {"job": self.number, "dst_addr": src}, "into", **vlan)
                yield entry("destinations", {"vid": VID, "dst_addr": self.mac(w)}, "bridge", interface=interface(port))


ONE = Job(3, [8, rack.TRUNK, 13], 0, 4096, 7, 101)
OTHER = Job(4, [10, 11], 4096, 100, 65535, 121)   # a tenant who is no friend


def configuration(**changes):
    rack.PORTS, rack.JOB, rack.ATP_JOB, rack.EVERYBODY = PORTS, SML, ATP, [(ATP, rack.TRUNK), (rack.OTHER_ATP, None)]
    config = rack.configuration(**changes)
    config["program"] = os.path.abspath(PROGRAM)
    config["ports"].append({"port": LIBRA_PIPE, "device": f"net_null{LIBRA_PIPE}"})
    for e in config["entries"]:
        if e["table"] == "workers":
            e["table"] = "admission.workers"
    for e in [*ONE.rack_entries(), *OTHER.rack_entries(), *guarded(lib.SWITCH_IP, lib.UDP_PORT)]:
        if e not in config["entries"]:  # the switch's address is that of SwitchML, too
            config["entries"].append(e)
    config.update(TABLES)
    return config


class LibraTest(rack.RackTest):
    def start(self, **changes):
        self.switch = Switch(configuration(**changes))
        self.addCleanup(self.switch.close)

    def tagged(self, port, data):
        return rack.tagged(data, tag_of(port))

    def send(self, job, worker, frame):
        port = job.ports[worker]
        out = self.switch.send(port, self.tagged(port, frame))
        self.assertEqual([p for p, _ in out], [port])
        data = out[0][1]
        if tag_of(port):
            self.assertEqual(data[12:16].hex(), f"8100{VID:04x}")
            data = data[:12] + data[16:]
        self.assertEqual(data[:6].hex(":"), job.mac(worker))
        return lib.Reply(data)

    def push(self, job, worker, sequence, pairs, kind=lib.PUSH, **more):
        frame = job.packet(worker, kind, sequence, {i: bits(v) for i, v in pairs.items()}, **more)
        got = self.send(job, worker, frame)
        self.assertEqual((got.kind, got.sequence, got.length, got.places), (lib.ACK, sequence, 58, 0))

    def pull(self, job, worker, indices):
        got = self.send(job, worker, job.packet(worker, lib.PULL, 9, {i: 77 for i in indices}))
        self.assertEqual((got.kind, got.length), (lib.ANSWER, 186))
        return {i: number(got.pairs[i % lib.M][1]) for i in indices if got.pairs[i % lib.M][0] == i}

    def libra_refused(self, reason):
        return self.switch.counter("libra.Libra.refused", reason)[0]

    def libra_drops(self):
        return {r: n for r in range(16) for n in [self.switch.counter("libra.Libra.ingress.drops", r)[0]] if n}


class Jobs(LibraTest):
    def test_three_jobs_side_by_side(self):
        rng = random.Random(5)
        sums, sizes, sequences = {}, {}, {}

        def push(n=1):
            for _ in range(n):
                job = rng.choice([ONE, OTHER])
                w = rng.randrange(job.workers)
                pairs = {rng.randrange(6) * lib.M + p: rng.uniform(-1, 1) for p in range(lib.M) if rng.random() < 0.7}
                sequences[job, w] = sequences.get((job, w), 0) + 1
                self.push(job, w, sequences[job, w], pairs)
                for i, v in pairs.items():
                    sums[job, i] = sums.get((job, i), 0) + number(bits(v))
                    sizes[job, i] = sizes.get((job, i), 0) + max(abs(sums[job, i]), abs(v))

        for round_ in range(8):
            self.whole_round(rng, round_, trouble=push, jobs=((SML, ATP), (rack.OTHER_JOB, rack.OTHER_ATP)))
        self.assertGreater(len(sums), 100)
        for (job, i), exact in sums.items():
            self.assertLessEqual(abs(self.pull(job, 1, [i])[i] - exact), 2 * BOUND * sizes[job, i])
        self.assertEqual([self.dropped(n) for n in range(1, 16)], [0] * 15)
        self.assertEqual([self.libra_refused(n) for n in (OUTSIDER, NOWHERE)], [0, 0])
        self.assertEqual(self.libra_drops(), {})

    def test_once(self):
        for again in (0, 1, 1):
            self.push(ONE, 1, 5, {3: 1.25}, again=again)
        self.assertEqual(self.pull(ONE, 0, [3]), {3: 1.25})
        self.push(ONE, 1, 5 + 512, {3: 1.25})
        self.assertEqual(self.switch.send(rack.TRUNK, rack.tagged(ONE.packet(1, lib.PUSH, 5, {3: 1}), VID)), [])
        self.assertEqual(self.switch.counter("libra.LibraEgress.egress.drops", OLD)[0], 1)

    def test_any_place(self):
        frame = ONE.packet(2, lib.PUSH_ANY, 1, {}, places=0xE000)
        body = b"".join(struct.pack(">If", i, v) for i, v in ((16, 1.5), (32, 2.5), (48, 3.5)))
        self.assertEqual(self.send(ONE, 2, frame[:58] + body + frame[58 + len(body):]).kind, lib.ACK)
        self.assertEqual([self.pull(ONE, 0, [i])[i] for i in (16, 32, 48)], [1.5, 2.5, 3.5])


class Hostile(LibraTest):
    def test_who_is_not_registered(self):
        good = {0: 1, 5: 1}
        frame = ONE.packet(0, lib.PUSH, 1, good)
        self.assert_refused(FREE, frame)
        self.assert_refused(ONE.ports[1], rack.tagged(frame, VID))                   # a friend's address
        self.assert_refused(8, OTHER.packet(0, lib.PUSH, 1, good))                   # another job's
        self.assert_refused(8, ONE.packet(0, lib.ACK, 1, good, length=24))           # no packet of Libra's length
        self.assertEqual(self.switch.send(8, frame[:100]), [])                       # it says so, and is shorter
        self.assertEqual(self.libra_drops(), {lib.PARSER_ERROR: 1})
        # an answer in the switch's name to a worker
        forged = rack.wire(ONE.mac(1), "02:00:00:00:66:66", {"src": lib.SWITCH_IP, "dst": "10.0.0.102"}, frame[42:],
                           port=40001)
        self.assert_refused(FREE, forged)
        self.assertEqual(self.pull(ONE, 0, [0, 5]), {0: 0, 5: 0})

    def test_a_worker_of_another_job(self):
        """With its own number and address it reaches its own cells alone."""
        self.assertEqual(self.switch.send(10, OTHER.packet(0, lib.PUSH, 1, {0: 1}, indices={3: 100 * lib.M + 3})), [])
        frame = bytearray(OTHER.packet(0, lib.PUSH, 1, {0: 1}))
        frame[45] = 1   # another worker's number
        self.assertEqual(self.switch.send(10, bytes(frame)), [])
        frame[43], frame[45] = ONE.number, 0
        self.assert_refused(10, bytes(frame))
        self.assertEqual(self.libra_drops(), {lib.BAD_INDEX: 1, lib.UNKNOWN_WORKER: 1})
        self.push(OTHER, 0, 1, {0: 2.5})
        self.assertEqual(self.pull(ONE, 0, [0]), {0: 0})
        self.assertEqual(self.pull(OTHER, 1, [0]), {0: 2.5})

    def test_no_cpu_and_no_collect(self):
        frame = ONE.packet(0, lib.COLLECT, 1, {0: 1})
        self.assertEqual(self.switch.send(8, frame), [])
        self.assertEqual(self.libra_drops(), {lib.BAD_KIND: 1})
        with self.assertRaises(RuntimeError):
            self.start(entries=[{"table": "membership.workers", "action": "enroll",
                                 "key": {"hdr.libra.job": 3, "hdr.libra.worker": 9, "hdr.ipv4.src_addr": "10.0.0.9",
                                         "ig_intr_md.ingress_port": TO_LIBRA},
                                 "args": {"cell_base": 0, "cell_last": 1, "record_base": 0, "epoch": 7, "rights": 2}}])

    def test_ports_of_the_pipe(self):
        self.assertEqual(self.switch.send(LIBRA_PIPE, ONE.packet(0, lib.PUSH, 1, {0: 1})), [])
        self.assertEqual(self.libra_refused(OUTSIDER), 1)

    def test_nowhere(self):
        """A worker that was admitted without a way back."""
        job = Job(9, [9], 8000, 10, 1, 160)
        self.start(entries=[e for e in job.rack_entries() if e["table"] != "receives"])
        self.assertEqual(self.switch.send(9, job.packet(0, lib.PUSH, 1, {0: 1})), [])
        self.assertEqual(self.libra_refused(NOWHERE), 1)

    def test_fragments(self):
        frame = bytearray(ONE.packet(0, lib.PUSH, 1, {0: 1}))
        frame[20] |= 0x20   # more fragments
        total = struct.unpack_from(">H", frame, 24)[0]
        struct.pack_into(">H", frame, 24, total - 0x2000 if total >= 0x2000 else total + 0xdfff)
        self.assert_refused(8, bytes(frame), NOT_ITS_OWN)


if __name__ == "__main__":
    tally.main()
