# SPDX-License-Identifier: Apache-2.0
"""Communicator: a worker of a job, on libsilken.

Calls into libsilken go through ctypes, which releases Python's global lock, so other threads run
while a sum is under way.
"""
import ctypes
import os
import sys

from silken import _library


class Error(RuntimeError):
    """An error of libsilken: its sentence, and its code's name in |name| ("STALLED", "OVER", ...)."""

    def __init__(self, code, sentence):
        self.code, self.name = code, _library.ERRORS.get(code, str(code))
        super().__init__(sentence)


def _raise(lib, code):
    raise Error(code, lib.silken_strerror(code).decode())


def _shape_of(tensor, what, written=False):
    """(address, number of elements, type's name, bytes) of a numpy array or a tensor of torch."""
    if hasattr(tensor, "data_ptr"):
        if tensor.device.type != "cpu" or not tensor.is_contiguous():
            raise ValueError("%s: a contiguous tensor in the processor's memory is expected" % what)
        if tensor.is_conj() or tensor.is_neg():
            raise ValueError("%s: the tensor's memory has other numbers than it shows: resolve_neg() first" % what)
        return (tensor.data_ptr(), tensor.numel(), str(tensor.dtype).replace("torch.", ""),
                tensor.numel() * tensor.element_size())
    if hasattr(tensor, "ctypes"):
        if not tensor.flags.c_contiguous:
            raise ValueError("%s: a contiguous array is expected" % what)
        if not tensor.dtype.isnative:
            raise TypeError("%s: numbers in the machine's byte order are expected, not %s" % (what, tensor.dtype.str))
        if written and not tensor.flags.writeable:
            raise ValueError("%s: the array cannot be written to" % what)
        return tensor.ctypes.data, tensor.size, tensor.dtype.name, tensor.nbytes
    raise TypeError("%s: a numpy array or a tensor of torch is expected, not %s"
                    % (what, type(tensor).__name__))


def _log(_context, text):
    sys.stderr.write(text.decode(errors="replace"))


def _settings(lib, rank, workers):
    """The environment's settings as a struct silken_config, and the memory in which its strings lie.

    |rank| and |workers| go before the environment's (None: they do not)."""
    config = _library.Config()
    texts, why = ctypes.create_string_buffer(_library.ENV_TEXTS), ctypes.create_string_buffer(512)
    places = {"SILKEN_RANK": rank, "SILKEN_WORKERS": workers}
    before = {name: os.environ.get(name) for name in places}
    try:  # libsilken reads the process's environment
        os.environ.update({name: str(value) for name, value in places.items() if value is not None})
        code = lib.silken_config_env_sized(ctypes.byref(config), ctypes.sizeof(config), texts, why, len(why))
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    if code:
        raise Error(code, why.value.decode(errors="replace"))
    return config, texts


def _admit(lib, config, job, together, why):
    """Asks the job service for a place in the job |job|; in that of SILKEN_JOB_NAME, if there is a service, where it
    is None. A job with a name of its own has the UDP port that the service gives. It, and workers that begin
    |together|, are waited for as long as the limit says. Returns a code, with a sentence in |why|."""
    service = _library.Service()
    if not lib.silken_service_from_env(ctypes.byref(service)):
        if job is None:
            return 0
        raise ValueError("job %s: SILKEN_CONTROLLER, the job service's address, is not set" % job)
    if job is None and not together:
        return lib.silken_config_admit(ctypes.byref(config), why, len(why))
    service.rank, service.workers = config.rank, config.workers
    service.ip, service.mac, service.wait_ms = config.worker_ip, config.worker_mac, config.hard_limit_ms
    if job is not None:
        service.job = job.encode()
    elif os.environ.get("SILKEN_WORKER_PORT"):
        service.port = config.worker_port
    service.slots = config.pool_size if os.environ.get("SILKEN_POOL") else 0
    return lib.silken_config_from_service(ctypes.byref(config), ctypes.byref(service), why, len(why))


class Communicator:
    """One worker of a job, which the environment describes (ENVIRONMENT in hosts/include/silken/allreduce.h).

    |rank| and |workers|, if given, go before the environment's. With |job|, a name, it is another job than the
    environment's, of the same job service; and |place|, (rank, workers), is what this process is apart from that job: its
    rank stands for %r in texts. |together|: all workers begin now, and the limit counts from the beginning, also for a job
    service that waits for them. Any thread may call; allreduce() of several threads needs an order that is the same at
    all workers. close() needs all other calls to be done."""

    def __init__(self, rank=None, workers=None, job=None, place=None, together=False):
        self._comm, self._lib = None, _library.load()
        config, texts = _settings(self._lib, *(place or (rank, workers)))
        if place:
            config.rank, config.workers = rank, workers
        self._log = config.log = _library.LOG(_log)  # kept: libsilken calls it until the end
        why, comm = ctypes.create_string_buffer(512), ctypes.c_void_p()
        code = _admit(self._lib, config, job, together, why)
        if not code:
            code = self._lib.silken_open(ctypes.byref(comm), ctypes.byref(config), why, len(why))
            if code:
                self._lib.silken_lease_close(config.lease)
        del texts
        if code:
            raise Error(code, why.value.decode(errors="replace"))
        self._comm = comm
        self.rank, self.workers, self.hard_limit_ms = config.rank, config.workers, config.hard_limit_ms
        self.job, self.pool_size, self.k = config.job, config.pool_size, config.k

    def allreduce(self, tensor, out=None, average=False):
        """Writes the elementwise sum (or average) of all workers' |tensor| to |out| (None: to itself), and
        returns it. float32, float16, bfloat16, float64, int32, int64; integers have no average.

        Raises Error: STALLED, OVER and CLOSED end the communicator's work, RANGE is an int64 sum that does not fit."""
        out = tensor if out is None else out
        address, count, kind, nbytes = _shape_of(tensor, "allreduce")
        to, room, to_kind, _ = _shape_of(out, "allreduce", written=True)
        if (room, to_kind) != (count, kind):
            raise ValueError("allreduce: %d elements of %s cannot be summed into %d of %s"
                             % (count, kind, room, to_kind))
        if kind not in _library.TYPES:
            raise TypeError("allreduce: the types are %s, not %s" % (", ".join(_library.TYPES), kind))
        if average and "float" not in kind:
            raise TypeError("allreduce: %s has no average" % kind)
        if address != to and abs(address - to) < nbytes:
            raise ValueError("allreduce: the tensor and its sum overlap in part")
        code = self._lib.silken_allreduce(self._handle(), address, to, count, _library.TYPES[kind],
                                          _library.AVERAGE if average else _library.SUM)
        if code:
            _raise(self._lib, code)
        return out

    def stats(self):
        """The communicator's counters, as a dictionary of numbers."""
        stats = _library.Stats()
        self._lib.silken_stats(self._handle(), ctypes.byref(stats))
        sent, received = ctypes.c_uint64(), ctypes.c_uint64()
        self._lib.silken_segments(self._handle(), ctypes.byref(sent), ctypes.byref(received))
        return {**{name: getattr(stats, name) for name, _ in _library.Stats._fields_ if name != "ignored"},
                "tx_segments": sent.value, "rx_segments": received.value}

    def _handle(self):
        if self._comm is None:
            raise Error(-5, "the communicator is closed")
        return self._comm

    def close(self):
        """Ends the communicator. May be called again."""
        comm, self._comm = self._comm, None
        if comm is not None:
            self._lib.silken_close(comm)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
