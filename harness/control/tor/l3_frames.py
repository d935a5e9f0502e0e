#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes l3_frames.h: the frames of test_neighbours, test_routes and test_icmp, as hexadecimal text, built with
Scapy and not with the code that is tested. Run in this folder after a change: python3 l3_frames.py >l3_frames.h"""
import logging

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption, IPOption_LSRR, IPOption_RR, IPOption_Router_Alert, fragment  # noqa: E402
from scapy.layers.inet6 import (ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_NA,  # noqa: E402
                                ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, ICMPv6PacketTooBig,
                                ICMPv6ParamProblem, ICMPv6TimeExceeded, IPv6, IPv6ExtHdrFragment)
from scapy.layers.l2 import ARP, Ether  # noqa: E402
from scapy.packet import Padding, Raw  # noqa: E402

OWN = "02:00:00:00:00:01"
ALL, NONE = "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"
LOCAL = "fe80::ff:fe00:1"  # of OWN: its second bit turned over, ff:fe in the middle


def mac(n):
    return f"02:00:00:00:00:{n:02x}"


A, B, C, D = mac(0xA), mac(0xB), mac(0xC), mac(0xD)  # A: 10.0.10.10, B: 10.0.20.11 and so on
OTHER = mac(0x66)
names = []


def put(name, frame):
    names.append(name)
    b = bytes(frame)
    print(f"#define {name} \\")
    lines = [b[i:i + 45].hex() for i in range(0, len(b), 45)]
    print(" \\\n".join(f'    "{line}"' for line in lines))


def padded(frame):
    b = bytes(frame)
    return b + bytes(60 - len(b)) if len(b) < 60 else b


def arp(dst, src, op, sha, spa, tha, tpa):
    return padded(Ether(dst=dst, src=src) / ARP(op=op, hwsrc=sha, psrc=spa, hwdst=tha, pdst=tpa))


def with_checksums(p):
    return p.__class__(bytes(p))


def ttl(frame, dst, src, ip_layer=IP):
    """The frame as a router passes it on."""
    f = frame.copy()
    f[Ether].dst, f[Ether].src = dst, src
    if ip_layer is IP:
        f[IP].ttl -= 1
        del f[IP].chksum
    else:
        f[IPv6].hlim -= 1
    return f


print("""// SPDX-License-Identifier: Apache-2.0
//
// Made by l3_frames.py: frames as hexadecimal text, from Scapy.
#ifndef SILKEN_HARNESS_TOR_L3_FRAMES_H
#define SILKEN_HARNESS_TOR_L3_FRAMES_H
""")

# ---- ARP
put("ARP_A_ASKS_OWN", arp(ALL, A, 1, A, "10.0.10.10", NONE, "10.0.10.1"))
put("ARP_OWN_TO_A", arp(A, OWN, 2, OWN, "10.0.10.1", A, "10.0.10.10"))
put("ARP_B_ASKS_OWN", arp(ALL, B, 1, B, "10.0.20.11", NONE, "10.0.20.1"))
put("ARP_OWN_TO_B", arp(B, OWN, 2, OWN, "10.0.20.1", B, "10.0.20.11"))
put("ARP_A_ASKS_ANOTHER", arp(ALL, A, 1, A, "10.0.10.10", NONE, "10.0.10.99"))
put("ARP_A_ASKS_OTHER_VLAN", arp(ALL, A, 1, A, "10.0.10.10", NONE, "10.0.20.1"))
put("ARP_STRANGER_ASKS_OWN", arp(ALL, A, 1, A, "192.0.2.10", NONE, "10.0.10.1"))
put("ARP_OWN_TO_STRANGER", arp(A, OWN, 2, OWN, "10.0.10.1", A, "192.0.2.10"))
put("ARP_GROUP_ASKS_OWN", arp(ALL, A, 1, "01:00:5e:00:00:01", "10.0.10.10", NONE, "10.0.10.1"))
put("ARP_A_PROBES_OWN", arp(ALL, A, 1, A, "0.0.0.0", NONE, "10.0.10.1"))
put("ARP_OWN_TO_PROBE", arp(A, OWN, 2, OWN, "10.0.10.1", A, "0.0.0.0"))
put("ARP_A_HAS_OWN", arp(ALL, A, 1, A, "10.0.10.1", NONE, "10.0.10.1"))
put("ARP_OWN_PROBES_10", arp(ALL, OWN, 1, OWN, "0.0.0.0", NONE, "10.0.10.1"))
put("ARP_OWN_ANNOUNCES_10", arp(ALL, OWN, 1, OWN, "10.0.10.1", NONE, "10.0.10.1"))
put("ARP_NEW_ANNOUNCES_10", arp(ALL, mac(2), 1, mac(2), "10.0.10.1", NONE, "10.0.10.1"))
put("ARP_B_GRATUITOUS", arp(ALL, B, 1, B, "10.0.20.11", NONE, "10.0.20.11"))
put("ARP_B_REPLY_TO_ALL", arp(ALL, B, 2, B, "10.0.20.11", B, "10.0.20.11"))
put("ARP_B_REPLIES", arp(OWN, B, 2, B, "10.0.20.11", OWN, "10.0.20.1"))
put("ARP_OTHER_REPLIES_AS_B", arp(OWN, OTHER, 2, OTHER, "10.0.20.11", OWN, "10.0.20.1"))
put("ARP_OTHER_GRATUITOUS_AS_B", arp(ALL, OTHER, 1, OTHER, "10.0.20.11", NONE, "10.0.20.11"))
put("ARP_OWN_ASKS_B", arp(ALL, OWN, 1, OWN, "10.0.20.1", NONE, "10.0.20.11"))
put("ARP_OWN_PROBES_B", arp(B, OWN, 1, OWN, "10.0.20.1", NONE, "10.0.20.11"))
put("ARP_OWN_PROBES_OTHER", arp(OTHER, OWN, 1, OWN, "10.0.20.1", NONE, "10.0.20.11"))

# ---- IPv6 neighbour discovery
NODE = "ff02::1:ff00:1"


def ns(eth_src, src, dst, target, option=True, hlim=255, eth_dst=None):
    f = Ether(dst=eth_dst or "33:33:" + ":".join(["ff", "00", "00", target[-1:].zfill(2)]), src=eth_src)
    f /= IPv6(src=src, dst=dst, hlim=hlim) / ICMPv6ND_NS(tgt=target)
    return f / ICMPv6NDOptSrcLLAddr(lladdr=eth_src) if option else f


def na(eth_dst, eth_src, src, dst, target, r=0, s=0, o=0, lla=None, hlim=255):
    return (Ether(dst=eth_dst, src=eth_src) / IPv6(src=src, dst=dst, hlim=hlim) / ICMPv6ND_NA(tgt=target, R=r, S=s, O=o) /
            ICMPv6NDOptDstLLAddr(lladdr=lla or eth_src))


A6, B6, OWN10, OWN20 = "2001:db8:10::a", "2001:db8:20::b", "2001:db8:10::1", "2001:db8:20::1"
put("NS_A_ASKS_OWN", ns(A, A6, NODE, OWN10))
put("NA_OWN_TO_A", na(A, OWN, OWN10, A6, OWN10, 1, 1, 1))
put("NS_A_ASKS_LOCAL", ns(A, "fe80::ff:fe00:a", NODE, LOCAL))
put("NA_LOCAL_TO_A", na(A, OWN, LOCAL, "fe80::ff:fe00:a", LOCAL, 1, 1, 1))
put("NS_FAR_ASKS_OWN", ns(A, A6, NODE, OWN10, hlim=254))
bad = bytearray(bytes(ns(A, A6, NODE, OWN10)))
bad[14 + 40 + 2] ^= 1
put("NS_BAD_SUM_ASKS_OWN", bytes(bad))
bad = ns(A, A6, NODE, OWN10)
bad[ICMPv6NDOptSrcLLAddr].len = 0
put("NS_EMPTY_OPTION_ASKS_OWN", bad)
put("NS_A_PROBES_OWN", ns(A, "::", NODE, OWN10, option=False))
put("NA_OWN_TO_ALL_10", na("33:33:00:00:00:01", OWN, OWN10, "ff02::1", OWN10, 1, 0, 1))
put("NS_OWN_PROBES_10", ns(OWN, "::", NODE, OWN10, option=False))
put("NS_OWN_PROBES_LOCAL", ns(OWN, "::", NODE, LOCAL, option=False))
put("NS_OWN_ASKS_B", ns(OWN, OWN20, "ff02::1:ff00:b", B6))
put("NS_OWN_PROBES_B", ns(OWN, OWN20, B6, B6, eth_dst=B))
put("NA_B_ANSWERS", na(OWN, B, B6, OWN20, B6, 0, 1, 1))
put("NA_B_UNASKED", na("33:33:00:00:00:01", B, B6, "ff02::1", B6, 0, 0, 1))
put("NA_OTHER_AS_B_NO_OVERRIDE", na("33:33:00:00:00:01", OTHER, B6, "ff02::1", B6, 0, 0, 0))
put("NA_OTHER_AS_B_OVERRIDE", na("33:33:00:00:00:01", OTHER, B6, "ff02::1", B6, 0, 0, 1))
put("NA_A_HAS_OWN", na("33:33:00:00:00:01", A, OWN10, "ff02::1", OWN10, 0, 0, 1))

# ---- routed packets


def udp(dst="10.0.20.11", size=18, hops=64, src="10.0.10.10", sport=1000, dport=2000, eth_src=A, **ip):
    return Ether(dst=OWN, src=eth_src) / IP(src=src, dst=dst, ttl=hops, **ip) / UDP(sport=sport, dport=dport) / Raw(b"x" * size)


def udp6(dst=B6, size=18, hops=64, src=A6, sport=1000, dport=2000):
    return (Ether(dst=OWN, src=A) / IPv6(src=src, dst=dst, hlim=hops) / UDP(sport=sport, dport=dport) /
            Raw(b"x" * size))


for i in range(1, 6):
    put(f"UDP_A_TO_B_{i}", udp(sport=1000 + i))
    put(f"UDP_A_TO_B_{i}_ROUTED", ttl(udp(sport=1000 + i), B, OWN))
put("UDP_A_TO_B_1_TO_OTHER", ttl(udp(sport=1001), OTHER, OWN))
put("UDP6_A_TO_B", udp6())
put("UDP6_A_TO_B_ROUTED", ttl(udp6(), B, OWN, IPv6))
put("UDP_A_TO_LOOPBACK", udp("127.0.0.1"))
put("UDP_A_TO_BROADCAST", udp("10.0.20.255"))
put("UDP_A_TO_NETWORK", udp("10.0.20.0"))
put("UDP_A_TO_DISCARDED", udp("192.0.2.7"))
put("UDP_A_TO_NOT_DISCARDED", udp("192.0.2.130"))
put("UDP_A_TO_NOT_DISCARDED_ROUTED", ttl(udp("192.0.2.130"), B, OWN))


# ---- ICMP
def error4(about, type_, code, own="10.0.10.1", to="10.0.10.10", eth=A, id_=1, **more):
    quoted = bytes(about[IP])[:548]
    return (Ether(dst=eth, src=OWN) / IP(src=own, dst=to, ttl=64, tos=0xc0, id=id_) /
            ICMP(type=type_, code=code, **more) / Raw(quoted))


def error6(about, message, own=OWN10, to=A6, eth=A):
    return Ether(dst=eth, src=OWN) / IPv6(src=own, dst=to, hlim=64, tc=0xc0) / message / Raw(bytes(about[IPv6])[:1232])


routed = ttl(udp(sport=1001), OWN, A)
put("HOST_UNREACHABLE", error4(routed, 3, 1))
put("HOST_UNREACHABLE_2", error4(ttl(udp(sport=1002), OWN, A), 3, 1, id_=2))
put("ADDRESS_UNREACHABLE_6", error6(ttl(udp6(), OWN, A, IPv6), ICMPv6DestUnreach(code=3)))
ping = Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1", ttl=3, tos=8, id=77) / ICMP(id=5, seq=6) / Raw(b"hello")
put("PING", padded(ping))
put("PONG", Ether(dst=A, src=OWN) / IP(src="10.0.10.1", dst="10.0.10.10", ttl=64, tos=8, id=1) /
    ICMP(type=0, id=5, seq=6) / Raw(b"hello"))
put("PING_OTHER_VLAN", padded(Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.20.1", id=7) / ICMP(id=5, seq=7)))
put("PONG_OTHER_VLAN", Ether(dst=A, src=OWN) / IP(src="10.0.20.1", dst="10.0.10.10", ttl=64, id=1) /
    ICMP(type=0, id=5, seq=7))
bad = bytearray(padded(ping))
bad[14 + 20 + 2] ^= 1
put("PING_BAD_SUM", bytes(bad))
big = (Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1", id=9) / ICMP(id=5, seq=8) / Raw(b"y" * 1400))
put("PING_BIG", big)
put("PONG_BIG", Ether(dst=A, src=OWN) / IP(src="10.0.10.1", dst="10.0.10.10", ttl=64, id=1) /
    ICMP(type=0, id=5, seq=8) / Raw(b"y" * 1400))
put("PING6", Ether(dst=OWN, src=A) / IPv6(src=A6, dst=OWN10, hlim=3, tc=4) / ICMPv6EchoRequest(id=5, seq=6, data=b"hello"))
put("PONG6", Ether(dst=A, src=OWN) / IPv6(src=OWN10, dst=A6, hlim=64, tc=4) / ICMPv6EchoReply(id=5, seq=6, data=b"hello"))
put("PING6_LOCAL", Ether(dst=OWN, src=A) / IPv6(src="fe80::ff:fe00:a", dst=LOCAL, hlim=64) / ICMPv6EchoRequest(id=5, seq=6))
put("PONG6_LOCAL", Ether(dst=A, src=OWN) / IPv6(src=LOCAL, dst="fe80::ff:fe00:a", hlim=64) / ICMPv6EchoReply(id=5, seq=6))

put("UDP_LAST_HOP", udp(hops=1))
put("TIME_EXCEEDED", error4(udp(hops=1), 11, 0))
put("UDP6_LAST_HOP", udp6(hops=1))
put("TIME_EXCEEDED_6", error6(udp6(hops=1), ICMPv6TimeExceeded(code=0)))
put("UDP_LAST_HOP_BIG", udp(hops=1, size=1000))
put("TIME_EXCEEDED_BIG", error4(udp(hops=1, size=1000), 11, 0))
put("UDP_NO_ROUTE", udp("198.51.100.1"))
put("NO_ROUTE", error4(udp("198.51.100.1"), 3, 0))
put("UDP6_NO_ROUTE", udp6("2001:db8:ffff::1"))
put("NO_ROUTE_6", error6(udp6("2001:db8:ffff::1"), ICMPv6DestUnreach(code=0)))
put("UDP_TO_OWN", udp("10.0.20.1"))
put("NO_PORT", error4(udp("10.0.20.1"), 3, 3))
put("UDP6_TO_OWN", udp6(OWN20))
put("NO_PORT_6", error6(udp6(OWN20), ICMPv6DestUnreach(code=4)))
gre = Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1", proto=47) / Raw(bytes(40))
put("GRE_TO_OWN", gre)
put("NO_PROTOCOL", error4(gre, 3, 2))
gre6 = Ether(dst=OWN, src=A) / IPv6(src=A6, dst=OWN10, nh=47) / Raw(bytes(40))
put("GRE6_TO_OWN", gre6)
put("NO_PROTOCOL_6", error6(gre6, ICMPv6ParamProblem(code=1, ptr=6)))
syn = Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1") / TCP(sport=3000, dport=22, seq=1000, flags="S")
put("TCP_SYN", padded(syn))
put("TCP_SYN_RESET", Ether(dst=A, src=OWN) / IP(src="10.0.10.1", dst="10.0.10.10", ttl=64, id=0, flags="DF") /
    TCP(sport=22, dport=3000, seq=0, ack=1001, flags="RA", window=0))
ack = Ether(dst=OWN, src=A) / IPv6(src=A6, dst=OWN10) / TCP(sport=3000, dport=22, seq=1000, ack=7777, flags="A") / Raw(b"abc")
put("TCP6_ACK", ack)
put("TCP6_ACK_RESET", Ether(dst=A, src=OWN) / IPv6(src=OWN10, dst=A6, hlim=64) /
    TCP(sport=22, dport=3000, seq=7777, flags="R", window=0))
put("TCP_RST", padded(Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1") /
                      TCP(sport=3000, dport=22, seq=1000, flags="R")))

# About these nothing is said.
put("ERROR_LAST_HOP", Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.20.11", ttl=1) / ICMP(type=3, code=1) /
    Raw(bytes(28)))
put("ECHO_LAST_HOP", Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.20.11", ttl=1) / ICMP() / Raw(bytes(28)))
put("TIME_EXCEEDED_ECHO", error4(Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.20.11", ttl=1) / ICMP() /
                                 Raw(bytes(28)), 11, 0))
put("ERROR6_LAST_HOP", Ether(dst=OWN, src=A) / IPv6(src=A6, dst=B6, hlim=1) / ICMPv6TimeExceeded() / Raw(bytes(48)))
put("LATER_FRAGMENT_LAST_HOP", Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.20.11", ttl=1, frag=10, proto=17) /
    Raw(bytes(40)))
put("LATER_FRAGMENT6_LAST_HOP", Ether(dst=OWN, src=A) / IPv6(src=A6, dst=B6, hlim=1) /
    IPv6ExtHdrFragment(offset=10, m=1, nh=17) / Raw(bytes(40)))
put("OWN_FIRST_FRAGMENT", Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1", flags="MF") / ICMP() /
    Raw(bytes(32)))
put("OWN_LATER_FRAGMENT", Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1", frag=5, proto=1) /
    Raw(bytes(32)))
put("OWN_FRAGMENT6", Ether(dst=OWN, src=A) / IPv6(src=A6, dst="2001:db8:10::1") /
    IPv6ExtHdrFragment(offset=0, m=1, nh=58) / ICMPv6EchoRequest(data=bytes(24)))
put("GROUP_NO_ROUTE", udp("239.1.1.1"))
put("FROM_LOOPBACK_LAST_HOP", udp(hops=1, src="127.0.0.1"))
put("FROM_GROUP_LAST_HOP", udp(hops=1, src="224.0.0.5"))
put("FROM_NOBODY6_LAST_HOP", udp6(hops=1, src="::"))
put("FROM_BROADCAST_LAST_HOP", udp(hops=1, src="10.0.10.255"))

# Too long for VLAN 20 (1400 bytes).
long_df = udp(size=1401 - 28, flags="DF")
put("UDP_LONG_DF", long_df)
put("FRAGMENTATION_NEEDED", error4(ttl(long_df, OWN, A), 3, 4, nexthopmtu=1400))
put("FRAGMENTATION_NEEDED_AT_ONCE", error4(long_df, 3, 4, nexthopmtu=1400))  # its TTL as it came
put("UDP_FITS_DF", udp(size=1400 - 28, flags="DF"))
put("UDP_FITS_DF_ROUTED", ttl(udp(size=1400 - 28, flags="DF"), B, OWN))
long6 = udp6(size=1401 - 48)
put("UDP6_LONG", long6)
put("PACKET_TOO_BIG", error6(ttl(long6, OWN, A, IPv6), ICMPv6PacketTooBig(mtu=1400)))
put("UDP6_FITS", udp6(size=1400 - 48))
put("UDP6_FITS_ROUTED", ttl(udp6(size=1400 - 48), B, OWN, IPv6))


def pieces(frame, name, eth_dst=B):
    """Scapy's own fragment() of what is passed on, in pieces of 1376 bytes: the most that 1400 has room for."""
    out = ttl(frame, eth_dst, OWN)
    ip = IP(bytes(out[IP]))
    for i, f in enumerate(fragment(ip, fragsize=1376)):
        del f.chksum, f.len
        put(f"{name}_{i + 1}", Ether(dst=eth_dst, src=OWN) / f)


long4 = udp(size=3000, id=0x1234)
put("UDP_LONG", long4)
pieces(long4, "UDP_LONG_PIECE")

# Options.
rr = udp(options=[IPOption_RR(length=11, pointer=4, routers=["0.0.0.0", "0.0.0.0"])])
put("UDP_RECORD_ROUTE", rr)
recorded = udp(hops=63, options=[IPOption_RR(length=11, pointer=8, routers=["10.0.20.1", "0.0.0.0"])])
recorded[Ether].dst, recorded[Ether].src = B, OWN
put("UDP_RECORD_ROUTE_ROUTED", recorded)
full = udp(options=[IPOption_RR(length=7, pointer=8, routers=["10.9.9.9"])])
put("UDP_RECORD_ROUTE_FULL", full)
put("UDP_RECORD_ROUTE_FULL_ROUTED", ttl(full, B, OWN))


def two_pieces(name, size, option, first_options, later_options):
    """24 (or 32) bytes of header in front of each piece; its payload is a multiple of 8, as much as there is room for."""
    whole = udp(size=size, id=0x4321, options=[option])
    put(name, whole)
    payload = bytes(whole[UDP])
    for i, options in enumerate((first_options, later_options)):
        head = 20 + sum(len(bytes(o)) for o in options)
        head += -head % 4
        room = (1400 - head) // 8 * 8
        part = payload[:room] if i == 0 else payload[first:]
        first = room if i == 0 else first
        put(f"{name}_{i + 1}", Ether(dst=B, src=OWN) / IP(src="10.0.10.10", dst="10.0.20.11", ttl=63, id=0x4321, proto=17,
            flags="MF" if i == 0 else 0, frag=0 if i == 0 else first // 8, options=options) / Raw(part))


alert = udp(options=[IPOption_Router_Alert()])
put("UDP_ALERT", alert)
put("UDP_ALERT_ROUTED", ttl(alert, B, OWN))
two_pieces("UDP_ALERT_LONG", 1500, IPOption_Router_Alert(), [IPOption_Router_Alert()], [IPOption_Router_Alert()])
two_pieces("UDP_RECORD_ROUTE_LONG", 1500, IPOption_RR(length=7, pointer=4, routers=["0.0.0.0"]),
           [IPOption_RR(length=7, pointer=8, routers=["10.0.20.1"])], [])
put("UDP_TIME_STAMP", udp(options=[IPOption(b"\x44\x0c\x05\x01" + bytes(8))]))
put("UDP_TIME_STAMP_FULL", udp(options=[IPOption(b"\x44\x04\x05\x00")]))
put("UDP_SOURCE_ROUTE", udp(options=[IPOption_LSRR(routers=["10.0.20.11"])]))
broken = bytearray(bytes(alert))
broken[14 + 20 + 1] = 9  # an option that is longer than the header
broken[14 + 10:14 + 12] = b"\0\0"
fixed = IP(bytes(broken)[14:])
sum_ = 0
header = bytearray(bytes(broken)[14:14 + 24])
for i in range(0, 24, 2):
    sum_ += header[i] << 8 | header[i + 1]
sum_ = (sum_ & 0xffff) + (sum_ >> 16)
sum_ = ~((sum_ & 0xffff) + (sum_ >> 16)) & 0xffff
broken[14 + 10:14 + 12] = sum_.to_bytes(2, "big")
put("UDP_BROKEN_OPTION", bytes(broken))
put("PARAMETER_PROBLEM", Ether(dst=A, src=OWN) / IP(src="10.0.10.1", dst="10.0.10.10", ttl=64, tos=0xc0, id=1) /
    ICMP(type=12, code=0, ptr=21) / Raw(bytes(broken)[14:]))
ping_options = (Ether(dst=OWN, src=A) / IP(src="10.0.10.10", dst="10.0.10.1", id=7, options=[IPOption_Router_Alert()]) /
                ICMP(id=5, seq=9) / Raw(b"options"))
put("PING_WITH_OPTIONS", padded(ping_options))
put("PONG_WITHOUT_OPTIONS", Ether(dst=A, src=OWN) / IP(src="10.0.10.1", dst="10.0.10.10", ttl=64, id=1) /
    ICMP(type=0, id=5, seq=9) / Raw(b"options"))

print("\n#endif")
assert len(set(names)) == len(names)
