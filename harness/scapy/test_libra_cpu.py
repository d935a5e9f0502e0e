#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/libra with a CPU, packet by packet: what servers collect, which copies the CPU gets, and what it is asked. The same
of the program that adds integers and of the one that adds floats."""
import os
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
import tally  # noqa: E402
import test_libra  # noqa: E402
import test_libra_floats  # noqa: E402
from switch import Switch  # noqa: E402
from test_libra import (ACK, ANSWER, BAD_CHECKSUM, BAD_INDEX, BAD_KIND, BAD_LENGTH, BAD_PLACE, BAD_SEQUENCE,  # noqa: E402
                        COLLECT, M, ONE, OLD, OTHER, OTHER_EPOCH, PULL, PUSH, UNKNOWN_WORKER, WINDOW, Reply)
from test_libra_floats import bits  # noqa: E402

CPU = 64
MAY_COLLECT, HAS_CPU = 1, 2
SERVER = 2  # of ONE: that worker is a server


def enrolled(entry):
    """Worker 0 has no rights, 1 the CPU's help, 2 is a server, too."""
    worker = entry["key"]["hdr.libra.worker"]
    rights = {0: 0, 1: HAS_CPU, SERVER: HAS_CPU | MAY_COLLECT}[worker]
    return {**entry, "action": "enroll", "args": {**entry["args"], "rights": rights}}


class Integers(unittest.TestCase):
    PROGRAM, DROPS, OLD_DROPS = "p4/libra/integer.p4", "drops", "drops"

    @staticmethod
    def value(number):
        return number

    def configuration(self):
        config = test_libra.configuration()
        config["program"] = os.path.abspath(self.PROGRAM)
        config["ports"].append({"port": CPU, "device": "net_null64"})
        config["entries"] = [*map(enrolled, ONE.entries()), *OTHER.entries(), config["entries"][-1]]
        return config

    def setUp(self):
        self.switch = Switch(self.configuration())

    def tearDown(self):
        self.switch.close()

    def send(self, worker, frame):
        return {port: Reply(bytes(got)) for port, got in self.switch.send(ONE.host(worker), frame)}

    def push(self, worker, sequence, pairs):
        frame = ONE.packet(worker, PUSH, sequence, {i: self.value(v) for i, v in pairs.items()})
        got = self.send(worker, frame)
        self.assertEqual({port: r.kind for port, r in got.items()}, {ONE.host(worker): ACK})

    def ask(self, worker, kind, sequence, indices, **more):
        """The answer, of which the CPU has the same."""
        got = self.send(worker, ONE.packet(worker, kind, sequence, dict.fromkeys(indices, 77), **more))
        self.assertEqual(sorted(got), [ONE.host(worker), CPU] if worker else [ONE.host(worker)])
        reply = got[ONE.host(worker)]
        self.assertEqual((reply.kind, reply.sequence, reply.length), (ANSWER, sequence, 186))
        if worker:
            self.assertEqual(vars(got[CPU]), vars(reply))
        return {i: reply.pairs[i % M][1] for i in indices if reply.places >> (15 - i % M) & 1}

    def values(self, pairs):
        return {i: self.value(v) for i, v in pairs.items()}

    def drops(self, name=None):
        return {r: n for r in range(16) for n in [self.switch.counter(name or self.DROPS, r)[0]] if n}

    def refused(self, worker, frame, reason, port=None, drops=None):
        before = self.drops(drops)
        self.assertEqual(self.switch.send(ONE.host(worker) if port is None else port, frame), [])
        self.assertEqual(self.drops(drops), {**before, reason: before.get(reason, 0) + 1})

    def test_collects(self):
        held = {0: 5, 1: 6, 15: 7, 4095 * M + 7: 9, M + 2: 11}
        self.push(0, 1, held)
        self.assertEqual(self.ask(SERVER, COLLECT, 1, held), self.values(held))
        self.assertEqual(self.ask(0, PULL, 2, held), self.values(dict.fromkeys(held, 0)))
        self.push(0, 3, {0: 2})
        self.assertEqual(self.ask(SERVER, COLLECT, 2, [0, 1]), self.values({0: 2, 1: 0}))
        self.assertEqual(self.drops(), {})

    def test_collects_only_where_a_pair_is(self):
        self.push(0, 1, {i: 10 + i for i in range(M)})
        got = self.send(SERVER, ONE.packet(SERVER, COLLECT, 1, dict.fromkeys(range(M), 77), places=0x8001))
        self.assertEqual(got[ONE.host(SERVER)].places, 0x8001)
        self.assertEqual(got[ONE.host(SERVER)].pairs[:2], [(0, self.value(10)), (1, 77)])
        self.assertEqual(self.ask(0, PULL, 2, range(M)),
                         self.values({i: 0 if i in (0, 15) else 10 + i for i in range(M)}))

    def test_collects_once(self):
        """The cells of a repeated collect are the CPU's to tell: it has the answer's copy."""
        self.push(0, 1, {3: 4})
        self.assertEqual(self.ask(SERVER, COLLECT, 7, [3]), {3: self.value(4)})
        self.push(0, 2, {3: 8})
        for again in (0, 1):
            got = self.send(SERVER, ONE.packet(SERVER, COLLECT, 7, {3: 0}, again=again))
            self.assertEqual({port: (r.kind, r.sequence, r.ports) for port, r in got.items()},
                             {CPU: (COLLECT, 7, (test_libra.UDP_PORT, 40000 + SERVER))})
        self.assertEqual(self.ask(0, PULL, 3, [3]), {3: self.value(8)})
        self.assertEqual(self.ask(SERVER, COLLECT, 7 + WINDOW, [3]), {3: self.value(8)})
        self.refused(SERVER, ONE.packet(SERVER, COLLECT, 7, {3: 0}), OLD, drops=self.OLD_DROPS)

    def test_only_servers_collect(self):
        self.push(0, 1, {0: 1})
        for worker in (0, 1):
            self.refused(worker, ONE.packet(worker, COLLECT, 1, {0: 0}), BAD_KIND)
        for sequence in (0, 1 << 30, 1 << 31, 0xFFFFFFFF):
            self.refused(SERVER, ONE.packet(SERVER, COLLECT, sequence, {0: 0}), BAD_SEQUENCE)
        self.refused(SERVER, ONE.packet(SERVER, COLLECT, 1, {0: 0}, epoch=8), OTHER_EPOCH)
        self.refused(SERVER, ONE.packet(SERVER, COLLECT, 1, {0: 0}, indices={3: 4}), BAD_PLACE)
        self.refused(SERVER, ONE.packet(SERVER, COLLECT, 1, {0: 0}, indices={3: 4096 * M + 3}), BAD_INDEX)
        self.refused(SERVER, ONE.packet(SERVER, COLLECT, 1, {0: 0}), UNKNOWN_WORKER, port=20)
        self.refused(1, OTHER.packet(1, COLLECT, 1, {0: 0}), UNKNOWN_WORKER)
        self.assertEqual(self.ask(0, PULL, 2, [0]), {0: self.value(1)})

    def ack(self, worker, **more):
        return ONE.packet(worker, ACK, 9, {}, **more)[:58]

    def test_acks_are_for_the_cpu(self):
        def shorter(frame):
            packet = test_libra.Ether(frame)
            packet[test_libra.IP].len, packet[test_libra.UDP].len = 44, 24
            del packet[test_libra.IP].chksum
            return bytes(packet)
        frame = shorter(self.ack(1))
        self.assertEqual(self.switch.send(ONE.host(1), frame), [(CPU, frame)])
        self.refused(0, shorter(self.ack(0)), BAD_KIND)  # that has no copies
        self.refused(1, shorter(self.ack(1, epoch=8)), OTHER_EPOCH)
        self.refused(1, shorter(self.ack(1)), UNKNOWN_WORKER, port=20)
        wrong = bytearray(frame)
        wrong[24] ^= 1
        self.refused(1, bytes(wrong), BAD_CHECKSUM)
        # a push that says it is as short as an ack
        self.refused(1, shorter(ONE.packet(1, PUSH, 1, {0: 1})), BAD_LENGTH)
        self.assertEqual(self.ask(0, PULL, 2, [0]), {0: self.value(0)})

    def test_frames_from_the_cpu_are_forwarded(self):
        """Repeated answers: to the worker's address."""
        frame = bytearray(ONE.packet(1, ANSWER, 9, {}))
        frame[:6] = bytes.fromhex("020000000014")
        frame[36:38] = (40001).to_bytes(2, "big")  # UDP's destination
        self.assertEqual(self.switch.send(CPU, bytes(frame)), [(20, bytes(frame))])


class Floats(Integers):
    PROGRAM, DROPS, OLD_DROPS = "p4/libra/libra.p4", "pipe.Ingress.drops", "pipe.Egress.drops"

    @staticmethod
    def value(number):
        return bits(float(number))

    def configuration(self):
        return {**super().configuration(), **test_libra_floats.TABLES}


if __name__ == "__main__":
    tally.main()
