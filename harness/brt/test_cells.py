# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and the cells of counters, meters, filters and registers: written, read one by one and all
together, of all pipes and of one, reset, and the status of each mistake."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
INVALID, NOT_FOUND, UNIMPLEMENTED = 3, 5, 12
PKTS, BYTES = "$COUNTER_SPEC_PKTS", "$COUNTER_SPEC_BYTES"

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def cell(c, table, index, **more):
    return c.read(c.entry(table, {c.table(table)["key"][0]["name"]: index}, **more))[0]


def set_cell(c, table, index, data, kind="MODIFY", **more):
    c.write(c.update(kind, table, {c.table(table)["key"][0]["name"]: index}, data=data, **more))


def counters(c):
    set_cell(c, "Ingress.counts", 3, {PKTS: 5, BYTES: 500})
    checks.equal("counts", cell(c, "Ingress.counts", 3)[:4], ("pipe.Ingress.counts", {"$COUNTER_INDEX": 3}, None,
                                                              {PKTS: 5, BYTES: 500}))
    set_cell(c, "Ingress.counts", 3, {PKTS: 6}, "INSERT")
    checks.equal("what is left out is zero", cell(c, "Ingress.counts", 3)[3], {PKTS: 6, BYTES: 0})
    set_cell(c, "Ingress.counts", 3, {PKTS: 10}, pipe=2)
    checks.equal("one pipe", cell(c, "Ingress.counts", 3, pipe=2)[3], {PKTS: 10, BYTES: 0})
    checks.equal("their sum", cell(c, "Ingress.counts", 3)[3], {PKTS: 16, BYTES: 0})
    checks.equal("some fields", c.read(c.entry("Ingress.counts", {"$COUNTER_INDEX": 3}, None, {PKTS: None}))[0][3],
                 {PKTS: 16})
    checks.equal("key only", c.read(c.entry("Ingress.counts", {"$COUNTER_INDEX": 3}, key_only=True))[0][1:4],
                 ({"$COUNTER_INDEX": 3}, None, {}))
    got = c.read(c.entry("Ingress.counts"))
    checks.equal("all cells", [e[1]["$COUNTER_INDEX"] for e in got], list(range(16)))
    checks.equal("all counts", [e[3][PKTS] for e in got], [16 if i == 3 else 0 for i in range(16)])
    set_cell(c, "Ingress.counts", 15, {PKTS: 2 ** 64 - 1, BYTES: 7})
    checks.equal("the largest", cell(c, "Ingress.counts", 15)[3], {PKTS: 2 ** 64 - 1, BYTES: 7})
    c.write(c.update("DELETE", "Ingress.counts"))
    checks.equal("all are zero", [e[3] for e in c.read(c.entry("Ingress.counts"))], [{PKTS: 0, BYTES: 0}] * 16)


METER = {"$METER_SPEC_CIR_KBPS": 1000, "$METER_SPEC_PIR_KBPS": 2000, "$METER_SPEC_CBS_KBITS": 10,
         "$METER_SPEC_PBS_KBITS": 20}
LPF = {"$LPF_SPEC_TYPE": "RATE", "$LPF_SPEC_GAIN_TIME_CONSTANT_NS": 1000.0, "$LPF_SPEC_DECAY_TIME_CONSTANT_NS": 2000.5,
       "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR": 3}
WRED = {"$WRED_SPEC_TIME_CONSTANT_NS": 500.0, "$WRED_SPEC_MIN_THRESH_CELLS": 10, "$WRED_SPEC_MAX_THRESH_CELLS": 20,
        "$WRED_SPEC_MAX_PROBABILITY": 0.5}


def meters(c):
    for table, spec in (("Ingress.of_bytes", METER), ("Ingress.average", LPF), ("Ingress.early", WRED)):
        before = cell(c, table, 4)[3]
        set_cell(c, table, 4, spec)
        checks.equal(f"set: {table}", cell(c, table, 4)[3], spec)
        checks.equal(f"in one pipe: {table}", cell(c, table, 4, pipe=3)[3], spec)
        checks.equal(f"all cells: {table}", [e[3] == spec for e in c.read(c.entry(table))], [i == 4 for i in range(16)])
        c.write(c.update("DELETE", table))
        checks.equal(f"reset: {table}", cell(c, table, 4)[3], before)
    uneven = {**LPF, "$LPF_SPEC_GAIN_TIME_CONSTANT_NS": 493.13}
    set_cell(c, "Ingress.average", 5, uneven)
    got = cell(c, "Ingress.average", 5)[3]["$LPF_SPEC_GAIN_TIME_CONSTANT_NS"]
    checks.equal("a time that is no whole number", round(got, 4), 493.13)
    packets = {"$METER_SPEC_CIR_PPS": 1, "$METER_SPEC_PIR_PPS": 2, "$METER_SPEC_CBS_PKTS": 3, "$METER_SPEC_PBS_PKTS": 4}
    checks.equal("packets that nobody meters", cell(c, "Ingress.of_packets", 0)[3], dict.fromkeys(packets, 2 ** 64 - 1))
    set_cell(c, "Ingress.of_packets", 0, packets)
    checks.equal("a meter of packets", cell(c, "Ingress.of_packets", 0)[3], packets)
    update_fails("half a specification", INVALID, c,
                 c.update("MODIFY", "Ingress.of_packets", {"$METER_INDEX": 1}, data={"$METER_SPEC_CIR_PPS": 1}))
    checks.equal("changed nothing", cell(c, "Ingress.of_packets", 1)[3], dict.fromkeys(packets, 2 ** 64 - 1))
    update_fails("a type of filter that is none", INVALID, c,
                 c.update("MODIFY", "Ingress.average", {"$LPF_INDEX": 1}, data={**LPF, "$LPF_SPEC_TYPE": "X"}))


def registers(c):
    start = cell(c, "Ingress.pairs", 0)[3]
    first, second = "Ingress.pairs.first", "Ingress.pairs.second"
    checks.equal("one value of each pipe", {n: len(v) for n, v in start.items()}, {first: 4, second: 4})
    set_cell(c, "Ingress.pairs", 9, {first: 0xdeadbeef, second: 7})
    checks.equal("a pair", cell(c, "Ingress.pairs", 9)[3], {first: [0xdeadbeef] * 4, second: [7] * 4})
    set_cell(c, "Ingress.pairs", 9, {first: 1, second: 2}, pipe=1)
    checks.equal("in one pipe", cell(c, "Ingress.pairs", 9)[3],
                 {first: [0xdeadbeef, 1, 0xdeadbeef, 0xdeadbeef], second: [7, 2, 7, 7]})
    checks.equal("of one pipe", cell(c, "Ingress.pairs", 9, pipe=1)[3], {first: 1, second: 2})
    update_fails("half a pair", INVALID, c, c.update("MODIFY", "Ingress.pairs", {"$REGISTER_INDEX": 9},
                                                     data={first: 1}))
    checks.equal("its other cells", cell(c, "Ingress.pairs", 8)[3], start)
    c.write(c.update("DELETE", "Ingress.pairs"))
    checks.equal("as at the start", cell(c, "Ingress.pairs", 9)[3], start)
    set_cell(c, "Ingress.flags", 99, {"Ingress.flags.f1": 1})
    got = c.read(c.entry("Ingress.flags"))
    checks.equal("bits", [e[3]["Ingress.flags.f1"] for e in got], [[0] * 4] * 99 + [[1] * 4])
    update_fails("two bits in one", INVALID, c,
                 c.update("MODIFY", "Ingress.flags", {"$REGISTER_INDEX": 0}, data={"Ingress.flags.f1": 2}))


def parameters(c):
    checks.equal("a parameter", c.read(c.entry("Ingress.step", default=True))[0], ("pipe.Ingress.step", {}, None,
                                                                                   {"value": 1}, True))
    c.write(c.update("MODIFY", "Ingress.step", data={"value": 77}, default=True))
    checks.equal("set", c.read(c.entry("Ingress.step", default=True))[0][3], {"value": 77})
    c.write(c.update("DELETE", "Ingress.step", default=True))
    checks.equal("set back", c.read(c.entry("Ingress.step", default=True))[0][3], {"value": 1})
    update_fails("as an entry", UNIMPLEMENTED, c, c.update("MODIFY", "Ingress.step", {}, data={"value": 1}))
    update_fails("added", UNIMPLEMENTED, c, c.update("INSERT", "Ingress.step", data={"value": 1}, default=True))


def mistakes(c):
    key, data = {"$COUNTER_INDEX": 1}, {PKTS: 1}

    def wrong(what, status, kind, change=lambda e: None, k=key, d=data, **more):
        update = c.update(kind, "Ingress.counts", k, data=d, **more)
        change(update.entity.table_entry)
        return update_fails(what, status, c, update)
    said = wrong("no such index", INVALID, "MODIFY", k={"$COUNTER_INDEX": 16})
    checks.has("which there are", said, "has 16 cells; there is no index 16")
    wrong("a cell is not deleted", UNIMPLEMENTED, "DELETE")
    wrong("nor added or changed", UNIMPLEMENTED, "INSERT_OR_MODIFY")
    wrong("nor counted up", UNIMPLEMENTED, "MODIFY_INC")
    wrong("no type", INVALID, "UNSPECIFIED")
    wrong("no key", INVALID, "MODIFY", k=None)
    wrong("no data", INVALID, "MODIFY", d=None)
    wrong("a default entry", UNIMPLEMENTED, "MODIFY", k=None, default=True)
    wrong("an unknown key field", NOT_FOUND, "MODIFY", lambda e: setattr(e.key.fields[0], "field_id", 77))
    wrong("another kind of match", INVALID, "MODIFY", lambda e: e.key.fields[0].ternary.SetInParent())
    wrong("a short key", INVALID, "MODIFY", lambda e: setattr(e.key.fields[0].exact, "value", b"\1"))
    wrong("two keys", INVALID, "MODIFY", lambda e: e.key.fields.append(e.key.fields[0]))
    wrong("an unknown data field", NOT_FOUND, "MODIFY", lambda e: setattr(e.data.fields[0], "field_id", 77))
    wrong("a short value", INVALID, "MODIFY", lambda e: setattr(e.data.fields[0], "stream", b"\1"))
    wrong("text for a number", INVALID, "MODIFY", lambda e: setattr(e.data.fields[0], "str_val", "x"))
    wrong("a field twice", INVALID, "MODIFY", lambda e: e.data.fields.append(e.data.fields[0]))
    checks.equal("none of them counted", cell(c, "Ingress.counts", 1)[3], {PKTS: 0, BYTES: 0})
    fails("a read of no such index", "UNKNOWN", c.read, c.entry("Ingress.counts", {"$COUNTER_INDEX": 16}),
          codes=[INVALID])
    fails("a default entry of counters", "UNKNOWN", c.read, c.entry("Ingress.counts", default=True),
          codes=[UNIMPLEMENTED])
    wanted = c.entry("Ingress.counts", {"$COUNTER_INDEX": 1}, None, {PKTS: None})
    wanted.table_entry.data.fields[0].field_id = 77
    fails("a field that is not there", "UNKNOWN", c.read, wanted, codes=[NOT_FOUND])
    entity = pb.Entity()
    entity.table_usage.table_id = c.table("Ingress.counts")["id"]
    fails("usage of cells", "UNKNOWN", c.read_raw, entity, codes=[UNIMPLEMENTED])
    entity = pb.Entity()
    entity.table_entry.table_id, entity.table_entry.handle_id = c.table("Ingress.counts")["id"], 5
    checks.equal("a cell by its handle", c.read(entity)[0][1], {"$COUNTER_INDEX": 5})
    entity.table_entry.handle_id = 16
    fails("a handle of nothing", "UNKNOWN", c.read, entity, codes=[INVALID])


with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0"}], "bfrt": {"listen": ADDRESS}}) as sw:
        with Controller(ADDRESS) as controller:
            controller.bind()
            for part in (counters, meters, registers, parameters, mistakes):
                part(controller)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
