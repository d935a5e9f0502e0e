# SPDX-License-Identifier: Apache-2.0
"""Ports on interfaces of the kernel's (af_packet/af_packet.h, and DPDK's driver, dpdk/fanout.h): what comes is what was
on the wire. IPv4 fragments come as they are, also alone; what the kernel itself sends on the interface does not come in;
a frame that its ring cuts is dropped and counted, as are those for which a ring has no room. What a host leaves to its
card to cut is there as packets. With one queue and with several. Tags and checksums that were left to a card are put back. Rings are as large as pipeline/ports/af_packet.c
says. A whole packet goes out with a tag, too; interfaces do not join frames."""
import ctypes
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, "harness/control")
from live import INTERFACES, L2, SILKEN, Checks, Switch, Wire, inside, ip, veth # noqa: E402

inside(__file__)
checks = Checks()
if not INTERFACES:
    print("no network namespaces here: nothing is tried")
    checks.true("nothing to try", True)
    checks.end()

HOST, OTHER = "02:00:00:00:00:0b", "02:00:00:00:00:0a"
MORE = 0x2000
SIOCETHTOOL, ETHTOOL_GGRO, ETHTOOL_SGRO = 0x8946, 0x2b, 0x2c
ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO = 0x17, 0x1f, 0x24
PACKET_VNET_HDR, GSO_TCPV4, NEEDS_CSUM = 15, 1, 1
TOO_LONG = "longer than a packet buffer or its port allows"


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(identification, flags_offset, payload, protocol=17, source=1):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), identification, flags_offset, 64, protocol, 0,
                       bytes([10, 0, 0, source]), bytes([10, 0, 0, 200]))
    return (bytes.fromhex((HOST + OTHER).replace(":", "")) + b"\x08\x00" + head[:10] +
            struct.pack("!H", checksum(head)) + head[12:] + payload)


def fragments(identification, source=1):
    """Of a datagram of 3,000 bytes, the last one first, and one whose others do not come."""
    whole = struct.pack("!HHHH", 7, 7, 3000, 0) + bytes(i % 251 for i in range(2992))
    return [ipv4(identification, 2960 // 8, whole[2960:], source=source),
            ipv4(identification, MORE, whole[:1480], source=source),
            ipv4(identification, MORE | 1480 // 8, whole[1480:2960], source=source),
            ipv4(identification + 1, MORE | 1480 // 8, whole[1480:2960], source=source)]


def short(frames):
    """What tells one frame from another, where all is printed."""
    return [f"{len(f)}:{zlib.crc32(f):08x}" for f in frames]


def received(wire, n):
    """IPv4 frames for HOST, as they came."""
    found = []
    wire.socket.settimeout(5)
    while len(found) < n:
        try:
            frame, address = wire.socket.recvfrom(65536)
        except socket.timeout:
            break
        if address[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x08\x00":
            found.append(frame)
    return found


def tcp(sequence, flags, payload, partial=False):
    """With its checksum, or only that of the pseudo header."""
    head = struct.pack("!HHIIBBHHH", 1, 2, sequence, 77, 5 << 4, flags, 1000, 0, 0)
    pseudo = bytes([10, 0, 0, 1, 10, 0, 0, 200]) + struct.pack("!HH", 6, len(head) + len(payload))
    total = ~checksum(pseudo) & 0xFFFF if partial else checksum(pseudo + head + payload + bytes(len(payload) % 2))
    return head[:16] + struct.pack("!H", total) + head[18:] + payload


def send_unsegmented(interface):
    """A TCP segment of 4,000 bytes, as a stack hands it to an interface that takes segmentation over. Returns the
    packets that it stands for."""
    payload = bytes(i * 11 % 253 for i in range(4000))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as s:
        s.setsockopt(263, PACKET_VNET_HDR, 1) # SOL_PACKET
        s.bind((interface, 0))
        s.send(struct.pack("<BBHHHH", NEEDS_CSUM, GSO_TCPV4, 14 + 20 + 20, 1460, 14 + 20, 16) +
               ipv4(9, 0x4000, tcp(1000, 0x18, payload, True), 6))
    return [ipv4(9 + i, 0x4000, tcp(1000 + 1460 * i, 0x18 if i == 2 else 0x10, payload[1460 * i:1460 * (i + 1)]), 6)
            for i in range(3)]


def offload(interface, on):
    """Whether what is sent on it may be left to a card: checksums and segments."""
    for command in (ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO)[::1 if on else -1]:
        asked = ctypes.create_string_buffer(struct.pack("II", command, on))
        with socket.socket() as s:
            fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), ctypes.addressof(asked)))


def send_unsummed(interface, length, tag=b""):
    """A UDP datagram whose checksum is left to the card, in a frame of so many bytes without its tag. Returns it whole."""
    payload = bytes(i * 7 % 256 for i in range(length - 42))
    pseudo = bytes([10, 0, 0, 1, 10, 0, 0, 200]) + struct.pack("!HH", 17, 8 + len(payload))
    udp = struct.pack("!HHHH", 7, 7, 8 + len(payload), 0)
    partial = ipv4(9, 0, udp[:6] + struct.pack("!H", ~checksum(pseudo) & 0xFFFF) + payload)
    data = pseudo + udp + payload
    whole = ipv4(9, 0, udp[:6] + struct.pack("!H", checksum(data + bytes(len(data) % 2)) or 0xFFFF) + payload)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as s:
        s.setsockopt(263, PACKET_VNET_HDR, 1) # SOL_PACKET
        s.bind((interface, 0))
        s.send(struct.pack("<BBHHHH", NEEDS_CSUM, 0, 42 + len(tag), 0, 34 + len(tag), 6) + partial[:12] + tag +
               partial[12:])
    return whole[:12] + tag + whole[12:]


def on_wire(wire):
    """The next frame as it was on the wire: a packet socket is told of its tag apart."""
    wire.socket.setsockopt(263, 8, 1) # SOL_PACKET, PACKET_AUXDATA
    while True:
        frame, more, _, address = wire.socket.recvmsg(65536, 256)
        if address[2] == socket.PACKET_OUTGOING:
            continue
        status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", more[0][2][:20])
        return frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:] if status & 0x10 else frame


def rings():
    """Bytes of a block and frames of each ring here, as the kernel has them."""
    said = subprocess.run(["ss", "-0", "-e", "-a"], capture_output=True, text=True, check=True).stdout
    return [sorted((int(block), int(frames)) for block, frames in
                   re.findall(rf"ring_{way}x\(blk_size:(\d+),.*?frm_nr:(\d+),", said)) for way in "rt"]


def configuration(more, queues, driver="net_af_packet"):
    return {"program": L2,
            "ports": [{"port": i, "device": f"{driver}{i},iface={name}{more}", **queues}
                      for i, name in ((1, "swa"), (2, "swb"))],
            "entries": [{"table": "forward", "key": {"hdr.ethernet.dst_addr": HOST}, "action": "send",
                         "args": {"port": 2}}]}


def start_of(config, *before):
    """Status and what is said of a switch that does not start."""
    with tempfile.TemporaryDirectory() as folder:
        sw = Switch(config, folder=folder)
        sw.write(config)
        r = subprocess.run([*before, SILKEN, "run", "-c", sw.path("c.json")], capture_output=True, text=True, timeout=300,
                           check=False)
        return r.returncode, r.stderr


def until(true):
    """Whether it becomes so within ten seconds."""
    end = time.monotonic() + 10
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


for name in ("a", "b"):
    veth("sw" + name, "h" + name)
a, b, inner = Wire("ha"), Wire("hb"), Wire("swa")
for text, more, queues, driver in (("one queue", "", {}, "net_af_packet"),
                                   ("three queues", ",qpairs=3", {"queues": 3}, "net_af_packet"),
                                   ("DPDK's driver", "", {}, "eth_af_packet")):
    with Switch(configuration(more, queues, driver)) as sw:
        # of one flow, in their order; then of many
        sent = fragments(7)
        for frame in sent:
            a.socket.send(frame)
        checks.equal(f"{text}: fragments come as they are", short(received(b, len(sent))), short(sent))
        sent = [f for i in range(20) for f in fragments(100 + 2 * i, 2 + i)]
        for frame in sent:
            a.socket.send(frame)
        checks.equal(f"{text}: of many hosts", sorted(short(received(b, len(sent)))), sorted(short(sent)))
        before = sw.port(1)["rx_packets"]
        checks.equal(f"{text}: none is taken twice", before, 84)

        inner.send(HOST, 5)
        a.send(HOST, 6)
        checks.equal(f"{text}: what the kernel sends there does not come in", b.receive(), 6)
        checks.equal(f"{text}: and is not counted", sw.port(1)["rx_packets"], before + 1)

        # DPDK's driver knows no segments: its ring cuts one, and it goes nowhere
        ours = driver == "net_af_packet"
        sent = send_unsegmented("ha")
        a.send(HOST, 8, length=1514)
        if ours:
            whole = received(b, 1)
            checks.equal(f"{text}: packets of a connection are sent as one", short([f[54:] for f in whole]),
                         short([b"".join(f[54:] for f in sent)]))
        checks.equal(f"{text}: and the next", b.receive(), 8)
        checks.equal(f"{text}: they are counted", sw.port(1)["rx_packets"], before + (5 if ours else 3))
        if ours:
            offload("swb", 0) # then the interface does not cut them, and they are sent one by one
            send_unsegmented("ha")
            checks.equal(f"{text}: a segment is its packets", short(received(b, 3)), short(sent))
            offload("swb", 1)
            checks.equal(f"{text}: counted one by one", sw.port(2)["tx_packets"], before + 8)
        checks.equal(f"{text}: ends", sw.stop(), 0)
        counts, drops = sw.accounts()
        checks.equal(f"{text}: with its reason", drops, {} if ours else {TOO_LONG: 1})
        checks.equal(f"{text}: all accounted for", counts[0] + counts[1] + counts[2], counts[3] + counts[4])
# who asks for single packets gets them, by the option, the program, or a program that takes over; the numbers are the same
counted = []
with tempfile.TemporaryDirectory() as folder:
    single = os.path.join(folder, "single.p4")
    with open(L2, encoding="utf-8") as f:
        text = f.read()
    with open(single, "w", encoding="utf-8") as f:
        f.write(text.replace("Switch(pipe) main;", "@silken_single_packets Switch(pipe) main;"))
    for text, options, program, then in (("joined", [], L2, None), ("--strict", ["--strict"], L2, None),
                                         ("its program", [], single, None), ("the next program", [], L2, single)):
        with Switch({**configuration("", {}), "program": program}, *options, folder=folder) as sw:
            if then:
                while sw.ask("program", file=then)["state"] == "compiling":
                    time.sleep(0.05)
            for i in range(4): # its flow is remembered by the second at the latest
                sent = send_unsegmented("ha")
                if text == "joined":
                    checks.equal(f"{text} {i}", short([f[54:] for f in received(b, 1)]),
                                 short([b"".join(f[54:] for f in sent)]))
                else:
                    checks.equal(f"{text} {i}", short(received(b, 3)), short(sent))
            counted.append([(sw.port(p)[k]) for p in (1, 2) for k in ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")])
            checks.equal(f"{text}: ends", sw.stop(), 0)
checks.equal("the same is counted", counted, counted[:1] * 4)
# what finds the ring full the kernel counts, and the port's numbers are those of what was sent
for text, more, queues in (("one queue", "", {}), ("three queues", ",qpairs=3", {"queues": 3})):
    with Switch(configuration(more, queues)) as sw:
        checks.equal(f"{text}: nothing is missed yet", sw.port(1)["device_state"]["missed"], 0)
        os.kill(sw.process.pid, signal.SIGSTOP)
        for i in range(9000):
            a.socket.send(ipv4(i, 0, bytes(20), source=i % 200))
        os.kill(sw.process.pid, signal.SIGCONT)
        checks.true(f"{text}: all are received or missed", until(
            lambda: sw.port(1)["rx_packets"] + sw.port(1)["device_state"]["missed"] == 9000))
        checks.has(f"{text}: ctl tells", sw.ctl("port")[1],
                   f"missed by its device: {9000 - sw.port(1)['rx_packets']}\n")
        checks.true(f"{text}: as many are received as the rings take", 2000 < sw.port(1)["rx_packets"] < 8000)
        checks.equal(f"{text}: ends", sw.stop(), 0)
    b.drain()
# what is sent is given to the kernel at once, so a ring of 256 frames to send from is enough
for text, more, keys, rx, tx, driver in (
        ("who sleeps", "", {}, (65536, 2048), (65536, 256), "net_af_packet"),
        ("who never sleeps", "", {"idle_sleep": 0}, (65536, 1024), (65536, 256), "net_af_packet"),
        ("frames of the string", ",framecnt=100", {"idle_sleep": 0}, (4096, 100), (4096, 100), "net_af_packet"),
        ("whole blocks of them", ",framecnt=4096", {"idle_sleep": 0}, (65536, 4096), (65536, 256), "net_af_packet"),
        ("rings of the string", ",blocksz=8192", {}, (8192, 512), (8192, 256), "net_af_packet"),
        ("large blocks", ",blocksz=2097152,framecnt=1024", {}, (2097152, 1024), (2097152, 1024), "net_af_packet"),
        ("a port with a queueing discipline", ",qdisc_bypass=0", {}, (65536, 2048), (65536, 256), "net_af_packet"),
        ("DPDK's driver", "", {}, (65536, 2048), (65536, 2048), "eth_af_packet")):
    with Switch({**configuration(more, {}, driver), **keys}) as sw:
        checks.equal(f"rings of {text}", rings(), [[rx] * 2, [tx] * 2])
        a.send(HOST, 9)
        checks.equal(f"rings of {text}: a frame goes through", b.receive(), 9)
        checks.equal(f"rings of {text}: ends", sw.stop(), 0)
# the MTU is of what is behind a tag: a whole packet of a host's goes out on a tagged link, too
TAG = b"\x81\x00\x00\x0a"
def set_mtu(mtu, *interfaces):
    for name in interfaces:
        ip("link", "set", name, "mtu", str(mtu))


set_mtu(9000, "ha", "swa")
for mtu in (1500, 4000):
    set_mtu(mtu, "hb", "swb")
    with Switch(configuration("", {})) as sw:
        frame = ipv4(11, 0, bytes(mtu + 100))
        tagged, whole = frame[:12] + TAG + frame[12:], mtu + 14
        for sent in (tagged[:whole + 5], tagged[:whole + 4], frame[:whole + 1], frame[:whole]):
            a.socket.send(sent)
        # a socket is given frames without their tag
        checks.equal(f"MTU {mtu}: whole packets, with a tag and without", short(received(b, 2)), short([frame[:whole]] * 2))
        a.send(HOST, 12)
        checks.equal(f"MTU {mtu}: the ring goes on", b.receive(), 12)
        checks.equal(f"MTU {mtu}: ends", sw.stop(), 0)
        checks.equal(f"MTU {mtu}: longer ones are counted", sw.accounts()[1], {TOO_LONG: 2})
set_mtu(1500, "ha", "swa", "hb", "swb")
# what a host leaves to its card is there: checksums, and tags of either type
with Switch(configuration("", {})) as sw:
    for length in (60, 61, 1513, 1514):
        # the kernel has room beyond the MTU for a tag of the first type
        for tag in (b"", TAG, b"\x88\xa8\x60\x0a")[:2 if length > 1510 else 3]:
            whole = send_unsummed("ha", length, tag)
            checks.equal(f"{length} bytes, tag {tag.hex() or 'none'}", short([on_wire(b)]), short([whole]))
    checks.equal("left to the card: ends", sw.stop(), 0)
# frames to others' addresses
with Switch(configuration("", {"promiscuous": False})) as sw:
    a.send(HOST, 13)
    a.send("ff:ff:ff:ff:ff:ff", 14)
    a.send(HOST, 14)
    a.send("01:00:5e:00:00:01", 14)
    checks.true("not promiscuous: not what is for others", until(lambda: sw.port(1)["rx_packets"] == 2))
    checks.equal("not promiscuous: ends", sw.stop(), 0)
# a frame that the other end never takes does not hold up those after it
set_mtu(1500, "ha", "swa", "swb")
set_mtu(1000, "hb")
with Switch(configuration("", {})) as sw:
    a.send(HOST, 15, length=1400)
    a.send(HOST, 16)
    checks.equal("one that is not taken is given up", b.receive(), 16)
    checks.equal("and is an error", sw.port(2)["device_state"]["tx_errors"], 1)
    checks.equal("given up: ends", sw.stop(), 0)
set_mtu(1500, "hb")
# nothing that waited while an interface was down comes out when it is up
with Switch(configuration("", {})) as sw:
    checks.true("up", until(lambda: sw.port(2)["up"]))
    os.kill(sw.process.pid, signal.SIGSTOP)
    for i in range(50):
        a.send(HOST, 100 + i)
    ip("link", "set", "swb", "down")
    os.kill(sw.process.pid, signal.SIGCONT)
    checks.true("down", until(lambda: not sw.port(2)["up"]))
    ip("link", "set", "swb", "up")
    checks.true("up again", until(lambda: sw.port(2)["up"]))
    a.send(HOST, 17)
    checks.equal("nothing stale", b.receive(), 17)
    checks.equal("stale: ends", sw.stop(), 0)
    counts, drops = sw.accounts()
    checks.equal("all accounted for", counts[0] + counts[1] + counts[2], counts[3] + counts[4])
    # the switch sees either the frames or the link first
    checks.equal("50 were dropped", drops.get("port did not take the packet", 0) + drops.get("port not configured or down", 0),
                 50)
# an interface that is down when its port is opened
ip("link", "set", "swa", "down")
with Switch(configuration("", {})) as sw:
    checks.true("down at first: no link", not sw.port(1)["link"])
    ip("link", "set", "swa", "up")
    checks.true("it gets one", until(lambda: sw.port(1)["link"]))
    a.send(HOST, 18)
    checks.equal("frames go through then", b.receive(), 18)
    checks.equal("down at first: ends", sw.stop(), 0)
# an interface that joins what it receives does not any more: a port takes in what was on the wire


def gro(interface, command, on=0):
    """Whether the interface joins frames, or that it shall."""
    asked = ctypes.create_string_buffer(struct.pack("=II", command, on))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), ctypes.addressof(asked)))
    return struct.unpack("=II", asked.raw[:8])[1]


gro("swa", ETHTOOL_SGRO, 1)
checks.equal("swa joins frames", gro("swa", ETHTOOL_GGRO), 1)
with Switch(configuration("", {})) as sw:
    checks.equal("as a port it does not", gro("swa", ETHTOOL_GGRO), 0)
    gro("swa", ETHTOOL_SGRO, 1)
    sw.ask("port.remove", port=1)
    sw.ask("port.add", port=1, device="net_af_packet3,iface=swa")
    checks.equal("nor as one that comes later", gro("swa", ETHTOOL_GGRO), 0)
    checks.equal("without a word", sw.said().count("merges"), 0)
# two ports on one interface would have each frame twice
with Switch(configuration("", {})) as sw:
    checks.has("an interface has one port", sw.refused("port.add", port=3, device="net_af_packet3,iface=swa"),
               "port 3, device 'net_af_packet3,iface=swa': interface 'swa' is port 1's already")
    sw.ask("port.add", port=3, device="net_tap3,iface=swt")
    checks.has("and a tap", sw.refused("port.add", port=4, device="net_tap4,iface=swt"), "interface 'swt' is port 3's already")
    # a container is started again: its interface is another, of the same name
    for number in (20, 21):
        for name in ("a", "b"):
            ip("link", "delete", "sw" + name)
        checks.true("the port is down", until(lambda: not sw.port(1)["link"] and not sw.port(1)["up"]))
        for name in ("a", "b"):
            veth("sw" + name, "h" + name)
        checks.true("and up again", until(lambda: sw.port(1)["link"] and sw.port(1)["up"] and sw.port(2)["up"]))
        a, b = Wire("ha"), Wire("hb")
        a.send(HOST, number)
        checks.equal("frames go through", b.receive(), number)
    # one that was set down stays so, whatever its link does
    sw.ask("port.set", port=1, up=False)
    for name in ("a", "b"):
        ip("link", "delete", "sw" + name)
    for name in ("a", "b"):
        veth("sw" + name, "h" + name)
    checks.true("opened again, it is down", until(lambda: sw.port(1)["link"] and sw.port(2)["up"]) and not sw.port(1)["up"])
    ip("link", "set", "ha", "down")
    checks.true("it has no link", until(lambda: not sw.port(1)["link"]))
    sw.ask("port.set", port=1, up=True)
    checks.true("nor is it up then", not sw.port(1)["up"])
    ip("link", "set", "ha", "up")
    checks.true("with its link it is", until(lambda: sw.port(1)["link"] and sw.port(1)["up"]))
    # a reload that is refused brings back what it can, and waits for the rest, down as it was set
    sw.ask("port.remove", port=3)
    ip("link", "delete", "swa")
    old = configuration("", {})
    sw.write({**old, "ports": [{**port, "mtu": 1400} for port in old["ports"]]})
    checks.has("a reload without an interface", sw.refused("reload"), "there is not an interface 'swa'")
    checks.true("the other is back", until(lambda: sw.port(2)["link"]))
    checks.equal("the first waits", [sw.port(1)["up"], sw.port(1).get("device")], [False, "net_af_packet1,iface=swa"])
    sw.ask("port.set", port=1, up=False)
    veth("swa", "ha")
    checks.true("its interface is there", until(lambda: sw.port(1).get("link")))
    checks.true("it was set down", not sw.port(1)["up"])
    sw.ask("port.set", port=1, up=True)
    checks.true("it is up", until(lambda: sw.port(1)["up"] and sw.port(2)["up"]))
    a, b = Wire("ha"), Wire("hb")
    a.send(HOST, 30)
    checks.equal("frames go through as before", b.receive(), 30)
    checks.equal("said once each time", sw.said().count("port 1: its interface was recreated, and the port is open again"), 4)
    checks.equal("ends", sw.stop(), 0)
    counts = sw.accounts()[0]
    checks.equal("all accounted for", counts[0] + counts[1] + counts[2], counts[3] + counts[4])
# strings that would lose frames, or give them twice
for more, queues, part in ((",qpairs=1,qpairs=4", {"queues": 4}, "qpairs is given twice"),
                           (",iface=swb", {}, "iface is given twice"),
                           (",framesz=4096,blocksz=8192,framesz=2048", {}, "framesz is given twice"),
                           (",qpairs=4", {}, 'it has 4 queues, and the port receives on 1 ("queues")'),
                           (",qpairs=4", {"queues": 3}, "receives on 3"),
                           (",framesz=1536", {}, "blocksz must be a multiple of framesz, which is 1536"),
                           (",blocksz=5000", {}, "blocksz must be a multiple of framesz, which is 2048"),
                           (",framesz=64", {}, "framesz must be at least 128"),
                           (",framesz=130,blocksz=8320", {}, "framesz must be at least 128, and a multiple of 16"),
                           (",framesz=144,blocksz=5184", {}, "blocksz must be a multiple of 4096"),
                           (",qpairs=0", {}, "qpairs must be 1 to 64"),
                           ("", {"queues": 3}, "3 queues, and the device has 1 to receive on"),
                           (",framesz=1024", {"mtu": 1000}, "cannot set its MTU to 1000: the frames of its rings are of "
                            "1024 bytes, 90 of them for the kernel"),
                           (",framesz=0", {}, "framesz must be at least 128"),
                           (",blocksz=0", {}, "blocksz must be a multiple of framesz, which is 2048"),
                           (",framecnt=0", {}, "framecnt must be 1 to 65536"),
                           (",framecnt=101", {}, "framecnt, which is 101, must be a multiple of the frames in a block, 2"),
                           (",framecnt=100", {"mtu": 4000}, "framecnt, which is 100, must be a multiple of the frames in a block, 8"),
                           (",blocksz=2097152", {}, "framecnt, which is 512, must be a multiple of the frames in a block, 1024")):
    try:
        with Switch(configuration(more, queues)):
            checks.true(f"{more} is refused", False)
    except AssertionError as e:
        checks.has(f"{more} is refused", str(e), f"device 'net_af_packet1,iface=swa{more}': ")
        checks.has(f"{more}: why", str(e), part)
# interfaces that cannot be a port, one sentence each
ip("tuntap", "add", "swtun", "mode", "tun")
for interface, part in (("nosuch0", "port 1, device 'net_af_packet1,iface=nosuch0': there is not an interface 'nosuch0'"),
                        ("x" * 16, "the name of an interface has at most 15 bytes"),
                        ("swtun", "port 1: cannot open device 'net_af_packet1,iface=swtun': interface 'swtun' does not carry "
                         "Ethernet frames")):
    status, said = start_of({"program": L2, "ports": [{"port": 1, "device": f"net_af_packet1,iface={interface}"}]})
    checks.equal(f"{interface}: status", status, 2)
    checks.has(interface, said, part)
    checks.equal(f"{interface}: one line", said.count("\n"), 1)
status, said = start_of(configuration("", {}), "setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw")
checks.equal("without net_raw: status", status, 2)
checks.has("without net_raw", said, "port 1: cannot open device 'net_af_packet1,iface=swa': it needs the capability net_raw, "
           "which root has, also in a network namespace of one's own\n")
checks.end()
