# SPDX-License-Identifier: Apache-2.0
"""live: what tests of a switch share that changes while it runs: a `silken run` with its control socket, frames on
interfaces of the kernel's, in a network namespace of the test's own.

    inside(__file__)                     # starts the test again in a namespace; INTERFACES says whether it could
    with Switch({...}) as sw:
        sw.ask("port.add", port=3, device="net_ring0")
        sw.refused("port.add", port=3, device="x")      # the sentence
"""
import atexit
import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

SILKEN = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "silken"))
INTERFACES = os.environ.get("LIVE_INSIDE") == "yes"
L2 = os.path.abspath("p4/l2/l2.p4")


def inside(file):
    if "LIVE_INSIDE" in os.environ:
        return
    for flags in ("-n", "-rn"):
        if subprocess.run(["unshare", flags, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.environ["LIVE_INSIDE"] = "yes"
            atexit._run_exitfuncs() # pylint: disable=protected-access # exec does not: folders of stubs would stay
            os.execvp("unshare", ["unshare", flags, sys.executable, file, *sys.argv[1:]])
    os.environ["LIVE_INSIDE"] = "no"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def veth(outside, hosts_end):
    ip("link", "add", outside, "type", "veth", "peer", "name", hosts_end)
    for name in (outside, hosts_end):
        with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as f:
            f.write("1")
        ip("link", "set", name, "up")
    for name in (outside, hosts_end): # before it carries, what is sent is dropped
        for _ in range(1000):
            if b" state UP " in subprocess.run(["ip", "link", "show", name], stdout=subprocess.PIPE, check=True).stdout:
                break
            time.sleep(0.01)
        else:
            raise AssertionError(f"{name} does not carry")


class Wire:
    """Frames on an interface."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((interface, 0))
        self.socket.settimeout(5)

    def send(self, to, number=0, length=60):
        self.socket.send((bytes.fromhex(to.replace(":", "")) + bytes(6) + b"\x90\x00" + number.to_bytes(4, "big"))
                         .ljust(length, b"\0"))

    def receive(self, timeout=5):
        """The number of the next frame; None when there is none in time."""
        self.socket.settimeout(timeout)
        try:
            while True:
                try:
                    frame, address = self.socket.recvfrom(65536)
                except OSError as e:
                    if e.errno == errno.ENETDOWN: # said once, whenever that was
                        continue
                    raise
                if address[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x90\x00":
                    return int.from_bytes(frame[14:18], "big")
        except (TimeoutError, socket.timeout):
            return None

    def drain(self):
        """What came is taken, so that there is room for what comes next."""
        self.socket.settimeout(0)
        while True:
            try:
                self.socket.recv(65536)
            except BlockingIOError:
                return
            except OSError as e:
                if e.errno != errno.ENETDOWN:
                    raise

    def close(self):
        self.socket.close()


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(120)
        self.file = self.socket.makefile("r")

    def request(self, op, **members):
        self.socket.sendall((json.dumps({"op": op, **members}) + "\n").encode())
        return json.loads(self.file.readline())

    def ask(self, op, **members):
        reply = self.request(op, **members)
        if not reply["ok"]:
            raise AssertionError(f"{op}: {reply['error']}")
        return reply["result"]

    def event(self):
        return json.loads(self.file.readline())

    def close(self):
        self.file.close()
        self.socket.close()


class Switch:
    def __init__(self, config, *options, folder=None, environment=None):
        self.temporary = None if folder else tempfile.TemporaryDirectory(prefix="silken-live-")
        self.folder = folder or self.temporary.name
        self.config, self.options, self.environment = config, options, environment
        self.process = self.client = None
        self.log = ""

    def write(self, config):
        self.config = config
        with open(self.path("c.json"), "w") as f:
            f.write(config if isinstance(config, str) else json.dumps({"control_socket": "s.sock", "requests": {"programs": ["."], "folders": ["."]}, **config}, indent=1))

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        self.write(self.config)
        out = open(self.path("log"), "w")
        self.process = subprocess.Popen([SILKEN, "run", "-c", self.path("c.json"), *self.options], stdout=out,
                                        stderr=subprocess.STDOUT, env={**os.environ, **(self.environment or {})})
        out.close()
        for _ in range(12000): # the compiler may have to share its processor with many
            if re.search(r"^ready$", self.said(), re.M):
                break
            if self.process.poll() is not None:
                raise AssertionError("the switch did not start: " + self.said())
            time.sleep(0.05)
        self.client = Client(self.path("s.sock"))
        return self

    def said(self):
        with open(self.path("log")) as f:
            return f.read()

    def ask(self, op, **members):
        return self.client.ask(op, **members)

    def refused(self, op, **members):
        reply = self.client.request(op, **members)
        if reply["ok"]:
            raise AssertionError(f"{op} was not refused")
        return reply["error"]

    def reload(self):
        """The reply, when the program, if it is another one, has been compiled."""
        while True:
            reply = self.client.request("reload")
            if not reply["ok"] or reply["result"].get("state") != "compiling":
                return reply
            time.sleep(0.05)

    def ctl(self, *words):
        """Status and output of `silken ctl`."""
        r = subprocess.run([SILKEN, "ctl", "-s", self.path("s.sock"), *map(str, words)], capture_output=True,
                           text=True, check=False)
        return r.returncode, (r.stdout + r.stderr).strip()

    def port(self, number):
        return next((p for p in self.ask("ports")["ports"] if p["port"] == number), None)

    def becomes(self, what, value, seconds=10):
        end = time.monotonic() + seconds
        while True:
            got = what()
            if got == value or time.monotonic() > end:
                return got
            time.sleep(0.02)

    def stop(self, number=signal.SIGTERM):
        """Status; the last lines are in said()."""
        if self.client:
            self.client.close()
            self.client = None
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(60)
        self.process = None
        return status

    def accounts(self):
        """received + copies = sent + dropped of the end, as numbers, and drops by reason."""
        text = self.said()
        m = re.search(r"^received (\d+) \+ copies (\d+)(?: \+ generated (\d+))? = sent (\d+) \+ dropped (\d+)$", text, re.M)
        drops = {k.strip(): int(v) for k, v in re.findall(r"^  (\D.*?)\s+(\d+)$", text[m.start():], re.M)}
        return [int(x or 0) for x in m.groups()], drops

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.client:
            self.client.close()
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.temporary:
            self.temporary.cleanup()


class Checks:
    """Counts, and says what failed."""

    def __init__(self):
        self.passed = self.failed = 0

    def equal(self, name, got, want):
        self.true(name, got == want, f"{got!r}, not {want!r}")

    def has(self, name, text, part):
        self.true(name, part in text, f"{text!r} has no {part!r}")

    def true(self, name, good, why=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAIL {name}: {why}", flush=True)

    def end(self):
        print(f"\n{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
