#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Process groups of torch.distributed with jobs of their own from a rack's job service (python/silken/torch/group.py): four
machines (machines.py), a rank on each (groups_train.py). Several groups at once, with members in common; twenty in a row;
a member that is killed, or refused by the service; DistributedDataParallel in groups; no room in the switch; the jobs removed; the network gone. Every
sum is checked."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tally  # noqa: E402
from machines import BUILD, TREE, Machines  # noqa: E402

RANKS, LIMIT_MS, PATIENCE = 4, 5000, 240
SETS = [[0, 1], [2, 3], [1, 2, 3], list(range(4)), [0, 3]]  # as groups_train.py has them
SIZES = [len(ranks) for ranks in SETS] + [RANKS]  # and of the first
PORTS = iter(range(29600, 29700))


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = Machines(RANKS)
        cls.machines.lab.configuration["control_socket"] = "tor.sock"
        cls.machines.__enter__()
        cls.addClassCleanup(cls.machines.__exit__)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="silken-groups-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.ranks = []

    def start(self, what, of_rank=None, **more):
        env = {"MASTER_ADDR": "m0", "MASTER_PORT": str(next(PORTS)), "WORLD_SIZE": str(RANKS), "OMP_NUM_THREADS": "1",
               "SILKEN_HARD_LIMIT_MS": str(LIMIT_MS), "FOLDER": self.folder, "SILKEN_TORCH_MIN_BYTES": "1024", **more}
        for rank in range(RANKS):
            own = {**env, **(of_rank or {}).get(rank, {})}
            words = ["env", "RANK=%d" % rank, *("%s=%s" % item for item in own.items()), sys.executable,
                     os.path.join(HERE, "groups_train.py"), what]
            self.ranks.append(self.machines.start(rank, words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                                  start_new_session=True))
            self.addCleanup(self.end_rank, self.ranks[-1])

    @staticmethod
    def end_rank(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()

    def reach(self, name, ranks=RANKS):
        """Waits until all ranks, or the first ones, have stopped there."""
        end = time.monotonic() + PATIENCE
        while not all(os.path.exists(os.path.join(self.folder, "%s-%d" % (name, r))) for r in range(ranks)):
            self.assertLess(time.monotonic(), end, name)
            for r in self.ranks[:ranks]:
                self.assertIsNone(r.poll(), r.poll() is not None and r.stdout.read())
            time.sleep(0.05)

    def go(self, name):
        open(os.path.join(self.folder, name + "-go"), "w", encoding="ascii").close()

    def end(self, statuses=None):
        """What the ranks have printed: (their JSON, or None; all text)."""
        until = time.monotonic() + PATIENCE
        texts = [r.communicate(timeout=max(1, until - time.monotonic()))[0] for r in self.ranks]
        self.assertEqual([r.returncode for r in self.ranks], statuses or [0] * RANKS, "\n".join(texts))
        lines = [[json.loads(line) for line in text.splitlines() if line.startswith('{"rank"')] for text in texts]
        return [said[-1] if said else None for said in lines], texts

    def ctl(self, *words):
        out = subprocess.run([os.path.join(BUILD, "silken"), "ctl", "-s", os.path.join(self.machines.lab.folder.name, "tor.sock"),
                              *words], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(out.returncode, 0, out.stderr)
        return out.stdout

    def service(self):
        """The job service's jobs, as `silken ctl job list` has them."""
        return json.loads(self.ctl("--json", "job", "list"))["service"]

    def no_jobs(self, seconds=30):
        end = time.monotonic() + seconds
        while left := self.service():
            self.assertLess(time.monotonic(), end, left)
            time.sleep(0.1)

    def all_by_switch(self, said):
        for one in said:
            self.assertGreater(one["counters"]["switch"]["calls"], 0)
            self.assertEqual(one["counters"]["fallback"]["calls"], 0)

    def test_several_at_once(self):
        self.start("several", SILKEN_JOB_NAME="several")
        self.reach("all")
        jobs = self.service()
        self.assertEqual(sorted(j["workers"] for j in jobs), sorted(SIZES))
        self.assertEqual({j["state"] for j in jobs}, {"running"})
        self.assertEqual(len({j["name"] for j in jobs}), len(SIZES))
        for job in jobs:
            self.assertRegex(job["name"], r"^several(\.[0-9a-f]{12})?$")
        # no two at one address have one port
        taken = [(m["address"], j["port"]) for j in jobs for m in j["members"]]
        self.assertEqual(len(taken), len(set(taken)))
        self.go("all")
        self.reach("some")
        # a rank destroys all of its groups but its first one
        end = time.monotonic() + 30
        while len(jobs := self.service()) > 3:
            self.assertLess(time.monotonic(), end, jobs)
            time.sleep(0.1)
        self.assertEqual(sorted(j["workers"] for j in jobs), [2, 2, 4])
        self.go("some")
        self.all_by_switch(self.end()[0])
        self.no_jobs()

    def test_twenty_in_a_row(self):
        self.start("many")
        self.reach("many")
        self.assertEqual([j["name"] for j in self.service()], ["training"])
        self.go("many")
        said, _ = self.end()
        self.all_by_switch(said)
        self.assertEqual(sum(one["counters"]["switch"]["calls"] for one in said), 4 * sum(SIZES[:-1]))
        self.no_jobs()

    def test_a_member_is_killed(self):
        self.start("killed")
        self.reach("killed")
        self.go("killed")
        self.reach("raised", 3)
        self.go("raised")
        said, texts = self.end([0, 0, 0, 128 + signal.SIGKILL])
        for one in said[1:3]:
            self.assertIsNotNone(one["why"], "\n".join(texts))
            self.assertLess(one["seconds"], LIMIT_MS / 1000 + 10 + 10)
            self.assertIn("not all ranks have said", one["why"])
        for one in said[:3]:
            self.assertEqual(one["counters"]["fallback"]["calls"], 0)
        self.assertRegex("".join(texts), r"worker 2 of job 'training\.[0-9a-f]{12}' \(10\.0\.10\.13\) is gone")
        self.no_jobs()

    def test_ddp_in_groups(self):
        self.start("ddp")
        said, _ = self.end()
        self.all_by_switch(said)
        for one in said:
            self.assertGreaterEqual(one["counters"]["switch"]["calls"], 10)
        self.no_jobs()

    def test_a_group_beside_gloo(self):
        self.start("of_gloo")
        said, _ = self.end()
        self.assertEqual([one["counters"]["switch"]["calls"] for one in said], [3, 0, 3, 0])
        self.no_jobs()

    def test_gloo_replaced(self):
        """All groups of a script that asks for Gloo."""
        self.start("of_gloo", SILKEN_REPLACE="gloo")
        said, _ = self.end()
        self.assertEqual([one["counters"]["switch"]["calls"] for one in said], [4, 1, 4, 1])
        self.no_jobs()

    def test_a_rank_is_refused(self):
        """By the job service: all raise what it was told, within the limit, however long the service would wait for it."""
        begin = time.monotonic()
        self.start("several", of_rank={2: {"SILKEN_TOKEN": "wrong"}})
        texts = [r.communicate(timeout=PATIENCE)[0] for r in self.ranks]
        for r, text in zip(self.ranks, texts):
            self.assertNotEqual(r.returncode, 0, text)
            self.assertRegex(text, "silken, .*rank 2: the job service refuses: .*token")
        self.assertLess(time.monotonic() - begin, 60 + 2 * (LIMIT_MS / 1000 + 10))
        self.no_jobs()

    def test_no_room(self):
        """The first job has all slots of the switch: the other groups agree on Gloo, and rank 0 of each says why."""
        self.start("no_room", SILKEN_POOL="8192")
        said, texts = self.end()
        for one in said:
            self.assertEqual(one["counters"]["switch"]["calls"], 2)
            self.assertEqual(one["counters"]["fallback"]["calls"], 0)
        told = re.findall(r"silken: a group of (\d) ranks goes by Gloo: silken, rank 0: the job service refuses: .*no room",
                          "".join(texts))
        self.assertEqual(sorted(told), ["2", "2", "2", "3", "4"], "\n".join(texts))
        self.no_jobs()

    def test_jobs_are_removed(self):
        """In the midst, by the operator: each group goes on by Gloo from its own last sum."""
        self.start("removed")
        self.reach("removed")
        for job in self.service():
            self.ctl("job", "remove", job["name"])
        self.go("removed")
        said, texts = self.end()
        for rank, one in enumerate(said):
            groups = sum(rank in ranks for ranks in SETS) + 1
            self.assertEqual([one["counters"][way]["calls"] for way in ("switch", "fallback")], [4 * groups, 4 * groups])
        self.assertEqual("".join(texts).count("all ranks go on by Gloo, from sum 4"), len(SETS) + 1, "\n".join(texts))
        self.no_jobs()

    def test_z_the_network_is_gone(self):
        """With the switch: nobody can agree on anything, and all raise in the limit."""
        self.start("network")
        self.reach("network")
        self.machines.lab.switch.kill()
        self.machines.lab.switch.wait()
        self.go("network")
        said, texts = self.end()
        for one in said:
            self.assertRegex(one["why"], "has not answered|has not said|not all ranks have said", "\n".join(texts))
            self.assertLess(one["seconds"], 2 * (LIMIT_MS / 1000 + 10) + 10)


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.path.join(TREE, "python")
    tally.main()
