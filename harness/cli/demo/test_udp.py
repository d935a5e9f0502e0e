# SPDX-License-Identifier: Apache-2.0
"""Workers that are nobody, without capabilities, each in a network namespace with a veth pair to the switch: they
sum through the compiled switchml.p4 over kernel UDP sockets, and check every element. Without faults, and with
links that drop, repeat and reorder. Needs root, for the namespaces."""
import json
import os
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build")
FAULTS = "seed=3,drop=0.01,duplicate=0.01,reorder=0.05"
SHORT = "--rto-min 5000 --rto-max 50000"


def reduce(name, *options):
    """Runs the job; returns what it says, or None when it fails."""
    run = subprocess.run([sys.executable, "harness/cli/demo/reduce_job.py", "--links", "udp", "--silken", BUILD + "/silken",
                          "--rounds", "2", "--limit", "60", "--pool", "64", *options],
                         capture_output=True, text=True)
    print("%s: %s" % ("ok" if run.returncode == 0 else "FAILED", name))
    if run.returncode:
        print(run.stdout, run.stderr)
        return None
    return json.loads(run.stdout)


def main():
    passed = failed = 0
    jobs = [
        ("floats", ["--workers", "3", "--elements", "100001"], False),
        ("integers, two lanes", ["--workers", "2", "--lanes", "2", "--elements", "50001",
                                 "--worker-options", "--type i32"], False),
        ("bad links", ["--workers", "2", "--elements", "50001", "--faults", FAULTS, "--worker-options", SHORT], True),
    ]
    for name, options, faulty in jobs:
        said = reduce(name, *options)
        good = said is not None and (said["retransmissions"] > 0 or not faulty)
        passed += good
        failed += not good
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


sys.exit(main())
