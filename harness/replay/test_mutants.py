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
import proofs  # noqa: E402
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
                os.makedirs(f"{folder}/{name}/switchml")
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
    of = {1: None, 2: "switchml/a_case", 3: "", 4: run.Failure("why"), 5: "=code", 6: "=table"}
    told, sys.stdout = sys.stdout, io.StringIO()
    try:
        for n, by in of.items():
            tally.add(mutant(n), by)
        same("status", tally.report(), 1)
        same("line", log.getvalue().splitlines()[-2].split()[:2], ["code", "-"])
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


TABLE = """
enum bit<2> size_t { SMALL = 0, LARGE = 3 }
const bit<2> FIRST = 0;
const bit<2> NEXT = FIRST + 1;
struct md_t { bit<16> wide; bit<1> flag; size_t size; bit<2> pipe; }
table t {
    key = { md.flag : ternary; md.wide : ternary; md.size : ternary; md.pipe : ternary @name("p"); }
    actions = { a; b; }
    const entries = {
        (1, _, _, _)            : a();  // a comment
        (_, 16w0x10, _, _)      : b();
        (_, 7, size_t.SMALL, _) : a();
        (0, 8, _, FIRST)        : b();
        (0, 8, _, NEXT)         : a();
        (_, 8, size_t.LARGE, 2) : b();
        (_, 8, size_t.LARGE, 3) : a();
    }
    size = 7;
}
table open { key = { md.flag : exact; } actions = { a; b; } size = 8; }
"""


def tables_that_do_the_same():
    names = proofs.Names({"t.p4": TABLE})
    for old, new, is_same in (
            ("(_, 16w0x10", "(0, 16w0x10", True), ("(_, 16w0x10", "(1, 16w0x10", False),
            ("(_, 16w0x10", "(_, 16", True), ("(_, 16w0x10", "(_, 17", False), ("(_, 16w0x10", "(_, _", False),
            ("(_, 7, size_t.SMALL", "(_, 7, 0", True), ("(_, 7, size_t.SMALL", "(_, 7, _", False),
            ("(0, 8, _, NEXT)", "(_, 8, _, 1)", True), ("(0, 8, _, NEXT)", "(_, 8, _, _)", False),
            # the other pipes, but not the other sizes, have entries
            ("(_, 8, size_t.LARGE, 3)", "(_, 8, size_t.LARGE, _)", True),
            ("(_, 8, size_t.LARGE, 3)", "(_, 8, _, 3)", False),
            ("(_, 8, size_t.LARGE, 3) : a", "(_, 8, size_t.LARGE, 3) : b", False),
            ("(_, 7, size_t", "(_, unknown, size_t", False), ("table t", "table u", False), ("", "", False)):
        same(f"{old} -> {new}", proofs.same_entries(TABLE, TABLE.replace(old, new, 1), names), is_same)
    for old, new, is_same in (("size = 7", "size = 6", True), ("size = 8", "size = 9", False),
                              ("size = 7;", "size = 7; other = 7;", False), (": b();", ": a();", False)):
        same(f"{old} -> {new}", proofs.same_but_for_sizes(TABLE, TABLE.replace(old, new, 1)), is_same)
    same("code", proofs.code('a;\n  // from /x/y/z.p4\nb("/x/y/z.p4");\n', "/x/y"), 'a;\nb("/z.p4");\n')


def main(_):
    tables_that_do_the_same()
    slow_builds()
    results_are_kept()
    return mutants.main(["--sample", "6"])


if __name__ == "__main__":
    run.program(main)
