#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A recorded rack replays to the same output, its control plane included: containers whose addresses are learned and
resolved, pings, TCP within a VLAN and between two, datagrams that an access list lets pass, a SwitchML and an ATP job
that come and go, a link that goes down, a reload, and a switch that is started again with the jobs that it remembers.
After a change of one rule of the list the replay differs in that rule's packets and no others.
`make recorded-racks` (RUNS of them) does it again and again."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

RUNS = int(os.environ.get("RUNS", "1"))
ROUTER_MAC, ROUTER, FAR = "02:00:00:00:ff:01", "10.0.10.1", "10.0.20.1"
# name: port. s0, s1: SwitchML; a0, a1, ps: ATP; t0, t1: TCP; r0: in another VLAN
NAMES = ["s0", "s1", "a0", "a1", "ps", "t0", "t1", "r0"]
PERMITTED, DATAGRAMS = 5000, 40
SEND = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range({DATAGRAMS}):
    for port in ({PERMITTED}, 6000):
        s.sendto(n.to_bytes(4, "big"), ("10.0.10.8", port))
    time.sleep(0.003)
"""


def mac(name):
    return "02:00:00:00:10:%02x" % NAMES.index(name)


def ip(name):
    return f"10.0.{20 if name == 'r0' else 10}.{NAMES.index(name) + 2}"


def in_host(host, *words):
    return ["ip", "netns", "exec", host.namespace, *words]


def section():
    rules = [{"action": "permit", "family": "ipv4", "protocol": "udp", "to_port": f"{PERMITTED}"}]
    return {"mac": ROUTER_MAC, "state": "@folder/jobs.json", "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]},
                                         {"vid": 20, "addresses": [FAR + "/24"]}],
            "links": [{"name": n, "port": i, "access": 20 if n == "r0" else 10, **({"acl": "ports"} if n == "t0" else {})}
                      for i, n in enumerate(NAMES)],
            "acls": [{"name": "ports", "rules": rules + [{"action": "permit", "family": "ipv4"}]}]}


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Recorded(unittest.TestCase):
    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.folder, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def host(self, name, *words, seconds=60):
        done = subprocess.run(in_host(self.lab[name], *words), capture_output=True, text=True, timeout=seconds, check=False)
        self.assertEqual(done.returncode, 0, f"{name}: {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, name, *words):
        return subprocess.Popen(in_host(self.lab[name], SILKEN, *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def ended(self, *processes):
        for p in processes:
            said = p.communicate(timeout=120)[0]
            self.assertEqual(p.returncode, 0, said)

    def tcp(self, client, server, bytes_):
        listener = subprocess.Popen(in_host(self.lab[server], "iperf3", "-s", "-1"), stdout=subprocess.DEVNULL)
        self.host("t0", "sleep", "0.5")
        self.host(client, "iperf3", "-c", ip(server), "-n", str(bytes_))
        listener.wait(20)

    def add_switchml(self):
        self.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers", f"s0:{ip('s0')},s1:{ip('s1')}",
                 "--slots", "64", "--number", "1")

    def switchml(self):
        self.ended(*[self.start(f"s{r}", "worker", "--rank", str(r), "--workers", "2", "--device", "afpacket:eth0",
                                "--mac", mac(f"s{r}"), "--ip", ip(f"s{r}"), "--switch-mac", ROUTER_MAC, "--switch-ip",
                                ROUTER, "--job", "1", "--pool", "16", "--packet", "64", "--elements", "10000",
                                "--rounds", "2") for r in (0, 1)])
        self.ctl("job", "remove", "resnet")

    def atp(self):
        admitted = json.loads(self.ctl("--json", "job", "add", "bert", "--protocol", "atp", "--workers",
                                       f"a0:{ip('a0')},a1:{ip('a1')}", "--server", f"ps:{ip('ps')}",
                                       "--aggregators", "512"))
        path = os.path.join(self.folder, "job.json")
        group = admitted["group"]
        parts = list(map(int, group.split(".")))
        with open(path, "w", encoding="ascii") as f:
            json.dump({"job": admitted["number"], "type": "f32", "first_index": admitted["first_aggregator"],
                       "indices": 512, "window_max": 64, "window": 32,
                       "workers": [{"rack": 0, "lanes": [{"mac": mac(n), "ip": ip(n)}]} for n in ("a0", "a1")],
                       "servers": [{"rack": 0, "lanes": [{"mac": mac("ps"), "ip": ip("ps")}]}],
                       "groups": [{"mac": "01:00:5e:%02x:%02x:%02x" % (parts[1] & 127, parts[2], parts[3]), "ip": group}],
                       "switches": [{"rack": 0, "mac": ROUTER_MAC, "ip": ROUTER}]}, f)
        server = self.start("ps", "server", "--job-file", path, "--number", "0", "--device", "afpacket:eth0")
        for line in server.stdout:
            if line.strip() == "ready":
                break
        self.ended(*[self.start(f"a{r}", "worker", "--protocol", "atp", "--job-file", path, "--rank", str(r),
                                "--device", "afpacket:eth0", "--elements", "8000", "--rounds", "1") for r in (0, 1)])
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=20)
        self.ctl("job", "remove", "bert")

    def record(self):
        """A rack, some minutes of its life in seconds, into self.folder."""
        hosts = {n: Host(i, [f"{ip(n)}/24"], routes=[("default", FAR if n == "r0" else ROUTER)]) for i, n in enumerate(NAMES)}
        self.lab = Lab(hosts, {"program": os.path.abspath("p4/rack/rack.p4"), "pipes": 3, "control_socket": "tor.sock",
                               "record": {"file": os.path.join(self.folder, "run.pcapng")}, "tor": section()})
        with self.lab:
            os.symlink(os.path.join(self.lab.folder.name, "tor.sock"), os.path.join(self.folder, "tor.sock"))
            for a, b in (("t0", ip("t1")), ("t1", ROUTER), ("t0", ip("r0")), ("r0", FAR)):
                self.host(a, "ping", "-c", "2", "-i", "0.2", "-W", "2", b)
            for n in NAMES:  # so that their addresses are known to the switch
                self.host(n, "ping", "-c", "1", "-W", "2", FAR if n == "r0" else ROUTER)
            self.tcp("t0", "t1", 300000)
            self.add_switchml()
            self.switchml()
            self.tcp("t0", "r0", 200000)
            self.host("t0", sys.executable, "-c", SEND)
            self.atp()
            self.reload()
            self.lab.hosts["r0"].ip("link", "set", "eth0", "down")  # and a link goes
            self.host("t0", "ping", "-c", "1", "-W", "2", ip("t1"))
            self.add_switchml()
            self.assertEqual(self.lab.stop(), 0, self.lab.said)
            self.assertIn("recorded ", self.lab.said)
            self.lab.hosts["r0"].ip("link", "set", "eth0", "up")
            self.lab.configuration["record"]["file"] = os.path.join(self.folder, "again.pcapng")
            self.lab.start()
            for n in ("s0", "s1"):
                self.host(n, "ping", "-c", "1", "-W", "5", ROUTER)
            self.switchml()  # which the switch knows from before
            self.assertEqual(self.lab.stop(), 0, self.lab.said)
        os.unlink(os.path.join(self.folder, "tor.sock"))

    def reload(self):
        """The configuration gets another VLAN while all runs."""
        path = os.path.join(self.lab.folder.name, "switch.json")
        with open(path, encoding="utf-8") as f:
            config = json.load(f)
        config["tor"]["vlans"].append({"vid": 30, "addresses": ["10.0.30.1/24"]})
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        self.ctl("reload")

    def replay(self, config, run="run"):
        return subprocess.run([SILKEN, "replay", "p4/rack/rack.p4", "--fast", "--config", config, "--in",
                               os.path.join(self.folder, run + ".pcapng"), "--expect-recorded", "--show", "1000"], capture_output=True,
                              text=True, timeout=600, check=False)

    def changed(self):
        """The configuration with one rule changed."""
        with open(os.path.join(self.folder, "run.config.json"), encoding="utf-8") as f:
            config = json.load(f)
        config["tor"]["acls"][0]["rules"][0]["action"] = "deny"
        path = os.path.join(self.folder, "changed.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        return path

    def test_recorded_racks_replay(self):
        for _ in range(RUNS):
            self.folder = tempfile.mkdtemp(prefix="silken-recorded-")  # stays when something differs
            self.record()
            said = f"recorded in {self.folder}: "
            for run in ("run", "again"):
                same = self.replay(os.path.join(self.folder, run + ".config.json"), run)
                self.assertEqual(same.returncode, 0, said + same.stdout + same.stderr)
                self.assertNotRegex(same.stderr, "differ|control plane", said)
            other = self.replay(self.changed())
            self.assertEqual(other.returncode, 1, said + other.stdout + other.stderr)
            self.assertIn(f"{DATAGRAMS} packets differ", other.stderr, said)
            self.assertEqual(len(re.findall(r"^port 6: packet \d+ of .* was not sent: 46 bytes$", other.stderr, re.M)),
                             DATAGRAMS, said)
            self.assertNotIn("control plane", other.stderr, said)
            shutil.rmtree(self.folder)


if __name__ == "__main__":
    tally.main()
