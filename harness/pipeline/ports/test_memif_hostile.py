# SPDX-License-Identifier: Apache-2.0
"""A memif peer that means harm, at a running switch: it truncates its memory, has memory that is not sealed, writes nonsense
into its rings. It is disconnected, counted and told of in a line; the switch and its other ports go on. (All
fields, by seed: harness/memif/test_memif.c.)"""
import array
import fcntl
import mmap
import os
import random
import socket
import struct
import sys
import time

sys.path.insert(0, "harness/control")
from live import Checks, L2, Switch  # noqa: E402

checks = Checks()
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
SLOTS, BUFFER = 64, 2048
RING = 128 + 16 * SLOTS
SIZE = 2 * RING + 2 * SLOTS * BUFFER


class Peer:
    """A memif client that says what a client has to, with memory as it likes."""

    def __init__(self, path, sealed=True):
        self.memory = os.memfd_create("peer", os.MFD_ALLOW_SEALING)
        os.ftruncate(self.memory, SIZE)
        if sealed:
            fcntl.fcntl(self.memory, F_ADD_SEALS, F_SEAL_SHRINK)
        self.map = mmap.mmap(self.memory, SIZE)
        for ring in (0, RING):
            struct.pack_into("<IH", self.map, ring, 0x3e31f20, 1)
            for i in range(SLOTS):
                place = 2 * RING + (i + (SLOTS if ring else 0)) * BUFFER
                struct.pack_into("<HHIII", self.map, ring + 128 + 16 * i, 0, 0, BUFFER, place, 0)
        self.bells = [os.eventfd(0), os.eventfd(0)]
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.socket.recv(128)  # HELLO

    def say(self, kind, body, fd=None):
        message = (struct.pack("<H", kind) + body).ljust(128, b"\0")
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd is not None else []
        self.socket.sendmsg([message], rights)
        answer = self.socket.recv(128)
        return struct.unpack_from("<H", answer)[0], answer[6:].split(b"\0")[0].decode()

    def connect(self):
        """The last answer: (7, ...) when connected."""
        steps = ((3, struct.pack("<HIB", 0x200, 0, 0), None), (4, struct.pack("<HQ", 0, SIZE), self.memory),
                 (5, struct.pack("<HHHIBH", 1, 0, 0, 0, 6, 0), self.bells[0]),
                 (5, struct.pack("<HHHIBH", 0, 0, 0, RING, 6, 0), self.bells[1]), (6, b"", None))
        for step in steps:
            answer = self.say(*step)
            if answer[0] != 1:
                break
        return answer

    def give(self, ring, head):
        struct.pack_into("<H", self.map, ring + 6, head & 0xffff)

    def descriptor(self, ring, slot, flags, region, length, offset):
        struct.pack_into("<HHIII", self.map, ring + 128 + 16 * (slot % SLOTS), flags, region, length, offset, 0)

    def close(self):
        self.socket.close()
        self.map.close()
        for fd in (self.memory, *self.bells):
            os.close(fd)


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
            peer.give(RING, SLOTS)
            for ring in (0, RING):
                for slot in range(SLOTS):
                    peer.descriptor(ring, slot, dice.choice((0, 1)), dice.choice((0, 0, 1, 65535)),
                                    dice.choice((0, 64, BUFFER, SIZE, 0xffffffff)),
                                    dice.choice((0, RING, SIZE - 10, SIZE, 0x7fffffff, 0xffffffff)))
            peer.give(0, dice.choice((1, SLOTS, SLOTS + 1, 30000, 65535)))
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
