#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A few mutants of p4/switchml, which the captures must notice; `make mutants` tries all. Before that, that
a run can be slow, end, and go on."""
import io
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutants  # noqa: E402
import run  # noqa: E402
from mutate import Mutant  # noqa: E402


def same(what, is_so, should):
    if is_so != should:
        raise run.Failure(f"{what}: {is_so!r}, not {should!r}")


def mutant(n):
    return Mutant("a.p4", n, "constant", n, "1", ("0",), False, f"a.p4: #define N      [{n} -> 0]")


def slow_builds():
    """A compilation without end is an error of its mutant, one that is slow once is none."""
    with tempfile.TemporaryDirectory() as folder:
        script = f"{folder}/silken"
        with open(script, "w", encoding="utf-8") as f:
            # the second of these words is the program's path
            f.write('#!/bin/sh\n[ -e "$2.once" ] && exit 0\ncase $2 in *slow*) : > "$2.once" ;; esac\n'
                    'exec sleep 30\n')
        os.chmod(script, 0o755)
        silken, run.SILKEN = run.SILKEN, script
        limits, mutants.COMPILE_S = mutants.COMPILE_S, (0.3, 3)
        try:
            for name in ("slow", "endless"):
                os.mkdir(f"{folder}/{name}")
            same("slow once", mutants.Hunt.compiles(f"{folder}/slow", None), True)
            (_, failure), (_, after) = mutants.batches(
                [mutant(1), mutant(2)], 2, {mutant(2).key: "case"},
                lambda m: mutants.Hunt.compiles(f"{folder}/endless", None))
            same("endless", isinstance(failure, run.Failure), True)
            same("the one behind it", after, "case")
        finally:
            run.SILKEN, mutants.COMPILE_S = silken, limits


def results_are_kept():
    log = io.StringIO()
    tally = mutants.Tally(log, "digest")
    of = {1: None, 2: "switchml/a_case", 3: "", 4: run.Failure("why")}
    told, sys.stdout = sys.stdout, io.StringIO()
    try:
        for n, by in of.items():
            tally.add(mutant(n), by)
        same("status", tally.report(), 1)
        same("said", "a.p4:4: a.p4: #define N      [4 -> 0]\n  why\n" in sys.stdout.getvalue(), True)
    finally:
        sys.stdout = told
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/mutants.text"
        same("no file", mutants.results(path, "digest"), {})
        with open(path, "w", encoding="utf-8") as f:
            f.write(log.getvalue())
        same("results", mutants.results(path, "digest"),
             {mutant(n).key: by for n, by in of.items() if n != 4})
        same("of something else", mutants.results(path, "another"), {})


def main(_):
    slow_builds()
    results_are_kept()
    return mutants.main(["--sample", "6"])


if __name__ == "__main__":
    run.program(main)
