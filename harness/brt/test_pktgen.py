# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and the packet generators: p4/l2 forwards what they generate, by the header that stands
where a frame has its destination."""
import os
import subprocess
import sys
import tempfile
import time

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("p4/l2/l2.p4")
TOFINO_2 = os.path.abspath("harness/stf/externs/tofino2.p4")
INVALID, NOT_FOUND, UNIMPLEMENTED, IN_USE = 3, 5, 12, 14
ROLLBACK = pb.WriteRequest.Atomicity.Value("ROLLBACK_ON_ERROR")
PORT, APP, BUFFER = "tf1.pktgen.port_cfg", "tf1.pktgen.app_cfg", "tf1.pktgen.pkt_buffer"
ONE_SHOT, PERIODIC, DOWN, PATTERN = ("trigger_timer_one_shot", "trigger_timer_periodic", "trigger_port_down",
                                     "trigger_recirc_pattern")
LENGTH = 60

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def app(c, number, action=None, what="MODIFY", pipe=None, **data):
    return c.update(what, APP, None if number is None else {"app_id": number}, action, data, pipe=pipe)


def now(c, number, pipe=None):
    (_, _, action, data, _), = c.read(c.entry(APP, {"app_id": number}, pipe=pipe))
    return {**data, "action": action.rpartition(".")[2] if action else action}


def counts(c, number, pipe=None):
    data = now(c, number, pipe)
    return data["trigger_counter"], data["batch_counter"], data["pkt_counter"]


def port(c, number, **data):
    return c.update("MODIFY", PORT, {"dev_port": number}, data=data)


def port_now(c, number):
    return c.read(c.entry(PORT, {"dev_port": number}))[0][3]


def buffer(c, offset, octets, size=None, pipe=None):
    update = c.update("MODIFY", BUFFER, {"pkt_buffer_offset": offset, "pkt_buffer_size": size or len(octets)}, data={},
                      pipe=pipe)
    update.entity.table_entry.data.fields.add(field_id=1).stream = octets
    return update


def buffer_now(c, offset, size, pipe=None):
    return bytes(c.read(c.entry(BUFFER, {"pkt_buffer_offset": offset, "pkt_buffer_size": size}, pipe=pipe))[0][3]["buffer"])


def frame(number):
    """What is behind the generator's six bytes: source, type and a number, as live.Wire has it."""
    return (bytes(6) + b"\x90\x00" + number.to_bytes(4, "big")).ljust(LENGTH, b"\0")


def forward(c, *headers, to=1):
    c.write(*[c.update("INSERT", "forward", {"hdr.ethernet.dst_addr": int.from_bytes(h, "big")}, "send", {"port": to})
              for h in headers])


def header(number, high, low, pipe=0):
    return bytes([pipe << 3 | number, 0]) + high.to_bytes(2, "big") + low.to_bytes(2, "big")


def until(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def shapes(c):
    got = {n: (t["size"], [k["name"] for k in t["key"]], sorted(f["singleton"]["id"] for f in t["data"]),
               {a["name"]: [d["name"] for d in a["data"]] for a in t.get("action_specs", [])})
           for n, t in c.tables.items() if "pktgen" in n}
    checks.equal("tables", got, {
        PORT: (256, ["dev_port"], [1, 2, 3, 4], {}),
        APP: (8, ["app_id"], list(range(12, 26)), {ONE_SHOT: ["timer_nanosec"], PERIODIC: ["timer_nanosec"], DOWN: [],
                                                   PATTERN: ["pattern_value", "pattern_mask"]}),
        BUFFER: (1024, ["pkt_buffer_offset", "pkt_buffer_size"], [1], {})})
    off = {"recirculation_enable": True, "pktgen_enable": False, "pattern_matching_enable": False,
           "clear_port_down_enable": False}
    checks.equal("ports at first", (port_now(c, 68), port_now(c, 1)), (off, {**off, "recirculation_enable": False}))
    c.write(port(c, 192, recirculation_enable=True), port(c, 451, recirculation_enable=True))
    checks.equal("ports of the quads that are nobody's recirculate",
                 [port_now(c, p)["recirculation_enable"] for p in (192, 193, 448, 451)], [True, False, False, True])
    c.write(c.update("DELETE", PORT, {"dev_port": 192}), port(c, 451, recirculation_enable=False))
    checks.equal("or not any more", [port_now(c, p)["recirculation_enable"] for p in (192, 451)], [False, False])
    checks.equal("ports that can generate", [e[1]["dev_port"] for e in c.read(c.entry(PORT))],
                 [pipe * 128 + local for pipe in range(4) for local in range(68, 72)])
    checks.equal("applications", [e[1]["app_id"] for e in c.read(c.entry(APP))], list(range(8)))


def pieces(c):
    c.write(buffer(c, 160, frame(1)))
    checks.equal("the buffer", (buffer_now(c, 160, LENGTH), buffer_now(c, 159, 2, pipe=3)), (frame(1), b"\0\0"))
    c.write(buffer(c, 160, b"\1\2\3", pipe=2))
    checks.equal("of one pipe", (buffer_now(c, 160, 3, pipe=2), buffer_now(c, 160, 3, pipe=1)), (b"\1\2\3", b"\0\0\0"))
    c.write(buffer(c, 16384 - 16, b"\xff" * 16), buffer(c, 160, frame(1), pipe=2))
    checks.equal("all of it", len(c.read(c.entry(BUFFER))[0][3]["buffer"]), 16384)
    for what, status, update in (("another size than its bytes", INVALID, buffer(c, 0, b"\1\2", size=3)),
                                 ("beyond the buffer", NOT_FOUND, buffer(c, 16384 - 15, bytes(16))),
                                 ("no size", NOT_FOUND, buffer(c, 0, b"", size=0))):
        update_fails(what, status, c, update)


def one_shot(c, wire):
    c.write(app(c, 3, ONE_SHOT, pipe=0, timer_nanosec=1000, pkt_len=LENGTH, pkt_buffer_offset=160, batch_count_cfg=1,
                packets_per_batch_cfg=2, app_enable=True))
    time.sleep(0.3)
    checks.equal("nothing while the port is closed", (counts(c, 3), wire.receive(0.2)), ((0, 0, 0), None))
    forward(c, *[header(3, batch, n) for batch in range(2) for n in range(3)])
    c.write(port(c, 68, pktgen_enable=True))
    checks.equal("two batches of three", [wire.receive() for _ in range(6)], [1] * 6)
    checks.equal("no more", wire.receive(0.3), None)
    checks.equal("counts", [counts(c, 3, pipe) for pipe in (None, 0, 1)], [(1, 2, 6), (1, 2, 6), (0, 0, 0)])
    checks.equal("it stays enabled", (now(c, 3)["app_enable"], now(c, 3)["action"]), (True, ONE_SHOT))
    c.write(app(c, 3, pipe=0, app_enable=True))
    checks.equal("enabled again it does not begin", wire.receive(0.3), None)
    update_fails("another trigger while enabled", IN_USE, c, app(c, 3, PERIODIC, pipe=0, timer_nanosec=5, pkt_len=LENGTH))
    c.write(app(c, 3, pipe=0, app_enable=False, pkt_counter=40))
    checks.equal("a count is set, the others stay", counts(c, 3), (1, 2, 40))
    c.write(app(c, 5, ONE_SHOT, pipe=2, timer_nanosec=1000, pkt_len=LENGTH, app_enable=True))
    before = [now(c, 5, pipe) for pipe in range(4)]
    update_fails("enabled in one pipe", IN_USE, c, app(c, 5, PERIODIC, timer_nanosec=5, pkt_len=LENGTH + 4))
    checks.equal("all pipes are as before", [now(c, 5, pipe) for pipe in range(4)], before)
    c.write(app(c, 5, pipe=2, app_enable=False))
    c.write(app(c, 5, PERIODIC, timer_nanosec=5, pkt_len=LENGTH + 4))
    checks.equal("in all pipes", [now(c, 5, pipe)["timer_nanosec"] for pipe in range(4)], [5] * 4)
    c.write(app(c, 3, pipe=0, app_enable=True))
    checks.equal("and it begins when it was disabled", [wire.receive() for _ in range(6)], [1] * 6)
    c.write(app(c, 3, ONE_SHOT, pipe=0, timer_nanosec=7, pkt_len=LENGTH, app_enable=False))
    got = now(c, 3, 0)
    checks.equal("an action sets the rest to zero", (got["timer_nanosec"], got["pkt_buffer_offset"], got["batch_count_cfg"],
                                                     got["pkt_counter"]), (7, 0, 0, 46))


def periodic(c, wire):
    forward(c, header(1, 0, 0))
    c.write(buffer(c, 320, frame(2)),
            app(c, 1, PERIODIC, pipe=0, timer_nanosec=2_000_000, pkt_len=LENGTH, pkt_buffer_offset=320, app_enable=True))
    checks.equal("again and again", [wire.receive() for _ in range(5)], [2] * 5)
    c.write(port(c, 68, pktgen_enable=False))
    while wire.receive(0.3) is not None:
        pass
    before = counts(c, 1)
    time.sleep(0.1)
    checks.equal("the port is closed", counts(c, 1), before)
    c.write(port(c, 68, pktgen_enable=True))
    checks.equal("and opened", wire.receive(), 2)
    c.write(app(c, 1, app_enable=False))
    checks.true("disabled in all pipes", not any(now(c, 1, pipe)["app_enable"] for pipe in range(4)))
    while wire.receive(0.3) is not None:
        pass


def ports_down(c, switch, wire):
    forward(c, header(2, 2, 0))
    c.write(buffer(c, 480, frame(3)), app(c, 2, DOWN, pkt_len=LENGTH, pkt_buffer_offset=480, app_enable=True))

    def flap():
        subprocess.run(["ip", "link", "set", "pgh2", "down"], check=True)
        until(lambda: not switch.port(2)["up"])
        subprocess.run(["ip", "link", "set", "pgh2", "up"], check=True)
        until(lambda: switch.port(2)["up"])
    flap()
    checks.equal("a port that was not cleared", (wire.receive(0.3), counts(c, 2)), (None, (0, 0, 0)))
    c.write(port(c, 2, clear_port_down_enable=True))
    checks.equal("cleared", port_now(c, 2)["clear_port_down_enable"], True)
    flap()
    checks.equal("its fall triggers", (wire.receive(), counts(c, 2)), (3, (1, 1, 1)))
    flap()
    checks.equal("once", (wire.receive(0.3), port_now(c, 2)["clear_port_down_enable"]), (None, False))


def mistakes(c):
    whole = {"timer_nanosec": 1000, "pkt_len": LENGTH}
    for what, status, update in (
            ("no such application", NOT_FOUND, app(c, 8, ONE_SHOT, **whole)),
            ("a short packet", INVALID, app(c, 0, ONE_SHOT, timer_nanosec=1, pkt_len=53)),
            ("an offset within a line", INVALID, app(c, 0, ONE_SHOT, **whole, pkt_buffer_offset=8)),
            ("a packet beyond the buffer", INVALID, app(c, 0, ONE_SHOT, **whole, pkt_buffer_offset=16384 - 48)),
            ("batches of a port down", INVALID, app(c, 0, DOWN, pkt_len=LENGTH, batch_count_cfg=1)),
            ("jitter", UNIMPLEMENTED, app(c, 0, ONE_SHOT, **whole, ipg_jitter=1)),
            ("a source that is no internal port", UNIMPLEMENTED, app(c, 0, ONE_SHOT, **whole, pipe_local_source_port=5)),
            ("a timer of nothing", INVALID, app(c, 0, PERIODIC, pkt_len=LENGTH, app_enable=True)),
            ("what another trigger has", NOT_FOUND,
             c.update("MODIFY", APP, {"app_id": 0}, PATTERN, {"pattern_value": 1})),
            ("a port of a device generates", INVALID, port(c, 1, pktgen_enable=True)),
            ("a port of a device recirculates", UNIMPLEMENTED, port(c, 1, recirculation_enable=True)),
            ("a port of the CPU's recirculates", UNIMPLEMENTED, port(c, 65, recirculation_enable=True)),
            ("a port that recirculates does not", UNIMPLEMENTED, port(c, 196, recirculation_enable=False)),
            ("one that recirculates when told to generates", INVALID, port(c, 192, pktgen_enable=True)),
            ("no such port", NOT_FOUND, port(c, 600, pktgen_enable=False)),
            ("no such port to be reset", NOT_FOUND, c.update("DELETE", PORT, {"dev_port": 600})),
            ("a new port that the chip lacks", INVALID, c.update("INSERT", PORT, {"dev_port": 600}, data={"pktgen_enable": False}))):
        if what == "what another trigger has":
            update.entity.table_entry.data.fields[0].field_id = 1 # the timers'
        update_fails(what, status, c, update)


def taken_back(c):
    before = [(now(c, n, pipe), port_now(c, 68), buffer_now(c, 160, LENGTH, pipe)) for n in range(8) for pipe in range(4)]
    fails("a list with a mistake", "UNKNOWN", c.write, app(c, 3, DOWN, pkt_len=70, pkt_counter=9), port(c, 68, pktgen_enable=False),
          buffer(c, 160, bytes(LENGTH)), app(c, None, what="DELETE"), app(c, 9, ONE_SHOT), atomicity=ROLLBACK,
          codes=[0, 0, 0, 0, NOT_FOUND])
    after = [(now(c, n, pipe), port_now(c, 68), buffer_now(c, 160, LENGTH, pipe)) for n in range(8) for pipe in range(4)]
    checks.equal("taken back", after, before)
    c.write(app(c, None, what="DELETE"), c.update("DELETE", BUFFER), c.update("DELETE", PORT))
    checks.equal("all are as at first", [(now(c, n)["pkt_len"], now(c, n)["app_enable"], counts(c, n)) for n in range(8)],
                 [(60, False, (0, 0, 0))] * 8)
    checks.equal("and the buffer, and the port", (buffer_now(c, 160, LENGTH, 2), port_now(c, 68)["pktgen_enable"]),
                 (bytes(LENGTH), False))


def down_2(c, switch):
    """On a Tofino 2 an application takes the falls of some ports, and is told of those that are down when it begins."""
    mask, replay, config = "tf2.pktgen.port_mask", "tf2.pktgen.port_down_replay", "tf2.pktgen.app_cfg"
    every = (1 << 72) - 1

    def masks(pipe=None):
        return [int(e[3]["mask"]) for e in c.read(c.entry(mask, pipe=pipe))]

    def mode(value=None, pipe=None):
        update = c.update("MODIFY", replay, data={"replay_mode": value} if value else {}, pipe=pipe)
        if value:
            return update
        return c.read(c.entry(replay, pipe=pipe))[0][3]["replay_mode"]

    def app_15(what=None, **data):
        return c.update("MODIFY", config, {"app_id": 15}, what, data, pipe=0)

    def triggers():
        (_, _, _, data, _), = c.read(c.entry(config, {"app_id": 15}, pipe=0))
        return data["trigger_counter"]

    def move(name, number, up):
        subprocess.run(["ip", "link", "set", name, "up" if up else "down"], check=True)
        until(lambda: switch.port(number)["up"] == up)

    checks.equal("masks at first", (masks(), masks(3), mode()), ([every] * 2, [every] * 2, "REPLAY_NONE"))
    c.write(c.update("MODIFY", mask, {"port_mask_sel": 1}, data={"mask": 1 << 71 | 1 << 9}, pipe=0))
    checks.equal("of one pipe", (masks(0), masks(1)), ([every, 1 << 71 | 1 << 9], [every] * 2))
    c.write(app_15(DOWN, pkt_len=100, assigned_chnl_id=6, port_mask_sel=1, app_enable=True),
            *[c.update("MODIFY", "tf2.pktgen.port_cfg", {"dev_port": n}, data={"clear_port_down_enable": True}) for n in (8, 9)])
    move("pgh1", 8, False)
    checks.equal("a port that the mask does not have", triggers(), 0)
    move("pgh2", 9, False)
    checks.equal("one that it has", triggers(), 1)
    c.write(app_15(app_enable=False), mode("REPLAY_MISSED", pipe=0), app_15(app_enable=True))
    checks.equal("nothing was missed", (mode(pipe=0), mode(pipe=1), triggers()), ("REPLAY_MISSED", "REPLAY_NONE", 1))
    c.write(app_15(app_enable=False), mode("REPLAY_ALL"), app_15(app_enable=True))
    checks.equal("all that are down, again", triggers(), 2)
    c.write(app_15(app_enable=False), mode("REPLAY_MISSED"))
    move("pgh2", 9, True)
    move("pgh2", 9, False)
    checks.equal("nobody looks", triggers(), 2)
    c.write(app_15(app_enable=True))
    checks.equal("what was missed", triggers(), 3)
    c.write(app_15(app_enable=False), c.update("DELETE", mask), c.update("DELETE", replay), app_15(app_enable=True))
    checks.equal("as at first, and nothing again", (masks(0), mode(pipe=0), triggers()), ([every] * 2, "REPLAY_NONE", 3))
    update = c.update("MODIFY", mask, {"port_mask_sel": 0}, data={"mask": 0})
    update.entity.table_entry.data.fields[0].stream = bytes(8)
    update_fails("a mask of eight bytes", INVALID, c, update)
    update_fails("a third mask", NOT_FOUND, c, c.update("MODIFY", mask, {"port_mask_sel": 2}, data={"mask": 0}))
    update_fails("another word", INVALID, c, mode("REPLAY_SOME"))
    update_fails("a mask that is not there", INVALID, c, app_15(DOWN, pkt_len=100, assigned_chnl_id=6, port_mask_sel=2))
    before = masks(0), mode()
    fails("a list with a mistake", "UNKNOWN", c.write, mode("REPLAY_ALL"),
          c.update("MODIFY", mask, {"port_mask_sel": 0}, data={"mask": 5}), mode("REPLAY_SOME"), atomicity=ROLLBACK,
          codes=[0, 0, INVALID])
    checks.equal("taken back", (masks(0), mode()), before)


def tofino_2(c):
    """Its fields have other types, and more; ports are given by a channel."""
    table = c.tables["tf2.pktgen.app_cfg"]
    checks.equal("tables", sorted(n for n in c.tables if "pktgen" in n),
                 ["tf2.pktgen.app_cfg", "tf2.pktgen.pkt_buffer", "tf2.pktgen.port_cfg", "tf2.pktgen.port_down_replay",
                  "tf2.pktgen.port_mask"])
    checks.equal("an enum", c.tables["tf2.pktgen.port_down_replay"]["data"][0]["singleton"]["type"],
                 {"type": "enum", "choices": ["REPLAY_NONE", "REPLAY_ALL", "REPLAY_MISSED"]})
    types = {f["singleton"]["name"]: f["singleton"]["type"] for f in table["data"]}
    checks.equal("types", (table["size"], len(types), types["pkt_len"], types["assigned_chnl_id"]),
                 (16, 17, {"type": "bytes", "width": 16}, {"type": "bytes", "width": 8}))
    two = lambda number, action, **data: c.update("MODIFY", "tf2.pktgen.app_cfg", {"app_id": number}, action, data)  # noqa: E731
    c.write(two(4, ONE_SHOT, timer_nanosec=9, pkt_len=100, assigned_chnl_id=6, batch_count_cfg=2),
            c.update("MODIFY", "tf2.pktgen.port_cfg", {"dev_port": 6}, data={"pktgen_enable": True}))
    (_, _, _, got, _), = c.read(c.entry("tf2.pktgen.app_cfg", {"app_id": 4}))
    checks.equal("an application", (got["pkt_len"], got["assigned_chnl_id"], got["batch_count_cfg"]), (100, 6, 2))
    for what, status, update in (
            ("the seventeenth application", NOT_FOUND, two(16, ONE_SHOT, pkt_len=100)),
            ("the deparser's trigger", UNIMPLEMENTED, two(4, "trigger_dprsr", pkt_len=100)),
            ("a channel that is not there", UNIMPLEMENTED, two(4, ONE_SHOT, pkt_len=100, assigned_chnl_id=9))):
        update_fails(what, status, c, update)


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("pgsw1", "pgh1")
veth("pgsw2", "pgh2")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    PORT_LIST = [{"port": n, "device": f"net_af_packet{n},iface=pgsw{n}"} for n in (1, 2)]
    with Switch({"program": PROGRAM, "ports": PORT_LIST, "bfrt": {"listen": ADDRESS}}) as switch:
        first = Wire("pgh1")
        with Controller(ADDRESS) as controller:
            controller.bind()
            shapes(controller)
            pieces(controller)
            one_shot(controller, first)
            periodic(controller, first)
            ports_down(controller, switch, first)
            mistakes(controller)
            taken_back(controller)
        checks.equal("the switch ends well", switch.stop(), 0)
    PORT_LIST = [{"port": n + 7, "device": f"net_af_packet{n},iface=pgsw{n}"} for n in (1, 2)]
    with Switch({"program": TOFINO_2, "ports": PORT_LIST, "bfrt": {"listen": ADDRESS}}) as switch:
        with Controller(ADDRESS) as controller:
            controller.bind()
            tofino_2(controller)
            down_2(controller, switch)
        checks.equal("and a Tofino 2", switch.stop(), 0)
checks.end()
