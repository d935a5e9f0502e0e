# SPDX-License-Identifier: Apache-2.0
"""The SwitchML paper's figures (docs/figures-switchml.md): a small point of each, and what must be exact."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "harness"), os.path.join(ROOT, "bench", "figures")]
import tally  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = folder.name
        # the programs and one's own folder of what is kept
        os.makedirs(os.path.join(self.out, "build", "bench"))
        os.symlink(os.path.join(BUILD, "silken"), os.path.join(self.out, "build", "silken"))
        os.symlink(os.path.join(BUILD, "bench", "figures"), os.path.join(self.out, "build", "bench", "figures"))

    def run_script(self, script, *words):
        environment = {**os.environ, "QUICK": "1", "BUILD": os.path.join(self.out, "build"), "OUT": self.out}
        done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "figures", script), *words], capture_output=True,
                              text=True, check=False, timeout=900, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def rows(self, name):
        with open(os.path.join(self.out, name + ".csv"), encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def test_each_figure(self):
        self.run_script("switchml.py", "3", "6", "6-sizes", "7", "9", "12")
        elements = {name: float(x) for name, x in self.rows("3-10")[0].items()}
        # in the switch a gradient crosses a worker's link once, by hosts 2 (n - 1) / n times
        self.assertGreater(elements["SwitchML 256"], 1.2 * elements["ring"])
        self.assertGreater(elements["SwitchML 256"], elements["SwitchML 64"])
        self.assertGreater(elements["SwitchML 256 float16"], 1.5 * elements["SwitchML 256"])
        self.assertGreater(elements["dedicated servers"], 1.2 * elements["servers beside workers"])
        self.assertLess(elements["SwitchML 256"], elements["limit in the switch"])
        self.assertLess(elements["ring"], elements["limit of a ring"])
        loss = {name: float(x) for name, x in self.rows("6-10")[0].items()}
        self.assertGreaterEqual(loss["SwitchML 1 ms"], 1)
        total = {row["case"]: row for row in self.rows("7-one-total")}
        self.assertEqual(total["no loss"]["sent again"], "0")
        # a packet of one worker is lost, and all eight wait for the sum
        self.assertEqual(total["one loss, 1 ms"]["sent again"], "8")
        self.assertGreater(float(total["one loss, 1 ms"]["ms"]), float(total["one loss"]["ms"]))
        # 8 slots of 1,024 bytes on the way at 10 us each way are below the link's rate, and so is the time of a round trip
        pool = {name: float(x) for name, x in self.rows("9")[0].items()}
        self.assertAlmostEqual(pool["100 Gbps, 10 us: RTT us"], 20, delta=1)
        self.assertLess(pool["100 Gbps, 10 us: M elements/s"], 0.2 * pool["100 Gbps, 1 us: M elements/s"])
        sizes = {row["kind"]: float(row["of int32"]) for row in self.rows("12")}
        self.assertTrue(0.45 < sizes["float16"] < 0.7, sizes)

    def test_models(self):
        self.run_script("switchml.py", "4")
        row = self.rows("4-10")[0]
        # 2,319 MB at 10 Gbps: sending is nearly all of an iteration, and halves
        self.assertEqual(row["model"], "DeepLight")
        self.assertTrue(1.2 < float(row["over ring"]) < 2, row)

    def test_what_is_done_is_kept(self):
        self.run_script("switchml.py", "12")
        kept = os.path.join(self.out, "build", "figures", "switchml-kept")
        path = os.path.join(kept, sorted(os.listdir(kept))[0])
        with open(path, encoding="utf-8") as f:
            before = json.load(f)
        before["result"]["jobs"][0]["workers"] = before["result"]["jobs"][0]["workers"][:1]
        with open(path, "w", encoding="utf-8") as f:
            json.dump(before, f)
        self.run_script("switchml.py", "12")
        with open(path, encoding="utf-8") as f:
            self.assertEqual(json.load(f), before)  # it was not run again
        with open(path, "w", encoding="utf-8") as f:
            json.dump({**before, "scenario": "another one"}, f)
        self.run_script("switchml.py", "12")
        with open(path, encoding="utf-8") as f:
            self.assertEqual(len(json.load(f)["result"]["jobs"][0]["workers"]), 8)

    def test_training(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("PyTorch is not installed")
        if not os.path.exists("/usr/share/datasets/fashion-mnist"):
            raise unittest.SkipTest("Fashion-MNIST is not installed")
        path = os.path.join(self.out, "accuracy.json")
        self.run_script("comparison_accuracy.py", path)
        with open(path, encoding="utf-8") as f:
            accuracy = json.load(f)
        self.assertEqual(sorted(accuracy["sums"]), ["atp", "exact", "switchml", "switchml f16"])
        self.assertEqual(accuracy["lost"][0], [0.0, accuracy["sums"]["exact"]])
        self.run_script("switchml_training.py")
        rows = {row["sums"]: row for row in self.rows("2")}
        self.assertEqual(sorted(rows), ["16-bit floats", "SwitchML", "float32"])
        self.assertEqual(rows["SwitchML"]["out of range %"], "0")

    def test_unknown_figures(self):
        for script in ("switchml.py", "switchml_training.py"):
            done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "figures", script), "99"], capture_output=True, text=True,
                                  check=False, timeout=300, env={**os.environ, "BUILD": BUILD})
            self.assertEqual(done.returncode, 1)
            self.assertIn("99; there is: ", done.stderr)


if __name__ == "__main__":
    tally.main()
