#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/dlcp/dlcp.p4 with the traffic manager's settings of its README, packet by packet: classes, colours, sprays,
the meter, DSCPs that are nobody's, and what goes nowhere."""
import collections
import logging
import os
import struct
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, TCP, UDP  # noqa: E402
from scapy.layers.l2 import ARP, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402

import tally  # noqa: E402
from switch import Switch  # noqa: E402

PORT_DLCP = 0xbec2
IN, OUT, UP = 1, 2, (4, 5, 6, 7)
NEAR, FAR, NOWHERE, UNKNOWN = "10.0.0.2", "10.0.9.9", "10.0.8.8", "10.0.7.7"
CLASSES = 7
SIGNAL = 31
IMPORTANT_CLAIM, SIGNAL_CLAIM = 1, 2
BAD_HEADER, NO_ADDRESS, NO_PORT = 1, 2, 3
NOT_ECT, ECT1, ECT0, CE = 0, 1, 2, 3
T = 8  # cells; the yellow limit of class c is T (1 + c / 2)


def dscp_of(c):
    return 4 * c + 3


def limit_of(c):
    return T + T * c // 2


def entry(table, key, action, **args):
    return {"table": table, "key": key, "action": action, "args": args}


def queues(port, speed, **more):
    """Strict priority by queue: signals in 7, class c in 6 - c, which takes unimportant packets up to a depth."""
    schedule = [{"qid": 6 - c, "priority": 6 - c, "yellow": limit_of(c)} for c in range(CLASSES)]
    return {"port": port, "speed": speed, "schedule": schedule + [{"qid": 7, "priority": 7}], **more}


def config(**changes):
    entries = [entry("addresses", {"dst_addr": NEAR}, "to_port", port=OUT),
               entry("addresses", {"dst_addr": FAR}, "via", hops=1),
               entry("addresses", {"dst_addr": NOWHERE}, "via", hops=2),
               entry("macs", {"dst_addr": "02:00:00:00:00:02"}, "to_port", port=OUT)]
    entries += [entry("paths", {"hops": 1, "slot": s}, "to_port", port=UP[s % len(UP)]) for s in range(64)]
    for c in range(CLASSES):
        entries.append(entry("queues_of", {"dscp": dscp_of(c), "ecn": NOT_ECT}, "queue", qid=6 - c, colour=1))
        entries += [entry("queues_of", {"dscp": dscp_of(c), "ecn": e}, "claims", qid=6 - c, colour=0, what=IMPORTANT_CLAIM)
                    for e in (ECT1, ECT0, CE)]
        entries.append(entry("sprayed", {"dscp": dscp_of(c)}, "spray"))
    entries += [entry("queues_of", {"dscp": SIGNAL, "ecn": e}, "claims", qid=7, colour=0, what=SIGNAL_CLAIM)
                for e in range(4)]
    return {"program": "p4/dlcp/dlcp.p4", "ports": [{"port": p, "device": f"net_null{p}"} for p in (IN, OUT) + UP],
            "entries": entries + changes.pop("entries", []), **changes}


def packet(dscp, ecn=NOT_ECT, dst=NEAR, payload=20, sport=1000, tag=0, **ip):
    return bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
                 / IP(src="10.0.0.1", dst=dst, tos=dscp << 2 | ecn, **ip)
                 / UDP(sport=sport, dport=PORT_DLCP) / Raw(struct.pack(">I", tag) + b"x" * payload))


def dscp(frame):
    return frame[15] >> 2


def tag(frame):
    return struct.unpack_from(">I", frame, 42)[0]


class Dlcp(unittest.TestCase):
    def start(self, **changes):
        self.switch = Switch(config(**changes))
        self.addCleanup(self.switch.close)

    def rest(self):
        """What waits, in the order in which it leaves."""
        lines = self.switch.ask("wait 1000000000")
        return [(int(w[1]), bytes.fromhex(w[2])) for w in map(str.split, lines)]

    def test_classes_leave_in_their_order(self):
        self.start(queues=[queues(OUT, 1)])
        first = packet(0)
        self.assertEqual(self.switch.send(IN, first), [(OUT, first)])
        for number in range(3):  # the back one first
            for c in reversed(range(CLASSES)):
                self.assertEqual(self.switch.send(IN, packet(dscp_of(c), ECT0, tag=number)), [])
            self.assertEqual(self.switch.send(IN, packet(SIGNAL, tag=number)), [])
        frames = [f for _, f in self.rest()]
        want = [SIGNAL] + [dscp_of(c) for c in range(CLASSES)]
        self.assertEqual([dscp(f) for f in frames], [d for d in want for _ in range(3)])
        self.assertEqual([tag(f) for f in frames], [0, 1, 2] * len(want))

    def test_a_signal_waits_for_one_packet_only(self):
        self.start(queues=[queues(OUT, 1)])
        for c in range(CLASSES):
            for _ in range(5):
                self.switch.send(IN, packet(dscp_of(c), ECT0))
        self.switch.send(IN, packet(SIGNAL))
        self.assertEqual(dscp(self.rest()[0][1]), SIGNAL)

    def test_unimportant_packets_up_to_the_depth_of_their_class(self):
        # A frame of 66 bytes with its FCS is a cell. A front class keeps less than a back one.
        self.start(queues=[queues(OUT, 1)])
        self.switch.send(IN, packet(0, payload=1400))
        for c in range(CLASSES):
            for number in range(60):
                self.assertEqual(self.switch.send(IN, packet(dscp_of(c), NOT_ECT, tag=number)), [])
        got = collections.Counter(dscp(f) for _, f in self.rest())
        self.assertEqual(got, {dscp_of(c): limit_of(c) for c in range(CLASSES)})
        self.assertEqual(self.switch.drops(), {"egress queue full": sum(60 - limit_of(c) for c in range(CLASSES))})

    def test_important_packets_are_taken_beyond_it(self):
        for ecn in (ECT0, ECT1, CE):
            with self.subTest(ecn=ecn):
                self.start(queues=[queues(OUT, 1)])
                self.switch.send(IN, packet(0, payload=1400))
                for c in range(CLASSES):
                    for number in range(limit_of(c)):
                        self.switch.send(IN, packet(dscp_of(c), NOT_ECT, tag=number))
                    for number in range(50):
                        self.switch.send(IN, packet(dscp_of(c), ecn, tag=100 + number))
                        self.switch.send(IN, packet(dscp_of(c), NOT_ECT, tag=200 + number))
                for c, frames in self.by_class().items():
                    self.assertEqual([tag(f) for f in frames], list(range(limit_of(c))) + list(range(100, 150)))

    def by_class(self):
        out = {c: [] for c in range(CLASSES)}
        for _, f in self.rest():
            out[(dscp(f) - 3) // 4].append(f)
        return out

    def test_a_pool_gives_way_to_guarantees(self):
        q = queues(OUT, 1, pool=0, share=1)
        q["schedule"][-1]["guaranteed"] = 4
        other = {"port": UP[0], "speed": 1, "pool": 0}
        self.start(pools=[{"id": 0, "cells": 100}], queues=[q, other],
                   entries=[entry("addresses", {"dst_addr": "10.0.0.4"}, "to_port", port=UP[0])])
        for number in range(121):
            self.switch.send(IN, packet(0, dst="10.0.0.4"))
        self.switch.send(IN, packet(dscp_of(0), ECT0))
        for number in range(10):
            self.switch.send(IN, packet(SIGNAL))  # the first leaves at once
        self.assertEqual(self.switch.drops(), {"buffer pool full": 20 + 1 + 5})
        self.assertEqual([dscp(f) for p, f in self.rest() if p == OUT], [SIGNAL] * 4)

    def test_others_stay_as_they_are(self):
        """DSCPs that are nobody's: queue 0, green, by their flow's path."""
        mine = [dscp_of(c) for c in range(CLASSES)] + [SIGNAL]
        self.start(queues=[queues(OUT, 1)])
        self.switch.send(IN, packet(0, payload=1400))
        others = [d for d in range(64) if d not in mine]
        for d in others:
            for ecn in range(4):
                self.switch.send(IN, packet(d, ecn))
        self.switch.send(IN, packet(dscp_of(5), ECT0))
        got = [dscp(f) for _, f in self.rest()]
        self.assertEqual(got[0], dscp_of(5))  # from queue 1
        self.assertEqual(got[1:], [d for d in others for _ in range(4)])  # green: the yellow limit is no matter
        for d in others:
            ports = {p for _ in range(8) for p, _ in self.switch.send(IN, packet(d, dst=FAR))}
            self.assertEqual(len(ports), 1, d)

    def test_sprays(self):
        self.start()
        for d in [dscp_of(c) for c in range(CLASSES)]:
            ports = collections.Counter(self.switch.send(IN, packet(d, dst=FAR, tag=n))[0][0] for n in range(200))
            self.assertEqual(set(ports), set(UP))
            self.assertTrue(all(20 <= n <= 90 for n in ports.values()), ports)
        for d in (SIGNAL, 0, 46):
            ports = [self.switch.send(IN, packet(d, dst=FAR, tag=n))[0][0] for n in range(50)]
            self.assertEqual(len(set(ports)), 1)
        # a sender that turns its source ports gets to all paths
        ports = {self.switch.send(IN, packet(SIGNAL, dst=FAR, sport=n))[0][0] for n in range(1000, 1064)}
        self.assertEqual(ports, set(UP))

    def limits(self, claim, action, **args):
        rate = {f"$METER_SPEC_{k}": v for k, v in
                {"CIR_KBPS": 1, "PIR_KBPS": 1, "CBS_KBITS": 8, "PBS_KBITS": 8}.items()}
        return {"table": "limits", "key": {"port": IN, "claim": claim}, "action": action, "args": {**args, **rate}}

    def test_who_says_that_all_is_important(self):
        self.start(queues=[queues(OUT, 1)], entries=[self.limits(IMPORTANT_CLAIM, "recolour", colour=1)])
        self.switch.send(IN, packet(0, payload=1400))
        for number in range(100):
            self.switch.send(IN, packet(dscp_of(0), ECT0, tag=number))
            self.switch.send(UP[0], packet(dscp_of(6), ECT0, tag=number))
        got = collections.Counter(dscp(f) for _, f in self.rest())
        self.assertEqual(got[dscp_of(6)], 100)  # from a port without a limit
        # some 1,000 bytes are believed, which is more than the limit of the class; then they are as others
        self.assertTrue(limit_of(0) < got[dscp_of(0)] < 20, got)
        self.assertEqual(self.switch.drops(), {"egress queue full": 100 - got[dscp_of(0)]})

    def test_who_claims_the_class_of_signals(self):
        self.start(queues=[queues(OUT, 1)], entries=[self.limits(SIGNAL_CLAIM, "demote", qid=0, colour=1)])
        self.switch.send(IN, packet(0, payload=1400))
        for number in range(30):
            self.switch.send(IN, packet(SIGNAL, tag=number))
        for number in range(3):
            self.switch.send(UP[0], packet(dscp_of(5), ECT0, tag=number))
        frames = [f for _, f in self.rest()]
        at = [i for i, f in enumerate(frames) if dscp(f) == dscp_of(5)]
        believed = at[0]
        self.assertTrue(8 < believed < 20, believed)
        self.assertEqual(at, list(range(believed, believed + 3)))  # what is beyond it goes behind them
        self.assertEqual([tag(f) for f in frames[:believed]], list(range(believed)))
        self.assertEqual([tag(f) for f in frames[believed + 3:]], list(range(believed, 30)))

    def test_marks(self):
        self.start(queues=[queues(OUT, 1)],
                   entries=[{"table": "Egress.queues", "key": {"enq_qdepth": "2..524287", "ecn": e}, "action": "mark",
                             "priority": e} for e in (ECT1, ECT0)])
        self.switch.send(IN, packet(dscp_of(0), ECT0))
        for ecn in (ECT0, ECT0, ECT0, ECT1, NOT_ECT):
            self.switch.send(IN, packet(dscp_of(0), ecn))
        want = [packet(dscp_of(0), e) for e in (ECT0, ECT0, CE, CE, NOT_ECT)]
        self.assertEqual([f for _, f in self.rest()], want)

    def test_what_goes_nowhere(self):
        self.start()
        good = packet(dscp_of(0), ECT0)
        self.assertEqual(self.switch.send(IN, good), [(OUT, good)])
        spoiled = bytearray(good)
        spoiled[22] ^= 1
        version, short = bytearray(packet(0)), bytearray(packet(0))
        version[14], short[14] = 0x55, 0x44
        cases = ((bytes(spoiled), BAD_HEADER), (bytes(version), BAD_HEADER), (bytes(short), BAD_HEADER),
                 (packet(dscp_of(0), dst=UNKNOWN), NO_ADDRESS), (packet(dscp_of(0), dst=NOWHERE), NO_PORT))
        counts = collections.Counter()
        for frame, why in cases:
            self.assertEqual(self.switch.send(IN, frame), [])
            counts[why] += 1
            for reason in (BAD_HEADER, NO_ADDRESS, NO_PORT):
                self.assertEqual(self.switch.counter("drops", reason)[0], counts[reason])
        for n in range(len(good)):
            self.switch.send(IN, good[:n])
        self.assertEqual(self.switch.send(IN, good), [(OUT, good)])

    def test_what_is_no_ipv4_goes_by_its_address(self):
        self.start()
        arp = bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / ARP(pdst=NEAR))
        self.assertEqual(self.switch.send(IN, arp), [(OUT, arp)])
        self.assertEqual(self.switch.send(IN, arp[:5] + b"\x09" + arp[6:]), [])

    def test_fragments_and_options_of_a_flow_take_one_path(self):
        self.start()
        for ip in ({"frag": 100}, {"options": b"\x01" * 4}):
            ports = {self.switch.send(IN, packet(0, dst=FAR, sport=n, **ip))[0][0] for n in range(2000, 2040)}
            self.assertEqual(len(ports), 1)
        tcp = [bytes(Ether(dst="02:00:00:00:00:02") / IP(dst=FAR, src="10.0.0.1") / TCP(sport=n)) for n in range(60)]
        self.assertEqual({self.switch.send(IN, f)[0][0] for f in tcp}, set(UP))


if __name__ == "__main__":
    tally.main()
