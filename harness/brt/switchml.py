# SPDX-License-Identifier: Apache-2.0
"""SwitchML's published controller against `silken run`: see switchml.sh. The switch has the published program and a port for
each worker, an end of a veth pair whose other end is the worker's. The controller starts, workers join it by its gRPC, a
barrier and a broadcast go through it, the workers sum tensors over UDP packets, some of them sent twice, and the
controller's command line says what it counted. What the controller imports besides the SDE's client and is not on this
machine is made: the stubs of its services, and colours of its command line, which has none then."""
import argparse
import json
import os
import re
import shutil
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

SILKEN = outside.SILKEN
SWITCH_MAC, SWITCH_IP, UDP_PORT = "02:00:00:00:00:fe", "10.0.0.254", 0xbee0
ELEMENTS, MTU_256, SLOTS = 64, 1, 16

# grpc_python_plugin's, for two services
STUBS = '''
import grpc
import switchml_pb2
METHODS = {"Session": ("RdmaSession", "UdpSession"), "Sync": ("Barrier", "Broadcast")}
def stub(service):
    def init(self, channel):
        for name in METHODS[service]:
            setattr(self, name, channel.unary_unary(
                f"/switchml_proto.{service}/{name}", lambda message: message.SerializeToString(),
                getattr(switchml_pb2, name + "Response").FromString))
    return type(service + "Stub", (), {"__init__": init})
def add(service):
    def function(servicer, server):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("switchml_proto." + service, {
            name: grpc.unary_unary_rpc_method_handler(
                getattr(servicer, name), request_deserializer=getattr(switchml_pb2, name + "Request").FromString,
                response_serializer=lambda message: message.SerializeToString())
            for name in METHODS[service]}),))
    return function
SessionStub, SyncStub = stub("Session"), stub("Sync")
class SessionServicer: pass
class SyncServicer: pass
add_SessionServicer_to_server, add_SyncServicer_to_server = add("Session"), add("Sync")
'''

checks = Checks()


def prepare(folder, args):
    """What the controller looks for below SDE_INSTALL and on its path."""
    made = outside.prepare(folder, args.sde, args.sde)
    packages = os.path.join(folder, "install/lib/python3/site-packages/tofino")
    os.makedirs(packages)
    shutil.copytree(os.path.join(folder, "bfrt_grpc"), os.path.join(packages, "bfrt_grpc"))
    subprocess.run(["protoc", f"--proto_path={args.app}/dev_root/protos", f"--python_out={folder}", "switchml.proto"],
                   check=True)
    for name, text in (("switchml_pb2_grpc.py", STUBS), ("colors.py", "def color(text, *_, **__):\n    return text\n")):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    with open(os.path.join(folder, "ports.yaml"), "w") as f:
        f.write("ports:\n")
        f.writelines(f'  {w + 1}/0 : {{speed: "100G", fec: "none", mac: "{mac(w)}"}}\n' for w in range(args.workers))
    return made


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


def ends(process, what, pattern, log, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with open(log) as f:
            if re.search(pattern, f.read(), re.M):
                return True
        if process.poll() is not None:
            break
        time.sleep(0.1)
    with open(log) as f:
        sys.exit(f"error: {what}: {f.read()[-2000:]}")


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


def tell(controller, log, line):
    """What the command line answers."""
    with open(log) as f:
        before = len(f.read())
    controller.stdin.write(line + "\n")
    controller.stdin.flush()
    end = time.monotonic() + 120
    while time.monotonic() < end:
        time.sleep(0.3)
        with open(log) as f:
            text = f.read()[before:]
        if text.count("SwitchML>") or re.search(r"\n.*\n\s*\S*$", text) and len(text) > 20:
            time.sleep(1)
            with open(log) as f:
                return f.read()[before:]
    return ""


def run(args, folder):
    made = prepare(folder, args)
    sys.path[:0] = made
    program = os.path.join(folder, "SwitchML.p4") # the controller's name of it
    os.symlink(os.path.join(args.app, "dev_root/p4/switchml.p4"), program)
    config = {"program": program, "include": [os.path.join(args.app, "dev_root/p4")],
              "bfrt": {"listen": "127.0.0.1:50052"},
              "ports": [{"port": 4 * w, "device": f"net_af_packet{w},iface=smlsw{w}"} for w in range(args.workers)]}
    with open(os.path.join(folder, "run.json"), "w") as f:
        json.dump(config, f)
    logs = {name: os.path.join(folder, name + ".log") for name in ("switch", "controller", "switchml")}
    with open(logs["switch"], "w") as f:
        switch = subprocess.Popen([SILKEN, "run", "-c", os.path.join(folder, "run.json")], stdout=f, stderr=f, cwd=folder)
    controller = None
    try:
        ends(switch, "the switch", r"^ready$", logs["switch"], 600)
        env = {**os.environ, "SDE_INSTALL": os.path.join(folder, "install"), "PYTHONPATH": folder, "PYTHONUNBUFFERED": "1",
               "TERM": "dumb"}
        with open(logs["controller"], "w") as f:
            controller = subprocess.Popen(
                [sys.executable, os.path.join(args.app, "dev_root/controller/switchml.py"), "--ports",
                 os.path.join(folder, "ports.yaml"), "--switch-mac", SWITCH_MAC, "--switch-ip", SWITCH_IP], stdout=f, stderr=f,
                stdin=subprocess.PIPE, text=True, env=env, cwd=folder)
        ends(controller, "the controller", r"SwitchML", logs["controller"], 300)
        checks.true("the controller starts", controller.poll() is None)
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
        shown = tell(controller, logs["controller"], "show_udp_workers")
        print(shown)
        for w in range(args.workers):
            checks.has(f"the command line knows worker {w}", shown, ip(w))
        shown = tell(controller, logs["controller"], "show_statistics 16")
        print(shown)
        rows = [list(map(int, line.split())) for line in shown.splitlines() if re.match(r"^[\s\d]+$", line) and line.strip()]
        rows = [r for r in rows if len(r) == 9]
        checks.equal("statistics of 16 slots", [r[0] for r in rows], list(range(16)))
        checks.equal("each result was broadcast once", sum(r[1] + r[2] for r in rows), args.packets)
        shown = tell(controller, logs["controller"], "show_ports")
        print(shown)
    finally:
        for p in (controller, switch):
            if p and p.poll() is None:
                p.terminate()
        ended = switch.wait(60)
        if controller:
            controller.wait(60)
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
