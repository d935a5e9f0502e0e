# SPDX-License-Identifier: Apache-2.0
"""autoload: the backend's name, known to torch.distributed before a script asks for it.

torch 2 calls register() when it is imported, for it is an entry point of the group torch.backends. With
torch 1.13 a script imports silken.torch, or is started by silken.run.

With SILKEN_REPLACE=gloo, a script that asks torch.distributed for gloo gets silken, under the name gloo.
"""
import atexit
import datetime
import os


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
    if os.environ.get("SILKEN_REPLACE"):
        replace(os.environ["SILKEN_REPLACE"])


def replace(name):
    """Gives silken to who asks for the backend |name|: gloo."""
    if name != "gloo":
        raise ValueError("SILKEN_REPLACE=%s: only gloo can be replaced" % name)
    from torch.distributed import distributed_c10d as c10d
    from silken.torch import group  # keeps the real one

    class Replaced(type):
        def __instancecheck__(cls, thing):
            return isinstance(thing, (group.Gloo, group.Group))

    class ProcessGroupGloo(metaclass=Replaced):
        """Stands for Gloo's group: makes one of silken."""
        def __new__(cls, store, rank, size, timeout=datetime.timedelta(minutes=30), **_):
            return group.create(store, rank, size, timeout)

    c10d.ProcessGroupGloo = ProcessGroupGloo
