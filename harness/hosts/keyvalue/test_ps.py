#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""silken/ps.h, the names of PS-lite: programs of C++ as workers and servers of a job, with a switch between. Ours
(ps_sums.cc), with all parameters at servers, with hot ones in the switch, and with an optimiser; and, where PS_LITE names
a checkout of it, PS-lite's own tests of keys and values, as they are."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path[:0] = [os.path.join(ROOT, "harness"), os.path.join(ROOT, "harness", "control")]
import tally  # noqa: E402
from live import SILKEN, Switch  # noqa: E402

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
PS_LITE = os.environ.get("PS_LITE")
SWITCH = "02:00:00:00:00:fe", "10.0.1.254"
SECONDS = 120


def build(source, folder):
    program = os.path.join(folder, os.path.basename(source)[:-3])
    subprocess.run(["g++", "-std=c++14", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-pthread",
                    "-I", os.path.join(ROOT, "hosts", "include"), source, "-o", program, "-L", BUILD, "-lsilken",
                    f"-Wl,-rpath,{BUILD}"], check=True)
    return program


class Job:
    """Processes of one program; worker w has 'customers' stations, at ports of their own, servers come after them."""

    def __init__(self, folder, workers, servers, customers=1, hot=None, program="p4/libra/libra.p4"):
        self.folder, self.workers, self.servers, self.customers = folder, workers, servers, customers
        stations = workers * customers + servers
        config = {"program": os.path.join(ROOT, program), "ports": [
            {"port": 1 + s, "device": f"net_memif{s},role=server,id=0,socket-abstract=no,socket={self.socket(s)}"}
            for s in range(stations)]}
        self.layout = None
        if hot is not None:
            self.layout = self.profile(hot)
            tables = subprocess.run([SILKEN, "libra", "tables"], check=True, capture_output=True, text=True).stdout
            names = [f"{1 + s}:{self.ip(s)}/{self.mac(s)}" for s in range(stations)]
            with open(os.path.join(folder, "tables.json"), "w") as f:
                f.write(tables)

            config.update(json.loads(tables))
            config["libra"] = {"mac": SWITCH[0], "address": SWITCH[1], "jobs": [
                {"name": "ps", "layout": self.layout, "parameters": 100000, "workers": names[:stations - servers],
                 "servers": names[stations - servers:]}]}
        else:
            config["entries"] = [{"table": "forward.macs", "key": {"hdr.ethernet.dst_addr": self.mac(s)},
                                  "action": "to_port", "args": {"port": 1 + s}} for s in range(stations)]
        self.switch = Switch(config, "--memory", "256").start()
        self.processes = []

    def socket(self, s):
        return os.path.join(self.folder, f"{s}.sock")

    @staticmethod
    def mac(s):
        return f"02:00:00:00:01:{1 + s:02x}"

    @staticmethod
    def ip(s):
        return f"10.0.0.{1 + s}"

    def profile(self, keys):
        updates, layout = os.path.join(self.folder, "updates"), os.path.join(self.folder, "layout")
        with open(updates, "w") as f:
            f.write("".join(f"{key}\n" for key in keys))
        subprocess.run([SILKEN, "libra", "profile", "--job", "3", "--epoch", "1", "--portion", "1", "--output", layout,
                        updates], check=True, capture_output=True)
        return layout

    def station(self, s, ending=""):
        return {"SILKEN_PS_DEVICE" + ending: f"net_memif{s},role=client,id=0,rsize=9,socket-abstract=no,"
                                             f"socket={self.socket(s)}",
                "SILKEN_PS_SELF" + ending: f"{self.mac(s)}/{self.ip(s)}"}

    def environment(self, role, rank, **more):
        first = self.workers * self.customers
        env = {**os.environ, "DMLC_ROLE": role, "DMLC_NUM_WORKER": str(self.workers),
               "DMLC_NUM_SERVER": str(self.servers), "SILKEN_PS_RANK": str(rank), "SILKEN_PS_JOB": "3",
               "SILKEN_PS_CUSTOMERS": str(self.customers), "SILKEN_PS_LIMIT_MS": "30000",
               "SILKEN_PS_SERVERS": ",".join(f"{self.mac(first + s)}/{self.ip(first + s)}"
                                             for s in range(self.servers)), **more}
        if self.layout:
            env.update(SILKEN_PS_LAYOUT=self.layout, SILKEN_PS_SWITCH="/".join(SWITCH), SILKEN_PS_SWITCH_CPU="1")
        if role == "server":
            env.update(self.station(first + rank))
        else:
            for c in range(self.customers):
                env.update(self.station(rank * self.customers + c, f"_{c}" if c else ""))
        return env

    def run(self, words, role_words=False, **more):
        """What all said, by role and rank."""
        roles = [("server", r) for r in range(self.servers)] + [("worker", r) for r in range(self.workers)]
        for role, rank in roles + [("scheduler", 0)]:
            self.processes.append(subprocess.Popen(
                [*words, role] if role_words else words, env=self.environment(role, rank, **more), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        return {who: (p.communicate(timeout=SECONDS)[0], p.returncode)
                for who, p in zip(roles + [("scheduler", 0)], self.processes)}

    def close(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
            p.communicate()
        self.switch.process.terminate()
        assert self.switch.process.wait(60) == 0, self.switch.said()


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="silken-ps-")
        cls.sums = build(os.path.join(os.path.dirname(__file__), "ps_sums.cc"), cls.temporary.name)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="silken-ps-")

    def tearDown(self):
        self.folder.cleanup()

    def run_job(self, words, *, ends=True, role_words=False, more=None, **job):
        j = Job(self.folder.name, **job)
        try:
            said = j.run(words, role_words, **(more or {}))
        finally:
            j.close()
        for who, (text, status) in said.items():
            self.assertEqual(status, 0, f"{who}: {text}")
            if ends and who[0] != "scheduler":
                self.assertIn(f"the {who[0]} has ended", text)
        return said

    def test_cold(self):
        self.run_job([self.sums, "sums"], workers=3, servers=2, more={"SILKEN_PS_WIDTH": "2"})

    def test_hot(self):
        """Half of the parameters are in the switch."""
        hot = [3 * key * 2 + i for key in range(150) for i in range(2)]
        self.run_job([self.sums, "sums", "0.01"], workers=3, servers=2, hot=hot,
                     more={"SILKEN_PS_WIDTH": "2", "SILKEN_PS_KEYS": "100000"})

    def test_optimised(self):
        self.run_job([self.sums, "optimised", "0.01"], workers=2, servers=2, hot=range(12),
                     more={"SILKEN_PS_WIDTH": "2", "SILKEN_PS_KEYS": "100000", "SILKEN_PS_OPTIMISED": "1"})

    def refused(self, sentence, words, **environment):
        env = {**os.environ, "DMLC_ROLE": "worker", "DMLC_NUM_WORKER": "1", "DMLC_NUM_SERVER": "1",
               "SILKEN_PS_RANK": "0", "SILKEN_PS_DEVICE": "tape:1", "SILKEN_PS_SELF": "02:00:00:00:00:01/10.0.0.1",
               "SILKEN_PS_SERVERS": "02:00:00:00:00:02/10.0.0.2", **environment}
        done = subprocess.run(words, env={k: v for k, v in env.items() if v is not None}, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(sentence, done.stderr)

    def test_refuses(self):
        words = [self.sums, "sums"]
        self.refused("DMLC_ROLE is 'x'", words, DMLC_ROLE="x")
        self.refused("SILKEN_PS_RANK is not in the environment", words, SILKEN_PS_RANK=None)
        self.refused("SILKEN_PS_JOB is 'x', not a number", words, SILKEN_PS_JOB="x")
        self.refused("is not like 02:00:00:00:00:01/10.0.0.1", words, SILKEN_PS_SELF="x")
        self.refused("SILKEN_PS_SERVERS has 1 addresses, and DMLC_NUM_SERVER is 2", words, DMLC_NUM_SERVER="2")
        self.refused("tape:1", words)


@unittest.skipUnless(PS_LITE, "PS_LITE does not name a checkout of PS-lite")
class PsLite(Programs):
    def test_kv_app(self):
        program = build(os.path.join(PS_LITE, "tests", "test_kv_app.cc"), self.temporary.name)
        said = self.run_job([program], workers=3, servers=2, ends=False)
        for rank in range(3):
            self.assertIn("error: 0, 0", said["worker", rank][0])

    def test_kv_app_multi_workers(self):
        program = build(os.path.join(PS_LITE, "tests", "test_kv_app_multi_workers.cc"), self.temporary.name)
        said = self.run_job([program], workers=1, servers=2, customers=2, ends=False, role_words=True)
        self.assertEqual(said["worker", 0][0].count("error: 0, 0"), 2)

    # those above are Programs' own
    test_cold = test_hot = test_optimised = test_refuses = None


if __name__ == "__main__":
    tally.main()
