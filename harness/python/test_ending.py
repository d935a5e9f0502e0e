#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What ends before a process does (python/silken/torch/ending.py): a thread that is always within PyTorch's code does not
abort the process that ends, however it ends; also one that was forked. Without that, half of these runs end by SIGABRT."""
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import tally  # noqa: E402

PYTHON = os.path.join(HERE, "../../python")
BUSY = """
import multiprocessing, os, sys, threading, time
import torch
from silken.torch import ending

class Busy:
    def __init__(self, name):
        self.name, self.over = name, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        ending.with_process(self)

    def run(self):
        while not self.over:
            future = torch.futures.Future()
            future.then(lambda f: None)
            future.set_result(1)

    def begin_close(self):
        if not self.over:
            os.write(1, b"begin %s\\n" % self.name)
        self.over = True

    def close(self):
        self.begin_close()
        self.thread.join()
        os.write(1, b"end %s\\n" % self.name)

def work(how):
    busy = [Busy(b"a"), Busy(b"b")]
    time.sleep(0.05)
    if how == "raise":
        raise RuntimeError("it fails")
    if how == "exit":
        sys.exit(3)
    keep.extend(busy)

keep = []
where, how = sys.argv[1:]
if where == "forked":
    child = multiprocessing.get_context("fork").Process(target=work, args=(how,))
    child.start()
    child.join()
    sys.exit(child.exitcode)
work(how)
"""


class Ending(unittest.TestCase):
    def run_busy(self, where, how, status):
        done = subprocess.run([sys.executable, "-c", BUSY, where, how], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PYTHONPATH": PYTHON, "OMP_NUM_THREADS": "1"}, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        said = done.stdout.split("\n")[:-1]
        # all begin to end before any is waited for
        self.assertEqual(sorted(said[:2]), ["begin a", "begin b"], said)
        self.assertEqual(set(said[2:]), {"end a", "end b"}, said)

    def test_it_returns(self):
        for _ in range(2):
            self.run_busy("here", "return", 0)

    def test_it_raises(self):
        for _ in range(2):
            self.run_busy("here", "raise", 1)

    def test_it_exits(self):
        self.run_busy("here", "exit", 3)

    def test_it_was_forked(self):
        for how, status in (("return", 0), ("raise", 1), ("exit", 3)):
            self.run_busy("forked", how, status)


if __name__ == "__main__":
    tally.main()
