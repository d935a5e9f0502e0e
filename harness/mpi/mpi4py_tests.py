#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mpi4py's own tests, with plain Open MPI, with the shim and with the component: what passes plain has to pass again.

    mpi4py_tests.py [--source DIR] [--ranks N] [--seconds S] [WORD...]

DIR is a tree of mpi4py's sources, of the version that is installed; without it Debian's source package is fetched
(harness/debian_source.sh). Each file of tests whose name contains one of the words is a job of N ranks (4), whose
calls of SILKEN_MPI_MIN_BYTES (4 here) or more go through a switch. A test has passed when it has at all ranks. How many
calls went through the switch is printed beside it. S seconds (600) end a job that hangs; test_spawn and test_dynproc,
which start further jobs, are left out.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../python")]
import switch  # noqa: E402
import test_mpi  # noqa: E402

LEFT_OUT = {"test_spawn", "test_dynproc"}
WAYS = ["plain", "shim", "component"]


def source(folder):
    path = os.path.join(folder, "mpi4py")
    os.makedirs(path)
    run = subprocess.run(["sh", os.path.join(HERE, "../debian_source.sh"), "python3-mpi4py", path], text=True,
                         capture_output=True, check=False)
    if run.returncode:
        sys.exit("mpi4py_tests.py: there is no source package of mpi4py, give --source: "
                 + (run.stderr.strip().splitlines() or ["?"])[-1])
    return path


def loaded(way):
    """Environment of the ranks, and of mpirun."""
    if way == "shim":
        return ["LD_PRELOAD=" + os.path.join(switch.BUILD, "libsilken-mpi-openmpi.so")], {}
    return [], {"OMPI_MCA_mca_base_component_path": test_mpi.component_path()} if way == "component" else {}


def passed(text):
    """Names of tests that a rank passed."""
    return {" ".join(found) for found in re.findall(r"^(test\w+) \(([\w.]+)\)(?:\n.*?)? \.\.\. ok$", text, re.M)}


def instead(name, texts):
    """What a rank that did not pass the test wrote of it."""
    for rank, text in enumerate(texts):
        if name not in passed(text):
            begin = text.find(name.replace(" ", " (", 1))
            return "rank %d: %s" % (rank, text[begin:begin + 400] if begin >= 0 else text[-400:])
    return ""


def job(way, source_dir, module, ranks, seconds, environment):
    """(names that passed at all ranks, calls that went through the switch at rank 0, how it ended, texts of the ranks)"""
    ranks_load, all_load = loaded(way)
    with tempfile.TemporaryDirectory(prefix="silken-mpi4py-") as folder:
        # a file for each rank: lines of several would be mixed
        each = 'exec "$@" >"%s/$OMPI_COMM_WORLD_RANK" 2>&1' % folder
        words = [*test_mpi.RUN["openmpi"], "-np", str(ranks), "env", *ranks_load, "sh", "-c", each, "-", sys.executable,
                 "-W", "ignore", os.path.join(source_dir, "test", "runtests.py"), "-v", "--no-builddir", "--thread-level",
                 "serialized", "-i", "^%s$" % module]
        run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               env={**os.environ, **environment, **all_load})
        try:
            ended = run.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            ended = "no end"
        texts = []
        for rank in range(ranks):
            path = os.path.join(folder, str(rank))
            texts.append(open(path, encoding="utf-8", errors="replace").read() if os.path.exists(path) else "")
    calls = test_mpi.counts(texts[0]).get(0, (0,))[0]
    return set.intersection(*map(passed, texts)), calls, ended, texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    good, calls_of, lost = {way: 0 for way in WAYS}, {way: 0 for way in WAYS}, []
    with tempfile.TemporaryDirectory(prefix="silken-mpi4py-") as folder:
        tree = args.source or source(folder)
        modules = sorted(name[:-3] for name in os.listdir(os.path.join(tree, "test"))
                         if re.fullmatch(r"test_\w+\.py", name) and name[:-3] not in LEFT_OUT)
        for module in [m for m in modules if not args.words or any(w in m for w in args.words)]:
            by_way = {}
            for way in WAYS:
                with switch.Switch(args.ranks) as s:
                    more = {"SILKEN_MPI_REPORT": "1", **test_mpi.PATIENCE, "SILKEN_MPI_MIN_BYTES": "4",
                            "SILKEN_HARD_LIMIT_MS": str(test_mpi.LIMIT_MS), **s.environment()}
                    by_way[way], calls, ended, texts = job(way, tree, module, args.ranks, args.seconds, more)
                good[way] += len(by_way[way])
                calls_of[way] += calls
                missing = by_way["plain"] - by_way[way]
                lost += ["%s of %s, %s (ended: %s): %s" % (name, module, way, ended, instead(name, texts))
                         for name in sorted(missing)]
            print("%s: %s" % (module, ", ".join("%s %d" % (way, len(by_way[way])) for way in WAYS)), flush=True)
    for line in lost:
        print("not passed:", line)
    print("passed: %s; calls of rank 0 through the switch: shim %d, component %d" % (
        ", ".join("%s %d" % (way, good[way]) for way in WAYS), calls_of["shim"], calls_of["component"]))
    wrong = len(lost) + (not calls_of["shim"]) + (not calls_of["component"])
    print("%d passed, %d failed" % (good["shim"] + good["component"], wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
