# SPDX-License-Identifier: Apache-2.0
"""The program of a running switch replaced: compiled while packets flow, with the entries that the old one had."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path[:0] = ["harness/control", "harness/pcap"]
from captures import pcap  # noqa: E402
from live import Checks, L2, SILKEN, Switch  # noqa: E402

checks = Checks()
FLOOD = {"program": L2, "ports": [{"port": 1, "device": "net_null1,no-rx=1", "name": "sink"},
                                  {"port": 0, "device": "net_null0", "name": "source"}],
         "multicast": {"nodes": [{"id": 1, "rid": 1, "ports": [5]}], "groups": [{"id": 7, "nodes": [1]}]},
         "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 1}},
                     {"table": "forward", "key": {"dst_addr": 9}, "action": "drop"}]}
with open(L2) as f:
    text = f.read()
with Switch(FLOOD) as sw:
    def write(name, program):
        with open(sw.path(name), "w") as out:
            out.write(program)
        return sw.path(name)

    larger = write("larger.p4", text.replace("size = 1024", "size = 2048"))
    other = write("other.p4", text.replace("table forward", "table onward").replace("forward.apply", "onward.apply"))
    wrong = write("wrong.p4", text.replace("action drop()", "action drip()"))
    before = sw.port(0)["rx_packets"]
    status, said = sw.ctl("program", larger)
    checks.equal("replaced", status, 0)
    checks.equal("says so", said, f"program {larger}: kept 2 entries and 0 cells")
    checks.equal("its program", sw.ask("hello")["program"], larger)
    checks.equal("its table", [t["size"] for t in sw.ask("objects")["tables"] if t["name"].endswith("forward")], [2048])
    checks.equal("entries", len(sw.ask("table.dump", table="forward")["entries"]), 2)
    checks.equal("multicast", sw.ask("pre")["groups"][0]["id"], 7)
    checks.true("counts go on", sw.port(0)["rx_packets"] > before)
    checks.equal("and drops are none", sw.ask("stats")["dropped"], 0)
    status, said = sw.ctl("program", wrong)
    checks.equal("one that does not compile", status, 1)
    checks.has("says where", said, "wrong.p4")
    checks.equal("changes nothing", sw.ask("hello")["program"], larger)
    checks.equal("no such file", sw.ctl("program", sw.path("none.p4"))[0], 1)
    checks.has("a path of its own", sw.refused("program", file="x.p4"), "must start with /")
    status, said = sw.ctl("program", other)
    checks.equal("a table of another name", status, 0)
    checks.has("what is lost is named", said, "not kept: 2 entries of pipe.Ingress.forward: there is no such table")
    sw.ask("table.add", table="onward", key={"dst_addr": 0}, action="send", args={"port": 1})
    sent = sw.port(1)["tx_packets"]
    time.sleep(0.2)
    checks.true("goes on", sw.port(1)["tx_packets"] > sent)
    checks.equal("back again", sw.ctl("program", L2)[0], 0)
    checks.equal("ends, all accounted for", sw.stop(), 0)

# ---- what packets left behind stays, wherever it is ----
with open("harness/pcap/replay/state.p4") as f:
    text = f.read().replace("counters = sent;", "counters = sent;\n        idle_timeout = true;")
assert "idle_timeout" in text
LEAVING = {"program": "state.p4",
           "ports": [{"port": 0, "device": "net_null0,no-rx=1"}, {"port": 3, "device": "net_null3,no-rx=1"}],
           "entries": [{"table": "forward", "key": {"dst_addr": 1}, "action": "send",
                        "args": {"port": 3, "$ENTRY_TTL": 3600000}},
                       {"table": "forward", "key": {"dst_addr": 2}, "action": "discard"},
                       {"table": "filter", "priority": 7, "key": {"ether_type": "0x0800 &&& 0xff00"}, "action": "note"},
                       {"table": "filter", "priority": 7, "key": {"ingress_port": "0..9"}, "action": "note"}],
           "meters": [{"name": "policer", "index": 0,
                       "spec": {"cir_pps": 10, "pir_pps": 20, "cbs_pkts": 1000, "pbs_pkts": 2000}}],
           "value_sets": [{"name": "types", "key": {"f1": "0x0800"}}]}
FRAMES = [bytes([0, 0, 0, 0, 0, i % 3]) + bytes([2, 0, 0, 0, 0, i % 5]) + bytes([8 + i % 2, 0]) + bytes(46) for i in range(30)]
# what a replaced program changes in none of them
KEPT = ("registers", "counters", "hits", "entries", "members", "groups", "defaults", "value_sets", "meters", "meter_states",
        "ageing", "drops", "ports", "switch")


def left(sw):
    state = json.loads(sw.ask("state")["state"])
    return {k: state[k] for k in KEPT}


folder = tempfile.mkdtemp(prefix="silken-program-")
for name, program in (("state.p4", text), ("same.p4", text + "// another comment\n")):
    with open(os.path.join(folder, name), "w") as f:
        f.write(program)
with open(os.path.join(folder, "in.pcap"), "wb") as f:
    f.write(pcap([(1, frame) for frame in FRAMES]))
LEAVING["ports"][0]["device"] = f"net_pcap0,rx_pcap={folder}/in.pcap"
with Switch(LEAVING, folder=folder) as sw:
    checks.equal("all have come", sw.becomes(lambda: sw.ask("stats")["rx_packets"], 30), 30)
    before = left(sw)
    for section in ("registers", "counters", "hits", "meters", "meter_states", "ageing", "value_sets"):
        checks.true(f"{section} have something", before[section])
    checks.true("the register has initial values", any("otherwise" in r for r in before["registers"]))
    status, said = sw.ctl("program", sw.path("same.p4"))
    checks.equal("replaced", (status, "not kept" in said), (0, False))
    after = left(sw)
    for section in KEPT:
        checks.equal(f"{section} are as before", after[section], before[section])
    # a table with other keys, an argument more, a register of another shape
    other = (text.replace("hdr.ethernet.dst_addr : exact;", "hdr.ethernet.src_addr : ternary; hdr.ethernet.dst_addr : exact;")
             .replace("Register<int<8>, bit<8>>(8) balance", "Register<int<8>, bit<8>>(4) balance")
             .replace("action note() {", "action note(bit<8> why) {").replace("{5, 0}", "{6, 0}"))
    with open(sw.path("changed.p4"), "w") as f:
        f.write(other)
    status, said = sw.ctl("program", sw.path("changed.p4"))
    checks.equal("another shape", status, 0)
    checks.has("an argument that nobody knows", said, "2 entries of pipe.Ingress.filter: action 'pipe.Ingress.note' has another argument, 'why'")
    checks.has("cells that are not there any more", said, "1 cells of pipe.Ingress.balance: it has fewer cells")
    entries = sw.ask("table.dump", table="forward")["entries"]
    checks.equal("entries whose new field matches anything", len(entries), 2)
    counts = [c for c in left(sw)["counters"] if c["name"].endswith("sent") and "key" in c]
    checks.equal("with their counts", sorted(c["packets"] for c in counts), [10, 10])
    checks.true("and any source", all(c["key"]["hdr.ethernet.src_addr"] == "*" for c in counts), counts)
    checks.equal("ends, all accounted for", sw.stop(), 0)

shutil.rmtree(folder)

# ---- after a trace; a trace of the program that runs ----
with Switch(FLOOD) as sw:
    with open(sw.path("traced.p4"), "w") as f:
        with open(L2) as program:
            f.write(program.read() + "// traced\n")
    for name in (L2, sw.path("traced.p4")):
        sw.ask("trace.start", ports=[0], count=1, timeout=600)
        checks.equal("a trace", sw.becomes(lambda: sw.ask("trace.read")["state"], "done", 120), "done")
        checks.equal("and another program", sw.ctl("program", sw.path("traced.p4"))[0], 0)
    checks.equal("which runs", sw.ask("hello")["program"], sw.path("traced.p4"))
    # an armed trace is ended
    sw.ask("trace.start", ports=[5], count=1, timeout=600)
    checks.equal("armed", sw.becomes(lambda: sw.ask("trace.read")["state"], "armed", 120), "armed")
    # a trace that nobody reads for two seconds goes, so it is read while the program is replaced
    with subprocess.Popen([SILKEN, "ctl", "-s", sw.path("s.sock"), "program", L2], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as replacing:
        while replacing.poll() is None:
            sw.ask("trace.read")
            time.sleep(0.1)
    checks.equal("replaced", replacing.returncode, 0)
    checks.has("is over", sw.ask("trace.read")["error"], "the trace was ended")
    checks.equal("ends, all accounted for", sw.stop(), 0)
checks.end()
