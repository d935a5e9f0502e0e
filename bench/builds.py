# SPDX-License-Identifier: Apache-2.0
"""How long does `silken build` take, from the text to the object, with an empty cache?

    python3 bench/builds.py [--than OTHER] [--rounds N] [--checked] [PROGRAM.p4...]

Of each program (all of p4/ without any): the size of the C text, and medians of N builds (3) of the time on the wall
and the processor time of Silken and the C compilers together. --than is another build folder, whose silken takes
turns with this one's; --checked times the checked build. BUILD is this tree's build folder (build).
"""
import argparse
import glob
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def built(build, program, options):
    """Seconds on the wall, seconds of the processor, bytes of C; or what was said of a program that is refused."""
    with tempfile.TemporaryDirectory(prefix="builds-") as folder:
        text = os.path.join(folder, "text.c")
        cache = os.path.join(folder, "cache")
        os.mkdir(cache, 0o700)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([os.path.join(build, "silken"), "build", *options, "--emit-c", text, program],
                              env={**os.environ, "SILKEN_CACHE": cache}, capture_output=True, text=True, check=False)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            return next((line for line in done.stderr.splitlines() if "error" in line), f"status {done.returncode}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return wall, cpu, os.path.getsize(text)


def measured(builds, program, rounds, options):
    found = [[] for _ in builds]
    for turn in range(rounds):
        for i in range(len(builds)) if turn % 2 else reversed(range(len(builds))):
            one = built(builds[i], program, options)
            if isinstance(one, str):
                return one
            found[i].append(one)
    return [[statistics.median(column) for column in zip(*side)] for side in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--than", metavar="OTHER", help="another build folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--checked", action="store_true", help="the checked build")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM.p4")
    args = parser.parse_args()
    builds = [os.environ.get("BUILD", "build")] + ([args.than] if args.than else [])
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "p4")
    programs = args.programs or [p for p in sorted(glob.glob(f"{root}/*/*.p4"))
                                 if os.path.basename(p) == os.path.basename(os.path.dirname(p)) + ".p4"]
    side = "{:>10} {:>8} {:>8}"
    print(f"{'program':32}", *[side.format("KB of C", "wall, s", "CPU, s")] * len(builds), sep="  ")
    refused = 0
    for program in programs:
        found = measured(builds, program, args.rounds, ["--checked"] if args.checked else [])
        if isinstance(found, str):
            refused += 1
            print(f"{os.path.basename(program):32}  {found}", flush=True)
            continue
        sides = [side.format(f"{size / 1000:.0f}", f"{wall:.2f}", f"{cpu:.2f}") for wall, cpu, size in found]
        print(f"{os.path.basename(program):32}", *sides, sep="  ", flush=True)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
