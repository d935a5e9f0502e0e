#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A running ToR with its control plane, and the kernel's own stacks as hosts that know nothing but their address
and their router's: ping, traceroute, iperf3 and tcpdump as people use them."""
import json
import os
import re
import socket
import subprocess
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

MTU = 9000
ROUTER4, ROUTER6 = "10.0.{}.1", "2001:db8:{}::1"
HOSTS = {"a": (0, 10, 2), "b": (1, 10, 3), "c": (2, 20, 2), "d": (3, 20, 3)}  # port, VLAN, number; d is tagged


def host(port, vlan, number, tag=None):
    return Host(port, [f"10.0.{vlan}.{number}/24", f"2001:db8:{vlan}::{number}/64"], tag, mtu=MTU,
                routes=[("default", ROUTER4.format(vlan)), ("default", ROUTER6.format(vlan))])


def v4(name):
    return f"10.0.{HOSTS[name][1]}.{HOSTS[name][2]}"


def v6(name):
    return f"2001:db8:{HOSTS[name][1]}::{HOSTS[name][2]}"


def section(**more):
    return {"vlans": [{"vid": v, "addresses": [ROUTER4.format(v) + "/24", ROUTER6.format(v) + "/64"], "mtu": MTU}
                      for v in (10, 20)],
            "links": [{"name": n, "port": p, **({"trunk": [v]} if n == "d" else {"access": v})}
                      for n, (p, v, _) in HOSTS.items()], **more}


def in_host(h, *words, timeout=60, check=True):
    done = subprocess.run(["ip", "netns", "exec", h.namespace, *words], capture_output=True, text=True,
                          timeout=timeout, check=False)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
@unittest.skipUnless(os.path.exists("/dev/net/tun"), "the host with a tagged link needs a tap device")
class Router(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab({n: host(p, v, i, v if n == "d" else None) for n, (p, v, i) in HOSTS.items()},
                      {"program": os.path.abspath("p4/tor/tor.p4"), "control_socket": "tor.sock", "tor": section()})
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def request(self, op):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10)
            s.connect(os.path.join(self.lab.folder.name, "tor.sock"))
            s.sendall(json.dumps({"op": op}).encode() + b"\n")
            line = s.makefile().readline()
        self.assertTrue(json.loads(line)["ok"], line)
        return line

    def ping(self, who, to, count=3, *more):
        said = in_host(self.lab[who], "ping", "-n", "-c", str(count), "-i", "0.2", "-W", "2", *more, to, check=False)
        self.assertIn(f" {count} received", said)
        self.assertNotIn("duplicates", said)

    def test_ping_inside_a_vlan_and_the_switch(self):
        for to in (v4("b"), v6("b"), ROUTER4.format(10), ROUTER6.format(10), ROUTER4.format(20), ROUTER6.format(20)):
            self.ping("a", to)

    def test_ping_between_vlans(self):
        for who in ("a", "b"):
            for to in ("c", "d"):
                self.ping(who, v4(to))
                self.ping(who, v6(to))

    def test_jumbo_frames(self):
        self.ping("a", v4("c"), 2, "-M", "do", "-s", str(MTU - 28))
        self.ping("a", v6("d"), 2, "-M", "do", "-s", str(MTU - 48))

    def test_traceroute_sees_the_switch(self):
        for family, to, router in (("-4", v4("c"), ROUTER4.format(10)), ("-6", v6("c"), ROUTER6.format(10))):
            said = in_host(self.lab["a"], "traceroute", family, "-n", "-w", "2", "-q", "1", "-N", "1", to)
            hops = re.findall(r"^ *\d+ +(\S+)", said, re.M)
            self.assertEqual(hops, [router, to], said)

    def test_no_route_and_nobody_there(self):
        said = in_host(self.lab["a"], "ping", "-n", "-c", "1", "-W", "2", "192.0.2.1", check=False)
        self.assertIn("Destination Net Unreachable", said)
        said = in_host(self.lab["a"], "ping", "-n", "-c", "1", "-W", "8", "10.0.20.77", check=False)
        self.assertIn("Destination Host Unreachable", said)

    def iperf(self, client, server, to, *more):
        with subprocess.Popen(["ip", "netns", "exec", self.lab[server].namespace, "iperf3", "-s", "-1"],
                              stdout=subprocess.DEVNULL) as process:
            time.sleep(0.5)
            try:
                said = in_host(self.lab[client], "iperf3", "-J", "-t", "2", "-c", to, *more)
                process.wait(20)
            finally:
                process.kill()
        return json.loads(said)["end"]

    def test_iperf3_tcp_and_udp(self):
        for to in (v4, v6):
            for client, server in (("a", "b"), ("a", "d"), ("c", "b")):
                end = self.iperf(client, server, to(server))
                self.assertGreater(end["sum_received"]["bytes"], 1 << 20)
            lost = []
            while not lost or (lost[-1] >= 5 and len(lost) < 4): # other work may keep the switch from its processor
                end = self.iperf("b", "c", to("c"), "-u", "-b", "20M", "-l", "1200")
                self.assertGreater(end["sum"]["packets"], 1000)
                lost.append(end["sum"]["lost_percent"])
            self.assertLess(lost[-1], 5, lost)

    def carried(self, server, client, to):
        """32 MB of one connection: what was sent and what came, as digests."""
        receives = ("import hashlib, socket, sys\n"
                    "s = socket.create_server(('', 7000), family=socket.AF_INET6, dualstack_ipv6=True)\n"
                    "print('ready', flush=True)\n"
                    "c, _ = s.accept()\n"
                    "h = hashlib.sha256()\n"
                    "while data := c.recv(1 << 20):\n"
                    "    h.update(data)\n"
                    "print(h.hexdigest())")
        sends = ("import hashlib, random, socket, sys\n"
                 "data = random.Random(33).randbytes(1 << 20)\n"
                 "c = socket.create_connection((sys.argv[1], 7000))\n"
                 "h = hashlib.sha256()\n"
                 "for i in range(32):\n"
                 "    part = data[i * 1001:] + data[:i * 7]\n" # pieces of many lengths
                 "    c.sendall(part)\n"
                 "    h.update(part)\n"
                 "c.close()\n"
                 "print(h.hexdigest())")
        with subprocess.Popen(["ip", "netns", "exec", self.lab[server].namespace, sys.executable, "-c", receives],
                              stdout=subprocess.PIPE, text=True) as there:
            self.assertEqual(there.stdout.readline(), "ready\n")
            sent = in_host(self.lab[client], sys.executable, "-c", sends, to)
            return sent, there.communicate(timeout=30)[0]

    def test_what_a_connection_carries(self):
        """Frames of 64 KB: inside a VLAN they are passed on whole, between two cut and joined."""
        for server, client, to in (("b", "a", v4("b")), ("b", "a", v6("b")), ("c", "a", v4("c")), ("c", "a", v6("c"))):
            with self.subTest(to=to):
                sent, came = self.carried(server, client, to)
                self.assertEqual(sent, came)

    def test_vlans_are_apart(self):
        for h in self.lab.hosts.values():
            h.ask("watch", interface=h.inside)
            h.ask("seen")
        for n, dst in enumerate(("ffffffffffff", "020000999999", "01005e123456")):
            self.lab["a"].ask("send", interface="eth0",
                              frame=dst + self.lab["a"].mac.replace(":", "") + "88b5" + f"{n:02x}" * 60)
        time.sleep(0.5)
        got = {name: sum(f[24:28] == "88b5" for f in h.ask("seen")) for name, h in self.lab.hosts.items()}
        self.assertEqual(got, {"a": 0, "b": 3, "c": 0, "d": 0})

    def test_what_the_control_plane_knows(self):
        for name in ("b", "c", "d"):
            self.ping("a", v4(name))
        macs = self.ctl("macs")
        for h in self.lab.hosts.values():
            self.assertIn(h.mac, macs)
        neighbours = self.request("tor.neighbours")
        for name in ("a", "c", "d"):  # b was asked for nothing behind the switch
            self.assertIn(v4(name), neighbours)
        self.assertIn("10.0.20.0/24", self.request("tor.routes"))

    def test_an_address_that_moves(self):
        a, b = self.lab["a"], self.lab["b"]
        self.ping("c", v4("a"))
        time.sleep(1.2)  # of two that answer a question the first one has the address, as in Linux
        # a's address turns up behind b's port: gratuitous ARP
        a.ip("address", "del", v4("a") + "/24", "dev", "eth0")
        b.ip("address", "add", v4("a") + "/24", "dev", "eth0")
        try:
            b.ask("announce", interface="eth0", address=v4("a"), mac=b.mac)
            self.ping("c", v4("a"))
            time.sleep(1.2)
        finally:
            b.ip("address", "del", v4("a") + "/24", "dev", "eth0")
            a.ip("address", "add", v4("a") + "/24", "dev", "eth0")
            a.ip("route", "replace", "default", "via", ROUTER4.format(10))
            a.ask("announce", interface="eth0", address=v4("a"), mac=a.mac)
        self.ping("c", v4("a"))

    def test_a_link_that_goes_and_comes(self):
        c = self.lab["c"]
        for _ in range(3):
            c.ip("link", "set", "eth0", "down")
            time.sleep(0.2)
            c.ip("link", "set", "eth0", "up")
        # what the kernel forgets with a link
        c.ip("address", "add", v6("c") + "/64", "dev", "eth0", "nodad")
        c.ip("route", "replace", "default", "via", ROUTER4.format(20))
        c.ip("-6", "route", "replace", "default", "via", ROUTER6.format(20))
        time.sleep(0.5)
        self.ping("a", v4("c"))
        self.ping("a", v6("c"))

    def test_zz_all_packets_are_accounted_for(self):
        self.assertEqual(self.lab.stop(), 0)
        received, copies, sent, dropped = map(int, re.search(
            r"received (\d+) \+ copies (\d+) = sent (\d+) \+ dropped (\d+)", self.lab.said).groups())
        self.assertGreater(received, 1000)
        self.assertEqual(received + copies, sent + dropped)


if __name__ == "__main__":
    tally.main()
