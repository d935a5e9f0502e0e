#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of all four protocols at once on one switch (p4/rack/with_libra.p4): SwitchML in pipe 2, ATP in pipe 1, Libra in pipe
3, and DLCP, whose part of a switch is the ToR's own (classes, colours, queues). Hosts verify every sum; every packet is
accounted for; and no job is slower beside the others than its share of what it does alone. Jobs have slots, aggregators and
cells of their own, and with them at last is a worker of a fifth job who sends as fast as it can: it gets the rate that its
job was given, and what is more is dropped before it costs a pass of SwitchML's pipe.

All together run for SECONDS_TO_RUN (12; `make soak-mixed`: 600); before that each runs alone for a tenth of it. With SHARE
(`make soak-mixed`: 0.2) each must do at least so much of its rounds a second alone; `make test` prints it and does not check
it. Hosts and pipes share the machine's processors, so a fifth is what five jobs have of them."""
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402
from test_levels import frame  # noqa: E402

SECONDS = float(os.environ.get("SECONDS_TO_RUN", "12"))
SHARE = os.environ.get("SHARE")
SUMS = os.path.join(os.environ.get("BUILD", "build"), "tools", "sums")
ROUTER_MAC, ROUTER = "02:00:00:00:ff:01", "10.0.10.1"
# g: the greedy worker, of SwitchML; s0, s1: SwitchML; a0, a1, ps: ATP; l0, l1, lp: Libra, of which lp is the server; d0, d1: DLCP
NAMES = ["s0", "s1", "a0", "a1", "ps", "l0", "l1", "lp", "d0", "d1", "g"]
LIBRA_JOB, EPOCH, HOT = 3, 7, 240000   # as in harness/tools/sums.c
GENERATIONS = 4                                            # of a run of Libra's workers
TO_SWITCHML = 325
DLCP_CLASSES, DLCP_SIGNALS = 8, 46
GREEDY_JOB, GREEDY_MBPS, OVER_RATE = 2, 2, 15
TIMERS = ("--rto-min", "20000", "--rto-max", "200000")


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


def mac(name):
    return "02:00:00:00:10:%02x" % NAMES.index(name)


def at(name):
    return f"{mac(name)}/{ip(name)}"


class Job:
    """One that runs again and again: how many rounds its first host has done, and what anybody has said of a failure."""

    def __init__(self, test):
        self.test, self.rounds, self.runs, self.failed = test, 0, 0, ""

    def process(self, name, *words, program=SILKEN):
        return subprocess.Popen(["ip", "netns", "exec", self.test.lab[name].namespace, program, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def count(self, process, first):
        said = []
        for line in process.stdout:
            if first and line.startswith("round "):
                self.rounds += 1
            said.append(line)
        process.stdout.close()
        if process.wait() != 0:
            self.failed += f"status {process.returncode}: {''.join(said[-8:])}"

    def run_once(self):
        hosts = self.begin()
        readers = [threading.Thread(target=self.count, args=(p, i == 0)) for i, p in enumerate(hosts)]
        for r in readers:
            r.start()
        for r in readers:
            r.join()
        self.end()
        self.runs += 1

    def run(self, until):
        while time.monotonic() < until and not self.failed:
            self.run_once()

    def end(self):
        pass


class Switchml(Job):
    name = "SwitchML"

    def begin(self):
        self.test.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers", f"s0:{ip('s0')},s1:{ip('s1')}",
                      "--slots", "64", "--number", "1")
        return [self.process(f"s{r}", "worker", "--rank", str(r), "--workers", "2", "--device", "afpacket:eth0", "--mac",
                             mac(f"s{r}"), "--ip", ip(f"s{r}"), "--switch-mac", ROUTER_MAC, "--switch-ip", ROUTER, "--job",
                             "1", "--pool", "64", "--packet", "64", "--elements", "40000", "--rounds", "20", *TIMERS)
                for r in (0, 1)]

    def end(self):
        self.test.ctl("job", "remove", "resnet")


class Atp(Job):
    name = "ATP"

    def begin(self):
        admitted = json.loads(self.test.ctl("--json", "job", "add", "bert", "--protocol", "atp", "--workers",
                                            f"a0:{ip('a0')},a1:{ip('a1')}", "--server", f"ps:{ip('ps')}", "--aggregators",
                                            "2048"))
        path, group = os.path.join(self.test.lab.folder.name, "job.json"), admitted["group"]
        parts = list(map(int, group.split(".")))
        with open(path, "w", encoding="ascii") as f:
            json.dump({"job": admitted["number"], "type": "f32", "first_index": admitted["first_aggregator"],
                       "indices": 2048, "window_max": 256, "window": 128,
                       "workers": [{"rack": 0, "lanes": [{"mac": mac(n), "ip": ip(n)}]} for n in ("a0", "a1")],
                       "servers": [{"rack": 0, "lanes": [{"mac": mac("ps"), "ip": ip("ps")}]}],
                       "groups": [{"mac": "01:00:5e:%02x:%02x:%02x" % (parts[1] & 127, parts[2], parts[3]), "ip": group}],
                       "switches": [{"rack": 0, "mac": ROUTER_MAC, "ip": ROUTER}]}, f)
        self.server = self.process("ps", "server", "--job-file", path, "--number", "0", "--device", "afpacket:eth0")
        for line in self.server.stdout:
            if line.strip() == "ready":
                break
        return [self.process(f"a{r}", "worker", "--protocol", "atp", "--job-file", path, "--rank", str(r), "--device",
                             "afpacket:eth0", "--elements", "40000", "--rounds", "20", *TIMERS) for r in (0, 1)]

    def end(self):
        self.server.send_signal(signal.SIGINT)
        self.server.communicate(timeout=20)
        self.test.ctl("job", "remove", "bert")


class Libra(Job):
    """Each run has the same keys: its cells come empty."""
    name = "Libra"

    def begin(self):
        self.test.ctl("job", "add", "ads", "--protocol", "libra", "--layout", self.test.layout, "--cells", "16384", "--workers",
                      f"l0:{ip('l0')},l1:{ip('l1')}")
        hosts = [at("lp"), f"{ROUTER_MAC}/{ROUTER}", at("l0"), at("l1")]
        words = ["afpacket:eth0", self.test.layout, *hosts]
        server = self.process("lp", "libra-server", *words, program=SUMS)
        assert server.stdout.readline() == "ready\n", server.communicate(timeout=20)[0]
        return [self.process(f"l{r}", "libra", str(r), "0", str(GENERATIONS), *words, program=SUMS)
                for r in (0, 1)] + [server]

    def end(self):
        self.test.ctl("job", "remove", "ads")


class Dlcp(Job):
    name = "DLCP"

    def begin(self):
        return [self.process(f"d{r}", "dlcp", str(r), "20", str(self.runs % 200 + 1), "afpacket:eth0", at("d0"), at("d1"),
                             program=SUMS) for r in (0, 1)]


class Greedy:
    """A job's only worker, that sends without waiting for anything. The kernel's veth takes as much as the processor gives."""
    SENDS = """if True:
        import signal, socket, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        s.bind(("eth0", 0))
        frame, sent = bytes.fromhex(sys.argv[1]), 0
        print("ready", flush=True)
        try:
            while True:
                s.send(frame)
                sent += 1
        except KeyboardInterrupt:
            print(sent)"""

    def __init__(self, test):
        self.test = test
        test.ctl("job", "add", "greedy", "--protocol", "switchml", "--workers", f"g:{ip('g')}", "--slots", "16", "--number",
                 str(GREEDY_JOB), "--sessions", "no", "--rate", str(GREEDY_MBPS))
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", test.lab["g"].namespace, sys.executable, "-c", self.SENDS,
             frame(mac("g"), ROUTER_MAC, ip("g"), ROUTER, 1, job=GREEDY_JOB)], stdout=subprocess.PIPE, text=True)
        test.addCleanup(self.process.kill)
        test.assertEqual(self.process.stdout.readline(), "ready\n")

    def end(self):
        """How many frames it sent, how many came to SwitchML's pipe, and for how long."""
        self.process.send_signal(signal.SIGINT)
        sent = int(self.process.communicate(timeout=20)[0])
        seconds = time.monotonic() - self.began
        counts = json.loads(self.test.ctl("--json", "table", "data", "admission.workers", f"job_number={GREEDY_JOB}",
                                          f"src_addr={ip('g')}", f"ingress_port={TO_SWITCHML}"))
        self.test.ctl("job", "remove", "greedy")
        return sent, int(counts["data"]["$COUNTER_SPEC_PKTS"]), seconds


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Mixed(unittest.TestCase):
    def setUp(self):
        hosts = {n: Host(i) for i, n in enumerate(NAMES)}
        queues = [{"dscp": DLCP_SIGNALS, "queue": DLCP_CLASSES}]
        for c in range(DLCP_CLASSES):
            queues += [{"dscp": 4 * c + 3, "queue": DLCP_CLASSES - 1 - c, "colour": "green", "ecn": "capable"},
                       {"dscp": 4 * c + 3, "queue": DLCP_CLASSES - 1 - c, "colour": "yellow", "ecn": "none"}]
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}],
                   "links": [{"name": n, "port": i, "access": 10} for i, n in enumerate(NAMES)],
                   "macs": [{"vid": 10, "mac": mac(n), "link": n} for n in NAMES],
                   "neighbours": [{"vid": 10, "address": ip(n), "mac": mac(n)} for n in NAMES], "queues": queues}
        self.lab = Lab(hosts, {"program": os.path.abspath("p4/rack/with_libra.p4"), "pipes": 4, "control_socket": "tor.sock",
                               "tor": section, "requests": {"folders": ["@folder"]}})
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__)
        self.layout = os.path.join(self.lab.folder.name, "layout")
        subprocess.run([SILKEN, "libra", "profile", "--job", str(LIBRA_JOB), "--epoch", str(EPOCH), "--portion", "1",
                        "--output", self.layout], input="\n".join(map(str, range(HOT))), text=True, check=True,
                       stdout=subprocess.DEVNULL)

    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def named_drops(self):
        """By counter and reason, of all pipes."""
        return {(name, int(reason)): int(n)
                for name in ("pipe.Ingress.drops", "switchml.Switchml.ingress.drops", "atp.Atp.ingress.drops",
                             "atp.Atp.refused", "libra.Libra.ingress.drops", "libra.Libra.refused",
                             "libra.LibraEgress.egress.drops")
                for reason, n in re.findall(r"^ *(\d+) +packets +(\d+)", self.ctl("counter", "read", name), re.M)}

    def rates(self, jobs, seconds):
        """Rounds a second of these jobs, which run at the same time; each as long as its own runs took."""
        rates = {}

        def one(job):
            began, before = time.monotonic(), job.rounds
            job.run(began + seconds)
            rates[job.name] = (job.rounds - before) / (time.monotonic() - began)
        threads = [threading.Thread(target=one, args=(j,)) for j in jobs]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for job in jobs:
            self.assertEqual(job.failed, "", f"{job.name}\n{self.ctl('counter', 'read', 'pipe.Ingress.drops')}")
            self.assertGreater(rates[job.name], 0, job.name)
        return rates

    def test_jobs_of_all_protocols(self):
        jobs = [Switchml(self), Atp(self), Libra(self), Dlcp(self)]
        alone = {}
        for job in jobs:
            alone.update(self.rates([job], SECONDS / 10))
        greedy = Greedy(self)
        beside = self.rates(jobs, SECONDS)
        sent, passed, seconds = greedy.end()
        share = GREEDY_MBPS * 1e6 / 8 * seconds / 312   # frames of 308 bytes and the FCS
        print(f"greedy: {sent} frames sent, {passed} passed, {share:.0f} its share of {seconds:.1f} s", flush=True)
        self.assertGreater(sent, 2 * passed)
        self.assertLess(passed, 1.1 * share + 100)
        self.assertGreater(passed, 0.5 * share)
        named = self.named_drops()
        self.assertGreater(named["pipe.Ingress.drops", OVER_RATE], passed)
        print("drops:", ", ".join(f"{name} {reason}: {n}" for (name, reason), n in named.items()), flush=True)
        self.assertEqual(self.lab.stop(), 0, self.lab.said)
        accounts = re.search(r"received (\d+) \+ copies (\d+) = sent (\d+) \+ dropped (\d+)", self.lab.said)
        print(self.lab.said, flush=True)
        for job in jobs:
            print(f"{job.name}: {job.runs} runs, {job.rounds} rounds, all verified; {alone[job.name]:.2f} rounds a second "
                  f"alone, {beside[job.name]:.2f} beside the others ({beside[job.name] / alone[job.name]:.2f})", flush=True)
        received, copies, sent, dropped = map(int, accounts.groups())
        self.assertEqual(received + copies, sent + dropped)
        # what a program has dropped, it has given a reason; all else is a part of a sum, whose packet ends in the switch
        reasons = {r.strip(): int(n) for r, n in re.findall(r"^  (\S.*?) +(\d+)$", self.lab.said, re.M)}
        self.assertEqual(reasons.pop("drop_ctl in ingress"), sum(named.values()))
        self.assertEqual(set(reasons), {"consumed in ingress"})
        self.assertEqual(sum(reasons.values()) + sum(named.values()), dropped)
        if SHARE:
            for job in jobs:
                self.assertGreaterEqual(beside[job.name] / alone[job.name], float(SHARE), job.name)


if __name__ == "__main__":
    tally.main()
