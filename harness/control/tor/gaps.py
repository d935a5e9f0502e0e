#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""gaps.py PROCESSOR: how often a thread on this processor is charged with more than 1 ms of time between two looks at
its clock, without having done anything. A tenth of the time it looks; at SIGTERM it prints how many seconds of its
processor time it looked, and how many such gaps it saw."""
import os
import signal
import sys
import time

GAP_NS, LOOK_S, REST_S = 1_000_000, 0.02, 0.18


class Looking:
    def __init__(self):
        self.ns = self.gaps = 0

    def end(self, *_):
        print(max(self.ns, 1) / 1e9, self.gaps, flush=True)
        os._exit(0)


os.sched_setaffinity(0, [int(sys.argv[1])])
looking = Looking()
signal.signal(signal.SIGTERM, looking.end)
while True:
    until, last = time.monotonic() + LOOK_S, time.thread_time_ns()
    while time.monotonic() < until:
        now = time.thread_time_ns()
        looking.gaps += now - last > GAP_NS
        looking.ns += now - last
        last = now
    time.sleep(REST_S)
