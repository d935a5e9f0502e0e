#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a host of the lab does about groups, with its kernel's own IGMP and MLD: reads commands as lines of JSON,
answers each with one, as peer.py does. Runs in the host's network namespace.

    {"do": "version", "interface": I, "igmp": N, "mld": N}     speaks those (0: the newest)
    {"do": "join", "group": G, "interface": I}                 a socket that joins, and keeps what comes
    {"do": "join", "group": G, "interface": I, "source": A}    of one sender alone
    {"do": "leave", "group": G}
    {"do": "got", "group": G}                                  how many datagrams have come since; and forgets them
    {"do": "cast", "group": G, "interface": I, "count": N}     sends so many
"""
import json
import socket
import struct
import sys
import time

PORT = 5001
MCAST_JOIN_SOURCE_GROUP = 46
members = {}


def is_ipv6(group):
    return ":" in group


def version(interface, igmp, mld):
    for path, n in ((f"ipv4/conf/{interface}/force_igmp_version", igmp), (f"ipv6/conf/{interface}/force_mld_version", mld)):
        with open(f"/proc/sys/net/{path}", "w") as f:
            f.write(str(n))


def request(group, interface):
    index = socket.if_nametoindex(interface)
    if is_ipv6(group):
        return socket.inet_pton(socket.AF_INET6, group) + struct.pack("i", index)
    return struct.pack("4s4si", socket.inet_aton(group), bytes(4), index)


def address_bytes(address):
    if is_ipv6(address):
        return struct.pack("=HHI16sI", socket.AF_INET6, 0, 0, socket.inet_pton(socket.AF_INET6, address), 0).ljust(128, b"\0")
    return struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(address)).ljust(128, b"\0")


def join(group, interface, source=None):
    s = socket.socket(socket.AF_INET6 if is_ipv6(group) else socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((group, PORT, 0, socket.if_nametoindex(interface)) if is_ipv6(group) else (group, PORT))
    s.setblocking(False)
    level = socket.IPPROTO_IPV6 if is_ipv6(group) else socket.IPPROTO_IP
    if source:
        s.setsockopt(level, MCAST_JOIN_SOURCE_GROUP, struct.pack("Ixxxx", socket.if_nametoindex(interface))
                     + address_bytes(group) + address_bytes(source))
    elif is_ipv6(group):
        s.setsockopt(level, socket.IPV6_JOIN_GROUP, request(group, interface))
    else:
        s.setsockopt(level, socket.IP_ADD_MEMBERSHIP, request(group, interface))
    members[group] = s


def leave(group):
    members.pop(group).close()


def got(group):
    n = 0
    while True:
        try:
            members[group].recv(2000)
        except BlockingIOError:
            return n
        n += 1


def cast(group, interface, count):
    index = socket.if_nametoindex(interface)
    with socket.socket(socket.AF_INET6 if is_ipv6(group) else socket.AF_INET, socket.SOCK_DGRAM) as s:
        if is_ipv6(group):
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 5)
        else:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("4s4si", bytes(4), bytes(4), index))
            s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 5)
        for i in range(count):
            s.sendto(b"%d" % i, (group, PORT))
            time.sleep(0.002)


COMMANDS = {"version": version, "join": join, "leave": leave, "got": got, "cast": cast}

for line in sys.stdin:
    command = json.loads(line)
    try:
        answer = {"answer": COMMANDS[command.pop("do")](**command)}
    except OSError as e:
        answer = {"error": str(e)}
    print(json.dumps(answer), flush=True)
