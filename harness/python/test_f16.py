#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of 16-bit floats from Python, through a running switch with p4/switchml/halves.p4 (halves.py)."""
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tally  # noqa: E402
from switch import Switch  # noqa: E402

WORKERS = 3


class F16(unittest.TestCase):
    def run_workers(self, switch, **settings):
        workers = [subprocess.Popen([sys.executable, os.path.join(HERE, "halves.py"), str(r), str(WORKERS)],
                                    env={**os.environ, **switch.environment(), **settings}, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for r in range(WORKERS)]
        for w in workers:
            text = w.communicate(timeout=120)[0]
            self.assertEqual(w.returncode, 0, text)
            self.assertIn("right", text)

    def test_jobs_in_a_row(self):
        """The slots of the first are cleared for the second."""
        with Switch(WORKERS, f16=True) as switch:
            for _ in range(3):
                self.run_workers(switch)

    def test_links_that_lose(self):
        with Switch(WORKERS, f16=True) as switch:
            device = switch.environment()["SILKEN_DEVICE"]
            self.run_workers(switch, SILKEN_DEVICE="faulty:seed=4,drop=0.01,duplicate=0.01,reorder=0.05:" + device)


if __name__ == "__main__":
    tally.main()
