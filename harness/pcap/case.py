# SPDX-License-Identifier: Apache-2.0
"""What tests of `silken replay` have in common: a folder of their own, and p4/l2 with three entries."""
import json
import logging

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

from captures import NS, replay  # noqa: E402
from folder import FolderCase  # noqa: E402

L2 = "p4/l2/l2.p4"
T0 = 1_700_000_000 * NS + 123_456_789
ENTRIES = {"entries": [
    {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send",
     "args": {"port": 1}},
    {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:02"}, "action": "send",
     "args": {"port": 2}},
    {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:ff"}, "action": "drop", "args": {}},
]}


def frame(last, number=0):
    return bytes(Ether(dst=f"02:00:00:00:00:{last}", src="02:00:00:00:00:04")
                 / IP(src="10.0.0.4", dst="10.0.0.1", id=number) / UDP(sport=7, dport=9)
                 / bytes([number] * 20))


class Case(FolderCase):
    def setUp(self):
        super().setUp()
        self.entries = self.file("entries.json", json.dumps(ENTRIES))

    def play(self, *arguments):
        return replay(L2, "--entries", self.entries, *arguments)

    def good(self, *arguments):
        done = self.play(*arguments)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done

    def refused(self, sentence, *arguments):
        done = self.play(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(sentence, done.stderr)
        return done
