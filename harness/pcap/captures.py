# SPDX-License-Identifier: Apache-2.0
"""Captures made and read for tests, byte by byte where it matters what the file is like."""
import os
import struct
import subprocess

BUILD = os.environ.get("BUILD", "build")
NS = 1_000_000_000


def pcap(packets, nano=True, link=1, snaplen=65535, order="<"):
    """The bytes of a pcap of (time in ns, bytes[, length on the wire])."""
    out = struct.pack(order + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snaplen,
                      link)
    for time, data, *wire in packets:
        out += struct.pack(order + "IIII", time // NS, time % NS // (1 if nano else 1000),
                           len(data), wire[0] if wire else len(data)) + data
    return out


def pcapng(packets):
    """The same as pcapng with one Ethernet interface of nanoseconds."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + size + body + size
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", 1, 0, 65535) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0))
    for time, data in packets:
        out += block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data),
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


def read_ng(path):
    """[(time in ns, bytes, name of the interface, direction)] of a pcapng that we wrote: little-endian,
    one section, nanoseconds."""
    with open(path, "rb") as f:
        data = f.read()
    at, names, out = 0, [], []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + size - 4]
        assert struct.unpack_from("<I", data, at + size - 4) == (size,)
        at += size
        if kind == 1:
            assert body[:2] == b"\1\0" and body[8:10] == b"\2\0" and b"\x09\0\1\0\x09" in body
            names.append(body[12:12 + body[10]].decode())
        elif kind == 6:
            interface, high, low, length, wire = struct.unpack_from("<IIIII", body)
            assert length == wire
            options = body[20 + (length + 3) // 4 * 4:]
            direction = 0
            while options and options[0]:
                code, size = struct.unpack_from("<HH", options)
                if code == 2:
                    direction = options[4] & 3
                options = options[4 + (size + 3) // 4 * 4:]
            out.append((high << 32 | low, body[20:20 + length], names[interface], direction))
    return out


def replay(*arguments, **options):
    """Runs `silken replay`; returns what subprocess.run() does."""
    return subprocess.run([f"{BUILD}/silken", "replay", *map(str, arguments)], text=True,
                          capture_output=True, timeout=300, **options)
