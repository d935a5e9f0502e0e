# SPDX-License-Identifier: Apache-2.0
"""All-reduces of this build, by turns with those of another: of 1 KB, and of 100 MB with --large.

    python3 bench/allreduce/turns.py OTHER [--rounds N] [--large] [memif|udp|af_packet]...

OTHER is a build folder of another tree in which `silken` and `bench/reduce_silken` have been built. In each of N (5)
rounds either runs each system (memif) once. Printed are medians of the rounds' figures: of 1 KB median and 99 of a
hundred from when the last rank begins to when the last has the sum, one after the other and after a sleep, in us; of
100 MB the seconds. `make bench ONLY=allreduce_1k` must have run here before: it writes the configurations. Needs root.
BUILD is this tree's build folder (build).
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
CLOSE = 3000  # sums of 1 KB one after the other (reduce.h)
SCRIPT = "bench/allreduce/run.sh"


def times(folder, system):
    """(the first begins, the last begins, the last ends) of each sum, in ns."""
    ranks = []
    for rank in range(4):
        with open(f"{folder}/{system}.{rank}", encoding="utf-8") as f:
            ranks.append([tuple(map(int, line.split()[1:])) for line in f if line.startswith("timed ")])
    return [(min(s for s, _ in one), max(s for s, _ in one), max(e for _, e in one)) for one in zip(*ranks)]


def figures(folder, system, large):
    all_times = times(folder, system)
    if large:
        return {"seconds": statistics.mean((end - first) / 1e9 for first, _, end in all_times)}
    us = [(end - last) / 1e3 for _, last, end in all_times]
    close, apart = sorted(us[:CLOSE]), sorted(us[CLOSE:])
    return {"p50": statistics.median(close), "p99": close[len(close) * 99 // 100],
            "apart p50": statistics.median(apart), "apart p99": apart[len(apart) * 99 // 100]}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("other")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--large", action="store_true")
    p.add_argument("system", nargs="*")
    a = p.parse_intermixed_args()
    net, builds, got = f"st{os.getpid() % 100000}-", [os.path.abspath(a.other), BUILD], {}
    os.environ["SILKEN_CACHE"] = os.path.join(BUILD, "bench-cache")
    with tempfile.TemporaryDirectory() as folder:
        for system in a.system or ["memif"]:
            with open(f"{BUILD}/bench/allreduce/{system}.json", encoding="utf-8") as f, \
                    open(f"{folder}/{system}.json", "w", encoding="utf-8") as to:
                to.write(f.read().replace(f"{BUILD}/bench/allreduce", folder))
        subprocess.run(["sh", SCRIPT, "up", net], check=True)
        try:
            for n in range(a.rounds):
                for system in a.system or ["memif"]:
                    for build in builds if n % 2 == 0 else builds[::-1]:
                        done = subprocess.run(["sh", SCRIPT, system, net, f"{build}/bench", folder, "512",
                                               *([] if a.large else ["small"])], capture_output=True, text=True, check=False)
                        if done.returncode:
                            sys.exit(f"{build}, {system}: {done.stderr.strip()}")
                        for name, value in figures(folder, system, a.large).items():
                            got.setdefault((system, name), {}).setdefault(build, []).append(value)
        finally:
            subprocess.run(["sh", SCRIPT, "down", net], check=False)
    for (system, name), by_build in got.items():
        before, after = (by_build[b] for b in builds)
        ratio = statistics.median(y / x for x, y in zip(before, after))
        print(f"{system:10} {name:10} {a.other} {statistics.median(before):10.3f}   {os.path.basename(BUILD)} "
              f"{statistics.median(after):10.3f}   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
