#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Frames of hosts, routers and senders for test_snoop.c, and those that the switch has to send, by Scapy: writes
snoop_frames.h. IGMPv3 is put together here, from RFC 3376; Scapy makes what is around it."""
import logging
import os
import struct

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP, IPOption_Router_Alert  # noqa: E402
from scapy.layers.inet6 import (ICMPv6MLDMultAddrRec, ICMPv6MLDone, ICMPv6MLQuery, ICMPv6MLQuery2,  # noqa: E402
                                ICMPv6MLReport, ICMPv6MLReport2, IPv6, IPv6ExtHdrHopByHop, PadN, RouterAlert)
from scapy.layers.l2 import Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402
from scapy.utils import checksum  # noqa: E402
import socket  # noqa: E402

SWITCH = "02:00:00:00:ff:01"
frames = {}


def ipv4(text):
    return socket.inet_aton(text)


def group_mac(group):
    if ":" in group:
        return "33:33:" + ":".join(f"{b:02x}" for b in socket.inet_pton(socket.AF_INET6, group)[12:])
    a = ipv4(group)
    return f"01:00:5e:{a[1] & 0x7f:02x}:{a[2]:02x}:{a[3]:02x}"


def igmp(src, dst, body, mac=None, tos=0xc0, options=True, ttl=1, ident=0, flags=0):
    body = body[:2] + struct.pack(">H", checksum(body)) + body[4:]
    mac = mac or "02:00:00:00:00:" + f"{0x10 + int(src.split('.')[-1]):02x}"
    ip = IP(src=src, dst=dst, ttl=ttl, tos=tos, id=ident, flags=flags, proto=2,
            options=[IPOption_Router_Alert()] if options else [])
    frame = bytes(Ether(dst=group_mac(dst), src=mac) / ip / Raw(body))
    return frame + bytes(max(0, 60 - len(frame)))


def v12(kind, group, code=0):
    return struct.pack(">BBH", kind, code, 0) + ipv4(group)


def record(kind, group, *sources, aux=b""):
    return struct.pack(">BBH", kind, len(aux) // 4, len(sources)) + ipv4(group) + b"".join(map(ipv4, sources)) + aux


def v3(*records):
    return struct.pack(">BBHHH", 0x22, 0, 0, 0, len(records)) + b"".join(records)


def query3(group="0.0.0.0", code=100, qrv=2, qqic=125, suppress=0):
    return struct.pack(">BBH", 0x11, code, 0) + ipv4(group) + struct.pack(">BBH", qrv | suppress << 3, qqic, 0)


def mld(host, dst, message, mac=None, hops=1, options=None):
    src = host if isinstance(host, str) else f"fe80::{host:x}"
    mac = mac or f"02:00:00:00:00:{0x10 + host:02x}"
    return bytes(Ether(dst=group_mac(dst), src=mac) / IPv6(src=src, dst=dst, hlim=hops)
                 / IPv6ExtHdrHopByHop(options=options or [RouterAlert()]) / message)


def udp(dst, host=9):
    if ":" in dst:
        ip = IPv6(src=f"fe80::{host:x}", dst=dst)
    else:
        ip = IP(src=f"10.0.10.{host}", dst=dst, ttl=8)
    return bytes(Ether(dst=group_mac(dst), src=f"02:00:00:00:00:{0x10 + host:02x}") / ip
                 / UDP(sport=5000, dport=5001) / Raw(b"a stream to many"))


for host in (2, 3, 4):
    address = f"10.0.10.{host}"
    frames[f"v2_report_{host}"] = igmp(address, "239.1.1.1", v12(0x16, "239.1.1.1"))
    frames[f"v2_leave_{host}"] = igmp(address, "224.0.0.2", v12(0x17, "239.1.1.1"))
    frames[f"v3_exclude_{host}"] = igmp(address, "224.0.0.22", v3(record(4, "239.1.1.1")))
    frames[f"v3_is_exclude_{host}"] = igmp(address, "224.0.0.22", v3(record(2, "239.1.1.1")))
    frames[f"v3_leave_{host}"] = igmp(address, "224.0.0.22", v3(record(3, "239.1.1.1")))
    frames[f"mld1_report_{host}"] = mld(host, "ff15::abcd:1", ICMPv6MLReport(mladdr="ff15::abcd:1"))
    frames[f"mld1_done_{host}"] = mld(host, "ff02::2", ICMPv6MLDone(mladdr="ff15::abcd:1"))
frames["v1_report_2"] = igmp("10.0.10.2", "239.1.1.1", v12(0x12, "239.1.1.1"), options=False, tos=0)
frames["v2_other_group_same_mac_3"] = igmp("10.0.10.3", "239.129.1.1", v12(0x16, "239.129.1.1"))
frames["v2_leave_other_group_3"] = igmp("10.0.10.3", "224.0.0.2", v12(0x17, "239.129.1.1"))
frames["v2_report_of_the_link_2"] = igmp("10.0.10.2", "224.0.0.251", v12(0x16, "224.0.0.251"))
frames["v2_report_mac_of_the_link_2"] = igmp("10.0.10.2", "239.0.0.5", v12(0x16, "239.0.0.5"))
frames["v3_several_2"] = igmp("10.0.10.2", "224.0.0.22",
                              v3(record(4, "239.1.1.1"), record(5, "239.2.2.2", "10.9.9.9", "10.9.9.8", aux=b"abcdefgh"),
                                 record(9, "239.4.4.4"), record(3, "239.5.5.5"), record(1, "239.3.3.3", "10.9.9.9")))
frames["v3_block_2"] = igmp("10.0.10.2", "224.0.0.22", v3(record(6, "239.1.1.1", "10.9.9.9")))
frames["v3_fragment_2"] = igmp("10.0.10.2", "224.0.0.22", v3(record(4, "239.1.1.1")), flags="MF")
frames["v3_more_hops_2"] = igmp("10.0.10.2", "224.0.0.22", v3(record(4, "239.1.1.1")), ttl=2)
frames["pim1_2"] = igmp("10.0.10.2", "224.0.0.2", v12(0x14, "1.2.3.4"))
ROUTER = dict(mac="02:00:00:00:00:77", ident=1)
frames["query_low"] = igmp("10.0.10.0", "224.0.0.1", query3(), **ROUTER)
frames["query_high"] = igmp("10.0.10.250", "224.0.0.1", query3(), **ROUTER)
frames["query_nobody"] = igmp("0.0.0.0", "224.0.0.1", query3(), **ROUTER)
frames["query_v2_low"] = igmp("10.0.10.0", "224.0.0.1", v12(0x11, "0.0.0.0", 100), **ROUTER)
frames["query_v1_low"] = igmp("10.0.10.0", "224.0.0.1", v12(0x11, "0.0.0.0", 0), **ROUTER)
frames["query_low_group"] = igmp("10.0.10.0", "239.1.1.1", query3("239.1.1.1", code=10), **ROUTER)
frames["query_low_group_suppressed"] = igmp("10.0.10.0", "239.1.1.1", query3("239.1.1.1", code=10, suppress=1), **ROUTER)
# 60 s at most to answer (code 0x8... of RFC 3376 4.1.1: 0xa3: 19 << 5 = 608 tenths), 1024 s between queries (0xe0 is
# 16 << 9 = 8192; 0xb0: 16 << 6)
frames["query_low_slow"] = igmp("10.0.10.0", "224.0.0.1", query3(code=0xa3, qqic=0xb0, qrv=3), **ROUTER)

frames["mld2_several_2"] = mld(2, "ff02::16", ICMPv6MLReport2(records=[
    ICMPv6MLDMultAddrRec(rtype=4, dst="ff15::abcd:1"),
    ICMPv6MLDMultAddrRec(rtype=2, dst="ff02::1:ff00:2"),
    ICMPv6MLDMultAddrRec(rtype=5, dst="ff15::abcd:2", sources=["2001:db8::9", "2001:db8::8"], auxdata=b"12345678", auxdata_len=2),
    ICMPv6MLDMultAddrRec(rtype=1, dst="ff15::abcd:3", sources=["2001:db8::9"]),
    ICMPv6MLDMultAddrRec(rtype=3, dst="ff15::abcd:4")]))
frames["mld2_leave_2"] = mld(2, "ff02::16", ICMPv6MLReport2(records=[ICMPv6MLDMultAddrRec(rtype=3, dst="ff15::abcd:1")]))
frames["mld2_without_address"] = mld("::", "ff02::16", ICMPv6MLReport2(
    records=[ICMPv6MLDMultAddrRec(rtype=4, dst="ff15::abcd:1")]), mac="02:00:00:00:00:12")
frames["mld2_padded_2"] = mld(2, "ff02::16", ICMPv6MLReport2(
    records=[ICMPv6MLDMultAddrRec(rtype=4, dst="ff15::abcd:1")]), options=[PadN(optdata=b""), RouterAlert()])
frames["mld2_global_2"] = mld("2001:db8:10::2", "ff02::16", ICMPv6MLReport2(
    records=[ICMPv6MLDMultAddrRec(rtype=4, dst="ff15::abcd:1")]), mac="02:00:00:00:00:12")
frames["mld2_more_hops_2"] = mld(2, "ff02::16", ICMPv6MLReport2(
    records=[ICMPv6MLDMultAddrRec(rtype=4, dst="ff15::abcd:1")]), hops=64)
frames["mld2_no_alert_2"] = mld(2, "ff02::16", ICMPv6MLReport2(
    records=[ICMPv6MLDMultAddrRec(rtype=4, dst="ff15::abcd:1")]), options=[PadN(optdata=b"\0\0\0\0")])
frames["mld1_report_all_nodes_2"] = mld(2, "ff02::1", ICMPv6MLReport(mladdr="ff02::1"))
# The switch's own is fe80::ff:fe00:ff01 (02:00:00:00:ff:01): fe80::1 is lower, fe80::1:0:0:1 is higher
frames["mld_query_low"] = mld("fe80::1", "ff02::1", ICMPv6MLQuery2(mladdr="::", mrd=10000, QRV=2, QQIC=125), mac="02:00:00:00:00:77")
frames["mld_query_high"] = mld("fe80::1:0:0:1", "ff02::1", ICMPv6MLQuery2(mladdr="::", mrd=10000, QRV=2, QQIC=125),
                               mac="02:00:00:00:00:77")
frames["mld1_query_low"] = mld("fe80::1", "ff02::1", ICMPv6MLQuery(mladdr="::", mrd=10000), mac="02:00:00:00:00:77")

for name, dst in (("one", "239.1.1.1"), ("other", "239.129.1.1"), ("two", "239.2.2.2"), ("three", "239.3.3.3"),
                  ("four", "239.4.4.4"), ("unknown", "239.9.9.9"), ("ospf", "224.0.0.5"), ("mdns", "224.0.0.251"),
                  ("v6_one", "ff15::abcd:1"), ("v6_two", "ff15::abcd:2"), ("v6_three", "ff15::abcd:3"),
                  ("v6_four", "ff15::abcd:4"), ("v6_node", "ff02::1:ff00:2")):
    frames["to_" + name] = udp(dst)

# What the switch says: to all, about a group; from the address of the VLAN, and from none.
frames["asks_all"] = igmp("10.0.10.1", "224.0.0.1", query3(), mac=SWITCH)
frames["asks_all_from_nobody"] = igmp("0.0.0.0", "224.0.0.1", query3(), mac=SWITCH)
frames["asks_group"] = igmp("10.0.10.1", "239.1.1.1", query3("239.1.1.1", code=10), mac=SWITCH)
OWN = "fe80::ff:fe00:ff01"
frames["mld_asks_all"] = mld(OWN, "ff02::1", ICMPv6MLQuery2(mladdr="::", mrd=10000, QRV=2, QQIC=125), mac=SWITCH)
frames["mld_asks_group"] = mld(OWN, "ff15::abcd:1", ICMPv6MLQuery2(mladdr="ff15::abcd:1", mrd=1000, QRV=2, QQIC=125), mac=SWITCH)

with open(os.path.join(os.path.dirname(__file__), "snoop_frames.h"), "w") as out:
    out.write("// SPDX-License-Identifier: Apache-2.0\n//\n// Written by snoop_frames.py. Hosts are 10.0.10.N or "
              "fe80::N.\n#ifndef SILKEN_HARNESS_TOR_SNOOP_FRAMES_H\n#define SILKEN_HARNESS_TOR_SNOOP_FRAMES_H\n\n"
              "// clang-format off\n")
    for name, frame in frames.items():
        lines = [frame.hex()[i:i + 100] for i in range(0, len(frame.hex()), 100)]
        out.write(f"#define {name.upper()} \\\n    " + " \\\n    ".join(f'"{line}"' for line in lines) + "\n")
    out.write("// clang-format on\n\n#endif\n")
