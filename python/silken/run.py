# SPDX-License-Identifier: Apache-2.0
"""python3 -m silken.run: runs a script whose torch.distributed finds silken.

    python3 -m silken.run [--replace NAME] SCRIPT [ARGUMENT]...
    python3 -m silken.run [--replace NAME] -m MODULE [ARGUMENT]...

The script can ask for the backend "silken" without an import. With --replace gloo, or SILKEN_REPLACE=gloo, a
script that asks for gloo gets silken. The same holds for Python processes that the script starts, so MODULE
can be a launcher such as torch.distributed.run.
"""
import os
import runpy
import sys

USAGE = "usage: python3 -m silken.run [--replace gloo] (SCRIPT | -m MODULE) [ARGUMENT]..."


def prepare_children():
    """Python processes started from here find the package, and site/sitecustomize.py before all."""
    here = os.path.dirname(os.path.abspath(__file__))
    old = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    new = [os.path.join(here, "site"), os.path.dirname(here)]
    os.environ["PYTHONPATH"] = os.pathsep.join(new + [p for p in old if p not in new])


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
