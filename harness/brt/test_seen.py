# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime reads counts and register cells as the chip's driver has them: what packets changed is
seen after a read from the chip or a synchronizing operation, what a controller wrote at once. Cells, entries, single
pipes, and lists of updates that are taken back."""
import os
import socket
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
INVALID = 3
PKTS, BYTES, MAC = "$COUNTER_SPEC_PKTS", "$COUNTER_SPEC_BYTES", "hdr.ethernet.dst_addr"
COUNTS, PAIRS, FORWARD, FILTER = "Ingress.counts", "Ingress.pairs", "Ingress.forward", "Ingress.filter"
OF_COUNTS, OF_PAIRS = {"$COUNTER_INDEX": 3}, {"$REGISTER_INDEX": 3}
ANY = {"hdr.order.$valid": 1, "$MATCH_PRIORITY": 1}
FRAME = 64 # bytes, with its check sequence; the indirect counter leaves out 4

checks = Checks()
fails = Expect(checks).fails


def send(wire, op, times=1):
    """Frames that the table 'forward' sends back; they count, or change a pair, at 3."""
    for number in range(times):
        mark = bytes([op, 3]) + bytes(3) + bytes([number])
        wire.socket.send((bytes(5) + b"\7" + bytes(6) + b"\x90\x00\x01\0\0\0\0\0\0" + mark).ljust(60, b"\0"))
        wire.socket.settimeout(10)
        while True:
            frame, address = wire.socket.recvfrom(2048)
            if address[2] != socket.PACKET_OUTGOING and frame[21:27] == mark:
                break


def operation(c, table, name, pipe=None):
    request = c.request(pb.WriteRequest)
    update = request.updates.add(type=pb.Update.INSERT)
    update.entity.table_operation.table_id = c.table(table)["id"]
    update.entity.table_operation.table_operations_type = name
    if pipe is not None:
        request.target.pipe_id = pipe
    c.method["Write"](request)


def values(data, *names):
    return tuple(data[name] for name in names)


def counts(c, **more):
    return values(c.read(c.entry(COUNTS, OF_COUNTS, **more))[0][3], PKTS, BYTES)


def pairs(c, **more):
    return c.read(c.entry(PAIRS, OF_PAIRS, **more))[0][3]["Ingress.pairs.first"]


def forwarded(c, **more):
    return values(c.read(c.entry(FORWARD, {MAC: 7}, **more))[0][3], PKTS, BYTES)


def noted(c, **more):
    return c.read(c.entry(FILTER, ANY, **more))[0][3]["Ingress.by_entry.first"]


def filled(c):
    c.write(c.update("INSERT", FORWARD, {MAC: 7}, "send", {"port": 1, PKTS: 0, BYTES: 0}),
            c.update("INSERT", FILTER, ANY, "noted", {"group": 0}))


def cells(c, wire):
    send(wire, 4, 2)
    checks.equal("counts as at the start", counts(c), (0, 0))
    checks.equal("so they are all", [e[3][PKTS] for e in c.read(c.entry(COUNTS))], [0] * 16)
    checks.equal("from the chip", counts(c, from_hw=True), (2, 2 * (FRAME - 4)))
    checks.equal("which the driver has then", counts(c), (2, 2 * (FRAME - 4)))
    send(wire, 4)
    checks.equal("until packets count", counts(c), (2, 2 * (FRAME - 4)))
    operation(c, COUNTS, "Sync", 2)
    checks.equal("another pipe's are synchronized", counts(c), (2, 2 * (FRAME - 4)))
    operation(c, COUNTS, "Sync")
    checks.equal("all are", counts(c), (3, 3 * (FRAME - 4)))
    c.write(c.update("MODIFY", COUNTS, OF_COUNTS, data={PKTS: 50, BYTES: 500}))
    checks.equal("written", counts(c), (50, 500))
    send(wire, 4)
    checks.equal("one more on the chip", (counts(c), counts(c, from_hw=True)), ((50, 500), (51, 500 + FRAME - 4)))
    send(wire, 4)
    c.write(c.update("DELETE", COUNTS))
    checks.equal("reset", (counts(c), counts(c, from_hw=True)), ((0, 0), (0, 0)))


def registers(c, wire):
    send(wire, 5, 2)
    checks.equal("cells as at the start", pairs(c), [5] * 4)
    operation(c, PAIRS, "Sync")
    checks.equal("synchronized", pairs(c), [7, 5, 5, 5])
    send(wire, 5)
    checks.equal("old again", pairs(c), [7, 5, 5, 5])
    checks.equal("from the chip", pairs(c, from_hw=True), [8, 5, 5, 5])
    c.write(c.update("MODIFY", PAIRS, OF_PAIRS, data={"Ingress.pairs.first": 1, "Ingress.pairs.second": 2}, pipe=1))
    checks.equal("written in one pipe", pairs(c), [8, 1, 5, 5])
    send(wire, 5)
    checks.equal("all cells", [e[3]["Ingress.pairs.first"][:2] for e in c.read(c.entry(PAIRS))],
                 [[8, 1] if i == 3 else [5, 5] for i in range(16)])
    checks.equal("all, from the chip", [e[3]["Ingress.pairs.first"][0] for e in c.read(c.entry(PAIRS, from_hw=True))],
                 [9 if i == 3 else 5 for i in range(16)])
    c.write(c.update("DELETE", PAIRS))
    checks.equal("reset", pairs(c), [5] * 4)


def entries(c, wire):
    operation(c, FORWARD, "SyncCounters")
    operation(c, FILTER, "SyncRegisters")
    packets, cell = forwarded(c)[0], noted(c)[0]
    send(wire, 9, 3)
    checks.equal("counts of an entry", forwarded(c)[0], packets)
    checks.equal("cells of an entry", noted(c)[0], cell)
    operation(c, FORWARD, "SyncCounters")
    operation(c, FILTER, "SyncRegisters")
    checks.equal("synchronized", (forwarded(c), noted(c)[0]), ((packets + 3, (packets + 3) * FRAME), cell + 3))
    send(wire, 9)
    checks.equal("from the chip", (forwarded(c, from_hw=True)[0], noted(c, from_hw=True)[0]), (packets + 4, cell + 4))
    checks.equal("which the driver has then", (forwarded(c)[0], noted(c)[0]), (packets + 4, cell + 4))
    send(wire, 9)
    c.write(c.update("MODIFY", FORWARD, {MAC: 7}, "send", {"port": 1}))
    checks.equal("another action's data keep counts", forwarded(c)[0], packets + 4)
    c.write(c.update("MODIFY", FORWARD, {MAC: 7}, "send", {"port": 1, PKTS: 70}),
            c.update("MODIFY", FILTER, ANY, "noted", {"group": 0, "Ingress.by_entry.first": 7,
                                                      "Ingress.by_entry.second": 8}))
    checks.equal("written", (forwarded(c)[0], noted(c)), (70, [7] * 4))
    send(wire, 9)
    c.write(c.update("MODIFY", FORWARD, {MAC: 7}, reset_stats=True))
    checks.equal("reset", forwarded(c), (0, 0))
    c.write(c.update("DELETE", FORWARD, {MAC: 7}), c.update("DELETE", FILTER))
    filled(c)
    checks.equal("another entry begins anew", (forwarded(c)[0], noted(c)), (0, [100] * 4))


def taken_back(c, wire):
    """What the driver had is put back, too."""
    c.write(c.update("MODIFY", COUNTS, OF_COUNTS, data={PKTS: 10, BYTES: 20}))
    send(wire, 4)
    before = counts(c), forwarded(c)[0], noted(c)
    fails("a list with a mistake", "UNKNOWN", c.write,
          c.update("MODIFY", COUNTS, OF_COUNTS, data={PKTS: 1}),
          c.update("MODIFY", FORWARD, {MAC: 7}, "send", {"port": 1, PKTS: 9}),
          c.update("DELETE", FILTER), c.update("MODIFY", COUNTS, {"$COUNTER_INDEX": 16}, data={PKTS: 1}),
          atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR, codes=[0, 0, 0, INVALID])
    checks.equal("as before", (counts(c), forwarded(c)[0], noted(c)), before)
    checks.equal("the chip's too", (counts(c, from_hw=True)[0], forwarded(c, from_hw=True)[0]), (11, 1))


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("brse0", "brse1")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    address = f"unix:{folder}/b.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_af_packet0,iface=brse0"}],
                 "bfrt": {"listen": address}}) as sw:
        line = Wire("brse1")
        with Controller(address) as controller:
            controller.bind()
            filled(controller)
            for part in (cells, registers, entries, taken_back):
                part(controller, line)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
