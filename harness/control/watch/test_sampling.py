#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sFlow of a running switch, as tshark understands it: samples are of the frames that come in, one in so many;
counts are those of the control socket."""
import json
import os
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "pcap")]
import tally  # noqa: E402
from captures import pcap  # noqa: E402
from folder import FolderCase  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")
FRAME = bytes([2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 3, 0x12, 0x34]) + bytes(range(200))


def wrapped(datagram):
    """As Ethernet, IPv4 and UDP from 192.0.2.1 to the collector's port."""
    udp = struct.pack(">HHHH", 40000, 6343, 8 + len(datagram), 0) + datagram
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([192, 0, 2, 1]),
                     bytes([192, 0, 2, 2]))
    return bytes(12) + b"\x08\x00" + ip + udp


class Sampling(FolderCase):
    def tearDown(self):
        if getattr(self, "switch", None):
            self.switch.terminate()
            self.switch.wait()
        super().tearDown()

    def start(self, sampling, status=None, **more):
        self.file("in.pcap", pcap([(0, FRAME)]))
        self.file("c.json", json.dumps({
            "program": os.path.abspath("p4/l2/l2.p4"), "control_socket": self.path("s.sock"),
            "ports": [{"port": 4, "device": "net_pcap0,infinite_rx=1,rx_pcap=" + self.path("in.pcap") +
                       ",tx_pcap=/dev/null"},
                      {"port": 7, "device": "net_null1,no-rx=1"}],
            "entries": [{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:09"}, "action": "send",
                         "args": {"port": 7}}],
            "sampling": sampling, **more}))
        with open(self.path("log"), "w", encoding="utf-8") as log:
            self.switch = subprocess.Popen([SILKEN, "run", "-c", self.path("c.json")], stdout=log,
                                           stderr=subprocess.STDOUT)
        for _ in range(1200):
            if "ready\n" in self.said() or self.switch.poll() is not None:
                break
            time.sleep(0.1)
        self.assertEqual(self.switch.poll(), status, self.said())

    def said(self):
        with open(self.path("log"), encoding="utf-8") as f:
            return f.read()

    def collect(self, s, seconds):
        datagrams, end = [], time.time() + seconds
        while time.time() < end:
            s.settimeout(max(0.01, end - time.time()))
            try:
                datagrams.append(s.recv(65536))
            except TimeoutError:
                break
        return datagrams

    def dissect(self, datagrams):
        """tshark's lines of each, without spaces in front."""
        self.file("out.pcap", pcap([(i, wrapped(d)) for i, d in enumerate(datagrams)]))
        done = subprocess.run(["tshark", "-r", self.path("out.pcap"), "-d", "udp.port==6343,sflow", "-V",
                               "-O", "sflow"], text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Malformed", done.stdout)
        return [line.strip() for line in done.stdout.splitlines()]

    def test_samples_and_counts(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            try:  # room for all that the switch sends while others have the processors
                s.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
            except PermissionError:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            self.start({"one_in": 1000, "to": "127.0.0.1:%d" % s.getsockname()[1], "counts": 1})
            datagrams = self.collect(s, 4)
            self.switch.terminate()
            self.assertEqual(self.switch.wait(), 0, self.said())
            datagrams += self.collect(s, 0.5)
        # by hand: the version, sequence numbers without a gap, and sizes
        numbers = [struct.unpack(">II4sIII", d[:24])[4] for d in datagrams]
        # one number, not two long lists: unittest takes minutes to compare those
        self.assertEqual(next((i for i, n in enumerate(numbers) if n != i), None), None)
        self.assertTrue(all(struct.unpack(">I", d[:4])[0] == 5 and len(d) <= 1400 for d in datagrams))
        lines = self.dissect(datagrams)
        of = {key: [line[len(key):] for line in lines if line.startswith(key)]
              for key in ("Frame Length: ", "Payload stripped: ", "Sampled header length: ",
                          "Sampling rate: 1 out of ", "Sample pool: ", "Input interface (ifIndex): ",
                          "Input Octets: ", "Input Packets: ", "Output Packets: ", "Interface index: ",
                          "Agent address: ", "Dropped packets: ")}
        self.assertEqual(set(of["Agent address: "]), {"127.0.0.1"})
        self.assertEqual(set(of["Frame Length: "]), {"218"})  # with FCS
        self.assertEqual(set(of["Payload stripped: "]), {"4"})
        self.assertEqual(set(of["Sampled header length: "]), {"128"})
        self.assertEqual(set(of["Input interface (ifIndex): "]), {"5"})
        self.assertEqual(set(of["Sampling rate: 1 out of "]), {"1000 packets"})
        pools = [int(p.split()[0]) for p in of["Sample pool: "]]
        self.assertEqual(pools, sorted(pools))
        lost = int(of["Dropped packets: "][-1])
        # one in a thousand: of n samples about n * 1000 packets, within five standard deviations
        n = len(pools) + lost
        self.assertGreater(n, 100)
        self.assertLess(abs(pools[-1] / 1000 - n), 5 * n ** 0.5 + 1)
        self.assertGreater(len(set(b - a for a, b in zip(pools, pools[1:]))), 100)  # at random
        self.assertEqual(set(of["Interface index: "]), {"5", "8"})  # ports 4 and 7
        counts = [int(n) for n in of["Input Packets: "]][::2]
        self.assertEqual(counts, sorted(counts))
        self.assertLessEqual(max(counts), pools[-1] + 100000)
        octets = [int(n) for n in of["Input Octets: "]][::2]
        self.assertEqual([o // 214 for o in octets], counts)
        # what the sampled frame begins with
        self.assertTrue(any(FRAME[:128] in d for d in datagrams))
        self.assertFalse(any(FRAME[:129] in d for d in datagrams))

    def test_refusals(self):
        for sampling, says in (({"one_in": 0, "to": "127.0.0.1:1"}, "at least 1"),
                               ({"one_in": 10}, "sampling.to"),
                               ({"one_in": 10, "to": "here"}, "'here' is not ADDRESS:PORT"),
                               ({"one_in": 10, "to": "127.0.0.1:1", "x": 1}, "sampling.x: unknown key")):
            self.start(sampling, 2)
            self.assertIn(says, self.said())


if __name__ == "__main__":
    tally.main()
