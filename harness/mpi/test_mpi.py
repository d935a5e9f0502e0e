#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""MPI programs whose sums go through a switch, by the shims and by Open MPI's component: trial.c, and mpi4py.

A program is started by the mpirun of its MPI, with the shim loaded before MPI's library, or the component where Open
MPI looks for such, and a switch whose links are shared memory (harness/python/switch.py). Each rank compares its
results; here the ranks' counts are.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../python"))
import switch  # noqa: E402

# --oversubscribe: more ranks than processors; a rank that waits lets the others run.
RUN = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                   "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader"],
       "mpich": ["mpirun.mpich"]}
LIMIT_MS = 10000
SECONDS = 600
COUNTS = re.compile(r"silken-mpi, rank (\d+): switch (\d+) calls, (\d+) bytes; passed on (\d+) calls((?:; \d+ [^;\n]*)*)")
COUNT = 4003  # trial.c
# A machine with less processors than processes: what looks lost is late.
PATIENCE = {"SILKEN_MPI_MIN_BYTES": "16000", "SILKEN_RTO_MIN_US": "300000", "SILKEN_RTO_INITIAL_US": "500000",
            "SILKEN_RTO_MAX_US": "2000000"}


def counts(text):
    """By rank: (calls, bytes, {reason: calls}) of the report."""
    return {int(rank): (int(calls), int(size), {why: int(n) for n, why in re.findall(r"; (\d+) ([^;\n]*)", reasons)})
            for rank, calls, size, _, reasons in COUNTS.findall(text)}


def component_path():
    """Where Open MPI is to look for components: in ours and in its own folder."""
    says = subprocess.run(["ompi_info", "--parsable", "--path", "pkglibdir"], capture_output=True, text=True, check=True)
    return "%s:%s" % (os.path.join(switch.BUILD, "openmpi"), says.stdout.strip().rpartition(":")[2])


class Mpi:
    """What all MPIs do, by shim or component. |mpi| is the name of one."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="silken-mpi-", dir="/tmp")
        cls.program = os.path.join(cls.folder, "trial")
        subprocess.run(["mpicc." + cls.mpi, "-std=c17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o",
                        cls.program, os.path.join(HERE, "trial.c"), "-lm"], check=True)
        cls.load = "LD_PRELOAD=" + os.path.join(switch.BUILD, "libsilken-mpi-%s.so" % cls.mpi)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def loaded_by_ranks(self):
        return [self.load]

    def loaded_by_all(self):
        return {}

    def mpirun(self, ranks, command, environment):
        """(exit status, output) of a job."""
        words = [*RUN[self.mpi], "-np", str(ranks), "env", *self.loaded_by_ranks(), *command]
        with tempfile.TemporaryFile("w+", dir=self.folder) as out:
            job = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, "SILKEN_MPI_REPORT": "1", "SILKEN_HARD_LIMIT_MS": str(LIMIT_MS),
                                        **PATIENCE, **self.loaded_by_all(), **environment})
            try:
                status = job.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                status = "no end"
            out.seek(0)
            return status, out.read()

    def trial(self, name, ranks, **more):
        """The counts of a job that ends well, by rank."""
        with switch.Switch(ranks) as s:
            status, text = self.mpirun(ranks, [self.program, name], {**s.environment(), **more})
        self.assertEqual(status, 0, text)
        self.assertIn("%s: all right at %d ranks" % (name, ranks), text)
        self.text = text
        by_rank = counts(text)
        self.assertEqual(sorted(by_rank), list(range(ranks)), text)
        return by_rank

    def all_have(self, by_rank, expected):
        for rank, got in by_rank.items():
            self.assertEqual(got, expected, "rank %d\n%s" % (rank, self.text))

    def sums(self, ranks):
        """Two all-reduces and two scattered ones of each of three types of 4 bytes and three of 8; a broadcast from
        each rank, and two gathers."""
        calls = 6 * 4 + ranks + 2
        self.all_have(self.trial("sums", ranks, SILKEN_MPI_DOUBLE="1"),
                      (calls, COUNT * (3 * 4 * 4 + 3 * 4 * 8 + (ranks + 2) * 8), {}))

    def test_sums_of_4(self):
        self.sums(4)

    def test_int64_beyond_its_type(self):
        self.all_have(self.trial("range", 2), (2, 2 * 8 * COUNT, {"of int64 with a sum beyond the type": 2}))

    def test_duplicates_of_the_world(self):
        self.all_have(self.trial("dups", 2), (3, 3 * 4 * COUNT, {}))
        self.all_have(self.trial("dups", 2, TRIAL_THREADS="1"),
                      (0, 0, {"on a duplicate of MPI_COMM_WORLD, with MPI_THREAD_MULTIPLE": 3}))

    def test_a_threshold(self):
        self.all_have(self.trial("late", 2, SILKEN_MPI_MIN_BYTES=str(4 * COUNT + 1)),
                      (0, 0, {"of fewer bytes than SILKEN_MPI_MIN_BYTES": 4}))
        with switch.Switch(2) as s:
            status, text = self.mpirun(2, [self.program, "late"], {**s.environment(), "SILKEN_MPI_REQUIRE": "2"})
            self.assertNotEqual(status, 0, text)
            self.assertIn("SILKEN_MPI_REQUIRE=2: 0 or 1 is expected", text)
            status, text = self.mpirun(2, [self.program, "late"], {**s.environment(), "SILKEN_MPI_MIN_BYTES": "64k"})
        self.assertNotIn(status, (0, "no end"), text)
        self.assertIn("SILKEN_MPI_MIN_BYTES=64k: a number of bytes is expected", text)

    def killed(self, ranks):
        by_rank = self.trial("killed", ranks)
        for calls, size, reasons in by_rank.values():
            self.assertEqual(size, 4 * COUNT * calls)
            self.assertEqual(reasons, {"since the switch was lost": 40 - calls}, self.text)
            self.assertIn(calls, range(10, 12), self.text)
        self.assertEqual(len({calls for calls, _, _ in by_rank.values()}), 1, self.text)
        self.assertEqual(self.text.count("the switch is lost"), 1, self.text)

    def test_switch_killed_with_4(self):
        self.killed(4)

    def test_switch_killed_when_it_is_required(self):
        with switch.Switch(2) as s:
            status, text = self.mpirun(2, [self.program, "killed"], {**s.environment(), "SILKEN_MPI_REQUIRE": "1"})
        self.assertNotIn(status, (0, "no end"), text)
        self.assertIn("the job is aborted, as SILKEN_MPI_REQUIRE asks", text)
        self.assertNotIn("all right", text)

    def test_no_job(self):
        """Rank 0 says why there is no job, and all calls are MPI's."""
        with switch.Switch(2) as s:
            environment = s.environment()
        for more, why in (({**environment, "SILKEN_DEVICE": "/no/such/device"}, "/no/such/device"),
                          ({}, "SILKEN_SWITCH_IP"), ({**environment, "SILKEN_JOB": "many"}, "SILKEN_JOB is 'many'")):
            status, text = self.mpirun(2, [self.program, "late"], more)
            self.assertEqual(status, 0, text)
            self.assertRegex(text, "silken-mpi, rank 0: there is no switch: .*" + why)
            for got in counts(text).values():
                self.assertEqual(got, (0, 0, {"since there is no switch": 4}), text)

    def test_one_rank(self):
        status, text = self.mpirun(1, [self.program, "late"], {})
        self.assertEqual(status, 0, text)
        self.assertEqual(counts(text), {0: (0, 0, {"of a job of one rank": 4})}, text)


class Shim(Mpi):
    """What all shims do."""

    def test_sums_of_2(self):
        self.sums(2)

    def test_what_is_passed_on(self):
        self.all_have(self.trial("passed", 4, SILKEN_MPI_MIN_BYTES="8000"), (0, 0, {
            "of no bytes": 1, "of fewer bytes than SILKEN_MPI_MIN_BYTES": 1,
            "with an operation other than MPI_SUM": 1, "of a type that does not go through the switch": 2,
            "of double, which SILKEN_MPI_DOUBLE=1 takes": 1, "of MPI_Iallreduce": 1,
            "on a communicator that has not the ranks of MPI_COMM_WORLD": 2,
            "with a buffer that is not aligned, or no memory for one": 1}))

    def test_a_rank_may_be_later_than_the_limit(self):
        self.all_have(self.trial("late", 2, SILKEN_HARD_LIMIT_MS="3000"), (4, 4 * 4 * COUNT, {}))

    def test_switch_killed_with_2(self):
        self.killed(2)

    def test_no_switch(self):
        """A switch that does not answer is lost when the limit is over; the sums are MPI's."""
        with switch.Switch(2) as s:
            environment = s.environment()
        status, text = self.mpirun(2, [self.program, "late"], {**environment, "SILKEN_HARD_LIMIT_MS": "3000"})
        self.assertEqual(status, 0, text)
        self.assertIn("Is the switch running", text)
        self.assertRegex(text, "silken-mpi, rank [01]: the switch is lost: ")
        self.assertEqual({str(got) for got in counts(text).values()}, {str((0, 0, {"since the switch was lost": 4}))},
                         text)

    def test_ranks_of_several_minds(self):
        """One rank is told another job, or alone to ask a job service: all pass on, and rank 0 says why."""
        for other in "SILKEN_JOB=2", "SILKEN_CONTROLLER=127.0.0.1:1":
            with switch.Switch(2) as s:
                words = ["sh", "-c", '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export %s; exec "$@"' % other,
                         "-"]
                status, text = self.mpirun(2, [*words, self.program, "late"], s.environment())
            self.assertEqual(status, 0, text)
            self.assertIn("silken-mpi, rank 0: there is no switch: the ranks differ in SILKEN_JOB", text)
            self.assertEqual(set(map(str, counts(text).values())), {str((0, 0, {"since there is no switch": 4}))},
                             text)


class WithMpi4py:
    def test_mpi4py(self):
        with switch.Switch(4) as s:
            status, text = self.mpirun(4, [sys.executable, os.path.join(HERE, "trial_mpi4py.py")], s.environment())
        self.assertEqual(status, 0, text)
        self.assertIn("trial_mpi4py: all right at 4 ranks", text)
        for calls, size, reasons in counts(text).values():
            self.assertEqual((calls, size), (3, 3 * 4 * 20000), text)
            self.assertEqual(reasons["with an operation other than MPI_SUM"], 1, text)


class OpenMpi(WithMpi4py, Shim, unittest.TestCase):
    mpi = "openmpi"


class Mpich(Shim, unittest.TestCase):
    mpi = "mpich"


class OpenMpiComponent(WithMpi4py, Mpi, unittest.TestCase):
    """Open MPI's own calls are counted, too, since its communicators are made by some; those of no bytes never come."""
    mpi = "openmpi"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.load = component_path()

    def loaded_by_ranks(self):
        return []

    def loaded_by_all(self):
        return {"OMPI_MCA_mca_base_component_path": self.load}

    def test_what_is_passed_on(self):
        for calls, size, reasons in self.trial("passed", 4, SILKEN_MPI_MIN_BYTES="8000").values():
            self.assertGreaterEqual(reasons.pop("of fewer bytes than SILKEN_MPI_MIN_BYTES"), 1, self.text)
            self.assertEqual((calls, size, reasons), (0, 0, {
                "with an operation other than MPI_SUM": 1,
                "of a type that does not go through the switch": 2,
                "of double, which SILKEN_MPI_DOUBLE=1 takes": 1,
                "with a buffer that is not aligned, or no memory for one": 1}), self.text)

    def test_it_can_be_left_out(self):
        """By Open MPI's own means: the job has no report then."""
        for more in {"OMPI_MCA_coll": "^silken"}, {"OMPI_MCA_coll_silken_priority": "-1"}:
            status, text = self.mpirun(2, [self.program, "late"], more)
            self.assertEqual((status, counts(text)), (0, {}), text)
            self.assertIn("late: all right at 2 ranks", text)


if __name__ == "__main__":
    run = unittest.main(exit=False, verbosity=2).result
    wrong = len(run.failures) + len(run.errors)
    print("%d passed, %d failed" % (run.testsRun - wrong, wrong))
    sys.exit(bool(wrong))
