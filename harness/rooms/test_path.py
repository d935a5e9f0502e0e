# SPDX-License-Identifier: Apache-2.0
"""A packet's way reads downwards: receive, ingress, traffic manager, egress, send. No file calls one that is above it,
packets leave in the last one only, and the bytes in front of a packet are written in one place."""
import glob
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(HERE, ".."))
import tally  # noqa: E402

WAY = ["pipeline/path/receive.c", "pipeline/path/ingress.h", "pipeline/tm/tm.c", "pipeline/path/egress.h",
       "pipeline/path/send.h", "pipeline/path/send.c"]
ENGINE = ["pipeline/switch", "pipeline/path", "pipeline/tm", "pipeline/cores", "pipeline/observe"]
# What only some files may do, and which.
ALONE = {
    "count what is sent": (r"stats\.tx_(packets|bytes)\s*(\+\+|--|[-+]=)|\bcount_sent\(",
                           ["pipeline/path/send.h", "pipeline/path/send.c"]),
    "count what is dropped": (r"stats\.drops\[[^]]*\](\[[^]]*\])?\s*(\+\+|--|[-+]=)",
                              ["pipeline/path/send.h", "pipeline/path/send.c"]),
    "give a packet to its port": (r"->tx\(|\bsk_pool_send\(|\bsk_send_queue_put\(",
                                  ["pipeline/path/send.h", "pipeline/switch/pool.h"]),
    "write what is in front of a packet": (r"\bhtobe(16|32|64)\(", ["pipeline/prefix.h"]),
}


def code(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.sub(r"//[^\n]*|\"(\\.|[^\"\\\n])*\"", "", f.read())


def defined(text):
    """The functions that a file defines."""
    heads = re.findall(r"^(?![ \t#}/]|struct \w+ \{|enum)[^;{}=]*?\{\n", text, re.M)
    found = set()
    for head in heads:
        name = re.search(r"\b(\w+)\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head))
        if name:
            found.add(name.group(1))
    return found


def calls_above(way, texts):
    """(file, function) of each call of a function that a file above defines."""
    above = {}
    wrong = []
    for path in way:
        own = defined(texts[path])
        wrong += [(path, name) for name in sorted(set(re.findall(r"\b(\w+)\(", texts[path])))
                  if name in above and name not in own]
        above.update({name: path for name in own})
    return wrong


class Path(unittest.TestCase):
    def test_downwards(self):
        texts = {path: code(path) for path in WAY}
        for path in WAY:
            self.assertGreaterEqual(len(defined(texts[path])), 3, path)
        self.assertEqual(calls_above(WAY, texts), [])

    def test_a_call_upwards_is_told(self):
        texts = {path: code(path) for path in WAY}
        texts["pipeline/path/send.h"] += "\nstatic void again(struct sk_core *core) {\n    tm_admit(core);\n}\n"
        self.assertEqual(calls_above(WAY, texts), [("pipeline/path/send.h", "tm_admit")])

    def test_each_does_its_own(self):
        for what, (pattern, where) in ALONE.items():
            for path in where:
                self.assertRegex(code(path), pattern, what)
            for folder in ENGINE:
                for full in sorted(glob.glob(os.path.join(ROOT, folder, "*.[ch]"))):
                    path = os.path.relpath(full, ROOT)
                    if path not in where:
                        self.assertNotRegex(code(path), pattern, f"{path}: only {where[0]} may {what}")


if __name__ == "__main__":
    tally.main()
