# SPDX-License-Identifier: Apache-2.0
"""A configuration read again with aggregation jobs that cannot be placed is refused as a whole, with the sentence of the
first of them; jobs that can be placed are; what was wrong before and is the same in the file is not looked at again."""
import copy
import os
import sys

sys.path.insert(0, "harness/control")
from live import Checks, Switch # noqa: E402

checks = Checks()
JOB = {"name": "one", "protocol": "switchml", "workers": ["a:10.0.10.2", "b:10.0.10.3"], "slots": 256}
CONFIG = {"program": os.path.abspath("p4/rack/rack.p4"),
          "ports": [{"port": 1, "device": "net_null1,no-rx=1", "name": "a"},
                    {"port": 2, "device": "net_null2,no-rx=1", "name": "b"}],
          "tor": {"mac": "02:00:00:00:00:fe", "vlans": [{"vid": 10, "addresses": ["10.0.10.1/24"]}],
                  "links": [{"name": "a", "port": "a", "access": 10}, {"name": "b", "port": "b", "access": 10}],
                  "state": "jobs.json", "jobs": [JOB]}}


def names(sw):
    return sorted(j["name"] for j in sw.ask("job.list")["jobs"])


with Switch(CONFIG, "--memory", "400") as sw:
    checks.equal("at first", names(sw), ["one"])

    def no(name, part, *jobs, **members):
        c = copy.deepcopy(CONFIG)
        c["tor"]["jobs"] += jobs
        c["tor"].update(members)
        sw.write(c)
        with open(sw.path("jobs.json")) as f:
            state = f.read()
        checks.has(name, sw.refused("reload"), part)
        checks.equal(f"{name}: nothing changed", names(sw), ["one"])
        checks.equal(f"{name}: nor on the disk", open(sw.path("jobs.json")).read(), state)

    two = {**JOB, "name": "two", "workers": ["a:10.0.10.4", "b:10.0.10.5"]}
    no("more slots than there are", "tor.jobs[1]: there is no room for", {**two, "slots": 32768})
    no("a link that is not there", "tor.jobs[1]: workers[0]: there is no link or port 'c'",
       {**two, "workers": ["c:10.0.10.4", "b:10.0.10.5"]})
    no("the second of two", "tor.jobs[2]: ", two, {**two, "name": "three", "protocol": "sum"})
    no("a number that is taken", "tor.jobs[2]: number: another job has 7", {**two, "number": 7}, {**two, "name": "x", "number": 7})
    no("with something else that is good", "tor.jobs[1]: ", {**two, "workers": ["c:10.0.10.4"]},
       vlans=CONFIG["tor"]["vlans"] + [{"vid": 20}])
    c = copy.deepcopy(CONFIG)
    c["tor"]["jobs"].append(two)
    sw.write(c)
    checks.equal("one that can be placed", sw.ctl("reload"), (0, "tor changed"))
    checks.equal("is", names(sw), ["one", "two"])
    checks.equal("no alarm", sw.ask("alarms")["alarms"], [])
    checks.equal("ends", sw.stop(), 0)
    # at the start it is an alarm, and the switch does the rest; a reload that does not change it is none of its own
    c["tor"]["jobs"][1] = {**two, "workers": ["c:10.0.10.4", "b:10.0.10.5"]}
    sw.config = {**c, "control_socket": "s.sock"}
    sw.start()
    checks.equal("the other one is there", "one" in names(sw), True)
    checks.true("an alarm", any("there is no link or port 'c'" in a["text"] for a in sw.ask("alarms")["alarms"]))
    c["tor"]["vlans"].append({"vid": 30})
    sw.write(c)
    checks.equal("another VLAN", sw.ctl("reload"), (0, "tor changed"))
    checks.equal("ends again", sw.stop(), 0)
checks.end()
