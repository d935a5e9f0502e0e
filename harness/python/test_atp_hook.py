#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""ATP's hook of DistributedDataParallel (python/silken/torch/atp.py): four ranks in two racks, whose switches run p4/atp,
and a parameter server (harness/cli/demo/atp_job.py). The training is that of Gloo within the error of fixed point, all
ranks have the same bits, also when the switches lose packets; when a switch is killed all ranks raise; what a job file
lacks is said."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TREE, os.environ.get("BUILD", "build"))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "cli", "demo"), os.path.join(TREE, "python")]
import atp_job  # noqa: E402
import tally  # noqa: E402

RACKS = [0, 0, 1, 1]
ENVIRONMENT = {**os.environ, "WORLD_SIZE": str(len(RACKS)), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
               "SILKEN_LIBRARY": os.path.join(BUILD, "libsilken.so.0"),
               "PYTHONPATH": os.pathsep.join([os.path.join(TREE, "python"), HERE])}


def job(**options):
    made = atp_job.Job(os.path.join(BUILD, "silken"), RACKS, program=os.path.join(TREE, "p4/atp/atp.p4"), **options)
    with open(os.path.join(made.folder, "devices.json"), "w", encoding="utf-8") as f:
        json.dump([w.links[0].device for w in made.workers], f)
    return made


def start(folder, kind, **more):
    return [subprocess.Popen([sys.executable, os.path.join(HERE, "hook_train.py"), folder, kind],
                             env={**ENVIRONMENT, "RANK": str(r), **more}, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT) for r in range(len(RACKS))]


def end(ranks, limit=400):
    until = time.monotonic() + limit
    try:
        return [r.communicate(timeout=max(1, until - time.monotonic()))[0] for r in ranks]
    finally:
        for r in ranks:
            r.kill()


class Hook(unittest.TestCase):
    def train(self, folder, kind):
        ranks = start(folder, kind)
        said = end(ranks)
        self.assertEqual([r.returncode for r in ranks], [0] * len(RACKS), "\n".join(said))
        return json.loads(said[0].splitlines()[-1])

    def test_training(self):
        with job() as made:
            made.start_switches()
            made.start_servers()
            gloo, atp = self.train(made.folder, "gloo"), self.train(made.folder, "atp")
            made.stop_switches()
            served = made.stop_servers()
        self.assertAlmostEqual(atp["loss"], gloo["loss"], delta=0.001)
        self.assertEqual(atp["apart"], 0)  # the same bits
        self.assertGreater(atp["stats"]["tensors"], 12)
        self.assertGreater(atp_job.numbers(served, r"(\d+) complete sums of switches"), 0)

    def test_loss(self):
        with job(loss=0.005) as made:
            made.start_switches()
            made.start_servers()
            gloo, atp = self.train(made.folder, "gloo"), self.train(made.folder, "atp")
        self.assertAlmostEqual(atp["loss"], gloo["loss"], delta=0.001)
        self.assertEqual(atp["apart"], 0)
        self.assertGreater(atp["stats"]["retransmissions"], 0)

    def test_switch_killed(self):
        with job() as made:
            made.start_switches()
            made.start_servers()
            begun = os.path.join(made.folder, "begun")
            ranks = start(made.folder, "atp", LIMIT_MS="4000", STEP_FILE=begun)
            until = time.monotonic() + 90
            while not os.path.exists(begun) and time.monotonic() < until:
                time.sleep(0.01)
            made.switches[0].kill()
            said = end(ranks)
        self.assertEqual([r.returncode for r in ranks], [1] * len(RACKS), "\n".join(said))
        for text in said:
            self.assertIn("no progress", text)


class Files(unittest.TestCase):
    """Mistakes of a job's file and its use, each a sentence."""

    def refused(self, text, change, rank=0, devices=("udp:",)):
        from silken.torch import atp  # pylint: disable=import-outside-toplevel
        station = {"rack": 0, "lanes": [{"mac": "02:00:00:00:01:01", "ip": "10.0.0.1"}]}
        told = {"job": 1, "workers": [station], "servers": [station], "switches": [],
                "groups": [{"mac": "01:00:5e:00:01:00", "ip": "239.0.1.0"}]}
        change(told)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(told, f)
            f.flush()
            with self.assertRaises((ValueError, RuntimeError)) as raised:
                atp.Job(rank, f.name, list(devices))
        self.assertIn(text, str(raised.exception))

    def test_files(self):
        self.refused("'groups' is missing", lambda t: t.pop("groups"))
        self.refused("'ip' is missing", lambda t: t["groups"][0].pop("ip"))
        self.refused("the job's type is i32", lambda t: t.update(type="i32"))
        self.refused("rank 1 is not one of 1 workers", lambda t: None, rank=1)
        self.refused("server 0 has 1 lanes, and there are 2 devices", lambda t: None, devices=("udp:", "udp:"))
        self.refused("there is no device", lambda t: None, devices=())
        self.refused("rack 0 has no switch", lambda t: t.update(switches=[{"rack": 1, "mac": "", "ip": ""}]))
        self.refused("job is a number from 1 to 127, not 'one'", lambda t: t.update(job="one"))
        self.refused("job is a number from 1 to 127, not 300", lambda t: t.update(job=300))
        self.refused("indices is a number from 1 to 6, not 7", lambda t: t.update(first_index=65530, indices=7))
        self.refused("window is a number from 1 to 10, not 11", lambda t: t.update(window=11, window_max=10))
        self.refused("rack is a number", lambda t: t["workers"][0].update(rack=-1))
        self.refused("list", lambda t: t["workers"][0].update(lanes=[[]]))
        self.refused("udp: devices are for SwitchML", lambda t: None)


if __name__ == "__main__":
    os.environ["SILKEN_LIBRARY"] = ENVIRONMENT["SILKEN_LIBRARY"]
    tally.main()
