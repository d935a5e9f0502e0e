# SPDX-License-Identifier: Apache-2.0
"""group: the process group of the backend "silken".

all_reduce with SUM or AVG of float32, float16, bfloat16 and int32 tensors of SILKEN_TORCH_MIN_BYTES
(8192) or more goes through the switch, one after the other, as the ranks submit them (queue.py), in the
background. Everything else is Gloo's: another group, made over the same store, does it.

The first group of a process has the job that the environment describes. With a job service (SILKEN_CONTROLLER) every
other group has a job of its own, which the service admits when the group is made and frees when it ends; its name is
that of the first with a part that rank 0 draws. When the service or the switch has no place for it, or a rank cannot
take it, the group's ranks agree on that, rank 0 says so, and the group is Gloo's altogether. So are other groups where
there is no service.

torch 1.13 calls a group's methods by name, so all of Gloo's are handed on. torch 2 asks a group for its
backend of a device, and that is Gloo.
"""
import datetime
import os
import sys
import time
import weakref

import torch
from torch.distributed import distributed_c10d as c10d
from torch.distributed import PrefixStore, ProcessGroup, ReduceOp

import silken
from silken.torch import agreement, counts, ending, queue, staging

NAME = "silken"
MARGIN_S = 10  # beyond the hard limit, until the ranks have agreed or all raise
KEPT_WORKS = 256
Gloo = c10d.ProcessGroupGloo  # as it is before silken.autoload replaces the name
Work = torch._C._distributed_c10d.Work


class Sum(Work):
    """A sum under way. wait() and the future end when the tensor has the result; both raise what went wrong."""

    def __init__(self, future):
        super().__init__()
        self.future = future

    def wait(self, timeout=None):
        self.future.wait()
        return True

    def get_future(self):
        return self.future

    def is_completed(self):
        return self.future.done()

    def is_success(self):
        return self.future.done() and self.exception() is None

    def exception(self):
        try:
            self.future.wait()
        except Exception as e:
            return e
        return None

    def result(self):
        return self.future.wait()

    def synchronize(self):
        self.wait()


def _number(name, otherwise, what):
    value = os.environ.get(name) or otherwise
    if not value.isdigit():
        raise ValueError("%s=%s: a number of %s is expected" % (name, value, what))
    return int(value)


def _gloo(store, prefix, rank, size, timeout):
    return Gloo(PrefixStore(prefix, store), rank, size, timeout=timeout)


_groups = weakref.WeakSet()
_place = None  # (rank, number of ranks) of this process in its first group


class Group(ProcessGroup):
    """A group of ranks. |first|: of the process."""

    def __init__(self, store, rank, size, timeout, first):
        super().__init__(rank, size)
        self._rank, self._size = rank, size
        self._inner = _gloo(store, "gloo", rank, size, timeout)
        self._register_inner()
        self._stages, self._works = {}, []
        self._queue = self._begin(store, first, timeout) if size > 1 and (first or os.environ.get("SILKEN_CONTROLLER")) else None
        _groups.add(self)

    def _register_inner(self):
        """torch 2: this group's backend of each device is Gloo."""
        if hasattr(self, "_register_backend"):
            for device in ("cpu", "cuda"):
                if device == "cpu" or torch.cuda.is_available():
                    self._register_backend(torch.device(device), ProcessGroup.BackendType.GLOO,
                                           self._inner)

    def _open(self, agree, first):
        """The communicator of the group's job. Waits for the other ranks to come to the job service, if there is one."""
        if first:
            return silken.Communicator(self._rank, self._size, together=True)
        name = agree.name(os.environ.get("SILKEN_JOB_NAME", NAME))
        return silken.Communicator(self._rank, self._size, name, _place or (c10d.get_rank(), c10d.get_world_size()))

    def _begin(self, store, first, timeout):
        """Opens the job, at all ranks or none. The queue of its sums, or None: the group is Gloo's."""
        self._min_bytes = _number("SILKEN_TORCH_MIN_BYTES", "8192", "bytes")
        limit_s = MARGIN_S + _number("SILKEN_HARD_LIMIT_MS", "30000", "milliseconds") / 1000
        agree = agreement.Agreement(PrefixStore(NAME, store), self._rank, self._size, limit_s)
        if first and os.environ.get("SILKEN_CONTROLLER"):  # then none waits at the service for one that has not started
            agree.arrive(timeout.total_seconds())
        end = None if first else time.monotonic() + limit_s
        comm = error = None
        same = ["SILKEN_TORCH_MIN_BYTES %d" % self._min_bytes]
        try:
            comm = self._open(agree, first)
            same.insert(0, "job %d, %d slots of %d elements, a limit of %d ms" % (
                comm.job, comm.pool_size, comm.k, comm.hard_limit_ms))
        except agreement.Stalled:
            agree.close()
            raise
        except (OSError, RuntimeError, ValueError) as e:
            error = str(e).replace("\n", " ")
        try:
            agree.open(error, ", ".join(same), end)
        except RuntimeError as e:
            agree.close()
            if comm:
                comm.close()
            if first or not isinstance(e, agreement.Refused):
                raise
            if self._rank == 0:
                sys.stderr.write("silken: a group of %d ranks goes by Gloo: %s\n" % (self._size, e))
            return None
        rank, size, after = self._rank, self._size, datetime.timedelta(seconds=limit_s)
        # no reference to this group: the queue's thread would keep it alive
        return queue.Queue(comm, agree, lambda: _gloo(store, "fallback", rank, size, after))

    # ---- sums ----

    def _by_switch(self, tensors, op):
        """Whether all ranks send this all_reduce through the switch: by what is the same at all."""
        if self._queue is None or len(tensors) != 1 or not (op == ReduceOp.SUM or op == ReduceOp.AVG):
            return False
        t = tensors[0]
        return (t.layout == torch.strided and t.dtype in staging.SWITCH_TYPE
                and t.device.type in ("cpu", "cuda")
                and t.numel() * t.element_size() >= max(self._min_bytes, 1))

    def _stage(self, device):
        if device not in self._stages:
            self._stages[device] = (staging.HostStage() if device.type == "cpu"
                                    else staging.CudaStage(device))
        return self._stages[device]

    def _sum(self, tensor, divisor):
        stage = self._stage(tensor.device)
        inner = stage.future()
        failed = []

        def outcome(future):  # what is raised here becomes the outer future's error, for C++ too
            if failed:
                raise failed[0]
            return future.value()

        outer = inner.then(outcome)
        at = stage.begin(tensor)

        def done(error):
            if error is None:
                stage.end(at, divisor, inner)
            else:
                failed.append(error)
                inner.set_result([tensor])

        self._queue.submit(queue.Item(lambda: stage.given(at), done,
                                      tensor.numel() * tensor.element_size()))
        # torch 1.13 keeps a work's C++ half alone: what is asked of it needs the other half
        work = Sum(outer)
        self._works = [*self._works[-KEPT_WORKS:], work]
        return work

    def allreduce(self, tensors, opts=None):
        if isinstance(tensors, torch.Tensor):
            tensors = [tensors]
        op = ReduceOp.SUM if opts is None else getattr(opts, "reduceOp", opts)
        if self._by_switch(tensors, op):
            return self._sum(tensors[0], self._size if op == ReduceOp.AVG else None)
        counts.add("gloo", sum(t.numel() * t.element_size() for t in tensors))
        if opts is None:
            return self._inner.allreduce(tensors)
        return self._inner.allreduce(tensors, opts)

    # ---- the group ----

    def getBackendName(self):
        return NAME

    def getRank(self):
        return self._rank

    def getSize(self):
        return self._size

    def rank(self):
        return self._rank

    def size(self):
        return self._size

    def name(self):
        return NAME

    def shutdown(self):
        """Ends the job. All ranks do, at about the same time."""
        if self._queue is not None:
            self._queue.close()

    abort = shutdown

    def __getattr__(self, name):
        """What torch asks of Gloo's group alone, such as its options."""
        if name in ("_inner", "_queue"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __del__(self):
        if getattr(self, "_queue", None) is not None:
            self._queue.close()


def _hand_on(name):
    def method(self, *args, **kwargs):
        counts.add("gloo", 0)
        return getattr(self._inner, name)(*args, **kwargs)
    method.__name__ = name
    return method


# What Gloo does for this group: of a group's methods those that its class lists here and Group has not.
for _name in ("_allgather_base", "_reduce_scatter_base", "_get_sequence_number_for_group",
              "_set_sequence_number_for_group", "allgather", "allgather_coalesced",
              "allgather_into_tensor_coalesced", "allreduce_coalesced", "alltoall", "alltoall_base",
              "barrier", "broadcast", "gather", "monitored_barrier", "recv", "recv_anysource", "reduce",
              "reduce_scatter", "reduce_scatter_tensor_coalesced", "scatter", "send"):
    if hasattr(Gloo, _name):
        setattr(Group, _name, _hand_on(_name))


def create(store, rank, size, timeout):
    """Makes a group, as torch.distributed.Backend.register_backend() wants it."""
    global _place
    first = not c10d.is_initialized()
    if first:
        _place = (rank, size)
    return Group(store, rank, size, timeout, first)


def end(which):
    """Ends the jobs of the groups that torch.distributed.destroy_process_group(|which|) destroys."""
    everything = which is None or which is c10d.GroupMember.WORLD
    groups = list(_groups) if everything else [which] if isinstance(which, Group) else []
    ending.end([g._queue for g in groups if g._queue is not None])
