# SPDX-License-Identifier: Apache-2.0
"""links: a packet of each link type that pcap/capture takes Ethernet frames from, written from the descriptions at
tcpdump.org, and the frame; and packets that carry neither Ethernet nor IP."""
import struct

DST, SRC = bytes.fromhex("020000000002"), bytes.fromhex("020000000001")
NONE = bytes(6)


def ip(number):
    """A UDP packet whose identification is 'number'."""
    body = struct.pack(">HHHH", 7, 9, 8 + 20, 0) + bytes(range(20))
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), number, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                       bytes([10, 0, 0, 2]))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    return head[:10] + struct.pack(">H", ~total & 0xffff) + head[12:] + body


def ip6(number):
    return struct.pack(">IHBB", 0x60000000 | number, 8 + 20, 17, 64) + bytes(15) + b"\x01" + bytes(15) + b"\x02" \
        + struct.pack(">HHHH", 7, 9, 8 + 20, 1) + bytes(20)


def ether(payload, kind=0x0800, dst=DST, src=SRC):
    return dst + src + struct.pack(">H", kind) + payload


def bare(payload, kind=0x0800):
    return ether(payload, kind, NONE, NONE)


def snap(payload, kind=0x0800):
    return b"\xaa\xaa\x03\0\0\0" + struct.pack(">H", kind) + payload


def radiotap(flags):
    return struct.pack("<BBHIQB", 0, 0, 17, 3, 1000, flags)


def wifi(control, addresses, rest, sequence=0):
    return control + b"\0\0" + b"".join(addresses[:3]) + struct.pack("<H", sequence << 4) + b"".join(addresses[3:]) + rest


AP = bytes.fromhex("02000000000a")
DATA = snap(ip(1))
FCS = b"\x11\x22\x33\x44"


def value(kind, data):
    return struct.pack("<HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


# (link type, packet, the frame, or a part of why it is none)
LINKS = [
    (0, b"\2\0\0\0" + ip(2), bare(ip(2))),
    (1, ether(ip(3)), ether(ip(3))),
    (6, b"\x10\x40" + DST + SRC + snap(ip(4)), ether(ip(4))),
    (6, b"\x10\x40" + DST + bytes([SRC[0] | 0x80]) + SRC[1:] + b"\x06\x30\0\x11\0\x20" + snap(ip(5)), ether(ip(5))),
    (6, b"\x10\x00" + DST + SRC + b"\0\0\0\0", "no LLC"),
    (8, b"\1\x45" + bytes(14) + ip(6), bare(ip(6))),
    (9, b"\xff\3\0\x21" + ip(7), bare(ip(7))),
    (9, b"\0\x57" + ip6(7), bare(ip6(7), 0x86dd)),
    (9, b"\x0f\0\x08\0" + ip(8), bare(ip(8))),
    (9, b"\xff\3\xc0\x21\1\1\0\4", "PPP's protocol 0xc021"),
    (10, b"\x50" + DST + SRC + snap(ip(9)), ether(ip(9))),
    (10, b"\x41" + DST + SRC + b"\0\0\0\0", "no LLC"),
    (50, b"\xff\3\0\x21" + ip(10), bare(ip(10))),
    (50, b"\x8f\0\x08\0" + ip(11), bare(ip(11))),
    (51, b"\x11\0\0\1" + struct.pack(">H", 2 + len(ip(12))) + b"\0\x21" + ip(12),
     bare(b"\x11\0\0\1" + struct.pack(">H", 2 + len(ip(12))) + b"\0\x21" + ip(12), 0x8864)),
    (100, snap(ip(13)), bare(ip(13))),
    (101, ip(14), bare(ip(14))),
    (101, ip6(14), bare(ip6(14), 0x86dd)),
    (104, b"\x0f\0\x08\0" + ip(15), bare(ip(15))),
    (104, b"\x8f\0\x80\x35" + bytes(14), "HDLC's protocol 0x8035"),
    (105, wifi(b"\x08\x01", [AP, SRC, DST], snap(ip(16))), ether(ip(16))),
    (105, wifi(b"\x08\x02", [DST, AP, SRC], snap(ip(17))), ether(ip(17))),
    (105, wifi(b"\x08\x00", [DST, SRC, AP], snap(ip(18))), ether(ip(18))),
    (105, wifi(b"\x08\x03", [AP, AP, DST, SRC], snap(ip(19))), ether(ip(19))),
    (105, wifi(b"\x88\x01", [AP, SRC, DST], b"\0\0" + snap(ip(20))), ether(ip(20))),
    (105, wifi(b"\x88\x81", [AP, SRC, DST], bytes(6) + snap(ip(21))), ether(ip(21))),
    (105, wifi(b"\x80\0", [b"\xff" * 6, AP, AP], bytes(12)), "without data (type 0, 8)"),
    (105, wifi(b"\x48\x01", [AP, SRC, DST], b""), "without data (type 2, 4)"),
    (105, wifi(b"\x08\x41", [AP, SRC, DST], bytes(40)), "encrypted"),
    (105, wifi(b"\x08\x05", [AP, SRC, DST], snap(b"")), "fragment"),
    (105, wifi(b"\x88\x01", [AP, SRC, DST], b"\x80\0" + bytes(30)), "A-MSDU"),
    (105, b"\x08\x01\0\0", "ends within its header"),
    (106, ip(22), bare(ip(22))),
    (106, snap(ip(23)), bare(ip(23))),
    (107, b"\x18\x41\x03\xcc" + ip(24), bare(ip(24))),
    (107, b"\x18\x41\x03\x8e" + ip6(24), bare(ip6(24), 0x86dd)),
    (107, b"\x18\x41\x03\0\x80\0\0\0\x08\0" + ip(25), bare(ip(25))),
    (107, b"\x18\x41\x03\0\x80\0\x80\xc2\0\7" + ether(ip(26)), ether(ip(26))),
    (107, b"\x18\x41\x08\0" + ip(27), bare(ip(27))),
    (107, b"\x00\x01\x03\x08\0\x75", "NLPID is 0x08"),
    (108, b"\0\0\0\2" + ip(28), bare(ip(28))),
    (109, struct.pack("<I", 2) + bytes(8) + ip(29), bare(ip(29))),
    (113, b"\0\0\0\1\0\6" + SRC + b"\0\0\x08\0" + ip(30), ether(ip(30), dst=NONE)),
    (113, b"\0\0\3\x0a\0\4" + bytes(8) + b"\x86\xdd" + ip6(31), bare(ip6(31), 0x86dd)),
    (113, b"\0\0\3\x38\0\0" + bytes(10) + b"data", "hardware type is 824"),
    (117, struct.pack(">BBBB", 61, 2, 0, 0) + b"eth0" + bytes(56) + ip(32), bare(ip(32))),
    (119, struct.pack("<II", 0x44, 144) + bytes(136) + wifi(b"\x08\x01", [AP, SRC, DST], snap(ip(33))), ether(ip(33))),
    (122, b"\0\0" + DST + b"\0\0" + SRC + snap(ip(34)), ether(ip(34))),
    (123, b"\2\0\0\x20" + snap(ip(35)), bare(ip(35))),
    (123, b"\1\0\0\x20\0\1" + ether(ip(36)), ether(ip(36))),
    (127, radiotap(0) + wifi(b"\x08\x01", [AP, SRC, DST], snap(ip(37))), ether(ip(37))),
    (127, radiotap(0x10) + wifi(b"\x08\x01", [AP, SRC, DST], snap(ip(38)) + FCS), ether(ip(38))),
    (127, radiotap(0x20) + wifi(b"\x88\x01", [AP, SRC, DST], b"\0\0\0\0" + snap(ip(39))), ether(ip(39))),
    (127, radiotap(0x50) + wifi(b"\x08\x01", [AP, SRC, DST], snap(ip(40)) + FCS), "got wrong"),
    (138, bytes(16) + b"\x08\0" + ip(41), bare(ip(41))),
    (163, struct.pack(">II", 0x80211001, 64) + bytes(56) + wifi(b"\x08\x01", [AP, SRC, DST], snap(ip(42))), ether(ip(42))),
    (166, b"\1\3\0\x21" + ip(43), bare(ip(43))),
    (178, b"MGC\0" + ether(ip(44)), ether(ip(44))),
    (178, b"MGC\x80\0\6\1\1\0\2\1\0" + ether(ip(45)), ether(ip(45))),
    (182, b"\xc0\1\x18\x41\x03\xcc" + ip(46), bare(ip(46))),
    (182, b"\x80\1\x18\x41\x03\xcc" + ip(46)[:20], "fragment of a frame relay bundle"),
    (192, b"\0\0\x0a\0\1\0\0\0ab" + ether(ip(47)), ether(ip(47))),
    (197, bytes(8) + struct.pack(">BBHHH", 2, 4, 18 + len(ether(ip(48)) + FCS), 0, len(ether(ip(48)) + FCS)) + b"\0\0"
     + ether(ip(48)) + FCS, ether(ip(48))),
    (204, b"\1\xff\3\0\x21" + ip(49), bare(ip(49))),
    (205, b"\1\x0f\0\x08\0" + ip(50), bare(ip(50))),
    (206, b"\1\x18\x41\x03\xcc" + ip(51), bare(ip(51))),
    (219, b"\0\1\x01\x40" + ip(52), bare(b"\0\1\x01\x40" + ip(52), 0x8847)),
    (226, b"\1\2\0\4" + struct.pack(">IIIII", len(ip(53)), 1, 2, 0, 0) + ip(53), bare(ip(53))),
    (228, ip(54), bare(ip(54))),
    (229, ip6(54), bare(ip6(54), 0x86dd)),
    (239, b"\2\0\0\0" + value(1, b"\x08\0\1\0") + value(9, ip(55)), bare(ip(55))),
    (239, b"\2\0\0\0" + value(10, b"prefix\0") + value(9, ip(56)), bare(ip(56))),
    (240, bytes(4) + ether(ip(57)) + FCS, ether(ip(57))),
    (242, bytes(40) + b"\x08\0\0\0" + ip(58), bare(ip(58))),
    (258, struct.pack("<III", 108, 1, 1) + bytes(96) + ether(ip(59)), ether(ip(59))),
    (274, b"\x55" * 7 + b"\xd5" + ether(ip(60)) + FCS, ether(ip(60))),
    (274, b"\x55" * 6 + b"\x61\x52" + ether(ip(60)), "perhaps a fragment"),
    (276, b"\x08\0\0\0\0\0\0\1\0\1\0\6" + SRC + b"\0\0" + ip(61), ether(ip(61), dst=NONE)),
    (281, DST + SRC + b"\x20\0\0\1\x08\0" + ip(62), ether(ip(62))),
    (282, b"\x20\0\0\1" + ether(ip(63)), ether(ip(63))),
    (284, DST + SRC + b"\xc0\x08\0\1\x08\0" + ip(64), ether(ip(64))),
    (284, DST + SRC + b"\xe0\x08\x60\x07\x08\0" + ip(65), ether(b"\x60\x07\x08\0" + ip(65), 0x8100)),
    (285, DST + SRC + b"\xda\xda\0\0\xc0\x08\0\1\x08\0" + ip(66), ether(ip(66))),
    (285, DST + SRC + b"\x08\0" + ip(67), "no EDSA tag"),
]
# What tshark does not take apart, as Debian 12 configures it: tcpdump does (and 106 with LLC); neither knows the last ones.
TCPDUMPS = {8, 106, 166, 182, 192, 240, 281, 282, 284, 285}
NOBODYS = {205, 206, 219, 274}
