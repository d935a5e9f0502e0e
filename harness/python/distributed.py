# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests of backends (DistributedTest), with Gloo and with Gloo replaced by silken.

    distributed.py [--results FILE] [--again] [--every N] [--first I] [--seconds S] [NAME...]

runs the named tests, or every N-th (1: all), first with plain Gloo, then those that passed with SILKEN_REPLACE=gloo
beside a switch, all sums of SILKEN_TORCH_MIN_BYTES or more through it. Each has to pass again. Each test is four
processes, forked from one that has loaded PyTorch, and has S seconds (240); one that takes longer is ended.

FILE gets a line of JSON for each test that has ended: {"way", "test", "result", "seconds", "switch", "fallback",
"why"}. What it has is not run again, so that a run that was interrupted goes on where it was; with --again tests that
did not pass are. The summary is about all that the file has, and the status is 0 if no test passes with Gloo and not
with silken.
"""
import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
WORLD = 4
GRACE = 60  # seconds after those of a test, in which torch ends it by itself
WAYS = ("gloo", "silken")


# ---- the program that has the tests ----

def test_class():
    if importlib.util.find_spec("expecttest") is None:
        # torch's tests derive from its TestCase. Debian has no package of it, and DistributedTest asks for nothing
        # that goes beyond unittest's
        sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase, ACCEPT=False)
    import torch
    from torch.testing._internal.distributed import distributed_test

    if os.environ.get("SILKEN_REPLACE"):
        # the profiler's events of Gloo, which all_reduce through the switch does not make (docs/training.md)
        distributed_test.PROFILING_SUPPORTED_BACKENDS = []

    class TestDistBackendWithFork(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
        def setUp(self):
            super().setUp()
            self._start_processes(torch.multiprocessing.get_context("fork").Process)
            torch.backends.cudnn.flags(enabled=True, allow_tf32=False).__enter__()

        @classmethod
        def _run(cls, rank, test_name, file_name, pipe):
            try:
                super()._run(rank, test_name, file_name, pipe)
            finally:
                note_counts(rank)

    return TestDistBackendWithFork


def counts_file(rank):
    return os.path.join(os.environ["COUNTS_DIR"], "counts-%d" % rank)  # torch's tests have a TEMP_DIR of their own each


def note_counts(rank):
    """Of this process's sums, for the one that has forked it."""
    if "silken.torch.counts" in sys.modules:
        with open(counts_file(rank), "w", encoding="ascii") as f:
            json.dump({way: c["calls"] for way, c in sys.modules["silken.torch.counts"].counters().items()}, f)


class Lines(unittest.TestResult):
    """Writes a line for each test: {"test", "begun"}, and then with its result."""

    def startTest(self, test):
        super().startTest(test)
        self.began, self.said = time.monotonic(), None
        self.say({"test": test._testMethodName, "begun": True})

    def say(self, what):
        os.write(3, (json.dumps(what) + "\n").encode())

    def stopTest(self, test):
        super().stopTest(test)
        counted = {"switch": 0, "fallback": 0}
        for rank in range(WORLD):
            if os.path.exists(counts_file(rank)):
                with open(counts_file(rank), encoding="ascii") as f:
                    counts = json.load(f)
                os.unlink(counts_file(rank))
                counted = {way: n + counts[way] for way, n in counted.items()}
        result, why = self.said or ("ok", "")
        self.say({"test": test._testMethodName, "result": result, "seconds": round(time.monotonic() - self.began, 1), **counted,
                  **({"why": why[-1500:]} if why else {})})

    def addSuccess(self, test):
        super().addSuccess(test)
        self.said = ("ok", "")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.said = ("skipped", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.said = ("failed", str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.said = ("error", str(err[1]))


def program(names):
    """Runs the tests; lines of JSON on file 3."""
    made = test_class()
    for name in names:  # each as if it were alone
        unittest.TestSuite([made(name)]).run(Lines())


# ---- running it ----

def environment(folder, seconds):
    # with CI set, torch's runner writes a report by a package that Debian does not have
    inherited = {name: value for name, value in os.environ.items() if name != "CI"}
    for below in ("barrier", "test_dir", "init_dir"):
        os.makedirs(os.path.join(folder, below), exist_ok=True)
    return {**inherited, "BACKEND": "gloo", "WORLD_SIZE": str(WORLD), "TEMP_DIR": folder, "COUNTS_DIR": folder,
            "OMP_NUM_THREADS": "1",
            "INIT_METHOD": "file://" + os.path.join(folder, "shared"), "GLOO_SOCKET_IFNAME": "lo",
            "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": str(int(seconds))}


class Run:
    """A process that runs tests, and what it says."""

    def __init__(self, prefix, names, env, log):
        read, write = os.pipe()
        command = [sys.executable, *prefix, os.path.abspath(__file__), "--program", *names]
        self.process = subprocess.Popen(["sh", "-c", 'exec "$@" 3>&%d' % write, "sh", *command], env=env, stdout=log,
                                        stderr=log, pass_fds=[write], start_new_session=True)
        os.close(write)
        os.set_blocking(read, False)
        self.read, self.rest = read, b""

    def lines(self):
        """What has come since; waits a little for it."""
        time.sleep(0.1)
        try:
            self.rest += os.read(self.read, 1 << 20)
        except BlockingIOError:
            return []
        *whole, self.rest = self.rest.split(b"\n")
        return [json.loads(line) for line in whole]

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # with the ranks of its tests
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.read)


def follow(run, seconds, say):
    """Hands results to |say| until the program has ended or a test takes too long: then returns it, and why it has no
    result; else (None, None)."""
    test, began = None, time.monotonic()
    while True:
        lines = run.lines()
        for line in lines:
            test, began = line["test"] if "begun" in line else None, time.monotonic()
            if "begun" not in line:
                say(line)
        if not lines and run.process.poll() is not None:
            return test, "it ended the process, with status %d" % run.process.returncode
        if test and time.monotonic() - began > seconds + GRACE:
            return test, "no end in %d s" % (seconds + GRACE)


class Results:
    """The file: what has been run."""

    def __init__(self, path):
        self.path, self.by = path, {way: {} for way in WAYS}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f.read().splitlines():
                    try:
                        one = json.loads(line)
                    except ValueError:
                        continue  # the machine has gone away while it was written
                    self.by[one["way"]][one["test"]] = one

    def add(self, way, one):
        one = {"way": way, **one}
        self.by[way][one["test"]] = one
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(json.dumps(one) + "\n")
        print("%-6s %-7s %5.1f s  %s" % (way, one["result"], one["seconds"], one["test"]), flush=True)

    def passed(self, way):
        return {name for name, one in self.by[way].items() if one["result"] == "ok"}

    def to_do(self, way, names, again):
        """What has no result yet; with |again| also what has a bad one."""
        return [n for n in names if n not in self.by[way] or
                (again and self.by[way][n]["result"] not in ("ok", "skipped"))]


def run_all(results, way, names, prefix, env, seconds, log):
    while names:
        run = Run(prefix, names, env, log)
        done = []

        def say(one):
            done.append(one["test"])
            results.add(way, one)
        try:
            test, why = follow(run, seconds, say)
        finally:
            run.end()
        if test:
            say({"test": test, "result": "error", "seconds": seconds + GRACE, "switch": 0, "fallback": 0, "why": why})
        if not done:
            sys.exit("the program of the tests does not start: see %s" % log.name)
        names = [n for n in names if n not in done]


def summary(results, names):
    gloo, silken = ({name: one for name, one in results.by[way].items() if name in names} for way in WAYS)
    good = sorted(n for n in gloo if gloo[n]["result"] == "ok")
    lost = [n for n in good if silken.get(n, {}).get("result") != "ok"]
    for name in lost:
        one = silken.get(name, {"result": "no result", "why": ""})
        print("passes with gloo, not with silken (%s): %s\n%s" % (one["result"], name, one.get("why", "")))
    counts = {kind: sum(one["result"] in kinds for one in gloo.values())
              for kind, kinds in (("pass", ["ok"]), ("are skipped by torch", ["skipped"]), ("fail", ["failed", "error"]))}
    calls = {way: sum(silken[n][way] for n in good if n in silken) for way in ("switch", "fallback")}
    print("of %d tests with gloo %s; of those that pass, %d pass with silken, which made %d sums by the switch and %d as "
          "fallback" % (len(gloo), ", ".join("%d %s" % (n, kind) for kind, n in counts.items()), len(good) - len(lost),
                        calls["switch"], calls["fallback"]))
    print("passes with gloo, fails with silken: %d" % len(lost))
    if good and (not calls["switch"] or calls["fallback"]):
        lost.append("sums through the switch")
    print("%d passed, %d failed" % (len(good) - len(lost), len(lost)))
    return bool(lost) or not good


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--results", help="lines of JSON; without: of this run alone")
    p.add_argument("--again", action="store_true", help="what did not pass is run once more")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--seconds", type=float, default=240, help="of a test")
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    os.environ.update({"BACKEND": "gloo", "WORLD_SIZE": str(WORLD), "TEMP_DIR": "/tmp"})
    names = args.names or sorted(n for n in dir(test_class()) if n.startswith("test_"))[args.first::args.every]
    from switch import Switch
    with tempfile.TemporaryDirectory(prefix="silken-distributed-") as folder:
        path = args.results or os.path.join(folder, "results")
        results, env = Results(path), environment(folder, args.seconds)
        with open(os.path.splitext(path)[0] + ".log" if args.results else os.path.join(folder, "log"), "ab") as log:
            run_all(results, "gloo", results.to_do("gloo", names, args.again), [], env, args.seconds, log)
            left = results.to_do("silken", [n for n in names if n in results.passed("gloo")], args.again)
            if left:
                with Switch(WORLD) as switch:
                    env = {**env, **switch.environment(), "SILKEN_REPLACE": "gloo",
                           "SILKEN_TORCH_MIN_BYTES": os.environ.get("SILKEN_TORCH_MIN_BYTES", "64")}
                    run_all(results, "silken", left, ["-m", "silken.run"], env, args.seconds, log)
        sys.exit(summary(results, set(names)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(sys.argv[2:])
    else:
        main()
