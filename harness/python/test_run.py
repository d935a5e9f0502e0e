#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""python3 -m silken.run: the place of a process that srun has started, as torch.distributed reads it."""
import os
import sys
import unittest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TREE, "python"), os.path.join(TREE, "harness")]
import tally  # noqa: E402
from silken import run  # noqa: E402


class Slurm(unittest.TestCase):
    def place(self, **environment):
        run.take_place_from_slurm(environment)
        return {k: environment.get(k) for k in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")}

    def test_the_first_of_a_list(self):
        for nodes, first in (("m0", "m0"), ("m0,m1", "m0"), ("n[07-09,12],m1", "n07"), ("n[3,1]", "n3"),
                             ("a[1-2]-x,b", "a1-x"), ("rack1-n[10-19]", "rack1-n10")):
            self.assertEqual(run.first_of(nodes), first)

    def test_a_process_of_srun(self):
        self.assertEqual(self.place(SLURM_PROCID="3", SLURM_NTASKS="4", SLURM_LOCALID="1", SLURM_JOB_ID="10017",
                                    SLURM_STEP_NODELIST="m[0-1]", SLURM_JOB_NODELIST="m[0-7]"),
                         {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "m0", "MASTER_PORT": "20017"})

    def test_what_is_set_stays(self):
        torchrun = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "h", "MASTER_PORT": "1"}
        self.assertEqual(self.place(SLURM_PROCID="3", SLURM_NTASKS="4", **torchrun), torchrun)
        self.assertEqual(self.place(SLURM_PROCID="1", SLURM_NTASKS="2", MASTER_ADDR="h", MASTER_PORT="7")["MASTER_ADDR"], "h")

    def test_without_slurm_nothing_is_set(self):
        self.assertEqual(set(self.place(PATH="/bin").values()), {None})


if __name__ == "__main__":
    tally.main()
