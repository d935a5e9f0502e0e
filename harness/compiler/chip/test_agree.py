#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The model against p4c's Tofino backend: what the backend said of our programs is in reference.csv
(docs/hardware-agreement.md says with which one and how), and for 95 % of them the model has to agree on whether
they fit, for 80 % on the stages within one. Everything in p4/ fits. And agree.py, which has measured that."""
import io
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, "..", ".."), HERE]
import agree  # noqa: E402
import tally  # noqa: E402

SILKEN = os.environ.get("BUILD", "build") + "/silken"
REFERENCE = "harness/compiler/chip/reference.csv"
OURS = ["p4/atp/atp.p4", "p4/dlcp/dlcp.p4", "p4/ina/ina.p4", "p4/l2/l2.p4", "p4/libra/libra.p4", "p4/rack/rack.p4",
        "p4/switchml/switchml.p4", "p4/tor/tor.p4"]

ASSEMBLY = """version:
  target: Tofino
phv ingress:
  hdr.a.b: W0
stage 0 ingress:
  phase0_match IngressParser.$PORT_METADATA:
    p4:
  hash_action tbl_one 0:
    p4: { name: tbl_one, hidden: true }
  stateful tbl_one$salu.cells:
    format: { lo: 32 }
stage 3 ingress:
  dependency: match
  exact_match t_0 0:
    size: 1
  action t_0$action:
    size: 1
stage 4 ingress:
  dependency: match
stage 1 egress:
  gateway cond-3 15:
    name: cond-3
deparser egress:
  ternary_match not_a_stage 3:
"""


class Agree(unittest.TestCase):
    def test_stages_are_read(self):
        self.assertEqual(agree.stages_of_assembly(ASSEMBLY), (4, 2))
        self.assertEqual(agree.stages_of_assembly("stage 0 ingress:\n  phase0_match p.$PORT_METADATA:\n"), (0, 0))
        self.assertEqual(agree.stages_of_assembly(""), (0, 0))

    def test_rates(self):
        def fits(n):
            return agree.answer(True, n, 0)
        no = agree.answer(False, 0, 0)
        pairs = [(fits(3), fits(4)), (fits(3), fits(5)), (no, no), (no, fits(2)), (None, no), (fits(1), None)]
        self.assertEqual(agree.rates(pairs), ((3, 4), (1, 2)))
        self.assertEqual(agree.remark(fits(3), fits(5)), "+2 !")
        self.assertEqual(agree.remark(fits(5), fits(4)), "-1")
        self.assertEqual(agree.remark(fits(5), fits(5)), "")
        self.assertEqual(agree.remark(no, fits(2)), "DISAGREE")
        self.assertEqual(agree.remark(no, None), "not counted")

    def test_everything_in_p4_fits(self):
        self.assertEqual(agree.programs(["p4"]), OURS)
        for path in OURS:
            with self.subTest(path):
                done = subprocess.run([SILKEN, "check", "--target", "tofino1", path], capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_agreement(self):
        known = agree.read_reference(REFERENCE)
        here = {path: theirs for path, theirs in known.items() if agree.is_here(path)}
        self.assertGreaterEqual(len(here), 40)
        self.assertEqual(sorted(set(OURS) - set(here)), [])
        rows = [(path, theirs, agree.by_silken(SILKEN, path, [])) for path, theirs in sorted(here.items())]
        table = io.StringIO()
        agree.print_table(rows, table)
        print(table.getvalue())
        (alike, of), (near, among) = agree.rates([row[1:] for row in rows])
        self.assertEqual(of, len(rows), "a program of ours cannot be judged\n" + table.getvalue())
        self.assertGreaterEqual(alike, 0.95 * of, table.getvalue())
        self.assertGreaterEqual(near, 0.8 * among, table.getvalue())


if __name__ == "__main__":
    tally.main()
