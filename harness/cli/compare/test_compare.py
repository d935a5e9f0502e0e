# SPDX-License-Identifier: Apache-2.0
"""`silken compare`: every system on the same stations; what it prints, and settings that are wrong."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "harness"))
import tally  # noqa: E402

SILKEN = os.path.join(ROOT, os.environ.get("BUILD", "build"), "silken")
SYSTEMS = ["switchml", "atp", "dlcp", "dlcp ring", "servers", "ring", "halving", "tree", "two trees", "hierarchical"]
LINK = {"gbps": 10, "delay_us": 1, "queue_bytes": 1000000}
RACK = {"name": "test", "network": {"racks": 1, "hosts": 4, "link": LINK}, "seeds": 2,
        "work": {"layers": [{"bytes": 400000, "compute_us": 20}, {"bytes": 60000, "compute_us": 20}], "iterations": 2}}
TWO = {**RACK, "network": {"racks": 2, "hosts": 2, "link": LINK, "trunk": {**LINK, "gbps": 20}}}
SPINES = {**RACK, "network": {**TWO["network"], "spines": 2}}


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def compare(self, setting, *words):
        path = os.path.join(self.folder, "setting.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(setting if isinstance(setting, str) else json.dumps(setting))
        return subprocess.run([SILKEN, "compare", *words, path], text=True, capture_output=True, timeout=300, check=False)

    def results(self, setting, *words):
        done = self.compare(setting, "--json", "-", "--jobs", "2", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("computing alone takes 0.060 ms", done.stderr)
        return {one.pop("system"): one for one in json.loads(done.stdout)["systems"]}

    def test_a_rack(self):
        rows = self.results(RACK)
        self.assertEqual(list(rows), SYSTEMS)
        self.assertEqual(rows["hierarchical"], {"refused": "needs several racks with several workers of a job each"})
        gradient = 460000
        for name, row in rows.items():
            if "refused" in row:
                continue
            with self.subTest(name):
                self.assertLessEqual(row["least_us"], row["iteration_us"])
                self.assertLessEqual(row["iteration_us"], row["greatest_us"])
                self.assertGreater(row["iteration_us"], 60)
                self.assertEqual(row["trunk_bytes"], 0)
        # in the switch each worker sends its gradient once, by hosts 2 (n - 1) / n of it
        self.assertTrue(gradient <= rows["switchml"]["worker_bytes_out"] < 1.2 * gradient)
        for name in ("ring", "halving", "servers"):
            self.assertTrue(1.5 * gradient <= rows[name]["worker_bytes_out"] < 1.9 * gradient, rows[name])
        self.assertLess(rows["switchml"]["iteration_us"], rows["ring"]["iteration_us"])
        self.assertEqual(rows["switchml"]["switch_bytes"], 2 * 128 * 256 * 4)
        self.assertIn("elements_lost", rows["dlcp"])
        self.assertNotIn("elements_lost", rows["ring"])

    def test_two_racks(self):
        for setting in (TWO, SPINES):
            rows = self.results(setting)
            self.assertIn("several racks", rows["switchml"]["refused"])
            # a rack's sum goes up once
            self.assertLess(rows["atp"]["trunk_bytes"], rows["servers"]["trunk_bytes"])
            self.assertLess(rows["hierarchical"]["trunk_bytes"], rows["halving"]["trunk_bytes"])

    def test_jobs_and_faults(self):
        setting = {**RACK, "jobs": 2, "faults": [{"kind": "loss", "rate": 0.001}], "systems": ["switchml", "ring"],
                   "background": [{"from": "h4", "to": "h0", "gbps": 1}]}
        rows = self.results(setting)
        self.assertEqual(list(rows), ["switchml", "ring"])
        self.assertGreater(rows["switchml"]["sent_again"] + rows["ring"]["sent_again"], 0)

    def test_a_failure_is_told(self):
        done = self.compare({**RACK, "systems": ["switchml"], "limit_ms": 1, "work": {**RACK["work"], "iterations": 20}})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("2 of 2 runs did not end with all their sums", done.stderr)

    def test_the_same_again(self):
        self.assertEqual(self.results(RACK), self.results(RACK))

    def test_host_time(self):
        path = os.path.join(self.folder, "bench.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"worker": {"ns_per_packet": 1000}}, f)
        rows = self.results({**RACK, "systems": ["switchml", "ring"]}, "--bench", path)
        # 460,000 bytes in packets of 1,024
        self.assertTrue(440 < rows["switchml"]["host_us"] < 480, rows)
        self.assertNotIn("host_us", rows["ring"])

    def test_scenarios_are_silken_sims(self):
        done = self.compare(TWO, "--scenarios", self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        for name in SYSTEMS[1:]:
            run = subprocess.run([SILKEN, "sim", os.path.join(self.folder, name + ".json")], text=True, capture_output=True,
                                 timeout=300, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_picture(self):
        path = os.path.join(self.folder, "picture.png")
        done = self.compare({**RACK, "systems": ["switchml"], "name": "it's {a} @ \\ name"}, "--plot", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as f:
            self.assertEqual(f.read(4), b"\x89PNG")

    def test_mistakes(self):
        for setting, why in (
                ("[1]", "must be an object"), ("{", "setting.json:1"), ({**RACK, "netwrok": {}}, "netwrok"),
                ({"work": RACK["work"]}, 'needs "network"'), ({"network": RACK["network"]}, 'needs "work"'),
                ({**RACK, "systems": ["tcp"]}, "'tcp' is not one of switchml"), ({**RACK, "systems": []}, "must name a system"),
                ({**RACK, "jobs": 3}, "must share the 4 workers of a rack evenly"),
                ({**RACK, "jobs": 4}, "leave one worker to a job"),
                ({**RACK, "network": {"racks": 1, "hosts": 1}}, "has one worker"),
                ({**RACK, "network": {"racks": 1, "spines": 2}}, "are between racks"),
                ({**RACK, "transport": "dlcp"}, "must be one of newreno, cubic, dctcp"),
                ({**RACK, "work": {"model": "resnet51"}}, "resnet51"), ({**RACK, "faults": [{"kind": "fire"}]}, "fire"),
                ({**RACK, "faults": {}}, "must be a list"), ({**RACK, "seeds": 0}, "seeds"),
                ({**RACK, "network": {**RACK["network"], "link": 5}}, "must be an object")):
            with self.subTest(why):
                done = self.compare(setting)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(why, done.stderr)
        for words, why in (((), "one setting's file"), (("--jobs", "0", "x"), "--jobs"), (("--bench", "/no/such", "x"), "make bench"),
                           (("/no/such.json",), "No such file")):
            done = subprocess.run([SILKEN, "compare", *words], text=True, capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    tally.main()
