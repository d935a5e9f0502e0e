# SPDX-License-Identifier: Apache-2.0
"""A switch to which nothing comes, by turns with that of another build: what of a processor it takes, and how many
requests of one client it serves, each after the reply to the one before.

    python3 bench/idle.py OTHER [ROUNDS [SECONDS]]

OTHER is a build folder of another tree in which silken has been built. In each of ROUNDS (5) either switch runs p4/l2
with two memif ports for SECONDS (5) without a packet, and then adds and deletes 500 entries. Printed are medians.
BUILD is this tree's build folder (build).
"""
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ENTRIES = 500


def configuration(folder):
    return {"program": os.path.abspath("p4/l2/l2.p4"), "control_socket": f"{folder}/s.sock",
            "ports": [{"port": n, "device": f"net_memif{n},role=server,socket={folder}/{n}.memif,socket-abstract=no"}
                      for n in (1, 2)]}


def processor_time(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def requests_a_second(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        replies = client.makefile("r")
        began = time.monotonic()
        for op in "add", "delete":
            for i in range(ENTRIES):
                entry = {"table": "forward", "key": {"hdr.ethernet.dst_addr": f"02:00:00:00:{i >> 8:02x}:{i & 255:02x}"}}
                more = {"action": "send", "args": {"port": 1}} if op == "add" else {}
                client.sendall((json.dumps({"op": f"table.{op}", **entry, **more}) + "\n").encode())
                reply = json.loads(replies.readline())
                if not reply["ok"]:
                    sys.exit(f"idle.py: {reply['error']}")
        return 2 * ENTRIES / (time.monotonic() - began)


def measured(build, seconds):
    """(share of a processor, requests a second)"""
    with tempfile.TemporaryDirectory(prefix="idle-") as folder:
        with open(f"{folder}/c.json", "w", encoding="utf-8") as f:
            json.dump(configuration(folder), f)
        switch = subprocess.Popen([os.path.join(build, "silken"), "run", "-c", f"{folder}/c.json"], stdout=subprocess.PIPE,
                                  text=True, env={**os.environ, "SILKEN_CACHE": folder})
        if not any(line == "ready\n" for line in switch.stdout):
            sys.exit(f"idle.py: the switch of {build} did not start")
        time.sleep(1)
        before, began = processor_time(switch.pid), time.monotonic()
        time.sleep(seconds)
        share = (processor_time(switch.pid) - before) / (time.monotonic() - began)
        rate = requests_a_second(f"{folder}/s.sock")
        switch.terminate()
        switch.wait()
        return share, rate


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    builds = [sys.argv[1], os.environ.get("BUILD", "build")]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    found = {build: [] for build in builds}
    for turn in range(rounds):
        for build in builds if turn % 2 else builds[::-1]:
            found[build].append(measured(build, seconds))
    for build in builds:
        share, rate = (statistics.median(values) for values in zip(*found[build]))
        print(f"{build}: {share:.3f} of a processor, {rate:.0f} requests a second")


if __name__ == "__main__":
    main()
