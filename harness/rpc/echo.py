# SPDX-License-Identifier: Apache-2.0
"""The echo service (harness/tools/rpc_echo.c) as a process, and gRPC's own client of it."""
import json
import os
import subprocess
import time

import grpc

BUILD = os.environ.get("BUILD", "build")
ECHO = os.path.join(BUILD, "tools", "rpc_echo")
SERVICE = "/test.Echo/"


class Echo:
    """A running service. Options are those of rpc_echo; 'address' without a port gets a free one."""

    def __init__(self, address="127.0.0.1:0", program=ECHO, **options):
        words = [program, address] + [f"{name}={value}" for name, value in options.items()]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{words} ended with {self.process.wait()}")
        self.port = int(line)
        self.address = address if address.startswith("unix:") else f"{address.rsplit(':', 1)[0]}:{self.port}"
        self.channels = []
        self.credentials = None  # of counts(), if the service has TLS

    def channel(self, credentials=None, **options):
        settings = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
                    ("grpc.use_local_subchannel_pool", 1)]
        settings += [("grpc." + name, value) for name, value in options.items()]
        channel = grpc.secure_channel(self.address, credentials, settings) if credentials \
            else grpc.insecure_channel(self.address, settings)
        self.channels.append(channel)
        return channel

    def counts(self):
        settings = [("grpc.use_local_subchannel_pool", 1)]
        with (grpc.secure_channel(self.address, self.credentials, settings) if self.credentials
              else grpc.insecure_channel(self.address, settings)) as channel:
            return json.loads(channel.unary_unary(SERVICE + "Counts")(b"", timeout=20, wait_for_ready=True))

    def rest(self):
        """Closes all channels. What is held then: all but the question itself, or after 20 s what is still there."""
        for channel in self.channels:
            channel.close()
        end = time.monotonic() + 20
        while True:
            counts = self.counts()
            held = {"open": counts["open"] - 1, "open_calls": counts["open_calls"] - 1, "memory": counts["memory"]}
            if not any(held.values()) or time.monotonic() > end:
                return held
            time.sleep(0.02)

    def close(self):
        """Ends it. A server that has crashed, or does not end, is an error."""
        for channel in self.channels:
            channel.close()
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        if status:
            raise RuntimeError(f"the echo service ended with {status}")
