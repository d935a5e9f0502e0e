# SPDX-License-Identifier: Apache-2.0
"""Captures through small programs: tables, headers, checksums, hashes and registers."""
import struct
import zlib

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN

from suite import case

L2 = "p4/l2/l2.p4"
INGRESS = "drop_ctl in ingress"
CONSUMED = "consumed in ingress"
PARSER = "parser error"


def program(name):
    return f"harness/replay/programs/{name}.p4"


def mac(n):
    return f"02:00:00:00:00:{n:02x}"


def entry(table, key, action, priority=None, **args):
    out = {"table": table, "key": key, "action": action, "args": args}
    return out if priority is None else {**out, "priority": priority}


# ---- consumed: what programs take in is not lost

@case("consumed/reasons", program("consumed"))
def consumed(c):
    """Dropped behind an action that takes packets in, and by others: the reason tells which. Without a drop the
    packet leaves as any other; a copy for the processor leaves, and nothing is dropped then."""
    for n, into in enumerate((4, 150)):
        def frame(kind, last=9):
            return bytes(Ether(dst=mac(7), src=mac(last), type=kind)) + bytes([n])
        for kind in (0x8800, 0x8803):
            c.receive(into, frame(kind))
            c.sends(7, frame(kind))
        c.receive(into, frame(0x8804))
        c.sends(64, frame(0x8804))
        c.receive(into, frame(0x8801))
        c.drops(INGRESS, received=into, table="pipe.Ingress.fates", action="pipe.Ingress.discard")
        for kind, action in ((0x8802, "take"), (0x8805, "take_all")):
            c.receive(into, frame(kind))
            c.drops(CONSUMED, received=into, table="pipe.Ingress.fates", action=f"pipe.Ingress.{action}")
        c.receive(into, frame(0x8806))
        c.drops(CONSUMED, received=into)
        c.receive(into, frame(0x8803, 0xEE))
        c.drops(CONSUMED, received=into, table="pipe.Ingress.fates", action="pipe.Ingress.note")
        c.receive(into, frame(0x8800, 0xEE))
        c.drops(INGRESS, received=into)


# ---- l2: an Ethernet switch

def l2_entries():
    return [entry("forward", {"dst_addr": mac(n)}, "send", port=n) for n in (1, 2, 3)] + \
        [entry("forward", {"dst_addr": mac(0x82)}, "send", port=130),
         entry("forward", {"dst_addr": mac(0xFF)}, "drop")]


@case("l2/known_addresses", L2)
def known_addresses(c):
    """Frames for known addresses leave at their ports, in this pipe and another; one address is
    blocked."""
    c.config = {"entries": l2_entries()}
    for n, port in ((1, 1), (2, 2), (3, 3), (0x82, 130)):
        frame = Ether(dst=mac(n), src=mac(9)) / IP(src="10.0.0.9", dst=f"10.0.0.{n}") / ICMP() / bytes(n)
        for into in (4, 150):
            c.receive(into, frame)
            c.sends(port, frame)
    c.receive(4, Ether(dst=mac(0xFF), src=mac(9)) / b"blocked")
    c.drops(INGRESS, received=4, table="pipe.Ingress.forward", action="pipe.Ingress.drop")
    # Ethernet, IPv4 and ICMP have 42 bytes; the check sequence counts
    c.state = {"counters": [
        *({"name": "pipe.Ingress.sent", "pipe": pipe, "key": {"hdr.ethernet.dst_addr": mac(n)},
           "packets": 1, "bytes": 42 + n + 4} for n in (1, 2, 3, 0x82) for pipe in (0, 1)),
        {"name": "pipe.Ingress.sent", "pipe": 0, "key": {"hdr.ethernet.dst_addr": mac(0xFF)},
         "packets": 1, "bytes": 14 + 7 + 4}]}


@case("l2/flooding", L2)
def flooding(c):
    """Unknown and broadcast addresses go to every member of the group but the port they came from."""
    c.crosses = True
    ports = (1, 2, 3, 130)
    c.config = {"entries": l2_entries(),
                "multicast": {"nodes": [{"id": p, "rid": 0, "ports": [p]} for p in ports],
                              "groups": [{"id": 1, "nodes": [{"node": p, "xid": p} for p in ports]}]}}
    for dst, into in (("ff:ff:ff:ff:ff:ff", 1), (mac(0x77), 130), ("33:33:00:00:00:01", 2),
                      ("ff:ff:ff:ff:ff:ff", 9)):
        frame = Ether(dst=dst, src=mac(9)) / ARP(psrc="10.0.0.9", pdst="10.0.0.1")
        c.receive(into, frame)
        for p in ports:
            if p != into:
                c.sends(p, frame)


@case("l2/sizes", L2)
def sizes(c):
    """From an empty Ethernet frame to a jumbo frame, as they are."""
    c.config = {"entries": l2_entries()}
    for n in (0, 1, 45, 46, 47, 1500, 1501, 8986):
        frame = bytes(Ether(dst=mac(1), src=mac(9), type=0x88B5)) + bytes(i * 7 % 256 for i in range(n))
        c.receive(4, frame)
        c.sends(1, frame)


@case("l2/two_captures", L2)
def two_captures(c):
    """Captures of several ports are merged by their times: what port 1 sends is in the order in which
    it came, whichever port it came by; of two at the same moment the first capture's is first."""
    c.config = {"entries": l2_entries()}
    for i, (into, after) in enumerate(((4, 100), (5, 1), (4, 1), (4, 50), (5, 0), (6, 0), (6, 0), (5, 7))):
        frame = Ether(dst=mac(1), src=mac(into)) / IP(id=i) / UDP()
        c.receive(into, frame, after)
        c.sends(1, frame)


# ---- router: prefixes, masks, ranges, checksums

def routes():
    return [entry("routes", {"hdr.ipv4.dst_addr": prefix}, "route", port=port, src=mac(0xA0 + port),
                  dst=mac(0xB0 + port))
            for prefix, port in (("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("10.1.2.0/24", 3),
                                 ("10.1.2.3/32", 4), ("10.1.2.128/25", 5), ("0.0.0.0/0", 6))]


def routed(frame, port, **changed):
    """The frame after a hop: new addresses, a lifetime less, and Scapy's checksums."""
    out = frame.copy()
    out.src, out.dst = mac(0xA0 + port), mac(0xB0 + port)
    out[IP].ttl -= 1
    for name, value in changed.items():
        setattr(out[IP], name, value)
    del out[IP].chksum
    return out


@case("router/longest_prefix", program("router"))
def longest_prefix(c):
    """Of all prefixes that match the longest says where, also the empty one; one less in the lifetime
    and a header checksum for it."""
    c.config = {"entries": routes()}
    for i, (dst, port) in enumerate((("10.9.9.9", 1), ("10.1.9.9", 2), ("10.1.2.4", 3), ("10.1.2.3", 4),
                                     ("10.1.2.127", 3), ("10.1.2.128", 5), ("10.1.3.3", 2),
                                     ("11.0.0.0", 6), ("255.255.255.255", 6), ("0.0.0.0", 6),
                                     ("10.0.0.0", 1), ("10.255.255.255", 1), ("9.255.255.255", 6))):
        frame = Ether(dst=mac(1), src=mac(2)) / IP(src="192.0.2.1", dst=dst, ttl=2 + 20 * i, id=i) / \
            UDP(sport=1, dport=2) / b"data"
        c.receive(8, frame)
        c.sends(port, routed(frame, port))


@case("router/no_route", program("router"))
def no_route(c):
    """Without an empty prefix there may be none."""
    c.config = {"entries": routes()[1:5]}
    c.receive(8, Ether() / IP(dst="10.2.0.1") / UDP() / b"nowhere")
    c.drops(INGRESS, received=8, table="pipe.Ingress.routes", action="pipe.Ingress.no_route")
    c.receive(8, Ether() / IP(dst="11.1.2.3") / UDP() / b"nowhere")
    c.drops(INGRESS, received=8)


@case("router/access_list", program("router"))
def access_list(c):
    """Masks and ranges, the smaller priority wins: a rule in front of another, both ends of a range, and
    one beyond each."""
    key = ("hdr.ipv4.src_addr", "hdr.ipv4.protocol", "hdr.udp.dst_port")

    def rule(priority, src, protocol, ports, action, **args):
        return entry("rules", dict(zip(key, (src, protocol, ports))), action, priority, **args)
    c.config = {"entries": routes() + [
        rule(30, "0.0.0.0 &&& 0.0.0.0", "17 &&& 0xff", "1000..1999", "deny"),
        rule(20, "192.0.2.0 &&& 255.255.255.0", "17 &&& 0xff", "1500..1600", "mark", tos=0xB8),
        rule(10, "192.0.2.66 &&& 255.255.255.255", "0 &&& 0", "0..65535", "permit"),
        rule(40, "0.0.0.1 &&& 0.0.0.1", "17 &&& 0xff", "7..7", "deny")]}
    for src, port, want in (("198.51.100.2", 999, None), ("198.51.100.2", 1000, "drop"),
                            ("198.51.100.2", 1999, "drop"), ("198.51.100.2", 2000, None),
                            ("192.0.2.1", 1499, "drop"), ("192.0.2.1", 1500, 0xB8),
                            ("192.0.2.1", 1600, 0xB8), ("192.0.2.1", 1601, "drop"),
                            ("192.0.2.66", 1000, None), ("192.0.2.66", 1555, None),
                            ("198.51.100.3", 7, "drop"), ("198.51.100.2", 7, None),
                            ("198.51.100.3", 6, None), ("198.51.100.3", 8, None)):
        frame = Ether(dst=mac(1), src=mac(2)) / IP(src=src, dst="10.1.2.3", tos=4) / \
            UDP(sport=9, dport=port) / b"data"
        c.receive(8, frame)
        if want == "drop":
            c.drops(INGRESS, received=8, table="pipe.Ingress.rules", action="pipe.Ingress.deny")
        else:
            c.sends(4, routed(frame, 4, **({} if want is None else {"tos": want})))


@case("router/not_to_be_routed", program("router"))
def not_to_be_routed(c):
    """Wrong header checksums, lifetimes at their end, frames that are not IPv4, and such that end in a
    header."""
    c.config = {"entries": routes()}
    good = bytes(Ether(dst=mac(1), src=mac(2)) / IP(dst="10.1.2.3", ttl=9) / UDP() / b"data")
    for at, bit in ((14, 0), (19, 3), (24, 7), (25, 0), (33, 0)):
        frame = bytearray(good)
        frame[at] ^= 1 << bit
        c.receive(8, frame)
        c.drops(INGRESS, received=8)
    for ttl in (0, 1):
        c.receive(8, Ether(dst=mac(1)) / IP(dst="10.1.2.3", ttl=ttl) / UDP())
        c.drops(INGRESS, received=8)
    c.receive(8, Ether(dst="ff:ff:ff:ff:ff:ff") / ARP(pdst="10.1.2.3"))
    c.drops(INGRESS, received=8)
    for length in (20, 29, 35, 37):  # the frame check sequence may be read: not 30 to 33, 38 to 41
        c.receive(8, good[:length])
        c.drops(PARSER, received=8)
    c.receive(8, good)
    c.sends(4, routed(Ether(good), 4))


# ---- nat: checksums by what changed

@case("nat/udp_checksums", program("nat"))
def udp_checksums(c):
    """Translated UDP keeps its checksum right whatever the payload, zero for none stays zero, and a
    sum of zero is sent as 0xffff."""
    c.config = {"entries": [entry("outward", {"hdr.ipv4.src_addr": f"10.0.0.{i}", "hdr.udp.src_port": 1000 + i},
                                  "translate", addr=f"203.0.113.{9 * i}", port=0xFFFF - 4111 * i)
                            for i in range(6)]}
    payloads = [b"", b"x", b"data", bytes(33), b"\xff" * 64, bytes(range(256)), bytes(1400)]
    for i in range(8):
        for payload in payloads[i % 3:] if i else payloads:
            frame = Ether(dst=mac(1), src=mac(2)) / IP(src=f"10.0.0.{i}", dst="198.51.100.7", id=i) / \
                UDP(sport=1000 + i, dport=53) / payload
            out = frame.copy()
            if i < 6:
                out[IP].src, out[UDP].sport = f"203.0.113.{9 * i}", 0xFFFF - 4111 * i
            c.receive(3, frame)
            c.sends(2, out)
    frame = Ether(dst=mac(1), src=mac(2)) / IP(src="10.0.0.1", dst="198.51.100.7") / \
        UDP(sport=1001, dport=53, chksum=0) / b"none"
    out = frame.copy()
    out[IP].src, out[UDP].sport = "203.0.113.9", 0xFFFF - 4111
    c.receive(3, frame)
    c.sends(2, out)
    # the two bytes of payload that make the sum of the translated packet zero
    blank = Ether(bytes(Ether(dst=mac(1), src=mac(2)) / IP(src="203.0.113.9", dst="198.51.100.7")
                        / UDP(sport=0xFFFF - 4111, dport=53) / b"\0\0"))
    payload = struct.pack(">H", blank[UDP].chksum)
    frame = Ether(dst=mac(1), src=mac(2)) / IP(src="10.0.0.1", dst="198.51.100.7") / \
        UDP(sport=1001, dport=53) / payload
    out = frame.copy()
    out[IP].src, out[UDP].sport = "203.0.113.9", 0xFFFF - 4111
    assert bytes(out)[40:42] == b"\xff\xff"
    c.receive(3, frame)
    c.sends(2, out)


# ---- vlans: a stack of headers

@case("vlans/push_pop_retag", program("vlans"))
def push_pop_retag(c):
    """Untagged frames get a tag, tagged ones lose or change their outermost; tags behind it and the
    payload stay."""
    key = ("ig_intr_md.ingress_port", "tagged", "vid")

    def rule(into, tagged, match, action, priority, **args):
        return entry("bridging", dict(zip(key, (into, tagged, match))), action, priority, **args)
    c.config = {"entries": [rule(1, False, "0 &&& 0", "push", 1, vid=100, port=5),
                            rule(2, False, "0 &&& 0", "push", 1, vid=4095, port=5),
                            rule(5, True, "100 &&& 0xfff", "pop", 1, port=1),
                            rule(5, True, "0 &&& 0", "retag", 2, vid=200, port=6),
                            rule(3, True, "0 &&& 0", "push", 1, vid=300, port=5)]}
    head = Ether(dst=mac(1), src=mac(2))
    inner = IP(dst="10.0.0.1") / UDP() / b"in a tag"
    c.receive(1, head / inner)
    c.sends(5, head / Dot1Q(prio=5, vlan=100) / inner)
    c.receive(2, head / inner)
    c.sends(5, head / Dot1Q(prio=5, vlan=4095) / inner)
    c.receive(5, head / Dot1Q(prio=3, vlan=100) / inner)
    c.sends(1, head / inner)
    c.receive(5, head / Dot1Q(prio=7, id=1, vlan=101) / inner)
    c.sends(6, head / Dot1Q(prio=7, id=1, vlan=200) / inner)
    double = Dot1Q(prio=1, vlan=7) / inner
    c.receive(5, head / Dot1Q(vlan=100) / double)
    c.sends(1, head / double)
    c.receive(3, head / double)
    c.sends(5, head / Dot1Q(prio=5, vlan=300) / double)
    triple = Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / inner
    c.receive(3, head / triple)
    c.sends(5, head / Dot1Q(prio=5, vlan=300) / triple)
    c.receive(1, head / double)  # tagged where it should not be
    c.drops(INGRESS, received=1, table="pipe.Ingress.bridging", action="pipe.Ingress.discard")


@case("vlans/too_many_tags", program("vlans"))
def too_many_tags(c):
    """Four tags fit into the stack; a fifth is a parser error."""
    c.config = {"entries": [entry("bridging", {"ig_intr_md.ingress_port": 5, "tagged": True,
                                               "vid": "0 &&& 0"}, "pop", 1, port=1)]}
    head, inner = Ether(dst=mac(1), src=mac(2)), IP(dst="10.0.0.1") / UDP() / b"deep"
    four = Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / Dot1Q(vlan=4) / inner
    c.receive(5, head / four)
    c.sends(1, head / Dot1Q(vlan=2) / Dot1Q(vlan=3) / Dot1Q(vlan=4) / inner)
    c.receive(5, head / Dot1Q(vlan=9) / four)
    c.drops(PARSER, received=5, state="IngressParser.tag")


# ---- options: a field of variable length

@case("options/lengths", program("options"))
def option_lengths(c):
    """IPv4 options of every length, kept, removed, and looked at."""
    def frame(words, port, **changed):
        fields = {"src": "10.0.0.1", "dst": "10.0.0.2", "chksum": 0x1234, **changed}
        options = bytes((0x44 + i) & 0xFF for i in range(4 * words))
        head = bytes(IP(**fields, ihl=5 + words, len=20 + 4 * words + 12, proto=17))[:20]
        return bytes(Ether(dst=mac(1), src=mac(2))) [:12] + b"\x08\x00" + head + options + \
            struct.pack(">HHHH", 7, port, 12, 0) + b"data"
    for words in range(11):
        c.receive(9, frame(words, 1))
        c.sends(1, frame(words, 1))
        c.receive(9, frame(words, 2))
        c.sends(2, frame(0, 2))
        c.receive(9, frame(words, 3))
        first = "68.69.70.71" if words else "0.0.0.0"
        c.sends(3, frame(words, 3, dst=first))
    for ihl in (0, 3, 4):
        bad = bytearray(frame(0, 1))
        bad[14] = 0x40 | ihl
        c.receive(9, bad)  # rejected by the parser: the packet goes on without what was not extracted
        c.drops(INGRESS, received=9)
    c.receive(9, frame(10, 1)[:14 + 20 + 30])
    c.drops(PARSER, received=9)


# ---- tunnel: headers added and removed

@case("tunnel/vxlan", program("tunnel"))
def vxlan(c):
    """Frames are carried in VXLAN with lengths and checksum of their own, and unpacked again; what is no
    VXLAN, or for nobody, is dropped."""
    key = ("arrived", "hdr.vxlan.vni", "hdr.ethernet.dst_addr")

    def rule(arrived, match, dst, action, priority, **args):
        return entry("places", dict(zip(key, (arrived, match, dst))), action, priority, **args)
    any_vni = "0 &&& 0"
    c.config = {"entries": [
        rule(False, any_vni, f"{mac(1)} &&& ff:ff:ff:ff:ff:ff", "local", 1, port=1),
        rule(False, any_vni, f"{mac(0x80)} &&& ff:ff:ff:ff:ff:80", "carry", 2, port=20, vni=0xABCDE,
             peer="192.0.2.77"),
        rule(True, "0x12345 &&& 0xffffff", f"{mac(2)} &&& ff:ff:ff:ff:ff:ff", "local", 1, port=2)]}

    def carried(frame, vni, peer="192.0.2.77"):
        return Ether(dst="02:00:00:00:0a:01", src="02:00:00:00:0a:00") / \
            IP(src="192.0.2.1", dst=peer, id=0, flags="DF", ttl=64) / \
            UDP(sport=50000, dport=4789, chksum=0) / VXLAN(flags=8, vni=vni) / frame
    for n, size in ((1, 10), (0x81, 0), (0xFE, 1000), (3, 5)):
        frame = Ether(dst=mac(n), src=mac(9)) / IP(dst="10.0.0.1") / UDP() / bytes(size)
        c.receive(4, frame)
        if n == 1:
            c.sends(1, frame)
        elif n == 3:
            c.drops(INGRESS, received=4, action="pipe.Ingress.discard")
        else:
            c.sends(20, carried(frame, 0xABCDE))
    frame = Ether(dst=mac(2), src=mac(9)) / IP(dst="10.0.0.1") / UDP() / b"unpacked"
    c.receive(30, carried(frame, 0x12345, "192.0.2.1"))
    c.sends(2, frame)
    c.receive(30, carried(frame, 0x12346, "192.0.2.1"))
    c.drops(INGRESS, received=30, table="pipe.Ingress.places")
    other = carried(frame, 0x12345)
    other[UDP].dport = 4790
    c.receive(30, other)
    c.drops(INGRESS, received=30)
    c.receive(30, bytes(carried(frame, 0x12345))[:55])
    c.drops(PARSER, received=30)


# ---- ecmp: a member chosen by a hash

@case("ecmp/flows", program("ecmp"))
def flows_spread(c):
    """A flow's next hop is the CRC-32 (zlib's) of its addresses and ports, its low 14 bits modulo the
    members that are up; flows to one host have one."""
    c.derived = "computed with zlib.crc32"
    ports = [10, 11, 12, 13, 14]
    c.config = {
        "members": [{"profile": "hops", "id": i, "action": "forward",
                     "args": {"port": p, "dst": mac(0xC0 + i)}} for i, p in enumerate(ports, 1)],
        "groups": [{"selector": "selector", "id": 1, "max_size": 8, "members": [1, 2, 3]},
                   {"selector": "selector", "id": 2, "max_size": 8,
                    "members": [1, {"member": 2, "up": False}, 3, 4, 5]}],
        "entries": [{"table": "routes", "key": {"hdr.ipv4.dst_addr": "10.1.0.0/16"}, "group": 1},
                    {"table": "routes", "key": {"hdr.ipv4.dst_addr": "10.2.0.0/16"}, "group": 2},
                    {"table": "routes", "key": {"hdr.ipv4.dst_addr": "10.1.9.0/24"}, "member": 5}]}
    groups = {1: [1, 2, 3], 2: [1, 3, 4, 5], 9: [5]}
    for i in range(24):
        net = (1, 2, 9)[i % 3]
        dst = f"10.1.9.{i}" if net == 9 else f"10.{net}.0.{i}"
        frame = Ether(dst=mac(1), src=mac(2)) / IP(src=f"192.0.2.{i * 37 % 256}", dst=dst) / \
            UDP(sport=1000 + 77 * i, dport=80 + i) / b"flow"
        data = bytes(frame)
        crc = zlib.crc32(data[26:34] + data[34:38])
        members = groups[net]
        chosen = members[(crc & 0x3FFF) % len(members)]
        out = frame.copy()
        out.dst = mac(0xC0 + chosen)
        c.receive(3, frame)
        c.sends(ports[chosen - 1], out)
    c.receive(3, Ether() / IP(dst="10.3.0.1") / UDP())
    c.drops(INGRESS, received=3, action="pipe.Ingress.discard")


# ---- flows: registers

def crc16(data):
    """CRC-16/ARC, bit by bit."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


@case("flows/counted", program("flows"))
def counted(c):
    """Registers count each flow's packets from their initial value and keep the time of the last, by
    the capture's clock; every fourth is dropped. The flow is a CRC-16 of the addresses."""
    c.derived = "computed: CRC-16/ARC bit by bit, a dictionary of flows"
    c.config = {"registers": [{"name": "packets", "index": crc16(bytes.fromhex("020000000001020000000009"))
                               & 0x3FF, "value": 0xFFFFFFFD}]}
    seen = {}
    for i in range(30):
        host = (1, 2, 3, 2, 1)[i % 5]
        frame = bytes(Ether(dst=mac(host), src=mac(9), type=0x9000))
        flow = crc16(frame[:12]) & 0x3FF
        count, last = seen.get(flow, (0xFFFFFFFD if host == 1 else 100, 0))
        count = min(count + 1, 0xFFFFFFFF)
        c.receive(7, frame + bytes(10) + b"rest", after=100_000 * i + 17)
        now = (c.now & 0xFFFFFFFF)
        seen[flow] = count, now
        if count % 4 == 0:
            c.drops(INGRESS, received=7)
        else:
            c.sends(1, frame + struct.pack(">HII", flow, count, (now - last) & 0xFFFFFFFF) + b"rest")
    c.state = {"registers": [
        {"name": "pipe.Ingress.packets", "otherwise": 100},
        *({"name": "pipe.Ingress.packets", "pipe": pipe, "index": flow, "value": 0xFFFFFFFD}
          for pipe in (1, 2, 3) for flow in seen if seen[flow][0] == 0xFFFFFFFF),
        *({"name": f"pipe.Ingress.{what}", "pipe": 0, "index": flow, "value": value[i]}
          for flow, value in seen.items() for i, what in enumerate(("packets", "last")))]}


# ---- hops: recirculation

def hop_frame(hops, done=False):
    labels = b"".join(struct.pack(">H", h | (0x8000 if i == len(hops) - 1 else 0))
                      for i, h in enumerate(hops))
    kind = b"\x91\x01" if done else b"\x91\x00"
    return bytes(Ether(dst=mac(1), src=mac(2)))[:12] + kind + labels + b"payload"


@case("hops/recirculating", program("hops"))
def recirculating(c):
    """Source routes: each pass takes a label, those for ports 68, 196, 324 and 452 lead back in, in that
    port's pipe, until one leads out."""
    c.crosses = True
    for hops in ((5,), (5, 6), (68, 9), (196, 9, 1), (68, 196, 324, 452, 300), (452, 68, 68, 68, 68, 3)):
        out = [h for h in hops if h % 128 != 68][0]
        left = hops[hops.index(out) + 1:]
        c.receive(3, hop_frame(hops))
        c.sends(out, hop_frame(left, done=not left))
    c.receive(3, hop_frame((1, 2, 3, 4, 5, 6, 7)))
    c.drops(PARSER, received=3, state="IngressParser.hop")
    c.receive(3, hop_frame((), done=True))
    c.drops("no destination set in ingress", received=3)
    c.receive(3, hop_frame((68,)))  # its second pass finds no label
    c.drops("no destination set in ingress", received=68)


# ---- tenants: what a port brings

@case("tenants/port_metadata", program("tenants"))
def port_metadata(c):
    """What the control plane says of a port is in front of its packets: the same address is another
    station for another tenant. EtherTypes that the value set lacks are dropped."""
    c.config = {
        "ports": [{"port": 1, "device": "0", "metadata": {"tenant": 7, "trust": 3}},
                  {"port": 2, "device": "1", "metadata": {"tenant": 0xFFFF, "trust": 0x80}},
                  {"port": 140, "device": "2", "metadata": "0x0007" + "ff" + "0" * 10},
                  {"port": 11, "device": "3"}, {"port": 12, "device": "4"}, {"port": 13, "device": "5"}],
        "value_sets": [{"name": "let_in", "key": {"f1": "0x0800"}},
                       {"name": "let_in", "key": {"f1": "0x88**"}}],
        "entries": [entry("stations", {"md.tenant": 7, "hdr.ethernet.dst_addr": mac(1)}, "send", port=11),
                    entry("stations", {"md.tenant": 0xFFFF, "hdr.ethernet.dst_addr": mac(1)}, "send",
                          port=12),
                    entry("stations", {"md.tenant": 0, "hdr.ethernet.dst_addr": mac(1)}, "send",
                          port=13)]}
    for kind in (0x0800, 0x8800, 0x88FF, 0x0801, 0x8700, 0x8900):
        frame = bytes(Ether(dst=mac(1), src=mac(2), type=kind)) + b"tenant"
        for into, out, label in ((1, 11, "000703"), (2, 12, "ffff80"), (140, 11, "0007ff"), (3, 13, "000000")):
            c.receive(into, frame)
            if kind in (0x0801, 0x8700, 0x8900):
                c.drops(INGRESS, received=into)
            else:
                c.sends(out, bytes.fromhex(label) + frame)


@case("tenants/unknown", program("tenants"))
def unknown_tenant(c):
    """Ports of which nothing is said have zeros; a tenant's unknown stations are dropped."""
    c.config = {"value_sets": [{"name": "let_in", "key": {"f1": "0x0800"}}],
                "entries": [entry("stations", {"md.tenant": 0, "hdr.ethernet.dst_addr": mac(1)}, "send",
                                  port=13)]}
    for n in (1, 2):
        frame = bytes(Ether(dst=mac(n), src=mac(2), type=0x0800)) + b"tenant"
        c.receive(150, frame)
        if n == 1:
            c.sends(13, bytes(3) + frame)
        else:
            c.drops(INGRESS, received=150, table="pipe.Ingress.stations", action="pipe.Ingress.discard")



