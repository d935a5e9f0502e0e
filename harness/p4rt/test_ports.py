# SPDX-License-Identifier: Apache-2.0
"""Values of a type with @p4runtime_translation (P4Runtime specification, sections 7.5.3 and 18.1): ports have the numbers
that the configuration gives them, in keys, arguments, headers of a controller's packets and replicas."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/p4rt", "harness/control"]
import live  # noqa: E402
from client import Client, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PORTS = os.path.abspath("harness/p4rt/ports.p4")
LEFT, RIGHT, CPU, ALL = 70000, 2, 0xfffffffd, 0xffffffff # clients' numbers; device ports 1 and 0
UNNAMED, RECIRCULATES = 0xffff0000 + 9, 0xffffff00      # of device ports 9 and 68
INVALID, OUT_OF_RANGE = 3, 11

checks = Checks()
updates_fail = Expect(checks).updates_fail


def described(c):
    table = c.named(c.info.tables, "Ingress.by_port")
    checks.equal("a key's width and type", [(f.bitwidth, f.type_name.name) for f in table.match_fields], [(32, "line_port_t")])
    action = c.named(c.info.actions, "Ingress.send")
    checks.equal("an argument's", [(p.bitwidth, p.type_name.name) for p in action.params], [(32, "line_port_t")])
    headers = {h.preamble.name: [(m.name, m.bitwidth, m.type_name.name) for m in h.metadata]
               for h in c.info.controller_packet_metadata}
    checks.equal("a header's", headers, {"packet_in": [("pad", 7, ""), ("ingress_port", 32, "line_port_t")],
                                         "packet_out": [("egress_port", 32, "line_port_t"), ("pad", 7, "")]})
    checks.equal("the type", [(t.key, t.value.translated_type.uri, t.value.translated_type.sdn_bitwidth)
                              for t in c.info.type_info.new_types], [("line_port_t", "silken/PortId_t", 32)])


def entries(c):
    every = [c.entry("Ingress.by_port", {"port": a}, ("Ingress.send", [b]))
             for a, b in ((LEFT, RIGHT), (RIGHT, CPU), (CPU, RECIRCULATES), (UNNAMED, UNNAMED + 1))]
    c.write(*[c.update("INSERT", e) for e in every])
    checks.equal("entries are read as they were written", c.read(c.entry("Ingress.by_port")),
                 sorted(every, key=c.read(c.entry("Ingress.by_port")).index))
    checks.equal("one of them", c.read(every[0]), every[:1])
    c.write(*[c.update("DELETE", e) for e in every])
    masked = c.entry("Ingress.by_either", {"port": (LEFT, ALL)}, ("Ingress.send", [RIGHT]), priority=5)
    c.write(c.update("INSERT", masked))
    checks.equal("a whole value under a mask", c.read(c.entry("Ingress.by_either")), [masked])
    c.write(c.update("DELETE", masked))
    updates_fail("ports that nobody has", [INVALID, INVALID, INVALID, OUT_OF_RANGE, INVALID], c,
                 c.update("INSERT", c.entry("Ingress.by_port", {"port": 1}, ("Ingress.send", [LEFT]))),
                 c.update("INSERT", c.entry("Ingress.by_port", {"port": 0}, ("Ingress.send", [LEFT]))),
                 c.update("INSERT", c.entry("Ingress.by_port", {"port": LEFT}, ("Ingress.send", [64]))),
                 c.update("INSERT", c.entry("Ingress.by_port", {"port": 2 ** 32}, ("Ingress.send", [LEFT]))),
                 c.update("INSERT", c.entry("Ingress.by_either", {"port": (0, 1)}, ("Ingress.send", [LEFT]), priority=1)))
    checks.equal("nothing of these is left", c.read(c.entry("Ingress.by_port")) + c.read(c.entry("Ingress.by_either")), [])


def replicas(c):
    group = pb.Entity()
    g = group.packet_replication_engine_entry.multicast_group_entry
    g.multicast_group_id = 4
    g.replicas.add(egress_port=LEFT, instance=1)
    g.replicas.add(egress_port=CPU, instance=1)
    session = pb.Entity()
    s = session.packet_replication_engine_entry.clone_session_entry
    s.session_id = 3
    s.replicas.add(egress_port=CPU, instance=2)
    c.write(c.update("INSERT", group), c.update("INSERT", session))
    checks.equal("replicas", (c.read(group), c.read(session)), ([group], [session]))
    c.write(c.update("DELETE", group), c.update("DELETE", session))
    g.replicas[0].egress_port = 1
    updates_fail("a replica at no port", [INVALID], c, c.update("INSERT", group))


def packets(c, wire, sw):
    payload = (bytes.fromhex("020000000001020000000002") + b"\x90\x00" + b"hello").ljust(60, b"\0")
    wire.socket.send(payload)
    packet = c.next().packet
    checks.equal("a packet in", ([(m.metadata_id, m.value) for m in packet.metadata], packet.payload),
                 ([(1, b"\0"), (2, LEFT.to_bytes(3, "big"))], payload))
    out = pb.PacketOut(payload=payload)
    out.metadata.add(metadata_id=1, value=LEFT.to_bytes(4, "big"))
    out.metadata.add(metadata_id=2, value=b"\0")
    c.send(packet=out)
    wire.socket.settimeout(5)
    got = wire.socket.recv(2000)
    while got[12:14] != b"\x90\x00":
        got = wire.socket.recv(2000)
    checks.equal("a packet out", got, payload)
    out.metadata[0].value = b"\0" # the program decides: this one takes the port at its word, and device port 0 is RIGHT
    c.send(packet=out)
    out.metadata[0].value = b"\1"
    c.send(packet=out)
    error = c.next().error
    checks.equal("one to no port", (error.canonical_code, error.packet_out.packet_out), (INVALID, out))
    checks.equal("one to port 0", sw.port(0)["tx_packets"], 1)


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("p4rtsw1", "p4rth1")
with tempfile.TemporaryDirectory(prefix="silken-p4rt-") as folder:
    ADDRESS = f"unix:{folder}/p.sock"
    with Switch({"program": PORTS, "ports": [{"port": 1, "device": "net_af_packet0,iface=p4rtsw1"},
                                             {"port": 0, "device": "net_null0,no-rx=1"}, {"port": 64, "device": "inside"}],
                 "p4runtime": {"listen": ADDRESS, "ports": [{"id": LEFT, "port": 1}, {"id": RIGHT, "port": 0}]}}) as sw:
        with Client(ADDRESS, 1) as client:
            described(client)
            entries(client)
            replicas(client)
            packets(client, Wire("p4rth1"), sw)
            client.responses.cancel()
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
