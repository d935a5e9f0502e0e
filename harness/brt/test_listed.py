# SPDX-License-Identifier: Apache-2.0
"""docs/controllers.md lists the tables that every switch has, of both chips: those that are served, and those whose
calls end with UNIMPLEMENTED and the table's name. A controller asks each of them."""
import json
import os
import re
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, Failed, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

UNIMPLEMENTED = 12
PROGRAMS = {"tf1": "p4/l2/l2.p4", "tf2": "harness/replay/programs/cut.p4"}

checks = Checks()
update_fails = Expect(checks).update_fails


def documented():
    """Names of the lists in the document, by chip and whether they are served."""
    with open("docs/controllers.md", encoding="utf-8") as f:
        text = f.read().split("## The tables of every switch", 1)[1].split("\n## ", 1)[0]
    found = {}
    for line in text.splitlines():
        m = re.match(r"\| (served|only listed) \| (both|Tofino 1|Tofino 2) \| (.*?) \|", line)
        for chip in {"both": ("tf1", "tf2"), "Tofino 1": ("tf1",), "Tofino 2": ("tf2",)}[m[2]] if m else ():
            for name in re.findall(r"`([^`]+)`", m[3]):
                found[chip + name if name.startswith(".") else name, chip] = m[1] == "served"
    return found


def ask(c, name):
    """None if the table answers, else what it says: of all entries, or of those of one pipe."""
    entity = c.entry(name)
    request = c.request(pb.ReadRequest)
    request.target.pipe_id = 0
    request.entities.append(entity)
    try:
        c.read_raw(request=request)
    except Failed as e:
        codes = [error.canonical_code for error in e.errors]
        return f"{codes} {[error.message for error in e.errors]}" if UNIMPLEMENTED in codes else None
    return None


def chip(name, program, wanted, folder):
    address = f"unix:{folder}/{name}.sock"
    ports = [{"port": 8, "device": "net_null0"}]
    with Switch({"program": os.path.abspath(program), "ports": ports, "bfrt": {"listen": address}}) as sw:
        with Controller(address) as c:
            c.bind()
            tables = [t["name"] for t in json.loads(c.config.non_p4_config.bfruntime_info)["tables"]]
            checks.equal(f"{name}: the list is that of the document", sorted(tables),
                         sorted(t for t, of in wanted if of == name))
            for table in tables:
                said = ask(c, table)
                served = wanted.get((table, name))
                checks.equal(f"{name}: {table} is served", said is None, served)
                if not served:
                    checks.has(f"{name}: {table} is named", said or "", table)
                    said = update_fails(f"{name}: {table} is not written", UNIMPLEMENTED, c,
                                        c.update("MODIFY", table, default=True))
                    checks.has(f"{name}: {table} is named when it is written", said or "", table)
        checks.equal(f"{name}: the switch ends well", sw.stop(), 0)


LISTED = documented()
with tempfile.TemporaryDirectory(prefix="silken-brt-") as made:
    for number, path in PROGRAMS.items():
        chip(number, path, LISTED, made)
checks.end()
