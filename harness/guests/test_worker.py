#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken worker --rdma` in two virtual machines at vhost-user ports of p4/switchml/with_roce.p4: every element of every sum is
checked there, without and with 1 % loss at the switch's ports. Their
addresses are not the machines' own, so that the kernels answer nothing."""
import os
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "control"),
                os.path.join(os.path.dirname(__file__), "..")]
import guest  # noqa: E402
import tally  # noqa: E402
from live import SILKEN, Switch  # noqa: E402

SWITCH_IP, SWITCH_MAC = "10.0.31.254", "02:00:00:00:00:fe"
PAIRS, SLOTS, RKEY, QPN = 4, 32, 0x53494C4B, 0x100


def worker_ip(n):
    return f"10.0.31.{n + 1}"


def entries(n):
    """Of worker n of two, at port n, with replication id n + 1."""
    end = 2 * (SLOTS - 1)
    common = {"worker_bit": 1 << n, "num_workers": 2, "group": 100, "rid": n + 1, "port": n}
    for begins, action, args in ((1, "begin", {"first": 0x8000, "last": end + 1}), (0, "go_on", {"end": 0x8000 + end})):
        yield {"table": "writers",
               "key": {"hdr.ipv4.src_addr": worker_ip(n), "hdr.ipv4.dst_addr": SWITCH_IP, "ig_intr_md.ingress_port": n,
                       "queue_pairs": n + 1, "begins": begins},
               "action": action, "args": {**common, **args}}
    yield {"table": "receivers", "key": {"md.rid": n + 1}, "action": "address",
           "args": {"mac": guest.mac(n), "ip": worker_ip(n), "udp_port": 4791}}
    for pair in range(PAIRS):
        yield {"table": "queue_pairs", "key": {"md.rid": n + 1, "queue_pair": pair}, "action": "queue_pair",
               "args": {"qpn": QPN + pair, "rkey_high": RKEY >> 16, "rkey": RKEY & 0xFFFF}}


class Workers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = guest.image([SILKEN])

    def sums(self, **more):
        config = {"program": os.path.abspath("p4/switchml/with_roce.p4"), "entries": [e for n in range(2) for e in entries(n)],
                  "multicast": {"nodes": [{"id": n + 1, "rid": n + 1, "ports": [n]} for n in range(2)],
                                "groups": [{"id": 100, "nodes": [1, 2]}]}, **more}
        switch = Switch(config)
        config["ports"] = [{"port": n, "device": f"net_vhost{n},iface={switch.folder}/v{n}.sock"} for n in range(2)]
        with switch, guest.Guest(switch.path("v0.sock"), 0, self.image) as a, guest.Guest(switch.path("v1.sock"), 1, self.image) as b:
            words = ("silken worker --rdma --device eth0 --workers 2 --switch-mac " + SWITCH_MAC + " --switch-ip " + SWITCH_IP +
                     f" --pool {SLOTS} --pairs {PAIRS} --elements 20000 --rounds 2 --limit 120000 --rto-min 50000 --rto-max 500000")
            for n, g in enumerate((a, b)):
                g.up(False)
                g.do(f"{words} --rank {n} --mac {guest.mac(n)} --ip {worker_ip(n)} --queue-pair {64 * (n + 1)} >/tmp/said 2>&1 & "
                     "echo $! >/tmp/pid")
            for g in (a, b):
                said = g.do("wait; cat /tmp/said", seconds=240)
                self.assertIn("verified: 2 rounds of 20000 elements", said)
            return switch.ask("stats")["drops"]

    def test_sums(self):
        self.assertNotIn("invariant CRC of RoCEv2 wrong or not there", self.sums())

    def test_sums_with_loss(self):
        self.assertGreater(self.sums(faults={"loss": 0.01, "seed": 5})["injected loss"], 5)


if __name__ == "__main__":
    tally.main()
