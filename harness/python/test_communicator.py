#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""silken.Communicator: sums of numpy arrays through a switch, and a clear error for what is wrong."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../python")]
from switch import BUILD, Switch  # noqa: E402

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
    fixed = f.copy()
    fixed.flags.writeable = False
    for wrong in (f.T, f.astype(numpy.complex64), [1.0], f.astype(">f4"), fixed):
        try:
            comm.allreduce(wrong)
        except (TypeError, ValueError) as e:
            print(e)
        else:
            sys.exit("taken: %s" % type(wrong))
    for wrong in (lambda: comm.allreduce(a, average=True), lambda: comm.allreduce(a[:100], a[50:150])):
        try:
            wrong()
        except (TypeError, ValueError) as e:
            print(e)
        else:
            sys.exit("taken")
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
                self.assertIn("in the machine's byte order are expected, not >f4", text)
                self.assertIn("the array cannot be written to", text)
                self.assertIn("int32 has no average", text)
                self.assertIn("the tensor and its sum overlap in part", text)

    def test_members_are_those_of_the_header(self):
        """The structures in _library.py are as long as C's, and RoCEv2's settings come in."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "s.c"), os.path.join(folder, "s")
            with open(source, "w", encoding="ascii") as f:
                f.write('#include <stdio.h>\n#include "silken/allreduce.h"\n#include "silken/service.h"\n'
                        'int main(void) { printf("%zu %zu %zu", sizeof(struct silken_config), sizeof(struct silken_service),'
                        ' sizeof(struct silken_stats)); return 0; }\n')
            subprocess.run([os.environ.get("CC", "cc"), "-I", os.path.join(HERE, "../../hosts/include"), "-o", program, source],
                           check=True)
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        asked = "import ctypes, os, silken\nfrom silken import _library as l, communicator as c\n" \
                "print(*(ctypes.sizeof(s) for s in (l.Config, l.Service, l.Stats)))\n" \
                "r = c._settings(l.load(), 0, 2)[0].rdma\nprint(r.pairs, r.queue_pair)"
        env = {**os.environ, "PYTHONPATH": os.path.join(HERE, "../../python"), "SILKEN_SWITCH_IP": "10.0.0.254",
               "SILKEN_RDMA_PAIRS": "4", "SILKEN_RDMA_QUEUE_PAIR": "128", "SILKEN_LIBRARY":
               os.environ.get("SILKEN_LIBRARY", os.path.join(BUILD, "libsilken.so.0"))}
        done = subprocess.run([sys.executable, "-c", asked], env=env, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, said + "\n4 128\n", done.stderr)

    def test_a_switch_is_ended(self):
        """switch.py, by SIGTERM: with the switch, the command and the folder."""
        run = subprocess.Popen([sys.executable, os.path.join(HERE, "switch.py"), "--workers", "1", "sh", "-c",
                                "echo $$ $SWITCH_PID $SILKEN_DEVICE; sleep 1000"], stdout=subprocess.PIPE, text=True)
        command, switch, device = run.stdout.readline().split()
        run.terminate()
        self.assertEqual(run.wait(30), 128 + signal.SIGTERM)
        run.stdout.close()
        for left in ("/proc/" + command, "/proc/" + switch, os.path.dirname(device.split("socket=")[1])):
            self.assertFalse(os.path.exists(left), left)

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
            env.update(SILKEN_POOL="16", SILKEN_CONTROLLER="127.0.0.1:9")
            done = subprocess.run([sys.executable, "-c", WORKER, "0"], env=env, text=True, timeout=60,
                                  capture_output=True)
            self.assertIn("wants a token: SILKEN_TOKEN or SILKEN_TOKEN_FILE", done.stderr)


if __name__ == "__main__":
    run = unittest.main(exit=False, verbosity=2).result
    wrong = len(run.failures) + len(run.errors)
    print("%d passed, %d failed" % (run.testsRun - wrong, wrong))
    sys.exit(bool(wrong))
