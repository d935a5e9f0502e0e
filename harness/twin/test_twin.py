# SPDX-License-Identifier: Apache-2.0
"""silken twin: a configuration packed, and unpacked into a second switch by BF Runtime: nothing differs; then one
difference of each kind, which is the line that is printed. Dumps as others print them, what may differ, hostile input,
captures.

TWIN_CLIENT=FOLDER takes another bfrt_grpc than that of this folder: the published one, with its stubs."""
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), *(os.path.join(HERE, "..", room) for room in ("brt", "control", "rpc"))]
import tally  # noqa: E402
from live import SILKEN, Switch  # noqa: E402
from test_rpc import make_certificates  # noqa: E402

CONFIG = os.path.join(HERE, "twin.json")
CLIENT = os.environ.get("TWIN_CLIENT", HERE)
MAC = "02:00:00:00:00:01"
FORWARD = "hdr.ethernet.dst_addr=2199023255553"


def twin(*words, environment=None):
    done = subprocess.run([SILKEN, "twin", *words], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout, done.stderr


def pcap(path, packets, order="<"):
    with open(path, "wb") as f:
        f.write(struct.pack(order + "IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for at, packet in enumerate(packets):
            f.write(struct.pack(order + "IIII", 1000 + at, 7, len(packet), len(packet)) + packet)


def frame(number, length=60):
    return (bytes(12) + b"\x90\x00" + number.to_bytes(4, "big")).ljust(length, b"\0")


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="silken-twin-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, *names):
        path = os.path.join(self.temporary.name, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(content if isinstance(content, str) else json.dumps(content))
        return self.path(name)

    def diff(self, a, b, *options):
        """Status, lines of differences, lines of what was not compared."""
        status, out, err = twin("diff", *options, a, b)
        self.assertEqual(err, "")
        lines = out.splitlines()
        return (status, [line for line in lines[:-1] if not line.startswith("not compared: ")],
                [line.removeprefix("not compared: ") for line in lines if line.startswith("not compared: ")])


def entry(table, key, data, action=None, **more):
    return {"table_name": table, "action": action, "key": key, "data": data, **more}


class Dumps(Folder):
    SHELL = [entry("pipe.I.t", {"hdr.a": 2 ** 127 + 1, "hdr.b": [1, 255], "$MATCH_PRIORITY": 7},
                   {"port": 2, "$ENTRY_TTL": 100}, "I.send"),
             entry("pipe.I.t", {"hdr.a": 3, "hdr.b": [0, 0], "$MATCH_PRIORITY": 0}, {"port": 9, "$ENTRY_TTL": 1}, "I.send")]

    def test_forms_of_one_table(self):
        """What the shell returned, printed, showed; and what the Python client's to_dict() has."""
        text = json.dumps(self.SHELL)
        client = [{"table_name": "I.t", "key": {"hdr.b": {"value": v[0], "mask": v[1]}, "hdr.a": {"value": a},
                                                "$MATCH_PRIORITY": {"value": p}},
                   "data": {"action_name": "I.send", "is_default_entry": False, "port": port, "$ENTRY_TTL": ttl}}
                  for a, v, p, port, ttl in ((2 ** 127 + 1, (1, 255), 7, 2, 5), (3, (0, 0), 0, 9, 6))]
        default = [{"table_name": "I.t", "key": {}, "data": {"action_name": "I.drop", "is_default_entry": True}}]
        a = self.write("a/t.json", text)
        printed = f"----- t Dump Start -----\n----- Table_Type: MATCH_DIRECT -----\n{text}\n"
        shown = "In [2]: bfrt.l2.pipe.I.t.dump(table=True, json=True)\n----- t Dump Start -----\nOut[2]: " + repr(text) + "\n"
        for name, other in (("printed", printed), ("shown", shown), ("client", client)):
            status, lines, _ = self.diff(a, self.write(f"b/{name}.txt", other))
            self.assertEqual((name, status, lines), (name, 0, []))
        status, lines, left = self.diff(a, self.write("b/default.json", client + default))
        self.assertEqual((status, lines), (0, []))
        self.assertIn("default entries (a shell's dump does not have them)", left)
        # two tables, one after the other
        both = self.write("b/both.json", text + "\n" + json.dumps([entry("pipe.I.u", {"x": 1}, {"y": 2})]))
        self.assertEqual(self.diff(a, both)[1], ["I.u: all: dump: A -, B a dump of 1 entries"])

    def test_a_text_with_quotes(self):
        value = [entry("t", {"name": "it's \\ \"so\" [{"}, {"x": "'"})]
        a, b = self.write("a.json", value), self.write("b.json", repr(json.dumps(value)))
        self.assertEqual(self.diff(a, b)[:2], (0, []))

    def test_each_difference_is_a_line(self):
        other = json.loads(json.dumps(self.SHELL))
        other[0]["data"]["port"], other[0]["action"] = 3, "I.other"
        other[1]["key"]["hdr.a"] = 4
        a, b = self.write("a.json", self.SHELL), self.write("b.json", other)
        status, lines, left = self.diff(a, b)
        key = f"$MATCH_PRIORITY=7, hdr.a={2 ** 127 + 1}, hdr.b=[1, 255]"
        self.assertEqual(status, 1)
        self.assertEqual(sorted(lines), sorted([
            f"I.t: {key}: port: A 2, B 3", f"I.t: {key}: action: A I.send, B I.other",
            "I.t: $MATCH_PRIORITY=0, hdr.a=3, hdr.b=[0, 0]: entry: A {$ENTRY_TTL=1, action=I.send, port=9}, B -",
            "I.t: $MATCH_PRIORITY=0, hdr.a=4, hdr.b=[0, 0]: entry: A -, B {$ENTRY_TTL=1, action=I.send, port=9}"]))
        self.assertEqual(left, ["$ENTRY_TTL (times): 1, of which 0 differ"])
        status, out, _ = twin("diff", "--json", a, b)
        said = json.loads(out)
        self.assertEqual((status, said["alike"], len(said["differences"])), (1, False, 4))
        self.assertIn({"table": "I.t", "key": key, "field": "port", "a": "2", "b": "3"}, said["differences"])

    def test_what_may_differ_is_named(self):
        rows = [entry("pipe.I.t", {"a": 1}, {"port": 1, "$ENTRY_TTL": 5, "$ENTRY_HIT_STATE": "ENTRY_IDLE"}),
                entry("$PORT_STAT", {"$DEV_PORT": 1}, {"$FramesReceivedOK": 5}),
                entry("$PORT", {"$DEV_PORT": 1}, {"$PORT_UP": True, "$SPEED": "BF_SPEED_10G"})]
        other = [entry("pipe.I.t", {"a": 1}, {"port": 1, "$ENTRY_TTL": 4, "$ENTRY_HIT_STATE": "ENTRY_ACTIVE"}),
                 entry("$PORT_STAT", {"$DEV_PORT": 1}, {"$FramesReceivedOK": 6}),
                 entry("$PORT", {"$DEV_PORT": 1}, {"$PORT_UP": False, "$SPEED": "BF_SPEED_10G"})]
        a, b = self.write("a.json", rows), self.write("b.json", other)
        status, lines, left = self.diff(a, b)
        self.assertEqual((status, lines), (0, []))
        self.assertEqual(left, ["$PORT_UP (links): 1, of which 1 differ", "$PORT_STAT (port statistics): 1, of which 1 differ",
                                "$ENTRY_TTL (times): 1, of which 1 differ", "$ENTRY_HIT_STATE (hit states): 1, of which 1 differ"])
        self.assertEqual(len(self.diff(a, b, "--all")[1]), 4)
        status, lines, left = self.diff(a, b, "--all", "--ignore", "$PORT_STAT", "--ignore", "$ENTRY_TTL")
        self.assertEqual((status, len(lines), len(left)), (1, 2, 2))

    def test_registers_by_pipe(self):
        a = self.write("a.json", [entry("pipe.I.r", {"$REGISTER_INDEX": i}, {"I.r.f1": [1, 2, 3, 4]}) for i in range(12)])
        b = self.write("b.json", [entry("pipe.I.r", {"$REGISTER_INDEX": i}, {"I.r.f1": [1, 2, 9 if i == 10 else 3, 4]})
                                  for i in range(12)])
        self.assertEqual(self.diff(a, b)[:2], (1, ["I.r: $REGISTER_INDEX=10: I.r.f1 in pipe 2: A 3, B 9"]))
        c = self.write("c.json", [entry("pipe.I.r", {"$REGISTER_INDEX": i}, {"I.r.f1": [1, 2]}) for i in range(12)])
        self.assertEqual(len(self.diff(a, c)[1]), 24) # a chip of two pipes

    def test_a_table_that_was_not_read(self):
        own = {"silken_twin": 1, "program": "p", "table": "pipe.I.t"}
        a = self.write("a.json", {**own, "entries": [entry("pipe.I.t", {"x": 1}, {"y": 1})]})
        b = self.write("b.json", {**own, "unread": "no such table"})
        self.assertEqual(self.diff(a, b), (0, [], ["table I.t (not read from B: no such table)"]))
        # a default entry of a whole dump is compared
        c = self.write("c.json", {**own, "entries": [entry("pipe.I.t", {"x": 1}, {"y": 1}),
                                                     entry("pipe.I.t", {}, {}, "I.drop", default=True)]})
        self.assertEqual(self.diff(a, c)[:2], (1, ["I.t: default: entry: A -, B {action=I.drop}"]))

    def test_states(self):
        with open("harness/control/everything.state.json", encoding="utf-8") as f:
            text = f.read()
        a = self.write("a.json", text)
        state = json.loads(text)
        cell = next(r for r in state["registers"] if r.get("pipe") == 1 and r.get("index") == 3)
        cell["value"]["first"] += 1
        state["counters"].pop(0)
        state["hits"][0]["last_hit"] += 1
        status, lines, left = self.diff(a, self.write("b.json", state))
        self.assertEqual(status, 1)
        self.assertEqual(sorted(lines), ["counters Ingress.counts: index=1, pipe=0: entry: A {bytes=500, packets=5}, B -",
                                         "registers Ingress.pairs: index=3, pipe=1: value.first: A 7, B 8"])
        self.assertTrue(any(line.startswith("last_hit (times)") and line.endswith("of which 1 differ") for line in left), left)
        self.assertEqual(self.diff(a, self.write("c.json", self.SHELL))[1][-1], "state: all: dump: A a dump of the state, B -")

    def test_hostile(self):
        good = self.write("good.json", self.SHELL)
        one = '[{"table_name": "t", "key": {"a": 1}, "data": {}}'
        for name, text, part in (
                ("cut", '\n\n[{"table_name": "t", "key": {"a"', ":3:"),
                ("deep", "[" * 100000, ":1:2049: maximum parsing depth"),
                ("deep2", '{"table_name":"t","key":' + '{"a":' * 5000 + "1" + "}" * 5000 + "}", "maximum parsing depth"),
                ("large", '\n[{"table_name": "t", "key": {"a": ' + "9" * 5000 + '}, "data": {}}]', ":2:"),
                ("real", '[{"table_name": "t", "key": {"a": 1e999}, "data": {}}]', "real number overflow"),
                ("doubled", '[{"table_name": "t", "key": {"a": 1,\n"a": 2}, "data": {}}]', ":2:"),
                ("twice", one + ",\n" + one[1:] + "]", "entry 2: table 't' has the key a=1 already in entry 1"),
                ("unknown", '[{"table_name": "t",\n"kee": {}}]', ":2: [0][0].kee: unknown key"),
                ("no name", '[\n{"key": {}}]', ":2: [0][0].table_name"),
                ("number", '[{"table_name": 7}]', "table_name"), ("a number", "7", "this is not a dump"),
                ("text", "hello", ":1:"), ("empty", "", "the file is empty"), ("only lines", "----- x -----\n", "the file is empty"),
                ("nul", '[{"table_name": "t\\u0000"}]', "\\u0000"), ("escape", '[{"table_name": "\\u001b[2J"}]', "control character"),
                ("version", '{"silken_twin": 2, "table": "t"}', "silken_twin"), ("list", '{"silken_state": 1, "registers": 7}', "registers"),
                ("key", '[{"table_name": "t", "key": 7}]', "objects")):
            path = self.write(f"bad/{name}.json", text)
            status, out, err = twin("diff", path, good)
            self.assertEqual((name, status, out, len(err.splitlines())), (name, 2, "", 1), err)
            self.assertIn(path, err)
            self.assertIn(part, err, name)
        for words, part in (((good, self.path("nowhere")), "cannot read"), ((good,), "two words"), ((good, good, good), "too many"),
                            ((good, os.path.dirname(self.path("none/x"))), "neither dumps")):
            status, out, err = twin("diff", *words)
            self.assertEqual((status, out, len(err.splitlines())), (2, "", 1))
            self.assertIn(part, err)

    def test_captures(self):
        packets = [frame(i) for i in range(200)]
        changed, cut = list(packets), list(packets)
        changed[50] = frame(50, 64)
        changed[120] = packets[120][:20] + b"\xff" + packets[120][21:]
        del cut[77]
        pcap(self.path("a/port-1.pcap"), packets)
        pcap(self.path("b/port-1.pcap"), packets, ">")
        self.assertEqual(self.diff(self.path("a"), self.path("b"))[:2], (0, []))
        pcap(self.path("b/port-1.pcap"), changed)
        status, lines, left = self.diff(self.path("a"), self.path("b"))
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], "capture port-1: packet 51: bytes: A packet 51, 60 bytes, B packet 51, 64 bytes, from 60 on 00000000")
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[1].startswith("capture port-1: packet 121: bytes: A packet 121, 60 bytes, from 20 on 00"), lines)
        self.assertIn("times of packets (times)", left)
        pcap(self.path("b/port-1.pcap"), cut)
        self.assertEqual(self.diff(self.path("a"), self.path("b"))[1],
                         ["capture port-1: packet 78: bytes: A packet 78, 60 bytes, from 0 on "
                          + packets[77][:16].hex() + ", B -"])
        self.assertEqual(len(self.diff(self.path("b"), self.path("a"))[1]), 1)
        # files are files of their own names; single ones are compared whatever they are called
        pcap(self.path("b/port-2.pcap"), packets)
        self.assertEqual(self.diff(self.path("a"), self.path("b"))[1][-1], f"capture: port-2: file: A -, B {self.path('b/port-2.pcap')}")
        self.assertEqual(self.diff(self.path("a/port-1.pcap"), self.path("b/port-2.pcap"))[:2], (0, []))
        with open(self.path("b/port-1.pcap"), "r+b") as f:
            f.truncate(1000)
        status, _, err = twin("diff", self.path("a"), self.path("b"))
        self.assertEqual((status, len(err.splitlines())), (2, 1))
        self.assertIn("port-1.pcap", err)


class Secured(Folder):
    """dump over TLS, from servers that want a client's certificate and from others."""
    CONFIG = {"program": os.path.abspath("p4/l2/l2.p4"), "ports": [{"port": 1, "device": "net_ring0"}]}

    def setUp(self):
        super().setUp()
        self.files = os.path.dirname(self.path("files/x"))
        make_certificates(self.files)
        self.dumps = 0

    def file(self, name):
        return os.path.join(self.files, name)

    def switch(self, port, **more):
        bfrt = {"listen": f"127.0.0.1:{port}", "certificate": self.file("server.pem"), "key": self.file("server.key"), **more}
        return Switch({**self.CONFIG, "bfrt": bfrt})

    def dump(self, address, **files):
        """Status, standard output and standard error, with options from words: authority="ca.pem"."""
        self.dumps += 1
        words = [w for name, value in files.items() for w in ("--" + name.replace("_", "-"), value)]
        return twin("dump", *words, address, self.path(f"dump{self.dumps}"))

    def refused(self, why, address, **files):
        status, out, err = self.dump(address, **files)
        self.assertEqual((status, out, len(err.splitlines())), (2, "", 1), err)
        self.assertIn(why, err)

    def free_port(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            return s.getsockname()[1]

    def test_a_client_with_a_certificate(self):
        port = self.free_port()
        ca, own, key = self.file("ca.pem"), self.file("client.pem"), self.file("client.key")
        with open(own, encoding="utf-8") as a, open(key, encoding="utf-8") as b:
            both = self.write("both.pem", a.read() + b.read())
        with self.switch(port, client_authority=ca):
            for address, files in ((f"127.0.0.1:{port}", {"certificate": own, "key": key}), (f"localhost:{port}", {"certificate": both}),
                                   (f"127.0.0.1:{port}", {"certificate": both, "server_name": "localhost"})):
                status, out, err = self.dump(address, authority=ca, **files)
                self.assertEqual((status, err), (0, ""))
                self.assertIn("l2: ", out)
            self.assertEqual(self.diff(self.path("dump1"), self.path("dump2"))[:2], (0, []))
            address = f"127.0.0.1:{port}"
            self.refused("certificate required", address, authority=ca)
            self.refused("unknown ca", address, authority=ca, certificate=self.file("stranger.pem"), key=self.file("stranger.key"))
            self.refused("its certificate is not accepted: ", address, authority=self.file("foreign.pem"), certificate=both)
            self.refused("its certificate is not accepted: hostname mismatch", address, authority=ca, certificate=both,
                         server_name="elsewhere.example")
            self.refused("its certificate is not accepted: IP address mismatch", address, authority=ca, certificate=both,
                         server_name="127.0.0.2")
            self.refused(address + ": ", address)  # without TLS the server closes or resets the connection

    def test_a_server_without_one(self):
        port = self.free_port()
        with self.switch(port):
            status, out, err = self.dump(f"127.0.0.1:{port}", authority=self.file("ca.pem"))
            self.assertEqual((status, err), (0, ""))
            status, out, err = twin("dump", "--tls", f"127.0.0.1:{port}", self.path("system"))
            self.assertEqual((status, out), (2, ""))
            self.assertIn("its certificate is not accepted", err)
        plain = Switch({**self.CONFIG, "bfrt": {"listen": "unix:brt"}})
        with plain:
            self.refused("during the TLS handshake", "unix:" + plain.path("brt"), authority=self.file("ca.pem"), server_name="x")
            self.refused("has no host's name", "unix:" + plain.path("brt"), authority=self.file("ca.pem"))

    def test_a_silent_end(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            s.listen()
            waits = threading.Thread(target=lambda: s.accept()[0].close())
            waits.start()
            self.refused("during the TLS handshake", f"127.0.0.1:{s.getsockname()[1]}", authority=self.file("ca.pem"))
            waits.join()

    def test_files_that_are_none(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            address = f"127.0.0.1:{s.getsockname()[1]}"
            self.refused("cannot use authority '", address, authority=self.path("nowhere"))
            self.refused("cannot use certificate '", address, certificate=self.file("ca.key"))
            self.refused("cannot use key '", address, certificate=self.file("client.pem"), key=self.file("server.key"))
            self.refused("cannot use key '", address, certificate=self.file("client.pem"))
            self.refused("needs a certificate, and no certificate is given", address, key=self.file("client.key"))
            subprocess.run(["openssl", "rsa", "-aes128", "-passout", "pass:secret", "-in", self.file("client.key"), "-out",
                            self.file("locked.key")], check=True, capture_output=True)
            self.refused("cannot use key '", address, certificate=self.file("client.pem"), key=self.file("locked.key"))
        for words in (("diff", "--tls", "a", "b"), ("pack", "--authority", "x", "a", "b")):
            status, out, err = twin(*words)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("TLS is for dump", err)


class Live(Folder):
    """Two switches: one of the configuration, one of a pack of it."""

    def client(self, *words):
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=300,
                              env={**os.environ, "PYTHONPATH": CLIENT})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def dump(self, switch, name):
        status, out, err = twin("dump", "unix:" + switch.path("brt"), self.path(name))
        self.assertEqual((status, err), (0, ""))
        with open(self.path(name, "state.json"), "w", encoding="utf-8") as f:
            f.write(switch.ctl("state", "dump")[1])
        return out

    def differs(self, switch, name, *undo, **expected):
        """Dumps, finds these 'lines', and undoes."""
        self.dump(switch, name)
        status, lines, _ = self.diff(self.path("a"), self.path(name))
        self.assertEqual((name, status, sorted(lines)), (name, 1, sorted(expected["lines"])))
        for words in undo:
            self.assertEqual(switch.ctl(*words)[0], 0, words)

    def pack(self):
        status, out, err = twin("pack", CONFIG, self.path("pack"))
        self.assertEqual((status, err), (0, ""))
        self.assertIn('not in the pack: "loopback" of the configuration', out)
        self.assertEqual(sorted(os.listdir(self.path("pack"))), ["compile.sh", "p4", "setup.py"])

    def test_pack(self):
        with open(CONFIG, encoding="utf-8") as f:
            config = json.load(f)
        program = os.path.abspath(os.path.join(HERE, config["program"]))
        config = {**config, "program": program, "bfrt": {"listen": "unix:brt"}}
        # it has the ports, as a chip has connectors, and nothing else
        ports = [{k: v for k, v in port.items() if k != "metadata"} for port in config["ports"]]
        empty = {"program": program, "ports": ports, "bfrt": {"listen": "unix:brt"}}
        self.pack()
        with Switch(config) as a, Switch(empty) as b:
            self.assertIn("2 ports and ", self.client(self.path("pack/setup.py"), "unix:" + b.path("brt")))
            self.assertIn("everything: 56 tables with ", self.dump(a, "a"))
            self.dump(b, "b")
            status, lines, left = self.diff(self.path("a"), self.path("b"))
            self.assertEqual((status, lines), (0, []))
            self.assertTrue(any(line.startswith("$PORT_STAT (port statistics)") for line in left), left)
            self.seeded(b)
            self.again(b)

    def seeded(self, b):
        entry_ = "{$COUNTER_SPEC_BYTES=0, $COUNTER_SPEC_PKTS=5, "
        b.ctl("table", "delete", "forward", f"dst_addr={MAC}")
        self.dump(b, "missing")
        lines = self.diff(self.path("a"), self.path("missing"))[1]
        mine = [line for line in lines if line.startswith("Ingress.forward: ")]
        self.assertEqual(len(mine), 1, lines)
        self.assertTrue(mine[0].startswith(f"Ingress.forward: {FORWARD}: entry: A {entry_}"), mine)
        self.assertTrue(mine[0].endswith("action=Ingress.send, port=2}, B -"), mine)
        self.client(self.one("pipe.Ingress.forward"), "unix:" + b.path("brt"))

        row = "Ingress.filter: $MATCH_PRIORITY=7, hdr.order.$valid=1, hdr.order.a=[16, 240], hdr.order.i=[1, 5]: "
        state = "entries Ingress.filter: key={hdr.order.$valid=1, hdr.order.a=0x10 &&& 0xf0, hdr.order.i=1..5}, priority=7: "
        which = (7, "a=0x10 &&& 0xf0", "i=1..5", "$valid=true")
        self.assertEqual(b.ctl("table", "modify", "filter", *which, "none()")[0], 0)
        self.differs(b, "action", ("table", "modify", "filter", *which, "noted(group=3)"), lines=[
            row + "action: A Ingress.noted, B Ingress.none", row + "group: A 3, B -",
            state + "action: A Ingress.noted, B Ingress.none", state + "args.group: A 3, B -"])
        self.assertEqual(b.ctl("table", "modify", "filter", *which, "noted(group=4)")[0], 0)
        self.differs(b, "data", ("table", "modify", "filter", *which, "noted(group=3)"),
                     lines=[row + "group: A 3, B 4", state + "args.group: A 3, B 4"])
        self.assertEqual(b.ctl("table", "default", "filter", "noted(group=8)")[0], 0)
        self.differs(b, "default", ("table", "default", "filter", "noted(group=7)"), lines=[
            "Ingress.filter: default: group: A 7, B 8", "defaults Ingress.filter: default: args.group: A 7, B 8"])
        self.assertEqual(b.ctl("register", "write", "pairs", 3, "first=9", "second=16", "pipe", 1)[0], 0)
        self.differs(b, "register", ("register", "write", "pairs", 3, "first=7", "second=16", "pipe", 1), lines=[
            "Ingress.pairs: $REGISTER_INDEX=3: Ingress.pairs.first in pipe 1: A 7, B 9",
            "registers Ingress.pairs: index=3, pipe=1: value.first: A 7, B 9"])
        self.assertEqual(b.ctl("counter", "write", "counts", 1, 6, 500)[0], 0)
        self.dump(b, "counter")
        lines = self.diff(self.path("a"), self.path("counter"))[1]
        self.assertIn("Ingress.counts: $COUNTER_INDEX=1: $COUNTER_SPEC_PKTS: A 5, B 6", lines)
        self.assertTrue(all("Ingress.counts: " in line for line in lines), lines)
        self.assertEqual(b.ctl("counter", "write", "counts", 1, 5, 500)[0], 0)
        self.assertEqual(b.ctl("pre", "group", 4, "2:9")[0], 0)
        self.dump(b, "group")
        lines = self.diff(self.path("a"), self.path("group"))[1]
        self.assertIn("$pre.mgid: $MGID=4: $MULTICAST_NODE_L1_XID: A [0], B [9]", lines)
        self.assertTrue(all(line.startswith("$pre.mgid: $MGID=4: ") for line in lines), lines)
        self.assertEqual(b.ctl("pre", "group", 4, "2")[0], 0)
        self.assertEqual(b.ctl("mirror", "set", "id=12", "direction=both", "port=131", "mcast_a=3", "max=128")[0], 0)
        self.differs(b, "mirror", ("mirror", "set", "id=12", "direction=both", "port=130", "mcast_a=3", "max=128"),
                     lines=["$mirror.cfg: $sid=12: $ucast_egress_port: A 130, B 131"])

    def one(self, table):
        """A script with the updates of one table alone; the same that the pack has."""
        with open(self.path("pack/setup.py"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        kept = [line for line in lines if not line.startswith('    ("') or line.startswith(f'    ("{table}", 65535, "add"')]
        return self.write("one.py", "\n".join(kept) + "\n")

    def again(self, b):
        """All that was changed was put back: nothing differs."""
        self.dump(b, "again")
        status, lines, _ = self.diff(self.path("a"), self.path("again"))
        self.assertEqual((status, lines), (0, []))

    def test_dump(self):
        """By TCP, as a controller changes what is alike in all pipes; entries of one pipe say which."""
        from controller import Controller, pb
        config = {"program": os.path.abspath("harness/stf/everything.p4"), "bfrt": {"listen": "127.0.0.1:0"}}
        with Switch(config) as sw:
            address = "127.0.0.1:" + re.search(r"127\.0\.0\.1:.*?([1-9][0-9]+)\)?$", sw.said(), re.M)[1]
            with Controller(address) as c:
                c.bind()
                update = pb.Update(type=pb.Update.INSERT)
                a = update.entity.table_attribute
                a.table_id = c.table("prefixes")["id"]
                a.entry_scope.pipe_scope.predef = pb.Mode.SINGLE
                c.write(update)
                request = c.request(pb.WriteRequest)
                request.target.pipe_id = 2
                request.updates.append(c.update("INSERT", "prefixes", {"hdr.order.a": (0x0a000000, 8)}, "level"))
                c.method["Write"](request)
                status, out, err = twin("dump", address, self.path("d"))
                self.assertEqual((status, err), (0, ""), out)
            with open(self.path("d", "pipe.Ingress.prefixes.json"), encoding="utf-8") as f:
                entries = json.load(f)["entries"]
            self.assertEqual([(e["pipe"], e["key"]) for e in entries if e["key"]], [(2, {"hdr.order.a": [0x0a000000, 8]})])
            self.assertEqual(sorted(e["pipe"] for e in entries if not e["key"]), [0, 1, 2, 3])
            status, out, err = twin("dump", "--program", "other", address, self.path("e"))
            self.assertEqual((status, out), (2, ""))
            self.assertIn("the server has no program other", err)
            status, out, err = twin("dump", address, self.write("file", "x"))
            self.assertEqual((status, out, len(err.splitlines())), (2, "", 1))
            status, out, err = twin("dump", address, self.path("d"))
            self.assertEqual((status, out, err), (2, "", f"silken twin: {self.path('d')} is not empty\n"))

    def test_the_program_is_whole(self):
        """Its files are in several folders: what is packed compiles, and is the same program."""
        program = os.path.abspath("p4/dlcp/dlcp.p4")
        config = self.write("c.json", {"program": program, "define": ["OWN=x y"]})
        status, out, err = twin("pack", config, self.path("pack"))
        self.assertEqual((status, err), (0, ""), out)
        with open(self.path("pack/compile.sh"), encoding="utf-8") as f:
            words = f.read()
        echo = self.write("echo.py", "import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
        said = subprocess.run(["sh", self.path("pack/compile.sh")], capture_output=True, text=True, check=True,
                              env={**os.environ, "P4C": self.command(echo)})
        given = json.loads(said.stdout)
        self.assertEqual(given[:6], ["--std", "p4-16", "--target", "tofino", "--arch", "tna"], words)
        self.assertIn("OWN=x y", given)
        packed = os.path.join(self.path("pack"), given[-1])
        schemas = []
        for path in (program, packed):
            subprocess.run([SILKEN, "build", "--parse-only", "--bf-rt", self.path("schema.json"), path], check=True)
            with open(self.path("schema.json"), encoding="utf-8") as f:
                schemas.append(f.read())
        self.assertEqual(schemas[0], schemas[1])
        names = [name for _, _, files in os.walk(self.path("pack")) for name in files]
        self.assertTrue({"dlcp.p4", "headers.p4"} < set(names) and not {"tna.p4", "core.p4"} & set(names), names)

    def command(self, script):
        path = self.write("p4c", f"#!/bin/sh\nexec {sys.executable} {script} \"$@\"\n")
        os.chmod(path, 0o755)
        return path

    def test_what_a_pack_cannot_say(self):
        program = os.path.abspath("harness/stf/everything.p4")
        for name, members, part in (
                ("pipe", {"entries": [{"table": "prefixes", "key": {"a": "10.0.0.0/8"}, "action": "level", "pipe": 2}]},
                 "entries[0] is of one pipe"),
                ("default", {"defaults": [{"table": "profiled", "action": "none"}]}, "cannot say its default action"),
                ("colour", {"ports": [{"port": 1, "device": "net_ring0"}],
                            "queues": [{"port": 1, "speed": 1000, "red": 100, "yellow": 200, "green": 300}]}, "limits of yellow"),
                ("entry", {"entries": [{"table": "nowhere", "key": {}, "action": "level"}]}, "nowhere")):
            status, out, err = twin("pack", self.write(f"{name}.json", {"program": program, **members}), self.path(name))
            self.assertEqual((name, status, out, len(err.splitlines())), (name, 2, "", 1), err)
            self.assertIn(part, err)
            self.assertFalse(os.path.exists(self.path(name, "setup.py")))
        self.write("mine/setup.py", "mine\n")
        status, _, err = twin("pack", CONFIG, os.path.dirname(self.path("mine/x")))
        self.assertEqual((status, "is not empty" in err), (2, True))
        with open(self.path("mine/setup.py"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "mine\n")
        status, _, err = twin("pack", "--speed", "7G", CONFIG, self.path("x"))
        self.assertEqual(status, 2)
        self.assertIn("'7G' is not the speed of a port", err)

    def test_servers_that_are_none(self):
        for address, part in (("unix:" + self.path("nobody"), "cannot connect"), ("nowhere", "is not an address"),
                              ("127.0.0.1:1", "cannot connect")):
            status, out, err = twin("dump", address, self.path("d"))
            self.assertEqual((status, out, len(err.splitlines())), (2, "", 1), err)
            self.assertIn(part, err)


if __name__ == "__main__":
    tally.main()
