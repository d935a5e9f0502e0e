#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""flat.p4: tables that are filled as a whole give each key its number, whatever its width, and the default beyond the last
one; those with entries, or nothing, are as any other table."""
import os
import random
import struct
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
import tally  # noqa: E402
from switch import Switch  # noqa: E402

HEAD = bytes.fromhex("020000000002020000000001" "9000")


def filled(table, action, values, digits=4):
    return {"table": table, "action": action, "values": "".join(f"{v:0{digits}x}" for v in values)}


class Flat(unittest.TestCase):
    def start(self, **config):
        self.switch = Switch({"program": os.path.abspath("harness/scapy/flat.p4"),
                              "ports": [{"port": 1, "device": "net_null1"}], **config})
        self.addCleanup(self.switch.close)

    def ask(self, key):
        """What the tables make of five = 0, hit = 0, narrow = 7, wide = 9."""
        (_, data), = self.switch.send(1, HEAD + struct.pack(">HBBHI", key, 0, 0, 7, 9) + b"end")
        self.assertEqual((data[:14], data[24:]), (HEAD, b"end"))
        found, *rest = struct.unpack(">HBBHI", data[14:24])
        self.assertEqual(found, key)
        return tuple(rest)

    def test_filled(self):
        rng = random.Random(2)
        fives = [rng.randrange(32) for _ in range(200)]
        narrows = [rng.randrange(65536) for _ in range(65536)]
        wides = [rng.randrange(1 << 32) for _ in range(1000)]
        others = [rng.randrange(1 << 32) for _ in range(3)]
        self.start(filled=[filled("fives", "set_five", fives, 2), filled("narrows", "set_narrow", narrows),
                           filled("wides", "set_wide", wides, 8), filled("others", "set_wide", others, 8)])
        for key in [0, 1, 2, 3, 4, 511, 512, 515, 798, 799, 800, 803, 999, 1000, 65535,
                    *(rng.randrange(65536) for _ in range(200))]:
            five = key >> 2 & 255
            hit, wide = (1, wides[key]) if key < 1000 else (0, 9)
            if key & 511 < 3:
                hit, wide = hit + 2, others[key & 511]
            self.assertEqual(self.ask(key), (fives[five] if five < 200 else 1, hit, (7 + narrows[key]) & 0xFFFF, wide), key)

    def test_all_keys(self):
        rng = random.Random(3)
        fives = [rng.randrange(32) for _ in range(256)]
        wides = [rng.randrange(1 << 32) for _ in range(65536)]
        self.start(filled=[filled("fives", "set_five", fives, 2), filled("wides", "set_wide", wides, 8)])
        for key in [0, 3, 4, 1019, 1020, 1023, 1024, 65535, *(rng.randrange(65536) for _ in range(200))]:
            self.assertEqual(self.ask(key), (fives[key >> 2 & 255], 1, 9, wides[key]), key)

    def test_entries(self):
        def entry(table, key, action, value):
            return {"table": table, "key": {"key": key}, "action": action, "args": {"value": value}}
        self.start(entries=[entry("fives", 3, "set_five", 30), entry("narrows", 12, "set_narrow", 65535),
                            entry("wides", 12, "set_wide", 0xFFFFFFFF), entry("others", 13, "set_wide", 5)])
        self.assertEqual(self.ask(12), (30, 1, 6, 0xFFFFFFFF))
        self.assertEqual(self.ask(13), (30, 2, 9, 5))
        self.assertEqual(self.ask(16), (1, 0, 9, 9))

    def test_nothing(self):
        self.start()
        self.assertEqual(self.ask(0), (1, 0, 9, 9))


if __name__ == "__main__":
    tally.main()
