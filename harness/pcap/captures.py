# SPDX-License-Identifier: Apache-2.0
"""Captures made and read for tests, byte by byte where it matters what the file is like, and independently
of Silken's own readers and writers.

    python3 captures.py FILE EXPRESSION    prints it; 'p' is the list of Packets of a pcapng that Silken
                                           wrote, 's' its statistics of ports: port -> (packets, lost);
                                           'frames(CAPTURE)' the frames of a pcap
"""
import os
import struct
import subprocess
import sys
from collections import namedtuple

BUILD = os.environ.get("BUILD", "build")
NS = 1_000_000_000


def pcap(packets, nano=True, link=1, snaplen=65535, order="<"):
    """The bytes of a pcap of (time in ns, bytes[, length on the wire])."""
    parts = [struct.pack(order + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snaplen,
                         link)]
    for time, data, *wire in packets:
        parts += [struct.pack(order + "IIII", time // NS, time % NS // (1 if nano else 1000),
                              len(data), wire[0] if wire else len(data)), data]
    return b"".join(parts)  # once: to append to the bytes of so many packets takes minutes


def pcapng(packets):
    """The same as pcapng with one Ethernet interface of nanoseconds."""
    out = ng_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += ng_block(1, struct.pack("<HHI", 1, 0, 65535) + ng_option(9, b"\x09") + bytes(4))
    for time, data in packets:
        out += ng_block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data),
                                       len(data)) + data)
    return out


def ng_block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def ng_option(code, value, order="<"):
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(names, packets, order="<", link=1):
    """A section of a pcapng with interfaces of these names (or None) and of nanoseconds. Packets are
    (time in ns, bytes, number of the interface[, direction[, comment]])."""
    out = ng_block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    for name in names:
        named = ng_option(2, name.encode(), order) if name is not None else b""
        out += ng_block(1, struct.pack(order + "HHI", link, 0, 0) + named
                        + ng_option(9, b"\x09", order), order)
    for time, data, interface, *more in packets:
        body = struct.pack(order + "IIIII", interface, time >> 32, time & 0xFFFFFFFF, len(data),
                           len(data)) + data + bytes(-len(data) % 4)
        if more:
            body += ng_option(2, struct.pack(order + "I", more[0]), order)
        if more[1:]:
            body += ng_option(1, more[1].encode(), order)
        out += ng_block(6, body, order)
    return out


def read(path):
    """[(time in ns, bytes)] of a capture that `silken replay` wrote."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:24] == struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1), data[:24]
    at, out = 24, []
    while at < len(data):
        seconds, ns, length, wire = struct.unpack_from("<IIII", data, at)
        assert length == wire and at + 16 + length <= len(data)
        out.append((seconds * NS + ns, data[at + 16:at + 16 + length]))
        at += 16 + length
    return out


def frames(path):
    """The frames of a little-endian pcap, whoever wrote it."""
    with open(path, "rb") as f:
        data = f.read()
    at, out = 24, []
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        out.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return out


# Of a pcapng: 'time' in ns, 'direction' is in, out or note, 'wire' a length.
Packet = namedtuple("Packet", "port time direction data wire comment id lost")


def ng_options(body):
    at, found = 0, {}
    while at < len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            assert length == 0 and at + 4 == len(body), "options end where the block does"
            return found
        assert code not in found, "no option twice"
        found[code] = body[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    assert not found, "options have an end"
    return found


def read_ng(path):
    """The Packets of a pcapng that we wrote, and the statistics of its ports: {port: (packets, lost)}.
    Strict: little-endian, interfaces port-N of nanoseconds, and no blocks but those that we write."""
    with open(path, "rb") as f:
        data = f.read()
    at, ports, packets, stats = 0, [], [], {}
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        assert size % 4 == 0 and size >= 12
        assert struct.unpack_from("<I", data, at + size - 4) == (size,)
        body = data[at + 8:at + size - 4]
        at += size
        if kind == 0x0A0D0D0A:
            assert body[:8] == struct.pack("<IHH", 0x1A2B3C4D, 1, 0)
            ports = []
        elif kind == 1:
            o = ng_options(body[8:])
            assert body[:2] == b"\1\0" and o[9] == b"\x09"
            ports.append(int(o[2].decode().removeprefix("port-")))
        elif kind == 5:
            o = ng_options(body[12:])
            port = ports[struct.unpack_from("<I", body)[0]]
            stats[port] = (struct.unpack("<Q", o[4])[0], struct.unpack("<Q", o[5])[0])
        else:
            assert kind == 6, kind
            interface, high, low, length, wire = struct.unpack_from("<5I", body)
            o = ng_options(body[20 + (length + 3) // 4 * 4:])
            direction = {1: "in", 2: "out"}[struct.unpack("<I", o[2])[0] & 3] if 2 in o else "note"
            packets.append(Packet(ports[interface], high << 32 | low, direction, body[20:20 + length],
                                  wire, o.get(1, b"").decode(),
                                  struct.unpack("<Q", o[5])[0] if 5 in o else 0,
                                  struct.unpack("<Q", o[4])[0] if 4 in o else 0))
    return packets, stats


def replay(*arguments, **options):
    """Runs `silken replay`; returns what subprocess.run() does."""
    return subprocess.run([f"{BUILD}/silken", "replay", *map(str, arguments)], text=True,
                          capture_output=True, timeout=300, **options)


def explain(*arguments, text=True, **options):
    """Runs `silken explain`, without colours; returns what subprocess.run() does."""
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    return subprocess.run([f"{BUILD}/silken", "explain", *map(str, arguments)], text=text,
                          capture_output=True, timeout=600, env=env, **options)


if __name__ == "__main__":
    p, s = read_ng(sys.argv[1])
    print(eval(sys.argv[2]))
