#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The published client's services (Session and Sync of switchml.proto) of a running switch with p4/switchml, asked by
gRPC's own client; messages are encoded here, from what the published file says. Workers send packets as the published
client does, through taps in a network namespace of their own (root), and check every element of every sum."""
import ctypes
import fcntl
import json
import os
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")]
import tally  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
SILKEN = os.path.join(BUILD, "silken")
CLONE_NEWNET, TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x40000000, 0x400454CA, 2, 0x1000
SWITCH_MAC, SWITCH_IP, UDP = "02:00:00:00:00:fe", "10.0.0.254", 4000
PATIENCE = 60
PORTS = 6
ELEMENTS = 64
JOBS = int(os.environ.get("JOBS", "20"))
Code = grpc.StatusCode


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def message(*fields):
    """Numbers of a message by field: [(1, 5), ...]; 0 is left out, as proto3 does."""
    return b"".join(varint(field << 3) + varint(n) for field, n in fields if n)


def numbers(data):
    """The numbers of a message by field."""
    out, at = {}, 0

    def take():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n
    while at < len(data):
        field = take() >> 3
        out[field] = take()
    return out


def mac_number(text):
    return int(text.replace(":", ""), 16)


def ip_number(text):
    return struct.unpack("!I", bytes(int(x) for x in text.split(".")))[0]


def mac_of(port):
    return "02:00:00:00:01:%02x" % port


def ip_of(port):
    return "10.0.0.%d" % port


def packet(port, number, chunk, slot, values):
    """As the published client makes it: chunk in the host's order, no IPv4 checksum."""
    size = {32: 0, 64: 1, 128: 2, 256: 3}[len(values)]
    body = struct.pack("!BB", 1 << 4 | size, number & 255) + struct.pack("<I", chunk) + struct.pack("!H", slot) + bytes(2)
    body += struct.pack("!%dI" % len(values), *(v & 0xffffffff for v in values))
    udp = struct.pack("!HHHH", UDP, 48864, 8 + len(body), 0)
    ip = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(udp) + len(body), 0, 0, 128, 17, 0, ip_number(ip_of(port)),
                     ip_number(SWITCH_IP))
    return bytes.fromhex((SWITCH_MAC + mac_of(port)).replace(":", "")) + struct.pack("!H", 0x800) + ip + udp + body


def result(frame):
    """(number, chunk, slot, values) of a result, or None."""
    if len(frame) < 52 or frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != struct.pack("!H", UDP):
        return None
    elements = 32 << (frame[42] & 7) if frame[42] & 7 < 3 else 256
    number, chunk, slot = frame[43], struct.unpack("<I", frame[44:48])[0], struct.unpack("!H", frame[48:50])[0]
    return number, chunk, slot, struct.unpack("!%dI" % elements, frame[52:52 + 4 * elements])


class Tap:
    def __init__(self, port):
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        name = "tap%d" % port
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
        subprocess.run(["sysctl", "-qw", "net.ipv6.conf.%s.disable_ipv6=1" % name], check=True)
        subprocess.run(["ip", "link", "set", name, "up"], check=True)

    def send(self, frame):
        os.write(self.fd, frame)

    def receive(self, seconds):
        """The next result; None when none has come."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                got = result(os.read(self.fd, 4096))
                if got:
                    return got
        return None

    def drain(self):
        while self.receive(0.05):
            pass


class Worker:
    """A client: its connection, and the calls in the order in which the published one makes them."""

    def __init__(self, lab, port, rank, workers):
        self.lab, self.port, self.rank, self.workers = lab, port, rank, workers
        self.channel = grpc.insecure_channel(lab.address, [("grpc.use_local_subchannel_pool", 1)])
        self.error = self.switch = None

    def ask(self, method, *fields, timeout=PATIENCE, raw=None):
        call = self.channel.unary_unary("/switchml_proto." + method)
        return numbers(call(message(*fields) if raw is None else raw, timeout=timeout))

    def broadcast(self, value=0, root=0, **words):
        return self.ask("Sync/Broadcast", (1, value if self.rank == root else 0), (2, self.rank), (3, self.workers),
                        (4, root), **words).get(1, 0)

    def barrier(self, **words):
        return self.ask("Sync/Barrier", (1, self.workers), **words)

    def session(self, number, size=1, mac=None, ip=None, **words):
        return self.ask("Session/UdpSession", (1, number), (2, self.rank), (3, self.workers),
                        (4, mac_number(mac or mac_of(self.port))), (5, ip_number(ip or ip_of(self.port))), (7, size), **words)

    def begin(self, value):
        try:
            number = self.broadcast(value)
            if self.rank:
                self.barrier()
            self.switch = self.session(number)
            if not self.rank:
                self.barrier()
            self.barrier()
        except grpc.RpcError as error:
            self.error = error

    def close(self):
        self.channel.close()


class Lab:
    """A switch with a tap for each port, and its services: with p4/switchml, or a ToR with p4/rack."""

    def __init__(self, rack=False, **service):
        self.folder = tempfile.mkdtemp(prefix="silken-published-", dir="/tmp")
        self.taps = {port: Tap(port) for port in range(1, PORTS + 1)}
        self.socket = os.path.join(self.folder, "control.sock")
        ports = range(1, PORTS + 1)
        config = {
            "control_socket": self.socket, "requests": {"programs": [os.path.abspath("p4")]},
            "switchml_jobs": {"listen": "127.0.0.1:0", "slots": 64, "udp_port": UDP, "grace": 1, "silence": 1, "wait": 20},
            "ports": [{"port": p, "name": "w%d" % p, "device": "net_af_packet%d,iface=tap%d" % (p, p)} for p in ports]}
        config.update(self.rack(ports) if rack else self.switchml(ports))
        config["switchml_jobs"].update({} if rack else {"mac": SWITCH_MAC, "ip": SWITCH_IP}, **service)
        path = os.path.join(self.folder, "switch.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([SILKEN, "run", "-c", path, "--memory", "400"], stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        self.address = None
        for line in self.process.stdout:
            if line.startswith("switchml jobs "):
                self.address = "127.0.0.1:" + line.split("(port ")[1].split(")")[0]
            if line.strip() == "ready":
                break
        if not self.address:
            self.log.seek(0)
            raise RuntimeError("the switch does not start: " + self.log.read())

    @staticmethod
    def rack(ports):
        """The client answers no ARP, and takes any frame for a result."""
        return {
            "program": os.path.abspath("p4/rack/rack.p4"),
            "tor": {"mac": SWITCH_MAC, "vlans": [{"vid": 10, "announce": False, "addresses": [SWITCH_IP + "/24"]}],
                    "links": [{"name": "w%d" % p, "port": "w%d" % p, "access": 10} for p in ports],
                    "macs": [{"vid": 10, "mac": mac_of(p), "link": "w%d" % p} for p in ports],
                    "neighbours": [{"address": ip_of(p), "mac": mac_of(p)} for p in ports]}}

    @staticmethod
    def switchml(ports):
        return {
            "program": os.path.abspath("p4/switchml/switchml.p4"),
            "entries": [{"table": "forward.macs", "key": {"dst_addr": mac_of(p)}, "action": "to_port", "args": {"port": p}}
                        for p in ports] +
                       # a job of an operator's own, with the first ten slots and the first replication id
                       [{"table": "admission.workers",
                         "key": {"job_number": 7, "src_addr": "10.9.9.9", "ingress_port": 1}, "action": "admit",
                         "args": {"worker_bit": 1, "num_workers": 1, "group": 1, "rid": 1, "port": 1, "pool_base": 0,
                                  "pool_last": 9}}]}

    def ctl(self, *words):
        out = subprocess.run([SILKEN, "ctl", "-s", self.socket, "--json", *words], capture_output=True, text=True, check=False)
        if out.returncode:
            raise RuntimeError(out.stderr)
        return json.loads(out.stdout)

    def jobs(self):
        return [j for j in self.ctl("job")["jobs"] if j["first_slot"] != 0]

    def begin(self, ports, value, workers=None):
        """A job of workers at these ports, all of which begin at once."""
        workers = workers or [Worker(self, port, rank, len(ports)) for rank, port in enumerate(ports)]
        threads = [threading.Thread(target=w.begin, args=(value,)) for w in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        return workers

    def sum(self, workers, number=0, chunk=0, slot=0, elements=ELEMENTS, late=0.0):
        """Adds up random numbers; returns what each worker received, and what it should be."""
        values = [[random.randrange(1 << 32) for _ in range(elements)] for _ in workers]
        for w, v in zip(workers, values):
            self.taps[w.port].send(packet(w.port, number, chunk, slot, v))
            time.sleep(late)
        wanted = (number & 255, chunk, slot, tuple(sum(column) & 0xffffffff for column in zip(*values)))
        return [self.taps[w.port].receive(10) for w in workers], [wanted] * len(workers)

    def wait_gone(self, seconds=20):
        end = time.monotonic() + seconds
        while self.jobs():
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def close(self):
        self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        for tap in self.taps.values():
            os.close(tap.fd)
        self.process.stdout.close()
        if status:
            self.log.seek(0)
            print("the switch ends with status %d: %s" % (status, self.log.read()[-4000:]))
        self.log.close()
        return status


class Published(unittest.TestCase):
    rack, service = False, {}

    def setUp(self):
        self.lab = Lab(self.rack, **self.service)
        self.addCleanup(lambda: self.assertEqual(self.lab.close(), 0))

    def worker(self, port, rank, workers):
        w = Worker(self.lab, port, rank, workers)
        self.addCleanup(w.close)
        return w

    def job(self, ports, value=5):
        workers = self.lab.begin(ports, value)
        for w in workers:
            self.addCleanup(w.close)
            self.assertIsNone(w.error)
            self.assertEqual(w.switch, {1: value, 2: mac_number(SWITCH_MAC), 3: ip_number(SWITCH_IP)})
        return workers

    def error(self, code, words, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        self.assertIn(words, raised.exception.details())

    def exact(self, workers, **words):
        got, wanted = self.lab.sum(workers, **words)
        self.assertEqual(got, wanted)


class Rack(Published):
    """Jobs of a ToR with p4/rack."""
    rack = True

    def service_jobs(self):
        return self.lab.ctl("job", "list")["service"]

    def gone(self):
        end = time.monotonic() + 20
        while self.service_jobs() and time.monotonic() < end:
            time.sleep(0.1)
        return not self.service_jobs() and not self.lab.ctl("job", "list")["jobs"]

    def test_jobs_in_a_row_by_all_numbers(self):
        for value, ports in enumerate(([1, 2], [1, 2, 3, 4], [6])):
            workers = self.job(ports, value + 5)
            for number in (0, 1, 200, 255, 256):
                for version in (0, 0x8000):
                    self.exact(workers, number=number, chunk=number * 2 + (version > 0), slot=3 | version)
            self.exact(workers, elements=32, slot=4)
            job, = self.lab.ctl("job", "list")["jobs"]
            self.assertEqual((job["numbers"], job["slots"], job["lease"]), ("all", 64, True))
            counted, = self.lab.ctl("job")["jobs"]
            self.assertEqual([w["wrong_checksums"] for w in counted["workers"]], [11] * len(ports))  # of this job alone
            # one half of a sum stays in the switch: the next job must not find it
            self.lab.taps[ports[0]].send(packet(ports[0], 0, 9, 5, [7] * ELEMENTS))
            for w in workers:
                w.close()
            self.assertTrue(self.gone())

    def test_two_side_by_side(self):
        a, b = self.job([1, 2], 5), self.job([3, 4, 5], 6)
        for i in range(20):
            self.exact(a, chunk=i, slot=i)
            self.exact(b, chunk=i, slot=i)

    def test_what_is_refused(self):
        w = self.worker(1, 0, 1)
        w.broadcast(9)
        self.error(Code.FAILED_PRECONDITION, "packets of 256 elements: the switch adds up 64 at most",
                   lambda: w.session(9, size=3))
        self.error(Code.FAILED_PRECONDITION, "it says that its MAC address is 02:00:00:00:00:77, and the switch knows "
                   "02:00:00:00:01:01", lambda: w.session(9, mac="02:00:00:00:00:77"))
        self.error(Code.FAILED_PRECONDITION, "no host has answered for its address in VLAN 10",
                   lambda: w.session(9, ip="10.0.0.77"))
        self.error(Code.FAILED_PRECONDITION, "outside the switch's IPv4 subnets", lambda: w.session(9, ip="10.9.0.1"))

    def test_an_operator_removes_one_or_adds_another(self):
        other = "job add other --protocol switchml --workers w3:10.0.0.3,w4:10.0.0.4 --slots 8".split()
        workers = self.job([1, 2], 5)
        self.exact(workers)
        with self.assertRaises(RuntimeError) as raised:
            self.lab.ctl(*other)
        self.assertIn("goes by all numbers, and this one by one number", str(raised.exception))
        self.lab.ctl("job", "remove", self.lab.ctl("job", "list")["jobs"][0]["name"])
        self.assertEqual(self.service_jobs(), [])
        for w in workers:
            w.close()
        self.lab.ctl(*other)
        workers = self.lab.begin([1, 2], 6)
        self.assertIn("goes by one number, and this one by all numbers", workers[0].error.details())
        for w in workers:
            w.close()


class Sums(Published):
    def test_a_job_of_two_four_and_one(self):
        for ports in ([1, 2], [1, 2, 3, 4], [6]):
            workers = self.job(ports, 1 << 60 | len(ports))
            for number in (0, 1, 200, 255, 256):  # the client's calls, modulo 256
                for version in (0, 0x8000):
                    self.exact(workers, number=number, chunk=number * 2 + (version > 0), slot=3 | version)
            self.exact(workers, elements=256, slot=4)
            for w in workers:
                w.close()
            self.assertTrue(self.lab.wait_gone())

    def test_many_in_a_row_at_the_same_addresses(self):
        for i in range(JOBS):
            workers = self.job([1, 2], 100 + i)
            self.exact(workers, slot=i % 64)
            # one half of a sum stays in the switch: the next job must not find it
            self.lab.taps[1].send(packet(1, 0, 9, (i + 1) % 64, [7] * ELEMENTS))
            for w in workers:
                w.close()
        self.assertTrue(self.lab.wait_gone())

    def test_two_side_by_side(self):
        a, b = self.job([1, 2], 5), self.job([3, 4, 5], 6)
        jobs = self.lab.jobs()
        self.assertEqual([j["slots"] for j in jobs], [64, 64])
        self.assertEqual(sorted(j["first_slot"] for j in jobs), [10, 74])
        for i in range(20):
            self.exact(a, chunk=i, slot=i)
            self.exact(b, chunk=i, slot=i)

    def test_begins_in_any_order_and_late(self):
        workers = [self.worker(port, rank, 3) for rank, port in enumerate([1, 2, 3])]
        threads = []
        for rank in (2, 1, 0):
            threads.append(threading.Thread(target=workers[rank].begin, args=(77,)))
            threads[-1].start()
            time.sleep(0.3)
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual([w.error for w in workers], [None] * 3)
        self.exact(workers, late=0.1)

    def test_slots_outside_the_job_are_refused(self):
        workers = self.job([1, 2])
        for w in workers:
            self.lab.taps[w.port].send(packet(w.port, 0, 0, 64, [1] * ELEMENTS))
        self.assertIsNone(self.lab.taps[1].receive(0.5))
        self.exact(workers, slot=63)


class Ends(Published):
    def test_a_worker_killed_and_the_job_begun_again(self):
        old = self.job([1, 2], 5)
        self.lab.taps[1].send(packet(1, 0, 0, 0, [1000] * ELEMENTS))  # a part of the dead
        old[0].close()
        old[1].close()
        new = self.job([1, 2], 6)
        self.exact(new)

    def test_packets_of_a_dead_job_are_refused(self):
        old = self.job([1, 2], 5)
        for w in old:
            w.close()
        self.assertTrue(self.lab.wait_gone())
        for port in (1, 2):
            self.lab.taps[port].send(packet(port, 0, 0, 0, [1] * ELEMENTS))
        self.assertIsNone(self.lab.taps[1].receive(0.5))

    def test_a_job_whose_connections_have_ended_goes_on_while_it_sends(self):
        workers = self.job([1, 2])
        for w in workers:
            w.close()
        for i in range(8):  # 3.2 s; silence is one
            self.exact(workers, chunk=i, slot=i)
            time.sleep(0.4)
        self.assertTrue(self.lab.wait_gone())

    def test_one_that_goes_before_the_job_begins_ends_it(self):
        a, b = self.worker(1, 0, 2), self.worker(2, 1, 2)
        self.assertEqual(a.broadcast(5), 5)
        a.session(5)
        self.assertEqual(b.broadcast(), 5)
        waits = threading.Thread(target=a.close)
        waits.start()
        self.error(Code.ABORTED, "the connection of the job's worker 0 was closed", b.barrier)
        self.error(Code.ABORTED, "was closed", b.barrier)
        waits.join()
        b.close()
        self.exact(self.job([1, 2], 6))

    def test_one_that_does_not_come(self):
        lab = self.lab
        lab.close()
        self.lab = Lab(wait=2)
        a = self.worker(1, 0, 2)
        self.assertEqual(a.broadcast(5), 5)
        self.error(Code.ABORTED, "has not begun within 2 s, with 1 of 2 workers", a.barrier)
        self.exact(self.job([1, 2], 6))

    def test_room_for_two_jobs(self):
        self.lab.close()
        self.lab = Lab(slots=4000)
        self.job([1], 5)
        self.job([2], 6)
        workers = self.lab.begin([3], 7)
        self.assertEqual(workers[0].error.code(), Code.ABORTED)
        self.assertIn("no room for 4000 slots", workers[0].error.details())
        workers[0].close()

    def test_the_switch_ends_while_a_worker_waits(self):
        a = self.worker(1, 0, 2)
        a.broadcast(5)
        thread = threading.Thread(target=a.begin, args=(5,))
        thread.start()
        time.sleep(0.3)
        self.assertEqual(self.lab.close(), 0)
        thread.join(PATIENCE)
        self.assertIn(a.error.code(), (Code.ABORTED, Code.FAILED_PRECONDITION, Code.UNAVAILABLE))
        self.lab = Lab()


class Replaced(Published):
    """The switch's program is replaced while a job runs."""

    def test_the_job_goes_on_in_a_program_with_the_same_tables(self):
        workers = self.job([1, 2], 5)
        self.lab.taps[1].send(packet(1, 0, 7, 7, [3] * ELEMENTS))  # in the middle of a sum
        time.sleep(0.3)
        # a new switch with the same program, which is compiled already
        self.assertEqual(self.lab.ctl("program", os.path.abspath("p4/switchml/switchml.p4"))["lost"], [])
        self.lab.taps[2].send(packet(2, 0, 7, 7, [4] * ELEMENTS))
        self.assertEqual(self.lab.taps[1].receive(10), (0, 7, 7, (7,) * ELEMENTS))
        self.assertEqual(self.lab.taps[2].receive(10), (0, 7, 7, (7,) * ELEMENTS))
        self.exact(workers, slot=9)
        for w in workers:
            w.close()
        self.assertTrue(self.lab.wait_gone())
        self.exact(self.job([1, 2], 6))


class Refused(Published):
    def test_a_rank_that_is_taken(self):
        a, again, b = self.worker(1, 0, 2), self.worker(3, 0, 2), self.worker(2, 1, 2)
        self.assertEqual(a.broadcast(5), 5)
        self.error(Code.ALREADY_EXISTS, "rank 0 of the job that is gathering is taken", lambda: again.broadcast(6))
        a.session(5)
        self.assertEqual(b.broadcast(), 5)
        threads = [threading.Thread(target=w.barrier) for w in (a, b)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        b.session(5)
        threads = [threading.Thread(target=w.barrier) for w in (a, b)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.exact([a, b])

    def test_an_address_that_is_taken(self):
        self.job([1, 2], 5)
        a = self.worker(1, 0, 1)
        a.broadcast(6)
        self.error(Code.ALREADY_EXISTS, "a running job", lambda: a.session(6))
        b, c = self.worker(3, 0, 2), self.worker(4, 1, 2)
        a.close()
        time.sleep(0.2)
        b.broadcast(7)
        c.broadcast()
        b.session(7)
        self.error(Code.ALREADY_EXISTS, "same IP or MAC", lambda: c.session(7, ip=ip_of(3)))
        self.error(Code.ALREADY_EXISTS, "same IP or MAC", lambda: c.session(7, mac=mac_of(3)))
        self.assertEqual(c.session(7)[1], 7)

    def test_what_contradicts_the_others(self):
        a, b = self.worker(1, 0, 2), self.worker(2, 1, 3)
        a.broadcast(5)
        self.error(Code.FAILED_PRECONDITION, "a job of 2 workers with root 0 is gathering", b.broadcast)
        b = self.worker(2, 1, 2)
        b.broadcast()
        a.session(5)
        self.error(Code.FAILED_PRECONDITION, "packets of 256 bytes", lambda: b.session(5, size=3))
        self.error(Code.INVALID_ARGUMENT, "session_id", lambda: b.session(6))
        self.error(Code.FAILED_PRECONDITION, "before", lambda: a.session(5))
        self.error(Code.FAILED_PRECONDITION, "once", lambda: a.broadcast(5))
        self.error(Code.INVALID_ARGUMENT, "the job has 2 workers, not 3",
                   lambda: a.ask("Sync/Barrier", (1, 3)))

    def test_what_comes_in_another_order(self):
        a = self.worker(1, 0, 2)
        self.error(Code.FAILED_PRECONDITION, "Broadcast first", a.barrier)
        self.error(Code.FAILED_PRECONDITION, "Broadcast first", lambda: a.session(5))

    def test_bad_numbers(self):
        a = self.worker(1, 0, 1)
        for fields in (((1, 5), (2, 0), (3, 0)), ((1, 5), (3, 33)), ((1, 5), (2, 4), (3, 4)),
                       ((1, 5), (2, 1), (3, 4), (4, 4)), ((3, 1),)):
            self.error(Code.INVALID_ARGUMENT, "", lambda fields=fields: a.ask("Sync/Broadcast", *fields))
        for method in ("Sync/Broadcast", "Sync/Barrier", "Session/UdpSession"):
            self.error(Code.INVALID_ARGUMENT, "the message is not a ", lambda m=method: a.ask(m, raw=b"\xff\xff\xff"))
        self.assertEqual(a.broadcast(5), 5)
        for words, mac, ip, size in (("mac", "00:00:00:00:00:00", None, 1), ("mac", "ff:ff:ff:ff:ff:ff", None, 1),
                                     ("mac", "01:02:00:00:00:00:01", None, 1), ("ipv4", None, "0.0.0.0", 1),
                                     ("ipv4", None, "239.1.1.1", 1), ("packet_size", None, None, 4)):
            self.error(Code.INVALID_ARGUMENT, words, lambda m=mac, i=ip, s=size: a.session(5, size=s, mac=m, ip=i))
        self.error(Code.FAILED_PRECONDITION, "forward.macs needs an entry",
                   lambda: a.session(5, mac="02:00:00:00:77:77"))
        self.assertEqual(a.session(5)[1], 5)

    def test_rdma_and_unknown_methods(self):
        a = self.worker(1, 0, 1)
        self.error(Code.INVALID_ARGUMENT, "qpns", lambda: a.ask("Session/RdmaSession", (1, 5)))
        self.error(Code.UNIMPLEMENTED, "", lambda: a.ask("Session/TcpSession", (1, 5)))

    def test_a_call_that_gives_up_is_forgotten(self):
        a, b = self.worker(1, 0, 2), self.worker(2, 1, 2)
        self.error(Code.DEADLINE_EXCEEDED, "", lambda: b.broadcast(timeout=0.5))
        self.assertEqual(a.broadcast(5), 5)
        self.assertEqual(b.broadcast(), 5)
        a.session(5)
        # The switch hears on a's connection that a gave up, on b's that b is there: either may come first.
        for wait in (0, 0.1, 0.5, 2, 5):
            self.error(Code.DEADLINE_EXCEEDED, "", lambda: a.barrier(timeout=0.5))
            time.sleep(wait)
            try:
                b.barrier(timeout=0.5)
            except grpc.RpcError as e:
                self.assertEqual(e.code(), Code.DEADLINE_EXCEEDED)
                return
        self.fail("a barrier that a worker gave up still counts for it after 5 s")

    def test_the_list_says_who_is_missing(self):
        a = self.worker(1, 0, 2)
        a.broadcast(5)
        a.session(5)
        jobs = self.lab.ctl("job", "list")["service"]
        self.assertEqual([(j["name"], j["state"], j["missing"]) for j in jobs],
                         [("switchml-0000000000000005", "waiting", [1])])


def new_network():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        sys.exit("a network namespace: " + os.strerror(ctypes.get_errno()))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


if __name__ == "__main__":
    new_network()
    tally.main()
