# SPDX-License-Identifier: Apache-2.0
"""The course in docs/learn, as a learner meets it: the commands of its texts print what the texts say, an exercise's
start fails with the sentence that its text shows, its solution passes in both builds and fits the chip, and solutions
with a plausible mistake fail with a hint that names the cause."""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [os.path.join(ROOT, "harness"), os.path.join(ROOT, "harness", "compiler", "chip")]
import agree  # noqa: E402
import tally  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build")) + "/silken"
COURSE = os.path.join(ROOT, "docs", "learn")
EXERCISES = sorted(d for d in os.listdir(COURSE) if re.match(r"\d\d-", d))

# (exercise, part of its solution, what somebody may write in its place, the script that fails, words of its hint)
MISTAKES = [
    ("01-parser", "        pkt.emit(hdr.tag);\n", "", "2-whole.stf", "the tag was extracted and not emitted"),
    ("01-parser", "            TYPE_SERVICE_TAG : parse_tag;\n", "", "3-service.stf",
     "A service tag (type 0x88a8) is read like any other"),
    ("01-parser", "            default          : accept;\n", "            default          : parse_tag;\n", "1-tagged.stf",
     "the parser must 'accept' it after the Ethernet header"),
    ("02-tables", " && hdr.ipv4.ttl > 1", "", "2-ttl.stf", "Test the TTL before the tables are applied"),
    ("02-tables", "            acl.apply();\n", "", "3-acl.stf", "nothing applies it"),
    ("02-tables", "    action deny() {\n        ig_dprsr_md.drop_ctl = 1;\n    }\n", "    action deny() {}\n", "3-acl.stf",
     "Does 'deny' set drop_ctl?"),
    ("03-counters", "CounterType_t.PACKETS_AND_BYTES", "CounterType_t.PACKETS", "1-entries.stf",
     "4 bytes of frame check sequence belong to each"),
    ("03-counters", "        if (hdr.tag.isValid()) {\n", "        {\n", "3-classes.stf",
     "A packet without a tag has no priority"),
    ("03-counters", "unknown.count(ig_intr_md.ingress_port)", "unknown.count(0)", "2-unknown.stf",
     "Count there, at index ig_intr_md.ingress_port"),
    ("04-registers", "hdr.report.number > sensor.last", "hdr.report.number >= sensor.last", "1-newest.stf",
     "'greater' is not 'greater or equal'"),
    ("04-registers", "            if (hdr.report.sensor[15:10] == 0) { // below SENSORS\n", "            {\n", "2-sensors.stf",
     "whoever has none must be refused before the register is accessed"),
    ("04-registers", "                sensor.refused = sensor.refused + 1;\n",
     "                sensor.last = hdr.report.number;\n                sensor.refused = sensor.refused + 1;\n",
     "1-newest.stf", "If 3 passes again, the refused number was stored"),
    ("05-sketch", "HashAlgorithm_t.CRC16", "HashAlgorithm_t.CRC32", "3-collisions.stf",
     "count in two rows with different hashes"),
    ("05-sketch", "min(md.a, md.b)", "max(md.a, md.b)", "3-collisions.stf", "believe the lesser count"),
    ("05-sketch", "min(md.a, md.b)", "md.b", "3-collisions.stf", "not one row alone"),
    ("05-sketch", "md.estimate >= HEAVY", "md.estimate > HEAVY", "1-count.stf", "This is the flow's fifth packet"),
    ("06-mirror-digest", "            KIND_COPY : parse_copy;\n", "", "2-copies.stf",
     "the egress parser takes it for an ordinary packet"),
    ("06-mirror-digest", "        watched.apply();\n",
     "        if (ig_dprsr_md.drop_ctl == 0) {\n            watched.apply();\n        }\n", "3-dropped.stf",
     "drop_ctl is about the packet, not about its copies"),
    ("06-mirror-digest", "    action known() {}\n",
     "    action known() {\n        ig_dprsr_md.digest_type = DIGEST_LEARNED;\n    }\n", "1-learn.stf",
     "only the default action reports"),
    ("07-recirculation", "ig_intr_md.ingress_port[8:7] ++ 7w68", "68", "3-pipes.stf", "Each pipe has a port 68"),
    ("07-recirculation", "hdr.batch.left > MOST || ", "", "4-bound.stf", "A batch of 9 records must be dropped"),
    ("07-recirculation", "            if (hdr.batch.left == 0) {\n                forward.apply();\n            } else {\n"
     "                again();\n            }\n", "            forward.apply();\n", "2-many.stf",
     "Of three records only the first is done"),
    ("08-multicast", "        ig_tm_md.level1_exclusion_id = 7w0 ++ ig_intr_md.ingress_port;\n", "", "2-sender.stf",
     "a copy went back there"),
    ("08-multicast", "        if (hdr.tag.isValid()) {\n", "        {\n", "3-receivers.stf", "A frame that has no tag stays as it is"),
    ("08-multicast", "        hdr.ethernet.ether_type = hdr.tag.ether_type;\n", "", "3-receivers.stf",
     "the type that was in the tag in its place"),
    ("09-fit", "|-| 999", "|-| 1000", "1-same.stf", "Rank 999 is admitted, 1000 and everything above is not"),
    ("09-fit", "hdr.words.w6 + hdr.words.w7", "hdr.words.w6 + hdr.words.w6", "1-same.stf", "The sum of the 8 words is wrong"),
    ("10-aggregation", "            value = value + v;\n", "            value = v;\n", "1-sum.stf",
     "it must be added to, and not replaced"),
    ("10-aggregation", "            (0, 0, _, _, _) : go_on();\n            (0, _, _, _, 0) : answer();\n",
     "            (0, _, _, _, 0) : answer();\n            (0, _, _, _, _) : go_on();\n", "2-once.stf",
     "Its bit in 'seen' says that it has contributed"),
    ("10-aggregation", "            (0, _, _, _, 0) : answer();\n", "", "3-again.stf", "Nobody is missing in the round"),
    ("10-aggregation", "            bits.odd = bits.odd & md.not_bit;\n", "", "4-rounds.stf",
     "must have been cleared by then"),
    ("10-aggregation", "++ hdr.sum.round[0:0];", "++ 1w0;", "4-rounds.stf", "Even and odd rounds have cells of their own"),
    ("10-aggregation", "            (0, 0) : even();\n            (0, 1) : odd();\n",
     "            (0, 0) : even();\n            (0, 1) : odd();\n            (2, 1) : odd();\n", "5-late.stf",
     "'seen' must not be accessed for a packet that is behind"),
]

# (scenario, part of the solution of exercise 10, what somebody may write, what the simulator says)
FOUND_IN_NETWORKS = [
    ("loss", "            (0, _, _, _, 0) : answer();\n", "", r"is not done"),
    ("loss", "            (1, _, _, _, _) : answer(); // of the round before, which is complete: a worker has gone on\n", "",
     r"is not done"),
    ("late", "            md.behind = md.greatest - hdr.sum.round;\n", "            md.behind = 0;\n",
     r"value \d of piece \d+ \(slot \d, round \d+\) is \d+, not \d+|is not done"),
    ("late", "            value = value + v;\n", "            value = value |+| v;\n",
     r"value \d of piece \d+ \(slot \d, round \d+\) is \d+, not \d+"),
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
        self.environment = dict(os.environ, PATH=os.path.dirname(SILKEN) + ":" + os.environ["PATH"],
                                SILKEN_HEADERS=os.path.join(ROOT, "hosts", "include"))

    def shell(self, command):
        done = subprocess.run(["bash", "-uc", command], cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        return done.returncode, done.stdout

    def run_scripts(self, program, exercise, options="", only="*.stf"):
        return self.shell(f"silken test {options} {exercise}/{program} {exercise}/{only}")

    def test_ten_exercises(self):
        self.assertEqual([e[:2] for e in EXERCISES], [f"{i:02}" for i in range(1, 11)])
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
                    self.assertLess(status, 3, output)
                    if "/solution.p4" in command and ">" not in command:
                        self.assertEqual(status, 0, output)
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

    def test_stages(self):
        """The table of stages: what the backend said is in reference.csv, and silken check says it now."""
        with open(os.path.join(COURSE, "README.md"), encoding="utf-8") as f:
            rows = re.findall(r"^\| (\d\d-\S+) \| ([^|]+) \| ([^|]+) \|$", f.read(), re.M)
        self.assertEqual([row[0] for row in rows], EXERCISES)

        def said(ingress, egress):
            return f"{ingress}, egress {egress}" if egress else str(ingress)
        known = agree.read_reference(os.path.join(ROOT, "harness", "compiler", "chip", "reference.csv"))
        for exercise, backend, model in rows:
            with self.subTest(exercise=exercise):
                theirs = known[f"docs/learn/{exercise}/solution.p4"]
                self.assertTrue(theirs["fits"])
                self.assertEqual(backend, said(theirs["ingress"], theirs["egress"]))
                ours = json.loads(self.shell(f"silken check --json {exercise}/solution.p4")[1])
                self.assertEqual(model, said(ours["stages_ingress"], ours["stages_egress"]))

    def change(self, exercise, right, wrong, name):
        """The exercise's solution with that change, as the file 'name' in its folder."""
        with open(os.path.join(COURSE, exercise, "solution.p4"), encoding="utf-8") as f:
            solution = f.read()
        self.assertEqual(solution.count(right), 1, right)
        with open(os.path.join(self.folder, exercise, name), "w", encoding="utf-8") as f:
            f.write(solution.replace(right, wrong))

    def test_mistakes(self):
        self.assertEqual(sorted({m[0] for m in MISTAKES}), EXERCISES)
        for exercise, right, wrong, script, words in MISTAKES:
            with self.subTest(exercise=exercise, right=right, wrong=wrong):
                self.change(exercise, right, wrong, "mistake.p4")
                status, output = self.run_scripts("mistake.p4", exercise)
                self.assertIn(status, (1, 2), output)
                failed = re.findall(r"^FAIL \S*/(\S+)$", output, re.M)
                self.assertEqual(failed[:1], [script], output)
                hint = re.search(rf"/{script}:\d+: hint: (.*)", output)
                self.assertIn(words, hint.group(1) if hint else output)

    def test_a_program_that_does_not_fit(self):
        status, output = self.shell("silken check 09-fit/start.p4")
        self.assertEqual(status, 1, output)
        self.assertEqual(re.findall(r"\[([a-z-]+)\]$", output, re.M), ["action-sources", "gateway-width", "stages"])

    def test_networks(self):
        """Of exercise 10: the solution in networks with faults, and what they find in solutions that are wrong."""
        status, output = self.shell(next(c for c, _ in blocks_of(text_of("10-aggregation")) if c.startswith("cc ")))
        self.assertEqual(status, 0, output)
        folder = os.path.join(self.folder, "10-aggregation")
        shutil.copy(os.path.join(folder, "solution.p4"), os.path.join(folder, "start.p4"))
        status, output = self.shell("silken sim 10-aggregation/rack.json")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"sums +sums +4 workers")
        commands = re.findall(r"^    (silken sim .*--seeds.*)$", text_of("10-aggregation"), re.M)
        self.assertEqual(len(commands), 2)
        for command in commands:
            with self.subTest(command=command):
                status, output = self.shell(command)
                self.assertEqual(status, 0, output)
                self.assertIn("200 with all sums, 0 failed as allowed, 0 violated", output)
        command = re.search(r"^    (silken lab run .*)$", text_of("10-aggregation"), re.M).group(1)
        status, output = self.shell(f"{command} --name learn-{os.getpid()} --within 120")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"sums +sums +4 workers .* 12800 elements verified")
        for scenario, right, wrong, says in FOUND_IN_NETWORKS:
            with self.subTest(scenario=scenario, right=right, wrong=wrong):
                self.change("10-aggregation", right, wrong, "start.p4")
                status, output = self.shell(f"silken sim 10-aggregation/{scenario}.json --seeds 1..20")
                self.assertEqual(status, 1, output)
                self.assertRegex(output, says)


if __name__ == "__main__":
    os.environ.setdefault("SILKEN_CACHE", os.path.abspath(os.environ.get("BUILD", "build")) + "/test-cache")
    tally.main()
