# SPDX-License-Identifier: Apache-2.0
"""counts: which way this process's calls went.

    switch      sums by the switch
    fallback    sums that the switch would have done, by Gloo, since it had gone away
    gloo        everything else, by Gloo: other collectives, types and operations, small tensors, groups
                without a job
"""
import os
import sys
import threading

_lock = threading.Lock()
_counts = {way: {"calls": 0, "bytes": 0} for way in ("switch", "fallback", "gloo")}


def add(way, nbytes):
    with _lock:
        _counts[way]["calls"] += 1
        _counts[way]["bytes"] += nbytes


def counters():
    """A copy of the counters: {"switch": {"calls": N, "bytes": N}, "fallback": ..., "gloo": ...}."""
    with _lock:
        return {way: dict(c) for way, c in _counts.items()}


def print_at_exit():
    """With SILKEN_STATS=1: one line on stderr when the process ends."""
    if os.environ.get("SILKEN_STATS") == "1":
        sys.stderr.write("silken, rank %s: %s\n" % (os.environ.get("RANK", "?"), "; ".join(
            "%s %d calls, %d bytes" % (way, c["calls"], c["bytes"])
            for way, c in counters().items())))
