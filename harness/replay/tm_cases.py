# SPDX-License-Identifier: Apache-2.0
"""Captures of what stands around the program: copies, mirrors, queues, meters, the packet generator and
the clock, which is the capture's."""
import struct

from scapy.layers.l2 import Ether

from suite import T0, case
from tna_cases import INGRESS, mac, program

EGRESS = "drop_ctl in egress"
FCS = 4


# ---- copies

def told(kind, tag, port, rid, length):
    """The header that copies.p4 puts in front: what egress was told."""
    return struct.pack(">BHHHH", kind, tag, port, rid, length)


def frame(kind, size=20):
    return bytes(Ether(dst=mac(1), src=mac(2), type=0x9000 | kind)) + \
        bytes(i % 256 for i in range(size))


def rewritten(data):
    """With the source address that ingress writes."""
    return data[:6] + bytes.fromhex("0200eeeeeeee") + data[12:]


def bridged(data, port, rid=0):
    """A copy that came from ingress: the check sequence counts, the byte of bridge does not."""
    return told(1, 0, port, rid, len(data) + FCS) + rewritten(data)


def mirrored(data, kind, tag, port, length=None, rid=0):
    """A mirror's copy: three bytes in front, the packet, the check sequence."""
    data = data if length is None else data[:length - 3]
    return told(kind, tag, port, rid, 3 + len(data) + FCS) + data


@case("copies/multicast", program("copies"))
def multicast(c):
    """Two groups of nodes in two pipes: a port pruned for the replication id that the program names,
    a node excluded for packets of port 7, and each copy told its replication id."""
    c.crosses = True
    c.config = {"multicast": {
        "nodes": [{"id": 10, "rid": 20, "ports": [2, 3]}, {"id": 11, "rid": 30, "ports": [3, 130]},
                  {"id": 12, "rid": 40, "ports": [385]}],
        "groups": [{"id": 1, "nodes": [10, {"node": 11, "xid": 7}]}, {"id": 2, "nodes": [12]}],
        "prune": [{"id": 3, "ports": [3]}]}}
    for into in (5, 7, 140):
        data = frame(0x10, into)
        c.receive(into, data)
        copies = [(2, 20), (3, 30), (130, 30), (385, 40)]
        for port, rid in copies if into != 7 else [(2, 20), (385, 40)]:
            c.sends(port, bridged(data, port, rid))
    data = frame(0x12)  # all copies dropped in egress
    c.receive(7, data)
    for port in (2, 385):
        c.drops(EGRESS, port=port)


@case("copies/ecmp_and_lags", program("copies"))
def ecmp_and_lags(c):
    """A group's member that is one of several nodes, and a node's port that is one of several in a LAG;
    the program gives no hash, so both are the first. A LAG's port that is down is left out, and a
    port that is down has a backup."""
    c.config = {"ports": [{"port": p, "device": str(p)} for p in (5, 20, 22, 23)],
                "multicast": {
                    "nodes": [{"id": 1, "rid": 1, "ports": [], "lags": [7]}, {"id": 2, "rid": 2, "ports": [20]},
                              {"id": 3, "rid": 3, "ports": [21]}],
                    "lags": [{"id": 7, "ports": [21, 22]}],
                    "ecmps": [{"id": 9, "nodes": [2, 3]}],
                    "groups": [{"id": 1, "nodes": [{"node": 1}, {"node": 3}]},
                               {"id": 2, "nodes": [{"ecmp": 9}]}],
                    "backup": [{"port": 21, "backup": 23}]}}
    data = frame(0x10)
    c.receive(5, data)
    c.sends(22, bridged(data, 22, 1))
    c.sends(23, bridged(data, 23, 3))
    c.sends(20, bridged(data, 20, 2))


@case("copies/cpu", program("copies"))
def cpu(c):
    """A copy for the CPU beside the packet; the packet alone is dropped in egress when it asks for it,
    and so is the copy."""
    data = frame(0x20)
    c.receive(5, data)
    c.sends(1, bridged(data, 1))
    c.sends(64, bridged(data, 64))
    c.receive(5, frame(0x02))
    c.drops(EGRESS, received=5, port=1)
    c.receive(5, frame(0))
    c.sends(1, bridged(frame(0), 1))


@case("copies/mirrors", program("copies"))
def mirrors(c):
    """Mirrors of ingress have the packet as it came, those of egress as it leaves, each with a header;
    a dropped packet can be mirrored; a session cuts its copies to so many bytes of header and
    packet."""
    c.config = {"mirror": [{"id": 5, "direction": "ingress", "port": 9},
                           {"id": 6, "direction": "egress", "port": 10, "max": 64}]}
    for size in (0, 20, 37, 38, 200):
        data = frame(0x31, size)
        c.receive(5, data)
        c.sends(1, bridged(data, 1))
        c.sends(9, mirrored(data, 2, 5, 9))
        c.sends(10, mirrored(bridged(data, 1), 3, 0, 10, 64))
    data = frame(0x32)
    c.receive(6, data)
    c.sends(9, mirrored(data, 2, 6, 9))
    c.drops(EGRESS, received=6, port=1)


@case("copies/sessions", program("copies"))
def sessions(c):
    """Mirror sessions that are not there, and of the other direction: the packet goes on, the copy does
    not."""
    c.config = {"mirror": [{"id": 5, "direction": "egress", "port": 9}]}
    for kind in (0x30, 0x01):
        data = frame(kind)
        c.receive(5, data)
        c.sends(1, bridged(data, 1))
        c.drops("mirror session not enabled")


@case("copies/resubmit", program("copies"))
def resubmit(c):
    """A packet sent to ingress again: as it came, with the flag, and what the first pass decided is
    forgotten."""
    for size in (0, 46, 900):
        data = frame(0x40, size)
        c.receive(5, data)
        c.sends(2, bridged(data, 2))


# ---- meters

class Marker:
    """The two-rate three-colour marker of RFC 2698, colour-blind; units are bytes or packets."""

    def __init__(self, cir, pir, cbs, pbs):
        """Rates in units a second, bursts in units."""
        self.rates, self.sizes = (cir, pir), (cbs * 10**9, pbs * 10**9)
        self.tokens, self.time = list(self.sizes), None  # in 10^-9 of a unit

    def color(self, time, amount):
        if self.time is not None:
            for i in (0, 1):
                self.tokens[i] = min(self.sizes[i], self.tokens[i] + self.rates[i] * (time - self.time))
        self.time = time
        amount *= 10**9
        if self.tokens[1] < amount:
            return 3
        self.tokens[1] -= amount
        if self.tokens[0] < amount:
            return 1
        self.tokens[0] -= amount
        return 0


def metered(c, meter, kind, marks, gaps, size):
    for i, gap in enumerate(gaps):
        into = (1, 1, 2)[i % 3]
        data = bytes(Ether(dst=mac(1), src=mac(2), type=kind))
        body = bytes(size(i))
        c.receive(into, data + b"\xee" + body, gap)
        length = 1 if meter == "by_packets" else len(data) + 1 + len(body) + FCS
        color = marks[into].color(c.now, length) if into in marks else 0
        if color == 3:
            c.drops(INGRESS, received=into)
        else:
            c.sends(9, data + bytes([color]) + body)


@case("policer/packets", program("policer"))
def packets(c):
    """A meter of packets by the capture's clock: green, yellow, red and dropped; another port's cell is
    not set up and lets all through."""
    c.derived = "computed with the algorithm of RFC 2698"
    c.config = {"meters": [{"name": "by_packets", "index": 1,
                            "spec": {"cir_pps": 1000, "pir_pps": 2000, "cbs_pkts": 2, "pbs_pkts": 4}}]}
    gaps = [1000] * 12 + [250_000] * 12 + [600_000] * 9 + [1] * 6 + [10_000_000] + [10] * 12
    mark = Marker(1000, 2000, 2, 4)
    metered(c, "by_packets", 0x9001, {1: mark}, gaps, lambda i: 10)
    c.state = {"meter_states": [{"name": "pipe.Ingress.by_packets", "pipe": 0, "index": 1,
                                 "committed": mark.tokens[0], "peak": mark.tokens[1],
                                 "last": mark.time % 2**48}]}


@case("policer/bytes", program("policer"))
def by_bytes(c):
    """A meter of bytes, check sequences counted: small and large packets, and rests that are worth less
    than a packet."""
    c.derived = "computed with the algorithm of RFC 2698"
    spec = {"cir_kbps": 800, "pir_kbps": 1600, "cbs_kbits": 8, "pbs_kbits": 24}
    c.config = {"meters": [{"name": "by_bytes", "index": i, "spec": spec} for i in (1, 2)]}
    gaps = [1000] * 9 + [333_333] * 20 + [1_999_999] * 7 + [50_000_000] + [7] * 9
    marks = {i: Marker(100_000, 200_000, 1000, 3000) for i in (1, 2)}
    metered(c, "by_bytes", 0x9002, marks, gaps, lambda i: (40, 700, 1, 300, 81)[i % 5])


# ---- the clock, queues, the packet generator

def timed(data, arrived, waited=0, depth=0):
    return struct.pack(">HIII", arrived >> 32 & 0xFFFF, arrived & 0xFFFFFFFF, waited, depth) + data


def to_port(port, size, n=0):
    return b"\x02\x00\x00\x00" + struct.pack(">H", port) + bytes.fromhex("020000000009") + b"\x90\x00" + \
        bytes([n]) * size


@case("clock/stamps", program("clock"))
def stamps(c):
    """A packet's time is the capture's, to the nanosecond, 48 bits of it, also after an hour without
    packets; a packet that is older than the one before is taken at that one's time."""
    for i, after in enumerate((1000, 1, 999_999_998, 3_600_000_000_000, 0, 123_456_789)):
        c.receive(1, to_port(2, 46, i), after)
        c.sends(2, timed(to_port(2, 46, i), c.now))
    latest = c.now
    c.receive(1, to_port(2, 46, 99), -5000)
    c.sends(2, timed(to_port(2, 46, 99), latest), at=latest - T0)


@case("clock/slow_port", program("clock"))
def slow_port(c):
    """A port of 100 Mbit/s sends one packet after another, 24 bytes of preamble, gap and check sequence
    beside each; what waits for it is told how long and behind how much; a full queue drops."""
    c.config = {"queues": [{"port": 3, "speed": 100, "green": 8, "yellow": 8, "red": 8}]}
    free, waiting = 0, []  # when the port is free; (time of leaving, cells)
    for i, (after, size) in enumerate([(1000, 46)] + [(1000, 46 + 100 * i) for i in range(5)] + [(500_000, 46)]
                                      + [(0, 46)] * 7 + [(100, 1)]):
        data = to_port(3, size, i)
        c.receive(1, data, after)
        cells = -(-(len(data) + 14 + FCS) // 80)
        waiting = [(t, n) for t, n in waiting if t > c.now]
        depth = sum(n for _, n in waiting)
        start = max(free, c.now)
        if start > c.now and depth >= 8:
            c.drops("egress queue full", received=1, port=3)
            continue
        if start > c.now:
            waiting.append((start, cells))
        free = start + (14 + len(data) + 24) * 80  # ns: 8 bits at 10 ns
        c.sends(3, timed(data, c.now, start - c.now, depth), at=start - T0)
    c.receive(1, to_port(2, 1), 100)
    c.sends(2, timed(to_port(2, 1), c.now))


@case("clock/generator", program("clock"))
def generator(c):
    """The packet generator's timer follows the capture: once after 1 ms, two batches of three; another
    each 2 ms until the capture ends."""
    buffer = to_port(4, 50, 7)
    other = to_port(5, 20, 9)
    c.config = {
        "pktgen_buffers": [{"pipe": 0, "offset": 0, "bytes": buffer.hex()},
                           {"pipe": 0, "offset": 128, "bytes": other.hex()}],
        "pktgen": [{"pipe": 0, "app": 1, "trigger": "one_shot", "length": len(buffer), "offset": 0,
                    "timer": 1_000_000, "batches": 2, "packets": 3, "packet_gap": 100,
                    "batch_gap": 5000},
                   {"pipe": 0, "app": 2, "trigger": "periodic", "length": len(other), "offset": 128,
                    "timer": 2_000_000}]}
    c.receive(1, to_port(2, 1))
    begin = c.now
    c.sends(2, timed(to_port(2, 1), c.now))
    for batch in range(2):
        for n in range(3):
            time = begin + 1_000_000 + 5000 * batch + 100 * n
            c.sends(4, timed(struct.pack(">BBHH", 1, 0, batch, n) + buffer, time), at=time - T0)
    for i in (1, 2, 3):
        time = begin + 2_000_000 * i
        c.sends(5, timed(struct.pack(">BBHH", 2, 0, 0, 0) + other, time), at=time - T0)
    c.receive(1, to_port(2, 2), 6_500_000)
    c.sends(2, timed(to_port(2, 2), c.now))


# ---- a Tofino 2

@case("cut/tofino_2", program("cut"))
def cut(c):
    """Packets that a Tofino 2's deparsers cut to a length, check sequence counted, in ingress or
    egress; shorter ones stay whole."""
    for port in (9, 10):
        for size, length in ((100, 64), (100, 120), (100, 119), (100, 200), (9, 64), (1400, 1000), (60, 40)):
            head = b"\x02\x00\x00\x00" + struct.pack(">H", port)
            tail = struct.pack(">HH", 0x9000, length) + bytes(i % 251 for i in range(size))
            data = head + bytes.fromhex("020000000009") + tail
            c.receive(11, data)
            out = data if port == 9 else head + struct.pack(">IH", 0, len(data) + FCS) + tail
            c.sends(port, out[:length - FCS])


@case("cut/jumbo", program("cut"))
def jumbo(c):
    """The same with frames as large as a port takes."""
    data = b"\x02\x00\x00\x00\x00\x0a" + bytes(6) + struct.pack(">HH", 0x9000, 8000) + \
        bytes(i % 253 for i in range(8984))
    c.receive(11, data)
    out = data[:6] + struct.pack(">IH", 0, len(data) + FCS) + data[12:]
    c.sends(10, out[:8000 - FCS])


# ---- learn: ageing and digests

@case("learn/ageing_and_digests", program("learn"))
def ageing_and_digests(c):
    """Entries of which a packet was seen are active at its time, others since the beginning, in each
    pipe for itself; each packet of an unknown station makes a digest."""
    stations = ((1, 1, 100), (2, 2, 50_000), (3, 140, 100), (4, 4, 0))
    c.config = {"entries": [
        {"table": "stations", "key": {"hdr.ethernet.src_addr": mac(n), "ig_intr_md.ingress_port": port},
         "action": "known", "args": {"$ENTRY_TTL": ttl}} for n, port, ttl in stations]}
    active, packets, digests = {}, {}, [0, 0]
    for i, (n, port) in enumerate(((1, 1), (3, 140), (7, 1), (1, 2), (1, 1), (2, 2), (2, 140), (3, 140),
                                   (1, 1), (4, 4))):
        data = bytes(Ether(dst=mac(1), src=mac(n), type=0x9000)) + bytes([i])
        c.receive(port, data, 77_000_001)
        c.sends(9, data)
        if (n, port) in ((1, 1), (2, 2), (3, 140), (4, 4)):
            active[n], packets[n] = c.now, packets.get(n, 0) + 1
        else:
            digests[port >> 7] += 1
    begin = T0 + 77_000_001
    key = {n: {"hdr.ethernet.src_addr": mac(n), "ig_intr_md.ingress_port": port} for n, port, _ in stations}
    c.state = {
        "ageing": [{"table": "pipe.Ingress.stations", "pipe": pipe, "key": key[n], "ttl_ms": ttl,
                    "active": active[n] if port >> 7 == pipe else begin}
                   for n, port, ttl in stations if ttl for pipe in range(4)],
        "counters": [
            *({"name": "pipe.Ingress.known_packets", "pipe": port >> 7, "key": key[n],
               "packets": packets[n]} for n, port, _ in stations),
            *({"name": "pipe.Ingress.known_packets", "pipe": pipe, "default": True, "packets": n}
              for pipe, n in enumerate(digests))],
        "switch": [{"received": 10, "sent": 10, "digests": sum(digests)}]}
