#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""DLCP's hook of DistributedDataParallel (python/silken/torch/dlcp.py), with three ranks beside p4/dlcp in a switch that
loses packets: with a bound of 0 the training is that of Gloo, with one of 10 % it learns as much."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import tally  # noqa: E402

TREE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TREE, os.environ.get("BUILD", "build"))
RANKS = 3


def addresses(rank):
    return "02:00:00:00:02:0%d" % (rank + 1), "10.0.2.%d" % (rank + 1)


def configuration(folder):
    """p4/dlcp/README.md: each rank at a port."""
    entries = [{"table": "addresses", "key": {"hdr.ipv4.dst_addr": addresses(r)[1]}, "action": "to_port",
                "args": {"port": r + 1}} for r in range(RANKS)]
    for c in range(7):
        for ecn, colour in ((0, 1), (2, 0)):
            entries.append({"table": "queues_of", "key": {"dscp": 4 * c + 3, "ecn": ecn}, "action": "queue",
                            "args": {"qid": 6 - c, "colour": colour}})
    entries += [{"table": "queues_of", "key": {"dscp": 31, "ecn": e}, "action": "queue",
                 "args": {"qid": 7, "colour": 0}} for e in range(4)]
    return {"program": os.path.join(TREE, "p4/dlcp/dlcp.p4"), "entries": entries, "faults": {"loss": 0.02, "seed": 3},
            "control_socket": os.path.join(folder, "control.sock"),
            "ports": [{"port": r + 1, "device": "net_memif%d,role=server,id=0,socket-abstract=no,socket=%s/%d.sock"
                       % (r + 1, folder, r)} for r in range(RANKS)]}


class Hook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="silken-dlcp-", dir="/tmp")
        devices = ["net_memif%d,role=client,id=0,socket-abstract=no,socket=%s/%d.sock" % (r, cls.folder, r)
                   for r in range(RANKS)]
        for name, content in (("job.json", [addresses(r) for r in range(RANKS)]), ("devices.json", devices),
                              ("switch.json", configuration(cls.folder))):
            with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as f:
                json.dump(content, f)
        cls.log = open(os.path.join(cls.folder, "switch.log"), "w+", encoding="utf-8")
        cls.switch = subprocess.Popen([os.path.join(BUILD, "silken"), "run", "-c", cls.folder + "/switch.json",
                                       "--memory", "256"], stdout=cls.log, stderr=cls.log)
        limit = time.monotonic() + 120
        while not os.path.exists("%s/%d.sock" % (cls.folder, RANKS - 1)) and cls.switch.poll() is None \
                and time.monotonic() < limit:
            time.sleep(0.1)

    @classmethod
    def tearDownClass(cls):
        cls.switch.terminate()
        cls.switch.wait(30)
        cls.log.close()
        shutil.rmtree(cls.folder)

    def train(self, kind, bound=0.0):
        env = {**os.environ, "WORLD_SIZE": str(RANKS), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
               "SILKEN_LIBRARY": os.path.join(BUILD, "libsilken.so.0"),
               "PYTHONPATH": os.pathsep.join([os.path.join(TREE, "python"), HERE])}
        ranks = [subprocess.Popen([sys.executable, os.path.join(HERE, "hook_train.py"), self.folder, kind, str(bound)],
                                  env={**env, "RANK": str(r)}, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT) for r in range(RANKS)]
        try:
            said = [r.communicate(timeout=150)[0] for r in ranks]
        finally:
            for r in ranks:
                r.kill()
        self.assertEqual([r.returncode for r in ranks], [0] * RANKS, "\n".join(said))
        return json.loads(said[0].splitlines()[-1])

    def test_training(self):
        gloo = self.train("gloo")
        exact = self.train("servers", 0.0)
        self.assertGreater(exact["stats"]["packets_lost"], 0)
        self.assertLess(exact["apart"], 1e-4)  # but for the order of additions
        self.assertAlmostEqual(exact["loss"], gloo["loss"], delta=0.02 * gloo["loss"])
        for kind in "servers10", "ring":
            lossy = self.train(kind, 0.1)
            self.assertLess(lossy["loss"], 1.15 * gloo["loss"] + 0.05)
            self.assertLess(lossy["apart"], 0.2)


if __name__ == "__main__":
    tally.main()
