# SPDX-License-Identifier: Apache-2.0
"""A ToR keeps a program that it can write its tables into, whoever asks for another; and a configuration that is read
again is compared with the program that runs."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, "harness/control")
from live import L2, SILKEN, Checks, Switch # noqa: E402

checks = Checks()
TOR = os.path.abspath("p4/tor/tor.p4")
CONFIG = {"program": TOR, "requests": {"programs": [os.path.abspath("p4"), "."]},
          "ports": [{"port": 1, "device": "net_null1,no-rx=1", "name": "a"},
                    {"port": 2, "device": "net_null2,no-rx=1", "name": "b"}],
          "tor": {"mac": "02:00:00:00:00:fe", "vlans": [{"vid": 10, "addresses": ["10.0.10.1/24"]}],
                  "links": [{"name": "a", "port": "a", "access": 10}, {"name": "b", "port": "b", "access": 10}]}}
REFUSED = "l2.p4 is not the program of a ToR, which \"tor\" of the configuration needs"
with Switch(CONFIG, "--memory", "400") as sw:
    entries = len(sw.ask("table.dump", table="vlans_in")["entries"])
    status, said = sw.ctl("program", L2)
    checks.equal("another program", status, 1)
    checks.has("is refused", said, REFUSED)
    checks.has("with what it lacks", said, "it has no table 'vlans_in'")
    checks.equal("the program stays", sw.ask("hello")["program"], TOR)
    checks.equal("and its entries", len(sw.ask("table.dump", table="vlans_in")["entries"]), entries)
    sw.write({**CONFIG, "program": L2})
    checks.has("by reload", sw.reload().get("error", ""), REFUSED)
    # one with the tables is taken, and is what the file's is compared with
    shutil.copytree("p4", sw.path("p4"))
    mine = sw.path("p4/tor/tor.p4")
    with open(mine, "a") as f:
        f.write("// mine\n")
    sw.write(CONFIG)
    status, said = sw.ctl("program", mine)
    checks.equal("a ToR's", (status, sw.ask("hello")["program"]), (0, mine))
    checks.equal("its entries are written", len(sw.ask("table.dump", table="vlans_in")["entries"]), entries)
    status, said = sw.ctl("reload")
    checks.equal("reload puts the file's back", (status, sw.ask("hello")["program"]), (0, TOR))
    checks.has("and says so", said, f"program {TOR}: kept")
    checks.equal("again: nothing differs", sw.ctl("reload"), (0, "nothing differs"))
    checks.equal("ends, all accounted for", sw.stop(), 0)
    # at the start
    sw.write({**CONFIG, "program": L2})
    r = subprocess.run([SILKEN, "run", "-c", sw.path("c.json"), "--memory", "400"], capture_output=True, text=True, timeout=300,
                       check=False)
    checks.equal("at the start", r.returncode, 2)
    checks.has("one sentence", r.stderr, REFUSED)
checks.end()
