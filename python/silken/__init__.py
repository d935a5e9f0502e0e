# SPDX-License-Identifier: Apache-2.0
"""silken: sums over all workers of a job, added up by the switch.

    import numpy, silken
    with silken.Communicator() as comm:
        comm.allreduce(gradient)            # in place; numpy array or CPU tensor

silken.Communicator is libsilken's communicator (hosts/include/silken/allreduce.h). silken.torch is a
backend of torch.distributed on top of it, and `python3 -m silken.run` runs a script with it.

Files:

    _library.py       libsilken by ctypes
    communicator.py   Communicator, Error
    autoload.py       entry points of torch.backends, and scripts that ask for another backend
    run.py            python3 -m silken.run
    torch/            the backend of torch.distributed
    site/             sitecustomize, for the processes of a script that silken.run started
"""
from silken.communicator import Communicator, Error

__all__ = ["Communicator", "Error"]
