# SPDX-License-Identifier: Apache-2.0
"""A communication hook of DistributedDataParallel: the gradients by DLCP, of which a bounded part may be lost.

    from silken.torch import dlcp
    job = dlcp.Job(rank, [("02:00:00:00:01:01", "10.0.0.1"), ...], "net_memif0,role=client,...", bound=0.1)
    model = DistributedDataParallel(network)
    model.register_comm_hook(job, dlcp.hook)
    ...
    job.close()

The hook needs all ranks to be workers of the job, and gradients in the processor's memory. A rank's gradients may
differ from another's (silken/allreduce.h), and so do the parameters then, a little: once in a while, broadcast
rank 0's, as job.agree(model) does. Everything else of the process group goes as before.
"""
import ctypes

import torch.distributed as dist

from silken import _library
from silken.torch import hooks
from silken.torch.hooks import hook  # for register_comm_hook(job, dlcp.hook)

__all__ = ["Job", "hook"]


class Job(hooks.Job):
    """This process's place in a job of DLCP. |workers|: (MAC, IP) of all, by rank. |device|: as in libsilken.

    |bound|: share of a gradient that may be missing on its way to a server; a tenth of it on the way back. |servers|: how
    many of the first ranks' hosts are servers (0: all); |ring|: none is. Other settings are those of struct
    silken_dlcp_job. A worker that closes first serves others for two seconds at most."""

    def __init__(self, rank, workers, device, bound=0.1, servers=0, ring=False, job=1, hard_limit_ms=30000, **settings):
        lib, config = hooks.new_config(rank, len(workers), job, hard_limit_ms)
        addresses = (_library.Address * len(workers))(*[(m.encode(), i.encode()) for m, i in workers])
        config.protocol, config.device = _library.DLCP, device.encode()
        config.rto_min_us, config.rto_initial_us = 2000, 20000
        config.dlcp.worker, config.dlcp.servers, config.dlcp.ring = addresses, servers, ring
        config.dlcp.bound, config.dlcp.pull_bound = bound, bound / 10
        for name, value in settings.items():
            if name not in dict(_library.Dlcp._fields_):
                raise TypeError("Job: there is no setting %s" % name)
            setattr(config.dlcp, name, value)
        self._layers = self._seen = 0  # buckets of an iteration: known after the first one
        super().__init__(lib, config)

    def average(self, tensor, layer=0, layers=0):
        """Begins to average |tensor| over all workers, in place; a future of torch with it. Layer 0 of |layers| is in
        front; 0 |layers|: nothing is said of it."""
        self._check(tensor)
        self._lib.silken_dlcp_layer(self._comm, layer, layers)
        return super().average(tensor)

    def bucket(self, bucket):
        """DDP's buckets begin with the last layers."""
        index, layers = bucket.index(), self._layers
        self._seen = max(self._seen, index + 1)
        if bucket.is_last():
            self._layers, self._seen = self._seen, 0
        known = index < layers
        return self.average(bucket.buffer(), layers - 1 - index if known else 0, layers if known else 0)

    def agree(self, model):
        """All ranks have rank 0's parameters and buffers."""
        for tensor in list(model.parameters()) + list(model.buffers()):
            dist.broadcast(tensor.data, 0)

    def stats(self):
        """The job's counters, as a dictionary of numbers (silken/dlcp.h)."""
        stats = _library.DlcpStats()
        self._lib.silken_dlcp_job_stats(self._comm, ctypes.byref(stats))
        return {name: getattr(stats, name) for name, _ in _library.DlcpStats._fields_}
