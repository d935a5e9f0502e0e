# SPDX-License-Identifier: Apache-2.0
"""The course in docs/learn, as a learner meets it: the commands of its texts print what the texts say, an exercise's
start fails with the sentence that its text shows, its solution passes in both builds and fits the chip, and solutions
with a plausible mistake fail with a hint that names the cause."""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "harness"))
import tally  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build")) + "/silken"
COURSE = os.path.join(ROOT, "docs", "learn")
EXERCISES = sorted(d for d in os.listdir(COURSE) if re.match(r"\d\d-", d))

# (exercise, a line of its solution, what somebody may write in its place, the script that fails, words of its hint)
MISTAKES = [
    ("01-parser", "        pkt.emit(hdr.tag);\n", "", "2-whole.stf", "the tag was extracted and not emitted"),
    ("01-parser", "            TYPE_SERVICE_TAG : parse_tag;\n", "", "3-service.stf",
     "A service tag (type 0x88a8) is read like any other"),
    ("01-parser", "        transition select(hdr.ethernet.ether_type) {\n            TYPE_TAG         : parse_tag;\n"
     "            TYPE_SERVICE_TAG : parse_tag;\n            default          : accept;\n        }\n",
     "        transition parse_tag;\n", "1-tagged.stf", "the parser must 'accept' it after the Ethernet header"),
]


def plain(text):
    """Runs of blanks, which lines are broken at, are one."""
    return " ".join(text.split())


def text_of(exercise):
    with open(os.path.join(COURSE, exercise, "README.md"), encoding="utf-8") as f:
        return f.read()


def blocks_of(text):
    """(command lines, what is printed) of each block of commands; without a block of output after it: ''."""
    found = []
    for kind, block in re.findall(r"^ *```(sh|text)\n(.*?)^ *```$", text, re.M | re.S):
        if kind == "sh":
            found.append([block, ""])
        else:
            found[-1][1] = block
    return found


@functools.cache
def scripts(exercise):
    return sorted(s for s in os.listdir(os.path.join(COURSE, exercise)) if s.endswith(".stf"))


class Course(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="silken-learn-")
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(COURSE, self.folder, dirs_exist_ok=True)
        self.environment = dict(os.environ, PATH=os.path.dirname(SILKEN) + ":" + os.environ["PATH"])

    def shell(self, command):
        done = subprocess.run(["bash", "-uc", command], cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        return done.returncode, done.stdout

    def run_scripts(self, program, exercise, options="", only="*.stf"):
        return self.shell(f"silken test {options} {exercise}/{program} {exercise}/{only}")

    def test_ten_exercises(self):
        self.assertEqual([e[:2] for e in EXERCISES], [f"{i:02}" for i in range(1, len(EXERCISES) + 1)])
        with open(os.path.join(COURSE, "README.md"), encoding="utf-8") as f:
            course = f.read()
        for exercise in EXERCISES:
            self.assertIn(f"({exercise}/README.md)", course)
            self.assertGreaterEqual(len(scripts(exercise)), 1, exercise)

    def test_texts(self):
        """Each block of commands of the texts, and the lines that it is said to print."""
        for exercise in EXERCISES:
            blocks = blocks_of(text_of(exercise))
            self.assertGreaterEqual(len(blocks), 2, exercise)
            for command, prints in blocks:
                with self.subTest(exercise=exercise, command=command):
                    status, output = self.shell(command)
                    self.assertLess(status, 2, output)
                    self.assertNotIn("error:", output)
                    # a line that is indented is the end of the one before it
                    for line in re.split(r"\n(?=\S)", prints.strip()):
                        self.assertIn(plain(line), plain(output))

    def test_starts(self):
        """Fail in the first script, with the hint that the text shows."""
        for exercise in EXERCISES:
            with self.subTest(exercise=exercise):
                first = scripts(exercise)[0]
                status, output = self.run_scripts("start.p4", exercise, only=first)
                if exercise == "09-fit":  # that does what it should, and does not fit
                    self.assertEqual(status, 0, output)
                    continue
                self.assertIn(status, (1, 2), output)
                hints = [line for line in output.splitlines() if f"{first}:" in line and ": hint: " in line]
                self.assertEqual(len(hints), 1, output)
                self.assertIn(plain(hints[0]), plain(text_of(exercise)))

    def test_solutions(self):
        for exercise in EXERCISES:
            for options in ("", "--strict"):
                with self.subTest(exercise=exercise, options=options):
                    status, output = self.run_scripts("solution.p4", exercise, options)
                    self.assertEqual(status, 0, output)
                    self.assertIn(f"{len(scripts(exercise))} passed, 0 failed", output)
            with self.subTest(exercise=exercise, check=True):
                status, output = self.shell(f"silken check {exercise}/solution.p4")
                self.assertEqual(status, 0, output)
                self.assertIn("fits Tofino 1", output)

    def test_mistakes(self):
        self.assertEqual(sorted({m[0] for m in MISTAKES}), EXERCISES)
        for exercise, right, wrong, script, words in MISTAKES:
            with self.subTest(exercise=exercise, wrong=wrong or f"without {right}"):
                path = os.path.join(self.folder, exercise, "mistake.p4")
                with open(os.path.join(COURSE, exercise, "solution.p4"), encoding="utf-8") as f:
                    solution = f.read()
                self.assertEqual(solution.count(right), 1, right)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(solution.replace(right, wrong))
                status, output = self.run_scripts("mistake.p4", exercise)
                self.assertEqual(status, 1, output)
                failed = re.findall(r"^FAIL \S*/(\S+)$", output, re.M)
                self.assertIn(script, failed[:1], output)
                hint = re.search(rf"/{script}:\d+: hint: (.*)", output)
                self.assertIn(words, hint.group(1) if hint else output)


if __name__ == "__main__":
    os.environ.setdefault("SILKEN_CACHE", os.path.abspath(os.environ.get("BUILD", "build")) + "/test-cache")
    tally.main()
