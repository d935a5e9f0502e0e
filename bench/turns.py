# SPDX-License-Identifier: Apache-2.0
"""The benchmarks by turns with those of another build: what does a change, or a flag, cost?

    python3 bench/turns.py OTHER [ROUNDS [SECONDS [KEY...]]]

OTHER is a build folder in which bench/benchmark has been built: of another tree, or of this one
(`make HARDEN= BUILD=build/soft build/soft/bench/benchmark`). Each key (forward64, switchml256, switchml64, atp) is
measured ROUNDS times (9) for SECONDS (1) by either, one after the other, who is first in turns. Printed are medians of
the time for a packet, and the median of the ratios of neighbouring turns: below 1, this build is faster.
BUILD is this tree's build folder (build).
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

KEYS = ["forward64", "switchml256", "switchml64", "atp"]


def measured(build, key, seconds, folder):
    """Nanoseconds for a packet."""
    cache = os.path.join(folder, "cache")
    os.makedirs(cache, mode=0o700, exist_ok=True)
    program = os.path.abspath(os.path.join(build, "bench", "benchmark"))
    run = subprocess.run([program, "measure", key, str(seconds), folder], env={**os.environ, "SILKEN_CACHE": cache},
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    try:
        with open(os.path.join(folder, f"{key}.json"), encoding="utf-8") as f:
            return json.load(f)["ns_per_packet"]
    except (OSError, KeyError):
        sys.exit(f"turns.py: {program} did not measure {key}: {(run.stderr.strip() or 'no result').splitlines()[-1]}")


def compared(other, key, rounds, seconds):
    own = os.environ.get("BUILD", "build")
    with tempfile.TemporaryDirectory(prefix="turns-") as a, tempfile.TemporaryDirectory(prefix="turns-") as b:
        sides = [(other, a, []), (own, b, [])]
        for turn in range(rounds):
            for build, folder, found in sides if turn % 2 else sides[::-1]:
                found.append(measured(build, key, seconds, folder))
        return sides[0][2], sides[1][2]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    seconds = sys.argv[3] if len(sys.argv) > 3 else "1"
    for key in sys.argv[4:] or KEYS:
        theirs, ours = compared(sys.argv[1], key, rounds, seconds)
        ratio = statistics.median(y / x for x, y in zip(theirs, ours))
        print(f"{key}: {statistics.median(theirs):.2f} ns a packet there, {statistics.median(ours):.2f} here, "
              f"ratio {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
