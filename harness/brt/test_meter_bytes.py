# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime says how many bytes a meter adds to each packet's: colours of packets before and after,
the bounds, single pipes, lists that are taken back, and tables that have no such meter."""
import os
import socket
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/meters/meters.p4")
INVALID, UNIMPLEMENTED = 3, 12
OF_BYTES, REMAPPED = "Ingress.of_bytes", "Ingress.remapped"
# 125 and 250 bytes, never filled again: how long a frame takes does not count
SPEC = {"$METER_SPEC_CIR_KBPS": 0, "$METER_SPEC_CBS_KBITS": 1, "$METER_SPEC_PIR_KBPS": 0, "$METER_SPEC_PBS_KBITS": 2}
GREEN, YELLOW, RED = 0, 1, 3

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def more(c, table, number):
    update = pb.Update(type=pb.Update.INSERT)
    update.entity.table_attribute.table_id = c.table(table)["id"]
    update.entity.table_attribute.byte_count_adj.byte_count_adjust = number
    return update


def now(c, table, pipe=None):
    request = c.request(pb.ReadRequest)
    if pipe is not None:
        request.target.pipe_id = pipe
    request.entities.append(more(c, table, 0).entity)
    return c.read_raw(request=request)[0].entities[0].table_attribute.byte_count_adj.byte_count_adjust


def write_in(c, pipe, *updates, **fields):
    request = c.request(pb.WriteRequest, **fields)
    request.target.pipe_id = pipe
    request.updates.extend(updates)
    return c.method["Write"](request)


def answer(wire, mark):
    """The frame with this mark, as the switch sends it."""
    wire.settimeout(10)
    while True:
        frame, address = wire.recvfrom(2048)
        if address[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x90\x00" and frame[18:22] == mark:
            return frame


def colours(c, wire, table, operation):
    """Of four frames of 64 bytes, after the cell has begun anew."""
    key = "$METER_INDEX"
    c.write(c.update("MODIFY", table, {key: 3}, data=SPEC))
    found = []
    for number in range(4):
        mark = bytes([number]) * 4
        wire.socket.send((bytes(12) + b"\x90\x00" + bytes([operation, 3, 0, 0]) + mark + bytes(8)).ljust(60, b"\0"))
        found.append(answer(wire.socket, mark)[29])
    return found


def adjusts(c, wire):
    checks.equal("nothing at first", now(c, OF_BYTES), 0)
    checks.equal("64 bytes", colours(c, wire, OF_BYTES, 0), [GREEN, YELLOW, YELLOW, RED])
    c.write(more(c, OF_BYTES, 100))
    checks.equal("read back", now(c, OF_BYTES), 100)
    checks.equal("100 more", colours(c, wire, OF_BYTES, 0), [YELLOW, RED, RED, RED])
    c.write(more(c, OF_BYTES, -33))
    checks.equal("33 less", colours(c, wire, OF_BYTES, 0), [GREEN] * 4)
    c.write(more(c, OF_BYTES, -8192))
    checks.equal("not below 0", colours(c, wire, OF_BYTES, 0), [GREEN] * 4)
    c.write(more(c, OF_BYTES, 0))
    checks.equal("as before", colours(c, wire, OF_BYTES, 0), [GREEN, YELLOW, YELLOW, RED])
    checks.equal("the program's own", now(c, REMAPPED), -14)
    checks.equal("50 bytes", colours(c, wire, REMAPPED, 2), [0x10, 0x10, 0x20, 0x20])
    c.write(more(c, REMAPPED, 0))
    checks.equal("in place of it", colours(c, wire, REMAPPED, 2), [0x10, 0x20, 0x20, 0x30])


def pipes(c):
    for pipe, number in ((0, -12), (1, -16)):
        write_in(c, pipe, more(c, OF_BYTES, number))
    checks.equal("each pipe's own", [now(c, OF_BYTES, p) for p in range(4)], [-12, -16, 0, 0])
    fails("a list with a mistake", "UNKNOWN", c.write, more(c, OF_BYTES, 7), more(c, OF_BYTES, 8192),
          atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR, codes=[0, INVALID])
    checks.equal("is taken back", [now(c, OF_BYTES, p) for p in range(4)], [-12, -16, 0, 0])


def mistakes(c):
    for number in (8192, -8193, 2**31 - 1, -2**31):
        update_fails(f"{number} bytes", INVALID, c, more(c, OF_BYTES, number))
    for table in ("Ingress.of_packets", "Ingress.average", "Ingress.marking", "Ingress.smoothing"):
        update_fails(f"no meter of bytes: {table}", UNIMPLEMENTED, c, more(c, table, 1))
        fails(f"nor to read: {table}", "UNKNOWN", now, c, table, codes=[UNIMPLEMENTED])


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("brmb0", "brmb1")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    address = f"unix:{folder}/b.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_af_packet0,iface=brmb0"}],
                 "bfrt": {"listen": address}}) as sw:
        line = Wire("brmb1")
        with Controller(address) as controller:
            controller.bind()
            adjusts(controller, line)
            pipes(controller)
            mistakes(controller)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
