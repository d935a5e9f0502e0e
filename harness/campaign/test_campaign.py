# SPDX-License-Identifier: Apache-2.0
"""campaign.py: pieces are counted once, in a ledger that names commits; a finding ends it; damaged ledgers are refused."""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import campaign  # noqa: E402
import tally  # noqa: E402

HEADER = ",".join(campaign.COLUMNS) + "\n"


class Campaign(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.ledger = os.path.join(self.folder.name, "ledger.csv")

    def run_it(self, *words, seconds=0.1):
        with mock.patch.object(campaign, "commit_of", return_value="0123abcd"), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            status = campaign.campaign(self.ledger, words, seconds)
        return status, said.getvalue()

    def test_seeds_are_new_each_time(self):
        for expected in ((1_000_001, 1_000_020), (1_000_021, 1_000_040)):
            status, said = self.run_it("sim", "switchml-faults")
            self.assertEqual(status, 0, said)
            line = campaign.ledger_read(self.ledger)[-1]
            self.assertEqual((int(line["from"]), int(line["to"])), expected)
            self.assertEqual((line["commit"], line["runs"], line["found"]), ("0123abcd", "20", "nothing"))

    def test_a_piece_in_two_processes(self):
        there, last = subprocess.run, []

        def run(command, **how):
            last[:] = command
            return there(command, **how)

        with mock.patch.object(campaign.subprocess, "run", run), \
                mock.patch.object(campaign, "commit_of", return_value="0123abcd"), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(campaign.campaign(self.ledger, ("sim", "switchml-faults"), 0.1, jobs=2), 0)
        self.assertEqual(last[-2:], ["--jobs", "2"])
        self.assertEqual(campaign.ledger_read(self.ledger)[-1]["runs"], "20")

    def test_the_least_tried_is_next(self):
        with open(self.ledger, "w", encoding="utf-8") as f:
            f.write(HEADER)
            for name in campaign.scenarios():
                runs = 3 if name == "libra-faults" else 500
                f.write(f"2026-11-30,0123abcd,sim,{name},1,{runs},9,{runs},nothing\n")
        self.assertEqual(self.run_it("sim")[0], 0)
        line = campaign.ledger_read(self.ledger)[-1]
        self.assertEqual((line["name"], line["from"]), ("libra-faults", "4"))

    def test_a_finding_ends_it(self):
        done = subprocess.CompletedProcess((), 1, "seed 7: a wrong sum is violated\n"
                                           "switchml-faults: 20 seeds: 19 with all sums, 0 failed as allowed, 1 violated; "
                                           "1 s of virtual time, 5 events, in 0 s", "")
        with mock.patch.object(campaign.subprocess, "run", return_value=done):
            status, said = self.run_it("sim", "switchml-faults", seconds=100)
        self.assertEqual(status, 1, said)
        lines = campaign.ledger_read(self.ledger)
        self.assertEqual(len(lines), 1)
        self.assertIn("seed 7", lines[0]["found"])

    def test_a_switch_that_does_not_start_is_no_success(self):
        with mock.patch.object(campaign, "BUILD", self.folder.name), self.assertRaises(FileNotFoundError):
            self.run_it("sim", "switchml-faults")
        done = subprocess.CompletedProcess((), 2, "", "silken: error: no")
        with mock.patch.object(campaign.subprocess, "run", return_value=done):
            self.assertEqual(self.run_it("sim", "switchml-faults")[0], 1)

    def test_fuzzing_is_counted(self):
        with mock.patch.object(campaign, "targets", return_value=["rpc/fuzz_rpc", "filter/fuzz_filter"]):
            for said, found in (("rpc/fuzz_rpc    1s     123 runs  ok\n\n1 passed, 0 failed\n", "nothing"),
                                ("==1==ERROR: x\nfilter/fuzz_filter 1s runs  FAILED\n", "ERROR")):
                done = subprocess.CompletedProcess((), 0 if found == "nothing" else 1, said, "")
                with mock.patch.object(campaign.subprocess, "run", return_value=done):
                    self.run_it("fuzz", "rpc" if found == "nothing" else "filter")
                self.assertIn(found, campaign.ledger_read(self.ledger)[-1]["found"])
        self.assertEqual(campaign.ledger_read(self.ledger)[0]["runs"], "123")

    def test_damaged_ledgers(self):
        for text, what in (("day,commit\n", "first line"), (HEADER + "a,b,sim\n", ":2: not a line"),
                           (HEADER + "a,b,sim,c,1,x,3,4,nothing\n", ":2: not a line"),
                           (HEADER + "a,b,other,c,1,2,3,4,nothing\n", ":2: not a line"),
                           (HEADER + "a,b,sim,c,1,2,3,4,nothing,more\n", ":2: not a line")):
            with open(self.ledger, "w", encoding="utf-8") as f:
                f.write(text)
            with self.subTest(text), self.assertRaisesRegex(campaign.Wrong, what):
                campaign.ledger_read(self.ledger)

    def test_changes_do_not_count(self):
        there = os.getcwd()
        self.addCleanup(os.chdir, there)
        os.chdir(self.folder.name)
        for words in (("init", "-q"), ("config", "user.name", "n"), ("config", "user.email", "e")):
            campaign.git(*words)
        for name in ("one", "ledger.csv"):
            with open(name, "w", encoding="utf-8") as f:
                f.write("text")
        campaign.git("add", ".")
        campaign.git("commit", "-q", "-m", "m")
        commit = campaign.commit_of("ledger.csv")
        with open("ledger.csv", "w", encoding="utf-8") as f:
            f.write("more")
        self.assertEqual(campaign.commit_of("ledger.csv"), commit)
        with open("one", "w", encoding="utf-8") as f:
            f.write("more")
        with self.assertRaisesRegex(campaign.Wrong, "changes"):
            campaign.commit_of("ledger.csv")

    def test_words_that_choose_nothing(self):
        with self.assertRaisesRegex(campaign.Wrong, "nothing is chosen"):
            self.run_it("sim", "no-such-scenario")


class Documents(unittest.TestCase):
    def test_targets_of_the_network(self):
        """docs/reliability.md and the goals say the same."""
        with open("docs/reliability.md", encoding="utf-8") as f:
            rows = [line for line in f if line.startswith("| `harness/") and "fuzz_" in line]
        for row in rows:
            for name in re.findall(r"`harness/(\S+)\.c`", row):
                with self.subTest(name):
                    self.assertTrue(os.path.exists(f"harness/{name}.c"))
                    self.assertEqual(name in campaign.NETWORK, row.rstrip().endswith("| the network |"))
        named = {name for row in rows for name in re.findall(r"`harness/(\S+)\.c`", row)}
        self.assertLessEqual(campaign.NETWORK, named)

    def test_the_ledger(self):
        """It can be read, and no seed of a scenario is counted twice."""
        counted = {}
        for line in campaign.ledger_read(campaign.LEDGER):
            if line["kind"] == "sim":
                first, last = int(line["from"]), int(line["to"])
                self.assertGreater(first, counted.get(line["name"], campaign.BEFORE), line)
                counted[line["name"]] = last


if __name__ == "__main__":
    tally.main()
