#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The regression suite of captures: `test_captures.py [WORD]...` runs the cases whose names contain one
of the words, all without. It prints TAP, and writes the same as JUnit to $BUILD/replay/junit.xml.

--list prints the names, --update writes the stories in golden/ anew; look at the difference then."""
import importlib
import os
import shutil
import sys
import time
from xml.sax.saxutils import escape, quoteattr

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run  # noqa: E402
from suite import CASES  # noqa: E402

MODULES = ["switchml_cases", "switchml_odd_cases", "switchml_pass_cases", "switchml_room_cases",
           "atp_cases", "ina_cases", "tna_cases", "tm_cases"]


class Report:
    """A line of TAP for each test as soon as it is known, and JUnit at the end."""

    def __init__(self, tests):
        self.n, self.failed, self.rows = 0, 0, []
        print(f"TAP version 14\n1..{tests}")

    def add(self, name, failure, seconds):
        self.n += 1
        self.failed += failure is not None
        print(f"{'not ok' if failure else 'ok'} {self.n} - {name}")
        for line in str(failure).splitlines() if failure else []:
            print(f"# {line}")
        sys.stdout.flush()
        self.rows.append((name, failure, seconds))

    def junit(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write('<?xml version="1.0" encoding="UTF-8"?>\n')
            f.write(f'<testsuite name="replay" tests="{self.n}" failures="{self.failed}" '
                    f'errors="0" time="{sum(r[2] for r in self.rows):.3f}">\n')
            for name, failure, seconds in self.rows:
                group, _, rest = name.partition("/")
                f.write(f'  <testcase classname="replay.{group}" name={quoteattr(rest)} '
                        f'time="{seconds:.3f}"')
                if failure is None:
                    f.write("/>\n")
                else:
                    first = str(failure).splitlines()[0]
                    f.write(f'>\n    <failure message={quoteattr(first)}>'
                            f'{escape(str(failure))}</failure>\n  </testcase>\n')
            f.write("</testsuite>\n")


def chosen(words):
    for module in MODULES:
        importlib.import_module(module)
    return [make() for name, make in CASES.items() if not words or any(w in name for w in words)]


def update(cases):
    for case in cases:
        path = run.golden_path(case)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(case.text())
    print(f"{len(cases)} stories written")


def play(case):
    """[(test, failure or None, seconds)] of a case."""
    folder = f"{run.BUILD}/replay/{case.name}"
    shutil.rmtree(folder, ignore_errors=True)
    words = run.write_files(case, folder)
    out = []
    for name, test in ((case.name, lambda: run.golden(case, words, folder)),
                       (f"{case.name}: the same again, in every build",
                        lambda: run.deterministic(case, words, folder))):
        start, failure = time.monotonic(), None
        try:
            test()
        except (run.Failure, OSError, AssertionError) as e:
            failure = e
        out.append((name, failure, time.monotonic() - start))
    return out


def main(words):
    cases = chosen([w for w in words if not w.startswith("--")])
    if "--list" in words:
        for case in cases:
            print(f"{case.name}: {case.about}")
        return 0
    if "--update" in words:
        update(cases)
        return 0
    if not cases:
        print("no case has such a name")
        return 1
    os.makedirs(f"{run.BUILD}/replay", exist_ok=True)
    os.environ.setdefault("SILKEN_CACHE", os.path.abspath(f"{run.BUILD}/test-cache"))
    os.makedirs(os.environ["SILKEN_CACHE"], mode=0o700, exist_ok=True)
    run.compile_all(cases)
    report = Report(2 * len(cases))
    for case, results in run.in_parallel(lambda c: play(c), cases):
        if isinstance(results, run.Failure):
            results = [(case.name, results, 0.0)]
        for result in results:
            report.add(*result)
    report.junit(f"{run.BUILD}/replay/junit.xml")
    print(f"{report.n - report.failed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    run.program(main)
