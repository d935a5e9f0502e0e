#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Packet scripts for programs that others wrote, by p4c's test generator, for compat.py to run.

    harness/compat/generate.py --p4testgen CMD --include DIR... --out SCRIPTS [OPTION]... CHECKOUTS

CHECKOUTS has a folder OWNER+PROJECT for each project. harness/compat/generated names programs, a line
OWNER+PROJECT/PATH.p4 each; the scripts of one go to SCRIPTS/OWNER+PROJECT/PATH/*.stf, with what the generator printed
in 'log' beside them. One that has scripts already is left alone. --include are the folders of core.p4 and tna.p4; the
program's own are found as compat.py finds them. What there are no scripts for is shown with the generator's own words.

The last line is 'N programs: A with scripts, B without, C that are not there'. Exit status 1 if a program is not there.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys

import compat

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = re.compile(r"(?:internal |fatal )?error: .*|Unimplemented .*|.*unimplemented feature.*", re.IGNORECASE)


def why(log):
    for line in log.splitlines():
        m = LIMIT.search(line) if "Wwarn" not in line else None
        if m:
            return m[0][:150]
    return "time is up"


def generate(args, name):
    """(how many scripts, why there are none); None: there is no such program."""
    path, out = args.checkouts / name, args.out / name.removesuffix(".p4")
    if not path.is_file():
        return None
    if not list(out.glob("*.stf")):
        out.mkdir(parents=True, exist_ok=True)
        command = shlex.split(args.p4testgen) + ["--target", "tofino", "--arch", "tna", "--test-backend", "STF",
                                                 "--max-tests", str(args.tests), "--seed", "1", "--out-dir", str(out),
                                                 "-D__TARGET_TOFINO__=1"]
        for d in args.include + compat.include_dirs(path, []):
            command += ["-I", d]
        try:
            done = subprocess.run(command + [str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=args.seconds, check=False)
            log = done.stdout
        except subprocess.TimeoutExpired as e:
            log = e.stdout or b""
        (out / "log").write_bytes(log)
    made = len(list(out.glob("*.stf")))
    return made, "" if made else why((out / "log").read_text(errors="replace"))


def arguments():
    p = argparse.ArgumentParser(description="Generates packet scripts for programs of others.")
    p.add_argument("checkouts", type=pathlib.Path, metavar="CHECKOUTS")
    p.add_argument("--p4testgen", required=True, metavar="CMD", help="the generator, of a build of p4c with it")
    p.add_argument("--include", action="append", default=[], metavar="DIR", help="folders of core.p4 and tna.p4")
    p.add_argument("--out", type=pathlib.Path, required=True, metavar="SCRIPTS")
    p.add_argument("--list", type=pathlib.Path, default=HERE / "generated", metavar="FILE",
                   help="names of programs (generated, beside this file)")
    p.add_argument("--tests", type=int, default=15, help="at most so many scripts a program (15)")
    p.add_argument("--seconds", type=float, default=100, help="limit for a program (100)")
    p.add_argument("--jobs", type=int, default=2, help="programs at a time (2)")
    return p.parse_args()


def main():
    args = arguments()
    names = [line for line in args.list.read_text().splitlines() if line and not line.startswith("#")]
    if not names:
        sys.exit(f"generate: {args.list}: no program in it")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        made = list(pool.map(lambda name: generate(args, name), names))
    for name, result in zip(names, made):
        if not result:
            print(f"generate: {name}: no such program", file=sys.stderr)
        elif not result[0]:
            print(f"generate: {name}: no scripts: {result[1]}", file=sys.stderr)
    count = collections.Counter("not there" if r is None else "some" if r[0] else "none" for r in made)
    print(f"{len(names)} programs: {count['some']} with scripts, {count['none']} without, "
          f"{count['not there']} that are not there")
    return 1 if count["not there"] else 0


if __name__ == "__main__":
    sys.exit(main())
