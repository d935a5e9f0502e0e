# SPDX-License-Identifier: Apache-2.0
"""A rank of test_groups.py: process groups of torch.distributed with jobs of their own. Prints a line of JSON.

    groups_train.py several|many|killed|ddp|of_gloo|no_room|removed|network

FOLDER is for files by which ranks and the test wait for each other. Every sum is checked, element by element."""
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

import silken.torch

FOLDER = os.environ["FOLDER"]
COUNT = 20000
RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
SETS = [[0, 1], [2, 3], [1, 2, 3], list(range(4)), [0, 3]]


def check(group, ranks, turn, kind=torch.int32):
    """A sum in the group |ranks|: exact for integers."""
    tensor = torch.arange(COUNT, dtype=torch.int64).add_(turn).mul_(RANK + 1).to(kind)
    dist.all_reduce(tensor, group=group)
    exact = torch.arange(COUNT, dtype=torch.int64).add_(turn).mul_(sum(r + 1 for r in ranks))
    if kind == torch.int32:
        wrong = int((tensor != exact).sum())
    else:  # fixed point
        wrong = int(((tensor - exact).abs() > exact.max() * len(ranks) * 4 / 2 ** 31 + 1).sum())
    if wrong:
        raise AssertionError("rank %d of %s, turn %d: %d elements are wrong" % (RANK, ranks, turn, wrong))


def stop_at(name):
    """All ranks are here, and the test has looked."""
    open(os.path.join(FOLDER, "%s-%d" % (name, RANK)), "w").close()
    end = time.monotonic() + 120
    while not os.path.exists(os.path.join(FOLDER, name + "-go")):
        if time.monotonic() > end:
            raise TimeoutError(name)
        time.sleep(0.05)


def make():
    """(ranks, group) of those that this rank is in."""
    made = [(ranks, dist.new_group(ranks)) for ranks in SETS]
    return [(ranks, group) for ranks, group in made if RANK in ranks]


def several():
    mine = make()
    for turn in range(3):
        for ranks, group in mine:
            check(group, ranks, turn)
            check(group, ranks, turn, torch.float32)
        check(None, range(RANKS), turn)
    # all of them under way at once
    tensors = [torch.full((COUNT,), RANK + 1, dtype=torch.int32) for _ in mine]
    works = [dist.all_reduce(t, group=g, async_op=True) for t, (_, g) in zip(tensors, mine)]
    for work, t, (ranks, _) in zip(works, tensors, mine):
        work.wait()
        assert bool((t == sum(r + 1 for r in ranks)).all()), ranks
    stop_at("all")
    for _, group in mine[1:]:
        dist.destroy_process_group(group)
    dist.barrier()
    stop_at("some")
    check(None, range(RANKS), 9)
    for ranks, group in mine[:1]:
        check(group, ranks, 10)


def many():
    held = []  # what still refers to a group that was destroyed does not keep its job
    for turn in range(20):
        ranks = SETS[turn % len(SETS)]
        group = dist.new_group(ranks)
        held.append(group)
        if RANK in ranks:
            check(group, ranks, turn)
            dist.destroy_process_group(group)
    dist.barrier()
    stop_at("many")


def killed():
    """Rank 3 is killed. A group without it goes on, one with it raises in the limit."""
    with_it, without = dist.new_group([1, 2, 3]), dist.new_group([0, 1, 2])
    for turn in range(2):
        if RANK:
            check(with_it, [1, 2, 3], turn)
        if RANK < 3:
            check(without, [0, 1, 2], turn)
    stop_at("killed")
    if RANK == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    for turn in range(2, 6):
        check(without, [0, 1, 2], turn)
    raised = until_it_raises(with_it, [1, 2, 3]) if RANK else {}
    stop_at("raised")  # rank 0 has the store
    return raised


def until_it_raises(group, ranks):
    began = time.monotonic()
    try:
        for turn in range(2, 1000):
            check(group, ranks, turn)
    except RuntimeError as e:
        return {"seconds": time.monotonic() - began, "why": str(e)}
    return {}


def ddp():
    """Two models, each in groups of its own."""
    halves, whole = [dist.new_group([0, 1]), dist.new_group([2, 3])], dist.new_group(range(RANKS))
    half = halves[RANK // 2]
    torch.manual_seed(1)
    models = [torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(300, 40), process_group=g) for g in (half, whole)]
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in models]
    torch.manual_seed(2 + RANK)
    for _ in range(5):
        for model, optimizer in zip(models, optimizers):
            x = torch.randn(16, 300)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), x[:, :40].argmax(1)).backward()
            optimizer.step()
    sums = [float(sum(p.double().sum() for p in m.parameters())) for m in models]
    everybody = [None] * RANKS
    dist.all_gather_object(everybody, sums)
    assert everybody[0] == everybody[1] and everybody[2] == everybody[3], everybody  # the same bits
    assert len({s[1] for s in everybody}) == 1 and everybody[0][0] != everybody[2][0], everybody


def of_gloo():
    """The first group is Gloo's, and another is of silken."""
    group = dist.new_group([0, 2], backend="silken")
    check(None, range(RANKS), 0)
    if RANK in (0, 2):
        for turn in range(3):
            check(group, [0, 2], turn)


def no_room():
    """The switch has room for the first job alone."""
    mine = make()
    for turn in range(2):
        for ranks, group in mine:
            check(group, ranks, turn)
        check(None, range(RANKS), turn)


def removed():
    """The jobs are taken from the switch: sums go on in all groups."""
    mine = make()
    for turn in range(8):
        for ranks, group in mine:
            check(group, ranks, turn)
        check(None, range(RANKS), turn)
        if turn == 3:
            stop_at("removed")


def network():
    """The switch is killed, by which alone the machines reach each other."""
    group = dist.new_group([1, 2, 3])
    if RANK:
        check(group, [1, 2, 3], 0)
    stop_at("network")
    return until_it_raises(*((group, [1, 2, 3]) if RANK else (None, range(RANKS))))


def main():
    what = sys.argv[1]
    dist.init_process_group("gloo" if what == "of_gloo" else "silken")
    more = globals()[what]() or {}
    counted = silken.torch.counters()
    if what not in ("killed", "network"):
        dist.barrier()
        dist.destroy_process_group()
    print(json.dumps({"rank": RANK, "counters": counted, **more}), flush=True)
    if what in ("killed", "network"):
        os._exit(0)  # its other groups wait for who is gone


if __name__ == "__main__":
    main()
