#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken demo --protocol dlcp` in all its forms: two networks, six conditions, five seeds (make dlcp-demos).

    harness/cli/demo/dlcp_demos.py [NETWORK|CONDITION|SEED]...

Words choose: `deep`, `loss1 5`. Each run is a training of one epoch and takes about a minute of two processors. Prints a
line of each, then how far apart the accuracies with losses and in one process are. Exits with 1 if a run is not verified.
`veth` is `spines` between network namespaces, and is left out, which is said, without root. OUT=FILE keeps the lines
(build/dlcp-demos.csv); RESUME=1 goes on where another run ended. MORE: further options of the demo.
"""
import csv
import os
import re
import statistics
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build")
OUT = os.environ.get("OUT", BUILD + "/dlcp-demos.csv")
LIMIT = 1500  # seconds of a run: the machine may have other things to do
CONDITIONS = {"none": [], "loss1": ["--loss", "1%"], "loss10": ["--loss", "10%"], "ring": ["--ring"],
              "spines": ["--racks", "2", "--spines", "2"],
              "veth": ["--racks", "2", "--spines", "2", "--links", "veth"]}
NETWORKS = ("deep", "convolutional")
COLUMNS = ("network", "condition", "seed", "lost %", "missing %", "tensors", "below bound", "accuracy %", "one process %",
           "apart", "result")
SAYS = {"lost %": r"loss rate seen +([\d.]+) %", "missing %": r"(?:elements that did not come|incomplete sums) +([\d.]+) %",
        "tensors": r"tensors +([\d,]+),", "below bound": r"of them ([\d,]+) with less", "accuracy %": r"accuracy +([\d.]+) %",
        "one process %": r"accuracy of one process +([\d.]+) %"}


def chosen(all_, words):
    return [one for one in all_ if one in words] or list(all_)


def train(network, condition, seed):
    """A line of the table; what the demo did not say is a '-', and the result then is what it did say."""
    command = [BUILD + "/silken", "demo", "--protocol", "dlcp", "--quiet", "--network", network, "--seed", seed,
               "--limit", str(LIMIT), *CONDITIONS[condition], *os.environ.get("MORE", "").split()]
    done = subprocess.run(command, text=True, capture_output=True, timeout=LIMIT + 60)
    found = {name: re.search(pattern, done.stdout) for name, pattern in SAYS.items()}
    line = {name: match.group(1).replace(",", "") if match else "-" for name, match in found.items()}
    line |= {"network": network, "condition": condition, "seed": seed, "apart": "-"}
    good = done.returncode == 0 and done.stdout.endswith("verified\n") and "-" not in [line[name] for name in SAYS]
    if "-" not in (line["accuracy %"], line["one process %"]):
        line["apart"] = f"{float(line['accuracy %']) - float(line['one process %']):+.2f}"
    said = [text for text in (done.stdout + done.stderr).splitlines() if text] or ["nothing said"]
    line["result"] = "verified" if good else f"status {done.returncode}: {said[-1]}"
    return line


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def kept():
    if not os.environ.get("RESUME") or not os.path.exists(OUT):
        return []
    with open(OUT, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def summary(lines):
    for network in NETWORKS:
        of = [line for line in lines if line["network"] == network and line["apart"] != "-"]
        if not of:
            continue
        apart = [float(line["apart"]) for line in of]
        # one process gives the same for a seed whatever the condition
        alone = sorted({line["seed"]: float(line["one process %"]) for line in of}.values())
        print(f"{network}: {len(of)} runs, apart {min(apart):+.2f} to {max(apart):+.2f} points, on average "
              f"{statistics.mean(apart):+.2f}, standard deviation {statistics.pstdev(apart):.2f}; one process by itself: "
              f"{alone[0]:.2f} to {alone[-1]:.2f} % in {len(alone)} seeds")


def main():
    words = sys.argv[1:]
    seeds = [word for word in words if word.isdigit()] or [str(seed) for seed in range(1, 6)]
    unknown = [word for word in words if word not in NETWORKS and word not in CONDITIONS and not word.isdigit()]
    if unknown:
        sys.exit(f"neither a network, nor a condition, nor a seed: {' '.join(unknown)}")
    conditions = chosen(CONDITIONS, words)
    if os.geteuid() != 0 and "veth" in conditions:
        conditions.remove("veth")
        print("not as root: without veth")
    wanted = [(n, c, s) for n in chosen(NETWORKS, words) for c in conditions for s in seeds]
    lines = kept()
    row(COLUMNS)
    row(["---"] * len(COLUMNS))
    there = {(line["network"], line["condition"], line["seed"]): line for line in lines}
    for what in wanted:
        line = there.get(what) or train(*what)
        row([line[name] for name in COLUMNS])
        if what not in there:
            lines.append(line)
            with open(OUT, "w", encoding="utf-8", newline="") as f:
                out = csv.DictWriter(f, COLUMNS)
                out.writeheader()
                out.writerows(lines)
    of = [line for line in lines if (line["network"], line["condition"], line["seed"]) in wanted]
    summary(of)
    good = sum(line["result"] == "verified" for line in of)
    print(f"{good} of {len(of)} verified")
    sys.exit(good != len(wanted))


if __name__ == "__main__":
    main()
