#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Libra_s in a running switch: jobs are added, listed, shown and removed by `silken ctl job`, what is wrong is refused in
one sentence and changes nothing, and a reload does not change the section. What it does with packets is in test_libra.c;
with workers and servers that are processes, in harness/cli/demo/test_libra_demo.py."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", ".."), os.path.join(os.path.dirname(__file__), "..")]
import tally  # noqa: E402
from live import SILKEN, Switch  # noqa: E402


def layout(switch, name, job):
    path = switch.path(name)
    with open(switch.path("updates"), "w") as f:
        f.write("".join(f"{key}\n" * (30 - key) for key in range(20)))
    subprocess.run([SILKEN, "libra", "profile", "--job", str(job), "--epoch", "7", "--portion", "1", "--output", path,
                    switch.path("updates")], check=True, capture_output=True)
    return path


def add(switch, name, path, *more, workers="1:10.0.0.1,2:10.0.0.2/02:00:00:00:00:02",
        servers="9:10.0.0.9/02:00:00:00:00:09"):
    return switch.ctl("job", "add", name, "--protocol", "libra", "--layout", path, "--parameters", 20, "--workers",
                      workers, "--servers", servers, *more)


class Live(unittest.TestCase):
    def config(self, **more):
        return {"program": os.path.abspath("p4/libra/integer.p4"),
                "ports": [{"port": p, "device": f"net_null{p}"} for p in (1, 2, 9)],
                "metrics": {"listen": f"127.0.0.1:{self.metrics}"},
                "libra": {"mac": "02:00:00:00:00:fe", "address": "10.0.0.254", "shares": 2, **more}}

    def setUp(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.metrics = s.getsockname()[1]
        self.switch = Switch(self.config())
        self.switch.write(self.switch.config)
        self.one, self.two = layout(self.switch, "one.layout", 3), layout(self.switch, "two.layout", 4)
        self.switch.start()

    def tearDown(self):
        self.switch.process.terminate()
        self.assertEqual(self.switch.process.wait(60), 0, self.switch.said())

    def entries(self):
        return len(self.switch.ask("table.dump", table="admission.workers")["entries"])

    def test_jobs(self):
        self.assertEqual(self.switch.ctl("job", "list"), (0, "no job"))
        status, said = add(self.switch, "ads", self.one)
        self.assertEqual(status, 0, said)
        self.assertIn("ads: Libra job 3, epoch 7, layout ", said)
        self.assertIn("20 hot parameters, cells 0 to 8191 of each register", said)
        self.assertIn("server, number 2  10.0.0.9 at port 9, 0 pushes repeated", said)
        self.assertEqual(self.switch.ctl("job", "show", "ads"), (0, said))
        self.assertEqual(self.switch.ctl("job", "list"), (0, said))
        self.assertEqual(self.entries(), 3)
        status, said = add(self.switch, "more", self.two, "--cells", 100, workers="1:10.0.0.1",
                           servers="9:10.0.0.8/02:00:00:00:00:08")
        self.assertIn("cells 8192 to 8291 ", said)
        self.assertEqual(self.entries(), 5)
        self.assertEqual(self.switch.ctl("job", "remove", "ads"), (0, ""))
        self.assertEqual(self.entries(), 2)
        status, said = add(self.switch, "ads", self.one)
        self.assertIn("cells 0 to 8191 ", said)
        text = self.switch.ctl("job")[1]
        self.assertIn("job 3 of Libra: epoch 7, cells 0 to 8191 of each register\n", text)
        self.assertIn("job 4 of Libra: epoch 7, cells 8192 to 8291 of each register\n", text)
        self.assertIn("  worker  1  port   2  10.0.0.2         packets 0, added before 0  no packet yet\n", text)
        self.assertIn("  server, number  2  port   9  10.0.0.9         packets 0, added before 0  no packet yet", text)
        top = json.loads(self.switch.ctl("--json", "top", "--once")[1])
        self.assertEqual({(j["kind"], j["job"], j["workers"]) for j in top["jobs"]}, {("libra", "3", 3), ("libra", "4", 2)})
        listed = json.loads(self.switch.ctl("--json", "job", "list")[1])
        self.assertEqual({j["name"]: j["stats"]["copies"] for j in listed["jobs"]}, {"ads": 0, "more": 0})
        self.assertEqual(listed["waiting"], 0)

    def test_metrics(self):
        self.assertEqual(add(self.switch, "ads", self.one)[0], 0)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=60) as page:
            lines = page.read().decode().splitlines()
        for line in ('silken_libra_hot_parameters{job="ads"} 20', 'silken_libra_epoch{job="ads"} 7',
                     'silken_libra_rest_pairs_total{job="ads"} 0',
                     'silken_libra_repetitions_total{job="ads",member="2"} 0', "silken_libra_waiting 0",
                     "silken_libra_bad_frames_total 0"):
            self.assertIn(line, lines)

    def test_refused(self):
        self.assertEqual(add(self.switch, "ads", self.one)[0], 0)
        damaged = self.switch.path("damaged")
        with open(self.two) as f, open(damaged, "w") as out:
            out.write(f.read().replace("\n5\n", "\n6\n"))
        for sentence, name, path, more in (
                ("there is a job 'ads' already", "ads", self.two, {}),
                ("number 3 is that of job 'ads'", "b", self.one, {}),
                ("none of the folders", "b", "/etc/passwd", {}),
                ("damaged", "b", damaged, {}),
                ("a server needs its MAC address", "b", self.two, {"servers": "9:10.0.0.9"}),
                ("'9' is not a port, an address", "b", self.two, {"workers": "9"}),
                ("02:00:00:00:00:09", "b", self.two, {"workers": "1:10.0.0.1/02:00:00:00:00:09"}),  # is forwarded
        ):
            with self.subTest(sentence):
                status, said = add(self.switch, name, path, **more)
                self.assertNotEqual(status, 0)
                self.assertIn(sentence, said)
                self.assertEqual(said.count("\n"), 0, said)
                self.assertEqual(self.entries(), 3)
        status, said = add(self.switch, "b", self.two, "--cells", 16384)
        self.assertIn("there is no room for 16384 cells in each register: jobs have 8192 of 16384", said)
        self.assertIn("there is no job 'b'", self.switch.ctl("job", "remove", "b")[1])
        self.assertEqual(self.entries(), 3)

    def test_reload(self):
        self.switch.write(self.config(shares=4))
        reply = self.switch.reload()
        self.assertFalse(reply["ok"])
        self.assertIn("\"libra\"", reply["error"])


class Control(unittest.TestCase):
    """`silken libra control` with two switches."""

    def setUp(self):
        self.shared = tempfile.TemporaryDirectory(prefix="silken-control-")
        self.switches = []
        for _ in range(2):
            switch = Switch({"program": os.path.abspath("p4/libra/integer.p4"),
                             "ports": [{"port": p, "device": f"net_null{p}"} for p in (1, 2, 9)],
                             "requests": {"folders": [self.shared.name]},
                             "libra": {"mac": "02:00:00:00:00:fe", "address": "10.0.0.254"}})
            self.switches.append(switch)
            switch.start()
        self.one, self.two = self.switches
        self.layout = os.path.join(self.shared.name, "ads.layout")
        with open(layout(self.one, "ads.layout", 3)) as f, open(self.layout, "w") as out:
            out.write(f.read())

    def tearDown(self):
        for switch in self.switches:
            switch.process.send_signal(signal.SIGCONT)
            switch.process.terminate()
            switch.process.wait(60)
        self.shared.cleanup()

    def control(self, *options, lossless=False, **more):
        path = os.path.join(self.shared.name, "control.json")
        with open(path, "w") as f:
            json.dump({"switch": self.one.path("s.sock"), "standby": self.two.path("s.sock"), "heartbeat_ms": 20,
                       "checkpoint_ms": 40, "jobs": [{
                           "name": "ads", "layout": self.layout, "parameters": 20, "lossless": lossless,
                           "workers": ["1:10.0.0.1", "2:10.0.0.2"], "servers": ["9:10.0.0.9/02:00:00:00:00:09"]}],
                       **more}, f)
        return subprocess.Popen([SILKEN, "libra", "control", *options, path], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def cell(self, switch, value=None):
        if value is not None:
            self.assertEqual(switch.ctl("register", "write", "place03.cells", 1, value, "pipe", 0), (0, ""))
        return switch.ask("register.read", name="place03.cells", count=1, **{"from": 1})

    def moved(self, switch):
        jobs = switch.ask("job.list")["jobs"]
        self.assertEqual([(j["name"], j["epoch"], j["held"]) for j in jobs], [("ads", 8, False)])

    def begin(self, **more):
        """A controller that has copied a cell of 77."""
        process = self.control(**more)
        self.assertIn("ready: 1 jobs at", process.stdout.readline())
        held = self.cell(self.one, 77)
        time.sleep(1)  # some ten copies
        for _ in range(1000):  # it is held while it is copied
            if not self.one.ask("job.list")["jobs"][0]["held"]:
                break
            time.sleep(0.005)
        else:
            self.fail("the job stays held")
        return process, held

    def test_moves_at_once(self):
        self.assertEqual(self.control("--move").wait(60), 0)
        self.moved(self.two)
        self.assertEqual(self.one.ask("job.list")["jobs"], [])

    def test_dead_switch(self):
        process, held = self.begin()
        self.one.process.kill()
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("is dead: ", said)
        self.assertRegex(said, r"job ads: goes on at .*s\.sock from a copy, digest [0-9a-f]{16}, epoch 8: what was "
                               r"pushed in the last \d+ ms is lost")
        self.moved(self.two)
        self.assertEqual(self.cell(self.two), held)

    def test_lossless(self):
        process, _ = self.begin(lossless=True)
        self.one.process.kill()
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("job ads: ended, since it is lossless: its members are told", said)
        self.assertTrue(self.two.ask("job.list")["jobs"][0]["held"])

    def test_slow_switch(self):
        process, _ = self.begin(delay_ms=300, checkpoint_ms=0)
        self.cell(self.one, 78)
        self.one.process.send_signal(signal.SIGSTOP)
        time.sleep(0.6)
        self.one.process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        self.assertRegex(said, r"is about to fail: its answer took \d+ ms\njob ads: moved to ")
        self.moved(self.two)
        self.assertEqual(self.cell(self.two), self.cell(self.one))
        self.assertIn("0x4e", json.dumps(self.cell(self.two)))
        self.assertEqual(self.one.ask("job.list")["jobs"], [])

    def refused(self, sentence, **more):
        process = self.control(**more)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, said)
        self.assertIn(sentence, said)
        self.assertEqual(said.count("\n"), 1, said)

    def test_refuses(self):
        self.refused("\"jobs\" is missing", jobs=[])
        self.refused("misses", misses=0)
        self.refused("beats", beats=3)
        self.refused("lossless: it must be true or false", lossless=3)
        self.refused("/no/such", standby="/no/such")
        self.refused("/no/such", jobs=[{"name": "x", "layout": "/no/such", "parameters": 1, "workers": [],
                                            "servers": []}])
        self.assertEqual(self.two.ask("job.list")["jobs"], [])


class Start(unittest.TestCase):
    """What is wrong is told when the switch begins."""

    def refused(self, sentence, **more):
        switch = Switch({"program": os.path.abspath("p4/libra/integer.p4"), "ports": [], **more})
        with self.assertRaises(AssertionError) as told:
            switch.start()
        self.assertIn(sentence, str(told.exception))

    def test_sections(self):
        libra = {"mac": "02:00:00:00:00:fe", "address": "10.0.0.254"}
        self.refused("it must be an object", libra=3)
        self.refused("libra.mac: it is missing", libra={})
        self.refused("is not the MAC address of a station", libra={**libra, "mac": "x"})
        self.refused("libra.jobs[0]", libra={**libra, "jobs": [{"name": "x"}]})
        self.refused("is not the program of \"libra\"", libra=libra, program=os.path.abspath("p4/l2/l2.p4"))
        self.refused("exclude each other", libra=libra, tor={})


if __name__ == "__main__":
    tally.main()
