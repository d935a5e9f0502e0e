#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What training loses when gradients are lost: figures 4, 5 and 15, tables 1 and 2 of the DLCP paper, docs/figures-dlcp.md.

    python3 bench/figures/dlcp_training.py [4] [5a] [5b] [15]

Four workers and one parameter server in one process, synchronous SGD with momentum at the server. Each worker's gradient
is cut, tensor by tensor, into segments of 363 values, as DLCP's packets have them; a segment is lost or comes whole. The
server takes the mean over the workers whose segment came; of a segment that nobody's came, nothing is changed (appendix A).
Nothing of a network is in it: which segments are lost is drawn.

Data: Fashion-MNIST (Debian's dataset-fashion-mnist) and the text that Debian's bible-kjv prints. Seeds 1 to SEEDS (5)
give weights, order of the data and losses. Prints tables, and keeps each run in OUT/dlcp_training.json (OUT: build/figures):
what is interrupted goes on from there, and runs of this text only are taken from it. QUICK=1: a short run of each kind,
which shows that everything works and nothing else; nothing is kept.
"""
import gzip
import hashlib
import json
import os
import statistics
import subprocess
import sys

import numpy
import torch
from torch import nn

WORKERS, SEGMENT, BATCH = 4, 363, 32
SEEDS = int(os.environ.get("SEEDS", "5"))
QUICK = bool(os.environ.get("QUICK"))
OUT = os.environ.get("OUT", "build/figures")
DATASET = "/usr/share/datasets/fashion-mnist"
# how often an epoch is interrupted to measure accuracy
EVERY = 8


# ---- data: (inputs, labels) to train with and to test with ----
def images(count):
    def idx(name, offset):
        with gzip.open(f"{DATASET}/{name}-ubyte.gz") as f:
            return numpy.frombuffer(f.read(), numpy.uint8, offset=offset)

    def part(name, n):
        pixels = idx(f"{name}-images-idx3", 16).reshape(-1, 784)[:n].astype(numpy.float32) / 255 - 0.5
        return torch.from_numpy(pixels), torch.from_numpy(idx(f"{name}-labels-idx1", 8)[:n].astype(numpy.int64))
    return part("train", count) + part("t10k", 2000)


LETTERS = " abcdefghijklmnopqrstuvwxyz,.:;?'-"
LENGTH = 32  # of a sample: characters, of each of which the next one is to be told


def text(count):
    printed = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], capture_output=True, check=True, text=True).stdout
    words = " ".join(line.split(" ", 1)[1] for line in printed.splitlines() if " " in line).lower()
    number = {c: i for i, c in enumerate(LETTERS)}
    numbers = numpy.array([number[c] for c in words if c in number], numpy.int64)
    n = len(numbers) // (LENGTH + 1)
    samples = torch.from_numpy(numbers[:n * (LENGTH + 1)].reshape(n, LENGTH + 1))
    order = torch.from_numpy(numpy.random.default_rng(0).permutation(n))
    train, test = samples[order[:count]], samples[order[-500:]]
    return train[:, :-1], train[:, 1:], test[:, :-1], test[:, 1:]


# ---- models ----
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), 32)
        self.gru = nn.GRU(32, 96, batch_first=True)
        self.out = nn.Linear(96, len(LETTERS))

    def forward(self, x):
        return self.out(self.gru(self.letters(x))[0])


def perceptron():
    return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def convolutional():
    return nn.Sequential(nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
                         nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
                         nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))


def deep():
    """Ten layers: a fifth of them is two."""
    layers = [nn.Linear(784, 96), nn.ReLU()]
    for _ in range(8):
        layers += [nn.Linear(96, 96), nn.ReLU()]
    layers.append(nn.Linear(96, 10))
    for layer in layers[::2]:
        nn.init.kaiming_normal_(layer.weight)  # torch's own choice does not train so many
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


#        name             model          data    samples  rate  epochs
MODELS = {"perceptron": (perceptron, images, 12000, 0.02, 8),
          "convolutional": (convolutional, images, 12000, 0.02, 8),
          "recurrent": (Recurrent, text, 4000, 0.4, 8),
          "ten layers": (deep, images, 12000, 0.05, 8)}


# ---- which segments are lost ----
class Segments:
    """Numbers of the segments of all parameters in a row, and of which layer each is."""

    def __init__(self, parameters):
        numbers, layers, n = [], [], 0
        for layer, p in enumerate(parameters):
            of = torch.arange(p.numel()) // SEGMENT
            numbers.append(of + n)
            layers += [layer] * (int(of[-1]) + 1)
            n += int(of[-1]) + 1
        self.of, self.layer, self.n = torch.cat(numbers), torch.tensor(layers), n
        self.sizes = torch.bincount(self.of).float()

    def magnitudes(self, gradients):
        sums = torch.zeros(len(gradients), self.n)
        sums.index_add_(1, self.of, gradients.abs())
        return sums / self.sizes


def everywhere(rate):
    def lost(segments, _, random):
        return torch.rand(WORKERS, segments.n, generator=random) < rate
    return lost


def in_layers(fifth, rate):
    """0: of the front fifth of the layers, 1: of the middle one, 2: of the back one. A layer has weights and biases."""
    def lost(segments, _, random):
        layers = (segments.layer.max() + 1) // 2
        first = [0, (layers * 2) // 5, layers - layers // 5][fifth]
        of = segments.layer // 2
        here = (of >= first) & (of < first + layers // 5)
        return (torch.rand(WORKERS, segments.n, generator=random) < rate) & here
    return lost


def of_size(fifth, rate):
    """0: of the fifth with the smallest mean magnitude, 1: of the middle one, 2: of the largest one."""
    def lost(segments, gradients, random):
        rank = segments.magnitudes(gradients).argsort(1).argsort(1)
        first = [0, (2 * segments.n) // 5, segments.n - segments.n // 5][fifth]
        here = (rank >= first) & (rank < first + segments.n // 5)
        return (torch.rand(WORKERS, segments.n, generator=random) < rate) & here
    return lost


# ---- training ----
def accuracy(model, inputs, labels):
    with torch.no_grad():
        return (model(inputs).argmax(-1) == labels).float().mean().item()


def train(name, seed, lost):
    """Accuracies, EVERY of them an epoch."""
    make, data, samples, rate, epochs = MODELS[name]
    if QUICK:
        samples, epochs = 1024, 1
    inputs, labels, test_inputs, test_labels = load(data, samples)
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = make()
    parameters = list(model.parameters())
    segments = Segments(parameters)
    loss = nn.CrossEntropyLoss()
    momentum = torch.zeros(sum(p.numel() for p in parameters))
    steps = samples // (WORKERS * BATCH)
    measured = []
    for _ in range(epochs):
        order = torch.randperm(samples, generator=random)
        for step in range(steps):
            gradients = torch.empty(WORKERS, momentum.numel())
            for w in range(WORKERS):
                some = order[(step * WORKERS + w) * BATCH:][:BATCH]
                out = model(inputs[some])
                grads = torch.autograd.grad(loss(out.flatten(0, -2), labels[some].flatten()), parameters)
                torch.cat([g.flatten() for g in grads], out=gradients[w])
            came = (~lost(segments, gradients, random)).float()
            weight = came / came.sum(0).clamp(min=1)
            mean = (gradients * weight[:, segments.of]).sum(0)
            some_came = (came.sum(0) > 0)[segments.of]
            momentum = torch.where(some_came, 0.9 * momentum + mean, momentum)
            step_by = torch.where(some_came, rate * momentum, torch.zeros(()))
            at = 0
            with torch.no_grad():
                for p in parameters:
                    p -= step_by[at:at + p.numel()].view_as(p)
                    at += p.numel()
            if (step + 1) * EVERY // steps != step * EVERY // steps:
                measured.append(accuracy(model, test_inputs, test_labels))
    return measured


loaded = {}


def load(data, samples):
    if (data, samples) not in loaded:
        loaded[data, samples] = data(samples)
    return loaded[data, samples]


def smooth(measured):
    """Means over half an epoch: single measurements jump."""
    half = EVERY // 2
    return [statistics.fmean(measured[max(0, i - half + 1):i + 1]) for i in range(len(measured))]


def epochs_to(measured, target):
    """Epochs until the accuracy is there; None: it is not within the run."""
    return next(((i + 1) / EVERY for i, a in enumerate(smooth(measured)) if a >= target), None)


# ---- what was run before ----
KEPT = f"{OUT}/dlcp_training.json"
with open(__file__, "rb") as own_text:
    TEXT = hashlib.sha256(own_text.read()).hexdigest()


def kept():
    try:
        with open(KEPT, encoding="utf-8") as f:
            before = json.load(f)
    except FileNotFoundError:
        return {}
    return before["runs"] if before.get("text") == TEXT else {}


def keep(results):
    if QUICK:
        return
    os.makedirs(OUT, exist_ok=True)
    with open(KEPT + ".new", "w", encoding="utf-8") as f:
        json.dump({"text": TEXT, "runs": results}, f)
    os.replace(KEPT + ".new", KEPT)


class Series:
    """Runs of one model, each seed's target being what it reaches without losses at three quarters of the epochs."""

    def __init__(self, name, results):
        self.name, self.results = name, results
        self.plain = [self.run("none", everywhere(0), seed) for seed in range(1, SEEDS + 1)]

    def run(self, kind, lost, seed):
        key = f"{self.name} / {kind} / {seed}"
        if key not in self.results:
            self.results[key] = train(self.name, seed, lost)
            print(".", end="", file=sys.stderr, flush=True)
            keep(self.results)
        return self.results[key]

    def row(self, kind, lost):
        """Mean and spread of the epochs, and mean final accuracy."""
        epochs, final = [], []
        for seed in range(1, SEEDS + 1):
            plain = self.plain[seed - 1]
            target = smooth(plain)[len(plain) * 3 // 4 - 1]
            measured = self.run(kind, lost, seed)
            epochs.append(epochs_to(measured, target))
            final.append(smooth(measured)[-1])
        reached = [e for e in epochs if e is not None]
        told = f"{statistics.fmean(reached):.2f} ({min(reached):.2f} to {max(reached):.2f})" if reached else "-"
        if len(reached) < SEEDS:
            told += f", {SEEDS - len(reached)} of {SEEDS} not"
        return [told, f"{100 * statistics.fmean(final):.1f} ({100 * min(final):.1f} to {100 * max(final):.1f})"]


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def percent(rate):
    return f"{100 * rate:g} %"


def figure4(results):
    """Random losses: epochs to the same accuracy."""
    rates = [0, 0.01, 0.05] if QUICK else [0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3]
    for name in ("perceptron", "convolutional", "recurrent"):
        s = Series(name, results)
        table([name + ": lost", "epochs", "accuracy at the end, %"],
              [[percent(r)] + s.row(f"everywhere {r}" if r else "none", everywhere(r)) for r in rates])


def fifths(results, title, names, lost):
    rates = [0.05] if QUICK else [0.05, 0.2, 0.5, 0.9]
    s = Series("ten layers", results)
    rows = [["none", ""] + s.row("none", everywhere(0))]
    for fifth, where in enumerate(names):
        rows += [[where, percent(r)] + s.row(f"{where} {r}", lost(fifth, r)) for r in rates]
    table([title, "lost of these", "epochs", "accuracy at the end, %"], rows)


def figure5a(results):
    fifths(results, "layers", ["front fifth", "middle fifth", "back fifth"], in_layers)


def figure5b(results):
    fifths(results, "segments", ["smallest fifth", "medium fifth", "largest fifth"], of_size)


def figure15(results):
    """Bounds: all that a bound allows is lost, in every tensor and iteration."""
    s = Series("convolutional", results)
    table(["bound", "epochs", "accuracy at the end, %"],
          [[percent(r)] + s.row(f"everywhere {r}" if r else "none", everywhere(r)) for r in (0, 0.01, 0.1, 0.3)])


FIGURES = {"4": figure4, "5a": figure5a, "5b": figure5b, "15": figure15}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(FIGURES)
    for name in wanted:
        if name not in FIGURES:
            sys.exit(f"there is no figure {name}; there is: {' '.join(FIGURES)}")
    torch.set_num_threads(1)
    all_results = {} if QUICK else kept()
    for name in wanted:
        print(f"figure {name}")
        FIGURES[name](all_results)
