# SPDX-License-Identifier: Apache-2.0
"""A script for torchrun: sums of all types through the switch, each against what it must be.

    torchrun ... sums.py [cpu|cuda] [BACKEND]

Values are whole numbers that every type holds, so that fixed point adds them exactly. Rank 0 prints
one line of JSON.
"""
import json
import sys

import torch
import torch.distributed as dist

if len(sys.argv) < 4 or sys.argv[3] != "noimport":
    import silken.torch

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"
BACKEND = sys.argv[2] if len(sys.argv) > 2 else "silken"


def values(rank, count, dtype):
    """-16 to 15, another order at each rank, with 16 somewhere in each block, which sets the scale."""
    v = (torch.arange(count) * (2 * rank + 3) + rank) % 32 - 16
    return v.to(dtype)


def check(name, dtype, count, op, failures):
    rank, size = dist.get_rank(), dist.get_world_size()
    t = values(rank, count, dtype).to(DEVICE)
    work = dist.all_reduce(t, op, async_op=True)
    work.wait()
    total = sum(values(r, count, torch.float64) for r in range(size))
    if op == dist.ReduceOp.AVG:
        total = torch.trunc(total / size) if dtype == torch.int32 else total / size
    if not torch.equal(t.cpu(), total.to(dtype)):
        off = (t.cpu().double() - total).abs().max().item()
        failures.append("%s: %d elements, off by %g" % (name, count, off))


def overlap():
    """Many sums under way at once, with arithmetic between; each must have its own result."""
    rank, size = dist.get_rank(), dist.get_world_size()
    tensors = [torch.full((50000 + i,), float(rank + i), device=DEVICE) for i in range(20)]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    under_way = sum(not w.is_completed() for w in works)
    other = torch.ones(300, 300, device=DEVICE)
    for _ in range(20):
        other = other @ other / 300
    for w in reversed(works):
        w.wait()
    right = all(bool((t == size * (size - 1) / 2 + i * size).all()) for i, t in enumerate(tensors))
    return under_way, right


def main():
    dist.init_process_group(BACKEND)
    if DEVICE == "cuda":
        torch.cuda.set_device(0)
    failures = []
    for name in ("float32", "float16", "bfloat16", "int32"):
        for count in (4096, 5000, 100001):
            for op in ("SUM", "AVG"):
                check("%s %s" % (name, op), getattr(torch, name), count, getattr(dist.ReduceOp, op), failures)
    t = torch.ones(10, 3, device=DEVICE)
    dist.all_reduce(t)  # small: Gloo's
    if not bool((t == dist.get_world_size()).all()):
        failures.append("a small tensor")
    t = torch.arange(40000, dtype=torch.float32, device=DEVICE).view(200, 200).t()
    expected = t.clone() * dist.get_world_size()
    dist.all_reduce(t)  # not contiguous
    if not torch.allclose(t, expected, rtol=1e-5, atol=1e-3):
        failures.append("a transposed tensor")
    under_way, right = overlap()
    if not right:
        failures.append("sums under way at once")
    told = [None] * dist.get_world_size()
    dist.all_gather_object(told, failures)
    if dist.get_rank() == 0:
        from silken.torch import counters
        print(json.dumps({"sums": "right" if not any(told) else told, "under_way": under_way,
                          "counters": counters()}))
    dist.destroy_process_group()
    sys.exit(bool(any(told)))


if __name__ == "__main__":
    main()
