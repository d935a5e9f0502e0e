# SPDX-License-Identifier: Apache-2.0
"""A controller of P4Runtime that writes entries with sets of actions ("one shot"): what is written is read, members and
groups that a set becomes are not seen and count against the sizes, a set that changes or cannot be made leaves nothing
behind, members and groups are refused beside sets, sets outlive a reload, and packets get one action or the other."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/p4rt", "harness/control", "harness/brt"]
import live  # noqa: E402
from client import Client, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4") # 16 members, groups of 8 places, 4 groups
INVALID, NOT_FOUND, EXISTS, EXHAUSTED, FAILED_PRECONDITION, RANGE, UNIMPLEMENTED = 3, 5, 6, 8, 9, 11, 12
I, FORWARD_BYPASS, NO_OPERATION = "hdr.order.i", 3, 255

checks = Checks()
updates_fail = Expect(checks).updates_fail


def one_shot(c, i, actions, table="Ingress.selected", **more):
    """'actions': (argument, weight) of Ingress.put each."""
    entity = c.entry(table, {I: (i, 255)}, priority=3, **more)
    actions_of(entity).SetInParent()
    for value, weight in actions:
        actions_of(entity).action_profile_actions.add(action=c.action("Ingress.put", [value]), weight=weight)
    return entity


def actions_of(entity):
    return entity.table_entry.action.action_profile_action_set


def member(c, number, value=0):
    return pb.Entity(action_profile_member=pb.ActionProfileMember(
        action_profile_id=c.id("action_profiles", "Ingress.members"), member_id=number,
        action=c.action("Ingress.put", [value])))


def group(c, number, members):
    return pb.Entity(action_profile_group=pb.ActionProfileGroup(
        action_profile_id=c.id("action_profiles", "Ingress.members"), group_id=number,
        members=[pb.ActionProfileGroup.Member(member_id=m, weight=1) for m in members]))


def everything(c):
    """Entries, members and groups that a client sees."""
    return c.read(c.entry("Ingress.selected"), member(c, 0), group(c, 0, []))


def writes(c):
    first = one_shot(c, 1, [(10, 1), (11, 2), (10, 1)], metadata=b"m")
    c.write(c.update("INSERT", first))
    checks.equal("a set as it was written", c.read(first), [first])
    checks.equal("nothing else is seen", everything(c), [first])
    for name, actions in (("more", [(20, 3), (21, 1), (22, 2), (23, 2)]), ("fewer", [(30, 8)]),
                          ("as many", [(31, 1)]), ("again more", [(32, 1), (32, 1)])):
        entry = one_shot(c, 1, actions)
        c.write(c.update("MODIFY", entry))
        checks.equal(f"changed: {name}", everything(c), [entry])
    c.write(c.update("MODIFY", c.entry("Ingress.selected", {I: (1, 255)}, priority=3, metadata=b"n")))
    checks.equal("without an action the set stays", [(e.table_entry.metadata, actions_of(e)) for e in everything(c)],
                 [(b"n", actions_of(entry))])
    empty_port = one_shot(c, 1, [(5, 1)])
    actions_of(empty_port).action_profile_actions[0].watch_port = b""
    c.write(c.update("MODIFY", empty_port))
    checks.equal("an empty port is no port", everything(c), [one_shot(c, 1, [(5, 1)])])
    c.write(c.update("DELETE", c.entry("Ingress.selected", {I: (1, 255)}, priority=3)))
    checks.equal("it is gone", everything(c), [])


def mistakes(c):
    c.write(c.update("INSERT", one_shot(c, 1, [(10, 1)])))
    before = everything(c)
    none, watching, missing, foreign, short, default = (one_shot(c, 2, [(1, 1)]) for _ in range(6))
    actions_of(none).ClearField("action_profile_actions")
    actions_of(watching).action_profile_actions[0].watch_port = b"\x01\xff" # there is no such port
    actions_of(missing).action_profile_actions[0].ClearField("action")
    actions_of(foreign).action_profile_actions[0].action.CopyFrom(c.action("Ingress.send", [1]))
    actions_of(short).action_profile_actions[0].action.ClearField("params")
    default.table_entry.ClearField("match")
    default.table_entry.priority = 0
    default.table_entry.is_default_action = True
    several = one_shot(c, 2, [(1, 1)])
    actions_of(several).action_profile_actions.add(action=c.action("Ingress.none", []), weight=1)
    wide = one_shot(c, 2, [(1, 1), (1 << 32, 1)])
    profiled = c.entry("Ingress.profiled", {I: 2})
    actions_of(profiled).action_profile_actions.add(action=c.action("Ingress.put", [1]), weight=1)
    direct = c.entry("Ingress.forward", {"hdr.ethernet.dst_addr": 2})
    actions_of(direct).action_profile_actions.add(action=c.action("Ingress.send", [1]), weight=1)
    updates_fail("mistakes in sets", [EXISTS, NOT_FOUND, NOT_FOUND] + [INVALID] * 8 + [UNIMPLEMENTED, RANGE, INVALID, INVALID], c,
                 c.update("INSERT", one_shot(c, 1, [(11, 1)])), c.update("MODIFY", one_shot(c, 2, [(11, 1)])),
                 c.update("DELETE", one_shot(c, 2, [(11, 1)])), c.update("INSERT", one_shot(c, 2, [(1, 0)])),
                 c.update("INSERT", one_shot(c, 2, [(1, -1)])), c.update("INSERT", one_shot(c, 2, [(1, 8), (2, 1)])),
                 c.update("INSERT", none), c.update("INSERT", watching), c.update("INSERT", missing),
                 c.update("INSERT", foreign), c.update("INSERT", short), c.update("INSERT", several),
                 c.update("INSERT", wide), c.update("INSERT", profiled), c.update("INSERT", direct))
    updates_fail("a default entry", [INVALID], c, c.update("MODIFY", default))
    checks.equal("they changed nothing", everything(c), before)
    c.write(c.update("DELETE", before[0]))


def sizes(c):
    sets = [one_shot(c, i, [(10 * i + k, 2) for k in range(4)]) for i in range(1, 5)]
    c.write(*[c.update("INSERT", e) for e in sets])
    updates_fail("there are 4 groups", [EXHAUSTED], c, c.update("INSERT", one_shot(c, 5, [(1, 1)])))
    changed = one_shot(c, 1, [(90 + k, 1) for k in range(4)])
    c.write(c.update("MODIFY", changed))
    checks.equal("a set changes where it is", everything(c), [changed, *sets[1:]])
    updates_fail("there are 16 members", [EXHAUSTED], c,
                 c.update("MODIFY", one_shot(c, 1, [(90 + k, 1) for k in range(5)])))
    checks.equal("what cannot be made leaves everything", everything(c), [changed, *sets[1:]])
    c.write(c.update("DELETE", sets[1]), c.update("MODIFY", one_shot(c, 1, [(90 + k, 1) for k in range(8)])))
    updates_fail("a group is free and no member is", [EXHAUSTED], c, c.update("INSERT", one_shot(c, 5, [(1, 1)])))
    c.write(c.update("DELETE", changed), *[c.update("DELETE", e) for e in sets[2:]])
    for _ in range(3): # nothing is left behind
        c.write(*[c.update("INSERT", e) for e in sets])
        c.write(*[c.update("DELETE", e) for e in sets])
    checks.equal("all are gone", everything(c), [])


def functions(c):
    """The action itself changes, which a group that an entry names could not."""
    c.write(c.update("INSERT", one_shot(c, 1, [(1, 1), (2, 1)])))
    other = one_shot(c, 1, [])
    actions_of(other).action_profile_actions.add(action=c.action("Ingress.none", []), weight=2)
    c.write(c.update("MODIFY", other))
    checks.equal("another action", everything(c), [other])
    c.write(c.update("DELETE", other), c.update("INSERT", member(c, 1)), c.update("INSERT", member(c, 2)))
    none = member(c, 2)
    none.action_profile_member.action.CopyFrom(c.action("Ingress.none", []))
    c.write(c.update("INSERT", group(c, 1, [1])))
    to_none = member(c, 1)
    to_none.action_profile_member.action.CopyFrom(c.action("Ingress.none", []))
    c.write(c.update("MODIFY", none))
    updates_fail("two actions in a group, another action of its member", [UNIMPLEMENTED] * 2, c,
                 c.update("MODIFY", group(c, 1, [1, 2])), c.update("MODIFY", to_none))
    c.write(c.update("DELETE", group(c, 1, [])), c.update("DELETE", member(c, 1)), c.update("DELETE", member(c, 2)))


def mixed(c):
    c.write(c.update("INSERT", member(c, 1, 5)))
    updates_fail("a set beside a member", [INVALID], c, c.update("INSERT", one_shot(c, 1, [(1, 1)])))
    by_member = c.entry("Ingress.selected", {I: (1, 255)}, member=1, priority=3)
    c.write(c.update("INSERT", by_member))
    updates_fail("a set in its place", [INVALID], c, c.update("MODIFY", one_shot(c, 1, [(1, 1)])))
    c.write(c.update("DELETE", by_member), c.update("DELETE", member(c, 1)), c.update("INSERT", group(c, 1, [])))
    updates_fail("a set beside a group", [INVALID], c, c.update("INSERT", one_shot(c, 1, [(1, 1)])))
    c.write(c.update("DELETE", group(c, 1, [])), c.update("INSERT", one_shot(c, 1, [(1, 1)])))
    updates_fail("members and groups beside a set", [INVALID] * 5, c, c.update("INSERT", member(c, 1)),
                 c.update("INSERT", group(c, 1, [])), c.update("DELETE", member(c, 1)), c.update("MODIFY", by_member),
                 c.update("INSERT", c.entry("Ingress.selected", {I: (2, 255)}, group=1, priority=3)))
    hidden = 0xc0000000
    for number in range(hidden, hidden + 17):
        checks.equal("an id of the switch's", c.read(member(c, number), group(c, number, [])), [])
    c.write(c.update("DELETE", one_shot(c, 1, [])), c.update("INSERT", member(c, 1)), c.update("DELETE", member(c, 1)))


def commits(c):
    entry = one_shot(c, 1, [(1, 1), (2, 1)])
    c.write(c.update("INSERT", entry))
    c.set_config("VERIFY_AND_COMMIT", c.info)
    checks.equal("a commit ends it", everything(c), [])
    c.write(*[c.update("INSERT", one_shot(c, i, [(k, 1) for k in range(4)])) for i in range(4)])
    c.set_config("VERIFY_AND_COMMIT", c.info)
    c.write(c.update("INSERT", member(c, 1)), c.update("DELETE", member(c, 1)))


def elsewhere(c, sw):
    """Entries, groups and members that somebody deletes by the control socket."""
    sets = [one_shot(c, i, [(k, 1) for k in range(4)]) for i in range(4)]
    for what in ((), (("group", "clear", "Ingress.selector"),), (("group", "clear", "Ingress.selector"),
                                                                 ("table", "clear", "Ingress.members"))):
        c.write(*[c.update("INSERT", e) for e in sets])
        for words in (("table", "clear", "Ingress.selected"), *what):
            checks.equal(" ".join(words), sw.ctl(*words)[0], 0)
        checks.equal("no sets are left", everything(c), [])
        c.write(*[c.update("INSERT", e) for e in sets])
        checks.equal("there is room again", everything(c), sets)
        sw.ctl("table", "clear", "Ingress.selected")
        c.write(c.update("INSERT", member(c, 1)), c.update("DELETE", member(c, 1)))


def flow(i, a):
    order = bytes([FORWARD_BYPASS, 0, 0, 1, 0, 0, 0, NO_OPERATION, i]) + a.to_bytes(4, "big") + bytes(4)
    return (bytes(12) + b"\x90\x00" + order).ljust(60, b"\0")


def results(wire, i):
    """What 64 flows get: a word each."""
    got = []
    for a in range(64):
        wire.socket.send(flow(i, a))
        wire.socket.settimeout(10)
        frame = wire.socket.recv(2000)
        while frame[12:14] != b"\x90\x00" or frame[23:27] != a.to_bytes(4, "big"):
            frame = wire.socket.recv(2000)
        got.append(int.from_bytes(frame[27:31], "big"))
    return got


def packets(c, sw, wire):
    entry = one_shot(c, 7, [(0x7001, 1), (0x7002, 3)])
    c.write(c.update("INSERT", entry))
    got = results(wire, 7)
    checks.equal("flows get the set's actions", set(got), {0x7001, 0x7002})
    checks.true("by their weights", got.count(0x7002) > got.count(0x7001), str(got))
    c.write(c.update("MODIFY", one_shot(c, 7, [(0x7003, 1)])))
    checks.equal("and those of the one after", set(results(wire, 7)), {0x7003})
    sw.write({**sw.config, "program": sw.path("again.p4")})
    with open(PROGRAM, encoding="utf-8") as source, open(sw.path("again.p4"), "w", encoding="utf-8") as copy:
        copy.write(source.read() + "// a program of its own\n")
    checks.equal("a reload with another program", sw.reload()["ok"], True)
    checks.equal("the set outlives it", everything(c), [one_shot(c, 7, [(0x7003, 1)])])
    c.write(c.update("MODIFY", one_shot(c, 7, [(0x7004, 1)])))
    checks.equal("and changes", (everything(c), set(results(wire, 7))), ([one_shot(c, 7, [(0x7004, 1)])], {0x7004}))
    c.write(c.update("DELETE", entry))


live.inside(__file__)
if live.INTERFACES:
    veth("p4rtsets1", "p4rtsets2")
with tempfile.TemporaryDirectory(prefix="silken-p4rt-") as folder:
    ADDRESS = f"unix:{folder}/p.sock"
    DEVICE = "net_af_packet0,iface=p4rtsets1" if live.INTERFACES else "net_null0,no-rx=1"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": DEVICE}],
                 "p4runtime": {"listen": ADDRESS}}) as switch:
        with Client(ADDRESS, 1) as client:
            for part in (writes, mistakes, sizes, functions, mixed, commits):
                part(client)
            elsewhere(client, switch)
            if live.INTERFACES:
                packets(client, switch, Wire("p4rtsets2"))
        checks.equal("the switch ends well", switch.stop(), 0)
checks.end()
