# SPDX-License-Identifier: Apache-2.0
"""Ports that members of groups and actions of sets watch (P4Runtime specification, sections 9.2.2 and 9.2.3): they are read
as they were written, packets do not get what watches a port that is down, and get it again when the port is up."""
import os
import sys
import tempfile
import time

sys.path[:0] = ["harness/p4rt", "harness/control"]
import live  # noqa: E402
from client import Client, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
INVALID, I, FORWARD_BYPASS, NO_OPERATION = 3, "hdr.order.i", 3, 255
WIRE, WATCHED, OTHER = 1, 2, 3

checks = Checks()
updates_fail = Expect(checks).updates_fail


def results(wire, i):
    """What 32 flows get: a set of words."""
    got = set()
    for a in range(32):
        order = bytes([FORWARD_BYPASS, 0, 0, 1, 0, 0, 0, NO_OPERATION, i]) + a.to_bytes(4, "big") + bytes(4)
        wire.socket.send((bytes(12) + b"\x90\x00" + order).ljust(60, b"\0"))
        wire.socket.settimeout(10)
        frame = wire.socket.recv(2000)
        while frame[12:14] != b"\x90\x00" or frame[23:27] != a.to_bytes(4, "big"):
            frame = wire.socket.recv(2000)
        got.add(int.from_bytes(frame[27:31], "big"))
    return got


def becomes(wire, i, want, seconds=5):
    end = time.monotonic() + seconds
    while (got := results(wire, i)) != want and time.monotonic() < end:
        time.sleep(0.02)
    return got


def member(c, number, value):
    return pb.Entity(action_profile_member=pb.ActionProfileMember(
        action_profile_id=c.id("action_profiles", "Ingress.members"), member_id=number,
        action=c.action("Ingress.put", [value])))


def group(c, number, members):
    """'members': (id, fields)."""
    return pb.Entity(action_profile_group=pb.ActionProfileGroup(
        action_profile_id=c.id("action_profiles", "Ingress.members"), group_id=number, max_size=8,
        members=[pb.ActionProfileGroup.Member(member_id=m, weight=1, **fields) for m, fields in members]))


def groups(c, sw, wire):
    c.write(*[c.update("INSERT", member(c, m, 0x100 + m)) for m in (1, 2, 3)])
    watching = group(c, 1, [(1, {"watch_port": bytes([WATCHED])}), (2, {"watch": OTHER}), (3, {})])
    c.write(c.update("INSERT", watching))
    checks.equal("ports are read as they were written", c.read(group(c, 1, [])), [watching])
    c.write(c.update("INSERT", c.entry("Ingress.selected", {I: (1, 255)}, group=1, priority=3)))
    checks.equal("all are up", becomes(wire, 1, {0x101, 0x102, 0x103}), {0x101, 0x102, 0x103})
    sw.ctl("port", "set", WATCHED, "down")
    checks.equal("one is down", becomes(wire, 1, {0x102, 0x103}), {0x102, 0x103})
    sw.ctl("port", "set", OTHER, "down")
    checks.equal("both are", becomes(wire, 1, {0x103}), {0x103})
    checks.equal("and the group reads as before", c.read(group(c, 1, [])), [watching])
    c.write(c.update("MODIFY", watching))
    checks.equal("written again while they are down", results(wire, 1), {0x103})
    sw.ctl("port", "set", WATCHED, "up")
    checks.equal("the first is up", becomes(wire, 1, {0x101, 0x103}), {0x101, 0x103})
    c.write(c.update("MODIFY", group(c, 1, [(1, {}), (2, {}), (3, {})])))
    checks.equal("none is watched any more", results(wire, 1), {0x101, 0x102, 0x103})
    sw.ctl("port", "set", OTHER, "up")
    updates_fail("ports that do not exist", [INVALID] * 2, c,
                 c.update("MODIFY", group(c, 1, [(1, {"watch_port": b"\x01\xff"})])),
                 c.update("MODIFY", group(c, 1, [(1, {"watch": -1})])))
    c.write(c.update("DELETE", c.entry("Ingress.selected", {I: (1, 255)}, priority=3)),
            c.update("DELETE", group(c, 1, [])), *[c.update("DELETE", member(c, m, 0)) for m in (1, 2, 3)])


def sets(c, sw, wire):
    entity = c.entry("Ingress.selected", {I: (2, 255)}, priority=3)
    chosen = entity.table_entry.action.action_profile_action_set.action_profile_actions
    chosen.add(action=c.action("Ingress.put", [0x201]), weight=1, watch_port=bytes([WATCHED]))
    chosen.add(action=c.action("Ingress.put", [0x202]), weight=2)
    c.write(c.update("INSERT", entity))
    checks.equal("a set is read as it was written", c.read(entity), [entity])
    checks.equal("both of its actions", becomes(wire, 2, {0x201, 0x202}), {0x201, 0x202})
    sw.ctl("port", "set", WATCHED, "down")
    checks.equal("the port is down", becomes(wire, 2, {0x202}), {0x202})
    chosen[0].action.params[0].value = b"\x02\x03"
    c.write(c.update("MODIFY", entity))
    checks.equal("another set meanwhile", (results(wire, 2), c.read(entity)), ({0x202}, [entity]))
    sw.ctl("port", "set", WATCHED, "up")
    checks.equal("the port is up", becomes(wire, 2, {0x203, 0x202}), {0x203, 0x202})
    c.write(c.update("DELETE", entity))
    sw.ctl("port", "set", WATCHED, "down")
    time.sleep(0.1)
    c.write(c.update("INSERT", entity))
    checks.equal("a set that begins with the port down", results(wire, 2), {0x202})
    c.set_config("VERIFY_AND_COMMIT", c.info)
    sw.ctl("port", "set", WATCHED, "up")


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("p4rtwatch1", "p4rtwatch2")
with tempfile.TemporaryDirectory(prefix="silken-p4rt-") as folder:
    ADDRESS = f"unix:{folder}/p.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": WIRE, "device": "net_af_packet0,iface=p4rtwatch1"},
                                               {"port": WATCHED, "device": "net_null0,no-rx=1"},
                                               {"port": OTHER, "device": "net_null1,no-rx=1"}],
                 "p4runtime": {"listen": ADDRESS}}) as switch:
        with Client(ADDRESS, 1) as client:
            for part in (groups, sets):
                part(client, switch, Wire("p4rtwatch2"))
        checks.equal("the switch ends well", switch.stop(), 0)
checks.end()
