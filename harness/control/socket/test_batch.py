# SPDX-License-Identifier: Apache-2.0
"""Many changes in one request: order, the first failure, what a batch refuses, `silken ctl batch`; the default action
set back."""
import os
import sys

sys.path.insert(0, "harness/control")
from live import Checks, L2, Switch  # noqa: E402

checks = Checks()


def add(mac, port=1):
    return {"op": "table.add", "table": "forward", "key": {"dst_addr": mac}, "action": "send", "args": {"port": port}}


def entries(sw):
    return {e["key"]["hdr.ethernet.dst_addr"] for e in sw.ask("table.dump", table="forward")["entries"]}


def requests(sw):
    got = sw.ask("batch", requests=[add(1), add(2), add(3)])
    checks.equal("all done", (got["done"], [r["ok"] for r in got["replies"]]), (3, [True] * 3))
    checks.equal("all there", len(entries(sw)), 3)
    got = sw.ask("batch", requests=[add(4), add(4), add(5)])
    checks.equal("stops at the first that fails", (got["done"], len(got["replies"])), (1, 2))
    checks.has("with its sentence", got["replies"][1]["error"], "exists")
    checks.equal("those before stay", len(entries(sw)), 4)
    got = sw.ask("batch", requests=[add(4), add(5), {"op": "table.add", "table": "none"}, add(6)],
                 **{"continue": True})
    checks.equal("or goes on", [r["ok"] for r in got["replies"]], [False, True, False, True])
    checks.equal("in order", sw.ask("batch", requests=[
        add(7), {"op": "table.modify", **{k: v for k, v in add(7, 2).items() if k != "op"}},
        {"op": "table.delete", "table": "forward", "key": {"dst_addr": 7}}, add(7, 3)])["done"], 4)
    for members, sentence in (({}, "requests"), ({"requests": {}}, "list of requests"), ({"requests": []}, "1 to 4096"),
                              ({"requests": [{"op": "stats"}] * 4097}, "1 to 4096"),
                              ({"requests": [add(8)], "continue": 1}, "true or false"),
                              ({"requests": [add(8)], "more": 1}, "more")):
        checks.has(f"refused: {sentence}", sw.refused("batch", **members), sentence)
    for request, sentence in ((7, "JSON object"), ({}, "op"), ({"op": "batch", "requests": [add(8)]}, "takes no request"),
                              ({"op": "state"}, "takes no request"), ({"op": "record.start"}, "takes no request"),
                              ({"op": "program", "file": L2}, "takes no request"), ({"op": "x" * 999}, "takes no request"),
                              ({**add(8), "key": {"none": 1}}, "none"), ({**add(8), "extra": 1}, "extra")):
        got = sw.ask("batch", requests=[request])
        checks.equal("nothing done", got["done"], 0)
        checks.has(f"one refused: {sentence}", got["replies"][0]["error"], sentence)
    checks.equal("and nothing changed", len(entries(sw)), 7)


def defaults(sw):
    def default():
        return sw.ask("table.dump", table="macs")["default"]["action"]
    before = default()
    sw.ask("table.default", table="macs", action="to_port", args={"port": 1})
    checks.true("another default action", default() != before)
    sw.ask("table.default.reset", table="macs")
    checks.equal("set back", default(), before)
    sw.ask("table.default", table="macs", action="to_port", args={"port": 1})
    checks.equal("by a command", (sw.ctl("table", "default", "macs", "reset"), default()), ((0, ""), before))
    checks.has("of no table", sw.refused("table.default.reset", table="none"), "none")
    checks.has("nor with an action", sw.refused("table.default.reset", table="macs", action="to_port"), "action")


def commands(sw):
    sw.ask("table.clear", table="forward")
    path = sw.path("commands")

    def batch(text, *words):
        with open(path, "w") as f:
            f.write(text)
        return sw.ctl("batch", path, *words)
    def lines(what, numbers):
        return "".join(f"table {what} forward dst_addr=0x1{i:04x} 'send(port={1 + i % 7})'\n" for i in numbers)
    checks.equal("9000 lines", batch("# all\n\n" + lines("add", range(1000)) + lines("modify", range(1000)) * 8),
                 (0, "9000 of 9000 done"))
    checks.equal("of them", sw.ask("objects")["tables"][0]["entries"][0], 1000)
    status, said = batch("table clear forward\ntable add forward 'dst_addr=1' \"send(port=1)\" # one\n"
                         "table add forward dst_addr=1 'send(port=1)'\ntable add forward dst_addr=2 'send(port=1)'\n")
    checks.equal("stops", status, 1)
    checks.has("names the line", said, f"{path}:3: ")
    checks.has("counts", said, "2 of 4 done")
    status, said = batch("table add forward dst_addr=1 'send(port=1)'\ntable add forward dst_addr=2 'send(port=1)'\n", "continue")
    checks.equal("goes on", (status, "1 of 2 done" in said), (1, True))
    for line, sentence in (("table add forward 'dst_addr=3", "quotation mark"), ("frobnicate", "only commands that change"),
                           ("table dump forward", "no lists"), ("table add", "not understood"), ("program x.p4", "only commands")):
        status, said = batch(f"table clear forward\n{line}\n")
        checks.equal(f"{line}: unusable", status, 2)
        checks.has(f"{line}: a sentence", said, sentence)
        checks.has(f"{line}: the place", said, f"{path}:2: ")
        checks.equal(f"{line}: nothing was sent", len(entries(sw)), 2)
    checks.equal("an empty file", batch("# nothing\n"), (0, "0 of 0 done"))
    checks.has("no file", sw.ctl("batch", sw.path("none"))[1], "cannot open")
    checks.equal("no word", sw.ctl("batch")[0], 2)
    checks.equal("too many words", sw.ctl("batch", path, "go")[0], 2)


with Switch({"program": L2, "ports": [{"port": 0, "device": "net_ring0"}]}) as switch:
    requests(switch)
    commands(switch)
    checks.equal("ends, all accounted for", switch.stop(), 0)
with Switch({"program": os.path.abspath("p4/switchml/switchml.p4"), "ports": [{"port": 0, "device": "net_ring0"}]}) as switch:
    defaults(switch)
    checks.equal("ends too", switch.stop(), 0)
checks.end()
