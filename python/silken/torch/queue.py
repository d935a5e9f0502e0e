# SPDX-License-Identifier: Apache-2.0
"""queue: the sums of a group, one after the other, by a thread of its own.

A sum reads host memory and writes other host memory, both of float32 or int32. The switch does it; from
the moment it is gone Gloo does, beginning with the tensor that all ranks agree on (agreement.py). The
result of the last sum is kept for that until the next one is complete.
"""
import collections
import sys
import threading

from torch.distributed.distributed_c10d import BroadcastOptions

import silken
from silken.torch import counts, ending

# Of libsilken: the job is over, and another way may go on.
GONE = ("STALLED", "OVER", "CLOSED", "TRANSPORT", "REFUSED")
LOOK_S = 0.5  # how often a queue without work looks whether the others need it


class Item:
    """A sum: prepare() gives (input, output) in host memory, done(error) ends it, with None or why not."""

    def __init__(self, prepare, done, nbytes):
        self.prepare, self.done, self.nbytes = prepare, done, nbytes


class Queue:
    def __init__(self, comm, agree, make_gloo):
        """|make_gloo|() makes the group of Gloo that goes on when the switch is gone, at all ranks at once."""
        self.comm, self.agree, self.make_gloo = comm, agree, make_gloo
        self.gloo = None
        self.complete = 0        # sums that this rank has
        self.last = None         # the result of the last one
        self.broken = None       # why no sum is possible any more
        self.items = collections.deque()
        self.wake = threading.Condition()
        self.ending = False
        self.thread = threading.Thread(target=self._run, name="silken", daemon=True)
        self.thread.start()
        ending.with_process(self)

    def submit(self, item):
        with self.wake:
            if self.ending:
                raise silken.Error(-5, "the group has been destroyed")
            self.items.append(item)
            self.wake.notify()

    def begin_close(self):
        """Nothing more is submitted."""
        with self.wake:
            self.ending = True
            self.wake.notify()

    def close(self):
        """Ends when all sums have, here and at the other ranks, but after the limit at the latest."""
        self.begin_close()
        if self.thread is not threading.current_thread():
            self.thread.join()

    # ---- the thread ----

    def _run(self):
        while True:
            with self.wake:
                if not self.items and not self.ending:
                    self.wake.wait(LOOK_S)
                item = self.items.popleft() if self.items else None
                over = self.ending and item is None
            if item:
                self._item(item)
            elif over:
                self._end()
                return
            elif self._switch_in_use() and self.agree.is_down():
                self._fall_back_idle()

    def _switch_in_use(self):
        return self.gloo is None and self.broken is None

    def _end(self):
        if self._switch_in_use() and not self.agree.end():
            self._fall_back_idle()
        self.agree.close()
        self.comm.close()

    def _item(self, item):
        error = None
        try:
            if self.broken:
                raise self.broken
            self._sum(item, *item.prepare())
        except Exception as e:  # whatever it is, the one who waits for the sum has to learn it
            error = self.broken = self.broken or e
        item.done(error)

    def _sum(self, item, given, result):
        if self.gloo is None:
            try:
                self.comm.allreduce(given, result)
                counts.add("switch", item.nbytes)
            except silken.Error as e:
                if e.name not in GONE:
                    raise
                if not self._fall_back(str(e), result):
                    self._by_gloo(item, given, result)
        else:
            self._by_gloo(item, given, result)
        self.last = result
        self.complete += 1

    def _by_gloo(self, item, given, result):
        result.copy_(given)
        self.gloo.allreduce([result]).wait()
        counts.add("fallback", item.nbytes)

    def _fall_back(self, why, result):
        """Agrees with the others. True when |result| holds the sum of the tensor that has failed here."""
        lowest, sender = self.agree.state(self.complete)
        if self.agree.rank == 0:
            sys.stderr.write("silken: %s; all ranks go on by Gloo, from sum %d\n" % (why, lowest))
        self.gloo = self.make_gloo()
        if sender is None:
            return False
        options = BroadcastOptions()
        options.rootRank = sender
        options.rootTensor = 0
        if self.complete > lowest:
            self.gloo.broadcast([self.last], options).wait()
            return False
        if result is None:
            raise RuntimeError("silken: another rank has a sum that was not submitted here")
        self.gloo.broadcast([result], options).wait()
        counts.add("fallback", result.numel() * result.element_size())
        return True

    def _fall_back_idle(self):
        """The same without a tensor in work: another rank may be waiting for the last one."""
        try:
            self._fall_back("the switch is gone", None)
        except Exception as e:
            self.broken = e
