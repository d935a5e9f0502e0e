#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of DLCP in the simulator: a spine that dies is avoided by the switches, and by hosts where switches do not
know of it, within 100 ms; and who is guaranteed room in a switch's buffer has it."""
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
CLASSES, SIGNALS = 7, 31


def entries():
    """Strict classes: signals in queue 7, class c in 6 - c, unimportant packets yellow."""
    out = [(SIGNALS, ecn, 7, 0) for ecn in range(4)]
    out += [(4 * c + 3, ecn, 6 - c, 0 if ecn else 1) for c in range(CLASSES) for ecn in range(4)]
    return [{"table": "queues_of", "key": {"dscp": d, "ecn": e}, "action": "queue", "args": {"qid": q, "colour": colour}}
            for d, e, q, colour in out]


def schedule(**background):
    """Queues of a port. 'background' is of queue 0, which has what is no DLCP."""
    queues = [{"qid": 6 - c, "priority": 6 - c, "yellow": 40 + 20 * c} for c in range(CLASSES)]
    queues[-1].update(background)
    return queues + [{"qid": 7, "priority": 7}]


def sim(scenario):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.json")
        with open(path, "w") as f:
            json.dump(scenario, f)
        done = subprocess.run([SILKEN, "sim", "--json", "-", path], text=True, capture_output=True, timeout=300)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def offered(result, link):
    return next(x["packets"] for x in result["links"] if x["name"] == link)


class Spine(unittest.TestCase):
    """Two leaves of two hosts, two spines; the second one dies at 20 ms for ever."""

    def run_iterations(self, iterations, ports, **topology):
        network = {"kind": "leaf-spine", "program": "dlcp", "spine_program": "dlcp", "leaves": 2, "hosts": 2, "spines": 2,
                   "link": {"gbps": 1, "delay_us": 2, "queue_bytes": 200000},
                   "switch": {"config": {"entries": entries(), "queues": [{"limit": 2500, "schedule": schedule()}]}}}
        job = {"name": "job", "protocol": "dlcp", "workers": 3, "servers": 1, "bound": 0.1, "ports": ports,
               "hard_limit_ms": 1000, "work": {"kind": "training", "layers": [{"bytes": 200000, "compute_us": 10}] * 4,
                                               "iterations": iterations, "values": "floats"}}
        result = sim({"name": "spine", "limit_ms": 20000, "topology": {**network, **topology}, "jobs": [job],
                      "faults": [{"kind": "link_down", "links": ["s0-p1", "s1-p1"], "at_us": 20000}]})
        self.assertEqual(result["outcome"], "sums", result.get("violation"))
        return result

    def compare(self, ports, **topology):
        """Packets for the dead spine and for the other one, of iterations that are more than 100 ms after it died."""
        short, long = (self.run_iterations(n, ports, **topology) for n in (15, 30))
        self.assertGreater(short["done_us"], 120000)
        return [sum(offered(long, f"{leaf}>{spine}") - offered(short, f"{leaf}>{spine}") for leaf in ("s0", "s1"))
                for spine in ("p1", "p0")]

    def test_sprays_avoid_a_dead_spine(self):
        dead, alive = self.compare(1, paths="packet", reroute_ms=50)
        self.assertEqual(dead, 0)
        self.assertGreater(alive, 10000)

    def test_hosts_avoid_it_where_switches_do_not(self):
        dead, alive = self.compare(8, paths="flow", reroute_ms=100000)
        self.assertGreater(alive, 10000)
        self.assertLess(dead, 0.1 * alive)  # signals, and a port that is tried again

    def test_without_either_they_would_not(self):
        dead, alive = self.compare(1, paths="packet", reroute_ms=100000)
        self.assertGreater(dead, 0.3 * alive)


class Guarantee(unittest.TestCase):
    """Seven hosts send gradients to a server that also gets somebody's stream; all share a pool of 300 cells."""

    def lost(self, **background):
        queues = [{"pool": 0, "schedule": schedule(**background)}]
        result = sim({"name": "guarantee", "limit_ms": 2000,
                      "topology": {"kind": "rack", "program": "dlcp", "hosts": 9, "paths": "flow",
                                   "link": {"gbps": 10, "delay_us": 1},
                                   "switch": {"config": {"entries": entries(), "pools": [{"id": 0, "cells": 300}],
                                                         "queues": queues}}},
                      "jobs": [{"name": "job", "protocol": "dlcp", "workers": 7, "servers": ["h7"], "bound": 0.1, "ports": 1,
                                "hard_limit_ms": 1000,
                                "work": {"kind": "training", "layers": [{"bytes": 400000, "compute_us": 10}] * 4,
                                         "iterations": 3, "values": "floats"}}],
                      "background": [{"name": "beside", "from": "h8", "to": "h7", "gbps": 0.5, "dscp": 0, "stop_ms": 5}]})
        self.assertEqual(result["outcome"], "sums", result.get("violation"))
        beside = result["background"][0]
        self.assertGreater(beside["sent"], 50)
        return beside["sent"] - beside["received"], sum(result["switches"][0]["drops"].values())

    def test_who_is_guaranteed_room_loses_nothing(self):
        lost, drops = self.lost(priority=7, guaranteed=60)
        self.assertEqual(lost, 0)
        self.assertGreater(drops, 100)  # of the others

    def test_who_is_not_loses(self):
        lost, _ = self.lost(priority=7)
        self.assertGreater(lost, 5)


if __name__ == "__main__":
    tally.main()
