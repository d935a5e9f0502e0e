# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 by hand, for clients that no library would be: frames out, frames in."""
import socket
import struct
import time

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, CANCEL, ENHANCE_YOUR_CALM = 1, 2, 3, 8, 11


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def integer(value, bits):
    """HPACK's numbers (RFC 7541, 5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([value])
    out, value = [most], value - most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + [value])


def headers(pairs):
    """A block of literals without indexing and without Huffman codes."""
    block = b""
    for name, value in pairs:
        name, value = (x if isinstance(x, bytes) else x.encode() for x in (name, value))
        block += b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value
    return block


def request(path="/test.Echo/Unary", *more, method="POST", kind="application/grpc"):
    pairs = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "test"), ("te", "trailers")]
    return headers(pairs + ([("content-type", kind)] if kind else []) + list(more))


def message(body, flag=0, length=None):
    return struct.pack("!BI", flag, len(body) if length is None else length) + body


class Raw:
    """A connection. Frames that come are kept in 'frames'."""

    def __init__(self, port, greet=True, window=None):
        self.socket = socket.socket()
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.settimeout(20)
        self.socket.connect(("127.0.0.1", port))
        self.rest, self.frames, self.closed = b"", [], False
        self.decoder = hpack.Decoder()
        if greet:
            self.send(PREFACE + frame(SETTINGS))

    def send(self, data):
        """False when the server has closed the connection."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def call(self, stream, body=None, path="/test.Echo/Unary", *more, end=True):
        self.send(frame(HEADERS, END_HEADERS, stream, request(path, *more)))
        if body is not None:
            self.send(frame(DATA, END_STREAM if end else 0, stream, message(body)))

    def receive(self, seconds=20):
        """One frame (kind, flags, stream, payload), or None: the connection is closed, or nothing came. The payload of
        HEADERS is decoded."""
        self.socket.settimeout(seconds)
        while len(self.rest) < 9 or len(self.rest) < 9 + int.from_bytes(self.rest[:3], "big"):
            try:
                got = self.socket.recv(65536)
            except ConnectionResetError:
                got = b""
            except TimeoutError:
                return None
            if not got:
                self.closed = True
                return None
            self.rest += got
        n = int.from_bytes(self.rest[:3], "big")
        came = (self.rest[3], self.rest[4], int.from_bytes(self.rest[5:9], "big"), self.rest[9:9 + n])
        self.rest = self.rest[9 + n:]
        if came[0] == HEADERS:
            came = (*came[:3], dict(self.decoder.decode(came[3])))
        self.frames.append(came)
        return came

    def until(self, kind, stream=None, seconds=20):
        """The first frame of this kind, or None."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            came = self.receive(left)
            if came is None:
                return None
            if came[0] == kind and stream in (None, came[2]):
                return came
        return None

    def end(self, stream, seconds=20):
        """The headers that end a stream, or its error's number, or None."""
        end, seen = time.monotonic() + seconds, 0
        while True:
            for kind, flags, of, payload in self.frames[seen:]:
                if of == stream and kind == HEADERS and flags & END_STREAM:
                    return payload
                if of == stream and kind == RST_STREAM:
                    return int.from_bytes(payload, "big")
            seen = len(self.frames)
            left = end - time.monotonic()
            if left <= 0 or self.receive(left) is None:
                return None

    def until_closed(self, seconds=20):
        """Whether the server closes the connection."""
        end = time.monotonic() + seconds
        while not self.closed and (left := end - time.monotonic()) > 0:
            self.receive(left)
        return self.closed

    def close(self):
        self.socket.close()

