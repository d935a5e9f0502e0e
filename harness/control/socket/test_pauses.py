#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Requests that only read stop packets for short times: what packets change is copied in slices, and text is made of it while
they go on. Flow caches keep what they have; after a change they do not. What changes many entries or cells does it in
slices, too."""
import os
import re
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, "harness/control")
from live import Checks, L2, Switch # noqa: E402

checks = Checks()
SWITCHML = os.path.abspath("p4/switchml/switchml.p4")
PORTS = [{"port": i, "device": f"net_null{i},no-rx=1"} for i in range(2)]


def metrics(sw):
    time.sleep(0.2) # asked more often, the numbers are those of before
    port = re.search(r"^metrics .*port ([0-9]+)\)", sw.said(), re.M)[1]
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}


def during(sw, op, **members):
    """The reply; how many pauses there were meanwhile, and how long they were on average, in seconds."""
    before = metrics(sw)
    result = sw.ask(op, **members)
    after = metrics(sw)
    n, t = (after[f"silken_{x}_total"] - before[f"silken_{x}_total"] for x in ("pauses", "paused_seconds"))
    resets = after["silken_flow_resets_total"] - before["silken_flow_resets_total"]
    print(f"{op} {members}: {n:.0f} pauses, {t * 1e3:.2f} ms together, longest of the run "
          f"{after['silken_longest_pause_seconds'] * 1e3:.2f} ms, "
          f"{after['silken_longest_pause_cpu_seconds'] * 1e3:.2f} ms of processor time")
    return result, n, t, resets


with Switch({"program": SWITCHML, "ports": PORTS, "metrics": {"listen": "127.0.0.1:0"}}) as sw:
    sliced, n, took, resets = during(sw, "state")
    checks.true("many pauses instead of one", n > 1000)
    checks.equal("no flow record is lost by reading", resets, 0)
    whole, n_whole, _, resets = during(sw, "state", whole=True)
    checks.true("the whole state is read in one", n_whole < 100)
    checks.equal("nor by reading all at once", resets, 0)
    checks.true("both are states", all('"silken_state": 1' in s["state"] for s in (sliced, whole)))
    # the same of what nothing changed meanwhile
    checks.equal("and the same", sliced["state"].split('"drops"')[0], whole["state"].split('"drops"')[0])
    checks.has("a wrong word", sw.refused("state", whole=1), "it must be true or false")
    for op in ("stats", "ports", "watch", "objects", "job", "alarms"):
        _, _, _, resets = during(sw, op)
        checks.equal(f"{op} keeps flow records", resets, 0)
    tables = [t["name"] for t in sw.ask("objects")["tables"] if not t["hidden"]]
    _, _, _, resets = during(sw, "table.dump", table=tables[0])
    checks.equal("a dump keeps flow records", resets, 0)
    register = sw.ask("objects")["registers"][0]["name"]
    result, _, _, resets = during(sw, "register.read", name=register)
    checks.equal("a page of cells", len(result["cells"]), 512)
    checks.equal("reading cells keeps flow records", resets, 0)
    _, _, _, resets = during(sw, "register.write", name=register, index=1, value=1)
    checks.true("a write does not", resets > 0)
    checks.equal("ends", sw.stop(), 0)

ENTRIES = 20000
MANY = 10 # pauses: more than a request, the numbers asked for around it and the watch have
with tempfile.TemporaryDirectory(prefix="silken-pauses-") as folder:
    with open(L2) as f:
        text = f.read()
    text = text.replace("size = 1024;", "size = 32768; idle_timeout = true;")
    text = text.replace("    action drop() {", """    Counter<bit<64>, bit<19>>(524288, CounterType_t.PACKETS_AND_BYTES) many;
    Meter<bit<17>>(131072, MeterType_t.BYTES) rates;
    action drop() {""")
    text = text.replace("        forward.apply();", """        forward.apply();
        many.count(hdr.ethernet.src_addr[18:0]);
        if (rates.execute(hdr.ethernet.src_addr[16:0]) == 3) { exit; }""")
    program = os.path.join(folder, "large.p4")
    with open(program, "w") as f:
        f.write(text)
    with Switch({"program": program, "ports": PORTS, "metrics": {"listen": "127.0.0.1:0"}}) as sw:
        def fill():
            for first in range(0, ENTRIES, 500):
                reply = sw.ask("batch", requests=[
                    {"op": "table.add", "table": "forward", "key": {"dst_addr": k}, "action": "send",
                     "args": {"port": 1, "$ENTRY_TTL": 60000}} for k in range(first, first + 500)])
                if reply["done"] != 500:
                    sys.exit(f"entries are refused: {reply['replies'][-1]}")

        fill()
        for op, members in (("idle.update", {"table": "forward"}), ("counter.clear", {"name": "many"}),
                            ("meter.reset", {"name": "rates", "index": "all"}), ("table.clear", {"table": "forward"})):
            _, n, _, _ = during(sw, op, **members)
            checks.true(f"{op}: many pauses instead of one", n > MANY)
        checks.equal("nothing is left", sw.ask("table.dump", table="forward")["entries"], [])
        # in a batch as well
        fill()
        _, n, _, _ = during(sw, "batch", requests=[{"op": "table.clear", "table": "forward"}, {"op": "counter.clear", "name": "many"}])
        checks.true("a batch: many pauses instead of one", n > MANY)
        checks.equal("ends with large tables", sw.stop(), 0)
checks.end()
