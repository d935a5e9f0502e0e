# SPDX-License-Identifier: Apache-2.0
"""autoload: the backend's name, known to torch.distributed before a script asks for it.

torch 2 calls register() when it is imported, for it is an entry point of the group torch.backends. With
torch 1.13 a script imports silken.torch, or is started by silken.run.

With SILKEN_REPLACE=gloo, a script that asks torch.distributed for gloo gets silken; under the name gloo with torch
1.13.
"""
import atexit
import datetime
import functools
import os
import sys


def _create(store, rank, size, timeout):
    from silken.torch import group  # not before a group is made: imports must stay quick
    return group.create(store, rank, size, timeout)


def register():
    """Makes "silken" a backend of torch.distributed. May be called again."""
    import torch.distributed as dist
    if not dist.is_available() or hasattr(dist.Backend, "SILKEN"):
        return
    if hasattr(dist.Backend, "backend_capability"):  # torch 2: a backend has devices
        dist.Backend.register_backend("silken", _create, devices=["cpu", "cuda"])
    else:
        dist.Backend.register_backend("silken", _create)
    from silken.torch import counts
    atexit.register(counts.print_at_exit)
    _end_jobs_with_groups()
    if os.environ.get("SILKEN_REPLACE"):
        replace(os.environ["SILKEN_REPLACE"])


def _end_jobs_with_groups():
    """destroy_process_group() ends the jobs of the groups that it destroys, whoever holds them still."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d
    real = c10d.destroy_process_group

    @functools.wraps(real)
    def destroy_process_group(group=None):
        if "silken.torch.group" in sys.modules:
            sys.modules["silken.torch.group"].end(group)
        return real(group)

    c10d.destroy_process_group = dist.destroy_process_group = destroy_process_group


def replace(name):
    """Gives silken to who asks for the backend |name|: gloo."""
    if name != "gloo":
        raise ValueError("SILKEN_REPLACE=%s: only gloo can be replaced" % name)
    import torch.distributed as dist
    if hasattr(dist.Backend, "backend_capability"):
        _replace_name()
    else:
        _replace_class()


def _replace_name():
    """torch 2 wants Gloo's own object where the name is gloo: the name is replaced in the calls that take one.
    get_backend() then says silken. A map of devices ("cpu:gloo,cuda:nccl") stays as it is."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    def renamed(backend):
        return "silken" if isinstance(backend, str) and backend.lower() == "gloo" else backend

    def wrap(real, place):  # the backend's place among the arguments
        @functools.wraps(real)
        def call(*args, **kwargs):
            if len(args) > place:
                args = (*args[:place], renamed(args[place]), *args[place + 1:])
            elif "backend" in kwargs:
                kwargs["backend"] = renamed(kwargs["backend"])
            return real(*args, **kwargs)
        return call

    for name, place in (("init_process_group", 0), ("new_group", 2)):
        wrapped = wrap(getattr(c10d, name), place)
        setattr(c10d, name, wrapped)
        setattr(dist, name, wrapped)


def _replace_class():
    """torch 1.13: the class by which gloo's groups are made is replaced."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d
    from silken.torch import group  # keeps the real one

    class Replaced(type):
        def __instancecheck__(cls, thing):
            return isinstance(thing, (group.Gloo, group.Group))

    class ProcessGroupGloo(metaclass=Replaced):
        """Stands for Gloo's group: makes one of silken."""
        def __new__(cls, store, rank, size, timeout=datetime.timedelta(minutes=30), **_):
            # TORCH_DISTRIBUTED_DEBUG=DETAIL: torch checks each call by an object of its own around Gloo's, and
            # takes no other's
            if dist.get_debug_level() == dist.DebugLevel.DETAIL:
                return group.Gloo(store, rank, size, timeout=timeout)
            return group.create(store, rank, size, timeout)

    c10d.ProcessGroupGloo = ProcessGroupGloo
