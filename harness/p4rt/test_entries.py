# SPDX-License-Identifier: Apache-2.0
"""A controller of P4Runtime and `silken run`: entries of exact, ternary, range and prefix tables with what hangs on
them, default entries, members and groups, cells, copies of packets; reads of one, of all, of some; and the status of
each mistake."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/p4rt", "harness/control"]
from client import Client, Expect, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
INVALID, NOT_FOUND, EXISTS, DENIED, EXHAUSTED, FAILED_PRECONDITION, RANGE, UNIMPLEMENTED = 3, 5, 6, 7, 8, 9, 11, 12
MAC, A, I, VALID = "hdr.ethernet.dst_addr", "hdr.order.a", "hdr.order.i", "hdr.order.$valid"

checks = Checks()
fails, updates_fail = Expect(checks).fails, Expect(checks).updates_fail


def forward(c, mac, port=1, **more):
    return c.entry("Ingress.forward", {MAC: mac}, ("Ingress.send", [port]), **more)


def port_of(entity):
    return int.from_bytes(entity.table_entry.action.action.params[0].value, "big")


def mac_of(entity):
    return int.from_bytes(entity.table_entry.match[0].exact.value, "big")


def exact(c):
    c.write(*[c.update("INSERT", forward(c, mac, mac)) for mac in range(1, 6)])
    found = c.read(c.entry("Ingress.forward", {MAC: 3}))
    checks.equal("an entry as it was written", found, [forward(c, 3, 3)])
    checks.equal("all of them", sorted(map(mac_of, c.read(c.entry("Ingress.forward")))), [1, 2, 3, 4, 5])
    updates_fail("each update is tried", [0, EXISTS, NOT_FOUND, NOT_FOUND, 0], c,
                 c.update("MODIFY", forward(c, 1, 11)), c.update("INSERT", forward(c, 3)),
                 c.update("MODIFY", forward(c, 9)), c.update("DELETE", forward(c, 9)),
                 c.update("MODIFY", forward(c, 2, 12)))
    checks.equal("those that were good were made", [port_of(c.read(c.entry("Ingress.forward", {MAC: m}))[0])
                                                   for m in (1, 2, 3)], [11, 12, 3])
    c.write(c.update("DELETE", c.entry("Ingress.forward", {MAC: 5})))
    checks.equal("what is gone reads as nothing", c.read(c.entry("Ingress.forward", {MAC: 5})), [])
    c.write(c.update("INSERT", forward(c, b"\0\0\0\0\0\0\0\x05", b"\0\0\0\x01")))
    checks.equal("any number of bytes is read, the shortest are sent", c.read(c.entry("Ingress.forward", {MAC: 5})),
                 [forward(c, 5, 1)])
    c.write(c.update("INSERT", forward(c, 2 ** 48 - 1)))
    for what, key, port, status in (("a key of 49 bits", 2 ** 48, 1, RANGE), ("an empty key", b"", 1, RANGE),
                                    ("an argument of 10 bits", 7, 512, RANGE),
                                    ("an empty argument", 7, b"", RANGE)):
        updates_fail(what, [status], c, c.update("INSERT", forward(c, key, port)))
    for i in range(64 - 6):
        c.write(c.update("INSERT", forward(c, 1000 + i)))
    updates_fail("the table is full", [EXHAUSTED], c, c.update("INSERT", forward(c, 2000)))
    c.write(*[c.update("DELETE", forward(c, 1000 + i)) for i in range(64 - 6)])


def attached(c):
    counts, meter = pb.CounterData(packet_count=7, byte_count=700), pb.MeterConfig(cir=10, cburst=20, pir=30, pburst=40)
    wanted = {"counter_data": pb.CounterData(), "meter_config": pb.MeterConfig()}
    c.write(c.update("MODIFY", forward(c, 3, 4, counter_data=counts, meter_config=meter, idle_timeout_ns=5 * 10 ** 9,
                                       metadata=b"mine", controller_metadata=99)))
    e = c.read(c.entry("Ingress.forward", {MAC: 3}, time_since_last_hit=pb.TableEntry.IdleTimeout(),
                       **wanted))[0].table_entry
    checks.equal("what hangs on it", (e.counter_data, e.meter_config, e.idle_timeout_ns, e.metadata,
                                      e.controller_metadata, e.HasField("time_since_last_hit")),
                 (counts, meter, 5 * 10 ** 9, b"mine", 99, True))
    e = c.read(c.entry("Ingress.forward", {MAC: 3}))[0].table_entry
    checks.equal("only what is asked for", (e.HasField("counter_data"), e.HasField("meter_config"),
                                            e.HasField("time_since_last_hit")), (False, False, False))
    c.write(c.update("MODIFY", forward(c, 3, 5)))
    e = c.read(c.entry("Ingress.forward", {MAC: 3}, **wanted))[0].table_entry
    checks.equal("counts stay, the rest is as the update says", (e.counter_data, e.HasField("meter_config"),
                                                                  e.idle_timeout_ns, e.metadata),
                 (counts, False, 0, b""))
    direct = pb.Entity()
    direct.direct_counter_entry.table_entry.CopyFrom(c.entry("Ingress.forward", {MAC: 3}).table_entry)
    found = c.read(direct)[0].direct_counter_entry
    checks.equal("the counter alone", (found.data, found.table_entry.HasField("action")), (counts, False))
    direct.direct_counter_entry.data.packet_count = 1
    c.write(c.update("MODIFY", direct))
    checks.equal("set", c.read(direct)[0].direct_counter_entry.data.packet_count, 1)
    of_meter = pb.Entity()
    of_meter.direct_meter_entry.table_entry.CopyFrom(direct.direct_counter_entry.table_entry)
    of_meter.direct_meter_entry.config.CopyFrom(meter)
    c.write(c.update("MODIFY", of_meter))
    checks.equal("the meter alone", c.read(of_meter)[0].direct_meter_entry.config, meter)
    of_meter.direct_meter_entry.ClearField("config")
    c.write(c.update("MODIFY", of_meter))
    checks.equal("without a configuration", c.read(of_meter)[0].direct_meter_entry.HasField("config"), False)
    all_counters = pb.Entity()
    all_counters.direct_counter_entry.table_entry.SetInParent()
    checks.equal("all counters of all tables", len(c.read(all_counters)), len(c.read(c.entry("Ingress.forward"))))
    updates_fail("mistakes in them", [INVALID] * 6 + [NOT_FOUND], c,
                 c.update("INSERT", direct),
                 c.update("MODIFY", forward(c, 3, 1, counter_data=pb.CounterData(packet_count=-1))),
                 c.update("MODIFY", forward(c, 3, 1, idle_timeout_ns=-1)),
                 c.update("MODIFY", forward(c, 3, 1, meter_config=pb.MeterConfig(cir=-1))),
                 c.update("INSERT", prefix(c, 0x0a000000, 8, counter_data=counts)),
                 c.update("INSERT", prefix(c, 0x0a000000, 8, idle_timeout_ns=1)),
                 c.update("MODIFY", of_unknown(c)))


def of_unknown(c):
    entity = pb.Entity()
    entity.direct_counter_entry.table_entry.CopyFrom(c.entry("Ingress.forward", {MAC: 77}).table_entry)
    entity.direct_counter_entry.data.packet_count = 1
    return entity


def prefix(c, value, bits, **more):
    return c.entry("Ingress.prefixes", {A: (value, bits)}, ("Ingress.level", []), **more)


def noted(c, a, i, priority=1, valid=1, **more):
    key = {VALID: valid}
    if a is not None:
        key[A] = a
    if i is not None:
        key[I] = i
    return c.entry("Ingress.filter", key, ("Ingress.noted", [9]), priority=priority, **more)


def kinds(c):
    c.write(*[c.update("INSERT", e) for e in (prefix(c, 0x0a000000, 8), prefix(c, 0x0a010000, 16),
                                              c.entry("Ingress.prefixes", {}, ("Ingress.level", [])))])
    checks.equal("prefixes", len(c.read(c.entry("Ingress.prefixes"))), 3)
    checks.equal("one of them", c.read(prefix(c, 0x0a010000, 16)), [prefix(c, 0x0a010000, 16)])
    updates_fail("mistakes in prefixes", [INVALID] * 5, c,
                 c.update("INSERT", prefix(c, 0x0a000001, 8)), c.update("INSERT", prefix(c, 0, 0)),
                 c.update("INSERT", prefix(c, 0, 33)), c.update("INSERT", prefix(c, 0, -1)),
                 c.update("INSERT", prefix(c, 0x0b000000, 8, priority=1)))
    some = [noted(c, (0x100, 0xff00), (1, 5), 10), noted(c, (0x100, 0xff00), (1, 5), 20), noted(c, None, None, 30)]
    c.write(*[c.update("INSERT", e) for e in some])
    order = [e.table_entry.priority for e in c.read(c.entry("Ingress.filter"))]
    checks.equal("the larger priority is before the smaller", order, [30, 20, 10])
    checks.equal("one of a priority", c.read(noted(c, (0x100, 0xff00), (1, 5), 20)), [some[1]])
    checks.equal("all of a priority", c.read(c.entry("Ingress.filter", priority=30)), [some[2]])
    updates_fail("mistakes in ternary and range keys", [INVALID] * 8 + [EXISTS], c,
                 *[c.update("INSERT", e) for e in (
                     noted(c, (0x101, 0xff00), (1, 5)), noted(c, (0, 0), (1, 5)), noted(c, (1, 1), (5, 1)),
                     noted(c, (1, 1), (0, 255)), noted(c, (1, 1), (1, 5), 0), noted(c, (1, 1), (1, 5), -1),
                     c.entry("Ingress.filter", {A: (1, 1)}, ("Ingress.noted", [9]), priority=1),
                     c.entry("Ingress.filter", {VALID: 1}, ("Ingress.noted", []), priority=1), some[0])])
    c.write(*[c.update("DELETE", e) for e in some])
    for bad in ("twice", "unknown", "kind"):
        e = forward(c, 50)
        if bad == "twice":
            e.table_entry.match.add().CopyFrom(e.table_entry.match[0])
        elif bad == "unknown":
            e.table_entry.match[0].field_id = 9
        else:
            e.table_entry.match[0].ternary.value = e.table_entry.match[0].ternary.mask = b"\1"
        updates_fail(f"a field: {bad}", [INVALID], c, c.update("INSERT", e))


def actions(c):
    none = c.entry("Ingress.forward", {MAC: 60}, ("Ingress.none", []))
    updates_fail("an action of the default entry alone", [DENIED], c, c.update("INSERT", none))
    missing, unknown, twice, other, foreign = (forward(c, 60) for _ in range(5))
    missing.table_entry.ClearField("action")
    unknown.table_entry.action.action.params[0].param_id = 3
    twice.table_entry.action.action.params.add(param_id=1, value=b"\1")
    other.table_entry.action.action.action_id = 1
    foreign.table_entry.action.action_profile_member_id = 1
    updates_fail("mistakes in actions", [INVALID] * 5, c,
                 *[c.update("INSERT", e) for e in (missing, unknown, twice, other, foreign)])
    nowhere = forward(c, 60)
    nowhere.table_entry.table_id = 5
    untyped = c.update("INSERT", forward(c, 60))
    untyped.type = 0
    updates_fail("mistakes in updates", [NOT_FOUND, INVALID, INVALID], c, c.update("INSERT", nowhere), untyped,
                 pb.Update(type=pb.Update.INSERT))
    for number, name in ((1, "extern_entry"), (10, "value_set_entry")):
        entity = pb.Entity()
        getattr(entity, name).SetInParent()
        updates_fail(f"not served: {name}", [UNIMPLEMENTED], c, c.update("MODIFY", entity))
        fails(f"not read: {name}", "UNIMPLEMENTED", c.read, entity)
        checks.equal("its number", pb.Entity.DESCRIPTOR.fields_by_name[name].number, number)
    fails("all or nothing", "UNIMPLEMENTED", c.write, atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR)
    fails("a table that is not there", "NOT_FOUND", c.read, nowhere)
    fails("a key without a table", "INVALID_ARGUMENT", c.read, without_table(c))
    fails("nothing to read", "INVALID_ARGUMENT", c.read, pb.Entity())
    checks.equal("all entries of all tables", len(c.read(c.entry())),
                 sum(len(c.read(c.entry(t.preamble.name))) for t in c.info.tables))


def without_table(c):
    e = forward(c, 1)
    e.table_entry.table_id = 0
    return e


def defaults(c):
    def default(table, action=None, **more):
        return c.entry(table, None, action, is_default_action=True, **more)
    before = c.read(default("Ingress.filter"))
    checks.equal("a default entry", before[0].table_entry.is_default_action, True)
    c.write(c.update("MODIFY", default("Ingress.filter", ("Ingress.noted", [5]), metadata=b"d")))
    after = c.read(default("Ingress.filter"))[0].table_entry
    checks.equal("changed", (after.action.action.params[0].value, after.metadata), (b"\5", b"d"))
    c.write(c.update("MODIFY", default("Ingress.filter")))
    checks.equal("as the program has it", c.read(default("Ingress.filter")), before)
    updates_fail("mistakes in default entries", [INVALID, INVALID, INVALID, INVALID, DENIED, DENIED], c,
                 c.update("INSERT", default("Ingress.filter", ("Ingress.noted", [5]))),
                 c.update("DELETE", default("Ingress.filter")),
                 c.update("MODIFY", default("Ingress.filter", ("Ingress.noted", [5]), priority=4)),
                 c.update("MODIFY", c.entry("Ingress.filter", {VALID: 1}, ("Ingress.noted", [5]),
                                            is_default_action=True)),
                 c.update("MODIFY", default("Ingress.forward", ("Ingress.none", []))),
                 c.update("MODIFY", default("Ingress.forward")))


def member(c, number, value=0, profile="Ingress.members"):
    entity = pb.Entity()
    m = entity.action_profile_member
    m.action_profile_id, m.member_id = c.id("action_profiles", profile), number
    m.action.CopyFrom(c.action("Ingress.put", [value]))
    return entity


def group(c, number, members, size=0, profile="Ingress.members"):
    entity = pb.Entity()
    g = entity.action_profile_group
    g.action_profile_id, g.group_id, g.max_size = c.id("action_profiles", profile), number, size
    for one, weight in members:
        g.members.add(member_id=one, weight=weight)
    return entity


def profiles(c):
    c.write(*[c.update("INSERT", member(c, m, 100 + m)) for m in (1, 2, 3)])
    checks.equal("a member", c.read(member(c, 2)), [member(c, 2, 102)])
    checks.equal("all members", len(c.read(member(c, 0))), 3)
    c.write(c.update("MODIFY", member(c, 2, 7)))
    c.write(c.update("INSERT", group(c, 5, [(1, 2), (2, 1)], 4)))
    checks.equal("a group with weights", c.read(group(c, 5, [])), [group(c, 5, [(1, 2), (2, 1)], 4)])
    c.write(c.update("MODIFY", group(c, 5, [(2, 1), (3, 3)], 4)))
    checks.equal("changed", c.read(group(c, 0, [])), [group(c, 5, [(2, 1), (3, 3)], 4)])
    entry = c.entry("Ingress.selected", {I: (1, 255)}, group=5, priority=3)
    c.write(c.update("INSERT", entry))
    checks.equal("an entry names it", c.read(entry), [entry])
    c.write(c.update("MODIFY", c.entry("Ingress.selected", {I: (1, 255)}, member=3, priority=3)))
    updates_fail("mistakes in members", [EXISTS, NOT_FOUND, NOT_FOUND, FAILED_PRECONDITION, INVALID, INVALID, NOT_FOUND],
                 c, c.update("INSERT", member(c, 1)), c.update("MODIFY", member(c, 9)),
                 c.update("DELETE", member(c, 9)), c.update("DELETE", member(c, 3)), c.update("INSERT", member(c, 0)),
                 c.update("INSERT", without_action(c)),
                 c.update("INSERT", c.entry("Ingress.selected", {I: (2, 255)}, member=9, priority=3)))
    updates_fail("mistakes in groups", [EXISTS, NOT_FOUND, NOT_FOUND, NOT_FOUND, INVALID, INVALID, INVALID, EXHAUSTED,
                                        INVALID], c,
                 c.update("INSERT", group(c, 5, [])), c.update("MODIFY", group(c, 6, [])),
                 c.update("DELETE", group(c, 6, [])), c.update("INSERT", group(c, 6, [(9, 1)])),
                 c.update("INSERT", group(c, 6, [(1, 0)])), c.update("INSERT", group(c, 6, [(1, 1), (1, 1)])),
                 c.update("MODIFY", group(c, 5, [(1, 1)], 5)), c.update("INSERT", group(c, 6, [(1, 9)])),
                 c.update("INSERT", group(c, 6, [(1, 1)], profile="Ingress.profile")))
    c.write(c.update("MODIFY", c.entry("Ingress.selected", {I: (1, 255)}, group=5, priority=3)))
    updates_fail("a group that an entry names", [FAILED_PRECONDITION], c, c.update("DELETE", group(c, 5, [])))
    watching = group(c, 6, [(1, 1)])
    watching.action_profile_group.members[0].watch_port = b"\x01\xff" # there is no such port
    direct = c.entry("Ingress.selected", {I: (4, 255)}, ("Ingress.put", [1]), priority=3)
    updates_fail("a port that is not there, and an action in place of a member", [INVALID, INVALID], c, c.update("INSERT", watching),
                 c.update("INSERT", direct))
    c.write(c.update("DELETE", entry), c.update("DELETE", group(c, 5, [])),
            *[c.update("DELETE", member(c, m)) for m in (1, 2, 3)])
    wide = pb.Entity()
    wide.action_profile_member.action_profile_id = c.id("action_profiles", "Ingress.profile")
    wide.action_profile_member.member_id = 1
    wide.action_profile_member.action.CopyFrom(c.action("Ingress.put_wide", [2 ** 127 + 5, b"\xff\xff\xfe"]))
    c.write(c.update("INSERT", wide))
    params = c.read(wide)[0].action_profile_member.action.params
    checks.equal("128 bits, and a negative number", [p.value for p in params],
                 [(2 ** 127 + 5).to_bytes(16, "big"), b"\xfe"])
    wide.action_profile_member.action.params[1].value = b"\0\x80"
    updates_fail("a signed argument that is too large", [RANGE], c, c.update("MODIFY", wide))
    c.write(c.update("DELETE", wide))


def without_action(c):
    entity = member(c, 8)
    entity.action_profile_member.ClearField("action")
    return entity


def cell(c, kind, name, index=None, **data):
    entity = pb.Entity()
    e = getattr(entity, f"{kind}_entry")
    setattr(e, f"{kind}_id", c.id(f"{kind}s", name) if name else 0)
    if index is not None:
        e.index.index = index
    for field, value in data.items():
        getattr(e, field).CopyFrom(value)
    return entity


def cells(c):
    counts = pb.CounterData(packet_count=5, byte_count=2 ** 40)
    c.write(c.update("MODIFY", cell(c, "counter", "Ingress.counts", 3, data=counts)))
    checks.equal("a counter", c.read(cell(c, "counter", "Ingress.counts", 3)),
                 [cell(c, "counter", "Ingress.counts", 3, data=counts)])
    checks.equal("all its cells", len(c.read(cell(c, "counter", "Ingress.counts"))), 16)
    checks.equal("all counters", len(c.read(cell(c, "counter", None))), 16 + 512)
    meter = pb.MeterConfig(cir=125000, cburst=250, pir=250000, pburst=500)
    c.write(c.update("MODIFY", cell(c, "meter", "Ingress.of_bytes", 2, config=meter)))
    checks.equal("a meter of bytes", c.read(cell(c, "meter", "Ingress.of_bytes", 2))[0].meter_entry.config, meter)
    c.write(c.update("MODIFY", cell(c, "meter", "Ingress.of_bytes", 2)))
    checks.equal("reset", c.read(cell(c, "meter", "Ingress.of_bytes", 2))[0].meter_entry.HasField("config"), False)
    pair = pb.P4Data()
    for value in (b"\x01\x02", b"\0"):
        pair.tuple.members.add(bitstring=value)
    c.write(c.update("MODIFY", cell(c, "register", "Ingress.pairs", 1, data=pair)))
    checks.equal("a pair", c.read(cell(c, "register", "Ingress.pairs", 1))[0].register_entry.data, pair)
    one = pb.P4Data(bitstring=b"\x01")
    c.write(c.update("MODIFY", cell(c, "register", "Ingress.flags", 99, data=one)))
    checks.equal("a bit", c.read(cell(c, "register", "Ingress.flags", 99))[0].register_entry.data, one)
    updates_fail("mistakes in cells", [INVALID, RANGE, UNIMPLEMENTED, INVALID, NOT_FOUND, INVALID, RANGE, INVALID], c,
                 c.update("MODIFY", cell(c, "counter", "Ingress.counts", -1, data=counts)),
                 c.update("MODIFY", cell(c, "counter", "Ingress.counts", 16, data=counts)),
                 c.update("MODIFY", cell(c, "counter", "Ingress.counts", data=counts)),
                 c.update("INSERT", cell(c, "counter", "Ingress.counts", 1, data=counts)),
                 c.update("MODIFY", cell(c, "counter", None, 1, data=counts)),
                 c.update("MODIFY", cell(c, "register", "Ingress.pairs", 1, data=one)),
                 c.update("MODIFY", cell(c, "register", "Ingress.flags", 1, data=pb.P4Data(bitstring=b"\2"))),
                 c.update("MODIFY", cell(c, "meter", "Ingress.of_bytes", 1, config=pb.MeterConfig(pir=-1))))
    fails("a cell beyond the last", "OUT_OF_RANGE", c.read, cell(c, "register", "Ingress.flags", 100))
    fails("an index of nothing", "INVALID_ARGUMENT", c.read, cell(c, "counter", None, 1))


def multicast(number, replicas, **more):
    entity = pb.Entity()
    e = entity.packet_replication_engine_entry.multicast_group_entry
    e.multicast_group_id = number
    for port, instance in replicas:
        e.replicas.add(port=port.to_bytes((port.bit_length() + 7) // 8 or 1, "big"), instance=instance)
    for field, value in more.items():
        setattr(e, field, value)
    return entity


def clone(number, port=1, **more):
    entity = pb.Entity()
    e = entity.packet_replication_engine_entry.clone_session_entry
    e.session_id = number
    e.replicas.add(port=port.to_bytes((port.bit_length() + 7) // 8 or 1, "big"))
    for field, value in more.items():
        setattr(e, field, value)
    return entity


def copies(c):
    c.write(c.update("INSERT", multicast(5, [(1, 1), (2, 1), (1, 2)], metadata=b"m")))
    checks.equal("a multicast group", c.read(multicast(5, [])), [multicast(5, [(1, 1), (2, 1), (1, 2)], metadata=b"m")])
    c.write(c.update("MODIFY", multicast(5, [(3, 0)])), c.update("INSERT", multicast(6, [])))
    checks.equal("all of them", c.read(multicast(0, [])), [multicast(5, [(3, 0)]), multicast(6, [])])
    backup = multicast(7, [(1, 1)])
    backup.packet_replication_engine_entry.multicast_group_entry.replicas[0].backup_replicas.add(port=b"\2")
    updates_fail("mistakes in groups", [EXISTS, NOT_FOUND, NOT_FOUND, INVALID, INVALID, INVALID, INVALID, UNIMPLEMENTED],
                 c, c.update("INSERT", multicast(5, [])), c.update("MODIFY", multicast(9, [])),
                 c.update("DELETE", multicast(9, [])), c.update("INSERT", multicast(0, [])),
                 c.update("INSERT", multicast(9, [(1, 1), (1, 1)])), c.update("INSERT", multicast(9, [(1, 65536)])),
                 c.update("INSERT", multicast(9, [(511, 1)])), c.update("INSERT", backup))
    c.write(c.update("DELETE", multicast(5, [])), c.update("DELETE", multicast(6, [])))
    checks.equal("all are gone", c.read(multicast(0, [])), [])
    c.write(c.update("INSERT", clone(7, 3, class_of_service=2, packet_length_bytes=128)))
    checks.equal("a clone session", c.read(clone(7)), [clone(7, 3, class_of_service=2, packet_length_bytes=128)])
    c.write(c.update("MODIFY", clone(7, 0xfffffffd)))
    checks.equal("to the CPU port", c.read(clone(0)), [clone(7, 64)])
    updates_fail("mistakes in sessions", [EXISTS, NOT_FOUND, INVALID, INVALID, INVALID], c,
                 c.update("INSERT", clone(7)), c.update("DELETE", clone(8)), c.update("INSERT", clone(0)),
                 c.update("INSERT", clone(2000)), c.update("INSERT", clone(8, class_of_service=9)))
    c.write(c.update("DELETE", clone(7)))
    checks.equal("it is gone", c.read(clone(0)), [])
    for kind, entity, every in (("group", multicast(5, [(1, 0)]), multicast(0, [])), ("session", clone(7), clone(0))):
        part = entity.packet_replication_engine_entry
        replica = getattr(part, part.WhichOneof("type")).replicas[0]
        replica.egress_port = 3
        c.write(c.update("INSERT", entity))
        checks.equal(f"a {kind}'s port as a number", c.read(every), [entity])
        replica.port = b"\4"
        c.write(c.update("MODIFY", entity))
        checks.equal(f"a {kind}'s port as bytes", c.read(every), [entity])
        c.write(c.update("DELETE", entity))


with tempfile.TemporaryDirectory(prefix="silken-p4rt-") as folder:
    ADDRESS = f"unix:{folder}/p.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0"}],
                 "p4runtime": {"listen": ADDRESS}}) as sw:
        with Client(ADDRESS, 1) as client:
            for part in (exact, attached, kinds, actions, defaults, profiles, cells, copies):
                part(client)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
