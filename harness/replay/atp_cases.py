# SPDX-License-Identifier: Apache-2.0
"""Captures of ATP jobs: the boxes of the paper's figures 7 and 17, and random packets, with the model of
the paper's text in harness/scapy/test_atp.py beside them."""
import random

from suite import case
from test_atp import (GROUP, MAX, MIN, PARAMETERS_MAC, SERVER_MAC, SERVER_PORT, VALUES,
                      WORKER_PORTS, Model, Packet, vector, worker_mac)

PROGRAM = "p4/atp/atp.p4"


class Job:
    """A switch with workers and a parameter server, and the model beside it."""

    def __init__(self, c):
        self.case, self.model = c, Model()
        c.derived = "computed by the model in harness/scapy/test_atp.py"
        stations = {worker_mac(w): p for w, p in enumerate(WORKER_PORTS)}
        stations[SERVER_MAC] = SERVER_PORT
        nodes = [{"id": w + 1, "rid": 0, "ports": [p]} for w, p in enumerate(WORKER_PORTS)]
        macs = {"table": "macs", "action": "to_port"}
        c.config = {
            "multicast": {"nodes": nodes, "groups": [{"id": GROUP, "nodes": [n["id"] for n in nodes]}]},
            "entries": [{**macs, "key": {"hdr.ethernet.dst_addr": mac}, "args": {"port": port}}
                        for mac, port in stations.items()]
            + [{**macs, "key": {"hdr.ethernet.dst_addr": PARAMETERS_MAC}, "action": "to_group",
                "args": {"group": GROUP}}]}

    def send(self, packet, worker=0):
        self.case.receive(WORKER_PORTS[worker], packet.frame(worker))
        out = self.model.send(packet)
        if out is None:
            self.case.drops(self.model.ended)
        else:
            self.case.sends(SERVER_PORT, out.frame(worker))

    def parameters(self, packet):
        self.model.ack(packet)
        frame = packet.but(is_ack=1, resend=0, overflow=0).frame(dst=PARAMETERS_MAC)
        self.case.receive(SERVER_PORT, frame)
        for port in WORKER_PORTS:
            self.case.sends(port, frame)


@case("atp/first_level", PROGRAM)
def first_level(c):
    """Three workers' values are added and go to the server; its parameters free the aggregator for
    another job; before that, packets of another job collide and go on as they are; a repetition is
    dropped."""
    job = Job(c)
    for round_ in range(2):
        for w in range(3):
            packet = Packet(vector(10 * round_ + w), job=7 + round_, bits=(1 << w, 0), fan_in=(3, 1))
            job.send(packet, w)
            job.send(packet, w)
            job.send(Packet(vector(90 + w), job=20, bits=(1 << w, 0), fan_in=(3, 1)), w)
        job.parameters(Packet(vector(50), job=19))
        job.parameters(Packet(vector(51), job=7 + round_))


@case("atp/sent_again", PROGRAM)
def sent_again(c):
    """Packets that are sent again: without an aggregator, into one of another's, before and after their
    values are in the sum, and after the sum was lost."""
    job = Job(c)
    a, b, d = (vector(i) for i in range(3))
    job.send(Packet(a, resend=1))
    job.send(Packet(a, job=8))
    job.send(Packet(a, resend=1))
    job.parameters(Packet(a, job=8))
    job.send(Packet(a, bits=(1, 0), fan_in=(3, 1), ecn=1))
    job.send(Packet(b, bits=(2, 0), fan_in=(3, 1), resend=1), 1)
    job.send(Packet(d, bits=(4, 0), fan_in=(3, 1), resend=1), 2)
    job.send(Packet(a, index=9, bits=(1, 0), fan_in=(3, 1)))
    job.send(Packet(b, index=9, bits=(2, 0), fan_in=(3, 1)), 1)
    job.send(Packet(a, index=9, bits=(1, 0), fan_in=(3, 1), resend=1))
    job.send(Packet(a, index=11))
    job.send(Packet(b, index=11, bits=(2, 0)), 1)
    job.send(Packet(a, index=11, resend=1))


@case("atp/saturation", PROGRAM)
def saturation(c):
    """Sums stay at the ends of the range, whatever comes later."""
    job = Job(c)
    rows = ([MAX, MIN, MAX - 5, MIN + 5], [1, -1, 6, -6], [-1, 1, -9, 9])
    for w, row in enumerate(rows):
        job.send(Packet((row * 16)[:VALUES], bits=(1 << w, 0), fan_in=(3, 1)), w)


@case("atp/random", PROGRAM)
def random_packets(c):
    """Jobs at both levels, in aggregators of all pipes, with repetitions, collisions, marks and packets
    that are sent again, at random."""
    c.crosses = True
    r, job = random.Random(5), Job(c)
    for _ in range(70):
        number = r.randrange(1, 4)
        level, workers = number % 2, 1 + number
        w = r.randrange(workers)
        packet = Packet([r.randrange(MIN, MAX + 1) for _ in range(VALUES)], job=number,
                        sequence=r.randrange(2), index=r.choice((3, 3 << 14 | 3, 16383)),
                        bits=(1 << w, 0) if level == 0 else (5, 1 << w),
                        fan_in=(workers, 9) if level == 0 else (3, workers), edge=level,
                        resend=r.random() < 0.15, ecn=r.random() < 0.2, overflow=r.random() < 0.02)
        if r.random() < 0.15:
            job.parameters(packet)
        else:
            job.send(packet, w % len(WORKER_PORTS))
