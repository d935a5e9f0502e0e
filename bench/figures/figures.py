#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The experiments of the ATP paper in the simulator: docs/figures-atp.md.

    python3 bench/figures/figures.py [5.2.2] [10] [13] [14] [15] [16] [20]

writes a CSV and a PNG for each into OUT (build/figures), from BUILD/silken (build), JOBS at a time (2).
"""
import sys

import congestion
import inter_rack
import loss
import sharing

EXPERIMENTS = {"5.2.2": inter_rack.run, "10": loss.run, "13": sharing.figure13, "14": sharing.figure14,
               "15": congestion.figure15, "16": congestion.figure16, "20": sharing.figure20}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(EXPERIMENTS)
    for name in wanted:
        if name not in EXPERIMENTS:
            sys.exit(f"there is no experiment {name}; there is: {' '.join(EXPERIMENTS)}")
    for name in wanted:
        EXPERIMENTS[name]()
