# SPDX-License-Identifier: Apache-2.0
"""Communicator: a worker of a job, on libsilken.

Calls into libsilken go through ctypes, which releases Python's global lock, so other threads run
while a sum is under way.
"""
import ctypes
import sys

from silken import _library, environment


class Error(RuntimeError):
    """An error of libsilken: its sentence, and its code's name in |name| ("STALLED", "OVER", ...)."""

    def __init__(self, code, sentence):
        self.code, self.name = code, _library.ERRORS.get(code, str(code))
        super().__init__(sentence)


def _raise(lib, code):
    raise Error(code, lib.silken_strerror(code).decode())


def _shape_of(tensor, what):
    """(address, number of elements, type's name) of a numpy array or a tensor of torch."""
    if hasattr(tensor, "data_ptr"):
        if tensor.device.type != "cpu" or not tensor.is_contiguous():
            raise ValueError("%s: a contiguous tensor in the processor's memory is expected" % what)
        return tensor.data_ptr(), tensor.numel(), str(tensor.dtype).replace("torch.", "")
    if hasattr(tensor, "ctypes"):
        if not tensor.flags.c_contiguous:
            raise ValueError("%s: a contiguous array is expected" % what)
        return tensor.ctypes.data, tensor.size, tensor.dtype.name
    raise TypeError("%s: a numpy array or a tensor of torch is expected, not %s"
                    % (what, type(tensor).__name__))


def _log(_context, text):
    sys.stderr.write(text.decode(errors="replace"))


class Communicator:
    """One worker of a job. Any thread may call; allreduce() of several threads needs an order that is
    the same at all workers. close() needs all other calls to be done."""

    def __init__(self, *, rank, workers, device, mac, ip, switch_mac="02:00:00:00:00:fe",
                 switch_ip="10.0.0.254", job=1, pool=128, packet=256, hard_limit_ms=30000,
                 warning_ms=2000):
        self._lib = lib = _library.load()
        config = _library.Config()
        lib.silken_config_init(ctypes.byref(config))
        config.protocol = _library.SWITCHML
        config.rank, config.workers, config.job = rank, workers, job
        config.pool_size, config.k = pool, packet
        config.worker_mac, config.worker_ip = mac.encode(), ip.encode()
        config.switch_mac, config.switch_ip = switch_mac.encode(), switch_ip.encode()
        config.device = device.encode()
        config.hard_limit_ms, config.stall_warning_ms = hard_limit_ms, warning_ms
        self._log = config.log = _library.LOG(_log)  # kept: libsilken calls it until the end
        why = ctypes.create_string_buffer(512)
        self._comm = ctypes.c_void_p()
        code = lib.silken_open(ctypes.byref(self._comm), ctypes.byref(config), why, len(why))
        if code:
            self._comm = None
            raise Error(code, why.value.decode(errors="replace"))
        self.rank, self.workers = rank, workers

    @classmethod
    def from_environment(cls, **over):
        """A communicator with the settings of silken.environment; |over| goes before them."""
        return cls(**{**environment.settings(over.get("rank"), over.get("workers")), **over})

    def allreduce(self, tensor, out=None):
        """Writes the elementwise sum of all workers' |tensor| to |out| (None: to itself), and returns it.

        float32 and int32. Raises Error: STALLED, OVER and CLOSED end the communicator's work."""
        out = tensor if out is None else out
        address, count, kind = _shape_of(tensor, "allreduce")
        to, room, to_kind = _shape_of(out, "allreduce")
        if (room, to_kind) != (count, kind):
            raise ValueError("allreduce: %d elements of %s cannot be summed into %d of %s"
                             % (count, kind, room, to_kind))
        if kind not in ("float32", "int32"):
            raise TypeError("allreduce: the switch adds float32 and int32, not %s" % kind)
        call = (self._lib.silken_allreduce_f32 if kind == "float32"
                else self._lib.silken_allreduce_i32)
        code = call(self._handle(), address, to, count)
        if code:
            _raise(self._lib, code)
        return out

    def stats(self):
        """The communicator's counters, as a dictionary of numbers."""
        stats = _library.Stats()
        self._lib.silken_stats(self._handle(), ctypes.byref(stats))
        return {name: getattr(stats, name) for name, _ in _library.Stats._fields_
                if name != "ignored"}

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
