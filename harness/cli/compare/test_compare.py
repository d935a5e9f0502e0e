# SPDX-License-Identifier: Apache-2.0
"""`silken compare`: every system on the same stations; what it prints, and settings that are wrong."""
import csv
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
SYSTEMS = ["switchml", "switchml f16", "atp", "dlcp", "dlcp ring", "servers", "ring", "halving", "tree", "two trees", "hierarchical"]
LINK = {"gbps": 10, "delay_us": 1, "queue_bytes": 1000000}
RACK = {"name": "test", "network": {"racks": 1, "hosts": 4, "link": LINK}, "seeds": 2,
        "work": {"layers": [{"bytes": 400000, "compute_us": 20}, {"bytes": 60000, "compute_us": 20}], "iterations": 2}}
SPARSE = {"name": "sparse", "network": {"racks": 1, "hosts": 4, "link": LINK}, "seeds": 2,
          "work": {"sparse": {"parameters": 60000, "zipf": 1.1, "draws": 400, "hot": 2000}, "compute_ms": 0.06, "iterations": 2}}
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
        # and before a tensor's first packets one of each slot says their exponents
        self.assertTrue(gradient <= rows["switchml"]["worker_bytes_out"] < 1.6 * gradient)
        for name in ("ring", "halving", "servers"):
            self.assertTrue(1.5 * gradient <= rows[name]["worker_bytes_out"] < 1.9 * gradient, rows[name])
        self.assertLess(rows["switchml"]["iteration_us"], rows["ring"]["iteration_us"])
        self.assertEqual(rows["switchml"]["switch_bytes"], 2 * 128 * 256 * 4)
        half = rows["switchml f16"]["worker_bytes_out"] / rows["switchml"]["worker_bytes_out"]
        self.assertTrue(0.5 < half < 0.65, half)
        # what a worker sends is what its link carries
        links = rows["ring"]["link_bytes"]
        self.assertEqual(sorted(links), sorted(f"{a}>{b}" for i in range(5) for a, b in ((f"h{i}", "s0"), ("s0", f"h{i}"))))
        self.assertAlmostEqual(sum(links[f"h{i}>s0"] for i in range(4)) / 4, rows["ring"]["worker_bytes_out"], places=3)
        self.assertIn("elements_lost", rows["dlcp"])
        self.assertNotIn("elements_lost", rows["ring"])

    def test_two_racks(self):
        for setting in (TWO, SPINES):
            rows = self.results(setting)
            self.assertIn("several racks", rows["switchml f16"]["refused"])
            # a rack's sum goes up once
            self.assertLess(rows["switchml"]["trunk_bytes"], 0.8 * rows["servers"]["trunk_bytes"])
            self.assertLess(rows["switchml"]["worker_bytes_out"], rows["ring"]["worker_bytes_out"])
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
        """Sums of seeds are added up in whatever order they end, so they are the same but for the last bits."""
        def alike(a, b):
            if isinstance(a, dict):
                self.assertEqual(list(a), list(b))
                for name in a:
                    alike(a[name], b[name])
            elif isinstance(a, float):
                self.assertAlmostEqual(a, b, delta=1e-9 * max(1, abs(a)))
            else:
                self.assertEqual(a, b)
        alike(self.results({**RACK, "systems": ["switchml", "ring", "dlcp"]}), self.results({**RACK, "systems": ["switchml", "ring", "dlcp"]}))

    def test_sparse_gradients(self):
        rows = self.results(SPARSE)
        self.assertEqual(list(rows), [*SYSTEMS[:3], "libra", *SYSTEMS[3:6], "sparse servers", "ring", "gather pairs", *SYSTEMS[7:]])
        table = 240000  # bytes, of which a batch has some hundred values
        for name in ("switchml", "atp", "ring"):
            self.assertGreater(rows[name]["worker_bytes_out"], table)
        for name in ("libra", "sparse servers", "gather pairs"):
            self.assertLess(rows[name]["worker_bytes_out"], table / 4)
            self.assertLess(rows[name]["iteration_us"], rows["switchml"]["iteration_us"])
            self.assertGreater(rows[name]["iteration_us"], 60)
        self.assertEqual(rows["libra"]["switch_bytes"], 4 * 2000)
        # hot pairs do not reach the server
        self.assertLess(rows["libra"]["link_bytes"]["s0>h4"], 0.7 * rows["sparse servers"]["link_bytes"]["s0>h4"])

    def test_a_workload_of_a_file(self):
        tensors = [{"name": "front", "elements": 15000, "ready_us": 60}, {"name": "back", "elements": 100000, "ready_us": 40}]
        with open(os.path.join(self.folder, "tensors.json"), "w", encoding="utf-8") as f:
            json.dump(tensors, f)
        done = self.compare({**RACK, "work": {"tensors": "tensors.json", "iterations": 2}}, "--scenarios", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "switchml.json"), encoding="utf-8") as f:
            work = json.load(f)["jobs"][0]["work"]
        self.assertEqual([layer["bytes"] for layer in work["layers"]], [400000, 60000])  # in the order in which they are ready
        self.assertEqual([layer["compute_us"] for layer in work["layers"]], [40, 20])
        self.assertEqual(work["forward_us"], 0)
        rows = self.results({**RACK, "work": {"tensors": os.path.join(self.folder, "tensors.json"), "iterations": 2},
                             "systems": ["switchml", "ring"]})
        self.assertGreater(rows["ring"]["iteration_us"], rows["switchml"]["iteration_us"])

    def test_accuracy(self):
        path = os.path.join(self.folder, "accuracy.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"sums": {"exact": 80, "switchml": 79.5}, "lost": [[0, 80], [1, 60]]}, f)
        rows = self.results({**RACK, "systems": ["switchml", "switchml f16", "dlcp", "ring"], "network": {**RACK["network"], "hosts": 8},
                             "faults": [{"kind": "loss", "rate": 0.02}]}, "--accuracy", path)
        self.assertEqual((rows["switchml"]["accuracy"], rows["ring"]["accuracy"]), (79.5, 80))
        self.assertNotIn("accuracy", rows["switchml f16"])  # nobody measured it
        self.assertGreater(rows["dlcp"]["elements_lost"], 0)
        self.assertAlmostEqual(rows["dlcp"]["accuracy"], 80 - 20 * rows["dlcp"]["elements_lost"], places=6)

    def test_host_time(self):
        path = os.path.join(self.folder, "bench.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"worker": {"ns_per_packet": 1000}}, f)
        rows = self.results({**RACK, "systems": ["switchml", "ring"]}, "--bench", path)
        # two tensors of 391 and 59 packets of 1,024 bytes, and 128 and 59 that say exponents
        self.assertAlmostEqual(rows["switchml"]["host_us"], 391 + 128 + 59 + 59, places=6)
        integers = {**RACK, "systems": ["switchml"], "work": {**RACK["work"], "values": "integers"}}
        self.assertAlmostEqual(self.results(integers, "--bench", path)["switchml"]["host_us"], 391 + 59, places=6)
        self.assertNotIn("host_us", rows["ring"])

    def test_scenarios_are_silken_sims(self):
        done = self.compare(TWO, "--scenarios", self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        for name in [name for name in SYSTEMS if name != "switchml f16"]:
            run = subprocess.run([SILKEN, "sim", os.path.join(self.folder, name + ".json")], text=True, capture_output=True,
                                 timeout=300, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_picture(self):
        path = os.path.join(self.folder, "picture.png")
        done = self.compare({**RACK, "systems": ["switchml"], "name": "it's {a} @ \\ name"}, "--plot", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as f:
            self.assertEqual(f.read(4), b"\x89PNG")

    def test_a_table_of_all(self):
        done = self.compare({**RACK, "systems": ["switchml", "ring"]}, "--json", os.path.join(self.folder, "test.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        os.unlink(os.path.join(self.folder, "setting.json"))
        out = os.path.join(self.folder, "all")
        script = os.path.join(ROOT, "bench", "figures", "comparison.py")
        for _ in range(2): # what is there stays
            subprocess.run([sys.executable, script, self.folder, out], check=True, capture_output=True, timeout=100)
        with open(os.path.join(out, "iterations.csv"), encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([row["setting"] for row in rows], ["test"])
        self.assertEqual((rows[0]["computing"], rows[0]["atp"]), ("0.06", ""))
        self.assertGreater(float(rows[0]["ring"]), float(rows[0]["switchml"]))
        with open(os.path.join(out, "test.png"), "rb") as f:
            self.assertEqual(f.read(4), b"\x89PNG")

    def test_mistakes(self):
        for setting, why in (
                ("[1]", "must be an object"), ("{", "setting.json:1"), ({**RACK, "netwrok": {}}, "netwrok"),
                ({"work": RACK["work"]}, 'needs "network"'), ({"network": RACK["network"]}, 'needs "work"'),
                ({**RACK, "systems": ["tcp"]}, "'tcp' is not one of switchml"), ({**RACK, "systems": []}, "must name a system"),
                ({**RACK, "jobs": 3}, "must share the 4 workers of a rack evenly"), ({**RACK, "jobs": 0}, "jobs"),
                ({**RACK, "jobs": 4}, "leave one worker to a job"),
                ({**RACK, "network": {"racks": 1, "hosts": 1}}, "has one worker"),
                ({**RACK, "network": {"racks": 1, "spines": 2}}, "are between racks"),
                ({**RACK, "transport": "dlcp"}, "must be one of newreno, cubic, dctcp"),
                ({**RACK, "work": {"model": "resnet51"}}, "resnet51"), ({**RACK, "faults": [{"kind": "fire"}]}, "fire"),
                ({**RACK, "faults": {}}, "must be a list"), ({**RACK, "seeds": 0}, "seeds"),
                ({**RACK, "network": {**RACK["network"], "link": 5}}, "must be an object"),
                ({**RACK, "work": {**RACK["work"], "values": "halves"}}, "must be floats or integers"),
                ({**RACK, "work": {}}, "needs one of model, layers, tensors, sparse"),
                ({**RACK, "work": {"model": "vgg16", "sparse": {}}}, "needs one of model"),
                ({**RACK, "work": {"tensors": "nowhere.json"}}, "nowhere.json"), ({**RACK, "work": {"tensors": 5}}, "tensors"),
                ({**SPARSE, "work": {"sparse": {"parameters": 5, "hot": 6}}}, "more than there are parameters"),
                ({**SPARSE, "work": {"sparse": {"zipf": 9}}}, "must be a number from 0.1 to 3"),
                ({**SPARSE, "work": {"sparse": {}, "scale": 2}}, 'is not for "sparse"'),
                ({**SPARSE, "work": {"sparse": {"draw": 2}}}, "draw")):
            with self.subTest(why):
                done = self.compare(setting)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(why, done.stderr)
        accuracy = os.path.join(self.folder, "accuracy.json")
        for text, why in (("[]", "must be an object"), ('{"sums": {"tcp": 5}}', "neither a system's name"),
                          ('{"sums": {"atp": 101}}', "must be an accuracy"), ('{"lost": [[0, 5], [0, 6]]}', "larger than the one before"),
                          ('{"lost": [[0]]}', "must be [part"), ('{"loss": []}', "loss")):
            with open(accuracy, "w", encoding="utf-8") as f:
                f.write(text)
            done = self.compare(RACK, "--accuracy", accuracy)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(why, done.stderr)
        for words, why in (((), "one setting's file"), (("--jobs", "0", "x"), "--jobs"), (("--bench", "/no/such", "x"), "make bench"),
                           (("/no/such.json",), "No such file")):
            done = subprocess.run([SILKEN, "compare", *words], text=True, capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)


class Workload(unittest.TestCase):
    """A file of tensors that is wrong: one sentence with the place."""

    def test_mistakes(self):
        with tempfile.TemporaryDirectory() as folder:
            setting, tensors = os.path.join(folder, "setting.json"), os.path.join(folder, "tensors.json")
            with open(setting, "w", encoding="utf-8") as f:
                json.dump({**RACK, "work": {"tensors": "tensors.json"}}, f)
            good = '{"name": "a", "elements": 4, "ready_us": 1}'
            for text, why in (("{}", "must be a list of 1 to 512 tensors"), ("[]", "must be a list"), ("[5]", "[0]: must be {"),
                              ("[" + ",".join([good] * 513) + "]", "must be a list"), ('[{"elements": 4}]', 'needs "ready_us"'),
                              ('[{"elements": 0, "ready_us": 1}]', "elements"), ('[{"elements": 4.5, "ready_us": 1}]', "elements"),
                              (f'[{good},\n{{"elements": 4, "ready_us": -1}}]', "tensors.json:2: [1].ready_us: is -1"),
                              ('[{"elements": 4, "ready_us": "1"}]', "ready_us"), ('[{"elements": 4, "ready_us": 1, "size": 4}]', "size"),
                              ('[{"name": 7, "elements": 4, "ready_us": 1}]', "name"), ("", "tensors.json:1")):
                with open(tensors, "w", encoding="utf-8") as f:
                    f.write(text)
                done = subprocess.run([SILKEN, "compare", setting], text=True, capture_output=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    tally.main()
