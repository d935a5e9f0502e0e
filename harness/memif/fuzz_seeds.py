# SPDX-License-Identifier: Apache-2.0
"""Conversations for fuzz_memif as they should be: fuzz_seeds.py FOLDER"""
import pathlib
import struct
import sys


def message(descriptors, kind, *fields):
    """descriptors: the byte in front, as fuzz_memif.c has it."""
    return bytes([descriptors]) + (struct.pack("<H", kind) + b"".join(fields)).ljust(128, b"\0")


def field(form, *values):
    return struct.pack("<" + form, *values)


NONE, SEALED, EVENTFD = 0x04, 0x08, 0x09
INIT = message(NONE, 3, field("HIB", 0x200, 1, 0), b"secret".ljust(24, b"\0"), b"seed")
REGION = message(SEALED, 4, field("HQ", 0, 65536))
RINGS = [message(EVENTFD, 5, field("HHHIBH", flags, index, 0, offset, 4, 0))
         for flags, index, offset in ((1, 0, 0), (1, 1, 1024), (0, 0, 2048), (0, 1, 4096))]
CONNECT = message(NONE, 6, b"seed")
GOODBYE = message(NONE, 8, field("I", 0), b"enough")
HELLO = message(NONE, 2, b"seed".ljust(32, b"\0"), field("HHHHHB", 0x200, 0x200, 15, 1, 1, 10))
ACK = message(NONE, 1)
CONNECTED = message(NONE, 7, b"seed")

server = b"\1" + INIT + REGION + b"".join(RINGS) + CONNECT
client = b"\0" + HELLO + ACK * 5 + CONNECTED
folder = pathlib.Path(sys.argv[1])
for name, words in (("server", server), ("server-ends", server + GOODBYE), ("one-ring", b"\1" + INIT + REGION + RINGS[0]),
                    ("client", client), ("client-ends", client + GOODBYE)):
    (folder / f"seed-{name}").write_bytes(words)
