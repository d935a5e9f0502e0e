# SPDX-License-Identifier: Apache-2.0
"""A worker that calls collective operations, in an order that all draw alike, and checks every byte.

    collect.py RANK WORKERS ROUNDS SEED [ELEMENTS]

Prints where the operations are, and what a reduce-scatter and an all-gather of ELEMENTS for each worker cost in bytes."""
import ctypes
import random
import sys

import numpy
import silken

I32, F32 = 1, 0


def call(comm, name, *arguments):
    code = getattr(comm._lib, name)(comm._handle(), *arguments)
    if code < 0:
        raise silken.Error(code, name + ": " + comm._lib.silken_strerror(code).decode())
    return code


def words(rank, number, count):
    return (numpy.arange(count, dtype=numpy.int64) * 2654435761 + rank * 97 + number * 31).astype(numpy.int32)


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def size(n):
    return ctypes.c_size_t(n)


def broadcast(comm, number, count):
    root = number % comm.workers
    data = words(comm.rank, number, count)
    call(comm, "silken_broadcast", pointer(data), size(4 * count), ctypes.c_uint32(root))
    assert (data == words(root, number, count)).all(), "broadcast %d" % number


def allgather(comm, number, count):
    given, out = words(comm.rank, number, count), numpy.zeros((comm.workers, count), numpy.int32)
    call(comm, "silken_allgather", pointer(given), pointer(out), size(4 * count))
    for w in range(comm.workers):
        assert (out[w] == words(w, number, count)).all(), "allgather %d" % number


def reduce_scatter(comm, number, count):
    given = words(comm.rank, number, comm.workers * count)
    out = numpy.zeros(count, numpy.int32)
    call(comm, "silken_reduce_scatter", pointer(given), pointer(out), size(count), I32, 0)
    sums = sum(words(w, number, comm.workers * count).astype(numpy.int64) for w in range(comm.workers))
    assert (out == sums.astype(numpy.int32)[comm.rank * count:(comm.rank + 1) * count]).all(), "reduce_scatter %d" % number


def reduce_scatter_floats(comm, number, count):
    given = (words(comm.rank, number, comm.workers * count) % 1000).astype(numpy.float32)
    out = numpy.zeros(count, numpy.float32)
    call(comm, "silken_reduce_scatter", pointer(given), pointer(out), size(count), F32, 0)
    sums = sum((words(w, number, comm.workers * count) % 1000).astype(numpy.float32) for w in range(comm.workers))
    assert (out == sums[comm.rank * count:(comm.rank + 1) * count]).all(), "floats %d" % number


def allreduce(comm, number, count):
    given = words(comm.rank, number, count)
    comm.allreduce(given)
    sums = sum(words(w, number, count).astype(numpy.int64) for w in range(comm.workers))
    assert (given == sums.astype(numpy.int32)).all(), "allreduce %d" % number


def barrier(comm, _number, _count):
    call(comm, "silken_barrier")


def cost(comm, operation, count):
    """Bytes that this worker has sent and received, without the repeated ones' part."""
    barrier(comm, 0, 0)
    before = comm.stats()
    operation(comm, 1, count)
    after = comm.stats()
    return after["tx_bytes"] - before["tx_bytes"], after["rx_bytes"] - before["rx_bytes"]


def main():
    rank, workers, rounds, seed = map(int, sys.argv[1:5])
    draw = random.Random(seed)
    with silken.Communicator(rank, workers) as comm:
        where = call(comm, "silken_collectives_in_switch")
        for number in range(rounds):
            draw.choice([broadcast, allgather, reduce_scatter, reduce_scatter_floats, allreduce, barrier])(
                comm, seed + number, draw.choice([1, 7, 100, 3000, draw.randrange(20000)]))
        print("in_switch %d" % where)
        if len(sys.argv) > 5:
            count = int(sys.argv[5])
            for name, operation, n in (("allreduce", allreduce, comm.workers * count),
                                       ("reduce_scatter", reduce_scatter, count), ("allgather", allgather, count)):
                print("%s %d %d" % (name, *cost(comm, operation, n)))
        barrier(comm, 0, 0)
    print("right")


if __name__ == "__main__":
    try:
        main()
    except silken.Error as e:
        sys.exit("error: %s: %s" % (e.name, e))
