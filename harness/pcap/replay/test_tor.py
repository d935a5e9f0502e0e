#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Captures through p4/tor with "tor" in the configuration and no table written by hand: its control plane runs in
the captures' time. Notes of a recorded control plane that are damaged, lack their beginning or name what is not
there. (A rack that was recorded live: harness/control/tor/test_recorded.py.)"""
import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from captures import NS, explain, pcap, read, replay, section  # noqa: E402
from folder import FolderCase  # noqa: E402
from scapy.layers.inet import ICMP, IP, UDP  # noqa: E402
from scapy.layers.l2 import ARP, Ether  # noqa: E402

TOR = "p4/tor/tor.p4"
T0 = 1_700_000_000 * NS
MS = 1_000_000
ROUTER = "02:00:00:00:ff:01"
A, B, C = "02:00:00:00:00:0a", "02:00:00:00:00:0b", "02:00:00:00:00:0c"
CONFIG = {"ports": [{"port": n, "device": f"net_null{n}", "name": name} for n, name in enumerate("abc", 1)],
          "tor": {"mac": ROUTER, "vlans": [{"vid": 10, "addresses": ["10.0.10.1/24"]},
                                           {"vid": 20, "addresses": ["10.0.20.1/24"]}],
                  "links": [{"name": "a", "port": "a", "access": 10}, {"name": "b", "port": "b", "access": 10},
                            {"name": "c", "port": "c", "access": 20}]}}
ECHO = Ether(src=A, dst=ROUTER) / IP(src="10.0.10.2", dst="10.0.20.2", id=7) / ICMP() / b"hello"
BEGIN = '{"control":1,"secret":1,"interval":4000000,"down":[]}'


def who_has(mac, own, other):
    return Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=mac, psrc=own, pdst=other)


def is_at(mac, own, other_mac, other):
    return Ether(src=mac, dst=other_mac) / ARP(op=2, hwsrc=mac, psrc=own, hwdst=other_mac, pdst=other)


class Tor(FolderCase):
    def setUp(self):
        super().setUp()
        self.config = self.file("tor.json", json.dumps(CONFIG))

    def capture(self, name, *packets):
        return self.file(name, pcap([(T0 + int(ms * MS), bytes(p)) for ms, p in packets]))

    def sent(self, port):
        return [(t, Ether(b)) for t, b in read(os.path.join(self.path("out"), f"port-{port}.pcap"))]

    def routed(self):
        """a asks for the router and pings c, which answers when the switch asks for it."""
        a = self.capture("a.pcap", (0, who_has(A, "10.0.10.2", "10.0.10.1")), (5, ECHO), (40, ECHO))
        c = self.capture("c.pcap", (20, is_at(C, "10.0.20.2", ROUTER, "10.0.20.1")))
        return ["--in", f"1={a}", f"3={c}"]

    def good(self, *words, program=TOR):
        done = replay(program, "--config", self.config, *words, "--out", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def refused(self, sentence, *words, config=None):
        done = replay(TOR, "--config", config or self.config, *words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(sentence, done.stderr)

    def test_routes(self):
        for build in ("--fast", "--checked"):
            self.good(*self.routed(), build)
            answer, = [p for _, p in self.sent(1) if ARP in p and p[ARP].op == 2]
            self.assertEqual((answer[ARP].hwsrc, answer[ARP].psrc, answer.dst), (ROUTER, "10.0.10.1", A))
            asked = [(t, p) for t, p in self.sent(3) if ARP in p]
            self.assertEqual({(p[ARP].op, p[ARP].pdst) for _, p in asked}, {(1, "10.0.20.2")})
            self.assertEqual(asked[0][0], T0 + 5 * MS)  # at once, and what waits goes when the answer is there
            echoes = [(t, p[Ether].src, p.dst, p[IP].ttl) for t, p in self.sent(3) if ICMP in p]
            self.assertEqual(echoes, [(T0 + ms * MS, ROUTER, C, 63) for ms in (20, 40)])

    def test_learns(self):
        """What b's address is known from goes to b alone."""
        to_b = Ether(src=A, dst=B) / IP(src="10.0.10.2", dst="10.0.10.3") / UDP()
        a = self.capture("a.pcap", (0, to_b), (50, to_b))
        b = self.capture("b.pcap", (20, Ether(src=B, dst=A) / IP(src="10.0.10.3", dst="10.0.10.2") / UDP()))
        self.good("--in", f"1={a}", f"2={b}")
        self.assertEqual([t for t, p in self.sent(2) if UDP in p], [T0, T0 + 50 * MS])
        self.assertEqual([t for t, p in self.sent(1) if UDP in p], [T0 + 20 * MS])

    def test_ages(self):
        """An address that is silent for hours is forgotten, and the hours pass soon."""
        config = json.loads(json.dumps(CONFIG))
        to_b = Ether(src=A, dst=B) / IP(src="10.0.10.2", dst="10.0.10.3") / UDP()
        b = self.capture("b.pcap", (0, Ether(src=B, dst=A) / IP(src="10.0.10.3", dst="10.0.10.2") / UDP()))
        c = self.capture("d.pcap", *[(ms, to_b) for ms in (1000, 4 * 3600 * 1000)])
        config["tor"]["links"].append({"name": "d", "port": "d", "access": 10})
        config["ports"].append({"port": 4, "device": "net_null4", "name": "d"})
        self.config = self.file("ageing.json", json.dumps(config))
        self.good("--in", f"2={b}", f"1={c}")
        to_d = [t for t, p in self.sent(4) if UDP in p and p.dst == B]
        self.assertEqual(to_d, [T0 + 4 * 3600 * NS])  # flooded once b is forgotten

    def test_the_same_again(self):
        words = self.routed()
        self.good(*words)
        first = {p: read(os.path.join(self.path("out"), f"port-{p}.pcap")) for p in (1, 3, 64)}
        self.good(*words)
        self.assertEqual(first, {p: read(os.path.join(self.path("out"), f"port-{p}.pcap")) for p in (1, 3, 64)})
        golden = replay(TOR, "--config", self.config, *words, "--expect", self.path("out"))
        self.assertEqual(golden.returncode, 0, golden.stderr)

    def test_explain(self):
        done = explain("--config", self.config, TOR, *self.routed(), "--packet", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("port 3", done.stdout)
        self.assertIn("ttl", done.stdout)
        self.assertNotIn("ff:ff:ff:ff:ff:ff", done.stdout)  # what the control plane sends is not this packet's
        done = explain("--config", self.config, TOR, bytes(who_has(A, "10.0.10.2", "10.0.10.1")).hex(), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        json.loads(done.stdout)

    def test_what_cannot_be(self):
        words = self.routed()
        done = replay(TOR, "--config", self.config, "--entries", self.config, *words)
        self.assertEqual((done.returncode, done.stderr), (2, 'silken replay: "tor" is in both configurations\n'))
        self.refused('"tor" in the configuration excludes a time between pipes (--crossing)', *words, "--crossing", "1000")
        done = replay("p4/l2/l2.p4", "--config", self.config, *words)
        self.assertEqual(done.returncode, 2)
        self.assertIn("p4/l2/l2.p4", done.stderr)
        wrong = json.loads(json.dumps(CONFIG))
        wrong["tor"]["links"][1]["port"] = "x"
        self.refused("tor.links[1].port: the switch has no port 'x'", *words, config=self.file("wrong.json", json.dumps(wrong)))

    def test_state_is_left_alone(self):
        state = self.file("jobs.json", "not ours")
        config = json.loads(json.dumps(CONFIG))
        config["tor"]["state"] = state
        self.config = self.file("state.json", json.dumps(config))
        self.good(*self.routed())
        with open(state, encoding="ascii") as f:
            self.assertEqual(f.read(), "not ours")

    # ---- notes

    def recording(self, *notes, packets=()):
        """A recording with these notes, a millisecond apart, and packets of (ms, port, bytes)."""
        records = [(T0 + i * MS, b"", 3, 0, ("" if n.startswith("silken") else "silken control: ") + n)
                   for i, n in enumerate(notes)]
        records += [(T0 + int(ms * MS), bytes(p), {1: 0, 2: 1, 3: 2, 64: 3}[port], 1) for ms, port, p in packets]
        return self.file("run.pcapng", section(["port-1", "port-2", "port-3", "port-64"], sorted(records, key=lambda r: r[0])))

    def test_notes_say_when(self):
        """The answer to ARP is sent when the note says that the frame was taken, and where it was received."""
        asks = who_has(A, "10.0.10.2", "10.0.10.1")
        reply = bytes.fromhex("010000000001000a") + bytes(is_at(ROUTER, "10.0.10.1", A, "10.0.10.2")).ljust(60, b"\0")
        taken = f'{{"frames":1,"now":{T0 + 2 * MS}}}'
        run = self.recording(BEGIN, f'{{"run":[{T0}]}}', taken, '{"sent":true}', packets=[(1.5, 1, asks), (9, 64, reply)])
        said = self.good("--in", run)
        self.assertEqual([t for t, p in self.sent(1) if ARP in p], [T0 + 9 * MS])
        self.assertNotIn("control plane", said)
        # one that it did not send then, and one that it does not send now
        run = self.recording(BEGIN, f'{{"run":[{T0}]}}', taken, '{"sent":true}',
                             packets=[(1.5, 1, asks), (9, 64, reply[:-1] + b"\x01")])
        self.assertIn("1 packet that the recorded control plane sent was not sent by the one here", self.good("--in", run))

    def test_bad_notes(self):
        packets = [(1, 1, ECHO)]
        for note in ("{", "{}", '{"frames":1}', '{"run":[]}', '{"port":600,"up":true}', "silken control: "):
            self.refused("run.pcapng: packet 2: a note of the control plane", "--in",
                         self.recording(BEGIN, note, packets=packets))
        self.refused("run.pcapng: packet 1: a note of the control plane", "--in",
                     self.recording(BEGIN.replace("1", "2", 1), packets=packets))
        self.refused("the recorded switch got another program here", "--in",
                     self.recording(BEGIN, "{\"replaced\":true}", packets=[(5, 1, ECHO)]))
        self.refused("the recording's list of ports has port 900", "--in",
                     self.recording(BEGIN, '{"ports":[{"port":900,"name":"x"}]}', packets=[(5, 1, ECHO)]))

    def test_ports_that_do_not_exist(self):
        for note in ('{"port":511,"up":false}', '{"port":72,"up":true}', '{"link":200,"up":true,"now":1}'):
            self.refused("run.pcapng: packet 2: a note of the control plane", "--in",
                         self.recording(BEGIN, note, packets=[(1, 1, ECHO)]))
        self.refused("run.pcapng: packet 1: a note", "--in", self.recording(BEGIN.replace("[]", "[80]"), packets=[(1, 1, ECHO)]))

    def test_jobs_that_cannot_be_read_leave_nothing(self):
        os.mkdir(self.path("tmp"))
        os.environ["TMPDIR"] = self.path("tmp")
        self.addCleanup(os.environ.pop, "TMPDIR")
        for state in ("junk", "", "{}", "{{{"):
            self.good("--in", self.recording(BEGIN[:-1] + ',"state":' + json.dumps(state) + "}", packets=[(1, 1, ECHO)]))
            self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_explain_counts_what_is_left_out(self):
        asks = who_has(A, "10.0.10.2", "10.0.10.1")
        run = self.file("run.pcapng", section(["port-1", "port-64"], [(T0, bytes(asks), 0, 1), (T0 + MS, b"\1" + bytes(67), 1, 1),
                                                                      (T0 + 5 * MS, bytes(ECHO), 0, 1)]))
        done = explain("--config", self.config, TOR, f"{run}:3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("10.0.20.2", done.stdout)
        done = explain("--config", self.config, TOR, f"{run}:2")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("packet 2 is one that a ToR's control plane sent", done.stderr)

    def test_years_of_silence(self):
        """A capture without dates beside one with them."""
        old, new = (self.file(n, pcap([(t, bytes(who_has(m, ip, "10.0.10.1")))])) for n, t, m, ip in
                    (("old.pcap", 0, A, "10.0.10.2"), ("new.pcap", T0, B, "10.0.10.3")))
        self.good("--in", f"1={old}", f"2={new}")
        self.assertEqual([t for t, p in self.sent(2) if ARP in p and p[ARP].op == 2], [T0])

    def test_a_recording_without_notes(self):
        run = self.recording(packets=[(1, 1, who_has(A, "10.0.10.2", "10.0.10.1"))])
        done = replay(TOR, "--config", self.config, "--in", run, "--expect-recorded")
        self.assertIn("the recording has no notes of its control plane", done.stderr)

    def test_another_cpu_port(self):
        config = self.file("cpu.json", json.dumps({**CONFIG, "cpu_port": 192}))
        self.refused('cpu_port: with "tor" it is 64, for which p4/tor is written', *self.routed(), config=config)

    def test_notes_of_what_does_not_happen(self):
        """Facts that nobody asks for, requests and sections that are refused, more frames and writes than there are."""
        notes = [BEGIN, '{"pause":true}', '{"writes":9223372036854775807}', '{"took":-1}', '{"random":3}', '{"sent":true}',
                 '{"refused":true}', '{"digest":5}', f'{{"frames":9000000000,"now":{T0}}}', '{"link":260,"up":true,"now":1}',
                 '{"request":{"name":"x"},"op":"job.remove","now":1}', '{"request":{},"op":"no.such","now":1}',
                 '{"section":{"vlans":3}}', '{"ports":[{"port":1,"name":"a"}]}', f'{{"run":[{T0},1,1]}}',
                 'silken control, part: {"section":', 'silken control: {"vlans":[]}}', '{"run":[-1]}']
        self.good("--in", self.recording(*notes, packets=[(30, 1, ECHO)]))

    def test_notes_are_not_used(self):
        asks = [(1, 1, who_has(A, "10.0.10.2", "10.0.10.1")), (3, 64, b"\1" + bytes(67))]
        run = self.recording('{"pause":true}', packets=asks)
        said = self.good("--in", run)  # its beginning is missing
        self.assertIn("notes of its control plane were not used", said)
        self.assertIn("1 packet that a control plane sent was left out: the one here sends its own", said)
        self.assertEqual(len([p for _, p in self.sent(1) if ARP in p]), 1)
        self.assertIn("were not used", self.good("--in", self.recording(BEGIN, packets=asks), "--filter", "arp"))


if __name__ == "__main__":
    tally.main()
