# SPDX-License-Identifier: Apache-2.0
"""The files and functions that docs/design.md sends a newcomer to exist, and so do all files that documents name."""
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(HERE, ".."))
import tally  # noqa: E402

# Paths in documents that are examples, or of other trees.
NOT_OURS = {"p4/poiriot.p4", "p4/rdma_icrc.p4", "p4/rdma_mcast.p4", "hosts/dlcp",
            "p4/switchml.p4", "p4/processor.p4", "dpdk/silken/dpdk_telemetry.v2",
            "sim/scenarios/atp-faults.json", "p4/NAME/NAME.p4", "dpdk/psa.p4", "p4/targets/tofino",
            "examples/maximum/maximum.so"}  # made by a command of its page


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def walk():
    """(file, name) of each change, by its heading."""
    part = text("docs/design.md").split("## 12. A newcomer's walk")[1].split("\n## ")[0]
    found = {}
    for change in re.split(r"^- ", part, flags=re.M)[1:]:
        path = None
        for word in re.findall(r"`([^`]+)`", change):
            if "/" in word:
                path = word
            else:
                found.setdefault(change.split("**")[1], []).append((path, word))
    return found


def has(path, name):
    """Whether the file defines or declares that: in C at the beginning of a line, in a grammar a rule."""
    return re.search(rf"^(?![ \t#/*]|#include).*\b{name}\b|^#define {name}\b", text(path), re.M)


# A row of a table about other projects: OWNER/NAME, and a file of theirs.
FILE_OF_OTHERS = re.compile(r"^\| [\w.-]+/[\w.-]+ \| \S+ \|", re.M)


class Walk(unittest.TestCase):
    def test_ten_changes(self):
        self.assertEqual(len(walk()), 10)

    def test_each_place_exists(self):
        for change, places in walk().items():
            self.assertGreaterEqual(len(places), 2, change)
            for path, name in places:
                with self.subTest(change=change, path=path, name=name):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, path)))
                    self.assertTrue(has(path, name), f"{path} has no {name}")

    def test_what_is_not_there_is_told(self):
        self.assertFalse(has("base/file.c", "sk_read_nothing"))
        self.assertFalse(has("base/file.c", "sk_fail"))  # called, not defined

    def test_files_that_documents_name_exist(self):
        files = set(subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                                   capture_output=True, check=True).stdout.split("\n"))
        tops = "|".join(sorted({re.escape(f.split("/")[0]) for f in files if "/" in f}))
        for path in sorted(f for f in files if f.endswith(".md")):
            for named in re.findall(rf"(?<![\w/.-])((?:{tops})/[\w./-]*\w)", FILE_OF_OTHERS.sub("", text(path))):
                if named not in NOT_OURS:
                    with self.subTest(document=path, names=named):
                        self.assertTrue(os.path.exists(os.path.join(ROOT, named)), f"{path} names {named}")


if __name__ == "__main__":
    tally.main()
