#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken ctl trace`: the way of packets of a switch that runs the fast build at full speed. What is printed
must be what happens, registers too: the switch compares, and here the values are computed once more."""
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "pcap")]
import tally  # noqa: E402
from captures import pcap  # noqa: E402
from folder import FolderCase  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")
SWITCHML = os.path.abspath("p4/switchml/switchml.p4")

# A counter of packets by sender in a register, whose value goes into the packet; a meter; a selector.
COUNTING = """
#include <core.p4>
#include <tna.p4>
header ethernet_t { bit<48> dst_addr; bit<48> src_addr; bit<16> ether_type; }
header sum_t { bit<32> value; bit<8> colour; bit<8> member; }
struct headers_t { ethernet_t ethernet; sum_t sum; }
struct md_t {}
parser IP(packet_in p, out headers_t h, out md_t m, out ingress_intrinsic_metadata_t i) {
    state start { p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.ethernet); p.extract(h.sum);
                  transition accept; }
}
control I(inout headers_t h, inout md_t m, in ingress_intrinsic_metadata_t i,
          in ingress_intrinsic_metadata_from_parser_t pr, inout ingress_intrinsic_metadata_for_deparser_t d,
          inout ingress_intrinsic_metadata_for_tm_t t) {
    Register<bit<32>, bit<8>>(256, 5) sums;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sums) count = {
        void apply(inout bit<32> v, out bit<32> r) { v = v + 1; r = v; }
    };
    Meter<bit<8>>(256, MeterType_t.PACKETS) limit;
    ActionProfile(64) hops;
    Hash<bit<14>>(HashAlgorithm_t.CRC16) mix;
    ActionSelector(hops, mix, SelectorMode_t.FAIR, 16, 4) choice;
    action to(PortId_t port, bit<8> member) { t.ucast_egress_port = port; h.sum.member = member; }
    action none() { d.drop_ctl = 1; }
    table send {
        key = { h.ethernet.dst_addr: ternary; h.ethernet.src_addr: selector; }
        actions = { to; none; }
        default_action = none;
        implementation = choice;
        size = 128;
    }
    apply {
        h.sum.value = count.execute(h.ethernet.src_addr[7:0]);
        h.sum.colour = limit.execute(h.ethernet.src_addr[7:0]);
        send.apply();
    }
}
control ID(packet_out p, inout headers_t h, in md_t m, in ingress_intrinsic_metadata_for_deparser_t d) {
    apply { p.emit(h); }
}
parser EP(packet_in p, out headers_t h, out md_t m, out egress_intrinsic_metadata_t e) {
    state start { p.extract(e); transition accept; }
}
control E(inout headers_t h, inout md_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t pr, inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t o) { apply {} }
control ED(packet_out p, inout headers_t h, in md_t m, in egress_intrinsic_metadata_for_deparser_t d) {
    apply { p.emit(h); }
}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"""


def frame(source):
    return bytes([2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, source, 0x12, 0x34]) + bytes(60)


def gradient(source, slot):
    body = struct.pack(">BBIHbb", 0x11, 7, 1, slot, 0, 0) + b"".join(
        struct.pack(">i", 1000 * source + i) for i in range(64))
    udp = struct.pack(">HHHH", 0xbee0, 0xbee0, 8 + len(body), 0) + body
    h = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 0, 0, source]),
                    bytes([10, 0, 0, 100]))
    s = sum(struct.unpack(">10H", h))
    s = (s & 0xffff) + (s >> 16)
    h = h[:10] + struct.pack(">H", ~(s + (s >> 16)) & 0xffff) + h[12:]
    return bytes([2, 0, 0, 0, 0, 100, 2, 0, 0, 0, 0, source, 8, 0]) + h + udp


class Trace(FolderCase):
    def tearDown(self):
        if getattr(self, "switch", None):
            self.switch.terminate()
            self.switch.wait()
        super().tearDown()

    def start(self, config, frames, *options):
        self.file("in.pcap", pcap([(0, f) for f in frames]))
        config = {"control_socket": self.path("s.sock"),
                  "ports": [{"port": 1, "name": "here", "device": "net_pcap0,infinite_rx=1,rx_pcap=" +
                             self.path("in.pcap") + ",tx_pcap=/dev/null"},
                            {"port": 2, "device": "net_null1,no-rx=1"},
                            {"port": 130, "device": "net_null2,no-rx=1"}], **config}
        self.file("c.json", json.dumps(config))
        # the checked build, which a switch that is never idle would compile in what its packets leave of the processors
        program = self.path(config["program"])
        subprocess.run([SILKEN, "explain", program, "00" * 60], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True, timeout=600)
        with open(self.path("log"), "w", encoding="utf-8") as log:
            self.switch = subprocess.Popen([SILKEN, "run", "-c", self.path("c.json"), *options],
                                           stdout=log, stderr=subprocess.STDOUT)
        for _ in range(1200):
            if "ready\n" in self.said():
                return
            time.sleep(0.1)
        self.fail(self.said())

    def said(self):
        with open(self.path("log"), encoding="utf-8") as f:
            return f.read()

    def end(self):
        self.switch.terminate()
        self.assertEqual(self.switch.wait(), 0, self.said())
        self.assertRegex(self.said(), "received [0-9]+ ") # nothing is missing, or the status is not 0

    def ctl(self, *words, status=0):
        done = subprocess.run([SILKEN, "ctl", "-s", self.path("s.sock"), *words], text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout[-3000:] + done.stderr)
        return done.stdout, done.stderr

    def trace(self, *words, status=0):
        out, err = self.ctl("trace", "--json", *words, status=status)
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([e for e in events if e["event"] == "differs"], [])
        packets = {}
        for e in events:
            packets.setdefault(e.get("packet"), []).append(e)
        return packets, err

    COUNTING_CONFIG = {
        "members": [{"profile": "hops", "id": i, "action": "to", "args": {"port": p, "member": i}}
                    for i, p in ((1, 2), (2, 2), (3, 2))],
        "groups": [{"selector": "choice", "id": 7, "members": [1, 2, {"member": 3, "up": False}]}],
        "entries": [{"table": "send", "key": {"dst_addr": "02:00:00:00:00:09"}, "priority": 5, "group": 7}],
        "meters": [{"name": "limit", "index": 3, "spec": {"cir_pps": 10, "pir_pps": 20, "cbs_pkts": 1,
                                                          "pbs_pkts": 2}}]}

    def check_counting(self, packets, sender=None):
        last = {}
        for events in packets.values():
            reg = [e for e in events if e["event"] == "register"]
            self.assertEqual(len(reg), 1, events)
            index = int(str(reg[0]["index"]), 0)
            if sender:
                self.assertEqual(index, sender)
            before, after = (int(reg[0][k][0][1], 0) for k in ("before", "after"))
            self.assertEqual(after, before + 1)
            # it goes up from packet to packet, since others of the sender came meanwhile
            self.assertGreater(before, last.get(index, 4))
            last[index] = before
            sent = [e for e in events if e["event"] == "sent"]
            self.assertEqual([e["port"] for e in sent], [2], events)
            out = bytes.fromhex(sent[0]["bytes"])
            self.assertEqual(int.from_bytes(out[14:18], "big"), after)
            self.assertIn(out[19], (1, 2))
        return last

    def test_registers_meters_selectors(self):
        self.file("count.p4", COUNTING)
        self.start({"program": "count.p4", **self.COUNTING_CONFIG}, [frame(s) for s in (3, 4, 5, 6)])
        packets, err = self.trace("--count", "40", "--timeout", "60")
        self.assertEqual(len(packets), 40)
        self.assertIn("40 of ", err)
        self.check_counting(packets)
        packets, _ = self.trace("--port", "here", "--field", "ethernet.src_addr=02:00:00:00:00:05",
                                "--count", "15", "--timeout", "60")
        self.check_counting(packets, 5)
        packets, _ = self.trace("--port", "1", "--field", "src_addr=4 &&& 7", "--field",
                                "ether_type=0x1234", "--count", "5")
        self.check_counting(packets, 4)
        # what the control plane changes is seen by the next
        self.ctl("table", "add", "send", "1", "dst_addr=02:00:00:00:00:09", "member(2)")
        packets, _ = self.trace("--count", "5")
        for events in packets.values():
            self.assertEqual(bytes.fromhex([e for e in events if e["event"] == "sent"][0]["bytes"])[19], 2)
        # nothing matches; it is over by itself, and costs nothing then
        _, err = self.trace("--field", "ether_type=0x1235", "--timeout", "1", status=1)
        self.assertRegex(err, "^0 of [1-9][0-9]* packets matched")
        _, err = self.trace("--port", "2", "--timeout", "1", status=1)
        self.assertRegex(err, "^0 of 0 packets matched")
        self.end()

    def test_text_and_refusals(self):
        self.file("count.p4", COUNTING)
        self.start({"program": "count.p4", **self.COUNTING_CONFIG}, [frame(3)])
        text, _ = self.ctl("trace")
        for words in ("pipe.I.sums", "pipe.I.send", "sent"):
            self.assertIn(words, text)
        for words, says in ((("--port", "9999"), "port"), (("--port", "nobody"), "there is no port 'nobody'"),
                            (("--field", "src_adr=4"), "there is h.ethernet.src_addr"),
                            (("--field", "ipv4.src_addr=1"), "the parser extracts no field 'ipv4.src_addr'"),
                            (("--field", "ether_type=0x12345"), "ether_type: "),
                            (("--field", "ether_type=300.0.0.1"), "ether_type: "),
                            (("--field", "src_addr=zero"), "src_addr: "),
                            (("--count", "0"), "at least 1"), (("--timeout", "601"), "timeout")):
            self.assertIn(says, self.ctl("trace", *words, status=1)[1])
        self.assertIn("unexpected argument 'x'", self.ctl("trace", "x", status=2)[1])
        # a second one at a time
        other = threading.Thread(target=self.ctl, args=("trace", "--field", "ether_type=1", "--timeout", "3"),
                                 kwargs={"status": 1})
        other.start()
        time.sleep(1)
        self.assertIn("another trace is armed", self.ctl("trace", status=1)[1])
        other.join()
        # one who goes away leaves nothing behind
        gone = subprocess.Popen([SILKEN, "ctl", "-s", self.path("s.sock"), "trace", "--field",
                                 "ether_type=1", "--timeout", "600"], stderr=subprocess.DEVNULL)
        time.sleep(1)
        gone.kill()
        gone.wait()
        time.sleep(3)
        self.ctl("trace")
        self.end()

    def test_filters(self):
        """Only what matches; and steps that are no filter are refused, whoever sends them."""
        self.file("count.p4", COUNTING)
        self.start({"program": "count.p4", **self.COUNTING_CONFIG}, [frame(s) for s in (3, 4, 5, 6)])
        packets, _ = self.trace("--filter", "ether src 02:00:00:00:00:05", "--count", "4")
        self.assertEqual(len(packets), 4)
        self.check_counting(packets, 5)
        packets, err = self.trace("--filter", "ether src 02:00:00:00:00:05 or ether src 02:00:00:00:00:04", "--field",
                                  "src_addr=02:00:00:00:00:04", "--count", "2")
        self.check_counting(packets, 4)
        self.assertEqual(self.trace("--filter", "arp", "--timeout", "1", status=1)[0], {})
        self.assertIn("syntax error", self.ctl("trace", "--filter", "tcp prt 1", status=2)[1])
        back = [[5, 0, 0, 4294967295], [6, 0, 0, 1]]  # jumps back for ever
        for op in ("trace.start", "record.start"):
            for steps, says in ((back, "no filter"), ([[260, 0, 0, 1], [6, 0, 0, 1]], "no filter"),
                                ([], "1 to 4096 steps"), ("arp", "must be an array")):
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(self.path("s.sock"))
                    s.sendall(json.dumps({"op": op, "filter": steps}).encode() + b"\n")
                    self.assertIn(says, s.makefile().readline())
        self.end()

    def test_several_lcores(self):
        self.file("count.p4", COUNTING)
        config = {**self.COUNTING_CONFIG, "pipes": 2, "lcores": 2}
        config["members"] = [{"profile": "hops", "id": i, "action": "to", "args": {"port": 130, "member": i}}
                             for i in (1, 2, 3)]
        self.start({"program": "count.p4", **config}, [frame(3), frame(4)])
        for _ in range(10): # packets of others are on their way from one lcore to the other at each start
            packets, _ = self.trace("--count", "20", "--timeout", "60")
            self.assertEqual(len(packets), 20)
            for events in packets.values():
                self.assertEqual([e["port"] for e in events if e["event"] == "sent"], [130])
        self.end()

    def test_aggregation(self):
        entries = [{"table": "workers", "action": "admit",
                    "key": {"job_number": 7, "src_addr": f"10.0.0.{w + 1}", "ingress_port": 1},
                    "args": {"worker_bit": 1 << w, "num_workers": 2, "group": 1, "rid": w + 1, "port": 2,
                             "pool_base": 16, "pool_last": 15}} for w in (0, 1)]
        entries += [{"table": "receivers", "action": "address", "key": {"rid": rid},
                     "args": {"mac": rid, "ip": f"10.0.0.{rid}", "udp_port": 48864}} for rid in (1, 2)]
        multicast = {"nodes": [{"id": w, "rid": w, "ports": [2]} for w in (1, 2)],
                     "groups": [{"id": 1, "nodes": [1, 2]}]}
        # each slot in turn in both versions, as workers do
        frames = [gradient(w, slot | version << 15) for version in (0, 1) for slot in range(5)
                  for w in (1, 2)]
        self.start({"program": SWITCHML, "entries": entries, "multicast": multicast}, frames)
        time.sleep(0.3)
        packets, _ = self.trace("--count", "60", "--timeout", "100", "--field", "ipv4.src_addr=10.0.0.0/8")
        self.assertEqual(len(packets), 60)
        results = 0
        for events in packets.values():
            for sent in (e for e in events if e["event"] == "sent"):
                out = bytes.fromhex(sent["bytes"])
                values = struct.unpack(">64i", out[-256:])
                self.assertEqual(values, tuple(3000 + 2 * i for i in range(64)))
                results += 1
        self.assertGreater(results, 10)
        self.end()


if __name__ == "__main__":
    tally.main()
