# SPDX-License-Identifier: Apache-2.0
"""A program of mpi4py, for test_mpi.py: sums of arrays, beside an operation and objects that are not for a switch."""
import numpy
from mpi4py import MPI

COUNT = 20000
comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()

floats = numpy.arange(COUNT, dtype=numpy.float32) % 1000 + rank
total = numpy.empty_like(floats)
comm.Allreduce(floats, total)
expected = numpy.arange(COUNT, dtype=numpy.float32) % 1000 * ranks + ranks * (ranks - 1) // 2
assert abs(total - expected).max() <= 1000 * ranks * 8 / 2**31 + 2**-12, abs(total - expected).max()

integers = numpy.arange(COUNT, dtype=numpy.int32) * (rank + 1)
comm.Allreduce(MPI.IN_PLACE, integers)
assert (integers == numpy.arange(COUNT, dtype=numpy.int32) * (ranks * (ranks + 1) // 2)).all()

given = floats if rank == 1 else numpy.empty_like(floats)
comm.Bcast(given, root=1)
assert (given == numpy.arange(COUNT) % 1000 + 1).all()

comm.Allreduce(floats, total, op=MPI.MAX)
assert (total == numpy.arange(COUNT) % 1000 + ranks - 1).all()
assert comm.allreduce(rank) == ranks * (ranks - 1) // 2
if rank == 0:
    print("trial_mpi4py: all right at %d ranks" % ranks, flush=True)
