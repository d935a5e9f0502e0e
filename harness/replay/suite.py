# SPDX-License-Identifier: Apache-2.0
"""What a case of the regression suite is, and its text.

A case is a function with a docstring that says what it shows, under @case(name, program). It gets a
Case and tells the story in order: what the ports receive, and after each packet what must be sent
and dropped because of it. What must be sent is never taken from a run of the switch: it is written by
hand, built with Scapy, or computed by a model of the protocol that knows nothing of the P4 program
(switchml_model.py).

The story as text is what golden/NAME.text has, so that a change of a script or a model shows in a
diff. Packets of more than FOLD bytes are written as their first bytes, length and SHA-256.
"""
import hashlib
import json
import logging
import os
import sys

# models and packets that cases share with the tests that ask a switch packet by packet
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scapy"))
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.config import conf  # noqa: E402
import scapy.route  # noqa: E402, F401
import scapy.route6  # noqa: E402, F401

# Scapy takes addresses that a script leaves out from the machine that it runs on: this one has none.
conf.route.routes = []
conf.route.invalidate_cache()
conf.route6.routes = []
conf.route6.invalidate_cache()

T0 = 1_700_000_000 * 1_000_000_000  # when captures begin, in ns
FOLD = 160
SHOWN = 52  # bytes of a folded packet: the headers of a SwitchML packet

CASES = {}


class Case:
    def __init__(self, name, about, program, options):
        self.name = name
        self.about = about
        self.program = program
        self.options = options  # of the compiler
        self.config = {}        # what the file for --entries has
        self.derived = "by hand"
        self.now = T0
        self.received = []      # (time, port, bytes)
        self.sent = {}          # port: [(time, bytes)]
        self.dropped = []       # {"time":, "reason":, ...} what drops.jsonl must have, in order
        self.state = {}         # sections that the switch's state must be at the end (control/state/state.h)
        self.refused = []       # (configuration for --entries, what is said of it)
        self.crosses = False    # packets pass from pipe to pipe: --crossing is tried, too
        self.at_end = []        # called when the story has been told
        self.story = []

    def receive(self, port, frame, after=1000):
        """The port receives a frame, so many ns after the last one was received."""
        self.now += after
        frame = bytes(frame)
        self.received.append((self.now, port, frame))
        self.story.append(f"+{self.now - T0} port {port} receives {shown(frame)}")

    def sends(self, port, frame, at=None):
        """The port sends a frame, when the last one was received or at ns after the beginning."""
        time = self.now if at is None else T0 + at
        frame = bytes(frame)
        self.sent.setdefault(port, []).append((time, frame))
        when = "" if time == self.now else f"+{time - T0} "
        self.story.append(f"    {when}port {port} sends {shown(frame)}")

    def drops(self, reason, at=None, **more):
        """A packet is dropped; 'more' are further keys of its line in drops.jsonl, of which 'table',
        'action' and 'state' are compared where they can be known, in the checked build."""
        time = self.now if at is None else T0 + at
        self.dropped.append({"time": time, "reason": reason, **more})
        words = "".join(f" {k}={v}" for k, v in more.items())
        when = "" if time == self.now else f"+{time - T0} "
        self.story.append(f"    {when}dropped: {reason}{words}")

    def refuses(self, config, message):
        """With such entries nothing is played: they are refused with a message that has this in it."""
        self.refused.append((config, message))
        self.story.append(f"refused: {message}")

    def text(self):
        """The story."""
        end = []
        for section, items in self.state.items():
            digest = hashlib.sha256(json.dumps(items).encode()).hexdigest()[:16]
            end.append(f"left in {section}: {len(items)} items, sha256 {digest}")
        lines = [f"# {self.name}: {self.about}", f"# program: {self.program}"]
        lines += [f"# compiled with {' '.join(self.options)}"] if self.options else []
        lines += [f"# expectations: {self.derived}", ""]
        return "\n".join(lines + self.story + end) + "\n"


def shown(frame):
    if len(frame) <= FOLD:
        return frame.hex() or "nothing"
    digest = hashlib.sha256(frame).hexdigest()[:16]
    return f"{frame[:SHOWN].hex()}... {len(frame)} bytes, sha256 {digest}"


def case(name, program, *options):
    """Registers the function that tells a case."""
    def register(tell):
        assert name not in CASES, name

        def make():
            c = Case(name, " ".join(tell.__doc__.split()), program, list(options))
            tell(c)
            for end in c.at_end:
                end()
            return c
        CASES[name] = make
        return tell
    return register
