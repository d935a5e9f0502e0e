#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of the README and of docs/first-steps.md do what these say, as they are written there, in a folder of their
own. The README has what a newcomer reads: what it is, a picture of the page, two commands; on two screens."""
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
    "table dump forward": "page 127.0.0.1:",
}
# a screen has 50 lines of 100 columns, and a picture as wide as they are about as much as 25 of them
SCREENS, LINES, COLUMNS, PICTURE = 2, 50, 100, 25


class Readme(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            self.readme = f.read()
        with open(os.path.join(ROOT, "docs/first-steps.md"), encoding="utf-8") as f:
            self.blocks = re.findall(r"^```sh\n(.*?)^```$", self.readme + f.read(), re.M | re.S)
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
                text = text.replace('"page": {}', '"page": {"listen": "127.0.0.1:0"}')  # others may have that port
                done = subprocess.run(
                    ["bash", "-euc", "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n" + text],
                    cwd=self.folder.name, capture_output=True, text=True, timeout=600, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(prints, done.stdout)

    def test_no_block_is_left_out(self):
        known = [b for b in self.blocks if any(word in b for word in BLOCKS) or b.startswith("make ")]
        self.assertEqual(known, self.blocks)

    def test_two_screens(self):
        lines = [re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", line) for line in self.readme.splitlines()]
        self.assertEqual([line for line in lines if len(line) > COLUMNS], [])
        pictures = re.findall(r"^!\[.*\]\((docs/images/page.*)\)$", self.readme, re.M)
        self.assertEqual(len(pictures), 1)
        self.assertTrue(os.path.exists(os.path.join(ROOT, pictures[0])))
        self.assertLessEqual(len(lines) + PICTURE * len(pictures), SCREENS * LINES)
        commands = re.findall(r"^```sh\n(.*?)^```$", self.readme, re.M | re.S)
        self.assertEqual([len(c.splitlines()) for c in commands], [2])

    def test_links(self):
        for name in ("README.md", "docs/first-steps.md"):
            with open(os.path.join(ROOT, name), encoding="utf-8") as f:
                for link in re.findall(r"\]\(([^)#]+)", f.read()):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, os.path.dirname(name), link)), f"{name}: {link}")


if __name__ == "__main__":
    tally.main()
