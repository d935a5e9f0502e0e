#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`silken dlcp thresholds`: what it prints, that a simulated switch takes it, and what is refused."""
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


def silken(*arguments):
    return subprocess.run([SILKEN, *arguments], text=True, capture_output=True, timeout=120)


def rows(text):
    return [[float(x) for x in line.split()] for line in text.splitlines()[1:-1]]


class Thresholds(unittest.TestCase):
    def test_a_table(self):
        done = silken("dlcp", "thresholds", "resnet50")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = rows(done.stdout)
        self.assertEqual([r[0] for r in table], list(range(7)))
        self.assertAlmostEqual(sum(r[1] for r in table), 100, delta=0.05)
        for _, _, rho, small, _, small_lost, large, _, large_lost in table:
            self.assertTrue(0 < rho < 1)
            self.assertLessEqual(small, large)
            self.assertLessEqual(large_lost, small_lost)

    def test_more_room_loses_less(self):
        cost = [float(silken("dlcp", "thresholds", "--buffer", str(b), "vgg16").stdout.split()[-4])
                for b in (50000, 500000, 5000000)]
        self.assertGreater(cost[0], cost[1])
        self.assertGreaterEqual(cost[1], cost[2])

    def test_a_simulated_switch_takes_it(self):
        done = silken("dlcp", "thresholds", "--json", "--buffer", "100000", "inception-v3")
        self.assertEqual(done.returncode, 0, done.stderr)
        scenario = {"topology": {"kind": "rack", "program": "dlcp", "hosts": 3, "paths": "flow",
                                 "switch": {"config": json.loads(done.stdout)}},
                    "jobs": [{"protocol": "dlcp", "servers": 1, "work": {
                        "kind": "training", "layers": [{"bytes": 40000, "compute_us": 5}]}}]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            with open(path, "w") as f:
                json.dump(scenario, f)
            done = silken("sim", path)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_refused(self):
        for arguments in ([], ["resnet50", "vgg16"], ["resnet51"], ["--load", "1", "vgg16"], ["--load", "0", "vgg16"],
                          ["--small", "x", "vgg16"], ["--tolerance", "1", "vgg16"], ["--tolerance", "0,1", "vgg16"],
                          ["--layers", "1,1,1", "vgg16"], ["--buffer", "1000", "vgg16"], ["--what", "vgg16"]):
            done = silken("dlcp", "thresholds", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "")
            self.assertTrue(done.stderr.strip())
        self.assertEqual(silken("dlcp").returncode, 2)
        self.assertIn("usage: silken dlcp", silken("dlcp", "--help").stdout)
        self.assertIn("usage: silken dlcp", silken("dlcp", "thresholds", "--help").stdout)


if __name__ == "__main__":
    tally.main()
