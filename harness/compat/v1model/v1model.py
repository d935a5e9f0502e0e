#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of v1model programs that others wrote, with packet scripts, on a Tofino: wraps each program PROGRAM.p4
under FOLDER that has a script PROGRAM.stf beside it into a TNA program (wrap.py says how), runs the script with
'silken test', and writes a table, docs/v1model.md for instance.

    harness/compat/v1model/v1model.py [OPTION]... FOLDER

Of a program, one of these becomes true:

    passed           every packet came out as the script says
    differs          Silken refuses the wrapped program, or other packets came out; a Tofino does not have
                     what the program needs
    not translated   wrap.py has no TNA for what the program says

harness/compat/v1model/reasons says in which way the architectures differ: a line "REGULAR EXPRESSION | REASON" for
each way; the expression is matched with PROGRAM: MESSAGE. What no reason explains is wrong until somebody has
looked at it: it is marked, counted, and makes the exit status 1.

With --keep DIR the wrapped programs and their scripts stay in DIR. The last line is 'N programs: A passed, B differ,
C not translated, D unexplained'.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import wrap

HERE = pathlib.Path(__file__).resolve().parent
INCLUDES = re.compile(r'#\s*include\s*<v1model\.p4>')

Result = collections.namedtuple("Result", "name status message reason")


def programs(folder):
    for script in sorted(folder.rglob("*.stf")):
        path = script.with_suffix(".p4")
        if not path.is_file():
            continue
        try:
            text = wrap.inlined(path)
        except wrap.Refused:
            continue  # of another architecture, whose header lies elsewhere
        if INCLUDES.search(text):
            yield path


def message_of(output):
    """The first line that says what is wrong, without the places of this machine."""
    for line in output.splitlines():
        m = re.match(r".*?\.(?:p4|stf):(\d+)(?::\d+)?: (error: .*|port .*)", line)
        if m:
            return m[2]
    return output.strip()[:200] or "nothing is said"


def run(args, path, to):
    """(status, message)"""
    try:
        text = wrap.wrap(path)
    except wrap.Refused as e:
        return "not translated", str(e)
    program, script = to / path.name, to / (path.stem + ".stf")
    program.write_text(text)
    script.write_text(wrap.script(path.with_suffix(".stf").read_text(errors="replace")))
    command = [args.silken, "test", *args.test_option, "-I", str(HERE), str(program), str(script)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=args.seconds, check=False)
    except subprocess.TimeoutExpired:
        return "differs", "time-out"
    if done.returncode == 0:
        return "passed", ""
    return "differs", message_of(done.stdout.decode(errors="replace"))


def reasons(file):
    """[(expression, reason)]"""
    out = []
    for line in pathlib.Path(file).read_text().splitlines():
        if line and not line.startswith("#"):
            expression, reason = line.rsplit(" | ", 1)
            out.append((re.compile(expression.strip()), reason.strip()))
    return out


def explained(name, status, message, known):
    if status == "passed":
        return Result(name, status, "", "")
    for expression, reason in known:
        if expression.search(f"{name}: {message}"):
            return Result(name, status, message, reason)
    return Result(name, "UNEXPLAINED", f"{status}: {message}", "")


def totals(results):
    count = collections.Counter(r.status for r in results)
    return (f"{len(results)} programs: {count['passed']} passed, {count['differs']} differ, "
            f"{count['not translated']} not translated, {count['UNEXPLAINED']} unexplained")


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def write(out, results):
    print("# v1model programs on a Tofino\n\nWritten by `harness/compat/v1model/v1model.py`, which says what the words "
          "mean; `wrap.py` beside it says how\na program of the one architecture becomes one of the other. Nothing of "
          "these programs is in this tree.\n", file=out)
    print((HERE / "preface.md").read_text().strip() + "\n", file=out)
    print(f"{totals(results)}.\n\n| program | | what is said | how the architectures differ |\n"
          "| --- | --- | --- | --- |", file=out)
    for r in results:
        if r.status != "passed":
            print(f"| {r.name} | {r.status} | {cell(r.message)} | {cell(r.reason)} |", file=out)
    passed = [r.name for r in results if r.status == "passed"]
    print(f"\n{len(passed)} passed{':' if passed else '.'}\n", file=out)
    line = ""
    for name in passed:
        if len(line) + len(name) > 110:
            print(line.rstrip(), file=out)
            line = ""
        line += name + ", "
    if passed:
        print(line.rstrip(", ") + ".", file=out)


def arguments():
    p = argparse.ArgumentParser(description="Wraps v1model programs into TNA ones and runs their packet scripts.")
    p.add_argument("folder", metavar="FOLDER")
    p.add_argument("--silken", default="build/silken", help="the compiler (build/silken)")
    p.add_argument("--test-option", action="append", default=[], metavar="OPT",
                   help="passed on to silken test: --test-option=--checked")
    p.add_argument("--reasons", metavar="FILE", default=HERE / "reasons",
                   help="how the architectures differ (reasons, beside this file)")
    p.add_argument("--keep", metavar="DIR", help="write the wrapped programs and scripts there")
    p.add_argument("--out", metavar="FILE", help="write the table there (standard output)")
    p.add_argument("--seconds", type=float, default=180, help="limit for a program (180)")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="programs at a time (as many as processors)")
    return p.parse_args()


def main():
    args = arguments()
    folder = pathlib.Path(args.folder).resolve()
    if not folder.is_dir():
        sys.exit(f"v1model: {args.folder}: no such folder")
    found = list(programs(folder))
    if not found:
        sys.exit(f"v1model: {args.folder}: no v1model program with a packet script in it")
    known = reasons(args.reasons)
    with tempfile.TemporaryDirectory() as temporary:
        to = pathlib.Path(args.keep or temporary)
        to.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            fates = list(pool.map(lambda path: run(args, path, to), found))
    results = [explained(path.stem, *fate, known) for path, fate in zip(found, fates)]
    out = open(args.out, "w") if args.out else sys.stdout
    write(out, results)
    if args.out:
        out.close()
    for r in results:
        if r.status == "UNEXPLAINED":
            print(f"v1model: {r.name}: {r.message}", file=sys.stderr)
    print(totals(results))
    return 1 if any(r.status == "UNEXPLAINED" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
