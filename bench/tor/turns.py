# SPDX-License-Identifier: Apache-2.0
"""p4/tor in memory by turns with another tree, which has been built: what does a change cost?

    unshare --net python3 bench/tor/turns.py TREE [ROUNDS [SECONDS [PAIRS...]]]
    unshare --net python3 bench/tor/turns.py TREE ROUNDS tcp

Both switches run on one processor and take turns of SECONDS (1), for each number of PAIRS of addresses. Printed are
medians, and the median of the ratios of neighbouring turns, of packets a second of the processor's time. Needs root.

With "tcp" one connection of hosts on veth pairs (tor.py's) goes through p4/tor and p4/l2 of both trees and through
the Linux bridge, in turns.
"""
import contextlib
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


def tcp(folder, trees, rounds):
    """Prints the median of each switch's Mbit/s, and of its ratios to the bridge in the same round."""
    switches, found = [("bridge", None, tor.Bridge())], {}
    for place, tree in zip(("there", "here"), trees):
        for kind in (tor.Silken, tor.SilkenL2):
            switches.append((f"{kind.name}, {place}", tree, kind(os.path.join(folder, place + kind.name))))
    with contextlib.ExitStack() as all_hosts:
        hosts = {name: all_hosts.enter_context(tor.Hosts(f"tcp{i}")) for i, (name, _, _) in enumerate(switches)}
        try:
            for name, tree, switch in switches:
                if tree:
                    os.chdir(tree)
                    os.makedirs(switch.folder)
                switch.start(hosts[name].devices(), [(tor.A, 0), (tor.B, 1)])
                hosts[name].round_trip(20)
                tor.wake(switch, False)
            for turn in range(rounds):
                for name, _, switch in switches if turn % 2 else switches[::-1]:
                    found.setdefault(name, []).append(tor.tcp_turn(switch, hosts[name])["tcp_mbps"])
        finally:
            tor.end_all([switch for _, _, switch in switches])
    for name, figures in found.items():
        ratio = statistics.median(x / y for x, y in zip(figures, found["bridge"]))
        print(f"{name:20}{statistics.median(figures):8.0f} Mbit/s ({min(figures):.0f} to {max(figures):.0f}), "
              f"{ratio:.2f} of the bridge", flush=True)


def main():
    trees = [os.path.abspath(sys.argv[1]), os.getcwd()]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    if sys.argv[3:] == ["tcp"]:
        tor.run("ip", "link", "set", "lo", "up")
        with tempfile.TemporaryDirectory(prefix="sktor-") as folder:
            tcp(folder, trees, rounds)
        return
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    for pairs in [int(word) for word in sys.argv[4:]] or tor.PAIRS:
        with tempfile.TemporaryDirectory(prefix="sktor-") as folder:
            other, own = compared(folder, trees, pairs, rounds, seconds)
        ratio = statistics.median(y / x for x, y in zip(other, own))
        print(f"{pairs} pairs: {statistics.median(other) / 1e6:.2f} million packets a second there, "
              f"{statistics.median(own) / 1e6:.2f} here, ratio {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
