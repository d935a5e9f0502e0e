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

Everything in the store is counters and values that are set before they are counted, so that no call waits for
another rank: such a call would keep the store from the process's other threads. But the store is at another machine, and
when the network is gone, too, a call does not return for a quarter of an hour. So a thread of its own asks the store, and
who wants to know does not wait for it longer than the limit.
"""
import queue
import secrets
import threading
import time

NAME_BYTES = 63  # of a job's name, at most
LOOK_S = 1  # that a look waits for the store


class Stalled(RuntimeError):
    """The other ranks did not state within the limit how far they are."""


class _Asked:
    """A call of the store."""

    def __init__(self, call):
        self.call, self.done, self.result, self.error = call, threading.Event(), None, None

    def run(self):
        try:
            self.result = self.call()
        except Exception as e:  # whoever asked has to learn it
            self.error = e
        self.done.set()


def _ask_all(asked):
    for one in iter(asked.get, None):
        one.run()


class Refused(RuntimeError):
    """A rank could not begin. All ranks have this."""


class Agreement:
    """The store's keys of one group. One thread at a time calls."""

    def __init__(self, store, rank, size, limit_s):
        self.store, self.rank, self.size, self.limit_s = store, rank, size, limit_s
        self.look = None  # whether the switch is gone: asked, and not answered yet
        self.asked = queue.SimpleQueue()
        self.thread = threading.Thread(target=_ask_all, args=(self.asked,), name="silken store", daemon=True)
        self.thread.start()

    def _begin(self, name, *args):
        one = _Asked(lambda: getattr(self.store, name)(*args))
        self.asked.put(one)
        return one

    def _ask(self, name, *args):
        one = self._begin(name, *args)
        if not one.done.wait(self.limit_s):
            raise Stalled("the store of torch.distributed has not answered within %d s" % self.limit_s)
        if one.error:
            raise Stalled("the store of torch.distributed cannot be asked: %s" % one.error)
        return one.result

    def count(self, key):
        return self._ask("add", key, 0)

    def is_down(self):
        """Has any rank stated that the switch is gone? A store that has ended with its process, or does not answer, says
        no."""
        self.look = self.look or self._begin("add", "down", 0)
        if not self.look.done.wait(LOOK_S):
            return False
        looked, self.look = self.look, None
        return looked.error is None and looked.result > 0

    def _until(self, key, others_want=None, end=None, least=None):
        """Waits until all ranks (|least| of them) have counted |key|; False after the limit, or the time |end| if that
        is given, or when |others_want|() says so."""
        end = end or time.monotonic() + self.limit_s
        while self.count(key) < (least or self.size):
            if time.monotonic() > end or (others_want and others_want()):
                return False
            time.sleep(0.02)
        return True

    def name(self, base):
        """A name for the group's job, which rank 0 makes of |base|: the same at all ranks, and no other group's."""
        if self.rank == 0:
            self._ask("set", "name", "%s.%s" % (base[:NAME_BYTES - 13], secrets.token_hex(6)))
            self._ask("add", "named", 1)
        elif not self._until("named", least=1):
            raise Stalled("rank 0 of the group has not begun within %d s" % self.limit_s)
        return self._ask("get", "name").decode()

    def arrive(self, seconds):
        """Waits until all ranks have come here, for so many seconds at most."""
        self._ask("add", "arrived", 1)
        if not self._until("arrived", end=time.monotonic() + seconds):
            raise Stalled("not all ranks of the group have come within %d s" % seconds)

    def open(self, error, configuration, end=None):
        """Tells the others whether this rank could begin, and how. Raises when one could not, at all ranks. Waits for them
        until the time |end|, or for the limit."""
        self._ask("set", "begin/%d" % self.rank, "%s\n%s" % (error or "", configuration))
        self._ask("add", "begun", 1)
        if not self._until("begun", end=end):
            raise Stalled("%snot all ranks of the group have begun within %d s"
                          % ("silken, rank %d: %s; " % (self.rank, error) if error else "", self.limit_s))
        all_of = [self._ask("get", "begin/%d" % rank).decode().split("\n", 1) for rank in range(self.size)]
        rank_of = {}  # the first one that says so
        for rank, (said, _) in enumerate(all_of):
            if said:
                rank_of.setdefault(said, rank)
        if rank_of:
            raise Refused("silken, " + "; ".join("rank %d: %s" % (rank, said) for said, rank in rank_of.items()))
        first = all_of[0][1]
        for rank, (_, theirs) in enumerate(all_of):
            if theirs != first:
                raise RuntimeError("silken: rank 0 has %s, rank %d has %s: they must be the same"
                                   % (first, rank, theirs))

    def state(self, complete):
        """States that this rank has so many tensors, and waits for all. Returns (m, rank that sends
        tensor m or None)."""
        self._ask("set", "complete/%d" % self.rank, str(complete))
        self._ask("add", "stated", 1)
        self._ask("add", "down", 1)
        if not self._until("stated"):
            raise Stalled("sums through the switch have ended, and not all ranks have said within %d s which sums they "
                          "have: the switch is gone, or a rank" % self.limit_s)
        all_of = [int(self._ask("get", "complete/%d" % rank)) for rank in range(self.size)]
        lowest = min(all_of)
        if max(all_of) > lowest + 1:
            raise RuntimeError("silken: the ranks have %s sums; they have not submitted the same "
                               "tensors" % all_of)
        ahead = [rank for rank in range(self.size) if all_of[rank] > lowest]
        return lowest, ahead[0] if ahead else None

    def end(self):
        """Waits until all ranks have ended. False when another needs this one's statement first."""
        try:
            self._ask("add", "ended", 1)
            self._until("ended", self.is_down)
        except RuntimeError:  # the store is gone, and with it who could need something
            return True
        return not self.is_down()

    def close(self):
        """Nobody asks any more. A call of a store that does not answer is left where it is."""
        self.asked.put(None)
        self.thread.join(LOOK_S)
