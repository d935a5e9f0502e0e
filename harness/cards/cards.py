#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Network cards by vfio-pci: `silken run` in a virtual machine with two cards of QEMU's behind its IOMMU, `make cards`. What
docs/operator.md says about cards is run there; then p4/l2 between the cards, with several queues, links that go down, long
frames and a flood, all packets accounted for; then a job of p4/switchml, whose workers check each sum. The
machine is emulated: 5 minutes at a load of 9 to 16 on two processors (14 at another time), so it is not part of `make test`. CARDS=e1000,e1000e
tries other cards; QEMU's vmxnet3 does not pass: frames with a tag of a VLAN leave it mangled."""
import hashlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
import machine  # noqa: E402
import tally  # noqa: E402
from machine import Card, Machine, Network  # noqa: E402

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
SILKEN = os.path.join(BUILD, "silken")
KINDS = os.environ.get("CARDS", "e1000e,virtio-net-pci").split(",")
QUEUES = {"virtio-net-pci": 4}
DRIVERS = {"e1000e": "net_e1000_em", "e1000": "net_e1000_em", "virtio-net-pci": "net_virtio", "vmxnet3": "net_vmxnet3"}
PAGE = "docs/operator.md"
SWITCH_MAC, SWITCH_IP = "02:00:00:00:00:fe", "10.0.40.254"
SLOTS = 32
L2, SWITCHML = os.path.abspath("p4/l2/l2.p4"), os.path.abspath("p4/switchml/switchml.p4")
CACHE, CC = os.path.join(BUILD, "cards", "cache"), os.path.abspath("harness/cards/cc.sh")
FLOOD = 10000  # frames
TYPE = 0x9000  # of our own frames

world = None  # the machine and its hosts


def page_blocks():
    """(commands, what they print) of the page's blocks about cards."""
    with open(PAGE) as f:
        text = f.read()
    found = re.findall(r"^```sh\n# by hand: on a machine with cards\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.M | re.S)
    return found


class World:
    def __init__(self):
        folder = os.path.join(BUILD, "cards")
        kernel = os.path.join(BUILD, "guests")
        machine.image(kernel, folder, ["e1000e", "e1000", "virtio_net", "vmxnet3"])
        self.network = Network([Card(k, QUEUES.get(k, 1)) for k in KINDS])
        self.network.__enter__()
        try:
            self.machine = Machine(self.network.cards, kernel, folder)
            self.machine.__enter__()
        except BaseException:
            self.network.__exit__()
            raise
        self.hosts, self.cards = self.network.hosts, self.network.cards
        self.do(f"export SILKEN_CACHE={CACHE} CC={CC}")
        for program in (L2, SWITCHML):
            self.compile(program)

    def close(self):
        self.machine.__exit__()
        self.network.__exit__()

    def compile(self, program):
        """Into the cache, as the machine would: its processor is part of what an object is kept by."""
        cpuinfo = os.path.join(BUILD, "cards", "cpuinfo")
        with open(cpuinfo, "w") as f:
            f.write(self.do("cat /proc/cpuinfo").replace("\r", ""))
        os.makedirs(CACHE, 0o700, exist_ok=True)
        subprocess.run(["unshare", "-m", "sh", "-c", 'mount --bind "$1" /proc/cpuinfo; exec "$2" build "$3"', "sh", cpuinfo, SILKEN,
                        program], check=True, env={**os.environ, "CC": CC, "SILKEN_CACHE": CACHE})

    def do(self, command, seconds=120):
        return self.machine.do(command, seconds=seconds)

    def ask(self, *words):
        return json.loads(self.do(f"{SILKEN} ctl -s /run/s.sock --json {' '.join(words)}"))

    def ports(self):
        return {p["port"]: p for p in self.ask("port")["ports"]}

    def end(self):
        """The switch, if it runs: it has ended where all went well."""
        self.do("if [ -e /run/pid ]; then kill -9 $(cat /run/pid) 2>/dev/null; rm -f /run/pid /run/s.sock; sleep 1; fi; true")

    def start(self, config):
        self.configure(config)
        self.do(f"{SILKEN} run -c /run/c.json >/run/log 2>&1 & echo $! >/run/pid")
        self.do("until grep -q ^ready /run/log; do kill -0 $(cat /run/pid) || break; sleep 0.5; done", seconds=900)
        said = self.do("cat /run/log")
        if "\nready" not in said:
            raise AssertionError(said)
        return said

    def settle(self):
        """Until all links are up and stay so: a card that was opened agrees on its speed anew."""
        up = 0
        end = time.monotonic() + 120
        while up < 3:
            if time.monotonic() > end:
                raise TimeoutError(f"links do not stay up: {self.ports()}")
            up = up + 1 if all(p["link"] and p["up"] for p in self.ports().values()) else 0
            time.sleep(0.5)

    def configure(self, config):
        self.machine.write("/run/c.json", json.dumps({"control_socket": "/run/s.sock", **config}))

    def stop(self):
        """The account that it gives at its end, as numbers by name."""
        self.do("kill $(cat /run/pid); while kill -0 $(cat /run/pid) 2>/dev/null; do sleep 0.2; done; rm /run/pid")
        said = self.do("cat /run/log")
        found = re.search(r"^received (\d+)(?: \+ copies (\d+))?(?: \+ generated (\d+))? = sent (\d+) \+ dropped (\d+)(.*)$", said, re.M)
        if not found:
            raise AssertionError(said)
        received, copies, generated, sent, dropped = (int(n or 0) for n in found.groups()[:5])
        return received, copies + generated, sent, dropped, said


def setUpModule():
    global world
    if os.geteuid() != 0:
        raise unittest.SkipTest("network namespaces need root")
    if not shutil.which(machine.vm.QEMU) or not os.path.exists("/dev/net/tun"):
        raise unittest.SkipTest("there is no QEMU, or no /dev/net/tun")
    world = World()


def tearDownModule():
    if world:
        world.close()


def frame(to, whom, number=0, length=60):
    return (bytes.fromhex((to + whom).replace(":", "")) + TYPE.to_bytes(2, "big") + number.to_bytes(4, "big")).ljust(length, b"\0")


def receive(wire, n, seconds):
    """So many frames of ours, or those that come in time."""
    got, end = [], time.monotonic() + seconds
    while len(got) < n and time.monotonic() < end:
        wire.settimeout(max(0.01, end - time.monotonic()))
        try:
            data = wire.recv(65536)
        except (TimeoutError, socket.timeout):
            break
        if data[12:14] in (TYPE.to_bytes(2, "big"), b"\x81\x00", b"\x08\x00"):
            got.append(data)
    return got


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def datagram(sender, to, port, udp_checksum):
    """A frame with a datagram whose checksum is this, right or wrong."""
    ip = bytearray(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + 8 + 20, 1, 0, 64, 17, 0, socket.inet_aton(sender.address),
                               socket.inet_aton(to.address)))
    ip[10:12] = checksum(bytes(ip)).to_bytes(2, "big")
    return (bytes.fromhex((to.mac + sender.mac).replace(":", "")) + b"\x08\x00" + bytes(ip)
            + struct.pack("!HHHH", port, 7, 28, udp_checksum) + bytes(range(20)))


def configuration(mtu=None):
    ports = [{"port": n, "device": c.address(), "name": f"card{n}", **({"queues": c.queues} if c.queues > 1 else {}),
              **({"mtu": mtu} if mtu else {})} for n, c in enumerate(world.cards)]
    return {"program": L2, "ports": ports, "telemetry": True,
            "entries": [{"table": "forward", "key": {"dst_addr": h.mac}, "action": "send", "args": {"port": h.number}}
                        for h in world.hosts],
            "multicast": {"nodes": [{"id": n + 1, "rid": 0, "ports": [n]} for n in range(2)],
                          "groups": [{"id": 1, "nodes": [{"node": n + 1, "xid": n} for n in range(2)]}]}}


class A_Page(unittest.TestCase):
    def test_what_it_says(self):
        blocks = page_blocks()
        self.assertEqual(len(blocks), 3)
        for commands, shown in blocks[:2]:
            said = world.machine.block(commands)
            if KINDS == ["e1000e", "virtio-net-pci"]:
                self.assertEqual(re.sub(r"group \d+", "group N", said.replace("\r", "").strip()),
                                 re.sub(r"group \d+", "group N", shown.strip()))
        for c in world.cards:
            self.assertIn("vfio-pci", world.do(f"readlink /sys/bus/pci/devices/{c.address()}/driver"))
        # again is no mistake
        world.do("sh /etc/silken/cards.sh")


class B_L2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.said = world.start(configuration())
        world.settle()

    @classmethod
    def tearDownClass(cls):
        world.end()

    def pings(self, *words):
        said = world.hosts[0].run("ping", "-c", "5", "-i", "0.2", "-W", "5", *words, world.hosts[1].address, check=False)
        self.assertIn(" 5 received", said)

    def test_a_drivers_and_memory(self):
        for n, p in world.ports().items():
            self.assertEqual((p["device_state"]["driver"], p["link"], p["device_state"]["mtu"], p["device_state"]["queues"]),
                             (DRIVERS[KINDS[n]], True, 1500, world.cards[n].queues), p)
        # hugepages, and the IOMMU, not physical addresses
        self.assertLess(int(world.do("grep HugePages_Free /proc/meminfo").split()[1]), 256)

    def test_b_ping(self):
        self.pings()

    def stream(self, a, b, size):
        """TCP from one host's kernel to the other's, which look at each checksum."""
        data = os.urandom(size)
        with b.inside():
            listener = socket.create_server((b.address, 5001))
        with a.inside():
            sender = socket.socket()
        got = hashlib.sha256()

        def take():
            s, _ = listener.accept()
            s.settimeout(120)
            while part := s.recv(65536):
                got.update(part)
            s.close()
        thread = threading.Thread(target=take)
        thread.start()
        sender.settimeout(120)
        sender.connect((b.address, 5001))
        sender.sendall(data)
        sender.close()
        thread.join(180)
        listener.close()
        self.assertEqual(got.digest(), hashlib.sha256(data).digest())

    def test_c_tcp(self):
        a, b = world.hosts
        self.stream(a, b, 1 << 20)
        self.stream(b, a, 1 << 20)

    def test_d_checksums_stay(self):
        for a, b in (world.hosts, world.hosts[::-1]):
            with a.wire() as out, b.wire() as into:
                for value in (0, 0x1234, 0xFFFF): # none, and wrong
                    sent = datagram(a, b, 1000 + value % 7, value)
                    out.send(sent)
                    self.assertEqual(receive(into, 1, 20), [sent])

    def test_e_frames_of_all_lengths(self):
        for a, b in (world.hosts, world.hosts[::-1]):
            with a.wire() as out, b.wire() as into:
                for length in (14, 59, 60, 61, 128, 1500, 1513, 1514):
                    sent = frame(b.mac, a.mac, length, max(length, 18))
                    out.send(sent)
                    got = receive(into, 1, 20)
                    self.assertEqual([g[:len(sent)] for g in got], [sent])
                    self.assertFalse(got[0][len(sent):].strip(b"\0")) # what the card has added to a short one
                # a tag, which the host's kernel takes out, makes it longer
                plain = frame(b.mac, a.mac, 5, 1514)
                into.setsockopt(263, 8, 1)  # PACKET_AUXDATA
                out.send(plain[:12] + b"\x81\x00\x00\x05" + plain[12:])
                into.settimeout(20)
                data, more, _, _ = into.recvmsg(65536, 64)
                tag = struct.unpack("IIIHHHH", more[0][2])[5]
                self.assertEqual((data, tag), (plain, 5))

    def test_f_queues(self):
        several = [n for n, c in enumerate(world.cards) if c.queues > 1]
        if not several:
            self.skipTest("no card has several")
        n = several[0]
        a, b = world.hosts[n], world.hosts[1 - n]
        before = self.received_by_queue(n)
        with a.wire() as out, b.wire() as into:
            for i in range(200):
                out.send(datagram(a, b, 2000 + i, 0))
                if i % 20 == 19:
                    self.assertEqual(len(receive(into, 20, 20)), 20)
        more = [y - x for x, y in zip(before, self.received_by_queue(n))]
        self.assertEqual(len(more), world.cards[n].queues)
        self.assertGreaterEqual(sum(more), 200)
        self.assertGreater(min(more), 10)

    def received_by_queue(self, n):
        """As DPDK has it, by its telemetry."""
        path = re.search(r"telemetry (\S+)", self.said)[1]
        program = ("import json,socket\ns=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET)\n"
                   f"s.connect('{path}')\ns.recv(1024)\n"
                   "def ask(w):\n s.send(w.encode())\n return json.loads(s.recv(65536))[w.split(',')[0]]\n"
                   "for i in ask('/ethdev/list'):\n"
                   f" if ask('/ethdev/info,%d'%i)['name']=='{world.cards[n].address()}':\n"
                   "  print(json.dumps(ask('/ethdev/stats,%d'%i)['q_ipackets']))\n")
        world.machine.write("/run/queues.py", program)
        return json.loads(world.do("/usr/bin/python3 /run/queues.py"))[:world.cards[n].queues]

    def test_g_links(self):
        def link(n, up):
            return lambda: world.ports()[n]["link"] is up and world.ports()[n]["up"] is up
        for n in range(2):
            self.addCleanup(world.machine.cable, n, True)
            world.machine.cable(n, False)
            world.machine.until_true(link(n, False), 60, "the link stays up")
            self.assertTrue(world.ports()[1 - n]["up"])
            said = world.hosts[0].run("ping", "-c", "2", "-i", "0.2", "-W", "1", world.hosts[1].address, check=False)
            self.assertIn(" 0 received", said)
            world.machine.cable(n, True)
            world.machine.until_true(link(n, True), 60, "the link stays down")
            world.settle()
            self.pings()

    def quiet_counts(self):
        """Ports' and hosts', once nothing moves."""
        last = None
        while True:
            now = ({n: (p["rx_packets"], p["device_state"]["missed"], p["device_state"]["rx_errors"], p["tx_packets"],
                        p["device_state"]["tx_errors"]) for n, p in world.ports().items()}, [h.counts() for h in world.hosts])
            if now == last:
                return now
            last = now
            time.sleep(1)

    def test_h_a_flood(self):
        """Each frame that a host gave to a card was received by the switch or counted as missed; each that was sent arrived."""
        for a, b in (world.hosts, world.hosts[::-1]):
            before, hosts_before = self.quiet_counts()
            # QEMU 7.2, which spreads flows in software, forgets a queue once it was full: a card with several gets what
            # there is room for
            burst = FLOOD if world.cards[a.number].queues == 1 else 200
            with a.wire() as out:
                for i in range(0, FLOOD, burst):
                    for k in range(i, i + burst):
                        try:
                            out.send(frame(b.mac, a.mac, k), socket.MSG_DONTWAIT)
                        except BlockingIOError:
                            time.sleep(0.001)
                    if burst < FLOOD:
                        world.machine.until_true(lambda n=i + burst, a=a, b=b, h=hosts_before:
                                                 b.counts()[2] - h[b.number][2] >= n, 60, "a burst does not arrive")
            after, hosts_after = self.quiet_counts()

            def more(n, i, before=before, after=after):
                return after[n][i] - before[n][i]
            given = hosts_after[a.number][0] - hosts_before[a.number][0]
            arrived = hosts_after[b.number][2] - hosts_before[b.number][2]
            print(f"{KINDS[a.number]} to {KINDS[b.number]}: {given} given, {more(a.number, 0)} received, {more(a.number, 1)} missed, "
                  f"{more(a.number, 2)} errors; {more(b.number, 3)} sent, {more(b.number, 4)} errors, {arrived} arrived")
            self.assertGreater(given, 1000)
            self.assertEqual(given, more(a.number, 0) + more(a.number, 1))
            self.assertEqual(arrived, more(b.number, 3))

    def test_i_long_frames(self):
        """Too long for an MTU of 1500, and in place with 9000, which closes the cards and opens them again."""
        for h in world.hosts:
            h.ip("link", "set", "eth0", "mtu", "9000")
        for a, b in (world.hosts, world.hosts[::-1]):
            before = world.ask("stats")
            with a.wire() as out, b.wire() as into:
                out.send(frame(b.mac, a.mac, 1, 3000))
                self.assertEqual(receive(into, 1, 3), [])
                out.send(frame(b.mac, a.mac, 2))
                self.assertEqual(len(receive(into, 1, 20)), 1)
            after = world.ask("stats")
            # the switch drops what the card has let in
            more = {k: v - before["drops"].get(k, 0) for k, v in after["drops"].items() if v != before["drops"].get(k, 0)}
            print(f"3,000 bytes from {KINDS[a.number]}: {more or 'the card has let nothing in'}")
        world.configure(configuration(9000))
        world.do(f"{SILKEN} ctl -s /run/s.sock reload")
        for n, p in world.ports().items():
            self.assertEqual(p["device_state"]["mtu"], 9000)
        world.settle()
        self.pings("-s", "8972", "-M", "do")
        a, b = world.hosts
        self.stream(a, b, 1 << 20)
        self.stream(b, a, 1 << 20)

    def test_j_account(self):
        stats = world.ask("stats")
        received, made, sent, dropped, _ = world.stop()
        self.assertEqual(received + made, sent + dropped, stats)
        self.assertGreater(received, 2000)


class C_Job(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        world.end()

    def test_sums(self):
        hosts = world.hosts
        entries = []
        for h in hosts:
            h.ip("link", "set", "eth0", "mtu", "1500")
            h.ip("neighbour", "replace", SWITCH_IP, "lladdr", SWITCH_MAC, "dev", "eth0")
            entries += [{"table": "pipe.Ingress.admission.workers",
                         "key": {"hdr.switchml.job_number": 1, "hdr.ipv4.src_addr": h.address, "ig_intr_md.ingress_port": h.number},
                         "action": "admit", "args": {"worker_bit": 1 << h.number, "num_workers": 2, "group": 100,
                                                     "rid": h.number + 1, "port": h.number, "pool_base": 0, "pool_last": SLOTS - 1}},
                        {"table": "pipe.Egress.receivers", "key": {"md.rid": h.number + 1}, "action": "address",
                         "args": {"mac": h.mac, "ip": h.address, "udp_port": 0xBEE0}}]
        world.start({**configuration(), "program": SWITCHML, "entries": entries, "telemetry": False,
                     "sessions": {"mac": SWITCH_MAC, "ip": SWITCH_IP},
                     "multicast": {"nodes": [{"id": n + 1, "rid": n + 1, "ports": [n]} for n in range(2)],
                                   "groups": [{"id": 100, "nodes": [1, 2]}]}})
        world.settle()
        for device in ("udp:", "afpacket:eth0"):
            workers = [subprocess.Popen(
                ["ip", "netns", "exec", h.namespace, SILKEN, "worker", "--device", device, "--mac", h.mac, "--ip", h.address,
                 "--switch-mac", SWITCH_MAC, "--switch-ip", SWITCH_IP, "--job", "1", "--rank", str(h.number), "--workers", "2",
                 "--pool", str(SLOTS), "--packet", "256", "--elements", "100000", "--rounds", "3", "--rto-min", "50000",
                 "--rto-max", "500000", "--limit", "120000"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                for h in hosts]
            for w in workers:
                self.addCleanup(w.stdout.close)
                self.addCleanup(w.wait)
                self.addCleanup(w.kill)
            for w in workers:
                said = w.communicate(timeout=300)[0]
                self.assertEqual(w.returncode, 0, said)
                self.assertIn("verified: 3 rounds of 100000 elements", said)
        received, made, sent, dropped, said = world.stop()
        self.assertEqual(received + made, sent + dropped, said)
        self.assertGreater(received, 2 * 2 * 3 * 391 - 1)


class D_Back(unittest.TestCase):
    def test_to_the_kernel(self):
        commands, shown = page_blocks()[2]
        said = world.machine.block(commands)
        if KINDS == ["e1000e", "virtio-net-pci"]:
            self.assertEqual(said.replace("\r", "").strip(), shown.strip())


if __name__ == "__main__":
    tally.main()
