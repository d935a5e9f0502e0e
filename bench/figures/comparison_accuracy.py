#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What training loses by the sums of each system of `silken compare`: the file of its --accuracy (docs/comparison.md).

    python3 bench/figures/comparison_accuracy.py FILE.json

The training is that of switchml_training.py (its convolutional model, eight workers, SEEDS seeds): with exact sums, with SwitchML's,
with those of 16-bit floats, with ATP's one factor of 1e8; and, as by DLCP, without some of the workers' segments of 363 values, drawn
at rates from 0 to 30 %. Means of the seeds. Runs are kept as there.
"""
import json
import statistics
import sys

import torch

import switchml_training as training
from switchml_training import ADAPTIVE, FIXED, HALVES, WORKERS

MODEL, SEGMENT, RATES = "convolutional", 363, (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)


def lossy(rate):
    """A mean over the workers whose segment came, as DLCP's server takes it, times the workers; of nobody's, nothing."""
    random = torch.Generator().manual_seed(1)

    def add(gradients):
        segments = -(-gradients.shape[1] // SEGMENT)
        came = (torch.rand(WORKERS, segments, generator=random) >= rate).float().repeat_interleave(SEGMENT, 1)[:, :gradients.shape[1]]
        return (gradients * came).sum(0) * WORKERS / came.sum(0).clamp(min=1)
    return add


def mean(runs, kind, add):
    return round(statistics.fmean(training.ends([r])[0] for r in runs.all(MODEL, kind, add)), 3)


def main(path):
    torch.set_num_threads(1)
    training.numbers = training.Numbers()
    runs = training.Runs()
    sums = {"exact": mean(runs, "float32", training.added(None)), "switchml": mean(runs, "SwitchML", training.added(ADAPTIVE)),
            "switchml f16": mean(runs, "16-bit floats", training.added(HALVES)), "atp": mean(runs, "1e8", training.added(FIXED, 1e8))}
    lost = [[rate, mean(runs, f"lost {rate:g}", lossy(rate))] for rate in RATES]
    about = f"accuracy in %, {MODEL} model on Fashion-MNIST, {WORKERS} workers, means of {training.SEEDS} seeds"
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"about": about, "sums": sums, "lost": lost}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("comparison_accuracy.py FILE.json")
    main(sys.argv[1])
