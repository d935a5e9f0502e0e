#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SwitchML by RoCEv2 in real time: `silken run` with p4/switchml/with_roce.p4 on interfaces of the kernel's, and its job
service, and the published client's; workers of `silken worker --rdma` on the other ends, with loss, two jobs at once, beside a job by UDP; and a worker of
the test's own, whose keys and invariant CRCs are wrong. Every frame on the links is judged by Scapy: the invariant CRC has to
be right. tshark 4.0 shows it and does not judge it."""
import json
import logging
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..", "control"), os.path.join(os.path.dirname(__file__), "..", "..")]
from live import INTERFACES, SILKEN, Checks, Switch, inside, ip, veth  # noqa: E402

inside(__file__)
logging.getLogger("scapy").setLevel(logging.ERROR)
import grpc  # noqa: E402
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

SWITCH_IP, SWITCH_MAC, PORT, TOKEN = "10.0.0.254", "02:00:00:00:00:fe", 9466, "correct-horse-battery-staple"
REFUSED = "invariant CRC of RoCEv2 wrong or not there"
BAD_POOL_INDEX, OUT_OF_ORDER = 5, 10
ONLY_IMMEDIATE = 0x2B
WORKERS = 4
UDP_JOB = {"number": 9, "workers": (2, 3), "slots": 64}
check = Checks()


def mac(n):
    return f"02:00:00:00:00:{n + 1:02x}"


def address(n):
    return f"10.0.0.{n + 1}"


def raw(n):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
    s.bind((f"w{n}", 0))
    return s


class Judge(threading.Thread):
    """All frames of RoCEv2 that pass an interface, in both directions."""

    def __init__(self, n):
        super().__init__(daemon=True)
        self.socket, self.frames, self.over = raw(n), [], False
        self.start()

    def run(self):
        self.socket.settimeout(0.2)
        while not self.over:
            try:
                frame, where = self.socket.recvfrom(4096)
            except OSError:
                continue
            if frame[12:14] == b"\x08\x00" and frame[36:38] == b"\x12\xb7":
                self.frames.append((where[2] == socket.PACKET_OUTGOING, frame))

    def judged(self, most=400):
        """(sent by the worker, sent by the switch, wrong ones), of some of the frames."""
        self.over = True
        self.join()
        self.socket.close()
        seen = [0, 0, 0]
        step = max(1, len(self.frames) // most)
        for outgoing, frame in self.frames[::step]:
            layer = Ether(frame)[BTH]
            seen[0 if outgoing else 1] += 1
            seen[2] += layer.compute_icrc(None) != struct.pack("!I", layer.icrc)
        return seen


def udp_entries():
    for rank, n in enumerate(UDP_JOB["workers"]):
        yield {"table": "admission.workers",
               "key": {"job_number": UDP_JOB["number"], "src_addr": address(n), "ingress_port": n},
               "action": "admit",
               "args": {"worker_bit": 1 << rank, "num_workers": 2, "group": 200, "rid": 900 + n, "port": n, "pool_base": 0,
                        "pool_last": UDP_JOB["slots"] - 1}}
        yield {"table": "Egress.receivers", "key": {"md.rid": 900 + n}, "action": "address",
               "args": {"mac": mac(n), "ip": address(n), "udp_port": 48864}}


def configuration(**more):
    macs = [{"table": "forward.macs", "key": {"dst_addr": mac(n)}, "action": "to_port", "args": {"port": n}}
            for n in range(WORKERS)]
    return {"program": os.path.abspath("p4/switchml/with_roce.p4"),
            "ports": [{"port": n, "device": f"net_af_packet{n},iface=s{n}"} for n in range(WORKERS)],
            "multicast": {"nodes": [{"id": 900 + n, "rid": 900 + n, "ports": [n]} for n in UDP_JOB["workers"]],
                          "groups": [{"id": 200, "nodes": [900 + n for n in UDP_JOB["workers"]]}]},
            "entries": [*macs, *udp_entries()],
            "job_service": {"listen": f"127.0.0.1:{PORT}", "token_file": "token", "mac": SWITCH_MAC, "ip": SWITCH_IP,
                            "grace": 1, "slots": 64},
            "switchml_jobs": {"listen": "127.0.0.1:50099", "mac": SWITCH_MAC, "ip": SWITCH_IP, "slots": 16, "grace": 1,
                              "silence": 2}, **more}


class Running(Switch):
    def start(self):
        with open(self.path("token"), "w", opener=lambda p, f: os.open(p, f, 0o600), encoding="ascii") as f:
            f.write(TOKEN + "\n")
        return super().start()

    def drops(self):
        return self.ask("stats")["drops"]

    def reason(self, number):
        return self.ask("counter.read", name="Ingress.drops", **{"from": number, "count": 1})["cells"][0]["packets"]


def worker(switch, n, job, rank, workers, *more, rounds=3, elements=40000):
    return subprocess.Popen(
        [SILKEN, "worker", "--rdma", "--controller", f"127.0.0.1:{PORT}", "--token-file", switch.path("token"), "--job-name", job,
         "--rank", str(rank), "--workers", str(workers), "--device", f"w{n}", "--mac", mac(n), "--ip", address(n),
         "--rounds", str(rounds), "--elements", str(elements), "--rto-min", "20000", "--rto-max", "200000", *more],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def udp_worker(rank, rounds=3):
    n = UDP_JOB["workers"][rank]
    return subprocess.Popen(
        [SILKEN, "worker", "--rank", str(rank), "--workers", "2", "--device", f"afpacket:w{n}", "--mac", mac(n), "--ip", address(n),
         "--switch-mac", SWITCH_MAC, "--switch-ip", SWITCH_IP, "--job", str(UDP_JOB["number"]), "--pool", str(UDP_JOB["slots"]),
         "--no-session", "--rounds", str(rounds), "--elements", "40000"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def good(name, *workers):
    for w in workers:
        said = w.communicate(timeout=240)[0]
        check.true(name, w.returncode == 0 and "verified" in said, f"{w.returncode}: {said}")


# ---- a worker of the test's own ----

class Own:
    """A worker with one queue pair, at an interface; and as the only one of a job of the job service."""

    RKEY, QPN = 0xABCD1234, 0x777

    def __init__(self, n, place):
        self.n, self.place = n, place
        self.psn, self.version = 5, 0
        self.socket = raw(n)

    @classmethod
    def alone(cls, job):
        self = cls(0, None)
        self.join(job)
        return self

    def join(self, job):
        self.service = socket.create_connection(("127.0.0.1", PORT), 20)
        self.lines = self.service.makefile("r")
        self.service.sendall((json.dumps({"token": TOKEN, "job": job, "rank": 0, "workers": 1, "kind": "switchml-roce", "pairs": 1,
                                          "queue_pair": self.QPN, "psn": self.psn, "rkey": self.RKEY, "ip": address(0), "mac": mac(0),
                                          "slots": 4}) + "\n").encode())
        self.place = json.loads(self.lines.readline())
        while self.place.get("state") == "waiting":
            self.place = json.loads(self.lines.readline())

    def write(self, values, rkey=None, good=True, psn=None, waits=True):
        """A message of one packet. Returns the answer, or None."""
        rkey = self.version if rkey is None else rkey
        data = struct.pack(">BBHII", ONLY_IMMEDIATE, 0x40, 0xFFFF, self.place["queue_pair"], self.psn if psn is None else psn)
        data += struct.pack(">QII", 0x2000, rkey, 4 * len(values)) + struct.pack(">Hbb", 1, 3, 0)
        data += struct.pack(f">{len(values)}i", *values) + bytes(4)
        udp = struct.pack(">HHHH", 0xC000, 4791, 8 + len(data), 0)
        header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(data), 0, 0x4000, 64, 17, 0, socket.inet_aton(address(self.n)),
                             socket.inet_aton(SWITCH_IP))
        total = sum(struct.unpack(">10H", header))
        total = (total & 0xFFFF) + (total >> 16)
        header = header[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF) + header[12:]
        frame = bytearray(bytes.fromhex((SWITCH_MAC + mac(self.n)).replace(":", "")) + b"\x08\x00" + header + udp + data)
        covered = bytearray(b"\xff" * 8 + frame[14:-4])
        for at in (9, 16, 18, 19, 34, 35, 40):
            covered[at] = 0xFF
        frame[-4:] = struct.pack("<I", zlib.crc32(covered))
        if not good:
            frame[80] ^= 4
        self.drain()
        self.socket.send(frame)
        return self.answer() if waits else None

    def drain(self):
        self.socket.settimeout(0)
        try:
            while True:
                self.socket.recv(4096)
        except OSError:
            pass

    def answer(self):
        end = time.monotonic() + 3
        self.socket.settimeout(0.2)
        while time.monotonic() < end:
            try:
                frame, where = self.socket.recvfrom(4096)
            except OSError:
                continue
            if where[2] != socket.PACKET_OUTGOING and frame[36:38] == b"\x12\xb7":
                return frame
        return None

    def taken(self):
        self.psn = self.psn + 1 & 0xFFFFFF
        self.version ^= 1

    def close(self):
        self.service.sendall(b'{"leave": true}\n')
        self.lines.close()
        self.service.close()
        self.socket.close()


def own_worker(switch):
    own = Own.alone("own")
    check.equal("admitted", own.place.get("state"), "admitted")
    values = list(range(-32, 32))
    frame = own.write(values)
    check.true("answered", frame is not None)
    layer = Ether(frame)[BTH]
    check.equal("its CRC", struct.pack("!I", layer.icrc), layer.compute_icrc(None))
    check.equal("its queue pair and number", (layer.dqpn, layer.psn), (Own.QPN, own.place["psn"]))
    check.equal("its key, address and length", struct.unpack(">QII", frame[54:70]), (0x2000, Own.RKEY, 256))
    check.equal("its exponents", struct.unpack(">Hbb", frame[70:74]), (1, 3, 0))
    check.equal("its sums", list(struct.unpack(">64i", frame[74:330])), values)
    own.taken()
    before = switch.reason(BAD_POOL_INDEX)
    check.equal("a slot outside the pool", own.write(values, rkey=8), None)
    check.equal("is refused by the program", switch.reason(BAD_POOL_INDEX), before + 1)
    check.equal("a damaged frame", own.write(values, good=False), None)
    check.equal("is refused by the port", switch.drops().get(REFUSED), 1)
    before = switch.reason(OUT_OF_ORDER)
    check.equal("an old number", own.write(values, psn=5), None)
    check.equal("is out of order", switch.reason(OUT_OF_ORDER), before + 1)
    check.true("and the job goes on", own.write(values) is not None)
    own.close()


# ---- the published client's services ----

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def encoded(*fields):
    """Numbers, and lists of numbers, by field."""
    out = b""
    for field, value in fields:
        if isinstance(value, list):
            packed = b"".join(varint(v) for v in value)
            out += varint(field << 3 | 2) + varint(len(packed)) + packed
        elif value:
            out += varint(field << 3) + varint(value)
    return out


def decoded(data):
    out, at = {}, 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            at += 1
            n |= (data[at - 1] & 127) << shift
            shift += 7
            if data[at - 1] < 128:
                return n
    while at < len(data):
        key = number()
        if key & 7 == 2:
            end = number() + at
            out[key >> 3] = []
            while at < end:
                out[key >> 3].append(number())
        else:
            out[key >> 3] = number()
    return out


def published():
    """Two workers by RdmaSession, as the published client asks for it: its queue pairs' numbers do not follow each other."""
    channels = [grpc.insecure_channel("127.0.0.1:50099", [("grpc.use_local_subchannel_pool", 1)]) for _ in range(2)]
    session = 0x18ABCDEF12345678  # the field of RdmaSession has its lower half alone
    told = session & 0xFFFFFFFF

    def ask(n, method, *fields):
        return channels[n].unary_unary("/switchml_proto." + method)(encoded(*fields), timeout=60)

    def later(method, fields):
        return [channels[n].unary_unary("/switchml_proto." + method).future(encoded(*fields), timeout=60) for n in range(2)]

    def join(n):
        return decoded(ask(n, "Session/RdmaSession", (1, told), (2, n), (3, 2), (4, int(mac(n).replace(":", ""), 16)),
                           (5, int.from_bytes(socket.inet_aton(address(n)), "big")), (6, Own.RKEY), (7, 1), (8, 256),
                           (9, [Own.QPN, 0x10 + n]), (10, [5, 9])))

    broadcasts = [channels[n].unary_unary("/switchml_proto.Sync/Broadcast").future(
        encoded((1, session if n == 0 else 0), (2, n), (3, 2)), timeout=60) for n in range(2)]
    for b in broadcasts:
        check.equal("broadcast", decoded(b.result()), {1: session})
    places = [join(0)]
    for b in later("Sync/Barrier", [(1, 2)]):
        b.result()
    places.append(join(1))
    for b in later("Sync/Barrier", [(1, 2)]):
        b.result()
    for place in places:
        check.equal("the switch", (place[1], place[2], place[3]),
                    (told, int(SWITCH_MAC.replace(":", ""), 16), int.from_bytes(socket.inet_aton(SWITCH_IP), "big")))
        check.equal("its queue pairs", (len(place[5]), len(place[6]), place[5][1] - place[5][0]), (2, 2, 1))
    check.true("each has its own", places[0][5] != places[1][5])
    own = [Own(n, {"queue_pair": places[n][5][0], "psn": places[n][6][0]}) for n in range(2)]
    own[0].write([n + 1 for n in range(64)], waits=False)
    other = own[1].write([1000] * 64)
    for o, frame in ((own[1], other), (own[0], own[0].answer())):
        check.true("an answer", frame is not None)
        layer = Ether(frame)[BTH]
        check.equal("for its queue pair", (layer.dqpn, layer.psn, layer.compute_icrc(None)),
                    (Own.QPN, o.place["psn"], struct.pack("!I", layer.icrc)))
        check.equal("sums", list(struct.unpack(">64i", frame[74:330])), [1001 + n for n in range(64)])
        o.socket.close()
    for c in channels:
        c.close()


# ---- requests that are refused ----

def refused(**request):
    with socket.create_connection(("127.0.0.1", PORT), 20) as s, s.makefile("r") as lines:
        s.sendall((json.dumps({"token": TOKEN, "job": "wrong", "rank": 0, "workers": 1, "ip": address(0), "mac": mac(0), **request})
                   + "\n").encode())
        for line in lines:
            if "error" in json.loads(line):
                return json.loads(line)["error"]
    return None


def requests():
    roce = {"kind": "switchml-roce", "pairs": 8, "queue_pair": 256, "rkey": 1}
    check.has("by UDP", refused(), "jobs of the kind switchml-roce")
    check.has("no queue pairs", refused(**{**roce, "pairs": 0}), "pairs")
    check.has("too many", refused(**{**roce, "pairs": 65}), "pairs")
    check.has("a number of 25 bits", refused(**{**roce, "queue_pair": 1 << 24}), "queue_pair")
    check.has("another port", refused(**roce, port=5000), "RoCEv2's port")
    check.has("by UDP with a key", refused(rkey=1), "switchml-roce")
    check.has("nobody's MAC address", refused(**{**roce, "mac": "02:00:00:00:77:01"}), "forward.macs")


def main():
    if not INTERFACES:
        print("test_live: no network namespace can be made here")
        return 1
    ip("link", "set", "lo", "up")
    for n in range(WORKERS):
        veth(f"s{n}", f"w{n}")
    with Running(configuration()) as switch:
        requests()
        judges = [Judge(0), Judge(1)]
        good("two workers", *(worker(switch, n, "two", n, 2) for n in range(2)))
        for judge in judges:
            sent, answered, wrong = judge.judged()
            check.true("Scapy's judgement", sent > 50 and answered > 50 and wrong == 0, f"{sent} {answered} {wrong}")
        good("two jobs at once, and integers", *(worker(switch, n, f"job{n // 2}", n % 2, 2, "--type", "i32") for n in range(4)))
        good("four workers beside a job by UDP", *(worker(switch, n, "four", n, 4, "--pairs", "4", rounds=6) for n in range(4)),
             *(udp_worker(r) for r in (0, 1)))
        own_worker(switch)
        published()
        good("again", *(worker(switch, n, "two", n, 2, "--type", "f16") for n in range(2)))
        check.equal("no jobs, when it has been silent for two seconds", switch.becomes(lambda: switch.ask("job.list").get("service"), [], 20), [])
    with Running(configuration(faults={"loss": 0.01, "seed": 3})) as switch:
        good("with loss", *(worker(switch, n, "lossy", n, 2, "--pairs", "16", rounds=2) for n in range(2)))
        check.true("frames were lost", switch.drops().get("injected loss", 0) > 10, str(switch.drops()))
    return finish()


def finish():
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed > 0


if __name__ == "__main__":
    sys.exit(main())
