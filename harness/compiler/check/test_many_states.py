#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A parser of more states than are supported is refused before they are compared with each other."""
import os
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import tally  # noqa: E402

SILKEN = f"{os.environ.get('BUILD', 'build')}/silken"
NEXT = "        transition accept;\n    }\n"


class ManyStates(unittest.TestCase):
    def test_refused(self):
        with open("p4/l2/l2.p4", encoding="utf-8") as f:
            text = f.read()
        n = 20000
        states = "".join(f"    state s{i} {{ transition select(hdr.ethernet.ether_type) {{ {i} : s{i + 1}; default : s{i + 2}; }} }}\n"
                         for i in range(n))
        text = text.replace(NEXT, f"        transition s0;\n    }}\n{states}    state s{n} {{ transition accept; }}\n"
                                  f"    state s{n + 1} {{ transition accept; }}\n", 1)
        with tempfile.TemporaryDirectory(prefix="silken-states-") as folder:
            path = os.path.join(folder, "many.p4")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run([SILKEN, "check", path], capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(run.returncode, 2)
        self.assertIn(f"parser 'IngressParser' has {n + 3} states; at most 4096 are supported", run.stderr)
        self.assertLess(after.ru_utime - before.ru_utime, 10)


if __name__ == "__main__":
    tally.main()
