#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How far `silken check` agrees with p4c's Tofino backend on programs of others, which no set of agree.py has.

    harness/compiler/chip/public.py --p4c P4C_BAREFOOT --answers FILE [OPTION]... CHECKOUT...

A CHECKOUT is the folder of one project, named OWNER+PROJECT, with no spaces in what is below it. Projects are
halved by a hash of their names: the model is mended with the half 'mend'; the half 'report' is measured and not
looked at (--half). Of a project with many programs eight are taken, at random by a fixed seed.

--answers FILE keeps what the backend said: programs that are in it are not asked about again, so that a run can be
interrupted, and a run without --p4c shows what is known. What the backend writes besides goes to --logs DIR.

The table's columns are those of agree.py. Programs that the backend does not judge (it does not end, breaks down, or
lacks a part of the language) are listed and not counted. Below it: alike in fit or not ("may not fit" is not alike);
refused by the model without a doubt though the backend takes it; stages within one."""
import argparse
import concurrent.futures
import csv
import hashlib
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "compat")]
import agree  # noqa: E402
import compat  # noqa: E402

OF_ONE_PROJECT = 8
SEED = 27
HALVES = ("mend", "report")
FIELDS = ["project", "program", "target", "judged", "fits", "ingress", "egress"]


def halves(names):
    """{project: half}"""
    order = sorted(names, key=lambda n: hashlib.sha1(n.encode()).hexdigest())
    return {name: HALVES[i % 2] for i, name in enumerate(order)}


def includes(silken, path, folder):
    """(options of both compilers, target) with which Silken takes the program; None: it takes it for no chip."""
    dirs = compat.include_dirs(path, [])
    for target in ("tofino1", "tofino2"):
        for _ in range(8):
            command = [silken, "check", "--json", "--target", target]
            for d in dirs:
                command += ["-I", d]
            done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=300)
            if done.returncode in (0, 1, 3):
                return dirs, target
            missing = compat.MISSING.search(done.stderr)
            found = compat.folder_of(missing[1], folder) if missing else None
            if not found or found in dirs:
                break
            dirs = dirs + [found]
    return None


def chosen(silken, folders, half):
    """[(project, path below it, whole path, folders of includes, target)]"""
    out = []
    for folder in sorted(folders):
        taken = []
        paths = [p for p in compat.programs(folder) if compat.architecture(p) == "tna"]
        random.Random(SEED).shuffle(paths)
        for path in paths:
            found = includes(silken, path, folder)
            if found:
                taken.append((folder.name, str(path.relative_to(folder)), str(path), *found))
            if len(taken) == OF_ONE_PROJECT:
                break
        out += sorted(taken)
    which = halves({p[0] for p in out})  # projects without a program count for neither
    return [p for p in out if not half or which[p[0]] == half]


def read_answers(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, newline="", encoding="utf-8") as f:
        return {(r["project"], r["program"]): r for r in csv.DictReader(f)}


def answer_of(row):
    if not row or row["judged"] != "yes":
        return None
    return agree.answer(row["fits"] == "yes", int(row["ingress"]), int(row["egress"]))


def ask(options, program):
    project, name, path, dirs, target = program
    told = []
    log = os.path.join(options.logs, (project + "+" + name).replace("/", "_")) if options.logs else None
    theirs = agree.by_p4c(options.p4c, path, dirs, options.seconds, target, told, log)
    row = {"project": project, "program": name, "target": target, "judged": "yes" if theirs else told[0],
           "fits": "", "ingress": "", "egress": ""}
    if theirs:
        row.update(fits="yes" if theirs["fits"] else "no", ingress=theirs["ingress"], egress=theirs["egress"])
    return row


def ask_all(options, programs, known):
    left = [p for p in programs if (p[0], p[1]) not in known]
    new = not os.path.exists(options.answers)
    with open(options.answers, "a", newline="", encoding="utf-8") as f, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        if new:
            out.writeheader()
        for row in pool.map(lambda p: ask(options, p), left):
            known[row["project"], row["program"]] = row
            out.writerow(row)
            f.flush()


def rate(good, of):
    return f"{good} of {of}" + (f" ({100 * good / of:.1f} %)" if of else "")


def show(rows):
    agree.print_table([(f"{p[0].replace('+', '/', 1)}: {p[1]}", theirs, ours) for p, theirs, ours, _ in rows],
                      sys.stdout)
    both = [(t, o) for _, t, o, _ in rows if t and o]
    refused = [1 for t, o in both if t["fits"] and not o["fits"] and o["sure"]]
    print("refused though the backend takes it: " + rate(len(refused), len(both)))
    print(f"projects of what both judge: {len({p[0] for p, t, o, _ in rows if t and o})}")
    for p, theirs, _, row in rows:
        if not theirs:
            print(f"not judged: {p[0].replace('+', '/', 1)}: {p[1]}: {row['judged'] if row else 'not asked'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", metavar="CHECKOUT")
    parser.add_argument("--p4c", metavar="P4C_BAREFOOT")
    parser.add_argument("--answers", required=True, metavar="FILE")
    parser.add_argument("--logs", metavar="DIR")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--silken", default=os.environ.get("BUILD", "build") + "/silken")
    parser.add_argument("--seconds", type=int, default=900, help="a program's time in the backend")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folders = [pathlib.Path(c).resolve() for c in options.checkouts]
    for folder in folders:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder")
    programs = chosen(options.silken, folders, options.half)
    known = read_answers(options.answers)
    if options.p4c:
        ask_all(options, programs, known)
    rows = []
    for p in programs:
        row = known.get((p[0], p[1]))
        rows.append((p, answer_of(row), agree.by_silken(options.silken, [p[2]], p[3], p[4]), row))
    show(rows)


if __name__ == "__main__":
    main()
