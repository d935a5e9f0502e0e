# SPDX-License-Identifier: Apache-2.0
"""SwitchML's published controller against `silken run`: see switchml.sh. The switch has the published program and a port for
each worker, an end of a veth pair whose other end is the worker's. The controller starts, workers join it by its gRPC, a
barrier and a broadcast go through it, the workers sum tensors over UDP packets, some of them sent twice, and the
controller's command line says what it counted."""
import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = ["harness/brt", "harness/control"]
import outside  # noqa: E402
from live import Checks  # noqa: E402
from switchml_controller import Controller, ends, switch_configuration  # noqa: E402

SILKEN = outside.SILKEN
SWITCH_MAC, SWITCH_IP, UDP_PORT = "02:00:00:00:00:fe", "10.0.0.254", 0xbee0
ELEMENTS, MTU_256, SLOTS = 64, 1, 16

checks = Checks()


def mac(worker):
    return f"02:00:00:00:01:{worker:02x}"


def ip(worker):
    return f"10.0.0.{worker + 1}"


def interfaces(workers):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for w in range(workers):
        subprocess.run(["ip", "link", "add", f"smlsw{w}", "type", "veth", "peer", "name", f"smlh{w}"], check=True)
        for name in (f"smlsw{w}", f"smlh{w}"):
            with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as f:
                f.write("1")
            subprocess.run(["ip", "link", "set", name, "up"], check=True)


class Worker:
    """A rank of an all-reduce: UDP packets of 64 integers. The exponents of results are not looked at: the program gives
    its control of exponents the field of the packet's as what to write and its whole metadata after it, so that P4's
    order of writing arguments back leaves those of the last packet."""

    def __init__(self, rank):
        self.rank, self.sums = rank, {}
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.socket.bind((f"smlh{rank}", 0))
        self.socket.settimeout(0.5)

    def value(self, packet, i):
        return (self.rank + 1) * 1000 + packet * 7 + i

    def frame(self, packet):
        slot, version = packet % SLOTS, packet // SLOTS % 2
        payload = struct.pack(">BBIHBB", MTU_256, 0, packet, version << 15 | slot, 3 + self.rank, 5)
        payload += struct.pack(f">{ELEMENTS}i", *(self.value(packet, i) for i in range(ELEMENTS)))
        udp = struct.pack(">HHHH", 4000 + self.rank, UDP_PORT, 8 + len(payload), 0) + payload
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), packet & 0xffff, 0, 64, 17, 0,
                           socket.inet_aton(ip(self.rank)), socket.inet_aton(SWITCH_IP))
        words = sum(struct.unpack(">10H", head))
        words = ~((words & 0xffff) + (words >> 16)) & 0xffff
        head = head[:10] + struct.pack(">H", words) + head[12:]
        ethernet = bytes.fromhex(SWITCH_MAC.replace(":", "")) + bytes.fromhex(mac(self.rank).replace(":", "")) + b"\x08\0"
        return ethernet + head + udp

    def take(self):
        """The next result, (packet, sums); None: none came."""
        while True:
            try:
                frame, where = self.socket.recvfrom(2000)
            except socket.timeout:
                return None
            if where[2] == socket.PACKET_OUTGOING or frame[23] != 17 or frame[26:30] != socket.inet_aton(SWITCH_IP):
                continue
            tsi = int.from_bytes(frame[44:48], "big")
            return tsi, struct.unpack(f">{ELEMENTS}i", frame[52:52 + 4 * ELEMENTS])

    def reduce(self, packets):
        """Sends each packet when the one of its slot before has its result; every fifth twice."""
        for first in range(0, packets, SLOTS):
            waits = set(range(first, min(first + SLOTS, packets)))
            for p in sorted(waits):
                self.socket.send(self.frame(p))
                if p % 5 == 0:
                    self.socket.send(self.frame(p))
            end = time.monotonic() + 60
            while waits and time.monotonic() < end:
                got = self.take()
                if got is None:
                    for p in sorted(waits):
                        self.socket.send(self.frame(p)) # lost, or the others are late
                elif got[0] in waits:
                    waits.discard(got[0])
                    self.sums[got[0]] = got[1]


def join(workers):
    import grpc # pylint: disable=import-outside-toplevel
    import switchml_pb2 # pylint: disable=import-outside-toplevel,import-error
    import switchml_pb2_grpc # pylint: disable=import-outside-toplevel,import-error
    channel = grpc.insecure_channel("127.0.0.1:50099")
    session, sync = switchml_pb2_grpc.SessionStub(channel), switchml_pb2_grpc.SyncStub(channel)
    for w in range(workers):
        got = session.UdpSession(switchml_pb2.UdpSessionRequest(
            session_id=5, rank=w, num_workers=workers, mac=int(mac(w).replace(":", ""), 16),
            ipv4=int.from_bytes(socket.inet_aton(ip(w)), "big"), packet_size=MTU_256), timeout=30, wait_for_ready=True)
        checks.equal(f"worker {w} joins", (got.session_id, got.mac, got.ipv4),
                     (5, int(SWITCH_MAC.replace(":", ""), 16), int.from_bytes(socket.inet_aton(SWITCH_IP), "big")))
    values = [None] * workers

    def broadcast(w):
        values[w] = sync.Broadcast(switchml_pb2.BroadcastRequest(value=77 + w, rank=w, num_workers=workers, root=0),
                                   timeout=30).value
    broadcast(0)
    for w in range(1, workers):
        broadcast(w)
    checks.equal("a broadcast", values, [77] * workers)
    waiting = [sync.Barrier.future(switchml_pb2.BarrierRequest(num_workers=1), timeout=30)]
    checks.equal("a barrier", [str(type(f.result()).__name__) for f in waiting], ["BarrierResponse"])


def run(args, folder):
    controller = Controller(args.app, args.sde, folder, [mac(w) for w in range(args.workers)], SWITCH_MAC, SWITCH_IP)
    sys.path[:0] = controller.paths
    config = {**switch_configuration(args.app, folder),
              "ports": [{"port": 4 * w, "device": f"net_af_packet{w},iface=smlsw{w}"} for w in range(args.workers)]}
    with open(os.path.join(folder, "run.json"), "w") as f:
        json.dump(config, f)
    logs = {name: os.path.join(folder, name + ".log") for name in ("switch", "controller", "switchml")}
    with open(logs["switch"], "w") as f:
        switch = subprocess.Popen([SILKEN, "run", "-c", os.path.join(folder, "run.json")], stdout=f, stderr=f, cwd=folder)
    try:
        ends(switch, "the switch", r"^ready$", logs["switch"], 600)
        controller.start()
        checks.true("the controller starts", controller.process.poll() is None)
        join(args.workers)
        workers = [Worker(w) for w in range(args.workers)]
        threads = [threading.Thread(target=w.reduce, args=(args.packets,)) for w in workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for w in workers:
            want = {p: tuple(sum(other.value(p, i) for other in workers) for i in range(ELEMENTS))
                    for p in range(args.packets)}
            checks.true(f"worker {w.rank} has all sums", w.sums == want,
                        f"{len(w.sums)} of {args.packets}")
        shown = controller.tell("show_udp_workers")
        print(shown)
        for w in range(args.workers):
            checks.has(f"the command line knows worker {w}", shown, ip(w))
        shown, rows = controller.statistics(SLOTS)
        print(shown)
        checks.equal("statistics of 16 slots", [r[0] for r in rows], list(range(16)))
        checks.equal("each result was broadcast once", sum(r[1] + r[2] for r in rows), args.packets)
        print(controller.tell("show_ports"))
    finally:
        controller.stop()
        if switch.poll() is None:
            switch.terminate()
        ended = switch.wait(60)
        for name, log in logs.items():
            if args.verbose and os.path.exists(log):
                with open(log) as f:
                    print(f"---- {name}\n{f.read()[-3000:]}")
    checks.equal("the switch ends well", ended, 0)


def main():
    p = argparse.ArgumentParser(prog="switchml.sh")
    p.add_argument("--app", required=True, type=os.path.abspath)
    p.add_argument("--sde", required=True, type=os.path.abspath)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--packets", type=int, default=160)
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    interfaces(args.workers)
    with tempfile.TemporaryDirectory(prefix="silken-switchml-") as folder:
        run(args, folder)
    checks.end()


main()
