# SPDX-License-Identifier: Apache-2.0
"""Captures of a SwitchML job and an ATP job in one switch, each with its model beside it: neither knows of
the other's packets."""
import random

from suite import case
from elements import vector as elements
from switchml_net import Job, Net
from test_atp import VALUES, Model, Packet

PROGRAM = "p4/ina/ina.p4"
GUESTS = 69
RECIRCULATION = 68  # pipe 0's

# in all four pipes: 0 and 2 are SwitchML's, 1 and 3 ATP's
SML_PORTS, ATP_PORTS, SERVER_PORT = [0, 128, 256, 384], [1, 129, 257, 385], 2
PARAMETERS_MAC, ATP_GROUP = "01:00:5e:00:00:07", 200


def is_guest(port):
    return port >> 7 & 1 == 1


def atp_mac(worker):
    return f"02:00:00:00:01:{worker:02x}"


SERVER_MAC = atp_mac(0xee)


class Both:
    """The switch, with the models beside it."""

    def __init__(self, c):
        self.job = Job(7, SML_PORTS)
        self.net, self.atp, self.case = Net(c, [self.job], flood=False), Model(), c
        c.at_end.remove(self.net.expect_state)  # its names are those of p4/switchml alone
        c.derived = "computed by the models in switchml_model.py and harness/scapy/test_atp.py"
        c.crosses = True
        entries = []
        for e in c.config["entries"]:
            entries += self.ours(e)
        stations = {atp_mac(w): p for w, p in enumerate(ATP_PORTS)}
        stations[SERVER_MAC] = SERVER_PORT
        for mac, port in stations.items():
            entries += self.ours({"table": "macs", "key": {"hdr.ethernet.dst_addr": mac},
                                  "action": "to_port", "args": {"port": port}})
            self.net.model.macs[bytes.fromhex(mac.replace(":", ""))] = port
        entries.append({"table": "AtpPipe.Ingress.forward.macs",
                        "key": {"hdr.ethernet.dst_addr": PARAMETERS_MAC}, "action": "to_group",
                        "args": {"group": ATP_GROUP}})
        c.config["entries"] = entries
        nodes = [{"id": 500 + w, "rid": w + 1, "ports": [p]} for w, p in enumerate(ATP_PORTS)]
        c.config["multicast"]["nodes"] += nodes
        c.config["multicast"]["groups"].append({"id": ATP_GROUP, "nodes": [n["id"] for n in nodes]})

    @staticmethod
    def ours(entry):
        """What p4/ina/README.md makes of an entry of SwitchML."""
        if entry["table"] == "macs":
            return [{**entry, "table": f"{p}.Ingress.forward.macs"} for p in ("SwitchmlPipe", "AtpPipe")]
        if entry["table"] == "receivers":
            return [{**entry, "table": f"{p}.Egress.switchml.receivers"} for p in ("switchml", "atp")]
        port = entry["key"]["ig_intr_md.ingress_port"]
        if not is_guest(port):
            return [entry]
        return [{**entry, "key": {**entry["key"], "ig_intr_md.ingress_port": GUESTS}},
                {"table": "guests", "action": "admit",
                 "key": {"hdr.atp.ipv4.src_addr": entry["key"]["hdr.ipv4.src_addr"],
                         "ig_intr_md.ingress_port": port}}]

    def send_elements(self, w, slot, version, values, **more):
        port, frame = SML_PORTS[w], self.job.packet(w, slot, version, values, **more)
        self.case.receive(port, frame)
        sent, dropped = self.net.model.receive(port, frame)
        for to, out in sent:
            self.case.sends(to, out)
        for reason, last in dropped:
            relayed = is_guest(port) and last == RECIRCULATION
            self.case.drops(reason, received=GUESTS if relayed else last)

    def send_values(self, w, packet):
        frame = packet.frame(w, dst=SERVER_MAC)
        self.case.receive(ATP_PORTS[w], frame)
        out = self.atp.send(packet)
        if out is None:
            self.case.drops(self.atp.ended)
        else:
            self.case.sends(SERVER_PORT, out.frame(w, dst=SERVER_MAC))

    def parameters(self, packet):
        self.atp.ack(packet)
        frame = packet.but(is_ack=1, resend=0, overflow=0).frame(dst=PARAMETERS_MAC)
        self.case.receive(SERVER_PORT, frame)
        for port in ATP_PORTS:
            self.case.sends(port, frame)


def gradient(w, seed, sequence, index, **more):
    r = random.Random(seed)
    return Packet([r.randrange(-(1 << 31), 1 << 31) for _ in range(VALUES)], index=index, sequence=sequence,
                  bits=(1 << w, 0), fan_in=(4, 1), **more)


@case("ina/side_by_side", PROGRAM)
def side_by_side(c):
    """A job of each protocol, of four workers, one in every pipe: each round a slot and an aggregator, both
    jobs' packets in any order, some of them twice."""
    both, r = Both(c), random.Random(61)
    for round_ in range(8):
        slot, version, size, index = round_ % 4, round_ // 4, (64, 32)[round_ % 2], 0x4000 * (round_ % 2) + 9
        turns = [(kind, w) for w in range(4) for kind in "sa"] + [(r.choice("sa"), r.randrange(4))]
        r.shuffle(turns)
        for kind, w in turns:
            if kind == "s":
                both.send_elements(w, slot, version, elements(10 * round_ + w, size), tsi=round_)
            else:
                both.send_values(w, gradient(w, 10 * round_ + w, round_ + 1, index, ecn=r.random() < 0.1))
        both.parameters(gradient(0, 0, round_ + 1, index))


@case("ina/at_random", PROGRAM)
def at_random(c):
    """Packets of both jobs at random, to few slots and aggregators: collisions, what is sent again, and
    parameters that come early."""
    both, r = Both(c), random.Random(62)
    for n in range(120):
        w, what = r.randrange(4), r.random()
        if what < 0.45:
            both.send_elements(w, r.randrange(2), n // 40 % 2, elements(n, (32, 64)[n % 2]), tsi=n)
        elif what < 0.9:
            both.send_values(w, gradient(w, n, r.randrange(1, 3), r.choice((3, 0x4003)),
                                         resend=r.random() < 0.2, overflow=r.random() < 0.05))
        else:
            both.parameters(gradient(0, n, r.randrange(1, 3), r.choice((3, 0x4003))))
