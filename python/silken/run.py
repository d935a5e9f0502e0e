# SPDX-License-Identifier: Apache-2.0
"""python3 -m silken.run: runs a script whose torch.distributed finds silken.

    python3 -m silken.run [--replace NAME] SCRIPT [ARGUMENT]...
    python3 -m silken.run [--replace NAME] -m MODULE [ARGUMENT]...

The script can ask for the backend "silken" without an import. Started by Slurm's srun, it also has the variables that
torch.distributed reads (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), as torchrun would set them. With --replace gloo, or SILKEN_REPLACE=gloo, a
script that asks for gloo gets silken. The same holds for Python processes that the script starts, so MODULE
can be a launcher such as torch.distributed.run.
"""
import os
import re
import runpy
import sys

USAGE = "usage: python3 -m silken.run [--replace gloo] (SCRIPT | -m MODULE) [ARGUMENT]..."


def prepare_children():
    """Python processes started from here find the package, and site/sitecustomize.py before all."""
    here = os.path.dirname(os.path.abspath(__file__))
    old = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    new = [os.path.join(here, "site"), os.path.dirname(here)]
    os.environ["PYTHONPATH"] = os.pathsep.join(new + [p for p in old if p not in new])


def first_of(nodes):
    """The first name of a list as Slurm writes it: n07 of n[07-09,12],m1."""
    name, bracket, rest = nodes.partition(",")[0].partition("[")
    if not bracket:
        return name
    end = nodes.index("]") + 1
    number = re.match(r"\d+", rest).group()
    return name + number + nodes[end:].partition(",")[0]


def take_place_from_slurm(environment):
    """Where a launcher has not said it, the place that srun has given to this process. What is set stays."""
    if "RANK" in environment or "SLURM_PROCID" not in environment or "SLURM_NTASKS" not in environment:
        return
    environment["RANK"], environment["WORLD_SIZE"] = environment["SLURM_PROCID"], environment["SLURM_NTASKS"]
    environment.setdefault("LOCAL_RANK", environment.get("SLURM_LOCALID", "0"))
    nodes = environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST") or "localhost"
    environment.setdefault("MASTER_ADDR", first_of(nodes))
    environment.setdefault("MASTER_PORT", str(20000 + int(environment.get("SLURM_JOB_ID", "0")) % 10000))


def main():
    words = sys.argv[1:]
    if words[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    if words[:1] == ["--replace"] and len(words) > 1:
        os.environ["SILKEN_REPLACE"] = words[1]
        words = words[2:]
    module = words[:1] == ["-m"]
    words = words[1:] if module else words
    if not words or words[0].startswith("-"):
        sys.exit(USAGE)
    prepare_children()
    take_place_from_slurm(os.environ)
    from silken import autoload
    autoload.register()
    sys.argv = words
    if module:
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
