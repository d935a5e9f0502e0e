#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""UDP segments at ports on the kernel's interfaces (af_packet/segment.h): the switch with them is the switch without them.

A job of p4/switchml is summed by workers that send segments and by workers that send packets: registers, counters, what
ports have received and sent, and sums are the same. Random bursts of a host's socket, some as segments, pass p4/l2 to a
host that gets them joined, cut by its kernel, or one by one, and sends them back: each datagram is what was sent, in its
order, and a host that has sent no segments gets none: a program that reads its interface sees packets, all with right
checksums or none."""
import json
import os
import random
import re
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..", "control", "tor"),
                os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

SWITCH_MAC, SWITCH_IP = "02:00:00:00:00:fe", "10.0.0.254"
WORKERS, POOL, GROUP = 3, 64, 100
SEED = int(os.environ.get("SEED", "1"))
# since Linux 6.2
SEGMENTS = tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 2)


def ctl(lab, *words):
    done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(lab.folder.name, "sw.sock"), *words], capture_output=True,
                          text=True, timeout=60, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


class Quiet(Host):
    """Of itself it sends nothing."""

    def make(self, name):
        super().make(name)
        subprocess.run(["ip", "netns", "exec", self.namespace, "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6"],
                       check=True)


# ---- a job ----

def job_configuration(hosts):
    entries = []
    for i, h in enumerate(hosts.values()):
        address = h.addresses[0].split("/")[0]
        entries += [{"table": "pipe.Ingress.admission.workers",
                     "key": {"hdr.switchml.job_number": 1, "hdr.ipv4.src_addr": address,
                             "ig_intr_md.ingress_port": h.port},
                     "action": "admit",
                     "args": {"worker_bit": 1 << i, "num_workers": WORKERS, "group": GROUP, "rid": h.port,
                              "port": h.port, "pool_base": 0, "pool_last": POOL - 1}},
                    {"table": "pipe.Egress.receivers", "key": {"md.rid": h.port},
                     "action": "address", "args": {"mac": h.mac, "ip": address, "udp_port": 0xbee0}}]
    return {"program": os.path.abspath("p4/switchml/switchml.p4"), "control_socket": "sw.sock", "entries": entries,
            "multicast": {"nodes": [{"id": h.port, "rid": h.port, "ports": [h.port]} for h in hosts.values()],
                          "groups": [{"id": GROUP, "nodes": [h.port for h in hosts.values()]}]}}


def worker(host, rank, *more):
    return subprocess.Popen(["ip", "netns", "exec", host.namespace, SILKEN, "worker", "--device", "udp:", "--switch-ip",
                             SWITCH_IP, "--job", "1", "--rank", str(rank), "--workers", str(WORKERS), "--pool", str(POOL),
                             "--packet", "256", "--elements", "100000", "--rounds", "4", "--seed", str(SEED), "--no-session",
                             "--rto-min", "10000000", "--rto-max", "10000000", *more],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


# ---- hosts with sockets ----

# What each end does: sends bursts of [size, count, joined] and gives back what comes, as lengths and checksums of
# datagrams in their order. 'cut': its socket gets segments as one.
PEER = r"""
import json, socket, struct, sys, time, zlib
def burst(i, size, count):
    return [bytes((i * 7 + k * 13 + n) % 256 for n in range(size)) for k in range(count)]
role, me, to, port = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
cut, bursts = sys.argv[5] == "cut", json.loads(sys.argv[6])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
s.bind((me, port))
if cut:
    s.setsockopt(17, 104, 1)
s.settimeout(20)
seen, large = [], 0
def receive(n):
    global large
    while len(seen) < n:
        data, control, _, whom = s.recvmsg(65536, 64)
        size = next((struct.unpack("i", d[:4])[0] for l, t, d in control if (l, t) == (17, 104)), 0) or len(data)
        large += size < len(data)
        seen.extend(data[k:k + size] for k in range(0, len(data), size))
def send(i):
    size, count, joined = bursts[i]
    parts = burst(i, size, count)
    if joined and count > 1:
        s.sendmsg([b"".join(parts)], [(17, 103, struct.pack("H", size))], 0, (to, port))
    else:
        for p in parts:
            s.sendto(p, (to, port))
print("here", flush=True)
sys.stdin.readline()
due = 0
for i, (size, count, joined) in enumerate(bursts):
    if role == "first":
        send(i)
        due += count
        receive(due)
    else:
        due += count
        receive(due)
        send(i)
print(json.dumps({"seen": [[len(d), zlib.crc32(d)] for d in seen], "large": large}))
"""

# Frames of UDP that come in at the interface, each with whether its checksum is right or 0; those that stand for several
# are as long as that.
WATCH = r"""
import json, socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
s.bind(("eth0", 0x0800))
print("here", flush=True)
lengths = []
s.settimeout(0.2)
import threading
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), over.set()), daemon=True).start()
while True:
    try:
        frame, address = s.recvfrom(65536)
    except socket.timeout:
        if over.is_set():
            break
        continue
    if address[2] != socket.PACKET_OUTGOING and frame[23] == 17:
        lengths.append(len(frame))
print(json.dumps(lengths))
"""


def python(host, program, *words):
    p = subprocess.Popen(["ip", "netns", "exec", host.namespace, sys.executable, "-c", program, *words],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if p.stdout.readline() != "here\n":
        raise RuntimeError("it does not begin")
    return p


def draw_bursts(draw, joined):
    """Sizes, counts, and whether they are to be segments."""
    found = []
    for _ in range(40):
        size = draw.choice([1, 17, 18, 100, 1034, 1400, 1472])
        found.append([size, draw.randint(1, min(60, 60000 // size)), joined and draw.random() < 0.8])
    return found


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class UdpSegments(unittest.TestCase):
    def job(self, *more):
        """The switch's state after a job in which no packet was sent again, with counts of its tables and ports; and what
        workers said."""
        for _ in range(5):
            hosts = {f"w{i}": Quiet(i + 1, [f"10.0.0.{i + 1}/24"], neighbours=[(SWITCH_IP, SWITCH_MAC)])
                     for i in range(WORKERS)}
            with Lab(hosts, job_configuration(hosts)) as lab:
                workers = [worker(h, i, *more) for i, h in enumerate(hosts.values())]
                said = [w.communicate(timeout=120)[0] for w in workers]
                for w, text in zip(workers, said):
                    self.assertEqual(w.returncode, 0, text)
                    self.assertIn("verified: 4 rounds", text)
                state = re.sub(r'"last_hit": \d+', "", ctl(lab, "state", "dump", "--whole")).splitlines()
                self.assertEqual(lab.stop(), 0, lab.said)
            if all(", 0 of them again" in text for text in said):
                return state, said
        self.fail("packets were sent again in each of five jobs: " + "".join(said))
        return None

    def test_job(self):
        whole, said = self.job()
        single, single_said = self.job("--no-segments")
        for text in said if SEGMENTS else []:
            self.assertRegex(text, r"as UDP segments: [1-9]\d* frames sent, [1-9]\d* received")
        self.assertNotIn("as UDP segments", "".join(single_said))
        self.assertGreater(len(whole), 4 * 2 * POOL)
        differences = [pair for pair in zip(whole, single) if pair[0] != pair[1]]
        self.assertEqual(differences[:3], [])
        self.assertEqual(len(whole), len(single))

    def exchange(self, lab, bursts, back, cut, port):
        """Bursts from the first host to the second and others back, one after the other. Returns what each end saw."""
        ends = [python(lab["a"], PEER, "first", "10.0.0.1", "10.0.0.2", str(port), "cut", json.dumps(bursts)),
                python(lab["b"], PEER, "second", "10.0.0.2", "10.0.0.1", str(port), cut, json.dumps(back))]
        watch = python(lab["b"], WATCH)
        for e in reversed(ends):
            e.stdin.write("\n")
            e.stdin.flush()
        seen = [json.loads(e.communicate(timeout=120)[0]) for e in ends]
        lengths = json.loads(watch.communicate("\n", timeout=60)[0])
        return seen, lengths

    def test_bursts(self):
        hosts = {"a": Quiet(1, ["10.0.0.1/24"]), "b": Quiet(2, ["10.0.0.2/24"])}
        entries = [{"table": "pipe.Ingress.forward.macs", "key": {"hdr.ethernet.dst_addr": h.mac}, "action": "to_port",
                    "args": {"port": h.port}} for h in hosts.values()]
        hosts["a"].neighbours = [("10.0.0.2", hosts["b"].mac)]
        hosts["b"].neighbours = [("10.0.0.1", hosts["a"].mac)]
        with Lab(hosts, {"program": os.path.abspath("p4/switchml/switchml.p4"), "control_socket": "sw.sock",
                         "entries": entries}) as lab:
            for turn in range(6):
                draw = random.Random(SEED * 100 + turn)
                both = turn % 2 == 0  # the second host sends segments, too, and so gets them
                bursts = draw_bursts(draw, True)
                back = [[draw.choice([64, 1034]), n, both and draw.random() < 0.8] for _, n, _ in bursts]
                for b, there in zip(back, bursts):
                    b[1] = there[1] = min(b[1], 60000 // b[0])
                seen, lengths = self.exchange(lab, bursts, back, "cut" if turn < 4 else "uncut", 7000 + turn)
                with self.subTest(turn=turn, seed=SEED):
                    for got, sent in ((seen[1], bursts), (seen[0], back)):
                        self.assertEqual([d[0] for d in got["seen"]], [size for size, n, _ in sent for _ in range(n)])
                    again, _ = self.exchange(lab, [[s, n, False] for s, n, _ in bursts],
                                             [[s, n, False] for s, n, _ in back], "cut", 8000)
                    self.assertEqual(seen[0]["seen"], again[0]["seen"])
                    self.assertEqual(seen[1]["seen"], again[1]["seen"])
                    if not both:  # packets alone come in at its interface
                        self.assertEqual(seen[1]["large"], 0)
                        self.assertLessEqual(max(lengths), 14 + 1500)
                        self.assertEqual(len(lengths), sum(n for _, n, _ in bursts))
                    elif SEGMENTS and turn < 4:
                        self.assertGreater(seen[1]["large"], 0)
            self.assertEqual(lab.stop(), 0, lab.said)
            received, copies, sent, dropped = map(int, re.search(
                r"received (\d+) \+ copies (\d+) = sent (\d+) \+ dropped (\d+)", lab.said).groups())
            self.assertEqual(received + copies, sent + dropped)


if __name__ == "__main__":
    tally.main()
