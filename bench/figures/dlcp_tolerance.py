#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `silken dlcp thresholds` takes from figure 5 of the DLCP paper (appendix B): what lost gradients cost.

    python3 bench/figures/dlcp_tolerance.py [MOST]

reads the runs of figures 5a and 5b that dlcp_training.py has left in OUT/dlcp_training.json. A run costs so many rounds
more: of the accuracy that it and the same seed's run without losses both reach, how many times as many epochs it takes,
less one. Of each fifth a line through 0 is laid through all seeds' costs up to MOST lost (0.5; a switch that loses more
is of no use), by least squares, with the error of its slope. A tolerance is the share whose loss costs 1 % more rounds;
where the slope is not above its error nothing can be told, and 100 % stands for it.
"""
import json
import os
import statistics
import sys

EVERY = 8  # measurements in an epoch: dlcp_training.py
OUT = os.environ.get("OUT", "build/figures")
FIFTHS = {"5a": ("front fifth", "middle fifth", "back fifth"), "5b": ("smallest fifth", "medium fifth", "largest fifth")}
RATES = (0.05, 0.2, 0.5, 0.9)


def best_so_far(measured):
    """Of means over half an epoch."""
    half, best, out = EVERY // 2, 0, []
    for i in range(len(measured)):
        best = max(best, statistics.fmean(measured[max(0, i - half + 1):i + 1]))
        out.append(best)
    return out


def cost(lossy, plain):
    lossy, plain = best_so_far(lossy), best_so_far(plain)
    target = min(lossy[-1], plain[-1])

    def first(curve):
        return next(i + 1 for i, a in enumerate(curve) if a >= target)
    return first(lossy) / first(plain) - 1


def slope(points):
    """Of a line through 0, and its standard error."""
    squares = sum(x * x for x, _ in points)
    k = sum(x * y for x, y in points) / squares
    rest = sum((y - k * x) ** 2 for x, y in points) / (len(points) - 1)
    return k, (rest / squares) ** 0.5


def tolerance(k, error):
    return 100.0 if k <= error else min(100.0, 1 / k)


def main():
    most = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
    with open(f"{OUT}/dlcp_training.json", encoding="utf-8") as f:
        runs = json.load(f)["runs"]
    seeds = sorted(int(k.rsplit(" / ", 1)[1]) for k in runs if k.startswith("ten layers / none / "))
    for figure, names in FIFTHS.items():
        print(f"figure {figure}\n\n| fifth | " + " | ".join(f"{100 * r:g} % lost" for r in RATES)
              + " | rounds for each lost | tolerance, % |\n|" + " --- |" * (len(RATES) + 3))
        for name in names:
            points = [(r, cost(runs[f"ten layers / {name} {r} / {s}"], runs[f"ten layers / none / {s}"]))
                      for r in RATES for s in seeds]
            of = {r: [y for x, y in points if x == r] for r in RATES}
            k, error = slope([p for p in points if p[0] <= most])
            cells = [f"{statistics.fmean(of[r]):+.2f} ({min(of[r]):+.2f} to {max(of[r]):+.2f})" for r in RATES]
            print(f"| {name} | " + " | ".join(cells) + f" | {k:.3f} ± {error:.3f} | {tolerance(k, error):.2f} |")
        print()


if __name__ == "__main__":
    main()
