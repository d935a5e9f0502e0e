# SPDX-License-Identifier: Apache-2.0
"""compat.py tells what became of programs: translated, rightly refused, wrongly refused, of another architecture.

    python3 harness/compat/test_compat.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tally  # noqa: E402
SILKEN = f"{os.environ.get('BUILD', 'build')}/silken"
GOOD = (HERE.parents[1] / "p4/l2/l2.p4").read_text()
MAIN = "Pipeline(A(), B(), C(), D(), E(), F()) pipe;\nSwitch(pipe) main;\n"


class Projects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def project(self, name, **files):
        for file, text in files.items():
            path = self.folder / name / (file.replace("__", "/") + ".p4")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(self.folder / name)

    def compat(self, *words):
        page = self.folder / "page.md"
        if "--behaviour" not in words:
            words += ("--translate",)
        done = subprocess.run([sys.executable, HERE / "compat.py", "--silken", SILKEN, "--out", page,
                               *words], text=True, capture_output=True, check=False, timeout=600)
        return done, page.read_text()

    def test_what_is_right(self):
        good = self.project("somebody+good", switch=GOOD)
        other = self.project("somebody+other", simple="#include <v1model.p4>\nV1Switch(A()) main;\n",
                             template="#include <tna.p4>\n#error fill in the blanks\n" + MAIN,
                             old='#include <tna.p4>\n#include "lost.p4"\n' + MAIN)
        empty = self.project("somebody+empty", part="const bit<8> x = 1;\n")
        done, page = self.compat("--brief", "Projects", good, other, empty)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 projects, 4 programs: 1 translated, 2 refused, 1 other, 0 failed.", page)
        self.assertIn("| somebody/good | 1 | 1 translated, 0 failed |", page)
        self.assertIn("fill in the blanks: the text itself says that it cannot be compiled alone |", page)
        self.assertIn("lost.p4: No such file or directory: the repository does not have this file |", page)

    def test_a_file_that_is_in_two_places(self):
        last = "Switch(pipe) main;\n"
        folder = self.project("twice", a__old__rest="header_type old_t { }\n",
                              b__top__top='#include "rest.p4"\n' + last,
                              b__parts__more__rest=GOOD[:-len(last)])
        done, page = self.compat(folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 translated", page)

    def test_a_file_that_is_elsewhere(self):
        last = "Switch(pipe) main;\n"
        self.assertTrue(GOOD.endswith(last))
        folder = self.project("apart", top='#include "deep/rest.p4"\n' + last, far__away__deep__rest=GOOD[:-len(last)])
        done, page = self.compat(folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| top.p4 | translated |  |", page)
        self.assertIn("1 programs: 1 translated, 0 failed", done.stdout)

    def test_a_refusal_without_a_reason(self):
        done, page = self.compat(self.project("wrong", switch=GOOD + "const bit<8> undefined = 1 / 0;\n"))
        self.assertEqual(done.returncode, 1, page)
        self.assertIn("| switch.p4 | REFUSED |", page)
        self.assertIn("1 programs: 1 wrongly refused, 0 failed", done.stdout)

    def test_append(self):
        good = self.project("somebody+good", switch=GOOD)
        self.compat(good)
        done, page = self.compat("--append", "--brief", "More", good)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(page.count("# Programs of others"), 1)
        self.assertIn("## somebody/good", page)
        self.assertIn("## More", page)

    def script(self, path, text):
        path = self.folder / "scripts" / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def behaviour(self, *folders):
        return self.compat("--behaviour", "Behaviour", "--own-scripts", str(self.folder / "scripts"), *folders)

    def test_scripts_of_our_own(self):
        good = self.project("somebody+good", deep__switch=GOOD, deep__other=GOOD)
        more = self.project("somebody+more", switch="#error nobody looks at it\n" + MAIN)
        self.script("somebody+good/deep/switch/way.stf",
                    "# Sent where the table says. To\n# port 3.\nadd forward hdr.ethernet.dst_addr:1 send(port:3)\n"
                    "packet 1 000000000001 000000000002 88b5\nexpect 3 000000000001 000000000002 88b5 $\n")
        done, page = self.behaviour(good, more)
        self.assertEqual(done.returncode, 0, done.stderr + page)
        self.assertIn("1 programs of 1 projects: 1 behave as their scripts say, 0 do not.", page)
        self.assertIn("| somebody/good/deep/switch.p4 | Sent where the table says | 1 | 3 of 3 pass |", page)
        self.script("somebody+good/deep/other/wrong.stf",
                    "# It floods.\npacket 1 000000000001 000000000002 88b5\nexpect 3 000000000001 $\n")
        done, page = self.behaviour(good, more)
        self.assertEqual(done.returncode, 1, page)
        self.assertIn("2 programs of 1 projects: 1 behave as their scripts say, 1 do not.", page)
        self.assertIn("good/deep/other.p4 | It floods | 1 | 0 of 3 pass; first that fails: wrong.stf |", page)

    def test_scripts_that_are_wrong(self):
        good = self.project("somebody+good", switch=GOOD)
        self.script("somebody+good/switch/a.stf",
                    "# p4testgen seed: 1\nadd forward hdr.ethernet.dst_addr:1 send(port:68)\n"
                    "packet 1 000000000001 000000000002 88b5\nexpect 68 000000000001 000000000002 88b5 $\n")
        self.script("somebody+good/switch/b.stf", "# p4testgen seed: 1\npacket 1 000000000001 000000000002 8\n")
        done, page = self.behaviour(good)
        self.assertEqual(done.returncode, 0, page)
        self.assertIn("| by p4testgen | 2 | 0 of 6 pass; 3: the packet leaves by a recirculation port", page)
        self.assertIn("; 3: the generator writes half a byte", page)
        self.assertIn("1 behave as their scripts say, 0 do not; 6 of 6 runs are of scripts that are wrong", page)
        self.assertNotIn("first that fails", page)

    def test_a_script_whose_program_is_gone(self):
        good = self.project("somebody+good", switch=GOOD)
        self.script("somebody+good/gone/way.stf", "packet 1 00\n")
        done, page = self.behaviour(good)
        self.assertEqual(done.returncode, 1, page)
        self.assertIn("compat: no program for somebody+good/gone/way.stf", done.stderr)


if __name__ == "__main__":
    tally.main()
