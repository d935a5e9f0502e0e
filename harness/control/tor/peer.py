#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a host of the lab does, with its kernel's own stacks: reads commands as lines of JSON, answers each
with one. Runs in the host's network namespace.

    {"do": "serve", "port": P}                      echoes what comes, UDP and TCP, both address families
    {"do": "udp", "to": A, "port": P, "bytes": N, "tries": T}   how many of T datagrams came back whole
    {"do": "tcp", "to": A, "port": P, "bytes": N}   whether N bytes came back as they were sent
    {"do": "watch", "interface": I}                 from now on frames that come in are kept
    {"do": "seen"}                                  those since: hexadecimal; and forgets them
    {"do": "send", "interface": I, "frame": HEX}
    {"do": "announce", "interface": I, "address": A, "mac": M}   an ARP announcement
    {"do": "tag", "interface": I, "name": N, "vid": V}   an interface N whose frames are tagged on I. By a tap
                                                    and here, since not every kernel has VLAN devices
"""
import ctypes
import fcntl
import hashlib
import json
import os
import socket
import struct
import sys
import threading
import time

seen, lock = [], threading.Lock()


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def echo_udp(s):
    while True:
        data, whom = s.recvfrom(65535)
        s.sendto(data, whom)


def echo_one(c):
    with c:
        while data := c.recv(65536):
            c.sendall(data)


def echo_tcp(s):
    while True:
        threading.Thread(target=echo_one, args=(s.accept()[0],), daemon=True).start()


def serve(port):
    for family in (socket.AF_INET, socket.AF_INET6):
        for kind, run in ((socket.SOCK_DGRAM, echo_udp), (socket.SOCK_STREAM, echo_tcp)):
            s = socket.socket(family, kind)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            s.bind(("", port))
            if kind == socket.SOCK_STREAM:
                s.listen()
            threading.Thread(target=run, args=(s,), daemon=True).start()


def udp(to, port, bytes, tries):
    back = 0
    with socket.socket(family_of(to), socket.SOCK_DGRAM) as s:
        s.settimeout(0.5)
        for i in range(tries):
            data = hashlib.sha256(b"%d" % i).digest() * (bytes // 32 + 1)
            try:
                s.sendto(data[:bytes], (to, port))
                back += s.recvfrom(65535)[0] == data[:bytes]
            except OSError:
                pass
    return back


def tcp(to, port, bytes):
    data = hashlib.sha256(b"tcp").digest() * (bytes // 32 + 1)
    data, got = data[:bytes], bytearray()
    with socket.socket(family_of(to)) as s:
        s.settimeout(30)
        s.connect((to, port))
        sender = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)), daemon=True)
        sender.start()
        while part := s.recv(65536):
            got += part
    return got == data


def keep(s):
    while True:
        try:
            data, _, _, address = s.recvmsg(65535)[:4]
        except OSError:  # the interface is down; it may come back
            time.sleep(0.05)
            continue
        if address[2] != socket.PACKET_OUTGOING:
            with lock:
                seen.append(data.hex())


def watch(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.bind((interface, 3))
    threading.Thread(target=keep, args=(s,), daemon=True).start()


def take():
    with lock:
        out = seen[:]
        seen.clear()
    return out


def send(interface, frame):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((interface, 0))
        s.send(bytes.fromhex(frame))


def announce(interface, address, mac):
    mac, ip = mac.replace(":", ""), socket.inet_aton(address).hex()
    for op in ("0001", "0002"):
        send(interface, "ffffffffffff" + mac + "0806000108000604" + op + mac + ip + "ffffffffffff" + ip + "00" * 18)


TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
SOL_PACKET, PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 263, 8, 1 << 4


def out_with_tag(tap, s, vid):
    while frame := os.read(tap, 65536):
        s.send(frame[:12] + struct.pack("!HH", 0x8100, vid) + frame[12:])


def in_without_tag(tap, s, vid):
    while True:
        frame, extra, _, address = s.recvmsg(65536, 256)
        for level, kind, data in extra:  # the kernel has taken the tag off
            if level == SOL_PACKET and kind == PACKET_AUXDATA and address[2] != socket.PACKET_OUTGOING:
                status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", data[:20])
                if status & TP_STATUS_VLAN_VALID and tci & 0xFFF == vid:
                    os.write(tap, frame)


def tag(interface, name, vid):
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.bind((interface, 3))
    for run in (out_with_tag, in_without_tag):
        threading.Thread(target=run, args=(tap, s, vid), daemon=True).start()


COMMANDS = {"tag": tag, "serve": serve, "udp": udp, "tcp": tcp, "watch": watch, "seen": take, "send": send,
            "announce": announce}

for line in sys.stdin:
    command = json.loads(line)
    try:
        answer = {"answer": COMMANDS[command.pop("do")](**command)}
    except OSError as e:
        answer = {"error": str(e)}
    print(json.dumps(answer), flush=True)
