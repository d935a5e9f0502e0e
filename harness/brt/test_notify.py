# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and what it is told without asking: digests, entries that become idle or are matched
again, ports that come up or go down; a client that does not listen is waited for by nobody."""
import os
import sys
import tempfile
import threading
import time

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Failed, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
MAC, DIGEST, FORWARD = "hdr.ethernet.dst_addr", 0x80, 0x02

checks = Checks()


class Ears:
    """What comes on a controller's stream, as it comes."""

    def __init__(self, c):
        self.heard, self.error = [], None
        self.thread = threading.Thread(target=self.listen, args=(c,), daemon=True)
        self.thread.start()

    def listen(self, c):
        try:
            for message in c.responses:
                self.heard.append(message)
        except Exception as e: # how a stream ends depends on the test
            self.error = e

    def of(self, kind, count, seconds=10):
        end = time.monotonic() + seconds
        while True:
            found = [getattr(m, kind) for m in list(self.heard) if m.WhichOneof("update") == kind]
            if len(found) >= count or time.monotonic() > end:
                return found
            time.sleep(0.01)


def frame(mac, orders, a=0):
    """An order of everything.p4: see order_h."""
    order = bytes([orders, 0]) + (2).to_bytes(2, "big") + bytes(5) + bytes([0]) + a.to_bytes(4, "big") + bytes(4)
    return (mac.to_bytes(6, "big") + bytes(6) + b"\x90\x00" + order).ljust(60, b"\0")


def values(data):
    return [int.from_bytes(f.stream, "big") for f in data.fields]


def digests(c, ears, wire, quiet_ears):
    fields = c.learn["pipe.IngressDeparser.seen"]["fields"]
    for mac in range(5):
        wire.socket.send(frame(0x020000000000 + mac, DIGEST))
    end = time.monotonic() + 10
    while sum(len(d.data) for d in ears.of("digest", 1)) < 5 and time.monotonic() < end:
        time.sleep(0.01)
    lists = ears.of("digest", 1)
    checks.equal("whose", {d.digest_id for d in lists}, {c.learn["pipe.IngressDeparser.seen"]["id"]})
    checks.equal("of which pipe", {d.target.pipe_id for d in lists}, {0})
    data = [d for one in lists for d in one.data]
    checks.equal("their fields", [[f.field_id for f in d.fields] for d in data], [[f["id"] for f in fields]] * 5)
    checks.equal("widths", {tuple(len(f.stream) for f in d.fields) for d in data},
                 {tuple((f["type"]["width"] + 7) // 8 for f in fields)})
    checks.equal("addresses in order", [values(d)[0] for d in data], [0x020000000000 + mac for mac in range(5)])
    checks.equal("what the packet says", {tuple(values(d)[1:]) for d in data}, {(2, 0)})
    checks.equal("who did not want them", [m.WhichOneof("update") for m in quiet_ears.heard], [])


def ageing(c, ears, wire):
    update = pb.Update(type=pb.Update.INSERT)
    a = update.entity.table_attribute
    a.table_id = c.table("Ingress.forward")["id"]
    a.idle_table.enable, a.idle_table.idle_table_mode = True, pb.IdleTable.IDLE_TABLE_NOTIFY_MODE
    a.idle_table.ttl_query_interval = 10
    c.write(update)
    c.write(c.update("INSERT", "Ingress.forward", {MAC: 7}, "send", {"port": 2, "$ENTRY_TTL": 300}))
    told = ears.of("idle_timeout_notification", 1)
    checks.equal("idle", [t.type for t in told], [pb.IdleTimeoutNotification.ENTRY_IDLE])
    checks.equal("which entry", [c.decode(t.table_entry)[:2] for t in told], [("pipe.Ingress.forward", {MAC: 7})])
    wire.socket.send(frame(7, 0))
    told = ears.of("idle_timeout_notification", 2)
    checks.equal("matched again", [t.type for t in told][:2], [pb.IdleTimeoutNotification.ENTRY_IDLE,
                                                               pb.IdleTimeoutNotification.ENTRY_ACTIVE])
    a.idle_table.enable = False
    c.write(update)
    before = len(ears.of("idle_timeout_notification", 2))
    time.sleep(1)
    checks.equal("no more", len(ears.of("idle_timeout_notification", 2)), before)
    c.write(c.update("DELETE", "Ingress.forward"))
    apart(c, ears, update)
    stopped(c, update)


def times_left(c):
    return {e[1][MAC]: e[3]["$ENTRY_TTL"] for e in c.read(c.entry("Ingress.forward")) if e[1]}


def apart(c, ears, update):
    """The same key in two pipes, each with entries of its own: each is told, with its pipe."""
    scope = pb.Update(type=pb.Update.INSERT)
    scope.entity.table_attribute.table_id = c.table("Ingress.forward")["id"]
    scope.entity.table_attribute.entry_scope.pipe_scope.predef = pb.Mode.SINGLE
    c.write(scope)
    update.entity.table_attribute.idle_table.enable = True
    c.write(update)
    before = len(ears.of("idle_timeout_notification", 0))
    for pipe, ttl in ((1, 200), (3, 400)):
        c.write(c.update("INSERT", "Ingress.forward", {MAC: 8}, "send", {"port": 2, "$ENTRY_TTL": ttl}, pipe=pipe))
    told = ears.of("idle_timeout_notification", before + 2)[before:]
    checks.equal("each with its pipe", [(t.target.pipe_id, c.decode(t.table_entry)[1]) for t in told],
                 [(1, {MAC: 8}), (3, {MAC: 8})])
    update.entity.table_attribute.idle_table.enable = False
    c.write(update, c.update("DELETE", "Ingress.forward"))
    scope.entity.table_attribute.entry_scope.pipe_scope.predef = pb.Mode.ALL
    c.write(scope)


def stopped(c, update):
    """While ageing is off, the time that an entry has left stands still; then it goes on from there."""
    idle = update.entity.table_attribute.idle_table
    c.write(c.update("INSERT", "Ingress.forward", {MAC: 9}, "send", {"port": 2, "$ENTRY_TTL": 100}),
            c.update("INSERT", "Ingress.forward", {MAC: 10}, "send", {"port": 2, "$ENTRY_TTL": 600000}))
    time.sleep(0.2)
    checks.equal("off from the beginning", times_left(c), {9: 100, 10: 600000})
    idle.enable = True
    c.write(update)
    time.sleep(0.3)
    idle.enable = False
    c.write(update)
    left = times_left(c)
    checks.equal("some of it is over", (left[9], left[10] < 600000), (0, True))
    time.sleep(0.3)
    checks.equal("stands still", times_left(c), left)
    c.write(c.update("INSERT", "Ingress.forward", {MAC: 11}, "send", {"port": 2, "$ENTRY_TTL": 500}))
    time.sleep(0.1)
    checks.equal("one that came meanwhile", times_left(c), {**left, 11: 500})
    idle.enable = True
    c.write(update)
    again = times_left(c)
    checks.equal("goes on", (again[9], again[10] <= left[10], again[10] > left[10] - 60000), (0, True, True))
    idle.enable = False
    c.write(update, c.update("DELETE", "Ingress.forward"))


def bound(c):
    """The client before it may not be gone yet."""
    try:
        c.bind()
    except Failed:
        return False
    return True


def deaf(c, sw, wire):
    """A client that takes nothing, and what it misses is counted and told; others, and its own calls, are served."""
    packet, end = frame(1, DIGEST), time.monotonic() + 120
    while "notifications are lost" not in sw.said() and time.monotonic() < end:
        for _ in range(5000):
            wire.socket.send(packet)
    checks.has("losses are told", sw.said(), "BF Runtime: notifications are lost")
    checks.equal("it is served", len(c.read(c.entry("Ingress.forward"))), 1)
    ears = Ears(c)
    end = time.monotonic() + 60
    while not any(values(d)[0] == 0x42 for one in ears.of("digest",
                                                          0)[-3:] for d in one.data) and time.monotonic() < end:
        wire.socket.send(frame(0x42, DIGEST))
        time.sleep(0.2)
    checks.true("after it has listened it is told again", time.monotonic() < end, f"{len(ears.heard)} messages came")


def port_status(c, ears):
    """Ports that come up and go down, by the controller's own hand and by their link."""
    name, key, data = "$PORT", {"$DEV_PORT": 1}, {"$SPEED": "BF_SPEED_10G", "$FEC": "BF_FEC_TYP_NONE", "$PORT_ENABLE": True}
    update = pb.Update(type=pb.Update.INSERT)
    attribute = update.entity.table_attribute
    attribute.table_id = c.table(name)["id"]
    attribute.port_status_notify.enable = True
    told = lambda count: [(int.from_bytes(n.table_entry.key.fields[0].exact.value, "big"), n.port_up)
                          for n in ears.of("port_status_change_notification", count)]
    c.write(c.update("INSERT", name, key, data=data))
    c.write(update)
    got = c.read_raw(pb.Entity(table_attribute=attribute))[0].entities[0].table_attribute
    checks.equal("the attribute", (got.table_id, got.port_status_notify.enable), (attribute.table_id, True))
    c.write(c.update("MODIFY", name, key, data={"$PORT_ENABLE": False}))
    checks.equal("disabled", told(1), [(1, False)])
    c.write(c.update("MODIFY", name, key, data={"$PORT_ENABLE": True}))
    checks.equal("enabled", told(2), [(1, False), (1, True)])
    live.ip("link", "set", "brth1", "down")
    checks.equal("its link goes", told(3)[2:], [(1, False)])
    live.ip("link", "set", "brth1", "up")
    checks.equal("and comes", told(4)[3:], [(1, True)])
    attribute.port_status_notify.enable = False
    c.write(update)
    c.write(c.update("MODIFY", name, key, data={"$PORT_ENABLE": False}))
    time.sleep(0.5)
    checks.equal("nothing more is told", len(told(4)), 4)
    c.write(c.update("MODIFY", name, key, data={"$PORT_ENABLE": True}))


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("brtsw1", "brth1")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    PORTS = [{"port": 1, "device": "net_af_packet0,iface=brtsw1"}, {"port": 2, "device": "net_null0,no-rx=1"}]
    with Switch({"program": PROGRAM, "ports": PORTS, "bfrt": {"listen": ADDRESS}}) as sw:
        line = Wire("brth1")
        quiet = Controller(ADDRESS, client=5)
        ears_of_quiet = Ears(quiet)
        with Controller(ADDRESS, client=4, learn=True, idletimeout=True, entry_active=True) as controller:
            controller.bind()
            listener = Ears(controller)
            digests(controller, listener, line, ears_of_quiet)
            ageing(controller, listener, line)
        with Controller(ADDRESS, client=6, learn=True) as silent:
            sw.becomes(lambda: bound(silent), True)
            deaf(silent, sw, line)
        with Controller(ADDRESS, client=7, port_status_change=True) as controller:
            controller.bind()
            port_status(controller, Ears(controller))
        quiet.close()
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
