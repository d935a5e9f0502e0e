# SPDX-License-Identifier: Apache-2.0
"""ending: what ends before the process does.

When a process ends, Python stops its daemon threads at the moment in which they next want to run. One that is within
PyTorch's code then, to end a future or to ask a store, takes the process down with it (SIGABRT). So whoever has such a
thread is ended first; also in a process that was forked, where functions of atexit do not run.
"""
import atexit
import multiprocessing.util
import os
import weakref

_things = weakref.WeakSet()
_process = 0  # the one that has asked for it


def end(things):
    """Ends them all, which takes as long as the slowest: ranks need have no order of their groups for that."""
    for thing in things:
        thing.begin_close()
    for thing in things:
        thing.close()


def _end_all():
    end([thing for thing in list(_things) if thing.process == os.getpid()])


def with_process(thing):
    """|thing| has begin_close(), which does not wait, and close(), both of which may be called again; not later than when
    the process ends they are."""
    global _process
    thing.process = os.getpid()
    _things.add(thing)
    if _process != thing.process:
        _process = thing.process
        atexit.register(_end_all)  # before the counters are printed
        multiprocessing.util.Finalize(None, _end_all, exitpriority=10)
