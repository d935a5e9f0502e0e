#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of SwitchML, ATP, Libra and DLCP at once on one switch (p4/rack/with_libra.p4) in the simulator: all sums are right, and
none takes longer beside the others than alone; with loss, too, none has a wrong sum. One that has a rate gets no more than
that. The switch's control plane admits all but DLCP's, which needs no admission: Libra's when it is asked to."""
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
BATCHES = 32   # of each worker of Libra: few enough that one that is missing in a sum of floats is noticed
RECIRCULATE = {port: 100000 for port in (68, 196, 325, 452, 453, 454)}   # Mbit/s
LATE_MS = 25


def work(protocol, runs):
    n = BYTES if runs else 256
    if protocol == "libra":
        return {"parameters": 20000, "zipf": 1.1, "draws": 3000 if runs else 1, "batches": BATCHES if runs else 1,
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


def scenario(names, narrow=None, rates=None, late=None, jobs=JOBS, **more):
    """Numbers are by the place in the list, so jobs that are not to run are without work to do. Ports that recirculate are as
    fast as the chip's (100 Gbit/s), or as 'narrow' says. 'rates': others than in JOBS; 'late': who begins at LATE_MS."""
    rates, late = rates or {}, late or []
    tor = {"mac": "02:00:00:00:00:01", "vlans": [{"vid": 10, "addresses": ["10.0.0.1/24"]}],
           "links": [{"name": h, "port": h, "access": 10} for h in HOSTS],
           "macs": [{"vid": 10, "mac": mac(h), "link": h} for h in HOSTS],
           "neighbours": [{"vid": 10, "mac": mac(h), "address": ip(h)} for h in HOSTS],
           "jobs": [{"name": name, "sessions": False, **of_tor, "workers": [f"{h}:{ip(h)}" for h in of_tor["workers"]]}
                    for name, (of_tor, _) in jobs.items() if of_tor]}
    run = []
    for name, (_, of_sim) in jobs.items():
        run.append({"name": name, "work": work(of_sim["protocol"], name in names), **of_sim})
        if name in late:
            run[-1]["work"]["start_ms"] = LATE_MS
    for job in tor["jobs"] + [job for job in run if job["protocol"] == "libra"]:
        if rates.get(job["name"]):
            job["rate"] = rates[job["name"]]
        elif job["name"] in rates:
            job.pop("rate", None)
    queues = [{"port": port, "speed": mbps} for port, mbps in {**RECIRCULATE, **(narrow or {})}.items()]
    return {"name": "mixed", "limit_ms": 5000,
            "topology": {"kind": "rack", "program": os.path.join(ROOT, "p4/rack/with_libra.p4"), "hosts": len(HOSTS),
                         "link": {"gbps": 10, "delay_us": 1}, "switch": {"config": {"tor": tor, "queues": queues}}},
            "jobs": run, **more}


class Rack(unittest.TestCase):
    def sim(self, scenario_, *words, status=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(scenario_, f)
            done = subprocess.run([SILKEN, "sim", "--json", "-", path, *words], text=True, capture_output=True, timeout=300,
                                  check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def took(self, result):
        for job in result["jobs"]:
            self.assertEqual(job["outcome"], "sums", job["name"])
        return {job["name"]: job["done_us"] for job in result["jobs"]}

    def in_the_switch(self, result, *names):
        """Jobs of Libra, whose sums have all been compared, and are in the switch for the most part."""
        for job in result["jobs"]:
            if job["name"] in names:
                self.assertGreater(job["verified"], 1000)
                self.assertEqual(job["unchecked"], 0)
                self.assertGreater(job["hot_share"], 0.5)

    def test_beside_each_other(self):
        result = self.sim(scenario(JOBS))
        self.in_the_switch(result, "ads")
        beside = self.took(result)
        for name in JOBS:
            alone = self.took(self.sim(scenario([name])))[name]
            print(f"{name}: {alone / 1e3:.3f} ms alone, {beside[name] / 1e3:.3f} ms beside the others", flush=True)
            self.assertLess(beside[name], 1.02 * alone, name)
        # both have the same to do, in frames of 312 bytes for 256; but one has a rate of 1 Gbit/s, and bursts of 10 Mbit
        self.assertLess(beside["resnet"], 3000)
        self.assertGreater(beside["vgg"], 2 * BYTES * 8 / 1000 * 312 / 256 - 10000)

    def shares(self, name, other, port, rate, most, least):
        """Job 'name', which begins when the burst of 'other' is over, in a port that both use, of 10 Gbit/s: beside one with
        this rate it takes at most 'most' times what it takes alone, beside one without at least 'least' times."""
        def one(names, rate):
            s = scenario(names, narrow={port: 10000}, rates={other: rate}, late=[name])
            for job in s["jobs"]:
                if job["name"] == other and other in names:
                    job["work"].update({"batches": 600} if job["protocol"] == "libra" else {"count": 26})
                elif job["name"] == name and job["protocol"] == "switchml":
                    job["work"].update({"count": 10})
            return self.took(self.sim(s))[name] - 1000 * LATE_MS
        alone, limited, free = one([name], rate), one([name, other], rate), one([name, other], 0)
        print(f"{name} beside {other} in port {port}: {alone / 1e3:.3f} ms alone, {limited / 1e3:.3f} ms beside a limited "
              f"one, {free / 1e3:.3f} ms beside one that is not", flush=True)
        self.assertLess(limited, most * alone)
        self.assertGreater(free, least * alone)

    def test_shares_of_recirculation(self):
        """What is given to the ToR comes from all three pipes by port 68; what is for SwitchML goes there by port 325, of which
        two workers with 1 Gbit/s leave 78.7 % (with 20 bytes between frames of 312)."""
        self.shares("ads", "bert", 68, 1000, 1.1, 1.8)
        self.shares("resnet", "vgg", 325, 1000, 1.3, 1.8)
        self.shares("bert", "ads", 68, 200, 1.1, 1.25)

    def test_with_loss(self):
        for seed in range(1, 6):
            result = self.sim(scenario(JOBS, faults=[{"kind": "loss", "rate": 0.005}]), "--seed", str(seed))
            self.took(result)
            self.in_the_switch(result, "ads")

    def test_a_worker_of_libra_that_begins_again(self):
        """Without Libra_s nobody tells it which numbers were used before."""
        s = scenario(["ads"], faults=[{"kind": "host_crash", "hosts": ["h10"], "at_us": 500, "for_us": 300}])
        result = self.sim(s)
        self.took(result)
        self.in_the_switch(result, "ads")
        ads = next(job for job in result["jobs"] if job["name"] == "ads")
        self.assertEqual([w["incarnations"] for w in ads["workers"]], [1, 2])

    def test_shares_of_memory(self):
        """Two jobs of Libra have cells and records of their own; more than the switch has is refused."""
        news = {"protocol": "libra", "hot": 4000, "workers": ["h0", "h5", "h10"], "servers": ["h11"]}
        both = {**JOBS, "news": (None, news)}
        result = self.sim(scenario(both, jobs=both))
        self.took(result)
        self.in_the_switch(result, "ads", "news")
        s = scenario(both, jobs=both)
        for job in s["jobs"]:
            if job["protocol"] == "libra":
                job["hot"] = job["work"]["parameters"] = 140000
        self.assertIn("job news: there is no room for 8750 cells: of 16384, other jobs have 8750", self.sim(s, status=2))

    def test_refused(self):
        def ads(**more):
            s = scenario(["ads"])
            job = next(job for job in s["jobs"] if job["name"] == "ads")
            job["work"].update(more.pop("work", {}))
            job.update(more)
            return s
        self.assertIn("job ads: it pushes integers, and the program adds floats",
                      self.sim(ads(work={"values": "integers"}), status=2))
        self.assertIn('has "collect", for which Libra_s is needed', self.sim(ads(work={"collect": True}), status=2))
        self.assertIn('job ads has a "rate", but no "hot" parameters', self.sim(ads(hot=0, rate=100), status=2))
        s = ads()
        s["topology"]["program"] = os.path.join(ROOT, "p4/rack/rack.p4")
        self.assertIn("job ads: protocol: the running program has no Libra; p4/rack/with_libra.p4 has", self.sim(s, status=2))
        s = ads()
        for link in s["topology"]["switch"]["config"]["tor"]["links"]:
            if link["name"] == "h9":
                del link["access"]
                link["trunk"] = [10]
        self.assertIn("job ads: worker h9 is at no link of the \"tor\"", self.sim(s, status=2))
        s = ads()
        s["topology"]["switch"]["config"]["queues"] = [{"port": 1, "speed": 1000}]
        self.assertIn("is that of the port's link", self.sim(s, status=2))


if __name__ == "__main__":
    tally.main()
