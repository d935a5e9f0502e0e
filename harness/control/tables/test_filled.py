# SPDX-License-Identifier: Apache-2.0
"""Tables that the configuration fills as a whole: read, changed by a reload, kept when the program is replaced, and
closed to single changes."""
import json
import os
import sys

sys.path.insert(0, "harness/control")
from live import Checks, Switch, inside  # noqa: E402

inside(__file__)
checks = Checks()
PROGRAM = os.path.abspath("p4/libra/libra.p4")
EXPONENT, NEAR = "pipe.Ingress.step.x0.exponent", "pipe.Egress.sum0.near"


def filled(table, action, values):
    return {"table": table, "action": action, "values": "".join(f"{v:04x}" for v in values)}


def config(exponents, near=range(7)):
    return {"program": PROGRAM, "ports": [{"port": 1, "device": "net_null1,no-rx=1"}],
            "filled": [filled(EXPONENT, "set_exponent", exponents), filled("sum0.near", "set_near", near)]}


def values(sw, table):
    entries = sw.ask("table.dump", table=table)["entries"]
    found = {}
    for e in entries:
        (key,), (value,) = e["key"].values(), e["args"].values()
        found[int(str(key), 0)] = int(str(value), 0)
    return [found[i] for i in range(len(found))]


def alone():
    first = [(3 * i + 5) % 65536 for i in range(256)]
    with Switch(config(first)) as sw:
        checks.equal("as in the file", values(sw, EXPONENT), first)
        checks.equal("another", values(sw, NEAR), list(range(7)))
        add = sw.ctl("table", "add", EXPONENT, "exponent=3", "set_exponent(value=1)")
        checks.equal("single changes are refused", add[0], 1)
        checks.has("with the reason", str(add), "filled as a whole")
        checks.equal("the program is replaced", sw.ctl("program", PROGRAM)[0], 0)
        checks.equal("the same values", values(sw, EXPONENT), first)
        checks.equal("still filled", sw.ctl("table", "add", EXPONENT, "exponent=3", "set_exponent(value=1)")[0], 1)
        sw.write(config(first[::-1]))
        done = sw.ask("reload")
        checks.equal("one has changed", values(sw, EXPONENT), first[::-1])
        checks.equal("and only that", sum(done.values()), 1)
        sw.write({**config(first), "filled": []})
        sw.ask("reload")
        checks.equal("none is left", (values(sw, EXPONENT), values(sw, NEAR)), ([], []))
        checks.equal("single entries again",
                     sw.ctl("table", "add", EXPONENT, "exponent=3", "set_exponent(value=1)")[0], 0)
        sw.write(config(first))
        checks.has("which keep it from being filled", sw.refused("reload"), "only a table without entries")
        checks.equal("no alarm", "full-table" in sw.said(), False)
        checks.equal("ends", sw.stop(), 0)


alone()
checks.end()
