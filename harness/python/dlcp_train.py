# SPDX-License-Identifier: Apache-2.0
"""A rank of test_dlcp_hook.py: the network of train.py learns under DistributedDataParallel, with its own exchange of
gradients over Gloo or with DLCP's hook. Rank 0 prints one line of JSON."""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import train
from silken.torch import dlcp

STEPS = 12


def main():
    folder, kind, bound = sys.argv[1], sys.argv[2], float(sys.argv[3])
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method="file://%s/%s" % (folder, kind), rank=rank, world_size=ranks)
    model = DistributedDataParallel(train.network(), bucket_cap_mb=0.2)
    job = None
    if kind != "gloo":
        with open(os.path.join(folder, "job.json"), encoding="utf-8") as f:
            told = json.load(f)
        job = dlcp.Job(rank, told["workers"], told["devices"][rank], bound=bound, ring=kind == "ring", link_mbps=1000)
        model.register_comm_hook(job, dlcp.hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in train.batches(rank, STEPS):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    mine, parameters = loss.detach(), torch.cat([p.detach().flatten() for p in model.parameters()])
    other = parameters.clone()
    dist.broadcast(other, 0)
    apart = (other - parameters).norm() / other.norm()
    dist.all_reduce(mine)
    dist.all_reduce(apart, dist.ReduceOp.MAX)
    stats = job.stats() if job else {}
    if job:
        job.close()
    if rank == 0:
        print(json.dumps({"loss": mine.item() / ranks, "apart": apart.item(), "stats": stats}))
    dist.barrier()


if __name__ == "__main__":
    main()
