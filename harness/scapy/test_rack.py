#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/rack/rack.p4: all of test_tor.py once more, jobs of SwitchML and ATP beside it, and what hostile hosts send
to them. What each protocol does is in test_switchml.py and test_atp.py, whose packets these are."""
import logging
import os
import random
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, TCP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.layers.l2 import Dot1Q, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402

import tally  # noqa: E402
import test_atp as atp  # noqa: E402
import test_switchml as sml  # noqa: E402
import test_tor as tor  # noqa: E402
from elements import vector  # noqa: E402
from switch import Switch  # noqa: E402
from test_tor import entry, frame, interface  # noqa: E402

PROGRAM = "p4/rack/rack.p4"
NOT_A_WORKER, NOT_ITS_OWN, OVER_RATE = 13, 14, 15   # drop_t
OUTSIDER, NOWHERE = 1, 2             # refusal_t
TO_SWITCHML = 325
MARKS = {"edge": 0x8000, "is_ack": 0x20}

# Beside test_tor.py's ports: members of VLAN 30, of which FREE is nobody's, and 390 and 391 are pipe 3's
VID, PORTS, FREE, ATP_PIPES, SML_PIPES = 30, [8, 9, 10, 11, 12, 13, 14, 390, 391], 14, 130, 260
TRUNK = tor.TRUNK
JOB = sml.Job(7, [8, 9, TRUNK, 390], 1, 100, 0, 16)
OTHER_JOB = sml.Job(8, [10, 11], 5, 101, 16, 16)   # a tenant who is no friend


class AtpJob:
    """A job with 'hosts' as workers and one server; addresses are 10.0.30.HOST."""

    def __init__(self, number, ports, first_host, server_mac, server_ip, server_ports, share):
        self.number, self.ports, self.first_host = number, ports, first_host
        self.server_mac, self.server_ip, self.server_ports = server_mac, server_ip, server_ports
        self.first, self.last = share
        self.group, self.group_ip = f"01:00:5e:00:01:{number:02x}", f"239.0.1.{number}"

    def ip(self, worker):
        return f"10.0.30.{self.first_host + worker}"

    def mac(self, worker):
        return f"02:00:00:00:30:{self.first_host + worker:02x}"

    def gradient(self, worker, values, sequence, index, **more):
        return atp.Packet(values, index=self.first + index, job=self.number, sequence=sequence,
                          bits=(1 << worker, 0), fan_in=(len(self.ports), 1), **more)

    def frame(self, packet, worker, dst=None, tag=None, **ip):
        fields = {"src": self.ip(worker), "dst": self.server_ip, **ip}
        return wire(dst or self.server_mac, self.mac(worker), fields, packet.payload(), tag)

    def parameters(self, packet, tag=None, **ip):
        fields = {"src": self.server_ip, "dst": self.group_ip, **ip}
        return wire(self.group, self.server_mac, fields, packet.but(is_ack=1).payload(), tag)


def wire(dst, src, ip, payload, tag=None, port=atp.UDP_PORT):
    out = Ether(dst=dst, src=src)
    if tag is not None:
        out /= Dot1Q(vlan=tag)
    return bytes(out / IP(**ip) / UDP(sport=atp.UDP_PORT, dport=port, chksum=0) / payload)


# Its server is behind the LAG, in VLAN 30 with a tag there; the other one's is routed to.
ATP_JOB = AtpJob(7, [12, 13, TRUNK, 391], 11, "02:00:00:00:30:f0", "10.0.30.240", [tor.LAG_A, tor.LAG_B], (0, 99))
OTHER_ATP = AtpJob(9, [10, 11], 15, tor.HOST20, "10.0.20.2", [tor.ACCESS20], (100, 199))
EVERYBODY = [(ATP_JOB, TRUNK), (OTHER_ATP, None)]


def tag_of(port):
    return VID if port in (TRUNK, tor.LAG_A, tor.LAG_B) else 0


def tagged(data, tag):
    return data[:12] + bytes.fromhex("8100") + tag.to_bytes(2, "big") + data[12:] if tag else data


def registered(port, src, protocol, job, is_ack, action, **args):
    return entry("registered", {"ingress_port": port, "md.tag": tag_of(port), "hdr.ipv4.src_addr": src,
                                "protocol": protocol, "job": job, "is_ack": is_ack}, action, **args)


def guarded(address, *ports):
    return [entry("guarded", {"hdr.ipv4.dst_addr": address, "dst_port": p}, "guard") for p in (*ports, 0)]


def switchml_entries(job):
    for e in job.entries():
        if e["table"] == "workers":
            port = e["key"]["ig_intr_md.ingress_port"]
            yield registered(port, e["key"]["hdr.ipv4.src_addr"], 1, job.number, 0, "switchml")
            e["key"]["ig_intr_md.ingress_port"] = TO_SWITCHML
        yield e
    for w, port in enumerate(job.ports):
        yield from guarded(sml.worker_ip(job.host(w)), sml.SOURCE_PORT + w % 16)
        if tag_of(port):
            yield entry("tagged", {"rid": job.rid(w)}, "tag", vid=VID)


def atp_entries(job, mgid, out, out_interface):
    for w, port in enumerate(job.ports):
        yield registered(port, job.ip(w), 2, job.number, 0, "worker", bitmap0=1 << w, bitmap1=0,
                         marks=(len(job.ports) - 1) << 8, minus_first=-job.first & 0xFFFF, last=job.last)
        yield from guarded(job.ip(w), atp.UDP_PORT)
    for port in job.server_ports:
        yield registered(port, job.server_ip, 2, job.number, 1, "server", minus_first=-job.first & 0xFFFF, last=job.last)
    yield from guarded(job.server_ip, atp.UDP_PORT)
    yield from guarded(job.group_ip, atp.UDP_PORT)
    yield entry("returns", {"job": job.number, "is_ack": 0, "dst_addr": job.server_ip}, "into", vid=VID, dst_addr=out)
    yield entry("returns", {"job": job.number, "is_ack": 1, "dst_addr": job.group_ip}, "into", vid=VID,
                dst_addr=job.group)
    yield entry("destinations", {"vid": VID, "dst_addr": job.group}, "group", group=mgid)
    if out_interface:
        yield entry("destinations", {"vid": VID, "dst_addr": out}, "bridge", interface=out_interface)


def configuration(**changes):
    config = tor.configuration(**changes)
    entries, members, nodes, flood = [], [], [], []
    for port in PORTS:
        entries += [entry("ports", {"ingress_port": port}, "port", interface=interface(port), acl_group=0, learns=1,
                          storm_port=0, session=0),
                    {"table": "interfaces", "key": {"out_interface": interface(port)}, "group": interface(port)}]
        members.append({"profile": "Ingress.members", "id": 2000 + port, "action": "leave_by", "args": {"port": port}})
        config["groups"].append({"selector": "Ingress.lag", "id": interface(port), "max_size": 16,
                                 "members": [2000 + port]})
    for port in [*PORTS, TRUNK, tor.LAG_A, tor.LAG_B]:
        tag = tag_of(port)
        entries += [entry("vlans_in", {"ingress_port": port, "tag": tag}, "join", vid=VID),
                    entry("vlans_out", {"egress_port": port, "vid": VID}, "tagged" if tag else "untagged")]
    for port in [*PORTS, TRUNK]:
        nodes.append({"id": 3000 + port, "rid": 0, "ports": [port]})
        flood.append({"node": 3000 + port, "xid": interface(port)})
    nodes.append({"id": 3900, "rid": 0, "lags": [1]})
    flood.append({"node": 3900, "xid": tor.LAG})
    entries += [entry("floods", {"vid": VID}, "flood_to", group=VID),
                entry("destinations", {"vid": VID, "dst_addr": tor.ROUTER}, "route")]
    groups = [{"id": VID, "nodes": flood}]
    for job in (JOB, OTHER_JOB):
        entries += switchml_entries(job)
        nodes += [{"id": 4000 + job.rid(w), "rid": job.rid(w), "ports": [p]} for w, p in enumerate(job.ports)]
        groups.append({"id": job.group, "nodes": [4000 + job.rid(w) for w in range(len(job.ports))]})
        for w, port in enumerate(job.ports):
            entries.append(entry("destinations", {"vid": VID, "dst_addr": sml.worker_mac(job.host(w))}, "bridge",
                                 interface=interface(port)))
    entries += guarded(sml.SWITCH_IP, *range(0xBEE0, 0xBEF0))
    entries += atp_entries(ATP_JOB, 207, ATP_JOB.server_mac, tor.LAG)
    entries += atp_entries(OTHER_ATP, 209, tor.ROUTER, 0)
    for job, mgid in ((ATP_JOB, 207), (OTHER_ATP, 209)):
        groups.append({"id": mgid, "nodes": [{"node": 3000 + p, "xid": interface(p)} for p in job.ports]})
        for w, port in enumerate(job.ports):
            entries.append(entry("destinations", {"vid": VID, "dst_addr": job.mac(w)}, "bridge",
                                 interface=interface(port)))
    config["program"] = PROGRAM
    config["ports"] += [{"port": p, "device": f"net_null{p}"} for p in [*PORTS, ATP_PIPES, SML_PIPES]]
    config["entries"] += entries
    config["members"] += members
    config["multicast"]["nodes"] += nodes
    config["multicast"]["groups"] += groups
    return config


# ---- ordinary traffic: test_tor.py's tests, in which nothing but the program is another ----
def of_the_rack(case):
    def start(self, **changes):
        self.switch = Switch({**tor.configuration(**changes), "program": PROGRAM})
        self.addCleanup(self.switch.close)
    return type(f"Rack{case.__name__}", (case,), {"start": start})


for _case in (tor.Bridging, tor.Learning, tor.Routing, tor.ControlPlane, tor.Policies):
    globals()[f"Rack{_case.__name__}"] = of_the_rack(_case)
del _case


class RackTest(unittest.TestCase):
    def start(self, **changes):
        self.switch = Switch(configuration(**changes))
        self.addCleanup(self.switch.close)

    def setUp(self):
        self.start()

    def dropped(self, reason):
        return self.switch.counter("pipe.Ingress.drops", reason)[0]

    def refused(self, reason):
        return self.switch.counter("atp.Atp.refused", reason)[0]

    def owner(self, index):
        return self.switch.register("owners", index, "fragment")[1]

    def bitmap(self, slot):
        return self.switch.register("bitmap0", slot)[2]

    def assert_refused(self, port, data, reason=NOT_A_WORKER):
        before = self.dropped(reason)
        self.assertEqual(self.switch.send(port, data), [])
        self.assertEqual(self.dropped(reason), before + 1)

    # SwitchML
    def elements_frame(self, worker, slot, version, values, job=JOB, **more):
        return tagged(job.packet(worker, slot, version, values, **more), tag_of(job.ports[worker]))

    def send_elements(self, worker, slot, version, values, job=JOB, **more):
        return self.switch.send(job.ports[worker], self.elements_frame(worker, slot, version, values, job, **more))

    def assert_results(self, out, values, workers, slot, version, job=JOB, **more):
        bare = []
        for port, data in out:
            if tag_of(port):
                self.assertEqual(data[12:16].hex(), f"8100{VID:04x}")
                data = data[:12] + data[16:]
            bare.append((port, data))
        sml.SwitchTest.assert_results(self, bare, values, workers, slot, version, job=job, **more)

    # ATP
    def send_gradient(self, packet, worker, job=ATP_JOB, **more):
        port = job.ports[worker]
        return self.switch.send(port, job.frame(packet, worker, tag=tag_of(port) or None, **more))

    def assert_sum(self, out, expected, worker, job=ATP_JOB):
        """'expected' to the server, who is behind the LAG, or a hop away."""
        (port, data), = out
        self.assertIn(port, job.server_ports)
        tag = tag_of(port) or None
        if job is OTHER_ATP:
            want = wire(tor.HOST20, tor.ROUTER, {"src": job.ip(worker), "dst": job.server_ip, "ttl": 63},
                        expected.payload())
        else:
            want = job.frame(expected, worker, tag=tag)
        head = 46 if tag else 42
        self.assertEqual(data[:head], want[:head])
        self.assertEqual(atp.Packet.of(data[head - 42:]).key(), expected.key())

    def acknowledge(self, packet, job=ATP_JOB, by=0):
        """Each of the job's workers gets the parameters, and nobody else does."""
        port = job.server_ports[by]
        dst = {"dst": job.group_ip}
        out = self.switch.send(port, job.parameters(packet, tag=tag_of(port) or None, **dst))
        self.assertEqual([p for p, _ in out], sorted(job.ports))
        for p, data in out:
            self.assertEqual(data, job.parameters(packet, tag=tag_of(p) or None, **dst))

    def whole_round(self, r, round_, trouble=lambda: None, jobs=((JOB, ATP_JOB), (OTHER_JOB, OTHER_ATP))):
        """A slot and a fragment of each job, workers in any order, with trouble between any two packets."""
        turns, state = [], {}
        for sml_job, atp_job in jobs:
            slot, version, size = round_ % 16, round_ // 16 % 2, (64, 32)[round_ % 2]
            elements = [vector(r.randrange(1 << 20), size) for _ in sml_job.ports]
            values = [atp.vector(r.randrange(1 << 20)) for _ in atp_job.ports]
            turns += [(sml_job, w) for w in range(len(elements))] + [(atp_job, w) for w in range(len(values))]
            state[sml_job], state[atp_job] = (slot, version, elements, []), (r.randrange(100), values, [])
        r.shuffle(turns)
        for job, w in turns:
            trouble()
            if isinstance(job, AtpJob):
                index, values, seen = state[job]
                out = self.send_gradient(job.gradient(w, values[w], round_ + 1, index), w, job)
                seen.append(w)
                if len(seen) < len(values):
                    self.assertEqual(out, [])
                    continue
                bits = ((1 << len(values)) - 1, 0)
                expected = job.gradient(w, atp.total(*(values[v] for v in seen)), round_ + 1, index, edge=1)
                self.assert_sum(out, expected.but(bits=bits), w, job)
                trouble()
                self.acknowledge(job.gradient(0, values[0], round_ + 1, index), job, round_ % len(job.server_ports))
                self.assertEqual(self.owner(job.first + index), 0)
            else:
                slot, version, elements, seen = state[job]
                out = self.send_elements(w, slot, version, elements[w], job, tsi=round_)
                seen.append(w)
                if len(seen) < len(elements):
                    self.assertEqual(out, [])
                else:
                    self.assert_results(out, sml.total(*elements), range(len(elements)), slot, version, job=job,
                                        tsi=round_)


class Jobs(RackTest):
    def test_side_by_side(self):
        r = random.Random(3)
        for round_ in range(40):
            self.whole_round(r, round_)
        self.assertEqual([self.dropped(n) for n in range(1, 16)], [0] * 15)
        self.assertEqual([self.refused(n) for n in range(1, 3)], [0, 0])

    def test_repetitions(self):
        elements = [vector(w, 64) for w in range(4)]
        for w in range(4):
            out = self.send_elements(w, 3, 0, elements[w])
        self.assertEqual(len(out), 4)
        for w in range(4):  # each is told again, with its tag
            self.assert_results(self.send_elements(w, 3, 0, elements[w]), sml.total(*elements), [w], 3, 0)
        a = ATP_JOB.gradient(0, atp.vector(1), 1, 5)
        self.assertEqual(self.send_gradient(a, 0), [])
        self.assertEqual(self.send_gradient(a, 0), [])
        self.assertEqual(self.switch.counter("atp.Atp.ingress.drops", atp.DUPLICATE)[0], 1)

    def test_collision_and_resend(self):
        a, b = atp.vector(1), atp.vector(2)
        self.assertEqual(self.send_gradient(ATP_JOB.gradient(0, a, 1, 9), 0), [])
        self.assert_sum(self.send_gradient(ATP_JOB.gradient(2, b, 2, 9), 2),
                        ATP_JOB.gradient(2, b, 2, 9, edge=1, resend=1, collision=1), 2)
        again = ATP_JOB.gradient(0, a, 1, 9, resend=1)
        self.assert_sum(self.send_gradient(again, 0), again.but(edge=1), 0)
        self.assertEqual(self.owner(9), 0)

    def test_floats_pass(self):
        packet = ATP_JOB.gradient(3, atp.vector(4), 1, 9, overflow=1)
        self.assert_sum(self.send_gradient(packet, 3), packet.but(edge=1), 3)

    def test_wherever_the_worker_sends_it(self):
        """The frame's own address does not count: not that of somebody who answers ARP for the server, and not
        the router's."""
        for dst in ("02:00:00:00:66:66", tor.ROUTER, tor.BROADCAST):
            packet = ATP_JOB.gradient(0, atp.vector(4), 1, 9, overflow=1)
            self.assert_sum(self.send_gradient(packet, 0, dst=dst), packet.but(edge=1), 0)

    def test_a_server_at_one_port(self):
        """Sums go out there, tagged as the VLAN is, wherever the tables think that the server's address is."""
        own = {"src": "10.0.30.50", "dst": "10.0.30.51"}
        mac = "02:00:00:00:30:f1"
        for port, tag in ((9, None), (TRUNK, VID)):
            self.start(entries=[
                registered(8, own["src"], 2, 21, 0, "worker", bitmap0=1, bitmap1=0, marks=0, minus_first=0, last=0x3FFF),
                *guarded(own["dst"], atp.UDP_PORT),
                entry("returns", {"job": 21, "is_ack": 0, "dst_addr": own["dst"]}, "out_by", port=port, vid=VID,
                      dst_addr=mac),
                entry("destinations", {"vid": VID, "dst_addr": mac}, "bridge", interface=interface(FREE))])
            p = atp.Packet(atp.vector(1), index=0x3000, job=21, fan_in=(1, 1))
            self.assertEqual(self.switch.send(8, wire(tor.ROUTER, "02:00:00:00:30:50", own, p.payload())),
                             [(port, wire(mac, "02:00:00:00:30:50", own, p.but(edge=1).payload(), tag))])

    def test_another_racks_sums(self):
        """Who stands for a rack says any bits of its own workers, and one bit for itself."""
        share = {"minus_first": 65536 - 200, "last": 299}
        self.start(entries=[
            registered(8, "10.0.30.99", 2, 20, 0, "switch_of", others0=0xFFFFFFF0, bitmap1=2, marks=MARKS["edge"]
                       | 3 << 8 | 1, **share),
            registered(9, "10.0.30.98", 2, 20, 0, "worker", bitmap0=0, bitmap1=1, marks=MARKS["edge"] | 1, **share),
            entry("returns", {"job": 20, "is_ack": 0, "dst_addr": ATP_JOB.server_ip}, "into", vid=VID,
                  dst_addr=ATP_JOB.server_mac)])
        a, b = atp.vector(1), atp.vector(2)

        def packet(bits, fan_in, values, **more):
            return atp.Packet(values, index=250, job=20, bits=bits, fan_in=fan_in, edge=1, **more)

        def send(port, src, p):
            return self.switch.send(port, wire(ATP_JOB.server_mac, "02:00:00:00:30:99", {
                "src": src, "dst": ATP_JOB.server_ip}, p.payload()))
        for bits in ((0x10, 2), (1, 1), (1, 3), (0x8000000F, 2)):
            before = self.dropped(NOT_ITS_OWN)
            self.assertEqual(send(8, "10.0.30.99", packet(bits, (4, 2), a)), [])
            self.assertEqual(self.dropped(NOT_ITS_OWN), before + 1)
        self.assertEqual(send(8, "10.0.30.99", packet((0xD, 2), (4, 2), a)), [])
        (port, data), = send(9, "10.0.30.98", packet((0, 1), (1, 2), b))
        self.assertIn(port, ATP_JOB.server_ports)
        self.assertEqual(atp.Packet.of(data[4:]).values, atp.total(a, b))
        self.assertEqual(atp.Packet.of(data[4:]).bits, (0, 3))

    def test_atp_marks(self):
        """By the depth of the queue to the server, or to a worker."""
        rule = entry("pipe.Egress.leaving.atp.queues", {"enq_qdepth": "2..524287"}, "mark", 1)
        self.start(queues=[{"port": p, "speed": 1} for p in (tor.LAG_A, tor.LAG_B)], entries=[rule])
        out = []
        for n in range(12):
            out += self.send_gradient(ATP_JOB.gradient(0, atp.vector(n), n, n, overflow=1), 0)
        out += [(int(w[1]), bytes.fromhex(w[2])) for w in map(str.split, self.switch.ask("wait 1000000000"))]
        self.assertEqual(len(out), 12)
        marks = [atp.Packet.of(data[4:]).flags["ecn"] for _, data in out]
        self.assertEqual(marks[0], 0)
        self.assertEqual(marks[-1], 1)

    def test_results_are_not_marked_and_are_mirrored(self):
        self.start(entries=[entry("pipe.Egress.leaving.atp.queues", {"enq_qdepth": "0..524287"}, "mark", 1),
                            entry("mirrored", {"egress_port": 9}, "copy", session=4)],
                   mirror=[{"id": 4, "direction": "egress", "port": tor.MONITOR}])
        elements = [vector(w, 64) for w in range(4)]
        for w in range(4):
            out = self.send_elements(w, 3, 0, elements[w])
        mirrored = [d for p, d in out if p == tor.MONITOR]
        out = [(p, d) for p, d in out if p != tor.MONITOR]
        self.assertEqual(mirrored, [d for p, d in out if p == 9])
        self.assert_results(out, sml.total(*elements), range(4), 3, 0)

    def test_ports_are_mirrored_as_packets_come(self):
        self.start(session={TRUNK: 3}, mirror=[{"id": 3, "direction": "ingress", "port": tor.MONITOR}])
        f = self.elements_frame(2, 0, 0, vector(1, 64))
        self.assertEqual(self.switch.send(TRUNK, f), [(tor.MONITOR, f)])


class Others(RackTest):
    def test_the_same_ports_elsewhere(self):
        """UDP to the protocols' ports is traffic like any other, when nobody there aggregates."""
        for port in (atp.UDP_PORT, sml.UDP_PORT, 0xBEEF):
            for payload in (b"", b"x", b"y" * 7, b"z" * 15, b"a" * 138, b"b" * 264, b"c" * 266, b"d" * 1000):
                f = frame(tor.HOST10_B, tor.HOST10, IP(src="10.0.10.2", dst="10.0.10.3")
                          / UDP(sport=1, dport=port) / Raw(payload))
                self.assertEqual(self.switch.send(tor.ACCESS10, f), [(tor.ACCESS10_B, f)])
        for layer in (TCP(dport=atp.UDP_PORT), UDP(dport=2000)):  # and to who does, other ports and protocols
            f = frame(JOB_MAC, tor.HOST10, IP(src="10.0.30.77", dst=ATP_JOB.ip(0)) / layer / Raw(b"t" * 280))
            self.assertEqual(self.switch.send(FREE, f), [(12, f)])
        f = frame(JOB_MAC, tor.HOST10, IPv6() / UDP(dport=atp.UDP_PORT) / Raw(b"6" * 264))
        self.assertEqual(self.switch.send(FREE, f), [(12, f)])

    def test_later_fragments_and_other_options(self):
        """Nothing without its first fragment is put together; options are fine for all but UDP."""
        for ip in (IP(src="10.0.30.77", dst=ATP_JOB.ip(0), frag=20, proto=17) / Raw(b"f" * 100),
                   IP(src="10.0.30.77", dst=ATP_JOB.ip(0), options=b"\x01\x01\x01\x01") / TCP(dport=atp.UDP_PORT),
                   IP(src="10.0.30.77", dst="10.0.30.78", options=b"\x01\x01\x01\x01") / UDP(dport=atp.UDP_PORT)):
            f = frame(JOB_MAC, tor.HOST10, ip)
            self.assertEqual(self.switch.send(FREE, f), [(12, f)])

    def test_front_ports_of_the_other_pipes(self):
        for port in (ATP_PIPES, SML_PIPES):
            for f in (ATP_JOB.frame(ATP_JOB.gradient(0, atp.vector(1), 1, 5), 0), JOB.packet(0, 0, 0, vector(1, 64)),
                      frame(tor.HOST10_B, tor.HOST10, tor.udp()), bytes(20)):
                self.assertEqual(self.switch.send(port, f), [])
        self.assertGreaterEqual(self.refused(OUTSIDER), 3)
        self.assertEqual((self.owner(5), self.bitmap(0)), (0, 0))


JOB_MAC = ATP_JOB.mac(0)


class Hostile(RackTest):
    """Frames that hosts send who are not the job's, or are another's."""

    def test_a_worker_at_another_port(self):
        for port in (FREE, 10, 9, 390, 391, 12):
            self.assert_refused(port, JOB.packet(0, 0, 0, vector(1, 64)))
            self.assert_refused(port if port != 12 else 8, ATP_JOB.frame(ATP_JOB.gradient(0, atp.vector(1), 1, 5), 0))
        f = self.elements_frame(2, 0, 0, vector(1, 64))
        self.assert_refused(TRUNK, tagged(JOB.packet(0, 0, 0, vector(1, 64)), VID))
        self.assert_refused(TRUNK, f[:12] + bytes.fromhex("8100000a") + f[16:])  # by a VLAN that is not the job's
        self.assertEqual((self.owner(5), self.bitmap(0)), (0, 0))

    def test_the_server_at_another_port(self):
        p = ATP_JOB.gradient(0, atp.vector(1), 1, 5)
        self.assertEqual(self.send_gradient(p, 0), [])
        for port in (FREE, 10, 12, 13, tor.ACCESS20):
            self.assert_refused(port, ATP_JOB.parameters(p))
        self.assertEqual(self.owner(5), atp.fragment(7, 1))

    def test_parameters_are_the_servers(self):
        """Not a worker's, and a server sends nothing else."""
        p = ATP_JOB.gradient(0, atp.vector(1), 1, 5)
        self.assertEqual(self.send_gradient(p, 0), [])
        self.assert_refused(12, ATP_JOB.frame(p.but(is_ack=1), 0))
        self.assert_refused(12, ATP_JOB.frame(p.but(is_ack=1), 0, dst=ATP_JOB.group, src=ATP_JOB.ip(0),))
        f = ATP_JOB.parameters(p, tag=VID)
        plain = bytearray(f)
        plain[46 + 9] &= 0xDF
        self.assert_refused(tor.LAG_A, bytes(plain))
        self.assertEqual(self.owner(5), atp.fragment(7, 1))

    def test_a_worker_says_its_own_bit(self):
        good = ATP_JOB.gradient(0, atp.vector(1), 1, 5)
        for changes in ({"bits": (2, 0)}, {"bits": (3, 0)}, {"bits": (0, 0)}, {"bits": (1, 1)}, {"edge": 1},
                        {"bits": (0x80000001, 0)}):
            self.assert_refused(12, ATP_JOB.frame(good.but(**changes), 0), NOT_ITS_OWN)
        for fan_in in ((3, 1), (5, 1), (4, 2), (32, 32), (1, 1)):
            p = good.but()
            p.fan_in = fan_in
            self.assert_refused(12, ATP_JOB.frame(p, 0), NOT_ITS_OWN)
        self.assertEqual(self.owner(5), 0)
        for changes in ({"resend": 1}, {"collision": 1}, {"ecn": 1}, {"overflow": 1}):
            self.send_gradient(good.but(**changes), 0)
        self.assertEqual(self.dropped(NOT_A_WORKER), 0)

    def test_a_jobs_share(self):
        """The only aggregators that it takes, and frees."""
        good = OTHER_ATP.gradient(0, atp.vector(1), 1, 0)
        mine = ATP_JOB.gradient(0, atp.vector(1), 1, 99)
        self.assertEqual(self.send_gradient(mine, 0), [])
        for index in (0, 50, 99, 200, 201, 0x3FFF, 0x4064, 0x7FFF, 0x8000, 0x8064, 0x80C7, 0xC064, 0xFFFF):
            p = good.but()
            p.index = index
            self.assert_refused(10, OTHER_ATP.frame(p, 0), NOT_ITS_OWN)
            self.assert_refused(tor.ACCESS20, OTHER_ATP.parameters(p), NOT_ITS_OWN)
        self.switch.wait(2 * atp.ABANDONED)  # not even when it seems abandoned
        p = good.but()
        p.index = 99
        self.assert_refused(tor.ACCESS20, OTHER_ATP.parameters(p), NOT_ITS_OWN)
        self.assertEqual(self.owner(99), atp.fragment(7, 1))
        for index in (0, 99):
            self.assertEqual(self.send_gradient(OTHER_ATP.gradient(0, atp.vector(1), 1, index), 0, OTHER_ATP), [])
            self.assertEqual(self.owner(100 + index), atp.fragment(9, 1))

    def test_slots_of_others(self):
        """A worker of the other job, with its own number: its slots are others; with the job's: it is nobody."""
        for slot in (0, 15):
            self.assertEqual(self.send_elements(0, slot, 0, vector(1, 64), OTHER_JOB), [])
        self.assertEqual([self.bitmap(s) for s in (0, 15, 16, 31)], [0, 0, 1, 1])
        for slot in (16, 17, 0x7FFF, 0x7FF0):
            self.assertEqual(self.send_elements(0, slot, 0, vector(1, 64), OTHER_JOB), [])
        self.assertEqual(self.switch.counter("switchml.Switchml.ingress.drops", sml.BAD_POOL_INDEX)[0], 4)
        forged = sml.Job(JOB.number, OTHER_JOB.ports, 5, 100, 0, 16)
        self.assert_refused(10, forged.packet(0, 0, 0, vector(1, 64)))
        self.assertEqual([self.bitmap(s) for s in (0, 15)], [0, 0])

    def test_ends_are_guarded(self):
        """Nobody speaks to a job's hosts in the switch's or the server's name: forged results and parameters,
        and forged sums to the server."""
        result = JOB.packet(1, 0, 0, vector(1, 64))[42:]
        p = ATP_JOB.gradient(0, atp.vector(1), 1, 5)
        for port, src in ((FREE, "10.0.0.254"), (FREE, "10.0.0.99"), (10, sml.worker_ip(5)), (11, "10.0.0.254")):
            forged = Ether(dst=sml.worker_mac(1), src=sml.SWITCH_MAC) / IP(src=src, dst=sml.worker_ip(1)) \
                / UDP(sport=sml.UDP_PORT, dport=sml.SOURCE_PORT) / result
            self.assert_refused(port, bytes(forged))
        for port in (FREE, 10, 2):
            for dst_mac, dst_ip in ((ATP_JOB.mac(0), ATP_JOB.ip(0)), (ATP_JOB.group, ATP_JOB.group_ip),
                                    (ATP_JOB.mac(0), ATP_JOB.group_ip), (ATP_JOB.server_mac, ATP_JOB.server_ip),
                                    (tor.ROUTER, ATP_JOB.server_ip)):
                f = wire(dst_mac, "02:00:00:00:66:66", {"src": ATP_JOB.server_ip, "dst": dst_ip},
                         p.but(is_ack=1).payload())
                self.assert_refused(port, f)
                self.assert_refused(port, f[:60])

    def test_what_the_parser_does_not_see(self):
        """Options, and first fragments: the ports are there for a host to see."""
        p = ATP_JOB.gradient(0, atp.vector(1), 1, 5)
        own = {"src": ATP_JOB.ip(0), "dst": ATP_JOB.server_ip}
        self.assert_refused(FREE, wire(ATP_JOB.server_mac, JOB_MAC, {**own, "options": b"\x01" * 4}, p.payload()))
        self.assert_refused(12, wire(ATP_JOB.server_mac, JOB_MAC, {**own, "options": b"\x01" * 40}, p.payload()))
        self.assert_refused(FREE, wire(ATP_JOB.server_mac, JOB_MAC, {**own, "flags": 1}, p.payload()))
        self.assert_refused(12, wire(ATP_JOB.server_mac, JOB_MAC, {**own, "flags": 1}, p.payload()), NOT_ITS_OWN)
        self.assert_refused(12, wire(ATP_JOB.server_mac, JOB_MAC, {**own, "flags": 4}, p.payload()), NOT_ITS_OWN)
        self.assertEqual(self.send_gradient(p, 0, flags=2), [])   # "don't fragment" may be set
        self.assertEqual(self.owner(5), atp.fragment(7, 1))

    def test_another_jobs_server(self):
        """A worker's gradients go to its own job's server and group, whoever they are sent to."""
        p = OTHER_ATP.gradient(0, atp.vector(1), 1, 5, overflow=1)
        for dst in (ATP_JOB.server_ip, ATP_JOB.group_ip, ATP_JOB.ip(0), OTHER_ATP.group_ip):
            before = self.refused(NOWHERE)
            self.assertEqual(self.send_gradient(p, 0, OTHER_ATP, dst=ATP_JOB.server_mac) if dst is None else
                             self.switch.send(10, wire(ATP_JOB.server_mac, OTHER_ATP.mac(0), {
                                 "src": OTHER_ATP.ip(0), "dst": dst}, p.payload())), [])
            self.assertEqual(self.refused(NOWHERE), before + 1)

    def test_damaged_and_cut_off(self):
        """Whole packets of each length, from registered workers and from strangers."""
        frames = [(12, ATP_JOB.frame(ATP_JOB.gradient(0, atp.vector(1), 1, 5), 0)), (8, JOB.packet(0, 0, 0, vector(1, 64))),
                  (8, JOB.packet(0, 0, 0, vector(1, 32))), (tor.LAG_A, ATP_JOB.parameters(
                      ATP_JOB.gradient(0, atp.vector(1), 1, 5), tag=VID))]
        for port, f in frames:
            for length in range(60, len(f) - 4, 7):
                for p in (port, FREE):
                    self.assertEqual(self.switch.send(p, f[:length]), [])
            wrong = bytearray(f)
            wrong[28 if f[12] == 0x81 else 24] ^= 1
            if port == 12:   # ATP's; SwitchML's are taken
                self.assert_refused(port, bytes(wrong), tor.BAD_CHECKSUM)
        self.assertEqual((self.owner(5), self.bitmap(0)), (0, 0))

    def test_wrong_checksums_of_switchmls_workers(self):
        """Counted in pipe 2 and taken, of registered workers alone and of packets that are added up alone."""
        values = [vector(w, 64) for w in range(4)]
        out = []
        for w, port in enumerate(JOB.ports):
            f = bytearray(self.elements_frame(w, 0, 0, values[w]))
            at = 28 if f[12] == 0x81 else 24
            f[at:at + 2] = b"\0\0"
            out = self.switch.send(port, bytes(f))
            self.assertEqual(bool(out), w == 3)
        self.assert_results(out, sml.total(*values), [0, 1, 2, 3], 0, 0)
        self.assertEqual([self.switch.counter("wrong_checksums", JOB.rid(w))[0] for w in range(4)], [1] * 4)
        f = bytearray(JOB.packet(0, 0, 1, values[0]))
        f[24:26] = b"\0\0"
        before = self.dropped(NOT_A_WORKER) + self.dropped(tor.BAD_CHECKSUM)
        self.assertEqual(self.switch.send(FREE, bytes(f)), [])   # not the worker's port
        f[36:38] = b"\xbe\xdf"                                   # its port, but not to what aggregates
        self.assert_refused(8, bytes(f), tor.BAD_CHECKSUM)
        self.assertEqual(self.dropped(NOT_A_WORKER) + self.dropped(tor.BAD_CHECKSUM), before + 2)
        self.assertEqual(sum(self.switch.counter("wrong_checksums", JOB.rid(w))[0] for w in range(4)), 4)

    def test_over_its_rate(self):
        """What is more than the entry's meter lets through is dropped in the first pipe; who has no limit is as before,
        and a stranger at the same port does not use the limit up."""
        limit = {f"$METER_SPEC_{k}": v for k, v in
                 (("CIR_KBPS", 800), ("PIR_KBPS", 800), ("CBS_KBITS", 8), ("PBS_KBITS", 8))}
        own, mac = {"src": "10.0.30.50", "dst": "10.0.30.51"}, "02:00:00:00:30:f1"
        worker = {"bitmap0": 1, "bitmap1": 0, "marks": 0, "minus_first": 0, "last": 0x3FFF}
        self.start(entries=[
            registered(8, own["src"], 2, 21, 0, "worker", **worker, **limit),
            registered(9, "10.0.30.52", 2, 21, 0, "worker", **worker), *guarded(own["dst"], atp.UDP_PORT),
            entry("returns", {"job": 21, "is_ack": 0, "dst_addr": own["dst"]}, "out_by", port=FREE, vid=VID,
                  dst_addr=mac)])

        def passed(port, src, n):
            """How many of 'n' come out, at one moment; each is a fragment of its own."""
            out = 0
            for i in range(n):
                p = atp.Packet(atp.vector(i), index=0x3000 + i, job=21, sequence=i, fan_in=(1, 1), overflow=1)
                out += len(self.switch.send(port, wire(tor.ROUTER, "02:00:00:00:30:50", {**own, "src": src}, p.payload())))
            return out
        self.assertEqual(passed(8, "10.0.30.66", 10), 0)   # 310 bytes each, with FCS
        self.assertEqual(self.dropped(NOT_A_WORKER), 10)
        through = passed(8, own["src"], 20)
        self.assertIn(through, (3, 4))                     # of a burst of 8,000 bits
        self.assertEqual(self.dropped(OVER_RATE), 20 - through)
        self.assertEqual(passed(9, "10.0.30.52", 20), 20)
        self.switch.wait(10 ** 9)
        self.assertEqual(passed(8, own["src"], 20), through)

    def test_jobs_share_aggregators(self):
        """Where tenants are given one share, a foreign packet collides, and does not become part of the sum."""
        server = {"dst": ATP_JOB.server_ip}
        self.start(entries=[
            registered(FREE, "10.0.30.70", 2, 22, 0, "worker", bitmap0=1, bitmap1=0, marks=1 << 8, minus_first=0, last=99),
            entry("returns", {"job": 22, "is_ack": 0, "dst_addr": ATP_JOB.server_ip}, "into", vid=VID,
                  dst_addr=ATP_JOB.server_mac)])
        values = [atp.vector(w) for w in range(4)]
        for w in range(3):
            self.assertEqual(self.send_gradient(ATP_JOB.gradient(w, values[w], 1, 5), w), [])
        theirs = atp.Packet(atp.vector(50), index=5, job=22, bits=(1, 0), fan_in=(2, 1))
        (port, data), = self.switch.send(FREE, wire(ATP_JOB.server_mac, "02:00:00:00:30:70",
                                                    {"src": "10.0.30.70", **server}, theirs.payload()))
        self.assertIn(port, ATP_JOB.server_ports)
        self.assertEqual(atp.Packet.of(data[4:]).key(), theirs.but(edge=1, resend=1, collision=1).key())
        out = self.send_gradient(ATP_JOB.gradient(3, values[3], 1, 5), 3)
        self.assert_sum(out, ATP_JOB.gradient(3, atp.total(*values), 1, 5, edge=1).but(bits=(15, 0)), 3)

    def test_larger_packets_are_nobodys(self):
        for size in (128, 256):
            self.assert_refused(8, JOB.packet(0, 0, 0, vector(1, size)))
        self.assertEqual(self.bitmap(0), 0)

    def forgeries(self, r):
        """A frame that a hostile host sends, and the port: a stranger's, or the other tenant's."""
        port = r.choice([FREE, 10, 11, 2, 10])
        if r.random() < 0.5:
            p = ATP_JOB.gradient(r.randrange(4), atp.vector(r.randrange(99)), r.randrange(1, 45), r.randrange(100))
            for flag in p.FLAGS:
                p.flags[flag] = int(r.random() < 0.2)
            if r.random() < 0.3:
                p.bits = (r.getrandbits(32), r.getrandbits(32))
            if r.random() < 0.3:
                p.fragment = atp.fragment(r.choice([7, 7, 7, 0, 8, 255]), r.randrange(1, 45))
            src = r.choice([ATP_JOB.ip(r.randrange(4)), ATP_JOB.server_ip, OTHER_ATP.ip(port - 10 if port > 9 else 0)])
            if src == OTHER_ATP.ip(0) and port == 10 or src == OTHER_ATP.ip(1) and port == 11:
                p.fragment = atp.fragment(r.choice([7, 8]), r.randrange(1, 45))
            dst = r.choice([(ATP_JOB.server_mac, ATP_JOB.server_ip), (ATP_JOB.group, ATP_JOB.group_ip),
                            (ATP_JOB.mac(1), ATP_JOB.ip(1)), (tor.ROUTER, ATP_JOB.server_ip)])
            f = wire(dst[0], ATP_JOB.mac(0), {"src": src, "dst": dst[1]}, p.payload())
        else:
            forged = sml.Job(r.choice([7, 7, 6]), JOB.ports, r.choice([1, 5, 9]), 100, 0, 16)
            f = forged.packet(r.randrange(2), r.randrange(16), r.randrange(2), vector(r.randrange(99), r.choice([32, 64])))
            if r.random() < 0.2:
                f = f[:30] + bytes(map(int, sml.worker_ip(2).split("."))) + f[34:]  # to a worker; the checksum is wrong
        kind = r.random()
        if kind < 0.1:
            f = f[:r.randrange(60, len(f))]
        elif kind < 0.2:
            f = f[:42] + bytes(r.getrandbits(8) for _ in range(len(f) - 42))
        return port, f

    def test_jobs_go_on(self):
        """All jobs, with forged, repeated, cut off and random packets between any two of theirs: every sum is right,
        nothing is refused that is theirs, and of the forged ones nothing comes out."""
        r = random.Random(11)
        sent = [0]

        def trouble():
            for _ in range(r.randrange(5)):
                port, f = self.forgeries(r)
                for _ in range(r.choice([1, 1, 2])):
                    self.assertEqual(self.switch.send(port, f), [], f.hex())
                    sent[0] += 1
        for round_ in range(40):
            self.whole_round(r, round_, trouble)
        self.assertGreater(sent[0], 1000)
        self.assertEqual(sum(self.dropped(n) for n in range(1, 15)), sent[0])
        self.assertEqual(self.dropped(NOT_A_WORKER) + self.dropped(tor.BAD_CHECKSUM), sent[0])


if __name__ == "__main__":
    tally.main()
