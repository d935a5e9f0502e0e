# SPDX-License-Identifier: Apache-2.0
"""What the P4Runtime specification (1.4, with what 1.5 says in other words) demands of a server by the word "must", one row
for each demand that applies: its section, what must be, and the test. Other suites of this folder try many of these at
greater length; this one is the list. Demands on clients, compilers and P4Info are not rows; what a server may refuse
with UNIMPLEMENTED is one where this server does, since it must then say so."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/p4rt", "harness/control"]
from client import Client, Failed, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
OK, INVALID, NOT_FOUND, EXISTS, DENIED, EXHAUSTED, PRECONDITION, RANGE, UNIMPLEMENTED = 0, 3, 5, 6, 7, 8, 9, 11, 12
MAC, A, I, VALID = "hdr.ethernet.dst_addr", "hdr.order.a", "hdr.order.i", "hdr.order.$valid"
NAMES = {"INVALID_ARGUMENT": INVALID, "NOT_FOUND": NOT_FOUND, "PERMISSION_DENIED": DENIED, "RESOURCE_EXHAUSTED": EXHAUSTED,
         "FAILED_PRECONDITION": PRECONDITION, "OUT_OF_RANGE": RANGE, "UNIMPLEMENTED": UNIMPLEMENTED}

ROWS = [] # (section, what must be, function of a client, what it gives)


def must(section, what, gives):
    def add(function):
        ROWS.append((section, what, function, gives))
        return function
    return add


def status(function, *args, **kwargs):
    """A call's: a number."""
    try:
        function(*args, **kwargs)
        return OK
    except Failed as e:
        return NAMES[e.code]


def codes(c, *updates):
    """Of each update."""
    try:
        c.write(*updates)
        return [OK] * len(updates)
    except Failed as e:
        return e.codes() if e.code == "UNKNOWN" else [e.code]


def update(c, what, entity):
    return codes(c, c.update(what, entity))[0]


# ---- what the rows write ----

def forward(c, mac, port=1, **more):
    return c.entry("Ingress.forward", {MAC: mac}, ("Ingress.send", [port]), **more)


def ternary(c, a, priority=1, **more):
    return c.entry("Ingress.filter", {VALID: 1, A: a, **more}, ("Ingress.noted", [1]), priority=priority)


def default(c, table="Ingress.filter", action=("Ingress.noted", [5]), **more):
    return c.entry(table, None, action, is_default_action=True, **more)


def member(c, number, profile=None):
    entity = pb.Entity()
    m = entity.action_profile_member
    m.action_profile_id, m.member_id = profile or c.id("action_profiles", "Ingress.members"), number
    m.action.CopyFrom(c.action("Ingress.put", [number]))
    return entity


def bare_member(c, number):
    entity = member(c, number)
    entity.action_profile_member.ClearField("action")
    return entity


def group(c, number, members=(), size=0, **more):
    return pb.Entity(action_profile_group=pb.ActionProfileGroup(
        action_profile_id=c.id("action_profiles", "Ingress.members"), group_id=number, max_size=size,
        members=[pb.ActionProfileGroup.Member(member_id=m, weight=w, **more) for m, w in members]))


def one_shot(c, i, actions, **more):
    entity = c.entry("Ingress.selected", {I: (i, 255)}, priority=3)
    chosen = entity.table_entry.action.action_profile_action_set
    chosen.SetInParent()
    for value, weight in actions:
        chosen.action_profile_actions.add(action=c.action("Ingress.put", [value]), weight=weight, **more)
    return entity


def cell(c, kind, name, index, **data):
    entity = pb.Entity()
    e = getattr(entity, f"{kind}_entry")
    setattr(e, f"{kind}_id", c.id(f"{kind}s", name))
    if index is not None:
        e.index.index = index
    for field, value in data.items():
        getattr(e, field).CopyFrom(value)
    return entity


def multicast(number, replicas=(), **more):
    entity = pb.Entity()
    e = entity.packet_replication_engine_entry.multicast_group_entry
    e.multicast_group_id = number
    for port, instance in replicas:
        e.replicas.add(port=port.to_bytes(2, "big"), instance=instance)
    for field, value in more.items():
        setattr(e, field, value)
    return entity


def clone(number, port=1, instance=0, **more):
    entity = pb.Entity()
    e = entity.packet_replication_engine_entry.clone_session_entry
    e.session_id = number
    e.replicas.add(port=port.to_bytes(2, "big"), instance=instance)
    for field, value in more.items():
        setattr(e, field, value)
    return entity


def direct(c, kind, entity, **data):
    out = pb.Entity()
    part = getattr(out, f"direct_{kind}_entry")
    part.table_entry.CopyFrom(entity.table_entry)
    for field, value in data.items():
        getattr(part, field).CopyFrom(value)
    return out


def kept(c, *entities):
    """They are written, read, and gone again: what was read."""
    c.write(*[c.update("INSERT", e) for e in entities])
    try:
        return c.read(*entities)
    finally:
        c.write(*[c.update("DELETE", e) for e in reversed(entities)])


def beside(c, entities, function):
    """What 'function' gives while these are there."""
    c.write(*[c.update("INSERT", e) for e in entities])
    try:
        return function()
    finally:
        c.write(*[c.update("DELETE", e) for e in reversed(entities)])


# ---- 5: clients ----

def other(c, *args, **kwargs):
    """A second client of the same switch, for as long as it takes to open its stream."""
    Client(c.address, *args, **kwargs).close()


must("5", "the whole (device, role, election id) tells who is primary: another id writes nothing", DENIED)(
    lambda c: status(c.write, election=9))
must("5.1", "device 0 is none", NOT_FOUND)(lambda c: status(other, c, 1, device=0))
must("5.3", "a device that the server does not know", NOT_FOUND)(lambda c: status(other, c, 1, device=2))
must("5.3", "an election id that another client has", INVALID)(lambda c: status(other, c, 1))
must("5.3", "a client that changes its device", PRECONDITION)(lambda c: stays(c, 11, device=2))
must("5.3", "a client that changes its role", PRECONDITION)(lambda c: stays(c, 12, role="b"))
must("5.3", "a configuration of a role that was not agreed upon", INVALID)(lambda c: configured(c))


def stays(c, election, **more):
    with Client(c.address, election, role="a") as second:
        return status(second.arbitrate, election, **more)


def configured(c):
    with Client(c.address, stream=False) as second:
        second.open()
        second.send(arbitration=pb.MasterArbitrationUpdate(
            device_id=1, role=pb.Role(name="r", config=pb.Any(type_url="x"))))
        return status(second.next)


# ---- 8: messages ----

must("8.2, 9.1", "an entry is read as it was written", True)(
    lambda c: kept(c, forward(c, 1, 2, metadata=b"m", controller_metadata=7)) == [
        forward(c, 1, 2, metadata=b"m", controller_metadata=7)])
must("8.3", "bytes above the value's are taken when they are 0, and the shortest are sent", True)(
    lambda c: beside(c, [forward(c, b"\0\0\0\0\0\0\0\5", b"\0\0\0\1")], lambda: c.read(forward(c, 5))) == [forward(c, 5, 1)])
must("8.3", "a value that does not fit", RANGE)(lambda c: update(c, "INSERT", forward(c, 2 ** 48)))
must("8.3", "an empty value", RANGE)(lambda c: update(c, "INSERT", forward(c, b"")))

# ---- 9.1: entries ----

must("9.1", "metadata are read with the entry", [b"m"])(
    lambda c: [e.table_entry.metadata for e in kept(c, forward(c, 1, metadata=b"m"))])
must("9.1", "controller metadata are, too", [7])(
    lambda c: [e.table_entry.controller_metadata for e in kept(c, forward(c, 1, controller_metadata=7))])
must("9.1", "a priority with ternary and range keys", INVALID)(
    lambda c: update(c, "INSERT", ternary(c, (1, 1), priority=0)))
must("9.1", "none without", INVALID)(lambda c: update(c, "INSERT", forward(c, 1, priority=1)))
must("9.1", "entries of one key and different priorities are two", [OK, OK])(lambda c: two_priorities(c))
must("9.1", "what DELETE does not need is ignored", OK)(lambda c: deletes_by_key(c))
must("9.1", "a Read gives no more than was asked for", 1)(
    lambda c: beside(c, [forward(c, 1), forward(c, 2)], lambda: len(c.read(c.entry("Ingress.forward", {MAC: 2})))))


def two_priorities(c):
    both = [ternary(c, (1, 1), priority=p) for p in (1, 2)]
    out = codes(c, *[c.update("INSERT", e) for e in both])
    c.write(*[c.update("DELETE", e) for e in both])
    return out


def deletes_by_key(c):
    c.write(c.update("INSERT", forward(c, 1)))
    wrong = forward(c, 1, 2, metadata=b"x", controller_metadata=5)
    wrong.table_entry.action.action.action_id = 99
    return update(c, "DELETE", wrong)


def spoilt(c, entity, spoil):
    spoil(entity.table_entry)
    return update(c, "INSERT", entity)


def unknown_field(e):
    e.match[0].field_id = 9


def second_field(e):
    e.match.add().CopyFrom(e.match[0])


def other_kind(e):
    e.match[0].ternary.value = e.match[0].ternary.mask = b"\1"


def no_kind(e):
    e.match[0].ClearField("exact")


must("9.1.1", "a field that the table does not have", INVALID)(lambda c: spoilt(c, forward(c, 1), unknown_field))
must("9.1.1", "a field twice", INVALID)(lambda c: spoilt(c, forward(c, 1), second_field))
must("9.1.1", "another kind of match", INVALID)(lambda c: spoilt(c, forward(c, 1), other_kind))
must("9.1.1", "no kind of match", INVALID)(lambda c: spoilt(c, forward(c, 1), no_kind))
must("9.1.1", "an exact field left out", INVALID)(
    lambda c: update(c, "INSERT", c.entry("Ingress.forward", {}, ("Ingress.send", [1]))))
must("9.1.1", "a ternary value with bits outside of its mask", INVALID)(
    lambda c: update(c, "INSERT", ternary(c, (3, 1))))
must("9.1.1", "a ternary field that is not cared for, and not left out", INVALID)(
    lambda c: update(c, "INSERT", ternary(c, (0, 0))))
must("9.1.1", "a range whose low end is above the high one", INVALID)(
    lambda c: update(c, "INSERT", ternary(c, (1, 1), **{I: (5, 1)})))
must("9.1.1", "a range of all values, not left out", INVALID)(
    lambda c: update(c, "INSERT", ternary(c, (1, 1), **{I: (0, 255)})))
must("9.1.1", "a range of fewer values is taken", OK)(
    lambda c: beside(c, [ternary(c, (1, 1), **{I: (1, 5)})], lambda: OK))


def without_action(e):
    e.ClearField("action")


def unknown_action(e):
    e.action.action.action_id = 1


def wrong_parameter(e):
    e.action.action.params[0].param_id = 3


def second_parameter(e):
    e.action.action.params.add(param_id=1, value=b"\1")


def no_parameter(e):
    e.action.action.ClearField("params")


def of_a_profile(e):
    e.action.action_profile_member_id = 1


for text, spoil in (("no action", without_action), ("an action that the table does not have", unknown_action),
                    ("a parameter that the action does not have", wrong_parameter), ("a parameter twice", second_parameter),
                    ("a parameter left out", no_parameter), ("a member in a table without a profile", of_a_profile)):
    must("9.1.2", "INSERT with " + text, INVALID)(lambda c, spoil=spoil: spoilt(c, forward(c, 1), spoil))
must("9.1.2", "an action in a table with a profile", INVALID)(
    lambda c: update(c, "INSERT", c.entry("Ingress.selected", {I: (1, 255)}, ("Ingress.put", [1]), priority=3)))
must("9.1.2", "an action of the default entry alone", DENIED)(
    lambda c: update(c, "INSERT", c.entry("Ingress.forward", {MAC: 1}, ("Ingress.none", []))))
must("9.1.2", "a member that is not there", NOT_FOUND)(
    lambda c: update(c, "INSERT", c.entry("Ingress.selected", {I: (1, 255)}, member=9, priority=3)))
must("9.1.2", "a group that is not there", NOT_FOUND)(
    lambda c: update(c, "INSERT", c.entry("Ingress.selected", {I: (1, 255)}, group=9, priority=3)))
must("9.1.2", "a value of a parameter that does not fit", RANGE)(lambda c: update(c, "INSERT", forward(c, 1, 512)))

must("9.1.3", "INSERT of a default entry", INVALID)(lambda c: update(c, "INSERT", default(c)))
must("9.1.3", "DELETE of one", INVALID)(lambda c: update(c, "DELETE", default(c)))
must("9.1.3", "one with a key", INVALID)(lambda c: update(c, "MODIFY", c.entry(
    "Ingress.filter", {VALID: 1}, ("Ingress.noted", [5]), is_default_action=True)))
must("9.1.3", "one with a priority", INVALID)(lambda c: update(c, "MODIFY", default(c, priority=4)))
must("9.1.3", "a constant one", DENIED)(lambda c: update(c, "MODIFY", default(c, "Ingress.forward", ("Ingress.none", []))))
must("9.1.3", "without an action it is the program's again, with its metadata", True)(lambda c: resets(c))


def resets(c):
    before = c.read(default(c, action=None))
    c.write(c.update("MODIFY", default(c, metadata=b"d")))
    c.write(c.update("MODIFY", default(c, action=None)))
    return c.read(default(c, action=None)) == before


must("9.1.6", "a key without a table", INVALID)(lambda c: status(c.read, tableless(forward(c, 1))))
must("9.1.6", "all entries of all tables are those of each", True)(
    lambda c: len(c.read(c.entry())) == sum(len(c.read(c.entry(t.preamble.name))) for t in c.info.tables))


def tableless(entity):
    entity.table_entry.table_id = 0
    return entity


COUNTS, METER = pb.CounterData(packet_count=7, byte_count=700), pb.MeterConfig(cir=10, cburst=20, pir=30, pburst=40)
must("9.1.7", "a counter of a table that has none", INVALID)(
    lambda c: update(c, "INSERT", forward_without(c, counter_data=COUNTS)))
must("9.1.7", "a meter of a table that has none", INVALID)(
    lambda c: update(c, "INSERT", forward_without(c, meter_config=METER)))
must("9.1.8", "a time in a table without times", INVALID)(
    lambda c: update(c, "INSERT", forward_without(c, idle_timeout_ns=10 ** 9)))


def forward_without(c, **more):
    """An entry of a table with nothing that hangs on its entries."""
    entity = c.entry("Ingress.selected", {I: (1, 255)}, member=1, priority=3)
    for field, value in more.items():
        if hasattr(value, "CopyFrom"):
            getattr(entity.table_entry, field).CopyFrom(value)
        else:
            setattr(entity.table_entry, field, value)
    return entity


# ---- 9.2: members, groups, sets ----

must("9.2.1", "INSERT of a member that is there", EXISTS)(
    lambda c: beside(c, [member(c, 1)], lambda: update(c, "INSERT", member(c, 1))))
must("9.2.1", "INSERT without an action", INVALID)(lambda c: update(c, "INSERT", bare_member(c, 1)))
must("9.2.1", "MODIFY of one that is not there", NOT_FOUND)(lambda c: update(c, "MODIFY", member(c, 1)))
must("9.2.1", "MODIFY without an action", INVALID)(
    lambda c: beside(c, [member(c, 1)], lambda: update(c, "MODIFY", bare_member(c, 1))))
must("9.2.1", "DELETE of one that is not there", NOT_FOUND)(lambda c: update(c, "DELETE", member(c, 1)))
must("9.2.1", "DELETE of one that is in a group", PRECONDITION)(
    lambda c: beside(c, [member(c, 1), group(c, 1, [(1, 1)])], lambda: update(c, "DELETE", member(c, 1))))
must("9.2.1", "DELETE of one that an entry names", PRECONDITION)(
    lambda c: beside(c, [member(c, 1), c.entry("Ingress.selected", {I: (1, 255)}, member=1, priority=3)],
                     lambda: update(c, "DELETE", member(c, 1))))
must("9.2.1", "a profile that is not there", NOT_FOUND)(lambda c: update(c, "INSERT", member(c, 1, profile=5)))

must("9.2.2", "INSERT of a group that is there", EXISTS)(
    lambda c: beside(c, [group(c, 1)], lambda: update(c, "INSERT", group(c, 1))))
must("9.2.2", "a group of a member that is not there", NOT_FOUND)(lambda c: update(c, "INSERT", group(c, 1, [(9, 1)])))
must("9.2.2", "MODIFY of a group that is not there", NOT_FOUND)(lambda c: update(c, "MODIFY", group(c, 1)))
must("9.2.2", "MODIFY to a member that is not there", NOT_FOUND)(
    lambda c: beside(c, [group(c, 1)], lambda: update(c, "MODIFY", group(c, 1, [(9, 1)]))))
must("9.2.2", "the size of a group stays", INVALID)(
    lambda c: beside(c, [group(c, 1, (), 4)], lambda: update(c, "MODIFY", group(c, 1, (), 5))))
must("9.2.2", "DELETE of a group that is not there", NOT_FOUND)(lambda c: update(c, "DELETE", group(c, 1)))
must("9.2.2", "DELETE of a group that an entry names", PRECONDITION)(
    lambda c: beside(c, [member(c, 1), group(c, 1, [(1, 1)]),
                         c.entry("Ingress.selected", {I: (1, 255)}, group=1, priority=3)],
                     lambda: update(c, "DELETE", group(c, 1))))
must("9.2.2", "a weight that is not above 0", INVALID)(
    lambda c: beside(c, [member(c, 1)], lambda: update(c, "INSERT", group(c, 1, [(1, 0)]))))
must("9.2.2", "a member twice", INVALID)(
    lambda c: beside(c, [member(c, 1)], lambda: update(c, "INSERT", group(c, 1, [(1, 1), (1, 1)]))))
must("9.2.2", "a watched port that does not exist", INVALID)(
    lambda c: beside(c, [member(c, 1)], lambda: update(c, "INSERT", group(c, 1, [(1, 1)], watch_port=b"\x01\xff"))))
must("9.2.2", "a group of a profile without a selector", INVALID)(lambda c: update(c, "INSERT", foreign_group(c)))
must("9.2.2.1", "a size above the profile's", INVALID)(lambda c: update(c, "INSERT", group(c, 1, (), 9)))
must("9.2.2.1", "more members than the group has room for", EXHAUSTED)(
    lambda c: beside(c, [member(c, 1)], lambda: update(c, "INSERT", group(c, 1, [(1, 9)]))))


def foreign_group(c):
    entity = group(c, 1)
    entity.action_profile_group.action_profile_id = c.id("action_profiles", "Ingress.profile")
    return entity


must("9.2.3", "sets of actions are served", OK)(
    lambda c: beside(c, [one_shot(c, 1, [(1, 1), (2, 2)])], lambda: OK))
must("9.2.3", "a set is read as it was written, equal actions apart", True)(
    lambda c: kept(c, one_shot(c, 1, [(1, 1), (2, 2), (1, 1)])) == [one_shot(c, 1, [(1, 1), (2, 2), (1, 1)])])
must("9.2.3", "a weight that is not above 0", INVALID)(lambda c: update(c, "INSERT", one_shot(c, 1, [(1, 0)])))
must("9.2.3", "weights above the largest group", INVALID)(
    lambda c: update(c, "INSERT", one_shot(c, 1, [(1, 8), (2, 1)])))
must("9.2.3", "a watched port that does not exist", INVALID)(
    lambda c: update(c, "INSERT", one_shot(c, 1, [(1, 1)], watch_port=b"\x01\xff")))
must("9.2.4", "a set beside members", INVALID)(
    lambda c: beside(c, [member(c, 1)], lambda: update(c, "INSERT", one_shot(c, 1, [(1, 1)]))))
must("9.2.4", "members beside a set", INVALID)(
    lambda c: beside(c, [one_shot(c, 1, [(1, 1)])], lambda: update(c, "INSERT", member(c, 1))))

# ---- 9.3 to 9.7: cells ----

for what in ("INSERT", "DELETE"):
    must("9.3.1", f"{what} of a direct counter", INVALID)(
        lambda c, what=what: update(c, what, direct(c, "counter", forward(c, 1), data=COUNTS)))
    must("9.3.2", f"{what} of a counter", INVALID)(
        lambda c, what=what: update(c, what, cell(c, "counter", "Ingress.counts", 1, data=COUNTS)))
    must("9.4.1", f"{what} of a direct meter", INVALID)(
        lambda c, what=what: update(c, what, direct(c, "meter", forward(c, 1), config=METER)))
    must("9.4.2", f"{what} of a meter", INVALID)(
        lambda c, what=what: update(c, what, cell(c, "meter", "Ingress.of_bytes", 1, config=METER)))
must("9.3.1", "a direct counter of an entry that is not there", NOT_FOUND)(
    lambda c: update(c, "MODIFY", direct(c, "counter", forward(c, 1), data=COUNTS)))
must("9.3.2", "an index below 0", INVALID)(
    lambda c: update(c, "MODIFY", cell(c, "counter", "Ingress.counts", -1, data=COUNTS)))
must("9.3.2", "a counter's index that it does not have", RANGE)(
    lambda c: update(c, "MODIFY", cell(c, "counter", "Ingress.counts", 16, data=COUNTS)))
must("9.4.2", "an index below 0 of a meter", INVALID)(
    lambda c: update(c, "MODIFY", cell(c, "meter", "Ingress.of_bytes", -1, config=METER)))
must("9.7", "data that are not of the register's type", INVALID)(
    lambda c: update(c, "MODIFY", cell(c, "register", "Ingress.pairs", 1, data=pb.P4Data(bitstring=b"\1"))))
must("9.7", "an index that the register does not have", RANGE)(
    lambda c: update(c, "MODIFY", cell(c, "register", "Ingress.flags", 100, data=pb.P4Data(bitstring=b"\1"))))

# ---- 9.5, 9.6, 9.8, 9.9: copies, value sets, digests, externs ----

must("9.5.1", "a multicast group 0", INVALID)(lambda c: update(c, "INSERT", multicast(0)))
must("9.5.1", "an instance above the largest", INVALID)(lambda c: update(c, "INSERT", multicast(9, [(1, 65536)])))
must("9.5.1", "a replica at no port", INVALID)(lambda c: update(c, "INSERT", multicast(9, [(511, 1)])))
must("9.5.1", "a port and instance twice", INVALID)(lambda c: update(c, "INSERT", multicast(9, [(1, 1), (1, 1)])))
must("9.5.1", "backup replicas, which this server does not have", UNIMPLEMENTED)(lambda c: update(c, "INSERT", backup()))
must("9.5.1", "metadata are read with the group", [b"m"])(
    lambda c: [e.packet_replication_engine_entry.multicast_group_entry.metadata
               for e in kept(c, multicast(9, [(1, 1)], metadata=b"m"))])
must("9.5.1", "group 0 reads all", 2)(
    lambda c: beside(c, [multicast(8), multicast(9)], lambda: len(c.read(multicast(0)))))
must("9.5.2", "a clone session 0", INVALID)(lambda c: update(c, "INSERT", clone(0)))
must("9.5.2", "a class of service that the chip does not have", INVALID)(
    lambda c: update(c, "INSERT", clone(8, class_of_service=9)))
must("9.5.2", "an instance above the largest of a session", INVALID)(
    lambda c: update(c, "INSERT", clone(8, instance=65536)))
must("9.5.2", "a session at no port", INVALID)(lambda c: update(c, "INSERT", clone(8, 511)))
must("9.5.2", "packets are cut to a length that is not below 0", INVALID)(
    lambda c: update(c, "INSERT", clone(8, packet_length_bytes=-1)))
must("9.5.2", "session 0 reads all", 2)(lambda c: beside(c, [clone(7), clone(8)], lambda: len(c.read(clone(0)))))
must("9.6", "value sets, which this server does not serve", UNIMPLEMENTED)(
    lambda c: update(c, "MODIFY", pb.Entity(value_set_entry=pb.ValueSetEntry(value_set_id=1))))
must("9.8", "a digest that was not configured cannot be changed", NOT_FOUND)(
    lambda c: update(c, "MODIFY", pb.Entity(digest_entry=pb.DigestEntry(digest_id=9))))
must("9.9", "an extern that this server does not have", UNIMPLEMENTED)(
    lambda c: update(c, "MODIFY", pb.Entity(extern_entry=pb.ExternEntry(extern_type_id=1))))


def backup():
    entity = multicast(9, [(1, 1)])
    entity.packet_replication_engine_entry.multicast_group_entry.replicas[0].backup_replicas.add(port=b"\2")
    return entity


# ---- 12, 13: Write and Read ----

must("12", "Write to a device that is not there", NOT_FOUND)(lambda c: status(c.write, device_id=2))
must("12", "Write in a role that is not there", NOT_FOUND)(lambda c: status(c.write, role="nobody"))
must("12", "Write of a client that is not primary", DENIED)(lambda c: status(c.write, election=0))
must("12", "an update without a type", INVALID)(lambda c: codes(c, pb.Update(entity=forward(c, 1)))[0])
must("12", "an update without an entity", INVALID)(lambda c: codes(c, pb.Update(type=pb.Update.INSERT))[0])
must("12", "INSERT of an entry that is there", EXISTS)(
    lambda c: beside(c, [forward(c, 1)], lambda: update(c, "INSERT", forward(c, 1))))
must("12", "MODIFY of one that is not there", NOT_FOUND)(lambda c: update(c, "MODIFY", forward(c, 1)))
must("12", "DELETE of one that is not there", NOT_FOUND)(lambda c: update(c, "DELETE", forward(c, 1)))
must("12.1", "updates of a list take effect in its order", [OK, OK, OK, OK])(
    lambda c: codes(c, *[c.update(what, forward(c, 1)) for what in ("INSERT", "DELETE", "INSERT", "DELETE")]))
must("12.2", "each update of a list is tried", [OK, NOT_FOUND, OK])(
    lambda c: codes(c, c.update("INSERT", forward(c, 1)), c.update("DELETE", forward(c, 2)),
                    c.update("DELETE", forward(c, 1))))
must("12.2", "rollback, which this server does not have", UNIMPLEMENTED)(
    lambda c: status(c.write, atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR))
must("12.2", "one step for packets, which this server does not have here", UNIMPLEMENTED)(
    lambda c: status(c.write, atomicity=pb.WriteRequest.DATAPLANE_ATOMIC))
must("12.3", "as many errors as updates, in their order", [NOT_FOUND, OK, NOT_FOUND, OK])(
    lambda c: codes(c, c.update("DELETE", forward(c, 9)), c.update("INSERT", forward(c, 1)),
                    c.update("MODIFY", forward(c, 8)), c.update("DELETE", forward(c, 1))))
must("13", "Read of a device that is not there", NOT_FOUND)(lambda c: status(c.read, forward(c, 1), device=2))
must("13.2", "an entity of no kind", INVALID)(lambda c: status(c.read, pb.Entity()))
must("13.4", "what a Write has answered is seen by the next Read", [1])(
    lambda c: [len(kept(c, forward(c, 1)))])

# ---- 14 to 17 ----

must("14", "a pipeline for a device that is not there", NOT_FOUND)(
    lambda c: status(c.set_config, "VERIFY", c.info, device_id=2))
must("14", "by a client that is not primary", DENIED)(lambda c: status(c.set_config, "VERIFY", c.info, election=0))
must("14", "VERIFY without a configuration", INVALID)(lambda c: status(c.set_config, "VERIFY"))
must("14", "VERIFY_AND_COMMIT without one", INVALID)(lambda c: status(c.set_config, "VERIFY_AND_COMMIT"))
must("14", "RECONCILE_AND_COMMIT without one", INVALID)(lambda c: status(c.set_config, "RECONCILE_AND_COMMIT"))
must("14", "COMMIT with one", INVALID)(lambda c: status(c.set_config, "COMMIT", c.info))
must("14", "VERIFY_AND_COMMIT empties the tables", 0)(lambda c: commits(c))
must("15", "the cookie is that of the latest commit", 77)(lambda c: cookie(c))
must("15", "GetForwardingPipelineConfig of a device that is not there", NOT_FOUND)(
    lambda c: status(c.get_config, device_id=2))
must("16.6", "an acknowledgement of a digest that is not there: a StreamError with its canonical code", NOT_FOUND)(
    lambda c: stream_error(c, digest_ack=pb.DigestListAck(digest_id=9, list_id=1)))
must("17", "the API's whole version", "1.4.0")(
    lambda c: c.method["Capabilities"](pb.CapabilitiesRequest()).p4runtime_api_version)
must("21.4", "messages of 4 MB are taken", OK)(lambda c: status(c.write, *[
    c.update("MODIFY", default(c, metadata=bytes(1 << 19))) for _ in range(7)]))


def commits(c):
    c.write(c.update("INSERT", forward(c, 1)))
    c.set_config("VERIFY_AND_COMMIT", c.info)
    return len(c.read(forward(c, 1)))


def cookie(c):
    c.set_config("RECONCILE_AND_COMMIT", c.info, cookie=77)
    return c.get_config().config.cookie.cookie


def stream_error(c, **message):
    with Client(c.address, 50, role="stream") as second:
        second.send(**message)
        return second.next().error.canonical_code


checks = Checks()
with tempfile.TemporaryDirectory(prefix="silken-p4rt-") as folder:
    ADDRESS = f"unix:{folder}/p.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0,no-rx=1"}],
                 "p4runtime": {"listen": ADDRESS}}) as sw:
        with Client(ADDRESS, 1) as client:
            client.address = ADDRESS
            for part, text, function, gives in ROWS:
                try:
                    got = function(client)
                except Failed as e: # of what a row needs, and does not try
                    got = f"{e.code}: {e.sentence} {[x.message for x in e.errors]}"
                checks.equal(f"{part}: {text}", got, gives)
        checks.equal("the switch ends well", sw.stop(), 0)
print(f"{len(ROWS)} demands")
checks.end()
