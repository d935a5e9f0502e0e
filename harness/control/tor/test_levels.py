#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A SwitchML job over two racks, live: two ToRs with p4/rack/with_levels.p4, each with two workers, a link between them.
The one adds up for its workers and for the other, and sends the sums of all down. Workers check every element. The switches
lose packets at all of their ports, the one to the other switch included; workers' links repeat and reorder them; a hostile
host below the lower switch forges partial sums in its name, and sums in the name of the upper one; workers and switches are
killed, and the job begins again."""
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab, run  # noqa: E402
from test_kill import Process  # noqa: E402

PROGRAM = os.path.abspath("p4/rack/with_levels.p4")
LINK_PORT, JOB, UDP_PORT = 60, 5, 0xBEE0
PATIENCE = 120
# name: (port, rack); ports are not the same in both switches, since interfaces have their names by them
HOSTS = {"a0": (0, 0), "a1": (1, 0), "b0": (2, 1), "b1": (3, 1), "x": (4, 1)}
RANKS = ["a0", "a1", "b0", "b1"]
SUBNET = {0: "10.0.10", 1: "10.0.20"}
VLAN = {0: 10, 1: 20}
SWITCH_MAC = {0: "02:00:00:00:ff:01", 1: "02:00:00:00:ff:02"}
UP, DOWN = "10.0.99.1", "10.0.99.2"   # addresses of the upper switch and of the lower one
DEVICE = "faulty:duplicate=0.01,reorder=0.01:afpacket:eth0"   # the switches lose packets, at all of their ports
# How a worker may end whose job begins again.
SAID = re.compile("session is over|cannot join|no progress within the hard limit|not started for")


def ip(name):
    return f"{SUBNET[HOSTS[name][1]]}.{10 + HOSTS[name][0]}"


def mac(name):
    return "02:00:00:00:10:%02x" % HOSTS[name][0]


def frame(src_mac, dst_mac, src, dst, value, job=JOB, tsi=0, slot=0):
    """A packet of SwitchML with 64 elements."""
    body = bytes([0x11, job]) + tsi.to_bytes(4, "big") + slot.to_bytes(2, "big") + b"\0\0" + value.to_bytes(4, "big") * 64
    port = UDP_PORT.to_bytes(2, "big")
    udp = port + port + (8 + len(body)).to_bytes(2, "big") + b"\0\0" + body
    head = b"\x45\0" + (20 + len(udp)).to_bytes(2, "big") + b"\0\0\0\0\x40\x11\0\0"
    head += bytes(map(int, src.split("."))) + bytes(map(int, dst.split(".")))
    total = sum(int.from_bytes(head[i:i + 2], "big") for i in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + (total ^ 0xFFFF).to_bytes(2, "big") + head[12:]
    return dst_mac.replace(":", "") + src_mac.replace(":", "") + "0800" + (head + udp).hex()


class Hostile(threading.Thread):
    """Sends from x, below the lower switch, what would be counted: partial sums to the upper switch as if from the lower
    one, sums to the lower one as if from the upper one, and parts of its workers."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.host, self.ended, self.sent = host, False, 0

    def run(self):
        chance = random.Random(3)
        while not self.ended:
            for _ in range(20):
                src, dst = chance.choice([(DOWN, UP), (UP, DOWN), (UP, SUBNET[1] + ".1"), (ip("b0"), SUBNET[1] + ".1"),
                                          (ip("b1"), UP)])
                self.host.ask("send", interface="eth0", frame=frame(
                    mac("x"), SWITCH_MAC[1], src, dst, chance.randrange(1 << 32), tsi=chance.randrange(1 << 32),
                    slot=chance.randrange(64) | chance.choice([0, 0x8000])))
                self.sent += 1
            time.sleep(0.02)


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Levels(unittest.TestCase):
    def setUp(self):
        self.ends = [f"sk{os.getpid():x}u{r}" for r in (0, 1)]
        run("ip", "link", "add", self.ends[0], "type", "veth", "peer", "name", self.ends[1])
        self.addCleanup(run, "ip", "link", "del", self.ends[0])
        for end in self.ends:
            run("ip", "link", "set", end, "addrgenmode", "none")
            run("ip", "link", "set", end, "up")
        self.labs, self.all, self.values = [], [], 0
        for rack in (0, 1):
            names = [n for n, (_, r) in HOSTS.items() if r == rack]
            own = [DOWN, UP][1 - rack]
            section = {"mac": SWITCH_MAC[rack],
                       "vlans": [{"vid": VLAN[rack], "addresses": [SUBNET[rack] + ".1/24"]},
                                 {"vid": 99, "addresses": [own + "/24"]}],
                       "links": [*({"name": n, "port": HOSTS[n][0], "access": VLAN[rack]} for n in names),
                                 {"name": "up" if rack else "down", "port": LINK_PORT, "access": 99}],
                       "neighbours": [{"vid": VLAN[rack], "address": ip(n), "mac": mac(n)} for n in names if n != "x"],
                       "state": "state/jobs.json"}
            lab = Lab({n: Host(HOSTS[n][0]) for n in names},
                      {"program": PROGRAM, "pipes": 3, "control_socket": "tor.sock", "tor": section,
                       "faults": {"loss": 0.01, "seed": rack + 1},
                       "ports": [{"port": LINK_PORT, "mtu": 1500,
                                  "device": f"net_af_packet{LINK_PORT},iface={self.ends[rack]}"}]})
            lab.__enter__()
            self.addCleanup(lab.__exit__)
            self.labs.append(lab)

    def ctl(self, rack, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.labs[rack].folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def add(self, rack, *more):
        link = ["--below", f"down:{DOWN}"] if rack == 0 else ["--above", f"up:{UP}"]
        return self.ctl(rack, "job", "add", "resnet", "--protocol", "switchml", "--workers",
                        ",".join(f"{n}:{ip(n)}" for n in RANKS if HOSTS[n][1] == rack), "--racks", "0,0,1,1", "--rack",
                        str(rack), *link, "--number", str(JOB), "--slots", "64", *more)

    def host(self, name):
        return self.labs[HOSTS[name][1]][name]

    def start(self, name, rounds, elements=8000, limit=60):
        rack = HOSTS[name][1]
        p = Process(self, self.host(name), "worker", "--rank", str(RANKS.index(name)), "--workers", "4", "--device", DEVICE,
                    "--mac", mac(name), "--ip", ip(name), "--switch-mac", SWITCH_MAC[rack], "--switch-ip", SUBNET[rack] + ".1",
                    "--job", str(JOB), "--pool", "64", "--packet", "64", "--elements", str(elements), "--rounds", str(rounds),
                    "--seed", str(self.values), "--rto-min", "20000", "--rto-max", "200000", "--limit", str(limit * 1000))
        p.name = name
        self.all.append(p)
        return p

    def said(self, p):
        return f"{p.name}: {''.join(p.said[-12:])}\n{self.ctl(0, 'job', 'list')}{self.ctl(1, 'job', 'list')}"

    def all_well(self, workers, rounds):
        for p in workers:
            self.assertEqual(p.end(PATIENCE), 0, self.said(p))
            p.reader.join(10)
            self.assertEqual(p.rounds, rounds, self.said(p))

    def nobody_was_wrong(self):
        for p in self.all:
            self.assertIsNone(re.search(r"element \d+ is", "".join(p.said)), p.name)

    def dropped(self, rack, reason):
        out = self.ctl(rack, "counter", "read", "pipe.Ingress.drops", str(reason))
        return int(re.search(r"packets +(\d+)", out).group(1))

    def end(self):
        for rack in (0, 1):
            self.assertEqual(self.labs[rack].stop(), 0, self.labs[rack].said)
            received, copies, sent, dropped = map(int, re.search(
                r"received (\d+) \+ copies (\d+) = sent (\d+) \+ dropped (\d+)", self.labs[rack].said).groups())
            self.assertEqual(received + copies, sent + dropped, self.labs[rack].said)

    def test_sums_of_two_racks(self):
        """Beside a hostile host, on links that lose packets; the job ends, is removed, and begins again."""
        hostile = Hostile(self.labs[1]["x"])
        hostile.start()
        for turn in range(2):
            for rack in (1, 0):
                self.add(rack)
            self.values += 1
            self.all_well([self.start(n, 3) for n in RANKS], 3)
            text = self.ctl(1, "job", "list")
            self.assertIn(f"switch above  {UP} at link up", text)
            self.assertIn("worker 2  10.0.20.12", text)
            self.assertIn(f"switch below  {DOWN} at link down", self.ctl(0, "job", "list"))
            # without being removed
            self.values += 1
            self.all_well([self.start(n, 3) for n in reversed(RANKS)], 3)
            for rack in (0, 1):
                self.ctl(rack, "job", "remove", "resnet")
            print(f"turn {turn}: {hostile.sent} hostile packets", flush=True)
        hostile.ended = True
        hostile.join()
        self.nobody_was_wrong()
        # all that was forged, and nothing else, was stopped by the switch that it came to
        self.assertGreater(hostile.sent, 20)
        self.assertEqual([self.dropped(0, r) for r in (13, 14)], [0, 0])
        self.assertGreater(self.dropped(1, 13), hostile.sent // 2)
        self.end()

    def restarted(self, workers):
        """All of them have ended, each with a sentence that says what to do."""
        for p in workers:
            self.assertNotEqual(p.end(PATIENCE), 0, self.said(p))
            p.reader.join(10)
            self.assertRegex("".join(p.said), SAID, p.name)

    def wait_for_rounds(self, workers, n):
        end = time.monotonic() + PATIENCE
        while any(p.rounds < n for p in workers):
            self.assertLess(time.monotonic(), end, "".join(self.said(p) for p in workers))
            self.assertEqual([p.name for p in workers if p.process.poll() is not None], [],
                             "".join(self.said(p) for p in workers))
            time.sleep(0.02)

    def test_begins_again(self):
        """Workers of either rack, and either switch, are killed in the middle. When the killed rack's workers are there
        again, the others are told; sums of the next session have nothing of the one before."""
        for rack in (0, 1):
            self.add(rack)
        for victim in ("b0", "a1", "lower", "upper"):
            self.values += 1
            first = [self.start(n, 100000, 4000, 20) for n in RANKS]
            self.wait_for_rounds(first, 3)
            self.values += 1
            again = []
            if victim in RANKS:
                rack = HOSTS[victim][1]
                first[RANKS.index(victim)].kill()
                again.append(self.start(victim, 3, 4000))
            else:
                rack = 1 if victim == "lower" else 0
                lab = self.labs[rack]
                lab.switch.send_signal(signal.SIGKILL)
                lab.switch.communicate(timeout=60)
                lab.start()
            for there in (rack, 1 - rack):
                others = [q for q in first if HOSTS[q.name][1] == there and q.name != victim]
                self.restarted(others)
                again += [self.start(q.name, 3, 4000) for q in others]
            self.all_well(again, 3)
            print(f"{victim}: all well again", flush=True)
            self.nobody_was_wrong()
        self.end()


if __name__ == "__main__":
    tally.main()
