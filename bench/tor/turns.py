# SPDX-License-Identifier: Apache-2.0
"""p4/tor in memory by turns with another tree, which has been built: what does a change cost?

    unshare --net python3 bench/tor/turns.py TREE [ROUNDS [SECONDS [PAIRS...]]]

Both switches run on one processor and take turns of SECONDS (1), for each number of PAIRS of addresses. Printed are
medians, and the median of the ratios of neighbouring turns, of packets a second of the processor's time. Needs root.
"""
import os
import statistics
import sys
import tempfile
import time

import tor


def compared(folder, trees, pairs, rounds, seconds):
    path = os.path.join(folder, "frames.pcap")
    tor.frames(path, pairs)
    places = [(mac, 1) for mac in sorted({d for d, _ in tor.addresses(pairs)})]
    switches, found = {}, {tree: [] for tree in trees}
    try:
        for i, tree in enumerate(trees):
            os.chdir(tree)
            os.makedirs(os.path.join(folder, str(i)), exist_ok=True)
            switches[tree] = tor.Silken(os.path.join(folder, str(i)))
            switches[tree].start([f"net_pcap0,rx_pcap={path},infinite_rx=1", "net_null0,no-rx=1"], places)
            time.sleep(1)
            tor.wake(switches[tree], False)
        for turn in range(rounds):
            for tree in trees if turn % 2 else trees[::-1]:
                os.chdir(tree)
                found[tree].append(tor.memory_turn(switches[tree], seconds)["pps_of_cpu"])
    finally:
        tor.end_all(switches.values())
    return [found[tree] for tree in trees]


def main():
    trees = [os.path.abspath(sys.argv[1]), os.getcwd()]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    for pairs in [int(word) for word in sys.argv[4:]] or tor.PAIRS:
        with tempfile.TemporaryDirectory(prefix="sktor-") as folder:
            other, own = compared(folder, trees, pairs, rounds, seconds)
        ratio = statistics.median(y / x for x, y in zip(other, own))
        print(f"{pairs} pairs: {statistics.median(other) / 1e6:.2f} million packets a second there, "
              f"{statistics.median(own) / 1e6:.2f} here, ratio {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
