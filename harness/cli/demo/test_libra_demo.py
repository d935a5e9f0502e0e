#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken demo --protocol libra`: a sparse model by a switch that adds floats, or one for each rack, and by parameter
servers, from start to `verified`, over links that lose, too."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")


class Demo(unittest.TestCase):
    def check(self, *options):
        done = subprocess.run([SILKEN, "demo", "--protocol", "libra", "--limit", "280", *options], text=True,
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("verified\n"), done.stdout)
        self.assertRegex(done.stdout, r"sums checked +65,536;")
        hot, cold = re.search(r"pairs +([\d,]+) at the switch, ([\d,]+) at the servers", done.stdout).groups()
        self.assertNotIn("0", (hot, cold))
        return int(re.search(r"retransmissions +([\d,]+)", done.stdout).group(1).replace(",", ""))

    def test_asynchronous(self):
        self.check("--steps", "25")

    def test_synchronous_with_loss(self):
        self.assertGreater(self.check("--steps", "12", "--sync", "--loss", "3%", "--workers", "3", "--servers", "3",
                                      "--seed", "7"), 10)

    def test_two_racks(self):
        """The switch of each has the hot parameters of the server there."""
        self.check("--steps", "25", "--racks", "2")

    def test_racks_with_loss(self):
        self.assertGreater(self.check("--steps", "12", "--sync", "--loss", "1%", "--racks", "3", "--servers", "3"), 10)

    def test_text(self):
        """A model of next words, on what Debian's bible-kjv prints."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "text")
            with open(path, "wb") as f:
                subprocess.run(["bible", "gen1:1-rev22:21"], check=True, stdout=f, timeout=60)
            self.check("--steps", "20", "--text", path)
            with open(path, "w", encoding="ascii") as f:
                f.write("a few words")
            for bad, why in ((path, "has 3 words; it should have 1000 at least"), (folder, "Is a directory"),
                             (path + "x", "No such file")):
                done = subprocess.run([SILKEN, "demo", "--protocol", "libra", "--text", bad], text=True,
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertIn(why, done.stderr)

    def test_program_that_adds_integers(self):
        """Its sums are not those of floats, and it takes no packets with pairs at any place: that is noticed."""
        done = subprocess.run([SILKEN, "demo", "--protocol", "libra", "--limit", "280", "--steps", "3", "--program",
                               "p4/libra/integer.p4"], text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("verified", done.stdout)
        self.assertRegex(done.stdout + done.stderr, "NOT VERIFIED|no progress within the hard limit")


if __name__ == "__main__":
    tally.main()
