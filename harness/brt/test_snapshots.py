# SPDX-License-Identifier: Apache-2.0
"""Snapshots: a range of stages, a trigger, the next packet that has it, what its headers and tables are at each stage;
up to where fields are in containers; the status of each mistake; the trace of the socket beside one."""
import os
import sys
import tempfile
import time

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
CFG, TRIGGER, DATA, LIVENESS = "snapshot.cfg", "ingress_trigger", "ingress_data", "ingress_liveness"
INVALID, EXISTS, NOT_FOUND, EXHAUSTED, UNIMPLEMENTED = 3, 6, 5, 8, 12
ETHERNET = "hdr.ethernet.dst_addr"

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def frame(mac, orders=0x02, kind=0x9000):
    order = bytes([orders, 0]) + (2).to_bytes(2, "big") + bytes(14)
    return (mac.to_bytes(6, "big") + (0x22).to_bytes(6, "big") + kind.to_bytes(2, "big") + order).ljust(60, b"\0")


def stages(start, end):
    return {"start_stage": start, "end_stage": end}


def add(c, start, end, **data):
    c.write(c.update("INSERT", CFG, stages(start, end), data={"thread": "INGRESS", **data}))


def trigger(c, stage, what="INSERT", enable=True, **fields):
    data = {"enable": enable}
    for name, (value, mask) in fields.items():
        data.update({f"trig.{name}": value, f"trig.{name}_mask": mask})
    return c.update(what, TRIGGER, {"stage": stage}, data=data)


def state(c, stage):
    return c.read(c.entry(TRIGGER, {"stage": stage}))[0][3]["trigger_state"]


def captured(c, stage, pipe=0):
    return c.read(c.entry(DATA, {"stage": stage}, pipe=pipe))[0][3]


def clear(c):
    c.write(c.update("DELETE", TRIGGER))
    c.write(c.update("DELETE", CFG))


def ranges(c):
    add(c, 0, 3)
    add(c, 4, 11, timer_value_usecs=9)
    got = [(key, data) for _, key, _, data, _ in c.read(c.entry(CFG))]
    checks.equal("ranges in their order", [key for key, _ in got], [stages(0, 3), stages(4, 11)])
    checks.equal("what one says", got[1][1], {"timer_enable": False, "timer_value_usecs": 9, "thread": "INGRESS",
                                              "ingress_trigger_mode": "INGRESS"})
    c.write(c.update("MODIFY", CFG, stages(4, 11), data={"timer_value_usecs": 10}))
    checks.equal("changed", c.read(c.entry(CFG, stages(4, 11)))[0][3]["timer_value_usecs"], 10)
    usage = pb.Entity()
    usage.table_usage.table_id = c.table(CFG)["id"]
    checks.equal("usage", c.read_raw(usage)[0].entities[0].table_usage.usage, 2)
    by_key = pb.Entity()
    by_key.handle.table_id = c.table(CFG)["id"]
    c.key(c.table(CFG), stages(4, 11), by_key.handle.key)
    handle = c.read_raw(by_key)[0].entities[0].handle.handle_id
    by_handle = pb.Entity()
    by_handle.table_entry.table_id, by_handle.table_entry.handle_id = c.table(CFG)["id"], handle
    checks.equal("by its handle", c.read(by_handle)[0][1], stages(4, 11))
    c.write(c.update("DELETE", CFG, stages(0, 3)))
    checks.equal("deleted", [key for _, key, *_ in c.read(c.entry(CFG))], [stages(4, 11)])
    clear(c)
    checks.equal("cleared", c.read(c.entry(CFG)), [])


def mistakes(c):
    add(c, 2, 5)
    insert = {"thread": "INGRESS"}
    update_fails("stages of another one", EXISTS, c, c.update("INSERT", CFG, stages(5, 6), data=insert))
    update_fails("a range backwards", INVALID, c, c.update("INSERT", CFG, stages(7, 6), data=insert))
    update_fails("no such stage", INVALID, c, c.update("INSERT", CFG, stages(6, 12), data=insert))
    update_fails("no thread", INVALID, c, c.update("INSERT", CFG, stages(6, 7)))
    update_fails("an unknown thread", INVALID, c, c.update("INSERT", CFG, stages(6, 7), data={"thread": "BOTH"}))
    update_fails("egress", UNIMPLEMENTED, c, c.update("INSERT", CFG, stages(6, 7), data={"thread": "EGRESS"}))
    bad = c.update("INSERT", CFG, stages(6, 7), data={**insert, "timer_enable": True})
    for field in bad.entity.table_entry.data.fields:
        if field.WhichOneof("value") == "bool_val":
            field.str_val = "on"
    update_fails("a timer that is a text", INVALID, c, bad)
    update_fails("what is only read", INVALID, c,
                 c.update("INSERT", CFG, stages(6, 7), data={**insert, "ingress_capture": [0]}))
    update_fails("modify of none", NOT_FOUND, c, c.update("MODIFY", CFG, stages(6, 7), data=insert))
    update_fails("delete of none", NOT_FOUND, c, c.update("DELETE", CFG, stages(6, 7)))
    update_fails("a default entry", UNIMPLEMENTED, c, c.update("MODIFY", CFG, data=insert, default=True))
    update_fails("another kind of update", UNIMPLEMENTED, c, c.update("MODIFY_INC", CFG, stages(2, 5), data=insert))
    update_fails("data are only read", UNIMPLEMENTED, c, c.update("DELETE", DATA))
    update_fails("a trigger without a range", NOT_FOUND, c, trigger(c, 0))
    update_fails("a trigger within one", NOT_FOUND, c, trigger(c, 3))
    update_fails("a trigger of egress", UNIMPLEMENTED, c,
                 c.update("INSERT", "egress_trigger", {"stage": 2}, data={"enable": True}))
    update_fails("modify of no trigger", NOT_FOUND, c, trigger(c, 2, "MODIFY"))
    c.write(trigger(c, 2, enable=False))
    update_fails("twice", EXISTS, c, trigger(c, 2))
    update_fails("a range with a trigger", INVALID, c, c.update("DELETE", CFG, stages(2, 5)))
    update_fails("in a list that is taken back", UNIMPLEMENTED, c, trigger(c, 2, "MODIFY"),
                 atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR)
    add(c, 6, 7)
    c.write(trigger(c, 6))
    update_fails("a second that waits", EXHAUSTED, c, trigger(c, 2, "MODIFY"))
    fails("data of all pipes", "UNKNOWN", c.read, c.entry(DATA, {"stage": 6}), codes=[INVALID])
    fails("data of a stage that caught nothing", "UNKNOWN", c.read, c.entry(DATA, {"stage": 6}, pipe=0),
          codes=[NOT_FOUND])
    fails("a field that is nowhere", "UNKNOWN", c.read, c.entry(LIVENESS, {"field_name": "hdr.none.f"}),
          codes=[NOT_FOUND])
    clear(c)
    checks.equal("cleared", (c.read(c.entry(TRIGGER)), c.read(c.entry(CFG))), ([], []))


def catches(c, sw, wire):
    c.write(c.update("INSERT", "Ingress.forward", {ETHERNET: 7}, "Ingress.send", {"port": 2}))
    live_at = c.read(c.entry(LIVENESS, {"field_name": ETHERNET}))[0]
    checks.equal("the field's name", live_at[1], {"field_name": ETHERNET})
    checks.equal("a key is in a container from the first stage on", live_at[3]["valid_stages"][0], 0)
    add(c, 0, 11)
    c.write(trigger(c, 0, **{ETHERNET: (7, (1 << 48) - 1), "hdr.ethernet.$valid": (1, 1),
                             "ig_intr_md.ingress_port": (1, 0x1ff)}))
    checks.equal("it waits", state(c, 0), ["ARMED"] * 4)

    def full():
        wire.socket.send(frame(8))
        wire.socket.send(frame(7))
        return state(c, 0)[0]

    checks.equal("it catches", sw.becomes(full, "FULL", 300), "FULL")
    checks.equal("in which pipe", (state(c, 0), c.read(c.entry(CFG))[0][3]["ingress_capture"]),
                 (["FULL"] + ["PASSIVE"] * 3, [0]))
    data = captured(c, 0)
    checks.equal("the header", (data[ETHERNET], data["hdr.ethernet.$valid"]), (7, 1))
    checks.equal("where it was triggered", (data["local_stage_trigger"], data["prev_stage_trigger"],
                                            captured(c, 1)["local_stage_trigger"], captured(c, 1)["prev_stage_trigger"]),
                 (True, False, False, True))
    tables = {t["table_name"]: t for stage in range(12) for t in captured(c, stage)["table_info"]}
    checks.equal("the table was hit", tables["pipe.Ingress.forward"],
                 {"table_name": "pipe.Ingress.forward", "table_hit": True, "table_inhibited": False,
                  "table_executed": True})
    checks.equal("no other was", [name for name, t in tables.items() if t["table_hit"]], ["pipe.Ingress.forward"])
    chain = [captured(c, stage)["next_table_name"] for stage in range(12)]
    checks.equal("after the last table there is no next one", chain[-1], "NO_NEXT_TABLE")
    checks.equal("others are tables", all(n in tables or n == "NO_NEXT_TABLE" for n in chain), True)
    checks.equal("all stages at once", [key["stage"] for _, key, *_ in c.read(c.entry(DATA, pipe=0))],
                 list(range(12)))
    only = c.read(c.entry(DATA, {"stage": 0}, data={ETHERNET: None}, pipe=0))[0][3]
    checks.equal("only what is asked for", only, {ETHERNET: 7})
    fails("another pipe", "UNKNOWN", c.read, c.entry(DATA, {"stage": 0}, pipe=1), codes=[NOT_FOUND])
    c.write(c.update("DELETE", TRIGGER))
    fails("with its trigger it goes", "UNKNOWN", c.read, c.entry(DATA, {"stage": 0}, pipe=0), codes=[NOT_FOUND])


def by_a_timer(c, sw, wire):
    """No packet has what the trigger says; the next one after the timer is caught."""
    clear(c)
    add(c, 0, 11, timer_enable=True, timer_value_usecs=2_000_000)
    checks.equal("the timer", c.read(c.entry(CFG))[0][3]["timer_enable"], True)
    c.write(trigger(c, 0, **{ETHERNET: (7, (1 << 48) - 1)}))
    begun, caught = time.monotonic(), None
    while caught is None and time.monotonic() < begun + 60:
        wire.socket.send(frame(8))
        wire.socket.send(frame(7))
        if state(c, 0)[0] == "FULL":
            caught = time.monotonic() - begun
        time.sleep(0.02)
    checks.true(f"after the time, {caught} s", caught is not None and caught >= 2)
    first, second = captured(c, 0), captured(c, 1)
    checks.equal("by the timer", (first["timer_trigger"], first["local_stage_trigger"], second["timer_trigger"],
                                  second["prev_stage_trigger"]), (True, False, False, True))
    checks.true("one of those that came", first[ETHERNET] in (7, 8))
    c.write(c.update("MODIFY", CFG, stages(0, 11), data={"timer_enable": False}), trigger(c, 0, "MODIFY"))
    checks.equal("without the timer", sw.becomes(lambda: (wire.socket.send(frame(7)), state(c, 0)[0])[1], "FULL", 60), "FULL")
    data = captured(c, 0)
    checks.equal("by a packet", (data["timer_trigger"], data["local_stage_trigger"], data[ETHERNET]), (False, True, 7))
    clear(c)
    add(c, 0, 11)


def beside_a_trace(c, sw, wire):
    """Of a trace and a snapshot the one that was first waits; the other follows."""
    c.write(trigger(c, 0, **{ETHERNET: (9, (1 << 48) - 1)}))
    sw.becomes(lambda: "snapshot" in sw.refused("trace.start"), True)
    c.write(c.update("DELETE", TRIGGER))
    sw.becomes(lambda: sw.client.request("trace.start", timeout=60)["ok"], True)
    c.write(trigger(c, 0, **{"hdr.order.$valid": (0, 1)}))
    checks.equal("it waits for the trace", state(c, 0)[0], "ARMED")
    sw.ask("trace.stop")

    def full():
        wire.socket.send(frame(7))
        wire.socket.send(frame(7, kind=0x1234))
        return state(c, 0)[0]

    checks.equal("it catches", sw.becomes(full, "FULL", 300), "FULL")
    data = captured(c, 0)
    checks.equal("a header that is not there", data["hdr.order.$valid"], 0)
    clear(c)


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("brtsw2", "brth2")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    address = f"unix:{folder}/b.sock"
    ports = [{"port": 1, "device": "net_af_packet0,iface=brtsw2"}, {"port": 2, "device": "net_null0,no-rx=1"}]
    with Switch({"program": PROGRAM, "ports": ports, "bfrt": {"listen": address}}) as switch:
        line = Wire("brth2")
        with Controller(address, client=4) as controller:
            controller.bind()
            ranges(controller)
            mistakes(controller)
            catches(controller, switch, line)
            by_a_timer(controller, switch, line)
            beside_a_trace(controller, switch, line)
        checks.equal("the switch ends well", switch.stop(), 0)
checks.end()
