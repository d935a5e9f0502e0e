#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Collective operations by a running switch: p4/switchml with memif links, and as root p4/rack with UDP sockets of machines
(machines.py) and a job service. Every byte of every result is checked by the workers (collect.py)."""
import os
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tally  # noqa: E402
from switch import Switch  # noqa: E402

COLLECT = os.path.join(HERE, "collect.py")
WORKERS, ELEMENTS = 4, 65536


def start(switch, rank, workers, rounds, seed, *more, **settings):
    return subprocess.Popen([sys.executable, COLLECT, *map(str, (rank, workers, rounds, seed, *more))],
                            env={**os.environ, **switch.environment(), **settings}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def costs(text):
    """{operation: (bytes sent, bytes received)} of a worker's words."""
    return {w[0]: (int(w[1]), int(w[2])) for w in (line.split() for line in text.splitlines()) if len(w) == 3 and w[0] in
            ("allreduce", "reduce_scatter", "allgather")}


class Collectives(unittest.TestCase):
    def end(self, workers, in_switch=1):
        texts = [w.communicate(timeout=120)[0] for w in workers]
        for w, text in zip(workers, texts):
            self.assertEqual(w.returncode, 0, text)
            self.assertIn("right", text)
            self.assertIn("in_switch %d" % in_switch, text)
        return texts

    def test_in_the_switch(self):
        # nothing is sent again because a busy machine was late: what is counted is what has to be sent
        patience = {"SILKEN_RTO_MIN_US": "1000000", "SILKEN_RTO_INITIAL_US": "1000000", "SILKEN_RTO_MAX_US": "2000000"}
        with Switch(WORKERS) as switch:
            texts = self.end([start(switch, r, WORKERS, 30, 1, ELEMENTS, **patience) for r in range(WORKERS)])
        for text in texts:
            cost = costs(text)
            full = cost["allreduce"]
            print("bytes sent and received:", cost)
            # 1/4 of the packets with elements, 3/4 without
            self.assertLess(cost["reduce_scatter"][1], 0.33 * full[1])
            self.assertLess(cost["allgather"][0], 0.33 * full[0])

    def test_a_switch_without_audiences(self):
        with Switch(2, collectives=False) as switch:
            self.end([start(switch, r, 2, 15, 2) for r in range(2)], in_switch=0)

    def test_links_that_lose(self):
        with Switch(3) as switch:
            device = switch.environment()["SILKEN_DEVICE"]
            self.end([start(switch, r, 3, 15, 3, SILKEN_DEVICE="faulty:seed=%d,drop=0.01,duplicate=0.01,reorder=0.05:%s"
                            % (r + 1, device)) for r in range(3)])

    def test_jobs_in_a_row(self):
        with Switch(2) as switch:
            for seed in range(20):
                self.end([start(switch, r, 2, 4, seed) for r in range(2)])

    def test_a_worker_that_is_killed(self):
        """The others get an error within the limit; a new run of the job gets its own sums."""
        with Switch(3) as switch:
            for seed in range(2):
                workers = [start(switch, r, 3, 100000, seed, SILKEN_HARD_LIMIT_MS="5000") for r in range(3)]
                time.sleep(3)
                workers[seed].send_signal(signal.SIGKILL)
                for i, w in enumerate(workers):
                    text = w.communicate(timeout=60)[0]
                    if i != seed:
                        self.assertNotEqual(w.returncode, 0, text)
                        self.assertRegex(text, "error: (STALLED|OVER|CLOSED)")
                self.end([start(switch, r, 3, 10, seed) for r in range(3)])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_sockets_of_machines(self):
        done = subprocess.run([sys.executable, os.path.join(HERE, "machines.py"), "--machines", "3", sys.executable, COLLECT,
                               "%m", "3", "15", "5", "20000"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("right"), 3, done.stdout)
        self.assertEqual(done.stdout.count("in_switch 1"), 3, done.stdout)
        print(done.stdout)


if __name__ == "__main__":
    tally.main()
