# SPDX-License-Identifier: Apache-2.0
"""A rank of test_dlcp_hook.py and test_atp_hook.py: the network of train.py learns under DistributedDataParallel, with its
own exchange of gradients over Gloo or with the hook of DLCP or ATP. Rank 0 prints one line of JSON.

    hook_train.py FOLDER gloo|atp|servers|servers10|ring [BOUND]

FOLDER has devices.json, a device for each rank, and job.json: the workers' addresses, or ATP's job file. With ATP
STEP_FILE is a file that rank 0 makes before its fourth step, for a test that wants to break something then."""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import train
from silken.torch import atp, dlcp

STEPS = 12


def join(kind, bound, folder, rank):
    """(job, hook); Gloo has none."""
    def told(name):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return json.load(f)
    if kind == "gloo":
        return None, None
    device = told("devices.json")[rank]
    if kind == "atp":
        limit = int(os.environ.get("LIMIT_MS", "30000"))
        return atp.Job(rank, os.path.join(folder, "job.json"), [device], hard_limit_ms=limit), atp.hook
    return dlcp.Job(rank, told("job.json"), device, bound=bound, ring=kind == "ring", link_mbps=1000), dlcp.hook


def main():
    folder, kind, bound = sys.argv[1], sys.argv[2], float((sys.argv[3:] or ["0"])[0])
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method="file://%s/%s" % (folder, kind), rank=rank, world_size=ranks)
    model = DistributedDataParallel(train.network(), bucket_cap_mb=0.2)
    job, hook = join(kind, bound, folder, rank)
    if job:
        model.register_comm_hook(job, hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step, (x, y) in enumerate(train.batches(rank, STEPS)):
        if step == 3 and rank == 0 and "STEP_FILE" in os.environ:
            with open(os.environ["STEP_FILE"], "w", encoding="utf-8"):
                pass
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
