#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken test`: what it says of a packet that differs, field by field where the checked build knows the fields."""
import os
import subprocess
import sys

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "pcap")]
import tally  # noqa: E402
from folder import FolderCase  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")
PROGRAM = os.path.join(HERE, "..", "stf", "journeys.p4")
SENT = "packet 3 000000000001 000000000002 a000 00 00 0001 00 beef\n"


class Fields(FolderCase):
    def differing(self, script, *options):
        self.file("a.stf", script)
        done = subprocess.run([SILKEN, "test", *options, PROGRAM, self.path("a.stf")], text=True, capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_every_field_that_differs_is_named(self):
        said = self.differing(SENT + "expect 1 000000000001 000000000003 a000 00 00 0001 12 be*f $\n", "--checked")
        fields = [line.strip() for line in said.splitlines() if ": expected 0x" in line]
        self.assertEqual(fields, ["hdr.ethernet.src_addr: expected 0x000000000003, got 0x000000000002",
                                  "hdr.order.egress: expected 0x2, got 0x1"])

    def test_digits_that_are_not_given_are_stars(self):
        said = self.differing(SENT + "expect 1 000000000001 0000000000*3\n", "--checked")
        self.assertIn("hdr.ethernet.src_addr: expected 0x0000000000*3, got 0x000000000002\n", said)

    def test_what_is_behind_the_headers_has_no_name(self):
        said = self.differing(SENT + "expect 1 000000000001 000000000002 a000 00 00 0001 11 beee\n", "--checked")
        self.assertIn("differs at byte 20", said)
        self.assertNotIn(": expected 0x", said)

    def test_the_fast_build_says_how_to_see_them(self):
        said = self.differing(SENT + "expect 1 000000000001 000000000003\n")
        self.assertNotIn(": expected 0x", said)
        self.assertIn("silken test: with --checked, packets that differ are shown field by field\n", said)


if __name__ == "__main__":
    tally.main()
