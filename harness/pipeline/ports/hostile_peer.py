# SPDX-License-Identifier: Apache-2.0
"""A memif client that means harm: memory without seals, nonsense in its rings."""
import array
import fcntl
import mmap
import os
import socket
import struct

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

    def nonsense(self, dice):
        """Descriptors of both rings and heads as they come."""
        self.give(RING, SLOTS)
        for ring in (0, RING):
            for slot in range(SLOTS):
                self.descriptor(ring, slot, dice.choice((0, 1)), dice.choice((0, 0, 1, 65535)),
                                dice.choice((0, 64, BUFFER, SIZE, 0xffffffff)),
                                dice.choice((0, RING, SIZE - 10, SIZE, 0x7fffffff, 0xffffffff)))
        self.give(0, dice.choice((1, SLOTS, SLOTS + 1, 30000, 65535)))

    def close(self):
        self.socket.close()
        self.map.close()
        for fd in (self.memory, *self.bells):
            os.close(fd)
