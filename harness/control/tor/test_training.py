#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Training jobs of both protocols in a running ToR (p4/rack), beside TCP at full load and all the while:

- a hostile host that forges, repeats and invents aggregation packets;
- a host that sends from ever new MAC addresses, and from addresses that met in one bucket of the tables before their
  hash had a secret;
- a memif peer that misbehaves in its shared memory.

SECONDS_TO_RUN (25; `make soak-tor`: 600) long: the workers check every element of every sum, and every packet is
accounted for. FLOOD_RATE (2000; `make soak-tor`: 0, as fast as it can) is that of new addresses a second, since a
machine of two processors does nothing else at full speed. With LONGEST_PAUSE (`make soak-tor`: 0.001) no pause of the
pipes may take more processor time of the control thread, in seconds; `make test` prints it and does not check it.

The attacks come by turns: TURN seconds of them, then as long as many frames a second from one known address, so that
TCP's rates in both can be compared. With TCP_RATIO (`make soak-tor`: 0.8) the median beside attacks must be at least so
much of the other one."""
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "pipeline", "ports")]
import tally  # noqa: E402
from hostile_peer import Peer  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

SECONDS = float(os.environ.get("SECONDS_TO_RUN", "25"))
FLOOD_RATE = os.environ.get("FLOOD_RATE", "2000")
LONGEST_PAUSE = os.environ.get("LONGEST_PAUSE")
TCP_RATIO = os.environ.get("TCP_RATIO")
TURN = 10
ROUTER_MAC, ROUTER = "02:00:00:00:ff:01", "10.0.10.1"
# name: port. s0, s1: SwitchML; a0, a1, ps: ATP; t0, t1: TCP; x, f: hostile
NAMES = ["s0", "s1", "a0", "a1", "ps", "t0", "t1", "x", "f"]
MEMIF_PORT = len(NAMES)
SWITCHML_PORT, ATP_PORT = 0xBEE0, 0xA790


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


def mac(name):
    return "02:00:00:00:10:%02x" % NAMES.index(name)


def in_host(host, *words):
    return ["ip", "netns", "exec", host.namespace, *words]


class Hostile(threading.Thread):
    """Sends from x: packets of both protocols in the name of workers, of the server and of the switch."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.host, self.ended, self.sent, self.random = host, False, 0, random.Random(1)
        self.resting = False

    def frame(self):
        r = self.random
        source, target = r.choice(NAMES), r.choice(NAMES + ["router"])
        to_mac = ROUTER_MAC if target == "router" else r.choice([mac(target), ROUTER_MAC, "01:00:5e:40:00:01"])
        to_ip = ROUTER if target == "router" else r.choice([ip(target), "239.192.0.1", ROUTER])
        switchml = r.random() < 0.5
        if switchml:
            elements = r.choice([32, 64, 64, 128, 256])
            body = bytes([0x10 | {32: 0, 64: 1, 128: 2, 256: 3}[elements], r.randrange(3)]) + r.randbytes(4)
            body += (r.randrange(64) | r.choice([0, 0x8000])).to_bytes(2, "big") + r.randbytes(2) + r.randbytes(4 * elements)
            port = SWITCHML_PORT + r.choice([0, 0, 1, 15])
        else:
            body = (1 << r.randrange(2)).to_bytes(4, "big") + r.randrange(2).to_bytes(4, "big")
            body += r.randbytes(2) + r.randrange(4096).to_bytes(2, "big") + bytes([1]) + r.randrange(5000).to_bytes(3, "big")
            body += r.randbytes(248)
            port = ATP_PORT
        if r.random() < 0.1:
            body = body[:r.randrange(len(body))]
        udp = port.to_bytes(2, "big") + port.to_bytes(2, "big") + (8 + len(body)).to_bytes(2, "big") + b"\0\0" + body
        head = b"\x45\0" + (20 + len(udp)).to_bytes(2, "big") + b"\0\0\0\0\x40\x11\0\0"
        head += bytes(map(int, ip(source).split("."))) + bytes(map(int, to_ip.split(".")))
        total = sum(int.from_bytes(head[i:i + 2], "big") for i in range(0, 20, 2))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        head = head[:10] + (total ^ 0xFFFF).to_bytes(2, "big") + head[12:]
        own = r.choice([mac("x"), mac("x"), mac(source)])
        return to_mac.replace(":", "") + own.replace(":", "") + "0800" + (head + udp).hex()

    def run(self):
        while not self.ended:
            burst = [self.frame() for _ in range(50)]
            for f in [] if self.resting else burst + burst[:10]:  # some twice
                self.host.ask("send", interface="eth0", frame=f)
                self.sent += 1
            time.sleep(0.01)


class HostilePeer(threading.Thread):
    """A memif peer at 'path' that begins again and again: every fourth time with memory that can shrink, else
    with nonsense in its rings."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.resting = False
        self.path, self.ended, self.turns, self.connected, self.random = path, False, 0, 0, random.Random(28)

    def turn(self):
        peer = Peer(self.path, sealed=self.turns % 4 != 0)
        try:
            self.turns += 1
            self.connected += peer.connect()[0] == 7
            peer.nonsense(self.random)
            time.sleep(0.02)
            if self.turns % 4 == 0:
                os.ftruncate(peer.memory, 0)
        except OSError:  # the switch was first: it closed the connection, or the memory is sealed
            pass
        finally:
            peer.close()

    def run(self):
        while not self.ended:
            try:
                if not self.resting:
                    self.turn()
            except OSError:
                pass
            time.sleep(0.05)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.metrics_port = free_port()
        # hosts and pipes share one processor, and the control thread has the other: the kernel counts what it receives
        # from a veth, two milliseconds at a time, as time of the thread that it interrupts
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, processors[-1:])
        hosts = {n: Host(i, [f"{ip(n)}/24"] if n[0] == "t" else []) for i, n in enumerate(NAMES)}
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}],
                   "links": [{"name": n, "port": i, "access": 10, "learn": n in "xfm"}
                             for i, n in enumerate([*NAMES, "m"])],
                   # or the hostile host would draw others' frames to itself by sending with their addresses
                   "macs": [{"vid": 10, "mac": mac(n), "link": n} for n in NAMES if n not in "xf"],
                   "neighbours": [{"vid": 10, "address": ip(n), "mac": mac(n)} for n in NAMES if n[0] not in "txf"]}
        cls.lab = Lab(hosts, {"program": os.path.abspath("p4/rack/rack.p4"), "pipes": 3, "control_socket": "tor.sock",
                              "metrics": {"listen": f"127.0.0.1:{cls.metrics_port}"},
                              "ports": [{"port": MEMIF_PORT, "device": f"net_memif{MEMIF_PORT},role=server,"
                                         "socket=@folder/m.sock,socket-abstract=no"}],
                              "tor": section})
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        os.sched_setaffinity(cls.control_thread(), processors[:1])

    @classmethod
    def control_thread(cls):
        """Its number; it has its name soon after the switch is ready."""
        threads = f"/proc/{cls.lab.switch.pid}/task"
        for _ in range(1000):
            for thread in os.listdir(threads):
                with open(f"{threads}/{thread}/comm", encoding="ascii") as f:
                    if f.read() == "control\n":
                        return int(thread)
            time.sleep(0.01)
        raise AssertionError("no thread is called control")

    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=60) as page:
            lines = page.read().decode().splitlines()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line[0] != "#"}

    def flood(self, kind, rate, turn):
        return subprocess.Popen(in_host(self.lab["f"], sys.executable, os.path.join(HERE, "flood.py"), "eth0",
                                        ROUTER_MAC, kind, rate, str(turn)), stdout=subprocess.PIPE, text=True)

    def tcp_beside(self, floods, seconds):
        """Bits a second of TCP while they run, and how many frames each sent."""
        try:
            for p in floods:
                self.assertEqual(p.stdout.readline(), "begins\n")
            tcp = subprocess.run(in_host(self.lab["t0"], "iperf3", "-J", "-c", ip("t1"), "-t", str(seconds)),
                                 stdout=subprocess.PIPE, text=True, timeout=seconds + 60, check=True)
        finally:
            for p in floods:
                p.terminate()
        sent = [int(p.communicate(timeout=30)[0].split()[-1]) for p in floods]
        return json.loads(tcp.stdout)["end"]["sum_received"]["bits_per_second"], sent

    def turns(self, end, hostile, peer):
        """Attacks, and as many frames that do no harm, until the time is over: TCP's bits a second in the turns of
        each, and how many frames of new and of colliding addresses were sent."""
        attacked, harmless, flooded = [], [], [0, 0]
        seconds = max(2, min(TURN, int(SECONDS / 5)))
        while not harmless or time.monotonic() + seconds < end:
            hostile.resting = peer.resting = False
            rate, sent = self.tcp_beside([self.flood("new", FLOOD_RATE, len(attacked)),
                                          self.flood("colliding", "1000", 0)], seconds)
            attacked.append(rate)
            flooded = [a + b for a, b in zip(flooded, sent)]
            hostile.resting = peer.resting = True
            harmless.append(self.tcp_beside([self.flood("known", str(n / seconds), 0) for n in sent], seconds)[0])
        return attacked, harmless, flooded

    def limited(self, name):
        """How many addresses of the link were refused or removed, how many it has."""
        link = next(l for l in json.loads(self.ctl("--json", "links")) if l["link"] == name)
        return link["limited"]["addresses"], link["addresses"]

    def start(self, name, *words):
        return subprocess.Popen(in_host(self.lab[name], SILKEN, *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def atp_job(self):
        admitted = json.loads(self.ctl("--json", "job", "add", "bert", "--protocol", "atp", "--workers",
                                       f"a0:{ip('a0')},a1:{ip('a1')}", "--server", f"ps:{ip('ps')}",
                                       "--aggregators", "2048"))
        path = os.path.join(self.lab.folder.name, "job.json")
        group = admitted["group"]
        parts = list(map(int, group.split(".")))
        with open(path, "w", encoding="ascii") as f:
            json.dump({"job": admitted["number"], "type": "f32", "first_index": admitted["first_aggregator"], "indices": 2048,
                       "window_max": 256, "window": 128,
                       "workers": [{"rack": 0, "lanes": [{"mac": mac(n), "ip": ip(n)}]} for n in ("a0", "a1")],
                       "servers": [{"rack": 0, "lanes": [{"mac": mac("ps"), "ip": ip("ps")}]}],
                       "groups": [{"mac": "01:00:5e:%02x:%02x:%02x" % (parts[1] & 127, parts[2], parts[3]), "ip": group}],
                       "switches": [{"rack": 0, "mac": ROUTER_MAC, "ip": ROUTER}]}, f)
        return path

    def rounds(self, end, name, start):
        """Jobs of some rounds after each other until the time is over, each admitted and removed; how many workers
        ended well, and badly."""
        good, bad, said = 0, 0, ""
        while time.monotonic() < end and not bad:
            workers, server = start()
            for p in workers:
                out = p.communicate(timeout=120)[0]
                good, bad = good + (p.returncode == 0), bad + (p.returncode != 0)
                said += out if p.returncode else ""
            if server:
                server.send_signal(signal.SIGINT)
                said += server.communicate(timeout=20)[0]
            self.ctl("job", "remove", name)
        return good, bad, said

    def test_jobs_beside_tcp_and_a_hostile_host(self):
        timers = ("--rto-min", "20000", "--rto-max", "200000")

        def switchml():
            self.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers", f"s0:{ip('s0')},s1:{ip('s1')}",
                     "--slots", "64", "--number", "1")
            return [self.start(f"s{r}", "worker", "--rank", str(r), "--workers", "2", "--device", "afpacket:eth0",
                               "--mac", mac(f"s{r}"), "--ip", ip(f"s{r}"), "--switch-mac", ROUTER_MAC, "--switch-ip",
                               ROUTER, "--job", "1", "--pool", "64", "--packet", "64", "--elements", "200000",
                               "--rounds", "3", *timers) for r in (0, 1)], None

        def atp():
            job_file = self.atp_job()
            server = self.start("ps", "server", "--job-file", job_file, "--number", "0", "--device", "afpacket:eth0")
            for line in server.stdout:
                if line.strip() == "ready":
                    break
            return [self.start(f"a{r}", "worker", "--protocol", "atp", "--job-file", job_file, "--rank", str(r),
                               "--device", "afpacket:eth0", "--elements", "100000", "--rounds", "2", *timers)
                    for r in (0, 1)], server

        hostile = Hostile(self.lab["x"])
        tcp_server = subprocess.Popen(in_host(self.lab["t1"], "iperf3", "-s"), stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        hostile.start()
        peer = HostilePeer(os.path.join(self.lab.folder.name, "m.sock"))
        peer.start()
        results, end = {}, time.monotonic() + SECONDS
        threads = [threading.Thread(target=lambda n=n, f=f: results.update({n: self.rounds(end, n, f)}))
                   for n, f in (("resnet", switchml), ("bert", atp))]
        for t in threads:
            t.start()
        try:
            attacked, harmless, flooded = self.turns(end, hostile, peer)
        finally:
            tcp_server.terminate()
            tcp_server.wait(20)
        for t in threads:
            t.join(SECONDS + 240)
        hostile.ended = peer.ended = True
        hostile.join(10)
        peer.join(30)
        carried, beside = statistics.median(attacked), statistics.median(harmless)
        drops = self.ctl("counter", "read", "pipe.Ingress.drops")
        numbers, (limited, learned) = self.metrics(), self.limited("f")
        wall, cpu = (numbers[f"silken_longest_pause_{kind}seconds"] for kind in ("", "cpu_"))
        self.assertEqual(self.lab.stop(), 0, self.lab.said)
        print(f"\n{SECONDS:.0f} s: SwitchML {results['resnet'][0]} workers, ATP {results['bert'][0]} workers, all verified; "
              f"TCP {carried / 1e6:.0f} Mbit/s beside attacks, {beside / 1e6:.0f} beside as many harmless frames "
              f"({carried / beside:.2f}, medians of {len(attacked)} turns); {hostile.sent} hostile packets; {flooded[0]} from new addresses, "
              f"{flooded[1]} from colliding ones, {learned} known, {limited} limited; memif peer {peer.turns} times, "
              f"{peer.connected} connected; {numbers['silken_pauses_total']:.0f} pauses, the longest {cpu * 1e3:.3f} ms of "
              f"processor time, {wall * 1e3:.3f} ms by the clock")
        for name, (good, bad, said) in results.items():
            self.assertEqual(bad, 0, f"{name}: {said}\n{drops}")
            self.assertGreater(good, 0, name)
        self.assertGreater(carried, 1e6)
        self.assertGreater(hostile.sent, 100)
        self.assertGreater(flooded[0], 1000)
        self.assertGreater(flooded[1], 100)
        self.assertGreater(peer.turns, 10)
        self.assertGreater(peer.connected, 0)
        self.assertLessEqual(learned, 8192)
        received, copies, sent, dropped = map(int, re.search(
            r"received (\d+) \+ copies (\d+) = sent (\d+) \+ dropped (\d+)", self.lab.said).groups())
        self.assertEqual(received + copies, sent + dropped)
        if LONGEST_PAUSE:
            self.assertLess(cpu, float(LONGEST_PAUSE), "the longest pause, in seconds of processor time")
        if TCP_RATIO:
            self.assertGreater(carried / beside, float(TCP_RATIO), "TCP's rate beside attacks, to that beside harmless frames")


if __name__ == "__main__":
    tally.main()
