#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs at the limits of the chip: harness/compiler/chip/limits. Each is over one limit with -D OVER, and `silken
check` has to refuse it for that reason, at the line that is marked, and for no other; without the macro it is
just inside of the limit and has to fit.

A program's second line says which rule it violates, `// refused: RULE`, or `// doubted: RULE` where the answer has to
be that it may not fit, and may go on with words that the
message must have in it. Lines are marked with `// here`, more than one where it takes several to be wrong.
Beside them harness/compiler/chip/fits: programs that look as if they were over a limit and are not. Their second
line says how many stages they take, `// fits: STAGES`, or `// fits: STAGES on tofino2`, and their third one,
`// warns: RULE`, what is warned of, if anything is.
held.txt names programs that the model does not judge rightly yet, with the reason; it should be empty."""
import glob
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(__file__)
sys.path.insert(0, os.path.join(HERE, "..", ".."))
import tally  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
FOLDER = "harness/compiler/chip/limits"
SHARED = {"common.p4", "headers.p4"}
FITS = "harness/compiler/chip/fits"
FEWEST = 60  # pairs, of which the issue asks for 50


def programs():
    return [p for p in sorted(glob.glob(FOLDER + "/*.p4")) if os.path.basename(p) not in SHARED]


def held():
    path = FOLDER + "/held.txt"
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        lines = [line.rstrip("\n").split(None, 1) for line in f if line.strip() and line[0] != "#"]
    return {name: reason for name, reason in lines}


def lines_of(path):
    with open(path) as f:
        return f.read().split("\n")


def expectation(path):
    """The rule, the words of its message, and the marked lines."""
    lines = lines_of(path)
    head = lines[1].split(None, 3)
    if head[:2] not in (["//", "refused:"], ["//", "doubted:"]):
        raise ValueError(f"{path}:2: this is not '// refused: RULE'")
    marked = [n for n, line in enumerate(lines, 1) if line.rstrip().endswith("// here")]
    if not marked:
        raise ValueError(f"{path}: no line is marked with '// here'")
    return head[2], head[3] if len(head) > 3 else "", marked


def check(path, *options, target="tofino1"):
    done = subprocess.run([f"{BUILD}/silken", "check", "--json", "--target", target, *options, path],
                          text=True, capture_output=True, timeout=120)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, {"fits": None, "violations": [], "error": done.stderr}


def told(doc):
    said = [f"{v['file']}:{v['line']}: {v['rule']}: {v['message']}" for v in doc["violations"]]
    return "\n    ".join(said) or doc.get("error") or "nothing"


def fault_of_over(path):
    """What is wrong with the answer to the program that is over; None: nothing."""
    rule, words, marked = expectation(path)
    status, doc = check(path, "-DOVER")
    violations = doc["violations"]
    doubted = lines_of(path)[1].startswith("// doubted: ")
    if status != (3 if doubted else 1) or doc["fits"] is not False:
        return f"is not refused (exit status {status}); it says\n    {told(doc)}"
    wanted = [(path, line, rule) for line in marked]
    if sorted((v["file"], v["line"], v["rule"]) for v in violations) != wanted or \
            not all(words in v["message"] for v in violations):
        return f"should be refused by '{rule}' {words!r} at lines {marked} alone; it says\n    {told(doc)}"
    return None


def fault_of_twin(path):
    status, doc = check(path)
    if status != 0 or doc["fits"] is not True:
        return f"should fit (exit status {status}); it says\n    {told(doc)}"
    return None


class Limits(unittest.TestCase):
    def test_programs_that_fit(self):
        found = sorted(glob.glob(FITS + "/*.p4"))
        self.assertGreaterEqual(len(found), 10)
        for path in found:
            with self.subTest(path):
                stages, _, target = lines_of(path)[1].removeprefix("// fits: ").partition(" on ")
                status, doc = check(path, target=target or "tofino1")
                self.assertEqual((status, doc["fits"], doc.get("stages")), (0, True, int(stages)), told(doc))
                warned = lines_of(path)[2].partition("// warns: ")[2]
                self.assertEqual([v["rule"] for v in doc["warnings"]], [warned] if warned else [])

    def test_there_are_enough(self):
        self.assertGreaterEqual(len(programs()), FEWEST)
        self.assertLessEqual(set(held()), {os.path.basename(p)[:-3] for p in programs()})


def both(path):
    name = os.path.basename(path)[:-3]
    back = held().get(name)

    def test(self):
        faults = [f"{way} {fault}" for way, fault in
                  (("over the limit it", fault_of_over(path)), ("inside the limit it", fault_of_twin(path)))
                  if fault]
        if back:
            print(f"held back: {name}: {back}" if faults else f"{name} is right now: take it out of held.txt")
        elif faults:
            self.fail("\n".join([path, *faults]))
    return test


for program in programs():
    setattr(Limits, "test_" + os.path.basename(program)[:-3], both(program))

if __name__ == "__main__":
    tally.main()
