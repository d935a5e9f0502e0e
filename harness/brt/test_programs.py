# SPDX-License-Identifier: Apache-2.0
"""Programs that clients send: what `silken build --sde` writes, warm starts, and what goes wrong with them."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, Failed, call, pb  # noqa: E402
from live import INTERFACES, SILKEN, Checks, Switch, Wire, inside, veth  # noqa: E402

inside(__file__)
EVERYTHING, L2 = os.path.abspath("harness/stf/everything.p4"), os.path.abspath("p4/l2/l2.p4")
MAC, HOST = "hdr.ethernet.dst_addr", "02:00:00:00:00:01"
Set = pb.SetForwardingPipelineConfigRequest
STARTED, FINISHED = 0, 1

checks = Checks()
fails = Expect(checks).fails


def package(text):
    bytes_ = b"SilkenP4" + (1).to_bytes(4, "big") + len(text).to_bytes(4, "big") + text
    return bytes_ + hashlib.sha256(bytes_).digest()


def built(folder, program, name, chip="tofino"):
    """The binary of a program that was laid out."""
    done = subprocess.run([SILKEN, "build", "--sde", folder, program], text=True, capture_output=True, check=False)
    checks.equal(f"{name} is laid out", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    with open(f"{folder}/share/{chip}pd/{name}/pipe/{chip}.bin", "rb") as f:
        return f.read()


def request(client, action, name=None, binary=b"", profiles=("pipe",), scope=(0, 1, 2, 3), **fields):
    r = Set(client_id=client, action=action, **fields)
    if name is not None:
        config = r.config.add(p4_name=name, bfruntime_info=b"{}")
        for profile in profiles:
            config.profiles.add(profile_name=profile, context=b"{}", binary=binary, pipe_scope=scope)
    return r


def send(c, action, *args, **more):
    return call(c.method["SetForwardingPipelineConfig"], request(c.client, action, *args, **more))


def told(c):
    """The next notification of a warm start; its end as the status."""
    try:
        message = next(c.responses)
    except Exception as e:  # noqa: BLE001: the call's own
        return e.code().name
    return message.set_forwarding_pipeline_config_response.set_forwarding_pipeline_config_response_type


def laid_out(folder):
    binary = built(folder, L2, "l2")
    text = binary[16:-32]
    checks.equal("its form", binary, package(text))
    checks.equal("no folder of this machine is in it", b'"/' in text, False)
    with open(f"{folder}/share/p4/targets/tofino/l2.conf", encoding="utf-8") as f:
        device = json.load(f)["p4_devices"][0]
    program = device["p4_programs"][0]
    pipeline = program["p4_pipelines"][0]
    for file in (program["bfrt-config"], pipeline["context"], pipeline["config"]):
        checks.equal(f"{file} is there", os.path.exists(f"{folder}/{file}"), True)
    checks.equal("in all pipes", pipeline["pipe_scope"], [0, 1, 2, 3])
    with open(f"{folder}/{program['bfrt-config']}", encoding="utf-8") as f:
        checks.equal("the schema", len(json.load(f)["tables"]) > 0, True)
    for words, said in ((["--parse-only"], "--sde needs the whole compilation"),
                        (["--bf-rt", "/dev/null"], "leave --bf-rt out")):
        done = subprocess.run([SILKEN, "build", "--sde", folder, *words, L2], text=True, capture_output=True, check=False)
        checks.equal(f"{words[0]} as well", (done.returncode, said in done.stderr), (2, True))
    done = subprocess.run([SILKEN, "build", "--sde", "/dev/null/x", L2], text=True, capture_output=True, check=False)
    checks.equal("where nothing can be", (done.returncode, done.stderr.count("\n")), (1, 1))
    return binary


def bad(c, l2):
    """Each is refused with a sentence, and the program goes on."""
    text = l2[16:-32]
    changed = bytearray(l2)
    changed[100] ^= 1
    for what, binary, said in (
            ("nothing", b"", "not a program of"), ("another binary", b"\0" * 500, "not a program of"),
            ("its head alone", l2[:20], "in its head"), ("truncated", l2[:-1], "where its head says"),
            ("longer", l2 + b"\0", "where its head says"), ("changed", bytes(changed), "digest"),
            ("another version", l2[:8] + (2).to_bytes(4, "big") + l2[12:], "version 2"),
            ("too long", l2[:12] + b"\xff" * 4 + l2[16:], "the most are"),
            ("NUL", package(text + b"\0"), "NUL byte"), ("no program", package(b"control {"), "error"),
            ("no text", package(b""), ""),
            ("directives", package(b'#include "/etc/passwd"\n'), "error"),
            ("a file of the machine", package(b'# 1 "/etc/passwd"\nroot\n'), "error")):
        for action in (Set.VERIFY, Set.VERIFY_AND_WARM_INIT_BEGIN):
            sentence = fails(what, "INVALID_ARGUMENT", send, c, action, "l2", binary)
            checks.has(what, sentence, said)
            checks.equal("nothing of the machine", "root:" in sentence, False)
    for what, code, args, more in (
            ("a name with a path", "INVALID_ARGUMENT", ("../l2", l2), {}),
            ("no name", "INVALID_ARGUMENT", ("", l2), {}), ("a long name", "INVALID_ARGUMENT", ("l" * 64, l2), {}),
            ("no profile", "INVALID_ARGUMENT", ("l2", l2), {"profiles": ()}),
            ("five profiles", "INVALID_ARGUMENT", ("l2", l2), {"profiles": "abcde"}),
            ("a pipe twice", "INVALID_ARGUMENT", ("l2", l2), {"profiles": ("pipe", "pipe2")}),
            ("a pipe that is not there", "INVALID_ARGUMENT", ("l2", l2), {"scope": (4,)}),
            ("another pipeline", "INVALID_ARGUMENT", ("l2", l2), {"profiles": ("other",)}),
            ("another device", "NOT_FOUND", ("l2", l2), {"device_id": 1}),
            ("no program", "INVALID_ARGUMENT", (), {})):
        fails(what, code, send, c, Set.VERIFY_AND_WARM_INIT_BEGIN, *args, **more)
    two = request(1, Set.VERIFY, "l2", l2)
    two.config.add(p4_name="other")
    fails("two programs", "INVALID_ARGUMENT", call, c.method["SetForwardingPipelineConfig"], two)
    fails("an end without a begin", "UNAVAILABLE", send, c, Set.WARM_INIT_END)
    fails("an end with a program", "INVALID_ARGUMENT", send, c, Set.WARM_INIT_END, "l2", l2)
    fails("reconciling", "UNIMPLEMENTED", send, c, Set.RECONCILE_AND_WARM_INIT_END)
    fails("an action that is not there", "INVALID_ARGUMENT", send, c, 77)
    checks.equal("the program goes on", c.read(c.entry("Ingress.forward"))[-1][4], True)


def put(c, table, port):
    c.write(c.update("INSERT", table, {MAC: 0x020000000001}, "send", {"port": port}))


def entries(c, name):
    return len(c.read(c.entry(name))) - 1


def frames(wires, number):
    """On which interface a frame comes out."""
    if not wires:
        return None
    for w in wires[1:]:
        w.drain()
    wires[0].send(HOST, number)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        for i, w in enumerate(wires[1:]):
            if w.receive(0.05) == number:
                return i + 2
    return None


def warm_start(sw, address, l2, wires):
    """From the begin to the end packets go through the old program; a client reads and writes the new one."""
    with Controller(address) as c:
        c.bind()
        put(c, "Ingress.forward", 2)
        c.write(c.update("MODIFY", "Ingress.counts", {"$COUNTER_INDEX": 1}, data={"$COUNTER_SPEC_PKTS": 5,
                                                                                  "$COUNTER_SPEC_BYTES": 5}))
        c.write(c.update("INSERT", "$mirror.cfg", {"$sid": 9}, "$normal",
                         {"$session_enable": True, "$direction": "INGRESS", "$ucast_egress_port": 3,
                          "$ucast_egress_port_valid": True}))
        checks.equal("verified", send(c, Set.VERIFY, "l2", l2), pb.SetForwardingPipelineConfigResponse())
        checks.equal("and nothing changed", entries(c, "Ingress.forward"), 1)
        send(c, Set.VERIFY_AND_WARM_INIT_BEGIN, "l2", l2, base_path="/tmp/brt-programs-here")
        checks.equal("begun", told(c), STARTED)
        checks.equal("its program is another: it is sent away", told(c), "CANCELLED")
        checks.equal("nothing is written where it said", os.path.exists("/tmp/brt-programs-here"), False)
    with Controller(address) as c:
        checks.equal("the new description", c.p4_name, "l2")
        checks.equal("with its binary", [p.binary == l2 for p in c.config.config[0].profiles], [True])
        fails("a second begin", "UNAVAILABLE", send, c, Set.VERIFY_AND_WARM_INIT_BEGIN, "l2", l2)
        c.bind()
        tables = [n for n in c.tables if n.endswith("forward")]
        checks.equal("empty tables", [entries(c, n) for n in tables], [0] * len(tables))
        checks.equal("and no sessions", len(c.read(c.entry("$mirror.cfg"))), 0)
        put(c, tables[0], 3)
        limit = lambda: c.read(c.entry("tf1.tm.port.buffer", {"dev_port": 2}))[0][3]["eg_limit_cells"]  # noqa: E731
        c.write(c.update("MODIFY", "tf1.tm.port.buffer", {"dev_port": 2}, data={"eg_limit_cells": 77}))
        if wires:
            checks.equal("packets take the old program", frames(wires, 1), 2)
        send(c, Set.WARM_INIT_END)
        checks.equal("queues are no program's", limit(), 77)
        checks.equal("ended", told(c), FINISHED)
        if wires:
            checks.equal("packets take the new one", frames(wires, 2), 3)
        checks.equal("with what was written", entries(c, tables[0]), 1)
        fails("ended twice", "UNAVAILABLE", send, c, Set.WARM_INIT_END)
        # the same name: the client stays
        send(c, Set.VERIFY_AND_WARM_INIT_BEGIN_AND_END, "l2", l2, dev_init_mode=Set.HITLESS)
        checks.equal("begun and ended", [told(c), told(c)], [STARTED, FINISHED])
        checks.equal("all is empty", entries(c, tables[0]), 0)
        put(c, tables[0], 2)
        if wires:
            checks.equal("packets", frames(wires, 3), 2)


def gone(address, l2, everything):
    """Clients that go away, and that are in each other's way."""
    with Controller(address, client=7) as c:
        c.bind()
        table = next(n for n in c.tables if n.endswith("forward"))
        checks.equal("one entry", entries(c, table), 1)
        send(c, Set.VERIFY_AND_WARM_INIT_BEGIN, "l2", l2)
        checks.equal("staged", entries(c, table), 0)
    with Controller(address, client=8) as c:
        end = time.monotonic() + 10
        while entries_of(c, table) != 1 and time.monotonic() < end:
            time.sleep(0.05)
        checks.equal("its client went: the old program", entries_of(c, table), 1)
        fails("nothing to end", "UNAVAILABLE", send, c, Set.WARM_INIT_END)
        # a text that no cache has, so that it takes the C compiler's time
        text = re.sub(rb"size = \d+;", b"size = %d;" % (2000 + time.time_ns() % 60000), everything[16:-32], count=1)
        checks.equal("another text", text != everything[16:-32], True)
        slow = package(text)
        first = c.method["SetForwardingPipelineConfig"].future(
            request(8, Set.VERIFY_AND_WARM_INIT_BEGIN, "everything", slow))
        time.sleep(0.1)
        with Controller(address, client=9) as second:
            checks.has("while another compiles",
                       fails("while another compiles", "UNAVAILABLE", send, second, Set.VERIFY, "l2", l2), "client 8")
        first.cancel()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                send(c, Set.VERIFY, "l2", l2)
                break
            except Failed as e:
                checks.equal("it is ended soon", e.code, "UNAVAILABLE")
                time.sleep(0.1)
        checks.equal("a call that was cancelled changed nothing", entries_of(c, table), 1)


def entries_of(c, name):
    return len(c.read(c.entry(name), p4_name="" if c.bound else c.p4_name)) - 1


def replaced(sw, address, everything):
    """`silken ctl program` while a warm start has begun."""
    with Controller(address, client=3) as c:
        send(c, Set.VERIFY_AND_WARM_INIT_BEGIN, "everything", everything)
        checks.equal("begun", told(c), STARTED)
        while sw.ask("program", file=L2)["state"] == "compiling":
            time.sleep(0.05)
        fails("the start is given up", "UNAVAILABLE", send, c, Set.WARM_INIT_END)
        c.describe()
        checks.equal("the other program runs", c.p4_name, "l2")


Controller.bound = False
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    os.mkdir(f"{folder}/tmp")
    temporary = {"TMPDIR": f"{folder}/tmp"}
    l2_binary, everything_binary = laid_out(folder), built(folder, EVERYTHING, "everything")
    devices = ["net_null0,no-rx=1", "net_null1,no-rx=1", "net_null2,no-rx=1"]
    if INTERFACES:
        for port in (1, 2, 3):
            veth(f"sw{port}", f"host{port}")
        devices = [f"net_af_packet{port},iface=sw{port}" for port in (1, 2, 3)]
    with Switch({"program": EVERYTHING, "ports": [{"port": i + 1, "device": d} for i, d in enumerate(devices)],
                 "bfrt": {"listen": ADDRESS}, "requests": {"programs": [os.path.dirname(L2)]}},
                environment=temporary) as switch:
        hosts = [Wire(f"host{port}") for port in (1, 2, 3)] if INTERFACES else []
        with Controller(ADDRESS) as controller:
            controller.bind()
            checks.equal("the binary of the configuration's program",
                         controller.config.config[0].profiles[0].binary == everything_binary, True)
            bad(controller, l2_binary)
        warm_start(switch, ADDRESS, l2_binary, hosts)
        gone(ADDRESS, l2_binary, everything_binary)
        replaced(switch, ADDRESS, everything_binary)
        checks.equal("the switch ends well", switch.stop(), 0)
    with Switch({"program": EVERYTHING, "bfrt": {"listen": ADDRESS, "programs": False},
                 "ports": [{"port": 1, "device": "net_null0,no-rx=1"}]}) as switch:
        with Controller(ADDRESS) as controller:
            checks.has("none is taken",
                       fails("programs off", "UNIMPLEMENTED", send, controller, Set.VERIFY, "l2", l2_binary),
                       "takes no programs")
        checks.equal("the switch ends well", switch.stop(), 0)
    base = {"program": EVERYTHING, "bfrt": {"listen": ADDRESS}, "ports": [{"port": 1, "device": "net_null0,no-rx=1"}]}
    for more, refusal in (({}, None), ({"mirror": [{"id": 5, "port": 1, "direction": "both"}]}, "restart the switch")):
        with Switch({**base, **more}) as switch:
            with Controller(ADDRESS) as controller:
                send(controller, Set.VERIFY_AND_WARM_INIT_BEGIN_AND_END, "l2", l2_binary)
            while (reply := switch.client.request("reload")).get("result", {}).get("state") == "compiling":
                time.sleep(0.05)
            checks.equal(f"a reload is good or not, {refusal}", reply["ok"], refusal is None)
            checks.has("a reload would not bring sessions back", reply.get("error", ""), refusal or "")
            with Controller(ADDRESS, client=2) as controller:
                controller.describe()
                checks.equal(f"after a reload, {refusal}", controller.p4_name, "l2" if refusal else "everything")
            checks.equal("the switch ends well", switch.stop(), 0)
    checks.equal("no folder is left", os.listdir(f"{folder}/tmp"), [])
checks.end()
