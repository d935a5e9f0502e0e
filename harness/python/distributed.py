# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests of backends (DistributedTest), with Gloo and with Gloo replaced by silken.

    distributed.py [--every N] [--first I] [--seconds S] [NAME...]

runs the named tests, or every N-th (1: all), first with plain Gloo, then those that passed with SILKEN_REPLACE=gloo
beside a switch, all sums of SILKEN_TORCH_MIN_BYTES or more through it. Each has to pass again. Each test starts
four processes.
"""
import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
WORLD = 4


def environment(folder):
    # with CI set, torch's runner writes a report by a package that Debian does not have
    inherited = {name: value for name, value in os.environ.items() if name != "CI"}
    return {**inherited, "BACKEND": "gloo", "WORLD_SIZE": str(WORLD), "TEMP_DIR": folder, "OMP_NUM_THREADS": "1",
            "INIT_METHOD": "file://" + os.path.join(folder, "shared"), "GLOO_SOCKET_IFNAME": "lo"}


def as_test():
    """This file as the test program: defines the class that its processes import, too."""
    if importlib.util.find_spec("expecttest") is None:
        # torch's tests derive from its TestCase. Debian has no package of it, and DistributedTest asks for nothing
        # that goes beyond unittest's
        sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase, ACCEPT=False)
    from torch.testing._internal.distributed import distributed_test

    if os.environ.get("SILKEN_REPLACE"):
        # the profiler's events of Gloo, which all_reduce through the switch does not make (docs/training.md)
        distributed_test.PROFILING_SUPPORTED_BACKENDS = []

    class TestDistBackendWithSpawn(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
        def setUp(self):
            super().setUp()
            self._spawn_processes()
            import torch
            torch.backends.cudnn.flags(enabled=True, allow_tf32=False).__enter__()

    TestDistBackendWithSpawn.__qualname__ = "TestDistBackendWithSpawn"  # processes find it by that name
    return TestDistBackendWithSpawn


def results(text):
    """{name: "ok", "skipped", "FAIL" or "ERROR"} from unittest's verbose lines."""
    found = {}
    for name, rest in re.findall(r"^(test_\w+) \(.*?\)(.*?)(?=^test_\w+ \(|\Z)", text, re.M | re.S):
        last = re.findall(r"(?:\.\.\. |^)(ok|skipped|FAIL|ERROR)", rest, re.M)
        if last:
            found[name] = last[-1]
    return found


def run(names, prefix, folder, env, limit):
    for stale in os.listdir(folder):
        if os.path.isfile(os.path.join(folder, stale)):
            os.unlink(os.path.join(folder, stale))
    for below in ("barrier", "test_dir", "init_dir"):
        os.makedirs(os.path.join(folder, below), exist_ok=True)
    command = [sys.executable, *prefix, os.path.abspath(__file__), "-v",
               *["TestDistBackendWithSpawn." + n for n in names]]
    try:
        done = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=limit)
        text = done.stdout
    except subprocess.TimeoutExpired as e:
        text = e.stdout.decode(errors="replace") if isinstance(e.stdout, bytes) else e.stdout or ""
    return results(text), text


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--seconds", type=float, default=3600)
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    os.environ.update({"BACKEND": "gloo", "WORLD_SIZE": str(WORLD), "TEMP_DIR": "/tmp"})
    names = args.names or sorted(n for n in dir(as_test()) if n.startswith("test_"))[args.first::args.every]
    from switch import Switch
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="silken-distributed-") as folder, Switch(WORLD) as switch:
        env = environment(folder)
        plain, plain_text = run(names, [], folder, env, args.seconds / 2)
        passing = [n for n in names if plain.get(n) == "ok"]
        env = {**env, **switch.environment(), "SILKEN_REPLACE": "gloo", "SILKEN_STATS": "1",
               "SILKEN_TORCH_MIN_BYTES": os.environ.get("SILKEN_TORCH_MIN_BYTES", "64")}
        with_silken, text = run(passing, ["-m", "silken.run"], folder, env, args.seconds / 2) if passing else ({}, "")
    if not passing:
        print("none of the tests passes with Gloo, which is not silken's fault but leaves nothing to compare with:")
        print(plain_text[-int(os.environ.get("TAIL", "6000")):])
    failed = [n for n in passing if with_silken.get(n) != "ok"]
    calls = sum(int(n) for n in re.findall(r"switch (\d+) calls", text))
    fallback = sum(int(n) for n in re.findall(r"fallback (\d+) calls", text))
    for name in failed:
        print("FAILED with silken, passes with Gloo: %s (%s)" % (name, with_silken.get(name, "no result")))
    if failed:
        print(text[-int(os.environ.get("TAIL", "6000")):])
    print("of %d tests %d pass with Gloo, %d of them with silken, which made %d sums by the switch and %d as "
          "fallback, in %d s" % (len(names), len(passing), len(passing) - len(failed), calls, fallback,
                                 time.monotonic() - began))
    if passing and (not calls or fallback):
        failed.append("sums through the switch")
    print("%d passed, %d failed" % (len(passing) - len(failed), len(failed)))
    sys.exit(bool(failed) or not passing)


if __name__ == "__mp_main__" or "-v" in sys.argv[1:2]:
    TestDistBackendWithSpawn = as_test()
    if __name__ == "__main__":
        from torch.testing._internal.common_utils import run_tests
        run_tests()
elif __name__ == "__main__":
    main()
