# SPDX-License-Identifier: Apache-2.0
"""Which optimisation fires where: plans of programs, to the letter (silken build --dump-plan).

harness/compiler/plan/plans has a plan NAME.plan for every program in p4/, for the programs of
harness/compiler/plan/lanes and harness/compiler/lower/golden, and for those that random differential tests
have found (harness/interp/findings). A pass that silently stops firing changes them. With UPDATE_GOLDEN=1 in the
environment they are written anew; read the difference before it is committed.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "harness"))
import tally  # noqa: E402

PLANS = os.path.join(HERE, "plans")
SILKEN = os.path.join(ROOT, os.environ.get("BUILD", "build"), "silken")
PROGRAMS = [f"p4/{name}/{name}.p4" for name in ("atp", "ina", "l2", "libra", "rack", "switchml", "tor")] + ["p4/switchml/with_roce.p4"]
FOLDERS = ["harness/compiler/plan/lanes", "harness/compiler/lower/golden", "harness/interp/findings"]


def optional_passes():
    """Passes that may be left out, as compiler/plan/plan.c and compiler/instrument/instrument.c list them."""
    found = []
    for path, of_pass in (("compiler/plan/plan.c", r'\{"(\w+)", [\w |]+, [\w |]+, true, \w+\},'),
                          ("compiler/instrument/instrument.c", r'\{"(\w+)", \w+, true, \w+\},')):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            found += re.findall(of_pass, f.read())
    return found


OPTIONAL = optional_passes()


def programs():
    """All programs that have a plan."""
    found = list(PROGRAMS)
    for folder in FOLDERS:
        for where, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
            found += [os.path.join(os.path.relpath(where, ROOT), n) for n in sorted(names) if n.endswith(".p4")]
    return found


def golden_of(program):
    name = os.path.basename(program)[:-3]
    return os.path.join(PLANS, f"{os.path.basename(os.path.dirname(program))}+{name}.plan")


def with_architecture(program, folder):
    """The program; or, of one that random tests wrote without the architecture's declarations, one with them."""
    with open(os.path.join(ROOT, program), encoding="utf-8") as f:
        text = f.read()
    if "#include" in text:
        return program
    whole = os.path.join(folder, os.path.basename(program))
    with open(whole, "w", encoding="utf-8") as f:
        f.write(f'#include <core.p4>\n#include <tna.p4>\n#line 1 "{program}"\n{text}')
    return whole


def build(program, *options):
    """What 'silken build' says and the plan that it writes; the C compiler is not run."""
    with tempfile.TemporaryDirectory() as cache:
        program = with_architecture(program, cache)
        env = {**os.environ, "CC": "/bin/false", "SILKEN_CACHE": cache, "SILKEN_VERIFY_IR": "1"}
        done = subprocess.run([SILKEN, "build", *options, "--dump-plan", "-", program], cwd=ROOT, env=env, text=True,
                              capture_output=True, check=False, timeout=120)
    return done.stderr, done.stdout


def expected(program):
    with open(golden_of(program), encoding="utf-8") as f:
        return f.read()


class Plans(unittest.TestCase):
    maxDiff = 4000

    def test_every_plan_is_as_written(self):
        for program in programs():
            with self.subTest(program=program):
                said, plan = build(program)
                self.assertIn("pipeline ", plan, said)
                if os.environ.get("UPDATE_GOLDEN"):
                    with open(golden_of(program), "w", encoding="utf-8") as f:
                        f.write(plan)
                self.assertEqual(plan, expected(program))

    def test_no_plan_is_left_over(self):
        self.assertEqual(sorted(os.listdir(PLANS)), sorted(os.path.basename(golden_of(p)) for p in programs()))

    def test_each_pass_that_is_left_out_is_noticed(self):
        for name in OPTIONAL:
            with self.subTest(without=name):
                fires = [p for p in programs() if f"    {name} " in expected(p)]
                self.assertTrue(fires, "the pass fires in no program")
                _, plan = build(fires[0], "--without-pass", name)
                self.assertIn("pipeline ", plan)
                self.assertNotIn(f"    {name} ", plan)
                self.assertNotEqual(plan, expected(fires[0]))

    def test_a_pass_that_is_needed_stays(self):
        for name in ("in_place", "variables", "nothing"):
            said, plan = build(PROGRAMS[2], "--without-pass", name)
            self.assertEqual(said, f"silken: error: '{name}' is not an optimisation that can be left out\n")
            self.assertEqual(plan, "")

    def test_other_builds_plan_less(self):
        for option, firing in (("--scalar", True), ("--checked", False)):
            _, plan = build("p4/switchml/switchml.p4", option)
            self.assertIn("pipeline pipe, ingress", plan)
            self.assertNotIn("    lanes ", plan)
            self.assertEqual("    parse_paths " in plan, firing)


if __name__ == "__main__":
    tally.main()
