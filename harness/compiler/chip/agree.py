#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does the model agree with a compiler for the chip? Compiles TNA programs with p4c's open Tofino backend (a
build of the user's own: Debian has none) and judges them with `silken check`; prints a table and two rates:
of the programs that both can judge, for how many both say fit or both say not, and of those that fit for both,
for how many the stages differ by at most one.

    harness/compiler/chip/agree.py --p4c BUILD/backends/tofino/bf-p4c/p4c-barefoot p4 harness/replay/programs

A folder stands for the programs in it that include tna.p4 and have a `main`. The backend writes a .bfa file,
assembly with a section for each stage and gress, also where it has used more stages than there are: fits is
"it ends well, and its last stage is one that the chip has". --reference FILE takes the backend's answers from a
CSV that --out has written instead of asking it, which is what `make test` does (test_agree.py)."""
import argparse
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

STAGES = {"tofino1": 12, "tofino2": 20}
COLUMNS = ["program", "from", "fits", "stages", "ingress", "egress"]
SECTION = re.compile(r"^stage (\d+) (ingress|egress|ghost):")
# Errors of p4c's front end, and of functions that the open backend lacks.
NO_LIMIT = re.compile(r"(--Werror=(type-error|syntax|not-found|legacy|unsupported|unknown|missing|duplicate|I/O error)\]"
                      r"|syntax error|No such file|Unimplemented)[^\n]*")
TABLE = re.compile(r"^  (\w+) (\S+) \d+:\s*$")  # with its logical number; what is attached to one has none


def stages_of_assembly(text):
    """(ingress, egress): stages up to the last one that holds a table of the gress. Port metadata is written
    by the parser, though its table is listed with stage 0."""
    last = {"ingress": 0, "egress": 0}
    section = None
    for line in text.split("\n"):
        at = SECTION.match(line)
        if at:
            section = (at.group(2), int(at.group(1)) + 1)
        elif line[:1].strip():
            section = None
        elif section and section[0] in last:
            table = TABLE.match(line)
            if table and table.group(1) != "phase0_match":
                last[section[0]] = max(last[section[0]], section[1])
    return last["ingress"], last["egress"]


def answer(fits, ingress, egress, sure=True):
    return {"fits": fits, "stages": max(ingress, egress), "ingress": ingress, "egress": egress, "sure": sure}


ARCHITECTURE = {"tofino1": ["--target", "tofino", "--arch", "tna"],
                "tofino2": ["--target", "tofino2", "--arch", "t2na"]}


def by_p4c(p4c, path, include, seconds, target="tofino1", told=None, log=None):
    """The backend's answer; None when it broke down or took too long, or refuses the program for what is no limit
    of the chip. 'told', a list, gets the reason of a None; 'log', a file, what the backend prints."""
    told = [] if told is None else told
    with tempfile.TemporaryDirectory() as out:
        command = [p4c, *ARCHITECTURE[target], "-o", out]
        for folder in [os.path.dirname(path) or ".", *include]:
            command += ["-I", folder]
        try:
            done = subprocess.run([*command, path], capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            told.append(f"not ended after {seconds} s")
            return None
        text = done.stdout + done.stderr
        if log:
            with open(log, "w", encoding="utf-8") as f:
                f.write(text)
        if done.returncode < 0 or "Compiler Bug" in text or "COMPILER BUG" in text:
            told.append("breaks down")
            return None
        language = NO_LIMIT.search(text) if done.returncode else None
        if language:
            told.append("takes no such program: " + language.group(0).strip())
            return None
        gresses = [(0, 0)]
        for assembly in glob.glob(out + "/*/*.bfa"):
            with open(assembly) as f:
                gresses.append(stages_of_assembly(f.read()))
        ingress, egress = max(g[0] for g in gresses), max(g[1] for g in gresses)
        fits = done.returncode == 0 and len(gresses) > 1 and max(ingress, egress) <= STAGES[target]
        return answer(fits, ingress, egress) if done.returncode == 0 else answer(False, 0, 0)


def by_silken(silken, path, include, target="tofino1"):
    """The model's answer; None when Silken does not support the program. 'path' may be followed by options; as a list
    it is taken as it is."""
    command = [silken, "check", "--json", "--target", target]
    for folder in include:
        command += ["-I", folder]
    done = subprocess.run([*command, *(path.split() if isinstance(path, str) else path)], capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1, 3):
        return None
    doc = json.loads(done.stdout)
    return answer(doc["fits"], doc["stages_ingress"], doc["stages_egress"], doc["verdict"] != "may not fit")


def programs(words):
    found = []
    for word in words:
        if not os.path.isdir(word):
            found.append(word)
            continue
        for path in sorted(glob.glob(word + "/**/*.p4", recursive=True)):
            with open(path, errors="replace") as f:
                text = f.read()
            if re.search(r"#include\s*[<\"]tna\.p4[>\"]", text) and re.search(r"\bmain\s*;", text):
                found.append(path)
    return found


def is_here(program):
    return os.path.exists(program.split()[0])


def read_reference(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    return {row["program"]: {"fits": row["fits"] == "yes", **{k: int(row[k]) for k in COLUMNS[3:]}}
            for row in rows}


def row_of(program, origin, theirs):
    return {"program": program, "from": origin, "fits": "yes" if theirs["fits"] else "no",
            **{k: theirs[k] for k in COLUMNS[3:]}}


def rates(pairs):
    """(alike in fit, of how many), (stages within one, of how many) of pairs (backend's, model's). A program of
    which the model says that it may not fit is not alike."""
    both = [(t, o) for t, o in pairs if t and o]
    fit = [(t, o) for t, o in both if t["fits"] and o["fits"]]
    near = [1 for t, o in fit if abs(t["stages"] - o["stages"]) <= 1]
    alike = [1 for t, o in both if t["fits"] == o["fits"] and o.get("sure", True)]
    return (len(alike), len(both)), (len(near), len(fit))


def word(a):
    if not a:
        return "unknown"
    return f"{a['stages']} stages" if a["fits"] else "no fit" if a.get("sure", True) else "in doubt"


def remark(theirs, ours):
    if not theirs or not ours:
        return "not counted"
    if theirs["fits"] != ours["fits"]:
        return "DISAGREE"
    if not ours.get("sure", True):
        return "in doubt"
    d = ours["stages"] - theirs["stages"]
    return f"{d:+d}{' !' if abs(d) > 1 else ''}" if theirs["fits"] and d else ""


def print_table(rows, out):
    width = max([len(name) for name, _, _ in rows] + [7])
    print(f"{'program':{width}}  {'p4c':>9}  {'silken':>9}  difference", file=out)
    for name, theirs, ours in rows:
        print(f"{name:{width}}  {word(theirs):>9}  {word(ours):>9}  {remark(theirs, ours)}".rstrip(), file=out)
    for what, (good, of) in zip(("fit or not alike", "stages within one"), rates([r[1:] for r in rows])):
        print(f"{what}: {good} of {of}" + (f" ({100 * good / of:.1f} %)" if of else ""), file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="DIR_OR_FILE")
    parser.add_argument("--p4c", metavar="P4C_BAREFOOT")
    parser.add_argument("--reference", metavar="CSV", help="its answers instead of a backend's")
    parser.add_argument("--out", metavar="CSV", help="writes the backend's answers there")
    parser.add_argument("--origin", default="", help="where the programs come from, for --out")
    parser.add_argument("--silken", default=os.environ.get("BUILD", "build") + "/silken")
    parser.add_argument("--seconds", type=int, default=900, help="a program's time in the backend")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    options = parser.parse_args()
    if bool(options.p4c) == bool(options.reference):
        parser.error("one of --p4c and --reference is needed")
    known = read_reference(options.reference) if options.reference else {}
    rows = []
    for path in programs(options.paths) or sorted(p for p in known if is_here(p)):
        theirs = by_p4c(options.p4c, path, options.include, options.seconds) if options.p4c else known.get(path)
        rows.append((path, theirs, by_silken(options.silken, path, options.include)))
    print_table(rows, sys.stdout)
    if options.out:
        with open(options.out, "w", newline="") as f:
            out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            out.writeheader()
            out.writerows(row_of(name, options.origin, theirs) for name, theirs, _ in rows if theirs)


if __name__ == "__main__":
    main()
