#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken demo --protocol dlcp`: gradients of which a bounded part may be lost, with a server and in a ring, through
one switch and through leaves and spines. Few steps: the elements and bounds are looked at, and of the accuracy only
that something was learned; that it is the same as in one process is what longer trainings say (`verified`)."""
import os
import re
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402

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


if __name__ == "__main__":
    tally.main()
