# SPDX-License-Identifier: Apache-2.0
"""Workers whose switch is killed while they send to it over memif: they stay and wait for another. The
driver takes the shared memory away on a thread of its own, and must not while a burst uses it
(memif/device.c). That is a race: this test shows that nothing else goes wrong, and would meet the
race only sometimes."""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import reduce_job  # noqa: E402

ROUNDS = 3


def make_job():
    sys.argv = ["reduce_job.py", "--workers", "2", "--lanes", "2", "--elements", "4000000",
                "--rounds", "1000"]
    return reduce_job.parse_arguments()


def one_round(args, folder, lanes, patience):
    """Whether the workers are there after their switch has gone."""
    for lane in lanes:  # a server that was killed leaves its socket
        if os.path.exists("%s/%d.sock" % (folder, lane.port)):
            os.remove("%s/%d.sock" % (folder, lane.port))
    switch = reduce_job.start_switch(args, folder, lanes)
    workers = [reduce_job.start_worker(args, lanes, rank) for rank in range(args.workers)]
    try:
        workers[0].stdout.readline()  # they are at it
        time.sleep(patience)
        switch.send_signal(signal.SIGKILL)
        switch.wait()
        time.sleep(0.3)
        return [w.poll() for w in workers] == [None] * args.workers
    finally:
        for p in [switch, *workers]:
            p.kill()
            p.communicate()


def main():
    args = make_job()
    passed = 0
    with tempfile.TemporaryDirectory(prefix="silken-lost-switch-") as folder:
        lanes = [reduce_job.Lane(args, folder, w, l) for w in range(args.workers)
                 for l in range(args.lanes)]
        for i in range(ROUNDS):
            good = one_round(args, folder, lanes, 0.1 + 0.037 * i)
            print("%s: round %d" % ("ok" if good else "FAILED", i))
            passed += good
    print("%d passed, %d failed" % (passed, ROUNDS - passed))
    return passed != ROUNDS


sys.exit(main())
