#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Switches of p4/tor with their control plane in the simulator: addresses are learned, routes over two spines are
resolved, a switch that is restarted finds everything again, and one seed gives one run."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "harness"))
import tally # noqa: E402

SILKEN = os.path.join(ROOT, os.environ.get("BUILD", "build"), "silken")
SPINES = os.path.join(ROOT, "examples/leaf-spine/leaf-spine.json")


def leaf_spine(**more):
    with open(SPINES, encoding="utf-8") as f:
        scenario = json.load(f)
    for switch in scenario["topology"]["switches"]:
        switch["program"] = os.path.join(ROOT, "p4/tor/tor.p4")
    return {**scenario, **more}


class Tor(unittest.TestCase):
    def sim(self, scenario, *words, status=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(scenario, f)
            done = subprocess.run([SILKEN, "sim", "--json", "-", path, *words], text=True, capture_output=True, timeout=300,
                                  check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def delivered(self, result):
        return {link["name"]: link["delivered"] for link in result["links"]}

    def test_routes_over_two_spines(self):
        result = self.sim(leaf_spine())
        for flow in result["background"]:
            self.assertGreater(flow["sent"], 90)
            self.assertEqual(flow["sent"], flow["received"], flow["name"])
        links = self.delivered(result)
        for link in ("l0>p0", "l0>p1", "l1>p0", "l1>p1"):  # besides what is asked and answered
            self.assertGreater(links[link], 95)
        self.assertLess(links["l0>h1"], 98 * 2 + 10)  # nothing is flooded
        for switch in result["switches"]:
            self.assertEqual(switch["drops"], {})
            self.assertGreater(switch["cpu"]["handled"], 5)

    def test_one_seed_one_run(self):
        first = self.sim(leaf_spine(), "--seed", "3")
        self.assertEqual(first, self.sim(leaf_spine(), "--seed", "3"))

    def test_a_switch_that_is_restarted(self):
        """Its tables are gone with it. After some seconds its neighbours have asked again, and all goes as before."""
        scenario = leaf_spine(faults=[{"kind": "switch_restart", "switches": ["p0"], "at_us": 2e6, "for_us": 100000}])
        for flow in scenario["background"]:
            flow.update(start_ms=9000, stop_ms=9200)
        scenario["limit_ms"] = 9500
        result = self.sim(scenario)
        self.assertEqual([s["restarts"] for s in result["switches"]], [0, 0, 1, 0])
        for flow in result["background"]:
            self.assertEqual(flow["sent"], flow["received"], flow["name"])
        self.assertGreater(self.delivered(result)["l0>p0"], 95)

    def test_a_list_drops(self):
        scenario = leaf_spine()
        tor = scenario["topology"]["switches"][0]["config"]["tor"]
        tor["acls"] = [{"name": "no-h2", "rules": [{"action": "deny", "to": "10.1.1.12/32"},
                                                   {"action": "permit", "family": "ipv4"}]}]
        tor["links"][0]["acl"] = "no-h2"
        result = self.sim(scenario)
        received = {b["name"]: b["received"] for b in result["background"]}
        self.assertEqual((received["0 to 2"], received["0 to 2, too"]), (0, 0))
        self.assertEqual(received["2 to 0"], 98)
        self.assertEqual(sum(result["switches"][0]["drops"].values()), 2 * 98)

    def test_a_job_that_is_refused(self):
        """It is an alarm of the switch: in the result, and in what is printed."""
        scenario = leaf_spine()
        scenario["topology"]["switches"][0]["config"]["tor"]["jobs"] = [
            {"name": "j", "protocol": "switchml", "job": 1, "slots": 4, "workers": []}]
        result = self.sim(scenario)
        alarms = [s.get("alarms") for s in result["switches"]]
        self.assertEqual(alarms[1:], [None] * 3)
        self.assertEqual([(a["alarm"], a["job"], a["at_us"]) for a in alarms[0]], [("job", "j", 0)])
        self.assertNotEqual(alarms[0][0]["why"], "")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(scenario, f)
            said = subprocess.run([SILKEN, "sim", path], text=True, capture_output=True, timeout=300, check=True).stdout
        self.assertIn('switch l0: alarm: alarm "job" job "j" why ', said)

    def test_what_is_wrong(self):
        scenario = leaf_spine()
        scenario["topology"]["switches"][1]["config"]["tor"]["links"][0]["port"] = "h9"
        self.assertIn("switch l1: tor.links[0].port: the switch has no port 'h9'", self.sim(scenario, status=2))
        scenario = leaf_spine()
        scenario["topology"]["switches"][0]["program"] = os.path.join(ROOT, "p4/l2/l2.p4")
        said = self.sim(scenario, status=2)
        self.assertIn("switch l0", said)
        self.assertIn("l2.p4", said)


if __name__ == "__main__":
    tally.main()
