# SPDX-License-Identifier: Apache-2.0
"""silken.torch: the backend "silken" of torch.distributed.

    import torch.distributed, silken.torch      # torch 2 needs no such import (autoload.py)
    torch.distributed.init_process_group("silken")

Of a process group of another backend, dlcp.hook exchanges the gradients of DistributedDataParallel by DLCP.

What goes through the switch and what through Gloo is said in group.py; counters() counts both.

Files:

    group.py        the process group: what goes where
    queue.py        the sums of a group, one after the other
    agreement.py    which sum all ranks go on with when the switch has gone away
    ending.py       what ends before the process does
    staging.py      host memory that a tensor is summed from and to
    counts.py       counters
    hooks.py        what hooks of DistributedDataParallel share: averages beside a backward pass
    atp.py          its gradients by ATP
    dlcp.py         its gradients by DLCP: a bounded part of them may be lost
"""
from silken.autoload import register
from silken.torch.counts import counters

__all__ = ["counters"]

register()
