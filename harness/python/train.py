# SPDX-License-Identifier: Apache-2.0
"""A training script for torchrun: a small network learns under DistributedDataParallel.

    torchrun ... train.py [--backend gloo|silken] [--device cpu|cuda] [--steps N] [--kill STEP]

It knows of silken only the name of its backend. --kill: before that step, rank 0 ends the process
SWITCH_PID. Rank 0 prints one line of JSON: the losses over all ranks, whether all ranks' parameters have
the same bits, a digest of them, seconds of a step.
"""
import argparse
import hashlib
import json
import os
import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--backend", default="gloo")
    p.add_argument("--device", default="cpu")
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--kill", type=int, default=-1)
    return p.parse_args()


def network():
    torch.manual_seed(1)
    layer = torch.nn.Linear
    return torch.nn.Sequential(layer(64, 512), torch.nn.ReLU(), layer(512, 512), torch.nn.ReLU(), layer(512, 10))


def batches(rank, steps):
    """Points with a class each, by a rule that a network can learn; others at each rank."""
    g = torch.Generator().manual_seed(100 + rank)
    rule = torch.randn(64, 10, generator=torch.Generator().manual_seed(7))
    for _ in range(steps):
        x = torch.randn(64, 64, generator=g)
        yield x, (x @ rule).argmax(1)


def digest(model):
    h = hashlib.sha256()
    for p in model.parameters():
        h.update(p.detach().cpu().numpy().tobytes())
    return h.hexdigest()[:16]


def train(args, rank):
    device = torch.device(args.device, 0) if args.device == "cuda" else torch.device("cpu")
    if args.device == "cuda":
        torch.cuda.set_device(device)
    model = DistributedDataParallel(network().to(device), bucket_cap_mb=0.2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses, start = [], time.monotonic()
    for step, (x, y) in enumerate(batches(rank, args.steps)):
        if step == args.kill and rank == 0:
            os.kill(int(os.environ["SWITCH_PID"]), signal.SIGKILL)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        mean = loss.detach().cpu()
        dist.all_reduce(mean)
        losses.append(mean.item() / dist.get_world_size())
    return losses, digest(model), (time.monotonic() - start) / args.steps


def main():
    args = arguments()
    dist.init_process_group(args.backend)
    rank = dist.get_rank()
    losses, bits, seconds = train(args, rank)
    all_bits = [None] * dist.get_world_size()
    dist.all_gather_object(all_bits, bits)
    if rank == 0:
        said = {"backend": args.backend, "device": args.device, "ranks": len(all_bits), "first": losses[0],
                "loss": sum(losses[-5:]) / len(losses[-5:]), "losses": losses,
                "same_bits": len(set(all_bits)) == 1, "digest": bits, "step_ms": round(seconds * 1e3, 2)}
        if os.environ.get("SILKEN_DEVICE") and "silken.torch" in __import__("sys").modules:
            from silken.torch import counters
            said["counters"] = counters()
        print(json.dumps(said), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
