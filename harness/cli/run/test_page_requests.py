#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a running switch, without a browser: what is answered, and what is not; what its events say; that
nobody waits for one who does not read."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, *way) for way in (("..", ".."), ("..", "..", "pcap"),
                                                     ("..", "..", "control", "watch"))]
import tally  # noqa: E402
from captures import pcap  # noqa: E402
from test_trace import SWITCHML, gradient  # noqa: E402

SILKEN = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "silken"))
L2 = os.path.abspath("p4/l2/l2.p4")
NAME = "</script><b> \\ \" ' & \u00fc"  # would be markup, if a name could be
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")


class Switch:
    def __init__(self, page, frames=None, more=None):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, "s.sock")
        config = {"program": L2, "control_socket": self.socket, "page": {"listen": "127.0.0.1:0", **page},
                  "ports": [{"port": 1, "device": "net_null1,no-rx=1", "name": NAME},
                            {"port": 2, "device": "net_null2,no-rx=1"}]}
        if frames is not None:
            with open(os.path.join(self.folder.name, "in.pcap"), "wb") as f:
                f.write(pcap([(0, frame) for frame in frames]))
            config["ports"][0]["device"] = f"net_pcap0,rx_pcap={self.folder.name}/in.pcap,tx_pcap=/dev/null"
        config.update(more or {})
        path = os.path.join(self.folder.name, "c.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        self.process = subprocess.Popen([SILKEN, "run", "-c", path, "--idle-sleep", "1000", "--memory", "500"],
                                        stdout=subprocess.PIPE, text=True)
        self.port = None
        for line in self.process.stdout:
            if line.startswith("page "):
                self.port = int(re.search(r"port ([0-9]+)", line)[1])
            if line == "ready\n":
                return
        raise RuntimeError("the switch did not start")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        self.folder.cleanup()
        return self.process.returncode

    def dial(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def ask(self, path, host="127.0.0.1", method="GET", **fields):
        """Status, fields and text of the reply; of a stream its beginning."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close",
                 *(f"{k.replace('_', '-')}: {v}" for k, v in fields.items())]
        with self.dial() as s:
            s.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            data = b""
            while (part := s.recv(65536)):
                data += part
                if b"event-stream" in data and b"\r\n\r\n" in data:
                    break
        head, _, text = data.decode().partition("\r\n\r\n")
        found = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        return int(head.split(" ")[1]), found, text


class Stream:
    """Events of a path, as (name, data)."""

    def __init__(self, switch, path, **fields):
        self.socket = switch.dial()
        extra = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in fields.items())
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{extra}\r\n".encode())
        self.file = self.socket.makefile("r", encoding="utf-8", newline="\n")
        while self.file.readline() not in ("\r\n", ""):
            pass

    def next(self):
        name = None
        for line in self.file:
            if line.startswith("event: "):
                name = line[7:-1]
            elif line.startswith("data: "):
                return name, json.loads(line[6:])
        return None, None

    def close(self):
        self.file.close()
        self.socket.close()


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.switch = Switch({"names": ["rack7.example"]})

    @classmethod
    def tearDownClass(cls):
        if cls.switch.end() != 0:
            raise RuntimeError("the switch did not end well")

    def test_files(self):
        for path, kind, begin in (("/", "text/html", "<!doctype html>"), ("/page.js", "text/javascript", "// SPDX"),
                                  ("/page.css", "text/css", "/* SPDX"), ("/check.css", "text/css", "/* SPDX"),
                                  ("/icon.svg", "image/svg+xml", "<svg")):
            with self.subTest(path):
                status, fields, text = self.switch.ask(path)
                self.assertEqual(status, 200)
                self.assertTrue(fields["Content-Type"].startswith(kind))
                self.assertTrue(text.startswith(begin), text[:40])
                self.assertEqual(int(fields["Content-Length"]), len(text.encode()))
                self.assertEqual(fields["Content-Security-Policy"], POLICY)
                self.assertEqual(fields["X-Frame-Options"], "DENY")
                self.assertEqual(fields["X-Content-Type-Options"], "nosniff")
                self.assertEqual(fields["Cross-Origin-Resource-Policy"], "same-origin")
                self.assertEqual(self.switch.ask(path, method="HEAD")[2], "")

    def test_the_files_are_those_of_the_tree(self):
        for path, file in (("/", "page.html"), ("/page.js", "page.js"), ("/page.css", "page.css"), ("/icon.svg", "icon.svg")):
            with open(f"cli/run/{file}", encoding="utf-8") as f:
                self.assertEqual(self.switch.ask(path)[2], f.read())

    def test_nothing_inline(self):
        html = self.switch.ask("/")[2]
        self.assertEqual(re.findall(r"<script(?![^>]* src=)|<style|\son[a-z]+=|\sstyle=|javascript:", html), [])
        self.assertEqual(re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|setHTML",
                                    self.switch.ask("/page.js")[2]), [])

    def test_hosts(self):
        for host in ("127.0.0.1", "127.0.0.1:9465", "localhost:1", "[::1]:9465", "rack7.example", "RACK7.example:80"):
            self.assertEqual(self.switch.ask("/", host=host)[0], 200, host)
        for host in ("evil.example", "evil.example:9465", "127.0.0.1.evil.example", "localhost.evil.example", ""):
            for path in ("/", "/events", "/trace?port=1", "/nothing"):
                self.assertEqual(self.switch.ask(path, host=host, X_Silken="page")[0], 421, host)

    def test_origins(self):
        self.assertEqual(self.switch.ask("/events", Origin="http://127.0.0.1")[0], 200)
        for origin in ("http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:80"):
            for path in ("/", "/events", "/trace?port=1"):
                self.assertEqual(self.switch.ask(path, Origin=origin, X_Silken="page")[0], 403, origin)

    def test_bad_requests(self):
        for path, status in (("/trace", 400), ("/trace?port=", 400), ("/trace?port=512", 400), ("/trace?port=1x", 400),
                             ("/trace?port=-1", 400), ("/trace?table=", 400), ("/trace?table=%00", 400),
                             ("/trace?table=" + "x" * 190, 400), ("/trace?table=%zz", 400), ("/../etc/passwd", 404),
                             ("/page.jsx", 404), ("/" + "x" * 100, 404)):
            with self.subTest(path[:40]):
                self.assertEqual(self.switch.ask(path, X_Silken="page")[0], status)
        self.assertEqual(self.switch.ask("/trace?port=1")[0], 403)  # as a page of another origin asks
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "CONNECT"):
            status, fields, _ = self.switch.ask("/trace?port=1", method=method, X_Silken="page")
            self.assertEqual((status, fields["Allow"]), (405, "GET, HEAD"))
        self.assertEqual(self.switch.ask("/", Content_Length="5")[0], 413)

    def test_events(self):
        stream = Stream(self.switch, "/events")
        seen = {}
        for _ in range(200):
            name, data = stream.next()
            self.assertIn(name, ("program", "now"))
            seen.setdefault(name, []).append(data)
            if len(seen.get("now", [])) >= 3 and "program" in seen:
                break
        stream.close()
        program, now = seen["program"][0], seen["now"][-1]
        self.assertEqual((program["program"], program["trace"], program["error"]), (L2, True, ""))
        checked = json.loads(subprocess.run([SILKEN, "check", "--json", L2], capture_output=True, check=True).stdout)
        units = program["chip"]["pipelines"][0]["units"]
        self.assertEqual([(u["name"], u["stages"]) for u in units], [(t["name"], t["stages"]) for t in checked["tables"]])
        self.assertEqual({p["port"]: p["name"] for p in now["top"]["ports"] if p["port"] < 3}, {1: NAME, 2: ""})
        asked = subprocess.run([SILKEN, "ctl", "-s", self.switch.socket, "top", "--once", "--json"], capture_output=True,
                               check=True, timeout=60).stdout
        self.assertEqual(set(now["top"]), set(json.loads(asked)))
        self.assertTrue(now["tables"])
        for table in now["tables"]:
            self.assertEqual(set(table), {"name", "entries", "size", "hits", "misses"})
            self.assertIn(table["name"], [u["name"] for u in units])
        times = [n["top"]["clock"] for n in seen["now"]]
        self.assertLess(max(b - a for a, b in zip(times, times[1:])), 30e9)

    def test_a_trace_that_nobody_answers_ends_with_its_reader(self):
        stream = Stream(self.switch, "/trace?port=2", X_Silken="page")
        self.assertEqual(stream.next()[0], "state")
        # a second one takes its place
        other = Stream(self.switch, "/trace?table=pipe.Ingress.nothing", X_Silken="page")
        name, data = stream.next()
        while name == "state":
            name, data = stream.next()
        self.assertEqual((name, data["error"]), ("failed", "another trace was asked for"))
        self.assertEqual(stream.next(), (None, None))
        self.assertEqual(other.next()[0], "state")
        self.assertIn("another trace is armed", self.ctl_trace())
        other.close()
        for _ in range(200):
            if "another trace" not in self.ctl_trace():
                break
            time.sleep(0.05)
        else:
            self.fail("the trace outlives its reader")

    def ctl_trace(self):
        return subprocess.run([SILKEN, "ctl", "-s", self.switch.socket, "trace", "--port", "2", "--timeout", "1"],
                              capture_output=True, text=True, timeout=300, check=False).stderr

    def test_one_who_does_not_read(self):
        lazy = [self.switch.dial() for _ in range(8)]
        try:
            for s in lazy:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for _ in range(200):
                if self.switch.ask("/events")[0] == 503:
                    break
                time.sleep(0.05)
            else:
                self.fail("there are more streams than eight")
            begin = time.monotonic()
            self.assertEqual(self.switch.ask("/")[0], 200)
            self.assertLess(time.monotonic() - begin, 5)
        finally:
            for s in lazy:
                s.close()
        for _ in range(200):
            if self.switch.ask("/events")[0] == 200:
                return
            time.sleep(0.05)
        self.fail("streams that are left keep their places")

    def test_many_who_never_finish(self):
        """Half requests of hundreds, a byte more now and then: others are answered, and so is the control socket."""
        many = [self.switch.dial() for _ in range(300)]
        try:
            for i, s in enumerate(many):
                s.sendall(b"GET /events HTTP/1.1\r\nX: a" if i % 2 else b"GET / HTTP/1.1\r\nHost: loc")
            for _ in range(3):
                begin = time.monotonic()
                self.assertEqual(self.switch.ask("/")[0], 200)
                subprocess.run([SILKEN, "ctl", "-s", self.switch.socket, "stats"], stdout=subprocess.DEVNULL, check=True,
                               timeout=60)
                self.assertLess(time.monotonic() - begin, 10)
                for s in many:
                    try:
                        s.sendall(b"b")
                    except OSError:
                        pass  # the switch has closed it
            # the page does not keep a descriptor for each
            self.assertLess(len(os.listdir(f"/proc/{self.switch.process.pid}/fd")), 100)
        finally:
            for s in many:
                s.close()
        self.assertEqual(self.switch.ask("/events")[0], 200)


def worker(number):
    return {"table": "workers", "action": "admit",
            "key": {"job_number": 7, "src_addr": f"10.0.0.{number}", "ingress_port": number},
            "args": {"worker_bit": number, "num_workers": 2, "group": 1, "rid": number, "port": number, "pool_base": 16,
                     "pool_last": 15}}


class Exact(unittest.TestCase):
    def last(self, frames, more, good):
        """The first "now" that is good."""
        switch = Switch({}, frames, more)
        try:
            stream = Stream(switch, "/events")
            for _ in range(200):
                name, data = stream.next()
                if name == "now" and good(data):
                    break
            stream.close()
        finally:
            self.assertEqual(switch.end(), 0)
        return data

    def test_hits_and_misses(self):
        to = [bytes([2, 0, 0, 0, 0, n]) + bytes(54) for n in (1, 1, 1, 2, 3, 3, 1)]
        entries = [{"table": "forward", "key": {"dst_addr": f"02:00:00:00:00:0{n}"}, "action": "send", "args": {"port": 2}}
                   for n in (1, 2)]
        now = self.last(to, {"entries": entries}, lambda d: d["stats"]["rx_packets"] == len(to))
        table = next(t for t in now["tables"] if t["name"].endswith(".forward"))
        self.assertEqual((table["entries"], table["hits"], table["misses"]), (2, 5, 2))

    def test_slots(self):
        now = self.last([gradient(1, 0x8003), gradient(1, 5)], {"program": SWITCHML, "entries": [worker(1), worker(2)]},
                        lambda d: d["stats"]["rx_packets"] == 2)
        self.assertEqual(now["slots"], [{"name": "7", "size": 2, "first_slot": 16, "slots": 16,
                                         "waiting": [[3, 1, 1], [5, 0, 1]], "more": 0}])
        self.assertEqual([(w["worker"], w["missing"]) for w in now["jobs"][0]["workers"]], [(0, 0), (1, 2)])
        self.assertEqual(now["top"]["jobs"][0]["straggler"], {"worker": 1, "ip": "10.0.0.2", "slots": 2})


    def test_aggregators(self):
        # held since now, in the program's units of 65,536 ns
        stamp = time.time_ns() // 65536 % 2**32
        owner = {"name": "owner.owners", "index": 5, "value": {"fragment": 2 << 24 | 1, "time": stamp}, "pipe": 2}
        now = self.last(None, {"program": os.path.abspath("p4/atp/atp.p4"), "pipes": 4, "registers": [owner]}, lambda d: d["jobs"])
        job, = now["jobs"]
        self.assertEqual((job["name"], job["kind"], job["held"], job["pipe"], job["index"]), ("2", "atp", 1, 2, 5))
        self.assertEqual(job["of"], 4 * 16384)  # AGGREGATORS of p4/atp/aggregator.p4, in each pipe


class Forbidden(unittest.TestCase):
    def test_traces_can_be_forbidden(self):
        for page in ({"trace": False}, {"listen": "0.0.0.0:0", "public": True}):
            switch = Switch(page)
            try:
                self.assertEqual(switch.ask("/trace?port=1", X_Silken="page")[0], 403)
                stream = Stream(switch, "/events")
                name, data = stream.next()
                while name != "program":
                    name, data = stream.next()
                self.assertFalse(data["trace"])
                stream.close()
            finally:
                self.assertEqual(switch.end(), 0)

    def test_configurations(self):
        for page, said in (({"listen": "0.0.0.0:1"}, "if they may read the page, say \"public\": true"),
                           ({"listen": "x"}, "is not ADDRESS:PORT"), ({"names": ["a b"]}, "is not the name of a host"),
                           ({"names": ["a"] * 17}, "more than 16"), ({"trace": 1}, "must be true or false"),
                           ({"x": 1}, "x")):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
                json.dump({"program": L2, "page": page}, f)
                f.flush()
                done = subprocess.run([SILKEN, "run", "-c", f.name], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    tally.main()
