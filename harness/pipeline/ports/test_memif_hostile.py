# SPDX-License-Identifier: Apache-2.0
"""A memif peer that means harm, at a running switch: it truncates its memory, has memory that is not sealed, writes nonsense
into its rings. It is disconnected, counted and told of in a line; the switch and its other ports go on. (All
fields, by seed: harness/memif/test_memif.c.)"""
import os
import random
import sys
import time

sys.path[:0] = ["harness/control", os.path.dirname(os.path.abspath(__file__))]
from hostile_peer import RING, SLOTS, Peer  # noqa: E402
from live import Checks, L2, Switch  # noqa: E402

checks = Checks()


def until(fn, seconds=30):
    end = time.monotonic() + seconds
    while not fn() and time.monotonic() < end:
        time.sleep(0.02)
    return fn()


def run():
    with Switch({"program": L2, "ports": [{"port": 0, "device": "net_null0,size=64"}]}) as sw:
        path = sw.path("m.sock")
        sw.ask("port.add", port=1, device=f"net_memif1,role=server,socket={path},socket-abstract=no")
        sw.ask("table.add", table="forward", key={"dst_addr": 0}, action="send", args={"port": 1})

        def closed():
            return sw.port(1)["device_state"]["peers_closed"]

        def connected():
            peer = Peer(path)
            checks.equal("connects", peer.connect()[0], 7)
            checks.true("has a link", until(lambda: sw.port(1)["link"]))
            return peer

        # memory that can shrink
        peer = Peer(path, sealed=False)
        kind, why = peer.connect()
        checks.equal("unsealed memory is refused", kind, 8)
        checks.has("with a reason", why, "not sealed against shrinking")
        os.ftruncate(peer.memory, 0)
        peer.close()
        checks.equal("counted", closed(), 1)
        checks.has("told of", sw.said(), f"port 1: memif: closed a peer (pid {os.getpid()}, uid {os.getuid()}")

        # sealed, truncated and with holes while frames go out to it
        peer = connected()
        peer.give(RING, SLOTS)
        checks.true("frames go out", until(lambda: sw.port(1)["tx_packets"] > 0))
        for i in range(200):
            try:
                os.ftruncate(peer.memory, 0)
                checks.true("cannot be truncated", False)
            except PermissionError:
                pass
            peer.give(RING, SLOTS + i)
        peer.close()
        checks.true("the link is down", until(lambda: not sw.port(1)["link"]))

        # nonsense
        dice = random.Random(28)
        before = closed()
        for turn in range(60):
            peer = connected()
            peer.nonsense(dice)
            time.sleep(0.005)
            peer.close()
            checks.true("the link is down again", until(lambda: not sw.port(1)["link"]))
        checks.true("most were closed for it", closed() > before + 30, closed())
        lines = sw.said().count("memif: closed a peer")
        checks.true("in few lines", lines < 50, lines)

        # and one that does as it should
        peer = connected()
        sent = sw.port(1)["tx_packets"]  # before its ring takes a frame: it takes SLOTS in all
        peer.give(RING, SLOTS)
        checks.true("frames go out to the next one", until(lambda: sw.port(1)["tx_packets"] > sent))
        received = sw.port(1)["rx_packets"]
        peer.descriptor(0, 0, 0, 0, 64, 2 * RING)
        peer.give(0, 1)
        checks.true("and come in", until(lambda: sw.port(1)["rx_packets"] > received))
        peer.close()
        checks.equal("ends, all accounted for", sw.stop(), 0)


run()
checks.end()
