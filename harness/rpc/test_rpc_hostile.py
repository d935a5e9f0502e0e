#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The gRPC server and clients that no library would be: garbage, floods, half handshakes, lengths that lie, clients
that do not read. After each of them a good client is served as before, and nothing of the bad one is held."""
import os
import random
import resource
import socket
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import raw  # noqa: E402
import tally  # noqa: E402
from echo import BUILD, ECHO, SERVICE, Echo  # noqa: E402
from raw import DATA, GOAWAY, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE  # noqa: E402
from raw import END_HEADERS, END_STREAM, Raw, frame, message, request  # noqa: E402
from test_rpc import make_certificates, wait_until  # noqa: E402

MB = 1 << 20
ASAN = "build/asan/tools/rpc_echo"
OK, CANCELLED, DEADLINE, EXHAUSTED, UNIMPLEMENTED, INTERNAL = "0", "1", "4", "8", "12", "13"


class Hostile(unittest.TestCase):
    program = ECHO
    options = {}

    def setUp(self):
        self.clients = []
        self.echo = Echo(program=self.program, **self.options)
        self.addCleanup(self.echo.close)
        self.good = self.echo.channel()
        self.serves()

    def tearDown(self):
        self.serves()
        for client in self.clients:
            client.close()
        self.assertEqual(self.echo.rest(), {"open": 0, "open_calls": 0, "memory": 0})

    def serves(self):
        self.assertEqual(self.good.unary_unary(SERVICE + "Unary")(b"good", timeout=20, wait_for_ready=True), b"good")

    def raw(self, **options):
        self.clients.append(Raw(self.echo.port, **options))
        return self.clients[-1]

    def status(self, client, stream, expected, word=""):
        headers = client.end(stream)
        self.assertIsInstance(headers, dict)
        self.assertEqual(headers["grpc-status"], expected, headers)
        self.assertIn(word, headers.get("grpc-message", ""))

    def memory_mb(self):
        with open(f"/proc/{self.echo.process.pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * resource.getpagesize() / MB


class Requests(Hostile):
    def test_a_good_request(self):
        client = self.raw()
        client.call(1, b"x" * 100)
        self.assertEqual(client.until(DATA)[3], message(b"x" * 100))
        self.status(client, 1, OK)

    def test_what_is_not_grpc(self):
        client = self.raw()
        for stream, words, status in [(1, {"kind": None}, "415"), (3, {"kind": "text/html"}, "415"),
                                      (5, {"kind": "application/grpcx"}, "415"), (7, {"method": "GET"}, "405")]:
            client.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, request(**words)))
            headers = client.end(stream)
            self.assertEqual(headers[":status"], status)
            self.assertNotIn("grpc-status", headers)
        for stream, kind in [(9, "application/grpc+proto"), (11, "application/grpc;charset=utf-8")]:
            client.send(frame(HEADERS, END_HEADERS, stream, request(kind=kind)))
            client.send(frame(DATA, END_STREAM, stream, message(b"")))
            self.status(client, stream, OK)

    def test_prefixes_that_lie(self):
        client = self.raw()
        for stream, prefix, status, word in [
                (1, message(b"", length=1 << 31), EXHAUSTED, "2147483648"),
                (3, message(b"", length=(1 << 32) - 1), EXHAUSTED, "4294967295"),
                (5, message(b"", length=300 * MB), EXHAUSTED, f"longer than the limit of {256 * MB}"),
                (7, message(b"abc", flag=2), INTERNAL, "neither"),
                (9, message(b"abc", flag=1), INTERNAL, "compressed"),
                (11, message(b"abc", length=4), INTERNAL, "within a message"),
                (13, message(b"abc")[:4], INTERNAL, "within a message"),
                (15, b"", UNIMPLEMENTED, "none came"),
                (17, message(b"abc") + b"\0", UNIMPLEMENTED, "more came")]:
            client.send(frame(HEADERS, END_HEADERS, stream, request()))
            client.send(frame(DATA, END_STREAM, stream, prefix))
            self.status(client, stream, status, word)
        client.send(frame(HEADERS, END_HEADERS, 19, request("/test.Echo/Unary", ("grpc-encoding", "gzip"))))
        client.send(frame(DATA, END_STREAM, 19, message(b"abc", flag=1)))
        headers = client.end(19)
        self.assertEqual((headers["grpc-status"], headers["grpc-accept-encoding"]), (UNIMPLEMENTED, "identity"))

    def test_a_long_length_takes_no_memory_before_bytes_come(self):
        before = self.memory_mb()
        client = self.raw()
        for stream in range(1, 41, 2):
            client.send(frame(HEADERS, END_HEADERS, stream, request("/test.Echo/Collect")))
            client.send(frame(DATA, 0, stream, message(b"x", length=200 * MB)))
        client.send(frame(PING, 0, 0, b"12345678"))
        self.assertIsNotNone(client.until(PING))
        self.assertLess(self.memory_mb() - before, 10)

    def test_what_is_no_timeout(self):
        client = self.raw()
        for i, text in enumerate(["1", "m", "1x", "-1S", "123456789S", "1.5S", ""]):
            client.call(2 * i + 1, None, "/test.Echo/Unary", ("grpc-timeout", text))
            self.status(client, 2 * i + 1, INTERNAL, "grpc-timeout")
        client.call(101, None, "/test.Echo/Unary", ("grpc-timeout", "0S"))
        self.status(client, 101, DEADLINE)

    def test_what_is_no_base64(self):
        client = self.raw()
        for i, text in enumerate(["a", "a===", "====", "ab*d", "abcde", "ab=c", "=abc", "abc=="]):
            client.call(2 * i + 1, None, "/test.Echo/Metadata", ("x-bin", text))
            self.status(client, 2 * i + 1, INTERNAL, "base64")
        for i, (text, value) in enumerate([("", b""), ("YQ", b"a"), ("YQ==", b"a"), ("YWI=", b"ab"), ("YWJj", b"abc"),
                                           ("YQ,YWI", b"a")]):
            client.call(2 * i + 101, b"x-bin", "/test.Echo/Metadata", ("x-bin", text))
            self.assertEqual(client.until(DATA)[3], message(value))

    def test_messages_in_pieces_of_one_byte(self):
        client = self.raw()
        client.send(frame(HEADERS, END_HEADERS, 1, request("/test.Echo/Bidi")))
        for body in (b"", b"a", b"abcdef"):
            for i in range(len(message(body))):
                client.send(frame(DATA, 0, 1, message(body)[i:i + 1]))
            self.assertEqual(client.until(DATA)[3], message(body))
        many = b"".join(message(b"x" * (i % 7)) for i in range(4000))
        before = len(client.frames)
        for at in range(0, len(many), 16384):
            client.send(frame(DATA, END_STREAM if at + 16384 >= len(many) else 0, 1, many[at:at + 16384]))
        self.status(client, 1, OK)
        self.assertEqual(b"".join(f[3] for f in client.frames[before:] if f[0] == DATA), many)

    def test_padded_frames_and_trailers_of_the_client(self):
        client = self.raw()
        client.send(frame(HEADERS, END_HEADERS, 1, request()))
        client.send(frame(DATA, raw.PADDED, 1, b"\x05" + message(b"padded") + bytes(5)))
        client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, raw.headers([("end", "x")])))
        self.assertEqual(client.until(DATA)[3], message(b"padded"))
        self.status(client, 1, OK)


class Garbage(Hostile):
    def test_what_is_not_http2(self):
        before = self.echo.counts()["disconnected"]
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
                     bytes(range(256)) * 100, raw.PREFACE + b"\xff" * 100, raw.PREFACE + frame(DATA, 0, 0, b"x"),
                     raw.PREFACE + frame(PING, 0, 0, b"x")):
            client = self.raw(greet=False)
            client.send(data)
            self.assertTrue(client.until_closed(10), data[:40])
        self.assertEqual(self.echo.counts()["disconnected"] - before, 7)

    def test_frames_that_break_rules(self):
        for data in (frame(DATA, 0, 1, b"x"), frame(HEADERS, END_HEADERS, 2, request()),
                     frame(99, 0, 0, b"x") + frame(SETTINGS, 0, 1), frame(WINDOW_UPDATE, 0, 0, bytes(4)),
                     frame(raw.PUSH_PROMISE, 4, 1, bytes(4)),
                     frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff"), frame(raw.CONTINUATION, 4, 1, b""),
                     frame(HEADERS, 0, 1, request()) + frame(PING, 0, 0, bytes(8)),
                     b"\xff\xff\xff\0\0\0\0\0\1"):
            client = self.raw()
            client.send(data)
            came = client.until(GOAWAY, seconds=10)
            self.assertIsNotNone(came, data[:30])
            self.assertNotEqual(int.from_bytes(came[3][4:8], "big"), 0)
            self.assertTrue(client.until_closed(10))

    def test_random_frames(self):
        rng = random.Random(1)
        for _ in range(200):
            client = self.raw()
            for _ in range(rng.randrange(1, 30)):
                kind, stream = rng.randrange(11), rng.choice([0, 1, 1, 3, 5, 2])
                body = request("/test.Echo/Bidi") if kind == HEADERS and rng.random() < 0.9 \
                    else message(rng.randbytes(rng.randrange(50)))
                client.send(frame(kind, rng.choice([0, 1, 4, 5, rng.randrange(256)]), stream, body))
            client.close()

    def test_bytes_that_change_in_a_good_connection(self):
        good = raw.PREFACE + frame(SETTINGS) + b"".join(
            frame(HEADERS, END_HEADERS, s, request("/test.Echo/Bidi")) + frame(DATA, END_STREAM, s, message(b"hello"))
            for s in (1, 3, 5))
        rng = random.Random(2)
        for _ in range(300):
            bad = bytearray(good)
            for _ in range(rng.randrange(1, 4)):
                bad[rng.randrange(24, len(bad))] = rng.randrange(256)
            client = self.raw(greet=False)
            client.send(bytes(bad))
            client.receive(0.001)
            client.close()


class Floods(Hostile):
    def calm(self, data, times, of=1, first=b"", code=raw.ENHANCE_YOUR_CALM):
        """Sends a flood until the server has enough of it, and says so."""
        client = self.raw()
        client.send(first)
        client.socket.settimeout(0.2)
        for i in range(times):
            try:
                if not client.send(data(i) if callable(data) else data * of):
                    break
            except TimeoutError:
                pass
        self.ended(client, code)

    def ended(self, client, code):
        self.assertTrue(client.until_closed(20))
        self.assertEqual([int.from_bytes(f[3][4:8], "big") for f in client.frames if f[0] == GOAWAY], [code])

    def test_pings(self):
        self.calm(frame(PING, 0, 0, b"12345678"), 400, of=100)
        self.assertEqual(self.echo.counts()["disconnected"], 1)

    def test_settings(self):
        self.calm(frame(SETTINGS, 0, 0, b"\0\3\0\0\0\1"), 400, of=100)

    def test_window_updates_and_priorities_and_unknown_frames(self):
        for data in (frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1"), frame(PRIORITY, 0, 1, bytes([0, 0, 0, 3, 0])), frame(77)):
            self.calm(data, 400, of=100)

    def test_empty_data(self):
        self.calm(frame(DATA, 0, 1), 400, of=100,
                  first=frame(HEADERS, END_HEADERS, 1, request("/test.Echo/Bidi")))

    def test_calls_that_are_reset_at_once(self):
        def pair(i):
            return b"".join(frame(HEADERS, END_HEADERS, 2 * k + 1, request("/test.Echo/Bidi")) +
                            frame(RST_STREAM, 0, 2 * k + 1, b"\0\0\0\x08") for k in range(50 * i, 50 * i + 50))
        self.calm(pair, 200, code=raw.INTERNAL_ERROR)  # nghttp2's own limit, and its code
        self.assertLess(self.echo.counts()["calls"], 3000)

    def test_calls_that_make_the_server_reset_them(self):
        client = self.raw()
        for i in range(100):  # its window cannot be so large
            sent = client.send(b"".join(frame(HEADERS, END_HEADERS, 2 * k + 1, request("/test.Echo/Bidi")) +
                                        frame(WINDOW_UPDATE, 0, 2 * k + 1, b"\x7f\xff\xff\xff")
                                        for k in range(50 * i, 50 * i + 50)) + frame(PING, 0, 0, bytes(8)))
            if not sent or not client.until(PING):
                break
        self.ended(client, raw.ENHANCE_YOUR_CALM)
        self.assertEqual({int.from_bytes(f[3], "big") for f in client.frames if f[0] == RST_STREAM},
                         {raw.FLOW_CONTROL_ERROR})
        self.assertLess(self.echo.counts()["calls"], 2000)

    def test_continuations_without_an_end(self):
        self.calm(frame(raw.CONTINUATION, 0, 1, raw.headers([("x", "y" * 1000)])), 2000,
                  first=frame(HEADERS, 0, 1, request()))

    def test_more_streams_than_were_allowed(self):
        client = self.raw()
        self.assertIsNotNone(client.until(SETTINGS))
        client.send(frame(SETTINGS, raw.ACK))
        for k in range(300):
            client.send(frame(HEADERS, END_HEADERS, 2 * k + 1, request("/test.Echo/Wait")))
        self.ended(client, raw.PROTOCOL_ERROR)
        self.assertTrue(wait_until(lambda: self.echo.counts()["open"] <= 2))


class Slow(Hostile):
    options = {"speed": 20, "queue": MB, "memory": 16 * MB, "connections": 12}

    def test_half_a_preface_is_cut_off(self):
        strangers = []
        for data in (b"", raw.PREFACE[:10], raw.PREFACE, raw.PREFACE + frame(SETTINGS)[:5]):
            strangers.append(self.raw(greet=False))
            strangers[-1].send(data)
        greeted = self.raw()
        greeted.call(1, b"x")
        for client in strangers:
            self.assertTrue(client.until_closed(10))
        time.sleep(0.6)  # twelve of its seconds
        greeted.call(3, b"x")  # who has said good day may be silent
        self.status(greeted, 1, OK)
        self.status(greeted, 3, OK)

    def test_who_does_not_read_is_cut_off(self):
        client = self.raw(window=4096)
        client.send(frame(SETTINGS, 0, 0, b"\0\4\x7f\xff\xff\xff") + frame(WINDOW_UPDATE, 0, 0, b"\x7f\0\0\0"))
        client.call(1, b"1000000 100000", "/test.Echo/Stream")
        self.assertTrue(wait_until(lambda: self.echo.counts()["disconnected"] == 1, 20))
        self.assertTrue(wait_until(lambda: self.echo.counts()["over_cancelled"] == 1, 20))

    def test_who_gives_no_window_is_reset(self):
        client = self.raw()
        client.send(frame(SETTINGS, 0, 0, b"\0\4\0\0\0\0"))
        client.call(1, b"1000000 100000", "/test.Echo/Stream")
        self.assertEqual(client.end(1), raw.CANCEL)
        self.assertEqual(self.echo.counts()["over_cancelled"], 1)

    def test_a_deadline_ends_a_stream_without_window(self):
        client = self.raw()
        client.send(frame(SETTINGS, 0, 0, b"\0\4\0\0\0\0"))
        client.call(1, b"1000000 100000", "/test.Echo/Stream", ("grpc-timeout", "4S"))
        self.assertEqual(client.end(1, 2), raw.CANCEL)

    def test_who_sends_half_a_message_is_told(self):
        client = self.raw()
        client.send(frame(HEADERS, END_HEADERS, 1, request("/test.Echo/Bidi")))
        client.send(frame(DATA, 0, 1, message(b"abc", length=100)))
        client.send(frame(HEADERS, END_HEADERS, 3, request("/test.Echo/Unary")))
        client.send(frame(HEADERS, END_HEADERS, 5, request("/test.Echo/Bidi")))  # it may be silent
        self.status(client, 1, CANCELLED, "too long")
        self.status(client, 3, CANCELLED, "too long")
        client.send(frame(DATA, END_STREAM, 5, message(b"x")))
        self.status(client, 5, OK)

    def others_get_its_memory(self, client, window):
        client.send(frame(SETTINGS, 0, 0, b"\0\4" + window) + frame(WINDOW_UPDATE, 0, 0, b"\x7f\0\0\0"))
        for stream in range(1, 60, 2):
            client.call(stream, b"1000000 3000000", "/test.Echo/Stream")
        self.assertTrue(wait_until(lambda: self.echo.counts()["failed"] > 0))  # no more memory
        time.sleep(0.1)  # two of its seconds
        answer = self.good.unary_unary(SERVICE + "Unary")(bytes(4 * MB), timeout=20)
        self.assertEqual(len(answer), 4 * MB)

    def test_memory_of_those_who_give_no_window_goes_to_others(self):
        self.others_get_its_memory(self.raw(), b"\0\0\0\0")

    def test_memory_of_those_who_do_not_read_goes_to_others(self):
        self.others_get_its_memory(self.raw(window=4096), b"\x7f\xff\xff\xff")

    def test_strangers_make_room_for_others(self):
        strangers = [self.raw(greet=False) for _ in range(40)]
        self.serves()
        other = self.raw()
        other.call(1, b"x")
        self.status(other, 1, OK)
        self.assertTrue(strangers[0].until_closed(10))


class HalfTls(Hostile):
    def setUp(self):
        self.clients = []
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        make_certificates(folder.name)
        import grpc
        self.echo = Echo(program=self.program, speed=20, certificate=os.path.join(folder.name, "server.pem"),
                         key=os.path.join(folder.name, "server.key"))
        self.addCleanup(self.echo.close)
        with open(os.path.join(folder.name, "ca.pem"), "rb") as f:
            self.echo.credentials = grpc.ssl_channel_credentials(f.read())
        self.good = self.echo.channel(self.echo.credentials)
        self.serves()

    def test_half_a_handshake_is_cut_off(self):
        hello = bytes.fromhex("1603010200010001fc0303") + bytes(40)
        for data in (b"", hello[:5], hello):
            with socket.create_connection(("127.0.0.1", self.echo.port), 20) as s:
                s.sendall(data)
                self.assertEqual(s.recv(1), b"")

    def test_garbage_is_cut_off(self):
        rng = random.Random(3)
        for data in (rng.randbytes(1000), b"\x16\x03\x01\x00\x04" + rng.randbytes(4), raw.PREFACE + frame(SETTINGS)):
            with socket.create_connection(("127.0.0.1", self.echo.port), 20) as s:
                s.sendall(data)
                try:
                    while s.recv(4096):
                        pass
                except ConnectionResetError:
                    pass


def with_sanitizers(case):
    return type(case.__name__ + "Asan", (case,), {"program": ASAN})


if BUILD == "build" and os.environ.get("QUICK", "0") != "1" and os.path.exists(ASAN):
    for kind in (Requests, Garbage, Floods, Slow, HalfTls):
        globals()[kind.__name__ + "Asan"] = with_sanitizers(kind)
    del kind  # or it would run again
del Hostile  # its tests are those of its children

if __name__ == "__main__":
    tally.main()
