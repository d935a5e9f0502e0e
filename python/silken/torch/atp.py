# SPDX-License-Identifier: Apache-2.0
"""A communication hook of DistributedDataParallel: the gradients by ATP, added up by the racks' switches and, what they
did not, by parameter servers (`silken server`).

    from silken.torch import atp
    job = atp.Job(rank, "job.json", ["net_memif0,role=client,..."])
    model = DistributedDataParallel(network)
    model.register_comm_hook(job, atp.hook)
    ...
    job.close()

job.json is the job's file, the same for its workers and servers (docs/manual.md, "Jobs of ATP"). The hook needs all
ranks to be workers of the job, and gradients in the processor's memory. All ranks get the same bits: sums in fixed
point, off the exact ones by at most n / (2 * 10^8), or of floats where a sum does not fit (NUMBERS in
silken/allreduce.h). Everything else of the process group goes as before. When the job is over, or has no progress for
the limit, the backward pass raises, at all ranks.
"""
import ctypes
import json

from silken import _library
from silken.torch import hooks
from silken.torch.hooks import hook  # for register_comm_hook(job, atp.hook)

__all__ = ["Job", "hook"]
AGGREGATORS = 65536  # of a switch


def _number(told, name, least, most, otherwise=None):
    """A number of the file; without |otherwise| it has to be there."""
    value = told[name] if otherwise is None else told.get(name, otherwise)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError("%s is a number from %d to %d, not %r" % (name, least, most, value))
    return value


def _address(at):
    return _library.Address(at["mac"].encode(), at["ip"].encode())


def _stations(stations, lanes, what):
    """(racks, addresses by lane and then station) as struct silken_atp has them."""
    for number, station in enumerate(stations):
        if len(station["lanes"]) != lanes:
            raise ValueError("%s %d has %d lanes, and there are %d devices" % (what, number, len(station["lanes"]), lanes))
    racks = (ctypes.c_uint32 * len(stations))(*[_number(s, "rack", 0, 2**32 - 1, 0) for s in stations])
    addresses = [_address(s["lanes"][lane]) for lane in range(lanes) for s in stations]
    return racks, (_library.Address * len(addresses))(*addresses)


def _fill(config, told, rank, devices):
    """Sets what the job's file says."""
    lanes, to = len(devices), config.atp
    to.server_rack, to.server = _stations(told["servers"], lanes, "server")
    racks, _ = _stations(told["workers"], lanes, "worker")
    to.rack, to.servers = racks, len(told["servers"])
    to.group = (_library.Address * lanes)(*[_address(told["groups"][lane]) for lane in range(lanes)])
    to.no_switch = not told["switches"]
    to.first_index = _number(told, "first_index", 0, AGGREGATORS - 1, 0)
    to.indices = _number(told, "indices", 1, AGGREGATORS - to.first_index, AGGREGATORS - to.first_index)
    to.window_max = _number(told, "window_max", 1, 2**32 - 1, to.window_max)
    to.window = _number(told, "window", 1, to.window_max, min(to.window, to.window_max))
    for switch in told["switches"]:
        if switch["rack"] == racks[rank]:
            config.switch_mac, config.switch_ip = switch["mac"].encode(), switch["ip"].encode()
    if told["switches"] and not config.switch_ip:
        raise ValueError("rack %d has no switch" % racks[rank])
    config.lanes, config.lane = lanes, (_library.Lane * lanes)(*[
        _library.Lane(worker_mac=at["mac"].encode(), worker_ip=at["ip"].encode(), device=device.encode(), cpu=-1)
        for at, device in zip(told["workers"][rank]["lanes"], devices)])


class Job(hooks.Job):
    """This process's place in a job of ATP. |job_file|: the job's file, of type f32. |devices|: a device of libsilken for
    each lane."""

    def __init__(self, rank, job_file, devices, hard_limit_ms=30000):
        with open(job_file, encoding="utf-8") as f:
            told = json.load(f)
        try:
            workers, number, kind = len(told["workers"]), _number(told, "job", 1, 127), told.get("type", "f32")
            if kind != "f32":
                raise ValueError("gradients are floats, and the job's type is %s" % kind)
            if not 0 <= rank < workers:
                raise ValueError("rank %d is not one of %d workers" % (rank, workers))
            if not devices:
                raise ValueError("there is no device")
            lib, config = hooks.new_config(rank, workers, number, hard_limit_ms)
            config.protocol = _library.ATP
            _fill(config, told, rank, devices)
        except KeyError as e:
            raise ValueError("%s: %s is missing" % (job_file, e)) from e
        except (AttributeError, IndexError, TypeError, ValueError) as e:
            raise ValueError("%s: %s" % (job_file, e)) from e
        super().__init__(lib, config)

    def stats(self):
        """The communicator's counters, as a dictionary of numbers (struct silken_stats)."""
        stats = _library.Stats()
        self._lib.silken_stats(self._comm, ctypes.byref(stats))
        return {name: getattr(stats, name) for name, _ in _library.Stats._fields_ if name != "ignored"}
