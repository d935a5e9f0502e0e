# SPDX-License-Identifier: Apache-2.0
"""generate.py puts a generator's scripts where compat.py finds them, and says what there are none for.

    python3 harness/compat/test_generate.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tally  # noqa: E402
SILKEN = f"{os.environ.get('BUILD', 'build')}/silken"
GOOD = (HERE.parents[1] / "p4/l2/l2.p4").read_text()

# In place of p4testgen: a script for each program but those whose text has "range".
GENERATOR = """
import pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--out-dir") + 1])
if "range" in pathlib.Path(sys.argv[-1]).read_text():
    sys.exit("Unimplemented compiler support: ranges")
(out / "made_1.stf").write_text("# p4testgen seed: 1\\n" + sys.argv[sys.argv.index("--max-tests") + 1].join(
    ["# ", "\\n"]) + "add forward hdr.ethernet.dst_addr:1 send(port:3)\\npacket 1 000000000001 000000000002 88b5\\n"
    "expect 3 000000000001 000000000002 88b5 $\\n")
"""


class Generated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("one/deep/switch", GOOD), ("one/ranges", GOOD + "// range\n")):
            path = self.folder / f"checkouts/somebody+{name}.p4"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.folder / "generator.py").write_text(GENERATOR)

    def generate(self, *names):
        (self.folder / "list").write_text("# names\n" + "".join(f"{n}\n" for n in names))
        return subprocess.run([sys.executable, HERE / "generate.py", "--p4testgen",
                               f"{sys.executable} {self.folder}/generator.py", "--out", self.folder / "scripts",
                               "--list", self.folder / "list", "--tests", "7", self.folder / "checkouts"], text=True,
                              capture_output=True, check=False, timeout=600)

    def test_scripts_that_compat_runs(self):
        done = self.generate("somebody+one/deep/switch.p4", "somebody+one/ranges.p4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 programs: 1 with scripts, 1 without, 0 that are not there", done.stdout)
        self.assertIn("somebody+one/ranges.p4: no scripts: Unimplemented compiler support: ranges", done.stderr)
        script = self.folder / "scripts/somebody+one/deep/switch/made_1.stf"
        self.assertIn("# 7\n", script.read_text())
        page = self.folder / "page.md"
        done = subprocess.run([sys.executable, HERE / "compat.py", "--silken", SILKEN, "--behaviour", "Made", "--out",
                               page, "--own-scripts", self.folder / "scripts", self.folder / "checkouts/somebody+one"],
                              text=True, capture_output=True, check=False, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| somebody/one/deep/switch.p4 | by p4testgen | 1 | 3 of 3 pass |", page.read_text())

    def test_what_is_there_stays(self):
        script = self.folder / "scripts/somebody+one/ranges/kept.stf"
        script.parent.mkdir(parents=True)
        script.write_text("")
        done = self.generate("somebody+one/ranges.p4")
        self.assertIn("1 programs: 1 with scripts, 0 without", done.stdout)

    def test_a_program_that_is_gone(self):
        done = self.generate("somebody+one/gone.p4")
        self.assertEqual(done.returncode, 1)
        self.assertIn("somebody+one/gone.p4: no such program", done.stderr)


if __name__ == "__main__":
    tally.main()
