# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and `silken run`: clients and their program, entries of exact, ternary, range and prefix
tables with what hangs on them, default entries, and the status of each mistake."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
CONSTANTS = os.path.abspath("harness/stf/lang/order.p4")
OK, INVALID, NOT_FOUND, EXISTS, EXHAUSTED, UNIMPLEMENTED = 0, 3, 5, 6, 8, 12
MAC = "hdr.ethernet.dst_addr"

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def distinct_ids(c):
    """No two fields of an entry have the same id."""
    for table in c.tables.values():
        for action in table.get("action_specs") or [None]:
            found = [f["id"] for f in c.data_fields(table, action).values()]
            checks.equal(f"ids of {table['name']}", len(found), len(set(found)))


def clients(address):
    with Controller(address, client=1) as c:
        checks.equal("the program's name", c.p4_name, "everything")
        checks.equal("its pipes", [list(p.pipe_scope) for p in c.config.config[0].profiles], [[0, 1, 2, 3]])
        fails("before it is bound", "UNKNOWN", c.read, c.entry("Ingress.forward"))
        fails("another program", "NOT_FOUND", c.bind, "other")
        fails("another device", "NOT_FOUND", c.bind, device_id=1)
        fails("no program", "INVALID_ARGUMENT", unbound, c)
        c.bind()
        fails("owned by another", "ALREADY_EXISTS", second, address)
        fails("the same client id", "INVALID_ARGUMENT", Controller, address, client=1)
        fails("owned already", "ALREADY_EXISTS", c.bind)
        checks.equal("subscribed twice", c.read(c.entry("Ingress.filter"))[-1][4], True)
        fails("a program without its text", "INVALID_ARGUMENT", c.bind, action=pb.SetForwardingPipelineConfigRequest.VERIFY,
              base_path="/tmp/nothing")
        request = c.request(pb.ReadRequest)
        request.target.device_id = 1
        fails("device of a bound client", "INVALID_ARGUMENT", c.read_raw, request=request)
    with Controller(address, client=2, subscribe=False) as c:
        fails("an unknown client", "UNAVAILABLE", c.bind)
        fails("no program named", "NOT_FOUND", c.read, c.entry("Ingress.forward"))
        checks.equal("a program named", len(c.read(c.entry("Ingress.filter"), p4_name="everything")), 1)
        for method in ("Write", "SetForwardingPipelineConfig", "GetForwardingPipelineConfig"):
            fails(f"garbage in {method}", "INTERNAL", garbage, c, method)
        fails("garbage in Read", "INTERNAL", c.read_raw, request=b"\xff\xff\xff")


def unbound(c):
    from controller import call
    return call(c.method["SetForwardingPipelineConfig"], pb.SetForwardingPipelineConfigRequest(client_id=c.client))


def second(address):
    with Controller(address, client=3) as c:
        c.bind()


def garbage(c, method):
    from controller import call
    return call(c.method[method], b"\x0a\xff\xff\xff\xff\x0fx")


def data_action(c, mac):
    return c.read(c.entry("Ingress.forward", {MAC: mac}))[0][2]


def forward(c, what, mac, port=1, **data):
    return c.update(what, "Ingress.forward", {MAC: mac}, "send", {"port": port, **data})


def exact(c):
    """An exact table with a counter, a meter and ageing."""
    c.write(*[forward(c, "INSERT", mac, mac) for mac in range(1, 6)])
    table, key, action, data, default = c.read(c.entry("Ingress.forward", {MAC: 3}))[0]
    checks.equal("an entry", (table, key, action, data["port"], default), ("pipe.Ingress.forward", {MAC: 3},
                                                                           "Ingress.send", 3,
                                                                           False))
    checks.equal("what it has", sorted(data), sorted(
        ["port", "$COUNTER_SPEC_BYTES", "$COUNTER_SPEC_PKTS", "$METER_SPEC_CIR_PPS", "$METER_SPEC_PIR_PPS",
         "$METER_SPEC_CBS_PKTS",
         "$METER_SPEC_PBS_PKTS", "$ENTRY_TTL", "$ENTRY_HIT_STATE"]))
    checks.equal("a meter that nobody has set", data["$METER_SPEC_CIR_PPS"], 2 ** 64 - 1)
    everything = c.read(c.entry("Ingress.forward"))
    checks.equal("all of them", sorted(e[1].get(MAC, 0) for e in everything), [0, 1, 2, 3, 4, 5])
    checks.equal("the default entry last", (everything[-1][4], everything[-1][2]), (True, "Ingress.none"))
    update_fails("the same key twice", EXISTS, c, forward(c, "INSERT", 3))
    update_fails("MODIFY of what is not there", NOT_FOUND, c, forward(c, "MODIFY", 9))
    update_fails("DELETE of what is not there", NOT_FOUND, c, c.update("DELETE", "Ingress.forward", {MAC: 9}))
    c.write(forward(c, "MODIFY", 3, 7, **{"$COUNTER_SPEC_PKTS": 70, "$COUNTER_SPEC_BYTES": 7000, "$ENTRY_TTL": 100000}))
    data = c.read(c.entry("Ingress.forward", {MAC: 3}))[0][3]
    checks.equal("modified", (data["port"], data["$COUNTER_SPEC_PKTS"], data["$COUNTER_SPEC_BYTES"]), (7, 70, 7000))
    checks.equal("its time to live", 90000 < data["$ENTRY_TTL"] <= 100000, True)
    c.write(forward(c, "MODIFY", 3, 8))
    checks.equal("counts stay", c.read(c.entry("Ingress.forward", {MAC: 3}))[0][3]["$COUNTER_SPEC_PKTS"], 70)
    c.write(c.update("MODIFY", "Ingress.forward", {MAC: 3}, data={"$COUNTER_SPEC_PKTS": 5}))
    data = c.read(c.entry("Ingress.forward", {MAC: 3}))[0][3]
    checks.equal("without an action", (data["port"], data["$COUNTER_SPEC_PKTS"]), (8, 5))
    # the chip's driver begins with zeros and sets what a message has: its tests of errors rely on it
    c.write(c.update("INSERT", "Ingress.forward", {MAC: 33}, "send"))
    checks.equal("arguments that are not given are 0", c.read(c.entry("Ingress.forward", {MAC: 33}))[0][3]["port"], 0)
    c.write(c.update("DELETE", "Ingress.forward", {MAC: 33}))
    ACTION = data_action(c, 3)
    c.write(c.update("MODIFY", "Ingress.forward", {MAC: 3}, ACTION, {"$COUNTER_SPEC_PKTS": 6}))
    data = c.read(c.entry("Ingress.forward", {MAC: 3}))[0][3]
    checks.equal("its action without arguments", (data["port"], data["$COUNTER_SPEC_PKTS"]), (8, 6))
    update_fails("no arguments and nothing else", INVALID, c, c.update("MODIFY", "Ingress.forward", {MAC: 3}, ACTION))
    c.write(c.update("MODIFY", "Ingress.forward", {MAC: 3}, "send", {"port": 8}, reset_stats=True))
    checks.equal("counts set back", c.read(c.entry("Ingress.forward", {MAC: 3}))[0][3]["$COUNTER_SPEC_PKTS"], 0)
    one = c.read(c.entry("Ingress.forward", {MAC: 3}, "send", {"port": None}))[0]
    checks.equal("some fields", one[3], {"port": 8})
    checks.equal("the key only", c.read(c.entry("Ingress.forward", {MAC: 3}, key_only=True))[0][1:4], ({MAC: 3}, None,
                                                                                                       {}))
    reply = c.write(forward(c, "INSERT_OR_MODIFY", 3, 2), forward(c, "INSERT_OR_MODIFY", 6, 2))
    checks.equal("INSERT_OR_MODIFY says what it did", [(s.code, s.canonical_code) for s in reply.status], [(EXISTS,
                                                                                                            OK)])
    checks.equal("and did it", [c.read(c.entry("Ingress.forward", {MAC: m}))[0][3]["port"] for m in (3, 6)], [2, 2])
    c.write(c.update("DELETE", "Ingress.forward", {MAC: 3}))
    update_fails("is gone", NOT_FOUND, c, c.update("DELETE", "Ingress.forward", {MAC: 3}))
    c.write(c.update("DELETE", "Ingress.forward"))
    checks.equal("all are gone", len(c.read(c.entry("Ingress.forward"))), 1)


def kinds(c):
    """Ternary, range and prefix keys."""
    key = {"hdr.order.a": (0x1234, 0xff00), "hdr.order.i": (3, 9), "hdr.order.$valid": 1, "$MATCH_PRIORITY": 5}
    c.write(c.update("INSERT", "Ingress.filter", key, "noted", {"group": 77}))
    got = c.read(c.entry("Ingress.filter"))
    checks.equal("ternary, range and exact", got[0][1:4], ({**key, "hdr.order.a": (0x1200, 0xff00)}, "Ingress.noted",
                                                           {"group": 77, "Ingress.by_entry.first": [100] * 4,
                                                            "Ingress.by_entry.second": [200] * 4}))
    checks.equal("by its key", c.read(c.entry("Ingress.filter", key))[0][3]["group"], 77)
    c.write(c.update("INSERT", "Ingress.filter", {"hdr.order.$valid": 0, "$MATCH_PRIORITY": 6}, "noted", {"group": 1}))
    checks.equal("keys left out", c.read(c.entry("Ingress.filter"))[1][1],
                 {"hdr.order.a": (0, 0), "hdr.order.i": (0, 255), "hdr.order.$valid": 0, "$MATCH_PRIORITY": 6})
    update_fails("another priority", NOT_FOUND, c, c.update("DELETE", "Ingress.filter", {**key, "$MATCH_PRIORITY": 4}))
    update_fails("an exact key left out", INVALID, c, c.update("DELETE", "Ingress.filter", {"$MATCH_PRIORITY": 4}))
    update_fails("a range upside down", INVALID, c,
                 c.update("INSERT", "Ingress.filter", {**key, "hdr.order.i": (9, 3)}, "noted", {"group": 1}))
    prefix = {"hdr.order.a": (0x0a010203, 16)}
    c.write(c.update("INSERT", "Ingress.prefixes", prefix, "level"))
    checks.equal("a prefix", c.read(c.entry("Ingress.prefixes"))[0][1], {"hdr.order.a": (0x0a010000, 16)})
    update_fails("a prefix too long", INVALID, c, c.update("INSERT", "Ingress.prefixes", {"hdr.order.a": (1, 33)},
                                                           "level"))
    c.write(c.update("DELETE", "Ingress.prefixes", prefix), c.update("DELETE", "Ingress.filter"))
    checks.equal("usage", usage(c, "Ingress.filter"), 0)
    c.write(c.update("INSERT", "IngressParser.types", {"f1": (0x8800, 0xff00)}))
    checks.equal("a value set", [e[1] for e in c.read(c.entry("IngressParser.types"))], [{"f1": (0x8800, 0xff00)}])
    update_fails("a value is not changed", UNIMPLEMENTED, c,
                 c.update("MODIFY", "IngressParser.types", {"f1": (0x8800, 0xff00)}))
    c.write(c.update("DELETE", "IngressParser.types"))


def usage(c, name):
    entity = pb.Entity()
    entity.table_usage.table_id = c.table(name)["id"]
    return c.read_raw(entity)[0].entities[0].table_usage.usage


def defaults(c):
    checks.equal("the program's default", c.read(c.entry("Ingress.filter", default=True))[0][2], "NoAction")
    c.write(c.update("MODIFY", "Ingress.filter", None, "noted", {"group": 9}, default=True))
    checks.equal("set", c.read(c.entry("Ingress.filter", default=True))[0][2:4],
                 ("Ingress.noted", {"group": 9, "Ingress.by_entry.first": [100] * 4,
                                    "Ingress.by_entry.second": [200] * 4}))
    c.write(c.update("MODIFY", "Ingress.filter", None, "noted", {}, default=True))
    checks.equal("an argument that is not given is 0", c.read(c.entry("Ingress.filter", default=True))[0][3]["group"], 0)
    c.write(c.update("DELETE", "Ingress.filter", default=True))
    checks.equal("set back", c.read(c.entry("Ingress.filter", default=True))[0][2], "NoAction")
    update_fails("INSERT of a default entry", UNIMPLEMENTED, c,
                 c.update("INSERT", "Ingress.filter", None, "noted", {"group": 9}, default=True))
    update_fails("a default entry with a key", INVALID, c,
                 c.update("MODIFY", "Ingress.filter", {"hdr.order.$valid": 0}, "noted", {"group": 9}, default=True))
    update_fails("a const default", INVALID, c, c.update("MODIFY", "Ingress.forward", None, "none", default=True))


def members(c):
    """Entries that name members of an action profile."""
    member = {"$ACTION_MEMBER_ID": 4}
    c.write(c.update("INSERT", "Ingress.profile", member, "put_wide", {"value": 1 << 100, "shift": 0xff}))
    checks.equal("a member", c.read(c.entry("Ingress.profile", member))[0][2:4], ("Ingress.put_wide",
                                                                                  {"value": 1 << 100, "shift": 0xff}))
    c.write(c.update("INSERT", "Ingress.profiled", {"hdr.order.i": 1}, data=member))
    checks.equal("an entry names it", c.read(c.entry("Ingress.profiled", {"hdr.order.i": 1}))[0][3], member)
    update_fails("a member in use", EXISTS, c, c.update("DELETE", "Ingress.profile", member))
    update_fails("no such member", NOT_FOUND, c, c.update("INSERT", "Ingress.profiled", {"hdr.order.i": 2},
                                                          data={"$ACTION_MEMBER_ID": 5}))
    c.write(c.update("DELETE", "Ingress.profiled", {"hdr.order.i": 1}), c.update("DELETE", "Ingress.profile", member))


def changed(update, change):
    change(update.entity.table_entry)
    return update


def mistakes(c):
    def wrong(what, status, change, kind="INSERT"):
        update_fails(what, status, c, changed(forward(c, kind, 1), change))
    wrong("an unknown table", NOT_FOUND, lambda e: setattr(e, "table_id", 77))
    wrong("an unknown key field", NOT_FOUND, lambda e: setattr(e.key.fields[0], "field_id", 77))
    wrong("an unknown action", NOT_FOUND, lambda e: setattr(e.data, "action_id", 77))
    wrong("an unknown data field", NOT_FOUND, lambda e: setattr(e.data.fields[0], "field_id", 77))
    wrong("a short key", INVALID, lambda e: setattr(e.key.fields[0].exact, "value", b"\1"))
    wrong("a long key", INVALID, lambda e: setattr(e.key.fields[0].exact, "value", b"\1" * 7))
    wrong("a wide value", INVALID, lambda e: setattr(e.data.fields[0], "stream", b"\2\0"))
    wrong("a short value", INVALID, lambda e: setattr(e.data.fields[0], "stream", b"\2"))
    wrong("text for a number", INVALID, lambda e: setattr(e.data.fields[0], "str_val", "x"))
    wrong("another kind of match", INVALID, lambda e: setattr(e.key.fields[0].lpm, "prefix_len", 3))
    wrong("a field twice", INVALID, lambda e: e.key.fields.append(e.key.fields[0]))
    wrong("no action", INVALID, lambda e: e.ClearField("data"))
    wrong("no key", INVALID, lambda e: e.ClearField("key"))
    wrong("no such pipe", INVALID, lambda e: setattr(e.entry_tgt, "pipe_id", 4))
    wrong("no update type", INVALID, lambda e: None, "UNSPECIFIED")
    wrong("RESET", UNIMPLEMENTED, lambda e: None, "RESET")
    update_fails("an update without an entity", UNIMPLEMENTED, c, pb.Update(type=1))
    fails("an empty read", "UNKNOWN", c.read_raw, pb.Entity(), codes=[INVALID])
    fails("several mistakes", "UNKNOWN", c.write, forward(c, "INSERT", 1), forward(c, "MODIFY", 2), forward(c, "INSERT",
                                                                                                            3),
          forward(c, "INSERT", 1), forward(c, "INSERT", 4), codes=[OK, NOT_FOUND, OK, EXISTS])
    checks.equal("the others are done", usage(c, "Ingress.forward"), 3)
    fails("a read of some", "UNKNOWN", c.read_raw, c.entry("Ingress.forward", {MAC: 1}), c.entry("Ingress.forward",
                                                                                                 {MAC: 9}),
          codes=[OK, NOT_FOUND])
    reply = c.read_raw(c.entry("Ingress.forward", {MAC: 1}), c.entry("Ingress.forward", {MAC: 9}),
                       metadata=[("error_in_resp", "1")])
    checks.equal("errors in the answer", [s.canonical_code for s in reply[0].status], [OK, NOT_FOUND])
    reply = c.write(c.update("DELETE", "Ingress.forward", {MAC: 9}), metadata=[("error_in_resp", "1"),
                                                                               ("ignore_not_found", "1")])
    checks.equal("what was not there", [(s.code, s.canonical_code) for s in reply.status], [(NOT_FOUND, OK)])
    fails("a deadline that has passed", "DEADLINE_EXCEEDED", c.write, forward(c, "INSERT", 8),
          metadata=[("deadline_nsec", "0")])
    fails("an atomicity", "UNIMPLEMENTED", c.write, forward(c, "INSERT", 8), atomicity=3)
    c.write(c.update("DELETE", "Ingress.forward"))
    full = [forward(c, "INSERT", mac) for mac in range(65)]
    fails("a full table", "UNKNOWN", c.write, *full, codes=[OK] * 64 + [EXHAUSTED])
    c.write(c.update("DELETE", "Ingress.forward"))
    update = c.update("MODIFY_INC", "Ingress.forward", {MAC: 1}, "send", {"port": 1})
    said = update_fails("not served yet: MODIFY_INC", UNIMPLEMENTED, c, update)
    checks.has("by its name", said, "pipe.Ingress.forward")


def ids(c):
    for message, wanted in (({"table_name": "pipe.Ingress.forward"}, c.table("Ingress.forward")["id"]),
                            ({"table_name": "pipe.Ingress.forward", "key_field_name": {"field": MAC}}, 1),
                            ({"table_name": "pipe.Ingress.forward", "data_field_name": {"action": "Ingress.send",
                                                                                        "field": "port"}}, 1)):
        entity = pb.Entity(object_id=pb.ObjectId(table_object=pb.ObjectId.TableObject(**message)))
        checks.equal(f"the id of {message}", c.read_raw(entity)[0].entities[0].object_id.id, wanted)
    fails("an unknown name", "UNKNOWN", c.read_raw,
          pb.Entity(object_id=pb.ObjectId(table_object=pb.ObjectId.TableObject(table_name="none"))), codes=[NOT_FOUND])


def handles(c):
    c.write(forward(c, "INSERT", 1, 3))
    table = c.table("Ingress.forward")["id"]
    entity = pb.Entity()
    entity.handle.table_id = table
    entity.handle.key.CopyFrom(c.entry("Ingress.forward", {MAC: 1}).table_entry.key)
    handle = c.read_raw(entity)[0].entities[0].handle.handle_id
    entity = pb.Entity()
    entity.table_entry.table_id, entity.table_entry.handle_id = table, handle
    checks.equal("an entry by its handle", c.read(entity)[0][1], {MAC: 1})
    c.write(c.update("DELETE", "Ingress.forward"))
    fails("a handle of nothing", "UNKNOWN", c.read_raw, entity, codes=[NOT_FOUND])


def constants(c):
    """A table with const entries, whose key has five fields."""
    name = next(n for n, t in c.tables.items() if [k["name"] for k in t["key"]] == ["k1", "k2", "k3", "k4", "k5"])
    action = next(a["name"] for a in c.tables[name]["action_specs"] if a["name"].endswith("found"))
    key = lambda *values: dict(zip(("k1", "k2", "k3", "k4", "k5"), values))  # noqa: E731
    change = lambda what, values, data=None: c.update(  # noqa: E731
        what, name, key(*values), action if data else None, data)
    there, absent = (0, 1, 2, 6, 7), (3, 3, 3, 3, 3)
    before = c.read(c.entry(name))
    checks.equal("const entries", len(before), 3)
    for what, update in (("added to", change("INSERT", absent, {"v": 1})), ("changed", change("MODIFY", there, {"v": 9})),
                         ("shortened", change("DELETE", there)), ("emptied", c.update("DELETE", name)),
                         ("added to or changed", change("INSERT_OR_MODIFY", absent, {"v": 1}))):
        checks.has(f"a const table is {what}", update_fails(f"a const table is {what}", INVALID, c, update), "const")
    update_fails("a key field is missing", INVALID, c, change("INSERT", absent[:4], {"v": 1}))
    fails("of a read as well", "UNKNOWN", c.read, c.entry(name, key(*there[:4])), codes=[INVALID])
    checks.equal("const entries as before", c.read(c.entry(name)), before)


with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0"}], "bfrt": {"listen": ADDRESS}}) as sw:
        checks.has("says where", sw.said(), f"bfrt {ADDRESS}")
        clients(ADDRESS)
        with Controller(ADDRESS, client=9) as controller:
            controller.bind()
            for part in (distinct_ids, exact, kinds, defaults, members, mistakes, ids, handles):
                part(controller)
        checks.equal("the switch ends well", sw.stop(), 0)
    with Switch({"program": CONSTANTS, "ports": [{"port": 1, "device": "net_null0"}], "bfrt": {"listen": ADDRESS}}) as sw:
        with Controller(ADDRESS) as controller:
            controller.bind()
            constants(controller)
        checks.equal("that of const entries, too", sw.stop(), 0)
checks.end()
