#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every scenario of the tree in the lab and in the simulator: `make lab-scenarios`.

    harness/cli/lab/scenarios.py [--within SECONDS] [FILE]...

Both end with sums, or, where the scenario allows it, with a failure; of jobs that end with sums in both, as many elements
are verified. A scenario without a real counterpart must be refused with its reason, which is printed. Slower than the
default (--slower), so that the short timers of scenarios do not end by themselves on a busy machine."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

SILKEN = os.path.abspath(os.environ.get("BUILD", "build")) + "/silken"
# what runs in virtual time only
ONLY_SIMULATED = {"libra-move-faults": "controller of Libra", "libra-faults": "slow_cpu",
                  "libra-floats-faults": "slow_cpu"}


def run(*words):
    return subprocess.run([SILKEN, *words], capture_output=True, text=True)


def compare(path, within):
    """What happened, and whether it is as it must be."""
    name = os.path.basename(path)[:-5]
    with tempfile.TemporaryDirectory() as folder:
        live = run("lab", "run", "--name", f"scenarios-{name}", "--within", str(within), "--json", folder + "/lab", path)
        if name in ONLY_SIMULATED:
            return "refused: " + live.stderr.strip().split(": ")[-1], live.returncode == 2 and ONLY_SIMULATED[name] in live.stderr
        if live.returncode:
            return live.stdout.strip() + live.stderr.strip(), False
        simulated = run("sim", "--json", folder + "/sim", path)
        if simulated.returncode:
            return simulated.stderr, False
        results = [json.load(open(f"{folder}/{which}")) for which in ("lab", "sim")]
    said, good = [], True
    for a, b in zip(results[0]["jobs"], results[1]["jobs"], strict=True):
        said.append(f"{a['name']}: {a['outcome']}, {a['verified']} verified")
        if a["outcome"] == b["outcome"] == "sums" and b.get("protocol") in ("switchml", "atp") and not a.get("sessions"):
            good &= a["verified"] == b["verified"]
    return "; ".join(said), good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--within", type=int, default=120)
    parser.add_argument("files", nargs="*", default=sorted(glob.glob("sim/scenarios/*.json")))
    asked = parser.parse_args()
    bad = 0
    for path in asked.files:
        text, good = compare(path, asked.within)
        bad += not good
        print(f"{'ok    ' if good else 'FAILED'} {os.path.basename(path):34} {text}", flush=True)
    print(f"{len(asked.files) - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
