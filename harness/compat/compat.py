#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of programs that others wrote: compiles every P4 program under the folders given
and writes a table, docs/compatibility.md for instance.

    harness/compat/compat.py [OPTION]... FOLDER...

A program is a file that instantiates 'main'. Its own folder, the folder above and any folder 'common'
of those are searched for included files. Four things can happen:

    compiled   silken build made an object
    refused    an error at a place in the source; the first one is shown
    other      not a TNA or T2NA program (v1model, PSA...): silken build --parse-only is run instead
    FAILED     anything else: a crash, a time-out, C that does not compile. There must be none.

With --scripts DIR, the packet scripts DIR/PROGRAM/*.stf are run on a compiled program and counted.
With --reference CMD, CMD is run with the path of each refused program, and the table says whether it
refuses as well (exit status other than 0).

The last line is 'N programs: A compiled, B refused, C other, D failed'. Exit status 1 when
something failed, a script too.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

MAIN = re.compile(r"\)\s*main\s*;")
ARCHITECTURES = (("tna", re.compile(r'include\s*[<"]t(2)?na\.p4')),
                 ("v1model", re.compile(r'include\s*[<"]v1model\.p4')),
                 ("psa", re.compile(r'include\s*[<"](bmv2/)?psa\.p4')),
                 ("pna", re.compile(r'include\s*[<"](dpdk/)?pna\.p4')))

Result = collections.namedtuple("Result", "name status note scripts")


def programs(folder):
    for path in sorted(folder.rglob("*.p4")):
        try:
            if MAIN.search(path.read_text(errors="replace")):
                yield path
        except OSError as e:
            sys.exit(f"compat: {path}: {e.strerror}")


def include_dirs(path, extra):
    dirs = [path.parent, path.parent.parent]
    dirs += [d / "common" for d in dirs if (d / "common").is_dir()]
    return [str(d) for d in dirs] + extra


def architecture(path):
    text = path.read_text(errors="replace")
    for name, pattern in ARCHITECTURES:
        if pattern.search(text):
            return name
    return "tna"  # an include of an include


def run(command, seconds):
    """Exit status (None: time-out) and everything that was printed."""
    try:
        p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    return p.returncode, p.stdout.decode(errors="replace")


def first_error(output, folder):
    for line in output.splitlines():
        m = re.match(r"(.*?):(\d+):\d+: error: (.*)", line)
        if m:
            where = os.path.relpath(m[1], folder)
            # headers of the architecture lie elsewhere: their name is enough
            return f"{pathlib.Path(where).name}:{m[2]}: {m[3]}"
    return None


def scripts_of(args, path, includes):
    """(passed, failed, first failing script)"""
    passed = failed = 0
    worst = ""
    folder = pathlib.Path(args.scripts) / path.stem
    for s in sorted(folder.glob("*.stf")):
        status, _ = run([args.silken, "test"] + args.test_option + includes + [str(path), str(s)],
                        args.seconds)
        if status == 0:
            passed += 1
        else:
            failed += 1
            worst = worst or s.name
    return passed, failed, worst


def judge(args, path, folder):
    name = str(path.relative_to(folder))
    arch = architecture(path)
    includes = []
    for d in include_dirs(path, args.include):
        includes += ["-I", d]
    command = [args.silken, "build"] + includes
    if arch != "tna":
        command.append("--parse-only")
    status, output = run(command + [str(path)], args.seconds)
    if status == 0:
        if arch != "tna":
            return Result(name, "other", f"{arch}: syntax and types are accepted", None)
        return Result(name, "compiled", "", scripts_of(args, path, includes) if args.scripts else None)
    error = first_error(output, folder)
    if status == 1 and error:
        if args.reference:
            ref, _ = run(args.reference.split() + [str(path)], args.seconds)
            error += " (the reference compiler refuses it as well)" if ref else \
                " (the reference compiler accepts it)"
        return Result(name, "refused" if arch == "tna" else "other", error, None)
    if status == 1 and "No such file" in output:
        missing = re.search(r"([^\s:]+\.p4): No such file", output)
        return Result(name, "refused", f"includes {missing[1] if missing else 'a file'}, which is not there",
                      None)
    note = "time-out" if status is None else f"exit status {status}: {output.strip()[:200]}"
    return Result(name, "FAILED", note, None)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def table(out, label, results, with_scripts):
    count = collections.Counter(r.status for r in results)
    print(f"\n## {label}\n", file=out)
    print(f"{count['compiled']} of {len(results)} compiled, {count['refused']} refused, "
          f"{count['other']} other, {count['FAILED']} failed.\n", file=out)
    head = "| program | status | packet scripts | |" if with_scripts else "| program | status | |"
    print(head + "\n" + "| --- " * (head.count("|") - 1) + "|", file=out)
    for r in results:
        row = [r.name, r.status]
        note = r.note
        if with_scripts:
            if r.scripts and r.scripts[0] + r.scripts[1]:
                row.append(f"{r.scripts[0]} of {r.scripts[0] + r.scripts[1]} pass")
                if r.scripts[1]:
                    note = f"first that fails: {r.scripts[2]}"
            else:
                row.append("")
        print("| " + " | ".join(cell(c) for c in row + [note]) + " |", file=out)


def arguments():
    p = argparse.ArgumentParser(description="Compiles every P4 program under the folders.")
    p.add_argument("folders", nargs="+", metavar="FOLDER")
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    p.add_argument("--silken", default="build/silken", help="the compiler (build/silken)")
    p.add_argument("--scripts", metavar="DIR", help="packet scripts: DIR/PROGRAM/*.stf")
    p.add_argument("--test-option", action="append", default=[], metavar="OPT",
                   help="passed on to silken test")
    p.add_argument("--reference", metavar="CMD", help="another compiler, run on what is refused")
    p.add_argument("--label", action="append", default=[],
                   help="heading for a folder, in their order (its name)")
    p.add_argument("--preface", metavar="FILE", help="text to put in front of the tables")
    p.add_argument("--out", metavar="FILE", help="write the tables there (standard output)")
    p.add_argument("--seconds", type=float, default=180, help="limit for a program (180)")
    return p.parse_intermixed_args()


def main():
    args = arguments()
    groups = []
    for i, f in enumerate(args.folders):
        folder = pathlib.Path(f).resolve()
        if not folder.is_dir():
            sys.exit(f"compat: {f}: no such folder")
        results = []
        for path in programs(folder):
            r = judge(args, path, folder)
            results.append(r)
            print(f"{r.status:9} {r.name} {r.note}", file=sys.stderr)
        if not results:
            sys.exit(f"compat: {f}: no P4 program in it")
        groups.append((args.label[i] if i < len(args.label) else folder.name, results))
    out = open(args.out, "w") if args.out else sys.stdout
    print("# Programs of others\n\nWritten by `harness/compat/compat.py`, which says what the words "
          "mean.\nNothing of these programs is in this tree.", file=out)
    if args.preface:
        print("\n" + pathlib.Path(args.preface).read_text().strip(), file=out)
    for label, results in groups:
        table(out, label, results, args.scripts)
    every = [r for _, results in groups for r in results]
    count = collections.Counter(r.status for r in every)
    bad = sum(r.scripts[1] for r in every if r.scripts)
    if args.out:
        out.close()
    print(f"{len(every)} programs: {count['compiled']} compiled, {count['refused']} refused, "
          f"{count['other']} other, {count['FAILED']} failed")
    return 1 if count["FAILED"] or bad else 0


if __name__ == "__main__":
    sys.exit(main())
