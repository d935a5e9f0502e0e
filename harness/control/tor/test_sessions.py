#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that begin again, in any order: workers of a SwitchML and an ATP job in a rack (p4/rack) are started, killed,
stopped and started again, so are ATP's server and the switch, which keeps what it remembers of jobs or loses it. No
worker ever gets a wrong sum: each start has values of its own, and every worker checks every element. Whoever is
disturbed ends with a sentence that says what to do; and when all are started and left alone, all sums are right.

SCHEDULES (4) of them at random, SEED; `make sessions-live SCHEDULES=100` for the whole campaign."""
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402
from test_kill import Process  # noqa: E402

SCHEDULES = int(os.environ.get("SCHEDULES", "4"))
SEED = int(os.environ.get("SEED", "0")) or random.randrange(1, 1 << 30)
ROUTER_MAC, ROUTER = "02:00:00:00:ff:01", "10.0.10.1"
NAMES = ["s0", "s1", "s2", "a0", "a1", "ps"]
LIMIT = 8  # seconds without progress until a worker gives up
PATIENCE = 120
# How a worker may end that was disturbed.
SAID = re.compile("session is over|cannot join|no progress within the hard limit|not started for")


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


def mac(name):
    return "02:00:00:00:10:%02x" % NAMES.index(name)


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Sessions(unittest.TestCase):
    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def add_jobs(self):
        self.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers",
                 ",".join(f"{n}:{ip(n)}" for n in ("s0", "s1", "s2")), "--slots", "64", "--number", "1")
        admitted = json.loads(self.ctl("--json", "job", "add", "bert", "--protocol", "atp", "--workers",
                                       ",".join(f"{n}:{ip(n)}" for n in ("a0", "a1")), "--server", f"ps:{ip('ps')}",
                                       "--aggregators", "512"))
        parts = list(map(int, admitted["group"].split(".")))
        self.job_file = os.path.join(self.lab.folder.name, "job.json")
        with open(self.job_file, "w", encoding="ascii") as f:
            json.dump({"job": admitted["number"], "type": "f32", "first_index": admitted["first_aggregator"], "indices": 512,
                       "window_max": 128, "window": 64,
                       "workers": [{"rack": 0, "lanes": [{"mac": mac(n), "ip": ip(n)}]} for n in ("a0", "a1")],
                       "servers": [{"rack": 0, "lanes": [{"mac": mac("ps"), "ip": ip("ps")}]}],
                       "groups": [{"mac": "01:00:5e:%02x:%02x:%02x" % (parts[1] & 127, parts[2], parts[3]),
                                   "ip": admitted["group"]}],
                       "switches": [{"rack": 0, "mac": ROUTER_MAC, "ip": ROUTER}]}, f)

    # ---- processes ----

    def start(self, name, rounds):
        rank, device = name[1:], ("--device", "afpacket:eth0")
        if name == "ps":
            words = ["server", "--job-file", self.job_file, *device]
        else:
            timers = ("--rto-min", "20000", "--rto-max", "200000", "--limit", str(LIMIT * 1000), "--seed", str(self.values),
                      "--rounds", str(rounds), "--elements", "12000", "--rank", rank)
            words = ["worker", *device, *timers]
            if name[0] == "s":
                words += ["--workers", "3", "--mac", mac(name), "--ip", ip(name), "--switch-mac", ROUTER_MAC, "--switch-ip",
                          ROUTER, "--job", "1", "--pool", "64", "--packet", "64"]
            else:
                words += ["--protocol", "atp", "--job-file", self.job_file]
        p = Process(self, self.lab[name], *words)
        p.name, p.values, p.killed = name, self.values, False
        self.all.append(p)
        return p

    def alive(self, name=None):
        return [p for p in self.all if p.process.poll() is None and not p.killed and name in (None, p.name)]

    def end(self, p):
        p.killed = True
        p.process.send_signal(signal.SIGCONT)
        p.kill()

    def check(self):
        """Nobody ever had a wrong sum; whoever ended badly by itself has said why."""
        for p in self.all:
            said = "".join(p.said)
            self.assertIsNone(re.search(r"element \d+ is", said), f"{p.name}, values {p.values}: {said}")
            if p.process.poll() not in (None, 0) and not p.killed and p.name != "ps":
                p.reader.join(10)
                self.assertRegex("".join(p.said), SAID, p.name)
        self.all = [p for p in self.all if p.process.poll() is None or not p.killed]

    # ---- what happens ----

    def restart_switch(self):
        self.lab.switch.send_signal(signal.SIGKILL)
        self.lab.switch.communicate(timeout=60)
        if self.chance.random() < 0.5:
            os.unlink(os.path.join(self.lab.folder.name, "state", "jobs.json"))
        self.lab.start()
        if not json.loads(self.ctl("--json", "job", "list"))["jobs"]:
            self.add_jobs()
        self.happened.append("switch")

    def disturb(self):
        workers = [p for p in self.alive() if p.name != "ps"]
        what = self.chance.choice(["kill", "kill", "stop", "continue", "switch", "server", "again", "nothing"])
        if what == "switch":
            self.restart_switch()
        elif what == "server":
            for p in self.alive("ps"):
                self.end(p)
            self.start("ps", 0)
        elif what == "again":
            name = self.chance.choice(NAMES[:-1])
            if not self.waits(name):
                self.start(name, 1000)
        elif workers and what != "nothing":
            p = self.chance.choice(workers)
            if what == "kill":
                self.end(p)
            else:
                p.process.send_signal(signal.SIGSTOP if what == "stop" else signal.SIGCONT)
        self.happened.append(what)

    def waits(self, name):
        return any(p.rounds == 0 for p in self.alive(name))

    def epoch(self):
        """Others' values: who has not begun yet would take part with those of before, so it ends here."""
        for p in self.alive():
            if p.name != "ps" and p.rounds == 0:
                self.end(p)
        self.values += 1
        for name in self.chance.sample(NAMES, len(NAMES)):
            if name != "ps" or not self.alive("ps"):
                self.start(name, self.chance.choice([1, 3, 1000]))
            time.sleep(self.chance.random() * 0.2)
        for _ in range(self.chance.randrange(1, 5)):
            time.sleep(self.chance.random())
            self.disturb()

    def all_well(self):
        """All are started, whoever has to be again, until all have right sums of the same values."""
        for p in self.alive():
            if p.name != "ps" and p.rounds == 0:
                self.end(p)
            elif self.chance.random() < 0.5:
                p.process.send_signal(signal.SIGCONT)
        self.values += 1
        if not self.alive("ps"):
            self.start("ps", 0)
        for p in self.alive("ps"):
            p.process.send_signal(signal.SIGCONT)
        done, end = set(), time.monotonic() + PATIENCE
        latest = {}
        while len(done) < len(NAMES) - 1:
            self.assertLess(time.monotonic(), end, "the jobs do not go on: " + "".join(
                f"\n{p.name} values {p.values} rounds {p.rounds}:\n{''.join(p.said[-6:])}" for p in self.all) + str(self.happened))
            for job in ("s0", "s1", "s2"), ("a0", "a1"):
                if all(n in latest and latest[n].process.poll() == 0 for n in job):
                    done |= set(job)
                    continue
                # one that failed is begun again; then so are the others of its job, which are told to
                if any(n not in latest or latest[n].process.poll() not in (None, 0) for n in job):
                    self.values += 1
                    for n in job:
                        if n in latest and latest[n].process.poll() is None:
                            self.end(latest[n])
                        latest[n] = self.start(n, 3)
            time.sleep(0.1)
            self.check()

    def test_any_order(self):
        print(f"SEED={SEED}", flush=True)
        hosts = {n: Host(i) for i, n in enumerate(NAMES)}
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}],
                   "links": [{"name": n, "port": i, "access": 10} for i, n in enumerate(NAMES)],
                   "neighbours": [{"vid": 10, "address": ip(n), "mac": mac(n)} for n in NAMES],
                   "state": "state/jobs.json"}
        with Lab(hosts, {"program": os.path.abspath("p4/rack/rack.p4"), "pipes": 3, "control_socket": "tor.sock",
                         "tor": section}) as self.lab:
            self.values, self.all = 0, []
            self.add_jobs()
            for schedule in range(SCHEDULES):
                self.chance, self.happened = random.Random(SEED + schedule), []
                began = time.monotonic()
                for _ in range(self.chance.randrange(1, 4)):
                    self.epoch()
                    self.check()
                self.all_well()
                for p in self.alive():
                    self.end(p)
                self.check()
                print(f"seed {SEED + schedule}: {', '.join(self.happened)}: all well after "
                      f"{time.monotonic() - began:.1f} s", flush=True)
            self.assertEqual(self.lab.stop(), 0, self.lab.said)


if __name__ == "__main__":
    tally.main()
