#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of SwitchML, ATP, Libra and DLCP at once on one switch (p4/rack/with_libra.p4) in the simulator: all sums are right, and
none takes longer beside the others than alone; with loss, too, none has a wrong sum. One that has a rate gets no more than
that. The switch's control plane admits the first two, the simulator Libra's."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "harness"))
import tally  # noqa: E402

SILKEN = os.path.join(ROOT, os.environ.get("BUILD", "build"), "silken")
HOSTS = [f"h{i}" for i in range(12)]
BYTES = 1000000
BATCHES = 40   # of each worker of Libra


def work(protocol, runs):
    n = BYTES if runs else 256
    if protocol == "libra":
        return {"parameters": 20000, "zipf": 1.1, "draws": 1000 if runs else 1, "batches": BATCHES if runs else 1,
                "outstanding": 2, "values": "floats", "pull": True}
    if protocol == "dlcp":
        return {"kind": "training", "layers": [{"bytes": n, "compute_us": 1}], "iterations": 2, "values": "floats"}
    return {"kind": "constant", "bytes": n, "count": 2}


def ip(host):
    return f"10.0.0.{HOSTS.index(host) + 2}"   # the switch is the first station


def mac(host):
    return "02:00:00:00:00:%02x" % (HOSTS.index(host) + 2)


# name: of the ToR, of the simulator
JOBS = {
    "resnet": ({"protocol": "switchml", "number": 1, "slots": 64, "workers": ["h0", "h1"]},
               {"protocol": "switchml", "elements": 64, "slots": 64, "workers": ["h0", "h1"]}),
    "bert": ({"protocol": "atp", "number": 2, "aggregators": 2048, "group": "224.1.2.0", "workers": ["h2", "h3"],
              "server": f"h4:{ip('h4')}"},
             {"protocol": "atp", "indices": 2048, "window": 128, "window_max": 256, "workers": ["h2", "h3"],
              "servers": ["h4"]}),
    "vgg": ({"protocol": "switchml", "number": 3, "slots": 64, "workers": ["h5", "h6"], "rate": 1000},
            {"protocol": "switchml", "elements": 64, "slots": 64, "workers": ["h5", "h6"]}),
    "ads": (None, {"protocol": "libra", "hot": 4000, "workers": ["h9", "h10"], "servers": ["h11"]}),
    "lossy": (None, {"protocol": "dlcp", "form": "ring", "bound": 0.05, "workers": ["h7", "h8"]}),
}


def scenario(names, **more):
    """Numbers are by the place in the list, so jobs that are not to run are without work to do."""
    tor = {"mac": "02:00:00:00:00:01", "vlans": [{"vid": 10, "addresses": ["10.0.0.1/24"]}],
           "links": [{"name": h, "port": h, "access": 10} for h in HOSTS],
           "macs": [{"vid": 10, "mac": mac(h), "link": h} for h in HOSTS],
           "neighbours": [{"vid": 10, "mac": mac(h), "address": ip(h)} for h in HOSTS],
           "jobs": [{"name": name, "sessions": False, **of_tor, "workers": [f"{h}:{ip(h)}" for h in of_tor["workers"]]}
                    for name, (of_tor, _) in JOBS.items() if of_tor]}
    return {"name": "mixed", "limit_ms": 5000,
            "topology": {"kind": "rack", "program": os.path.join(ROOT, "p4/rack/with_libra.p4"), "hosts": len(HOSTS),
                         "link": {"gbps": 10, "delay_us": 1}, "switch": {"config": {"tor": tor}}},
            "jobs": [{"name": name, "work": work(of_sim["protocol"], name in names), **of_sim}
                     for name, (_, of_sim) in JOBS.items()],
            **more}


class Rack(unittest.TestCase):
    def sim(self, scenario_, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(scenario_, f)
            done = subprocess.run([SILKEN, "sim", "--json", "-", path, *words], text=True, capture_output=True, timeout=300,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def took(self, result):
        for job in result["jobs"]:
            self.assertEqual(job["outcome"], "sums", job["name"])
        return {job["name"]: job["done_us"] for job in result["jobs"]}

    def test_beside_each_other(self):
        beside = self.took(self.sim(scenario(JOBS)))
        for name in JOBS:
            alone = self.took(self.sim(scenario([name])))[name]
            print(f"{name}: {alone / 1e3:.3f} ms alone, {beside[name] / 1e3:.3f} ms beside the others", flush=True)
            self.assertLess(beside[name], 1.02 * alone, name)
        # both have the same to do, in frames of 312 bytes for 256; but one has a rate of 1 Gbit/s, and bursts of 10 Mbit
        self.assertLess(beside["resnet"], 3000)
        self.assertGreater(beside["vgg"], 2 * BYTES * 8 / 1000 * 312 / 256 - 10000)

    def test_with_loss(self):
        for seed in range(1, 6):
            self.took(self.sim(scenario(JOBS, faults=[{"kind": "loss", "rate": 0.005}]), "--seed", str(seed)))


if __name__ == "__main__":
    tally.main()
