#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host of maximum.p4 in Python, for a first try of a protocol in the lab, before there is a shared object:

    silken lab up examples/maximum/network.json
    silken lab exec h0 python3 examples/maximum/host.py 0 4     (NUMBER HOSTS [PIECES])

and the same on h1, h2, h3. It says "N elements verified", or what is wrong with the first one (exit status 1).
"""
import random
import select
import socket
import struct
import sys
import time

TYPE, VALUES, SLOTS = 0x88b5, 16, 8
AGAIN, GIVE_UP = 0.05, 20  # seconds
SWITCH = "s0"              # the interface has the name of the station at the other end


def values_of(host, piece):
    return [random.Random(f"{host}/{piece}/{i}").randrange(-2**31, 2**31) for i in range(VALUES)]


def main(number, hosts, pieces):
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(TYPE))
    wire.bind((SWITCH, TYPE))
    own = wire.getsockname()[4]
    head = b"\2\0\0\0\0\1" + own + TYPE.to_bytes(2, "big")
    pending = {slot: slot for slot in range(min(SLOTS, pieces))}  # slot: the piece that it is at
    due = dict.fromkeys(pending, 0.0)
    heard = time.monotonic()
    while pending:
        now = time.monotonic()
        if now - heard > GIVE_UP:
            sys.exit(f"host {number}: no result for {GIVE_UP} s")
        for slot, piece in pending.items():
            if due[slot] <= now:
                wire.send(head + struct.pack(f">BBHI{VALUES}i", 0, 0, slot, piece // SLOTS + 1, *values_of(number, piece)))
                due[slot] = now + AGAIN
        if not select.select([wire], [], [], max(0, min(due.values()) - now))[0]:
            continue
        frame = wire.recv(2000)
        is_result, _, slot, turn, *result = struct.unpack_from(f">BBHI{VALUES}i", frame, 14)
        piece = pending.get(slot)
        if not is_result or piece is None or turn != piece // SLOTS + 1:
            continue  # of an earlier round, or our own
        if result != [max(column) for column in zip(*(values_of(h, piece) for h in range(hosts)))]:
            sys.exit(f"host {number}: piece {piece} is wrong: {result}")
        heard = now
        pending[slot], due[slot] = piece + SLOTS, 0.0
        if piece + SLOTS >= pieces:
            del pending[slot], due[slot]
    print(f"{pieces * VALUES} elements verified")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 100)
