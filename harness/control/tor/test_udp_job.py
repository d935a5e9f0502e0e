#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Workers on kernel UDP sockets behind a ToR (p4/rack): processes of nobody, without capabilities, in hosts with the
kernel's own addresses, which know of the switch its IP address alone. ARP does the rest, at both ends. They start before
the switch knows their job: the ICMP errors that they get until then end nothing. Then one of them is killed in the middle:
the others end with a sentence, and a job that begins again has right sums, also with loss."""
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

ROUTER_MAC, ROUTER = "02:00:00:00:ff:01", "10.0.10.1"
NAMES = ["w0", "w1", "w2"]
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "--inh-caps", "-all",
          "--no-new-privs"]


# since Linux 6.2
SEGMENTS = tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 2)


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class UdpJob(unittest.TestCase):
    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def start(self, name, rounds, device="udp:", *more):
        p = subprocess.Popen(["ip", "netns", "exec", self.lab[name].namespace, *NOBODY, SILKEN, "worker", "--device", device,
                              "--switch-ip", ROUTER, "--job", "1", "--rank", name[1:], "--workers", "3", "--pool", "64",
                              "--packet", "64", "--elements", "8000", "--rounds", str(rounds), "--rto-min", "20000",
                              "--rto-max", "200000", "--limit", "30000", *more],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def all_right(self, workers, segments=None):
        """Also whether each sent and received segments; None: as it comes."""
        for p in workers:
            said = p.communicate(timeout=90)[0]
            self.assertEqual(p.returncode, 0, said)
            self.assertIn("verified: ", said)
            found = re.search(r"as UDP segments: (\d+) frames sent, (\d+) received", said)
            if segments is not None:
                self.assertEqual([int(n) > 0 for n in found.groups()] if found else [False, False], [segments] * 2, said)

    def test_job(self):
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}],
                   "links": [{"name": n, "port": i, "access": 10} for i, n in enumerate(NAMES)],
                   "state": "state/jobs.json"}
        hosts = {n: Host(i, addresses=[ip(n) + "/24"]) for i, n in enumerate(NAMES)}
        with Lab(hosts, {"program": os.path.abspath("p4/rack/rack.p4"), "control_socket": "tor.sock", "tor": section}) as self.lab:
            early = [self.start(n, 3) for n in NAMES]
            time.sleep(1)
            self.assertEqual([p.poll() for p in early], [None] * 3)
            self.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers", ",".join(f"{n}:{ip(n)}" for n in NAMES),
                     "--slots", "64", "--number", "1")
            self.all_right(early)

            # segments: cut by the switch's ports, and joined for those who send them; or packets go one by one, and so they
            # do by an interface without checksums, unless the kernel (since 6.11) makes these itself
            self.all_right([self.start(n, 20) for n in NAMES], segments=SEGMENTS)
            self.all_right([self.start(n, 5, "udp:", "--no-segments") for n in NAMES], segments=False)
            for n in NAMES:
                self.lab[n].checksums(False)
            self.all_right([self.start(n, 5) for n in NAMES])
            for n in NAMES:
                self.lab[n].checksums(True)

            endless = [self.start(n, 100000) for n in NAMES]
            for line in endless[2].stdout:
                if line.startswith("round 2"):
                    break
            endless[2].kill()
            again = [self.start(n, 3, "faulty:seed=7,drop=0.01,duplicate=0.01:udp:") for n in NAMES[2:]]
            for p in endless[:2]:
                said = p.communicate(timeout=90)[0]
                self.assertNotEqual(p.returncode, 0)
                self.assertIn("session is over", said)
            again += [self.start(n, 3, "faulty:seed=8,drop=0.01,duplicate=0.01:udp:") for n in NAMES[:2]]
            self.all_right(again)
            # lanes of one device: each has its own thread and sockets; also with loss, and killed in the middle
            lanes = "--lanes", "3"
            self.all_right([self.start(n, 20, "udp:", *lanes) for n in NAMES], segments=SEGMENTS)
            self.all_right([self.start(n, 5, f"faulty:seed={n[1:]},drop=0.01,duplicate=0.01:udp:", *lanes) for n in NAMES])
            endless = [self.start(n, 100000, "udp:", *lanes) for n in NAMES]
            for line in endless[2].stdout:
                if line.startswith("round 2"):
                    break
            twice = self.start(NAMES[2], 1, "udp:", *lanes)  # the first has the address
            self.assertIn("an IP address of its own", twice.communicate(timeout=90)[0])
            endless[2].kill()
            again = [self.start(NAMES[2], 3, "udp:", *lanes)]
            for p in endless[:2]:
                said = p.communicate(timeout=90)[0]
                self.assertNotEqual(p.returncode, 0)
                self.assertIn("session is over", said)
            again += [self.start(n, 3, "udp:", *lanes) for n in NAMES[:2]]
            self.all_right(again)
            self.all_right([self.start(n, 3) for n in NAMES])  # one lane again

            # a restarted switch asks no lanes how far they got: their session is over
            endless = [self.start(n, 100000, "udp:", *lanes) for n in NAMES]
            for p in endless:
                for line in p.stdout:
                    if line.startswith("round 2"):
                        break
            self.assertEqual(self.lab.stop(), 0, self.lab.said)
            self.lab.start()
            for p in endless:
                said = p.communicate(timeout=90)[0]
                self.assertNotEqual(p.returncode, 0, said)
                self.assertIn("session is over", said)
            self.all_right([self.start(n, 3, "udp:", *lanes) for n in NAMES])
            jobs = json.loads(self.ctl("--json", "job", "list"))["jobs"]
            self.assertEqual(len(jobs), 1)
            self.assertEqual(self.lab.stop(), 0, self.lab.said)


if __name__ == "__main__":
    tally.main()
