# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and value sets: values of all pipes and parsers, of single pipes, sets of pipes and single
parsers, as packets of ports with different parsers find them; the scopes read back; and the status of each mistake."""
import os
import socket
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
INVALID, NOT_FOUND, EXISTS, EXHAUSTED, UNAVAILABLE = 3, 5, 6, 8, 14
TYPES, TYPE, ALL, SINGLE, EVERY = "IngressParser.types", 0x8805, pb.Mode.ALL, pb.Mode.SINGLE, 0xff
PORTS = (1, 5, 129) # parsers 0 and 1 of pipe 0, parser 0 of pipe 1

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def scope(c, gress=ALL, pipes=ALL, parsers=ALL, groups=None, args=EVERY):
    update = pb.Update(type=pb.Update.INSERT)
    s = update.entity.table_attribute
    s.table_id = c.table(TYPES)["id"]
    s.entry_scope.gress_scope.predef, s.entry_scope.prsr_scope.predef = gress, parsers
    s.entry_scope.prsr_scope.args = args
    if groups is None:
        s.entry_scope.pipe_scope.predef = pipes
    else:
        s.entry_scope.pipe_scope.user_defined = groups
    return update


def scopes_now(c):
    entity = pb.Entity()
    entity.table_attribute.table_id = c.table(TYPES)["id"]
    entity.table_attribute.entry_scope.SetInParent()
    s = c.read_raw(entity)[0].entities[0].table_attribute.entry_scope
    pipes = s.pipe_scope.user_defined or s.pipe_scope.predef
    return s.gress_scope.predef, pipes, s.prsr_scope.predef, s.prsr_scope.args


def at(entity, pipe, parser, gress):
    t = entity.table_entry.entry_tgt
    t.pipe_id, t.prsr_id, t.direction = pipe, parser, gress
    return entity


def value(c, what, number=TYPE, pipe=0xffff, parser=EVERY, gress=EVERY):
    update = c.update(what, TYPES, None if number is None else {"f1": (number, 0xffff)})
    at(update.entity, pipe, parser, gress)
    return update


def values(c, pipe=0xffff, parser=EVERY, gress=EVERY):
    return sorted(e[1]["f1"][0] for e in c.read(at(c.entry(TYPES), pipe, parser, gress)))


def finds(c, wires):
    """Whose packets' type is in the set: they count, each port at an index of its own."""
    c.write(c.update("DELETE", "Ingress.counts"))
    for i, wire in enumerate(wires):
        wire.socket.send((bytes(5) + b"\7" + bytes(6) + TYPE.to_bytes(2, "big") + b"\x01\0\0\0\0\0\0\4" +
                          bytes([i]) + bytes(4)).ljust(60, b"\0"))
        wires[0].socket.settimeout(10)
        while wires[0].socket.recvfrom(2048)[1][2] == socket.PACKET_OUTGOING:
            continue
    got = c.read(c.entry("Ingress.counts", from_hw=True))
    return [e[3]["$COUNTER_SPEC_PKTS"] for e in got[:len(wires)]]


def everywhere(c, wires):
    checks.equal("all scopes at first", scopes_now(c), (ALL, ALL, ALL, EVERY))
    checks.equal("no value", finds(c, wires), [0, 0, 0])
    c.write(value(c, "INSERT"))
    checks.equal("a value of all", finds(c, wires), [1, 1, 1])
    update_fails("scopes change without values", UNAVAILABLE, c, scope(c, parsers=SINGLE))
    c.write(value(c, "DELETE"))


def of_pipes(c, wires):
    c.write(scope(c, pipes=SINGLE))
    checks.equal("single pipes", scopes_now(c), (ALL, SINGLE, ALL, EVERY))
    c.write(value(c, "INSERT", pipe=1))
    checks.equal("a value of a pipe", (finds(c, wires), values(c, pipe=1), values(c, pipe=0)), ([0, 0, 1], [TYPE], []))
    update_fails("in all pipes", INVALID, c, value(c, "INSERT"))
    fails("nor read in all", "UNKNOWN", values, c, codes=[INVALID])
    c.write(value(c, "DELETE", None, pipe=1), scope(c, groups=0x0a05))
    checks.equal("sets of pipes", scopes_now(c)[1], 0x0a05)
    c.write(value(c, "INSERT", pipe=1))
    checks.equal("a value of two pipes", (finds(c, wires), values(c, pipe=1)), ([0, 0, 1], [TYPE]))
    for pipe in (2, 3):
        update_fails(f"pipe {pipe} is not the first of its set", INVALID, c, value(c, "INSERT", pipe=pipe))
    c.write(value(c, "DELETE", pipe=1))


def of_parsers(c, wires):
    c.write(scope(c, parsers=SINGLE))
    checks.equal("single parsers", scopes_now(c), (ALL, ALL, SINGLE, EVERY))
    c.write(value(c, "INSERT", parser=1))
    checks.equal("a value of a parser", (finds(c, wires), values(c, parser=1), values(c, parser=0)),
                 ([0, 1, 0], [TYPE], []))
    c.write(value(c, "INSERT", parser=0))
    checks.equal("of two", finds(c, wires), [1, 1, 1])
    update_fails("once in each", EXISTS, c, value(c, "INSERT", parser=0))
    update_fails("scopes change without values of parsers", UNAVAILABLE, c, scope(c))
    c.write(value(c, "DELETE", None, parser=1))
    checks.equal("one parser's go", (finds(c, wires), values(c, parser=0)), ([1, 0, 1], [TYPE]))
    c.write(*[value(c, "INSERT", number, parser=17) for number in range(8)])
    update_fails("a parser's set is full", EXHAUSTED, c, value(c, "INSERT", 8, parser=17))
    c.write(value(c, "INSERT", 8, parser=16))
    for parser in (EVERY, 18):
        update_fails(f"parser {parser}", INVALID, c, value(c, "INSERT", parser=parser))
        fails(f"read of parser {parser}", "UNKNOWN", values, c, parser=parser, codes=[INVALID])
    fails("a list with a mistake", "UNKNOWN", c.write, value(c, "DELETE", parser=0), value(c, "INSERT", 9, parser=1),
          value(c, "INSERT", 9, parser=17), atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR, codes=[0, 0, EXHAUSTED])
    checks.equal("is taken back", (values(c, parser=0), values(c, parser=1)), ([TYPE], []))
    c.write(*[value(c, "DELETE", None, parser=parser) for parser in (0, 16, 17)])
    fails("a scope and a mistake", "UNKNOWN", c.write, scope(c), value(c, "DELETE"),
          atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR, codes=[0, NOT_FOUND])
    checks.equal("the scope is taken back", scopes_now(c)[2], SINGLE)
    c.write(value(c, "INSERT", parser=1))
    checks.equal("with its parsers", finds(c, wires), [0, 1, 0])
    c.write(value(c, "DELETE", parser=1))


def of_gress(c, wires):
    c.write(scope(c, SINGLE, SINGLE, SINGLE, args=0))
    checks.equal("all single", scopes_now(c), (SINGLE, SINGLE, SINGLE, 0))
    for gress in (1, EVERY):
        update_fails(f"gress {gress}", INVALID, c, value(c, "INSERT", pipe=1, parser=0, gress=gress))
    c.write(value(c, "INSERT", pipe=1, parser=0, gress=0))
    checks.equal("a value of one parser of a pipe", finds(c, wires), [0, 0, 1])
    c.write(value(c, "DELETE", pipe=1, parser=0, gress=0))
    update_fails("no such gress of parsers", INVALID, c, scope(c, args=2))
    update_fails("no such scope", INVALID, c, scope(c, parsers=7))
    c.write(scope(c))
    c.write(value(c, "INSERT"))
    checks.equal("of all again", (finds(c, wires), values(c)), ([1, 1, 1], [TYPE]))


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
for i in range(len(PORTS)):
    veth(f"brvs{i}", f"brvt{i}")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    address = f"unix:{folder}/b.sock"
    devices = [{"port": p, "device": f"net_af_packet{i},iface=brvs{i}"} for i, p in enumerate(PORTS)]
    with Switch({"program": PROGRAM, "ports": devices, "bfrt": {"listen": address}}) as sw:
        lines = [Wire(f"brvt{i}") for i in range(len(PORTS))]
        with Controller(address) as controller:
            controller.bind()
            controller.write(controller.update("INSERT", "Ingress.forward", {"hdr.ethernet.dst_addr": 7}, "send",
                                               {"port": 1}))
            for part in (everywhere, of_pipes, of_parsers, of_gress):
                part(controller, lines)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
