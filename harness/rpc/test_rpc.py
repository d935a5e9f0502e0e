#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The gRPC server with gRPC's own client (Debian's python3-grpcio): calls of all kinds, metadata, statuses, deadlines,
limits, TLS."""
import json
import os
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import tally  # noqa: E402
from echo import ECHO, SERVICE, Echo  # noqa: E402

MB = 1 << 20
PATIENCE = 60


def wait_until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Calls(unittest.TestCase):
    options = {}

    def setUp(self):
        self.echo = Echo(**self.options)
        self.addCleanup(self.echo.close)
        self.channel = self.echo.channel()

    def tearDown(self):
        if not self.echo.process.stdin.closed:
            self.assertEqual(self.echo.rest(), {"open": 0, "open_calls": 0, "memory": 0})

    def wait_for_calls(self, n):
        """Until so many calls of Wait are at the service."""
        self.assertTrue(wait_until(lambda: self.echo.counts()["waiting"] == n))

    def unary(self, name, message=b"", **words):
        return self.channel.unary_unary(SERVICE + name)(message, timeout=words.pop("timeout", PATIENCE), **words)

    def stream(self, name, message, **words):
        return self.channel.unary_stream(SERVICE + name)(message, timeout=words.pop("timeout", PATIENCE), **words)

    def bidi(self, messages, **words):
        return self.channel.stream_stream(SERVICE + "Bidi")(messages, timeout=PATIENCE, **words)

    def error(self, code, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        return raised.exception


class Kinds(Calls):
    def test_messages_of_all_lengths_come_back(self):
        for n in [0, 1, 4, 5, 16379, 16380, 65531, 65536, MB - 5, MB, 5 * MB]:
            message = os.urandom(n)
            self.assertEqual(self.unary("Unary", message), message, n)

    def test_many_calls_on_one_connection(self):
        futures = [self.channel.unary_unary(SERVICE + "Unary").future(str(i).encode(), timeout=PATIENCE)
                   for i in range(1000)]
        self.assertEqual([f.result() for f in futures], [str(i).encode() for i in range(1000)])
        self.assertEqual(self.echo.counts()["disconnected"], 0)

    def test_a_stream_of_the_server(self):
        for count, size in [(0, 4), (1, 4), (1000, 4), (300, 100000), (3, 20 * MB)]:
            messages = list(self.stream("Stream", f"{count} {size}".encode()))
            self.assertEqual([int.from_bytes(m[:4], "big") for m in messages], list(range(count)))
            self.assertEqual({len(m) for m in messages}, {size} if count else set())

    def test_a_slow_client_gets_all_of_a_stream(self):
        numbers = []
        for message in self.stream("Stream", b"400 100000"):
            numbers.append(int.from_bytes(message[:4], "big"))
            if len(numbers) % 100 == 0:
                time.sleep(0.3)
        self.assertEqual(numbers, list(range(400)))

    def test_streams_in_both_directions(self):
        self.assertEqual(list(self.bidi(iter([]))), [])
        messages = [os.urandom(n) for n in (0, 1, 5, 100, 16384, 3 * MB, 7)]
        self.assertEqual(list(self.bidi(iter(messages))), messages)

    def test_each_message_is_answered_before_the_next_is_sent(self):
        answered = threading.Semaphore(0)

        def send():
            for i in range(100):
                yield str(i).encode()
                self.assertTrue(answered.acquire(timeout=PATIENCE))
        answers = []
        for message in self.bidi(send()):
            answers.append(message)
            answered.release()
        self.assertEqual(answers, [str(i).encode() for i in range(100)])

    def test_streams_of_the_client(self):
        collect = self.channel.stream_unary(SERVICE + "Collect")
        self.assertEqual(collect(iter([]), timeout=PATIENCE), b"0 0")
        self.assertEqual(collect((b"x" * i for i in range(1000)), timeout=PATIENCE), b"1000 499500")

    def test_a_call_that_ends_before_the_client_has_sent_all(self):
        early = self.channel.stream_unary(SERVICE + "Early")
        e = self.error(grpc.StatusCode.NOT_FOUND, lambda: early((b"x" * MB for _ in range(100)), timeout=PATIENCE))
        self.assertEqual(e.details(), "enough")
        self.assertEqual(self.unary("Unary", b"on"), b"on")

    def test_several_clients_at_once(self):
        def work(i, results):
            channel = self.echo.channel()
            call = channel.unary_unary(SERVICE + "Unary")
            results[i] = all(call(f"{i} {k}".encode(), timeout=PATIENCE) == f"{i} {k}".encode() for k in range(200))
        results = [False] * 8
        threads = [threading.Thread(target=work, args=(i, results)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(PATIENCE)
        self.assertEqual(results, [True] * 8)

    def test_methods_with_one_message_take_no_more_and_no_less(self):
        many = self.channel.stream_unary(SERVICE + "Unary")
        for messages in ([], [b"a", b"b"]):
            e = self.error(grpc.StatusCode.UNIMPLEMENTED, lambda m=messages: many(iter(m), timeout=PATIENCE))
            self.assertIn("takes one message", e.details())

    def test_an_unknown_method(self):
        for path in ("/test.Echo/Nothing", "/", "/nothing/Unary", "/test.Echo/Unary/"):
            call = self.channel.unary_unary(path)
            self.error(grpc.StatusCode.UNIMPLEMENTED, lambda c=call: c(b"", timeout=PATIENCE))


class Statuses(Calls):
    def test_each_status_comes_with_its_sentence_and_details(self):
        for code in grpc.StatusCode:
            if code == grpc.StatusCode.OK:
                continue
            message = f"{code.value[0]}|is {code.name}|\x00{code.name}\x00".encode()
            e = self.error(code, lambda m=message: self.unary("Fail", m))
            self.assertEqual(e.details(), f"is {code.name}")
            self.assertEqual(dict(e.trailing_metadata())["grpc-status-details-bin"],
                             f"\x00{code.name}\x00".encode())

    def test_sentences_of_any_characters(self):
        for sentence in ("", "100%", "%41", "a\tb\nc\rd\x7f", "größer als 7 µm: ✓ 𝄞", "  spaces  ", "x" * 3000):
            e = self.error(grpc.StatusCode.ABORTED, lambda s=sentence: self.unary("Fail", f"10|{s}|".encode()))
            self.assertEqual(e.details(), sentence)

    def test_details_of_all_lengths(self):
        for n in [1, 2, 3, 4, 5, 100, 3000]:
            details = os.urandom(n)
            e = self.error(grpc.StatusCode.UNKNOWN, lambda d=details: self.unary("Fail", b"2|x|" + d))
            self.assertEqual(dict(e.trailing_metadata())["grpc-status-details-bin"], details)

    def test_long_details_go_to_a_client_that_takes_them(self):
        self.channel = self.echo.channel(max_metadata_size=16 * MB)
        for n in [20000, 100000, 600000, 5 * MB]:
            details = os.urandom(n)
            e = self.error(grpc.StatusCode.UNKNOWN, lambda d=details: self.unary("Fail", b"2|x|" + d))
            self.assertEqual(dict(e.trailing_metadata())["grpc-status-details-bin"], details)

    def test_details_that_are_too_long_are_said_to_be_left_out(self):
        e = self.error(grpc.StatusCode.UNKNOWN, lambda: self.unary("Fail", b"2|all wrong|" + bytes(800 << 10)))
        self.assertIn("all wrong", e.details())
        self.assertIn("819200 bytes of details were left out", e.details())

    def test_counts(self):
        before = self.echo.counts()
        self.unary("Unary")
        self.error(grpc.StatusCode.ABORTED, lambda: self.unary("Fail", b"10||"))
        after = self.echo.counts()
        self.assertEqual(after["calls"] - before["calls"], 3)
        self.assertEqual(after["failed"] - before["failed"], 1)
        self.assertEqual(after["cancelled"], before["cancelled"])


class Deadlines(Calls):
    def test_a_deadline_ends_the_call_at_the_service(self):
        self.error(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: self.unary("Wait", timeout=0.3))
        self.assertTrue(wait_until(lambda: self.echo.counts()["over_cancelled"] == 1))

    def test_the_server_ends_it_without_the_client(self):
        # sent as metadata, so that only the server knows of it
        start = time.monotonic()
        e = self.error(grpc.StatusCode.DEADLINE_EXCEEDED,
                       lambda: self.channel.unary_unary(SERVICE + "Wait")(b"", metadata=[("grpc-timeout", "200m")]))
        self.assertEqual(e.details(), "the deadline has passed")
        self.assertGreaterEqual(time.monotonic() - start, 0.2)

    def test_long_timeouts(self):
        for text in ("99999999H", "99999999M", "99999999S", "99999999m", "99999999u", "99999999n"):
            call = self.channel.unary_unary(SERVICE + "Unary")
            self.assertEqual(call(b"x", metadata=[("grpc-timeout", text)]), b"x")

    def test_a_client_that_cancels(self):
        call = self.channel.unary_unary(SERVICE + "Wait").future(b"")
        self.wait_for_calls(1)
        call.cancel()
        self.assertTrue(wait_until(lambda: self.echo.counts()["over_cancelled"] == 1))
        stream = self.stream("Stream", b"100000 1000")
        next(stream)
        stream.cancel()
        self.assertTrue(wait_until(lambda: self.echo.counts()["over_cancelled"] == 2))

    def test_calls_of_a_client_that_is_gone(self):
        calls = [self.channel.unary_unary(SERVICE + "Wait").future(b"") for _ in range(10)]
        self.wait_for_calls(10)
        self.channel.close()
        del calls
        self.assertTrue(wait_until(lambda: self.echo.counts()["over_cancelled"] == 10))

    def test_a_server_that_ends_tells_its_clients(self):
        call = self.channel.unary_unary(SERVICE + "Wait").future(b"", timeout=PATIENCE)
        self.wait_for_calls(1)
        self.echo.process.stdin.close()
        self.assertEqual(call.exception().code(), grpc.StatusCode.UNAVAILABLE)


class Metadata(Calls):
    def value(self, name, metadata):
        return self.unary("Metadata", name.encode(), metadata=metadata)

    def test_values_by_name(self):
        sent = [("deadline_sec", "20"), ("empty", ""), ("other", "a b, c")]
        for name, value in sent:
            self.assertEqual(self.value(name, sent), value.encode())

    def test_binary_values_of_all_lengths(self):
        for n in list(range(10)) + [1000]:
            value = os.urandom(n)
            self.assertEqual(self.value("x-bin", [("x-bin", value)]), value)

    def test_of_two_values_the_first(self):
        self.assertEqual(self.value("twice", [("twice", "1"), ("twice", "2")]), b"1")

    def test_a_name_that_was_not_sent(self):
        self.error(grpc.StatusCode.NOT_FOUND, lambda: self.value("other", [("name", "x")]))

    def test_too_much_metadata(self):
        self.assertEqual(self.value("name", [("name", "x" * 7000)]), b"x" * 7000)
        e = self.error(grpc.StatusCode.RESOURCE_EXHAUSTED,
                       lambda: self.value("name", [("name", "x" * 9000), ("more", "y" * 9000)]))
        self.assertIn("16384", e.details())

    def test_the_peer(self):
        self.assertRegex(self.unary("Peer").decode(), r"^127\.0\.0\.1:\d+$")


class KeepsIdle(Calls):
    options = {"connections": 2, "keeps_idle": 1}

    def tearDown(self):
        pass  # whoever asks for counts needs a connection

    def test_idle_connections_stay(self):
        kept = [self.echo.channel() for _ in range(2)]
        for channel in kept:
            channel.unary_unary(SERVICE + "Unary")(b"", timeout=PATIENCE)
        time.sleep(1.5)  # after a second they would make room
        other = self.echo.channel().unary_unary(SERVICE + "Unary")
        self.error(grpc.StatusCode.UNAVAILABLE, lambda: other(b"", timeout=PATIENCE))
        for channel in kept:
            self.assertEqual(channel.unary_unary(SERVICE + "Unary")(b"x", timeout=PATIENCE), b"x")
        counts = json.loads(kept[0].unary_unary(SERVICE + "Counts")(b"", timeout=PATIENCE))
        self.assertEqual((counts["open"], counts["gone"]), (2, 0))
        kept[0].close()
        self.assertEqual(other(b"y", timeout=PATIENCE, wait_for_ready=True), b"y")


class Limits(Calls):
    options = {"message": MB, "memory": 4 * MB, "queue": 100000, "calls": 8, "connections": 4}

    def test_a_message_that_is_too_long(self):
        self.assertEqual(len(self.unary("Unary", bytes(MB))), MB)
        e = self.error(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: self.unary("Unary", bytes(MB + 1)))
        self.assertEqual(e.details(), f"a message of {MB + 1} bytes is longer than the limit of {MB}")
        self.assertEqual(self.unary("Unary", b"on"), b"on")

    def test_more_than_all_memory_is_refused_and_all_comes_back(self):
        for _ in range(3):
            e = self.error(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: list(self.stream("Push", b"10 1000000")))
            self.assertEqual(e.details(), "no memory is left for a reply")
            self.assertEqual(len(self.unary("Unary", bytes(MB))), MB)

    def test_a_full_queue_is_told_and_goes_on(self):
        messages = list(self.stream("Stream", b"200 10000"))
        self.assertEqual([int.from_bytes(m[:4], "big") for m in messages], list(range(200)))
        self.assertGreater(self.echo.counts()["lost"], 5)

    def test_compressed_messages(self):
        call = self.channel.unary_unary(SERVICE + "Unary")
        e = self.error(grpc.StatusCode.UNIMPLEMENTED,
                       lambda: call(bytes(10000), compression=grpc.Compression.Gzip, timeout=PATIENCE))
        self.assertIn("compressed", e.details())

    def test_more_calls_than_at_a_time_wait_for_their_turn(self):
        call = self.channel.unary_unary(SERVICE + "Wait")
        waiting = [call.future(b"", timeout=1) for _ in range(8)]
        later = [self.channel.unary_unary(SERVICE + "Unary").future(b"x", timeout=PATIENCE) for _ in range(50)]
        self.assertEqual({f.exception().code() for f in waiting}, {grpc.StatusCode.DEADLINE_EXCEEDED})
        self.assertEqual({f.result() for f in later}, {b"x"})

    def test_a_connection_that_ends_is_told(self):
        channels = [self.echo.channel() for _ in range(2)]
        for channel in channels:
            channel.unary_unary(SERVICE + "Unary")(b"", timeout=PATIENCE)
        before = self.echo.counts()["gone"]
        waits = channels[0].unary_unary(SERVICE + "Wait").future(b"")
        self.wait_for_calls(1)
        for channel in channels:
            channel.close()
        # those two, and the one of the question before
        self.assertTrue(wait_until(lambda: self.echo.counts()["gone"] >= before + 3))
        self.assertTrue(waits.cancelled() or waits.done())

    def test_more_connections_than_there_may_be(self):
        def counts(channel):  # without a connection of its own
            return json.loads(channel.unary_unary(SERVICE + "Counts")(b"", timeout=PATIENCE))
        busy = []
        for n in range(1, 5):
            channel = self.echo.channel()
            busy.append(channel.unary_unary(SERVICE + "Wait").future(b""))
            self.assertTrue(wait_until(lambda c=channel: counts(c)["waiting"] == n))
        other = self.echo.channel().unary_unary(SERVICE + "Unary")
        self.error(grpc.StatusCode.UNAVAILABLE, lambda: other(b"", timeout=PATIENCE))
        busy[0].cancel()  # an idle connection makes room after a second
        other = self.echo.channel().unary_unary(SERVICE + "Unary")
        self.assertEqual(other(b"x", timeout=PATIENCE, wait_for_ready=True), b"x")
        self.assertFalse(any(f.done() for f in busy[1:]))


class KeepAlive(Calls):
    def test_pings_are_answered(self):
        channel = self.echo.channel(keepalive_time_ms=100, keepalive_timeout_ms=5000)
        call = channel.unary_unary(SERVICE + "Wait").future(b"", timeout=1.5)
        self.assertEqual(call.exception().code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertEqual(self.echo.counts()["disconnected"], 0)


class Addresses(unittest.TestCase):
    def unary(self, echo):
        return echo.channel().unary_unary(SERVICE + "Peer")(b"", timeout=PATIENCE)

    def test_ipv6(self):
        echo = Echo("[::1]:0")
        self.addCleanup(echo.close)
        self.assertRegex(self.unary(echo).decode(), r"^\[::1\]:\d+$")

    def test_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "grpc.sock")
            echo = Echo("unix:" + path)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            self.assertEqual(self.unary(echo), b"unix")
            other = subprocess.run([ECHO, "unix:" + path], input=b"", capture_output=True, timeout=PATIENCE)
            self.assertEqual(other.returncode, 1)
            self.assertIn(b"is in use by another process", other.stderr)
            echo.process.kill()
            echo.process.wait()
            self.assertTrue(os.path.exists(path))
            again = Echo("unix:" + path)  # over the dead one's
            self.assertEqual(self.unary(again), b"unix")
            again.close()
            self.assertFalse(os.path.exists(path))
            with self.assertRaises(RuntimeError):
                echo.close()  # killed

    def test_addresses_that_are_none(self):
        for address, why in [("", "is not an address"), ("localhost:1", "is not an address"), ("unix:", "1 to 107"),
                             ("unix:" + "x" * 200, "1 to 107"), ("unix:/dev/null", "is not a socket"),
                             ("unix:/nowhere/at/all", "No such file"), ("192.0.2.1:1", "Cannot assign")]:
            p = subprocess.run([ECHO, address], input=b"", capture_output=True, timeout=PATIENCE)
            self.assertEqual(p.returncode, 1)
            self.assertIn(why, p.stderr.decode())


def make_certificates(folder):
    def run(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
    for authority in ("ca", "foreign"):
        run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{authority}.key", "-out", f"{authority}.pem",
            "-days", "2", "-subj", f"/CN={authority}")
    with open(os.path.join(folder, "names"), "w", encoding="utf-8") as f:
        f.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for name, authority in (("server", "ca"), ("client", "ca"), ("stranger", "foreign")):
        run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
            f"/O=Silken/CN={name}")
        run("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
            "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{name}.pem")


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        make_certificates(cls.folder.name)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def serve(self, **options):
        echo = Echo(certificate=self.path("server.pem"), key=self.path("server.key"), **options)
        self.addCleanup(echo.close)
        return echo

    def call(self, echo, name="Peer", message=b"", **words):
        if words.pop("plain", False):
            channel = echo.channel()
        else:
            channel = echo.channel(grpc.ssl_channel_credentials(self.read("ca.pem"), **words))
        return channel.unary_unary(SERVICE + name)(message, timeout=20)

    def refused(self, echo, **words):
        with self.assertRaises(grpc.RpcError) as raised:
            self.call(echo, **words)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_calls_over_tls(self):
        echo = self.serve()
        self.assertRegex(self.call(echo).decode(), r"^127\.0\.0\.1:\d+$")
        for n in (0, 1, 16384, 5 * MB):
            message = os.urandom(n)
            self.assertEqual(self.call(echo, "Unary", message), message)

    def test_a_client_without_tls_is_disconnected(self):
        self.refused(self.serve(), plain=True)

    def test_clients_with_and_without_a_certificate(self):
        echo = self.serve(authority=self.path("ca.pem"))
        peer = self.call(echo, private_key=self.read("client.key"), certificate_chain=self.read("client.pem"))
        self.assertRegex(peer.decode(), r"^127\.0\.0\.1:\d+ /O=Silken/CN=client$")
        self.refused(echo)
        self.refused(echo, private_key=self.read("stranger.key"), certificate_chain=self.read("stranger.pem"))
        self.assertIn(b"CN=client", self.call(echo, private_key=self.read("client.key"),
                                              certificate_chain=self.read("client.pem")))

    def first_bytes(self, echo, version, protocols):
        """What the server says first to a client of this version of TLS."""
        context = ssl.create_default_context(cafile=self.path("ca.pem"))
        with warnings.catch_warnings(action="ignore"):  # of old versions
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = version
        context.set_ciphers("ALL:@SECLEVEL=0")
        if protocols:
            context.set_alpn_protocols(protocols)
        with socket.create_connection(("127.0.0.1", echo.port), PATIENCE) as s, \
                context.wrap_socket(s, server_hostname="localhost") as tls:
            return tls.recv(5)

    def test_old_tls_and_other_protocols_are_refused(self):
        echo = self.serve()
        new, old = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_1
        for version in (new, ssl.TLSVersion.TLSv1_2):
            for protocols in (["h2"], ["http/1.1", "h2"]):
                self.assertEqual(self.first_bytes(echo, version, protocols)[3:], b"\x04\0")  # SETTINGS
        for version, protocol, why in [(old, "h2", "protocol version"), (new, "http/1.1", "no application protocol")]:
            with self.assertRaises(ssl.SSLError) as raised:
                self.first_bytes(echo, version, [protocol])
            self.assertIn(why, str(raised.exception).lower().replace("_", " "))
        self.assertEqual(self.first_bytes(echo, new, []), b"")  # without ALPN nobody asks for HTTP/2

    def test_half_of_the_files(self):
        for words in (["key=x"], ["authority=x"]):
            p = subprocess.run([ECHO, "127.0.0.1:0", *words], input=b"", capture_output=True, timeout=PATIENCE)
            self.assertEqual(p.returncode, 1)
            self.assertIn(b"also needs a certificate", p.stderr)

    def test_files_that_are_none(self):
        for certificate, key, authority, why in [
                ("nowhere.pem", "server.key", None, "cannot use certificate '"),
                ("server.key", "server.key", None, "cannot use certificate '"),
                ("server.pem", "nowhere.key", None, "cannot use key '"),
                ("server.pem", "client.key", None, "cannot use key '"),
                ("server.pem", "server.key", "names", "cannot use client authority '")]:
            words = [ECHO, "127.0.0.1:0", f"certificate={self.path(certificate)}", f"key={self.path(key)}"]
            words += [f"authority={self.path(authority)}"] if authority else []
            p = subprocess.run(words, input=b"", capture_output=True, timeout=PATIENCE)
            self.assertEqual(p.returncode, 1)
            self.assertIn(why, p.stderr.decode())


del Calls  # its tests are those of its children

if __name__ == "__main__":
    tally.main()
