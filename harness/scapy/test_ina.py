#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/ina/ina.p4: jobs of SwitchML and of ATP side by side in one switch, from ports of all pipes. What
each protocol does on its own is in test_switchml.py and test_atp.py, whose packets these are."""
import logging
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.l2 import Ether  # noqa: E402

import test_atp as atp  # noqa: E402
import test_switchml as sml  # noqa: E402
from switch import Switch  # noqa: E402

GUESTS = 69             # pipe 0's, for SwitchML from ATP's pipes
BAD_CHECKSUM, TOO_LARGE, NO_GUEST = range(1, 4)  # refusal_t
BAD_INDEX = 6           # ATP's drop_reason_t
UDP_OTHER = 4000

# Two workers of each protocol in every pipe: pipes 0 and 2 are SwitchML's, 1 and 3 ATP's.
SML_PORTS = [0, 1, 128, 129, 256, 257, 384, 385]
ATP_PORTS = [2, 3, 130, 131, 258, 259, 386, 387]
SERVER_PORTS = [4, 132]
JOB = sml.Job(7, SML_PORTS, 1, 100, 0, 16)
ATP_JOB, PARAMETERS_MAC, ATP_GROUP = 7, "01:00:5e:00:00:07", 200
ALL = (1 << len(ATP_PORTS)) - 1


def is_guest(port):
    return port >> 7 & 1 == 1


def atp_mac(worker):
    return f"02:00:00:00:01:{worker:02x}"


def server_mac(server):
    return f"02:00:00:00:02:{server:02x}"


def configuration():
    entries, stations = [], {}
    for e in JOB.entries():
        if e["table"] == "workers":
            port = e["key"]["ig_intr_md.ingress_port"]
            if is_guest(port):
                entries.append({"table": "guests",
                                "key": {"hdr.atp.ipv4.src_addr": e["key"]["hdr.ipv4.src_addr"],
                                        "ig_intr_md.ingress_port": port},
                                "action": "admit"})
                e["key"]["ig_intr_md.ingress_port"] = GUESTS
            entries.append(e)
        else:
            entries += [{**e, "table": f"{p}.Egress.switchml.receivers"} for p in ("switchml", "atp")]
    for w, port in enumerate(SML_PORTS):
        stations[sml.worker_mac(JOB.host(w))] = port
    for w, port in enumerate(ATP_PORTS):
        stations[atp_mac(w)] = port
    for s, port in enumerate(SERVER_PORTS):
        stations[server_mac(s)] = port
    for table in ("SwitchmlPipe.Ingress.forward.macs", "AtpPipe.Ingress.forward.macs"):
        entries += [{"table": table, "key": {"hdr.ethernet.dst_addr": mac}, "action": "to_port",
                     "args": {"port": port}} for mac, port in stations.items()]
    entries.append({"table": "AtpPipe.Ingress.forward.macs",
                    "key": {"hdr.ethernet.dst_addr": PARAMETERS_MAC}, "action": "to_group",
                    "args": {"group": ATP_GROUP}})
    nodes = [{"id": JOB.rid(w), "rid": JOB.rid(w), "ports": [p]} for w, p in enumerate(SML_PORTS)]
    # a replication id that is also a SwitchML worker's: egress must not mix them up
    nodes += [{"id": 500 + w, "rid": w + 1, "ports": [p]} for w, p in enumerate(ATP_PORTS)]
    return {
        "program": os.path.abspath("p4/ina/ina.p4"),
        "ports": [{"port": p, "device": f"net_null{p}"}
                  for p in sorted(SML_PORTS + ATP_PORTS + SERVER_PORTS)],
        "multicast": {"nodes": nodes,
                      "groups": [{"id": JOB.group, "nodes": [n["id"] for n in nodes[:8]]},
                                 {"id": ATP_GROUP, "nodes": [n["id"] for n in nodes[8:]]}]},
        "entries": entries,
    }


def gradient(worker, values, sequence, index, **more):
    return atp.Packet(values, index=index, job=ATP_JOB, sequence=sequence, bits=(1 << worker, 0),
                      fan_in=(len(ATP_PORTS), 1), **more)


class InaTest(unittest.TestCase):
    def setUp(self):
        self.switch = Switch(configuration())
        self.addCleanup(self.switch.close)

    # ---- ATP ----
    def gradient_frame(self, packet, worker, server=0):
        return packet.frame(worker, dst=server_mac(server))

    def send_gradient(self, packet, worker, server=0):
        return self.switch.send(ATP_PORTS[worker], self.gradient_frame(packet, worker, server))

    def assert_sum(self, out, expected, worker, server=0):
        self.assertEqual([p for p, _ in out], [SERVER_PORTS[server]])
        frame = self.gradient_frame(expected, worker, server)
        self.assertEqual(out[0][1][:42], frame[:42])
        self.assertEqual(atp.Packet.of(out[0][1]).key(), expected.key())

    def acknowledge(self, packet, server=0):
        frame = packet.but(is_ack=1).frame(dst=PARAMETERS_MAC)
        out = self.switch.send(SERVER_PORTS[server], frame)
        self.assertEqual([p for p, _ in out], sorted(ATP_PORTS))
        for _, got in out:
            self.assertEqual(got, frame)

    # ---- SwitchML ----
    def send_elements(self, worker, slot, version, values, **more):
        frame = JOB.packet(worker, slot, version, values, **more)
        return self.switch.send(SML_PORTS[worker], frame)

    assert_results = sml.SwitchTest.assert_results

    def owners(self, index):
        """Of ATP's pipes, 1 and 3."""
        return self.switch.register("owners", index, "fragment")[1::2]

    def bitmaps(self, slot):
        """Of SwitchML's pipes, 0 and 2."""
        return self.switch.register("bitmap0", slot)[::2]

    def refused(self, pipeline, reason):
        return self.switch.counter(f"{pipeline}.refused", reason)[0]


class SideBySide(InaTest):
    def test_interleaved(self):
        """Both jobs at once, their workers in turn: every sum is right and nobody's else."""
        r = random.Random(6)
        for round_ in range(6):
            slot, version, size = round_ % 16, round_ // 3 % 2, (64, 32)[round_ % 2]
            index = r.randrange(1 << 15)  # pipe 1's or pipe 3's
            elements = [sml.vector(r.randrange(1 << 20), size) for _ in SML_PORTS]
            values = [atp.vector(r.randrange(1 << 20)) for _ in ATP_PORTS]
            turns = [(kind, w) for w in range(8) for kind in "sa"]
            r.shuffle(turns)
            last = {kind: w for kind, w in turns}
            order = [w for kind, w in turns if kind == "a"]
            for kind, w in turns:
                if kind == "s":
                    out = self.send_elements(w, slot, version, elements[w], tsi=round_)
                else:
                    out = self.send_gradient(gradient(w, values[w], round_, index), w)
                if w != last[kind]:
                    self.assertEqual(out, [])
                elif kind == "s":
                    self.assert_results(out, sml.total(*elements), range(8), slot, version,
                                        job=JOB, tsi=round_)
                else:
                    expected = gradient(w, atp.total(*(values[v] for v in order)), round_, index,
                                        edge=1)
                    self.assert_sum(out, expected.but(bits=(ALL, 0)), w)
            self.acknowledge(gradient(0, values[0], round_, index))
        for pipeline in ("SwitchmlPipe", "AtpPipe"):
            for reason in range(1, 8):
                self.assertEqual(self.switch.counter(f"{pipeline}.Ingress.drops", reason)[0], 0)
            for reason in range(1, 4):
                self.assertEqual(self.refused(pipeline, reason), 0)

    def test_each_has_its_pipes(self):
        """The same numbers everywhere: slot 5 and aggregator 5, job 7 of both."""
        self.send_elements(0, 5, 0, sml.vector(1, 64))
        for w in range(2):
            self.send_gradient(gradient(w, atp.vector(w), 1, 5), w)
        self.assertEqual(self.bitmaps(5), [1, 0])
        owner = atp.fragment(ATP_JOB, 1)
        self.assertEqual(self.owners(5), [owner, 0])
        self.send_gradient(gradient(0, atp.vector(0), 2, 0x4005), 0)
        self.assertEqual(self.owners(5), [owner, atp.fragment(ATP_JOB, 2)])

    def test_results_again(self):
        """What SwitchML says to one worker finds it in ATP's pipes too."""
        values = [sml.vector(w, 64) for w in range(8)]
        for w in range(7):
            self.assertEqual(self.send_elements(w, 0, 0, values[w]), [])
        self.assertEqual(len(self.send_elements(7, 0, 0, values[7])), 8)
        for w in range(8):
            self.assert_results(self.send_elements(w, 0, 0, values[w]), sml.total(*values), [w], 0, 0,
                                job=JOB)

    def test_collision_and_resend(self):
        a, b = atp.vector(1), atp.vector(2)
        for w, index in ((0, 9), (2, 0x4009), (4, 11), (6, 0x400b)):
            self.assertEqual(self.send_gradient(gradient(w, a, 1, index), w), [])
            self.assert_sum(self.send_gradient(gradient(w, b, 2, index), w, 1),
                            gradient(w, b, 2, index, edge=1, resend=1, collision=1), w, 1)
            again = gradient(w, a, 1, index, resend=1)
            self.assert_sum(self.send_gradient(again, w, 1), again.but(edge=1), w, 1)
        self.assertEqual(self.owners(9), [0, 0])

    def test_queues_mark_atp_only(self):
        """A rule of egress that marks all: SwitchML's results are untouched."""
        marking = {"table": "Egress.atp.queues", "key": {"eg_intr_md.enq_qdepth": "0..524287"},
                   "priority": 1, "action": "mark"}
        config = configuration()
        config["entries"] += [{**marking, "table": f"{p}.Egress.atp.queues"}
                              for p in ("switchml", "atp")]
        self.switch.close()
        self.switch = Switch(config)
        self.addCleanup(self.switch.close)
        values = [atp.vector(w) for w in range(8)]
        for w in range(7):
            self.send_gradient(gradient(w, values[w], 1, 3), w)
        out = self.send_gradient(gradient(7, values[7], 1, 3), 7)
        self.assert_sum(out, gradient(7, atp.total(*values), 1, 3, edge=1, ecn=1).but(bits=(ALL, 0)), 7)
        elements = [sml.vector(w, 32) for w in range(8)]
        for w in range(7):
            self.send_elements(w, 0, 0, elements[w])
        self.assert_results(self.send_elements(7, 0, 0, elements[7]), sml.total(*elements), range(8),
                            0, 0, job=JOB)


class Others(InaTest):
    def test_ordinary_frames(self):
        """Between ports of all pipes."""
        for port in SML_PORTS + ATP_PORTS:
            frame = bytes(Ether(dst=server_mac(1), src=sml.worker_mac(99), type=0x88B5) / (b"x" * 60))
            self.assertEqual(self.switch.send(port, frame), [(SERVER_PORTS[1], frame)])
            frame = bytes(Ether(dst=server_mac(0), src=sml.worker_mac(99)) / sml.IP(dst="10.9.9.9")
                          / sml.UDP(sport=UDP_OTHER, dport=UDP_OTHER) / (b"y" * 300))
            self.assertEqual(self.switch.send(port, frame), [(SERVER_PORTS[0], frame)])

    def test_strangers_from_atps_ports(self):
        """Who may use SwitchML there is said by port, too."""
        values = sml.vector(1, 64)
        frame = JOB.packet(2, 0, 0, values)
        for port in (129, 384, 130):  # another worker's port, another pipe's, a port of nobody
            self.assertEqual(self.switch.send(port, frame), [])
        self.assertEqual(self.refused("AtpPipe", NO_GUEST), 3)
        self.assertEqual(self.bitmaps(0), [0, 0])
        # its own port takes it, and the ports of SwitchML's pipes do not
        self.assertEqual(self.send_elements(2, 0, 0, values), [])
        self.assertEqual(self.bitmaps(0), [1 << 2, 0])
        for port in (0, 256):
            self.assertEqual(self.switch.send(port, frame), [])
        self.assertEqual(self.switch.counter("SwitchmlPipe.Ingress.drops", sml.UNKNOWN_WORKER)[0], 2)

    def test_larger_packets_are_refused(self):
        for n, worker in enumerate(range(8)):
            for size in (128, 256):
                self.assertEqual(self.send_elements(worker, 0, 0, sml.vector(1, size)), [])
            self.assertEqual(self.refused("SwitchmlPipe", TOO_LARGE), 2 * (n + 1))
        self.assertEqual(self.bitmaps(0), [0, 0])

    def test_aggregators_that_no_pipe_has(self):
        for n, (worker, index) in enumerate(((0, 0x8000), (2, 0xC000), (4, 0x8001), (6, 0xFFFF))):
            self.assertEqual(self.send_gradient(gradient(worker, atp.vector(1), 1, index), worker), [])
            self.assertEqual(self.switch.counter("AtpPipe.Ingress.drops", BAD_INDEX)[0], n + 1)

    def test_damaged(self):
        """A wrong checksum is noticed by the pipe that a packet comes to: ATP's packet is dropped, SwitchML's
        counted and taken."""
        for worker in range(8):
            frame = bytearray(self.gradient_frame(gradient(worker, atp.vector(1), 1, 5), worker))
            frame[24] ^= 1
            self.assertEqual(self.switch.send(ATP_PORTS[worker], frame), [])
            frame = bytearray(JOB.packet(worker, 0, 0, sml.vector(1, 64)))
            frame[24] ^= 1
            self.assertEqual(len(self.switch.send(SML_PORTS[worker], frame)), 8 if worker == 7 else 0)
        self.assertEqual(self.refused("SwitchmlPipe", BAD_CHECKSUM), 4)
        self.assertEqual(self.switch.counter("AtpPipe.Ingress.drops", atp.BAD_CHECKSUM)[0], 4)
        self.assertEqual(sum(self.switch.counter("SwitchmlPipe.Ingress.admission.wrong_checksums", rid)[0]
                             for rid in range(1024)), 8)
        self.assertEqual(self.owners(5), [0, 0])
        self.assertEqual(self.bitmaps(0), [0xff, 0])

    def test_cut_off(self):
        """Packets of all lengths, from ports of all pipes: none gets anywhere. (The last four bytes that a
        parser sees are the frame's check sequence.)"""
        for worker in range(0, 8, 2):
            frame = self.gradient_frame(gradient(worker, atp.vector(1), 1, 5), worker)
            for length in range(42, len(frame) - 4, 11):
                self.assertEqual(self.switch.send(ATP_PORTS[worker], frame[:length]), [])
            frame = JOB.packet(worker, 0, 0, sml.vector(1, 64))
            for length in range(42, len(frame) - 4, 11):
                self.assertEqual(self.switch.send(SML_PORTS[worker], frame[:length]), [])
        self.assertEqual(self.owners(5), [0, 0])
        self.assertEqual(self.bitmaps(0), [0, 0])


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
