#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table and pictures of what `make comparison` found: docs/comparison.md.

    python3 bench/figures/comparison.py FOLDER OUT

FOLDER has the JSON files of `silken compare`. Writes OUT/iterations.csv, milliseconds an iteration by setting and system, and
OUT/SETTING.png of each line of it. Lines of settings that FOLDER does not have, and columns of systems that its files do not have, stay as they are.
"""
import csv
import glob
import json
import os
import subprocess
import sys

SYSTEMS = ["computing", "switchml", "switchml integers", "switchml f16", "atp", "libra", "dlcp", "dlcp ring", "servers", "sparse servers",
           "ring", "gather pairs", "halving", "tree", "two trees", "hierarchical"]


def read(path):
    try:
        with open(path, encoding="utf-8", newline="") as f:
            return {row["setting"]: row for row in csv.DictReader(f)}
    except FileNotFoundError:
        return {}


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.DictWriter(f, ["setting"] + SYSTEMS, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(rows.values())


def add(rows, path):
    with open(path, encoding="utf-8") as f:
        result = json.load(f)
    row = rows.setdefault(result["name"], {"setting": result["name"]})
    row["computing"] = f"{result['computing_us'] / 1000:.2f}"
    for one in result["systems"]:
        if "iteration_us" in one:
            row[one["system"]] = f"{one['iteration_us'] / 1000:.2f}"


def draw(row, folder):
    """A bar for each system, and a line for what computing alone takes."""
    bars = "".join(f'"{name}" {row[name]}\n' for name in SYSTEMS[1:] if row.get(name))
    script = (f"set terminal pngcairo size 760,380 font 'Sans,10'\nset output '{row['setting']}.png'\nset style fill solid 0.6\n"
              "set boxwidth 0.7\nset grid ytics\nset xtics rotate by -30\nset ylabel 'ms an iteration'\nset logscale y\n"
              f"set title '{row['setting']}'\nset key top left\n"
              f"plot '-' using 0:2:xtic(1) with boxes notitle, {row['computing']} with lines dt 2 lc 'black' title 'computing'\n{bars}e\n")
    subprocess.run(["gnuplot", "-"], input=script, text=True, cwd=folder, check=True)


def main(results, out):
    os.makedirs(out, exist_ok=True)
    table = os.path.join(out, "iterations.csv")
    rows = read(table)
    for path in sorted(glob.glob(os.path.join(results, "*.json"))):
        add(rows, path)
    if not rows:
        sys.exit(f"{results} has no results of `make comparison`")
    write(table, rows)
    for row in rows.values():
        draw(row, out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("comparison.py FOLDER OUT")
    main(*sys.argv[1:])
