#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Campaigns that take longer than anybody waits, in pieces, with a ledger (make campaign).

    harness/campaign/campaign.py [--seconds N] [--jobs N] [--ledger FILE] [WORD]...
    harness/campaign/campaign.py --report

A campaign goes on for N seconds (3600), one piece after another: 500 seeds that no line of the ledger has of the scenario
with the fewest runs, and 300 seconds of the fuzz target that is furthest from its goal (an hour for those that read the
network, twenty minutes for others), by turns. Each piece is one line of docs/campaigns.csv, which is committed: day, commit,
sim or fuzz, name, first and last seed, seconds, runs, and what was found ("nothing", or where it lies). Only a tree without
changes counts: its commit says what was tried. WORDs choose: `sim`, `fuzz`, or parts of names. --jobs: the
seeds of a piece in N processes (1).

--report prints the ledger's sums as the tables of docs/reliability.md.

Ends with 1 at the first finding: its seed or its input is named, and the next campaign passes over it only once it has a line
that says what became of it. Ends with 2 if something is wrong with the tree or with the ledger.
"""
import argparse
import csv
import datetime
import glob
import os
import re
import subprocess
import sys
import time

LEDGER = "docs/campaigns.csv"
COLUMNS = ("day", "commit", "kind", "name", "from", "to", "seconds", "runs", "found")
BUILD = os.environ.get("BUILD", "build")
SEEDS, SLICE = 500, 300
BEFORE = 1_000_000  # seeds up to here were tried before there was a ledger, or are a test's
HOUR, OTHERS = 3600, 1200
# What reads bytes of peers that nobody knows (docs/reliability.md): these get an hour.
NETWORK = {"memif/fuzz_memif", "af_packet/fuzz_segment", "pipeline/switch/fuzz_packets", "control/tor/fuzz_frame",
           "control/tor/fuzz_snoop", "control/tor/fuzz_resume", "control/tor/fuzz_tor", "control/sessions/fuzz_sessions",
           "brt/fuzz_brt", "p4rt/fuzz_p4rt", "rpc/fuzz_rpc", "rpc/fuzz_client", "twin/fuzz_reply",
           "control/watch/fuzz_http", "hosts/switchml/fuzz_worker",
           "hosts/atp/fuzz_atp_worker", "hosts/atp/fuzz_atp_server", "hosts/dlcp/fuzz_dlcp_frame",
           "hosts/dlcp/fuzz_dlcp_sender", "hosts/dlcp/fuzz_dlcp_receiver", "hosts/dlcp/fuzz_dlcp_station",
           "hosts/roce/fuzz_roce", "hosts/libra/fuzz_worker", "hosts/libra/fuzz_server", "control/libra/fuzz_frame", "control/service/fuzz_service",
           "control/published/fuzz_published", "hosts/communicator/fuzz_reply", "hosts/transport/fuzz_segments"}
ENDS = re.compile(r"seeds: (\d+) with all sums, (\d+) failed as allowed, (\d+) violated; .*, (\d+) events")


class Wrong(Exception):
    """The tree or the ledger is not one to count with."""


def ledger_read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as f:
        reader = csv.DictReader(f)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise Wrong(f"{path}: its first line is not {','.join(COLUMNS)}")
        lines = list(reader)
    for number, line in enumerate(lines, 2):
        numbers = [line[name] for name in ("from", "to", "seconds", "runs")]
        if None in line.values() or None in line or line["kind"] not in ("sim", "fuzz") or \
                not all(re.fullmatch(r"\d+", text) for text in numbers):
            raise Wrong(f"{path}:{number}: not a line of a campaign")
    return lines


def ledger_add(path, line):
    new = not os.path.exists(path)
    with open(path, "a", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(line)


def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong("git " + " ".join(words) + ": " + done.stderr.strip())
    return done.stdout.rstrip()


def commit_of(ledger):
    """What is tried: changes of the ledger itself are the campaign's."""
    changed = [line for line in git("status", "--porcelain", "--untracked-files=no").splitlines()
               if os.path.abspath(line[3:]) != os.path.abspath(ledger)]
    if changed:
        raise Wrong(f"the tree has changes ({changed[0].strip()}): a ledger names commits")
    return git("rev-parse", "--short=8", "HEAD")


def scenarios():
    found = glob.glob("sim/scenarios/*faults.json") + glob.glob("sim/scenarios/*sessions*.json")
    return sorted(os.path.basename(path).removesuffix(".json") for path in found)


def targets():
    found = [os.path.relpath(path, "harness").removesuffix(".c") for path in glob.glob("harness/**/fuzz_*.c", recursive=True)]
    return sorted(name for name in found if os.access(f"build/fuzz/fuzzers/{name}", os.X_OK))


def goal(target):
    return HOUR if target in NETWORK else OTHERS


def total(lines, kind, name, column):
    return sum(int(line[column]) for line in lines if (line["kind"], line["name"]) == (kind, name))


def simulate(name, lines, seeds, jobs):
    """Of a scenario, seeds that no line has: (first, last, runs, what was found)."""
    first = 1 + max((int(line["to"]) for line in lines if (line["kind"], line["name"]) == ("sim", name)),
                    default=BEFORE)
    last = first + seeds - 1
    done = subprocess.run([BUILD + "/silken", "sim", f"sim/scenarios/{name}.json", "--seeds", f"{first}..{last}", "--jobs", str(jobs)],
                          capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip().splitlines() or ["nothing said"]
    ends = ENDS.search(said[-1])
    runs = int(ends[1]) + int(ends[2]) + int(ends[3]) if ends else 0
    good = done.returncode == 0 and runs == seeds and ends[3] == "0"
    return first, last, runs, "nothing" if good else next((s for s in said if "violated" in s or "error" in s), said[-1])


def fuzz(name, seconds):
    """Of a fuzz target: (runs, what was found)."""
    done = subprocess.run(["sh", "harness/fuzz.sh"], capture_output=True, text=True, check=False,
                          env={**os.environ, "ONLY": name, "SECONDS_EACH": str(seconds)})
    line = re.search(r"^\S+ +\d+s +(\d+) runs  ok$", done.stdout, re.M)
    if done.returncode == 0 and line:
        return int(line[1]), "nothing"
    return 0, "build/fuzz/" + name + ".log: " + (done.stdout.strip().splitlines() or ["nothing said"])[0]


def step(turn, words, lines, seconds, jobs):
    """One piece: a line of the ledger without its day and commit."""
    kinds = [word for word in words if word in ("sim", "fuzz")] or ["sim", "fuzz"]
    parts = [word for word in words if word not in ("sim", "fuzz")]

    def chosen(names):
        return [name for name in names if not parts or any(part in name for part in parts)]

    all_ = {"sim": chosen(scenarios()) if "sim" in kinds else [], "fuzz": chosen(targets()) if "fuzz" in kinds else []}
    kinds = [kind for kind in ("sim", "fuzz") if all_[kind]]
    if not kinds:
        raise Wrong("nothing is chosen; fuzz targets are built by `make FUZZ=1 fuzzers`")
    begun = time.monotonic()
    if kinds[turn % len(kinds)] == "sim":
        name = min(all_["sim"], key=lambda one: total(lines, "sim", one, "runs"))
        first, last, runs, found = simulate(name, lines, SEEDS if seconds > 60 else 20, jobs)
        kind = "sim"
    else:
        name = min(all_["fuzz"], key=lambda one: total(lines, "fuzz", one, "seconds") / goal(one))
        first = last = 0
        runs, found = fuzz(name, max(1, min(SLICE, int(seconds))))
        kind = "fuzz"
    return {"kind": kind, "name": name, "from": first, "to": last, "seconds": round(time.monotonic() - begun), "runs": runs,
            "found": found}


def campaign(ledger, words, seconds, jobs=1):
    until = time.monotonic() + seconds
    turn = 0
    while turn == 0 or time.monotonic() < until - 60: # no small pieces at the end
        commit = commit_of(ledger)
        line = step(turn, words, ledger_read(ledger), until - time.monotonic(), jobs)
        if commit != commit_of(ledger):
            raise Wrong("the tree became another while it was tried")
        ledger_add(ledger, {"day": datetime.date.today().isoformat(), "commit": commit, **line})
        print(f"{line['kind']} {line['name']} {line['runs']} runs in {line['seconds']} s: {line['found']}", flush=True)
        if line["found"] != "nothing":
            return 1
        turn += 1
    return 0


def report(ledger):
    lines = ledger_read(ledger)
    sims, fuzzed = (sorted({line["name"] for line in lines if line["kind"] == kind}) for kind in ("sim", "fuzz"))
    print("| scenario | runs | seconds |\n| --- | --- | --- |")
    for name in sims:
        print(f"| `{name}` | {total(lines, 'sim', name, 'runs'):,} | {total(lines, 'sim', name, 'seconds'):,} |")
    print(f"| all | {sum(total(lines, 'sim', name, 'runs') for name in sims):,} |"
          f" {sum(total(lines, 'sim', name, 'seconds') for name in sims):,} |")
    print("\n| fuzz target | seconds | of | runs |\n| --- | --- | --- | --- |")
    for name in fuzzed:
        print(f"| `{name}` | {total(lines, 'fuzz', name, 'seconds'):,} | {goal(name):,} | {total(lines, 'fuzz', name, 'runs'):,} |")
    print("\nfound: " + ("; ".join(f"{line['name']} {line['from']}: {line['found']}" for line in lines
                                   if line["found"] != "nothing") or "nothing"))


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ledger", default=LEDGER)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    try:
        if options.report:
            report(options.ledger)
            return 0
        return campaign(options.ledger, options.words, options.seconds, options.jobs)
    except Wrong as wrong:
        print(f"campaign: error: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
