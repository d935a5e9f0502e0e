#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken check`: its answer and exit status, the form of its JSON, which chip is meant, and what it answers
to input that cannot be used."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "pcap")]
import tally  # noqa: E402
from folder import FolderCase  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
L2 = "p4/l2/l2.p4"
TWICE = "harness/compiler/errors/register_twice.p4"
KEYS = {"form", "program", "fits", "target", "target_by", "stages_limit", "violations", "notes", "stages",
        "stages_ingress", "stages_egress", "tables", "resources", "critical_path", "dependencies", "phv",
        "parser", "deparser", "pipelines"}
VIOLATION = {"rule", "message", "suggestion", "file", "line", "column", "limit", "used", "also", "also_text",
             "path"}


def check(*arguments, **options):
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    return subprocess.run([f"{BUILD}/silken", "check", *map(str, arguments)], text=True,
                          capture_output=True, timeout=600, env=env, **options)


class Check(FolderCase):
    def document(self, *arguments, status=0):
        done = check("--json", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        doc = json.loads(done.stdout)
        self.assertEqual(set(doc), KEYS)
        for violation in doc["violations"]:
            self.assertEqual(set(violation), VIOLATION)
        self.assertEqual(doc["fits"], not doc["violations"])
        self.assertEqual(doc["fits"], status == 0)
        return doc

    def test_fits(self):
        doc = self.document(L2)
        self.assertEqual((doc["target"], doc["target_by"], doc["stages_limit"]), ("tofino1", "program", 12))
        self.assertEqual([p["name"] for p in doc["pipelines"]], ["pipe"])

    def test_other_chip(self):
        doc = self.document("--target", "tofino2", L2)
        self.assertEqual((doc["target"], doc["target_by"], doc["stages_limit"]), ("tofino2", "option", 20))


if __name__ == "__main__":
    tally.main()
