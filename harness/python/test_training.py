#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""docs/training.md: its commands, run in its order, and what they must say. Those of several machines need root."""
import os
import re
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    with open(os.path.join(TREE, "docs/training.md"), encoding="utf-8") as f:
        blocks = re.findall(r"^```sh\n(.*?)^```", f.read(), re.M | re.S)
    root = os.geteuid() == 0
    blocks = [b for b in blocks if root or "machines.py" not in b]
    script = "set -eu\n" + "\necho ==\n".join(b for b in blocks if not b.startswith("# by hand"))
    done = subprocess.run(["bash", "-c", script.replace("python3 ", sys.executable + " ")], cwd=TREE, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    parts = done.stdout.split("==\n")[1:]
    parts, machines = (parts[:-3], parts[-3:]) if root else (parts, [])
    *runs, mpi, component = parts
    losses = [re.findall(r"loss (\d+\.\d+)", r) for r in runs]
    calls = [sorted(map(int, re.findall(r"rank \d: switch (\d+) calls", r))) for r in runs]
    claims = {"the commands end without an error": done.returncode == 0,
              "both runs have a loss, the same": len(losses) == 2 and losses[0] == losses[1] and len(losses[0]) == 1,
              "both ranks of both runs sent their gradients through the switch": calls == [[20, 20], [20, 20]],
              "MPI's sum is right": bool(re.search("^sum 3.0$", mpi, re.M)),
              "and both ranks' went through the switch":
                  sorted(re.findall(r"rank (\d): switch 1 calls, 400000 bytes; passed on 0 calls", mpi)) == ["0", "1"],
              "so it is with the component": bool(re.search("^sum 3.0$", component, re.M)),
              "and both ranks' went through the switch there":
                  sorted(re.findall(r"rank (\d): switch 1 calls, 400000 bytes; passed on", component)) == ["0", "1"]}
    if root:
        torchrun, mpirun, slurm = machines
        switch = r"rank (\d): switch 20 calls, 800800 bytes; fallback 0 calls"
        claims |= {"torchrun on two machines: the same loss, through the switch":
                       (re.findall(r"loss (\d+\.\d+)", torchrun), sorted(re.findall(switch, torchrun))) ==
                       (losses[0], ["0", "1"]),
                   "mpirun on two machines: the sum is right, through the switch":
                       bool(re.search("^sum 3.0$", mpirun, re.M)) and
                       sorted(re.findall(r"rank (\d): switch 1 calls, 400000 bytes; passed on 0 calls", mpirun)) == ["0", "1"],
                   "srun on two machines: the same loss, through the switch":
                       (re.findall(r"loss (\d+\.\d+)", slurm), sorted(re.findall(switch, slurm))) ==
                       (losses[0], ["0", "1"])}
    for claim, holds in claims.items():
        print("%s  %s" % ("ok" if holds else "FAILED", claim))
    if not all(claims.values()):
        print(done.stdout[-6000:])
    print("%d passed, %d failed" % (sum(claims.values()), sum(not h for h in claims.values())))
    sys.exit(not all(claims.values()))


if __name__ == "__main__":
    main()
