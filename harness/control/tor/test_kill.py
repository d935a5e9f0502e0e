#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A ToR (p4/rack) that is killed with SIGKILL, again and again, while a SwitchML job, an ATP job and TCP are in the middle,
and started again with the same configuration: both jobs end with right sums, which the workers check element by element.
Both were added at run time. Workers' links lose packets, too, so that at any
moment some of them have what others miss.

KILLS (3) of them, at random moments (SEED). It has to fail WITHOUT=state (the switch remembers nothing) and
WITHOUT=resume (the SwitchML job's slots begin empty at once); PATIENCE=20 makes that quick."""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

KILLS = int(os.environ.get("KILLS", "3"))
SEED = int(os.environ.get("SEED", "0")) or random.randrange(1, 1 << 30)
WITHOUT = os.environ.get("WITHOUT", "")
ROUNDS = {"s": 16, "a": 100}  # of the two jobs at first; what is through too early has twice as many in the next run
ROUTER_MAC, ROUTER = "02:00:00:00:ff:01", "10.0.10.1"
# name: port. s...: SwitchML; a..., ps: ATP; t...: TCP
NAMES = ["s0", "s1", "s2", "a0", "a1", "a2", "ps", "t0", "t1"]
PATIENCE = int(os.environ.get("PATIENCE", "300"))  # seconds, of a machine that does much else


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


def mac(name):
    return "02:00:00:00:10:%02x" % NAMES.index(name)


class Process:
    """What a host runs; how many rounds it has said that it has done."""

    def __init__(self, test, host, *words):
        self.rounds, self.most, self.said, self.ready = 0, 0, [], threading.Event()
        self.process = subprocess.Popen(["ip", "netns", "exec", host.namespace, SILKEN, *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        test.addCleanup(self.kill)

    def read(self):
        for line in self.process.stdout:
            self.rounds += line.startswith("round ")
            self.said.append(line)
            if line.strip() == "ready":
                self.ready.set()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stdout.close()

    def end(self, seconds):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.said.append(f"it did not end within {seconds} s\n")
        self.reader.join(10)
        return self.process.returncode


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Kill(unittest.TestCase):
    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def job_file(self, admitted):
        parts = list(map(int, admitted["group"].split(".")))
        path = os.path.join(self.lab.folder.name, "job.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump({"job": admitted["number"], "type": "f32", "first_index": admitted["first_aggregator"], "indices": 512,
                       "window_max": 128, "window": 64,
                       "workers": [{"rack": 0, "lanes": [{"mac": mac(n), "ip": ip(n)}]} for n in ("a0", "a1", "a2")],
                       "servers": [{"rack": 0, "lanes": [{"mac": mac("ps"), "ip": ip("ps")}]}],
                       "groups": [{"mac": "01:00:5e:%02x:%02x:%02x" % (parts[1] & 127, parts[2], parts[3]),
                                   "ip": admitted["group"]}],
                       "switches": [{"rack": 0, "mac": ROUTER_MAC, "ip": ROUTER}]}, f)
        return path

    def start_jobs(self):
        lossy = "faulty:drop=0.01,duplicate=0.01:afpacket:eth0"
        timers = ("--rto-min", "20000", "--rto-max", "200000", "--limit", str(PATIENCE * 1000))
        self.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers",
                 ",".join(f"{n}:{ip(n)}" for n in ("s0", "s1", "s2")), "--slots", "64", "--number", "1", "--resume", "no" if WITHOUT == "resume" else "yes")
        # another job is where this one would be, and goes: the aggregators are not the first free ones after a restart
        self.ctl("job", "add", "before", "--protocol", "atp", "--workers", f"t0:{ip('t0')}", "--server", f"t1:{ip('t1')}",
                 "--aggregators", "300")
        admitted = json.loads(self.ctl("--json", "job", "add", "bert", "--protocol", "atp", "--workers",
                                       ",".join(f"{n}:{ip(n)}" for n in ("a0", "a1", "a2")), "--server", f"ps:{ip('ps')}",
                                       "--aggregators", "512"))
        self.ctl("job", "remove", "before")
        self.assertEqual(admitted["first_aggregator"], 300)
        path = self.job_file(admitted)
        self.server = Process(self, self.lab["ps"], "server", "--job-file", path, "--number", "0", "--device", "afpacket:eth0")
        self.assertTrue(self.server.ready.wait(PATIENCE), self.server.said)
        self.workers = {f"s{r}": Process(
            self, self.lab[f"s{r}"], "worker", "--rank", str(r), "--workers", "3", "--device", lossy, "--mac", mac(f"s{r}"),
            "--ip", ip(f"s{r}"), "--switch-mac", ROUTER_MAC, "--switch-ip", ROUTER, "--job", "1", "--pool", "64",
            "--packet", "64", "--elements", "10000", "--rounds", str(self.rounds["s"]), *timers) for r in range(3)}
        self.workers.update({f"a{r}": Process(
            self, self.lab[f"a{r}"], "worker", "--protocol", "atp", "--job-file", path, "--rank", str(r), "--device", lossy,
            "--elements", "15000", "--rounds", str(self.rounds["a"]), *timers) for r in range(3)})
        for name, p in self.workers.items():
            p.most = self.rounds[name[0]]

    def over(self):
        """One is about to be through: who ends after its last sum cannot help others any more."""
        return bool(self.through())

    def through(self):
        return {n[0] for n, p in self.workers.items() if p.process.poll() is not None or p.rounds > p.most - 4}

    def wait_for_a_round(self):
        before, end = {n: p.rounds for n, p in self.workers.items()}, time.monotonic() + PATIENCE
        while any(p.rounds == before[n] for n, p in self.workers.items()) and not self.over():
            self.assertLess(time.monotonic(), end, "no progress: " + self.all_said())
            time.sleep(0.01)

    def all_said(self):
        return "".join(f"\n{n}: {p.rounds} rounds\n{''.join(p.said[-12:])}" for n, p in self.workers.items())

    def kill(self):
        """False: the jobs were through too early."""
        self.wait_for_a_round()
        time.sleep(self.chance.random() * 0.3)
        self.lab.switch.send_signal(signal.SIGSTOP)  # nobody goes on from here
        time.sleep(0.1)
        if self.over():
            self.rounds.update({kind: 2 * self.rounds[kind] for kind in self.through()})
            self.lab.switch.send_signal(signal.SIGCONT)
            return False
        self.lab.switch.send_signal(signal.SIGKILL)
        self.lab.switch.communicate(timeout=60)
        time.sleep(self.chance.random())
        began = time.monotonic()
        self.lab.start()
        print("killed at rounds", *(f"{n} {p.rounds}" for n, p in self.workers.items()),
              f"- started again in {time.monotonic() - began:.1f} s", flush=True)
        return True

    def end_jobs(self):
        for name, p in self.workers.items():
            self.assertEqual(p.end(PATIENCE), 0, f"{name}: {''.join(p.said[-12:])}")
            self.assertEqual(p.rounds, p.most)
        self.server.process.send_signal(signal.SIGINT)
        self.server.end(60)

    def tcp(self):
        server = subprocess.Popen(["ip", "netns", "exec", self.lab["t1"].namespace, "iperf3", "-s", "-1"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        time.sleep(0.5)
        client = subprocess.Popen(["ip", "netns", "exec", self.lab["t0"].namespace, "iperf3", "-c", ip("t1"), "-t", "600"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)

    def test_kill(self):
        print(f"SEED={SEED}", flush=True)
        self.chance, self.rounds = random.Random(SEED), dict(ROUNDS)
        hosts = {n: Host(i, [f"{ip(n)}/24"] if n[0] == "t" else []) for i, n in enumerate(NAMES)}
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}],
                   "links": [{"name": n, "port": i, "access": 10} for i, n in enumerate(NAMES)],
                   "neighbours": [{"vid": 10, "address": ip(n), "mac": mac(n)} for n in NAMES if n[0] != "t"]}
        if WITHOUT != "state":
            section["state"] = "state/jobs.json"
        with Lab(hosts, {"program": os.path.abspath("p4/rack/rack.p4"), "pipes": 3, "control_socket": "tor.sock",
                         "tor": section}) as self.lab:
            self.tcp()
            self.start_jobs()
            kills = 0
            for _ in range(20):
                while kills < KILLS and self.kill():
                    kills += 1
                self.end_jobs()
                if kills == KILLS:
                    break
                for name in ("bert", "resnet"):  # a run begins with slots and aggregators that are empty
                    self.ctl("job", "remove", name)
                self.start_jobs()
            self.assertEqual(kills, KILLS)
            jobs = json.loads(self.ctl("--json", "job", "list"))["jobs"]
            self.assertEqual({j["name"]: j.get("first_aggregator", 0) for j in jobs}, {"resnet": 0, "bert": 300})
            self.assertEqual(self.lab.stop(), 0, self.lab.said)


if __name__ == "__main__":
    tally.main()
