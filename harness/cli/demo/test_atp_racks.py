# SPDX-License-Identifier: Apache-2.0
"""ATP jobs with processes of their own: two switches in two racks, a server in the second, workers in both.
Over memif and, as root, over network namespaces with veth pairs and af_packet ports; with 1 % loss at all
ports; with several lanes and servers; and with a worker that is killed and started anew in another rack.
The workers check every element of every sum."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
import atp_job  # noqa: E402
import tally  # noqa: E402

SILKEN = os.path.join(os.environ.get("BUILD", "build"), "silken")
SHORT = ("--rounds", "2", "--elements", "100001", "--rto-min", "5000", "--rto-max", "50000")
IS_ROOT = os.geteuid() == 0


def job(racks, options=SHORT, **more):
    return atp_job.Job(SILKEN, racks, options=options, **more)


class Sums(unittest.TestCase):
    # each round has a tensor of one element too: 2 * (1 + 1613) packets of 62
    FRAGMENTS = 3228

    def check(self, links, loss=0.0, racks=(0, 0, 1, 1), **more):
        with job(racks, links=links, loss=loss, **more) as j:
            said = atp_job.run(j)
        self.assertEqual(len(said["seconds"]), 2)
        self.assertGreaterEqual(said["fragments"], self.FRAGMENTS)
        self.assertGreater(said["sums_of_switches"], said["fragments"] / 2)
        if loss:
            self.assertGreater(said["retransmissions"], 0)
        return said

    def test_two_racks(self):
        # patient, so that next to nothing is sent again: what the first rack's switch sends on is one sum
        # for its two workers, and two copies of the parameters
        said = self.check("memif", options=(*SHORT[:4], "--rto-min", "100000", "--rto-max", "500000"))
        first = [int(n) for n in re.search(r"received (\d+).*sent (\d+)", said["switches_say"][1][0]).groups()]
        self.assertLess(first[1], 1.2 * (self.FRAGMENTS + 2 * self.FRAGMENTS))

    def test_two_racks_with_loss(self):
        self.check("memif", 0.01)

    def test_lanes_and_servers(self):
        self.check("memif", racks=(0, 1, 1), lanes=2, servers=2)

    def test_integers(self):
        self.check("memif", racks=(0, 0), type="i32")

    @unittest.skipUnless(IS_ROOT, "network namespaces need root")
    def test_namespaces(self):
        self.check("afpacket")

    @unittest.skipUnless(IS_ROOT, "network namespaces need root")
    def test_namespaces_with_loss(self):
        self.check("afpacket", 0.01)


class Respawn(unittest.TestCase):
    """Appendix A.3: a worker dies, another one takes its place in another rack."""

    OPTIONS = ("--rounds", "5", "--rto-min", "5000", "--rto-max", "50000")

    @staticmethod
    def read_until(process, word):
        for line in process.stdout:
            if line.startswith(word):
                return line.strip()
        raise RuntimeError("'%s' never came" % word)

    def replace(self, j, workers, rank, spare):
        """Kills a worker, tells everybody, and starts it in the spare place."""
        workers[rank].kill()
        workers[rank].communicate()
        j.workers[rank] = spare
        j.write_job()
        for other, w in enumerate(workers):
            if other != rank:
                w.send_signal(signal.SIGHUP)
                self.read_until(w, "moved")
        first = []
        for server in j.serving:
            server.send_signal(signal.SIGHUP)
            first += [self.read_until(server, "first ").split()[1] for _ in range(j.lanes)]
        workers[rank] = j.start_worker(rank, *(word for f in first for word in ("--first", f)))
        return first

    # the elements are as many as make the four rounds after the first take long enough for a worker to be lost in them
    def check(self, links, elements, pause, **more):
        with job((0, 0, 1, 1), (*self.OPTIONS, "--elements", str(elements)), links=links, spares=(1,), **more) as j:
            j.start_switches()
            j.start_servers()
            workers = [j.start_worker(rank) for rank in range(4)]
            self.read_until(workers[0], "round 0")
            time.sleep(pause)  # somewhere in the middle
            first = self.replace(j, workers, 1, j.spares[0])
            texts, served, _ = atp_job.finish(j, workers, 90)
        for f in first:  # the numbers begin anew behind those that may still be under way
            flow, complete, number = map(int, f.split(":"))
            self.assertGreater(complete, 0)
            self.assertGreater(number, complete)
        self.assertIn("round 4", texts[1])
        self.assertIn("round 4", texts[0])

    def test_memif(self):
        self.check("memif", 4000001, 0.05)

    @unittest.skipUnless(IS_ROOT, "network namespaces need root")
    def test_namespaces_with_lanes_servers_and_loss(self):
        self.check("afpacket", 400001, 0.2, lanes=2, servers=2, loss=0.002)


@unittest.skipUnless(IS_ROOT, "network namespaces need root")
class Training(unittest.TestCase):
    """The demo itself, each process of it in a network namespace of its own."""

    def check(self, *options):
        before = sorted(os.listdir("/sys/class/net"))
        demo = subprocess.run([SILKEN, "demo", "--links", "veth", *options], capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(demo.returncode, 0, demo.stdout + demo.stderr)
        self.assertEqual(demo.stdout.splitlines()[-1], "verified")
        self.assertEqual(sorted(os.listdir("/sys/class/net")), before)

    def test_two_racks(self):
        self.check("--protocol", "atp", "--racks", "2", "--steps", "10")

    def test_two_racks_with_loss(self):
        self.check("--protocol", "atp", "--racks", "2", "--loss", "1%", "--steps", "5")

    def test_one_rack_of_either(self):
        self.check("--protocol", "both", "--steps", "5")


class Recording(unittest.TestCase):
    def test_the_demo_again(self):
        """What the servers' rack received in a training replays to what it sent."""
        with tempfile.TemporaryDirectory(prefix="silken-atp-record-") as folder:
            file = os.path.join(folder, "run.pcapng")
            for words in (["demo", "--protocol", "atp", "--racks", "2", "--images", "1000", "--steps", "3",
                           "--batch", "100", "--loss", "1%", "--record", file],
                          ["replay", "p4/atp/atp.p4", "--config", os.path.join(folder, "run.config.json"),
                           "--in", file, "--expect-recorded"]):
                run = subprocess.run([SILKEN, *words], capture_output=True, text=True, timeout=300)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


class Options(unittest.TestCase):
    """One sentence and status 2 for whoever cannot be a station of the job."""

    def setUp(self):
        self.file = os.path.join(os.path.dirname(__file__), "jobs", "two_racks.json")

    def refuse(self, words, sentence):
        run = subprocess.run([SILKEN, *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn(sentence, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)

    def test_servers(self):
        good = ["server", "--job-file", self.file]
        self.refuse(["server", "--device", "d"], "--job-file and at least one --device are needed")
        self.refuse(good, "--job-file and at least one --device are needed")
        self.refuse([*good, "--cpu", "1"], "--cpu must come after a --device")
        self.refuse([*good, "--number", "x"], "'x' is not a number from 0 to 1023")
        self.refuse([*good, "--device", "d", "extra"], "unexpected argument 'extra'")
        self.refuse([*good, "--device", "d", "--number", "1"], "has 1 servers with 1 devices each")
        self.refuse([*good, "--device", "d", "--device", "e"], "this is number 0 with 2")
        self.refuse([*good, "--device", "no such device"], "no such device")
        self.refuse(["server", "--job-file", "/no/such", "--device", "d"], "/no/such")
        self.refuse(["server", "--job-file", __file__, "--device", "d"], "test_atp_racks.py:1")

    def test_workers(self):
        good = ["worker", "--protocol", "atp", "--job-file", self.file]
        self.refuse(["worker", "--protocol", "tcp"], "--protocol takes switchml or atp, not 'tcp'")
        self.refuse(["worker", "--protocol", "atp"], "--job-file and at least one --device are needed")
        self.refuse([*good, "--device", "d", "--pool", "3"], "--pool needs --protocol switchml")
        self.refuse([*good, "--device", "d", "--mac", "m"], "--mac needs --protocol switchml")
        self.refuse([*good, "--device", "d", "--rank", "2"], "has 2 workers with 1 devices each")
        self.refuse([*good, "--device", "d", "--first", "1:2"], "--first takes a value like 0:1000:1000")
        self.refuse([*good, "--device", "d", "--first", "1:2:3"], "for each of the job's flows")
        self.refuse([*good, "--device", "no such device"], "no such device")
        self.refuse(["worker", "--job-file", self.file, "--device", "d"], "need --protocol atp")


if __name__ == "__main__":
    tally.main()
