# SPDX-License-Identifier: Apache-2.0
"""agreement: which tensor all ranks go on with when the switch has gone away.

The ranks of a group sum the same sequence of tensors, one after the other: a rank submits tensor n + 1
to the switch only when it has tensor n. So a rank that has n proves that all ranks have submitted n,
hence have n - 1; and when the switch goes away, the numbers of tensors that ranks have differ by one at
most. Each rank states its number in the store. The lowest, m, says where all go on; if some rank has
m + 1, then tensor m is complete there, may be in use already, and so must be the same bits at all
ranks: the first such rank sends it to the others. Else all sum tensor m anew, from its inputs, which
nobody has overwritten.

A rank without work looks in the store now and then, and states its number when another has; and a rank
that ends waits until all end, since it may be the one to have the last sum.

Everything in the store is counters and values that are set before they are counted, so that no call
blocks: a blocking call would keep the store from the process's other threads.
"""
import time


class Stalled(RuntimeError):
    """The other ranks did not state within the limit how far they are."""


class Agreement:
    """The store's keys of one group. All calls come from the thread of the group's queue."""

    def __init__(self, store, rank, size, limit_s):
        self.store, self.rank, self.size, self.limit_s = store, rank, size, limit_s

    def count(self, key):
        return self.store.add(key, 0)

    def is_down(self):
        """Has any rank stated that the switch is gone? A store that has ended with its process says no."""
        try:
            return self.count("down") > 0
        except RuntimeError:
            return False

    def _until(self, key, others_want=None):
        """Waits until all ranks have counted |key|; False after the limit, or when |others_want|() says so."""
        end = time.monotonic() + self.limit_s
        while self.count(key) < self.size:
            if time.monotonic() > end or (others_want and others_want()):
                return False
            time.sleep(0.02)
        return True

    def open(self, error, configuration):
        """Tells the others whether this rank could begin, and how. Raises when one could not, at all ranks."""
        self.store.set("begin/%d" % self.rank, "%s\n%s" % (error or "", configuration))
        self.store.add("begun", 1)
        if not self._until("begun"):
            raise Stalled("not all ranks of the group have begun within %d s" % self.limit_s)
        first = None
        for rank in range(self.size):
            said, theirs = self.store.get("begin/%d" % rank).decode().split("\n", 1)
            if said:
                raise RuntimeError("silken, rank %d: %s" % (rank, said))
            first = theirs if first is None else first
            if theirs != first:
                raise RuntimeError("silken: rank 0 has %s, rank %d has %s: they must be the same"
                                   % (first, rank, theirs))

    def state(self, complete):
        """States that this rank has so many tensors, and waits for all. Returns (m, rank that sends
        tensor m or None)."""
        self.store.set("complete/%d" % self.rank, str(complete))
        self.store.add("stated", 1)
        self.store.add("down", 1)
        if not self._until("stated"):
            raise Stalled("the switch is gone, and not all ranks have said within %d s which sums "
                          "they have" % self.limit_s)
        all_of = [int(self.store.get("complete/%d" % rank)) for rank in range(self.size)]
        lowest = min(all_of)
        if max(all_of) > lowest + 1:
            raise RuntimeError("silken: the ranks have %s sums; they have not submitted the same "
                               "tensors" % all_of)
        ahead = [rank for rank in range(self.size) if all_of[rank] > lowest]
        return lowest, ahead[0] if ahead else None

    def end(self):
        """Waits until all ranks have ended. False when another needs this one's statement first."""
        try:
            self.store.add("ended", 1)
            self._until("ended", self.is_down)
        except RuntimeError:  # the store is gone, and with it who could need something
            return True
        return not self.is_down()
