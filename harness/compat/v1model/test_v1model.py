# SPDX-License-Identifier: Apache-2.0
"""v1model.py wraps programs of ours, whose scripts then pass on TNA, and marks what differs without a reason.

    python3 harness/compat/v1model/test_v1model.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
sys.path.insert(0, str(HERE))
import tally  # noqa: E402
import wrap  # noqa: E402
SILKEN = f"{os.environ.get('BUILD', 'build')}/silken"

# A program with one header; what a test gives takes the place of the words in capitals.
PROGRAM = """
#include <core.p4>
#include <v1model.p4>
header t_h { bit<8> op; bit<8> n; bit<16> sum; bit<16> x; }
struct headers { t_h t; }
struct meta_t { bit<16> kept; }
TOP
parser P(packet_in pkt, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.t); PARSE transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { VERIFY } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    DECLARE
    apply { sm.egress_spec = 1; INGRESS }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { EGRESS } }
control C(inout headers hdr, inout meta_t meta) { apply { COMPUTE } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.t); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


def program(**words):
    text = PROGRAM
    for word in ("TOP", "PARSE", "VERIFY", "DECLARE", "INGRESS", "EGRESS", "COMPUTE"):
        text = text.replace(word, words.get(word.lower(), ""))
    return text


class Wrapped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def add(self, name, text, script):
        (self.folder / f"{name}.p4").write_text(text)
        (self.folder / f"{name}.stf").write_text(script)

    def run_all(self, *words):
        page = self.folder / "page.md"
        done = subprocess.run([sys.executable, HERE / "v1model.py", "--silken", SILKEN, "--out", page, *words,
                               self.folder], text=True, capture_output=True, check=False, timeout=600)
        return done, page.read_text() if page.exists() else ""

    def passes(self, text, script):
        self.add("one", text, script)
        done, page = self.run_all()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + page)
        self.assertIn("1 programs: 1 passed", page)
        _, page = self.run_all("--test-option=--checked")
        self.assertIn("1 programs: 1 passed", page)

    def test_short_packets_and_payload(self):
        self.passes(program(ingress="hdr.t.x = hdr.t.x + 1;"),
                    "packet 0 01 02 0000 0003\nexpect 1 01 02 0000 0004 $\n"
                    "packet 5 01 02 0000 0003 55\nexpect 1 01 02 0000 0004 55 $\n")

    def test_egress_follows_ingress(self):
        self.passes(program(ingress="meta.kept = hdr.t.x; if (hdr.t.op == 9) mark_to_drop(sm);",
                            egress="hdr.t.x = meta.kept + (bit<16>)sm.egress_port; "
                                   "if (hdr.t.op == 8) mark_to_drop(sm);"),
                    "packet 0 01 00 0000 0003\nexpect 1 01 00 0000 0004 $\npacket 0 08 00 0000 0003\n"
                    "packet 0 09 00 0000 0003\n")

    def test_exit_ends_its_control_only(self):
        text = program(top="action leave() { exit; }",
                       ingress="if (hdr.t.op == 1) exit; if (hdr.t.op == 2) { sm.egress_spec = 7; exit; } "
                               "if (hdr.t.op == 3) leave(); hdr.t.x = 0;",
                       egress="hdr.t.n = 0xee;")
        self.passes(text, "packet 0 01 00 0000 0003\nexpect 1 01 ee 0000 0003 $\n"
                          "packet 0 02 00 0000 0003\nexpect 7 02 ee 0000 0003 $\n"
                          "packet 0 03 00 0000 0003\nexpect 1 03 ee 0000 0003 $\n"
                          "packet 0 04 00 0000 0003\nexpect 1 04 ee 0000 0000 $\n")

    def test_tables(self):
        self.passes(program(declare="action set(bit<16> v, bit<9> port) { hdr.t.x = v; sm.egress_spec = port; } "
                                    "table t { key = { hdr.t.op : optional; } actions = { set; NoAction; } }",
                            ingress="t.apply();"),
                    "add I.t hdr.t.op:5 I.set(v:0xabcd, port:6)\n"
                    "packet 0 05 00 0000 0000\nexpect 6 05 00 0000 abcd $\n"
                    "packet 0 06 00 0000 0000\nexpect 1 06 00 0000 0000 $\n")

    def test_checksums(self):
        sums = "(hdr.t.op < 8, { hdr.t.op, hdr.t.n, hdr.t.x }, hdr.t.sum, HashAlgorithm.csum16);"
        self.passes(program(verify="verify_checksum" + sums, compute="update_checksum" + sums,
                            ingress="if (sm.checksum_error == 1) hdr.t.op = 7;"),
                    # 0x0102 + 0x0003 + 0xfefa = 0xffff
                    "packet 0 01 02 fefa 0003\nexpect 1 01 02 fefa 0003 $\n"
                    # a wrong one: the operation becomes 7, and the sum is that of the new header
                    "packet 0 01 02 fefb 0003\nexpect 1 07 02 f8fa 0003 $\n"
                    "packet 0 08 02 1234 0003\nexpect 1 08 02 1234 0003 $\n")

    def test_errors_of_the_parser(self):
        self.passes(program(top="error { Odd }", parse="verify(hdr.t.op[0:0] == 0, error.Odd);",
                            ingress="if (sm.parser_error == error.Odd) hdr.t.n = 0xbd; "
                                    "if (sm.parser_error == error.PacketTooShort) hdr.t.setValid();"),
                    "packet 0 02 00 0000 0003\nexpect 1 02 00 0000 0003 $\n"
                    "packet 0 03 00 0000 0003\nexpect 1 03 bd 0000 0003 $\n"
                    "packet 0 02\nexpect 1 00 00 0000 0000 02 $\n")

    def test_registers_counters_hashes(self):
        self.passes(program(top="register<bit<16>>(4) r; counter(4, CounterType.packets) c;",
                            ingress="if (hdr.t.op == 0) r.write((bit<32>)hdr.t.n, hdr.t.x); "
                                    "else if (hdr.t.op == 1) r.read(hdr.t.x, (bit<32>)hdr.t.n); "
                                    "else hash(hdr.t.x, HashAlgorithm.crc16, 16w0, { hdr.t.n }, 32w256); "
                                    "c.count((bit<32>)hdr.t.n);"),
                    "packet 0 00 02 0000 abcd\nexpect 1 00 02 0000 abcd $\n"
                    "packet 0 01 02 0000 0000\nexpect 1 01 02 0000 abcd $\n"
                    # CRC-16/ARC of 0x01 is 0xc0c1
                    "packet 0 02 01 0000 0000\nexpect 1 02 01 0000 00c1 $\n"
                    "check_counter c(2) packets == 2\n")

    def test_meters(self):
        self.passes(program(top="meter(4, MeterType.packets) m;",
                            ingress="m.execute_meter((bit<32>)hdr.t.n, hdr.t.x);"),
                    # one packet of the burst is green, one more yellow, then they are red
                    "meter_write m(2) $METER_SPEC_CIR_PPS:1 $METER_SPEC_PIR_PPS:1 $METER_SPEC_CBS_PKTS:1 "
                    "$METER_SPEC_PBS_PKTS:2\n"
                    "packet 0 00 02 0000 ffff\nexpect 1 00 02 0000 0000 $\n"
                    "packet 0 00 02 0000 ffff\nexpect 1 00 02 0000 0001 $\n"
                    "packet 0 00 02 0000 ffff\nexpect 1 00 02 0000 0002 $\n")

    def test_random_numbers(self):
        self.passes(program(ingress="random(hdr.t.x, 16w0, 16w15);"),
                    "packet 0 00 02 0000 ffff\nexpect 1 00 02 0000 000* $\n" * 20)

    def test_copies_to_a_group(self):
        self.passes(program(ingress="meta.kept = 0x1200; sm.mcast_grp = (bit<16>)hdr.t.op;",
                            egress="hdr.t.x = meta.kept + sm.egress_rid; hdr.t.n = (bit<8>)sm.instance_type; "
                                   "if (sm.egress_port == 4) mark_to_drop(sm);"),
                    "mc_mgrp_create 3\nmc_node_create 5 2\nmc_node_create 6 4\nmc_node_create 7 6\n"
                    "mc_node_associate 3 0\nmc_node_associate 3 1\nmc_node_associate 3 2\n"
                    "packet 0 03 00 0000 0000 77\nexpect 2 03 05 0000 1205 77 $\nexpect 6 03 05 0000 1207 77 $\n"
                    "packet 0 00 00 0000 0000 77\nexpect 1 00 00 0000 1200 77 $\n")

    def test_names_that_tna_has(self):
        text = program(top="struct Hash { bit<8> CRC16; } const bit<16> PORT_METADATA_SIZE = 0x11;",
                       ingress="Hash h = { 5 }; hdr.t.n = h.CRC16; hdr.t.x = PORT_METADATA_SIZE;")
        self.passes(text.replace("control I(", "control IngressT(").replace("I(),", "IngressT(),"),
                    "packet 0 00 00 0000 0000\nexpect 1 00 05 0000 0011 $\n")

    def test_what_no_reason_explains(self):
        self.add("clones", program(ingress="clone(CloneType.I2E, 5);"), "packet 0 00 00 0000 0000\n")
        self.add("fails", program(), "packet 0 00 00 0000 0001\nexpect 1 00 00 0000 0002\n")
        self.add("good", program(), "packet 0 00 00 0000 0001\nexpect 1 00 00 0000 0001\n")
        self.add("refused", program(ingress="hdr.t.x = hdr.t.x * hdr.t.x;"), "packet 0 00 00 0000 0001\n")
        self.add("psa", "#include <core.p4>\n#include <psa.p4>\n", "packet 0 00\n")
        none = self.folder / "none"
        none.write_text("")
        done, page = self.run_all("--reasons", none)
        self.assertEqual(done.returncode, 1, page)
        self.assertIn("4 programs: 1 passed, 0 differ, 0 not translated, 3 unexplained", done.stdout)
        for name in ("clones", "fails", "refused"):
            self.assertIn(f"| {name} | UNEXPLAINED |", page)
        some = self.folder / "some"
        some.write_text("clones: clones | no lists\nfails: port 1, output 1 | on purpose\nmultiply at run time | no ALU\n")
        done, page = self.run_all("--reasons", some)
        self.assertEqual(done.returncode, 0, page)
        self.assertIn("4 programs: 1 passed, 2 differ, 1 not translated, 0 unexplained", done.stdout)
        self.assertIn("| no lists |", page)

    def test_what_cannot_be_wrapped(self):
        for words, reason in ((dict(ingress="resubmit_preserving_field_list(1);"), "resubmits"),
                              (dict(compute="hdr.t.x = 1;"), "computes"),
                              (dict(ingress="hdr.t.x = (bit<16>)sm.packet_length;"), "packet_length"),
                              (dict(egress="hdr.t.x = (bit<16>)sm.deq_qdepth;"), "queue"),
                              (dict(ingress="hash(hdr.t.x, HashAlgorithm.crc16, 16w0, { hdr.t.n }, 32w10);"), "modulo"),
                              (dict(ingress="random(hdr.t.x, 16w1, 16w15);"), "of a range"),
                              (dict(top="control X() { apply { exit; } }", declare="X() x;", ingress="x.apply();"),
                               "'X' exits")):
            (self.folder / "one.p4").write_text(program(**words))
            with self.assertRaisesRegex(wrap.Refused, reason):
                wrap.wrap(self.folder / "one.p4")

    def test_bad_folders(self):
        done, _ = self.run_all()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no v1model program with a packet script in it", done.stderr)


if __name__ == "__main__":
    tally.main()
