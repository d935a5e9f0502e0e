# SPDX-License-Identifier: Apache-2.0
"""The configuration read again with another program in it: it takes the place of the one that runs in the same step,
with what is kept and with what the file says; or nothing changes."""
import copy
import json
import signal
import sys

sys.path.insert(0, "harness/control")
from live import Checks, L2, Switch  # noqa: E402

checks = Checks()
with open(L2) as f:
    TEXT = f.read()
BASE = {"program": "base.p4", "ports": [{"port": 1, "device": "net_null1,no-rx=1", "name": "sink"},
                                        {"port": 0, "device": "net_null0", "name": "source"}],
        "multicast": {"nodes": [{"id": 1, "rid": 1, "ports": [5]}], "groups": [{"id": 7, "nodes": [1]}]},
        "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 1}},
                    {"table": "forward", "key": {"dst_addr": 1}, "action": "send", "args": {"port": 1}},
                    {"table": "forward", "key": {"dst_addr": 2}, "action": "send", "args": {"port": 1}}]}
PROGRAMS = {"base.p4": TEXT, "larger.p4": TEXT.replace("size = 1024", "size = 2048"),
            "renamed.p4": TEXT.replace("action send", "action deliver").replace("send;", "deliver;"),
            "control.p4": TEXT.replace("control Ingress(", "control In(").replace("Ingress()", "In()"),
            "wrong.p4": TEXT.replace("action drop()", "action drip()"),
            "defined.p4": TEXT.replace("size = 1024", "size = SIZE")}


def entry(number, action="send", **args):
    return {"table": "forward", "key": {"dst_addr": number}, "action": action, **({"args": args} if args else {})}


def state_of(sw):
    s = json.loads(sw.ask("state")["state"])
    return {"entries": s["entries"], "defaults": s["defaults"], "pre": sw.ask("pre"),
            "program": sw.ask("hello")["program"],
            "ports": [(p["port"], p.get("device")) for p in sw.ask("ports")["ports"]]}


def entries_of(sw):
    return {int(e["key"]["hdr.ethernet.dst_addr"].replace(":", ""), 16): (e["action"].rsplit(".", 1)[1], e["args"].get("port"))
            for e in json.loads(sw.ask("state")["state"])["entries"]}


def size_of(sw):
    return [t["size"] for t in sw.ask("objects")["tables"] if t["name"].endswith("forward")][0]


with Switch({**BASE, "program": L2}, "--memory", "400") as sw:
    for name, text in PROGRAMS.items():
        with open(sw.path(name), "w") as f:
            f.write(text)
    sw.write(BASE)
    checks.equal("from the packaged program to its copy", sw.reload()["ok"], True)

    # ---- one step: program, ports, entries, multicast ----
    sw.ask("table.add", **entry(50, "drop"))                        # at run time
    sw.ask("table.modify", **entry(2, "drop"))                      # at run time, what the file says otherwise
    c = copy.deepcopy(BASE)
    c["program"] = "larger.p4"
    c["ports"].append({"port": 4, "device": "net_ring4"})
    c["multicast"]["groups"].append({"id": 8, "nodes": [1]})
    c["entries"] = [entry(0, port=1), entry(2, port=1)] + [entry(1000 + i, port=4) for i in range(1500)]
    sw.write(c)
    before = sw.port(0)["rx_packets"]
    reply = sw.reload()
    checks.true("taken", reply["ok"], reply.get("error"))
    done = reply["result"]
    checks.equal("says which", done["program"], sw.path("larger.p4"))
    checks.equal("what was kept", (done["kept"], done["lost"], done["ports_added"]), (4, [], 1))
    checks.equal("the program", (sw.ask("hello")["program"], size_of(sw)), (sw.path("larger.p4"), 2048))
    now = entries_of(sw)
    checks.equal("all entries", len(now), 1503)
    checks.equal("one of the file", now[1003], ("send", 4))
    checks.equal("one that is not in the file any more", now.get(1), None)
    checks.equal("one that was written at run time", now[50], ("drop", None))
    checks.equal("one that was changed at run time, and is the same in both files", now[2], ("drop", None))
    checks.equal("multicast", [g["id"] for g in sw.ask("pre")["groups"]], [7, 8])
    checks.equal("a port", "device" in sw.port(4), True)
    checks.true("packets go on", sw.port(0)["rx_packets"] > before)
    done = sw.reload()["result"]
    checks.equal("again: nothing differs", [done["added"], done["changed"], done["removed"], "program" in done],
                 [0, 0, 0, False])

    # ---- refused as a whole ----
    before = state_of(sw)

    def no(name, part, config):
        sw.write(config)
        reply = sw.reload()
        checks.true(f"{name} is refused", not reply["ok"], reply.get("result"))
        checks.has(name, reply.get("error", ""), part)
        checks.equal(f"{name} changes nothing", state_of(sw), before)

    more = {**c, "ports": c["ports"] + [{"port": 6, "device": "net_ring6"}],
            "multicast": {"nodes": [{"id": 1, "rid": 1, "ports": [6]}], "groups": [{"id": 9, "nodes": [1]}]}}
    no("a program that does not compile", "wrong.p4:", {**more, "program": "wrong.p4"})
    no("a program that is not there", "none.p4", {**more, "program": "none.p4"})
    no("a table that is too small for the file", "is full: it holds 1024 entries", {**more, "program": "base.p4"})
    no("entries with an action that is not there", "entries[0]", {**more, "program": "renamed.p4", "entries": BASE["entries"]})
    sw.write({**c, "entries": BASE["entries"]})
    checks.equal("fewer", sw.reload()["ok"], True)
    for i in range(600):
        sw.ask("table.add", **entry(100000 + i, "drop"))
    before = state_of(sw)
    no("a table that is too small for what was written at run time", "is full: it holds 1024 entries",
       {**more, "program": "base.p4", "entries": [entry(500000 + i, port=1) for i in range(900)]})
    no("a port that cannot be opened", "cannot open device", {**more, "program": "base.p4", "entries": [],
                                                            "ports": c["ports"] + [{"port": 7, "device": "net_nothing"}]})
    status, said = sw.ctl("reload")
    checks.equal("ctl says so, too", (status, "cannot open device" in said), (1, True))

    # ---- names that the file has, in a program whose own are others; a signal ----
    sw.ask("table.clear", table="forward")
    sw.write({**BASE, "program": "control.p4"})
    sw.process.send_signal(signal.SIGHUP)
    checks.equal("SIGHUP", sw.becomes(lambda: sw.ask("hello")["program"], sw.path("control.p4"), 600), sw.path("control.p4"))
    checks.equal("the file's entries", entries_of(sw), {0: ("send", 1), 1: ("send", 1), 2: ("send", 1)})
    checks.equal("said", sw.becomes(lambda: "was read again" in sw.said(), True), True)
    # ---- macros, too ----
    sw.write({**BASE, "program": "defined.p4", "define": ["SIZE=512"]})
    status, said = sw.ctl("reload")
    checks.equal("a macro", (status, size_of(sw)), (0, 512))
    checks.has("says so", said, f"program {sw.path('defined.p4')}: kept ")
    sw.write({**BASE, "program": "defined.p4", "define": ["SIZE=256"]})
    checks.equal("another value", (sw.ctl("reload")[0], size_of(sw)), (0, 256))
    # ---- by hand, and then by the file ----
    checks.equal("another by hand", sw.ctl("program", sw.path("larger.p4"))[0] in (0, 1), True)
    sw.write(BASE)
    checks.equal("the file's again", (sw.ctl("reload")[0], sw.ask("hello")["program"]), (0, sw.path("base.p4")))
    sent, lost = sw.port(1)["tx_packets"], sw.ask("stats")["dropped"]
    checks.equal("packets go on", sw.becomes(lambda: sw.port(1)["tx_packets"] > sent, True), True)
    checks.equal("ends, all accounted for", sw.stop(), 0)
checks.end()
