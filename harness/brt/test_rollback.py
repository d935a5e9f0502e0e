# SPDX-License-Identifier: Apache-2.0
"""Lists of updates that are done whole or not at all (ROLLBACK_ON_ERROR): what one that failed has changed is put back,
with counts and times, and random lists leave a switch as a model of it says."""
import os
import random
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, Failed, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
OK, INVALID, NOT_FOUND, EXISTS, EXHAUSTED = 0, 3, 5, 6, 8
MAC, PKTS, BYTES, TTL = "hdr.ethernet.dst_addr", "$COUNTER_SPEC_PKTS", "$COUNTER_SPEC_BYTES", "$ENTRY_TTL"
UNIMPLEMENTED = 12
ONCE = {"atomicity": pb.WriteRequest.DATAPLANE_ATOMIC}
ALL = {"atomicity": pb.WriteRequest.ROLLBACK_ON_ERROR}
TABLES = ("Ingress.forward", "Ingress.filter", "Ingress.prefixes", "Ingress.profile", "Ingress.profiled",
          "IngressParser.types",
          "Ingress.counts", "Ingress.of_packets", "Ingress.pairs", "Ingress.flags")

checks = Checks()
fails = Expect(checks).fails


def forward(c, what, mac, port=1, **data):
    return c.update(what, "Ingress.forward", {MAC: mac}, "send", {"port": port, **data})


def state(c):
    """All that a controller can see of the tables, but for times, which go on."""
    found = []
    for name in TABLES:
        for table, key, action, data, default in c.read(c.entry(name)):
            data.pop(TTL, None)
            found.append((table, sorted(key.items()), action, sorted(data.items()), default))
    step = c.read(c.entry("Ingress.step", default=True))[0][3]
    return sorted(found, key=repr), step


def filled(c):
    c.write(*[forward(c, "INSERT", mac, mac, **{PKTS: 100 + mac, BYTES: 1000 + mac,
                                                TTL: 100000 + mac}) for mac in range(1, 9)])
    c.write(forward(c, "MODIFY", 4, 4, **{"$METER_SPEC_CIR_PPS": 1, "$METER_SPEC_PIR_PPS": 2, "$METER_SPEC_CBS_PKTS": 3,
                                          "$METER_SPEC_PBS_PKTS": 4}))
    key = {"hdr.order.a": (0x1200, 0xff00), "hdr.order.$valid": 1}
    for priority in (1, 2, 3):
        c.write(c.update("INSERT", "Ingress.filter", {**key, "$MATCH_PRIORITY": priority}, "noted",
                         {"group": priority, "Ingress.by_entry.first": 7 * priority, "Ingress.by_entry.second": 9}))
    c.write(c.update("MODIFY", "Ingress.filter", None, "noted", {"group": 9}, default=True))
    c.write(c.update("INSERT", "Ingress.profile", {"$ACTION_MEMBER_ID": 1}, "put", {"value": 5}),
            c.update("INSERT", "Ingress.profiled", {"hdr.order.i": 1}, data={"$ACTION_MEMBER_ID": 1}))
    c.write(c.update("INSERT", "IngressParser.types", {"f1": (0x8800, 0xff00)}))
    c.write(c.update("MODIFY", "Ingress.counts", {"$COUNTER_INDEX": 3}, data={PKTS: 33, BYTES: 333}))
    c.write(c.update("MODIFY", "Ingress.pairs", {"$REGISTER_INDEX": 3}, data={"Ingress.pairs.first": 1,
                                                                              "Ingress.pairs.second": 2}, pipe=2))


def one_of_each(c):
    """Every kind of update before one that fails."""
    before = state(c)
    noted = {"hdr.order.$valid": 0, "$MATCH_PRIORITY": 77}
    updates = [
        forward(c, "INSERT", 20), forward(c, "MODIFY", 2, 9, **{PKTS: 1}), c.update("DELETE", "Ingress.forward",
                                                                                    {MAC: 4}),
        forward(c, "INSERT_OR_MODIFY", 5, 6), forward(c, "INSERT_OR_MODIFY", 21, 6), forward(c, "MODIFY", 20, 3),
        c.update("INSERT", "Ingress.filter", noted, "noted", {"group": 1}), c.update("DELETE", "Ingress.filter"),
        c.update("INSERT", "Ingress.filter", noted, "noted", {"group": 2}), c.update("DELETE", "Ingress.filter",
                                                                                     default=True),
        c.update("DELETE", "Ingress.profiled", {"hdr.order.i": 1}), c.update("DELETE", "Ingress.profile"),
        c.update("DELETE", "IngressParser.types"), c.update("INSERT", "IngressParser.types", {"f1": (1, 1)}),
        c.update("MODIFY", "Ingress.counts", {"$COUNTER_INDEX": 3}, data={PKTS: 1}), c.update("DELETE",
                                                                                              "Ingress.counts"),
        c.update("MODIFY", "Ingress.of_packets", {"$METER_INDEX": 1}, data={f"$METER_SPEC_{n}": 5 for n in ("CIR_PPS",
                                                                                                            "PIR_PPS",
                                                                                                            "CBS_PKTS",
                                                                                                         "PBS_PKTS")}),
        c.update("MODIFY", "Ingress.pairs", {"$REGISTER_INDEX": 3}, data={"Ingress.pairs.first": 8,
                                                                          "Ingress.pairs.second": 8}),
        c.update("DELETE", "Ingress.pairs"), c.update("MODIFY", "Ingress.step", data={"value": 9}, default=True)]
    scope = pb.Update(type=pb.Update.INSERT)
    scope.entity.table_attribute.table_id = c.table("Ingress.prefixes")["id"]
    scope.entity.table_attribute.entry_scope.pipe_scope.predef = pb.Mode.SINGLE
    updates.append(scope)
    said = fails("the last one fails", "UNKNOWN", c.write, *updates, forward(c, "INSERT", 1), forward(c, "INSERT", 30),
                 codes=[OK] * len(updates) + [EXISTS], **ALL)
    checks.has("which", said, "pipe.Ingress.forward")
    checks.equal("all is as it was", state(c), before)
    ttl = c.read(c.entry("Ingress.forward", {MAC: 4}))[0][3][TTL]
    checks.equal("times, too", 60000 < ttl <= 100004, True)
    entity = pb.Entity()
    entity.table_attribute.CopyFrom(scope.entity.table_attribute)
    checks.equal("and attributes", c.read_raw(entity)[0].entities[0].table_attribute.entry_scope.pipe_scope.predef,
                 pb.Mode.ALL)
    fails("the first one fails", "UNKNOWN", c.write, forward(c, "INSERT", 1), *updates, codes=[EXISTS], **ALL)
    checks.equal("and nothing is done", state(c), before)
    c.write(*updates[:6], **ALL)
    got = {e[1].get(MAC): e[3].get("port") for e in c.read(c.entry("Ingress.forward"))[:-1]}
    checks.equal("all of them succeed", got, {1: 1, 2: 9, 3: 3, 5: 6, 6: 6, 7: 7, 8: 8, 20: 3, 21: 6})


def many(c):
    """More than one slice; a table that gets full."""
    before = state(c)
    fails("a full table", "UNKNOWN", c.write, *[forward(c, "INSERT", mac) for mac in range(1000, 1200)],
          codes=[OK] * 55 + [EXHAUSTED], **ALL)
    checks.equal("is as it was", state(c), before)
    absent = [c.update("DELETE", "Ingress.forward", {MAC: 9999})]
    fails("what is not there", "UNKNOWN", c.write, forward(c, "INSERT", 40), *absent, codes=[OK, NOT_FOUND], **ALL)
    checks.equal("put back", state(c), before)
    metadata = [("ignore_not_found", "1"), ("error_in_resp", "1")]
    c.write(forward(c, "INSERT", 40), *absent, metadata=metadata, **ALL)
    checks.equal("unless it does not matter", len(c.read(c.entry("Ingress.forward", {MAC: 40}))), 1)
    before = state(c)
    fails("too late", "DEADLINE_EXCEEDED", c.write, forward(c, "INSERT", 41), metadata=[("deadline_nsec", "0")], **ALL)
    checks.equal("nothing is done then", state(c), before)


def atomic(c):
    """Lists that are one step for packets: of 64 updates at most, of entries and cells."""
    before = state(c)
    macs = range(2000, 2032)
    c.write(c.update("DELETE", "Ingress.filter"), c.update("DELETE", "Ingress.forward"))
    c.write(*[forward(c, "INSERT", mac) for mac in macs], **ONCE)
    checks.equal("a list in one step", {e[1].get(MAC) for e in c.read(c.entry("Ingress.forward")) if not e[4]}, set(macs))
    c.write(*[c.update("DELETE", "Ingress.forward", {MAC: mac}) for mac in macs],
            *[forward(c, "INSERT", mac, 7) for mac in macs], **ONCE)
    checks.equal("64 are one", {e[3]["port"] for e in c.read(c.entry("Ingress.forward")) if not e[4]}, {7})
    before = state(c)
    fails("65 are not", "RESOURCE_EXHAUSTED", c.write, *[forward(c, "MODIFY", 2000, n) for n in range(65)], **ONCE)
    cell = c.update("MODIFY", "Ingress.counts", {"$COUNTER_INDEX": 3}, data={PKTS: 1})
    fails("one that fails when it is made", "UNKNOWN", c.write, cell, forward(c, "MODIFY", 2001, 3), forward(c, "INSERT", 2000),
          codes=[OK, OK, EXISTS], **ONCE)
    fails("one that cannot be read", "UNKNOWN", c.write, forward(c, "MODIFY", 2001, 3), cell,
          c.update("MODIFY", "Ingress.counts", {"$COUNTER_INDEX": 99}, data={PKTS: 1}), codes=[OK, OK, INVALID], **ONCE)
    said = fails("clearing", "UNKNOWN", c.write, c.update("DELETE", "Ingress.forward"), codes=[UNIMPLEMENTED], **ONCE)
    checks.has("clearing", said, "pipe.Ingress.forward")
    scope = pb.Update(type=pb.Update.INSERT)
    scope.entity.table_attribute.table_id = c.table("Ingress.prefixes")["id"]
    scope.entity.table_attribute.entry_scope.pipe_scope.predef = pb.Mode.SINGLE
    fails("an attribute", "UNKNOWN", c.write, forward(c, "MODIFY", 2001, 3), scope, codes=[OK, UNIMPLEMENTED], **ONCE)
    checks.equal("nothing of all this is left", state(c), before)


def random_lists(c, rounds):
    """Entries of one table and a counter's cells, against a model."""
    rng = random.Random(29)
    c.write(c.update("DELETE", "Ingress.forward"), c.update("DELETE", "Ingress.counts"))
    entries, cells = {}, [0] * 16
    for number in range(rounds):
        rolls = rng.random() < 0.7
        new, new_cells, updates, want, stopped = dict(entries), list(cells), [], [], False
        for _ in range(rng.randrange(1, 12)):
            mac, port, what = rng.randrange(8), rng.randrange(500), rng.choice(["INSERT", "MODIFY", "DELETE",
                                                                                "INSERT_OR_MODIFY", "cell", "clear"])
            code = OK
            if what == "cell":
                index = rng.randrange(18)
                updates.append(c.update("MODIFY", "Ingress.counts", {"$COUNTER_INDEX": index}, data={PKTS: port}))
                code = OK if index < 16 else INVALID
            elif what == "clear":
                if rng.random() < 0.7:
                    continue
                updates.append(c.update("DELETE", "Ingress.forward"))
            elif what == "DELETE":
                updates.append(c.update("DELETE", "Ingress.forward", {MAC: mac}))
                code = OK if mac in new else NOT_FOUND
            else:
                updates.append(forward(c, what, mac, port))
                if what == "INSERT" and mac in new:
                    code = EXISTS
                elif what == "MODIFY" and mac not in new:
                    code = NOT_FOUND
            if stopped:
                continue
            want.append(code)
            stopped = rolls and code != OK
            if code != OK:
                continue
            if what == "cell":
                new_cells[index] = port
            elif what == "clear":
                new = {}
            elif what == "DELETE":
                new.pop(mac)
            else:
                new[mac] = port
        if not (rolls and stopped):
            entries, cells = new, new_cells
        while want and want[-1] == OK:
            want.pop()
        try:
            c.write(*updates, **(ALL if rolls else {}))
            got = []
        except Failed as e:
            got = e.codes()
        seen = {e[1][MAC]: e[3]["port"] for e in c.read(c.entry("Ingress.forward")) if not e[4]}
        counted = [e[3][PKTS] for e in c.read(c.entry("Ingress.counts"))]
        if (got, seen, counted) != (want, entries, cells):
            checks.equal(f"list {number}", (got, seen, counted), (want, entries, cells))
            return
    checks.equal(f"{rounds} random lists", True, True)


with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0,no-rx=1"}],
                 "bfrt": {"listen": ADDRESS}}) as sw:
        with Controller(ADDRESS) as controller:
            controller.bind()
            filled(controller)
            one_of_each(controller)
            many(controller)
            atomic(controller)
            random_lists(controller, 1000)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
