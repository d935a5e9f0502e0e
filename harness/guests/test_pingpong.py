#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two virtual machines with Linux' own RDMA over Ethernet (rdma_rxe) at vhost-user ports: ibv_uc_pingpong, which is not ours,
through p4/l2, and through p4/switchml/with_roce.p4, which checks and makes the invariant CRC of what it forwards; rxe takes
only frames whose CRC is right."""
import os
import re
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "control"),
                os.path.join(os.path.dirname(__file__), "..")]
import guest  # noqa: E402
import tally  # noqa: E402
from live import L2, Switch  # noqa: E402

ROCE = os.path.abspath("p4/switchml/with_roce.p4")
MESSAGES, BYTES = 200, 4096


def configuration(program):
    table, action = ("forward.macs", "to_port") if program == ROCE else ("forward", "send")
    flood = [{"table": table, "action": "to_group", "args": {"group": 1}}] if program == ROCE else []  # l2 does so by itself
    return {"program": program,
            "ports": [{"port": n, "device": f"net_vhost{n},iface=@folder/v{n}.sock"} for n in range(2)],
            "entries": [{"table": table, "key": {"dst_addr": guest.mac(n)}, "action": action, "args": {"port": n}}
                        for n in range(2)],
            "defaults": flood,
            "multicast": {"nodes": [{"id": n + 1, "rid": 0, "ports": [n]} for n in range(2)],
                          "groups": [{"id": 1, "nodes": [{"node": n + 1, "xid": n} for n in range(2)]}]}}


class Pingpong(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = guest.image()

    def through(self, program):
        config = configuration(program)
        switch = Switch(config)
        for port in config["ports"]:
            port["device"] = port["device"].replace("@folder", switch.folder)
        with switch, guest.Guest(switch.path("v0.sock"), 0, self.image) as a, guest.Guest(switch.path("v1.sock"), 1, self.image) as b:
            index = [g.rxe() for g in (a, b)]
            self.assertIn(" 0% packet loss", a.do(f"ping -c 2 {guest.address(1)}"))
            common = f"-d rxe0 -s {BYTES} -n {MESSAGES} -m 1024"
            a.do(f"ibv_uc_pingpong {common} -g {index[0]} >/tmp/said 2>&1 &")
            time.sleep(2)
            said = b.do(f"ibv_uc_pingpong {common} -g {index[1]} {guest.address(0)} 2>&1", seconds=200)
            for text in (said, a.do("wait; cat /tmp/said")):
                self.assertRegex(text, rf"{2 * MESSAGES * BYTES} bytes in", said)
                self.assertRegex(text, rf"{MESSAGES} iters in", said)
            counters = b.do("cd /sys/class/infiniband/rxe0/ports/1/hw_counters; for c in *; do echo $c $(cat $c); done; cd /")
            received = int(re.search(r"^rcvd_pkts (\d+)\s*$", counters, re.M)[1])
            self.assertGreaterEqual(received, MESSAGES * BYTES // 1024)
            drops = switch.ask("stats")["drops"]
            self.assertNotIn("invariant CRC of RoCEv2 wrong or not there", drops)

    def test_through_l2(self):
        self.through(L2)

    def test_through_the_program_for_roce(self):
        self.through(ROCE)


if __name__ == "__main__":
    tally.main()
