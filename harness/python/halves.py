#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A worker of a job of 16-bit floats, for test_f16.py: RANK WORKERS. Sums of float16 are looked at bit by bit, others
within their bounds; what the switch cannot add must be refused."""
import ctypes
import os
import sys

import numpy

import silken

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collect import call, pointer, size  # noqa: E402

rank, workers = map(int, sys.argv[1:])
COUNT = 5000


def part(of, dtype, scale=1.0):
    return (numpy.random.default_rng(of).normal(size=COUNT) * scale).astype(dtype)


with silken.Communicator(rank, workers) as comm:
    # below 2: exact sums, rounded once
    halves = [numpy.clip(part(r, numpy.float16, 0.3), -1.9, 1.9) for r in range(workers)]
    mine = halves[rank].copy()
    comm.allreduce(mine)
    exact = sum(h.astype(numpy.float64) for h in halves)
    unit = numpy.spacing(numpy.abs(mine)).astype(numpy.float64)
    assert numpy.all(numpy.abs(mine.astype(numpy.float64) - exact) <= unit / 2), "float16"
    for dtype, bound in ((numpy.float32, 2e-3), (numpy.float64, 2e-3)):
        parts = [part(r + 50, dtype, 1e-3) for r in range(workers)]
        mine = parts[rank].copy()
        comm.allreduce(mine, average=True)
        exact = sum(p.astype(numpy.float64) for p in parts) / workers
        assert numpy.max(numpy.abs(mine - exact)) <= bound * numpy.max(numpy.abs(exact)), dtype
    try:
        comm.allreduce(numpy.ones(10, numpy.int32))
        raise SystemExit("integers were added")
    except silken.Error as e:
        assert e.name == "UNSUPPORTED", e
    sent = numpy.tile(numpy.arange(256, dtype=numpy.uint8), 3)
    data = sent.copy() if rank == 1 else numpy.zeros(768, numpy.uint8)
    call(comm, "silken_broadcast", pointer(data), size(data.nbytes), ctypes.c_uint32(1))
    assert (data == sent).all(), "broadcast"
    call(comm, "silken_barrier")
print("right")
