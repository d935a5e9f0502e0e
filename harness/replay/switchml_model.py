# SPDX-License-Identifier: Apache-2.0
"""A model of a SwitchML switch, written from the paper (Algorithm 3) and p4/switchml/README.md and not
from the P4 program: packets in, packets out, and what the switch remembers.

Elements are in blocks of 64, one block a pipe. Each block decides for itself whether a packet is
new to it; the last block of a packet decides what becomes of the packet.
"""
import struct
from dataclasses import dataclass, field

ELEMENTS = {0: 32, 1: 64, 2: 128, 3: 256}
HEADERS = 14 + 20 + 8 + 8 + 2
FCS = 4  # bytes of a frame that count, and that a parser can read, but that captures do not have
BRIDGE = 18  # bytes in front of a result on its way to egress

# the counter of reasons
PARSER_ERROR, BAD_LENGTH, UNKNOWN_WORKER, BAD_POOL_INDEX, DUPLICATE, NO_AUDIENCE = 1, 3, 4, 5, 6, 9

INGRESS = "drop_ctl in ingress"
NOBODY = "multicast group without members"
CONSUMED = "consumed in ingress"
EGRESS = "drop_ctl in egress"


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def collective(frame):
    """(whether it is a collective operation, has no elements, wants none)"""
    kind = frame[42] >> 4
    return kind >= 12, kind >= 14, kind >= 12 and kind & 1 == 1


@dataclass
class Worker:
    job: int
    bit: int  # its number in the job
    of: int   # workers of the job
    ip: bytes
    port: int
    group: int
    rid: int
    base: int
    slots: int


@dataclass
class Receiver:
    mac: bytes
    ip: bytes
    udp: int


@dataclass
class Cell:
    """A slot of one version in one pipe."""
    seen: int = 0
    missing: int = 0
    exponents: list = field(default_factory=lambda: [0, 0])
    values: list = field(default_factory=lambda: [0] * 64)


class Model:
    def __init__(self):
        self.workers = {}    # (job, ip, port): Worker
        self.receivers = {}  # rid: Receiver
        self.groups = {}     # id: [(rid or None, port, xid)] in the order of the group's nodes
        self.audiences = {}  # (job, number): (group of who gets elements, group of who gets none)
        self.macs = {}       # address: port
        self.flood = None    # group of the addresses that 'macs' does not have, or None: they are dropped
        self.cells = {}      # (pipe, version, slot): Cell
        self.counts = {}     # (name, pipe, index): [packets, bytes]

    def count(self, name, pipe, index, size=0):
        n = self.counts.setdefault((name, pipe, index), [0, 0])
        n[0] += 1
        n[1] += size

    def cell(self, pipe, version, slot):
        return self.cells.setdefault((pipe, version, slot), Cell())

    # ---- a packet comes in: ([(port, frame)], [(reason, port that received it last)])

    def receive(self, port, frame):
        kind = self.parse(frame)
        if kind == "short":
            return self.refuse(PARSER_ERROR, port)
        if kind == "other":
            return self.forward(port, frame)
        job, index = frame[43], struct.unpack_from(">H", frame, 48)[0]
        version, slot = index >> 15, index & 0x7FFF
        worker = self.workers.get((job, frame[26:30], port))
        self.count("workers", port >> 7, (job, frame[26:30], port) if worker else None,
                   len(frame) + FCS)
        elements = ELEMENTS.get(frame[42] & 7)
        ip_length, udp_length = struct.unpack_from(">H20xH", frame, 16)
        of_all, empty, _ = collective(frame)
        if elements is None or ip_length != HEADERS - 14 + (0 if empty else 4 * elements) or \
                udp_length != ip_length - 20:
            return self.refuse(BAD_LENGTH, port)
        if not worker:
            return self.refuse(UNKNOWN_WORKER, port)
        if slot >= worker.slots:
            return self.refuse(BAD_POOL_INDEX, port)
        if ones_sum(frame[14:34]) != 0xFFFF:
            self.count("wrong_checksums", port >> 7, worker.rid)
        if of_all and (job, frame[51]) not in self.audiences:
            if port >> 7 == 0:
                self.aggregate_first(worker, frame, elements, version, worker.base + slot)
            return self.refuse(NO_AUDIENCE, port)
        if port >> 7 != 0:
            port = 68  # relayed to where slots are
        return self.aggregate(worker, port, frame, elements, version, worker.base + slot)

    def parse(self, frame):
        """'short', 'ours' or 'other'."""
        length = len(frame) + FCS
        if length < 14:
            return "short"
        if frame[12:14] != b"\x08\x00":
            return "other"
        if length < 34:
            return "short"
        if frame[14] != 0x45 or frame[20] & 0xBF or frame[21] or frame[23] != 17:
            return "other"
        if length < 42:
            return "short"
        if struct.unpack_from(">H", frame, 36)[0] & 0xFFF0 != 0xBEE0:
            return "other"
        first = 128 if len(frame) > 42 and frame[42] & 7 == 0 else 256
        if len(frame) > 42 and collective(frame)[1]:
            first = 0
        return "short" if length < HEADERS + first else "ours"

    def refuse(self, reason, port):
        self.count("drops", port >> 7, reason)
        return [], [(INGRESS, port)]

    # ---- aggregation

    def aggregate_first(self, worker, frame, elements, version, slot):
        """What the first pipe does with a packet before it is known that nobody is to get a result."""
        values = [0] * elements if collective(frame)[1] else list(struct.unpack_from(f">{elements}I", frame, HEADERS))
        cell, bit = self.cell(0, version, slot), 1 << worker.bit
        repeated = bool(cell.seen & bit)
        cell.seen |= bit
        self.cell(0, 1 - version, slot).seen &= ~bit
        if repeated:
            self.count("repetitions", 0, worker.rid)
        else:
            self.add(cell, worker, values[:64], struct.unpack_from(">bb", frame, 50), elements)

    def aggregate(self, worker, port, frame, elements, version, slot):
        of_all, empty, brief = collective(frame)
        values = list(struct.unpack_from(f">{elements}I", frame.ljust(HEADERS + 4 * elements, b"\0"),
                                         HEADERS))
        there = (len(frame) + FCS - HEADERS) // 4
        behind = frame[HEADERS + 4 * elements:]
        if empty:
            values, there, behind = [0] * elements, elements, frame[HEADERS:]
        exponents = struct.unpack_from(">bb", frame, 50)
        blocks = max(1, elements // 64)
        for pipe in range(blocks):
            if there < min(64 * pipe + 64, elements):
                return self.refuse(PARSER_ERROR, port)
            cell, other = self.cell(pipe, version, slot), self.cell(pipe, 1 - version, slot)
            bit = 1 << worker.bit
            repeated = bool(cell.seen & bit)
            cell.seen |= bit
            other.seen &= ~bit
            if repeated:
                if pipe == 0:
                    self.count("repetitions", 0, worker.rid)
            else:
                self.add(cell, worker, values[64 * pipe:64 * pipe + 64], exponents, elements)
            if pipe + 1 < blocks:
                port = 68 + 128 * (pipe + 1)
        if repeated and cell.missing:
            return self.refuse(DUPLICATE, port)
        if cell.missing:
            return [], [(CONSUMED, port)]
        full, without = self.audiences[worker.job, frame[51]] if of_all else (worker.group, 0)
        last = 3 if elements == 256 else blocks - 1
        if repeated:
            self.count("resent", last if brief else 0, worker.rid)
            copies, briefs = ([], [(worker.rid, worker.port)]) if brief else ([(worker.rid, worker.port)], [])
        else:
            copies, briefs = ([(rid, to) for rid, to, _ in self.groups.get(g, ())] for g in (full, without))
        head = bytearray(frame[:HEADERS])
        struct.pack_into(">bb", head, 50, *self.cell(last, version, slot).exponents)
        struct.pack_into(">H", head, 16, HEADERS - 14)
        struct.pack_into(">H", head, 38, HEADERS - 34)
        brief_sent, brief_dropped = self.deliver(bytes(head) + behind, briefs)
        if without and not repeated and not briefs:  # the job's only worker gets the elements
            brief_dropped.append((NOBODY, 70 + 128 * last))
        result = bytearray(frame[:HEADERS] + bytes(4 * elements) + behind)
        struct.pack_into(">H", result, 16, HEADERS - 14 + 4 * elements)
        struct.pack_into(">H", result, 38, HEADERS - 34 + 4 * elements)
        first = self.cell(0, version, slot)
        sums = [v for p in range(blocks) for v in self.cell(p, version, slot).values]
        if elements == 32:  # only what this packet could read back: the second half of a block
            sums = first.values[32:]
        struct.pack_into(">bb", result, 50, *first.exponents)
        struct.pack_into(f">{elements}I", result, HEADERS, *sums)
        sent, dropped = self.deliver(bytes(result), copies)
        return brief_sent + sent, brief_dropped + dropped

    @staticmethod
    def add(cell, worker, values, exponents, elements):
        if elements == 32:  # the other half is not in the packet: zeros
            values = [0] * 32 + values
        if cell.missing == 0:
            cell.missing = worker.of - 1
            cell.exponents = list(exponents)
            cell.values = values
        else:
            cell.missing -= 1
            cell.exponents = [max(a, b) for a, b in zip(cell.exponents, exponents)]
            cell.values = [(a + b) & 0xFFFFFFFF for a, b in zip(cell.values, values)]

    def deliver(self, result, copies):
        sent, dropped = [], []
        for rid, port in copies:
            r = self.receivers.get(rid)
            self.count("receivers", port >> 7, rid if r else None, BRIDGE + len(result) + FCS)
            if not r:
                dropped.append((EGRESS, 68))
                continue
            ip = bytearray(result[14:34])
            ip[8] = 64
            ip[12:16], ip[16:20] = ip[16:20], r.ip
            ip[10:12] = b"\0\0"
            ip[10:12] = struct.pack(">H", ones_sum(bytes(ip)) ^ 0xFFFF)
            sent.append((port, r.mac + result[:6] + result[12:14] + bytes(ip) + result[36:38]
                         + struct.pack(">H", r.udp) + result[38:40] + b"\0\0" + result[42:]))
        return sent, dropped

    # ---- everything else

    def forward(self, port, frame):
        if frame[:6] in self.macs:
            return [(self.macs[frame[:6]], frame)], []
        if self.flood is None:
            return [], [(INGRESS, port)]
        return [(to, frame) for _, to, xid in self.groups[self.flood] if xid != port], []
