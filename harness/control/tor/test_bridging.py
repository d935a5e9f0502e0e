#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A running ToR as a bridge between network namespaces: who is where, links that flap, LAGs, isolated links, storm
control, a mirror that tcpdump captures, and reloads under traffic. Hosts send frames of an experimental type, or are
the kernel's own stacks."""
import json
import os
import re
import subprocess
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

PORTS = {"a": 0, "b": 1, "c": 2, "m": 3, "k": 4, "l": 5, "i": 6, "j": 7}  # m: the probe; k, l: a LAG; i, j: isolated
ADDRESS = "10.0.10.{}"
LINKS = [{"name": "a", "port": 0, "access": 10}, {"name": "b", "port": 1, "access": 10, "storm": {"broadcast": 20}},
         {"name": "c", "port": 2, "access": 10}, {"name": "m", "port": 3},
         {"name": "lag", "ports": [4, 5], "access": 10},
         {"name": "i", "port": 6, "access": 10, "isolated": True},
         {"name": "j", "port": 7, "access": 10, "isolated": True}]
TOR = {"vlans": [{"vid": 10}], "links": LINKS,
       "mirrors": [{"name": "tap", "to": "m", "length": 128, "links": [{"link": "c"}]}]}


def frame(dst, src, mark):
    return (dst + src).replace(":", "") + "88b5" + f"{mark:04x}" * 24


TALKER = "02:00:00:00:99:aa"
TALK = """import socket, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
while True:
    s.send(bytes.fromhex("%s"))
    time.sleep(0.0005)
""" % frame("ff:ff:ff:ff:ff:ff", TALKER, 0xfffe)


class BusyLab(Lab):
    """Somebody at a speaks while the switch starts."""

    def start(self):
        with subprocess.Popen(["ip", "netns", "exec", self["a"].namespace, "python3", "-c", TALK]) as talk:
            try:
                super().start()
                time.sleep(0.5)
            finally:
                talk.kill()


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Bridge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        hosts = {n: Host(p, [] if n in "mkl" else [ADDRESS.format(p + 1) + "/24"]) for n, p in PORTS.items()}
        cls.lab = BusyLab(hosts, {"program": os.path.abspath("p4/tor/tor.p4"), "control_socket": "tor.sock", "tor": TOR})
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.first_macs = cls.ctl("--json", "macs")
        for h in cls.lab.hosts.values():
            h.ask("watch", interface="eth0")

    def setUp(self):
        self.forget()

    def forget(self):
        time.sleep(0.1)
        for h in self.lab.hosts.values():
            h.ask("seen")

    @classmethod
    def ctl(cls, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(cls.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout

    def place(self, mac):
        macs = json.loads(self.ctl("--json", "macs", "mac", mac))["macs"]
        return macs[0]["link"] if macs else None

    def eventually(self, what, expected, seconds=20):
        end = time.monotonic() + seconds
        while (got := what()) != expected and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(got, expected)

    def send(self, host, dst, src, mark=1):
        self.lab[host].ask("send", interface="eth0", frame=frame(dst, src, mark))

    # Who gets a frame, how many: by mark.
    def got(self, mark, seconds=0.3):
        time.sleep(seconds)
        count = {n: sum(f[24:32] == f"88b5{mark:04x}" for f in h.ask("seen")) for n, h in self.lab.hosts.items()}
        return {n: c for n, c in count.items() if c}

    def learn(self, host, mac, link):
        self.send(host, "ff:ff:ff:ff:ff:ff", mac, 0xffff)
        self.eventually(lambda: self.place(mac), link)

    # net_af_packet's sockets hear all interfaces before they are bound to one.
    def test_a_host_that_speaks_while_the_switch_starts(self):
        macs = json.loads(self.first_macs)
        self.assertEqual([m["link"] for m in macs["macs"] if m["mac"] == TALKER], ["a"])
        self.assertEqual(macs["counts"]["moved"], 0)

    def test_an_address_that_moves(self):
        mac = "02:00:00:00:99:01"
        self.learn("a", mac, "a")
        self.forget()
        self.send("b", mac, self.lab["b"].mac, 2)
        self.assertEqual(self.got(2), {"a": 1})
        self.learn("c", mac, "c")
        self.forget()
        self.send("b", mac, self.lab["b"].mac, 3)
        self.assertEqual(self.got(3), {"c": 1, "m": 1})  # the mirror sees what leaves by c
        self.ctl("macs", "flush", "mac", mac)
        self.eventually(lambda: self.place(mac), None)
        self.forget()
        self.send("b", mac, self.lab["b"].mac, 4)
        got = self.got(4)
        self.assertEqual(got.pop("k", 0) + got.pop("l", 0), 1)
        self.assertEqual(got, {"a": 1, "c": 1, "i": 1, "j": 1, "m": 1})

    def test_isolated_hosts_reach_the_others(self):
        for n in "aj":
            self.lab[n].ask("serve", port=7777)
        for n in "ij":
            self.assertEqual(self.lab[n].ask("udp", to=ADDRESS.format(1), port=7777, bytes=100, tries=3), 3)
        self.assertEqual(self.lab["i"].ask("udp", to=ADDRESS.format(8), port=7777, bytes=100, tries=2), 0)
        # though the switch knows it
        self.assertEqual(self.place(self.lab["j"].mac), "j")

    def test_a_lag_whose_member_fails(self):
        mac = "02:00:00:00:99:02"
        self.learn("k", mac, "lag")
        self.forget()
        for n in range(64):
            self.send("a", mac, f"02:00:00:00:98:{n:02x}", 5)
        got = self.got(5)
        self.assertEqual(set(got), {"k", "l"})
        self.assertEqual(sum(got.values()), 64)
        subprocess.run(["ip", "link", "set", self.lab["k"].outside, "down"], check=True)
        try:
            self.eventually(lambda: "4 (down)" in self.ctl("links"), True)
            self.forget()
            for n in range(64):
                self.send("a", mac, f"02:00:00:00:98:{n:02x}", 6)
            self.assertEqual(self.got(6), {"l": 64})
        finally:
            subprocess.run(["ip", "link", "set", self.lab["k"].outside, "up"], check=True)
        self.eventually(lambda: "4 (down)" in self.ctl("links"), False)

    def test_a_link_that_flaps(self):
        a = self.lab["a"]
        mac = "02:00:00:00:99:03"
        self.learn("a", mac, "a")
        for n in range(4):
            for state, down in (("down", True), ("up", False)):
                subprocess.run(["ip", "link", "set", a.outside, state], check=True)
                self.eventually(lambda: "(down)" in self.ctl("links").splitlines()[1], down)
            if n == 0:
                self.assertIsNone(self.place(mac))
        self.assertIn("flapping", self.ctl("links").splitlines()[1])
        self.assertRegex(self.ctl("alarms"), r"(?m) flapping-link +a$")
        self.learn("a", mac, "a")

    def test_a_storm(self):
        self.forget()
        begin = time.monotonic()
        for _ in range(300):
            self.send("b", "ff:ff:ff:ff:ff:ff", self.lab["b"].mac, 7)
        took = time.monotonic() - begin
        got = self.got(7)["a"]
        self.assertGreaterEqual(got, 8)
        self.assertLessEqual(got, 8 + 20 * took + 2)
        self.assertLess(got, 300)

    @unittest.skipUnless(os.path.exists("/usr/bin/tcpdump"), "there is no tcpdump")
    def test_a_mirror_that_tcpdump_captures(self):
        self.lab["c"].ask("serve", port=7778)  # and each knows the other's address
        self.eventually(lambda: self.lab["a"].ask("udp", to=ADDRESS.format(3), port=7778, bytes=10, tries=1), 1)
        with subprocess.Popen(["ip", "netns", "exec", self.lab["m"].namespace, "tcpdump", "-n", "-e", "-l", "-i", "eth0",
                               "-c", "2", "udp"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as dump:
            try:
                self.assertIn("listening", dump.stderr.readline() + dump.stderr.readline())
                back = self.lab["a"].ask("udp", to=ADDRESS.format(3), port=7778, bytes=1000, tries=1)
                said = dump.communicate(timeout=20)[0]
            finally:
                dump.kill()
        self.assertEqual(back, 1)
        self.assertIn(f"{self.lab['a'].mac} > {self.lab['c'].mac}", said)  # what leaves by c
        self.assertIn(f"{self.lab['c'].mac} > {self.lab['a'].mac}", said)  # and what comes in
        self.assertEqual(said.count("length 128:"), 2)  # of 1042

    def test_reloads_under_traffic(self):
        path = os.path.join(self.lab.folder.name, "switch.json")
        with open(path) as f:
            before = json.load(f)
        with subprocess.Popen(["ip", "netns", "exec", self.lab["b"].namespace, "ping", "-n", "-q", "-i", "0.01", "-c", "400",
                               "-W", "5", ADDRESS.format(3)], stdout=subprocess.PIPE, text=True) as ping:
            for n in range(6):
                other = json.loads(json.dumps(before))
                other["tor"]["vlans"] += [{"vid": v} for v in range(100, 100 + 20 * (n % 3))]
                for link in other["tor"]["links"]:
                    if link["name"] in ("i", "j"):
                        link["isolated"] = n % 2 == 0
                        link.pop("access")
                        link.update({"trunk": "all", "native": 10})
                with open(path, "w") as f:
                    json.dump(other, f)
                self.ctl("reload")
                self.assertEqual(len(self.ctl("vlans").splitlines()), 2 + 20 * (n % 3))
                time.sleep(0.3)
            other["tor"]["vlans"] = []
            with open(path, "w") as f:
                json.dump(other, f)
            done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), "reload"],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1)
            with open(path, "w") as f:
                json.dump(before, f)
            self.ctl("reload")
            said = ping.communicate(timeout=60)[0]
        self.assertIn("400 packets transmitted, 400 received", said)

    def test_zz_all_packets_are_accounted_for(self):
        self.assertEqual(self.lab.stop(), 0)
        received, copies, sent, dropped = map(int, re.search(
            r"received (\d+) \+ copies (\d+) = sent (\d+) \+ dropped (\d+)", self.lab.said).groups())
        self.assertGreater(received, 1000)
        self.assertEqual(received + copies, sent + dropped)


if __name__ == "__main__":
    tally.main()
