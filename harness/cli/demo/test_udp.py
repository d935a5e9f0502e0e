# SPDX-License-Identifier: Apache-2.0
"""Workers that are nobody, without capabilities, each in a network namespace with a veth pair to the switch: they
sum through the compiled switchml.p4 over kernel UDP sockets, and check every element. Without faults, and with
links that drop, repeat and reorder. An application that is linked with libsilken does the same with what its
environment says, the rank as torchrun sets it. Needs root, for the namespaces."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reduce_job  # noqa: E402

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


APP = r"""
#include <silken/allreduce.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define COUNT 20001

static int64_t wide[COUNT];
static int32_t words[COUNT];

int main(void) {
    struct silken_comm *comm;
    char why[256];
    int64_t n, rank;
    int rc = silken_open_env(&comm, why, sizeof why);

    if (rc) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    n = silken_workers(comm);
    rank = silken_rank(comm);
    for (int i = 0; i < COUNT; i++) {
        wide[i] = ((int64_t)1 << 50) * (rank - 1) + i;
        words[i] = (int32_t)(i * (rank + 1));
    }
    if (silken_allreduce(comm, wide, wide, COUNT, SILKEN_I64, SILKEN_SUM) ||
        silken_allreduce_i32(comm, words, words, COUNT) || silken_barrier(comm)) {
        return 2;
    }
    for (int i = 0; i < COUNT; i++) {
        if (wide[i] != ((int64_t)1 << 50) * (n * (n - 1) / 2 - n) + n * i || words[i] != i * n * (n + 1) / 2) {
            return 3;
        }
    }
    silken_close(comm);
    printf("verified as user %d\n", (int)getuid());
    return 0;
}
"""


def build_app(folder):
    """Where nobody may read it, without the tree."""
    shutil.copy(BUILD + "/libsilken.so.0", folder)
    shutil.copytree("hosts/include/silken", folder + "/silken")
    with open(folder + "/app.c", "w") as f:
        f.write(APP)
    flags = os.environ.get("APP_FLAGS", "-fsanitize=address,undefined" if BUILD.endswith("asan") else "")
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *flags.split(), "-I" + folder, "-o", folder + "/app",
                    folder + "/app.c", folder + "/libsilken.so.0", "-Wl,-rpath," + folder], check=True)
    os.chmod(folder, 0o755)


def run_app():
    """Three workers; returns whether all sums were right."""
    sys.argv = ["reduce_job.py", "--links", "udp", "--workers", "3", "--pool", "64", "--silken", BUILD + "/silken"]
    args = reduce_job.parse_arguments()
    folder = tempfile.mkdtemp(prefix="silken-app-")
    lanes = [reduce_job.Lane(args, folder, w, 0) for w in range(3)]
    apps, switch = [], None
    try:
        build_app(folder)
        reduce_job.make_links(args, lanes)
        switch = reduce_job.start_switch(args, folder, lanes)
        for w in range(3):
            settings = {"RANK": str(w), "WORLD_SIZE": "3", "SILKEN_SWITCH_IP": reduce_job.SWITCH_IP, "SILKEN_JOB": "1",
                        "SILKEN_POOL": "64", "PATH": os.environ["PATH"]}
            apps.append(subprocess.Popen(["ip", "netns", "exec", reduce_job.namespace(w), *reduce_job.NOBODY,
                                          folder + "/app"], env=settings, stdout=subprocess.PIPE, text=True))
        said = [a.communicate(timeout=60)[0] for a in apps]
        print("the application says", said, [a.returncode for a in apps])
        return all(s == "verified as user 65534\n" for s in said)
    finally:
        for a in apps:
            if a.poll() is None:
                a.kill()
        if switch:
            switch.send_signal(signal.SIGINT)
            switch.communicate(timeout=10)
        reduce_job.remove_links(args, lanes)
        shutil.rmtree(folder, ignore_errors=True)


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
    good = run_app()
    print("%s: an application" % ("ok" if good else "FAILED"))
    passed += good
    failed += not good
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


sys.exit(main())
