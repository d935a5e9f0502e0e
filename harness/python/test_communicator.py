#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""silken.Communicator: sums of numpy arrays through a switch, and a clear error for what is wrong."""
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../python")]
from switch import Switch  # noqa: E402

WORKER = """
import sys, numpy, silken
rank = int(sys.argv[1])
with silken.Communicator(rank, 3) as comm:
    a = (numpy.arange(10000) % 1000 - 500 + rank).astype(numpy.int32)
    kept = a.copy()
    out = numpy.empty_like(a)
    comm.allreduce(a, out)
    assert (out == 3 * (numpy.arange(10000) % 1000 - 500) + 3).all(), out
    assert (a == kept).all()
    f = numpy.full((7, 300), rank + 1, numpy.float32)
    assert comm.allreduce(f) is f
    assert (f == 6).all(), f
    for wrong in (f.T, f.astype(numpy.complex64), [1.0]):
        try:
            comm.allreduce(wrong)
        except (TypeError, ValueError) as e:
            print(e)
        else:
            sys.exit("taken: %s" % type(wrong))
    for kind in (numpy.float16, numpy.float64):
        half = numpy.full(1000, rank + 1, kind)
        assert (comm.allreduce(half, average=True) == 2).all(), half
    assert comm.stats()["tensors"] == 4, comm.stats()
try:
    comm.allreduce(f)
except silken.Error as e:
    assert e.name == "CLOSED"
    print("right")
"""


class Sums(unittest.TestCase):
    def test_three_workers(self):
        with Switch(3) as switch:
            env = {**os.environ, **switch.environment()}
            workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(r)], env=env, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for r in range(3)]
            for w in workers:
                text = w.communicate(timeout=60)[0]
                self.assertEqual(w.returncode, 0, text)
                self.assertIn("right", text)
                self.assertIn("contiguous", text)
                self.assertIn("not complex64", text)
                self.assertIn("not list", text)

    def test_a_wrong_device(self):
        with Switch(1) as switch:
            env = {**os.environ, **switch.environment(), "SILKEN_DEVICE": "nonsense:x"}
            done = subprocess.run([sys.executable, "-c", WORKER, "0"], env=env, text=True, timeout=60,
                                  capture_output=True)
            self.assertIn("silken.communicator.Error: ", done.stderr)
            self.assertIn("nonsense", done.stderr)
            env.update(SILKEN_DEVICE="udp:", SILKEN_POOL="many")
            done = subprocess.run([sys.executable, "-c", WORKER, "0"], env=env, text=True, timeout=60,
                                  capture_output=True)
            self.assertIn("SILKEN_POOL is 'many': expected a number", done.stderr)


if __name__ == "__main__":
    run = unittest.main(exit=False, verbosity=2).result
    wrong = len(run.failures) + len(run.errors)
    print("%d passed, %d failed" % (run.testsRun - wrong, wrong))
    sys.exit(bool(wrong))
