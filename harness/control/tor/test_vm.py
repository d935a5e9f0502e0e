#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with vhost-user ports behind the ToR, and a container beside it: they reach each other, and
through the machine's Linux bond the LAG of the switch is tried with the kernel's own LACP, members failing."""
import os
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
import vm  # noqa: E402
from lab import Host, Lab  # noqa: E402
from test_router import in_host  # noqa: E402

MACS = ["02:00:00:00:20:00", "02:00:00:00:20:01"]


class Guests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("network namespaces need root")
        why = vm.why_not()
        if why:
            raise unittest.SkipTest(why)

    def start(self, links):
        host = Host(0, ["10.0.10.2/24", "2001:db8:10::2/64"])
        lab = Lab({"a": host}, {"program": os.path.abspath("p4/tor/tor.p4"), "control_socket": "tor.sock"})
        # the folder is there when the switch starts
        ports = [{"port": 8 + i, "device": f"net_vhost{i},iface=@folder/v{i}.sock", "name": f"vm{i}"} for i in range(2)]
        lab.configuration["ports"] = ports
        lab.configuration["tor"] = {"vlans": [{"vid": 10, "addresses": ["10.0.10.1/24", "2001:db8:10::1/64"]}],
                                    "links": [{"name": "a", "port": 0, "access": 10}] + links}
        lab.paths = [f"v{i}.sock" for i in range(2)]
        lab.__enter__()
        self.addCleanup(lab.__exit__)
        return lab

    def sockets(self, lab):
        return [os.path.join(lab.folder.name, p) for p in lab.paths]

    def container_pings(self, lab, to, count=5):
        said = in_host(lab["a"], "ping", "-n", "-c", str(count), "-i", "0.2", "-W", "2", to, check=False)
        self.assertIn(f" {count} received", said)

    def test_a_machine_and_a_container(self):
        lab = self.start([{"name": f"vm{i}", "port": f"vm{i}", "access": 10} for i in range(2)])
        with vm.VM(self.sockets(lab)[:1], MACS[:1]) as guest:
            guest.do("ip link set eth0 up; ip address add 10.0.10.9/24 dev eth0; "
                     "ip address add 2001:db8:10::9/64 dev eth0")
            time.sleep(3)  # the guest's IPv6 address is tentative at first
            self.container_pings(lab, "10.0.10.9")
            self.container_pings(lab, "2001:db8:10::9")
            for to in ("10.0.10.2", "10.0.10.1", "2001:db8:10::2", "2001:db8:10::1"):
                self.assertIn(" 0% packet loss", guest.do(f"ping -c 3 {to}"))
            # bytes that TCP checks, both ways
            guest.do("dd if=/dev/zero bs=1000 count=3000 2>/dev/null | nc -l -p 99 >/dev/null &")
            time.sleep(1)
            got = in_host(lab["a"], "python3", "-c",
                          "import socket; s = socket.create_connection(('10.0.10.9', 99), 10); n = 0\n"
                          "while d := s.recv(65536): n += len(d)\nprint(n)")
            self.assertEqual(got.strip(), "3000000")
        self.assertEqual(lab.stop(), 0)

    def test_a_bond_with_lacp(self):
        lab = self.start([{"name": "up", "ports": ["vm0", "vm1"], "lacp": {"active": True, "fast": True}, "access": 10}])
        with vm.VM(self.sockets(lab), MACS) as guest:
            if guest.do("ls /sys/class/net/bonding_masters", check=False).strip() != "/sys/class/net/bonding_masters":
                self.skipTest("the virtual machine's kernel has no bonding")
            guest.do("echo +bond0 >/sys/class/net/bonding_masters; cd /sys/class/net/bond0/bonding; "
                     "echo 802.3ad >mode; echo fast >lacp_rate; echo 100 >miimon; echo layer3+4 >xmit_hash_policy")
            guest.do("echo +eth0 >slaves && echo +eth1 >slaves; ip link set bond0 up; "
                     "ip address add 10.0.10.9/24 dev bond0")
            for _ in range(40):
                state = guest.do("cat /proc/net/bonding/bond0")
                if "Number of ports: 2" in state:
                    break
                time.sleep(0.5)
            self.assertIn("Number of ports: 2", state)
            self.assertNotIn("Partner Mac Address: 00:00:00:00:00:00", state)
            self.container_pings(lab, "10.0.10.9")
            # a member of the guest's goes: LACP takes it out of the switch's LAG, too
            for member in ("eth0", "eth1"):
                guest.do(f"ip link set {member} down")
                time.sleep(5)  # three fast intervals
                self.container_pings(lab, "10.0.10.9", 8)
                guest.do(f"ip link set {member} up")
                time.sleep(4)
            self.container_pings(lab, "10.0.10.9", 8)
        self.assertEqual(lab.stop(), 0)


if __name__ == "__main__":
    tally.main()
