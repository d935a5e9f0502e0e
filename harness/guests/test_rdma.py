#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The scenarios of rdma.py with two machines, without the published client: ibv_uc_pingpong through p4/l2 and through
p4/switchml/with_roce.p4, which checks and makes the invariant CRC of what it forwards; `silken worker --rdma`, without and with
loss; and our endpoint against Linux' rxe, which takes only frames whose CRC is right."""
import os
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "control"),
                os.path.join(os.path.dirname(__file__), "..")]
from live import inside  # noqa: E402

import guest  # noqa: E402

guest.fetch()
inside(__file__)
import rdma  # noqa: E402
import tally  # noqa: E402

COUNT = 2


class Rdma(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rack = guest.Rack(COUNT, guest.image(rdma.programs()))

    @classmethod
    def tearDownClass(cls):
        cls.rack.__exit__()


def add(name, *scenario):
    def test(self):
        verdict = rdma.run(self.rack, name, *scenario)
        print(verdict, flush=True)
        self.assertTrue(verdict["good"], verdict)
    setattr(Rdma, "test_" + name.replace("-", "_"), test)


for each in rdma.scenarios(COUNT, None, False):
    add(*each)

if __name__ == "__main__":
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    tally.main()
