#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scaling factors and 16-bit floats against accuracy: figures 2 and 11 of the SwitchML paper, docs/figures-switchml.md.

    python3 bench/figures/switchml_training.py [2] [11]

Eight workers in one process, synchronous SGD with momentum; data and models are those of dlcp_training.py. The gradients of a
step are added as float32; or as p4/switchml adds them, block by block of 256, with the exponent that workers agree on; or with one
factor for everything; or as p4/switchml/halves.p4 does. BUILD/bench/figures/numbers.so does that with the hosts' own functions
(bench/figures/numbers.c). Seeds 1 to SEEDS (3).

Prints tables, writes CSV and PNG into OUT (build/figures) and keeps each run in OUT/switchml_training.json: what is interrupted
goes on from there, and only runs of this text, of dlcp_training.py and of numbers.c are taken from it. QUICK=1: a short run of each kind.
"""
import ctypes
import hashlib
import json
import os
import statistics
import sys

import torch
from torch import nn

import dlcp_training as base
from sweep import BUILD, ROOT, plot, table

WORKERS, BATCH, SAMPLES, EPOCHS = 8, 16, 6000, 4
SEEDS = int(os.environ.get("SEEDS", "3"))
QUICK = bool(os.environ.get("QUICK"))
OUT = os.environ.get("OUT", os.path.join(BUILD, "figures"))
ADAPTIVE, FIXED, HALVES = range(3)
EVERY = base.EVERY
FLOAT = ctypes.POINTER(ctypes.c_float)


class Numbers:
    """numbers_sum() of bench/figures/numbers.c."""

    def __init__(self):
        library = ctypes.CDLL(os.path.join(BUILD, "bench", "figures", "numbers.so"))
        self.call = library.numbers_sum
        self.call.restype = ctypes.c_int64
        self.call.argtypes = [FLOAT, FLOAT, ctypes.c_uint, ctypes.c_size_t, ctypes.c_int, ctypes.c_double]
        self.left = 0  # sums that were out of range

    def sum(self, gradients, how, factor=1.0):
        """Of a row for each worker."""
        workers, n = gradients.shape
        out = torch.empty(n)
        pointer = lambda t: ctypes.cast(t.data_ptr(), FLOAT)
        left = self.call(pointer(out), pointer(gradients), workers, n, how, factor)
        if left < 0:
            sys.exit(f"numbers_sum() takes no {workers} workers")
        self.left += left
        return out


numbers = None


def added(how, factor=1.0):
    """The function that adds up a step's gradients."""
    if how is None:
        return lambda gradients: gradients.sum(0)
    return lambda gradients: numbers.sum(gradients, how, factor)


def train(name, seed, add):
    """Accuracies, EVERY of them an epoch; and which part of all sums was out of range."""
    make, data, samples, rate, _ = base.MODELS[name]
    samples, epochs = (1024, 1) if QUICK else (min(samples, SAMPLES), EPOCHS)
    inputs, labels, test_inputs, test_labels = base.load(data, samples)
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = make()
    parameters = list(model.parameters())
    loss = nn.CrossEntropyLoss()
    size = sum(p.numel() for p in parameters)
    momentum, gradients = torch.zeros(size), torch.empty(WORKERS, size)
    steps, measured, before = samples // (WORKERS * BATCH), [], numbers.left
    for _ in range(epochs):
        order = torch.randperm(samples, generator=random)
        for step in range(steps):
            for w in range(WORKERS):
                some = order[(step * WORKERS + w) * BATCH:][:BATCH]
                out = model(inputs[some])
                grads = torch.autograd.grad(loss(out.flatten(0, -2), labels[some].flatten()), parameters)
                torch.cat([g.flatten() for g in grads], out=gradients[w])
            momentum = 0.9 * momentum + add(gradients) / WORKERS
            at = 0
            with torch.no_grad():
                for p in parameters:
                    p -= rate * momentum[at:at + p.numel()].view_as(p)
                    at += p.numel()
            if (step + 1) * EVERY // steps != step * EVERY // steps:
                measured.append(base.accuracy(model, test_inputs, test_labels))
    return {"accuracy": measured, "left": (numbers.left - before) / (size * steps * epochs)}


# ---- runs that are kept ----
KEPT = os.path.join(OUT, "switchml_training.json")


def digest():
    sum_ = hashlib.sha256()
    for path in (__file__, base.__file__, os.path.join(ROOT, "bench/figures/numbers.c"), os.path.join(ROOT, "hosts/core/quantise.c"),
                 os.path.join(ROOT, "hosts/core/halves.c")):
        with open(path, "rb") as f:
            sum_.update(f.read())
    return sum_.hexdigest()


class Runs:
    def __init__(self):
        self.text, self.runs = digest(), {}
        try:
            with open(KEPT, encoding="utf-8") as f:
                before = json.load(f)
            self.runs = before["runs"] if before["text"] == self.text and not QUICK else {}
        except FileNotFoundError:
            pass

    def get(self, name, kind, add, seed):
        key = f"{name} / {kind} / {seed}"
        if key not in self.runs:
            self.runs[key] = train(name, seed, add)
            print(".", end="", file=sys.stderr, flush=True)
            self.keep()
        return self.runs[key]

    def keep(self):
        if QUICK:
            return
        os.makedirs(OUT, exist_ok=True)
        with open(KEPT + ".new", "w", encoding="utf-8") as f:
            json.dump({"text": self.text, "runs": self.runs}, f)
        os.replace(KEPT + ".new", KEPT)

    def all(self, name, kind, add):
        return [self.get(name, kind, add, seed) for seed in range(1, (1 if QUICK else SEEDS) + 1)]


def ends(runs):
    """Accuracy at the end in %, means over half an epoch: mean, least and greatest of the seeds."""
    last = [100 * base.smooth(r["accuracy"])[-1] for r in runs]
    return [statistics.fmean(last), min(last), max(last)]


MODELS = ("perceptron", "convolutional", "recurrent")
KINDS = {"float32": None, "SwitchML": ADAPTIVE, "16-bit floats": HALVES}


def figure2(runs):
    """Accuracy over the epochs."""
    rows = []
    for name in MODELS[:1] if QUICK else MODELS:
        curves = {kind: [base.smooth(r["accuracy"]) for r in runs.all(name, kind, added(how))] for kind, how in KINDS.items()}
        length = len(curves["float32"][0])
        table(f"2-{name}", ["epoch"] + list(KINDS), [[(i + 1) / EVERY] + [100 * statistics.fmean(c[i] for c in curves[kind])
                                                                         for kind in KINDS] for i in range(length)])
        if not QUICK:
            plot(f"2-{name}", "set yrange [*:*]\nset xlabel 'epochs'\nset ylabel 'accuracy, %'\nset key bottom right\n"
                 f"plot for [i=2:4] '2-{name}.csv' using 1:i with lines lw 2")
        for kind, how in KINDS.items():
            done = runs.all(name, kind, added(how))
            rows.append([name, kind] + ends(done) + [100 * statistics.fmean(r["left"] for r in done)])
    table("2", ["model", "sums", "accuracy %", "least", "greatest", "out of range %"], rows)


def figure11(runs):
    """One factor for everything."""
    powers = [4] if QUICK else list(range(0, 13))
    rows = []
    for name in MODELS[:1] if QUICK else MODELS[:2]:
        for power in powers:
            done = runs.all(name, f"1e{power}", added(FIXED, 10.0 ** power))
            rows.append([name, power] + ends(done) + [100 * statistics.fmean(r["left"] for r in done)])
    table("11", ["model", "log10 of the factor", "accuracy %", "least", "greatest", "out of range %"], rows)
    if not QUICK:
        both = " , ".join(f"'<grep ^{name} 11.csv' using 2:3:4:5 with yerrorlines lw 2 title '{name}'" for name in MODELS[:2])
        plot("11", f"set key noautotitle\nset xlabel 'log10 of the factor'\nset ylabel 'accuracy, %'\nset key bottom\nplot {both}")


FIGURES = {"2": figure2, "11": figure11}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(FIGURES)
    for name_ in wanted:
        if name_ not in FIGURES:
            sys.exit(f"there is no figure {name_}; there is: {' '.join(FIGURES)}")
    torch.set_num_threads(1)
    numbers = Numbers()
    all_runs = Runs()
    for name_ in wanted:
        print(f"figure {name_}")
        FIGURES[name_](all_runs)
