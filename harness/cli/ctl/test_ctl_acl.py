#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken ctl acl`: what it asks for, and what it makes of the replies of a switch that is a thread of this test."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402

SILKEN = os.environ.get("BUILD", "build") + "/silken"

LISTS = [{"list": "guests", "group": 1, "links": ["a", "b"], "rules": [
    {"rule": 0, "text": "permit ipv4 from 10.0.0.0/8", "entries": 1, "packets": 12, "bytes": 768},
    {"rule": 1, "text": "deny ipv4 from 10.1.0.0/16", "entries": 30, "packets": 0, "bytes": 0, "unreachable": True}]},
    {"list": "empty", "group": 2, "links": [], "rules": []}]


class Acl(unittest.TestCase):
    def ctl(self, reply, *words):
        """What it printed, its status, and the request (None: there was none)."""
        requests = []
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
            server.bind(folder + "/s")
            server.listen()

            def answer():
                peer, _ = server.accept()
                with peer, peer.makefile("rw") as file:
                    line = file.readline()
                    if line:
                        requests.append(json.loads(line))
                        file.write(json.dumps(reply) + "\n")
                        file.flush()
            thread = threading.Thread(target=answer, daemon=True)
            thread.start()
            done = subprocess.run([SILKEN, "ctl", "-s", folder + "/s", "acl", *words], text=True, capture_output=True,
                                  timeout=60, check=False)
            thread.join(10)
        return done.stdout + done.stderr, done.returncode, requests[0] if requests else None

    def test_lists(self):
        text, status, request = self.ctl({"ok": True, "result": LISTS})
        self.assertEqual((status, request), (0, {"op": "tor.acl"}))
        lines = text.splitlines()
        self.assertEqual(lines[0], "guests: packets from a, b")
        self.assertEqual(lines[2].split(None, 4), ["0", "12", "768", "1", "permit ipv4 from 10.0.0.0/8"])
        self.assertEqual(lines[3].split(None, 4),
                         ["1", "0", "0", "30", "deny ipv4 from 10.1.0.0/16; no packet matches it"])
        self.assertEqual(lines[4:], ["empty: not used by any link"])

    def test_one_list(self):
        _, status, request = self.ctl({"ok": True, "result": LISTS[:1]}, "guests")
        self.assertEqual((status, request), (0, {"op": "tor.acl", "list": "guests"}))

    def test_which_rule(self):
        text, status, request = self.ctl({"ok": True, "result": {"rule": 3, "action": "deny", "text": "deny ipv4"}},
                                         "test", "guests", "from=10.0.0.1", "protocol=tcp", "to_port=80",
                                         "ether_type=0x0806", "tcp_flags=syn,ack")
        self.assertEqual((text, status), ("rule 3: deny ipv4\n", 0))
        self.assertEqual(request, {"op": "tor.acl.test", "list": "guests", "packet": {
            "from": "10.0.0.1", "protocol": "tcp", "to_port": 80, "ether_type": 0x806, "tcp_flags": "syn,ack"}})
        text, status, _ = self.ctl({"ok": True, "result": {"action": "permit"}}, "test", "guests", "family=ipv4")
        self.assertEqual((text, status), ("no rule matches: permitted\n", 0))

    def test_errors(self):
        text, status, _ = self.ctl({"ok": False, "error": "there is no access list 'x'"}, "x")
        self.assertEqual((text, status), ("silken ctl: there is no access list 'x'\n", 1))
        for words in (("test",), ("guests", "more"), ("test", "guests", "word")):
            text, status, request = self.ctl({"ok": True, "result": []}, *words)
            self.assertEqual((status, request), (2, None), text)


if __name__ == "__main__":
    tally.main()
