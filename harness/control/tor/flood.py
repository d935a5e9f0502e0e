#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sends frames from addresses that nobody has seen before, until it is ended; then prints how many.

    flood.py INTERFACE TO new|colliding|known RATE [TURN]     RATE: frames a second; 0: as fast as it can

"known" is harmless, to compare with: one address. Each TURN has other new addresses.
"colliding": VLAN 10's addresses whose hash was the same in its lower BITS bits as long as the tables' hash had no
secret (stages/table_impl.h: sk_hash_word with nothing but SK_HASH_FACTOR), again and again."""
import signal
import socket
import sys
import time

BITS, COLLIDING, VID, BATCH = 12, 1000, 10, 50
FACTOR, FIRST = 0xe7037ed1a0b428db, 0xa0761d6478bd642f


def colliding():
    """COLLIDING addresses, locally administered: the VLAN and the address are one word of the key."""
    found, address = [], 0x020000000000
    while len(found) < COLLIDING:
        address += 1
        product = ((VID << 48 | address) ^ FIRST) * FACTOR
        if not (product ^ product >> 64) & ((1 << BITS) - 1):
            found.append(address)
    return found


def new(turn):
    address = 0x060000000000 + (turn << 28)
    while True:
        address += 1
        yield address


def again(addresses):
    while True:
        yield from addresses


def main():
    interface, kind, rate = sys.argv[1], sys.argv[3], float(sys.argv[4])
    to = bytes.fromhex(sys.argv[2].replace(":", ""))
    ended, sent = [], 0
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    turn = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    source = new(turn) if kind == "new" else again(colliding() if kind == "colliding" else [0x02000000fffe])
    end = b"\x88\xb5" + bytes(46)  # IEEE 802's type for experiments
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((interface, 0))
        print("begins", flush=True)
        begun = time.monotonic()
        while not ended:
            for _ in range(BATCH):
                try:
                    s.send(to + next(source).to_bytes(6, "big") + end)
                    sent += 1
                except OSError:  # the interface's queue is full
                    time.sleep(0.001)
            ahead = sent / rate - (time.monotonic() - begun) if rate else 0
            if ahead > 0:
                time.sleep(ahead)
    print(sent, flush=True)


if __name__ == "__main__":
    main()
