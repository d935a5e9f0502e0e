#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken demo --protocol dlcp`: gradients of which a bounded part may be lost, with a server and in a ring, through
one switch and through leaves and spines. Few steps: the elements and bounds are looked at, and of the accuracy only
that something was learned; that it is the same as in one process is what longer trainings say (`verified`)."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402

DEMOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dlcp_demos.py")
SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")


class Demo(unittest.TestCase):
    def check(self, *options, verified=False, learned=20):
        done = subprocess.run([SILKEN, "demo", "--protocol", "dlcp", "--quiet", "--limit", "280", *options], text=True,
                              capture_output=True, timeout=300)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        self.assertNotIn("not as they were sent", done.stdout, done.stdout)
        self.assertIn("tensors", done.stdout, done.stdout + done.stderr)
        tensors, below = re.search(r"tensors +([\d,]+), of them ([\d,]+) with less", done.stdout).groups()
        self.assertEqual(below, "0", done.stdout)
        self.assertNotEqual(tensors, "0", done.stdout)
        if verified:
            self.assertTrue(done.stdout.endswith("verified\n"), done.stdout)
        else:
            accuracy = [float(a) for a in re.findall(r"accuracy.* ([\d.]+) %", done.stdout)]
            self.assertGreater(min(accuracy), learned, done.stdout)
        return float(re.search(r"loss rate seen +([\d.]+) %", done.stdout).group(1)), done.stdout

    def test_server(self):
        self.check("--network", "convolutional", "--steps", "30", "--bound", "0", verified=True)

    def test_server_with_loss(self):
        loss, _ = self.check("--network", "convolutional", "--steps", "20", "--loss", "10%", "--seed", "3")
        self.assertGreater(loss, 5)

    def test_end_with_much_loss(self):
        """What says that the last weights have arrived is lost, and said again before the workers end."""
        for seed in ("1", "2"):
            self.check("--network", "convolutional", "--steps", "3", "--loss", "30%", "--seed", seed, learned=5)

    def test_deep_network_between_spines(self):
        loss, text = self.check("--steps", "12", "--racks", "2", "--spines", "2", "--loss", "1%")
        self.assertGreater(loss, 0.5)
        self.assertIn("eight layers", text)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: network namespaces")
    def test_deep_network_between_spines_over_veth(self):
        loss, _ = self.check("--steps", "12", "--racks", "2", "--spines", "2", "--loss", "1%", "--links", "veth")
        self.assertGreater(loss, 0.5)

    def test_ring_with_loss(self):
        self.check("--network", "convolutional", "--ring", "--steps", "12", "--loss", "5%", "--workers", "3")

    def demos(self, out, *words, **more):
        environment = dict(os.environ, OUT=out, MORE="--steps 12 --bound 0", **more)
        return subprocess.run([sys.executable, DEMOS, *words], text=True, capture_output=True, timeout=300, env=environment)

    def test_table_of_demos(self):
        """Two lines of `make dlcp-demos`, where nothing may be missing: then the accuracy is that of one process."""
        with tempfile.TemporaryDirectory() as folder:
            out = folder + "/demos.csv"
            done = self.demos(out, "convolutional", "loss10", "ring", "1")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue(done.stdout.endswith("2 of 2 verified\n"), done.stdout)
            lines = [line for line in done.stdout.splitlines() if line.startswith("| convolutional |")]
            self.assertEqual([line.split(" | ")[-2] for line in lines], ["+0.00", "+0.00"])
            self.assertGreater(float(lines[0].split(" | ")[3]), 5)
            with open(out, encoding="utf-8") as f:
                text = f.read()
            self.assertEqual(text.count(",verified"), 2)
            with open(out, "w", encoding="utf-8") as f:
                f.write(text.replace("verified", "status 1: no", 1))
            again = self.demos(out, "convolutional", "loss10", "ring", "1", RESUME="1")
            self.assertEqual(again.returncode, 1, again.stdout)
            self.assertTrue(again.stdout.endswith("1 of 2 verified\n"), again.stdout)
            self.assertIn("neither a network", self.demos(out, "wide").stderr)


if __name__ == "__main__":
    tally.main()
