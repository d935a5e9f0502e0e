#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The README's commands do what the README says, as they are written there, in a folder of their own."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "harness"))
import tally  # noqa: E402

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
# a word of each block of commands: what it prints
BLOCKS = {
    "silken test p4/l2/l2.p4": "PASS",
    "--expect golden --update": "leaves at port 1, 60 bytes, unchanged",
    "table dump forward": "send",
}


class Readme(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            self.blocks = re.findall(r"^```sh\n(.*?)^```$", f.read(), re.M | re.S)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name in ("p4", "harness"):
            os.symlink(os.path.join(ROOT, name), os.path.join(self.folder.name, name))
        os.symlink(BUILD, os.path.join(self.folder.name, "build"))

    def test_blocks(self):
        for word, prints in BLOCKS.items():
            with self.subTest(word):
                block = [b for b in self.blocks if word in b]
                self.assertEqual(len(block), 1)
                text = block[0].replace("/tmp/", self.folder.name + "/")
                done = subprocess.run(
                    ["bash", "-euc", "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n" + text],
                    cwd=self.folder.name, capture_output=True, text=True, timeout=600, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(prints, done.stdout)

    def test_no_block_is_left_out(self):
        known = [b for b in self.blocks if any(word in b for word in BLOCKS) or b.startswith("make ")]
        self.assertEqual(known, self.blocks)


if __name__ == "__main__":
    tally.main()
