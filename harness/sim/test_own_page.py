# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/own-aggregation.md, as they stand there, in a copy of what they need."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "harness")
import tally  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build")) + "/silken"


class Page(unittest.TestCase):
    def test_commands(self):
        with open("docs/own-aggregation.md") as f:
            page = f.read()
        commands = [line.split("  #")[0].strip() for line in re.findall(r"^    (\S.*)$", page, re.M)]
        commands = [c for c in commands if not c.startswith("make ")]
        self.assertEqual(len(commands), 5, commands)
        folder = tempfile.mkdtemp(prefix="silken-own-page-")
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree("examples/maximum", folder + "/examples/maximum", ignore=shutil.ignore_patterns("*.so"))
        shutil.copytree("hosts/include", folder + "/hosts/include")
        environment = dict(os.environ, PATH=os.path.dirname(SILKEN) + ":" + os.environ["PATH"])
        for command in commands:
            run = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
                                 timeout=200)
            self.assertEqual(run.returncode, 0, command + "\n" + run.stdout + run.stderr)
            if " sim " in command or " lab " in command:
                self.assertRegex(run.stdout, r"greatest +sums|200 with all sums, 0 failed as allowed, 0 violated", command)


if __name__ == "__main__":
    os.environ.setdefault("SILKEN_CACHE", os.path.abspath(os.environ.get("BUILD", "build")) + "/test-cache")
    tally.main()
