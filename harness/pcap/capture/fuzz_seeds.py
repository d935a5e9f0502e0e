#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz_seeds.py FOLDER: what fuzz_capture begins with: captures of every kind, with and without entries
(the form is in fuzz_capture.c)."""
import gzip
import json
import os
import struct
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..")]
from captures import NS, ng_block, ng_option, pcap, section  # noqa: E402
from links import LINKS  # noqa: E402

T0 = 1_700_000_000 * NS
MAC = bytes.fromhex("020000000001020000000004")
FRAMES = [MAC + bytes.fromhex("0800") + bytes(46), MAC + bytes.fromhex("8100000a0800") + bytes(42),
          MAC + bytes.fromhex("0800450000280000000040110000") + bytes.fromhex("0a0000010a000002")
          + bytes(20), MAC + bytes.fromhex("86dd") + bytes(60), MAC + bytes.fromhex("88aa") + bytes(99)]
TIMES = [T0 + 1000 * i for i in range(4)] + [T0, T0 + 3600 * NS]


def captures():
    packets = [(TIMES[i % len(TIMES)], frame) for i, frame in enumerate(FRAMES * 2)]
    yield pcap(packets)
    yield pcap(packets, nano=False, order=">")
    yield pcap([(T0, FRAMES[0], 999), (2**32 * NS - 1, FRAMES[1])])
    named = [(t, f, i % 3, i % 4, "a comment") for i, (t, f) in enumerate(packets)]
    yield section(["port-1", "port-2", None], named)
    yield section(["port-3", "x", "port-1"], named, ">") + section(["port-2"], [], "<")
    interface = ng_block(1, struct.pack("<HHI", 1, 0, 60) + ng_option(9, b"\x8a")
                         + ng_option(14, struct.pack("<q", 10**9)) + ng_option(13, b"\4"))
    yield (section([], []) + interface + ng_block(3, struct.pack("<I", 60) + FRAMES[0])
           + ng_block(2, struct.pack("<HHIIII", 0, 0, 1, 2, 60, 60) + FRAMES[0]
                      + ng_option(2, b"\1\0\0\0"))
           + ng_block(77, bytes(100)))
    yield gzip.compress(pcap(packets))
    ip = [(t, frame[14:]) for t, frame in packets]
    for link, head in ((101, b""), (0, bytes(4)), (113, bytes(4) + b"\0\6" + MAC[:8] + b"\x08\0"),
                       (276, b"\x86\xdd" + bytes(9) + b"\6" + MAC[:8])):
        yield pcap([(t, head + b"\x45" + packet[1:]) for t, packet in ip], link=link)
        yield section(["port-1"], [(t, head + b"\x65" + packet[1:], 0) for t, packet in ip], link=link)
    for link in sorted({link for link, _, _ in LINKS}):
        of = [packet for one, packet, _ in LINKS if one == link]
        yield pcap([(T0 + i, packet) for i, packet in enumerate(of)], link=link)


def main(folder):
    configs = [b"", json.dumps({"pktgen": [
        {"pipe": 0, "app": 0, "trigger": "periodic", "length": 60, "timer": 10**6}],
        "queues": [{"port": 2, "speed": 1000}]}).encode()]
    with open("harness/control/everything.json", "rb") as f:
        configs.append(f.read())
    for i, capture in enumerate(captures()):
        for k, config in enumerate(configs):
            for how in (0, 0x95, 0x22, 0xC3, 4, 0x11):
                with open(f"{folder}/seed-{i}-{k}-{how}", "wb") as f:
                    f.write(struct.pack("<BH", how, len(config)) + config + capture)


if __name__ == "__main__":
    main(sys.argv[1])
