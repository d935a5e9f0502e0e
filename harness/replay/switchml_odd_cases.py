# SPDX-License-Identifier: Apache-2.0
"""Captures of what is not summed at a SwitchML switch: ordinary traffic, and packets not to trust."""
import struct

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether

from suite import case
from elements import vector
from switchml_model import HEADERS, ones_sum
from switchml_net import PROGRAM, SWITCH_IP, SWITCH_MAC, Job, Net, ip, mac


def complete(net, job, slot=3, version=0, elements=64, seed=60):
    """A slot that nothing has touched still gives the sum of its workers' parts and no more."""
    for w in range(len(job.ports)):
        net.send(job, w, slot, version, vector(seed + w, elements))


def changed(frame, at, *values):
    """The frame with bytes replaced, and the IPv4 header checksum made right again."""
    out = bytearray(frame)
    out[at:at + len(values)] = values
    out[24:26] = b"\0\0"
    out[24:26] = struct.pack(">H", ones_sum(bytes(out[14:34])) ^ 0xFFFF)
    return bytes(out)


def with_lengths(frame, ip_length, udp_length):
    out = changed(frame, 16, ip_length >> 8, ip_length & 255)
    return out[:38] + struct.pack(">H", udp_length) + out[40:]


@case("switchml/bad_checksum", PROGRAM)
def bad_checksum(c):
    """An IPv4 header with one bit flipped is one of another length, sender or kind, or it is taken and
    counted: by worker, in the pipe of its port. The UDP checksum is not looked at."""
    job = Job(7, [0, 1, 130])
    net = Net(c, [job])
    for w, version in ((0, 0), (0, 1), (2, 0), (2, 1)):
        good = job.packet(w, 3, version, vector(1, 64))
        for at, bit in ((15, 0), (18, 7), (19, 0), (22, 4), (24, 6), (25, 0), (30, 0), (33, 7)):
            frame = bytearray(good)
            frame[at] ^= 1 << bit
            if w == 0 and version == 0 or at in (24, 33):
                net.receive(job.ports[w], frame)
    net.send(job, 1, 3, 0, vector(61, 64))
    udp = bytearray(job.packet(0, 3, 0, vector(60, 64)))
    udp[40:42] = b"\xba\xad"
    net.receive(0, udp)
    net.send(job, 2, 3, 0, vector(62, 64))


@case("switchml/lengths", PROGRAM)
def lengths(c):
    """IPv4 and UDP lengths must be exactly what the number of elements asks for, and the size one of
    the four."""
    job = Job(7, [0, 1, 130])
    net = Net(c, [job])
    for size, elements in enumerate((32, 64, 128, 256)):
        good = job.packet(0, 3, 0, vector(size, elements)) + bytes(8)
        right = 38 + 4 * elements
        for ip_length, udp_length in ((right + 1, right - 20), (right - 1, right - 20),
                                      (right, right - 19), (right, right - 21), (right + 4, right - 16),
                                      (right + 128, right + 108)):
            net.receive(0, with_lengths(good, ip_length, udp_length))
    for w, version in ((0, 1), (2, 0), (2, 1)):
        net.receive(job.ports[w], with_lengths(job.packet(w, 3, version, vector(1, 64)), 295, 274))
    for elements in (32, 64, 128, 256):
        good = job.packet(0, 3, 0, vector(7, elements))
        for claimed in range(8):
            frame = bytearray(good + bytes(1100))
            frame[42] = 0x10 | claimed
            if claimed != {32: 0, 64: 1, 128: 2, 256: 3}[elements]:
                net.receive(0, frame[:1200])
    complete(net, job)


@case("switchml/unknown_senders", PROGRAM)
def unknown_senders(c):
    """A job, an address or a port that does not belong to the sender: not admitted. Wrong in several
    ways, the length counts before the sender, the sender before the slot; a wrong checksum counts for
    admitted packets only."""
    job, other = Job(7, [0, 1, 2]), Job(8, [4, 5], 10, 101, 16)
    net = Net(c, [job, other])
    good = job.packet(0, 3, 0, vector(1, 64))
    net.receive(0, Job(99, [0]).packet(0, 3, 0, vector(1, 64)))
    net.receive(0, other.packet(0, 3, 0, vector(1, 64)))
    net.receive(1, good)
    net.receive(7, good)
    net.receive(128, good)
    net.receive(0, changed(good, 29, 77))
    net.receive(0, Job(99, [0]).packet(0, 3, 1, vector(1, 64)))
    net.receive(130, Job(99, [0]).packet(0, 3, 1, vector(1, 64)))
    net.receive(0, changed(good, 26, 11))
    outside = changed(Job(99, [0]).packet(0, 0x7F00, 0, vector(1, 64)), 17, 0x25)
    net.receive(0, outside[:24] + b"\x12\x34" + outside[26:])
    net.receive(0, outside)
    net.receive(0, Job(99, [0]).packet(0, 0x7F00, 0, vector(1, 64)))
    net.receive(0, job.packet(0, 0x7F00, 0, vector(1, 64)))
    net.receive(385, Job(99, [0]).packet(0, 0x7F00, 0, vector(1, 64)))
    complete(net, job)
    complete(net, other, 3)


@case("switchml/truncated", PROGRAM)
def truncated(c):
    """Packets that end in a header or before their last element. (Those that lack one to four bytes
    only are left out: a parser can read the frame check sequence.)"""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    for elements, step in ((32, 17), (64, 37), (128, 61)):
        whole = job.packet(0, 3, 0, vector(9, elements))
        for length in range(42, min(len(whole) - 4, HEADERS + 4 * 64 - 4), step):
            net.receive(0, whole[:length])
    for length in (14, 15, 20, 29, 34, 37):
        net.receive(0, job.packet(0, 3, 0, vector(9, 64))[:length])
    complete(net, job)


@case("switchml/taken_in_pieces", PROGRAM)
def taken_in_pieces(c):
    """A large packet of which the end is missing: the pipes that got their elements have added them; the
    whole packet, sent again, adds the rest and nothing twice."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    v = [vector(w, 256) for w in range(3)]
    for slot, length in enumerate((64, 100, 128, 150, 192, 250)):
        whole = job.packet(0, slot, 0, v[0], exponents=(slot, -slot))
        net.receive(0, whole[:HEADERS + 4 * length])
        net.send(job, 1, slot, 0, v[1])
        net.receive(0, whole)
        net.receive(0, whole)
        net.send(job, 2, slot, 0, v[2])
        net.send(job, 1, slot, 0, v[1])
    w = [vector(w, 128) for w in range(3)]
    net.receive(0, job.packet(0, 9, 1, w[0])[:HEADERS + 4 * 64])
    phase = (1, 2, 0, 1)
    for worker in phase:
        net.send(job, worker, 9, 1, w[worker])


@case("switchml/padding", PROGRAM)
def padding(c):
    """Bytes behind the IPv4 packet are not summed, and stay behind the result."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    for slot, elements in enumerate((32, 64, 128, 256)):
        for w in range(3):
            net.receive(job.ports[w], job.packet(w, slot, 0, vector(w, elements)) + b"\xAA" * (7 * w))
        net.receive(0, job.packet(0, slot, 0, vector(0, elements)) + b"\xBB" * 5)


@case("switchml/header_fields", PROGRAM)
def header_fields(c):
    """What a result takes over from the packet that completed the slot and what it does not: type of
    service, identification, the bit against fragments, chunk number and message type stay, lifetime,
    addresses, ports and checksums are the switch's; the destination port may be any of sixteen."""
    job = Job(7, [0, 1])
    net = Net(c, [job])
    for slot in range(16):
        net.send(job, 0, slot, 0, vector(slot, 32))
        fields = {"tos": 17 * slot & 0xFF, "id": 4369 * slot & 0xFFFF, "ttl": 1 + 15 * slot,
                  "flags": "DF" if slot % 2 else 0}
        frame = bytearray(job.packet(1, slot, 0, vector(slot, 32), tsi=0xF0E1D2C3 + slot, **fields))
        frame[36:38] = struct.pack(">H", 0xBEE0 + slot)
        frame[42] = slot % 12 << 4 | (slot & 1) << 3  # from 12 on they are collective operations
        frame[0:6] = bytes([2, 0, 0, 0, 0xFE, slot])
        net.receive(1, changed(frame, 30, 10, 1, slot, 254))


@case("switchml/worker_bits", PROGRAM)
def worker_bits(c):
    """Any bit can be a worker's: bits 31, 0 and 16; replication ids up to the last, 1023; a port of the
    first pipe behind its 64 ordinary ones."""
    job = Job(7, [3, 10, 66], first_rid=1021, hosts=[1, 2, 3], bits=[31, 0, 16])
    net = Net(c, [job])
    for p in range(3):
        for w in ((p + i) % 3 for i in range(3)):
            net.send(job, w, 1, p % 2, vector(10 * p + w, 64))
            net.send(job, w, 1, p % 2, vector(10 * p + w, 64))


@case("switchml/no_receiver", PROGRAM)
def no_receiver(c):
    """A worker without an entry in receivers gets no result; the others do."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job], silent=[2])
    complete(net, job)
    net.send(job, 1, 3, 0, vector(61, 64))
    net.send(job, 2, 3, 0, vector(62, 64))


@case("switchml/ordinary_traffic", PROGRAM)
def ordinary_traffic(c):
    """Frames for known addresses go there as they are: ARP, IPv4, IPv6, VLANs, jumbo frames, runts."""
    job = Job(7, [0, 1, 130])
    net = Net(c, [job])
    to = {w: Ether(dst=mac(w + 1), src=mac(1)) for w in range(3)}
    net.receive(0, to[1] / ARP(op="is-at", hwsrc=mac(1), psrc=ip(1), hwdst=mac(2), pdst=ip(2)))
    net.receive(0, to[2] / IP(src=ip(1), dst=ip(3)) / ICMP() / b"ping")
    net.receive(0, to[2] / IPv6(src="fd00::1", dst="fd00::3") / UDP(sport=1, dport=0xBEE0) / b"six")
    net.receive(0, to[1] / Dot1Q(vlan=5) / IP(src=ip(1), dst=ip(2)) / UDP(dport=0xBEE0) / b"tagged")
    net.receive(0, to[1] / IP(src=ip(1), dst=ip(2)) / TCP(sport=1, dport=0xBEE0) / bytes(300))
    for body in (b"", b"\x01", bytes(46), bytes(range(256)) * 35):
        net.receive(130, bytes.fromhex("020000000001020000000003") + b"\x88\xb5" + body)
    net.receive(1, Ether(dst=mac(2), src=mac(2)) / IP(src=ip(2), dst=ip(2)) / b"to itself")


@case("switchml/flooding", PROGRAM)
def flooding(c):
    """Unknown and broadcast addresses go to all ports of the flood group but the one they came from."""
    job = Job(7, [0, 1, 130, 385])
    net = Net(c, [job])
    for port, dst in ((0, "ff:ff:ff:ff:ff:ff"), (130, "02:00:00:00:00:77"), (385, "33:33:00:00:00:01"),
                      (1, "01:00:5e:00:00:05"), (9, "ff:ff:ff:ff:ff:ff"), (3, "02:00:00:00:01:01")):
        net.receive(port, Ether(dst=dst, src=mac(200)) / IP(src=ip(200), dst=ip(9)) / UDP() / b"all")


@case("switchml/nobody_to_flood_to", PROGRAM)
def nobody_to_flood_to(c):
    """Without a flood group, unknown addresses are dropped, and known ones are not."""
    job = Job(7, [0, 1])
    net = Net(c, [job], flood=False)
    net.receive(0, Ether(dst="ff:ff:ff:ff:ff:ff", src=mac(1)) / ARP(pdst=ip(2)))
    net.receive(0, Ether(dst=mac(2), src=mac(1)) / ARP(pdst=ip(2)))
    net.receive(0, Ether(dst=mac(3), src=mac(1)) / b"nobody")
    # a switch's own address is no exception: only SwitchML packets are looked into
    net.receive(0, Ether(dst=SWITCH_MAC, src=mac(1)) / IP(src=ip(1), dst=SWITCH_IP) / ICMP())


@case("switchml/ports_of_udp", PROGRAM)
def ports_of_udp(c):
    """Ports 0xbee0 to 0xbeef are the switch's; those beside them, and others that differ in one bit, are
    ordinary traffic."""
    job = Job(7, [0, 1])
    net = Net(c, [job])
    good = bytearray(job.packet(0, 3, 0, vector(1, 32)))
    good[0:6] = bytes.fromhex(mac(2).replace(":", ""))
    for port in (0xBEDF, 0xBEF0, 0xBEE0, 0xBEEF, 0xBEE7, 53, *(0xBEE0 ^ 1 << b for b in range(4, 16))):
        good[36:38] = struct.pack(">H", port)
        net.receive(0, good)
    net.send(job, 1, 3, 0, vector(2, 32))


@case("switchml/kinds_of_ip", PROGRAM)
def kinds_of_ip(c):
    """IPv4 with options, fragments, other versions and other protocols are ordinary traffic, whatever
    is in them; the bit against fragments does not matter."""
    job = Job(7, [0, 1])
    net = Net(c, [job])
    good = bytearray(job.packet(0, 3, 0, vector(1, 32)))
    good[0:6] = bytes.fromhex(mac(2).replace(":", ""))
    for at, value in ((14, 0x46), (14, 0x44), (14, 0x55), (14, 0x65), (14, 0x4F), (20, 0x20), (20, 0x80),
                      (20, 0x60), (21, 1), (20, 0x10), (20, 1), (23, 6), (23, 16), (23, 18), (23, 1),
                      (23, 0x91)):
        net.receive(0, changed(good, at, value))
    for kind in (0x0801, 0x0806, 0x0900, 0x0880, 0x8800, 0x86DD):
        net.receive(0, bytes(good[:12]) + struct.pack(">H", kind) + bytes(good[14:]))
    net.receive(0, changed(good, 20, 0x40))
    net.send(job, 1, 3, 0, vector(2, 32))
    options = Ether(dst=mac(2), src=mac(1)) / IP(src=ip(1), dst=ip(2), options=b"\x01\x01\x01\x00") / \
        UDP(sport=1, dport=0xBEE0) / b"data"
    net.receive(0, options)


@case("switchml/forged_bridge", PROGRAM)
def forged_bridge(c):
    """A packet that begins like the switch's own header between two passes is an Ethernet frame to
    unknown at any port from outside."""
    job = Job(7, [0, 1, 63])
    net = Net(c, [job])
    whole = job.packet(0, 3, 0, vector(5, 64))
    for op in range(10):
        bridge = struct.pack(">BBBBHHHHHI", op, op & 1, 2, 0, 3, 100, 0, 1, 0, 1)
        net.receive(op % 2, bridge + whole)
    net.receive(63, bytes([3, 0, 3, 0]) + bytes(12) + whole)
    complete(net, job)
