# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and the tables that every switch has: multicast, mirror sessions, ports and the device,
by what packets do afterwards; lists of updates that are taken back; the status of each mistake."""
import os
import random
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Expect, Failed, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
INVALID, NOT_FOUND, EXISTS, EXHAUSTED, UNIMPLEMENTED = 3, 5, 6, 8, 12
GROUP, FORWARD, MIRROR_BARE = 0x40, 0x02, 0x08
NODE, RID, PORTS, LAGS, MGID = "$MULTICAST_NODE_ID", "$MULTICAST_RID", "$DEV_PORT", "$MULTICAST_LAG_ID", "$MGID"
VALID, XID, ECMP, LAG = "$MULTICAST_NODE_L1_XID_VALID", "$MULTICAST_NODE_L1_XID", "$MULTICAST_ECMP_ID", LAGS
ROLLBACK = pb.WriteRequest.Atomicity.Value("ROLLBACK_ON_ERROR")

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def order(orders, port, number, session=0, a=0):
    """A packet of everything.p4 (order_h), with a number to know it by."""
    what = bytes([orders, 0]) + port.to_bytes(2, "big") + session.to_bytes(2, "big") + bytes(3) + a.to_bytes(4, "big")
    return (b"\x02" + bytes(11) + b"\x90\x00" + what + bytes(4) + number.to_bytes(4, "big")).ljust(60, b"\0")


class Counter:
    """How many of the packets that are sent on one wire come on each."""

    def __init__(self, wires):
        self.wires, self.number = wires, 0

    def take(self, wire, number, seconds):
        wire.socket.settimeout(seconds)
        found = 0
        try:
            while True:
                frame, address = wire.socket.recvfrom(65536)
                if address[2] != 4 and number.to_bytes(4, "big") in frame:
                    found += 1
                    wire.socket.settimeout(0.2)
        except (TimeoutError, OSError):
            return found

    def __call__(self, orders, port, expected, sender=0, **more):
        """Copies that come, waited for as long as there are fewer than expected."""
        self.number += 1
        number = 0x7e000000 + self.number
        self.wires[sender].socket.send(order(orders, port, number, **more))
        return [self.take(w, number, 5 if n else 0.3) for w, n in zip(self.wires, expected)]


def entries(c, name, **more):
    return {tuple(e[1].values())[0]: e[3] for e in c.read(c.entry(name, **more))}


def node(c, what, number, **data):
    names = {"rid": RID, "ports": PORTS, "lags": LAGS}
    return c.update(what, "$pre.node", None if number is None else {NODE: number},
                    data={names[k]: v for k, v in data.items()})


def group(c, what, mgid, data=None, **more):
    return c.update(what, "$pre.mgid", None if mgid is None else {MGID: mgid}, data=data or {}, **more)


def multicast(c, copies):
    c.write(node(c, "INSERT", 5, rid=7, ports=[1, 2], lags=[]), node(c, "INSERT", 6, rid=8, ports=[2], lags=[]))
    c.write(group(c, "INSERT", 300, {NODE: [5], VALID: [False], XID: [0]}))
    checks.equal("a group of one node", copies(GROUP, 300, [1, 1]), [1, 1])
    checks.equal("nodes are read", entries(c, "$pre.node"),
                 {5: {RID: 7, LAGS: [], PORTS: [1, 2]}, 6: {RID: 8, LAGS: [], PORTS: [2]}})
    c.write(group(c, "MODIFY_INC", 300, {NODE: [6], VALID: [True], XID: [9]}))
    checks.equal("a node is added", copies(GROUP, 300, [1, 2]), [1, 2])
    checks.equal("and excluded by its number", copies(GROUP, 300, [1, 1], a=9), [1, 1])
    got = entries(c, "$pre.mgid")[300]
    checks.equal("groups are read", (got[NODE], got[VALID], got[XID], got[ECMP]), ([5, 6], [False, True], [0, 9], []))
    c.write(group(c, "MODIFY_INC", 300, {NODE: [5]}, mod_del=True))
    checks.equal("a node is taken away", copies(GROUP, 300, [0, 1]), [0, 1])
    c.write(node(c, "MODIFY", 6, ports=[1]))
    checks.equal("a node has another port", copies(GROUP, 300, [1, 0]), [1, 0])
    checks.equal("and its number as before", entries(c, "$pre.node", key={NODE: 6})[6][RID], 8)
    c.write(c.update("INSERT", "$pre.ecmp", {ECMP: 3}, data={NODE: [5, 6]}),
            group(c, "MODIFY", 300, {NODE: [], ECMP: [3]}))
    both = [copies(GROUP, 300, [1, 0], a=hash_value) for hash_value in (0, 1)]
    checks.equal("a hash chooses a node", sorted(map(sum, both)), [1, 2])
    c.write(c.update("INSERT", "$pre.lag", {LAG: 4}, data={PORTS: [1, 2]}), node(c, "MODIFY", 6, ports=[], lags=[4]),
            group(c, "MODIFY", 300, {NODE: [6], ECMP: []}))
    checks.equal("a LAG has one copy", sum(copies(GROUP, 300, [0, 0])), 1)
    c.write(c.update("INSERT", "$pre.prune", {"$MULTICAST_L2_XID": 17}, data={PORTS: [1, 2]}),
            node(c, "MODIFY", 6, ports=[1, 2], lags=[]))
    checks.equal("pruned", copies(GROUP, 300, [0, 0], session=8, a=17 << 16), [0, 0])
    sets = entries(c, "$pre.prune")
    checks.equal("sets are read", (len(sets), sets[17][PORTS], sets[18][PORTS]), (288, [1, 2], []))
    c.write(node(c, "INSERT", 7, rid=8, ports=[2], lags=[]), group(c, "MODIFY_INC", 300, {NODE: [7], VALID: [True],
                                                                                          XID: [4]}))
    try:
        c.write(node(c, "DELETE", 7), node(c, "DELETE", 6), node(c, "MODIFY", 12345, rid=1), atomicity=ROLLBACK)
    except Failed:
        pass
    got = entries(c, "$pre.mgid")[300]
    checks.equal("a node's group, too, is taken back", (sorted(got[NODE]), sorted(got[XID])), ([6, 7], [0, 4]))
    c.write(node(c, "DELETE", 7))
    checks.equal("a deleted node goes from its groups", entries(c, "$pre.mgid")[300][NODE], [6])
    c.write(c.update("MODIFY", "$pre.port", {PORTS: 1}, data={"$MULTICAST_BACKUP_PORT": 2}))
    checks.equal("a backup port", entries(c, "$pre.port", key={PORTS: 1})[1]["$MULTICAST_BACKUP_PORT"], 2)


def slots(c, copies):
    """A node of an ECMP group is chosen by the hashes that chose it before, whatever comes and goes beside it."""
    ecmp = lambda what, nodes, **more: c.update(what, "$pre.ecmp", {ECMP: 8}, data={NODE: nodes}, **more)  # noqa: E731
    c.write(*[node(c, "INSERT", n, rid=n, ports=[1 + n % 2], lags=[]) for n in (20, 21, 23)], ecmp("INSERT",
                                                                                                 [20, 21, 23]),
            group(c, "INSERT", 308, {ECMP: [8]}))
    checks.equal("the third slot", copies(GROUP, 308, [0, 1], a=2), [0, 1])
    c.write(ecmp("MODIFY_INC", [20], mod_del=True))
    checks.equal("is the third still", [copies(GROUP, 308, [0, 1], a=a) for a in (1, 2)], [[0, 1]] * 2)
    c.write(node(c, "INSERT", 22, rid=22, ports=[1], lags=[]), ecmp("MODIFY_INC", [22]))
    checks.equal("a new node takes the empty slot", [copies(GROUP, 308, [1, 0], a=0), copies(GROUP, 308, [0, 1], a=1)],
                 [[1, 0], [0, 1]])
    c.write(group(c, "DELETE", 308), c.update("DELETE", "$pre.ecmp", {ECMP: 8}),
            *[node(c, "DELETE", n) for n in (20, 21, 22, 23)])


def shapes(c):
    """Tables, fields and choices as the driver's descriptions have them (counted there; tables that are only listed have
    their keys)."""
    got = {n: (len(t["key"]), len(t["data"]), t["id"] & 0xffffff) for n, t in c.tables.items() if t["id"] >> 16 != 0xff05 and
           t["id"] >> 24 == 0xff} # those of the traffic manager: test_traffic.py
    checks.equal("tables", got, {
        "tf1.dev.device_configuration": (0, 16, 0x060001), "tf1.dev.warm_init": (0, 3, 0x060002),
        "tf1.snapshot.phv": (1, 0, 0x070001), "tf1.log_tbl_counter": (2, 0, 0x070004),
        "$PORT": (1, 33, 0x010001), "$PORT_STAT": (1, 95, 0x010002),
        "$PORT_HDL_INFO": (2, 1, 0x010003), "$PORT_FP_IDX_INFO": (1, 1, 0x010004), "$PORT_STR_INFO": (1, 1, 0x010005),
        "$pre.mgid": (1, 6, 0x020001), "$pre.node": (1, 3, 0x020002), "$pre.ecmp": (1, 1, 0x020003),
        "$pre.lag": (1, 3, 0x020004), "$pre.prune": (1, 1, 0x020005), "$pre.port": (1, 4, 0x020006),
        "tf1.pktgen.port_cfg": (1, 4, 0x030001), "tf1.pktgen.app_cfg": (1, 14, 0x030002),
        "tf1.pktgen.pkt_buffer": (2, 1, 0x030003), "$mirror.cfg": (1, 19, 0x040001)})
    ids = [[f["singleton"]["id"] for f in c.tables[n]["data"]] for n in ("$PORT", "$PORT_STAT", "$mirror.cfg")]
    checks.equal("ids of fields", [sorted(i) for i in ids], [list(range(1, 34)), list(range(1, 96)),
                                                             list(range(5, 24))])


def multicast_mistakes(c):
    for what, status, update in (
            ("a node that is there", EXISTS, node(c, "INSERT", 6, rid=1, ports=[], lags=[])),
            ("no replication id", INVALID, node(c, "INSERT", 9, ports=[1], lags=[])),
            ("no such port", INVALID, node(c, "INSERT", 9, rid=1, ports=[120], lags=[])),
            ("a port of 32 bits", INVALID, node(c, "INSERT", 9, rid=1, ports=[65537], lags=[])),
            ("a port twice", INVALID, node(c, "INSERT", 9, rid=1, ports=[1, 1], lags=[])),
            ("an absent node changed", NOT_FOUND, node(c, "MODIFY", 99, rid=1)),
            ("an absent node deleted", NOT_FOUND, node(c, "DELETE", 99)),
            ("a group with an absent node", NOT_FOUND, group(c, "INSERT", 301, {NODE: [99]})),
            ("a group with a node twice", EXISTS, group(c, "INSERT", 301, {NODE: [5, 5]})),
            ("lists of two lengths", INVALID, group(c, "INSERT", 301, {NODE: [5], XID: [1, 2]})),
            ("a number beyond its 16 bits", INVALID, group(c, "INSERT", 301, {NODE: [5], XID: [65536]})),
            ("a group that is there", EXISTS, group(c, "INSERT", 300)),
            ("a node is added twice", EXISTS, group(c, "MODIFY_INC", 300, {NODE: [6]})),
            ("an absent node is taken away", NOT_FOUND, group(c, "MODIFY_INC", 300, {NODE: [5]}, mod_del=True)),
            ("added to an absent group", NOT_FOUND, group(c, "MODIFY_INC", 301, {NODE: [5]})),
            ("added to a node", UNIMPLEMENTED, node(c, "MODIFY_INC", 6, ports=[1])),
            ("33 nodes", EXHAUSTED, c.update("INSERT", "$pre.ecmp", {ECMP: 9}, data={NODE: list(range(33))})),
            ("the 256th LAG", INVALID, c.update("INSERT", "$pre.lag", {LAG: 255}, data={PORTS: [1]})),
            ("the 289th set", INVALID, c.update("INSERT", "$pre.prune", {"$MULTICAST_L2_XID": 288}, data={PORTS: []})),
            ("no such port's backup", NOT_FOUND,
             c.update("MODIFY", "$pre.port", {PORTS: 600}, data={"$MULTICAST_BACKUP_PORT": 2})),
            ("no such backup", INVALID,
             c.update("MODIFY", "$pre.port", {PORTS: 2}, data={"$MULTICAST_BACKUP_PORT": 1 << 20})),
            ("no key", INVALID, c.update("INSERT", "$pre.node", data={RID: 1, PORTS: [], LAGS: []})),
            ("a default entry", UNIMPLEMENTED, c.update("MODIFY", "$pre.node", data={RID: 1}, default=True)),
            ("no type", INVALID, node(c, "UNSPECIFIED", 9))):
        update_fails(what, status, c, update)
    fails("an absent node read", "UNKNOWN", entries, c, "$pre.node", key={NODE: 99}, codes=[NOT_FOUND])


def attribute(c, **fields):
    entity = pb.Entity()
    entity.table_attribute.table_id = c.table("$pre.mgid")["id"]
    config = entity.table_attribute.pre_device_config
    config.SetInParent()
    for name, (field, value) in fields.items():
        setattr(getattr(config, name), field, value)
    return entity


def attributes(c, copies):
    change = lambda **fields: c.write(pb.Update(type=pb.Update.Type.Value("INSERT"),  # noqa: E731
                                                entity=attribute(c, **fields)))

    def got():
        a = c.read_raw(attribute(c))[0].entities[0].table_attribute.pre_device_config
        return [a.pre_global_rid.global_rid, a.pre_port_protection.enable, a.pre_fast_failover.enable,
                a.pre_max_nodes_before_yield.count, a.pre_max_node_threshold.node_count]

    checks.equal("attributes at first", got(), [0, True, True, 16, 4096])
    change(pre_global_rid=("global_rid", 77))
    checks.equal("one is changed", got(), [77, True, True, 16, 4096])
    checks.equal("the global number is pruned", copies(GROUP, 300, [0, 0], session=77, a=17 << 16), [0, 0])
    c.write(c.update("INSERT", "$PORT", {PORTS: 1}, data={"$PORT_ENABLE": False}))
    checks.equal("a port that is down is replaced", copies(GROUP, 300, [0, 2], sender=1), [0, 2])
    change(pre_port_protection=("enable", False), pre_max_nodes_before_yield=("count", 2))
    checks.equal("or not", (copies(GROUP, 300, [0, 1], sender=1), got()), ([0, 1], [77, False, True, 2, 4096]))
    change(pre_port_protection=("enable", True))
    c.write(c.update("MODIFY", "$PORT", {PORTS: 1}, data={"$PORT_ENABLE": True}))
    update = pb.Update(type=pb.Update.Type.Value("INSERT"), entity=attribute(c, pre_global_rid=("global_rid", 1 << 16)))
    update_fails("17 bits", INVALID, c, update)
    update.entity.table_attribute.pre_device_config.pre_global_rid.global_rid = 5
    fails("with a mistake", "UNKNOWN", c.write, update, node(c, "MODIFY", 12345, rid=1), atomicity=ROLLBACK,
          codes=[0, NOT_FOUND])
    checks.equal("it is taken back", got()[0], 77)
    entity = pb.Entity()
    entity.table_attribute.table_id = c.table("$PORT_STAT")["id"]
    entity.table_attribute.intvl_ms.intvl_val = 5
    fails("an attribute that is not served", "UNKNOWN", c.read_raw, entity, codes=[UNIMPLEMENTED])
    c.write(c.update("MODIFY", "$pre.port", {PORTS: 2}, data={"$COPY_TO_CPU_PORT_ENABLE": True}))
    checks.equal("the CPU's port", [n for n, d in entries(c, "$pre.port").items() if d["$COPY_TO_CPU_PORT_ENABLE"]],
                 [2])
    c.write(c.update("DELETE", "$pre.port", {PORTS: 2}))
    checks.equal("is the usual one again", entries(c, "$pre.port", key={PORTS: 64})[64]["$COPY_TO_CPU_PORT_ENABLE"],
                 True)


def metadata(c):
    """What a port's packets begin with: everything.p4 does not unpack it, so it is one field of 64 bits."""
    name, field = "IngressParser.$PORT_METADATA", "$DEFAULT_FIELD"
    port = lambda what, number, value=None: c.update(what, name, None if number is None else {  # noqa: E731
        "ig_intr_md.ingress_port": number}, data={} if value is None else {field: value})
    checks.equal("no metadata at first", entries(c, name), {})
    c.write(port("INSERT", 1, 0x0123456789abcdef), port("INSERT", 300, 0))
    checks.equal("metadata", {k: d[field] for k, d in entries(c, name).items()}, {1: 0x0123456789abcdef, 300: 0})
    c.write(port("MODIFY", 1, 7), port("INSERT_OR_MODIFY", 2, 8))
    checks.equal("of one port", entries(c, name, key={"ig_intr_md.ingress_port": 1})[1][field], 7)
    for what, status, update in (("the entry is there", EXISTS, port("INSERT", 1, 1)),
                                 ("it is not", NOT_FOUND, port("MODIFY", 3, 1)),
                                 ("nor to be deleted", NOT_FOUND, port("DELETE", 3)),
                                 ("no such port", INVALID, port("INSERT", 100, 1)),
                                 ("too many bytes", INVALID, port("INSERT", 3, bytes(9))),
                                 ("no key", INVALID, port("INSERT", None, 1)),
                                 ("added to", UNIMPLEMENTED, port("MODIFY_INC", 1, 1)),
                                 ("default", UNIMPLEMENTED, c.update("MODIFY", name, data={field: 1}, default=True))):
        update_fails(what, status, c, update)
    fails("not there", "UNKNOWN", entries, c, name, key={"ig_intr_md.ingress_port": 3}, codes=[NOT_FOUND])
    fails("all or nothing", "UNKNOWN", c.write, port("DELETE", None), port("MODIFY", 1, 9), atomicity=ROLLBACK,
          codes=[0, NOT_FOUND])
    checks.equal("taken back: metadata", {k: d[field] for k, d in entries(c, name).items()}, {1: 7, 2: 8, 300: 0})
    c.write(port("DELETE", 2), port("DELETE", None))
    checks.equal("deleted: metadata", entries(c, name), {})


def taken_back(c):
    """Lists of updates that fail at their end, in random order, leave all as it was."""
    chance = random.Random(29)
    tables = ("$pre.node", "$pre.mgid", "$pre.ecmp", "$pre.lag", "$pre.prune", "$mirror.cfg", "$PORT")

    def everything():
        """The order of a list's elements may be another."""
        return [sorted((str(e[1]), sorted((k, str(sorted(v) if isinstance(v, list) else v)) for k, v in e[3].items()))
                       for e in c.read(c.entry(t))) for t in tables]

    c.write(node(c, "INSERT_OR_MODIFY", 7, rid=1, ports=[2]), group(c, "INSERT", 310, {NODE: [5, 7], ECMP: [3]}))
    before = everything()
    for _ in range(60):
        updates = []
        for _ in range(chance.randrange(1, 8)):
            number = chance.randrange(3, 9)
            updates.append(chance.choice((
                lambda n=number: node(c, "INSERT_OR_MODIFY", n, rid=chance.randrange(99), ports=[1, 2], lags=[]),
                lambda n=number: node(c, "DELETE", n),
                lambda n=number: group(c, "INSERT_OR_MODIFY", 300 + n % 2, {NODE: [n]}),
                lambda n=number: group(c, "DELETE", None),
                lambda n=number: c.update("INSERT_OR_MODIFY", "$mirror.cfg", {"$sid": n}, "$normal",
                                          {"$session_enable": True, "$ucast_egress_port": n}),
                lambda n=number: c.update("DELETE", "$mirror.cfg", {"$sid": n}),
                lambda n=number: c.update("INSERT_OR_MODIFY", "$PORT", {PORTS: 8}, data={"$SPEED": "BF_SPEED_10G"}),
                lambda n=number: c.update("DELETE", "$pre.ecmp", {ECMP: 3}),
                lambda n=number: c.update("DELETE", "$pre.lag", {LAG: 4})))())
        updates.append(node(c, "MODIFY", 12345, rid=1))
        try:
            c.write(*updates, atomicity=ROLLBACK)
            checks.true("a list with a mistake", False)
        except Failed:
            pass
        after = everything()
        if after != before:
            checks.equal("taken back", after, before)
            return
    checks.true("60 lists were taken back", True)


def mirror(c, copies):
    session = {"$direction": "INGRESS", "$session_enable": True, "$ucast_egress_port": 2,
               "$ucast_egress_port_valid": True, "$max_pkt_len": 128}
    update = lambda what, number, data: c.update(what, "$mirror.cfg", None if number is None else {  # noqa: E731
        "$sid": number}, "$normal", data)
    c.write(update("INSERT", 27, session))
    checks.equal("a copy", copies(FORWARD | MIRROR_BARE, 1, [1, 1], session=27), [1, 1])
    got = entries(c, "$mirror.cfg")
    checks.equal("sessions are read", (list(got), {k: got[27][k] for k in session}), ([27], session))
    c.write(update("MODIFY", 27, {"$session_enable": False}))
    checks.equal("not enabled", copies(FORWARD | MIRROR_BARE, 1, [1, 0], session=27), [1, 0])
    checks.equal("and still there", entries(c, "$mirror.cfg")[27]["$max_pkt_len"], 128)
    for what, status, more in (("session 0", INVALID, update("INSERT", 0, session)),
                               ("session 1015", INVALID, update("INSERT", 1015, session)),
                               ("a session that is there", EXISTS, update("INSERT", 27, session)),
                               ("an unknown direction", INVALID, update("MODIFY", 27, {"$direction": "UP"})),
                               ("a hash of 14 bits", INVALID, update("MODIFY", 27, {"$level1_mcast_hash": 8192})),
                               ("no such port", INVALID, update("MODIFY", 27, {"$ucast_egress_port": 512})),
                               ("coalescing", UNIMPLEMENTED, c.update("INSERT", "$mirror.cfg", {"$sid": 3},
                                                                      "$coalescing", {}))):
        update_fails(what, status, c, more)
    c.write(update("DELETE", 27, {}))
    checks.equal("deleted", entries(c, "$mirror.cfg"), {})
    c.write(update("INSERT", 4, session))


def ports(c, sw, copies):
    port = lambda what, number, data=None: c.update(what, "$PORT", None if number is None else {  # noqa: E731
        PORTS: number}, data=data or {})
    checks.equal("no port is there at first", entries(c, "$PORT"), {})
    c.write(port("INSERT", 2, {"$SPEED": "BF_SPEED_100G", "$FEC": "BF_FEC_TYP_NONE", "$PORT_ENABLE": True}))
    got = entries(c, "$PORT")[2]
    checks.equal("a port with a device", [got[k] for k in ("$SPEED", "$PORT_UP", "$N_LANES", "$PORT_NAME", "$CONN_ID",
                                                           "$CHNL_ID", "$TX_MTU", "$IS_VALID")],
                 ["BF_SPEED_100G", True, 1, "1/2", 1, 2, 10240, True])
    checks.equal("it sends", copies(FORWARD, 2, [0, 1]), [0, 1])
    c.write(port("MODIFY", 2, {"$PORT_ENABLE": False}))
    checks.equal("disabled", (entries(c, "$PORT")[2]["$PORT_UP"], copies(FORWARD, 2, [0, 0])), (False, [0, 0]))
    c.write(port("MODIFY", 2, {"$PORT_ENABLE": True}))
    checks.equal("enabled again", copies(FORWARD, 2, [0, 1]), [0, 1])
    c.write(port("INSERT", 40, {"$SPEED": "BF_SPEED_25G", "$PORT_ENABLE": True}))
    checks.equal("a port without a device is down", entries(c, "$PORT")[40]["$PORT_UP"], False)
    checks.has("and the log says so", sw.said(), "port 40 has no device and stays down")
    stats = entries(c, "$PORT_STAT", key={PORTS: 2})[2]
    checks.true("frames are counted", stats["$FramesTransmittedOK"] >= 2 and stats["$OctetsTransmittedTotal"] >= 120)
    c.write(c.update("DELETE", "$PORT_STAT", {PORTS: 2}))
    checks.equal("and begin again", entries(c, "$PORT_STAT", key={PORTS: 2})[2]["$FramesTransmittedOK"], 0)
    c.write(c.update("MODIFY", "$PORT_STAT", {PORTS: 2}, data={"$FramesReceivedOK": 0, "$FramesTransmittedOK": 9}))
    checks.equal("or go on", entries(c, "$PORT_STAT", key={PORTS: 2})[2]["$FramesTransmittedAll"], 9)
    c.write(port("INSERT", 41, {"$LOOPBACK_MODE": "BF_LPBK_MAC_NEAR", "$PORT_ENABLE": True}))
    checks.true("a loop needs no device", "port 41" not in sw.said())
    c.write(port("DELETE", 41))
    for what, status, update in (
            ("a port that is there", EXISTS, port("INSERT", 2, {"$SPEED": "BF_SPEED_100G"})),
            ("no such port", INVALID, port("INSERT", 600, {})),
            ("a port that recirculates", INVALID, port("INSERT", 68, {})),
            ("no such speed", INVALID, port("MODIFY", 2, {"$SPEED": "BF_SPEED_3G"})),
            ("nine lanes", INVALID, port("MODIFY", 2, {"$N_LANES": 9})),
            ("what is only read", UNIMPLEMENTED, port("MODIFY", 2, {"$PORT_UP": True})),
            ("an absent port", NOT_FOUND, port("MODIFY", 3, {})),
            ("a name is only read", UNIMPLEMENTED, c.update("DELETE", "$PORT_STR_INFO", {"$PORT_NAME": "1/0"}))):
        update_fails(what, status, c, update)
    by = lambda table, key: list(entries(c, table, key=key).values())[0][PORTS]  # noqa: E731
    checks.equal("names of ports", [by("$PORT_STR_INFO", {"$PORT_NAME": "1/2"}),
                                    by("$PORT_HDL_INFO", {"$CONN_ID": 17, "$CHNL_ID": 1}),
                                    by("$PORT_FP_IDX_INFO", {"$FP_IDX": 5}),
                                    by("$PORT_HDL_INFO", {"$CONN_ID": 65, "$CHNL_ID": 0})], [2, 129, 5, 64])
    for name in ("0/1", "1/4", "01/2", "1", "x" * 23, "66/0"):
        fails(f"port {name}", "UNKNOWN", entries, c, "$PORT_STR_INFO", key={"$PORT_NAME": name}, codes=[NOT_FOUND])
    fails("a long name", "UNKNOWN", entries, c, "$PORT_STR_INFO", key={"$PORT_NAME": "x" * 24}, codes=[INVALID])
    every = {e[1]["$PORT_NAME"]: e[3][PORTS] for e in c.read(c.entry("$PORT_STR_INFO"))}
    checks.equal("all names", (len(every), len(set(every.values())), every["64/3"]), (260, 260, 3 * 128 + 63))
    c.write(port("DELETE", 40), port("DELETE", 40))
    checks.equal("deleted, and twice is no mistake", list(entries(c, "$PORT")), [2])


def shared(address, owner):
    """Clients of the tables that every switch has, beside the one that owns the program."""
    with Controller(address, client=2) as c, Controller(address, client=3) as another:
        fails("no program yet", "UNKNOWN", c.read, c.entry("$pre.mgid"))
        for one in (c, another):
            one.bind("$SHARED")
        c.write(group(c, "INSERT", 77))
        checks.equal("a group of one is there for all", [77 in entries(x, "$pre.mgid") for x in (c, another, owner)],
                     [True] * 3)
        another.write(group(another, "DELETE", 77))
        name = next(n for n in owner.tables if n.startswith("pipe.Ingress."))
        fails("the program's tables", "UNKNOWN", c.read, c.entry(name), codes=[NOT_FOUND])
        fails("for a call that names no more", "UNKNOWN", owner.read, owner.entry(name), p4_name="$SHARED", codes=[NOT_FOUND])


def device(c):
    (table, key, _, got, default), = c.read(c.entry("tf1.dev.device_configuration", default=True))
    checks.equal("the device", (table, key, default, got["num_pipes"], got["num_stages"], got["recirc_port_list"][:4],
                                got["eth_cpu_port_list"]),
                 ("tf1.dev.device_configuration", {}, True, 4, 12, [68, 69, 70, 71], [64, 65, 66, 67]))
    lists = got["eth_cpu_port_list"] + got["internal_port_list"] + got["external_port_list"]
    checks.equal("no port is in two lists", (len(lists), got["num_front_ports"]), (len(set(lists)), 256))
    change = lambda what, **data: c.update(what, "tf1.dev.device_configuration", data=data, default=True)  # noqa: E731
    now = lambda: c.read(c.entry("tf1.dev.device_configuration", default=True))[0][3]  # noqa: E731
    update_fails("what it is cannot be set", UNIMPLEMENTED, c, change("MODIFY", num_pipes=2))
    c.write(change("MODIFY", selector_member_order=True))
    checks.equal("settings", (now()["selector_member_order"], now()["flow_learn_timeout_usec"]), (True, 500))
    fails("a list with a mistake", "UNKNOWN", c.write, change("MODIFY", flow_learn_timeout_usec=9),
          node(c, "MODIFY", 12345, rid=1), atomicity=ROLLBACK, codes=[0, NOT_FOUND])
    checks.equal("taken back: settings", now()["flow_learn_timeout_usec"], 500)
    c.write(change("DELETE"))
    checks.equal("set back", now()["selector_member_order"], False)


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("fixsw1", "fixh1")
veth("fixsw2", "fixh2")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    PORT_LIST = [{"port": n, "device": f"net_af_packet{n},iface=fixsw{n}"} for n in (1, 2)]
    with Switch({"program": PROGRAM, "ports": PORT_LIST, "bfrt": {"listen": ADDRESS}}) as switch:
        sent = Counter([Wire("fixh1"), Wire("fixh2")])
        with Controller(ADDRESS) as controller:
            controller.bind()
            shapes(controller)
            device(controller)
            ports(controller, switch, sent)
            multicast(controller, sent)
            slots(controller, sent)
            multicast_mistakes(controller)
            attributes(controller, sent)
            mirror(controller, sent)
            metadata(controller)
            taken_back(controller)
            shared(ADDRESS, controller)
            controller.write(group(controller, "DELETE", None), controller.update("DELETE", "$pre.ecmp"),
                             node(controller, "DELETE", None))
            checks.equal("all are deleted", [entries(controller, f"$pre.{t}") for t in ("mgid", "node", "ecmp")],
                         [{}, {}, {}])
        checks.equal("the switch ends well", switch.stop(), 0)
checks.end()
