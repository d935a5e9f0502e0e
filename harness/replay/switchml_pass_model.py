# SPDX-License-Identifier: Apache-2.0
"""A model of single passes through a SwitchML switch, written from p4/switchml/README.md ("Passes of a packet",
"A pass alone") and not from the P4 program: what a packet that comes from a recirculation port, whatever its
bridge header says, does in that pipe, and then in those that it is sent to.
"""
import struct
from dataclasses import dataclass

from switchml_model import CONSUMED, DUPLICATE, ELEMENTS, HEADERS, PARSER_ERROR, Model, collective

# states, as op_t numbers them
RELAY, CONSUME = 2, 3
READ_LOW, READ_HIGH, READ_NONE, DROP, READ_BRIEF = 5, 6, 7, 8, 9
UNKNOWN_STATES = (10, 11, 24, 255)

BAD_STATE = 7  # in the counter of reasons
NOWHERE = "no destination set in ingress"


@dataclass
class Bridge:
    """What is in front of a packet between two passes."""
    op: int
    unicast: int
    of: int      # workers of the job
    cell: int    # version in the top bit
    group: int
    rid: int
    port: int
    bit: int     # the worker's, as a mask
    pad: int = 0
    brief_group: int = 0  # who gets a result without elements

    def bytes(self):
        return struct.pack(">BBBBHHHHHI", self.op, self.unicast, self.of, self.pad, self.cell, self.group,
                           self.brief_group, self.rid, self.port, self.bit)


def recirculation(pipe):
    return 68 + 128 * pipe


def brief(pipe):
    """The port from which results without elements come."""
    return 70 + 128 * pipe


class PassModel(Model):
    """The registers are those of the model of whole jobs, and so is what becomes of a result in egress."""

    def inject(self, pipe, b, frame):
        """The pass, and those that follow from it: as Model.receive."""
        head, body = frame[:HEADERS], frame[HEADERS:]
        while True:
            port = recirculation(pipe)
            if len(head) < HEADERS:
                return self.refuse(PARSER_ERROR, port)
            cell = self.cell(pipe, b.cell >> 15, b.cell & 8191)
            if b.op == RELAY:
                b.op, pipe = CONSUME, 0
            elif b.op == CONSUME:
                pipe, body, end = self.consume(pipe, b, cell, head, body)
                if end:
                    return end
            elif b.op == READ_HIGH and pipe < 3:
                body = packed(cell.values[32:]) + body
                b.op = READ_LOW
            elif b.op in (READ_LOW, READ_NONE):
                head = head[:50] + struct.pack(">bb", *cell.exponents)
                if b.op == READ_LOW:
                    body = packed(cell.values[:32]) + body
                if b.op == READ_NONE or pipe == 0:
                    return self.result(pipe, b, head + body)
                b.op, pipe = READ_HIGH, pipe - 1
            elif b.op == READ_BRIEF:
                return self.brief_result(pipe, b, cell, head, body, port)
            elif b.op == DROP:
                return [], [(NOWHERE, port)]
            else:
                return self.refuse(BAD_STATE, port)

    def consume(self, pipe, b, cell, head, body):
        """One pipe's part of a packet: where it goes on and with which elements, or what becomes of it."""
        elements, port = ELEMENTS.get(head[42] & 7), recirculation(pipe)
        here = min(elements or 64, 64)
        if len(body) < 4 * here:
            return pipe, body, self.refuse(PARSER_ERROR, port)
        repeated = bool(cell.seen & b.bit)
        cell.seen |= b.bit
        self.cell(pipe, 1 - (b.cell >> 15), b.cell & 8191).seen &= ~b.bit
        if not repeated:
            self.add(cell, b, list(struct.unpack_from(f">{here}I", body)), struct.unpack_from(">bb", head, 50), here)
        elif pipe == 0:
            self.count("repetitions", 0, b.rid)
        pipes = max(1, elements // 64) if elements else 0
        if pipe + 1 < pipes:
            return pipe + 1, body[4 * here:], None
        if cell.missing or not elements:
            return pipe, body, self.refuse(DUPLICATE, port) if repeated else ([], [(CONSUMED, port)])
        b.unicast, b.op = int(repeated), READ_NONE if elements == 32 else READ_LOW
        body = packed(cell.values[32:]) + body[4 * here:]
        of_all, _, wants_none = collective(head)
        if of_all and (wants_none if repeated else b.group == 0):
            return pipe, body, self.inject_brief(pipes - 1, b, head + body)
        return pipes - 1, body, None

    def inject_brief(self, pipe, b, frame):
        """The same from the port of results without elements, of which the second half of 64 is still there."""
        head, body = frame[:HEADERS], frame[HEADERS:]
        return self.brief_result(pipe, b, self.cell(pipe, b.cell >> 15, b.cell & 8191), head, body[128:], brief(pipe))

    def brief_result(self, pipe, b, cell, head, body, port):
        """Lengths are those of a packet that ends with the exponents, whatever is behind them."""
        head = head[:16] + struct.pack(">H", 38) + head[18:38] + struct.pack(">H", 18) + head[40:50] + \
            struct.pack(">bb", *cell.exponents)
        if b.unicast == 0:
            return self.deliver(head + body, [(rid, to) for rid, to, _ in self.groups[b.brief_group]])
        if b.unicast == 1:
            self.count("resent", pipe, b.rid)
            return self.deliver(head + body, [(b.rid, b.port)])
        return self.refuse(BAD_STATE, port)

    def result(self, pipe, b, frame):
        if b.unicast == 0:
            return self.deliver(frame, [(rid, to) for rid, to, _ in self.groups[b.group]])
        if b.unicast == 1:
            self.count("resent", pipe, b.rid)
            return self.deliver(frame, [(b.rid, b.port)])
        return self.refuse(BAD_STATE, recirculation(pipe))


def packed(values):
    return struct.pack(f">{len(values)}I", *values)
