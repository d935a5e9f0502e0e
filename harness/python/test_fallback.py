#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The switch goes away at another tensor for each rank: all get the same bits, or all get an error.

The ranks are threads with queues of their own, the store and Gloo are real, the switch is played: its sums carry a
mark, a quarter, so that they can be told from those of Gloo.
"""
import os
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../python"))
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import silken  # noqa: E402
import silken.torch  # noqa: E402,F401
from silken.torch import group, queue  # noqa: E402
from silken.torch.agreement import Agreement, Stalled  # noqa: E402

RANKS, COUNT, LIMIT_S = 3, 100, 8
MARK = 0.25


def given(rank, n):
    return torch.full((COUNT,), float(10 * n + rank))


def total(n):
    return float(sum(10 * n + rank for rank in range(RANKS)))


class Played:
    """A communicator that has the sums before |lost|, and none from there on."""

    def __init__(self, lost):
        self.lost, self.n, self.closed = lost, 0, False

    def allreduce(self, _given, result):
        if self.n == self.lost:
            time.sleep(0.05)
            raise silken.Error(-4, "no progress within the hard limit; the job is over")
        result.fill_(total(self.n) + MARK)
        self.n += 1

    def close(self):
        self.closed = True


class Rank:
    def __init__(self, store, rank, lost, sums, stays=True):
        self.rank, self.sums, self.results, self.errors = rank, sums, {}, {}
        self.comm = Played(lost)
        agree = Agreement(dist.PrefixStore("silken", store), rank, RANKS, LIMIT_S)
        self.queue = queue.Queue(self.comm, agree,
                                 lambda: group.Gloo(dist.PrefixStore("gloo", store), rank, RANKS))
        self.done = threading.Event()
        for n in range(sums):
            self.submit(n)
        if not sums:
            self.done.set()
        self.stays = stays

    def submit(self, n):
        result = torch.zeros(COUNT)

        def end(error):
            if error:
                self.errors[n] = error
            else:
                self.results[n] = result.clone()
            if n == self.sums - 1:
                self.done.set()
        self.queue.submit(queue.Item(lambda: (given(self.rank, n), result), end, 4 * COUNT))


class Fallback(unittest.TestCase):
    def ranks(self, lost, sums):
        """Ranks that lose the switch at tensor lost[r] and submit sums[r] tensors; waits for all."""
        store = dist.HashStore()
        ranks = [Rank(store, r, lost[r], sums[r]) for r in range(RANKS)]
        for r in ranks:
            self.assertTrue(r.done.wait(30), "rank %d does not end" % r.rank)
        closers = [threading.Thread(target=r.queue.close) for r in ranks]
        for c in closers:
            c.start()
        for c in closers:
            c.join(30)
            self.assertFalse(c.is_alive(), "a queue does not close")
        self.assertTrue(all(r.comm.closed for r in ranks))
        return ranks

    def same(self, ranks, sums, by_switch):
        for n in range(sums):
            expected = total(n) + (MARK if n < by_switch else 0)
            for r in ranks:
                if n < r.sums:
                    self.assertTrue(bool((r.results[n] == expected).all()), (n, r.rank, r.results[n][0], expected))
        self.assertFalse(any(r.errors for r in ranks))

    def test_all_lose_the_same_tensor(self):
        self.same(self.ranks([4, 4, 4], [9, 9, 9]), 9, 4)

    def test_one_rank_lacks_a_sum_that_others_have(self):
        self.same(self.ranks([5, 4, 5], [9, 9, 9]), 9, 5)

    def test_one_rank_alone_has_a_sum(self):
        self.same(self.ranks([4, 4, 5], [9, 9, 9]), 9, 5)

    def test_the_switch_was_never_there(self):
        self.same(self.ranks([0, 0, 0], [3, 3, 3]), 3, 0)

    def test_ranks_that_have_all_sums_help_who_lacks_the_last(self):
        self.same(self.ranks([5, 4, 5], [5, 5, 5]), 5, 5)

    def test_a_switch_that_stays(self):
        self.same(self.ranks([99, 99, 99], [6, 6, 6]), 6, 6)

    def test_a_rank_that_is_not_there_ends_all_with_an_error(self):
        store = dist.HashStore()
        began = time.monotonic()
        ranks = [Rank(store, r, 2, 4) for r in range(RANKS - 1)]
        for r in ranks:
            self.assertTrue(r.done.wait(3 * LIMIT_S))
            self.assertEqual(sorted(r.results), [0, 1])
            self.assertEqual(sorted(r.errors), [2, 3])
            self.assertIsInstance(r.errors[2], Stalled)
            self.assertIs(r.errors[3], r.errors[2])
        self.assertLess(time.monotonic() - began, 2 * LIMIT_S)

    def test_ranks_with_other_tensors_are_told(self):
        for r in self.ranks([2, 5, 5], [6, 6, 6]):
            self.assertRegex(str(r.errors[5]), "have not submitted the same tensors")


class Begin(unittest.TestCase):
    def begin(self, errors, configurations):
        store, said = dist.HashStore(), {}

        def one(rank):
            try:
                Agreement(store, rank, RANKS, LIMIT_S).open(errors[rank], configurations[rank])
            except RuntimeError as e:
                said[rank] = str(e)
        threads = [threading.Thread(target=one, args=(r,)) for r in range(RANKS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(30)
        return said

    def test_all_begin(self):
        self.assertEqual(self.begin([None] * RANKS, ["job 1"] * RANKS), {})

    def test_one_cannot(self):
        said = self.begin([None, "no device", None], ["job 1"] * RANKS)
        self.assertEqual(said, {r: "silken, rank 1: no device" for r in range(RANKS)})

    def test_one_has_another_configuration(self):
        said = self.begin([None] * RANKS, ["job 1", "job 1", "job 2"])
        self.assertEqual(sorted(said), [0, 1, 2])
        self.assertRegex(said[0], "rank 0 has job 1, rank 2 has job 2")


if __name__ == "__main__":
    run = unittest.main(exit=False, verbosity=2).result
    wrong = len(run.failures) + len(run.errors)
    print("%d passed, %d failed" % (run.testsRun - wrong, wrong))
    sys.stdout.flush()
    os._exit(bool(wrong))  # the queues of ranks that others left alone would wait for them
