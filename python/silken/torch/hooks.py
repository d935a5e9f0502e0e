# SPDX-License-Identifier: Apache-2.0
"""hooks: what communication hooks of DistributedDataParallel share: a job of libsilken whose averages run beside a
backward pass. dlcp.py and atp.py say which job it is.
"""
import ctypes
import queue
import threading

import torch

from silken import _library
from silken.communicator import Error, _log
from silken.torch import ending

MARGIN_S = 10  # beyond the hard limit, until a job's last sum has ended
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def new_config(rank, workers, job, hard_limit_ms):
    """(libsilken, a struct silken_config with its defaults and these members)."""
    lib, config = _library.load(), _library.Config()
    lib.silken_config_init_sized(ctypes.byref(config), ctypes.sizeof(config))
    config.rank, config.workers, config.job, config.hard_limit_ms = rank, workers, job, hard_limit_ms
    return lib, config


class Job:
    """This process's place in a job. Averages end in the order in which they began, by a thread of the job's own; all
    ranks begin the same ones in the same order. Any one thread at a time may call."""

    def __init__(self, lib, config):
        self._lib, self._comm = lib, None
        self._limit_s = config.hard_limit_ms / 1000 or None
        self._log = config.log = _library.LOG(_log)  # kept: libsilken calls it until the end
        why, comm = ctypes.create_string_buffer(512), ctypes.c_void_p()
        code = lib.silken_open(ctypes.byref(comm), ctypes.byref(config), why, len(why))
        if code:
            raise Error(code, why.value.decode(errors="replace"))
        self._comm = comm
        self._begun = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._end_all, daemon=True)
        self._thread.start()
        ending.with_process(self)

    def _check(self, tensor):
        if tensor.device.type != "cpu" or not tensor.is_contiguous() or tensor.dtype not in FLOATS:
            raise TypeError("the job averages contiguous tensors of floats in the processor's memory")
        if self._comm is None:
            raise Error(-5, "the job is closed")

    def average(self, tensor):
        """Begins to average |tensor| over all workers, in place; a future of torch with it."""
        self._check(tensor)
        future = torch.futures.Future()
        request, address = ctypes.c_void_p(), tensor.data_ptr()
        kind = _library.TYPES[str(tensor.dtype).replace("torch.", "")]
        code = self._lib.silken_submit(self._comm, address, address, tensor.numel(), kind, _library.AVERAGE,
                                       ctypes.byref(request))
        if code:
            raise Error(code, self._lib.silken_strerror(code).decode())
        self._begun.put((request, tensor, future))
        return future

    def _end_all(self):
        for request, tensor, future in iter(self._begun.get, None):
            code = self._lib.silken_wait(request)
            if code:
                future.set_exception(Error(code, self._lib.silken_strerror(code).decode()))
            else:
                future.set_result(tensor)

    def bucket(self, bucket):
        """What a hook does with one of DistributedDataParallel's buckets."""
        return self.average(bucket.buffer())

    def begin_close(self):
        """Nothing more is begun."""
        self._begun.put(None)

    def close(self):
        """Ends the job at this worker, when what it has begun has ended, which takes no longer than the job's limit. May
        be called again; a process that ends does it."""
        comm, self._comm = self._comm, None
        if comm is not None:
            self.begin_close()
            self._thread.join(self._limit_s and self._limit_s + MARGIN_S)
            if not self._thread.is_alive():  # else it is in the library still
                self._lib.silken_close(comm)


def hook(job, bucket):
    """For DistributedDataParallel.register_comm_hook(job, hook)."""
    return job.bucket(bucket)
