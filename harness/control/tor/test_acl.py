#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Access lists of a running ToR between the kernel's own stacks: what they let pass and count, and that lists which
are reloaded under traffic lose nothing that both allow and let nothing pass that both deny."""
import json
import os
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

GOOD, BAD, DATAGRAMS = 1000, 2000, 1500

SEND = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range({DATAGRAMS}):
    for port in ({GOOD}, {BAD}):
        s.sendto(n.to_bytes(4, "big"), ("10.0.10.3", port))
    time.sleep(0.002)
"""
RECEIVE = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.10.3", int(sys.argv[1])))
print("ready", flush=True)
seen = set()
s.settimeout(float(sys.argv[2]))
try:
    while True:
        seen.add(s.recv(2000))
except TimeoutError:
    print(len(seen))
"""
PERMIT = {"action": "permit", "family": "ipv4", "protocol": "udp", "to_port": "1000-1999"}
DENY = {"action": "deny", "family": "ipv4", "protocol": "udp", "to_port": "2000-2999"}


def section(rules, acl="guests"):
    return {"mac": "02:00:00:00:ff:01",
            "vlans": [{"vid": 10, "addresses": ["10.0.10.1/24"]}],
            "links": [{"name": "a", "port": 0, "access": 10, "acl": acl}, {"name": "b", "port": 1, "access": 10}],
            "acls": [{"name": "guests", "rules": rules}]}


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Acl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        hosts = {n: Host(p, [f"10.0.10.{p + 2}/24"]) for p, n in enumerate("ab")}
        cls.lab = Lab(hosts, {"program": os.path.abspath("p4/tor/tor.p4"), "control_socket": "tor.sock",
                              "tor": section([PERMIT, DENY])})
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.path = os.path.join(cls.lab.folder.name, "switch.json")

    def ctl(self, *words, status=0):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def reload(self, tor, status=0):
        with open(self.path, encoding="utf-8") as f:
            config = json.load(f)
        before = json.dumps(config)
        with open(self.path, "w", encoding="utf-8") as f:
            json.dump({**config, "tor": tor}, f, indent=1)
        try:
            return self.ctl("reload", status=status)
        finally:
            if status:
                with open(self.path, "w", encoding="utf-8") as f:
                    f.write(before)

    def rules(self):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), "--json", "acl",
                               "guests"], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)[0]["rules"]

    def start(self, name, code, *arguments):
        process = subprocess.Popen(["ip", "netns", "exec", self.lab[name].namespace, sys.executable, "-c", code,
                                    *arguments], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def test_reloads_under_traffic(self):
        self.reload(section([PERMIT, DENY]))
        receivers = [self.start("b", RECEIVE, str(port), "4") for port in (GOOD, BAD)]
        for r in receivers:
            self.assertEqual(r.stdout.readline(), "ready\n")
        before = [r["packets"] for r in self.rules()]
        sender = self.start("a", SEND)
        reloads = 0
        while sender.poll() is None:
            others = [{"action": "deny" if i % 2 else "permit", "from": f"10.9.{i}.{reloads % 250}", "protocol": "udp",
                       "to_port": f"{1 + i}-{2500 + reloads}"} for i in range(reloads % 5)]
            last = {"action": "deny", "family": "ipv4", "protocol": "udp", "to_port": "1500-65535"}
            self.reload(section([*others, PERMIT, *others[::-1], DENY, *([last] if reloads % 2 else [])]))
            reloads += 1
        self.assertEqual(sender.returncode, 0)
        self.assertGreater(reloads, 3)
        passed = [int(r.communicate(timeout=30)[0]) for r in receivers]
        self.assertEqual(passed, [DATAGRAMS, 0])
        self.reload(section([PERMIT, DENY]))
        after = [r["packets"] for r in self.rules()]
        self.assertEqual([x - y for x, y in zip(after, before)], [DATAGRAMS, DATAGRAMS])

    def test_what_is_shown(self):
        self.reload(section([PERMIT, DENY, {"action": "deny", "from": "10.0.10.2", "protocol": "udp",
                                            "to_port": "1500-2100"}]))
        said = self.ctl("acl")
        self.assertIn("guests: packets from a\n", said)
        self.assertRegex(said, r"(?m)^ +1 +\d+ +\d+ +\d+  deny ipv4 protocol 17 to_port 2000-2999$")
        self.assertRegex(said, r"(?m)^ +2 .*; no packet matches it$")
        self.assertEqual(self.ctl("acl", "test", "guests", "family=ipv4", "protocol=udp", "to_port=2999"),
                         "rule 1: deny ipv4 protocol 17 to_port 2000-2999\n")
        self.assertEqual(self.ctl("acl", "test", "guests", "family=ipv4", "protocol=udp", "to_port=3000"),
                         "no rule matches: permitted\n")
        self.assertIn("there is no access list 'x'", self.ctl("acl", "x", status=1))

    def test_a_section_that_is_refused_changes_nothing(self):
        self.reload(section([PERMIT, DENY]))
        said = self.reload(section([DENY, {"action": "deny", "from": "10.0.0.1/8"}]), status=1)
        self.assertRegex(said, r"switch.json:\d+: tor.acls\[0\].rules\[1\].from: 10.0.0.1/8 has bits set after its length")
        said = self.reload(section([DENY], acl="gusts"), status=1)
        self.assertRegex(said, r"switch.json:\d+: tor.links\[0\].acl: there is no access list 'gusts'")
        self.assertEqual([r["text"] for r in self.rules()],
                         ["permit ipv4 protocol 17 to_port 1000-1999", "deny ipv4 protocol 17 to_port 2000-2999"])


if __name__ == "__main__":
    tally.main()
