# SPDX-License-Identifier: Apache-2.0
"""A controller of P4Runtime and what comes on its stream: digests and their acknowledgement, entries that become idle,
packets from the CPU port; and packets that it sends."""
import os
import queue
import sys
import tempfile
import threading
import time

sys.path[:0] = ["harness/p4rt", "harness/control"]
import live  # noqa: E402
from client import Client, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

EVERYTHING, PACKETS = os.path.abspath("harness/stf/everything.p4"), os.path.abspath("harness/p4rt/packets.p4")
MAC, DIGEST = "hdr.ethernet.dst_addr", 0x80
INVALID, NOT_FOUND, EXISTS, DENIED, UNAVAILABLE = 3, 5, 6, 7, 14
SECOND = 10 ** 9

checks = Checks()
updates_fail = Expect(checks).updates_fail


class Ears:
    """What comes on a client's stream."""

    def __init__(self, c):
        self.heard = queue.Queue()
        threading.Thread(target=self.listen, args=(c,), daemon=True).start()

    def listen(self, c):
        try:
            for message in c.responses:
                self.heard.put(message)
        except Exception: # pylint: disable=broad-except # how a stream ends depends on the test
            pass

    def next(self, seconds=10):
        try:
            return self.heard.get(timeout=seconds)
        except queue.Empty:
            return None


def frame(mac, orders):
    """An order of everything.p4: see order_h."""
    order = bytes([orders, 0]) + (2).to_bytes(2, "big") + bytes(14)
    return (mac.to_bytes(6, "big") + bytes(6) + b"\x90\x00" + order).ljust(60, b"\0")


def seen(c, **config):
    entity = pb.Entity()
    entity.digest_entry.digest_id = c.id("digests", "IngressDeparser.seen")
    if config:
        for name, value in config.items():
            setattr(entity.digest_entry.config, name, value)
    return entity


def digests(c, ears, wire):
    wire.socket.send(frame(1, DIGEST))
    checks.equal("none before it is configured", ears.next(1), None)
    config = {"max_timeout_ns": SECOND, "max_list_size": 2, "ack_timeout_ns": 600 * SECOND}
    c.write(c.update("INSERT", seen(c, **config)))
    checks.equal("its configuration", c.read(seen(c)), [seen(c, **config)])
    wire.socket.send(frame(0x42, DIGEST))
    told = ears.next().digest
    checks.equal("a digest", (told.digest_id, [[m.bitstring for m in d.struct.members] for d in told.data]),
                 (c.id("digests", "IngressDeparser.seen"), [[b"\x42", b"\2", b"\0"]]))
    wire.socket.send(frame(0x42, DIGEST))
    checks.equal("the same again is not told", ears.next(1), None)
    c.send(digest_ack=pb.DigestListAck(digest_id=told.digest_id, list_id=told.list_id))
    c.send(digest_ack=pb.DigestListAck(digest_id=1, list_id=told.list_id))
    error = ears.next().error
    checks.equal("an acknowledgement of nothing", (error.canonical_code, error.WhichOneof("details")),
                 (NOT_FOUND, "digest_list_ack"))
    wire.socket.send(frame(0x42, DIGEST))
    again = ears.next().digest
    checks.equal("after the acknowledgement it is", ([d.struct.members[0].bitstring for d in again.data],
                                                     again.list_id != told.list_id), ([b"\x42"], True))
    updates_fail("mistakes in digests", [EXISTS, INVALID, INVALID, NOT_FOUND], c, c.update("INSERT", seen(c, **config)),
                 c.update("MODIFY", seen(c)), c.update("MODIFY", seen(c, max_list_size=-1)),
                 c.update("INSERT", pb.Entity(digest_entry=pb.DigestEntry(digest_id=9))))
    c.write(c.update("DELETE", seen(c)))
    wire.socket.send(frame(0x43, DIGEST))
    checks.equal("none any more", ears.next(1), None)
    updates_fail("a second time", [NOT_FOUND], c, c.update("DELETE", seen(c)))


def ageing(c, ears):
    entry = c.entry("Ingress.forward", {MAC: 7}, ("Ingress.send", [2]), idle_timeout_ns=SECOND // 3, metadata=b"note")
    c.write(c.update("INSERT", entry))
    told = ears.next().idle_timeout_notification
    e = told.table_entry[0]
    checks.equal("an idle entry", (e.match, e.metadata, e.HasField("action"), len(told.table_entry)),
                 (entry.table_entry.match, b"note", False, 1))
    checks.true("its time", abs(told.timestamp - time.time_ns()) < 60 * SECOND, str(told.timestamp))
    again = [ears.next().idle_timeout_notification for _ in range(2)]
    checks.equal("and again after each time to live", [a.table_entry for a in again], 2 * [told.table_entry])
    checks.true("not before", again[1].timestamp - told.timestamp > SECOND // 2, str(again))
    c.write(c.update("DELETE", entry))


def commits(c):
    """With VERIFY_AND_COMMIT a client begins with nothing of what others left."""
    entry = c.entry("Ingress.forward", {MAC: 8}, ("Ingress.send", [2]))
    counter = pb.Entity()
    counter.counter_entry.counter_id = c.id("counters", "Ingress.counts")
    counter.counter_entry.index.index = 1
    counter.counter_entry.data.packet_count = 5
    group = pb.Entity()
    group.packet_replication_engine_entry.multicast_group_entry.multicast_group_id = 3
    c.write(c.update("INSERT", entry), c.update("MODIFY", counter), c.update("INSERT", group))
    c.set_config("RECONCILE_AND_COMMIT", c.info, cookie=5)
    checks.equal("it is kept", (len(c.read(entry)), c.read(counter)[0].counter_entry.data.packet_count,
                                len(c.read(group))), (1, 5, 1))
    c.set_config("VERIFY_AND_COMMIT", c.info, cookie=6)
    checks.equal("it is gone", (len(c.read(entry)), c.read(counter)[0].counter_entry.data.packet_count,
                                len(c.read(group)), c.get_config().config.cookie.cookie), (0, 0, 0, 6))


def packet_out(port, mark, payload):
    packet = pb.PacketOut(payload=payload)
    packet.metadata.add(metadata_id=1, value=bytes([port]))
    packet.metadata.add(metadata_id=2, value=mark)
    return packet


def packets(c, ears, wire):
    headers = {h.preamble.name: [(m.id, m.name, m.bitwidth) for m in h.metadata]
               for h in c.info.controller_packet_metadata}
    checks.equal("the headers", headers, {"packet_in": [(1, "pad", 7), (2, "ingress_port", 9)],
                                          "packet_out": [(1, "egress_port", 9), (2, "mark", 23)]})
    checks.equal("their ids", {h.preamble.id >> 24 for h in c.info.controller_packet_metadata}, {4})
    payload = (bytes.fromhex("020000000001020000000002") + b"\x90\x00" + b"hello").ljust(60, b"\0")
    wire.socket.send(payload)
    packet = ears.next().packet
    checks.equal("a packet in", ([(m.metadata_id, m.value) for m in packet.metadata], packet.payload),
                 ([(1, b"\0"), (2, b"\1")], payload))
    c.send(packet=packet_out(1, b"\x01\x02\x03", payload))
    wire.socket.settimeout(5)
    got = wire.socket.recv(2000)
    while got[12:14] != b"\x90\x00" or got == payload:
        got = wire.socket.recv(2000)
    checks.equal("a packet out", got, payload[:9] + b"\x01\x02\x03" + payload[12:])
    for what, bad in (("no metadata", pb.PacketOut(payload=payload)),
                      ("metadata too large", packet_out(1, b"\xff\xff\xff", payload)),
                      ("too long", packet_out(1, b"\1", bytes(20000)))):
        c.send(packet=bad)
        error = ears.next().error
        checks.equal(f"a packet out: {what}", (error.canonical_code, error.WhichOneof("details"),
                                               error.packet_out.packet_out), (INVALID, "packet_out", bad))


def without_inside(c, ears):
    c.send(packet=pb.PacketOut(payload=bytes(60)))
    checks.equal("no way for packets", ears.next().error.canonical_code, UNAVAILABLE)


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("p4rtsw1", "p4rth1")
with tempfile.TemporaryDirectory(prefix="silken-p4rt-") as folder:
    ADDRESS = f"unix:{folder}/p.sock"
    LINE = {"port": 1, "device": "net_af_packet0,iface=p4rtsw1"}
    with Switch({"program": EVERYTHING, "ports": [LINE, {"port": 2, "device": "net_null0,no-rx=1"}],
                 "p4runtime": {"listen": ADDRESS}}) as sw:
        with Client(ADDRESS, 1) as client:
            listener = Ears(client)
            line = Wire("p4rth1")
            digests(client, listener, line)
            ageing(client, listener)
            commits(client)
            without_inside(client, listener)
            client.responses.cancel()
        checks.equal("the switch ends well", sw.stop(), 0)
    with Switch({"program": PACKETS, "ports": [LINE, {"port": 64, "device": "inside"}],
                 "p4runtime": {"listen": ADDRESS}}) as sw:
        with Client(ADDRESS, 1) as client:
            listener = Ears(client)
            packets(client, listener, Wire("p4rth1"))
            client.responses.cancel()
        checks.equal("the switch ends well again", sw.stop(), 0)
checks.end()
